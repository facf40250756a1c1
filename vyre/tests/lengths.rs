//! Lengths that are computed: of nodes, edges, constants and a run's scalars.

use vyre::prelude::*;
use vyre_tests::backend_tests;

/// Four cells a node, sums of pairs that each edge gives, and words of four bytes.
#[wave_graph(limits(nodes = 1_000, edges = 4_000), budget = "1 MiB")]
mod cells {
    pub(crate) const CELLS: u32 = 4;

    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        #[topology(per = node + 1)]
        offsets: u32,
        #[input(per = edge(graph) * 2)]
        pairs: u32,
        #[scratch(per = 4 * node)]
        ahead: u32,
        #[output(per = node * 4)]
        cell: u32,
        #[output(per = (n + CELLS - 1) / CELLS)]
        packed: u32,
        #[output(per = CELLS * 2 - 1)]
        around: u64,
        #[list(capacity = n % 3 * 2 + 1, output)]
        some: List<u32>,
        #[reduce(sum)]
        total: u64,
        n: u32,
    }

    #[wave(range(node * 4))]
    fn fill(i: Index, offsets: &Buf<u32>, ahead: &mut u32) {
        *ahead = offsets[i / CELLS + 1] * 10 + i % CELLS;
    }

    #[wave(range(4 * node), after(fill))]
    fn copy(ahead: &u32, cell: &mut u32) {
        *cell = *ahead;
    }

    #[wave(edges(graph))]
    fn add(e: Edge, pairs: &Buf<u32>, total: &Reduce<Sum<u64>>) {
        total.add(u64::from(pairs[e.index * 2] + pairs[e.index * 2 + 1]));
    }

    #[wave(range(n))]
    fn pack(i: Index, packed: &Buf<Atomic<u32>>) {
        packed[i / CELLS].fetch_or(1 << (i % CELLS));
    }

    #[wave(range(CELLS * 2 - 1))]
    fn number(i: Index, around: &mut u64) {
        *around = u64::from(i) << 33;
    }

    #[wave(range((n + 1) % 3))]
    fn list(i: Index, some: &Append<u32>) {
        some.append(i + 7);
    }
}

fn lengths_are_computed(runtime: &Runtime) {
    let graph = Csr::from_edges(3, &[(0, 1), (2, 0)]).unwrap();
    let topology = cells::Topology {
        graph: &graph,
        offsets: &[0, 1, 1, 2],
    };
    let mut session = cells::Session::new(runtime, topology).unwrap();
    for n in [5, 1, 13] {
        let out = session
            .run(cells::Run {
                pairs: &[1, 2, 3, 4],
                n,
            })
            .unwrap();
        assert_eq!(out.cell, [10, 11, 12, 13, 10, 11, 12, 13, 20, 21, 22, 23]);
        let mut packed = vec![15; n as usize / 4];
        packed.push(1);
        assert_eq!((out.packed, out.total), (packed, 10));
        assert_eq!((out.around.len(), out.around[6]), (7, 6 << 33));
        let mut some = out.some;
        some.sort_unstable();
        assert_eq!(some, [7, 8][..(n as usize + 1) % 3]);
    }
}

fn another_graph_has_other_lengths(runtime: &Runtime) {
    let graph = Csr::from_edges(1, &[]).unwrap();
    let topology = cells::Topology {
        graph: &graph,
        offsets: &[0, 9],
    };
    let mut session = cells::Session::new(runtime, topology).unwrap();
    assert_eq!(
        session
            .run(cells::Run { pairs: &[], n: 2 })
            .unwrap()
            .cell
            .len(),
        4
    );
    let graph = Csr::from_edges(2, &[(0, 1)]).unwrap();
    session
        .update(cells::Topology {
            graph: &graph,
            offsets: &[0, 1, 2],
        })
        .unwrap();
    let out = session
        .run(cells::Run {
            pairs: &[7, 8],
            n: 2,
        })
        .unwrap();
    assert_eq!(
        (out.cell, out.total),
        (vec![10, 11, 12, 13, 20, 21, 22, 23], 15)
    );
    let refused = session.update(cells::Topology {
        graph: &graph,
        offsets: &[0, 1],
    });
    let told = "`offsets` has 2 elements; the pass needs 3 (per = node + 1, 3 elements)";
    assert_eq!(refused.unwrap_err().to_string(), told);
    let refused = session.run(cells::Run { pairs: &[7], n: 2 }).map(|_| ());
    let told = "`pairs` has 1 element; the pass needs 2 (per = edge(graph) * 2, 2 elements)";
    assert_eq!(refused.unwrap_err().to_string(), told);
}

