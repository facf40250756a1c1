//! Bodies in the emulator against what their words mean, tile by tile.
//!
//! A small entry takes the place of the operators: it copies an image to shared memory, calls `interpret<K>` once, and
//! copies shared memory back. What bodies call is the megakernel's own text.

mod exact;
mod grown;
mod written_out;

use super::thread::Thread;
use super::*;
use crate::abi::{self, NONE};
use crate::image::{Ranges, Run, words_of};
use crate::splice::SHIPPED;
use ptx_emulator::{Launch, Machine, Module};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::LazyLock;
use vyre_core::cpu::interp::{Interpreter, Item};
use vyre_core::vir0::exact::Total;
use vyre_core::vir0::isa::{FRAMES_PER_IF, FRAMES_PER_LOOP, Slot, Word};
use vyre_core::vir0::meaning::{Memory, value};
use vyre_core::vir0::module::{BufferId, FrontierId, Queue, QueueId, ReductionId, TopologyId};
use vyre_core::vir0::trap::Fault;

/// Where things are in the emulator's global memory.
const IMAGE: u64 = 0x1_0000_0000;
const CONTROL: u64 = 0x2_0000_0000;
const MASKS: u64 = 0x3_0000_0000;
const QUEUE: u64 = 0x4_0000_0000;
const DATA: u64 = 0x5_0000_0000;
const HUBS: u64 = 0x6_0000_0000;
/// Elements of every buffer, nodes, and room in queues.
const LEN: u32 = 130;
const EDGES: u32 = 420;
const ROOM: u32 = 2000;
/// The node with a long edge range.
const HUB: u32 = 3;

const ENTRIES: [&str; 5] = ["tile0", "tile1", "tile2", "", "tile4"];

/// The function that the entry calls.
fn called_as(items: u32) -> String {
    match items {
        SWEEP => flat::NAME.to_owned(),
        _ => name(items),
    }
}

fn entry(items: u32) -> String {
    let arguments = if items == 1 { 6 } else { 5 };
    let [mask, kernel, pc] = parameters(items);
    let value = |i: u32| match i {
        1 => "%regs",
        i if i == mask => "%mask",
        i if i == kernel => "%kernel",
        0 => "%code",
        i if i == pc => "%pc",
        _ => "0",
    };
    let given: String = (0..arguments)
        .map(|i| {
            format!(
                "\t.param .b32 a{i};\n\tst.param.b32 [a{i}], {};\n",
                value(i)
            )
        })
        .collect();
    let names: Vec<String> = (0..arguments).map(|i| format!("a{i}")).collect();
    let (names, name, step) = (names.join(", "), name(items), 4 * items);
    let call = match items {
        SWEEP => SWEEPS.to_owned(),
        _ => format!(
            "\tmul.wide.u32 %from, %lane, 4;
	add.s64 %from, %from, %masks;
	ld.global.u32 %mask, [%from];
	{{
{given}	.param .b32 result;
	call.uni (result), {name}, ({names});
	ld.param.b32 %x, [result];
	}}
	st.global.u32 [%from+128], %x;
"
        ),
    };
    format!(
        ".visible .entry tile{items}(\n\t.param .u64 p0,\n\t.param .u32 p1,\n\t.param .u32 p2,\n\t.param .u32 p3,\n\t.param .u64 p4,\n\t.param .u32 p5,\n\t.param .u32 p6\n)
{{
	.reg .pred %p;
	.reg .b32 %code, %words, %regs, %kernel, %lane, %base, %i, %x, %at, %mask, %pc;
	.reg .b64 %image, %masks, %from;
	ld.param.u64 %image, [p0];
	ld.param.u32 %words, [p1];
	ld.param.u32 %regs, [p2];
	ld.param.u32 %kernel, [p3];
	ld.param.u64 %masks, [p4];
	ld.param.u32 %code, [p5];
	ld.param.u32 %pc, [p6];
	mov.u32 %lane, %tid.x;
	mov.u32 %base, vyre_shared;
	add.s32 %code, %code, %base;
	st.shared.u32 [vyre_state], 0;
	mov.u32 %i, %lane;
$IN:
	mul.wide.u32 %from, %i, 4;
	add.s64 %from, %from, %image;
	ld.global.u32 %x, [%from];
	shl.b32 %at, %i, 2;
	add.s32 %at, %at, %base;
	st.shared.u32 [%at], %x;
	add.s32 %i, %i, 32;
	setp.lt.u32 %p, %i, %words;
	@%p bra $IN;
	bar.sync 0;
	mad.lo.s32 %regs, %lane, {step}, %regs;
	add.s32 %regs, %regs, %base;
{call}	bar.sync 0;
	mov.u32 %i, %lane;
$OUT:
	mul.wide.u32 %from, %i, 4;
	add.s64 %from, %from, %image;
	shl.b32 %at, %i, 2;
	add.s32 %at, %at, %base;
	ld.shared.u32 %x, [%at];
	st.global.u32 [%from], %x;
	add.s32 %i, %i, 32;
	setp.lt.u32 %p, %i, %words;
	@%p bra $OUT;
	ret;
}}
"
    )
}

/// Stands for the items a lane where the sweep by number is called.
const SWEEP: u32 = 0;

/// What calls the sweep by number, as the only warp.
const SWEEPS: &str = "\tst.shared.u32 [vyre_state+12], %kernel;
	st.shared.u32 [vyre_state+32], 1;
	st.shared.u32 [vyre_state+36], 0;
	{
	.param .b64 a0;
	.param .b64 a1;
	.param .b64 a2;
	st.param.b64 [a0], %masks;
	st.param.b64 [a1], 0;
	st.param.b64 [a2], 0;
	call.uni _Z10sweep_flatyyy, (a0, a1, a2);
	}
