#![allow(dead_code, unused)]
use vyre::prelude::*;
#[wave_graph] mod gr {
    pub struct Data {
        #[topology] g: Csr,
        #[output(per = w * h)] o: u32, w: u32, h: u32,
    }
    #[device] fn f(c: &Cell) -> u32 { c.x }
    #[wave(range(w, h))]
    fn a(c: Cell, o: &mut u32) { *o = f(&c); }
}
fn main() {}
