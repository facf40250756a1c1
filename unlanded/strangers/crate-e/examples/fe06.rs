//! refuse: until compares a list with the round before
use vyre::prelude::*;

#[wave_graph]
pub mod p {
    pub struct Data {
        #[topology] graph: Csr,
        #[list(unique, reset = round)] l: List<Node>,
    }
    #[fixpoint(until(l.len() == l.before))]
    mod f {
        #[wave(nodes)]
        fn w(v: Node, l: &Push) { l.push(v); }
    }
}
fn main() {}
