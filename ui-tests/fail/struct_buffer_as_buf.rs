//! A buffer of structs is one array for each field: there is no slice of structs to index.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Point {
        pub x: f32,
        pub y: f32,
    }

    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node)]
        points: Point,
        #[input(per = node)]
        given: Point,
    }

    #[wave(nodes)]
    fn first(v: Node, points: &Buf<Point>, given: &mut Point) {
        given.y = points[v].x;
    }
}

fn main() {}
