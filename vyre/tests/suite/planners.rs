//! What the planners answer is followed: each test flips an answer, and sees a count of the execution change.

use std::num::NonZeroU32;
use vyre::core::plan::route::Route;
use vyre::prelude::*;
use vyre::{Activity, Csr, FusedSession, Planning, Report, Thresholds};
use vyre_tests::backend_tests;
use vyre_tests::graphs::random_graph;

const NODES: u32 = 40_009; // A prime.

/// Counts at the nodes of a list of `n` different nodes, in no order.
#[wave_graph]
mod scattered {
    struct Data {
        #[topology]
        graph: Csr,
        #[frontier(unique)]
        front: Frontier,
        #[output(per = node)]
        count: u32,
        n: u32,
    }

    #[wave(range(n))]
    fn push(i: Index, front: &Push) {
        front.push(((i as u64 + 1) * 7_919 % super::NODES as u64) as u32);
    }

    #[wave(items(front), after(push))]
    fn visit(v: Node, count: &mut u32) {
        *count += 1 + v;
    }
}

/// The same, where the result shows the order: sums of floats round.
#[wave_graph]
mod summed {
    struct Data {
        #[topology]
        graph: Csr,
        #[frontier(unique)]
        front: Frontier,
        #[reduce(sum)]
        total: f32,
        n: u32,
    }

    #[wave(range(n))]
    fn push(i: Index, front: &Push) {
        front.push(((i as u64 + 1) * 7_919 % super::NODES as u64) as u32);
    }

    #[wave(items(front), after(push))]
    fn visit(v: Node, total: &Reduce<Sum<f32>>) {
        total.add(v as f32 / 3.0);
    }
}

/// Three waves of one group, of which two sweep the same, and two that share the sweeps of a fixpoint.
#[wave_graph]
mod several {
    use vyre_tests::graphs::UNSEEN;

    struct Data {
        #[topology]
        graph: Csr,
        #[frontier]
        front: Frontier,
        #[output(per = node)]
        dist: u32,
        #[output(per = node)]
        degree: u32,
        #[output(per = edge(graph))]
        from: u32,
        #[reduce(sum)]
        looked_at: u32,
        least: u32,
    }

    #[wave(nodes)]
    fn begin(v: Node, dist: &mut u32, front: &Push) {
        *dist = UNSEEN;
        if v == 0 {
            *dist = 0;
            front.push(v);
        }
    }

    #[wave(nodes)]
    fn measure(v: Node, graph: &Csr, least: u32, degree: &mut u32) {
        assert!(v >= least, "too few");
        *degree = graph.degree(v);
    }

    #[wave(edges(graph))]
    fn name(e: Edge, from: &mut u32) {
        *from = e.src;
    }

    #[fixpoint(after(begin), until(front.is_empty()), max_rounds = 1_000)]
    mod levels {
        #[wave(edges(graph, from = front))]
        fn relax(e: Edge, round: Round, dist: &Buf<Atomic<u32>>, front: &Push) {
            if dist[e.dst].compare_exchange(UNSEEN, round + 1) {
                front.push(e.dst);
            }
        }

        #[wave(edges(graph, from = front))]
        fn look(e: Edge, looked_at: &Reduce<Sum<u32>>) {
            looked_at.add(e.dst);
        }
    }
}

/// A search along edges whose reverse is there.
#[wave_graph]
mod reached {
    use vyre_tests::graphs::UNSEEN;

    struct Data {
        #[topology]
        graph: Csr,
        #[topology(reverse_of = graph)]
        back: Csr,
        #[frontier(unique)]
        front: Frontier,
        #[output(per = node)]
        dist: u32,
        #[output(per = node)]
        fans: u32,
    }

    #[wave(nodes)]
    fn begin(v: Node, back: &Csr, dist: &mut u32, fans: &mut u32, front: &Push) {
        *fans = back.degree(v);
        *dist = UNSEEN;
        if v == 0 {
            *dist = 0;
            front.push(v);
        }
    }

