//! `until(..)` in the form of a value.

use vyre::prelude::*;

#[wave_graph]
pub mod g {
    pub struct Data {
        #[topology] graph: Csr,
        #[output(per = node)] dist: u32,
        #[reduce(or)] changed: bool,
    }

    #[fixpoint(until = !changed)]
    mod rounds {
        #[wave(nodes)]
        fn step(v: Node, dist: &mut u32, changed: &Reduce<Or<bool>>) {
            *dist += 1;
            changed.or(*dist < 5);
        }
    }
}

fn main() {}
