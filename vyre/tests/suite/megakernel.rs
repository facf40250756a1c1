//! The megakernel against the reference interpreter: every instruction, random control flow, register files of every
//! size, and skewed frontiers. All but the generators' own tests need a GPU.

#![allow(
    missing_docs,
    reason = "the passes are public only to be like a user's"
)]

use std::sync::Arc;
use vyre::Report;
use vyre::cuda::{Device, Megakernel};
use vyre::prelude::*;
use vyre_core::cpu::vir0::Vir0Executor;
use vyre_core::dsl::columns::Slice;
use vyre_core::dsl::error::RunError;
use vyre_core::plan::footprint::Allocation;
use vyre_core::run::args::{Args, TopologyArgs};
use vyre_core::run::backend::Executor;
use vyre_core::run::outcome::Outcome;
use vyre_core::vir0::isa::{Imm, Kind, Op, Slot, Word};
use vyre_core::vir0::module::{
    Access, Buffer, BufferId, Domain, Extent, ItemRows, Kernel, KernelId, Mode, Program, ReduceOp,
    Reduction, ReductionId, Resource, Role, ScalarId, ScalarParam, SiteId, Step, Uniform, UpdateOp,
    Wave, WaveId,
};
use vyre_core::vir0::scalar::Scalar;
use vyre_core::vir0::trap::Site;
use vyre_core::vir0::verify::verify;
use vyre_tests::graphs::{UNSEEN, grid};
use vyre_tests::passes::bfs;

const X: u16 = 0;
const OUT32: u16 = 3;
const OUT64: u16 = 4;
const TARGET: u16 = 5;

fn device() -> Arc<Device> {
    Device::open(0).expect("a CUDA device")
}

fn reference(program: &Arc<Program>) -> Vir0Executor {
    let nothing = TopologyArgs::default();
    Vir0Executor::new(Arc::clone(program), &nothing, Allocation::Separate).unwrap()
}

fn word(op: Op, d: u8, a: u8, b: u8, imm: u32) -> Word {
    Word {
        op: op as u8,
        d,
        a,
        b,
        imm,
    }
}

fn resource(id: u16) -> u32 {
    u32::from(id) << 16
}

fn buffer(name: &str, scalar: Scalar, role: Role) -> Buffer {
    Buffer {
        name: name.into(),
        scalar,
        extent: Extent::Scalar(ScalarId(0)),
        role,
        init: None,
        reset: None,
    }
}

/// One wave over `range(n)`: buffers x, y, z (u64 inputs), out32, out64 and an in-out target; scalar n.
fn program(code: Vec<Word>, target: Scalar, reductions: Vec<Reduction>) -> Program {
    use vyre_core::vir0::isa::Faults;
    let mut rows = 0u8;
    let (mut frames, mut most) = (0u8, 0u8);
    for w in &code {
        let op = Op::from_code(w.op).unwrap();
        let row = op.row();
        let mut reach = |slot: Slot, byte: u8| {
            let wide = match slot {
                Slot::N | Slot::Flag => return,
                Slot::W | Slot::OptW => 1,
                Slot::D | Slot::OptD => 2,
            };
            if byte < 192 {
                rows = rows.max(byte + wide);
            }
        };
        reach(row.d, w.d);
        reach(row.a, w.a);
        reach(row.b, w.b);
        match op {
            Op::If | Op::Loop => frames += 2,
            Op::EndIf | Op::EndLoop => frames -= 2,
            _ => {}
        }
        most = most.max(frames);
    }
    let sites = (0u32..)
        .zip(&code)
        .filter(|(_, w)| Op::from_code(w.op).unwrap().row().faults != Faults::No)
        .map(|(pc, _)| (pc, SiteId(0)))
        .collect();
    let buffers = vec![
        buffer("x", Scalar::U64, Role::Input),
        buffer("y", Scalar::U64, Role::Input),
        buffer("z", Scalar::U64, Role::Input),
        buffer("out32", Scalar::U32, Role::Output),
        buffer("out64", Scalar::U64, Role::Output),
        buffer("target", target, Role::InOut),
    ];
    let mut accesses: Vec<Access> = (0u16..6)
        .map(|b| Access {
            resource: Resource::Buffer(BufferId(b)),
            mode: if b < 3 { Mode::Read } else { Mode::Write },
        })
        .collect();
    accesses.extend((0u16..).zip(&reductions).map(|(r, _)| Access {
        resource: Resource::Reduction(ReductionId(r)),
        mode: Mode::Update(UpdateOp::Reduce),
    }));
    Program {
        name: "op".into(),
        buffers,
        reductions,
        scalars: vec![ScalarParam {
            name: "n".into(),
            scalar: Scalar::U32,
        }],
        kernels: vec![Kernel {
            name: "op".into(),
            code,
            rows,
            frames: most,
            item: ItemRows {
                index: Some(0),
                ..ItemRows::default()
            },
            uniforms: vec![Uniform::Scalar(ScalarId(0))],
            sites,
        }],
        waves: vec![Wave {
            name: "op".into(),
            kernel: KernelId(0),
            domain: Domain::Range(Extent::Scalar(ScalarId(0))),
            accesses,
            fixpoint: None,
            after: vec![],
        }],
        schedule: vec![Step::Wave(WaveId(0)), Step::End],
        agreement: vyre_core::vir0::module::Agreement::default(),
        sites: vec![Site {
            file: "test.rs".into(),
            line: 1,
            column: 1,
        }],
        ..Program::default()
    }
}

