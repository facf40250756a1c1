//! Passes as ordinary users write them, what is proven of them, and whether they keep it: every pass of the first two
//! classes gives the same under other names of the nodes, in another order of the edges, on any number of threads.

#![allow(
    missing_docs,
    reason = "modules of tests, whose passes are public only to be like a user's"
)]

use std::sync::Mutex;
use std::time::Duration;
use vyre::Plan;
use vyre::core::vir0::module::{Agreement, Extent};
use vyre::prelude::*;
use vyre_tests::backend_tests;
use vyre_tests::random::Random;

/// A game on a graph: nodes from which player 0 can force a visit to a target.
#[wave_graph(deterministic)]
mod attractor {
    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        #[topology(reverse_of = graph)]
        back: Csr,
        #[input(per = node)]
        owner: u32,
        #[input(per = node)]
        target: u32,
        /// Moves that player 1 has left, and 1 where player 0 moves.
        #[scratch(per = node)]
        left: u32,
        #[output(per = node)]
        won: u32,
        #[frontier]
        front: Frontier,
    }

    #[wave(nodes)]
    fn begin(
        v: Node,
        graph: &Csr,
        owner: &u32,
        target: &u32,
        left: &mut u32,
        won: &mut u32,
        front: &Push,
    ) {
        *left = if *owner == 0 { 1 } else { graph.degree(v) };
        if *target != 0 {
            *won = 1;
            front.push(v);
        }
    }

    #[fixpoint(after(begin), until(front.is_empty()))]
    mod rounds {
        #[wave(edges(back, from = front))]
        fn attract(e: Edge, left: &Buf<Atomic<u32>>, won: &Buf<Atomic<u32>>, front: &Push) {
            if left[e.dst].fetch_sub(1) == 1 && won[e.dst].compare_exchange(0, 1) {
                front.push(e.dst);
            }
        }
    }
}

/// The same for 64 games at once, where player 0 has every move: a row of games for each node.
#[wave_graph(deterministic)]
mod attractors {
    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        #[topology(reverse_of = graph)]
        back: Csr,
        #[input(per = node, bits = 70)]
        targets: Bits,
        #[output(per = node, bits = 70)]
        won: Bits,
        #[frontier]
        front: Frontier,
    }

    #[wave(nodes)]
    fn begin(v: Node, targets: &Bits, won: &Bits, front: &Push) {
        if won.or_from(v, targets, v) {
            front.push(v);
        }
    }

    #[fixpoint(after(begin), until(front.is_empty()))]
    mod rounds {
        #[wave(edges(back, from = front))]
        fn attract(e: Edge, won: &Bits, front: &Push) {
            if won.or(e.dst, e.src) {
                front.push(e.dst);
            }
        }
    }
}

/// Which nodes behave like which others: whatever one can do next, the other can.
#[wave_graph(deterministic)]
mod bisimulation {
    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        #[input(per = node)]
        label: u32,
        #[output(per = node, bits = nodes)]
        alike: Bits,
        #[reduce(or)]
        changed: bool,
        nodes: u32,
    }

    #[wave(nodes)]
    fn begin(v: Node, nodes: u32, label: &Buf<u32>, alike: &Bits) {
        for w in 0..nodes {
            if label[v] == label[w] {
                alike.set(v, w);
            }
        }
    }

    #[fixpoint(after(begin), until(!changed))]
    mod rounds {
        #[wave(nodes)]
        fn refine(v: Node, nodes: u32, graph: &Csr, alike: &Bits, changed: &Reduce<Or<bool>>) {
            for w in 0..nodes {
                let mut all = true;
                for a in graph.neighbors(v) {
                    let mut some = false;
                    for b in graph.neighbors(w) {
                        some |= alike.get(a, b);
                    }
                    all &= some;
                }
                for b in graph.neighbors(w) {
                    let mut some = false;
                    for a in graph.neighbors(v) {
                        some |= alike.get(a, b);
                    }
                    all &= some;
                }
                if !all && alike.unset(v, w) {
                    changed.or(true);
                }
            }
        }
    }
}

/// Expressions that every path evaluates before it changes one of their operands: the greatest solution.
#[wave_graph(deterministic)]
mod anticipable {
    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        #[topology(reverse_of = graph)]
        back: Csr,
        #[input(per = node, bits = 70)]
        uses: Bits,
        #[input(per = node, bits = 70)]
        kills: Bits,
        #[output(per = node, bits = 70)]
        ant: Bits,
        #[frontier]
        front: Frontier,
    }

    #[wave(nodes)]
    fn begin(v: Node, graph: &Csr, uses: &Bits, ant: &Bits, front: &Push) {
        for k in 0..ant.words() {
            let most = if graph.degree(v) == 0 {
                uses.word(v, k)
            } else {
                u32::MAX
            };
            ant.or_word(v, k, most);
        }
        front.push(v);
    }

    #[fixpoint(after(begin), until(front.is_empty()))]
    mod rounds {
        #[wave(edges(back, from = front))]
        fn flow(e: Edge, uses: &Bits, kills: &Bits, ant: &Bits, front: &Push) {
            let mut less = false;
            for k in 0..ant.words() {
                let before = (ant.word(e.src, k) & !kills.word(e.dst, k)) | uses.word(e.dst, k);
                less |= ant.and_word(e.dst, k, before) & !before != 0;
            }
            if less {
                front.push(e.dst);
            }
        }
    }
}

