//! What is written is what happens: names, sizes, owners and order mean one thing, on every backend.
#![deny(warnings)]
#![deny(clippy::all)]
#![allow(
    clippy::assertions_on_constants,
    reason = "an assertion of a constant is a case here"
)]

use vyre::prelude::*;
use vyre::{Error, TrapKind};
use vyre_tests::backend_tests;
use vyre_tests::graphs::chain;

/// Scalars and reductions with the type word of the items beside items of any name, and waves with names of the glue's
/// own.
#[wave_graph]
mod words {
    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        root: Node,
        k: Index,
        #[reduce(max)]
        last: Node,
        #[output(per = node)]
        at_root: u32,
        #[output(per = k)]
        distance: u32,
        #[output(per = edge(graph))]
        into_last: u32,
        #[list(capacity = 100)]
        found: List<u32>,
        #[reduce(sum)]
        sum: u32,
        bias: u32,
        #[output(per = 1)]
        both: u32,
    }

    #[wave(nodes)]
    fn lane(v: Node, root: Node, at_root: &mut u32, last: &Reduce<Max<u32>>, found: &Append<u32>) {
        *at_root = u32::from(v == root) + 10 * v;
        last.max(v);
        found.append(v);
    }

    #[wave(range(k))]
    fn cx(i: Index, k: Index, distance: &mut u32) {
        *distance = k - i;
    }

    #[wave(edges(graph), after(lane))]
    fn item(e: Edge, last: Node, into_last: &mut u32) {
        *into_last = u32::from(e.dst == last);
    }

    #[wave(items(found), after(lane))]
    fn p0(x: u32, bias: u32, sum: &Reduce<Sum<u32>>) {
        sum.add(x + bias);
    }

    /// Without an item, there is nothing to take a scalar for.
    #[wave(once, after(lane))]
    fn outcome(root: Node, last: Node, both: &Buf<Atomic<u32>>) {
        both[0].store(root + last);
    }
}

fn items_and_fields_keep_their_names(runtime: &Runtime) {
    let graph = chain(4);
    let mut session = words::Session::new(runtime, &graph).expect("a session");
    let given = words::Run {
        root: 2,
        k: 3,
        bias: 100,
    };
    let out = session.run(given).expect("a run");
    assert_eq!(out.at_root, [0, 10, 21, 30]);
    assert_eq!(out.distance, [3, 2, 1]);
    assert_eq!((out.last, out.into_last), (3, vec![0, 0, 1]));
    assert_eq!((out.sum, out.both), (6 + 400, vec![5]));
}

/// A kernel's parameters have any names: those of what is generated around them, too.
#[kernel]
fn around(i: Index, n: u32, round: u32, report: &mut u32, runtime: &u32, args: &Buf<u32>) {
    *report = n + 10 * round + *runtime + args[i % args.len()];
}

#[kernel]
fn lengths(i: Index, out: &mut u32, a: &Buf<u32>, a_len: &Buf<u32>, n_: u32) {
    *out = a[i] + a_len[0] + n_;
}

fn kernels_take_parameters_of_any_name(runtime: &Runtime) {
    let mut report = [0; 3];
    around::run(
        runtime,
        1,
        2,
        &mut report,
        &[100, 200, 300],
        &[1_000, 2_000],
    )
    .expect("a run");
    assert_eq!(report, [1_121, 2_221, 1_321]);
    let mut out = [0; 2];
    lengths::run(runtime, &mut out, &[1, 2], &[10], 100).expect("a run");
    assert_eq!(out, [111, 112]);
}

/// Scalars with the names of sizes are those scalars, in every place.
#[wave_graph]
mod sizes {
    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        nodes: u32,
        edges: u32,
        edge: u32,
        #[output(per = nodes)]
        few: u32,
        #[output(per = edges)]
        more: u32,
        #[output(per = edge)]
        most: u32,
        #[output(per = node)]
        all: u32,
        #[output(per = edge(graph))]
        links: u32,
        #[list(capacity = nodes, output)]
        kept: List<u32>,
    }

    #[wave(range(nodes))]
    fn fill(i: Index, few: &mut u32, kept: &Append<u32>) {
        *few = i + 1;
        kept.append(i);
    }

    #[wave(range(edges))]
    fn fill_more(i: Index, more: &mut u32) {
        *more = i + 1;
    }

    #[wave(range(edge))]
    fn fill_most(i: Index, most: &mut u32) {
        *most = i + 1;
    }

    #[wave(nodes)]
    fn fill_all(v: Node, all: &mut u32) {
        *all = v + 1;
    }

    #[wave(edges(graph))]
    fn fill_links(e: Edge, links: &mut u32) {
        *links = e.index + 1;
    }
}

fn sizes_are_the_scalars_of_their_names(runtime: &Runtime) {
    let graph = chain(5);
    let mut session = sizes::Session::new(runtime, &graph).expect("a session");
    let given = sizes::Run {
        nodes: 2,
        edges: 3,
        edge: 1,
    };
    let out = session.run(given).expect("a run");
    assert_eq!(
        (out.few, out.more, out.most),
        (vec![1, 2], vec![1, 2, 3], vec![1])
    );
    assert_eq!(out.all, [1, 2, 3, 4, 5]);
    assert_eq!(out.links, [1, 2, 3, 4]);
    assert_eq!(out.kept.len(), 2);
}

