//! How runs go on an adapter: what the host leaves to it, and what it refuses. What passes mean, the suite of `vyre`
//! tests on this backend as on all others.

#![allow(missing_docs, reason = "passes of tests")]

use std::sync::{Arc, OnceLock};
use vyre::prelude::*;
use vyre::{Cancelled, Error};
use vyre_core::plan::footprint::Allocation;
use vyre_core::run::args::{Args, TopologyArgs};
use vyre_core::run::backend::{Executor, Opening};
use vyre_core::vir0::module::Program;
use vyre_tests::endless::spin;
use vyre_tests::graphs::{chain, distances, random_graph, shortest};
use vyre_tests::passes::{bfs, sssp};
use vyre_wgpu::Wgpu;
use vyre_wgpu::driver::Session;
use vyre_wgpu::target::Target;

/// Loops of the shaders that are none of the pass: division of 64 bits, remainders, updates that WGSL lacks.
#[wave_graph]
mod hidden_loops {
    pub struct Data {
        #[input(per = 64)]
        y: u64,
        #[input(per = 64)]
        x: f32,
        #[output(per = 64)]
        sum: u64,
        #[output(per = 64)]
        rest: f32,
        #[output(per = 1)]
        most: i32,
        n: u32,
    }

    #[wave(range(64))]
    fn work(
        i: Index,
        n: u32,
        y: &u64,
        x: &f32,
        sum: &mut u64,
        rest: &mut f32,
        most: &Buf<Atomic<i32>>,
    ) {
        for k in 0..n {
            *sum = sum.wrapping_add((*y - u64::from(k)) / 3);
            *rest += *x % (k as f32 + 0.5);
            most[0].fetch_max((k * 64 + i) as i32);
        }
    }
}

/// What is left of a number without itself.
#[allow(clippy::eq_op, reason = "equal operands are what is asked about")]
#[wave_graph(deterministic)]
mod differences {
    pub struct Data {
        #[input(per = n)]
        x: f64,
        #[input(per = n)]
        y: f32,
        #[output(per = n)]
        none: u32,
        n: u32,
    }

    #[wave(range(n))]
    fn compare(x: &f64, y: &f32, none: &mut u32) {
        let products = *y * 3.0 - *y * 3.0 + 1.0;
        *none = u32::from(*x - *x == 0.0)
            + 2 * u32::from(*y - *y == 0.0)
            + 4 * u32::from(products == 1.0);
        *none += 8 * u32::from(*x / *x == 1.0) + 16 * u32::from(*y / *y == 1.0);
    }
}

fn wgpu() -> Wgpu {
    static WGPU: OnceLock<Wgpu> = OnceLock::new();
    let open = || Wgpu::open().unwrap_or_else(|e| panic!("{e}"));
    WGPU.get_or_init(open).clone()
}

fn session(wgpu: &Wgpu, program: &Arc<Program>, graph: &Csr) -> Session {
    let topology = TopologyArgs {
        graphs: vec![graph],
        columns: vec![],
    };
    let opening = Opening {
        program: Arc::clone(program),
        topology: &topology,
        allocation: Allocation::Separate,
        native: None,
    };
    wgpu.session(&opening).expect("it fits")
}

/// What a search from a node finds, in how many rounds, and how often the host has looked.
fn search(wgpu: &Wgpu, graph: &Csr, source: u32) -> (Vec<u32>, u64, u64) {
    let program = Arc::new(bfs::PLAN.program().clone());
    let mut session = session(wgpu, &program, graph);
    let args = Args {
        scalars: vec![source.into()],
        inputs: vec![],
    };
    let mut results = Executor::run(&mut session, &args).expect("no trap");
    let mut dist = Vec::new();
    results.exchange(vyre_core::vir0::module::BufferId(0), &mut dist);
    (dist, results.report.total_rounds(), session.looks())
}

#[test]
fn loops_of_helpers_are_counted_where_drivers_cut_them() {
    let (y, x) = ([u64::MAX - 5; 64], [1e30f32; 64]);
    let run = |n| hidden_loops::Run { y: &y, x: &x, n };
    let mut native = hidden_loops::Session::new(&Runtime::native(), ()).expect("opens");
    let runtime = Runtime::on(Arc::new(wgpu()));
    let mut session = hidden_loops::Session::new(&runtime, ()).expect("opens");
    for n in [10, 3_000] {
        let expected = native.run(run(n)).expect("runs");
        match session.run(run(n)) {
            Ok(out) => {
                assert_eq!((&out.sum, &out.most), (&expected.sum, &expected.most));
                assert_eq!(out.rest, expected.rest);
            }
            Err(e) => {
                assert!(
                    e.to_string().contains("ends loops after 65535 turns"),
                    "{e}"
                );
                assert_ne!(n, 10);
            }
        }
    }
}

