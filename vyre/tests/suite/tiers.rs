//! Compiled passes beside the interpreter: when a session goes over, and what it says. All of it runs on a device that is
//! played, whose compiler makes nothing, too.

use std::ffi::{c_char, c_int};
use std::io::Write;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, mpsc};
use std::time::Duration;
use vyre::core::plan::launch::Route;
use vyre::cuda::fake::{Failure, Fake};
use vyre::prelude::*;
use vyre::{FusedSession, RoutePolicy, Thresholds};
use vyre_tests::graphs::{UNSEEN, chain, distances, grid, random_graph};
use vyre_tests::happens;
use vyre_tests::passes::{bfs, three_waves};

/// Makes tests of functions `fn name(runtime: &Runtime)`, on a device that is played and on a real one.
macro_rules! device_tests {
    ($($test:ident),* $(,)?) => {
        mod fake {
            $(#[test]
            fn $test() {
                super::$test(&vyre_tests::fake());
            })*
        }
        mod cuda {
            $(#[test]
            #[ignore = "needs a CUDA device"]
            fn $test() {
                super::$test(&vyre_tests::cuda());
            })*
        }
    };
}

device_tests!(
    hot_code_is_compiled_beside_the_runs_and_taken_between_two_of_them,
    every_kind_of_run_says_that_it_was_of_compiled_code,
    what_is_long_is_worth_it_from_the_first_run_on,
    runs_pay_for_the_compiler_before_it_begins,
    an_open_result_goes_over_too,
    a_layout_of_its_own_has_a_module_of_its_own,
    what_is_dropped_while_it_is_compiled_is_nobodys,
    narrow_rounds_of_several_waves_find_what_they_mean,
);

/// A search that is hot from its second run on, where the policy decides.
fn hot_session(runtime: &Runtime, graph: &Csr) -> bfs::Session {
    let mut thresholds = *runtime.thresholds();
    (thresholds.launch.hot_words, thresholds.launch.jit_windows) = (1, 1);
    thresholds.compile_after_ns = 0;
    thresholds.compile_anyway_after_ns = u64::MAX;
    let runtime = runtime.clone().with_route(RoutePolicy::Auto);
    let mut session = bfs::Session::new(&runtime, graph).expect("fits");
    session.set_thresholds(thresholds);
    session
}

/// How a search from node 0 went, whose result is as it must be.
fn route_of(session: &mut bfs::Session, graph: &Csr) -> &'static str {
    let out = session.run(bfs::Run { source: 0 }).expect("runs");
    assert_eq!(out.dist, distances(graph, 0));
    out.report.route
}

fn hot_code_is_compiled_beside_the_runs_and_taken_between_two_of_them(runtime: &Runtime) {
    let graph = chain(100);
    let mut session = hot_session(runtime, &graph);
    assert_eq!(route_of(&mut session, &graph), "interpreted", "it is cold");
    // However long the compiler takes, runs go on.
    let goes_over = happens(|| route_of(&mut session, &graph) == "compiled");
    assert!(goes_over, "it stays interpreted");
    let last = session.decisions().last().expect("decided");
    assert!(last.followed.code.starts_with("compiled ("), "{last}");
    assert_eq!(last.launch.route, Route::Jit);
    // The module is there for the next session of the pass, from its first hot run on.
    let mut other = hot_session(runtime, &graph);
    assert_eq!(route_of(&mut other, &graph), "interpreted");
    assert_eq!(route_of(&mut other, &graph), "compiled");
    other.set_route(RoutePolicy::Interpreter);
    assert_eq!(route_of(&mut other, &graph), "interpreted");
    let last = other.decisions().last().expect("decided");
    let note = "compiled code wanted, but the interpreter was asked for";
    assert_eq!(last.followed.notes, [note]);
    other.compile_now().expect("it was compiled before");
    assert_eq!(route_of(&mut other, &graph), "compiled");
}

fn every_kind_of_run_says_that_it_was_of_compiled_code(runtime: &Runtime) {
    let runtime = runtime.clone().with_route(RoutePolicy::Compiled);
    let graph = random_graph(1_000, 4_000);
    let expected = distances(&graph, 3);
    let mut session = bfs::Session::new(&runtime, &graph).expect("fits");
    let one = session.run(bfs::Run { source: 3 }).expect("runs");
    let series = (0..4).map(|source| bfs::Run { source });
    let series = session.run_series(series).expect("runs");
    for source in 0..4 {
        session.submit(bfs::Run { source }, 0);
    }
    let batch = session.run_batch().expect("runs").results;
    let mut many = bfs::Sessions::new(&runtime, [&chain(7), &graph]).expect("fits");
    many.submit(1, bfs::Run { source: 3 }, 0);
    let many = many.run_batch().expect("runs").results;
    let links = &[];
    let both = FusedSession::<bfs::Pass, bfs::Pass>::new(&runtime, (&graph, &graph), links);
    let mut both = both.expect("fits");
    let (first, second) = both
        .run(bfs::Run { source: 3 }, bfs::Run { source: 3 })
        .expect("runs");
    let last = |results: Vec<(_, Result<bfs::Output, _>)>| {
        let (_, result) = results.into_iter().next_back().expect("a query");
        result.expect("no trap")
    };
    for out in [one, series, last(batch), last(many), first, second] {
        assert_eq!((out.report.route, &out.dist), ("compiled", &expected));
    }
}

