//! Expressions: each is computed straight into the register that takes it, and conditions in the form that costs least.

use super::operations::integer_range;
use super::select::{atomic_op, compare_op};
use super::words::{Builder, Place, is_wide};
use super::{Arg, ArrayEffect, ArrayUse, Inst, LowerError, Reg, fold, unsupported};
use crate::compile::ir::{Array, ArrayId, BinaryOp, CompareOp, CsrQuery, Expr, UnaryOp};
use crate::vir0::isa::{MAX_ROWS, Op};
use crate::vir0::module::SiteId;
use crate::vir0::scalar::Scalar;

/// Words that a select may compute in vain to save an `if`.
pub(super) const MAX_SELECT_WORDS: u32 = 2;

impl<'b> Builder<'b> {
    /// An expression's value; code for its last step, if there is any, writes the given register.
    pub(super) fn expr(&mut self, e: &Expr, into: Option<Reg>) -> Result<Arg, LowerError> {
        Ok(match e {
            Expr::Literal(scalar, bits) => Arg::Literal(*scalar, fold::canonical(*scalar, *bits)),
            Expr::Uniform(uniform, _) => Arg::Uniform(*uniform),
            Expr::Local(local) => match self.locals.get(local.0 as usize) {
                Some(Some(value)) => *value,
                Some(None) if self.counts.defs[local.0 as usize] > 1 => {
                    Arg::Reg(self.own_reg(*local))
                }
                _ => {
                    return Err(LowerError::Invalid(
                        "a local that is read before it is assigned",
                    ));
                }
            },
            Expr::Unary(UnaryOp::Not, Scalar::Bool, x) => {
                let (value, negated) = self.condition_either(x, true)?;
                if negated {
                    value
                } else {
                    self.unary(UnaryOp::Not, Scalar::Bool, value, into)?
                }
            }
            Expr::Unary(op, scalar, x) => {
                let x = self.expr(x, None)?;
                self.unary(*op, *scalar, x, into)?
            }
            Expr::Binary {
                op,
                scalar,
                left,
                right,
                site,
            } => {
                let pair = (self.expr(left, None)?, self.expr(right, None)?);
                self.binary(*op, *scalar, pair, *site, into)?
            }
            Expr::Compare {
                op,
                scalar,
                left,
                right,
            } => self.compare(*op, *scalar, (left, right), into)?,
            Expr::MulAdd { scalar, a, b, c } => {
                let args = [
                    self.expr(a, None)?,
                    self.expr(b, None)?,
                    self.expr(c, None)?,
                ];
                let folded = match args {
                    [Arg::Literal(_, a), Arg::Literal(_, b), Arg::Literal(_, c)] => {
                        fold::mul_add(*scalar, a, b, c)
                    }
                    _ => None,
                };
                let op = match scalar {
                    Scalar::F32 => Op::FmaF32,
                    Scalar::F64 => Op::FmaF64,
                    _ => return Err(unsupported("mul_add", *scalar)),
                };
                match folded {
                    Some(bits) => Arg::Literal(*scalar, bits),
                    None => self.emit(op, into, &args, Place::default()),
                }
            }
            Expr::Select {
                scalar,
                cond,
                then,
                otherwise,
            } => {
                if let Some(value) = self.minimum(*scalar, cond, (then, otherwise), into)? {
                    return Ok(value);
                }
                let (cond, negated) = self.condition_either(cond, false)?;
                let then = self.expr(then, None)?;
                let otherwise = self.expr(otherwise, None)?;
                let sides = if negated {
                    (otherwise, then)
                } else {
                    (then, otherwise)
                };
                self.select_value(*scalar, cond, sides, into)
            }
            Expr::Cast { from, to, value } => {
                let value = self.expr(value, None)?;
                self.cast(*from, *to, value, into)?
            }
            Expr::Bitcast { from, to, value } => match self.expr(value, None)? {
                Arg::Literal(_, bits) => Arg::Literal(*to, fold::canonical(*to, bits)),
                value => {
                    if is_wide(*from) != is_wide(*to) {
                        return Err(LowerError::Invalid("a bit cast between widths"));
                    }
                    value
                }
            },
            Expr::ArrayLoad {
                array, index, site, ..
            } => self.array_load(*array, index, *site, into)?,
            Expr::Load {
                buffer,
                scalar,
                index,
                site,
            } => {
                let op = match scalar.size_bytes() {
                    1 => Op::Ld8,
                    4 => Op::Ld32,
                    _ => Op::Ld64,
                };
                let index = self.expr(index, None)?;
                let place = Place::resource(buffer.0, *site);
                if self.changed.contains(buffer) {
                    self.emit(op, into, &[index], place)
                } else {
                    self.emit_load(op, into, index, place)
                }
            }
            Expr::AtomicLoad {
                buffer,
                scalar,
                index,
                site,
            } => {
                let op = sized(*scalar, Op::AtomLd32, Op::AtomLd64, "load")?;
                let index = self.expr(index, None)?;
                self.emit(op, into, &[index], Place::resource(buffer.0, *site))
            }
            Expr::Atomic {
                op,
                buffer,
                scalar,
                index,
                value,
                site,
            } => {
                let (op_of, negate) = atomic_op(*op, *scalar)?;
                let index = self.expr(index, None)?;
                let mut value = self.expr(value, None)?;
                if negate {
                    value = self.unary(UnaryOp::Neg, *scalar, value, None)?;
                }
                self.emit(
                    op_of,
                    into,
                    &[index, value],
                    Place::resource(buffer.0, *site),
                )
            }
            Expr::CompareExchange {
                buffer,
                scalar,
                index,
                expected,
                new,
                site,
            } => {
                let op = sized(*scalar, Op::AtomCas32, Op::AtomCas64, "compare_exchange")?;
                let index = self.expr(index, None)?;
                let expected = self.expr(expected, None)?;
                let new = self.expr(new, None)?;
                let at = Place::resource(buffer.0, *site);
                self.emit(op, into, &[index, expected, new], at)
            }
            Expr::Append { list, fields, site } => {
                let stores = [Op::ListSt8, Op::ListSt32, Op::ListSt64];
                let at = Place::resource(list.0, *site);
                self.item(Op::Append, stores, fields, at, into)?
            }
            Expr::Insert { .. } | Expr::Contains { .. } | Expr::Entry { .. } => {
                return Err(LowerError::Invalid("a relation that was not expanded"));
            }
            Expr::Len(buffer) => {
                let imm = u32::from(buffer.0) << 16;
                self.emit(Op::Len, into, &[], Place { imm, site: None })
            }
            Expr::Csr {
                query,
                topology,
                of,
                site,
            } => {
                let op = match query {
                    CsrQuery::Begin => Op::CsrBegin,
                    CsrQuery::End => Op::CsrEnd,
                    CsrQuery::Target => Op::CsrTarget,
                };
                let of = self.expr(of, None)?;
                self.emit_load(op, into, of, Place::resource(topology.0, *site))
            }
        })
    }

