#![allow(dead_code, unused)]
use vyre::prelude::*;
#[wave_graph] mod gr {
    pub struct Data {
        #[topology] g: Csr,
        #[topology(per = node)] t: Rows<u32>, #[output(per = node)] o: u32,
    }
    #[device] fn f(t: &Rows<u32>, v: u32) -> u32 { t.row(v).len() }
    #[wave(nodes)]
    fn a(v: Node, t: &Rows<u32>, o: &mut u32) { *o = f(t, v); }
}
fn main() {}
