//! Measures the machine at hand and writes thresholds of the launch policy, which other examples load.
//!
//! `cargo run --release -p vyre-examples --example calibrate -- --file thresholds.txt`, then
//! `--thresholds thresholds.txt` elsewhere.

use std::fmt::Write as _;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Instant, SystemTime, UNIX_EPOCH};
use vyre::core::plan::gains::{BuiltIn, Figure, Gain, Gains, UNIT_BPS};
use vyre::prelude::*;
use vyre::{Error, FusedSession, RoutePolicy, Thresholds};
use vyre_examples::cli::{self, Example, Failure, Job, Shared, count};
use vyre_examples::graph::GraphSpec;

/// Adds to each element: memory-bound, as sweeps are.
#[wave_graph]
#[pass(id = "calibrate.sweep", unproven)]
pub mod sweep {
    pub struct Data {
        #[output(per = n)]
        sum: u32,
        n: u32,
        rounds: u32,
        #[reduce(count)]
        lanes: u64,
    }

    #[fixpoint(until(lanes == 0), max_rounds = 1_000_000)]
    mod repeat {
        #[wave(range(n))]
        fn add(i: Index, round: Round, rounds: u32, sum: &mut u32, lanes: &Reduce<Count>) {
            *sum = (*sum ^ i).wrapping_mul(0x9e37_79b9);
            if round + 1 < rounds {
                lanes.inc();
            }
        }
    }
}

/// Breadth-first search: many short sweeps, of edges and of what they push.
#[wave_graph]
#[pass(id = "calibrate.search", unproven)]
pub mod search {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[frontier]
        front: Frontier,
        #[output(per = node, init = u32::MAX)]
        dist: u32,
    }

    #[wave(once)]
    fn start(dist: &Buf<Atomic<u32>>, front: &Push) {
        dist[0].store(0);
        front.push(0);
    }

    #[fixpoint(after(start), until(front.is_empty()), max_rounds = 1_000_000)]
    mod levels {
        #[wave(edges(graph, from = front))]
        fn relax(e: Edge, round: Round, dist: &Buf<Atomic<u32>>, front: &Push) {
            if dist[e.dst].compare_exchange(u32::MAX, round + 1) {
                front.push(e.dst);
            }
        }
    }
}

/// Finds a few numbers of many, eight times.
#[wave_graph]
#[pass(id = "calibrate.finds", unproven)]
pub mod finds {
    pub struct Data {
        #[list(capacity = room, output)]
        a: List<u32>,
        #[list(capacity = room, output)]
        b: List<u32>,
        #[list(capacity = room, output)]
        c: List<u32>,
        #[list(capacity = room, output)]
        d: List<u32>,
        #[list(capacity = room, output)]
        e: List<u32>,
        #[list(capacity = room, output)]
        f: List<u32>,
        #[list(capacity = room, output)]
        g: List<u32>,
        #[list(capacity = room, output)]
        h: List<u32>,
        room: u32,
        found: u32,
    }

    #[wave(range(found))]
    fn find(
        i: Index,
        a: &Append<u32>,
        b: &Append<u32>,
        c: &Append<u32>,
        d: &Append<u32>,
        e: &Append<u32>,
        f: &Append<u32>,
        g: &Append<u32>,
        h: &Append<u32>,
    ) {
        a.append(i);
        b.append(i);
        c.append(i);
        d.append(i);
        e.append(i);
        f.append(i);
        g.append(i);
        h.append(i);
    }
}

/// Measure this machine, and write thresholds for --thresholds
#[derive(clap::Parser)]
#[command(name = "calibrate")]
pub struct Calibrate {
    /// Write the thresholds here; otherwise they are printed
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    #[command(flatten)]
    shared: Shared,
}

/// Sizes of a sweep, in items.
const SIZES: [u32; 7] = [16_384, 32_768, 65_536, 131_072, 262_144, 524_288, 1_048_576];
/// Sweeps of a measured run.
const SWEEPS: u32 = 16;
/// Runs of which the fastest counts.
const TRIES: usize = 5;

