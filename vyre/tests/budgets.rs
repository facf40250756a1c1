//! What PLAN says that a pass takes, what a session asks for, what it is counted to hold, and what a budget of one byte
//! less says: side by side for passes that use everything that they ask for, and for others.

use std::collections::HashMap;
use std::sync::Arc;
use vyre::Error;
use vyre::RoutePolicy;
use vyre::core::dsl::error::RunError;
use vyre::core::plan::budget::Backend;
use vyre::core::vir0::module::Program;
use vyre::cuda::fake::{Fake, Transcript};
use vyre::prelude::*;
use vyre_tests::heap::{self, alone, peak_of};
use vyre_tests::random::Random;

#[global_allocator]
static HEAP: heap::Heap = heap::Heap;

/// Nodes of the graphs: one more than memory that doubles has room for, so that it is there twice in the end.
const NODES: usize = (1 << 16) + 1;
/// What a session may hold beside what it asks for.
const BESIDE: usize = 4_096;
/// The same on a device: queues, control words and the image of a pass.
const BESIDE_ON_DEVICE: usize = 1 << 20;

#[wave_graph(limits(nodes = 65_537, edges = 0))]
mod listed {
    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        #[list(capacity = node, output)]
        all: List<u64>,
    }

    #[wave(nodes)]
    fn add(v: Node, all: &Append<u64>) {
        all.append(u64::from(v));
    }
}

/// All nodes, three times.
#[wave_graph(limits(nodes = 65_537, edges = 0))]
mod repeated {
    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        #[frontier(capacity = node)]
        front: Frontier,
        #[reduce(sum)]
        swept: u64,
    }

    #[wave(nodes)]
    fn fill(v: Node, front: &Push) {
        front.push(v);
    }

    #[fixpoint(after(fill), until(round == 2), max_rounds = 3)]
    mod rounds {
        #[wave(items(front))]
        fn again(v: Node, front: &Push, swept: &Reduce<Sum<u64>>) {
            front.push(v);
            swept.add(1);
        }
    }
}

/// The same, from a frontier that drops what it holds.
#[wave_graph(limits(nodes = 65_537, edges = 0))]
mod distinct {
    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        #[frontier(unique)]
        front: Frontier,
        #[reduce(sum)]
        swept: u64,
    }

    #[wave(nodes)]
    fn fill(v: Node, front: &Push) {
        front.push(v);
    }

    #[fixpoint(after(fill), until(round == 2), max_rounds = 3)]
    mod rounds {
        #[wave(items(front))]
        fn again(v: Node, front: &Push, swept: &Reduce<Sum<u64>>) {
            front.push(v);
            front.push(v - v % 2);
            swept.add(1);
        }
    }
}

/// Items that are no nodes.
#[wave_graph(limits(nodes = 65_537, edges = 0))]
mod numbered {
    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        #[frontier(capacity = node)]
        front: Frontier<u64>,
        #[reduce(sum)]
        swept: u64,
    }

    #[wave(nodes)]
    fn fill(v: Node, front: &Push<u64>) {
        front.push(u64::from(v));
    }

    #[fixpoint(after(fill), until(round == 2), max_rounds = 3)]
    mod rounds {
        #[wave(items(front))]
        fn again(item: u64, front: &Push<u64>, swept: &Reduce<Sum<u64>>) {
            front.push(item + 1);
            swept.add(1);
        }
    }
}

#[wave_graph(limits(nodes = 65_537, edges = 0))]
mod structs {
    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node)]
        pair: (u64, u64, u8),
    }

    #[wave(nodes)]
    fn fill(v: Node, pair: &mut (u64, u64, u8)) {
        *pair = (1, u64::from(v), 2);
    }
}

#[wave_graph(limits(nodes = 65_537, edges = 0))]
mod rows {
    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        #[topology(per = node, bits = 96)]
        kinds: Bits,
        #[scratch(per = node, bits = 96)]
        seen: Bits,
        #[output(per = node)]
        ones: u32,
    }

    #[wave(nodes)]
    fn look(v: Node, kinds: &Bits, seen: &Bits) {
        if kinds.get(v, 17) {
            seen.set(v, 17);
        }
    }

    #[wave(nodes, after(look))]
    fn count(v: Node, seen: &Bits, ones: &mut u32) {
        *ones = seen.count(v);
    }
}

