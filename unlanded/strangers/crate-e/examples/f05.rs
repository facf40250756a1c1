//! refuse: unique list of tuples
use vyre::prelude::*;

#[wave_graph]
pub mod p {
    pub struct Data {
        #[topology] graph: Csr,
        #[list(unique)] l: List<(u32, u32)>,
        #[output(per = node)] o: u32,
    }
    #[fixpoint(until(round == 2))]
    mod f {
        #[wave(nodes)]
        fn put(v: Node, l: &Append<(u32, u32)>) { l.append((v, v)); }
    }
}
fn main() {}