/// Frontiers and reductions of an outer fixpoint, of an inner one, and of the graph, side by side.
#[wave_graph]
mod owners {
    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        #[frontier(unique)]
        front: Frontier,
        #[frontier]
        marks: Frontier,
        #[output(per = node)]
        label: u32,
        #[input(per = node)]
        first: u32,
        #[reduce(or)]
        again: bool,
        #[reduce(count)]
        lowered: u64,
        #[reduce(count)]
        starts: u64,
        #[output(per = node)]
        marked: u32,
    }

    #[wave(nodes)]
    fn init(v: Node, first: &u32, label: &mut u32, front: &Push, starts: &Reduce<Count>) {
        *label = *first;
        front.push(v);
        starts.inc();
    }

    #[fixpoint(after(init), until(!again || starts > 100), max_rounds = 100)]
    mod phases {
        #[fixpoint(until(front.is_empty() && lowered == 0), max_rounds = 1_000)]
        mod rounds {
            #[wave(edges(graph, from = front))]
            fn lower(
                e: Edge,
                label: &Buf<Atomic<u32>>,
                front: &Push,
                lowered: &Reduce<Count>,
                marks: &Push,
            ) {
                let least = label[e.src].load();
                if label[e.dst].fetch_min(least) > least {
                    front.push(e.dst);
                    lowered.inc();
                    marks.push(e.dst);
                }
            }
        }

        #[wave(nodes, after(rounds))]
        fn halve(v: Node, label: &mut u32, again: &Reduce<Or<bool>>, front: &Push) {
            *label /= 2;
            again.or(*label > 0);
            front.push(v);
        }
    }

    /// What any round pushed, since the graph owns it.
    #[wave(items(marks), after(phases))]
    fn mark(v: Node, marked: &Buf<Atomic<u32>>) {
        marked[v].fetch_add(1);
    }
}

fn owners_flip_and_reset_in_their_own_rounds(runtime: &Runtime) {
    let graph = chain(3);
    let mut session = owners::Session::new(runtime, &graph).expect("a session");
    for _ in 0..2 {
        let given = owners::Run { first: &[8, 9, 3] };
        let out = session.run(given).expect("a run");
        assert_eq!((out.label, out.again), (vec![0, 0, 0], false));
        // 9 is lowered in the first round of the first phase; three rounds have nothing to lower, one is the second.
        assert_eq!(out.report.rounds, [4, 5]);
        assert_eq!((out.lowered, out.starts), (0, 3));
        assert_eq!(out.marked, [0, 1, 0]);
    }
}

mod parts {
    use vyre::prelude::*;

    const LIMIT: u32 = 2;

    /// Two digits at the end of every node's number in each of two rounds.
    #[wave_graph]
    pub(crate) mod adder {
        pub(crate) struct Data {
            #[topology]
            graph: Csr,
            #[scratch(per = node)]
            own: u32,
            #[output(per = node)]
            value: u64,
            after: u64,
        }

        #[fixpoint(until(round + 1 >= LIMIT && after < 100), max_rounds = 10)]
        mod turns {
            #[wave(nodes)]
            fn turn(v: Node, round: Round, value: &mut u64, own: &mut u32, after: u64) {
                *own = v;
                *value = 100 * *value + after + u64::from(round + v - *own);
            }
        }
    }
}

/// The constant in the included graph's condition is its own, and so is the name of its item. The four stand in an
/// order that is none of those in which they can run.
#[wave_graph]
mod chained {
    const LIMIT: u32 = 1_000_000;

    #[include(graph = g, value = total, after = d, after(third))]
    use super::parts::adder as last;
    #[include(graph = g, value = total, after = a)]
    use super::parts::adder as first;
    #[include(graph = g, value = total, after = c, after(second, first))]
    use super::parts::adder as third;
    #[include(graph = g, value = total, after = b, after(first))]
    use super::parts::adder as second;

    pub(crate) struct Data {
        #[topology]
        g: Csr,
        #[output(per = node)]
        total: u64,
        a: u64,
        b: u64,
        c: u64,
        d: u64,
        v: u32,
        #[output(per = 1)]
        limit: u32,
    }

    #[wave(once, after(last))]
    fn note(v: u32, limit: &Buf<Atomic<u32>>) {
        limit[0].store(LIMIT + v);
    }
}

fn included_graphs_keep_their_names_and_wait_for_each_other(runtime: &Runtime) {
    let graph = chain(3);
    let mut session = chained::Session::new(runtime, &graph).expect("a session");
    let given = chained::Run {
        a: 10,
        b: 20,
        c: 30,
        d: 40,
        v: 7,
    };
    let out = session.run(given).expect("a run");
    assert_eq!(out.total, [1_011_202_130_314_041; 3]);
    assert_eq!(out.report.rounds, [2, 2, 2, 2]);
    assert_eq!(out.limit, [1_000_007]);
}

mod limits {
    use vyre::prelude::*;

    pub(crate) mod most {
        pub(crate) const ROUNDS: u32 = 5;
    }

    #[wave_graph]
    pub(crate) mod limited {
        pub(crate) struct Data {
            #[output(per = 1)]
            rounds: u32,
            steps: u32,
        }

        #[fixpoint(until(round + 1 >= steps), max_rounds = super::most::ROUNDS)]
        mod turns {
            #[wave(once)]
            fn count(rounds: &Buf<Atomic<u32>>) {
                rounds[0].fetch_add(1);
            }
        }
    }
}

/// The limit of an included fixpoint is its own; another has the one that is written down in the reference.
#[wave_graph]
mod limiting {
    #[include(steps = steps)]
    use super::limits::limited;

    pub(crate) struct Data {
        steps: u32,
        #[output(per = 1)]
        turns: u32,
    }

    #[fixpoint(until(true))]
    mod ever {
        #[wave(once)]
        fn turn(turns: &Buf<Atomic<u32>>) {
            turns[0].fetch_add(1);
        }
    }
}

fn round_limits_are_constants(runtime: &Runtime) {
    let plan = limiting::PLAN.to_string();
    assert!(plan.contains("at most 5 rounds"), "{plan}");
    assert!(plan.contains("at most 1_000_000 rounds"), "{plan}");
    let mut alone = limits::limited::Session::new(runtime, ()).expect("a session");
    let mut inside = limiting::Session::new(runtime, ()).expect("a session");
    let out = alone.run(limits::limited::Run { steps: 5 }).expect("a run");
    assert_eq!(out.rounds, [5]);
    let out = inside.run(limiting::Run { steps: 5 }).expect("a run");
    assert_eq!((out.limited_rounds, out.turns), (vec![5], vec![1]));
    let errors = [
        alone.run(limits::limited::Run { steps: 6 }).err(),
        inside.run(limiting::Run { steps: 6 }).err(),
    ];
    for error in errors {
        let Some(Error::Trap(trap)) = error else {
            panic!("{error:?}");
        };
        assert_eq!((trap.kind, trap.len), (TrapKind::RoundLimit, 5));
    }
}

