//! Two programs as one: one schedule, one launch, as few barriers as their order leaves.
//!
//! Both work on the same topologies. Names are scoped (`bfs::dist`), ids of the second are shifted, and an output of
//! the first can be linked to an input of the second, which then reads it where it is. Each program keeps its own
//! order. Where they do not conflict, groups of both share the time between two barriers; which groups pair up is
//! chosen by dynamic programming over the two sequences, so that no pairing has fewer barriers.
//!
//! The result is an ordinary program for the backends that execute programs (the interpreters); the native backend
//! calls functions of one pass and runs the two one after the other.

use super::hazard::compatible;
use crate::vir0::isa::Word;
use crate::vir0::length::{Length, Term};
use crate::vir0::manifest::{Claim, Manifest};
use crate::vir0::module::{
    Agreement, BufferId, ConstantId, Domain, Extent, FixpointId, FrontierId, KernelId, Least,
    ListId, NodeRef, Program, Proviso, Queue, QueueId, Reason, ReductionId, Resource, Role,
    ScalarId, SiteId, Step, Uniform, WaveId, Width,
};
use crate::vir0::module::{Buffer, LengthId, PartsId};
use crate::vir0::results::open;
use thiserror::Error;

/// An output of the first program that is an input of the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Link {
    /// Of the first program.
    pub from: BufferId,
    /// Of the second.
    pub to: BufferId,
}

/// Why two programs cannot be one.
#[derive(Clone, Error, PartialEq, Eq)]
pub enum FuseError {
    /// They do not work on the same topologies.
    #[error(
        "`{first}` works on {first_graphs}, and `{second}` on {second_graphs}: fused passes work on the same graphs, \
         declared in the same order, of which a `reverse_of` is one"
    )]
    Topologies {
        /// Name of the first.
        first: String,
        /// Names of its graphs, in words.
        first_graphs: String,
        /// Name of the second.
        second: String,
        /// Names of its graphs, in words.
        second_graphs: String,
    },
    /// A link that joins what does not fit.
    #[error("`{from}` cannot be linked to `{to}`: {why}")]
    Link {
        /// Output of the first, behind its pass's name.
        from: String,
        /// Input of the second, behind its pass's name.
        to: String,
        /// What does not fit.
        why: String,
    },
    /// Two links lead to one input.
    #[error("`{to}` is linked twice: an input is one output")]
    Twice {
        /// Input of the second, behind its pass's name.
        to: String,
    },
    /// A table would have more than 65,536 entries.
    #[error("together they have too many {what}")]
    TooMany {
        /// Which table.
        what: &'static str,
    },
}

crate::debug_is_display!(FuseError);

/// Two programs as one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fused {
    /// Both.
    pub program: Program,
    /// Barriers in the schedule, ends of rounds not counted.
    pub barriers: usize,
    /// Barriers if one program ran after the other.
    pub barriers_before: usize,
    pub(crate) scalars: usize,
    pub(crate) reductions: usize,
    /// Where the second program's buffers are.
    pub(crate) buffers: Vec<BufferId>,
    pub(crate) first_buffers: usize,
    pub(crate) first_lists: usize,
    pub(crate) first_fixpoints: usize,
}

/// What the ids of the second program become.
struct Shift {
    buffers: Vec<BufferId>,
    frontiers: u16,
    lists: u16,
    reductions: u16,
    scalars: u16,
    lengths: u16,
    constants: u16,
    waves: u16,
    fixpoints: u16,
    sites: u16,
    parts: u16,
}

impl Shift {
    fn resource(&self, r: Resource) -> Resource {
        match r {
            Resource::Topology(t) => Resource::Topology(t),
            Resource::Buffer(b) => Resource::Buffer(self.buffer(b)),
            Resource::Reduction(r) => Resource::Reduction(ReductionId(r.0 + self.reductions)),
            Resource::Queue(q) => Resource::Queue(self.queue(q)),
        }
    }

    fn buffer(&self, b: BufferId) -> BufferId {
        self.buffers[b.index()]
    }

    fn queue(&self, q: QueueId) -> QueueId {
        match q {
            QueueId::Frontier(f) => QueueId::Frontier(self.frontier(f)),
            QueueId::List(l) => QueueId::List(self.list(l)),
        }
    }

    fn frontier(&self, x: FrontierId) -> FrontierId {
        FrontierId(x.0 + self.frontiers)
    }

    fn list(&self, l: ListId) -> ListId {
        ListId(l.0 + self.lists)
    }

