//! crate-a [bisim|subseq|delta|all] [--backend native|vir0|cuda|compiled] [--size N] [--runs R] [--check-only] [--plan] [--explain]

#[path = "../bisim.rs"] mod bisim;
#[path = "../delta.rs"] mod delta;
#[path = "../subseq.rs"] mod subseq;

use bisim::bisimulation;
use delta::{FAR, delta_stepping};
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap};
use std::time::Instant;
use subseq::subsequences;
use vyre::prelude::*;
use vyre::{Pass, RoutePolicy, Session};

type Res<T> = Result<T, Box<dyn std::error::Error>>;

struct Rng(u64);
impl Rng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    fn below(&mut self, n: u32) -> u32 {
        ((self.next() >> 32) * u64::from(n) >> 32) as u32
    }
}

struct Opts {
    runs: usize,
    plan: bool,
    explain: bool,
}

/// The last output and the median of the runs' wall times in milliseconds; the first run is not counted.
fn measure<P: Pass>(
    session: &mut Session<P>,
    runs: usize,
    mut run: impl FnMut(&mut Session<P>) -> Result<P::Output, vyre::Error>,
) -> Res<(P::Output, f64)> {
    let mut out = run(session)?;
    let mut times = Vec::new();
    for _ in 0..runs {
        let begun = Instant::now();
        out = run(session)?;
        times.push(begun.elapsed().as_secs_f64() * 1e3);
    }
    times.sort_by(f64::total_cmp);
    let median = times.get(times.len() / 2).copied().unwrap_or(f64::NAN);
    Ok((out, median))
}

fn say(name: &str, what: &str, ms: f64, plain: f64, rounds: &[u64], route: &str, ok: bool) {
    let verdict = if ok { "check passed" } else { "CHECK FAILED" };
    println!("{name:7} {what:44} {ms:10.3} ms  plain Rust {plain:10.3} ms  rounds {rounds:?}  {route}  {verdict}");
}

// ---- bisimulation

/// By sets in hash maps, phase by phase.
fn refine(n: usize, edges: &[(u32, u32, u32)]) -> Vec<u32> {
    let mut class = vec![0u32; n];
    let mut count = 0;
    loop {
        let mut sets: Vec<BTreeSet<(u32, u32)>> = vec![BTreeSet::new(); n];
        for &(v, l, w) in edges {
            sets[v as usize].insert((l, class[w as usize]));
        }
        let mut seen = HashMap::new();
        let next: Vec<u32> = sets
            .into_iter()
            .enumerate()
            .map(|(v, set)| *seen.entry((class[v], set)).or_insert(v as u32))
            .collect();
        class = next;
        if seen.len() == count {
            return class;
        }
        count = seen.len();
    }
}

/// By pairs: strikes out those that can be told apart.
fn pairwise(n: usize, edges: &[(u32, u32, u32)]) -> Vec<u32> {
    let mut like = vec![vec![true; n]; n];
    let mut changed = true;
    while changed {
        changed = false;
        for v in 0..n {
            for w in 0..n {
                let simulated = |v: usize, w: usize| {
                    edges.iter().filter(|e| e.0 as usize == v).all(|a| {
                        edges.iter().any(|b| {
                            b.0 as usize == w && a.1 == b.1 && like[a.2 as usize][b.2 as usize]
                        })
                    })
                };
                if like[v][w] && !(simulated(v, w) && simulated(w, v)) {
                    like[v][w] = false;
                    like[w][v] = false;
                    changed = true;
                }
            }
        }
    }
    (0..n).map(|v| (0..n).find(|&w| like[v][w]).unwrap() as u32).collect()
}