#[allow(non_snake_case)]
mod sized {
    use vyre::prelude::*;

    /// Every length is a constant of this module, or a scalar of the same name as one elsewhere.
    #[wave_graph]
    pub(crate) mod inner {
        const N: u32 = 3;
        const W: u32 = 5;
        const FIRST: u32 = 11;

        pub(crate) struct Data {
            #[topology]
            g: Csr,
            #[scratch(per = N)]
            three: u32,
            #[scratch(per = M, init = FIRST)]
            some: u32,
            #[scratch(per = M)]
            plain: u32,
            #[scratch(per = edge(g), init = 1)]
            links: u32,
            #[scratch(per = node, bits = W)]
            rows: Bits,
            #[list(capacity = N)]
            kept: List<u32>,
            #[reduce(sum)]
            t: u32,
            #[reduce(sum)]
            firsts: u32,
            #[reduce(sum)]
            edges: u32,
            #[reduce(sum)]
            widths: u32,
            M: u32,
        }

        #[wave(range(N))]
        fn count(three: &mut u32, t: &Reduce<Sum<u32>>, i: Index, kept: &Append<u32>) {
            *three = 1;
            t.add(*three);
            kept.append(i);
        }

        #[wave(range(M))]
        fn first(some: &u32, plain: &mut u32, firsts: &Reduce<Sum<u32>>) {
            *plain = *some;
            firsts.add(*some);
        }

        #[wave(edges(g))]
        fn edge(links: &u32, edges: &Reduce<Sum<u32>>) {
            edges.add(*links);
        }

        #[wave(nodes)]
        fn width(v: Node, rows: &Bits, widths: &Reduce<Sum<u32>>) {
            rows.set(v, W - 1);
            if rows.get(v, W - 1) {
                widths.add(W);
            }
        }
    }
}

#[allow(non_snake_case)]
mod sizing {
    use vyre::prelude::*;

    /// Its `N`, `W` and `FIRST` are scalars and a reduction, its `M` and `g` other than those of the included graph.
    #[wave_graph]
    pub(crate) mod outer {
        #[include(g = big, M = few, plain = shared)]
        use super::super::sized::inner as a;
        #[include(g = small, M = W)]
        use super::super::sized::inner as b;

        pub(crate) struct Data {
            #[topology]
            big: Csr,
            #[topology]
            small: Csr,
            #[topology]
            g: Csr,
            #[output(per = M)]
            o: u32,
            #[output(per = few)]
            shared: u32,
            #[reduce(sum)]
            FIRST: u32,
            N: u32,
            W: u32,
            few: u32,
        }

        const M: u32 = 4;

        #[wave(range(M))]
        fn own(o: &mut u32, N: u32, FIRST: &Reduce<Sum<u32>>) {
            *o = N;
            FIRST.add(1);
        }
    }
}

fn lengths_of_included_graphs_are_their_own(runtime: &Runtime) {
    let big = chain(5);
    let small = Csr::from_edges(5, &[(0, 1)]).expect("a graph");
    let topology = sizing::outer::Topology {
        big: &big,
        small: &small,
        g: &big,
    };
    let mut session = sizing::outer::Session::new(runtime, topology).expect("a session");
    let given = sizing::outer::Run { N: 2, W: 1, few: 2 };
    let out = session.run(given).expect("a run");
    assert_eq!((out.a_t, out.b_t), (3, 3));
    assert_eq!((out.a_firsts, out.b_firsts), (22, 11));
    assert_eq!(out.shared, [11, 11]);
    assert_eq!((out.a_edges, out.b_edges), (4, 1));
    assert_eq!((out.a_widths, out.b_widths), (25, 25));
    assert_eq!((out.o, out.FIRST), (vec![2; 4], 4));
}

/// Names in patterns are constants where constants of that name are in scope, and new names elsewhere, in whatever
/// letters.
#[allow(non_upper_case_globals, non_snake_case, non_camel_case_types)]
mod patterns {
    use vyre::prelude::*;

    #[device]
    pub(crate) mod levels {
        pub(crate) const ground: u32 = 1;

        #[derive(Clone, Copy)]
        pub(crate) struct Place {
            pub(crate) level: u32,
        }

        impl Place {
            pub(crate) fn kind(self) -> u32 {
                match self.level {
                    ground => 1,
                    other => 10 + other,
                }
            }
        }
    }

    #[wave_graph]
    pub(crate) mod graph {
        const low: u32 = 2;
        const pair: (u32, bool) = (3, true);
        const up: Round = 3;

        pub(crate) struct Data {
            #[output(per = 6)]
            alone: u32,
            #[output(per = 6)]
            under: u32,
            #[output(per = 6)]
            parts: u32,
            #[output(per = 6)]
            own: u32,
            #[output(per = 6)]
            helped: u32,
            #[output(per = 1)]
            rounds: u32,
        }

        #[device]
        mod inside {
            use super::low;

            pub(super) const high: u32 = 4;

            pub(super) struct Step {
                pub(super) at: u32,
            }

            impl Step {
                pub(super) fn helped(self) -> u32 {
                    match self.at {
                        high => 70,
                        low => low + 40,
                        at => at,
                    }
                }
            }
        }

        #[device]
        fn is_low(i: u32) -> bool {
            matches!(i, low)
        }

        #[wave(range(6))]
        fn numbers(i: Index, alone: &mut u32, under: &mut u32, parts: &mut u32) {
            *alone = match i {
                low | 5 => 7,
                Low => 100 + Low * u32::from(!is_low(i)),
            };
            *under = match i {
                at @ low => at * 10,
                0 | 5 => 1,
                _ => 0,
            };
            *parts = match (i, i % 2 == 1) {
                pair => 1,
                (low, even) => 2 + u32::from(even),
                (i, odd) => 10 + i + u32::from(odd),
            };
        }

