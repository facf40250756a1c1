//! Measures the machine at hand and writes thresholds of the launch policy, which other examples load.
//!
//! `cargo run --release -p vyre-examples --example calibrate -- --file thresholds.txt`, then
//! `--thresholds thresholds.txt` elsewhere.
//!
//! Each time is the median of several runs, and what a candidate for a selection gains is measured against the same
//! work without it, in turns. On a GPU the driver keeps what it compiled: with `CUDA_CACHE_DISABLE=1` in the
//! environment, what compiled code costs is what the driver's compiler takes, also the second time.

use rayon::slice::ParallelSliceMut;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Instant, SystemTime, UNIX_EPOCH};
use vyre::core::plan::gains::{BuiltIn, Figure, Gain, Gains, UNIT_BPS};
use vyre::prelude::*;
use vyre::{Decision, Error, FusedSession, RoutePolicy, Thresholds};
use vyre_examples::cli::{self, Example, Failure, Job, Shared, count, time};
use vyre_examples::graph::{self, GraphSpec};
use vyre_examples::passes::lists;

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
/// Runs of which the median counts.
const TRIES: usize = 5;

/// Items of a sparse sweep.
const SPARSE: u32 = 4_096;
/// Edges of graphs that one CTA may search as fast as all do.
const SHORT: [u32; 6] = [512, 1_024, 2_048, 4_096, 8_192, 16_384];
/// Layers of graphs that are searched one layer at a time.
const LAYERS: [u32; 7] = [512, 256, 128, 64, 32, 16, 8];

/// Layers of the graphs on which candidates for a selection are measured; the widest last.
const CANDIDATES: [u32; 4] = [2_048, 256, 32, 8];
/// R-MAT graphs whose searches pull: the largest has as many nodes as those in layers, each a quarter of the next one's.
const HUBS: u32 = 4;
/// Room of lists of which a sixteenth is found, or a thousand.
const ROOMS: [u32; 4] = [64, 4_096, 65_536, 1_048_576];
/// Items of sweeps that are interpreted and compiled, and sweeps of such a run: next to them the result's copy is
/// little.
const COMPILED: [u32; 4] = [256, 4_096, 65_536, 1_048_576];
const COMPILED_SWEEPS: u32 = 256;

/// How much is run to measure something.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Nodes of graphs in layers, and of the largest with hubs.
    pub nodes: u32,
    /// Edges of a node to the next layer.
    pub fan: u32,
    /// The most items of a sweep, and of a list.
    pub items: u32,
    /// How often it is run with a candidate and then without.
    pub turns: usize,
    /// Runs of each, a turn.
    pub runs: usize,
}

impl Effort {
    /// Takes less than a minute.
    const WHOLE: Effort = Effort {
        nodes: 1 << 18,
        fan: 16,
        items: 1_048_576,
        turns: 5,
        runs: 4,
    };
}

/// Work of one size, by the medians of what it took with a candidate, and without it.
#[derive(Clone, Copy, Debug)]
struct Compared {
    size: u64,
    with_ns: f64,
    without_ns: f64,
    /// What the first run with it took beyond the others.
    begin_ns: f64,
}

impl Compared {
    /// Takes turns with and without a candidate. `run`: one with it or without it, and how long that took. The first of
    /// a turn takes memory or gives it back, and is not compared.
    fn in_turns(
        effort: Effort,
        size: u64,
        mut run: impl FnMut(bool) -> Result<f64, Error>,
    ) -> Result<Compared, Error> {
        let (mut begins, mut with, mut without) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..effort.turns {
            begins.push(run(true)?);
            for _ in 0..effort.runs {
                with.push(run(true)?);
            }
            run(false)?;
            for _ in 0..effort.runs {
                without.push(run(false)?);
            }
        }
        let with_ns = median(with);
        Ok(Compared {
            size,
            with_ns,
            without_ns: median(without),
            begin_ns: (median(begins) - with_ns).max(0.0),
        })
    }