/// A search whose wide rounds pull.
#[wave_graph(limits(nodes = 20_000, edges = 200_000))]
mod searched {
    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        #[frontier(unique)]
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

    #[fixpoint(after(init), until(front.is_empty()), max_rounds = 1_000)]
    mod levels {
        #[wave(edges(graph, from = front))]
        fn relax(e: Edge, round: Round, dist: &Buf<Atomic<u32>>, front: &Push) {
            if dist[e.dst].compare_exchange(u32::MAX, round + 1) {
                front.push(e.dst);
            }
        }
    }
}

/// A local fixpoint.
#[wave_graph(limits(nodes = 20_000, edges = 20_000))]
mod parts {
    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        #[topology(parts_of = graph)]
        functions: Parts,
        #[output(per = node)]
        level: u32,
        #[frontier(unique)]
        front: Frontier,
    }

    #[wave(nodes)]
    fn init(v: Node, level: &mut u32, front: &Push) {
        *level = u32::MAX;
        if v.is_multiple_of(100) {
            *level = 0;
            front.push(v);
        }
    }

    #[fixpoint(per = functions, after(init), until(front.is_empty()))]
    mod levels {
        #[wave(edges(graph, from = front))]
        fn relax(e: Edge, round: Round, level: &Buf<Atomic<u32>>, front: &Push) {
            if level[e.dst].compare_exchange(u32::MAX, round + 1) {
                front.push(e.dst);
            }
        }
    }
}

/// Opens a session of a pass with its largest graph, and runs it: the program, and how much of the runtime's budget the
/// session asked for. Where there is more, a run takes room for what makes it faster.
type Opens = Box<dyn Fn(&Runtime) -> Result<(Program, u64), Error>>;

fn opens<P: vyre::core::run::pass::Pass + 'static>(
    run: impl Fn(&mut vyre::Session<P>) -> Result<(), Error> + 'static,
    new: impl Fn(&Runtime) -> Result<vyre::Session<P>, Error> + 'static,
) -> Opens {
    Box::new(move |runtime| {
        let mut session = new(runtime)?;
        let (_, granted) = runtime.memory().expect("there is a budget");
        run(&mut session)?;
        Ok((session.program().clone(), granted))
    })
}

/// By name: the pass, and whether it is built to use everything that it asks for.
fn passes() -> Vec<(&'static str, bool, Opens)> {
    let edgeless = || Csr::from_edges(NODES, &[]).expect("they are few");
    macro_rules! simple {
        ($name:ident) => {
            (
                stringify!($name),
                true,
                opens::<$name::Pass>(|session| session.run($name::Run {}).map(drop), {
                    let graph = edgeless();
                    move |runtime| $name::Session::new(runtime, &graph)
                }),
            )
        };
    }
    let wide = {
        let edges: Vec<(u32, u32)> = (0..20_000_u32)
            .flat_map(|v| (1..=5).map(move |k| (v, (v * 31 + k * k * 7_919) % 20_000)))
            .flat_map(|(a, b)| [(a, b), (b, a)])
            .collect();
        let mut edges = edges;
        edges.sort_unstable();
        Csr::from_edges(20_000, &edges).expect("they are nodes")
    };
    let functions = Parts::from_sizes([100; 200]).expect("they are few");
    let chains = {
        let inside = (0..19_999).filter(|v| v % 100 < 99);
        let edges: Vec<(u32, u32)> = inside.map(|v| (v, v + 1)).collect();
        Csr::from_edges(20_000, &edges).expect("they are nodes")
    };
    vec![
        simple!(listed),
        simple!(repeated),
        simple!(distinct),
        simple!(numbered),
        simple!(structs),
        (
            "rows",
            true,
            opens::<rows::Pass>(|session| session.run(rows::Run {}).map(drop), {
                let (graph, kinds) = (edgeless(), vec![0x0002_0000_u32; 3 * NODES]);
                move |runtime| {
                    let topology = rows::Topology {
                        graph: &graph,
                        kinds: &kinds,
                    };
                    rows::Session::new(runtime, topology)
                }
            }),
        ),
        (
            "searched",
            false,
            opens::<searched::Pass>(
                |session| {
                    let out = session.run(searched::Run {})?;
                    assert!(out.dist.iter().all(|&d| d < 100));
                    Ok(())
                },
                move |runtime| searched::Session::new(runtime, &wide),
            ),
        ),
        (
            "parts",
            false,
            opens::<parts::Pass>(
                |session| {
                    let out = session.run(parts::Run {})?;
                    assert_eq!(out.level[19_999], 99);
                    Ok(())
                },
                move |runtime| {
                    let topology = parts::Topology {
                        graph: &chains,
                        functions: &functions,
                    };
                    parts::Session::new(runtime, topology)
                },
            ),
        ),
    ]
}

