//! refuse: list reset = round outside of fixpoints
use vyre::prelude::*;

#[wave_graph]
pub mod p {
    pub struct Data {
        #[topology] graph: Csr,
        #[list(unique, reset = round)] l: List<Node>,
        #[output(per = node)] o: u32,
    }
        #[wave(nodes)]
        fn put(v: Node, l: &Push) { l.push(v); }
        #[wave(items(l), after(put))]
        fn get(v: Node, o: &mut u32) { *o += v; }

}
fn main() {}