    fn speedup_bps(&self) -> u64 {
        (self.without_ns / self.with_ns.max(1.0) * UNIT_BPS as f64) as u64
    }

    fn say(&self, say: Say<'_>, candidate: BuiltIn, unit: &str) {
        let (with, without) = (self.with_ns / 1e3, self.without_ns / 1e3);
        let size = count(self.size);
        let text = format!("{size} {unit}: {with:.2} us with it, {without:.2} us without");
        say(candidate, text);
    }
}

/// Whom figures are told.
type Say<'a> = &'a mut dyn FnMut(BuiltIn, String);

/// The one in the middle; infinite where there is none.
fn median(mut all: Vec<f64>) -> f64 {
    all.sort_unstable_by(f64::total_cmp);
    all.get(all.len() / 2).copied().unwrap_or(f64::INFINITY)
}

/// The median of what `times` runs say, each how long it took.
fn median_of(times: usize, mut run: impl FnMut() -> Result<f64, Error>) -> Result<f64, Error> {
    let all: Result<Vec<f64>, Error> = (0..times).map(|_| run()).collect();
    Ok(median(all?))
}

/// Whether a candidate could be left out of the last launch: if not, it was compared with itself.
fn left_out<'d>(candidate: BuiltIn, decisions: impl Iterator<Item = &'d Decision>) -> bool {
    let last = decisions.last().map(|last| &last.considered);
    let mut considered = last.into_iter().flatten();
    considered.any(|c| c.candidate == candidate && !c.is_done)
}

