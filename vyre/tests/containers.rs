//! Mutated containers, run through their whole schedules.
//!
//! A container of a compiled pass is changed, its hash repaired. Whatever comes out: decoding and verifying answer, and
//! what verifies runs or traps, without a panic, in the same way each time: on the VIR0 interpreter with memory of its
//! own for each resource and with memory shared by barrier group, a second time in the same session, and, where the
//! functions of the pass still are what the program says, natively with both.
//!
//! It takes a second. `VYRE_FUZZ=1000000` is the number of containers, `VYRE_FUZZ=17..18` one of them; with
//! `--nocapture` it says what became of them.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use vyre::Csr;
use vyre_core::cpu::native::{Functions, NativeExecutor};
use vyre_core::cpu::vir0::Vir0Executor;
use vyre_core::dsl::columns::Column;
use vyre_core::dsl::error::RunError;
use vyre_core::plan::footprint::{Allocation, footprint};
use vyre_core::run::args::{Args, TopologyArgs};
use vyre_core::run::backend::Executor;
use vyre_core::run::pass::Pass;
use vyre_core::vir0::container::{decode, encode};
use vyre_core::vir0::disasm;
use vyre_core::vir0::module::*;
use vyre_core::vir0::scalar::Scalar;
use vyre_core::vir0::verify::verify;
use vyre_tests::passes::{mixed, phases, work};
use vyre_tests::random;

/// What changes are made of.
struct Random(random::Random);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0.below(n as u32) as usize
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// Small as a rule, since ids and lengths are; sometimes at an edge.
    fn value(&mut self) -> u64 {
        match self.below(8) {
            0 => self.0.bits(),
            1 => 1 << self.below(64),
            2 => u64::MAX - self.below(3) as u64,
            _ => self.below(9) as u64,
        }
    }

    fn id(&mut self, count: usize) -> u16 {
        match self.one_in(12) {
            true => self.value() as u16,
            false => self.below(count) as u16,
        }
    }

    fn pick<'t, T>(&mut self, list: &'t mut [T]) -> Option<&'t mut T> {
        let at = self.below(list.len());
        list.get_mut(at)
    }
}