#[test]
fn no_compiler_knows_that_a_number_is_taken_from_itself() {
    let x = [1.0, f64::INFINITY, f64::NAN, -1e308, 0.0];
    let y = [1.0, f32::INFINITY, f32::NAN, -1e38, 0.0];
    let run = || differences::Run { x: &x, y: &y, n: 5 };
    let of = |runtime: &Runtime| {
        let mut session = differences::Session::new(runtime, ()).expect("opens");
        session.run(run()).expect("runs").none
    };
    let found = of(&Runtime::on(Arc::new(wgpu())));
    assert_eq!(found, of(&Runtime::native()));
    assert_eq!(found, [31, 0, 0, 31, 7]);
}

#[test]
fn rounds_of_a_long_fixpoint_are_hardly_looked_at() {
    let graph = chain(3_000);
    // A busy machine may take long for each submission, which would make the next one smaller.
    let (dist, rounds, looks) = search(&wgpu().with_patience(), &graph, 0);
    assert_eq!((dist, rounds), (distances(&graph, 0), 3_000));
    assert!(16 * looks <= rounds, "{looks}");
}

#[test]
fn dispatched_rounds_are_encoded_several_at_a_time() {
    let graph = chain(300);
    let wgpu = wgpu().with_narrow_items(0).with_patience();
    let (dist, rounds, looks) = search(&wgpu, &graph, 0);
    assert_eq!((dist, rounds), (distances(&graph, 0), 300));
    assert!(2 * looks <= rounds, "{looks}");
}

#[test]
fn it_does_not_matter_who_sweeps() {
    let graph = random_graph(3_000, 30_000);
    let weight: Vec<u32> = (0..30_000).map(|e| e % 13 + 1).collect();
    let (near, far) = (distances(&graph, 7), shortest(&graph, &weight, 7));
    for narrow_items in [0, 100, u32::MAX] {
        let wgpu = wgpu().with_narrow_items(narrow_items);
        assert_eq!(search(&wgpu, &graph, 7).0, near, "{narrow_items}");
        let topology = sssp::Topology {
            graph: &graph,
            weight: &weight,
        };
        let runtime = Runtime::on(Arc::new(wgpu));
        let mut session = sssp::Session::new(&runtime, topology).expect("it fits");
        let out = session.run(sssp::Run { source: 7 }).expect("no trap");
        assert_eq!(out.dist, far, "{narrow_items}");
    }
}

/// Each index once, whatever the number of workgroups.
#[wave_graph]
pub mod count {
    pub struct Data {
        #[reduce(count)]
        seen: u64,
        #[reduce(sum)]
        sum: u64,
        n: u32,
    }

    #[wave(range(n))]
    fn each(i: Index, seen: &Reduce<Count>, sum: &Reduce<Sum<u64>>) {
        seen.inc();
        sum.add(i as u64);
    }
}

/// Each item takes as many turns.
#[wave_graph]
pub mod turns {
    pub struct Data {
        #[output(per = n)]
        out: u32,
        n: u32,
        turns: u32,
    }

    #[wave(range(n))]
    fn each(turns: u32, out: &mut u32) {
        let mut sum = 0;
        for i in 0..turns {
            sum ^= i * 3;
        }
        *out = sum;
    }
}

/// llvmpipe ends loops silently. Nothing is computed with what they leave.
#[test]
fn loops_that_a_driver_ends_are_an_error() {
    let wgpu = wgpu();
    let cuts = wgpu.target().cuts_loops;
    let runtime = Runtime::on(Arc::new(wgpu));
    let mut session = turns::Session::new(&runtime, ()).expect("it fits");
    let expected = |turns: u32| (0..turns).fold(0, |sum, i| sum ^ (i * 3));
    // More items than there are lanes, so that some take ten.
    for (n, turns) in [(3, 20_000), (10 << 18, 100), (10 << 18, 10_000)] {
        match session.run(turns::Run { n, turns }) {
            Ok(out) => {
                let wrong = out.out.iter().position(|&sum| sum != expected(turns));
                assert_eq!(wrong, None, "{n} items, {turns} turns");
            }
            Err(e) => {
                assert!(cuts && turns == 10_000, "{e}");
                let told = " ends loops after 65535 turns, and those of `turns` may take more";
                assert!(e.to_string().ends_with(told), "{e}");
            }
        }
    }
}

/// A dispatch can have 65,535 workgroups on most adapters, which have 256 lanes.
#[test]
fn more_items_than_lanes_of_any_dispatch_are_swept() {
    let runtime = Runtime::on(Arc::new(wgpu()));
    let mut session = count::Session::new(&runtime, ()).expect("it fits");
    for n in [0, 1, 255, 1_025, 65_536 * 256 + 3] {
        let out = session.run(count::Run { n }).expect("no trap");
        let sum = u64::from(n) * u64::from(n.max(1) - 1) / 2;
        assert_eq!((out.seen, out.sum), (n.into(), sum));
    }
}

