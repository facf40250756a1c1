//! The driver of schedules ([`vyre_core::run::schedule`]) serves a backend that is nothing but memory and "interpret
//! this kernel for one item": results, rounds and traps are those of the VIR0 executor.

use arbtest::arbitrary::{self, Unstructured};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;
use vyre::prelude::*;
use vyre_core::cpu::Vir0;
use vyre_core::dsl::columns::Column;
use vyre_core::dsl::error::RunError;
use vyre_core::plan::footprint::Allocation;
use vyre_core::run::args::{Args, TopologyArgs};
use vyre_core::run::backend::{Backend, Opening};
use vyre_core::run::pass::Pass;
use vyre_core::vir0::disasm;
use vyre_core::vir0::module::{BufferId, ListId, Program, ReductionId, Role};
use vyre_core::vir0::scalar::Scalar;
use vyre_tests::random::cases;
use vyre_tests::sequential::{Sequential, Together};
use vyre_tests::{graphs, passes, programs};

/// What a run leaves, raw bits, times left out.
type Left = Result<
    (
        Vec<(BufferId, Vec<Option<u64>>)>,
        Vec<(ListId, Vec<Column>)>,
        Vec<(ReductionId, u64)>,
        Vec<u64>,
    ),
    RunError,
>;

/// Two runs of one session, since the second one finds what the first one left behind.
fn runs(
    on: &dyn Backend,
    program: &Arc<Program>,
    topology: &TopologyArgs<'_>,
    args: &Args<'_>,
) -> [Left; 2] {
    let opening = Opening {
        program: Arc::clone(program),
        topology,
        allocation: Allocation::Separate,
        native: None,
    };
    let mut executor = on.open(opening).expect("the program is made for it");
    let bits = |column: &Column| (0..column.len()).map(|at| column.get(at)).collect();
    [(), ()].map(|()| {
        let outcome = executor.run(args)?;
        let outputs = outcome.outputs.iter().map(|(id, c)| (*id, bits(c)));
        Ok((
            outputs.collect(),
            outcome.lists,
            outcome.reductions,
            outcome.report.rounds,
        ))
    })
}

/// How often runs ended how.
type Ends = RefCell<BTreeMap<String, u32>>;

fn agree(program: Program, topology: &TopologyArgs<'_>, args: &Args<'_>, ends: &Ends) {
    let program = Arc::new(program);
    let expected = runs(&Vir0, &program, topology, args);
    let found = runs(&Sequential, &program, topology, args);
    assert_eq!(found, expected, "{}", disasm::program(&program));
    for at_once in [1, 3] {
        let together = runs(&Together(at_once), &program, topology, args);
        assert_eq!(together, expected, "{}", disasm::program(&program));
    }
    let [first, _] = found;
    let end = match first {
        Ok(_) => "finished".to_owned(),
        Err(RunError::Trap(trap)) => format!("{:?}", trap.kind),
        Err(e) => e.to_string(),
    };
    *ends.borrow_mut().entry(end).or_default() += 1;
}

/// Every way to end in `expected` was seen.
fn check(ends: &Ends, expected: &[&str]) {
    let ends = ends.borrow();
    for end in expected {
        assert!(ends.contains_key(*end), "{end}: {ends:?}");
    }
}

#[test]
fn random_schedules_run_the_same() {
    let ends = Ends::default();
    cases(1_000, |u| {
        let graph = programs::graph(u)?;
        let program = programs::program(u)?;
        let topology = TopologyArgs {
            graphs: vec![&graph],
            columns: vec![],
            scalars: vec![],
        };
        agree(program, &topology, &Args::default(), &ends);
        Ok(())
    });
    check(&ends, &["finished", "FrontierOverflow", "ListOverflow"]);
}

fn value(scalar: Scalar, u: &mut Unstructured<'_>) -> arbitrary::Result<u64> {
    let small = u.int_in_range(0..=11)?;
    Ok(match scalar {
        Scalar::Bool => small & 1,
        Scalar::U8 | Scalar::U32 | Scalar::U64 | Scalar::I32 | Scalar::I64 => small,
        Scalar::F32 => (small as f32 / 8.0).to_bits().into(),
        Scalar::F64 => (small as f64 / 8.0).to_bits(),
    })
}

