//! Every backend runs the same passes and gives the same answers: those of sequential oracles, bit for bit where the
//! pass gives the same bits, and the same traps.

#![allow(
    missing_docs,
    reason = "the passes are public only to be like a user's"
)]

use std::process::Command;
use vyre::cuda::device::{Code, NoCubin};
use vyre::prelude::*;
use vyre::{Error, Trap, TrapKind};
use vyre_tests::backend_tests;
use vyre_tests::graphs::{UNSEEN, both_ways, distances, random_graph, shortest};
use vyre_tests::passes::{bfs, sssp};
use vyre_tests::random::Random;

#[wave_graph]
pub mod components {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node)]
        label: u32,
        #[reduce(count)]
        changed: u64,
    }

    #[wave(nodes)]
    fn init(v: Node, label: &mut u32) {
        *label = v;
    }

    #[fixpoint(after(init), until(changed == 0), max_rounds = 1_000_000)]
    mod propagation {
        #[wave(edges(graph))]
        fn pull(e: Edge, label: &Buf<Atomic<u32>>, changed: &Reduce<Count>) {
            let least = label[e.src].load();
            if least < label[e.dst].fetch_min(least) {
                changed.inc();
            }
        }
    }
}

#[wave_graph]
pub mod pagerank {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[topology(reverse_of = graph)]
        incoming: Csr,
        #[output(per = node)]
        rank: f32,
        #[scratch(per = node)]
        next: f32,
        #[scratch(per = node)]
        share: f32,
        #[reduce(max)]
        residual: f32,
        damping: f32,
        tolerance: f32,
        n: u32,
    }

    #[wave(nodes)]
    fn init(n: u32, rank: &mut f32) {
        *rank = 1.0 / n as f32;
    }

    #[fixpoint(after(init), until(residual < tolerance), max_rounds = 10_000)]
    mod iterations {
        #[wave(nodes)]
        fn split(v: Node, graph: &Csr, rank: &f32, share: &mut f32) {
            let degree = graph.degree(v);
            *share = if degree == 0 {
                0.0
            } else {
                *rank / degree as f32
            };
        }

        #[wave(nodes, after(split))]
        fn gather(v: Node, n: u32, damping: f32, incoming: &Csr, share: &Buf<f32>, next: &mut f32) {
            let mut sum = 0.0;
            for u in incoming.neighbors(v) {
                sum += share[u];
            }
            *next = (1.0 - damping) / n as f32 + damping * sum;
        }

        #[wave(nodes, after(gather))]
        fn settle(rank: &mut f32, next: &f32, residual: &Reduce<Max<f32>>) {
            residual.max((*next - *rank).abs());
            *rank = *next;
        }
    }
}

/// Components by repeated search: the least unlabelled node starts the next flood.
#[wave_graph]
pub mod floods {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[frontier]
        front: Frontier,
        #[output(per = node, init = UNSEEN)]
        label: u32,
        #[reduce(min)]
        least: u32,
        #[reduce(count)]
        reached: u64,
    }

    #[fixpoint(until(least == UNSEEN), max_rounds = 1_000_000)]
    mod seeds {
        #[wave(nodes)]
        fn pick(v: Node, label: &u32, least: &Reduce<Min<u32>>) {
            if *label == UNSEEN {
                least.min(v);
            }
        }

        #[wave(once, after(pick))]
        fn start(least: u32, label: &Buf<Atomic<u32>>, front: &Push) {
            if least != UNSEEN {
                label[least].store(least);
                front.push(least);
            }
        }

        #[fixpoint(after(start), until(front.is_empty()), max_rounds = 1_000_000)]
        mod flood {
            #[wave(edges(graph, from = front))]
            fn spread(
                e: Edge,
                least: u32,
                label: &Buf<Atomic<u32>>,
                front: &Push,
                reached: &Reduce<Count>,
            ) {
                if label[e.dst].compare_exchange(UNSEEN, least) {
                    front.push(e.dst);
                    reached.inc();
                }
            }
        }
    }
}

