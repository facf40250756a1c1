//! k-core peeling: the largest k for which a node is in a part of the graph where every node keeps k edges.
//!
//! Nodes with at most k edges left are peeled away, which takes edges from others, until none is left at k; then k
//! grows. Edges count where they end, so on a graph with both directions this is the usual core number.
//!
//! `cargo run --release -p vyre-examples --example kcore -- --graph rmat:16:8 --check`

use std::process::ExitCode;
use vyre::prelude::*;
use vyre_examples::cli::{self, Example, Failure, Job, Shared, count, first_difference};
use vyre_examples::{graph::GraphSpec, oracle};

/// Core number of a node that is not peeled yet.
const UNPEELED: u32 = u32::MAX;

/// Peels nodes by rising degree.
#[wave_graph(deterministic)]
#[pass(id = "kcore.peel", unproven)]
pub mod kcore {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[frontier]
        front: Frontier,
        #[scratch(per = node)]
        degree: u32,
        #[output(per = node, init = UNPEELED)]
        core: u32,
        #[reduce(count)]
        left: u64,
        /// The level, for the rounds inside, which have rounds of their own.
        #[reduce(max)]
        k: u32,
    }

    #[wave(edges(graph))]
    fn enter(e: Edge, degree: &Buf<Atomic<u32>>) {
        degree[e.dst].fetch_add(1);
    }

    /// A round for each k.
    #[fixpoint(after(enter), until(left == 0), max_rounds = 4_294_967_295)]
    mod levels {
        #[wave(nodes)]
        fn start(
            v: Node,
            round: Round,
            degree: &u32,
            core: &mut u32,
            front: &Push,
            left: &Reduce<Count>,
            k: &Reduce<Max<u32>>,
        ) {
            if *core == UNPEELED {
                if *degree <= round {
                    *core = round;
                    front.push(v);
                    k.max(round);
                } else {
                    left.inc();
                }
            }
        }

        #[fixpoint(after(start), until(front.is_empty()), max_rounds = 4_294_967_295)]
        mod peeling {
            /// A node falls to k once, whoever takes its edge.
            #[wave(edges(graph, from = front))]
            fn peel(
                e: Edge,
                k: u32,
                degree: &Buf<Atomic<u32>>,
                core: &Buf<Atomic<u32>>,
                front: &Push,
            ) {
                if degree[e.dst].fetch_sub(1) == k + 1 {
                    core[e.dst].store(k);
                    front.push(e.dst);
                }
            }
        }
    }
}

/// Core numbers, by peeling nodes of rising degree
#[derive(clap::Parser)]
#[command(name = "kcore")]
pub struct KCore {
    #[command(flatten)]
    shared: Shared,
}

impl Example for KCore {
    const NAME: &'static str = "kcore";
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
        let mut session = kcore::Session::new(job.runtime(), &graph.csr)?;
        job.watch(session.progress());
        let out = job.measure(|| session.run(kcore::Run {}), |out| &out.report)?;

        let deepest = out.core.iter().copied().max().unwrap_or(0);
        let inside = out.core.iter().filter(|&&c| c == deepest).count();
        job.say("deepest core", count(deepest));
        job.say("nodes in it", count(inside));
        job.say_time();
        job.plan(kcore::PLAN)?;
        job.figure("deepest", deepest);
        job.figure("inside", inside);
        job.check(
            "peeling with buckets",
            || oracle::cores(&graph.csr),
            |expected| first_difference("core number", &out.core, expected),
        );
        job.save(1, &out.core)
    }
}

fn main() -> ExitCode {
    cli::main::<KCore>()
}
