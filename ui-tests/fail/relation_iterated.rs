//! A wave sweeps a relation, or walks an index of it.
use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub(crate) struct Data {
        #[relation(input, index(0))]
        step: Relation<(u32, u32)>,
        #[reduce(count)]
        found: u64,
    }

    #[wave(items(step))]
    fn begin(s: (u32, u32), step: &Lookup<(u32, u32)>, found: &Reduce<Count>) {
        for t in step.iter() {
            if t.0 == s.1 {
                found.inc();
            }
        }
    }
}

fn main() {}
