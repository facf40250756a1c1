//! A part of structs is what its field is: given, or written.

use vyre::prelude::*;

#[wave_graph]
mod g {
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Point {
        pub x: u32,
        pub y: f32,
    }

    pub struct Data {
        #[topology]
        graph: Csr,
        #[input(per = node)]
        point: Point,
    }

    #[wave(edges(graph))]
    fn f(e: Edge, point_x: &Buf<Atomic<u32>>, point_y: &Buf<u32>, point_z: &Buf<u32>) {
        point_x[e.dst].fetch_add(point_y[e.src] + point_z[0]);
    }
}

fn main() {}
