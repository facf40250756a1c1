//! VIR0 as text, for people: bug reports, reviews of what the compiler emitted, `PLAN`.
//!
//! Any decoded program has a text, verified or not: what does not exist prints as its number.
//!
//! ```
//! use vyre_core::vir0::disasm;
//! use vyre_core::vir0::isa::{IMM, Op, Word};
//! use vyre_core::vir0::module::{ItemRows, Kernel, KernelId, Program};
//! let kernel = Kernel {
//!     name: "next".into(),
//!     code: vec![
//!         Word { op: Op::Add32 as u8, d: 1, a: 0, b: IMM, imm: 1 },
//!         Word { op: Op::Ret as u8, ..Word::default() },
//!     ],
//!     rows: 2,
//!     frames: 0,
//!     item: ItemRows { index: Some(0), ..ItemRows::default() },
//!     uniforms: vec![],
//!     sites: vec![],
//! };
//! let program = Program { kernels: vec![kernel], ..Program::default() };
//! assert_eq!(
//!     disasm::kernel(&program, KernelId(0)),
//!     "kernel next (index r0), 2 rows, 0 frames\n   0  add.b32 r1, r0, 1\n   1  ret\n",
//! );
//! ```

use crate::vir0::isa::{Effect, IMM, Imm, MAX_ROWS, Op, Row, Slot, UNIFORM_BASE, Word};
use crate::vir0::module::{
    Agreement, BufferId, ConstantId, Domain, Extent, FixpointId, Kernel, KernelId, Program,
    QueueId, ReductionId, Resource, ScalarId, Step, TopologyId, Uniform, Width,
};
use crate::vir0::scalar::Scalar;
use crate::vir0::trap::TrapKind;
use std::fmt::Write;

/// A whole program: its tables, its kernels, its schedule.
pub fn program(program: &Program) -> String {
    let mut out = String::new();
    let class = crate::vir0::disasm::class(program);
    line(&mut out, format_args!("program {} ({class})", program.name));
    for t in &program.topologies {
        let reverse = t.reverse_of.map(|of| topology(program, of));
        let reverse = reverse.map_or(String::new(), |of| format!(" = reverse of {of}"));
        line(&mut out, format_args!("topology {}{reverse}", t.name));
    }
    for b in &program.buffers {
        let init = b.init.map(|c| constant(program, c));
        let init = init.map_or(String::new(), |value| format!(" = {value}"));
        let (role, scalar) = (format!("{:?}", b.role).to_lowercase(), b.scalar.name());
        let len = extent(program, b.extent);
        line(
            &mut out,
            format_args!(
                "{role} {}: [{scalar}; {len}]{init}{}",
                b.name,
                anew(program, b.reset)
            ),
        );
    }
    for f in &program.frontiers {
        let unique = match (f.stays, f.unique) {
            (true, _) => " list",
            (false, true) => " unique",
            (false, false) => "",
        };
        let owner = f.owner.map(|id| fixpoint(program, id));
        let owner = owner.map_or(String::new(), |name| format!(", flips in {name}"));
        let capacity = extent(program, f.capacity);
        let items = if f.fields.is_empty() {
            String::new()
        } else {
            format!(" of {}", fields(&f.fields))
        };
        line(
            &mut out,
            format_args!(
                "frontier {}: {capacity}{items}{unique}{owner}{}",
                f.name,
                anew(program, f.reset)
            ),
        );
    }
    for l in &program.lists {
        let (items, capacity) = (fields(&l.fields), extent(program, l.capacity));
        let output = if l.output { ", output" } else { "" };
        line(
            &mut out,
            format_args!(
                "list {}: {capacity} of {items}{output}{}",
                l.name,
                anew(program, l.reset)
            ),
        );
    }
    for r in &program.reductions {
        let (op, scalar) = (format!("{:?}", r.op).to_lowercase(), r.scalar.name());
        let owner = r.owner.map(|id| fixpoint(program, id));
        let owner = owner.map_or(String::new(), |name| format!(", resets in {name}"));
        let output = if r.output { ", output" } else { "" };
        line(
            &mut out,
            format_args!("reduction {}: {op} {scalar}{owner}{output}", r.name),
        );
    }
    for s in &program.scalars {
        line(
            &mut out,
            format_args!("scalar {}: {}", s.name, s.scalar.name()),
        );
    }
    for id in (0..program.kernels.len()).map(|i| KernelId(i as u16)) {
        out.push('\n');
        out.push_str(&kernel(program, id));
    }
    out.push_str("\nschedule\n");
    let mut depth = 1;
    for step in &program.schedule {
        if let Step::Until(_) = step {
            depth = usize::max(depth, 2) - 1;
        }
        let indent = "  ".repeat(depth);
        let text = match *step {
            Step::Wave(id) => match program.waves.get(id.index()) {
                Some(w) => format!("wave {} over {}", w.name, domain(program, w.domain)),
                None => format!("wave#{}", id.0),
            },
            Step::Barrier => "barrier".into(),
            Step::Loop(id) => format!("loop {}", fixpoint(program, id)),
            Step::Each(id, bounds) => format!(
                "each {} of {}",
                fixpoint(program, id),
                resource(program, Resource::Buffer(bounds))
            ),
            Step::Until(id) => match program.fixpoints.get(id.index()) {
                Some(f) => until(program, &f.name, &f.swaps, f.max_rounds),
                None => format!("until fixpoint#{}", id.0),
            },
            Step::End => "end".into(),
        };
        line(&mut out, format_args!("{indent}{text}"));
        if step.enters().is_some() {
            depth += 1;
        }
    }
    out
}

