//! refuse: items(l, new) on a list with reset
use vyre::prelude::*;

#[wave_graph]
pub mod p {
    pub struct Data {
        #[topology] graph: Csr,
        #[list(capacity = 5, reset = round)] l: List<u32>,
        #[output(per = node)] o: u32,
    }
    #[fixpoint(until(round == 2))]
    mod f {
        #[wave(nodes)]
        fn put(v: Node, l: &Append<u32>) { l.append(v); }
        #[wave(items(l, new), after(put))]
        fn get(x: u32, o: &Buf<Atomic<u32>>) { o[x].fetch_add(1); }
    }
}
fn main() {}
