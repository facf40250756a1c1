//! Results that have the same bytes in every run, with any number of threads, on every backend.

use vyre::FusedSession;
use vyre::prelude::*;
use vyre_core::vir0::module::Agreement;
use vyre_tests::backend_tests;
use vyre_tests::graphs::random_graph;
use vyre_tests::passes::bfs;
use vyre_tests::random::Random;

/// What passes over integers do: claims, atomics, rows of bits, frontiers, reductions.
#[wave_graph(deterministic)]
pub mod integers {
    pub const FAR: u32 = u32::MAX;

    pub struct Data {
        #[topology]
        graph: Csr,
        #[frontier]
        front: Frontier,
        #[frontier(unique)]
        late: Frontier,
        #[output(per = node, init = FAR)]
        level: u32,
        #[output(per = node)]
        into: u32,
        #[output(per = node)]
        most: i64,
        #[output(per = node, bits = 64)]
        seen: Bits,
        #[reduce(sum)]
        total: u64,
        #[reduce(max)]
        best: i32,
        #[reduce(count)]
        visits: u64,
        source: u32,
    }

    #[wave(once)]
    fn begin(source: u32, level: &Buf<Atomic<u32>>, front: &Push) {
        level[source].store(0);
        front.push(source);
    }

    #[fixpoint(after(begin), until(front.is_empty()))]
    mod levels {
        #[wave(edges(graph, from = front))]
        fn follow(
            e: Edge,
            round: Round,
            level: &Buf<Atomic<u32>>,
            into: &Buf<Atomic<u32>>,
            most: &Buf<Atomic<i64>>,
            seen: &Bits,
            front: &Push,
            late: &Push,
        ) {
            if level[e.dst].compare_exchange(FAR, round + 1) {
                front.push(e.dst);
            }
            into[e.dst].fetch_add(e.src * 7 + 1);
            most[e.dst].fetch_max(i64::from(e.index) - 1_000);
            seen.set(e.dst, e.src % 64);
            if e.src.is_multiple_of(3) {
                late.push(e.dst);
            }
        }
    }

    #[wave(items(late), after(levels))]
    fn again(v: Node, into: &Buf<u32>, total: &Reduce<Sum<u64>>, best: &Reduce<Max<i32>>) {
        total.add(u64::from(into[v]));
        best.max(into[v] as i32 % 1_000);
    }

    #[wave(nodes, after(levels))]
    fn count(level: &u32, visits: &Reduce<Count>) {
        if *level != FAR {
            visits.inc();
        }
    }
}

/// Sums of floats in every kind of domain, in rounds and beside them.
#[wave_graph(deterministic)]
pub mod floats {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[input(per = node)]
        x: f32,
        #[input(per = node)]
        y: f64,
        #[frontier]
        front: Frontier,
        #[reduce(exact_sum)]
        nodes: f32,
        #[reduce(exact_sum)]
        edges: f64,
        #[reduce(exact_sum)]
        visited: f64,
        #[reduce(exact_sum)]
        left: f32,
        #[output(per = 40)]
        by_round: f32,
        #[output(per = node)]
        share: f64,
    }

    #[wave(nodes)]
    fn begin(v: Node, x: &f32, nodes: &Reduce<ExactSum<f32>>, front: &Push) {
        nodes.add(*x);
        front.push(v);
    }

    #[wave(edges(graph))]
    fn across(e: Edge, y: &Buf<f64>, edges: &Reduce<ExactSum<f64>>) {
        edges.add(y[e.src] * y[e.dst]);
        if e.src == e.dst {
            edges.add(-1.0);
        }
    }

    #[fixpoint(after(begin), until(front.is_empty() || left > 1e30), max_rounds = 40)]
    mod rounds {
        #[wave(edges(graph, from = front))]
        fn visit(
            e: Edge,
            round: Round,
            y: &Buf<f64>,
            visited: &Reduce<ExactSum<f64>>,
            front: &Push,
        ) {
            visited.add(y[e.dst]);
            if e.dst % (round + 2) == 1 && e.index & 7 == 0 {
                front.push(e.dst);
            }
        }

        #[wave(items(front))]
        fn leave(v: Node, x: &Buf<f32>, left: &Reduce<ExactSum<f32>>) {
            left.add(x[v]);
        }

        #[wave(once, after(leave))]
        fn keep(left: f32, round: Round, by_round: &Buf<Atomic<f32>>) {
            by_round[round].store(left);
        }
    }

    #[wave(nodes, after(begin, across))]
    fn share(y: &f64, nodes: f32, edges: f64, share: &mut f64) {
        *share = y / edges + f64::from(nodes);
    }
}

