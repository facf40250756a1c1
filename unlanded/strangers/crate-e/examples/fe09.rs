//! refuse: a kernel with arrays
use vyre::prelude::*;

#[wave_graph]
pub mod p {
    pub struct Data {
        #[topology] graph: Csr,
        n: u32,
    }
    #[kernel]
    fn k(i: Index, x: &[u32; 4], y: &mut u32) { *y = x[0] + i; }
}
fn main() {}
