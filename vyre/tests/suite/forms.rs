//! Forms of the language that analyses ask for: values in order, atomics that give the old value, counts whose last
//! step pushes.

use vyre::prelude::*;
use vyre::{Error, TrapKind};
use vyre_core::vir0::module::Agreement;
use vyre_tests::random::Random;
use vyre_tests::{backend_tests, graphs};

#[device]
mod keys {
    /// Ordered by its fields, in this order.
    #[derive(Clone, Copy, PartialEq, PartialOrd)]
    pub(crate) struct Key {
        pub(crate) far: f32,
        pub(crate) at: (i32, bool),
    }

    /// What the operators say of two tuples, two structs and two arrays, and of nothing at all.
    #[device]
    #[allow(
        clippy::unit_cmp,
        clippy::eq_op,
        reason = "it must mean what rustc means by it"
    )]
    pub(crate) fn verdicts(a: i32, b: i32, x: f32, y: f32) -> u32 {
        let (p, q) = ((a, x, b > 0), (b, y, a > 0));
        let (k, l) = (
            Key {
                far: x,
                at: (a, b > 0),
            },
            Key {
                far: y,
                at: (b, a > 0),
            },
        );
        let (v, w) = ([a, b, 7], [b, a, 7]);
        let mut bits = u32::from(p == q) | u32::from(p != q) << 1;
        bits |= u32::from(p < q) << 2 | u32::from(p <= q) << 3;
        bits |= u32::from(p > q) << 4 | u32::from(p >= q) << 5;
        bits |= u32::from(k == l) << 6 | u32::from(k != l) << 7;
        bits |= u32::from(k < l) << 8 | u32::from(k <= l) << 9;
        bits |= u32::from(k > l) << 10 | u32::from(k >= l) << 11;
        bits |= u32::from(v < w) << 12 | u32::from(v <= w) << 13;
        bits |= u32::from(v > w) << 14 | u32::from(v >= w) << 15;
        bits | u32::from(() < ()) << 16 | u32::from(() <= ()) << 17
    }

    /// The less and the greater of two tuples, as one number each.
    #[device]
    pub(crate) fn extremes(a: i32, b: i32) -> (i32, i32) {
        let (p, q) = ((a > 0, (b, 1)), (b > 0, (a, 2)));
        let ((c, (d, e)), (f, (g, h))) = (p.min(q), p.max(q));
        (
            i32::from(c) * 100 + d * 10 + e,
            i32::from(f) * 100 + g * 10 + h,
        )
    }
}

#[kernel]
fn compared(
    a: &i32,
    b: &i32,
    x: &f32,
    y: &f32,
    verdicts: &mut u32,
    least: &mut i32,
    most: &mut i32,
) {
    *verdicts = keys::verdicts(*a, *b, *x, *y);
    (*least, *most) = keys::extremes(*a, *b);
}

/// As rustc compares them, a NaN too.
fn values_have_an_order(runtime: &Runtime) {
    let (whole, part) = ([-1, 0, 7], [-0.0, 0.0, 1.5, f32::NAN, f32::INFINITY]);
    let (mut a, mut b, mut x, mut y) = (vec![], vec![], vec![], vec![]);
    for i in 0..whole.len().pow(2) * part.len().pow(2) {
        a.push(whole[i % 3]);
        b.push(whole[i / 3 % 3]);
        x.push(part[i / 9 % 5]);
        y.push(part[i / 45]);
    }
    let (mut verdicts, mut least, mut most) = (vec![0; 225], vec![0; 225], vec![0; 225]);
    compared::run(
        runtime,
        &a,
        &b,
        &x,
        &y,
        &mut verdicts,
        &mut least,
        &mut most,
    )
    .expect("no trap");
    for i in 0..225 {
        let case = (a[i], b[i], x[i], y[i]);
        assert_eq!(
            verdicts[i],
            keys::verdicts(a[i], b[i], x[i], y[i]),
            "{case:?}"
        );
        assert_eq!((least[i], most[i]), keys::extremes(a[i], b[i]), "{case:?}");
    }
    // Equal but for a NaN in the middle: nothing holds of the tuples and the structs but that they differ.
    let nan = (0..225).find(|&i| a[i] == 7 && b[i] == 7 && x[i].is_nan() && y[i].is_nan());
    let alike = 1 << 13 | 1 << 15 | 1 << 17;
    assert_eq!(
        verdicts[nan.expect("one of the cases")],
        1 << 1 | 1 << 7 | alike
    );
}

