//! A fixpoint cannot ask for the frontier of one inside it: that has ended.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[frontier(unique)]
        front: Frontier,
        #[output(per = node)]
        dist: u32,
    }

    #[fixpoint(until(front.is_empty()))]
    mod phases {
        #[wave(nodes)]
        fn begin(v: Node, dist: &u32, front: &Push) {
            if *dist < 3 {
                front.push(v);
            }
        }

        #[fixpoint(after(begin), until(front.is_empty()))]
        mod levels {
            #[wave(items(front))]
            fn step(dist: &mut u32) {
                *dist += 1;
            }
        }
    }
}

fn main() {}
