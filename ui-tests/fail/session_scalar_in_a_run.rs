//! A scalar of the session is in `Topology`, not in `Run`.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        k: u32,
        #[output(per = k)]
        x: u32,
    }

    #[wave(range(k))]
    fn number(i: Index, x: &mut u32) {
        *x = i;
    }
}

fn main() -> Result<(), vyre::Error> {
    let mut session = pass::Session::new(&Runtime::native(), pass::Topology { k: 3 })?;
    println!("{:?}", session.run(pass::Run { k: 3 })?.x);
    Ok(())
}
