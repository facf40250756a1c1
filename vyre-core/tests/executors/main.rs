//! The CPU executors, driven by a pass whose expansion is written by hand.

/// A pass of functions alone: runs are given as arguments, and results left, as executors take and make them.
macro_rules! bare_pass {
    ($pass:ident) => {
        struct $pass;

        const _: () = {
            use vyre_core::cpu::native;
            use vyre_core::run::args::{Args, TopologyArgs};
            use vyre_core::run::backend::OpenNative;
            use vyre_core::run::outcome::Outcome;
            use vyre_core::vir0::module::Parts;

            impl vyre_core::run::pass::Pass for $pass {
                type Topology<'a> = TopologyArgs<'a>;
                type Run<'a> = Args<'a>;
                type Output = Outcome;
                const PARTS: Parts = Parts {
                    skeleton: b"",
                    constants: &[],
                    sites: &[],
                    max_rounds: &[],
                    rooms: &[],
                };
                const NATIVE: OpenNative = native::open::<Self>;

                fn topology<'a>(topology: &Self::Topology<'a>) -> TopologyArgs<'a> {
                    topology.clone()
                }
                fn args<'a>(run: &Self::Run<'a>) -> Args<'a> {
                    run.clone()
                }
                fn exchange(results: &mut Outcome, out: &mut Outcome) {
                    std::mem::swap(results, out);
                }
            }
        };
    };
}

mod bfs;
mod bits;
mod lists;
mod probe;
mod records;
mod updates;

use std::collections::VecDeque;
use std::sync::Arc;
use vyre_core::compile::effects::uses;
use vyre_core::compile::ir::Body;
use vyre_core::cpu::native::NativeExecutor;
use vyre_core::cpu::vir0::Vir0Executor;
use vyre_core::dsl::Bits;
use vyre_core::dsl::columns::Element;
use vyre_core::dsl::csr::Csr;
use vyre_core::dsl::error::RunError;
use vyre_core::dsl::record::Record;
use vyre_core::run::args::TopologyArgs;
use vyre_core::run::backend::Executor;
use vyre_core::run::outcome::Outcome;
use vyre_core::run::pass::Pass as _;
use vyre_core::vir0::module::{Access, BufferId, Domain, Extent, ListId, Mode, Resource};
use vyre_core::vir0::trap::TrapKind;

/// How large a test is, and how large under Miri (`scripts/miri`), which takes a thousand times as long.
const fn size(usual: u32, under_miri: u32) -> u32 {
    if cfg!(miri) { under_miri } else { usual }
}

/// One graph and nothing else.
fn on_graph(graph: &Csr) -> TopologyArgs<'_> {
    TopologyArgs {
        graphs: vec![graph],
        columns: vec![],
        scalars: vec![],
    }
}

/// Results as they are asked for here: once, each by its type.
trait Take {
    fn take<T: Element>(&mut self, id: BufferId) -> Vec<T>;
    fn take_bits(&mut self, id: BufferId) -> Bits;
    fn take_list<T: Record>(&mut self, id: ListId) -> Vec<T>;
}

impl Take for Outcome {
    fn take<T: Element>(&mut self, id: BufferId) -> Vec<T> {
        let mut values = Vec::new();
        self.exchange(id, &mut values);
        values
    }

    fn take_bits(&mut self, id: BufferId) -> Bits {
        let mut bits = Bits::default();
        self.exchange_bits(id, &mut bits);
        bits
    }

    fn take_list<T: Record>(&mut self, id: ListId) -> Vec<T> {
        let mut items = Vec::new();
        self.exchange_list(id, &mut items);
        items
    }
}

/// What a wave lists: what its body uses, and what its sweep reads.
fn accesses(body: &Body, domain: Domain) -> Vec<Access> {
    let swept = match domain {
        Domain::Once | Domain::Range(_) | Domain::Nodes => vec![],
        Domain::Items(f) => vec![Resource::from(f)],
        Domain::ListItems(l, _) => vec![Resource::from(l)],
        Domain::Edges(t) => vec![Resource::Topology(t)],
        Domain::EdgesFrom(t, f) => vec![Resource::Topology(t), Resource::from(f)],
    };
    let read = |resource| Access {
        resource,
        mode: Mode::Read,
    };
    let mut accesses: Vec<Access> = uses(body)
        .into_iter()
        .map(|u| Access {
            resource: u.resource,
            mode: u.mode,
        })
        .collect();
    for resource in swept {
        if accesses.iter().all(|a| a.resource != resource) {
            accesses.push(read(resource));
        }
    }
    accesses.sort_unstable();
    accesses
}

