//! The struct of a field stands in the module.

use vyre::prelude::*;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    pub x: f32,
    pub y: f32,
}

#[wave_graph]
mod pass {
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Vector {
        pub parts: [f32; 3],
    }

    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node)]
        point: Point,
        #[output(per = node)]
        vector: Vector,
    }

    #[wave(nodes)]
    fn first(point: &mut Point) {
        point.x = 1.0;
    }
}

fn main() {}