/// The nodes on every path from node 0: rows that begin with all bits.
#[wave_graph(deterministic)]
mod dominators {
    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node, bits = 64, init = true)]
        dom: Bits,
        #[reduce(or)]
        changed: bool,
    }

    #[wave(once)]
    fn begin(dom: &Bits) {
        dom.clear(0);
        dom.set(0, 0);
    }

    #[fixpoint(after(begin), until(!changed))]
    mod rounds {
        #[wave(edges(graph))]
        fn meet(e: Edge, dom: &Bits, changed: &Reduce<Or<bool>>) {
            for k in 0..dom.words() {
                let own = if e.dst / 32 == k {
                    1 << (e.dst % 32)
                } else {
                    0
                };
                let kept = dom.word(e.src, k) | own;
                if dom.and_word(e.dst, k, kept) & !kept != 0 {
                    changed.or(true);
                }
            }
        }
    }
}

/// Shortest paths by buckets: light edges again and again, then what was put off.
#[wave_graph]
mod delta {
    pub(crate) const FAR: u32 = u32::MAX;

    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        #[topology(per = edge(graph))]
        weight: u32,
        #[output(per = node, init = FAR)]
        dist: u32,
        #[frontier]
        near: Frontier,
        #[frontier]
        later: Frontier,
        /// The bucket that is worked on.
        #[reduce(max)]
        bucket: u32,
        #[reduce(count)]
        waiting: u64,
        source: u32,
        delta: u32,
    }

    #[wave(once)]
    fn begin(source: u32, dist: &Buf<Atomic<u32>>, later: &Push) {
        dist[source].store(0);
        later.push(source);
    }

    #[fixpoint(after(begin), until(waiting == 0))]
    mod buckets {
        #[wave(items(later))]
        fn pick(
            v: Node,
            round: Round,
            delta: u32,
            dist: &Buf<u32>,
            near: &Push,
            later: &Push,
            bucket: &Reduce<Max<u32>>,
            waiting: &Reduce<Count>,
        ) {
            bucket.max(round);
            waiting.inc();
            if dist[v] / delta <= round {
                near.push(v);
            } else {
                later.push(v);
            }
        }

        #[fixpoint(after(pick), until(near.is_empty()))]
        mod light {
            #[wave(edges(graph, from = near))]
            fn relax(
                e: Edge,
                bucket: u32,
                delta: u32,
                weight: &Buf<u32>,
                dist: &Buf<Atomic<u32>>,
                near: &Push,
                later: &Push,
            ) {
                let far = dist[e.src].load() + weight[e.index];
                if far < dist[e.dst].fetch_min(far) {
                    if far / delta <= bucket {
                        near.push(e.dst);
                    } else {
                        later.push(e.dst);
                    }
                }
            }
        }
    }
}

/// Counts up to a bound of each node's own; what is reached is counted, and noted twice.
#[wave_graph(deterministic)]
mod needs {
    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        #[input(per = node)]
        need: u32,
        #[input(per = node)]
        start: u32,
        #[output(per = node)]
        met: u32,
        #[output(per = node)]
        done: u32,
        #[output(per = node)]
        weight: u32,
        #[reduce(sum)]
        total: u64,
        #[frontier]
        front: Frontier,
    }

    #[wave(nodes)]
    fn begin(v: Node, start: &u32, need: &u32, met: &mut u32, front: &Push) {
        *met = *start;
        if *need < 2 {
            front.push(v);
        }
    }

    #[fixpoint(after(begin), until(front.is_empty()))]
    mod rounds {
        #[wave(edges(graph, from = front))]
        fn meet(
            e: Edge,
            graph: &Csr,
            need: &Buf<u32>,
            met: &Buf<Atomic<u32>>,
            done: &Buf<Atomic<u32>>,
            weight: &Buf<Atomic<u32>>,
            total: &Reduce<Sum<u64>>,
            front: &Push,
        ) {
            let now = met[e.dst].fetch_add(3);
            let most = need[e.dst] + graph.degree(e.dst);
            if now / 2 == most || now == 7 {
                done[e.dst].store(1);
                weight[e.dst].fetch_add(need[e.dst]);
                total.add(4);
                if need[e.dst] > 2 {
                    front.push(e.dst);
                }
            }
        }
    }
}

/// Bits of bits that a frontier follows.
macro_rules! rows {
    ($($name:ident |$e:ident, $given:ident, $a:ident, $b:ident, $front:ident| $body:block)*) => {
        $(#[wave_graph(deterministic)]
        mod $name {
            pub(crate) struct Data {
                #[topology]
                graph: Csr,
                #[input(per = node, bits = 70)]
                first: Bits,
                #[input(per = node, bits = 70)]
                $given: Bits,
                #[output(per = node, bits = 70)]
                $a: Bits,
                #[output(per = node, bits = 70)]
                $b: Bits,
                #[frontier(unique)]
                $front: Frontier,
            }

            #[wave(nodes)]
            fn begin(v: Node, first: &Bits, $given: &Bits, $a: &Bits, $b: &Bits, $front: &Push) {
                $a.or_from(v, first, v);
                $b.or_from(v, $given, v);
                $front.push(v);
            }

            #[fixpoint(after(begin), until($front.is_empty()))]
            mod rounds {
                #[wave(edges(graph, from = $front))]
                fn flow($e: Edge, $given: &Bits, $a: &Bits, $b: &Bits, $front: &Push) $body
            }
        })*

        /// What each of them leaves of two rows.
        fn rows_left(
            runtime: &Runtime,
            graph: &Csr,
            (first, given): (&[u32], &[u32]),
        ) -> Vec<(&'static str, Bits, Bits)> {
            vec![$({
                let mut session = $name::Session::new(runtime, graph).expect("it fits");
                let out = session.run($name::Run { first, $given: given }).expect("no trap");
                (stringify!($name), out.$a, out.$b)
            }),*]
        }
    };
}

