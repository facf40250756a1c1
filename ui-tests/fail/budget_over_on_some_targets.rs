//! A budget that not every target can meet is a warning that names the others.
#![deny(warnings)]
use vyre::prelude::*;

#[wave_graph(limits(nodes = 1_000, edges = 1_000), budget = "40 kB")]
mod walk {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[frontier]
        front: Frontier,
        #[output(per = node)]
        seen: u32,
    }

    #[wave(nodes)]
    fn start(v: Node, seen: &mut u32, front: &Push) {
        if v == 0 {
            *seen = 1;
            front.push(v);
        }
    }

    #[fixpoint(after(start), until(front.is_empty()), max_rounds = 1_000_000)]
    mod rounds {
        #[wave(edges(graph, from = front))]
        fn step(e: Edge, seen: &Buf<Atomic<u32>>, front: &Push) {
            if seen[e.dst].compare_exchange(0, 1) {
                front.push(e.dst);
            }
        }
    }
}

fn main() {}