";

/// By items a lane, the entry and all that bodies may call.
static BASES: LazyLock<[(u32, String); 4]> = LazyLock::new(|| {
    [SWEEP, 1, 2, 4].map(|items| {
        let called = ["_Z4rarejyyy", "_Z9exact_addjjy"].map(str::to_owned);
        let called = called.into_iter().chain(
            (WIDTHS.into_iter())
                .filter(|&n| n <= items || items == SWEEP)
                .flat_map(|n| {
                    [
                        format!("_Z4pushILi{n}EEvj3VecIXT_EEj"),
                        format!("_Z7reserveILi{n}EE3VecIXT_EEjj"),
                        format!("_Z5faultILi{n}EEvjjjjjjj"),
                        format!("_Z9take_sumsILi{n}EEj3VecIXT_EES1_jjj"),
                        format!("_Z10merge_tileILi{n}EEvj3VecIXT_EEjj"),
                        format!("_Z6gatherILi{}EEjjj3VecIXT_EEjjjjj", n.max(2)),
                    ]
                }),
        );
        // Names in a body count as uses.
        let uses: String = called.map(|name| format!("\t// {name}\n")).collect();
        let text = MEGAKERNEL_PTX.to_owned() + &entry(items);
        let changes = Changes {
            entry: ENTRIES[items as usize],
            bodies: vec![(called_as(items), uses)],
            functions: String::new(),
            known: None,
            left_out: vec![],
            shape: None,
        };
        (items, splice(&text, &changes).expect("it has all that"))
    })
});

/// What a tile does, or should.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Effects {
    /// Elements of the buffers, as bytes.
    buffers: Vec<Vec<u8>>,
    /// What was pushed, sorted.
    pushed: Vec<u32>,
    /// Items that were appended, with their fields, sorted.
    appended: Vec<[u64; 3]>,
    /// Reductions, by raw bits.
    reduced: Vec<u64>,
    /// The trap of the lowest item: item, pc, kind, index, length.
    trap: Option<(u32, u32, u32, u64, u64)>,
    /// Of a part of a long range: what the function gave back, and what the edges come to.
    part: Option<(u32, u32)>,
}

/// The sizes of the elements of the test's buffers.
fn sizes(program: &Program) -> Vec<usize> {
    let of = |b: &Buffer| b.scalar.size_bytes() as usize;
    program.buffers.iter().map(of).collect()
}

struct Host<'a> {
    program: &'a Program,
    effects: Effects,
    slots: BTreeMap<u32, [u64; 3]>,
    totals: Vec<Total>,
}

impl Host<'_> {
    fn load(&self, buffer: BufferId, index: u32) -> Option<u64> {
        let size = sizes(self.program)[buffer.index()];
        let bytes = self.effects.buffers[buffer.index()]
            .chunks(size)
            .nth(index as usize)?;
        let mut out = [0; 8];
        out[..size].copy_from_slice(bytes);
        Some(u64::from_le_bytes(out))
    }
    fn store(&mut self, buffer: BufferId, index: u32, x: u64) -> Option<()> {
        let size = sizes(self.program)[buffer.index()];
        let mut elements = self.effects.buffers[buffer.index()].chunks_mut(size);
        elements
            .nth(index as usize)?
            .copy_from_slice(&x.to_le_bytes()[..size]);
        Some(())
    }
}

impl Memory for Host<'_> {
    fn len(&self, _: BufferId) -> u32 {
        LEN
    }
    fn nodes(&self) -> u32 {
        LEN
    }
    fn edges(&self, _: TopologyId) -> u32 {
        EDGES
    }
    fn load8(&mut self, buffer: BufferId, index: u32) -> Option<u8> {
        self.load(buffer, index).map(|x| x as u8)
    }
    fn load32(&mut self, buffer: BufferId, index: u32) -> Option<u32> {
        self.load(buffer, index).map(|x| x as u32)
    }
    fn load64(&mut self, buffer: BufferId, index: u32) -> Option<u64> {
        self.load(buffer, index)
    }
    fn store8(&mut self, buffer: BufferId, index: u32, value: u8) -> Option<()> {
        self.store(buffer, index, value.into())
    }
    fn store32(&mut self, buffer: BufferId, index: u32, value: u32) -> Option<()> {
        self.store(buffer, index, value.into())
    }
    fn store64(&mut self, buffer: BufferId, index: u32, value: u64) -> Option<()> {
        self.store(buffer, index, value)
    }
    fn csr_begin(&self, _: TopologyId, node: u32) -> Option<u32> {
        (node < LEN).then(|| offset(node))
    }
    fn csr_end(&self, _: TopologyId, node: u32) -> Option<u32> {
        (node < LEN).then(|| offset(node + 1))
    }
    fn csr_target(&self, _: TopologyId, edge: u32) -> Option<u32> {
        (edge < EDGES).then(|| target(edge))
    }
    fn push(&mut self, _: FrontierId, node: u32, _: u32) {
        self.effects.pushed.push(node);
    }
    fn reserve(&mut self, _: QueueId, _: u32) -> u32 {
        let slot = self.slots.len() as u32;
        self.slots.insert(slot, UNSET);
        slot
    }
    fn set_field(&mut self, _: QueueId, field: u16, slot: u32, bits: u64) {
        self.slots.get_mut(&slot).expect("it was appended")[usize::from(field)] = bits;
    }
    fn reduce(&mut self, reduction: ReductionId, bits: u64) {
        self.totals[reduction.index()].take_in(bits);
    }
}