#[kernel]
fn outside(i: Index, less: bool, xs: &Buf<u32>, ys: &Buf<u32>, out: &mut bool) {
    *out = match less {
        true => (xs[i], ys[10]) < (xs[20], ys[30]),
        false => (xs[i], ys[11]) == (xs[21], ys[31]),
    };
}

/// The operands are evaluated from left to right, so the first fault is the first that is written.
fn parts_are_evaluated_in_order(runtime: &Runtime) {
    for (less, index) in [(true, 10), (false, 11)] {
        let mut out = [false; 2];
        let result = outside::run(runtime, less, &[1, 2], &[3, 4], &mut out);
        let Err(Error::Trap(trap)) = result else {
            panic!("{result:?}")
        };
        assert_eq!(
            (trap.kind, trap.index, trap.len),
            (TrapKind::IndexOutOfBounds, index, 2)
        );
    }
}

/// A set of numbers, by open addressing.
#[wave_graph]
mod hashed {
    pub(crate) const EMPTY: u32 = u32::MAX;

    pub(crate) struct Data {
        #[input(per = n)]
        key: u32,
        #[output(per = slots, init = EMPTY)]
        table: u32,
        #[output(per = n)]
        slot: u32,
        #[reduce(count)]
        found: u64,
        n: u32,
        slots: u32,
    }

    #[wave(range(n))]
    fn insert(key: &u32, table: &Buf<Atomic<u32>>, slot: &mut u32, found: &Reduce<Count>) {
        let mut at = key.wrapping_mul(0x9E37_79B1) % table.len();
        loop {
            let old = table[at].compare_and_swap(EMPTY, *key);
            if old == EMPTY {
                found.inc();
            }
            if old == EMPTY || old == *key {
                break;
            }
            at = (at + 1) % table.len();
        }
        *slot = at;
    }
}

fn a_compare_and_swap_finds_who_was_there(runtime: &Runtime) {
    let mut random = Random(5);
    let key: Vec<u32> = (0..4_000).map(|_| random.below(700)).collect();
    let mut session = hashed::Session::new(runtime, ()).expect("it fits");
    let (n, slots) = (4_000, 1_024);
    let run = hashed::Run {
        key: &key,
        n,
        slots,
    };
    let out = session.run(run).expect("no trap");
    let mut keys = key.clone();
    keys.sort_unstable();
    keys.dedup();
    let mut held: Vec<u32> = out.table.clone();
    held.retain(|&k| k != hashed::EMPTY);
    held.sort_unstable();
    assert_eq!((held, out.found), (keys.clone(), keys.len() as u64));
    for (key, slot) in key.iter().zip(out.slot) {
        assert_eq!(out.table[slot as usize], *key);
    }
}

/// Every type, and many lanes that count by turns.
#[wave_graph]
mod swapped {
    pub(crate) struct Data {
        #[output(per = 2)]
        words: u32,
        #[output(per = 1)]
        signed: i32,
        #[output(per = 1)]
        wide: u64,
        #[output(per = 1)]
        deep: i64,
        #[output(per = 3)]
        turns: u64,
        n: u32,
    }

