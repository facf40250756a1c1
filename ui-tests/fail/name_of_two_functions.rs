//! A name that a glob brings with its source, and a `use` with another meaning, is not compiled as the one and called as
//! the other.

use vyre::prelude::*;

mod halves {
    use vyre::prelude::*;

    #[device]
    pub fn part(x: u32) -> u32 {
        x / 2
    }
}

mod thirds {
    pub fn part(x: u32) -> u32 {
        x / 3
    }
}

use halves::*;
use thirds::part;

#[kernel]
fn parts(i: Index, out: &mut u32) {
    *out = part(i);
}

fn main() -> Result<(), vyre::Error> {
    let mut out = [0; 4];
    parts::run(&Runtime::vir0(), &mut out)?;
    Ok(())
}
