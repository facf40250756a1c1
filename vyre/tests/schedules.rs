//! Random programs with random schedules: nested fixpoints, groups, frontiers, reductions, lists and scratch.
//!
//! What verifies runs the same whether each resource has memory of its own or scratch and frontiers share it by barrier
//! group, and neither panics. `VYRE_FUZZ` is the number of programs; without it the test takes a second.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use vyre_core::cpu::vir0::Vir0Executor;
use vyre_core::dsl::columns::Column;
use vyre_core::dsl::csr::Csr;
use vyre_core::dsl::error::RunError;
use vyre_core::plan::check::{self, Violation};
use vyre_core::plan::footprint::Allocation;
use vyre_core::run::args::{Args, TopologyArgs};
use vyre_core::run::backend::Executor;
use vyre_core::run::outcome::Outcome;
use vyre_core::vir0::disasm;
use vyre_core::vir0::group::groups_of;
use vyre_core::vir0::module::*;
use vyre_core::vir0::trap::TrapKind;
use vyre_core::vir0::verify::verify;
use vyre_tests::programs::{graph, program};
use vyre_tests::random::cases;

/// What a run leaves, times left out.
type Left = Result<
    (
        Vec<(BufferId, Column)>,
        Vec<(ListId, Vec<Column>)>,
        Vec<(ReductionId, u64)>,
        Vec<u64>,
    ),
    RunError,
>;

fn left(outcome: Result<Outcome, RunError>) -> Left {
    outcome.map(|o| (o.outputs, o.lists, o.reductions, o.report.rounds))
}

/// Two runs of one session, since the second one finds what the first one left behind.
fn runs(program: &Arc<Program>, graph: &Csr, allocation: Allocation) -> [Left; 2] {
    let topology = TopologyArgs {
        graphs: vec![graph],
        columns: vec![],
        scalars: vec![],
    };
    let executor = Vir0Executor::new(Arc::clone(program), &topology, allocation);
    let mut executor = executor.expect("the program is made for the graph");
    [(), ()].map(|()| left(executor.run(&Args::default())))
}

/// How often what happened.
#[derive(Default, Debug)]
struct Seen {
    programs: Cell<u32>,
    refused: Cell<u32>,
    finished: Cell<u32>,
    trapped: Cell<u32>,
    overflows: Cell<u32>,
}

fn more(count: &Cell<u32>) {
    count.set(count.get() + 1);
}

fn agree(program: Program, graph: &Csr, seen: &Seen) {
    more(&seen.programs);
    let program = Arc::new(program);
    let [first, again] = runs(&program, graph, Allocation::Separate);
    assert_eq!(first, again, "{}", disasm::program(&program));
    let shared = runs(&program, graph, Allocation::Shared);
    assert_eq!(
        [&first, &first],
        [&shared[0], &shared[1]],
        "{}",
        disasm::program(&program)
    );
    match first {
        Ok(_) => more(&seen.finished),
        Err(RunError::Trap(trap)) => {
            more(&seen.trapped);
            if let TrapKind::FrontierOverflow | TrapKind::ListOverflow = trap.kind {
                more(&seen.overflows);
            }
        }
        Err(e) => panic!("{e}"),
    }
}

/// The independent judge of plans counts barriers; it finds conflicts within groups, all of them, and nowhere else.
fn judge_sees_the_same_groups(program: &Program) {
    let group_of: BTreeMap<WaveId, u32> = program
        .schedule
        .iter()
        .zip(groups_of(&program.schedule))
        .filter_map(|(step, group)| match step {
            Step::Wave(w) => Some((*w, group)),
            Step::Barrier | Step::Loop(_) | Step::Each(..) | Step::Until(_) | Step::End => None,
        })
        .collect();
    let mut found = BTreeSet::new();
    for violation in check::program(program) {
        match violation {
            Violation::Waves { first, second, .. } => {
                assert_eq!(group_of[&first], group_of[&second], "{violation}");
                found.insert((first, second));
            }
            // A wave and the fixpoint behind it are never in one group.
            other => panic!("{other}\n{}", disasm::program(program)),
        }
    }
    let writes = |w: WaveId| {
        let accesses = program.waves[w.index()].accesses.iter();
        accesses
            .filter(|a| matches!(a.resource, Resource::Buffer(_)) && a.mode == Mode::Write)
            .map(|a| a.resource)
    };
    for (&a, group) in &group_of {
        for (&b, _) in group_of.range(a..).skip(1).filter(|(_, g)| *g == group) {
            let clash = writes(a).any(|r| writes(b).any(|s| r == s));
            assert!(!clash || found.contains(&(a, b)), "{a:?} and {b:?}");
        }
    }
}

/// Without `VYRE_FUZZ`.
const PROGRAMS: u64 = 2_000;

#[test]
fn memory_by_barrier_group_changes_no_result() {
    let seen = Seen::default();
    cases(PROGRAMS, |u| {
        let graph = graph(u)?;
        let program = program(u)?;
        assert_eq!(verify(&program), Ok(()), "{}", disasm::program(&program));
        judge_sees_the_same_groups(&program);
        agree(program, &graph, &seen);
        Ok(())
    });
    println!("{seen:?}");
    assert!(
        seen.finished.get() > 0 && seen.overflows.get() > 0,
        "{seen:?}"
    );
}

#[test]
fn schedules_with_steps_moved_are_refused_or_run_the_same() {
    let seen = Seen::default();
    cases(PROGRAMS, |u| {
        let graph = graph(u)?;
        let mut program = program(u)?;
        for _ in 0..u.int_in_range(1..=3)? {
            let steps = &mut program.schedule;
            let at = u.choose_index(steps.len())?;
            match u.int_in_range(0..=3)? {
                0 => steps.insert(at, Step::Barrier),
                1 => steps.insert(at, steps[u.choose_index(steps.len())?]),
                2 if steps.len() > 1 => {
                    steps.remove(at);
                }
                _ => {
                    let other = u.choose_index(steps.len())?;
                    steps.swap(at, other);
                }
            }
        }
        match verify(&program) {
            Ok(()) => agree(program, &graph, &seen),
            Err(_) => more(&seen.refused),
        }
        Ok(())
    });
    println!("{seen:?}");
    assert!(
        seen.refused.get() > 0 && seen.programs.get() > 0,
        "{seen:?}"
    );
}

/// The four cases that once verified: each was run with other groups than it was planned with.
#[test]
fn every_step_that_blurs_a_group_is_refused() {
    let (a, b) = (Step::Wave(WaveId(0)), Step::Wave(WaveId(1)));
    let (enter, until) = (Step::Loop(FixpointId(0)), Step::Until(FixpointId(0)));
    let bar = Step::Barrier;
    assert_eq!(
        groups_of(&[a, bar, enter, b, until, Step::End]),
        [0, 1, 1, 1, 1, 1]
    );
    for (steps, at) in [
        (vec![a, enter, b, until, Step::End], 1),
        (vec![a, bar, enter, b, bar, until, Step::End], 4),
        (vec![a, bar, bar, enter, b, until, Step::End], 1),
        (vec![bar, a, bar, enter, b, until, Step::End], 0),
        (vec![a, bar, enter, b, until, bar, Step::End], 5),
        (vec![a, bar, enter, bar, b, until, Step::End], 3),
    ] {
        let wrong: Vec<usize> = vyre_core::vir0::group::misplaced(&steps)
            .map(|(at, _)| at)
            .collect();
        assert_eq!(wrong.first(), Some(&at), "{steps:?}");
    }
}
