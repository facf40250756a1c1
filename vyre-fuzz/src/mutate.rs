//! Programs with something changed: what the tables say, the schedule, whole instructions. [`repair`] makes good what
//! follows from the code (targets, frames, sites, accesses), so that many of them still verify.

use crate::choices::Choices;
use vyre_core::vir0::isa::{
    FRAMES_PER_IF, FRAMES_PER_LOOP, Faults, IMM, Imm, Kind, Op, Slot, UNIFORM_BASE, Word,
};
use vyre_core::vir0::length::{Length, LengthOp, Term};
use vyre_core::vir0::module::*;
use vyre_core::vir0::scalar::Scalar;
use vyre_core::vir0::trap::Site;
use vyre_core::vir0::verify::verify;

/// Some changes to a program. Most changes break a rule: where `sound` says so, such a one is taken back.
pub(crate) fn mutate(program: &Program, sound: bool, choices: &mut Choices<'_>) -> Program {
    let mut program = program.clone();
    for _ in 0..=choices.below(if sound { 12 } else { 3 }) {
        let before = sound.then(|| program.clone());
        change(&mut program, choices);
        if sound || !choices.one_in(3) {
            repair(&mut program);
        }
        if let Some(before) = before.filter(|_| verify(&program).is_err()) {
            program = before;
        }
    }
    program
}

/// Texts that a terminal, a log or a path would take for something else.
const TEXTS: [&str; 8] = [
    "",
    "\u{1b}[2J\u{1b}]0;title\u{7}",
    "two\nlines",
    "a.b.len()",
    "\u{202e}dlrow",
    "\0",
    "../../etc/passwd",
    "`quoted` \"twice\" <b>&amp;",
];

/// Changes one thing.
fn change(p: &mut Program, choices: &mut Choices<'_>) {
    match choices.below(16) {
        0..=2 => schedule(p, choices),
        3..=6 => tables(p, choices),
        7 | 8 => waves(p, choices),
        9 => texts(p, choices),
        10 => word(p, choices),
        _ => code(p, choices),
    }
}

fn schedule(p: &mut Program, choices: &mut Choices<'_>) {
    let (waves, fixpoints, steps) = (p.waves.len(), p.fixpoints.len(), p.schedule.len());
    match choices.below(9) {
        0 | 1 => {
            let at = choices.below(steps);
            let step = match choices.below(5) {
                0 => Step::Wave(WaveId(choices.id(waves))),
                1 => Step::Loop(FixpointId(choices.id(fixpoints))),
                2 => Step::Until(FixpointId(choices.id(fixpoints))),
                3 => Step::End,
                _ => Step::Barrier,
            };
            p.schedule.insert(at.min(steps), step);
        }
        2 if steps > 0 => {
            p.schedule.remove(choices.below(steps));
        }
        3..=6 if steps > 0 => {
            let (a, b) = (choices.below(steps), choices.below(steps));
            p.schedule.swap(a, b);
        }
        7 if steps > 0 => {
            // A whole part of the schedule elsewhere.
            let mut ends = [0, 0, 0].map(|_| choices.below(steps));
            ends.sort_unstable();
            p.schedule[ends[0]..ends[2]].rotate_left(ends[1] - ends[0]);
        }
        _ => {
            // Another wave that does the same.
            let of = choices.below(waves);
            let (Some(wave), Some(kernel)) = (p.waves.get(of), p.kernels.get(of)) else {
                return;
            };
            let (mut wave, kernel) = (wave.clone(), kernel.clone());
            wave.kernel = KernelId(waves as u16);
            p.waves.push(wave);
            p.kernels.insert(waves.min(p.kernels.len()), kernel);
            for fixpoint in &mut p.fixpoints {
                fixpoint.until.0 = fixpoint.until.0.saturating_add(1);
            }
            let step = Step::Wave(WaveId(of as u16));
            let at = p.schedule.iter().position(|&s| s == step);
            let at = at.unwrap_or(0) + choices.below(2);
            let new = Step::Wave(WaveId(waves as u16));
            p.schedule.insert(at.min(p.schedule.len()), new);
            if choices.one_in(2) {
                p.schedule
                    .insert((at + 1).min(p.schedule.len()), Step::Barrier);
            }
        }
    }
}

