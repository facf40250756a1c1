//! Relations: sets of tuples that grow while a fixpoint runs.

use std::collections::{BTreeMap, BTreeSet};
use vyre::prelude::*;
use vyre::{Error, Trap, TrapKind};
use vyre_tests::random::Random;
use vyre_tests::{backend_tests, graphs};

/// Which nodes each node reaches.
#[wave_graph]
mod closure {
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub(crate) struct Pair {
        pub(crate) from: u32,
        pub(crate) to: u32,
    }

    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        #[relation(capacity = room, output)]
        path: Relation<Pair>,
        #[output(per = node)]
        reached: u32,
        room: u32,
    }

    #[wave(edges(graph))]
    fn begin(e: Edge, path: &Insert<Pair>) {
        path.insert(Pair {
            from: e.src,
            to: e.dst,
        });
    }

    #[fixpoint(after(begin), until(path.settled()))]
    mod rounds {
        #[wave(items(path, last))]
        fn join(p: Pair, graph: &Csr, path: &Insert<Pair>) {
            for to in graph.neighbors(p.to) {
                path.insert(Pair { from: p.from, to });
            }
        }
    }

    #[wave(items(path), after(rounds))]
    fn count(p: Pair, reached: &Buf<Atomic<u32>>) {
        reached[p.from].fetch_add(1);
    }
}

/// What a search from each node finds.
fn reached(graph: &Csr) -> BTreeSet<(u32, u32)> {
    let mut found = BTreeSet::new();
    for from in 0..graph.node_count() as u32 {
        let mut open: Vec<u32> = graph.neighbors(from).iter().collect();
        while let Some(to) = open.pop() {
            if found.insert((from, to)) {
                open.extend(graph.neighbors(to));
            }
        }
    }
    found
}

fn closed(runtime: &Runtime, graph: &Csr, room: u32) -> Result<closure::Output, Error> {
    let mut session = closure::Session::new(runtime, graph)?;
    session.run(closure::Run { room })
}

fn a_closure_is_what_searches_find(runtime: &Runtime) {
    let mut random = Random(7);
    let mut all = vec![graphs::chain(30), graphs::grid(6, 5)];
    for nodes in [1, 2, 17, 60] {
        let edges = 2 * nodes;
        let edge = |_| (random.below(nodes), random.below(nodes));
        let edges: Vec<(u32, u32)> = (0..edges).map(edge).collect();
        all.push(Csr::from_edges(nodes as usize, &edges).expect("edges name nodes"));
    }
    for graph in &all {
        let expected = reached(graph);
        let out = closed(runtime, graph, 4_000).expect("there is room");
        let found = out.path.iter().map(|p| (p.from, p.to));
        assert_eq!(found.collect::<BTreeSet<_>>(), expected);
        assert_eq!(out.path.len(), expected.len(), "each once");
        let sorted = out.path.sorted().into_iter().map(|p| (p.from, p.to));
        assert!(sorted.eq(expected.iter().copied()));
        for v in 0..graph.node_count() as u32 {
            let reached = expected.range((v, 0)..=(v, u32::MAX)).count();
            assert_eq!(out.reached[v as usize] as usize, reached);
        }
    }
}

fn a_full_relation_says_how_many_it_would_need(runtime: &Runtime) {
    let graph = graphs::chain(40);
    let all = reached(&graph).len();
    for room in [0, 1, 38, 39, 100, all as u32 - 1] {
        let error = closed(runtime, &graph, room).expect_err("it is too small");
        let Error::Trap(trap) = &error else {
            panic!("{error}");
        };
        let Trap {
            kind, len, index, ..
        } = **trap;
        assert_eq!((kind, len), (TrapKind::RelationOverflow, u64::from(room)));
        assert!(index > len && index <= all as u64, "{trap}");
        let text = trap.to_string();
        assert!(text.contains("relation `path`"), "{text}");
    }
    let out = closed(runtime, &graph, all as u32).expect("it is just enough");
    assert_eq!(out.path.len(), all);
}

fn a_session_begins_each_run_with_an_empty_relation(runtime: &Runtime) {
    let graph = graphs::chain(12);
    let mut session = closure::Session::new(runtime, &graph).expect("it fits");
    let expected = reached(&graph).len();
    for room in [100, 3, 80, 66, 100] {
        match session.run(closure::Run { room }) {
            Ok(out) => assert_eq!(out.path.len(), expected),
            Err(Error::Trap(_)) => assert!((room as usize) < expected),
            Err(error) => panic!("{error}"),
        }
    }
    let series = [66, 70, 90].map(|room| closure::Run { room });
    let out = session.run_series(series).expect("there is room");
    assert_eq!(out.path.len(), expected);
}

/// Tuples of all types, and of all bits.
#[wave_graph]
mod bits {
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub(crate) struct Mixed {
        pub(crate) yes: bool,
        pub(crate) byte: u8,
        pub(crate) word: i32,
    }

