//! refuse: &mut of own element under items of a list that is not unique
use vyre::prelude::*;

#[wave_graph]
pub mod p {
    pub struct Data {
        #[topology] graph: Csr,
        #[list(capacity = 5)] l: List<Node>,
        #[output(per = node)] o: u32,
    }
    #[fixpoint(until(round == 2))]
    mod f {
        #[wave(nodes)]
        fn put(v: Node, l: &Append<Node>) { l.append(v); }
        #[wave(items(l), after(put))]
        fn get(v: Node, o: &mut u32) { *o += v; }

    }
}
fn main() {}
