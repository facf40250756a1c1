//! What is not known of a fixpoint is said of it, and not of a wave.

use vyre::prelude::*;

#[wave_graph(deterministic)]
mod pass {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[frontier(unique)]
        front: Frontier,
        #[output(per = node)]
        label: u32,
        #[output(per = node)]
        other: u32,
    }

    #[fixpoint(until(round == 2))]
    mod blocks {
        #[wave(nodes)]
        fn begin(v: Node, front: &Push) {
            front.push(v);
        }

        #[fixpoint(after(begin), until(front.is_empty()))]
        mod inner {
            #[wave(items(front))]
            fn drop_it(v: Node, label: &mut u32) {
                *label += v;
            }
        }

        #[wave(nodes, after(inner))]
        fn hand(v: Node, graph: &Csr, label: &Buf<Atomic<u32>>) {
            for w in graph.neighbors(v) {
                label[w].store(v);
            }
        }
    }

    #[fixpoint(after(blocks), until(round == 2), swap(label, other))]
    mod turns {
        #[wave(nodes)]
        fn turn(v: Node, graph: &Csr, label: &Buf<u32>, other: &Buf<Atomic<u32>>) {
            for w in graph.neighbors(v) {
                other[w].store(label[v]);
            }
        }
    }
}

fn main() {}
