//! refuse: &Row of arrays
use vyre::prelude::*;

#[wave_graph]
pub mod p {
    pub struct Data {
        #[topology] graph: Csr,
        #[topology(per = node)] text: Rows<u8>,
        #[output(per = row(text))] o: [u32; 2],
    }
    #[wave(nodes)]
    fn put(v: Node, o: &mut Row<[u32; 2]>) { let _ = v; o[0] = [1, 2]; }
}
fn main() {}
