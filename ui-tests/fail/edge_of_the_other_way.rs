//! Each graph numbers its own edges, the one the other way round too.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        roads: Csr,
        #[topology(reverse_of = roads)]
        back: Csr,
        #[topology(per = edge(roads))]
        length: u32,
        #[output(per = node)]
        sum: u32,
        #[output(per = node)]
        longest: u32,
        #[output(per = edge(back))]
        twice: u32,
    }

    #[device]
    fn of(e: u32, length: &Buf<u32>) -> u32 {
        length[e]
    }

    #[wave(edges(back))]
    fn swept(e: Edge, sum: &Buf<Atomic<u32>>, length: &Buf<u32>) {
        sum[e.src].fetch_add(length[e.index]);
    }

    #[wave(nodes)]
    fn walked(v: Node, longest: &mut u32, back: &Csr, length: &Buf<u32>) {
        for e in back.edges(v) {
            let at = e;
            *longest = (*longest).max(of(at, length));
        }
    }

    #[wave(edges(roads))]
    fn forward(e: Edge, length: &u32, twice: &Buf<Atomic<u32>>) {
        twice[e.index].store(*length * 2);
    }

    #[wave(nodes, after(walked))]
    fn both(v: Node, longest: &mut u32, roads: &Csr, length: &Buf<u32>) {
        for e in roads.edges(v) {
            *longest = (*longest).max(length[e]);
        }
    }
}

fn main() {}