    fn scalar(&self, s: ScalarId) -> ScalarId {
        ScalarId(s.0 + self.scalars)
    }

    fn constant(&self, c: ConstantId) -> ConstantId {
        ConstantId(c.0 + self.constants)
    }

    fn fixpoint(&self, f: FixpointId) -> FixpointId {
        FixpointId(f.0 + self.fixpoints)
    }

    fn node(&self, n: NodeRef) -> NodeRef {
        match n {
            NodeRef::Wave(w) => NodeRef::Wave(WaveId(w.0 + self.waves)),
            NodeRef::Fixpoint(f) => NodeRef::Fixpoint(self.fixpoint(f)),
        }
    }

    fn extent(&self, e: Extent) -> Extent {
        match e {
            Extent::Constant(c) => Extent::Constant(self.constant(c)),
            Extent::Scalar(s) => Extent::Scalar(self.scalar(s)),
            Extent::NodeBits(w) => Extent::NodeBits(match w {
                Width::Fixed(bits) => Width::Fixed(bits),
                Width::Constant(c) => Width::Constant(self.constant(c)),
                Width::Scalar(s) => Width::Scalar(self.scalar(s)),
            }),
            Extent::Computed(l) => Extent::Computed(LengthId(l.0 + self.lengths)),
            Extent::Bounds(parts, of, drops) => {
                Extent::Bounds(PartsId(parts.0 + self.parts), of, drops)
            }
            Extent::Fixed(_)
            | Extent::Nodes
            | Extent::Edges(_)
            | Extent::NodesPlusEdges
            | Extent::NodesTimes(_) => e,
        }
    }

    fn domain(&self, d: Domain) -> Domain {
        d.renumbered(|e| self.extent(e), |f| self.frontier(f), |l| self.list(l))
    }

    fn uniform(&self, u: Uniform) -> Uniform {
        match u {
            Uniform::Scalar(s) => Uniform::Scalar(self.scalar(s)),
            Uniform::Constant(c) => Uniform::Constant(self.constant(c)),
            Uniform::Reduction(r) => Uniform::Reduction(ReductionId(r.0 + self.reductions)),
            Uniform::Len(q) => Uniform::Len(self.queue(q)),
            Uniform::Began(l) => Uniform::Began(self.list(l)),
            Uniform::OuterRound(f) => Uniform::OuterRound(self.fixpoint(f)),
            Uniform::Round | Uniform::Nodes => u,
        }
    }

    fn word(&self, word: Word) -> Word {
        let Some(resource) = word.names() else {
            return word;
        };
        let id = self.resource(resource).number();
        Word {
            imm: word.imm & 0xffff | u32::from(id) << 16,
            ..word
        }
    }
}

/// Whether two lengths of two programs are known to be equal: scalars and constants are each program's own.
fn same_length((first, a): (&Program, Extent), (second, b): (&Program, Extent)) -> bool {
    let own = |extent| {
        matches!(
            extent,
            Extent::Constant(_)
                | Extent::Scalar(_)
                | Extent::NodeBits(Width::Constant(_) | Width::Scalar(_))
        )
    };
    match (a, b) {
        (Extent::Computed(a), Extent::Computed(b)) => {
            let (a, b) = (&first.lengths[a.index()], &second.lengths[b.index()]);
            a == b && !a.values().any(own)
        }
        _ => a == b && !own(a),
    }
}

/// Why a buffer of the second program cannot be one of the first; `None` where it can.
fn unfit(
    (first, from): (&Program, BufferId),
    (second, to): (&Program, BufferId),
) -> Option<String> {
    let (from, to) = (&first.buffers[from.index()], &second.buffers[to.index()]);
    if !matches!(from.role, Role::Output | Role::InOut) {
        return Some("a link begins at an output of the first pass".to_owned());
    }
    if to.role != Role::Input {
        return Some("a link leads to an input of the second pass".to_owned());
    }
    if from.scalar != to.scalar {
        let [from, to] = [from.scalar, to.scalar].map(|scalar| scalar.name());
        return Some(format!("one holds {from}, the other {to}"));
    }
    if same_length((first, from.extent), (second, to.extent)) {
        return None;
    }
    let [from, to] = [(first, from.extent), (second, to.extent)].map(|(p, e)| p.declared(e));
    Some(format!(
        "their lengths, `{from}` and `{to}`, may differ: scalars and constants are each pass's own"
    ))
}

