//! Fixpoints that each part of a graph runs by itself.
//!
//! The bounds of the parts are a topology's buffer ([`Extent::Bounds`]): part `p` has the nodes from `bounds[p]` up to
//! `bounds[p + 1]`. The step [`Step::Each`] stands where a fixpoint's `Loop` would. Inside, a part is a graph of its
//! own: nodes and edges count from 0, and what has an element for each of them is the part's range of it. Rounds, round
//! limits, frontiers, reductions and swaps are the part's.
//!
//! ```text
//! graph            shares out nodes that it pushes onto frontiers of A
//! ├─ wave
//! └─ fixpoint A, each part by itself: its waves see the part alone, and read what is no part's
//!    ├─ wave
//!    └─ fixpoint B of the part
//!       └─ wave
//! ```
//!
//! This is the one definition of what may stand inside: [`misuses`] finds what may not. The macros call it with source
//! places at hand, the verifier for bytecode.

use crate::vir0::module::{
    Access, Buffer, BufferId, Extent, FixpointId, FrontierId, KernelId, LengthId, ListId, Mode,
    NodeRef, Program, QueueId, ReductionId, Resource, Role, Step, TopologyId, Uniform, UpdateOp,
    WaveId,
};
use crate::vir0::scalar::Scalar;
use thiserror::Error;

/// A local fixpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Local {
    /// Which.
    pub fixpoint: FixpointId,
    /// Its step.
    pub step: usize,
    /// The bounds of its parts.
    pub bounds: BufferId,
    /// The graph of which the parts are.
    pub of: TopologyId,
    /// Edges that cross parts are left out.
    pub drops: bool,
}

/// The local fixpoints of a program, in schedule order. Those whose bounds are none are left out.
pub fn locals(program: &Program) -> impl Iterator<Item = Local> {
    let steps = program.schedule.iter().enumerate();
    steps.filter_map(|(step, what)| match *what {
        Step::Each(fixpoint, bounds) => {
            let (of, drops) = bounds_of(program, bounds)?;
            Some(Local {
                fixpoint,
                step,
                bounds,
                of,
                drops,
            })
        }
        _ => None,
    })
}

/// Of which graph a buffer bounds parts, and whether crossing edges are left out.
pub fn bounds_of(program: &Program, buffer: BufferId) -> Option<(TopologyId, bool)> {
    match program.buffers.get(buffer.index())?.extent {
        Extent::Bounds(_, of, drops) => Some((of, drops)),
        _ => None,
    }
}

impl Local {
    /// Whether a fixpoint is this one, or one in it.
    pub fn contains(&self, program: &Program, fixpoint: Option<FixpointId>) -> bool {
        program.is_within(fixpoint, self.fixpoint)
    }

    /// Whether a graph falls into these parts: the one that they are of, and its reverse.
    pub fn splits(&self, program: &Program, graph: TopologyId) -> bool {
        let reverse = program.topologies.get(graph.index());
        graph == self.of || reverse.is_some_and(|t| t.reverse_of == Some(self.of))
    }

    /// Whether a length is the part's: what has it is seen as the part's range.
    pub fn cuts(&self, program: &Program, extent: Extent) -> bool {
        match extent {
            Extent::Nodes | Extent::NodeBits(_) => true,
            Extent::Edges(t) => self.splits(program, t),
            Extent::Fixed(_)
            | Extent::Constant(_)
            | Extent::Scalar(_)
            | Extent::NodesPlusEdges
            | Extent::NodesTimes(_)
            | Extent::Computed(_)
            | Extent::Bounds(..) => false,
        }
    }

    /// The waves inside.
    pub fn waves<'p>(&'p self, program: &'p Program) -> impl Iterator<Item = WaveId> + 'p {
        let waves = (0..=u16::MAX).map(WaveId).zip(&program.waves);
        waves
            .filter(|(_, w)| self.contains(program, w.fixpoint))
            .map(|(id, _)| id)
    }

    /// The frontiers that belong to parts.
    pub fn frontiers<'p>(&'p self, program: &'p Program) -> impl Iterator<Item = FrontierId> + 'p {
        let frontiers = (0..=u16::MAX).map(FrontierId).zip(&program.frontiers);
        frontiers
            .filter(|(_, f)| self.contains(program, f.owner))
            .map(|(id, _)| id)
    }
}

