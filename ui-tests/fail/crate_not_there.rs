//! `crate` is a path that leads somewhere.

use vyre::prelude::*;

mod reexports {
    pub use vyre;
}

#[wave_graph(crate = nope::vyre)]
mod pass {
    pub struct Data {
        #[output(per = 3)]
        x: u32,
    }

    #[wave(range(3))]
    fn a(x: &mut u32) {
        *x = 1;
    }
}

#[wave_graph(crate = crate::reexport::vyre)]
mod misspelled {
    pub struct Data {
        #[output(per = 3)]
        x: u32,
    }

    #[wave(range(3))]
    fn a(x: &mut u32) {
        *x = 1;
    }
}

#[wave_graph(crate = reexports::vyre)]
mod right {
    pub struct Data {
        #[output(per = 3)]
        x: u32,
    }

    #[wave(range(3))]
    fn a(x: &mut u32) {
        *x = 1;
    }
}

fn main() {
    println!("{} {} {}", pass::PLAN, misspelled::PLAN, right::PLAN);
}
