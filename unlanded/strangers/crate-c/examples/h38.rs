#![allow(dead_code, unused)]
use vyre::prelude::*;
#[wave_graph] mod gr {
    pub struct Data {
        #[topology] g: Csr,
        #[output(per = 99999999999999999999 * 99999999999999999999 / 99999999999999999999)] o: u32,
    }
    #[wave(once)]
    fn a(o: &Buf<Atomic<u32>>) { o[0].store(1); }
}
fn main() {}
