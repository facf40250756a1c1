#![allow(dead_code, unused)]
use vyre::prelude::*;
#[wave_graph] mod gr {
    pub struct Data {
        #[topology] g: Csr,
        #[output(per = w * h)] o: u32, w: u32, h: u32,
    }
    #[wave(range(w, h))]
    fn a(c: Cell, o: &mut u32) { *o = if c == c { 1 } else { 0 }; }
}
fn main() {}
