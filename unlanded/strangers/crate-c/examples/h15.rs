#![allow(dead_code, unused)]
use vyre::prelude::*;
#[wave_graph] mod gr {
    pub struct Data {
        #[topology] g: Csr,
        #[output(per)] o: u32,
    }
    #[wave(nodes)]
    fn a(o: &mut u32) { *o = 1; }
}
fn main() {}
