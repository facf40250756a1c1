//! What is about devices: rounds of one submission, limits, devices that are lost, loops that do not end.

#![allow(
    missing_docs,
    reason = "the passes are public only to be like a user's"
)]

use std::cell::Cell;
use std::sync::Arc;
use vyre::prelude::*;
use vyre::{Error, RunError};
use vyre_core::cpu::Vir0;
use vyre_core::dsl::columns::Column;
use vyre_core::plan::check;
use vyre_core::plan::footprint::Allocation;
use vyre_core::run::args::{Args, TopologyArgs};
use vyre_core::run::backend::{Backend, Opening};
use vyre_core::vir0::disasm;
use vyre_core::vir0::module::{BufferId, Program};
use vyre_core::vir0::verify::verify;
use vyre_tests::graphs::{
    chain, directed, distances, ends, random_graph, sorted, undirected, wide,
};
use vyre_tests::passes::{bfs, marks, walk};
use vyre_tests::random::cases;
use vyre_tests::{endless, programs};
use vyre_wgpu::{Adapters, Wgpu};

fn open() -> Wgpu {
    Wgpu::open(Adapters::Any).expect("an adapter; scripts/suite-wgpu brings one")
}

#[test]
fn a_search_finds_what_the_cpu_finds() {
    let graphs = [chain(300), random_graph(3_000, 12_000), wide(5_000, true)];
    for shared in [true, false] {
        let runtime = Runtime::on(Arc::new(open().with_shared_edges(shared)));
        for graph in &graphs {
            let mut session = bfs::Session::new(&runtime, graph).expect("it fits");
            for source in [0, 7] {
                let out = session.run(bfs::Run { source }).expect("no trap");
                assert_eq!(out.dist, distances(graph, source));
                assert_eq!(out.report.backend, "wgpu");
            }
        }
    }
}

/// The first run asks whether the graph is its own reverse, and those behind it know.
#[test]
fn searches_pull_where_graphs_are_symmetric() {
    let mut lopsided = ends(5_000, 40_000, 3);
    lopsided.extend(lopsided.clone().iter().map(|&(a, b)| (b, a)));
    lopsided.push((4_999, 0));
    let graphs = [
        (undirected(5_000, 40_000, 1), true),
        (undirected(20_000, 50_000, 2), true),
        (sorted(5_000, lopsided), false),
    ];
    for shared in [true, false] {
        let backend = open().with_shared_edges(shared).with_rounds_at_once(16);
        let backend = Arc::new(backend.with_pull_from(100));
        let runtime = Runtime::on(Arc::clone(&backend) as Arc<dyn Backend>);
        for (graph, pulls) in &graphs {
            let mut session = bfs::Session::new(&runtime, graph).expect("it fits");
            // One without edges, too.
            let lone = graph.node_count() as u32 - 2;
            for (run, source) in [3, 3, 4, 77, lone].into_iter().enumerate() {
                let before = backend.pulled();
                let out = session.run(bfs::Run { source }).expect("no trap");
                assert_eq!(out.dist, distances(graph, source));
                let pulled = backend.pulled() - before;
                let expected = *pulls && run > 0 && graph.degree(source) > 0;
                assert_eq!(pulled > 0, expected, "run {run}, {pulled} sweeps");
            }
        }
    }
}

#[test]
fn searches_pull_along_a_reverse() {
    let backend = Arc::new(open().with_pull_from(100).with_rounds_at_once(16));
    let runtime = Runtime::on(Arc::clone(&backend) as Arc<dyn Backend>);
    let graph = directed(5_000, 40_000, 5);
    let mut session = marks::Session::new(&runtime, &graph).expect("it fits");
    let mut reference = marks::Session::new(&Runtime::vir0(), &graph).expect("it fits");
    for first in 0..4 {
        let start: Vec<bool> = (0..5_000).map(|v| v % 1_009 == first).collect();
        let expected = reference
            .run(marks::Run { start: &start })
            .expect("no trap");
        let out = session.run(marks::Run { start: &start }).expect("no trap");
        assert_eq!((out.mark, out.fans), (expected.mark, expected.fans));
    }
    assert!(backend.pulled() > 0);
}

