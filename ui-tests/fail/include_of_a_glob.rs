//! A glob names no graph.

use vyre::prelude::*;

mod search {
    use vyre::prelude::*;

    #[wave_graph]
    pub mod count {
        pub struct Data {
            #[reduce(count)]
            items: u64,
        }

        #[wave(range(5))]
        fn add(items: &Reduce<Count>) {
            items.inc();
        }
    }
}

#[wave_graph]
mod around {
    #[include]
    use super::search::*;

    pub struct Data {
        #[output(per = 5)]
        out: u32,
    }

    #[wave(range(5))]
    fn write(i: Index, out: &mut u32) {
        *out = i;
    }
}

fn main() -> Result<(), vyre::Error> {
    around::Session::new(&Runtime::vir0(), ())?.run(around::Run {})?;
    Ok(())
}
