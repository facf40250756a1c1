//! Rows of bits: each method in a body does what the native one does, and a pass that closes a graph over them.

use crate::Take as _;
use std::sync::Arc;
use vyre_core::compile::ir::build::{self, RowOp, Sequence};
use vyre_core::compile::ir::{Body, CompareOp, Expr, ItemLocals, LocalId, Stmt};
use vyre_core::compile::lower::{Literals, lower};
use vyre_core::cpu::native::{Functions, NativeExecutor, Sweep, Until};
use vyre_core::cpu::vir0::Vir0Executor;
use vyre_core::dsl::columns::{Column, Slice};
use vyre_core::dsl::csr::Csr;
use vyre_core::dsl::error::RunError;
use vyre_core::dsl::{Bits, Edge, Or, Reduce};
use vyre_core::plan::footprint::Allocation;
use vyre_core::run::args::{Args, TopologyArgs};
use vyre_core::run::backend::Executor;
use vyre_core::vir0::module::*;
use vyre_core::vir0::scalar::Scalar;
use vyre_core::vir0::trap::TrapKind;

const NODES: u32 = 3;

fn program(bodies: &[Body], domains: &[Domain], buffers: Vec<Buffer>) -> Program {
    let mut literals = Literals::new(0);
    let waves = (0..).zip(bodies).zip(domains);
    let waves = waves.map(|((i, body), &domain)| Wave {
        name: body.name.clone(),
        kernel: KernelId(i),
        domain,
        accesses: crate::accesses(body, domain),
        fixpoint: None,
        after: vec![],
    });
    Program {
        name: "p".into(),
        waves: waves.collect(),
        kernels: bodies
            .iter()
            .map(|b| lower(b, &mut literals).expect("lowers"))
            .collect(),
        constants: literals.into_constants(),
        buffers,
        scalars: vec![ScalarParam {
            name: "width".into(),
            scalar: Scalar::U32,
        }],
        schedule: vec![Step::Wave(WaveId(0)), Step::End],
        topologies: vec![Topology {
            name: "g".into(),
            reverse_of: None,
        }],
        ..Program::default()
    }
}

fn rows(name: &str, width: Width, role: Role) -> Buffer {
    Buffer {
        name: name.into(),
        scalar: Scalar::U32,
        extent: Extent::NodeBits(width),
        role,
        init: None,
        reset: None,
    }
}

fn body(name: &str, locals: Vec<Scalar>, block: Vec<Stmt>) -> Body {
    Body {
        name: name.into(),
        locals,
        arrays: vec![],
        item: ItemLocals::default(),
        block,
        value: None,
    }
}

/// What a body answers and leaves behind: results, then the rows of both buffers.
type Answer = Result<(Vec<u32>, Vec<u32>, Vec<u32>), (TrapKind, u64, u64)>;

