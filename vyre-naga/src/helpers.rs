//! Functions that shaders call: what naga's IR has no operation for.
//!
//! Values of 64 bits are pairs of words. Floats come and go as their bits. So what is asked of a NaN, an infinity or a
//! zero's sign is asked of integers, which every target computes alike.

mod double;
mod exact;
mod float;
mod wide;

pub(crate) use double::Double;
pub(crate) use float::{Float, FloatOp};
pub(crate) use wide::{WideOp, WideUpdate};

use crate::ir::{Fun, Maker, Own, Value};
use crate::layout::{Arena, Held, Kind, Layout, Piece};
use crate::sweep::fixed;
use naga::{
    AtomicFunction, BinaryOperator as Bin, Function, Handle, MathFunction as Math, Scalar,
    ScalarKind, Statement, Type,
};

/// A function of a module, made where something asks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Helper {
    Add64,
    Sub64,
    /// All 64 bits of the product of two words.
    Product,
    Mul64,
    MulHigh64,
    /// Quotient and remainder of unsigned numbers, the divisor not 0.
    /// Two words by one whose highest bit is set and which is more than the high word: quotient, remainder.
    DivideTwo,
    /// Quotient and remainder, a pair of words each.
    Divide64,
    DivideSigned64,
    RemainderSigned64,
    ShiftLeft64,
    ShiftRight64,
    ShiftRightSigned64,
    Rotate64,
    Less64,
    LessSigned64,
    Leading64,
    Trailing64,
    F32FromU64,
    F32FromI64,
    /// What both floats have in common.
    Float(Float, FloatOp),
    /// An operation on f64.
    Double(Double),
    /// On an element of the buffer of 64-bit atomics.
    Wide(WideOp),
    /// A sum of three words, and its carry.
    AddCarry,
    /// Adds to an exact sum.
    AddExact(u16),
    /// An exact sum, rounded.
    ExactValue,
    /// Exchanges if equal, and never fails without a reason.
    CompareExchange,
    /// An atomic update that looks first: where it would change nothing, it is a load, which others do not wait for.
    Update(Update),
    /// Keeps a fault if it is the invocation's lowest.
    Fault,
    /// Counts a turn; whether it was one too many.
    Turn,
    /// The node that an edge leaves, by bisection.
    SourceOf(u16),
    /// Pushes a node.
    Push(u16),
}

/// What an update does to a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Update {
    AddF32,
    MinF32,
    MaxF32,
    MinI32,
    MaxI32,
    MinU32,
    MaxU32,
    And,
    Or,
}

impl Update {
    /// The atomic that does it. The others are loops around a weak exchange.
    fn function(self) -> Option<AtomicFunction> {
        match self {
            Update::MinU32 => Some(AtomicFunction::Min),
            Update::MaxU32 => Some(AtomicFunction::Max),
            Update::And => Some(AtomicFunction::And),
            Update::Or => Some(AtomicFunction::InclusiveOr),
            Update::AddF32 | Update::MinF32 | Update::MaxF32 | Update::MinI32 | Update::MaxI32 => {
                None
            }
        }
    }
}

