//! Measures the machine at hand and writes thresholds of the launch policy, which other examples load.
//!
//! `cargo run --release -p vyre-examples --example calibrate -- --file thresholds.txt`, then
//! `--thresholds thresholds.txt` elsewhere.

use std::fmt::Write as _;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::process::ExitCode;
use vyre::prelude::*;
use vyre::{Error, Thresholds};
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
        let mut text = format!("# measured on {runtime}\n");
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