/// Puts the second program beside the first.
///
/// # Errors
/// Their topologies differ, a link does not fit, two lead to one input, or together they are too large.
pub fn fuse(first: &Program, second: &Program, links: &[Link]) -> Result<Fused, FuseError> {
    let same = |a: &Program, b: &Program| {
        a.topologies.len() == b.topologies.len()
            && a.topologies
                .iter()
                .zip(&b.topologies)
                .all(|(a, b)| a.reverse_of == b.reverse_of)
    };
    if !same(first, second) {
        let graphs = |p: &Program| {
            let names = p.topologies.iter().map(|t| match t.reverse_of {
                Some(of) => format!(
                    "`{}` (reverse of `{}`)",
                    t.name,
                    p.topologies[of.index()].name
                ),
                None => format!("`{}`", t.name),
            });
            match names.collect::<Vec<_>>().join(" and ") {
                none if none.is_empty() => "no graph".to_owned(),
                names => names,
            }
        };
        return Err(FuseError::Topologies {
            first: first.name.clone(),
            first_graphs: graphs(first),
            second: second.name.clone(),
            second_graphs: graphs(second),
        });
    }
    for (what, a, b) in [
        ("buffers", first.buffers.len(), second.buffers.len()),
        ("constants", first.constants.len(), second.constants.len()),
        ("kernels", first.kernels.len(), second.kernels.len()),
        ("sites", first.sites.len(), second.sites.len()),
        ("frontiers", first.frontiers.len(), second.frontiers.len()),
        ("lists", first.lists.len(), second.lists.len()),
        (
            "reductions",
            first.reductions.len(),
            second.reductions.len(),
        ),
        ("scalars", first.scalars.len(), second.scalars.len()),
        ("lengths", first.lengths.len(), second.lengths.len()),
    ] {
        if a + b > usize::from(u16::MAX) {
            return Err(FuseError::TooMany { what });
        }
    }
    let mut next = first.buffers.len() as u16;
    let mut buffers = Vec::new();
    for (i, b) in second.buffers.iter().enumerate() {
        let mut leads = links.iter().filter(|l| l.to.index() == i);
        let (link, other) = (leads.next(), leads.next());
        buffers.push(match link {
            None => {
                next += 1;
                BufferId(next - 1)
            }
            Some(link) => {
                let to = || format!("{}::{}", second.name, b.field());
                if other.is_some() {
                    return Err(FuseError::Twice { to: to() });
                }
                if let Some(why) = unfit((first, link.from), (second, link.to)) {
                    let from = first.buffers[link.from.index()].field();
                    return Err(FuseError::Link {
                        from: format!("{}::{from}", first.name),
                        to: to(),
                        why,
                    });
                }
                link.from
            }
        });
    }
    let bounds = |b: &&Buffer| matches!(b.extent, Extent::Bounds(..));
    let parts = first.buffers.iter().filter(bounds).count();
    let shift = Shift {
        buffers,
        frontiers: first.frontiers.len() as u16,
        lists: first.lists.len() as u16,
        reductions: first.reductions.len() as u16,
        scalars: first.scalars.len() as u16,
        lengths: first.lengths.len() as u16,
        constants: first.constants.len() as u16,
        waves: first.waves.len() as u16,
        fixpoints: first.fixpoints.len() as u16,
        sites: first.sites.len() as u16,
        parts: parts as u16,
    };
    let mut program = scoped(&named(first), &named(second), &shift);
    order_across(&mut program, first.waves.len());
    let order = merge(first, second, &program, &shift);
    let before = |p: &Program| barriers(&p.schedule);
    let between = usize::from(matches!(first.schedule[..], [.., Step::Wave(_), Step::End]));
    program.schedule = order;
    Ok(Fused {
        barriers: barriers(&program.schedule),
        barriers_before: before(first) + between + before(second),
        program,
        scalars: first.scalars.len(),
        reductions: first.reductions.len(),
        buffers: shift.buffers,
        first_buffers: first.buffers.len(),
        first_lists: first.lists.len(),
        first_fixpoints: first.fixpoints.len(),
    })
}

