//! Every instruction that computes a value, on an adapter, against its meaning: the same bits for the same operands.

use std::sync::mpsc;
use vyre_core::vir0::isa::{Imm, MAX_ROWS, Op, Slot, Word};
use vyre_core::vir0::meaning;
use vyre_core::vir0::module::{
    Buffer, Constant, ConstantId, Domain, Extent, ItemRows, Kernel, KernelId, Program, Role,
    Uniform, Wave,
};
use vyre_core::vir0::scalar::Scalar;
use vyre_wgpu::layout::Layout;
use vyre_wgpu::shader::bodies;
use vyre_wgpu::target::Target;

/// Words of a case: three operands in pairs. Of its result: a pair, and the kind of a fault.
const OPERANDS: usize = 6;
const RESULTS: usize = 3;

/// A program of one kernel, whose operands are uniforms, and whose result goes to a buffer.
fn program(op: Op, literal: Option<u32>) -> Program {
    let row = op.row();
    let uniform = MAX_ROWS as u8;
    let wide = row.d == Slot::D;
    let (a, b) = match literal {
        None => (uniform, uniform + 1),
        Some(_) => (uniform, 255),
    };
    let operation = Word {
        op: op as u8,
        d: 0,
        a,
        b: if row.b == Slot::N { 0 } else { b },
        imm: match row.imm {
            Imm::Third => u32::from(uniform + 2),
            _ => literal.unwrap_or(0),
        },
    };
    let store = Word {
        op: if wide { Op::St64 } else { Op::St32 } as u8,
        d: 0,
        a: uniform + 3,
        b: 0,
        imm: 0,
    };
    let ret = Word {
        op: Op::Ret as u8,
        ..Word::default()
    };
    let kernel = Kernel {
        name: row.name.to_owned(),
        code: vec![operation, store, ret],
        rows: 2,
        frames: 0,
        item: ItemRows::default(),
        uniforms: vec![Uniform::Constant(ConstantId(0)); 4],
        sites: Vec::new(),
    };
    let buffer = Buffer {
        name: "result".to_owned(),
        scalar: if wide { Scalar::U64 } else { Scalar::U32 },
        extent: Extent::Fixed(u64::from(u32::MAX)),
        role: Role::Output,
        init: None,
    };
    let wave = Wave {
        name: row.name.to_owned(),
        kernel: KernelId(0),
        domain: Domain::Once,
        accesses: Vec::new(),
        fixpoint: None,
        after: Vec::new(),
    };
    Program {
        constants: vec![Constant {
            scalar: Scalar::U64,
            bits: 0,
        }],
        buffers: vec![buffer],
        kernels: vec![kernel],
        waves: vec![wave],
        ..Program::default()
    }
}

/// The module around the body: an invocation for each case.
fn module(program: &Program, target: &Target) -> naga::Module {
    let layout = Layout::new(program);
    let bodies = bodies(program, &layout, target);
    let text = format!(
        "
@group(0) @binding(0) var<storage, read> state: array<u32>;
@group(0) @binding(1) var<storage, read_write> plain0: array<u32>;
var<private> at_b0: u32;
var<private> len_b0: u32 = 1u;
var<private> u0_0: vec2<u32>;
var<private> u0_1: vec2<u32>;
var<private> u0_2: vec2<u32>;
var<private> u0_3: vec2<u32>;
var<private> my_place: u32;
fn fault(pc: u32, kind: u32, index: vec2<u32>, len: u32) {{
    plain0[my_place + 2u] = kind;
}}
fn turn() -> bool {{
    return true;
}}
{bodies}
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
    let at = id.x * {OPERANDS}u;
    if at >= arrayLength(&state) {{
        return;
    }}
    u0_0 = vec2(state[at], state[at + 1u]);
    u0_1 = vec2(state[at + 2u], state[at + 3u]);
    u0_2 = vec2(state[at + 4u], state[at + 5u]);
    my_place = id.x * {RESULTS}u;
    at_b0 = my_place;
    kernel_0(0u, 0u, 0u);
}}
"
    );
    let module = naga::front::wgsl::parse_str(&text)
        .unwrap_or_else(|e| panic!("{}", e.emit_to_string(&text)));
    let mut validator = naga::valid::Validator::new(
        naga::valid::ValidationFlags::all(),
        naga::valid::Capabilities::FLOAT64 | naga::valid::Capabilities::SHADER_INT64,
    );
    if let Err(e) = validator.validate(&module) {
        panic!("{}", e.emit_to_string(&text));
    }
    module
}

