//! What the CUDA backend asks of the driver: on a played device every call fails once, and the context is lost at every
//! call, in each of the scenarios below.

#![allow(
    missing_docs,
    reason = "the passes are public only to be like a user's"
)]

use std::collections::BTreeMap;
use std::ffi::CString;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use vyre::cuda::Cuda;
use vyre::cuda::cudarc::driver::result;
use vyre::cuda::fake::{Failure, Fake, Held, SYMBOLS, Spec, Transcript, library};
use vyre::prelude::*;
use vyre::{Error, RoutePolicy, RunError};
use vyre_tests::endless::rounds;
use vyre_tests::graphs::{distances, random_graph};
use vyre_tests::happens;
use vyre_tests::passes::bfs;

/// Nothing in it depends on how long something took.
#[wave_graph]
pub mod blend {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[topology(per = edge(graph))]
        weight: u32,
        #[input(per = node)]
        x: u32,
        #[scratch(per = node)]
        sum: u32,
        #[output(per = node)]
        y: u64,
        #[reduce(max)]
        most: u32,
        by: u32,
    }

    #[wave(edges(graph))]
    fn add(e: Edge, weight: &u32, x: &Buf<u32>, sum: &Buf<Atomic<u32>>) {
        sum[e.src].fetch_add(*weight * x[e.dst]);
    }

    #[wave(nodes, after(add))]
    fn scale(by: u32, sum: &u32, y: &mut u64, most: &Reduce<Max<u32>>) {
        *y = *sum as u64 * (720_720 / by) as u64;
        most.max(*sum);
    }
}

/// A float's exact sum does not show in which order it was made.
#[wave_graph]
pub mod total {
    pub struct Data {
        #[input(per = items)]
        x: f32,
        #[reduce(exact_sum)]
        sum: f32,
        items: u32,
    }

    #[wave(range(items))]
    fn add(x: &f32, sum: &Reduce<ExactSum<f32>>) {
        sum.add(*x);
    }
}

/// Gives back as much as was found.
#[wave_graph]
pub mod multiples {
    pub struct Data {
        #[list(capacity = items, output)]
        found: List<u32>,
        items: u32,
        of: u32,
    }

    #[wave(range(items))]
    fn find(i: Index, of: u32, found: &Append<u32>) {
        if i.is_multiple_of(of) {
            found.append(i);
        }
    }
}

/// Its session stays for the next call.
#[kernel]
fn advance(by: u32, at: &mut u32) {
    *at += by;
}

/// A graph with weights and an input.
struct Case {
    graph: Csr,
    weight: Vec<u32>,
    x: Vec<u32>,
}

impl Case {
    fn new(nodes: u32, edges: u32) -> Case {
        let graph = random_graph(nodes, edges);
        Case {
            weight: (0..graph.edge_count() as u32).map(|e| e % 7).collect(),
            x: (0..nodes).map(|v| v % 11).collect(),
            graph,
        }
    }

    fn topology(&self) -> blend::Topology<'_> {
        blend::Topology {
            graph: &self.graph,
            weight: &self.weight,
        }
    }

    fn run(&self, by: u32) -> blend::Run<'_> {
        blend::Run { x: &self.x, by }
    }

    /// The elements and the greatest sum that a run gives.
    fn expected(&self, by: u32) -> (Vec<u64>, u32) {
        let sum = |v: usize| -> u32 {
            let edges = self.graph.edges(v as u32).iter().map(|e| e as usize);
            let of = |e: usize| self.weight[e] * self.x[self.graph.targets()[e] as usize];
            edges.map(of).sum()
        };
        let sums: Vec<u32> = (0..self.x.len()).map(sum).collect();
        let by = u64::from(720_720 / by);
        let y = sums.iter().map(|&s| u64::from(s) * by).collect();
        (y, sums.into_iter().max().unwrap_or(0))
    }

    fn check(&self, by: u32, out: &blend::Output) {
        assert_eq!((out.y.clone(), out.most), self.expected(by));
    }
}

/// Does things that may fail, and once more where they did.
struct Tries<'a> {
    /// The device, if it is one that is played.
    fake: Option<&'a Fake>,
    /// How it was made to fail something.
    failure: Option<Failure>,
    /// Errors so far.
    said: usize,
}

impl<'a> Tries<'a> {
    /// Where nothing fails.
    fn none(fake: Option<&'a Fake>) -> Tries<'a> {
        Tries {
            fake,
            failure: None,
            said: 0,
        }
    }

    /// The played device.
    fn played(&self) -> &'a Fake {
        self.fake.expect("it is one")
    }

    fn of<T>(&mut self, mut f: impl FnMut() -> Result<T, Error>) -> Result<T, Error> {
        let (error, failure) = match (f(), self.failure) {
            (Err(error), Some(failure)) => (error.to_string(), failure),
            (ended, _) => return ended,
        };
        let fake = self.played();
        self.said += 1;
        let call = fake.failed();
        match failure {
            Failure::Once => {
                let call = call.unwrap_or_else(|| panic!("nothing failed, and yet: {error}"));
                assert!(error.contains(call), "{call} failed, and not: {error}");
                Ok(f().expect("the next one works"))
            }
            Failure::Lost => {
                assert!(error.contains("context of this process is lost"), "{error}");
                let again = f().err().expect("a lost context stays lost");
                assert!(again.to_string().contains("is lost"), "{again}");
                Err(again)
            }
        }
    }
}