/// Float sums beside a pass with an open result, so that neither is put into one program with the other.
#[wave_graph]
mod adds {
    pub struct Data {
        #[output(per = 8_192)]
        out: f32,
    }

    #[wave(range(8_192))]
    fn add(i: Index, out: &mut f32) {
        *out = i as f32 + 0.5;
    }
}

#[kernel]
fn doubles(x: &mut u32) {
    *x *= 2;
}

/// Of each module that an explanation names, how many lines it has, and its figures. The played device's compiler gives all
/// modules the same ones.
fn modules_of(text: &str) -> Vec<usize> {
    let told = text
        .lines()
        .filter_map(|line| line.split_once(" workers, compiled ("));
    let lines = told.map(|(_, told)| {
        let (lines, rest) = told
            .split_once(" lines of PTX in ")
            .expect("lines are said");
        let (_, figures) = rest.split_once(" s, ").expect("the time is said");
        let says = "64 registers, 24 bytes of local memory, 8192 of shared memory, ";
        assert!(figures.starts_with(says), "{text}");
        lines.parse().expect("a number")
    });
    lines.collect()
}

/// Lines of a pass's module as the driver gets it, without the comments of the one that is shown.
fn lines_of(plan: &vyre::Plan, degree: f64) -> usize {
    let text = vyre::cuda::pass_ptx(&plan.program(), degree, None).expect("it fits");
    text.lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .count()
}

#[test]
fn whatever_runs_a_pass_says_which_module_ran_it() {
    let runtime = vyre_tests::fake();
    let compiled = runtime.clone().with_route(RoutePolicy::Compiled);
    let graph = chain(1_000);
    let (search, degree) = (lines_of(&bfs::PLAN, 0.999), 0.0);
    let run = |source| bfs::Run { source };

    let mut session = bfs::Session::new(&compiled, &graph).expect("fits");
    session.run(run(3)).expect("runs");
    assert_eq!(modules_of(&session.explain().to_string()), [search]);
    session.run_series((0..4).map(run)).expect("runs");
    (0..4).for_each(|source| _ = session.submit(run(source), 0));
    session.run_batch().expect("runs");
    let text = session.explain().to_string();
    assert_eq!(modules_of(&text), [search; 3], "{text}");
    assert!(text.contains("launch 3 of 4 queries: "), "{text}");

    let mut many = bfs::Sessions::new(&compiled, [&graph, &graph]).expect("fits");
    assert_eq!(many.explain().to_string(), "");
    for topology in [0, 1, 1] {
        many.submit(topology, run(3), 0);
    }
    many.run_batch().expect("runs");
    let text = many.explain().to_string();
    assert_eq!(modules_of(&text), [search], "{text}");
    assert!(text.starts_with("launch 1 of 3 queries: jit\n"), "{text}");
    assert!(text.contains("\n  happened  "), "{text}");

    // Both as one have a module of their own, and each by itself has its own.
    let fused = FusedSession::<bfs::Pass, bfs::Pass>::new(&compiled, (&graph, &graph), &[]);
    let mut fused = fused.expect("fits");
    assert_eq!(fused.explain().to_string(), "");
    fused.run(run(3), run(4)).expect("runs");
    let text = fused.explain().to_string();
    assert!(
        matches!(*modules_of(&text), [both] if both > search),
        "{text}"
    );
    let apart = FusedSession::<last::Pass, adds::Pass>::new(&compiled, ((), ()), &[]);
    let mut apart = apart.expect("fits");
    apart.run(last::Run {}, adds::Run {}).expect("runs");
    assert!(!apart.is_one_launch());
    let text = apart.explain().to_string();
    let both = [&last::PLAN, &adds::PLAN].map(|plan| lines_of(plan, degree));
    assert_eq!(modules_of(&text), both, "{text}");
    let (first, second) = text.split_once("pass adds\n").expect("it has its name");
    assert!(first.starts_with("pass last\nlaunch 1: "), "{text}");
    assert!(second.starts_with("launch 1: "), "{text}");

    // The session of a kernel stays for the next call.
    assert_eq!(compiled.explain_kernel::<doubles::Pass>(), None);
    let mut x = vec![1; 10_000];
    doubles::run(&compiled, &mut x).expect("runs");
    let text = compiled
        .explain_kernel::<doubles::Pass>()
        .expect("it stays");
    assert_eq!(
        modules_of(&text),
        [lines_of(&doubles::PLAN, degree)],
        "{text}"
    );

    // And where nothing was compiled, they say that.
    let mut session = bfs::Sessions::new(&runtime, [&graph]).expect("fits");
    session.submit(0, run(3), 0);
    session.run_batch().expect("runs");
    let text = session.explain().to_string();
    assert!(text.contains(" workers, interpreted"), "{text}");
    assert!(modules_of(&text).is_empty(), "{text}");
    let native = Runtime::native();
    let mut session = bfs::Sessions::new(&native, [&graph]).expect("fits");
    session.submit(0, run(3), 0);
    session.run_batch().expect("runs");
    let text = session.explain().to_string();
    assert!(text.contains(" workers, native\n"), "{text}");
    doubles::run(&native, &mut x).expect("runs");
    assert_eq!(native.explain_kernel::<doubles::Pass>(), None);
}

