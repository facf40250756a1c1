//! refuse: deterministic: a list of what changed, as often as it changed, in a fixpoint that lowers
use vyre::prelude::*;

#[wave_graph(deterministic)]
pub mod p {
    pub struct Data {
        #[topology] graph: Csr,
        #[frontier(unique)] fr: Frontier,
        #[list(capacity = node * 100)] l: List<u32>,
        #[output(per = node)] o: u32,
        #[output(per = node)] c: u32,
        #[input(per = node)] x: u32,
    }
    #[wave(nodes)]
    fn begin(v: Node, x: &u32, o: &mut u32, fr: &Push) { *o = *x; fr.push(v); }
    #[fixpoint(after(begin), until(fr.is_empty()))]
    mod f {
        #[wave(edges(graph, from = fr))]
        fn lower(e: Edge, o: &Buf<Atomic<u32>>, fr: &Push, l: &Append<u32>) {
            let x = o[e.src].load();
            if x < o[e.dst].fetch_min(x) { fr.push(e.dst); l.append(e.dst); }
        }
    }
    #[wave(items(l), after(f))]
    fn count(x: u32, c: &Buf<Atomic<u32>>) { c[x].fetch_add(1); }
}
fn main() {}