/// The most bytes that were allocated on a device at once, by what it was asked for.
fn most_on_device(transcript: &Transcript) -> usize {
    let (mut there, mut now, mut most) = (HashMap::new(), 0, 0);
    for line in transcript.text().lines() {
        if let Some(what) = line.strip_prefix("free ") {
            let what = what.split(" + ").next().expect("it has a name").to_owned();
            now -= there.remove(&what).unwrap_or(0);
        } else if let Some((what, bytes)) = line.split_once(": ")
            && what.starts_with("allocation ")
            && let Some(bytes) = bytes.strip_suffix(" bytes")
        {
            let bytes: usize = bytes.parse().expect("it is a number");
            there.insert(what.to_owned(), bytes);
            now += bytes;
            most = most.max(now);
        }
    }
    most
}

/// A budget of exactly what a session asks for is met, and one byte less is refused, with both figures.
fn is_refused_below(runtime: &Runtime, granted: u64, open: &Opens, name: &str) {
    let exactly = runtime.clone().with_memory(granted);
    let (_, again) = open(&exactly).expect("a budget that was asked for is met");
    assert_eq!(again, granted, "{name}");
    match open(&runtime.clone().with_memory(granted - 1)) {
        Err(Error::Run(RunError::Memory {
            needed_bytes,
            available_bytes,
            ..
        })) => assert_eq!(
            (needed_bytes, available_bytes),
            (granted, granted - 1),
            "{name}"
        ),
        Err(e) => panic!("{name}: {e}"),
        Ok((_, taken)) => panic!("{name}: {taken} of {granted} bytes were enough"),
    }
}

/// A row: what PLAN says, what the session asks for, what was counted.
fn shown(on: &str, name: &str, plan: u64, granted: u64, counted: usize) {
    println!("{on:>6} {name:>9}: PLAN {plan:>9}, session {granted:>9}, counted {counted:>9}");
}

fn on_the_host(runtime: &Runtime, backend: Backend) {
    let _alone = alone();
    for (name, full, open) in passes() {
        let (program, granted) = open(&runtime.clone().with_memory(1 << 30)).expect("it fits");
        let runtime_of = || runtime.clone().with_memory(granted);
        // The plan for this budget is the runtime's.
        drop(open(&runtime_of()).expect("it fits"));
        let (_, counted) = peak_of(|| drop(open(&runtime_of()).expect("it fits")));
        let plan = backend.takes(&program).expect("it is a number");
        shown(backend.name(), name, plan.separate_bytes, granted, counted);
        assert!(granted <= plan.separate_bytes, "{name}");
        assert!(counted <= granted as usize + BESIDE, "{name}");
        if full {
            assert!(counted as u64 * 100 >= granted * 99, "{name}");
        }
        is_refused_below(runtime, granted, &open, name);
    }
}

#[test]
fn on_native_budgets_are_met_and_used() {
    let runtime = Runtime::native_threads(1).expect("there is a thread");
    on_the_host(&runtime, Backend::Native);
}

#[test]
fn on_vir0_budgets_are_met_and_used() {
    on_the_host(&Runtime::vir0(), Backend::Vir0);
}

#[test]
fn on_a_played_device_budgets_are_met() {
    let _alone = alone();
    for (name, _, open) in passes() {
        let (cuda, transcript) = Transcript::of_fake(&Fake::default()).expect("nothing fails");
        let runtime = Runtime::on(Arc::new(cuda)).with_route(RoutePolicy::Interpreter);
        let (program, granted) = match open(&runtime.clone().with_memory(1 << 30)) {
            Ok(taken) => taken,
            // No device has local fixpoints.
            Err(e) if name == "parts" => {
                println!("  cuda {name:>9}: {e}");
                continue;
            }
            Err(e) => panic!("{name}: {e}"),
        };
        let counted = most_on_device(&transcript);
        let plan = Backend::Cuda.takes(&program).expect("it is a number");
        shown("cuda", name, plan.separate_bytes, granted, counted);
        assert!(granted <= plan.separate_bytes, "{name}");
        assert!(counted <= granted as usize + BESIDE_ON_DEVICE, "{name}");
        is_refused_below(&runtime, granted, &open, name);
    }
}