/// Fields that no item stores to.
const UNSET: [u64; 3] = [0x11, 0x1111_1111, 0x1111_1111_1111_1111];

/// Most nodes have no edges, some three, one has more than a warp takes at once.
fn offset(node: u32) -> u32 {
    node.div_ceil(7) * 3 + if node > HUB { 300 } else { 0 }
}

/// Now and then, none of the graph's nodes.
fn target(edge: u32) -> u32 {
    if edge % 41 == 40 {
        500
    } else {
        edge * 37 % LEN
    }
}

/// Uniforms of the tests' kernels: all are constants of the program.
fn uniforms(program: &Program, kernel: usize) -> Vec<u64> {
    let of = |u: &Uniform| match u {
        Uniform::Constant(c) => program.constants[c.index()].bits,
        _ => panic!("tests have constants only"),
    };
    program.kernels[kernel].uniforms.iter().map(of).collect()
}

/// What the meaning of the words makes of items `0..count`.
fn meant(program: &Program, kernel: usize, count: u32, buffers: &[Vec<u8>]) -> Effects {
    let mut host = Host {
        program,
        effects: Effects {
            buffers: buffers.to_vec(),
            ..Effects::default()
        },
        slots: BTreeMap::new(),
        totals: program.reductions.iter().map(Total::new).collect(),
    };
    let uniforms = uniforms(program, kernel);
    for index in 0..count {
        let mut interpreter = Interpreter::new(&program.kernels[kernel], &uniforms);
        let fault = interpreter.run(Item::index(index), &mut host).err();
        let trap = |f: Fault| (index, f.pc, f.kind as u32, f.index, f.len);
        host.effects.trap = host.effects.trap.or(fault.map(trap));
    }
    let mut effects = host.effects;
    effects.pushed.sort_unstable();
    effects.appended = host.slots.into_values().collect();
    effects.appended.sort_unstable();
    effects.reduced = host.totals.iter().map(Total::value).collect();
    effects
}

/// What the compiled body makes of items `0..count`, `items` a lane, or as the sweep by number takes them.
fn emulated(
    program: &Program,
    kernel: usize,
    items: u32,
    count: u32,
    buffers: &[Vec<u8>],
) -> Effects {
    let hub = Ranges::default();
    emulated_with(program, kernel, (items, count), buffers, (hub, 0))
}

/// The same where a long range may be summed up before the wave.
fn emulated_with(
    program: &Program,
    kernel: usize,
    (items, count): (u32, u32),
    buffers: &[Vec<u8>],
    long: (Ranges, u64),
) -> Effects {
    let layout = layout(program);
    let mut bodies = tiles(program, &layout, |_| true);
    bodies.extend(flat::sweep(program, &layout));
    emulated_by(
        program,
        kernel,
        (items, count),
        buffers,
        (long, bodies, None),
    )
}

/// Bodies with the names of their functions.
type Texts = Vec<(String, String)>;