/// Rows 2, 4, 6 hold x, y, z of the item (64 bits each); row 8 takes the result. `high`: a row that widens the file.
fn around(body: &[Word], result: Slot, high: u8) -> Vec<Word> {
    let mut code = vec![
        word(Op::Ld64, 2, 0, 0, resource(X)),
        word(Op::Ld64, 4, 0, 0, resource(X + 1)),
        word(Op::Ld64, 6, 0, 0, resource(X + 2)),
        word(Op::Mov64, 8, 255, 0, 0),
    ];
    if high > 10 {
        code.push(word(Op::Mov32, high - 1, 0, 0, 0));
    }
    code.extend(body);
    match result {
        Slot::W | Slot::OptW => code.push(word(Op::St32, 0, 0, 8, resource(OUT32))),
        Slot::D | Slot::OptD => code.push(word(Op::St64, 0, 0, 8, resource(OUT64))),
        Slot::N | Slot::Flag => {}
    }
    code.push(word(Op::Ret, 0, 0, 0, 0));
    code
}

/// A program around one computing instruction, `None` for control flow and what other tests cover.
fn around_op(op: Op, high: u8) -> Option<Program> {
    let row = op.row();
    let mut target = Scalar::U32;
    let (mut a, mut imm) = (2, 0);
    match row.imm {
        Imm::N | Imm::Literal => {}
        Imm::Third => imm = 6,
        Imm::Resource(kind) | Imm::ResourceThird(kind) => {
            a = 0;
            imm = resource(TARGET)
                | if matches!(row.imm, Imm::ResourceThird(_)) {
                    6
                } else {
                    0
                };
            target = match kind {
                Kind::Buffer8 => Scalar::U8,
                Kind::Buffer32 | Kind::Buffer => Scalar::U32,
                Kind::Buffer64 => Scalar::U64,
                Kind::BufferOf(scalar) => scalar,
                Kind::Topology
                | Kind::Frontier
                | Kind::ItemFrontier
                | Kind::List
                | Kind::Reduction32
                | Kind::Reduction64 => {
                    return None;
                }
            };
        }
        Imm::Uniform => {}
        Imm::Rows | Imm::Field(..) | Imm::Target | Imm::Depth | Imm::Code => return None,
    }
    if matches!(op, Op::Ret | Op::RetV | Op::EndIf) {
        return None;
    }
    let used = |slot, byte| if slot == Slot::N { 0 } else { byte };
    let bool_first = matches!(op, Op::Sel32 | Op::Sel64);
    let mut body = Vec::new();
    if bool_first {
        body.push(word(Op::And32, 2, 2, 255, 1));
    }
    body.push(word(
        op,
        used(row.d, 8),
        used(row.a, a),
        used(row.b, 4),
        imm,
    ));
    Some(program(around(&body, row.d, high), target, vec![]))
}

/// Values at the edges of every type, and some in between.
fn interesting() -> Vec<u64> {
    let mut values: Vec<u64> = vec![
        0,
        1,
        2,
        3,
        7,
        31,
        32,
        33,
        63,
        64,
        100,
        0x7f,
        0x80,
        0xff,
        0x7fff_ffff,
        0x8000_0000,
        0x8000_0001,
        0xffff_ffff,
        0x1_0000_0000,
        0x7fff_ffff_ffff_ffff,
        0x8000_0000_0000_0000,
        u64::MAX,
        0x0123_4567_89ab_cdef,
    ];
    for f in [
        0.0f64,
        -0.0,
        0.5,
        -0.5,
        1.5,
        2.5,
        -2.5,
        1e-40,
        1e10,
        -1e10,
        4_294_967_296.0,
        9.3e18,
        1.9e19,
        -9.3e18,
        1e300,
        3.0,
        0.1,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
    ] {
        values.push(f.to_bits());
        values.push(u64::from((f as f32).to_bits()));
    }
    values
}

struct Inputs {
    columns: [Vec<u64>; 3],
}

impl Inputs {
    fn crossed(safe_divisor: bool) -> Inputs {
        let values = interesting();
        let mut columns = [vec![], vec![], vec![]];
        for (i, &x) in values.iter().enumerate() {
            for (j, &y) in values.iter().enumerate() {
                columns[0].push(x);
                let y = if safe_divisor && (y as u32 == 0 || y as u32 == u32::MAX || y == u64::MAX)
                {
                    3
                } else {
                    y
                };
                columns[1].push(y);
                columns[2].push(values[(i * 7 + j * 3) % values.len()]);
            }
        }
        Inputs { columns }
    }

    fn run(&self, executor: &mut dyn Executor, target: Scalar) -> Result<Outcome, RunError> {
        let n = self.columns[0].len();
        let [x, y, z] = &self.columns;
        let bytes: Vec<u8> = x.iter().map(|&v| v as u8).collect();
        let (u32s, i32s): (Vec<u32>, Vec<i32>) = x.iter().map(|&v| (v as u32, v as i32)).unzip();
        let f32s: Vec<f32> = x.iter().map(|&v| f32::from_bits(v as u32)).collect();
        let i64s: Vec<i64> = x.iter().map(|&v| v as i64).collect();
        let f64s: Vec<f64> = x.iter().map(|&v| f64::from_bits(v)).collect();
        let slice = match target {
            Scalar::Bool => unreachable!("no test has such a target"),
            Scalar::U8 => Slice::U8(&bytes),
            Scalar::U32 => Slice::U32(&u32s),
            Scalar::I32 => Slice::I32(&i32s),
            Scalar::F32 => Slice::F32(&f32s),
            Scalar::U64 => Slice::U64(x),
            Scalar::I64 => Slice::I64(&i64s),
            Scalar::F64 => Slice::F64(&f64s),
        };
        executor.run(&Args {
            scalars: vec![n as u64],
            inputs: vec![
                (BufferId(0), Slice::U64(x)),
                (BufferId(1), Slice::U64(y)),
                (BufferId(2), Slice::U64(z)),
                (BufferId(TARGET), slice),
            ],
        })
    }
}