/// Counts walks of a given length (modulo 2^64) that end in each node, swapping two buffers a round.
#[wave_graph]
pub mod walks {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[topology(reverse_of = graph)]
        incoming: Csr,
        #[output(per = node)]
        now: u64,
        #[output(per = node)]
        before: u64,
        last: u32,
    }

    #[wave(nodes)]
    fn init(now: &mut u64) {
        *now = 1;
    }

    #[fixpoint(after(init), until(round == last), max_rounds = 100, swap(now, before))]
    mod steps {
        #[wave(nodes)]
        fn step(v: Node, incoming: &Csr, now: &Buf<u64>, before: &mut u64) {
            let mut sum = 0;
            for e in incoming.edges(v) {
                sum += now[incoming.target(e)];
            }
            *before = sum;
        }
    }
}

/// `y = a x + y`.
#[kernel]
fn saxpy(a: f32, x: &f32, y: &mut f32) {
    *y += a * *x;
}

/// Collatz steps of each number: a loop whose lanes stop at different turns.
#[kernel]
fn collatz(i: Index, steps: &mut u32) {
    let mut x = i as u64 + 1;
    let mut count = 0;
    while x != 1 {
        x = if x & 1 == 0 { x >> 1 } else { 3 * x + 1 };
        count += 1;
    }
    *steps = count;
}

/// Counts by residue: atomics on a buffer of another length.
#[kernel]
fn histogram(x: &u32, bins: &Buf<Atomic<u32>>) {
    bins[*x % bins.len()].fetch_add(1);
}

/// Two slices to work on, of two types, and whole buffers beside them.
#[kernel]
fn mixed(
    i: Index,
    by: i64,
    table: &Buf<i64>,
    sums: &mut i64,
    odd: &mut bool,
    seen: &Buf<Atomic<u32>>,
) {
    let x = table[i & 7] * by;
    *sums -= x;
    *odd = *odd != (*sums & 1 == 1);
    seen[i & 3].fetch_max(i);
}

/// Traps where an element is 0.
#[kernel]
fn shares(whole: u32, x: &u32, share: &mut u32, count: &Buf<Atomic<u32>>) {
    count[0].fetch_add(1);
    *share = whole / *x;
}

#[wave_graph]
pub mod statistics {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[input(per = node)]
        value: i32,
        #[reduce(sum)]
        total: u64,
        #[reduce(min)]
        least: i32,
        #[reduce(max)]
        most: i32,
        #[reduce(or)]
        any_negative: bool,
        #[reduce(and)]
        all_small: bool,
        #[reduce(count)]
        leaves: u64,
    }

    #[wave(nodes)]
    #[allow(clippy::too_many_arguments, reason = "one for each reduction")]
    fn measure(
        v: Node,
        graph: &Csr,
        value: &i32,
        total: &Reduce<Sum<u64>>,
        least: &Reduce<Min<i32>>,
        most: &Reduce<Max<i32>>,
        any_negative: &Reduce<Or<bool>>,
        all_small: &Reduce<And<bool>>,
        leaves: &Reduce<Count>,
    ) {
        total.add(graph.degree(v) as u64);
        least.min(*value);
        most.max(*value);
        any_negative.or(*value < 0);
        all_small.and(*value < 1000);
        if graph.degree(v) == 0 {
            leaves.inc();
        }
    }
}

/// Items 5 and up fail, in a way of the caller's choice.
#[wave_graph]
pub mod faults {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[frontier(capacity = 4)]
        small: Frontier,
        #[output(per = node)]
        out: u32,
        way: u32,
    }

    #[wave(nodes)]
    fn fail(v: Node, way: u32, graph: &Csr, out: &Buf<Atomic<u32>>, small: &Push) {
        if v >= 5 {
            let zero = v >> 31;
            if way == 1 {
                out[v + 100].store(1);
            } else if way == 2 {
                out[v].store(v / zero);
            } else if way == 3 {
                out[v].store((i32::MIN % (zero as i32 - 1)) as u32);
            } else if way == 4 {
                assert!(v < way);
            } else if way == 5 {
                out[v].store(graph.degree(v + 200));
            } else if way == 6 {
                out[v].store(graph.target(v + 300));
            } else if way == 7 {
                small.push(v + 400);
            } else if way == 8 {
                small.push(v);
            } else if way == 10 {
                assert!(v < way - 5, "high nodes {{fail}}");
            }
        }
    }

    #[fixpoint(after(fail), until(way != 9), max_rounds = 17)]
    mod forever {
        #[wave(items(small))]
        fn visit(v: Node, out: &Buf<Atomic<u32>>) {
            out[v].fetch_add(v);
        }
    }
}