/// Items of a sparse sweep.
const SPARSE: u32 = 4_096;
/// Edges of graphs that one CTA may search as fast as all do.
const SHORT: [u32; 6] = [512, 1_024, 2_048, 4_096, 8_192, 16_384];
/// Layers of graphs that are searched one layer at a time.
const LAYERS: [u32; 7] = [512, 256, 128, 64, 32, 16, 8];
/// Nodes of these graphs, and edges of a node to the next layer.
const LAYERED: u32 = 1 << 18;
const FAN: u32 = 16;

/// Layers of the graphs on which candidates for a selection are measured; the widest last.
const CANDIDATES: [u32; 4] = [2_048, 256, 32, 8];
/// Room of lists of which a sixteenth is found, or a thousand.
const ROOMS: [u32; 4] = [64, 4_096, 65_536, 1_048_576];
/// Items of sweeps that are interpreted and compiled.
const COMPILED: [u32; 4] = [256, 4_096, 65_536, 1_048_576];

/// Work of one size, as fast as it was with a candidate, and without it.
struct Compared {
    size: u64,
    with_ns: f64,
    without_ns: f64,
}

impl Compared {
    fn speedup_bps(&self) -> u64 {
        (self.without_ns / self.with_ns * UNIT_BPS as f64) as u64
    }

    fn say(&self, job: &mut Job<'_>, candidate: BuiltIn, unit: &str) {
        let (with, without) = (self.with_ns / 1e3, self.without_ns / 1e3);
        let size = count(u32::try_from(self.size).unwrap_or(u32::MAX));
        let text = format!("{size} {unit}: {with:.2} us with it, {without:.2} us without");
        job.say(candidate.id(), text);
    }
}

/// A candidate pays from the smallest size on from which it is faster at every size; what it gains is the least of these.
/// `from`: which threshold the size is.
fn figure(all: &[Compared], cost_ns: f64, from: fn(&mut Gain) -> &mut u64) -> Figure {
    let pays = |c: &&Compared| c.with_ns < 0.98 * c.without_ns;
    let faster = all.iter().rev().take_while(pays);
    let Some(least) = faster.clone().map(Compared::speedup_bps).min() else {
        let last = all.last().map_or(0, Compared::speedup_bps);
        return Figure::Of(Gain::new(last.min(UNIT_BPS)));
    };
    let mut gain = Gain {
        cost_ns: cost_ns.max(0.0) as u64,
        ..Gain::new(least)
    };
    // It is faster at all sizes that were tried.
    if faster.clone().count() < all.len() {
        *from(&mut gain) = faster.last().map_or(0, |c| c.size);
    }
    Figure::Of(gain)
}

/// Thresholds by which a candidate is switched off once it was tried, and no other is considered.
fn without(candidate: BuiltIn) -> Gains {
    Gains::default().with(candidate, Figure::Of(Gain::new(0)))
}

fn ns(started: Instant) -> f64 {
    started.elapsed().as_nanos() as f64
}

/// Today, in UTC (Howard Hinnant's `civil_from_days`).
fn today() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let days = since.map_or(0, |since| since.as_secs() / 86_400) + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = (from_march + 2) % 12 + 1;
    let year = year + 400 * era + u64::from(month <= 2);
    format!("{year}-{month:02}-{day:02}")
}

/// Layers of one size. Each edge leads from a node to some node of the next layer, or back, so that rounds may pull.
fn layered(layers: u32) -> Csr {
    let width = LAYERED / layers;
    let on = (0..LAYERED - width).flat_map(|v| {
        let next = (v / width + 1) * width;
        (0..FAN).map(move |k| (v, next + (v * FAN + k).wrapping_mul(0x9e37_79b9) % width))
    });
    let mut edges: Vec<(u32, u32)> = on.flat_map(|(a, b)| [(a, b), (b, a)]).collect();
    edges.sort_unstable();
    Csr::from_edges(LAYERED as usize, &edges).expect("edges name nodes")
}