/// NaN payloads and the sign of a zero from min and max may differ.
fn same_bits(scalar: Scalar, a: u64, b: u64, zeros: bool) -> bool {
    let f32s = |x: u64| f32::from_bits(x as u32);
    let f64s = f64::from_bits;
    let narrow =
        || (f32s(a).is_nan() && f32s(b).is_nan()) || (zeros && f32s(a) == 0.0 && f32s(b) == 0.0);
    let wide =
        || (f64s(a).is_nan() && f64s(b).is_nan()) || (zeros && f64s(a) == 0.0 && f64s(b) == 0.0);
    a == b
        || match scalar {
            Scalar::U32 | Scalar::F32 => narrow(),
            Scalar::U64 | Scalar::F64 => wide(),
            Scalar::Bool | Scalar::U8 | Scalar::I32 | Scalar::I64 => false,
        }
}

/// Distance in units in the last place, for results of one sign.
fn ulps(scalar: Scalar, a: u64, b: u64) -> u64 {
    match scalar {
        Scalar::U32 => u64::from((a as u32).abs_diff(b as u32)),
        _ => a.abs_diff(b),
    }
}

fn check_op(device: &Arc<Device>, op: Op, high: u8) {
    let Some(program) = around_op(op, high) else {
        return;
    };
    verify(&program).unwrap_or_else(|e| panic!("{op:?}: {e:?}"));
    let program = Arc::new(program);
    let inputs = Inputs::crossed(op.row().faults == vyre_core::vir0::isa::Faults::Divide);
    let target = program.buffers[usize::from(TARGET)].scalar;
    let nothing = TopologyArgs::default();
    let mut reference = reference(&program);
    let mut megakernel =
        Megakernel::new(device, Arc::clone(&program), &nothing, Allocation::Separate).unwrap();
    let expected = inputs.run(&mut reference, target);
    let actual = inputs.run(&mut megakernel, target);
    if op == Op::Check {
        // It fails for the very first pair, 0 and 0; the traps must agree.
        let (expected, actual) = (expected.unwrap_err(), actual.unwrap_err());
        assert_eq!(expected.to_string(), actual.to_string());
        return;
    }
    let (expected, actual) = (expected.unwrap(), actual.unwrap());
    // Within 2 units in the last place of the exact value, each on its own.
    let approximate = op.row().meaning.contains("ulp");
    // A global float atomic add flushes denormal operands and results to zero.
    let adds = matches!(op, Op::AtomAddF32);
    for ((id, e), (_, a)) in expected.outputs.iter().zip(&actual.outputs) {
        assert_eq!(e.len(), a.len());
        for i in 0..e.len() {
            let (e, a) = (e.get(i).unwrap(), a.get(i).unwrap());
            let scalar = program.buffers[id.index()].scalar;
            let near = |a: u64, b: u64| {
                let [a, b] = [a, b].map(|bits| f32::from_bits(bits as u32));
                (a - b).abs() <= 2.0 * f32::MIN_POSITIVE
            };
            assert!(
                same_bits(
                    scalar,
                    e,
                    a,
                    op.row().name.contains("Min") || op.row().name.contains("Max")
                ) || adds && near(e, a)
                    || approximate && ulps(scalar, e, a) <= 4,
                "{op:?} with {high} rows, item {i}, {}: {e:#x} expected, {a:#x} found; x {:#x}, y {:#x}, z {:#x}",
                program.buffers[id.index()].name,
                inputs.columns[0][i],
                inputs.columns[1][i],
                inputs.columns[2][i],
            );
        }
    }
}

#[test]
fn programs_around_single_instructions_verify() {
    let checked = Op::ALL
        .iter()
        .filter_map(|&op| around_op(op, 60))
        .inspect(|p| verify(p).unwrap_or_else(|e| panic!("{}: {e:?}", p.name)))
        .count();
    assert!(checked > 150, "{checked}");
}

#[test]
#[ignore = "needs a CUDA device"]
fn every_instruction_agrees() {
    let device = device();
    for &op in Op::ALL {
        check_op(&device, op, 0);
    }
}

#[test]
#[ignore = "needs a CUDA device"]
fn register_files_of_every_size_agree() {
    let device = device();
    for high in [12, 18, 30, 45, 64, 120, 192] {
        for op in [
            Op::Add32,
            Op::Add64,
            Op::MulF64,
            Op::AtomAdd32,
            Op::AtomMaxU64,
        ] {
            check_op(&device, op, high);
        }
    }
}

/// A small generator of random structured code.
struct Random(u64);

impl Random {
    fn next(&mut self, n: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 32) as u32) % n
    }
}

