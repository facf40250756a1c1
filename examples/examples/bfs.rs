//! Breadth-first search: how many edges away each node is from a source.
//!
//! `cargo run --release --example bfs -- --graph grid:1000x1000 --source 0 --check`

use std::process::ExitCode;
use vyre_cuda::prelude::*;
use vyre_examples::cli::{self, Example, Failure, Job, Shared, count, first_difference};
use vyre_examples::{graph::GraphSpec, oracle};

const UNSEEN: u32 = u32::MAX;

/// One round a level.
#[wave_graph]
#[pass(id = "bfs.levels", unproven)]
pub mod bfs {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[frontier]
        front: Frontier,
        #[output(per = node)]
        dist: u32,
        source: u32,
    }

    #[wave(nodes)]
    fn init(v: Node, source: u32, dist: &mut u32, front: &Push) {
        *dist = UNSEEN;
        if v == source {
            *dist = 0;
            front.push(v);
        }
    }

    #[fixpoint(after(init), until(front.is_empty()), max_rounds = 4_294_967_295)]
    mod levels {
        #[wave(edges(graph, from = front))]
        fn relax(e: Edge, round: Round, dist: &Buf<Atomic<u32>>, front: &Push) {
            if dist[e.dst].compare_exchange(UNSEEN, round + 1) {
                front.push(e.dst);
            }
        }
    }
}

/// How many edges away from a source each node is
#[derive(clap::Parser)]
#[command(name = "bfs")]
pub struct Bfs {
    #[command(flatten)]
    shared: Shared,
}

impl Example for Bfs {
    const NAME: &'static str = "bfs";

    fn shared(&self) -> &Shared {
        &self.shared
    }

    fn default_graph(&self) -> Result<Option<GraphSpec>, Failure> {
        Ok(Some(GraphSpec::Grid {
            width: 1000,
            height: 1000,
        }))
    }

    fn run(&self, job: &mut Job<'_>) -> Result<(), Failure> {
        let graph = job.graph();
        let source = job.source()?;
        let mut session = bfs::Session::new(job.runtime(), &graph.csr)?;
        let out = job.measure(|| session.run(bfs::Run { source }), |out| &out.report)?;

        let reached = out.dist.iter().filter(|&&d| d != UNSEEN).count();
        let depth = out.dist.iter().copied().filter(|&d| d != UNSEEN).max();
        let depth = depth.unwrap_or(0);
        let nodes = count(graph.csr.node_count());
        job.say(
            "reached",
            format!(
                "{} of {nodes} nodes from node {source}, depth {}",
                count(reached),
                count(depth)
            ),
        );
        job.say_time();
        job.plan(bfs::PLAN)?;
        job.figure("source", source);
        job.figure("reached", reached);
        job.figure("depth", depth);
        job.check(
            "breadth-first search with a queue",
            || oracle::bfs(&graph.csr, source),
            |expected| first_difference("distance", &out.dist, expected),
        );
        job.save(1, &out.dist)
    }
}

fn main() -> ExitCode {
    cli::main::<Bfs>()
}
