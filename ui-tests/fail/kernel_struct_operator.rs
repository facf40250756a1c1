//! An operator of the user's is refused.

use vyre::prelude::*;

#[kernel]
fn k(i: Index, y: &mut u32) {
    #[derive(Clone, Copy)]
    struct Point {
        x: u32,
    }
    impl std::ops::Add for Point {
        type Output = Point;
        fn add(self, other: Point) -> Point {
            Point { x: self.x + other.x }
        }
    }
    let p = Point { x: i };
    *y = (p + p).x;
}

fn main() {}