/// What of the second program conflicts with something of the first comes after it: said in the program, for whoever
/// checks the schedule.
fn order_across(p: &mut Program, first_waves: usize) {
    let top = |w: usize| {
        let mut node = NodeRef::Wave(WaveId(w as u16));
        let mut around = p.waves[w].fixpoint;
        while let Some(f) = around {
            node = NodeRef::Fixpoint(f);
            around = p.fixpoints[f.index()].parent;
        }
        node
    };
    let mut found = Vec::new();
    for x in 0..first_waves {
        for y in first_waves..p.waves.len() {
            if clash(p, WaveId(x as u16), WaveId(y as u16)) {
                found.push((top(x), top(y)));
            }
        }
    }
    for (before, after) in found {
        let list = match after {
            NodeRef::Wave(w) => &mut p.waves[w.index()].after,
            NodeRef::Fixpoint(f) => &mut p.fixpoints[f.index()].after,
        };
        if !list.contains(&before) {
            list.push(before);
        }
    }
}

fn clash(p: &Program, x: WaveId, y: WaveId) -> bool {
    let (x, y) = (&p.waves[x.index()], &p.waves[y.index()]);
    x.accesses.iter().any(|a| {
        let other = y.accesses.iter().find(|b| b.resource == a.resource);
        other.is_some_and(|b| !compatible(a.mode, b.mode))
    })
}

fn barriers(schedule: &[Step]) -> usize {
    let barrier = |s: &&Step| matches!(s, Step::Barrier);
    schedule.iter().filter(barrier).count()
}

/// A pass with its name before those of its fields, waves and fixpoints: what is said of it when it runs beside another
/// one.
pub fn named(pass: &Program) -> Program {
    let mut p = pass.clone();
    let names = (p.buffers.iter_mut().map(|x| &mut x.name))
        .chain(p.frontiers.iter_mut().map(|x| &mut x.name))
        .chain(p.lists.iter_mut().map(|x| &mut x.name))
        .chain(p.reductions.iter_mut().map(|x| &mut x.name))
        .chain(p.scalars.iter_mut().map(|x| &mut x.name))
        .chain(p.waves.iter_mut().map(|x| &mut x.name))
        .chain(p.fixpoints.iter_mut().map(|x| &mut x.name))
        .chain(p.kernels.iter_mut().map(|x| &mut x.name));
    for name in names {
        *name = format!("{}::{name}", pass.name);
    }
    p
}

/// Every table, without the schedule.
fn scoped(first: &Program, second: &Program, shift: &Shift) -> Program {
    let mut p = first.clone();
    for (i, x) in second.buffers.iter().enumerate() {
        if shift.buffers[i].index() >= first.buffers.len() {
            let mut x = x.clone();
            x.extent = shift.extent(x.extent);
            x.init = x.init.map(|c| shift.constant(c));
            x.reset = x.reset.map(|f| shift.fixpoint(f));
            p.buffers.push(x);
        }
    }
    let queue = |x: &Queue| {
        let mut x = x.clone();
        x.capacity = shift.extent(x.capacity);
        x.owner = x.owner.map(|f| shift.fixpoint(f));
        x.reset = x.reset.map(|f| shift.fixpoint(f));
        x
    };
    p.frontiers.extend(second.frontiers.iter().map(queue));
    p.lists.extend(second.lists.iter().map(queue));
    p.reductions.extend(second.reductions.iter().map(|x| {
        let mut x = x.clone();
        x.owner = x.owner.map(|f| shift.fixpoint(f));
        x
    }));
    p.scalars.extend(second.scalars.iter().cloned());
    p.lengths.extend(second.lengths.iter().map(|length| {
        Length {
            terms: (length.terms.iter())
                .map(|term| match *term {
                    Term::Value(value) => Term::Value(shift.extent(value)),
                    op @ Term::Op(_) => op,
                })
                .collect(),
        }
    }));
    p.constants.extend(second.constants.iter().copied());
    p.sites.extend(second.sites.iter().cloned());
    let site = |s: SiteId| SiteId(s.0 + shift.sites);
    let messages = second.messages.iter();
    p.messages
        .extend(messages.map(|(s, text)| (site(*s), text.clone())));
    // Waves first, then conditions.
    let kernel = |k: &crate::vir0::module::Kernel| {
        let mut k = k.clone();
        k.code = k.code.iter().map(|&w| shift.word(w)).collect();
        k.uniforms = k.uniforms.iter().map(|&u| shift.uniform(u)).collect();
        for (_, s) in &mut k.sites {
            *s = site(*s);
        }
        k
    };
    let conditions = p.kernels.split_off(first.waves.len());
    let (waves, untils) = second.kernels.split_at(second.waves.len());
    p.kernels.extend(waves.iter().map(kernel));
    p.kernels.extend(conditions);
    p.kernels.extend(untils.iter().map(kernel));
    for f in &mut p.fixpoints {
        f.until = KernelId(f.until.0 + second.waves.len() as u16);
    }
    p.waves.extend(second.waves.iter().map(|w| {
        let mut w = w.clone();
        w.kernel = KernelId(w.kernel.0 + shift.waves);
        w.domain = shift.domain(w.domain);
        for a in &mut w.accesses {
            a.resource = shift.resource(a.resource);
        }
        w.accesses.sort_unstable();
        w.fixpoint = w.fixpoint.map(|f| shift.fixpoint(f));
        w.after = w.after.iter().map(|&n| shift.node(n)).collect();
        w
    }));
    p.fixpoints.extend(second.fixpoints.iter().map(|f| {
        let mut f = f.clone();
        f.parent = f.parent.map(|f| shift.fixpoint(f));
        f.until = KernelId(f.until.0 + shift.waves + first.fixpoints.len() as u16);
        for (a, b) in &mut f.swaps {
            (*a, *b) = (shift.buffers[a.index()], shift.buffers[b.index()]);
        }
        f.after = f.after.iter().map(|&n| shift.node(n)).collect();
        f.site = site(f.site);
        f
    }));
    p.name = format!("{}_{}", first.name, second.name);
    p.agreement = agreement(first, second, shift);
    let least = |a: Option<u64>, b: Option<u64>| a.into_iter().chain(b).min();
    let (a, b) = (&first.manifest, &second.manifest);
    p.manifest = Manifest {
        id: format!("{}+{}", a.id, b.id),
        unproven: true,
        max_nodes: least(a.max_nodes, b.max_nodes),
        max_edges: least(a.max_edges, b.max_edges),
        claims: claims(first, second, shift),
        ..Manifest::default()
    };
    p
}