/// From a single node to one that native sweeps in parallel; loops and parallel edges included.
fn graphs() -> impl Iterator<Item = Csr> {
    let small = (1..20).map(|n| (n, n * n / 8));
    let large = [(1_000, 2_500), (3_000, 3_000), (20_000, 150_000)];
    small.chain(large).map(|(n, m)| random_graph(n, m))
}

fn bfs_agrees(runtime: &Runtime) {
    for graph in graphs() {
        let mut session = bfs::Session::new(runtime, &graph).expect("a session");
        for source in [0, graph.node_count() as u32 - 1] {
            let dist = distances(&graph, source);
            let depth = dist.iter().copied().filter(|&d| d != UNSEEN).max();
            let out = session.run(bfs::Run { source }).expect("runs");
            assert_eq!(out.dist, dist);
            assert_eq!(
                Some(out.report.total_rounds()),
                depth.map(|d| u64::from(d) + 1)
            );
        }
    }
}

fn sssp_agrees(runtime: &Runtime) {
    for graph in graphs() {
        let mut random = Random(3);
        let weight: Vec<u32> = (0..graph.edge_count()).map(|_| random.below(100)).collect();
        let topology = sssp::Topology {
            graph: &graph,
            weight: &weight,
        };
        let mut session = sssp::Session::new(runtime, topology).expect("a session");
        let out = session.run(sssp::Run { source: 0 }).expect("runs");
        assert_eq!(out.dist, shortest(&graph, &weight, 0));
    }
}

/// The least node of each node's component.
fn component_labels(graph: &Csr) -> Vec<u32> {
    let mut label: Vec<u32> = (0..graph.node_count() as u32).collect();
    for root in 0..graph.node_count() as u32 {
        let mut stack = vec![root];
        while let Some(v) = stack.pop() {
            for w in graph.neighbors(v) {
                if label[w as usize] > root {
                    label[w as usize] = root;
                    stack.push(w);
                }
            }
        }
    }
    label
}

fn components_agree(runtime: &Runtime) {
    for directed in graphs() {
        let graph = both_ways(&directed);
        let mut session = components::Session::new(runtime, &graph).expect("a session");
        let out = session.run(components::Run {}).expect("runs");
        assert_eq!(out.label, component_labels(&graph));
        assert_eq!(out.changed, 0);
    }
}

fn pagerank_agrees(runtime: &Runtime) {
    for graph in graphs() {
        let n = graph.node_count();
        let (damping, tolerance) = (0.85f32, 1e-5);
        let incoming = graph.reverse();
        let mut rank = vec![1.0 / n as f32; n];
        let mut rounds = 0;
        loop {
            let share: Vec<f32> = (0..n)
                .map(|v| match graph.degree(v as u32) {
                    0 => 0.0,
                    d => rank[v] / d as f32,
                })
                .collect();
            let next: Vec<f32> = (0..n)
                .map(|v| {
                    let mut sum = 0.0;
                    for u in incoming.neighbors(v as u32) {
                        sum += share[u as usize];
                    }
                    (1.0 - damping) / n as f32 + damping * sum
                })
                .collect();
            let residual = next
                .iter()
                .zip(&rank)
                .map(|(a, b)| (a - b).abs())
                .fold(0.0, f32::max);
            rank = next;
            rounds += 1;
            if residual < tolerance {
                break;
            }
        }
        let mut session = pagerank::Session::new(runtime, &graph).expect("a session");
        let out = session
            .run(pagerank::Run {
                damping,
                tolerance,
                n: n as u32,
            })
            .expect("runs");
        if runtime.backend() == "cuda" {
            // It adds up a node's neighbours in another order.
            for (a, b) in out.rank.iter().zip(&rank) {
                assert!((a - b).abs() <= 1e-6 * b.abs().max(1e-3), "{a} {b}");
            }
        } else {
            assert_eq!(out.rank, rank);
        }
        assert_eq!(out.report.total_rounds(), rounds);
    }
}

