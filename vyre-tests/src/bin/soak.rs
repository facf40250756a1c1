//! A soak: for a given time, sessions are opened on random graphs, run, updated and closed, one by one, in batches, in
//! series and side by side; runs are cancelled, they trap, lists and frontiers overflow, budgets are too small. Every
//! result is compared with one that was worked out node by node, or with another backend's.
//!
//! Memory is sampled all the while. What is allocated is counted while no episode is under way, and must not grow; time
//! begins when the runtimes remember as many plans as they ever do. When all runtimes are dropped, next to nothing may be
//! left: a byte that each episode leaks is found after a hundred thousand of them. Resident memory must only stay within
//! the budgets, since the system's allocator keeps free memory of threads that have ended.
//!
//! ```text
//! cargo run --release -p vyre-tests --bin soak -- --seconds 1800                      natively and on VIR0
//! cargo run --release -p vyre-tests --bin soak -- --seconds 1800 --duty 30            working 30 % of the time
//! soak --seconds 300 --backend cuda                                                   on a GPU
//! soak --episode 0x1234 --backend native                                              one episode again
//! soak --episodes 20                                                                  20 episodes, whatever they take
//! soak --seconds 60 --leak 100                                                        must fail: each episode leaks
//! ```
//!
//! It ends in lines for `scripts/trust`.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};
use vyre::core::plan::{cache::PLAN_CAPACITY, launch};
use vyre::prelude::*;
use vyre::{RunError, TrapKind};
use vyre_tests::graphs::{distances, edgeless, shortest};
use vyre_tests::heap;
use vyre_tests::passes::{bfs, doubled, mixed, phases, sssp, tight, work};
use vyre_tests::random::Random;

#[global_allocator]
static HEAP: heap::Heap = heap::Heap;

/// Of the sessions of an episode.
const BUDGET: u64 = 64 << 20;
/// What a process may hold beside its budgets.
const BESIDE: u64 = 64 << 20;
/// A process keeps so much for each thread when all runtimes are dropped.
const KEPT: u64 = 50_000;
/// A device hands memory out in large blocks, so that this much more than before is not growth.
const ROUNDING: u64 = 4 << 20;
/// Parts of the time, each with the least memory that was sampled in it.
const WINDOWS: usize = 50;

struct Options {
    backends: Vec<String>,
    seconds: u64,
    seed: u64,
    duty_percent: u32,
    /// The seed of the first one.
    episode: Option<u64>,
    /// How many of each backend, however long they take; memory is not looked at.
    episodes: Option<u64>,
    /// Bytes that each episode leaks, to see that it is found.
    leak: usize,
}

fn options() -> Result<Options, String> {
    let mut options = Options {
        backends: Vec::new(),
        seconds: 60,
        seed: 1,
        duty_percent: 100,
        episode: None,
        episodes: None,
        leak: 0,
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let value = words.next().ok_or(format!("{word} needs a value"))?;
        let digits = value.trim_start_matches("0x");
        let radix = if digits.len() == value.len() { 10 } else { 16 };
        let number = u64::from_str_radix(digits, radix).map_err(|e| format!("{word} {value}: {e}"));
        match &*word {
            "--backend" => options.backends.push(value),
            "--seconds" => options.seconds = number?,
            "--seed" => options.seed = number?,
            "--duty" => options.duty_percent = number?.clamp(1, 100) as u32,
            "--episode" => (options.episode, options.episodes) = (Some(number?), Some(1)),
            "--episodes" => options.episodes = Some(number?),
            "--leak" => options.leak = number? as usize,
            _ => return Err(format!("unknown option {word}")),
        }
    }
    if options.backends.is_empty() {
        options.backends = vec!["native".into(), "vir0".into()];
    }
    Ok(options)
}

/// How often what was done.
type Counts = BTreeMap<&'static str, u64>;

/// Works on one backend.
struct Worker {
    runtime: Runtime,
    /// Another backend, for results that are not worked out node by node.
    other: Runtime,
    counts: Counts,
}

/// Runs fit with their budget, so that only what an episode asks for may fail.
#[derive(Clone, Copy, PartialEq)]
enum Room {
    Enough,
    Tight,
}

