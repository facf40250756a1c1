//! Passes with loops of every kind, and how many steps their runs take. A step is an item of a sweep, a round, or a turn of
//! a loop that counts.

#![allow(missing_docs, reason = "fields of a pass are explained by its kernels")]

use vyre::prelude::*;
use vyre::{Error, Runtime};

/// Loops that are left in every way that there is.
#[wave_graph]
pub mod ways {
    pub struct Data {
        #[output(per = items)]
        out: u32,
        #[reduce(sum)]
        odd: u32,
        #[reduce(max)]
        done: u32,
        items: u32,
        rounds: u32,
    }

    #[device]
    fn first_from(x: u32, wanted: u32) -> u32 {
        let mut y = x;
        loop {
            for z in y..y + 5 {
                if z == wanted {
                    return z + 1;
                }
            }
            y += 4;
            if y > 40 {
                return 0;
            }
        }
    }

    /// What rustc may evaluate counts nothing.
    #[device]
    const fn halvings(mut x: u32) -> u32 {
        let mut n = 0;
        while x > 0 {
            x /= 2;
            n += 1;
        }
        n
    }

    #[device]
    fn over(rounds: u32) -> bool {
        let mut left = rounds;
        while left > 2 {
            left -= 1;
        }
        left > 0
    }

    #[wave(range(items))]
    fn sum(i: Index, out: &mut u32, odd: &Reduce<Sum<u32>>) {
        // rustc evaluates it.
        const FEW: u32 = {
            let mut k = 0;
            while k < 3 {
                k += 1;
            }
            k
        };
        let mut sum = halvings(i) + FEW;
        'rows: for row in 0..i % 50 {
            let mut column = row;
            while column < 20 {
                column += 3;
                if column % 5 == 0 {
                    continue 'rows;
                }
                if column == 11 {
                    continue;
                }
                sum += column;
                if sum > 300 {
                    break 'rows;
                }
            }
            let found = loop {
                column += 1;
                if column % 7 == 0 {
                    break column;
                }
            };
            'odd: while {
                column += 1;
                if column % 2 == 1 {
                    continue 'odd;
                }
                column < 30
            } {
                sum += 1;
            }
            sum += 'block: {
                for x in (0..=found).rev().step_by(2) {
                    if x * x < column {
                        break 'block x;
                    }
                }
                9
            };
        }
        if sum % 2 == 1 {
            odd.add(1);
        }
        *out = sum + first_from(i % 50, 17);
    }

    #[fixpoint(after(sum), until(done >= rounds && over(done)), max_rounds = 9)]
    mod turns {
        #[wave(once)]
        fn count(round: Round, done: &Reduce<Max<u32>>) {
            done.max(round + 1);
        }
    }
}

macro_rules! labels {
    ($outer:lifetime) => {
        /// A loop in another of the same label: one is the macro's, the other its caller's.
        #[wave_graph]
        pub mod labels {
            pub struct Data {
                #[output(per = items)]
                out: u32,
                items: u32,
            }

            #[wave(range(items))]
            fn sum(i: Index, out: &mut u32) {
                $outer: while *out < 10 * i {
                    *out += 1;
                    'a: for x in [1u32, 2, 3] {
                        if *out % 3 == 0 {
                            break 'a;
                        }
                        if x == 2 {
                            continue $outer;
                        }
                        *out += x;
                    }
                }
            }
        }
    };
}
labels!('a);

/// Loops over edges, arrays, few and many numbers, and bits.
#[wave_graph]
pub mod walks {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node)]
        out: u32,
        #[scratch(per = node, bits = 100)]
        row: Bits,
        #[scratch(per = node, init = 1)]
        weight: u32,
    }

    #[wave(nodes)]
    fn share(v: Node, graph: &Csr, weight: &Buf<u32>, row: &Bits, out: &mut u32) {
        let mut sum = 0u32;
        for u in graph.neighbors(v) {
            sum += weight[u];
        }
        for u in graph.neighbors(v) {
            for w in graph.neighbors(u) {
                if w == v {
                    break;
                }
                let mut left = w % 4;
                while left > 0 {
                    left -= 1;
                    sum += 1;
                }
            }
        }
        for e in graph.edges(v) {
            sum ^= e;
            if e % 5 == 4 {
                continue;
            }
            for x in [3u32, 5, 7] {
                sum += x;
            }
        }
        let mut total = 0;
        for x in 0..v % 40 {
            total += x;
        }
        for x in 0..1_000u32 {
            if x > v {
                break;
            }
            total ^= x;
        }
        for x in 0..60_000u32 {
            for y in 0..3u32 {
                total ^= x + y;
            }
            if x == v % 9 {
                break;
            }
        }
        for bit in 0..v % 90 {
            row.set(v, bit);
        }
        for bit in row.ones(v) {
            total += bit;
            if bit == 70 {
                break;
            }
        }
        *out = sum.wrapping_add(total);
    }

    #[wave(edges(graph), after(share))]
    fn along(e: Edge, out: &Buf<Atomic<u32>>) {
        let mut left = e.dst % 3;
        while left > 0 {
            left -= 1;
        }
        out[e.dst].fetch_add(1);
    }
}