#[wave_graph]
pub mod long {
    pub struct Data {
        #[output(per = n)]
        out: u32,
        n: u32,
    }

    #[wave(range(n))]
    fn each(i: Index, out: &mut u32) {
        *out = i;
    }
}

#[test]
fn what_no_binding_holds_is_refused_with_numbers() {
    let wgpu = wgpu();
    let most = wgpu.target().binding_bytes;
    let Ok(n) = u32::try_from(most / 4 + 1) else {
        // No pass of 32-bit indices is too large for it.
        return;
    };
    let runtime = Runtime::on(Arc::new(wgpu));
    let mut session = long::Session::new(&runtime, ()).expect("it fits");
    let error = session.run(long::Run { n }).unwrap_err();
    let told = format!(
        "`out` is larger than a binding of this adapter can be; {} bytes are needed, {most} are available",
        4 * u64::from(n)
    );
    assert_eq!(error.to_string(), told);
    assert_eq!(
        session.run(long::Run { n: 3 }).expect("it fits").out,
        [0, 1, 2]
    );
}

#[test]
fn a_loop_without_an_end_is_an_error_and_a_cancel_where_there_was_one() {
    let wgpu = wgpu();
    let cuts = wgpu.target().cuts_loops;
    let runtime = Runtime::on(Arc::new(wgpu));
    let mut session = spin::Session::new(&runtime, ()).expect("it fits");
    let endless = || spin::Run {
        items: 100,
        turns: 1,
    };
    let short = || spin::Run { items: 3, turns: 0 };
    let error = session.run(endless()).unwrap_err();
    let told = match cuts {
        true => " ends loops after 65535 turns, and those of `spin` may take more",
        false => {
            "an item of `spin` takes more than 16777216 turns of a loop; a shader cannot be stopped, so that the wgpu \
             backend runs no longer ones"
        }
    };
    assert!(error.to_string().ends_with(told), "{error}");
    assert_eq!(session.run(short()).expect("it ends").out, [1, 2, 3]);
    session.canceller().cancel();
    let cancelled = session.run(endless()).unwrap_err();
    let asked = matches!(cancelled, Error::Cancelled(Cancelled::Asked));
    assert!(asked, "{cancelled}");
    assert_eq!(session.run(short()).expect("it ends").out, [1, 2, 3]);
}

/// The most of a number a bucket, which takes atomics of 64 bits.
#[wave_graph]
pub mod most {
    pub struct Data {
        #[output(per = 4)]
        most: u64,
        #[output(per = n)]
        root: f64,
        n: u32,
    }

    #[wave(range(n))]
    fn each(i: Index, most: &Buf<Atomic<u64>>) {
        most[i % 4].fetch_max(i as u64 * 3_000_000_000);
    }

    #[wave(range(n))]
    fn root(i: Index, root: &mut f64) {
        *root = (i as f64).sqrt() / 3.0;
    }
}

#[test]
fn what_an_adapter_lacks_is_refused_with_the_place() {
    let wgpu = wgpu();
    let runtime = |target: &Target| Runtime::on(Arc::new(wgpu.clone().limited_to(target)));
    let without = Target {
        wide_atomics: false,
        ..Target::full()
    };
    let error = most::Session::new(&runtime(&without), ())
        .map(|_| ())
        .unwrap_err()
        .to_string();
    let told = "cannot run `most`: wave `each` accesses `most` with atomics of 64 bits, and the target has only those of 32 \
                (vyre-wgpu/tests/runs.rs:";
    assert!(error.contains(told), "{error}");
    if wgpu.target().wide_atomics {
        // f64 in whole numbers gives the same bits.
        let without = Target {
            f64: false,
            ..Target::full()
        };
        for target in [Target::full(), without] {
            let mut session = most::Session::new(&runtime(&target), ()).expect("it fits");
            let out = session.run(most::Run { n: 1_000 }).expect("no trap");
            let most = |i: u64| i * 3_000_000_000;
            assert_eq!(out.most, [most(996), most(997), most(998), most(999)]);
            let roots: Vec<f64> = (0..1_000).map(|i| f64::from(i).sqrt() / 3.0).collect();
            assert!(out.root == roots, "{target:?}");
        }
    }
}

#[test]
fn an_adapter_that_is_not_there_is_named() {
    let error = Wgpu::open_named("no such adapter").unwrap_err().to_string();
    let told = "no adapter is called `no such adapter`; there are: ";
    assert!(error.starts_with(told), "{error}");
}