impl Worker {
    fn new(backend: &str) -> Result<Worker, String> {
        let runtime = match backend {
            "native" => Runtime::native(),
            "vir0" => Runtime::vir0(),
            "cuda" => Runtime::cuda().map_err(|e| e.to_string())?,
            "auto" => Runtime::auto().map_err(|e| e.to_string())?,
            _ => return Err(format!("unknown backend {backend}")),
        };
        let other = match backend {
            "vir0" => Runtime::native(),
            _ => Runtime::vir0(),
        };
        Ok(Worker {
            runtime,
            other,
            counts: Counts::new(),
        })
    }

    /// Both runtimes remember as many plans as they may, and have forgotten as many.
    fn is_full(&self) -> bool {
        [&self.runtime, &self.other].into_iter().all(|runtime| {
            let planning = runtime.planning();
            let [sessions, launches] = [planning.sessions, planning.launches];
            sessions.evictions >= PLAN_CAPACITY as u64
                && launches.evictions >= launch::MEMORY as u64
        })
    }

    fn count(&mut self, what: &'static str) {
        *self.counts.entry(what).or_default() += 1;
    }

    /// The value; `None` where there was no room, and there need not have been. Nothing else may fail.
    fn settled<T>(&mut self, result: Result<T, Error>, room: Room) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(Error::Run(RunError::Memory { .. })) if room == Room::Tight => {
                self.count("refusals");
                None
            }
            Err(e) => panic!("{e}"),
        }
    }

    /// One episode. Afterwards nothing of its budget is taken.
    fn episode(&mut self, seed: u64) {
        let random = &mut Random(seed);
        let room = match random.below(4) {
            0 => Room::Tight,
            _ => Room::Enough,
        };
        let bytes = match room {
            Room::Enough => BUDGET,
            Room::Tight => 1 << (10 + random.below(12)),
        };
        let runtime = self.runtime.clone().with_memory(bytes);
        match random.below(8) {
            0..=2 => self.searches(&runtime, random, room),
            3 => self.paths(&runtime, random, room),
            4 => self.many_graphs(&runtime, random, room),
            5 => self.side_by_side(&runtime, random),
            6 => self.faults(&runtime, random, room),
            _ => self.compared(&runtime, random, room),
        }
        let left = runtime.memory().expect("there is a budget");
        assert_eq!(left, (bytes, 0), "nothing is taken after an episode");
        self.count("episodes");
    }

    /// A session of searches: whatever a session can do, in any order.
    fn searches(&mut self, runtime: &Runtime, random: &mut Random, room: Room) {
        let mut graph = random_graph(random);
        let opened = bfs::Session::new(runtime, &graph);
        let Some(mut session) = self.settled(opened, room) else {
            return;
        };
        self.count("sessions");
        let mut out = bfs::Output::default();
        for _ in 0..1 + random.below(6) {
            let nodes = graph.node_count() as u32;
            let source = random.below(nodes);
            let expected = distances(&graph, source);
            let run = bfs::Run { source };
            match random.below(7) {
                0 => {
                    let result = session.run(run);
                    let found = self.settled(result, room);
                    assert!(found.is_none_or(|out| out.dist == expected));
                }
                1 => {
                    let result = session.run_into(run, &mut out);
                    let found = self.settled(result, room);
                    assert!(found.is_none_or(|()| out.dist == expected));
                }
                2 => {
                    let result = session.run_pinned(run);
                    let found = self.settled(result, room);
                    assert!(found.is_none_or(|out| out.dist == expected));
                }
                3 => {
                    let first = random.below(nodes);
                    let series = [first, first / 2, source].map(|source| bfs::Run { source });
                    let result = session.run_series(series);
                    let found = self.settled(result, room);
                    assert!(found.is_none_or(|out| out.dist == expected));
                    self.count("series");
                }
                4 => {
                    let sources: Vec<u32> = (0..2 + random.below(9))
                        .map(|_| random.below(nodes))
                        .collect();
                    for &source in &sources {
                        session.submit(bfs::Run { source }, random.below(3) as i32);
                    }
                    let batch = session.run_batch().expect("a batch has an outcome a query");
                    for ((_, result), &source) in batch.results.into_iter().zip(&sources) {
                        let found = self.settled(result, room);
                        assert!(found.is_none_or(|out| out.dist == distances(&graph, source)));
                        self.count("runs");
                    }
                    self.count("batches");
                }
                5 => {
                    let canceller = session.canceller();
                    let when = Duration::from_micros(random.below(200).into());
                    let result = std::thread::scope(|scope| {
                        scope.spawn(|| {
                            std::thread::sleep(when);
                            canceller.cancel();
                        });
                        session.run(run)
                    });
                    // It may have come too late.
                    canceller.rearm();
                    match result {
                        Err(Error::Cancelled) => self.count("cancels"),
                        result => {
                            let found = self.settled(result, room);
                            assert!(found.is_none_or(|out| out.dist == expected));
                        }
                    }
                }
                _ => {
                    let next = random_graph(random);
                    let updated = session.update(&next);
                    if self.settled(updated, room).is_some() {
                        graph = next;
                    }
                    self.count("updates");
                }
            }
            self.count("runs");
        }
    }

    /// Shortest paths: weights, and a frontier without repeats.
    fn paths(&mut self, runtime: &Runtime, random: &mut Random, room: Room) {
        let graph = random_graph(random);
        let weight: Vec<u32> = (0..graph.edge_count()).map(|_| random.below(50)).collect();
        let topology = sssp::Topology {
            graph: &graph,
            weight: &weight,
        };
        let opened = sssp::Session::new(runtime, topology);
        let Some(mut session) = self.settled(opened, room) else {
            return;
        };
        self.count("sessions");
        for _ in 0..1 + random.below(4) {
            let source = random.below(graph.node_count() as u32);
            let result = session.run(sssp::Run { source });
            let found = self.settled(result, room);
            assert!(found.is_none_or(|out| out.dist == shortest(&graph, &weight, source)));
            self.count("runs");
        }
    }

    /// Queries on several graphs share launches.
    fn many_graphs(&mut self, runtime: &Runtime, random: &mut Random, room: Room) {
        let graphs: Vec<Csr> = (0..1 + random.below(5))
            .map(|_| random_graph(random))
            .collect();
        let opened = bfs::Sessions::new(runtime, &graphs);
        let Some(mut sessions) = self.settled(opened, room) else {
            return;
        };
        self.count("sessions");
        let asked: Vec<(usize, u32)> = (0..1 + random.below(12))
            .map(|_| {
                let at = random.below(graphs.len() as u32) as usize;
                (at, random.below(graphs[at].node_count() as u32))
            })
            .collect();
        for &(at, source) in &asked {
            sessions.submit(at, bfs::Run { source }, 0);
        }
        let batch = sessions
            .run_batch()
            .expect("a batch has an outcome a query");
        for ((_, result), &(at, source)) in batch.results.into_iter().zip(&asked) {
            let found = self.settled(result, room);
            assert!(found.is_none_or(|out| out.dist == distances(&graphs[at], source)));
            self.count("runs");
        }
        self.count("batches");
    }

    /// Two threads, a session each, one budget.
    fn side_by_side(&mut self, runtime: &Runtime, random: &mut Random) {
        let graph = random_graph(random);
        let sources = [(); 2].map(|()| random.below(graph.node_count() as u32));
        let search = |source| {
            // Both may not fit.
            let Ok(mut session) = bfs::Session::new(runtime, &graph) else {
                return 0;
            };
            match session.run(bfs::Run { source }) {
                Ok(out) => assert_eq!(out.dist, distances(&graph, source)),
                Err(Error::Run(RunError::Memory { .. })) => {}
                Err(e) => panic!("{e}"),
            }
            1
        };
        let opened: u64 = std::thread::scope(|scope| {
            let other = scope.spawn(|| search(sources[1]));
            search(sources[0]) + other.join().expect("the other search is right")
        });
        *self.counts.entry("sessions").or_default() += opened;
        *self.counts.entry("runs").or_default() += opened;
    }

    /// Structs, lists and items; some runs trap. What a run that succeeds leaves is what the other backend leaves.
    fn faults(&mut self, runtime: &Runtime, random: &mut Random, room: Room) {
        let graph = random_edges(random, 300);
        let nodes = graph.node_count() as u32;
        let opened = work::Session::new(runtime, &graph);
        let Some(mut session) = self.settled(opened, room) else {
            return;
        };
        let mut other = work::Session::new(&self.other, &graph).expect("there is no budget");
        self.count("sessions");
        for _ in 0..1 + random.below(5) {
            // Odd weights are work; of eleven and more, it traps.
            let heavy = 12 + random.below(2) * 3;
            let often = 1 + random.below(nodes);
            let weight: Vec<u32> = (0..nodes)
                .map(|_| match random.below(often) {
                    0 => random.below(heavy),
                    _ => 2,
                })
                .collect();
            let run = || work::Run {
                weight: &weight,
                room: 1 + 40 * nodes / heavy,
                steps: u64::from(heavy),
            };
            self.count("runs");
            match (session.run(run()), other.run(run())) {
                (Ok(out), Ok(expected)) => {
                    assert_eq!(out.sum, expected.sum);
                }
                // Which of several is told is open.
                (Err(Error::Trap(trap)), Err(Error::Trap(_))) => self.count(match trap.kind {
                    TrapKind::FrontierOverflow | TrapKind::ListOverflow => "overflows",
                    _ => "traps",
                }),
                (Err(Error::Run(RunError::Memory { .. })), _) if room == Room::Tight => {
                    self.count("refusals");
                }
                (found, expected) => {
                    let end = |result: Result<work::Output, Error>| {
                        result.map_or_else(|e| e.to_string(), |_| "a result".into())
                    };
                    panic!("{}; elsewhere {}", end(found), end(expected));
                }
            }
        }
    }

    /// Passes with fixpoints in fixpoints, rows of bits, floats, limits and results of any length.
    fn compared(&mut self, runtime: &Runtime, random: &mut Random, room: Room) {
        self.count("sessions");
        self.count("runs");
        match random.below(4) {
            0 => {
                let graph = random_graph(random);
                let opened = phases::Session::new(runtime, &graph);
                let Some(mut session) = self.settled(opened, room) else {
                    return;
                };
                let result = session.run(phases::Run {});
                let Some(found) = self.settled(result, room) else {
                    return;
                };
                let mut other = phases::Session::new(&self.other, &graph).expect("it fits");
                let expected = other.run(phases::Run {}).expect("no trap");
                assert_eq!(found.degree, expected.degree);
                assert_eq!(found.largest, expected.largest);
            }
            1 => {
                // With so few nodes no fixpoint comes near its limit of rounds, in whatever order lanes run.
                let graph = random_edges(random, 50);
                let cost: Vec<f32> = (0..graph.edge_count())
                    .map(|_| random.below(1000) as f32 / 1000.0)
                    .collect();
                let topology = || mixed::Topology {
                    graph: &graph,
                    cost: &cost,
                };
                let run = || mixed::Run {
                    // With a third cell, the second divides by zero.
                    cells: random.0 as u32 % 5,
                    damp: 0.8,
                };
                let opened = mixed::Session::new(runtime, topology());
                let Some(mut session) = self.settled(opened, room) else {
                    return;
                };
                let mut other = mixed::Session::new(&self.other, topology()).expect("it fits");
                match (session.run(run()), other.run(run())) {
                    (Ok(found), Ok(expected)) => {
                        assert_eq!(found.cells_of, expected.cells_of);
                        let near = |(a, b): (&f32, &f32)| (a - b).abs() <= 1e-3 * b.abs();
                        assert!(found.rank.iter().zip(&expected.rank).all(near));
                    }
                    (Err(Error::Run(RunError::Memory { .. })), _) if room == Room::Tight => {
                        self.count("refusals");
                    }
                    (Err(found), Err(expected)) => {
                        assert_eq!(found.to_string(), expected.to_string());
                        self.count("traps");
                    }
                    (found, _) => panic!("only one backend fails: {:?}", found.err()),
                }
            }
            2 => {
                let nodes = random.below(2_000);
                match tight::Session::new(runtime, &edgeless(nodes as usize)) {
                    Err(Error::Run(RunError::Limit { .. })) if nodes > 1_000 => {
                        self.count("refusals");
                    }
                    opened => {
                        let Some(mut session) = self.settled(opened, room) else {
                            return;
                        };
                        let result = session.run(tight::Run { k: 3 });
                        let Some(out) = self.settled(result, room) else {
                            return;
                        };
                        let nodes = u64::from(nodes);
                        let sum = 3 * (nodes * nodes.saturating_sub(1) / 2);
                        assert_eq!((out.x, out.y, out.z), (sum, sum + 7 * nodes, sum));
                    }
                }
            }
            _ => {
                let opened = doubled::Session::new(runtime, ());
                let Some(mut session) = self.settled(opened, room) else {
                    return;
                };
                let n = random.below(20_000);
                let result = session.run(doubled::Run { n });
                let found = self.settled(result, room);
                let expected = (0..n).map(|i| 2 * i);
                assert!(found.is_none_or(|out| out.twice.into_iter().eq(expected)));
            }
        }
    }
}