fn kernels_agree(runtime: &Runtime) {
    for n in [0, 1, 1_000, 50_000] {
        let mut random = Random(11);
        let x: Vec<u32> = (0..n).map(|_| random.below(1 << 31)).collect();
        let xf: Vec<f32> = x.iter().map(|&x| x as f32 / 1024.0).collect();
        let mut y: Vec<f32> = (0..n).map(|i| i as f32).collect();
        let expected: Vec<f32> = xf.iter().zip(&y).map(|(x, y)| 2.5 * x + y).collect();
        saxpy::run(runtime, 2.5, &xf, &mut y).expect("runs");
        assert_eq!(y, expected);

        let mut steps = vec![0; n];
        collatz::run(runtime, &mut steps).expect("runs");
        let expected: Vec<u32> = (1..=n as u64)
            .map(|start| {
                let (mut x, mut count) = (start, 0);
                while x != 1 {
                    x = if x % 2 == 0 { x / 2 } else { 3 * x + 1 };
                    count += 1;
                }
                count
            })
            .collect();
        assert_eq!(steps, expected);

        let mut bins = vec![5; 13];
        let mut expected = bins.clone();
        x.iter().for_each(|x| expected[*x as usize % 13] += 1);
        histogram::run(runtime, &x, &mut bins).expect("runs");
        assert_eq!(bins, expected);
    }
}

fn kernels_work_in_place(runtime: &Runtime) {
    let table: Vec<i64> = (0..8).map(|k| 3 - k * k).collect();
    for n in [0usize, 1, 5, 8_192, 8_193, 12_289, 70_000] {
        // A part of what the caller has: the rest stays as it is.
        let mut sums: Vec<i64> = (0..n as i64 + 7).collect();
        let mut odd: Vec<bool> = (0..n + 2).map(|i| i % 3 == 0).collect();
        let mut seen = [2; 4];
        let (mut sums_after, mut odd_after, mut seen_after) = (sums.clone(), odd.clone(), seen);
        for i in 0..n {
            let sum = &mut sums_after[i + 4];
            *sum -= table[i & 7] * -5;
            odd_after[i + 1] ^= *sum & 1 == 1;
            seen_after[i & 3] = seen_after[i & 3].max(i as u32);
        }
        let report = mixed::run(
            runtime,
            -5,
            &table,
            &mut sums[4..n + 4],
            &mut odd[1..=n],
            &mut seen,
        );
        assert!(report.expect("runs").rounds.is_empty());
        assert_eq!((sums, odd, seen), (sums_after, odd_after, seen_after));
    }
}

fn a_trap_leaves_slices_as_they_were(runtime: &Runtime) {
    for (n, zero) in [(3, 1), (40_000, 39_999), (40_000, 20_000)] {
        let mut x: Vec<u32> = (1..=n).collect();
        let (mut share, mut count) = (vec![7; n as usize], [9]);
        shares::run(runtime, 1_000, &x, &mut share, &mut count).expect("divides");
        let expected: Vec<u32> = x.iter().map(|x| 1_000 / x).collect();
        assert_eq!((&share, count), (&expected, [9 + n]));
        x[zero as usize] = 0;
        let error = shares::run(runtime, 2_000, &x, &mut share, &mut count).unwrap_err();
        let Error::Trap(trap) = error else {
            panic!("{error}");
        };
        assert_eq!((trap.kind, trap.item), (TrapKind::DivideByZero, Some(zero)));
        assert_eq!((&share, count), (&expected, [9 + n]));
    }
}

fn nested_fixpoints_agree(runtime: &Runtime) {
    for directed in [random_graph(60, 40), random_graph(300, 330)] {
        let graph = both_ways(&directed);
        let label = component_labels(&graph);
        let mut session = floods::Session::new(runtime, &graph).expect("a session");
        for _ in 0..2 {
            let out = session.run(floods::Run {}).expect("runs");
            assert_eq!(out.label, label);
            let roots = (0..).zip(&label).filter(|(v, l)| v == *l).count() as u64;
            assert_eq!(out.report.rounds[0], roots + 1);
            // The inner fixpoint's last entry finds nothing to do.
            assert_eq!((out.least, out.reached), (UNSEEN, 0));
        }
    }
}

