//! What a session and the results of its runs hold: every byte that is allocated is counted, and held against the
//! budget. Where the system has no memory left, a run ends in an error, and the session works on.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use vyre::cuda::Cuda;
use vyre::cuda::fake::{Fake, Transcript};
use vyre::prelude::*;
use vyre::{Error, Pinned, RoutePolicy};
use vyre_core::dsl::error::RunError;
use vyre_tests::backend_tests;
use vyre_tests::graphs::{chains, edgeless, wide};
use vyre_tests::heap::{self, alone, peak_of, starved_from};
use vyre_tests::held::{BESIDE, BESIDE_ON_DEVICE, MostAtOnce, held_by};
use vyre_tests::passes::{bfs, flat, in_parts, rowed, sssp};

#[global_allocator]
static HEAP: heap::Heap = heap::Heap;

/// Threads and tables of the process are there before anything is measured.
fn warm(runtime: &Runtime) -> Runtime {
    let graph = edgeless(20_000);
    let mut session = listed::Session::new(runtime, &graph).expect("it fits");
    session.run(listed::Run {}).expect("no trap");
    runtime.clone()
}

/// One item for each node.
#[wave_graph]
mod listed {
    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        #[list(capacity = 300_000, output)]
        all: List<u64>,
    }

    #[wave(nodes)]
    fn add(v: Node, all: &Append<u64>) {
        all.append(u64::from(v));
    }
}

/// Items of several fields, from two waves, the second of which sweeps what it appends to; the list is full in the end.
#[wave_graph]
mod grown {
    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        #[list(capacity = 240_000, output)]
        all: List<(u8, u64)>,
    }

    #[wave(nodes)]
    fn first(v: Node, all: &Append<(u8, u64)>) {
        for i in 0..6_u64 {
            all.append((1, 6 * u64::from(v) + i));
        }
    }

    #[wave(items(all), after(first))]
    fn again(item: (u8, u64), all: &Append<(u8, u64)>) {
        all.append((2, item.1));
    }
}

/// A frontier, and an output of the run.
#[wave_graph]
mod pushed {
    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        #[frontier(capacity = node)]
        front: Frontier,
        #[output(per = node)]
        twice: u64,
    }

    #[wave(nodes)]
    fn fill(v: Node, front: &Push) {
        front.push(v);
    }

    #[wave(items(front), after(fill))]
    fn double(v: Node, twice: &Buf<Atomic<u64>>) {
        twice[v].store(2 * u64::from(v));
    }
}

/// A search whose frontier has repeats: a round's has room for as many items as there are edges.
#[wave_graph]
mod repeated {
    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        #[frontier(capacity = edge(graph))]
        front: Frontier,
        #[output(per = node)]
        dist: u32,
    }

    #[wave(nodes)]
    fn init(v: Node, dist: &mut u32, front: &Push) {
        *dist = u32::MAX;
        if v == 0 {
            *dist = 0;
            front.push(v);
        }
    }

    #[fixpoint(after(init), until(front.is_empty()), max_rounds = 1_000_000)]
    mod rounds {
        #[wave(edges(graph, from = front))]
        fn relax(e: Edge, round: Round, dist: &Buf<Atomic<u32>>, front: &Push) {
            if dist[e.dst].fetch_min(round + 1) > round {
                front.push(e.dst);
            }
        }
    }
}

/// A frontier of pairs, one for each edge.
#[wave_graph]
mod paired {
    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        #[frontier(capacity = edge(graph))]
        pairs: Frontier<(u32, u64)>,
        #[reduce(sum)]
        met: u64,
        #[output(per = node)]
        from: u32,
    }

    #[wave(edges(graph))]
    fn each(e: Edge, pairs: &Push<(u32, u64)>) {
        pairs.push((e.dst, u64::from(e.src)));
    }

    #[wave(items(pairs), after(each))]
    fn meet(pair: (u32, u64), from: &Buf<Atomic<u32>>, met: &Reduce<Sum<u64>>) {
        from[pair.0].fetch_max(pair.1 as u32);
        met.add(1);
    }
}

fn rows_of_bits_are_held_once(runtime: &Runtime) {
    let _alone = alone();
    let nodes = 40_000;
    let graph = edgeless(nodes);
    // Of the first 21 bits of a row, every third, and then the others.
    let kinds: Vec<u32> = (0..8 * nodes).map(|_| 0x0924_9249).collect();
    let others: Vec<u32> = kinds.iter().map(|word| !word).collect();
    let runtime = warm(runtime);
    let (backend, runtime) = (runtime.backend(), runtime.with_memory(1 << 30));
    let topology = |kinds| rowed::Topology {
        graph: &graph,
        kinds,
    };
    let ((mut session, granted), held) = held_by(|| {
        let mut session = rowed::Session::new(&runtime, topology(&kinds)).expect("it fits");
        // Sessions that run beside each other look at the same rows.
        session.submit(rowed::Run {}, 0);
        let (_, of_one) = runtime.memory().expect("there is a budget");
        session.submit(rowed::Run {}, 0);
        let (_, of_two) = runtime.memory().expect("there is a budget");
        for (_, result) in session.run_batch().expect("it runs").results {
            assert_eq!(result.expect("no trap").ones[17], 7, "{backend}");
        }
        let (_, granted) = runtime.memory().expect("there is a budget");
        (session, (granted + of_two - of_one) as usize)
    });
    // The result of the first query is the caller's.
    let granted = granted + 4 * nodes;
    assert!(held <= granted + BESIDE, "{backend}: {held} of {granted}");
    let (out, took) = peak_of(|| session.run(rowed::Run {}).expect("no trap"));
    // The result, and no rows.
    assert!(took < 4 * nodes + BESIDE, "{backend}: a run takes {took}");
    assert_eq!(out.ones[nodes - 1], 7, "{backend}");
    session.update(topology(&others)).expect("it fits");
    let out = session.run(rowed::Run {}).expect("no trap");
    assert_eq!(out.ones[nodes - 1], 14, "{backend}");
    session.update(topology(&others)).expect("it fits");
    let counted = session.counters().expect("they count");
    assert_eq!(counted.graph_uploads, 2, "{backend}");
}

