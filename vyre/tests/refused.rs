//! Every large allocation of a session and its runs is refused once, one after the other: each time, what asked for it
//! ends in the error that says so, the same session does it right when it is asked again, and nothing stays taken.
//!
//! How many were refused is printed for `scripts/trust`, and as a table by the call that asked for them:
//!
//! ```text
//! cargo test -p vyre --test refused -- --nocapture refused_allocation
//! ```
//!
//! A request of a library, such as rayon or std, that cannot be refused would end this test's process. There is none of
//! 4 KB or more while a session is opened, run or asked otherwise. Threads, which ask for their stacks and queues, are
//! made when a runtime is.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use vyre::prelude::*;
use vyre::{Batch, CsrError, RunError};
use vyre_tests::graphs::chain;
use vyre_tests::heap;
use vyre_tests::passes::{bfs, doubled, mixed, phases, sssp, work};

#[global_allocator]
static HEAP: heap::Heap = heap::Heap;

/// More than a thread sweeps alone.
const NODES: u32 = 9_000;
/// What grows with a graph of [`NODES`] nodes is larger; what a session has anyway, its program and its plan, is not.
const LARGE: usize = 4_096;
const BUDGET: u64 = 1 << 30;

/// A list and a frontier of structs, structs that are given and returned, and a list that is a result.
#[wave_graph]
mod collected {
    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        #[topology(per = node)]
        place: (u64, u8),
        #[input(per = node)]
        given: (u32, u64),
        #[frontier(capacity = node)]
        pairs: Frontier<(u32, u64)>,
        #[list(capacity = edge(graph), output)]
        all: List<(u32, u64)>,
        #[output(per = node)]
        moved: (u64, u32),
    }

    #[wave(nodes)]
    fn begin(v: Node, given: &(u32, u64), place: &(u64, u8), pairs: &Push<(u32, u64)>) {
        pairs.push((v, given.1 + place.0));
    }

    #[wave(items(pairs), after(begin))]
    fn collect(pair: (u32, u64), graph: &Csr, all: &Append<(u32, u64)>) {
        for w in graph.neighbors(pair.0) {
            all.append((w, pair.1));
        }
    }

    #[wave(nodes)]
    fn end(v: Node, given: &(u32, u64), moved: &mut (u64, u32)) {
        *moved = (given.1, v);
    }
}

/// What runs are given. Nothing of it is made while allocations are refused.
struct Given {
    graph: Csr,
    back: Csr,
    weight: Vec<u32>,
    cost: Vec<f32>,
    place: Vec<(u64, u8)>,
    pairs: Vec<(u32, u64)>,
    few: Vec<u32>,
    small: [Csr; 2],
}

impl Given {
    fn new() -> Given {
        // From each node to two with greater numbers, so that there are few rounds.
        let edges: Vec<(u32, u32)> = (1..NODES).map(|v| ((v - 1) / 2, v)).collect();
        let graph = Csr::from_edges(NODES as usize, &edges).expect("edges name nodes");
        Given {
            back: graph.reverse(),
            weight: (1..NODES).map(|v| v % 9).collect(),
            cost: vec![0.7; graph.edge_count()],
            place: (0..NODES).map(|v| (v.into(), 1)).collect(),
            pairs: (0..NODES).map(|v| (v, 3)).collect(),
            few: (0..NODES).map(|v| u32::from(v % 997 == 5)).collect(),
            small: [chain(9), chain(12)],
            graph,
        }
    }
}

fn hashed(results: &[impl Hash]) -> u64 {
    let mut hasher = DefaultHasher::new();
    results.hash(&mut hasher);
    hasher.finish()
}

/// What is asked of a session, of sessions or of a graph, and what it does where an allocation is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Door {
    Open,
    Run,
    RunInto,
    RunPinned,
    Series,
    Batch,
    Update,
    OpenMany,
    BatchOfMany,
    FromEdges,
    Append,
}

impl Door {
    const ALL: [(Door, &str); 11] = [
        (Door::Open, "`Session::new`"),
        (Door::Run, "`run`"),
        (Door::RunInto, "`run_into`"),
        (Door::RunPinned, "`run_pinned`"),
        (Door::Series, "`run_series`"),
        (Door::Batch, "`submit`, `run_batch`"),
        (Door::Update, "`update`"),
        (Door::OpenMany, "`Sessions::new`"),
        (Door::BatchOfMany, "`Sessions`: `submit`, `run_batch`"),
        (Door::FromEdges, "`Csr::from_edges`"),
        (Door::Append, "`Csr::append`"),
    ];
}

