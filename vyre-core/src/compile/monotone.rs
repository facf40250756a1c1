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
//!   no wave writes while the fixpoint runs (of the round, too: that is not fixed). Its value moves the buffer's way,
//!   if at all.
//! - What guards it is fixed, or turns from false to true only; or it is the question whether the update would change
//!   what was loaded, which leaves out only what changes nothing.
//! - A choice `c ? a : b` of bools moves with `c`, `a` and `b` where `a` implies `b` or `b` implies `a`, as they do
//!   where one is a constant: then it is `c & a`, `c | b`, or the same of `!c`. So `a && b`, `a || b` and `if c { any = true; }` are what `&`, `|` and `|=` are. A load
//!   that was left out could have given anything, so it is as good as made; a check that was left out is not, and has to
//!   be one that cannot fail.
//! - Nothing else is written: no list, no store. A reduction that its rounds reset may be, where an update changed
//!   something, and a flag may be told whether it did.
//! - A sweep of a frontier evaluates *active* nodes only: those that lay in it, and those whose element changed. That
//!   is a monotone guard if every update of that element's buffer that changes something pushes that very index, and
//!   nothing else pushes. What belongs to a node is its element, or the words of its row of bits: a push tells of every
//!   word of the row that has changed so far, in this turn of a loop or in earlier ones, and it may stand under any
//!   condition that holds only if a word of that row has changed, of one or of several buffers. Each of these buffers
//!   has to tell of all its changes then.
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
//! A value's way is known by a small type system ([`Tone`]), over the statements in order (`statements`), with loops to a
//! fixpoint, and their expressions (`values`). What it cannot follow is refused, with the place.

mod faults;
mod statements;
mod values;

use crate::compile::ir::{
    Array, ArrayId, AtomicOp, BinaryOp, Body, CompareOp, CsrQuery, Effect, Expr, LocalId, Stmt,
    UnaryOp,
};
use crate::vir0::module::{
    BufferId, Extent, FixpointId, FrontierId, Program, Proviso, QueueId, Reason, ReduceOp,
    ReductionId, Resource, SiteId, Uniform, WaveId, Why,
};
use crate::vir0::scalar::Scalar;
pub(super) use faults::may_fault;
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
    /// Unknown.
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
    /// The literal `true`.
    True,
    Moves(Tone),
    /// What a load of a buffer gave that the fixpoint writes.
    Seen(usize),
    /// The value before an update.
    Old(usize),
    /// Where it is `when`, an update changed something.
    Changed {
        /// Where it is not, this one did not; while that is known.
        update: Option<usize>,
        /// Whose row it was that changed, of [`Walk::rows`], while that is known.
        row: Option<usize>,
        when: bool,
    },
    /// Whether an update of this element with this value would have changed what was seen (or would not).
    Would {
        skip: usize,
        when: bool,
        /// How the answer moves.
        tone: Tone,
    },
}

/// Of the values of two branches: which one is true wherever the other one is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Implies {
    Yes,
    No,
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

/// When a change was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Age {
    /// By the update as it was evaluated last.
    Now,
    /// Before, on the row of a node that is still known.
    Known,
    /// Before, on any row.
    Past,
}

/// A change that may have happened.
#[derive(Clone, Debug, PartialEq)]
struct Pending<'b> {
    /// The node whose row it is in, while its locals are what they were.
    node: Option<&'b Expr>,
    /// Who knows.
    told: BTreeSet<Notice>,
    /// Locals that are true if it did.
    held: BTreeSet<LocalId>,
}

impl<'b> Pending<'b> {
    /// On either path.
    fn join(&self, other: &Pending<'b>) -> Pending<'b> {
        Pending {
            node: self.node.filter(|_| self.node == other.node),
            told: self.told.intersection(&other.told).copied().collect(),
            held: self.held.intersection(&other.held).copied().collect(),
        }
    }
}

/// What belongs to a node, as far as a bool tells of its changes.
#[derive(Clone, Debug, PartialEq)]
struct Row<'b> {
    node: &'b Expr,
    buffers: BTreeSet<BufferId>,
}

