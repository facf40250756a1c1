//! From the typed tree to linear code over virtual registers.
//!
//! What is decided here is which code exists at all. A local with one assignment is a name for its value; other locals
//! own a register. Jumps out of the tail of a block become nesting, so that an early `return` or `continue` costs no
//! word and a loop that runs once is no loop; a counter that is stepped at the head of a loop is stepped at its end
//! instead, so that the copy the body uses needs no row; `if` without effects becomes a select where that is shorter.

use super::select::{atomic_op, binary_op, cast_op, compare_op, unary_op};
use super::{Arg, ArrayEffect, ArrayUse, Code, Inst, LowerError, Reg, fold, unsupported};
use crate::compile::ir::{
    Array, ArrayId, BinaryOp, Body, CompareOp, CsrQuery, Expr, LocalId, Stmt, UnaryOp,
};
use crate::vir0::isa::{MAX_ROWS, Op};
use crate::vir0::module::{BufferId, SiteId};
use crate::vir0::scalar::Scalar;
use std::collections::HashSet;

/// Early exits are nested instead of jumped over up to this depth of `if`s.
const MAX_TAIL_DEPTH: usize = 4;
/// Loads that are looked through for an equal one.
const LOADS_KEPT: usize = 64;
/// Words that a select may compute in vain to save an `if`.
const MAX_SELECT_WORDS: u32 = 2;

pub(super) fn build(body: &Body) -> Result<Code, LowerError> {
    let mut builder = Builder::new(body)?;
    if let Some(value) = &body.value {
        // Where only a trap ends the block, any value will do.
        let value = if builder.block(&body.block, None)? {
            builder.expr(value, None)?
        } else {
            Arg::Literal(Scalar::Bool, 0)
        };
        builder.push(Op::RetV, None, [value, Arg::None, Arg::None], 0, None);
    } else {
        builder.block(&body.block, Some(Exit::Return))?;
        builder.push(Op::Ret, None, [Arg::None; 3], 0, None);
    }
    Ok(builder.code)
}

/// How often each local is read and assigned.
struct Counts {
    reads: Vec<u32>,
    defs: Vec<u32>,
}

impl Counts {
    fn new(locals: usize) -> Counts {
        Counts {
            reads: vec![0; locals],
            defs: vec![0; locals],
        }
    }

    fn of_block(locals: usize, block: &[Stmt]) -> Result<Counts, LowerError> {
        let mut counts = Counts::new(locals);
        counts.block(block)?;
        Ok(counts)
    }

    fn block(&mut self, block: &[Stmt]) -> Result<(), LowerError> {
        let mut result = Ok(());
        for stmt in block {
            if let Stmt::Assign(local, _) = stmt {
                *Self::at(&mut self.defs, *local)? += 1;
            }
            stmt.each_operand(&mut |e| result = result.clone().and_then(|()| self.expr(e)));
            stmt.each_block(&mut |b| result = result.clone().and_then(|()| self.block(b)));
        }
        result
    }

    fn expr(&mut self, e: &Expr) -> Result<(), LowerError> {
        if let Expr::Local(local) = e {
            *Self::at(&mut self.reads, *local)? += 1;
        }
        let mut result = Ok(());
        e.each_operand(&mut |x| result = result.clone().and_then(|()| self.expr(x)));
        result
    }

    fn at(counts: &mut [u32], local: LocalId) -> Result<&mut u32, LowerError> {
        counts
            .get_mut(local.0 as usize)
            .ok_or(LowerError::Invalid("a local without a type"))
    }
}

/// What falling off the end of a block amounts to.
#[derive(Clone, Copy, PartialEq)]
enum Exit {
    /// `return` of the kernel.
    Return,
    /// The innermost loop's next turn.
    Continue,
    /// Leaving a loop that runs once and has no words of its own.
    Break,
}

impl Exit {
    fn is(self, stmt: &Stmt) -> bool {
        match self {
            Exit::Return => matches!(stmt, Stmt::Return),
            Exit::Continue => matches!(stmt, Stmt::Continue { depth: 0 }),
            Exit::Break => matches!(stmt, Stmt::Break { depth: 0 }),
        }
    }
}

/// A loop of the tree that is being built.
struct Loop<'b> {
    /// It has words of its own.
    real: bool,
    /// What every further turn starts with, moved here from the loop's head.
    step: Option<(LocalId, &'b Expr)>,
    /// A `break` leaves it.
    broken: bool,
}

struct Builder<'b> {
    body: &'b Body,
    code: Code,
    counts: Counts,
    /// Value of each local: its own register, or what its one assignment gave.
    locals: Vec<Option<Arg>>,
    /// Register of each array that has been used.
    arrays: Vec<Option<Reg>>,
    /// The local that owns a register and may assign it again; other registers are assigned once.
    owner: Vec<Option<LocalId>>,
    loops: Vec<Loop<'b>>,
    /// Loads that can be used again here: of the graph and of buffers that the body only reads.
    loaded: Vec<(Inst, Arg)>,
    /// Buffers that the body changes.
    changed: HashSet<BufferId>,
    ifs: usize,
}

