//! Sessions: what they count, share, decide and batch, on every backend.

#![allow(
    missing_docs,
    reason = "the passes are public only to be like a user's"
)]

use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::Mutex;
use std::time::{Duration, Instant};
use vyre::core::plan::launch::{Route, Scope, Topology};
use vyre::core::plan::session;
use vyre::prelude::*;
use vyre::{Counters, Error, RoutePolicy, RunError, Thresholds};
use vyre_tests::backend_tests;
use vyre_tests::graphs::{UNSEEN, chain, distances, random_graph};
use vyre_tests::passes::{bfs, doubled};

/// The shape of the contract's example: 4,096 bytes in, 65,536 bytes of scratch, 2,048 bytes out.
#[wave_graph]
pub mod sized {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[input(per = 1024)]
        seed: u32,
        #[scratch(per = 16384)]
        work: u32,
        #[output(per = 512)]
        result: u32,
    }

    #[wave(range(16384))]
    fn spread(i: Index, seed: &Buf<u32>, work: &mut u32) {
        *work = seed[i % 1024] + i;
    }

    #[wave(range(512), after(spread))]
    fn gather(i: Index, work: &Buf<u32>, result: &mut u32) {
        *result = work[i] + work[16383 - i];
    }
}

#[wave_graph]
pub mod weigh {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[topology(per = edge(graph))]
        weight: u32,
        #[output(per = node)]
        sum: u32,
        #[output(per = 2)]
        sizes: u32,
    }

    #[wave(edges(graph))]
    fn add(e: Edge, weight: &u32, sum: &Buf<Atomic<u32>>) {
        sum[e.src].fetch_add(*weight);
    }

    #[wave(once)]
    fn measure(sizes: &Buf<Atomic<u32>>) {
        sizes[0].store(7);
    }
}

/// Independent of a graph's order: float sums that depend on the order of chunks only.
#[wave_graph]
pub mod mean {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[input(per = node)]
        value: f32,
        #[reduce(sum)]
        total: f32,
    }

    #[wave(edges(graph))]
    fn add(e: Edge, value: &Buf<f32>, total: &Reduce<Sum<f32>>) {
        total.add(value[e.src] * 0.1);
    }
}

backend_tests!(
    sessions_share_one_budget_and_give_it_back,
    a_run_too_long_for_the_budget_is_refused_each_time_and_others_go_on,
    a_failing_query_leaves_the_others_of_its_batch_alone,
    progress_can_be_read,
    queries_of_other_sizes_take_launches_of_their_own,
    a_trap_in_a_batch_is_its_querys_own,
    launches_have_as_many_ctas_as_are_asked_for,
    lanes_take_as_many_items_as_are_tried_and_results_stay,
    what_a_policy_calls_short_stays_on_one_cta,
    elements_of_64_bits_take_what_was_stored,
    a_result_larger_than_its_declared_capacity_says_both_numbers,
    weights_traps_and_lists_of_many_topologies_are_their_own; counting:
    what_a_series_does_is_what_its_plan_says,
    warm_runs_of_a_search_allocate_nothing,
    a_refused_run_launches_nothing_and_a_trapped_one_is_waited_for,
    a_topology_is_updated_without_a_new_session,
    only_what_differs_is_uploaded_and_a_wrong_update_changes_nothing,
    a_batch_answers_every_query_by_its_id,
    each_launch_is_decided_from_what_the_last_one_saw,
    what_runs_have_executed_asks_for_compiled_code,
    small_results_come_back_in_one_copy_and_large_ones_directly,
    a_batch_shares_launches_and_keeps_its_queries_apart,
    inputs_of_the_next_run_go_up_during_the_last,
    a_long_batch_takes_several_launches_and_keeps_its_order,
    lists_bring_back_what_they_hold,
    many_small_graphs_share_launches_and_keep_apart;
    live: a_long_run_tells_how_far_it_is,
);

/// Offsets and targets of exactly 1,048,576 bytes.
fn megabyte() -> Csr {
    let nodes = 100_000;
    let edges = 1_048_576 / 4 - (nodes + 1);
    random_graph(nodes, edges)
}

fn what_a_series_does_is_what_its_plan_says(runtime: &Runtime) {
    let graph = megabyte();
    let runtime = runtime.clone().with_memory(2_000_000);
    let mut session = sized::Session::new(&runtime, &graph).expect("fits");
    let profile = session.profile(128);
    let plan = session::plan(&profile).expect("fits");
    assert_eq!((profile.graph_bytes, profile.buffers), (1_048_576, 3));
    assert_eq!(plan.refresh_bytes, 524_288);
    assert_eq!(plan.avoided_upload_bytes, 133_169_152);
    assert_eq!(plan.avoided_allocations, 381);
    assert_eq!(plan.avoided_fences, 127);
    assert_eq!(plan.readback_bytes, 2_048);
    assert_eq!(plan.peak_bytes, 1_120_256);

    let seeds: Vec<Vec<u32>> = (0..128).map(|k| vec![k; 1024]).collect();
    let out = session
        .run_series(seeds.iter().map(|seed| sized::Run { seed }))
        .expect("runs");
    assert_eq!(out.result, vec![127 + 127 + 16_383; 512]);
    if session.peak_bytes().is_some() {
        assert_eq!(session.peak_bytes(), Some(plan.peak_bytes));
    }
    let counted = session.counters().expect("backends count");
    assert_eq!(plan.compare(&counted), []);
    assert_eq!(counted.launches, 128);

    // Runs one by one read back, and wait, each time; they allocate and upload no more than the series.
    for seed in &seeds {
        session.run(sized::Run { seed }).expect("runs");
    }
    let more = session.counters().expect("counts").since(&counted);
    let expected = Counters {
        graph_uploads: 0,
        graph_upload_bytes: 0,
        refresh_bytes: 524_288,
        allocations: 0,
        fences: 128,
        readback_bytes: 128 * 2_048,
        launches: 128,
        ahead_bytes: 0,
    };
    assert_eq!(more, expected);
}

fn warm_runs_of_a_search_allocate_nothing(runtime: &Runtime) {
    let graph = random_graph(2_000, 12_000);
    let mut session = bfs::Session::new(runtime, &graph).expect("fits");
    let cold = session.run(bfs::Run { source: 3 }).expect("runs");
    let after_one = session.counters().expect("counts");
    assert_eq!(after_one.allocations, session.profile(1).buffers);
    let warm = session.run(bfs::Run { source: 3 }).expect("runs");
    assert_eq!(cold.dist, warm.dist);
    let more = session.counters().expect("counts").since(&after_one);
    assert_eq!((more.allocations, more.graph_uploads), (0, 0));
    assert_eq!((more.refresh_bytes, more.readback_bytes), (8, 8_000));
}

fn a_refused_run_launches_nothing_and_a_trapped_one_is_waited_for(runtime: &Runtime) {
    let graph = random_graph(50, 100);
    let mut session = sized::Session::new(runtime, &graph).expect("fits");
    let before = session.counters().expect("counts");
    assert!(session.run(sized::Run { seed: &[1, 2] }).is_err());
    let counted = session.counters().expect("counts").since(&before);
    assert_eq!((counted.launches, counted.fences), (0, 0));
    assert!(session.run(sized::Run { seed: &[0; 1024] }).is_ok());
}

/// What a session of a search takes on a graph of 1,000 nodes and 4,000 edges.
fn search_bytes(runtime: &Runtime) -> u64 {
    // 20,004 bytes of graph, 4,000 of distances, 8 a node of frontier.
    let resident = 20_004 + 4_000;
    match runtime.backend() {
        // In parts of whole 256 bytes, 16 more for edge ranges, and three bits a node for sweeps that pull.
        "cuda" => resident + 2 * 4_096 + 2 * 8_192 + 3 * 256,
        // The frontier a third time, two bits and a number a node for sweeps that pull.
        "native" => resident + 3 * 4 * 1_000 + (2 * 128 + 4 * 1_000),
        // An interpreter pushes.
        _ => resident + 3 * 4 * 1_000,
    }
}

