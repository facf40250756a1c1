//! Atomics and reductions of every type: the bytecode does what the native types do.

use std::sync::Arc;
use vyre_core::compile::ir::{AtomicOp, Body, Expr, ItemLocals, LocalId, Stmt};
use vyre_core::compile::lower::{Literals, lower};
use vyre_core::cpu::vir0::Vir0Executor;
use vyre_core::dsl::columns::Element;
use vyre_core::dsl::csr::Csr;
use vyre_core::dsl::{And, Atomic, Buf, Count, Max, Min, Or, Reduce, Sum};
use vyre_core::plan::footprint::Allocation;
use vyre_core::run::args::{Args, TopologyArgs};
use vyre_core::run::backend::Executor;
use vyre_core::vir0::module::*;
use vyre_core::vir0::scalar::Scalar;
use vyre_core::vir0::scalar::ScalarType;

/// Runs one body over `0..items` with these in-out buffers and these reductions; what they hold afterwards.
fn run(
    block: Vec<Stmt>,
    items: u64,
    columns: &[vyre_core::dsl::columns::Column],
    reductions: &[(ReduceOp, Scalar)],
) -> (Vec<vyre_core::dsl::columns::Column>, Vec<u64>) {
    let index = LocalId(0);
    let body = Body {
        name: "f".into(),
        locals: vec![Scalar::U32; 2],
        arrays: vec![],
        item: ItemLocals {
            index: Some(index),
            ..ItemLocals::default()
        },
        block,
        value: None,
    };
    let mut literals = Literals::new(0);
    let kernel = lower(&body, &mut literals).expect("lowers");
    let mut accesses: Vec<Access> = vyre_core::compile::effects::uses(&body)
        .into_iter()
        .map(|u| Access {
            resource: u.resource,
            mode: u.mode,
        })
        .collect();
    accesses.sort();
    let program = Program {
        name: "p".into(),
        buffers: columns
            .iter()
            .map(|c| Buffer {
                name: "b".into(),
                scalar: c.scalar(),
                extent: Extent::Fixed(c.len() as u64),
                role: Role::InOut,
                init: None,
                reset: None,
            })
            .collect(),
        reductions: reductions
            .iter()
            .map(|&(op, scalar)| Reduction {
                name: "r".into(),
                op,
                scalar,
                owner: None,
                output: true,
            })
            .collect(),
        constants: literals.into_constants(),
        kernels: vec![kernel],
        waves: vec![Wave {
            name: "f".into(),
            kernel: KernelId(0),
            domain: Domain::Range(Extent::Fixed(items)),
            accesses,
            fixpoint: None,
            after: vec![],
        }],
        schedule: vec![Step::Wave(WaveId(0)), Step::End],
        ..Program::default()
    };
    assert_eq!(vyre_core::vir0::verify::verify(&program), Ok(()));
    let graph = Csr::new(vec![0], vec![]).expect("empty");
    let topology = TopologyArgs {
        graphs: vec![&graph],
        columns: vec![],
        scalars: vec![],
    };
    let mut executor =
        Vir0Executor::new(Arc::new(program), &topology, Allocation::Separate).expect("fits");
    let inputs = (0..).zip(columns);
    let args = Args {
        scalars: vec![],
        inputs: inputs.map(|(i, c)| (BufferId(i), c.as_slice())).collect(),
    };
    let outcome = executor.run(&args).expect("runs");
    (
        outcome.outputs.into_iter().map(|(_, c)| c).collect(),
        outcome
            .reductions
            .into_iter()
            .map(|(_, bits)| bits)
            .collect(),
    )
}

fn load(buffer: u16, scalar: Scalar, index: Expr) -> Box<Expr> {
    Box::new(Expr::Load {
        buffer: BufferId(buffer),
        scalar,
        index: Box::new(index),
        site: SiteId(0),
    })
}

