//! Connected components: every node ends up with the label of its component's smallest node.
//!
//! Labels form trees, in which every node names itself or a smaller one. Each node first names its smallest neighbour, which
//! costs one edge a node and mostly brings nearly all of the largest component together. The nodes outside of its tree then link
//! all of their edges, each once (Sutton, Ben-Nun, Barak: Optimizing parallel graph connectivity computation via subgraph
//! sampling, 2018). Edges count in both directions; if each of them is there in both, no edge inside that tree is looked at.
//!
//! `cargo run --release --example components -- --graph grid:300x300 --check`

use std::process::ExitCode;
use vyre_cuda::prelude::*;
use vyre_examples::cli::{self, Example, Failure, Job, Shared, count, first_difference, plural};
use vyre_examples::{graph::GraphSpec, oracle};

/// Nodes whose trees are compared to find that of the largest component.
const SAMPLES: u32 = 1024;
/// No tree.
const NONE: u32 = u32::MAX;

/// Links edges to trees, and flattens them.
#[wave_graph]
#[pass(id = "components.link", unproven)]
pub mod components {
    pub struct Data {
        #[topology]
        graph: Csr,
        /// Whether every edge also leads back.
        symmetric: bool,
        #[output(per = node)]
        label: u32,
        /// The most edges of a sampled node, and below them its tree.
        #[reduce(max)]
        largest: u64,
        #[frontier(capacity = node)]
        outside: Frontier,
        nodes: u32,
    }

    /// Labels v by the node that its labels lead to; the label shrinks on the way, so that other walks get shorter.
    #[device]
    fn find(label: &Buf<Atomic<u32>>, v: u32) {
        let mut root = label[v].load();
        loop {
            let next = label[root].load();
            if next == root {
                break;
            }
            label[v].store(next);
            root = next;
        }
    }

    #[wave(nodes)]
    fn init(v: Node, graph: &Csr, label: &mut u32) {
        *label = v;
        if graph.edges(v).start < graph.edges(v).end {
            *label = v.min(graph.target(graph.edges(v).start));
        }
    }

    #[wave(nodes, after(init))]
    fn flatten(v: Node, label: &Buf<Atomic<u32>>) {
        find(label, v);
    }

    #[wave(range(SAMPLES), after(flatten))]
    fn sample(
        i: Index,
        graph: &Csr,
        symmetric: bool,
        label: &Buf<u32>,
        largest: &Reduce<Max<u64>>,
    ) {
        let v = i * (label.len() / SAMPLES);
        if v < label.len() {
            let tree = if symmetric { label[v] } else { NONE };
            largest.max(u64::from(graph.degree(v)) << 32 | u64::from(tree));
        }
    }

    #[wave(nodes, after(sample))]
    fn choose(v: Node, graph: &Csr, label: &u32, largest: u64, outside: &Push) {
        if *label != largest as u32 && graph.edges(v).start < graph.edges(v).end {
            outside.push(v);
        }
    }

    /// The larger end learns the smaller one; what it was told before is linked with that in its place.
    #[wave(edges(graph, from = outside), after(choose))]
    fn link(e: Edge, label: &Buf<Atomic<u32>>) {
        let (mut a, mut b) = (e.src, e.dst);
        while a != b {
            let (low, high) = (a.min(b), a.max(b));
            a = label[high].fetch_min(low);
            if a == high {
                break;
            }
            b = low;
        }
    }

    #[wave(nodes, after(link))]
    fn finish(v: Node, label: &Buf<Atomic<u32>>) {
        find(label, v);
    }
}

/// Which nodes hang together, by linking edges to trees
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
