//! refuse: edges(graph, from = l) of a list that is not unique
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
        #[wave(edges(graph, from = l), after(put))]
        fn get(e: Edge, o: &Buf<Atomic<u32>>) { o[e.dst].fetch_add(1); }
    }
}
fn main() {}
