//! What PLAN says that a pass takes, what a session asks for, what it is counted to hold, and what a budget of one byte
//! less says: side by side for passes that use everything that they ask for, and for others, as a table:
//!
//! ```text
//! cargo test -p vyre --test budgets -- --nocapture side_by_side
//! ```
//!
//! With `--ignored` behind it, the table is that of a GPU.

use vyre::Error;
use vyre::RoutePolicy;
use vyre::core::dsl::error::RunError;
use vyre::core::plan::budget::Backend;
use vyre::core::plan::show;
use vyre::core::vir0::module::Program;
use vyre::cuda::Cuda;
use vyre::cuda::fake::{Fake, Transcript};
use vyre::prelude::*;
use vyre_tests::graphs::{chains, edgeless, wide};
use vyre_tests::heap::{self, alone};
use vyre_tests::held::{BESIDE, MostAtOnce, held_by};
use vyre_tests::passes::{bfs, doubled, flat, in_parts, rowed};
use vyre_tests::random::Random;

#[global_allocator]
static HEAP: heap::Heap = heap::Heap;

/// Nodes of the graphs: one more than memory that doubles has room for, so that it is there twice in the end.
const NODES: usize = (1 << 16) + 1;

/// One item for each node.
#[wave_graph]
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
#[wave_graph]
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
#[wave_graph]
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
#[wave_graph]
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

/// Opens a session and runs it: the program, and how much of the runtime's budget the session asked for, and had after the
/// run. Where there is more, a run takes room for what makes it faster.
type Opens = Box<dyn Fn(&Runtime) -> Result<(Program, [u64; 2]), Error>>;

/// A pass on two graphs.
struct Subject {
    name: &'static str,
    /// It is built to use everything that it asks for.
    is_full: bool,
    /// Nodes and edges of the large graph.
    sizes: [usize; 2],
    large: Opens,
    /// With a graph of one node.
    small: Opens,
}

/// Of a pass: its arguments, the large graph, and its topology of a graph and of what else is given for that.
macro_rules! subject {
    ($pass:ident, $run:expr, $is_full:literal, $graph:expr, $give:expr, |$of:ident, $given:ident| $topology:expr) => {{
        let graph = $graph;
        let sizes = [graph.node_count(), graph.edge_count()];
        let opens = |$of: Csr| -> Opens {
            let $given = $give(&$of);
            Box::new(move |runtime| {
                let mut session = $pass::Session::new(runtime, $topology)?;
                let granted = || runtime.memory().expect("there is a budget").1;
                let asked = granted();
                session.run($run)?;
                Ok((session.program().clone(), [asked, granted()]))
            })
        };
        Subject {
            name: stringify!($pass),
            is_full: $is_full,
            sizes,
            small: opens(edgeless(1)),
            large: opens(graph),
        }
    }};
    ($pass:ident, $run:expr, $is_full:literal, $graph:expr) => {
        subject!(
            $pass,
            $run,
            $is_full,
            $graph,
            |_: &Csr| (),
            |graph, _given| &graph
        )
    };
    ($pass:ident) => {
        subject!($pass, $pass::Run {}, true, edgeless(NODES))
    };
}

fn subjects() -> Vec<Subject> {
    let kinds = |graph: &Csr| vec![0x0924_9249; 8 * graph.node_count()];
    let fives = |graph: &Csr| {
        let nodes = graph.node_count() as u32;
        Parts::from_sizes(vec![nodes.min(500); nodes.div_ceil(500) as usize]).expect("they are few")
    };
    vec![
        subject!(listed),
        subject!(repeated),
        subject!(distinct),
        subject!(numbered),
        subject!(flat),
        subject!(
            rowed,
            rowed::Run {},
            true,
            edgeless(40_000),
            kinds,
            |graph, kinds| {
                rowed::Topology {
                    graph: &graph,
                    kinds: &kinds,
                }
            }
        ),
        // A search whose wide rounds pull, and a local fixpoint.
        subject!(bfs, bfs::Run { source: 0 }, false, wide(20_000, true)),
        subject!(
            in_parts,
            in_parts::Run {},
            false,
            chains(20_000, 500),
            fives,
            |graph, parts| {
                in_parts::Topology {
                    graph: &graph,
                    parts: &parts,
                }
            }
        ),
    ]
}

