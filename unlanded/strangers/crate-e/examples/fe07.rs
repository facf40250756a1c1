//! refuse: until compares a list's length with u64
use vyre::prelude::*;

#[wave_graph]
pub mod p {
    pub struct Data {
        #[topology] graph: Csr,
        #[list(unique, reset = round)] l: List<Node>,
        #[reduce(count)] c: u64,
    }
    #[fixpoint(until(l.len() == c))]
    mod f {
        #[wave(nodes)]
        fn w(v: Node, l: &Push, c: &Reduce<Count>) { l.push(v); c.inc(); }
    }
}
fn main() {}