        #[wave(range(6))]
        fn names(i: Index, own: &mut u32, helped: &mut u32) {
            const low: u32 = 5;
            let before = match i {
                0 => 9,
                inner => inner,
            };
            let inside = {
                const inner: u32 = 1;
                matches!(before, inner | low)
            };
            *own = match i {
                low => 50,
                inner if inside => 60 + inner,
                inner => inner,
            };
            *helped = inside::Step { at: i }.helped();
        }

        #[fixpoint(until(match round { up => true, round => round > 100 }))]
        mod steps {
            #[wave(once)]
            fn step(rounds: &Buf<Atomic<u32>>) {
                rounds[0].fetch_add(1);
            }
        }
    }

    #[kernel]
    pub(crate) fn places(i: Index, kind: &mut u32) {
        const two: u32 = 2;
        #[device]
        fn twos(i: u32) -> u32 {
            match i {
                two => 2,
                ground => ground - i,
            }
        }
        let place = levels::Place { level: i };
        *kind = place.kind() + 100 * twos(i);
    }
}

fn names_in_patterns_are_constants_or_new(runtime: &Runtime) {
    let mut session = patterns::graph::Session::new(runtime, ()).expect("a session");
    let out = session.run(patterns::graph::Run {}).expect("a run");
    assert_eq!(out.alone, [100, 101, 7, 103, 104, 7]);
    assert_eq!(out.under, [1, 0, 20, 0, 0, 1]);
    assert_eq!(out.parts, [10, 12, 2, 1, 14, 16]);
    assert_eq!(out.own, [0, 61, 2, 3, 4, 50]);
    assert_eq!(out.helped, [0, 1, 42, 3, 70, 5]);
    assert_eq!(out.rounds, [4]);
    let mut kind = [0; 4];
    patterns::places::run(runtime, &mut kind).expect("a run");
    assert_eq!(kind, [10, 1, 212, 13]);
}

mod filled {
    use vyre::prelude::*;

    /// Its lengths and beginnings are constants of its own.
    #[wave_graph]
    pub(crate) mod fill {
        const N: u32 = 4;
        const FAR: (u32, f32) = (7, 0.5);

        pub(crate) struct Data {
            #[scratch(per = N, init = FAR)]
            cells: (u32, f32),
            #[output(per = N, init = u32::MAX)]
            sums: u32,
            #[scratch(per = N)]
            seen: u32,
        }

        #[wave(range(N))]
        fn add(cells: &(u32, f32), sums: &mut u32, seen: &mut u32) {
            *sums = sums.wrapping_add(cells.0);
            *seen += 1;
        }
    }
}

/// Constants that are equal are equal under any names, those of one name in two modules among them.
#[wave_graph]
mod sharing {
    #[include(cells = pairs, sums = totals, seen = visits)]
    use super::filled::fill;

    const FOUR: u32 = 4;
    const N: u32 = 2 * 2;
    const START: (u32, f32) = (3 + 4, 0.5);

    pub(crate) struct Data {
        #[output(per = FOUR, init = START)]
        pairs: (u32, f32),
        #[output(per = N, init = !0)]
        totals: u32,
        #[output(per = 4, init = 0)]
        visits: u32,
    }
}

fn shared_fields_have_equal_constants(runtime: &Runtime) {
    let mut session = sharing::Session::new(runtime, ()).expect("a session");
    let out = session.run(sharing::Run {}).expect("a run");
    assert_eq!(out.pairs, [(7, 0.5); 4]);
    assert_eq!((out.totals, out.visits), (vec![6; 4], vec![1; 4]));
}

#[device]
pub(crate) mod kinds {
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub(crate) struct Value {
        pub(crate) at: u32,
        pub(crate) weight: f32,
    }
}

mod spelled {
    use vyre::prelude::*;

    /// One struct by several paths, and a scalar in a tuple by two names.
    #[wave_graph]
    pub(crate) mod paths {
        use super::super::kinds::Value;

        pub(crate) struct Data {
            #[list(capacity = 4, output)]
            found: List<super::super::kinds::Value>,
            #[output(per = 4)]
            last: super::super::kinds::Value,
            #[output(per = 4)]
            pairs: (Index, f32),
            #[frontier(capacity = 4)]
            front: Frontier<super::super::kinds::Value>,
            #[output(per = 4)]
            seen: u32,
        }

        #[wave(range(4))]
        fn find(i: Index, found: &Append<Value>, pairs: &mut (u32, f32), last: &mut Value) {
            let value = Value { at: i, weight: 0.5 };
            found.append(value);
            *pairs = (i, 1.5);
            *last = value;
        }

        #[wave(items(found), after(find))]
        fn keep(item: Value, last: &Records<Value>, front: &Push<Value>) {
            front.push(last.get(item.at));
        }

        #[fixpoint(after(keep), until(front.is_empty()))]
        mod rounds {
            #[wave(items(front))]
            fn take(item: super::super::super::kinds::Value, seen: &Buf<Atomic<u32>>) {
                seen[item.at].fetch_add(1 + item.at);
            }
        }
    }

    /// Its own word for the struct is a third.
    #[wave_graph]
    pub(crate) mod includes {
        #[include(last = kept)]
        use super::paths;
        use crate::meanings::kinds;

        pub(crate) struct Data {
            #[output(per = 4)]
            kept: kinds::Value,
        }
    }
}

fn structs_are_the_same_by_any_path(runtime: &Runtime) {
    let value = |at| kinds::Value { at, weight: 0.5 };
    let mut session = spelled::paths::Session::new(runtime, ()).expect("a session");
    let mut out = session.run(spelled::paths::Run {}).expect("a run");
    out.found.sort_by_key(|v| v.at);
    assert_eq!(out.found, [0, 1, 2, 3].map(value));
    assert_eq!(out.last, [0, 1, 2, 3].map(value));
    assert_eq!(out.pairs, [(0, 1.5), (1, 1.5), (2, 1.5), (3, 1.5)]);
    assert_eq!(out.seen, [1, 2, 3, 4]);
    let mut session = spelled::includes::Session::new(runtime, ()).expect("a session");
    let out = session.run(spelled::includes::Run {}).expect("a run");
    assert_eq!(out.kept, [0, 1, 2, 3].map(value));
}

