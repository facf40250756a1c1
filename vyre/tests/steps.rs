//! How many steps a run takes: the same number on every backend. A step is an item of a sweep, a round, or a turn of a
//! loop that counts.

use vyre::prelude::*;
use vyre::{FusedSession, Sessions};
use vyre_tests::backend_tests;
use vyre_tests::endless::{later, nests, rounds, spin, undecided};
use vyre_tests::steps::{ENOUGH, ends, labels, least, search, takes, walks, ways, wheel};

fn turns_that_are_left_are_no_steps(runtime: &Runtime) {
    for (items, rounds) in [(1, 1), (7, 5), (40, 6), (5_000, 7)] {
        takes(
            runtime,
            |runtime| ways::Session::new(runtime, ()).expect("it fits"),
            |session, limit| {
                assert!(session.set_step_limit(limit));
                session.run(ways::Run { items, rounds })
            },
        );
    }
}

fn labels_of_a_macro_are_its_own(runtime: &Runtime) {
    takes(
        runtime,
        |runtime| labels::Session::new(runtime, ()).expect("it fits"),
        |session, limit| {
            assert!(session.set_step_limit(limit));
            session.run(labels::Run { items: 9 })
        },
    );
}

fn loops_over_edges_and_few_numbers_are_no_steps(runtime: &Runtime) {
    for nodes in [1, 60, 300] {
        let graph = wheel(nodes);
        takes(
            runtime,
            |runtime| walks::Session::new(runtime, &graph).expect("it fits"),
            |session, limit| {
                assert!(session.set_step_limit(limit));
                session.run(walks::Run {})
            },
        );
    }
}

fn nodes_of_a_frontier_are_steps_and_so_are_their_edges(runtime: &Runtime) {
    let path: Vec<_> = (1..300).map(|v| (v - 1, v)).collect();
    let path = Csr::from_edges(300, &path).expect("all nodes are there");
    for graph in [wheel(5_000), wheel(40), path] {
        takes(
            runtime,
            |runtime| search::Session::new(runtime, &graph).expect("it fits"),
            |session, limit| {
                assert!(session.set_step_limit(limit));
                session.run(search::Run { source: 11 })
            },
        );
    }
}

fn each_run_of_a_series_has_its_steps(runtime: &Runtime) {
    takes(
        runtime,
        |runtime| ways::Session::new(runtime, ()).expect("it fits"),
        |session, limit| {
            assert!(session.set_step_limit(limit));
            let run = |items| ways::Run { items, rounds: 2 };
            session.run_series([run(3), run(40), run(2)])
        },
    );
}

fn each_query_of_a_batch_has_its_steps(runtime: &Runtime) {
    let run = |items| ways::Run { items, rounds: 2 };
    let mut session = ways::Session::new(&Runtime::vir0(), ()).expect("it fits");
    let steps = least(|limit| {
        session.set_step_limit(Some(limit));
        ends(limit, session.run(run(40)))
    });
    let expected = [true, true, false, true, false];
    let runs = || [3, 40, 41, 2, 41].map(run);
    let mut session = ways::Session::new(runtime, ()).expect("it fits");
    for _ in 0..2 {
        assert!(session.set_step_limit(Some(steps)));
        runs().into_iter().for_each(|run| {
            session.submit(run, 0);
        });
        let batch = session.run_batch().expect("it has begun");
        let ended = batch.results.into_iter().map(|(_, r)| ends(steps, r));
        assert!(ended.eq(expected));
    }
    let topologies = [(), (), ()];
    let mut sessions: Sessions<ways::Pass> = Sessions::new(runtime, topologies).expect("they fit");
    assert!(sessions.set_step_limit(Some(steps)));
    for (at, run) in runs().into_iter().enumerate() {
        sessions.submit(at % 3, run, 0);
    }
    let batch = sessions.run_batch().expect("it has begun");
    let ended = batch.results.into_iter().map(|(_, r)| ends(steps, r));
    assert!(ended.eq(expected));
}

fn a_fused_run_has_its_steps(runtime: &Runtime) {
    let mut fused: FusedSession<ways::Pass, rounds::Pass> =
        FusedSession::new(runtime, ((), ()), &[]).expect("they fit");
    let mut run = |limit, items, wanted| {
        assert!(fused.set_step_limit(Some(limit)));
        ends(
            limit,
            fused.run(ways::Run { items, rounds: 2 }, rounds::Run { wanted }),
        )
    };
    assert!(run(ENOUGH, 40, 30));
    assert!(!run(100, 40, 3));
    assert!(!run(100, 1, 3_000));
    assert!(run(100, 1, 3));
}

