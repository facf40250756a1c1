//! On a device: scratch and frontiers that never live at once share memory, what a budget counts is what is allocated,
//! and no buffer shows what was there before.

#![allow(
    missing_docs,
    reason = "the passes are public only to be like a user's"
)]

use std::sync::Arc;
use vyre::RoutePolicy;
use vyre::cuda::Cuda;
use vyre::cuda::fake::{Fake, Spec, Transcript};
use vyre::prelude::*;
use vyre_core::cpu::vir0::Vir0Executor;
use vyre_core::dsl::columns::Column;
use vyre_core::dsl::error::RunError;
use vyre_core::plan::check;
use vyre_core::plan::footprint::Allocation;
use vyre_core::run::args::{Args, TopologyArgs};
use vyre_core::run::backend::{Backend, Executor, Opening};
use vyre_core::run::outcome::Outcome;
use vyre_core::vir0::module::{BufferId, ReductionId, Step};
use vyre_core::vir0::verify::verify;
use vyre_tests::backend_tests;
use vyre_tests::graphs::{distances, edgeless, random_graph};
use vyre_tests::passes::{bfs, tight};
use vyre_tests::programs;
use vyre_tests::random::cases;

/// What a run leaves in whatever order: results, rounds; or that it was refused.
type Left = Option<(
    Vec<(BufferId, Column)>,
    Vec<Vec<u32>>,
    Vec<(ReductionId, u64)>,
    Vec<u64>,
)>;

fn left(outcome: Result<Outcome, RunError>) -> Left {
    let outcome = match outcome {
        Ok(outcome) => outcome,
        Err(RunError::Trap(_)) => return None,
        Err(e) => panic!("{e}"),
    };
    let sorted = |columns: Vec<Column>| {
        let Some(Column::U32(items)) = columns.into_iter().next() else {
            panic!("the list holds numbers");
        };
        let mut items = items;
        items.sort_unstable();
        items
    };
    let lists = outcome
        .lists
        .into_iter()
        .map(|(_, columns)| sorted(columns));
    let lists = lists.collect();
    Some((
        outcome.outputs,
        lists,
        outcome.reductions,
        outcome.report.rounds,
    ))
}

#[test]
#[ignore = "needs a CUDA device"]
fn random_passes_run_the_same_where_memory_is_shared() {
    random_passes_on(&Cuda::open(0).expect("a CUDA device"), 600);
}

#[test]
fn random_passes_run_the_same_where_a_played_device_shares_memory() {
    random_passes_on(&Fake::default().open().expect("nothing fails"), 200);
}

/// As of `vyre/tests/schedules.rs`, those programs whose result no order of waves changes.
fn random_passes_on(cuda: &Cuda, count: u64) {
    let (mut ran, mut finished) = (0, 0);
    cases(count, |u| {
        let (graph, program) = (programs::graph(u)?, programs::program(u)?);
        assert_eq!(verify(&program), Ok(()));
        if !check::program(&program).is_empty() {
            return Ok(());
        }
        ran += 1;
        let program = Arc::new(program);
        let topology = TopologyArgs {
            graphs: vec![&graph],
            columns: vec![],
            scalars: vec![],
        };
        let expected = Vir0Executor::new(Arc::clone(&program), &topology, Allocation::Separate);
        let expected = left(expected.expect("it fits").run(&Args::default()));
        finished += u32::from(expected.is_some());
        for allocation in [Allocation::Separate, Allocation::Shared] {
            let opening = Opening {
                program: Arc::clone(&program),
                topology: &topology,
                allocation,
                native: None,
            };
            let mut megakernel = cuda.open(opening).expect("it fits");
            let text = || vyre_core::vir0::disasm::program(&program);
            for _ in 0..2 {
                let got = left(megakernel.run(&Args::default()));
                assert_eq!(got, expected, "{allocation:?}: {}", text());
            }
            let three = [(); 3].map(|()| Args::default());
            if expected.is_some() {
                let mut results = Outcome::default();
                let done = megakernel.run_series(&three, &mut results);
                let series = left(done.map(|()| results));
                assert_eq!(series, expected, "series, {allocation:?}: {}", text());
            }
            for got in megakernel.run_batch(&three) {
                assert_eq!(left(got), expected, "batch, {allocation:?}: {}", text());
            }
        }
        Ok(())
    });
    println!("{finished} of {ran} programs finished");
    assert!(finished > ran / 10);
}

