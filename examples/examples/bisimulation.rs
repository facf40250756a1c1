//! Strong bisimulation: which states of a labelled transition system do the same, so that one can stand for all of its
//! class (Kanellakis and Smolka, *CCS Expressions, Finite State Processes, and Three Problems of Equivalence*, 1990).
//!
//! All states begin in one class. In each round, states of a class part whose moves differ: a move is the label of an
//! edge and the class that it leads to, and how many edges do the same does not count. When no class parts, the
//! partition is the coarsest one whose states have the same moves.
//!
//! Two relations begin anew with each round. `moves` is the set of moves of each state, whose hashes are added up to a
//! key of 64 bits. `keys` and `leaders` group the states by their keys: the first state with a key becomes the leader of
//! all that have it, and a state finds its leader by an index. A class has the number of its least state, so that it does
//! not matter which one leads.
//!
//! Two states whose moves differ have the same key by chance, once in 2^64. `--check` compares with sets of moves.
//!
//! `cargo run --release -p vyre-examples --example bisimulation -- --graph rmat:17:1 --check`

use std::process::ExitCode;
use vyre::prelude::*;
use vyre_examples::cli::{
    self, Example, Failure, Job, Shared, count, first_difference, number, plural,
};
use vyre_examples::graph::GraphSpec;
use vyre_examples::oracle;

/// The coarsest partition of states into classes that do the same.
#[wave_graph]
#[pass(id = "bisimulation", unproven)]
pub mod bisimulation {
    /// What a state can do.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Move {
        /// The state.
        pub state: u32,
        /// A label and the class where it leads: `class * labels + label`.
        pub to: u32,
    }

    /// A state that stands for those with the same key.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Leader {
        /// The lower half of its key, so that a tuple has 64 bits.
        pub half: u32,
        /// The state.
        pub state: u32,
    }

    pub struct Data {
        /// States as nodes, and an edge for each transition.
        #[topology]
        graph: Csr,
        /// Labels below `labels`.
        #[topology(per = edge(graph))]
        label: u32,
        #[relation(capacity = edge(graph), reset = round)]
        moves: Relation<Move>,
        /// A hash of the class and the moves of each state.
        #[scratch(per = node, init = 0, reset = round)]
        key: u64,
        #[relation(capacity = node, reset = round)]
        keys: Relation<u64>,
        #[relation(capacity = node, index(half), reset = round)]
        leaders: Relation<Leader>,
        #[scratch(per = node, init = 0)]
        leader: u32,
        /// Of each leader, the least state that follows it.
        #[scratch(per = node, init = u32::MAX, reset = round)]
        least: u32,
        /// The least state of each state's class.
        #[output(per = node, init = 0)]
        class: u32,
        /// States whose class has another number than in the round before.
        #[reduce(count)]
        moved: u64,
        /// Classes.
        #[reduce(count)]
        classes: u64,
        /// `labels * nodes` fits into a u32.
        labels: u32,
    }

    /// The finaliser of splitmix64, which scatters every bit.
    #[device]
    fn scattered(x: u64) -> u64 {
        let x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ x >> 31
    }

    #[fixpoint(until(moved == 0), max_rounds = 4_294_967_294)]
    mod rounds {
        #[wave(edges(graph))]
        fn find_moves(
            e: Edge,
            label: &u32,
            labels: u32,
            class: &Buf<u32>,
            moves: &Insert<Move>,
            key: &Buf<Atomic<u64>>,
        ) {
            let to = class[e.dst] * labels + *label;
            if moves.insert(Move { state: e.src, to }) {
                key[e.src].fetch_add(scattered(u64::from(to) + 1));
            }
        }

        #[wave(nodes, after(find_moves))]
        fn lead(v: Node, class: &u32, key: &mut u64, keys: &Insert<u64>, leaders: &Insert<Leader>) {
            // States of two classes stay apart.
            *key = scattered(*key ^ scattered(u64::from(*class) << 32));
            if keys.insert(*key) {
                leaders.insert(Leader {
                    half: *key as u32,
                    state: v,
                });
            }
        }

        #[wave(nodes, after(lead))]
        fn follow(
            v: Node,
            key: &Buf<u64>,
            leaders: &Lookup<Leader>,
            leader: &mut u32,
            least: &Buf<Atomic<u32>>,
        ) {
            for of in leaders.with_half(key[v] as u32) {
                if key[of.state] == key[v] {
                    *leader = of.state;
                    least[of.state].fetch_min(v);
                }
            }
        }

        #[wave(nodes, after(follow))]
        fn number(leader: &u32, least: &Buf<u32>, class: &mut u32, moved: &Reduce<Count>) {
            if *class != least[*leader] {
                *class = least[*leader];
                moved.inc();
            }
        }
    }

    #[wave(nodes, after(rounds))]
    fn count(v: Node, class: &u32, classes: &Reduce<Count>) {
        if *class == v {
            classes.inc();
        }
    }
}

/// Which states do the same
#[derive(clap::Parser)]
#[command(name = "bisimulation")]
pub struct Bisimulation {
    /// The label of an edge is its weight modulo this number
    ///
    /// Weights come from the file (.el with a third column, .mtx, .gr, .csr); other graphs get hashed weights.
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = number::<u32>(1..=u32::MAX))]
    labels: u32,
    #[command(flatten)]
    shared: Shared,
}

impl Example for Bisimulation {
    const NAME: &'static str = "bisimulation";
    const IGNORES: &'static [&'static str] = &["--source"];

    fn shared(&self) -> &Shared {
        &self.shared
    }

    fn default_graph(&self) -> Result<Option<GraphSpec>, Failure> {
        Ok(Some(GraphSpec::Rmat {
            scale: 12,
            edge_factor: 2,
            seed: 1,
        }))
    }

    fn run(&self, job: &mut Job<'_>) -> Result<(), Failure> {
        let graph = job.graph();
        let states = graph.csr.node_count() as u64;
        if states * u64::from(self.labels) > u64::from(u32::MAX) {
            return Err(Failure::Other(format!(
                "--labels {}: times {} states that is more than 2^32 moves have numbers",
                self.labels,
                count(states)
            )));
        }
        let label: Vec<u32> = graph
            .unsigned_weights()?
            .iter()
            .map(|weight| weight % self.labels)
            .collect();
        let topology = bisimulation::Topology {
            graph: &graph.csr,
            label: &label,
        };
        let mut session = bisimulation::Session::new(job.runtime(), topology)?;
        job.watch(session.progress());
        let run = bisimulation::Run {
            labels: self.labels,
        };
        let out = job.measure(|| session.run(run), |out| &out.report)?;

        let found = format!(
            "{} {} of {} {}",
            count(out.classes),
            if out.classes == 1 { "class" } else { "classes" },
            count(states),
            plural(states, "state")
        );
        job.say("found", found);
        job.say_time();
        job.plan(bisimulation::PLAN)?;
        job.figure("states", states);
        job.figure("classes", out.classes);
        job.check(
            "sets of moves, until no class parts",
            || oracle::bisimulation(&graph.csr, &label),
            |expected| first_difference("state", &out.class, expected),
        );
        job.save(1, &out.class)
    }
}

fn main() -> ExitCode {
    cli::main::<Bisimulation>()
}
