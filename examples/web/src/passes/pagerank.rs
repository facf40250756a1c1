//! PageRank: how often a walker comes by each node who mostly follows edges, and sometimes starts anew.

use vyre::prelude::*;

#[wave_graph]
pub mod pagerank {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[topology(reverse_of = graph)]
        incoming: Csr,
        #[input(per = node)]
        first: f32,
        #[output(per = node)]
        rank: f32,
        #[scratch(per = node)]
        share: f32,
        /// What nodes without edges out have together.
        #[reduce(sum)]
        dangling: f32,
        /// How far the ranks moved.
        #[reduce(sum)]
        moved: f32,
        /// One by the number of nodes.
        start: f32,
        tolerance: f32,
        rounds: u32,
    }

    const DAMPING: f32 = 0.85;

    #[wave(nodes)]
    fn init(first: &f32, rank: &mut f32) {
        *rank = *first;
    }

    #[fixpoint(after(init), until(moved < tolerance || round + 1 == rounds), max_rounds = 1_000)]
    mod iteration {
        #[wave(nodes)]
        fn scatter(v: Node, graph: &Csr, rank: &f32, share: &mut f32, dangling: &Reduce<Sum<f32>>) {
            let degree = graph.degree(v);
            if degree > 0 {
                *share = *rank / degree as f32;
            } else {
                dangling.add(*rank);
            }
        }

        #[wave(nodes, after(scatter))]
        fn gather(
            v: Node,
            incoming: &Csr,
            share: &Buf<f32>,
            dangling: f32,
            start: f32,
            rank: &mut f32,
            moved: &Reduce<Sum<f32>>,
        ) {
            let mut walked = dangling * start;
            for u in incoming.neighbors(v) {
                walked += share[u];
            }
            let next = (1.0 - DAMPING) * start + DAMPING * walked;
            moved.add((next - *rank).abs());
            *rank = next;
        }
    }
}
