//! A struct beside the graph is out of the macro's sight.

use vyre::prelude::*;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Depot {
    pub x: u32,
}

#[wave_graph]
mod pass {
    use super::Depot;

    pub struct Data {
        #[topology]
        graph: Csr,
        #[input(per = node)]
        depot: Depot,
        #[output(per = node)]
        x: u32,
    }

    #[wave(nodes)]
    fn a(depot: &Depot, x: &mut u32) {
        *x = depot.x;
    }
}

fn main() {
    println!("{}", pass::PLAN);
}
