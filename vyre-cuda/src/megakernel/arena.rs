//! Memory that scratch and frontiers share which never live at once ([`ArenaPlan`]), and how a state is laid out
//! ([`Manner`]).

use vyre_core::plan::arena::{self, Arena, Filling, Temporary};
use vyre_core::plan::cuda::{ALIGN, Shape};
use vyre_core::plan::footprint::Allocation;
use vyre_core::vir0::module::{Program, Resource};

/// One memory for temporaries: where each lies in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ArenaPlan {
    temporaries: Vec<Temporary>,
    arena: Arena,
    /// Where each begins in it and when it is filled; `None` of what no wave uses, and of buffers that are not scratch.
    pub(super) buffers: Vec<Option<(u64, Filling)>>,
    pub(super) frontiers: Vec<Option<(u64, Filling)>>,
}

/// Which results are beside the control words, so that one copy brings all of them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Packing {
    /// Of a session's own runs: those up to this size. Where `lists` says so, the launch packs what its lists hold behind
    /// the others; otherwise they have copies of their own.
    UpTo { bytes: u64, lists: bool },
    /// Of a batch's query, whose record has all of them. Its stamps are the state's, too, which begin anew.
    All,
}

/// How a state's memory is laid out.
#[derive(Clone, Copy)]
pub(super) struct Manner<'a> {
    pub(super) allocation: Allocation,
    pub(super) packing: Packing,
    /// That of an earlier run, which stays where this one is of the same sizes.
    pub(super) before: Option<&'a ArenaPlan>,
}

/// What is filled before the first wave.
pub(super) const AT_ONCE: Filling = Filling {
    phase: 0,
    waits: true,
};

impl ArenaPlan {
    /// Places for a run with these bytes of buffers and shapes of frontiers. Stamps of unique frontiers are shared with
    /// the rest in a batch, whose queries start them anew each time; a session's runs count them up, so that none has
    /// to be set.
    pub(super) fn new(
        program: &Program,
        (buffers, shapes): (&[u64], &[Shape]),
        manner: Manner<'_>,
    ) -> ArenaPlan {
        let named = arena::temporaries(program);
        let temporaries = named.iter().map(|&(resource, first, last)| {
            let bytes = match resource {
                Resource::Buffer(b) => buffers[b.index()],
                Resource::Queue(q) => {
                    let f = program.place_of(q);
                    let shape = &shapes[f];
                    shape.passing_bytes()
                        + match manner.packing {
                            Packing::All => shape.stamps_bytes(),
                            Packing::UpTo { .. } => 0,
                        }
                }
                Resource::Topology(_) | Resource::Reduction(_) => 0,
            };
            Temporary { bytes, first, last }
        });
        let temporaries: Vec<Temporary> = temporaries.collect();
        let same = |before: &&ArenaPlan| before.temporaries == temporaries;
        if let Some(same) = manner.before.filter(same) {
            return same.clone();
        }
        let arena = arena::pack(&temporaries, ALIGN);
        let fillings = arena.fillings(&temporaries);
        let mut plan = ArenaPlan {
            buffers: vec![None; program.buffers.len()],
            frontiers: vec![None; program.frontiers.len()],
            ..ArenaPlan::default()
        };
        for (i, (resource, ..)) in named.iter().enumerate() {
            let place = Some((arena.places[i], fillings[i]));
            match *resource {
                Resource::Buffer(b) => plan.buffers[b.index()] = place,
                Resource::Queue(q) => plan.frontiers[program.place_of(q)] = place,
                Resource::Topology(_) | Resource::Reduction(_) => {}
            }
        }
        ArenaPlan {
            temporaries,
            arena,
            ..plan
        }
    }

    pub(super) fn bytes(&self) -> u64 {
        self.arena.bytes
    }
}

#[cfg(test)]
mod tests {
    //! Encoded images are run step by step on a memory that knows whose each word is. Nothing here asks the planner.

    use super::super::memory::Needs;
    use super::super::per_cta::Laid;
    use super::super::tables::Tables;
    use super::*;
    use crate::abi::{self, step};
    use crate::image::{Layout, Ranges, Room};
    use crate::neighbor_loop::words::word;
    use std::collections::{HashMap, HashSet};
    use vyre_core::plan::cuda::Graphs;
    use vyre_core::vir0::isa::{IMM, Op, UNIFORM_BASE};
    use vyre_core::vir0::module::*;
    use vyre_core::vir0::scalar::Scalar;
    use vyre_core::vir0::sizes::Sizes;

    struct Random(u64);

    impl Random {
        fn below(&mut self, n: u64) -> u64 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            self.0 % n
        }

