//! Lowering and effects: exact code for small bodies, random bodies against an evaluator of the tree, modes.

mod agreement;
mod code;
mod effects;
mod oracle;
#[path = "../../../vyre-tests/src/random.rs"]
#[allow(
    dead_code,
    unreachable_pub,
    reason = "shared with tests of crates above, on which this one cannot depend"
)]
mod random;
mod random_bodies;

use vyre_core::compile::ir::*;
use vyre_core::compile::lower::{Literals, lower};
use vyre_core::vir0::manifest::Manifest;
use vyre_core::vir0::module::*;
use vyre_core::vir0::scalar::Scalar;
use vyre_core::vir0::{disasm, verify};

pub(crate) fn exchange(buffer: u16, index: Expr, expected: Expr, new: Expr) -> Expr {
    Expr::CompareExchange {
        buffer: BufferId(buffer),
        scalar: U32,
        index: Box::new(index),
        expected: Box::new(expected),
        new: Box::new(new),
        site: SiteId(0),
    }
}
pub(crate) fn round() -> Expr {
    Expr::Uniform(Uniform::Round, U32)
}
pub(crate) fn unseen() -> Expr {
    Expr::Uniform(Uniform::Constant(ConstantId(0)), U32)
}

pub(crate) const U32: Scalar = Scalar::U32;

pub(crate) fn local(id: u32) -> Expr {
    Expr::Local(LocalId(id))
}
pub(crate) fn lit(x: u32) -> Expr {
    Expr::Literal(U32, x.into())
}
pub(crate) fn float(x: f32) -> Expr {
    Expr::Literal(Scalar::F32, x.to_bits().into())
}
pub(crate) fn bin(op: BinaryOp, scalar: Scalar, left: Expr, right: Expr) -> Expr {
    Expr::Binary {
        op,
        scalar,
        left: Box::new(left),
        right: Box::new(right),
        site: Some(SiteId(0)),
    }
}
pub(crate) fn add(left: Expr, right: Expr) -> Expr {
    bin(BinaryOp::Add, U32, left, right)
}
pub(crate) fn cmp(op: CompareOp, scalar: Scalar, left: Expr, right: Expr) -> Expr {
    Expr::Compare {
        op,
        scalar,
        left: Box::new(left),
        right: Box::new(right),
    }
}
pub(crate) fn not(e: Expr) -> Expr {
    Expr::Unary(UnaryOp::Not, Scalar::Bool, Box::new(e))
}
pub(crate) fn cast(from: Scalar, to: Scalar, e: Expr) -> Expr {
    Expr::Cast {
        from,
        to,
        value: Box::new(e),
    }
}
pub(crate) fn load(buffer: u16, scalar: Scalar, index: Expr) -> Expr {
    Expr::Load {
        buffer: BufferId(buffer),
        scalar,
        index: Box::new(index),
        site: SiteId(0),
    }
}
pub(crate) fn atomic_load(buffer: u16, scalar: Scalar, index: Expr) -> Expr {
    Expr::AtomicLoad {
        buffer: BufferId(buffer),
        scalar,
        index: Box::new(index),
        site: SiteId(0),
    }
}
pub(crate) fn atomic(op: AtomicOp, buffer: u16, scalar: Scalar, index: Expr, value: Expr) -> Expr {
    Expr::Atomic {
        op,
        buffer: BufferId(buffer),
        scalar,
        index: Box::new(index),
        value: Box::new(value),
        site: SiteId(0),
    }
}
pub(crate) fn csr(query: CsrQuery, of: Expr) -> Expr {
    Expr::Csr {
        query,
        topology: TopologyId(0),
        of: Box::new(of),
        site: SiteId(0),
    }
}
pub(crate) fn set(id: u32, e: Expr) -> Stmt {
    Stmt::Assign(LocalId(id), e)
}
pub(crate) fn store(buffer: u16, index: Expr, value: Expr) -> Stmt {
    Stmt::Store {
        buffer: BufferId(buffer),
        index,
        value,
        site: SiteId(0),
    }
}
pub(crate) fn push(value: Expr) -> Stmt {
    Stmt::Push {
        frontier: FrontierId(0),
        value,
        site: SiteId(0),
    }
}
pub(crate) fn when(cond: Expr, then: Block) -> Stmt {
    either(cond, then, vec![])
}
pub(crate) fn either(cond: Expr, then: Block, otherwise: Block) -> Stmt {
    Stmt::If {
        cond,
        then,
        otherwise,
    }
}
pub(crate) fn repeat(body: Block) -> Stmt {
    Stmt::Loop { body, short: false }
}
pub(crate) const BREAK: Stmt = Stmt::Break { depth: 0 };
pub(crate) const CONTINUE: Stmt = Stmt::Continue { depth: 0 };

/// Which locals of a body are the item: index 0, src 1, dst 2.
pub(crate) fn edge_item() -> ItemLocals {
    ItemLocals {
        index: Some(LocalId(0)),
        src: Some(LocalId(1)),
        dst: Some(LocalId(2)),
        ..ItemLocals::default()
    }
}