fn sums(k: u64) -> (u64, u64, u64) {
    (499_500 * k, 499_500 * k + 7_000, 499_500 * k)
}

fn a_pass_that_was_split_fits_its_budget_on_a_device(device: &Runtime) {
    let graph = edgeless(1_000);
    let allocated = || device.cuda_device().expect("it is one").allocated_bytes();
    let mut takes = Vec::new();
    // 4,004 of the graph, 24 of reductions; scratch in places of 8,192.
    for (memory, groups, held) in [
        (30_000, 2, 20_412),
        (20_412, 2, 20_412),
        (12_220, 3, 12_220),
    ] {
        let runtime = device.clone().with_memory(memory);
        let before = allocated();
        let mut session = tight::Session::new(&runtime, &graph).unwrap();
        takes.push(allocated() - before);
        let barriers = |s: &&Step| matches!(s, Step::Barrier);
        let schedule = &session.program().schedule;
        assert_eq!(schedule.iter().filter(barriers).count() + 1, groups);
        assert_eq!(check::program(session.program()), []);
        assert_eq!(runtime.memory(), Some((memory, held)));
        for k in 1..4 {
            let out = session.run(tight::Run { k }).unwrap();
            assert_eq!((out.x, out.y, out.z), sums(k), "{memory}");
        }
        let series = (1..6).map(|k| tight::Run { k });
        let out = session.run_series(series).unwrap();
        assert_eq!((out.x, out.y, out.z), sums(5), "{memory}");
        for k in 0..8 {
            session.submit(tight::Run { k }, 0);
        }
        let results = session.run_batch().unwrap().results;
        for (k, (_, result)) in (0..).zip(results) {
            let out = result.unwrap();
            assert_eq!((out.x, out.y, out.z), sums(k), "{memory}");
        }
    }
    // What is held is what there is on the device.
    assert_eq!((takes[0], takes[1] - takes[2]), (takes[1], 8_192));
    let runtime = device.clone().with_memory(12_219);
    let error = tight::Session::new(&runtime, &graph).unwrap_err();
    assert_eq!(
        error.to_string(),
        "barrier group 0 (wave `first` alone) does not fit; 12220 bytes are needed, 12219 are available"
    );
}

fn many_graphs_share_memory_in_one_launch(device: &Runtime) {
    // Each by its budget of 21 kB, which three buffers side by side are over.
    let runtime = device.clone().with_memory(1 << 20);
    let graphs: Vec<Csr> = (0..20).map(|i| edgeless(990 + i % 11)).collect();
    let mut sessions = tight::Sessions::new(&runtime, &graphs).unwrap();
    for (topology, k) in (0..graphs.len()).zip(1..) {
        sessions.submit(topology, tight::Run { k }, 0);
    }
    let batch = sessions.run_batch().unwrap();
    for ((i, graph), (_, result)) in graphs.iter().enumerate().zip(batch.results) {
        let (n, k) = (graph.node_count() as u64, i as u64 + 1);
        let sum = n * (n - 1) / 2 * k;
        let out = result.unwrap();
        assert_eq!((out.x, out.y, out.z), (sum, sum + 7 * n, sum), "{i}");
    }
}

/// Two searches one after the other, each with frontiers and scratch of its own, and a hub.
#[wave_graph]
mod twice {
    struct Data {
        #[topology]
        graph: Csr,
        #[frontier(unique)]
        first: Frontier,
        #[frontier]
        second: Frontier,
        #[scratch(per = node)]
        seen: u32,
        #[scratch(per = node, init = 9)]
        again: u32,
        #[scratch(per = node)]
        last: u64,
        source: u32,
        #[output(per = node)]
        near: u32,
        #[output(per = node)]
        far: u64,
    }

    #[wave(nodes)]
    fn start(v: Node, source: u32, seen: &mut u32, first: &Push) {
        if v == source {
            *seen = 1;
            first.push(v);
        }
    }

    #[fixpoint(after(start), until(first.is_empty()), max_rounds = 1_000)]
    mod forth {
        #[wave(edges(graph, from = first))]
        fn step(e: Edge, round: Round, seen: &Buf<Atomic<u32>>, first: &Push) {
            if seen[e.dst].compare_exchange(0, round + 2) {
                first.push(e.dst);
            }
        }
    }

    #[wave(nodes, after(forth))]
    fn between(v: Node, seen: &u32, near: &mut u32) {
        *near = *seen + v % 2;
    }

