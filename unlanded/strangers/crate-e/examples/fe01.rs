//! refuse: swap of scratch with reset
use vyre::prelude::*;

#[wave_graph]
pub mod p {
    pub struct Data {
        #[topology] graph: Csr,
        #[scratch(per = node, reset = round)] s: [u32; 2],
        #[scratch(per = node, reset = round)] t: [u32; 2],
    }
    #[fixpoint(until(round == 2), swap(s, t))]
    mod f {
        #[wave(nodes)]
        fn w(s: &mut [u32; 2], t: &[u32; 2]) { s[0] += t[1]; }
    }
}
fn main() {}
