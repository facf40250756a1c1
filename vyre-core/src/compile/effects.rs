//! What a body does to the pass's resources, and how far the order of items can be seen in the result.
//!
//! [`uses`] gives each resource its one mode. A buffer is *updated* when every access to it in the body is an atomic of
//! one operation among add (sub adds the negation), min, max, and, or, xor whose old value is not read; it is *read*
//! when it is only loaded, atomically or not; anything else *writes* it. `len()` alone is a read, next to other
//! accesses it is nothing.
//!
//! # How far runs agree
//!
//! [`agreement`] puts a pass in one of three classes.
//!
//! ## Same bits
//!
//! Call the buffers, the frontiers as *multisets* and the
//! reductions the state. If each barrier group takes one state to one next state, whatever the interleaving, then by
//! induction all states at barriers agree, so do the conditions and the round counts, which see nothing else, and so do
//! the traps, since a group always finishes and the lowest key wins. Unordered waves do not conflict
//! ([`crate::plan::hazard`] has checked it), so it is enough that each body only observes values that no interleaving
//! changes, and that what it leaves behind does not depend on who came first. Each resource must be used in one of
//! these ways by a body:
//!
//! - **Only read.** No wave changes it in this group.
//! - **Own element.** Every access, whatever it is, at the work item's own index, or to words of the row of bits there,
//!   whose methods check the word, or to elements of the item's own row, whose index is checked before; and each index
//!   is swept once. Rows of differing lengths begin where a topology's offsets say, which never fall. So an element's
//!   history is one item's program order, of which other waves of the group see nothing, since they would conflict.
//!   Plain stores are admitted by the front end only where each element belongs to one item.
//! - **Updated, results unused.** Integer add, and, or, xor, min and max commute and associate, so the end value
//!   depends on the multiset of updates alone; so do float min and max, up to NaN payloads and the sign of zero, which
//!   the language excepts. Float addition rounds, so its end value shows the order.
//! - **Stored with one uniform value**, atomically: an element ends as that value if anyone stored there. (Not read.)
//! - **Claimed.** One `compare_exchange(u1, u2)` with uniform `u1`, `u2` is the buffer's only access. With `u1 != u2`
//!   it succeeds once for each attempted element that held `u1`, with `u1 == u2` at every attempt on one; which item
//!   succeeds is open, but *how often it succeeds at each index* is not. So its result may guard what is a function of
//!   the index: pushes of that very index, reductions of a uniform value, and atomic stores and updates of a uniform
//!   value at that very index of other buffers. None of them can trap, or the trap would name an arbitrary item: so what
//!   is pushed must be an index of a buffer with one element a node, and the other buffers must be of the same extent.
//! - **Counted.** The same holds of any one atomic with a uniform operand `u`: at an element that held `x`, the old
//!   values are `x`, `f(x)`, `f(f(x))` and so on, one for each attempt, whoever makes it, wherever the element started and
//!   whether it wraps. So a question about the old value may guard what a claim may, if it asks for nothing but uniforms
//!   and elements at that index of buffers that the body only reads: `if open[v].fetch_sub(1) == 1 { ready.push(v) }`,
//!   `if met[v].fetch_add(1) + 1 == need[v] { .. }`. What is reduced or added there may be made of the same. (Not where
//!   floats are added: a sum that may be lifted is open.)
//! - **Inserted.** A set union. Of the items that insert a tuple which a relation does not have, one is the first, and
//!   which one is open; that there is one is not. So whether a tuple is new may guard what is a function of the tuple and
//!   of uniforms. What is guarded may trap, and then the trap names any of the items that inserted the tuple; a relation
//!   that is full needs at least as many tuples as were found before lanes heard of it. So the class is the next one.
//! - **Pushed, appended or reduced.** A multiset union, if the slots are not read and the list is not read back; a
//!   reduction as an update of its operation. A body that also reads the
//!   reduction it takes part in is refused.
//!
//! `exp`, `ln`, `sin` and `cos` are approximate, so a body that uses one is refused.
//!
//! - **Of a wave that runs once.** Its one lane does one thing after the other, and no wave beside it touches what it
//!   does more with than update.
//!
//! The old value of an atomic, and a load of what the same wave changes, are seen by none of these, so every value,
//! branch, index and fault of an item is a function of the state before the group.
//!
//! ## Same result
//!
//! A trap names the first word of its item. Where items of several words are swept, some may have it in common, and which
//! of these is the lowest is open; so is the item that was the first to insert a tuple, and how many tuples a full
//! relation would need. Then runs agree in everything but what such a trap tells.
//!
//! `d[i].fetch_min(x)` whose result guards a push sees an order: pushes, and rounds, may differ. But the fixpoint
//! around it may be the least one of monotone updates, which every order reaches: the `monotone` module has that
//! argument. If it holds of each fixpoint with waves that break the rules above, then what such a fixpoint leaves (its
//! frontiers empty, its flags down) is a function of what it began with, and the induction goes on, for all but the
//! rounds inside. Either every run traps there or none, but for want of rounds or of room in a frontier; which of
//! several traps is the first one to be met shows an order.
//!
//! ## Open
//!
//! Everything else, with the first breach of each wave, and for a fixpoint also what stands against the second
//! argument; even where a cleverer argument exists.

use crate::compile::ir::{
    AtomicOp, BinaryOp, Body, CsrQuery, Effect, Expr, LocalId, Stmt, UnaryOp,
};
use crate::compile::monotone::{self, may_fault};
use crate::compile::unordered;
use crate::vir0::isa;
use crate::vir0::module::{
    Agreement, Buffer, BufferId, Domain, Extent, FixpointId, FrontierId, Least, Mode, Program,
    QueueId, Reason, ReduceOp, ReductionId, Resource, Role, SiteId, Uniform, UpdateOp, Wave,
    WaveId, Why,
};
use crate::vir0::scalar::Scalar;
use std::collections::BTreeMap;

/// How a body uses one resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Use {
    /// What.
    pub resource: Resource,
    /// How.
    pub mode: Mode,
    /// First access of the strongest kind, where it has a site: a reduction and a length have none.
    pub site: Option<SiteId>,
}