/// One kernel.
pub fn kernel(program: &Program, id: KernelId) -> String {
    let Some(kernel) = program.kernels.get(id.index()) else {
        return format!("kernel#{}\n", id.0);
    };
    let item = [
        ("index", kernel.item.index),
        ("src", kernel.item.src),
        ("dst", kernel.item.dst),
    ];
    let fields = (0..).zip(kernel.item.fields);
    let fields = fields.filter_map(|(i, row)| row.map(|row| format!("field {i} r{row}")));
    let item: Vec<String> = item
        .iter()
        .filter_map(|(name, row)| row.map(|row| format!("{name} r{row}")))
        .chain(fields)
        .collect();
    let mut out = String::new();
    let Kernel { name, rows, .. } = kernel;
    let item = match item.join(", ") {
        rows if rows.is_empty() => rows,
        rows => format!(" ({rows})"),
    };
    let frames = kernel.frames;
    line(
        &mut out,
        format_args!("kernel {name}{item}, {rows} rows, {frames} frames"),
    );
    let mut sites = kernel.sites.iter().peekable();
    let mut depth: usize = 0;
    for (pc, &word) in (0u32..).zip(&kernel.code) {
        let op = Op::from_code(word.op);
        let effect = op.map_or(Effect::No, |op| op.row().effect);
        if matches!(effect, Effect::Turn | Effect::Close) {
            depth = depth.saturating_sub(1);
        }
        let indent = "  ".repeat(depth);
        let text = match op {
            Some(op) => instruction(program, kernel, op.row(), word),
            None => format!(".word {:02x?}", word.to_bytes()),
        };
        let mut text = format!("{pc:4}  {indent}{text}");
        while let Some((_, site)) = sites.next_if(|&&(at, _)| at <= pc) {
            if let Some(s) = program.sites.get(site.index()) {
                let _ = write!(text, "  ; {}:{}:{}", s.file, s.line, s.column);
            }
        }
        line(&mut out, format_args!("{text}"));
        if matches!(effect, Effect::Open | Effect::Turn) {
            depth += 1;
        }
    }
    out
}

fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("writing to a string succeeds");
    out.push('\n');
}

/// Types of an item's fields.
fn fields(fields: &[Scalar]) -> String {
    let names: Vec<&str> = fields.iter().map(|f| f.name()).collect();
    format!("({})", names.join(", "))
}