    #[fixpoint(after(begin), until(front.is_empty()), max_rounds = 1_000)]
    mod levels {
        #[wave(edges(graph, from = front))]
        fn relax(e: Edge, round: Round, dist: &Buf<Atomic<u32>>, front: &Push) {
            if dist[e.dst].compare_exchange(UNSEEN, round + 1) {
                front.push(e.dst);
            }
        }
    }
}

fn graph() -> Csr {
    Csr::from_edges(NODES as usize, &[(0, 1)]).expect("a graph")
}

fn routes(text: &str) -> Thresholds {
    Thresholds::read(text).expect("thresholds")
}

/// What the frontiers of a run held, and whether the result is right.
fn run(session: &mut scattered::Session, n: u32) -> Activity {
    let out = session.run(scattered::Run { n }).expect("runs");
    let expected: u64 = (1..=u64::from(n))
        .map(|i| 1 + i * 7_919 % u64::from(NODES))
        .sum();
    assert_eq!(
        out.count.iter().map(|&c| u64::from(c)).sum::<u64>(),
        expected
    );
    out.report.activity.expect("backends count")
}

/// Runs with `threads` threads, whatever the machine has.
fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.expect("threads").install(work)
}

fn a_dense_route_sweeps_a_list_in_the_order_of_the_nodes(runtime: &Runtime) {
    let graph = graph();
    let mut session = scattered::Session::new(runtime, &graph).expect("fits");
    session.set_thresholds(routes("route.dense_degree = 0"));
    assert_eq!(run(&mut session, NODES - 1).ordered, 1);
    assert_eq!(run(&mut session, 5_000).ordered, 0);
    session.set_thresholds(routes("route.dense_degree = 2"));
    assert_eq!(run(&mut session, NODES - 1).ordered, 0);
    session.set_thresholds(routes("route.dense_degree = 0\nroute.dense_density = 0.1"));
    assert_eq!(run(&mut session, 5_000).ordered, 1);
    let text = session.explain().to_string();
    assert!(
        text.contains("1 of 1 sweeps in the order of the nodes"),
        "{text}"
    );
    // A short list is left alone.
    assert_eq!(run(&mut session, 200).ordered, 0);
}

#[test]
fn a_list_whose_order_a_result_shows_keeps_it() {
    let graph = graph();
    let mut session = summed::Session::new(&Runtime::native(), &graph).expect("fits");
    let mut total = |text: &str| {
        session.set_thresholds(routes(text));
        let out = session.run(summed::Run { n: NODES - 1 }).expect("runs");
        let activity = out.report.activity.expect("counts");
        assert_eq!(activity.ordered, 0);
        out.total.to_bits()
    };
    assert_eq!(
        total("route.dense_degree = 0"),
        total("route.dense_degree = 2")
    );
}

fn the_route_that_a_wave_starts_with_is_held_near_a_threshold(runtime: &Runtime) {
    let graph = Csr::from_edges(NODES as usize, &vec![(0, 1); 2 * NODES as usize]);
    let graph = graph.expect("a graph");
    let mut session = scattered::Session::new(runtime, &graph).expect("fits");
    session.set_thresholds(routes("route.dense_degree = 1"));
    // Dense begins at 0.70, and is held down to 0.675.
    let between = (0.69 * f64::from(NODES)) as u32;
    let mut after = |before| {
        run(&mut session, before);
        let ordered = run(&mut session, between).ordered;
        let decision = session.decisions().last().expect("decided");
        (decision.sweeps.route, ordered)
    };
    assert_eq!(after(NODES - 1), (Route::BlockDense, 1));
    assert_eq!(after(200), (Route::WarpSparse, 0));
}

