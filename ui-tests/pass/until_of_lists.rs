//! Conditions that ask whether a list is empty, and can hold.

use vyre::prelude::*;

#[wave_graph(deterministic)]
pub mod asked {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[list(unique, reset = round)]
        now: List<Node>,
        #[list(unique)]
        all: List<Node>,
        #[list(capacity = 1)]
        wrong: List<u32>,
        #[output(per = 4)]
        rounds: u32,
        first: u32,
    }

    /// Until a round finds nothing.
    #[fixpoint(until(now.is_empty()))]
    mod shrinking {
        #[wave(nodes)]
        fn find(v: Node, round: Round, now: &Push, rounds: &Buf<Atomic<u32>>) {
            if v > round {
                now.push(v);
            }
            rounds[0].fetch_max(round + 1);
        }
    }

    /// If the first round finds nothing, there is no other.
    #[fixpoint(after(shrinking), until(all.is_empty() || round == 4))]
    mod tried {
        #[wave(nodes)]
        fn mark(v: Node, round: Round, first: u32, all: &Push, rounds: &Buf<Atomic<u32>>) {
            if v >= first {
                all.push(v);
            }
            rounds[1].fetch_max(round + 1);
        }
    }

    /// Until something is found, and as long as nothing is wrong.
    #[fixpoint(after(tried), until((!all.is_empty() || round == 6) && wrong.len() < 2), max_rounds = 9)]
    mod sought {
        #[wave(nodes)]
        fn look(v: Node, round: Round, all: &Push, rounds: &Buf<Atomic<u32>>) {
            if v + round > 5 {
                all.push(v);
            }
            rounds[2].fetch_max(round + 1);
        }

        #[wave(once)]
        fn judge(round: Round, wrong: &Append<u32>) {
            if round > 7 {
                wrong.append(round);
            }
        }
    }
}

fn main() {
    let graph = Csr::from_edges(4, &[]).expect("no edges");
    let mut session = asked::Session::new(&Runtime::native(), &graph).expect("it fits");
    let out = session.run(asked::Run { first: 9 }).expect("it ends");
    assert_eq!(out.rounds, [4, 1, 4, 0]);
    let out = session.run(asked::Run { first: 3 }).expect("it ends");
    assert_eq!(out.rounds, [4, 5, 1, 0]);
}
