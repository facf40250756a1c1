//! refuse?: index is a usize, not u32
use vyre::prelude::*;

#[wave_graph]
pub mod p {
    pub struct Data {
        #[topology] graph: Csr,
        #[output(per = node)] o: [u32; 4],
        n: u32,
    }
    #[wave(nodes)]
    fn w(v: Node, o: &Buf<Atomic<u32>>) { o[v as usize].store(1); }
}
fn main() {}