/// Adds floats in any order.
#[wave_graph]
pub mod spread {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[input(per = node)]
        x: f32,
        #[output(per = node)]
        into: f32,
    }

    #[wave(edges(graph))]
    fn spread(e: Edge, x: &Buf<f32>, into: &Buf<Atomic<f32>>) {
        into[e.dst].fetch_add(x[e.src]);
    }
}

#[device]
fn take(total: &Reduce<ExactSum<f64>>, x: f32) {
    total.add(f64::from(x));
}

/// What [`odd_places`] includes.
#[wave_graph]
pub mod plain {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[input(per = node)]
        x: f32,
        #[reduce(exact_sum)]
        total: f32,
    }

    #[wave(nodes)]
    fn add(x: &f32, total: &Reduce<ExactSum<f32>>) {
        total.add(*x);
    }
}

/// Sums in an included graph, in helpers, under conditions, in loops, of a frontier, and in what ends a fixpoint.
#[wave_graph(deterministic)]
pub mod odd_places {
    #[include(graph = graph, x = x)]
    use super::plain;
    use super::take;

    pub struct Data {
        #[topology]
        graph: Csr,
        #[input(per = node)]
        x: f32,
        #[reduce(exact_sum)]
        helped: f64,
        #[reduce(exact_sum)]
        of_items: f32,
        #[reduce(exact_sum)]
        residual: f32,
        #[frontier]
        low: Frontier,
        #[output(per = node)]
        out: f32,
        tolerance: f32,
    }

    #[wave(nodes)]
    fn helpers(v: Node, graph: &Csr, x: &Buf<f32>, helped: &Reduce<ExactSum<f64>>) {
        if v % 7 == 3 {
            take(helped, x[v]);
        } else {
            for w in graph.neighbors(v) {
                if x[w] > 0.5 {
                    take(helped, -x[w]);
                }
            }
        }
    }

    #[wave(nodes)]
    fn choose(v: Node, x: &f32, low: &Push) {
        if *x < 0.0 {
            low.push(v);
        }
    }

    #[wave(edges(graph, from = low), after(choose))]
    fn items(e: Edge, x: &Buf<f32>, of_items: &Reduce<ExactSum<f32>>) {
        of_items.add(x[e.src] * x[e.dst]);
    }

    #[fixpoint(after(helpers), until(residual <= tolerance), max_rounds = 99)]
    mod rounds {
        #[wave(nodes)]
        fn ease(
            v: Node,
            graph: &Csr,
            x: &Buf<f32>,
            out: &mut f32,
            residual: &Reduce<ExactSum<f32>>,
        ) {
            let mut sum = 0.0;
            for w in graph.neighbors(v) {
                sum += x[w];
            }
            let step = (x[v] + sum - *out) * 0.75;
            residual.add(step.abs());
            *out += step;
        }
    }
}

/// Runs in as many ways as there are to split sweeps between threads, a hundred runs in all.
fn a_hundred_runs(runtime: &Runtime, mut run: impl FnMut(&Runtime) + Send) {
    for (threads, parallel_from) in [(1, u32::MAX), (2, 1), (3, 64), (5, 1), (8, 1_000)] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let measured = format!("parallel_from = {parallel_from}\n");
        let thresholds = runtime.thresholds().with(&measured).expect("a number");
        let runtime = runtime.clone().with_thresholds(thresholds);
        pool.expect("threads").install(|| run(&runtime));
    }
}

