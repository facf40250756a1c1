//! refuse?: deterministic: claims through a list whose push depends on who comes first
use vyre::prelude::*;

#[wave_graph(deterministic)]
pub mod p {
    pub struct Data {
        #[topology] graph: Csr,
        #[list(unique, reset = round)] l: List<Node>,
        #[scratch(per = node)] t: u32,
        #[output(per = node)] o: u32,
    }
    #[fixpoint(until(round == 2))]
    mod f {
        #[wave(edges(graph))]
        fn put(e: Edge, t: &Buf<Atomic<u32>>, l: &Push) { if t[e.dst].compare_exchange(0, 1) { l.push(e.src); } }
        #[wave(items(l), after(put))]
        fn get(o: &mut u32) { *o += 1; }
    }
}
fn main() {}
