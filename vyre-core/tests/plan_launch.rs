//! Launch policy.

use vyre_core::plan::launch::{
    Age, Diffusion, LaunchError, Planner, Policy, QueuePressure, Recommendation, Request, Route,
    Scope, Topology, autotune, diffuse, precondition, recommend,
};

const GIB: u64 = 1 << 30;

/// 128 CTAs of 64 lanes, a graph of 100,000 nodes, something queued.
const QUIET: Request = Request {
    queue_len: 100,
    graph_nodes: 100_000,
    ..Request::on(128, 64, GIB)
};

fn ask(request: Request, previous: Option<Topology>) -> Recommendation {
    recommend(&Policy::default(), &request, previous).unwrap()
}

fn topology(density: u32, pressure: u32, previous: Option<Topology>) -> Topology {
    let request = Request {
        density_bps: Some(density),
        pressure_bps: Some(pressure),
        ..QUIET
    };
    ask(request, previous).topology
}

#[test]
fn missing_figures_are_taken_from_the_queue_and_the_budget() {
    let busy = Request {
        queue_len: 90_000,
        graph_edges: 750_000,
        hot_opcodes: 8,
        ..QUIET
    };
    let got = ask(busy, None);
    assert_eq!(got.density_bps, Some(9_000));
    assert_eq!(
        (got.topology, got.route),
        (Topology::FusedDense, Route::Jit)
    );

    let full = Request {
        resident_bytes: 900_000,
        budget_bytes: 1_000_000,
        ..QUIET
    };
    let got = ask(full, None);
    assert_eq!(got.pressure_bps, 9_000);
    assert_eq!(got.topology, Topology::MemoryConstrained);
    assert_eq!(got.peak_bytes, 916_384);

    let one = ask(
        Request {
            queue_len: 1,
            ..QUIET
        },
        None,
    );
    assert_eq!(one.density_bps, Some(1));
    let more_than_nodes = Request {
        queue_len: 200_000,
        ..QUIET
    };
    assert_eq!(ask(more_than_nodes, None).density_bps, Some(10_000));
    let no_graph = Request {
        graph_nodes: 0,
        ..QUIET
    };
    let got = ask(no_graph, None);
    assert_eq!((got.density_bps, got.topology), (None, Topology::Hybrid));
}

#[test]
fn density_pressure_and_heat_choose_the_topology() {
    assert_eq!(topology(500, 0, None), Topology::Sparse);
    assert_eq!(topology(501, 0, None), Topology::Hybrid);
    assert_eq!(topology(3_999, 0, None), Topology::Hybrid);
    assert_eq!(topology(4_000, 0, None), Topology::Dense);
    assert_eq!(topology(9_000, 8_500, None), Topology::MemoryConstrained);
    assert_eq!(topology(9_000, 8_499, None), Topology::Dense);
    let empty = Request {
        queue_len: 0,
        pressure_bps: Some(10_000),
        ..QUIET
    };
    assert_eq!(ask(empty, None).topology, Topology::Empty);
    let hot = Request {
        density_bps: Some(7_500),
        graph_edges: 500_000,
        hot_windows: 4,
        ..QUIET
    };
    let got = ask(hot, None);
    assert_eq!(
        (got.topology, got.route),
        (Topology::FusedDense, Route::Jit)
    );
    let few_edges = Request {
        graph_edges: 65_535,
        ..hot
    };
    assert_eq!(ask(few_edges, None).topology, Topology::Dense);
}