impl<'b> Builder<'b> {
    fn new(body: &'b Body) -> Result<Builder<'b>, LowerError> {
        let n = body.locals.len();
        let mut counts = Counts::of_block(n, &body.block)?;
        if let Some(value) = &body.value {
            counts.expr(value)?;
        }
        let mut builder = Builder {
            body,
            code: Code::default(),
            counts,
            locals: vec![None; n],
            arrays: vec![None; body.arrays.len()],
            owner: Vec::new(),
            loops: Vec::new(),
            loaded: Vec::new(),
            changed: HashSet::new(),
            ifs: 0,
        };
        changed_buffers(&body.block, &mut builder.changed);
        let item = [body.item.index, body.item.src, body.item.dst];
        for (i, local) in item.into_iter().chain(body.item.fields).enumerate() {
            let Some(local) = local else { continue };
            let at = local.0 as usize;
            let scalar = builder.body.locals.get(at).copied();
            if scalar.is_none() || i < 3 && scalar != Some(Scalar::U32) {
                return Err(LowerError::Invalid("an item local that is not a u32"));
            }
            let owner = (builder.counts.defs[at] > 0).then_some(local);
            let r = builder.reg(scalar.map_or(1, Scalar::rows), owner);
            builder.counts.defs[at] += 1;
            builder.code.item[i] = Some(r);
            builder.locals[at] = Some(Arg::Reg(r));
        }
        Ok(builder)
    }

    fn reg(&mut self, width: u8, owner: Option<LocalId>) -> Reg {
        self.owner.push(owner);
        self.code.reg(width)
    }

    /// The register of an array, and its type.
    fn array(&mut self, id: ArrayId) -> Result<(Reg, Array), LowerError> {
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
    fn move_element(
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
    fn array_inst(
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

    fn array_load(
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

    fn array_store(
        &mut self,
        id: ArrayId,
        index: &Expr,
        value: &Expr,
        site: SiteId,
    ) -> Result<(), LowerError> {
        let array = self.array(id)?;
        let (index, value) = (self.expr(index, None)?, self.expr(value, None)?);
        match index {
            Arg::Literal(_, i) if i < array.1.len.into() => {
                self.move_element(array, i, ArrayEffect::Write, (None, value));
            }
            index => {
                let wide = is_wide(array.1.scalar);
                let op = if wide { Op::RowSt64 } else { Op::RowSt32 };
                let operands = (None, index, value);
                self.array_inst(op, array, ArrayEffect::Write, operands, Some(site));
            }
        }
        Ok(())
    }

    fn array_fill(&mut self, id: ArrayId, value: &Expr) -> Result<(), LowerError> {
        let array = self.array(id)?;
        let value = self.expr(value, None)?;
        let wide = is_wide(array.1.scalar);
        let op = if wide { Op::RowFill64 } else { Op::RowFill32 };
        let operands = (None, value, Arg::None);
        self.array_inst(op, array, ArrayEffect::Begin, operands, None);
        Ok(())
    }

    fn array_assign(&mut self, id: ArrayId, values: &[Expr]) -> Result<(), LowerError> {
        let array = self.array(id)?;
        if values.len() != array.1.len as usize {
            return Err(LowerError::Invalid(
                "an array with another number of values",
            ));
        }
        let mut operands = Vec::with_capacity(values.len());
        for value in values {
            operands.push(self.expr(value, None)?);
        }
        let mut effect = ArrayEffect::Begin;
        for (i, value) in (0..).zip(operands) {
            self.move_element(array, i, effect, (None, value));
            effect = ArrayEffect::Write;
        }
        Ok(())
    }

    fn push(&mut self, op: Op, d: Option<Reg>, args: [Arg; 3], imm: u32, site: Option<SiteId>) {
        self.code.insts.push(Inst {
            op,
            d,
            args,
            array: None,
            imm,
            site,
        });
    }

    /// Emits an operation with a result, into the given register or a new one.
    fn emit(&mut self, op: Op, into: Option<Reg>, args: &[Arg], at: Place) -> Arg {
        let d = into.unwrap_or_else(|| {
            use crate::vir0::isa::Slot;
            let wide = matches!(op.row().d, Slot::D | Slot::OptD);
            self.reg(1 + u8::from(wide), None)
        });
        let mut all = [Arg::None; 3];
        all[..args.len()].copy_from_slice(args);
        self.push(op, Some(d), all, at.imm, at.site);
        Arg::Reg(d)
    }

    /// Emits a load of what does not change, unless it has been loaded on the way here: then its bounds are checked,
    /// too.
    fn emit_load(&mut self, op: Op, into: Option<Reg>, index: Arg, at: Place) -> Arg {
        let key = Inst {
            op,
            d: None,
            args: [index, Arg::None, Arg::None],
            array: None,
            imm: at.imm,
            site: None,
        };
        if let Some((_, value)) = self
            .loaded
            .iter()
            .rev()
            .take(LOADS_KEPT)
            .find(|(inst, _)| *inst == key)
        {
            return *value;
        }
        let value = self.emit(op, into, &[index], at);
        if self.owner(index).is_none() && self.owner(value).is_none() {
            self.loaded.push((key, value));
        }
        value
    }

    fn scalar_of(&self, local: LocalId) -> Scalar {
        self.body.locals[local.0 as usize]
    }

    /// The register of a local with several assignments.
    fn own_reg(&mut self, local: LocalId) -> Reg {
        let at = local.0 as usize;
        if let Some(Arg::Reg(r)) = self.locals[at] {
            return r;
        }
        let r = self.reg(self.body.locals[at].rows(), Some(local));
        self.locals[at] = Some(Arg::Reg(r));
        r
    }

    /// The local that may assign the value's register again.
    fn owner(&self, value: Arg) -> Option<LocalId> {
        match value {
            Arg::Reg(r) => self.owner[r.index()],
            Arg::None | Arg::Uniform(_) | Arg::Literal(..) | Arg::Slot(_) => None,
        }
    }

    /// Whether a local that is assigned once, before `rest`, can be a name for the value: the value's owner keeps it
    /// for as long as the name is read.
    fn can_name(&self, local: LocalId, value: Arg, rest: &[Stmt]) -> Result<bool, LowerError> {
        let Some(owner) = self.owner(value) else {
            return Ok(true);
        };
        let counts = Counts::of_block(self.body.locals.len(), rest)?;
        Ok(counts.defs[owner.0 as usize] == 0 && self.reads_all(&counts, local))
    }

    /// Whether a local is read only in the counted statements.
    fn reads_all(&self, counts: &Counts, local: LocalId) -> bool {
        counts.reads[local.0 as usize] == self.counts.reads[local.0 as usize]
    }

    fn copy(&mut self, d: Reg, value: Arg) {
        if value != Arg::Reg(d) {
            let op = if self.code.width[d.index()] == 2 {
                Op::Mov64
            } else {
                Op::Mov32
            };
            self.push(op, Some(d), [value, Arg::None, Arg::None], 0, None);
        }
    }

    fn assign(&mut self, local: LocalId, e: &Expr, rest: &[Stmt]) -> Result<(), LowerError> {
        if self.counts.defs[local.0 as usize] > 1 {
            let d = self.own_reg(local);
            let value = self.expr(e, Some(d))?;
            self.copy(d, value);
        } else {
            let mut value = self.expr(e, None)?;
            if !self.can_name(local, value, rest)? {
                let d = self.reg(self.scalar_of(local).rows(), None);
                self.copy(d, value);
                value = Arg::Reg(d);
            }
            self.locals[local.0 as usize] = Some(value);
        }
        Ok(())
    }

    /// Builds a statement list; false when its end is never reached. With a tail, whoever reaches the end continues as
    /// that exit would.
    fn block(&mut self, stmts: &'b [Stmt], tail: Option<Exit>) -> Result<bool, LowerError> {
        let mut i = 0;
        while let Some(stmt) = stmts.get(i) {
            let (before, rest) = (&stmts[..i], &stmts[i + 1..]);
            i += 1;
            if tail.is_some_and(|exit| exit.is(stmt)) {
                return Ok(true);
            }
            match stmt {
                Stmt::Assign(local, e) => self.assign(*local, e, rest)?,
                Stmt::Store {
                    buffer,
                    index,
                    value,
                    site,
                } => {
                    let scalar = value.scalar(&self.body.locals);
                    let op = match scalar.size_bytes() {
                        1 => Op::St8,
                        4 => Op::St32,
                        _ => Op::St64,
                    };
                    self.store(op, index, value, Place::resource(buffer.0, *site))?;
                }
                Stmt::AtomicStore {
                    buffer,
                    index,
                    value,
                    site,
                } => {
                    let scalar = value.scalar(&self.body.locals);
                    let op = sized(scalar, Op::AtomSt32, Op::AtomSt64, "store")?;
                    self.store(op, index, value, Place::resource(buffer.0, *site))?;
                }
                Stmt::ArrayFill { array, value } => self.array_fill(*array, value)?,
                Stmt::ArrayAssign { array, values } => self.array_assign(*array, values)?,
                Stmt::ArrayStore {
                    array,
                    index,
                    value,
                    site,
                } => self.array_store(*array, index, value, *site)?,
                Stmt::Eval(e) => {
                    self.expr(e, None)?;
                }
                Stmt::Push {
                    frontier,
                    value,
                    site,
                } => {
                    let value = self.expr(value, None)?;
                    let at = Place::resource(frontier.0, *site);
                    self.push(
                        Op::Push,
                        None,
                        [value, Arg::None, Arg::None],
                        at.imm,
                        at.site,
                    );
                }
                Stmt::PushItem {
                    frontier,
                    fields,
                    site,
                } => {
                    let stores = [Op::ItemSt8, Op::ItemSt32, Op::ItemSt64];
                    let at = Place::resource(frontier.0, *site);
                    self.item(Op::PushItem, stores, fields, at, None)?;
                }
                Stmt::Reduce { reduction, value } => {
                    let op = if is_wide(value.scalar(&self.body.locals)) {
                        Op::Reduce64
                    } else {
                        Op::Reduce32
                    };
                    let value = self.expr(value, None)?;
                    let imm = u32::from(reduction.0) << 16;
                    self.push(op, None, [value, Arg::None, Arg::None], imm, None);
                }
                Stmt::If {
                    cond,
                    then,
                    otherwise,
                } => {
                    if let Some(exit) = tail
                        && let [inside @ .., last] = then.as_slice()
                        && exit.is(last)
                        && otherwise.is_empty()
                        && (exit == Exit::Break
                            || inside.is_empty()
                                && negates_freely(cond)
                                && self.ifs < MAX_TAIL_DEPTH)
                    {
                        return self.branch(cond, inside, rest, tail);
                    }
                    // A jump to a loop without words is the tail rule's, above.
                    let tail_jump = tail == Some(Exit::Break)
                        && rest.first().is_some_and(|s| jumps_to(s, 0, &|_| true));
                    if !tail_jump && let Some(fused) = self.short_circuit(stmt, rest)? {
                        i += fused;
                        continue;
                    }
                    if !self.select(cond, then, otherwise)? {
                        let tail = tail.filter(|_| rest.is_empty());
                        if !self.branch(cond, then, otherwise, tail)? {
                            return Ok(false);
                        }
                    }
                }
                Stmt::Loop { body } => {
                    if !self.loop_(body, before)? {
                        return Ok(false);
                    }
                }
                Stmt::Break { depth } => {
                    self.push_break(Op::Break, Arg::None, *depth)?;
                    return Ok(false);
                }
                Stmt::Continue { depth } => {
                    self.next_turn(*depth)?;
                    let at = self.depth(*depth)?;
                    self.push(Op::Continue, None, [Arg::None; 3], at, None);
                    return Ok(false);
                }
                Stmt::Return => {
                    if self.body.value.is_some() {
                        return Err(LowerError::Invalid("a return in a condition"));
                    }
                    self.push(Op::Ret, None, [Arg::None; 3], 0, None);
                    return Ok(false);
                }
                Stmt::Assert { cond, kind, site } => {
                    let value = self.expr(cond, None)?;
                    let (code, site) = (*kind as u32, Some(*site));
                    match value {
                        Arg::Literal(_, 0) => {
                            self.push(Op::Trap, None, [Arg::None; 3], code, site);
                            return Ok(false);
                        }
                        Arg::Literal(..) => {}
                        Arg::None | Arg::Reg(_) | Arg::Uniform(_) | Arg::Slot(_) => {
                            let args = [value, Arg::None, Arg::None];
                            self.push(Op::Assert, None, args, code, site);
                        }
                    }
                }
                Stmt::CheckIndex { index, len, site } => {
                    let (index, len) = (self.expr(index, None)?, self.expr(len, None)?);
                    match (index, len) {
                        (Arg::Literal(_, i), Arg::Literal(_, n)) if i < n => {}
                        _ => self.push(Op::Check, None, [index, len, Arg::None], 0, Some(*site)),
                    }
                }
            }
        }
        Ok(true)
    }

    fn push_break(&mut self, op: Op, cond: Arg, depth: u32) -> Result<(), LowerError> {
        let at = self.depth(depth)?;
        let target = self.loops.len() - 1 - depth as usize;
        self.loops[target].broken = true;
        self.push(op, None, [cond, Arg::None, Arg::None], at, None);
        Ok(())
    }

    fn store(&mut self, op: Op, index: &Expr, value: &Expr, at: Place) -> Result<(), LowerError> {
        let index = self.expr(index, None)?;
        let value = self.expr(value, None)?;
        self.push(op, None, [index, value, Arg::None], at.imm, at.site);
        Ok(())
    }

    /// The `depth` operand of a jump: loops that have no words do not count.
    fn depth(&self, depth: u32) -> Result<u32, LowerError> {
        let outward = self.loops.iter().rev().take(depth as usize);
        match self.loops.iter().rev().nth(depth as usize) {
            Some(l) if l.real => Ok(outward.filter(|l| l.real).count() as u32),
            Some(_) => unreachable!("a loop without words has no jumps to it"),
            None => Err(LowerError::Invalid("a jump out of no loop")),
        }
    }

    /// What a `continue` does before it jumps.
    fn next_turn(&mut self, depth: u32) -> Result<(), LowerError> {
        let target = self.loops.iter().rev().nth(depth as usize);
        if let Some((local, e)) = target.and_then(|l| l.step) {
            self.assign(local, e, &[])?;
        }
        Ok(())
    }

    /// `if`, with its branches in the order that needs no negation.
    fn branch(
        &mut self,
        cond: &Expr,
        then: &'b [Stmt],
        otherwise: &'b [Stmt],
        tail: Option<Exit>,
    ) -> Result<bool, LowerError> {
        // A branch that only breaks is one word, and the other one needs no nesting.
        let breaks = |b: &[Stmt]| match b {
            [Stmt::Break { depth }, ..] if tail != Some(Exit::Break) || *depth > 0 => Some(*depth),
            _ => None,
        };
        for (depth, rest, when) in [
            (breaks(then), otherwise, true),
            (breaks(otherwise), then, false),
        ] {
            let Some(depth) = depth else { continue };
            let (value, negated) = self.condition_either(cond, !when)?;
            let when = when != negated;
            match value {
                Arg::Literal(_, bits) => {
                    if (bits != 0) == when {
                        self.push_break(Op::Break, Arg::None, depth)?;
                        return Ok(false);
                    }
                }
                Arg::None | Arg::Reg(_) | Arg::Uniform(_) | Arg::Slot(_) => {
                    let op = if when { Op::BreakIf } else { Op::BreakUnless };
                    self.push_break(op, value, depth)?;
                }
            }
            return self.block(rest, tail);
        }
        let (value, negated) = self.condition_either(cond, then.is_empty())?;
        let (then, otherwise) = if negated {
            (otherwise, then)
        } else {
            (then, otherwise)
        };
        if let Arg::Literal(_, bits) = value {
            return self.block(if bits != 0 { then } else { otherwise }, tail);
        }
        self.ifs += 1;
        let loaded = self.loaded.len();
        self.push(Op::If, None, [value, Arg::None, Arg::None], 0, None);
        let mut falls = self.block(then, tail)?;
        self.loaded.truncate(loaded);
        if otherwise.is_empty() {
            falls = true;
        } else {
            self.push(Op::Else, None, [Arg::None; 3], 0, None);
            falls |= self.block(otherwise, tail)?;
            self.loaded.truncate(loaded);
        }
        self.push(Op::EndIf, None, [Arg::None; 3], 0, None);
        self.ifs -= 1;
        Ok(falls)
    }

    /// A condition's value, or that of its negation (then the flag is set), whichever needs less code; `negate` prefers
    /// the negation where that is free.
    fn condition_either(&mut self, e: &Expr, negate: bool) -> Result<(Arg, bool), LowerError> {
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

    /// `t = a; if t { t = b }; if t { x }`, the shape of `a && b` as a condition, without the second look at `t`; and
    /// both `&&` and `||` in front of a `break`.
    ///
    /// The first statement has been built; `first` is the second one. Returns how many further statements it took.
    fn short_circuit(
        &mut self,
        first: &'b Stmt,
        rest: &'b [Stmt],
    ) -> Result<Option<usize>, LowerError> {
        let (Some((t, wanted, inner)), Some((u, when, then))) =
            (flag_test(first), rest.first().and_then(flag_test))
        else {
            return Ok(None);
        };
        let [setup @ .., Stmt::Assign(last, b)] = inner else {
            return Ok(None);
        };
        let at = t.0 as usize;
        if t != u || t != *last || self.counts.reads[at] != 2 || self.counts.defs[at] < 2 {
            return Ok(None);
        }
        let value = Arg::Reg(self.own_reg(t));
        if let [Stmt::Break { depth }] = then
            && wanted != when
            && self.target_is_real(*depth)
        {
            // `b` is looked at where `t` did not decide: each of the two decides by leaving.
            let op = |when: bool| if when { Op::BreakIf } else { Op::BreakUnless };
            self.push_break(op(when), value, *depth)?;
            if self.block(setup, None)? {
                let (value, negated) = self.condition_either(b, false)?;
                self.push_break(op(when != negated), value, *depth)?;
            }
            return Ok(Some(1));
        }
        let is_cheap =
            setup.is_empty() && speculation_words(b).is_some_and(|w| w <= MAX_SELECT_WORDS);
        if wanted && when && !is_cheap {
            self.ifs += 1;
            let loaded = self.loaded.len();
            self.push(Op::If, None, [value, Arg::None, Arg::None], 0, None);
            if self.block(setup, None)? {
                self.branch(b, then, &[], None)?;
            }
            self.loaded.truncate(loaded);
            self.push(Op::EndIf, None, [Arg::None; 3], 0, None);
            self.ifs -= 1;
            return Ok(Some(1));
        }
        Ok(None)
    }

    fn target_is_real(&self, depth: u32) -> bool {
        let target = self.loops.iter().rev().nth(depth as usize);
        target.is_some_and(|l| l.real)
    }

    /// Turns `if c { x = a } else { x = b }` into a select when its values are cheap and cannot fault.
    fn select(
        &mut self,
        cond: &Expr,
        then: &[Stmt],
        otherwise: &[Stmt],
    ) -> Result<bool, LowerError> {
        let (local, a, b) = match (then, otherwise) {
            ([Stmt::Assign(x, a)], [Stmt::Assign(y, b)]) if x == y => (*x, Some(a), Some(b)),
            ([Stmt::Assign(x, a)], []) => (*x, Some(a), None),
            ([], [Stmt::Assign(x, b)]) => (*x, None, Some(b)),
            _ => return Ok(false),
        };
        if self.counts.defs[local.0 as usize] < 2 {
            return Ok(false);
        }
        let words = |e: Option<&Expr>| e.map_or(Some(0), speculation_words);
        let (Some(a_words), Some(b_words)) = (words(a), words(b)) else {
            return Ok(false);
        };
        if a_words + b_words > MAX_SELECT_WORDS {
            return Ok(false);
        }
        let scalar = self.scalar_of(local);
        let d = self.own_reg(local);
        if let (Some(a), Some(b)) = (a, b)
            && let Some(value) = self.minimum(scalar, cond, (a, b), Some(d))?
        {
            self.copy(d, value);
            return Ok(true);
        }
        let (value, negated) = self.condition_either(cond, false)?;
        let mut side = |e: Option<&Expr>| e.map_or(Ok(Arg::Reg(d)), |e| self.expr(e, None));
        let (mut a, mut b) = (side(a)?, side(b)?);
        if negated {
            (a, b) = (b, a);
        }
        let value = self.select_value(scalar, value, (a, b), Some(d));
        self.copy(d, value);
        Ok(true)
    }

    /// An expression's value; code for its last step, if there is any, writes the given register.
    fn expr(&mut self, e: &Expr, into: Option<Reg>) -> Result<Arg, LowerError> {
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
    fn item(
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

    fn plain(&mut self, op: Op, into: Option<Reg>, args: &[Arg]) -> Arg {
        self.emit(op, into, args, Place::default())
    }

    fn unary(
        &mut self,
        op: UnaryOp,
        scalar: Scalar,
        x: Arg,
        into: Option<Reg>,
    ) -> Result<Arg, LowerError> {
        use Scalar::{Bool, F32, F64, I32, I64, U8, U32, U64};
        if let Arg::Literal(_, bits) = x
            && let Some(folded) = fold::unary(op, scalar, bits)
        {
            let result = match op {
                UnaryOp::CountOnes | UnaryOp::LeadingZeros | UnaryOp::TrailingZeros => U32,
                _ => scalar,
            };
            return Ok(Arg::Literal(result, folded));
        }
        let literal = |bits: u64| Arg::Literal(scalar, fold::canonical(scalar, bits));
        let (op, args) = match (op, scalar) {
            (UnaryOp::Neg, U32 | I32) => (Op::Sub32, [literal(0), x]),
            (UnaryOp::Neg, U64 | I64) => (Op::Sub64, [literal(0), x]),
            (UnaryOp::Neg, F32) => (Op::Xor32, [x, Arg::Literal(U32, 1 << 31)]),
            (UnaryOp::Neg, F64) => (Op::Xor64, [x, Arg::Literal(U64, 1 << 63)]),
            (UnaryOp::Not, Bool) => (Op::Xor32, [x, literal(1)]),
            (UnaryOp::Not, U32 | I32) => (Op::Xor32, [x, literal(u64::MAX)]),
            (UnaryOp::Not, U64 | I64) => (Op::Xor64, [x, literal(u64::MAX)]),
            (UnaryOp::Not, U8) => (Op::Xor32, [x, literal(0xff)]),
            (UnaryOp::Abs, U8 | U32 | U64) => return Ok(x),
            (UnaryOp::Abs, I32 | I64) => {
                let negative = self.unary(UnaryOp::Neg, scalar, x, None)?;
                let op = if scalar == I32 {
                    Op::MaxI32
                } else {
                    Op::MaxI64
                };
                (op, [x, negative])
            }
            (UnaryOp::Abs, F32) => (Op::And32, [x, Arg::Literal(U32, (1 << 31) - 1)]),
            (UnaryOp::Abs, F64) => (Op::And64, [x, Arg::Literal(U64, (1 << 63) - 1)]),
            (UnaryOp::RoundTiesEven, F32 | F64) => return self.round_ties_even(scalar, x, into),
            _ => match unary_op(op, scalar) {
                Some(code) => (code, [x, Arg::None]),
                None => return Err(unsupported(&format!("{op:?}").to_lowercase(), scalar)),
            },
        };
        Ok(self.plain(op, into, &args))
    }

    fn binary(
        &mut self,
        op: BinaryOp,
        scalar: Scalar,
        (mut x, mut y): (Arg, Arg),
        site: Option<SiteId>,
        into: Option<Reg>,
    ) -> Result<Arg, LowerError> {
        if let (Arg::Literal(_, a), Arg::Literal(_, b)) = (x, y)
            && let Some(folded) = fold::binary(op, scalar, a, b)
        {
            return Ok(Arg::Literal(scalar, folded));
        }
        // Not min and max of floats: of two zeros they may give the first.
        let commutes = match op {
            BinaryOp::Add | BinaryOp::Mul | BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => true,
            BinaryOp::Min | BinaryOp::Max => !matches!(scalar, Scalar::F32 | Scalar::F64),
            BinaryOp::Sub
            | BinaryOp::Div
            | BinaryOp::Rem
            | BinaryOp::Shl
            | BinaryOp::Shr
            | BinaryOp::RotateLeft => false,
            BinaryOp::WrappingDiv
            | BinaryOp::WrappingRem
            | BinaryOp::SaturatingAdd
            | BinaryOp::SaturatingSub
            | BinaryOp::SaturatingMul
            | BinaryOp::AbsDiff
            | BinaryOp::RotateRight => return self.sequence(op, scalar, (x, y), site, into),
        };
        if commutes && matches!(x, Arg::Literal(..)) {
            (x, y) = (y, x);
        }
        let mut op = op;
        match simplify(op, scalar, x, y) {
            Simpler::No => {}
            Simpler::Value(value) => return Ok(value),
            Simpler::Op(other, right) => (op, y) = (other, right),
        }
        let code = binary_op(op, scalar)
            .ok_or_else(|| unsupported(&format!("{op:?}").to_lowercase(), scalar))?;
        let faults = code.row().faults != crate::vir0::isa::Faults::No;
        if faults && site.is_none() {
            return Err(LowerError::Invalid("a division without a site"));
        }
        let site = site.filter(|_| faults);
        Ok(self.emit(code, into, &[x, y], Place { imm: 0, site }))
    }

    /// The operations that are several instructions; `op` is one of them.
    fn sequence(
        &mut self,
        op: BinaryOp,
        scalar: Scalar,
        (x, y): (Arg, Arg),
        site: Option<SiteId>,
        into: Option<Reg>,
    ) -> Result<Arg, LowerError> {
        use Scalar::{I32, I64, U32, U64};
        let signed = matches!(scalar, I32 | I64);
        let step = |this: &mut Self, op, x, y| this.binary(op, scalar, (x, y), None, None);
        match (op, scalar) {
            (BinaryOp::RotateRight, U32 | I32 | U64 | I64) => {
                let amount = self.unary(UnaryOp::Neg, U32, y, None)?;
                self.binary(BinaryOp::RotateLeft, scalar, (x, amount), None, into)
            }
            (BinaryOp::AbsDiff, U32 | I32 | U64 | I64) => {
                let more = step(self, BinaryOp::Max, x, y)?;
                let less = step(self, BinaryOp::Min, x, y)?;
                self.binary(BinaryOp::Sub, scalar, (more, less), None, into)
            }
            (BinaryOp::WrappingDiv, U32 | U64) => {
                self.binary(BinaryOp::Div, scalar, (x, y), site, into)
            }
            (BinaryOp::WrappingRem, U32 | U64) => {
                self.binary(BinaryOp::Rem, scalar, (x, y), site, into)
            }
            (BinaryOp::WrappingDiv | BinaryOp::WrappingRem, I32 | I64) => {
                // By -1 the quotient is the negation, which wraps, and the remainder is 0, as of a division by 1.
                let literal = |x: i64| Arg::Literal(scalar, x as u64);
                let code = compare_op(CompareOp::Eq, scalar);
                let negates = match y {
                    Arg::Literal(_, bits) => Arg::Literal(Scalar::Bool, (bits as i64 == -1).into()),
                    y => self.plain(code, None, &[y, literal(-1)]),
                };
                let divisor = self.select_value(scalar, negates, (literal(1), y), None);
                if op == BinaryOp::WrappingRem {
                    return self.binary(BinaryOp::Rem, scalar, (x, divisor), site, into);
                }
                let quotient = self.binary(BinaryOp::Div, scalar, (x, divisor), site, None)?;
                let negated = self.unary(UnaryOp::Neg, scalar, quotient, None)?;
                Ok(self.select_value(scalar, negates, (negated, quotient), into))
            }
            (BinaryOp::SaturatingAdd, U32 | U64) => {
                let (x, y) = if matches!(x, Arg::Literal(..)) {
                    (y, x)
                } else {
                    (x, y)
                };
                let room = self.unary(UnaryOp::Not, scalar, y, None)?;
                let part = step(self, BinaryOp::Min, x, room)?;
                self.binary(BinaryOp::Add, scalar, (part, y), None, into)
            }
            (BinaryOp::SaturatingSub, U32 | U64) => {
                let enough = step(self, BinaryOp::Max, x, y)?;
                self.binary(BinaryOp::Sub, scalar, (enough, y), None, into)
            }
            (
                BinaryOp::SaturatingAdd | BinaryOp::SaturatingSub | BinaryOp::SaturatingMul,
                U32 | I32,
            ) => {
                // Exact in 64 bits, then clamped.
                let wide = if signed { I64 } else { U64 };
                let exact = match op {
                    BinaryOp::SaturatingAdd => BinaryOp::Add,
                    BinaryOp::SaturatingSub => BinaryOp::Sub,
                    _ => BinaryOp::Mul,
                };
                let (least, most) = integer_range(scalar);
                let pair = (
                    self.cast(scalar, wide, x, None)?,
                    self.cast(scalar, wide, y, None)?,
                );
                let mut value = self.binary(exact, wide, pair, None, None)?;
                for (op, bound) in [(BinaryOp::Min, most), (BinaryOp::Max, least)] {
                    let bound = Arg::Literal(wide, bound);
                    value = self.binary(op, wide, (value, bound), None, None)?;
                }
                self.cast(wide, scalar, value, into)
            }
            (BinaryOp::SaturatingAdd | BinaryOp::SaturatingSub, I64) => {
                let is_add = op == BinaryOp::SaturatingAdd;
                let sum_op = if is_add { BinaryOp::Add } else { BinaryOp::Sub };
                let sum = step(self, sum_op, x, y)?;
                // The sign is wrong where the operands' signs (of a difference: opposite signs) say otherwise.
                let a = step(self, BinaryOp::Xor, x, sum)?;
                let b = step(
                    self,
                    BinaryOp::Xor,
                    if is_add { y } else { x },
                    if is_add { sum } else { y },
                )?;
                let wrong = step(self, BinaryOp::And, a, b)?;
                let end = self.end_of_range(sum)?;
                let overflows = self.plain(Op::LtI64, None, &[wrong, Arg::Literal(I64, 0)]);
                Ok(self.select_value(scalar, overflows, (end, sum), into))
            }
            (BinaryOp::SaturatingMul, U64) => {
                let high = self.plain(Op::MulHiU64, None, &[x, y]);
                let low = step(self, BinaryOp::Mul, x, y)?;
                let overflows = self.plain(Op::Ne64, None, &[high, Arg::Literal(U64, 0)]);
                let most = Arg::Literal(U64, u64::MAX);
                Ok(self.select_value(scalar, overflows, (most, low), into))
            }
            (BinaryOp::SaturatingMul, I64) => {
                // Of the magnitudes; the negative end is one further away.
                let sign = step(self, BinaryOp::Xor, x, y)?;
                let negative = self.plain(Op::LtI64, None, &[sign, Arg::Literal(I64, 0)]);
                let a = self.unary(UnaryOp::Abs, I64, x, None)?;
                let b = self.unary(UnaryOp::Abs, I64, y, None)?;
                let high = self.plain(Op::MulHiU64, None, &[a, b]);
                let low = step(self, BinaryOp::Mul, a, b)?;
                let extra = self.cast(Scalar::Bool, U64, negative, None)?;
                let most = Arg::Literal(U64, i64::MAX as u64);
                let most = self.binary(BinaryOp::Add, U64, (extra, most), None, None)?;
                let fits = self.plain(Op::Eq64, None, &[high, Arg::Literal(U64, 0)]);
                let small = self.plain(Op::LeU64, None, &[low, most]);
                let fits = self.plain(Op::And32, None, &[fits, small]);
                let size = self.select_value(U64, fits, (low, most), None);
                let negated = self.unary(UnaryOp::Neg, I64, size, None)?;
                Ok(self.select_value(scalar, negative, (negated, size), into))
            }
            _ => Err(unsupported(&format!("{op:?}").to_lowercase(), scalar)),
        }
    }

    /// The end of the range of i64 that a sum with the wrong sign was to pass.
    fn end_of_range(&mut self, sum: Arg) -> Result<Arg, LowerError> {
        let by = Arg::Literal(Scalar::U32, 63);
        let sign = self.binary(BinaryOp::Shr, Scalar::I64, (sum, by), None, None)?;
        let least = Arg::Literal(Scalar::I64, i64::MIN as u64);
        self.binary(BinaryOp::Xor, Scalar::I64, (sign, least), None, None)
    }

    /// Adding and taking away the first number without a fraction bit rounds; what is not below it has none.
    fn round_ties_even(
        &mut self,
        scalar: Scalar,
        x: Arg,
        into: Option<Reg>,
    ) -> Result<Arg, LowerError> {
        let (bits, first, sign, ops) = if scalar == Scalar::F32 {
            let first = u64::from(8_388_608f32.to_bits());
            (
                Scalar::U32,
                first,
                1 << 31,
                (Op::LtF32, Op::And32, Op::Or32),
            )
        } else {
            let first = 4_503_599_627_370_496f64.to_bits();
            (
                Scalar::U64,
                first,
                1 << 63,
                (Op::LtF64, Op::And64, Op::Or64),
            )
        };
        let first = Arg::Literal(scalar, first);
        let size = self.unary(UnaryOp::Abs, scalar, x, None)?;
        let sum = self.binary(BinaryOp::Add, scalar, (size, first), None, None)?;
        let rounded = self.binary(BinaryOp::Sub, scalar, (sum, first), None, None)?;
        let small = self.plain(ops.0, None, &[size, first]);
        let size = self.select_value(scalar, small, (rounded, size), None);
        let sign = self.plain(ops.1, None, &[x, Arg::Literal(bits, sign)]);
        Ok(self.plain(ops.2, into, &[size, sign]))
    }

    fn compare(
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

    fn select_value(
        &mut self,
        scalar: Scalar,
        cond: Arg,
        (then, otherwise): (Arg, Arg),
        into: Option<Reg>,
    ) -> Arg {
        if let Arg::Literal(_, bits) = cond {
            return if bits != 0 { then } else { otherwise };
        }
        if then == otherwise {
            return then;
        }
        let constant = |x: Arg| match x {
            Arg::Literal(_, bits) => Some(bits),
            Arg::None | Arg::Reg(_) | Arg::Uniform(_) | Arg::Slot(_) => None,
        };
        match (constant(then), constant(otherwise)) {
            (Some(1), Some(0)) if is_word_int(scalar) => cond,
            (Some(0), Some(1)) if is_word_int(scalar) => {
                self.plain(Op::Xor32, into, &[cond, Arg::Literal(Scalar::Bool, 1)])
            }
            (Some(1), None) if scalar == Scalar::Bool => {
                self.plain(Op::Or32, into, &[cond, otherwise])
            }
            (None, Some(0)) if scalar == Scalar::Bool => self.plain(Op::And32, into, &[cond, then]),
            // `if c { x } else { c }`, as `c && x` comes from a front end, and its dual.
            _ if scalar == Scalar::Bool && otherwise == cond => {
                self.plain(Op::And32, into, &[cond, then])
            }
            _ if scalar == Scalar::Bool && then == cond => {
                self.plain(Op::Or32, into, &[cond, otherwise])
            }
            _ => {
                let op = if is_wide(scalar) {
                    Op::Sel64
                } else {
                    Op::Sel32
                };
                self.plain(op, into, &[cond, then, otherwise])
            }
        }
    }

    fn cast(
        &mut self,
        from: Scalar,
        to: Scalar,
        x: Arg,
        into: Option<Reg>,
    ) -> Result<Arg, LowerError> {
        use Scalar::{Bool, F32, F64, U8, U32};
        if let Arg::Literal(_, bits) = x {
            return Ok(Arg::Literal(to, fold::cast(from, to, bits)));
        }
        if from == to {
            return Ok(x);
        }
        if to == Bool {
            return Err(unsupported("cast to bool", from));
        }
        if to == U8 && from != Bool {
            let word = self.cast(from, U32, x, None)?;
            let (op, limit) = match from {
                F32 | F64 => (Op::MinU32, Arg::Literal(U32, 255)),
                _ => (Op::And32, Arg::Literal(U32, 255)),
            };
            return Ok(self.plain(op, into, &[word, limit]));
        }
        Ok(match cast_op(from, to) {
            Some(op) => self.plain(op, into, &[x]),
            None => x,
        })
    }

    /// `if a < b { a } else { b }` and its like, of integers.
    fn minimum(
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

    fn loop_(&mut self, body: &'b [Stmt], before: &[Stmt]) -> Result<bool, LowerError> {
        let real = !runs_once(body);
        let moved = if real {
            self.moved_step(body, before)?
        } else {
            None
        };
        self.loops.push(Loop {
            real,
            step: moved.map(|m| m.step),
            broken: false,
        });
        if !real {
            let falls = self.block(body, Some(Exit::Break))?;
            self.loops.pop();
            return Ok(falls);
        }
        let loaded = self.loaded.len();
        self.push(Op::Loop, None, [Arg::None; 3], 0, None);
        if let Some(MovedStep { copy, at, step }) = moved {
            let Stmt::Assign(name, _) = &body[copy] else {
                unreachable!("moved_step finds an assignment")
            };
            let counter = self.own_reg(step.0);
            let falls = self.block(&body[..copy], None)? && {
                self.locals[name.0 as usize] = Some(Arg::Reg(counter));
                self.block(&body[copy + 1..at], None)?
                    && self.block(&body[at + 1..], Some(Exit::Continue))?
            };
            if falls {
                self.assign(step.0, step.1, &[])?;
            }
        } else {
            self.block(body, Some(Exit::Continue))?;
        }
        self.loaded.truncate(loaded);
        self.push(Op::EndLoop, None, [Arg::None; 3], 0, None);
        Ok(self.loops.pop().is_some_and(|l| l.broken))
    }

    /// Finds `x = i; ..; i = i + step` at the head of a loop, with nothing behind it reading `i`: the rest of the body
    /// can then use `i` itself, and the step can wait for the end of the turn. A `break` leaves `i` behind by one step,
    /// so `i` must be assigned again before the loop is entered again.
    fn moved_step(
        &self,
        body: &'b [Stmt],
        before: &[Stmt],
    ) -> Result<Option<MovedStep<'b>>, LowerError> {
        for (copy, stmt) in body.iter().enumerate() {
            let Stmt::Assign(x, Expr::Local(i)) = stmt else {
                continue;
            };
            let mut between = body[copy + 1..].iter().zip(copy + 1..);
            let Some((Stmt::Assign(_, step), at)) =
                between.find(|(s, _)| !matches!(s, Stmt::Assign(l, _) if l != i))
            else {
                continue;
            };
            let steps_itself = matches!((&body[at], step), (Stmt::Assign(l, _), Expr::Binary { left, right, .. })
                if l == i && **left == Expr::Local(*i) && matches!(**right, Expr::Literal(..) | Expr::Uniform(..)));
            let start = before
                .iter()
                .rposition(|s| matches!(s, Stmt::Assign(l, _) if l == i));
            let continues = |s: &Stmt| jumps_to(s, 0, &|s| matches!(s, Stmt::Continue { .. }));
            if !steps_itself
                || speculation_words(step).is_none()
                || self.counts.defs[x.0 as usize] != 1
                || body[..copy].iter().any(continues)
            {
                continue;
            }
            let Some(start) = start else { continue };
            let n = self.body.locals.len();
            let mut head = Counts::of_block(n, &body[..=at])?;
            head.block(&before[start + 1..])?;
            let all = Counts::of_block(n, body)?;
            let named = Counts::of_block(n, &body[copy + 1..])?;
            if self.reads_all(&head, *i)
                && all.defs[i.0 as usize] == 1
                && self.reads_all(&named, *x)
            {
                let step = (*i, step);
                return Ok(Some(MovedStep { copy, at, step }));
            }
        }
        Ok(None)
    }
}

/// A counter's step that can wait: positions of the copy and the step in the loop's body, and the step.
#[derive(Clone, Copy)]
struct MovedStep<'b> {
    copy: usize,
    at: usize,
    step: (LocalId, &'b Expr),
}

/// Resource and site of a word.
#[derive(Clone, Copy, Default)]
struct Place {
    imm: u32,
    site: Option<SiteId>,
}

impl Place {
    fn resource(id: u16, site: SiteId) -> Place {
        Place {
            imm: u32::from(id) << 16,
            site: Some(site),
        }
    }
}

/// Buffers that a block stores to, or changes atomically.
fn changed_buffers(block: &[Stmt], changed: &mut HashSet<BufferId>) {
    fn of_expr(e: &Expr, changed: &mut HashSet<BufferId>) {
        if let Expr::Atomic { buffer, .. } | Expr::CompareExchange { buffer, .. } = e {
            changed.insert(*buffer);
        }
        e.each_operand(&mut |x| of_expr(x, changed));
    }
    for stmt in block {
        if let Stmt::Store { buffer, .. } | Stmt::AtomicStore { buffer, .. } = stmt {
            changed.insert(*buffer);
        }
        stmt.each_operand(&mut |e| of_expr(e, changed));
        stmt.each_block(&mut |b| changed_buffers(b, changed));
    }
}

fn is_wide(scalar: Scalar) -> bool {
    scalar.rows() == 2
}

/// `if t { .. }` or `if !t { .. }`: the local, the value that enters, the block. An empty `then` counts as a negation.
fn flag_test(stmt: &Stmt) -> Option<(LocalId, bool, &[Stmt])> {
    let Stmt::If {
        cond,
        then,
        otherwise,
    } = stmt
    else {
        return None;
    };
    let (local, negated) = negated_local(cond)?;
    match (then.is_empty(), otherwise.is_empty()) {
        (_, true) => Some((local, !negated, then)),
        (true, false) => Some((local, negated, otherwise)),
        (false, false) => None,
    }
}

fn negated_local(e: &Expr) -> Option<(LocalId, bool)> {
    match e {
        Expr::Local(l) => Some((*l, false)),
        Expr::Unary(UnaryOp::Not, Scalar::Bool, x) => {
            let (l, negated) = negated_local(x)?;
            Some((l, !negated))
        }
        _ => None,
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
fn negates_freely(e: &Expr) -> bool {
    match e {
        Expr::Unary(UnaryOp::Not, Scalar::Bool, _) => true,
        Expr::Compare { op, scalar, .. } => negates(*op, *scalar),
        _ => false,
    }
}

/// About how many words a value costs; `None` when it can fault, has an effect or reads memory.
fn speculation_words(e: &Expr) -> Option<u32> {
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
        | Expr::Csr { .. } => return None,
    };
    let mut words = Some(own);
    e.each_operand(&mut |operand| {
        words = words.and_then(|w| Some(w + speculation_words(operand)?));
    });
    words
}

/// Whether the statement jumps to the `depth`-th loop outward with a jump that `which` accepts.
fn jumps_to(stmt: &Stmt, depth: u32, which: &dyn Fn(&Stmt) -> bool) -> bool {
    if let Stmt::Break { depth: d } | Stmt::Continue { depth: d } = stmt {
        return *d == depth && which(stmt);
    }
    let inner = depth + u32::from(matches!(stmt, Stmt::Loop { .. }));
    let mut found = false;
    stmt.each_block(&mut |b| found |= b.iter().any(|s| jumps_to(s, inner, which)));
    found
}

/// Whether a loop's body always leaves the loop, and only from its tail once `if c { ..; break } rest` is read as
/// `if c { .. } else { rest }`.
fn runs_once(body: &[Stmt]) -> bool {
    let no_jump = |s: &Stmt| !jumps_to(s, 0, &|_| true);
    let Some((last, init)) = body.split_last() else {
        return false;
    };
    for (i, stmt) in init.iter().enumerate() {
        if no_jump(stmt) {
            continue;
        }
        return match stmt {
            Stmt::If {
                then, otherwise, ..
            } => {
                matches!(then.last(), Some(Stmt::Break { depth: 0 }))
                    && otherwise.is_empty()
                    && then[..then.len() - 1].iter().all(no_jump)
                    && runs_once(&body[i + 1..])
            }
            _ => false,
        };
    }
    match last {
        Stmt::Break { depth: 0 } => true,
        Stmt::Break { .. } | Stmt::Continue { .. } => no_jump(last),
        Stmt::Return => true,
        Stmt::If {
            then, otherwise, ..
        } => runs_once(then) && runs_once(otherwise),
        Stmt::Assign(..)
        | Stmt::ArrayFill { .. }
        | Stmt::ArrayAssign { .. }
        | Stmt::ArrayStore { .. }
        | Stmt::Store { .. }
        | Stmt::AtomicStore { .. }
        | Stmt::Eval(_)
        | Stmt::Push { .. }
        | Stmt::PushItem { .. }
        | Stmt::Reduce { .. }
        | Stmt::Loop { .. }
        | Stmt::Assert { .. }
        | Stmt::CheckIndex { .. } => false,
    }
}

/// A 32-bit type in which 0 and 1 are the raw bits of `false` and `true`.
fn is_word_int(scalar: Scalar) -> bool {
    matches!(
        scalar,
        Scalar::Bool | Scalar::U8 | Scalar::U32 | Scalar::I32
    )
}

/// Raw bits of the smallest and largest value of an integer type.
fn integer_range(scalar: Scalar) -> (u64, u64) {
    match scalar {
        Scalar::Bool => (0, 1),
        Scalar::U8 => (0, u64::from(u8::MAX)),
        Scalar::U32 => (0, u64::from(u32::MAX)),
        Scalar::I32 => (i32::MIN as i64 as u64, i32::MAX as u64),
        Scalar::U64 => (0, u64::MAX),
        Scalar::I64 => (i64::MIN as u64, i64::MAX as u64),
        Scalar::F32 | Scalar::F64 => unreachable!("floats have no integer range"),
    }
}

/// The 32- or 64-bit form of an atomic.
fn sized(scalar: Scalar, word: Op, double: Op, operation: &str) -> Result<Op, LowerError> {
    match scalar.size_bytes() {
        4 => Ok(word),
        8 => Ok(double),
        _ => Err(unsupported(&format!("atomic {operation}"), scalar)),
    }
}

enum Simpler {
    No,
    Value(Arg),
    Op(BinaryOp, Arg),
}

/// Algebraic identities that hold for every value, NaN, infinities and negative zero included. A literal that commutes
/// is on the right. An operand that drops out has already been computed, so its faults stay.
fn simplify(op: BinaryOp, scalar: Scalar, x: Arg, y: Arg) -> Simpler {
    let literal = |bits: u64| Arg::Literal(scalar, fold::canonical(scalar, bits));
    if let Scalar::F32 | Scalar::F64 = scalar {
        let Arg::Literal(_, bits) = y else {
            return Simpler::No;
        };
        let is = |x: f64| {
            let same = match scalar {
                Scalar::F32 => u64::from((x as f32).to_bits()),
                _ => x.to_bits(),
            };
            bits == same
        };
        let identity = match op {
            BinaryOp::Add => is(-0.0),
            BinaryOp::Sub => is(0.0),
            BinaryOp::Mul | BinaryOp::Div => is(1.0),
            _ => false,
        };
        return if identity {
            Simpler::Value(x)
        } else {
            Simpler::No
        };
    }
    if x == y {
        match op {
            BinaryOp::Sub | BinaryOp::Xor => return Simpler::Value(literal(0)),
            BinaryOp::And | BinaryOp::Or | BinaryOp::Min | BinaryOp::Max => {
                return Simpler::Value(x);
            }
            _ => {}
        }
    }
    let signed = matches!(scalar, Scalar::I32 | Scalar::I64);
    if let (Arg::Literal(_, 0), BinaryOp::Shl | BinaryOp::Shr | BinaryOp::RotateLeft) = (x, op) {
        return Simpler::Value(x);
    }
    let Arg::Literal(_, bits) = y else {
        return Simpler::No;
    };
    let (least, most) = integer_range(scalar);
    let ones = fold::canonical(scalar, u64::MAX);
    let width_mask = if is_wide(scalar) { 63 } else { 31 };
    let power = (!signed && bits.is_power_of_two()).then(|| bits.trailing_zeros());
    match op {
        BinaryOp::Add | BinaryOp::Sub if bits == 0 => Simpler::Value(x),
        BinaryOp::Or | BinaryOp::Xor if bits == 0 => Simpler::Value(x),
        BinaryOp::Shl | BinaryOp::Shr | BinaryOp::RotateLeft if bits & width_mask == 0 => {
            Simpler::Value(x)
        }
        BinaryOp::Mul | BinaryOp::Div if bits == 1 => Simpler::Value(x),
        BinaryOp::Mul | BinaryOp::And if bits == 0 => Simpler::Value(literal(0)),
        BinaryOp::Rem if bits == 1 => Simpler::Value(literal(0)),
        BinaryOp::And if bits == ones => Simpler::Value(x),
        BinaryOp::Or if bits == ones => Simpler::Value(literal(ones)),
        BinaryOp::Min if bits == least => Simpler::Value(literal(least)),
        BinaryOp::Min if bits == most => Simpler::Value(x),
        BinaryOp::Max if bits == most => Simpler::Value(literal(most)),
        BinaryOp::Max if bits == least => Simpler::Value(x),
        BinaryOp::Div => match power {
            Some(n) => Simpler::Op(BinaryOp::Shr, Arg::Literal(Scalar::U32, n.into())),
            None => Simpler::No,
        },
        BinaryOp::Rem => match power {
            Some(_) => Simpler::Op(BinaryOp::And, literal(bits - 1)),
            None => Simpler::No,
        },
        _ => Simpler::No,
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