/// For each operand `x` of `values`: `old[i] = cell[i].op(x)`, from each start.
fn check_atomic<T: Element>(op: AtomicOp, values: &[T], native: impl Fn(T, T) -> (T, T)) {
    let pairs: Vec<(T, T)> = values
        .iter()
        .flat_map(|&a| values.iter().map(move |&b| (a, b)))
        .collect();
    let item = || Expr::Local(LocalId(0));
    let fetch = Expr::Atomic {
        op,
        buffer: BufferId(0),
        scalar: T::SCALAR,
        index: Box::new(item()),
        value: load(1, T::SCALAR, item()),
        site: SiteId(0),
    };
    let block = vec![Stmt::Store {
        buffer: BufferId(2),
        index: item(),
        value: fetch,
        site: SiteId(0),
    }];
    let (starts, operands): (Vec<T>, Vec<T>) = pairs.iter().copied().unzip();
    let olds = vec![T::from_bits64(0); pairs.len()];
    let columns = [T::column(starts), T::column(operands), T::column(olds)];
    let (out, _) = run(block, pairs.len() as u64, &columns, &[]);
    for (i, &(start, operand)) in pairs.iter().enumerate() {
        let (old, new) = native(start, operand);
        let same =
            |column: &vyre_core::dsl::columns::Column, x: T| column.get(i) == Some(x.to_bits64());
        let context = format!("{op:?} {:?} {start:?} {operand:?}", T::SCALAR);
        assert!(same(&out[2], old) && same(&out[0], new), "{context}");
    }
}

macro_rules! atomics {
    ($ty:ty, $values:expr; $($op:ident $method:ident),*) => {$(
        check_atomic::<$ty>(AtomicOp::$op, &$values, |start, operand| {
            let mut cell = [start];
            let view: &Buf<Atomic<$ty>> = Buf::atomic(&mut cell);
            let old = view[0].$method(operand);
            (old, cell[0])
        });
    )*};
}

#[test]
fn atomics_of_every_type_do_what_the_native_ones_do() {
    macro_rules! integer {
        ($($ty:ident)*) => {$(
            atomics!($ty, [0, 1, 6, $ty::MAX, $ty::MIN, $ty::MAX / 2 + 1];
                Add fetch_add, Sub fetch_sub, Min fetch_min, Max fetch_max, And fetch_and, Or fetch_or,
                Xor fetch_xor, Swap swap);
        )*};
    }
    macro_rules! float {
        ($($ty:ident)*) => {$(
            atomics!($ty, [1.5, -2.25, 1e30, $ty::MIN_POSITIVE];
                Add fetch_add, Sub fetch_sub, Min fetch_min, Max fetch_max, Swap swap);
        )*};
    }
    integer! { u32 i32 u64 i64 }
    float! { f32 f64 }
}

#[test]
fn reductions_of_every_type_do_what_the_native_ones_do() {
    let (mut columns, mut declared, mut expected) = (vec![], vec![], vec![]);
    macro_rules! reduce {
        ($($op:ident $method:ident $ty:ident $values:expr;)*) => {$(
            let values: Vec<$ty> = $values.to_vec();
            let native = Reduce::<$op<$ty>>::new();
            values.iter().for_each(|&x| native.$method(x));
            declared.push((ReduceOp::$op, <$ty as ScalarType>::SCALAR));
            expected.push(native.value().to_bits64());
            columns.push(<$ty as Element>::column(values));
        )*};
    }
    macro_rules! integer {
        ($($ty:ident)*) => {$( reduce! {
            Sum add $ty [$ty::MAX, 2, $ty::MIN, 5];
            Min min $ty [7, $ty::MAX, 9, 8];
            Max max $ty [$ty::MIN, 7, 1, 3];
            Or or $ty [1, 4, $ty::MIN, 0];
            And and $ty [$ty::MAX, 6, 7, 14];
        } )*};
    }
    integer! { u32 i32 u64 i64 }
    reduce! {
        Sum add f32 [0.5, 0.25, -8.0, 1.0];
        Min min f32 [0.5, f32::NAN, -8.0, 1.0];
        Max max f32 [0.5, f32::NAN, -8.0, 1.0];
        Sum add f64 [0.5, 0.25, -8.0, 1.0];
        Min min f64 [0.5, f64::NAN, -8.0, 1.0];
        Max max f64 [0.5, f64::NAN, -8.0, 1.0];
        Or or bool [false, true, false, false];
        And and bool [true, true, false, true];
    }
    let mut block: Vec<Stmt> = (0..)
        .zip(&declared)
        .map(|(i, &(_, scalar))| Stmt::Reduce {
            reduction: ReductionId(i),
            value: *load(i, scalar, Expr::Local(LocalId(0))),
        })
        .collect();
    let count = Reduce::<Count>::new();
    (0..4).for_each(|_| count.inc());
    block.push(Stmt::Reduce {
        reduction: ReductionId(declared.len() as u16),
        value: Expr::Literal(Scalar::U64, 1),
    });
    declared.push((ReduceOp::Sum, Scalar::U64));
    expected.push(count.value());
    let (_, actual) = run(block, 4, &columns, &declared);
    for ((declared, actual), expected) in declared.iter().zip(&actual).zip(&expected) {
        assert_eq!(actual, expected, "{declared:?}");
    }
}
