//! Runs a fuzz target on seeds, on all cores.
//!
//! ```text
//! cargo run --release -p vyre-fuzz --bin fuzz -- run --cases 1000000 --from 0
//! ```
//!
//! A line a minute says how far it is, and from which seed a later call goes on. A case that panics is named by its seed
//! and ends the run: `--from SEED --cases 1` runs it alone.

use clap::Parser;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};
use vyre_fuzz::{TARGETS, Tally, seeded};

#[derive(Parser)]
struct Options {
    /// decode, verify, run, plan or host
    target: String,
    /// How many cases
    #[arg(long, default_value_t = 100_000)]
    cases: u64,
    /// The first seed
    #[arg(long, default_value_t = 0)]
    from: u64,
    /// Threads; all by default
    #[arg(long)]
    threads: Option<usize>,
}

/// Seeds that a thread takes at a time.
const CHUNK: u64 = 1_000;
/// A case that takes longer is a hang. A loaded machine may hold a process up for a minute.
const LONGEST: Duration = Duration::from_secs(300);

fn main() -> ExitCode {
    let options = Options::parse();
    let Some(target) = TARGETS.iter().find(|t| t.name == options.target) else {
        let names: Vec<&str> = TARGETS.iter().map(|t| t.name).collect();
        eprintln!(
            "there is no target `{}`: {}",
            options.target,
            names.join(", ")
        );
        return ExitCode::from(2);
    };
    let here = || std::thread::available_parallelism().map_or(1, |n| n.get());
    let threads = options.threads.unwrap_or_else(here);
    let end = options.from.saturating_add(options.cases);
    let (next, done, failed) = (
        AtomicU64::new(options.from),
        AtomicU64::new(0),
        AtomicBool::new(false),
    );
    let total = Mutex::new(Tally::default());
    // By thread: the seed that it runs, from 1 on, and since when.
    let began = Instant::now();
    let now: Vec<(AtomicU64, AtomicU64)> = (0..threads).map(|_| Default::default()).collect();
    std::thread::scope(|scope| {
        let working: Vec<_> = now
            .iter()
            .map(|(seed_now, since)| {
                scope.spawn(|| {
                    loop {
                        let first = next.fetch_add(CHUNK, Relaxed);
                        if first >= end || failed.load(Relaxed) {
                            seed_now.store(0, Relaxed);
                            return;
                        }
                        let mut tally = Tally::default();
                        for seed in first..end.min(first + CHUNK) {
                            since.store(began.elapsed().as_millis() as u64, Relaxed);
                            seed_now.store(seed + 1, Relaxed);
                            let run = AssertUnwindSafe(|| (target.run)(&seeded(seed), &mut tally));
                            if catch_unwind(run).is_err() {
                                eprintln!("{}: failed with --from {seed} --cases 1", target.name);
                                failed.store(true, Relaxed);
                                return;
                            }
                            done.fetch_add(1, Relaxed);
                        }
                        total
                            .lock()
                            .expect("no panic while it is held")
                            .merge(&tally);
                    }
                })
            })
            .collect();
        let mut told = Instant::now();
        while working.iter().any(|w| !w.is_finished()) {
            std::thread::sleep(Duration::from_millis(20));
            for (seed, since) in &now {
                let (seed, since) = (
                    seed.load(Relaxed),
                    Duration::from_millis(since.load(Relaxed)),
                );
                if seed > 0 && began.elapsed().saturating_sub(since) > LONGEST {
                    eprintln!("{}: hangs with --from {} --cases 1", target.name, seed - 1);
                    std::process::exit(1);
                }
            }
            if told.elapsed() > Duration::from_secs(60) {
                told = Instant::now();
                let (done, next) = (done.load(Relaxed), next.load(Relaxed).min(end));
                let each = done as f64 / began.elapsed().as_secs_f64();
                eprintln!(
                    "{}: {done} cases, {each:.0} a second; all below seed {} done",
                    target.name,
                    next.saturating_sub(CHUNK * threads as u64)
                );
            }
        }
    });
    for (what, count) in total
        .into_inner()
        .expect("no panic while it was held")
        .iter()
    {
        println!("{} {what}: {count}", target.name);
    }
    println!("{} executions: {}", target.name, done.into_inner());
    ExitCode::from(u8::from(failed.into_inner()))
}
