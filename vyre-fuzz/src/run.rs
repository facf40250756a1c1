//! Mutated programs through their whole schedules, on every CPU executor and in both allocations.

use crate::Tally;
use crate::choices::Choices;
use crate::order::honest;
use crate::program::{self, Open, WORK};
use std::sync::Arc;
use vyre::Csr;
use vyre_core::cpu::vir0::Vir0Executor;
use vyre_core::dsl::columns::Column;
use vyre_core::dsl::error::RunError;
use vyre_core::plan::check;
use vyre_core::plan::fit::fit;
use vyre_core::plan::footprint::{Allocation, footprint};
use vyre_core::run::args::{Args, TopologyArgs};
use vyre_core::run::backend::{Backend, Executor, Opening};
use vyre_core::vir0::disasm;
use vyre_core::vir0::module::*;
use vyre_core::vir0::scalar::Scalar;
use vyre_core::vir0::sizes::Sizes;
use vyre_core::vir0::verify::verify;
use vyre_tests::sequential::Sequential;

/// The most bytes that a program is given.
const BUDGET: u64 = 1 << 18;

/// What a run leaves, as raw bits, NaNs alike: columns of outputs and lists, reductions, rounds.
pub(crate) type Left = Result<(Vec<Vec<u64>>, Vec<u64>, Vec<u64>), RunError>;

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

pub(crate) fn left(executor: &mut dyn Executor, args: &Args<'_>) -> Left {
    executor.run(args).map(|o| {
        let lists = o.lists.iter().flat_map(|(_, columns)| columns);
        let columns = o.outputs.iter().map(|(_, c)| c).chain(lists);
        let reductions = o.reductions.iter().map(|&(_, bits)| bits).collect();
        (columns.map(bits).collect(), reductions, o.report.rounds)
    })
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

fn vir0(
    program: Arc<Program>,
    topology: &TopologyArgs<'_>,
    allocation: Allocation,
) -> Result<Box<dyn Executor>, RunError> {
    let executor = Vir0Executor::new(program, topology, allocation)?;
    Ok(Box::new(executor.with_work_limit(WORK)))
}

/// It has no limit of work: only for what another executor has brought to an end.
fn sequential(
    program: Arc<Program>,
    topology: &TopologyArgs<'_>,
    allocation: Allocation,
) -> Result<Box<dyn Executor>, RunError> {
    Sequential.open(Opening {
        program,
        topology,
        allocation,
        native: None,
    })
}

/// Values of each type for columns and scalars.
fn value(scalar: Scalar, choices: &mut Choices<'_>) -> u64 {
    let small = choices.below(12) as u64;
    match scalar {
        Scalar::Bool => small & 1,
        Scalar::U8 | Scalar::U32 | Scalar::U64 => small,
        Scalar::I32 | Scalar::I64 => (small as i64 - 4) as u64,
        Scalar::F32 => (small as f32 / 8.0).to_bits().into(),
        Scalar::F64 => (small as f64 / 8.0).to_bits(),
    }
}

fn column(scalar: Scalar, len: u64, choices: &mut Choices<'_>) -> Column {
    let mut column = Column::filled(scalar, 0, 0);
    for _ in 0..len {
        column.push(value(scalar, choices));
    }
    column
}

/// What a program is run on.
pub(crate) struct Given {
    graphs: Vec<Csr>,
    columns: Vec<(BufferId, Role, Column)>,
    pub(crate) sizes: Sizes,
}

impl Given {
    /// Graphs of a few nodes, small values; `None` where the program takes more than a case should.
    pub(crate) fn new(program: &Program, choices: &mut Choices<'_>) -> Option<Given> {
        let nodes = 1 + choices.below(9);
        let given = program.topologies.iter();
        let given = given.filter(|t| t.reverse_of.is_none());
        let graphs: Vec<Csr> = given
            .map(|_| {
                let count = choices.below(20);
                let mut node = || choices.below(nodes) as u32;
                // Ascending: no sweep turns its frontier round.
                let edges: Vec<(u32, u32)> = (0..count)
                    .map(|_| (node(), node()))
                    .map(|(a, b)| (a.min(b), a.max(b)))
                    .collect();
                Csr::from_edges(nodes, &edges).expect("edges name nodes")
            })
            .collect();
        let topology = TopologyArgs {
            graphs: graphs.iter().collect(),
            columns: Vec::new(),
            scalars: vec![],
        };
        let mut sizes = topology.sizes(program);
        let scalars = program.scalars.iter();
        sizes.scalars = scalars.map(|s| value(s.scalar, choices)).collect();
        let takes = footprint(program, &sizes).ok()?;
        if takes.separate_bytes > BUDGET {
            return None;
        }
        let columns = (0..=u16::MAX)
            .map(BufferId)
            .zip(&program.buffers)
            .filter(|(_, b)| matches!(b.role, Role::Topology | Role::Input | Role::InOut))
            .map(|(id, b)| {
                // A computed length may have no value: every executor refuses that.
                let len = sizes.resolve(program, b.extent).unwrap_or(0);
                (id, b.role, column(b.scalar, len, choices))
            })
            .collect();
        Some(Given {
            graphs,
            columns,
            sizes,
        })
    }

    pub(crate) fn topology(&self) -> TopologyArgs<'_> {
        let of_session = self.columns.iter().filter(|c| c.1 == Role::Topology);
        TopologyArgs {
            graphs: self.graphs.iter().collect(),
            columns: of_session.map(|(id, _, c)| (*id, c.as_slice())).collect(),
            scalars: vec![],
        }
    }

    pub(crate) fn args(&self) -> Args<'_> {
        let of_run = self.columns.iter().filter(|c| c.1 != Role::Topology);
        Args {
            scalars: self.sizes.scalars.clone(),
            inputs: of_run.map(|(id, _, c)| (*id, c.as_slice())).collect(),
        }
    }
}

