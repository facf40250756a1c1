//! refuse?: atomics of u8
use vyre::prelude::*;

#[wave_graph]
pub mod p {
    pub struct Data {
        #[topology] graph: Csr,
        #[output(per = node)] o: [u8; 4],
        n: u32,
    }
    #[wave(nodes)]
    fn w(v: Node, o: &Buf<Atomic<u8>>) { o[v].store(1); }
}
fn main() {}
