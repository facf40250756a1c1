//! Conditions and local bools of monotone fixpoints: which are proven, and that what is proven is the least fixpoint,
//! under other names of the nodes, in another order of the edges, on any number of threads.

#![allow(
    missing_docs,
    unused_braces,
    clippy::collapsible_if,
    reason = "modules of tests, whose passes are public only to be like a user's, and forms that conditions may have"
)]

use vyre::Plan;
use vyre::core::vir0::module::Agreement;
use vyre::prelude::*;
use vyre_tests::backend_tests;
use vyre_tests::random::Random;

/// A graph and rows as the plain evaluation of a condition sees them, by the names that bodies use.
struct Lists(Vec<Vec<u32>>);

impl Lists {
    fn neighbors(&self, v: u32) -> std::vec::IntoIter<u32> {
        self.0[v as usize].clone().into_iter()
    }

    fn degree(&self, v: u32) -> u32 {
        self.0[v as usize].len() as u32
    }
}

#[derive(Clone, PartialEq)]
struct Rows(Vec<Vec<bool>>);

impl Rows {
    fn get(&self, v: u32, w: u32) -> bool {
        self.0[v as usize][w as usize]
    }
}

/// `far` gains a bit where a condition holds, until none does. The condition is written once, and compiled as a part of
/// a pass and as a part of this test.
macro_rules! conditions {
    ($list:ident: $($name:ident |$v:ident, $w:ident, $graph:ident, $far:ident| $cond:block)*) => {
        $(#[wave_graph]
        mod $name {
            pub(crate) struct Data {
                #[topology]
                $graph: Csr,
                #[input(per = node, bits = nodes)]
                start: Bits,
                #[output(per = node, bits = nodes)]
                $far: Bits,
                #[reduce(or)]
                changed: bool,
                nodes: u32,
            }

            #[wave(nodes)]
            fn begin(v: Node, start: &Bits, $far: &Bits) {
                $far.or_from(v, start, v);
            }

            #[fixpoint(after(begin), until(!changed))]
            mod rounds {
                #[wave(nodes)]
                fn spread($v: Node, $graph: &Csr, nodes: u32, $far: &Bits, changed: &Reduce<Or<bool>>) {
                    for $w in 0..nodes {
                        if $cond {
                            if $far.set($v, $w) {
                                changed.or(true);
                            }
                        }
                    }
                }
            }
        })*

        fn $list() -> Vec<Case> {
            vec![$(Case {
                name: stringify!($name),
                plan: $name::PLAN,
                run: |runtime, $graph, start| {
                    let mut session = $name::Session::new(runtime, $graph).expect("it fits");
                    let run = $name::Run { start, nodes: start.len() as u32 };
                    session.run(run).expect("no trap").$far
                },
                holds: |$graph, $far, $v, $w| $cond,
            }),*]
        }
    };
}

struct Case {
    name: &'static str,
    plan: Plan,
    run: fn(&Runtime, &Csr, &[u32]) -> Bits,
    holds: fn(&Lists, &Rows, u32, u32) -> bool,
}

conditions! { proven:
    and |v, w, graph, far| { far.get(w, v) && far.get(w, w) && graph.degree(w) > 1 }
    or |v, w, graph, far| { far.get(w, v) || far.get(w, w) && graph.degree(v) > 1 }
    both_ways |v, w, graph, far| { (far.get(w, v) || far.get(w, w)) && (far.get(v, v) || graph.degree(v) <= 1) }
    and_in_a_loop |v, w, graph, far| {
        let mut any = false;
        for s in graph.neighbors(v) {
            any |= far.get(s, w) && far.get(v, s);
        }
        any
    }
    set_if |v, w, graph, far| {
        let mut any = false;
        for s in graph.neighbors(v) {
            if far.get(s, w) {
                any = true;
            }
        }
        any
    }
    unset_unless |v, w, graph, far| {
        let mut all = graph.degree(v) > 0;
        for s in graph.neighbors(v) {
            if !far.get(s, w) {
                all = false;
            }
        }
        all
    }
    set_under_two |v, w, graph, far| {
        let mut any = false;
        for s in graph.neighbors(v) {
            if far.get(s, w) {
                if far.get(w, s) {
                    any = true;
                }
            }
        }
        any
    }
    some_have_all |v, w, graph, far| {
        let mut any = false;
        for s in graph.neighbors(v) {
            let mut all = true;
            for t in graph.neighbors(w) {
                all = all && far.get(s, t);
            }
            any = any || all;
        }
        any
    }
    chosen |v, w, graph, far| {
        let one = if far.get(w, v) { true } else { graph.degree(w) == 1 && far.get(v, v) };
        let other = if far.get(w, w) { far.get(v, v) } else { false };
        let third = if !far.get(w, w) { far.get(w, v) } else { true };
        one & third | other
    }
}

conditions! { open:
    unset_if |v, w, graph, far| {
        let mut none = graph.degree(v) > 0;
        for s in graph.neighbors(v) {
            if far.get(s, w) {
                none = false;
            }
        }
        none
    }
    set_unless |v, w, graph, far| {
        let mut any = false;
        for s in graph.neighbors(v) {
            if !far.get(s, w) {
                any = true;
            }
        }
        any
    }
    and_not |v, w, graph, far| {
        let mut any = false;
        for s in graph.neighbors(v) {
            any = any || far.get(s, w) && !far.get(w, s);
        }
        any
    }
    or_not |v, w, graph, far| { far.get(w, v) || !far.get(w, w) && graph.degree(v) > 0 }
    one_or_the_other |v, w, graph, far| {
        let mut any = false;
        for s in graph.neighbors(v) {
            any |= if far.get(s, w) { far.get(w, v) } else { far.get(v, s) };
        }
        any
    }
    the_last_one |v, w, graph, far| {
        let mut last = false;
        for s in graph.neighbors(v) {
            if far.get(s, w) {
                last = far.get(w, s);
            }
        }
        last
    }
    the_other_way |v, w, graph, far| {
        let mut one = graph.degree(v) > 1;
        if far.get(w, v) {
            one = false;
        } else {
            one = one || far.get(w, w);
        }
        one
    }
    is_the_same |v, w, graph, far| { (far.get(w, v) == far.get(w, w)) && graph.degree(v) > 1 }
}