/// The resources a body uses, one entry each, sorted by resource. The wave's domain is not part of the body.
///
/// ```
/// use vyre_core::compile::effects::uses;
/// use vyre_core::compile::ir::{AtomicOp, Body, Expr, ItemLocals, Stmt};
/// use vyre_core::vir0::module::{BufferId, Mode, SiteId, UpdateOp};
/// use vyre_core::vir0::scalar::Scalar;
/// // counts[3].fetch_add(1);
/// let add = Expr::Atomic {
///     op: AtomicOp::Add,
///     buffer: BufferId(0),
///     scalar: Scalar::U32,
///     index: Box::new(Expr::Literal(Scalar::U32, 3)),
///     value: Box::new(Expr::Literal(Scalar::U32, 1)),
///     site: SiteId(7),
/// };
/// let body = Body {
///     name: "count".into(),
///     locals: vec![],
///     arrays: vec![],
///     item: ItemLocals::default(),
///     block: vec![Stmt::Eval(add)],
///     value: None,
/// };
/// let used = uses(&body);
/// assert_eq!((used[0].mode, used[0].site), (Mode::Update(UpdateOp::Add), Some(SiteId(7))));
/// ```
pub fn uses(body: &Body) -> Vec<Use> {
    let accesses = Accesses::of(body);
    accesses
        .list
        .iter()
        .map(|(&resource, list)| {
            let mode = mode(list);
            let strongest = list
                .iter()
                .find(|a| match mode {
                    Mode::Read => a.kind == Kind::Load,
                    Mode::Update(_) => a.kind != Kind::Len,
                    Mode::Write => !matches!(a.kind, Kind::Load | Kind::Len),
                })
                .or(list.first());
            Use {
                resource,
                mode,
                site: strongest.and_then(|a| a.site),
            }
        })
        .collect()
}

fn mode(list: &[Access]) -> Mode {
    let mut mode: Option<Mode> = None;
    for access in list {
        let one = match access.kind {
            Kind::Len => continue,
            Kind::Load => Mode::Read,
            Kind::Update { op, .. } => Mode::Update(op),
            Kind::Store | Kind::AtomicStore | Kind::Exchange | Kind::Observed => Mode::Write,
        };
        mode = Some(match mode {
            None => one,
            Some(before) if before == one => one,
            Some(_) => Mode::Write,
        });
    }
    mode.unwrap_or(Mode::Read)
}

/// How far runs of the pass agree; see the module's documentation for the argument.
///
/// `bodies` are those of the waves, `conditions` those of the fixpoints. Of the program, everything but kernels is
/// consulted; its unordered waves must not conflict.
pub fn agreement(program: &Program, bodies: &[&Body], conditions: &[&Body]) -> Agreement {
    let mut reasons = Vec::new();
    // Where several items could be the one that a trap names, it is any of them.
    let mut names_any = false;
    // Fixpoints with waves that see an order, and the first of these.
    let mut seen: BTreeMap<FixpointId, Reason> = BTreeMap::new();
    for (wave, body) in (0..).map(WaveId).zip(bodies) {
        let declared = program.waves.get(wave.index());
        let accesses = Accesses::of(body);
        let whole = if accesses.approximates {
            Some(Why::Approximates)
        } else if accesses.unordered.is_some() {
            Some(Why::TupleOrder)
        } else {
            match order_of_items(program, declared, body) {
                Order::Unseen => None,
                Order::Named => {
                    names_any = true;
                    None
                }
                Order::Seen => Some(Why::Positions),
            }
        };
        names_any |= accesses.names_any;
        if let Some(why) = whole {
            reasons.push(Reason {
                wave,
                resource: None,
                site: accesses.unordered,
                why,
            });
            continue;
        }
        let once = declared.is_some_and(|wave| wave.domain.owns_indices(program));
        let is_alone = declared.is_some_and(|wave| wave.domain == Domain::Once);
        let first = accesses.list.iter().find_map(|(&resource, list)| {
            let (why, site) = match resource {
                Resource::Topology(_) => None,
                Resource::Buffer(id) if once && is_owned(program, id, list) => None,
                // One lane does one thing after the other, and unordered waves only update what it only updates.
                Resource::Buffer(_) if is_alone && mode(list) == Mode::Write && !accesses.walks => {
                    None
                }
                Resource::Buffer(id) => order_of_buffer(program, &accesses, id, list),
                Resource::Reduction(id) => order_of_reduction(program, id, list),
                Resource::Queue(id) => order_of_queue(program, id, list),
            }?;
            Some(Reason {
                wave,
                resource: Some(resource),
                site,
                why,
            })
        });
        match (first, declared.and_then(|w| w.fixpoint)) {
            (None, _) => {}
            (Some(reason), None) => reasons.push(reason),
            (Some(reason), Some(fixpoint)) => {
                seen.entry(fixpoint).or_insert(reason);
            }
        }
    }
    // Conditions are evaluated alike everywhere, but for what backends round differently.
    for (fixpoint, _) in (0..)
        .map(FixpointId)
        .zip(conditions)
        .filter(|(_, body)| Accesses::of(body).approximates)
    {
        let inside = |w: &&Wave| w.fixpoint == Some(fixpoint);
        if let Some(at) = program.waves.iter().position(|w| inside(&w)) {
            reasons.push(Reason {
                wave: WaveId(at as u16),
                resource: None,
                site: None,
                why: Why::Approximates,
            });
        }
    }
    let mut least = Vec::new();
    for (fixpoint, reason) in seen {
        let Some(until) = conditions.get(fixpoint.index()) else {
            reasons.push(reason);
            continue;
        };
        match monotone::least(program, fixpoint, bodies, until) {
            Ok(provisos) => least.push(Least { fixpoint, provisos }),
            Err(obstacle) => {
                reasons.push(reason);
                reasons.push(obstacle);
            }
        }
    }
    if !reasons.is_empty() {
        Agreement::Open(reasons)
    } else if names_any || !least.is_empty() {
        Agreement::Result(least)
    } else {
        Agreement::Bits
    }
}

/// What a wave over a list, or over items that are not nodes, shows of their order.
enum Order {
    Unseen,
    /// Only by which item a trap names.
    Named,
    /// By their positions.
    Seen,
}

/// A trap names the first word of an item. Items of several words may have it in common, and what they do may differ.
fn order_of_items(program: &Program, wave: Option<&Wave>, body: &Body) -> Order {
    match wave.map_or(&[][..], |w| w.domain.fields(program)) {
        [] => Order::Unseen,
        _ if body.item.index.is_some() => Order::Seen,
        [field] if field.rows() == 1 => Order::Unseen,
        [_, ..] => Order::Named,
    }
}