/// A budget of so many bytes for sessions alone: a compiled module would take its part of it.
fn within(runtime: &Runtime, bytes: u64) -> Runtime {
    let interpreted = runtime.clone().with_route(RoutePolicy::Interpreter);
    interpreted.with_memory(bytes)
}

fn sessions_share_one_budget_and_give_it_back(runtime: &Runtime) {
    let graph = random_graph(1_000, 4_000);
    let one = search_bytes(runtime);
    // Enough for a graph and results.
    let left = one - 4_000;
    let runtime = within(runtime, one + left);
    let first = bfs::Session::new(&runtime, &graph).expect("fits");
    assert_eq!(runtime.memory(), Some((one + left, one)));
    // The second shares memory where it can, but needs its graph and frontier all the same.
    let error = bfs::Session::new(&runtime.clone(), &graph).unwrap_err();
    let Error::Run(RunError::Memory {
        needed_bytes,
        available_bytes,
        ..
    }) = &error
    else {
        panic!("{error}");
    };
    assert_eq!((*needed_bytes, *available_bytes), (one, left));
    assert!(
        error
            .to_string()
            .ends_with(&format!("; {one} bytes are needed, {left} are available")),
        "{error}"
    );
    drop(first);
    assert_eq!(runtime.memory(), Some((one + left, 0)));
    let mut again = bfs::Session::new(&runtime, &graph).expect("fits");
    assert!(again.run(bfs::Run { source: 0 }).is_ok());
}

fn a_run_too_long_for_the_budget_is_refused_each_time_and_others_go_on(runtime: &Runtime) {
    let runtime = within(runtime, 400);
    let mut session = doubled::Session::new(&runtime, ()).expect("fits");
    for _ in 0..2 {
        let error = session.run(doubled::Run { n: 101 }).unwrap_err();
        let text = error.to_string();
        assert!(
            text.ends_with("; 404 bytes are needed, 400 are available"),
            "{text}"
        );
    }
    let out = session.run(doubled::Run { n: 100 }).expect("fits");
    assert_eq!(out.twice.len(), 100);
    assert_eq!(runtime.memory(), Some((400, 400)));
    // What was once taken stays: the buffer does not shrink.
    assert_eq!(
        session.run(doubled::Run { n: 3 }).expect("fits").twice,
        [0, 2, 4]
    );
    assert_eq!(runtime.memory(), Some((400, 400)));
}

fn a_topology_is_updated_without_a_new_session(runtime: &Runtime) {
    let graph = Csr::from_edges(4, &[(0, 1), (1, 2)]).expect("a graph");
    let mut session = bfs::Session::new(runtime, &graph).expect("fits");
    let first = session.run(bfs::Run { source: 0 }).expect("runs");
    assert_eq!(first.dist, [0, 1, 2, UNSEEN]);
    let before = session.counters().expect("counts");

    let (more, _) = graph.append(&[(2, 3), (0, 2)]).expect("edges name nodes");
    session.update(&more).expect("fits");
    let out = session.run(bfs::Run { source: 0 }).expect("runs");
    assert_eq!(out.dist, [0, 1, 1, 2]);
    let counted = session.counters().expect("counts").since(&before);
    assert_eq!(counted.graph_uploads, 1);
    assert_eq!(counted.graph_upload_bytes, 4 * (5 + 4));

    // Another node count, and back.
    let larger = random_graph(300, 900);
    session.update(&larger).expect("fits");
    let out = session.run(bfs::Run { source: 7 }).expect("runs");
    assert_eq!(out.dist, distances(&larger, 7));
    session.update(&graph).expect("fits");
    let out = session.run(bfs::Run { source: 0 }).expect("runs");
    assert_eq!(out.dist, first.dist);

    // Wide rounds, first of few edges a node, then of many: a device hands them out differently.
    for edges in [20_000, 200_000, 20_000] {
        let graph = random_graph(20_000, edges);
        session.update(&graph).expect("fits");
        let source = graph.targets()[0];
        let out = session.run(bfs::Run { source }).expect("runs");
        assert!(out.dist == distances(&graph, source), "{edges} edges");
    }
}

fn only_what_differs_is_uploaded_and_a_wrong_update_changes_nothing(runtime: &Runtime) {
    let graph = Csr::from_edges(3, &[(0, 1), (0, 2), (2, 0)]).expect("a graph");
    let topology = |weight| weigh::Topology {
        graph: &graph,
        weight,
    };
    let mut session = weigh::Session::new(runtime, topology(&[1, 2, 4])).expect("fits");
    assert_eq!(session.run(weigh::Run {}).expect("runs").sum, [3, 0, 4]);
    let before = session.counters().expect("counts");
    session.update(topology(&[10, 20, 40])).expect("fits");
    session.update(topology(&[10, 20, 40])).expect("fits");
    let counted = session.counters().expect("counts").since(&before);
    assert_eq!((counted.graph_uploads, counted.graph_upload_bytes), (1, 12));
    let error = session.update(topology(&[1, 2])).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`weight` has 2 elements; the pass needs 3 (per = edge(graph), 3 edges)"
    );
    assert_eq!(session.run(weigh::Run {}).expect("runs").sum, [30, 0, 40]);
}

fn a_batch_answers_every_query_by_its_id(runtime: &Runtime) {
    let graph = random_graph(500, 1_500);
    let name = runtime.backend();
    let mut session = bfs::Session::new(runtime, &graph).expect("fits");
    let ids: Vec<_> = (0..40)
        .map(|source| session.submit(bfs::Run { source }, 0))
        .collect();
    assert_eq!(session.waiting(), 40);
    let batch = session.run_batch().expect("runs");
    assert_eq!((session.waiting(), batch.results.len()), (0, 40));
    for ((source, id), (got, result)) in (0..).zip(ids).zip(&batch.results) {
        assert_eq!(id, *got);
        let out = result.as_ref().expect("runs");
        assert_eq!(out.dist, distances(&graph, source), "{name} {source}");
    }
    assert_eq!(batch.launches, Some(1));
    // The states of a batch stay for the next one.
    let before = session.counters().expect("counts");
    for source in 0..40 {
        session.submit(bfs::Run { source }, 0);
    }
    session.run_batch().expect("runs");
    let more = session.counters().expect("counts").since(&before);
    assert_eq!(more.readback_bytes, 40 * 2_000);
    assert_eq!((more.graph_uploads, more.allocations), (0, 0));
    // A single run between batches leaves them alone.
    session.run(bfs::Run { source: 1 }).expect("runs");
    let before = session.counters().expect("counts");
    for source in 0..40 {
        session.submit(bfs::Run { source }, 0);
    }
    session.run_batch().expect("runs");
    let more = session.counters().expect("counts").since(&before);
    assert_eq!(more.allocations, 0);
    let empty = session.run_batch().expect("nothing to do");
    assert_eq!((empty.results.len(), empty.launches), (0, Some(0)));
}

#[test]
fn urgent_queries_go_first_and_old_ones_before_them() {
    let graph = Csr::from_edges(2, &[(0, 1)]).expect("a graph");
    let mut session = bfs::Session::new(&Runtime::vir0(), &graph).expect("fits");
    let mut submit = |priority| session.submit(bfs::Run { source: 0 }, priority);
    let (low, high, middle, equal) = (submit(-5), submit(9), submit(3), submit(3));
    let batch = session.run_batch().expect("runs");
    assert_eq!(batch.order, [high, middle, equal, low]);

    // One place a batch, and always something more urgent: the patient query goes first in the end.
    session.set_batch_limit(NonZeroUsize::new(1));
    let patient = session.submit(bfs::Run { source: 0 }, 0);
    let mut batches = 0;
    loop {
        session.submit(bfs::Run { source: 0 }, 100);
        batches += 1;
        if session.run_batch().expect("runs").order == [patient] {
            break;
        }
    }
    assert_eq!(batches, 33);
}