impl Maker<'_> {
    pub(crate) fn helper(&mut self, helper: Helper) -> Handle<Function> {
        if let Some(&made) = self.helpers.get(&helper) {
            return made;
        }
        let made = self.make(helper);
        self.helpers.insert(helper, made);
        made
    }

    fn make(&mut self, helper: Helper) -> Handle<Function> {
        let (word, pair) = (self.ty.u32, self.ty.pair);
        let two = [("a", pair), ("b", pair)];
        let shift = [("a", pair), ("n", word)];
        let words = [("a", word), ("b", word)];
        match helper {
            Helper::Add64 => self.function("add_64", &two, Some(pair), |f, a| {
                let [(al, ah), (bl, bh)] = [f.halves(a[0]), f.halves(a[1])];
                let low = f.sum(al, bl);
                let carry = f.bin(Bin::Less, low, al);
                let carry = f.word_of(carry);
                let high = f.sum(ah, bh);
                let high = f.sum(high, carry);
                let sum = f.pair(low, high);
                f.give(Some(sum));
            }),
            Helper::Sub64 => self.function("sub_64", &two, Some(pair), |f, a| {
                let [(al, ah), (bl, bh)] = [f.halves(a[0]), f.halves(a[1])];
                let low = f.bin(Bin::Subtract, al, bl);
                let borrow = f.bin(Bin::Less, al, bl);
                let borrow = f.word_of(borrow);
                let high = f.bin(Bin::Subtract, ah, bh);
                let high = f.bin(Bin::Subtract, high, borrow);
                let difference = f.pair(low, high);
                f.give(Some(difference));
            }),
            Helper::Product => self.function("wide_product", &words, Some(pair), |f, a| {
                let half = |f: &mut Fun<'_, '_>, x| {
                    let low = f.with(Bin::And, x, 0xffff);
                    (low, f.with(Bin::ShiftRight, x, 16))
                };
                let [(al, ah), (bl, bh)] = [half(f, a[0]), half(f, a[1])];
                let ll = f.bin(Bin::Multiply, al, bl);
                let lh = f.bin(Bin::Multiply, al, bh);
                let hl = f.bin(Bin::Multiply, ah, bl);
                let hh = f.bin(Bin::Multiply, ah, bh);
                let ((lh_low, lh_high), (hl_low, hl_high)) = (half(f, lh), half(f, hl));
                let (ll_low, ll_high) = half(f, ll);
                let middle = f.sum(ll_high, lh_low);
                let middle = f.sum(middle, hl_low);
                let (middle_low, carry) = half(f, middle);
                let shifted = f.with(Bin::ShiftLeft, middle_low, 16);
                let low = f.bin(Bin::InclusiveOr, ll_low, shifted);
                let high = f.sum(hh, lh_high);
                let high = f.sum(high, hl_high);
                let high = f.sum(high, carry);
                let product = f.pair(low, high);
                f.give(Some(product));
            }),
            Helper::Mul64 => self.function("mul_64", &two, Some(pair), |f, a| {
                let [(al, ah), (bl, bh)] = [f.halves(a[0]), f.halves(a[1])];
                let lows = f.call(Helper::Product, &[al, bl]);
                let (low, high) = f.halves(lows);
                let (x, y) = (f.bin(Bin::Multiply, al, bh), f.bin(Bin::Multiply, ah, bl));
                let high = f.sum(high, x);
                let high = f.sum(high, y);
                let product = f.pair(low, high);
                f.give(Some(product));
            }),
            Helper::MulHigh64 => self.function("mul_high_64", &two, Some(pair), |f, a| {
                let [(al, ah), (bl, bh)] = [f.halves(a[0]), f.halves(a[1])];
                let zero = f.u(0);
                let ll = f.call(Helper::Product, &[al, bl]);
                let lh = f.call(Helper::Product, &[al, bh]);
                let hl = f.call(Helper::Product, &[ah, bl]);
                let hh = f.call(Helper::Product, &[ah, bh]);
                let carry = f.part(ll, 1);
                let carry = f.pair(carry, zero);
                let middle = f.call(Helper::Add64, &[lh, carry]);
                let (middle_low, middle_high) = f.halves(middle);
                let low = f.pair(middle_low, zero);
                let other = f.call(Helper::Add64, &[hl, low]);
                let other_high = f.part(other, 1);
                let (x, y) = (f.pair(middle_high, zero), f.pair(other_high, zero));
                let sum = f.call(Helper::Add64, &[hh, x]);
                let sum = f.call(Helper::Add64, &[sum, y]);
                f.give(Some(sum));
            }),
            Helper::DivideTwo => {
                let three = [("high", word), ("low", word), ("by", word)];
                self.function("divide_two_words", &three, Some(pair), |f, a| {
                    divide_two(f, (a[0], a[1], a[2]));
                })
            }
            Helper::Divide64 => {
                let quad = Some(self.ty.quad);
                self.function("divide_64", &two, quad, |f, a| divide(f, (a[0], a[1])))
            }
            Helper::DivideSigned64 => {
                self.function("divide_signed_64", &two, Some(pair), |f, a| {
                    let (x, x_minus) = f.absolute(a[0]);
                    let (y, y_minus) = f.absolute(a[1]);
                    let both = f.call(Helper::Divide64, &[x, y]);
                    let (low, high) = f.halves(both);
                    let quotient = f.pair(low, high);
                    let minus = f.bin(Bin::NotEqual, x_minus, y_minus);
                    let signed = f.with_sign(quotient, minus);
                    f.give(Some(signed));
                })
            }
            Helper::RemainderSigned64 => {
                self.function("remainder_signed_64", &two, Some(pair), |f, a| {
                    let (x, minus) = f.absolute(a[0]);
                    let (y, _) = f.absolute(a[1]);
                    let both = f.call(Helper::Divide64, &[x, y]);
                    let (low, high) = (f.part(both, 2), f.part(both, 3));
                    let rest = f.pair(low, high);
                    let signed = f.with_sign(rest, minus);
                    f.give(Some(signed));
                })
            }
            Helper::ShiftLeft64 => self.function("shift_left_64", &shift, Some(pair), |f, a| {
                let (low, high) = f.halves(a[0]);
                let (by, beyond) = f.amount(a[1]);
                let over = f.spill(Bin::ShiftRight, low, by);
                let low = f.bin(Bin::ShiftLeft, low, by);
                let high = f.bin(Bin::ShiftLeft, high, by);
                let high = f.bin(Bin::InclusiveOr, high, over);
                let zero = f.u(0);
                let far = f.pair(zero, low);
                let near = f.pair(low, high);
                let shifted = f.select(beyond, far, near);
                f.give(Some(shifted));
            }),
            Helper::ShiftRight64 => self.function("shift_right_64", &shift, Some(pair), |f, a| {
                let (low, high) = f.halves(a[0]);
                let (by, beyond) = f.amount(a[1]);
                let over = f.spill(Bin::ShiftLeft, high, by);
                let low = f.bin(Bin::ShiftRight, low, by);
                let low = f.bin(Bin::InclusiveOr, low, over);
                let high = f.bin(Bin::ShiftRight, high, by);
                let zero = f.u(0);
                let far = f.pair(high, zero);
                let near = f.pair(low, high);
                let shifted = f.select(beyond, far, near);
                f.give(Some(shifted));
            }),
            Helper::ShiftRightSigned64 => {
                self.function("shift_right_signed_64", &shift, Some(pair), |f, a| {
                    let (low, high) = f.halves(a[0]);
                    let (by, beyond) = f.amount(a[1]);
                    let over = f.spill(Bin::ShiftLeft, high, by);
                    let low = f.bin(Bin::ShiftRight, low, by);
                    let low = f.bin(Bin::InclusiveOr, low, over);
                    let high = f.signed(high);
                    let shifted = f.bin(Bin::ShiftRight, high, by);
                    let shifted = f.unsigned(shifted);
                    let all = f.with(Bin::ShiftRight, high, 31);
                    let all = f.unsigned(all);
                    let far = f.pair(shifted, all);
                    let near = f.pair(low, shifted);
                    let shifted = f.select(beyond, far, near);
                    f.give(Some(shifted));
                })
            }
            Helper::Rotate64 => self.function("rotate_64", &shift, Some(pair), |f, a| {
                let left = f.call(Helper::ShiftLeft64, &[a[0], a[1]]);
                let all = f.u(64);
                let by = f.with(Bin::And, a[1], 63);
                let back = f.bin(Bin::Subtract, all, by);
                let back = f.with(Bin::And, back, 63);
                let right = f.call(Helper::ShiftRight64, &[a[0], back]);
                let rotated = f.bin(Bin::InclusiveOr, left, right);
                f.give(Some(rotated));
            }),
            Helper::Less64 => {
                let truth = Some(self.ty.bool);
                self.function("less_64", &two, truth, |f, a| {
                    let [(al, ah), (bl, bh)] = [f.halves(a[0]), f.halves(a[1])];
                    let less = f.bin(Bin::Less, ah, bh);
                    let equal = f.bin(Bin::Equal, ah, bh);
                    let low = f.bin(Bin::Less, al, bl);
                    let low = f.bin(Bin::LogicalAnd, equal, low);
                    let less = f.bin(Bin::LogicalOr, less, low);
                    f.give(Some(less));
                })
            }
            Helper::LessSigned64 => {
                let truth = Some(self.ty.bool);
                self.function("less_signed_64", &two, truth, |f, a| {
                    let turned = [a[0], a[1]].map(|x| {
                        let (low, high) = f.halves(x);
                        let high = f.with(Bin::ExclusiveOr, high, 1 << 31);
                        f.pair(low, high)
                    });
                    let less = f.call(Helper::Less64, &turned);
                    f.give(Some(less));
                })
            }
            Helper::Leading64 => self.function("leading_64", &two[..1], Some(word), |f, a| {
                let (low, high) = f.halves(a[0]);
                let (of_low, of_high) = (
                    f.math(Math::CountLeadingZeros, &[low]),
                    f.math(Math::CountLeadingZeros, &[high]),
                );
                let beyond = f.plus(of_low, 32);
                let none = f.with(Bin::Equal, high, 0);
                let zeros = f.select(none, beyond, of_high);
                f.give(Some(zeros));
            }),
            Helper::Trailing64 => self.function("trailing_64", &two[..1], Some(word), |f, a| {
                let (low, high) = f.halves(a[0]);
                let (of_low, of_high) = (
                    f.math(Math::CountTrailingZeros, &[low]),
                    f.math(Math::CountTrailingZeros, &[high]),
                );
                let beyond = f.plus(of_high, 32);
                let none = f.with(Bin::Equal, low, 0);
                let zeros = f.select(none, beyond, of_low);
                f.give(Some(zeros));
            }),
            Helper::F32FromU64 => self.function("f32_from_u64", &two[..1], Some(word), |f, a| {
                let (low, high) = f.halves(a[0]);
                let any = f.bin(Bin::InclusiveOr, low, high);
                let none = f.with(Bin::Equal, any, 0);
                f.when(none, |f| {
                    let zero = f.u(0);
                    f.give(Some(zero));
                });
                let zeros = f.call(Helper::Leading64, &[a[0]]);
                let top = f.call(Helper::ShiftLeft64, &[a[0], zeros]);
                let (low, high) = f.halves(top);
                let mantissa = f.with(Bin::ShiftRight, high, 8);
                let half = f.with(Bin::ShiftRight, high, 7);
                let half = f.with(Bin::And, half, 1);
                let beyond = f.with(Bin::And, high, 0x7f);
                let beyond = f.bin(Bin::InclusiveOr, beyond, low);
                let beyond = f.with(Bin::NotEqual, beyond, 0);
                let beyond = f.word_of(beyond);
                let odd = f.with(Bin::And, mantissa, 1);
                let up = f.bin(Bin::InclusiveOr, beyond, odd);
                let up = f.bin(Bin::And, half, up);
                // The mantissa's own first bit counts one up.
                let exponent = f.u(127 + 63 - 1);
                let exponent = f.bin(Bin::Subtract, exponent, zeros);
                let exponent = f.with(Bin::ShiftLeft, exponent, 23);
                let bits = f.sum(exponent, mantissa);
                let bits = f.sum(bits, up);
                f.give(Some(bits));
            }),
            Helper::F32FromI64 => self.function("f32_from_i64", &two[..1], Some(word), |f, a| {
                let (size, minus) = f.absolute(a[0]);
                let bits = f.call(Helper::F32FromU64, &[size]);
                let sign = f.u(1 << 31);
                let turned = f.bin(Bin::InclusiveOr, bits, sign);
                let bits = f.select(minus, turned, bits);
                f.give(Some(bits));
            }),
            Helper::Float(float, op) => self.float(float, op),
            Helper::Double(double) => self.double(double),
            Helper::Wide(op) => self.wide_op(op),
            Helper::AddCarry => self.add_carry(),
            Helper::AddExact(reduction) => self.add_exact(reduction),
            Helper::ExactValue => self.exact_value(),
            Helper::CompareExchange => {
                let arguments = [("at", word), ("expected", word), ("value", word)];
                self.function("compare_exchange", &arguments, Some(word), |f, a| {
                    let pointer = f.memory(Arena::Cells, a[0]);
                    let done = f.local("done", None);
                    let no = f.u(0);
                    f.store(done, no);
                    let seen = f.load(pointer);
                    let other = f.bin(Bin::NotEqual, seen, a[1]);
                    f.when(other, |f| {
                        let no = f.u(0);
                        f.give(Some(no));
                    });
                    f.forever(|f| {
                        let (old, exchanged) = f.exchange_weak(Scalar::U32, (pointer, a[1], a[2]));
                        f.when(exchanged, |f| {
                            let yes = f.u(1);
                            f.store(done, yes);
                            f.push(Statement::Break);
                        });
                        let other = f.bin(Bin::NotEqual, old, a[1]);
                        f.when(other, |f| f.push(Statement::Break));
                    });
                    let done = f.load(done);
                    f.give(Some(done));
                })
            }
            Helper::Update(update) => {
                let name = match update {
                    Update::AddF32 => "atomic_add_f32",
                    Update::MinF32 => "atomic_min_f32",
                    Update::MaxF32 => "atomic_max_f32",
                    Update::MinI32 => "atomic_min_i32",
                    Update::MaxI32 => "atomic_max_i32",
                    Update::MinU32 => "atomic_min_u32",
                    Update::MaxU32 => "atomic_max_u32",
                    Update::And => "atomic_and",
                    Update::Or => "atomic_or",
                };
                let arguments = [("at", word), ("value", word)];
                self.function(name, &arguments, Some(word), |f, a| {
                    let pointer = f.memory(Arena::Cells, a[0]);
                    let old = f.local("old", None);
                    let first = f.load(pointer);
                    f.store(old, first);
                    if let Some(function) = update.function() {
                        let next = f.updated(update, first, a[1]);
                        let changes = f.bin(Bin::NotEqual, next, first);
                        f.when(changes, |f| {
                            let now = f.atomic(pointer, function, a[1]);
                            f.store(old, now);
                        });
                        let old = f.load(old);
                        return f.give(Some(old));
                    }
                    f.forever(|f| {
                        let before = f.load(old);
                        let next = f.updated(update, before, a[1]);
                        let same = f.bin(Bin::Equal, next, before);
                        f.when(same, |f| f.push(Statement::Break));
                        let (now, exchanged) =
                            f.exchange_weak(Scalar::U32, (pointer, before, next));
                        f.when(exchanged, |f| f.push(Statement::Break));
                        f.store(old, now);
                    });
                    let old = f.load(old);
                    f.give(Some(old));
                })
            }
            Helper::Fault => {
                let arguments = [
                    ("kind", word),
                    ("item", word),
                    ("pc", word),
                    ("index", word),
                    ("len", word),
                ];
                self.function("fault", &arguments, None, |f, a| {
                    let own = |at: usize| Own::Fault(at as u32);
                    let now: Vec<Value> = (0..3)
                        .map(|at| {
                            let pointer = f.own(own(at));
                            f.load(pointer)
                        })
                        .collect();
                    let none = f.with(Bin::Equal, now[0], 0);
                    let lower = f.lower((a[1], a[2]), (now[1], now[2]));
                    let keep = f.bin(Bin::LogicalOr, none, lower);
                    f.when(keep, |f| {
                        for (at, &value) in a.iter().enumerate() {
                            let pointer = f.own(own(at));
                            f.store(pointer, value);
                        }
                    });
                })
            }
            Helper::Turn => {
                let truth = Some(self.ty.bool);
                self.function("turn", &[], truth, |f, _| {
                    let turns = f.own(Own::Turns);
                    let before = f.load(turns);
                    let limit = f.param(Layout::TURNS);
                    let spent = f.bin(Bin::GreaterEqual, before, limit);
                    let next = f.plus(before, 1);
                    // It stays at the limit.
                    let next = f.select(spent, before, next);
                    f.store(turns, next);
                    f.give(Some(spent));
                })
            }
            Helper::SourceOf(topology) => {
                let name = format!("source_in_{}", self.layout.topology(topology));
                self.function(&name, &[("edge", word)], Some(word), |f, a| {
                    let first = f.param(f.m.layout.at(Piece::Offsets(topology)));
                    let (low, high) = (f.local("low", None), f.local("high", None));
                    let zero = f.u(0);
                    let nodes = f.param(f.m.layout.length(Kind::Nodes, 0));
                    f.store(low, zero);
                    f.store(high, nodes);
                    // The last node whose edges begin at or before this one.
                    f.forever(|f| {
                        let (from, to) = (f.load(low), f.load(high));
                        let width = f.bin(Bin::Subtract, to, from);
                        let done = f.with(Bin::LessEqual, width, 1);
                        f.when(done, |f| f.push(Statement::Break));
                        let half = f.with(Bin::ShiftRight, width, 1);
                        let middle = f.sum(from, half);
                        let at = f.sum(first, middle);
                        let pointer = f.memory(Arena::Fixed, at);
                        let begins = f.load(pointer);
                        let behind = f.bin(Bin::Greater, begins, a[0]);
                        f.branch(behind, |f| f.store(high, middle), |f| f.store(low, middle));
                    });
                    let node = f.load(low);
                    f.give(Some(node));
                })
            }
            Helper::Push(frontier) => {
                let name = format!("push_{}", self.layout.frontier(frontier));
                self.function(&name, &[("node", word)], None, |f, a| {
                    if f.m.layout.is_unique(frontier) {
                        let epoch = f.control_now(f.m.layout.control(Held::Epoch(frontier)));
                        let pointer = f.seen(frontier, a[0]);
                        let swap = AtomicFunction::Exchange { compare: None };
                        let before = f.atomic(pointer, swap, epoch);
                        let again = f.bin(Bin::Equal, before, epoch);
                        f.when(again, |f| f.give(None));
                    }
                    if let Some((staged, len)) = f.staged(frontier) {
                        let (one, most) = (f.u(1), f.m.sharing.nodes);
                        let at = f.atomic(len, AtomicFunction::Add, one);
                        let fits = f.with(Bin::Less, at, most);
                        f.when(fits, |f| {
                            let to = f.at(staged, at);
                            f.store(to, a[0]);
                            f.give(None);
                        });
                    }
                    let one = f.u(1);
                    let slot = f.reserve(frontier, one);
                    f.place(frontier, slot, a[0]);
                })
            }
        }
    }

    fn function(
        &mut self,
        name: &str,
        arguments: &[(&str, Handle<Type>)],
        result: Option<Handle<Type>>,
        body: impl FnOnce(&mut Fun<'_, '_>, &[Value]),
    ) -> Handle<Function> {
        let mut f = Fun::new(self, name, arguments, result);
        let values = (0..arguments.len() as u32).map(|at| f.argument(at));
        let values: Vec<Value> = values.collect();
        body(&mut f, &values);
        f.define()
    }
}