rows! {
    joins |e, given, a, b, front| {
        if a.or(e.dst, e.src) {
            front.push(e.dst);
        }
        let _ = (given.width(), b.width());
    }
    meets |e, given, a, b, front| {
        if a.and(e.dst, e.src) {
            front.push(e.dst);
        }
        let _ = (given.width(), b.width());
    }
    gains |e, given, a, b, front| {
        let mut more = false;
        for k in 0..a.words() {
            let through = a.word(e.src, k) & !given.word(e.dst, k);
            more |= through & !a.or_word(e.dst, k, through) != 0;
        }
        if more {
            front.push(e.dst);
        }
        let _ = b.width();
    }
    loses |e, given, a, b, front| {
        for k in 0..a.words() {
            let kept = a.word(e.src, k) | given.word(e.dst, k);
            if a.and_word(e.dst, k, kept) & !kept != 0 {
                front.push(e.dst);
            }
        }
        let _ = b.width();
    }
    one_bit |e, given, a, b, front| {
        if a.get(e.src, 3) && given.get(e.src, 5) && a.set(e.dst, 69) {
            front.push(e.dst);
        }
        if a.get(e.src, 69) && a.set(e.dst, 3) {
            front.push(e.dst);
        }
        let _ = b.width();
    }
    two |e, given, a, b, front| {
        let more = a.or(e.dst, e.src);
        let less = b.and_not_from(e.dst, a, e.src);
        if more | less {
            front.push(e.dst);
        }
        let _ = given.width();
    }
}

/// An inner fixpoint leaves what it has pushed, and the next round around it pushes all nodes again.
#[wave_graph]
mod leftovers {
    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        #[scratch(per = node)]
        mark: u32,
        #[output(per = node)]
        seen: u32,
        #[frontier]
        front: Frontier,
    }

    #[fixpoint(until(round >= 2))]
    mod outer {
        #[wave(nodes)]
        fn refill(v: Node, mark: &mut u32, front: &Push) {
            *mark = 0;
            front.push(v);
        }

        #[fixpoint(after(refill), until(round < 100))]
        mod inner {
            #[wave(edges(graph, from = front))]
            fn spread(e: Edge, mark: &Buf<Atomic<u32>>, seen: &Buf<Atomic<u32>>, front: &Push) {
                seen[e.dst].fetch_add(1);
                if mark[e.dst].compare_exchange(0, 1) {
                    front.push(e.dst);
                }
            }
        }
    }
}

/// A fixpoint inside the owner pushes all nodes in each of its rounds.
#[wave_graph]
mod inside {
    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node)]
        seen: u32,
        #[frontier]
        front: Frontier,
    }

    #[fixpoint(until(round >= 1))]
    mod outer {
        #[wave(items(front))]
        fn look(v: Node, seen: &Buf<Atomic<u32>>) {
            seen[v].fetch_add(1);
        }

        #[fixpoint(after(look), until(round >= 2))]
        mod inner {
            #[wave(nodes)]
            fn refill(v: Node, front: &Push) {
                front.push(v);
            }
        }
    }
}

/// A claim by the round, whose limit keeps it apart from what is not claimed, or does not.
macro_rules! by_limit {
    ($name:ident, $limit:expr) => {
        #[wave_graph]
        mod $name {
            const LIMIT: u32 = $limit;
            const FREE: u32 = 1_000;

            pub(crate) struct Data {
                #[topology]
                graph: Csr,
                #[output(per = node, init = FREE)]
                level: u32,
                #[frontier]
                front: Frontier,
            }

            #[wave(nodes)]
            fn begin(v: Node, level: &mut u32, front: &Push) {
                if v == 0 {
                    *level = 0;
                    front.push(v);
                }
            }

            #[fixpoint(after(begin), until(front.is_empty()), max_rounds = LIMIT)]
            mod rounds {
                #[wave(edges(graph, from = front))]
                fn relax(e: Edge, round: Round, level: &Buf<Atomic<u32>>, front: &Push) {
                    if level[e.dst].compare_exchange(FREE, round + 1) {
                        front.push(e.dst);
                    }
                }
            }
        }
    };
}

by_limit!(limited, 999);
by_limit!(unlimited, 1_000);

/// Claims, and counts, of which some are not what they look like. One round, and what it left.
macro_rules! pushes {
    ($($name:ident |$e:ident, $round:ident, $mark:ident, $bound:ident, $from:ident, $front:ident| $body:block)*) => {
        $(#[wave_graph]
        mod $name {
            #[allow(dead_code, reason = "some of them have a limit by it")]
            pub(crate) const FREE: u32 = 0;
            #[allow(dead_code, reason = "as above")]
            pub(crate) const TAKEN: u32 = FREE + 7;

            pub(crate) struct Data {
                #[topology]
                graph: Csr,
                #[output(per = node)]
                $mark: u32,
                #[scratch(per = node)]
                $bound: u32,
                #[frontier]
                $front: Frontier,
                #[reduce(count)]
                seen: u64,
                $from: u32,
            }

            #[wave(nodes)]
            fn begin(v: Node, $front: &Push) {
                $front.push(v);
            }

            #[fixpoint(after(begin), until($round >= 1), max_rounds = 9)]
            mod rounds {
                #[wave(items($front))]
                fn look(seen: &Reduce<Count>) {
                    seen.inc();
                }

                #[wave(edges(graph, from = $front))]
                fn tell(
                    $e: Edge,
                    $round: Round,
                    $from: u32,
                    $mark: &Buf<Atomic<u32>>,
                    $bound: &Buf<u32>,
                    $front: &Push,
                ) {
                    if $round > 0 {
                        return;
                    }
                    $body
                }
            }
        })*

        /// The room of each, and how many nodes its second round has found.
        fn pushes_of(runtime: &Runtime, graph: &Csr, from: u32) -> Vec<(&'static str, Extent, u64)> {
            vec![$({
                let mut session = $name::Session::new(runtime, graph).expect("it fits");
                let seen = session.run($name::Run { $from: from }).expect("there is room").seen;
                let room = $name::PLAN.program().frontiers[0].capacity;
                (stringify!($name), room, seen)
            }),*]
        }
    };
}