/// Constants and functions of one name, in a graph, in its `#[device] mod`s, and around it: each name means what is in
/// scope.
mod scoped {
    use vyre::prelude::*;

    const OUT: u32 = 1;

    #[device]
    fn outside() -> u32 {
        10
    }

    #[allow(non_upper_case_globals)]
    #[wave_graph]
    pub(crate) mod names {
        use self::wide as broad;
        use super::outside;

        const N: u32 = 2;
        const M: u32 = 3;

        pub(crate) struct Data {
            #[output(per = 13)]
            seen: u32,
        }

        #[device]
        mod shapes {
            use super::*;

            pub(super) const N: u32 = 4;
            pub(super) const OUT: u32 = 5;

            pub(super) struct Shape {
                pub(super) sides: u32,
            }

            impl Shape {
                pub(super) const M: u32 = 6;

                pub(super) fn sum(&self) -> u32 {
                    self.sides + 10 * N + 100 * M + 1_000 * super::N + 10_000 * Self::M
                }
            }

            #[device]
            pub(super) fn twice(x: u32) -> u32 {
                2 * x
            }

            #[device]
            pub(super) fn outside() -> u32 {
                20
            }
        }

        #[device]
        mod wide {
            use super::shapes::{OUT as N, twice as doubled};

            pub(super) const M: u32 = 7;
            pub(super) const seven: u32 = 7;

            #[device]
            pub(super) fn is_seven(x: u32) -> u32 {
                match x {
                    seven => 1,
                    _ => 0,
                }
            }

            pub(super) struct Wide {
                pub(super) x: u32,
            }

            impl Wide {
                pub(super) fn sum(&self) -> u32 {
                    doubled(self.x) + 100 * M + 1_000 * super::shapes::N
                }

                pub(super) fn kind(&self) -> u32 {
                    match self.x {
                        N => 1,
                        _ => 0,
                    }
                }
            }

            #[device]
            pub(super) fn twice(x: u32) -> u32 {
                20 * x
            }
        }

        #[device]
        fn twice(x: u32) -> u32 {
            200 * x
        }

        #[wave(once)]
        fn look(seen: &Buf<Atomic<u32>>) {
            seen[0].store(N);
            seen[1].store(OUT);
            seen[2].store(shapes::N + 10 * shapes::OUT);
            seen[3].store(outside());
            seen[4].store(shapes::outside());
            seen[5].store(twice(1) + shapes::twice(1) + broad::twice(1));
            seen[6].store(shapes::Shape { sides: 1 }.sum());
            seen[7].store(wide::Wide { x: 1 }.sum());
            seen[8].store(wide::Wide { x: 5 }.kind());
            seen[9].store([0; N as usize].len() as u32);
            seen[10].store([0; broad::M as usize].len() as u32);
            seen[11].store(M + shapes::Shape::M);
            seen[12].store(wide::is_seven(7) + 2 * wide::is_seven(8));
        }
    }
}

fn names_mean_what_is_in_scope(runtime: &Runtime) {
    let mut session = scoped::names::Session::new(runtime, ()).expect("a session");
    let out = session.run(scoped::names::Run {}).expect("a run");
    let sums = [222, 62_341, 4_702];
    let expected = [2, 1, 54, 10, 20, sums[0], sums[1], sums[2], 1, 2, 7, 9, 1];
    assert_eq!(out.seen, expected);
}

/// Names that `use`s rename, bring by globs or through other modules, and private constants.
mod brought {
    use vyre::prelude::*;

    const FAR: u32 = 1_000;
    #[allow(non_upper_case_globals)]
    const width: u32 = 3;

    mod first {
        use vyre::prelude::*;

        #[device]
        pub(crate) fn f() -> u32 {
            1
        }
    }

    mod second {
        use vyre::prelude::*;

        #[device]
        pub(crate) fn f() -> u32 {
            const BY: u32 = 2;
            BY
        }
    }

    #[device]
    pub(crate) mod out {
        const HIDDEN: u32 = 4;

        #[derive(Clone, Copy, Debug, PartialEq)]
        pub(crate) struct Pt {
            pub(crate) x: u32,
        }

        impl Pt {
            pub(crate) const UNIT: Pt = Pt { x: 1 };

            pub(crate) fn new(x: u32) -> Self {
                Pt { x }
            }

            pub(crate) fn twice(self) -> u32 {
                2 * self.x + nested::inner(1)
            }
        }

        #[device]
        pub(crate) fn f() -> u32 {
            nested::deep::inner(1) + HIDDEN
        }

        #[device]
        mod nested {
            pub(super) use self::deep::inner;

            const HIDDEN: u32 = 10;

            #[device]
            pub(super) mod deep {
                use super::super::super::{FAR, second};

                const HIDDEN: u32 = 100;

                struct Shape;

                impl Shape {
                    const SIDES: u32 = 3;

                    fn all() -> u32 {
                        Self::SIDES + Shape::SIDES
                    }
                }

                #[device]
                pub(in super::super) fn inner(x: u32) -> u32 {
                    assert!(x < FAR);
                    x + HIDDEN
                        + super::HIDDEN
                        + super::super::HIDDEN
                        + FAR
                        + Shape::all()
                        + 10_000 * super::super::super::first::f()
                        + 100_000 * second::f()
                }
            }
        }
    }

    #[kernel]
    pub(crate) fn kernel(_i: Index, y: &mut u32) {
        *y = out::f() + second::f();
    }

    #[allow(non_upper_case_globals)]
    #[wave_graph]
    pub(crate) mod graph {
        use super::first::f;
        use super::out::{self, Pt as Other, f as of_out};
        use super::{FAR, width};
        use k::j as below;
        use k::{self as kk, at as k_at, j::deep as k_deep, *};

        const len: u32 = 2;

        pub(crate) struct Data {
            #[output(per = len)]
            short: u32,
            #[output(per = width)]
            wide: u32,
            #[output(per = 12)]
            seen: u32,
            #[output(per = 4)]
            kinds: u32,
            #[input(per = 1)]
            point: Other,
            #[output(per = 2)]
            inner: u32,
        }