struct Adapter {
    device: wgpu::Device,
    queue: wgpu::Queue,
}

/// An adapter; none only where the environment says that there is none.
fn adapter() -> Option<Adapter> {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    let adapter =
        pollster::block_on(instance.request_adapter(&wgpu::RequestAdapterOptions::default()));
    let adapter = match adapter {
        Ok(adapter) => adapter,
        Err(_) if std::env::var_os("VYRE_NO_ADAPTER").is_some() => return None,
        Err(e) => panic!("{e} (scripts/software-vulkan gives one; VYRE_NO_ADAPTER=1 goes without)"),
    };
    let wanted = wgpu::Features::SHADER_F64 | wgpu::Features::SHADER_INT64;
    let (device, queue) = pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
        required_features: wanted & adapter.features(),
        required_limits: adapter.limits(),
        ..Default::default()
    }))
    .expect("an adapter has a device");
    Some(Adapter { device, queue })
}

impl Adapter {
    /// What the module makes of each case.
    fn results(&self, module: naga::Module, cases: &[[u64; 3]]) -> Vec<[u32; RESULTS]> {
        let device = &self.device;
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: None,
            source: wgpu::ShaderSource::Naga(std::borrow::Cow::Owned(module)),
        });
        let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: None,
            layout: None,
            module: &module,
            entry_point: Some("main"),
            compilation_options: Default::default(),
            cache: None,
        });
        let buffer = |size: usize, usage| {
            device.create_buffer(&wgpu::BufferDescriptor {
                label: None,
                size: (4 * size) as u64,
                usage,
                mapped_at_creation: false,
            })
        };
        let (storage, copied) = (wgpu::BufferUsages::STORAGE, wgpu::BufferUsages::COPY_SRC);
        let target = wgpu::BufferUsages::COPY_DST;
        let input = buffer(cases.len() * OPERANDS, storage | target);
        let output = buffer(cases.len() * RESULTS, storage | copied);
        let read = buffer(cases.len() * RESULTS, wgpu::BufferUsages::MAP_READ | target);
        let bytes: Vec<u8> = cases
            .as_flattened()
            .iter()
            .flat_map(|x| x.to_le_bytes())
            .collect();
        self.queue.write_buffer(&input, 0, &bytes);
        let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &pipeline.get_bind_group_layout(0),
            entries: &[
                wgpu::BindGroupEntry {
                    binding: 0,
                    resource: input.as_entire_binding(),
                },
                wgpu::BindGroupEntry {
                    binding: 1,
                    resource: output.as_entire_binding(),
                },
            ],
        });
        let mut encoder = device.create_command_encoder(&Default::default());
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &group, &[]);
        pass.dispatch_workgroups(cases.len().div_ceil(64) as u32, 1, 1);
        drop(pass);
        encoder.copy_buffer_to_buffer(&output, 0, &read, 0, None);
        self.queue.submit([encoder.finish()]);
        let (said, done) = mpsc::channel();
        read.slice(..)
            .map_async(wgpu::MapMode::Read, move |result| {
                said.send(result).expect("somebody waits");
            });
        device
            .poll(wgpu::PollType::wait_indefinitely())
            .expect("the device works");
        done.recv()
            .expect("the device answers")
            .expect("the buffer can be mapped");
        let words: Vec<u32> = read
            .slice(..)
            .get_mapped_range()
            .expect("the buffer is mapped")
            .as_chunks()
            .0
            .iter()
            .map(|&word| u32::from_le_bytes(word))
            .collect();
        words.as_chunks().0.to_vec()
    }
}

