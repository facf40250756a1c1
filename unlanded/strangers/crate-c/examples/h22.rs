#![allow(dead_code, unused)]
use vyre::prelude::*;
#[wave_graph] mod gr {
    pub struct Data {
        #[topology] g: Csr,
        #[topology] t: Rows<u8>, #[output(per = node)] o: u32,
    }
    #[wave(nodes)]
    fn a(v: Node, t: &Rows<u8>, o: &mut u32) { *o = t.row(v).len(); }
}
fn main() {}
