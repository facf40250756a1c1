//! refuse?: a device fn inside of a fixpoint module
use vyre::prelude::*;

#[wave_graph]
pub mod p {
    pub struct Data {
        #[topology] graph: Csr,
        #[output(per = node)] o: u32,
    }
    #[fixpoint(until(round == 2))]
    mod f {
        #[device]
        fn help(v: u32) -> u32 { v + 1 }
        #[wave(nodes)]
        fn put(v: Node, o: &mut u32) { *o += help(v); }
    }
}
fn main() {}
