//! Scalar operations: the methods of numbers, conversions, and u8 in a wider register.

use super::*;

impl<'f> Lowerer<'_, 'f> {
    /// `at`: the method's name, where rustc says that it faults.
    pub(super) fn method(&mut self, code: Code, args: &'f [Expr], at: Span) -> ir::Expr {
        let Some(first) = args.first() else {
            self.fault("a receiver is expected");
            return ir::Expr::Literal(Scalar::U32, 0);
        };
        let s = self.scalar_of(&first.ty);
        let refs: Vec<&Expr> = args.iter().collect();
        let values = self.operands(&refs);
        let mut values: Vec<ir::Expr> = args
            .iter()
            .zip(values)
            .map(|(a, v)| self.single(v, &a.ty))
            .collect();
        values.resize(3, ir::Expr::Literal(Scalar::U32, 0));
        let Ok([x, y, z]) = <[ir::Expr; 3]>::try_from(values) else {
            self.fault("too many arguments");
            return ir::Expr::Literal(Scalar::U32, 0);
        };
        self.apply(code, s, [x, y, z], (args, at))
    }

    /// What a method becomes. One arm a method, none of which knows another: a table in all but its syntax, and as long.
    pub(super) fn apply(
        &mut self,
        code: Code,
        s: Scalar,
        args: [ir::Expr; 3],
        (refs, at): (&'f [Expr], Span),
    ) -> ir::Expr {
        let [x, y, z] = args;
        let reg = register(s);
        let bits = unsigned(s);
        let zero = ir::Expr::Literal(reg, 0);
        let un = |op, e: ir::Expr| ir::Expr::Unary(op, reg, Box::new(e));
        let raw = |e: ir::Expr| ir::Expr::Bitcast {
            from: s,
            to: bits,
            value: Box::new(e),
        };
        let back = |e: ir::Expr| ir::Expr::Bitcast {
            from: bits,
            to: s,
            value: Box::new(e),
        };
        let sign_mask = if s.rows() == 2 {
            1u64 << 63
        } else {
            1u64 << 31
        };
        match code {
            Code::Unary(op @ (UnaryOp::CountOnes | UnaryOp::TrailingZeros)) if s == Scalar::U8 => {
                // A ninth bit bounds the count.
                let e = match op {
                    UnaryOp::TrailingZeros => {
                        binary(BinaryOp::Or, reg, x, ir::Expr::Literal(reg, 256))
                    }
                    _ => x,
                };
                un(op, e)
            }
            Code::Unary(UnaryOp::LeadingZeros) if s == Scalar::U8 => binary(
                BinaryOp::Sub,
                reg,
                un(UnaryOp::LeadingZeros, x),
                ir::Expr::Literal(reg, 24),
            ),
            Code::Unary(op) => narrow(s, un(op, x)),
            Code::Binary(BinaryOp::RotateLeft) if s == Scalar::U8 => self.rotate_u8(x, y),
            Code::Binary(op) => {
                let amount = refs.get(1).map_or(s, |a| self.scalar_of(&a.ty));
                self.binary(op, s, x, (y, amount), at)
            }
            Code::MulAdd => ir::Expr::MulAdd {
                scalar: s,
                a: Box::new(x),
                b: Box::new(y),
                c: Box::new(z),
            },
            Code::RotateRight if s == Scalar::U8 => {
                let n = ir::Expr::Unary(UnaryOp::Neg, Scalar::U32, Box::new(y));
                self.rotate_u8(x, n)
            }
            Code::RotateRight => binary(BinaryOp::RotateRight, reg, x, y),
            Code::Resign => cast(s, signed(s), x),
            Code::SaturatingMul if s == Scalar::U8 => {
                let product = binary(BinaryOp::Mul, reg, x, y);
                binary(BinaryOp::Min, reg, product, ir::Expr::Literal(reg, 255))
            }
            Code::SaturatingMul => binary(BinaryOp::SaturatingMul, reg, x, y),
            Code::Clamp => self.clamp(s, [x, y, z], at),
            Code::RemEuclid | Code::DivEuclid => self.euclid(code, s, (x, y), at),
            Code::DivCeil => {
                let (x, y) = self.leaves(x, y);
                let site = Some(self.site(at));
                let mut quotient = divide(BinaryOp::Div, s, (x.clone(), y.clone()), site);
                self.pin(&mut quotient);
                let rest = divide(BinaryOp::Rem, s, (x, y), site);
                let more = compare(CompareOp::Ne, reg, rest, zero);
                binary(BinaryOp::Add, reg, quotient, cast(Scalar::Bool, reg, more))
            }
            Code::IsMultipleOf => {
                // Nothing but zero is a multiple of zero, and no division by it happens.
                let (x, y) = self.leaves(x, y);
                let site = Some(self.site(at));
                let by = binary(BinaryOp::Max, reg, y.clone(), ir::Expr::Literal(reg, 1));
                let rest = divide(BinaryOp::Rem, s, (x.clone(), by), site);
                let none = compare(CompareOp::Eq, reg, y, zero.clone());
                let rest = select(reg, none, x, rest);
                compare(CompareOp::Eq, reg, rest, zero)
            }
            Code::NextPowerOfTwo => {
                let mut less = binary(BinaryOp::Sub, reg, x, ir::Expr::Literal(reg, 1));
                self.pin(&mut less);
                // Of 0 and 1: all bits of `less` are set, or none is.
                let none = compare(CompareOp::Eq, reg, less.clone(), int_literal(s, u128::MAX));
                let none = if s == Scalar::U8 {
                    compare(
                        CompareOp::Eq,
                        reg,
                        less.clone(),
                        int_literal(Scalar::U32, u128::MAX),
                    )
                } else {
                    none
                };
                let none = binary(
                    BinaryOp::Or,
                    Scalar::Bool,
                    none,
                    compare(CompareOp::Eq, reg, less.clone(), zero.clone()),
                );
                let shift = un(UnaryOp::LeadingZeros, less);
                let ones = binary(BinaryOp::Shr, reg, int_literal(reg, u128::MAX), shift);
                let below = select(reg, none, zero, ones);
                narrow(
                    s,
                    binary(BinaryOp::Add, reg, below, ir::Expr::Literal(reg, 1)),
                )
            }
            Code::Ilog2 => {
                let x = self.leaf(x);
                let site = self.site(at);
                self.emit(ir::Stmt::Assert {
                    cond: compare(CompareOp::Gt, reg, x.clone(), zero),
                    kind: TrapKind::Panic,
                    site,
                });
                let top = if reg.rows() == 2 { 63 } else { 31 };
                binary(
                    BinaryOp::Sub,
                    Scalar::U32,
                    ir::Expr::Literal(Scalar::U32, top),
                    un(UnaryOp::LeadingZeros, x),
                )
            }
            Code::SwapBytes | Code::ReverseBits => {
                let bits = register(bits);
                let mut value = cast(s, bits, x);
                let width = match s {
                    Scalar::U8 => 8,
                    s if s.rows() == 2 => 64,
                    _ => 32,
                };
                let first = if code == Code::SwapBytes { 8 } else { 1 };
                // Neighbouring groups change places: of one bit (or byte), then of two ...
                let mut group = first;
                while group < width {
                    let mask = (0..width)
                        .filter(|b| b / group % 2 == 0)
                        .fold(0u64, |m, b| m | 1 << b);
                    value = self.leaf(value);
                    let mask = ir::Expr::Literal(bits, mask);
                    let by = ir::Expr::Literal(Scalar::U32, group);
                    let low = binary(BinaryOp::And, bits, value.clone(), mask.clone());
                    let high = binary(BinaryOp::Shr, bits, value, by.clone());
                    value = binary(
                        BinaryOp::Or,
                        bits,
                        binary(BinaryOp::Shl, bits, low, by),
                        binary(BinaryOp::And, bits, high, mask),
                    );
                    group *= 2;
                }
                if s == Scalar::U8 {
                    value
                } else {
                    cast(bits, s, value)
                }
            }
            Code::ToRadians => binary(
                BinaryOp::Mul,
                s,
                x,
                ir::Expr::Literal(
                    s,
                    match s {
                        Scalar::F32 => (std::f32::consts::PI / 180.0).to_bits().into(),
                        _ => (std::f64::consts::PI / 180.0).to_bits(),
                    },
                ),
            ),
            Code::ToDegrees => binary(
                BinaryOp::Mul,
                s,
                x,
                ir::Expr::Literal(
                    s,
                    match s {
                        // As in core: more exact than dividing 180 by a rounded pi.
                        Scalar::F32 => 57.295_78_f32.to_bits().into(),
                        _ => (180.0 / std::f64::consts::PI).to_bits(),
                    },
                ),
            ),
            Code::CountZeros => un(UnaryOp::CountOnes, narrow(s, un(UnaryOp::Not, x))),
            Code::LeadingOnes => {
                let e = narrow(s, un(UnaryOp::Not, x));
                let n = un(UnaryOp::LeadingZeros, e);
                if s == Scalar::U8 {
                    binary(BinaryOp::Sub, reg, n, ir::Expr::Literal(reg, 24))
                } else {
                    n
                }
            }
            Code::TrailingOnes => un(UnaryOp::TrailingZeros, un(UnaryOp::Not, x)),
            Code::IsPowerOfTwo => compare(
                CompareOp::Eq,
                Scalar::U32,
                un(UnaryOp::CountOnes, x),
                ir::Expr::Literal(Scalar::U32, 1),
            ),
            Code::AbsDiff => cast(s, bits, binary(BinaryOp::AbsDiff, reg, x, y)),
            Code::UnsignedAbs => cast(s, bits, un(UnaryOp::Abs, x)),
            Code::Pow => self.pow(s, x, y),
            Code::Signum if is_float(s) => {
                let x = self.leaf(x);
                let one = if s == Scalar::F32 {
                    1f32.to_bits().into()
                } else {
                    1f64.to_bits()
                };
                let sign = binary(
                    BinaryOp::And,
                    bits,
                    raw(x.clone()),
                    ir::Expr::Literal(bits, sign_mask),
                );
                let one = binary(BinaryOp::Or, bits, sign, ir::Expr::Literal(bits, one));
                let nan = compare(CompareOp::Ne, s, x.clone(), x.clone());
                select(s, nan, x, back(one))
            }
            Code::Signum => {
                let x = self.leaf(x);
                let up = cast(
                    Scalar::Bool,
                    s,
                    compare(CompareOp::Gt, reg, x.clone(), zero.clone()),
                );
                let down = cast(Scalar::Bool, s, compare(CompareOp::Lt, reg, x, zero));
                binary(BinaryOp::Sub, reg, up, down)
            }
            Code::IsPositive => compare(CompareOp::Gt, reg, x, zero),
            Code::IsNegative => compare(CompareOp::Lt, reg, x, zero),
            Code::IsNan => {
                let x = self.leaf(x);
                compare(CompareOp::Ne, reg, x.clone(), x)
            }
            Code::IsInfinite => compare(CompareOp::Eq, reg, un(UnaryOp::Abs, x), infinity(s)),
            Code::IsFinite => compare(CompareOp::Lt, reg, un(UnaryOp::Abs, x), infinity(s)),
            Code::SignBit | Code::NoSignBit => {
                let sign = binary(
                    BinaryOp::And,
                    bits,
                    raw(x),
                    ir::Expr::Literal(bits, sign_mask),
                );
                let op = if code == Code::SignBit {
                    CompareOp::Ne
                } else {
                    CompareOp::Eq
                };
                compare(op, bits, sign, ir::Expr::Literal(bits, 0))
            }
            Code::Fract => {
                let x = self.leaf(x);
                let whole = un(UnaryOp::Trunc, x.clone());
                binary(BinaryOp::Sub, reg, x, whole)
            }
            Code::Recip => {
                let one = if s == Scalar::F32 {
                    1f32.to_bits().into()
                } else {
                    1f64.to_bits()
                };
                binary(BinaryOp::Div, reg, ir::Expr::Literal(s, one), x)
            }
            Code::Copysign => {
                let rest = if s.rows() == 2 {
                    !sign_mask
                } else {
                    0x7fff_ffff
                };
                let size = binary(BinaryOp::And, bits, raw(x), ir::Expr::Literal(bits, rest));
                let sign = binary(
                    BinaryOp::And,
                    bits,
                    raw(y),
                    ir::Expr::Literal(bits, sign_mask),
                );
                back(binary(BinaryOp::Or, bits, size, sign))
            }
            Code::ToBits => raw(x),
            Code::FromBits => {
                let to = if s == Scalar::U64 {
                    Scalar::F64
                } else {
                    Scalar::F32
                };
                ir::Expr::Bitcast {
                    from: s,
                    to,
                    value: Box::new(x),
                }
            }
            Code::SaturatingAdd | Code::SaturatingSub => {
                self.saturating(code == Code::SaturatingAdd, s, x, y)
            }
        }
    }

    /// `x.clamp(low, high)`: traps unless `low <= high`; a NaN stays.
    fn clamp(&mut self, s: Scalar, [x, low, high]: [ir::Expr; 3], at: Span) -> ir::Expr {
        let reg = register(s);
        let (x, low) = self.leaves(x, low);
        let high = self.leaf(high);
        let site = self.site(at);
        self.emit(ir::Stmt::Assert {
            cond: compare(CompareOp::Le, reg, low.clone(), high.clone()),
            kind: TrapKind::Assert,
            site,
        });
        if !is_float(s) {
            return binary(BinaryOp::Min, reg, binary(BinaryOp::Max, reg, x, low), high);
        }
        let bounded = |op, x: ir::Expr, bound: ir::Expr| ir::Expr::Select {
            scalar: s,
            cond: Box::new(compare(op, s, x.clone(), bound.clone())),
            then: Box::new(bound),
            otherwise: Box::new(x),
        };
        let raised = self.leaf(bounded(CompareOp::Lt, x, low));
        bounded(CompareOp::Gt, raised, high)
    }

    /// `rem_euclid` and `div_euclid`, step by step as core has them.
    fn euclid(
        &mut self,
        code: Code,
        s: Scalar,
        (x, y): (ir::Expr, ir::Expr),
        at: Span,
    ) -> ir::Expr {
        let reg = register(s);
        let site = is_int(s).then(|| self.site(at));
        let rem = code == Code::RemEuclid;
        if !is_signed(s) && !is_float(s) {
            let op = if rem { BinaryOp::Rem } else { BinaryOp::Div };
            return divide(op, s, (x, y), site);
        }
        let (x, y) = self.leaves(x, y);
        let zero = ir::Expr::Literal(reg, 0);
        let select = |cond, then, otherwise| ir::Expr::Select {
            scalar: reg,
            cond: Box::new(cond),
            then: Box::new(then),
            otherwise: Box::new(otherwise),
        };
        let mut quotient = None;
        if !rem {
            let mut q = divide(BinaryOp::Div, s, (x.clone(), y.clone()), site);
            if is_float(s) {
                q = ir::Expr::Unary(UnaryOp::Trunc, s, Box::new(q));
            }
            self.pin(&mut q);
            quotient = Some(q);
        }
        let mut rest = divide(BinaryOp::Rem, s, (x, y.clone()), site);
        self.pin(&mut rest);
        let negative = compare(CompareOp::Lt, reg, rest.clone(), zero.clone());
        match quotient {
            None => {
                let size = ir::Expr::Unary(UnaryOp::Abs, reg, Box::new(y));
                let raised = binary(BinaryOp::Add, reg, rest.clone(), size);
                select(negative, raised, rest)
            }
            Some(q) => {
                let one = match s {
                    Scalar::F32 => ir::Expr::Literal(s, 1f32.to_bits().into()),
                    Scalar::F64 => ir::Expr::Literal(s, 1f64.to_bits()),
                    _ => int_literal(s, 1),
                };
                let up = compare(CompareOp::Gt, reg, y, zero);
                let less = binary(BinaryOp::Sub, reg, q.clone(), one.clone());
                let more = binary(BinaryOp::Add, reg, q.clone(), one);
                select(negative, select(up, less, more), q)
            }
        }
    }

    pub(super) fn leaves(&mut self, x: ir::Expr, y: ir::Expr) -> (ir::Expr, ir::Expr) {
        let x = self.leaf(x);
        (x, self.leaf(y))
    }

    pub(super) fn rotate_u8(&mut self, x: ir::Expr, n: ir::Expr) -> ir::Expr {
        let reg = Scalar::U32;
        let (x, n) = self.leaves(x, n);
        let mask = |e| binary(BinaryOp::And, reg, e, ir::Expr::Literal(reg, 7));
        let left = binary(BinaryOp::Shl, reg, x.clone(), mask(n.clone()));
        let back = ir::Expr::Unary(UnaryOp::Neg, reg, Box::new(n));
        let right = binary(BinaryOp::Shr, reg, x, mask(back));
        narrow(Scalar::U8, binary(BinaryOp::Or, reg, left, right))
    }

    fn saturating(&mut self, add: bool, s: Scalar, x: ir::Expr, y: ir::Expr) -> ir::Expr {
        let reg = register(s);
        if s != Scalar::U8 {
            let op = if add {
                BinaryOp::SaturatingAdd
            } else {
                BinaryOp::SaturatingSub
            };
            return binary(op, s, x, y);
        }
        if add {
            let sum = binary(BinaryOp::Add, reg, x, y);
            return binary(BinaryOp::Min, reg, sum, ir::Expr::Literal(reg, 255));
        }
        // x - min(x, y)
        let x = self.leaf(x);
        let taken = binary(BinaryOp::Min, reg, x.clone(), y);
        binary(BinaryOp::Sub, reg, x, taken)
    }

    /// Square and multiply, wrapping.
    pub(super) fn pow(&mut self, s: Scalar, x: ir::Expr, n: ir::Expr) -> ir::Expr {
        let reg = register(s);
        let mul = |a: ir::Expr, b: ir::Expr| narrow(s, binary(BinaryOp::Mul, reg, a, b));
        if let ir::Expr::Literal(_, n @ 0..=16) = n {
            let x = self.leaf(x);
            let mut result: Option<ir::Expr> = None;
            let mut square = x;
            let mut left = n;
            while left > 0 {
                if left & 1 == 1 {
                    result = Some(match result {
                        Some(r) => mul(r, square.clone()),
                        None => square.clone(),
                    });
                }
                left >>= 1;
                if left > 0 {
                    square = self.leaf(mul(square.clone(), square));
                }
            }
            return result.unwrap_or(int_literal(s, 1));
        }
        let (base, left, result) = (self.temp(s), self.temp(Scalar::U32), self.temp(s));
        self.emit(ir::Stmt::Assign(base, x));
        self.emit(ir::Stmt::Assign(left, n));
        self.emit(ir::Stmt::Assign(result, int_literal(s, 1)));
        let at = self.loops;
        self.loops += 1;
        let (block, ()) = self.block(|l| {
            let n = ir::Expr::Local(left);
            l.break_if(
                compare(
                    CompareOp::Eq,
                    Scalar::U32,
                    n.clone(),
                    ir::Expr::Literal(Scalar::U32, 0),
                ),
                at,
            );
            let odd = binary(
                BinaryOp::And,
                Scalar::U32,
                n.clone(),
                ir::Expr::Literal(Scalar::U32, 1),
            );
            let odd = compare(
                CompareOp::Ne,
                Scalar::U32,
                odd,
                ir::Expr::Literal(Scalar::U32, 0),
            );
            let (r, b) = (ir::Expr::Local(result), ir::Expr::Local(base));
            let then = vec![ir::Stmt::Assign(result, mul(r, b.clone()))];
            l.emit(ir::Stmt::If {
                cond: odd,
                then,
                otherwise: Vec::new(),
            });
            l.emit(ir::Stmt::Assign(base, mul(b.clone(), b)));
            let half = binary(
                BinaryOp::Shr,
                Scalar::U32,
                n,
                ir::Expr::Literal(Scalar::U32, 1),
            );
            l.emit(ir::Stmt::Assign(left, half));
        });
        self.leave_short(block);
        ir::Expr::Local(result)
    }
}

