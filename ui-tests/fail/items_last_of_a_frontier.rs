//! `last` is for relations: what a frontier holds is from the round before anyway.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[frontier]
        front: Frontier,
    }

    #[wave(once)]
    fn begin(front: &Push) {
        front.push(0);
    }

    #[fixpoint(after(begin), until(front.is_empty()))]
    mod rounds {
        #[wave(items(front, last))]
        fn go_on(v: Node, graph: &Csr, front: &Push) {
            for to in graph.neighbors(v) {
                front.push(to);
            }
        }
    }
}

fn main() {}
