//! Passes that do not end for minutes, or ever, unless they are told to, each in another way: for tests of what stops them.

#![allow(missing_docs, reason = "fields of a pass are explained by its kernels")]

use vyre::prelude::*;

/// A loop that accesses no memory; item 0 ends at once if `turns` is 0, and so do all others.
#[wave_graph]
pub mod spin {
    pub struct Data {
        #[output(per = items)]
        out: u32,
        items: u32,
        turns: u32,
    }

    #[wave(range(items))]
    fn spin(i: Index, turns: u32, out: &mut u32) {
        if turns > 0 {
            loop {}
        }
        *out = i + 1;
    }
}

/// A round that ends, and one that does not: where progress says that there was one round, the run is in the second.
#[wave_graph]
pub mod later {
    pub struct Data {
        #[output(per = items)]
        out: u32,
        #[reduce(or)]
        again: bool,
        items: u32,
    }

    #[fixpoint(until(!again), max_rounds = 2)]
    mod turn {
        #[wave(range(items))]
        fn spin(i: Index, round: Round, out: &mut u32, again: &Reduce<Or<bool>>) {
            if round > 0 {
                loop {}
            }
            *out = i + 1;
            again.or(true);
        }
    }
}

/// Rounds of one lane, as many as are asked for; u32::MAX take minutes.
#[wave_graph]
pub mod rounds {
    pub struct Data {
        #[reduce(or)]
        again: bool,
        wanted: u32,
    }

    #[fixpoint(until(!again), max_rounds = 4_294_967_295)]
    mod turn {
        #[wave(once)]
        fn again(round: Round, wanted: u32, again: &Reduce<Or<bool>>) {
            again.or(wanted == u32::MAX || round + 1 < wanted);
        }
    }
}

/// Sweeps over all pairs of items, each lane in a `for` loop: minutes for the items that tests give it.
#[wave_graph]
pub mod pairs {
    pub struct Data {
        #[output(per = items)]
        out: u32,
        items: u32,
        others: u32,
    }

    #[wave(range(items))]
    fn pair(i: Index, others: u32, out: &mut u32) {
        let mut sum = i;
        for other in 0..others {
            sum = sum.wrapping_mul(5).wrapping_add(other);
        }
        *out = sum;
    }
}

/// Tokens that walk along the edges of a graph, as many rounds as are asked for; u32::MAX take minutes. Few tokens make
/// narrow rounds.
#[wave_graph]
pub mod tokens {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[frontier]
        front: Frontier,
        #[output(per = node)]
        visits: u32,
        tokens: u32,
        wanted: u32,
    }

    #[wave(nodes)]
    fn init(v: Node, tokens: u32, visits: &mut u32, front: &Push) {
        *visits = 0;
        if v < tokens {
            front.push(v);
        }
    }

    #[fixpoint(after(init), until(front.is_empty()), max_rounds = 4_294_967_295)]
    mod steps {
        #[wave(edges(graph, from = front))]
        fn step(e: Edge, round: Round, wanted: u32, visits: &Buf<Atomic<u32>>, front: &Push) {
            visits[e.dst].fetch_add(1);
            if wanted == u32::MAX || round + 1 < wanted {
                front.push(e.dst);
            }
        }
    }
}

/// A fixpoint whose condition does not end if it has u32::MAX turns.
#[wave_graph]
pub mod undecided {
    pub struct Data {
        #[output(per = items)]
        out: u32,
        items: u32,
        turns: u32,
    }

    #[device]
    fn decided(turns: u32) -> bool {
        let mut turn = 0;
        while turn < turns {
            if turns != u32::MAX {
                turn += 1;
            }
        }
        true
    }

    #[fixpoint(until(decided(turns)), max_rounds = 10)]
    mod once {
        #[wave(range(items))]
        fn count(i: Index, round: Round, out: &mut u32) {
            *out = i + round;
        }
    }
}

/// Loops of few turns each, which together take days: over numbers, an array and bits.
#[wave_graph]
pub mod nests {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node)]
        out: u32,
        #[scratch(per = node, bits = 4_096)]
        row: Bits,
        kind: u32,
    }

    #[wave(nodes)]
    fn nest(i: Node, kind: u32, row: &Bits, out: &mut u32) {
        let mut sum = i;
        if kind == 1 {
            for x in 0..60_000u32 {
                for y in [1u32, 2, 3, 4] {
                    for z in (0..60_000u32).rev() {
                        for w in 0..60_000u32 {
                            sum = sum.wrapping_mul(x + w).wrapping_add(y + z);
                        }
                    }
                }
            }
        }
        if kind == 2 {
            for bit in 0..4_096u32 {
                row.set(i, bit);
            }
            for x in row.ones(i) {
                for y in row.ones(i) {
                    for z in row.ones(i) {
                        for w in row.ones(i) {
                            sum = sum.wrapping_mul(x + w).wrapping_add(y + z);
                        }
                    }
                }
            }
        }
        *out = sum;
    }
}
