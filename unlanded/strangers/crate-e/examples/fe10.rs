//! refuse: a kernel with arrays, records
use vyre::prelude::*;
#[kernel]
fn k(i: Index, x: &[u32; 4], y: &mut u32) {
    *y = x[0] + i;
}
#[kernel]
fn l(i: Index, x: &Records<[u32; 4]>, y: &mut u32) {
    *y = x.get(i)[0] + i;
}
#[kernel]
fn m(i: Index, l: &Push, y: &mut u32) {
    l.push(i);
}
fn main() {}