#[test]
fn the_previous_topology_is_held_near_a_threshold() {
    use Topology as T;
    let held = |previous, density| topology(density, 0, Some(previous));
    assert_eq!(held(T::Sparse, 625), T::Sparse);
    assert_eq!(held(T::Sparse, 800), T::Hybrid);
    assert_eq!(held(T::Hybrid, 375), T::Hybrid);
    assert_eq!(held(T::Hybrid, 4_125), T::Hybrid);
    assert_eq!(held(T::Hybrid, 4_250), T::Dense);
    assert_eq!(held(T::Dense, 3_875), T::Dense);
    assert_eq!(held(T::FusedDense, 3_875), T::FusedDense);
    assert_eq!(held(T::FusedDense, 3_749), T::Hybrid);
    let short = Some(T::MemoryConstrained);
    assert_eq!(topology(9_000, 8_375, short), T::MemoryConstrained);
    assert_eq!(topology(9_000, 8_249, short), T::Dense);
    // Empty and short memory win whatever was before.
    assert_eq!(topology(600, 8_500, Some(T::Sparse)), T::MemoryConstrained);
    let empty = Request {
        queue_len: 0,
        ..QUIET
    };
    assert_eq!(ask(empty, Some(T::Dense)).topology, T::Empty);
}

#[test]
fn workers_shrink_under_pressure_and_with_sparse_frontiers() {
    let workers = |asked, density, pressure| {
        let request = Request {
            requested_workers: Some(asked),
            max_workers: 1_000,
            density_bps: Some(density),
            pressure_bps: Some(pressure),
            ..QUIET
        };
        ask(request, None).workers
    };
    assert_eq!(workers(128, 5_000, 10_000), 64);
    assert_eq!(workers(128, 5_000, 8_500), 96);
    assert_eq!(workers(1, 5_000, 10_000), 1);
    assert_eq!(workers(256, 100, 0), 51);
    assert_eq!(workers(256, 1, 0), 32);
    assert_eq!(workers(8, 1, 0), 8);
    assert_eq!(workers(256, 5_000, 0), 256);
    assert_eq!(workers(2_000, 5_000, 0), 1_000);
    assert_eq!(ask(QUIET, Some(Topology::Hybrid)).workers, 32);
}

#[test]
fn where_every_sweep_is_short_barriers_stay_in_one_cta() {
    let policy = Policy {
        lone_worker_items: 2_048,
        ..Policy::default()
    };
    let launch = |longest_sweep, requested_workers| {
        let request = Request {
            longest_sweep,
            requested_workers,
            density_bps: Some(5_000),
            ..QUIET
        };
        let got = recommend(&policy, &request, None).unwrap();
        (got.workers, got.scope)
    };
    assert_eq!(launch(Some(2_048), None), (1, Scope::One));
    assert_eq!(launch(Some(2_049), None), (128, Scope::All));
    assert_eq!(launch(None, None), (128, Scope::All));
    // Who asks for CTAs gets them.
    assert_eq!(launch(Some(2_048), Some(4)), (4, Scope::All));
    assert_eq!(launch(Some(9_999), Some(1)), (1, Scope::One));
    // By default nothing is short enough, not even a sweep over nothing.
    assert_eq!(ask(QUIET, None).scope, Scope::All);
    let empty = Request {
        longest_sweep: Some(0),
        ..QUIET
    };
    assert_eq!(ask(empty, None).scope, Scope::All);
}

#[test]
fn the_queue_is_measured_in_lanes() {
    let queue = |queue_len, requeues| {
        let request = Request {
            queue_len,
            requeues,
            density_bps: Some(5_000),
            ..QUIET
        };
        ask(request, None).queue
    };
    let lanes = 128 * 64;
    assert_eq!(queue(0, 1), QueuePressure::Empty);
    assert_eq!(queue(lanes - 1, 0), QueuePressure::Light);
    assert_eq!(queue(lanes, 0), QueuePressure::Balanced);
    assert_eq!(queue(4 * lanes - 1, 0), QueuePressure::Balanced);
    assert_eq!(queue(4 * lanes, 0), QueuePressure::Saturated);
    assert_eq!(queue(8_192, 1), QueuePressure::Saturated);
}