/// Inputs and a result as large as each other.
#[wave_graph]
mod given {
    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        #[input(per = node)]
        from: u64,
        #[output(per = node)]
        to: u64,
    }

    #[wave(nodes)]
    fn copy(from: &u64, to: &mut u64) {
        *to = *from + 1;
    }
}

fn inputs_of_waiting_queries_are_counted(runtime: &Runtime) {
    let _alone = alone();
    let nodes = 50_000;
    let (graph, from) = (edgeless(nodes), vec![6; nodes]);
    let one = 8 * nodes as u64;
    let runtime = warm(runtime);
    let backend = runtime.backend();
    let probe = runtime.clone().with_memory(1 << 30);
    let mut session = given::Session::new(&probe, &graph).expect("it fits");
    let (_, takes) = probe.memory().expect("there is a budget");
    session.submit(given::Run { from: &from }, 0);
    session.submit(given::Run { from: &from }, 0);
    let (_, waiting) = probe.memory().expect("there is a budget");
    drop(session);
    // What is told of all queries but one counts as well.
    let told = waiting - takes - 2 * one;
    assert!((500..5_000).contains(&told), "{backend}: {told}");
    // Two queries wait, and nothing is left for the third, nor for a second result: the first state has room for
    // one.
    let budget = takes + 2 * one + told;
    let tight = runtime.with_memory(budget);
    let (_, held) = held_by(|| {
        let mut session = given::Session::new(&tight, &graph).expect("it fits");
        for _ in 0..3 {
            session.submit(given::Run { from: &from }, 0);
        }
        assert_eq!(tight.memory(), Some((budget, budget)), "{backend}");
        session.set_batch_limit(std::num::NonZeroUsize::new(1));
        let batch = session.run_batch().expect("it runs");
        assert_eq!(batch.results[0].1.as_ref().expect("fits").to[9], 7);
        drop(batch);
        assert_eq!(tight.memory(), Some((budget, budget - one)), "{backend}");
        session.run_batch().expect("it runs");
        let batch = session.run_batch().expect("it runs");
        let refused = batch.results[0].1.as_ref().map(|_| ());
        let says = format!(
            "the query does not fit beside the sessions; {} bytes are needed, 0 are available",
            one + told
        );
        assert_eq!(refused.expect_err("there was no room").to_string(), says);
        // Nothing waits any more.
        assert_eq!(tight.memory(), Some((budget, takes)), "{backend}");
    });
    let most = budget as usize + BESIDE;
    assert!(held <= most, "{backend}: {held} of {budget}");
}

fn results_of_sessions_count_until_their_batch_ends(runtime: &Runtime) {
    let _alone = alone();
    let graphs = [edgeless(100_000), edgeless(100_000)];
    // A result has 800,000 bytes; a list that is full would have 2,400,000.
    let runtime = warm(runtime);
    let backend = runtime.backend();
    let probe = runtime.clone().with_memory(1 << 30);
    let sessions = listed::Sessions::new(&probe, &graphs).expect("they fit");
    let (_, takes) = probe.memory().expect("there is a budget");
    drop(sessions);
    let budget = takes + 1_500_000;
    let tight = runtime.with_memory(budget);
    let (fit, held) = held_by(|| {
        let mut sessions = listed::Sessions::new(&tight, &graphs).expect("they fit");
        for k in [0, 0, 0, 0, 1] {
            sessions.submit(k, listed::Run {}, 0);
        }
        let batch = sessions.run_batch().expect("it runs");
        let fit: Vec<bool> = batch.results.iter().map(|(_, r)| r.is_ok()).collect();
        let refused = batch.results[3].1.as_ref().map(|_| ());
        let refused = refused.expect_err("there is no room").to_string();
        let says = "the results of the batch do not fit: `set_batch_limit` takes fewer queries at a time; ";
        assert!(refused.starts_with(says), "{refused}");
        assert_eq!(tight.memory(), Some((budget, takes)), "{backend}");
        drop(batch);
        sessions.submit(1, listed::Run {}, 0);
        let batch = sessions.run_batch().expect("it runs");
        assert_eq!(batch.results[0].1.as_ref().expect("fits").all[7], 7);
        fit
    });
    // Of the first topology one, and those that the rest of the budget has room for.
    assert_eq!(fit, [true, true, false, false, true], "{backend}");
    let most = budget as usize + BESIDE;
    assert!(held <= most, "{backend}: {held} of {budget}");
}

/// Opens a session and runs it, with one thread and with several, and holds what it does against what it was granted.
fn keeps_its_budget(runtime: &Runtime, name: &str, run: impl Fn(&Runtime) + Sync) {
    let backend = runtime.backend();
    // The interpreter has one.
    let several: &[usize] = if backend == "vir0" {
        &[1]
    } else {
        &[1, 2, 5, 16]
    };
    for &threads in several {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let pool = pool.build().expect("there are threads");
        pool.install(|| {
            let all = runtime.clone();
            let (granted, held) = held_by(|| {
                run(&all.clone().with_memory(1 << 32));
                GRANTED.load(Relaxed)
            });
            let most = granted + BESIDE;
            println!("{name}, {backend}, {threads} threads: {held} of {granted}");
            assert!(
                held <= most,
                "{name}, {backend}, {threads} threads: {held} of {granted}"
            );
        });
    }
}