fn bisim_case(runtime: &Runtime, what: &str, n: u32, mut edges: Vec<(u32, u32, u32)>, o: &Opts) -> Res<bool> {
    edges.sort();
    let pairs: Vec<_> = edges.iter().map(|e| (e.0, e.2)).collect();
    let (graph, from) = Csr::from_edges_indexed(n as usize, &pairs)?;
    let values: Vec<u32> = from.iter().map(|&k| edges[k as usize].1).collect();
    let label = Rows::new(graph.offsets().to_vec(), values)?;
    let mut session = bisimulation::Session::new(runtime, bisimulation::Topology { graph: &graph, label: &label })?;
    let (out, ms) = measure(&mut session, o.runs, |s| s.run(bisimulation::Run {}))?;
    let begun = Instant::now();
    let expected = refine(n as usize, &edges);
    let plain = begun.elapsed().as_secs_f64() * 1e3;
    let mut ok = out.class == expected;
    if n <= 40 {
        ok &= pairwise(n as usize, &edges) == expected;
    }
    let classes = expected.iter().collect::<BTreeSet<_>>().len() as u64;
    ok &= out.classes == classes;
    say("bisim", &format!("{what}: {n} nodes, {} edges, {classes} classes", edges.len()), ms, plain, &out.report.rounds.iter().map(|&r| r as u64).collect::<Vec<_>>(), out.report.route, ok);
    if o.explain {
        println!("{}", session.explain());
    }
    Ok(ok)
}

fn bisim_graph(kind: &str, n: u32, r: &mut Rng) -> Vec<(u32, u32, u32)> {
    let mut edges = Vec::new();
    match kind {
        "random" => {
            for _ in 0..n * 5 {
                edges.push((r.below(n), r.below(3), r.below(n)));
            }
        }
        // Trees with few shapes: many nodes in few classes.
        "tree" => {
            for v in 1..n {
                edges.push(((v - 1) / 2, r.below(64) / 63, v));
            }
        }
        "hub" => {
            for v in 1..n {
                edges.push((0, r.below(5), v));
                edges.push((v, r.below(2), if r.below(4) == 0 { r.below(n) } else { 0 }));
            }
        }
        _ => {
            let len = 100;
            for v in 0..n {
                if v % len + 1 < len && v + 1 < n {
                    edges.push((v, 0, v + 1));
                }
            }
        }
    }
    edges
}

fn bisim_all(runtime: &Runtime, size: u32, o: &Opts) -> Res<bool> {
    if o.plan {
        println!("{}", bisimulation::PLAN);
    }
    let mut ok = true;
    let quick = Opts { runs: 1, plan: false, explain: false };
    let mut r = Rng(1);
    ok &= bisim_case(runtime, "empty", 0, vec![], &quick)?;
    ok &= bisim_case(runtime, "one", 1, vec![(0, 1, 0), (0, 1, 0)], &quick)?;
    for n in [2, 7, 20, 37] {
        for kind in ["random", "tree", "hub", "chains"] {
            ok &= bisim_case(runtime, kind, n, bisim_graph(kind, n, &mut r), &quick)?;
        }
    }
    for n in [1_000, 10_000] {
        for kind in ["random", "tree", "hub", "chains"] {
            ok &= bisim_case(runtime, kind, n, bisim_graph(kind, n, &mut r), &quick)?;
        }
    }
    if size > 0 {
        for kind in ["random", "tree", "hub", "chains"] {
            ok &= bisim_case(runtime, kind, size, bisim_graph(kind, size, &mut r), o)?;
        }
    }
    Ok(ok)
}

// ---- subsequences

fn subseq_case(runtime: &Runtime, text: &[u8], patterns: &[Vec<u8>], o: &Opts) -> Res<bool> {
    let pattern = Rows::from_rows(patterns)?;
    let topology = subsequences::Topology { patterns: patterns.len() as u32, pattern: &pattern };
    let mut session = subsequences::Session::new(runtime, topology)?;
    let run = subsequences::Run { text, n: text.len() as u32 };
    let (out, ms) = measure(&mut session, o.runs, |s| s.run(run))?;
    let begun = Instant::now();
    let mut found = Vec::new();
    let mut prefix = Vec::new();
    let mut at = Vec::new();
    for p in patterns {
        let mut places = Vec::new();
        for (i, &c) in text.iter().enumerate() {
            if places.len() < p.len() && p[places.len()] == c {
                places.push(i as u32);
            }
        }
        found.push(places.len() == p.len());
        prefix.push(places.len() as u32);
        places.resize(p.len(), u32::MAX);
        at.extend(places);
    }
    let plain = begun.elapsed().as_secs_f64() * 1e3;
    let ok = out.found == found && out.prefix == prefix && out.at == at;
    let yes = found.iter().filter(|&&f| f).count();
    say("subseq", &format!("{} bytes, {} patterns, {yes} found", text.len(), patterns.len()), ms, plain, &out.report.rounds.iter().map(|&r| r as u64).collect::<Vec<_>>(), out.report.route, ok);
    if o.explain {
        println!("{}", session.explain());
    }
    Ok(ok)
}

