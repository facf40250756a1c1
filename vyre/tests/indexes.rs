//! Indexes of relations: their tuples by some of their columns.

use std::collections::BTreeSet;
use vyre::prelude::*;
use vyre_tests::random::Random;
use vyre_tests::{backend_tests, graphs};

/// The closure of a graph, by pairs of its own tuples.
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
        #[relation(capacity = room, index(from), index(to), output)]
        path: Relation<Pair>,
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
        fn join(p: Pair, path: &Insert<Pair>) {
            for q in path.with_from(p.to) {
                path.insert(Pair {
                    from: p.from,
                    to: q.to,
                });
            }
            for q in path.with_to(p.from) {
                path.insert(Pair {
                    from: q.from,
                    to: p.to,
                });
            }
        }
    }
}

/// The same by a join, with the number of its pairs.
#[wave_graph]
mod joined {
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub(crate) struct Pair {
        pub(crate) from: u32,
        pub(crate) to: u32,
    }

    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        #[relation(capacity = room, index(from), index(to), output)]
        path: Relation<Pair>,
        #[reduce(count)]
        loops: u64,
        #[output(per = rounds_at_most)]
        pairs: u32,
        room: u32,
        rounds_at_most: u32,
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
        #[wave(pairs(path.to = path.from, last))]
        fn join(p: Pair, q: Pair, round: Round, path: &Insert<Pair>, pairs: &Buf<Atomic<u32>>) {
            pairs[round].fetch_add(1);
            if p.from == q.to && p.from > 1_000_000 {
                return;
            }
            path.insert(Pair {
                from: p.from,
                to: q.to,
            });
        }
    }

    #[wave(pairs(path.to = path.from), after(rounds))]
    fn there_and_back(p: Pair, q: Pair, loops: &Reduce<Count>) {
        if p.from == q.to {
            loops.inc();
        }
    }
}

/// Balanced brackets: three rules with one head, two of them joins, in one round.
#[wave_graph]
mod balanced {
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub(crate) struct Bracket {
        pub(crate) from: u32,
        pub(crate) to: u32,
    }

    pub(crate) struct Data {
        #[topology]
        opens: Csr,
        #[topology]
        closes: Csr,
        #[relation(capacity = room, index(to))]
        open: Relation<Bracket>,
        #[relation(capacity = room, index(from))]
        close: Relation<Bracket>,
        #[relation(capacity = room, index(from), index(to), output)]
        path: Relation<Bracket>,
        /// An open bracket and a path behind it.
        #[relation(capacity = room, index(to))]
        half: Relation<Bracket>,
        room: u32,
    }

    #[wave(edges(opens))]
    fn opened(e: Edge, open: &Insert<Bracket>) {
        open.insert(Bracket {
            from: e.src,
            to: e.dst,
        });
    }

    #[wave(edges(closes))]
    fn closed(e: Edge, close: &Insert<Bracket>) {
        close.insert(Bracket {
            from: e.src,
            to: e.dst,
        });
    }

    #[fixpoint(after(opened, closed), until(path.settled() && half.settled()))]
    mod rounds {
        #[wave(pairs(open.to = close.from, last))]
        fn empty(o: Bracket, c: Bracket, path: &Insert<Bracket>) {
            path.insert(Bracket {
                from: o.from,
                to: c.to,
            });
        }

        #[wave(pairs(path.to = path.from, last))]
        fn both(p: Bracket, q: Bracket, path: &Insert<Bracket>) {
            path.insert(Bracket {
                from: p.from,
                to: q.to,
            });
        }

        #[wave(pairs(open.to = path.from, last))]
        fn around(o: Bracket, p: Bracket, half: &Insert<Bracket>) {
            half.insert(Bracket {
                from: o.from,
                to: p.to,
            });
        }

