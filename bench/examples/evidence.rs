//! Measures what residency is worth: breadth-first searches from many sources, once with everything orchestrated by the
//! host and three ways that keep the graph resident. Writes the samples, reads them back, and says what they prove.
//!
//! `cargo run --release -p vyre-bench --example evidence -- --csv evidence.csv`
//!
//! - naive: each search makes a session (allocations, upload), and each level is a launch with uploads and a readback;
//! - per level: the graph stays, the rest is as above;
//! - single: one resident launch a search;
//! - shared: the searches of a sample are one batch, and share launches where the backend can;
//! - compiled, on a GPU: naive and per level once more, with a kernel a level that is compiled and a frontier that
//!   stays on the device: the host loop that an expert writes.
//!
//! A sample's `timed_*` counters are the runtime's own, of the shared searches. Each ends with a wait for its results,
//! which the wall time includes: `timed_host_syncs` are the waits beyond this one. The columns `program_hash` and
//! `constants_hash` bind a sample to the pass `bfs`, `measured` and `rival` say that shared launches were held against
//! the naive way. The exit code is 1 if the samples do not prove the claim.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;
use vyre::core::plan::evidence::{self, Binding, Sample};
use vyre::core::vir0::manifest::Measured;
use vyre::cuda::Device;
use vyre::prelude::*;
use vyre::{Counters, Csr, Error};
use vyre_bench::cuda::{self, Kernels, Rival, RivalError, Way};
use vyre_bench::workloads::Values;
use vyre_examples::cli::{self, Example, Failure, Job, Shared, count};
use vyre_examples::graph::GraphSpec;
use vyre_examples::passes::{UNSEEN, bfs};

/// One level: the host passes the frontier in and takes the next one out.
#[wave_graph]
#[pass(id = "evidence.level", unproven)]
pub mod level {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[input(per = n)]
        items: u32,
        #[input(per = node)]
        before: u32,
        #[output(per = node)]
        dist: u32,
        #[output(per = node)]
        next: u32,
        #[output(per = 1)]
        found: u32,
        n: u32,
        depth: u32,
    }

    #[wave(nodes)]
    fn copy(before: &u32, dist: &mut u32) {
        *dist = *before;
    }

    #[wave(range(n), after(copy))]
    fn expand(
        items: &u32,
        graph: &Csr,
        depth: u32,
        dist: &Buf<Atomic<u32>>,
        next: &Buf<Atomic<u32>>,
        found: &Buf<Atomic<u32>>,
    ) {
        for v in graph.neighbors(*items) {
            if dist[v].compare_exchange(UNSEEN, depth + 1) {
                let at = found[0].fetch_add(1);
                next[at].store(v);
            }
        }
    }
}

/// Measure resident runs against host-orchestrated ones, and check what that proves
#[derive(clap::Parser)]
#[command(name = "evidence")]
pub struct Evidence {
    /// Searches of a sample, from sources spread over the graph
    #[arg(long, value_name = "N", default_value_t = 128, value_parser = cli::number::<u32>(1..=u32::MAX))]
    runs: u32,
    /// Samples
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = cli::number::<u32>(0..=u32::MAX))]
    samples: u32,
    /// The speedup that is claimed
    #[arg(long, value_name = "X", default_value_t = 100.0, value_parser = cli::real::<f64>)]
    claim: f64,
    /// Write the samples to this file
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    #[command(flatten)]
    shared: Shared,
}

/// Wall times in nanoseconds a search.
struct Times {
    naive: f64,
    /// The part of it that makes the sessions: allocations and uploads.
    allocation: f64,
    /// A compiled kernel a level: from nothing, and on a resident graph.
    compiled: Option<(f64, f64)>,
    /// Device time of a single launch, and a search's part of a shared one.
    device: Option<(f64, f64)>,
    per_level: f64,
    single: f64,
    shared: f64,
    setup: f64,
    counted: Counters,
    launches: u64,
}