fn subseq_all(runtime: &Runtime, size: u32, o: &Opts) -> Res<bool> {
    if o.plan {
        println!("{}", subsequences::PLAN);
    }
    let mut ok = true;
    let quick = Opts { runs: 1, plan: false, explain: false };
    let mut r = Rng(2);
    let mut case = |n: u32, many: u32, letters: u32, longest: u32, o: &Opts| -> Res<bool> {
        let text: Vec<u8> = (0..n).map(|_| (r.below(letters) * 255 / letters.max(2).saturating_sub(1).max(1)).min(255) as u8).collect();
        let patterns: Vec<Vec<u8>> = (0..many)
            .map(|_| {
                let len = r.below(longest + 1);
                let take = r.below(2) == 0 && n > 0;
                (0..len)
                    .map(|_| if take { text[r.below(n) as usize] } else { (r.below(letters + 1) * 255 / letters) as u8 })
                    .collect()
            })
            .collect();
        subseq_case(runtime, &text, &patterns, o)
    };
    for (n, many, letters, longest) in [(0, 0, 4, 3), (0, 5, 4, 3), (1, 9, 1, 2), (50, 0, 4, 3), (50, 100, 3, 30), (1000, 300, 26, 60), (5000, 1000, 256, 40), (20_000, 200, 4, 8000)] {
        ok &= case(n, many, letters, longest, &quick)?;
    }
    if size > 0 {
        ok &= case(size * 4, 2_000, 26, 60, o)?;
        ok &= case(size * 4, 200, 16, size / 8, o)?;
    }
    Ok(ok)
}

// ---- delta-stepping

fn delta_case(runtime: &Runtime, what: &str, n: u32, edges: &[(u32, u32, u32)], source: u32, delta: u32, o: &Opts) -> Res<bool> {
    let part = |light: bool| -> Res<(Csr, Vec<u32>)> {
        let of: Vec<_> = edges.iter().filter(|e| (e.2 <= delta) == light).collect();
        let pairs: Vec<_> = of.iter().map(|e| (e.0, e.1)).collect();
        let (graph, from) = Csr::from_edges_indexed(n as usize, &pairs)?;
        let weight = from.iter().map(|&k| of[k as usize].2).collect();
        Ok((graph, weight))
    };
    let ((light, light_weight), (heavy, heavy_weight)) = (part(true)?, part(false)?);
    let topology = delta_stepping::Topology {
        light: &light,
        light_weight: &light_weight,
        heavy: &heavy,
        heavy_weight: &heavy_weight,
        delta,
    };
    let mut session = delta_stepping::Session::new(runtime, topology)?;
    let (out, ms) = measure(&mut session, o.runs, |s| s.run(delta_stepping::Run { source }))?;

    let pairs: Vec<_> = edges.iter().map(|e| (e.0, e.1)).collect();
    let (graph, from) = Csr::from_edges_indexed(n as usize, &pairs)?;
    let begun = Instant::now();
    let mut dist = vec![FAR; n as usize];
    dist[source as usize] = 0;
    let mut heap = BinaryHeap::from([Reverse((0u32, source))]);
    while let Some(Reverse((d, v))) = heap.pop() {
        if d > dist[v as usize] {
            continue;
        }
        for e in graph.edges(v).iter() {
            let w = graph.target(e);
            let far = d.saturating_add(edges[from[e as usize] as usize].2);
            if far < dist[w as usize] {
                dist[w as usize] = far;
                heap.push(Reverse((far, w)));
            }
        }
    }
    let plain = begun.elapsed().as_secs_f64() * 1e3;
    let buckets: BTreeSet<u32> = dist.iter().filter(|&&d| d != FAR).map(|d| d / delta).collect();
    let number: HashMap<u32, u32> = buckets.iter().zip(0..).map(|(&b, k)| (b, k)).collect();
    let phase: Vec<u32> = dist.iter().map(|&d| if d == FAR { FAR } else { number[&(d / delta)] }).collect();
    let ok = out.dist == dist && out.phase == phase;
    say("delta", &format!("{what}: {n} nodes, {} edges, delta {delta}, {} buckets", edges.len(), buckets.len()), ms, plain, &out.report.rounds.iter().map(|&r| r as u64).collect::<Vec<_>>(), out.report.route, ok);
    if o.explain {
        println!("{}", session.explain());
    }
    Ok(ok)
}

