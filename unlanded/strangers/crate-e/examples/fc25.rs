//! refuse?: reset scratch that nobody uses
use vyre::prelude::*;

#[wave_graph]
pub mod p {
    pub struct Data {
        #[topology] graph: Csr,
        #[scratch(per = node, reset = round, init = [1, 2])] z: [u32; 2],
        #[output(per = node)] o: u32,
    }
    #[fixpoint(until(round == 2))]
    mod f {
        #[wave(nodes)]
        fn put(v: Node, o: &mut u32) { *o += v; }
    }
}
fn main() {}
