//! Results in memory that was there before: `run_into` on every backend, for every kind of result.

#[macro_use]
mod common;

use kinds::Pair;
use std::collections::HashSet;
use vyre_cuda::prelude::*;
use vyre_cuda::{Error, RunError, TrapKind};

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
        (0..n).filter(|&i| i <= last).map(u64::from).sum()
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

fn results_are_those_of_a_run_whatever_was_there_before(runtimes: [Runtime; 2]) {
    let graph = ring();
    for runtime in runtimes {
        let mut session = kinds::Session::new(&runtime, &graph).expect("it fits");
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
}

fn after_an_error_it_is_empty_and_can_be_used_again(runtimes: [Runtime; 2]) {
    let graph = ring();
    let good = || kinds::Run {
        n: 50_000,
        width: 20,
        last: 100,
    };
    for runtime in runtimes {
        let mut session = kinds::Session::new(&runtime, &graph).expect("it fits");
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
            assert!(matches!(none, Err(Error::Run(RunError::Length { .. }))));
            assert!(is_empty(&out), "{out:?}");
        }
        session.run_into(good(), &mut out).expect("no trap");
        expected(&out, 50_000, 20, 100);
        // A result of another session is as good.
        let mut other = kinds::Session::new(&runtime, &graph).expect("it fits");
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
}

fn memory_is_that_of_the_result_before(runtimes: [Runtime; 2]) {
    let graph = ring();
    for runtime in runtimes {
        let mut session = kinds::Session::new(&runtime, &graph).expect("it fits");
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
}

on_every_backend! {
    results_are_those_of_a_run_whatever_was_there_before
    after_an_error_it_is_empty_and_can_be_used_again
    memory_is_that_of_the_result_before
}
