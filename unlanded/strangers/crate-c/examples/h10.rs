#![allow(dead_code, unused)]
use vyre::prelude::*;
#[wave_graph] mod gr {
    pub struct Data {
        #[topology] g: Csr,
        #[scratch(per = node, init = n, reset = round)] s: u32, n: u32,
    }
    #[fixpoint(until(round == 1))] mod f { #[wave(nodes)]
    fn a(s: &mut u32) { *s += 1; } }
}
fn main() {}