#[test]
fn priorities_of_siblings_draw_near_each_other() {
    let graph = Csr::from_edges(2, &[(0, 1)]).expect("a graph");
    let mut session = bfs::Session::new(&Runtime::vir0(), &graph).expect("fits");
    let mut submit = |priority| session.submit(bfs::Run { source: 0 }, priority);
    // 10 and 20 become 12.5 and 17.5: over 12 and under 18.
    let (low, over, under, high) = (submit(10), submit(12), submit(18), submit(20));
    session.relate(low, high);
    let batch = session.run_batch().expect("runs");
    assert_eq!(batch.order, [under, high, low, over]);
    // Without siblings, and with one that waits no longer.
    let mut submit = |priority| session.submit(bfs::Run { source: 0 }, priority);
    let (low, high) = (submit(1), submit(2));
    session.relate(low, under);
    assert_eq!(session.run_batch().expect("runs").order, [high, low]);
}

fn a_failing_query_leaves_the_others_of_its_batch_alone(runtime: &Runtime) {
    let graph = random_graph(64, 200);
    let mut session = sized::Session::new(runtime, &graph).expect("fits");
    session.submit(sized::Run { seed: &[5; 1024] }, 0);
    session.submit(sized::Run { seed: &[5; 7] }, 1);
    session.submit(sized::Run { seed: &[6; 1024] }, 0);
    let batch = session.run_batch().expect("runs");
    let results: Vec<Option<u32>> = batch
        .results
        .iter()
        .map(|(_, r)| r.as_ref().ok().map(|out| out.result[0]))
        .collect();
    assert_eq!(results, [Some(16_393), None, Some(16_395)]);
}

#[test]
fn a_batch_keeps_to_the_budget() {
    let graph = random_graph(1_000, 4_000);
    let one = search_bytes(&Runtime::native());
    // The results, and what is told of each query, are there until the batch ends; for one of them, the session has room
    // as it is.
    let probe = Runtime::native().with_memory(1 << 30);
    let mut session = bfs::Session::new(&probe, &graph).expect("fits");
    session.submit(bfs::Run { source: 0 }, 0);
    assert_eq!(probe.memory(), Some((1 << 30, one)));
    session.submit(bfs::Run { source: 1 }, 0);
    let more = 4_000 + (probe.memory().expect("there is a budget").1 - one);
    for (budget, fit) in [(one + 7 * more, 8), (one + 7 * more - 1, 7), (one, 1)] {
        let runtime = Runtime::native().with_memory(budget);
        let mut session = bfs::Session::new(&runtime, &graph).expect("fits");
        for source in 0..8 {
            session.submit(bfs::Run { source }, 0);
        }
        let batch = session.run_batch().expect("runs");
        let fits =
            |(i, r): (usize, &Result<_, _>)| assert_eq!(r.is_ok(), i < fit, "{i} of {budget}");
        let results = batch.results.iter().map(|(_, r)| r);
        results.enumerate().for_each(fits);
        assert_eq!(runtime.memory(), Some((budget, one)));
    }
}

fn each_launch_is_decided_from_what_the_last_one_saw(runtime: &Runtime) {
    let chain: Vec<(u32, u32)> = (0..9_999).map(|v| (v, v + 1)).collect();
    let graph = Csr::from_edges(10_000, &chain).expect("a graph");
    let mut session = bfs::Session::new(runtime, &graph).expect("fits");
    for _ in 0..3 {
        session.run(bfs::Run { source: 9_000 }).expect("runs");
    }
    let seen: Vec<_> = session
        .decisions()
        .map(|d| (d.launch.topology, d.launch.density_bps, d.previous))
        .collect();
    assert_eq!(
        seen,
        [
            (Topology::Dense, Some(10_000), None),
            (Topology::Sparse, Some(1), Some(Topology::Dense)),
            (Topology::Sparse, Some(1), Some(Topology::Sparse)),
        ]
    );
    let last = session.decisions().last().expect("decided");
    let outcome = last.outcome.as_ref().expect("it ran");
    assert_eq!(
        (outcome.rounds, last.launch.route),
        (1_000, Route::Interpreter)
    );
    let first = session.decisions().next().expect("decided");
    assert_eq!(first.launch.route, Route::Jit);
    let followed = match (runtime.backend(), runtime.route()) {
        ("cuda", RoutePolicy::Compiled) | ("native", _) => first.followed.code.as_ref(),
        _ => first.followed.notes.first().map_or("", |note| note),
    };
    let expected = match (runtime.backend(), runtime.route()) {
        ("cuda", RoutePolicy::Compiled) => "compiled (",
        ("cuda", _) => "compiled code wanted, but the interpreter was asked for",
        ("native", _) => "native",
        _ => "",
    };
    assert!(followed.starts_with(expected), "{followed}");
    if runtime.backend() == "native" {
        // Functions that rustc compiled lack nothing.
        assert_eq!(first.followed.notes, [""; 0]);
    }

    let text = session.explain().to_string();
    let unmeasured = text.lines().filter(|line| line.starts_with("gains"));
    assert_eq!(text.lines().count() - unmeasured.count(), 12, "{text}");
    let words = ["barriers", "interpreter, ", "jit"];
    let of_a_device = words.iter().any(|w| text.contains(w));
    assert_eq!(of_a_device, runtime.backend() == "cuda", "{text}");
    // Nobody follows how full a queue is.
    assert!(!text.contains("queue"), "{text}");
    assert!(text.starts_with("launch 1: dense, "), "{text}");
    assert!(text.contains(followed), "{text}");
    assert!(text.contains("1000 rounds"), "{text}");
    assert!(
        text.contains("frontier 1 items on average, 1 at most"),
        "{text}"
    );
}

fn what_runs_have_executed_asks_for_compiled_code(runtime: &Runtime) {
    let graph = chain(1_000);
    let mut thresholds = *runtime.thresholds();
    // Of the search's kernels, the one over edges is executed 999 times, and has most of the opcodes.
    thresholds.launch.hot_words = 900;
    let mut session = bfs::Session::new(runtime, &graph).expect("fits");
    session.set_thresholds(thresholds);
    for _ in 0..2 {
        session.run(bfs::Run { source: 0 }).expect("runs");
    }
    let decided = session.decisions();
    let decided: Vec<_> = decided
        .map(|d| (d.request.hot_windows, d.launch.route))
        .collect();
    let [first, (windows, second)] = decided[..] else {
        panic!("two launches: {decided:?}");
    };
    assert_eq!(first, (0, Route::Interpreter));
    assert!(windows > 0, "{decided:?}");
    let hot = session
        .decisions()
        .last()
        .expect("decided")
        .request
        .hot_opcodes;
    let enough = hot >= thresholds.launch.jit_opcodes || windows >= thresholds.launch.jit_windows;
    assert_eq!(
        second == Route::Jit,
        enough,
        "{hot} opcodes, {windows} windows"
    );
    // With thresholds below what is hot, it is compiled code.
    thresholds.launch.jit_windows = 1;
    session.set_thresholds(thresholds);
    session.run(bfs::Run { source: 0 }).expect("runs");
    let last = session.decisions().last().expect("decided");
    assert_eq!(last.launch.route, Route::Jit);
}

#[test]
fn a_launch_that_memory_constrains_stays_on_one_thread_and_gives_the_same() {
    let graph = random_graph(30_000, 200_000);
    let value: Vec<f32> = (0..30_000).map(|v| v as f32 * 0.37).collect();
    let free = Runtime::native();
    let mut session = mean::Session::new(&free, &graph).expect("fits");
    let expected = session
        .run(mean::Run { value: &value })
        .expect("runs")
        .total;
    let tight = Runtime::native().with_memory(4 * 30_001 + 4 * 200_000 + 4 * 30_000 + 8 + 49 * 512);
    let mut session = mean::Session::new(&tight, &graph).expect("fits");
    let out = session.run(mean::Run { value: &value }).expect("runs");
    assert_eq!(out.total.to_bits(), expected.to_bits());
    let decision = session.decisions().last().expect("decided");
    assert_eq!(decision.launch.topology, Topology::MemoryConstrained);
}

