//! The macro sees structs, not enums.

use vyre::prelude::*;

#[derive(Clone, Copy)]
pub enum Shape {
    Point,
    Circle(u32),
}

#[kernel]
fn k(i: Index, y: &mut u32) {
    let shape = Shape::Circle(i);
    let other = Shape::Point;
    *y = match shape {
        Shape::Circle(radius) => radius,
        Shape::Point => 0,
    };
}

fn main() {}