/// Two words by one, a half of the quotient at a time (Knuth, The Art of Computer Programming 2, 4.3.1, algorithm D, in
/// base 2^16). What a half is guessed to be is two too much at most.
fn divide_two(f: &mut Fun<'_, '_>, (high, low, by): (Value, Value, Value)) {
    let [by_high, by_low] = [
        f.with(Bin::ShiftRight, by, 16),
        f.with(Bin::And, by, 0xffff),
    ];
    let half = |f: &mut Fun<'_, '_>, above: Value, next: Value| {
        let (guess, rest) = (f.local("guess", None), f.local("rest", None));
        let first = f.bin(Bin::Divide, above, by_high);
        f.store(guess, first);
        let product = f.bin(Bin::Multiply, first, by_high);
        let over = f.bin(Bin::Subtract, above, product);
        f.store(rest, over);
        for _ in 0..2 {
            let (now, over) = (f.load(guess), f.load(rest));
            let wide = f.with(Bin::GreaterEqual, now, 1 << 16);
            let product = f.bin(Bin::Multiply, now, by_low);
            let there_is = f.with(Bin::ShiftLeft, over, 16);
            let there_is = f.bin(Bin::InclusiveOr, there_is, next);
            let less = f.bin(Bin::Greater, product, there_is);
            let much = f.bin(Bin::LogicalOr, wide, less);
            // Of more, nothing is missing.
            let fits = f.with(Bin::Less, over, 1 << 16);
            let much = f.bin(Bin::LogicalAnd, much, fits);
            f.when(much, |f| {
                let fewer = f.with(Bin::Subtract, now, 1);
                f.store(guess, fewer);
                let more = f.sum(over, by_high);
                f.store(rest, more);
            });
        }
        let guess = f.load(guess);
        let above = f.with(Bin::ShiftLeft, above, 16);
        let all = f.bin(Bin::InclusiveOr, above, next);
        let product = f.bin(Bin::Multiply, guess, by);
        (guess, f.bin(Bin::Subtract, all, product))
    };
    let next = f.with(Bin::ShiftRight, low, 16);
    let (first, rest) = half(f, high, next);
    let next = f.with(Bin::And, low, 0xffff);
    let (second, rest) = half(f, rest, next);
    let first = f.with(Bin::ShiftLeft, first, 16);
    let quotient = f.sum(first, second);
    let both = f.pair(quotient, rest);
    f.give(Some(both));
}

