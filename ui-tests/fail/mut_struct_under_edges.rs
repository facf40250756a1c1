//! No item of `edges` owns a struct of a node, but any item updates its parts.

use vyre::prelude::*;

#[wave_graph]
mod g {
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Point {
        pub x: u32,
        pub y: u32,
    }

    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node)]
        point: Point,
    }

    #[wave(edges(graph))]
    fn f(e: Edge, point: &mut Point) {
        point.x += e.src;
    }
}

fn main() {}
