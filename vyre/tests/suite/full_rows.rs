//! Rows of bits of any width that begin with all bits.

use vyre::prelude::*;
use vyre_tests::{backend_tests, graphs};

/// What all predecessors have in common, by rows of five widths.
#[wave_graph(deterministic)]
pub mod common {
    const SEVEN: u32 = 7;

    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node, bits = width, init = true)]
        own: Bits,
        #[output(per = node, bits = 33, init = true)]
        odd: Bits,
        #[scratch(per = node, bits = SEVEN, init = true)]
        small: Bits,
        #[output(per = node, bits = 64, init = true)]
        whole: Bits,
        #[output(per = node, bits = 70, init = true)]
        untouched: Bits,
        #[reduce(or)]
        changed: bool,
        #[output(per = node)]
        counts: u32,
        width: u32,
    }

    #[wave(nodes)]
    fn begin(v: Node, own: &Bits, odd: &Bits, small: &Bits) {
        if v == 0 {
            own.clear(v);
            own.set(v, own.width() - 1);
        }
        odd.unset(v, v % 33);
        small.unset(v, v % 7);
    }

    #[fixpoint(after(begin), until(!changed), max_rounds = 1_000)]
    mod rounds {
        #[wave(edges(graph))]
        fn meet(e: Edge, own: &Bits, changed: &Reduce<Or<bool>>) {
            if own.and(e.dst, e.src) {
                changed.or(true);
            }
        }
    }

    #[wave(nodes, after(rounds))]
    fn count(v: Node, own: &Bits, odd: &Bits, small: &Bits, whole: &Bits, counts: &mut u32) {
        let mut last = 0;
        for bit in small.ones(v) {
            last = bit;
        }
        *counts = own.count(v) * 1_000_000
            + odd.count(v) * 10_000
            + small.count(v) * 1_000
            + whole.count(v) * 10
            + last;
    }
}

#[wave_graph]
pub mod including {
    #[include(graph = graph, odd = rows, width = 40, after(before))]
    use super::common;

    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node, bits = 33, init = true)]
        rows: Bits,
    }

    #[wave(nodes)]
    fn before(v: Node, rows: &Bits) {
        rows.unset(v, 32);
    }
}

fn last_of(v: u32) -> u32 {
    if v % 7 == 6 { 5 } else { 6 }
}

fn rows_of_any_width_begin_full(runtime: &Runtime) {
    for (graph, width) in [
        (graphs::chain(40), 1),
        (graphs::chain(90), 31),
        (graphs::grid(4, 3), 65),
        (graphs::chain(3), 96),
    ] {
        let mut session = common::Session::new(runtime, &graph).expect("it fits");
        for _ in 0..2 {
            let out = session.run(common::Run { width }).expect("it ends");
            for v in 0..graph.node_count() as u32 {
                assert!(out.own.ones(v).eq([width - 1]));
                assert!(out.odd.ones(v).eq((0..33).filter(|b| *b != v % 33)));
                assert!(out.untouched.ones(v).eq(0..70));
                assert_eq!(out.counts[v as usize], 1_326_640 + last_of(v));
            }
            let words = out.untouched.into_words();
            assert!(words.chunks(3).all(|row| row == [u32::MAX, u32::MAX, 63]));
        }
    }
}

fn included_rows_are_filled_once(runtime: &Runtime) {
    let graph = graphs::chain(20);
    let mut session = including::Session::new(runtime, &graph).expect("it fits");
    let out = session.run(including::Run {}).expect("it ends");
    for v in 0..20 {
        assert!(out.rows.ones(v).eq((0..32).filter(|b| *b != v)));
        assert!(out.common_own.ones(v).eq([39]));
    }
}

backend_tests!(rows_of_any_width_begin_full, included_rows_are_filled_once);