/// Of one node, of a few, of some thousands, and seldom of many; with a hub or without.
fn random_graph(random: &mut Random) -> Csr {
    if cfg!(miri) {
        return random_edges(random, 40);
    }
    let nodes = 1 + match random.below(64) {
        0 => random.below(60_000),
        1..=20 => random.below(3_000),
        _ => random.below(200),
    };
    let edges = random.below(5 * nodes);
    let hub = random.below(2 * nodes);
    let edges: Vec<(u32, u32)> = (0..edges)
        .map(|_| match hub < nodes && random.below(3) == 0 {
            true => (hub, random.below(nodes)),
            false => (random.below(nodes), random.below(nodes)),
        })
        .collect();
    Csr::from_edges(nodes as usize, &edges).expect("edges name nodes")
}

/// At most `most` nodes, and fewer edges.
fn random_edges(random: &mut Random, most: u32) -> Csr {
    let nodes = 1 + random.below(most);
    let edges: Vec<(u32, u32)> = (0..random.below(nodes))
        .map(|_| (random.below(nodes), random.below(nodes)))
        .collect();
    Csr::from_edges(nodes as usize, &edges).expect("edges name nodes")
}

/// Figures of one kind of memory by window, in bytes.
#[derive(Default)]
struct Curve {
    windows: Vec<u64>,
    most: u64,
}

