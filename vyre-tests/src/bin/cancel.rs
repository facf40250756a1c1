//! Cancels calls at random instants, and prints how long it takes from `cancel` to the error: median and worst.
//!
//! `cargo run --release -p vyre-tests --bin cancel -- native` (or `vir0`, `cuda`, `compiled`), and how often (1,000).
//!
//! Calls are runs, series and batches of passes that would not end, each in another way. After each call the same
//! session runs to its end, and gives the right result.

use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};
use vyre::prelude::Csr;
use vyre::{Canceller, Error, RoutePolicy, Runtime};
use vyre_tests::endless::{pairs, rounds, spin, tokens};
use vyre_tests::random::Random;

/// So late at most is a call cancelled after it began.
const LATEST_US: u32 = 2_000;

/// Nodes of a ring, on which tokens walk.
const RING: u32 = 1 << 14;

/// A run of lanes that loop without an access to memory.
const ENDLESS: spin::Run = spin::Run {
    items: 100,
    turns: 1,
};

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let backend = args.next().unwrap_or_else(|| "native".to_owned());
    let times = args.next().map_or(Ok(1_000), |n| n.parse::<u32>());
    let runtime = match backend.as_str() {
        "native" => Runtime::native(),
        "vir0" => Runtime::vir0(),
        "cuda" | "compiled" => match Runtime::cuda() {
            Ok(cuda) => cuda.with_route(match backend.as_str() {
                "cuda" => RoutePolicy::Interpreter,
                _ => RoutePolicy::Compiled,
            }),
            Err(e) => {
                eprintln!("error: {e}");
                return ExitCode::FAILURE;
            }
        },
        _ => return usage(),
    };
    let Ok(times) = times else {
        return usage();
    };
    match measure(&runtime, times) {
        Ok(mut waits) => {
            waits.sort_unstable();
            let (median, worst) = (waits[waits.len() / 2], waits[waits.len() - 1]);
            println!("cancel.{backend}: {median:.1?}, {worst:.1?} ({times} calls)");
            match worst <= Duration::from_millis(100) {
                true => ExitCode::SUCCESS,
                false => ExitCode::FAILURE,
            }
        }
        Err(e) => {
            eprintln!("error: {e}");
            ExitCode::FAILURE
        }
    }
}

fn usage() -> ExitCode {
    eprintln!("usage: cancel native|vir0|cuda|compiled [TIMES]");
    ExitCode::FAILURE
}

fn measure(runtime: &Runtime, times: u32) -> Result<Vec<Duration>, Error> {
    let mut spinning = spin::Session::new(runtime, ())?;
    let mut turning = rounds::Session::new(runtime, ())?;
    let mut pairing = pairs::Session::new(runtime, ())?;
    let ring: Vec<_> = (0..RING).map(|v| (v, (v + 1) % RING)).collect();
    let ring = Csr::from_edges(RING as usize, &ring).expect("all nodes are there");
    let mut walking = tokens::Session::new(runtime, &ring)?;
    let mut random = Random(1);
    let mut waits = Vec::new();
    for nth in 0..times.max(1) {
        let after = Duration::from_micros(random.below(LATEST_US).into());
        let wait = match nth % 6 {
            0 => cancelled(spinning.canceller(), after, || {
                spinning.run(ENDLESS).map(drop)
            }),
            1 => cancelled(turning.canceller(), after, || {
                turning.run(rounds::Run { wanted: u32::MAX }).map(drop)
            }),
            2 => cancelled(pairing.canceller(), after, || {
                let run = pairs::Run {
                    items: 1 << 20,
                    others: u32::MAX,
                };
                pairing.run(run).map(drop)
            }),
            3 => cancelled(spinning.canceller(), after, || {
                let short = || spin::Run {
                    items: 100,
                    turns: 0,
                };
                spinning.run_series([short(), ENDLESS, short()]).map(drop)
            }),
            4 => {
                // Few make narrow rounds.
                let run = tokens::Run {
                    tokens: 1 << (nth / 6 % 15),
                    wanted: u32::MAX,
                };
                cancelled(walking.canceller(), after, || walking.run(run).map(drop))
            }
            _ => {
                spinning.submit(
                    spin::Run {
                        items: 100,
                        turns: 0,
                    },
                    1,
                );
                for _ in 0..50 {
                    spinning.submit(ENDLESS, 0);
                }
                let canceller = spinning.canceller();
                let wait = cancelled(canceller, after, || {
                    let mut results = spinning.run_batch()?.results.into_iter();
                    results.try_for_each(|(_, result)| result.map(drop))
                });
                // A batch that was cancelled before it began is still in line.
                if spinning.waiting() > 0 {
                    spinning = spin::Session::new(runtime, ())?;
                }
                wait
            }
        };
        waits.push(wait?);
        assert_eq!(
            spinning.run(spin::Run { items: 3, turns: 0 })?.out,
            [1, 2, 3]
        );
        assert_eq!(
            turning
                .run(rounds::Run { wanted: 5 })?
                .report
                .total_rounds(),
            5
        );
        assert_eq!(
            pairing
                .run(pairs::Run {
                    items: 2,
                    others: 1
                })?
                .out,
            [0, 5]
        );
        let run = tokens::Run {
            tokens: 2,
            wanted: 3,
        };
        assert_eq!(walking.run(run)?.visits[..6], [0, 1, 2, 2, 1, 0]);
    }
    Ok(waits)
}

/// How long a call takes from its cancel, so long after it began, to its error.
fn cancelled(
    canceller: Canceller,
    after: Duration,
    call: impl FnOnce() -> Result<(), Error>,
) -> Result<Duration, Error> {
    thread::scope(|scope| {
        let cancelling = scope.spawn(move || {
            thread::sleep(after);
            let at = Instant::now();
            canceller.cancel();
            at
        });
        let ended = call();
        let now = Instant::now();
        let at = cancelling.join().expect("cancelling does not panic");
        match ended {
            Err(Error::Cancelled) => Ok(now.saturating_duration_since(at)),
            Err(e) => Err(e),
            Ok(()) => unreachable!("such a call does not end by itself"),
        }
    })
}
