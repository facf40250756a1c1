//! refuse: items of a unique list taken by &mut and by another list
use vyre::prelude::*;

#[wave_graph]
pub mod p {
    pub struct Data {
        #[topology] graph: Csr,
        #[list(unique, reset = round)] l: List<Node>,
        #[list(unique)] k: List<Node>,
        #[output(per = node)] o: u32,
    }
    #[fixpoint(until(round == 2))]
    mod f {
        #[wave(nodes)]
        fn put(v: Node, l: &Push, k: &Push) { l.push(v); k.push(v); }
        #[wave(items(l), after(put))]
        fn a(o: &mut u32) { *o += 1; }
        #[wave(items(k), after(put))]
        fn b(o: &mut u32) { *o += 1; }
    }
}
fn main() {}
