//! A keyword in `until` is said to be one, and how to name a field by it.

use vyre::prelude::*;

#[wave_graph]
mod steps {
    pub struct Data {
        #[output(per = 1)]
        out: u32,
        r#move: u32,
    }

    #[fixpoint(until(move < round))]
    mod each {
        #[wave(once)]
        fn count(out: &Buf<Atomic<u32>>) {
            out[0].fetch_add(1);
        }
    }
}

fn main() {}