#[test]
fn it_has_a_name() {
    let runtime = Runtime::named("wgpu").expect("there is an adapter");
    assert_eq!(runtime.backend(), "wgpu");
    let known = Runtime::available();
    let wgpu = known.iter().find(|known| known.name == "wgpu");
    let wgpu = wgpu.expect("this test links it");
    assert_eq!(wgpu.device.as_ref(), Ok(&runtime.device()));
    let auto = Runtime::auto().expect("there is a CPU");
    let is_software = open().adapter().is_software;
    let without_cuda = auto.backend() != "cuda";
    assert_eq!(
        auto.backends().contains(&"wgpu"),
        !is_software && without_cuda
    );
}

/// Of a long fixpoint, the host looks at the device once in as many rounds as it submits.
#[test]
fn the_host_looks_once_in_as_many_rounds_as_are_asked_for() {
    let backend = Arc::new(open().with_rounds_at_once(16));
    let runtime = Runtime::on(Arc::clone(&backend) as Arc<dyn Backend>);
    let graph = chain(1_000);
    let mut session = bfs::Session::new(&runtime, &graph).expect("it fits");
    let before = backend.looks();
    let out = session.run(bfs::Run { source: 0 }).expect("no trap");
    assert_eq!(out.dist, distances(&graph, 0));
    let rounds = out.report.total_rounds();
    assert_eq!(rounds, 1_000);
    // The results are looked at, too. The first group is in the first submission, and behind the fixpoint nothing is swept.
    let looks = backend.looks() - before;
    assert_eq!(looks, rounds.div_ceil(16) + 1);
}

/// What a run leaves: outputs, lists sorted, reductions, rounds.
type Left = Result<(Vec<Column>, Vec<Vec<u64>>, Vec<u64>, Vec<u64>), RunError>;

/// Two runs of one session, since the second one finds what the first one left behind.
fn runs(on: &dyn Backend, program: &Arc<Program>, graph: &Csr, args: &Args<'_>) -> [Left; 2] {
    let topology = TopologyArgs {
        graphs: vec![graph],
        ..TopologyArgs::default()
    };
    let opening = Opening {
        program: Arc::clone(program),
        topology: &topology,
        allocation: Allocation::Separate,
        native: None,
    };
    let mut executor = on.open(opening).expect("the program is made for it");
    [(), ()].map(|()| {
        let outcome = executor.run(args)?;
        let lists = outcome.lists.iter().flat_map(|(_, columns)| columns);
        let lists = lists.map(|column| {
            let mut items: Vec<u64> = (0..column.len()).filter_map(|at| column.get(at)).collect();
            items.sort_unstable();
            items
        });
        let lists = lists.collect();
        let outputs = outcome.outputs.into_iter().map(|(_, column)| column);
        let reductions = outcome.reductions.into_iter().map(|(_, bits)| bits);
        Ok((
            outputs.collect(),
            lists,
            reductions.collect(),
            outcome.report.rounds,
        ))
    })
}

/// Random schedules with random fixpoints, whatever number of their rounds is submitted together.
#[test]
fn random_schedules_leave_what_the_interpreter_leaves() {
    let rounds = [(1, false), (2, true), (5, true)];
    let at_once = rounds.map(|(rounds, shared)| {
        let wgpu = open().with_shared_edges(shared);
        wgpu.with_rounds_at_once(rounds)
    });
    let (finished, trapped, nth) = (Cell::new(0), Cell::new(0), Cell::new(0));
    cases(24, |u| {
        let mut program = programs::program(u)?;
        // Shaders do not fill memory between rounds.
        program.buffers.iter_mut().for_each(|b| b.reset = None);
        program.frontiers.iter_mut().for_each(|f| f.reset = None);
        program.lists.iter_mut().for_each(|l| l.reset = None);
        let graph = programs::graph(u)?;
        nth.set(nth.get() + 1);
        if nth.get() % 3 == 0 {
            programs::until_settled(&mut program);
        }
        // What is not ordered within a group is seen by whoever comes later.
        if verify(&program).is_err() || !check::program(&program).is_empty() {
            return Ok(());
        }
        let program = Arc::new(program);
        let none = Args::default();
        let expected = runs(&Vir0, &program, &graph, &none);
        for wgpu in &at_once {
            let found = runs(wgpu, &program, &graph, &none);
            assert_eq!(found, expected, "{}", disasm::program(&program));
        }
        let ended = if expected[0].is_ok() {
            &finished
        } else {
            &trapped
        };
        ended.set(ended.get() + 1);
        Ok(())
    });
    println!("{finished:?} finished, {trapped:?} trapped");
    assert!(finished.get() > 0 && trapped.get() > 0);
}