/// When it begins anew, if it does.
fn anew(program: &Program, reset: Option<FixpointId>) -> String {
    let name = reset.map(|id| fixpoint(program, id));
    name.map_or(String::new(), |name| format!(", anew in {name}"))
}

fn until(program: &Program, name: &str, swaps: &[(BufferId, BufferId)], rounds: u64) -> String {
    let mut text = format!("until {name}, at most {rounds} rounds");
    for &(a, b) in swaps {
        let _ = write!(text, ", swap {} {}", buffer(program, a), buffer(program, b));
    }
    text
}

fn instruction(program: &Program, kernel: &Kernel, row: &Row, word: Word) -> String {
    let is_float = row.mnemonic.contains(".f32") && !row.mnemonic.starts_with("cvt");
    let operand = |byte: u8, slot: Slot| match slot {
        Slot::N => None,
        Slot::Flag => (byte != 0).then(|| "short".to_owned()),
        Slot::W | Slot::OptW if byte < UNIFORM_BASE => Some(format!("r{byte}")),
        Slot::D | Slot::OptD if byte < UNIFORM_BASE => {
            Some(format!("r{byte}:{}", u16::from(byte) + 1))
        }
        Slot::W | Slot::D | Slot::OptW | Slot::OptD => Some(match byte {
            IMM if is_float => format!("{:?}", f32::from_bits(word.imm)),
            IMM if word.imm <= i32::MAX as u32 => word.imm.to_string(),
            IMM if slot == Slot::D || word.imm as i32 > -4096 => (word.imm as i32).to_string(),
            IMM => format!("{:#x}", word.imm),
            _ => uniform(program, kernel, usize::from(byte) - MAX_ROWS),
        }),
    };
    let d = match row.d {
        Slot::OptW | Slot::OptD if word.d == IMM => Some("_".to_owned()),
        slot => operand(word.d, slot),
    };
    let (a, b) = (operand(word.a, row.a), operand(word.b, row.b));
    let id = word.resource();
    let parts: Vec<Option<String>> = match row.imm {
        Imm::N | Imm::Literal => vec![d, a, b],
        Imm::Third => vec![d, a, b, operand(word.third(), row.d)],
        Imm::Resource(kind) | Imm::ResourceThird(kind) => {
            let name = resource(program, kind.resource(id));
            let third = match row.imm {
                Imm::ResourceThird(_) => operand(word.third(), row.b),
                _ => None,
            };
            let is_element = !matches!(row.effect, Effect::Push | Effect::Reduce);
            match a {
                Some(index) if is_element => vec![d, Some(format!("{name}[{index}]")), b, third],
                a => vec![d, Some(name), a, b, third],
            }
        }
        Imm::Field(kind, _) => {
            let name = resource(program, kind.resource(id));
            let a = a.unwrap_or_default();
            vec![Some(format!("{name}[{a}].{}", word.field())), b]
        }
        Imm::Rows => {
            let (first, len) = word.array();
            let end = u16::from(first) + u16::from(len) * u16::from(row.element_rows());
            let array = format!("r{first}..{end}");
            match (row.d, row.b) {
                (Slot::N, Slot::N) => vec![Some(array), a],
                _ => vec![d, a.map(|index| format!("{array}[{index}]")), b],
            }
        }
        Imm::Uniform => vec![d, Some(uniform(program, kernel, word.imm as usize))],
        Imm::Target => vec![a],
        Imm::Depth => vec![a, (word.imm > 0).then(|| word.imm.to_string())],
        Imm::Code => {
            let kind = TrapKind::from_code(word.imm);
            vec![
                a,
                Some(kind.map_or(word.imm.to_string(), |k| format!("{k:?}"))),
            ]
        }
    };
    let operands: Vec<String> = parts.into_iter().flatten().collect();
    let space = if operands.is_empty() { "" } else { " " };
    format!("{}{space}{}", row.mnemonic, operands.join(", "))
}