/// Whether a buffer is written, and each item accesses what is its own alone. What is only updated, unordered waves may
/// share.
fn is_owned(program: &Program, id: BufferId, list: &[Access]) -> bool {
    let touched = || list.iter().filter(|a| a.kind != Kind::Len);
    let own = match program.buffers.get(id.index()).map(|b| b.extent) {
        Some(Extent::NodeBits(_)) => Own::Row,
        Some(_) if is_plain_row(program, list) => return true,
        Some(_) => Own::Element,
        None => return false,
    };
    mode(list) == Mode::Write && touched().all(|a| a.own == own)
}

/// Whether it is the item's own row of a buffer: an access that looks like one to a row is no other where it is a plain
/// store, or where there is one.
fn is_plain_row(program: &Program, list: &[Access]) -> bool {
    let mut touched = list.iter().filter(|a| a.kind != Kind::Len);
    let is_row = |a: &Access| match a.own {
        Own::Row => true,
        Own::RowFrom(offsets) => {
            let offsets = program.buffers.get(offsets.index());
            offsets.is_some_and(|b| b.is_offsets() && b.role == Role::Topology)
        }
        Own::No | Own::Element => false,
    };
    list.iter().any(|a| a.kind == Kind::Store)
        && touched.all(|a| is_row(a) && matches!(a.kind, Kind::Load | Kind::Store))
}

/// Which rule a body breaks with a resource, and where.
type Breach = (Why, Option<SiteId>);

/// What is read back is in the order of the appends; of a relation, it is a set.
fn order_of_queue(program: &Program, id: QueueId, list: &[Access]) -> Option<Breach> {
    let is_set = matches!(id, QueueId::List(l) if program.table_of(l).is_some());
    if !id.is_ordered() || is_set {
        return None;
    }
    let is_output = program.queue(id).is_none_or(|q| q.output);
    let appends = |a: &&Access| !matches!(a.kind, Kind::Load | Kind::Len);
    let site = list.iter().find(appends).and_then(|a| a.site);
    match mode(list) {
        Mode::Read => None,
        Mode::Update(_) => is_output.then_some((Why::ListOrder, site)),
        Mode::Write => Some((Why::Slot, site)),
    }
}

fn order_of_reduction(program: &Program, id: ReductionId, list: &[Access]) -> Option<Breach> {
    let rounds = program
        .reductions
        .get(id.index())
        .is_none_or(|r| r.op == ReduceOp::Sum && matches!(r.scalar, Scalar::F32 | Scalar::F64));
    match mode(list) {
        Mode::Read => None,
        Mode::Update(_) => rounds.then_some((Why::FloatSum, None)),
        Mode::Write => Some((Why::ReadsChanged, None)),
    }
}

fn order_of_buffer(
    program: &Program,
    accesses: &Accesses<'_>,
    id: BufferId,
    list: &[Access],
) -> Option<Breach> {
    match mode(list) {
        Mode::Read => return None,
        Mode::Update(_) => {
            let rounds = |a: &&Access| matches!(a.kind, Kind::Update { rounds: true, .. });
            let sum = list.iter().find(rounds)?;
            return Some((Why::FloatSum, sum.site));
        }
        Mode::Write => {}
    }
    let touched = || list.iter().filter(|a| a.kind != Kind::Len);
    if program
        .buffers
        .get(id.index())
        .is_some_and(Buffer::is_table)
    {
        let claimed = accesses.claims.iter().any(|claim| claim.buffer == id);
        if claimed && touched().count() == 1 {
            return None;
        }
        return Some(match touched().find(|a| a.kind == Kind::Load) {
            Some(asked) => (Why::ReadsChanged, asked.site),
            None => (Why::Inserts, touched().next().and_then(|a| a.site)),
        });
    }
    if touched().all(|a| matches!(a.kind, Kind::Load | Kind::Store)) {
        if is_plain_row(program, list) {
            return None;
        }
        let other = touched().find(|a| a.own != Own::Element)?;
        let why = match other.kind {
            Kind::Store => Why::Stores,
            _ => Why::ReadsChanged,
        };
        return Some((why, other.site));
    }
    if touched().all(|a| a.kind == Kind::AtomicStore) {
        let mut values = accesses.stored.iter().filter(|(b, _)| *b == id);
        let first = values.next().and_then(|(_, value)| *value);
        if first.is_some() && values.all(|(_, value)| *value == first) {
            return None;
        }
    }
    let mut only = touched().map(|a| a.kind);
    if let (Some(Kind::Exchange | Kind::Observed), None) = (only.next(), only.next())
        && accesses.claims.iter().any(|claim| {
            let extent = |b: BufferId| program.buffers.get(b.index()).map(|b| b.extent);
            let per_node = extent(id) == Some(Extent::Nodes);
            let used = |b: &BufferId| accesses.list.get(&Resource::Buffer(*b));
            let is_read = |b: &BufferId| used(b).is_some_and(|list| mode(list) == Mode::Read);
            claim.buffer == id
                && (per_node || !claim.per_node)
                && (claim.others.iter().chain(&claim.reads)).all(|b| extent(*b) == extent(id))
                && claim.reads.iter().all(is_read)
        })
    {
        return None;
    }
    // A count that is none says what of it is not.
    if let Some(&(why, site)) = accesses.near.get(&id) {
        return Some((why, Some(site)));
    }
    if accesses.claims.iter().any(|claim| claim.buffer == id)
        && touched().any(|a| a.kind == Kind::Observed)
    {
        return Some(match touched().nth(1) {
            Some(second) => (Why::SecondSite, second.site),
            None => (Why::Shown, touched().next().and_then(|a| a.site)),
        });
    }
    // The plainest thing to say of it.
    for (kind, why) in [
        (Kind::Observed, Why::OldValue),
        (Kind::Load, Why::ReadsChanged),
        (Kind::Exchange, Why::Claim),
        (Kind::AtomicStore, Why::Stores),
        (Kind::Store, Why::Stores),
    ] {
        if let Some(access) = touched().find(|a| a.kind == kind) {
            return Some((why, access.site));
        }
    }
    Some((Why::Mixed, touched().next().and_then(|a| a.site)))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// The length only.
    Len,
    /// Plain or atomic load, a CSR query, the value of a reduction.
    Load,
    /// Plain store.
    Store,
    AtomicStore,
    /// An atomic whose old value is not read; a push; a reduction. `rounds`: a float sum.
    Update {
        op: UpdateOp,
        rounds: bool,
    },
    Exchange,
    /// An atomic that changes the buffer and whose old value is read.
    Observed,
}