        #[device]
        mod k {
            pub(super) use self::j::{Within, deep as brought};

            const SECRET: u32 = 5;
            const low: u32 = 1;
            pub(super) const high: u32 = 2;

            #[device]
            pub(super) fn at(x: u32) -> u32 {
                match x {
                    low => SECRET,
                    _ => SECRET + high,
                }
            }

            #[device]
            pub(super) mod j {
                use super::super::super::FAR as DISTANT;

                const SECRET: u32 = 50;

                #[derive(Clone, Copy)]
                pub(in super::super) struct Within {
                    pub(in super::super) x: u32,
                }

                impl Within {
                    const BY: u32 = 9;

                    #[device]
                    pub(in super::super) fn made() -> u32 {
                        Within { x: Within::BY }.x
                    }
                }

                #[device]
                pub(in super::super) fn deep(x: u32) -> u32 {
                    x + SECRET + super::SECRET + DISTANT
                }
            }
        }

        struct Local {
            x: u32,
        }

        impl Local {
            #[device]
            fn made() -> u32 {
                const SEVEN: u32 = 7;
                assert!(SEVEN > 0, "some");
                Local { x: SEVEN }.x
            }
        }

        /// Nothing that kernels see: what it calls is Rust's alone.
        #[allow(dead_code)]
        pub(crate) fn on_the_host() -> u32 {
            super::count_on_the_host() + host::twice()
        }

        #[allow(dead_code)]
        mod host {
            pub(super) fn twice() -> u32 {
                super::super::count_on_the_host() * 2
            }
        }

        #[wave(range(len))]
        fn a(i: Index, short: &mut u32) {
            *short = i + len;
        }

        #[wave(range(width))]
        fn b(wide: &mut u32) {
            *wide = width;
        }

        #[wave(once)]
        fn c(seen: &Buf<Atomic<u32>>, point: &Records<Other>) {
            seen[0].store(f());
            seen[1].store(of_out());
            seen[2].store(out::f() + FAR);
            seen[3].store(at(1) + 10 * k::at(0) + 100 * kk::at(2));
            seen[11].store(k_at(1));
            seen[4].store(k_deep(1));
            seen[5].store(below::deep(2) + brought(1));
            seen[6].store(Within::made() + Within { x: 1 }.x);
            seen[7].store(Local::made());
            seen[8].store(Other::new(3).twice() + Other::UNIT.x);
            let Other { x } = point.get(0);
            seen[9].store(x);
            seen[10].store(match (Other { x }) {
                Other { x: 6 } => 60,
                Other { x } => x,
            });
        }

        #[wave(range(4))]
        fn d(i: Index, kinds: &mut u32) {
            *kinds = match i {
                high => 20,
                3 => 30,
                low => 10 + low,
            };
        }

        #[fixpoint(after(c), until(round == 0))]
        mod inside {
            use super::super::second::f;

            #[wave(range(2))]
            fn e(i: Index, inner: &mut u32) {
                *inner = f() + 10 * super::f() + 100 * super::k::at(i) + 10_000 * of_out();
            }
        }
    }

    pub(crate) fn count_on_the_host() -> u32 {
        21
    }
}

fn names_are_brought_as_rust_brings_them(runtime: &Runtime) {
    use brought::{count_on_the_host, graph, kernel, out};
    let inner = 1 + 100 + 10 + 4 + 1_000 + 6 + 10_000 + 200_000;
    let of_out = out::f();
    assert_eq!(of_out, inner + 4);
    assert_eq!(graph::on_the_host(), count_on_the_host() * 3);
    let mut y = [0; 2];
    kernel::run(runtime, &mut y).expect("no trap");
    assert_eq!(y, [of_out + 2; 2]);
    let mut session = graph::Session::new(runtime, ()).expect("a session");
    let point = [out::Pt { x: 6 }];
    let out = session.run(graph::Run { point: &point }).expect("a run");
    assert_eq!((out.short, out.wide), (vec![2, 3], vec![3; 3]));
    let seen = [
        1,
        of_out,
        of_out + 1_000,
        5 + 70 + 700,
        1 + 55 + 1_000,
        2 + 55 + 1_000 + 1 + 55 + 1_000,
        9 + 1,
        7,
        6 + inner + 1,
        6,
        60,
        5,
    ];
    assert_eq!(out.seen, seen);
    assert_eq!(out.kinds, [10, 11, 20, 30]);
    let inner = [7, 5].map(|at| 2 + 10 + 100 * at + 10_000 * of_out);
    assert_eq!(out.inner, inner);
}

mod alike {
    use vyre::prelude::*;

    /// Waves and fixpoints of one name, and lists whose items begin with any type.
    #[wave_graph]
    pub(crate) mod steps {
        pub(crate) struct Data {
            #[list(capacity = 2)]
            floats: List<(f32, u32)>,
            #[list(capacity = 2)]
            signed: List<i32>,
            #[list(capacity = 2)]
            long: List<u64>,
            #[reduce(sum)]
            sum: u32,
            way: u32,
        }

        #[wave(once)]
        fn fill(floats: &Append<(f32, u32)>, signed: &Append<i32>, long: &Append<u64>) {
            floats.append((0.5, 1));
            signed.append(-3);
            long.append(0x1_0000_002A);
        }

        #[fixpoint(after(fill), until(round == 0))]
        mod first {
            #[fixpoint(until(round == 0))]
            mod inner {
                #[wave(items(floats))]
                fn step(item: (f32, u32), way: u32) {
                    assert!(way != item.1, "a float");
                }
            }
        }

        #[fixpoint(after(first), until(round == 0))]
        mod second {
            #[wave(items(signed))]
            fn step(item: i32, way: u32) {
                assert!(way != 2 || item > 0);
            }

            #[fixpoint(after(step), until(round == 0))]
            mod inner {
                #[wave(items(long))]
                fn last(item: u64, way: u32, sum: &Reduce<Sum<u32>>) {
                    assert!(way != 3);
                    sum.add(item as u32);
                }
            }
        }
    }

