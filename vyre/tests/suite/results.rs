//! Results in memory that was there before, `run_into` and `run_pinned`, on every backend, for every kind of result.

use kinds::Pair;
use std::collections::HashSet;
use std::time::Instant;
use vyre::prelude::*;
use vyre::{Error, Pinned, RunError, TrapKind};
use vyre_tests::backend_tests;

/// A result of each kind. Small and large ones come back in different ways from a device.
#[wave_graph]
mod kinds {
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub(crate) struct Pair {
        pub(crate) half: f64,
        pub(crate) odd: bool,
    }

    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        #[output(per = n)]
        twice: u32,
        #[output(per = n)]
        odd: bool,
        #[output(per = node, bits = width)]
        rows: Bits,
        #[output(per = n)]
        pairs: Pair,
        #[list(capacity = n, output)]
        even: List<u64>,
        #[list(capacity = n, output)]
        both: List<(u8, u32)>,
        #[reduce(sum)]
        total: u64,
        n: u32,
        width: u32,
        last: u32,
    }

    #[wave(range(n))]
    fn fill(
        i: Index,
        last: u32,
        twice: &mut u32,
        odd: &mut bool,
        pairs: &mut Pair,
        total: &Reduce<Sum<u64>>,
    ) {
        *twice = 2 * i;
        *odd = i % 2 == 1;
        *pairs = Pair {
            half: f64::from(i) / 2.0,
            odd: i % 2 == 1,
        };
        if i <= last {
            total.add(u64::from(i));
        }
    }

    #[wave(range(n))]
    fn list(i: Index, last: u32, even: &Append<u64>, both: &Append<(u8, u32)>) {
        if i <= last && i & 1 == 0 {
            even.append(u64::from(i));
            both.append((7, i));
        }
    }

    #[wave(nodes)]
    fn set(v: Node, rows: &Bits) {
        rows.set(v, v % rows.width());
    }

    /// With nothing after the last item, an index outside.
    #[wave(once, after(fill))]
    fn look(last: u32, twice: &Buf<u32>, total: &Reduce<Sum<u64>>) {
        if last != u32::MAX && twice[last] == 1 {
            total.add(1);
        }
    }
}

fn expected(out: &kinds::Output, n: u32, width: u32, last: u32) {
    let len = n as usize;
    assert!(out.twice.iter().copied().eq((0..n).map(|i| 2 * i)), "{n}");
    assert!(out.odd.iter().copied().eq((0..n).map(|i| i % 2 == 1)));
    assert_eq!(out.rows.width(), width);
    let nodes = 0..70_u32;
    assert!(nodes.clone().all(|v| out.rows.ones(v).eq([v % width])));
    assert_eq!((out.twice.len(), out.pairs.len()), (len, len));
    let pairs = (0..n).map(|i| Pair {
        half: f64::from(i) / 2.0,
        odd: i % 2 == 1,
    });
    assert!(out.pairs.iter().copied().eq(pairs));
    // Their order is open on a device.
    let listed = || (0..n).filter(|&i| i <= last && i % 2 == 0);
    let even: HashSet<u64> = out.even.iter().copied().collect();
    assert_eq!(
        (even, out.even.len()),
        (listed().map(u64::from).collect(), listed().count())
    );
    let both: HashSet<(u8, u32)> = out.both.iter().copied().collect();
    assert_eq!(
        (both, out.both.len()),
        (listed().map(|i| (7, i)).collect(), listed().count())
    );
    assert_eq!(
        out.total,
        (0..n).filter(|&i| i <= last).map(u64::from).sum::<u64>()
    );
}

fn ring() -> Csr {
    let edges: Vec<(u32, u32)> = (0..70).map(|v| (v, (v + 1) % 70)).collect();
    Csr::from_edges(70, &edges).expect("edges name nodes")
}

fn is_empty(out: &kinds::Output) -> bool {
    let lists = out.even.is_empty() && out.both.is_empty();
    let buffers = out.twice.is_empty() && out.odd.is_empty() && out.pairs.is_empty();
    lists && buffers && out.total == 0 && *out == kinds::Output::default()
}

