//! refuse: items(l) of a list that a swap or unknown names
use vyre::prelude::*;

#[wave_graph]
pub mod p {
    pub struct Data {
        #[topology] graph: Csr,
        #[output(per = node)] o: u32,
    }
    #[wave(items(lists))]
    fn put(v: Node, o: &mut u32) { *o = v; }
}
fn main() {}