#[derive(Clone, Copy, Debug)]
struct Access {
    kind: Kind,
    site: Option<SiteId>,
    own: Own,
}

/// What an index is to the work item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Own {
    /// Nothing that is known.
    No,
    /// Its own.
    Element,
    /// Of rows of bits a word of its own row, of a buffer an element of its own row.
    Row,
    /// The same where this buffer says where the row begins.
    RowFrom(BufferId),
}

/// An atomic with uniform operands whose outcome guards nothing but functions of its index.
struct Claim {
    buffer: BufferId,
    /// Its index has to be a node.
    per_node: bool,
    /// Other buffers whose element at that index it changes.
    others: Vec<BufferId>,
    /// And whose element there it reads.
    reads: Vec<BufferId>,
}

/// A claim that is being looked at.
struct Guard<'b> {
    index: &'b Expr,
    atomic: &'b Expr,
    /// The local that holds the atomic's value.
    old: Option<LocalId>,
    /// Under an inner claim: how often that succeeds is known, but not with which of the old values.
    is_past: bool,
    per_node: bool,
    others: Vec<BufferId>,
    reads: Vec<BufferId>,
    /// Buffers of which the outcome guards a claim.
    inner: Vec<BufferId>,
    /// The first guarded statement that shows more than that the claim succeeded.
    shows: Option<SiteId>,
}

/// Every access of a body, in evaluation order, by resource.
pub(super) struct Accesses<'b> {
    list: BTreeMap<Resource, Vec<Access>>,
    claims: Vec<Claim>,
    /// What keeps a count from being one.
    near: BTreeMap<BufferId, (Why, SiteId)>,
    /// Atomic stores: their value if it is uniform.
    stored: Vec<(BufferId, Option<&'b Expr>)>,
    reads: Vec<u32>,
    defs: Vec<u32>,
    /// The one value of each local that is assigned once.
    values: Vec<Option<&'b Expr>>,
    own: Option<LocalId>,
    /// The body uses an operation that backends may round differently.
    approximates: bool,
    /// A loop over the tuples of a key leaves something behind that depends on their order.
    unordered: Option<SiteId>,
    /// There is such a loop.
    walks: bool,
    /// It inserts tuples. What is behind an insert may trap, in any of the items that insert the tuple; and how many
    /// tuples a full relation would need is found up to where lanes hear that it is full.
    names_any: bool,
}