/// What PLAN says that a session takes at most, where the limits are these nodes and edges.
fn plan_of(program: &Program, [nodes, edges]: [usize; 2], backend: Backend) -> u64 {
    let mut program = program.clone();
    program.manifest.max_nodes = Some(nodes as u64);
    program.manifest.max_edges = Some(edges as u64);
    let text = show::text(&program);
    let on = format!("  on {} ", backend.name());
    let line = text.lines().find(|line| line.starts_with(&on));
    let line = line.expect("PLAN has a line for it");
    let (_, most) = line.split_once("at most ").expect("the limits are there");
    let (most, _) = most.split_once(" B").expect("it is in bytes");
    most.replace('_', "").parse().expect("it is a number")
}

/// A budget of exactly what a session asks for is met, and one byte less is refused: what is needed then, and available.
fn refused_below(runtime: &Runtime, granted: u64, subject: &Subject) -> [u64; 2] {
    let exactly = runtime.clone().with_memory(granted);
    let (_, again) = (subject.large)(&exactly).expect("a budget that was asked for is met");
    assert_eq!(again, [granted; 2], "{}", subject.name);
    match (subject.large)(&runtime.clone().with_memory(granted - 1)) {
        Err(Error::Run(RunError::Memory {
            needed_bytes,
            available_bytes,
            ..
        })) => {
            assert_eq!(
                (needed_bytes, available_bytes),
                (granted, granted - 1),
                "{}",
                subject.name
            );
            [needed_bytes, available_bytes]
        }
        Err(e) => panic!("{}: {e}", subject.name),
        Ok((_, [taken, _])) => panic!("{}: {taken} of {granted} bytes were enough", subject.name),
    }
}

/// A row of the table, in bytes.
struct Row {
    plan: u64,
    session: u64,
    /// With what the run took beside.
    after_run: u64,
    counted: u64,
    /// Of the counted, what a launch on a device has for itself, whatever the graph.
    of_launches: u64,
    /// Needed and available, of a budget of one byte less.
    refused: [u64; 2],
}

impl Row {
    fn print_head() {
        println!();
        println!(
            "| pass | on | PLAN | session | after a run | counted | of launches | a byte less: needs, has |"
        );
        println!("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |");
    }

    fn print(&self, on: &str, name: &str) {
        let [needs, has] = self.refused;
        println!(
            "| {name} | {on} | {} | {} | {} | {} | {} | {needs}, {has} |",
            self.plan, self.session, self.after_run, self.counted, self.of_launches
        );
    }

    /// What is counted is what the session and its run asked for and 4 KB, and no session asks for more than the plan says.
    fn check(&self, name: &str) {
        assert!(self.session <= self.plan, "{name}");
        let most = self.after_run + self.of_launches + BESIDE as u64;
        assert!(self.counted <= most, "{name}");
    }
}

fn on_the_host(runtime: &Runtime, backend: Backend, subject: &Subject) {
    let roomy = runtime.clone().with_memory(1 << 30);
    let (program, [session, after_run]) = (subject.large)(&roomy).expect("it fits");
    let (_, counted) = held_by(|| {
        let runtime = runtime.clone().with_memory(session);
        drop((subject.large)(&runtime).expect("it fits"));
    });
    let row = Row {
        plan: plan_of(&program, subject.sizes, backend),
        session,
        after_run,
        counted: counted as u64,
        of_launches: 0,
        refused: refused_below(runtime, session, subject),
    };
    row.print(backend.name(), subject.name);
    row.check(subject.name);
    if subject.is_full {
        assert!(row.counted * 100 >= session * 99, "{}", subject.name);
    }
}

