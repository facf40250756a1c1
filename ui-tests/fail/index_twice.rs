//! The order of the columns is no other index.
use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub(crate) struct Data {
        #[relation(capacity = 100, index(0, 1), index(1, 0))]
        path: Relation<(u32, u8, u8)>,
        #[output(per = 9)]
        count: u32,
    }

    #[wave(once)]
    fn begin(path: &Insert<(u32, u8, u8)>) {
        path.insert((1, 2, 3));
    }

    #[wave(once, after(begin))]
    fn walk(path: &Lookup<(u32, u8, u8)>, count: &Buf<Atomic<u32>>) {
        for _ in path.with_0_and_1(1, 2) {
            count[0].fetch_add(1);
        }
        for _ in path.with_1_and_0(2, 1) {
            count[0].fetch_add(1);
        }
    }
}

fn main() {}