/// What sessions had taken when they had run.
static GRANTED: AtomicUsize = AtomicUsize::new(0);

fn granted(runtime: &Runtime) {
    let (_, taken) = runtime.memory().expect("there is a budget");
    GRANTED.store(taken as usize, Relaxed);
}

fn searches_hold_no_more_than_they_were_granted(runtime: &Runtime) {
    let _alone = alone();
    let first = warm(runtime);
    for (name, graph) in [
        ("one way", wide(25_000, false)),
        ("both ways", wide(25_000, true)),
    ] {
        let weights: Vec<u32> = (0..graph.edge_count() as u32).map(|e| e % 97 + 1).collect();
        keeps_its_budget(&first, &format!("search, {name}"), |runtime| {
            let mut session = bfs::Session::new(runtime, &graph).expect("it fits");
            for source in 0..2 {
                session.run(bfs::Run { source }).expect("no trap");
            }
            granted(runtime);
        });
        keeps_its_budget(&first, &format!("unique frontier, {name}"), |runtime| {
            let topology = sssp::Topology {
                graph: &graph,
                weight: &weights,
            };
            let mut session = sssp::Session::new(runtime, topology).expect("it fits");
            for _ in 0..2 {
                session.run(sssp::Run { source: 0 }).expect("no trap");
            }
            granted(runtime);
        });
        keeps_its_budget(&first, &format!("repeated items, {name}"), |runtime| {
            let mut session = repeated::Session::new(runtime, &graph).expect("it fits");
            session.run(repeated::Run {}).expect("no trap");
            granted(runtime);
        });
        keeps_its_budget(&first, &format!("pairs, {name}"), |runtime| {
            let mut session = paired::Session::new(runtime, &graph).expect("it fits");
            session.run(paired::Run {}).expect("no trap");
            granted(runtime);
        });
    }
}

/// A list of structs, which are put together for the result.
#[wave_graph]
mod paired_list {
    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        #[list(capacity = node, output)]
        all: List<(u32, u32)>,
    }

    #[wave(nodes)]
    fn add(v: Node, all: &Append<(u32, u32)>) {
        all.append((v, v + 1));
    }
}

fn results_in_the_memory_of_earlier_ones_are_counted(runtime: &Runtime) {
    let _alone = alone();
    let graph = edgeless(100_000);
    let first = warm(runtime);
    keeps_its_budget(&first, "structs of a list, again", |runtime| {
        let mut session = paired_list::Session::new(runtime, &graph).expect("it fits");
        let mut out = paired_list::Output::default();
        for _ in 0..3 {
            let run = paired_list::Run {};
            session.run_into(run, &mut out).expect("no trap");
        }
        assert_eq!(out.all[99_999], (99_999, 100_000));
        let runs = || [paired_list::Run {}, paired_list::Run {}];
        session.run_series_into(runs(), &mut out).expect("no trap");
        granted(runtime);
    });
}

fn batches_and_series_keep_their_budget_on_any_number_of_threads(runtime: &Runtime) {
    let _alone = alone();
    let graph = wide(20_000, false);
    let weights: Vec<u32> = (0..graph.edge_count() as u32).map(|e| e % 97 + 1).collect();
    let topology = || sssp::Topology {
        graph: &graph,
        weight: &weights,
    };
    let first = warm(runtime);
    let probe = first.clone().with_memory(1 << 30);
    let session = sssp::Session::new(&probe, topology()).expect("it fits");
    let (_, one) = probe.memory().expect("there is a budget");
    drop(session);
    for states in [1, 2, 6] {
        keeps_its_budget(&first, &format!("batch, {states} states"), |runtime| {
            let runtime = runtime.clone().with_memory(states * one);
            let mut session = sssp::Session::new(&runtime, topology()).expect("it fits");
            for source in 0..10 {
                session.submit(sssp::Run { source }, 0);
            }
            let batch = session.run_batch().expect("it runs");
            let results = batch.results.into_iter();
            let done = results.filter(|(_, result)| result.is_ok()).count();
            assert!(done >= 1, "{done}");
            GRANTED.store((states * one) as usize, Relaxed);
        });
    }
    keeps_its_budget(&first, "series", |runtime| {
        let mut session = sssp::Session::new(runtime, topology()).expect("it fits");
        let runs = (0..4).map(|source| sssp::Run { source });
        session.run_series(runs).expect("no trap");
        granted(runtime);
    });
}

fn parts_hold_no_more_than_they_were_granted(runtime: &Runtime) {
    let _alone = alone();
    let graph = chains(100_000, 500);
    let parts = Parts::from_sizes([500; 200]).expect("they are few");
    let first = warm(runtime);
    keeps_its_budget(&first, "parts", |runtime| {
        let topology = in_parts::Topology {
            graph: &graph,
            parts: &parts,
        };
        let mut session = in_parts::Session::new(runtime, topology).expect("it fits");
        for _ in 0..2 {
            let out = session.run(in_parts::Run {}).expect("no trap");
            assert_eq!(out.level[99_999], 499);
        }
        granted(runtime);
    });
}