/// The same with these bodies.
fn emulated_by(
    program: &Program,
    kernel: usize,
    (items, count): (u32, u32),
    buffers: &[Vec<u8>],
    ((hub, sum), mut bodies, part): ((Ranges, u64), Texts, Option<[u32; 2]>),
) -> Effects {
    let layout = layout(program);
    let head = layout.head;
    let (sizes, queues) = (sizes(program), program.queues().count());
    let data = |i: usize| DATA + i as u64 * 0x1_0000;
    let topology = data(buffers.len());
    let queue = |i: usize| QUEUE + i as u64 * 0x10_0000;
    let buffers_of = (0..buffers.len()).map(|i| abi::Buffer {
        data: data(i),
        len: LEN,
        home: 0,
    });
    let frontiers = (0..queues).map(|i| abi::Frontier {
        items: [queue(i) + 0x1000; 2],
        ranges: [queue(i) + 0x4000; 2],
        hubs: [queue(i) + 0x8000; 2],
        counters: queue(i),
        hub_counters: queue(i) + 0x200,
        nodes: LEN,
        capacity: ROOM,
        topology: NONE,
        record: if i < program.frontiers.len() { NONE } else { 0 },
        ..Default::default()
    });
    let list = queue(program.frontiers.len());
    let fields = [list + 0x1000, list + 0x2000, list + 0x5000];
    let mut record = abi::Record::default();
    record.fields[..3].copy_from_slice(&fields);
    record.count = 3;
    let tables = layout.encode(&Run {
        program,
        code: 0,
        abort: CONTROL + std::mem::offset_of!(abi::Control, unused) as u64,
        most_steps: None,
        control: CONTROL,
        buffers: buffers_of.collect(),
        topologies: vec![abi::Topology {
            offsets: topology,
            targets: topology + 0x8000,
            nodes: LEN,
            edges: EDGES,
            ..Default::default()
        }],
        frontiers: frontiers.collect(),
        records: vec![record; usize::from(!program.lists.is_empty())],
        fills: vec![],
        refills: vec![],
        lens: vec![LEN.into(); program.waves.len()],
        ranges: vec![hub; program.waves.len()],
        turns: vec![],
        scalars: &[],
        nodes: LEN.into(),
        progress: 0,
        slab: None,
        time_waves: false,
        // Its frontiers and ranges are no run's.
        compiled: false,
    });
    // What one warp has.
    let described = layout.kernels[kernel];
    let shared_bytes = (head.registers_shared + described.warp_bytes).next_multiple_of(128);
    let mut shared = vec![0xa5; shared_bytes as usize];
    shared[..tables.len()].copy_from_slice(&tables);
    // It looks whether it is to stop whenever it may.
    let ticks = std::mem::offset_of!(abi::Image, look_ticks);
    shared[ticks..ticks + 4].fill(0);
    let words = layout.device_words(false);
    let at = head.code_shared as usize;
    shared[at..at + words.len()].copy_from_slice(&words);
    let mut put = |at: u32, x: u32| {
        shared[at as usize..at as usize + 4].copy_from_slice(&x.to_le_bytes());
    };
    for (slot, bits) in (0u32..).zip(uniforms(program, kernel)) {
        let at = described.uniforms_shared + slot * abi::UNIFORM_BYTES;
        for copy in 0..4 {
            put(at + copy * 4, bits as u32);
            put(at + 16 + copy * 4, (bits >> 32) as u32);
        }
    }
    let staging = head.stash_shared + head.stash_bytes - abi::STAGING_BYTES;
    for i in 0..4 {
        put(staging + 4 * i, if i % 2 == 0 { NONE } else { 0 });
    }
    // The sweep's only warp.
    let entry = head.kernels + (kernel * size_of::<abi::Kernel>()) as u32;
    put(entry + std::mem::offset_of!(abi::Kernel, warps) as u32, 1);
    let mut masks = vec![0; 128];
    let rows = [described.index_row, described.item_row];
    for number in 0..32 * items {
        let (lane, k) = (number % 32, number / 32);
        for row in rows.into_iter().filter(|&row| row != NONE) {
            let at = head.registers_shared + row * items * 128 + lane * items * 4 + k * 4;
            put(at, number);
        }
        masks[lane as usize * 4] |= u8::from(number < count) << k;
    }
    masks.extend([0; 128]);
    let lift = lifted::find(&layout, kernel);
    let of_lane_0 = |row: u8| head.registers_shared + u32::from(row) * items * 128;
    if let (Some([begin, end]), Some(lift)) = (part, lift) {
        masks.fill(0);
        masks[0] = 1;
        let nothing = nothing(lift.merge);
        let rows = [(lift.total, nothing), (lift.edge, begin), (lift.end, end)];
        rows.into_iter().for_each(|(row, x)| put(of_lane_0(row), x));
    }
    let accumulators = head.registers_shared + described.accumulators;
    let reductions = layout.reductions_of(&described);
    for (slot, &id) in (0..).zip(reductions) {
        let r = &program.reductions[id as usize];
        let identity = r.op.identity(r.scalar);
        for lane in 0..32 {
            put(accumulators + slot * 256 + lane * 8, identity as u32);
            put(
                accumulators + slot * 256 + lane * 8 + 4,
                (identity >> 32) as u32,
            );
        }
    }

    let (_, base) = BASES
        .iter()
        .find(|(n, _)| *n == items)
        .expect("it is one of them");
    bodies.retain(|(of, _)| *of == called_as(items));
    let entry = ENTRIES[items as usize];
    let changes = Changes {
        entry,
        bodies,
        functions: String::new(),
        known: None,
        left_out: vec![],
        shape: None,
    };
    let text = splice(base, &changes).expect("the base has all");
    let module = Module::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let launch = Launch {
        ctas: 1,
        threads: 32,
        cluster: 1,
        shared_bytes,
    };
    let words = u64::from(shared_bytes / 4);
    let code = head.code_shared + described.code * abi::WORD_BYTES;
    let places = [head.registers_shared, kernel as u32, code].map(u64::from);
    let masks_or_count = if items == SWEEP { count.into() } else { MASKS };
    let args = [
        IMAGE,
        words,
        places[0],
        places[1],
        masks_or_count,
        places[2],
        part.map_or(0, |_| described.neighbors.into()),
    ];
    let mut machine = Machine::launch(Rc::new(module), entry, launch, &args);
    machine.memory.map(IMAGE, &shared);
    machine.memory.map(CONTROL, &layout.control(program));
    machine.memory.map(MASKS, &masks);
    for (i, bytes) in buffers.iter().enumerate() {
        machine.memory.map(data(i), bytes);
    }
    let le = |all: &mut dyn Iterator<Item = u32>| -> Vec<u8> {
        all.flat_map(u32::to_le_bytes).collect()
    };
    let range = [offset(HUB), offset(HUB + 1), 0, 1];
    machine.memory.map(HUBS, &le(&mut range.into_iter()));
    machine.memory.map(HUBS + 0x100, &sum.to_le_bytes());
    machine
        .memory
        .map(topology, &le(&mut (0..=LEN).map(offset)));
    machine
        .memory
        .map(topology + 0x8000, &le(&mut (0..EDGES).map(target)));
    for i in 0..queues {
        let counters = vec![0; 0x400];
        machine
            .memory
            .map(queue(i), &[counters, vec![0x11; 0x9c00]].concat());
    }
    machine
        .run_up_to(0, 3_000_000)
        .unwrap_or_else(|e| panic!("{e}\n{text}\n{program:?}"));

    let read32 = |at: u64| u32::from_le_bytes(machine.memory.bytes(at, 4).try_into().unwrap());
    let read64 = |at: u64| u64::from_le_bytes(machine.memory.bytes(at, 8).try_into().unwrap());
    let shared32 = |at: u32| read32(IMAGE + u64::from(at));
    let mut effects = Effects::default();
    for (i, size) in sizes.iter().enumerate() {
        let bytes = machine.memory.bytes(data(i), LEN as usize * size);
        effects.buffers.push(bytes.to_vec());
    }
    if !program.frontiers.is_empty() {
        let pushed = (0..read64(queue(0))).map(|i| read32(queue(0) + 0x1000 + i * 4));
        effects.pushed.extend(pushed);
        for side in 0..2 {
            let nodes = staging + 16 + side * 256;
            let staged = (0..shared32(staging + 4 + side * 8)).map(|i| shared32(nodes + i * 4));
            effects.pushed.extend(staged);
        }
        effects.pushed.sort_unstable();
    }
    if !program.lists.is_empty() {
        let [a, b, c] = fields;
        let item = |i: u64| {
            let byte = machine.memory.bytes(a + i, 1)[0];
            [byte.into(), read32(b + i * 4).into(), read64(c + i * 8)]
        };
        effects.appended = (0..read64(list)).map(item).collect();
        effects.appended.sort_unstable();
    }
    let held = |slot: usize, lane: usize| {
        let at = accumulators + slot as u32 * 256 + lane as u32 * 8;
        u64::from(shared32(at + 4)) << 32 | u64::from(shared32(at))
    };
    let reduced = (0..).zip(&program.reductions).map(|(id, r)| {
        let first = reductions.iter().position(|&of| of == id);
        let mut total = Total::new(r);
        match (&mut total, first) {
            (_, None) => {}
            (Total::Exact(sum), Some(first)) => {
                let words = 0..words_of(r) as usize;
                sum.merge(words.map(|k| held(first + k / 32, k % 32) as i64));
            }
            (total, Some(first)) => (0..32).for_each(|lane| total.take_in(held(first, lane))),
        }
        total.value()
    });
    effects.reduced = reduced.collect();
    effects.part = part.and(lift).map(|lift| {
        let total = u64::from(of_lane_0(lift.total));
        (read32(MASKS + 128), read32(IMAGE + total))
    });
    let control = |field: usize| CONTROL + field as u64;
    let key = read64(control(std::mem::offset_of!(abi::Control, trap_key)));
    if key != u64::MAX {
        effects.trap = Some((
            (key >> 16) as u32,
            key as u32 & 0xffff,
            read32(control(std::mem::offset_of!(abi::Control, trap_kind))),
            read64(control(std::mem::offset_of!(abi::Control, trap_index))),
            read64(control(std::mem::offset_of!(abi::Control, trap_len))),
        ));
    }
    effects
}