    pub(crate) struct Data {
        #[input(per = n)]
        wide: u64,
        #[input(per = n)]
        words: i32,
        #[input(per = n)]
        floats: f32,
        #[relation(capacity = n, output)]
        whole: Relation<u64>,
        #[relation(capacity = n * 2, output)]
        mixed: Relation<Mixed>,
        #[relation(capacity = n, output)]
        pairs: Relation<(f32, i32)>,
        #[reduce(count)]
        new: u64,
        #[reduce(count)]
        found: u64,
        #[reduce(sum)]
        sum: u64,
        n: u32,
    }

    #[wave(range(n))]
    fn first(
        i: Index,
        wide: &u64,
        words: &i32,
        floats: &f32,
        whole: &Insert<u64>,
        mixed: &Insert<Mixed>,
        pairs: &Insert<(f32, i32)>,
        new: &Reduce<Count>,
        sum: &Reduce<Sum<u64>>,
    ) {
        let word = *words;
        if whole.insert(*wide) {
            new.inc();
            sum.add(*wide ^ 5);
        }
        mixed.insert(Mixed {
            yes: word < 0,
            byte: word as u8,
            word: word / 2,
        });
        let is_new = pairs.insert((*floats, word));
        if is_new && i.is_multiple_of(2) {
            mixed.insert(Mixed {
                yes: true,
                byte: 255,
                word: -1,
            });
        }
    }

    #[wave(range(n), after(first))]
    fn ask(wide: &u64, whole: &Lookup<u64>, found: &Reduce<Count>) {
        if whole.contains(*wide) && !whole.contains(*wide ^ 0x5555) {
            found.inc();
        }
    }
}

fn tuples_are_compared_by_their_bits(runtime: &Runtime) {
    let mut random = Random(3);
    let some = |random: &mut Random, k: usize| match k {
        0 => u64::MAX,
        1 => 0,
        2 => u64::MAX - 1,
        _ => u64::from(random.below(40)) << (8 * random.below(8)),
    };
    let n = 300;
    let wide: Vec<u64> = (0..n).map(|k| some(&mut random, k % 7)).collect();
    let words: Vec<i32> = (0..n).map(|k| some(&mut random, k % 5) as i32).collect();
    let floats: Vec<f32> = (0..n)
        .map(|k| [0.0, -0.0, f32::NAN, -f32::NAN, 1.5, f32::INFINITY][k % 6])
        .collect();
    let mut session = bits::Session::new(runtime, ()).expect("it fits");
    let run = bits::Run {
        wide: &wide,
        words: &words,
        floats: &floats,
        n: n as u32,
    };
    let out = session.run(run).expect("there is room");
    let whole: BTreeSet<u64> = wide.iter().copied().collect();
    assert!(out.whole.sorted().iter().eq(&whole));
    assert_eq!(out.new, whole.len() as u64);
    let sum = whole.iter().fold(0u64, |sum, x| sum.wrapping_add(x ^ 5));
    assert_eq!(out.sum, sum);
    let found = wide.iter().filter(|&&x| !whole.contains(&(x ^ 0x5555)));
    assert_eq!(out.found, found.count() as u64);
    let pairs: BTreeSet<(u32, i32)> = floats
        .iter()
        .map(|f| f.to_bits())
        .zip(words.clone())
        .collect();
    let found: BTreeSet<(u32, i32)> = out.pairs.iter().map(|p| (p.0.to_bits(), p.1)).collect();
    assert_eq!((found, out.pairs.len()), (pairs.clone(), pairs.len()));
    let mixed = out.mixed.iter().map(|m| (m.yes, m.byte, m.word));
    let mixed: BTreeSet<(bool, u8, i32)> = mixed.collect();
    let expected = words.iter().map(|&w| (w < 0, w as u8, w / 2));
    let mut expected: BTreeSet<(bool, u8, i32)> = expected.collect();
    // Which item of each pair is new first is open; some is even.
    expected.insert((true, 255, -1));
    assert_eq!(mixed, expected);
    assert_eq!(out.mixed.len(), mixed.len());
}

/// Two waves with cursors of their own, in nested fixpoints: pairs `(group, value)`, from which both make new ones.
#[wave_graph]
mod nested {
    pub(crate) struct Data {
        #[relation(capacity = 2000, output)]
        known: Relation<(u32, u32)>,
        #[relation(capacity = 600)]
        seen: Relation<u32>,
        #[output(per = 2)]
        swept: u32,
        #[output(per = 1)]
        rounds_of: u32,
        first: u32,
        most: u32,
    }

    #[wave(once)]
    fn begin(first: u32, known: &Insert<(u32, u32)>) {
        known.insert((0, first));
    }