/// Why something may not stand in a local fixpoint, or not outside.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Error)]
pub enum Why {
    /// The step names another buffer.
    #[error("its parts have no bounds")]
    NoBounds,
    /// Inside, nodes count from the part's first.
    #[error("a local fixpoint reads the bounds of parts")]
    Bounds,
    /// Parts of parts.
    #[error("a local fixpoint stands in a local fixpoint")]
    Nested,
    /// A graph that does not fall into the parts.
    #[error("a local fixpoint uses a graph that has no parts here")]
    Graph,
    /// Edges are numbered without those that cross.
    #[error("a local fixpoint without crossing edges uses a buffer of edges")]
    Edges,
    /// Which elements are a part's is not known.
    #[error("a local fixpoint uses a buffer whose length is computed from nodes or edges")]
    Length,
    /// Several parts would write one element.
    #[error("a local fixpoint changes a buffer that is no part's")]
    Writes,
    /// Who appends what, and when, is not known inside.
    #[error("a local fixpoint does more to a list than to append")]
    List,
    /// What is pushed inside is the part's.
    #[error("a local fixpoint uses a frontier that belongs to another scope")]
    Frontier,
    /// A part is known of nodes only.
    #[error("the items of a local fixpoint's frontier are not nodes")]
    Items,
    /// A part's frontier is as long as the part asks for.
    #[error("the capacity of a local fixpoint's frontier is not one of nodes or edges")]
    Capacity,
    /// There is one value a part.
    #[error("what belongs to a local fixpoint is read outside")]
    Outside,
}

crate::debug_is_display!(Why);

/// Something that may not be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Misuse {
    /// The wave or fixpoint.
    pub at: NodeRef,
    /// What it uses.
    pub of: Option<Resource>,
    /// The rule.
    pub why: Why,
}

/// What breaks a rule about local fixpoints. Ids that do not exist break none.
pub fn misuses(program: &Program) -> Vec<Misuse> {
    let mut found = Vec::new();
    for step in &program.schedule {
        if let Step::Each(f, bounds) = *step {
            let buffer = program.buffers.get(bounds.index());
            let fits = buffer.is_some_and(|b| (b.role, b.scalar) == (Role::Topology, Scalar::U32))
                && bounds_of(program, bounds).is_some();
            if !fits {
                found.push(Misuse {
                    at: NodeRef::Fixpoint(f),
                    of: Some(Resource::Buffer(bounds)),
                    why: Why::NoBounds,
                });
            }
        }
    }
    let locals: Vec<Local> = locals(program).collect();
    for local in &locals {
        misuses_in(program, local, &locals, &mut found);
    }
    for (id, wave) in (0..=u16::MAX).map(WaveId).zip(&program.waves) {
        let at = NodeRef::Wave(id);
        reads_of_parts(
            program,
            &locals,
            (at, wave.kernel, wave.fixpoint),
            &mut found,
        );
    }
    for (id, fixpoint) in (0..=u16::MAX).map(FixpointId).zip(&program.fixpoints) {
        let at = NodeRef::Fixpoint(id);
        reads_of_parts(program, &locals, (at, fixpoint.until, Some(id)), &mut found);
    }
    found
}

/// Uniforms of a kernel that are one value a part, where it stands outside.
fn reads_of_parts(
    program: &Program,
    locals: &[Local],
    (at, kernel, scope): (NodeRef, KernelId, Option<FixpointId>),
    found: &mut Vec<Misuse>,
) {
    let kernel = program.kernels.get(kernel.index());
    for uniform in kernel.into_iter().flat_map(|k| &k.uniforms) {
        let (of, owner) = match *uniform {
            Uniform::Reduction(r) => {
                let owner = program.reductions.get(r.index()).map(|x| x.owner);
                (Resource::Reduction(r), owner)
            }
            Uniform::Len(q) => {
                let owner = program.queue(q).map(|x| x.owner);
                (Resource::Queue(q), owner)
            }
            _ => continue,
        };
        let owner = owner.flatten();
        let foreign = |l: &Local| l.contains(program, owner) && !l.contains(program, scope);
        if locals.iter().any(foreign) {
            let (of, why) = (Some(of), Why::Outside);
            found.push(Misuse { at, of, why });
        }
    }
}

