//! PageRank: how often a walker who follows random edges, and now and then starts anew, comes by each node.
//!
//! `cargo run --release -p vyre-examples --example pagerank -- --graph rmat:16:16 --check`

use std::process::ExitCode;
use vyre_examples::cli::{self, Example, Failure, Job, Shared};
use vyre_examples::passes::pagerank;
use vyre_examples::{graph::GraphSpec, oracle};

/// How often a random walker comes by each node, by power iteration
#[derive(clap::Parser)]
#[command(name = "pagerank")]
pub struct PageRank {
    /// Probability of following an edge rather than starting anew
    #[arg(long, value_name = "P", default_value_t = 0.85, value_parser = probability)]
    damping: f32,
    /// Stop when the ranks move by less than this in sum; they sum to 1
    #[arg(long, value_name = "T", default_value_t = 1e-5, value_parser = positive)]
    tolerance: f32,
    #[command(flatten)]
    shared: Shared,
}

fn probability(text: &str) -> Result<f32, String> {
    match text.parse() {
        Ok(p) if (0.0..1.0).contains(&p) => Ok(p),
        _ => Err("a number from 0 up to below 1 is needed".into()),
    }
}

fn positive(text: &str) -> Result<f32, String> {
    match text.parse() {
        Ok(t) if t > 0.0 => Ok(t),
        _ => Err("a number above 0 is needed".into()),
    }
}

impl Example for PageRank {
    const NAME: &'static str = "pagerank";
    const IGNORES: &'static [&'static str] = &["--source"];

    fn shared(&self) -> &Shared {
        &self.shared
    }

    fn default_graph(&self) -> Result<Option<GraphSpec>, Failure> {
        Ok(Some(GraphSpec::Rmat {
            scale: 16,
            edge_factor: 16,
            seed: 1,
        }))
    }

    fn run(&self, job: &mut Job<'_>) -> Result<(), Failure> {
        let graph = job.graph();
        let (damping, tolerance) = (self.damping, self.tolerance);
        let start = 1.0 / graph.csr.node_count().max(1) as f32;
        let run = || pagerank::Run {
            start,
            damping,
            spread: damping * start,
            restart: (1.0 - damping) * start,
            tolerance,
        };
        let mut session = pagerank::Session::new(job.runtime(), &graph.csr)?;
        job.watch(session.progress());
        let out = job.measure(|| session.run(run()), |out| &out.report)?;

        let sum: f64 = out.rank.iter().map(|&r| f64::from(r)).sum();
        let ranks = || (0u32..).zip(&out.rank);
        let top = ranks().max_by(|(u, a), (v, b)| a.total_cmp(b).then(v.cmp(u)));
        if let Some((node, rank)) = top {
            let name = graph.functions.as_ref().map_or_else(
                || format!("node {node}"),
                |f| f.names[node as usize].clone(),
            );
            job.say("top", format!("{name} with rank {rank:.3e}"));
            job.figure("top", node);
        }
        job.say("sum", format!("{sum:.6}; last step {:.2e}", out.moved));
        job.say_time();
        job.plan(pagerank::PLAN)?;
        job.figure("sum", sum);
        job.figure("residual", f64::from(out.moved));
        let parameters = oracle::PageRank {
            damping,
            tolerance,
            max_rounds: 1_000,
        };
        job.check(
            "sequential power iteration",
            || oracle::pagerank(&graph.csr, parameters),
            |expected| {
                let pairs = out.rank.iter().zip(expected);
                let distance: f64 = pairs.map(|(a, b)| f64::from((a - b).abs())).sum();
                // Both are within damping / (1 - damping) * tolerance of the fixpoint; the rest is f32's rounding.
                let bound = 2.0 * f64::from(tolerance / (1.0 - damping)) + 1e-5;
                (distance > bound).then(|| {
                    format!("the ranks differ by {distance:.3e} in sum; {bound:.1e} is allowed")
                })
            },
        );
        job.save(1, &out.rank)
    }
}

fn main() -> ExitCode {
    cli::main::<PageRank>()
}