fn what_has_no_end_has_so_many_steps(runtime: &Runtime) {
    let spin = |turns| spin::Run { items: 100, turns };
    let mut session = spin::Session::new(runtime, ()).expect("it fits");
    assert!(session.set_step_limit(Some(1_000)));
    for _ in 0..2 {
        assert!(!ends(1_000, session.run(spin(1))));
        session.submit(spin(1), 0);
        session.submit(spin(0), 0);
        let batch = session.run_batch().expect("it has begun");
        let done: Vec<bool> = batch.results.iter().map(|(_, r)| r.is_ok()).collect();
        assert_eq!(done, [false, true]);
        let out = session.run(spin(0)).expect("it has few steps").out;
        assert!(out.into_iter().eq(1..101));
    }

    let mut session = later::Session::new(runtime, ()).expect("it fits");
    assert!(session.set_step_limit(Some(1_000)));
    assert!(!ends(1_000, session.run(later::Run { items: 7 })));

    let mut session = undecided::Session::new(runtime, ()).expect("it fits");
    assert!(session.set_step_limit(Some(2_000)));
    let run = |turns| undecided::Run {
        items: 1_000,
        turns,
    };
    assert!(!ends(2_000, session.run(run(u32::MAX))));
    assert!(ends(2_000, session.run(run(999))));
    assert!(!ends(2_000, session.run(run(1_000))));

    let mut session = rounds::Session::new(runtime, ()).expect("it fits");
    assert!(session.set_step_limit(Some(2_000)));
    assert!(!ends(2_000, session.run(rounds::Run { wanted: u32::MAX })));
    assert!(ends(2_000, session.run(rounds::Run { wanted: 1_000 })));

    let graph = wheel(2);
    let mut session = nests::Session::new(runtime, &graph).expect("it fits");
    assert!(session.set_step_limit(Some(20)));
    for (kind, ended) in [(0, true), (1, false), (2, false), (0, true)] {
        assert_eq!(ends(20, session.run(nests::Run { kind })), ended);
    }
}

/// A limit ends a run wherever its number of steps says so, and the next one is right: for a thousand such numbers.
fn a_run_is_ended_at_any_step(runtime: &Runtime) {
    let run = || ways::Run {
        items: 12,
        rounds: 3,
    };
    let mut reference = ways::Session::new(&Runtime::vir0(), ()).expect("it fits");
    let right = reference.run(run()).expect("it has an end").out;
    let steps = least(|limit| {
        reference.set_step_limit(Some(limit));
        ends(limit, reference.run(run()))
    });
    let mut session = ways::Session::new(runtime, ()).expect("it fits");
    for limit in (0..steps).step_by(steps.div_ceil(1_000) as usize) {
        assert!(session.set_step_limit(Some(limit)));
        assert!(!ends(limit, session.run(run())));
        assert!(!ends(limit, session.run_series([run(), run()])));
        session.submit(run(), 0);
        let batch = session.run_batch().expect("it has begun");
        let ended = batch.results.into_iter().map(|(_, r)| ends(limit, r));
        assert!(ended.eq([false]));
        assert!(session.set_step_limit(None));
        assert_eq!(session.run(run()).expect("nothing ends it").out, right);
    }
}

backend_tests!(
    a_run_is_ended_at_any_step,
    turns_that_are_left_are_no_steps,
    labels_of_a_macro_are_its_own,
    loops_over_edges_and_few_numbers_are_no_steps,
    nodes_of_a_frontier_are_steps_and_so_are_their_edges,
    each_run_of_a_series_has_its_steps,
    each_query_of_a_batch_has_its_steps,
    a_fused_run_has_its_steps,
    what_has_no_end_has_so_many_steps,
);

/// `auto` has one unit for all of its sides.
#[test]
fn a_limit_holds_on_every_side() {
    let runtime = Runtime::among(Runtime::vir0(), [Runtime::native()]);
    takes(
        &runtime,
        |runtime| ways::Session::new(runtime, ()).expect("it fits"),
        |session, limit| {
            assert!(session.set_step_limit(limit));
            session.run(ways::Run {
                items: 40,
                rounds: 6,
            })
        },
    );
}
