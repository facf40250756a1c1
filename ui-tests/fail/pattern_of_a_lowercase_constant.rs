//! A pattern that binds a name here and compares with a constant there is refused where it stands.

use vyre::prelude::*;

#[allow(non_upper_case_globals)]
const low: u32 = 2;
#[allow(non_upper_case_globals)]
const up: u32 = 3;

#[kernel]
fn k(i: Index, y: &mut u32) {
    *y = match i {
        low => 1,
        other => other,
    };
}

#[device]
fn helper(i: u32) -> bool {
    matches!(i, low)
}

#[device]
mod helpers {
    #[device]
    pub mod inner {
        use crate::low;

        #[device]
        pub fn is_low(i: u32) -> bool {
            match i {
                low => true,
                _ => false,
            }
        }
    }
}

#[wave_graph]
mod graph {
    pub struct Data {
        #[output(per = 4)]
        y: u32,
    }

    #[wave(range(4))]
    fn k(i: Index, y: &mut u32) {
        *y = match (i, i + 1) {
            (0, low) => 1,
            _ => 0,
        };
    }

    #[fixpoint(after(k), until(matches!(round, up)))]
    mod steps {
        #[wave(range(4))]
        fn more(y: &mut u32) {
            *y += 1;
        }
    }
}

fn main() {}
