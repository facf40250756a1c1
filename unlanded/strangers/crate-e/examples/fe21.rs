//! refuse: deterministic: a list takes the place of the frontier, until asks the number of rounds
use vyre::prelude::*;

#[wave_graph(deterministic)]
pub mod p {
    pub struct Data {
        #[topology] graph: Csr,
        #[list(unique)] l: List<Node>,
        #[output(per = node)] o: u32,
        #[input(per = node)] x: u32,
    }
    #[wave(nodes)]
    fn begin(v: Node, x: &u32, o: &mut u32, l: &Push) { *o = *x; if v == 0 { l.push(v); } }
    #[fixpoint(after(begin), until(l.len() > 5 || round == 3), max_rounds = 1000)]
    mod f {
        #[wave(edges(graph, from = l))]
        fn lower(e: Edge, o: &Buf<Atomic<u32>>, l: &Push) {
            let x = o[e.src].load();
            if x < o[e.dst].fetch_min(x) { l.push(e.dst); }
        }
    }
}
fn main() {}