/// Numbers at the edges of something, of any type.
fn edges(slot: Slot, op: Op) -> Vec<u64> {
    let name = op.row().mnemonic;
    let from = name.rsplit('.').next().unwrap_or_default();
    let floats32: Vec<u64> = [
        0.0f32,
        1.0,
        0.5,
        0.49999997,
        1.5,
        2.5,
        0.1,
        3.0,
        255.5,
        8388607.5,
        8388609.0,
        2147483647.0,
        4294967040.0,
        4294967296.0,
        9.2233715e18,
        9.223372e18,
        1.8446744e19,
        1e-38,
        1e-42,
        1e-45,
        1.1754944e-38,
        3.4028235e38,
        88.7,
        103.9,
        std::f32::consts::FRAC_PI_4,
        std::f32::consts::FRAC_PI_2,
        1e10,
        1e30,
        f32::INFINITY,
        f32::NAN,
        16777216.0,
        0.99999994,
        1.0000001,
    ]
    .iter()
    .flat_map(|x| [*x, -*x])
    .map(|x| u64::from(x.to_bits()))
    .collect();
    let floats64: Vec<u64> = [
        0.0f64,
        1.0,
        0.5,
        0.49999999999999994,
        1.5,
        2.5,
        0.1,
        3.0,
        4503599627370495.5,
        9007199254740993.0,
        2147483648.0,
        4294967295.5,
        9.223372036854775e18,
        9.223372036854776e18,
        1.8446744073709552e19,
        1e-308,
        5e-324,
        2.2250738585072014e-308,
        f64::MAX,
        709.7,
        745.1,
        std::f64::consts::FRAC_PI_4,
        std::f64::consts::FRAC_PI_2,
        1e22,
        1e300,
        f64::INFINITY,
        f64::NAN,
        1.1754943508222875e-38,
        1e-45,
        7.006492321624085e-46,
        3.4028235677973366e38,
        1.401298464324817e-45,
        0.9999999999999999,
    ]
    .iter()
    .flat_map(|x| [*x, -*x])
    .map(f64::to_bits)
    .collect();
    let words = [
        0u64,
        1,
        2,
        3,
        7,
        31,
        32,
        33,
        63,
        64,
        0x7fff,
        0xffff,
        0x1_0001,
        0x7fff_ffff,
        0x8000_0000,
        0x8000_0001,
        0xffff_fffe,
        0xffff_ffff,
    ];
    match (slot, from) {
        (Slot::N, _) => vec![0],
        (Slot::W, "f32") => floats32,
        (Slot::D, "f64") => floats64,
        (Slot::W, "b32") if name.starts_with("sel") => vec![0, 1],
        (Slot::W, _) => words.to_vec(),
        _ => words
            .iter()
            .flat_map(|&x| [x, x << 32, !x, x << 31, x << 32 | 1, x.wrapping_neg()])
            .collect(),
    }
}

/// A sequence that looks random, the same in every run (splitmix64).
struct Sequence(u64);

impl Sequence {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ x >> 31
    }

    fn operand(&mut self, slot: Slot, edges: &[u64]) -> u64 {
        let (x, how) = (self.next(), self.next());
        let x = match how % 4 {
            0 => edges[x as usize % edges.len()],
            // Neighbours of edges.
            1 => edges[x as usize % edges.len()]
                .wrapping_add((how >> 8) % 5)
                .wrapping_sub(2),
            2 => x >> ((how >> 8) % 64),
            _ => x,
        };
        match slot {
            Slot::W => x & 0xffff_ffff,
            _ => x,
        }
    }
}

