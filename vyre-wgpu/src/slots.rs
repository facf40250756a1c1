//! Which word of `state` and `counts` is what. The shaders are written with these numbers, and the host reads and
//! writes the words by them.
//!
//! Everything that the host looks at lies in front ([`Slots::head_words`]); partial results of workgroups follow.

use crate::target::Target;
use vyre_core::vir0::exact;
use vyre_core::vir0::group::groups_of;
use vyre_core::vir0::isa::Op;
use vyre_core::vir0::module::{
    BufferId, FixpointId, FrontierId, ListId, Program, ReduceOp, ReductionId, ScalarId, Step,
    TopologyId, WaveId,
};

/// How the run stands: [`Status`].
pub(crate) const STATUS: u32 = 0;
/// Whether a group waits for its dispatches ([`WIDE`]), for those that sweep its hubs ([`HUBS`]), or the control goes
/// on by itself ([`NARROW`], [`ADVANCE`]).
pub(crate) const MODE: u32 = 1;
/// The barrier group that is next or under way.
pub(crate) const GROUP: u32 = 2;
/// The step that is next once the group is done; where a run has ended, the step that ended it.
pub(crate) const STEP: u32 = 3;
/// Groups that one dispatch of the control leads by itself, at most.
pub(crate) const BUDGET: u32 = 4;
/// Items, or edges, of a sweep that the control takes by itself, at most.
pub(crate) const NARROW_ITEMS: u32 = 5;
/// Nodes of the graph.
pub(crate) const NODES: u32 = 6;

/// The fault that has ended the run: [`RECORD_WORDS`].
pub(crate) const FAULT: u32 = 8;
const FIRST: u32 = 16;

/// Values of [`MODE`].
pub(crate) const ADVANCE: u32 = 0;
pub(crate) const NARROW: u32 = 1;
pub(crate) const WIDE: u32 = 2;
pub(crate) const HUBS: u32 = 3;

/// A node of as many edges is a hub: one workgroup would walk them long after all others are done. Where a graph has
/// more than [`HUB_SLOTS`] times as many edges, hubs have more.
pub(crate) const HUB_EDGES: u32 = 2_048;
/// Hubs of a sweep that are left for all workgroups. A frontier may have one several times; those beyond are swept by
/// the workgroup that meets them.
pub(crate) const HUB_SLOTS: u32 = 8_192;

/// Wave, item, word, kind, index (low, high), length, and one that is not used.
pub(crate) const RECORD_WORDS: u32 = 8;

/// Of `counts`: faults that wait for the end of their group.
pub(crate) const FAULTS: u32 = 0;
/// Of `counts`: whether a loop took more turns than it may ([`ENDLESS`]), or the driver has cut one short ([`CUT`]).
pub(crate) const SPENT: u32 = 1;
pub(crate) const ENDLESS: u32 = 1;
pub(crate) const CUT: u32 = 2;

/// Values of [`STATUS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    Running = 0,
    Done = 1,
    /// An item of the group has faulted, or something is too short.
    Failed = 2,
    /// A fixpoint has taken all its rounds.
    RoundLimit = 3,
    /// A condition has faulted.
    Condition = 4,
    /// A loop took too many turns.
    Spent = 5,
}

impl Status {
    pub(crate) fn of(word: u32) -> Option<Status> {
        use Status::*;
        let all = [Running, Done, Failed, RoundLimit, Condition, Spent];
        all.into_iter().find(|&status| status as u32 == word)
    }
}

/// The numbers of the words of a program.
#[derive(Clone, Debug)]
pub(crate) struct Slots {
    buffers: u32,
    topologies: u32,
    scalars: u32,
    reductions: u32,
    fixpoints: u32,
    waves: u32,
    frontiers: Vec<u32>,
    lists: Vec<u32>,
    head: u32,
    /// By wave, what it reduces to, and where the partial values of its workgroups begin.
    partials: Vec<Vec<(ReductionId, u32)>>,
    /// By wave that sweeps edges, where the nodes of its hubs begin.
    hubs: Vec<u32>,
    records: u32,
    words: u32,
    /// Of `counts`, by reduction.
    exact: Vec<u32>,
    frontier_counts: u32,
    list_counts: u32,
    hub_counts: u32,
    counts: u32,
}

impl Slots {
    pub(crate) fn new(program: &Program, target: &Target) -> Slots {
        let mut end = FIRST;
        let mut take = |words: usize| {
            let at = end;
            end += words as u32;
            at
        };
        let buffers = take(2 * program.buffers.len());
        let topologies = take(4 * program.topologies.len());
        let scalars = take(2 * program.scalars.len());
        let reductions = take(2 * program.reductions.len());
        let fixpoints = take(3 * program.fixpoints.len());
        let waves = take(5 * program.waves.len());
        let frontiers = program.frontiers.iter();
        let frontiers = frontiers.map(|f| take(4 + 2 * f.fields.len().max(1)));
        let frontiers = frontiers.collect();
        let lists = program.lists.iter().map(|l| take(2 + l.fields.len()));
        let lists = lists.collect();
        let head = take(0);
        let of_workgroup = 2 * target.workgroups as usize;
        let waves_of = (0..).map(WaveId).take(program.waves.len());
        let partials = waves_of.map(|w| {
            let kept = reduced(program, w).into_iter();
            let kept = kept.filter(|r| program.reductions[r.index()].op != ReduceOp::ExactSum);
            kept.map(|r| (r, take(of_workgroup))).collect()
        });
        let partials = partials.collect();
        let hubs = program.waves.iter();
        let hubs = hubs.map(|w| take(w.domain.topology().map_or(0, |_| HUB_SLOTS as usize)));
        let hubs = hubs.collect();
        let most = groups(program).iter().map(|g| g.waves.len()).max();
        let records = take(0);
        // A group is dispatched once more for its hubs.
        take(2 * most.unwrap_or(0) * target.workgroups as usize * RECORD_WORDS as usize);
        let words = take(0);
        let frontier_counts = 2;
        let list_counts = frontier_counts + program.frontiers.len() as u32;
        let hub_counts = list_counts + program.lists.len() as u32;
        let mut counts = hub_counts + 2 * program.waves.len() as u32;
        let exact = program.reductions.iter().map(|reduction| {
            let at = counts;
            if reduction.op == ReduceOp::ExactSum {
                counts += 2 * exact::words(reduction.scalar).unwrap_or(0) as u32;
            }
            at
        });
        let exact = exact.collect();
        Slots {
            buffers,
            topologies,
            scalars,
            reductions,
            fixpoints,
            waves,
            frontiers,
            lists,
            head,
            partials,
            hubs,
            records,
            words,
            exact,
            frontier_counts,
            list_counts,
            hub_counts,
            counts,
        }
    }

