//! What the caller gives is all that an input has.
use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub(crate) struct Data {
        #[relation(input)]
        fact: Relation<(u32, u32)>,
    }

    #[fixpoint(until(fact.settled()))]
    mod rounds {
        #[wave(items(fact, last))]
        fn turn(f: (u32, u32), fact: &Insert<(u32, u32)>) {
            fact.insert((f.1, f.0));
        }
    }
}

fn main() {}