type Scenario = fn(&Runtime, &mut Tries<'_>) -> Result<(), Error>;

/// Of which there are transcripts.
const SCENARIOS: [(&str, Scenario); 12] = [
    ("run", run),
    ("run_into", run_into),
    ("run_pinned", run_pinned),
    ("series", series),
    ("batch", batch),
    ("many", many),
    ("update", update),
    ("trap", trap),
    ("short", short),
    ("exact", exact),
    ("list", list),
    ("kernel", kernel),
];

/// For a played device alone, which tells when a launch begins and does not wait.
const OF_PLAYED: [(&str, Scenario); 2] = [("stop", stop), ("stop_batch", stop_batch)];

/// All of them.
fn scenarios() -> impl Iterator<Item = (&'static str, Scenario)> {
    SCENARIOS.into_iter().chain(OF_PLAYED)
}

fn run(runtime: &Runtime, tries: &mut Tries<'_>) -> Result<(), Error> {
    let case = Case::new(300, 1_000);
    let mut session = tries.of(|| blend::Session::new(runtime, case.topology()))?;
    for by in [2, 3] {
        case.check(by, &tries.of(|| session.run(case.run(by)))?);
    }
    Ok(())
}

fn run_into(runtime: &Runtime, tries: &mut Tries<'_>) -> Result<(), Error> {
    // Its results have copies of their own.
    let case = Case::new(16_384, 1_000);
    let mut session = tries.of(|| blend::Session::new(runtime, case.topology()))?;
    let mut out = blend::Output::default();
    for by in [2, 3] {
        tries.of(|| session.run_into(case.run(by), &mut out))?;
        case.check(by, &out);
    }
    Ok(())
}

/// Of 128 KiB, of which one block of 64 KiB is taken for whole, wherever they begin.
fn run_pinned(runtime: &Runtime, tries: &mut Tries<'_>) -> Result<(), Error> {
    let case = Case::new(16_384, 1_000);
    let mut session = tries.of(|| blend::Session::new(runtime, case.topology()))?;
    for by in [2, 3] {
        case.check(by, &*tries.of(|| session.run_pinned(case.run(by)))?);
    }
    Ok(())
}

fn series(runtime: &Runtime, tries: &mut Tries<'_>) -> Result<(), Error> {
    let case = Case::new(500, 2_000);
    let mut session = tries.of(|| blend::Session::new(runtime, case.topology()))?;
    let out = tries.of(|| session.run_series((1..=5).map(|by| case.run(by))))?;
    case.check(5, &out);
    Ok(())
}

fn batch(runtime: &Runtime, tries: &mut Tries<'_>) -> Result<(), Error> {
    let graph = random_graph(200, 600);
    let mut session = tries.of(|| bfs::Session::new(runtime, &graph))?;
    let out = tries.of(|| {
        for source in 0..40 {
            session.submit(bfs::Run { source }, 0);
        }
        let batch = session.run_batch()?;
        let results = batch.results.into_iter().map(|(_, result)| result);
        results.collect::<Result<Vec<_>, _>>()
    })?;
    for (source, out) in (0..).zip(&out) {
        assert_eq!(out.dist, distances(&graph, source));
    }
    Ok(())
}

fn many(runtime: &Runtime, tries: &mut Tries<'_>) -> Result<(), Error> {
    let graphs: Vec<Csr> = (1..20).map(|k| random_graph(7 * k, 13 * k)).collect();
    let mut sessions = tries.of(|| bfs::Sessions::new(runtime, &graphs))?;
    let out = tries.of(|| {
        for k in 0..graphs.len() {
            sessions.submit(k, bfs::Run { source: k as u32 }, 0);
        }
        let batch = sessions.run_batch()?;
        let results = batch.results.into_iter().map(|(_, result)| result);
        results.collect::<Result<Vec<_>, _>>()
    })?;
    for (k, out) in out.iter().enumerate() {
        assert_eq!(out.dist, distances(&graphs[k], k as u32));
    }
    Ok(())
}

fn update(runtime: &Runtime, tries: &mut Tries<'_>) -> Result<(), Error> {
    let [small, large] = [Case::new(100, 300), Case::new(400, 900)];
    let mut session = tries.of(|| blend::Session::new(runtime, small.topology()))?;
    for case in [&large, &small] {
        tries.of(|| session.update(case.topology()))?;
        case.check(1, &tries.of(|| session.run(case.run(1)))?);
    }
    Ok(())
}

fn trap(runtime: &Runtime, tries: &mut Tries<'_>) -> Result<(), Error> {
    let case = Case::new(300, 1_000);
    let mut session = tries.of(|| blend::Session::new(runtime, case.topology()))?;
    let trapped = tries.of(|| match session.run(case.run(0)) {
        Err(Error::Trap(trap)) => Ok(trap),
        Err(other) => Err(other),
        Ok(_) => panic!("a division by zero is a trap"),
    })?;
    assert_eq!(trapped.kind, vyre::TrapKind::DivideByZero);
    case.check(4, &tries.of(|| session.run(case.run(4)))?);
    Ok(())
}

/// There is memory for one session, but not for two.
fn short(runtime: &Runtime, tries: &mut Tries<'_>) -> Result<(), Error> {
    let case = Case::new(300, 1_000);
    let counted = runtime.clone().with_memory(1 << 30);
    let first = tries.of(|| blend::Session::new(&counted, case.topology()))?;
    let (_, bytes) = counted.memory().expect("there is a budget");
    drop(first);
    let runtime = runtime.clone().with_memory(bytes * 3 / 2);
    let mut session = tries.of(|| blend::Session::new(&runtime, case.topology()))?;
    let refused = tries.of(|| match blend::Session::new(&runtime, case.topology()) {
        Err(Error::Run(error @ RunError::Memory { .. })) => Ok(error),
        Err(other) => Err(other),
        Ok(_) => panic!("there is no room for two"),
    });
    drop(refused?);
    case.check(6, &tries.of(|| session.run(case.run(6)))?);
    Ok(())
}

/// The sum of what no order of roundings adds up to.
fn exact(runtime: &Runtime, tries: &mut Tries<'_>) -> Result<(), Error> {
    let x: Vec<f32> = (0..3_000).map(|i| [1e30, 1.0, -1e30, 0.5][i % 4]).collect();
    let run = total::Run {
        x: &x,
        items: x.len() as u32,
    };
    let mut session = tries.of(|| total::Session::new(runtime, ()))?;
    for _ in 0..2 {
        assert_eq!(tries.of(|| session.run(run))?.sum, 1_125.0);
    }
    let out = tries.of(|| session.run_series([run, run]))?;
    assert_eq!(out.sum, 1_125.0);
    let sums = tries.of(|| {
        for _ in 0..3 {
            session.submit(run, 0);
        }
        let results = session.run_batch()?.results.into_iter();
        results
            .map(|(_, result)| Ok(result?.sum))
            .collect::<Result<Vec<f32>, Error>>()
    })?;
    assert_eq!(sums, [1_125.0; 3]);
    Ok(())
}

/// Results as long as what a run finds: of few items in one copy, of many in a copy of their own.
fn list(runtime: &Runtime, tries: &mut Tries<'_>) -> Result<(), Error> {
    let items = 100_000;
    let mut session = tries.of(|| multiples::Session::new(runtime, ()))?;
    for of in [50_000, 2] {
        let mut out = tries.of(|| session.run(multiples::Run { items, of }))?;
        out.found.sort_unstable();
        let expected = (0..items).step_by(of as usize);
        assert!(out.found.into_iter().eq(expected), "multiples of {of}");
    }
    Ok(())
}

/// Slices of the caller's, the second ones shorter than those before.
fn kernel(runtime: &Runtime, tries: &mut Tries<'_>) -> Result<(), Error> {
    for items in [20_000, 300] {
        let mut at: Vec<u32> = (0..items).collect();
        for by in [3, 4] {
            tries.of(|| advance::run(runtime, by, &mut at))?;
        }
        assert!(at.into_iter().eq(7..items + 7));
    }
    Ok(())
}

/// Of enough rounds to show a launch that is not stopped.
const LONG: rounds::Run = rounds::Run { wanted: 5_000 };

/// Whether a run of [`LONG`] was stopped; the others went on to their end.
fn was_stopped(result: Result<rounds::Output, Error>) -> Result<bool, Error> {
    match result {
        Err(Error::Cancelled) => Ok(true),
        Err(other) => Err(other),
        Ok(out) => {
            assert_eq!(out.report.total_rounds(), 5_000);
            Ok(false)
        }
    }
}

/// Runs are stopped while they are on their way.
fn stop(runtime: &Runtime, tries: &mut Tries<'_>) -> Result<(), Error> {
    let fake = tries.played();
    let mut session = tries.of(|| rounds::Session::new(runtime, ()))?;
    let canceller = session.canceller();
    for _ in 0..2 {
        let stopped = tries.of(|| {
            canceller.rearm();
            let canceller = canceller.clone();
            fake.at_launch(move || canceller.cancel());
            was_stopped(session.run(LONG))
        });
        // Nothing waits for a launch that did not begin, and what comes too late is for no other run.
        fake.at_launch(|| ());
        canceller.rearm();
        assert!(stopped? || tries.failure.is_some());
        let out = tries.of(|| session.run(rounds::Run { wanted: 7 }))?;
        assert_eq!(out.report.total_rounds(), 7);
    }
    Ok(())
}

/// The same of queries that share a launch.
fn stop_batch(runtime: &Runtime, tries: &mut Tries<'_>) -> Result<(), Error> {
    let fake = tries.played();
    let mut session = tries.of(|| rounds::Session::new(runtime, ()))?;
    let canceller = session.canceller();
    let stopped = tries.of(|| {
        canceller.rearm();
        let canceller = canceller.clone();
        for _ in session.waiting()..4 {
            session.submit(LONG, 0);
        }
        fake.at_launch(move || canceller.cancel());
        let results = session.run_batch()?.results.into_iter();
        let stopped = results.map(|(_, result)| was_stopped(result));
        stopped.collect::<Result<Vec<bool>, Error>>()
    });
    fake.at_launch(|| ());
    canceller.rearm();
    assert!(stopped? == [true; 4] || tries.failure.is_some());
    let out = tries.of(|| session.run(rounds::Run { wanted: 7 }))?;
    assert_eq!(out.report.total_rounds(), 7);
    Ok(())
}

/// Waits until nothing of a device is held: the compiler's thread may be the last holder.
fn all_given_back(fake: &Fake, of: &str) {
    let _given_back = happens(|| fake.held() == Held::default());
    assert_eq!(fake.held(), Held::default(), "{of}");
}

fn runtime_on(fake: &Fake) -> Result<Runtime, Error> {
    Ok(runtime_of(fake.open()?))
}

fn runtime_of(cuda: Cuda) -> Runtime {
    vyre_tests::on(cuda).with_route(RoutePolicy::Interpreter)
}

/// Opens a played device in one of several ways.
type Open = fn(&Fake) -> Result<Runtime, Error>;

/// One scenario from opening the device on, with a call that fails; how many errors there were.
fn survive(open: Open, scenario: Scenario, fake: &Fake, (nth, failure): (u64, Failure)) -> usize {
    fake.fail(nth, failure);
    let mut tries = Tries {
        failure: Some(failure),
        ..Tries::none(Some(fake))
    };
    let ended = tries
        .of(|| open(fake))
        .and_then(|runtime| scenario(&runtime, &mut tries));
    assert_eq!(ended.is_err(), failure == Failure::Lost && tries.said > 0);
    tries.said
}

/// How many calls a scenario makes.
fn calls_of(open: Open, scenario: Scenario) -> u64 {
    let fake = Fake::default();
    let runtime = open(&fake).expect("nothing fails");
    scenario(&runtime, &mut Tries::none(Some(&fake))).expect("nothing fails");
    drop(runtime);
    all_given_back(&fake, "nothing fails");
    fake.calls()
}

/// Has each call of the scenarios fail once; faults and errors.
fn fail_once(
    open: Open,
    scenarios: impl Iterator<Item = (&'static str, Scenario)>,
) -> (u32, usize) {
    // Calls whose failure is not told: what is given back is waited for first, results whose pages cannot be locked
    // come as others do, and a launch that cannot be told to stop goes on to its end.
    let mut silent: BTreeMap<(&str, &str), u32> = BTreeMap::new();
    let (mut faults, mut errors) = (0, 0);
    for (name, scenario) in scenarios {
        for nth in 0..calls_of(open, scenario) {
            let fake = Fake::default();
            errors += survive(open, scenario, &fake, (nth, Failure::Once));
            faults += 1;
            all_given_back(&fake, &format!("{name}, call {nth}"));
            if let Some(call) = fake.failed() {
                *silent.entry((name, call)).or_default() += 1;
            }
        }
    }
    println!("{errors} errors; silent: {silent:?}");
    for ((name, call), times) in silent {
        let quiet = [
            "cuMemHostRegister",
            "cuEventSynchronize",
            "cuStreamSynchronize",
        ];
        assert!(
            quiet.contains(&call),
            "{call} failed {times} times in `{name}`, and nobody said so"
        );
    }
    (faults, errors)
}

#[test]
fn any_call_may_fail_once_and_the_next_run_works() {
    let (faults, errors) = fail_once(runtime_on, scenarios());
    println!(
        "faults.driver: {faults} injected, {faults} survived: {errors} told with the call's name, {} silent by design \
         (waits while giving back, a page lock that falls back)",
        faults as usize - errors
    );
}

/// Of what compiled passes ask for beside all else: the module at hand is given back, and the next one is made.
#[test]
fn any_call_for_a_module_may_fail_and_is_its_reason() {
    let fake = Fake::default();
    let runtime = runtime_on(&fake).expect("nothing fails");
    let case = Case::new(300, 1_000);
    let modules = fake.held().modules;
    let mut failed = Vec::new();
    loop {
        let mut session = blend::Session::new(&runtime, case.topology()).expect("it fits");
        fake.fail(failed.len() as u64, Failure::Once);
        let made = session.compile_now();
        let call = fake.failed();
        let out = session.run(case.run(3)).expect("it runs by whatever code");
        case.check(3, &out);
        let Err(error) = made else {
            assert_eq!((out.report.route, call), ("compiled", None));
            break;
        };
        let call = call.expect("it was made to fail");
        assert!(error.to_string().contains(call), "{call}: {error}");
        assert_eq!(out.report.route, "interpreted");
        assert_eq!(fake.held().modules, modules);
        failed.push(call);
    }
    let (load, find) = ("cuLibraryLoadData", "cuModuleGetFunction");
    let allow = "cuFuncSetAttribute";
    assert_eq!(failed, [load, find, allow, allow]);
    drop(runtime);
    all_given_back(&fake, "modules");
}

/// A module of another shape has words of its own, which go up where a call begins that runs it, and others where one
/// begins that does not. Whichever call of a run fails: the next run is right, by whatever code.
#[test]
fn any_call_may_fail_where_a_session_goes_to_a_module_of_another_shape_and_back() {
    let case = Case::new(300, 1_000);
    let mut failed = 0;
    for compiles in [true, false] {
        for nth in 0.. {
            let fake = Fake::default();
            let cuda = fake.open().expect("nothing fails");
            let runtime = runtime_of(cuda.with_shape("512x2".parse().expect("it is a shape")));
            let mut session = blend::Session::new(&runtime, case.topology()).expect("it fits");
            session.compile_now().expect("it compiles");
            case.check(2, &session.run(case.run(2)).expect("nothing fails"));
            let text = session.explain().to_string();
            let says = "2 CTAs of 512 threads a multiprocessor";
            assert!(text.contains(says), "{text}");
            let (before, after) = match compiles {
                true => (vyre::RoutePolicy::Interpreter, vyre::RoutePolicy::Compiled),
                false => (vyre::RoutePolicy::Compiled, vyre::RoutePolicy::Interpreter),
            };
            session.set_route(before);
            case.check(3, &session.run(case.run(3)).expect("nothing fails"));
            session.set_route(after);
            fake.fail(nth, Failure::Once);
            let ran = session.run(case.run(4));
            let call = fake.failed();
            let is_told = ran.is_err();
            if let Ok(out) = ran {
                case.check(4, &out);
            }
            let out = session.run(case.run(5)).expect("nothing fails");
            case.check(5, &out);
            let route = if compiles { "compiled" } else { "interpreted" };
            assert_eq!(out.report.route, route);
            drop((session, runtime));
            all_given_back(&fake, "shapes");
            if call.is_none() {
                break;
            }
            failed += usize::from(is_told);
        }
    }
    println!("{failed} errors");
    assert!(failed > 10);
}

/// A shape that a launch cannot have is said by who asks for it.
#[test]
fn a_shape_that_does_not_fit_is_an_error_of_who_asks_for_it() {
    let case = Case::new(300, 1_000);
    let cuda = Fake::default().open().expect("nothing fails");
    let runtime = runtime_of(cuda.with_shape("128x16".parse().expect("it is a shape")));
    let mut session = blend::Session::new(&runtime, case.topology()).expect("it fits");
    let made = session.compile_now();
    let error = made.expect_err("132 times 16 are too many").to_string();
    let says = "`blend` has no module of the shape 128x16: a launch has 1023 CTAs at most";
    assert!(error.contains(says), "{error}");
    case.check(2, &session.run(case.run(2)).expect("it is interpreted"));
}

/// Sessions of a pass share one.
#[test]
fn a_module_is_unloaded_with_the_last_session_that_names_it() {
    let case = Case::new(300, 1_000);
    let fake = Fake::default();
    let runtime = runtime_on(&fake).expect("it opens");
    let interpreter = fake.held().modules;
    let open = || {
        let mut session = blend::Session::new(&runtime, case.topology()).expect("it fits");
        session.compile_now().expect("it compiles");
        let out = session.run(case.run(2)).expect("it runs");
        assert_eq!(out.report.route, "compiled");
        session
    };
    let [first, second] = [open(), open()];
    assert_eq!(fake.held().modules, interpreter + 1);
    drop(first);
    assert_eq!(fake.held().modules, interpreter + 1);
    drop(second);
    let _unloaded = happens(|| fake.held().modules == interpreter);
    assert_eq!(fake.held().modules, interpreter);
    drop(open());
}

#[test]
fn a_context_may_be_lost_while_a_module_is_made() {
    let case = Case::new(300, 1_000);
    for nth in 0..4 {
        let fake = Fake::default();
        let runtime = runtime_on(&fake).expect("nothing fails");
        let mut session = blend::Session::new(&runtime, case.topology()).expect("it fits");
        fake.fail(nth, Failure::Lost);
        let error = session.compile_now().expect_err("the context is lost");
        assert!(error.to_string().contains("is lost"), "{nth}: {error}");
        let ran = session.run(case.run(3)).map(|_| ());
        let error = ran.expect_err("a lost context stays lost");
        assert!(error.to_string().contains("is lost"), "{nth}: {error}");
    }
}

/// As machine code for another architecture is, or of a driver that reads another format.
#[test]
fn machine_code_that_the_driver_refuses_is_made_from_text() {
    let fake = Fake::new(Spec {
        capability: (9, 0),
        ..Spec::default()
    });
    // The context and two streams come before it.
    fake.fail(3, Failure::Once);
    let runtime = runtime_on(&fake).expect("the text compiles");
    assert_eq!(fake.failed(), Some("cuLibraryLoadData"));
    let code = runtime.cuda_device().expect("it is one").code().to_string();
    let says = "the driver compiles the megakernel, so the first program on a machine waits for half a minute: the driver \
         did not take the cubin for compute capability 9.0: cuLibraryLoadData failed";
    assert!(code.starts_with(says), "{code}");
    run(&runtime, &mut Tries::none(None)).expect("nothing fails");
    drop(runtime);
    all_given_back(&fake, "refused machine code");
}

#[test]
fn a_context_may_be_lost_at_any_call_and_stays_an_error() {
    let mut errors = 0;
    for (_, scenario) in scenarios() {
        for nth in 0..calls_of(runtime_on, scenario) {
            let fault = (nth, Failure::Lost);
            errors += survive(runtime_on, scenario, &Fake::default(), fault);
        }
    }
    println!("{errors} errors");
}

#[test]
fn a_device_without_room_says_how_much_there_is() {
    let case = Case::new(300, 1_000);
    let fake = Fake::new(Spec {
        memory_bytes: 64 << 10,
        ..Spec::default()
    });
    let runtime = runtime_on(&fake).expect("it opens");
    let mut small = blend::Session::new(&runtime, case.topology()).expect("it fits");
    let large = Case::new(30_000, 100_000);
    let error = blend::Session::new(&runtime, large.topology()).unwrap_err();
    let (needed, available) = missing(&error);
    assert!(needed > 64 << 10);
    assert_eq!(
        error.to_string(),
        format!(
            "the session does not fit on a played device: with a budget (`Runtime::with_memory`) buffers share memory \
            that are not used at once, and `Runtime::native()` takes the host's; {needed} bytes are needed, {available} are available"
        )
    );
    let before = fake.held();
    assert!(small.update(large.topology()).is_err());
    assert_eq!(fake.held().bytes, before.bytes);
    case.check(2, &small.run(case.run(2)).expect("it still runs"));
}

/// The bytes that are needed and available.
fn missing(error: &Error) -> (u64, u64) {
    let Error::Run(RunError::Memory {
        needed_bytes,
        available_bytes,
        ..
    }) = error
    else {
        panic!("{error}");
    };
    (*needed_bytes, *available_bytes)
}

#[test]
fn a_device_whose_memory_others_hold_says_what_frees_it() {
    let case = Case::new(3_000, 10_000);
    let fake = Fake::default();
    let runtime = runtime_on(&fake).expect("it opens");
    let open = || blend::Session::new(&runtime, case.topology());
    drop(open().expect("it fits"));
    // Room for one session, and none for two.
    let one = {
        let _session = open().expect("it fits");
        fake.held().bytes
    };
    drop(runtime);
    let fake = Fake::new(Spec {
        memory_bytes: one * 3 / 2,
        ..Spec::default()
    });
    let runtime = runtime_on(&fake).expect("it opens");
    let open = || blend::Session::new(&runtime, case.topology());
    let first = open().expect("it fits");
    let error = open().map(|_| ()).expect_err("one is there");
    let (needed, available) = missing(&error);
    assert_eq!(
        error.to_string(),
        format!(
            "the session does not fit on a played device beside what is there: drop sessions, or end other programs \
            (`nvidia-smi` lists them); {needed} bytes are needed, {available} are available"
        )
    );
    drop(first);
    let mut session = open().expect("what was in its way is gone");
    case.check(2, &session.run(case.run(2)).expect("it runs"));
}

/// Another program may take the memory between the look at what is free and the call.
#[test]
fn memory_that_is_gone_when_it_is_asked_for_says_what_frees_it() {
    let case = Case::new(300, 1_000);
    let fake = Fake::default();
    let runtime = runtime_on(&fake).expect("it opens");
    fake.fail(0, Failure::Once);
    let refused = blend::Session::new(&runtime, case.topology()).map(|_| ());
    assert_eq!(fake.failed(), Some("cuMemAlloc"));
    assert_eq!(
        refused.expect_err("there is no memory").to_string(),
        "cuMemAlloc failed: CUDA_ERROR_OUT_OF_MEMORY: out of memory; drop sessions, or end other programs (`nvidia-smi` \
        lists those that hold a device's memory)"
    );
    run(&runtime, &mut Tries::none(None)).expect("nothing fails");
}

#[test]
fn a_lost_context_says_that_the_program_is_to_start_again() {
    let case = Case::new(300, 1_000);
    let fake = Fake::default();
    let runtime = runtime_on(&fake).expect("it opens");
    fake.fail(0, Failure::Lost);
    for _ in 0..2 {
        let lost = blend::Session::new(&runtime, case.topology()).map(|_| ());
        let error = lost.expect_err("the context is lost").to_string();
        let (call, rest) = error.split_once(' ').expect("the call comes first");
        assert!(call.starts_with("cu"), "{error}");
        assert_eq!(
            rest,
            "failed, and the CUDA context of this process is lost, as after a fault in a kernel or of the device; \
            start the program again to use the device: CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered"
        );
    }
}

#[test]
fn a_driver_that_is_too_old_is_named_by_its_version() {
    let fake = Fake::new(Spec {
        driver: 11_080,
        ..Spec::default()
    });
    let error = fake.open().err().expect("it is too old");
    assert_eq!(
        error.to_string(),
        "the CUDA driver supports CUDA 11.8; update the NVIDIA driver to 525 or later (CUDA 12.0)"
    );
    let fake = Fake::new(Spec {
        capability: (7, 5),
        ..Spec::default()
    });
    let error = fake.open().err().expect("it is too old");
    assert_eq!(
        error.to_string(),
        "a played device has compute capability 7.5; 8.0 or later is needed"
    );
}

/// What a scenario asks the driver for.
fn transcript_of(scenario: Scenario, (cuda, transcript): (Cuda, Transcript)) -> String {
    scenario(&runtime_of(cuda), &mut Tries::none(None)).expect("nothing fails");
    transcript.text()
}

/// Where the transcripts are, or are to be written.
fn transcripts() -> PathBuf {
    let here = || Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts");
    std::env::var_os("VYRE_TRANSCRIPTS").map_or_else(here, PathBuf::from)
}

/// The first line says what the transcript is of.
fn write(name: &str, of: &str, text: &str) {
    let folder = transcripts();
    std::fs::create_dir_all(&folder).expect("the folder can be made");
    let path = folder.join(name).with_extension("txt");
    std::fs::write(path, format!("# {of}\n{text}")).expect("the transcript can be written");
}

/// The first line of each says whose they are: a real device's, which `VYRE_TRANSCRIPTS` has written, or the played
/// device's, by which `VYRE_BLESS` has replaced what differed.
#[test]
fn the_driver_is_asked_for_what_a_device_was_asked_for() {
    for (name, scenario) in SCENARIOS {
        let opened = Transcript::of_fake(&Fake::default()).expect("nothing fails");
        let text = transcript_of(scenario, opened);
        let path = transcripts().join(name).with_extension("txt");
        if std::env::var_os("VYRE_BLESS").is_some() {
            let there = std::fs::read_to_string(&path).unwrap_or_default();
            // What is right already stays whose it is.
            if there.split_once('\n').map(|(_, recorded)| recorded) != Some(text.as_str()) {
                write(name, "a played device", &text);
            }
        }
        let there = std::fs::read_to_string(&path).expect("there is a transcript");
        let (_, recorded) = there.split_once('\n').expect("it has a first line");
        for (n, (asked, recorded)) in (2..).zip(text.lines().zip(recorded.lines())) {
            assert_eq!(asked, recorded, "{name}, line {n}");
        }
        assert_eq!(text.lines().count(), recorded.lines().count(), "{name}");
    }
}

/// The device of this machine is asked for what the played one is asked for. Where `VYRE_TRANSCRIPTS` names a folder,
/// what it was asked for is written there: those are the files of `tests/transcripts`. Of a device with 132
/// multiprocessors, as the played one has.
#[test]
#[ignore = "needs a CUDA device"]
fn a_device_is_asked_for_what_the_played_one_is_asked_for() {
    let _alone = device_alone();
    for (name, scenario) in SCENARIOS {
        let (cuda, transcript) = Transcript::of_device(0).expect("a CUDA device");
        let device = cuda.device();
        let of = format!("{}, driver {}", device.name(), device.driver_version());
        let multiprocessors = device.multiprocessors();
        let text = transcript_of(scenario, (cuda, transcript));
        if std::env::var_os("VYRE_TRANSCRIPTS").is_some() {
            write(name, &of, &text);
        }
        let played = Fake::new(Spec {
            multiprocessors,
            ..Spec::default()
        });
        assert_same(name, &text, scenario, &played);
    }
}

/// A device was asked for what a played one is asked for.
fn assert_same(name: &str, text: &str, scenario: Scenario, played: &Fake) {
    let played = Transcript::of_fake(played).expect("nothing fails");
    let played = transcript_of(scenario, played);
    for (n, (device, played)) in (1..).zip(text.lines().zip(played.lines())) {
        assert_eq!(device, played, "{name}, line {n}");
    }
    assert_eq!(text.lines().count(), played.lines().count(), "{name}");
}

/// Runs a test of this file in a process of its own; what it printed.
fn in_a_process(test: &str, library: Option<&Path>) -> String {
    let mut command = Command::new(std::env::current_exe().expect("this is one"));
    command.args(["--ignored", "--nocapture", "--exact", test]);
    command
        .env(CHILD, "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    if let Some(folder) = library {
        command.env("LD_LIBRARY_PATH", folder);
    }
    let mut child = command.spawn().expect("it starts");
    let mut printed = String::new();
    let output = child.stdout.as_mut().expect("it is piped");
    output.read_to_string(&mut printed).expect("it is text");
    let ended = child.wait().expect("it ends");
    assert!(ended.success(), "{printed}");
    printed
}

/// Held by whoever uses the machine's device: one test takes all of its memory.
static DEVICE: Mutex<()> = Mutex::new(());

fn device_alone() -> MutexGuard<'static, ()> {
    DEVICE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Set for a process that a test has started.
const CHILD: &str = "VYRE_DRIVER_CHILD";

#[test]
#[ignore = "run by others, with another driver library"]
fn child_opens_a_device() {
    match Runtime::cuda() {
        Ok(runtime) => println!("opened {runtime}"),
        Err(error) => println!("error: {error}"),
    }
}

/// Compiles a library for the driver's place; the folder that it is in.
fn built(name: &str, source: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).expect("the folder can be made");
    let file = folder.join("stub.c");
    std::fs::write(&file, source).expect("the source can be written");
    let built = Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .arg(folder.join("libcuda.so"))
        .arg(&file)
        .status();
    assert!(built.expect("there is a C compiler").success());
    folder
}

/// Puts a library with these functions in the driver's place, whose version is 11.8, and opens a device.
fn opened_with(name: &str, functions: &[&str]) -> String {
    let mut source = String::new();
    for function in functions {
        let body = match *function {
            "cuDriverGetVersion" => "(int *version) { *version = 11080; return 0; }",
            _ => "(void) { return 0; }",
        };
        source.push_str(&format!("int {function}{body}\n"));
    }
    in_a_process("child_opens_a_device", Some(&built(name, &source)))
}

#[test]
fn a_driver_library_without_a_function_is_an_error_with_its_name() {
    let without: Vec<&str> = (SYMBOLS.iter().copied())
        .filter(|&symbol| symbol != "cuOccupancyMaxActiveClusters")
        .collect();
    let printed = opened_with("without", &without);
    let expected = "error: no CUDA device: the CUDA driver library (libcuda) has no cuOccupancyMaxActiveClusters; update the NVIDIA driver to 525 or later (CUDA 12.0)";
    assert!(printed.contains(expected), "{printed}");
}

#[test]
fn a_driver_library_of_an_old_version_is_an_error_with_its_version() {
    let printed = opened_with("old", SYMBOLS);
    let expected = "error: no CUDA device: the CUDA driver supports CUDA 11.8; update the NVIDIA driver to 525 or later (CUDA 12.0)";
    assert!(printed.contains(expected), "{printed}");
}

/// Opens a played device by the library in the driver's place.
fn runtime_by_library(fake: &Fake) -> Result<Runtime, Error> {
    library::play(fake);
    Ok(runtime_of(Cuda::open(0)?))
}

#[test]
#[ignore = "run by another, with a library that is played"]
fn child_plays_the_library() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    for (name, scenario) in SCENARIOS {
        let fake = Fake::default();
        library::play(&fake);
        let opened = Transcript::of_device(0).expect("nothing fails");
        let text = transcript_of(scenario, opened);
        assert_same(name, &text, scenario, &Fake::default());
        all_given_back(&fake, name);
    }
    let some = || [SCENARIOS[0], ("stop", stop as Scenario)].into_iter();
    let (faults, errors) = fail_once(runtime_by_library, some());
    assert_eq!((faults, errors), fail_once(runtime_on, some()));
    let fault = (20, Failure::Lost);
    assert!(survive(runtime_by_library, run, &Fake::default(), fault) > 0);
    println!("{errors} errors by the library");
    // What the compiler says of a text.
    let fake = Fake::default();
    fake.refuse_ptx("ptxas fatal: it does not compile\n");
    let refused = runtime_by_library(&fake).expect_err("nothing compiles");
    println!("refused: {refused}");
    // Machine code of this crate is loaded as it is.
    let fake = Fake::new(Spec {
        capability: (9, 0),
        ..Spec::default()
    });
    let runtime = runtime_by_library(&fake).expect("nothing fails");
    println!(
        "waits for {:?}",
        runtime.cuda_device().expect("it is one").code()
    );
    run(&runtime, &mut Tries::none(None)).expect("nothing fails");
}

