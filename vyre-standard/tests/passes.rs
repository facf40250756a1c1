//! Each standard pass on every backend against a few lines of Rust, by itself and included.

#![allow(missing_docs, reason = "passes of tests")]

use vyre::prelude::*;
use vyre::{Error, TrapKind};
use vyre_standard::{compact, csr_from_edges, exclusive_scan, histogram, sort_by_key, transpose};
use vyre_tests::backend_tests;
use vyre_tests::random::Random;

/// Below, at and above the sizes of blocks, and of blocks of blocks.
const SIZES: [usize; 14] = [
    0, 1, 2, 15, 16, 17, 31, 255, 256, 257, 4_095, 4_096, 4_097, 70_003,
];

fn numbers(len: usize, below: u32) -> Vec<u32> {
    let mut random = Random(len as u64 + 1);
    (0..len).map(|_| random.below(below)).collect()
}

fn sums_are_of_what_is_before(runtime: &Runtime) {
    let mut session = exclusive_scan::Session::new(runtime, ()).expect("it fits");
    for len in SIZES {
        let value = numbers(len, 1_000);
        let expected: Vec<u32> = value
            .iter()
            .scan(0, |sum, v| {
                let before = *sum;
                *sum += v;
                Some(before)
            })
            .collect();
        let run = exclusive_scan::Run {
            value: &value,
            n: len as u32,
        };
        assert!(
            session.run(run).expect("no trap").scanned == expected,
            "{len}"
        );
    }
}

fn numbers_are_counted(runtime: &Runtime) {
    let mut session = histogram::Session::new(runtime, ()).expect("it fits");
    for (len, bins) in [(0, 3), (1, 1), (5_000, 7), (5_000, 4_999)] {
        let key = numbers(len, bins);
        let mut expected = vec![0; bins as usize];
        key.iter().for_each(|&k| expected[k as usize] += 1);
        let n = len as u32;
        let run = |bins| histogram::Run { key: &key, n, bins };
        assert_eq!(session.run(run(bins)).expect("no trap").count, expected);
        if let Some(&largest) = key.iter().max() {
            let Err(Error::Trap(trap)) = session.run(run(largest)).map(|_| ()) else {
                panic!("a key has no bin");
            };
            assert!(matches!(trap.kind, TrapKind::IndexOutOfBounds));
        }
    }
}

fn what_is_kept_has_no_gaps(runtime: &Runtime) {
    let mut session = compact::Session::new(runtime, ()).expect("it fits");
    for len in SIZES {
        let value = numbers(len, u32::MAX);
        for rate in if len > 300 { 1..2 } else { 0..4 } {
            let keep: Vec<bool> = value.iter().map(|v| v % 3 < rate).collect();
            let kept = value.iter().zip(&keep).filter(|(_, keep)| **keep);
            let mut expected: Vec<u32> = kept.map(|(v, _)| *v).collect();
            let many = expected.len() as u64;
            expected.resize(len, 0);
            let out = session.run(compact::Run {
                value: &value,
                keep: &keep,
                n: len as u32,
            });
            let out = out.expect("no trap");
            assert!(out.kept == expected && out.many == many, "{len} {rate}");
        }
    }
}

fn pairs_are_sorted_and_keep_their_order(runtime: &Runtime) {
    let mut session = sort_by_key::Session::new(runtime, ()).expect("it fits");
    for len in SIZES {
        let ranges = [u32::MAX, 1, 16, 17, 300_000];
        for below in ranges.into_iter().take(if len > 300 { 1 } else { 5 }) {
            let key = numbers(len, below);
            let value: Vec<u32> = (0..len as u32).rev().collect();
            let mut expected: Vec<(u32, u32)> = key.iter().copied().zip(value.clone()).collect();
            expected.sort_by_key(|pair| pair.0);
            let out = session.run(sort_by_key::Run {
                key: &key,
                value: &value,
                n: len as u32,
            });
            let out = out.expect("no trap");
            let pairs = out.sorted.iter().copied().zip(out.values);
            assert!(pairs.eq(expected), "{len} {below}");
            // A digit is a round.
            let largest = key.iter().max().copied().unwrap_or(0);
            let digits = (1..8).take_while(|d| largest >> (4 * d) > 0).count() as u64;
            assert_eq!(out.report.rounds, [digits + 1]);
        }
    }
}

