//! What the programs share: arguments, runtimes, timing, random graphs.

use std::time::{Duration, Instant};
use vyre::{Csr, Pass, RoutePolicy, Session, prelude::*};

pub type Anything = Box<dyn std::error::Error>;

/// `--name value` and `--name`.
pub struct Args(Vec<String>);

impl Args {
    pub fn new() -> Self {
        Args(std::env::args().skip(1).collect())
    }

    pub fn flag(&self, name: &str) -> bool {
        self.0.iter().any(|a| a == name)
    }

    pub fn text(&self, name: &str, default: &str) -> String {
        let at = self.0.iter().position(|a| a == name);
        at.and_then(|k| self.0.get(k + 1)).cloned().unwrap_or_else(|| default.to_owned())
    }

    pub fn number(&self, name: &str, default: u32) -> u32 {
        let text = self.text(name, &default.to_string()).replace('_', "");
        text.parse().unwrap_or_else(|_| panic!("{name} takes a number, not {text}"))
    }

    pub fn runtime(&self) -> Result<Runtime, Anything> {
        let name = self.text("--backend", "native");
        let runtime = match name.as_str() {
            "native" => Runtime::native(),
            "vir0" => Runtime::vir0(),
            "cuda" => Runtime::cuda()?,
            "compiled" => Runtime::cuda()?.with_route(RoutePolicy::Compiled),
            "interpreted" => Runtime::cuda()?.with_route(RoutePolicy::Interpreter),
            "auto" => Runtime::auto()?,
            _ => return Err(format!("--backend native|vir0|cuda|compiled|interpreted|auto, not {name}").into()),
        };
        println!("runtime   {runtime}");
        Ok(runtime)
    }
}

impl Default for Args {
    fn default() -> Self {
        Self::new()
    }
}

/// The last of some runs, and the median of their times. One run comes before them.
pub fn median<P: Pass>(
    session: &mut Session<P>,
    run: P::Run<'_>,
    runs: u32,
) -> Result<(P::Output, Duration), vyre::Error>
where
    for<'a> P::Run<'a>: Copy,
{
    let mut out = session.run(run)?;
    let mut times = Vec::new();
    for _ in 0..runs.max(1) {
        let begun = Instant::now();
        session.run_into(run, &mut out)?;
        times.push(begun.elapsed());
    }
    times.sort();
    Ok((out, times[times.len() / 2]))
}

pub fn timed<T>(f: impl FnOnce() -> T) -> (T, Duration) {
    let begun = Instant::now();
    let value = f();
    (value, begun.elapsed())
}

/// SplitMix64.
pub struct Random(pub u64);

impl Random {
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: u32) -> u32 {
        ((self.bits() >> 32) * u64::from(n) >> 32) as u32
    }
}

/// `m` edges between random nodes; none leads to its own node.
pub fn random_edges(n: u32, m: usize, random: &mut Random) -> Vec<(u32, u32)> {
    if n < 2 {
        return Vec::new();
    }
    let mut edges = Vec::with_capacity(m);
    while edges.len() < m {
        let (a, b) = (random.below(n), random.below(n));
        if a != b {
            edges.push((a, b));
        }
    }
    edges
}

/// Edges of a grid, in both directions.
pub fn grid_edges(w: u32, h: u32) -> Vec<(u32, u32)> {
    let mut edges = Vec::new();
    for y in 0..h {
        for x in 0..w {
            let v = y * w + x;
            if x + 1 < w {
                edges.extend([(v, v + 1), (v + 1, v)]);
            }
            if y + 1 < h {
                edges.extend([(v, v + w), (v + w, v)]);
            }
        }
    }
    edges
}

/// A graph, and what belongs to each of its edges.
pub fn weighted<T: Copy>(n: u32, edges: &[(u32, u32)], weight: &[T]) -> Result<(Csr, Vec<T>), Anything> {
    let (graph, from) = Csr::from_edges_indexed(n as usize, edges)?;
    let weight = from.iter().map(|&k| weight[k as usize]).collect();
    Ok((graph, weight))
}

/// Says how a program ended.
pub fn verdict(ok: bool) -> std::process::ExitCode {
    println!("check     {}", if ok { "passed" } else { "FAILED" });
    if ok { std::process::ExitCode::SUCCESS } else { std::process::ExitCode::FAILURE }
}