/// The type that a register holds for a value: u8 is widened.
pub(super) fn register(s: Scalar) -> Scalar {
    if s == Scalar::U8 { Scalar::U32 } else { s }
}

/// A value read as a u8, in its register's type.
pub(super) fn widen(s: Scalar, e: ir::Expr) -> ir::Expr {
    if s == Scalar::U8 {
        cast_ir(Scalar::U8, Scalar::U32, e)
    } else {
        e
    }
}

/// Cuts the register of a u8 back to its width.
pub(super) fn narrow(s: Scalar, e: ir::Expr) -> ir::Expr {
    if s == Scalar::U8 {
        binary(
            BinaryOp::And,
            Scalar::U32,
            e,
            ir::Expr::Literal(Scalar::U32, 0xff),
        )
    } else {
        e
    }
}

pub(super) fn unsigned(s: Scalar) -> Scalar {
    match s {
        Scalar::I32 | Scalar::F32 => Scalar::U32,
        Scalar::I64 | Scalar::F64 => Scalar::U64,
        Scalar::Bool | Scalar::U8 | Scalar::U32 | Scalar::U64 => s,
    }
}

fn signed(s: Scalar) -> Scalar {
    match s {
        Scalar::U32 => Scalar::I32,
        Scalar::U64 => Scalar::I64,
        Scalar::I32 => Scalar::U32,
        Scalar::I64 => Scalar::U64,
        Scalar::Bool | Scalar::U8 | Scalar::F32 | Scalar::F64 => s,
    }
}