        fn one_in(&mut self, n: u64) -> bool {
            self.below(n) == 0
        }
    }

    const SCRATCH: u64 = 5;
    const FRONTIERS: u64 = 4;

    fn kernel(code: Vec<vyre_core::vir0::isa::Word>, uniforms: Vec<Uniform>) -> Kernel {
        Kernel {
            name: "k".into(),
            code,
            rows: 2,
            frames: 0,
            item: ItemRows::default(),
            uniforms,
            sites: vec![],
        }
    }

    /// Waves with random accesses in groups and nested fixpoints, some of which swap.
    fn random(random: &mut Random) -> Program {
        let scratch = (0..SCRATCH).map(|i| Buffer {
            name: format!("b{i}"),
            scalar: if i == 0 { Scalar::U64 } else { Scalar::U32 },
            extent: match i {
                3 => Extent::Fixed(150),
                4 => Extent::Edges(TopologyId(0)),
                _ => Extent::Nodes,
            },
            role: Role::Scratch,
            init: Some(ConstantId(i as u16)),
            reset: None,
        });
        let out = Buffer {
            name: "out".into(),
            scalar: Scalar::U32,
            extent: Extent::Nodes,
            role: Role::Output,
            init: None,
            reset: None,
        };
        let mut program = Program {
            topologies: vec![Topology {
                name: "graph".into(),
                reverse_of: None,
            }],
            buffers: scratch.chain([out]).collect(),
            constants: (0..SCRATCH)
                .map(|i| Constant {
                    scalar: Scalar::U32,
                    bits: 100 + i,
                })
                .collect(),
            frontiers: (0..FRONTIERS)
                .map(|i| Queue {
                    name: format!("f{i}"),
                    fields: match i {
                        3 => vec![Scalar::U64, Scalar::U8],
                        _ => vec![],
                    },
                    capacity: match i {
                        0 => Extent::NodesPlusEdges,
                        3 => Extent::Fixed(70),
                        _ => Extent::Nodes,
                    },
                    unique: i == 1 || i == 2,
                    stays: false,
                    owner: (i == 0).then_some(FixpointId(0)),
                    output: false,
                    reset: None,
                })
                .collect(),
            ..Program::default()
        };
        let mut steps = Vec::new();
        scope(random, &mut program, None, &mut steps);
        steps.push(Step::End);
        program.schedule = steps;
        let waves = program.waves.len() as u16;
        for i in 0..program.fixpoints.len() {
            program.fixpoints[i].until = KernelId(waves + i as u16);
            let enough = word(Op::Eq32, 0, UNIFORM_BASE, IMM, 1);
            let code = vec![enough, word(Op::RetV, 0, 0, 0, 0)];
            program.kernels.push(kernel(code, vec![Uniform::Round]));
        }
        program
    }

    fn scope(
        random: &mut Random,
        program: &mut Program,
        within: Option<FixpointId>,
        steps: &mut Vec<Step>,
    ) {
        for _ in 0..1 + random.below(if within.is_none() { 6 } else { 2 }) {
            if matches!(steps.last(), Some(Step::Wave(_))) {
                steps.push(Step::Barrier);
            }
            let depth = steps.iter().filter(|s| matches!(s, Step::Loop(_))).count()
                - steps.iter().filter(|s| matches!(s, Step::Until(_))).count();
            if depth < 2 && random.one_in(3) {
                let id = FixpointId(program.fixpoints.len() as u16);
                program.fixpoints.push(Fixpoint {
                    name: "loop".into(),
                    parent: within,
                    until: KernelId(0),
                    condition: String::new(),
                    max_rounds: 5,
                    swaps: match random.one_in(3) {
                        true => vec![(BufferId(1), BufferId(2))],
                        false => vec![],
                    },
                    after: vec![],
                    site: SiteId(0),
                });
                steps.push(Step::Loop(id));
                scope(random, program, Some(id), steps);
                steps.push(Step::Until(id));
            } else {
                for _ in 0..1 + random.below(2) {
                    let id = WaveId(program.waves.len() as u16);
                    let mut accesses = Vec::new();
                    for _ in 0..1 + random.below(2) {
                        let resource = match random.one_in(3) {
                            false => Resource::Buffer(BufferId(random.below(SCRATCH) as u16)),
                            true => FrontierId(random.below(FRONTIERS) as u16).into(),
                        };
                        let mode = Mode::Write;
                        accesses.push(Access { resource, mode });
                    }
                    program.waves.push(Wave {
                        name: "wave".into(),
                        kernel: KernelId(id.0),
                        domain: match random.one_in(4) {
                            true => Domain::EdgesFrom(TopologyId(0), FrontierId(0)),
                            false => Domain::Nodes,
                        },
                        accesses,
                        fixpoint: within,
                        after: vec![],
                    });
                    let ret = vec![word(Op::Ret, 0, 0, 0, 0)];
                    program.kernels.push(kernel(ret, vec![]));
                    steps.push(Step::Wave(id));
                }
            }
        }
    }

    /// Where the memory of the query lies.
    const BASES: [u64; 3] = [1 << 20, 1 << 30, 1 << 31];

    /// The image of a query, and the bytes of its state.
    fn image_of(program: &Program, sizes: &Sizes, allocation: Allocation) -> (Vec<u8>, u64) {
        let room = Room {
            shared_bytes: 200 << 10,
            clusters: false,
            shape: crate::shape::Shape::INTERPRETER,
        };
        let layout = Layout::new((program, allocation), room, &[4.0], 4).expect("it is small");
        let graphs = Graphs {
            hubs: vec![false],
            partition_bytes: vec![0],
        };
        let manner = Manner {
            allocation,
            packing: Packing::All,
            before: None,
        };
        let needs = Needs::new(program, (sizes, &graphs), manner).expect("sizes are known");
        let laid = Laid::new(program, &needs);
        let tables = Tables {
            program,
            layout: &layout,
            code: 0,
            abort: 0,
            most_steps: None,
            sizes,
            topologies: vec![abi::Topology::default()],
            shapes: &laid.shapes,
            stamps: &[],
            ranges: vec![Ranges::default(); program.waves.len()],
            time_waves: false,
            compiled: false,
        };
        let image = tables.encode(&laid.places(BASES, |_| 0));
        (image, laid.slab_bytes)
    }

    /// Entry `index` of a table of the image.
    fn entry<T: abi::Pod>(image: &[u8], table: u32, index: u32) -> T {
        let at = table as usize + index as usize * size_of::<T>();
        assert!(at + size_of::<T>() <= image.len());
        // SAFETY: in bounds; every bit pattern is a value.
        unsafe { image[at..].as_ptr().cast::<T>().read_unaligned() }
    }

    fn put<T: abi::Pod>(image: &mut [u8], table: u32, index: u32, value: T) {
        let at = table as usize + index as usize * size_of::<T>();
        image[at..at + size_of::<T>()].copy_from_slice(crate::abi::bytes_of(&[value]));
    }

    /// Whose a word of memory is.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Owner {
        Filled(u32),
        /// By the buffer whose memory it is.
        Buffer(u32),
        Frontier(u32),
    }

    struct Machine<'a> {
        program: &'a Program,
        sizes: &'a Sizes,
        image: &'a [u8],
        head: abi::Image,
        buffers: Vec<abi::Buffer>,
        words: HashMap<u64, Owner>,
        /// Since the last barrier.
        filled: HashSet<u64>,
        used: HashSet<u64>,
        /// A frontier that was used holds something.
        begun: Vec<bool>,
    }

    impl<'a> Machine<'a> {
        fn new(program: &'a Program, sizes: &'a Sizes, image: &'a [u8]) -> Machine<'a> {
            let head: abi::Image = entry(image, 0, 0);
            let buffers = 0..program.buffers.len() as u32;
            Machine {
                program,
                sizes,
                image,
                head,
                buffers: buffers.map(|b| entry(image, head.buffers, b)).collect(),
                words: HashMap::new(),
                filled: HashSet::new(),
                used: HashSet::new(),
                begun: vec![false; program.frontiers.len()],
            }
        }

        fn barrier(&mut self) {
            self.filled.clear();
            self.used.clear();
        }

        fn fill(&mut self, fill: abi::Fill) -> Result<(), String> {
            for at in fill.address / 4..(fill.address + 16 * fill.units) / 4 {
                if self.used.contains(&at) {
                    return Err(format!("{at:#x} is filled while it is used"));
                }
                let half = if at % 2 == 0 { 0 } else { 32 };
                self.filled.insert(at);
                self.words
                    .insert(at, Owner::Filled((fill.pattern >> half) as u32));
            }
            Ok(())
        }

        fn take(&mut self, at: u64, owner: Owner, begins_with: Option<u32>) -> Result<(), String> {
            if self.filled.contains(&at) {
                return Err(format!(
                    "{owner:?} uses {at:#x} before what fills it is done"
                ));
            }
            self.used.insert(at);
            match (self.words.insert(at, owner), begins_with) {
                (Some(held), _) if held == owner => Ok(()),
                (Some(Owner::Filled(with)), Some(wanted)) if with == wanted => Ok(()),
                (_, None) => Ok(()),
                (held, Some(_)) => Err(format!("{owner:?} finds {held:?} at {at:#x}")),
            }
        }

        fn uses(&mut self, resource: Resource) -> Result<(), String> {
            match resource {
                Resource::Buffer(b) => {
                    let buffer = self.buffers[b.index()];
                    let home = &self.program.buffers[buffer.home as usize];
                    let init = home
                        .init
                        .map_or(0, |c| self.program.constants[c.index()].bits);
                    let words = u64::from(buffer.len) * home.scalar.size_bytes() / 4;
                    for i in 0..words {
                        let half = match home.scalar {
                            Scalar::U64 => init >> (32 * (i % 2)),
                            _ => init,
                        };
                        let owner = Owner::Buffer(buffer.home);
                        self.take(buffer.data / 4 + i, owner, Some(half as u32))?;
                    }
                }
                Resource::Queue(QueueId::Frontier(f)) => {
                    let table: abi::Frontier = entry(self.image, self.head.frontiers, f.0.into());
                    let owner = Owner::Frontier(f.0.into());
                    let begun = std::mem::replace(&mut self.begun[f.index()], true);
                    // What it holds is still there; before, its memory may be anyone's.
                    let held = begun.then_some(u32::MAX);
                    let capacity = u64::from(table.capacity);
                    let mut parts = Vec::new();
                    if table.record == abi::NONE {
                        parts.extend(table.items.map(|at| (at, 4 * capacity)));
                    } else {
                        let record: abi::Record =
                            entry(self.image, self.head.records, table.record);
                        let fields = &self.program.frontiers[f.index()].fields;
                        for (i, field) in fields.iter().enumerate() {
                            let bytes = (field.size_bytes() * capacity).next_multiple_of(4);
                            parts.extend([0, 8].map(|side| (record.fields[side + i], bytes)));
                        }
                    }
                    parts.extend(table.ranges.map(|at| (at, 8 * u64::from(table.ranges_len))));
                    parts.extend(table.hubs.map(|at| (at, 16 * u64::from(table.hubs_len))));
                    let mut mine = HashSet::new();
                    for (at, bytes) in parts {
                        for at in at / 4..(at + bytes) / 4 {
                            assert!(mine.insert(at), "its own parts are apart");
                            self.take(at, owner, held)?;
                        }
                    }
                    if table.stamps != 0 {
                        for i in 0..self.sizes.nodes {
                            assert!(mine.insert(table.stamps / 4 + i));
                            self.take(table.stamps / 4 + i, owner, Some(0))?;
                        }
                    }
                }
                Resource::Queue(QueueId::List(_)) => {}
                Resource::Topology(_) | Resource::Reduction(_) => {}
            }
            Ok(())
        }

        /// Follows the schedule as the device does, two rounds of each fixpoint; what goes wrong.
        fn run(&mut self) -> Result<(), String> {
            let mut rounds = vec![0; self.program.fixpoints.len()];
            let mut pc = 0;
            loop {
                let step: abi::Step = entry(self.image, self.head.steps, pc);
                pc += 1;
                match step.kind {
                    step::FILL => {
                        for i in 0..step.pushed_count {
                            self.fill(entry(self.image, self.head.fills, step.pushed + i))?;
                        }
                    }
                    step::WAVE => {
                        let wave = &self.program.waves[step.id as usize];
                        let accesses = wave.accesses.iter().map(|a| a.resource);
                        for resource in accesses.chain(wave.domain.reads()) {
                            self.uses(resource)?;
                        }
                    }
                    step::BARRIER => self.barrier(),
                    step::LOOP => rounds[step.id as usize] = 0,
                    step::ROUND | step::HUBS => {}
                    step::UNTIL => {
                        self.barrier();
                        let fixpoint: abi::Fixpoint =
                            entry(self.image, self.head.fixpoints, step.id);
                        for i in 0..fixpoint.swap_count {
                            let of = |side| -> u32 {
                                entry::<[u32; 1]>(
                                    self.image,
                                    self.head.lists,
                                    fixpoint.swaps + 2 * i + side,
                                )[0]
                            };
                            self.buffers.swap(of(0) as usize, of(1) as usize);
                        }
                        rounds[step.id as usize] += 1;
                        if rounds[step.id as usize] < 2 {
                            pc = fixpoint.body;
                        }
                    }
                    step::END => return Ok(()),
                    other => return Err(format!("step {other}")),
                }
            }
        }
    }

    // SAFETY: an array of one is as its element.
    unsafe impl abi::Pod for [u32; 1] {}

    fn run(program: &Program, sizes: &Sizes, image: &[u8]) -> Result<(), String> {
        Machine::new(program, sizes, image).run()
    }

    fn sizes(random: &mut Random) -> Sizes {
        Sizes {
            nodes: 1 + random.below(90),
            edges: vec![random.below(120)],
            scalars: vec![],
            ..Sizes::default()
        }
    }

    #[test]
    fn what_lives_keeps_its_memory_and_begins_with_what_it_was_filled_with() {
        let mut state = Random(5);
        let (mut smaller, mut later) = (0, 0);
        for _ in 0..50 {
            let program = random(&mut state);
            let sizes = sizes(&mut state);
            let (image, apart) = image_of(&program, &sizes, Allocation::Separate);
            assert_eq!(run(&program, &sizes, &image), Ok(()));
            let (image, together) = image_of(&program, &sizes, Allocation::Shared);
            assert_eq!(
                run(&program, &sizes, &image),
                Ok(()),
                "{:?}",
                program.schedule
            );
            smaller += u32::from(together < apart);
            later += u32::from(fills_after_the_start(&image).count() > 0);
            // By what the footprint says.
            let graphs = Graphs {
                hubs: vec![false],
                partition_bytes: vec![0],
            };
            let target = vyre_core::plan::footprint::Target::Device(&graphs);
            let takes = vyre_core::plan::footprint::footprint_on(&program, &sizes, target).unwrap();
            let stamps = program.frontiers.iter().filter(|f| f.unique).count() as u64;
            let stamps = stamps * (4 * sizes.nodes).next_multiple_of(ALIGN);
            let state_bytes = takes.shared_bytes - takes.resident_bytes;
            assert!(together <= state_bytes + stamps, "{together} {takes:?}");
        }
        assert!(smaller > 20 && later > 12, "{smaller} {later}");
    }

    /// The steps that fill something later than the first one does.
    fn fills_after_the_start(image: &[u8]) -> impl Iterator<Item = u32> {
        let head: abi::Image = entry(image, 0, 0);
        let steps = (head.waves - head.steps) / size_of::<abi::Step>() as u32;
        (1..steps).filter(move |&at| {
            let found: abi::Step = entry(image, head.steps, at);
            found.kind == step::FILL && found.pushed_count > 0
        })
    }

    #[test]
    fn a_fill_that_is_missing_early_or_not_waited_for_is_found() {
        let mut state = Random(9);
        let (mut missing, mut early, mut unnoticed, mut hasty) = (0, 0, 0, 0);
        for _ in 0..50 {
            let program = random(&mut state);
            let sizes = sizes(&mut state);
            let (image, _) = image_of(&program, &sizes, Allocation::Shared);
            let head: abi::Image = entry(&image, 0, 0);
            for at in fills_after_the_start(&image).collect::<Vec<_>>() {
                let found: abi::Step = entry(&image, head.steps, at);
                let none = abi::Step {
                    pushed_count: 0,
                    ..found
                };
                let mut changed = image.clone();
                put(&mut changed, head.steps, at, none);
                assert!(run(&program, &sizes, &changed).is_err(), "without");
                missing += 1;
                // With the first ones, in place of those that belong there.
                let mut changed = image.clone();
                put(&mut changed, head.steps, at, none);
                let first: abi::Step = entry(&image, head.steps, 0);
                if first.pushed_count == 0 || first.pushed + first.pushed_count == found.pushed {
                    let all = abi::Step {
                        pushed: if first.pushed_count == 0 {
                            found.pushed
                        } else {
                            first.pushed
                        },
                        pushed_count: first.pushed_count + found.pushed_count,
                        ..first
                    };
                    put(&mut changed, head.steps, 0, all);
                    // Not where those before it only had the memory between their parts.
                    unnoticed += u32::from(run(&program, &sizes, &changed).is_ok());
                    early += 1;
                }
                // In a fixpoint, a later group may be the first that uses it.
                let [behind, then] = [1, 2].map(|i| entry::<abi::Step>(&image, head.steps, at + i));
                if (behind.kind, then.kind) == (step::BARRIER, step::WAVE) {
                    let mut changed = image.clone();
                    put(&mut changed, head.steps, at + 1, none);
                    assert!(
                        run(&program, &sizes, &changed).is_err(),
                        "without a barrier"
                    );
                    hasty += 1;
                }
            }
        }
        assert!(
            missing > 20 && early > 10 && hasty > 10,
            "{missing} {early} {hasty}"
        );
        assert!(unnoticed * 4 < early, "{unnoticed} of {early}");
    }
}
