//! How waves take arrays of a buffer.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[input(per = node)]
        given: [u32; 3],
        #[output(per = node)]
        labels: [u32; 4],
        #[output(per = node)]
        bytes: [u8; 4],
        #[output(per = edge(graph))]
        tolls: [i64; 2],
        #[frontier]
        front: Frontier,
        n: u32,
    }

    #[wave(edges(graph))]
    fn of_edges(labels: &mut [u32; 4], given: &[u32; 3]) {
        labels[0] = given[0];
    }

    #[wave(nodes)]
    fn of_nodes(tolls: &mut [i64; 2]) {
        tolls[0] = 1;
    }

    #[wave(range(n))]
    fn of_numbers(labels: &[u32; 4]) {
        let _ = labels[0];
    }

    #[wave(items(front))]
    fn twice(labels: &mut [u32; 4]) {
        labels[0] = 1;
    }

    #[wave(nodes)]
    fn of_another_length(labels: &mut [u32; 3]) {
        labels[0] = 1;
    }

    #[wave(nodes)]
    fn of_another_type(labels: &mut [i32; 4]) {
        labels[0] = 1;
    }

    #[wave(nodes)]
    fn as_a_scalar(labels: &mut u32) {
        *labels = 1;
    }

    #[wave(nodes)]
    fn as_a_slice(labels: &mut [u32]) {
        labels[0] = 1;
    }

    #[wave(nodes)]
    fn as_atomics(bytes: &Buf<Atomic<u8>>) {
        bytes[0].store(1);
    }

    #[wave(nodes)]
    fn what_is_given(given: &mut [u32; 3]) {
        given[0] = 1;
    }

    #[wave(nodes)]
    fn values_that_are_given(given: &Buf<Atomic<u32>>) {
        given[0].store(1);
    }
}

fn main() {}
