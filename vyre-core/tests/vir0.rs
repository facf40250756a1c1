//! VIR0 through its public door: what each instruction does, what the container and the verifier refuse, and that
//! whatever verifies runs without a panic.
#![cfg(feature = "exec")]

use arbtest::arbitrary::{Result as Arbitrary, Unstructured};
use vyre_core::cpu::interp::{Interpreter, Item};
use vyre_core::dsl::csr::Csr;
use vyre_core::vir0::container::{self, DecodeError, decode, encode};
use vyre_core::vir0::disasm;
use vyre_core::vir0::flow::{BlockKind, Rows, blocks, defs, live_in, rows_of, uses, writes};
use vyre_core::vir0::group::Misplaced;
use vyre_core::vir0::isa::{Faults, IMM, Imm, Kind, Op, Row, Slot, UNIFORM_BASE, Word};
use vyre_core::vir0::length::{Length, LengthOp, Term};
use vyre_core::vir0::manifest::{Manifest, Stale};
use vyre_core::vir0::meaning::{Memory, Next, State, step, value};
use vyre_core::vir0::module::*;
use vyre_core::vir0::scalar::Scalar;
use vyre_core::vir0::table::Table;
use vyre_core::vir0::trap::{Fault, Site, TrapKind};
use vyre_core::vir0::verify::{Place, Rule, VerifyError, verify};

#[path = "../../vyre-tests/src/random.rs"]
#[allow(
    dead_code,
    unreachable_pub,
    reason = "shared with tests of crates above, on which this one cannot depend"
)]
mod random;
use random::cases;

// ---------------------------------------------------------------------------------------------------------------------
// A program and a memory to run its kernels in

const BUFFER_LEN: usize = 4;

/// Fields of the items of the list and the second frontier.
const FIELDS: [Scalar; 3] = [Scalar::U8, Scalar::F32, Scalar::I64];

/// One buffer of each scalar type (id = the scalar's code), a path graph, a frontier of nodes and one of items, a list,
/// a sum of each width, and one wave over the edges out of the first frontier in a fixpoint.
fn program(code: Vec<Word>, rows: u8, frames: u8, uniforms: Vec<Uniform>) -> Program {
    let buffers = Scalar::ALL.map(|scalar| Buffer {
        name: format!("{}s", scalar.name()),
        scalar,
        extent: Extent::Nodes,
        role: Role::Output,
        init: None,
        reset: None,
    });
    let reduction = |name: &str, scalar| Reduction {
        name: name.into(),
        op: ReduceOp::Sum,
        scalar,
        owner: Some(FixpointId(0)),
        output: true,
    };
    let topology = Resource::Topology(TopologyId(0));
    let buffers_too = (0..8).map(|i| Resource::Buffer(BufferId(i)));
    let resources = std::iter::once(topology).chain(buffers_too).chain([
        Resource::from(FrontierId(0)),
        Resource::from(FrontierId(1)),
        Resource::Reduction(ReductionId(0)),
        Resource::Reduction(ReductionId(1)),
        Resource::from(ListId(0)),
    ]);
    let sites = (0..)
        .zip(&code)
        .filter(|(_, w)| Op::from_code(w.op).is_some_and(|op| op.row().faults != Faults::No))
        .map(|(pc, _)| (pc, SiteId(0)))
        .collect();
    let until = Kernel {
        name: "until levels".into(),
        code: vec![
            word(Op::Eq32, 0, UNIFORM_BASE, IMM, 0),
            word(Op::RetV, 0, 0, 0, 0),
        ],
        rows: 1,
        frames: 0,
        item: ItemRows::default(),
        uniforms: vec![Uniform::Len(FrontierId(0).into())],
        sites: vec![],
    };
    let relax = Kernel {
        name: "relax".into(),
        code,
        rows,
        frames,
        item: ItemRows {
            index: Some(0),
            src: Some(1),
            dst: Some(2),
            ..ItemRows::default()
        },
        uniforms,
        sites,
    };
    Program {
        name: "bfs".into(),
        topologies: vec![Topology {
            name: "graph".into(),
            reverse_of: None,
        }],
        buffers: buffers.to_vec(),
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
                fields: FIELDS.to_vec(),
                capacity: Extent::Fixed(5),
                unique: false,
                stays: false,
                owner: None,
                output: false,
                reset: None,
            },
        ],
        lists: vec![Queue {
            name: "log".into(),
            fields: FIELDS.to_vec(),
            capacity: Extent::Scalar(ScalarId(0)),
            unique: false,
            stays: true,
            owner: None,
            output: true,
            reset: None,
        }],
        reductions: vec![
            reduction("sum32", Scalar::U32),
            reduction("sum64", Scalar::U64),
        ],
        lengths: Vec::new(),
        scalars: vec![ScalarParam {
            name: "source".into(),
            scalar: Scalar::U32,
        }],
        constants: vec![Constant {
            scalar: Scalar::F32,
            bits: 0.5f32.to_bits().into(),
        }],
        kernels: vec![relax, until],
        waves: vec![Wave {
            name: "relax".into(),
            kernel: KernelId(0),
            domain: Domain::EdgesFrom(TopologyId(0), FrontierId(0)),
            accesses: resources
                .map(|resource| Access {
                    resource,
                    mode: Mode::Write,
                })
                .collect(),
            fixpoint: Some(FixpointId(0)),
            after: vec![],
        }],
        fixpoints: vec![Fixpoint {
            name: "levels".into(),
            parent: None,
            until: KernelId(1),
            condition: "front.is_empty()".into(),
            max_rounds: 10,
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
        agreement: vyre_core::vir0::module::Agreement::Bits,
        manifest: Manifest {
            id: "reach.bfs".into(),
            ..Manifest::default()
        },
        sites: vec![Site {
            file: "bfs.rs".into(),
            line: 12,
            column: 9,
        }],
        messages: vec![(SiteId(0), "too far".into())],
    }
}

/// Panics on an access of the wrong width or to a resource that does not exist: the verifier rules both out.
struct Store {
    scalars: Vec<Scalar>,
    buffers: Vec<Vec<u64>>,
    graphs: Vec<Csr>,
    frontiers: Vec<Vec<u32>>,
    /// Of the list, then of the second frontier.
    items: [Vec<[u64; 3]>; 2],
    reduced: Vec<Vec<u64>>,
    turns_left: u32,
}

impl Store {
    fn new(program: &Program) -> Store {
        let graph = Csr::from_edges(BUFFER_LEN, &[(0, 1), (1, 2), (2, 3)]).unwrap();
        Store {
            scalars: program.buffers.iter().map(|b| b.scalar).collect(),
            buffers: vec![vec![0; BUFFER_LEN]; program.buffers.len()],
            graphs: vec![graph; program.topologies.len()],
            frontiers: vec![vec![]; program.frontiers.len()],
            items: [vec![], vec![]],
            reduced: vec![vec![]; program.reductions.len()],
            turns_left: 100,
        }
    }

    fn items_of(&mut self, queue: QueueId) -> &mut Vec<[u64; 3]> {
        match queue {
            QueueId::List(ListId(0)) => &mut self.items[0],
            QueueId::Frontier(FrontierId(1)) => &mut self.items[1],
            other => panic!("nothing is added to {other:?}"),
        }
    }

    fn element(&mut self, b: BufferId, i: u32, bytes: u64) -> Option<&mut u64> {
        assert_eq!(self.scalars[b.index()].size_bytes(), bytes);
        self.buffers[b.index()].get_mut(i as usize)
    }
}

impl Memory for Store {
    fn len(&self, b: BufferId) -> u32 {
        self.buffers[b.index()].len() as u32
    }
    fn nodes(&self) -> u32 {
        BUFFER_LEN as u32
    }
    fn edges(&self, t: TopologyId) -> u32 {
        self.graphs[t.index()].edge_count() as u32
    }
    fn load8(&mut self, b: BufferId, i: u32) -> Option<u8> {
        self.element(b, i, 1).map(|x| *x as u8)
    }
    fn load32(&mut self, b: BufferId, i: u32) -> Option<u32> {
        self.element(b, i, 4).map(|x| *x as u32)
    }
    fn load64(&mut self, b: BufferId, i: u32) -> Option<u64> {
        self.element(b, i, 8).copied()
    }
    fn store8(&mut self, b: BufferId, i: u32, x: u8) -> Option<()> {
        self.element(b, i, 1).map(|slot| *slot = x.into())
    }
    fn store32(&mut self, b: BufferId, i: u32, x: u32) -> Option<()> {
        self.element(b, i, 4).map(|slot| *slot = x.into())
    }
    fn store64(&mut self, b: BufferId, i: u32, x: u64) -> Option<()> {
        self.element(b, i, 8).map(|slot| *slot = x)
    }
    fn csr_begin(&self, t: TopologyId, v: u32) -> Option<u32> {
        let offsets = self.graphs[t.index()].offsets();
        (v < self.nodes()).then(|| offsets[v as usize])
    }
    fn csr_end(&self, t: TopologyId, v: u32) -> Option<u32> {
        let offsets = self.graphs[t.index()].offsets();
        (v < self.nodes()).then(|| offsets[v as usize + 1])
    }
    fn csr_target(&self, t: TopologyId, e: u32) -> Option<u32> {
        self.graphs[t.index()].targets().get(e as usize).copied()
    }
    fn push(&mut self, f: FrontierId, node: u32, _pc: u32) {
        self.frontiers[f.index()].push(node);
    }
    fn reserve(&mut self, queue: QueueId, _pc: u32) -> u32 {
        let items = self.items_of(queue);
        items.push([0; 3]);
        items.len() as u32 - 1
    }
    fn set_field(&mut self, queue: QueueId, field: u16, slot: u32, bits: u64) {
        if let Some(item) = self.items_of(queue).get_mut(slot as usize) {
            item[field as usize] = bits;
        }
    }
    fn reduce(&mut self, r: ReductionId, bits: u64) {
        self.reduced[r.index()].push(bits);
    }
    fn keep_going(&mut self, _: bool) -> bool {
        self.turns_left = self.turns_left.saturating_sub(1);
        self.turns_left > 0
    }
}

fn word(op: Op, d: u8, a: u8, b: u8, imm: u32) -> Word {
    let op = op as u8;
    Word { op, d, a, b, imm }
}

/// The immediate of a word with a resource and a third operand.
fn resource(id: u16, third: u8) -> u32 {
    u32::from(id) << 16 | u32::from(third)
}

const ITEM: Item = Item {
    index: 1,
    src: 1,
    dst: 2,
};

/// Verifies `code` and runs it for one item in `store`.
fn run_in(store: &mut Store, code: &[Word], uniforms: &[u64]) -> Result<u32, Fault> {
    let program = kernel_program(code, uniforms.len());
    assert_eq!(verify(&program), Ok(()));
    Interpreter::new(&program.kernels[0], uniforms).run(ITEM, store)
}

fn kernel_program(code: &[Word], uniforms: usize) -> Program {
    let opens = |w: &Word| [Op::If as u8, Op::Loop as u8].contains(&w.op);
    let closes = |w: &Word| [Op::EndIf as u8, Op::EndLoop as u8].contains(&w.op);
    let (mut depth, mut deepest) = (0u8, 0);
    for w in code {
        depth = depth + u8::from(opens(w)) - u8::from(closes(w));
        deepest = deepest.max(depth);
    }
    let uniforms = vec![Uniform::Round; uniforms];
    program(code.to_vec(), 16, deepest * 2, uniforms)
}

fn store() -> Store {
    Store::new(&program(vec![], 0, 0, vec![]))
}

// ---------------------------------------------------------------------------------------------------------------------
// Instructions

/// Runs one arithmetic instruction on operands `a`, `b`, `c`: from registers, and again straight from the uniforms.
fn alu(op: Op, operands: [u64; 3]) -> Result<u64, TrapKind> {
    let row = op.row();
    let result = |store: &mut Store| store.reduced.iter_mut().find_map(Vec::pop).unwrap();
    let take = match row.d {
        Slot::D => word(Op::Reduce64, 0, 10, 0, resource(1, 0)),
        _ => word(Op::Reduce32, 0, 10, 0, resource(0, 0)),
    };
    let byte = |slot, byte| if slot == Slot::N { 0 } else { byte };
    let with = |a: u8, b: u8, c: u8| {
        let imm = if row.imm == Imm::Third { c.into() } else { 0 };
        word(op, 10, byte(row.a, a), byte(row.b, b), imm)
    };
    let ret = word(Op::Ret, 0, 0, 0, 0);
    let load = |slot: u8| word(Op::LdU64, 4 + 2 * slot, 0, 0, slot.into());
    let from_rows = [load(0), load(1), load(2), with(4, 6, 8), take, ret];
    let from_uniforms = [
        with(UNIFORM_BASE, UNIFORM_BASE + 1, UNIFORM_BASE + 2),
        take,
        ret,
    ];
    let [rows, uniforms] = [&from_rows[..], &from_uniforms].map(|code| {
        let mut store = store();
        match run_in(&mut store, code, &operands) {
            Ok(_) => Ok(result(&mut store)),
            Err(fault) => Err(fault.kind),
        }
    });
    assert_eq!(rows, uniforms, "{op:?} of {operands:x?}");
    rows
}

