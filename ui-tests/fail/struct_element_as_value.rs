//! The item's own element is a reference: copying it says `*`.

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
        point: Point,
    }

    #[wave(nodes)]
    fn first(point: &mut Point) {
        let other = point;
        other.x = 1.0;
    }
}

fn main() {}
