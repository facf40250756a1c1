//! A maximal independent set, by Luby's algorithm: no two chosen nodes share an edge, and no node could be added.
//!
//! Each round every undecided node draws a hashed 64-bit number; who draws more than all undecided neighbours is
//! chosen, and the neighbours are out. Edges count in both directions; a node with an edge to itself is never chosen.
//!
//! `cargo run --release -p vyre-examples --example mis -- --graph rmat:16:8 --check`

use std::process::ExitCode;
use vyre::prelude::*;
use vyre_examples::cli::{self, Example, Failure, Job, Shared, count, first_difference};
use vyre_examples::{graph::GraphSpec, oracle};

/// What is known about a node.
pub const UNDECIDED: u32 = 0;
/// See [`UNDECIDED`].
pub const CHOSEN: u32 = 1;
/// See [`UNDECIDED`].
pub const OUT: u32 = 2;

/// Draws, compares, chooses.
#[wave_graph]
#[pass(id = "mis.luby", unproven)]
pub mod mis {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node)]
        state: u32,
        #[scratch(per = node)]
        best: u64,
        #[reduce(count)]
        undecided: u64,
        seed: u32,
    }

    /// No two nodes draw the same: the node itself is in the low half.
    #[device]
    fn draw(v: u32, round: u32, seed: u32) -> u64 {
        let mut h = (u64::from(round) << 32 | u64::from(v)) ^ u64::from(seed).rotate_left(17);
        h = (h ^ h >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
        h = (h ^ h >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
        (h & 0xffff_ffff_0000_0000) | u64::from(v)
    }

    #[fixpoint(until(undecided == 0), max_rounds = 4_294_967_295)]
    mod rounds {
        #[wave(nodes)]
        fn clear(_v: Node, best: &mut u64) {
            *best = 0;
        }

        /// Both ends learn what the other drew; a node with an edge to itself is beaten by it.
        #[wave(edges(graph), after(clear))]
        fn compare(e: Edge, round: Round, seed: u32, state: &Buf<u32>, best: &Buf<Atomic<u64>>) {
            if state[e.src] == UNDECIDED && state[e.dst] == UNDECIDED {
                if e.src == e.dst {
                    best[e.src].fetch_max(u64::MAX);
                } else {
                    best[e.dst].fetch_max(draw(e.src, round, seed));
                    best[e.src].fetch_max(draw(e.dst, round, seed));
                }
            }
        }

        #[wave(nodes, after(compare))]
        fn choose(v: Node, round: Round, seed: u32, state: &mut u32, best: &u64) {
            if *state == UNDECIDED {
                if *best == u64::MAX {
                    *state = OUT;
                } else if draw(v, round, seed) > *best {
                    *state = CHOSEN;
                }
            }
        }

        #[wave(edges(graph), after(choose))]
        fn exclude(e: Edge, state: &Buf<Atomic<u32>>) {
            if state[e.src].load() == CHOSEN {
                state[e.dst].compare_exchange(UNDECIDED, OUT);
            }
            if state[e.dst].load() == CHOSEN {
                state[e.src].compare_exchange(UNDECIDED, OUT);
            }
        }

        #[wave(nodes, after(exclude))]
        fn remain(_v: Node, state: &u32, undecided: &Reduce<Count>) {
            if *state == UNDECIDED {
                undecided.inc();
            }
        }
    }
}

/// A maximal independent set, by drawing lots
#[derive(clap::Parser)]
#[command(name = "mis")]
pub struct Mis {
    #[command(flatten)]
    shared: Shared,
    /// Seed of the draws
    #[arg(long, default_value_t = 1, value_parser = cli::number::<u32>(0..=u32::MAX))]
    seed: u32,
}

impl Example for Mis {
    const NAME: &'static str = "mis";
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
        let mut session = mis::Session::new(job.runtime(), &graph.csr)?;
        let seed = self.seed;
        job.watch(session.progress());
        let out = job.measure(|| session.run(mis::Run { seed }), |out| &out.report)?;

        let chosen: Vec<u32> = out.state.iter().map(|&s| u32::from(s == CHOSEN)).collect();
        let size: u32 = chosen.iter().sum();
        job.say(
            "chosen",
            format!("{} of {} nodes", count(size), count(graph.csr.node_count())),
        );
        job.say_time();
        job.plan(mis::PLAN)?;
        job.figure("chosen", size);
        job.check(
            "Luby's algorithm on one core",
            || oracle::luby(&graph.csr, seed),
            |expected| {
                first_difference("membership", &chosen, expected)
                    .or_else(|| oracle::not_maximal(&graph.csr, &chosen))
            },
        );
        job.save(1, &chosen)
    }
}

fn main() -> ExitCode {
    cli::main::<Mis>()
}