/// A runtime that compiles what the launch policy wants compiled at once.
fn at_once(runtime: &Runtime) -> Runtime {
    let thresholds = Thresholds {
        compile_after_ns: 0,
        compile_anyway_after_ns: u64::MAX,
        ..*runtime.thresholds()
    };
    let runtime = runtime.clone().with_route(RoutePolicy::Auto);
    runtime.with_thresholds(thresholds)
}

/// Each look at the clock is 10 ms after the one before, so each run takes 10 ms.
fn runs_pay_for_the_compiler_before_it_begins(runtime: &Runtime) {
    let looks = AtomicU64::new(0);
    let clock = move |_: &str| Duration::from_millis(10 * looks.fetch_add(1, Relaxed));
    let runtime = runtime.clone().with_clock(clock);
    let runtime = runtime.with_route(RoutePolicy::default());
    // Its widest frontier is wide enough for compiled code.
    let graph = random_graph(20_000, 80_000);
    let note = |session: &bfs::Session| {
        let last = session.decisions().last().expect("decided");
        last.followed.notes.join("; ")
    };
    let mut session = bfs::Session::new(&runtime, &graph).expect("fits");
    for so_far in ["0.000", "10.000", "20.000", "30.000", "40.000"] {
        assert_eq!(route_of(&mut session, &graph), "interpreted");
        let waits = format!("compiled code wanted once runs have taken 50 ms; {so_far} so far");
        assert_eq!(note(&session), waits);
    }
    // Runs of one session count for the next one, and those of other passes do not.
    let mut other = last::Session::new(&runtime, ()).expect("fits");
    other.run(last::Run {}).expect("runs");
    let waits = "compiled code wanted once runs have taken 50 ms; 0.000 so far";
    assert!(other.explain().to_string().contains(waits));
    let mut next = bfs::Session::new(&runtime, &graph).expect("fits");
    next.run(bfs::Run { source: 0 }).expect("runs");
    assert!(!note(&next).contains("so far"), "{}", note(&next));
    assert!(happens(|| route_of(&mut next, &graph) == "compiled"));
}

/// By the policy's `jit_queue`, of single runs and of batches on many graphs.
fn what_is_long_is_worth_it_from_the_first_run_on(runtime: &Runtime) {
    let runtime = at_once(runtime);
    for (nodes, route) in [(4_095, Route::Interpreter), (4_096, Route::Jit)] {
        let graph = chain(nodes);
        let mut session = bfs::Session::new(&runtime, &graph).expect("fits");
        let source = nodes - 2;
        session.run(bfs::Run { source }).expect("runs");
        let first = session.decisions().next().expect("decided");
        let waits = first
            .followed
            .notes
            .iter()
            .any(|n| n.contains("being compiled"));
        let begun = first.followed.code.starts_with("compiled") || waits;
        assert_eq!((first.launch.route, begun), (route, route == Route::Jit));
        let mut many = bfs::Sessions::new(&runtime, [&graph]).expect("fits");
        let mut run = || {
            many.submit(0, bfs::Run { source }, 0);
            let mut batch = many.run_batch().expect("runs");
            let (_, result) = batch.results.pop().expect("a query");
            result.expect("no trap").report.route
        };
        match route {
            Route::Interpreter => assert_eq!(run(), "interpreted"),
            Route::Jit => assert!(happens(|| run() == "compiled")),
        }
    }
}

/// The last store counts, whichever it is.
#[wave_graph]
mod last {
    pub struct Data {
        #[output(per = 8_192)]
        out: u32,
    }

    #[wave(range(100))]
    fn write(i: Index, out: &Buf<Atomic<u32>>) {
        out[0].store(i);
    }
}

fn an_open_result_goes_over_too(runtime: &Runtime) {
    let runtime = at_once(runtime);
    let mut session = last::Session::new(&runtime, ()).expect("fits");
    let run = |session: &mut last::Session| {
        let out = session.run(last::Run {}).expect("runs");
        assert!(out.out[0] < 100);
        out.report.route
    };
    assert!(happens(|| run(&mut session) == "compiled"));
}