#[test]
fn the_driver_s_library_is_asked_for_what_a_driver_is_asked_for() {
    let folder = built("played", &library::source());
    let printed = in_a_process("child_plays_the_library", Some(&folder));
    println!("{printed}");
    let refused = "refused: no CUDA device: the driver's compiler failed, and a newer driver's may not: ptxas fatal: it does not compile\n";
    assert!(printed.contains(refused), "{printed}");
    assert!(
        printed.contains("waits for Cubin { major: 9, minor: 0 }"),
        "{printed}"
    );
}

/// Stores through an address that was never allocated.
const BREAKS: &str = "
.version 7.0
.target sm_80
.address_size 64
.visible .entry breaks()
{
    .reg .u64 %d1;
    .reg .u32 %r1;
    mov.u64 %d1, 64;
    mov.u32 %r1, 1;
    st.global.u32 [%d1], %r1;
    ret;
}
";

#[test]
#[ignore = "run by another test, whose process it would break"]
fn child_loses_its_context() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    let case = Case::new(300, 1_000);
    let runtime = vyre_tests::cuda();
    let runtime = runtime.with_route(RoutePolicy::Interpreter);
    let mut session = blend::Session::new(&runtime, case.topology()).expect("it fits");
    case.check(2, &session.run(case.run(2)).expect("it runs"));
    let device = runtime.cuda_device().expect("it is one");
    device.enter().expect("it is there");
    let text = CString::new(BREAKS).expect("it has no zero byte");
    // SAFETY: the text ends in a zero byte and outlives the call; the kernel takes nothing. What it does is the test.
    unsafe {
        let module = result::module::load_data(text.as_ptr().cast()).expect("it compiles");
        let function = result::module::get_function(module, c"breaks".to_owned());
        let (function, one) = (function.expect("it is there"), (1, 1, 1));
        let stream = device.stream();
        result::launch_kernel(function, one, one, 0, stream, &mut []).expect("it starts");
    }
    for _ in 0..3 {
        let error = session.run(case.run(3)).expect_err("the context is lost");
        println!("error: {error}");
    }
    let error = blend::Session::new(&runtime, case.topology()).expect_err("it is lost");
    println!("error: {error}");
    drop(session);
    drop(runtime);
    println!("ended");
}

