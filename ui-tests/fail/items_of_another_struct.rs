//! Structs of one name can be two: rustc compares what `Data` says with what a wave says.

use vyre::prelude::*;

#[device]
mod points {
    #[derive(Clone, Copy)]
    pub struct Pair {
        pub a: u32,
        pub b: u32,
    }
}

mod others {
    #[derive(Clone, Copy)]
    pub struct Pair {
        pub b: u32,
        pub a: u32,
    }
}

#[wave_graph]
mod graph {
    pub struct Data {
        #[list(capacity = 4)]
        found: List<super::points::Pair>,
        #[output(per = 4)]
        y: u32,
    }

    #[wave(range(4))]
    fn find(i: Index, found: &Append<super::points::Pair>) {
        found.append(super::points::Pair { a: i, b: 0 });
    }

    #[fixpoint(after(find), until(round == 1))]
    mod rounds {
        use crate::others::*;

        #[wave(items(found))]
        fn keep(item: Pair, y: &Buf<Atomic<u32>>) {
            y[item.a].store(item.b);
        }
    }
}

fn main() {}