pushes! {
    claims |e, round, mark, bound, from, front| {
        if mark[e.dst].compare_exchange(0, 7) {
            front.push(e.dst);
        }
        let _ = (round, from, bound[e.dst]);
    }
    swaps |e, round, mark, bound, from, front| {
        if mark[e.dst].compare_and_swap(0, 7) == 0 {
            front.push(e.dst);
        }
        let _ = (round, from, bound[e.dst]);
    }
    swaps_of_another |e, round, mark, bound, from, front| {
        if mark[e.dst].compare_and_swap(0, 7) == 7 {
            front.push(e.dst);
        }
        let _ = (round, from, bound[e.dst]);
    }
    claims_by_round |e, round, mark, bound, from, front| {
        if mark[e.dst].compare_exchange(0, round + 1) {
            front.push(e.dst);
        }
        let _ = (from, bound[e.dst]);
    }
    counts |e, round, mark, bound, from, front| {
        if mark[e.dst].fetch_add(1) == bound[e.dst] {
            front.push(e.dst);
        }
        let _ = (round, from);
    }
    twice |e, round, mark, bound, from, front| {
        let old = mark[e.dst].fetch_sub(1);
        if old == 0 {
            front.push(e.dst);
        }
        if old == u32::MAX {
            front.push(e.dst);
        }
        let _ = (round, from, bound[e.dst]);
    }
    scalar |e, round, mark, bound, from, front| {
        if mark[e.dst].compare_exchange(from, 0) {
            front.push(e.dst);
        }
        let _ = (round, bound[e.dst]);
    }
    constant |e, round, mark, bound, from, front| {
        if mark[e.dst].compare_exchange(FREE, 0) {
            front.push(e.dst);
        }
        let _ = (round, from, bound[e.dst]);
    }
    by_names |e, round, mark, bound, from, front| {
        if mark[e.dst].compare_exchange(FREE, TAKEN) {
            front.push(e.dst);
        }
        let _ = (round, from, bound[e.dst]);
    }
    by_name_and_round |e, round, mark, bound, from, front| {
        if mark[e.dst].compare_exchange(FREE, round + 1) {
            front.push(e.dst);
        }
        let _ = (from, bound[e.dst]);
    }
    round_meets_name |e, round, mark, bound, from, front| {
        if mark[e.dst].compare_exchange(FREE, round) {
            front.push(e.dst);
        }
        let _ = (from, bound[e.dst]);
    }
    round_may_meet_name |e, round, mark, bound, from, front| {
        if mark[e.dst].compare_exchange(TAKEN, round + 1) {
            front.push(e.dst);
        }
        let _ = (from, bound[e.dst]);
    }
    round_meets |e, round, mark, bound, from, front| {
        if mark[e.dst].compare_exchange(0, round) {
            front.push(e.dst);
        }
        let _ = (from, bound[e.dst]);
    }
    at_least |e, round, mark, bound, from, front| {
        if mark[e.dst].fetch_add(1) >= bound[e.dst] {
            front.push(e.dst);
        }
        let _ = (round, from);
    }
    even_steps |e, round, mark, bound, from, front| {
        if mark[e.dst].fetch_add(1 << 31) == bound[e.dst] {
            front.push(e.dst);
        }
        let _ = (round, from);
    }
    by_the_item |e, round, mark, bound, from, front| {
        if mark[e.dst].fetch_add(1) == e.src {
            front.push(e.dst);
        }
        let _ = (round, from, bound[e.dst]);
    }
    another_node |e, round, mark, bound, from, front| {
        if mark[e.dst].compare_exchange(0, 7) {
            front.push(e.src);
        }
        let _ = (round, from, bound[e.dst]);
    }
    otherwise |e, round, mark, bound, from, front| {
        if !mark[e.dst].compare_exchange(0, 7) {
            front.push(e.dst);
        }
        let _ = (round, from, bound[e.dst]);
    }
    taken_back |e, round, mark, bound, from, front| {
        if mark[e.dst].compare_exchange(0, 7) {
            front.push(e.dst);
            mark[e.dst].store(0);
        }
        let _ = (round, from, bound[e.dst]);
    }
    in_a_loop |e, round, mark, bound, from, front| {
        for _ in 0..2 {
            if mark[e.dst].fetch_add(1) == bound[e.dst] {
                front.push(e.dst);
            }
        }
        let _ = (round, from);
    }
}

/// Counts and claims of which something is about another node than their own, or about one of several attempts.
macro_rules! mistaken {
    ($($name:ident |$e:ident, $graph:ident, $count:ident, $total:ident, $won:ident, $front:ident| $body:block)*) => {
        $(
            #[allow(clippy::collapsible_if, reason = "each question is a guard of its own")]
            #[wave_graph]
            mod $name {
                pub(crate) struct Data {
                    #[topology]
                    $graph: Csr,
                    #[output(per = node)]
                    $count: u32,
                    #[output(per = node)]
                    $total: u32,
                    #[output(per = node)]
                    $won: u32,
                    #[frontier]
                    $front: Frontier,
                    #[output(per = node)]
                    seen: u32,
                }

                #[wave(edges($graph))]
                fn step(
                    $e: Edge,
                    $graph: &Csr,
                    $count: &Buf<Atomic<u32>>,
                    $total: &Buf<Atomic<u32>>,
                    $won: &Buf<Atomic<u32>>,
                    $front: &Push,
                ) {
                    let _ = ($graph.degree($e.src), $count.len(), $total.len(), $won.len());
                    $body
                }

                #[wave(items($front), after(step))]
                fn see(v: Node, seen: &Buf<Atomic<u32>>) {
                    seen[v].fetch_add(1);
                }
            }
        )*

        #[test]
        fn what_is_of_another_node_or_attempt_is_open() {
            for plan in [$($name::PLAN),*] {
                assert_eq!(class(&plan), "open result", "{plan}");
            }
        }
    };
}