const NODES: u32 = 9;

/// The least rows above `start` where the condition adds nothing: items one after the other until none changes any.
fn least(case: &Case, lists: &Lists, start: &Rows) -> Rows {
    let mut rows = start.clone();
    loop {
        let before = rows.clone();
        for v in 0..NODES {
            for w in 0..NODES {
                rows.0[v as usize][w as usize] |= (case.holds)(lists, &rows, v, w);
            }
        }
        if rows == before {
            return rows;
        }
    }
}

fn permutation(random: &mut Random, n: u32) -> Vec<u32> {
    let mut all: Vec<u32> = (0..n).collect();
    for i in (1..n).rev() {
        all.swap(i as usize, random.below(i + 1) as usize);
    }
    all
}

#[test]
fn what_is_proven_of_conditions() {
    for case in proven() {
        assert!(
            matches!(case.plan.program().agreement, Agreement::Result(_)),
            "{}",
            case.plan
        );
    }
    for case in open() {
        assert!(
            matches!(case.plan.program().agreement, Agreement::Open(_)),
            "{}",
            case.plan
        );
    }
}

/// Of each condition that is not proven there are a graph and an order in which it gives something else.
#[test]
fn what_is_not_proven_depends_on_the_order() {
    for case in open() {
        let mut random = Random(52);
        let differs = (0..500).any(|_| {
            let (lists, start, _) = world(&mut random);
            let name = permutation(&mut random, NODES);
            let back = |rows: &Rows| {
                let at = |v: u32| name[v as usize];
                Rows(
                    (0..NODES)
                        .map(|v| (0..NODES).map(|w| rows.get(at(v), at(w))).collect())
                        .collect(),
                )
            };
            let (renamed, moved, _) = renamed(&lists, &start, &name);
            back(&least(&case, &renamed, &moved)) != least(&case, &lists, &start)
        });
        assert!(differs, "{}: it could be proven", case.name);
    }
}

/// Random lists of neighbours, and rows of which few bits are set, also as words.
fn world(random: &mut Random) -> (Lists, Rows, Vec<u32>) {
    let mut lists = vec![Vec::new(); NODES as usize];
    for _ in 0..NODES * 2 {
        lists[random.below(NODES) as usize].push(random.below(NODES));
    }
    let row = |_| (0..NODES).map(|_| random.below(8) == 0).collect();
    let start = Rows((0..NODES).map(row).collect());
    let words = words(&start);
    (Lists(lists), start, words)
}

fn words(rows: &Rows) -> Vec<u32> {
    let word = |row: &Vec<bool>| {
        (0..)
            .zip(row)
            .fold(0, |word, (w, &bit)| word | u32::from(bit) << w)
    };
    rows.0.iter().map(word).collect()
}

/// The same under other names, with lists in an order of their own.
fn renamed(lists: &Lists, start: &Rows, name: &[u32]) -> (Lists, Rows, Vec<u32>) {
    let mut neighbors = vec![Vec::new(); name.len()];
    let mut rows = start.clone();
    for (v, &to) in name.iter().enumerate() {
        let others = lists.0[v].iter().rev().map(|&w| name[w as usize]);
        neighbors[to as usize] = others.collect();
        for (w, &at) in name.iter().enumerate() {
            rows.0[to as usize][at as usize] = start.0[v][w];
        }
    }
    let words = words(&rows);
    (Lists(neighbors), rows, words)
}

backend_tests!(proven_conditions_give_the_least_rows_in_every_order);

fn proven_conditions_give_the_least_rows_in_every_order(runtime: &Runtime) {
    let mut random = Random(51);
    for _ in 0..4 {
        let (lists, start, _) = world(&mut random);
        let expected: Vec<Rows> = (proven().iter())
            .map(|case| least(case, &lists, &start))
            .collect();
        for (threads, parallel_from) in [(1, u32::MAX), (2, 1), (7, 1)] {
            let name = permutation(&mut random, NODES);
            let (lists, _, start) = renamed(&lists, &start, &name);
            let edges: Vec<(u32, u32)> = (0..NODES)
                .flat_map(|v| lists.neighbors(v).map(move |w| (v, w)))
                .collect();
            let graph = Csr::from_edges(NODES as usize, &edges).expect("edges name nodes");
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .expect("threads");
            let measured = format!("parallel_from = {parallel_from}\n");
            let thresholds = runtime.thresholds().with(&measured).expect("a number");
            let runtime = runtime.clone().with_thresholds(thresholds);
            for (case, expected) in proven().iter().zip(&expected) {
                let far = pool.install(|| (case.run)(&runtime, &graph, &start));
                for (v, w) in (0..NODES).flat_map(|v| (0..NODES).map(move |w| (v, w))) {
                    let is = far.get(name[v as usize], name[w as usize]);
                    assert_eq!(is, expected.get(v, w), "{} {v} {w}", case.name);
                }
            }
        }
    }
}
