//! What is done with an element of the buffer of 64-bit atomics. Values come and go as pairs of words.

use super::{Double, Float, FloatOp, Helper};
use crate::ir::{Fun, Maker, Value};
use crate::layout::Arena;
use naga::{
    AtomicFunction, BinaryOperator as Bin, Function, Handle, Scalar, ScalarKind, Statement,
};

/// What is done with it. All give what was there before, but stores and exchanges that compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum WideOp {
    Load,
    Store,
    Add,
    And,
    Or,
    Xor,
    Min,
    Max,
    Swap,
    CompareExchange,
    /// A loop around an exchange.
    Update(WideUpdate),
}

/// What there is no atomic of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum WideUpdate {
    MinI64,
    MaxI64,
    AddF64,
    MinF64,
    MaxF64,
}

impl Maker<'_> {
    pub(super) fn wide_op(&mut self, op: WideOp) -> Handle<Function> {
        let (word, pair) = (self.ty.u32, self.ty.pair);
        let three = [("at", word), ("value", pair), ("expected", pair)];
        let (one, two) = (&three[..1], &three[..2]);
        let atomic = |m: &mut Self, name: &str, fun| {
            m.function(name, two, Some(pair), |f, a| {
                let (pointer, value) = (f.memory(Arena::Wide, a[0]), f.wide(a[1]));
                let ty = f.m.wide();
                let old = f.atomic_of(ty, (pointer, fun, value));
                let old = f.pair_of(old);
                f.give(Some(old));
            })
        };
        match op {
            WideOp::Load => self.function("load_64", one, Some(pair), |f, a| {
                let pointer = f.memory(Arena::Wide, a[0]);
                let value = f.load(pointer);
                let value = f.pair_of(value);
                f.give(Some(value));
            }),
            WideOp::Store => self.function("store_64", two, None, |f, a| {
                let (pointer, value) = (f.memory(Arena::Wide, a[0]), f.wide(a[1]));
                f.store(pointer, value);
            }),
            WideOp::Add => atomic(self, "atomic_add_64", AtomicFunction::Add),
            WideOp::And => atomic(self, "atomic_and_64", AtomicFunction::And),
            WideOp::Or => atomic(self, "atomic_or_64", AtomicFunction::InclusiveOr),
            WideOp::Xor => atomic(self, "atomic_xor_64", AtomicFunction::ExclusiveOr),
            WideOp::Min => atomic(self, "atomic_min_64", AtomicFunction::Min),
            WideOp::Max => atomic(self, "atomic_max_64", AtomicFunction::Max),
            WideOp::Swap => {
                let swap = AtomicFunction::Exchange { compare: None };
                atomic(self, "atomic_swap_64", swap)
            }
            WideOp::CompareExchange => {
                self.function("compare_exchange_64", &three, Some(word), |f, a| {
                    let pointer = f.memory(Arena::Wide, a[0]);
                    let (value, expected) = (f.wide(a[1]), f.wide(a[2]));
                    let done = f.zeroed("done");
                    f.forever(|f| {
                        let (old, exchanged) =
                            f.exchange_weak(Scalar::U64, (pointer, expected, value));
                        f.when(exchanged, |f| {
                            let yes = f.u(1);
                            f.store(done, yes);
                            f.push(Statement::Break);
                        });
                        let other = f.bin(Bin::NotEqual, old, expected);
                        f.when(other, |f| f.push(Statement::Break));
                    });
                    let done = f.load(done);
                    f.give(Some(done));
                })
            }
            WideOp::Update(update) => {
                let name = format!("atomic_{update:?}").to_lowercase();
                self.function(&name, two, Some(pair), |f, a| {
                    let pointer = f.memory(Arena::Wide, a[0]);
                    let ty = f.m.wide();
                    let old = f.local("old", Some(ty));
                    let first = f.load(pointer);
                    f.store(old, first);
                    f.forever(|f| {
                        let before = f.load(old);
                        let pair = f.pair_of(before);
                        let next = f.updated_64(update, pair, a[1]);
                        let next = f.wide(next);
                        let (now, exchanged) =
                            f.exchange_weak(Scalar::U64, (pointer, before, next));
                        f.when(exchanged, |f| f.push(Statement::Break));
                        f.store(old, now);
                    });
                    let old = f.load(old);
                    let old = f.pair_of(old);
                    f.give(Some(old));
                })
            }
        }
    }
}

impl Fun<'_, '_> {
    /// A pair as one integer.
    pub(super) fn wide(&mut self, pair: Value) -> Value {
        let (low, high) = self.halves(pair);
        let low = self.convert_to(low, ScalarKind::Uint, 8);
        let high = self.convert_to(high, ScalarKind::Uint, 8);
        let high = self.with(Bin::ShiftLeft, high, 32);
        self.bin(Bin::InclusiveOr, low, high)
    }

    /// An integer as a pair.
    pub(super) fn pair_of(&mut self, wide: Value) -> Value {
        let low = self.convert_to(wide, ScalarKind::Uint, 4);
        let high = self.with(Bin::ShiftRight, wide, 32);
        let high = self.convert_to(high, ScalarKind::Uint, 4);
        self.pair(low, high)
    }

    fn updated_64(&mut self, update: WideUpdate, old: Value, value: Value) -> Value {
        let both = [old, value];
        match update {
            WideUpdate::MinI64 => {
                let less = self.call(Helper::LessSigned64, &both);
                self.select(less, old, value)
            }
            WideUpdate::MaxI64 => {
                let less = self.call(Helper::LessSigned64, &both);
                self.select(less, value, old)
            }
            WideUpdate::AddF64 => self.call(Helper::Double(Double::Add), &both),
            WideUpdate::MinF64 => self.call(Helper::Float(Float::F64, FloatOp::Min), &both),
            WideUpdate::MaxF64 => self.call(Helper::Float(Float::F64, FloatOp::Max), &both),
        }
    }
}
