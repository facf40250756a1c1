//! refuse?: init of bools
use vyre::prelude::*;

#[wave_graph]
pub mod p {
    pub struct Data {
        #[topology] graph: Csr,
        #[output(per = node, init = [true; 4])] o: [u32; 4],
        n: u32,
    }
    #[wave(nodes)]
    fn w(o: &mut [u32; 4]) { o[0] = 1; }
}
fn main() {}