#[test]
fn hits_have_room_and_memory_runs_out_before_the_launch() {
    let hits = |queue_len, hits_per_item, pressure| {
        let request = Request {
            queue_len,
            hits_per_item,
            pressure_bps: Some(pressure),
            ..QUIET
        };
        ask(request, None).hit_capacity
    };
    assert_eq!(hits(300, 3, 0), 1_800);
    assert_eq!(hits(8_192, 2, 9_000), 16_384);
    assert_eq!(hits(8_192, 2, 0), 32_768);
    assert_eq!(hits(1, 1, 0), 1_024);
    let explicit = Request {
        hit_capacity: Some(65_536),
        pressure_bps: Some(9_000),
        ..QUIET
    };
    assert_eq!(ask(explicit, None).hit_capacity, 65_536);

    let too_much = Request {
        hit_capacity: Some(8_192),
        resident_bytes: 1_024,
        budget_bytes: 65_536,
        ..QUIET
    };
    let error = recommend(&Policy::default(), &too_much, None).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the launch needs 132096 bytes; budget is 65536"
    );
    let overflow = Request {
        hit_capacity: Some(u64::MAX),
        ..QUIET
    };
    assert_eq!(
        recommend(&Policy::default(), &overflow, None),
        Err(LaunchError::Overflow {
            field: "peak bytes"
        })
    );
}

#[test]
fn hot_code_and_long_queues_are_compiled() {
    let route = |queue_len, hot_opcodes, hot_windows| {
        let request = Request {
            queue_len,
            hot_opcodes,
            hot_windows,
            ..QUIET
        };
        ask(request, None).route
    };
    assert_eq!(route(8_192, 0, 0), Route::Jit);
    assert_eq!(route(4_095, 7, 3), Route::Interpreter);
    assert_eq!(route(4_096, 0, 0), Route::Jit);
    assert_eq!(route(1, 8, 0), Route::Jit);
    assert_eq!(route(1, 0, 4), Route::Jit);
}

#[test]
fn waiting_work_is_promoted() {
    let promotes = |requeues, max_age| {
        let request = Request {
            requeues,
            max_age,
            ..QUIET
        };
        ask(request, None).promote
    };
    assert!(promotes(1, 64));
    assert!(promotes(1, 0));
    assert!(promotes(0, 32));
    assert!(!promotes(0, 31));
    let old = Age {
        requeues: u64::MAX,
        waited: u64::MAX,
    };
    assert_eq!(
        old.requeued().unwrap_err().to_string(),
        "requeues overflows 64 bits"
    );
    assert_eq!(
        old.waited_once().unwrap_err().to_string(),
        "waited overflows 64 bits"
    );
    let age = Age::default().requeued().unwrap().waited_once().unwrap();
    assert_eq!((age.requeues, age.waited), (1, 1));
}

#[test]
fn recommendations_are_remembered() {
    let policy = Policy::default();
    let mut planner = Planner::default();
    let counts = |p: &Planner| {
        let s = p.stats();
        (s.entries, s.hits, s.misses)
    };
    assert_eq!(counts(&planner), (0, 0, 0));
    let first = planner.recommend(&policy, &QUIET, None).unwrap();
    assert_eq!(counts(&planner), (1, 0, 1));
    assert_eq!(planner.recommend(&policy, &QUIET, None).unwrap(), first);
    assert_eq!(counts(&planner), (1, 1, 1));
    // Not with a previous topology, and errors do not stay.
    let held = planner.recommend(&policy, &QUIET, Some(Topology::Sparse));
    assert_eq!(held, recommend(&policy, &QUIET, Some(Topology::Sparse)));
    assert_eq!(counts(&planner), (1, 1, 1));
    let bad = Request {
        budget_bytes: 1,
        ..QUIET
    };
    assert!(planner.recommend(&policy, &bad, None).is_err());
    assert_eq!(counts(&planner).0, 1);
    let other = Policy {
        sparse_bps: 1,
        ..policy
    };
    planner.recommend(&other, &QUIET, None).unwrap();
    assert_eq!(counts(&planner).0, 2);
    for queue_len in 0..200 {
        let request = Request { queue_len, ..QUIET };
        planner.recommend(&policy, &request, None).unwrap();
    }
    assert_eq!(counts(&planner).0, 128);
}

