//! A fixpoint asks relations that grow in it.
use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub(crate) struct Data {
        #[relation(input, index(0))]
        step: Relation<(u32, u32)>,
        #[relation(capacity = 100)]
        path: Relation<(u32, u32)>,
    }

    #[wave(items(step))]
    fn begin(s: (u32, u32), path: &Insert<(u32, u32)>) {
        path.insert(s);
    }

    #[fixpoint(after(begin), until(step.settled()))]
    mod rounds {
        #[wave(items(path, last))]
        fn walk(p: (u32, u32), step: &Lookup<(u32, u32)>, path: &Insert<(u32, u32)>) {
            for s in step.with_0(p.1) {
                path.insert((p.0, s.1));
            }
        }
    }
}

fn main() {}