#[test]
fn autotuning_and_thresholds_change_no_bit() {
    let graph = random_graph(30_000, 200_000);
    let value: Vec<f32> = (0..30_000).map(|v| v as f32 * 0.37).collect();
    // Each run takes longer than the one before, so the first candidate is the best.
    let now = Mutex::new((Duration::ZERO, Duration::ZERO));
    let runtime = Runtime::native().with_clock(move |_| {
        let mut guard = now.lock().expect("nothing panics under it");
        let (now, step) = &mut *guard;
        *step += Duration::from_millis(1);
        *now += *step;
        *now
    });
    let mut session = mean::Session::new(&runtime, &graph).expect("fits");
    let expected = session
        .run(mean::Run { value: &value })
        .expect("runs")
        .total;
    session.set_autotune(true);
    assert_eq!(session.autotuned(), None);
    // Two runs for each of five candidates.
    let mut tried = Vec::new();
    while session.autotuned().is_none() {
        let out = session.run(mean::Run { value: &value }).expect("runs");
        assert_eq!(out.total.to_bits(), expected.to_bits());
        tried.push(session.decisions().last().expect("decided").parallel_from);
        assert!(tried.len() <= 10);
    }
    let candidates = [8_193, 32_768, 131_072, 524_288, u64::from(u32::MAX)];
    assert_eq!(tried, candidates.map(|from| [from; 2]).concat());
    session.run(mean::Run { value: &value }).expect("runs");
    let decision = session.decisions().last().expect("decided");
    assert_eq!(decision.parallel_from, candidates[0]);

    let measured = Thresholds::read("parallel_from = 1_000_000_000\n").expect("thresholds");
    let mut session = mean::Session::new(&runtime.with_thresholds(measured), &graph).expect("fits");
    let out = session.run(mean::Run { value: &value }).expect("runs");
    assert_eq!(out.total.to_bits(), expected.to_bits());
    let decision = session.decisions().last().expect("decided");
    assert_eq!(decision.parallel_from, 1_000_000_000);
}

fn small_results_come_back_in_one_copy_and_large_ones_directly(runtime: &Runtime) {
    let graph = random_graph(10_000, 20_000);
    let weight = vec![1; 20_000];
    let topology = weigh::Topology {
        graph: &graph,
        weight: &weight,
    };
    let mut session = weigh::Session::new(runtime, topology).expect("fits");
    let read = session.run(weigh::Run {}).expect("runs").report.readback;
    assert_eq!((read.packed, read.packed_bytes), (1, 8));
    assert_eq!((read.direct, read.direct_bytes), (1, 40_000));
    assert_eq!(read.full_bytes, 40_008);
    session.set_thresholds(Thresholds {
        pack_up_to_bytes: 1 << 20,
        ..Thresholds::default()
    });
    let read = session.run(weigh::Run {}).expect("runs").report.readback;
    assert_eq!(
        (read.packed, read.packed_bytes, read.direct),
        (2, 40_008, 0)
    );
}

fn progress_can_be_read(runtime: &Runtime) {
    let graph = Csr::from_edges(3, &[(0, 1), (1, 2)]).expect("a graph");
    let mut session = bfs::Session::new(runtime, &graph).expect("fits");
    let progress = session.progress().expect("backends tell");
    session.run(bfs::Run { source: 0 }).expect("runs");
    assert_eq!((progress.rounds(), progress.frontier()), (3, 0));
}

#[test]
fn error_texts_name_what_is_needed_and_what_there_is() {
    let graph = random_graph(1_000, 4_000);
    let error = bfs::Session::new(&Runtime::native().with_memory(10_000), &graph).unwrap_err();
    assert_eq!(
        error.to_string(),
        "topologies, inputs and outputs do not fit; 40260 bytes are needed, 10000 are available"
    );
    let error = RunError::Capacity {
        name: "hits".into(),
        actual_bytes: 36,
        capacity_bytes: 32,
    };
    assert_eq!(
        error.to_string(),
        "`hits` holds 36 bytes; its declared capacity is 32"
    );
    if let Err(error) = Runtime::cuda() {
        assert!(error.to_string().starts_with("no CUDA device: "), "{error}");
    }
}

/// Uses what a state of a run can have: a frontier without repetitions, a reduction, swaps, inputs,
/// scratch.
#[wave_graph]
pub mod busy {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[frontier(unique)]
        front: Frontier,
        #[output(per = node)]
        now: u32,
        #[output(per = node)]
        then: u32,
        #[output(per = node)]
        mark: u32,
        #[scratch(per = node)]
        seen: u32,
        #[input(per = node)]
        weight: u32,
        #[reduce(sum)]
        total: u64,
        source: u32,
        rounds: u32,
    }

    #[wave(nodes)]
    fn init(v: Node, source: u32, now: &mut u32, then: &mut u32, front: &Push) {
        *now = v;
        *then = v;
        if v == source {
            front.push(v);
        }
    }

    #[fixpoint(after(init), until(front.is_empty()), max_rounds = 64, swap(now, then))]
    mod spread {
        #[wave(edges(graph, from = front))]
        fn step(
            e: Edge,
            round: Round,
            rounds: u32,
            weight: &Buf<u32>,
            mark: &Buf<Atomic<u32>>,
            seen: &Buf<Atomic<u32>>,
            total: &Reduce<Sum<u64>>,
            front: &Push,
        ) {
            total.add((weight[e.dst] + round) as u64);
            seen[e.dst].fetch_add(weight[e.src]);
            mark[e.dst].fetch_add(1);
            if round < rounds {
                front.push(e.dst);
            }
        }

        #[wave(nodes)]
        fn shift(now: &u32, then: &mut u32) {
            *then = *now + 1;
        }
    }
}

fn a_batch_shares_launches_and_keeps_its_queries_apart(runtime: &Runtime) {
    let graph = random_graph(700, 2_500);
    let weights: Vec<Vec<u32>> = (0..300u32)
        .map(|q| (0..700).map(|v| v * 3 + q).collect())
        .collect();
    let query = |q: u32| busy::Run {
        weight: &weights[q as usize],
        source: q * 2,
        rounds: 1 + q % 6,
    };
    let mut reference = busy::Session::new(&Runtime::vir0(), &graph).expect("fits");
    let expected: Vec<_> = (0..300)
        .map(|q| reference.run(query(q)).expect("runs"))
        .collect();
    let mut session = busy::Session::new(runtime, &graph).expect("fits");
    for _ in 0..2 {
        for q in 0..300 {
            session.submit(query(q), 0);
        }
        let batch = session.run_batch().expect("runs");
        assert_eq!(batch.launches, Some(1));
        for ((_, result), expected) in batch.results.iter().zip(&expected) {
            let out = result.as_ref().expect("runs");
            assert_eq!((&out.now, &out.then), (&expected.now, &expected.then));
            assert_eq!(out.mark, expected.mark);
            assert_eq!(out.total, expected.total);
            assert_eq!(out.report.rounds, expected.report.rounds);
            // How a sweep was made is each backend's own; what it swept is not.
            let swept =
                |report: &vyre::Report| report.activity.map(|a| (a.sweeps, a.items, a.widest));
            assert_eq!(swept(&out.report), swept(&expected.report));
        }
        // A run of its own, and a series, between two batches.
        let out = session.run(query(7)).expect("runs");
        assert_eq!((&out.now, out.total), (&expected[7].now, expected[7].total));
        let out = session.run_series((0..20).map(query)).expect("runs");
        assert_eq!(out.mark, expected[19].mark);
        assert_eq!(out.total, expected[19].total);
    }
}

fn queries_of_other_sizes_take_launches_of_their_own(runtime: &Runtime) {
    let mut session = doubled::Session::new(runtime, ()).expect("fits");
    let sizes = [5, 5, 5, 0, 9_000, 9_000, 3, 0];
    for n in sizes {
        session.submit(doubled::Run { n }, 0);
    }
    let batch = session.run_batch().expect("runs");
    for ((_, result), n) in batch.results.iter().zip(sizes) {
        let expected: Vec<u32> = (0..n).map(|i| 2 * i).collect();
        assert_eq!(result.as_ref().expect("runs").twice, expected);
    }
}

