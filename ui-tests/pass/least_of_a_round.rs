//! A reduction of each round that is no result is scratch that begins anew, and the pass has the same bits.

use vyre::prelude::*;

#[wave_graph(deterministic)]
pub mod peeled {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[input(per = node)]
        weight: u32,
        #[scratch(per = 1, init = u32::MAX, reset = round)]
        least: u32,
        #[output(per = node)]
        taken: u32,
        #[output(per = 3)]
        each: u32,
    }

    #[fixpoint(until(round == 2))]
    mod turns {
        #[wave(nodes)]
        fn find(weight: &u32, taken: &u32, least: &Buf<Atomic<u32>>) {
            if *taken == 0 {
                least[0].fetch_min(*weight);
            }
        }

        #[wave(nodes, after(find))]
        fn take(round: Round, weight: &u32, least: &Buf<u32>, taken: &mut u32) {
            if *weight == least[0] {
                *taken = round + 1;
            }
        }

        #[wave(once, after(find))]
        fn note(round: Round, least: &Buf<u32>, each: &Buf<Atomic<u32>>) {
            each[round].store(least[0]);
        }
    }
}

fn main() {
    let graph = Csr::from_edges(5, &[]).expect("no edges");
    let mut session = peeled::Session::new(&Runtime::native(), &graph).expect("it fits");
    let run = peeled::Run {
        weight: &[7, 3, 9, 3, 4],
    };
    let out = session.run(run).expect("it ends");
    assert_eq!(out.taken, [3, 1, 0, 1, 2]);
    assert_eq!(out.each, [3, 4, 7]);
}