/// How many calls of a door had an allocation refused, and how many of them ended in an error.
struct Told {
    refused: AtomicUsize,
    errors: AtomicUsize,
}

static TOLD: [Told; Door::ALL.len()] = [const {
    Told {
        refused: AtomicUsize::new(0),
        errors: AtomicUsize::new(0),
    }
}; Door::ALL.len()];
/// Which allocation is refused.
static NTH: AtomicUsize = AtomicUsize::new(usize::MAX);

/// Takes note of a call; whether one of its allocations was refused.
fn noted<T, E>(door: Door, f: impl FnOnce() -> Result<T, E>) -> (Result<T, E>, bool) {
    let before = heap::asked();
    let result = f();
    let was_refused = (before..heap::asked()).contains(&NTH.load(Relaxed));
    let told = &TOLD[door as usize];
    told.refused.fetch_add(usize::from(was_refused), Relaxed);
    told.errors.fetch_add(usize::from(result.is_err()), Relaxed);
    (result, was_refused)
}

/// Does it, and once more where there was no memory: then there is.
fn settled<T>(door: Door, mut f: impl FnMut() -> Result<T, Error>) -> T {
    match noted(door, &mut f) {
        (Ok(value), _) => return value,
        (Err(Error::Run(RunError::Memory { what, .. })), true) => {
            assert!(what.starts_with("no memory is left for "), "{what}");
        }
        (Err(e), _) => panic!("{e}"),
    }
    f().unwrap_or_else(|e| panic!("there is memory again: {e}"))
}

/// What the queries of a batch left, or why the first one failed that did.
fn all<T>(batch: Batch<T>) -> Result<Vec<T>, Error> {
    batch
        .results
        .into_iter()
        .map(|(_, result)| result)
        .collect()
}

/// Opens a session and runs it; a hash of the results. It keeps nothing.
type Scene = fn(&Runtime, &Given) -> u64;

fn searches(runtime: &Runtime, given: &Given) -> u64 {
    let mut session = settled(Door::Open, || bfs::Session::new(runtime, &given.graph));
    let mut out = settled(Door::Run, || session.run(bfs::Run { source: 0 }));
    settled(Door::RunInto, || {
        session.run_into(bfs::Run { source: 1 }, &mut out)
    });
    let pinned = settled(Door::RunPinned, || {
        session.run_pinned(bfs::Run { source: 2 })
    });
    let last = settled(Door::Series, || {
        session.run_series([3, 4].map(|source| bfs::Run { source }))
    });
    settled(Door::Update, || session.update(&given.back));
    let source = NODES - 1;
    let back = settled(Door::Run, || session.run(bfs::Run { source }));
    hashed(&[&out.dist, &pinned.dist, &last.dist, &back.dist])
}

fn queries(runtime: &Runtime, given: &Given) -> u64 {
    let mut session = settled(Door::Open, || bfs::Session::new(runtime, &given.graph));
    let mut found = settled(Door::Batch, || {
        for source in 0..3 {
            session.submit(bfs::Run { source }, 0);
        }
        all(session.run_batch()?)
    });
    let mut sessions = settled(Door::OpenMany, || {
        bfs::Sessions::new(runtime, [&given.graph, &given.back])
    });
    found.extend(settled(Door::BatchOfMany, || {
        for k in [0, 1, 1] {
            sessions.submit(k, bfs::Run { source: 5 }, 0);
        }
        all(sessions.run_batch()?)
    }));
    let found: Vec<&Vec<u32>> = found.iter().map(|out| &out.dist).collect();
    hashed(&found)
}

/// A hash of what the queries of a batch left, made without a list of it; or why the first one failed that did.
fn hash_of(batch: Batch<bfs::Output>) -> Result<u64, Error> {
    let mut hasher = DefaultHasher::new();
    for (_, result) in batch.results {
        result?.dist.hash(&mut hasher);
    }
    Ok(hasher.finish())
}