fn scalar(choices: &mut Choices<'_>) -> Scalar {
    [
        Scalar::Bool,
        Scalar::U8,
        Scalar::U32,
        Scalar::I32,
        Scalar::F32,
        Scalar::U64,
        Scalar::I64,
        Scalar::F64,
    ][choices.below(8)]
}

fn extent(p: &Program, choices: &mut Choices<'_>) -> Extent {
    match choices.below(10) {
        0 => Extent::Nodes,
        1 => Extent::NodesPlusEdges,
        2 => Extent::Edges(TopologyId(choices.id(p.topologies.len()))),
        3 => Extent::Scalar(ScalarId(choices.id(p.scalars.len()))),
        4 => Extent::Constant(ConstantId(choices.id(p.constants.len()))),
        5 => Extent::NodeBits(match choices.below(3) {
            0 => Width::Constant(ConstantId(choices.id(p.constants.len()))),
            1 => Width::Scalar(ScalarId(choices.id(p.scalars.len()))),
            _ => Width::Fixed(choices.value() as u32),
        }),
        7 => Extent::NodesTimes(choices.value() as u32),
        6 => Extent::Computed(LengthId(choices.id(p.lengths.len()))),
        _ => Extent::Fixed(choices.value()),
    }
}

fn tables(p: &mut Program, choices: &mut Choices<'_>) {
    let scope = |p: &Program, choices: &mut Choices<'_>| {
        let f = FixpointId(choices.id(p.fixpoints.len()));
        (!choices.one_in(3)).then_some(f)
    };
    match choices.below(20) {
        0 | 1 => {
            let to = extent(p, choices);
            if let Some(buffer) = choices.pick_mut(&mut p.buffers) {
                buffer.extent = to;
            }
        }
        2 => {
            let roles = [
                Role::Output,
                Role::Scratch,
                Role::InOut,
                Role::Input,
                Role::Topology,
            ];
            let to = roles[choices.below(5)];
            if let Some(buffer) = choices.pick_mut(&mut p.buffers) {
                buffer.role = to;
            }
        }
        3 => {
            let to = (!choices.one_in(3)).then(|| ConstantId(choices.id(p.constants.len())));
            if let Some(buffer) = choices.pick_mut(&mut p.buffers) {
                buffer.init = to;
            }
        }
        4 => {
            let (name, scalar, extent) = (String::from("new"), scalar(choices), extent(p, choices));
            let role = [Role::Output, Role::Scratch][choices.below(2)];
            let init = None;
            p.buffers.push(Buffer {
                name,
                scalar,
                extent,
                role,
                init,
                reset: None,
            });
        }
        5 | 6 => {
            let (to, unique) = (extent(p, choices), choices.one_in(2));
            if let Some(frontier) = choices.pick_mut(&mut p.frontiers) {
                frontier.capacity = if unique { Extent::Nodes } else { to };
                frontier.unique = unique && frontier.fields.is_empty();
            }
        }
        7 => {
            let (to, output) = (extent(p, choices), choices.one_in(2));
            if let Some(list) = choices.pick_mut(&mut p.lists) {
                (list.capacity, list.output) = (to, output);
            }
        }
        8 => {
            let fields = (0..choices.below(10)).map(|_| scalar(choices)).collect();
            match choices.one_in(2) {
                true => choices.pick_mut(&mut p.lists).map(|l| l.fields = fields),
                false => choices
                    .pick_mut(&mut p.frontiers)
                    .map(|f| f.fields = fields),
            };
        }
        9 => {
            let to = scope(p, choices);
            match choices.one_in(2) {
                true => choices.pick_mut(&mut p.frontiers).map(|x| x.owner = to),
                false => choices.pick_mut(&mut p.reductions).map(|x| x.owner = to),
            };
        }
        10 => {
            let ops = [
                ReduceOp::Sum,
                ReduceOp::Min,
                ReduceOp::Max,
                ReduceOp::Or,
                ReduceOp::And,
                ReduceOp::ExactSum,
            ];
            let op = ops[choices.below(ops.len())];
            let (scalar, output) = (scalar(choices), choices.one_in(2));
            if let Some(reduction) = choices.pick_mut(&mut p.reductions) {
                (reduction.op, reduction.output) = (op, output);
                if choices.one_in(2) {
                    reduction.scalar = scalar;
                }
            }
        }
        11 => {
            let buffers = p.buffers.len();
            let swaps = (0..choices.below(3))
                .map(|_| (BufferId(choices.id(buffers)), BufferId(choices.id(buffers))));
            let swaps = swaps.collect();
            if let Some(fixpoint) = choices.pick_mut(&mut p.fixpoints) {
                fixpoint.swaps = swaps;
            }
        }
        12 => {
            let to = match choices.one_in(3) {
                true => choices.value(),
                false => choices.below(5) as u64,
            };
            if let Some(fixpoint) = choices.pick_mut(&mut p.fixpoints) {
                fixpoint.max_rounds = to;
            }
        }
        13 => {
            let (parent, after) = (scope(p, choices), WaveId(choices.id(p.waves.len())));
            if let Some(fixpoint) = choices.pick_mut(&mut p.fixpoints) {
                match choices.one_in(2) {
                    true => fixpoint.parent = parent,
                    false => fixpoint.after.push(NodeRef::Wave(after)),
                }
            }
        }
        14 => {
            let (to, of) = (choices.value(), scalar(choices));
            if choices.one_in(3) {
                p.constants.push(Constant {
                    scalar: of,
                    bits: to,
                });
            } else if let Some(constant) = choices.pick_mut(&mut p.constants) {
                constant.bits = to;
            }
        }
        15 | 16 => {
            let ops = [
                LengthOp::Add,
                LengthOp::Sub,
                LengthOp::Mul,
                LengthOp::Div,
                LengthOp::Rem,
                LengthOp::DivCeil,
            ];
            let op = Term::Op(ops[choices.below(ops.len())]);
            let mut terms = vec![
                Term::Value(extent(p, choices)),
                Term::Value(extent(p, choices)),
                op,
            ];
            if let Some(length) = choices.pick_mut(&mut p.lengths)
                && choices.one_in(2)
            {
                match length.terms.get_mut(choices.below(terms.len())) {
                    Some(term) => *term = terms.swap_remove(choices.below(3)),
                    None => length.terms.append(&mut terms),
                }
            } else {
                p.lengths.push(Length { terms });
                let to = Extent::Computed(LengthId(p.lengths.len() as u16 - 1));
                if let Some(buffer) = choices.pick_mut(&mut p.buffers) {
                    buffer.extent = to;
                }
            }
        }
        17 => {
            let to = scope(p, choices);
            match choices.below(3) {
                0 => choices.pick_mut(&mut p.buffers).map(|x| x.reset = to),
                1 => choices.pick_mut(&mut p.frontiers).map(|x| x.reset = to),
                _ => choices.pick_mut(&mut p.lists).map(|x| x.reset = to),
            };
        }
        18 => {
            let whole = choices.one_in(2);
            if let Some(frontier) = choices.pick_mut(&mut p.frontiers) {
                frontier.stays = !frontier.stays;
                if frontier.stays && whole {
                    (frontier.unique, frontier.capacity) = (true, Extent::Nodes);
                    frontier.fields.clear();
                }
            }
        }
        _ => {
            let reverse_of = match choices.below(3) {
                0 => None,
                _ => Some(TopologyId(choices.id(p.topologies.len()))),
            };
            let name = String::from("more");
            p.topologies.push(Topology { name, reverse_of });
        }
    }
}