    #[wave_graph]
    pub(crate) mod around {
        #[include(way = way)]
        use super::steps;

        pub(crate) struct Data {
            way: u32,
        }
    }
}

fn waves_and_items_are_shown_as_what_they_are(runtime: &Runtime) {
    let plans = [
        alike::steps::PLAN.to_string(),
        alike::around::PLAN.to_string(),
    ];
    for (plan, before) in plans.iter().zip(["", "steps::"]) {
        for wave in ["first::inner::step", "second::step", "last"] {
            assert!(plan.contains(&format!("{before}{wave}")), "{wave}: {plan}");
        }
    }
    let mut session = alike::steps::Session::new(runtime, ()).expect("a session");
    let out = session.run(alike::steps::Run { way: 0 }).expect("a run");
    assert_eq!(out.sum, 42);
    for (way, says) in [
        (
            1,
            "assertion failed: a float in `first::inner::step` at item 0.5 (",
        ),
        (2, "assertion failed in `second::step` at item -3 ("),
        (
            3,
            "assertion failed in `last` at an item whose first field ends in 0x0000002a (",
        ),
    ] {
        let Err(Error::Trap(trap)) = session.run(alike::steps::Run { way }) else {
            panic!("way {way} ends in a trap");
        };
        assert!(trap.to_string().starts_with(says), "{trap}");
    }
}

/// Globs, and names that take the place of what they bring.
mod shadows {
    use vyre::prelude::*;

    pub(crate) mod halves {
        use vyre::prelude::*;

        const MORE: u32 = 5;

        #[device]
        pub(crate) fn part(x: u32) -> u32 {
            x / 2 + MORE
        }

        #[device]
        pub(crate) fn rest(x: u32) -> u32 {
            x % 2
        }
    }

    mod thirds {
        use vyre::prelude::*;

        #[device]
        pub(crate) fn part(x: u32) -> u32 {
            x / 3
        }
    }

    mod both {
        pub(crate) use super::halves::*;
        pub(crate) use super::thirds::part;
    }

    /// A name that a `use` brings before one of a glob, and a variable named like the function that it is given by.
    pub(crate) mod named {
        use super::halves::*;
        use super::thirds::part;
        use vyre::prelude::*;

        #[kernel]
        pub(crate) fn parts(i: Index, out: &mut u32) {
            let rest = rest(i);
            let part = part(i);
            *out = 100 * part + rest + 1_000 * super::both::part(i) + 10 * super::both::rest(i);
        }
    }

    /// Functions by a glob: in the graph, in what it calls, in a `#[device] mod` and in a condition.
    #[wave_graph]
    pub(crate) mod graph {
        use super::halves::*;

        pub(crate) struct Data {
            #[output(per = 4)]
            out: u32,
        }

        #[wave(range(4))]
        fn first(i: Index, out: &mut u32) {
            *out = part(i) + 10 * twice(i) + 100 * inner::remains(i);
        }

        #[device]
        fn twice(x: u32) -> u32 {
            part(part(x))
        }

        #[device]
        mod inner {
            use super::super::halves::*;

            #[device]
            pub(crate) fn remains(x: u32) -> u32 {
                rest(x)
            }
        }

        #[fixpoint(after(first), until(part(round) == 6))]
        mod rounds {
            #[wave(range(4))]
            fn more(i: Index, out: &mut u32) {
                *out += 1_000 * part(i);
            }
        }
    }
}

fn names_take_the_place_of_what_globs_bring(runtime: &Runtime) {
    let mut out = [0; 7];
    shadows::named::parts::run(runtime, &mut out).expect("a run");
    assert_eq!(out, [0, 11, 0, 1_111, 1_100, 1_111, 2_200]);
    let mut session = shadows::graph::Session::new(runtime, ()).expect("a session");
    let out = session.run(shadows::graph::Run {}).expect("a run");
    assert_eq!(out.report.rounds, [3]);
    assert_eq!(out.out, [15_075, 15_175, 18_086, 18_186]);
}

/// More arms, before and after a guard that can trap, and more alternatives than stand side by side in bytecode.
fn one_of_many(i: u32, by: &[u32]) -> u32 {
    let first = match i {
        0 => 5,
        1 => 42,
        2 => 79,
        3 => 15,
        4 => 52,
        5 => 89,
        6 => 25,
        7 => 62,
        8 => 99,
        9 => 35,
        10 => 72,
        11 => 8,
        12 => 45,
        13 => 82,
        14 => 18,
        15 => 55,
        16 => 92,
        17 => 28,
        18 => 65,
        19 => 1,
        20 => 38,
        21 => 75,
        n if 100 / by[n as usize % by.len()] == 20 => n,
        n @ 24..30 => n * 2,
        _ => 1_000,
    };
    let even = matches!(
        i,
        0 | 2
            | 4
            | 6
            | 8
            | 10
            | 12
            | 14
            | 16
            | 18
            | 20
            | 22
            | 24
            | 26
            | 28
            | 30
            | 32
            | 34
            | 36
            | 38
    );
    first + 10_000 * u32::from(even)
}

#[kernel]
fn many(i: Index, by: &Buf<u32>, out: &mut u32) {
    let first = match i {
        0 => 5,
        1 => 42,
        2 => 79,
        3 => 15,
        4 => 52,
        5 => 89,
        6 => 25,
        7 => 62,
        8 => 99,
        9 => 35,
        10 => 72,
        11 => 8,
        12 => 45,
        13 => 82,
        14 => 18,
        15 => 55,
        16 => 92,
        17 => 28,
        18 => 65,
        19 => 1,
        20 => 38,
        21 => 75,
        n if 100 / by[n % by.len()] == 20 => n,
        n @ 24..30 => n * 2,
        _ => 1_000,
    };
    let even = matches!(
        i,
        0 | 2
            | 4
            | 6
            | 8
            | 10
            | 12
            | 14
            | 16
            | 18
            | 20
            | 22
            | 24
            | 26
            | 28
            | 30
            | 32
            | 34
            | 36
            | 38
    );
    *out = first + 10_000 * u32::from(even);
}

