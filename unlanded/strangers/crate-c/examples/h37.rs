#![allow(dead_code, unused)]
use vyre::prelude::*;
#[wave_graph] mod gr {
    pub struct Data {
        #[topology] g: Csr,
        #[output(per = 100000 * 100000 - 100000 * 100000 + 3)] o: u32,
    }
    #[wave(range(3))]
    fn a(i: Index, o: &mut u32) { *o = i; }
}
fn main() {}