mistaken! {
    stale_bound |e, graph, count, total, won, front| {
        let mut x = e.src;
        let k = x % 3;
        x = e.dst;
        if count[x].fetch_add(1) == k {
            front.push(x);
        }
    }
    stale_degree |e, graph, count, total, won, front| {
        let mut x = e.src;
        let k = graph.degree(x);
        x = e.dst;
        if count[x].fetch_add(1) == k {
            front.push(x);
        }
    }
    stale_amount |e, graph, count, total, won, front| {
        let mut x = e.src;
        let k = x % 3;
        x = e.dst;
        if won[x].compare_exchange(0, 4) {
            total[x].fetch_add(k);
            front.push(x);
        }
    }
    stale_question |e, graph, count, total, won, front| {
        let mut x = e.src;
        let odd = x % 2 == 1;
        x = e.dst;
        if count[x].fetch_sub(1) == 1 && odd {
            front.push(x);
        }
    }
    stale_twice_removed |e, graph, count, total, won, front| {
        let mut x = e.src;
        let k = x % 3;
        let again = k + 1;
        x = e.dst;
        if count[x].fetch_add(1) == again {
            front.push(x);
        }
    }
    old_under_a_claim |e, graph, count, total, won, front| {
        let old = count[e.dst].fetch_add(1);
        if old < 1000 {
            if won[e.dst].compare_exchange(0, 1) {
                if old == 0 {
                    front.push(e.dst);
                }
            }
        }
    }
    old_is_added_under_a_claim |e, graph, count, total, won, front| {
        let old = count[e.dst].fetch_add(1);
        if old > 1 && won[e.dst].compare_exchange(0, 1) {
            total[e.dst].fetch_add(old);
            front.push(e.dst);
        }
    }
    name_of_old_under_a_claim |e, graph, count, total, won, front| {
        let old = count[e.dst].fetch_add(1);
        if old < 1000 {
            let k = old + 1;
            if won[e.dst].compare_exchange(0, 1) {
                total[e.dst].fetch_add(k);
                front.push(e.dst);
            }
        }
    }
}

/// 0 to `n - 1` in any order.
fn permutation(random: &mut Random, n: u32) -> Vec<u32> {
    let mut all: Vec<u32> = (0..n).collect();
    for i in (1..n).rev() {
        all.swap(i as usize, random.below(i + 1) as usize);
    }
    all
}

/// What a pass is given, with names that are permuted, and the permutation.
struct Case<'a> {
    runtime: &'a Runtime,
    graph: &'a Csr,
    name: &'a [u32],
}

impl Case<'_> {
    /// Elements, or rows of them, at the places of the new names.
    fn renamed(&self, all: &[u32]) -> Vec<u32> {
        let each = all.len() / self.name.len();
        let mut out = vec![0; all.len()];
        for (v, row) in all.chunks(each).enumerate() {
            out[self.name[v] as usize * each..][..each].copy_from_slice(row);
        }
        out
    }

    /// The same back.
    fn by_old_name(&self, all: &[u32]) -> Vec<u32> {
        let each = all.len() / self.name.len();
        let row = |&v: &u32| &all[v as usize * each..][..each];
        self.name.iter().flat_map(row).copied().collect()
    }
}

/// Runs on graphs whose nodes are renamed and whose edges are shuffled, on one thread and several: all agree.
fn agrees<T: PartialEq + Clone + std::fmt::Debug + Send>(
    runtime: &Runtime,
    (nodes, edges): (u32, &[(u32, u32)]),
    random: &mut Random,
    run: impl Fn(&Case<'_>) -> T + Sync,
) -> T {
    let mut expected: Option<T> = None;
    for turn in 0..3 {
        let name = match turn {
            0 => (0..nodes).collect(),
            _ => permutation(random, nodes),
        };
        let of = |v: u32| name[v as usize];
        let order = permutation(random, edges.len() as u32);
        let shuffled: Vec<(u32, u32)> = (order.iter())
            .map(|&i| (of(edges[i as usize].0), of(edges[i as usize].1)))
            .collect();
        let graph = Csr::from_edges(nodes as usize, &shuffled).expect("edges name nodes");
        for (threads, parallel_from) in [(1, u32::MAX), (2, 1), (7, 16)] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            let measured = format!("parallel_from = {parallel_from}\n");
            let thresholds = runtime.thresholds().with(&measured).expect("a number");
            let runtime = runtime.clone().with_thresholds(thresholds);
            let case = Case {
                runtime: &runtime,
                graph: &graph,
                name: &name,
            };
            let left = pool.expect("threads").install(|| run(&case));
            let expected = expected.get_or_insert_with(|| left.clone());
            assert_eq!(left, *expected, "{threads} threads, turn {turn}");
        }
    }
    expected.expect("it ran")
}

const NODES: u32 = 100;

/// Random edges.
fn edges(random: &mut Random, nodes: u32, edges: u32) -> Vec<(u32, u32)> {
    let mut end = || random.below(nodes);
    (0..edges).map(|_| (end(), end())).collect()
}

/// Bits of 70 bits, of which one of `2^few` is set.
fn bits(random: &mut Random, few: u32) -> Vec<u32> {
    let word = |k: u32| if k % 3 == 2 { 63 } else { u32::MAX };
    let mut some = || (0..few).fold(u32::MAX, |all, _| all & random.bits() as u32);
    (0..NODES * 3).map(|k| word(k) & some()).collect()
}

fn class(plan: &Plan) -> &'static str {
    match plan.program().agreement {
        Agreement::Bits => "same bits",
        Agreement::Result(_) => "same result",
        Agreement::Open(_) => "open result",
    }
}

