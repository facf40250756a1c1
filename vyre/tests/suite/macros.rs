//! Annotated passes from source to results: each runs natively and on the VIR0 interpreter, with equal results.
#![deny(warnings)]
#![deny(clippy::all, unreachable_pub, unused_qualifications)]

use vyre::prelude::*;
use vyre::{Error, TrapKind};
use vyre_tests::backend_tests;
use vyre_tests::graphs::{UNSEEN, chain, grid};

/// Breadth-first search from one node.
///
/// The example of the design.
#[wave_graph(limits(nodes = 16_000_000, edges = 256_000_000), budget = "5 GiB")]
#[pass(id = "reach.bfs", min_frontier_items = 1_000, min_reuse = 4, unproven)]
pub(crate) mod bfs {
    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        /// Nodes to visit.
        #[frontier]
        front: Frontier,
        #[output(per = node)]
        dist: u32,
        source: u32,
    }

    #[wave(nodes)]
    fn init(v: Node, source: u32, dist: &mut u32, front: &Push) {
        *dist = UNSEEN;
        if v == source {
            *dist = 0;
            front.push(v);
        }
    }

    #[fixpoint(after(init), until(front.is_empty()), max_rounds = 1_000_000)]
    mod levels {
        #[wave(edges(graph, from = front))]
        fn relax(e: Edge, round: Round, dist: &Buf<Atomic<u32>>, front: &Push) {
            if dist[e.dst].compare_exchange(UNSEEN, round + 1) {
                front.push(e.dst);
            }
        }
    }
}

fn breadth_first_search_counts_levels(runtime: &Runtime) {
    let graph = grid(40, 40);
    let mut session = bfs::Session::new(runtime, &graph).expect("the graph fits");
    for source in [0, 820, 0] {
        let out = session.run(bfs::Run { source }).expect("no trap");
        let expected: Vec<u32> = (0..1600)
            .map(|v| (v % 40u32).abs_diff(source % 40) + (v / 40u32).abs_diff(source / 40))
            .collect();
        assert_eq!(out.dist, expected);
        let depth = u64::from(*expected.iter().max().expect("1600 nodes"));
        assert_eq!(out.report.total_rounds(), depth + 1);
    }
    let program = bfs::PLAN.program();
    assert_eq!(program.agreement, vyre_core::vir0::module::Agreement::Bits);
    assert_eq!(program.manifest.id, "reach.bfs");
    assert_eq!(
        program.manifest.title,
        "Breadth-first search from one node."
    );
    assert!(program.manifest.unproven);
}

#[kernel]
fn saxpy(_i: Index, a: f32, x: &f32, y: &mut f32) {
    *y += a * *x;
}

/// Every `step`-th count goes up.
#[pass(id = "test.histogram", unproven)]
#[kernel]
pub(crate) fn histogram(keys: &Buf<u32>, counts: &Buf<Atomic<u32>>, i: Index) {
    if i < keys.len() {
        counts[keys[i]].fetch_add(1);
    }
}

/// A kernel keeps its helpers in its body.
#[kernel]
fn scramble(i: Index, out: &mut u32) {
    #[device]
    fn mix(x: u32) -> u32 {
        (x ^ SEVEN).wrapping_mul(0x9e37_79b9)
    }
    #[device]
    fn twice(x: u32) -> u32 {
        mix(mix(x))
    }
    *out = twice(i);
}

fn a_kernel_is_a_pass_of_its_own(runtime: &Runtime) {
    let x: Vec<f32> = (0..10_000).map(|i| i as f32).collect();
    let mut y = vec![1.0; 10_000];
    saxpy::run(runtime, 2.0, &x, &mut y).expect("equal lengths");
    assert!((0..10_000).all(|i| y[i] == 2.0 * i as f32 + 1.0));
    let error = saxpy::run(runtime, 2.0, &x[1..], &mut y).expect_err("one is shorter");
    assert_eq!(
        error.to_string(),
        "`y` has 10000 elements; the pass needs 9999"
    );

    let mut counts = [0; 3];
    histogram::run(runtime, 5, &[0, 2, 2, 0, 2], &mut counts).expect("keys are below 3");
    assert_eq!(counts, [2, 0, 3]);

    let mut out = [0; 100];
    scramble::run(runtime, &mut out).expect("no trap");
    let mix = |x: u32| (x ^ SEVEN).wrapping_mul(0x9e37_79b9);
    assert!((0..100).all(|i| out[i as usize] == mix(mix(i))));
    assert_eq!(histogram::PLAN.program().manifest.id, "test.histogram");
}

