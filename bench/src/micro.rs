//! What a round is made of: barriers by scope, a round that does next to nothing, a new pass's way to its first result.

use super::cold;
use super::rivals::gpu;
use crate::cuda::{Barrier, barrier_ns};
use std::time::Instant;
use vyre::prelude::*;
use vyre::{Error, RoutePolicy};
use vyre_examples::graph;

/// Rounds of one thread that counts them.
#[wave_graph]
#[pass(id = "bench.idle", unproven)]
#[allow(missing_docs, unreachable_pub, reason = "a pass of the benchmark")]
mod idle {
    pub struct Data {
        #[reduce(max)]
        ticks: u32,
        rounds: u32,
    }

    #[fixpoint(until(ticks >= rounds), max_rounds = 4_294_967_295)]
    mod turning {
        #[wave(once)]
        fn tick(round: Round, ticks: &Reduce<Max<u32>>) {
            ticks.max(round + 1);
        }
    }
}

/// The same of every node, none of which does anything.
#[wave_graph]
#[pass(id = "bench.idle_nodes", unproven)]
#[allow(missing_docs, unreachable_pub, reason = "a pass of the benchmark")]
mod idle_nodes {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[reduce(max)]
        ticks: u32,
        rounds: u32,
    }

    #[fixpoint(until(ticks >= rounds), max_rounds = 4_294_967_295)]
    mod turning {
        #[wave(nodes)]
        fn tick(v: Node, round: Round, ticks: &Reduce<Max<u32>>) {
            if v == 0 {
                ticks.max(round + 1);
            }
        }
    }
}

/// A search, to be started for the first time.
#[wave_graph]
#[pass(id = "bench.first", unproven)]
#[allow(missing_docs, unreachable_pub, reason = "a pass of the benchmark")]
pub(super) mod first {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[frontier(unique)]
        front: Frontier,
        #[output(per = node)]
        dist: u32,
    }

    #[wave(nodes)]
    fn init(v: Node, dist: &mut u32, front: &Push) {
        *dist = v;
        if v == 0 {
            front.push(v);
        }
    }

    #[fixpoint(after(init), until(front.is_empty()))]
    mod levels {
        #[wave(edges(graph, from = front))]
        fn relax(e: Edge, round: Round, dist: &Buf<Atomic<u32>>, front: &Push) {
            if round < 10 && dist[e.dst].swap(0) != 0 {
                front.push(e.dst);
            }
        }
    }
}

/// One measurement: what, and how long in nanoseconds, or why not.
pub(super) type Line = (String, Result<f64, String>);

fn median(mut samples: Vec<f64>) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples[samples.len() / 2]
}

/// A round's time: the difference of runs with different numbers of them.
fn round_ns(mut run: impl FnMut(u32) -> Result<Option<u64>, Error>) -> Result<f64, String> {
    const FEW: u32 = 1000;
    const MANY: u32 = 6000;
    let mut median_ns = |rounds| -> Result<f64, String> {
        let mut samples = Vec::new();
        for _ in 0..7 {
            let ns = run(rounds).map_err(|e| e.to_string())?;
            samples.push(ns.ok_or("the device gave no time")? as f64);
        }
        Ok(median(samples))
    };
    let few = median_ns(FEW)?;
    Ok((median_ns(MANY)? - few) / f64::from(MANY - FEW))
}

/// A session of a pass that the runtime has not seen, and its first run, as the host sees it.
fn first_result(runtime: &Runtime) -> Result<f64, Error> {
    let graph = graph::grid(10, 10).expect("the grid has nodes");
    let started = Instant::now();
    first::Session::new(runtime, &graph)?.run(first::Run {})?;
    Ok(started.elapsed().as_nanos() as f64)
}

