//! refuse?: array of parts
use vyre::prelude::*;

#[wave_graph]
pub mod p {
    pub struct Data {
        #[topology] graph: Csr,
        #[topology(parts_of = graph)] z: [Parts; 1],
        #[output(per = node)] o: u32,
    }
    #[fixpoint(until(round == 2))]
    mod f {
        #[wave(nodes)]
        fn put(v: Node, o: &mut u32) { *o += v; }
    }
}
fn main() {}
