//! A deterministic graph has one result: what lets it differ is refused where it is.

use vyre::prelude::*;

#[wave_graph(deterministic)]
pub mod g {
    pub struct Data {
        #[topology] graph: Csr,
        #[input(per = node)] x: f32,
        #[output(per = node)] into: f32,
        #[output(per = node)] parent: u32,
        #[reduce(sum)] total: f32,
    }

    #[wave(nodes)]
    fn add(x: &f32, total: &Reduce<Sum<f32>>) {
        total.add(*x);
    }

    #[wave(edges(graph))]
    fn spread(e: Edge, x: &Buf<f32>, into: &Buf<Atomic<f32>>) {
        into[e.dst].fetch_add(x[e.src]);
    }

    #[wave(edges(graph))]
    fn claim(e: Edge, parent: &Buf<Atomic<u32>>) {
        parent[e.dst].compare_exchange(0, e.src + 1);
    }
}

fn main() {}