fn f(x: f32) -> u64 {
    x.to_bits().into()
}

fn g(x: f64) -> u64 {
    x.to_bits()
}

fn i(x: i32) -> u64 {
    (x as u32).into()
}

fn l(x: i64) -> u64 {
    x as u64
}

/// Operation, operands, result.
fn alu_cases() -> Vec<(Op, [u64; 3], u64)> {
    use Op::*;
    let nan = f32::NAN;
    let m64 = u64::MAX;
    vec![
        (Mov32, [7 << 32 | 9, 0, 0], 9),
        (Mov64, [7 << 32 | 9, 0, 0], 7 << 32 | 9),
        (Sel32, [2, 10, 20], 10),
        (Sel32, [0, 10, 20], 20),
        (Sel64, [1, 10 << 40, 20 << 40], 10 << 40),
        (Sel64, [0, 10 << 40, 20 << 40], 20 << 40),
        (Add32, [0xffff_ffff, 2, 0], 1),
        (Sub32, [1, 2, 0], 0xffff_ffff),
        (Mul32, [0x8000_0001, 2, 0], 2),
        (DivU32, [0xffff_ffff, 2, 0], 0x7fff_ffff),
        (DivI32, [i(-7), 2, 0], i(-3)),
        (RemU32, [0xffff_ffff, 10, 0], 5),
        (RemI32, [i(-7), 2, 0], i(-1)),
        (MinU32, [i(-1), 3, 0], 3),
        (MinI32, [i(-1), 3, 0], i(-1)),
        (MaxU32, [i(-1), 3, 0], i(-1)),
        (MaxI32, [i(-1), 3, 0], 3),
        (And32, [12, 10, 0], 8),
        (Or32, [12, 10, 0], 14),
        (Xor32, [12, 10, 0], 6),
        (Shl32, [1, 33, 0], 2),
        (Shl32, [1, 31, 0], 1 << 31),
        (ShrU32, [i(-8), 1, 0], 0x7fff_fffc),
        (ShrU32, [8, 32, 0], 8),
        (ShrI32, [i(-8), 1, 0], i(-4)),
        (ShrI32, [i(-8), 63, 0], i(-1)),
        (Rotl32, [0x8000_0001, 1, 0], 3),
        (Rotl32, [0x8000_0001, 32, 0], 0x8000_0001),
        (Popc32, [0xf0f0, 0, 0], 8),
        (Clz32, [1, 0, 0], 31),
        (Clz32, [0, 0, 0], 32),
        (Ctz32, [8, 0, 0], 3),
        (Ctz32, [0, 0, 0], 32),
        (Add64, [m64, 2, 0], 1),
        (Sub64, [1, 2, 0], m64),
        (Mul64, [1 << 63 | 1, 2, 0], 2),
        (DivU64, [m64, 2, 0], m64 >> 1),
        (DivI64, [l(-7), 2, 0], l(-3)),
        (RemU64, [m64, 10, 0], 5),
        (RemI64, [l(-7), 2, 0], l(-1)),
        (MinU64, [m64, 3, 0], 3),
        (MinI64, [m64, 3, 0], m64),
        (MaxU64, [m64, 3, 0], m64),
        (MaxI64, [m64, 3, 0], 3),
        (And64, [3 << 40, 2 << 40, 0], 2 << 40),
        (Or64, [1 << 40, 2, 0], 1 << 40 | 2),
        (Xor64, [3 << 40, 2 << 40, 0], 1 << 40),
        (Shl64, [1, 65, 0], 2),
        (Shl64, [1, 40, 0], 1 << 40),
        (ShrU64, [m64, 63, 0], 1),
        (ShrI64, [l(-8), 1, 0], l(-4)),
        (Rotl64, [1 << 63 | 1, 65, 0], 3),
        (Popc64, [m64, 0, 0], 64),
        (Clz64, [1, 0, 0], 63),
        (Clz64, [0, 0, 0], 64),
        (Ctz64, [1 << 40, 0, 0], 40),
        (Ctz64, [0, 0, 0], 64),
        (MulHiU64, [u64::MAX, u64::MAX, 0], u64::MAX - 1),
        (ExpF32, [f(0.0), 0, 0], f(1.0)),
        (LnF32, [f(1.0), 0, 0], f(0.0)),
        (SinF32, [f(0.0), 0, 0], f(0.0)),
        (CosF32, [f(0.0), 0, 0], f(1.0)),
        (ExpF64, [g(0.0), 0, 0], g(1.0)),
        (LnF64, [g(1.0), 0, 0], g(0.0)),
        (SinF64, [g(0.0), 0, 0], g(0.0)),
        (CosF64, [g(0.0), 0, 0], g(1.0)),
        (AddF32, [f(0.1), f(0.2), 0], f(0.1 + 0.2)),
        (SubF32, [f(1.0), f(0.25), 0], f(0.75)),
        (MulF32, [f(3.0), f(-0.5), 0], f(-1.5)),
        (DivF32, [f(1.0), f(0.0), 0], f(f32::INFINITY)),
        (RemF32, [f(-5.5), f(2.0), 0], f(-1.5)),
        (MinF32, [f(nan), f(2.0), 0], f(2.0)),
        (MinF32, [f(1.0), f(2.0), 0], f(1.0)),
        (MaxF32, [f(1.0), f(nan), 0], f(1.0)),
        (MaxF32, [f(1.0), f(2.0), 0], f(2.0)),
        // 1 + 2^-12 squared is not representable: the fused form keeps the tail.
        (
            FmaF32,
            [
                f(1.0 + 0.000_244_140_63),
                f(1.0 + 0.000_244_140_63),
                f(-1.0 - 0.000_488_281_25),
            ],
            f(5.960_464_5e-8),
        ),
        (SqrtF32, [f(2.0), 0, 0], f(std::f32::consts::SQRT_2)),
        (FloorF32, [f(-1.5), 0, 0], f(-2.0)),
        (CeilF32, [f(-1.5), 0, 0], f(-1.0)),
        (RoundF32, [f(2.5), 0, 0], f(3.0)),
        (RoundF32, [f(-2.5), 0, 0], f(-3.0)),
        (TruncF32, [f(-1.5), 0, 0], f(-1.0)),
        (AddF64, [g(0.1), g(0.2), 0], g(0.1 + 0.2)),
        (SubF64, [g(1.0), g(0.25), 0], g(0.75)),
        (MulF64, [g(3.0), g(-0.5), 0], g(-1.5)),
        (DivF64, [g(1.0), g(3.0), 0], g(1.0 / 3.0)),
        (RemF64, [g(-5.5), g(2.0), 0], g(-1.5)),
        (MinF64, [g(f64::NAN), g(2.0), 0], g(2.0)),
        (MaxF64, [g(1.0), g(f64::NAN), 0], g(1.0)),
        (FmaF64, [g(2.0), g(3.0), g(4.0)], g(10.0)),
        (SqrtF64, [g(2.0), 0, 0], g(std::f64::consts::SQRT_2)),
        (FloorF64, [g(-1.5), 0, 0], g(-2.0)),
        (CeilF64, [g(-1.5), 0, 0], g(-1.0)),
        (RoundF64, [g(2.5), 0, 0], g(3.0)),
        (TruncF64, [g(-1.5), 0, 0], g(-1.0)),
        (Eq32, [5, 5, 0], 1),
        (Eq32, [5, 6, 0], 0),
        (Ne32, [5, 6, 0], 1),
        (LtU32, [i(-1), 1, 0], 0),
        (LeU32, [1, 1, 0], 1),
        (LtI32, [i(-1), 1, 0], 1),
        (LeI32, [i(-1), i(-1), 0], 1),
        (EqF32, [f(0.0), f(-0.0), 0], 1),
        (EqF32, [f(nan), f(nan), 0], 0),
        (NeF32, [f(nan), f(nan), 0], 1),
        (LtF32, [f(-1.0), f(1.0), 0], 1),
        (LtF32, [f(nan), f(1.0), 0], 0),
        (LeF32, [f(1.0), f(1.0), 0], 1),
        (LeF32, [f(1.0), f(nan), 0], 0),
        (Eq64, [1 << 32, 0, 0], 0),
        (Ne64, [1 << 32, 0, 0], 1),
        (LtU64, [1, m64, 0], 1),
        (LeU64, [m64, 1, 0], 0),
        (LtI64, [m64, 1, 0], 1),
        (LeI64, [1, m64, 0], 0),
        (EqF64, [g(0.0), g(-0.0), 0], 1),
        (NeF64, [g(f64::NAN), g(f64::NAN), 0], 1),
        (LtF64, [g(-1.0), g(1.0), 0], 1),
        (LeF64, [g(1.0), g(f64::NAN), 0], 0),
        (Zext64, [i(-1), 0, 0], 0xffff_ffff),
        (Sext64, [i(-1), 0, 0], m64),
        (Wrap32, [7 << 32 | 9, 0, 0], 9),
        (F32FromU32, [0x0100_0001, 0, 0], f(16_777_216.0)),
        (F32FromI32, [i(-3), 0, 0], f(-3.0)),
        (F32FromU64, [m64, 0, 0], f(18_446_744_073_709_551_616.0)),
        (F32FromI64, [l(-3), 0, 0], f(-3.0)),
        (F32FromF64, [g(0.1), 0, 0], f(0.1)),
        (F64FromU32, [i(-1), 0, 0], g(4_294_967_295.0)),
        (F64FromI32, [i(-1), 0, 0], g(-1.0)),
        (F64FromU64, [m64, 0, 0], g(18_446_744_073_709_551_616.0)),
        (F64FromI64, [m64, 0, 0], g(-1.0)),
        (F64FromF32, [f(0.5), 0, 0], g(0.5)),
        (U32FromF32, [f(-1.0), 0, 0], 0),
        (U32FromF32, [f(1e20), 0, 0], 0xffff_ffff),
        (U32FromF32, [f(nan), 0, 0], 0),
        (I32FromF32, [f(-1.9), 0, 0], i(-1)),
        (I32FromF32, [f(-1e20), 0, 0], i(i32::MIN)),
        (U64FromF32, [f(f32::INFINITY), 0, 0], m64),
        (I64FromF32, [f(-1e30), 0, 0], l(i64::MIN)),
        (U32FromF64, [g(1e20), 0, 0], 0xffff_ffff),
        (I32FromF64, [g(f64::NAN), 0, 0], 0),
        (U64FromF64, [g(-0.5), 0, 0], 0),
        (I64FromF64, [g(1e30), 0, 0], l(i64::MAX)),
    ]
}

#[test]
fn arithmetic_is_exact() {
    for (op, operands, result) in alu_cases() {
        assert_eq!(alu(op, operands), Ok(result), "{op:?} of {operands:x?}");
        assert_eq!(value(op, operands), Some(result), "{op:?} of {operands:x?}");
    }
}

#[test]
fn what_faults_or_looks_beyond_its_operands_has_no_value() {
    for op in [Op::DivU32, Op::RemI32, Op::DivI64, Op::RemU64] {
        assert_eq!(value(op, [7, 0, 0]), None, "{op:?}");
    }
    assert_eq!(value(Op::DivI64, [l(i64::MIN), l(-1), 0]), None);
    for op in [
        Op::Ld32,
        Op::LdU64,
        Op::RowLd32,
        Op::Len,
        Op::Append,
        Op::Ret,
    ] {
        assert_eq!(value(op, [0, 0, 0]), None, "{op:?}");
    }
}

#[test]
fn every_instruction_has_a_case() {
    let arithmetic: Vec<Op> = alu_cases().into_iter().map(|(op, ..)| op).collect();
    let atomics = atomic_cases().into_iter().map(|(op, ..)| op);
    let elsewhere = [
        [Op::LdU32, Op::LdU64, Op::Ld8, Op::Ld32, Op::Ld64, Op::St8],
        [
            Op::St32,
            Op::St64,
            Op::Len,
            Op::CsrBegin,
            Op::CsrEnd,
            Op::CsrTarget,
        ],
        [
            Op::AtomLd32,
            Op::AtomLd64,
            Op::AtomSt32,
            Op::AtomSt64,
            Op::Push,
            Op::Reduce32,
        ],
        [
            Op::Reduce64,
            Op::If,
            Op::Else,
            Op::EndIf,
            Op::Loop,
            Op::EndLoop,
        ],
        [
            Op::Break,
            Op::BreakIf,
            Op::BreakUnless,
            Op::Continue,
            Op::Ret,
            Op::RetV,
        ],
    ];
    let elsewhere = elsewhere
        .into_iter()
        .flatten()
        .chain([Op::Trap, Op::Assert, Op::Check])
        .chain([
            Op::RowLd32,
            Op::RowLd64,
            Op::RowSt32,
            Op::RowSt64,
            Op::RowFill32,
            Op::RowFill64,
            Op::Append,
            Op::ListSt8,
            Op::ListSt32,
            Op::ListSt64,
            Op::PushItem,
            Op::ItemSt8,
            Op::ItemSt32,
            Op::ItemSt64,
        ]);
    let mut covered: Vec<Op> = arithmetic
        .into_iter()
        .chain(atomics)
        .chain(elsewhere)
        .collect();
    covered.sort();
    covered.dedup();
    assert_eq!(covered, Op::ALL);
}

