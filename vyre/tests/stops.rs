//! What stops a call: cancellers of sessions and runtimes, and limits of time and steps. Every call here that is
//! stopped would not end by itself, so that no test depends on how long anything takes.
#![allow(missing_docs, reason = "a pass of tests")]

use std::num::NonZeroUsize;
use std::thread;
use std::time::Duration;
use vyre::prelude::*;
use vyre::{Cancelled, Error, FusedSession, RunError, Sessions};
use vyre_tests::endless::{nests, pairs, rounds, spin, tokens, undecided};
use vyre_tests::{backend_tests, within_a_minute};

const ENDLESS: spin::Run = spin::Run {
    items: 100,
    turns: 1,
};
const SHORT: spin::Run = spin::Run { items: 3, turns: 0 };

#[track_caller]
fn assert_cancelled<T>(done: Result<T, Error>) {
    match done.err() {
        Some(Error::Cancelled(Cancelled::Asked)) => {}
        other => panic!("{other:?}"),
    }
}

/// Does something while another thread cancels it, maybe before it begins.
fn while_cancelled<T>(canceller: vyre::Canceller, call: impl FnOnce() -> T) -> T {
    thread::scope(|scope| {
        scope.spawn(move || canceller.cancel());
        call()
    })
}

fn a_loop_without_memory_accesses_is_stopped(runtime: &Runtime) {
    let mut session = spin::Session::new(runtime, ()).expect("it fits");
    for _ in 0..3 {
        assert_cancelled(while_cancelled(session.canceller(), || {
            session.run(ENDLESS)
        }));
        assert_eq!(
            session.run(SHORT).expect("it is not cancelled").out,
            [1, 2, 3]
        );
    }
}

fn a_run_that_is_under_way_is_stopped(runtime: &Runtime) {
    let mut session = rounds::Session::new(runtime, ()).expect("it fits");
    let (canceller, progress) = (session.canceller(), session.progress().expect("it tells"));
    thread::scope(|scope| {
        let seen = scope.spawn(move || {
            let seen = within_a_minute(|| progress.rounds() >= 10);
            canceller.cancel();
            seen
        });
        assert_cancelled(session.run(rounds::Run { wanted: u32::MAX }));
        assert!(seen.join().expect("no panic"), "no progress is seen");
    });
    let out = session
        .run(rounds::Run { wanted: 7 })
        .expect("it is not cancelled");
    assert_eq!(out.report.total_rounds(), 7);
}

fn a_long_loop_over_numbers_is_stopped(runtime: &Runtime) {
    let mut session = pairs::Session::new(runtime, ()).expect("it fits");
    let run = pairs::Run {
        items: 1 << 20,
        others: u32::MAX,
    };
    assert_cancelled(while_cancelled(session.canceller(), || session.run(run)));
    let run = pairs::Run {
        items: 2,
        others: 1,
    };
    assert_eq!(session.run(run).expect("it is not cancelled").out, [0, 5]);
}

fn loops_of_few_turns_in_each_other_are_stopped(runtime: &Runtime) {
    let mut session = nests::Session::new(runtime, &ring(2)).expect("it fits");
    let run = |kind| nests::Run { kind };
    for kind in [1, 2] {
        assert_cancelled(while_cancelled(session.canceller(), || {
            session.run(run(kind))
        }));
        assert_eq!(session.run(run(0)).expect("it ends").out, [0, 1]);
    }
}

fn a_series_without_end_is_stopped(runtime: &Runtime) {
    let mut session = spin::Session::new(runtime, ()).expect("it fits");
    assert_cancelled(while_cancelled(session.canceller(), || {
        session.run_series(std::iter::repeat_with(|| SHORT))
    }));
    assert_eq!(session.run(SHORT).expect("it ends").out, [1, 2, 3]);
}

fn a_cancel_stops_one_call(runtime: &Runtime) {
    let mut session = spin::Session::new(runtime, ()).expect("it fits");
    let canceller = session.canceller();
    canceller.cancel();
    canceller.clone().cancel();
    assert!(canceller.is_cancelled());
    let mut out = session
        .run(SHORT)
        .map(|_| unreachable!())
        .unwrap_or_default();
    assert_cancelled({
        canceller.cancel();
        session.run_into(SHORT, &mut out)
    });
    assert!(out.out.is_empty());
    assert!(!canceller.is_cancelled());
    session
        .run_into(SHORT, &mut out)
        .expect("it is not cancelled");
    assert_eq!(out.out, [1, 2, 3]);
    canceller.cancel();
    canceller.reset();
    session.run(SHORT).expect("it is not cancelled any more");
}

