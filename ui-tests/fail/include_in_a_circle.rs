//! Two graphs cannot include each other. One that includes them says nothing.

use vyre::prelude::*;

#[wave_graph]
mod there {
    #[include(graph = graph)]
    pub use super::back;

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

#[wave_graph]
mod back {
    #[include(graph = graph)]
    pub use super::there;

    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node)]
        y: u32,
    }

    #[wave(nodes)]
    fn b(y: &mut u32) {
        *y = 1;
    }
}

#[wave_graph]
mod around {
    #[include(graph = graph)]
    use super::there;

    pub struct Data {
        #[topology]
        graph: Csr,
    }

    #[wave(nodes, after(there))]
    fn c(there_x: &u32) {}
}

fn main() {
    println!("{} {} {}", there::PLAN, back::PLAN, around::PLAN);
}