    #[wave(once)]
    fn one(
        words: &Buf<Atomic<u32>>,
        signed: &Buf<Atomic<i32>>,
        wide: &Buf<Atomic<u64>>,
        deep: &Buf<Atomic<i64>>,
    ) {
        assert_eq!(words[0].compare_and_swap(0, 5), 0);
        assert_eq!(words[0].compare_and_swap(0, 6), 5);
        assert_eq!(words[0].compare_and_swap(5, 5), 5);
        words[1].compare_and_swap(0, words[0].load() + 1);
        words[1].compare_and_swap(0, 9);
        assert_eq!(signed[0].compare_and_swap(0, -3), 0);
        assert_eq!(signed[0].compare_and_swap(3, 1), -3);
        assert_eq!(wide[0].compare_and_swap(0, 1 << 40), 0);
        assert_eq!(wide[0].compare_and_swap(1, 2), 1 << 40);
        assert_eq!(deep[0].compare_and_swap(0, -1 << 40), 0);
        assert_eq!(deep[0].compare_and_swap(-1 << 40, 7), -1 << 40);
    }

    #[wave(range(n))]
    fn count(i: Index, turns: &Buf<Atomic<u64>>) {
        let at = i % turns.len();
        let mut seen = 0;
        loop {
            let old = turns[at].compare_and_swap(seen, seen + 1);
            if old == seen {
                break;
            }
            seen = old;
        }
    }
}

fn a_compare_and_swap_gives_the_old_value(runtime: &Runtime) {
    let mut session = swapped::Session::new(runtime, ()).expect("it fits");
    let out = session.run(swapped::Run { n: 1_000 }).expect("no trap");
    assert_eq!((out.words, out.signed), (vec![5, 6], vec![-3]));
    assert_eq!((out.wide, out.deep), (vec![1 << 40], vec![7]));
    assert_eq!(out.turns, [334, 333, 333]);
}

/// The level of each node in an order of the graph, by Kahn: nodes are ready when the last edge to them is gone.
#[wave_graph(deterministic)]
mod levels {
    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        #[scratch(per = node)]
        open: u32,
        #[frontier]
        ready: Frontier,
        #[output(per = node)]
        level: u32,
        #[output(per = node)]
        sum: u32,
        #[reduce(count)]
        released: u64,
    }

    #[wave(edges(graph))]
    fn count(e: Edge, open: &Buf<Atomic<u32>>) {
        open[e.dst].fetch_add(1);
    }

    #[wave(nodes, after(count))]
    fn begin(v: Node, open: &u32, ready: &Push) {
        if *open == 0 {
            ready.push(v);
        }
    }

    #[fixpoint(after(begin), until(released == 0))]
    mod rounds {
        #[wave(edges(graph, from = ready))]
        fn release(
            e: Edge,
            round: Round,
            open: &Buf<Atomic<u32>>,
            level: &Buf<Atomic<u32>>,
            sum: &Buf<Atomic<u32>>,
            ready: &Push,
            released: &Reduce<Count>,
        ) {
            let before = open[e.dst].fetch_sub(1);
            if 1 == before {
                level[e.dst].store(round + 1);
                sum[e.dst].fetch_add(3);
                ready.push(e.dst);
                released.inc();
            }
        }
    }
}

/// Nodes of the k-core: those with fewer neighbours go, round after round.
#[wave_graph(deterministic)]
mod core {
    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        #[scratch(per = node)]
        degree: u32,
        #[frontier]
        gone: Frontier,
        #[output(per = node)]
        is_gone: u32,
        k: u32,
    }

    #[wave(nodes)]
    fn begin(v: Node, k: u32, graph: &Csr, degree: &mut u32, gone: &Push) {
        *degree = graph.degree(v);
        if *degree < k {
            gone.push(v);
        }
    }

    #[fixpoint(after(begin), until(gone.is_empty()))]
    mod rounds {
        #[wave(items(gone))]
        fn note(v: Node, is_gone: &Buf<Atomic<u32>>) {
            is_gone[v].store(1);
        }

        #[wave(edges(graph, from = gone))]
        fn lower(e: Edge, k: u32, degree: &Buf<Atomic<u32>>, gone: &Push) {
            if degree[e.dst].fetch_sub(1) == k {
                gone.push(e.dst);
            }
        }
    }
}

