//! `_` stands for a result of the included graph that this graph does not give back.

use vyre::prelude::*;

#[wave_graph]
mod search {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[frontier]
        front: Frontier,
        #[input(per = node)]
        seeds: u32,
        #[output(per = node)]
        dist: u32,
        #[reduce(count)]
        reached: u64,
        limit: u32,
    }

    #[wave(nodes)]
    fn begin(v: Node, seeds: &u32, limit: u32, dist: &mut u32, front: &Push, reached: &Reduce<Count>) {
        *dist = *seeds;
        if *seeds < limit {
            front.push(v);
            reached.inc();
        }
    }
}

#[wave_graph]
mod whole {
    #[include(graph = graph, seeds = _, limit = _, front = _, dists = _, reached = _)]
    use super::search;

    pub struct Data {
        #[topology]
        graph: Csr,
    }
}

fn main() {}