fn results_are_those_of_a_run_whatever_was_there_before(runtime: &Runtime) {
    let graph = ring();
    let mut session = kinds::Session::new(runtime, &graph).expect("it fits");
    let mut out = kinds::Output::default();
    // Longer, shorter, nothing, as before, and large enough for copies of their own.
    for (n, width, last) in [
        (500, 40, u32::MAX),
        (9, 3, 4),
        (0, 64, u32::MAX),
        (9, 40, 8),
        (100_000, 33, u32::MAX),
        (100_000, 33, 17),
        (70_000, 5, 69_999),
    ] {
        let run = || kinds::Run { n, width, last };
        session.run_into(run(), &mut out).expect("no trap");
        expected(&out, n, width, last);
        let fresh = session.run(run()).expect("no trap");
        expected(&fresh, n, width, last);
        assert_eq!(out.report.rounds, fresh.report.rounds);
        let series = [
            kinds::Run {
                n: 5,
                width,
                last: 3,
            },
            run(),
        ];
        session.run_series_into(series, &mut out).expect("no trap");
        expected(&out, n, width, last);
    }
}

fn after_an_error_it_is_empty_and_can_be_used_again(runtime: &Runtime) {
    let graph = ring();
    let good = || kinds::Run {
        n: 50_000,
        width: 20,
        last: 100,
    };
    let mut session = kinds::Session::new(runtime, &graph).expect("it fits");
    let mut out = session.run(good()).expect("no trap");
    for _ in 0..2 {
        // An index outside `twice`.
        let bad = kinds::Run {
            n: 50_000,
            width: 20,
            last: 50_000,
        };
        let trap = match session.run_into(bad, &mut out) {
            Err(Error::Trap(trap)) => trap,
            other => panic!("{other:?}"),
        };
        assert_eq!(trap.kind, TrapKind::IndexOutOfBounds);
        assert!(is_empty(&out), "{out:?}");
        session.run_into(good(), &mut out).expect("no trap");
        expected(&out, 50_000, 20, 100);
        // Nothing to run.
        let none = session.run_series_into([], &mut out);
        assert!(matches!(none, Err(Error::Run(RunError::NoRuns))));
        assert!(is_empty(&out), "{out:?}");
    }
    session.run_into(good(), &mut out).expect("no trap");
    expected(&out, 50_000, 20, 100);
    // A result of another session is as good.
    let mut other = kinds::Session::new(runtime, &graph).expect("it fits");
    other
        .run_into(
            kinds::Run {
                n: 10,
                width: 7,
                last: 2,
            },
            &mut out,
        )
        .expect("no trap");
    expected(&out, 10, 7, 2);
}

fn memory_is_that_of_the_result_before(runtime: &Runtime) {
    let graph = ring();
    let mut session = kinds::Session::new(runtime, &graph).expect("it fits");
    let run = || kinds::Run {
        n: 100_000,
        width: 40,
        last: u32::MAX,
    };
    let mut out = kinds::Output::default();
    session.run_into(run(), &mut out).expect("no trap");
    session.run_into(run(), &mut out).expect("no trap");
    let places = |out: &kinds::Output| {
        [
            out.twice.as_ptr().addr(),
            out.odd.as_ptr().addr(),
            out.pairs.as_ptr().addr(),
            out.even.as_ptr().addr(),
            out.both.as_ptr().addr(),
        ]
    };
    let before = places(&out);
    for _ in 0..3 {
        session.run_into(run(), &mut out).expect("no trap");
        assert_eq!(places(&out), before, "{}", runtime.backend());
    }
    expected(&out, 100_000, 40, u32::MAX);
}