/// Changes something of the program that the tables or the schedule say.
fn change(p: &mut Program, random: &mut Random) {
    let counts = (
        p.waves.len(),
        p.fixpoints.len(),
        p.frontiers.len(),
        p.buffers.len(),
    );
    let (waves, fixpoints, frontiers, buffers) = counts;
    let constants = p.constants.len();
    let reductions = p.reductions.len();
    let scope = |random: &mut Random| {
        let f = FixpointId(random.id(fixpoints));
        (!random.one_in(3)).then_some(f)
    };
    match random.below(24) {
        0 | 1 => {
            let at = random.below(p.schedule.len());
            let step = match random.below(5) {
                0 => Step::Wave(WaveId(random.id(waves))),
                1 => Step::Loop(FixpointId(random.id(fixpoints))),
                2 => Step::Until(FixpointId(random.id(fixpoints))),
                3 => Step::End,
                _ => Step::Barrier,
            };
            p.schedule.insert(at, step);
        }
        2 => {
            let at = random.below(p.schedule.len());
            p.schedule.remove(at);
        }
        3..=6 => {
            let (a, b) = (
                random.below(p.schedule.len()),
                random.below(p.schedule.len()),
            );
            p.schedule.swap(a, b);
        }
        7 => {
            // A whole part of the schedule elsewhere.
            let mut ends = [0, 0, 0].map(|_| random.below(p.schedule.len()));
            ends.sort_unstable();
            p.schedule[ends[0]..ends[2]].rotate_left(ends[1] - ends[0]);
        }
        8 => {
            let to = scope(random);
            if let Some(wave) = random.pick(&mut p.waves) {
                wave.fixpoint = to;
            }
        }
        9 => {
            let to = extent(random, counts);
            if let Some(buffer) = random.pick(&mut p.buffers) {
                buffer.extent = to;
            }
        }
        10 | 11 => {
            let to = extent(random, counts);
            let unique = random.one_in(2);
            if let Some(frontier) = random.pick(&mut p.frontiers) {
                frontier.capacity = if unique { Extent::Nodes } else { to };
                frontier.unique = unique && frontier.fields.is_empty();
            }
        }
        12 => {
            let to = extent(random, counts);
            if let Some(list) = random.pick(&mut p.lists) {
                list.capacity = to;
                list.output = random.one_in(2);
            }
        }
        13 => {
            let (to, what) = (scope(random), random.one_in(2));
            let owner = match what {
                true => random.pick(&mut p.frontiers).map(|x| &mut x.owner),
                false => random.pick(&mut p.reductions).map(|x| &mut x.owner),
            };
            if let Some(owner) = owner {
                *owner = to;
            }
        }
        14 => {
            let to = *[Role::Output, Role::Scratch, Role::InOut, Role::Input]
                .get(random.below(5))
                .unwrap_or(&Role::Topology);
            if let Some(buffer) = random.pick(&mut p.buffers) {
                buffer.role = to;
            }
        }
        15 => {
            let to = (!random.one_in(3)).then(|| ConstantId(random.id(constants)));
            if let Some(buffer) = random.pick(&mut p.buffers) {
                buffer.init = to;
            }
        }
        16 => {
            let swap = (BufferId(random.id(buffers)), BufferId(random.id(buffers)));
            if let Some(fixpoint) = random.pick(&mut p.fixpoints) {
                fixpoint.swaps = vec![swap];
            }
        }
        17 => {
            let to = match random.one_in(3) {
                true => random.value(),
                false => random.below(5) as u64,
            };
            if let Some(fixpoint) = random.pick(&mut p.fixpoints) {
                fixpoint.max_rounds = to;
            }
        }
        18 => {
            let to = match random.below(6) {
                0 => Domain::Once,
                1 => Domain::Range(extent(random, counts)),
                2 => Domain::Items(FrontierId(random.id(frontiers))),
                3 => Domain::Edges(TopologyId(random.id(2))),
                4 => Domain::EdgesFrom(TopologyId(random.id(2)), FrontierId(random.id(frontiers))),
                _ => Domain::Nodes,
            };
            if let Some(wave) = random.pick(&mut p.waves) {
                wave.domain = to;
            }
        }
        19 => {
            let to = match random.below(6) {
                0 => Uniform::Round,
                1 => Uniform::Nodes,
                2 => Uniform::FrontierLen(FrontierId(random.id(frontiers))),
                3 => Uniform::Reduction(ReductionId(random.id(reductions))),
                4 => Uniform::ListLen(ListId(0)),
                _ => Uniform::Constant(ConstantId(random.id(constants))),
            };
            if let Some(kernel) = random.pick(&mut p.kernels)
                && let Some(uniform) = random.pick(&mut kernel.uniforms)
            {
                *uniform = to;
            }
        }
        20 | 21 => {
            let (what, to) = (random.below(5), random.value());
            if let Some(kernel) = random.pick(&mut p.kernels)
                && let Some(word) = random.pick(&mut kernel.code)
            {
                match what {
                    0 => word.op = to as u8,
                    1 => word.d = to as u8,
                    2 => word.a = to as u8,
                    3 => word.b = to as u8,
                    _ => word.imm ^= 1 << (to % 32),
                }
            }
        }
        22 => {
            let to = random.value();
            if let Some(constant) = random.pick(&mut p.constants) {
                constant.bits = to;
            }
        }
        _ => {
            let from = p.waves.get(random.below(waves)).map(|w| w.accesses.clone());
            if let (Some(from), Some(wave)) = (from, random.pick(&mut p.waves)) {
                wave.accesses.extend(from);
                wave.accesses.sort_unstable();
                wave.accesses.dedup_by_key(|a| a.resource);
            }
        }
    }
}

fn extent(random: &mut Random, (.., frontiers, buffers): (usize, usize, usize, usize)) -> Extent {
    match random.below(8) {
        0 => Extent::Nodes,
        1 => Extent::NodesPlusEdges,
        2 => Extent::Edges(TopologyId(random.id(2))),
        3 => Extent::Scalar(ScalarId(random.id(2))),
        4 => Extent::Constant(ConstantId(random.id(frontiers + buffers))),
        5 => Extent::NodeBits(Width::Fixed(random.value() as u32)),
        _ => Extent::Fixed(random.value()),
    }
}