impl<'b> Accesses<'b> {
    pub(super) fn of(body: &'b Body) -> Accesses<'b> {
        let n = body.locals.len();
        let mut accesses = Accesses {
            list: BTreeMap::new(),
            claims: Vec::new(),
            near: BTreeMap::new(),
            stored: Vec::new(),
            reads: vec![0; n],
            defs: vec![0; n],
            values: vec![None; n],
            own: body.item.index,
            approximates: false,
            unordered: None,
            walks: false,
            names_any: false,
        };
        let item = [body.item.index, body.item.src, body.item.dst];
        for local in item.into_iter().chain(body.item.fields) {
            if let Some(defs) = local.and_then(|l| accesses.defs.get_mut(l.0 as usize)) {
                *defs += 1;
            }
        }
        accesses.count(&body.block);
        if let Some(value) = &body.value {
            accesses.count_expr(value);
        }
        accesses.block(&body.block);
        if let Some(value) = &body.value {
            accesses.expr(value, true);
        }
        accesses
    }

    fn count(&mut self, block: &'b [Stmt]) {
        for stmt in block {
            if let Stmt::Assign(l, e) = stmt
                && let Some(defs) = self.defs.get_mut(l.0 as usize)
            {
                *defs += 1;
                self.values[l.0 as usize] = (*defs == 1).then_some(e);
            }
            stmt.operands().for_each(|e| self.count_expr(e));
            stmt.blocks().for_each(|b| self.count(b));
        }
    }

    fn count_expr(&mut self, e: &'b Expr) {
        self.approximates |= matches!(
            e,
            Expr::Unary(UnaryOp::Exp | UnaryOp::Ln | UnaryOp::Sin | UnaryOp::Cos, ..)
        );
        if let Expr::Local(l) = e
            && let Some(reads) = self.reads.get_mut(l.0 as usize)
        {
            *reads += 1;
        }
        e.operands().for_each(|x| self.count_expr(x));
    }

    /// Follows locals that are assigned once to what they name.
    pub(super) fn named(&self, mut e: &'b Expr) -> &'b Expr {
        // Names do not form a cycle in a valid body; in an invalid one, stop somewhere.
        for _ in 0..self.values.len() {
            match e {
                Expr::Local(l) => match self.values.get(l.0 as usize) {
                    Some(Some(value)) => e = value,
                    _ => break,
                },
                _ => break,
            }
        }
        e
    }

    /// The same on every lane of a sweep.
    pub(super) fn is_uniform(&self, e: &'b Expr) -> bool {
        match self.named(e) {
            Expr::Literal(..) | Expr::Uniform(..) | Expr::Len(_) => true,
            Expr::Local(_)
            | Expr::ArrayLoad { .. }
            | Expr::Load { .. }
            | Expr::AtomicLoad { .. }
            | Expr::Atomic { .. }
            | Expr::CompareExchange { .. }
            | Expr::Append { .. }
            | Expr::Insert { .. }
            | Expr::Contains { .. }
            | Expr::Entry { .. }
            | Expr::Csr { .. } => false,
            e @ (Expr::Unary(..)
            | Expr::Binary { .. }
            | Expr::Compare { .. }
            | Expr::MulAdd { .. }
            | Expr::Select { .. }
            | Expr::Cast { .. }
            | Expr::Bitcast { .. }) => e.operands().all(|x| self.is_uniform(x)),
        }
    }

    /// Whether two expressions, evaluated one right after the other, have one value. A name may be older than that;
    /// then nothing in what it stands for may be assigned twice.
    pub(super) fn same(&self, a: &'b Expr, b: &'b Expr) -> bool {
        let named = self.named(a);
        a == b || named == self.named(b) && self.is_stable(named)
    }

    pub(super) fn is_stable(&self, e: &'b Expr) -> bool {
        let stable = match e {
            Expr::Local(l) => self.defs.get(l.0 as usize) == Some(&1),
            Expr::ArrayLoad { .. } => false,
            _ => matches!(e.effect(), Effect::No | Effect::Ask(_)),
        };
        stable && e.operands().all(|x| self.is_stable(x))
    }

    pub(super) fn is_item(&self, index: &'b Expr) -> bool {
        self.own.is_some_and(|own| {
            self.named(index) == &Expr::Local(own) && self.defs.get(own.0 as usize) == Some(&1)
        })
    }

    /// Whether an expression is a function of an index while the wave runs: of uniforms, and of elements there that it
    /// only reads.
    pub(super) fn is_bound(&self, e: &'b Expr, index: &'b Expr) -> bool {
        let mut guard = Guard {
            index,
            atomic: index,
            old: None,
            is_past: false,
            per_node: false,
            others: Vec::new(),
            reads: Vec::new(),
            inner: Vec::new(),
            shows: None,
        };
        let is_read = |b: &BufferId| {
            let list = self.list.get(&Resource::Buffer(*b));
            list.is_some_and(|list| mode(list) == Mode::Read)
        };
        self.is_of_index(e, &mut guard, true) && guard.reads.iter().all(is_read)
    }

    /// Whether there is one access to a buffer, its length aside.
    pub(super) fn has_one(&self, buffer: BufferId) -> bool {
        let list = self.list.get(&Resource::Buffer(buffer));
        list.is_some_and(|l| l.iter().filter(|a| a.kind != Kind::Len).count() == 1)
    }

    fn own(&self, index: &'b Expr) -> Own {
        if self.is_item(index) {
            return Own::Element;
        }
        // Where the row begins, and which element of it.
        let Expr::Binary {
            op: BinaryOp::Add,
            left,
            ..
        } = self.named(index)
        else {
            return Own::No;
        };
        match self.named(left) {
            Expr::Binary {
                op: BinaryOp::Mul,
                left: node,
                ..
            } if self.is_item(node) => Own::Row,
            _ => self.row_from(left).map_or(Own::No, Own::RowFrom),
        }
    }

    /// What says where a row begins, of which this is a part: places in it are added to that.
    fn row_from(&self, begin: &'b Expr) -> Option<BufferId> {
        let mut begin = self.named(begin);
        // As for names, an invalid body may have a cycle.
        for _ in 0..=self.values.len() {
            match begin {
                Expr::Binary {
                    op: BinaryOp::Add,
                    left,
                    ..
                } => begin = self.named(left),
                Expr::Load { buffer, index, .. } if self.is_item(index) => return Some(*buffer),
                _ => return None,
            }
        }
        None
    }

    fn add(&mut self, resource: Resource, kind: Kind, site: Option<SiteId>, own: Own) {
        let access = Access { kind, site, own };
        self.list.entry(resource).or_default().push(access);
    }

    fn block(&mut self, block: &'b [Stmt]) {
        let mut stmts = block;
        while let [stmt, rest @ ..] = stmts {
            stmts = rest;
            if let Some(taken) = self.claim(stmt, rest) {
                stmts = &rest[taken..];
                continue;
            }
            self.stmt(stmt);
        }
    }

    fn stmt(&mut self, stmt: &'b Stmt) {
        let is_read = match stmt {
            Stmt::Assign(local, _) => self.reads.get(local.0 as usize).is_none_or(|&n| n > 0),
            Stmt::Eval(_) => false,
            _ => true,
        };
        stmt.operands().for_each(|e| self.expr(e, is_read));
        if let Stmt::AtomicStore { buffer, value, .. } = stmt {
            let value = self.is_uniform(value).then(|| self.named(value));
            self.stored.push((*buffer, value));
        }
        match stmt.effect() {
            Effect::Element(e) => {
                let kind = match e.how == isa::Effect::Store {
                    true => Kind::Store,
                    false => Kind::AtomicStore,
                };
                let own = self.own(e.index);
                self.add(Resource::Buffer(e.buffer), kind, Some(e.site), own);
            }
            Effect::Push(frontier, _, site) => self.push(frontier, site),
            Effect::File(cells, site) => {
                let op = UpdateOp::Insert;
                let kind = Kind::Update { op, rounds: false };
                self.add(Resource::Buffer(cells), kind, Some(site), Own::No);
            }
            Effect::Reduce(reduction) => self.reduce(reduction),
            Effect::No | Effect::Local(_) | Effect::Array(_) | Effect::Jump => {}
            Effect::Ask(_) | Effect::Append(..) | Effect::Insert(..) | Effect::Contains(..) => {
                unreachable!("only expressions do that")
            }
        }
        if let Stmt::Loop { body, .. } = stmt
            && let Some(site) = unordered::over(body)
        {
            self.walks = true;
            // Which turn traps first is open.
            self.names_any = true;
            let outside = |local: LocalId| {
                let reads = self.reads.get(local.0 as usize).copied();
                reads.is_none_or(|all| all > reads_of(body, local))
            };
            if unordered::shows(body, &outside, &|e| self.is_uniform(e)) {
                self.unordered = self.unordered.or(Some(site));
            }
        }
        stmt.blocks().for_each(|b| self.block(b));
    }

    fn push(&mut self, frontier: FrontierId, site: SiteId) {
        let op = UpdateOp::Push;
        let kind = Kind::Update { op, rounds: false };
        self.add(frontier.into(), kind, Some(site), Own::No);
    }

    fn reduce(&mut self, reduction: ReductionId) {
        let op = UpdateOp::Reduce;
        // Whether it rounds is the reduction's own business.
        let kind = Kind::Update { op, rounds: false };
        self.add(Resource::Reduction(reduction), kind, None, Own::No);
    }

    /// Recognises `if d[i].compare_exchange(u1, u2) { .. }` and `if d[i].fetch_sub(u1) == u2 { .. }`, also through a
    /// local, and a bare exchange; returns how many of the statements behind it belong to it.
    fn claim(&mut self, stmt: &'b Stmt, rest: &'b [Stmt]) -> Option<usize> {
        let mut taken = 0;
        let (condition, held, guarded): (&Expr, Option<(LocalId, &Expr)>, &[Stmt]) = match stmt {
            Stmt::If {
                cond,
                then,
                otherwise,
            } if otherwise.is_empty() => (cond, None, then),
            Stmt::Eval(e) => (e, None, &[]),
            Stmt::Assign(t, e) if self.reads.get(t.0 as usize) == Some(&0) => (e, None, &[]),
            Stmt::Assign(t, e) => {
                let (cond, then, before) = self.waited_for(*t, rest)?;
                taken = before + 1;
                (cond, Some((*t, e)), then)
            }
            _ => return None,
        };
        let inserts = held.map_or(condition, |(_, e)| e);
        if let Expr::Insert {
            table,
            fields,
            site,
            ..
        } = inserts
        {
            let asked = held.is_none_or(|(local, _)| *condition == Expr::Local(local));
            if !asked || !self.is_of_tuple(guarded, guarded, fields) {
                self.near.entry(*table).or_insert((Why::Inserts, *site));
                return None;
            }
            self.claims.push(Claim {
                buffer: *table,
                per_node: false,
                others: Vec::new(),
                reads: Vec::new(),
            });
            return None;
        }
        let (buffer, at) = self.outcome(condition, held, guarded)?;
        let guard = match at {
            Ok(guard) => guard,
            Err(near) => {
                self.near.entry(buffer).or_insert(near);
                return None;
            }
        };
        if let Some((_, e)) = held {
            self.expr(e, true);
        }
        for stmt in &rest[..taken.saturating_sub(1)] {
            self.stmt(stmt);
        }
        self.expr(condition, true);
        for stmt in guarded {
            self.stmt(stmt);
        }
        for buffer in guard.inner.into_iter().chain([buffer]) {
            self.claims.push(Claim {
                buffer,
                per_node: guard.per_node,
                others: guard.others.clone(),
                reads: guard.reads.clone(),
            });
        }
        Some(taken)
    }

    /// The condition that reads a local which was just assigned, what it guards, and how many statements stand between,
    /// which only name other values.
    fn waited_for(
        &self,
        local: LocalId,
        rest: &'b [Stmt],
    ) -> Option<(&'b Expr, &'b [Stmt], usize)> {
        // Nothing that is assigned twice, or the index may be another one behind it.
        let once = |l: &LocalId| self.defs.get(l.0 as usize) == Some(&1);
        let names = |s: &&Stmt| match s {
            Stmt::Assign(l, e) => once(l) && only_atomic(e) == Ok(None),
            _ => false,
        };
        let before = rest.iter().take_while(names).count();
        let Some(Stmt::If {
            cond,
            then,
            otherwise,
        }) = rest.get(before)
        else {
            return None;
        };
        let at = local.0 as usize;
        let read = reads_in(cond, local) + reads_of(then, local);
        let only_there = self.reads.get(at) == Some(&read) && self.defs.get(at) == Some(&1);
        (only_there && otherwise.is_empty()).then_some((cond, then, before))
    }

    /// The element whose atomic decides a condition, and what that guards; or why the order of the attempts has a say in
    /// it. `held`: the local that the atomic's value waits in.
    #[allow(
        clippy::type_complexity,
        reason = "two answers, of which the second may be a refusal"
    )]
    fn outcome(
        &self,
        condition: &'b Expr,
        held: Option<(LocalId, &'b Expr)>,
        guarded: &'b [Stmt],
    ) -> Option<(BufferId, Result<Guard<'b>, (Why, SiteId)>)> {
        let place = held.map_or(condition, |(_, e)| e);
        let atomic = only_atomic(place).ok()??;
        if held.is_some() && only_atomic(condition) != Ok(None) {
            return None;
        }
        let guard = |index| Guard {
            index,
            atomic,
            old: held.map(|(local, _)| local),
            is_past: false,
            per_node: false,
            others: Vec::new(),
            reads: Vec::new(),
            inner: Vec::new(),
            shows: None,
        };
        match atomic {
            Expr::CompareExchange {
                buffer,
                index,
                expected,
                new,
                ..
            } => {
                let mut guard = guard(&**index);
                if !self.is_uniform(expected) || !self.is_uniform(new) {
                    return None;
                }
                match self.decides(place, condition, guarded, &mut guard) {
                    true => Some((*buffer, Ok(guard))),
                    false => Some((*buffer, Err((Why::Claim, guard.shows?)))),
                }
            }
            Expr::Atomic {
                op,
                buffer,
                scalar,
                index,
                value,
                site,
            } => {
                let counts = matches!(op, AtomicOp::Add | AtomicOp::Sub);
                let rounds = counts && matches!(scalar, Scalar::F32 | Scalar::F64);
                // A bare update does not ask for the old value.
                if rounds || std::ptr::eq(atomic, condition) {
                    return None;
                }
                let near = |why| counts.then_some((*buffer, Err((why, *site))));
                if !self.is_uniform(value) {
                    return near(Why::Amount);
                }
                let mut guard = guard(&**index);
                match self.decides(place, condition, guarded, &mut guard) {
                    true => Some((*buffer, Ok(guard))),
                    false => near(Why::Shown),
                }
            }
            _ => None,
        }
    }

    /// Whether a condition and what it guards are functions of the atomic's old value and its index.
    fn decides(
        &self,
        place: &'b Expr,
        condition: &'b Expr,
        guarded: &'b [Stmt],
        guard: &mut Guard<'b>,
    ) -> bool {
        self.is_of_index(place, guard, true)
            && self.is_of_index(condition, guard, true)
            && self.is_guarded(guarded, guarded, guard)
    }

    /// Whether an expression is a function of a claim's index and its old value, evaluated next to it: of uniforms, and
    /// of elements at that index. Where not every attempt evaluates it, it must not trap, or the trap would name an
    /// arbitrary item.
    fn is_of_index(&self, e: &'b Expr, guard: &mut Guard<'b>, everywhere: bool) -> bool {
        self.is_of_index_at(e, guard, everywhere, false)
    }

    /// `is_older`: what a name stands for, which may have been evaluated long before the claim. A local that is assigned
    /// twice, or an element, may have been another one then.
    fn is_of_index_at(
        &self,
        e: &'b Expr,
        guard: &mut Guard<'b>,
        everywhere: bool,
        is_older: bool,
    ) -> bool {
        if std::ptr::eq(e, guard.atomic) || matches!(e, Expr::Local(l) if guard.old == Some(*l)) {
            return !guard.is_past;
        }
        if self.is_uniform(e) {
            return everywhere || !divides(e) && !divides(self.named(e));
        }
        let named = self.named(e);
        if self.same(e, guard.index) && (!is_older || self.is_stable(named)) {
            return true;
        }
        let is_older = is_older || !std::ptr::eq(named, e);
        let at_index = |of: &'b Expr| {
            self.same(of, guard.index) && (!is_older || self.is_stable(self.named(of)))
        };
        match named {
            Expr::Load { buffer, index, .. } | Expr::AtomicLoad { buffer, index, .. } => {
                let is_at = at_index(index);
                guard.reads.push(*buffer);
                is_at
            }
            Expr::Csr {
                query: CsrQuery::Begin | CsrQuery::End,
                of,
                ..
            } => {
                let is_at = at_index(of);
                guard.per_node = true;
                is_at
            }
            Expr::Unary(..)
            | Expr::Binary { .. }
            | Expr::Compare { .. }
            | Expr::MulAdd { .. }
            | Expr::Select { .. }
            | Expr::Cast { .. }
            | Expr::Bitcast { .. } => {
                let mut operands = named.operands();
                !divides_here(named)
                    && operands.all(|x| self.is_of_index_at(x, guard, everywhere, is_older))
            }
            Expr::Literal(..)
            | Expr::Uniform(..)
            | Expr::Len(_)
            | Expr::Local(_)
            | Expr::ArrayLoad { .. }
            | Expr::Csr { .. }
            | Expr::Atomic { .. }
            | Expr::CompareExchange { .. }
            | Expr::Append { .. }
            | Expr::Insert { .. }
            | Expr::Contains { .. }
            | Expr::Entry { .. } => false,
        }
    }