/// Runs a sequence over two buffers of rows, as bytecode, with the width as a scalar and as a literal.
fn in_bytecode(
    start: &[Bits; 2],
    f: impl Fn(&mut Sequence<'_>, &build::Bits, &build::Bits) -> Vec<Expr>,
) -> Answer {
    let width = start[0].width();
    let scalar = Expr::Uniform(Uniform::Scalar(ScalarId(0)), Scalar::U32);
    let literal = Expr::Literal(Scalar::U32, width.into());
    let widths = [
        (Width::Scalar(ScalarId(0)), scalar),
        (Width::Fixed(width), literal),
    ];
    let [first, second] = widths.map(|(extent, width)| {
        let (mut locals, mut block) = (vec![], vec![]);
        let of = |buffer| build::Bits {
            buffer: BufferId(buffer),
            width: width.clone(),
        };
        let results = f(
            &mut Sequence::new(&mut locals, &mut block, SiteId(0)),
            &of(0),
            &of(1),
        );
        let count = results.len() as u64;
        for (i, value) in (0..).zip(results) {
            let value = match value.scalar(&locals) {
                Scalar::Bool => Expr::Cast {
                    from: Scalar::Bool,
                    to: Scalar::U32,
                    value: Box::new(value),
                },
                _ => value,
            };
            block.push(Stmt::Store {
                buffer: BufferId(2),
                index: Expr::Literal(Scalar::U32, i),
                value,
                site: SiteId(0),
            });
        }
        let out = Buffer {
            extent: Extent::Fixed(count),
            ..rows("out", Width::Fixed(0), Role::Output)
        };
        let buffers = vec![
            rows("a", extent, Role::InOut),
            rows("b", extent, Role::InOut),
            out,
        ];
        let program = program(&[body("f", locals, block)], &[Domain::Once], buffers);
        assert_eq!(vyre_core::vir0::verify::verify(&program), Ok(()));
        let graph = Csr::from_edges(NODES as usize, &[]).expect("no edges");
        let topology = TopologyArgs {
            graphs: vec![&graph],
            columns: vec![],
            scalars: vec![],
        };
        let executor = Vir0Executor::new(Arc::new(program), &topology, Allocation::Separate);
        let words = start.each_ref().map(|rows| {
            let all = (0..NODES).flat_map(|v| (0..rows.words()).map(move |k| rows.word(v, k)));
            all.collect::<Vec<_>>()
        });
        let args = Args {
            scalars: vec![start[0].width().into()],
            inputs: vec![
                (BufferId(0), Slice::U32(&words[0])),
                (BufferId(1), Slice::U32(&words[1])),
            ],
        };
        match executor.expect("fits").run(&args) {
            Ok(mut out) => {
                let [a, b] = [0, 1].map(|i| out.take_bits(BufferId(i)).into_words());
                Ok((out.take(BufferId(2)), a, b))
            }
            Err(RunError::Trap(t)) => Err((t.kind, t.index, t.len)),
            Err(other) => panic!("{other}"),
        }
    });
    assert_eq!(first, second);
    first
}

fn rows_of(width: u32) -> [Bits; 2] {
    let [a, b] = [Bits::new(NODES, width), Bits::new(NODES, width)];
    for bit in 0..width {
        for v in 0..NODES {
            if (bit * 7 + v).is_multiple_of(3) {
                a.set(v, bit);
            }
            if (bit + v).is_multiple_of(5) || v == 2 {
                b.set(v, bit);
            }
        }
    }
    [a, b]
}

fn given(bits: Expr) -> build::RowWord {
    build::RowWord {
        bits,
        within: false,
    }
}

fn n(x: u32) -> Expr {
    Expr::Literal(Scalar::U32, x.into())
}

#[test]
fn methods_in_bodies_do_what_the_native_ones_do() {
    for width in [1, 31, 32, 33, 64, 70] {
        let last = width - 1;
        let [a, b] = rows_of(width);
        let native = vec![
            a.get(1, last).into(),
            a.set(1, last).into(),
            a.set(1, last).into(),
            a.unset(0, 0).into(),
            a.unset(0, 0).into(),
            b.word(2, last / 32),
            a.or_word(0, 0, 6),
            a.and_word(0, 0, 5),
            a.words(),
            a.or(1, 0).into(),
            a.or(1, 0).into(),
            a.or_from(0, &b, 1).into(),
            a.and_from(1, &b, 0).into(),
            a.and_not_from(2, &b, 1).into(),
            a.and(2, 2).into(),
            b.and_not(1, 1).into(),
            b.count(2),
            a.count(0),
        ];
        b.or_from(0, &a, 1);
        b.and_from(2, &a, 2);
        a.clear(2);
        a.store_word(2, 0, 1);
        let mut sum = 0u32;
        for bit in b.ones(0) {
            if bit == 3 {
                continue;
            }
            if bit > 66 {
                break;
            }
            sum = sum * 3 + bit;
        }
        let expected = ([native, vec![sum]].concat(), a.into_words(), b.into_words());
        let bytecode = in_bytecode(&rows_of(width), |s, a, b| {
            let mut out = vec![
                a.get(s, n(1), n(last)),
                a.set(s, n(1), n(last), true).expect("wanted"),
                a.set(s, n(1), n(last), true).expect("wanted"),
                a.unset(s, n(0), n(0), true).expect("wanted"),
                a.unset(s, n(0), n(0), true).expect("wanted"),
                b.word(s, n(2), n(last / 32)),
                a.or_word(s, (n(0), n(0), given(n(6))), true)
                    .expect("wanted"),
                a.and_word(s, (n(0), n(0), n(5)), true).expect("wanted"),
                a.words(),
            ];
            for (to, op, v, from, w) in [
                (a, RowOp::Or, 1, a, 0),
                (a, RowOp::Or, 1, a, 0),
                (a, RowOp::Or, 0, b, 1),
                (a, RowOp::And, 1, b, 0),
                (a, RowOp::AndNot, 2, b, 1),
                (a, RowOp::And, 2, a, 2),
                (b, RowOp::AndNot, 1, b, 1),
            ] {
                out.push(to.combine(s, op, n(v), (from, n(w)), true).expect("wanted"));
            }
            out.push(b.count(s, n(2)));
            out.push(a.count(s, n(0)));
            assert_eq!(b.combine(s, RowOp::Or, n(0), (a, n(1)), false), None);
            assert_eq!(b.combine(s, RowOp::And, n(2), (a, n(2)), false), None);
            a.clear(s, n(2));
            a.store_word(s, n(2), n(0), given(n(1)));
            out.push(sum_of_ones(s, b));
            out
        });
        assert_eq!(bytecode, Ok(expected), "width {width}");
    }
}

/// The loop of the test above over `b.ones(0)`, as a front end writes it.
fn sum_of_ones(s: &mut Sequence<'_>, b: &build::Bits) -> Expr {
    let (mut head, bit) = b.ones(s, n(0));
    let sum = s.local(n(0));
    let bit = || Box::new(Expr::Local(bit));
    let when = |op, right: u32, stmt| Stmt::If {
        cond: Expr::Compare {
            op,
            scalar: Scalar::U32,
            left: bit(),
            right: Box::new(n(right)),
        },
        then: vec![stmt],
        otherwise: vec![],
    };
    head.push(when(CompareOp::Eq, 3, Stmt::Continue { depth: 0 }));
    head.push(when(CompareOp::Gt, 66, Stmt::Break { depth: 0 }));
    let binary = |op, left: Expr, right: Expr| Expr::Binary {
        op,
        scalar: Scalar::U32,
        left: Box::new(left),
        right: Box::new(right),
        site: None,
    };
    let tripled = binary(
        vyre_core::compile::ir::BinaryOp::Mul,
        Expr::Local(sum),
        n(3),
    );
    head.push(Stmt::Assign(
        sum,
        binary(vyre_core::compile::ir::BinaryOp::Add, tripled, *bit()),
    ));
    s.push(Stmt::Loop {
        body: head,
        short: false,
    });
    Expr::Local(sum)
}

#[test]
fn nodes_bits_and_words_are_checked_in_this_order() {
    let bounds = |index, len| Err((TrapKind::IndexOutOfBounds, index, len));
    let run = |f: &dyn Fn(&mut Sequence<'_>, &build::Bits, &build::Bits) -> Vec<Expr>| {
        in_bytecode(&rows_of(40), f)
    };
    assert_eq!(run(&|s, a, _| vec![a.get(s, n(3), n(40))]), bounds(3, 3));
    assert_eq!(run(&|s, a, _| vec![a.get(s, n(2), n(40))]), bounds(40, 40));
    assert_eq!(run(&|s, a, _| vec![a.word(s, n(2), n(2))]), bounds(2, 2));
    let or = |v: u32, w: u32| {
        run(&|s, a, b| {
            a.combine(s, RowOp::Or, n(v), (b, n(w)), false);
            vec![]
        })
    };
    assert_eq!((or(7, 9), or(2, 9)), (bounds(7, 3), bounds(9, 3)));
    assert_eq!(
        in_bytecode(&rows_of(0), |s, a, _| vec![a.count(s, n(2)), a.words()]),
        Ok((vec![0, 0], vec![], vec![]))
    );
}

// ---------------------------------------------------------------------------------------------------------------------
// A pass: rows[v] is what v reaches.

fn own_bit(v: u32, rows: &Bits) {
    if v < rows.width() {
        rows.set(v, v);
    }
}

fn spread(e: Edge, rows: &Bits, changed: &Reduce<Or<bool>>) {
    changed.or(rows.or(e.src, e.dst));
}

bare_pass!(Closure);

impl Functions for Closure {
    fn wave(cx: &Sweep<'_>) {
        let rows = cx.bits(0);
        let rows = rows.view();
        match cx.wave().0 {
            0 => cx.nodes((), (), |lane, ()| own_bit(lane.index, rows)),
            1 => cx.edges((), (cx.reduce::<Or<bool>>(0),), |lane, (changed,)| {
                spread(lane.edge(), rows, changed);
            }),
            _ => unreachable!(),
        }
    }
    fn until(cx: &Until<'_>) -> bool {
        !cx.reduction::<bool>(0)
    }
}

fn closure() -> Program {
    let width = Expr::Uniform(Uniform::Scalar(ScalarId(0)), Scalar::U32);
    let reached = build::Bits {
        buffer: BufferId(0),
        width: width.clone(),
    };
    let v = LocalId(0);
    let (mut locals, mut then) = (vec![Scalar::U32], vec![]);
    let mut s = Sequence::new(&mut locals, &mut then, SiteId(0));
    reached.set(&mut s, Expr::Local(v), Expr::Local(v), false);
    let inside = Expr::Compare {
        op: CompareOp::Lt,
        scalar: Scalar::U32,
        left: Box::new(Expr::Local(v)),
        right: Box::new(width),
    };
    let start = vec![Stmt::If {
        cond: inside,
        then,
        otherwise: vec![],
    }];
    let mut own = body("own_bit", locals, start);
    own.item.index = Some(v);

    let (src, dst) = (LocalId(0), LocalId(1));
    let (mut locals, mut block) = (vec![Scalar::U32; 2], vec![]);
    let mut s = Sequence::new(&mut locals, &mut block, SiteId(0));
    let from = (&reached, Expr::Local(dst));
    let changed = reached.combine(&mut s, RowOp::Or, Expr::Local(src), from, true);
    block.push(Stmt::Reduce {
        reduction: ReductionId(0),
        value: changed.expect("wanted"),
    });
    let mut spread = body("spread", locals, block);
    (spread.item.src, spread.item.dst) = (Some(src), Some(dst));

    let again = Expr::Uniform(Uniform::Reduction(ReductionId(0)), Scalar::Bool);
    let mut until = body("closing", vec![], vec![]);
    until.value = Some(Expr::Unary(
        vyre_core::compile::ir::UnaryOp::Not,
        Scalar::Bool,
        Box::new(again),
    ));
    let domains = [Domain::Nodes, Domain::Edges(TopologyId(0))];
    let buffers = vec![rows("rows", Width::Scalar(ScalarId(0)), Role::Output)];
    let mut program = program(&[own, spread], &domains, buffers);
    let kernel = lower(&until, &mut Literals::new(program.constants.len()));
    program.kernels.push(kernel.expect("lowers"));
    program.waves[1].fixpoint = Some(FixpointId(0));
    program.reductions.push(Reduction {
        name: "changed".into(),
        op: ReduceOp::Or,
        scalar: Scalar::Bool,
        owner: Some(FixpointId(0)),
        output: false,
    });
    program.fixpoints.push(Fixpoint {
        name: "closing".into(),
        parent: None,
        until: KernelId(2),
        condition: "!changed".into(),
        max_rounds: 1000,
        swaps: vec![],
        after: vec![],
        site: SiteId(0),
    });
    program.schedule = vec![
        Step::Wave(WaveId(0)),
        Step::Barrier,
        Step::Loop(FixpointId(0)),
        Step::Wave(WaveId(1)),
        Step::Until(FixpointId(0)),
        Step::End,
    ];
    program
}

#[test]
fn a_closure_over_rows_is_the_same_on_every_executor() {
    const N: u32 = crate::size(3_000, 40);
    // Chains of 10 nodes, each with some shortcuts; edges lead to higher numbers.
    let chain = (0..N - 1).filter(|v| v % 10 != 9).map(|v| (v, v + 1));
    let shortcuts = (0..N / 10).flat_map(|c| (0..10).map(move |i| (10 * c + i / 2, 10 * c + 9)));
    let edges: Vec<_> = chain.chain(shortcuts).collect();
    let graph = Csr::from_edges(N as usize, &edges).expect("edges name nodes");
    let program = Arc::new(closure());
    assert_eq!(vyre_core::vir0::verify::verify(&program), Ok(()));
    let topology = crate::on_graph(&graph);
    for width in [0, 95, N] {
        let mut expected = vec![vec![0u32; row_words(width) as usize]; N as usize];
        for v in (0..N).rev() {
            if v < width {
                expected[v as usize][v as usize / 32] |= 1 << (v % 32);
            }
            for w in graph.neighbors(v) {
                let from = expected[w as usize].clone();
                let to = expected[v as usize].iter_mut();
                to.zip(from).for_each(|(to, x)| *to |= x);
            }
        }
        let shared = Allocation::Shared;
        let native = NativeExecutor::new::<Closure>(Arc::clone(&program), &topology, shared);
        let vir0 = Vir0Executor::new(Arc::clone(&program), &topology, shared);
        let executors: [Box<dyn Executor>; 2] = [
            Box::new(native.expect("fits")),
            Box::new(vir0.expect("fits")),
        ];
        for mut executor in executors {
            let args = Args {
                scalars: vec![width.into()],
                inputs: vec![],
            };
            let mut out = executor.run(&args).expect("runs");
            assert!(matches!(&out.outputs[0], (_, Column::U32(_))));
            let rows = out.take_bits(BufferId(0));
            assert_eq!((rows.width(), rows.words()), (width, row_words(width)));
            assert_eq!(rows.into_words(), expected.concat(), "width {width}");
        }
    }
}

#[test]
fn updates_of_rows_are_updates() {
    let program = closure();
    let mode = |wave: usize| {
        let mut accesses = program.waves[wave].accesses.iter();
        let rows = Resource::Buffer(BufferId(0));
        accesses.find(|a| a.resource == rows).map(|a| a.mode)
    };
    assert_eq!(mode(0), Some(Mode::Update(UpdateOp::Or)));
    // A row is read and another one changed.
    assert_eq!(mode(1), Some(Mode::Write));
}

// Copies each node's row of a topology's buffer.
bare_pass!(Copying);

impl Functions for Copying {
    fn wave(cx: &Sweep<'_>) {
        let (from, to) = (cx.bits(0), cx.bits(1));
        let (from, to) = (from.view(), to.view());
        cx.nodes((), (), |lane, ()| {
            to.or_from(lane.index, from, lane.index);
        });
    }
    fn until(_: &Until<'_>) -> bool {
        unreachable!()
    }
}

#[test]
fn rows_of_a_topology_are_read() {
    let buffers = vec![
        rows("from", Width::Fixed(33), Role::Topology),
        rows("to", Width::Fixed(33), Role::Output),
    ];
    let nothing = body("copy", vec![], vec![]);
    let mut program = program(&[nothing], &[Domain::Nodes], buffers);
    program.scalars.clear();
    let graph = Csr::from_edges(NODES as usize, &[]).expect("no edges");
    let words = [1, 0, 2, 1, 3, 0];
    let topology = TopologyArgs {
        graphs: vec![&graph],
        columns: vec![(BufferId(0), Slice::U32(&words))],
        scalars: vec![],
    };
    let separate = Allocation::Separate;
    let executor = NativeExecutor::new::<Copying>(Arc::new(program), &topology, separate);
    let mut executor = executor.expect("fits");
    for _ in 0..2 {
        let mut out = executor.run(&Args::default()).expect("runs");
        assert_eq!(out.take_bits(BufferId(1)).into_words(), words);
    }
}