/// Rounds in one workgroup know what a list held when they began.
#[test]
fn narrow_rounds_end_once_a_list_has_settled() {
    let mut program = Program::clone(&walk::PLAN.program());
    programs::until_settled(&mut program);
    let (program, graph) = (Arc::new(program), chain(200));
    let backends = [open(), open().with_rounds_at_once(3)];
    for most in [0, 1, 40] {
        let args = Args {
            scalars: vec![most],
            ..Args::default()
        };
        let expected = runs(&Vir0, &program, &graph, &args);
        let rounds = expected[0].as_ref().expect("no trap").3.clone();
        assert_eq!(rounds, [most + 1], "the last round notes nothing");
        for wgpu in &backends {
            assert_eq!(runs(wgpu, &program, &graph, &args), expected);
        }
    }
}

/// Buffers trade places, and a reduction begins anew.
#[wave_graph]
pub mod trades {
    pub struct Data {
        #[output(per = n)]
        old: u32,
        #[output(per = n)]
        new: u32,
        #[reduce(sum)]
        sum: u64,
        n: u32,
        rounds: u32,
    }

    #[wave(range(n))]
    fn begin(i: Index, old: &mut u32) {
        *old = i;
    }

    #[fixpoint(after(begin), until(round + 1 >= rounds), swap(old, new), max_rounds = 1_000)]
    mod steps {
        #[wave(range(n))]
        fn step(
            i: Index,
            n: u32,
            round: Round,
            old: &Buf<u32>,
            new: &mut u32,
            sum: &Reduce<Sum<u64>>,
        ) {
            *new = old[(i + 1) % n] + round;
            sum.add(*new as u64);
        }
    }
}

#[test]
fn buffers_trade_places_in_a_submission() {
    for at_once in [1, 2, 3, 8] {
        let wgpu = Runtime::on(Arc::new(open().with_rounds_at_once(at_once)));
        let mut on_wgpu = trades::Session::new(&wgpu, ()).expect("it fits");
        let mut on_cpu = trades::Session::new(&Runtime::vir0(), ()).expect("it fits");
        for rounds in 1..8 {
            let run = trades::Run { n: 100, rounds };
            let (found, expected) = (
                on_wgpu.run(run).expect("no trap"),
                on_cpu.run(run).expect("no trap"),
            );
            assert_eq!((found.old, found.new), (expected.old, expected.new));
            assert_eq!(found.report.rounds, expected.report.rounds);
        }
    }
}

/// Three buffers whose places go round.
#[wave_graph]
pub mod goes_round {
    pub struct Data {
        #[output(per = 5)]
        a: u32,
        #[output(per = 5)]
        b: u32,
        #[output(per = 5)]
        c: u32,
        #[reduce(max)]
        last: u32,
    }

    #[wave(range(5))]
    fn begin(i: Index, a: &mut u32, b: &mut u32, c: &mut u32) {
        *a = i;
        *b = 100 + i;
        *c = 200 + i;
    }

    #[fixpoint(after(begin), until(last == 4), swap(a, b), max_rounds = 10)]
    mod steps {
        #[wave(range(5))]
        fn step(i: Index, round: Round, a: &Buf<u32>, b: &mut u32, last: &Reduce<Max<u32>>) {
            *b = a[i] + 1;
            last.max(round);
        }
    }
}

/// Swaps of one round may share a buffer in bytecode, so that two rounds do not bring it back.
#[test]
fn places_that_go_round_are_followed() {
    let mut program = goes_round::PLAN.program();
    let (first, second) = program.fixpoints[0].swaps[0];
    let third = (0..3).map(BufferId).find(|&b| b != first && b != second);
    let third = third.expect("there are three");
    program.fixpoints[0].swaps.push((second, third));
    verify(&program).expect("bytecode may say so");
    let (program, graph) = (Arc::new(program), chain(1));
    let expected = runs(&Vir0, &program, &graph, &Args::default());
    for at_once in [1, 2, 3, 8] {
        let wgpu = open().with_rounds_at_once(at_once);
        assert_eq!(
            runs(&wgpu, &program, &graph, &Args::default()),
            expected,
            "{at_once}"
        );
    }
}

