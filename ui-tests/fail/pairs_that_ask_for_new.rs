//! Joins of one round stand in no order.
use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub(crate) struct Data {
        #[relation(capacity = 100, index(0), index(1))]
        path: Relation<(u32, u32)>,
        #[output(per = 9)]
        count: u32,
    }

    #[wave(once)]
    fn begin(path: &Insert<(u32, u32)>) {
        path.insert((1, 2));
    }

    #[fixpoint(after(begin), until(path.settled()))]
    mod rounds {
        #[wave(pairs(path.1 = path.0, last))]
        fn join(p: (u32, u32), q: (u32, u32), path: &Insert<(u32, u32)>, count: &Buf<Atomic<u32>>) {
            if path.insert((p.0, q.1)) {
                count[p.0].fetch_add(1);
            }
        }

        #[wave(pairs(path.0 = path.0, last))]
        fn meet(p: (u32, u32), q: (u32, u32), path: &Insert<(u32, u32)>, count: &Buf<Atomic<u32>>) {
            if path.insert((p.1, q.1)) {
                count[p.1].fetch_add(1);
            }
        }
    }
}

fn main() {}