#[test]
fn what_is_proven_of_ordinary_passes() {
    for (plan, expected) in [
        (attractor::PLAN, "same bits"),
        (attractors::PLAN, "same result"),
        (bisimulation::PLAN, "same result"),
        (anticipable::PLAN, "same result"),
        (dominators::PLAN, "same result"),
        (needs::PLAN, "same bits"),
        (delta::PLAN, "open result"),
    ] {
        assert_eq!(class(&plan), expected, "{plan}");
    }
    // Rounds inside rounds, whose number says what is put off.
    let plan = delta::PLAN.to_string();
    let reasons: Vec<&str> = plan.lines().skip(2).take_while(|l| !l.is_empty()).collect();
    assert_eq!(reasons.len(), 3, "{plan}");
    assert!(
        reasons[0].starts_with("  relax uses the old value of dist ("),
        "{plan}"
    );
    assert!(reasons[1].starts_with("  relax "), "{plan}");
    assert!(
        reasons[2].starts_with(
            "  dist, bucket and waiting may differ, so a session of several backends stays where it began: "
        ),
        "{plan}"
    );
}

/// Searches that claim nodes by what was there before.
macro_rules! searches {
    ($($name:ident |$e:ident, $round:ident, $far:ident, $level:ident, $front:ident| $body:block)*) => {
        $(
            #[wave_graph]
            mod $name {
                pub(crate) const FAR: u32 = 900;

                pub(crate) struct Data {
                    #[topology]
                    graph: Csr,
                    #[topology]
                    $far: u32,
                    #[frontier(unique)]
                    $front: Frontier,
                    #[output(per = node, init = FAR)]
                    $level: u32,
                }

                #[wave(once)]
                fn begin($level: &Buf<Atomic<u32>>, $front: &Push) {
                    $level[0].store(0);
                    $front.push(0);
                }

                #[fixpoint(after(begin), until($front.is_empty()))]
                mod levels {
                    #[wave(edges(graph, from = $front))]
                    fn follow(
                        $e: Edge,
                        $round: Round,
                        $far: u32,
                        $level: &Buf<Atomic<u32>>,
                        $front: &Push,
                    ) {
                        let _ = $far;
                        $body
                    }
                }
            }
        )*

        /// Of each: how its plan begins, and levels.
        fn searched(runtime: &Runtime, graph: &Csr) -> Vec<(&'static str, String, Vec<u32>)> {
            vec![$({
                let topology = $name::Topology { graph, $far: 900 };
                let mut session = $name::Session::new(runtime, topology).expect("it fits");
                let level = session.run($name::Run {}).expect("there is room").$level;
                let plan = $name::PLAN.to_string();
                (stringify!($name), plan.lines().next().unwrap_or_default().to_owned(), level)
            }),*]
        }
    };
}

searches! {
    by_a_literal |e, round, far, level, front| {
        if level[e.dst].compare_and_swap(900, round + 1) == 900 {
            front.push(e.dst);
        }
    }
    by_a_constant |e, round, far, level, front| {
        if FAR == level[e.dst].compare_and_swap(FAR, round + 1) {
            front.push(e.dst);
        }
    }
    by_a_scalar |e, round, far, level, front| {
        if level[e.dst].compare_and_swap(far, round + 1) == far {
            front.push(e.dst);
        }
    }
    by_two_names |e, round, far, level, front| {
        if level[e.dst].compare_and_swap(FAR, round + 1) == far {
            front.push(e.dst);
        }
    }
    in_a_local |e, round, far, level, front| {
        let old = level[e.dst].compare_and_swap(FAR, round + 1);
        if old == FAR {
            front.push(e.dst);
        }
    }
    by_what_changes |e, round, far, level, front| {
        let mut x = 900;
        let swapped = level[e.dst].compare_and_swap(x, {
            x += 1;
            round + 1
        }) == x;
        if !swapped && x == 901 && level[e.dst].load() == round + 1 {
            front.push(e.dst);
        }
    }
}

fn a_swap_that_is_compared_with_what_it_expects_is_a_claim(runtime: &Runtime) {
    let graph = chords(200);
    let searches = searched(runtime, &graph);
    let levels = &searches[0].2;
    assert!(levels.contains(&3) && !levels.contains(&900));
    for (name, class, level) in &searches {
        let claims = ["by_a_literal", "by_a_constant", "by_a_scalar"].contains(name);
        let expected = match claims {
            true => format!("pass {name} (same bits"),
            false => format!("pass {name} (open result"),
        };
        assert!(class.starts_with(&expected), "{class}");
        assert_eq!(level, levels, "{name}");
    }
}

backend_tests!(
    a_swap_that_is_compared_with_what_it_expects_is_a_claim,
    rows_that_a_frontier_follows_do_not_depend_on_the_order,
    counters_do_not_depend_on_the_order,
    ordinary_passes_do_not_depend_on_the_order,
    what_is_pushed_has_room,
    rows_begin_with_all_bits,
);

fn rows_begin_with_all_bits(runtime: &Runtime) {
    const FEW: u32 = 40;
    let edges = edges(&mut Random(37), FEW, 60);
    let reached = |without: Option<u32>| {
        let mut seen = vec![false; FEW as usize];
        seen[0] = without != Some(0);
        for _ in 0..FEW {
            for &(a, b) in &edges {
                seen[b as usize] |= seen[a as usize] && without != Some(b);
            }
        }
        seen
    };
    let all = reached(None);
    let graph = Csr::from_edges(FEW as usize, &edges).expect("edges name nodes");
    let mut session = dominators::Session::new(runtime, &graph).expect("it fits");
    // The second run begins anew.
    for _ in 0..2 {
        let dom = session.run(dominators::Run {}).expect("no trap").dom;
        for v in 0..FEW {
            let on_every_path = |w: u32| match all[v as usize] {
                true => w < FEW && (v == w || !reached(Some(w))[v as usize]),
                false => true,
            };
            assert!(dom.ones(v).eq((0..64).filter(|&w| on_every_path(w))), "{v}");
        }
    }
}

