//! Betweenness centrality, by Brandes' algorithm: how many shortest paths go through each node.
//!
//! From each source a search counts the shortest paths (f64 atomics) and how many edges of such paths leave each node;
//! then the nodes that no path goes on from hand what depends on them back along reversed edges, each node once all its
//! edges have.
//!
//! `cargo run --release -p vyre-examples --example betweenness -- --graph rmat:12:8 --check`

use std::process::ExitCode;
use vyre::prelude::*;
use vyre_examples::cli::{self, Example, Failure, Job, Shared, count};
use vyre_examples::{graph::GraphSpec, oracle};

/// Distance of a node that the search has not reached.
const UNSEEN: u32 = u32::MAX;

/// A search there and back for each source.
#[wave_graph]
#[pass(id = "centrality.betweenness", unproven)]
pub mod betweenness {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[topology(reverse_of = graph)]
        incoming: Csr,
        #[frontier]
        reached: Frontier,
        #[frontier]
        settled: Frontier,
        #[scratch(per = node)]
        dist: u32,
        /// Shortest paths from the source.
        #[scratch(per = node)]
        paths: f64,
        /// Edges of shortest paths out of a node that have not handed back yet.
        #[scratch(per = node)]
        waiting: u32,
        /// What the source's paths to other nodes depend on a node.
        #[scratch(per = node)]
        share: f64,
        #[output(per = node)]
        score: f64,
        #[input(per = count)]
        source: u32,
        count: u32,
    }

    #[fixpoint(until(round + 1 >= count), max_rounds = 4_294_967_295)]
    mod sources {
        #[wave(nodes)]
        fn start(
            v: Node,
            round: Round,
            source: &Buf<u32>,
            dist: &mut u32,
            paths: &mut f64,
            waiting: &mut u32,
            share: &mut f64,
            reached: &Push,
        ) {
            *dist = UNSEEN;
            *paths = 0.0;
            *waiting = 0;
            *share = 0.0;
            if v == source[round] {
                *dist = 0;
                *paths = 1.0;
                reached.push(v);
            }
        }

        #[fixpoint(after(start), until(reached.is_empty()), max_rounds = 4_294_967_294)]
        mod forward {
            #[wave(edges(graph, from = reached))]
            fn discover(e: Edge, round: Round, dist: &Buf<Atomic<u32>>, reached: &Push) {
                if dist[e.dst].compare_exchange(UNSEEN, round + 1) {
                    reached.push(e.dst);
                }
            }

            #[wave(edges(graph, from = reached), after(discover))]
            fn add(
                e: Edge,
                round: Round,
                dist: &Buf<u32>,
                paths: &Buf<Atomic<f64>>,
                waiting: &Buf<Atomic<u32>>,
            ) {
                if dist[e.dst] == round + 1 {
                    paths[e.dst].fetch_add(paths[e.src].load());
                    waiting[e.src].fetch_add(1);
                }
            }
        }

        #[wave(nodes, after(forward))]
        fn turn(v: Node, dist: &u32, paths: &f64, waiting: &u32, settled: &Push) {
            assert!(paths.is_finite(), "more shortest paths than an f64 counts");
            if *dist != UNSEEN && *waiting == 0 {
                settled.push(v);
            }
        }

        #[fixpoint(after(turn), until(settled.is_empty()), max_rounds = 4_294_967_295)]
        mod back {
            #[wave(edges(incoming, from = settled))]
            fn hand(
                e: Edge,
                dist: &Buf<u32>,
                paths: &Buf<f64>,
                share: &Buf<Atomic<f64>>,
                waiting: &Buf<Atomic<u32>>,
                settled: &Push,
            ) {
                let (after, before) = (e.src, e.dst);
                if dist[before] != UNSEEN && dist[before] + 1 == dist[after] {
                    let part = (1.0 + share[after].load()) / paths[after];
                    share[before].fetch_add(paths[before] * part);
                    if waiting[before].fetch_sub(1) == 1 {
                        settled.push(before);
                    }
                }
            }
        }

        #[wave(nodes, after(back))]
        fn gather(dist: &u32, share: &f64, score: &mut f64) {
            if *dist != 0 {
                *score += *share;
            }
        }
    }
}

/// How many shortest paths go through each node, by Brandes' algorithm
///
/// Paths from a sample of the nodes are counted, in the edges' direction.
#[derive(clap::Parser)]
#[command(name = "betweenness")]
pub struct Betweenness {
    /// Start from N nodes, spread evenly, the first one by --source
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = cli::number::<u32>(1..=u32::MAX))]
    sources: u32,
    #[command(flatten)]
    shared: Shared,
}

impl Example for Betweenness {
    const NAME: &'static str = "betweenness";

    fn shared(&self) -> &Shared {
        &self.shared
    }

    fn default_graph(&self) -> Result<Option<GraphSpec>, Failure> {
        Ok(Some(GraphSpec::Rmat {
            scale: 12,
            edge_factor: 8,
            seed: 1,
        }))
    }

    fn run(&self, job: &mut Job<'_>) -> Result<(), Failure> {
        let graph = job.graph();
        let first = u64::from(job.source()?);
        let nodes = graph.csr.node_count() as u64;
        let sources = u64::from(self.sources).min(nodes);
        let at = |i: usize| ((first + i as u64 * nodes / sources) % nodes) as u32;
        let source = cli::elements(format!("--sources {sources}"), sources as usize, at)?;
        let run = betweenness::Run {
            source: &source,
            count: sources as u32,
        };
        let mut session = betweenness::Session::new(job.runtime(), &graph.csr)?;
        job.watch(session.progress());
        let out = job.measure(|| session.run(run), |out| &out.report)?;

        let (top, most) =
            (0u32..).zip(&out.score).fold(
                (0, 0.0),
                |best, (v, &s)| {
                    if s > best.1 { (v, s) } else { best }
                },
            );
        job.say(
            "sources",
            format!("{} of {} nodes", count(sources), count(nodes)),
        );
        job.say(
            "top node",
            format!("{top}, with {most:.1} paths through it"),
        );
        job.say_time();
        job.plan(betweenness::PLAN)?;
        job.figure("sources", sources);
        job.figure("top", top);
        job.figure("most", most);
        job.check(
            "Brandes' algorithm on one core",
            || oracle::betweenness(&graph.csr, &source),
            |expected| oracle::not_close(&out.score, expected, 1e-9),
        );
        job.save(1, &out.score)
    }
}

fn main() -> ExitCode {
    cli::main::<Betweenness>()
}
