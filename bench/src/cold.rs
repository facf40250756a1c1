//! The way to compiled code: how long a pass is interpreted before its own module is there, and what the driver's
//! compiler does to launches meanwhile. For processes whose driver keeps no modules (`CUDA_CACHE_DISABLE=1`).

use super::micro::{Line, first};
use super::rivals::hash;
use super::workloads::DAMPING;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};
use vyre::prelude::*;
use vyre::{Error, RoutePolicy};
use vyre_examples::graph;
use vyre_examples::passes::{bfs, liveness, pagerank};
use vyre_tests::passes::sssp;

/// What turns the driver's cache off.
const CACHE: &str = "CUDA_CACHE_DISABLE";

/// No pass is interpreted for longer.
const PATIENCE: Duration = Duration::from_secs(60);

/// Items of the kernel.
const ITEMS: usize = 1 << 24;

/// All of it, by a process of its own whose driver keeps nothing.
pub(super) fn apart() -> Result<Vec<Line>, String> {
    let own = std::env::current_exe().map_err(|e| e.to_string())?;
    let ran = Command::new(own)
        .args(["cold", "--json"])
        .env(CACHE, "1")
        .output();
    let ran = ran.map_err(|e| e.to_string())?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if !ran.status.success() {
        return Err(text(&ran.stderr));
    }
    let out = text(&ran.stdout);
    let last = out.lines().next_back().unwrap_or_default();
    let figures: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(last).map_err(|e| e.to_string())?;
    let line = |(name, value): (String, serde_json::Value)| match value.as_f64() {
        Some(ns) => (name, Ok(ns)),
        None => (
            name,
            Err(value.as_str().unwrap_or("it says nothing").to_owned()),
        ),
    };
    Ok(figures.into_iter().map(line).collect())
}

/// All of it here, and whether the driver keeps nothing.
pub(super) fn measure() -> Result<(bool, Vec<Line>), String> {
    let runtime = Runtime::cuda().map_err(|e| e.to_string())?;
    let graph = graph::grid(1000, 1000).expect("the grid has nodes");
    let weight = graph::hashed_weights(&graph);
    let lines = launches(&runtime, &graph, &weight).map_err(|e| e.to_string())?;
    let mut lines = vec![lines];
    let auto = runtime.with_route(RoutePolicy::Auto);
    let mut out = vec![0; ITEMS];
    let ns = until_compiled(|| Ok(hash::run(&auto, 1, &mut out)?.route));
    lines.push((to_compiled("a kernel (hash)"), ns));
    lines.extend(passes(&auto, &graph, &weight).map_err(|e| e.to_string())?);
    let is_cold = std::env::var(CACHE).is_ok_and(|off| off == "1");
    Ok((is_cold, lines))
}

fn to_compiled(what: &str) -> String {
    format!("from the first run of {what} to its first compiled run")
}

/// From the first run on to the beginning of the first one that was compiled. A run gives its route.
fn until_compiled(mut run: impl FnMut() -> Result<&'static str, Error>) -> Result<f64, String> {
    let first = Instant::now();
    loop {
        let begins = first.elapsed();
        match run().map_err(|e| e.to_string())? {
            "compiled" => return Ok(begins.as_nanos() as f64),
            _ if begins > PATIENCE => return Err(format!("interpreted for {PATIENCE:?}")),
            _ => {}
        }
    }
}

/// Of four passes on a grid.
fn passes(runtime: &Runtime, graph: &Csr, weight: &[u32]) -> Result<Vec<Line>, Error> {
    let mut lines = Vec::new();
    let mut line = |name, ns| lines.push((to_compiled(name), ns));

    let mut session = bfs::Session::new(runtime, graph)?;
    let mut out = bfs::Output::default();
    let ns = until_compiled(|| {
        session.run_into(bfs::Run { source: 0 }, &mut out)?;
        Ok(out.report.route)
    });
    line("bfs", ns);

    let mut session = sssp::Session::new(runtime, sssp::Topology { graph, weight })?;
    let mut out = sssp::Output::default();
    let ns = until_compiled(|| {
        session.run_into(sssp::Run { source: 0 }, &mut out)?;
        Ok(out.report.route)
    });
    line("sssp", ns);

    let mut session = pagerank::Session::new(runtime, graph)?;
    let mut out = pagerank::Output::default();
    let start = 1.0 / graph.node_count() as f32;
    let run = pagerank::Run {
        start,
        damping: DAMPING,
        spread: DAMPING * start,
        restart: (1.0 - DAMPING) * start,
        tolerance: 1e-6,
    };
    let ns = until_compiled(|| {
        session.run_into(run, &mut out)?;
        Ok(out.report.route)
    });
    line("pagerank", ns);

    // Few blocks read something first, and few write it.
    let bits = |seed: u64| move |v: u64| (1 << ((v * 11 + seed) % 64)) & ((v * 0x9e37_79b9) >> 5);
    let nodes = || 0..graph.node_count() as u64;
    let [uses, defs] = [3, 40].map(|seed| nodes().map(bits(seed)).collect::<Vec<u64>>());
    let topology = liveness::Topology {
        predecessors: graph,
        uses: &uses,
        defs: &defs,
    };
    let mut session = liveness::Session::new(runtime, topology)?;
    let mut out = liveness::Output::default();
    let ns = until_compiled(|| {
        session.run_into(liveness::Run {}, &mut out)?;
        Ok(out.report.route)
    });
    line("liveness", ns);
    Ok(lines)
}

/// How much longer the longest of many small runs takes while the driver compiles a module than the longest of as many
/// without that.
fn launches(runtime: &Runtime, graph: &Csr, weight: &[u32]) -> Result<Line, Error> {
    let small = graph::grid(10, 10).expect("the grid has nodes");
    let interpreted = runtime.clone().with_route(RoutePolicy::Interpreter);
    let mut session = first::Session::new(&interpreted, &small)?;
    let mut out = first::Output::default();
    let mut run = || -> Result<Duration, Error> {
        let begun = Instant::now();
        session.run_into(first::Run {}, &mut out)?;
        Ok(begun.elapsed())
    };
    for _ in 0..1_000 {
        run()?;
    }
    let mut compiled = sssp::Session::new(&interpreted, sssp::Topology { graph, weight })?;
    let (mut beside, mut runs) = (Duration::ZERO, 0);
    thread::scope(|scope| {
        let compiler = scope.spawn(|| compiled.compile_now());
        while !compiler.is_finished() {
            beside = beside.max(run()?);
            runs += 1;
        }
        compiler.join().expect("it does not panic")
    })?;
    let mut without = Duration::ZERO;
    for _ in 0..runs {
        without = without.max(run()?);
    }
    let over = beside.saturating_sub(without).as_nanos() as f64;
    // Only now: small runs would wait for this one.
    compiled.run(sssp::Run { source: 0 })?;
    let last = compiled.decisions().last();
    let lines = last.map_or_else(String::new, |last| lines_of(&last.followed.code));
    let name = format!(
        "longest launch while a module of {lines} lines compiles, over the longest without"
    );
    Ok((name, Ok(over)))
}

/// How many lines the module has that an explanation tells of.
fn lines_of(code: &str) -> String {
    let told = code
        .split_once('(')
        .and_then(|(_, told)| told.split_once(' '));
    told.map_or_else(String::new, |(lines, _)| lines.to_owned())
}