fn a_series_is_stopped_between_and_in_its_runs(runtime: &Runtime) {
    let mut session = spin::Session::new(runtime, ()).expect("it fits");
    let series = || [SHORT, ENDLESS, SHORT];
    assert_cancelled(while_cancelled(session.canceller(), || {
        session.run_series(series())
    }));
    let out = session
        .run_series([SHORT, SHORT])
        .expect("it is not cancelled");
    assert_eq!(out.out, [1, 2, 3]);
}

fn a_batch_keeps_the_queries_that_were_done(runtime: &Runtime) {
    let mut session = spin::Session::new(runtime, ()).expect("it fits");
    let mut done_within = |limit| {
        // A batch that had no time to begin is still in line.
        if session.waiting() == 0 {
            for _ in 0..4 {
                session.submit(SHORT, 1);
            }
            // More than there are threads, or multiprocessors.
            for _ in 0..300 {
                session.submit(ENDLESS, 0);
            }
        }
        session.set_time_limit(Some(limit));
        let results = session.run_batch().map_or_else(|_| vec![], |b| b.results);
        let mut done = 0;
        for (_, result) in &results {
            match result {
                Ok(out) => {
                    assert_eq!(out.out, [1, 2, 3]);
                    done += 1;
                }
                Err(Error::Cancelled(Cancelled::Late(said))) => assert_eq!(*said, limit),
                Err(e) => panic!("{e}"),
            }
        }
        assert!(results.is_empty() || results.len() == 304);
        done
    };
    // A busy machine may not come to the short ones in a second. They are done in any time that is long enough.
    let mut limits = [1, 10, 100, 1_000].map(Duration::from_secs).into_iter();
    assert!(limits.any(|limit| done_within(limit) == 4));
    session.submit(SHORT, 0);
    let batch = session.run_batch().expect("it has time");
    assert!(batch.results.iter().all(|(_, result)| result.is_ok()));
}

/// In a batch of its own a query that never ends takes no other one's time.
fn a_query_has_so_much_time_in_a_batch_of_its_own(runtime: &Runtime) {
    let mut session = spin::Session::new(runtime, ()).expect("it fits");
    session.set_batch_limit(NonZeroUsize::new(1));
    let mut done_within = |limit| {
        session.set_time_limit(Some(limit));
        let endless = session.submit(ENDLESS, 0);
        let short = session.submit(SHORT, 0);
        // One that had no time to begin is still in line.
        while session.waiting() == 2 {
            let Ok(batch) = session.run_batch() else {
                continue;
            };
            let [(id, Err(Error::Cancelled(Cancelled::Late(said))))] = &batch.results[..] else {
                panic!("it never ends");
            };
            assert_eq!((*id, *said), (endless, limit));
        }
        let batch = session.run_batch().ok();
        session.set_time_limit(None);
        if session.waiting() == 1 {
            session.run_batch().expect("it has time");
        }
        batch.is_some_and(|batch| {
            let (id, result) = &batch.results[0];
            assert_eq!(*id, short);
            result.as_ref().is_ok_and(|out| out.out == [1, 2, 3])
        })
    };
    // A busy machine may take longer for the short one, and less than the last of these: a minute and a half.
    let mut limits = [20, 200, 2_000, 20_000, 90_000]
        .map(Duration::from_millis)
        .into_iter();
    assert!(limits.any(&mut done_within));
}

fn a_batch_that_was_cancelled_before_it_began_stays_in_line(runtime: &Runtime) {
    let mut session = spin::Session::new(runtime, ()).expect("it fits");
    session.submit(SHORT, 0);
    session.canceller().cancel();
    assert_cancelled(session.run_batch());
    assert_eq!(session.waiting(), 1);
    let batch = session.run_batch().expect("it is not cancelled");
    assert_eq!(batch.results.len(), 1);
}