/// What a body in thread form makes of items `0..count`. A small operator is around it, which does what it gives back.
fn emulated_in_thread_form(
    program: &Program,
    count: u32,
    buffers: &[Vec<u8>],
    body: &Thread,
) -> Effects {
    let layout = layout(program);
    let of = layout.kernels[0];
    let regs = [1].map(|i| format!("ld.param.b32 %regs, [{}_param_{i}]", name(1)));
    let mut text = String::from("\t.reg .b32 %in<5>, %out<5>, %regs, %bit;\n\t.reg .pred %is;\n");
    let mut put = |line: &str| text += &format!("\t{line};\n");
    put(&regs[0]);
    put(&format!(
        "ld.param.b32 %in0, [{}_param_{}]",
        name(1),
        parameters(1)[0]
    ));
    put(&format!(
        "ld.shared.b32 %in1, [%regs+{}]",
        of.index_row * 128
    ));
    (2..5).for_each(|i| put(&format!("mov.b32 %in{i}, 0")));
    text += &body.filled(
        &["%in0", "%in1", "%in2", "%in3", "%in4"],
        &["%out0", "%out1", "%out2", "%out3"],
    );
    let mut put = |line: &str| text += &format!("\t{line};\n");
    for (site, frontier) in body.sites.iter().enumerate() {
        put(&format!("bfe.u32 %bit, %out0, {site}, 1"));
        let out = format!("%out{}", site + 1);
        put("{ .param .b32 arg0");
        put(&format!("st.param.b32 [arg0], {frontier}"));
        put(".param .align 4 .b8 arg1[4]");
        put(&format!("st.param.b32 [arg1+0], {out}"));
        put(".param .b32 arg2");
        put("st.param.b32 [arg2], %bit");
        put("call.uni _Z4pushILi1EEvj3VecIXT_EEj, (arg0, arg1, arg2); }");
    }
    put("shr.u32 %bit, %out0, 31");
    put("setp.ne.s32 %is, %bit, 0");
    put("vote.sync.any.pred %is, %is, 0xffffffff");
    put("@!%is bra $DONE");
    let from = [
        "0",
        "%regs",
        "%out1",
        "%bit",
        &NONE.to_string(),
        "%out2",
        "%out3",
    ];
    put("{ .param .b32 arg0");
    for (i, from) in from.iter().enumerate() {
        if i > 0 {
            put(&format!(".param .b32 arg{i}"));
        }
        put(&format!("st.param.b32 [arg{i}], {from}"));
    }
    put("call.uni _Z5faultILi1EEvjjjjjjj, (arg0, arg1, arg2, arg3, arg4, arg5, arg6); }");
    text += "$DONE:\n\tst.param.b32 [func_retval0], 0;\n\tret;\n";
    let long = (Ranges::default(), 0);
    emulated_by(
        program,
        0,
        (1, count),
        buffers,
        (long, vec![(name(1), text)], None),
    )
}

/// What an operation takes nothing in by.
fn nothing(op: u32) -> u32 {
    match Op::from_code(op as u8) {
        Some(Op::Add32 | Op::MaxU32) => 0,
        Some(Op::MinU32) => u32::MAX,
        Some(Op::MinI32) => i32::MAX as u32,
        _ => panic!("tests sum no parts up by such"),
    }
}

