//! y = a * x + y over vectors: the smallest pass, one kernel over a range.
//!
//! `cargo run --release -p vyre-examples --example saxpy -- --len 1000000 --check`

use std::process::ExitCode;
use vyre_examples::cli::{self, Example, Failure, Job, Shared, count, first_difference};
use vyre_examples::graph::GraphSpec;
use vyre_examples::passes::saxpy;

/// y = a * x + y over vectors
#[derive(clap::Parser)]
#[command(name = "saxpy")]
pub struct Saxpy {
    /// Elements of the vectors [default: 4194304, or the nodes of --graph]
    #[arg(long, value_name = "N", conflicts_with = "graph", value_parser = cli::number::<u32>(0..=u32::MAX))]
    len: Option<u32>,
    /// The factor
    #[arg(
        long,
        value_name = "A",
        default_value_t = 2.0,
        allow_negative_numbers = true,
        value_parser = cli::real::<f32>
    )]
    a: f32,
    #[command(flatten)]
    shared: Shared,
}

impl Example for Saxpy {
    const NAME: &'static str = "saxpy";
    const IGNORES: &'static [&'static str] = &["--source"];

    fn shared(&self) -> &Shared {
        &self.shared
    }

    fn default_graph(&self) -> Result<Option<GraphSpec>, Failure> {
        Ok(None)
    }

    fn run(&self, job: &mut Job<'_>) -> Result<(), Failure> {
        const DEFAULT_LEN: usize = 1 << 22;
        let of_graph = job.spec().map(|_| job.graph().csr.node_count());
        let len = self.len.map(|n| n as usize).or(of_graph);
        let len = len.unwrap_or(DEFAULT_LEN);
        job.set_sizes(len, 0);
        let option = format!("--len {len}");
        let vectors = 3 + u64::from(self.shared.check);
        cli::room(&option, vectors * 4 * len as u64)?;
        // Small whole numbers, so that the sum below is exact.
        let x = cli::elements(&option, len, |i| (i % 1000) as f32)?;
        let before = cli::elements(&option, len, |i| (i % 77) as f32)?;
        let mut y = cli::elements(&option, len, |_| 0.0)?;
        let runtime = job.runtime().clone();
        job.measure(
            || {
                y.clone_from(&before);
                saxpy::run(&runtime, self.a, &x, &mut y)
            },
            |report| report,
        )?;

        let sum: f64 = y.iter().map(|&y| f64::from(y)).sum();
        job.say("computed", format!("{} elements, sum {sum}", count(len)));
        job.say_time();
        job.plan(saxpy::PLAN)?;
        job.figure("sum", sum);
        let a = self.a;
        job.check(
            "a sequential loop",
            || {
                x.iter()
                    .zip(&before)
                    .map(|(x, y)| a * x + y)
                    .collect::<Vec<f32>>()
            },
            |expected| first_difference("y", &y, expected),
        );
        job.save(1, &y)
    }
}

fn main() -> ExitCode {
    cli::main::<Saxpy>()
}
