//! refuse: swap of lists
use vyre::prelude::*;

#[wave_graph]
pub mod p {
    pub struct Data {
        #[topology] graph: Csr,
        #[list(unique, reset = round)] l: List<Node>,
        #[list(unique)] k: List<Node>,
    }
    #[fixpoint(until(round == 2), swap(l, k))]
    mod f {
        #[wave(nodes)]
        fn w(v: Node, l: &Push) { l.push(v); }
    }
}
fn main() {}
