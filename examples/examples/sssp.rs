//! Single-source shortest paths, by relaxing the edges out of whatever came closer until nothing does.
//!
//! `cargo run --release -p vyre-examples --example sssp -- --graph file:roads.gr --source 0 --check`

use std::process::ExitCode;
use vyre::prelude::*;
use vyre_examples::cli::{self, Example, Failure, Job, Shared, count, first_difference};
use vyre_examples::graph::{GraphSpec, Weights};
use vyre_examples::oracle;

/// Distance of a node without a path; paths of this length and longer count as none.
const UNREACHED: u32 = u32::MAX;

/// Nodes that came closer relax the edges out of them.
#[wave_graph]
#[pass(id = "sssp.relax", unproven)]
pub mod sssp {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[topology(per = edge(graph))]
        weight: u32,
        #[frontier(unique)]
        front: Frontier,
        #[output(per = node)]
        dist: u32,
        source: u32,
    }

    #[wave(nodes)]
    fn init(v: Node, source: u32, dist: &mut u32, front: &Push) {
        *dist = UNREACHED;
        if v == source {
            *dist = 0;
            front.push(v);
        }
    }

    #[fixpoint(after(init), until(front.is_empty()), max_rounds = 4_294_967_295)]
    mod relaxation {
        #[wave(edges(graph, from = front))]
        fn relax(e: Edge, weight: &Buf<u32>, dist: &Buf<Atomic<u32>>, front: &Push) {
            let far = dist[e.src].load().saturating_add(weight[e.index]);
            if far < dist[e.dst].fetch_min(far) {
                front.push(e.dst);
            }
        }
    }
}

/// Shortest paths from a source, by relaxing edges until no distance shrinks
///
/// Weights come from the file (.el with a third column, .mtx, .gr, .csr); other graphs get hashed weights from 1 to 64.
#[derive(clap::Parser)]
#[command(name = "sssp")]
pub struct Sssp {
    #[command(flatten)]
    shared: Shared,
}

impl Example for Sssp {
    const NAME: &'static str = "sssp";

    fn shared(&self) -> &Shared {
        &self.shared
    }

    fn default_graph(&self) -> Result<Option<GraphSpec>, Failure> {
        Ok(Some(GraphSpec::Grid {
            width: 500,
            height: 500,
        }))
    }

    fn run(&self, job: &mut Job<'_>) -> Result<(), Failure> {
        let graph = job.graph();
        let source = job.source()?;
        let weight = graph.unsigned_weights()?;
        let topology = sssp::Topology {
            graph: &graph.csr,
            weight: &weight,
        };
        let mut session = sssp::Session::new(job.runtime(), topology)?;
        job.watch(session.progress());
        let out = job.measure(|| session.run(sssp::Run { source }), |out| &out.report)?;

        let reached = out.dist.iter().filter(|&&d| d != UNREACHED).count();
        let farthest = out.dist.iter().copied().filter(|&d| d != UNREACHED).max();
        let farthest = farthest.unwrap_or(0);
        let weights = match graph.weights {
            None => "hashed weights 1 to 64",
            Some(Weights::Unsigned(_) | Weights::Signed(_)) => "the file's weights",
        };
        let nodes = count(graph.csr.node_count());
        job.say(
            "reached",
            format!("{} of {nodes} nodes from node {source}", count(reached)),
        );
        job.say("farthest", format!("{} ({weights})", count(farthest)));
        job.say_time();
        job.plan(sssp::PLAN)?;
        job.figure("source", source);
        job.figure("reached", reached);
        job.figure("farthest", farthest);
        job.check(
            "Dijkstra's algorithm with a binary heap",
            || oracle::dijkstra(&graph.csr, &weight, source),
            |expected| first_difference("distance", &out.dist, expected),
        );
        job.save(1, &out.dist)
    }
}

fn main() -> ExitCode {
    cli::main::<Sssp>()
}
