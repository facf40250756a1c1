//! refuse?: written by a shared reference
use vyre::prelude::*;

#[wave_graph]
pub mod p {
    pub struct Data {
        #[topology] graph: Csr,
        #[output(per = node)] o: [u32; 4],
        n: u32,
    }
    #[wave(nodes)]
    fn w(o: &[u32; 4]) { o[0] = 1; }
}
fn main() {}