fn swapped_buffers_agree(runtime: &Runtime) {
    for graph in graphs() {
        let mut session = walks::Session::new(runtime, &graph).expect("a session");
        for last in [4, 7] {
            let mut walks = [vec![0u64; graph.node_count()], vec![1; graph.node_count()]];
            for _ in 0..=last {
                let mut next = vec![0u64; graph.node_count()];
                for (v, &walks) in (0..).zip(&walks[1]) {
                    for w in graph.neighbors(v) {
                        next[w as usize] = next[w as usize].wrapping_add(walks);
                    }
                }
                walks = [std::mem::take(&mut walks[1]), next];
            }
            let out = session.run(walks::Run { last }).expect("runs");
            assert_eq!([out.before, out.now], walks);
            assert_eq!(out.report.total_rounds(), u64::from(last) + 1);
        }
    }
}

fn runs_say_how_long_they_took(runtime: &Runtime) {
    let graph = random_graph(60, 40);
    let mut session = walks::Session::new(runtime, &graph).expect("a session");
    let one = session.run(walks::Run { last: 7 }).expect("runs");
    let series = [3, 7].map(|last| walks::Run { last });
    let several = session.run_series(series).expect("runs");
    // A played device has a clock of its own, which counts what it does.
    let device = runtime.cuda_device();
    let is_played = device.is_some_and(|device| device.name() == "a played device");
    for report in [one.report, several.report] {
        assert!(report.wall_ns > 0);
        let most = if is_played { u64::MAX } else { report.wall_ns };
        assert!(report.device_ns.is_none_or(|ns| ns > 0 && ns <= most));
    }
}

fn unequal_slices_are_refused(runtime: &Runtime) {
    let mut y = [1.0; 4];
    let error = saxpy::run(runtime, 1.0, &[1.0; 3], &mut y).unwrap_err();
    assert!(matches!(error, Error::Run(_)), "{error}");
    assert_eq!(error.to_string(), "`y` has 4 elements; the pass needs 3");
    let error = saxpy::run(runtime, 1.0, &[1.0; 3], &mut []).unwrap_err();
    assert_eq!(error.to_string(), "`y` has 0 elements; the pass needs 3");
    assert_eq!(y, [1.0; 4]);
}

fn reductions_agree(runtime: &Runtime) {
    for graph in graphs() {
        let mut random = Random(5);
        let value: Vec<i32> = (0..graph.node_count())
            .map(|_| random.below(1 << 31) as i32 - 100)
            .collect();
        let mut session = statistics::Session::new(runtime, &graph).expect("a session");
        for value in [value, vec![7; graph.node_count()]] {
            let out = session
                .run(statistics::Run { value: &value })
                .expect("runs");
            let leaves = (0..graph.node_count() as u32).filter(|&v| graph.degree(v) == 0);
            assert_eq!(out.total, graph.edge_count() as u64);
            assert_eq!(Some(out.least), value.iter().copied().min());
            assert_eq!(Some(out.most), value.iter().copied().max());
            assert_eq!(out.any_negative, value.iter().any(|&x| x < 0));
            assert_eq!(out.all_small, value.iter().all(|&x| x < 1000));
            assert_eq!(out.leaves, leaves.count() as u64);
        }
    }
}

#[wave_graph]
pub mod dense {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[frontier(unique)]
        ends: Frontier,
        #[output(per = node)]
        visits: u32,
    }

    #[wave(edges(graph))]
    fn reach(e: Edge, ends: &Push) {
        for _ in 0..3 {
            ends.push(e.dst);
        }
    }

    #[wave(items(ends), after(reach))]
    fn visit(v: Node, visits: &mut u32) {
        *visits += v + 1;
    }
}

fn repeated_pushes_need_no_room(runtime: &Runtime) {
    // Each chunk of the sweep pushes far more often than there are nodes.
    let edges: Vec<(u32, u32)> = (0..30_000).map(|k| (k % 100, k * 7 % 50)).collect();
    let graph = Csr::from_edges(100, &edges).expect("edges name nodes");
    let mut session = dense::Session::new(runtime, &graph).expect("a session");
    let out = session.run(dense::Run {}).expect("fits");
    let expected: Vec<u32> = (0..100).map(|v| if v < 50 { v + 1 } else { 0 }).collect();
    assert_eq!(out.visits, expected);
}

