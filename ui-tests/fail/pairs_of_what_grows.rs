//! What all of a relation is that grows in the round depends on when it is asked.
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

    #[fixpoint(after(begin), until(path.settled()))]
    mod rounds {
        #[wave(items(path, last))]
        fn turn(p: (u32, u32), path: &Insert<(u32, u32)>) {
            path.insert((p.1, p.0));
        }

        #[wave(pairs(path.1 = path.0), after(turn))]
        fn join(p: (u32, u32), q: (u32, u32), count: &Buf<Atomic<u32>>) {
            count[p.0].fetch_add(q.1);
        }
    }
}

fn main() {}
