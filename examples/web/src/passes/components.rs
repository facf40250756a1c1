//! Connected components: in each round, nodes take the least label beside them.

use vyre::prelude::*;

#[wave_graph]
pub mod components {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[input(per = node)]
        first: u32,
        #[output(per = node)]
        label: u32,
        #[scratch(per = node)]
        least: u32,
        #[frontier]
        changed: Frontier,
        rounds: u32,
    }

    #[wave(nodes)]
    fn init(v: Node, first: &u32, label: &mut u32, least: &mut u32, changed: &Push) {
        *label = *first;
        *least = *first;
        changed.push(v);
    }

    #[fixpoint(after(init), until(changed.is_empty() || round + 1 == rounds))]
    mod spread {
        #[wave(edges(graph, from = changed))]
        fn tell(e: Edge, label: &Buf<u32>, least: &Buf<Atomic<u32>>) {
            least[e.dst].fetch_min(label[e.src]);
        }

        #[wave(nodes, after(tell))]
        fn take(v: Node, least: &u32, label: &mut u32, changed: &Push) {
            if *least < *label {
                *label = *least;
                changed.push(v);
            }
        }
    }
}