fn delta_all(runtime: &Runtime, size: u32, o: &Opts) -> Res<bool> {
    if o.plan {
        println!("{}", delta_stepping::PLAN);
    }
    let mut ok = true;
    let quick = Opts { runs: 1, plan: false, explain: false };
    let mut r = Rng(3);
    let random = |n: u32, most: u32, r: &mut Rng| -> Vec<_> {
        (0..n * 4).map(|_| (r.below(n), r.below(n), r.below(most + 1))).collect()
    };
    let grid = |side: u32, r: &mut Rng| -> Vec<_> {
        let mut edges = Vec::new();
        for v in 0..side * side {
            for w in [(v % side + 1 < side).then_some(v + 1), (v + side < side * side).then_some(v + side)].into_iter().flatten() {
                let x = 1 + r.below(100);
                edges.extend([(v, w, x), (w, v, x)]);
            }
        }
        edges
    };
    ok &= delta_case(runtime, "lone", 1, &[], 0, 1, &quick)?;
    ok &= delta_case(runtime, "far", 3, &[(0, 1, FAR - 1), (1, 2, 5)], 0, 7, &quick)?;
    for n in [2, 10, 100, 3000] {
        for delta in [1, 3, 25, 1000] {
            let edges = random(n, 100, &mut r);
            ok &= delta_case(runtime, "random", n, &edges, r.below(n), delta, &quick)?;
        }
    }
    for side in [5, 60] {
        let edges = grid(side, &mut r);
        for delta in [1, 40, 200] {
            ok &= delta_case(runtime, "grid", side * side, &edges, 0, delta, &quick)?;
        }
    }
    if size > 0 {
        let edges = random(size, 1000, &mut r);
        ok &= delta_case(runtime, "random", size, &edges, 0, 250, o)?;
        let side = size.isqrt();
        let edges = grid(side, &mut r);
        ok &= delta_case(runtime, "grid", side * side, &edges, 0, 100, o)?;
    }
    Ok(ok)
}

fn main() -> Res<()> {
    let mut which = "all".to_string();
    let (mut backend, mut size, mut o) = ("native".to_string(), 200_000, Opts { runs: 5, plan: false, explain: false });
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or("a value is missing");
        match arg.as_str() {
            "--backend" => backend = value()?,
            "--size" => size = value()?.parse()?,
            "--runs" => o.runs = value()?.parse()?,
            "--check-only" => size = 0,
            "--plan" => o.plan = true,
            "--explain" => o.explain = true,
            name => which = name.to_string(),
        }
    }
    let runtime = match backend.as_str() {
        "native" => Runtime::native(),
        "vir0" => Runtime::vir0(),
        "cuda" => Runtime::cuda()?.with_route(RoutePolicy::Interpreter),
        "compiled" => Runtime::cuda()?.with_route(RoutePolicy::Compiled),
        other => return Err(format!("no backend {other}").into()),
    };
    let mut ok = true;
    if which == "all" || which == "bisim" {
        ok &= bisim_all(&runtime, size, &o)?;
    }
    if which == "all" || which == "subseq" {
        ok &= subseq_all(&runtime, size, &o)?;
    }
    if which == "all" || which == "delta" {
        ok &= delta_all(&runtime, size, &o)?;
    }
    println!("{}", if ok { "ALL CHECKS PASSED" } else { "SOME CHECKS FAILED" });
    std::process::exit(i32::from(!ok));
}