#[test]
fn divisions_trap() {
    use TrapKind::{DivideByZero, DivideOverflow};
    for op in [Op::DivU32, Op::DivI32, Op::RemU32, Op::RemI32] {
        assert_eq!(alu(op, [7, 0, 0]), Err(DivideByZero), "{op:?}");
    }
    for op in [Op::DivU64, Op::DivI64, Op::RemU64, Op::RemI64] {
        assert_eq!(alu(op, [7, 0, 0]), Err(DivideByZero), "{op:?}");
    }
    for op in [Op::DivI32, Op::RemI32] {
        let operands = [i(i32::MIN), i(-1), 0];
        assert_eq!(alu(op, operands), Err(DivideOverflow), "{op:?}");
    }
    for op in [Op::DivI64, Op::RemI64] {
        let operands = [l(i64::MIN), l(-1), 0];
        assert_eq!(alu(op, operands), Err(DivideOverflow), "{op:?}");
    }
}

#[test]
fn immediates_sign_extend_in_64_bit_operands() {
    let code = [
        word(Op::Mov64, 4, IMM, 0, i(-2) as u32),
        word(Op::Reduce64, 0, 4, 0, resource(1, 0)),
        word(Op::Add32, 4, 0, IMM, 41),
        word(Op::Reduce32, 0, 4, 0, resource(0, 0)),
        word(Op::Ret, 0, 0, 0, 0),
    ];
    let mut store = store();
    assert_eq!(run_in(&mut store, &code, &[]), Ok(0));
    assert_eq!(store.reduced, [vec![42], vec![l(-2)]]);
}

#[test]
fn uniforms_load_by_index() {
    let code = [
        word(Op::LdU32, 4, 0, 0, 64),
        word(Op::Reduce32, 0, 4, 0, resource(0, 0)),
        word(Op::LdU64, 4, 0, 0, 64),
        word(Op::Reduce64, 0, 4, 0, resource(1, 0)),
        word(Op::Ret, 0, 0, 0, 0),
    ];
    let mut uniforms = [0; 65];
    uniforms[64] = 5 << 32 | 6;
    let mut store = store();
    assert_eq!(run_in(&mut store, &code, &uniforms), Ok(0));
    assert_eq!(store.reduced, [vec![6], vec![5 << 32 | 6]]);
}

/// Operation, buffer, its element before, operand, element after; the third operand of a compare-exchange is 77.
fn atomic_cases() -> Vec<(Op, Scalar, u64, u64, u64)> {
    use Op::*;
    use Scalar::*;
    let nan = f(f32::NAN);
    vec![
        (AtomSwap32, I32, 5, 9, 9),
        (AtomSwap64, F64, g(5.0), g(9.0), g(9.0)),
        (AtomCas32, U32, 5, 5, 77),
        (AtomCas32, U32, 5, 6, 5),
        (AtomCas64, U64, 5 << 40, 5 << 40, 77),
        (AtomCas64, U64, 5 << 40, 5, 5 << 40),
        (AtomAdd32, U32, i(-1), 3, 2),
        (AtomAdd64, U64, l(-1), 3, 2),
        (AtomAddF32, F32, f(0.5), f(0.25), f(0.75)),
        (AtomAddF64, F64, g(0.5), g(0.25), g(0.75)),
        (AtomMinU32, U32, i(-1), 3, 3),
        (AtomMinI32, I32, i(-1), 3, i(-1)),
        (AtomMinU64, U64, l(-1), 3, 3),
        (AtomMinI64, I64, l(-1), 3, l(-1)),
        (AtomMinF32, F32, f(2.0), nan, f(2.0)),
        (AtomMinF32, F32, nan, f(2.0), f(2.0)),
        (AtomMinF64, F64, g(2.0), g(1.0), g(1.0)),
        (AtomMaxU32, U32, i(-1), 3, i(-1)),
        (AtomMaxI32, I32, i(-1), 3, 3),
        (AtomMaxU64, U64, l(-1), 3, l(-1)),
        (AtomMaxI64, I64, l(-1), 3, 3),
        (AtomMaxF32, F32, nan, f(2.0), f(2.0)),
        (AtomMaxF64, F64, g(2.0), g(1.0), g(2.0)),
        (AtomAnd32, U32, 12, 10, 8),
        (AtomAnd64, U64, 12 << 40, 10 << 40, 8 << 40),
        (AtomOr32, U32, 12, 10, 14),
        (AtomOr64, U64, 12 << 40, 10 << 40, 14 << 40),
        (AtomXor32, U32, 12, 10, 6),
        (AtomXor64, U64, 12 << 40, 10 << 40, 6 << 40),
    ]
}

#[test]
fn atomics_update_and_return_the_old_value() {
    for (op, scalar, before, operand, after) in atomic_cases() {
        let is_cas = [Op::AtomCas32, Op::AtomCas64].contains(&op);
        let third = if is_cas { UNIFORM_BASE + 1 } else { 0 };
        let take = match op.row().d {
            Slot::OptD => word(Op::Reduce64, 0, 4, 0, resource(1, 0)),
            _ => word(Op::Reduce32, 0, 4, 0, resource(0, 0)),
        };
        let atomic = |d| word(op, d, 2, UNIFORM_BASE, resource(scalar as u16, third));
        let ret = word(Op::Ret, 0, 0, 0, 0);
        let old = if is_cas {
            u64::from(after == 77)
        } else {
            before
        };
        for (code, results) in [
            (&[atomic(4), take, ret][..], vec![old]),
            (&[atomic(IMM), ret], vec![]),
        ] {
            let mut store = store();
            store.buffers[scalar as usize][2] = before;
            assert_eq!(run_in(&mut store, code, &[operand, 77]), Ok(0), "{op:?}");
            assert_eq!(store.buffers[scalar as usize], [0, 0, after, 0], "{op:?}");
            assert_eq!(store.reduced.concat(), results, "{op:?}");
        }
    }
}

#[test]
fn buffers_are_read_and_written_at_their_width() {
    let (bytes, words, longs) = (
        resource(Scalar::U8 as u16, 0),
        resource(Scalar::U32 as u16, 0),
        resource(Scalar::I64 as u16, 0),
    );
    let u = UNIFORM_BASE;
    let code = [
        word(Op::St8, 0, 1, u, bytes),
        word(Op::Ld8, 4, 1, 0, bytes),
        word(Op::St32, 0, 2, u, words),
        word(Op::Ld32, 5, 2, 0, words),
        word(Op::AtomSt32, 0, 1, 4, words),
        word(Op::AtomLd32, 6, 1, 0, words),
        word(Op::St64, 0, 2, u, longs),
        word(Op::Ld64, 8, 2, 0, longs),
        word(Op::AtomSt64, 0, 1, 8, longs),
        word(Op::AtomLd64, 10, 1, 0, longs),
        word(Op::Len, 12, 0, 0, longs),
        word(Op::Reduce32, 0, 5, 0, 0),
        word(Op::Reduce32, 0, 6, 0, 0),
        word(Op::Reduce32, 0, 12, 0, 0),
        word(Op::Reduce64, 0, 10, 0, resource(1, 0)),
        word(Op::Ret, 0, 0, 0, 0),
    ];
    let x = 0x0102_0304_0506_0708;
    let mut store = store();
    assert_eq!(run_in(&mut store, &code, &[x]), Ok(0));
    assert_eq!(store.buffers[Scalar::U8 as usize], [0, 8, 0, 0]);
    assert_eq!(store.buffers[Scalar::U32 as usize], [0, 8, 0x0506_0708, 0]);
    assert_eq!(store.buffers[Scalar::I64 as usize], [0, x, x, 0]);
    assert_eq!(store.reduced, [vec![0x0506_0708, 8, 4], vec![x]]);
}

#[test]
fn every_index_is_checked() {
    let cases = [
        (word(Op::Ld32, 4, UNIFORM_BASE, 0, resource(2, 0)), 4),
        (
            word(Op::St64, 0, UNIFORM_BASE, UNIFORM_BASE, resource(5, 0)),
            4,
        ),
        (
            word(
                Op::AtomAdd32,
                IMM,
                UNIFORM_BASE,
                UNIFORM_BASE,
                resource(2, 0),
            ),
            4,
        ),
        (word(Op::CsrBegin, 4, UNIFORM_BASE, 0, 0), 4),
        (word(Op::CsrEnd, 4, UNIFORM_BASE, 0, 0), 4),
        (word(Op::CsrTarget, 4, UNIFORM_BASE, 0, 0), 3),
        (word(Op::Push, 0, UNIFORM_BASE, 0, 0), 4),
        (word(Op::Check, 0, UNIFORM_BASE, IMM, 4), 4),
    ];
    for (faulting, len) in cases {
        let code = [faulting, word(Op::Ret, 0, 0, 0, 0)];
        for index in [len, u64::from(u32::MAX)] {
            let fault = Fault {
                pc: 0,
                kind: TrapKind::IndexOutOfBounds,
                index,
                len,
            };
            assert_eq!(run_in(&mut store(), &code, &[index]), Err(fault));
        }
        assert_eq!(run_in(&mut store(), &code, &[len - 1]), Ok(0));
    }
}

#[test]
fn local_arrays_are_rows_with_checked_indices() {
    let (u, array) = (UNIFORM_BASE, |first: u32, len: u32| first | len << 8);
    let code = [
        word(Op::RowFill32, 0, u, 0, array(4, 3)),
        word(Op::RowSt32, 0, 1, u + 1, array(4, 3)),
        word(Op::RowLd32, 3, 1, 0, array(4, 3)),
        say(3),
        word(Op::RowLd32, 3, u + 2, 0, array(4, 3)),
        say(3),
        word(Op::RowFill64, 0, u, 0, array(8, 2)),
        word(Op::RowSt64, 0, 1, u + 1, array(8, 2)),
        word(Op::RowLd64, 12, 1, 0, array(8, 2)),
        word(Op::Reduce64, 0, 12, 0, resource(1, 0)),
        word(Op::RowLd64, 12, u + 2, 0, array(8, 2)),
        word(Op::Reduce64, 0, 12, 0, resource(1, 0)),
        word(Op::Ret, 0, 0, 0, 0),
    ];
    let (a, b) = (1 << 40 | 5, 1 << 41 | 6);
    let mut memory = store();
    assert_eq!(run_in(&mut memory, &code, &[a, b, 0]), Ok(0));
    assert_eq!(memory.reduced, [vec![6, 5], vec![b, a]]);
    for (index, pc, len) in [(3, 4, 3), (u64::from(u32::MAX), 4, 3), (2, 10, 2)] {
        let fault = Fault {
            pc,
            kind: TrapKind::IndexOutOfBounds,
            index,
            len,
        };
        assert_eq!(run_in(&mut store(), &code, &[a, b, index]), Err(fault));
    }
}

#[test]
fn arrays_are_inside_the_rows_and_assigned_as_a_whole() {
    let array = |first: u32, len: u32| first | len << 8;
    let rules = |op: Op, d: u8, b: u8, imm: u32| {
        let code = [word(op, d, 0, b, imm), word(Op::Ret, 0, 0, 0, 0)];
        let errors = verify(&kernel_program(&code, 0)).unwrap_err();
        errors.into_iter().map(|e| e.rule).collect::<Vec<_>>()
    };
    let outside = |first, len| {
        let rows = 16;
        vec![Rule::ArrayRows { first, len, rows }]
    };
    assert_eq!(rules(Op::RowFill32, 0, 0, array(4, 0)), outside(4, 0));
    assert_eq!(rules(Op::RowFill32, 0, 0, array(4, 13)), outside(4, 13));
    assert_eq!(rules(Op::RowFill64, 0, 0, array(15, 1)), outside(15, 1));
    assert_eq!(rules(Op::RowLd64, 4, 0, array(4, 7)), outside(4, 7));
    // The first row is enough: an array may have most of a kernel's rows.
    let unassigned = [Rule::Unassigned(3)];
    assert_eq!(rules(Op::RowLd32, 5, 0, array(2, 3)), unassigned);
    assert_eq!(rules(Op::RowSt32, 0, 0, array(2, 3)), unassigned);
    let imm = 1 << 16 | array(4, 1);
    assert_eq!(rules(Op::RowFill32, 0, 0, imm), [Rule::Immediate(imm)]);
}

/// Words that store `u`, `u + 1` and `u + 2` of the uniforms into the fields of the item in row 3.
fn field_stores(ops: [Op; 3], id: u16) -> [Word; 3] {
    let field = |i: u8| word(ops[i as usize], 0, 3, UNIFORM_BASE + i, resource(id, i));
    [0, 1, 2].map(field)
}

