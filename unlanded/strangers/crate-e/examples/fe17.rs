//! maybe: a list that is pushed to and never swept
use vyre::prelude::*;

#[wave_graph]
pub mod p {
    pub struct Data {
        #[topology] graph: Csr,
        #[list(unique)] l: List<Node>,
        #[output(per = node)] o: u32,
    }
    #[fixpoint(until(round == 2))]
    mod f {
        #[wave(nodes)]
        fn put(v: Node, l: &Push) { l.push(v); }

    }
}
fn main() {}