/// Quotient and remainder of 64 bits, without a loop: a driver may count its turns.
fn divide(f: &mut Fun<'_, '_>, (x, y): (Value, Value)) {
    let (x_low, x_high) = f.halves(x);
    let (y_low, y_high) = f.halves(y);
    let zero = f.u(0);
    let is_word = f.with(Bin::Equal, y_high, 0);
    f.when(is_word, |f| {
        let one = f.u(1);
        let by = f.math(Math::Max, &[y_low, one]);
        let high = f.bin(Bin::Divide, x_high, by);
        let product = f.bin(Bin::Multiply, high, by);
        let rest = f.bin(Bin::Subtract, x_high, product);
        let zeros = f.math(Math::CountLeadingZeros, &[by]);
        let two = f.pair(x_low, rest);
        let shifted = f.call(Helper::ShiftLeft64, &[two, zeros]);
        let (low, above) = f.halves(shifted);
        let by = f.bin(Bin::ShiftLeft, by, zeros);
        let both = f.call(Helper::DivideTwo, &[above, low, by]);
        let (low, rest) = f.halves(both);
        let rest = f.bin(Bin::ShiftRight, rest, zeros);
        let all = f.quad([low, high, rest, zero]);
        f.give(Some(all));
    });
    // The quotient is a word: guessed by the divisor's first 32 bits, it is one too much at most.
    let zeros = f.math(Math::CountLeadingZeros, &[y_high]);
    let shifted = f.call(Helper::ShiftLeft64, &[y, zeros]);
    let first = f.part(shifted, 1);
    let one = f.u(1);
    let halved = f.call(Helper::ShiftRight64, &[x, one]);
    let (low, high) = f.halves(halved);
    let both = f.call(Helper::DivideTwo, &[high, low, first]);
    let guess = f.part(both, 0);
    let all = f.u(31);
    let by = f.bin(Bin::Subtract, all, zeros);
    let guess = f.bin(Bin::ShiftRight, guess, by);
    // One fewer, so that it is too little rather than too much.
    let some = f.with(Bin::NotEqual, guess, 0);
    let some = f.word_of(some);
    let guess = f.bin(Bin::Subtract, guess, some);
    let two = f.pair(guess, zero);
    let product = f.call(Helper::Mul64, &[two, y]);
    let rest = f.call(Helper::Sub64, &[x, product]);
    let less = f.call(Helper::Less64, &[rest, y]);
    let over = f.call(Helper::Sub64, &[rest, y]);
    let rest = f.select(less, rest, over);
    let more = f.not(less);
    let more = f.word_of(more);
    let guess = f.sum(guess, more);
    let (rest_low, rest_high) = f.halves(rest);
    let all = f.quad([guess, zero, rest_low, rest_high]);
    f.give(Some(all));
}