fn waves(p: &mut Program, choices: &mut Choices<'_>) {
    match choices.below(6) {
        0 => {
            let to = FixpointId(choices.id(p.fixpoints.len()));
            let to = (!choices.one_in(3)).then_some(to);
            if let Some(wave) = choices.pick_mut(&mut p.waves) {
                wave.fixpoint = to;
            }
        }
        1 | 2 => {
            let frontier = FrontierId(choices.id(p.frontiers.len()));
            let topology = TopologyId(choices.id(p.topologies.len()));
            let to = match choices.below(8) {
                0 => Domain::Once,
                1 => Domain::Range(extent(p, choices)),
                2 => Domain::Items(frontier),
                3 => Domain::Edges(topology),
                4 => Domain::EdgesFrom(topology, frontier),
                5 => {
                    let list = ListId(choices.id(p.lists.len()));
                    let portion = match choices.one_in(2) {
                        true if p.waves.len().is_multiple_of(2) => Portion::Last,
                        true => Portion::New,
                        false => Portion::All,
                    };
                    Domain::ListItems(list, portion)
                }
                _ => Domain::Nodes,
            };
            if let Some(wave) = choices.pick_mut(&mut p.waves) {
                wave.domain = to;
            }
        }
        3 => {
            let from = choices.pick(&p.waves).map(|w| w.accesses.clone());
            let modes = [
                Mode::Read,
                Mode::Write,
                Mode::Update(UpdateOp::Min),
                Mode::Update(UpdateOp::Push),
            ];
            let mode = modes[choices.below(4)];
            if let (Some(from), Some(wave)) = (from, choices.pick_mut(&mut p.waves)) {
                if let Some(access) = choices.pick_mut(&mut wave.accesses) {
                    access.mode = mode;
                }
                wave.accesses.extend(from);
                wave.accesses.sort_unstable();
                wave.accesses.dedup_by_key(|a| a.resource);
            }
        }
        4 => {
            let after = match choices.one_in(2) {
                true => NodeRef::Wave(WaveId(choices.id(p.waves.len()))),
                false => NodeRef::Fixpoint(FixpointId(choices.id(p.fixpoints.len()))),
            };
            if let Some(wave) = choices.pick_mut(&mut p.waves) {
                wave.after.push(after);
            }
        }
        _ => {
            let row = choices.below(12) as u8;
            let (which, some) = (choices.below(4), !choices.one_in(4));
            let field = choices.below(MAX_FIELDS);
            if let Some(kernel) = choices.pick_mut(&mut p.kernels) {
                let item = &mut kernel.item;
                let to = some.then_some(row);
                match which {
                    0 => item.index = to,
                    1 => item.src = to,
                    2 => item.dst = to,
                    _ => item.fields[field] = to,
                }
                kernel.rows = kernel.rows.max(row.saturating_add(2));
            }
        }
    }
}