/// Rows 1..=6 are values, 8.. loop counters and conditions.
fn random_block(r: &mut Random, code: &mut Vec<Word>, loops: u32, depth: u32) {
    for _ in 0..1 + r.next(4) {
        let value = |r: &mut Random| 1 + r.next(6) as u8;
        match r.next(if depth >= 4 { 4 } else { 8 }) {
            0..=2 => {
                let ops = [
                    Op::Add32,
                    Op::Xor32,
                    Op::Mul32,
                    Op::Rotl32,
                    Op::MaxU32,
                    Op::Sub32,
                ];
                let op = ops[r.next(6) as usize];
                let (d, a, b) = (value(r), value(r), value(r));
                code.push(word(op, d, a, b, 0));
            }
            3 => {
                // A guarded exit.
                let (a, bit) = (value(r), 1 << r.next(4));
                code.push(word(Op::And32, 7, a, 255, bit));
                if loops > 0 {
                    let to = r.next(loops);
                    match r.next(4) {
                        0 => code.push(word(Op::BreakIf, 0, 7, 0, to)),
                        1 => code.push(word(Op::BreakUnless, 0, 7, 0, to)),
                        exit => {
                            let at = code.len();
                            code.push(word(Op::If, 0, 7, 0, 0));
                            let op = if exit == 2 { Op::Break } else { Op::Continue };
                            code.push(word(op, 0, 0, 0, to));
                            code[at].imm = code.len() as u32;
                            code.push(word(Op::EndIf, 0, 0, 0, 0));
                        }
                    }
                } else if r.next(4) == 0 {
                    let at = code.len();
                    code.push(word(Op::If, 0, 7, 0, 0));
                    code.push(word(Op::St32, 0, 0, 1, resource(OUT32)));
                    code.push(word(Op::Ret, 0, 0, 0, 0));
                    code[at].imm = code.len() as u32;
                    code.push(word(Op::EndIf, 0, 0, 0, 0));
                }
            }
            4 | 5 => {
                code.push(word(Op::And32, 7, value(r), 255, 1 << r.next(4)));
                let at = code.len();
                code.push(word(Op::If, 0, 7, 0, 0));
                random_block(r, code, loops, depth + 1);
                if r.next(2) == 0 {
                    let other = code.len();
                    code[at].imm = other as u32;
                    code.push(word(Op::Else, 0, 0, 0, 0));
                    random_block(r, code, loops, depth + 1);
                    code[other].imm = code.len() as u32;
                } else {
                    code[at].imm = code.len() as u32;
                }
                code.push(word(Op::EndIf, 0, 0, 0, 0));
            }
            _ => {
                let counter = 8 + depth as u8;
                code.push(word(Op::Mov32, counter, 255, 0, 0));
                let at = code.len();
                code.push(word(Op::Loop, 0, 0, 0, 0));
                code.push(word(Op::Add32, counter, counter, 255, 1));
                let limit = value(r);
                code.push(word(Op::And32, 7, limit, 255, 3));
                code.push(word(Op::LtU32, 7, 7, counter, 0));
                code.push(word(Op::BreakIf, 0, 7, 0, 0));
                random_block(r, code, loops + 1, depth + 1);
                code.push(word(Op::EndLoop, 0, 0, 0, at as u32));
                code[at].imm = code.len() as u32;
            }
        }
    }
}

fn random_program(seed: u64) -> Program {
    let mut r = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut code = vec![
        word(Op::Ld64, 2, 0, 0, resource(X)),
        word(Op::Ld64, 4, 0, 0, resource(X + 1)),
        word(Op::Xor32, 1, 2, 4, 0),
        word(Op::Mov32, 6, 0, 0, 0),
        word(Op::Mov32, 7, 0, 0, 0),
    ];
    for _ in 0..3 {
        random_block(&mut r, &mut code, 0, 0);
    }
    for row in 2..=6 {
        code.push(word(Op::Xor32, 1, 1, row, 0));
    }
    code.push(word(Op::St32, 0, 0, 1, resource(OUT32)));
    code.push(word(Op::Ret, 0, 0, 0, 0));
    program(code, Scalar::U32, vec![])
}

/// Random programs that verify; the generator also makes code that ends in unreachable words.
fn random_programs(seeds: std::ops::Range<u64>) -> impl Iterator<Item = (u64, Program)> {
    seeds
        .map(|seed| (seed, random_program(seed)))
        .filter(|(_, p)| verify(p).is_ok())
}

#[test]
fn most_random_programs_verify() {
    assert!(random_programs(0..200).count() > 100);
}

#[test]
#[ignore = "needs a CUDA device"]
fn random_control_flow_agrees() {
    let device = device();
    let nothing = TopologyArgs::default();
    let inputs = Inputs::crossed(false);
    for (seed, program) in random_programs(0..400) {
        let program = Arc::new(program);
        let mut reference = reference(&program);
        let mut megakernel = Megakernel::new(
            &device,
            Arc::clone(&program),
            &nothing,
            Allocation::Separate,
        )
        .unwrap();
        let expected = inputs.run(&mut reference, Scalar::U32).unwrap();
        let actual = inputs.run(&mut megakernel, Scalar::U32).unwrap();
        assert_eq!(expected.outputs, actual.outputs, "seed {seed}");
    }
}