/// A division or remainder that can fault, at a site.
pub(super) fn divide(
    op: BinaryOp,
    s: Scalar,
    (left, right): (ir::Expr, ir::Expr),
    site: Option<SiteId>,
) -> ir::Expr {
    ir::Expr::Binary {
        op,
        scalar: register(s),
        left: Box::new(left),
        right: Box::new(right),
        site,
    }
}

/// `if cond { then } else { otherwise }`, where both are worked out.
pub(super) fn select(
    scalar: Scalar,
    cond: ir::Expr,
    then: ir::Expr,
    otherwise: ir::Expr,
) -> ir::Expr {
    ir::Expr::Select {
        scalar,
        cond: Box::new(cond),
        then: Box::new(then),
        otherwise: Box::new(otherwise),
    }
}

pub(super) fn infinity(s: Scalar) -> ir::Expr {
    ir::Expr::Literal(
        s,
        if s == Scalar::F32 {
            f32::INFINITY.to_bits().into()
        } else {
            f64::INFINITY.to_bits()
        },
    )
}

/// An integer literal, modulo the type's width, in the pool's form (i32 sign-extended).
pub(super) fn int_literal(s: Scalar, v: u128) -> ir::Expr {
    let bits = match s {
        Scalar::Bool => u64::from(v != 0),
        Scalar::U8 => u64::from(v as u8),
        Scalar::U32 => u64::from(v as u32),
        Scalar::I32 => v as i32 as i64 as u64,
        Scalar::F32 => (v as f32).to_bits().into(),
        Scalar::F64 => (v as f64).to_bits(),
        Scalar::U64 | Scalar::I64 => v as u64,
    };
    ir::Expr::Literal(register(s), bits)
}

