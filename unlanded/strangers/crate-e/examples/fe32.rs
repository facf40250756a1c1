//! maybe: the row of a buffer of arrays as flat values: node * 3 arrays of 2 are node * 6 values
use vyre::prelude::*;

#[wave_graph]
pub mod p {
    pub struct Data {
        #[topology] graph: Csr,
        #[output(per = node * 3)] o: [u32; 2],
    }
    #[wave(nodes)]
    fn put(v: Node, o: &mut [u32; 6]) { let _ = v; o[0] = 1; }
}
fn main() {}