/// The claims of both. What the second one says presumes what it is given: where a link gives it what may differ from
/// run to run, nothing.
fn claims(first: &Program, second: &Program, shift: &Shift) -> Vec<Claim> {
    let open = open(first, |_| true);
    let claimed = |r: Resource| first.manifest.claims.iter().any(|c| c.result == r);
    let linked = shift
        .buffers
        .iter()
        .filter(|b| b.index() < first.buffers.len());
    let mut linked = linked.map(|&b| Resource::Buffer(b));
    let given_open = linked.any(|b| open.contains(&b) && !claimed(b));
    let shifted = second.manifest.claims.iter().map(|claim| Claim {
        result: shift.resource(claim.result),
        reason: claim.reason.clone(),
    });
    let own = first.manifest.claims.iter().cloned();
    own.chain(shifted.filter(|_| !given_open)).collect()
}

/// Of two passes that do not see each other's waves, the weaker promise holds, with the reasons of both.
fn agreement(first: &Program, second: &Program, shift: &Shift) -> Agreement {
    let wave = |w: WaveId| WaveId(w.0 + shift.waves);
    let proviso = |p: &Proviso| match *p {
        Proviso::NoWrap(w) => Proviso::NoWrap(wave(w)),
        Proviso::NoNan(w) => Proviso::NoNan(wave(w)),
        Proviso::First(w, c, op) => Proviso::First(wave(w), shift.constant(c), op),
    };
    let least = |l: &Least| Least {
        fixpoint: shift.fixpoint(l.fixpoint),
        provisos: l.provisos.iter().map(proviso).collect(),
    };
    let reason = |r: &Reason| Reason {
        wave: wave(r.wave),
        resource: r.resource.map(|x| shift.resource(x)),
        site: r.site.map(|s| SiteId(s.0 + shift.sites)),
        why: r.why,
    };
    match (&first.agreement, &second.agreement) {
        (Agreement::Open(a), Agreement::Open(b)) => {
            Agreement::Open(a.iter().copied().chain(b.iter().map(reason)).collect())
        }
        (Agreement::Open(a), _) => Agreement::Open(a.clone()),
        (_, Agreement::Open(b)) => Agreement::Open(b.iter().map(reason).collect()),
        (Agreement::Result(a), Agreement::Result(b)) => {
            Agreement::Result(a.iter().cloned().chain(b.iter().map(least)).collect())
        }
        (Agreement::Result(a), Agreement::Bits) => Agreement::Result(a.clone()),
        (Agreement::Bits, Agreement::Result(b)) => Agreement::Result(b.iter().map(least).collect()),
        (Agreement::Bits, Agreement::Bits) => Agreement::Bits,
    }
}

