#![allow(dead_code, unused)]
use vyre::prelude::*;
#[wave_graph] mod gr {
    pub struct Data {
        #[topology] g: Csr,
        #[output(per = node)] o: u32,
    }
    #[wave(nodes)]
    fn a(v: Node, g: &Csr, o: &mut u32) { for n in g.neighbors(v) { let x = n; if x > 3 { return 5; } *o += 1; } }
}
fn main() {}