/// Sets flow along edges.
#[wave_graph]
pub mod flows {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[topology(per = node)]
        blocks: u64,
        #[frontier(unique)]
        front: Frontier,
        #[output(per = node)]
        has: u64,
    }

    #[wave(nodes)]
    fn init(v: Node, has: &mut u64, front: &Push) {
        *has = 1 << (v & 63);
        front.push(v);
    }

    #[fixpoint(after(init), until(front.is_empty()), max_rounds = 1_000_000)]
    mod along {
        #[wave(edges(graph, from = front))]
        fn flow(e: Edge, blocks: &Buf<u64>, has: &Buf<Atomic<u64>>, front: &Push) {
            let through = has[e.src].load() & !blocks[e.dst];
            let before = has[e.dst].fetch_or(through);
            if through & !before != 0 {
                front.push(e.dst);
            }
        }
    }
}

fn flows_settle(runtime: &Runtime) {
    // Edges that lead down, so that sweeps are turned, and up, in a small graph and in one that fills all threads.
    for (nodes, down) in [(500u32, true), (20_000, true), (20_000, false)] {
        let mut random = Random(23);
        let edges: Vec<(u32, u32)> = (0..2 * nodes)
            .map(|_| {
                let (a, b) = (random.below(nodes), random.below(50));
                let other = a.saturating_sub(b);
                if down { (a, other) } else { (other, a) }
            })
            .chain([(nodes - 1, 0), (0, nodes - 1)])
            .collect();
        let graph = Csr::from_edges(nodes as usize, &edges).expect("edges name nodes");
        let blocks: Vec<u64> = (0..nodes).map(|v| 0x5555 << (v % 40)).collect();
        let mut has: Vec<u64> = (0..nodes).map(|v| 1 << (v & 63)).collect();
        let mut waiting: Vec<u32> = (0..nodes).collect();
        while let Some(v) = waiting.pop() {
            for w in graph.neighbors(v) {
                let through = has[v as usize] & !blocks[w as usize];
                if through & !has[w as usize] != 0 {
                    has[w as usize] |= through;
                    waiting.push(w);
                }
            }
        }
        let topology = flows::Topology {
            graph: &graph,
            blocks: &blocks,
        };
        let mut session = flows::Session::new(runtime, topology).expect("a session");
        for _ in 0..2 {
            assert_eq!(session.run(flows::Run {}).expect("runs").has, has);
        }
    }
}

/// Two waves of a round push the same nodes, and a node is pushed by many chunks.
#[wave_graph]
pub mod gathered {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[frontier(unique)]
        front: Frontier,
        #[frontier(unique)]
        next: Frontier,
        #[output(per = node)]
        visits: u32,
        #[reduce(count)]
        all: u64,
        rounds: u32,
    }

    #[wave(nodes)]
    fn init(v: Node, front: &Push) {
        front.push(v);
    }

    #[fixpoint(after(init), until(round == rounds), max_rounds = 100_000)]
    mod steps {
        #[wave(edges(graph, from = front))]
        fn out(e: Edge, next: &Push) {
            next.push(e.dst);
            next.push(e.src / 2);
        }

        #[wave(items(front))]
        fn stay(v: Node, next: &Push, front: &Push) {
            next.push(v / 3);
            front.push(v);
        }

        #[wave(items(next))]
        fn visit(visits: &mut u32, all: &Reduce<Count>) {
            *visits += 1;
            all.inc();
        }
    }
}