fn texts(p: &mut Program, choices: &mut Choices<'_>) {
    let text = TEXTS[choices.below(TEXTS.len())].repeat(1 + choices.below(3));
    let line = choices.value() as u32;
    let slot = match choices.below(12) {
        0 => Some(&mut p.name),
        1 => choices.pick_mut(&mut p.topologies).map(|x| &mut x.name),
        2 => choices.pick_mut(&mut p.buffers).map(|x| &mut x.name),
        3 => choices.pick_mut(&mut p.frontiers).map(|x| &mut x.name),
        4 => choices.pick_mut(&mut p.lists).map(|x| &mut x.name),
        5 => choices.pick_mut(&mut p.scalars).map(|x| &mut x.name),
        6 => choices.pick_mut(&mut p.kernels).map(|x| &mut x.name),
        7 => choices.pick_mut(&mut p.waves).map(|x| &mut x.name),
        8 => choices.pick_mut(&mut p.fixpoints).map(|x| &mut x.condition),
        9 => Some(&mut p.manifest.title),
        10 => choices.pick_mut(&mut p.messages).map(|x| &mut x.1),
        _ => choices.pick_mut(&mut p.sites).map(|x| {
            (x.line, x.column) = (line, line);
            &mut x.file
        }),
    };
    if let Some(slot) = slot {
        *slot = text;
    }
}

