//! refuse: scratch with reset inside of a local fixpoint (or works?)
use vyre::prelude::*;

#[wave_graph]
pub mod p {
    pub struct Data {
        #[topology] graph: Csr,
        #[topology(parts_of = graph)] parts: Parts,
        #[scratch(per = node, reset = round)] s: u32,
        #[reduce(or)] c: bool,
    }
    #[fixpoint(per = parts, until(!c))]
    mod f {
        #[wave(nodes)]
        fn w(s: &mut u32, c: &Reduce<Or<bool>>) { *s += 1; c.or(false); }
    }
}
fn main() {}
