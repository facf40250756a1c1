//! Tiny passes whose launches are explored.

#![allow(missing_docs, reason = "fields of a pass are explained by its kernels")]

use vyre::prelude::*;
use vyre_tests::graphs::UNSEEN;

/// A search whose frontier has room for two nodes.
#[wave_graph]
pub(crate) mod cramped {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[frontier(capacity = 2)]
        front: Frontier,
        #[output(per = node)]
        dist: u32,
        source: u32,
    }

    #[wave(nodes)]
    fn init(v: Node, source: u32, dist: &mut u32, front: &Push) {
        *dist = UNSEEN;
        if v == source {
            *dist = 0;
            front.push(v);
        }
    }

    #[fixpoint(after(init), until(front.is_empty()), max_rounds = 100)]
    mod levels {
        #[wave(edges(graph, from = front))]
        fn relax(e: Edge, round: Round, dist: &Buf<Atomic<u32>>, front: &Push) {
            if dist[e.dst].compare_exchange(UNSEEN, round + 1) {
                front.push(e.dst);
            }
        }
    }
}

/// A list that several warps append to, and whose items are counted where they say.
#[wave_graph]
pub(crate) mod listed {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[list(capacity = room)]
        found: List<(u32, u32)>,
        #[output(per = node)]
        seen: u32,
        room: u32,
    }

    #[wave(nodes)]
    fn find(v: Node, found: &Append<(u32, u32)>) {
        if v % 32 == 7 {
            found.append((v, v + 1000));
        }
    }

    #[wave(items(found), after(find))]
    fn count(item: (u32, u32), seen: &Buf<Atomic<u32>>) {
        let (at, x) = item;
        seen[at].fetch_add(x);
    }
}

/// Rounds that end when no node has ticked in one; each node counts them.
#[wave_graph]
pub(crate) mod counted {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node)]
        rounds: u32,
        #[reduce(count)]
        ticks: u64,
    }

    #[fixpoint(until(ticks == 0), max_rounds = 9)]
    mod ticking {
        #[wave(nodes)]
        fn tick(v: Node, round: Round, rounds: &mut u32, ticks: &Reduce<Count>) {
            *rounds += 1;
            if v & 31 == 0 && round < 3 {
                ticks.inc();
            }
        }
    }
}
