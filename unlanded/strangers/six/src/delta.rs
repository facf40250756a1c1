//! Shortest paths by delta-stepping.

use vyre::prelude::*;

pub const FAR: u32 = u32::MAX;

#[wave_graph]
#[pass(
    id = "a.delta",
    unproven,
    same_result(
        dist = "the length of a shortest path is unique",
        phase = "buckets that have a node are unique, and come in order"
    )
)]
pub mod delta_stepping {
    pub struct Data {
        /// Edges of at most `delta`.
        #[topology] light: Csr,
        #[topology(per = edge(light))] light_weight: u32,
        /// All others.
        #[topology] heavy: Csr,
        #[topology(per = edge(heavy))] heavy_weight: u32,
        #[topology] delta: u32,
        /// Nodes of later buckets. Some may have been lowered into an earlier one since.
        #[frontier(unique)] later: Frontier,
        /// Nodes of this bucket.
        #[frontier(unique)] front: Frontier,
        /// All that were in this bucket.
        #[frontier(unique)] settled: Frontier,
        #[scratch(per = 1, init = FAR, reset = round)] bucket: u32,
        #[output(per = node, init = FAR)] dist: u32,
        /// In which phase the node was settled.
        #[output(per = node, init = FAR)] phase: u32,
        source: u32,
    }

    #[wave(once)]
    fn begin(source: u32, dist: &Buf<Atomic<u32>>, later: &Push) {
        dist[source].store(0);
        later.push(source);
    }

    #[fixpoint(after(begin), until(later.is_empty()), max_rounds = 4_294_967_295)]
    mod buckets {
        #[wave(items(later))]
        fn choose(delta: u32, dist: &u32, phase: &u32, bucket: &Buf<Atomic<u32>>) {
            if *phase == FAR {
                bucket[0].fetch_min(*dist / delta);
            }
        }

        #[wave(items(later), after(choose))]
        fn pick(v: Node, delta: u32, dist: &u32, phase: &u32, bucket: &Buf<u32>, later: &Push, front: &Push) {
            if *phase == FAR {
                if *dist / delta == bucket[0] {
                    front.push(v);
                } else {
                    later.push(v);
                }
            }
        }

        #[fixpoint(after(pick), until(front.is_empty()), max_rounds = 4_294_967_295)]
        mod lights {
            #[wave(items(front))]
            fn settle(v: Node, buckets: Round, phase: &mut u32, settled: &Push) {
                *phase = buckets;
                settled.push(v);
            }

            #[wave(edges(light, from = front))]
            fn relax(
                e: Edge, delta: u32, light_weight: &Buf<u32>, bucket: &Buf<u32>,
                dist: &Buf<Atomic<u32>>, front: &Push, later: &Push,
            ) {
                let far = dist[e.src].load().saturating_add(light_weight[e.index]);
                if far < dist[e.dst].fetch_min(far) {
                    if far / delta == bucket[0] {
                        front.push(e.dst);
                    } else {
                        later.push(e.dst);
                    }
                }
            }
        }

        /// One round: a frontier that is swept in a scope of its own gives what this phase has pushed.
        #[fixpoint(after(lights), until(settled.is_empty()))]
        mod heavies {
            #[wave(edges(heavy, from = settled))]
            fn relax(e: Edge, heavy_weight: &Buf<u32>, dist: &Buf<Atomic<u32>>, later: &Push) {
                let far = dist[e.src].load().saturating_add(heavy_weight[e.index]);
                if far < dist[e.dst].fetch_min(far) {
                    later.push(e.dst);
                }
            }
        }
    }
}