fn a_run_has_so_much_time(runtime: &Runtime) {
    let mut session = spin::Session::new(runtime, ()).expect("it fits");
    for limit in [Duration::ZERO, Duration::from_millis(20)] {
        let late = session.run_within(limit, ENDLESS).map(drop);
        let Err(Error::Cancelled(Cancelled::Late(said))) = late else {
            panic!("{late:?}");
        };
        assert_eq!(said, limit);
    }
    let late = session
        .run_within(Duration::from_millis(20), ENDLESS)
        .map(drop);
    let said = late.expect_err("it never ends").to_string();
    assert_eq!(
        said,
        "the run was stopped after 20ms, the time that it was given"
    );
    // It holds for that call alone.
    assert_eq!(
        session.run(SHORT).expect("there is no limit").out,
        [1, 2, 3]
    );
    let out = session.run_within(Duration::from_secs(1_000), SHORT);
    assert_eq!(out.expect("it has the time").out, [1, 2, 3]);
}

fn sessions_on_many_topologies_are_stopped(runtime: &Runtime) {
    let topologies = [(), (), ()];
    let mut sessions: Sessions<spin::Pass> = Sessions::new(runtime, topologies).expect("they fit");
    for topology in 0..3 {
        sessions.submit(topology, ENDLESS, 0);
    }
    let batch = while_cancelled(sessions.canceller(), || sessions.run_batch());
    match batch {
        Ok(batch) => {
            for (_, result) in batch.results {
                assert_cancelled(result);
            }
        }
        // It was cancelled before it began.
        Err(e) => assert_cancelled::<()>(Err(e)),
    }
}

fn a_fused_run_is_stopped(runtime: &Runtime) {
    let mut fused: FusedSession<spin::Pass, rounds::Pass> =
        FusedSession::new(runtime, ((), ()), &[]).expect("they fit");
    let ends = rounds::Run { wanted: 3 };
    assert_cancelled(while_cancelled(fused.canceller(), || {
        fused.run(ENDLESS, ends)
    }));
    let (out, turned) = fused
        .run(SHORT, rounds::Run { wanted: 3 })
        .expect("it ends");
    assert_eq!((out.out, turned.report.total_rounds()), (vec![1, 2, 3], 3));
}

fn a_runtime_refuses_everything_until_it_is_reset(runtime: &Runtime) {
    let mut session = spin::Session::new(runtime, ()).expect("it fits");
    let canceller = runtime.canceller();
    assert_cancelled(while_cancelled(canceller.clone(), || session.run(ENDLESS)));
    assert_cancelled(session.run(SHORT));
    let mut later = spin::Session::new(runtime, ()).expect("sessions can be opened");
    assert_cancelled(later.run(SHORT));
    canceller.reset();
    assert_eq!(session.run(SHORT).expect("it was reset").out, [1, 2, 3]);
    assert_eq!(later.run(SHORT).expect("it was reset").out, [1, 2, 3]);
}

#[kernel]
fn double_until(limit: u32, x: &mut u32) {
    *x *= 2;
    loop {
        if limit != 0 {
            break;
        }
    }
}

fn slices_of_a_kernel_that_was_stopped_are_as_before(runtime: &Runtime) {
    let runtime = runtime.clone().alone();
    let canceller = runtime.canceller();
    let mut x = vec![1, 2, 3];
    let stopped = while_cancelled(canceller.clone(), || double_until::run(&runtime, 0, &mut x));
    assert_cancelled(stopped);
    assert_eq!(x, [1, 2, 3]);
    canceller.reset();
    double_until::run(&runtime, 1, &mut x).expect("it was reset");
    assert_eq!(x, [2, 4, 6]);
}

/// A ring, whose nodes each lead to the next one.
fn ring(nodes: u32) -> Csr {
    let edges: Vec<_> = (0..nodes).map(|v| (v, (v + 1) % nodes)).collect();
    Csr::from_edges(nodes as usize, &edges).expect("all nodes are there")
}

