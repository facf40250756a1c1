//! Struct-of-arrays buffers, natively: lanes see structs, the state and the outcome have one buffer a field.

use crate::Take as _;
use std::sync::Arc;
use vyre_core::cpu::native::{Functions, NativeExecutor, Sweep, Until};
use vyre_core::dsl::Records;
use vyre_core::dsl::columns::Slice;
use vyre_core::dsl::csr::Csr;
use vyre_core::dsl::error::RunError;
use vyre_core::plan::footprint::Allocation;
use vyre_core::run::args::Args;
use vyre_core::run::backend::Executor;
use vyre_core::vir0::isa::{Op, Word};
use vyre_core::vir0::module::*;
use vyre_core::vir0::scalar::Scalar;
use vyre_core::vir0::trap::TrapKind;

#[derive(Clone, Copy, Debug, PartialEq)]
struct Spin {
    axis: i32,
    up: bool,
}
vyre_core::record!(Spin {
    axis: i32,
    up: bool
});

#[derive(Clone, Copy, Debug, PartialEq)]
struct Body {
    mass: f64,
    spin: Spin,
}
vyre_core::record!(Body {
    mass: f64,
    spin: (i32, bool)
});

fn turn(v: u32, start: &Spin, body: &mut Body) {
    body.mass += f64::from(v);
    body.spin = Spin {
        axis: -start.axis,
        up: !start.up,
    };
}

/// Line of the `get` of `gather`.
const GET_LINE: u32 = line!() + 3;

fn gather(v: u32, offset: u32, bodies: &Records<Body>, total: &mut f64) {
    let next = bodies.get((v + 1) % bodies.len() + offset);
    *total = next.mass + f64::from(next.spin.axis);
}

bare_pass!(Pass);

impl Functions for Pass {
    fn wave(cx: &Sweep<'_>) {
        match cx.wave().0 {
            0 => cx.nodes(
                (),
                (cx.fields(&[0, 1]), cx.fields_mut(&[2, 3, 4])),
                |lane, (start, body)| turn(lane.index, start, body),
            ),
            1 => {
                let offset = cx.scalar(0);
                let bodies = cx.fields(&[2, 3, 4]);
                let bodies = bodies.view();
                cx.nodes((), (cx.own_mut(5),), |lane, (total,)| {
                    gather(lane.index, offset, &bodies, total);
                });
            }
            _ => unreachable!(),
        }
    }
    fn until(_: &Until<'_>) -> bool {
        unreachable!()
    }
}

fn program() -> Program {
    let buffer = |name: &str, scalar, role| Buffer {
        name: name.into(),
        scalar,
        extent: Extent::Nodes,
        role,
        init: None,
        reset: None,
    };
    let kernel = |name: &str| Kernel {
        name: name.into(),
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
    let wave = |i: u16| Wave {
        name: "w".into(),
        kernel: KernelId(i),
        domain: Domain::Nodes,
        accesses: vec![],
        fixpoint: None,
        after: vec![],
    };
    Program {
        topologies: vec![Topology {
            name: "g".into(),
            reverse_of: None,
        }],
        buffers: vec![
            buffer("start.axis", Scalar::I32, Role::Input),
            buffer("start.up", Scalar::Bool, Role::Input),
            buffer("body.mass", Scalar::F64, Role::Output),
            buffer("body.spin.axis", Scalar::I32, Role::Output),
            buffer("body.spin.up", Scalar::Bool, Role::Output),
            buffer("total", Scalar::F64, Role::Output),
        ],
        scalars: vec![ScalarParam {
            name: "offset".into(),
            scalar: Scalar::U32,
        }],
        kernels: vec![kernel("turn"), kernel("gather")],
        waves: vec![wave(0), wave(1)],
        schedule: vec![
            Step::Wave(WaveId(0)),
            Step::Barrier,
            Step::Wave(WaveId(1)),
            Step::End,
        ],
        ..Program::default()
    }
}

#[test]
fn lanes_see_structs_and_outcomes_fields() {
    const N: u32 = crate::size(20_000, 9_000);
    let graph = Csr::from_edges(N as usize, &[]).expect("no edges");
    let topology = crate::on_graph(&graph);
    let program = Arc::new(program());
    let executor = NativeExecutor::new::<Pass>(program, &topology, Allocation::Separate);
    let mut executor = executor.expect("fits");
    let axes: Vec<i32> = (0..N as i32).collect();
    let ups: Vec<bool> = (0..N).map(|v| v.is_multiple_of(3)).collect();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build();
    let pool = pool.expect("a pool starts");
    let mut run = |offset: u64| {
        let args = Args {
            scalars: vec![offset],
            inputs: vec![
                (BufferId(0), Slice::I32(&axes)),
                (BufferId(1), Slice::Bool(&ups)),
            ],
        };
        pool.install(|| executor.run(&args))
    };
    let mut out = run(0).expect("runs");
    let masses: Vec<f64> = (0..N).map(f64::from).collect();
    assert_eq!(out.take::<f64>(BufferId(2)), masses);
    let turned: Vec<i32> = axes.iter().map(|x| -x).collect();
    assert_eq!(out.take::<i32>(BufferId(3)), turned);
    let other: Vec<bool> = ups.iter().map(|x| !x).collect();
    assert_eq!(out.take::<bool>(BufferId(4)), other);
    assert_eq!(out.take::<f64>(BufferId(5)), vec![0.0; N as usize]);
    let Err(RunError::Trap(trap)) = run(5) else {
        panic!("the last items read beyond the end");
    };
    let expected = (TrapKind::IndexOutOfBounds, u64::from(N), u64::from(N));
    assert_eq!((trap.kind, trap.index, trap.len), expected);
    assert_eq!((trap.item, trap.site.line), (Some(N - 6), GET_LINE));
}
