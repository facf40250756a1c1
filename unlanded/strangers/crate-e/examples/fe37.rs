//! maybe: deterministic: a unique list of what changed, in a fixpoint that lowers (the set is the same in each order)
use vyre::prelude::*;

#[wave_graph(deterministic)]
pub mod p {
    pub struct Data {
        #[topology] graph: Csr,
        #[frontier(unique)] fr: Frontier,
        #[list(unique)] l: List<Node>,
        #[output(per = node)] o: u32,
        #[output(per = node)] c: u32,
        #[input(per = node)] x: u32,
    }
    #[wave(nodes)]
    fn begin(v: Node, x: &u32, o: &mut u32, fr: &Push) { *o = *x; fr.push(v); }
    #[fixpoint(after(begin), until(fr.is_empty()))]
    mod f {
        #[wave(edges(graph, from = fr))]
        fn lower(e: Edge, o: &Buf<Atomic<u32>>, fr: &Push, l: &Push) {
            let x = o[e.src].load();
            if x < o[e.dst].fetch_min(x) { fr.push(e.dst); l.push(e.dst); }
        }
    }
    #[wave(items(l), after(f))]
    fn count(c: &mut u32) { *c += 1; }
}
fn main() {}
