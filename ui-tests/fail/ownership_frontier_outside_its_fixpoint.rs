//! A frontier that a fixpoint sweeps is not swept outside it.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[frontier]
        front: Frontier,
        #[output(per = node)]
        left: u32,
    }

    #[fixpoint(until(round > 3))]
    mod levels {
        #[wave(edges(graph, from = front))]
        fn relax(e: Edge, front: &Push) {
            front.push(e.dst);
        }
    }

    #[wave(items(front), after(levels))]
    fn report(v: Node, left: &Buf<Atomic<u32>>) {
        left[v].store(1);
    }
}

fn main() {}
