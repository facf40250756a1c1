//! Connected components: every node ends up with the label of its component's smallest node.
//!
//! Label propagation with shortcuts: labels cross edges, then every node jumps to the end of its chain of labels, so a
//! path of n nodes takes about log n rounds rather than n. Edges count in both directions.
//!
//! `cargo run --release --example components -- --graph grid:300x300 --check`

use std::process::ExitCode;
use vyre_cuda::prelude::*;
use vyre_examples::cli::{self, Example, Failure, Job, Shared, count, first_difference, plural};
use vyre_examples::{graph::GraphSpec, oracle};

/// Labels cross edges and take shortcuts.
#[wave_graph]
#[pass(id = "components.labels", unproven)]
pub mod components {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node)]
        label: u32,
        #[reduce(or)]
        changed: bool,
    }

    #[wave(nodes)]
    fn init(v: Node, label: &mut u32) {
        *label = v;
    }

    #[fixpoint(after(init), until(!changed), max_rounds = 4_294_967_295)]
    mod propagation {
        /// The end with the larger label, and the node that the label names, learn the smaller one.
        #[wave(edges(graph))]
        fn cross(e: Edge, label: &Buf<Atomic<u32>>, changed: &Reduce<Or<bool>>) {
            let a = label[e.src].load();
            let b = label[e.dst].load();
            if a < b {
                label[e.dst].fetch_min(a);
                label[b].fetch_min(a);
                changed.or(true);
            }
            if b < a {
                label[e.src].fetch_min(b);
                label[a].fetch_min(b);
                changed.or(true);
            }
        }

        /// A label never exceeds its node, so the chain ends.
        #[wave(nodes, after(cross))]
        fn shorten(v: Node, label: &Buf<Atomic<u32>>) {
            let mut root = label[v].load();
            let mut next = label[root].load();
            while next != root {
                root = next;
                next = label[root].load();
            }
            label[v].fetch_min(root);
        }
    }
}

/// Which nodes hang together, by label propagation with shortcuts
#[derive(clap::Parser)]
#[command(name = "components")]
pub struct Components {
    #[command(flatten)]
    shared: Shared,
}

impl Example for Components {
    const NAME: &'static str = "components";

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
        let out = job.measure(|| session.run(components::Run {}), |out| &out.report)?;

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
