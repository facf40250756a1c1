//! A wave takes a buffer of structs as a whole, or some of its parts.

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
    fn f(e: Edge, point: &Records<Point>, point_x: &Buf<Atomic<u32>>) {
        point_x[e.dst].fetch_add(point.get(e.src).y);
    }
}

fn main() {}
