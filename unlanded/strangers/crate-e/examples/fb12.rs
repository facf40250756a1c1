//! refuse?: a name that is no field
use vyre::prelude::*;

#[wave_graph]
pub mod p {
    pub struct Data {
        #[topology] graph: Csr,
        #[output(per = node)] o: [u32; 4],
        n: u32,
    }
    #[wave(nodes)]
    fn w(v: Node, o: &Records<[u32; 4]>, oo: &mut [u32; 4]) { let _ = (v, oo); }
}
fn main() {}