/// Enough queries that what is told of them is large as well. Those that wait after an error are not submitted again.
fn many_queries(runtime: &Runtime, given: &Given) -> u64 {
    let small = given.small.each_ref();
    let mut session = settled(Door::Open, || bfs::Session::new(runtime, small[0]));
    let of_one = settled(Door::Batch, || {
        for source in session.waiting()..600 {
            let source = source as u32 % 9;
            session.submit(bfs::Run { source }, 0);
        }
        hash_of(session.run_batch()?)
    });
    let mut sessions = settled(Door::OpenMany, || {
        bfs::Sessions::new(runtime, small.iter().copied().cycle().take(60))
    });
    let of_many = settled(Door::BatchOfMany, || {
        for k in sessions.waiting()..600 {
            sessions.submit(k % 60, bfs::Run { source: 1 }, 0);
        }
        hash_of(sessions.run_batch()?)
    });
    of_one ^ of_many
}

fn shortest_paths(runtime: &Runtime, given: &Given) -> u64 {
    let topology = || sssp::Topology {
        graph: &given.graph,
        weight: &given.weight,
    };
    let mut session = settled(Door::Open, || sssp::Session::new(runtime, topology()));
    hashed(&settled(Door::Run, || session.run(sssp::Run { source: 0 })).dist)
}

fn structs(runtime: &Runtime, given: &Given) -> u64 {
    let topology = || collected::Topology {
        graph: &given.graph,
        place: &given.place,
    };
    let run = || collected::Run {
        given: &given.pairs,
    };
    let mut session = settled(Door::Open, || collected::Session::new(runtime, topology()));
    let mut out = settled(Door::Run, || session.run(run()));
    out.all.sort_unstable();
    let mut series = settled(Door::Series, || session.run_series([run(), run()]));
    series.all.sort_unstable();
    let batch = settled(Door::Batch, || {
        session.submit(run(), 0);
        session.submit(run(), 1);
        all(session.run_batch()?)
    });
    let moved = batch.iter().map(|out| hashed(&out.moved));
    let hashes = [hashed(&out.all), hashed(&series.all)].into_iter();
    hashed(&hashes.chain(moved).collect::<Vec<_>>())
}

fn fixpoints(runtime: &Runtime, given: &Given) -> u64 {
    let mut session = settled(Door::Open, || phases::Session::new(runtime, &given.graph));
    hashed(&settled(Door::Run, || session.run(phases::Run {})).degree)
}

fn rows(runtime: &Runtime, given: &Given) -> u64 {
    let topology = || mixed::Topology {
        graph: &given.graph,
        cost: &given.cost,
    };
    let run = || mixed::Run {
        cells: 2,
        damp: 0.5,
    };
    let mut session = settled(Door::Open, || mixed::Session::new(runtime, topology()));
    let out = settled(Door::Run, || session.run(run()));
    let digest = |sum: u64, rank: &f32| 31 * (sum >> 8) + u64::from(rank.to_bits());
    out.rank.iter().fold(0, digest) ^ hashed(&out.rows.into_words())
}

fn items(runtime: &Runtime, given: &Given) -> u64 {
    let run = || work::Run {
        weight: &given.few,
        room: 9_000,
        steps: 1,
    };
    let mut session = settled(Door::Open, || work::Session::new(runtime, &given.graph));
    hashed(&settled(Door::Run, || session.run(run())).sum)
}

fn lengths(runtime: &Runtime, _: &Given) -> u64 {
    let mut session = settled(Door::Open, || doubled::Session::new(runtime, ()));
    let short = settled(Door::Run, || session.run(doubled::Run { n: 5_000 }));
    let long = settled(Door::Run, || session.run(doubled::Run { n: 50_000 }));
    hashed(&long.twice) ^ hashed(&short.twice)
}

const SCENES: [(&str, Scene); 9] = [
    ("searches", searches),
    ("queries", queries),
    ("many queries", many_queries),
    ("shortest paths", shortest_paths),
    ("structs", structs),
    ("fixpoints", fixpoints),
    ("rows", rows),
    ("items", items),
    ("lengths", lengths),
];

/// Refuses one allocation after the other; how many there were.
fn refuse_each(runtime: &Runtime, name: &str, scene: Scene, given: &Given) -> usize {
    let of = format!("{name}, {}", runtime.backend());
    let runtime = runtime.clone().with_memory(BUDGET);
    let right = scene(&runtime, given);
    let before = heap::live();
    for nth in 0.. {
        NTH.store(nth, Relaxed);
        let (found, was_refused) = heap::refusing(LARGE, nth, || scene(&runtime, given));
        NTH.store(usize::MAX, Relaxed);
        assert_eq!(found, right, "{of}: {nth}");
        let left = runtime.memory().expect("there is a budget");
        assert_eq!(left, (BUDGET, 0), "{of}: {nth}");
        if !was_refused {
            // Plans and what threads keep may be made anew, but nothing that grows with how often it was refused.
            let kept = heap::live().saturating_sub(before);
            assert!(kept < 200_000, "{of}: {kept} bytes stay");
            return nth;
        }
    }
    unreachable!("a scene ends")
}

