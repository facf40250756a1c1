//! Does a fixpoint end in the least fixpoint of monotone updates, whatever the order of its items?
//!
//! Let the elements of the buffers that a fixpoint writes be lattices: a buffer of `fetch_min` is ordered downward, one
//! of `fetch_max` upward, those of `fetch_or` and `fetch_and` by their bits. If every item only joins into them what is
//! a monotone function of what it loads from them, then (Cousot, Cousot: Automatic synthesis of optimal invariant
//! assertions, 1977: chaotic iteration)
//!
//! * no order of items, and no stale load, takes an element beyond the least fixpoint above the state before, and
//! * where every item has been evaluated on the final state, that state is a fixpoint, and so the least one.
//!
//! [`least`] establishes both from the waves' bodies. For the first:
//!
//! - Every write is an atomic of its buffer's one operation. Its index is *fixed*: a function of the item and of what
//!   nobody writes while the fixpoint runs (of the round, too: that is not fixed). Its value moves the buffer's way, if
//!   at all.
//! - What guards it is fixed, or turns from false to true only; or it is the question whether the update would change
//!   what was loaded, which leaves out only what changes nothing.
//! - Nothing else is written: no list, no store. A reduction that its rounds reset may be, where an update changed
//!   something, and a flag may be told whether it did.
//! - A sweep of a frontier evaluates *active* nodes only: those that lay in it, and those whose element changed. That
//!   is a monotone guard if every update of that element's buffer that changes something pushes that very index, and
//!   nothing else pushes.
//!
//! For the second:
//!
//! - `until` cannot hold unless frontiers are empty and flags are false, each update that changes something in a round
//!   pushes onto one of them or raises one, and every frontier that is swept is among them. So the last round changes
//!   nothing, and all that it evaluates, it evaluates on the final state.
//! - A node of a frontier that is not in the last round was evaluated after its element changed last, since that pushed
//!   it. Hence such a sweep may take values from the element of its own node only.
//!
//! Whether a run traps does not depend on the order either, but for want of rounds or of room: `faults` has that
//! argument.
//!
//! A value's way is known by a small type system ([`Tone`]), over the statements in order, with loops to a fixpoint.
//! What it cannot follow is refused, with the place.

mod faults;

use crate::compile::ir::{
    Array, ArrayId, AtomicOp, BinaryOp, Block, Body, CompareOp, CsrQuery, Expr, LocalId, Stmt,
    UnaryOp,
};
use crate::vir0::module::{
    BufferId, Extent, FixpointId, FrontierId, Program, Proviso, Reason, ReduceOp, ReductionId,
    Resource, SiteId, Uniform, WaveId, Why,
};
use crate::vir0::scalar::Scalar;
use faults::{Below, Limit};
use std::collections::{BTreeMap, BTreeSet};

/// How a value moves while the fixpoint runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tone {
    /// Not at all.
    Fixed,
    /// Only up, in the order of its type; floats as long as they are numbers.
    Rises,
    /// Only down.
    Falls,
    /// Bits only from 0 to 1; of a bool, from false to true.
    Gains,
    /// Bits only from 1 to 0.
    Loses,
    /// Nobody knows.
    Open,
}

impl Tone {
    fn join(self, other: Tone) -> Tone {
        match (self, other) {
            (a, b) if a == b => a,
            (Tone::Fixed, a) | (a, Tone::Fixed) => a,
            _ => Tone::Open,
        }
    }

    fn turned(self) -> Tone {
        match self {
            Tone::Fixed => Tone::Fixed,
            Tone::Rises => Tone::Falls,
            Tone::Falls => Tone::Rises,
            Tone::Gains => Tone::Loses,
            Tone::Loses => Tone::Gains,
            Tone::Open => Tone::Open,
        }
    }

    /// As a number.
    fn numeric(self) -> Tone {
        match self {
            Tone::Fixed | Tone::Rises | Tone::Falls => self,
            Tone::Gains | Tone::Loses | Tone::Open => Tone::Open,
        }
    }

    /// As a set of bits.
    fn bits(self) -> Tone {
        match self {
            Tone::Fixed | Tone::Gains | Tone::Loses => self,
            Tone::Rises | Tone::Falls | Tone::Open => Tone::Open,
        }
    }
}

/// What is known of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Value {
    /// The literal `false`.
    False,
    Moves(Tone),
    /// What a load of a buffer gave that the fixpoint writes.
    Seen(usize),
    /// The value before an update.
    Old(usize),
    /// Whether an update changed something (or, without `when`, whether it did not); which one, while that is known.
    Changed {
        update: Option<usize>,
        when: bool,
    },
    /// Whether an update of this element with this value would have changed what was seen (or would not).
    Would {
        skip: usize,
        when: bool,
    },
}

/// A load of a buffer that the fixpoint writes.
struct Seen<'b> {
    of: &'b Expr,
    buffer: BufferId,
    index: &'b Expr,
    tone: Tone,
}

/// `v < d[j].load()` and its likes.
#[derive(Clone, Copy)]
struct Skip<'b> {
    of: &'b Expr,
    buffer: BufferId,
    index: &'b Expr,
    value: Operand<'b>,
}

/// The value of an update, or its complement.
#[derive(Clone, Copy)]
enum Operand<'b> {
    Is(&'b Expr),
    Not(&'b Expr),
}

/// An update: the one atomic that it is.
struct Update<'b> {
    of: &'b Expr,
    op: AtomicOp,
    buffer: BufferId,
    index: &'b Expr,
    value: &'b Expr,
    site: SiteId,
    /// Who learns of a change, on all paths; `None` as long as no path has ended.
    told: Option<BTreeSet<Notice>>,
}

/// Who learns that something changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Notice {
    Frontier(FrontierId),
    Reduction(ReductionId),
}

/// A change that may have happened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Pending {
    /// Who knows.
    told: BTreeSet<Notice>,
    /// Locals that are true if it did.
    held: BTreeSet<LocalId>,
}

#[derive(Clone, Debug, PartialEq)]
struct State<'b> {
    values: Vec<Value>,
    /// Locals that still equal what they were assigned.
    alias: Vec<Option<&'b Expr>>,
    arrays: Vec<Tone>,
    /// By update, and whether it is one of earlier turns.
    pending: BTreeMap<(usize, bool), Pending>,
    /// The updates that a skipping guard asked for and that were made.
    made: BTreeSet<usize>,
    /// What indices are known to be below.
    below: Vec<Below>,
}

/// What the guards around a statement allow.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Gate {
    /// Updates.
    Monotone,
    /// Notices: this update changed something.
    Changed(Option<usize>),
    /// The update that was asked for, and notices after it.
    Would(usize),
    /// Nothing that others see.
    Closed,
}

#[derive(Clone, Copy)]
struct Context {
    gate: Gate,
    /// The skipping guard around, if there is one.
    asked: Option<usize>,
    /// Guards around that are not fixed.
    loose: usize,
    /// Statements here are those of the body: what follows a `return` is all that follows.
    top: bool,
}

/// Where the paths out of a loop go.
struct Turns<'b> {
    loose: usize,
    breaks: Option<State<'b>>,
    continues: Option<State<'b>>,
}