/// Changes a field of a word, whatever comes of it.
fn word(p: &mut Program, choices: &mut Choices<'_>) {
    let (what, to) = (choices.below(5), choices.value());
    if let Some(kernel) = choices.pick_mut(&mut p.kernels)
        && let Some(word) = choices.pick_mut(&mut kernel.code)
    {
        match what {
            0 => word.op = to as u8,
            1 => word.d = to as u8,
            2 => word.a = to as u8,
            3 => word.b = to as u8,
            _ => word.imm ^= 1 << (to % 32),
        }
    }
}

/// Changes whole instructions and blocks of a kernel.
fn code(p: &mut Program, choices: &mut Choices<'_>) {
    let at = choices.below(p.kernels.len());
    let Some(kernel) = p.kernels.get(at) else {
        return;
    };
    let len = kernel.code.len();
    let mut kernel = kernel.clone();
    let made = |p: &Program, kernel: &Kernel, choices: &mut Choices<'_>| {
        instruction(p, kernel, choices).unwrap_or_default()
    };
    match choices.below(10) {
        0 | 1 => {
            let pc = choices.below(len);
            if let Some(word) = kernel.code.get(pc).copied() {
                // Of the same kind, or anything.
                let new = made(p, &kernel, choices);
                kernel.code[pc] = match choices.one_in(2) {
                    true => Word { op: word.op, ..new },
                    false => new,
                };
            }
        }
        2..=5 => {
            let new = made(p, &kernel, choices);
            let at = choices.below(len);
            // A reserved item is given its fields.
            let stores = stores(p, &kernel, new, choices);
            for word in stores.into_iter().rev().chain([new]) {
                kernel.code.insert(at, word);
            }
        }
        6 => {
            if len > 0 {
                kernel.code.remove(choices.below(len));
            }
        }
        7 | 8 => {
            // A block around some words.
            let (mut from, mut to) = (choices.below(len), choices.below(len));
            if from > to {
                (from, to) = (to, from);
            }
            let test = operand(&kernel, false, choices);
            let plain = |op: Op| Word {
                op: op as u8,
                ..Word::default()
            };
            let (opens, closes) = match choices.one_in(2) {
                true => (vec![Op::If], Op::EndIf),
                false => (vec![Op::Loop, Op::BreakIf], Op::EndLoop),
            };
            kernel.code.insert(to.min(len), plain(closes));
            for op in opens.into_iter().rev() {
                let a = if op == Op::Loop { 0 } else { test };
                kernel.code.insert(from, Word { a, ..plain(op) });
            }
        }
        _ => {
            let uniform = match choices.below(7) {
                0 => Uniform::Round,
                5 => Uniform::OuterRound(FixpointId(choices.id(p.fixpoints.len()))),
                1 => Uniform::Nodes,
                2 => Uniform::Len(FrontierId(choices.id(p.frontiers.len())).into()),
                3 => Uniform::Reduction(ReductionId(choices.id(p.reductions.len()))),
                4 => Uniform::Len(ListId(choices.id(p.lists.len())).into()),
                _ => Uniform::Constant(ConstantId(choices.id(p.constants.len()))),
            };
            match choices.pick_mut(&mut kernel.uniforms) {
                Some(slot) => *slot = uniform,
                None => kernel.uniforms.push(uniform),
            }
        }
    }
    p.kernels[at] = kernel;
}

/// An operand byte: a row or a uniform.
fn operand(kernel: &Kernel, destination: bool, choices: &mut Choices<'_>) -> u8 {
    let uniforms = kernel.uniforms.len().min(8);
    match !destination && uniforms > 0 && choices.one_in(3) {
        true => UNIFORM_BASE + choices.below(uniforms) as u8,
        false => choices.below(kernel.rows.into()) as u8,
    }
}

