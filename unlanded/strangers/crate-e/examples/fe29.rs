//! maybe: helpers take records, references to arrays
use vyre::prelude::*;

#[wave_graph]
pub mod p {
    pub struct Data {
        #[topology] graph: Csr,
        #[input(per = node)] x: [u32; 3],
        #[output(per = node)] o: u32,
    }
    #[device]
    fn a(x: &[u32; 3]) -> u32 { x[0] }
    #[device]
    fn b(x: &mut [u32; 3]) { x[0] = 1; }
    #[device]
    fn c(all: &Records<[u32; 3]>, v: u32) -> [u32; 3] { all.get(v) }
    #[wave(nodes)]
    fn put(v: Node, x: &Records<[u32; 3]>, o: &mut u32) { let mut y = c(x, v); b(&mut y); *o = a(&y); }
}
fn main() {}