#[wave_graph]
pub mod divide {
    pub struct Data {
        #[output(per = 40)]
        quotient: u32,
        by: u32,
    }

    #[wave(range(40))]
    fn each(i: Index, by: u32, quotient: &mut u32) {
        *quotient = 1_000 / (by + i % 2 * by);
    }
}

fn a_trap_in_a_batch_is_its_querys_own(runtime: &Runtime) {
    let mut session = divide::Session::new(runtime, ()).expect("fits");
    for by in [5, 0, 7, 0] {
        session.submit(divide::Run { by }, 0);
    }
    let batch = session.run_batch().expect("runs");
    let results: Vec<_> = batch.results.iter().map(|(_, r)| r.as_ref()).collect();
    assert_eq!(results[0].expect("divides").quotient[0], 200);
    assert_eq!(results[2].expect("divides").quotient[1], 71);
    for at in [1, 3] {
        let trap = results[at]
            .expect_err("divides by 0")
            .trap()
            .expect("a trap");
        assert_eq!((trap.item, trap.kernel.as_str()), (Some(0), "each"));
    }
}

#[wave_graph]
pub mod scaled {
    pub struct Data {
        #[input(per = n)]
        x: u32,
        #[input(per = n)]
        y: u32,
        #[output(per = n)]
        more: u32,
        #[output(per = n)]
        z: u64,
        n: u32,
        by: u32,
    }

    #[wave(range(n))]
    fn scale(x: &u32, y: &u32, more: &mut u32, z: &mut u64, by: u32) {
        *z = (*x as u64) * (by as u64) + *y as u64;
        *more = *y + by;
    }
}

fn inputs_of_the_next_run_go_up_during_the_last(runtime: &Runtime) {
    let sizes = [40_000, 40_000, 30_000, 60_000, 5, 40_000, 40_001u32];
    let inputs: Vec<(Vec<u32>, Vec<u32>)> = (0u32..)
        .zip(sizes)
        .map(|(k, n)| ((0..n).map(|i| i * k).collect(), vec![k; n as usize]))
        .collect();
    let run = |k: usize| scaled::Run {
        x: &inputs[k].0,
        y: &inputs[k].1,
        n: sizes[k],
        by: 1 + k as u32,
    };
    let check = |k: usize, out: &scaled::Output| {
        let z: Vec<u64> = (0..u64::from(sizes[k]))
            .map(|i| i * k as u64 * (1 + k as u64) + k as u64)
            .collect();
        assert_eq!(out.more, vec![2 * k as u32 + 1; sizes[k] as usize], "{k}");
        assert_eq!(out.z, z, "{k}");
    };
    let overlaps = runtime.backend() == "cuda";
    let mut session = scaled::Session::new(runtime, ()).expect("fits");
    // A batch: only the first two are of one size and can share a launch.
    for _ in 0..2 {
        let before = session.counters().expect("counts");
        for k in 0..sizes.len() {
            session.submit(run(k), 0);
        }
        let batch = session.run_batch().expect("runs");
        for (k, (_, result)) in batch.results.iter().enumerate() {
            check(k, result.as_ref().expect("runs"));
        }
        let more = session.counters().expect("counts").since(&before);
        let uploaded: u64 = sizes.iter().map(|&n| 8 * u64::from(n) + 16).sum();
        assert_eq!(more.refresh_bytes, uploaded);
        assert_eq!(more.ahead_bytes > 0, overlaps);
    }
    // A series, where all but the first go up during the run before, but for the few bytes that are not worth it.
    for last in [3, 4, 6] {
        let before = session.counters().expect("counts");
        let out = session.run_series((0..=last).map(run)).expect("runs");
        check(last, &out);
        let more = session.counters().expect("counts").since(&before);
        let ahead: u64 = (1..=last)
            .filter(|&k| overlaps && k != 4)
            .map(|k| 8 * u64::from(sizes[k]))
            .sum();
        assert_eq!((more.ahead_bytes, more.fences > 0), (ahead, true));
        assert_eq!(more.graph_uploads, 0);
    }
    check(2, &session.run(run(2)).expect("runs"));
    // A budget without room for a second set of inputs.
    let tight = within(runtime, 20 * 40_000 + 6_000);
    let mut session = scaled::Session::new(&tight, ()).expect("fits");
    let out = session.run_series([run(0), run(1), run(5)]).expect("runs");
    check(5, &out);
    assert_eq!(session.counters().expect("counts").ahead_bytes, 0);
}

fn a_long_batch_takes_several_launches_and_keeps_its_order(runtime: &Runtime) {
    // 24 KB a record: more than a thousand of them are worth two launches at least.
    let graph = random_graph(6_000, 9_000);
    let mut session = bfs::Session::new(runtime, &graph).expect("fits");
    for round in 0..2 {
        let before = session.counters().expect("counts");
        for q in 0..1_100 {
            session.submit(bfs::Run { source: q * 5 }, 0);
        }
        let batch = session.run_batch().expect("runs");
        for (q, (_, result)) in (0..).zip(&batch.results) {
            let out = result.as_ref().expect("runs");
            assert_eq!(out.dist[q as usize * 5], 0);
            if q % 97 == 0 {
                assert_eq!(out.dist, distances(&graph, q * 5));
            }
        }
        let launches = batch.launches.expect("backends count");
        match runtime.backend() {
            "cuda" => assert!((2..=4).contains(&launches), "{launches}"),
            _ => assert_eq!(launches, 1),
        }
        let more = session.counters().expect("counts").since(&before);
        assert_eq!(more.readback_bytes, 1_100 * 24_000);
        assert_eq!(more.refresh_bytes, 1_100 * 8);
        if round == 1 {
            assert_eq!(more.allocations, 0);
        }
    }
}

fn launches_have_as_many_ctas_as_are_asked_for(runtime: &Runtime) {
    let graph = random_graph(3_000, 20_000);
    let expected = distances(&graph, 17);
    let varies = runtime.backend() == "cuda";
    let mut session = bfs::Session::new(runtime, &graph).expect("fits");
    for asked in [Some(3), Some(1), Some(1_000_000), None] {
        session.set_workers(asked.and_then(NonZeroU32::new));
        let out = session.run(bfs::Run { source: 17 }).expect("runs");
        assert_eq!(out.dist, expected);
        let decision = session.decisions().last().expect("decided");
        let wanted = asked.unwrap_or(u32::MAX).min(decision.request.max_workers);
        assert_eq!(decision.launch.workers, wanted);
        if varies {
            assert_eq!(decision.followed.workers, wanted);
        }
    }
    session.set_autotune(true);
    let mut runs = 0;
    while session.autotuned().is_none() {
        let out = session.run(bfs::Run { source: 17 }).expect("runs");
        assert_eq!(out.dist, expected);
        runs += 1;
        assert!(runs <= 40);
    }
    let tuned = session.autotuned().expect("it has");
    let chosen = [tuned.workers.is_some(), tuned.items_per_lane.is_some()];
    assert_eq!(chosen, [varies; 2]);
    assert_eq!(tuned.parallel_from.is_some(), !varies);
    // It stays.
    let out = session.run(bfs::Run { source: 17 }).expect("runs");
    assert_eq!(out.dist, expected);
    assert_eq!(session.autotuned(), Some(tuned));
    if let Some(ctas) = tuned.workers {
        let decision = session.decisions().last().expect("decided");
        assert_eq!(decision.followed.workers, ctas);
    }
}

/// Sums of integers, whose result no launch changes.
#[wave_graph]
pub mod weighed {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[topology(per = edge(graph))]
        weight: u32,
        #[reduce(count)]
        heavy: u64,
        #[output(per = node)]
        sum: u32,
        from: u32,
    }

    #[wave(nodes)]
    fn add(v: Node, graph: &Csr, weight: &Buf<u32>, sum: &mut u32) {
        for e in graph.edges(v) {
            *sum += weight[e];
        }
    }

    #[wave(edges(graph))]
    fn count(e: Edge, weight: &u32, from: u32, heavy: &Reduce<Count>) {
        if *weight >= from && e.src != e.dst {
            heavy.inc();
        }
    }
}

