//! refuse: list with reset inside of a local fixpoint
use vyre::prelude::*;

#[wave_graph]
pub mod p {
    pub struct Data {
        #[topology] graph: Csr,
        #[topology(parts_of = graph)] parts: Parts,
        #[list(capacity = node, reset = round)] l: List<u32>,
        #[reduce(or)] c: bool,
    }
    #[fixpoint(per = parts, until(!c))]
    mod f {
        #[wave(nodes)]
        fn w(v: Node, l: &Append<u32>, c: &Reduce<Or<bool>>) { l.append(v); c.or(false); }
    }
}
fn main() {}
