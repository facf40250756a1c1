//! What is wrong in a `#[device] mod` is said there, once, however many passes use it.

use vyre::prelude::*;

#[device]
mod shapes {
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Point {
        pub x: f32,
        pub y: f32,
    }

    impl Point {
        pub fn shown(&self) -> f32 {
            println!("{}", self.x);
            self.x
        }
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
        point.x += point.shown();
    }
}

fn main() {}
