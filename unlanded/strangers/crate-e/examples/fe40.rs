//! refuse: deterministic: a filter by what a wave of the same fixpoint changes: it closes edges
use vyre::prelude::*;
pub mod lib {
    use vyre::prelude::*;
    #[wave_graph]
    pub mod q {
        pub struct Data { #[topology] graph: Csr, #[frontier(unique)] fr: Frontier, #[output(per = node)] o: u32, #[scratch(per = node)] flag: u32 }
        #[wave(nodes)]
        fn begin(v: Node, o: &mut u32, fr: &Push) { *o = v * 7 % 13; fr.push(v); }
        #[fixpoint(after(begin), until(fr.is_empty()))]
        mod f {
            #[wave(edges(graph, from = fr))]
            fn lower(e: Edge, o: &Buf<Atomic<u32>>, fr: &Push) {
                let x = o[e.src].load();
                if x < o[e.dst].fetch_min(x) { fr.push(e.dst); }
            }
            #[wave(nodes, after(lower))]
            fn mark(o: &u32, flag: &mut u32) { if *o < 3 { *flag = 1; } }
        }
    }
}

#[wave_graph(deterministic)]
pub mod p {
    pub struct Data {
        #[topology] graph: Csr,
        #[scratch(per = node)] s: u32,
    }
    #[device]
    fn ok(e: Edge, s: &Buf<u32>) -> bool { s[e.dst] == 0 }
    #[include(graph = graph, flag = s, edges = ok)]
    use super::lib::q;
}
fn main() {}
