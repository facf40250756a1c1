//! A fixpoint, a function and an import cannot have the names that the macro defines.

use vyre::prelude::*;

mod elsewhere {
    pub struct Run(pub u32);
}

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node)]
        x: u32,
    }

    use super::elsewhere::Run;

    pub fn of(run: &Run) -> u32 {
        run.0
    }

    #[fixpoint(until(round > 3))]
    mod Session {
        #[wave(nodes)]
        fn a(x: &mut u32) {
            *x += 1;
        }
    }
}

fn main() {}