impl Fun<'_, '_> {
    pub(crate) fn halves(&mut self, value: Value) -> (Value, Value) {
        (self.part(value, 0), self.part(value, 1))
    }

    /// How far within a word, and whether a word beyond that.
    fn amount(&mut self, by: Value) -> (Value, Value) {
        let beyond = self.with(Bin::And, by, 32);
        let beyond = self.with(Bin::NotEqual, beyond, 0);
        (self.with(Bin::And, by, 31), beyond)
    }

    /// What a shift by this much moves from a word into its neighbour.
    fn spill(&mut self, back: Bin, word: Value, by: Value) -> Value {
        let all = self.u(32);
        let rest = self.bin(Bin::Subtract, all, by);
        let rest = self.with(Bin::And, rest, 31);
        let over = self.bin(back, word, rest);
        let none = self.with(Bin::Equal, by, 0);
        let zero = self.u(0);
        self.select(none, zero, over)
    }

    /// The size of a signed number, and whether it is negative.
    fn absolute(&mut self, value: Value) -> (Value, Value) {
        let high = self.part(value, 1);
        let minus = self.with(Bin::GreaterEqual, high, 1 << 31);
        (self.with_sign(value, minus), minus)
    }

    fn with_sign(&mut self, value: Value, minus: Value) -> Value {
        let zero = self.u(0);
        let none = self.pair(zero, zero);
        let negative = self.call(Helper::Sub64, &[none, value]);
        self.select(minus, negative, value)
    }