/// Rounds of one token, of as many as warps or clusters hold, and of very many.
fn rounds_of_any_width_are_stopped(runtime: &Runtime) {
    let graph = ring(1 << 16);
    let mut session = tokens::Session::new(runtime, &graph).expect("it fits");
    let run = |tokens, wanted| tokens::Run { tokens, wanted };
    for tokens in [1, 100, 1_000, 3_000, 1 << 16] {
        assert_cancelled(while_cancelled(session.canceller(), || {
            session.run(run(tokens, u32::MAX))
        }));
        let out = session.run(run(tokens, 3)).expect("it is not cancelled");
        let visits = |v: u32| {
            let before = (v + (1 << 16) - 1) % (1 << 16);
            let passed = |by: u32| u32::from((before + (1 << 16) - by) % (1 << 16) < tokens);
            (0..3).map(passed).sum::<u32>()
        };
        assert!((0..1 << 16).all(|v| out.visits[v as usize] == visits(v)));
    }
}

fn a_series_of_searches_is_stopped_and_repeated(runtime: &Runtime) {
    let graph = ring(100);
    let mut session = tokens::Session::new(runtime, &graph).expect("it fits");
    let run = |wanted| tokens::Run { tokens: 2, wanted };
    for _ in 0..3 {
        let series = [run(5), run(u32::MAX), run(9), run(u32::MAX)];
        assert_cancelled(while_cancelled(session.canceller(), || {
            session.run_series(series)
        }));
        let out = session
            .run_series([run(9), run(3)])
            .expect("it is not cancelled");
        assert_eq!(out.visits[..6], [0, 1, 2, 2, 1, 0]);
        let out = session.run(run(1)).expect("it is not cancelled");
        assert_eq!(out.visits[..6], [0, 1, 1, 0, 0, 0]);
    }
}

fn a_condition_that_does_not_end_is_stopped(runtime: &Runtime) {
    let mut session = undecided::Session::new(runtime, ()).expect("it fits");
    let run = |turns| undecided::Run {
        items: 1_000,
        turns,
    };
    for _ in 0..3 {
        assert_cancelled(while_cancelled(session.canceller(), || {
            session.run(run(u32::MAX))
        }));
        let out = session.run(run(600)).expect("it is not cancelled").out;
        assert!(out.into_iter().eq(0..1_000));
    }
}

/// Whoever comes too late for a run meets the next one; what is cancelled hands out nothing, and all else all of it.
fn a_cancel_at_any_instant_stops_a_call_or_comes_too_late(runtime: &Runtime) {
    let graph = ring(1_000);
    let mut session = tokens::Session::new(runtime, &graph).expect("it fits");
    let canceller = session.canceller();
    let (mut out, mut stopped) = (Default::default(), 0);
    for nth in 0..200 {
        let run = tokens::Run {
            tokens: 1 + nth % 7,
            wanted: 1 + nth % 5,
        };
        let ended = thread::scope(|scope| {
            scope.spawn(|| {
                (0..nth * 10).for_each(|_| std::hint::spin_loop());
                canceller.cancel();
            });
            session.run_into(run, &mut out)
        });
        match ended {
            Ok(()) => {
                let visits: u32 = out.visits.iter().sum();
                assert_eq!(visits, (1 + nth % 7) * (1 + nth % 5));
            }
            other => {
                assert_cancelled(other);
                stopped += 1;
            }
        }
        canceller.reset();
    }
    println!("{stopped} of 200 runs were stopped");
    session
        .run(tokens::Run {
            tokens: 1,
            wanted: 1,
        })
        .expect("it is not cancelled");
}

backend_tests!(
    a_batch_that_was_cancelled_before_it_began_stays_in_line,
    rounds_of_any_width_are_stopped,
    a_series_of_searches_is_stopped_and_repeated,
    a_cancel_at_any_instant_stops_a_call_or_comes_too_late,
    a_series_without_end_is_stopped,
    a_loop_without_memory_accesses_is_stopped,
    a_long_loop_over_numbers_is_stopped,
    a_cancel_stops_one_call,
    a_series_is_stopped_between_and_in_its_runs,
    a_batch_keeps_the_queries_that_were_done,
    a_query_has_so_much_time_in_a_batch_of_its_own,
    a_run_has_so_much_time,
    sessions_on_many_topologies_are_stopped,
    a_fused_run_is_stopped,
    a_runtime_refuses_everything_until_it_is_reset,
    slices_of_a_kernel_that_was_stopped_are_as_before,
    a_condition_that_does_not_end_is_stopped,
    loops_of_few_turns_in_each_other_are_stopped;
    live: a_run_that_is_under_way_is_stopped,
);

