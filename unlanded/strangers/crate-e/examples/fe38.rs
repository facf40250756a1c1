//! refuse: deterministic: changes go to a list that begins anew, and the frontier gets only what the list has at the end of a round; until asks the list
use vyre::prelude::*;

#[wave_graph(deterministic)]
pub mod p {
    pub struct Data {
        #[topology] graph: Csr,
        #[frontier(unique)] fr: Frontier,
        #[list(unique, reset = round)] l: List<Node>,
        #[output(per = node)] o: u32,
        #[input(per = node)] x: u32,
    }
    #[wave(nodes)]
    fn begin(v: Node, x: &u32, o: &mut u32, fr: &Push) { *o = *x; fr.push(v); }
    #[fixpoint(after(begin), until(l.is_empty() || fr.len() < 3))]
    mod f {
        #[wave(edges(graph, from = fr))]
        fn lower(e: Edge, o: &Buf<Atomic<u32>>, l: &Push) {
            let x = o[e.src].load();
            if x < o[e.dst].fetch_min(x) { l.push(e.dst); }
        }
        #[wave(items(l), after(lower))]
        fn on(v: Node, fr: &Push) { fr.push(v); }
    }
}
fn main() {}