    #[wave(nodes, after(between))]
    fn restart(v: Node, near: &u32, again: &mut u32, second: &Push) {
        if *near == 1 || *near == 2 {
            *again = 1;
            second.push(v);
        }
    }

    #[fixpoint(after(restart), until(second.is_empty()), max_rounds = 1_000)]
    mod back {
        #[wave(edges(graph, from = second))]
        fn step(e: Edge, again: &Buf<Atomic<u32>>, second: &Push) {
            if again[e.dst].compare_exchange(9, 5) {
                second.push(e.dst);
            }
        }
    }

    #[wave(nodes, after(back))]
    fn weigh(v: Node, again: &u32, last: &mut u64) {
        *last += *again as u64 * v as u64;
    }

    #[wave(nodes, after(weigh))]
    fn finish(last: &u64, far: &mut u64) {
        *far = *last + 1;
    }
}

/// A chain, a node with edges to every third, and random edges.
fn tangle(nodes: u32) -> Csr {
    let chain = (1..nodes).map(|v| (v - 1, v));
    let star = (0..nodes).step_by(3).map(|v| (nodes / 2, v));
    let random = (0..2 * nodes).map(|i| {
        let x = i.wrapping_mul(0x9e37_79b9);
        (x % nodes, (x >> 7).wrapping_mul(0x85eb_ca6b) % nodes)
    });
    let edges: Vec<(u32, u32)> = chain.chain(star).chain(random).collect();
    Csr::from_edges(nodes as usize, &edges).expect("edges name nodes")
}

#[test]
#[ignore = "needs a CUDA device"]
fn large_frontiers_and_scratch_in_turn_give_what_they_give_apart() {
    let device = vyre_tests::cuda();
    apart_and_in_turn(&device, 200_000);
}

fn frontiers_and_scratch_in_turn_give_what_they_give_apart(device: &Runtime) {
    for nodes in [50, 3_000] {
        apart_and_in_turn(device, nodes);
    }
}

fn apart_and_in_turn(device: &Runtime, nodes: u32) {
    let graph = tangle(nodes);
    let mut expected = twice::Session::new(&Runtime::vir0(), &graph).unwrap();
    // So much that only sharing helps: what one session takes, less half of the least of what could be shared.
    let roomy = device.clone().with_memory(1 << 32);
    let apart = twice::Session::new(&roomy, &graph).unwrap();
    let needs = roomy.memory().unwrap().1;
    drop(apart);
    let short = device.clone().with_memory(needs - 2 * u64::from(nodes));
    let mut shared = twice::Session::new(&short, &graph).unwrap();
    let held = short.memory().unwrap().1;
    assert!(held < needs - 4 * u64::from(nodes), "{held} of {needs}");
    for source in [0, nodes / 2, nodes - 1, 0] {
        let wanted = expected.run(twice::Run { source }).unwrap();
        let got = shared.run(twice::Run { source }).unwrap();
        assert_eq!(got.near, wanted.near, "{nodes} from {source}");
        assert_eq!(got.far, wanted.far, "{nodes} from {source}");
    }
    for source in 0..6 {
        shared.submit(twice::Run { source }, 0);
    }
    for (source, (_, got)) in (0..).zip(shared.run_batch().unwrap().results) {
        let wanted = expected.run(twice::Run { source }).unwrap();
        let got = got.unwrap();
        assert_eq!(got.near, wanted.near, "{nodes} from {source} in a batch");
        assert_eq!(got.far, wanted.far, "{nodes} from {source} in a batch");
    }
}

/// What a session takes on the device beside what a budget counts: its tables and code, which fit the shared memory of
/// a CTA; control words; and what each of its allocations is rounded up by.
const BESIDE: u64 = (228 << 10) + (16 << 10) + 64 * 256;

#[test]
#[ignore = "needs a CUDA device"]
fn a_budget_counts_what_is_allocated_for_large_graphs() {
    // A budget counts code as well, which the driver allocates.
    let device = vyre_tests::cuda().with_route(RoutePolicy::Interpreter);
    counted_and_allocated(&device, (400_000, 5_000_000));
}

fn a_budget_counts_what_is_allocated(device: &Runtime) {
    counted_and_allocated(device, (20_000, 50_000));
}

