//! How many threads the environment and a program may ask for, and which run. The test of the environment runs itself
//! again, with an environment of its own.

use std::collections::HashSet;
use std::process::Command;
use std::sync::{Arc, Condvar, Mutex};
use std::thread::{ThreadId, current};
use std::time::Duration;
use vyre::prelude::*;
use vyre_core::cpu::NativeThreads;
use vyre_core::cpu::native::{self, Functions, Sweep};
use vyre_core::plan::footprint::Allocation;
use vyre_core::run::args::{Args, TopologyArgs};
use vyre_core::run::backend::{Backend, Opening};
use vyre_core::vir0::isa::{Op, Word};
use vyre_core::vir0::module::{
    Domain, Extent, ItemRows, Kernel, KernelId, Program, Step, Wave, WaveId,
};
use vyre_tests::graphs;
use vyre_tests::passes::{bfs, doubled};

const INSIDE: &str = "VYRE_TEST_INSIDE";

#[test]
fn absurd_numbers_of_threads_are_errors() {
    if std::env::var_os(INSIDE).is_some() {
        for runtime in [Runtime::native(), Runtime::vir0()] {
            match doubled::Session::new(&runtime, ()) {
                Ok(mut session) => {
                    let out = session.run(doubled::Run { n: 100_000 }).expect("runs");
                    assert_eq!(out.twice[99_999], 199_998);
                    println!("runs");
                }
                Err(e) => println!("{e:?}"),
            }
        }
        return;
    }
    let with = |threads: &str| {
        let mut again = Command::new(std::env::current_exe().expect("a test is a program"));
        again.args([
            "--exact",
            "absurd_numbers_of_threads_are_errors",
            "--nocapture",
        ]);
        again.env(INSIDE, "1").env("RAYON_NUM_THREADS", threads);
        let output = again.output().expect("it runs");
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).expect("it prints text")
    };
    let refused = with("1000000");
    let says = "RAYON_NUM_THREADS asks for 1000000 threads; at most ";
    assert_eq!(refused.matches(says).count(), 2, "{refused}");
    // What is no number asks for nothing, as rayon has it.
    for threads in ["3", "abc", "0"] {
        assert_eq!(with(threads).matches("runs").count(), 2, "{threads}");
    }
}

/// Threads that have run a lane.
static RAN: Mutex<Option<HashSet<ThreadId>>> = Mutex::new(None);
static MET: Condvar = Condvar::new();
const THREADS: usize = 3;

/// A pass whose lanes wait until [`THREADS`] threads are there.
struct Meets;

impl Functions for Meets {
    fn wave(cx: &Sweep<'_>) {
        cx.range((), (), |_, ()| {
            let mut ran = RAN.lock().expect("no lane panics with it");
            ran.get_or_insert_default().insert(current().id());
            MET.notify_all();
            let few = |ran: &mut Option<HashSet<ThreadId>>| {
                ran.as_ref().is_none_or(|ran| ran.len() < THREADS)
            };
            let waits = MET.wait_timeout_while(ran, Duration::from_secs(60), few);
            let (_ran, time) = waits.expect("no lane panics with it");
            assert!(!time.timed_out(), "fewer threads came");
        });
    }
}

#[test]
fn as_many_threads_run_as_a_runtime_has_of_its_own() {
    let kernel = Kernel {
        name: "meets".into(),
        code: vec![Word {
            op: Op::Ret as u8,
            ..Word::default()
        }],
        rows: 0,
        frames: 0,
        item: ItemRows::default(),
        uniforms: vec![],
        sites: vec![],
    };
    let wave = Wave {
        name: "meets".into(),
        kernel: KernelId(0),
        domain: Domain::Range(Extent::Fixed(200_000)),
        accesses: vec![],
        fixpoint: None,
        after: vec![],
    };
    let program = Program {
        name: "meets".into(),
        kernels: vec![kernel],
        waves: vec![wave],
        schedule: vec![Step::Wave(WaveId(0)), Step::End],
        ..Program::default()
    };
    let opening = Opening {
        program: Arc::new(program),
        topology: &TopologyArgs::default(),
        allocation: Allocation::Separate,
        native: Some(native::open::<Meets>),
    };
    let own = NativeThreads::new(THREADS).expect("there are threads");
    let mut executor = own.open(opening).expect("it fits");
    assert_eq!(executor.slots(), THREADS as u32);
    executor.run(&Args::default()).expect("threads meet");
    let ran = RAN.lock().expect("no lane panicked with it").take();
    let ran = ran.expect("lanes ran");
    assert_eq!(ran.len(), THREADS);
    assert!(!ran.contains(&current().id()));
}

#[test]
fn results_are_the_same_on_any_number_of_threads() {
    let graph = graphs::random_graph(20_000, 200_000);
    let on = |threads| {
        let runtime = Runtime::native_threads(threads).expect("there are threads");
        let mut session = bfs::Session::new(&runtime, &graph).expect("it fits");
        for source in 0..4 {
            session.submit(bfs::Run { source }, 0);
        }
        let batch = session.run_batch().expect("it runs");
        let results = batch.results.into_iter();
        let results = results.map(|(_, out)| out.expect("no trap").dist);
        (results.collect::<Vec<_>>(), runtime.device())
    };
    let (one, device) = on(1);
    assert_eq!(device, "1 thread");
    for threads in [2, 7] {
        let (results, device) = on(threads);
        assert_eq!(device, format!("{threads} threads"));
        assert!(results == one, "{threads} threads");
    }
}

#[test]
fn no_threads_and_too_many_are_errors() {
    for threads in [0, usize::MAX] {
        let error = Runtime::native_threads(threads).expect_err("nothing can be meant");
        let says = format!("{threads} threads are asked for; at least 1 and at most ");
        assert!(error.to_string().starts_with(&says), "{error}");
    }
}
