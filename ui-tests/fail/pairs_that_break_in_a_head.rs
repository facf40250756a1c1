//! The head of a loop is not in it.
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

    #[wave(pairs(path.0 = path.0), after(begin))]
    fn join(p: (u32, u32), q: (u32, u32), count: &Buf<Atomic<u32>>) {
        for i in 0..(if q.1 == 2 { break } else { p.1 }) {
            count[i].fetch_add(1);
        }
    }
}

fn main() {}