fn lanes_take_as_many_items_as_are_tried_and_results_stay(runtime: &Runtime) {
    // Neighbour loops, hubs among them, whose nodes are shared out in chunks; and edges of a frontier.
    let mut edges: Vec<(u32, u32)> = (1..3_000).map(|v| (7, v)).collect();
    edges.extend((0..40_000u32).map(|i| (i * 31 % 9_000, i * 17 % 9_000)));
    let graph = Csr::from_edges(9_000, &edges).expect("a graph");
    let weight: Vec<u32> = (0..graph.edge_count() as u32).collect();
    let topology = || weighed::Topology {
        graph: &graph,
        weight: &weight,
    };
    let none = u32::MAX;
    let mut reference = weighed::Session::new(&Runtime::native(), topology()).expect("fits");
    let expected = reference
        .run(weighed::Run { from: none })
        .expect("runs")
        .sum;
    let mut session = weighed::Session::new(runtime, topology()).expect("fits");
    session.set_autotune(true);
    let mut seen = Vec::new();
    for _ in 0..24 {
        let out = session.run(weighed::Run { from: none }).expect("runs");
        assert_eq!(out.sum, expected);
        let items = session.decisions().last().expect("decided").items_per_lane;
        if seen.last() != Some(&items) {
            seen.push(items);
        }
    }
    match runtime.backend() {
        "cuda" => assert_eq!(seen[..3], [4, 2, 1]),
        _ => assert_eq!(seen, [1]),
    }
    // What lanes took last does not matter to an update, nor to a batch.
    session.update(topology()).expect("fits");
    for _ in 0..3 {
        session.submit(weighed::Run { from: none }, 0);
    }
    let batch = session.run_batch().expect("runs");
    for (_, result) in batch.results {
        assert_eq!(result.expect("runs").sum, expected);
    }
}

fn lists_bring_back_what_they_hold(runtime: &Runtime) {
    let mut session = ample::Session::new(runtime, ()).expect("fits");
    for (n, bytes) in [(10, 40), (0, 0), (60_000, 240_000)] {
        let before = session.counters().expect("counts");
        let out = session.run(ample::Run { n }).expect("runs");
        assert_eq!(out.hits.len(), n as usize);
        let more = session.counters().expect("counts").since(&before);
        assert_eq!(more.readback_bytes, bytes, "{}", runtime.backend());
        assert_eq!(out.report.readback.full_bytes, 4_000_000);
    }
}

/// A list with room for far more than it mostly holds.
#[wave_graph]
pub mod ample {
    pub struct Data {
        #[list(capacity = 1_000_000, output)]
        hits: List<u32>,
        n: u32,
    }

    #[wave(range(n))]
    fn find(i: Index, hits: &Append<u32>) {
        hits.append(i);
    }
}

/// On graphs so small that no sweep is longer than a CTA's, barriers stay in it.
fn what_a_policy_calls_short_stays_on_one_cta(runtime: &Runtime) {
    let small = random_graph(200, 800);
    let large = random_graph(200, 801);
    let mut session = bfs::Session::new(runtime, &small).expect("fits");
    let mut thresholds = Thresholds::default();
    thresholds.launch.lone_worker_items = 800;
    session.set_thresholds(thresholds);
    let scopes = |session: &mut bfs::Session, graph: &Csr| {
        let out = session.run(bfs::Run { source: 3 }).expect("runs");
        assert_eq!(out.dist, distances(graph, 3));
        let decision = session.decisions().last().expect("decided");
        (decision.launch.scope, decision.followed.workers == 1)
    };
    assert_eq!(scopes(&mut session, &small), (Scope::One, true));
    let text = session.explain().to_string();
    let is_device = runtime.backend() == "cuda";
    assert_eq!(text.contains("CTA barriers"), is_device, "{text}");
    session.update(&large).expect("fits");
    let alone = session.decisions().all(|d| d.request.max_workers == 1);
    let scope = if alone { Scope::One } else { Scope::All };
    assert_eq!(scopes(&mut session, &large), (scope, alone));
}

fn a_long_run_tells_how_far_it_is(runtime: &Runtime) {
    let nodes = 100_000;
    let graph = chain(nodes);
    let mut session = bfs::Session::new(runtime, &graph).expect("fits");
    let progress = session.progress().expect("backends tell");
    // A busy machine may look the other way during a run, so it is run until it was seen on its way.
    let began = Instant::now();
    let mut between = 0;
    while between < 4 {
        assert!(
            began.elapsed() < Duration::from_secs(60),
            "seen {between} times"
        );
        std::thread::scope(|scope| {
            let run = scope.spawn(|| session.run(bfs::Run { source: 0 }).map(|_| ()));
            let mut last = 0;
            while !run.is_finished() {
                let rounds = progress.rounds();
                assert!(
                    rounds >= last || last == u64::from(nodes),
                    "{rounds} after {last}"
                );
                if rounds > last && rounds < u64::from(nodes) {
                    between += 1;
                }
                last = rounds;
                std::thread::yield_now();
            }
            run.join().expect("does not panic").expect("runs");
        });
        assert_eq!((progress.rounds(), progress.frontier()), (nodes.into(), 0));
    }
}

#[wave_graph]
pub mod listing {
    pub struct Data {
        #[list(capacity = 8, output)]
        hits: List<u32>,
        #[frontier(capacity = 100)]
        front: Frontier<u32>,
        #[output(per = 1)]
        last: u32,
        n: u32,
    }

    #[wave(range(n))]
    fn find(i: Index, hits: &Append<u32>, front: &Push<u32>) {
        if i & 1 == 0 {
            hits.append(i);
        }
        front.push(i);
    }

    #[wave(items(front), after(find))]
    fn sweep(i: u32, last: &Buf<Atomic<u32>>) {
        last[0].fetch_max(i);
    }
}

fn a_result_larger_than_its_declared_capacity_says_both_numbers(runtime: &Runtime) {
    let mut session = listing::Session::new(runtime, ()).expect("fits");
    let mut hits = |n| session.run(listing::Run { n });
    assert_eq!(hits(16).expect("fits").hits.len(), 8);
    let text = hits(19).unwrap_err().to_string();
    let says = "list `hits` needs at least 10 items; its capacity is 8 in `find` (";
    assert!(text.contains(says), "{}: {text}", runtime.backend());
    assert!(text.contains("sessions.rs:"), "{text}");
    // Both overflow: the first push in the kernel's order counts.
    let text = hits(101).unwrap_err().to_string();
    let says = "list `hits` needs at least 51 items; its capacity is 8 in `find` (";
    assert!(text.contains(says), "{}: {text}", runtime.backend());
    assert_eq!(hits(16).expect("fits").last, [15]);
}

#[wave_graph]
pub mod vast {
    pub struct Data {
        #[output(per = n)]
        a: u64,
        #[scratch(per = n)]
        b: u64,
        #[scratch(per = n)]
        c: u64,
        n: u32,
    }

    #[wave(range(n))]
    fn fill(i: Index, a: &mut u64, b: &mut u64, c: &mut u64) {
        *b = i as u64;
        *c = *b + 1;
        *a = *c * 2;
    }
}

fn elements_of_64_bits_take_what_was_stored(runtime: &Runtime) {
    let mut session = vast::Session::new(runtime, ()).expect("fits");
    for n in [3, 100_000] {
        let out = session.run(vast::Run { n }).expect("runs");
        let expected: Vec<u64> = (0..u64::from(n)).map(|i| 2 * i + 2).collect();
        assert_eq!(out.a, expected, "{}", runtime.backend());
    }
}

/// 128 bytes an item: indices of 32 bits reach 512 GiB.
#[wave_graph]
pub mod enormous {
    #[derive(Clone, Copy)]
    pub struct Row {
        a: u64,
        b: u64,
        c: u64,
        d: u64,
        e: u64,
    }

    pub struct Data {
        #[output(per = n)]
        a: u64,
        #[scratch(per = n)]
        first: Row,
        #[scratch(per = n)]
        second: Row,
        #[scratch(per = n)]
        third: Row,
        n: u32,
    }

