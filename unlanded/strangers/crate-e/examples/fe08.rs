//! refuse: a wave asks for a list's length
use vyre::prelude::*;

#[wave_graph]
pub mod p {
    pub struct Data {
        #[topology] graph: Csr,
        #[list(unique, reset = round)] l: List<Node>,
        #[output(per = node)] o: u32,
    }
    #[fixpoint(until(l.is_empty()))]
    mod f {
        #[wave(nodes)]
        fn w(v: Node, l: &Push) { if l.len() < 3 { l.push(v); } }
    }
}
fn main() {}
