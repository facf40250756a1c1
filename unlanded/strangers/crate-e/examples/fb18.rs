//! refuse?: Records have no set
use vyre::prelude::*;

#[wave_graph]
pub mod p {
    pub struct Data {
        #[topology] graph: Csr,
        #[output(per = node)] o: [u32; 4],
        n: u32,
    }
    #[wave(nodes)]
    fn w(v: Node, o: &Records<[u32; 4]>) { let mut x = o.get(v); x[0] = 1; o.set(v, x); }
}
fn main() {}