/// A ring with chords: three edges into each node, and out of it.
fn chords(nodes: u32) -> Csr {
    let edges: Vec<(u32, u32)> = (0..nodes)
        .flat_map(|v| [1, 3, 7].map(|k| (v, (v + k) % nodes)))
        .collect();
    Csr::from_edges(nodes as usize, &edges).expect("edges name nodes")
}

/// Runs that push as much as they can find room where it is proven to be enough, and keep it where it is not.
fn what_is_pushed_has_room(runtime: &Runtime) {
    let graph = chords(NODES);
    let all = u64::from(NODES);
    let mut session = leftovers::Session::new(runtime, &graph).expect("it fits");
    let out = session.run(leftovers::Run {}).expect("there is room");
    // Each node is in the frontier once in the first round, and twice in the others.
    assert_eq!(out.seen, vec![3 * 5; NODES as usize]);
    let mut session = inside::Session::new(runtime, &graph).expect("it fits");
    let out = session.run(inside::Run {}).expect("there is room");
    assert_eq!(out.seen, vec![3; NODES as usize]);
    for (pass, room, seen) in pushes_of(runtime, &graph, 0) {
        let (times, pushed) = match pass {
            "claims" | "swaps" | "claims_by_round" | "counts" | "by_names"
            | "by_name_and_round" => (Some(1), Some(all)),
            "twice" => (Some(2), Some(2 * all)),
            // All edges push.
            "scalar" | "constant" | "round_meets" | "round_meets_name" | "at_least" => {
                (None, Some(3 * all))
            }
            "even_steps" | "otherwise" | "another_node" | "round_may_meet_name" => (None, None),
            _ => (None, None),
        };
        let expected = times.map_or(Extent::NodesPlusEdges, Extent::NodesTimes);
        assert_eq!(room, expected, "{pass}");
        assert!(pushed.is_none_or(|n| n == seen), "{pass}: {seen}");
    }
}

#[test]
fn the_plan_says_which_room_and_why() {
    let room = |plan: &Plan| {
        let shown = plan.to_string();
        let is_row = |l: &&str| l.starts_with("  frontier") && l.contains("front");
        let row = shown.lines().find(is_row).expect("it has a frontier");
        let why = shown.lines().find(|l| l.contains(" has room for "));
        (
            row.split_whitespace().collect::<Vec<_>>().join(" "),
            why.map(str::to_owned),
        )
    };
    let (row, why) = room(&attractor::PLAN);
    assert!(
        row.starts_with("frontier front up to nodes, flips with rounds"),
        "{row}"
    );
    assert_eq!(
        why.as_deref(),
        Some(
            "  front has room for nodes: each push of begin and attract is for a node at most once between two flips, \
             as the item of a sweep, by a claim, or where a count is reached"
        )
    );
    let (row, why) = room(&leftovers::PLAN);
    assert!(row.starts_with("frontier front up to nodes x 2, "), "{row}");
    assert!(why.is_some());
    // What rustc alone knows counts where the program is put together.
    let (row, why) = room(&limited::PLAN);
    assert!(row.starts_with("frontier front up to nodes, "), "{row}");
    assert!(why.is_some());
    for plan in [
        inside::PLAN,
        scalar::PLAN,
        attractors::PLAN,
        unlimited::PLAN,
    ] {
        let (row, why) = room(&plan);
        assert!(
            row.starts_with("frontier front up to (nodes + edges), "),
            "{row}"
        );
        assert_eq!(why, None);
    }
}

/// A device, which is played, and the CPU beside it, as `auto` has them. Runs of one of the two take a thousandth of the
/// other's, by the clock that sessions choose sides by.
fn beside_a_device(fast: &'static str) -> Runtime {
    let turned = Mutex::new(Duration::ZERO);
    let both = Runtime::among(vyre_tests::fake(), [Runtime::native()]);
    both.with_clock(move |backend| {
        let mut now = turned.lock().expect("nothing panics under it");
        *now += match backend == fast {
            true => Duration::from_millis(1),
            false => Duration::from_secs(1),
        };
        *now
    })
}

/// Each run is where runs take least, as soon as that is known, and gives what it gives elsewhere.
#[test]
fn ordinary_passes_go_where_they_are_fastest_beside_a_device() {
    let mut random = Random(36);
    let edges = edges(&mut random, NODES, 150);
    let graph = Csr::from_edges(NODES as usize, &edges).expect("edges name nodes");
    let owner: Vec<u32> = (0..NODES).map(|_| random.below(2)).collect();
    let target: Vec<u32> = (0..NODES).map(|v| u32::from(v % 9 == 0)).collect();
    let (uses, kills) = (bits(&mut random, 2), bits(&mut random, 3));
    let (alone, games) = (
        Runtime::native(),
        attractor::Run {
            owner: &owner,
            target: &target,
        },
    );
    let variables = anticipable::Run {
        uses: &uses,
        kills: &kills,
    };
    let mut session = attractor::Session::new(&alone, &graph).expect("it fits");
    let won = session.run(games).expect("no trap").won;
    assert_eq!(won, forced(&edges, &owner, &target));
    let mut session = anticipable::Session::new(&alone, &graph).expect("it fits");
    let ant = session.run(variables).expect("no trap").ant;
    for (fast, tried) in [("native", 1), ("cuda", 2)] {
        let runtime = beside_a_device(fast);
        let mut session = attractor::Session::new(&runtime, &graph).expect("it fits");
        let mut backends = Vec::new();
        for _ in 0..5 {
            let out = session.run(games).expect("no trap");
            assert_eq!(out.won, won);
            backends.push(out.report.backend);
        }
        assert_eq!(backends[0], "cuda");
        assert_eq!(backends[tried..], vec![fast; 5 - tried], "{backends:?}");
        let mut session = anticipable::Session::new(&runtime, &graph).expect("it fits");
        let mut backends = Vec::new();
        for _ in 0..5 {
            let out = session.run(variables).expect("no trap");
            assert_eq!(out.ant, ant);
            backends.push(out.report.backend);
        }
        assert_eq!(backends[0], "cuda");
        assert_eq!(backends[tried..], vec![fast; 5 - tried], "{backends:?}");
    }
}

