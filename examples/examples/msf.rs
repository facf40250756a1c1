//! A minimum spanning forest, by Boruvka's algorithm.
//!
//! Each round every component finds its lightest outgoing edge with a 64-bit atomic minimum of weight and edge packed
//! together, hooks onto the other end, and pointer jumping renames the merged components. Edges count in both
//! directions.
//!
//! `cargo run --release -p vyre-examples --example msf -- --graph grid:300x300 --check`

use std::process::ExitCode;
use vyre::prelude::*;
use vyre_examples::cli::{self, Example, Failure, Job, Shared, count, first_difference};
use vyre_examples::{graph::GraphSpec, oracle};

/// No edge leaves the component.
const NONE: u64 = u64::MAX;

/// Components choose, hook and jump.
#[wave_graph]
#[pass(id = "msf.boruvka", unproven)]
pub mod msf {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[topology(per = edge(graph))]
        weight: u32,
        #[output(per = edge(graph))]
        chosen: u32,
        /// The node that names a node's component.
        #[scratch(per = node)]
        label: u32,
        #[scratch(per = node)]
        parent: u32,
        #[scratch(per = node)]
        best: u64,
        #[reduce(or)]
        merged: bool,
        #[reduce(sum)]
        total: u64,
    }

    /// Orders edges by weight; no two are equal.
    #[device]
    fn key(weight: u32, edge: u32) -> u64 {
        u64::from(weight) << 32 | u64::from(edge)
    }

    #[wave(nodes)]
    fn init(v: Node, label: &mut u32, parent: &mut u32) {
        *label = v;
        *parent = v;
    }

    #[fixpoint(after(init), until(!merged), max_rounds = 4_294_967_295)]
    mod rounds {
        #[wave(nodes)]
        fn clear(_v: Node, best: &mut u64) {
            *best = NONE;
        }

        #[wave(edges(graph), after(clear))]
        fn offer(e: Edge, weight: &Buf<u32>, label: &Buf<u32>, best: &Buf<Atomic<u64>>) {
            let (a, b) = (label[e.src], label[e.dst]);
            if a != b {
                let key = key(weight[e.index], e.index);
                best[a].fetch_min(key);
                best[b].fetch_min(key);
            }
        }

        /// The edge that a component found lightest joins it to the other side.
        #[wave(edges(graph), after(offer))]
        fn hook(
            e: Edge,
            weight: &Buf<u32>,
            label: &Buf<u32>,
            best: &Buf<u64>,
            parent: &Buf<Atomic<u32>>,
            chosen: &Buf<Atomic<u32>>,
            merged: &Reduce<Or<bool>>,
        ) {
            let key = key(weight[e.index], e.index);
            let (a, b) = (label[e.src], label[e.dst]);
            for (this, other) in [(a, b), (b, a)] {
                if a != b && best[this] == key {
                    parent[this].store(other);
                    chosen[e.index].store(1);
                    merged.or(true);
                }
            }
        }

        /// Two components that chose the same edge would point to each other: the smaller one stays a root.
        #[wave(nodes, after(hook))]
        fn unlink(v: Node, parent: &Buf<Atomic<u32>>) {
            let up = parent[v].load();
            if v < up && parent[up].load() == v {
                parent[v].store(v);
            }
        }

        #[wave(nodes, after(unlink))]
        fn jump(v: Node, parent: &Buf<u32>, label: &mut u32) {
            let mut root = v;
            while parent[root] != root {
                root = parent[root];
            }
            *label = root;
        }
    }

    #[wave(edges(graph), after(rounds))]
    fn weigh(_e: Edge, weight: &u32, chosen: &u32, total: &Reduce<Sum<u64>>) {
        if *chosen == 1 {
            total.add(u64::from(*weight));
        }
    }
}

/// A minimum spanning forest, by merging components along their lightest edges
///
/// Weights come from the file (.el with a third column, .mtx, .gr, .csr); other graphs get hashed weights from 1 to 64.
#[derive(clap::Parser)]
#[command(name = "msf")]
pub struct Msf {
    #[command(flatten)]
    shared: Shared,
}

impl Example for Msf {
    const NAME: &'static str = "msf";
    const IGNORES: &'static [&'static str] = &["--source"];

    fn shared(&self) -> &Shared {
        &self.shared
    }

    fn default_graph(&self) -> Result<Option<GraphSpec>, Failure> {
        Ok(Some(GraphSpec::Grid {
            width: 300,
            height: 300,
        }))
    }

    fn run(&self, job: &mut Job<'_>) -> Result<(), Failure> {
        let graph = job.graph();
        let weight = graph.unsigned_weights()?;
        let topology = msf::Topology {
            graph: &graph.csr,
            weight: &weight,
        };
        let mut session = msf::Session::new(job.runtime(), topology)?;
        job.watch(session.progress());
        let out = job.measure(|| session.run(msf::Run {}), |out| &out.report)?;

        let edges: u32 = out.chosen.iter().sum();
        job.say("edges chosen", count(edges));
        job.say("total weight", count(out.total));
        job.say_time();
        job.plan(msf::PLAN)?;
        job.figure("edges_chosen", edges);
        job.figure("total", out.total);
        job.check(
            "Kruskal's algorithm",
            || oracle::spanning_forest(&graph.csr, &weight),
            |expected| first_difference("edge", &out.chosen, expected),
        );
        job.save(1, &out.chosen)
    }
}

fn main() -> ExitCode {
    cli::main::<Msf>()
}