const NODES: u32 = 9_000;

fn integers_have_the_same_bytes(runtime: &Runtime) {
    let graph = random_graph(NODES, 30_000);
    let source = 17;
    let run = |session: &mut integers::Session| {
        let out = session.run(integers::Run { source }).expect("no trap");
        let seen = out.seen.into_words();
        let rounds = out.report.rounds.clone();
        (
            out.level,
            out.into,
            out.most,
            seen,
            (out.total, out.best, out.visits, rounds),
        )
    };
    let mut reference = integers::Session::new(&Runtime::vir0(), &graph).expect("it fits");
    let expected = run(&mut reference);
    assert!(expected.4.2 > u64::from(NODES) / 2);
    a_hundred_runs(runtime, |runtime| {
        let mut session = integers::Session::new(runtime, &graph).expect("it fits");
        for _ in 0..20 {
            assert!(run(&mut session) == expected, "runs differ");
        }
    });
}

/// Nodes of the passes over floats.
const FLOATS: u32 = 2_000;

/// Multiples of 2^-30 of all sizes that an f32 has beside them, and of both signs.
fn terms(random: &mut Random) -> Vec<f32> {
    let mut term = || {
        let number = i64::from(random.below(1 << 24)) << random.below(36);
        let sign = [1, -1][random.below(2) as usize];
        (number * sign) as f32 / (1 << 30) as f32
    };
    (0..FLOATS).map(|_| term()).collect()
}

fn exact_sums_have_the_same_bytes(runtime: &Runtime) {
    let mut random = Random(0x5eed);
    let graph = random_graph(FLOATS, 9_000);
    let x = terms(&mut random);
    let y: Vec<f64> = (0..FLOATS)
        .map(|_| f64::from(random.below(1 << 20)) - 500_000.5)
        .collect();
    let run = |session: &mut floats::Session| {
        let out = session.run(floats::Run { x: &x, y: &y }).expect("no trap");
        let bits = |xs: &[f32]| xs.iter().map(|x| x.to_bits()).collect::<Vec<u32>>();
        let share: Vec<u64> = out.share.iter().map(|x| x.to_bits()).collect();
        let sums = [out.edges, out.visited].map(f64::to_bits);
        (
            bits(&[out.nodes, out.left]),
            bits(&out.by_round),
            share,
            sums,
        )
    };
    let mut reference = floats::Session::new(&Runtime::vir0(), &graph).expect("it fits");
    let expected = run(&mut reference);
    // Sums of integers, rounded once: 2^-30 and 2^-2 are their units.
    let nodes: i128 = x
        .iter()
        .map(|x| (f64::from(*x) * f64::from(1 << 30)) as i128)
        .sum();
    assert_eq!(expected.0[0], (nodes as f32 / (1 << 30) as f32).to_bits());
    assert_eq!(expected.1[0], expected.0[0]);
    let mut edges = 0i128;
    for v in 0..FLOATS {
        for w in graph.neighbors(v) {
            edges += (4.0 * y[v as usize] * y[w as usize]) as i128 - if v == w { 4 } else { 0 };
        }
    }
    assert_eq!(expected.3[0], (edges as f64 / 4.0).to_bits());
    a_hundred_runs(runtime, |runtime| {
        let mut session = floats::Session::new(runtime, &graph).expect("it fits");
        for _ in 0..20 {
            assert!(run(&mut session) == expected, "runs differ");
        }
    });
}

fn bits_of(out: &odd_places::Output) -> (Vec<u32>, [u32; 3], u64, Vec<u64>) {
    let sums = [out.plain_total, out.of_items, out.residual];
    let bits = out.out.iter().map(|x| x.to_bits()).collect();
    (
        bits,
        sums.map(f32::to_bits),
        out.helped.to_bits(),
        out.report.rounds.clone(),
    )
}