fn without_room_for_a_bitmap_lists_stay_lists(runtime: &Runtime) {
    let graph = Csr::from_edges(NODES as usize, &vec![(0, 1); 2 * NODES as usize]);
    let graph = graph.expect("a graph");
    let dense = routes("route.dense_degree = 1");
    let runtime = runtime.clone().with_thresholds(dense);
    let whole = runtime.clone().with_memory(1 << 30);
    let mut session = scattered::Session::new(&whole, &graph).expect("fits");
    // What chunks have beside their items is known with `n`, which a run says.
    let (_, opened) = whole.memory().expect("a budget");
    assert_eq!(run(&mut session, NODES - 1).ordered, 1);
    let bitmap = 8 * u64::from(NODES.div_ceil(64));
    let exactly = whole.memory().expect("a budget").1 - bitmap;
    drop(session);

    let tight = runtime.clone().with_memory(exactly);
    let mut session = scattered::Session::new(&tight, &graph).expect("fits");
    assert_eq!(run(&mut session, NODES - 1).ordered, 0);
    let decision = session.decisions().last().expect("decided");
    assert_eq!(decision.sweeps.route, Route::Sparse);
    let downgrade = decision.sweeps.downgrade.expect("block dense did not fit");
    assert_eq!(downgrade.from, Route::BlockDense);
    assert_eq!(downgrade.needed_bytes, opened + bitmap);
    let text = session.explain().to_string();
    assert!(
        text.contains("sweeps start sparse (block dense needs "),
        "{text}"
    );

    // Nor does a sweep take one that has become wide, where a budget that is nearly used up is not short.
    let mut used_up = dense;
    used_up.route.sparse_memory_bps = 10_001;
    session.set_thresholds(used_up);
    assert_eq!(run(&mut session, NODES - 1).ordered, 0);

    // As much as memory is short from on, and no more, has room.
    let roomy = runtime.with_memory(2 * exactly);
    let mut session = scattered::Session::new(&roomy, &graph).expect("fits");
    assert_eq!(run(&mut session, NODES - 1).ordered, 1);
    assert_eq!(roomy.memory(), Some((2 * exactly, exactly + bitmap)));
}

#[test]
fn a_route_decides_from_which_size_threads_share_a_sweep() {
    on_threads(4, || {
        let graph = graph();
        let runtime = Runtime::native();
        let mut session = scattered::Session::new(&runtime, &graph).expect("fits");
        // The sweep that pushes takes 20,000 indices, the one over the frontier 20,000 items.
        let mut shared = |text: &str| {
            session.set_thresholds(routes(&format!("parallel_from = {text}")));
            run(&mut session, 20_000).shared
        };
        assert_eq!(shared("24_000"), 1); // Only the frontier's: a fourth earlier.
        assert_eq!(shared("24_000\nroute.warp_sparse_density = 1"), 0);
        assert_eq!(shared("18_000\nroute.warp_sparse_density = 1"), 1); // Only the other one.
        assert_eq!(shared("16_000\nroute.warp_sparse_density = 1"), 2);
        assert_eq!(shared("28_000"), 0);
        let text = session.explain().to_string();
        assert!(text.contains(", 2 sweeps by all threads"), "{text}");
    });
}

/// One CTA is one thread on a CPU: no sweep is shared, and no barrier is anybody else's.
#[test]
fn the_scope_of_barriers_and_asked_ctas_decide_who_sweeps() {
    on_threads(4, || {
        let graph = graph();
        let mut session = scattered::Session::new(&Runtime::native(), &graph).expect("fits");
        assert_eq!(run(&mut session, NODES - 1).shared, 2);
        session.set_thresholds(routes("launch.lone_worker_items = 50_000"));
        assert_eq!(run(&mut session, NODES - 1).shared, 0);
        session.set_thresholds(Thresholds::default());
        session.set_workers(NonZeroU32::new(1));
        assert_eq!(run(&mut session, NODES - 1).shared, 0);
        session.set_workers(None);
        assert_eq!(run(&mut session, NODES - 1).shared, 2);
    });
}

