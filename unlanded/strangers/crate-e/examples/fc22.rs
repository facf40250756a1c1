//! refuse?: maybe: capacity 0
use vyre::prelude::*;

#[wave_graph]
pub mod p {
    pub struct Data {
        #[topology] graph: Csr,
        #[list(capacity = 0)] z: List<u32>,
        #[output(per = node)] o: u32,
    }
    #[fixpoint(until(round == 2))]
    mod f {
        #[wave(nodes)]
        fn put(v: Node, o: &mut u32) { *o += v; }
    }
}
fn main() {}