/// Whether a buffer of the session is as long as a scalar says that only runs give.
fn lacks_a_length(program: &Program) -> bool {
    let mut of_session = program.buffers.iter().filter(|b| b.role == Role::Topology);
    of_session.any(|b| !program.scalars_in(b.extent).is_empty())
}

/// A mutated program that verifies, through its schedule.
pub(crate) fn run_program(bytes: &[u8], tally: &mut Tally) {
    let choices = &mut Choices::new(bytes);
    let (program, seed) = program::mutated(choices);
    if verify(&program).is_err() {
        return tally.add("not verified");
    }
    let Some(given) = Given::new(&program, choices) else {
        return tally.add("too large");
    };
    let seed = seed.filter(|seed| is_native(&seed.program, &program));
    let (topology, args) = (given.topology(), given.args());
    let program = Arc::new(program);
    let both = |open: Open, name: &str, first: Option<&Left>| {
        let mut found = None;
        for allocation in [Allocation::Separate, Allocation::Shared] {
            let mut runs = Vec::new();
            match open(Arc::clone(&program), &topology, allocation) {
                Ok(mut executor) => {
                    runs.push(left(&mut *executor, &args));
                    runs.push(left(&mut *executor, &args));
                }
                Err(e) => runs.push(Err(e)),
            }
            for run in runs {
                let expected = first.or(found.as_ref()).unwrap_or(&run);
                // Turns of loops in the user's functions are not counted.
                let stopped = |left: &Left| matches!(left, Err(RunError::Work { .. }));
                if first.is_none() || !(stopped(expected) || stopped(&run)) {
                    let shown = || disasm::program(&program);
                    assert_eq!(*expected, run, "{name}, {allocation:?}, of\n{}", shown());
                }
                found.get_or_insert(run);
            }
        }
        found.expect("it ran")
    };
    let first = both(vir0, "vir0", None);
    tally.add(match &first {
        Ok(_) => "finished",
        Err(RunError::Trap(_)) => "trapped",
        Err(RunError::Work { .. }) => "stopped: too much work",
        Err(RunError::TooLong { .. }) => "refused: too long a range",
        Err(RunError::NoLength { .. }) => "refused: a length without a value",
        Err(RunError::RowBit { .. }) => "refused: bits beyond a width",
        Err(RunError::Invalid(_)) if lacks_a_length(&program) => {
            "refused: a length that only runs know"
        }
        Err(e) => panic!("{e}"),
    });
    if !matches!(first, Err(RunError::Work { .. })) {
        let _as_first = both(sequential, "sequential", Some(&first));
    }
    if let Some(seed) = seed {
        tally.add("run natively too");
        let _as_first = both(seed.native, "native", Some(&first));
    }
    split(&program, &given, (&first, tally));
}

/// The same with as many more barriers as the smallest budget needs. Where waves of a group clash, the order of the
/// split shows, and where a wave traps, those behind the new barriers do not run.
fn split(program: &Program, given: &Given, (first, tally): (&Left, &mut Tally)) {
    let takes = footprint(program, &given.sizes).expect("it ran");
    let least = takes.resident_bytes;
    let fitted = (0..=4).find_map(|fourth| {
        let budget = least + (takes.peak_bytes - least) / 4 * fourth;
        fit(program, &given.sizes, budget).ok()
    });
    let Some(fitted) = fitted.filter(|f| !f.splits.is_empty()) else {
        return;
    };
    tally.add("split to fit");
    let clashes = !check::program(&honest(program)).is_empty();
    let program = Program {
        schedule: fitted.schedule,
        ..program.clone()
    };
    assert_eq!(verify(&program), Ok(()), "a split keeps the rules");
    let executor = vir0(Arc::new(program), &given.topology(), fitted.allocation);
    let again = left(&mut *executor.expect("it was opened before"), &given.args());
    if let (Ok(first), Ok(again), false) = (first, &again, clashes) {
        assert_eq!(first, again);
    }
}
