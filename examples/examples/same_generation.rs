//! Same generation: all pairs of nodes to which paths of one length lead from one node, as a relation that grows until no
//! round finds a new pair.
//!
//! `sg(x, y)` holds for two nodes to which edges lead from one node, and where `sg(a, b)` holds and edges lead from `a`
//! to `x` and from `b` to `y`. A round goes on from the pairs that the round before has found.
//!
//! With `--halves` the rule is cut in two: `half(x, b)` holds where `sg(a, b)` does and an edge leads from `a` to `x`, and
//! `sg(x, y)` where `half(x, b)` does and an edge leads from `b` to `y`. That takes room for one more relation and twice as
//! many rounds. Where nodes have many children it inserts far less: without, a pair inserts the product of the children of
//! both nodes, most of which others have found before.
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

/// The same in half steps.
#[wave_graph]
#[pass(id = "same_generation_by_halves", unproven)]
pub mod by_halves {
    pub struct Data {
        #[topology]
        graph: Csr,
        /// Both nodes are of the same generation.
        #[relation(capacity = room, output)]
        sg: Relation<(u32, u32)>,
        /// The first node is a child of one that is of the same generation as the second one.
        #[relation(capacity = room)]
        half: Relation<(u32, u32)>,
        /// Pairs that each relation has room for.
        room: u32,
    }

    #[wave(edges(graph))]
    fn siblings(e: Edge, graph: &Csr, sg: &Insert<(u32, u32)>) {
        for y in graph.neighbors(e.src) {
            if y != e.dst {
                sg.insert((e.dst, y));
            }
        }
    }

    #[fixpoint(
        after(siblings),
        until(sg.settled() && half.settled()),
        max_rounds = 4_294_967_294
    )]
    mod rounds {
        #[wave(items(sg, last))]
        fn first(p: (u32, u32), graph: &Csr, half: &Insert<(u32, u32)>) {
            for x in graph.neighbors(p.0) {
                half.insert((x, p.1));
            }
        }

        #[wave(items(half, last))]
        fn second(p: (u32, u32), graph: &Csr, sg: &Insert<(u32, u32)>) {
            for y in graph.neighbors(p.1) {
                sg.insert((p.0, y));
            }
        }
    }
}

/// All pairs of nodes of the same generation
#[derive(clap::Parser)]
#[command(name = "same_generation")]
pub struct SameGeneration {
    /// Go from a pair to the children of one node at a time
    #[arg(long)]
    halves: bool,
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
        let (first, most) = (16 * edges, nodes * nodes);
        let sorts = self.shared.wants_result();
        let (pairs, sorted, room) = match self.halves {
            false => {
                let mut session = same_generation::Session::new(job.runtime(), &graph.csr)?;
                job.watch(session.progress());
                let run = |room| {
                    let run = same_generation::Run { room };
                    job.measure(|| session.run(run), |out| &out.report)
                };
                let (out, room) = self.room.enough(first, most, run)?;
                let sorted: Vec<[u32; 2]> = match sorts {
                    true => out.sg.sorted().iter().map(|p| [p.x, p.y]).collect(),
                    false => Vec::new(),
                };
                (out.sg.len() as u64, sorted, room)
            }
            true => {
                let mut session = by_halves::Session::new(job.runtime(), &graph.csr)?;
                job.watch(session.progress());
                let run = |room| {
                    let run = by_halves::Run { room };
                    job.measure(|| session.run(run), |out| &out.report)
                };
                let (out, room) = self.room.enough(first, most, run)?;
                let sorted: Vec<[u32; 2]> = match sorts {
                    true => out.sg.sorted().iter().map(|p| [p.0, p.1]).collect(),
                    false => Vec::new(),
                };
                (out.sg.len() as u64, sorted, room)
            }
        };

        job.say("found", found(pairs, (nodes, "node"), room));
        job.say_time();
        job.plan(match self.halves {
            false => same_generation::PLAN,
            true => by_halves::PLAN,
        })?;
        job.figure("pairs", pairs);
        job.figure("room", room);
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