#[test]
fn items_are_reserved_and_filled_field_by_field() {
    let (log, work) = (resource(0, 0), resource(1, 0));
    let mut code = vec![word(Op::Append, 3, 0, 0, log)];
    code.extend(field_stores([Op::ListSt8, Op::ListSt32, Op::ListSt64], 0));
    code.extend([say(3), word(Op::PushItem, 3, 0, 0, work)]);
    code.extend(field_stores([Op::ItemSt8, Op::ItemSt32, Op::ItemSt64], 1));
    code.push(word(Op::Ret, 0, 0, 0, 0));
    let mut memory = store();
    memory.items[0].push([1; 3]);
    assert_eq!(
        run_in(&mut memory, &code, &[0x102, 1 << 32 | 7, u64::MAX]),
        Ok(0)
    );
    let item = [2, 7, u64::MAX];
    assert_eq!(memory.items, [vec![[1; 3], item], vec![item]]);
    assert_eq!(memory.reduced[0], [1]);
    let text = disasm::kernel(&kernel_program(&code, 3), KernelId(0));
    let lines: Vec<&str> = text.lines().skip(1).map(|l| l[6..].trim()).collect();
    assert_eq!(
        lines[..6],
        [
            "append r3, log  ; bfs.rs:12:9",
            "list.st.b8 log[r3].0, round",
            "list.st.b32 log[r3].1, round",
            "list.st.b64 log[r3].2, round",
            "reduce.b32 sum32, r3",
            "push.item r3, work  ; bfs.rs:12:9",
        ]
    );
}

#[test]
fn items_reach_their_rows() {
    let code = [
        word(Op::Reduce32, 0, 5, 0, 0),
        word(Op::Reduce64, 0, 6, 0, resource(1, 0)),
        word(Op::Ret, 0, 0, 0, 0),
    ];
    let mut program = program(code.to_vec(), 8, 0, vec![]);
    program.waves[0].domain = Domain::ListItems(ListId(0), Portion::New);
    let mut fields = [None; MAX_FIELDS];
    (fields[0], fields[2]) = (Some(5), Some(6));
    program.kernels[0].item = ItemRows {
        index: Some(0),
        fields,
        ..ItemRows::default()
    };
    program.frontiers[0].owner = None; // nothing sweeps it any more
    assert_eq!(verify(&program), Ok(()));
    assert_eq!(decode(&encode(&program)).as_ref(), Ok(&program));
    let shown = disasm::program(&program);
    assert!(shown.contains("wave relax over items(log, new)"), "{shown}");
    assert!(
        shown.contains("kernel relax (index r0, field 0 r5, field 2 r6)"),
        "{shown}"
    );
    let mut store = Store::new(&program);
    let mut interpreter = Interpreter::new(&program.kernels[0], &[]);
    let values = [7, 8, u64::MAX - 1];
    let ran = interpreter.run_fields(3, FIELDS.into_iter().zip(values), &mut store);
    assert_eq!(ran, Ok(0));
    assert_eq!(store.reduced, [vec![7], vec![u64::MAX - 1]]);

    let rules = |change: fn(&mut Program)| {
        let mut broken = program.clone();
        change(&mut broken);
        let errors = verify(&broken).expect_err("the program is broken");
        errors.into_iter().map(|e| e.rule).collect::<Vec<_>>()
    };
    assert_eq!(
        rules(|p| p.kernels[0].item.fields[2] = Some(7))[0],
        Rule::ItemRow(8)
    );
    assert_eq!(
        rules(|p| p.kernels[0].item.fields[3] = Some(4)),
        [Rule::ItemDomain(4)]
    );
    assert_eq!(rules(|p| p.lists[0].fields.clear())[0], Rule::Fields(0));
    assert_eq!(
        rules(|p| p.lists[0].fields = vec![Scalar::U32; 9])[0],
        Rule::Fields(9)
    );
    let edges = Domain::EdgesFrom(TopologyId(0), FrontierId(1));
    let mut broken = program.clone();
    broken.waves[0].domain = edges;
    let errors = verify(&broken).unwrap_err();
    assert_eq!(errors[0].rule, Rule::ItemsNotNodes(1));
    let store_of = |op, field| {
        let code = [
            word(op, 0, 0, 1, resource(0, field)),
            word(Op::Ret, 0, 0, 0, 0),
        ];
        verify(&kernel_program(&code, 0)).map_err(|e| e[0].rule.clone())
    };
    let wrong = |field, bytes| {
        let resource = Resource::from(ListId(0));
        Err(Rule::Field {
            resource,
            field,
            bytes,
        })
    };
    assert_eq!(store_of(Op::ListSt32, 1), Ok(()));
    assert_eq!(store_of(Op::ListSt32, 0), wrong(0, 4));
    assert_eq!(store_of(Op::ListSt8, 3), wrong(3, 1));
    let push = |op, id| {
        let code = [
            word(op, 3, 0, 0, resource(id, 0)),
            word(Op::Ret, 0, 0, 0, 0),
        ];
        verify(&kernel_program(&code, 0)).map_err(|e| e[0].rule.clone())
    };
    assert_eq!(push(Op::PushItem, 0), Err(Rule::ItemsNodes(0)));
    assert_eq!(push(Op::Append, 1).map_err(|_| ()), Err(()));
}

/// On a device, a reserved item lies in memory that was somebody else's.
#[test]
fn a_reserved_item_is_filled_before_the_code_branches() {
    let ret = word(Op::Ret, 0, 0, 0, 0);
    let (log, work) = (resource(0, 0), resource(1, 0));
    let rules = |words: &[Word]| {
        let program = kernel_program(&[words, &[ret]].concat(), 3);
        verify(&program).map_err(|e| e.into_iter().map(|e| e.rule).collect::<Vec<_>>())
    };
    let missing = |resource, field| Err(vec![Rule::Unfilled { resource, field }]);
    let (list, frontier) = (Resource::from(ListId(0)), Resource::from(FrontierId(1)));
    let append = word(Op::Append, 3, 0, 0, log);
    let [first, second, third] = field_stores([Op::ListSt8, Op::ListSt32, Op::ListSt64], 0);
    assert_eq!(rules(&[append, first, second, third]), Ok(()));
    assert_eq!(rules(&[append, third, first, second]), Ok(()));
    let between = word(Op::Mov32, 4, 0, 0, 0);
    assert_eq!(rules(&[append, first, between, second, third]), Ok(()));
    assert_eq!(rules(&[append]), missing(list, 0));
    assert_eq!(rules(&[append, first, third]), missing(list, 1));
    // Another slot by then.
    let other = word(Op::Mov32, 3, 0, 0, 0);
    assert_eq!(
        rules(&[append, first, second, other, third]),
        missing(list, 2)
    );
    // Not on every path.
    let (opens, closes) = (word(Op::If, 0, 0, 0, 5), word(Op::EndIf, 0, 0, 0, 0));
    let branching = [append, first, second, opens, third, closes];
    let mut program = kernel_program(&[&branching[..], &[ret]].concat(), 3);
    program.kernels[0].frames = 2;
    let errors = verify(&program).unwrap_err();
    assert_eq!(errors[0].at, Place::Word(KernelId(0), 0));
    assert_eq!(
        Err(vec![errors[0].rule.clone()]),
        missing(list, 2) as Result<(), _>
    );
    let push = word(Op::PushItem, 3, 0, 0, work);
    let [first, second, third] = field_stores([Op::ItemSt8, Op::ItemSt32, Op::ItemSt64], 1);
    assert_eq!(rules(&[push, first, second, third]), Ok(()));
    assert_eq!(rules(&[push, second, third]), missing(frontier, 0));
}

#[test]
fn topologies_answer_and_frontiers_take() {
    let code = [
        word(Op::CsrBegin, 4, 1, 0, 0),
        word(Op::CsrEnd, 5, 1, 0, 0),
        word(Op::CsrTarget, 6, 0, 0, 0),
        word(Op::Push, 0, 6, 0, 0),
        word(Op::Push, 0, 6, 0, 0),
        word(Op::Reduce32, 0, 4, 0, 0),
        word(Op::Reduce32, 0, 5, 0, 0),
        word(Op::Ret, 0, 0, 0, 0),
    ];
    let mut store = store();
    assert_eq!(run_in(&mut store, &code, &[]), Ok(0));
    assert_eq!(store.frontiers, [vec![2, 2], vec![]]);
    assert_eq!(store.reduced[0], [1, 2]);
}

/// Runs code that reports values with `reduce` to a sum.
fn trace(code: &[Word], uniforms: &[u64]) -> Vec<u64> {
    let mut store = store();
    assert_eq!(run_in(&mut store, code, uniforms), Ok(0));
    store.reduced.swap_remove(0)
}

fn say(row: u8) -> Word {
    word(Op::Reduce32, 0, row, 0, 0)
}

#[test]
fn branches_take_one_side() {
    let both = [
        word(Op::Mov32, 4, IMM, 0, 10),
        word(Op::Mov32, 5, IMM, 0, 20),
        word(Op::If, 0, UNIFORM_BASE, 0, 4),
        say(4),
        word(Op::Else, 0, 0, 0, 6),
        say(5),
        word(Op::EndIf, 0, 0, 0, 0),
        say(0),
        word(Op::Ret, 0, 0, 0, 0),
    ];
    assert_eq!(trace(&both, &[3]), [10, 1]);
    assert_eq!(trace(&both, &[0]), [20, 1]);
    let one = [
        word(Op::If, 0, UNIFORM_BASE, 0, 3),
        say(0),
        word(Op::Ret, 0, 0, 0, 0),
        word(Op::EndIf, 0, 0, 0, 0),
        say(2),
        word(Op::Ret, 0, 0, 0, 0),
    ];
    assert_eq!(trace(&one, &[1]), [1]);
    assert_eq!(trace(&one, &[0]), [2]);
}

#[test]
fn loops_break_and_continue() {
    // for r4 in 0.. { if r4 == 5 { break } if r4 odd { continue } say(r4) }, counting at the start of a turn.
    let code = [
        word(Op::Mov32, 4, IMM, 0, u32::MAX),
        word(Op::Loop, 0, 0, 0, 9),
        word(Op::Add32, 4, 4, IMM, 1),
        word(Op::Eq32, 5, 4, IMM, 5),
        word(Op::BreakIf, 0, 5, 0, 0),
        word(Op::And32, 5, 4, IMM, 1),
        word(Op::If, 0, 5, 0, 8),
        word(Op::Continue, 0, 0, 0, 0),
        word(Op::EndIf, 0, 0, 0, 0),
    ];
    let mut code = code.to_vec();
    code[1].imm = 11;
    code.extend([
        say(4),
        word(Op::EndLoop, 0, 0, 0, 1),
        say(5),
        word(Op::Ret, 0, 0, 0, 0),
    ]);
    assert_eq!(trace(&code, &[]), [0, 2, 4, 1]);
}

#[test]
fn breaks_and_continues_leave_outer_loops() {
    // loop { r4 += 1; loop { break.unless(r4 < 3) 1; if r4 == 1 { continue 1 } say(r4); break } say(r0) }
    let code = [
        word(Op::Mov32, 4, IMM, 0, 0),
        word(Op::Loop, 0, 0, 0, 14),
        word(Op::Add32, 4, 4, IMM, 1),
        word(Op::Loop, 0, 0, 0, 12),
        word(Op::LtU32, 5, 4, IMM, 3),
        word(Op::BreakUnless, 0, 5, 0, 1),
        word(Op::Eq32, 5, 4, IMM, 1),
        word(Op::If, 0, 5, 0, 9),
        word(Op::Continue, 0, 0, 0, 1),
        word(Op::EndIf, 0, 0, 0, 0),
        word(Op::Break, 0, 0, 0, 0),
        word(Op::EndLoop, 0, 0, 0, 3),
        say(4),
        word(Op::EndLoop, 0, 0, 0, 1),
        say(2),
        word(Op::Ret, 0, 0, 0, 0),
    ];
    assert_eq!(trace(&code, &[]), [2, 2]);
}

#[test]
fn traps_and_asserts_stop_the_item() {
    let code = [
        word(Op::Assert, 0, UNIFORM_BASE, 0, TrapKind::Assert as u32),
        word(Op::If, 0, UNIFORM_BASE + 1, 0, 3),
        word(Op::Trap, 0, 0, 0, TrapKind::Panic as u32),
        word(Op::EndIf, 0, 0, 0, 0),
        word(Op::Ret, 0, 0, 0, 0),
    ];
    let run = |uniforms: [u64; 2]| run_in(&mut store(), &code, &uniforms);
    let fault = |pc, kind| Fault {
        pc,
        kind,
        index: 0,
        len: 0,
    };
    assert_eq!(run([1, 0]), Ok(0));
    assert_eq!(run([0, 0]), Err(fault(0, TrapKind::Assert)));
    assert_eq!(run([1, 1]), Err(fault(2, TrapKind::Panic)));
}