#[test]
fn a_lost_device_is_an_error_and_the_runtime_works_on() {
    let backend = Arc::new(open());
    let runtime = Runtime::on(Arc::clone(&backend) as Arc<dyn Backend>);
    let graph = chain(5);
    let mut session = bfs::Session::new(&runtime, &graph).expect("it fits");
    session.run(bfs::Run { source: 0 }).expect("no trap");
    backend.lose();
    let lost = session.run(bfs::Run { source: 0 }).map(drop);
    let lost = lost.expect_err("there is no device").to_string();
    assert!(lost.contains("was lost"), "{lost}");
    let mut session = bfs::Session::new(&runtime, &graph).expect("it is opened again");
    let out = session.run(bfs::Run { source: 0 }).expect("no trap");
    assert_eq!(out.dist, [0, 1, 2, 3, 4]);
}

#[test]
fn a_loop_that_does_not_end_is_ended() {
    let runtime = Runtime::on(Arc::new(open().with_turns(10_000)));
    let mut session = endless::spin::Session::new(&runtime, ()).expect("it fits");
    let stopped = session
        .run(endless::spin::Run {
            items: 10,
            turns: 1,
        })
        .map(drop);
    let stopped = stopped.expect_err("it does not end");
    assert!(
        matches!(stopped, Error::Work { limit: 10_000, .. }),
        "{stopped}"
    );
    let out = session
        .run(endless::spin::Run { items: 3, turns: 0 })
        .expect("it ends");
    assert_eq!(out.out, [1, 2, 3]);
}

/// Whatever the adapter does with long loops, no half of a result is given back.
#[test]
fn a_long_loop_is_run_or_is_an_error() {
    let runtime = Runtime::on(Arc::new(open()));
    let mut session = endless::spin::Session::new(&runtime, ()).expect("it fits");
    let stopped = session.run(endless::spin::Run { items: 1, turns: 1 });
    let stopped = stopped.map(drop).expect_err("it does not end");
    assert!(matches!(stopped, Error::Work { .. }), "{stopped}");
}

/// A hub is swept whole, or refused.
#[test]
fn a_hub_is_swept_whole_or_refused() {
    let edges: Vec<(u32, u32)> = (1..=70_000).map(|v| (0, v)).collect();
    let graph = Csr::from_edges(70_001, &edges).expect("edges name nodes");
    let runtime = Runtime::on(Arc::new(open()));
    let found = bfs::Session::new(&runtime, &graph)
        .and_then(|mut session| session.run(bfs::Run { source: 0 }));
    match found {
        Ok(out) => assert_eq!(out.dist, distances(&graph, 0)),
        Err(e) => assert!(e.to_string().contains("has 70000 edges"), "{e}"),
    }
}

/// A division of 64 bits for each edge of a hub.
#[wave_graph(deterministic)]
pub mod shares {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[frontier]
        front: Frontier,
        #[output(per = node)]
        mark: u64,
        by: u64,
    }

    #[wave(once)]
    fn seed(front: &Push) {
        front.push(0);
    }

    #[fixpoint(after(seed), until(front.is_empty()), max_rounds = 10)]
    mod rounds {
        #[wave(edges(graph, from = front))]
        fn go(e: Edge, by: u64, mark: &Buf<Atomic<u64>>) {
            mark[e.dst].fetch_add(700 / by);
        }
    }
}

#[test]
fn divisions_are_no_turns() {
    let edges: Vec<(u32, u32)> = (1..=5_000).map(|v| (0, v)).collect();
    let graph = Csr::from_edges(5_001, &edges).expect("edges name nodes");
    let runtime = Runtime::on(Arc::new(open()));
    let mut session = shares::Session::new(&runtime, &graph).expect("it fits");
    let out = session.run(shares::Run { by: 7 }).expect("no trap");
    assert_eq!(out.mark[0], 0);
    assert!(out.mark[1..].iter().all(|&mark| mark == 100));
}