/// Another number of items a lane, or another graph.
fn a_layout_of_its_own_has_a_module_of_its_own(runtime: &Runtime) {
    let runtime = runtime.clone().with_route(RoutePolicy::Compiled);
    let graph = random_graph(1_000, 20_000);
    let mut session = bfs::Session::new(&runtime, &graph).expect("fits");
    assert_eq!(route_of(&mut session, &graph), "compiled");
    let sparse = chain(1_000);
    session.update(&sparse).expect("fits");
    assert_eq!(route_of(&mut session, &sparse), "compiled");
    session.set_autotune(true);
    while session.autotuned().is_none() {
        assert_eq!(route_of(&mut session, &sparse), "compiled");
    }
}

fn what_is_dropped_while_it_is_compiled_is_nobodys(runtime: &Runtime) {
    let graph = chain(10_000);
    let auto = at_once(runtime);
    let mut session = bfs::Session::new(&auto, &graph).expect("fits");
    session.run(bfs::Run { source: 9_000 }).expect("runs");
    drop((session, auto));
    let mut other = bfs::Session::new(runtime, &graph).expect("fits");
    other.run(bfs::Run { source: 9_000 }).expect("runs");
}

/// What three waves a round leave behind, by whatever code, and the time of a round on the device in nanoseconds.
type Left = (Vec<u32>, Vec<u32>, Vec<u32>, Vec<u64>);
fn three_waves_of(runtime: &Runtime, graph: &Csr, runs: u32) -> (Left, u64) {
    let mut session = three_waves::Session::new(runtime, graph).expect("fits");
    let run = three_waves::Run {
        source: 0,
        too_far: UNSEEN,
    };
    let mut left = None;
    let mut fastest = u64::MAX;
    for _ in 0..runs {
        let out = session.run(run).expect("runs");
        let rounds: u64 = out.report.rounds.iter().sum();
        fastest = fastest.min(out.report.device_ns.unwrap_or(0) / rounds.max(1));
        let now = (out.dist, out.label, out.back, out.report.rounds);
        assert!(left.as_ref().is_none_or(|left| *left == now), "runs differ");
        left = Some(now);
    }
    (left.expect("it ran"), fastest)
}

fn narrow_rounds_of_several_waves_find_what_they_mean(runtime: &Runtime) {
    let mut hub: Vec<(u32, u32)> = (0..9).map(|v| (v, v + 1)).collect();
    hub.extend((10..900).flat_map(|v| [(9, v), (v, 900 + v % 5)]));
    hub.extend((900..1_200).map(|v| (v, v + 1)));
    let hub = Csr::from_edges(1_201, &hub).expect("it is a graph");
    let graphs = [chain(300), grid(40, 50), random_graph(3_000, 9_000), hub];
    let runtime = runtime.clone().with_route(RoutePolicy::Compiled);
    for graph in &graphs {
        let (meant, _) = three_waves_of(&Runtime::vir0(), graph, 1);
        assert_eq!(three_waves_of(&runtime, graph, 4).0, meant);
    }
}

/// Says what a round takes.
#[test]
#[ignore = "needs a CUDA device"]
fn narrow_rounds_of_three_waves_on_a_large_grid_are_those_of_the_cpu() {
    let runtime = vyre_tests::cuda();
    for graph in [grid(1000, 1000), chain(20_000)] {
        let (meant, _) = three_waves_of(&Runtime::native(), &graph, 1);
        for route in [RoutePolicy::Interpreter, RoutePolicy::Compiled] {
            let runtime = runtime.clone().with_route(route);
            let (left, ns) = three_waves_of(&runtime, &graph, 5);
            assert_eq!(left, meant, "{route:?}");
            let nodes = graph.node_count();
            println!("{nodes} nodes, {route:?}: {ns} ns a round of three waves");
        }
    }
}

#[test]
fn a_compiler_that_fails_is_a_reason_and_no_error_of_a_run() {
    let played = Fake::default();
    let runtime = vyre_tests::on(played.open().expect("nothing fails"));
    let graph = chain(100);
    let modules = || played.held().modules;
    let before = modules();
    {
        let mut session = hot_session(&runtime, &graph);
        // The next call is the compiler's, for which this thread waits.
        played.fail(0, Failure::Once);
        let failed = session
            .compile_now()
            .expect_err("the call fails")
            .to_string();
        assert_eq!(played.failed(), Some("cuLibraryLoadData"));
        let pass = "`bfs` could not be compiled, and the route `Interpreter` runs it: ";
        assert!(failed.contains(pass), "{failed}");
        for _ in 0..3 {
            assert_eq!(route_of(&mut session, &graph), "interpreted");
        }
        let explained = session.explain().to_string();
        let reason = failed.split(pass).nth(1).expect("it is there");
        let note = format!("compiled code wanted: not compiled: {reason}");
        assert!(explained.contains(&note), "{explained}");
        // Whoever asks for compiled code and nothing else gets the error.
        session.set_route(RoutePolicy::Compiled);
        let refused = session.run(bfs::Run { source: 0 }).map(|out| out.dist);
        assert_eq!(refused.expect_err("there is no code").to_string(), failed);
    }
    // A failure is forgotten with those who asked.
    let mut session = hot_session(&runtime, &graph);
    session.compile_now().expect("nothing fails");
    assert_eq!(modules(), before + 1);
    assert_eq!(route_of(&mut session, &graph), "compiled");
    drop(session);
    // The compiler's thread may have been the last to hold it.
    assert!(happens(|| modules() == before));
}

