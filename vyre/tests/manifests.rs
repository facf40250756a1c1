//! What passes say about themselves: listed at run time, with what their evidence proved.
#![forbid(unsafe_code)]
#![deny(warnings)]

use std::sync::Mutex;
use std::time::Duration;
use vyre::core::plan::evidence::{bind, read};
use vyre::core::vir0::fingerprint::Fingerprint;
use vyre::core::vir0::manifest::{Measured, Stale};
use vyre::cuda::fake::Fake;
use vyre::prelude::*;
use vyre::{RoutePolicy, SideState};
use vyre_core::vir0::container::{decode, encode};
use vyre_core::vir0::manifest::Proof;

/// Counts to one.
///
/// The figures of its evidence are invented: they prove that files are read.
#[wave_graph(limits(nodes = 1_000), budget = "1 MiB")]
#[pass(
    id = "test.mark",
    min_frontier_items = 10,
    min_reuse = 2,
    min_avoided_readback = 64,
    speedup = 1.8,
    evidence = "evidence/made_up.csv",
    mandatory
)]
mod mark {
    struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node)]
        mark: u32,
    }

    #[wave(nodes)]
    fn set(mark: &mut u32) {
        *mark = 1;
    }
}

/// Doubles.
#[kernel]
#[pass(id = "test.double", unproven)]
fn double(x: &mut f32) {
    *x *= 2.0;
}

/// What a step is, the macro does not see: both passes are the same tokens, and have the same evidence, measured with
/// 4.
macro_rules! step {
    ($name:ident, $id:literal, $value:literal) => {
        mod $name {
            use vyre::prelude::*;

            const STEP: u32 = $value;

            #[wave_graph]
            #[pass(id = $id, speedup = 1.8, evidence = "evidence/made_up_of_4.csv")]
            pub(crate) mod step {
                struct Data {
                    #[topology]
                    graph: Csr,
                    #[output(per = node)]
                    mark: u32,
                }

                #[wave(nodes)]
                fn set(v: Node, mark: &mut u32) {
                    *mark = v * STEP;
                }
            }
        }
    };
}
step!(four, "test.four", 4);
step!(five, "test.five", 5);

/// Two waves that can run side by side where there is room.
#[wave_graph]
#[pass(
    id = "test.split",
    speedup = 1.8,
    evidence = "evidence/made_up_split.csv"
)]
mod split {
    struct Data {
        #[topology]
        graph: Csr,
        #[scratch(per = node)]
        a: u32,
        #[scratch(per = node)]
        b: u32,
    }

    #[wave(nodes)]
    fn first(a: &mut u32) {
        *a = 1;
    }

    #[wave(nodes)]
    fn second(b: &mut u32) {
        *b = 1;
    }
}

/// A played device first, and the CPU, where each run takes as long as this says of its backend.
fn auto(takes: impl Fn(&str) -> Duration + Send + Sync + 'static) -> Runtime {
    let turned = Mutex::new(Duration::ZERO);
    // Passes of other crates would be listed, too, so nothing is taken from those of tests.
    let cuda = Fake::default().open().expect("nothing fails on it");
    let device = vyre_tests::on(cuda).with_route(RoutePolicy::Interpreter);
    let native = Runtime::native_threads(2).expect("there are threads");
    let runtime = Runtime::among(device, [native]);
    runtime.with_clock(move |backend| {
        let mut now = turned.lock().expect("nothing panics under it");
        *now += takes(backend);
        *now
    })
}

/// A device that is faster.
fn fast_device() -> Runtime {
    auto(|backend| Duration::from_millis(if backend == "cuda" { 1 } else { 1_000 }))
}

/// What an explanation says of the manifest.
fn said(session: &mark::Session) -> Option<String> {
    let text = session.explain().to_string();
    let line = text.lines().find(|line| line.starts_with("manifest"));
    line.map(str::to_owned)
}

