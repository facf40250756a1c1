//! refuse: &mut own array over edges from a frontier that is not unique
use vyre::prelude::*;

#[wave_graph]
pub mod p {
    pub struct Data {
        #[topology] graph: Csr,
        #[frontier] l: Frontier,
        #[output(per = edge(graph))] o: [u32; 2],
    }
    #[wave(nodes)]
    fn put(v: Node, l: &Push) { l.push(v); }
    #[wave(edges(graph, from = l), after(put))]
    fn w(o: &mut [u32; 2]) { o[0] = 1; }
}
fn main() {}