/// The conditions under which a fixpoint ends in its least one, or what stands against it.
pub(crate) fn least(
    program: &Program,
    fixpoint: FixpointId,
    bodies: &[&Body],
    until: &Body,
) -> Result<Vec<Proviso>, Reason> {
    let inside = |w: &crate::vir0::module::Wave| w.fixpoint == Some(fixpoint);
    let first = program.waves.iter().position(inside).unwrap_or(0) as u16;
    let against = |why| Reason {
        wave: WaveId(first),
        resource: None,
        site: None,
        why,
    };
    let declared = &program.fixpoints[fixpoint.index()];
    let nested = program.fixpoints.iter().any(|f| f.parent == Some(fixpoint));
    if nested || !declared.swaps.is_empty() {
        return Err(against(Why::Nested));
    }
    let mut quiet = BTreeSet::new();
    if let (Some(value), []) = (&until.value, until.block.as_slice()) {
        quieted(program, fixpoint, value, &mut quiet);
    }
    if quiet.is_empty() {
        return Err(against(Why::Until));
    }
    // How often it is evaluated, and on what, may differ.
    if until.value.as_ref().is_some_and(faults::divides) {
        return Err(against(Why::Fault));
    }
    let mut shared = Shared {
        program,
        fixpoint,
        quiet,
        directions: BTreeMap::new(),
        reduced: BTreeSet::new(),
        needs: BTreeSet::new(),
        provisos: Vec::new(),
    };
    let waves = || {
        let all = (0..).map(WaveId).zip(&program.waves).zip(bodies);
        all.filter(|((_, w), _)| inside(w))
            .map(|((id, _), b)| (id, *b))
    };
    for (wave, body) in waves() {
        shared.declare(wave, &body.block)?;
    }
    let mut updates = Vec::new();
    for (wave, body) in waves() {
        let mut walk = Walk::new(&mut shared, wave, body)?;
        walk.body(body)?;
        updates.extend(walk.updates.into_iter().map(|u| (wave, u)));
    }
    for (wave, u) in &updates {
        // A path that never comes to its end tells nobody, and asks for nothing.
        let Some(told) = &u.told else { continue };
        let known = told.iter().any(|n| shared.quiet.contains(n));
        let mut needs = shared.needs.iter().filter(|(b, _)| *b == u.buffer);
        if !known || !needs.all(|(_, f)| told.contains(&Notice::Frontier(*f))) {
            return Err(Reason {
                wave: *wave,
                resource: Some(Resource::Buffer(u.buffer)),
                site: Some(u.site),
                why: Why::Unnoticed,
            });
        }
    }
    shared.provisos.sort_unstable();
    shared.provisos.dedup();
    Ok(shared.provisos)
}

/// What a condition that holds says: frontiers are empty, reductions were told nothing.
fn quieted(p: &Program, fixpoint: FixpointId, e: &Expr, quiet: &mut BTreeSet<Notice>) {
    let mut flag = |r: ReductionId| {
        let declared = &p.reductions[r.index()];
        // A sum of ones in 64 bits does not come round to 0.
        let counts = declared.op == ReduceOp::Sum && declared.scalar == Scalar::U64;
        if declared.owner == Some(fixpoint) && (declared.op == ReduceOp::Or || counts) {
            quiet.insert(Notice::Reduction(r));
        }
    };
    let is_zero = |e: &Expr| matches!(e, Expr::Literal(_, 0));
    match e {
        Expr::Binary {
            op: BinaryOp::And,
            scalar: Scalar::Bool,
            left,
            right,
            ..
        } => {
            quieted(p, fixpoint, left, quiet);
            quieted(p, fixpoint, right, quiet);
        }
        Expr::Unary(UnaryOp::Not, Scalar::Bool, x) => {
            if let Expr::Uniform(Uniform::Reduction(r), Scalar::Bool) = **x {
                flag(r);
            }
        }
        Expr::Compare {
            op: CompareOp::Eq,
            left,
            right,
            ..
        } => {
            let of = match (is_zero(left), is_zero(right)) {
                (false, true) => left,
                (true, false) => right,
                _ => return,
            };
            match **of {
                Expr::Uniform(Uniform::FrontierLen(f), _)
                    if p.frontiers[f.index()].owner == Some(fixpoint) =>
                {
                    quiet.insert(Notice::Frontier(f));
                }
                Expr::Uniform(Uniform::Reduction(r), _) => flag(r),
                _ => {}
            }
        }
        _ => {}
    }
}

/// What the waves of the fixpoint have in common.
struct Shared<'p> {
    program: &'p Program,
    fixpoint: FixpointId,
    quiet: BTreeSet<Notice>,
    /// The one operation of each buffer that is written.
    directions: BTreeMap<BufferId, AtomicOp>,
    reduced: BTreeSet<ReductionId>,
    /// Updates of this buffer have to push onto this frontier.
    needs: BTreeSet<(BufferId, FrontierId)>,
    provisos: Vec<Proviso>,
}

impl Shared<'_> {
    /// Notes what is written, and refuses what is no update of one operation.
    fn declare(&mut self, wave: WaveId, block: &Block) -> Result<(), Reason> {
        for stmt in block {
            let refused = match stmt {
                Stmt::Store { buffer, site, .. } | Stmt::AtomicStore { buffer, site, .. } => {
                    Some((Resource::Buffer(*buffer), *site, Why::NotMonotone))
                }
                Stmt::PushItem { frontier, site, .. } => {
                    Some((Resource::Frontier(*frontier), *site, Why::Notice))
                }
                Stmt::Reduce { reduction, .. } => {
                    self.reduced.insert(*reduction);
                    None
                }
                Stmt::Assign(..)
                | Stmt::ArrayFill { .. }
                | Stmt::ArrayAssign { .. }
                | Stmt::ArrayStore { .. }
                | Stmt::Eval(_)
                | Stmt::Push { .. }
                | Stmt::If { .. }
                | Stmt::Loop { .. }
                | Stmt::Break { .. }
                | Stmt::Continue { .. }
                | Stmt::Return
                | Stmt::Assert { .. }
                | Stmt::CheckIndex { .. } => None,
            };
            if let Some((resource, site, why)) = refused {
                return Err(Reason {
                    wave,
                    resource: Some(resource),
                    site: Some(site),
                    why,
                });
            }
            let mut done = Ok(());
            stmt.each_operand(&mut |e| {
                if done.is_ok() {
                    done = self.declare_expr(wave, e);
                }
            });
            stmt.each_block(&mut |b| {
                if done.is_ok() {
                    done = self.declare(wave, b);
                }
            });
            done?;
        }
        Ok(())
    }

    fn declare_expr(&mut self, wave: WaveId, e: &Expr) -> Result<(), Reason> {
        let mut done = Ok(());
        e.each_operand(&mut |x| {
            if done.is_ok() {
                done = self.declare_expr(wave, x);
            }
        });
        done?;
        let (resource, site, why) = match e {
            Expr::Atomic {
                op, buffer, site, ..
            } => {
                let joins = match op {
                    AtomicOp::Min | AtomicOp::Max | AtomicOp::And | AtomicOp::Or => true,
                    AtomicOp::Add | AtomicOp::Sub | AtomicOp::Xor | AtomicOp::Swap => false,
                };
                let one = *self.directions.entry(*buffer).or_insert(*op) == *op;
                if joins && one {
                    return Ok(());
                }
                let why = if joins { Why::Mixed } else { Why::NotMonotone };
                (Resource::Buffer(*buffer), *site, why)
            }
            Expr::CompareExchange { buffer, site, .. } => {
                (Resource::Buffer(*buffer), *site, Why::NotMonotone)
            }
            Expr::Append { list, site, .. } => (Resource::List(*list), *site, Why::NotMonotone),
            _ => return Ok(()),
        };
        Err(Reason {
            wave,
            resource: Some(resource),
            site: Some(site),
            why,
        })
    }
}

/// One wave's body, statement by statement.
struct Walk<'s, 'p, 'b> {
    shared: &'s mut Shared<'p>,
    wave: WaveId,
    /// Of a sweep of a frontier: its node, and the frontier.
    own: Option<(Option<LocalId>, FrontierId)>,
    item: Vec<LocalId>,
    limits: Vec<(LocalId, Extent)>,
    arrays: &'b [Array],
    updates: Vec<Update<'b>>,
    seen: Vec<Seen<'b>>,
    skips: Vec<Skip<'b>>,
    loops: Vec<Turns<'b>>,
    /// Statements that may still be looked at: loops in loops are gone through again and again.
    patience: u32,
}

/// More than any kernel needs that was not written to need more.
const PATIENCE: u32 = 200_000;

