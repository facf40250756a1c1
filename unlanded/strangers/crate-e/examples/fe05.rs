//! refuse: until asks a list of items that do not exist
use vyre::prelude::*;

#[wave_graph]
pub mod p {
    pub struct Data {
        #[topology] graph: Csr,
        #[list(unique, reset = round)] l: List<Node>,
    }
    #[fixpoint(until(l.length() == 0))]
    mod f {
        #[wave(nodes)]
        fn w(v: Node, l: &Push) { l.push(v); }
    }
}
fn main() {}
