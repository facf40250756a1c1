//! A pass without bytecode whose waves show what the native executor sweeps, and fail on demand.

use crate::Take as _;
use std::sync::Arc;
use vyre_core::cpu::native::{Functions, NativeExecutor, Sweep, Until};
use vyre_core::dsl::columns::Slice;
use vyre_core::dsl::csr::Csr;
use vyre_core::dsl::error::RunError;
use vyre_core::dsl::{Atomic, Buf, Edge, Push, Reduce, Sum};
use vyre_core::run::args::Args;
use vyre_core::run::backend::Executor;
use vyre_core::run::outcome::Outcome;
use vyre_core::vir0::isa::{Op, Word};
use vyre_core::vir0::module::{
    Buffer, BufferId, Domain, Extent, FrontierId, ItemRows, Kernel, KernelId, Program, Queue,
    ReduceOp, Reduction, ReductionId, Role, ScalarId, ScalarParam, Step, Topology, TopologyId,
    Wave, WaveId,
};
use vyre_core::vir0::scalar::{Scalar, ScalarType};
use vyre_core::vir0::trap::TrapKind;

/// Outputs, by buffer id; `LOADS` is an input.
const BY_ITEM: u16 = 0;
const BY_UNIQUE_ITEM: u16 = 1;
const BY_ACTIVE_EDGE: u16 = 2;
const ENDS: u16 = 3;
const BY_INDEX: u16 = 4;
const LOADS: u16 = 5;
/// Scalars.
const FAULT: u16 = 0;
const RANGE: u16 = 1;

fn seed(v: u32, front: &Push, unique: &Push) {
    if v.is_multiple_of(3) {
        for _ in 0..2 {
            front.push(v);
            unique.push(v);
        }
    }
}

fn count_active(e: Edge, hits: &Buf<Atomic<u32>>, checksum: &Reduce<Sum<u64>>) {
    hits[e.index].fetch_add(1);
    checksum.add(u64::from(e.src) << 32 | u64::from(e.dst));
}

/// Line of the first fault of `fail`.
const FIRST_FAULT_LINE: u32 = line!() + 9;

/// Items 5 and up fail.
fn fail(v: u32, fault: u32, loads: &Buf<f32>, front: &Push, g: &Csr) -> f32 {
    let (nothing, no_int) = (v >> 31, (v >> 31) as i32);
    if v < 5 {
        return 0.0;
    }
    match fault {
        1 => loads[v + 1_000_000],
        2 => ((), front.push(v + 2_000_000), 0.0).2,
        3 => (v / nothing) as f32,
        4 => ((i32::MIN + no_int) / (no_int - 1)) as f32,
        5 => ((), assert!(nothing == 1), 0.0).2,
        6 => g.degree(v + 3_000_000) as f32,
        7 => g.target(v + 4_000_000) as f32,
        8 => panic!("item {v} gives up"),
        _ => 0.0,
    }
}

bare_pass!(Probe);

impl Functions for Probe {
    fn wave(cx: &Sweep<'_>) {
        match cx.wave().0 {
            0 => cx.nodes((), (cx.push(0), cx.push(1)), |lane, (front, unique)| {
                seed(lane.index, front, unique);
            }),
            1 => {
                let hits = cx.atomic::<u32>(BY_ITEM);
                let hits = hits.view();
                cx.items((), (), |lane, ()| {
                    hits[lane.index].fetch_add(1);
                });
            }
            2 => cx.items(
                (),
                (
                    cx.own_mut::<u32>(BY_UNIQUE_ITEM),
                    cx.own::<f32>(LOADS),
                    cx.reduce::<Sum<f32>>(0),
                ),
                |_, (hits, load, total)| {
                    *hits += 1;
                    total.add(*load);
                },
            ),
            3 => {
                let hits = cx.atomic::<u32>(BY_ACTIVE_EDGE);
                let hits = hits.view();
                cx.edges_from((), (cx.reduce::<Sum<u64>>(1),), |lane, (checksum,)| {
                    count_active(lane.edge(), hits, checksum);
                });
            }
            4 => cx.edges((), (cx.own_mut::<u64>(ENDS),), |lane, (ends,)| {
                *ends = u64::from(lane.src) << 32 | u64::from(lane.dst);
            }),
            5 => cx.range((), (cx.own_mut::<bool>(BY_INDEX),), |lane, (hit,)| {
                *hit = !*hit && lane.index != 1;
            }),
            6 => {
                let loads = cx.read::<f32>(LOADS);
                let (loads, g, fault) = (loads.view(), cx.csr(0), cx.scalar::<u32>(FAULT));
                cx.items((), (cx.push(0),), |lane, (front,)| {
                    fail(lane.index, fault, loads, front, g);
                });
            }
            _ => unreachable!(),
        }
    }