/// Bytes of a budget that are taken.
fn used(runtime: &Runtime) -> u64 {
    runtime.memory().expect("it has a budget").1
}

/// A played device, and a runtime of it with a budget.
fn played(budget_bytes: u64) -> (Fake, Runtime) {
    let played = Fake::default();
    let runtime = vyre_tests::on(played.open().expect("nothing fails"));
    (played, runtime.with_memory(budget_bytes))
}

fn three_waves_session(runtime: &Runtime, graph: &Csr) -> three_waves::Session {
    three_waves::Session::new(runtime, graph).expect("fits")
}

/// What a search and three waves take on a graph, and then their modules, in bytes.
fn sizes(graph: &Csr) -> ([u64; 2], [u64; 2]) {
    let (_, runtime) = played(1 << 40);
    let mut taken = vec![0];
    let mut bfs = bfs::Session::new(&runtime, graph).expect("fits");
    taken.push(used(&runtime));
    let mut waves = three_waves_session(&runtime, graph);
    taken.push(used(&runtime));
    bfs.compile_now().expect("nothing fails");
    taken.push(used(&runtime));
    waves.compile_now().expect("nothing fails");
    taken.push(used(&runtime));
    // A second session of a pass has the module of the first.
    let before = used(&runtime);
    let mut second = bfs::Session::new(&runtime, graph).expect("fits");
    second.compile_now().expect("it is there");
    assert_eq!(used(&runtime) - before, taken[1]);
    let of: Vec<u64> = taken.windows(2).map(|pair| pair[1] - pair[0]).collect();
    ([of[0], of[1]], [of[2], of[3]])
}

fn three_waves_route(session: &mut three_waves::Session) -> &'static str {
    let run = three_waves::Run {
        source: 0,
        too_far: UNSEEN,
    };
    session.run(run).expect("runs").report.route
}

#[test]
fn modules_count_in_the_budget_and_the_one_unused_longest_goes() {
    let graph = chain(100);
    let (sessions, modules) = sizes(&graph);
    assert!(modules.iter().all(|&bytes| bytes > 10_000), "{modules:?}");
    let all = sessions[0] + sessions[1] + modules[0] + modules[1];
    // All fit, to the byte.
    {
        let (_, runtime) = played(all);
        let mut search = bfs::Session::new(&runtime, &graph).expect("fits");
        let mut waves = three_waves_session(&runtime, &graph);
        search.compile_now().expect("fits");
        waves.compile_now().expect("fits");
        assert_eq!(runtime.memory(), Some((all, all)));
    }
    let (played, runtime) = played(all - 1);
    let on_device = || played.held().modules;
    let interpreter = on_device();
    let mut search = hot_session(&runtime, &graph);
    let mut waves = three_waves_session(&runtime, &graph);
    search.compile_now().expect("fits");
    assert_eq!(route_of(&mut search, &graph), "compiled");
    let with_one = used(&runtime);
    // The other's module takes the place of this one, which no run uses.
    waves.compile_now().expect("there is room for one");
    assert_eq!(on_device(), interpreter + 1);
    assert_eq!(used(&runtime), with_one - modules[0] + modules[1]);
    assert_eq!(three_waves_route(&mut waves), "compiled");
    // Without room for both, the search goes back to the interpreter, and stays there.
    search.set_route(RoutePolicy::Auto);
    for _ in 0..3 {
        assert_eq!(route_of(&mut search, &graph), "interpreted");
    }
    let last = search.decisions().last().expect("decided");
    let note = format!(
        "compiled code wanted: its module was unloaded, because the budget needed its {} bytes",
        modules[0]
    );
    assert_eq!(last.followed.notes, [note]);
    assert_eq!(three_waves_route(&mut waves), "compiled");
    // Who waits for it gets it, and the other one goes.
    search.compile_now().expect("there is room for one");
    assert_eq!(route_of(&mut search, &graph), "compiled");
    assert_eq!(on_device(), interpreter + 1);
    assert_eq!(used(&runtime), with_one);
    waves.compile_now().expect("there is room for one");
    search.set_route(RoutePolicy::Auto);
    drop(waves);
    // The compiler's thread may have been the last to hold it. Then there is room, and runs ask for it.
    assert!(happens(|| on_device() == interpreter));
    let goes_over = happens(|| route_of(&mut search, &graph) == "compiled");
    assert!(goes_over, "there is room again");
    drop(search);
    assert!(happens(|| on_device() == interpreter));
    assert_eq!(used(&runtime), 0);
}