#[test]
#[ignore = "needs a CUDA device"]
fn a_lost_context_stays_an_error_on_a_device() {
    let _alone = device_alone();
    let printed = in_a_process("child_loses_its_context", None);
    let errors = printed.matches("the CUDA context of this process is lost");
    assert_eq!(errors.count(), 4, "{printed}");
    assert!(printed.contains("ended"), "{printed}");
}

#[test]
#[ignore = "run by another test, beside which it takes the device's memory"]
fn child_holds_the_memory() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    let runtime = vyre_tests::cuda();
    let device = runtime.cuda_device().expect("it is one");
    let mut held = Vec::new();
    // All but what is too little for the other one's graph.
    let mut piece = device.memory_bytes().expect("it says").0 as usize;
    while piece >= 16 << 20 {
        device.enter().expect("it is there");
        // SAFETY: memory that is not used; the process ends with it.
        match unsafe { result::malloc_sync(piece) } {
            Ok(address) => held.push(address),
            Err(_) => piece /= 2,
        }
    }
    println!("held in {} pieces", held.len());
    // Until the other one is done.
    let _ended = std::io::stdin().read_line(&mut String::new());
}

#[test]
#[ignore = "needs a CUDA device, and all of its memory"]
fn memory_that_another_process_holds_is_not_there() {
    let _alone = device_alone();
    let large = Case::new(1_000_000, 10_000_000);
    let runtime = vyre_tests::cuda();
    let runtime = runtime.with_route(RoutePolicy::Interpreter);
    let mut command = Command::new(std::env::current_exe().expect("this is one"));
    command.args([
        "--ignored",
        "--nocapture",
        "--exact",
        "child_holds_the_memory",
    ]);
    command
        .env(CHILD, "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    let output = BufReader::new(child.stdout.take().expect("it is piped"));
    let mut lines = output.lines().map(|line| line.expect("it is text"));
    assert!(lines.any(|line| line.contains("held in")), "it ended early");
    let refused = blend::Session::new(&runtime, large.topology());
    let refused = refused.map(|_| ()).expect_err("there is no room");
    drop(child.stdin.take());
    child.wait().expect("it ends");
    let says = "end other programs (`nvidia-smi` lists th";
    assert!(refused.to_string().contains(says), "{refused}");
    let mut session = blend::Session::new(&runtime, large.topology()).expect("now there is");
    large.check(2, &session.run(large.run(2)).expect("it runs"));
}
