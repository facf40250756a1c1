//! refuse?: maybe: a Node is a u32
use vyre::prelude::*;
pub const N: usize = 9;
#[wave_graph]
pub mod p {
    pub struct Data {
        #[topology] graph: Csr,
        #[output(per = node)] o: [Node; 2],
        n: u32,
    }
    const N: usize = 9;
    const Z: usize = 0;
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Pt { pub x: u32 }
    #[wave(nodes)]
    fn put(v: Node, o: &mut [Node; 2]) { let _ = v; o.swap(0, 0); }
}
fn main() {}
