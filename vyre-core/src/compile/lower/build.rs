//! From the typed tree to linear code over virtual registers: statements and how control flows. Each layer knows only
//! those below it: statements, [expressions](super::value), [operations](super::operations),
//! [words](super::words).
//!
//! What is decided here is which code exists at all. A local with one assignment is a name for its value; other locals
//! own a register. Jumps out of the tail of a block become nesting, so that an early `return` or `continue` costs no
//! word and a loop that runs once is no loop; a counter that is stepped at the head of a loop is stepped at its end
//! instead, so that the copy the body uses needs no row; `if` without effects becomes a select where that is shorter.

use super::value::{MAX_SELECT_WORDS, negates_freely, sized, speculation_words};
use super::words::{Builder, Counts, Loop, Place, is_wide};
use super::{Arg, ArrayEffect, Code, LowerError};
use crate::compile::ir::{ArrayId, Body, Effect, Expr, LocalId, Stmt, UnaryOp};
use crate::vir0::isa::Op;
use crate::vir0::module::SiteId;
use crate::vir0::scalar::Scalar;

/// Early exits are nested instead of jumped over up to this depth of `if`s.
const MAX_TAIL_DEPTH: usize = 4;

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

impl<'b> Builder<'b> {
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
                Stmt::File { .. } => {
                    return Err(LowerError::Invalid("an index that was not expanded"));
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
                            || self.ifs < MAX_TAIL_DEPTH
                                && (inside.is_empty() && negates_freely(cond)
                                    || exit == Exit::Continue && self.steps_last()))
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
                Stmt::Loop { body, short } => {
                    if !self.loop_(body, before, *short)? {
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

    /// Whether the innermost loop's counter is stepped at the end of a turn, which then numbers turns if no jump goes by.
    fn steps_last(&self) -> bool {
        self.loops.last().is_some_and(|l| l.step.is_some())
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

    fn loop_(
        &mut self,
        body: &'b [Stmt],
        before: &[Stmt],
        short: bool,
    ) -> Result<bool, LowerError> {
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
        // The byte is a flag.
        let flag = if short { Arg::Slot(1) } else { Arg::None };
        self.push(Op::Loop, None, [flag, Arg::None, Arg::None], 0, None);
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

/// Whether the statement jumps to the `depth`-th loop outward with a jump that `which` accepts.
fn jumps_to(stmt: &Stmt, depth: u32, which: &dyn Fn(&Stmt) -> bool) -> bool {
    if let Stmt::Break { depth: d } | Stmt::Continue { depth: d } = stmt {
        return *d == depth && which(stmt);
    }
    let inner = depth + u32::from(matches!(stmt, Stmt::Loop { .. }));
    stmt.blocks().flatten().any(|s| jumps_to(s, inner, which))
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
        Stmt::Break { depth: 0 } | Stmt::Return => true,
        Stmt::If {
            then, otherwise, ..
        } => runs_once(then) && runs_once(otherwise),
        // To a loop around this one, or to its next turn.
        other => other.effect() == Effect::Jump && no_jump(other),
    }
}
