//! What ends a call: cancellers of sessions and runtimes, and limits of time and steps. A call here that is ended would
//! not end by itself, or is ended at a look that was counted, so that no test depends on how long anything takes.
#![allow(missing_docs, reason = "a pass of tests")]

use std::num::NonZeroUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::thread;
use std::time::Duration;
use vyre::prelude::*;
use vyre::{Batch, Canceller, Error, FusedSession, Sessions};
use vyre_tests::endless::{nests, pairs, rounds, spin, tokens, undecided};
use vyre_tests::{backend_tests, happens};

const ENDLESS: spin::Run = spin::Run {
    items: 100,
    turns: 1,
};
const SHORT: spin::Run = spin::Run { items: 3, turns: 0 };

#[track_caller]
fn assert_cancelled<T>(done: Result<T, Error>) {
    match done.err() {
        Some(Error::Cancelled) => {}
        other => panic!("{other:?}"),
    }
}

/// Does something while another thread cancels it, maybe before it begins, and takes the cancel back.
fn while_cancelled<T>(canceller: Canceller, call: impl FnOnce() -> T) -> T {
    let done = thread::scope(|scope| {
        scope.spawn(|| canceller.cancel());
        call()
    });
    canceller.rearm();
    done
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
            let seen = happens(|| progress.rounds() >= 10);
            canceller.cancel();
            seen
        });
        assert_cancelled(session.run(rounds::Run { wanted: u32::MAX }));
        assert!(seen.join().expect("no panic"), "no progress is seen");
    });
    session.canceller().rearm();
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