/// A group of waves, or a whole fixpoint, of a schedule's top level.
struct Block {
    steps: Vec<Step>,
    fixpoint: bool,
}

fn blocks(schedule: &[Step]) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let (mut depth, mut fresh) = (0, true);
    for &step in schedule {
        let inside = depth > 0;
        match step {
            Step::Loop(_) | Step::Each(..) => depth += 1,
            Step::Until(_) => depth -= 1,
            Step::Wave(_) | Step::Barrier | Step::End => {}
        }
        match step {
            _ if inside => blocks
                .last_mut()
                .expect("a loop was entered")
                .steps
                .push(step),
            Step::Barrier | Step::Until(_) | Step::End => {}
            Step::Wave(_) if !fresh => {
                blocks
                    .last_mut()
                    .expect("a wave came before")
                    .steps
                    .push(step);
            }
            Step::Wave(_) | Step::Loop(_) | Step::Each(..) => blocks.push(Block {
                steps: vec![step],
                fixpoint: step.enters().is_some(),
            }),
        }
        fresh = depth > 0 || !matches!(step, Step::Wave(_));
    }
    blocks
}

fn waves(block: &Block) -> impl Iterator<Item = WaveId> {
    block.steps.iter().filter_map(|s| match s {
        Step::Wave(w) => Some(*w),
        _ => None,
    })
}

/// The fewest groups: each program in its own order, what conflicts after what it conflicts with.
fn merge(first: &Program, second: &Program, p: &Program, shift: &Shift) -> Vec<Step> {
    let a = blocks(&first.schedule);
    let mut b = blocks(&second.schedule);
    for step in b.iter_mut().flat_map(|b| &mut b.steps) {
        *step = match *step {
            Step::Wave(w) => Step::Wave(WaveId(w.0 + shift.waves)),
            Step::Loop(f) => Step::Loop(shift.fixpoint(f)),
            Step::Each(f, bounds) => Step::Each(shift.fixpoint(f), shift.buffer(bounds)),
            Step::Until(f) => Step::Until(shift.fixpoint(f)),
            Step::Barrier | Step::End => *step,
        };
    }
    let conflict = |x: &Block, y: &Block| waves(x).any(|x| waves(y).any(|y| clash(p, x, y)));
    // Blocks of the first program that must be over before a block of the second begins.
    let needs: Vec<usize> = b
        .iter()
        .map(|y| a.iter().rposition(|x| conflict(x, y)).map_or(0, |i| i + 1))
        .collect();
    // Least groups for what is left from (i, j), and the way there: take of the first, of the second.
    let (n, m) = (a.len(), b.len());
    let mut best = vec![vec![(usize::MAX, (false, false)); m + 1]; n + 1];
    best[n][m] = (0, (false, false));
    for i in (0..=n).rev() {
        for j in (0..=m).rev() {
            let ready = j < m && needs[j] <= i;
            let both = i < n && ready && !a[i].fixpoint && !b[j].fixpoint;
            let cost = |block: &Block| usize::from(!block.fixpoint);
            let ways = [
                (both, (true, true)),
                (i < n, (true, false)),
                (ready, (false, true)),
            ];
            for (open, way) in ways {
                if !open {
                    continue;
                }
                let left = best[i + usize::from(way.0)][j + usize::from(way.1)].0;
                let here = if way.0 { cost(&a[i]) } else { cost(&b[j]) };
                let total = left.saturating_add(here);
                if total < best[i][j].0 {
                    best[i][j] = (total, way);
                }
            }
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut schedule = Vec::new();
    while i < n || j < m {
        let (_, (take_a, take_b)) = best[i][j];
        if let Some(Step::Wave(_)) = schedule.last() {
            schedule.push(Step::Barrier);
        }
        if take_a {
            schedule.extend(&a[i].steps);
            i += 1;
        }
        if take_b {
            schedule.extend(&b[j].steps);
            j += 1;
        }
    }
    schedule.push(Step::End);
    schedule
}

impl Fused {
    /// Scalars of the first program.
    pub fn first_scalars(&self) -> usize {
        self.scalars
    }

    /// Where a scalar of the second program is.
    pub fn second_scalar(&self, id: ScalarId) -> ScalarId {
        ScalarId(id.0 + self.scalars as u16)
    }

    /// Where a buffer of the second program is.
    pub fn second_buffer(&self, id: BufferId) -> BufferId {
        self.buffers[id.index()]
    }
}