pub(super) fn binary(op: BinaryOp, scalar: Scalar, left: ir::Expr, right: ir::Expr) -> ir::Expr {
    ir::Expr::Binary {
        op,
        scalar,
        left: Box::new(left),
        right: Box::new(right),
        site: None,
    }
}

/// Tuples, structs or arrays of these scalars: equal in all, or ordered by the first in which they differ.
pub(super) fn compare_wholes(
    op: CompareOp,
    scalars: &[Scalar],
    x: Vec<ir::Expr>,
    y: Vec<ir::Expr>,
) -> ir::Expr {
    let before = match op {
        CompareOp::Ne => return negate(compare_wholes(CompareOp::Eq, scalars, x, y)),
        CompareOp::Eq => None,
        CompareOp::Lt | CompareOp::Le => Some(CompareOp::Lt),
        CompareOp::Gt | CompareOp::Ge => Some(CompareOp::Gt),
    };
    let all = x.into_iter().zip(y).zip(scalars);
    let rest = all.rev().fold(None, |rest, ((x, y), &s)| {
        let s = register(s);
        let Some(rest) = rest else {
            return Some(compare(op, s, x, y));
        };
        let equal = compare(CompareOp::Eq, s, x.clone(), y.clone());
        let rest = binary(BinaryOp::And, Scalar::Bool, equal, rest);
        Some(match before {
            None => rest,
            Some(before) => {
                let before = compare(before, s, x, y);
                binary(BinaryOp::Or, Scalar::Bool, before, rest)
            }
        })
    });
    let reflexive = !matches!(op, CompareOp::Lt | CompareOp::Gt);
    rest.unwrap_or(ir::Expr::Literal(Scalar::Bool, reflexive.into()))
}

