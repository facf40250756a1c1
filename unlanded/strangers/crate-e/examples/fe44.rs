//! refuse: deterministic: the same where a change is only known to the list, until asks its length of the round before... 
use vyre::prelude::*;

#[wave_graph(deterministic)]
pub mod p {
    pub struct Data {
        #[topology] graph: Csr,
        #[list(unique)] l: List<Node>,
        #[output(per = node)] o: u32,
    }
    #[wave(nodes)]
    fn begin(v: Node, o: &mut u32, l: &Push) { *o = v; if v % 2 == 0 { l.push(v); } }
    #[fixpoint(after(begin), until(l.len() >= 4))]
    mod f {
        #[wave(edges(graph, from = l))]
        fn lower(e: Edge, o: &Buf<Atomic<u32>>, l: &Push) {
            let x = o[e.src].load();
            if x < o[e.dst].fetch_min(x) { l.push(e.dst); }
        }
    }
}
fn main() {}