fn the_last_step_of_a_count_pushes(runtime: &Runtime) {
    const NODES: u32 = 500;
    let mut random = Random(11);
    // Edges go up, and some are there twice; node 0 is before many.
    let mut edges: Vec<(u32, u32)> = (0..3_000)
        .map(|_| {
            let to = 1 + random.below(NODES - 1);
            (random.below(to), to)
        })
        .collect();
    edges.extend((1..NODES).step_by(3).map(|v| (0, v)));
    let graph = Csr::from_edges(NODES as usize, &edges).expect("edges name nodes");
    let mut level = vec![0; NODES as usize];
    edges.sort_unstable_by_key(|&(_, to)| to);
    for &(from, to) in &edges {
        level[to as usize] = level[to as usize].max(level[from as usize] + 1);
    }
    let mut session = levels::Session::new(runtime, &graph).expect("it fits");
    let out = session.run(levels::Run {}).expect("no trap");
    let rounds = level.iter().max().map_or(0, |&most| u64::from(most) + 1);
    assert!(out.level == level);
    assert!(
        level
            .iter()
            .map(|&level| 3 * u32::from(level > 0))
            .eq(out.sum)
    );
    assert_eq!((out.released, out.report.rounds), (0, vec![rounds]));

    let graph = graphs::both_ways(&graphs::random_graph(NODES, 1_500));
    let (k, n) = (4, NODES as usize);
    let mut gone = vec![false; n];
    loop {
        let stays = |v: usize| {
            let (from, to) = (graph.offsets()[v] as usize, graph.offsets()[v + 1] as usize);
            let left = graph.targets()[from..to]
                .iter()
                .filter(|&&w| !gone[w as usize]);
            left.count() >= k as usize
        };
        let next: Vec<bool> = (0..n).map(|v| gone[v] || !stays(v)).collect();
        if next == gone {
            break;
        }
        gone = next;
    }
    assert!(gone.contains(&true) && gone.contains(&false));
    let mut session = core::Session::new(runtime, &graph).expect("it fits");
    let out = session.run(core::Run { k }).expect("no trap");
    assert!(out.is_gone.iter().map(|&gone| gone == 1).eq(gone));
}

/// Counts whose outcome says more than how often it came, or by a step that is not the same for all.
macro_rules! open {
    ($name:ident, |$e:ident, $open:ident, $ready:ident| $body:block) => {
        #[wave_graph]
        mod $name {
            pub(crate) struct Data {
                #[topology]
                graph: Csr,
                #[output(per = node)]
                open: u32,
                #[frontier]
                ready: Frontier,
            }

            #[wave(edges(graph))]
            fn count($e: Edge, $open: &Buf<Atomic<u32>>, $ready: &Push) $body
        }
    };
}

open!(by_steps, |e, open, ready| {
    if open[e.dst].fetch_sub(e.src) == 1 {
        ready.push(e.dst);
    }
});
open!(against_the_item, |e, open, ready| {
    if open[e.dst].fetch_sub(1) == e.src {
        ready.push(e.dst);
    }
});
open!(of_the_source, |e, open, ready| {
    if open[e.dst].fetch_sub(1) == 1 {
        ready.push(e.src);
    }
});
open!(twice, |e, open, ready| {
    if open[e.dst].fetch_sub(1) == 1 {
        ready.push(e.dst);
    }
    open[e.src].fetch_sub(1);
});
open!(looked_at, |e, open, ready| {
    if open[e.dst].fetch_sub(1) == 1 {
        ready.push(open[e.src].load());
    }
});
open!(otherwise, |e, open, ready| {
    if open[e.dst].fetch_sub(1) == 1 {
        ready.push(e.dst);
    } else {
        ready.push(e.src);
    }
});
open!(stored, |e, open, ready| {
    if open[e.dst].fetch_sub(1) == 1 {
        open[e.dst].store(7);
    }
    ready.push(0);
});
open!(kept, |e, open, ready| {
    let old = open[e.dst].fetch_sub(1);
    if old == 1 {
        ready.push(old);
    }
});