/// In sessions, batches and fused sessions.
fn exact_sums_in_odd_places(runtime: &Runtime) {
    let mut random = Random(7);
    let graph = random_graph(FLOATS, 9_000);
    let inputs: Vec<Vec<f32>> = (0..3).map(|_| terms(&mut random)).collect();
    let given = |x| odd_places::Run { x, tolerance: 1e-3 };
    let mut reference = odd_places::Session::new(&Runtime::vir0(), &graph).expect("it fits");
    let expected: Vec<_> = (inputs.iter())
        .map(|x| bits_of(&reference.run(given(x)).expect("no trap")))
        .collect();
    // Rounds end by the sum.
    assert!((2..99).contains(&expected[0].3[0]), "{:?}", expected[0].3);
    for (threads, parallel_from) in [(1, u32::MAX), (4, 1)] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let measured = format!("parallel_from = {parallel_from}\n");
        let thresholds = runtime.thresholds().with(&measured).expect("a number");
        let runtime = runtime.clone().with_thresholds(thresholds);
        pool.expect("threads").install(|| {
            let mut session = odd_places::Session::new(&runtime, &graph).expect("it fits");
            for (x, expected) in inputs.iter().zip(&expected) {
                assert!(bits_of(&session.run(given(x)).expect("no trap")) == *expected);
                session.submit(given(x), 0);
            }
            let batch = session.run_batch().expect("it fits").results;
            assert_eq!(batch.len(), expected.len());
            for ((_, out), expected) in batch.iter().zip(&expected) {
                assert!(bits_of(out.as_ref().expect("no trap")) == *expected);
            }
            // The second one adds floats in an order that is open, which must not become the first one's.
            let topology = (&graph, &graph);
            let mut one = FusedSession::<odd_places::Pass, bfs::Pass>::new(&runtime, topology, &[])
                .expect("it fits");
            let mut two =
                FusedSession::<odd_places::Pass, spread::Pass>::new(&runtime, topology, &[])
                    .expect("it fits");
            assert!(!two.is_one_launch());
            for (x, expected) in inputs.iter().zip(&expected) {
                let (out, _) = one.run(given(x), bfs::Run { source: 3 }).expect("no trap");
                assert!(bits_of(&out) == *expected);
                let (out, _) = two.run(given(x), spread::Run { x }).expect("no trap");
                assert!(bits_of(&out) == *expected);
            }
        });
    }
}

/// What cannot be added up is a sum, too.
fn exact_sums_hold_what_floats_hold(runtime: &Runtime) {
    let graph = Csr::from_edges(4, &[]).expect("no edges");
    let mut session = floats::Session::new(runtime, &graph).expect("it fits");
    let y = [0.0; 4];
    let (big, tiny, inf) = (f32::MAX, f32::from_bits(1), f32::INFINITY);
    for (x, sum) in [
        ([big, big, -big, tiny], big),
        ([big, 1.0, -big, tiny], 1.0 + tiny),
        ([big, big, 0.0, 0.0], inf),
        ([-big, -big, 1.0, -0.0], -inf),
        ([tiny, -tiny, tiny, tiny], f32::from_bits(2)),
        ([-0.0, -0.0, -0.0, -0.0], 0.0),
        ([inf, -big, -big, -big], inf),
        ([inf, -inf, 1.0, 1.0], f32::NAN),
        ([f32::NAN, 1.0, 1.0, 1.0], f32::NAN),
    ] {
        let out = session.run(floats::Run { x: &x, y: &y }).expect("no trap");
        assert_eq!(out.nodes.to_bits(), sum.to_bits(), "{x:?}");
    }
}

backend_tests!(
    integers_have_the_same_bytes,
    exact_sums_have_the_same_bytes,
    exact_sums_hold_what_floats_hold,
    exact_sums_in_odd_places,
);

#[test]
fn deterministic_passes_say_so() {
    for plan in [integers::PLAN, floats::PLAN] {
        assert_eq!(plan.program().agreement, Agreement::Bits, "{plan}");
        assert!(
            plan.to_string()
                .contains("(same bits: every run gives them, on every backend)")
        );
    }
    assert!(
        floats::PLAN.to_string().contains("exact_sum"),
        "{}",
        floats::PLAN
    );
}
