//! refuse?: atomics of arrays
use vyre::prelude::*;

#[wave_graph]
pub mod p {
    pub struct Data {
        #[topology] graph: Csr,
        #[output(per = node)] o: [u32; 4],
        n: u32,
    }
    #[wave(nodes)]
    fn w(v: Node, o: &Buf<Atomic<[u32; 4]>>) { let _ = v; }
}
fn main() {}
