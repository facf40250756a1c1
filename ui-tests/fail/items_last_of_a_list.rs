//! `last` is for relations: of a list, a wave sweeps what is `new` to it.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[list(capacity = 9)]
        log: List<u32>,
    }

    #[wave(once)]
    fn begin(log: &Append<u32>) {
        log.append(1);
    }

    #[fixpoint(after(begin), until(log.len() > 5))]
    mod rounds {
        #[wave(items(log, last))]
        fn go_on(x: u32, log: &Append<u32>) {
            log.append(x + 1);
        }
    }
}

fn main() {}
