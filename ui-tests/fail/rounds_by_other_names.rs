//! A `Round` is named `round`, or after a fixpoint around the wave.
use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[output(per = 4)]
        x: u32,
    }

    #[fixpoint(until(phases == 2))]
    mod phases {
        #[fixpoint(until(phase + round > 3))]
        mod steps {
            #[wave(range(4))]
            fn a(phase: Round, x: &mut u32) {
                *x += phase;
            }

            #[wave(range(4), after(a))]
            fn b(i: Index, others: Round, x: &mut u32) {
                *x += others + i;
            }

            #[wave(range(4), after(b))]
            fn c(nothing: Round, phases: u32, x: &mut u32) {
                *x += nothing + phases;
            }
        }
    }

    #[fixpoint(after(phases), until(steps == 1))]
    mod others {
        #[wave(range(4))]
        fn d(r: Round, x: &mut u32) {
            *x += r;
        }
    }
}

fn main() {}