        #[wave(pairs(half.to = close.from, last))]
        fn close_it(h: Bracket, c: Bracket, path: &Insert<Bracket>) {
            path.insert(Bracket {
                from: h.from,
                to: c.to,
            });
        }
    }
}

/// Indexes outside of fixpoints, by several columns and by columns of all types.
#[wave_graph]
mod facts {
    pub(crate) struct Data {
        #[input(per = n)]
        labels: u8,
        #[input(per = n)]
        values: i32,
        #[input(per = n)]
        weights: f32,
        #[relation(capacity = n, index(0, 1), index(2))]
        fact: Relation<(u8, bool, i32)>,
        #[relation(capacity = n, index(0))]
        weight: Relation<(f32, u32)>,
        #[output(per = n)]
        sums: i32,
        #[output(per = n)]
        alike: u32,
        #[output(per = n)]
        equal: u32,
        n: u32,
    }

    #[wave(range(n))]
    fn tell(
        i: Index,
        labels: &u8,
        values: &i32,
        weights: &f32,
        fact: &Insert<(u8, bool, i32)>,
        weight: &Insert<(f32, u32)>,
    ) {
        fact.insert((*labels, *values < 0, *values));
        weight.insert((*weights, i));
    }

    #[wave(range(n), after(tell))]
    fn sum(labels: &u8, values: &i32, fact: &Lookup<(u8, bool, i32)>, sums: &mut i32) {
        let mut sum = 0;
        for t in fact.with_0_and_1(*labels, *values < 0) {
            sum += t.2;
        }
        *sums = sum;
    }

    #[wave(range(n), after(tell))]
    fn count(
        values: &i32,
        weights: &f32,
        fact: &Lookup<(u8, bool, i32)>,
        weight: &Lookup<(f32, u32)>,
        alike: &mut u32,
        equal: &mut u32,
    ) {
        let mut found = 0;
        for t in fact.with_2(*values) {
            found += 1;
            if t.0 == 255 {
                continue;
            }
            found += u32::from(t.1);
        }
        *alike = found;
        let mut any = 0;
        for (_, _) in weight.with_0(*weights) {
            any += 1;
        }
        *equal = any;
    }
}

/// A relation with an index that begins anew with each round.
#[wave_graph]
mod windows {
    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        #[relation(capacity = edge(graph), index(0), reset = round)]
        near: Relation<(u8, u32)>,
        #[output(per = node, init = 0)]
        met: u32,
        steps: u32,
    }

    #[fixpoint(until(round + 1 >= steps))]
    mod rounds {
        #[wave(edges(graph))]
        fn put(e: Edge, round: Round, near: &Insert<(u8, u32)>) {
            if !(e.src + e.dst + round).is_multiple_of(3) {
                near.insert(((e.src % 7) as u8, e.dst));
            }
        }

        #[wave(nodes, after(put))]
        fn meet(v: Node, near: &Lookup<(u8, u32)>, met: &mut u32) {
            let mut sum = 0;
            for t in near.with_0((v % 7) as u8) {
                sum += t.1 + 1;
            }
            *met = *met * 3 + sum;
        }
    }
}

mod marked {
    use vyre::prelude::*;

    /// An index that is filled at once.
    #[wave_graph]
    pub(crate) mod around {
        pub(crate) struct Data {
            #[topology]
            graph: Csr,
            #[input(per = node)]
            mark: u32,
            #[relation(capacity = edge(graph), index(0))]
            near: Relation<(u32, u32)>,
            #[output(per = node, init = 0)]
            sum: u32,
        }

        #[wave(edges(graph))]
        fn put(e: Edge, mark: &Buf<u32>, near: &Insert<(u32, u32)>) {
            if mark[e.src] != 0 {
                near.insert((e.dst, e.src));
            }
        }

        #[wave(nodes, after(put))]
        fn add(v: Node, near: &Lookup<(u32, u32)>, sum: &mut u32) {
            let mut found = 0;
            for t in near.with_0(v) {
                found += t.1 + 1;
            }
            *sum = found;
        }
    }
}