/// The same of a graph that is built.
fn refuse_graph(door: Door, build: impl Fn() -> Result<Csr, CsrError>) -> usize {
    for nth in 0.. {
        NTH.store(nth, Relaxed);
        let build = || build().map(drop);
        let ((result, _), was_refused) = heap::refusing(LARGE, nth, || noted(door, build));
        NTH.store(usize::MAX, Relaxed);
        if !was_refused {
            assert_eq!(result, Ok(()));
            return nth;
        }
        assert!(matches!(result, Err(CsrError::Memory { .. })), "{nth}");
    }
    unreachable!("a graph is built")
}

#[test]
fn a_refused_allocation_ends_the_run_and_nothing_else() {
    let _alone = heap::alone();
    let given = Given::new();
    let mut refused = 0;
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let pool = pool.build().expect("there are threads");
        let native = Runtime::native();
        for (name, scene) in SCENES {
            refused += pool.install(|| refuse_each(&native, name, scene, &given));
        }
    }
    let vir0 = Runtime::vir0();
    for (name, scene) in SCENES {
        refused += refuse_each(&vir0, name, scene, &given);
    }
    let edges: Vec<(u32, u32)> = (1..NODES).map(|v| (v / 2, v)).collect();
    let build = || Csr::from_edges(NODES as usize, &edges);
    let append = || given.graph.append(&edges).map(|(graph, _)| graph);
    refused += refuse_graph(Door::FromEdges, build) + refuse_graph(Door::Append, append);
    let counts = |told: &Told| [&told.refused, &told.errors].map(|n| n.load(Relaxed));
    println!("\n| asked by | refused | ended in an error |\n| --- | ---: | ---: |");
    for (door, name) in Door::ALL {
        let [refused, errors] = counts(&TOLD[door as usize]);
        println!("| {name} | {refused} | {errors} |");
        // A run into the result of one like it asks for nothing.
        assert!(refused >= errors, "{name}");
        assert_eq!(errors == 0, door == Door::RunInto, "{name}");
    }
    let [by_doors, errors]: [usize; 2] =
        [0, 1].map(|n| TOLD.iter().map(|told| counts(told)[n]).sum());
    assert_eq!(by_doors, refused, "each was asked for by a door");
    println!("\nfaults.cpu: {refused} injected, {refused} survived, of which {errors} in an error");
    // Others are taken only to be quicker.
    assert!(
        refused > 300 && errors > refused / 2,
        "{errors} of {refused}"
    );
}

#[test]
fn a_graph_that_there_is_no_memory_for_is_an_error() {
    let _alone = heap::alone();
    let edges: Vec<(u32, u32)> = (1..NODES).map(|v| (v / 2, v)).collect();
    let build = || Csr::from_edges_indexed(NODES as usize, &edges);
    let graph = build().expect("edges name nodes").0;
    let built = |nth| heap::refusing(LARGE, nth, || build().map(drop));
    let appended = |nth| heap::refusing(LARGE, nth, || graph.append(&edges).map(drop));
    let memory = |edges| {
        let nodes = NODES as usize;
        let needed_bytes = 4 * (nodes as u64 + 1) + 8 * edges as u64;
        Err(CsrError::Memory {
            nodes,
            edges,
            needed_bytes,
        })
    };
    // Offsets, targets and origins.
    for nth in 0..3 {
        assert_eq!(built(nth), (memory(edges.len()), true), "{nth}");
    }
    assert_eq!(built(3), (Ok(()), false));
    // All edges before these.
    for nth in 0..4 {
        assert_eq!(appended(nth), (memory(2 * edges.len()), true), "{nth}");
    }
    assert_eq!(appended(4), (Ok(()), false));
    let empty = heap::starved_from(1 << 30, || Csr::from_edges(4_000_000_000, &[]).map(drop));
    let error = empty.expect_err("16 GB are refused");
    assert_eq!(
        error.to_string(),
        "no memory is left for a graph of 4000000000 nodes and 0 edges, 16000000004 bytes"
    );
}
