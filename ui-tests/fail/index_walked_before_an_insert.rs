//! An index outside of fixpoints is filled once.
use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub(crate) struct Data {
        #[relation(capacity = 100, index(0))]
        path: Relation<(u32, u32)>,
        #[output(per = 9)]
        count: u32,
    }

    #[wave(once)]
    fn begin(path: &Insert<(u32, u32)>) {
        path.insert((1, 2));
    }

    #[wave(once, after(begin))]
    fn walk(path: &Lookup<(u32, u32)>, count: &Buf<Atomic<u32>>) {
        for p in path.with_0(1) {
            count[0].fetch_add(p.1);
        }
    }

    #[wave(once, after(walk))]
    fn more(path: &Insert<(u32, u32)>) {
        path.insert((1, 3));
    }
}

fn main() {}