fn the_result_of_a_list_is_held_once(runtime: &Runtime) {
    let _alone = alone();
    let nodes = 250_000;
    let graph = edgeless(nodes);
    let list_bytes = 8 * nodes;
    let runtime = warm(runtime);
    let mut session = listed::Session::new(&runtime, &graph).expect("it fits");
    let before = heap::live();
    let first = session.run(listed::Run {}).expect("no trap");
    assert_eq!(first.all.len(), nodes);
    let held = heap::live() - before;
    let backend = runtime.backend();
    let most = list_bytes + BESIDE;
    assert!(held < most, "{backend}: {held} bytes for {list_bytes}");
    drop(first);
    let held = heap::live().saturating_sub(before);
    assert!(held < BESIDE, "{backend}: {held} bytes stay");
    // The session goes on.
    assert_eq!(session.run(listed::Run {}).expect("no trap").all[9], 9);
}

fn a_session_with_lists_holds_no_more_than_it_was_granted(runtime: &Runtime) {
    let _alone = alone();
    let (graph, small) = (edgeless(300_000), edgeless(20_000));
    let runtime = warm(runtime);
    let runtime = runtime.with_memory(1 << 30);
    let backend = runtime.backend();
    let ((granted, list), held) = held_by(|| {
        let mut session = listed::Session::new(&runtime, &graph).expect("it fits");
        let out = session.run(listed::Run {}).expect("no trap");
        drop(out);
        let out = session.run_series([listed::Run {}, listed::Run {}, listed::Run {}]);
        let (_, granted) = runtime.memory().expect("there is a budget");
        (granted as usize, out.expect("no trap").all)
    });
    assert!(list.iter().copied().eq(0..300_000));
    assert!(held <= granted + BESIDE, "{backend}: {held} of {granted}");
    // What is counted is needed, but for the room that the list has in the end.
    assert!(held >= granted / 3, "{backend}: {held} of {granted}");

    let ((granted, list), held) = held_by(|| {
        let mut session = grown::Session::new(&runtime, &small).expect("it fits");
        let out = session.run(grown::Run {}).expect("no trap");
        let (_, granted) = runtime.memory().expect("there is a budget");
        (granted as usize, out.all)
    });
    let first = (0..120_000).map(|i| (1, i));
    let again = (0..120_000).map(|i| (2, i));
    assert!(list.iter().copied().eq(first.chain(again)));
    assert!(held <= granted + BESIDE, "{backend}: {held} of {granted}");
}

fn results_of_a_batch_count_until_it_ends(runtime: &Runtime) {
    let _alone = alone();
    // 2,000,000 bytes of results; lists of 2,400,000 bytes.
    let nodes = 250_000;
    let graph = edgeless(nodes);
    let runtime = warm(runtime);
    let backend = runtime.backend();
    let probe = runtime.clone().with_memory(1 << 30);
    let session = listed::Session::new(&probe, &graph).expect("it fits");
    let (_, one) = probe.memory().expect("there is a budget");
    drop(session);
    let budget = one + 2 * 2_400_000;
    let tight = runtime.with_memory(budget);
    let (fit, held) = held_by(|| {
        let mut session = listed::Session::new(&tight, &graph).expect("it fits");
        for _ in 0..4 {
            session.submit(listed::Run {}, 0);
        }
        let batch = session.run_batch().expect("it runs");
        let fit: Vec<bool> = batch.results.iter().map(|(_, r)| r.is_ok()).collect();
        let refused = batch.results[3].1.as_ref().map(|_| ());
        let refused = refused.expect_err("there is no room");
        let says = "the results of the batch do not fit: `set_batch_limit` takes fewer queries at a time; ";
        assert!(refused.to_string().starts_with(says), "{refused}");
        // They are the caller's now, and the session goes on.
        assert_eq!(tight.memory(), Some((budget, one)), "{backend}");
        drop(batch);
        session.submit(listed::Run {}, 0);
        let batch = session.run_batch().expect("it runs");
        assert_eq!(batch.results[0].1.as_ref().expect("fits").all[7], 7);
        fit
    });
    assert_eq!(fit, [true, true, true, false], "{backend}");
    let most = budget as usize + BESIDE;
    assert!(held <= most, "{backend}: {held} of {budget}");
}

/// Results of each kind, but for lists: natively, what lanes append is in blocks before it is in the list.
#[wave_graph]
mod kinds {
    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        #[frontier(capacity = node)]
        front: Frontier,
        #[output(per = node)]
        twice: u64,
        #[output(per = node)]
        pair: (u32, f64),
        #[output(per = node, bits = 40)]
        row: Bits,
        #[reduce(sum)]
        sum: u64,
        fails: bool,
    }

    #[wave(nodes)]
    fn fill(v: Node, pair: &mut (u32, f64), row: &Bits, front: &Push) {
        *pair = (v, f64::from(v));
        row.set(v, v % 40);
        front.push(v);
    }

    #[wave(items(front), after(fill))]
    fn double(v: Node, fails: bool, twice: &Buf<Atomic<u64>>, sum: &Reduce<Sum<u64>>) {
        sum.add(1);
        let at = if fails { v + 1 } else { v };
        twice[at].store(2 * u64::from(v));
    }
}