impl<'s, 'p, 'b> Walk<'s, 'p, 'b> {
    fn new(
        shared: &'s mut Shared<'p>,
        wave: WaveId,
        body: &'b Body,
    ) -> Result<Walk<'s, 'p, 'b>, Reason> {
        let program = shared.program;
        let against = |resource, why| {
            Err(Reason {
                wave,
                resource: Some(resource),
                site: None,
                why,
            })
        };
        let domain = program.waves[wave.index()].domain;
        if let Some((list, true)) = domain.list() {
            return against(Resource::List(list), Why::Notice);
        }
        let own = match domain.frontier() {
            None => None,
            Some(f) => {
                let declared = &program.frontiers[f.index()];
                let owned = declared.owner == Some(shared.fixpoint) && declared.fields.is_empty();
                if !owned || !shared.quiet.contains(&Notice::Frontier(f)) {
                    return against(Resource::Frontier(f), Why::Until);
                }
                let node = match domain.topology() {
                    None => body.item.index,
                    Some(_) => body.item.src,
                };
                Some((node, f))
            }
        };
        let item = [body.item.index, body.item.src, body.item.dst];
        let item = item.into_iter().chain(body.item.fields).flatten();
        Ok(Walk {
            shared,
            wave,
            own,
            item: item.collect(),
            limits: faults::of_items(program, &program.waves[wave.index()], body),
            arrays: &body.arrays,
            updates: Vec::new(),
            seen: Vec::new(),
            skips: Vec::new(),
            loops: Vec::new(),
            patience: PATIENCE,
        })
    }

    fn body(&mut self, body: &'b Body) -> Result<(), Reason> {
        let state = State {
            values: vec![Value::Moves(Tone::Fixed); body.locals.len()],
            alias: vec![None; body.locals.len()],
            arrays: vec![Tone::Fixed; body.arrays.len()],
            pending: BTreeMap::new(),
            made: BTreeSet::new(),
            below: Vec::new(),
        };
        let context = Context {
            gate: Gate::Monotone,
            asked: None,
            loose: 0,
            top: true,
        };
        if let Some(end) = self.block(&body.block, context, state)? {
            self.leave(&end);
        }
        Ok(())
    }

    /// An item's end.
    fn leave(&mut self, state: &State<'b>) {
        for (&(update, _), pending) in &state.pending {
            let told = &mut self.updates[update].told;
            *told = Some(match told.take() {
                None => pending.told.clone(),
                Some(before) => before.intersection(&pending.told).copied().collect(),
            });
        }
    }

    fn refuse<T>(
        &self,
        why: Why,
        resource: impl Into<Option<Resource>>,
        site: impl Into<Option<SiteId>>,
    ) -> Result<T, Reason> {
        Err(Reason {
            wave: self.wave,
            resource: resource.into(),
            site: site.into(),
            why,
        })
    }

    /// The state behind a block; `None` where no path gets there.
    fn block(
        &mut self,
        block: &'b [Stmt],
        context: Context,
        mut state: State<'b>,
    ) -> Result<Option<State<'b>>, Reason> {
        let mut rest = block;
        while let [stmt, after @ ..] = rest {
            rest = after;
            // An early return leaves the rest to those who do not take it.
            if context.top
                && let Stmt::If {
                    cond,
                    then,
                    otherwise,
                } = stmt
                && let [head @ .., Stmt::Return] = then.as_slice()
                && otherwise.is_empty()
            {
                return self.branch(cond, (head, after), context, state);
            }
            match self.stmt(
                stmt,
                Context {
                    top: false,
                    ..context
                },
                state,
            )? {
                Some(next) => state = next,
                None => return Ok(None),
            }
        }
        Ok(Some(state))
    }

    fn stmt(
        &mut self,
        stmt: &'b Stmt,
        context: Context,
        mut state: State<'b>,
    ) -> Result<Option<State<'b>>, Reason> {
        self.patience = self.patience.saturating_sub(1);
        if self.patience == 0 {
            return self.refuse(Why::NotMonotone, None, None);
        }
        let to = &mut state;
        match stmt {
            Stmt::Assign(local, e) => {
                let value = self.eval(e, context, to)?;
                self.assign(*local, e, value, context, to)?;
            }
            Stmt::Eval(e) => {
                self.eval(e, context, to)?;
            }
            Stmt::ArrayFill { array, value } => {
                let tone = self.tone_of(value, context, to)?;
                let tone = if context.loose > 0 { Tone::Open } else { tone };
                to.arrays[array.0 as usize] = tone;
            }
            Stmt::ArrayAssign { array, values } => {
                let mut all = Tone::Fixed;
                for value in values {
                    all = all.join(self.tone_of(value, context, to)?);
                }
                let tone = if context.loose > 0 { Tone::Open } else { all };
                to.arrays[array.0 as usize] = tone;
            }
            Stmt::ArrayStore {
                array,
                index,
                value,
                site,
            } => {
                self.check((index, self.array(*array)), *site, context, to)?;
                let tone = self.tone_of(value, context, to)?;
                let tone = if context.loose > 0 { Tone::Open } else { tone };
                let all = &mut to.arrays[array.0 as usize];
                *all = all.join(tone);
            }
            // `declare` has refused them.
            Stmt::Store { site, .. }
            | Stmt::AtomicStore { site, .. }
            | Stmt::PushItem { site, .. } => return self.refuse(Why::NotMonotone, None, *site),
            Stmt::Push {
                frontier,
                value,
                site,
            } => self.push((*frontier, value, *site), context, to)?,
            Stmt::Reduce { reduction, value } => {
                self.reduce((*reduction, value), context, to)?;
            }
            Stmt::If {
                cond,
                then,
                otherwise,
            } => return self.branch(cond, (then, otherwise), context, state),
            Stmt::Loop { body } => return self.repeat(body, context, state),
            Stmt::Break { depth } | Stmt::Continue { depth } => {
                let at = self.loops.len().checked_sub(1 + *depth as usize);
                let Some(at) = at.filter(|&at| self.loops[at].loose == context.loose) else {
                    return self.refuse(Why::NotMonotone, None, None);
                };
                for at in 0..state.values.len() {
                    state.values[at] = self.plain(state.values[at]);
                }
                let turns = &self.loops[at];
                let leaves = matches!(stmt, Stmt::Break { .. });
                let slot = if leaves {
                    &turns.breaks
                } else {
                    &turns.continues
                };
                let state = match slot {
                    None => state,
                    Some(before) => self.join(before, &state),
                };
                let turns = &mut self.loops[at];
                let slot = if leaves {
                    &mut turns.breaks
                } else {
                    &mut turns.continues
                };
                *slot = Some(state);
                return Ok(None);
            }
            Stmt::Return => {
                if context.loose > 0 {
                    return self.refuse(Why::NotMonotone, None, None);
                }
                self.leave(&state);
                return Ok(None);
            }
            Stmt::Assert { cond, site, .. } => {
                self.fixed(cond, *site, context, to)?;
                self.fault(*site, context)?;
                self.learn_from(cond, true, to);
            }
            Stmt::CheckIndex { index, len, site } => {
                self.fixed(len, *site, context, to)?;
                let limit = self.limit_of(len, to);
                self.check((index, limit), *site, context, to)?;
            }
        }
        Ok(Some(state))
    }

    fn assign(
        &mut self,
        local: LocalId,
        e: &'b Expr,
        value: Value,
        context: Context,
        state: &mut State<'b>,
    ) -> Result<(), Reason> {
        if self.item.contains(&local) {
            return self.refuse(Why::NotMonotone, None, None);
        }
        // A guard is about the element that it named.
        let asked = context.asked.is_some_and(|s| self.skips[s].mentions(local));
        let changed = match context.gate {
            Gate::Changed(Some(u)) => self.updates[u].mentions(local),
            Gate::Monotone | Gate::Changed(None) | Gate::Would(_) | Gate::Closed => false,
        };
        if asked || changed {
            return self.refuse(Why::NotMonotone, None, None);
        }
        let elsewhere: Vec<usize> = state
            .pending
            .keys()
            .filter(|&&(u, before)| !before && mentions(self.updates[u].index, local))
            .map(|&(u, _)| u)
            .collect();
        for update in elsewhere {
            self.age(update, state);
        }
        // What was said of an expression with this local in it is said of it no more.
        for at in 0..state.values.len() {
            let stale = match state.values[at] {
                Value::Seen(s) => mentions(self.seen[s].index, local),
                Value::Old(u)
                | Value::Changed {
                    update: Some(u), ..
                } => self.updates[u].mentions(local),
                Value::Would { skip, .. } => self.skips[skip].mentions(local),
                Value::False | Value::Moves(_) | Value::Changed { update: None, .. } => false,
            };
            if stale {
                state.values[at] = self.plain(state.values[at]);
            }
            if state.alias[at].is_some_and(|e| mentions(e, local)) {
                state.alias[at] = None;
            }
        }
        state.below.retain(|b| !b.mentions(local));
        if matches!(e, Expr::Local(_)) && !mentions(e, local) {
            self.learn_copy(local, e, state);
        }
        let held: Vec<(usize, bool)> = state
            .pending
            .keys()
            .copied()
            .filter(|&key| self.covers(e, key, state))
            .collect();
        for (key, pending) in &mut state.pending {
            if held.contains(key) {
                pending.held.insert(local);
            } else {
                pending.held.remove(&local);
            }
        }
        let at = local.0 as usize;
        state.values[at] = match value {
            // Said where a change is known, it says so.
            Value::Moves(_)
                if matches!(
                    (context.gate, e),
                    (Gate::Changed(_), Expr::Literal(Scalar::Bool, 1))
                ) =>
            {
                Value::Changed {
                    update: None,
                    when: true,
                }
            }
            Value::Old(u) if self.updates[u].mentions(local) => self.plain(value),
            Value::Seen(s) if mentions(self.seen[s].index, local) => self.plain(value),
            Value::Changed {
                update: Some(u), ..
            } if self.updates[u].mentions(local) => self.plain(value),
            Value::Would { .. } => self.plain(value),
            value => value,
        };
        state.alias[at] = (self.is_still(e) && !mentions(e, local)).then_some(e);
        Ok(())
    }

    /// A value without what it has to do with one access.
    fn plain(&self, value: Value) -> Value {
        match value {
            Value::Seen(s) => Value::Moves(self.seen[s].tone),
            Value::Old(_) | Value::Would { .. } => Value::Moves(Tone::Open),
            Value::Changed { when, .. } => Value::Changed { update: None, when },
            Value::False | Value::Moves(_) => value,
        }
    }

    fn join_values(&self, a: Value, b: Value) -> Value {
        if a == b {
            return a;
        }
        match (self.plain(a), self.plain(b)) {
            (a, b) if a == b => a,
            (Value::False, c @ Value::Changed { when: true, .. })
            | (c @ Value::Changed { when: true, .. }, Value::False) => c,
            (a, b) => Value::Moves(self.tone(a).join(self.tone(b))),
        }
    }

    fn join(&self, a: &State<'b>, b: &State<'b>) -> State<'b> {
        let values = a.values.iter().zip(&b.values);
        let alias = a.alias.iter().zip(&b.alias);
        let arrays = a.arrays.iter().zip(&b.arrays);
        let mut pending = a.pending.clone();
        for (key, p) in &b.pending {
            let both = match a.pending.get(key) {
                None => p.clone(),
                Some(q) => Pending {
                    told: p.told.intersection(&q.told).copied().collect(),
                    held: p.held.intersection(&q.held).copied().collect(),
                },
            };
            pending.insert(*key, both);
        }
        State {
            values: values.map(|(&a, &b)| self.join_values(a, b)).collect(),
            alias: alias.map(|(&a, &b)| a.filter(|_| a == b)).collect(),
            arrays: arrays.map(|(a, &b)| a.join(b)).collect(),
            pending,
            made: a.made.intersection(&b.made).copied().collect(),
            below: (a.below.iter().filter(|f| b.below.contains(f)))
                .cloned()
                .collect(),
        }
    }

    fn branch(
        &mut self,
        cond: &'b Expr,
        (then, otherwise): (&'b [Stmt], &'b [Stmt]),
        context: Context,
        mut state: State<'b>,
    ) -> Result<Option<State<'b>>, Reason> {
        let value = self.eval(cond, context, &mut state)?;
        let loosely = |gate| Context {
            gate,
            loose: context.loose + 1,
            top: false,
            ..context
        };
        let inside = Context {
            top: false,
            ..context
        };
        // Under a guard that closed, nothing opens again.
        let monotone = match context.gate {
            Gate::Monotone => Gate::Monotone,
            Gate::Changed(_) | Gate::Would(_) | Gate::Closed => Gate::Closed,
        };
        let closed = loosely(Gate::Closed);
        let change = |update| match context.gate {
            Gate::Monotone | Gate::Would(_) => loosely(Gate::Changed(update)),
            Gate::Changed(_) | Gate::Closed => closed,
        };
        let (yes, no) = match value {
            Value::False | Value::Moves(Tone::Fixed) => (inside, inside),
            Value::Moves(Tone::Gains) => (loosely(monotone), closed),
            Value::Moves(Tone::Loses) => (closed, loosely(monotone)),
            Value::Changed { update, when: true } => (change(update), closed),
            Value::Changed {
                update,
                when: false,
            } => (closed, change(update)),
            Value::Would { skip, when } if context.gate == Gate::Monotone => {
                state.made.remove(&skip);
                let asked = Context {
                    asked: Some(skip),
                    ..loosely(Gate::Would(skip))
                };
                if when {
                    (asked, closed)
                } else {
                    (closed, asked)
                }
            }
            Value::Moves(Tone::Rises | Tone::Falls | Tone::Open)
            | Value::Seen(_)
            | Value::Old(_)
            | Value::Would { .. } => (closed, closed),
        };
        // What would have made the condition true, or false, has not happened.
        let mut unmet = state.clone();
        let mut met = state;
        self.learn_from(cond, true, &mut met);
        self.learn_from(cond, false, &mut unmet);
        let happened = |key, state: &State<'b>, walk: &Self| match cond {
            Expr::Unary(UnaryOp::Not, Scalar::Bool, x) => (false, walk.covers(x, key, state)),
            _ => match walk.changed(cond, state) {
                Some((update, false)) if key == (update, false) => (false, true),
                _ => (walk.covers(cond, key, state), false),
            },
        };
        let keys: Vec<(usize, bool)> = met.pending.keys().copied().collect();
        for key in keys {
            let (if_true, if_false) = happened(key, &met, self);
            if if_true {
                unmet.pending.remove(&key);
            }
            if if_false {
                met.pending.remove(&key);
            }
        }
        let fixed = yes.loose == context.loose;
        let before = fixed.then(|| met.values.clone());
        let yes = self.block(then, yes, met)?;
        if context.top {
            // `then` ended in a return, and `otherwise` is the rest of the body.
            if let Some(end) = &yes {
                self.leave(end);
            }
            return self.block(otherwise, Context { top: true, ..no }, unmet);
        }
        let no = self.block(otherwise, no, unmet)?;
        let (Some(yes), Some(no)) = (&yes, &no) else {
            return Ok(yes.or(no));
        };
        let mut state = self.join(yes, no);
        if before.is_none() {
            // Which branch it was shows in what they assigned.
            let mut assigned = BTreeSet::new();
            let mut arrays = BTreeSet::new();
            for block in [then, otherwise] {
                assigned_in(block, &mut assigned, &mut arrays);
            }
            for local in assigned {
                let value = &mut state.values[local.0 as usize];
                if !matches!(value, Value::False | Value::Changed { when: true, .. }) {
                    *value = Value::Moves(Tone::Open);
                }
                state.alias[local.0 as usize] = None;
            }
            for array in arrays {
                state.arrays[array as usize] = Tone::Open;
            }
        }
        Ok(Some(state))
    }

    fn repeat(
        &mut self,
        body: &'b [Stmt],
        context: Context,
        state: State<'b>,
    ) -> Result<Option<State<'b>>, Reason> {
        let mut assigned = BTreeSet::new();
        assigned_in(body, &mut assigned, &mut BTreeSet::new());
        let forget = |walk: &Self, mut head: State<'b>| {
            for value in &mut head.values {
                *value = walk.plain(*value);
            }
            for (at, alias) in head.alias.iter_mut().enumerate() {
                let is_stale = alias.is_some_and(|e| assigned.iter().any(|l| mentions(e, *l)));
                if is_stale || assigned.contains(&LocalId(at as u32)) {
                    *alias = None;
                }
            }
            // A change of an earlier turn is no longer what a test in this one is about.
            let now: Vec<usize> = head.pending.keys().filter(|k| !k.1).map(|k| k.0).collect();
            for update in now {
                walk.age(update, &mut head);
            }
            head
        };
        let mut head = forget(self, state);
        loop {
            self.loops.push(Turns {
                loose: context.loose,
                breaks: None,
                continues: None,
            });
            let end = self.block(body, context, head.clone());
            let turns = self.loops.pop().expect("it was pushed above");
            let mut next = head.clone();
            for again in end?.iter().chain(&turns.continues) {
                next = self.join(&next, &forget(self, again.clone()));
            }
            if next == head {
                return Ok(turns.breaks);
            }
            head = next;
        }
    }

    /// A change of this turn is one of an earlier one.
    fn age(&self, update: usize, state: &mut State<'b>) {
        let Some(now) = state.pending.remove(&(update, false)) else {
            return;
        };
        let both = match state.pending.remove(&(update, true)) {
            None => now,
            Some(before) => Pending {
                told: before.told.intersection(&now.told).copied().collect(),
                held: before.held.intersection(&now.held).copied().collect(),
            },
        };
        state.pending.insert((update, true), both);
    }

    /// Whether a bool is true if this change happened.
    fn covers(&self, e: &Expr, key: (usize, bool), state: &State<'b>) -> bool {
        match e {
            Expr::Literal(Scalar::Bool, 1) => true,
            Expr::Local(l) => state.pending[&key].held.contains(l),
            Expr::Binary {
                op: BinaryOp::Or,
                scalar: Scalar::Bool,
                left,
                right,
                ..
            } => self.covers(left, key, state) || self.covers(right, key, state),
            Expr::Compare { .. } => self.changed(e, state) == Some((key.0, true)) && !key.1,
            _ => false,
        }
    }

    fn push(
        &mut self,
        (frontier, node, site): (FrontierId, &'b Expr, SiteId),
        context: Context,
        state: &mut State<'b>,
    ) -> Result<(), Reason> {
        let resource = Resource::Frontier(frontier);
        self.fixed(node, site, context, state)?;
        let notice = Notice::Frontier(frontier);
        let element = match context.gate {
            Gate::Changed(Some(u)) => Some((self.updates[u].buffer, self.updates[u].index)),
            Gate::Would(s) if state.made.contains(&s) => {
                Some((self.skips[s].buffer, self.skips[s].index))
            }
            Gate::Monotone | Gate::Changed(None) | Gate::Would(_) | Gate::Closed => None,
        };
        let Some((buffer, index)) = element else {
            return self.refuse(Why::Notice, resource, site);
        };
        if !self.shared.quiet.contains(&notice) || !self.same(node, index, state) {
            return self.refuse(Why::Notice, resource, site);
        }
        if !self.is_below(node, &Limit::Extent(Extent::Nodes), state) {
            self.fault(site, context)?;
        }
        self.shared.needs.insert((buffer, frontier));
        let updates = &self.updates;
        let same: Vec<(usize, bool)> = state
            .pending
            .keys()
            .copied()
            .filter(|&(u, before)| {
                let u = &updates[u];
                !before && u.buffer == buffer && self.same(u.index, node, state)
            })
            .collect();
        for key in same {
            if let Some(pending) = state.pending.get_mut(&key) {
                pending.told.insert(notice);
            }
        }
        Ok(())
    }

    fn reduce(
        &mut self,
        (reduction, value): (ReductionId, &'b Expr),
        context: Context,
        state: &mut State<'b>,
    ) -> Result<(), Reason> {
        let resource = Resource::Reduction(reduction);
        let told = match context.gate {
            Gate::Changed(_) => true,
            Gate::Would(s) => state.made.contains(&s),
            Gate::Monotone | Gate::Closed => false,
        };
        let declared = &self.shared.program.reductions[reduction.index()];
        let op = declared.op;
        let owned = declared.owner == Some(self.shared.fixpoint);
        let said = self.eval(value, context, state)?;
        // `flag.or(changed)` is `if changed { flag.or(true) }`.
        if let (ReduceOp::Or, Value::Changed { when: true, .. }) = (op, said)
            && let Gate::Monotone | Gate::Would(_) = context.gate
            && owned
        {
            let keys: Vec<(usize, bool)> = state.pending.keys().copied().collect();
            for key in keys {
                if self.covers(value, key, state)
                    && let Some(pending) = state.pending.get_mut(&key)
                {
                    pending.told.insert(Notice::Reduction(reduction));
                }
            }
            return Ok(());
        }
        if !told || !owned || self.tone(said) != Tone::Fixed {
            return self.refuse(Why::Notice, resource, None);
        }
        let raises = match (op, value) {
            (ReduceOp::Sum, Expr::Literal(_, bits)) => *bits == 1,
            (ReduceOp::Or, Expr::Literal(_, bits)) => *bits != 0,
            _ => false,
        };
        if raises {
            for pending in state.pending.values_mut() {
                pending.told.insert(Notice::Reduction(reduction));
            }
        }
        Ok(())
    }

    fn tone(&self, value: Value) -> Tone {
        match value {
            Value::False => Tone::Fixed,
            Value::Moves(tone) => tone,
            Value::Seen(s) => self.seen[s].tone,
            Value::Old(_) | Value::Changed { .. } | Value::Would { .. } => Tone::Open,
        }
    }

    fn tone_of(
        &mut self,
        e: &'b Expr,
        context: Context,
        state: &mut State<'b>,
    ) -> Result<Tone, Reason> {
        let value = self.eval(e, context, state)?;
        Ok(self.tone(value))
    }

    fn array(&self, array: ArrayId) -> Limit {
        let len = self.arrays.get(array.0 as usize).map_or(0, |a| a.len);
        Limit::Extent(Extent::Fixed(len.into()))
    }

    fn buffer(&self, buffer: BufferId) -> Limit {
        Limit::Extent(self.shared.program.buffers[buffer.index()].extent)
    }

    /// What a fault depends on.
    fn fixed(
        &mut self,
        e: &'b Expr,
        site: SiteId,
        context: Context,
        state: &mut State<'b>,
    ) -> Result<(), Reason> {
        match self.tone_of(e, context, state)? {
            Tone::Fixed => Ok(()),
            Tone::Rises | Tone::Falls | Tone::Gains | Tone::Loses | Tone::Open => {
                self.refuse(Why::NotMonotone, None, site)
            }
        }
    }

    fn numbered(&self, e: &Expr) -> Option<usize> {
        self.updates.iter().position(|u| std::ptr::eq(u.of, e))
    }

    /// The update whose old value this is.
    fn old(&self, e: &Expr, state: &State<'b>) -> Option<usize> {
        match e {
            Expr::Atomic { .. } => self.numbered(e),
            Expr::Local(l) => match state.values[l.0 as usize] {
                Value::Old(u) => Some(u),
                _ => None,
            },
            _ => None,
        }
    }

    /// The load whose value this is.
    fn look(&self, e: &Expr, state: &State<'b>) -> Option<usize> {
        match e {
            Expr::AtomicLoad { .. } | Expr::Load { .. } => {
                self.seen.iter().position(|s| std::ptr::eq(s.of, e))
            }
            Expr::Local(l) => match state.values[l.0 as usize] {
                Value::Seen(s) => Some(s),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether two expressions have one value now. Locals have not changed since either was evaluated, or what is known
    /// of them would have been forgotten; nobody changes what they load.
    fn same(&self, a: &Expr, b: &Expr, state: &State<'b>) -> bool {
        if let (Expr::Local(a), Expr::Local(b)) = (a, b)
            && a == b
        {
            return true;
        }
        let same = |x: &Expr, y: &Expr| self.same(x, y, state);
        match (resolve(a, state), resolve(b, state)) {
            (a @ (Expr::Literal(..) | Expr::Local(_) | Expr::Uniform(..) | Expr::Len(_)), b) => {
                a == b
            }
            (Expr::Unary(op, s, x), Expr::Unary(of, t, y)) => op == of && s == t && same(x, y),
            (
                Expr::Binary {
                    op,
                    scalar,
                    left,
                    right,
                    ..
                },
                Expr::Binary {
                    op: of,
                    scalar: other,
                    left: x,
                    right: y,
                    ..
                },
            ) => op == of && scalar == other && same(left, x) && same(right, y),
            (
                Expr::Compare {
                    op,
                    scalar,
                    left,
                    right,
                },
                Expr::Compare {
                    op: of,
                    scalar: other,
                    left: x,
                    right: y,
                },
            ) => op == of && scalar == other && same(left, x) && same(right, y),
            (
                Expr::Cast { from, to, value },
                Expr::Cast {
                    from: a,
                    to: b,
                    value: x,
                },
            ) => from == a && to == b && same(value, x),
            (
                Expr::Load { buffer, index, .. },
                Expr::Load {
                    buffer: other,
                    index: x,
                    ..
                },
            ) => {
                let written = self.shared.directions.contains_key(buffer);
                buffer == other && !written && same(index, x)
            }
            (
                Expr::Csr {
                    query,
                    topology,
                    of,
                    ..
                },
                Expr::Csr {
                    query: asks,
                    topology: other,
                    of: x,
                    ..
                },
            ) => query == asks && topology == other && same(of, x),
            _ => false,
        }
    }

    /// Nobody changes what it names while an item runs, but by assigning its locals.
    fn is_still(&self, e: &Expr) -> bool {
        let mut still = match e {
            Expr::AtomicLoad { .. }
            | Expr::Atomic { .. }
            | Expr::CompareExchange { .. }
            | Expr::Append { .. }
            | Expr::ArrayLoad { .. } => false,
            Expr::Load { buffer, .. } => !self.shared.directions.contains_key(buffer),
            _ => true,
        };
        e.each_operand(&mut |x| still = still && self.is_still(x));
        still
    }

    fn is(&self, value: Operand<'_>, of: &Expr, state: &State<'b>) -> bool {
        match value {
            Operand::Is(x) => self.same(x, of, state),
            Operand::Not(x) => match of {
                Expr::Unary(UnaryOp::Not, _, y) => self.same(x, y, state),
                _ => false,
            },
        }
    }

    /// Which update a comparison asks of whether it changed something, and the answer if it did.
    fn changed(&self, e: &Expr, state: &State<'b>) -> Option<(usize, bool)> {
        for (x, v, when, op) in questions(e) {
            if let Some(u) = self.old(x, state)
                && self.updates[u].op == op
                && self.is(v, self.updates[u].value, state)
            {
                return Some((u, when));
            }
        }
        None
    }

    /// The same of an update that was not made yet.
    fn would(&mut self, e: &'b Expr, state: &State<'b>) -> Option<(usize, bool)> {
        for (x, value, when, op) in questions(e) {
            if let Some(s) = self.look(x, state)
                && self.shared.directions.get(&self.seen[s].buffer) == Some(&op)
            {
                let known = self.skips.iter().position(|k| std::ptr::eq(k.of, e));
                let skip = known.unwrap_or_else(|| {
                    self.skips.push(Skip {
                        of: e,
                        buffer: self.seen[s].buffer,
                        index: self.seen[s].index,
                        value,
                    });
                    self.skips.len() - 1
                });
                return Some((skip, when));
            }
        }
        None
    }

    fn eval(
        &mut self,
        e: &'b Expr,
        context: Context,
        state: &mut State<'b>,
    ) -> Result<Value, Reason> {
        let moves = |tone| Ok(Value::Moves(tone));
        match e {
            Expr::Literal(Scalar::Bool, 0) => Ok(Value::False),
            Expr::Literal(..) | Expr::Len(_) => moves(Tone::Fixed),
            Expr::Uniform(u, _) => moves(match u {
                Uniform::Scalar(_) | Uniform::Constant(_) | Uniform::Nodes => Tone::Fixed,
                Uniform::Reduction(r) if !self.shared.reduced.contains(r) => Tone::Fixed,
                Uniform::Reduction(_)
                | Uniform::Round
                | Uniform::FrontierLen(_)
                | Uniform::ListLen(_) => Tone::Open,
            }),
            Expr::Local(l) => Ok(state.values[l.0 as usize]),
            Expr::ArrayLoad {
                array, index, site, ..
            } => {
                self.check((index, self.array(*array)), *site, context, state)?;
                moves(state.arrays[array.0 as usize])
            }
            Expr::Csr {
                of,
                site,
                query,
                topology,
            } => {
                let all = match query {
                    CsrQuery::Begin | CsrQuery::End => Extent::Nodes,
                    CsrQuery::Target => Extent::Edges(*topology),
                };
                self.check((of, Limit::Extent(all)), *site, context, state)?;
                moves(Tone::Fixed)
            }
            Expr::Load {
                buffer,
                index,
                site,
                scalar,
            }
            | Expr::AtomicLoad {
                buffer,
                index,
                site,
                scalar,
            } => {
                self.check((index, self.buffer(*buffer)), *site, context, state)?;
                self.seen((e, *buffer, index), *scalar, state)
            }
            Expr::Atomic { .. } => self.update(e, context, state),
            // `declare` has refused them.
            Expr::CompareExchange { site, .. } | Expr::Append { site, .. } => {
                self.refuse(Why::NotMonotone, None, *site)
            }
            Expr::Unary(op, scalar, x) => {
                let value = self.eval(x, context, state)?;
                if let (UnaryOp::Not, Value::Changed { update, when }) = (op, value) {
                    return Ok(Value::Changed {
                        update,
                        when: !when,
                    });
                }
                if let (UnaryOp::Not, Value::Would { skip, when }) = (op, value) {
                    return Ok(Value::Would { skip, when: !when });
                }
                let tone = self.tone(value);
                moves(match op {
                    UnaryOp::Not => tone.bits().turned(),
                    // The smallest negates to itself.
                    UnaryOp::Neg if is_float(*scalar) => tone.numeric().turned(),
                    UnaryOp::Sqrt
                    | UnaryOp::Floor
                    | UnaryOp::Ceil
                    | UnaryOp::Round
                    | UnaryOp::Trunc
                    | UnaryOp::RoundTiesEven => tone.numeric(),
                    UnaryOp::Neg
                    | UnaryOp::Abs
                    | UnaryOp::CountOnes
                    | UnaryOp::LeadingZeros
                    | UnaryOp::TrailingZeros
                    | UnaryOp::Exp
                    | UnaryOp::Ln
                    | UnaryOp::Sin
                    | UnaryOp::Cos => only_fixed(tone),
                })
            }
            Expr::Binary {
                op,
                scalar,
                left,
                right,
                site,
            } => {
                let a = self.eval(left, context, state)?;
                let b = self.eval(right, context, state)?;
                if faults::may_fault(*op, *scalar, right) {
                    self.fault(*site, context)?;
                }
                if let (BinaryOp::Or, Scalar::Bool) = (op, *scalar) {
                    let says = |v| matches!(v, Value::False | Value::Changed { when: true, .. });
                    if says(a) && says(b) && a != b {
                        return Ok(Value::Changed {
                            update: None,
                            when: true,
                        });
                    }
                    if says(a) && a == b {
                        return Ok(a);
                    }
                }
                self.binary((*op, *scalar, *site), (self.tone(a), self.tone(b)))
                    .map(Value::Moves)
            }
            Expr::Compare {
                op,
                scalar,
                left,
                right,
            } => {
                let a = self.tone_of(left, context, state)?;
                let b = self.tone_of(right, context, state)?;
                if let Some((update, when)) = self.changed(e, state) {
                    return Ok(Value::Changed {
                        update: Some(update),
                        when,
                    });
                }
                let tone = self.compare((*op, *scalar), (left, a), (right, b));
                if !matches!(tone, Tone::Fixed | Tone::Gains)
                    && let Some((skip, when)) = self.would(e, state)
                {
                    return Ok(Value::Would { skip, when });
                }
                moves(tone)
            }
            Expr::MulAdd { a, b, c, .. } => {
                let mut all = Tone::Fixed;
                for x in [a, b, c] {
                    all = all.join(only_fixed(self.tone_of(x, context, state)?));
                }
                moves(all)
            }
            Expr::Select {
                cond,
                then,
                otherwise,
                ..
            } => {
                let cond = self.tone_of(cond, context, state)?;
                let a = self.tone_of(then, context, state)?;
                let b = self.tone_of(otherwise, context, state)?;
                moves(match cond {
                    Tone::Fixed => a.join(b),
                    _ => Tone::Open,
                })
            }
            Expr::Cast { from, to, value } => {
                let tone = self.tone_of(value, context, state)?;
                moves(cast(*from, *to, tone))
            }
            Expr::Bitcast { value, .. } => moves(only_fixed(self.tone_of(value, context, state)?)),
        }
    }

    fn seen(
        &mut self,
        (e, buffer, index): (&'b Expr, BufferId, &'b Expr),
        scalar: Scalar,
        state: &State<'b>,
    ) -> Result<Value, Reason> {
        let Some(op) = self.shared.directions.get(&buffer) else {
            return Ok(Value::Moves(Tone::Fixed));
        };
        let mut tone = match op {
            AtomicOp::Min => Tone::Falls,
            AtomicOp::Max => Tone::Rises,
            AtomicOp::And => Tone::Loses,
            AtomicOp::Or => Tone::Gains,
            AtomicOp::Add | AtomicOp::Sub | AtomicOp::Xor | AtomicOp::Swap => Tone::Open,
        };
        if is_float(scalar) {
            self.shared.provisos.push(Proviso::NoNan(self.wave));
        }
        if let Some((own, frontier)) = self.own {
            let is_own = match resolve(index, state) {
                Expr::Local(l) => own == Some(*l),
                _ => false,
            };
            if is_own {
                self.shared.needs.insert((buffer, frontier));
            } else {
                tone = Tone::Open;
            }
        }
        let known = self.seen.iter().position(|s| std::ptr::eq(s.of, e));
        Ok(Value::Seen(known.unwrap_or_else(|| {
            self.seen.push(Seen {
                of: e,
                buffer,
                index,
                tone,
            });
            self.seen.len() - 1
        })))
    }

    fn update(
        &mut self,
        e: &'b Expr,
        context: Context,
        state: &mut State<'b>,
    ) -> Result<Value, Reason> {
        let Expr::Atomic {
            op,
            buffer,
            scalar,
            index,
            value,
            site,
        } = e
        else {
            unreachable!("`eval` calls it for atomics");
        };
        let resource = Resource::Buffer(*buffer);
        self.check((index, self.buffer(*buffer)), *site, context, state)?;
        let tone = self.tone_of(value, context, state)?;
        let way = match op {
            AtomicOp::Min => Tone::Falls,
            AtomicOp::Max => Tone::Rises,
            AtomicOp::And => Tone::Loses,
            AtomicOp::Or => Tone::Gains,
            AtomicOp::Add | AtomicOp::Sub | AtomicOp::Xor | AtomicOp::Swap => Tone::Open,
        };
        if tone != Tone::Fixed && tone != way {
            return self.refuse(Why::NotMonotone, resource, *site);
        }
        match context.gate {
            Gate::Monotone => {}
            Gate::Would(s) => {
                let skip = self.skips[s];
                let asked = skip.buffer == *buffer
                    && self.same(skip.index, index, state)
                    && self.is(skip.value, value, state);
                if !asked {
                    return self.refuse(Why::NotMonotone, resource, *site);
                }
                state.made.insert(s);
            }
            Gate::Changed(_) | Gate::Closed => {
                return self.refuse(Why::NotMonotone, resource, *site);
            }
        }
        if is_float(*scalar) {
            self.shared.provisos.push(Proviso::NoNan(self.wave));
        }
        let update = self.numbered(e).unwrap_or_else(|| {
            self.updates.push(Update {
                of: e,
                op: *op,
                buffer: *buffer,
                index,
                value,
                site: *site,
                told: None,
            });
            self.updates.len() - 1
        });
        self.age(update, state);
        state.pending.insert((update, false), Pending::default());
        Ok(Value::Old(update))
    }

    fn binary(
        &mut self,
        (op, scalar, site): (BinaryOp, Scalar, Option<SiteId>),
        (a, b): (Tone, Tone),
    ) -> Result<Tone, Reason> {
        let both = a.join(b);
        if both == Tone::Fixed {
            return Ok(Tone::Fixed);
        }
        let signed = matches!(scalar, Scalar::I32 | Scalar::I64);
        let may_fault = match op {
            BinaryOp::Div | BinaryOp::Rem | BinaryOp::WrappingDiv | BinaryOp::WrappingRem => {
                !is_float(scalar) && (b != Tone::Fixed || signed)
            }
            _ => false,
        };
        if may_fault {
            return self.refuse(Why::NotMonotone, None, site);
        }
        let tone = match op {
            BinaryOp::Add => a.numeric().join(b.numeric()),
            BinaryOp::Sub => a.numeric().join(b.numeric().turned()),
            // Of signed numbers and floats, it depends on the other's sign.
            BinaryOp::Mul | BinaryOp::SaturatingMul if !signed && !is_float(scalar) => {
                a.numeric().join(b.numeric())
            }
            BinaryOp::SaturatingAdd | BinaryOp::Min | BinaryOp::Max => {
                a.numeric().join(b.numeric())
            }
            BinaryOp::SaturatingSub => a.numeric().join(b.numeric().turned()),
            BinaryOp::Div | BinaryOp::WrappingDiv if !is_float(scalar) => a.numeric(),
            BinaryOp::And | BinaryOp::Or => a.bits().join(b.bits()),
            BinaryOp::Shr if b == Tone::Fixed => a,
            BinaryOp::Shl | BinaryOp::RotateLeft | BinaryOp::RotateRight if b == Tone::Fixed => {
                a.bits()
            }
            BinaryOp::Mul
            | BinaryOp::SaturatingMul
            | BinaryOp::Div
            | BinaryOp::Rem
            | BinaryOp::WrappingDiv
            | BinaryOp::WrappingRem
            | BinaryOp::AbsDiff
            | BinaryOp::Xor
            | BinaryOp::Shl
            | BinaryOp::Shr
            | BinaryOp::RotateLeft
            | BinaryOp::RotateRight => Tone::Open,
        };
        let wraps = matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul);
        if wraps && tone != Tone::Open {
            let proviso = match is_float(scalar) {
                true => Proviso::NoNan(self.wave),
                false => Proviso::NoWrap(self.wave),
            };
            self.shared.provisos.push(proviso);
        }
        Ok(tone)
    }

    fn compare(
        &mut self,
        (op, scalar): (CompareOp, Scalar),
        (left, a): (&Expr, Tone),
        (right, b): (&Expr, Tone),
    ) -> Tone {
        let below = |a: Tone, b: Tone| match a.numeric().turned().join(b.numeric()) {
            Tone::Fixed => Tone::Fixed,
            Tone::Rises => Tone::Gains,
            Tone::Falls => Tone::Loses,
            Tone::Gains | Tone::Loses | Tone::Open => Tone::Open,
        };
        match op {
            _ if a.join(b) == Tone::Fixed => Tone::Fixed,
            CompareOp::Lt | CompareOp::Le => below(a, b),
            CompareOp::Gt | CompareOp::Ge => below(b, a),
            CompareOp::Eq | CompareOp::Ne => {
                // Different from where it begins, a value stays so.
                let (tone, from) = match (a, b) {
                    (a, Tone::Fixed) => (a, right),
                    (Tone::Fixed, b) => (b, left),
                    _ => return Tone::Open,
                };
                if !self.is_first(from, scalar, tone) {
                    return Tone::Open;
                }
                match op {
                    CompareOp::Ne => Tone::Gains,
                    _ => Tone::Loses,
                }
            }
        }
    }

    /// Whether this is the value that nothing which moves so comes back to.
    fn is_first(&mut self, e: &Expr, scalar: Scalar, tone: Tone) -> bool {
        let first = match tone {
            Tone::Falls => ReduceOp::Min,
            Tone::Rises => ReduceOp::Max,
            Tone::Gains => ReduceOp::Or,
            Tone::Loses => ReduceOp::And,
            Tone::Fixed | Tone::Open => return false,
        };
        match e {
            Expr::Literal(_, bits) => *bits == first.identity(scalar),
            Expr::Uniform(Uniform::Constant(c), _) => {
                let proviso = Proviso::First(self.wave, *c, first);
                self.shared.provisos.push(proviso);
                true
            }
            _ => false,
        }
    }
}

impl Update<'_> {
    fn mentions(&self, local: LocalId) -> bool {
        mentions(self.index, local) || mentions(self.value, local)
    }
}

impl Skip<'_> {
    fn mentions(&self, local: LocalId) -> bool {
        let (Operand::Is(value) | Operand::Not(value)) = self.value;
        mentions(self.index, local) || mentions(value, local)
    }
}

/// Every way to read a comparison as the question whether `op` with a value would change `x`: `x`, the value, the
/// answer if it would.
fn questions(e: &Expr) -> Vec<(&Expr, Operand<'_>, bool, AtomicOp)> {
    let Expr::Compare {
        op,
        scalar,
        left,
        right,
    } = e
    else {
        return Vec::new();
    };
    let (a, b) = (&**left, &**right);
    let is_zero = |e: &Expr| matches!(e, Expr::Literal(_, 0));
    fn parts(e: &Expr) -> Option<(BinaryOp, &Expr, &Expr)> {
        match e {
            Expr::Binary {
                op, left, right, ..
            } => Some((*op, &**left, &**right)),
            _ => None,
        }
    }
    // Two loads, or two updates, are two values.
    let is_same_old = |p: &Expr, y: &Expr| matches!(p, Expr::Local(_)) && p == y;
    let mut all = Vec::new();
    match op {
        // a < b: a minimum with `a` lowers b, a maximum with `b` raises a.
        CompareOp::Lt | CompareOp::Ge => {
            let when = *op == CompareOp::Lt;
            all.push((b, Operand::Is(a), when, AtomicOp::Min));
            all.push((a, Operand::Is(b), when, AtomicOp::Max));
        }
        CompareOp::Gt | CompareOp::Le => {
            let when = *op == CompareOp::Gt;
            all.push((a, Operand::Is(b), when, AtomicOp::Min));
            all.push((b, Operand::Is(a), when, AtomicOp::Max));
        }
        CompareOp::Ne | CompareOp::Eq if !is_float(*scalar) => {
            let when = *op == CompareOp::Ne;
            for (x, y) in [(a, b), (b, a)] {
                let Some((op, p, q)) = parts(x) else { continue };
                for (p, q) in [(p, q), (q, p)] {
                    match op {
                        // p & !q != 0: p adds bits to q, and q takes bits from p.
                        BinaryOp::And if is_zero(y) => {
                            if let Expr::Unary(UnaryOp::Not, _, q) = q {
                                all.push((q, Operand::Is(p), when, AtomicOp::Or));
                                all.push((p, Operand::Is(q), when, AtomicOp::And));
                            }
                            all.push((p, Operand::Not(q), when, AtomicOp::And));
                        }
                        // p | q != p, p & q != p.
                        BinaryOp::Or if is_same_old(p, y) => {
                            all.push((p, Operand::Is(q), when, AtomicOp::Or));
                        }
                        BinaryOp::And if is_same_old(p, y) => {
                            all.push((p, Operand::Is(q), when, AtomicOp::And));
                        }
                        _ => {}
                    }
                }
            }
        }
        CompareOp::Ne | CompareOp::Eq => {}
    }
    all
}

fn is_float(scalar: Scalar) -> bool {
    matches!(scalar, Scalar::F32 | Scalar::F64)
}

fn only_fixed(tone: Tone) -> Tone {
    match tone {
        Tone::Fixed => Tone::Fixed,
        Tone::Rises | Tone::Falls | Tone::Gains | Tone::Loses | Tone::Open => Tone::Open,
    }
}

/// Conversions that keep the order, or the bits.
fn cast(from: Scalar, to: Scalar, tone: Tone) -> Tone {
    if tone == Tone::Fixed || from == to {
        return tone;
    }
    match (from, to) {
        (Scalar::Bool, Scalar::U8 | Scalar::U32 | Scalar::U64) => tone.bits(),
        (Scalar::U8, Scalar::U32 | Scalar::U64) | (Scalar::U32, Scalar::U64) => tone,
        (Scalar::U8, Scalar::I32 | Scalar::I64)
        | (Scalar::U32, Scalar::I64)
        | (Scalar::I32, Scalar::I64)
        | (Scalar::F32, Scalar::F64) => tone.numeric(),
        // Bits that are cut off are no more.
        (Scalar::U64, Scalar::U32 | Scalar::U8) | (Scalar::U32, Scalar::U8) => tone.bits(),
        _ => Tone::Open,
    }
}

/// What a local stands for.
fn resolve<'a>(mut e: &'a Expr, state: &State<'a>) -> &'a Expr {
    while let Expr::Local(l) = e
        && let Some(named) = state.alias[l.0 as usize]
    {
        e = named;
    }
    e
}

fn mentions(e: &Expr, local: LocalId) -> bool {
    let mut found = matches!(e, Expr::Local(l) if *l == local);
    e.each_operand(&mut |x| found = found || mentions(x, local));
    found
}

fn assigned_in(block: &[Stmt], locals: &mut BTreeSet<LocalId>, arrays: &mut BTreeSet<u32>) {
    for stmt in block {
        match stmt {
            Stmt::Assign(l, _) => {
                locals.insert(*l);
            }
            Stmt::ArrayFill { array, .. }
            | Stmt::ArrayAssign { array, .. }
            | Stmt::ArrayStore { array, .. } => {
                arrays.insert(array.0);
            }
            Stmt::Store { .. }
            | Stmt::AtomicStore { .. }
            | Stmt::Eval(_)
            | Stmt::Push { .. }
            | Stmt::PushItem { .. }
            | Stmt::Reduce { .. }
            | Stmt::If { .. }
            | Stmt::Loop { .. }
            | Stmt::Break { .. }
            | Stmt::Continue { .. }
            | Stmt::Return
            | Stmt::Assert { .. }
            | Stmt::CheckIndex { .. } => {}
        }
        stmt.each_block(&mut |b| assigned_in(b, locals, arrays));
    }
}