#[test]
fn conditions_return_a_value() {
    let program = kernel_program(&[word(Op::Ret, 0, 0, 0, 0)], 0);
    assert_eq!(verify(&program), Ok(()));
    let until = &program.kernels[1];
    let value = |len| Interpreter::new(until, &[len]).run(Item::default(), &mut store());
    assert_eq!(value(0), Ok(1));
    assert_eq!(value(3), Ok(0));
}

// ---------------------------------------------------------------------------------------------------------------------
// Container

#[test]
fn the_container_starts_as_documented() {
    let program = kernel_program(&[word(Op::Ret, 0, 0, 0, 0)], 0);
    let bytes = encode(&program);
    assert_eq!(bytes[..8], *b"VIR0\x01\x00\x00\x00");
    assert_eq!(
        bytes[8..16],
        container::content_hash(&program).to_le_bytes()
    );
    assert_eq!(
        bytes[16..32],
        [
            6, 0, 0, 0, 1, 0, 0, 0, 92, 0, 0, 0, bytes[28], bytes[29], 0, 0
        ]
    );
}

#[test]
fn the_hash_covers_everything_but_the_verdict_on_evidence() {
    let mut program = kernel_program(&[word(Op::Ret, 0, 0, 0, 0)], 0);
    program.messages = vec![(SiteId(0), "says".into())];
    let hash = container::content_hash(&program);
    let changed = |change: fn(&mut Program)| {
        let mut other = program.clone();
        change(&mut other);
        assert!(encode(&program) != encode(&other));
        container::content_hash(&other) != hash
    };
    assert!(changed(|p| p.buffers[0].name = "other".into()));
    assert!(changed(|p| p.constants[0].bits ^= 1));
    assert!(changed(|p| p.kernels[0].code[0].d ^= 1));
    assert!(changed(|p| p.kernels[0].name = "other".into()));
    assert!(changed(|p| p.schedule.truncate(1)));
    assert!(changed(|p| p.agreement = Agreement::default()));
    assert!(changed(|p| p.manifest.title = "other".into()));
    assert!(changed(|p| p.manifest.program_hash = Some(7)));
    assert!(changed(|p| p.sites[0].line += 1));
    assert!(changed(|p| p.messages[0].1 = "says otherwise".into()));
    assert!(!changed(|p| p.manifest.unproven = true));
    assert!(!changed(|p| p.manifest.disprove(Stale::Program)));
}

#[test]
fn what_begins_anew_and_lists_of_nodes_are_kept() {
    let mut program = kernel_program(&[word(Op::Ret, 0, 0, 0, 0)], 0);
    let before = encode(&program);
    program.frontiers[0].unique = true;
    let unique = encode(&program);
    program.frontiers[0].stays = true;
    let list = encode(&program);
    program.frontiers[0].reset = Some(FixpointId(0));
    program.lists[0].reset = Some(FixpointId(0));
    program.buffers[3].reset = Some(FixpointId(0));
    let reset = encode(&program);
    assert_eq!(decode(&reset).as_ref(), Ok(&program));
    assert!(before != unique && unique != list && list != reset);
    assert!(before.len() == unique.len() && unique.len() == list.len());
    let text = disasm::program(&program);
    for line in ["frontier front: ", "list log: "] {
        let line = text.lines().find(|l| l.trim_start().starts_with(line));
        let line = line.unwrap_or_else(|| panic!("{text}"));
        assert!(line.contains(", anew in levels"), "{line}");
    }
}

#[test]
fn what_a_relation_asks_of_its_list_is_kept() {
    let mut program = kernel_program(&[word(Op::Ret, 0, 0, 0, 0)], 0);
    program.kernels[0].item = ItemRows::default();
    program.frontiers[0].owner = None; // nothing sweeps it any more
    let over = |portion| {
        let mut program = program.clone();
        program.waves[0].domain = Domain::ListItems(ListId(0), portion);
        program
    };
    let portions = [Portion::All, Portion::New, Portion::Last].map(over);
    let shown = ["items(log)", "items(log, new)", "items(log, last)"];
    let marks = [vec![], vec![], vec![(FixpointId(0), ListId(0))]];
    for ((program, shown), marks) in portions.iter().zip(shown).zip(marks) {
        assert_eq!(verify(program), Ok(()));
        assert_eq!(decode(&encode(program)).as_ref(), Ok(program));
        let text = disasm::program(program);
        assert!(
            text.contains(&format!("wave relax over {shown}\n")),
            "{text}"
        );
        assert_eq!(program.marks(), marks);
    }

    let [all, _, last] = portions;
    let mut settled = all.clone();
    settled.kernels[1].code[0] = word(Op::Eq32, 0, UNIFORM_BASE, UNIFORM_BASE + 1, 0);
    settled.kernels[1].uniforms = vec![Uniform::Len(ListId(0).into()), Uniform::Began(ListId(0))];
    assert_eq!(verify(&settled), Ok(()));
    assert_eq!(decode(&encode(&settled)).as_ref(), Ok(&settled));
    let text = disasm::kernel(&settled, KernelId(1));
    assert!(text.contains("eq.b32 r0, len(log), began(log)"), "{text}");
    assert_eq!(settled.marks(), [(FixpointId(0), ListId(0))]);
    settled.waves[0].domain = last.waves[0].domain;
    assert_eq!(settled.marks(), [(FixpointId(0), ListId(0))], "once");

    let rules = |program: &Program| {
        let errors = verify(program).expect_err("the program is broken");
        errors.into_iter().map(|e| e.rule).collect::<Vec<_>>()
    };
    settled.kernels[1].uniforms[1] = Uniform::Began(ListId(1));
    let missing = Rule::Id {
        table: "list",
        id: 1,
        count: 1,
    };
    assert!(rules(&settled).contains(&missing), "{:?}", rules(&settled));
    let mut in_wave = all;
    in_wave.kernels[0].uniforms = vec![Uniform::Began(ListId(0))];
    assert!(rules(&in_wave).contains(&Rule::FrontierLenInWave));
    let mut outside = last;
    outside.waves[0].fixpoint = None;
    outside.schedule.swap(0, 1);
    assert!(rules(&outside).contains(&Rule::LastOutside));
}

#[test]
fn a_key_is_looked_for_in_the_cells_of_its_table() {
    let keys = (0..2_000).chain([u64::MAX - 1, 1 << 32, 1 << 63]);
    for cells in [1, 2, 255, 3_000, u32::MAX] {
        assert!(
            keys.clone()
                .all(|key| Table::first_cell(key, cells) < cells)
        );
    }
    // Keys that differ in few bits, or in the high ones alone, begin in many cells.
    for shift in [0, 20, 32, 53] {
        let mut begin = vec![0; 3_000];
        let keys = (0..2_000).map(|k: u64| k << shift);
        keys.for_each(|key| begin[Table::first_cell(key, 3_000) as usize] += 1);
        let most = begin.iter().max();
        assert!(most <= Some(&8), "{most:?} of those shifted by {shift}");
    }
    let bits = Table::key_bits(&[Scalar::Bool, Scalar::U8, Scalar::I32]);
    assert_eq!(
        (bits, Table::key_bits(&[Scalar::F64])),
        (48, Table::KEY_BITS)
    );
}

#[test]
fn a_changed_byte_of_any_section_is_found() {
    let mut program = kernel_program(&[word(Op::Ret, 0, 0, 0, 0)], 0);
    program.manifest.title = "a title".into();
    let good = encode(&program);
    for at in 92..good.len() {
        let mut bytes = good.clone();
        bytes[at] ^= 1;
        // `unproven` alone is of the verdict and a flag.
        let verdict = decode(&bytes).ok().map(|p| p.manifest.unproven);
        assert!(verdict.is_none_or(|unproven| unproven), "byte {at}");
    }
}

#[test]
fn broken_containers_are_refused_by_name() {
    let program = kernel_program(&[word(Op::Ret, 0, 0, 0, 0)], 0);
    let good = encode(&program);
    let with = |at: usize, byte: u8| {
        let mut bytes = good.clone();
        bytes[at] = byte;
        decode(&bytes).unwrap_err()
    };
    assert_eq!(with(3, b'1'), DecodeError::Magic(*b"VIR1"));
    assert_eq!(with(4, 2), DecodeError::Version(2));
    assert_eq!(with(6, 3), DecodeError::Flags(3));
    assert!(matches!(with(8, good[8] ^ 1), DecodeError::Hash { .. }));
    assert!(matches!(
        with(20, 2),
        DecodeError::SectionTable {
            id: 2,
            offset: 92,
            ..
        }
    ));
    assert!(matches!(decode(b"VI"), Err(DecodeError::Truncated { .. })));
    let longer = [&good[..], &[0]].concat();
    let at = good.len();
    assert_eq!(decode(&longer), Err(DecodeError::Trailing { at, bytes: 1 }));
    // The first topology's name: a count of 4 GiB.
    let mut lying = good.clone();
    lying[96..100].copy_from_slice(&[0xff; 4]);
    assert!(matches!(
        decode(&lying),
        Err(DecodeError::Truncated { at: 100, .. })
    ));
}

#[test]
fn parts_fill_in_constants_and_positions() {
    let mut skeleton = kernel_program(&[word(Op::Ret, 0, 0, 0, 0)], 0);
    skeleton.sites.clear();
    skeleton.constants[0] = Constant {
        scalar: Scalar::U32,
        bits: 0,
    };
    assert_eq!(verify(&skeleton), Ok(()));
    let bytes: &'static [u8] = encode(&skeleton).leak();
    const HERE: &std::panic::Location<'static> = here();
    let parts = Parts {
        skeleton: bytes,
        constants: &[&[], &[17]],
        sites: &[&[], &[HERE]],
        max_rounds: &[],
        rooms: &[],
    };
    let program = parts.program().unwrap();
    assert_eq!(program.constants[0].bits, 17);
    assert_eq!(program.sites[0].file, file!());
    assert_eq!(program.sites[0].line, HERE.line());
    let parts = Parts {
        constants: &[&[1, 2]],
        ..parts
    };
    let refused = parts.program().unwrap_err();
    let pool = container::PartsError::Constants { named: 2, pool: 1 };
    assert_eq!(refused, pool);
}

// ---------------------------------------------------------------------------------------------------------------------
// Verifier

/// A program that breaks no rule.
fn sound() -> Program {
    let code = [
        word(Op::Loop, 0, 0, 0, 6),
        word(Op::Ld32, 4, 2, 0, resource(2, 0)),
        word(Op::BreakIf, 0, 4, 0, 0),
        word(Op::Add64, 4, UNIFORM_BASE, IMM, 1),
        word(Op::AtomMinU32, IMM, 0, 4, resource(2, 0)),
        word(Op::EndLoop, 0, 0, 0, 0),
        word(Op::Ret, 0, 0, 0, 0),
    ];
    let program = kernel_program(&code, 1);
    assert_eq!(verify(&program), Ok(()));
    program
}

/// The errors of the sound program after a change.
fn broken(change: impl FnOnce(&mut Program)) -> Vec<(Place, Rule)> {
    let mut program = sound();
    change(&mut program);
    let errors = verify(&program).expect_err("the change breaks a rule");
    assert_eq!(decode(&encode(&program)), Ok(program));
    let place_and_rule = |VerifyError { at, rule }| (at, rule);
    errors.into_iter().map(place_and_rule).collect()
}

