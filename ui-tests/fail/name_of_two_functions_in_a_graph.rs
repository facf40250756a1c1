//! In a graph too: the function that a `use` names is the one that is called, and it has no mark.

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

#[wave_graph]
mod parts {
    use super::halves::*;
    use super::thirds::part;

    pub struct Data {
        #[output(per = 4)]
        out: u32,
    }

    #[wave(range(4))]
    fn write(i: Index, out: &mut u32) {
        *out = part(i);
    }
}

fn main() -> Result<(), vyre::Error> {
    parts::Session::new(&Runtime::vir0(), ())?.run(parts::Run {})?;
    Ok(())
}
