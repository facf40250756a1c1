//! refuse: no item over a list of items
use vyre::prelude::*;

#[wave_graph]
pub mod p {
    pub struct Data {
        #[topology] graph: Csr,
        #[list(capacity = node, reset = round)] l: List<(u32, u32)>,
        #[output(per = node)] o: u32,
    }
    #[fixpoint(until(round == 2))]
    mod f {
        #[wave(nodes)]
        fn put(v: Node, l: &Append<(u32, u32)>) { l.append((v, v)); }
        #[wave(items(l), after(put))]
        fn a(o: &Buf<Atomic<u32>>) { o[0].fetch_add(1); }
    }
}
fn main() {}
