//! refuse: deterministic: list of items given back, in any order? (accepted: same bits?)
use vyre::prelude::*;

#[wave_graph(deterministic)]
pub mod p {
    pub struct Data {
        #[topology] graph: Csr,
        #[list(capacity = node, output)] l: List<u32>,
        #[output(per = node)] o: u32,
    }
    #[wave(nodes)]
    fn put(v: Node, l: &Append<u32>) { l.append(v); }
}
fn main() {}
