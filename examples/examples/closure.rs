//! Transitive closure: all pairs of nodes with a path from the one to the other, as a relation that grows until no round
//! finds a new pair.
//!
//! `path(x, y)` holds where there is an edge from `x` to `y`, and `path(x, z)` where `path(x, y)` holds and there is an
//! edge from `y` to `z`. A round extends the pairs that the round before has found by the edges that go on from them
//! (semi-naive evaluation).
//!
//! `cargo run --release -p vyre-examples --example closure -- --graph chain:1000 --check`

use std::process::ExitCode;
use vyre::prelude::*;
use vyre_examples::cli::{self, Example, Failure, Job, Shared};
use vyre_examples::relation::{Room, first_difference, found};
use vyre_examples::{graph::GraphSpec, oracle};

/// Edges, and what goes on from them.
#[wave_graph]
#[pass(id = "closure", unproven)]
pub mod closure {
    /// Two nodes.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Pair {
        /// The first one.
        pub from: u32,
        /// The second one.
        pub to: u32,
    }

    pub struct Data {
        #[topology]
        graph: Csr,
        /// From the first node there is a path to the second.
        #[relation(capacity = room, output)]
        path: Relation<Pair>,
        /// Pairs that `path` has room for.
        room: u32,
    }

    #[wave(edges(graph))]
    fn begin(e: Edge, path: &Insert<Pair>) {
        path.insert(Pair {
            from: e.src,
            to: e.dst,
        });
    }

    #[fixpoint(after(begin), until(path.settled()), max_rounds = 4_294_967_294)]
    mod rounds {
        #[wave(items(path, last))]
        fn extend(p: Pair, graph: &Csr, path: &Insert<Pair>) {
            for to in graph.neighbors(p.to) {
                path.insert(Pair { from: p.from, to });
            }
        }
    }
}

/// All pairs of nodes with a path from the one to the other
#[derive(clap::Parser)]
#[command(name = "closure")]
pub struct Closure {
    #[command(flatten)]
    room: Room,
    #[command(flatten)]
    shared: Shared,
}

impl Example for Closure {
    const NAME: &'static str = "closure";
    const IGNORES: &'static [&'static str] = &["--source"];

    fn shared(&self) -> &Shared {
        &self.shared
    }

    fn default_graph(&self) -> Result<Option<GraphSpec>, Failure> {
        Ok(Some(GraphSpec::Chain { nodes: 500 }))
    }

    fn run(&self, job: &mut Job<'_>) -> Result<(), Failure> {
        let graph = job.graph();
        let nodes = graph.csr.node_count() as u64;
        let edges = graph.csr.edge_count() as u64;
        let mut session = closure::Session::new(job.runtime(), &graph.csr)?;
        job.watch(session.progress());
        let run = |room| job.measure(|| session.run(closure::Run { room }), |out| &out.report);
        let (out, room) = self.room.enough(16 * edges, nodes * nodes, run)?;

        let pairs = out.path.len() as u64;
        job.say("found", found(pairs, (nodes, "node"), room));
        job.say_time();
        job.plan(closure::PLAN)?;
        job.figure("pairs", pairs);
        job.figure("room", room);
        let sorted = match self.shared.wants_result() {
            true => out.path.sorted(),
            false => Vec::new(),
        };
        let sorted: Vec<[u32; 2]> = sorted.into_iter().map(|p| [p.from, p.to]).collect();
        job.check(
            "a search from each node",
            || oracle::closure(&graph.csr),
            |expected| first_difference(&sorted, expected),
        );
        job.save(2, sorted.as_flattened())
    }
}

fn main() -> ExitCode {
    cli::main::<Closure>()
}