    #[wave(range(n))]
    fn fill(i: Index, a: &mut u64, first: &mut Row, second: &mut Row, third: &mut Row) {
        first.e = i as u64;
        second.a = first.e + 1;
        third.c = second.a * 2;
        *a = third.c;
    }
}

#[test]
#[ignore = "needs a CUDA device"]
fn what_a_device_cannot_hold_is_refused_before_anything_is_launched() {
    let runtime = vyre_tests::cuda();
    let (free, total) = runtime
        .cuda_device()
        .expect("it is one")
        .memory_bytes()
        .expect("the device answers");
    let n = u32::try_from(total / 128 + 1).expect("the device has less than 512 GiB");
    let mut session = enormous::Session::new(&runtime, ()).expect("fits");
    let before = session.counters().expect("counts");
    for _ in 0..2 {
        let error = session.run(enormous::Run { n }).unwrap_err();
        let Error::Run(RunError::Memory {
            needed_bytes,
            available_bytes,
            ..
        }) = &error
        else {
            panic!("{error}");
        };
        assert!(*needed_bytes >= 128 * u64::from(n) && *needed_bytes < 129 * u64::from(n));
        assert!(*available_bytes <= free);
        let expected = format!(
            "the run does not fit on {}: with a budget (`Runtime::with_memory`) buffers share memory that are \
            not used at once, and `Runtime::native()` takes the host's; {needed_bytes} bytes are needed, {available_bytes} are available",
            runtime.device()
        );
        assert_eq!(error.to_string(), expected);
        println!("{error}");
    }
    let counted = session.counters().expect("counts").since(&before);
    assert_eq!(
        (counted.launches, counted.fences, counted.allocations),
        (0, 0, 0)
    );
    let out = session.run(enormous::Run { n: 3 }).expect("fits");
    assert_eq!(out.a, [2, 4, 6]);
}

fn many_small_graphs_share_launches_and_keep_apart(runtime: &Runtime) {
    // Of all sizes, one without edges among them, and one with hubs.
    let graphs: Vec<Csr> = (0..500)
        .map(|k| match k {
            77 => random_graph(1, 0),
            78 => {
                let star: Vec<_> = (1..3_000).flat_map(|v| [(0, v), (v, 0)]).collect();
                Csr::from_edges(3_000, &star).expect("a graph")
            }
            _ => random_graph(1 + k * 7 % 400, k * 13 % 900),
        })
        .collect();
    let mut sessions = bfs::Sessions::new(runtime, &graphs).expect("fits");
    assert_eq!(sessions.len(), 500);
    let uploaded = sessions.counters().expect("backends count");
    let bytes = |g: &Csr| 4 * (g.node_count() + 1 + g.edge_count()) as u64;
    assert_eq!(
        uploaded.graph_upload_bytes,
        graphs.iter().map(bytes).sum::<u64>()
    );
    for round in 0..2 {
        let before = sessions.counters().expect("counts");
        // Two queries a graph, the last graphs first.
        let mut expected = Vec::new();
        for (k, graph) in graphs.iter().enumerate() {
            for source in [0, graph.node_count() as u32 - 1] {
                let id = sessions.submit(k, bfs::Run { source }, k as i32);
                expected.push((id, distances(graph, source)));
            }
        }
        let batch = sessions.run_batch().expect("runs");
        assert_eq!((sessions.waiting(), batch.results.len()), (0, 1_000));
        for ((id, dist), (got, result)) in expected.iter().zip(&batch.results) {
            assert_eq!(id, got);
            assert_eq!(&result.as_ref().expect("runs").dist, dist, "{id}");
        }
        let last = [expected[998].0, expected[999].0];
        assert_eq!(batch.order[..2], last);
        let more = sessions.counters().expect("counts").since(&before);
        let read: u64 = expected.iter().map(|(_, d)| 4 * d.len() as u64).sum();
        assert_eq!((more.readback_bytes, more.refresh_bytes), (read, 8_000));
        assert_eq!((more.graph_uploads, more.graph_upload_bytes), (0, 0));
        if runtime.backend() == "cuda" {
            assert_eq!((batch.launches, more.fences), (Some(1), 1));
            assert!(round == 0 || more.allocations == 0, "{more:?}");
        }
    }
    // A query on a graph that is not there, and a pass with inputs, a swap, and reductions.
    let none = sessions.submit(500, bfs::Run { source: 0 }, 0);
    let batch = sessions.run_batch().expect("runs");
    assert_eq!(batch.results[0].0, none);
    let text = batch.results[0].1.as_ref().unwrap_err().to_string();
    assert!(
        text.ends_with("there is no topology 500; there are 500, counted from 0"),
        "{text}"
    );

    let graphs = &graphs[100..160];
    let weights: Vec<Vec<u32>> = graphs
        .iter()
        .map(|g| (0..g.node_count() as u32).map(|v| v * 5 + 1).collect())
        .collect();
    let query = |k: usize| busy::Run {
        weight: &weights[k],
        source: 0,
        rounds: 1 + k as u32 % 5,
    };
    let mut sessions = busy::Sessions::new(runtime, graphs).expect("fits");
    for k in 0..graphs.len() {
        sessions.submit(k, query(k), 0);
    }
    let batch = sessions.run_batch().expect("runs");
    for (k, (_, result)) in batch.results.iter().enumerate() {
        let out = result.as_ref().expect("runs");
        let mut alone = busy::Session::new(&Runtime::vir0(), &graphs[k]).expect("fits");
        let expected = alone.run(query(k)).expect("runs");
        assert_eq!(
            (&out.now, &out.then),
            (&expected.now, &expected.then),
            "{k}"
        );
        assert_eq!((&out.mark, out.total), (&expected.mark, expected.total));
        assert_eq!(out.report.rounds, expected.report.rounds);
    }
}

#[wave_graph]
pub mod heavy {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[topology(per = edge(graph))]
        weight: u32,
        #[list(capacity = 6, output)]
        heavy: List<u32>,
        #[output(per = node)]
        sum: u32,
        from: u32,
    }

    #[wave(nodes)]
    fn add(v: Node, graph: &Csr, weight: &Buf<u32>, sum: &mut u32) {
        for e in graph.edges(v) {
            *sum += weight[e];
        }
    }

    #[wave(edges(graph))]
    fn list(e: Edge, weight: &u32, from: u32, heavy: &Append<u32>) {
        if *weight >= from {
            heavy.append(e.index);
        }
    }
}

fn weights_traps_and_lists_of_many_topologies_are_their_own(runtime: &Runtime) {
    let graphs: Vec<Csr> = (0..40).map(|k| chain(k + 1)).collect();
    let weights: Vec<Vec<u32>> = (0..40)
        .map(|k| (0..k).map(|e| e + 100 * k).collect())
        .collect();
    let topologies = graphs.iter().zip(&weights);
    let topologies = topologies.map(|(graph, weight)| heavy::Topology { graph, weight });
    let mut sessions = heavy::Sessions::new(runtime, topologies).expect("fits");
    for k in 0..40 {
        // The last five edges; all of them on graph 30.
        let from = if k == 30 {
            0
        } else {
            101 * k as u32 - 5.min(k as u32)
        };
        sessions.submit(k, heavy::Run { from }, 0);
    }
    let batch = sessions.run_batch().expect("runs");
    for (k, (_, result)) in (0u32..).zip(&batch.results) {
        if k == 30 {
            let text = result.as_ref().unwrap_err().to_string();
            let says = "list `heavy` needs at least 30 items; its capacity is 6 in `list` (";
            assert!(text.contains(says), "{text}");
            continue;
        }
        let out = result.as_ref().expect("runs");
        let mut heavy = out.heavy.clone();
        heavy.sort_unstable();
        assert_eq!(heavy, (k - 5.min(k)..k).collect::<Vec<u32>>());
        let mut sum: Vec<u32> = (0..k).map(|e| e + 100 * k).collect();
        sum.push(0);
        assert_eq!(out.sum, sum);
    }
}