impl Calibrate {
    /// Nanoseconds of a sweep over `n` items on `ctas` CTAs, barrier included, in a run of many.
    fn on_ctas(session: &mut sweep::Session, n: u32, ctas: u32) -> Result<f64, Error> {
        session.set_workers(NonZeroU32::new(ctas));
        let mut best = f64::INFINITY;
        let rounds = 500;
        for _ in 0..TRIES {
            let out = session.run(sweep::Run { n, rounds })?;
            let ns = out.report.device_ns.unwrap_or(out.report.wall_ns);
            best = best.min(ns as f64);
        }
        Ok(best / f64::from(rounds))
    }

    /// Nanoseconds of a search on `ctas` CTAs.
    fn search(session: &mut search::Session, ctas: u32) -> Result<f64, Error> {
        session.set_workers(NonZeroU32::new(ctas));
        let mut best = f64::INFINITY;
        for _ in 0..4 * TRIES {
            let report = session.run(search::Run {})?.report;
            best = best.min(report.device_ns.unwrap_or(report.wall_ns) as f64);
        }
        Ok(best)
    }

    /// Nanoseconds of a search where a frontier is sparse up to this part of the nodes.
    fn routed(session: &mut search::Session, (all, sparse): (u32, f64)) -> Result<f64, Error> {
        let mut thresholds = Thresholds::default();
        thresholds.route.density[..2].fill(sparse);
        thresholds.route.hysteresis = 0.0;
        session.set_thresholds(thresholds);
        // The first of them look what the frontiers hold, and whether the graph is symmetric.
        Calibrate::search(session, all)?;
        Calibrate::search(session, all)
    }

    /// The fastest of some runs, each of which says how long it took.
    fn best(mut run: impl FnMut() -> Result<f64, Error>) -> Result<f64, Error> {
        let mut best = f64::INFINITY;
        for _ in 0..4 * TRIES {
            best = best.min(run()?);
        }
        Ok(best)
    }

    /// Measures what sessions of this runtime may do beside running a pass as it is written.
    fn gains(job: &mut Job<'_>, runtime: &Runtime) -> Result<Gains, Failure> {
        let is_device = runtime.backend() == "cuda";
        let interpreted = runtime.clone().with_route(RoutePolicy::Interpreter);
        let graphs = CANDIDATES.map(|layers| (u64::from(LAYERED / layers), layered(layers)));
        let mut gains = Gains {
            plan: Calibrate::plan(job, &interpreted)?,
            pulling: Calibrate::pulling(job, &interpreted, &graphs)?,
            ..Gains::default()
        };
        if is_device {
            gains.lists = Calibrate::lists(job, &interpreted)?;
            gains.fusion = Calibrate::fusion(job, &interpreted, &graphs)?;
            gains.jit = Calibrate::jit(job, runtime)?;
        }
        Ok(gains)
    }

    /// Sessions that find their plan, and sessions of graphs of other sizes.
    fn plan(job: &mut Job<'_>, runtime: &Runtime) -> Result<Figure, Failure> {
        let small = |nodes: usize| Csr::from_edges(nodes, &[(0, 1)]).expect("edges name nodes");
        let mut nodes = 1_000;
        let same = small(nodes);
        let with_ns = Calibrate::best(|| {
            let started = Instant::now();
            let _opened = search::Session::new(runtime, &same)?;
            Ok(ns(started))
        })?;
        let without_ns = Calibrate::best(|| {
            nodes += 1;
            let other = small(nodes);
            let started = Instant::now();
            let _opened = search::Session::new(runtime, &other)?;
            Ok(ns(started))
        })?;
        let compared = Compared {
            size: 1,
            with_ns,
            without_ns,
        };
        compared.say(job, BuiltIn::Plan, "sessions");
        // What pays for a second session is kept from the first on.
        Ok(figure(&[compared], 0.0, |gain| &mut gain.min_reuse))
    }