/// The program, what a session and its run ask for on a new device, and what that device allocates.
fn allocated(open: &Opens, opened: (Cuda, Transcript)) -> Result<(Program, [u64; 2], u64), Error> {
    let (cuda, transcript) = opened;
    let (program, asked) = open(&interpreting(cuda).with_memory(1 << 30))?;
    Ok((program, asked, MostAtOnce::of(&transcript).allocated))
}

fn interpreting(cuda: Cuda) -> Runtime {
    vyre_tests::on(cuda).with_route(RoutePolicy::Interpreter)
}

fn on_a_device(open: fn() -> (Cuda, Transcript), on: &str, subject: &Subject) {
    let name = subject.name;
    let (program, [session, after_run], counted) = match allocated(&subject.large, open()) {
        Ok(taken) => taken,
        // No device has local fixpoints.
        Err(e) if name == "in_parts" => return println!("| {name} | {on} | {e} |"),
        Err(e) => panic!("{name}: {e}"),
    };
    let (_, [_, least], of_least) = allocated(&subject.small, open()).expect("it fits");
    let row = Row {
        plan: plan_of(&program, subject.sizes, Backend::CUDA),
        session,
        after_run,
        counted,
        of_launches: of_least - least,
        refused: refused_below(&interpreting(open().0), session, subject),
    };
    row.print(on, name);
    row.check(name);
}

#[test]
fn side_by_side() {
    let _alone = alone();
    let native = Runtime::native_threads(1).expect("there is a thread");
    let vir0 = Runtime::vir0();
    let played = || Transcript::of_fake(&Fake::default()).expect("nothing fails");
    Row::print_head();
    for subject in subjects() {
        on_the_host(&native, Backend::Native, &subject);
        on_the_host(&vir0, Backend::Vir0, &subject);
        on_a_device(played, "cuda, played", &subject);
    }
}

#[test]
#[ignore = "needs a CUDA device"]
fn side_by_side_on_a_device() {
    let _alone = alone();
    let device = || Transcript::of_device(0).expect("a CUDA device");
    Row::print_head();
    for subject in subjects() {
        on_a_device(device, "cuda", &subject);
    }
}

/// The README's search, by a budget that the compiler takes with a warning: a device needs more.
#[wave_graph(limits(nodes = 1_000, edges = 1_000), budget = "29 kB")]
#[expect(
    deprecated,
    reason = "a budget that some targets cannot meet is such a warning"
)]
mod small {
    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        #[frontier]
        front: Frontier,
        #[output(per = node)]
        dist: u32,
        source: u32,
    }

    #[wave(nodes)]
    fn init(v: Node, source: u32, dist: &mut u32, front: &Push) {
        *dist = u32::MAX;
        if v == source {
            *dist = 0;
            front.push(v);
        }
    }

    #[fixpoint(after(init), until(front.is_empty()), max_rounds = 1_000_000)]
    mod levels {
        #[wave(edges(graph, from = front))]
        fn relax(e: Edge, round: Round, dist: &Buf<Atomic<u32>>, front: &Push) {
            if dist[e.dst].compare_exchange(u32::MAX, round + 1) {
                front.push(e.dst);
            }
        }
    }
}

#[test]
fn a_budget_that_compiles_is_met_where_the_plan_says_so() {
    let _alone = alone();
    let ring: Vec<(u32, u32)> = (0..1_000).map(|v| (v, (v + 1) % 1_000)).collect();
    let ring = Csr::from_edges(1_000, &ring).expect("they are nodes");
    let (cuda, _) = Transcript::of_fake(&Fake::default()).expect("nothing fails");
    let plan = small::PLAN.to_string();
    for (runtime, backend) in [
        (Runtime::native(), Backend::Native),
        (Runtime::vir0(), Backend::Vir0),
        (interpreting(cuda), Backend::CUDA),
    ] {
        let on = format!("  on {} ", backend.name());
        let line = plan.lines().find(|line| line.starts_with(&on));
        let line = line.expect("PLAN has a line for it");
        // The pass's own budget, and the runtime's.
        for runtime in [runtime.clone(), runtime.with_memory(29_000)] {
            let session = small::Session::new(&runtime, &ring);
            if line.ends_with(": within the budget") {
                let out = session.expect("it fits").run(small::Run { source: 0 });
                assert_eq!(out.expect("it fits").dist[999], 999);
            } else {
                assert!(line.ends_with(": over the budget"), "{line}");
                let why = session.map(drop).expect_err("it does not fit");
                assert!(matches!(why, Error::Run(RunError::Memory { .. })), "{why}");
            }
        }
        let most = if backend == Backend::CUDA {
            70_628
        } else {
            29_000
        };
        assert!(plan_of(&small::PLAN.program(), [1_000, 1_000], backend) <= most);
        assert_eq!(line.ends_with("over the budget"), backend == Backend::CUDA);
    }
}