#[derive(Clone, Debug, PartialEq)]
struct State<'b> {
    values: Vec<Value>,
    /// Locals that still equal what they were assigned.
    alias: Vec<Option<&'b Expr>>,
    arrays: Vec<Tone>,
    /// By update, and how old they are.
    pending: BTreeMap<(usize, Age), Pending<'b>>,
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
    /// Notices: this update changed something, of this row.
    Changed(Option<usize>, Option<usize>),
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
    /// What the innermost of these asks about.
    place: Option<SiteId>,
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
    if let Some(site) = until.value.as_ref().and_then(faults::division_in) {
        return Err(Reason {
            site: Some(site),
            ..against(Why::NotMonotone)
        });
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
        // A path that never comes to its end reaches no condition, and asks for nothing.
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
                Expr::Uniform(Uniform::Len(QueueId::Frontier(f)), _)
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
    fn declare(&mut self, wave: WaveId, block: &[Stmt]) -> Result<(), Reason> {
        for stmt in block {
            let refused = match stmt.effect() {
                Effect::Element(e) => Some((Resource::Buffer(e.buffer), e.site, Why::NotMonotone)),
                Effect::Push(frontier, None, site) => Some((frontier.into(), site, Why::Notice)),
                Effect::Append(list, site) | Effect::Insert(list, site) => {
                    Some((list.into(), site, Why::NotMonotone))
                }
                Effect::Contains(cells, site) | Effect::File(cells, site) => {
                    Some((Resource::Buffer(cells), site, Why::NotMonotone))
                }
                Effect::Reduce(reduction) => {
                    self.reduced.insert(reduction);
                    None
                }
                Effect::No | Effect::Local(_) | Effect::Array(_) | Effect::Ask(_) => None,
                Effect::Push(_, Some(_), _) | Effect::Jump => None,
            };
            if let Some((resource, site, why)) = refused {
                return Err(Reason {
                    wave,
                    resource: Some(resource),
                    site: Some(site),
                    why,
                });
            }
            for e in stmt.operands() {
                self.declare_expr(wave, e)?;
            }
            for block in stmt.blocks() {
                self.declare(wave, block)?;
            }
        }
        Ok(())
    }

    fn declare_expr(&mut self, wave: WaveId, e: &Expr) -> Result<(), Reason> {
        for operand in e.operands() {
            self.declare_expr(wave, operand)?;
        }
        let (resource, site, why) = match e {
            Expr::Atomic {
                op, buffer, site, ..
            } => {
                let joins = match op {
                    AtomicOp::Min | AtomicOp::Max | AtomicOp::And | AtomicOp::Or => true,
                    AtomicOp::Add | AtomicOp::Sub | AtomicOp::Xor | AtomicOp::Swap => false,
                };
                let one = *self.directions.entry(*buffer).or_insert(*op) == *op;
                let anew = self.program.buffers[buffer.index()].reset == Some(self.fixpoint);
                if joins && one && !anew {
                    return Ok(());
                }
                let why = match one {
                    _ if anew => Why::Anew,
                    false if joins => Why::Mixed,
                    _ => Why::NotMonotone,
                };
                (Resource::Buffer(*buffer), *site, why)
            }
            Expr::CompareExchange { buffer, site, .. } => {
                (Resource::Buffer(*buffer), *site, Why::NotMonotone)
            }
            Expr::Append { list, site, .. } | Expr::Insert { list, site, .. } => {
                ((*list).into(), *site, Why::NotMonotone)
            }
            Expr::Contains { table, site, .. }
            | Expr::Entry {
                index: table, site, ..
            } => (Resource::Buffer(*table), *site, Why::NotMonotone),
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
    rows: Vec<Row<'b>>,
    loops: Vec<Turns<'b>>,
    /// For messages: an access that each local's value was made of.
    places: Vec<Option<SiteId>>,
    /// Statements that may still be looked at: loops in loops are gone through again and again.
    patience: u32,
}

/// More than any kernel needs that was not written to need more.
const PATIENCE: u32 = 200_000;

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
fn questions<'a>(e: &'a Expr, state: &State<'_>) -> Vec<(&'a Expr, Operand<'a>, bool, AtomicOp)> {
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
                            // Of one bit: it is not there yet.
                            if is_one_bit(q, state) {
                                all.push((p, Operand::Is(q), !when, AtomicOp::Or));
                            }
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

/// A mask with one bit, as `rows.set(v, bit)` has it.
fn is_one_bit<'a>(e: &'a Expr, state: &State<'a>) -> bool {
    let one = |bits: u64| bits.count_ones() == 1;
    match resolve(e, state) {
        Expr::Literal(_, bits) => one(*bits),
        // A shift takes its amount modulo the width.
        Expr::Binary {
            op: BinaryOp::Shl,
            left,
            ..
        } => matches!(**left, Expr::Literal(_, 1)),
        _ => false,
    }
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

/// The node whose row of bits this is a word of: their methods add the word's number to the row's first word, and check
/// both.
fn node_of_word<'a>(index: &'a Expr, state: &State<'a>) -> Option<&'a Expr> {
    let Expr::Binary {
        op: BinaryOp::Add,
        left,
        ..
    } = resolve(index, state)
    else {
        return None;
    };
    match resolve(left, state) {
        Expr::Binary {
            op: BinaryOp::Mul,
            left: node,
            ..
        } => Some(resolve(node, state)),
        _ => None,
    }
}

fn mentions(e: &Expr, local: LocalId) -> bool {
    matches!(e, Expr::Local(l) if *l == local) || e.operands().any(|x| mentions(x, local))
}

/// The locals and the arrays that a block assigns.
fn all_assigned(block: &[Stmt]) -> (BTreeSet<LocalId>, BTreeSet<u32>) {
    let (mut locals, mut arrays) = (BTreeSet::new(), BTreeSet::new());
    assigned_in(block, &mut locals, &mut arrays);
    (locals, arrays)
}

/// Whether a block assigns nothing else than this bool to a local.
fn sets_to(block: &[Stmt], local: LocalId, bit: u64) -> bool {
    block.iter().all(|stmt| {
        let here = match stmt {
            Stmt::Assign(l, e) if *l == local => *e == Expr::Literal(Scalar::Bool, bit),
            _ => true,
        };
        here && stmt.blocks().all(|b| sets_to(b, local, bit))
    })
}

fn assigned_in(block: &[Stmt], locals: &mut BTreeSet<LocalId>, arrays: &mut BTreeSet<u32>) {
    for stmt in block {
        if let Effect::Local(local) = stmt.effect() {
            locals.insert(local);
        }
        if let Effect::Array(array) = stmt.effect() {
            arrays.insert(array.0);
        }
        stmt.blocks().for_each(|b| assigned_in(b, locals, arrays));
    }
}