    /// Reserves an item and stores its fields; the slot. The stores are those of 1, 4 and 8 bytes.
    pub(super) fn item(
        &mut self,
        op: Op,
        stores: [Op; 3],
        fields: &[Expr],
        at: Place,
        into: Option<Reg>,
    ) -> Result<Arg, LowerError> {
        let mut values = Vec::with_capacity(fields.len());
        for field in fields {
            let bytes = field.scalar(&self.body.locals).size_bytes();
            let store = match bytes {
                1 => stores[0],
                4 => stores[1],
                _ => stores[2],
            };
            values.push((store, self.expr(field, None)?));
        }
        let slot = self.emit(op, into, &[], at);
        for (field, (store, value)) in (0u32..).zip(values) {
            self.push(store, None, [slot, value, Arg::None], at.imm | field, None);
        }
        Ok(slot)
    }

    pub(super) fn compare(
        &mut self,
        op: CompareOp,
        scalar: Scalar,
        (left, right): (&Expr, &Expr),
        into: Option<Reg>,
    ) -> Result<Arg, LowerError> {
        let (mut x, mut y) = (self.expr(left, None)?, self.expr(right, None)?);
        let truth = |b: bool| Arg::Literal(Scalar::Bool, b.into());
        if let (Arg::Literal(_, a), Arg::Literal(_, b)) = (x, y) {
            return Ok(truth(fold::compare(op, scalar, a, b)));
        }
        let mut op = op;
        if matches!(x, Arg::Literal(..)) {
            (x, y) = (y, x);
            op = mirrored(op);
        }
        let is_float = matches!(scalar, Scalar::F32 | Scalar::F64);
        if x == y && !is_float {
            return Ok(truth(matches!(
                op,
                CompareOp::Eq | CompareOp::Le | CompareOp::Ge
            )));
        }
        if let Arg::Literal(_, bits) = y
            && !is_float
        {
            if scalar == Scalar::Bool {
                // Of the four functions of one bit, the comparison is one.
                let of = |x: u64| fold::compare(op, scalar, x, bits);
                return match (of(0), of(1)) {
                    (false, true) => Ok(x),
                    (true, false) => self.unary(UnaryOp::Not, scalar, x, into),
                    (always, _) => Ok(truth(always)),
                };
            }
            // At the ends of the type's range an order is decided, or is an equality.
            let (least, most) = integer_range(scalar);
            let at_end = match op {
                CompareOp::Lt if bits == least => Some(Err(false)),
                CompareOp::Ge if bits == least => Some(Err(true)),
                CompareOp::Gt if bits == most => Some(Err(false)),
                CompareOp::Le if bits == most => Some(Err(true)),
                CompareOp::Le if bits == least => Some(Ok(CompareOp::Eq)),
                CompareOp::Gt if bits == least => Some(Ok(CompareOp::Ne)),
                CompareOp::Ge if bits == most => Some(Ok(CompareOp::Eq)),
                CompareOp::Lt if bits == most => Some(Ok(CompareOp::Ne)),
                _ => None,
            };
            match at_end {
                Some(Err(decided)) => return Ok(truth(decided)),
                Some(Ok(other)) => op = other,
                None => {}
            }
        }
        if matches!(op, CompareOp::Gt | CompareOp::Ge) {
            (x, y) = (y, x);
            op = mirrored(op);
        }
        let code = compare_op(op, scalar);
        Ok(self.plain(code, into, &[x, y]))
    }

