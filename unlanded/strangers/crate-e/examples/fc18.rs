//! refuse?: init of list
use vyre::prelude::*;

#[wave_graph]
pub mod p {
    pub struct Data {
        #[topology] graph: Csr,
        #[list(unique, init = 3)] z: List<Node>,
        #[output(per = node)] o: u32,
    }
    #[fixpoint(until(round == 2))]
    mod f {
        #[wave(nodes)]
        fn put(v: Node, o: &mut u32) { *o += v; }
    }
}
fn main() {}