fn of_many_arms_the_first_that_fits_is_taken(runtime: &Runtime) {
    let by = [4, 5, 6];
    let mut out = [0; 50];
    many::run(runtime, &by, &mut out).expect("a run");
    for (i, value) in out.into_iter().enumerate() {
        assert_eq!(value, one_of_many(i as u32, &by), "{i}");
    }
}

/// Constants of modules that are private to private modules.
#[device]
mod nested {
    #[device]
    mod inner {
        const MORE: u32 = 40;

        #[device]
        mod innermost {
            const PARTS: u32 = 4;

            #[device]
            pub(super) fn part(x: u32) -> u32 {
                x / PARTS
            }
        }

        #[device]
        pub(crate) fn more(x: u32) -> u32 {
            innermost::part(x) + MORE
        }
    }

    pub(crate) use inner::more;
}

#[kernel]
fn of_nested(i: Index, out: &mut u32) {
    *out = nested::more(i);
}

fn constants_stay_in_the_modules_that_they_are_private_to(runtime: &Runtime) {
    let mut out = [0; 5];
    of_nested::run(runtime, &mut out).expect("a run");
    assert_eq!(out, [40, 40, 40, 40, 41]);
}

backend_tests!(
    constants_stay_in_the_modules_that_they_are_private_to,
    of_many_arms_the_first_that_fits_is_taken,
    names_take_the_place_of_what_globs_bring,
    waves_and_items_are_shown_as_what_they_are,
    names_mean_what_is_in_scope,
    names_are_brought_as_rust_brings_them,
    structs_are_the_same_by_any_path,
    shared_fields_have_equal_constants,
    names_in_patterns_are_constants_or_new,
    lengths_of_included_graphs_are_their_own,
    round_limits_are_constants,
    items_and_fields_keep_their_names,
    kernels_take_parameters_of_any_name,
    sizes_are_the_scalars_of_their_names,
    owners_flip_and_reset_in_their_own_rounds,
    included_graphs_keep_their_names_and_wait_for_each_other,
    shifts_take_any_amount_of_any_type,
);

macro_rules! shifting {
    ($($name:ident $ty:ident;)*) => {$(
        mod $name {
            use vyre::prelude::*;

            #[wave_graph]
            pub(super) mod counted {
                pub(crate) struct Data {
                    #[input(per = n)]
                    x: $ty,
                    #[input(per = n)]
                    by: u32,
                    #[output(per = n)]
                    left: $ty,
                    #[output(per = n)]
                    right: $ty,
                    #[output(per = n)]
                    turned_left: $ty,
                    #[output(per = n)]
                    turned_right: $ty,
                    n: u32,
                }

                #[wave(range(n))]
                fn shift(
                    x: &$ty,
                    by: &u32,
                    left: &mut $ty,
                    right: &mut $ty,
                    turned_left: &mut $ty,
                    turned_right: &mut $ty,
                ) {
                    *left = x.wrapping_shl(*by);
                    *right = x.wrapping_shr(*by);
                    *turned_left = x.rotate_left(*by);
                    *turned_right = x.rotate_right(*by);
                }
            }

            shifting!(@literal $ty 0 1 7 8 9 15 16 17 24 31 32 33 40 63 64 65 127 128 255);

            pub(super) fn check(runtime: &Runtime) {
                let patterns = [1, $ty::MAX, $ty::MIN, 0x5a5a_a5a5_u32 as $ty];
                let all = patterns.into_iter().flat_map(|x| (0..=255).map(move |by| (x, by)));
                let (x, by): (Vec<$ty>, Vec<u32>) = all.unzip();
                let run = counted::Run { n: x.len() as u32, x: &x, by: &by };
                let mut session = counted::Session::new(runtime, ()).expect("it fits");
                let out = session.run(run).expect("no shift by any amount traps");
                for (i, (x, by)) in x.into_iter().zip(by).enumerate() {
                    let shifted = [out.left[i], out.right[i], out.turned_left[i], out.turned_right[i]];
                    let by_rust = [
                        x.wrapping_shl(by),
                        x.wrapping_shr(by),
                        x.rotate_left(by),
                        x.rotate_right(by),
                    ];
                    assert_eq!(shifted, by_rust, "{x}_{} by {by}", stringify!($ty));
                }
                let mut session = literal::Session::new(runtime, ()).expect("it fits");
                let out = session.run(literal::Run {}).expect("no shift by any amount traps");
                assert_eq!(out.at, literals());
            }
        }
    )*};
    (@literal $ty:ident $($by:literal)*) => {
        /// Of a number that is known, by amounts that are.
        #[wave_graph]
        pub(super) mod literal {
            pub(crate) struct Data {
                #[output(per = 1024)]
                at: u64,
            }

            #[wave(once)]
            fn shift(at: &Buf<Atomic<u64>>) {
                $(
                    at[4 * $by].store((0xa5 as $ty).wrapping_shl($by) as u64);
                    at[4 * $by + 1].store((0xa5 as $ty).wrapping_shr($by) as u64);
                    at[4 * $by + 2].store((0xa5 as $ty).rotate_left($by) as u64);
                    at[4 * $by + 3].store((0xa5 as $ty).rotate_right($by) as u64);
                )*
            }
        }

        fn literals() -> Vec<u64> {
            let mut all = vec![0; 1024];
            let x = 0xa5 as $ty;
            for by in [$($by),*] {
                let at = 4 * by as usize;
                all[at..at + 4].copy_from_slice(&[
                    x.wrapping_shl(by) as u64,
                    x.wrapping_shr(by) as u64,
                    x.rotate_left(by) as u64,
                    x.rotate_right(by) as u64,
                ]);
            }
            all
        }
    };
}
shifting! { of_u8 u8; of_u32 u32; of_i32 i32; of_u64 u64; of_i64 i64; }

/// As Rust's `wrapping_shl` and its likes: by the amount modulo the bits of the type.
fn shifts_take_any_amount_of_any_type(runtime: &Runtime) {
    of_u8::check(runtime);
    of_u32::check(runtime);
    of_i32::check(runtime);
    of_u64::check(runtime);
    of_i64::check(runtime);
}