/// What a file of samples says beyond the columns that are checked, in nanoseconds a search: the part of the naive way
/// that allocates and uploads, a run a level on a resident graph, a resident launch a search, the two of a compiled
/// kernel a level, and what the device itself took.
const FURTHER: [&str; 7] = [
    "allocation_ns",
    "per_level_ns",
    "single_ns",
    "compiled_ns",
    "compiled_resident_ns",
    "single_device_ns",
    "shared_device_ns",
];

fn each(started: Instant, runs: usize) -> f64 {
    started.elapsed().as_secs_f64() * 1e9 / runs as f64
}

/// A search, level by level from the host.
fn by_levels(session: &mut level::Session, nodes: usize, source: u32) -> Result<Vec<u32>, Error> {
    let mut dist = vec![UNSEEN; nodes];
    dist[source as usize] = 0;
    let mut items = vec![source];
    let mut depth = 0;
    while !items.is_empty() {
        let out = session.run(level::Run {
            items: &items,
            before: &dist,
            n: items.len() as u32,
            depth,
        })?;
        dist = out.dist;
        items.clear();
        items.extend_from_slice(&out.next[..out.found[0] as usize]);
        depth += 1;
    }
    Ok(dist)
}

/// Measures one sample; all four ways must agree.
fn measure(runtime: &Runtime, graph: &Csr, sources: &[u32]) -> Result<Times, Failure> {
    let (nodes, runs) = (graph.node_count(), sources.len());
    let differ = |way: &str| Failure::Other(format!("{way} gives other distances"));

    let mut allocation = 0.0;
    let started = Instant::now();
    let mut naive = Vec::with_capacity(runs);
    for &source in sources {
        let allocated = Instant::now();
        let mut session = level::Session::new(runtime, graph)?;
        allocation += each(allocated, runs);
        naive.push(by_levels(&mut session, nodes, source)?);
    }
    let naive_ns = each(started, runs);

    let mut session = level::Session::new(runtime, graph)?;
    by_levels(&mut session, nodes, sources[0])?;
    let started = Instant::now();
    for (&source, expected) in sources.iter().zip(&naive) {
        if by_levels(&mut session, nodes, source)? != *expected {
            return Err(differ("the level loop on a resident graph"));
        }
    }
    let per_level_ns = each(started, runs);
    drop(session);

    // As well as it can be written without a runtime.
    let compiled = match runtime.cuda_device() {
        None => None,
        Some(device) => {
            let other = |e: RivalError| Failure::Other(e.to_string());
            let device = Device::open(device.ordinal()).map_err(Error::from)?;
            let kernels = Kernels::load(&device).map_err(other)?;
            let problem = cuda::Problem::Bfs {
                graph,
                symmetric: false,
            };
            let search = |rival: &mut Rival<'_>, source| {
                rival.set_source(source);
                rival.run()?;
                rival.results()
            };
            let from_nothing =
                |source| search(&mut Rival::new(&kernels, problem, Way::HostLoop)?, source);
            from_nothing(sources[0]).map_err(other)?;
            let started = Instant::now();
            for (&source, expected) in sources.iter().zip(&naive) {
                if from_nothing(source).map_err(other)? != Values::U32(expected.clone()) {
                    return Err(differ("a compiled kernel a level"));
                }
            }
            let cold = each(started, runs);
            let mut rival = Rival::new(&kernels, problem, Way::HostLoop).map_err(other)?;
            let started = Instant::now();
            for (&source, expected) in sources.iter().zip(&naive) {
                if search(&mut rival, source).map_err(other)? != Values::U32(expected.clone()) {
                    return Err(differ("a compiled kernel a level on a resident graph"));
                }
            }
            Some((cold, each(started, runs)))
        }
    };

    let started = Instant::now();
    let mut session = bfs::Session::new(runtime, graph)?;
    let setup_ns = each(started, 1);
    session.run(bfs::Run { source: sources[0] })?;
    let started = Instant::now();
    let mut single_device = Some(0);
    for (&source, expected) in sources.iter().zip(&naive) {
        let out = session.run(bfs::Run { source })?;
        if out.dist != *expected {
            return Err(differ("a resident launch"));
        }
        single_device = single_device.zip(out.report.device_ns).map(|(a, b)| a + b);
    }
    let single_ns = each(started, runs);

    // The second batch finds the states of its queries allocated.
    let mut shared_ns = 0.0;
    let mut counted = Counters::default();
    let mut launches = 0;
    let mut shared_device = None;
    let uncounted = || Failure::Other("the backend does not count what it does".into());
    for _ in 0..2 {
        for &source in sources {
            session.submit(bfs::Run { source }, 0);
        }
        let before = session.counters().ok_or_else(uncounted)?;
        let started = Instant::now();
        let batch = session.run_batch()?;
        shared_ns = each(started, runs);
        counted = session.counters().ok_or_else(uncounted)?.since(&before);
        launches = counted.launches;
        for ((_, result), expected) in batch.results.into_iter().zip(&naive) {
            let out = result?;
            if out.dist != *expected {
                return Err(differ("a batch"));
            }
            // The launch's, if it was one.
            shared_device = out.report.device_ns.filter(|_| launches == 1);
        }
    }
    let device = single_device.zip(shared_device);
    let device =
        device.map(|(single, shared)| (single as f64 / runs as f64, shared as f64 / runs as f64));
    Ok(Times {
        naive: naive_ns,
        allocation,
        compiled,
        device,
        per_level: per_level_ns,
        single: single_ns,
        shared: shared_ns,
        setup: setup_ns,
        counted,
        launches,
    })
}