fn pinned_results_are_those_of_a_run(runtime: &Runtime) {
    let graph = ring();
    let mut session = kinds::Session::new(runtime, &graph).expect("it fits");
    let mut held = Vec::new();
    for (n, width, last) in [
        (9, 3, 4),
        (100_000, 40, u32::MAX),
        (0, 64, u32::MAX),
        (100_000, 33, 17),
        (70_000, 5, 69_999),
        (150_001, 5, 3),
    ] {
        let run = || kinds::Run { n, width, last };
        let out = session.run_pinned(run()).expect("no trap");
        expected(&out, n, width, last);
        // What a trap leaves behind is no result.
        let bad = kinds::Run { last: n, ..run() };
        assert!(
            session
                .run_pinned(bad)
                .expect_err("outside")
                .trap()
                .is_some()
        );
        // One lives on beside those that come back.
        let again = session.run_pinned(run()).expect("no trap");
        held.push((out, n, width, last));
        expected(&again, n, width, last);
        expected(&session.run(run()).expect("no trap"), n, width, last);
    }
    drop(session);
    // Each has memory of its own, with or without a session, on any thread.
    let check = |(out, n, width, last): (Pinned<kinds::Output>, u32, u32, u32)| {
        expected(&out, n, width, last);
        drop(out);
    };
    let threads = held
        .into_iter()
        .map(|held| std::thread::spawn(move || check(held)));
    let threads: Vec<_> = threads.collect();
    threads
        .into_iter()
        .for_each(|t| t.join().expect("all hold"));
}

/// Nothing but a large result.
#[wave_graph]
mod squares {
    pub(crate) struct Data {
        #[output(per = n)]
        y: u64,
        n: u32,
    }

    #[wave(range(n))]
    fn square(i: Index, y: &mut u64) {
        *y = u64::from(i) * u64::from(i);
    }
}

fn memory_of_pinned_results_is_used_again_and_counted(runtime: &Runtime) {
    let n = 100_000;
    let bytes = 8 * u64::from(n);
    let run = || squares::Run { n };
    let backend = runtime.backend();
    let runtime = runtime.clone().with_memory(1 << 30);
    let used = || runtime.memory().expect("there is a budget").1;
    let mut session = squares::Session::new(&runtime, ()).expect("it fits");
    session.run(run()).expect("no trap");
    let before = used();
    let first = session.run_pinned(run()).expect("no trap");
    let place = first.y.as_ptr().addr();
    assert_eq!(used() - before, bytes, "{backend}");
    let second = session.run_pinned(run()).expect("no trap");
    assert_ne!(second.y.as_ptr().addr(), place);
    assert_eq!(used() - before, 2 * bytes, "{backend}");
    drop(first);
    // It waits for the next run.
    assert_eq!(used() - before, 2 * bytes, "{backend}");
    let third = session.run_pinned(run()).expect("no trap");
    if backend == "cuda" {
        assert_eq!(third.y.as_ptr().addr(), place);
    }
    assert_eq!(
        (third.y[70_000], used() - before),
        (4_900_000_000, 2 * bytes)
    );
    drop(second);
    // Another session needs the memory.
    let other = squares::Session::new(&runtime, ()).expect("it fits");
    drop(other);
    assert_eq!(used() - before, bytes, "{backend}");
    drop(session);
    assert_eq!(used(), bytes, "{backend}: the caller has one");
    drop(third);
    assert_eq!(used(), 0, "{backend}");

    // A budget for a session and one such result.
    let tight = runtime.clone().with_memory(before + bytes);
    let mut session = squares::Session::new(&tight, ()).expect("it fits");
    let first = session.run_pinned(run()).expect("there is room");
    for _ in 0..2 {
        let refused = session.run_pinned(run()).expect_err("there is no room");
        let says =
            "the result does not fit beside the runtime's sessions; 800000 bytes are needed, ";
        assert!(refused.to_string().starts_with(says), "{refused}");
    }
    assert_eq!(first.y[3], 9);
    assert_eq!(session.run(run()).expect("no trap").y[3], 9);
    drop(first);
    assert_eq!(session.run_pinned(run()).expect("there is room").y[9], 81);
    // A longer one takes the place of the one that waits.
    let shorter = squares::Run { n: 1_000 };
    assert_eq!(session.run_pinned(shorter).expect("there is room").y[9], 81);
}

/// A sum of what the run is given.
#[wave_graph]
mod summed {
    pub(crate) struct Data {
        #[input(per = n)]
        x: u64,
        #[reduce(sum)]
        sum: u64,
        #[output(per = n)]
        y: u64,
        n: u32,
    }

    #[wave(range(n))]
    fn add(x: &u64, y: &mut u64, sum: &Reduce<Sum<u64>>) {
        *y = *x;
        sum.add(*x);
    }
}

