use vyre::prelude::*;

#[wave_graph]
mod steps {
    pub struct Data {
        #[output(per = 1)]
        out: u32,
        rounds: u32,
    }

    #[fixpoint(until(round == rounds), max_rounds = 9)]
    mod inner {
        #[wave(once)]
        fn a(out: &Buf<Atomic<u32>>) {
            out[0].fetch_add(1);
        }
    }

    #[wave(once, after(inner::a))]
    fn last(out: &Buf<Atomic<u32>>) {
        out[0].fetch_add(1);
    }
}

fn main() {}