    /// Whether it is a claim at the same index, of another buffer. How often that is tried there is known, so how often
    /// it succeeds is, too.
    fn is_inner_claim(&self, cond: &'b Expr, guard: &mut Guard<'b>) -> bool {
        let Expr::CompareExchange {
            buffer,
            index,
            expected,
            new,
            ..
        } = cond
        else {
            return false;
        };
        let known = [&**expected, &**new]
            .into_iter()
            .all(|e| self.is_uniform(e) && self.is_of_index(e, guard, false));
        guard.inner.push(*buffer);
        guard.others.push(*buffer);
        known && self.same(index, guard.index)
    }

    /// Whether statements do the same whichever item's attempt has succeeded at the index.
    fn is_guarded(&self, stmts: &'b [Stmt], all: &'b [Stmt], guard: &mut Guard<'b>) -> bool {
        let shows = stmts.iter().find(|s| !self.is_alike(s, all, guard));
        if let Some(stmt) = shows
            && guard.shows.is_none()
        {
            guard.shows = match stmt.effect() {
                Effect::Element(element) => Some(element.site),
                Effect::Push(_, _, site) | Effect::Append(_, site) | Effect::Insert(_, site) => {
                    Some(site)
                }
                _ => None,
            };
        }
        shows.is_none()
    }