#[test]
fn short_memory_leaves_a_sweep_to_one_thread() {
    on_threads(2, || {
        let graph = graph();
        let whole = Runtime::native().with_memory(1 << 30);
        let mut session = scattered::Session::new(&whole, &graph).expect("fits");
        assert_eq!(run(&mut session, NODES - 1).shared, 2);
        let (_, exactly) = whole.memory().expect("a budget");
        drop(session);
        let tight = Runtime::native().with_memory(exactly);
        let mut session = scattered::Session::new(&tight, &graph).expect("fits");
        assert_eq!(run(&mut session, NODES - 1).shared, 0);
        drop(session);
        // Whoever holds it.
        let both = Runtime::native().with_memory(2 * exactly);
        let mut other = scattered::Session::new(&both, &graph).expect("fits");
        assert_eq!(run(&mut other, NODES - 1).shared, 2);
        let mut session = scattered::Session::new(&both, &graph).expect("fits");
        assert_eq!(run(&mut session, NODES - 1).shared, 0);
    });
}

fn counts(planning: Planning) -> [u64; 4] {
    let Planning { sessions, launches } = planning;
    [
        sessions.hits,
        sessions.misses,
        launches.hits,
        launches.misses,
    ]
}

fn what_is_opened_again_takes_its_plan_from_the_runtime(runtime: &Runtime) {
    let (one, other) = (graph(), Csr::from_edges(7, &[(0, 1)]).expect("a graph"));
    let opened = |runtime: &Runtime, graph: &Csr| {
        let mut session = scattered::Session::new(runtime, graph).expect("fits");
        session.run(scattered::Run { n: 0 }).expect("runs");
        session.run(scattered::Run { n: 0 }).expect("runs");
        counts(runtime.planning())
    };
    assert_eq!(counts(runtime.planning()), [0; 4]);
    assert_eq!(opened(runtime, &one), [0, 1, 0, 1]);
    assert_eq!(opened(runtime, &one), [1, 1, 1, 1]);
    assert_eq!(opened(runtime, &other), [1, 2, 1, 2]);
    // A clone shares the plans; another budget asks for another one.
    assert_eq!(opened(&runtime.clone(), &one), [2, 2, 2, 2]);
    let small = runtime.clone().with_memory(1 << 30);
    assert_eq!(opened(&small, &one), [2, 3, 2, 3]);
    assert_eq!(opened(&small, &one), [3, 3, 3, 3]);
    // An update is planned as a session is.
    let mut session = scattered::Session::new(runtime, &one).expect("fits");
    session.update(&other).expect("fits");
    assert_eq!(counts(runtime.planning()), [5, 3, 3, 3]);
    // What cannot be planned is not kept.
    let none = runtime.clone().with_memory(1);
    for misses in [4, 5] {
        scattered::Session::new(&none, &one).expect_err("it does not fit");
        assert_eq!(counts(runtime.planning()), [5, misses, 3, 3]);
    }
}

fn each_kind_of_plan_is_kept_by_itself(runtime: &Runtime) {
    type Both = FusedSession<scattered::Pass, scattered::Pass>;
    let graph = graph();
    let plans = || {
        let [hits, misses, ..] = counts(runtime.planning());
        (hits, misses)
    };
    scattered::Session::new(runtime, &graph).expect("fits");
    assert_eq!(plans(), (0, 1));
    // Queries that share launches have no bitmaps.
    scattered::Sessions::new(runtime, [&graph, &graph]).expect("fits");
    assert_eq!(plans(), (1, 2));
    scattered::Sessions::new(runtime, [&graph]).expect("fits");
    scattered::Session::new(runtime, &graph).expect("fits");
    assert_eq!(plans(), (3, 2));
    // One program, or one twice under other names.
    let fused = || Both::new(runtime, (&graph, &graph), &[]).expect("fits");
    let first = u64::from(!fused().is_one_launch());
    assert_eq!(plans(), (3 + first, 3));
    fused();
    assert_eq!(plans(), (4 + 2 * first, 3));
}