/// Runs 300 small queries by a budget that has just room for them and `states` more, on several threads.
macro_rules! many_queries {
    ($runtime:expr, $pass:ident, $graph:expr, $run:expr, $result_bytes:expr) => {
        let (runtime, queries) = ($runtime, 300_u64);
        let on = format!("{}, {}", stringify!($pass), runtime.backend());
        let probe = runtime.clone().with_memory(1 << 30);
        let mut session = $pass::Session::new(&probe, $graph).expect("it fits");
        let (_, takes) = probe.memory().expect("there is a budget");
        for _ in 0..queries {
            session.submit($run, 0);
        }
        let (_, waiting) = probe.memory().expect("there is a budget");
        drop(session);
        for states in [0, 3] {
            let budget = waiting + (queries - 1) * $result_bytes + states * takes;
            let (_, held) = held_by(|| {
                let runtime = runtime.clone().with_memory(budget);
                let mut session = $pass::Session::new(&runtime, $graph).expect("it fits");
                for _ in 0..queries {
                    session.submit($run, 0);
                }
                let batch = session.run_batch().expect("it runs");
                assert_eq!(batch.results.len() as u64, queries);
                for (_, result) in &batch.results {
                    assert!(result.is_ok(), "{on}: {:?}", result.as_ref().err());
                }
                // What the results have is the caller's.
                assert_eq!(runtime.memory().expect("there is a budget").0, budget);
            });
            println!(
                "{on}, {states} states: {held} of {budget}, {} a query",
                (waiting - takes) / queries
            );
            assert!(
                held as u64 <= budget + BESIDE as u64,
                "{on}: {held} of {budget}"
            );
        }
    };
}

fn many_queries_hold_no_more_than_they_were_granted(runtime: &Runtime) {
    let _alone = alone();
    let (few, from) = (edgeless(50), vec![6; 50]);
    let terms = [(4, 5, 1); 10];
    let first = warm(runtime);
    let several: &[usize] = if first.backend() == "vir0" {
        &[1]
    } else {
        &[1, 3]
    };
    for &threads in several {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let pool = pool.build().expect("there are threads");
        pool.install(|| {
            many_queries!(&first, bfs, &few, bfs::Run { source: 1 }, 4 * 50);
            many_queries!(&first, given, &few, given::Run { from: &from }, 8 * 50);
            many_queries!(&first, kinds, &few, kinds::Run { fails: false }, 32 * 50);
            many_queries!(&first, paired_list, &few, paired_list::Run {}, 8 * 50);
            many_queries!(
                &first,
                sums,
                &few,
                sums::Run {
                    terms: &terms,
                    n: 10
                },
                // Of which a part is for what the terms take in a run.
                24
            );
        });
    }
}

/// Structs in structs; [`flat`] has the same scalars side by side.
#[wave_graph]
mod nested {
    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node)]
        pair: ((u64, u64), u8),
    }

    #[wave(nodes)]
    fn fill(v: Node, pair: &mut ((u64, u64), u8)) {
        *pair = ((1, u64::from(v)), 2);
    }
}

fn structs_in_structs_count_as_their_scalars_do(runtime: &Runtime) {
    let _alone = alone();
    let graph = edgeless(100_000);
    let runtime = warm(runtime);
    let backend = runtime.backend();
    let runtime = runtime.with_memory(1 << 30);
    let taken = || runtime.memory().expect("there is a budget").1 as usize;
    let session = flat::Session::new(&runtime, &graph).expect("it fits");
    let apart = taken();
    drop(session);
    // The graph, 17 bytes a node in columns and 24 put together, and natively the chunks of the sweep.
    let chunks = if backend == "native" {
        25 * (128 + 3 * 16)
    } else {
        0
    };
    assert_eq!(apart, 400_004 + 4_100_000 + chunks, "{backend}");
    let (_, held) = held_by(|| {
        let mut session = nested::Session::new(&runtime, &graph).expect("it fits");
        assert_eq!(taken(), apart, "{backend}");
        let out = session.run(nested::Run {}).expect("no trap");
        assert_eq!(out.pair[99_999], ((1, 99_999), 2));
    });
    let most = apart + BESIDE;
    assert!(held <= most, "{backend}: {held} of {apart}");
}

/// Structs of the topology and of each run.
#[wave_graph]
mod placed {
    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        #[topology(per = node)]
        place: (u64, u64, u8),
        #[input(per = n)]
        given: (u64, u64, u8),
        #[reduce(sum)]
        sum: u64,
        n: u32,
    }

    #[wave(nodes)]
    fn add(place: &(u64, u64, u8), sum: &Reduce<Sum<u64>>) {
        sum.add(place.1);
    }

    #[wave(range(n))]
    fn give(given: &(u64, u64, u8), sum: &Reduce<Sum<u64>>) {
        sum.add(given.0 + u64::from(given.2));
    }
}

fn too_large<T>(result: Result<T, Error>, says: &str) {
    match result {
        Err(Error::Run(RunError::Memory { what, .. })) => assert_eq!(what, says),
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("it fits"),
    }
}

fn structs_of_a_topology_are_taken_apart_once_it_fits(runtime: &Runtime) {
    let _alone = alone();
    let (graph, small) = (edgeless(100_000), edgeless(100));
    let place: Vec<(u64, u64, u8)> = (0..100_000).map(|v| (1, v, 2)).collect();
    let large = || placed::Topology {
        graph: &graph,
        place: &place,
    };
    let says = "topologies, inputs and outputs do not fit";
    let runtime = warm(runtime);
    let backend = runtime.backend();
    let tight = runtime.with_memory(1_000_000);
    let fits = placed::Topology {
        graph: &small,
        place: &place[..100],
    };
    let mut session = placed::Session::new(&tight, fits).expect("it fits");
    let ((), held) = held_by(|| {
        too_large(placed::Session::new(&tight, large()), says);
        too_large(placed::Sessions::new(&tight, [large()]), says);
        too_large(session.update(large()), says);
    });
    assert!(held < 200_000, "{backend}: {held} bytes for nothing");
    let run = placed::Run { given: &[], n: 0 };
    assert_eq!(session.run(run).expect("no trap").sum, 4_950, "{backend}");
}

