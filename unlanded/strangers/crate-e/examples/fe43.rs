//! maybe: deterministic: labels by a list that never flips, until nothing changes
use vyre::prelude::*;

#[wave_graph(deterministic)]
pub mod p {
    pub struct Data {
        #[topology] graph: Csr,
        #[list(unique)] l: List<Node>,
        #[output(per = node)] o: u32,
        #[reduce(or)] ch: bool,
    }
    #[wave(nodes)]
    fn begin(v: Node, o: &mut u32, l: &Push) { *o = v; if v % 2 == 0 { l.push(v); } }
    #[fixpoint(after(begin), until(!ch))]
    mod f {
        #[wave(edges(graph, from = l))]
        fn lower(e: Edge, o: &Buf<Atomic<u32>>, l: &Push, ch: &Reduce<Or<bool>>) {
            let x = o[e.src].load();
            if x < o[e.dst].fetch_min(x) { l.push(e.dst); ch.or(true); }
        }
    }
}
fn main() {}