#[wave_graph]
mod diamond {
    struct Data {
        #[topology]
        graph: Csr,
        #[topology(per = edge(graph))]
        weight: u32,
        #[topology(reverse_of = graph)]
        back: Csr,
        #[scratch(per = node)]
        left: u32,
        #[scratch(per = node, init = SEVEN)]
        right: u32,
        #[output(per = node)]
        result: u64,
        #[output(per = edge(graph), init = -1)]
        sign: i32,
        #[input(per = node)]
        bias: u32,
        #[input]
        scale: u32,
    }

    #[wave(nodes)]
    fn top(v: Node, graph: &Csr, left: &mut u32, right: &Buf<Atomic<u32>>) {
        *left = graph.degree(v);
        right[v].fetch_add(scaled(1));
    }

    #[wave(edges(graph), after(top))]
    fn by_edge(e: Edge, weight: &u32, left: &Buf<u32>, sign: &mut i32) {
        if left[e.src] > 0 && *weight & 1 == 0 {
            *sign = 1;
        }
    }

    #[wave(nodes(graph), after(top))]
    fn by_node(v: Node, back: &Csr, left: &u32, right: &u32, result: &mut u64) {
        *result = (*left + *right) as u64;
        for u in back.neighbors(v) {
            *result += u as u64;
        }
    }

    #[wave(nodes, after(by_edge, by_node))]
    fn bottom(bias: &u32, scale: u32, result: &mut u64) {
        *result += (*bias * scale) as u64;
    }

    /// A helper of this module.
    #[device]
    fn scaled(x: u32) -> u32 {
        x * 10
    }
}

const SEVEN: u32 = 7;

fn a_diamond_runs_in_three_groups(runtime: &Runtime) {
    let graph = chain(4);
    let topology = diamond::Topology {
        graph: &graph,
        weight: &[4, 5, 6],
    };
    let mut session = diamond::Session::new(runtime, topology).expect("lengths fit");
    let run = diamond::Run {
        bias: &[1, 2, 3, 4],
        scale: 100,
    };
    let out = session.run(run).expect("no trap");
    // out-degree + 7 + 10 + predecessor + 100 * bias
    assert_eq!(out.result, [118, 218, 319, 419]);
    assert_eq!(out.sign, [1, -1, 1]);
    assert_eq!(
        out,
        session
            .run(run)
            .expect("sessions start over")
            .clone_report(&out)
    );
    let short = diamond::Run {
        bias: &[1],
        scale: 1,
    };
    let error = session.run(short).expect_err("too short");
    assert_eq!(
        error.to_string(),
        "`bias` has 1 element; the pass needs 4 (per = node, 4 nodes)"
    );
    let schedule = &diamond::PLAN.program().schedule;
    let barriers = schedule
        .iter()
        .filter(|s| matches!(s, vyre::core::vir0::module::Step::Barrier));
    assert_eq!(barriers.count(), 2);
}

impl diamond::Output {
    /// Times differ from run to run.
    fn clone_report(mut self, other: &diamond::Output) -> diamond::Output {
        self.report = other.report.clone();
        self
    }
}

mod limits {
    pub(crate) const PASSES: u32 = 3;
    pub(crate) const EPSILON: f32 = 0.5;
}

#[wave_graph(crate = ::vyre)]
mod nested {
    use super::limits;
    use super::*;

    const BASE: u32 = 100;

    struct Data {
        #[topology]
        graph: Csr,
        #[frontier]
        outer: Frontier,
        #[frontier(unique)]
        inner: Frontier,
        #[output(per = node)]
        visits: u32,
        #[output(per = SLOTS)]
        log: u32,
        #[reduce(count)]
        steps: u64,
        #[reduce(max)]
        deepest: u32,
    }

    const SLOTS: u32 = 2;

    #[wave(once)]
    fn start(outer: &Push) {
        outer.push(0);
    }

    #[fixpoint(after(start), until(outer.is_empty() || round + 1 == limits::PASSES))]
    mod sweeps {
        const STEP: u32 = BASE + 1;

        #[wave(items(outer))]
        fn seed(v: Node, inner: &Push) {
            inner.push(v);
            inner.push(v);
        }

        #[fixpoint(after(seed), until(inner.is_empty()), max_rounds = 50)]
        pub(super) mod walk {
            const STEP_AGAIN: u32 = STEP;

            #[wave(items(inner))]
            fn visit(_v: Node, visits: &mut u32, steps: &Reduce<Count>) {
                *visits += STEP_AGAIN;
                steps.inc();
            }