/// A candidate pays from the smallest size on from which it is faster at every size; what it gains is the least of
/// these. `from`: which threshold the size is.
fn figure(all: &[Compared], cost_ns: f64, from: fn(&mut Gain) -> &mut u64) -> Figure {
    if all.is_empty() {
        return Figure::Unmeasured;
    }
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

/// What runs all that is compared: the interpreter, unless compiled code was asked for. Otherwise code would be
/// compiled between two runs.
fn settled(runtime: Runtime) -> Runtime {
    match runtime.route() {
        RoutePolicy::Auto => runtime.with_route(RoutePolicy::Interpreter),
        RoutePolicy::Interpreter | RoutePolicy::Compiled => runtime,
    }
}

/// Figures by which a candidate is done, or is switched off once it was tried; no other is considered.
fn gains_of(candidate: BuiltIn, with: bool) -> Gains {
    match with {
        true => Gains::default(),
        false => Gains::default().with(candidate, Figure::Of(Gain::new(0))),
    }
}

/// What a candidate costs once, at most: what the first run with it took beyond the others.
fn begin_ns(all: &[Compared]) -> f64 {
    all.iter().map(|c| c.begin_ns).fold(0.0, f64::max)
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

/// Graphs by their numbers of layers.
#[derive(Debug)]
pub struct Graphs {
    effort: Effort,
    all: BTreeMap<u32, Csr>,
}

impl Graphs {
    /// None yet.
    pub fn new(effort: Effort) -> Graphs {
        Graphs {
            effort,
            all: BTreeMap::new(),
        }
    }

    /// Layers of one size. Each edge leads from a node to some node of the next layer, or back, so that rounds may
    /// pull.
    fn layered(&mut self, layers: u32) -> &Csr {
        let Effort { nodes, fan, .. } = self.effort;
        self.all.entry(layers).or_insert_with(|| {
            let width = nodes / layers;
            let on = (0..nodes - width).flat_map(|v| {
                let next = (v / width + 1) * width;
                (0..fan).map(move |k| (v, next + (v * fan + k).wrapping_mul(0x9e37_79b9) % width))
            });
            let mut edges: Vec<(u32, u32)> = on.flat_map(|(a, b)| [(a, b), (b, a)]).collect();
            edges.par_sort_unstable();
            Csr::from_edges(nodes as usize, &edges).expect("edges name nodes")
        })
    }

    /// Those on which candidates are measured, behind the nodes of a layer.
    fn candidates(&mut self) -> Vec<(u64, Csr)> {
        let nodes = self.effort.nodes;
        let fit = CANDIDATES.into_iter().filter(|&layers| layers <= nodes);
        fit.map(|layers| (u64::from(nodes / layers), self.layered(layers).clone()))
            .collect()
    }
}

impl Calibrate {
    /// Nanoseconds of a sweep over `n` items on `ctas` CTAs, barrier included, in a run of many.
    fn on_ctas(session: &mut sweep::Session, n: u32, ctas: u32) -> Result<f64, Error> {
        session.set_workers(NonZeroU32::new(ctas));
        let rounds = 500;
        let ns = median_of(TRIES, || {
            let report = session.run(sweep::Run { n, rounds })?.report;
            Ok(report.device_ns.unwrap_or(report.wall_ns) as f64)
        })?;
        Ok(ns / f64::from(rounds))
    }

    /// Nanoseconds of a search on `ctas` CTAs.
    fn search(session: &mut search::Session, ctas: u32) -> Result<f64, Error> {
        session.set_workers(NonZeroU32::new(ctas));
        median_of(4 * TRIES, || {
            let report = session.run(search::Run {})?.report;
            Ok(report.device_ns.unwrap_or(report.wall_ns) as f64)
        })
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

    /// Measures what sessions of this runtime may do beside running a pass as it is written.
    ///
    /// # Errors
    /// As those of sessions.
    pub fn gains(runtime: &Runtime, graphs: &mut Graphs, say: Say<'_>) -> Result<Gains, Error> {
        let is_device = runtime.cuda_device().is_some();
        let mut thresholds = *runtime.thresholds();
        thresholds.gains = Gains::default();
        let runtime = settled(runtime.clone().with_thresholds(thresholds));
        let effort = graphs.effort;
        let graphs = graphs.candidates();
        let mut gains = Gains {
            plan: Calibrate::plan(&runtime, effort, say)?,
            pulling: Calibrate::pulling(&runtime, effort, say)?,
            ..Gains::default()
        };
        if is_device {
            gains.lists = Calibrate::lists(&runtime, effort, say)?;
            gains.fusion = Calibrate::fusion(&runtime, (effort, &graphs), say)?;
            gains.jit = Calibrate::jit(&runtime, effort, say)?;
        }
        Ok(gains)
    }

    /// Sessions that find their plan, and sessions of graphs of other sizes.
    fn plan(runtime: &Runtime, effort: Effort, say: Say<'_>) -> Result<Figure, Error> {
        let small = |nodes: usize| Csr::from_edges(nodes, &[(0, 1)]).expect("edges name nodes");
        let mut nodes = 1_000;
        // Sessions of small graphs take little, and what a plan is of that is not much.
        let effort = Effort {
            turns: 4 * effort.turns,
            ..effort
        };
        let compared = Compared::in_turns(effort, 1, |found| {
            nodes += usize::from(!found);
            let graph = small(if found { 1_000 } else { nodes });
            let started = Instant::now();
            let opened = search::Session::new(runtime, &graph)?;
            let took_ns = ns(started);
            drop(opened);
            Ok(took_ns)
        })?;
        compared.say(say, BuiltIn::Plan, "session");
        // What pays for a second session is kept from the first on.
        Ok(figure(&[compared], 0.0, |gain| &mut gain.min_reuse))
    }

    /// Searches with bitmaps, and without, of graphs with hubs: in layers, whatever is pulled looks at as many edges.
    fn pulling(runtime: &Runtime, effort: Effort, say: Say<'_>) -> Result<Figure, Error> {
        let mut all: Vec<Compared> = Vec::new();
        let most = effort.nodes.ilog2();
        for scale in (0..HUBS).rev().map(|k| most.saturating_sub(2 * k).max(2)) {
            let graph = graph::rmat(scale, effort.fan, 1).expect("it is not too large");
            let mut session = search::Session::new(runtime, &graph)?;
            let mut thresholds = *runtime.thresholds();
            let mut widest = 0;
            // The first runs find out whether the graph is its own reverse.
            for _ in 0..2 {
                let seen = session.run(search::Run {})?.report.activity;
                widest = seen.map_or(0, |seen| seen.widest);
            }
            let compared = Compared::in_turns(effort, widest, |with| {
                thresholds.gains = gains_of(BuiltIn::Pulling, with);
                session.set_thresholds(thresholds);
                Ok(session.run(search::Run {})?.report.wall_ns as f64)
            })?;
            if !left_out(BuiltIn::Pulling, session.decisions()) {
                say(BuiltIn::Pulling, "cannot be left out here".to_owned());
                return Ok(Figure::Unmeasured);
            }
            compared.say(say, BuiltIn::Pulling, "nodes in the widest round");
            all.push(compared);
        }
        Ok(figure(&all, begin_ns(&all), |gain| {
            &mut gain.min_frontier_items
        }))
    }

    /// Lists that are packed, and lists that have copies of their own.
    fn lists(runtime: &Runtime, effort: Effort, say: Say<'_>) -> Result<Figure, Error> {
        let mut all: Vec<Compared> = Vec::new();
        for room in ROOMS.into_iter().filter(|&room| room <= effort.items) {
            let mut session = lists::Session::new(runtime, ())?;
            let mut out = lists::Output::default();
            let mut thresholds = *runtime.thresholds();
            let found = (room / 16).min(1_000);
            let bytes = 8 * 4 * u64::from(room - found);
            let compared = Compared::in_turns(effort, bytes, |with| {
                thresholds.gains = gains_of(BuiltIn::Lists, with);
                session.set_thresholds(thresholds);
                session.run_into(lists::Run { room, found }, &mut out)?;
                Ok(out.report.wall_ns as f64)
            })?;
            if !left_out(BuiltIn::Lists, session.decisions()) {
                say(BuiltIn::Lists, "cannot be left out here".to_owned());
                return Ok(Figure::Unmeasured);
            }
            compared.say(say, BuiltIn::Lists, "bytes that need not come back");
            all.push(compared);
        }
        Ok(figure(&all, begin_ns(&all), |gain| {
            &mut gain.min_readback_bytes
        }))
    }

    /// Two searches in one launch, and one after the other.
    fn fusion(
        runtime: &Runtime,
        (effort, graphs): (Effort, &[(u64, Csr)]),
        say: Say<'_>,
    ) -> Result<Figure, Error> {
        type Both = FusedSession<search::Pass, search::Pass>;
        let (mut all, mut cost_ns) = (Vec::new(), 0.0f64);
        for (size, graph) in graphs {
            let open = |with: bool| {
                let mut thresholds = *runtime.thresholds();
                thresholds.gains = gains_of(BuiltIn::Fusion, with);
                let runtime = runtime.clone().with_thresholds(thresholds);
                Both::new(&runtime, (graph, graph), &[])
            };
            let opened_ns = median_of(3, || {
                let started = Instant::now();
                let opened = open(true)?;
                let took_ns = ns(started);
                drop(opened);
                Ok(took_ns)
            })?;
            let (mut together, mut apart) = (open(true)?, open(false)?);
            // The first run of each is of both together.
            for _ in 0..2 {
                together.run(search::Run {}, search::Run {})?;
                apart.run(search::Run {}, search::Run {})?;
            }
            let compared = Compared::in_turns(effort, *size, |with| {
                let both = if with { &mut together } else { &mut apart };
                let started = Instant::now();
                both.run(search::Run {}, search::Run {})?;
                Ok(ns(started))
            })?;
            if !together.is_one_launch() || apart.is_one_launch() {
                say(BuiltIn::Fusion, "cannot be left out here".to_owned());
                return Ok(Figure::Unmeasured);
            }
            compared.say(say, BuiltIn::Fusion, "nodes a layer");
            cost_ns = cost_ns.max(opened_ns);
            all.push(compared);
        }
        Ok(figure(&all, cost_ns, |gain| &mut gain.min_frontier_items))
    }

    /// Sweeps of interpreted and of compiled code.
    fn jit(runtime: &Runtime, effort: Effort, say: Say<'_>) -> Result<Figure, Error> {
        let mut session = sweep::Session::new(runtime, ())?;
        let started = Instant::now();
        session.compile_now()?;
        let cost_ns = ns(started);
        let text = format!("{:.1} ms to have the code", cost_ns / 1e6);
        say(BuiltIn::Jit, text);
        let mut all: Vec<Compared> = Vec::new();
        for n in COMPILED.into_iter().filter(|&n| n <= effort.items) {
            let compared = Compared::in_turns(effort, n.into(), |compiled| {
                session.set_route(match compiled {
                    true => RoutePolicy::Compiled,
                    false => RoutePolicy::Interpreter,
                });
                let rounds = COMPILED_SWEEPS;
                let report = session.run(sweep::Run { n, rounds })?.report;
                Ok(report.wall_ns as f64)
            })?;
            compared.say(say, BuiltIn::Jit, "items");
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
        let ns = median_of(TRIES, || {
            let report = session.run(sweep::Run { n, rounds: SWEEPS })?.report;
            Ok(report.wall_ns as f64)
        })?;
        Ok(ns / f64::from(SWEEPS))
    }
}

impl Example for Calibrate {
    const NAME: &'static str = "calibrate";
    const IGNORES: &'static [&'static str] = &[
        "--graph",
        "--source",
        "--check",
        "--out",
        "--repeat",
        "--plan",
        "--plan-svg",
        "--plan-dot",
        "--plan-mermaid",
        "--dump-ptx",
    ];

    fn shared(&self) -> &Shared {
        &self.shared
    }

    fn default_graph(&self) -> Result<Option<GraphSpec>, Failure> {
        Ok(None)
    }

    fn run(&self, job: &mut Job<'_>) -> Result<(), Failure> {
        let started = Instant::now();
        let mut graphs = Graphs::new(Effort::WHOLE);
        // What is measured is one device.
        let runtime = settled(job.runtime().clone().alone());
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
                let graph = graphs.layered(layers);
                let mut session = search::Session::new(&runtime, graph)?;
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
            let runtime = runtime.with_thresholds(thresholds);
            let mut say = |candidate: BuiltIn, text: String| job.say(candidate.id(), text);
            thresholds.gains = Calibrate::gains(&runtime, &mut graphs, &mut say)?;
        } else {
            text += "# nothing is measured on this backend yet: these are the thresholds as they were\n";
        }
        let written = thresholds.write();
        write!(text, "{written}").expect("writing to a string does not fail");
        job.say_time();
        let took = started.elapsed();
        job.say("took", time(took));
        job.figure("seconds", took.as_secs_f64());
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
                begin_ns: 0.0,
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
        assert_eq!(of(&[]), "unmeasured");
    }
    #[test]
    fn the_first_run_of_a_turn_is_not_compared_and_the_median_counts() {
        let effort = Effort {
            turns: 3,
            runs: 3,
            ..Effort::WHOLE
        };
        let mut runs = Vec::new();
        let compared = Compared::in_turns(effort, 9, |with| {
            runs.push(with);
            let of_turn = (runs.len() - 1) % 4;
            // One run is disturbed.
            let ns = [70.0, 50.0, 40.0, 1_000.0][of_turn];
            Ok(if with { ns } else { 2.0 * ns })
        });
        let compared = compared.expect("runs");
        assert_eq!(runs, [[true; 4], [false; 4]].concat().repeat(3));
        let Compared {
            size,
            with_ns,
            without_ns,
            begin_ns,
        } = compared;
        assert_eq!(
            (size, with_ns, without_ns, begin_ns),
            (9, 50.0, 100.0, 20.0)
        );
        assert_eq!(compared.speedup_bps(), 20_000);
    }
}
