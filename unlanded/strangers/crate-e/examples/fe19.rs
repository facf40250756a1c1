//! refuse: deterministic with the slot of append
use vyre::prelude::*;

#[wave_graph(deterministic)]
pub mod p {
    pub struct Data {
        #[topology] graph: Csr,
        #[list(capacity = node, reset = round)] l: List<u32>,
        #[output(per = node)] o: u32,
    }
    #[fixpoint(until(round == 2))]
    mod f {
        #[wave(nodes)]
        fn put(v: Node, l: &Append<u32>, o: &mut u32) { *o = l.append(v); }
    }
}
fn main() {}