fn unique_frontiers_hold_each_node_once(runtime: &Runtime) {
    // Small rounds, more of them than there are stamps; and large ones, on all threads.
    for (nodes, edges, rounds) in [(3, 4, 5_000), (30_000, 100_000, 2)] {
        let graph = random_graph(nodes, edges);
        let mut expected = vec![0; nodes as usize];
        for v in 0..nodes {
            expected[v as usize / 3] = 1;
            if graph.degree(v) > 0 {
                expected[v as usize / 2] = 1;
            }
            for w in graph.neighbors(v) {
                expected[w as usize] = 1;
            }
        }
        // A frontier flips when a round begins: what one round gathers, the next one visits.
        let all = expected.iter().map(|&x| u64::from(x)).sum();
        let expected: Vec<u32> = expected.iter().map(|x| x * rounds).collect();
        let mut session = gathered::Session::new(runtime, &graph).expect("a session");
        for _ in 0..2 {
            let out = session.run(gathered::Run { rounds }).expect("runs");
            assert_eq!((&out.visits, out.all), (&expected, all));
        }
    }
}

fn fault(session: &mut faults::Session, way: u32) -> Trap {
    match session.run(faults::Run { way }) {
        Err(Error::Trap(trap)) => *trap,
        other => panic!("way {way} traps, but gave {other:?}"),
    }
}

fn traps_agree(runtime: &Runtime) {
    use TrapKind::*;
    let graph = random_graph(20_000, 90);
    let mut session = faults::Session::new(runtime, &graph).expect("a session");
    let mut lines = Vec::new();
    for (way, kind, index, len) in [
        (1, IndexOutOfBounds, 20_000, 20_000),
        (2, DivideByZero, 0, 0),
        (3, DivideOverflow, 0, 0),
        (4, Assert, 0, 0),
        (5, IndexOutOfBounds, 20_000, 20_000),
        (6, IndexOutOfBounds, 305, 90),
        (7, IndexOutOfBounds, 20_000, 20_000),
    ] {
        let trap = fault(&mut session, way);
        let item = match way {
            1 => 19_900,
            5 => 19_800,
            7 => 19_600,
            _ => 5,
        };
        assert_eq!((trap.kind, trap.index, trap.len), (kind, index, len));
        assert_eq!((trap.kernel.as_str(), trap.item), ("fail", Some(item)));
        assert_eq!(trap.site.file, file!());
        lines.push(trap.site.line);
        // The session is as it was.
        assert!(session.run(faults::Run { way: 0 }).is_ok());
    }
    let first = lines[0];
    let expected: Vec<u32> = (0..7).map(|way| first + 2 * way).collect();
    assert_eq!(lines, expected);

    let trap = fault(&mut session, 8);
    assert_eq!(
        (trap.kind, trap.index, trap.len),
        (FrontierOverflow, 19_995, 4)
    );
    assert_eq!((trap.kernel.as_str(), trap.item), ("fail", None));
    assert_eq!(trap.site.line, first + 12);

    let trap = fault(&mut session, 9);
    assert_eq!((trap.kind, trap.len), (RoundLimit, 17));
    assert_eq!((trap.kernel.as_str(), trap.item), ("forever", None));
    assert!(session.run(faults::Run { way: 0 }).is_ok());
}

backend_tests!(
    bfs_agrees,
    sssp_agrees,
    components_agree,
    pagerank_agrees,
    kernels_agree,
    runs_say_how_long_they_took,
    unequal_slices_are_refused,
    kernels_work_in_place,
    a_trap_leaves_slices_as_they_were,
    reductions_agree,
    nested_fixpoints_agree,
    swapped_buffers_agree,
    repeated_pushes_need_no_room,
    unique_frontiers_hold_each_node_once,
    flows_settle,
    traps_agree,
);

#[test]
#[ignore = "needs a CUDA device"]
fn the_device_says_where_its_code_comes_from() {
    let runtime = vyre_tests::cuda();
    let device = runtime.cuda_device().expect("it is one");
    let said = runtime.to_string();
    let asked = std::env::var("VYRE_PTX").as_deref() == Ok("1");
    match device.code() {
        &Code::Cubin { major, minor } => {
            assert!(!asked, "{said}");
            let (its_major, its_minor) = device.capability();
            assert!(major == its_major && minor <= its_minor, "{major}.{minor}");
            assert_eq!(said, format!("cuda ({})", device.name()));
        }
        Code::Ptx(why) => {
            assert_eq!(*why == NoCubin::Asked, asked, "{said}");
            let ours = matches!(why, NoCubin::Stale { .. } | NoCubin::Refused { .. });
            assert!(!ours, "{said}");
            assert!(said.ends_with(&why.to_string()), "{said}");
        }
    }
}