/// Lengths that not every graph and run has.
#[wave_graph]
mod fallible {
    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        #[scratch(per = node - 2)]
        inner: u32,
        #[output(per = (n - 1) * (n - 1))]
        square: u32,
        #[list(capacity = n / m)]
        shares: List<u32>,
        #[reduce(count)]
        swept: u64,
        n: u32,
        m: u32,
    }

    #[wave(range(node - 2))]
    fn inside(inner: &mut u32) {
        *inner = 1;
    }

    #[wave(range(m - n))]
    fn count(shares: &Append<u32>, swept: &Reduce<Count>) {
        shares.append(1);
        swept.inc();
    }

    #[wave(range(n - 1))]
    fn fill(i: Index, square: &Buf<Atomic<u32>>) {
        square[i * i].store(1);
    }
}

fn a_length_without_a_value_is_refused_before_the_run(runtime: &Runtime) {
    let small = Csr::from_edges(1, &[]).unwrap();
    let refused = fallible::Session::new(runtime, &small)
        .map(|_| ())
        .unwrap_err();
    assert_eq!(
        refused.to_string(),
        "`inner` would have `node - 2` elements, and -1 is not between 0 and 4294967295"
    );
    let graph = Csr::from_edges(4, &[]).unwrap();
    let mut session = fallible::Session::new(runtime, &graph).unwrap();
    for (n, m, told) in [
        (
            0,
            1,
            "`fill` would have `n - 1` elements, and -1 is not between 0 and 4294967295",
        ),
        (
            65_537,
            1,
            "`square` would have `(n - 1) * (n - 1)` elements, and 4294967296 is not between 0 and 4294967295",
        ),
        (
            2,
            0,
            "`shares` would have `n / m` elements, and 2 / 0 divides by zero",
        ),
        (
            2,
            1,
            "`count` would have `m - n` elements, and -1 is not between 0 and 4294967295",
        ),
    ] {
        let refused = session.run(fallible::Run { n, m }).map(|_| ()).unwrap_err();
        assert_eq!(refused.to_string(), told);
    }
    let out = session.run(fallible::Run { n: 3, m: 3 }).unwrap();
    assert_eq!((out.square, out.swept), (vec![1, 1, 0, 0], 0));
    // A trap says how the capacity is declared.
    let full = session
        .run(fallible::Run { n: 3, m: 5 })
        .map(|_| ())
        .unwrap_err();
    let told = "list `shares` needs at least 2 items; its capacity is 0 (n / m) in `count` (";
    assert!(full.to_string().starts_with(told), "{full}");
}

/// What one graph counts, for others.
mod shared {
    use vyre::prelude::*;

    const WIDTH: u32 = 2;

    #[wave_graph]
    #[pass(id = "test.lanes", unproven)]
    pub(crate) mod lanes {
        pub(crate) struct Data {
            #[topology]
            graph: Csr,
            #[topology(per = edge(graph) + node * WIDTH)]
            seed: u32,
            #[output(per = node * k / WIDTH)]
            lane: u32,
            k: u32,
        }

        #[wave(range(k * node / WIDTH))]
        fn fill(i: Index, seed: &Buf<u32>, lane: &mut u32) {
            *lane = seed[i % seed.len()] + i;
        }
    }
}

/// The same lengths under other names, spelled in another order.
#[wave_graph]
#[pass(id = "test.lengths.outer", unproven)]
mod outer {
    #[include(graph = roads, k = lanes_of, seed = start, lane = out)]
    use super::shared::lanes;

    pub(crate) struct Data {
        #[topology]
        roads: Csr,
        #[topology(per = node * 2 + edge(roads))]
        start: u32,
        #[output(per = lanes_of * node / 2)]
        out: u32,
        #[reduce(max)]
        most: u32,
        lanes_of: u32,
    }

    #[wave(range(node * lanes_of / 2), after(lanes))]
    fn measure(out: &u32, most: &Reduce<Max<u32>>) {
        most.max(*out);
    }
}

fn an_included_graph_shares_lengths(runtime: &Runtime) {
    let graph = Csr::from_edges(2, &[(0, 1)]).unwrap();
    let topology = outer::Topology {
        roads: &graph,
        start: &[10, 20, 30, 40, 50],
    };
    let mut session = outer::Session::new(runtime, topology).unwrap();
    let out = session.run(outer::Run { lanes_of: 6 }).unwrap();
    assert_eq!((out.out, out.most), (vec![10, 21, 32, 43, 54, 15], 54));
}

/// An index that is too large for a computed length.
#[wave_graph]
mod beyond {
    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        #[output(per = 2 * (node + n))]
        out: u32,
        n: u32,
    }

    #[wave(range(node + n + 3))]
    fn write(i: Index, out: &Buf<Atomic<u32>>) {
        out[2 * i].store(i);
    }
}

