//! refuse?: 9 is too many
use vyre::prelude::*;
pub const N: usize = 9;
#[wave_graph]
pub mod p {
    pub struct Data {
        #[topology] graph: Csr,
        #[output(per = node)] o: [u32; 9],
        n: u32,
    }
    const N: usize = 9;
    const Z: usize = 0;
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Pt { pub x: u32 }
    #[wave(nodes)]
    fn put(v: Node, o: &mut [u32; 9]) { let _ = v; o.swap(0, 0); }
}
fn main() {}