#[test]
#[ignore = "needs a CUDA device"]
fn batches_on_a_device_keep_to_the_budget() {
    let device = vyre_tests::cuda();
    // What this runtime allocates: other processes take memory of the device meanwhile.
    let allocated = || device.cuda_device().expect("it is one").allocated_bytes();
    // 400 KB of results each: without a budget, tens of megabytes are on the device at a time.
    let graph = random_graph(100_000, 150_000);
    let held = |runtime: &Runtime| {
        let before = allocated();
        let mut session = bfs::Session::new(runtime, &graph).expect("fits");
        for source in 0..200 {
            session.submit(bfs::Run { source }, 0);
        }
        let batch = session.run_batch().expect("runs");
        for (source, (_, result)) in (0..).zip(&batch.results) {
            let dist = &result.as_ref().expect("runs").dist;
            assert_eq!(dist[source as usize], 0);
        }
        let third = batch.results[3].1.as_ref().expect("runs");
        assert_eq!(third.dist, distances(&graph, 3));
        allocated() - before
    };
    let many = |runtime: &Runtime, graphs: &[Csr]| {
        let before = allocated();
        let mut sessions = bfs::Sessions::new(runtime, graphs).expect("fits");
        for k in (0..graphs.len()).chain(0..graphs.len()) {
            sessions.submit(k, bfs::Run { source: k as u32 }, 0);
        }
        let batch = sessions.run_batch().expect("runs");
        let expected: Vec<_> = (0..).zip(graphs).map(|(k, g)| distances(g, k)).collect();
        for ((_, result), expected) in batch.results.iter().zip(expected.iter().chain(&expected)) {
            assert_eq!(&result.as_ref().expect("runs").dist, expected);
        }
        (batch.launches.expect("counted"), allocated() - before)
    };
    let graphs: Vec<Csr> = (0..40).map(|k| random_graph(20_000 + k, 30_000)).collect();
    let all = device.clone().with_memory(1 << 40);
    let _sessions = bfs::Sessions::new(&all, &graphs).expect("fits");
    let (_, bytes) = all.memory().expect("it has a budget");
    let exact = device.clone().with_memory(bytes);
    let (launches, tight) = many(&exact, &graphs);
    println!(
        "{} graphs hold {tight} bytes in {launches} launches, with a budget of {bytes}",
        graphs.len()
    );
    assert!(
        launches > 2 && tight <= bytes + (1 << 20),
        "{launches} {tight}"
    );
    assert_eq!(many(&device, &graphs).0, 1);
    let (tight, free) = (held(&device.clone().with_memory(16 << 20)), held(&device));
    println!("a batch holds {free} bytes, {tight} with a budget of 16 MiB");
    assert!(
        tight <= (16 << 20) + (1 << 20) && tight < free,
        "{tight} of {free}"
    );
}

#[test]
fn many_topologies_keep_to_one_budget() {
    let graph = random_graph(1_000, 4_000);
    let one = search_bytes(&Runtime::native());
    let left = one - 4_000;
    let runtime = Runtime::native().with_memory(3 * one + left);
    let error = bfs::Sessions::new(&runtime, [&graph; 4]).unwrap_err();
    let says = format!("; {one} bytes are needed, {left} are available");
    assert!(error.to_string().ends_with(&says), "{error}");
    assert_eq!(runtime.memory(), Some((3 * one + left, 0)));
    let sessions = bfs::Sessions::new(&runtime, [&graph; 3]).expect("fits");
    assert_eq!(runtime.memory(), Some((3 * one + left, 3 * one)));
    drop(sessions);
    assert_eq!(runtime.memory(), Some((3 * one + left, 0)));
}

#[wave_graph]
pub mod churn {
    pub struct Data {
        #[input(per = n)]
        x: u32,
        #[reduce(max)]
        all: u32,
        n: u32,
        turns: u32,
    }

    #[wave(range(n))]
    fn mix(x: &u32, turns: u32, all: &Reduce<Max<u32>>) {
        let mut h = *x;
        for _ in 0..turns {
            h = (h ^ h >> 15).wrapping_mul(0x2c1b_3c6d);
        }
        all.max(h);
    }
}

#[test]
#[ignore = "needs a CUDA device"]
fn uploads_go_on_beside_launches() {
    let runtime = vyre_tests::cuda();
    let n = 8 << 20;
    let inputs: Vec<Vec<u32>> = (0..8u32)
        .map(|k| (0..n).map(|i| i ^ k << 24).collect())
        .collect();
    let run = |k: usize| churn::Run {
        x: &inputs[k],
        n,
        turns: 150,
    };
    let mut session = churn::Session::new(&runtime, ()).expect("fits");
    session.run_series((0..8).map(run)).expect("runs");
    let (mut apart, mut together) = (u128::MAX, u128::MAX);
    let mut device_ns = 0;
    for _ in 0..5 {
        let started = Instant::now();
        let mut last = 0;
        for k in 0..8 {
            let out = session.run(run(k)).expect("runs");
            last = out.all;
            device_ns = out.report.device_ns.expect("a device has a clock");
        }
        apart = apart.min(started.elapsed().as_micros());
        let started = Instant::now();
        let out = session.run_series((0..8).map(run)).expect("runs");
        together = together.min(started.elapsed().as_micros());
        assert_eq!(out.all, last);
    }
    println!(
        "8 runs of 32 MiB of inputs: {apart} us one by one, {together} us as a series; a launch takes {} us",
        device_ns / 1_000
    );
}

#[test]
#[ignore = "needs a CUDA device"]
fn one_batch_over_many_graphs_is_one_launch() {
    let runtime = vyre_tests::cuda();
    let graphs: Vec<Csr> = (0..1_000)
        .map(|k| random_graph(300 + k % 400, 1_500))
        .collect();
    let started = Instant::now();
    let mut sessions = bfs::Sessions::new(&runtime, &graphs).expect("fits");
    let made = started.elapsed();
    let mut batch_us = Vec::new();
    for _ in 0..4 {
        for k in 0..graphs.len() {
            sessions.submit(k, bfs::Run { source: 0 }, 0);
        }
        let batch = sessions.run_batch().expect("runs");
        batch_us.push(batch.wall_ns / 1_000);
        assert_eq!(batch.launches, Some(1));
    }
    let started = Instant::now();
    let mut alone: Vec<bfs::Session> = (graphs.iter().take(200))
        .map(|g| bfs::Session::new(&runtime, g).expect("fits"))
        .collect();
    let made_alone = started.elapsed();
    let mut alone_us = Vec::new();
    for _ in 0..4 {
        let started = Instant::now();
        for session in &mut alone {
            session.run(bfs::Run { source: 0 }).expect("runs");
        }
        alone_us.push(started.elapsed().as_micros());
    }
    println!("1,000 graphs in one batch: made in {made:?}, then {batch_us:?} us");
    println!("200 sessions of their own: made in {made_alone:?}, then {alone_us:?} us");
}

#[test]
#[ignore = "needs a CUDA device"]
fn what_ctas_cost_on_small_graphs() {
    let runtime = vyre_tests::cuda();
    for (nodes, edges) in [
        (300, 900),
        (1_000, 4_000),
        (2_000, 16_000),
        (4_000, 32_000),
        (10_000, 80_000),
        (40_000, 320_000),
    ] {
        let graph = random_graph(nodes, edges);
        let mut session = bfs::Session::new(&runtime, &graph).expect("fits");
        let mut line = format!("{nodes} nodes, {edges} edges:");
        for ctas in [1, 2, 8, 33, 132] {
            session.set_workers(NonZeroU32::new(ctas));
            let mut best = u64::MAX;
            let mut rounds = 0;
            for _ in 0..20 {
                let out = session.run(bfs::Run { source: 0 }).expect("runs");
                best = best.min(out.report.device_ns.expect("a device has a clock"));
                rounds = out.report.total_rounds();
            }
            line += &format!(" {ctas} CTAs {:.1} us,", best as f64 / 1e3);
            if ctas == 132 {
                line += &format!(" {rounds} rounds");
            }
        }
        println!("{line}");
    }
}
