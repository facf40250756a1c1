//! maybe: own array as own row: per = node, [u32; 4] field taken as &mut [u32; 4] row of per = node * 4
use vyre::prelude::*;

#[wave_graph]
pub mod p {
    pub struct Data {
        #[topology] graph: Csr,
        #[output(per = node * 4)] o: u32,
    }
    #[wave(nodes)]
    fn put(v: Node, o: &mut [u32; 4]) { o[(v % 4) as usize] = 1; }
}
fn main() {}