#[test]
#[ignore = "needs a CUDA device"]
fn every_reduction_agrees() {
    let device = device();
    let nothing = TopologyArgs::default();
    let inputs = Inputs::crossed(false);
    let kinds = [
        (Scalar::U32, "sum min max or and"),
        (Scalar::I32, "sum min max or and"),
        (Scalar::U64, "sum min max or and"),
        (Scalar::I64, "sum min max or and"),
        (Scalar::F32, "min max"),
        (Scalar::F64, "min max"),
    ];
    for (scalar, ops) in kinds {
        let reductions: Vec<Reduction> = ops
            .split(' ')
            .map(|op| Reduction {
                name: op.into(),
                op: match op {
                    "sum" => ReduceOp::Sum,
                    "min" => ReduceOp::Min,
                    "max" => ReduceOp::Max,
                    "or" => ReduceOp::Or,
                    _ => ReduceOp::And,
                },
                scalar,
                owner: None,
                output: true,
            })
            .collect();
        let op = if scalar.rows() == 2 {
            Op::Reduce64
        } else {
            Op::Reduce32
        };
        let body: Vec<Word> = (0u16..)
            .zip(&reductions)
            .map(|(r, _)| word(op, 0, 2, 0, resource(r)))
            .collect();
        let program = program(around(&body, Slot::N, 0), Scalar::U32, reductions);
        verify(&program).unwrap_or_else(|e| panic!("{scalar:?}: {e:?}"));
        let program = Arc::new(program);
        let mut reference = reference(&program);
        let mut megakernel = Megakernel::new(
            &device,
            Arc::clone(&program),
            &nothing,
            Allocation::Separate,
        )
        .unwrap();
        let expected = inputs.run(&mut reference, Scalar::U32).unwrap();
        let actual = inputs.run(&mut megakernel, Scalar::U32).unwrap();
        assert_eq!(expected.reductions, actual.reductions, "{scalar:?}");
    }
}

/// Breadth-first search whose frontier alternates between two fields, so that a round has two groups that push, and one
/// of the counts does not travel in the barrier's word.
#[wave_graph]
#[pass(id = "test.relay", unproven)]
pub mod relay {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[frontier]
        front: Frontier,
        #[frontier(unique)]
        back: Frontier,
        #[output(per = node)]
        dist: u32,
        #[output(per = node)]
        sources: u32,
        source: u32,
    }

    #[wave(nodes)]
    fn init(v: Node, source: u32, dist: &mut u32, front: &Push) {
        *dist = UNSEEN;
        if v == source {
            *dist = 0;
            front.push(v);
        }
    }

    #[wave(edges(graph))]
    fn sum_sources(e: Edge, sources: &Buf<Atomic<u32>>) {
        sources[e.dst].fetch_add(e.src);
    }

    #[fixpoint(after(init), until(front.is_empty() && back.is_empty()), max_rounds = 1_000_000)]
    mod levels {
        #[wave(edges(graph, from = front))]
        fn forth(e: Edge, round: Round, dist: &Buf<Atomic<u32>>, back: &Push) {
            if dist[e.dst].compare_exchange(UNSEEN, round + 1) {
                back.push(e.dst);
            }
        }

        #[wave(edges(graph, from = back), after(forth))]
        fn fro(e: Edge, round: Round, dist: &Buf<Atomic<u32>>, front: &Push) {
            if dist[e.dst].compare_exchange(UNSEEN, round + 1) {
                front.push(e.dst);
            }
        }
    }
}

/// Hubs of several sizes around the chunk limit, in a chain of stars, with isolated nodes between.
fn hubs() -> Csr {
    let mut edges = Vec::new();
    let mut next = 0u32;
    for degree in [1u32, 511, 512, 513, 1024, 5_000, 100_000, 3, 2_000] {
        let center = next;
        next += 1 + degree;
        edges.extend((1..=degree).map(|i| (center, center + i)));
        edges.push((center, next + 1));
        next += 1;
    }
    edges.extend((0..200).map(|i| (i, (i * 7919) % next)));
    Csr::from_edges(next as usize + 2, &edges).unwrap()
}

#[test]
#[ignore = "needs a CUDA device"]
fn skewed_and_split_frontiers_agree() {
    let (cuda, native) = (vyre_tests::cuda(), Runtime::native());
    for graph in [hubs(), grid(300, 40), grid(1, 500)] {
        let mut on_cuda = relay::Session::new(&cuda, &graph).unwrap();
        let mut on_cpu = relay::Session::new(&native, &graph).unwrap();
        let mut single = bfs::Session::new(&cuda, &graph).unwrap();
        for source in [0, 1, 3] {
            let expected = on_cpu.run(relay::Run { source }).unwrap();
            for _ in 0..3 {
                let actual = on_cuda.run(relay::Run { source }).unwrap();
                assert_eq!(expected.dist, actual.dist);
                assert_eq!(expected.sources, actual.sources);
                assert_eq!(expected.report.rounds, actual.report.rounds);
                let alone = single.run(bfs::Run { source }).unwrap();
                assert_eq!(expected.dist, alone.dist);
            }
        }
    }
}

