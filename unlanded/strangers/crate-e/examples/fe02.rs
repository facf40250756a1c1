//! refuse: swap of arrays of different lengths
use vyre::prelude::*;

#[wave_graph]
pub mod p {
    pub struct Data {
        #[topology] graph: Csr,
        #[scratch(per = node)] s: [u32; 2],
        #[scratch(per = node)] t: [u32; 3],
    }
    #[fixpoint(until(round == 2), swap(s, t))]
    mod f {
        #[wave(nodes)]
        fn w(s: &mut [u32; 2], t: &[u32; 3]) { s[0] += t[1]; }
    }
}
fn main() {}