fn inputs_of_a_query_take_the_place_of_a_result_that_came_back(runtime: &Runtime) {
    let n = 5_000;
    let x: Vec<u64> = (0..u64::from(n)).collect();
    let backend = runtime.backend();
    // Inputs and results of the session; the result that is kept.
    let tight = runtime.clone().with_memory(2 * 40_000 + 8 + 40_000);
    let mut session = summed::Session::new(&tight, ()).expect("it fits");
    let run = || summed::Run { x: &x, n };
    let out = session.run_pinned(run()).expect("there is room");
    assert_eq!(out.sum, 12_497_500, "{backend}");
    drop(out);
    assert_eq!(tight.memory(), Some((120_008, 120_008)), "{backend}");
    session.submit(run(), 0);
    assert_eq!(tight.memory(), Some((120_008, 120_008)), "{backend}");
    let batch = session.run_batch().expect("it runs");
    let out = batch.results[0].1.as_ref().expect("there is room");
    assert_eq!(out.sum, 12_497_500, "{backend}");
    assert_eq!(tight.memory(), Some((120_008, 80_008)), "{backend}");
}

fn a_pool_keeps_no_more_than_eight(runtime: &Runtime) {
    let runtime = runtime.clone().with_memory(1 << 30);
    let mut session = squares::Session::new(&runtime, ()).expect("it fits");
    session.run(squares::Run { n: 1_000 }).expect("no trap");
    let before = runtime.memory().expect("there is a budget").1;
    let run = |_| {
        session
            .run_pinned(squares::Run { n: 1_000 })
            .expect("no trap")
    };
    let held: Vec<_> = (0..11).map(run).collect();
    drop(held);
    let kept = runtime.memory().expect("there is a budget").1 - before;
    assert_eq!(kept, 8 * 8_000);
}

#[test]
#[ignore = "needs a CUDA device"]
fn a_large_result_is_in_page_locked_memory() {
    let runtime = vyre_tests::cuda();
    let mut session = squares::Session::new(&runtime, ()).expect("it fits");
    for n in [200_000, 8_000_000, 16_000_001] {
        let out = session.run_pinned(squares::Run { n }).expect("no trap");
        assert!(Pinned::is_page_locked(&out), "{n}");
        assert!(out.y.iter().copied().eq((0..u64::from(n)).map(|i| i * i)));
    }
}

backend_tests!(
    results_are_those_of_a_run_whatever_was_there_before,
    after_an_error_it_is_empty_and_can_be_used_again,
    memory_is_that_of_the_result_before,
    pinned_results_are_those_of_a_run,
    memory_of_pinned_results_is_used_again_and_counted,
    a_pool_keeps_no_more_than_eight;
    cpus: inputs_of_a_query_take_the_place_of_a_result_that_came_back,
);

/// Prints what results cost beside the launch, with `--nocapture`.
#[test]
#[ignore = "needs a CUDA device"]
fn what_results_cost_beside_the_launch() {
    let runtime = vyre_tests::cuda();
    for megabytes in [42, 64] {
        let mut session = squares::Session::new(&runtime, ()).expect("it fits");
        let run = || squares::Run {
            n: megabytes * 1_000_000 / 8,
        };
        let mut out = squares::Output::default();
        let mut beside = [const { Vec::new() }; 3];
        for _ in 0..20 {
            let mut note = |way: usize, started: Instant, out: &squares::Output| {
                let wall_ns = started.elapsed().as_nanos() as u64;
                beside[way].push(wall_ns - out.report.device_ns.expect("a device"));
            };
            let started = Instant::now();
            let fresh = session.run(run()).expect("no trap");
            note(0, started, &fresh);
            let started = Instant::now();
            session.run_into(run(), &mut out).expect("no trap");
            note(1, started, &out);
            let started = Instant::now();
            let pinned = session.run_pinned(run()).expect("no trap");
            note(2, started, &pinned);
            assert_eq!((&pinned.y, &fresh.y), (&out.y, &out.y));
        }
        for (way, mut ns) in ["run", "run_into", "run_pinned"].iter().zip(beside) {
            ns.sort_unstable();
            let [best, median] = [0, 10].map(|at| ns[at] as f64 / 1e6);
            println!("{megabytes} MB by {way}: {best:.2} ms at best, {median:.2} ms as a rule");
        }
    }
}