/// A pass on random graphs, with random arguments.
fn pass_runs_the_same<P: Pass>(expected: &[&str]) {
    let ends = Ends::default();
    let program = P::PARTS.program().expect("the macro made it");
    cases(1_000, |u| {
        let nodes = u.int_in_range(1..=9)?;
        let edges = (0..u.int_in_range(0..=20)?).map(|_| {
            Ok((
                u.int_in_range(0..=nodes - 1)?,
                u.int_in_range(0..=nodes - 1)?,
            ))
        });
        let edges = edges.collect::<Result<Vec<(u32, u32)>, _>>()?;
        let graph = Csr::from_edges(nodes as usize, &edges).expect("edges name nodes");
        let mut topology = TopologyArgs {
            graphs: vec![&graph],
            columns: vec![],
            scalars: vec![],
        };
        let mut sizes = topology.sizes(&program);
        for scalar in &program.scalars {
            sizes.scalars.push(value(scalar.scalar, u)?);
        }
        let mut columns = Vec::new();
        for (id, buffer) in (0..).map(BufferId).zip(&program.buffers) {
            if matches!(buffer.role, Role::Topology | Role::Input | Role::InOut) {
                let len = sizes
                    .resolve(&program, buffer.extent)
                    .expect("sizes are known");
                let mut column = Column::filled(buffer.scalar, 0, 0);
                for _ in 0..len {
                    column.push(value(buffer.scalar, u)?);
                }
                columns.push((id, buffer.role, column));
            }
        }
        let mut args = Args {
            scalars: sizes.scalars,
            inputs: vec![],
        };
        for (id, role, column) in &columns {
            match role {
                Role::Topology => topology.columns.push((*id, column.as_slice())),
                _ => args.inputs.push((*id, column.as_slice())),
            }
        }
        agree(program.clone(), &topology, &args, &ends);
        Ok(())
    });
    check(&ends, expected);
}

#[test]
fn nested_fixpoints_and_reductions_run_the_same() {
    pass_runs_the_same::<passes::phases::Pass>(&["finished"]);
}

#[test]
fn items_that_are_structs_lists_and_asserts_run_the_same() {
    let ends = ["finished", "Assert", "ListOverflow"];
    pass_runs_the_same::<passes::work::Pass>(&ends);
}

#[test]
fn rows_of_bits_and_swapped_buffers_run_the_same() {
    pass_runs_the_same::<passes::mixed::Pass>(&["finished"]);
}

/// Breadth-first search, which traps at a source that is no node, and where the graph is too deep.
#[wave_graph]
mod levels {
    struct Data {
        #[topology]
        graph: Csr,
        #[frontier]
        front: Frontier,
        #[output(per = node, init = 4_294_967_295)]
        level: u32,
        source: u32,
    }

    #[wave(once)]
    fn start(source: u32, level: &Buf<Atomic<u32>>, front: &Push) {
        level[source].store(0);
        front.push(source);
    }

    #[fixpoint(after(start), until(front.is_empty()), max_rounds = 6)]
    mod rounds {
        #[wave(edges(graph, from = front))]
        fn visit(e: Edge, round: Round, level: &Buf<Atomic<u32>>, front: &Push) {
            if level[e.dst].compare_exchange(u32::MAX, round + 1) {
                front.push(e.dst);
            }
        }
    }
}

#[test]
fn sessions_run_on_it() {
    let runtime = Runtime::on(Arc::new(Sequential));
    let graph = Csr::from_edges(5, &[(0, 1), (1, 2), (2, 3), (0, 3)]).expect("edges name nodes");
    let mut session = levels::Session::new(&runtime, &graph).expect("it has memory");
    let out = session.run(levels::Run { source: 0 }).expect("it runs");
    assert_eq!(out.level, [0, 1, 2, 1, u32::MAX]);
    assert_eq!(out.report.rounds, [3]);
    assert_eq!(out.report.backend, "sequential");
    session.set_wave_times(true);
    let out = session.run(levels::Run { source: 0 }).expect("it runs");
    let waves = out.report.waves.expect("it was asked for");
    assert_eq!([waves[0].sweeps, waves[1].sweeps], [1, 3]);
    session.set_wave_times(false);
    let ids = [0, 1, 2].map(|source| session.submit(levels::Run { source }, 0));
    let mut batch = session.run_batch().expect("it runs");
    let levels = ids.map(|id| {
        let at = batch.results.iter().position(|(of, _)| *of == id);
        let (_, out) = batch.results.swap_remove(at.expect("all were run"));
        out.expect("it runs").level
    });
    const NO: u32 = u32::MAX;
    let expected = [[0, 1, 2, 1, NO], [NO, 0, 1, 2, NO], [NO, NO, 0, 1, NO]];
    assert_eq!(levels, expected.map(Vec::from));
    let trap = |run: Result<levels::Output, Error>| run.expect_err("it traps").to_string();
    let outside = trap(session.run(levels::Run { source: 9 }));
    let mut vir0 = levels::Session::new(&Runtime::vir0(), &graph).expect("it has memory");
    assert_eq!(outside, trap(vir0.run(levels::Run { source: 9 })));
    assert!(outside.contains("index 9"), "{outside}");
    let chain = graphs::chain(10);
    let mut session = levels::Session::new(&runtime, &chain).expect("it has memory");
    let deep = trap(session.run(levels::Run { source: 0 }));
    assert!(deep.contains("frontier `front` holds 1 item"), "{deep}");
    session.run(levels::Run { source: 5 }).expect("it runs");
}