#[test]
fn each_rule_is_checked() {
    let kernel = Place::Kernel(KernelId(0));
    let at = |pc| Place::Word(KernelId(0), pc);
    let code = |change: fn(&mut Vec<Word>)| broken(|p| change(&mut p.kernels[0].code));

    assert_eq!(
        code(|c| c[1].op = 0),
        [
            (at(1), Rule::Opcode(0)),
            // Nothing assigns row 4 any more, and the site stands idle.
            (at(2), Rule::Unassigned(4)),
            (kernel, Rule::IdleSite(1)),
        ]
    );
    assert_eq!(
        code(|c| c[1].b = 1),
        [(
            at(1),
            Rule::Unused {
                operand: 'b',
                byte: 1
            }
        )]
    );
    assert_eq!(
        code(|c| c[0].a = 2),
        [(
            at(0),
            Rule::Flag {
                operand: 'a',
                byte: 2
            }
        )]
    );
    assert_eq!(
        code(|c| c[1].imm |= 1),
        [(at(1), Rule::Immediate(2 << 16 | 1))]
    );
    assert_eq!(
        code(|c| c[1].a = IMM),
        [(at(1), Rule::OperandImmediate('a'))]
    );
    assert_eq!(code(|c| c[1].a = 7), [(at(1), Rule::Unassigned(7))]);
    assert_eq!(
        code(|c| c[3].d = 15),
        [(
            at(3),
            Rule::OperandRow {
                operand: 'd',
                byte: 15,
                rows: 16
            },
        )]
    );
    assert_eq!(
        code(|c| c[3].d = UNIFORM_BASE),
        [(
            at(3),
            Rule::OperandUniform {
                operand: 'd',
                slot: 0,
                count: 0
            },
        )]
    );
    assert_eq!(
        code(|c| c[3].a += 1),
        [(
            at(3),
            Rule::OperandUniform {
                operand: 'a',
                slot: 1,
                count: 1
            },
        )]
    );
    assert_eq!(
        code(|c| c[1].imm = resource(9, 0)),
        [
            (
                at(1),
                Rule::Id {
                    table: "buffer",
                    id: 9,
                    count: 8
                }
            ),
            (at(1), Rule::Unlisted(Resource::Buffer(BufferId(9)))),
        ]
    );
    assert_eq!(
        code(|c| c[4].imm = resource(3, 0)),
        [(
            at(4),
            Rule::ResourceKind {
                resource: Resource::Buffer(BufferId(3)),
                scalar: Scalar::I32,
                kind: Kind::BufferOf(Scalar::U32),
            },
        )]
    );
    assert_eq!(
        code(|c| c[0].imm = 5),
        [(
            at(0),
            Rule::Target {
                actual: 5,
                expected: 6
            }
        )]
    );
    assert_eq!(
        code(|c| c[2].imm = 1),
        [(at(2), Rule::Depth { depth: 1, loops: 1 })]
    );
    assert_eq!(
        code(|c| c[0] = word(Op::If, 0, 0, 0, 5))[..2],
        [
            (at(2), Rule::Depth { depth: 0, loops: 0 }),
            (at(5), Rule::Unopened),
        ]
    );
    assert_eq!(
        code(|c| c[6] = word(Op::RetV, 0, 0, 0, 0)),
        [
            (at(6), Rule::WrongReturn("condition")),
            (kernel, Rule::LastWord("ret")),
        ]
    );

    let program = |change: fn(&mut Program)| broken(change);
    assert_eq!(
        program(|p| p.kernels[0].frames = 4),
        [(
            kernel,
            Rule::Frames {
                declared: 4,
                needed: 2
            },
        )]
    );
    assert_eq!(
        program(|p| p.kernels[0].item.src = Some(0)),
        [(kernel, Rule::ItemRow(0))]
    );
    assert_eq!(
        program(|p| p.kernels[1].item.index = Some(0)),
        [(Place::Kernel(KernelId(1)), Rule::ItemDomain(0),)]
    );
    assert_eq!(
        program(|p| p.kernels[0].sites.truncate(1)),
        [(at(4), Rule::NoSite)]
    );
    assert_eq!(
        program(|p| p.kernels[0].sites[0].1 = SiteId(1)),
        [(
            kernel,
            Rule::Id {
                table: "site",
                id: 1,
                count: 1
            },
        )]
    );
    assert_eq!(
        program(|p| p.buffers[2].role = Role::Input),
        [(at(4), Rule::ReadOnly(Role::Input),)]
    );
    assert_eq!(
        program(|p| p.buffers[2].init = Some(ConstantId(0))),
        [(
            Place::Buffer(BufferId(2)),
            Rule::InitType {
                constant: Scalar::F32,
                element: Scalar::U32
            },
        )]
    );
    assert_eq!(
        program(|p| p.waves[0].accesses[3].mode = Mode::Read),
        [(at(4), Rule::ListedRead(Resource::Buffer(BufferId(2))),)]
    );
    assert_eq!(
        program(|p| p.waves[0].accesses.swap(0, 1)),
        [(Place::Wave(WaveId(0)), Rule::AccessOrder,)]
    );
    assert_eq!(
        program(|p| p.constants[0].bits = 1 << 32),
        [(
            Place::Constant(ConstantId(0)),
            Rule::ConstantBits {
                scalar: Scalar::F32,
                bits: 1 << 32
            },
        )]
    );
    let capacity = |terms: &[Term]| {
        let terms = terms.to_vec();
        move |p: &mut Program| {
            p.lengths.push(Length { terms });
            p.lists[0].capacity = Extent::Computed(LengthId(0));
        }
    };
    let (nodes, n) = (
        Term::Value(Extent::Nodes),
        Term::Value(Extent::Scalar(ScalarId(0))),
    );
    let add = Term::Op(LengthOp::Add);
    let mut whole = kernel_program(&[word(Op::Ret, 0, 0, 0, 0)], 0);
    capacity(&[nodes, n, add, nodes, add])(&mut whole);
    assert_eq!(verify(&whole), Ok(()));
    assert_eq!(decode(&encode(&whole)), Ok(whole));
    let computed = |terms: &[Term]| broken(capacity(terms));
    let length = Place::Length(LengthId(0));
    for few in [
        &[nodes][..],
        &[nodes, n],
        &[nodes, add, n],
        &[nodes, n, n, add],
    ] {
        assert_eq!(computed(few), [(length, Rule::LengthTerms(few.len()))]);
    }
    let many: Vec<Term> = std::iter::once(nodes).chain([n, add].repeat(32)).collect();
    assert_eq!(computed(&many), [(length, Rule::LengthTerms(65))]);
    let itself = Extent::Computed(LengthId(0));
    assert_eq!(
        computed(&[nodes, Term::Value(itself), add]),
        [(length, Rule::LengthValue(itself))]
    );
    assert_eq!(
        broken(move |p| p.lists[0].capacity = itself),
        [(
            Place::Queue(ListId(0).into()),
            Rule::Id {
                table: "length",
                id: 0,
                count: 0
            },
        )]
    );
    assert_eq!(
        program(|p| p.reductions[0].scalar = Scalar::U8),
        [(
            Place::Reduction(ReductionId(0)),
            Rule::ReductionType {
                op: ReduceOp::Sum,
                scalar: Scalar::U8
            },
        )]
    );
    assert_eq!(
        program(|p| p.frontiers[0].unique = true),
        [(
            Place::Queue(FrontierId(0).into()),
            Rule::UniqueCapacity(Extent::NodesPlusEdges),
        )]
    );
    assert_eq!(
        program(|p| p.frontiers[0].owner = None),
        [(
            Place::Queue(FrontierId(0).into()),
            Rule::Owner {
                actual: None,
                expected: Some(FixpointId(0))
            },
        )]
    );
    assert_eq!(
        program(|p| p.reductions[1].owner = None),
        [(
            Place::Reduction(ReductionId(1)),
            Rule::Owner {
                actual: None,
                expected: Some(FixpointId(0))
            },
        )]
    );
    // The same wave again, in a second fixpoint inside the first: a sweep and updates in two scopes. Its condition is
    // that of the first, whose frontier it does not own.
    let nested = program(|p| {
        p.fixpoints.push(Fixpoint {
            parent: Some(FixpointId(0)),
            until: KernelId(3),
            ..p.fixpoints[0].clone()
        });
        p.waves.push(Wave {
            kernel: KernelId(1),
            fixpoint: Some(FixpointId(1)),
            ..p.waves[0].clone()
        });
        let [relax, until] = [p.kernels[0].clone(), p.kernels[1].clone()];
        p.kernels = vec![relax.clone(), relax, until.clone(), until];
        p.fixpoints[0].until = KernelId(2);
        let sweep = [Step::Loop(FixpointId(1)), Step::Wave(WaveId(1))];
        let inner = [Step::Barrier].into_iter().chain(sweep);
        let inner = inner.chain([Step::Until(FixpointId(1))]);
        p.schedule.splice(2..2, inner);
    });
    let split = Rule::SplitOwner(WaveId(0), WaveId(1));
    assert_eq!(
        nested,
        [
            (Place::Queue(FrontierId(0).into()), split.clone()),
            (Place::Reduction(ReductionId(0)), split.clone()),
            (Place::Reduction(ReductionId(1)), split),
            (
                Place::Fixpoint(FixpointId(1)),
                Rule::AsksElsewhere {
                    resource: Resource::from(FrontierId(0)),
                    owner: FixpointId(0)
                },
            ),
        ]
    );
    assert_eq!(
        program(|p| p.kernels[1].uniforms[0] = Uniform::Scalar(ScalarId(1))),
        [(
            Place::Kernel(KernelId(1)),
            Rule::Id {
                table: "scalar",
                id: 1,
                count: 1
            },
        )]
    );
    assert_eq!(
        program(|p| p.kernels[0].uniforms[0] = Uniform::Len(FrontierId(0).into())),
        [(kernel, Rule::FrontierLenInWave,)]
    );
    assert_eq!(
        program(|p| p.fixpoints[0].max_rounds = 0),
        [(Place::Fixpoint(FixpointId(0)), Rule::MaxRounds(0),)]
    );
    assert_eq!(
        program(|p| p.fixpoints[0].swaps.push((BufferId(2), BufferId(3)))),
        [(Place::Fixpoint(FixpointId(0)), Rule::Swap(2, 3),)]
    );
    let anew = |p: &mut Program| {
        p.buffers[2].role = Role::Scratch;
        p.buffers[2].reset = Some(FixpointId(0));
    };
    let buffer = Place::Buffer(BufferId(2));
    let input = |p: &mut Program| {
        anew(p);
        p.buffers[2].role = Role::Input;
    };
    assert!(broken(input).contains(&(buffer, Rule::ResetRole(Role::Input))));
    let front = Place::Queue(FrontierId(0).into());
    let rule = Rule::ResetOwner {
        reset: FixpointId(0),
        owner: Some(FixpointId(0)),
    };
    assert_eq!(
        program(|p| {
            // Outputs begin anew, too.
            p.buffers[2].reset = Some(FixpointId(0));
            p.frontiers[0].reset = Some(FixpointId(0));
        }),
        [(front, rule)]
    );
    let (work, unowned) = (
        Place::Queue(FrontierId(1).into()),
        Rule::ResetOwner {
            reset: FixpointId(0),
            owner: None,
        },
    );
    assert_eq!(
        program(|p| p.frontiers[1].reset = Some(FixpointId(0))),
        [(work, unowned)]
    );
    // A list of nodes flips nowhere, and begins anew with whichever rounds contain its uses.
    fn node_list(p: &mut Program) {
        p.frontiers[0].unique = true;
        p.frontiers[0].stays = true;
        p.frontiers[0].capacity = Extent::Nodes;
        p.frontiers[0].owner = None;
        p.frontiers[0].reset = Some(FixpointId(0));
    }
    let mut kept = sound();
    node_list(&mut kept);
    assert_eq!(verify(&kept), Ok(()));
    let repeats = |p: &mut Program| {
        node_list(p);
        p.frontiers[0].unique = false;
    };
    assert_eq!(program(repeats), [(front, Rule::NodeList)]);
    let flips = |p: &mut Program| {
        node_list(p);
        p.frontiers[0].owner = Some(FixpointId(0));
    };
    assert!(!broken(flips).is_empty());
    let log = Place::Queue(ListId(0).into());
    fn emptied_list(p: &mut Program) {
        p.lists[0].output = false;
        p.lists[0].reset = Some(FixpointId(0));
    }
    let mut kept = sound();
    emptied_list(&mut kept);
    assert_eq!(verify(&kept), Ok(()));
    let given_back = |p: &mut Program| {
        emptied_list(p);
        p.lists[0].output = true;
    };
    let rule = Rule::ResetOutput(FixpointId(0));
    assert_eq!(program(given_back), [(log, rule)]);
    let new = |p: &mut Program| {
        emptied_list(p);
        p.waves[0].domain = Domain::ListItems(ListId(0), Portion::New);
    };
    let last = |p: &mut Program| {
        emptied_list(p);
        p.waves[0].domain = Domain::ListItems(ListId(0), Portion::Last);
    };
    let rule = Rule::ResetNew(FixpointId(0));
    assert!(broken(new).contains(&(log, rule.clone())));
    assert!(broken(last).contains(&(log, rule)));
    // A condition of another fixpoint asks for them.
    let asked = |p: &mut Program| {
        emptied_list(p);
        node_list(p);
        p.fixpoints.push(p.fixpoints[0].clone());
        p.kernels.push(p.kernels[1].clone());
        p.fixpoints[1].until = KernelId(2);
    };
    let rule = Rule::ResetOutside(FixpointId(0), KernelId(2));
    assert!(broken(asked).contains(&(front, rule)));
    let asked = |p: &mut Program| {
        asked(p);
        p.kernels[2].uniforms = vec![Uniform::Len(ListId(0).into())];
    };
    let rule = Rule::ResetOutside(FixpointId(0), KernelId(2));
    assert!(broken(asked).contains(&(log, rule)));
    assert_eq!(
        broken(|p| {
            anew(p);
            p.buffers[5] = p.buffers[2].clone();
            p.buffers[5].reset = None;
            p.fixpoints[0].swaps.push((BufferId(5), BufferId(2)));
        }),
        [(buffer, Rule::ResetSwap)]
    );
    let outside = |p: &mut Program| {
        anew(p);
        p.fixpoints.push(p.fixpoints[0].clone());
        p.kernels.push(p.kernels[1].clone());
        p.fixpoints[1].until = KernelId(2);
        p.buffers[2].reset = Some(FixpointId(1));
    };
    let rule = Rule::ResetOutside(FixpointId(1), KernelId(0));
    assert!(broken(outside).contains(&(buffer, rule)));
    // What is swapped begins anew in a fixpoint around, with what begins alike.
    let around = |p: &mut Program| {
        anew(p);
        p.fixpoints.insert(0, p.fixpoints[0].clone());
        p.fixpoints[1].parent = Some(FixpointId(0));
        p.kernels.push(p.kernels[1].clone());
        (p.fixpoints[0].until, p.fixpoints[1].until) = (KernelId(1), KernelId(2));
        p.buffers[5] = p.buffers[2].clone();
        p.fixpoints[1].swaps.push((BufferId(5), BufferId(2)));
    };
    assert!(!broken(around).contains(&(buffer, Rule::ResetSwap)));
    let other = |p: &mut Program| {
        around(p);
        p.buffers[5].reset = None;
    };
    assert!(broken(other).contains(&(buffer, Rule::ResetSwap)));
    let begins = |p: &mut Program| {
        around(p);
        let scalar = p.buffers[2].scalar;
        p.constants.push(Constant { scalar, bits: 1 });
        p.buffers[5].init = Some(ConstantId(1));
    };
    assert!(broken(begins).contains(&(buffer, Rule::ResetSwap)));
    assert_eq!(
        program(|p| p.schedule.swap(0, 1)),
        [
            (
                Place::Step(0),
                Rule::StepNesting {
                    actual: None,
                    expected: Some(FixpointId(0))
                },
            ),
            (Place::Step(1), Rule::Misplaced(Misplaced::LoopInGroup)),
            (Place::Step(2), Rule::Misplaced(Misplaced::EmptyRound)),
        ]
    );
    assert_eq!(
        program(|p| p.schedule[1] = Step::Barrier),
        [
            (Place::Step(1), Rule::Misplaced(Misplaced::Barrier)),
            (Place::Wave(WaveId(0)), Rule::Scheduled(0)),
        ]
    );
    assert_eq!(
        program(|p| p.schedule.insert(2, Step::Barrier)),
        [(Place::Step(2), Rule::Misplaced(Misplaced::Barrier))]
    );
    assert_eq!(
        program(|p| p.schedule.insert(0, Step::Barrier)),
        [(Place::Step(0), Rule::Misplaced(Misplaced::Barrier))]
    );
    let resource = Resource::from(FrontierId(0));
    let unlist = |p: &mut Program| p.waves[0].accesses.retain(|a| a.resource != resource);
    assert_eq!(
        broken(unlist),
        [(Place::Wave(WaveId(0)), Rule::Unlisted(resource))]
    );
    assert_eq!(
        program(|p| p.schedule.truncate(3)),
        [(Place::Step(2), Rule::EndPlace)]
    );
    assert_eq!(
        program(|p| p.topologies[0].reverse_of = Some(TopologyId(0))),
        [(Place::Topology(TopologyId(0)), Rule::ReverseOfReverse,)]
    );
    assert_eq!(
        program(|p| p.messages.push((SiteId(0), "twice".to_owned()))),
        [(Place::Program, Rule::MessageOrder(0))]
    );
}

