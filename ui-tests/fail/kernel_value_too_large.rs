//! A value doubles with each of these names: it is refused by its size, as soon as that is known.

use vyre::prelude::*;

#[kernel]
fn doubled(i: Index, y: &mut u32) {
    let a = i;
    let a = (a, a);
    let a = (a, a);
    let a = (a, a);
    let a = (a, a);
    let a = (a, a);
    let a = (a, a);
    let a = (a, a);
    let a = (a, a);
    let a = (a, a);
    let a = (a, a);
    let a = (a, a);
    let a = (a, a);
    let a = (a, a);
    let a = (a, a);
    let a = (a, a);
    let a = (a, a);
    *y = i;
}

#[kernel]
fn in_arrays(i: Index, y: &mut u32) {
    let a = [(i, i); 2];
    let a = [(a, a); 8];
    let a = [(a, a); 8];
    *y = i;
}

#[kernel]
fn by_a_helper(i: Index, y: &mut u32) {
    #[derive(Clone, Copy)]
    struct Table {
        rows: [[u32; 64]; 4],
        last: (u32, u32),
    }

    #[device]
    fn twice(table: Table) -> (Table, Table) {
        (table, table)
    }

    let table = Table { rows: [[i; 64]; 4], last: (i, i) };
    let ((first, _), _) = (twice(table), twice(table));
    *y = first.last.0;
}

fn main() {}