/// Two passes on structs of a run's.
#[wave_graph]
mod sums {
    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        #[input(per = n)]
        terms: (u64, u64, u8),
        #[output(per = 1)]
        sum: u64,
        n: u32,
    }

    #[wave(range(n))]
    fn add(terms: &(u64, u64, u8), sum: &Buf<Atomic<u64>>) {
        sum[0].fetch_add(terms.0);
    }
}

fn structs_are_taken_apart_once_there_is_room_for_them(runtime: &Runtime) {
    let _alone = alone();
    let graph = edgeless(10);
    let (few, many) = (vec![(4, 5, 1); 100], vec![(4, 5, 1); 200_000]);
    let runtime = warm(runtime);
    let backend = runtime.backend();
    let tight = runtime.with_memory(1_000_000);
    let run = |terms| sums::Run {
        terms,
        n: <[_]>::len(terms) as u32,
    };
    let mut session = sums::Session::new(&tight, &graph).expect("it fits");
    let mut sessions = sums::Sessions::new(&tight, [&graph]).expect("it fits");
    let mut both = vyre::FusedSession::<sums::Pass, sums::Pass>::new(&tight, (&graph, &graph), &[])
        .expect("both fit");
    let ((), held) = held_by(|| {
        session.submit(run(&many), 0);
        sessions.submit(0, run(&many), 0);
        for batch in [session.run_batch(), sessions.run_batch()] {
            let (_, result) = batch.expect("it runs").results.swap_remove(0);
            too_large(result, "the query does not fit beside the sessions");
        }
        too_large(both.run(run(&few), run(&many)), "the run does not fit");
    });
    assert!(held < 200_000, "{backend}: {held} bytes for nothing");
    session.submit(run(&few), 0);
    let (_, result) = session.run_batch().expect("it runs").results.swap_remove(0);
    assert_eq!(result.expect("no trap").sum, [400]);
    let (one, two) = both.run(run(&few), run(&few[..50])).expect("no trap");
    assert_eq!((one.sum, two.sum), (vec![400], vec![200]));
}

fn structs_of_a_series_count_while_they_are_there(runtime: &Runtime) {
    let _alone = alone();
    let graph = edgeless(10);
    let place = [(1, 2, 3); 10];
    let topology = || placed::Topology {
        graph: &graph,
        place: &place,
    };
    let n = 20_000;
    let given = vec![(4, 5, 1); n as usize];
    let many = vec![(4, 5, 1); 200_000];
    // In columns.
    let one = 17 * u64::from(n);
    let series = |runs| vec![placed::Run { given: &given, n }; runs];
    let runtime = warm(runtime);
    let backend = runtime.backend();
    let probe = runtime.clone().with_memory(1 << 30);
    let mut session = placed::Session::new(&probe, topology()).expect("it fits");
    session.run_series(series(1)).expect("no trap");
    let (_, takes) = probe.memory().expect("there is a budget");
    drop(session);
    // The structs of one run are in what the session takes.
    let budget = takes + 3 * one;
    let tight = runtime.with_memory(budget);
    let ((), held) = held_by(|| {
        let mut session = placed::Session::new(&tight, topology()).expect("it fits");
        for runs in [1, 4, 5, 4] {
            let result = session.run_series(series(runs));
            if runs == 5 {
                let says = "the rows of structs of the series do not fit beside the sessions";
                too_large(result, says);
            } else {
                assert_eq!(result.expect("no trap").sum, 20 + 5 * u64::from(n));
            }
            assert_eq!(tight.memory(), Some((budget, takes)), "{backend}");
        }
        // A run that does not fit is not taken apart either.
        let (given, n) = (&many, 200_000);
        let run = placed::Run { given, n };
        too_large(session.run(run), "the run does not fit");
    });
    let most = budget as usize + BESIDE;
    assert!(held <= most, "{backend}: {held} of {budget}");
}

fn an_update_holds_both_topologies_within_the_budget(runtime: &Runtime) {
    let _alone = alone();
    let (one, other) = (wide(25_000, false), wide(25_000, true));
    let graph_bytes = 4 * (25_001 + other.edge_count() as u64);
    let runtime = warm(runtime);
    let backend = runtime.backend();
    let probe = runtime.clone().with_memory(1 << 30);
    let session = bfs::Session::new(&probe, &other).expect("it fits");
    let (_, takes) = probe.memory().expect("there is a budget");
    drop(session);
    for (room, fits) in [(graph_bytes - 1, false), (graph_bytes, true)] {
        let budget = takes + room;
        let tight = runtime.clone().with_memory(budget);
        let ((), held) = held_by(|| {
            let mut session = bfs::Session::new(&tight, &one).expect("it fits");
            let first = session.run(bfs::Run { source: 0 }).expect("no trap");
            let before = tight.memory();
            drop(first);
            if fits {
                session.update(&other).expect("both fit");
                assert_eq!(tight.memory(), Some((budget, takes)), "{backend}");
            } else {
                let says = "the topology does not fit beside the one before";
                too_large(session.update(&other), says);
                assert_eq!(tight.memory(), before, "{backend}");
            }
            session.run(bfs::Run { source: 0 }).expect("no trap");
        });
        let most = budget as usize + BESIDE;
        assert!(held <= most, "{backend}: {held} of {budget}");
    }
}

