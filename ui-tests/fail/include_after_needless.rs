//! `after` of a graph that is included is needless if all of its waves can do without, and is shown where it is written.

#![deny(warnings)]

use vyre::prelude::*;

mod marked {
    use vyre::prelude::*;

    #[wave_graph]
    pub mod two {
        pub struct Data {
            #[topology]
            graph: Csr,
            #[output(per = node)]
            first: u32,
            #[output(per = node)]
            second: u32,
        }

        #[wave(nodes)]
        fn a(first: &mut u32) {
            *first = 1;
        }

        #[wave(nodes)]
        fn b(second: &mut u32) {
            *second = 2;
        }
    }
}

#[wave_graph]
mod before {
    #[include(graph = graph, after(set))]
    use super::marked::two;

    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node)]
        x: u32,
    }

    #[wave(nodes)]
    fn set(x: &mut u32) {
        *x = 1;
    }
}

#[wave_graph]
mod behind {
    #[include(graph = graph)]
    use super::marked::two;

    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node)]
        x: u32,
    }

    #[wave(nodes, after(two))]
    fn set(x: &mut u32) {
        *x = 1;
    }
}

#[wave_graph]
mod needed {
    #[include(graph = graph)]
    use super::marked::two;

    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node)]
        x: u32,
    }

    #[wave(nodes, after(two))]
    fn set(two_first: &u32, x: &mut u32) {
        *x = *two_first;
    }
}

fn main() {}