/// Whoever comes last traps where `short` has no such element.
#[wave_graph]
mod short {
    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node)]
        open: u32,
        #[output(per = 4)]
        short: u32,
    }

    #[wave(edges(graph))]
    fn count(e: Edge, open: &Buf<Atomic<u32>>, short: &Buf<Atomic<u32>>) {
        if open[e.dst].fetch_add(1) == 0 {
            short[e.dst].store(1);
        }
    }
}

#[test]
fn counts_that_say_more_are_open() {
    for plan in [
        by_steps::PLAN,
        against_the_item::PLAN,
        of_the_source::PLAN,
        twice::PLAN,
        looked_at::PLAN,
        otherwise::PLAN,
        stored::PLAN,
        kept::PLAN,
        short::PLAN,
    ] {
        assert!(
            matches!(plan.program().agreement, Agreement::Open(_)),
            "{plan}"
        );
    }
    for plan in [levels::PLAN, core::PLAN] {
        assert_eq!(plan.program().agreement, Agreement::Bits, "{plan}");
    }
}

/// Parts of structs by themselves: of the item's own element, of any element, and of structs in structs and tuples.
#[wave_graph]
mod bodies {
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub(crate) struct Place {
        pub(crate) x: i32,
        pub(crate) deep: (u64, f32),
    }

    #[derive(Clone, Copy, Debug, PartialEq)]
    pub(crate) struct Body {
        pub(crate) place: Place,
        pub(crate) hits: u32,
    }

    const START: Body = Body {
        place: Place {
            x: -1,
            deep: (1 << 40, 0.5),
        },
        hits: 7,
    };

    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        #[input(per = node)]
        given: (u32, f32),
        #[output(per = node, init = START)]
        body: Body,
        #[scratch(per = node)]
        pair: (u32, i64),
        /// Not a part of `body`.
        #[output(per = node)]
        body_mass: u32,
    }

    #[wave(edges(graph))]
    fn hit(e: Edge, body_hits: &Buf<Atomic<u32>>, pair_1: &Buf<Atomic<i64>>) {
        body_hits[e.dst].fetch_add(1);
        pair_1[e.src].fetch_sub(10);
    }

    #[wave(nodes)]
    fn shift(v: Node, given_0: &Buf<u32>, body_place_x: &mut i32, body_mass: &mut u32) {
        *body_place_x += given_0[v] as i32;
        *body_mass = given_0.len();
    }

    #[wave(nodes, after(hit, shift))]
    fn sum(
        v: Node,
        given_1: &f32,
        body_hits: &u32,
        body_place_x: &Buf<i32>,
        body_place_deep_1: &mut f32,
        pair_0: &Buf<Atomic<u32>>,
    ) {
        *body_place_deep_1 += given_1 + *body_hits as f32;
        pair_0[v].store(body_place_x[0] as u32);
    }

    #[wave(nodes, after(sum))]
    fn close(pair: &(u32, i64), body: &mut Body) {
        body.place.deep.0 += u64::from(pair.0);
        body.place.x += pair.1 as i32;
    }
}

fn parts_of_structs_are_written_alone(runtime: &Runtime) {
    use bodies::{Body, Place};
    let graph = Csr::from_edges(3, &[(0, 1), (2, 1), (0, 2)]).expect("edges name nodes");
    let mut session = bodies::Session::new(runtime, &graph).expect("it fits");
    let given = [(4, 0.25), (5, 1.0), (6, -1.0)];
    let out = session.run(bodies::Run { given: &given }).expect("no trap");
    let body = |x, deep, hits| Body {
        place: Place {
            x,
            deep: ((1 << 40) + 3, deep),
        },
        hits,
    };
    assert_eq!(
        out.body,
        [
            body(3 - 20, 7.75, 7),
            body(4, 10.5, 9),
            body(5 - 10, 7.5, 8)
        ]
    );
    assert_eq!(out.body_mass, [3; 3]);
}

backend_tests!(
    values_have_an_order,
    parts_are_evaluated_in_order,
    a_compare_and_swap_finds_who_was_there,
    a_compare_and_swap_gives_the_old_value,
    the_last_step_of_a_count_pushes,
    parts_of_structs_are_written_alone,
);
