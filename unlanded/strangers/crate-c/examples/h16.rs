#![allow(dead_code, unused)]
use vyre::prelude::*;
#[wave_graph] mod gr {
    pub struct Data {
        #[topology] g: Csr,
        #[output(per = n)] o: u32, n: u32,
    }
    #[wave(range(n,))]
    fn a(o: &mut u32) { *o = 1; }
}
fn main() {}