    /// Whether statements do the same whichever item was the first to insert this tuple.
    fn is_of_tuple(&self, stmts: &'b [Stmt], all: &'b [Stmt], tuple: &'b [Expr]) -> bool {
        let known = |e: &'b Expr| self.is_of_fields(e, tuple);
        stmts.iter().all(|stmt| match stmt {
            Stmt::Push { value, .. } | Stmt::Reduce { value, .. } => known(value),
            Stmt::PushItem { fields, .. } => fields.iter().all(known),
            Stmt::AtomicStore { index, value, .. } => known(index) && known(value),
            Stmt::Eval(Expr::Atomic {
                index: a, value: b, ..
            }) => known(a) && known(b),
            Stmt::Eval(Expr::Append { fields, .. } | Expr::Insert { fields, .. }) => {
                fields.iter().all(known)
            }
            Stmt::CheckIndex { index, len, .. } => known(index) && known(len),
            Stmt::If {
                cond,
                then,
                otherwise,
            } => {
                known(cond)
                    && self.is_of_tuple(then, all, tuple)
                    && self.is_of_tuple(otherwise, all, tuple)
            }
            // A name for something in here.
            Stmt::Assign(local, e) => {
                let at = local.0 as usize;
                self.defs.get(at) == Some(&1)
                    && self.reads.get(at) == Some(&reads_of(all, *local))
                    && known(e)
            }
            // Of no other is it known.
            _ => false,
        })
    }

    /// Whether an expression is a function of a tuple and of uniforms.
    fn is_of_fields(&self, e: &'b Expr, tuple: &'b [Expr]) -> bool {
        if self.is_uniform(e) || tuple.iter().any(|field| self.same(e, field)) {
            return true;
        }
        match self.named(e) {
            Expr::Csr { of, .. } => self.is_of_fields(of, tuple),
            named @ (Expr::Unary(..)
            | Expr::Binary { .. }
            | Expr::Compare { .. }
            | Expr::MulAdd { .. }
            | Expr::Select { .. }
            | Expr::Cast { .. }
            | Expr::Bitcast { .. }) => named.operands().all(|x| self.is_of_fields(x, tuple)),
            _ => false,
        }
    }

    /// The same of one of them.
    fn is_alike(&self, stmt: &'b Stmt, all: &'b [Stmt], guard: &mut Guard<'b>) -> bool {
        match stmt {
            Stmt::Push { value, .. } => {
                guard.per_node = true;
                self.same(value, guard.index)
            }
            Stmt::Reduce { value, .. } => self.is_of_index(value, guard, false),
            Stmt::AtomicStore {
                buffer,
                index,
                value,
                ..
            } => {
                guard.others.push(*buffer);
                let known = self.is_uniform(value) && self.is_of_index(value, guard, false);
                known && self.same(index, guard.index)
            }
            Stmt::Eval(Expr::Atomic {
                buffer,
                index,
                value,
                ..
            }) => {
                guard.others.push(*buffer);
                self.same(index, guard.index) && self.is_of_index(value, guard, false)
            }
            Stmt::If {
                cond,
                then,
                otherwise,
            } => {
                let asks = match otherwise.as_slice() {
                    [] => self.is_inner_claim(cond, guard),
                    _ => false,
                };
                let known = asks || self.is_of_index(cond, guard, false);
                let was_past = guard.is_past;
                guard.is_past |= asks;
                let known = known && self.is_guarded(then, all, guard);
                guard.is_past = was_past;
                known && self.is_guarded(otherwise, all, guard)
            }
            // A name for something in here.
            Stmt::Assign(local, e) => {
                let at = local.0 as usize;
                self.defs.get(at) == Some(&1)
                    && self.reads.get(at) == Some(&reads_of(all, *local))
                    && self.is_of_index(e, guard, false)
            }
            // Of a buffer that is as long as the one that counts.
            Stmt::CheckIndex { index, len, .. } => match self.named(len) {
                Expr::Len(buffer) => {
                    guard.others.push(*buffer);
                    self.same(index, guard.index)
                }
                _ => false,
            },
            // Of no other is it known.
            _ => false,
        }
    }

