//! Connected components: every node ends up with the label of its component's smallest node.
//!
//! Labels form trees, in which every node names itself or a smaller one. Each node first names its smallest neighbour,
//! which costs one edge a node and mostly brings nearly all of the largest component together. The nodes outside of its
//! tree then link all of their edges, each once (Sutton, Ben-Nun, Barak: Optimizing parallel graph connectivity
//! computation via subgraph sampling, 2018). Edges count in both directions; if each of them is there in both, no edge
//! inside that tree is looked at.
//!
//! `cargo run --release -p vyre-examples --example components -- --graph grid:300x300 --check`

use std::process::ExitCode;
use vyre_examples::cli::{self, Example, Failure, Job, Shared, count, first_difference, plural};
use vyre_examples::passes::components;
use vyre_examples::{graph::GraphSpec, oracle};

/// Which nodes hang together, by linking edges to trees
#[derive(clap::Parser)]
#[command(name = "components")]
pub struct Components {
    #[command(flatten)]
    shared: Shared,
}

impl Example for Components {
    const NAME: &'static str = "components";
    const IGNORES: &'static [&'static str] = &["--source"];

    fn shared(&self) -> &Shared {
        &self.shared
    }

    fn default_graph(&self) -> Result<Option<GraphSpec>, Failure> {
        Ok(Some(GraphSpec::Rmat {
            scale: 16,
            edge_factor: 8,
            seed: 1,
        }))
    }

    fn run(&self, job: &mut Job<'_>) -> Result<(), Failure> {
        let graph = job.graph();
        let mut session = components::Session::new(job.runtime(), &graph.csr)?;
        job.watch(session.progress());
        let run = components::Run {
            symmetric: graph.symmetric,
            nodes: graph.csr.node_count() as u32,
        };
        let out = job.measure(|| session.run(run), |out| &out.report)?;

        let mut sizes = vec![0u32; out.label.len()];
        for &label in &out.label {
            sizes[label as usize] += 1;
        }
        let components = sizes.iter().filter(|&&s| s > 0).count();
        let largest = sizes.iter().copied().max().unwrap_or(0);
        let found = format!(
            "{} {}, the largest with {} of {} nodes",
            count(components),
            plural(components as u64, "component"),
            count(largest),
            count(graph.csr.node_count())
        );
        job.say("found", found);
        job.say_time();
        job.plan(components::PLAN)?;
        job.figure("components", components);
        job.figure("largest", largest);
        job.check(
            "union-find",
            || oracle::components(&graph.csr),
            |expected| first_difference("label", &out.label, expected),
        );
        job.save(1, &out.label)
    }
}

fn main() -> ExitCode {
    cli::main::<Components>()
}
