//! What a body means, by walking its tree: written from `ir`'s documentation, sharing nothing with the lowering.

use vyre_core::compile::ir::*;
use vyre_core::cpu::interp::Item;
use vyre_core::dsl::columns::Element;
use vyre_core::vir0::module::*;
use vyre_core::vir0::scalar::Scalar;
use vyre_core::vir0::scalar::ScalarType;
use vyre_core::vir0::trap::TrapKind;

/// Memory that both executions start from: one buffer for each scalar type, a ring as the graph.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct World {
    pub(crate) buffers: Vec<Vec<u64>>,
    pub(crate) pushed: Vec<u32>,
    pub(crate) reduced: Vec<(u16, u64)>,
    /// Items of the list, then of the second frontier.
    pub(crate) items: [Vec<Vec<u64>>; 2],
}

/// Nodes, buffer lengths and edges of the test world.
pub(crate) const LEN: u32 = 8;

impl World {
    pub(crate) fn new() -> World {
        let values = [
            0,
            1,
            7,
            0x8000_0000,
            u64::MAX,
            0x3f80_0000,
            0x4000_0000_0000_0000,
            0x1_0000_0003,
        ];
        let of = |s: Scalar| values.iter().map(|&v| canonical(s, v)).collect();
        World {
            buffers: Scalar::ALL.iter().map(|&s| of(s)).collect(),
            pushed: vec![],
            reduced: vec![],
            items: [vec![], vec![]],
        }
    }

    /// The world with all NaNs of float buffers made one.
    pub(crate) fn without_payloads(mut self) -> World {
        for x in &mut self.buffers[Scalar::F32 as usize] {
            if get::<f32>(*x).is_nan() {
                *x = f32::NAN.to_bits64();
            }
        }
        for x in &mut self.buffers[Scalar::F64 as usize] {
            if get::<f64>(*x).is_nan() {
                *x = f64::NAN.to_bits64();
            }
        }
        // The third field of the list is a float.
        for item in &mut self.items[0] {
            if get::<f64>(item[2]).is_nan() {
                item[2] = f64::NAN.to_bits64();
            }
        }
        self
    }
}

/// Values of the uniforms.
pub(crate) fn uniform(u: Uniform) -> u64 {
    match u {
        Uniform::Scalar(ScalarId(0)) => 5,
        Uniform::Scalar(ScalarId(1)) => 2.5f32.to_bits64(),
        Uniform::Scalar(_) => (-0.75f64).to_bits64(),
        Uniform::Constant(_) => u32::MAX.into(),
        Uniform::Round => 3,
        Uniform::OuterRound(_) => 2,
        Uniform::Nodes => LEN.into(),
        Uniform::Reduction(_) | Uniform::Len(_) | Uniform::Began(_) => 11,
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) kind: TrapKind,
    pub(crate) index: u64,
    pub(crate) len: u64,
    pub(crate) site: SiteId,
}

fn get<T: Element>(bits: u64) -> T {
    T::from_bits64(bits)
}

macro_rules! each_type {
    ($scalar:expr, $T:ident => $e:expr) => {
        match $scalar {
            Scalar::Bool => {
                type $T = bool;
                $e
            }
            Scalar::U8 => {
                type $T = u8;
                $e
            }
            Scalar::U32 => {
                type $T = u32;
                $e
            }
            Scalar::I32 => {
                type $T = i32;
                $e
            }
            Scalar::U64 => {
                type $T = u64;
                $e
            }
            Scalar::I64 => {
                type $T = i64;
                $e
            }
            Scalar::F32 => {
                type $T = f32;
                $e
            }
            Scalar::F64 => {
                type $T = f64;
                $e
            }
        }
    };
}

pub(crate) fn canonical(scalar: Scalar, bits: u64) -> u64 {
    each_type!(scalar, T => get::<T>(bits).to_bits64())
}

/// What each type can do; a front end asks no type for what it cannot.
trait Value: Element + PartialOrd {
    fn unary(self, op: UnaryOp) -> u64;
    fn binary(self, op: BinaryOp, y: Self, amount: u32) -> Result<Self, TrapKind>;
    fn cast(self, to: Scalar) -> u64;
}

