//! refuse: items(l, new) on a unique list
use vyre::prelude::*;

#[wave_graph]
pub mod p {
    pub struct Data {
        #[topology] graph: Csr,
        #[list(unique)] l: List<Node>,
        #[output(per = node)] o: u32,
    }
    #[fixpoint(until(round == 2))]
    mod f {
        #[wave(nodes)]
        fn put(v: Node, l: &Push) { l.push(v); }
        #[wave(items(l, new), after(put))]
        fn get(v: Node, o: &mut u32) { *o += v; }

    }
}
fn main() {}