impl Curve {
    fn sample(&mut self, window: usize, bytes: u64) {
        self.most = self.most.max(bytes);
        if self.windows.len() <= window {
            self.windows.resize(window + 1, u64::MAX);
        }
        self.windows[window] = self.windows[window].min(bytes);
    }

    /// After the first fifth, at the end, and bytes a window between them by least squares. The first two are the least
    /// of a fifth of the windows.
    fn ends(&self) -> (u64, u64, f64) {
        let seen: Vec<u64> = self
            .windows
            .iter()
            .copied()
            .filter(|&bytes| bytes != u64::MAX)
            .collect();
        let fifth = seen.len() / 5;
        let least = |part: &[u64]| part.iter().copied().min().unwrap_or(0);
        let start = least(&seen[fifth..(2 * fifth).max(fifth + 1).min(seen.len())]);
        let end = least(&seen[seen.len() - fifth.max(1)..]);
        let steady = &seen[fifth..];
        let n = steady.len() as f64;
        let mean = steady.iter().sum::<u64>() as f64 / n;
        let middle = (n - 1.0) / 2.0;
        let (mut above, mut below) = (0.0, 0.0);
        for (at, &bytes) in steady.iter().enumerate() {
            let x = at as f64 - middle;
            above += x * (bytes as f64 - mean);
            below += x * x;
        }
        (start, end, if below > 0.0 { above / below } else { 0.0 })
    }

