//! What a session does beside running its pass as it is written: each test flips an answer by figures and by what the
//! session sees, and sees the execution change. Times are those of a clock that each look turns on by a millisecond.

#![allow(
    missing_docs,
    reason = "the passes are public only to be like a user's"
)]

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;
use vyre::core::plan::gains::{BuiltIn, Gains};
use vyre::core::plan::passes::Skip;
use vyre::cuda::fake::{Fake, Transcript};
use vyre::prelude::*;
use vyre::{Csr, Decision, FusedSession, Pass, RoutePolicy, Sessions, Thresholds, Verdict};
use vyre_tests::graphs::{UNSEEN, chain, distances, random_graph};
use vyre_tests::passes::bfs;
use vyre_tests::{backend_tests, happens};

/// Multiples, in a list that has more room than there are numbers.
#[wave_graph]
pub mod finds {
    pub struct Data {
        #[list(capacity = 1_000, output)]
        found: List<u32>,
        of: u32,
    }

    #[wave(range(1_000))]
    fn find(i: Index, of: u32, found: &Append<u32>) {
        if i.is_multiple_of(of) {
            found.append(i);
        }
    }
}

/// A search along edges whose reverse is there.
#[wave_graph]
mod reached {
    use super::UNSEEN;

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
        source: u32,
    }

    #[wave(nodes)]
    fn begin(v: Node, back: &Csr, source: u32, dist: &mut u32, fans: &mut u32, front: &Push) {
        *fans = back.degree(v);
        *dist = UNSEEN;
        if v == source {
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

/// Each look at the clock is a millisecond after the one before, so each run takes one.
fn ticking(runtime: Runtime) -> Runtime {
    let looks = AtomicU64::new(0);
    runtime.with_clock(move |_| Duration::from_millis(looks.fetch_add(1, Relaxed)))
}

/// The runtime's thresholds with these changes. Without them nothing was measured of the device.
fn figures(runtime: &Runtime, text: &str) -> Thresholds {
    let unmeasured = Thresholds {
        gains: Gains::default(),
        ..*runtime.thresholds()
    };
    unmeasured.with(text).expect("thresholds")
}

/// Whether a candidate was done in a launch, and what was said of it; `None` where nothing was.
fn considered(decision: &Decision, candidate: BuiltIn) -> Option<(bool, Verdict)> {
    let found = decision
        .considered
        .iter()
        .find(|c| c.candidate == candidate);
    found.map(|c| (c.is_done, c.verdict))
}

const PAGE: &str = include_str!("../../docs/SESSIONS.md");

/// A runtime with the figures that SESSIONS.md makes up.
fn of_the_page(runtime: Runtime) -> Runtime {
    let begin = PAGE.find("# made up for this page\n").expect("it has them");
    let text = PAGE[begin..].split("```").next().expect("they end");
    let measured = figures(&runtime, text);
    runtime.with_thresholds(measured)
}

/// What SESSIONS.md shows has to be what is printed, but for where lines end, and times in milliseconds: nothing
/// decides those here.
fn is_on_the_page(text: &str) {
    let timeless = |text: &str| {
        let mut words: Vec<&str> = text.split_whitespace().collect();
        for i in 1..words.len() {
            if words[i].starts_with("ms") {
                words[i - 1] = "T";
            }
        }
        words.join(" ")
    };
    let is_there = timeless(PAGE).contains(&timeless(text));
    assert!(is_there, "SESSIONS.md does not have\n{text}");
}

fn played() -> (Runtime, Transcript) {
    let (cuda, transcript) = Transcript::of_fake(&Fake::default()).expect("nothing fails");
    let runtime = vyre_tests::on(cuda).with_route(RoutePolicy::Interpreter);
    (ticking(runtime), transcript)
}

#[test]
fn lists_are_packed_where_as_much_need_not_come_back() {
    let (runtime, transcript) = played();
    let mut session = finds::Session::new(&runtime, ()).expect("it fits");
    let mut run = |text: &str, of: u32| {
        session.set_thresholds(figures(&runtime, text));
        let before = transcript.text().len();
        let out = session.run(finds::Run { of }).expect("no trap");
        assert_eq!(out.found.len(), 1_000_usize.div_ceil(of as usize));
        let copies = transcript.text()[before..].matches(": download ").count();
        let last = session.decisions().last().expect("decided");
        let explained = session.explain().to_string();
        assert!(!explained.contains("has no memory"), "{explained}");
        (copies, considered(last, BuiltIn::Lists), explained)
    };
    // Nothing was seen, or measured: control words, and what is found in a second copy, then both in one.
    assert_eq!(run("gain.lists = 15000 bps, from 4001 bytes", 10).1, None);
    let (copies, said, text) = run("", 10);
    assert_eq!((copies, said), (1, None));
    assert!(
        text.contains("gains     unmeasured: vyre.lists, vyre.plan\n"),
        "{text}"
    );
    // 400 of 4,000 bytes were found.
    let (copies, said, _) = run("gain.lists = 15000 bps, from 3600 bytes", 10);
    let saves_ns = Some(1_000_000);
    assert_eq!(
        (copies, said),
        (1, Some((true, Verdict::Selected { saves_ns })))
    );
    let (copies, said, _) = run("gain.lists = 15000 bps, from 3601 bytes", 10);
    let skip = Skip::Readback {
        actual: 3_600,
        needed: 3_601,
    };
    assert_eq!((copies, said), (2, Some((false, Verdict::Skipped(skip)))));
    let slower = "gain.lists = 9999 bps";
    let verdict = Verdict::NoFaster { speedup_bps: 9_999 };
    assert_eq!(run(slower, 10).1, Some((false, verdict)));
    assert_eq!(run(slower, 10).0, 2);
    // What is measured no longer is done again.
    run("", 10);
    assert_eq!(run("", 10).0, 1);
}

/// The room for what is not packed is another session's.
#[test]
fn what_is_not_packed_takes_no_memory() {
    let (runtime, _) = played();
    let runtime = runtime.with_memory(1 << 30);
    let mut session = finds::Session::new(&runtime, ()).expect("it fits");
    let mut taken = |text: &str| {
        session.set_thresholds(figures(&runtime, text));
        session.run(finds::Run { of: 10 }).expect("no trap");
        runtime.memory().expect("a budget").1
    };
    let with = taken("");
    assert_eq!(with - taken("gain.lists = 1 bps"), 4_000);
    assert_eq!(taken(""), with);
}

fn a_plan_is_kept_from_as_many_sessions_on_as_pay(runtime: &Runtime) {
    let runtime = ticking(runtime.clone());
    let measured = figures(&runtime, "gain.plan = 20_000 bps, from 3 uses");
    let runtime = runtime.with_thresholds(measured);
    let graph = chain(5);
    let open = || {
        let mut session = bfs::Session::new(&runtime, &graph).expect("it fits");
        for _ in 0..2 {
            let out = session.run(bfs::Run { source: 0 }).expect("no trap");
            assert_eq!(out.dist, distances(&graph, 0));
        }
        let last = session.decisions().last().expect("decided");
        let (is_done, verdict) = considered(last, BuiltIn::Plan).expect("it was measured");
        let selected = matches!(verdict, Verdict::Selected { .. });
        assert_eq!(is_done, selected, "{last}");
        let planning = runtime.planning().sessions;
        (is_done, planning.entries, planning.hits)
    };
    assert_eq!(open(), (false, 0, 0));
    assert_eq!(open(), (false, 0, 0));
    assert_eq!(open(), (true, 1, 0));
    assert_eq!(open(), (true, 1, 1));
}

/// Sweeps that pulled, of three searches: with nothing measured, with figures that say where it pays, and again
/// without.
fn pulled(runtime: &Runtime) -> [u64; 4] {
    let graph = random_graph(20_000, 400_000);
    let mut session = reached::Session::new(runtime, &graph).expect("it fits");
    let expected = distances(&graph, 0);
    let mut run = |text: &str, done: Option<bool>| {
        session.set_thresholds(figures(runtime, &format!("pull_from = 1\n{text}")));
        let out = session.run(reached::Run { source: 0 }).expect("no trap");
        assert_eq!(out.dist, expected);
        let last = session.decisions().last().expect("decided");
        let said = considered(last, BuiltIn::Pulling);
        assert_eq!(said.map(|(done, _)| done), done, "{last}");
        out.report.activity.expect("counts").pulled
    };
    [
        run("", None),
        run("gain.pulling = 30000 bps, from 1_000 items", Some(true)),
        run("gain.pulling = 30000 bps, from 20_001 items", Some(false)),
        run("", None),
    ]
}

#[test]
fn rounds_pull_where_frontiers_are_as_wide_as_pays() {
    let [unmeasured, wide, narrow, again] = pulled(&ticking(Runtime::native()));
    assert!(unmeasured > 0 && wide > 0 && again > 0);
    assert_eq!(narrow, 0);
}

#[test]
#[ignore = "needs a CUDA device"]
fn rounds_of_a_device_pull_where_frontiers_are_as_wide_as_pays() {
    let runtime = vyre_tests::cuda();
    let [unmeasured, wide, narrow, again] = pulled(&ticking(runtime));
    assert!(unmeasured > 0 && wide > 0 && again > 0);
    assert_eq!(narrow, 0);
}

/// A device has the bitmaps as long as they are of use.
fn bitmaps_are_there_where_pulling_pays(runtime: &Runtime) {
    let graph = random_graph(100_000, 400_000);
    let device = runtime.cuda_device().expect("it is one");
    let runtime = ticking(runtime.clone());
    let mut session = reached::Session::new(&runtime, &graph).expect("it fits");
    let mut bytes = |text: &str| {
        let text = format!("route.sparse_density = 0\nroute.warp_sparse_density = 0\n{text}");
        session.set_thresholds(figures(&runtime, &text));
        session.run(reached::Run { source: 0 }).expect("no trap");
        device.allocated_bytes()
    };
    let with = bytes("");
    assert_eq!(bytes("gain.pulling = 30000 bps"), with);
    // Three times a bit a node, in units of 128 and then 256 bytes.
    let bitmaps = 3 * 12_544;
    let narrow = "gain.pulling = 30000 bps, from 100_001 items";
    assert_eq!(with - bytes(narrow), bitmaps);
    assert_eq!(bytes(""), with);
}

#[test]
fn the_page_shows_lists_that_are_packed() {
    let (runtime, _) = played();
    let runtime = of_the_page(runtime);
    let mut session = finds::Session::new(&runtime, ()).expect("it fits");
    for _ in 0..2 {
        session.run(finds::Run { of: 10 }).expect("no trap");
    }
    let text = session.explain().to_string();
    let last = text.find("launch 2: ").expect("it ran twice");
    is_on_the_page(&text[last..]);
}

#[test]
fn the_page_shows_a_search_that_pulls() {
    let runtime = Runtime::native_threads(2).expect("there are threads");
    let runtime = of_the_page(ticking(runtime));
    let graph = random_graph(20_000, 400_000);
    let mut session = reached::Session::new(&runtime, &graph).expect("it fits");
    for _ in 0..2 {
        session.run(reached::Run { source: 0 }).expect("no trap");
    }
    let text = session.explain().to_string();
    let last = text.find("launch 2: ").expect("it ran twice");
    is_on_the_page(&text[last..]);
}

/// A search that is hot from its second run on, where the policy decides.
fn compiled_code_is_asked_for_where_it_pays(runtime: &Runtime) {
    let graph = chain(100);
    let runtime = ticking(runtime.clone().with_route(RoutePolicy::Auto));
    let hot = "launch.hot_words = 1\nlaunch.jit_windows = 1\ncompile_after_ns = 0\n\
               compile_anyway_after_ns = 18446744073709551615\n";
    let mut session = bfs::Session::new(&runtime, &graph).expect("it fits");
    let mut run = |text: &str| {
        session.set_thresholds(figures(&runtime, &format!("{hot}{text}")));
        let out = session.run(bfs::Run { source: 0 }).expect("no trap");
        assert_eq!(out.dist, distances(&graph, 0));
        let last = session.decisions().last().expect("decided");
        let said = considered(last, BuiltIn::Jit);
        (out.report.route, said.map(|(done, _)| done))
    };
    let slower = "gain.jit = 9_000 bps";
    assert_eq!(run(slower), ("interpreted", None));
    // It was never tried here, so the tiers decide, however long the compiler takes.
    let goes_over = happens(|| {
        let (route, done) = run(slower);
        assert_eq!(done, Some(true));
        route == "compiled"
    });
    assert!(goes_over, "it stays interpreted");
    assert_eq!(run(slower), ("interpreted", Some(false)));
    let few = "gain.jit = 20_000 bps, from 2 items";
    assert_eq!(run(few), ("interpreted", Some(false)));
    assert_eq!(run("gain.jit = 20_000 bps"), ("compiled", Some(true)));
    assert_eq!(run(few), ("interpreted", Some(false)));
    assert_eq!(run(""), ("compiled", None));
}

/// No round of a chain's search has as many edges as pay.
#[test]
fn a_search_that_never_pulled_saved_nothing_by_it() {
    let runtime = ticking(Runtime::native());
    let runtime = runtime
        .clone()
        .with_thresholds(figures(&runtime, "gain.pulling = 30_000 bps"));
    let graph = chain(100);
    let said = |text: &str| text.contains("\n  selected  vyre.pulling: no round has pulled yet\n");
    let mut session = reached::Session::new(&runtime, &graph).expect("it fits");
    for _ in 0..3 {
        let out = session.run(reached::Run { source: 0 }).expect("no trap");
        assert_eq!(out.report.activity.expect("counts").pulled, 0);
    }
    let last = session.decisions().last().expect("decided");
    let unused = Some((true, Verdict::Unused));
    assert_eq!(considered(last, BuiltIn::Pulling), unused);
    let text = session.explain().to_string();
    assert!(said(&text) && !text.contains("saves"), "{text}");

    let mut many = reached::Sessions::new(&runtime, [&graph, &graph]).expect("they fit");
    for topologies in [&[0, 1][..], &[1]] {
        for &topology in topologies {
            many.submit(topology, reached::Run { source: 0 }, 0);
        }
        many.run_batch().expect("runs");
    }
    let text = many.explain().to_string();
    // There is one way of it, and launches are told as a session's are.
    assert!(
        text.starts_with("launch 1 of 2 queries\n  followed  "),
        "{text}"
    );
    assert!(
        text.contains("\nlaunch 2\n  selected  vyre.pulling: "),
        "{text}"
    );
    assert!(said(&text) && !text.contains("saves"), "{text}");
}

type Both = FusedSession<bfs::Pass, bfs::Pass>;

fn two_passes_share_a_launch_where_that_pays(runtime: &Runtime) {
    let graph = chain(100);
    let expected = distances(&graph, 3);
    let open = |text: &str| {
        let runtime = ticking(runtime.clone());
        let runtime = runtime.clone().with_thresholds(figures(&runtime, text));
        Both::new(&runtime, (&graph, &graph), &[]).expect("it fits")
    };
    let run = |both: &mut Both| {
        let before = both.counters().expect("counts").launches;
        let (a, b) = both
            .run(bfs::Run { source: 3 }, bfs::Run { source: 3 })
            .expect("no trap");
        assert_eq!((&a.dist, &b.dist), (&expected, &expected));
        assert_eq!(a.report.backend, both.backend());
        both.counters().expect("counts").launches - before
    };
    // Nothing was measured, and it pays.
    for text in ["", "gain.fusion = 12_000 bps, once 1 ns, from 1 items"] {
        let mut both = open(text);
        assert_eq!([(); 4].map(|()| run(&mut both)), [1; 4], "{text}");
        assert!(both.is_one_launch());
    }
    // One item is as much as a frontier of a chain has.
    let mut both = open("gain.fusion = 12_000 bps, from 2 items");
    assert_eq!([(); 4].map(|()| run(&mut both)), [1, 2, 2, 2]);
    assert!(!both.is_one_launch());
    let said = "vyre.fusion: frontier has 1 items; it pays from 2\n";
    assert!(
        both.explain().to_string().contains(said),
        "{}",
        both.explain()
    );
    // A limit of steps means both together, as it did when the session was opened.
    both.set_step_limit(Some(1 << 40));
    assert_eq!(run(&mut both), 1);
    both.set_step_limit(None);
    assert_eq!(run(&mut both), 2);
    let mut both = open("gain.fusion = 9_000 bps");
    assert_eq!([(); 3].map(|()| run(&mut both)), [1, 2, 2]);
    let said = "vyre.fusion: it is no faster, 0.9000x\n";
    assert!(
        both.explain().to_string().contains(said),
        "{}",
        both.explain()
    );
}

/// A batch of searches from these nodes on the first graph: their routes and the sweeps that pulled.
fn searched(many: &mut bfs::Sessions, graph: &Csr, sources: &[u32]) -> (&'static str, u64) {
    for &source in sources {
        many.submit(0, bfs::Run { source }, 0);
    }
    let batch = many.run_batch().expect("runs");
    let (mut route, mut pulled) = ("", 0);
    for ((_, out), &source) in batch.results.into_iter().zip(sources) {
        let out = out.expect("no trap");
        assert_eq!(out.dist, distances(graph, source));
        route = out.report.route;
        pulled += out.report.activity.map_or(0, |a| a.pulled);
    }
    (route, pulled)
}

/// What is said of a candidate for the last queries on several graphs that ran together.
fn said_of_many<P: Pass>(many: &Sessions<P>, candidate: BuiltIn) -> Option<String> {
    let text = many.explain().to_string();
    let last = text.rfind("launch ").unwrap_or(0);
    let line = text[last..]
        .lines()
        .find(|line| line.contains(&format!("{candidate}:")))?;
    let words: Vec<&str> = line.split_whitespace().collect();
    Some(words.join(" "))
}

/// Queries on several graphs are of compiled code where that pays on what the batches before held.
fn queries_on_many_graphs_are_compiled_where_that_pays(runtime: &Runtime) {
    // A search from node 1 has frontiers of two items, one from node 0 of one.
    let graph = Csr::from_edges(4, &[(1, 2), (1, 3)]).expect("a graph");
    let hot = "launch.jit_queue = 1\ncompile_after_ns = 0\ncompile_anyway_after_ns = 0\n";
    let open = |text: &str| {
        let runtime = ticking(runtime.clone().with_route(RoutePolicy::Auto));
        let measured = figures(&runtime, &format!("{hot}{text}"));
        let runtime = runtime.with_thresholds(measured);
        bfs::Sessions::new(&runtime, [&graph, &graph]).expect("they fit")
    };
    let compiles = |many: &mut bfs::Sessions| {
        // However long the compiler takes.
        let goes_over = happens(|| searched(many, &graph, &[1]).0 == "compiled");
        assert!(goes_over, "it stays interpreted\n{}", many.explain());
    };
    let mut many = open("gain.jit = 20_000 bps, from 2 items");
    compiles(&mut many);
    assert_eq!(searched(&mut many, &graph, &[1, 0]).0, "compiled");
    let said = said_of_many(&many, BuiltIn::Jit).expect("it was measured");
    assert!(said.starts_with("selected vyre.jit: saves "), "{said}");
    // The widest of all queries counts.
    assert_eq!(searched(&mut many, &graph, &[0]).0, "compiled");
    assert_eq!(searched(&mut many, &graph, &[1]).0, "interpreted");
    let said = said_of_many(&many, BuiltIn::Jit).expect("it was measured");
    assert_eq!(
        said,
        "skipped vyre.jit: frontier has 1 items; it pays from 2"
    );
    let text = many.explain().to_string();
    assert!(text.contains("; compiled code was skipped\n"), "{text}");
    assert!(text.contains("gains     unmeasured: vyre.plan\n"), "{text}");
    assert_eq!(searched(&mut many, &graph, &[1]).0, "compiled");

    let mut many = open("gain.jit = 9_000 bps");
    compiles(&mut many);
    assert_eq!(searched(&mut many, &graph, &[1]).0, "interpreted");
    let said = said_of_many(&many, BuiltIn::Jit).expect("it was measured");
    assert_eq!(said, "skipped vyre.jit: it is no faster, 0.9000x");
    // Nothing was measured.
    let mut many = open("");
    compiles(&mut many);
    assert_eq!(searched(&mut many, &graph, &[0]).0, "compiled");
    assert_eq!(said_of_many(&many, BuiltIn::Jit), None);
    // Who asks for a route gets it.
    let asked = ticking(runtime.clone().with_route(RoutePolicy::Compiled));
    let measured = figures(&asked, "gain.jit = 9_000 bps");
    let asked = asked.with_thresholds(measured);
    let mut many = bfs::Sessions::new(&asked, [&graph]).expect("it fits");
    for _ in 0..3 {
        assert_eq!(searched(&mut many, &graph, &[1]).0, "compiled");
    }
}

/// The plan of each graph is kept where it pays for the one that was wanted least.
fn plans_of_many_graphs_are_kept_from_as_many_sessions_on_as_pay(runtime: &Runtime) {
    let runtime = ticking(runtime.clone());
    let measured = figures(&runtime, "gain.plan = 20_000 bps, from 3 uses");
    let runtime = runtime.with_thresholds(measured);
    let graphs = [chain(5), chain(6)];
    let open = || {
        let mut many = bfs::Sessions::new(&runtime, &graphs).expect("they fit");
        searched(&mut many, &graphs[0], &[0]);
        assert_eq!(said_of_many(&many, BuiltIn::Plan), None);
        searched(&mut many, &graphs[0], &[0]);
        let planning = runtime.planning().sessions;
        let said = said_of_many(&many, BuiltIn::Plan).expect("it was measured");
        (said, planning.entries, planning.hits)
    };
    let skipped = |uses: u64| format!("skipped vyre.plan: reuse is {uses}; it pays from 3");
    assert_eq!(open(), (skipped(1), 0, 0));
    assert_eq!(open(), (skipped(2), 0, 0));
    // Half of three milliseconds.
    let selected = "selected vyre.plan: saves 1500000 ns".to_owned();
    assert_eq!(open(), (selected, 2, 0));
    let (said, entries, hits) = open();
    assert!(said.starts_with("selected vyre.plan: "), "{said}");
    assert_eq!((entries, hits), (2, 2));
}

#[test]
fn rounds_on_many_graphs_pull_where_frontiers_are_as_wide_as_pays() {
    let graphs = [random_graph(20_000, 400_000), chain(9)];
    let expected = distances(&graphs[0], 0);
    let pulled = |text: &str| {
        let runtime = ticking(Runtime::native());
        let measured = figures(&runtime, text);
        let runtime = runtime.with_thresholds(measured);
        let mut many = reached::Sessions::new(&runtime, &graphs).expect("they fit");
        let pulled = [(); 3].map(|()| {
            many.submit(0, reached::Run { source: 0 }, 0);
            let mut batch = many.run_batch().expect("runs");
            let (_, out) = batch.results.pop().expect("a query");
            let out = out.expect("no trap");
            assert_eq!(out.dist, expected);
            out.report.activity.expect("counts").pulled > 0
        });
        (pulled, said_of_many(&many, BuiltIn::Pulling))
    };
    assert_eq!(pulled(""), ([true; 3], None));
    // Two milliseconds in each of two runs.
    let saves = "selected vyre.pulling: saves 4000000 ns".to_owned();
    let wide = "gain.pulling = 30_000 bps, from 1_000 items";
    assert_eq!(pulled(wide), ([true; 3], Some(saves)));
    let (done, said) = pulled("gain.pulling = 30_000 bps, from 20_001 items");
    assert_eq!(done, [true, false, false]);
    let said = said.expect("it was measured");
    assert!(said.ends_with(" items; it pays from 20001"), "{said}");
}

/// What fusion costs is paid once more where it was given up.
#[test]
fn passes_are_fused_again_once_that_pays_for_itself() {
    let runtime = ticking(Runtime::vir0());
    let text = "gain.fusion = 20_000 bps, once 4_000_000 ns, from 2 items";
    let runtime = runtime.clone().with_thresholds(figures(&runtime, text));
    // A search from node 1 has frontiers of two items, one from node 0 of one.
    let graph = Csr::from_edges(4, &[(1, 2), (1, 3)]).expect("a graph");
    let mut both = Both::new(&runtime, (&graph, &graph), &[]).expect("it fits");
    let mut run = |source| {
        let runs = (bfs::Run { source }, bfs::Run { source });
        both.run(runs.0, runs.1).expect("no trap");
        both.is_one_launch()
    };
    assert_eq!([0, 1].map(&mut run), [true, false]);
    // Each takes a millisecond for each pass, of which one would be saved: more than four of them pay for it.
    assert_eq!([1; 4].map(&mut run), [false, false, false, true]);
    let text = both.explain().to_string();
    assert!(text.contains("\nboth      in one launch\n"), "{text}");
}

#[test]
fn the_page_shows_two_passes_in_one_launch() {
    let runtime = of_the_page(ticking(Runtime::vir0()));
    let graph = chain(100);
    let mut both = Both::new(&runtime, (&graph, &graph), &[]).expect("it fits");
    for _ in 0..2 {
        both.run(bfs::Run { source: 0 }, bfs::Run { source: 0 })
            .expect("no trap");
    }
    let text = both.explain().to_string();
    let last = text.find("launch 2: ").expect("it ran twice");
    is_on_the_page(&text[last..]);
}

/// Where there is no room to go from one way to the other, both stay together.
#[test]
fn passes_stay_together_where_there_is_no_room_to_part() {
    let text = "gain.fusion = 9_000 bps";
    let graph = chain(100);
    let open = |bytes| {
        let runtime = ticking(Runtime::vir0()).with_memory(bytes);
        let runtime = runtime.clone().with_thresholds(figures(&runtime, text));
        let both = Both::new(&runtime, (&graph, &graph), &[]);
        both.map(|both| (runtime, both))
    };
    let (runtime, both) = open(1 << 30).expect("it fits");
    let (_, takes) = runtime.memory().expect("a budget");
    drop(both);
    let (_runtime, mut both) = open(takes + takes / 2).expect("it fits");
    for _ in 0..3 {
        both.run(bfs::Run { source: 0 }, bfs::Run { source: 0 })
            .expect("no trap");
    }
    let text = both.explain().to_string();
    assert!(both.is_one_launch(), "{text}");
    assert!(
        text.contains("0.9000x; done as before\n  stays     "),
        "{text}"
    );
}

/// Of another topology nothing was seen.
#[test]
fn an_update_begins_anew() {
    let runtime = ticking(Runtime::native());
    let narrow = figures(
        &runtime,
        "pull_from = 1\ngain.pulling = 30000 bps, from 20_001 items",
    );
    let runtime = runtime.with_thresholds(narrow);
    let graph = random_graph(20_000, 400_000);
    let mut session = reached::Session::new(&runtime, &graph).expect("it fits");
    let mut pulled = |update: bool| {
        if update {
            session.update(&graph).expect("it fits");
        }
        let out = session.run(reached::Run { source: 0 }).expect("no trap");
        out.report.activity.expect("counts").pulled > 0
    };
    assert_eq!(
        [false, false, true, false].map(&mut pulled),
        [true, false, true, false]
    );
}

/// A series and a batch decide as runs do.
#[test]
fn series_and_batches_are_seen_as_well() {
    let (runtime, _) = played();
    let mut session = finds::Session::new(&runtime, ()).expect("it fits");
    session.set_thresholds(figures(&runtime, "gain.lists = 20000 bps, from 4 uses"));
    let done = |session: &finds::Session| {
        let last = session.decisions().last().expect("decided");
        considered(last, BuiltIn::Lists).map(|(done, _)| done)
    };
    let runs = [10, 20].map(|of| finds::Run { of });
    session.run_series(runs).expect("no trap");
    assert_eq!(done(&session), None);
    session.run(runs[0]).expect("no trap");
    assert_eq!(done(&session), Some(false));
    // Three runs so far.
    for run in runs {
        session.submit(run, 0);
    }
    session.run_batch().expect("runs");
    assert_eq!(done(&session), Some(false));
    session.run(runs[0]).expect("no trap");
    assert_eq!(done(&session), Some(true));
}

backend_tests!(;
    counting: a_plan_is_kept_from_as_many_sessions_on_as_pay,
        plans_of_many_graphs_are_kept_from_as_many_sessions_on_as_pay;
    devices: bitmaps_are_there_where_pulling_pays
);

mod routes {
    #[test]
    fn fake() {
        super::compiled_code_is_asked_for_where_it_pays(&vyre_tests::fake());
    }

    #[test]
    fn many_fake() {
        super::queries_on_many_graphs_are_compiled_where_that_pays(&vyre_tests::fake());
    }

    #[test]
    #[ignore = "needs a CUDA device"]
    fn cuda() {
        let runtime = vyre_tests::cuda();
        super::compiled_code_is_asked_for_where_it_pays(&runtime);
    }

    #[test]
    #[ignore = "needs a CUDA device"]
    fn many_cuda() {
        let runtime = vyre_tests::cuda();
        super::queries_on_many_graphs_are_compiled_where_that_pays(&runtime);
    }
}

mod fused {
    #[test]
    fn vir0() {
        super::two_passes_share_a_launch_where_that_pays(&vyre::Runtime::vir0());
    }

    #[test]
    fn fake() {
        super::two_passes_share_a_launch_where_that_pays(&vyre_tests::fake());
    }

    #[test]
    #[ignore = "needs a CUDA device"]
    fn cuda() {
        let runtime = vyre_tests::cuda();
        super::two_passes_share_a_launch_where_that_pays(&runtime);
    }
}