/// Buffers of the tests' kernels: two to read, then one of each size that an item has an element of.
const READ32: u32 = 0;
const READ64: u32 = 1;
const OWN8: u32 = 2;
const OWN32: u32 = 3;
const OWN64: u32 = 4;
const MORE64: u32 = 5;

fn of_kernel(code: Vec<Word>, rows: u8) -> Program {
    let mut program = program(code, rows);
    program.kernels[0].frames = frames(&program.kernels[0].code);
    let all = [
        Scalar::U32,
        Scalar::U64,
        Scalar::U8,
        Scalar::U32,
        Scalar::U64,
        Scalar::U64,
    ];
    // Of other lengths than there are nodes, so that nothing is proved of them.
    program.buffers = (all.into_iter())
        .map(|scalar| buffer("b", scalar, Extent::Fixed(u64::from(LEN))))
        .collect();
    program.frontiers = vec![frontier()];
    program.lists = vec![Queue {
        name: "list".into(),
        fields: vec![Scalar::U8, Scalar::U32, Scalar::U64],
        capacity: Extent::Fixed(ROOM.into()),
        unique: false,
        stays: true,
        owner: None,
        output: true,
        reset: None,
    }];
    let reduction = |op, scalar| Reduction {
        name: "r".into(),
        op,
        scalar,
        owner: None,
        output: true,
    };
    program.reductions = vec![
        reduction(ReduceOp::Sum, Scalar::U64),
        reduction(ReduceOp::Max, Scalar::I32),
        reduction(ReduceOp::ExactSum, Scalar::F32),
        reduction(ReduceOp::ExactSum, Scalar::F64),
    ];
    program
}

fn frames(code: &[Word]) -> u8 {
    let (mut open, mut most) = (0, 0);
    for word in code {
        match Op::from_code(word.op).unwrap() {
            Op::If => open += FRAMES_PER_IF,
            Op::Loop => open += FRAMES_PER_LOOP,
            Op::EndIf => open -= FRAMES_PER_IF,
            Op::EndLoop => open -= FRAMES_PER_LOOP,
            _ => {}
        }
        most = most.max(open);
    }
    most
}

fn buffers(program: &Program, mut bits: impl FnMut(usize, u32) -> u64) -> Vec<Vec<u8>> {
    let elements = |(i, size): (usize, &usize)| -> Vec<u8> {
        let element = |at| bits(i, at).to_le_bytes()[..*size].to_vec();
        (0..LEN).map(element).collect::<Vec<_>>().concat()
    };
    sizes(program).iter().enumerate().map(elements).collect()
}

/// Values at the edges of what they mean, among random ones.
fn interesting(state: &mut u64) -> u64 {
    const EDGES: [u64; 24] = [
        0,
        1,
        2,
        31,
        32,
        63,
        64,
        0x7fff_ffff,
        0x8000_0000,
        0xffff_ffff,
        0x1_0000_0000,
        1 << 63,
        (1 << 63) - 1,
        u64::MAX,
        0x7f80_0000,
        0xff80_0000,
        0x7fc0_0000,
        0x3f00_0000,
        0xbf00_0000,
        0x4f00_0000,
        0x5f00_0000,
        0x7ff0 << 48,
        0x3fe0 << 48,
        0x43e0 << 48,
    ];
    *state = state
        .wrapping_mul(0x5851_f42d_4c95_7f2d)
        .wrapping_add(0x1405_7b7e_f767_814f);
    let x = *state >> 20;
    match x % 4 {
        0 => EDGES[(x >> 8) as usize % EDGES.len()],
        // Floats of a size that others have, too.
        1 => ((x >> 8 & 0xffff) as f32 / 16.0 - 2000.0).to_bits().into(),
        2 => ((x >> 8 & 0xffff) as f64 / 16.0 - 2000.0).to_bits(),
        _ => state.rotate_left(17) ^ x,
    }
}

/// Whether two results are the same as far as they are specified.
fn same(op: Op, x: u64, y: u64) -> bool {
    let name = format!("{op:?}");
    let (f32s, f64s) = (
        [x, y].map(|x| f32::from_bits(x as u32)),
        [x, y].map(f64::from_bits),
    );
    let of_f32 = name.ends_with("F32") || name.starts_with("F32From");
    let of_f64 = name.ends_with("F64") || name.starts_with("F64From");
    x == y
        || of_f32 && x >> 32 == y >> 32 && f32s[0].is_nan() && f32s[1].is_nan()
        || of_f64 && f64s[0].is_nan() && f64s[1].is_nan()
        || name.starts_with("M") && of_f32 && f32s[0] == 0.0 && f32s[1] == 0.0
        || name.starts_with("M") && of_f64 && f64s[0] == 0.0 && f64s[1] == 0.0
}

/// Of operations that the hardware approximates, results are the hardware's.
fn is_approximate(op: Op) -> bool {
    matches!(
        op,
        Op::ExpF32
            | Op::LnF32
            | Op::SinF32
            | Op::CosF32
            | Op::ExpF64
            | Op::LnF64
            | Op::SinF64
            | Op::CosF64
    )
}