    /// Searches with bitmaps, and without.
    fn pulling(
        job: &mut Job<'_>,
        runtime: &Runtime,
        graphs: &[(u64, Csr)],
    ) -> Result<Figure, Failure> {
        let mut all = Vec::new();
        let mut cost_ns = 0.0f64;
        for (size, graph) in graphs {
            let mut session = search::Session::new(runtime, graph)?;
            let mut thresholds = *runtime.thresholds();
            thresholds.gains = Gains::default();
            session.set_thresholds(thresholds);
            let run = |session: &mut search::Session| {
                let report = session.run(search::Run {})?.report;
                Ok::<_, Error>(report.wall_ns as f64)
            };
            // The first runs take memory, and find out whether the graph is its own reverse.
            let mut first_ns = 0.0;
            for _ in 0..3 {
                first_ns += run(&mut session)?;
            }
            let with_ns = Calibrate::best(|| run(&mut session))?;
            thresholds.gains = without(BuiltIn::Pulling);
            session.set_thresholds(thresholds);
            let without_ns = Calibrate::best(|| run(&mut session))?;
            let compared = Compared {
                size: *size,
                with_ns,
                without_ns,
            };
            compared.say(job, BuiltIn::Pulling, "nodes a layer");
            cost_ns = cost_ns.max(first_ns - 3.0 * with_ns);
            all.push(compared);
        }
        Ok(figure(&all, cost_ns, |gain| &mut gain.min_frontier_items))
    }

    /// Lists that are packed, and lists that have copies of their own.
    fn lists(job: &mut Job<'_>, runtime: &Runtime) -> Result<Figure, Failure> {
        let mut all = Vec::new();
        let mut cost_ns = 0.0f64;
        for room in ROOMS {
            let mut session = finds::Session::new(runtime, ())?;
            let mut out = finds::Output::default();
            let mut thresholds = *runtime.thresholds();
            thresholds.gains = Gains::default();
            session.set_thresholds(thresholds);
            let found = (room / 16).min(1_000);
            let mut run = |session: &mut finds::Session| {
                session.run_into(finds::Run { room, found }, &mut out)?;
                Ok::<_, Error>(out.report.wall_ns as f64)
            };
            let first_ns = run(&mut session)?;
            let with_ns = Calibrate::best(|| run(&mut session))?;
            thresholds.gains = without(BuiltIn::Lists);
            session.set_thresholds(thresholds);
            let without_ns = Calibrate::best(|| run(&mut session))?;
            let compared = Compared {
                size: 8 * 4 * u64::from(room - found),
                with_ns,
                without_ns,
            };
            compared.say(job, BuiltIn::Lists, "bytes that need not come back");
            // Most of what the first run takes is the lists' own memory: the smallest says most about the slab.
            cost_ns = match all.is_empty() {
                true => first_ns - with_ns,
                false => cost_ns.min(first_ns - with_ns),
            };
            all.push(compared);
        }
        Ok(figure(&all, cost_ns, |gain| &mut gain.min_readback_bytes))
    }

    /// Two searches in one launch, and one after the other.
    fn fusion(
        job: &mut Job<'_>,
        runtime: &Runtime,
        graphs: &[(u64, Csr)],
    ) -> Result<Figure, Failure> {
        type Both = FusedSession<search::Pass, search::Pass>;
        let mut all = Vec::new();
        let mut cost_ns = 0.0f64;
        for (size, graph) in graphs {
            let run = |gains: Gains| {
                let mut thresholds = *runtime.thresholds();
                thresholds.gains = gains;
                let runtime = runtime.clone().with_thresholds(thresholds);
                let started = Instant::now();
                let mut both = Both::new(&runtime, (graph, graph), &[])?;
                let opened_ns = ns(started);
                // The first one is of both together.
                both.run(search::Run {}, search::Run {})?;
                let run_ns = Calibrate::best(|| {
                    let started = Instant::now();
                    both.run(search::Run {}, search::Run {})?;
                    Ok(ns(started))
                })?;
                Ok::<_, Error>((opened_ns, run_ns))
            };
            let (opened_ns, with_ns) = run(Gains::default())?;
            let (_, without_ns) = run(without(BuiltIn::Fusion))?;
            let compared = Compared {
                size: *size,
                with_ns,
                without_ns,
            };
            compared.say(job, BuiltIn::Fusion, "nodes a layer");
            cost_ns = cost_ns.max(opened_ns);
            all.push(compared);
        }
        Ok(figure(&all, cost_ns, |gain| &mut gain.min_frontier_items))
    }