#[test]
fn a_device_is_tried_where_the_manifest_s_thresholds_are_met() {
    let runtime = fast_device();
    let nodes = |count| Csr::from_edges(count, &[]).expect("a graph");
    // No frontier of so few nodes has ten items, however often it runs.
    let few = nodes(9);
    let mut session = mark::Session::new(&runtime, &few).expect("it fits");
    for _ in 0..20 {
        let out = session.run(mark::Run {}).expect("no trap");
        assert_eq!((out.mark, out.report.backend), (vec![1; 9], "native"));
    }
    let few = "manifest  test.mark: no device is tried: frontier has 9 items; it pays from 10";
    assert_eq!(said(&session).as_deref(), Some(few));
    assert_eq!(session.sides()[0].state, SideState::Closed);

    let enough = nodes(20);
    let mut session = mark::Session::new(&runtime, &enough).expect("it fits");
    let run = |session: &mut mark::Session, runs| {
        let out = session.run_series((0..runs).map(|_| mark::Run {}));
        let out = out.expect("no trap");
        assert_eq!(out.mark, [1; 20]);
        out.report.backend
    };
    assert_eq!(run(&mut session, 1), "native");
    let once = "manifest  test.mark: no device is tried: reuse is 1; it pays from 2";
    assert_eq!(said(&session).as_deref(), Some(once));
    // Of one run all 80 bytes come back. Of two in a series, those of one need not.
    assert_eq!(run(&mut session, 1), "native");
    let all =
        "manifest  test.mark: no device is tried: 0 readback bytes can be avoided; it pays from 64";
    assert_eq!(said(&session).as_deref(), Some(all));
    let page = include_str!("../../docs/SESSIONS.md");
    assert!(page.contains(all), "SESSIONS.md does not have\n{all}");
    assert_eq!(run(&mut session, 2), "cuda");
    let tried = "manifest  test.mark: a device is tried";
    assert_eq!(said(&session).as_deref(), Some(tried));
    assert!(page.contains(tried), "SESSIONS.md does not have\n{tried}");
    // Where lines end, and times in milliseconds, is not what this is about.
    let timeless = |text: &str| {
        let mut words: Vec<&str> = text.split_whitespace().collect();
        for i in 1..words.len() {
            if words[i].starts_with("ms") {
                words[i - 1] = "T";
            }
        }
        words.join(" ")
    };
    let text = session.explain().to_string();
    let last = &text[text.rfind("launch ").expect("it ran")..];
    assert!(
        timeless(page).contains(&timeless(last)),
        "SESSIONS.md does not have\n{last}"
    );
    // From then on times decide, whatever the manifest says.
    let later = [(); 4].map(|()| run(&mut session, 1));
    assert_eq!(later[1..], ["cuda"; 3]);
    assert_eq!(said(&session), None);
}

#[test]
fn times_of_its_own_runs_take_a_pass_back() {
    let runtime = auto(|backend| Duration::from_millis(if backend == "cuda" { 1_000 } else { 1 }));
    let graph = Csr::from_edges(20, &[]).expect("a graph");
    let mut session = mark::Session::new(&runtime, &graph).expect("it fits");
    let mut run = |runs| {
        let out = session.run_series((0..runs).map(|_| mark::Run {}));
        out.expect("no trap").report.backend
    };
    assert_eq!(
        [1, 2, 2, 2].map(&mut run),
        ["native", "cuda", "native", "native"]
    );
}

#[test]
fn without_a_proof_or_where_sessions_stay_a_manifest_decides_nothing() {
    let runtime = fast_device();
    let graph = Csr::from_edges(9, &[]).expect("a graph");
    // Measured with other constants.
    let mut session = five::step::Session::new(&runtime, &graph).expect("it fits");
    let out = session.run(five::step::Run {}).expect("no trap");
    assert_eq!(out.report.backend, "cuda");
    let mut session = mark::Session::new(&runtime.alone(), &graph).expect("it fits");
    let out = session.run(mark::Run {}).expect("no trap");
    assert_eq!((out.report.backend, said(&session)), ("cuda", None));
}

#[test]
fn batches_and_many_graphs_follow_a_manifest_too() {
    let runtime = fast_device();
    let graph = Csr::from_edges(20, &[]).expect("a graph");
    let few = Csr::from_edges(9, &[]).expect("a graph");
    let backends = |graphs: [&Csr; 2]| {
        let mut sessions = mark::Sessions::new(&runtime, graphs).expect("it fits");
        let mut run = |queries| {
            for k in 0..queries {
                sessions.submit(k % 2, mark::Run {}, 0);
            }
            let batch = sessions.run_batch().expect("it runs");
            let (_, last) = batch.results.into_iter().next_back().expect("a query");
            last.expect("no trap").report.backend
        };
        [run(1), run(2), run(2)]
    };
    assert_eq!(backends([&few, &few]), ["native"; 3]);
    // Of two queries no result can be left where it is: each is somebody's.
    assert_eq!(backends([&graph, &graph]), ["native"; 3]);
}