fn cases(op: Op) -> Vec<[u64; 3]> {
    let row = op.row();
    let third = if row.imm == Imm::Third {
        row.d
    } else {
        Slot::N
    };
    let is_select = matches!(op, Op::Sel32 | Op::Sel64);
    let slots = [row.a, row.b, third];
    let edges = slots.map(|slot| edges(slot, op));
    let mut sequence = Sequence(u64::from(op as u8));
    let mut cases = Vec::new();
    for &a in &edges[0] {
        for &b in &edges[1] {
            let c = edges[2][sequence.next() as usize % edges[2].len()];
            cases.push([a, b, c]);
        }
    }
    for _ in 0..4_000 {
        let mut case = [0, 1, 2].map(|i| match slots[i] {
            Slot::N => 0,
            slot => sequence.operand(slot, &edges[i]),
        });
        if is_select {
            case[0] &= 1;
        }
        cases.push(case);
    }
    cases
}

/// What is allowed: the same bits; any NaN for one; any zero from min and max; 2 ulp of an approximation.
fn agrees(op: Op, meant: u64, got: u64) -> bool {
    if meant == got {
        return true;
    }
    let name = op.row().mnemonic;
    let approximates = ["exp", "ln", "sin", "cos"]
        .iter()
        .any(|f| name.starts_with(&format!("{f}.")));
    let extreme = name.starts_with("min.") || name.starts_with("max.");
    let near = |a: i64, b: i64| approximates && a.abs_diff(b) <= 2;
    match (op.row().d, name.split('.').nth(1)) {
        (Slot::W, Some("f32")) => {
            let (a, b) = (f32::from_bits(meant as u32), f32::from_bits(got as u32));
            let place = |x: f32| {
                let bits = i64::from(x.to_bits() & 0x7fff_ffff);
                if x.is_sign_negative() { -bits } else { bits }
            };
            a.is_nan() && b.is_nan()
                || extreme && a == b
                || !a.is_nan() && !b.is_nan() && near(place(a), place(b))
        }
        (Slot::D, Some("f64")) => {
            let (a, b) = (f64::from_bits(meant), f64::from_bits(got));
            let place = |x: f64| {
                let bits = (x.to_bits() & (u64::MAX >> 1)) as i64;
                if x.is_sign_negative() { -bits } else { bits }
            };
            a.is_nan() && b.is_nan()
                || extreme && a == b
                || !a.is_nan() && !b.is_nan() && near(place(a), place(b))
        }
        _ => false,
    }
}

/// The instructions that make a value of their operands.
fn computing() -> impl Iterator<Item = Op> {
    Op::ALL.iter().copied().filter(|op| {
        let row = op.row();
        matches!(row.d, Slot::W | Slot::D) && matches!(row.imm, Imm::N | Imm::Literal | Imm::Third)
    })
}

fn compare(target: &Target, ops: impl Iterator<Item = Op>) {
    let Some(adapter) = adapter() else { return };
    let mut wrong = Vec::new();
    for op in ops {
        let cases = cases(op);
        let results = adapter.results(module(&program(op, None), target), &cases);
        let mut differ = 0;
        for (case, [low, high, fault]) in cases.iter().zip(results) {
            let got = match op.row().d {
                Slot::D => u64::from(low) | u64::from(high) << 32,
                _ => u64::from(low),
            };
            let agrees = match meaning::value(op, *case) {
                Some(meant) => fault == 0 && agrees(op, meant, got),
                None => fault != 0,
            };
            if !agrees {
                differ += 1;
                if differ <= 3 {
                    let meant = meaning::value(op, *case);
                    wrong.push(format!(
                        "{} of {case:x?} is {meant:x?}, not {got:x} (fault {fault})",
                        op.row().mnemonic
                    ));
                }
            }
        }
        if differ > 3 {
            wrong.push(format!(
                "{}: {differ} of {}",
                op.row().mnemonic,
                cases.len()
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_instruction_computes_what_it_means() {
    compare(&Target::full(), computing());
}

/// The approximations are made of these, and take a software driver minutes to compile.
#[test]
fn arithmetic_of_f64_needs_no_f64() {
    let arithmetic = [Op::AddF64, Op::SubF64, Op::MulF64, Op::DivF64, Op::SqrtF64];
    compare(&Target::webgpu(), arithmetic.into_iter());
}