    #[fixpoint(after(begin), until(known.settled() && seen.settled()))]
    mod outer {
        #[fixpoint(until(known.settled()))]
        mod inner {
            #[wave(items(known, last))]
            fn double(
                t: (u32, u32),
                most: u32,
                known: &Insert<(u32, u32)>,
                swept: &Buf<Atomic<u32>>,
                rounds_of: &Buf<Atomic<u32>>,
            ) {
                let (group, value) = t;
                swept[0].fetch_add(1);
                rounds_of[0].fetch_add(1);
                if value * 2 <= most {
                    known.insert((group, value * 2));
                }
            }
        }

        #[wave(items(known, last), after(inner))]
        fn next_group(
            t: (u32, u32),
            known: &Insert<(u32, u32)>,
            seen: &Insert<u32>,
            swept: &Buf<Atomic<u32>>,
        ) {
            let (group, value) = t;
            swept[1].fetch_add(1);
            seen.insert(value);
            if group < 3 {
                known.insert((group + 1, value + 1));
            }
        }
    }
}

fn each_wave_sweeps_each_tuple_once(runtime: &Runtime) {
    let mut session = nested::Session::new(runtime, ()).expect("it fits");
    for (first, most) in [(1, 40), (3, 100), (50, 10)] {
        let mut expected = BTreeSet::from([(0, first)]);
        loop {
            let mut more = expected.clone();
            for &(group, value) in &expected {
                if value * 2 <= most {
                    more.insert((group, value * 2));
                }
                if group < 3 {
                    more.insert((group + 1, value + 1));
                }
            }
            if more.len() == expected.len() {
                break;
            }
            expected = more;
        }
        let out = session
            .run(nested::Run { first, most })
            .expect("there is room");
        assert!(out.known.sorted().into_iter().eq(expected.iter().copied()));
        let all = expected.len() as u32;
        assert_eq!(out.swept, [all, all], "each wave has swept each tuple once");
        assert_eq!(out.rounds_of, [all]);
    }
}

/// A relation that begins anew with each round of the fixpoint around: which nodes are two steps away, node by node.
#[wave_graph]
mod anew {
    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        #[relation(capacity = 500, reset = round)]
        near: Relation<u32>,
        #[output(per = node)]
        count: u32,
        nodes: u32,
    }

    #[fixpoint(until(round + 1 >= nodes))]
    mod sources {
        #[wave(once)]
        fn near_it(round: Round, graph: &Csr, near: &Insert<u32>) {
            for v in graph.neighbors(round) {
                near.insert(v);
                for w in graph.neighbors(v) {
                    near.insert(w);
                }
            }
        }

        #[wave(items(near), after(near_it))]
        fn counted(_v: u32, round: Round, count: &Buf<Atomic<u32>>) {
            count[round].fetch_add(1);
        }
    }
}

fn a_relation_begins_anew_with_each_round(runtime: &Runtime) {
    let graph = graphs::grid(7, 6);
    let mut session = anew::Session::new(runtime, &graph).expect("it fits");
    let nodes = graph.node_count() as u32;
    let out = session.run(anew::Run { nodes }).expect("there is room");
    let near = |v: u32| {
        let first = graph.neighbors(v).into_iter();
        let all = first.flat_map(|v| std::iter::once(v).chain(graph.neighbors(v)));
        all.collect::<BTreeSet<u32>>().len() as u32
    };
    let expected: Vec<u32> = (0..nodes).map(near).collect();
    assert_eq!(out.count, expected);
}

/// What random rules make of random facts.
fn random_closures_are_the_same_everywhere(runtime: &Runtime) {
    for case in 0..6 {
        let mut random = Random(case);
        let nodes = 1 + random.below(90);
        let edge = |_| (random.below(nodes), random.below(nodes));
        let edges: Vec<(u32, u32)> = (0..nodes + nodes / 2).map(edge).collect();
        let graph = Csr::from_edges(nodes as usize, &edges).expect("edges name nodes");
        let expected = reached(&graph);
        let out = closed(runtime, &graph, 9_000).expect("there is room");
        let found = out.path.sorted().into_iter().map(|p| (p.from, p.to));
        assert!(found.eq(expected.iter().copied()), "{case}");
        let mut counts = BTreeMap::new();
        expected
            .iter()
            .for_each(|&(from, _)| *counts.entry(from).or_insert(0) += 1);
        let of = |v| counts.get(&v).copied().unwrap_or(0);
        assert!(out.reached.iter().copied().eq((0..nodes).map(of)));
    }
}

backend_tests!(
    a_closure_is_what_searches_find,
    a_full_relation_says_how_many_it_would_need,
    a_session_begins_each_run_with_an_empty_relation,
    tuples_are_compared_by_their_bits,
    each_wave_sweeps_each_tuple_once,
    a_relation_begins_anew_with_each_round,
    random_closures_are_the_same_everywhere,
);