/// The interpreter counts turns of loops, so that it stops by itself.
#[test]
fn an_interpreted_loop_takes_so_many_steps() {
    let mut session = spin::Session::new(&Runtime::vir0(), ()).expect("it fits");
    assert!(session.set_step_limit(Some(1_000)));
    let stopped = session.run(ENDLESS).map(drop);
    let Err(Error::Run(RunError::Work { limit: 1_000 })) = stopped else {
        panic!("{stopped:?}");
    };
    assert!(session.set_step_limit(Some(1)));
    let stopped_at_once = session.run(ENDLESS).map(drop);
    let said = [stopped, stopped_at_once].map(|stopped| stopped.map_err(|e| e.to_string()));
    let expected = [
        "the run was stopped after 1000 steps, the limit that it was given",
        "the run was stopped after 1 step, the limit that it was given",
    ];
    assert_eq!(said, expected.map(|text| Err(text.to_owned())));
    session.set_step_limit(Some(1_000));
    for _ in 0..2 {
        session.submit(ENDLESS, 0);
        session.submit(SHORT, 0);
    }
    let batch = session.run_batch().expect("it had begun");
    let done: Vec<bool> = batch.results.iter().map(|(_, r)| r.is_ok()).collect();
    assert_eq!(done, [false, true, false, true]);
    session
        .run_series([SHORT, ENDLESS])
        .expect_err("the second run takes too many");
    session.set_step_limit(None);
    assert_eq!(
        session.run(SHORT).expect("there is no limit").out,
        [1, 2, 3]
    );
}

/// Rounds and items count natively as well.
#[test]
fn native_rounds_are_steps() {
    let mut session = rounds::Session::new(&Runtime::native(), ()).expect("it fits");
    assert!(session.set_step_limit(Some(20)));
    session
        .run(rounds::Run { wanted: 10 })
        .expect("10 items and 10 rounds");
    let stopped = session.run(rounds::Run { wanted: 11 }).map(drop);
    assert!(matches!(
        stopped,
        Err(Error::Run(RunError::Work { limit: 20 }))
    ));
}

/// A run may take all the steps that it has.
#[test]
fn a_run_may_take_all_its_steps() {
    for runtime in [Runtime::native(), Runtime::vir0()] {
        let mut session = pairs::Session::new(&runtime, ()).expect("it fits");
        let run = |items| pairs::Run { items, others: 0 };
        for (items, limit) in [(0, 0), (1, 1), (10, 10)] {
            assert!(session.set_step_limit(Some(limit)));
            let out = session.run(run(items)).expect("as many items as steps").out;
            assert!(out.into_iter().eq(0..items));
            let stopped = session.run(run(items + 1)).map(drop);
            assert!(matches!(
                stopped,
                Err(Error::Run(RunError::Work { limit: said })) if said == limit
            ));
        }
    }
}

/// What was stopped on one side is not run again on another, and costs nothing there.
#[test]
fn a_stopped_run_is_not_repeated_on_another_side() {
    let runtime = Runtime::among(Runtime::vir0(), [Runtime::native()]);
    let mut session = spin::Session::new(&runtime, ()).expect("it fits");
    for _ in 0..20 {
        session.run(SHORT).expect("it ends");
        let runs: u64 = session.sides().iter().map(|side| side.runs).sum();
        assert_cancelled(while_cancelled(session.canceller(), || {
            session.run(ENDLESS)
        }));
        assert_eq!(
            session.sides().iter().map(|side| side.runs).sum::<u64>(),
            runs
        );
    }
    let refused = |side: &vyre::Side| matches!(side.state, vyre::SideState::Refused(_));
    assert!(!session.sides().iter().any(refused));
}

/// A loop in a `#[device]` function is called from ordinary code, too.
#[device]
fn log2(mut x: u32) -> u32 {
    let mut bits = 0;
    while x > 1 {
        x /= 2;
        bits += 1;
    }
    bits
}

#[test]
fn loops_outside_of_runs_are_nobodys() {
    let mut session = spin::Session::new(&Runtime::native(), ()).expect("it fits");
    let canceller = session.canceller();
    thread::scope(|scope| {
        let running = scope.spawn(move || session.run(ENDLESS).map(drop));
        assert_eq!(log2(1 << 20), 20);
        canceller.cancel();
        assert_eq!(log2(1 << 21), 21);
        assert_cancelled(running.join().expect("no panic"));
    });
}
