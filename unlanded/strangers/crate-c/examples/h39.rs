#![allow(dead_code, unused)]
use vyre::prelude::*;
#[wave_graph] mod gr {
    pub struct Data {
        #[topology] g: Csr,
        #[output(per = n % m * n / m - n % m)] o: u32, n: u32, m: u32,
    }
    #[wave(range(n % m * n / m - (n % m)))]
    fn a(i: Index, o: &mut u32) { *o = i; }
}
fn main() {}
