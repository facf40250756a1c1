//! An item that a macro writes takes the place of what a glob brings, as any item does.

use vyre::prelude::*;

mod halves {
    use vyre::prelude::*;

    #[device]
    pub fn part(x: u32) -> u32 {
        x / 2
    }
}

macro_rules! thirds {
    () => {
        fn part(x: u32) -> u32 {
            x / 3
        }
    };
}

#[wave_graph]
mod parts {
    use super::halves::*;

    pub struct Data {
        #[output(per = 4)]
        out: u32,
    }

    thirds!();

    #[wave(range(4))]
    fn write(i: Index, out: &mut u32) {
        *out = part(i);
    }
}

fn main() -> Result<(), vyre::Error> {
    parts::Session::new(&Runtime::vir0(), ())?.run(parts::Run {})?;
    Ok(())
}