/// Waves of a group are swept together where that is what the last launch lost most time by.
#[test]
fn waves_of_a_group_are_swept_together_where_a_route_says_so() {
    let graph = random_graph(2_000, 16_000);
    let mut alone = several::Session::new(&Runtime::native(), &graph).expect("fits");
    let right = alone.run(several::Run { least: 0 }).expect("runs");
    let rounds = right.report.total_rounds();
    let fused =
        "route.fused_fusion = 0.7\nroute.fused_launch_bps = 0\nroute.fused_readback_bytes = ";
    let mut session = several::Session::new(&Runtime::vir0(), &graph).expect("fits");
    let mut run = |text: &str| {
        session.set_thresholds(routes(text));
        let out = session.run(several::Run { least: 0 }).expect("runs");
        assert_eq!(
            (&out.dist, &out.degree, &out.from, out.looked_at),
            (&right.dist, &right.degree, &right.from, right.looked_at)
        );
        let activity = |report: &Report| {
            let a = report.activity.expect("counts");
            (a.sweeps, a.items, a.widest)
        };
        assert_eq!(activity(&out.report), activity(&right.report));
        let decision = session.decisions().last().expect("decided");
        assert_eq!(decision.followed.sweeps, Some(decision.sweeps.route));
        let outcome = decision.outcome.as_ref().expect("it ran");
        assert!(outcome.overhead_ns.expect("measured") <= outcome.wall_ns);
        let fused = out.report.activity.expect("counts").fused;
        let shown = format!(", {fused} sweeps of several waves");
        assert_eq!(session.explain().to_string().contains(&shown), fused > 0);
        (decision.sweeps.route == Route::FusedWave, fused)
    };
    // As the pass gives back: two columns by node, and one by edge.
    let gives = 4 * (2_000 + 2_000 + 16_000);
    let least = |bytes: u32| format!("{fused}{bytes}");
    // Nothing is known before the first run. Then `begin` and `measure` share a sweep, and the two of each round.
    assert_eq!(run(&least(0)), (false, 0));
    assert_eq!(run(&least(0)), (true, 1 + rounds));
    assert_eq!(run(&least(gives)), (true, 1 + rounds));
    assert_eq!(run(&least(gives + 1)), (false, 0));
    // All five waves have another one in their group; no run is nothing but overhead, and more.
    assert_eq!(
        run(&least(0).replace("fusion = 0.7", "fusion = 1")),
        (true, 1 + rounds)
    );
    assert_eq!(
        run(&least(0).replace("launch_bps = 0", "launch_bps = 10_001")),
        (false, 0)
    );
    assert_eq!(run(""), (false, 0));
    // Waves with a barrier between them share nothing.
    let mut apart = scattered::Session::new(&Runtime::vir0(), &graph).expect("fits");
    apart.set_thresholds(routes(&least(0)));
    for _ in 0..2 {
        apart.run(scattered::Run { n: 0 }).expect("runs");
        let decision = apart.decisions().last().expect("decided");
        assert_ne!(decision.sweeps.route, Route::FusedWave);
    }
    // A trap is that of the first wave that has one.
    session.set_thresholds(routes(&least(0)));
    let trap = |session: &mut several::Session| {
        session
            .run(several::Run { least: 5 })
            .expect_err("traps")
            .to_string()
    };
    assert_eq!(trap(&mut session), trap(&mut alone));
}

/// A device has bitmaps where the route of a launch may need them.
fn a_sparse_route_of_a_device_has_no_bitmaps(runtime: &Runtime) {
    let graph = random_graph(100_000, 1_600_000);
    let device = runtime.cuda_device().expect("it is one");
    let of = |text: &str| {
        let thresholds = runtime.thresholds().with(text).expect("thresholds");
        let runtime = runtime.clone().with_thresholds(thresholds);
        let before = device.allocated_bytes();
        let mut session = reached::Session::new(&runtime, &graph).expect("fits");
        session.run(reached::Run {}).expect("runs");
        let decision = session.decisions().last().expect("decided");
        assert_eq!(decision.followed.sweeps, Some(decision.sweeps.route));
        let text = session.explain().to_string();
        let shown = format!(" barriers, jit, sweeps start {}\n", decision.sweeps.route);
        assert!(text.contains(&shown), "{text}");
        (decision.sweeps.route, device.allocated_bytes() - before)
    };
    let (route, dense) = of("");
    assert_eq!(route, Route::BlockDense);
    let (route, sparse) = of("route.sparse_density = 1");
    assert_eq!(route, Route::Sparse);
    // Three times a bit a node, in units of 128 and then 256 bytes.
    assert_eq!(dense - sparse, 3 * 12_544);
}