#[test]
#[ignore = "needs a CUDA device"]
fn what_the_driver_compiles_agrees_too() {
    let this = std::env::current_exe().expect("it runs");
    let again = Command::new(this)
        .args(["--ignored", "--test-threads=1"])
        .args([
            "backends::cuda::",
            "backends::the_device_says_where_its_code_comes_from",
        ])
        .env("VYRE_PTX", "1")
        .output()
        .expect("it runs again");
    let said = String::from_utf8_lossy(&again.stdout);
    assert!(again.status.success(), "{said}");
    assert!(said.contains("test result: ok. 17 passed"), "{said}");
}

#[wave_graph]
pub mod far {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[topology(per = edge(graph))]
        weight: u32,
        #[frontier]
        front: Frontier,
        #[input(per = node)]
        share: u32,
        #[output(per = node)]
        sum: u32,
        bad: u32,
    }

    #[wave(nodes)]
    fn init(v: Node, front: &Push) {
        if v & 63 == 0 {
            front.push(v);
        }
    }

    #[wave(edges(graph, from = front), after(init))]
    fn gather(e: Edge, weight: &u32, share: &Buf<u32>, sum: &Buf<Atomic<u32>>, bad: u32) {
        assert!(e.index % 4_000 != bad, "a bad edge");
        sum[e.dst].fetch_add(*weight * share[e.src]);
    }
}

/// A graph that fits in no cache: what lanes will look at is asked for ahead.
#[test]
fn a_large_graph_is_swept_edge_by_edge() {
    const NODES: u32 = 1 << 20;
    let offsets: Vec<u32> = (0..=NODES).map(|v| 8 * v).collect();
    let target = |e: u32| (e / 8 + e % 8 * 77) % NODES;
    let targets: Vec<u32> = (0..8 * NODES).map(target).collect();
    let graph = Csr::new(offsets, targets).expect("a graph");
    let weight: Vec<u32> = (0..8 * NODES).map(|e| e % 9).collect();
    let share: Vec<u32> = (0..NODES).map(|v| v % 11).collect();
    let mut expected = vec![0; NODES as usize];
    for v in (0..NODES).step_by(64) {
        for e in 8 * v..8 * v + 8 {
            expected[target(e) as usize] += weight[e as usize] * share[v as usize];
        }
    }
    let topology = far::Topology {
        graph: &graph,
        weight: &weight,
    };
    let mut session = far::Session::new(&Runtime::native(), topology).expect("a session");
    let run = |bad| far::Run { share: &share, bad };
    assert_eq!(session.run(run(4_000)).expect("runs").sum, expected);
    // One edge of every item, in all chunks; the others run all the same.
    for (bad, item) in [(3, 3), (0, 0), (7, 7)] {
        let Err(Error::Trap(trap)) = session.run(run(bad)) else {
            panic!("edges trap");
        };
        assert_eq!((trap.kind, trap.item), (TrapKind::Assert, Some(item)));
    }
    assert_eq!(session.run(run(5_000)).expect("runs").sum, expected);
}

#[test]
fn threads_make_no_difference() {
    for threads in [1, 2, 7] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build().expect("a pool").install(|| {
            let runtime = Runtime::native();
            kernels_agree(&runtime);
            kernels_work_in_place(&runtime);
            a_trap_leaves_slices_as_they_were(&runtime);
            unique_frontiers_hold_each_node_once(&runtime);
            flows_settle(&runtime);
            reductions_agree(&runtime);
        });
    }
}

#[test]
fn native_and_vir0_report_the_same_trap() {
    let graph = random_graph(100, 90);
    let session = |runtime| faults::Session::new(&runtime, &graph).expect("a session");
    let (mut native, mut vir0) = (session(Runtime::native()), session(Runtime::vir0()));
    for way in 1..=10 {
        let (a, b) = (fault(&mut native, way), fault(&mut vir0, way));
        assert_eq!(a, b);
        let message = match way {
            9 => Some("`way` is 9"),
            10 => Some("high nodes {fail}"),
            _ => None,
        };
        assert_eq!(a.message.as_deref(), message);
    }
}