fn a_trap_says_how_a_length_is_computed(runtime: &Runtime) {
    let graph = Csr::from_edges(4, &[]).unwrap();
    let mut session = beyond::Session::new(runtime, &graph).unwrap();
    let trap = session.run(beyond::Run { n: 3 }).map(|_| ()).unwrap_err();
    let told =
        "index 14 is outside of `out` (per = 2 * (node + n), 14 elements) in `write` at item 7 (";
    assert!(trap.to_string().starts_with(told), "{trap}");
}

#[test]
fn plans_show_computed_lengths() {
    let plan = cells::PLAN.to_string();
    for line in [
        "range(4 * nodes)",
        "u32 x (edges * 2)",
        "up to n % 3 * 2 + 1 of u32",
        "4 B x ((n + 4 - 1) / 4)",
    ] {
        assert!(plan.contains(line), "{line}: {plan}");
    }
    let code = vyre_core::vir0::disasm::program(&cells::PLAN.program());
    for line in [
        "topology offsets: [u32; nodes + 1]",
        "input pairs: [u32; edges(graph) * 2]",
        "scratch ahead: [u32; 4 * nodes]",
        "output cell: [u32; 4 * nodes]",
        "output packed: [u32; (n + 4u32 - 1) / 4u32]",
        "output around: [u64; 7u32]",
        "list some: n % 3 * 2 + 1 of (u32), output",
    ] {
        assert!(code.contains(line), "{line}: {code}");
    }
}

/// Lengths that are the same polynomial, written differently.
#[wave_graph]
mod alike {
    pub(crate) const K: u32 = 3;

    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        #[output(per = (n + 1) * (node - K), init = 7)]
        a: u32,
        #[output(per = node * n - n * K + node - K)]
        b: u32,
        #[output(per = node * 1)]
        own: u32,
        #[output(per = (K + 1) * node)]
        rows: u32,
        #[output(per = (n * node).div_ceil(32))]
        words: u32,
        #[scratch(per = K * 2 + 1)]
        left: u32,
        #[scratch(per = 1 + K + K)]
        right: u32,
        #[output(per = node - n + 5)]
        steps: u32,
        n: u32,
    }

    #[wave(range(n * node - K * (1 + n) + node))]
    fn fill(i: Index, a: &mut u32, b: &mut u32) {
        *a += i;
        *b = 2 * i;
    }

    #[wave(nodes)]
    fn number(v: Node, own: &mut u32, rows: &mut [u32; (1 + K) as usize]) {
        *own = v;
        rows[3] = v;
    }

    #[fixpoint(after(fill), until(true), swap(a, b), swap(left, right))]
    mod once {
        #[wave(range(2 * K + 1))]
        fn keep(i: Index, left: &mut u32) {
            *left = i;
        }
    }

    #[wave(range((node * n).div_ceil(32)))]
    fn mark(words: &mut u32) {
        *words = u32::MAX;
    }

    #[wave(range(5 + node - n))]
    fn step(i: Index, steps: &mut u32) {
        *steps = i;
    }
}

fn lengths_of_one_polynomial_are_the_same(runtime: &Runtime) {
    let graph = Csr::from_edges(5, &[]).unwrap();
    let mut session = alike::Session::new(runtime, &graph).unwrap();
    for n in [1, 9, 10] {
        let out = session.run(alike::Run { n }).unwrap();
        let len = 2 * (n + 1);
        assert_eq!(out.a, (0..len).map(|i| 2 * i).collect::<Vec<_>>());
        assert_eq!(out.b, (0..len).map(|i| 7 + i).collect::<Vec<_>>());
        assert_eq!(out.own, [0, 1, 2, 3, 4]);
        assert_eq!((out.rows.len(), out.rows[19]), (20, 4));
        assert_eq!(out.words.len() as u32, (5 * n).div_ceil(32));
        assert_eq!(out.steps.len() as u32, 10 - n);
    }
    let refused = session.run(alike::Run { n: 11 }).map(|_| ()).unwrap_err();
    let told = "`steps` would have `node - n + 5` elements, and -1 is not between 0 and 4294967295";
    assert_eq!(refused.to_string(), told);
    let small = Csr::from_edges(2, &[]).unwrap();
    let mut session = alike::Session::new(runtime, &small).unwrap();
    let refused = session.run(alike::Run { n: 1 }).map(|_| ()).unwrap_err();
    assert!(
        refused
            .to_string()
            .starts_with("`a` would have `(n + 1) * (node - 3)` elements, and -2"),
        "{refused}"
    );
}

backend_tests!(
    lengths_of_one_polynomial_are_the_same,
    lengths_are_computed,
    another_graph_has_other_lengths,
    a_length_without_a_value_is_refused_before_the_run,
    an_included_graph_shares_lengths,
    a_trap_says_how_a_length_is_computed,
);