fn edges_become_a_graph(runtime: &Runtime) {
    let mut session = csr_from_edges::Session::new(runtime, ()).expect("it fits");
    for (rows, pairs) in [(0, 0), (1, 0), (1, 5), (17, 40), (900, 5_000), (900, 300)] {
        let source = numbers(pairs, rows.max(1));
        let target = numbers(pairs + 1, rows.max(1));
        let edges: Vec<(u32, u32)> = source.iter().copied().zip(target.clone()).collect();
        let (graph, from) = Csr::from_edges_indexed(rows as usize, &edges).expect("nodes exist");
        let run = |rows| csr_from_edges::Run {
            source: &source,
            target: &target[..pairs],
            pairs: pairs as u32,
            rows,
        };
        let out = session.run(run(rows)).expect("no trap");
        assert_eq!(out.offsets, graph.offsets());
        assert_eq!(out.targets, graph.targets());
        assert_eq!(out.pair, from);
        if let Some(&largest) = source.iter().max() {
            let Err(Error::Trap(trap)) = session.run(run(largest)).map(|_| ()) else {
                panic!("a source has no row");
            };
            assert!(matches!(trap.kind, TrapKind::Assert));
        }
    }
}

fn graphs_are_turned_round(runtime: &Runtime) {
    for (nodes, edges) in [(1, 0), (1, 3), (50, 20), (700, 6_000)] {
        let (from, to) = (numbers(edges, nodes), numbers(edges + 1, nodes));
        let edges: Vec<(u32, u32)> = from.into_iter().zip(to).collect();
        let graph = Csr::from_edges(nodes as usize, &edges).expect("nodes exist");
        let (back, edge) = graph.reverse_indexed();
        let mut session = transpose::Session::new(runtime, &graph).expect("it fits");
        let out = session.run(transpose::Run {}).expect("no trap");
        assert_eq!(out.offsets, back.offsets());
        assert_eq!(out.sources, back.targets());
        assert_eq!(out.edge, edge);
    }
}

/// A sort and two sums in one pass, with lengths of three kinds.
#[wave_graph]
mod ranked {
    #[include(value = degree, scanned = first, n = node, after(measure))]
    use vyre_standard::exclusive_scan as scan;
    #[include(n = edge(graph) * 2 + more)]
    use vyre_standard::exclusive_scan as other;
    #[include(key = degree, value = name, n = node, after(measure))]
    use vyre_standard::sort_by_key as rank;

    pub struct Data {
        #[topology]
        graph: Csr,
        #[scratch(per = node)]
        degree: u32,
        #[scratch(per = node)]
        name: u32,
        #[output(per = node)]
        first: u32,
        #[output(per = node)]
        place: u32,
        more: u32,
    }

    #[wave(nodes)]
    fn measure(v: Node, graph: &Csr, degree: &mut u32, name: &mut u32) {
        *degree = graph.degree(v);
        *name = v;
    }

    #[wave(nodes, after(rank))]
    fn place_each(i: Node, rank_values: &Buf<u32>, place: &Buf<Atomic<u32>>) {
        place[rank_values[i]].fetch_add(i);
    }
}

fn passes_stand_in_others(runtime: &Runtime) {
    let edges: Vec<(u32, u32)> = (0..500).map(|i| (i * i % 97, i % 100)).collect();
    let graph = Csr::from_edges(100, &edges).expect("nodes exist");
    let mut session = ranked::Session::new(runtime, &graph).expect("it fits");
    let value = numbers(1_003, 9);
    let out = session.run(ranked::Run {
        more: 3,
        other_value: &value,
    });
    let out = out.expect("no trap");
    assert_eq!(out.first, graph.offsets()[..100]);
    let mut order: Vec<u32> = (0..100).collect();
    order.sort_by_key(|&v| graph.degree(v));
    for (i, v) in (0..).zip(order) {
        assert_eq!(out.place[v as usize], i);
    }
    assert_eq!(out.other_scanned[1_002], value[..1_002].iter().sum::<u32>());
}

backend_tests!(
    sums_are_of_what_is_before,
    numbers_are_counted,
    what_is_kept_has_no_gaps,
    pairs_are_sorted_and_keep_their_order,
    edges_become_a_graph,
    graphs_are_turned_round,
    passes_stand_in_others,
);

#[test]
fn results_are_the_same_bits() {
    let plans = [
        exclusive_scan::PLAN,
        histogram::PLAN,
        compact::PLAN,
        sort_by_key::PLAN,
        csr_from_edges::PLAN,
        transpose::PLAN,
        ranked::PLAN,
    ];
    for plan in plans {
        let text = plan.to_string();
        let first = text.lines().next().unwrap_or_default();
        assert!(first.contains("(same bits"), "{text}");
    }
}