#[test]
fn a_session_takes_the_place_of_a_module_but_of_none_that_runs() {
    let graph = chain(100);
    let (sessions, modules) = sizes(&graph);
    let (played, runtime) = played(sessions[0] + sessions[1] + modules[0]);
    let on_device = || played.held().modules;
    let interpreter = on_device();
    let mut search = hot_session(&runtime, &graph);
    search.compile_now().expect("fits");
    assert_eq!(route_of(&mut search, &graph), "compiled");
    // It leaves less than this one needs: as long as a run has the module, there is no room.
    let taking = |bytes: u64| chain((100 * bytes / sessions[1]) as u32);
    let large = taking(sessions[1] + modules[0] / 2);
    let open = {
        let runtime = runtime.clone();
        move |large: &Csr| three_waves::Session::new(&runtime, large).map(drop)
    };
    {
        let (open, large) = (open.clone(), large.clone());
        played.at_launch(move || {
            let refused = open(&large).expect_err("a run has the module");
            assert!(matches!(
                refused,
                vyre::Error::Run(vyre::RunError::Memory { .. })
            ));
        });
    }
    assert_eq!(route_of(&mut search, &graph), "compiled");
    assert_eq!(on_device(), interpreter + 1);
    open(&large).expect("it fits without the module");
    assert_eq!(on_device(), interpreter);
    // One that fits nowhere costs no module.
    let goes_over = happens(|| route_of(&mut search, &graph) == "compiled");
    assert!(goes_over, "there is room again");
    open(&taking(sessions[1] + 2 * modules[0])).expect_err("it does not fit at all");
}

#[test]
fn a_module_that_does_not_fit_is_a_reason_and_no_error_of_a_run() {
    let graph = chain(100);
    let (sessions, modules) = sizes(&graph);
    let (played, runtime) = played(sessions[0] + modules[0] - 1);
    let interpreter = played.held().modules;
    let mut session = hot_session(&runtime, &graph);
    let why = format!(
        "its module takes {} bytes, and the budget has less beside what is in use",
        modules[0]
    );
    let refused = session.compile_now().expect_err("it does not fit");
    let says = format!("`bfs` could not be compiled, and the route `Interpreter` runs it: {why}");
    assert!(refused.to_string().contains(&says), "{refused}");
    for _ in 0..3 {
        assert_eq!(route_of(&mut session, &graph), "interpreted");
    }
    let explained = session.explain().to_string();
    let note = format!("compiled code wanted: not compiled: {why}");
    assert!(explained.contains(&note), "{explained}");
    assert_eq!(played.held().modules, interpreter);
}

/// Loads at an index that only the load before tells, each with a check.
#[device]
fn step(table: &Buf<u32>, x: u32) -> u32 {
    let mut h = x;
    h = table[h ^ 1];
    h = table[h ^ 2];
    h = table[h ^ 3];
    h = table[h ^ 4];
    h = table[h ^ 5];
    h = table[h ^ 6];
    h = table[h ^ 7];
    table[h ^ 8]
}

#[device]
fn steps_4(table: &Buf<u32>, x: u32) -> u32 {
    let half = step(table, step(table, x));
    step(table, step(table, half))
}

#[device]
fn steps_16(table: &Buf<u32>, x: u32) -> u32 {
    let half = steps_4(table, steps_4(table, x));
    steps_4(table, steps_4(table, half))
}

#[device]
fn steps_64(table: &Buf<u32>, x: u32) -> u32 {
    let half = steps_16(table, steps_16(table, x));
    steps_16(table, steps_16(table, half))
}

/// More text than the driver's compiler is given beside runs.
#[wave_graph]
mod long {
    pub struct Data {
        #[input(per = 1_024)]
        table: u32,
        #[output(per = 64)]
        out: u32,
    }

    #[wave(range(64))]
    fn mix(i: Index, table: &Buf<u32>, out: &mut u32) {
        let half = steps_64(table, steps_64(table, i));
        *out = steps_64(table, steps_64(table, half));
    }
}