#[test]
fn every_operation_computes_what_it_means() {
    let mut state = 1;
    for &op in Op::ALL {
        if value(op, [1, 1, 1]).is_none() || is_approximate(op) {
            continue;
        }
        let row = op.row();
        // Operands in pairs of rows, of which 32-bit operations take the low ones; a result behind a zero.
        let load = |d: u8, buffer: u32| word(Op::Ld64, d, 0, 0, buffer << 16);
        let mut code = vec![
            load(2, READ64),
            load(4, OWN64),
            load(6, MORE64),
            word(Op::Mov64, 8, IMM, 0, 0),
        ];
        let third = matches!(row.imm, vyre_core::vir0::isa::Imm::Third);
        let has = |slot: Slot, byte: u8| if slot == Slot::N { 0 } else { byte };
        code.push(word(
            op,
            8,
            has(row.a, 2),
            has(row.b, 4),
            if third { 6 } else { 0 },
        ));
        code.extend([
            word(Op::St64, 0, 0, 8, MORE64 << 16),
            word(Op::Ret, 0, 0, 0, 0),
        ]);
        let program = of_kernel(code, 10);
        let count = 125;
        let mut operands: Vec<[u64; 3]> = Vec::new();
        while operands.len() < LEN as usize {
            let mut of = [(); 3].map(|()| interesting(&mut state));
            if row.a == Slot::W && third {
                of[0] &= 1;
            }
            if value(op, of).is_some() {
                operands.push(of);
            }
        }
        let given = buffers(&program, |i, at| {
            match [READ64, OWN64, MORE64]
                .iter()
                .position(|&b| b as usize == i)
            {
                Some(i) => operands[at as usize][i],
                None => 0,
            }
        });
        let made = emulated(&program, 0, 4, count, &given);
        let swept = emulated(&program, 0, SWEEP, count, &given);
        assert_eq!(swept, made, "{op:?}");
        assert_eq!(made.trap, None, "{op:?}");
        for (i, out) in made.buffers[MORE64 as usize]
            .chunks(8)
            .take(count as usize)
            .enumerate()
        {
            let made = u64::from_le_bytes(out.try_into().unwrap());
            let of = operands[i];
            let meant = value(op, of).unwrap();
            assert!(
                same(op, made, meant),
                "{op:?} of {of:x?}: {made:x}, not {meant:x}"
            );
        }
    }
}

/// `loop { if n == 3 { own[v] = n; break; } if n == most { break; } own[v] = n; n += 1; }`: all items of a warp leave in the middle
/// of a turn, before the place where it is asked whether some are left.
#[test]
fn a_loop_ends_that_all_items_leave_from_a_block_inside() {
    for most in [7, 2] {
        let code = vec![
            word(Op::Mov32, 1, IMM, 0, 0),
            word(Op::Loop, 0, 0, 0, 12),
            word(Op::Eq32, 2, 1, IMM, 3),
            word(Op::If, 0, 2, 0, 6),
            word(Op::St32, 0, 0, 1, OWN32 << 16),
            word(Op::Break, 0, 0, 0, 0),
            word(Op::EndIf, 0, 0, 0, 0),
            word(Op::Eq32, 2, 1, IMM, most),
            word(Op::BreakIf, 0, 2, 0, 0),
            word(Op::St32, 0, 0, 1, OWN32 << 16),
            word(Op::Add32, 1, 1, IMM, 1),
            word(Op::EndLoop, 0, 0, 0, 1),
            word(Op::Ret, 0, 0, 0, 0),
        ];
        let program = of_kernel(code, 3);
        let given = buffers(&program, |_, _| 9);
        let meant = meant(&program, 0, 30, &given);
        for items in [1, 4, SWEEP] {
            let made = emulated(&program, 0, items, 30, &given);
            assert!(made == meant, "{items} items a lane, {most}");
        }
    }
}

/// `for u in graph.neighbors(v) { total = total (op) x[u] }`, before and behind it something of the item.
#[test]
fn loops_that_are_shared_out_take_in_what_they_mean() {
    let mut state = 3;
    for op in [Op::Add32, Op::MinU32, Op::MaxU32, Op::Or32, Op::AddF32] {
        let code = vec![
            word(Op::Ld32, 1, 0, 0, OWN32 << 16),
            word(Op::And32, 2, 1, IMM, 8),
            word(Op::If, 0, 2, 0, 5),
            word(Op::St32, 0, 0, 0, OWN32 << 16),
            word(Op::Ret, 0, 0, 0, 0),
            word(Op::EndIf, 0, 0, 0, 0),
            word(Op::CsrBegin, 2, 0, 0, 0),
            word(Op::CsrEnd, 3, 0, 0, 0),
            word(Op::Loop, 0, 0, 0, 16),
            word(Op::LeU32, 4, 3, 2, 0),
            word(Op::BreakIf, 0, 4, 0, 0),
            word(Op::CsrTarget, 4, 2, 0, 0),
            word(Op::Ld32, 4, 4, 0, READ32 << 16),
            word(op, 1, 1, 4, 0),
            word(Op::Add32, 2, 2, IMM, 1),
            word(Op::EndLoop, 0, 0, 0, 8),
            word(Op::St32, 0, 0, 1, OWN32 << 16),
            word(Op::Ret, 0, 0, 0, 0),
        ];
        let program = of_kernel(code, 5);
        // Small numbers, whose sums are exact.
        let given = buffers(&program, |_, _| {
            let x = interesting(&mut state) & 31;
            if op == Op::AddF32 {
                (x as f32).to_bits().into()
            } else {
                x
            }
        });
        assert_ne!(layout(&program).kernels[0].neighbors, 0, "{op:?} is lifted");
        assert!(
            !text_of(&program).contains(SHIPPED),
            "{op:?} is in the body"
        );
        for (items, count) in [(1, 32), (1, 30), (4, 128), (4, 99)] {
            let meant = meant(&program, 0, count, &given);
            assert!(meant.trap.is_some());
            let made = emulated(&program, 0, items, count, &given);
            assert_eq!(made, meant, "{op:?}, {items} items a lane");
        }
        // The long range as a sum that was made before: the item takes that in, whatever its edges are.
        let hub = Ranges {
            list: HUBS,
            sums: HUBS + 0x100,
            count: 1,
            ..Ranges::default()
        };
        let (own, sum) = (
            OWN32 as usize,
            if op == Op::AddF32 { 5f32.to_bits() } else { 5 },
        );
        let at = HUB as usize * 4..HUB as usize * 4 + 4;
        let word_of = |bytes: &[u8]| u32::from_le_bytes(bytes[at.clone()].try_into().unwrap());
        let mut calm = given.clone();
        calm[own][at.clone()].copy_from_slice(&0u32.to_le_bytes());
        for items in [1, 4] {
            let run = |good: u64| {
                let sum = good << 32 | u64::from(sum);
                emulated_with(&program, 0, (items, 32 * items), &calm, (hub, sum))
            };
            let first = word_of(&calm[own]);
            let taken = value(op, [first.into(), sum.into(), 0]).unwrap() as u32;
            assert_eq!(
                word_of(&run(1).buffers[own]),
                taken,
                "{op:?}, {items} items a lane"
            );
            // A sum in which something was out of bounds is none.
            assert_eq!(run(0), meant(&program, 0, 32 * items, &calm));
        }
    }
}