pub(crate) fn body(locals: &[Scalar], block: Block) -> Body {
    Body {
        name: "f".into(),
        locals: locals.to_vec(),
        arrays: vec![],
        item: edge_item(),
        block,
        value: None,
    }
}

/// A program around one body: buffer `i` of each scalar type in the order of `BUFFERS`, a graph, a frontier,
/// reductions.
pub(crate) const BUFFERS: [Scalar; 8] = Scalar::ALL;
pub(crate) const B: u16 = 0;
pub(crate) const D: u16 = 2;
pub(crate) const W: u16 = 3;
pub(crate) const F: u16 = 4;
pub(crate) const Q: u16 = 5;

pub(crate) fn program(body: &Body) -> Program {
    let mut literals = Literals::new(1);
    let kernel = lower(body, &mut literals).expect("the body lowers");
    let is_condition = body.value.is_some();
    let mut constants = vec![Constant {
        scalar: U32,
        bits: u32::MAX.into(),
    }];
    constants.extend(literals.into_constants());
    let trivial = |op: vyre_core::vir0::isa::Op, name: &str| Kernel {
        name: name.into(),
        code: vec![vyre_core::vir0::isa::Word {
            op: op as u8,
            a: if is_condition { 0 } else { 192 },
            ..Default::default()
        }],
        rows: 0,
        frames: 0,
        item: ItemRows::default(),
        uniforms: if is_condition {
            vec![]
        } else {
            vec![Uniform::Nodes]
        },
        sites: vec![],
    };
    let kernels = if is_condition {
        vec![trivial(vyre_core::vir0::isa::Op::Ret, "w"), kernel]
    } else {
        vec![kernel, trivial(vyre_core::vir0::isa::Op::RetV, "until")]
    };
    let all = |resource| Access {
        resource,
        mode: Mode::Write,
    };
    let mut accesses = vec![all(Resource::Topology(TopologyId(0)))];
    accesses.extend((0..8).map(|i| all(Resource::Buffer(BufferId(i)))));
    accesses.extend((0..2).map(|i| all(Resource::from(FrontierId(i)))));
    accesses.extend((0..2).map(|i| all(Resource::Reduction(ReductionId(i)))));
    accesses.push(all(Resource::from(ListId(0))));
    Program {
        name: "p".into(),
        topologies: vec![Topology {
            name: "g".into(),
            reverse_of: None,
        }],
        buffers: BUFFERS
            .iter()
            .map(|&scalar| Buffer {
                name: scalar.name().into(),
                scalar,
                extent: Extent::Nodes,
                role: Role::Scratch,
                init: None,
                reset: None,
            })
            .collect(),
        frontiers: vec![
            Queue {
                fields: vec![],
                name: "front".into(),
                capacity: Extent::NodesPlusEdges,
                unique: false,
                stays: false,
                owner: Some(FixpointId(0)),
                output: false,
                reset: None,
            },
            Queue {
                name: "work".into(),
                fields: vec![Scalar::I64, Scalar::Bool],
                capacity: Extent::Fixed(9),
                unique: false,
                stays: false,
                owner: None,
                output: false,
                reset: None,
            },
        ],
        lists: vec![Queue {
            name: "log".into(),
            fields: vec![U32, Scalar::U8, Scalar::F64],
            capacity: Extent::Fixed(9),
            unique: false,
            stays: true,
            owner: None,
            output: false,
            reset: None,
        }],
        reductions: [U32, Scalar::F64]
            .iter()
            .map(|&scalar| Reduction {
                name: format!("sum_{}", scalar.name()),
                op: ReduceOp::Sum,
                scalar,
                owner: Some(FixpointId(0)),
                output: false,
            })
            .collect(),
        lengths: vec![],
        scalars: [U32, Scalar::F32, Scalar::F64]
            .iter()
            .map(|&scalar| ScalarParam {
                name: format!("s_{}", scalar.name()),
                scalar,
            })
            .collect(),
        constants,
        kernels,
        waves: vec![Wave {
            name: "w".into(),
            kernel: KernelId(0),
            domain: Domain::EdgesFrom(TopologyId(0), FrontierId(0)),
            accesses,
            fixpoint: Some(FixpointId(0)),
            after: vec![],
        }],
        fixpoints: vec![Fixpoint {
            name: "levels".into(),
            parent: None,
            until: KernelId(1),
            condition: "front.is_empty()".into(),
            max_rounds: 9,
            swaps: vec![],
            after: vec![],
            site: SiteId(0),
        }],
        schedule: vec![
            Step::Loop(FixpointId(0)),
            Step::Wave(WaveId(0)),
            Step::Until(FixpointId(0)),
            Step::End,
        ],
        agreement: vyre_core::vir0::module::Agreement::default(),
        messages: vec![],
        manifest: Manifest::default(),
        sites: vec![],
    }
}

/// Lowers, verifies and prints a body's kernel.
pub(crate) fn text(body: &Body) -> String {
    let program = program(body);
    let id = KernelId(u16::from(body.value.is_some()));
    let text = disasm::kernel(&program, id);
    if let Err(errors) = verify::verify(&program) {
        panic!("{text}\n{errors:#?}");
    }
    text
}
