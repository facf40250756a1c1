//! refuse: rows of a buffer of arrays
use vyre::prelude::*;

#[wave_graph]
pub mod p {
    pub struct Data {
        #[topology] graph: Csr,
        #[output(per = node * 3)] o: [u32; 2],
    }
    #[wave(nodes)]
    fn put(v: Node, o: &mut [[u32; 2]; 3]) { let _ = v; o[0] = [1, 2]; }
}
fn main() {}