fn counted_and_allocated(device: &Runtime, (nodes, n): (u32, u32)) {
    let graph = tangle(nodes);
    let small = edgeless(1_000);
    let check = |name: &str, memory: u64, open: &dyn Fn(&Runtime) -> Box<dyn std::any::Any>| {
        let runtime = device.clone().with_memory(memory);
        let device = runtime.cuda_device().expect("it is one");
        let before = device.allocated_bytes();
        let session = open(&runtime);
        let (_, counted) = runtime.memory().expect("it has a budget");
        let allocated = device.allocated_bytes() - before;
        println!("{name}: {counted} bytes are counted, {allocated} allocated");
        assert!(
            allocated <= counted + BESIDE,
            "{name}: {allocated} of {counted}"
        );
        // How a loop over neighbours is shared out is counted as for any graph of these sizes: less than half a byte a
        // node more than for this one.
        assert!(
            counted <= allocated + 64 * 256 + u64::from(nodes) / 2,
            "{name}: {allocated} of {counted}"
        );
        drop(session);
        assert_eq!(device.allocated_bytes(), before, "{name}");
        counted
    };
    let run_twice = |runtime: &Runtime| -> Box<dyn std::any::Any> {
        let mut session = twice::Session::new(runtime, &graph).unwrap();
        session.run(twice::Run { source: 0 }).unwrap();
        Box::new(session)
    };
    let apart = check("twice", 1 << 33, &run_twice);
    let shared = check("twice, shared", apart - u64::from(nodes), &run_twice);
    let less = u64::from(nodes) * 5 / 2;
    assert!(shared < apart - less, "{shared} of {apart}");
    check("tight", 21_000, &|runtime| {
        let mut session = tight::Session::new(runtime, &small).unwrap();
        session.run(tight::Run { k: 1 }).unwrap();
        Box::new(session)
    });
    check("sums", 1 << 33, &|runtime| {
        let mut session = sum::Session::new(runtime, &graph).unwrap();
        session.run(sum::Run { n }).unwrap();
        Box::new(session)
    });
}

/// Runs a batch of searches on a device with so much memory, or a budget of it: the bytes that are held before and after
/// it, and how many launches it took.
fn batch_on(memory_bytes: u64, budget: Option<u64>) -> (u64, u64, usize) {
    let graph = random_graph(300, 900);
    let fake = Fake::new(Spec {
        memory_bytes,
        ..Spec::default()
    });
    let (cuda, transcript) = Transcript::of_fake(&fake).expect("nothing fails");
    let mut runtime = vyre_tests::on(cuda).with_route(RoutePolicy::Interpreter);
    if let Some(budget) = budget {
        runtime = runtime.with_memory(budget);
    }
    let mut session = bfs::Session::new(&runtime, &graph).expect("it fits");
    let before = fake.held().bytes;
    for source in 0..200 {
        session.submit(bfs::Run { source }, 0);
    }
    let batch = session.run_batch().expect("it begins");
    for (source, (_, result)) in (0..).zip(batch.results) {
        assert_eq!(
            result.expect("there is room for one").dist,
            distances(&graph, source)
        );
    }
    let launches = transcript.text().matches(": launch (").count();
    (before, fake.held().bytes, launches)
}

/// The less memory, the more launches, up to one for each query; none of them fails.
#[test]
fn a_batch_takes_as_many_launches_as_memory_asks_for() {
    let (before, after, least) = batch_on(4 << 30, None);
    let more = after - before;
    assert!(more > 200 * 4 * 300, "{more} bytes for 200 results");
    let launches = [8, 4, 2, 1, 0].map(|k| batch_on(before + more * k / 8, None).2);
    println!("{least} launches, or {launches:?}");
    assert_eq!(launches[0], least);
    assert!(launches.is_sorted(), "{launches:?}");
    assert_eq!(launches[4], 200);
    // The same by a budget, of which nothing is taken that it does not have.
    let budgets = [more, more / 4, more / 16].map(|more| before + more);
    let of_budgets = budgets.map(|budget| {
        let (_, held, launches) = batch_on(4 << 30, Some(budget));
        println!("{budget}: {held} bytes held, {launches} launches");
        assert!(held <= budget + BESIDE, "{held} of {budget}");
        launches
    });
    assert!(of_budgets.is_sorted(), "{of_budgets:?}");
    assert!(of_budgets[2] > of_budgets[0], "{of_budgets:?}");
}

/// A lifted neighbour loop, a list, and buffers whose length is a scalar.
#[wave_graph]
mod sum {
    struct Data {
        #[topology]
        graph: Csr,
        n: u32,
        #[scratch(per = n)]
        squares: u64,
        #[output(per = node)]
        total: u32,
        #[list(capacity = 3_000_000)]
        log: List<u32>,
        #[reduce(sum)]
        all: u64,
    }