/// An instruction in the encoding of its row, of operands and resources that are there.
fn instruction(p: &Program, kernel: &Kernel, choices: &mut Choices<'_>) -> Option<Word> {
    let code = choices.below(256) as u8;
    let op = (0..=u8::MAX).find_map(|i| Op::from_code(code.wrapping_add(i)))?;
    let row = op.row();
    let literal = row.imm == Imm::Literal;
    let source = |slot: Slot, choices: &mut Choices<'_>| match slot {
        Slot::N => 0,
        Slot::Flag => choices.one_in(2).into(),
        _ if literal && choices.one_in(4) => IMM,
        _ => operand(kernel, false, choices),
    };
    let (a, b) = (source(row.a, choices), source(row.b, choices));
    let d = match row.d {
        Slot::N => 0,
        Slot::OptW | Slot::OptD if choices.one_in(2) => IMM,
        _ => operand(kernel, true, choices),
    };
    let third = u32::from(operand(kernel, false, choices));
    let imm = match row.imm {
        Imm::N | Imm::Target => 0,
        Imm::Literal if [a, b].contains(&IMM) => choices.value() as u32,
        Imm::Literal => 0,
        Imm::Third => third,
        Imm::Resource(kind) => u32::from(resource(p, kind, choices)?) << 16,
        Imm::ResourceThird(kind) => u32::from(resource(p, kind, choices)?) << 16 | third,
        Imm::Field(kind, bytes) => {
            let id = resource(p, kind, choices)?;
            let fields = match kind {
                Kind::List => &p.lists[usize::from(id)].fields,
                _ => &p.frontiers[usize::from(id)].fields,
            };
            let field = fields.iter().position(|f| f.size_bytes() == bytes)?;
            u32::from(id) << 16 | field as u32
        }
        Imm::Uniform => choices.below(kernel.uniforms.len()) as u32,
        Imm::Rows => {
            let first = choices.below(kernel.rows.into()) as u32;
            first | (1 + choices.below(4) as u32) << 8
        }
        Imm::Depth => choices.below(2) as u32,
        Imm::Code => 1 + choices.below(9) as u32,
    };
    let op = op as u8;
    Some(Word { op, d, a, b, imm })
}

/// Stores of all fields of the item that a word reserves; none of any other word.
fn stores(p: &Program, kernel: &Kernel, word: Word, choices: &mut Choices<'_>) -> Vec<Word> {
    let id = usize::from(word.resource());
    let (fields, ops) = match Op::from_code(word.op) {
        Some(Op::Append) => (
            p.lists.get(id).map(|l| &l.fields),
            [Op::ListSt8, Op::ListSt32, Op::ListSt64],
        ),
        Some(Op::PushItem) => (
            p.frontiers.get(id).map(|f| &f.fields),
            [Op::ItemSt8, Op::ItemSt32, Op::ItemSt64],
        ),
        _ => return Vec::new(),
    };
    let fields = (0u32..).zip(fields.into_iter().flatten());
    fields
        .map(|(field, scalar)| Word {
            op: match scalar.size_bytes() {
                1 => ops[0] as u8,
                4 => ops[1] as u8,
                _ => ops[2] as u8,
            },
            d: 0,
            a: word.d,
            b: operand(kernel, false, choices),
            imm: word.imm | field,
        })
        .collect()
}

/// The id of a resource that an instruction of this kind takes.
fn resource(p: &Program, kind: Kind, choices: &mut Choices<'_>) -> Option<u16> {
    fn all<T>(list: &[T], fits: impl Fn(&T) -> bool) -> Vec<u16> {
        let ids = (0..=u16::MAX).zip(list);
        ids.filter(|(_, x)| fits(x)).map(|(id, _)| id).collect()
    }
    let writable = |b: &Buffer| !matches!(b.role, Role::Topology | Role::Input);
    let width = |bytes| {
        all(&p.buffers, |b| {
            b.scalar.size_bytes() == bytes && writable(b)
        })
    };
    let found = match kind {
        Kind::Buffer8 => width(1),
        Kind::Buffer32 => width(4),
        Kind::Buffer64 => width(8),
        Kind::BufferOf(scalar) => all(&p.buffers, |b| b.scalar == scalar && writable(b)),
        Kind::Buffer => all(&p.buffers, |_| true),
        Kind::Topology => all(&p.topologies, |_| true),
        Kind::Frontier => all(&p.frontiers, |f| f.fields.is_empty()),
        Kind::ItemFrontier => all(&p.frontiers, |f| !f.fields.is_empty()),
        Kind::List => all(&p.lists, |_| true),
        Kind::Reduction32 => all(&p.reductions, |r| {
            r.scalar.size_bytes() == 4 || r.scalar == Scalar::Bool
        }),
        Kind::Reduction64 => all(&p.reductions, |r| r.scalar.size_bytes() == 8),
    };
    choices.pick(&found).copied()
}

