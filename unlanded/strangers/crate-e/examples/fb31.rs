//! refuse?: contains
use vyre::prelude::*;

#[wave_graph]
pub mod p {
    pub struct Data {
        #[topology] graph: Csr,
        #[output(per = node)] o: [u32; 4],
        n: u32,
    }
    #[wave(nodes)]
    fn w(o: &mut [u32; 4]) { if o.contains(&3) { o[0] = 1; } }
}
fn main() {}