    /// By more than a tenth and so much: plans of some passes are larger than those of others, and a runtime remembers what
    /// kinds of work took, so that it goes up and down. Where nothing was sampled, nothing grows.
    fn grows(&self, rounding: u64) -> bool {
        if self.windows.is_empty() {
            return false;
        }
        let (start, end, _) = self.ends();
        end > start + start / 10 + rounding
    }

    fn line(&self, seconds: u64) -> String {
        let (start, end, slope) = self.ends();
        let mb = |bytes: u64| bytes as f64 / 1e6;
        let a_minute = slope * WINDOWS as f64 / seconds as f64 * 60.0 / 1e3;
        format!(
            "{:.1} MB, {:.1} MB; slope {a_minute:+.1} kB a minute; at most {:.1} MB",
            mb(start),
            mb(end),
            mb(self.most)
        )
    }
}

/// Resident memory of this process; 0 where the system does not say.
fn resident_bytes() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").ok();
    let pages = pages.and_then(|text| text.split(' ').nth(1)?.parse::<u64>().ok());
    4096 * pages.unwrap_or(0)
}

/// An episode; false where it failed.
fn succeeds(worker: &mut Worker, seed: u64) -> bool {
    let backend = worker.runtime.backend();
    let done = catch_unwind(AssertUnwindSafe(|| worker.episode(seed)));
    if done.is_err() {
        eprintln!("soak: failed; again: --backend {backend} --episode {seed:#x}");
    }
    done.is_ok()
}