/// Makes good what follows from the code: targets of blocks, frames, sites, accesses, and who owns what.
fn repair(p: &mut Program) {
    for kernel in &mut p.kernels {
        nest(kernel);
        let site = kernel.sites.first().map_or(SiteId(0), |s| s.1);
        let traps = |word: &Word| {
            let op = Op::from_code(word.op);
            op.is_some_and(|op| op.row().faults != Faults::No)
        };
        let known = std::mem::take(&mut kernel.sites);
        kernel.sites = (0..)
            .zip(&kernel.code)
            .filter(|(_, word)| traps(word))
            .map(|(pc, _)| known.iter().find(|s| s.0 == pc).map_or((pc, site), |&s| s))
            .collect();
    }
    if p.sites.is_empty() {
        p.sites.push(Site::default());
    }
    for (wave, kernel) in p.waves.iter_mut().zip(&p.kernels) {
        let by_code = kernel.code.iter().filter_map(|&word| word.names());
        let by_uniforms = kernel.uniforms.iter().filter_map(|u| match *u {
            Uniform::Reduction(r) => Some(Resource::Reduction(r)),
            _ => None,
        });
        let code: Vec<(Resource, Mode)> = by_code.map(|r| (r, Mode::Write)).collect();
        let reads = by_uniforms.chain(wave.domain.reads());
        for (resource, mode) in code.into_iter().chain(reads.map(|r| (r, Mode::Read))) {
            let mode = match resource {
                Resource::Topology(_) => Mode::Read,
                _ => mode,
            };
            match wave.accesses.iter_mut().find(|a| a.resource == resource) {
                Some(access) if mode == Mode::Write && access.mode == Mode::Read => {
                    access.mode = mode;
                }
                Some(_) => {}
                None => wave.accesses.push(Access { resource, mode }),
            }
        }
        wave.accesses.sort_unstable();
    }
    let owners = vyre_core::vir0::owner::owners(p);
    let scope = |owner| match owner {
        vyre_core::vir0::owner::Owner::Scope(scope) => scope,
        vyre_core::vir0::owner::Owner::Split(..) => None,
    };
    for (frontier, owner) in p.frontiers.iter_mut().zip(owners.frontiers) {
        frontier.owner = scope(owner);
    }
    for (reduction, owner) in p.reductions.iter_mut().zip(owners.reductions) {
        reduction.owner = scope(owner);
    }
}

/// Targets and frames of a kernel whose blocks nest.
fn nest(kernel: &mut Kernel) {
    let mut open: Vec<usize> = Vec::new();
    let (mut frames, mut most) = (0u32, 0u32);
    for pc in 0..kernel.code.len() {
        match Op::from_code(kernel.code[pc].op) {
            Some(op @ (Op::If | Op::Loop)) => {
                open.push(pc);
                frames += u32::from(match op {
                    Op::If => FRAMES_PER_IF,
                    _ => FRAMES_PER_LOOP,
                });
                most = most.max(frames);
            }
            Some(Op::Else) => {
                if let Some(opened) = open.pop() {
                    kernel.code[opened].imm = pc as u32;
                    open.push(pc);
                }
            }
            Some(op @ (Op::EndIf | Op::EndLoop)) => {
                if let Some(opened) = open.pop() {
                    let after = u32::from(op == Op::EndLoop);
                    kernel.code[opened].imm = pc as u32 + after;
                    if op == Op::EndLoop {
                        kernel.code[pc].imm = opened as u32;
                    }
                    frames = frames.saturating_sub(u32::from(FRAMES_PER_IF));
                }
            }
            _ => {}
        }
    }
    kernel.frames = most.min(u8::MAX.into()) as u8;
}