    /// A condition's value, or that of its negation (then the flag is set), whichever needs less code; `negate` prefers
    /// the negation where that is free.
    pub(super) fn condition_either(
        &mut self,
        e: &Expr,
        negate: bool,
    ) -> Result<(Arg, bool), LowerError> {
        match e {
            Expr::Unary(UnaryOp::Not, Scalar::Bool, x) => {
                let (value, negated) = self.condition_either(x, !negate)?;
                Ok((value, !negated))
            }
            Expr::Compare {
                op,
                scalar,
                left,
                right,
            } if negate && negates(*op, *scalar) => {
                let value = self.compare(negation(*op), *scalar, (left, right), None)?;
                Ok((value, true))
            }
            _ => Ok((self.expr(e, None)?, false)),
        }
    }

    /// `if a < b { a } else { b }` and its like, of integers.
    pub(super) fn minimum(
        &mut self,
        scalar: Scalar,
        cond: &Expr,
        (a, b): (&Expr, &Expr),
        into: Option<Reg>,
    ) -> Result<Option<Arg>, LowerError> {
        let Expr::Compare {
            op, left, right, ..
        } = cond
        else {
            return Ok(None);
        };
        let picks_smaller = match op {
            CompareOp::Lt | CompareOp::Le => **left == *a,
            CompareOp::Gt | CompareOp::Ge => **left != *a,
            CompareOp::Eq | CompareOp::Ne => return Ok(None),
        };
        let same = **left == *a && **right == *b || **left == *b && **right == *a;
        let is_integer = !matches!(scalar, Scalar::F32 | Scalar::F64 | Scalar::Bool);
        if !same || !is_integer || speculation_words(cond).is_none() {
            return Ok(None);
        }
        let op = if picks_smaller {
            BinaryOp::Min
        } else {
            BinaryOp::Max
        };
        let pair = (self.expr(a, None)?, self.expr(b, None)?);
        self.binary(op, scalar, pair, None, into).map(Some)
    }

    /// The register of an array, and its type.
    pub(super) fn array(&mut self, id: ArrayId) -> Result<(Reg, Array), LowerError> {
        let at = id.0 as usize;
        let unknown = LowerError::Invalid("an array without a type");
        let array = *self.body.arrays.get(at).ok_or(unknown)?;
        if array.len == 0 {
            return Err(LowerError::Invalid("an array without elements"));
        }
        if let Some(reg) = self.arrays[at] {
            return Ok((reg, array));
        }
        let rows = array.len as usize * usize::from(array.scalar.rows());
        let width = u8::try_from(rows).ok().filter(|_| rows <= MAX_ROWS);
        let reg = self.reg(width.ok_or(LowerError::TooManyRows { rows })?, None);
        self.arrays[at] = Some(reg);
        Ok((reg, array))
    }

    /// Moves between an element whose index is known and an operand or register.
    pub(super) fn move_element(
        &mut self,
        (reg, array): (Reg, Array),
        index: u64,
        effect: ArrayEffect,
        (d, value): (Option<Reg>, Arg),
    ) {
        self.code.insts.push(Inst {
            op: if is_wide(array.scalar) {
                Op::Mov64
            } else {
                Op::Mov32
            },
            d,
            args: [value, Arg::None, Arg::None],
            array: Some(ArrayUse {
                reg,
                row: index as u8 * array.scalar.rows(),
                effect,
            }),
            imm: 0,
            site: None,
        });
    }

    /// An instruction over the rows of an array.
    pub(super) fn array_inst(
        &mut self,
        op: Op,
        (reg, array): (Reg, Array),
        effect: ArrayEffect,
        (d, a, b): (Option<Reg>, Arg, Arg),
        site: Option<SiteId>,
    ) {
        self.code.insts.push(Inst {
            op,
            d,
            args: [a, b, Arg::None],
            array: Some(ArrayUse {
                reg,
                row: 0,
                effect,
            }),
            imm: array.len << 8,
            site,
        });
    }