fn uniform(program: &Program, kernel: &Kernel, slot: usize) -> String {
    match kernel.uniforms.get(slot) {
        None => format!("uniform#{slot}"),
        Some(&Uniform::Scalar(id)) => scalar(program, id),
        Some(&Uniform::Constant(id)) => constant(program, id),
        Some(&Uniform::Reduction(id)) => reduction(program, id),
        Some(Uniform::Round) => "round".into(),
        Some(Uniform::OuterRound(f)) => match program.fixpoints.get(f.index()) {
            Some(fixpoint) => format!("round({})", fixpoint.name),
            None => format!("round(#{})", f.0),
        },
        Some(&Uniform::Len(id)) => format!("len({})", queue(program, id)),
        Some(&Uniform::Began(id)) => format!("began({})", queue(program, id.into())),
        Some(Uniform::Nodes) => "nodes".into(),
    }
}

fn constant(program: &Program, id: ConstantId) -> String {
    let Some(c) = program.constants.get(id.index()) else {
        return format!("constant#{}", id.0);
    };
    let value = c.scalar.show(c.bits);
    match c.scalar {
        Scalar::Bool => value,
        other => format!("{value}{}", other.name()),
    }
}

/// A size, as the pass states it.
pub fn extent(program: &Program, extent: Extent) -> String {
    match extent {
        Extent::Fixed(len) => len.to_string(),
        Extent::Constant(id) => constant(program, id),
        Extent::Scalar(id) => scalar(program, id),
        Extent::Nodes => "nodes".into(),
        Extent::Edges(id) => format!("edges({})", topology(program, id)),
        Extent::NodesPlusEdges => "nodes + edges".into(),
        Extent::NodesTimes(times) => format!("nodes x {times}"),
        Extent::NodeBits(width) => format!("nodes x words({})", bits(program, width)),
        Extent::Computed(id) => program.written(id, |value| match value {
            Extent::Computed(id) => format!("length#{}", id.0),
            value => self::extent(program, value),
        }),
        Extent::Bounds(_, of, drops) => {
            let dropped = if drops {
                ", crossing edges left out"
            } else {
                ""
            };
            format!("bounds of parts of {}{dropped}", topology(program, of))
        }
    }
}

fn bits(program: &Program, width: Width) -> String {
    match width {
        Width::Fixed(bits) => bits.to_string(),
        Width::Constant(id) => constant(program, id),
        Width::Scalar(id) => scalar(program, id),
    }
}

fn resource(program: &Program, resource: Resource) -> String {
    match resource {
        Resource::Topology(id) => topology(program, id),
        Resource::Buffer(id) => buffer(program, id),
        Resource::Reduction(id) => reduction(program, id),
        Resource::Queue(id) => queue(program, id),
    }
}

/// What a wave sweeps, as `#[wave(..)]` has it.
pub fn domain(program: &Program, domain: Domain) -> String {
    domain.written(|r| resource(program, r), |len| extent(program, len))
}

fn queue(program: &Program, id: QueueId) -> String {
    match program.queue(id) {
        Some(row) => row.name.clone(),
        None => format!("{}#{}", id.word(), id.number()),
    }
}

macro_rules! names {
    ($($function:ident $id:ident $table:ident $what:literal;)*) => {$(
        fn $function(program: &Program, id: $id) -> String {
            match program.$table.get(id.index()) {
                Some(row) => row.name.clone(),
                None => format!(concat!($what, "#{}"), id.0),
            }
        }
    )*};
}
names! {
    topology TopologyId topologies "topology";
    buffer BufferId buffers "buffer";
    reduction ReductionId reductions "reduction";
    scalar ScalarId scalars "scalar";
    fixpoint FixpointId fixpoints "fixpoint";
}

/// How far runs agree, in two words.
pub fn class(p: &Program) -> &'static str {
    match p.agreement {
        Agreement::Bits => "same bits",
        Agreement::Result(_) => "same result",
        Agreement::Open(_) => "open result",
    }
}
