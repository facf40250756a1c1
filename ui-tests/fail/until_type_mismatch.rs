//! rustc checks the condition of `until` as the Rust that it is.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[reduce(sum)]
        change: f32,
    }

    #[fixpoint(until(change == 0))]
    mod rounds {
        #[wave(nodes)]
        fn go(v: Node, graph: &Csr, change: &Reduce<Sum<f32>>) {
            change.add(graph.degree(v) as f32);
        }
    }
}

fn main() {}