/// Works until it is told to stop; false where an episode failed. Each episode holds `under_way`.
fn work_on(
    worker: &mut Worker,
    options: &Options,
    of: u64,
    under_way: &RwLock<()>,
    stop: &AtomicBool,
) -> bool {
    let mut seeds = Random(options.seed ^ of << 32);
    let mut left = options.episodes.unwrap_or(u64::MAX);
    while left > 0 && !stop.load(Relaxed) {
        left -= 1;
        let seed = options.episode.unwrap_or_else(|| seeds.bits());
        let began = Instant::now();
        {
            let _held = under_way.read().unwrap_or_else(PoisonError::into_inner);
            if !succeeds(worker, seed) {
                stop.store(true, Relaxed);
                return false;
            }
            std::mem::forget(black_box(Vec::<u8>::with_capacity(options.leak)));
        }
        let rest = began.elapsed() * (100 - options.duty_percent) / options.duty_percent;
        std::thread::sleep(rest);
    }
    true
}

fn main() -> ExitCode {
    let options = match options() {
        Ok(options) => options,
        Err(e) => {
            eprintln!("soak: {e}");
            return ExitCode::FAILURE;
        }
    };
    let workers: Result<Vec<Worker>, String> =
        options.backends.iter().map(|b| Worker::new(b)).collect();
    let mut workers = match workers {
        Ok(workers) => workers,
        Err(e) => {
            eprintln!("soak: {e}");
            return ExitCode::FAILURE;
        }
    };
    // What a process has anyway: threads, and on a device the context and the megakernel.
    for worker in &mut workers {
        worker.episode(0);
    }
    let before = resident_bytes();
    let counted = options.episodes.is_some();
    let mut seeds = Random(!options.seed);
    for worker in &mut workers {
        while !counted && !worker.is_full() {
            if !succeeds(worker, seeds.bits()) {
                return ExitCode::FAILURE;
            }
        }
        worker.counts.clear();
    }
    let device = workers.iter().find_map(|w| {
        let runtime = w.runtime.clone();
        runtime.cuda_device().is_some().then_some(runtime)
    });
    let held = || {
        device
            .as_ref()
            .and_then(Runtime::cuda_device)
            .map(|device| device.allocated_bytes())
    };
    let under_way = RwLock::new(());
    let (stop, right) = (AtomicBool::new(false), AtomicBool::new(true));
    let working = AtomicUsize::new(workers.len());
    let [mut memory, mut allocated, mut on_device] = [(); 3].map(|()| Curve::default());
    let total = Mutex::new(Counts::new());
    let began = Instant::now();
    std::thread::scope(|scope| {
        for (of, worker) in (0..).zip(&mut workers) {
            let (options, stop, right, total) = (&options, &stop, &right, &total);
            let (working, under_way) = (&working, &under_way);
            scope.spawn(move || {
                if !work_on(worker, options, of, under_way, stop) {
                    right.store(false, Relaxed);
                }
                let mut total = total.lock().unwrap_or_else(PoisonError::into_inner);
                for (what, count) in &worker.counts {
                    *total.entry(what).or_default() += count;
                }
                working.fetch_sub(1, Relaxed);
            });
        }
        let length = Duration::from_secs(options.seconds);
        // Some samples a window, but no standing still for them.
        let pause = (length / (20 * WINDOWS as u32)).min(Duration::from_millis(200));
        while (counted || began.elapsed() < length) && working.load(Relaxed) > 0 {
            let part = began.elapsed().as_secs_f64() / length.as_secs_f64();
            let window = ((part * WINDOWS as f64) as usize).min(WINDOWS - 1);
            if !counted {
                memory.sample(window, resident_bytes());
                let _none = under_way.write().unwrap_or_else(PoisonError::into_inner);
                allocated.sample(window, heap::live() as u64);
            }
            if let Some(bytes) = held() {
                on_device.sample(window, bytes);
            }
            std::thread::sleep(pause);
        }
        stop.store(true, Relaxed);
    });
    let total = total.into_inner().unwrap_or_else(PoisonError::into_inner);
    let did: Vec<String> = total
        .iter()
        .map(|(what, n)| format!("{n} {what}"))
        .collect();
    let backends: Vec<&str> = workers.iter().map(|w| w.runtime.backend()).collect();
    let allowed = before + workers.len() as u64 * (BUDGET + BUDGET / 20) + BESIDE;
    let has_device = device.is_some();
    let name = if has_device { "soak.cuda" } else { "soak.cpu" };
    drop((workers, device));
    let left = heap::live() as u64;
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
    let mut wrong = Vec::new();
    if !right.into_inner() {
        wrong.push("an episode failed");
    }
    if !counted {
        if !has_device && left > KEPT * threads {
            wrong.push("something is left when all runtimes are dropped");
        }
        if allocated.grows(0) {
            wrong.push("allocated memory grows");
        }
        if on_device.grows(ROUNDING) {
            wrong.push("device memory grows");
        }
        if memory.most > allowed {
            wrong.push("the process holds more than its budgets and what may stand beside them");
        }
    }
    // Figures are those of a soak in which nothing went wrong.
    let mark = if wrong.is_empty() {
        ""
    } else {
        "not a figure: "
    };
    let (seconds, did) = (began.elapsed().as_secs(), did.join(", "));
    println!(
        "{mark}{name}: {seconds} s on {}: {did}",
        backends.join(", ")
    );
    if !counted {
        let [memory, allocated] = [&memory, &allocated].map(|curve| curve.line(options.seconds));
        println!("{mark}{name}.memory: {memory}");
        let left = left as f64 / 1e3;
        println!("{mark}{name}.allocated: {allocated}; {left:.1} kB when all runtimes are dropped");
        if has_device {
            println!("{mark}{name}.device: {}", on_device.line(options.seconds));
        }
    }
    for wrong in &wrong {
        eprintln!("soak: {wrong}");
    }
    ExitCode::from(u8::from(!wrong.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Plans of a changing mix of passes, and what 20,000 episodes a window leak, `leak` bytes each.
    fn allocated(leak: u64) -> Curve {
        let (mut curve, mut random) = (Curve::default(), Random(1));
        for window in 0..WINDOWS {
            let leaked = leak * 20_000 * window as u64;
            for _ in 0..20 {
                curve.sample(
                    window,
                    6_900_000 + u64::from(random.below(200_000)) + leaked,
                );
            }
        }
        curve
    }

    #[test]
    fn what_is_remembered_goes_up_and_down_and_a_leak_grows() {
        assert!(!Curve::default().grows(0));
        assert!(!allocated(0).grows(0));
        assert!(allocated(2).grows(0));
        assert!(!allocated(2).grows(4 << 20));
        let (start, end, slope) = allocated(2).ends();
        assert_eq!((start / 100_000, end / 100_000), (73, 85));
        assert!((39_000.0..41_000.0).contains(&slope), "{slope}");
    }
}
