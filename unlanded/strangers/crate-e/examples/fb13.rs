//! refuse?: atomics of bools
use vyre::prelude::*;

#[wave_graph]
pub mod p {
    pub struct Data {
        #[topology] graph: Csr,
        #[output(per = node)] o: [bool; 4],
        n: u32,
    }
    #[wave(nodes)]
    fn w(v: Node, o: &Buf<Atomic<bool>>) { o[v].store(true); }
}
fn main() {}