    pub(super) fn array_load(
        &mut self,
        id: ArrayId,
        index: &Expr,
        site: SiteId,
        into: Option<Reg>,
    ) -> Result<Arg, LowerError> {
        let array = self.array(id)?;
        let index = self.expr(index, None)?;
        let wide = is_wide(array.1.scalar);
        let d = into.unwrap_or_else(|| self.reg(1 + u8::from(wide), None));
        match index {
            Arg::Literal(_, i) if i < array.1.len.into() => {
                self.move_element(array, i, ArrayEffect::Read, (Some(d), Arg::None));
            }
            index => {
                let op = if wide { Op::RowLd64 } else { Op::RowLd32 };
                let operands = (Some(d), index, Arg::None);
                self.array_inst(op, array, ArrayEffect::Read, operands, Some(site));
            }
        }
        Ok(Arg::Reg(d))
    }
}

/// Whether a comparison's negation is a comparison too: not with a NaN.
fn negates(op: CompareOp, scalar: Scalar) -> bool {
    !matches!(scalar, Scalar::F32 | Scalar::F64) || matches!(op, CompareOp::Eq | CompareOp::Ne)
}

fn negation(op: CompareOp) -> CompareOp {
    match op {
        CompareOp::Eq => CompareOp::Ne,
        CompareOp::Ne => CompareOp::Eq,
        CompareOp::Lt => CompareOp::Ge,
        CompareOp::Le => CompareOp::Gt,
        CompareOp::Gt => CompareOp::Le,
        CompareOp::Ge => CompareOp::Lt,
    }
}

/// Whether `!e` needs no word more than `e`.
pub(super) fn negates_freely(e: &Expr) -> bool {
    match e {
        Expr::Unary(UnaryOp::Not, Scalar::Bool, _) => true,
        Expr::Compare { op, scalar, .. } => negates(*op, *scalar),
        _ => false,
    }
}

/// About how many words a value costs; `None` when it can fault, has an effect or reads memory.
pub(super) fn speculation_words(e: &Expr) -> Option<u32> {
    let own = match e {
        Expr::Literal(..) | Expr::Uniform(..) | Expr::Local(_) | Expr::Bitcast { .. } => 0,
        Expr::Binary {
            op: BinaryOp::Div | BinaryOp::Rem | BinaryOp::WrappingDiv | BinaryOp::WrappingRem,
            scalar,
            ..
        } if !matches!(scalar, Scalar::F32 | Scalar::F64) => return None,
        Expr::Unary(UnaryOp::RoundTiesEven, ..)
        | Expr::Binary {
            op: BinaryOp::SaturatingAdd | BinaryOp::SaturatingSub | BinaryOp::SaturatingMul,
            ..
        } => MAX_SELECT_WORDS + 1,
        Expr::Binary {
            op: BinaryOp::AbsDiff,
            ..
        } => 3,
        Expr::Unary(..)
        | Expr::Binary { .. }
        | Expr::Compare { .. }
        | Expr::MulAdd { .. }
        | Expr::Select { .. }
        | Expr::Cast { .. }
        | Expr::Len(_) => 1,
        Expr::ArrayLoad { .. }
        | Expr::Load { .. }
        | Expr::AtomicLoad { .. }
        | Expr::Atomic { .. }
        | Expr::CompareExchange { .. }
        | Expr::Append { .. }
        | Expr::Insert { .. }
        | Expr::Contains { .. }
        | Expr::Entry { .. }
        | Expr::Csr { .. } => return None,
    };
    let mut operands = e.operands();
    operands.try_fold(own, |words, operand| {
        Some(words + speculation_words(operand)?)
    })
}

/// The 32- or 64-bit form of an atomic.
pub(super) fn sized(
    scalar: Scalar,
    word: Op,
    double: Op,
    operation: &str,
) -> Result<Op, LowerError> {
    match scalar.size_bytes() {
        4 => Ok(word),
        8 => Ok(double),
        _ => Err(unsupported(&format!("atomic {operation}"), scalar)),
    }
}

/// The comparison with its operands exchanged.
fn mirrored(op: CompareOp) -> CompareOp {
    match op {
        CompareOp::Eq => CompareOp::Eq,
        CompareOp::Ne => CompareOp::Ne,
        CompareOp::Lt => CompareOp::Gt,
        CompareOp::Le => CompareOp::Ge,
        CompareOp::Gt => CompareOp::Lt,
        CompareOp::Ge => CompareOp::Le,
    }
}