    fn until(_: &Until<'_>) -> bool {
        unreachable!("there is no fixpoint")
    }
}

fn program() -> Program {
    let (g, front, unique) = (TopologyId(0), FrontierId(0), FrontierId(1));
    let range = Extent::Scalar(ScalarId(RANGE));
    let domains = [
        ("seed", Domain::Nodes),
        ("by_item", Domain::Items(front)),
        ("by_unique_item", Domain::Items(unique)),
        ("by_active_edge", Domain::EdgesFrom(g, front)),
        ("ends", Domain::Edges(g)),
        ("by_index", Domain::Range(range)),
        ("fail", Domain::Items(front)),
    ];
    let buffer = |name: &str, scalar, extent, role| Buffer {
        name: name.to_owned(),
        scalar,
        extent,
        role,
        init: None,
        reset: None,
    };
    let frontier = |name: &str, unique, capacity| Queue {
        fields: vec![],
        name: name.to_owned(),
        capacity,
        unique,
        stays: false,
        owner: None,
        output: false,
        reset: None,
    };
    let reduction = |name: &str, scalar| Reduction {
        name: name.to_owned(),
        op: ReduceOp::Sum,
        scalar,
        owner: None,
        output: true,
    };
    let kernel = |name: &str| Kernel {
        name: name.to_owned(),
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
    let wave = |(id, (name, domain)): (u16, &(&str, Domain))| Wave {
        name: (*name).to_owned(),
        kernel: KernelId(id),
        domain: *domain,
        accesses: vec![],
        fixpoint: None,
        after: vec![],
    };
    Program {
        name: "probe".to_owned(),
        topologies: vec![Topology {
            name: "g".to_owned(),
            reverse_of: None,
        }],
        buffers: vec![
            buffer("by_item", Scalar::U32, Extent::Nodes, Role::Output),
            buffer("by_unique_item", Scalar::U32, Extent::Nodes, Role::Output),
            buffer(
                "by_active_edge",
                Scalar::U32,
                Extent::Edges(g),
                Role::Output,
            ),
            buffer("ends", Scalar::U64, Extent::Edges(g), Role::Output),
            buffer("by_index", Scalar::Bool, range, Role::Output),
            buffer("loads", Scalar::F32, Extent::Nodes, Role::Input),
        ],
        frontiers: vec![
            frontier("front", false, Extent::NodesPlusEdges),
            frontier("unique", true, Extent::Nodes),
        ],
        reductions: vec![
            reduction("total", Scalar::F32),
            reduction("checksum", Scalar::U64),
        ],
        scalars: ["fault", "range"]
            .map(|name| ScalarParam {
                name: name.to_owned(),
                scalar: Scalar::U32,
            })
            .to_vec(),
        kernels: domains.iter().map(|(name, _)| kernel(name)).collect(),
        waves: (0..).zip(&domains).map(wave).collect(),
        schedule: [Step::Wave(WaveId(0)), Step::Barrier]
            .into_iter()
            .chain((1..7).map(|w| Step::Wave(WaveId(w))))
            .chain([Step::End])
            .collect(),
        ..Program::default()
    }
}

/// Every node has an edge to the next two, node 0 to all others.
fn wheel(nodes: u32) -> Csr {
    let spokes = (1..nodes).map(|v| (0, v));
    let rim = (1..nodes).flat_map(|v| [(v, (v + 1) % nodes), (v, (v + 2) % nodes)]);
    let edges: Vec<_> = spokes.chain(rim).collect();
    Csr::from_edges(nodes as usize, &edges).expect("edges name nodes")
}

fn run(graph: &Csr, threads: usize, fault: u32) -> Result<Outcome, RunError> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .expect("a pool starts");
    let loads: Vec<f32> = (0..graph.node_count())
        .map(|v| 1.0 / (v as f32 + 1.0))
        .collect();
    let args = Args {
        scalars: vec![fault.into(), 20_000],
        inputs: vec![(BufferId(LOADS), Slice::F32(&loads))],
    };
    let topology = crate::on_graph(graph);
    let mut executor = NativeExecutor::new::<Probe>(
        Arc::new(program()),
        &topology,
        vyre_core::plan::footprint::Allocation::Separate,
    )?;
    pool.install(|| {
        if fault == 0 {
            // What a run leaves behind does not show in the next one.
            executor.run(&args)?;
        }
        executor.run(&args)
    })
}