/// A sum over as many items as a run says.
#[wave_graph]
mod ranged {
    pub(crate) struct Data {
        #[reduce(sum)]
        sum: u64,
        n: u32,
    }

    #[wave(range(n))]
    fn add(i: Index, sum: &Reduce<Sum<u64>>) {
        sum.add(u64::from(i));
    }
}

/// Runs a pass with a scalar of 0 and with a large one, which takes `more` bytes: by a budget of the session's figure,
/// and by one that has room for both.
macro_rules! scalar_takes {
    ($runtime:expr, $pass:ident, $more:expr) => {{
        let (runtime, more, n): (&Runtime, u64, u32) = ($runtime, $more, 1_000_000);
        let on = format!("{}, {}", stringify!($pass), runtime.backend());
        let open = |runtime: &Runtime| $pass::Session::new(runtime, ()).expect("it fits");
        let roomy = runtime.clone().with_memory(1 << 30);
        let session = open(&roomy);
        let (_, takes) = roomy.memory().expect("there is a budget");
        // PLAN gives no bound where a run decides.
        let plan = show::text(session.program());
        let mut targets = plan.lines().filter(|line| line.starts_with("  on "));
        assert!(targets.all(|line| !line.contains("at most")), "{plan}");
        drop(session);

        let tight = runtime.clone().with_memory(takes);
        let mut session = open(&tight);
        for n in [0, n, 0] {
            match session.run($pass::Run { n }) {
                Err(Error::Run(RunError::Memory {
                    needed_bytes,
                    available_bytes,
                    ..
                })) if n > 0 => {
                    assert!(more > 0, "{on}");
                    assert_eq!(
                        (needed_bytes, available_bytes),
                        (takes + more, takes),
                        "{on}"
                    );
                }
                ran => assert!(ran.is_ok() && (n == 0 || more == 0), "{on}"),
            }
            assert_eq!(tight.memory(), Some((takes, takes)), "{on}");
        }

        let (_, counted) = held_by(|| {
            let runtime = runtime.clone().with_memory(takes + more);
            let mut session = open(&runtime);
            session.run($pass::Run { n }).expect("there is room for it");
            assert_eq!(runtime.memory(), Some((takes + more, takes + more)), "{on}");
        });
        if runtime.cuda_device().is_none() {
            assert!(
                counted as u64 <= takes + more + BESIDE as u64,
                "{on}: {counted}"
            );
        }
    }};
}

#[test]
fn what_scalars_ask_for_comes_to_the_figure_or_the_run_is_refused() {
    let _alone = alone();
    let native = Runtime::native_threads(2).expect("there are threads");
    let (cuda, _) = Transcript::of_fake(&Fake::default()).expect("nothing fails");
    // Natively each 4,096 of a million items have a fault and a sum, or their part of a result.
    let chunks = 245 * (128 + 16);
    for (runtime, chunks) in [
        (&native, chunks),
        (&Runtime::vir0(), 0),
        (&interpreting(cuda), 0),
    ] {
        scalar_takes!(runtime, ranged, chunks);
        scalar_takes!(runtime, doubled, 4_000_000 + chunks);
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
    let cuda = vyre_tests::on(cuda).with_route(RoutePolicy::Interpreter);
    let targets = [
        (Runtime::native(), Backend::Native),
        (Runtime::vir0(), Backend::Vir0),
        (cuda, Backend::CUDA),
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
                let exact = *backend != Backend::CUDA;
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
