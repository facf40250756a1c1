//! `until` asks for a reduction that is updated after the fixpoint.

use vyre::prelude::*;

#[wave_graph]
pub mod g {
    pub struct Data {
        #[topology]
        near: Csr,
        #[output(per = node)]
        end: u32,
        #[frontier]
        front: Frontier,
        #[reduce(or)]
        changed: bool,
    }
    #[fixpoint(until(!changed))]
    mod loop_ {
        #[wave(nodes)]
        fn step(v: Node, end: &mut u32) {
            *end += v;
        }
    }
    #[wave(nodes, after(loop_))]
    fn first(v: Node, end: &u32, changed: &Reduce<Or<bool>>) {
        changed.or(*end > v);
    }
}
fn main() {}