macro_rules! ints {
    ($($ty:ident $abs:expr;)*) => {$(impl Value for $ty {
        fn unary(self, op: UnaryOp) -> u64 {
            match op {
                UnaryOp::Neg => self.wrapping_neg().to_bits64(),
                UnaryOp::Not => (!self).to_bits64(),
                UnaryOp::Abs => { let f: fn($ty) -> $ty = $abs; f(self).to_bits64() }
                UnaryOp::CountOnes => self.count_ones().into(),
                UnaryOp::LeadingZeros => self.leading_zeros().into(),
                UnaryOp::TrailingZeros => self.trailing_zeros().into(),
                _ => panic!("{op:?} of an integer"),
            }
        }
        fn binary(self, op: BinaryOp, y: $ty, amount: u32) -> Result<$ty, TrapKind> {
            Ok(match op {
                BinaryOp::Add => self.wrapping_add(y),
                BinaryOp::Sub => self.wrapping_sub(y),
                BinaryOp::Mul => self.wrapping_mul(y),
                BinaryOp::Div | BinaryOp::Rem if y == 0 => return Err(TrapKind::DivideByZero),
                BinaryOp::Div => self.checked_div(y).ok_or(TrapKind::DivideOverflow)?,
                BinaryOp::Rem => self.checked_rem(y).ok_or(TrapKind::DivideOverflow)?,
                BinaryOp::WrappingDiv | BinaryOp::WrappingRem if y == 0 => return Err(TrapKind::DivideByZero),
                BinaryOp::WrappingDiv => self.wrapping_div(y),
                BinaryOp::WrappingRem => self.wrapping_rem(y),
                BinaryOp::SaturatingAdd => self.saturating_add(y),
                BinaryOp::SaturatingSub => self.saturating_sub(y),
                BinaryOp::SaturatingMul => self.saturating_mul(y),
                BinaryOp::AbsDiff => self.abs_diff(y) as $ty,
                BinaryOp::RotateRight => self.rotate_right(amount % $ty::BITS),
                BinaryOp::And => self & y,
                BinaryOp::Or => self | y,
                BinaryOp::Xor => self ^ y,
                BinaryOp::Shl => self.wrapping_shl(amount),
                BinaryOp::Shr => self.wrapping_shr(amount),
                BinaryOp::RotateLeft => self.rotate_left(amount % $ty::BITS),
                BinaryOp::Min => self.min(y),
                BinaryOp::Max => self.max(y),
            })
        }
        fn cast(self, to: Scalar) -> u64 { casts!(self, to, to == Scalar::U8) }
    })*};
}
macro_rules! floats {
    ($($ty:ident;)*) => {$(impl Value for $ty {
        fn unary(self, op: UnaryOp) -> u64 {
            match op {
                UnaryOp::Neg => -self,
                UnaryOp::Abs => self.abs(),
                UnaryOp::Sqrt => self.sqrt(),
                UnaryOp::Floor => self.floor(),
                UnaryOp::Ceil => self.ceil(),
                UnaryOp::Round => self.round(),
                UnaryOp::Trunc => self.trunc(),
                UnaryOp::RoundTiesEven => self.round_ties_even(),
                UnaryOp::Exp => self.exp(),
                UnaryOp::Ln => self.ln(),
                UnaryOp::Sin => self.sin(),
                UnaryOp::Cos => self.cos(),
                _ => panic!("{op:?} of a float"),
            }.to_bits64()
        }
        fn binary(self, op: BinaryOp, y: $ty, _: u32) -> Result<$ty, TrapKind> {
            Ok(match op {
                BinaryOp::Add => self + y,
                BinaryOp::Sub => self - y,
                BinaryOp::Mul => self * y,
                BinaryOp::Div => self / y,
                BinaryOp::Rem => self % y,
                BinaryOp::Min => self.min(y),
                BinaryOp::Max => self.max(y),
                _ => panic!("{op:?} of floats"),
            })
        }
        fn cast(self, to: Scalar) -> u64 { casts!(self, to, to == Scalar::U8) }
    })*};
}
macro_rules! casts {
    ($x:ident, $to:ident, $byte:expr) => {
        match $to {
            Scalar::U8 => ($x as u8).to_bits64(),
            Scalar::U32 => ($x as u32).to_bits64(),
            Scalar::I32 => ($x as i32).to_bits64(),
            Scalar::U64 => ($x as u64).to_bits64(),
            Scalar::I64 => ($x as i64).to_bits64(),
            Scalar::F32 => ($x as f32).to_bits64(),
            Scalar::F64 => ($x as f64).to_bits64(),
            Scalar::Bool => panic!("cast to bool"),
        }
    };
}
ints! { u8 |x| x; u32 |x| x; u64 |x| x; i32 i32::wrapping_abs; i64 i64::wrapping_abs; }
floats! { f32; f64; }
impl Value for bool {
    fn unary(self, op: UnaryOp) -> u64 {
        assert_eq!(op, UnaryOp::Not);
        (!self).into()
    }
    fn binary(self, op: BinaryOp, y: bool, _: u32) -> Result<bool, TrapKind> {
        Ok(match op {
            BinaryOp::And => self & y,
            BinaryOp::Or => self | y,
            BinaryOp::Xor => self ^ y,
            _ => panic!("{op:?} of bools"),
        })
    }
    fn cast(self, to: Scalar) -> u64 {
        u32::from(self).cast(to)
    }
}

