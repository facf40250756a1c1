//! A frontier that is swept outside is not pushed to inside.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        cfg: Csr,
        #[topology(parts_of = cfg)]
        funcs: Parts,
        #[frontier]
        front: Frontier,
        #[output(per = node)]
        mark: u32,
    }

    #[fixpoint(per = funcs, until(round == 3))]
    mod rounds {
        #[wave(nodes)]
        fn step(v: Node, mark: &u32, front: &Push) {
            if *mark == 0 {
                front.push(v);
            }
        }
    }

    #[wave(items(front), after(rounds))]
    fn late(v: Node, mark: &Buf<Atomic<u32>>) {
        mark[v].fetch_add(1);
    }
}

fn main() {}
