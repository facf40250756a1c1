#![allow(dead_code, unused)]
use vyre::prelude::*;
#[wave_graph] mod gr {
    pub struct Data {
        #[topology] g: Csr,
        #[output(per = node)] o: u32,
    }
    #[fixpoint(until(round == 1), max_rounds = 0)] mod f { #[wave(nodes)]
    fn a(o: &mut u32) { *o = 1; } }
}
fn main() {}