#[test]
fn conditions_look_at_uniforms_only() {
    // Whether it pushes, loads or asks for a length: which memory there is when a round ends is decided without it.
    for (op, d, resource) in [
        (Op::Push, 0, Resource::from(FrontierId(0))),
        (Op::Ld32, 0, Resource::Buffer(BufferId(2))),
        (Op::Len, 0, Resource::Buffer(BufferId(0))),
        (Op::CsrBegin, 0, Resource::Topology(TopologyId(0))),
    ] {
        let id = match resource {
            Resource::Buffer(b) => b.0,
            _ => 0,
        };
        let a = if op == Op::Len { 0 } else { UNIFORM_BASE };
        let errors = broken(|p| {
            let looks = word(op, d, a, 0, self::resource(id, 0));
            p.kernels[1].code.insert(0, looks);
            if op != Op::Len {
                p.kernels[1].sites = vec![(0, SiteId(0))];
            }
        });
        assert_eq!(
            errors,
            [(Place::Word(KernelId(1), 0), Rule::ConditionUses(resource))]
        );
    }
}

#[test]
fn a_register_must_be_assigned_on_every_path() {
    let one_branch = [
        word(Op::If, 0, UNIFORM_BASE, 0, 2),
        word(Op::Mov32, 4, IMM, 0, 1),
        word(Op::Else, 0, 0, 0, 4),
        word(Op::Mov32, 5, IMM, 0, 1),
        word(Op::EndIf, 0, 0, 0, 0),
        say(4),
        word(Op::Ret, 0, 0, 0, 0),
    ];
    let rules = |code: &[Word]| match verify(&kernel_program(code, 1)) {
        Ok(()) => vec![],
        Err(errors) => errors.into_iter().map(|e| e.rule).collect(),
    };
    assert_eq!(rules(&one_branch), [Rule::Unassigned(4)]);
    let mut other_returns = one_branch;
    other_returns[3] = word(Op::Ret, 0, 0, 0, 0);
    assert_eq!(rules(&other_returns), []);
    // What a loop assigns before its only exit holds after it; what it assigns later does not.
    let after_loop = |row| {
        [
            word(Op::Loop, 0, 0, 0, 5),
            word(Op::Mov32, 4, IMM, 0, 1),
            word(Op::BreakIf, 0, 4, 0, 0),
            word(Op::Mov32, 5, IMM, 0, 1),
            word(Op::EndLoop, 0, 0, 0, 0),
            say(row),
            word(Op::Ret, 0, 0, 0, 0),
        ]
    };
    assert_eq!(rules(&after_loop(4)), []);
    assert_eq!(rules(&after_loop(5)), [Rule::Unassigned(5)]);
}

// ---------------------------------------------------------------------------------------------------------------------
// Disassembler