    /// Sweeps of interpreted and of compiled code.
    fn jit(job: &mut Job<'_>, runtime: &Runtime) -> Result<Figure, Failure> {
        let mut session = sweep::Session::new(runtime, ())?;
        let mut all = Vec::new();
        let started = Instant::now();
        session.compile_now()?;
        let cost_ns = ns(started);
        for n in COMPILED {
            let mut run = |route: RoutePolicy| {
                session.set_route(route);
                Calibrate::best(|| {
                    let report = session.run(sweep::Run { n, rounds: SWEEPS })?.report;
                    Ok(report.wall_ns as f64)
                })
            };
            let compared = Compared {
                size: n.into(),
                with_ns: run(RoutePolicy::Compiled)?,
                without_ns: run(RoutePolicy::Interpreter)?,
            };
            compared.say(job, BuiltIn::Jit, "items");
            all.push(compared);
        }
        Ok(figure(&all, cost_ns, |gain| &mut gain.min_frontier_items))
    }

    /// Nanoseconds of a sweep over `n` items where sweeps of `parallel_from` items take all threads.
    fn time(session: &mut sweep::Session, n: u32, parallel_from: u64) -> Result<f64, Error> {
        session.set_thresholds(Thresholds {
            parallel_from,
            ..Thresholds::default()
        });
        let mut best = f64::INFINITY;
        for _ in 0..TRIES {
            let out = session.run(sweep::Run { n, rounds: SWEEPS })?;
            best = best.min(out.report.wall_ns as f64);
        }
        Ok(best / f64::from(SWEEPS))
    }
}

impl Example for Calibrate {
    const NAME: &'static str = "calibrate";

    fn shared(&self) -> &Shared {
        &self.shared
    }

    fn default_graph(&self) -> Result<Option<GraphSpec>, Failure> {
        Ok(None)
    }

