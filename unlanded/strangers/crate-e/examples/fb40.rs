//! refuse: own array written beside a wave that reads all, unordered
use vyre::prelude::*;

#[wave_graph]
pub mod p {
    pub struct Data {
        #[topology] graph: Csr,
        #[output(per = node)] o: [u32; 4],
        #[output(per = node)] q: u32,
    }
    #[wave(nodes)]
    fn w(o: &mut [u32; 4]) { o[0] = 1; }
    #[wave(nodes)]
    fn r(v: Node, o: &Records<[u32; 4]>, q: &mut u32) { *q = o.get(v)[0]; }
}
fn main() {}