#[test]
fn requests_that_make_no_sense_are_refused() {
    let error = |request| recommend(&Policy::default(), &request, None).unwrap_err();
    assert_eq!(
        error(Request {
            budget_bytes: 0,
            ..QUIET
        })
        .to_string(),
        "budget_bytes is 0"
    );
    assert_eq!(
        error(Request {
            max_workers: 0,
            ..QUIET
        })
        .to_string(),
        "max_workers is 0"
    );
    let dense = Request {
        density_bps: Some(10_001),
        ..QUIET
    };
    assert_eq!(
        error(dense).to_string(),
        "density_bps is 10001; at most 10000 are possible"
    );
}

#[test]
fn the_lowest_measured_cost_wins() {
    assert_eq!(autotune(2, &[1, 2, 4, 8], &[9.0, 5.0, 1.0, 3.0]), Ok(4));
    assert_eq!(autotune(32, &[32, 64, 128], &[7.0, 2.0, 3.0]), Ok(64));
    assert_eq!(autotune(7, &[1, 2], &[3.0, 3.0]), Ok(1));
    assert_eq!(autotune(7, &[1, 2], &[f64::NAN, 3.0]), Ok(2));
    assert_eq!(autotune(7, &[1], &[f64::NAN]), Ok(7));
    assert_eq!(autotune(7, &[], &[]), Ok(7));
    assert_eq!(
        autotune(7, &[1, 2], &[1.0]).unwrap_err().to_string(),
        "costs has 1 entries; 2 are needed"
    );
}

#[test]
fn steps_are_preconditioned() {
    let identity = [1.0, 0.0, 0.0, 1.0];
    assert_eq!(
        precondition(0.5, &identity, &[3.0, -2.0]),
        Ok(vec![-1.5, 1.0])
    );
    let turn = [0.0, 2.0, 1.0, 0.0];
    assert_eq!(precondition(1.0, &turn, &[3.0, -2.0]), Ok(vec![4.0, -3.0]));
    assert_eq!(precondition(1.0, &[], &[]), Ok(vec![]));
    assert_eq!(
        precondition(0.5, &identity, &[1.0]).unwrap_err(),
        LaunchError::Shape {
            field: "matrix",
            actual: 4,
            expected: 1
        }
    );
}

#[test]
fn priorities_diffuse_between_siblings() {
    let half = Diffusion {
        damping: 0.25,
        restriction: 1.0,
        rounds: 1,
    };
    assert_eq!(
        diffuse(&[10.0, 20.0, 7.0], &[(0, 1)], &half),
        Ok(vec![12.5, 17.5, 7.0])
    );
    assert_eq!(diffuse(&[5.0], &[(0, 0)], &half), Ok(vec![5.0]));
    // A star does not oscillate, and the sum stays.
    let star: Vec<(usize, usize)> = (1..9).map(|i| (0, i)).collect();
    let mut start = vec![0.0; 9];
    start[0] = 90.0;
    let long = Diffusion {
        damping: 1.0,
        restriction: 1.0,
        rounds: 400,
    };
    let end = diffuse(&start, &star, &long).unwrap();
    assert!((end.iter().sum::<f64>() - 90.0).abs() < 1e-9);
    assert!(end.iter().all(|p| (p - 10.0).abs() < 1e-6), "{end:?}");

    assert_eq!(
        diffuse(&[1.0], &[(0, 1)], &half).unwrap_err().to_string(),
        "link 0 names item 1; there are 1 items"
    );
    let wild = Diffusion {
        damping: 1.5,
        ..half
    };
    assert!(diffuse(&[1.0], &[], &wild).is_err());
    assert!(diffuse(&[f64::NAN], &[], &half).is_err());
}