/// A device's own default has all of them.
fn a_sparse_frontier_has_fewer_ctas_where_a_threshold_says_so(runtime: &Runtime) {
    let graph = graph();
    let mut session = scattered::Session::new(runtime, &graph).expect("fits");
    let mut workers = |text: &str| {
        session.set_thresholds(runtime.thresholds().with(text).expect("thresholds"));
        run(&mut session, 10);
        let decision = session.decisions().last().expect("decided");
        (decision.launch.workers, decision.followed.workers)
    };
    let _first = workers("");
    let all = runtime.cuda_device().expect("it is one").multiprocessors();
    assert_eq!(workers("launch.sparse_workers = 32"), (32, 32));
    assert_eq!(workers(""), (all, all));
}

/// Each CTA of a batch has a state, so that fewer of them take less. A single run would free nothing by it.
fn short_memory_sheds_the_ctas_of_a_batch(runtime: &Runtime) {
    let graph = graph();
    let mut session = scattered::Session::new(runtime, &graph).expect("fits");
    let short = runtime.thresholds().with("launch.pressure_bps = 0");
    session.set_thresholds(short.expect("thresholds"));
    let all = runtime.cuda_device().expect("it is one").multiprocessors();
    let workers = |session: &scattered::Session| {
        let decision = session.decisions().last().expect("decided");
        (decision.launch.workers, decision.followed.workers)
    };
    run(&mut session, 10);
    let (fewer, followed) = workers(&session);
    assert_eq!((fewer < all, followed), (true, all));
    for _ in 0..2 {
        session.submit(scattered::Run { n: 10 }, 0);
    }
    session.run_batch().expect("runs");
    assert_eq!(workers(&session), (fewer, fewer));
}

#[test]
#[ignore = "needs a CUDA device"]
fn a_sparse_route_keeps_a_device_pushing() {
    let graph = random_graph(100_000, 1_600_000);
    let runtime = vyre_tests::cuda();
    let mut session = reached::Session::new(&runtime, &graph).expect("fits");
    let mut pulled = |text: &str| {
        session.set_thresholds(runtime.thresholds().with(text).expect("thresholds"));
        let out = session.run(reached::Run {}).expect("runs");
        out.report.activity.expect("counts").pulled
    };
    assert!(pulled("pull_from = 0") > 0);
    assert_eq!(pulled("pull_from = 0\nroute.sparse_density = 1"), 0);
    assert!(pulled("pull_from = 0") > 0);
}

/// A kernel is assembled, verified and planned once, however often it runs. On a device its session is kept as well.
#[kernel]
fn double(i: Index, x: &mut u32) {
    *x = 2 * *x + i;
}

fn a_kernel_that_runs_again_is_not_planned_again(runtime: &Runtime) {
    for run in 0..3u64 {
        let mut x = vec![1; 100];
        double::run(runtime, &mut x).expect("runs");
        assert_eq!(x[5], 7);
        let again = if runtime.backend() == "cuda" { 0 } else { run };
        assert_eq!(counts(runtime.planning()), [again, 1, again, 1]);
    }
}

backend_tests!(
    what_is_opened_again_takes_its_plan_from_the_runtime,
    a_kernel_that_runs_again_is_not_planned_again,
    each_kind_of_plan_is_kept_by_itself;
    cpus:
    a_dense_route_sweeps_a_list_in_the_order_of_the_nodes,
    the_route_that_a_wave_starts_with_is_held_near_a_threshold,
    without_room_for_a_bitmap_lists_stay_lists;
    devices: a_sparse_route_of_a_device_has_no_bitmaps,
    a_sparse_frontier_has_fewer_ctas_where_a_threshold_says_so,
    short_memory_sheds_the_ctas_of_a_batch,
);