enum Flow {
    Next,
    Break(u32),
    Continue(u32),
    Return,
    OutOfFuel,
}

/// One run of a body on one item.
pub(crate) struct Oracle<'a> {
    body: &'a Body,
    locals: Vec<Option<u64>>,
    arrays: Vec<Option<Vec<u64>>>,
    pub(crate) world: World,
    /// Turns of loops left.
    fuel: u32,
}

impl<'a> Oracle<'a> {
    pub(crate) fn new(body: &'a Body, item: Item, world: World) -> Oracle<'a> {
        let mut locals = vec![None; body.locals.len()];
        for (local, value) in [
            (body.item.index, item.index),
            (body.item.src, item.src),
            (body.item.dst, item.dst),
        ] {
            if let Some(l) = local {
                locals[l.0 as usize] = Some(value.into());
            }
        }
        Oracle {
            body,
            locals,
            arrays: vec![None; body.arrays.len()],
            world,
            fuel: 3_000,
        }
    }

    /// The condition's value, or 0; `None` when the body runs for too long.
    pub(crate) fn run(&mut self) -> Option<Result<u64, Fault>> {
        let flow = self.block(&self.body.block);
        match (flow, &self.body.value) {
            (Ok(Flow::OutOfFuel), _) => None,
            (Err(fault), _) => Some(Err(fault)),
            (Ok(_), Some(value)) => Some(self.expr(value)),
            (Ok(_), None) => Some(Ok(0)),
        }
    }

    fn block(&mut self, block: &Block) -> Result<Flow, Fault> {
        for stmt in block {
            match self.stmt(stmt)? {
                Flow::Next => {}
                flow => return Ok(flow),
            }
        }
        Ok(Flow::Next)
    }

    fn element(&mut self, buffer: BufferId, index: u64, site: SiteId) -> Result<&mut u64, Fault> {
        let len = u64::from(LEN);
        self.world.buffers[buffer.index()]
            .get_mut(index as usize)
            .ok_or(Fault {
                kind: TrapKind::IndexOutOfBounds,
                index,
                len,
                site,
            })
    }

    fn array_element(
        &mut self,
        array: ArrayId,
        index: u64,
        site: SiteId,
    ) -> Result<&mut u64, Fault> {
        let array = self.arrays[array.0 as usize].as_mut();
        let array = array.expect("generated bodies assign first");
        let len = array.len() as u64;
        array.get_mut(index as usize).ok_or(Fault {
            kind: TrapKind::IndexOutOfBounds,
            index,
            len,
            site,
        })
    }

    fn stmt(&mut self, stmt: &Stmt) -> Result<Flow, Fault> {
        match stmt {
            Stmt::ArrayFill { array, value } => {
                let value = self.expr(value)?;
                let len = self.body.arrays[array.0 as usize].len as usize;
                self.arrays[array.0 as usize] = Some(vec![value; len]);
            }
            Stmt::ArrayAssign { array, values } => {
                let values: Result<_, _> = values.iter().map(|e| self.expr(e)).collect();
                self.arrays[array.0 as usize] = Some(values?);
            }
            Stmt::ArrayStore {
                array,
                index,
                value,
                site,
            } => {
                let (index, value) = (self.expr(index)?, self.expr(value)?);
                *self.array_element(*array, index, *site)? = value;
            }
            Stmt::CheckIndex { index, len, site } => {
                let (index, len) = (self.expr(index)?, self.expr(len)?);
                if index >= len {
                    return Err(Fault {
                        kind: TrapKind::IndexOutOfBounds,
                        index,
                        len,
                        site: *site,
                    });
                }
            }
            Stmt::Assign(l, e) => {
                let value = self.expr(e)?;
                self.locals[l.0 as usize] = Some(value);
            }
            Stmt::Store {
                buffer,
                index,
                value,
                site,
            }
            | Stmt::AtomicStore {
                buffer,
                index,
                value,
                site,
            } => {
                let index = self.expr(index)?;
                let value = self.expr(value)?;
                *self.element(*buffer, index, *site)? = value;
            }
            Stmt::Eval(e) => {
                self.expr(e)?;
            }
            Stmt::Push { value, site, .. } => {
                let value = self.expr(value)?;
                if value >= LEN.into() {
                    return Err(Fault {
                        kind: TrapKind::IndexOutOfBounds,
                        index: value,
                        len: LEN.into(),
                        site: *site,
                    });
                }
                self.world.pushed.push(value as u32);
            }
            Stmt::PushItem { fields, .. } => {
                let item: Result<_, _> = fields.iter().map(|e| self.expr(e)).collect();
                self.world.items[1].push(item?);
            }
            Stmt::File { .. } => unreachable!("random bodies have no indexes"),
            Stmt::Reduce { reduction, value } => {
                let value = self.expr(value)?;
                self.world.reduced.push((reduction.0, value));
            }
            Stmt::If {
                cond,
                then,
                otherwise,
            } => {
                let cond = self.expr(cond)?;
                return self.block(if cond != 0 { then } else { otherwise });
            }
            Stmt::Loop { body, .. } => loop {
                match self.fuel.checked_sub(1) {
                    Some(fuel) => self.fuel = fuel,
                    None => return Ok(Flow::OutOfFuel),
                }
                match self.block(body)? {
                    Flow::Next | Flow::Continue(0) => {}
                    Flow::Break(0) => break,
                    Flow::Break(n) => return Ok(Flow::Break(n - 1)),
                    Flow::Continue(n) => return Ok(Flow::Continue(n - 1)),
                    flow @ (Flow::Return | Flow::OutOfFuel) => return Ok(flow),
                }
            },
            Stmt::Break { depth } => return Ok(Flow::Break(*depth)),
            Stmt::Continue { depth } => return Ok(Flow::Continue(*depth)),
            Stmt::Return => return Ok(Flow::Return),
            Stmt::Assert { cond, kind, site } => {
                if self.expr(cond)? == 0 {
                    return Err(Fault {
                        kind: *kind,
                        index: 0,
                        len: 0,
                        site: *site,
                    });
                }
            }
        }
        Ok(Flow::Next)
    }

    #[allow(
        clippy::bool_comparison,
        reason = "one spelling of the comparisons for all types"
    )]
    fn expr(&mut self, e: &Expr) -> Result<u64, Fault> {
        Ok(match e {
            Expr::Literal(_, bits) => *bits,
            Expr::Uniform(u, _) => uniform(*u),
            Expr::Local(l) => self.locals[l.0 as usize].expect("generated bodies assign first"),
            Expr::Unary(op, s, x) => {
                let x = self.expr(x)?;
                each_type!(*s, T => get::<T>(x).unary(*op))
            }
            Expr::Binary {
                op,
                scalar,
                left,
                right,
                site,
            } => {
                let (x, y) = (self.expr(left)?, self.expr(right)?);
                let result = each_type!(*scalar, T => get::<T>(x).binary(*op, get::<T>(y), y as u32).map(|v| v.to_bits64()));
                result.map_err(|kind| Fault {
                    kind,
                    index: 0,
                    len: 0,
                    site: site.expect("generated divisions have sites"),
                })?
            }
            Expr::Compare {
                op,
                scalar,
                left,
                right,
            } => {
                let (x, y) = (self.expr(left)?, self.expr(right)?);
                each_type!(*scalar, T => {
                    let (x, y) = (get::<T>(x), get::<T>(y));
                    match op {
                        CompareOp::Eq => x == y,
                        CompareOp::Ne => x != y,
                        CompareOp::Lt => x < y,
                        CompareOp::Le => x <= y,
                        CompareOp::Gt => x > y,
                        CompareOp::Ge => x >= y,
                    }
                })
                .into()
            }
            Expr::MulAdd { scalar, a, b, c } => {
                let (a, b, c) = (self.expr(a)?, self.expr(b)?, self.expr(c)?);
                if *scalar == Scalar::F32 {
                    get::<f32>(a).mul_add(get(b), get(c)).to_bits64()
                } else {
                    get::<f64>(a).mul_add(get(b), get(c)).to_bits64()
                }
            }
            Expr::Select {
                cond,
                then,
                otherwise,
                ..
            } => {
                let cond = self.expr(cond)?;
                let (a, b) = (self.expr(then)?, self.expr(otherwise)?);
                if cond != 0 { a } else { b }
            }
            Expr::Cast { from, to, value } => {
                let x = self.expr(value)?;
                each_type!(*from, T => get::<T>(x).cast(*to))
            }
            Expr::Bitcast { to, value, .. } => {
                let x = self.expr(value)?;
                canonical(*to, x)
            }
            Expr::ArrayLoad {
                array, index, site, ..
            } => {
                let index = self.expr(index)?;
                *self.array_element(*array, index, *site)?
            }
            Expr::Load {
                buffer,
                index,
                site,
                ..
            }
            | Expr::AtomicLoad {
                buffer,
                index,
                site,
                ..
            } => {
                let index = self.expr(index)?;
                *self.element(*buffer, index, *site)?
            }
            Expr::Atomic {
                op,
                buffer,
                scalar,
                index,
                value,
                site,
            } => {
                let index = self.expr(index)?;
                let value = self.expr(value)?;
                let element = self.element(*buffer, index, *site)?;
                let old = *element;
                let binary = match op {
                    AtomicOp::Add => BinaryOp::Add,
                    AtomicOp::Sub => BinaryOp::Sub,
                    AtomicOp::Min => BinaryOp::Min,
                    AtomicOp::Max => BinaryOp::Max,
                    AtomicOp::And => BinaryOp::And,
                    AtomicOp::Or => BinaryOp::Or,
                    AtomicOp::Xor => BinaryOp::Xor,
                    AtomicOp::Swap => {
                        *element = value;
                        return Ok(old);
                    }
                };
                *element = each_type!(*scalar, T => get::<T>(old).binary(binary, get::<T>(value), 0).expect("no division").to_bits64());
                old
            }
            Expr::CompareExchange {
                buffer,
                index,
                expected,
                new,
                site,
                ..
            } => {
                let index = self.expr(index)?;
                let (expected, new) = (self.expr(expected)?, self.expr(new)?);
                let element = self.element(*buffer, index, *site)?;
                let stored = *element == expected;
                if stored {
                    *element = new;
                }
                stored.into()
            }
            Expr::Append { fields, .. } => {
                let item: Result<_, _> = fields.iter().map(|e| self.expr(e)).collect();
                let items = &mut self.world.items[0];
                items.push(item?);
                items.len() as u64 - 1
            }
            Expr::Insert { .. } | Expr::Contains { .. } | Expr::Entry { .. } => {
                unreachable!("random bodies have no relations")
            }
            Expr::Len(_) => LEN.into(),
            Expr::Csr {
                query, of, site, ..
            } => {
                let of = self.expr(of)?;
                if of >= LEN.into() {
                    return Err(Fault {
                        kind: TrapKind::IndexOutOfBounds,
                        index: of,
                        len: LEN.into(),
                        site: *site,
                    });
                }
                match query {
                    CsrQuery::Begin => of,
                    CsrQuery::End => of + 1,
                    CsrQuery::Target => (of + 1) % u64::from(LEN),
                }
            }
        })
    }
}
