//! The two tuples come first.
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
        #[wave(pairs(path.0 = path.0, last))]
        fn join(round: Round, p: (u32, u32), q: (u32, u32), path: &Insert<(u32, u32)>) {
            path.insert((p.1, q.1 + round));
        }
    }
}

fn main() {}
