//! refuse?: init of another length
use vyre::prelude::*;

#[wave_graph]
pub mod p {
    pub struct Data {
        #[topology] graph: Csr,
        #[output(per = node, init = [1, 2])] o: [u32; 4],
        n: u32,
    }
    #[wave(nodes)]
    fn w(o: &mut [u32; 4]) { o[0] = 1; }
}
fn main() {}