#[test]
fn every_domain_visits_each_item_once_on_any_number_of_threads() {
    for nodes in [7, crate::size(30_000, 9_000)] {
        let graph = wheel(nodes);
        let active = |v: u32| u32::from(v.is_multiple_of(3));
        let sources: Vec<u32> = (0..nodes)
            .flat_map(|v| graph.edges(v).iter().map(move |_| v))
            .collect();
        let ends: Vec<u64> = sources
            .iter()
            .zip(graph.targets())
            .map(|(&s, &t)| u64::from(s) << 32 | u64::from(t))
            .collect();
        let checksum = ends
            .iter()
            .zip(&sources)
            .map(|(&e, &s)| e.wrapping_mul(2 * u64::from(active(s))))
            .fold(0, u64::wrapping_add);
        let mut totals = Vec::new();
        for threads in [1, 2, 5] {
            let mut out = run(&graph, threads, 0).expect("runs");
            let by_item: Vec<u32> = (0..nodes).map(|v| 2 * active(v)).collect();
            let once: Vec<u32> = (0..nodes).map(active).collect();
            let by_edge: Vec<u32> = sources.iter().map(|&s| 2 * active(s)).collect();
            assert_eq!(out.take::<u32>(BufferId(BY_ITEM)), by_item);
            assert_eq!(out.take::<u32>(BufferId(BY_UNIQUE_ITEM)), once);
            assert_eq!(out.take::<u32>(BufferId(BY_ACTIVE_EDGE)), by_edge);
            assert_eq!(out.take::<u64>(BufferId(ENDS)), ends);
            let by_index = out.take::<bool>(BufferId(BY_INDEX));
            assert_eq!(by_index.len(), 20_000);
            assert!((0..).zip(by_index).all(|(i, hit)| hit == (i != 1)));
            assert_eq!(out.reduction::<u64>(ReductionId(1)), checksum);
            totals.push(out.reduction::<f32>(ReductionId(0)).to_bits());
        }
        assert!(totals.windows(2).all(|t| t[0] == t[1]), "{totals:?}");
    }
}

#[test]
fn a_trap_says_what_where_and_at_which_item() {
    let graph = wheel(30_000);
    let edges = graph.edge_count() as u64;
    for (fault, kind, index, len) in [
        (1, TrapKind::IndexOutOfBounds, 1_000_006, 30_000),
        (2, TrapKind::IndexOutOfBounds, 2_000_006, 30_000),
        (3, TrapKind::DivideByZero, 0, 0),
        (4, TrapKind::DivideOverflow, 0, 0),
        (5, TrapKind::Assert, 0, 0),
        (6, TrapKind::IndexOutOfBounds, 3_000_006, 30_000),
        (7, TrapKind::IndexOutOfBounds, 4_000_006, edges),
        (8, TrapKind::Panic, 0, 0),
    ] {
        for threads in [1, 3] {
            let Err(RunError::Trap(trap)) = run(&graph, threads, fault) else {
                panic!("fault {fault} traps");
            };
            assert_eq!((trap.kind, trap.index, trap.len), (kind, index, len));
            assert_eq!((trap.kernel.as_str(), trap.item), ("fail", Some(6)));
            assert_eq!(trap.site.file, file!());
            assert_eq!(trap.site.line, FIRST_FAULT_LINE + fault - 1);
            let message = match fault {
                5 => Some("assertion failed: nothing == 1"),
                8 => Some("item 6 gives up"),
                _ => None,
            };
            assert_eq!(trap.message.as_deref(), message);
        }
    }
}

#[test]
fn outside_lanes_a_failed_check_is_a_panic() {
    let caught = std::panic::catch_unwind(|| Buf::new(&[1, 2])[2]).unwrap_err();
    let message = caught.downcast::<String>().expect("a formatted message");
    assert_eq!(*message, "index 2 is out of bounds; the length is 2");
}

#[test]
fn arguments_of_the_wrong_length_are_refused_by_name() {
    let graph = wheel(7);
    let topology = crate::on_graph(&graph);
    let mut executor = NativeExecutor::new::<Probe>(
        Arc::new(program()),
        &topology,
        vyre_core::plan::footprint::Allocation::Separate,
    )
    .expect("fits");
    let mut run = |loads: &[f32]| {
        let args = Args {
            scalars: vec![0u32.to_bits64(), 1],
            inputs: vec![(BufferId(LOADS), Slice::F32(loads))],
        };
        executor.run(&args).map(|_| ())
    };
    let error = run(&[1.0; 6]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`loads` has 6 elements; the pass needs 7 (per = node, 7 nodes)"
    );
    assert_eq!(run(&[1.0; 7]), Ok(()));
}
