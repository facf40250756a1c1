//! refuse?: a part of an array
use vyre::prelude::*;

#[wave_graph]
pub mod p {
    pub struct Data {
        #[topology] graph: Csr,
        #[output(per = node)] o: [u32; 4],
        n: u32,
    }
    #[wave(nodes)]
    fn w(v: Node, o: &mut [u32; 4], o_0: &u32) { let _ = v; o[0] = *o_0; }
}
fn main() {}
