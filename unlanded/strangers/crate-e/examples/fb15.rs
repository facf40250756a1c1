//! refuse?: index is a u32, not usize
use vyre::prelude::*;

#[wave_graph]
pub mod p {
    pub struct Data {
        #[topology] graph: Csr,
        #[output(per = node)] o: [u32; 4],
        n: u32,
    }
    #[wave(nodes)]
    fn w(v: Node, o: &mut [u32; 4]) { o[v] = 1; }
}
fn main() {}
