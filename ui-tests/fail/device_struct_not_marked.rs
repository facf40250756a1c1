//! A struct of another module stands in a `#[device] mod`: rustc looks for it as a macro otherwise.

use vyre::prelude::*;

mod shapes {
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Point {
        pub x: f32,
        pub y: f32,
    }
}

#[wave_graph]
mod pass {
    use super::shapes::Point;

    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node)]
        point: Point,
    }

    #[wave(nodes)]
    fn first(point: &mut Point) {
        point.x = 1.0;
    }
}

fn main() {}