/// What has too much text for the compiler stays interpreted, and says why; who waits for it gets it.
#[test]
fn a_module_that_is_too_large_is_left_out_and_made_for_who_waits() {
    let played = Fake::default();
    let runtime = vyre_tests::on(played.open().expect("nothing fails"));
    let interpreter = played.held().modules;
    let mut thresholds = *at_once(&runtime).thresholds();
    (thresholds.launch.hot_words, thresholds.launch.jit_windows) = (1, 1);
    let runtime = runtime.with_thresholds(thresholds);
    let mut session = long::Session::new(&runtime, ()).expect("fits");
    let table: Vec<u32> = (0..1_024).map(|i| (i * 77 + 5) % 1_024).collect();
    let given = || long::Run { table: &table };
    let expected = long::Session::new(&Runtime::native(), ());
    let expected = expected.and_then(|mut s| s.run(given()));
    let expected = expected.expect("no trap").out;
    let mut run = || {
        let out = session.run(given()).expect("no trap");
        assert_eq!(out.out, expected);
        let last = session.decisions().last().expect("decided");
        (out.report.route, last.followed.notes.join("; "))
    };
    let refused = "compiled code wanted: not compiled: its module has ";
    assert!(happens(|| run().1.starts_with(refused)));
    for _ in 0..3 {
        let (route, why) = run();
        assert_eq!(route, "interpreted");
        let lines = why[refused.len()..].split(' ').next().expect("a number");
        assert!(lines.parse::<usize>().expect("a number") > 40_000, "{why}");
        let rest = " lines of PTX; at most 40000 are compiled beside runs";
        assert!(why.ends_with(rest), "{why}");
    }
    assert_eq!(played.held().modules, interpreter);
    session.compile_now().expect("it may have any size");
    assert_eq!(played.held().modules, interpreter + 1);
    let out = session.run(given()).expect("no trap");
    assert_eq!((out.report.route, out.out), ("compiled", expected));
}

/// Sums that show the order of their terms: of each node's neighbours, and of all nodes by one CTA.
#[wave_graph]
mod sums {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[input(per = node)]
        x: f32,
        #[output(per = node)]
        near: f32,
        #[output(per = node)]
        wide: f64,
    }

    #[wave(nodes)]
    fn add(v: Node, graph: &Csr, x: &Buf<f32>, near: &mut f32, wide: &mut f64) {
        let mut sum = 0.0;
        for w in graph.neighbors(v) {
            sum += x[w];
        }
        *near = sum;
        for e in graph.edges(v) {
            *wide += f64::from(x[graph.target(e)]) / f64::from(e + 3);
        }
    }
}

/// Nodes with any number of neighbours, so that some sums are shared out by the interpreter.
#[test]
#[ignore = "needs a CUDA device"]
fn sums_of_floats_are_the_same_bits_interpreted_and_compiled() {
    let runtime = vyre_tests::cuda();
    let hubs = (0..200_000u32).map(|k| (k % 7, k.wrapping_mul(2_654_435_761) % 50_021));
    let all = (0..300_000u32).map(|k| (k * 7 % 50_021, k.wrapping_mul(40_503) % 50_021));
    let edges: Vec<(u32, u32)> = hubs.chain(all).collect();
    let graph = Csr::from_edges(50_021, &edges).expect("it is a graph");
    let x: Vec<f32> = (0..50_021u32)
        .map(|v| (v.wrapping_mul(2_654_435_761) >> 7) as f32 / 1e6 - 10.0)
        .collect();
    let run = |route| {
        let runtime = runtime.clone().with_route(route);
        let mut session = sums::Session::new(&runtime, &graph).expect("fits");
        let out = session.run(sums::Run { x: &x }).expect("no trap");
        let near: Vec<u32> = out.near.iter().map(|x| x.to_bits()).collect();
        let wide: Vec<u64> = out.wide.iter().map(|x| x.to_bits()).collect();
        (out.report.route, near, wide)
    };
    let (interpreted, compiled) = (run(RoutePolicy::Interpreter), run(RoutePolicy::Compiled));
    assert_eq!((interpreted.0, compiled.0), ("interpreted", "compiled"));
    assert!(interpreted.1 == compiled.1, "32 bits");
    assert!(interpreted.2 == compiled.2, "64 bits");
    // The order shows, or this would say nothing.
    let of_zero = &graph.targets()[..graph.degree(0) as usize];
    let backward: f32 = of_zero.iter().rev().map(|&w| x[w as usize]).sum();
    assert_ne!(backward.to_bits(), interpreted.1[0]);
}

/// Counted in runs: while the compiler is at work, as many go on as are asked for, and sessions are opened and dropped.
#[test]
fn no_run_and_no_drop_waits_for_the_compiler() {
    let played = Fake::default();
    let runtime = vyre_tests::on(played.open().expect("nothing fails"));
    let interpreter = played.held().modules;
    let graph = chain(100);
    let (begins, began) = mpsc::channel();
    let (go_on, may_go_on) = mpsc::channel::<()>();
    played.at_compile(move || {
        begins.send(()).expect("the test listens");
        // Ends with the test, if that fails.
        let _told = may_go_on.recv();
    });
    let mut session = hot_session(&runtime, &graph);
    for _ in 0..2 {
        assert_eq!(route_of(&mut session, &graph), "interpreted");
    }
    began.recv().expect("the compiler is at work");
    for _ in 0..10 {
        assert_eq!(route_of(&mut session, &graph), "interpreted");
        let mut other = hot_session(&runtime, &graph);
        assert_eq!(route_of(&mut other, &graph), "interpreted");
        assert_eq!(route_of(&mut other, &graph), "interpreted");
    }
    let last = session.decisions().last().expect("decided");
    assert_eq!(
        last.followed.notes,
        ["compiled code wanted: being compiled"]
    );
    // The module is nobody's any more when it is there.
    drop(session);
    assert_eq!(played.held().modules, interpreter);
    go_on.send(()).expect("the compiler waits");
    let mut other = hot_session(&runtime, &graph);
    other.compile_now().expect("nothing fails");
    assert!(happens(|| played.held().modules == interpreter + 1));
}