/// A loop over a node's edges, which a device shares out among lanes where there are many.
#[wave_graph(limits(nodes = 3_000, edges = 9_000))]
mod lifted {
    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        #[topology(reverse_of = graph)]
        back: Csr,
        #[topology(per = edge(graph))]
        weight: u32,
        #[frontier]
        front: Frontier,
        #[frontier(unique)]
        changed: Frontier,
        #[list(capacity = node, output)]
        met: List<(u32, u64)>,
        #[output(per = node)]
        near: u32,
        #[reduce(exact_sum)]
        sum: f64,
    }

    #[wave(nodes)]
    fn first(
        v: Node,
        graph: &Csr,
        weight: &Buf<u32>,
        near: &mut u32,
        front: &Push,
        sum: &Reduce<ExactSum<f64>>,
    ) {
        let mut all = 0;
        for e in graph.edges(v) {
            all += weight[e];
        }
        *near = all;
        front.push(v);
        sum.add(f64::from(all));
    }

    #[wave(edges(back, from = front), after(first))]
    fn second(e: Edge, changed: &Push) {
        changed.push(e.dst);
    }

    #[wave(items(changed), after(second))]
    fn third(v: Node, met: &Append<(u32, u64)>) {
        met.append((v, 1));
    }
}

/// A graph of some shape within the limits of `lifted`.
fn some_graph(random: &mut Random) -> Csr {
    let nodes = 1 + random.below(3_000);
    let many = random.below(9_001);
    let shape = random.below(4);
    let mut edges: Vec<(u32, u32)> = (0..many)
        .map(|e| match shape {
            // A star, a few hubs, a chain, anything.
            0 => (0, e % nodes),
            1 => (random.below(3) % nodes, e % nodes),
            2 => (e % nodes, (e + 1) % nodes),
            _ => {
                let [a, b] = [(); 2].map(|()| random.below(nodes));
                (a, b)
            }
        })
        .collect();
    edges.sort_unstable();
    Csr::from_edges(nodes as usize, &edges).expect("they are nodes")
}

#[test]
fn plans_bound_what_sessions_ask_for_with_every_graph_within_the_limits() {
    let _alone = alone();
    let mut random = Random(29);
    let (cuda, _) = Transcript::of_fake(&Fake::default()).expect("nothing fails");
    let cuda = Runtime::on(Arc::new(cuda)).with_route(RoutePolicy::Interpreter);
    let targets = [
        (Runtime::native(), Backend::Native),
        (Runtime::vir0(), Backend::Vir0),
        (cuda, Backend::Cuda),
    ];
    let mut most = [0; 3];
    let mut largest: Vec<Csr> = (0..60).map(|_| some_graph(&mut random)).collect();
    let star: Vec<(u32, u32)> = (0..9_000).map(|e| (0, e % 3_000)).collect();
    largest.push(Csr::from_edges(3_000, &star).expect("they are nodes"));
    for graph in &largest {
        let weight = vec![1; graph.edge_count()];
        for ((runtime, backend), most) in targets.iter().zip(&mut most) {
            let runtime = runtime.clone().with_memory(1 << 30);
            let topology = lifted::Topology {
                graph,
                weight: &weight,
            };
            let session = lifted::Session::new(&runtime, topology).expect("it fits");
            let (_, granted) = runtime.memory().expect("there is a budget");
            let plan = backend.takes(session.program()).expect("it is a number");
            assert!(granted <= plan.separate_bytes, "{}", backend.name());
            *most = granted.max(*most);
            // On a CPU sizes decide, so the largest graph takes all of it.
            if graph.node_count() == 3_000 && graph.edge_count() == 9_000 {
                let exact = *backend != Backend::Cuda;
                assert!(
                    !exact || granted == plan.separate_bytes,
                    "{}",
                    backend.name()
                );
            }
        }
    }
    println!("{most:?}");
}
