//! Same generation: all pairs of nodes to which paths of one length lead from one node, as a relation that grows until no
//! round finds a new pair.
//!
//! `sg(x, y)` holds for two nodes to which edges lead from one node, and where `sg(a, b)` holds and edges lead from `a`
//! to `x` and from `b` to `y`. A round goes on from the pairs that the round before has found.
//!
//! `cargo run --release -p vyre-examples --example same_generation -- --graph grid:40x40 --check`

use std::process::ExitCode;
use vyre::prelude::*;
use vyre_examples::cli::{self, Example, Failure, Job, Shared};
use vyre_examples::relation::{Room, first_difference, found};
use vyre_examples::{graph::GraphSpec, oracle};

/// Children of one node, and children of two nodes of the same generation.
#[wave_graph]
#[pass(id = "same_generation", unproven)]
pub mod same_generation {
    /// Two nodes.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Pair {
        /// The first one.
        pub x: u32,
        /// The second one.
        pub y: u32,
    }

    pub struct Data {
        #[topology]
        graph: Csr,
        /// Both nodes are of the same generation.
        #[relation(capacity = room, output)]
        sg: Relation<Pair>,
        /// Pairs that `sg` has room for.
        room: u32,
    }

    #[wave(edges(graph))]
    fn siblings(e: Edge, graph: &Csr, sg: &Insert<Pair>) {
        for y in graph.neighbors(e.src) {
            if y != e.dst {
                sg.insert(Pair { x: e.dst, y });
            }
        }
    }

    #[fixpoint(after(siblings), until(sg.settled()), max_rounds = 4_294_967_294)]
    mod rounds {
        #[wave(items(sg, last))]
        fn children(p: Pair, graph: &Csr, sg: &Insert<Pair>) {
            for x in graph.neighbors(p.x) {
                for y in graph.neighbors(p.y) {
                    sg.insert(Pair { x, y });
                }
            }
        }
    }
}

/// All pairs of nodes of the same generation
#[derive(clap::Parser)]
#[command(name = "same_generation")]
pub struct SameGeneration {
    #[command(flatten)]
    room: Room,
    #[command(flatten)]
    shared: Shared,
}

impl Example for SameGeneration {
    const NAME: &'static str = "same_generation";
    const IGNORES: &'static [&'static str] = &["--source"];

    fn shared(&self) -> &Shared {
        &self.shared
    }

    fn default_graph(&self) -> Result<Option<GraphSpec>, Failure> {
        Ok(Some(GraphSpec::Grid {
            width: 20,
            height: 20,
        }))
    }

    fn run(&self, job: &mut Job<'_>) -> Result<(), Failure> {
        let graph = job.graph();
        let nodes = graph.csr.node_count() as u64;
        let edges = graph.csr.edge_count() as u64;
        let mut session = same_generation::Session::new(job.runtime(), &graph.csr)?;
        job.watch(session.progress());
        let run = |room| {
            job.measure(
                || session.run(same_generation::Run { room }),
                |out| &out.report,
            )
        };
        let (out, room) = self.room.enough(16 * edges, nodes * nodes, run)?;

        let pairs = out.sg.len() as u64;
        job.say("found", found(pairs, (nodes, "node"), room));
        job.say_time();
        job.plan(same_generation::PLAN)?;
        job.figure("pairs", pairs);
        job.figure("room", room);
        let sorted = match self.shared.wants_result() {
            true => out.sg.sorted(),
            false => Vec::new(),
        };
        let sorted: Vec<[u32; 2]> = sorted.into_iter().map(|p| [p.x, p.y]).collect();
        job.check(
            "a search over pairs",
            || oracle::same_generation(&graph.csr),
            |expected| first_difference(&sorted, expected),
        );
        job.save(2, sorted.as_flattened())
    }
}

fn main() -> ExitCode {
    cli::main::<SameGeneration>()
}
