//! Searches that the native executor and the megakernel may pull: which waves, when they do, and that nothing
//! else changes.

use vyre::cuda::fake::{Fake, Transcript};
use vyre::prelude::*;
use vyre::{Error, Plan, RoutePolicy};
use vyre_core::plan::pull::{Claim, Taken, claim};
use vyre_core::plan::thresholds::Thresholds;
use vyre_core::vir0::module::{BufferId, Domain};
use vyre_core::vir0::trap::TrapKind;
use vyre_tests::graphs::{UNSEEN, directed, ends, sorted, undirected};
use vyre_tests::passes::{bfs, marks, regions};
use vyre_tests::random::Random;

/// Searches whose only wave does more than claim, or less.
macro_rules! searches {
    ($($(#[$about:meta])* $name:ident($($parameters:tt)*) $body:block)*) => {$(
        $(#[$about])*
        #[wave_graph]
        mod $name {
            struct Data {
                #[topology]
                graph: Csr,
                #[frontier]
                front: Frontier,
                #[output(per = node)]
                a: u32,
                #[output(per = node)]
                b: u32,
                #[output(per = 4)]
                few: u32,
                #[reduce(count)]
                lanes: u64,
            }

            #[fixpoint(until(front.is_empty()), max_rounds = 2)]
            mod rounds {
                #[wave(edges(graph, from = front))]
                fn step($($parameters)*) $body
            }
        }
    )*};
}

searches! {
    /// The value depends on who was first.
    parents(e: Edge, a: &Buf<Atomic<u32>>, front: &Push) {
        if a[e.dst].compare_exchange(0, e.src) {
            front.push(e.dst);
        }
    }

    /// So does this one.
    indices(e: Edge, a: &Buf<Atomic<u32>>, front: &Push) {
        if a[e.dst].compare_exchange(0, e.index) {
            front.push(e.dst);
        }
    }

    /// Every edge that improves something pushes.
    lowering(e: Edge, round: Round, a: &Buf<Atomic<u32>>, front: &Push) {
        if a[e.dst].fetch_min(round) > round {
            front.push(e.dst);
        }
    }

    /// Each lane leaves a trace.
    counting(e: Edge, a: &Buf<Atomic<u32>>, front: &Push, lanes: &Reduce<Count>) {
        lanes.inc();
        if a[e.dst].compare_exchange(0, 1) {
            front.push(e.dst);
        }
    }

    /// The loser does something.
    losing(e: Edge, a: &Buf<Atomic<u32>>, front: &Push) {
        if !a[e.dst].compare_exchange(0, 1) {
            front.push(e.dst);
        }
    }

    /// And here.
    otherwise(e: Edge, a: &Buf<Atomic<u32>>, b: &Buf<Atomic<u32>>, front: &Push) {
        if a[e.dst].compare_exchange(0, 1) {
            front.push(e.dst);
        } else {
            b[e.dst].store(1);
        }
    }

    /// The second claim sees who made the first.
    twice(e: Edge, a: &Buf<Atomic<u32>>, front: &Push) {
        if a[e.dst].compare_exchange(0, 1) {
            front.push(e.dst);
        }
        if a[e.dst].compare_exchange(1, 2) {
            front.push(e.dst);
        }
    }

    /// Whether it claims depends on more than the destination's own element.
    guarded(e: Edge, a: &Buf<Atomic<u32>>, b: &Buf<Atomic<u32>>, front: &Push) {
        if b[e.dst].load() == 0 && a[e.dst].compare_exchange(0, 1) {
            front.push(e.dst);
        }
    }

    /// A claim that can trap, and then names an edge.
    short(e: Edge, few: &Buf<Atomic<u32>>, front: &Push) {
        if few[e.dst].compare_exchange(0, 1) {
            front.push(e.dst);
        }
    }

    /// A look that can trap.
    peeking(e: Edge, a: &Buf<Atomic<u32>>, few: &Buf<Atomic<u32>>, front: &Push) {
        if few[e.dst].load() == 0 {
            few[0].store(1);
        }
        if a[e.dst].compare_exchange(0, 1) {
            front.push(e.dst);
        }
    }

    /// Pushes what is there already.
    back(e: Edge, a: &Buf<Atomic<u32>>, front: &Push) {
        if a[e.dst].compare_exchange(0, 1) {
            front.push(0);
        }
    }

    /// Claims push twice, or not always.
    doubling(e: Edge, a: &Buf<Atomic<u32>>, front: &Push) {
        if a[e.dst].compare_exchange(0, 1) {
            front.push(e.dst);
            front.push(e.dst);
        }
    }

    /// As above.
    choosing(e: Edge, a: &Buf<Atomic<u32>>, b: &Buf<Atomic<u32>>, front: &Push) {
        if a[e.dst].compare_exchange(0, 1) && b[e.dst].load() == 0 {
            front.push(e.dst);
        }
    }

    /// This one is nothing but a claim, without a push.
    quiet(e: Edge, a: &Buf<Atomic<u32>>) {
        a[e.dst].compare_exchange(0, 1);
    }
}

/// A claim beside a wave of the same rounds that takes it back.
#[wave_graph]
mod undone {
    struct Data {
        #[topology]
        graph: Csr,
        #[frontier]
        front: Frontier,
        #[output(per = node)]
        mark: u32,
    }

    #[fixpoint(until(front.is_empty()), max_rounds = 2)]
    mod rounds {
        #[wave(edges(graph, from = front))]
        fn claim(e: Edge, mark: &Buf<Atomic<u32>>, front: &Push) {
            if mark[e.dst].compare_exchange(0, 1) {
                front.push(e.dst);
            }
        }

        #[wave(items(front), after(claim))]
        fn release(v: Node, mark: &Buf<Atomic<u32>>) {
            mark[v].store(0);
        }
    }
}

/// How the waves that sweep a frontier's edges claim.
fn claims(plan: Plan) -> Vec<Option<Claim>> {
    let p = plan.program();
    let sweeps = p.waves.iter();
    let sweeps = sweeps.filter(|w| matches!(w.domain, Domain::EdgesFrom(..)));
    sweeps.map(|w| claim(&p, w)).collect()
}

fn free_and_taken(plan: Plan) -> Option<(u32, Taken)> {
    let claims = claims(plan);
    assert_eq!(claims.len(), 1);
    claims[0].map(|claim| (claim.free, claim.taken))
}

#[test]
fn claims_are_recognised() {
    let found = [bfs::PLAN, marks::PLAN, regions::PLAN, quiet::PLAN].map(free_and_taken);
    let expected = [
        (UNSEEN, Taken::Round(1)),
        (0, Taken::Constant(7)),
        (0, Taken::Round(2)),
        (0, Taken::Constant(1)),
    ];
    assert_eq!(found, expected.map(Some));
}

#[test]
fn what_claims_push_is_known_where_it_is_one_node() {
    let plans = [
        bfs::PLAN,
        marks::PLAN,
        regions::PLAN,
        doubling::PLAN,
        choosing::PLAN,
        quiet::PLAN,
    ];
    let pushes = plans.map(|plan| claims(plan)[0].map(|c| c.pushes));
    assert_eq!(pushes, [true, true, true, false, false, false].map(Some));
}

#[test]
fn what_is_more_than_a_claim_is_refused() {
    let plans = [
        parents::PLAN,
        indices::PLAN,
        lowering::PLAN,
        counting::PLAN,
        losing::PLAN,
        otherwise::PLAN,
        twice::PLAN,
        guarded::PLAN,
        short::PLAN,
        peeking::PLAN,
        back::PLAN,
        undone::PLAN,
    ];
    assert_eq!(plans.map(free_and_taken), [None; 12]);
}

#[test]
fn plans_say_which_waves_may_pull() {
    let says = |plan: Plan| plan.to_string().matches("may pull").count();
    assert_eq!(says(bfs::PLAN), 1);
    assert_eq!(says(marks::PLAN), 1);
    assert_eq!(says(undone::PLAN), 0);
}

/// A claim that stores what it looks for claims again and again, and then nothing tells who was claimed.
#[test]
fn claims_that_store_the_free_value_do_not_hold() {
    let claim = |free, taken| Claim {
        buffer: BufferId(0),
        free,
        taken,
        pushes: true,
    };
    assert!(claim(0, Taken::Constant(7)).holds_in(u32::MAX));
    assert!(!claim(7, Taken::Constant(7)).holds_in(0));
    let search = claim(UNSEEN, Taken::Round(1));
    assert!(search.holds_in(UNSEEN - 2));
    assert!(!search.holds_in(UNSEEN - 1));
    assert!(!search.holds_in(UNSEEN));
    let early = claim(5, Taken::Round(1));
    assert!(early.holds_in(3));
    assert!(!early.holds_in(4));
    assert!(!early.holds_in(9));
}

/// Runs until the session knows its graph, and once more: sweeps that pulled in the last run.
fn search(graph: &Csr, source: u32) -> u64 {
    search_on(&Runtime::native(), graph, source)
}

fn search_on(runtime: &Runtime, graph: &Csr, source: u32) -> u64 {
    let mut reference = bfs::Session::new(&Runtime::vir0(), graph).expect("a session");
    let expected = reference.run(bfs::Run { source }).expect("runs");
    let mut session = bfs::Session::new(runtime, graph).expect("a session");
    let mut pulled = 0;
    for _ in 0..6 {
        let out = session.run(bfs::Run { source }).expect("runs");
        assert_eq!(out.dist, expected.dist);
        assert_eq!(out.report.rounds, expected.report.rounds);
        let (ours, theirs) = (out.report.activity, expected.report.activity);
        let (ours, theirs) = (ours.expect("counted"), theirs.expect("counted"));
        assert_eq!(
            (ours.sweeps, ours.items, ours.widest),
            (theirs.sweeps, theirs.items, theirs.widest)
        );
        pulled = ours.pulled;
    }
    pulled
}

#[test]
fn symmetric_graphs_are_searched_from_the_other_side() {
    for seed in 0..4 {
        let nodes = 3_000 + 7_000 * seed as u32;
        let graph = undirected(nodes, 12 * nodes, seed);
        for source in [0, 1, nodes / 2] {
            assert!(search(&graph, source) > 0, "seed {seed}, source {source}");
        }
        // A node without edges.
        assert_eq!(search(&graph, nodes - 1), 0);
    }
}

#[test]
fn one_edge_without_its_opposite_keeps_a_search_pushing() {
    let mut edges = ends(5_000, 60_000, 9);
    edges.extend(edges.clone().iter().map(|&(a, b)| (b, a)));
    assert!(search(&sorted(5_000, edges.clone()), 0) > 0);
    edges.push((4_999, 0));
    assert_eq!(search(&sorted(5_000, edges.clone()), 0), 0);
    // As many of each, but not between the same nodes.
    edges.push((1, 4_999));
    assert_eq!(search(&sorted(5_000, edges), 0), 0);
}

#[test]
fn directed_graphs_push_where_the_pass_has_no_reverse() {
    for seed in 0..4 {
        assert_eq!(search(&directed(8_000, 100_000, seed), 0), 0);
    }
}

#[test]
fn directed_graphs_pull_where_the_pass_has_the_reverse() {
    for seed in 0..4 {
        let nodes = 2_000 + 9_000 * seed as u32;
        let graph = directed(nodes, 15 * nodes, seed);
        let mut starts = Random(seed + 100);
        for every in [nodes, 200, 3] {
            let start: Vec<bool> = (0..nodes)
                .map(|v| v == 0 || starts.below(every) == 0)
                .collect();
            let run = || marks::Run { start: &start };
            let mut reference = marks::Session::new(&Runtime::vir0(), &graph).expect("a session");
            let mut session = marks::Session::new(&Runtime::native(), &graph).expect("a session");
            let expected = reference.run(run()).expect("runs");
            for _ in 0..2 {
                let out = session.run(run()).expect("runs");
                assert_eq!(out.mark, expected.mark);
                assert_eq!(out.fans, expected.fans);
                assert_eq!(out.report.rounds, expected.report.rounds);
                let pulled = out.report.activity.expect("counted").pulled;
                assert!(pulled > 0, "{nodes} nodes, one in {every}");
            }
        }
    }
}

#[test]
fn searches_within_a_fixpoint_start_anew() {
    for seed in 0..3 {
        let graph = undirected(6_000, 40_000, seed);
        let mut reference = regions::Session::new(&Runtime::vir0(), &graph).expect("a session");
        let mut session = regions::Session::new(&Runtime::native(), &graph).expect("a session");
        let mut pulled = 0;
        for stride in [6_000, 500, 37] {
            let expected = reference.run(regions::Run { stride }).expect("runs");
            for _ in 0..4 {
                let out = session.run(regions::Run { stride }).expect("runs");
                assert_eq!(out.region, expected.region);
                assert_eq!(out.report.rounds, expected.report.rounds);
                pulled += out.report.activity.expect("counted").pulled;
            }
        }
        assert!(pulled > 0, "seed {seed}");
    }
}

#[test]
fn batches_and_updates_pull_as_runs_do() {
    let (one, other) = (undirected(9_000, 90_000, 1), directed(9_000, 90_000, 2));
    let mut session = bfs::Session::new(&Runtime::native(), &one).expect("a session");
    for graph in [&one, &other, &one] {
        session.update(graph).expect("updates");
        let mut reference = bfs::Session::new(&Runtime::vir0(), graph).expect("a session");
        let sources: Vec<u32> = (0..24).map(|i| i * 370).collect();
        for &source in &sources {
            session.submit(bfs::Run { source }, 0);
        }
        let batch = session.run_batch().expect("runs");
        for (&source, (_, result)) in sources.iter().zip(&batch.results) {
            let expected = reference.run(bfs::Run { source }).expect("runs");
            let out = result.as_ref().expect("runs");
            assert_eq!(out.dist, expected.dist, "from {source}");
        }
    }
}

/// Its frontier has room for fewer nodes than some graphs have, and its rounds are few.
#[wave_graph]
mod bounded {
    struct Data {
        #[topology]
        graph: Csr,
        #[topology(reverse_of = graph)]
        back: Csr,
        #[frontier(capacity = 12_000)]
        front: Frontier,
        #[output(per = node)]
        dist: u32,
        #[output(per = node)]
        fans: u32,
    }

    #[wave(nodes)]
    fn init(v: Node, back: &Csr, fans: &mut u32, dist: &mut u32, front: &Push) {
        *fans = back.degree(v);
        *dist = 99;
        if v == 0 {
            *dist = 0;
            front.push(v);
        }
    }

    #[fixpoint(after(init), until(front.is_empty()), max_rounds = 4)]
    mod levels {
        #[wave(edges(graph, from = front))]
        fn relax(e: Edge, round: Round, dist: &Buf<Atomic<u32>>, front: &Push) {
            if dist[e.dst].compare_exchange(99, round + 1) {
                front.push(e.dst);
            }
        }
    }
}

fn limits(runtime: &Runtime) {
    for (nodes, edges, kind) in [
        (9_000, 150_000, None),
        (12_000, 70_000, Some(TrapKind::RoundLimit)),
        (60_000, 1_000_000, Some(TrapKind::FrontierOverflow)),
    ] {
        let graph = undirected(nodes, edges, 8);
        let mut reference = bounded::Session::new(&Runtime::vir0(), &graph).expect("a session");
        let expected = reference.run(bounded::Run {});
        let mut session = bounded::Session::new(runtime, &graph).expect("a session");
        for _ in 0..3 {
            match (&expected, session.run(bounded::Run {})) {
                (Ok(expected), Ok(out)) => {
                    assert_eq!(kind, None);
                    assert_eq!(out.dist, expected.dist);
                    assert!(out.report.activity.expect("counted").pulled > 0);
                }
                (Err(Error::Trap(expected)), Err(Error::Trap(trap))) => {
                    assert_eq!(Some(trap.kind), kind);
                    assert_eq!(&trap, expected);
                }
                (expected, actual) => panic!("{:?} and {:?}", expected.is_ok(), actual.err()),
            }
        }
    }
}

#[test]
fn limits_of_rounds_and_frontiers_trap_alike() {
    limits(&Runtime::native());
}

/// A played device pushes, whatever it is told; but the host asks it what it asks a device.
#[test]
fn a_device_is_asked_once_whether_a_graph_is_its_own_reverse() {
    for (graph, is_own) in [
        (undirected(2_000, 20_000, 9), true),
        (directed(2_000, 30_000, 1), false),
    ] {
        let opened = Transcript::of_fake(&Fake::default());
        let (cuda, transcript) = opened.expect("nothing fails");
        let runtime = vyre_tests::on(cuda).with_route(RoutePolicy::Interpreter);
        let thresholds = Thresholds {
            pull_from: 1,
            ..*runtime.thresholds()
        };
        let runtime = runtime.with_thresholds(thresholds);
        assert_eq!(search_on(&runtime, &graph, 0), 0);
        let text = transcript.text();
        // The graph's two halves, its two sizes, and where the answer goes.
        let questions = (text.lines())
            .filter(|line| line.contains(": launch (") && line.matches(", ").count() == 4);
        assert_eq!(questions.count(), 1, "{text}");
        // Three bitmaps of 2,048 nodes.
        let bitmaps = (text.lines())
            .filter(|line| line.ends_with(": 768 bytes") && line.starts_with("allocation"));
        assert_eq!(bitmaps.count(), usize::from(is_own), "{text}");
    }
}

/// The same on a GPU, where a frontier of any size is worth the barriers.
mod cuda {
    use super::*;

    fn runtime() -> Runtime {
        let runtime = vyre_tests::cuda();
        let thresholds = Thresholds {
            pull_from: 1,
            ..*runtime.thresholds()
        };
        runtime.with_thresholds(thresholds)
    }

    #[test]
    #[ignore = "needs a CUDA device"]
    fn symmetric_graphs_are_searched_from_the_other_side() {
        for (nodes, edges) in [(3_000, 40_000), (20_001, 300_000), (70_016, 900_000)] {
            let graph = undirected(nodes, edges, nodes.into());
            for source in [0, 1, nodes / 2] {
                let pulled = search_on(&runtime(), &graph, source);
                assert!(pulled > 0, "{nodes} nodes, source {source}");
            }
            // A node without edges.
            assert_eq!(search_on(&runtime(), &graph, nodes - 1), 0);
        }
    }

    #[test]
    #[ignore = "needs a CUDA device"]
    fn rounds_of_all_kinds_follow_each_other() {
        // Two dense parts, and a path between them: narrow, wide, narrow, wide.
        for length in [1, 2, 50, 700] {
            let (nodes, edges) = (9_000, 120_000);
            let mut all = ends(nodes, edges, 5);
            all.extend(
                ends(nodes, edges, 6)
                    .iter()
                    .map(|&(a, b)| (a + 10_000, b + 10_000)),
            );
            let mut before = 1;
            for i in 0..length {
                all.push((before, 20_000 + i));
                before = 20_000 + i;
            }
            all.push((before, 10_001));
            // A node with edges to everything, one with edges to a third, and a node of nothing but loops.
            all.extend((0..9_000).map(|v| (19_999, v)));
            all.extend((10_000..15_000).map(|v| (19_998, v)));
            all.extend((0..700).map(|_| (3, 3)));
            all.extend(all.clone().iter().map(|&(a, b)| (b, a)));
            let graph = sorted(21_000, all);
            for source in [0, 19_999, 10_000] {
                assert!(
                    search_on(&runtime(), &graph, source) > 0,
                    "{length}, {source}"
                );
            }
        }
    }

    #[test]
    #[ignore = "needs a CUDA device"]
    fn small_graphs_and_stars_agree() {
        for nodes in [1, 2, 31, 32, 33, 127, 128, 129, 1_000, 40_000] {
            let star = (1..nodes).flat_map(|v| [(0, v), (v, 0)]).collect();
            let star = sorted(nodes, star);
            for source in [0, nodes - 1] {
                search_on(&runtime(), &star, source);
            }
            let clique = nodes.min(300);
            let all = (0..clique * clique).map(|i| (i / clique, i % clique));
            search_on(&runtime(), &sorted(nodes, all.collect()), 0);
        }
    }

    #[test]
    #[ignore = "needs a CUDA device"]
    fn one_edge_without_its_opposite_keeps_a_search_pushing() {
        let mut edges = ends(5_000, 60_000, 9);
        edges.extend(edges.clone().iter().map(|&(a, b)| (b, a)));
        assert!(search_on(&runtime(), &sorted(5_000, edges.clone()), 0) > 0);
        edges.push((4_999, 0));
        assert_eq!(search_on(&runtime(), &sorted(5_000, edges.clone()), 0), 0);
        edges.push((1, 4_999));
        assert_eq!(search_on(&runtime(), &sorted(5_000, edges), 0), 0);
        // Once more than its opposite, and out of order.
        let mut edges = ends(5_000, 60_000, 9);
        edges.extend(edges.clone().iter().map(|&(a, b)| (b, a)));
        edges.push(edges[0]);
        assert_eq!(search_on(&runtime(), &sorted(5_000, edges), 0), 0);
        for seed in 0..2 {
            assert_eq!(search_on(&runtime(), &directed(8_000, 100_000, seed), 0), 0);
        }
    }

    #[test]
    #[ignore = "needs a CUDA device"]
    fn directed_graphs_pull_where_the_pass_has_the_reverse() {
        for (seed, nodes) in [(1, 11_000), (2, 64_000)] {
            let graph = directed(nodes, 15 * nodes, seed);
            let mut reference = marks::Session::new(&Runtime::vir0(), &graph).expect("a session");
            let mut session = marks::Session::new(&runtime(), &graph).expect("a session");
            let mut starts = Random(seed + 100);
            for every in [nodes, 1_000, 200, nodes] {
                let start: Vec<bool> = (0..nodes)
                    .map(|v| v == 0 || starts.below(every) == 0)
                    .collect();
                let run = || marks::Run { start: &start };
                let expected = reference.run(run()).expect("runs");
                let out = session.run(run()).expect("runs");
                assert_eq!(out.mark, expected.mark);
                assert_eq!(out.report.rounds, expected.report.rounds);
                let pulled = out.report.activity.expect("counted").pulled;
                assert!(pulled > 0, "{nodes} nodes, one in {every}");
            }
        }
    }

    #[test]
    #[ignore = "needs a CUDA device"]
    fn searches_within_a_fixpoint_start_anew() {
        let graph = undirected(20_000, 300_000, 3);
        let mut reference = regions::Session::new(&Runtime::vir0(), &graph).expect("a session");
        let mut session = regions::Session::new(&runtime(), &graph).expect("a session");
        let mut pulled = 0;
        for stride in [20_000, 500, 37] {
            let expected = reference.run(regions::Run { stride }).expect("runs");
            for _ in 0..3 {
                let out = session.run(regions::Run { stride }).expect("runs");
                assert_eq!(out.region, expected.region);
                assert_eq!(out.report.rounds, expected.report.rounds);
                pulled += out.report.activity.expect("counted").pulled;
            }
        }
        assert!(pulled > 0);
    }

    #[test]
    #[ignore = "needs a CUDA device"]
    fn limits_of_rounds_and_frontiers_trap_alike() {
        limits(&runtime());
    }

    #[test]
    #[ignore = "needs a CUDA device"]
    fn series_batches_and_updates_pull_as_runs_do() {
        let (one, other) = (undirected(9_000, 90_000, 1), directed(9_000, 90_000, 2));
        let large = undirected(50_000, 600_000, 4);
        let mut session = bfs::Session::new(&runtime(), &one).expect("a session");
        for graph in [&one, &other, &large, &one, &large] {
            session.update(graph).expect("updates");
            let mut reference = bfs::Session::new(&Runtime::native(), graph).expect("a session");
            let sources: Vec<u32> = (0..24).map(|i| i * 370).collect();
            for _ in 0..2 {
                let runs = sources.iter().map(|&source| bfs::Run { source });
                let out = session.run_series(runs).expect("runs");
                let expected = reference.run(bfs::Run { source: 23 * 370 }).expect("runs");
                assert_eq!(out.dist, expected.dist);
                let pulled = out.report.activity.expect("counted").pulled;
                assert!(pulled == 0 || !std::ptr::eq(graph, &other));
            }
            for &source in &sources {
                session.submit(bfs::Run { source }, 0);
            }
            let batch = session.run_batch().expect("runs");
            for (&source, (_, result)) in sources.iter().zip(&batch.results) {
                let expected = reference.run(bfs::Run { source }).expect("runs");
                let out = result.as_ref().expect("runs");
                assert_eq!(out.dist, expected.dist, "from {source}");
            }
        }
    }
}
