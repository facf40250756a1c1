//! refuse: array per node in a local fixpoint
use vyre::prelude::*;

#[wave_graph]
pub mod p {
    pub struct Data {
        #[topology] graph: Csr,
        #[topology(parts_of = graph)] parts: Parts,
        #[output(per = node)] o: [u32; 2],
        #[reduce(or)] c: bool,
    }
    #[fixpoint(per = parts, until(!c))]
    mod f {
        #[wave(nodes)]
        fn w(o: &mut [u32; 2], c: &Reduce<Or<bool>>) { o[0] = 1; c.or(false); }
    }
}
fn main() {}
