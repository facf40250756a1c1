#![allow(dead_code, unused)]
use vyre::prelude::*;
#[wave_graph] mod gr {
    pub struct Data {
        #[topology] g: Csr,
        #[topology(per = node)] t: Rows<u32>, #[output(per = node)] o: u32,
    }
    #[device] fn f(t: Row<u32>) -> u32 { t.len() }
    #[wave(nodes)]
    fn a(t: &Row<u32>, o: &mut u32) { *o = f(t); }
}
fn main() {}
