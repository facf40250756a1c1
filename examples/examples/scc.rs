//! Strongly connected components: nodes that lead to each other. In a program's blocks they are its outermost loops.
//!
//! In each phase every open node learns the least number that leads to it along open edges, numbers being scattered
//! anew. Whoever keeps its own is the root of a component: those of that number which lead to it (Orzan: On distributed
//! verification and verified distribution, 2004). Edges between different numbers are closed, as no component has one.
//!
//! Without arguments it looks at its own executable: `cargo run -p vyre-examples --example scc`.
//! For any other graph: `cargo run --release -p vyre-examples --example scc -- --graph rmat:16:8 --check`.

use std::cmp::Reverse;
use std::process::ExitCode;
use vyre::prelude::*;
use vyre_examples::cli::{self, Example, Failure, Job, Shared, count, first_difference, plural};
use vyre_examples::{graph::GraphSpec, oracle};

/// Numbers forward, roots, roots backward; until all nodes have a component.
#[wave_graph]
#[pass(id = "scc.colours", unproven)]
pub mod scc {
    const NONE: u32 = u32::MAX;

    pub struct Data {
        #[topology]
        graph: Csr,
        #[topology(reverse_of = graph)]
        back: Csr,
        #[scratch(per = node)]
        least: u32,
        /// The least number of the phase before.
        #[scratch(per = node)]
        class: u32,
        #[scratch(per = node, init = NONE)]
        root: u32,
        #[frontier(unique)]
        forward: Frontier,
        #[frontier]
        backward: Frontier,
        #[reduce(or)]
        open: bool,
        #[scratch(per = node, init = NONE)]
        smallest: u32,
        /// The smallest node of each node's component.
        #[output(per = node)]
        component: u32,
    }

    /// Another order of the nodes in each phase. No two have the same number.
    #[device]
    fn scattered(v: u32, phase: u32) -> u32 {
        let mut x = v ^ phase.wrapping_mul(0x9e37_79b9);
        x = (x ^ x >> 16).wrapping_mul(0x7feb_352d);
        x = (x ^ x >> 15).wrapping_mul(0x846c_a68b);
        x ^ x >> 16
    }

    #[fixpoint(until(!open), max_rounds = 4_294_967_295)]
    mod phases {
        #[wave(nodes)]
        fn begin(v: Node, round: Round, root: &u32, least: &mut u32, forward: &Push) {
            if *root == NONE {
                *least = scattered(v, round);
                forward.push(v);
            }
        }

        #[fixpoint(after(begin), until(forward.is_empty()), max_rounds = 4_294_967_295)]
        mod numbers {
            #[wave(edges(graph, from = forward))]
            fn lower(
                e: Edge,
                root: &Buf<u32>,
                class: &Buf<u32>,
                least: &Buf<Atomic<u32>>,
                forward: &Push,
            ) {
                if root[e.dst] == NONE && class[e.dst] == class[e.src] {
                    let number = least[e.src].load();
                    if least[e.dst].fetch_min(number) > number {
                        forward.push(e.dst);
                    }
                }
            }
        }

        #[wave(nodes, after(numbers))]
        fn choose(v: Node, round: Round, least: &u32, root: &mut u32, backward: &Push) {
            if *root == NONE && *least == scattered(v, round) {
                *root = v;
                backward.push(v);
            }
        }

        #[fixpoint(after(choose), until(backward.is_empty()), max_rounds = 4_294_967_295)]
        mod members {
            #[wave(edges(back, from = backward))]
            fn join(
                e: Edge,
                least: &Buf<u32>,
                class: &Buf<u32>,
                root: &Buf<Atomic<u32>>,
                backward: &Push,
            ) {
                if least[e.dst] == least[e.src] && class[e.dst] == class[e.src] {
                    let found = root[e.src].load();
                    if root[e.dst].compare_exchange(NONE, found) {
                        backward.push(e.dst);
                    }
                }
            }
        }

        #[wave(nodes, after(members))]
        fn end(least: &u32, root: &u32, class: &mut u32, open: &Reduce<Or<bool>>) {
            *class = *least;
            open.or(*root == NONE);
        }
    }

    #[wave(nodes, after(phases))]
    fn compare(v: Node, root: &u32, smallest: &Buf<Atomic<u32>>) {
        smallest[*root].fetch_min(v);
    }

    #[wave(nodes, after(compare))]
    fn name(root: &u32, smallest: &Buf<u32>, component: &mut u32) {
        *component = smallest[*root];
    }
}

/// Which nodes lead to each other: the loops of a program
///
/// Without --graph it reads its own executable.
#[derive(clap::Parser)]
#[command(name = "scc")]
pub struct Scc {
    #[command(flatten)]
    shared: Shared,
}

impl Example for Scc {
    const NAME: &'static str = "scc";
    const IGNORES: &'static [&'static str] = &["--source"];

    fn shared(&self) -> &Shared {
        &self.shared
    }

    fn default_graph(&self) -> Result<Option<GraphSpec>, Failure> {
        cli::own_blocks()
    }

    fn run(&self, job: &mut Job<'_>) -> Result<(), Failure> {
        let graph = job.graph();
        let mut session = scc::Session::new(job.runtime(), &graph.csr)?;
        job.watch(session.progress());
        let out = job.measure(|| session.run(scc::Run {}), |out| &out.report)?;

        let mut sizes = vec![0u32; out.component.len()];
        for &component in &out.component {
            sizes[component as usize] += 1;
        }
        let components = sizes.iter().filter(|&&s| s > 0).count();
        let cycles = sizes.iter().filter(|&&s| s > 1).count();
        // The first of several.
        let largest = (0u32..)
            .zip(&sizes)
            .max_by_key(|&(v, &size)| (size, Reverse(v)));
        let text = format!(
            "{} {}, {} of several {}",
            count(components),
            plural(components as u64, "component"),
            count(cycles),
            graph.node_kind()
        );
        job.say("found", text);
        if let Some((first, &size)) = largest {
            let place = match &graph.cfg {
                Some(cfg) => cfg.describe(first),
                None => format!("node {first}"),
            };
            job.say("largest", format!("{}, from {place} on", count(size)));
            job.figure("largest", size);
        }
        job.say_time();
        job.plan(scc::PLAN)?;
        job.figure("components", components);
        job.figure("cycles", cycles);
        job.check(
            "Tarjan's algorithm",
            || oracle::strong_components(&graph.csr),
            |expected| first_difference("component", &out.component, expected),
        );
        job.save(1, &out.component)
    }
}

fn main() -> ExitCode {
    cli::main::<Scc>()
}