    /// Words of `state` that the host looks at.
    pub(crate) fn head_words(&self) -> u32 {
        self.head
    }
    /// Words of `state`.
    pub(crate) fn state_words(&self) -> u32 {
        self.words
    }
    /// Words of `counts`.
    pub(crate) fn counts_words(&self) -> u32 {
        self.counts
    }
    /// Where the elements begin; the next word: how many there are.
    pub(crate) fn buffer(&self, b: BufferId) -> u32 {
        self.buffers + 2 * u32::from(b.0)
    }
    /// Where offsets and targets begin, edges, and the nodes of which a workgroup takes the edges together at most.
    pub(crate) fn topology(&self, t: TopologyId) -> u32 {
        self.topologies + 4 * u32::from(t.0)
    }
    /// Raw bits, low first.
    pub(crate) fn scalar(&self, s: ScalarId) -> u32 {
        self.scalars + 2 * u32::from(s.0)
    }
    /// Raw bits of its value, low first.
    pub(crate) fn reduction(&self, r: ReductionId) -> u32 {
        self.reductions + 2 * u32::from(r.0)
    }
    /// The round, rounds of the run, and rounds of the last time that it was done.
    pub(crate) fn fixpoint(&self, f: FixpointId) -> u32 {
        self.fixpoints + 3 * u32::from(f.0)
    }
    /// The first item of a sweep, the one behind its last, workgroups, items of a list that were swept, and sweeps.
    pub(crate) fn wave(&self, w: WaveId) -> u32 {
        self.waves + 5 * u32::from(w.0)
    }
    /// Capacity, where its stamps begin, epoch, items that are swept; then of each field where the side that is swept
    /// begins, and the one that takes pushes.
    pub(crate) fn frontier(&self, f: FrontierId) -> u32 {
        self.frontiers[f.index()]
    }
    /// Capacity, items that are swept; then where each field begins.
    pub(crate) fn list(&self, l: ListId) -> u32 {
        self.lists[l.index()]
    }
    /// What a wave reduces to without being exact, and where the values of its workgroups begin.
    pub(crate) fn partials(&self, w: WaveId) -> &[(ReductionId, u32)] {
        &self.partials[w.index()]
    }
    /// Where the nodes of its hubs begin, of a wave that sweeps edges.
    pub(crate) fn hubs(&self, w: WaveId) -> u32 {
        self.hubs[w.index()]
    }
    /// Where the records of faults begin.
    pub(crate) fn records(&self) -> u32 {
        self.records
    }
    /// Of `counts`: items that were pushed since the last flip; without an owner, in the run.
    pub(crate) fn pushed(&self, f: FrontierId) -> u32 {
        self.frontier_counts + u32::from(f.0)
    }
    /// Of `counts`: items that were appended.
    pub(crate) fn appended(&self, l: ListId) -> u32 {
        self.list_counts + u32::from(l.0)
    }
    /// Of `counts`: hubs that a sweep has met; the next word: how often all lanes of a workgroup have an edge of them.
    pub(crate) fn met(&self, w: WaveId) -> u32 {
        self.hub_counts + 2 * u32::from(w.0)
    }
    /// Of `counts`: the words of an exact sum, each low half first.
    pub(crate) fn exact(&self, r: ReductionId) -> u32 {
        self.exact[r.index()]
    }
}

/// The reductions that a wave takes values into.
pub(crate) fn reduced(program: &Program, wave: WaveId) -> Vec<ReductionId> {
    let kernel = &program.kernels[program.waves[wave.index()].kernel.index()];
    let words = kernel.code.iter().filter(|word| {
        let op = Op::from_code(word.op);
        matches!(op, Some(Op::Reduce32 | Op::Reduce64))
    });
    let mut ids: Vec<_> = words.map(|word| ReductionId(word.resource())).collect();
    ids.sort();
    ids.dedup();
    ids
}

/// A barrier group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Group {
    /// The step of its first wave.
    pub(crate) first: usize,
    /// In schedule order.
    pub(crate) waves: Vec<WaveId>,
}

impl Group {
    /// The step behind its last wave.
    pub(crate) fn end(&self) -> usize {
        self.first + self.waves.len()
    }
}

/// The groups of a schedule, in its order.
pub(crate) fn groups(program: &Program) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let numbers = groups_of(&program.schedule);
    for (at, step) in program.schedule.iter().enumerate() {
        let Step::Wave(wave) = *step else { continue };
        if groups.len() == numbers[at] as usize {
            groups.push(Group {
                first: at,
                waves: Vec::new(),
            });
        }
        groups[numbers[at] as usize].waves.push(wave);
    }
    groups
}
