//! An input has room for what the caller gives.
use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub(crate) struct Data {
        #[relation(input, capacity = 100)]
        fact: Relation<(u32, u32)>,
        #[reduce(count)]
        facts: u64,
    }

    #[wave(items(fact))]
    fn count(f: (u32, u32), facts: &Reduce<Count>) {
        if f.0 != f.1 {
            facts.inc();
        }
    }
}

fn main() {}