fn warm_runs_into_a_result_take_no_memory_that_grows_with_it(runtime: &Runtime) {
    let _alone = alone();
    let runtime = warm(runtime);
    let backend = runtime.backend();
    // What a warm run takes: the outcome's lists of columns, the schedule's counters, what is kept for `explain()`.
    let taken = [500, 4_000].map(|nodes| {
        let graph = edgeless(nodes);
        let mut session = kinds::Session::new(&runtime, &graph).expect("it fits");
        let mut out = kinds::Output::default();
        // The session remembers its last launches, and their number is bounded.
        for _ in 0..40 {
            let run = kinds::Run { fails: false };
            session.run_into(run, &mut out).expect("no trap");
        }
        // What the harness of the tests allocates meanwhile counts as well, but not every time.
        let (mut stays, mut taken) = (usize::MAX, usize::MAX);
        for _ in 0..5 {
            let (live, before) = (heap::live(), heap::taken());
            for _ in 0..10 {
                let run = kinds::Run { fails: false };
                session.run_into(run, &mut out).expect("no trap");
            }
            stays = stays.min(heap::live().abs_diff(live));
            taken = taken.min(heap::taken() - before);
        }
        assert_eq!(stays, 0, "{backend}: nothing stays");
        assert_eq!((out.sum, out.twice.len()), (nodes as u64, nodes));

        // A trap costs a word about it, and no memory of the result.
        let before = heap::taken();
        let trapped = session.run_into(kinds::Run { fails: true }, &mut out);
        assert!(trapped.is_err() && out.twice.is_empty());
        drop(trapped);
        let run = kinds::Run { fails: false };
        session.run_into(run, &mut out).expect("no trap");
        assert_eq!((out.sum, out.pair.len()), (nodes as u64, nodes));
        let taken_by_trap = heap::taken() - before;
        assert!(taken_by_trap < 20_000, "{backend}: {taken_by_trap}");
        taken / 10
    });
    // The results of the second are 100 KB larger.
    assert!(taken[1] < taken[0] + 200, "{backend}: {taken:?}");
    assert!(taken[0] < 4_000, "{backend}: {taken:?}");
}

/// Runs `run` while allocations of half a megabyte and more are refused.
fn starved<T>(run: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    starved_from(500_000, run)
}

fn ran_out_of<T>(result: Result<T, Error>, backend: &str) -> String {
    match result {
        Err(Error::Run(RunError::Memory { what, .. })) => what,
        Err(other) => panic!("{backend}: {other}"),
        Ok(_) => panic!("{backend}: there was memory"),
    }
}

/// A large output, and a list that is as long as the run says.
#[wave_graph]
mod counted {
    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node)]
        twice: u64,
        #[list(capacity = 250_000, output)]
        all: List<u64>,
        count: u32,
    }

    #[wave(nodes)]
    fn add(v: Node, count: u32, twice: &mut u64, all: &Append<u64>) {
        *twice = 2 * u64::from(v);
        if v < count {
            all.append(u64::from(v));
        }
    }
}

#[test]
#[ignore = "needs a CUDA device"]
fn page_locked_memory_is_that_of_the_result_before_after_a_run_without_memory_too() {
    let _alone = alone();
    let runtime = vyre_tests::cuda();
    // Nothing is compiled beside the run that gets no memory.
    let runtime = runtime.with_route(RoutePolicy::Interpreter);
    let mut session = counted::Session::new(&runtime, &edgeless(250_000)).expect("it fits");
    let first = session.run_pinned(counted::Run { count: 10 });
    let first = first.expect("no trap");
    assert!(Pinned::is_page_locked(&first));
    let place = first.twice.as_ptr();
    drop(first);
    let run = || counted::Run { count: 250_000 };
    let what = ran_out_of(starved(|| session.run_pinned(run())), "cuda");
    assert_eq!(what, "no memory is left for the result");
    // Were its memory free, one of these would have it.
    let others = [(); 4].map(|()| vec![1_u64; 250_000]);
    let out = session.run_pinned(run()).expect("no trap");
    assert!(Pinned::is_page_locked(&out));
    assert_eq!(out.twice.as_ptr(), place);
    assert!(out.twice.iter().copied().eq((0..250_000).map(|v| 2 * v)));
    assert_eq!(out.all.iter().sum::<u64>(), 250_000 * 249_999 / 2);
    assert!(others.iter().flatten().all(|&other| other == 1));
}

/// A list as long as there are nodes, and a result for each of them.
#[wave_graph]
mod numbered {
    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        #[list(capacity = node, output)]
        all: List<u64>,
        #[output(per = node)]
        own: u64,
        add: u64,
    }

    #[wave(nodes)]
    fn number(v: Node, add: u64, all: &Append<u64>, own: &mut u64) {
        *own = u64::from(v) + add;
        all.append(*own);
    }
}

/// Runs batches with lists of `nodes` nodes by a budget, more than it has room for at once: what is held while they run
/// on the device, of page-locked memory, and of all other memory of the process.
fn held_by_batches_with_lists(
    nodes: usize,
    budget: u64,
    (cuda, transcript): (Cuda, Transcript),
) -> [u64; 3] {
    let graph = edgeless(nodes);
    let runtime = vyre_tests::on(cuda).with_route(RoutePolicy::Interpreter);
    let mut results = 0;
    let (_, in_process) = peak_of(|| {
        let runtime = runtime.clone().with_memory(budget);
        let mut session = numbered::Session::new(&runtime, &graph).expect("it fits");
        for _ in 0..3 {
            for add in 0..60 {
                session.submit(numbered::Run { add }, 0);
            }
            let batch = session.run_batch().expect("it runs");
            for ((_, result), add) in batch.results.iter().zip(0..) {
                if let Ok(out) = result {
                    assert_eq!((out.own[7], out.all.len()), (7 + add, nodes));
                    results += 1;
                }
            }
        }
    });
    let MostAtOnce {
        allocated: on_device,
        page_locked: locked,
    } = MostAtOnce::of(&transcript);
    println!(
        "{results} results; {on_device} bytes on the device, {locked} page-locked, {in_process} others, of {budget}"
    );
    assert!(results > 3 && on_device > 0);
    [on_device, locked, in_process as u64]
}