            #[wave(edges(graph, from = inner))]
            fn go(e: Edge, round: Round, inner: &Push, deepest: &Reduce<Max<u32>>) {
                inner.push(e.dst);
                deepest.max(round + 1);
            }
        }

        #[wave(once, after(walk))]
        fn again(outer: &Push, log: &Buf<Atomic<u32>>, round: Round) {
            outer.push(round + 1);
            log[0].fetch_add(1);
            log[SLOTS - 1].store(BASE);
        }
    }
}

fn fixpoints_nest_and_constants_resolve_where_they_are_written(runtime: &Runtime) {
    let graph = chain(5);
    let mut session = nested::Session::new(runtime, &graph).expect("the graph fits");
    let out = session.run(nested::Run {}).expect("no trap");
    // Walks start at 0, 1 and 2, and go to the end of the chain.
    assert_eq!(out.visits, [101, 202, 303, 303, 303]);
    assert_eq!(out.log, [3, 100]);
    assert_eq!(out.report.rounds, [3, 5 + 4 + 3]);
    // A reduction resets with each round of the innermost fixpoint that updates it: the last round of a walk visits one
    // node.
    assert_eq!((out.steps, out.deepest), (1, 0));
}

#[wave_graph]
mod smooth {
    use super::limits::EPSILON;

    struct Data {
        #[topology]
        graph: Csr,
        #[scratch(per = node)]
        now: f32,
        #[scratch(per = node)]
        next: f32,
        #[output(per = node)]
        result: f32,
        #[reduce(max)]
        change: f32,
        #[input(per = node)]
        given: f32,
        n: u32,
        #[output(per = n)]
        line: u32,
    }

    #[wave(nodes)]
    fn init(given: &f32, now: &mut f32) {
        *now = *given;
    }

    #[wave(range(n))]
    fn count(i: Index, line: &mut u32) {
        *line = i * i;
    }

    #[fixpoint(after(init), until(change < EPSILON), swap(now, next), max_rounds = 100)]
    mod rounds {
        #[wave(nodes)]
        fn step(v: Node, graph: &Csr, now: &Buf<f32>, next: &mut f32, change: &Reduce<Max<f32>>) {
            let mut sum = now[v];
            for u in graph.neighbors(v) {
                sum += now[u];
            }
            let mean = sum / (graph.degree(v) + 1) as f32;
            *next = mean;
            change.max((mean - now[v]).abs());
        }
    }

    #[wave(nodes, after(rounds))]
    fn finish(now: &f32, result: &mut f32) {
        *result = *now;
    }
}

fn swapped_buffers_and_reductions_drive_a_fixpoint(runtime: &Runtime) {
    let graph = grid(6, 6);
    let given: Vec<f32> = (0..36).map(|v| (v * v % 17) as f32).collect();
    // The same in plain Rust.
    let (mut now, mut rounds) = (given.clone(), 0);
    let change = loop {
        let next: Vec<f32> = (0..36)
            .map(|v| {
                let sum = graph
                    .neighbors(v)
                    .iter()
                    .fold(now[v as usize], |s, u| s + now[u as usize]);
                sum / (graph.degree(v) + 1) as f32
            })
            .collect();
        let change = now
            .iter()
            .zip(&next)
            .fold(f32::NEG_INFINITY, |m, (a, b)| m.max((b - a).abs()));
        now = next;
        rounds += 1;
        if change < limits::EPSILON {
            break change;
        }
    };
    let mut session = smooth::Session::new(runtime, &graph).expect("the graph fits");
    let run = smooth::Run {
        given: &given,
        n: 4,
    };
    let out = session.run(run).expect("converges");
    assert_eq!(out.result, now);
    assert_eq!(out.change, change);
    assert_eq!(out.report.total_rounds(), rounds);
    assert_eq!(out.line, [0, 1, 4, 9]);
}

/// A wave with more parameters than one tuple of columns holds.
#[wave_graph]
mod wide {
    struct Data {
        #[output(per = 2)]
        a: u32,
        #[output(per = 2)]
        b: u32,
        #[output(per = 2)]
        c: u32,
        #[output(per = 2)]
        d: u32,
        #[output(per = 2)]
        e: u32,
        #[output(per = 2)]
        f: u32,
        #[output(per = 2)]
        g: u32,
        #[output(per = 2)]
        h: u32,
        #[output(per = 2)]
        i: u32,
        #[output(per = 2)]
        j: u32,
        #[output(per = 2)]
        k: u32,
        #[output(per = 2)]
        l: u32,
        #[output(per = 2)]
        m: u32,
        #[reduce(sum)]
        sum: u64,
        #[reduce(or)]
        any: bool,
    }