/// Changes bytes, half of them in the section that says what the schedule is.
fn change_bytes(bytes: &mut [u8], random: &mut Random) {
    let field = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
    let section = |i: usize| (field(24 + 12 * i) as usize, field(28 + 12 * i) as usize);
    let (from, len) = match random.below(4) {
        0 => (0, bytes.len()),
        1 => section(0),
        2 => section(2),
        _ => section(3),
    };
    let at = from + random.below(len);
    let Some(byte) = bytes.get_mut(at) else {
        return;
    };
    *byte = match random.below(4) {
        0 => byte.wrapping_add(1),
        1 => byte.wrapping_sub(1),
        2 => *byte ^ 1 << random.below(8),
        _ => random.value() as u8,
    };
}

/// Puts the content hash into the header: FNV-1a over section 3, then section 2.
fn rehash(bytes: &mut [u8]) {
    let field = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    for row in [20 + 2 * 12, 20 + 12] {
        let (offset, len) = (field(row + 4) as usize, field(row + 8) as usize);
        let end = offset.saturating_add(len).min(bytes.len());
        for &byte in bytes.get(offset..end).unwrap_or_default() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
    }
    bytes[8..16].copy_from_slice(&hash.to_le_bytes());
}

/// Whether the functions of the original pass are still the kernels of this program, over the same data: then the
/// native executor may be given it. Order, scopes, limits, capacities and what is read back may be others.
fn is_native(original: &Program, changed: &Program) -> bool {
    if (changed.waves.len(), changed.fixpoints.len())
        != (original.waves.len(), original.fixpoints.len())
        || (changed.frontiers.len(), changed.lists.len())
            != (original.frontiers.len(), original.lists.len())
        || (changed.buffers.len(), changed.reductions.len())
            != (original.buffers.len(), original.reductions.len())
    {
        return false;
    }
    let mut p = changed.clone();
    p.schedule.clone_from(&original.schedule);
    p.manifest.clone_from(&original.manifest);
    p.agreement = original.agreement.clone();
    for (x, o) in p.waves.iter_mut().zip(&original.waves) {
        x.fixpoint = o.fixpoint;
        x.after.clone_from(&o.after);
    }
    for (x, o) in p.fixpoints.iter_mut().zip(&original.fixpoints) {
        *x = o.clone();
    }
    for (x, o) in p.frontiers.iter_mut().zip(&original.frontiers) {
        (x.capacity, x.unique, x.owner) = (o.capacity, o.unique, o.owner);
    }
    for (x, o) in p.lists.iter_mut().zip(&original.lists) {
        (x.capacity, x.output) = (o.capacity, o.output);
    }
    for (x, o) in p.reductions.iter_mut().zip(&original.reductions) {
        (x.owner, x.output) = (o.owner, o.output);
    }
    for (x, o) in p.buffers.iter_mut().zip(&original.buffers) {
        x.init = o.init;
        if let (Role::Output | Role::Scratch, Role::Output | Role::Scratch) = (x.role, o.role) {
            x.role = o.role;
        }
    }
    // Who is called what does not matter; where a fault lies does.
    p == *original
}

/// The most bytes that a program is given.
const BUDGET: u64 = 1 << 20;
/// The most work that a run may take.
const WORK: u64 = 20_000;

/// What a run leaves, as raw bits, NaNs alike.
type Left = Result<(Vec<Vec<u64>>, Vec<u64>, Vec<u64>), RunError>;

fn bits(column: &Column) -> Vec<u64> {
    let plain = |at| {
        let bits = column.get(at).expect("inside");
        match column {
            Column::F32(_) if f32::from_bits(bits as u32).is_nan() => f32::NAN.to_bits().into(),
            Column::F64(_) if f64::from_bits(bits).is_nan() => f64::NAN.to_bits(),
            _ => bits,
        }
    };
    (0..column.len()).map(plain).collect()
}

fn left(executor: &mut dyn Executor, args: &Args<'_>) -> Left {
    executor.run(args).map(|o| {
        let lists = o.lists.iter().flat_map(|(_, columns)| columns);
        let columns = o.outputs.iter().map(|(_, c)| c).chain(lists);
        let reductions = o.reductions.iter().map(|&(_, bits)| bits).collect();
        (columns.map(bits).collect(), reductions, o.report.rounds)
    })
}

