//! A graph cannot include itself, by whichever path.

use vyre::prelude::*;

#[wave_graph]
mod walk {
    #[include(graph = graph)]
    use self::walk;

    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node)]
        x: u32,
    }

    #[wave(nodes, after(walk))]
    fn a(x: &mut u32, walk_x: &u32) {
        *x = *walk_x;
    }
}

#[wave_graph]
mod again {
    #[include(graph = graph)]
    use crate::again as inner;

    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node)]
        x: u32,
    }

    #[wave(nodes)]
    fn a(x: &mut u32) {
        *x = 1;
    }
}

fn main() {
    println!("{} {}", walk::PLAN, again::PLAN);
}