    fn run(&self, job: &mut Job<'_>) -> Result<(), Failure> {
        // What is measured is one device.
        let runtime = job.runtime().clone().alone();
        let mut thresholds = *runtime.thresholds();
        let mut text = format!("# measured on {runtime}, {}\n", today());
        if runtime.backend() == "native" {
            let mut session = sweep::Session::new(&runtime, ())?;
            // The smallest size from which all threads are faster at every larger size too.
            let mut from = u64::MAX;
            for n in SIZES.into_iter().rev() {
                let alone = Calibrate::time(&mut session, n, u64::MAX)?;
                let together = Calibrate::time(&mut session, n, 0)?;
                job.say(
                    "sweep",
                    format!(
                        "{} items: {:.1} us on one thread, {:.1} us on all",
                        count(n),
                        alone / 1e3,
                        together / 1e3
                    ),
                );
                if together >= alone {
                    break;
                }
                from = n.into();
            }
            thresholds.parallel_from = from;
        } else if let Some(device) = runtime.cuda_device() {
            // Sparse rounds take as many CTAs as are fastest for a few thousand items; all of them where that is as
            // fast.
            let all = device.multiprocessors();
            let mut session = sweep::Session::new(&runtime, ())?;
            let mut best = (f64::INFINITY, u32::MAX);
            for ctas in [all, all / 2, all / 4, all / 8] {
                let ns = Calibrate::on_ctas(&mut session, SPARSE, ctas)?;
                job.say(
                    "sweep",
                    format!("{} items on {ctas} CTAs: {:.2} us", count(SPARSE), ns / 1e3),
                );
                if ns < 0.98 * best.0 {
                    best = (ns, if ctas == all { u32::MAX } else { ctas });
                }
            }
            thresholds.launch.sparse_workers = best.1;
            // Where all sweeps are short, one CTA needs no barrier that leaves it.
            thresholds.launch.lone_worker_items = 0;
            for n in SHORT {
                let spec = format!("rmat:nodes={},edges={n}", n / 4);
                let bad = |e: &dyn std::fmt::Display| Failure::Other(e.to_string());
                let spec: GraphSpec = spec.parse().map_err(|e| bad(&e))?;
                let graph = spec.load().map_err(|e| bad(&e))?;
                let mut session = search::Session::new(&runtime, &graph.csr)?;
                let alone = Calibrate::search(&mut session, 1)?;
                let together = Calibrate::search(&mut session, all)?;
                job.say(
                    "search",
                    format!(
                        "{} edges: {:.2} us on one CTA, {:.2} us on all",
                        count(n),
                        alone / 1e3,
                        together / 1e3
                    ),
                );
                if alone >= 0.98 * together {
                    break;
                }
                thresholds.launch.lone_worker_items = n.into();
            }
            // Lists alone are enough up to the widest layer that is searched as fast with them.
            thresholds.route.density[..2].fill(0.0);
            for layers in LAYERS {
                let graph = layered(layers);
                let mut session = search::Session::new(&runtime, &graph)?;
                let lists = Calibrate::routed(&mut session, (all, 1.0))?;
                let bitmaps = Calibrate::routed(&mut session, (all, 0.0))?;
                job.say(
                    "search",
                    format!(
                        "{layers} layers: {:.2} us with lists, {:.2} us with bitmaps beside them",
                        lists / 1e3,
                        bitmaps / 1e3
                    ),
                );
                if lists >= 1.02 * bitmaps {
                    break;
                }
                thresholds.route.density[..2].fill(1.0 / f64::from(layers));
            }
        }
        if matches!(runtime.backend(), "native" | "cuda") {
            thresholds.gains = Calibrate::gains(job, &runtime)?;
        } else {
            text += "# nothing is measured on this backend yet: these are the thresholds as they were\n";
        }
        let written = thresholds.write();
        write!(text, "{written}").expect("writing to a string does not fail");
        job.say_time();
        job.figure("parallel_from", thresholds.parallel_from);
        job.figure("sparse_workers", thresholds.launch.sparse_workers);
        job.figure("lone_worker_items", thresholds.launch.lone_worker_items);
        job.figure("sparse_density", thresholds.route.density[1]);
        match &self.file {
            Some(path) => {
                let done = std::fs::write(path, text);
                done.map_err(|e| Failure::Other(format!("cannot write {}: {e}", path.display())))?;
                let path = path.display().to_string();
                job.say("written", path);
            }
            None => job.print(text.trim_end()),
        }
        Ok(())
    }
}

fn main() -> ExitCode {
    cli::main::<Calibrate>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_candidate_pays_from_where_it_is_faster_at_every_size() {
        let of = |all: &[(u64, f64)]| {
            let compared = all.iter().map(|&(size, with_ns)| Compared {
                size,
                with_ns,
                without_ns: 100.0,
            });
            let compared: Vec<Compared> = compared.collect();
            let figure = figure(&compared, 7.0, |gain| &mut gain.min_frontier_items);
            figure.to_string()
        };
        // The least of what it gains there.
        let all = [(10, 50.0), (100, 120.0), (1_000, 80.0), (10_000, 50.0)];
        assert_eq!(of(&all), "12500 bps, once 7 ns, from 1000 items");
        assert_eq!(of(&all[2..]), "12500 bps, once 7 ns");
        // No faster, or within what runs differ by.
        assert_eq!(of(&all[..2]), "8333 bps");
        assert_eq!(of(&[(10, 50.0), (100, 99.0)]), "10000 bps");
        assert_eq!(of(&[]), "0 bps");
    }
}