    /// Notes the accesses of an expression, whose value is read or not.
    fn expr(&mut self, e: &'b Expr, is_read: bool) {
        e.operands().for_each(|x| self.expr(x, true));
        match e {
            Expr::Uniform(Uniform::Reduction(id), _) => {
                self.add(Resource::Reduction(*id), Kind::Load, None, Own::No);
            }
            Expr::Uniform(Uniform::Len(id), _) => {
                self.add(Resource::Queue(*id), Kind::Load, None, Own::No);
            }
            Expr::Uniform(Uniform::Began(id), _) => {
                self.add((*id).into(), Kind::Load, None, Own::No);
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
                let own = self.own(index);
                self.add(Resource::Buffer(*buffer), Kind::Load, Some(*site), own);
            }
            Expr::Atomic {
                op,
                buffer,
                scalar,
                index,
                site,
                ..
            } => {
                let own = self.own(index);
                let kind = match update_op(*op) {
                    Some(op) if !is_read => Kind::Update {
                        op,
                        rounds: op == UpdateOp::Add && matches!(scalar, Scalar::F32 | Scalar::F64),
                    },
                    _ => Kind::Observed,
                };
                self.add(Resource::Buffer(*buffer), kind, Some(*site), own);
            }
            Expr::CompareExchange {
                buffer,
                index,
                site,
                ..
            } => {
                let own = self.own(index);
                self.add(Resource::Buffer(*buffer), Kind::Exchange, Some(*site), own);
            }
            Expr::Append { list, site, .. } => {
                let op = UpdateOp::Append;
                let kind = if is_read {
                    Kind::Observed
                } else {
                    Kind::Update { op, rounds: false }
                };
                self.add((*list).into(), kind, Some(*site), Own::No);
            }
            Expr::Insert {
                list, table, site, ..
            } => {
                let update = |op| Kind::Update { op, rounds: false };
                self.names_any = true;
                // Slots are not seen.
                self.add(
                    (*list).into(),
                    update(UpdateOp::Append),
                    Some(*site),
                    Own::No,
                );
                let kind = match is_read {
                    true => Kind::Observed,
                    false => update(UpdateOp::Insert),
                };
                self.add(Resource::Buffer(*table), kind, Some(*site), Own::No);
            }
            Expr::Contains { table, site, .. }
            | Expr::Entry {
                index: table, site, ..
            } => {
                self.add(Resource::Buffer(*table), Kind::Load, Some(*site), Own::No);
            }
            Expr::Len(buffer) => self.add(Resource::Buffer(*buffer), Kind::Len, None, Own::No),
            Expr::Csr { topology, site, .. } => {
                let topology = Resource::Topology(*topology);
                self.add(topology, Kind::Load, Some(*site), Own::No);
            }
            Expr::Literal(..)
            | Expr::Uniform(
                Uniform::Scalar(_)
                | Uniform::Constant(_)
                | Uniform::Round
                | Uniform::OuterRound(_)
                | Uniform::Nodes,
                _,
            )
            | Expr::Local(_)
            | Expr::ArrayLoad { .. }
            | Expr::Unary(..)
            | Expr::Binary { .. }
            | Expr::Compare { .. }
            | Expr::MulAdd { .. }
            | Expr::Select { .. }
            | Expr::Cast { .. }
            | Expr::Bitcast { .. } => {}
        }
    }
}

/// The one atomic in an expression, if there is one; more than one, or an append, is an error.
fn only_atomic(e: &Expr) -> Result<Option<&Expr>, ()> {
    let mut found = match e.effect() {
        Effect::Element(element) if element.how.changes() => Ok(Some(e)),
        Effect::Append(..) | Effect::Insert(..) => Err(()),
        _ => Ok(None),
    };
    for operand in e.operands() {
        found = match (found, only_atomic(operand)) {
            (Ok(None), other) | (other, Ok(None)) => other,
            (Ok(Some(_)) | Err(()), Ok(Some(_)) | Err(())) => Err(()),
        };
    }
    found
}

/// How often an expression reads a local.
fn reads_in(e: &Expr, local: LocalId) -> u32 {
    let here = u32::from(matches!(e, Expr::Local(l) if *l == local));
    here + e.operands().map(|x| reads_in(x, local)).sum::<u32>()
}

fn reads_of(block: &[Stmt], local: LocalId) -> u32 {
    let of = |stmt: &Stmt| {
        let operands = stmt.operands().map(|e| reads_in(e, local));
        operands
            .chain(stmt.blocks().map(|b| reads_of(b, local)))
            .sum::<u32>()
    };
    block.iter().map(of).sum()
}

/// Whether it is a division that may trap.
fn divides_here(e: &Expr) -> bool {
    match e {
        Expr::Binary {
            op, scalar, right, ..
        } => may_fault(*op, *scalar, right),
        _ => false,
    }
}

fn divides(e: &Expr) -> bool {
    divides_here(e) || e.operands().any(divides)
}

/// The update that an atomic is when its old value is not read; an exchange is none.
fn update_op(op: AtomicOp) -> Option<UpdateOp> {
    match op {
        AtomicOp::Add | AtomicOp::Sub => Some(UpdateOp::Add),
        AtomicOp::Min => Some(UpdateOp::Min),
        AtomicOp::Max => Some(UpdateOp::Max),
        AtomicOp::And => Some(UpdateOp::And),
        AtomicOp::Or => Some(UpdateOp::Or),
        AtomicOp::Xor => Some(UpdateOp::Xor),
        AtomicOp::Swap => None,
    }
}