/// Items that lie beside each other have their long loops at different times.
#[kernel]
fn apart(i: Index, turns: u32, out: &mut u32) {
    let mut s = i;
    for k in 0..8 {
        let most = if i % 8 == k { turns } else { 0 };
        for j in 0..most {
            s = s.wrapping_mul(31).wrapping_add(j ^ i);
        }
    }
    *out = s;
}

/// A driver that ends loops by itself gives no half of a result.
#[test]
fn loops_come_to_their_end_or_are_an_error() {
    let runtime = Runtime::on(Arc::new(open()));
    for turns in [1_000, 20_000] {
        let (mut expected, mut out) = (vec![0; 64], vec![0; 64]);
        apart::run(&Runtime::vir0(), turns, &mut expected).expect("no trap");
        match apart::run(&runtime, turns, &mut out) {
            Ok(_) => assert_eq!(out, expected),
            Err(e) => {
                let e = e.to_string();
                assert!(
                    turns > 1_000 && e.contains("ended a loop before its end"),
                    "{e}"
                );
            }
        }
    }
}

/// Many items fall to each invocation.
#[wave_graph]
pub mod many {
    pub struct Data {
        #[reduce(count)]
        met: u64,
        #[reduce(max)]
        last: u32,
        items: u32,
    }

    #[wave(range(items))]
    fn meet(i: Index, met: &Reduce<Count>, last: &Reduce<Max<u32>>) {
        met.inc();
        last.max(i);
    }
}

#[test]
fn an_invocation_has_as_many_items_as_it_takes() {
    let runtime = Runtime::on(Arc::new(open()));
    let mut session = many::Session::new(&runtime, ()).expect("it fits");
    let items = 300_000_000;
    let out = session.run(many::Run { items }).expect("no trap");
    assert_eq!((out.met, out.last), (items.into(), items - 1));
}

/// Rounds that do not end are ended between submissions.
#[test]
fn rounds_are_cancelled_and_have_a_time_limit() {
    let runtime = Runtime::on(Arc::new(open()));
    let mut session = endless::rounds::Session::new(&runtime, ()).expect("it fits");
    let forever = endless::rounds::Run { wanted: u32::MAX };
    session.set_time_limit(Some(std::time::Duration::from_millis(20)));
    let stopped = session.run(forever).map(drop);
    assert!(
        matches!(stopped, Err(Error::Deadline { .. })),
        "{stopped:?}"
    );
    session.set_time_limit(None);
    let canceller = session.canceller();
    for nth in 1..20 {
        let cancels = canceller.clone();
        canceller.at_look(nth, move || cancels.cancel());
        let stopped = session.run(forever).map(drop);
        assert!(matches!(stopped, Err(Error::Cancelled)), "{stopped:?}");
        canceller.rearm();
    }
    let out = session
        .run(endless::rounds::Run { wanted: 30 })
        .expect("it ends");
    assert_eq!(out.report.total_rounds(), 30);
}

#[kernel]
fn add_one(x: &mut u32) {
    *x += 1;
}

/// A dimension has at most 65,535 workgroups of 64.
#[test]
fn there_may_be_more_items_than_a_dispatch_has_invocations() {
    let runtime = Runtime::on(Arc::new(open()));
    let mut values: Vec<u32> = (0..65_535 * 64 + 1_000).collect();
    add_one::run(&runtime, &mut values).expect("no trap");
    assert!(values.into_iter().eq(1..=65_535 * 64 + 1_000));
}

#[test]
fn a_buffer_beyond_the_limits_is_refused_with_both_numbers() {
    let backend = open();
    let most = backend.most_buffer_bytes();
    let runtime = Runtime::on(Arc::new(backend));
    let mut session = endless::spin::Session::new(&runtime, ()).expect("it fits");
    let items = u32::try_from(most / 4 + 1).unwrap_or(u32::MAX);
    let refused = session
        .run(endless::spin::Run { items, turns: 0 })
        .map(drop);
    let refused = refused.expect_err("it is too large");
    let Error::Run(RunError::Memory {
        needed_bytes,
        available_bytes,
        ..
    }) = &refused
    else {
        panic!("{refused}");
    };
    assert_eq!(*available_bytes, most);
    assert!(*needed_bytes > most, "{refused}");
    let out = session
        .run(endless::spin::Run { items: 2, turns: 0 })
        .expect("it fits");
    assert_eq!(out.out, [1, 2]);
}