fn rows_that_a_frontier_follows_do_not_depend_on_the_order(runtime: &Runtime) {
    let mut random = Random(32);
    let edges = edges(&mut random, NODES, 180);
    let (first, given) = (bits(&mut random, 2), bits(&mut random, 1));
    agrees(runtime, (NODES, &edges), &mut random, |case| {
        let given = (case.renamed(&first), case.renamed(&given));
        let left = rows_left(case.runtime, case.graph, (&given.0, &given.1));
        let old = |rows: Bits| case.by_old_name(&rows.into_words());
        left.into_iter()
            .map(|(pass, a, b)| (pass, old(a), old(b)))
            .collect::<Vec<_>>()
    });
}

fn counters_do_not_depend_on_the_order(runtime: &Runtime) {
    let mut random = Random(33);
    let edges = edges(&mut random, NODES, 500);
    let need: Vec<u32> = (0..NODES).map(|_| random.below(5)).collect();
    // Some begin near the end, and wrap.
    let start = |_| random.below(9).wrapping_sub(4);
    let start: Vec<u32> = (0..NODES).map(start).collect();
    let out = agrees(runtime, (NODES, &edges), &mut Random(34), |case| {
        let (need, start) = (case.renamed(&need), case.renamed(&start));
        let mut session = needs::Session::new(case.runtime, case.graph).expect("it fits");
        let run = needs::Run {
            need: &need,
            start: &start,
        };
        let out = session.run(run).expect("no trap");
        let old = |all: &[u32]| case.by_old_name(all);
        let report = out.report;
        (
            old(&out.met),
            old(&out.done),
            old(&out.weight),
            out.total,
            report.rounds,
        )
    });
    assert!(out.1.contains(&1) && out.3 > 0);
}

/// Nodes from which player 0 can force a visit to a target.
fn forced(edges: &[(u32, u32)], owner: &[u32], target: &[u32]) -> Vec<u32> {
    let mut won = target.to_vec();
    loop {
        let mut next = won.clone();
        for v in 0..NODES {
            let mut moves = edges.iter().filter(|e| e.0 == v).peekable();
            let leads = |e: &&(u32, u32)| won[e.1 as usize] == 1;
            let forces = moves.peek().is_some()
                && match owner[v as usize] {
                    0 => moves.any(|e| leads(&e)),
                    _ => moves.all(|e| leads(&e)),
                };
            next[v as usize] |= u32::from(forces);
        }
        if next == won {
            return won;
        }
        won = next;
    }
}

fn ordinary_passes_do_not_depend_on_the_order(runtime: &Runtime) {
    let mut random = Random(35);
    let edges = edges(&mut random, NODES, 150);
    let owner: Vec<u32> = (0..NODES).map(|_| random.below(2)).collect();
    let target: Vec<u32> = (0..NODES)
        .map(|_| u32::from(random.below(9) == 0))
        .collect();
    let (uses, kills) = (bits(&mut random, 2), bits(&mut random, 3));
    let given = (NODES, edges.as_slice());
    let won = agrees(runtime, given, &mut random, |case| {
        let (owner, target) = (case.renamed(&owner), case.renamed(&target));
        let mut session = attractor::Session::new(case.runtime, case.graph).expect("it fits");
        let run = attractor::Run {
            owner: &owner,
            target: &target,
        };
        let out = session.run(run).expect("no trap");
        (case.by_old_name(&out.won), out.report.rounds)
    });
    assert_eq!(won.0, forced(&edges, &owner, &target));
    agrees(runtime, given, &mut random, |case| {
        let targets = case.renamed(&kills);
        let mut session = attractors::Session::new(case.runtime, case.graph).expect("it fits");
        let run = attractors::Run { targets: &targets };
        case.by_old_name(&session.run(run).expect("no trap").won.into_words())
    });
    agrees(runtime, given, &mut random, |case| {
        let (uses, kills) = (case.renamed(&uses), case.renamed(&kills));
        let mut session = anticipable::Session::new(case.runtime, case.graph).expect("it fits");
        let run = anticipable::Run {
            uses: &uses,
            kills: &kills,
        };
        case.by_old_name(&session.run(run).expect("no trap").ant.into_words())
    });
    // Few nodes, since each is compared with each.
    const FEW: u32 = 24;
    let edges: Vec<(u32, u32)> = (edges.iter())
        .map(|&(a, b)| (a % FEW, b % FEW))
        .take(30)
        .collect();
    agrees(runtime, (FEW, &edges), &mut random, |case| {
        let label: Vec<u32> = (0..FEW).map(|v| v % 2).collect();
        let label = case.renamed(&label);
        let mut session = bisimulation::Session::new(case.runtime, case.graph).expect("it fits");
        let run = bisimulation::Run {
            label: &label,
            nodes: FEW,
        };
        let alike = session.run(run).expect("no trap").alike;
        let to = |v: u32| case.name[v as usize];
        let is = |v, w| alike.get(to(v), to(w));
        (0..FEW * FEW)
            .map(|k| is(k / FEW, k % FEW))
            .collect::<Vec<bool>>()
    });
}
