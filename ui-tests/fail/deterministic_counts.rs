//! A count gives the same bits if it goes by one amount, in one place, and shows no more than that it was reached.

use vyre::prelude::*;

#[wave_graph(deterministic)]
pub mod g {
    pub struct Data {
        #[topology] graph: Csr,
        #[input(per = node)] need: u32,
        #[output(per = node)] a: u32,
        #[output(per = node)] b: u32,
        #[output(per = node)] c: u32,
        #[frontier] ready: Frontier,
    }

    #[wave(edges(graph))]
    fn by_weight(e: Edge, need: &Buf<u32>, a: &Buf<Atomic<u32>>, ready: &Push) {
        if a[e.dst].fetch_sub(need[e.src]) == 1 {
            ready.push(e.dst);
        }
    }

    #[wave(edges(graph))]
    fn twice(e: Edge, b: &Buf<Atomic<u32>>, ready: &Push) {
        b[e.src].fetch_add(1);
        if b[e.dst].fetch_sub(1) == 1 {
            ready.push(e.dst);
        }
    }

    #[wave(edges(graph))]
    fn of_the_source(e: Edge, need: &Buf<u32>, c: &Buf<Atomic<u32>>, ready: &Push) {
        if c[e.dst].fetch_add(1) + 1 == need[e.src] {
            ready.push(e.dst);
        }
    }
}

fn main() {}