fn executors(
    graph: &Csr,
    max_rounds: u64,
    capacity: Extent,
) -> [(&'static str, Box<dyn Executor>); 2] {
    let program = Arc::new(bfs::program(max_rounds, capacity));
    assert_eq!(vyre_core::vir0::verify::verify(&program), Ok(()));
    let topology: TopologyArgs<'_> = bfs::Pass::topology(&graph.into());
    let native = NativeExecutor::new::<bfs::Pass>(
        Arc::clone(&program),
        &topology,
        vyre_core::plan::footprint::Allocation::Separate,
    );
    let vir0 = Vir0Executor::new(
        program,
        &topology,
        vyre_core::plan::footprint::Allocation::Separate,
    );
    [
        ("native", Box::new(native.expect("fits"))),
        ("vir0", Box::new(vir0.expect("fits"))),
    ]
}

fn queue_bfs(graph: &Csr, source: u32) -> Vec<u32> {
    let mut dist = vec![u32::MAX; graph.node_count()];
    dist[source as usize] = 0;
    let mut queue = VecDeque::from([source]);
    while let Some(v) = queue.pop_front() {
        for w in graph.neighbors(v) {
            if dist[w as usize] == u32::MAX {
                dist[w as usize] = dist[v as usize] + 1;
                queue.push_back(w);
            }
        }
    }
    dist
}

fn random_graph(nodes: u32, edges: u32, mut seed: u64) -> Csr {
    let mut next = || {
        seed = seed
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (seed >> 33) as u32 % nodes
    };
    let edges: Vec<_> = (0..edges).map(|_| (next(), next())).collect();
    Csr::from_edges(nodes as usize, &edges).expect("edges name nodes")
}

#[test]
fn distances_are_those_of_a_queue_on_every_executor() {
    let large = (size(50_000, 1_000), size(400_000, 9_000));
    for (nodes, edges) in [(1, 0), (10, 20), (1_000, 3_000), large] {
        let graph = random_graph(nodes, edges, 7);
        for (name, mut executor) in executors(&graph, 1_000_000, Extent::NodesPlusEdges) {
            for source in [0, nodes / 2] {
                let expected = queue_bfs(&graph, source);
                let mut outcome = executor
                    .run(&bfs::Pass::args(&bfs::Run { source }))
                    .expect("runs");
                let mut out = bfs::Output::default();
                bfs::Pass::exchange(&mut outcome, &mut out);
                let depth = expected.iter().copied().filter(|&d| d != u32::MAX).max();
                assert_eq!(out.dist, expected, "{name} {nodes}");
                assert_eq!(
                    out.report.rounds,
                    [u64::from(depth.unwrap_or(0)) + 1],
                    "{name}"
                );
            }
        }
    }
}

#[test]
fn an_overflowed_frontier_and_a_round_limit_stop_the_run_and_the_session_goes_on() {
    // A star: 9 leaves wait after round 0. Then a path of 4 nodes.
    let mut edges: Vec<(u32, u32)> = (1..10).map(|leaf| (0, leaf)).collect();
    edges.extend([(10, 11), (11, 12), (12, 13)]);
    let graph = Csr::from_edges(14, &edges).expect("edges name nodes");
    for (name, mut executor) in executors(&graph, 3, Extent::Fixed(8)) {
        let mut run = |source| executor.run(&bfs::Pass::args(&bfs::Run { source }));
        let Err(RunError::Trap(trap)) = run(0) else {
            panic!("{name} overflows");
        };
        assert_eq!(
            (trap.kind, trap.index, trap.len),
            (TrapKind::FrontierOverflow, 9, 8)
        );
        assert_eq!(
            (trap.kernel.as_str(), trap.item, trap.site.line),
            ("relax", None, 3)
        );
        let Err(RunError::Trap(trap)) = run(10) else {
            panic!("{name} needs more rounds");
        };
        assert_eq!((trap.kind, trap.len), (TrapKind::RoundLimit, 3));
        assert_eq!(
            (trap.kernel.as_str(), trap.item, trap.site.line),
            ("levels", None, 5)
        );
        assert_eq!(run(11).expect("runs").report.rounds, [3]);
    }
}
