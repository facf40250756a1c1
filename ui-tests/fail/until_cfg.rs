use vyre::prelude::*;

#[wave_graph]
mod rounds {
    pub struct Data {
        #[output(per = 1)]
        o: u32,
    }

    #[fixpoint(until({
        #[cfg(any())]
        let round = 9;
        round > 2
    }))]
    mod turns {
        #[wave(once)]
        fn step(o: &mut u32) {
            *o += 1;
        }
    }
}

fn main() {}