/// Breadth-first searches, which differ in the room of their frontier and in their limit of rounds.
macro_rules! searches {
    ($($(#[$about:meta])* $name:ident(#[$frontier:meta], $rounds:literal);)*) => {$(
        #[wave_graph]
        $(#[$about])*
        pub mod $name {
            pub struct Data {
                #[topology]
                graph: Csr,
                #[$frontier]
                front: Frontier,
                #[output(per = node)]
                dist: u32,
                source: u32,
            }

            #[wave(nodes)]
            fn init(v: Node, source: u32, dist: &mut u32, front: &Push) {
                *dist = UNSEEN;
                if v == source {
                    *dist = 0;
                    front.push(v);
                }
            }

            #[fixpoint(after(init), until(front.is_empty()), max_rounds = $rounds)]
            mod levels {
                #[wave(edges(graph, from = front))]
                fn relax(e: Edge, round: Round, dist: &Buf<Atomic<u32>>, front: &Push) {
                    if dist[e.dst].compare_exchange(UNSEEN, round + 1) {
                        front.push(e.dst);
                    }
                }
            }
        }
    )*};
}

searches! {
    #[pass(id = "test.tight", unproven)]
    tight(#[frontier(capacity = 200)], 4_000_000_000);

    /// Stops in the middle of narrow rounds.
    #[pass(id = "test.short", unproven)]
    short(#[frontier], 150);
}

/// Shortest paths, so that nodes come back, with steps that differ; `limits` has no element for rounds past its end.
#[wave_graph]
#[pass(id = "test.paths", unproven)]
pub mod paths {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[topology(per = edge(graph))]
        weight: u32,
        #[frontier(unique)]
        front: Frontier,
        #[frontier(unique)]
        far: Frontier,
        #[output(per = node)]
        dist: u32,
        #[output(per = node)]
        seen: u64,
        #[input(per = rounds)]
        limits: u32,
        source: u32,
        rounds: u32,
    }

    #[wave(nodes)]
    fn init(v: Node, source: u32, dist: &mut u32, front: &Push) {
        *dist = UNSEEN;
        if v == source {
            *dist = 0;
            front.push(v);
        }
    }

    #[fixpoint(after(init), until(front.is_empty()), max_rounds = 100_000)]
    mod relaxation {
        #[wave(edges(graph, from = front))]
        fn relax(
            e: Edge,
            round: Round,
            weight: &Buf<u32>,
            limits: &Buf<u32>,
            dist: &Buf<Atomic<u32>>,
            seen: &Buf<Atomic<u64>>,
            front: &Push,
            far: &Push,
        ) {
            let near = dist[e.src].load();
            let next = near + weight[e.index];
            if next <= limits[round] && next < dist[e.dst].fetch_min(next) {
                seen[e.dst].fetch_or(1u64 << (next & 63));
                front.push(e.dst);
                if next > 100 {
                    far.push(e.dst);
                }
            }
        }
    }

    #[wave(items(far), after(relaxation))]
    fn mark(v: Node, seen: &Buf<Atomic<u64>>) {
        seen[v].fetch_or(1 << 63);
    }
}

/// A tree that narrow rounds begin and wide ones end, and back: each node has `ways` children down to `depth`, and from
/// each leaf a path goes on.
fn broom(ways: u32, depth: u32, path: u32) -> Csr {
    let mut edges = Vec::new();
    let (mut level, mut next) = (vec![0u32], 1u32);
    for _ in 0..depth {
        let mut below = Vec::new();
        for &v in &level {
            for _ in 0..ways {
                edges.push((v, next));
                below.push(next);
                next += 1;
            }
        }
        level = below;
    }
    for &leaf in level.iter().step_by(3) {
        let mut at = leaf;
        for _ in 0..path {
            edges.push((at, next));
            at = next;
            next += 1;
        }
    }
    Csr::from_edges(next as usize, &edges).unwrap()
}

/// A chain whose every tenth node has this many leaves.
fn comb(nodes: u32, leaves: u32) -> Csr {
    let mut edges = Vec::new();
    let mut next = nodes;
    for v in 0..nodes - 1 {
        edges.push((v, v + 1));
        if v % 10 == 0 {
            edges.extend((0..leaves).map(|i| (v, next + i)));
            next += leaves;
        }
    }
    Csr::from_edges(next as usize, &edges).unwrap()
}

#[test]
#[ignore = "needs a CUDA device"]
fn narrow_rounds_agree() {
    let (cuda, native) = (vyre_tests::cuda(), Runtime::native());
    let graphs = [
        ("grid", grid(400, 300)),
        ("chain", grid(1, 3_000)),
        ("tall", grid(7, 900)),
        ("broom", broom(3, 8, 60)),
        // More than a cluster holds, and back.
        ("square", grid(1_300, 1_300)),
        // All items lie where one CTA pushed them.
        ("brush", broom(900, 1, 400)),
        ("brushes", broom(40, 2, 300)),
        ("comb", comb(500, 40)),
        ("heavy comb", comb(300, 450)),
        ("hubs", comb(100, 900)),
    ];
    for (name, graph) in graphs {
        let weight: Vec<u32> = (0..graph.targets().len() as u32)
            .map(|e| 1 + e.wrapping_mul(2_654_435_761) % 7)
            .collect();
        let limits = vec![u32::MAX; 20_000];
        let run = |rounds: usize| paths::Run {
            limits: &limits[..rounds],
            source: 0,
            rounds: rounds as u32,
        };
        let data = paths::Topology {
            graph: &graph,
            weight: &weight,
        };
        let mut on_cpu = paths::Session::new(&native, data).unwrap();
        let data = paths::Topology {
            graph: &graph,
            weight: &weight,
        };
        let mut on_cuda = paths::Session::new(&cuda, data).unwrap();
        let expected = on_cpu.run(run(20_000)).unwrap();
        for _ in 0..3 {
            let actual = on_cuda.run(run(20_000)).unwrap();
            assert_eq!(expected.dist, actual.dist, "{name}");
        }
        // A fault in the middle of narrow rounds. Which edges are relaxed in which round depends on the order, but not
        // in a chain.
        let Err(vyre::Error::Trap(trap)) = on_cuda.run(run(10)) else {
            panic!("{name}: round 10 has no limit");
        };
        assert_eq!(trap.kind, vyre::TrapKind::IndexOutOfBounds, "{name}");
        assert_eq!((trap.index, trap.len), (10, 10), "{name}");
        if name == "chain" {
            let Err(vyre::Error::Trap(plain)) = on_cpu.run(run(10)) else {
                panic!("round 10 has no limit");
            };
            assert_eq!(*plain, *trap);
        }
        let mut on_cpu = short::Session::new(&native, &graph).unwrap();
        let mut on_cuda = short::Session::new(&cuda, &graph).unwrap();
        match (
            on_cpu.run(short::Run { source: 0 }),
            on_cuda.run(short::Run { source: 0 }),
        ) {
            (Ok(expected), Ok(actual)) => assert_eq!(expected.dist, actual.dist, "{name}"),
            (Err(vyre::Error::Trap(expected)), Err(vyre::Error::Trap(actual))) => {
                assert_eq!(*expected, *actual, "{name}");
            }
            (expected, actual) => panic!("{name}: {expected:?}, {actual:?}"),
        }
        let mut on_cpu = tight::Session::new(&native, &graph).unwrap();
        let mut on_cuda = tight::Session::new(&cuda, &graph).unwrap();
        for source in 0..3 {
            let run = || tight::Run { source };
            match (on_cpu.run(run()), on_cuda.run(run())) {
                (Ok(expected), Ok(actual)) => {
                    assert_eq!(expected.dist, actual.dist, "{name}");
                    assert_eq!(expected.report.rounds, actual.report.rounds, "{name}");
                }
                (Err(vyre::Error::Trap(expected)), Err(vyre::Error::Trap(actual))) => {
                    assert_eq!(*expected, *actual, "{name}");
                }
                (expected, actual) => panic!("{name}: {expected:?}, {actual:?}"),
            }
        }
    }
}

#[test]
#[ignore = "needs a CUDA device"]
fn rounds_are_run_by_one_cluster_where_it_holds_them() {
    let device = device();
    let clusters = device.capability() >= (9, 0);
    let cuda = vyre_tests::cuda();
    let cluster_rounds = |session: &mut bfs::Session| {
        let out = session.run(bfs::Run { source: 0 }).unwrap();
        out.report.activity.unwrap().cluster_rounds
    };
    let check = |rounds: u64, expected: std::ops::RangeInclusive<u64>| {
        let expected = if clusters { expected } else { 0..=0 };
        assert!(expected.contains(&rounds), "{rounds} rounds, {expected:?}");
    };
    // Rounds of 1 to 300 items.
    let mut session = bfs::Session::new(&cuda, &grid(400, 300)).unwrap();
    for _ in 0..3 {
        check(cluster_rounds(&mut session), 600..=699);
    }
    // Rounds that no cluster holds, but for the first and the last ones. Later runs may go without clusters.
    let mut session = bfs::Session::new(&cuda, &grid(3_000, 3_000)).unwrap();
    check(cluster_rounds(&mut session), 500..=4_000);
    cluster_rounds(&mut session);
}

/// Long and short rounds, narrow and wide ones, sums of long ranges, rounds that pull: each sweep is counted as on a
/// CPU, the times lie within the launch, and results stay as they are.
#[test]
#[ignore = "needs a CUDA device"]
fn waves_are_timed_within_the_launch() {
    let (cuda, native) = (vyre_tests::cuda(), Runtime::native());
    let check = |report: &Report, expected: &Report| {
        let waves = report.waves.as_ref().expect("it was asked for");
        let sweeps = |r: &Report| -> Vec<u64> {
            let waves = r.waves.as_ref().expect("it was asked for");
            waves.iter().map(|w| w.sweeps).collect()
        };
        assert_eq!(sweeps(report), sweeps(expected));
        let sum: u64 = waves.iter().map(|w| w.ns).sum();
        // No more can be said: the device may do other work between the events around a launch.
        let launch = report.device_ns.unwrap();
        assert!(sum <= launch, "{waves:?} of {launch} ns");
        waves.iter().all(|w| w.ns > 0)
    };
    // Searches of this one pull once the session knows that it is symmetric.
    let nodes = 1 << 15;
    let scattered = (0..nodes * 8).map(|i: u32| (i % nodes, i.wrapping_mul(2_654_435_761) % nodes));
    let both_ways: Vec<_> = scattered.flat_map(|(a, b)| [(a, b), (b, a)]).collect();
    let dense = Csr::from_edges(nodes as usize, &both_ways).unwrap();
    for graph in [grid(1_000, 400), grid(1, 5_000), hubs(), dense] {
        let mut on_cpu = bfs::Session::new(&native, &graph).unwrap();
        on_cpu.set_wave_times(true);
        let expected = on_cpu.run(bfs::Run { source: 0 }).unwrap();
        let mut session = bfs::Session::new(&cuda, &graph).unwrap();
        let untimed = session.run(bfs::Run { source: 0 }).unwrap();
        assert_eq!(
            (untimed.report.waves, untimed.dist),
            (None, expected.dist.clone())
        );
        session.set_wave_times(true);
        // Later runs may have other clusters, or none, and pull.
        for _ in 0..5 {
            let out = session.run(bfs::Run { source: 0 }).unwrap();
            assert_eq!(out.dist, expected.dist);
            assert!(check(&out.report, &expected.report));
        }
        let explained = session.explain().to_string();
        let mut lines = explained.lines();
        let timed = |line: &str| line.starts_with("  waves     ") && line.contains("relax ");
        assert!(lines.any(timed), "{explained}");
        for _ in 0..3 {
            session.submit(bfs::Run { source: 0 }, 0);
        }
        for (_, out) in session.run_batch().unwrap().results {
            let out = out.unwrap();
            assert_eq!(out.dist, expected.dist);
            assert!(check(&out.report, &expected.report));
        }
        session.set_wave_times(false);
        let out = session.run(bfs::Run { source: 0 }).unwrap();
        assert_eq!((out.report.waves, out.dist), (None, expected.dist));
    }
    // Several waves of a group, and long ranges that are summed up before their wave: some take less than the clock
    // tells apart.
    for graph in [grid(300, 40), hubs()] {
        let x = vec![1; graph.node_count()];
        let small = vec![1.0; graph.node_count()];
        let run = || loops::Run {
            x: &x,
            small: &small,
            shift: 0,
        };
        let mut on_cpu = loops::Session::new(&native, &graph).unwrap();
        let mut on_cuda = loops::Session::new(&cuda, &graph).unwrap();
        on_cpu.set_wave_times(true);
        on_cuda.set_wave_times(true);
        let (expected, out) = (on_cpu.run(run()).unwrap(), on_cuda.run(run()).unwrap());
        assert_eq!((&out.sum, &out.exact), (&expected.sum, &expected.exact));
        check(&out.report, &expected.report);
        let mut on_cpu = relay::Session::new(&native, &graph).unwrap();
        let mut on_cuda = relay::Session::new(&cuda, &graph).unwrap();
        on_cpu.set_wave_times(true);
        on_cuda.set_wave_times(true);
        let expected = on_cpu.run(relay::Run { source: 0 }).unwrap();
        let out = on_cuda.run(relay::Run { source: 0 }).unwrap();
        assert_eq!(
            (&out.dist, &out.sources),
            (&expected.dist, &expected.sources)
        );
        check(&out.report, &expected.report);
    }
}

/// Neighbour loops that the megakernel lifts: one after another in one kernel would leave all but the first plain, so
/// each has a wave of its own.
#[wave_graph]
#[pass(id = "test.loops", unproven)]
pub mod loops {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[input(per = node)]
        x: u32,
        #[input(per = node)]
        small: f32,
        #[output(per = node)]
        sum: u32,
        #[output(per = node)]
        least: u32,
        #[output(per = node)]
        most: i32,
        #[output(per = node)]
        bits: u32,
        #[output(per = node)]
        count: u32,
        #[output(per = node)]
        odd: u32,
        #[output(per = node)]
        exact: f32,
        /// What an edge's target is looked up beyond.
        shift: u32,
    }

    #[wave(nodes)]
    fn sums(v: Node, graph: &Csr, x: &Buf<u32>, sum: &mut u32) {
        let mut total = v;
        for u in graph.neighbors(v) {
            total += x[u] ^ 5;
        }
        *sum = total;
    }

    #[wave(nodes)]
    fn minima(v: Node, graph: &Csr, x: &Buf<u32>, shift: u32, least: &mut u32) {
        let mut best = u32::MAX;
        if v % 7 == 3 {
            *least = 77;
            return;
        }
        for u in graph.neighbors(v) {
            best = best.min(x[u + shift] + shift);
        }
        *least = best;
    }

    #[wave(nodes)]
    fn maxima(v: Node, graph: &Csr, x: &Buf<u32>, most: &mut i32) {
        let mut best = -1_000_000;
        for e in graph.edges(v) {
            let u = graph.target(e);
            best = best.max(x[u] as i32 - e as i32);
        }
        *most = best;
    }

    #[wave(nodes)]
    fn unions(v: Node, graph: &Csr, x: &Buf<u32>, bits: &mut u32) {
        let mut all = 0;
        for u in graph.neighbors(v) {
            all |= 1 << (x[u] & 31);
        }
        *bits = all;
    }

    #[wave(nodes)]
    fn counts(v: Node, graph: &Csr, count: &mut u32) {
        let mut n = 3;
        for _u in graph.neighbors(v) {
            n += 1;
        }
        *count = n;
    }

    /// Not lifted: a turn depends on the one before in another way.
    #[wave(nodes)]
    fn folds(v: Node, graph: &Csr, x: &Buf<u32>, odd: &mut u32) {
        let mut hash = 1;
        for u in graph.neighbors(v) {
            hash = (hash * 31 + x[u]) & 0xff_ffff;
        }
        *odd = hash;
    }

    /// Sums of small integers, which floats hold exactly in any order.
    #[wave(nodes)]
    fn floats(v: Node, graph: &Csr, small: &Buf<f32>, exact: &mut f32) {
        let mut total = 0.5;
        for u in graph.neighbors(v) {
            total += small[u];
        }
        *exact = total;
    }
}

#[test]
#[ignore = "needs a CUDA device"]
fn lifted_neighbour_loops_agree() {
    let (cuda, reference) = (vyre_tests::cuda(), Runtime::native());
    for graph in [hubs(), grid(300, 40), grid(1, 500), grid(3, 1)] {
        let n = graph.node_count() as u32;
        // No sum overflows: a development build would trap natively.
        let x: Vec<u32> = (0..n)
            .map(|v| v.wrapping_mul(2_654_435_761) >> 18)
            .collect();
        let small: Vec<f32> = x.iter().map(|&x| (x % 16) as f32).collect();
        let mut on_cuda = loops::Session::new(&cuda, &graph).unwrap();
        let mut on_cpu = loops::Session::new(&reference, &graph).unwrap();
        // With a shift, the neighbours near the end are out of bounds: the trap is that of the lowest node.
        for shift in [0, 1, 40, 5_000, n] {
            let run = || loops::Run {
                x: &x,
                small: &small,
                shift,
            };
            match (on_cpu.run(run()), on_cuda.run(run())) {
                (Ok(a), Ok(b)) => {
                    assert_eq!(a.sum, b.sum);
                    assert_eq!(a.least, b.least);
                    assert_eq!(a.most, b.most);
                    assert_eq!(a.bits, b.bits);
                    assert_eq!(a.count, b.count);
                    assert_eq!(a.odd, b.odd);
                    assert_eq!(a.exact, b.exact);
                }
                (a, b) => assert_eq!(
                    a.map(|_| ()).unwrap_err().to_string(),
                    b.map(|_| ()).unwrap_err().to_string(),
                    "shift {shift}"
                ),
            }
        }
    }
}
