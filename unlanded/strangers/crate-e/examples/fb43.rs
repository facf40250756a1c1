//! refuse: unique list in a local fixpoint
use vyre::prelude::*;

#[wave_graph]
pub mod p {
    pub struct Data {
        #[topology] graph: Csr,
        #[topology(parts_of = graph)] parts: Parts,
        #[list(unique)] l: List<Node>,
        #[reduce(or)] c: bool,
    }
    #[fixpoint(per = parts, until(!c))]
    mod f {
        #[wave(nodes)]
        fn w(v: Node, l: &Push, c: &Reduce<Or<bool>>) { l.push(v); c.or(false); }
    }
}
fn main() {}