    #[wave(nodes)]
    fn gather(v: Node, graph: &Csr, total: &mut u32, log: &Append<u32>) {
        let mut sum = 0;
        for u in graph.neighbors(v) {
            sum += u ^ 5;
        }
        *total = sum;
        if v & 3 == 0 {
            log.append(v);
        }
    }

    #[wave(range(n))]
    fn square(i: Index, squares: &mut u64, all: &Reduce<Sum<u64>>) {
        *squares += i as u64 * i as u64;
        all.add(*squares);
    }
}

fn memory_in_turn_gives_on_a_cpu_what_it_gives_apart(runtime: &Runtime) {
    for nodes in [50, 3_000] {
        let graph = tangle(nodes);
        let roomy = runtime.clone().with_memory(1 << 32);
        let mut apart = twice::Session::new(&roomy, &graph).unwrap();
        let needs = roomy.memory().unwrap().1;
        let short = runtime.clone().with_memory(needs - 2 * u64::from(nodes));
        let mut shared = twice::Session::new(&short, &graph).unwrap();
        for source in [0, nodes / 2, nodes - 1, 0] {
            let wanted = apart.run(twice::Run { source }).unwrap();
            let got = shared.run(twice::Run { source }).unwrap();
            assert_eq!((got.near, got.far), (wanted.near, wanted.far), "{nodes}");
        }
        assert!(shared.peak_bytes() < apart.peak_bytes(), "{nodes}");
        let mut session = sum::Session::new(runtime, &graph).unwrap();
        let out = session.run(sum::Run { n: 1_000 }).unwrap();
        assert_eq!(out.all, (0..1_000u64).map(|i| i * i).sum::<u64>());
    }
}

/// Two temporaries that never live at once, and a result as long as a run says.
#[wave_graph]
mod long {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[scratch(per = node)]
        first: u64,
        #[scratch(per = node)]
        second: u64,
        #[output(per = node)]
        x: u64,
        #[output(per = n)]
        y: u32,
        n: u32,
    }

    #[wave(nodes)]
    fn begin(v: Node, first: &mut u64) {
        *first = u64::from(v);
    }

    #[wave(nodes, after(begin))]
    fn take(first: &u64, x: &mut u64) {
        *x = *first;
    }

    #[wave(nodes, after(take))]
    fn again(v: Node, second: &mut u64) {
        *second = 2 * u64::from(v);
    }

    #[wave(nodes, after(again))]
    fn add(second: &u64, x: &mut u64) {
        *x += *second;
    }

    #[wave(range(n))]
    fn count(i: Index, y: &mut u32) {
        *y = i;
    }
}

/// A session that has room to spare lays its buffers out beside each other. A run that is too long for that says with
/// which budget it is not.
fn a_run_that_is_too_long_for_a_roomy_layout_says_so(runtime: &Runtime) {
    let graph = edgeless(5_000);
    let roomy = runtime.clone().with_memory(1 << 30);
    let mut session = long::Session::new(&roomy, &graph).unwrap();
    let apart = roomy.memory().unwrap().1;
    let right = session.run(long::Run { n: 2_000 }).unwrap();

    let tight = runtime.clone().with_memory(apart + 100);
    let mut session = long::Session::new(&tight, &graph).unwrap();
    let refused = session.run(long::Run { n: 2_000 }).unwrap_err().to_string();
    let (_, said) = refused.split_once("with a budget of ").expect(&refused);
    let (budget, _) = said.split_once(' ').expect(&refused);
    let budget: u64 = budget.parse().expect(&refused);
    assert!(budget < apart, "{refused}");
    drop(session);
    let shared = runtime.clone().with_memory(budget);
    let mut session = long::Session::new(&shared, &graph).unwrap();
    let out = session.run(long::Run { n: 2_000 }).unwrap();
    assert_eq!((out.x, out.y), (right.x, right.y));
}

backend_tests!(
    cpus: memory_in_turn_gives_on_a_cpu_what_it_gives_apart, a_run_that_is_too_long_for_a_roomy_layout_says_so;
    devices: a_pass_that_was_split_fits_its_budget_on_a_device, many_graphs_share_memory_in_one_launch,
        frontiers_and_scratch_in_turn_give_what_they_give_apart, a_budget_counts_what_is_allocated,
);