    #[wave(range(2))]
    fn all(
        x: Index,
        a: &mut u32,
        b: &mut u32,
        c: &mut u32,
        d: &mut u32,
        e: &mut u32,
        f: &mut u32,
        g: &mut u32,
        h: &mut u32,
        i: &mut u32,
        j: &mut u32,
        k: &mut u32,
        l: &mut u32,
        m: &mut u32,
        sum: &Reduce<Sum<u64>>,
        any: &Reduce<Or<bool>>,
    ) {
        *a = x;
        *b = x;
        *c = x;
        *d = x;
        *e = x;
        *f = x;
        *g = x;
        *h = x;
        *i = x;
        *j = x;
        *k = x;
        *l = x;
        *m = x + 40;
        sum.add(x as u64 + 1);
        any.or(x == 1);
    }
}

fn a_wave_takes_many_columns(runtime: &Runtime) {
    let mut session = wide::Session::new(runtime, ()).expect("no topology");
    let out = session.run(wide::Run {}).expect("no trap");
    assert_eq!((out.a, out.m), (vec![0, 1], vec![40, 41]));
    assert_eq!((out.sum, out.any), (3, true));
}

#[wave_graph]
mod faulty {
    struct Data {
        #[topology]
        graph: Csr,
        #[frontier(capacity = 3)]
        front: Frontier,
        #[scratch(per = 4)]
        small: u32,
        which: u32,
    }

    #[wave(nodes)]
    fn fault(v: Node, which: u32, small: &Buf<Atomic<u32>>, front: &Push) {
        if which == 0 {
            small[v].store(1);
        } else if which == 1 {
            small[0].store(10 / (5 - v.min(5)));
        } else {
            front.push(v);
        }
    }

    #[fixpoint(after(fault), until(front.is_empty()), max_rounds = 9)]
    mod forever {
        #[wave(items(front))]
        fn visit(v: Node, front: &Push) {
            front.push(v);
        }
    }
}

fn traps_are_the_same_on_both_backends_and_the_session_stays_usable(runtime: &Runtime) {
    let graph = chain(8);
    let small = chain(2);
    let mut session = faulty::Session::new(runtime, &graph).expect("the graph fits");
    let trap = |session: &mut faulty::Session, which| match session.run(faulty::Run { which }) {
        Err(Error::Trap(trap)) => *trap,
        other => panic!("expected a trap, got {other:?}"),
    };
    let bounds = trap(&mut session, 0);
    assert_eq!(bounds.kind, TrapKind::IndexOutOfBounds);
    assert_eq!((bounds.kernel.as_str(), bounds.item), ("fault", Some(4)));
    assert_eq!((bounds.index, bounds.len), (4, 4));
    let line = bounds.site.line;
    assert_eq!(bounds.site.column, 18);
    assert!(bounds.site.file.ends_with("macros.rs"));

    let divide = trap(&mut session, 1);
    assert_eq!(
        (divide.kind, divide.item),
        (TrapKind::DivideByZero, Some(5))
    );
    assert_eq!((divide.site.line, divide.site.column), (line + 2, 28));

    let overflow = trap(&mut session, 2);
    assert_eq!(
        (overflow.kind, overflow.item),
        (TrapKind::FrontierOverflow, None)
    );
    assert_eq!((overflow.index, overflow.len), (8, 3));
    assert_eq!((overflow.site.line, overflow.site.column), (line + 4, 19));

    let mut session = faulty::Session::new(runtime, &small).expect("the graph fits");
    let Err(Error::Trap(limit)) = session.run(faulty::Run { which: 2 }) else {
        panic!("the fixpoint never ends");
    };
    assert_eq!((limit.kind, limit.len), (TrapKind::RoundLimit, 9));
    assert_eq!(
        (limit.kernel.as_str(), limit.site.line),
        ("forever", line + 9)
    );
    assert_eq!(limit.site.column, 9);
}

backend_tests!(
    breadth_first_search_counts_levels,
    a_kernel_is_a_pass_of_its_own,
    a_diamond_runs_in_three_groups,
    fixpoints_nest_and_constants_resolve_where_they_are_written,
    swapped_buffers_and_reductions_drive_a_fixpoint,
    a_wave_takes_many_columns,
    traps_are_the_same_on_both_backends_and_the_session_stays_usable,
);