impl Example for Evidence {
    const NAME: &'static str = "evidence";
    const IGNORES: &'static [&'static str] = &[
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
        let spec = "rmat:nodes=10000,edges=80000".parse();
        Ok(Some(spec.map_err(|e| Failure::Other(format!("{e}")))?))
    }

    fn run(&self, job: &mut Job<'_>) -> Result<(), Failure> {
        let graph = job.graph();
        // A sample is of one device.
        let runtime = job.runtime().clone().alone();
        let nodes = graph.csr.node_count() as u64;
        if nodes == 0 {
            return Err(Failure::Other("the graph has no nodes".into()));
        }
        let device = runtime.cuda_device();
        let memory = device.and_then(|d| d.memory_bytes().ok());
        let capability = device.map_or((0, 0), |d| d.capability());
        let (mut samples, mut further) = (Vec::new(), Vec::new());
        let mut single = f64::INFINITY;
        for sample in 0..self.samples {
            let runs = u64::from(self.runs);
            let source = |i| ((u64::from(sample) * 7 + i * nodes / runs) % nodes) as u32;
            let sources: Vec<u32> = (0..runs).map(source).collect();
            let t = measure(&runtime, &graph.csr, &sources)?;
            let line = |ns: f64| {
                format!(
                    "{:.1} us a search, naive takes {:.1} times that",
                    ns / 1e3,
                    t.naive / ns
                )
            };
            job.say("sample", format!("{sample}: {} searches", count(self.runs)));
            job.say("naive", line(t.naive));
            let rest = t.naive - t.allocation;
            job.say(
                "allocation",
                format!(
                    "and upload: {:.1} us of it; without, {:.1} times single and {:.1} times shared",
                    t.allocation / 1e3,
                    rest / t.single,
                    rest / t.shared
                ),
            );
            job.say("per level", line(t.per_level));
            job.say("single", line(t.single));
            let launches = count(t.launches);
            job.say("shared", format!("{}, {launches} launches", line(t.shared)));
            let honest = t.per_level / t.single;
            job.say(
                "honest",
                format!("one launch against resident launches a level: {honest:.1}x"),
            );
            if let Some((cold, resident)) = t.compiled {
                job.say(
                    "compiled",
                    format!(
                        "a kernel a level from a host loop: {:.1} us from nothing ({:.1} times single, {:.1} times shared), {:.1} us on a resident graph ({:.1}, {:.1})",
                        cold / 1e3,
                        cold / t.single,
                        cold / t.shared,
                        resident / 1e3,
                        resident / t.single,
                        resident / t.shared
                    ),
                );
            }
            if let Some((single, shared)) = t.device {
                job.say(
                    "device",
                    format!(
                        "{:.1} us a single launch, {:.1} us a search of a shared one",
                        single / 1e3,
                        shared / 1e3
                    ),
                );
            }
            further.push([
                Some(t.allocation),
                Some(t.per_level),
                Some(t.single),
                t.compiled.map(|(cold, _)| cold),
                t.compiled.map(|(_, resident)| resident),
                t.device.map(|(single, _)| single),
                t.device.map(|(_, shared)| shared),
            ]);
            single = single.min(t.naive / t.single);
            let uploads = t.counted.graph_uploads;
            // Results cannot be there without a wait.
            let further_syncs = t.counted.fences.checked_sub(1).ok_or_else(|| {
                Failure::Other("the backend counts no wait for the results of a batch".into())
            })?;
            samples.push(Sample {
                backend_id: runtime.backend().to_owned(),
                device_ordinal: device.map_or(0, |d| d.ordinal() as u32),
                device_memory_bytes: memory.map_or(0, |(_, total)| total),
                compute_capability_major: capability.0 as u32,
                compute_capability_minor: capability.1 as u32,
                graph_nodes: nodes,
                graph_edges: graph.csr.edge_count() as u64,
                repetitions: runs,
                host_orchestrated_ns: t.naive,
                resident_megakernel_ns: t.shared,
                setup_ns: t.setup,
                timed_graph_uploads: uploads,
                timed_host_allocations: t.counted.allocations,
                timed_host_syncs: further_syncs,
                binding: bfs::PLAN.fingerprint().map(|fingerprint| Binding {
                    fingerprint,
                    measured: Measured::Shared,
                    rival: "naive".into(),
                }),
            });
        }
        let refused = |e: evidence::EvidenceError| Failure::Other(e.to_string());
        // Further columns name the device, and say what else was measured: empty where it could not be.
        let name = runtime.device().replace(',', " ");
        let text = evidence::write(&samples).map_err(refused)?;
        let mut lines = text.lines();
        let header = lines.next().unwrap_or_default();
        let mut text = format!("{header},device_name,{}\n", FURTHER.join(","));
        for (line, figures) in lines.zip(further) {
            let figures = figures.map(|ns| ns.map_or_else(String::new, |ns| ns.to_string()));
            text += &format!("{line},{name},{}\n", figures.join(","));
        }
        let text = match &self.csv {
            Some(path) => {
                let io = |e| Failure::Other(format!("{}: {e}", path.display()));
                std::fs::write(path, text).map_err(io)?;
                let name = path.display().to_string();
                job.say("written", name);
                std::fs::read_to_string(path).map_err(io)?
            }
            None => text,
        };
        let read = evidence::read(&text).map_err(refused)?;
        if read != samples {
            return Err(Failure::Other("the file reads back differently".into()));
        }
        job.say_time();
        let verdict = evidence::check(&read, self.claim);
        let says = match &verdict {
            Ok(v) => format!(
                "proven: {} samples, {:.1}x to {:.1}x",
                v.samples, v.min_ratio, v.max_ratio
            ),
            Err(e) => format!("no evidence: {e}"),
        };
        job.figure("verdict", says.clone());
        job.say("verdict", says);
        job.figure("accepted", verdict.is_ok());
        let least = samples.iter().map(Sample::ratio).fold(f64::NAN, f64::min);
        job.figure("min_ratio", least);
        job.figure("min_single_ratio", single);
        if let Err(e) = verdict {
            job.fail(Failure::Other(format!("no evidence: {e}")));
        }
        Ok(())
    }
}

fn main() -> ExitCode {
    cli::main::<Evidence>()
}