    fn updated(&mut self, update: Update, old: Value, value: Value) -> Value {
        match update {
            Update::AddF32 => {
                let (x, y) = (self.float(old), self.float(value));
                let sum = self.sum(x, y);
                self.unsigned(sum)
            }
            Update::MinF32 => self.call(Helper::Float(Float::F32, FloatOp::Min), &[old, value]),
            Update::MaxF32 => self.call(Helper::Float(Float::F32, FloatOp::Max), &[old, value]),
            Update::MinI32 => self.signed_math(Math::Min, old, value),
            Update::MaxI32 => self.signed_math(Math::Max, old, value),
            Update::MinU32 => self.math(Math::Min, &[old, value]),
            Update::MaxU32 => self.math(Math::Max, &[old, value]),
            Update::And => self.bin(Bin::And, old, value),
            Update::Or => self.bin(Bin::InclusiveOr, old, value),
        }
    }

    pub(crate) fn signed_math(&mut self, fun: Math, a: Value, b: Value) -> Value {
        let (x, y) = (self.signed(a), self.signed(b));
        let value = self.math(fun, &[x, y]);
        self.unsigned(value)
    }

    /// Whether a fault's item and pc come before another's.
    pub(crate) fn lower(&mut self, a: (Value, Value), b: (Value, Value)) -> Value {
        let less = self.bin(Bin::Less, a.0, b.0);
        let same = self.bin(Bin::Equal, a.0, b.0);
        let before = self.bin(Bin::Less, a.1, b.1);
        let before = self.bin(Bin::LogicalAnd, same, before);
        self.bin(Bin::LogicalOr, less, before)
    }