/// That graph in each round of a fixpoint.
#[wave_graph]
mod in_rounds {
    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        #[scratch(per = node, init = 1)]
        mark: u32,
        #[output(per = node, init = 0)]
        total: u32,
    }

    #[fixpoint(until(round == 3))]
    mod rounds {
        #[include(graph = graph, mark = mark)]
        use super::super::marked::around;

        #[wave(nodes, after(around))]
        fn go_on(v: Node, round: Round, around_sum: &u32, total: &mut u32, mark: &mut u32) {
            *total = *total * 5 + *around_sum;
            *mark = (v + round) % 3;
        }
    }
}

/// Names that an index could mistake for those of its own, and walks in other words.
#[wave_graph]
mod names {
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub(crate) struct Step {
        pub(crate) rise_and_fall: u32,
        pub(crate) b_by_c: u32,
    }

    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        tuple: u32,
        #[relation(capacity = room, index(rise_and_fall), index(b_by_c), output)]
        a: Relation<Step>,
        #[relation(capacity = room, index(rise_and_fall))]
        a_by_b: Relation<Step>,
        #[output(per = node)]
        found: u32,
        room: u32,
    }

    #[wave(edges(graph))]
    fn begin(e: Edge, a: &Insert<Step>, a_by_b: &Insert<Step>) {
        let step = Step {
            rise_and_fall: e.src,
            b_by_c: e.dst,
        };
        a.insert(step);
        a_by_b.insert(step);
    }

    #[fixpoint(after(begin), until(a.settled()))]
    mod rounds {
        #[allow(unused_parens, reason = "a walk is one in parentheses, too")]
        #[wave(items(a, last))]
        fn extend(p: Step, a: &Insert<Step>, a_by_b: &Lookup<Step>) {
            for q in (a).with_rise_and_fall(p.b_by_c) {
                a.insert(Step {
                    rise_and_fall: p.rise_and_fall,
                    b_by_c: q.b_by_c,
                });
            }
            for q in (a_by_b).with_rise_and_fall(p.b_by_c) {
                a.insert(Step {
                    rise_and_fall: p.rise_and_fall,
                    b_by_c: q.b_by_c,
                });
            }
        }
    }

    #[wave(nodes, after(rounds))]
    fn count(v: Node, tuple: u32, a: &Lookup<Step>, found: &mut u32) {
        let mut sum = 0;
        for p in a.with_b_by_c(v) {
            sum += tuple + p.rise_and_fall;
        }
        *found = sum;
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

fn a_relation_is_joined_with_itself(runtime: &Runtime) {
    let mut random = Random(3);
    let mut all = vec![graphs::chain(30), graphs::grid(6, 5)];
    for nodes in [1, 2, 17, 60] {
        let edge = |_| (random.below(nodes), random.below(nodes));
        let edges: Vec<(u32, u32)> = (0..2 * nodes).map(edge).collect();
        all.push(Csr::from_edges(nodes as usize, &edges).expect("edges name nodes"));
    }
    for graph in &all {
        let mut session = closure::Session::new(runtime, graph).expect("it fits");
        let expected = reached(graph);
        for _ in 0..2 {
            let out = session
                .run(closure::Run { room: 4_000 })
                .expect("there is room");
            let found = out.path.sorted().into_iter().map(|p| (p.from, p.to));
            assert!(found.eq(expected.iter().copied()));
        }
    }
}

fn each_pair_comes_once(runtime: &Runtime) {
    let mut random = Random(11);
    for nodes in [1, 3, 20, 50] {
        let edge = |_| (random.below(nodes), random.below(nodes));
        let edges: Vec<(u32, u32)> = (0..nodes + nodes / 3).map(edge).collect();
        let graph = Csr::from_edges(nodes as usize, &edges).expect("edges name nodes");
        let mut session = joined::Session::new(runtime, &graph).expect("it fits");
        let expected = reached(&graph);
        let run = joined::Run {
            room: 3_000,
            rounds_at_most: 20,
        };
        let out = session.run(run).expect("there is room");
        let found = out.path.sorted().into_iter().map(|p| (p.from, p.to));
        assert!(found.eq(expected.iter().copied()));
        let behind = |of: u32| expected.range((of, 0)..=(of, u32::MAX)).count() as u32;
        let pairs = expected.iter().map(|&(_, to)| behind(to)).sum::<u32>();
        assert_eq!(out.pairs.iter().sum::<u32>(), pairs);
        let back = |&&(from, to): &&(u32, u32)| expected.contains(&(to, from));
        assert_eq!(out.loops as usize, expected.iter().filter(back).count());
    }
}

fn columns_are_compared_by_their_bits(runtime: &Runtime) {
    let mut random = Random(5);
    let n = 300;
    let labels: Vec<u8> = (0..n)
        .map(|_| [0, 1, 7, 255][random.below(4) as usize])
        .collect();
    let values: Vec<i32> = (0..n).map(|_| random.below(40) as i32 - 20).collect();
    let some = [0.0, -0.0, f32::NAN, 1.5, f32::INFINITY];
    let weights: Vec<f32> = (0..n).map(|_| some[random.below(5) as usize]).collect();
    let mut session = facts::Session::new(runtime, ()).expect("it fits");
    let run = facts::Run {
        labels: &labels,
        values: &values,
        weights: &weights,
        n,
    };
    let out = session.run(run).expect("there is room");
    let all: BTreeSet<(u8, i32)> = labels.iter().copied().zip(values.iter().copied()).collect();
    for i in 0..n as usize {
        let own =
            |&&(label, value): &&(u8, i32)| label == labels[i] && (value < 0) == (values[i] < 0);
        assert_eq!(
            out.sums[i],
            all.iter().filter(own).map(|t| t.1).sum::<i32>()
        );
        let same = all.iter().filter(|t| t.1 == values[i]);
        let count = |t: &(u8, i32)| 1 + u32::from(t.0 != 255 && t.1 < 0);
        assert_eq!(out.alike[i], same.map(count).sum::<u32>());
        let equal = weights
            .iter()
            .filter(|w| w.to_bits() == weights[i].to_bits());
        assert_eq!(out.equal[i] as usize, equal.count());
    }
}

/// The pairs with a balanced path between them, rule by rule until nothing is new.
fn between(opens: &[(u32, u32)], closes: &[(u32, u32)]) -> BTreeSet<(u32, u32)> {
    let mut found = BTreeSet::new();
    loop {
        let mut more = BTreeSet::new();
        for &(a, b) in opens {
            for &(c, d) in closes {
                if b == c || found.contains(&(b, c)) {
                    more.insert((a, d));
                }
            }
        }
        for &(a, b) in &found {
            let next = found.range((b, 0)..=(b, u32::MAX));
            more.extend(next.map(|&(_, d)| (a, d)));
        }
        let known = found.len();
        found.extend(more);
        if found.len() == known {
            return found;
        }
    }
}

fn several_joins_insert_into_one_relation(runtime: &Runtime) {
    let mut random = Random(23);
    for nodes in [2, 9, 30] {
        let mut edges = || -> Vec<(u32, u32)> {
            let edge = |_| (random.below(nodes), random.below(nodes));
            (0..nodes).map(edge).collect()
        };
        let (opens, closes) = (edges(), edges());
        let graph = |edges: &[(u32, u32)]| Csr::from_edges(nodes as usize, edges).expect("named");
        let (open, close) = (graph(&opens), graph(&closes));
        let topology = balanced::Topology {
            opens: &open,
            closes: &close,
        };
        let mut session = balanced::Session::new(runtime, topology).expect("it fits");
        let out = session
            .run(balanced::Run { room: 1_000 })
            .expect("there is room");
        let found = out.path.sorted().into_iter().map(|p| (p.from, p.to));
        assert!(found.eq(between(&opens, &closes)));
    }
}

/// Random edges of which some are there twice.
fn random_graph(nodes: u32, random: &mut Random) -> Csr {
    let mut edge = || (random.below(nodes), random.below(nodes));
    let edges: Vec<(u32, u32)> = (0..3 * nodes).map(|_| edge()).collect();
    Csr::from_edges(nodes as usize, &edges).expect("edges name nodes")
}

fn pairs_of(graph: &Csr) -> impl Iterator<Item = (u32, u32)> {
    let nodes = 0..graph.node_count() as u32;
    nodes.flat_map(|v| graph.neighbors(v).iter().map(move |to| (v, to)))
}

fn an_index_begins_anew_with_its_relation(runtime: &Runtime) {
    let mut random = Random(29);
    for (nodes, steps) in [(1, 1), (8, 4), (90, 7)] {
        let graph = random_graph(nodes, &mut random);
        let mut met = vec![0; nodes as usize];
        for round in 0..steps {
            let mut near = BTreeSet::new();
            for (src, dst) in pairs_of(&graph) {
                if !(src + dst + round).is_multiple_of(3) {
                    near.insert((src % 7, dst));
                }
            }
            for (v, met) in (0..).zip(&mut met) {
                let of = near.range((v % 7, 0)..=(v % 7, u32::MAX));
                *met = *met * 3 + of.map(|&(_, to)| to + 1).sum::<u32>();
            }
        }
        let mut session = windows::Session::new(runtime, &graph).expect("it fits");
        for _ in 0..2 {
            let out = session.run(windows::Run { steps }).expect("there is room");
            assert_eq!(out.met, met);
        }
    }
}

fn an_included_index_begins_anew_with_each_round(runtime: &Runtime) {
    let mut random = Random(31);
    for nodes in [1, 8, 90] {
        let graph = random_graph(nodes, &mut random);
        let (mut mark, mut total) = (vec![1; nodes as usize], vec![0; nodes as usize]);
        for round in 0..4 {
            let marked = pairs_of(&graph).filter(|&(src, _)| mark[src as usize] != 0);
            let near: BTreeSet<(u32, u32)> = marked.map(|(src, dst)| (dst, src)).collect();
            for v in 0..nodes {
                let of = near.range((v, 0)..=(v, u32::MAX));
                let sum = of.map(|&(_, from)| from + 1).sum::<u32>();
                total[v as usize] = total[v as usize] * 5 + sum;
                mark[v as usize] = (v + round) % 3;
            }
        }
        let mut session = in_rounds::Session::new(runtime, &graph).expect("it fits");
        let out = session.run(in_rounds::Run {}).expect("there is room");
        assert_eq!(out.total, total);
    }
}

fn any_name_is_one_of_a_column(runtime: &Runtime) {
    for graph in [graphs::chain(12), graphs::grid(3, 4)] {
        let expected = reached(&graph);
        let mut session = names::Session::new(runtime, &graph).expect("it fits");
        let run = names::Run {
            tuple: 3,
            room: 200,
        };
        let out = session.run(run).expect("there is room");
        let found = out.a.sorted().into_iter();
        let found = found.map(|p| (p.rise_and_fall, p.b_by_c));
        assert!(found.eq(expected.iter().copied()));
        let mut sums = vec![0; graph.node_count()];
        for (from, to) in expected {
            sums[to as usize] += 3 + from;
        }
        assert_eq!(out.found, sums);
    }
}

backend_tests!(
    any_name_is_one_of_a_column,
    an_index_begins_anew_with_its_relation,
    an_included_index_begins_anew_with_each_round,
    several_joins_insert_into_one_relation,
    a_relation_is_joined_with_itself,
    each_pair_comes_once,
    columns_are_compared_by_their_bits,
);