pub(super) fn compare(op: CompareOp, scalar: Scalar, left: ir::Expr, right: ir::Expr) -> ir::Expr {
    ir::Expr::Compare {
        op,
        scalar,
        left: Box::new(left),
        right: Box::new(right),
    }
}

pub(super) fn cast_ir(from: Scalar, to: Scalar, value: ir::Expr) -> ir::Expr {
    if from == to {
        value
    } else {
        ir::Expr::Cast {
            from,
            to,
            value: Box::new(value),
        }
    }
}

/// Rust's `as`, on registers.
pub(super) fn cast(from: Scalar, to: Scalar, value: ir::Expr) -> ir::Expr {
    if from == to {
        return value;
    }
    if to == Scalar::U8 {
        // Saturating from a float, the low bits of anything else.
        let value = cast_ir(register(from), Scalar::U32, value);
        return if is_float(from) {
            binary(
                BinaryOp::Min,
                Scalar::U32,
                value,
                ir::Expr::Literal(Scalar::U32, 255),
            )
        } else {
            narrow(Scalar::U8, value)
        };
    }
    if let (ir::Expr::Literal(_, bits), true, true) = (&value, is_int(from), is_int(to)) {
        return int_literal(to, u128::from(*bits));
    }
    cast_ir(register(from), to, value)
}

/// A shift's or rotation's amount: only its low bits count.
pub(super) fn to_u32(from: Scalar, value: ir::Expr) -> ir::Expr {
    cast(from, Scalar::U32, value)
}

/// The opposite of a bool.
pub(super) fn negate(e: ir::Expr) -> ir::Expr {
    match e {
        ir::Expr::Literal(Scalar::Bool, b) => ir::Expr::Literal(Scalar::Bool, 1 - (b & 1)),
        ir::Expr::Unary(UnaryOp::Not, Scalar::Bool, inner) => *inner,
        other => ir::Expr::Unary(UnaryOp::Not, Scalar::Bool, Box::new(other)),
    }
}