#[test]
fn batches_with_lists_stay_within_the_budget_on_a_played_device() {
    let _alone = alone();
    let (nodes, budget) = (10_000, 5 << 20);
    let opened = Transcript::of_fake(&Fake::default()).expect("nothing fails");
    let [on_device, locked, _] = held_by_batches_with_lists(nodes, budget, opened);
    let most = budget + budget / 20 + BESIDE_ON_DEVICE;
    assert!(on_device <= most && locked <= most, "{on_device}, {locked}");
}

#[test]
#[ignore = "needs a CUDA device"]
fn batches_with_lists_stay_within_the_budget() {
    let _alone = alone();
    let (nodes, budget) = (1_000_000, 512 << 20);
    let opened = Transcript::of_device(0).expect("a CUDA device");
    let [on_device, locked, in_process] = held_by_batches_with_lists(nodes, budget, opened);
    let most = budget + budget / 20 + BESIDE_ON_DEVICE;
    assert!(on_device <= most, "{on_device}");
    // Results of a batch are the caller's, and come in memory of its own: 16 MB each.
    let handed_out = 60 * 16 * nodes as u64;
    assert!(
        locked + in_process <= most + handed_out,
        "{locked}, {in_process}"
    );
}

#[test]
fn a_sweep_without_memory_for_its_chunks_ends_in_an_error() {
    let _alone = alone();
    // Enough edges from one node for 489 chunks, and little else.
    let edges = vec![(1, 2); 2_000_000];
    let graph = Csr::from_edges(5, &edges).expect("they are nodes");
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2);
    let pool = pool.build().expect("there are threads");
    pool.install(|| {
        let runtime = Runtime::native();
        let mut session = bfs::Session::new(&runtime, &graph).expect("it fits");
        let mut run = |source| session.run(bfs::Run { source });
        let from_one = |out: Result<bfs::Output, Error>| out.expect("no trap").dist;
        let unreached = u32::MAX;
        assert_eq!(from_one(run(0))[0], 0);
        // Where it is cut first, and then, as that is kept, what each chunk leaves.
        for cut in [true, false] {
            let what = "no memory is left for the chunks of a sweep";
            match starved_from(4_096, || run(1)) {
                Err(Error::Run(RunError::Memory {
                    what: says,
                    needed_bytes,
                    ..
                })) => {
                    assert_eq!(says, what);
                    assert_eq!(needed_bytes == 16 * 489, cut, "{needed_bytes} bytes");
                }
                other => panic!("{:?}", other.map(|out| out.dist)),
            }
            let found = [unreached, 0, 1, unreached, unreached];
            assert_eq!(from_one(run(1)), found);
        }
    });
}

fn a_run_without_memory_ends_in_an_error_and_the_session_works_on(runtime: &Runtime) {
    let _alone = alone();
    let (graph, small) = (edgeless(250_000), edgeless(20_000));
    let runtime = warm(runtime);
    let backend = runtime.backend();
    let mut session = listed::Session::new(&runtime, &graph).expect("it fits");
    for _ in 0..2 {
        let what = ran_out_of(starved(|| session.run(listed::Run {})), backend);
        assert_eq!(what, "no memory is left for list `all`", "{backend}");
        assert_eq!(
            session.run(listed::Run {}).expect("no trap").all.len(),
            250_000
        );
    }
    session.submit(listed::Run {}, 0);
    session.submit(listed::Run {}, 0);
    let batch = starved(|| session.run_batch()).expect("it runs");
    for (_, result) in batch.results {
        ran_out_of(result, backend);
    }

    let mut session = grown::Session::new(&runtime, &small).expect("it fits");
    let what = ran_out_of(starved(|| session.run(grown::Run {})), backend);
    assert_eq!(what, "no memory is left for list `all`", "{backend}");
    assert_eq!(
        session.run(grown::Run {}).expect("no trap").all.len(),
        240_000
    );

    // An output, before the frontier.
    let mut session = pushed::Session::new(&runtime, &graph).expect("it fits");
    let out = session.run(pushed::Run {}).expect("no trap");
    assert_eq!(out.twice[249_999], 499_998);
    let what = ran_out_of(starved(|| session.run(pushed::Run {})), backend);
    assert_eq!(what, "no memory is left for `twice`", "{backend}");
    let out = session.run(pushed::Run {}).expect("no trap");
    assert_eq!(out.twice[249_999], 499_998);
}

backend_tests!(cpus:
    rows_of_bits_are_held_once,
    inputs_of_waiting_queries_are_counted,
    many_queries_hold_no_more_than_they_were_granted,
    results_of_sessions_count_until_their_batch_ends,
    searches_hold_no_more_than_they_were_granted,
    results_in_the_memory_of_earlier_ones_are_counted,
    parts_hold_no_more_than_they_were_granted,
    batches_and_series_keep_their_budget_on_any_number_of_threads,
    the_result_of_a_list_is_held_once,
    a_session_with_lists_holds_no_more_than_it_was_granted,
    results_of_a_batch_count_until_it_ends,
    structs_in_structs_count_as_their_scalars_do,
    structs_of_a_topology_are_taken_apart_once_it_fits,
    structs_are_taken_apart_once_there_is_room_for_them,
    structs_of_a_series_count_while_they_are_there,
    an_update_holds_both_topologies_within_the_budget,
    warm_runs_into_a_result_take_no_memory_that_grows_with_it,
    a_run_without_memory_ends_in_an_error_and_the_session_works_on,
);
