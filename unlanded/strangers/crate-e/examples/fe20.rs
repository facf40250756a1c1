//! refuse: deterministic: rounds end with a list of what changed, which begins anew, so that changes are lost
use vyre::prelude::*;

#[wave_graph(deterministic)]
pub mod p {
    pub struct Data {
        #[topology] graph: Csr,
        #[list(unique, reset = round)] l: List<Node>,
        #[output(per = node)] o: u32,
        #[input(per = node)] x: u32,
    }
    #[wave(nodes)]
    fn begin(x: &u32, o: &mut u32) { *o = *x; }
    #[fixpoint(after(begin), until(l.is_empty()), max_rounds = 1000)]
    mod f {
        #[wave(nodes)]
        fn seed(v: Node, round: Round, l: &Push) { if v == round { l.push(v); } }
        #[wave(edges(graph, from = l), after(seed))]
        fn lower(e: Edge, o: &Buf<Atomic<u32>>, l: &Push) {
            let x = o[e.src].load();
            if x < o[e.dst].fetch_min(x) { l.push(e.dst); }
        }
    }
}
fn main() {}