/// `for e in graph.edges(v) { total = total (op) (x[target(e)] / (e & 7) + e) }`: turns that compute, and may fault.
fn turns_compute(op: Op, divides: bool) -> Program {
    let divide = if divides { Op::DivU32 } else { Op::Xor32 };
    let code = vec![
        word(Op::Ld32, 1, 0, 0, OWN32 << 16),
        word(Op::CsrBegin, 2, 0, 0, 0),
        word(Op::CsrEnd, 3, 0, 0, 0),
        word(Op::Loop, 0, 0, 0, 15),
        word(Op::LeU32, 4, 3, 2, 0),
        word(Op::BreakIf, 0, 4, 0, 0),
        word(Op::CsrTarget, 4, 2, 0, 0),
        word(Op::MinU32, 4, 4, IMM, LEN - 1),
        word(Op::Ld32, 4, 4, 0, READ32 << 16),
        word(Op::And32, 5, 2, IMM, 7),
        word(divide, 4, 4, 5, 0),
        word(op, 1, 4, 1, 0),
        word(Op::Sub32, 5, 2, 5, 0),
        word(Op::Add32, 2, 2, IMM, 1),
        word(Op::EndLoop, 0, 0, 0, 3),
        word(Op::AtomAdd32, IMM, 0, 1, OWN32 << 16),
        word(Op::Ret, 0, 0, 0, 0),
    ];
    of_kernel(code, 6)
}

#[test]
fn turns_that_compute_are_shared_out_too() {
    let mut state = 5;
    for (op, divides) in [
        (Op::Add32, false),
        (Op::MinI32, false),
        (Op::MaxU32, true),
        (Op::Xor32, true),
    ] {
        let program = turns_compute(op, divides);
        assert_ne!(layout(&program).kernels[0].neighbors, 0, "{op:?} is lifted");
        assert!(!text_of(&program).contains(SHIPPED), "{op:?} is compiled");
        let given = buffers(&program, |_, _| interesting(&mut state) & 0xffff_ffff);
        for (items, count) in [(1, 32), (1, 3), (4, 128), (4, 99)] {
            let meant = meant(&program, 0, count, &given);
            assert_eq!(meant.trap.is_some(), divides);
            let made = emulated(&program, 0, items, count, &given);
            assert_eq!(made, meant, "{op:?}, {items} items a lane");
        }
    }
}

#[test]
fn parts_of_long_ranges_are_summed_up_by_compiled_turns() {
    let mut state = 9;
    for (op, divides) in [(Op::Add32, false), (Op::MinI32, false), (Op::MaxU32, true)] {
        let program = turns_compute(op, divides);
        let given = buffers(&program, |_, _| interesting(&mut state) & 0xffff_ffff);
        let element = |node: u32| {
            let at = node.min(LEN - 1) as usize * 4;
            u32::from_le_bytes(given[READ32 as usize][at..at + 4].try_into().unwrap())
        };
        for items in [1, 4] {
            for [begin, end] in [[5, 8], [1, 330], [16, 17], [17, 24]] {
                let turn = |e: u32| match divides {
                    true => element(target(e)).checked_div(e & 7),
                    false => Some(element(target(e)) ^ (e & 7)),
                };
                let sum = (begin..end).try_fold(nothing(op as u32), |sum, e| {
                    let of = [sum.into(), turn(e)?.into(), 0];
                    Some(value(op, of).unwrap() as u32)
                });
                let layout = layout(&program);
                let bodies = tiles(&program, &layout, |_| true);
                let long = (Ranges::default(), 0);
                let of = (long, bodies, Some([begin, end]));
                let made = emulated_by(&program, 0, (items, 1), &given, of);
                let (good, total) = made.part.expect("it is a part");
                assert_eq!(made.trap, None, "the plain loop finds the fault");
                assert_eq!(made.buffers, given, "nothing behind the loop runs");
                assert_eq!((good != 0).then_some(total), sum, "{op:?}, {begin}..{end}");
            }
        }
    }
}