#[test]
fn passes_are_listed_by_id() {
    // Those of the tests' crate are linked too.
    let passes = vyre::passes();
    let own = || {
        passes
            .iter()
            .filter(|p| p.to_string().contains("(manifests::"))
    };
    let lines: Vec<String> = own().map(|p| p.to_string()).collect();
    assert_eq!(
        lines,
        [
            "test.double (manifests::double): unproven",
            "test.five (manifests::five::step): unproven: evidence/made_up_of_4.csv: \
             named constants have other values than when it was measured",
            "test.four (manifests::four::step): 1.8800x or more against nothing in 2 samples of single launches, \
             claims 1.8000x",
            "test.mark (manifests::mark): 1.8800x or more against nothing in 2 samples of shared launches, claims 1.8000x",
            "test.split (manifests::split): 1.8800x or more against nothing in 2 samples of shared launches, claims 1.8000x",
        ]
    );
    let double = own().next().expect("there are five").manifest();
    assert_eq!(double.title, "Doubles.");
    assert!(double.unproven);
}

#[test]
fn a_manifest_says_what_was_claimed_and_proved() {
    let program = mark::PLAN.program();
    let m = &program.manifest;
    assert_eq!(
        (m.id.as_str(), m.title.as_str()),
        ("test.mark", "Counts to one.")
    );
    assert_eq!(
        (m.min_frontier_items, m.min_reuse, m.min_readback_bytes),
        (10, 2, 64)
    );
    assert_eq!(
        (m.speedup_bps, m.mandatory, m.unproven),
        (18_000, true, false)
    );
    assert_eq!(m.evidence, "evidence/made_up.csv");
    let proof = Proof {
        samples: 2,
        min_speedup_bps: 18_800,
        max_speedup_bps: 20_000,
        constants_hash: Fingerprint::constants([], &[]),
        measured: Measured::Shared,
        rival: "nothing".into(),
    };
    assert_eq!(m.proof, Some(proof));
    assert_eq!((m.max_nodes, m.max_edges), (Some(1_000), None));
    assert_eq!(m.budget_bytes, Some(1 << 20));
    assert_eq!(decode(&encode(&program)).unwrap().manifest, *m);
}

/// The columns `program_hash` and `constants_hash` of the invented files are those of the passes here. If the compiler
/// makes other code of them, take the new values from this test.
#[test]
fn fingerprints_are_those_of_the_files() {
    for (plan, file) in [
        (mark::PLAN, include_str!("evidence/made_up.csv")),
        (four::step::PLAN, include_str!("evidence/made_up_of_4.csv")),
        (split::PLAN, include_str!("evidence/made_up_split.csv")),
    ] {
        let fingerprint = plan.fingerprint().expect("a macro made it");
        let samples = read(file).expect("a file of samples");
        let bound = samples[0].binding.as_ref().expect("bound").fingerprint;
        assert_eq!(fingerprint.to_string(), bound.to_string());
        assert!(bind(&samples, fingerprint.program).is_ok());
    }
    assert_eq!(
        five::step::PLAN.fingerprint(),
        Some(Fingerprint {
            constants: Fingerprint::constants(&[5], &[]),
            ..four::step::PLAN.fingerprint().expect("a macro made it")
        })
    );
}

#[test]
fn a_session_knows_with_which_constants_its_pass_was_measured() {
    let graph = Csr::from_edges(3, &[]).unwrap();
    for runtime in [Runtime::native(), Runtime::vir0()] {
        let mut session = four::step::Session::new(&runtime, &graph).unwrap();
        let m = &session.program().manifest;
        assert_eq!(
            (m.unproven, m.proof.is_some(), m.stale),
            (false, true, None)
        );
        assert_eq!(session.run(four::step::Run {}).unwrap().mark, [0, 4, 8]);

        let mut session = five::step::Session::new(&runtime, &graph).unwrap();
        let m = &session.program().manifest;
        assert_eq!(
            (m.unproven, m.proof.is_some(), m.stale),
            (true, false, Some(Stale::Constants))
        );
        assert_eq!(session.run(five::step::Run {}).unwrap().mark, [0, 5, 10]);
    }
}

#[test]
fn a_session_that_splits_a_level_runs_another_schedule_than_was_measured() {
    let graph = Csr::from_edges(1_000, &[]).unwrap();
    for runtime in [Runtime::native(), Runtime::vir0()] {
        let stale = |runtime: &Runtime| {
            let session = split::Session::new(runtime, &graph).unwrap();
            (
                session.program().schedule.len(),
                session.program().manifest.stale,
            )
        };
        assert_eq!(stale(&runtime), (3, None));
        let tight = runtime.with_memory(8 << 10);
        assert_eq!(stale(&tight), (4, Some(Stale::Program)));
    }
}