    /// Slots of a frontier's next round; the first one.
    pub(crate) fn reserve(&mut self, frontier: u16, slots: Value) -> Value {
        let tail = self.control(self.m.layout.control(Held::Tail(frontier)));
        self.atomic(tail, AtomicFunction::Add, slots)
    }

    /// Pointer to the flip of a frontier that a node was pushed behind last.
    pub(crate) fn seen(&mut self, frontier: u16, node: Value) -> Value {
        let first = self.param(self.m.layout.at(Piece::Seen(frontier)));
        let at = self.sum(first, node);
        self.memory(Arena::Cells, at)
    }

    /// A node gets its slot of a frontier's next round, where that is within the capacity. Where sweeps pull, it is
    /// stamped, and its edges are counted.
    pub(crate) fn place(&mut self, frontier: u16, slot: Value, node: Value) {
        let capacity = self.param(self.m.layout.length(Kind::Frontier, frontier));
        let fits = self.bin(Bin::Less, slot, capacity);
        self.when(fits, |f| {
            let at = f.item_at((frontier, 0), slot, 1, true);
            let pointer = f.memory(Arena::Plain, at);
            f.store(pointer, node);
        });
        let pulling = self.m.sharing.pulling;
        let Some(of) = pulling.filter(|of| of.frontier.0 == frontier) else {
            return;
        };
        let pulls = self.param(self.m.layout.pulls);
        let pulls = self.with(Bin::NotEqual, pulls, 0);
        self.when(pulls, |f| {
            if !f.m.layout.is_unique(frontier) {
                let epoch = f.control_now(f.m.layout.control(Held::Epoch(frontier)));
                let pointer = f.seen(frontier, node);
                f.store(pointer, epoch);
            }
            if !f.m.sharing.frontiers.is_empty() {
                let offsets = Piece::Offsets(of.topology.0);
                let [first, end] = [0, 1].map(|beyond| fixed(f, offsets, node, beyond));
                let edges = f.bin(Bin::Subtract, end, first);
                let own = f.own(Own::Edges);
                let before = f.load(own);
                let after = f.sum(before, edges);
                f.store(own, after);
            }
        });
    }

    /// Where a field of an item lies: of those that are swept, or of the next round's.
    pub(crate) fn item_at(
        &mut self,
        (frontier, field): (u16, u16),
        slot: Value,
        words: u32,
        next: bool,
    ) -> Value {
        let first = self.param(self.m.layout.at(Piece::Items(frontier, field)));
        let mut at = slot;
        if let Some(side) = self.m.layout.maybe(Held::Side(frontier)) {
            let mut side = self.control_now(side);
            if next {
                let one = self.u(1);
                side = self.bin(Bin::Subtract, one, side);
            }
            let capacity = self.param(self.m.layout.length(Kind::Frontier, frontier));
            let offset = self.bin(Bin::Multiply, side, capacity);
            at = self.sum(at, offset);
        }
        if words != 1 {
            at = self.with(Bin::Multiply, at, words);
        }
        self.sum(first, at)
    }
}

/// Floats of 32 bits that a rule of naga's types needs an expression of.
pub(crate) fn float_of_word(f: &mut Fun<'_, '_>, word: Value, signed: bool) -> Value {
    let from = if signed { f.signed(word) } else { word };
    let value = f.convert(from, ScalarKind::Float);
    f.unsigned(value)
}