/// The pass's own functions.
type Native =
    fn(Arc<Program>, &TopologyArgs<'_>, Allocation) -> Result<Box<dyn Executor>, RunError>;

fn native<P: Functions>(
    program: Arc<Program>,
    topology: &TopologyArgs<'_>,
    allocation: Allocation,
) -> Result<Box<dyn Executor>, RunError> {
    let executor = NativeExecutor::<P>::new(program, topology, allocation)?;
    Ok(Box::new(executor.with_work_limit(WORK)))
}

fn vir0(
    program: Arc<Program>,
    topology: &TopologyArgs<'_>,
    allocation: Allocation,
) -> Result<Box<dyn Executor>, RunError> {
    let executor = Vir0Executor::new(program, topology, allocation)?;
    Ok(Box::new(executor.with_work_limit(WORK)))
}

/// Values of each type for columns and scalars.
fn value(scalar: Scalar, random: &mut Random) -> u64 {
    let small = random.below(12) as u64;
    match scalar {
        Scalar::Bool => small & 1,
        Scalar::U8 | Scalar::U32 | Scalar::U64 => small,
        Scalar::I32 | Scalar::I64 => (small as i64 - 4) as u64,
        Scalar::F32 => (small as f32 / 8.0).to_bits().into(),
        Scalar::F64 => (small as f64 / 8.0).to_bits(),
    }
}

fn column(scalar: Scalar, len: u64, random: &mut Random) -> Column {
    let mut column = Column::filled(scalar, 0, 0);
    for _ in 0..len {
        column.push(value(scalar, random));
    }
    column
}

struct Seed {
    name: &'static str,
    program: Program,
    container: Vec<u8>,
    native: Native,
}

fn seed<P: Pass + Functions>(name: &'static str) -> Seed {
    let program = P::PARTS.program().expect("the macro made it");
    Seed {
        name,
        container: encode(&program),
        program,
        native: native::<P>,
    }
}

/// What became of the containers.
#[derive(Default)]
struct Counts(BTreeMap<String, u64>);

impl Counts {
    fn add(&mut self, what: impl Into<String>) {
        *self.0.entry(what.into()).or_default() += 1;
    }

    fn of(&self, what: &str) -> u64 {
        self.0.get(what).copied().unwrap_or(0)
    }
}

/// One mutated container; what it was is in `now` when this panics.
fn case(seeds: &[Seed], case: u64, counts: &mut Counts, now: &mut String) {
    let mut random = Random(random::Random(case << 32));
    let seed = &seeds[random.below(seeds.len())];
    let mut bytes = if random.one_in(6) {
        seed.container.clone()
    } else {
        let mut program = seed.program.clone();
        // Most changes break a rule. Half of the containers have some that do not, one upon the other.
        let sound = random.one_in(2);
        for _ in 0..=random.below(if sound { 12 } else { 3 }) {
            let before = sound.then(|| program.clone());
            change(&mut program, &mut random);
            if let Some(before) = before.filter(|_| verify(&program).is_err()) {
                program = before;
            }
        }
        encode(&program)
    };
    if random.one_in(4) || bytes == seed.container {
        for _ in 0..=random.below(3) {
            change_bytes(&mut bytes, &mut random);
        }
    }
    rehash(&mut bytes);
    counts.add("containers");
    let program = match decode(&bytes) {
        Ok(program) => program,
        Err(_) => return counts.add("not decoded"),
    };
    assert_eq!(encode(&program), bytes, "one byte string for a program");
    if let Err(errors) = verify(&program) {
        assert!(!errors.is_empty());
        return counts.add("not verified");
    }
    counts.add("verified");
    *now = disasm::program(&program);

    // Sizes: nodes, and edges of each topology that is given.
    let nodes = 1 + random.below(9);
    let graphs: Vec<Csr> = program
        .topologies
        .iter()
        .filter(|t| t.reverse_of.is_none())
        .map(|_| {
            let count = random.below(20);
            let mut node = || random.below(nodes) as u32;
            let edges: Vec<(u32, u32)> = (0..count)
                .map(|_| {
                    // Ascending: no sweep turns its frontier round.
                    let (a, b) = (node(), node());
                    (a.min(b), a.max(b))
                })
                .collect();
            Csr::from_edges(nodes, &edges).expect("edges name nodes")
        })
        .collect();
    let graphs = TopologyArgs {
        graphs: graphs.iter().collect(),
        columns: Vec::new(),
    };
    let mut sizes = graphs.sizes(&program);
    let scalars = program.scalars.iter();
    sizes.scalars = scalars.map(|s| value(s.scalar, &mut random)).collect();
    match footprint(&program, &sizes) {
        Ok(takes) if takes.separate_bytes <= BUDGET => {}
        Ok(_) | Err(_) => return counts.add("too large"),
    }
    let columns: Vec<(BufferId, Role, Column)> = (0..=u16::MAX)
        .map(BufferId)
        .zip(&program.buffers)
        .filter(|(_, b)| matches!(b.role, Role::Topology | Role::Input | Role::InOut))
        .map(|(id, b)| {
            let len = sizes.resolve(&program, b.extent).expect("sizes are known");
            (id, b.role, column(b.scalar, len, &mut random))
        })
        .collect();
    let (of_session, of_run): (Vec<_>, Vec<_>) = columns
        .iter()
        .partition(|(_, role, _)| *role == Role::Topology);
    let topology = TopologyArgs {
        columns: of_session
            .iter()
            .map(|(id, _, c)| (*id, c.as_slice()))
            .collect(),
        ..graphs
    };
    let args = Args {
        scalars: sizes.scalars,
        inputs: of_run
            .iter()
            .map(|(id, _, c)| (*id, c.as_slice()))
            .collect(),
    };
    let program = Arc::new(program);
    let mut runs: Vec<(&str, Left)> = Vec::new();
    let mut executors: Vec<(&str, Native)> = vec![("vir0", vir0)];
    if is_native(&seed.program, &program) {
        counts.add("run natively too");
        executors.push(("native", seed.native));
    }
    for (_, make) in &executors {
        for (name, allocation) in [
            ("separate", Allocation::Separate),
            ("shared", Allocation::Shared),
        ] {
            match make(Arc::clone(&program), &topology, allocation) {
                Ok(mut executor) => {
                    runs.push((name, left(&mut *executor, &args)));
                    runs.push(("again", left(&mut *executor, &args)));
                }
                // A width that was changed may be a topology's.
                Err(e @ RunError::RowBit { .. }) => runs.push((name, Err(e))),
                Err(e) => panic!("what it takes was looked at: {e}"),
            }
        }
    }
    let first = &runs[0].1;
    counts.add(match first {
        Ok(_) => "finished".to_owned(),
        Err(RunError::Trap(trap)) => format!("trapped: {:?}", trap.kind),
        Err(RunError::Work { .. }) => "stopped: too much work".to_owned(),
        Err(RunError::TooLong { .. }) => "refused: too long a range".to_owned(),
        Err(RunError::RowBit { .. }) => "refused: bits beyond a width that was changed".to_owned(),
        Err(e) => panic!("{e}"),
    });
    for (at, (name, other)) in runs.iter().enumerate().skip(1) {
        // Turns of loops in the user's functions are not counted.
        let stopped = |left: &Left| matches!(left, Err(RunError::Work { .. }));
        if at >= 4 && (stopped(first) || stopped(other)) {
            continue;
        }
        assert_eq!(first, other, "run {at} ({name}) of {}", seed.name);
    }
}

#[test]
fn mutated_containers_are_refused_or_run_alike_everywhere() {
    let seeds = [
        seed::<phases::Pass>("phases"),
        seed::<work::Pass>("work"),
        seed::<mixed::Pass>("mixed"),
    ];
    let asked = std::env::var("VYRE_FUZZ").ok();
    let number = |n: &str| n.parse::<u64>().expect("a number");
    let (from, to) = match &asked {
        None => (0, 2_000),
        Some(range) => match range.split_once("..") {
            Some((from, to)) => (number(from), number(to)),
            None => (0, number(range)),
        },
    };
    let mut counts = Counts::default();
    for at in from..to {
        let mut now = String::new();
        let run = AssertUnwindSafe(|| case(&seeds, at, &mut counts, &mut now));
        if let Err(panic) = catch_unwind(run) {
            eprintln!(
                "{now}\nVYRE_FUZZ={at}..{} runs this container alone",
                at + 1
            );
            resume_unwind(panic);
        }
    }
    for (what, count) in &counts.0 {
        println!("{count:>9} {what}");
    }
    if asked.is_none() {
        for what in ["verified", "finished", "run natively too", "not verified"] {
            assert!(counts.of(what) > 0, "{what}");
        }
    }
}