fn misuses_in(program: &Program, local: &Local, locals: &[Local], found: &mut Vec<Misuse>) {
    let mut misuse = |at, of, why| found.push(Misuse { at, of, why });
    let here = NodeRef::Fixpoint(local.fixpoint);
    let parent = program.fixpoints.get(local.fixpoint.index());
    let parent = parent.and_then(|f| f.parent);
    if locals.iter().any(|l| l.contains(program, parent)) {
        misuse(here, None, Why::Nested);
    }
    for w in local.waves(program) {
        let wave = &program.waves[w.index()];
        let at = NodeRef::Wave(w);
        if let Some((list, _)) = wave.domain.list() {
            misuse(at, Some(list.into()), Why::List);
        }
        let list = |f: &FrontierId| program.frontiers.get(f.index()).is_some_and(|f| f.stays);
        let swept = wave.domain.frontier().filter(|f| !list(f));
        let swept = swept.map(Resource::from);
        for access in &wave.accesses {
            if let Some(why) = misused(program, local, *access)
                && swept != Some(access.resource)
            {
                misuse(at, Some(access.resource), why);
            }
        }
    }
    for f in local.frontiers(program) {
        let frontier = &program.frontiers[f.index()];
        let of = Some(f.into());
        let fits = match frontier.capacity {
            Extent::Nodes | Extent::NodesPlusEdges => true,
            Extent::Edges(t) => local.splits(program, t),
            _ => false,
        };
        if !frontier.fields.is_empty() {
            misuse(here, of, Why::Items);
        } else if !fits {
            misuse(here, of, Why::Capacity);
        }
    }
    for (l, list) in (0u16..).zip(&program.lists) {
        if local.contains(program, list.reset) {
            misuse(here, Some(ListId(l).into()), Why::List);
        }
    }
    for (r, reduction) in (0u16..).zip(&program.reductions) {
        if reduction.output && local.contains(program, reduction.owner) {
            let of = Resource::Reduction(ReductionId(r));
            misuse(here, Some(of), Why::Outside);
        }
    }
    for (id, fixpoint) in (0..=u16::MAX).map(FixpointId).zip(&program.fixpoints) {
        if !local.contains(program, Some(id)) {
            continue;
        }
        let at = NodeRef::Fixpoint(id);
        for b in fixpoint.swaps.iter().flat_map(|&(a, b)| [a, b]) {
            let resource = Resource::Buffer(b);
            let mode = Mode::Write;
            if let Some(why) = misused(program, local, Access { resource, mode }) {
                misuse(at, Some(resource), why);
            }
        }
        let until = program.kernels.get(fixpoint.until.index());
        for uniform in until.into_iter().flat_map(|k| &k.uniforms) {
            match *uniform {
                Uniform::Len(q @ QueueId::List(_)) => misuse(at, Some(q.into()), Why::List),
                Uniform::Len(q @ QueueId::Frontier(_)) => {
                    let owner = program.queue(q).map(|f| f.owner);
                    if owner.is_some_and(|owner| !local.contains(program, owner)) {
                        misuse(at, Some(q.into()), Why::Frontier);
                    }
                }
                _ => {}
            }
        }
    }
}

/// Whether nodes or edges decide a computed length.
fn counts_nodes(program: &Program, id: LengthId) -> bool {
    let length = program.lengths.get(id.index());
    let mut values = length.into_iter().flat_map(|l| l.values());
    values.any(|e| matches!(e, Extent::Nodes | Extent::Edges(_)))
}

/// The rule that an access of a wave inside breaks.
fn misused(program: &Program, local: &Local, access: Access) -> Option<Why> {
    match access.resource {
        Resource::Topology(t) => (!local.splits(program, t)).then_some(Why::Graph),
        Resource::Buffer(b) => {
            let Buffer { extent, role, .. } = *program.buffers.get(b.index())?;
            match extent {
                // It may be a caller's slice, which has no parts.
                _ if role == Role::InOut => Some(Why::Writes),
                Extent::Edges(t) if !local.splits(program, t) => Some(Why::Graph),
                Extent::Edges(_) if local.drops => Some(Why::Edges),
                Extent::Bounds(..) => Some(Why::Bounds),
                Extent::Computed(id) if counts_nodes(program, id) => Some(Why::Length),
                _ if local.cuts(program, extent) || access.mode == Mode::Read => None,
                _ => Some(Why::Writes),
            }
        }
        Resource::Queue(q @ QueueId::Frontier(_)) => {
            let owner = program.queue(q)?.owner;
            (!local.contains(program, owner)).then_some(Why::Frontier)
        }
        Resource::Queue(QueueId::List(_)) => {
            (access.mode != Mode::Update(UpdateOp::Append)).then_some(Why::List)
        }
        Resource::Reduction(_) => None,
    }
}