/// What waits while the compiler is at work is compiled in the order of what its runs have executed.
#[test]
fn the_hottest_pass_that_waits_is_compiled_first() {
    let played = Fake::default();
    let runtime = vyre_tests::on(played.open().expect("nothing fails"));
    let mut thresholds = *at_once(&runtime).thresholds();
    (thresholds.launch.hot_words, thresholds.launch.jit_windows) = (1, 1);
    let runtime = runtime.with_thresholds(thresholds);
    let (begins, began) = mpsc::channel();
    let (go_on, may_go_on) = mpsc::channel::<()>();
    let may_go_on = Arc::new(std::sync::Mutex::new(may_go_on));
    // The next module is one that the test waits for, twice.
    let stop_at_next = || {
        let (begins, may_go_on) = (begins.clone(), Arc::clone(&may_go_on));
        played.at_compile(move || {
            begins.send(()).expect("the test listens");
            // Ends with the test, if that fails.
            let _told = may_go_on.lock().map(|told| told.recv());
        });
    };
    stop_at_next();
    let mut first = last::Session::new(&runtime, ()).expect("fits");
    let (short, long) = (chain(50), chain(5_000));
    let mut cold = three_waves_session(&runtime, &short);
    let mut hot = bfs::Session::new(&runtime, &long).expect("fits");
    let rounds = |hot: &mut bfs::Session| {
        let out = hot.run(bfs::Run { source: 4_000 }).expect("runs");
        out.report.route
    };
    for _ in 0..2 {
        first.run(last::Run {}).expect("runs");
    }
    began.recv().expect("the compiler is at work");
    // The cold one asks first.
    for _ in 0..2 {
        assert_eq!(three_waves_route(&mut cold), "interpreted");
    }
    for _ in 0..3 {
        assert_eq!(rounds(&mut hot), "interpreted");
    }
    for _ in 0..2 {
        stop_at_next();
        go_on.send(()).expect("the compiler waits");
        began.recv().expect("it goes on");
    }
    // The last one is being compiled.
    assert_eq!(rounds(&mut hot), "compiled");
    assert_eq!(three_waves_route(&mut cold), "interpreted");
    go_on.send(()).expect("the compiler waits");
    assert!(happens(|| three_waves_route(&mut cold) == "compiled"));
}

/// Tells a process of its own how many runs to make, and with which status to end.
const ENDS: &str = "VYRE_TEST_ENDS";

#[test]
#[ignore = "run by another test, in processes of its own"]
fn child_ends_while_its_pass_is_compiled() {
    unsafe extern "C" {
        fn puts(line: *const c_char) -> c_int;
    }
    let Ok(told) = std::env::var(ENDS) else {
        return;
    };
    let (runs, status) = told.split_once(' ').expect("two numbers");
    let runtime = vyre_tests::cuda();
    let graph = chain(100);
    let mut session = hot_session(&runtime, &graph);
    // The second one asks for the module.
    for _ in 0..2 + runs.parse::<u32>().expect("a number") {
        route_of(&mut session, &graph);
    }
    let last = session.decisions().last().expect("decided");
    let notes = last.followed.notes.join("; ");
    write!(std::io::stdout(), "child: {notes}; ").expect("the test reads it");
    // SAFETY: it is text that ends.
    unsafe { puts(c"C".as_ptr()) };
    std::process::exit(status.parse().expect("a number"));
}

#[test]
#[ignore = "needs a CUDA device"]
fn a_process_ends_as_it_means_to_while_a_pass_is_compiled() {
    let mut meanwhile = 0;
    for turn in 0..20 {
        let status = [0, 7][turn % 2];
        let child = Command::new(std::env::current_exe().expect("it runs"))
            .args(["--exact", "--ignored"])
            .arg("tiers::child_ends_while_its_pass_is_compiled")
            .env(ENDS, format!("{} {status}", 100 * turn))
            .env("CUDA_CACHE_DISABLE", "1")
            .output()
            .expect("it runs again");
        assert_eq!(child.status.code(), Some(status), "{turn}: {child:?}");
        let out = String::from_utf8(child.stdout).expect("it is text");
        let own = out.split_once("child: ").expect("it came that far").1;
        let (notes, rest) = own.split_once("; ").expect("notes come first");
        assert_eq!(rest, "C\n", "{turn}: {out}");
        meanwhile += u32::from(notes == "compiled code wanted: being compiled");
    }
    println!("{meanwhile} of 20 processes ended while the driver compiled");
}
