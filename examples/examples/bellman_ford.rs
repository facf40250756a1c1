//! Shortest paths with negative weights, by the Bellman-Ford algorithm: i32 weights, i64 distances.
//!
//! A node whose distance still shrinks after as many rounds as there are nodes lies behind a cycle of negative length.
//! Signed weights come from the file; other graphs get weights that are negative in places, without a negative cycle.
//!
//! `cargo run --release -p vyre-examples --example bellman_ford -- --graph grid:100x100 --check`

use std::process::ExitCode;
use vyre::prelude::*;
use vyre_examples::cli::{self, Example, Failure, Job, Shared, count, first_difference};
use vyre_examples::graph::{Graph, Weights, hashed_weights};
use vyre_examples::{graph::GraphSpec, oracle};

/// Distance of a node without a path.
pub const UNREACHED: i64 = i64::MAX;

/// Nodes that came closer relax the edges out of them.
#[wave_graph]
#[pass(id = "sssp.bellman_ford", unproven)]
pub mod bellman_ford {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[topology(per = edge(graph))]
        weight: i32,
        #[frontier(unique)]
        front: Frontier,
        #[output(per = node, init = UNREACHED)]
        dist: i64,
        /// Some distance shrank in the last round.
        #[reduce(or)]
        shrank: bool,
        source: u32,
        nodes: u32,
    }

    #[wave(once)]
    fn start(source: u32, dist: &Buf<Atomic<i64>>, front: &Push) {
        dist[source].store(0);
        front.push(source);
    }

    #[fixpoint(after(start), until(front.is_empty() || round >= nodes), max_rounds = 4_294_967_295)]
    mod rounds {
        #[wave(edges(graph, from = front))]
        fn relax(
            e: Edge,
            weight: &Buf<i32>,
            dist: &Buf<Atomic<i64>>,
            front: &Push,
            shrank: &Reduce<Or<bool>>,
        ) {
            let far = dist[e.src].load() + i64::from(weight[e.index]);
            if far < dist[e.dst].fetch_min(far) {
                front.push(e.dst);
                shrank.or(true);
            }
        }
    }
}

/// Shortest paths with negative weights
#[derive(clap::Parser)]
#[command(name = "bellman_ford")]
pub struct BellmanFord {
    #[command(flatten)]
    shared: Shared,
    /// Make one edge out of the source so light that a cycle through it has a negative length
    #[arg(long)]
    negative_cycle: bool,
}

impl BellmanFord {
    fn weights(&self, graph: &Graph, source: u32) -> Vec<i32> {
        let csr = &graph.csr;
        let mut weights = match &graph.weights {
            Some(Weights::Signed(w)) => w.clone(),
            Some(Weights::Unsigned(w)) => w.iter().map(|&w| w.min(1 << 30) as i32).collect(),
            None => {
                // A height for each node: what an edge climbs it costs more, so that no cycle gets shorter.
                let height = |v: u32| (v.wrapping_mul(0x9e37_79b9) >> 26) as i32;
                let base = hashed_weights(csr);
                let ends = (0..csr.node_count() as u32)
                    .flat_map(|v| csr.neighbors(v).iter().map(move |t| (v, t)));
                ends.zip(base)
                    .map(|((v, t), w)| w as i32 + height(t) - height(v))
                    .collect()
            }
        };
        if self.negative_cycle
            && let Some(edge) = csr.edges(source).iter().next()
        {
            weights[edge as usize] = -1_000_000;
        }
        weights
    }
}

impl Example for BellmanFord {
    const NAME: &'static str = "bellman_ford";

    fn shared(&self) -> &Shared {
        &self.shared
    }

    fn default_graph(&self) -> Result<Option<GraphSpec>, Failure> {
        Ok(Some(GraphSpec::Grid {
            width: 100,
            height: 100,
        }))
    }

    fn run(&self, job: &mut Job<'_>) -> Result<(), Failure> {
        let graph = job.graph();
        let source = job.source()?;
        let nodes = graph.csr.node_count() as u32;
        let weight = self.weights(&graph, source);
        let topology = bellman_ford::Topology {
            graph: &graph.csr,
            weight: &weight,
        };
        let mut session = bellman_ford::Session::new(job.runtime(), topology)?;
        let run = bellman_ford::Run { source, nodes };
        job.watch(session.progress());
        let out = job.measure(|| session.run(run), |out| &out.report)?;

        let cycle = out.shrank;
        let reached = out.dist.iter().filter(|&&d| d != UNREACHED).count();
        job.say(
            "reached",
            format!(
                "{} of {} nodes from node {source}",
                count(reached),
                count(nodes)
            ),
        );
        let found = if cycle {
            "a negative one can be reached"
        } else {
            "none is negative"
        };
        job.say("cycles", found);
        job.say_time();
        job.plan(bellman_ford::PLAN)?;
        job.figure("source", source);
        job.figure("reached", reached);
        job.figure("negative_cycle", cycle);
        job.check(
            "the Bellman-Ford algorithm on one core",
            || oracle::bellman_ford(&graph.csr, &weight, source),
            |expected| match (cycle, expected) {
                (true, None) => None,
                (false, Some(expected)) => first_difference("distance", &out.dist, expected),
                (found, _) => Some(format!("negative cycle: {found}, expected {}", !found)),
            },
        );
        job.save(1, &out.dist)
    }
}

fn main() -> ExitCode {
    cli::main::<BellmanFord>()
}