/// What this process waits for until its first result, since its `main` began; nothing may have used the GPU before.
/// Fails without one.
pub(super) fn start(started: Instant) -> Result<(Runtime, Vec<Line>), String> {
    let runtime = Runtime::cuda().map_err(|e| e.to_string())?;
    let runtime = runtime.with_route(RoutePolicy::Interpreter);
    let device = runtime.cuda_device().ok_or("the runtime has no device")?;
    let opening = device.opening();
    let first = first_result(&runtime).map_err(|e| e.to_string())?;
    let all = started.elapsed().as_nanos() as f64;
    let again = first_result(&runtime).map_err(|e| e.to_string())?;
    let lines = [
        ("finding the driver's library", opening.library_ns as f64),
        ("starting the driver", opening.driver_ns as f64),
        (
            "context, and unpacking the cubin",
            opening.context_ns as f64,
        ),
        ("loading the megakernel", opening.code_ns as f64),
        ("session and first result", first),
        ("from main to the first result", all),
        ("then: another session and result", again),
    ];
    let lines = lines.map(|(name, ns)| (name.to_owned(), Ok(ns)));
    Ok((runtime, lines.into()))
}

/// All of them, in the order in which they are shown. Fails without a GPU.
pub(super) fn measure() -> Result<Vec<Line>, String> {
    let started = Instant::now();
    let runtime = Runtime::cuda().map_err(|e| e.to_string())?;
    let runtime = runtime.with_route(RoutePolicy::Interpreter);
    let opening = started.elapsed().as_nanos() as f64;
    let kernels = gpu::kernels().map_err(|skip| skip.to_string())?;
    let mut lines = vec![("opening the device".into(), Ok(opening))];
    let first = first_result(&runtime).map_err(|e| e.to_string());
    lines.push(("a new pass: session and first result".into(), first));
    let again: Result<Vec<f64>, Error> = (0..20).map(|_| first_result(&runtime)).collect();
    let again = again.map(median).map_err(|e| e.to_string());
    lines.push(("the same pass: another session and result".into(), again));
    let barriers = [
        (Barrier::Cta, "barrier of a CTA of 256 threads"),
        (
            Barrier::Cluster { ctas: 8 },
            "barrier of a cluster of 8 CTAs",
        ),
        (
            Barrier::Cluster { ctas: 16 },
            "barrier of a cluster of 16 CTAs",
        ),
        (
            Barrier::Grid { each: 1 },
            "barrier of a CTA a multiprocessor",
        ),
        (
            Barrier::Grid { each: 4 },
            "barrier of 4 CTAs a multiprocessor",
        ),
    ];
    for (barrier, name) in barriers {
        let ns = barrier_ns(&kernels, barrier).map_err(|e| e.to_string());
        let ns = ns.and_then(|ns| ns.ok_or("the device has no such clusters".into()));
        lines.push((name.into(), ns));
    }
    for (route, name) in [
        (RoutePolicy::Interpreter, "interpreted"),
        (RoutePolicy::Compiled, "compiled"),
    ] {
        let runtime = runtime.clone().with_route(route);
        lines.extend(rounds(&runtime, name)?);
    }
    lines.extend(cold::apart()?);
    Ok(lines)
}

/// What rounds take that do next to nothing.
fn rounds(runtime: &Runtime, route: &str) -> Result<Vec<Line>, String> {
    let mut session = idle::Session::new(runtime, ()).map_err(|e| e.to_string())?;
    let ns = round_ns(|rounds| Ok(session.run(idle::Run { rounds })?.report.device_ns));
    let mut lines = vec![(format!("{route}, a round of one thread"), ns)];
    for (width, height) in [(64, 64), (100, 100), (1000, 1000)] {
        let graph = graph::grid(width, height).expect("the grid has nodes");
        let mut session = idle_nodes::Session::new(runtime, &graph).map_err(|e| e.to_string())?;
        let ns = round_ns(|rounds| Ok(session.run(idle_nodes::Run { rounds })?.report.device_ns));
        let nodes = width * height;
        lines.push((format!("{route}, an empty round of {nodes} nodes"), ns));
    }
    Ok(lines)
}
