//! What the macros write compiles under lints that nothing may allow again, and that would refuse it if they looked at
//! it.
#![forbid(
    clippy::all,
    unused,
    missing_docs,
    unsafe_code,
    deprecated,
    private_interfaces
)]
#![forbid(
    dead_code,
    unused_imports,
    unused_macros,
    unused_mut,
    unused_variables,
    unused_parens,
    non_snake_case,
    unreachable_pub,
    unused_qualifications,
    unnameable_types,
    missing_debug_implementations,
    missing_copy_implementations,
    trivial_casts,
    trivial_numeric_casts,
    single_use_lifetimes,
    unused_lifetimes,
    explicit_outlives_requirements,
    elided_lifetimes_in_paths
)]

use vyre::prelude::*;
use vyre_tests::backend_tests;

mod math {
    use vyre::prelude::*;

    const THREE: u32 = 3;

    #[device]
    pub(crate) fn third(x: u32) -> u32 {
        x / THREE
    }

    #[device]
    pub(crate) mod shapes {
        const SIDE: u32 = 9;

        #[derive(Clone, Copy, Debug, PartialEq)]
        pub(crate) struct Point {
            pub(crate) x: u32,
        }

        impl Point {
            pub(crate) fn by(self, by: u32) -> u32 {
                self.x / by + SIDE
            }
        }
    }
}
use math::third;

#[kernel]
fn standing(i: Index, xs: &Buf<u32>, out: &mut u32) {
    let p = math::shapes::Point { x: i };
    *out = third(i) + p.by(2) + xs[i / 3];
}

#[wave_graph]
mod inner {
    use super::math::third;

    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Pair {
        a: u32,
        b: i64,
    }

    struct Data {
        #[topology]
        graph: Csr,
        #[topology(reverse_of = graph)]
        back: Csr,
        #[topology(per = edge(graph))]
        w: u32,
        #[output(per = node, init = 3)]
        out: u32,
        #[scratch(per = node)]
        pairs: Pair,
        #[scratch(per = node, bits = n)]
        rows: Bits,
        #[frontier]
        front: Frontier,
        #[list(capacity = n)]
        log: List<Pair>,
        #[reduce(sum)]
        total: u32,
        n: u32,
    }

    #[wave(nodes)]
    fn start(v: Node, out: &mut u32, pairs: &mut Pair, front: &Push, back: &Csr, rows: &Bits) {
        rows.set(v, v);
        *out = third(v) + back.degree(v);
        pairs.a = v;
        pairs.b = 2;
        if v == 0 {
            front.push(v);
        }
    }

    #[wave(nodes, after(start))]
    fn record(v: Node, pairs: &Pair, log: &Append<Pair>, total: &Reduce<Sum<u32>>) {
        log.append(Pair { a: v, ..*pairs });
        total.add(pairs.a + pairs.b as u32);
    }

    #[fixpoint(after(start), until(front.is_empty() || round > 10), max_rounds = 50)]
    mod rounds {
        #[wave(edges(graph, from = front))]
        fn go(e: Edge, out: &Buf<Atomic<u32>>, front: &Push, w: &Buf<u32>, round: Round) {
            if out[e.dst].fetch_add(w[e.index]) < 100 && round < 2 {
                front.push(e.dst);
            }
        }
    }
}

#[wave_graph]
#[pass(id = "test.small", unproven)]
mod small {
    pub(crate) struct Data {
        #[output(per = n)]
        pub(crate) out: u32,
        n: u32,
    }

    #[wave(range(n))]
    fn count(i: Index, out: &mut u32) {
        *out = i;
    }
}

#[wave_graph]
mod including {
    #[include(n = m)]
    use super::small;

    struct Data {
        #[output(per = m)]
        again: u32,
        m: u32,
    }

    #[wave(range(m), after(small))]
    fn more(i: Index, small_out: &Buf<u32>, again: &mut u32) {
        *again = small_out[i] + 1;
    }
}

fn forbidden_lints_do_not_refuse_what_is_written(runtime: &Runtime) {
    let graph = Csr::from_edges(3, &[(0, 1), (1, 2)]).expect("a graph");
    let mut out = [0; 4];
    assert!(standing::run(runtime, &[1, 5], &mut out).is_ok());
    assert_eq!(out, [10, 10, 11, 16]);
    let topology = inner::Topology {
        graph: &graph,
        w: &[1, 2],
    };
    let mut session = inner::Session::new(runtime, topology).expect("it fits");
    let found = session.run(inner::Run { n: 3 }).expect("no trap");
    assert_eq!((found.out, found.total), (vec![0, 2, 3], 9));
    let mut session = including::Session::new(runtime, ()).expect("it fits");
    let found = session.run(including::Run { m: 2 }).expect("no trap");
    assert_eq!((found.small_out, found.again), (vec![0, 1], vec![1, 2]));
}

/// The names around a kernel in a function's body are the body's.
fn kernels_stand_in_functions(runtime: &Runtime) {
    const TEN: u32 = 10;

    #[kernel]
    fn lane(cx: Index, xs: &Buf<u32>, out: &mut u32) {
        *out = xs[cx] / (TEN - 10 + cx) + TEN;
    }

    let mut out = [0; 2];
    let trap = lane::run(runtime, &[4, 6], &mut out);
    assert!(matches!(trap, Err(Error::Trap(t)) if t.item == Some(0)));
    let mut out = [0; 0];
    assert!(lane::run(runtime, &[4, 6], &mut out).is_ok());
}

backend_tests!(
    kernels_stand_in_functions,
    forbidden_lints_do_not_refuse_what_is_written,
);