/// A search, with items of a frontier and edges out of it.
#[wave_graph]
pub mod search {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[frontier]
        front: Frontier,
        #[scratch(per = node, init = 0)]
        seen: u32,
        #[output(per = node)]
        round_of: u32,
        source: u32,
    }

    #[wave(nodes)]
    fn init(v: Node, source: u32, seen: &mut u32, front: &Push) {
        if v == source {
            *seen = 1;
            front.push(v);
        }
    }

    #[fixpoint(after(init), until(front.is_empty()), max_rounds = 100_000)]
    mod steps {
        #[wave(items(front))]
        fn mark(v: Node, round: Round, round_of: &Buf<Atomic<u32>>) {
            let mut left = v % 3;
            while left > 0 {
                left -= 1;
            }
            round_of[v].store(round + 1);
        }

        #[wave(edges(graph, from = front))]
        fn step(e: Edge, seen: &Buf<Atomic<u32>>, front: &Push) {
            if seen[e.dst].swap(1) == 0 {
                front.push(e.dst);
            }
        }
    }
}

/// More than any pass here takes.
pub const ENOUGH: u64 = 1 << 40;

/// Whether a run ended that had this limit.
///
/// # Panics
/// It ended otherwise.
pub fn ends<T>(limit: u64, ended: Result<T, Error>) -> bool {
    match ended {
        Ok(_) => true,
        Err(Error::Work { limit: said, .. }) if said == limit => false,
        Err(e) => panic!("{e}"),
    }
}

/// The least limit with which a run comes to its end.
///
/// # Panics
/// It has none.
pub fn least(mut ends_with: impl FnMut(u64) -> bool) -> u64 {
    let (mut short, mut enough) = (0, 1);
    if ends_with(0) {
        return 0;
    }
    while !ends_with(enough) {
        (short, enough) = (enough, 2 * enough);
        assert!(enough < ENOUGH, "it has an end");
    }
    while enough - short > 1 {
        let between = short.midpoint(enough);
        match ends_with(between) {
            true => enough = between,
            false => short = between,
        }
    }
    enough
}

/// A run takes as many steps as in the interpreter: it ends with these, and with none fewer. `open` opens a session, and
/// `run` runs it with a limit.
///
/// # Panics
/// It takes others.
pub fn takes<P, S>(
    runtime: &Runtime,
    open: impl Fn(&Runtime) -> S,
    run: impl Fn(&mut S, Option<u64>) -> Result<P, Error>,
) {
    let mut reference = open(&Runtime::vir0());
    let steps = least(|limit| ends(limit, run(&mut reference, Some(limit))));
    let mut session = open(runtime);
    assert!(
        ends(steps, run(&mut session, Some(steps))),
        "{steps} steps do"
    );
    if let Some(fewer) = steps.checked_sub(1) {
        assert!(
            !ends(fewer, run(&mut session, Some(fewer))),
            "{fewer} steps do"
        );
    }
    assert!(
        ends(steps, run(&mut session, Some(steps))),
        "the one after it"
    );
    if let Err(e) = run(&mut session, None) {
        panic!("without a limit: {e}");
    }
}

/// A graph of `nodes` nodes: each leads to a few others, and one to all.
///
/// # Panics
/// It has no nodes.
#[must_use]
pub fn wheel(nodes: u32) -> Csr {
    let to = |v: u32| (1..v % 6).map(move |k| (v, (v * 7 + k * k) % nodes));
    let hub = (0..nodes).map(|v| (nodes / 2, v));
    let edges: Vec<_> = (0..nodes).flat_map(to).chain(hub).collect();
    Csr::from_edges(nodes as usize, &edges).expect("all nodes are there")
}
