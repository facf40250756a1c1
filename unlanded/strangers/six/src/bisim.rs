//! The coarsest bisimulation of a labelled transition graph, by partition refinement.

use vyre::prelude::*;

#[wave_graph]
#[pass(
    id = "a.bisimulation",
    unproven,
    same_result(
        class = "the least node of its class, whichever node of the class came first into the table",
        classes = "classes do not depend on which of their nodes came first into the table"
    )
)]
pub mod bisimulation {
    const NONE: u32 = u32::MAX;

    pub struct Data {
        #[topology] graph: Csr,
        /// The label of each edge, row by row as in `graph`.
        #[topology(per = node)] label: Rows<u32>,
        /// Label and class of each successor, in order, each pair once.
        #[scratch(per = row(label))] pairs: u64,
        /// How many pairs there are.
        #[scratch(per = node)] many: u32,
        #[scratch(per = node)] hash: u32,
        /// A node for each class of this phase.
        #[scratch(per = node * 2 + 1, init = NONE, reset = round)] table: u32,
        /// The least node of each class, at the node that stands in the table.
        #[scratch(per = node, init = NONE, reset = round)] least: u32,
        #[scratch(per = node)] chosen: u32,
        #[output(per = node)] class: u32,
        #[reduce(count)] classes: u64,
    }

    #[device]
    fn sift(pairs: &mut Row<u64>, from: u32, end: u32) {
        let mut at = from;
        loop {
            let mut child = 2 * at + 1;
            if child >= end {
                break;
            }
            if child + 1 < end && pairs[child] < pairs[child + 1] {
                child += 1;
            }
            if pairs[at] >= pairs[child] {
                break;
            }
            pairs.swap(at, child);
            at = child;
        }
    }

    #[device]
    fn sort(pairs: &mut Row<u64>) {
        let len = pairs.len();
        for k in (0..len / 2).rev() {
            sift(pairs, k, len);
        }
        for k in (1..len).rev() {
            pairs.swap(0, k);
            sift(pairs, 0, k);
        }
    }

    #[device]
    fn mixed(hash: u32, x: u64) -> u32 {
        let y = (x ^ u64::from(hash)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (y >> 32) as u32 ^ hash.rotate_left(7)
    }

    #[device]
    fn same(graph: &Csr, pairs: &Buf<u64>, many: &Buf<u32>, class: &Buf<u32>, v: u32, w: u32) -> bool {
        if class[v] != class[w] || many[v] != many[w] {
            return false;
        }
        let (a, b) = (graph.edges(v).start, graph.edges(w).start);
        for k in 0..many[v] {
            if pairs[a + k] != pairs[b + k] {
                return false;
            }
        }
        true
    }

    #[fixpoint(until(classes == classes.before), max_rounds = 4_294_967_295)]
    mod phases {
        #[wave(nodes)]
        fn sign(
            v: Node, graph: &Csr, label: &Row<u32>, class: &Buf<u32>,
            pairs: &mut Row<u64>, many: &mut u32, hash: &mut u32,
        ) {
            for (k, (w, l)) in graph.neighbors(v).zip(label).enumerate() {
                pairs[k as u32] = u64::from(l) << 32 | u64::from(class[w]);
            }
            sort(pairs);
            let mut sum = mixed(0, u64::from(class[v]));
            let mut len = 0;
            for k in 0..pairs.len() {
                if len == 0 || pairs[k] != pairs[len - 1] {
                    pairs[len] = pairs[k];
                    sum = mixed(sum, pairs[k]);
                    len += 1;
                }
            }
            *many = len;
            *hash = sum;
        }

        #[wave(nodes, after(sign))]
        fn join(
            v: Node, graph: &Csr, pairs: &Buf<u64>, many: &Buf<u32>, class: &Buf<u32>, hash: &u32,
            table: &Buf<Atomic<u32>>, least: &Buf<Atomic<u32>>, chosen: &mut u32,
        ) {
            let mut at = *hash % table.len();
            let found = loop {
                let old = table[at].compare_and_swap(NONE, v);
                if old == NONE {
                    break v;
                }
                if same(graph, pairs, many, class, v, old) {
                    break old;
                }
                at = (at + 1) % table.len();
            };
            *chosen = found;
            least[found].fetch_min(v);
        }

        #[wave(nodes, after(join))]
        fn name(v: Node, least: &Buf<u32>, chosen: &u32, class: &mut u32, classes: &Reduce<Count>) {
            *class = least[*chosen];
            if *class == v {
                classes.inc();
            }
        }
    }
}