fn a_cancel_holds_until_it_is_taken_back(runtime: &Runtime) {
    let mut session = spin::Session::new(runtime, ()).expect("it fits");
    let canceller = session.canceller();
    let mut out = session.run(SHORT).expect("it is not cancelled");
    canceller.cancel();
    canceller.clone().cancel();
    assert!(canceller.is_cancelled());
    assert_cancelled(session.run(SHORT));
    assert_cancelled(session.run_into(SHORT, &mut out));
    assert!(out.out.is_empty());
    assert_cancelled(session.run_pinned(SHORT));
    assert_cancelled(session.run_series([SHORT]));
    session.submit(SHORT, 0);
    assert_cancelled(session.run_batch());
    assert_eq!(session.waiting(), 1);
    session.update(()).expect("nothing runs");
    assert!(canceller.is_cancelled());
    canceller.rearm();
    assert!(!canceller.is_cancelled());
    session
        .run_into(SHORT, &mut out)
        .expect("it is not cancelled");
    assert_eq!(out.out, [1, 2, 3]);
    let batch = session.run_batch().expect("it is not cancelled");
    assert!(batch.results[0].1.is_ok());
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

fn a_batch_of_queries_that_never_end_is_stopped(runtime: &Runtime) {
    let mut session = spin::Session::new(runtime, ()).expect("it fits");
    // More than there are threads, or multiprocessors.
    for _ in 0..300 {
        session.submit(ENDLESS, 0);
    }
    match while_cancelled(session.canceller(), || session.run_batch()) {
        Ok(batch) => {
            assert_eq!(batch.results.len(), 300);
            let results = batch.results.into_iter();
            results.for_each(|(_, result)| assert_cancelled(result));
        }
        // It was cancelled before it began.
        Err(e) => assert_cancelled::<()>(Err(e)),
    }
    let mut session = spin::Session::new(runtime, ()).expect("it fits");
    session.submit(SHORT, 0);
    let batch = session.run_batch().expect("it is not cancelled");
    assert!(batch.results.iter().all(|(_, result)| result.is_ok()));
}

/// In a batch of its own a query that never ends takes no other one's time.
fn a_query_has_so_much_time_in_a_batch_of_its_own(runtime: &Runtime) {
    let mut session = spin::Session::new(runtime, ()).expect("it fits");
    session.set_batch_limit(NonZeroUsize::new(1));
    let given = Duration::from_millis(20);
    session.set_time_limit(Some(given));
    let endless = session.submit(ENDLESS, 0);
    let short = session.submit(SHORT, 0);
    // One that had no time to begin is still in line.
    while session.waiting() == 2 {
        let Ok(batch) = session.run_batch() else {
            continue;
        };
        let [(id, Err(Error::Deadline { limit }))] = &batch.results[..] else {
            panic!("it never ends");
        };
        assert_eq!((*id, *limit), (endless, given));
    }
    session.set_time_limit(None);
    let batch = session.run_batch().expect("it has time");
    let [(id, Ok(out))] = &batch.results[..] else {
        panic!("it ends");
    };
    assert_eq!((*id, &out.out[..]), (short, &[1, 2, 3][..]));
}

fn a_run_has_so_much_time(runtime: &Runtime) {
    let mut session = spin::Session::new(runtime, ()).expect("it fits");
    for limit in [Duration::ZERO, Duration::from_millis(20)] {
        let late = session.run_within(limit, ENDLESS).map(drop);
        let Err(Error::Deadline { limit: said }) = late else {
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

fn a_runtime_refuses_everything_until_it_is_rearmed(runtime: &Runtime) {
    let mut session = spin::Session::new(runtime, ()).expect("it fits");
    let canceller = runtime.canceller();
    thread::scope(|scope| {
        scope.spawn(|| canceller.cancel());
        assert_cancelled(session.run(ENDLESS));
    });
    assert_cancelled(session.run(SHORT));
    let mut later = spin::Session::new(runtime, ()).expect("sessions can be opened");
    assert_cancelled(later.run(SHORT));
    canceller.rearm();
    assert_eq!(session.run(SHORT).expect("it is rearmed").out, [1, 2, 3]);
    assert_eq!(later.run(SHORT).expect("it is rearmed").out, [1, 2, 3]);
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
    double_until::run(&runtime, 1, &mut x).expect("it is rearmed");
    assert_eq!(x, [2, 4, 6]);
}

fn a_kernel_has_so_much_time(runtime: &Runtime) {
    let runtime = runtime.clone().alone();
    let mut x = vec![1, 2, 3];
    for time in [Duration::ZERO, Duration::from_millis(20)] {
        let limited = runtime.clone().with_time_limit(Some(time));
        let late = double_until::run(&limited, 0, &mut x).map(drop);
        assert!(
            matches!(late, Err(Error::Deadline { limit }) if limit == time),
            "{late:?}"
        );
        assert_eq!(x, [1, 2, 3]);
    }
    double_until::run(&runtime, 1, &mut x).expect("there is no limit");
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

#[device]
fn mixed(mut x: u32) -> u32 {
    for turn in 0..x % 100 + 50 {
        x = x.wrapping_mul(5).wrapping_add(turn);
    }
    x
}

/// A loop without accesses in two groups, one of them a fixpoint: something to end in many places.
#[wave_graph]
mod work {
    use super::mixed;

    pub struct Data {
        #[output(per = items)]
        out: u32,
        #[reduce(or)]
        again: bool,
        items: u32,
        rounds: u32,
    }

    #[wave(range(items))]
    fn first(i: Index, out: &mut u32) {
        *out = mixed(i);
    }

    #[fixpoint(after(first), until(!again), max_rounds = 9)]
    mod on {
        #[wave(range(items))]
        fn more(round: Round, rounds: u32, out: &mut u32, again: &Reduce<Or<bool>>) {
            *out = mixed(*out);
            again.or(round + 1 < rounds);
        }
    }
}

const WORK: work::Run = work::Run {
    items: 12,
    rounds: 2,
};

/// What `rounds` rounds after the first sweep leave.
fn worked(rounds: u32) -> Vec<u32> {
    let once = |x: u32, _| mixed(x);
    (0..12).map(|i| (0..=rounds).fold(i, once)).collect()
}

#[kernel]
fn mix(x: &mut u32) {
    *x = mixed(*x);
}

/// Cancels a call at a thousand of its looks, or at each of them if it has fewer. It is ended, later ones are refused,
/// and the one after that is right again. `call` says itself whether what it got is right.
fn is_ended_at_any_look(canceller: &Canceller, mut call: impl FnMut() -> Result<(), Error>) {
    // Memory of the first call may be another one's.
    call().expect("nothing ends it");
    let looks = canceller.at_look(u64::MAX, || ());
    call().expect("nothing ends it");
    let looks = looks.load(SeqCst);
    assert!(looks > 0, "nobody looks");
    let cancel_at = |nth| {
        let canceller = canceller.clone();
        canceller.clone().at_look(nth, move || canceller.cancel());
    };
    for nth in (1..=looks).step_by(looks.div_ceil(1_000) as usize) {
        cancel_at(nth);
        assert_cancelled(call());
        assert_cancelled(call());
        canceller.rearm();
        call().expect("nothing ends it");
    }
    cancel_at(looks + 1);
    call().expect("it is over before");
    assert!(!canceller.is_cancelled());
}

fn a_run_is_ended_at_any_look(runtime: &Runtime) {
    let (mut session, right) = (work::Session::new(runtime, ()).expect("it fits"), worked(2));
    is_ended_at_any_look(&session.canceller(), || {
        assert_eq!(session.run(WORK)?.out, right);
        Ok(())
    });
    let mut out = work::Output::default();
    is_ended_at_any_look(&session.canceller(), || {
        let ended = session.run_into(WORK, &mut out);
        let left = if ended.is_ok() { &right[..] } else { &[] };
        assert_eq!(out.out, left);
        ended
    });
    is_ended_at_any_look(&session.canceller(), || {
        assert_eq!(session.run_pinned(WORK)?.out, right);
        Ok(())
    });
}

fn a_series_is_ended_at_any_look(runtime: &Runtime) {
    let (mut session, right) = (work::Session::new(runtime, ()).expect("it fits"), worked(1));
    is_ended_at_any_look(&session.canceller(), || {
        let one = || work::Run { rounds: 1, ..WORK };
        assert_eq!(session.run_series([one(), WORK, one()])?.out, right);
        Ok(())
    });
}

/// Queries that were done have this result; otherwise gives the first error.
fn all_are(right: &[u32], batch: Batch<work::Output>) -> Result<(), Error> {
    let mut ended = Ok(());
    for (_, result) in batch.results {
        match result {
            Ok(out) => assert_eq!(out.out, right),
            Err(e) => ended = ended.and(Err(e)),
        }
    }
    ended
}

fn a_batch_is_ended_at_any_look(runtime: &Runtime) {
    let (mut session, right) = (work::Session::new(runtime, ()).expect("it fits"), worked(2));
    is_ended_at_any_look(&session.canceller(), || {
        while session.waiting() < 4 {
            session.submit(WORK, 0);
        }
        all_are(&right, session.run_batch()?)
    });
    let topologies = [(), (), ()];
    let mut sessions: Sessions<work::Pass> = Sessions::new(runtime, topologies).expect("they fit");
    is_ended_at_any_look(&sessions.canceller(), || {
        for topology in sessions.waiting()..3 {
            sessions.submit(topology, WORK, 0);
        }
        all_are(&right, sessions.run_batch()?)
    });
}

fn a_fused_run_is_ended_at_any_look(runtime: &Runtime) {
    let mut fused: FusedSession<work::Pass, rounds::Pass> =
        FusedSession::new(runtime, ((), ()), &[]).expect("they fit");
    let right = worked(2);
    is_ended_at_any_look(&fused.canceller(), || {
        let (out, turned) = fused.run(WORK, rounds::Run { wanted: 5 })?;
        assert_eq!((out.out, turned.report.total_rounds()), (right.clone(), 5));
        Ok(())
    });
}

fn a_kernel_is_ended_at_any_look(runtime: &Runtime) {
    let runtime = runtime.clone().alone();
    let given: Vec<u32> = (0..12).collect();
    let right = worked(0);
    is_ended_at_any_look(&runtime.canceller(), || {
        let mut x = given.clone();
        let ended = mix::run(&runtime, &mut x).map(drop);
        assert_eq!(
            x,
            if ended.is_ok() {
                &right[..]
            } else {
                &given[..]
            }
        );
        ended
    });
}

backend_tests!(
    rounds_of_any_width_are_stopped,
    a_series_of_searches_is_stopped_and_repeated,
    a_run_is_ended_at_any_look,
    a_series_is_ended_at_any_look,
    a_batch_is_ended_at_any_look,
    a_fused_run_is_ended_at_any_look,
    a_kernel_is_ended_at_any_look,
    a_series_without_end_is_stopped,
    a_loop_without_memory_accesses_is_stopped,
    a_long_loop_over_numbers_is_stopped,
    a_cancel_holds_until_it_is_taken_back,
    a_series_is_stopped_between_and_in_its_runs,
    a_batch_of_queries_that_never_end_is_stopped,
    a_query_has_so_much_time_in_a_batch_of_its_own,
    a_run_has_so_much_time,
    sessions_on_many_topologies_are_stopped,
    a_fused_run_is_stopped,
    a_runtime_refuses_everything_until_it_is_rearmed,
    slices_of_a_kernel_that_was_stopped_are_as_before,
    a_kernel_has_so_much_time,
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
    let Err(Error::Work { limit: 1_000, .. }) = stopped else {
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
    assert!(matches!(stopped, Err(Error::Work { limit: 20, .. })));
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
                Err(Error::Work { limit: said, .. }) if said == limit
            ));
        }
    }
}

/// What was stopped on one side is not run again on another, and costs nothing there.
#[test]
fn a_stopped_run_is_not_repeated_on_another_side() {
    let runtime = Runtime::among(Runtime::vir0(), [Runtime::native()]);
    let mut session = spin::Session::new(&runtime, ()).expect("it fits");
    let canceller = session.canceller();
    let runs = |session: &spin::Session| -> u64 { session.sides().iter().map(|s| s.runs).sum() };
    for nth in 1..=20 {
        session.run(SHORT).expect("it ends");
        let (before, cancels) = (runs(&session), canceller.clone());
        canceller.at_look(nth, move || cancels.cancel());
        assert_cancelled(session.run(ENDLESS));
        canceller.rearm();
        assert_eq!(runs(&session), before);
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