#[test]
fn programs_print() {
    let code = vec![
        word(Op::Add32, 4, UNIFORM_BASE, IMM, 1),
        word(Op::AtomCas32, 5, 2, UNIFORM_BASE + 1, resource(2, 4)),
        word(Op::If, 0, 5, 0, 4),
        word(Op::Push, 0, 2, 0, 0),
        word(Op::EndIf, 0, 0, 0, 0),
        word(Op::MulF32, 5, UNIFORM_BASE + 2, IMM, 2.5f32.to_bits()),
        word(Op::Mov64, 6, IMM, 0, u32::MAX),
        word(Op::AtomAdd64, IMM, 2, 6, resource(5, 0)),
        word(Op::Ret, 0, 0, 0, 0),
    ];
    let uniforms = vec![
        Uniform::Round,
        Uniform::Scalar(ScalarId(0)),
        Uniform::Constant(ConstantId(0)),
    ];
    let program = program(code, 8, 2, uniforms);
    assert_eq!(verify(&program), Ok(()));
    expect_test::expect![[r#"
        program bfs (same bits)
        topology graph
        output bools: [bool; nodes]
        output u8s: [u8; nodes]
        output u32s: [u32; nodes]
        output i32s: [i32; nodes]
        output f32s: [f32; nodes]
        output u64s: [u64; nodes]
        output i64s: [i64; nodes]
        output f64s: [f64; nodes]
        frontier front: nodes + edges, flips in levels
        frontier work: 5 of (u8, f32, i64)
        list log: source of (u8, f32, i64), output
        reduction sum32: sum u32, resets in levels, output
        reduction sum64: sum u64, resets in levels, output
        scalar source: u32

        kernel relax (index r0, src r1, dst r2), 8 rows, 2 frames
           0  add.b32 r4, round, 1
           1  atom.cas.b32 r5, u32s[r2], source, r4  ; bfs.rs:12:9
           2  if r5
           3    push front, r2  ; bfs.rs:12:9
           4  endif
           5  mul.f32 r5, 0.5f32, 2.5
           6  mov.b64 r6:7, -1
           7  atom.add.b64 _, u64s[r2], r6:7  ; bfs.rs:12:9
           8  ret

        kernel until levels, 1 rows, 0 frames
           0  eq.b32 r0, len(front), 0
           1  ret.b32 r0

        schedule
          loop levels
            wave relax over edges(graph, from = front)
          until levels, at most 10 rounds
          end
    "#]]
    .assert_eq(&disasm::program(&program));
}

// ---------------------------------------------------------------------------------------------------------------------
// Random programs

struct Generator<'a, 'b> {
    u: &'a mut Unstructured<'b>,
    code: Vec<Word>,
    assigned: [bool; ROWS],
    frames: u8,
    max_frames: u8,
    loops: u32,
}

const ROWS: usize = 10;
const UNIFORMS: usize = 4;

impl Generator<'_, '_> {
    fn program(u: &mut Unstructured<'_>) -> Arbitrary<Program> {
        let mut assigned = [false; ROWS];
        assigned[..3].fill(true);
        let mut generator = Generator {
            u,
            code: vec![],
            assigned,
            frames: 0,
            max_frames: 0,
            loops: 0,
        };
        generator.block(4)?;
        generator.code.push(word(Op::Ret, 0, 0, 0, 0));
        let (code, frames) = (generator.code, generator.max_frames);
        let uniforms = vec![Uniform::Round; UNIFORMS];
        Ok(program(code, ROWS as u8, frames, uniforms))
    }

    fn block(&mut self, depth: u32) -> Arbitrary<()> {
        for _ in 0..self.u.int_in_range(0..=6)? {
            match self.u.int_in_range(0..=9)? {
                0 if depth > 0 => self.branch(depth)?,
                1 if depth > 0 => self.repeat(depth)?,
                2 if self.loops > 0 => {
                    let leave = [Op::Break, Op::BreakIf, Op::BreakUnless, Op::Continue];
                    let op = *self.u.choose(&leave)?;
                    let Some(a) = self.source(op.row().a, false)? else {
                        continue;
                    };
                    let out = self.u.int_in_range(0..=self.loops - 1)?;
                    self.code.push(word(op, 0, a, 0, out));
                }
                3 => {
                    let kinds: Vec<TrapKind> = TrapKind::of_kernels().collect();
                    let kind = *self.u.choose(&kinds)? as u32;
                    let a = UNIFORM_BASE + self.u.int_in_range(0..=UNIFORMS as u8 - 1)?;
                    self.code.push(word(Op::Assert, 0, a, 0, kind));
                }
                _ => self.plain()?,
            }
        }
        Ok(())
    }

    fn open(&mut self, op: Op, a: u8) -> usize {
        self.frames += 2;
        self.max_frames = self.max_frames.max(self.frames);
        self.code.push(word(op, 0, a, 0, 0));
        self.code.len() - 1
    }

    fn branch(&mut self, depth: u32) -> Arbitrary<()> {
        let Some(a) = self.source(Slot::W, false)? else {
            return Ok(());
        };
        let mut opened = self.open(Op::If, a);
        let before = self.assigned;
        self.block(depth - 1)?;
        let mut other = before;
        if self.u.arbitrary()? {
            self.code[opened].imm = self.code.len() as u32;
            opened = self.code.len();
            self.code.push(word(Op::Else, 0, 0, 0, 0));
            other = std::mem::replace(&mut self.assigned, before);
            self.block(depth - 1)?;
        }
        for (row, other) in self.assigned.iter_mut().zip(other) {
            *row &= other;
        }
        self.code[opened].imm = self.code.len() as u32;
        self.code.push(word(Op::EndIf, 0, 0, 0, 0));
        self.frames -= 2;
        Ok(())
    }

    fn repeat(&mut self, depth: u32) -> Arbitrary<()> {
        let opened = self.open(Op::Loop, 0);
        let before = self.assigned;
        self.loops += 1;
        self.block(depth - 1)?;
        self.loops -= 1;
        self.assigned = before;
        self.code.push(word(Op::EndLoop, 0, 0, 0, opened as u32));
        self.code[opened].imm = self.code.len() as u32;
        self.frames -= 2;
        Ok(())
    }

    /// A source byte for the slot; `None` when no assigned row can be had.
    fn source(&mut self, slot: Slot, literal: bool) -> Arbitrary<Option<u8>> {
        let pair = match slot {
            Slot::N | Slot::Flag => return Ok(Some(0)),
            Slot::W | Slot::OptW => false,
            Slot::D | Slot::OptD => true,
        };
        if literal && self.u.ratio(1, 5)? {
            return Ok(Some(IMM));
        }
        if self.u.ratio(1, 5)? {
            let slot = self.u.int_in_range(0..=UNIFORMS as u8 - 1)?;
            return Ok(Some(UNIFORM_BASE + slot));
        }
        let holds = |row: &u8| {
            let next = usize::from(*row) + usize::from(pair);
            next < ROWS && self.assigned[usize::from(*row)] && self.assigned[next]
        };
        let rows: Vec<u8> = (0..ROWS as u8).filter(holds).collect();
        Ok(if rows.is_empty() {
            None
        } else {
            Some(*self.u.choose(&rows)?)
        })
    }

    /// The immediate of an array instruction: any rows for a fill, assigned ones for an access.
    fn array(&mut self, row: &Row) -> Arbitrary<Option<u32>> {
        let width = usize::from(row.element_rows());
        let first = self.u.int_in_range(0..=ROWS - width)?;
        let len = self.u.int_in_range(1..=(ROWS - first) / width)?;
        let rows = &mut self.assigned[first..first + len * width];
        if [Op::RowFill32, Op::RowFill64].contains(&row.op) {
            rows.fill(true);
        } else if !rows.iter().all(|&assigned| assigned) {
            return Ok(None);
        }
        Ok(Some(first as u32 | (len as u32) << 8))
    }

    /// An instruction that is not control flow.
    fn plain(&mut self) -> Arbitrary<()> {
        let op = *self.u.choose(Op::ALL)?;
        if op >= Op::If {
            return Ok(());
        }
        let row = op.row();
        let literal = row.imm == Imm::Literal;
        let third = match row.imm {
            Imm::Third => row.d,
            Imm::ResourceThird(_) => row.b,
            _ => Slot::N,
        };
        let a = self.source(row.a, literal)?;
        let b = self.source(row.b, literal)?;
        let c = self.source(third, false)?;
        let (Some(a), Some(b), Some(c)) = (a, b, c) else {
            return Ok(());
        };
        let imm = match row.imm {
            Imm::N => 0,
            Imm::Literal => {
                let used = (row.a != Slot::N && a == IMM) || (row.b != Slot::N && b == IMM);
                if used { self.u.arbitrary()? } else { 0 }
            }
            Imm::Third => c.into(),
            Imm::Resource(kind) | Imm::ResourceThird(kind) => resource(
                match kind {
                    Kind::Buffer8 => self.u.int_in_range(0..=1)?,
                    Kind::Buffer32 => self.u.int_in_range(2..=4)?,
                    Kind::Buffer64 => self.u.int_in_range(5..=7)?,
                    Kind::BufferOf(scalar) => scalar as u16,
                    Kind::Buffer => self.u.int_in_range(0..=7)?,
                    Kind::Topology | Kind::Frontier | Kind::Reduction32 | Kind::List => 0,
                    Kind::Reduction64 | Kind::ItemFrontier => 1,
                },
                c,
            ),
            Imm::Field(kind, bytes) => {
                let field = FIELDS.iter().position(|f| f.size_bytes() == bytes);
                let id = u16::from(kind == Kind::ItemFrontier);
                resource(id, field.expect("each width has a field") as u8)
            }
            Imm::Rows => match self.array(row)? {
                Some(imm) => imm,
                None => return Ok(()),
            },
            Imm::Uniform => self.u.int_in_range(0..=UNIFORMS as u32 - 1)?,
            Imm::Target | Imm::Depth | Imm::Code => unreachable!("control flow is not plain"),
        };
        let (rows, optional) = match row.d {
            Slot::N | Slot::Flag => (0, false),
            Slot::W => (1, false),
            Slot::D => (2, false),
            Slot::OptW => (1, true),
            Slot::OptD => (2, true),
        };
        let d = if rows == 0 {
            0
        } else if optional && self.u.arbitrary()? {
            IMM
        } else {
            let d = self.u.int_in_range(0..=ROWS - rows)?;
            self.assigned[d..d + rows].fill(true);
            d as u8
        };
        self.code.push(word(op, d, a, b, imm));
        let stores = match op {
            Op::Append => [Op::ListSt8, Op::ListSt32, Op::ListSt64],
            Op::PushItem => [Op::ItemSt8, Op::ItemSt32, Op::ItemSt64],
            _ => return Ok(()),
        };
        for (field, store) in (0..).zip(stores) {
            let value = self.u.int_in_range(0..=UNIFORMS as u8 - 1)?;
            let word = word(store, 0, d, UNIFORM_BASE + value, imm | field);
            self.code.push(word);
        }
        Ok(())
    }
}

/// Runs every kernel of a verified program on a few items. Reaching the end is the assertion.
fn run_all(program: &Program, u: &mut Unstructured<'_>) -> Arbitrary<()> {
    for kernel in &program.kernels {
        let uniforms: Vec<u64> = kernel
            .uniforms
            .iter()
            .map(|_| {
                Ok(if u.arbitrary()? {
                    u.int_in_range(0..=4)?
                } else {
                    u.arbitrary()?
                })
            })
            .collect::<Arbitrary<_>>()?;
        let mut store = Store::new(program);
        let mut interpreter = Interpreter::new(kernel, &uniforms);
        for index in 0..3 {
            let item = Item {
                index,
                src: index,
                dst: index + 1,
            };
            let _ = interpreter.run(item, &mut store);
        }
    }
    Ok(())
}

#[test]
fn generated_programs_verify_run_and_round_trip() {
    cases(1_000, |u| {
        let program = Generator::program(u)?;
        assert_eq!(verify(&program), Ok(()), "{}", disasm::program(&program));
        let bytes = encode(&program);
        assert_eq!(decode(&bytes).as_ref(), Ok(&program));
        run_all(&program, u)
    });
}

/// Puts the content hash into the header: FNV-1a over section 3, then section 2.
fn rehash(bytes: &mut [u8]) {
    let field = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    for row in [20 + 2 * 12, 20 + 12] {
        let (offset, len) = (field(row + 4), field(row + 8));
        let end = offset.saturating_add(len).min(bytes.len());
        for &byte in bytes.get(offset..end).unwrap_or_default() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
    }
    bytes[8..16].copy_from_slice(&hash.to_le_bytes());
}

#[test]
fn mutated_containers_are_refused_or_run() {
    cases(1_000, |u| {
        let mut bytes = encode(&Generator::program(u)?);
        for _ in 0..u.int_in_range(1..=3)? {
            // Half of them in the kernels, where most of what the verifier checks is.
            let field = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
            let kernels = field(48) as usize..(field(48) + field(52)) as usize;
            let anywhere = u.arbitrary()? || kernels.is_empty() || kernels.end > bytes.len();
            let range = if anywhere { 0..bytes.len() } else { kernels };
            let at = u.int_in_range(range.start..=range.end - 1)?;
            bytes[at] = match u.int_in_range(0..=3)? {
                0 => bytes[at].wrapping_add(1),
                1 => bytes[at] ^ 1 << u.int_in_range(0..=7)?,
                _ => u.arbitrary()?,
            };
        }
        if u.ratio(9, 10)? {
            rehash(&mut bytes);
        }
        check(&bytes, u)
    });
}

#[test]
fn random_bytes_are_refused() {
    cases(1_000, |u| {
        let len = u.arbitrary_len::<u8>()?;
        let bytes = u.bytes(len)?.to_vec();
        check(&bytes, u)?;
        let mut framed = encode(&program(vec![], 0, 0, vec![]))[..92].to_vec();
        framed.extend(bytes);
        check(&framed, u)
    });
}

/// Whatever the bytes are: no panic, one byte string for a program, and what verifies runs.
fn check(bytes: &[u8], u: &mut Unstructured<'_>) -> Arbitrary<()> {
    let Ok(program) = decode(bytes) else {
        return Ok(());
    };
    assert_eq!(encode(&program), bytes);
    let text = disasm::program(&program);
    match verify(&program) {
        Ok(()) => run_all(&program, u),
        Err(errors) => {
            assert!(!errors.is_empty(), "{text}");
            Ok(())
        }
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Flow

/// Registers that note which rows a word reads and assigns.
struct Noting {
    file: [u32; 256],
    read: std::cell::Cell<Rows>,
    assigned: Rows,
}

impl State for Noting {
    fn get32(&self, operand: u8) -> u32 {
        self.read.set(self.read.get().or(rows_of(Slot::W, operand)));
        self.file[usize::from(operand)]
    }
    fn get64(&self, operand: u8) -> u64 {
        let low = self.get32(operand).into();
        match operand < UNIFORM_BASE {
            true => u64::from(self.get32(operand + 1)) << 32 | low,
            false => low,
        }
    }
    fn set32(&mut self, operand: u8, value: u32) {
        self.assigned = self.assigned.or(rows_of(Slot::W, operand));
        self.file[usize::from(operand)] = value;
    }
    fn set64(&mut self, operand: u8, value: u64) {
        self.set32(operand, value as u32);
        if operand < UNIFORM_BASE {
            self.set32(operand + 1, (value >> 32) as u32);
        }
    }
    fn uniform(&self, slot: u32) -> u64 {
        self.file[usize::from(UNIFORM_BASE) + slot as usize].into()
    }
}

/// Runs a kernel's code, and gives what each word on the way read and assigned.
fn rows_on_the_way(program: &Program, uniforms: [u32; UNIFORMS]) -> Vec<(usize, Rows, Rows)> {
    let code = &program.kernels[0].code;
    let mut store = Store::new(program);
    let mut state = Noting {
        file: [0; 256],
        read: Default::default(),
        assigned: Rows::NONE,
    };
    state.file[..3].copy_from_slice(&[ITEM.index, ITEM.src, ITEM.dst]);
    state.file[usize::from(UNIFORM_BASE)..][..UNIFORMS].copy_from_slice(&uniforms);
    let (mut way, mut loops, mut pc) = (Vec::new(), Vec::new(), 0);
    while way.len() < 400 {
        state.file[usize::from(IMM)] = code[pc].imm;
        state.read.set(Rows::NONE);
        state.assigned = Rows::NONE;
        let next = step(code[pc], pc as u32, &mut state, &mut store);
        way.push((pc, state.read.get(), state.assigned));
        if next.is_ok() {
            assert_eq!(defs(&code[pc]).without(state.assigned), Rows::NONE);
        }
        pc = match next {
            Err(_) | Ok(Next::Done(_)) => break,
            Ok(Next::Following) => pc + 1,
            Ok(Next::Behind(other)) => other as usize + 1,
            Ok(Next::Inside) => {
                loops.push(pc);
                pc + 1
            }
            Ok(Next::Turn(out)) => {
                loops.truncate(loops.len() - out as usize);
                loops.last().expect("a turn is in a loop") + 1
            }
            Ok(Next::Out(out)) => {
                let left = loops.split_off(loops.len() - out as usize - 1);
                code[left[0]].imm as usize
            }
        };
    }
    way
}

#[test]
fn what_runs_reads_and_assigns_no_other_rows_and_reads_live_ones() {
    cases(1_000, |u| {
        let program = Generator::program(u)?;
        let code = &program.kernels[0].code;
        let live_in = live_in(code);
        let mut live = Rows::NONE;
        for (pc, read, assigned) in rows_on_the_way(&program, u.arbitrary()?).into_iter().rev() {
            let word = &code[pc];
            assert_eq!(read.without(uses(word)), Rows::NONE, "reads of {word:?}");
            assert_eq!(assigned.without(writes(word)), Rows::NONE, "{word:?}");
            live = live.without(assigned).or(read);
            assert_eq!(live.without(live_in[pc]), Rows::NONE, "live at {pc}");
        }
        Ok(())
    });
}

#[test]
fn blocks_nest_as_their_targets_say() {
    cases(1_000, |u| {
        let program = Generator::program(u)?;
        let code = &program.kernels[0].code;
        let blocks = blocks(code);
        let opens = |w: &&Word| [Op::If as u8, Op::Loop as u8].contains(&w.op);
        assert_eq!(blocks.len(), code.iter().filter(opens).count());
        for block in &blocks {
            let target = |pc: usize| code[pc].imm as usize;
            match (block.kind, block.otherwise) {
                (BlockKind::If, None) => assert_eq!(target(block.at), block.end),
                (BlockKind::If, Some(otherwise)) => {
                    assert_eq!(target(block.at), otherwise);
                    assert_eq!(target(otherwise), block.end);
                }
                (BlockKind::Loop, otherwise) => {
                    assert_eq!(otherwise, None);
                    assert_eq!(target(block.at), block.end + 1);
                    assert_eq!(target(block.end), block.at);
                }
            }
            let around = blocks.iter().filter(|b| b.holds(block.at));
            assert_eq!(block.depth, around.count());
        }
        Ok(())
    });
}

#[test]
fn a_row_lives_from_its_word_to_its_last_reader() {
    let code = [
        word(Op::Mov32, 3, 0, 0, 0),
        word(Op::If, 0, 1, 0, 4),
        word(Op::Mov32, 4, 3, 0, 0),
        word(Op::Push, 0, 4, 0, 0),
        word(Op::EndIf, 0, 0, 0, 0),
        word(Op::Loop, 0, 0, 0, 9),
        word(Op::BreakUnless, 0, 5, 0, 0),
        word(Op::Sub32, 5, 5, IMM, 1),
        word(Op::EndLoop, 0, 0, 0, 5),
        word(Op::Push, 0, 6, 0, 0),
        word(Op::Ret, 0, 0, 0, 0),
    ];
    let live: Vec<Vec<u8>> = live_in(&code)
        .into_iter()
        .map(|r| r.iter().collect())
        .collect();
    let expected: [&[u8]; 12] = [
        &[0, 1, 5, 6],
        &[1, 3, 5, 6],
        &[3, 5, 6],
        &[4, 5, 6],
        &[5, 6],
        &[5, 6],
        &[5, 6],
        &[5, 6],
        &[5, 6],
        &[6],
        &[],
        &[],
    ];
    assert_eq!(live, expected);
}
