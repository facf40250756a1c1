//! The rules of one kernel: words, nesting, assignment, effects, sites.

use super::{Place, Rule, Verifier, find, listed};
use crate::vir0::flow::{Rows, writes};
use crate::vir0::isa::{
    Effect, FRAMES_PER_IF, FRAMES_PER_LOOP, Faults, IMM, Imm, Kind, MAX_CODE_WORDS,
    MAX_DIRECT_UNIFORMS, MAX_FRAMES, MAX_ROWS, Op, Row, Slot, UNIFORM_BASE, Word,
};
use crate::vir0::module::{
    Access, Kernel, KernelId, MAX_FIELDS, Mode, QueueId, Resource, Role, Uniform, Wave,
};
use crate::vir0::scalar::Scalar;
use crate::vir0::trap::TrapKind;

impl<'p> Verifier<'p> {
    pub(super) fn kernel(&mut self, id: KernelId, kernel: &'p Kernel) {
        let p = self.program;
        let wave = p.waves.get(id.index());
        self.at = Place::Kernel(id);
        let rows = kernel.rows;
        self.require(usize::from(rows) <= MAX_ROWS, || Rule::Rows(rows));
        let length = kernel.code.len();
        self.require(length <= MAX_CODE_WORDS, || Rule::CodeLength(length));
        let listed = wave.and_then(listed);
        self.uniforms(id, kernel, wave);
        for &uniform in &kernel.uniforms {
            if let (Uniform::Reduction(r), Some(listed)) = (uniform, listed) {
                let resource = Resource::Reduction(r);
                let found = find(listed, resource).is_some();
                self.require(found, || Rule::Unlisted(resource));
            }
        }
        let assigned = self.item_rows(kernel, wave);
        let mut body = Code {
            kernel,
            id,
            wave,
            listed,
            assigned,
            blocks: Vec::new(),
            loops: Vec::new(),
            frames: 0,
            max_frames: 0,
        };
        for (pc, &word) in (0..).zip(&kernel.code) {
            self.at = Place::Word(id, pc);
            match Op::from_code(word.op) {
                Some(op) => body.word(self, pc, op.row(), word),
                None => self.fail(Rule::Opcode(word.op)),
            }
        }
        for block in std::mem::take(&mut body.blocks) {
            self.at = Place::Word(id, block.opened);
            self.fail(Rule::Unclosed);
        }
        self.at = Place::Kernel(id);
        let ret = if wave.is_some() { Op::Ret } else { Op::RetV };
        let ends = kernel.code.last().is_some_and(|w| w.op == ret as u8);
        self.require(ends, || Rule::LastWord(ret.row().mnemonic));
        let needed = body.max_frames;
        self.require(needed <= MAX_FRAMES.into(), || Rule::TooDeep(needed));
        self.require(needed == kernel.frames.into(), || Rule::Frames {
            declared: kernel.frames,
            needed,
        });
        self.sites(id, kernel);
    }

    fn uniforms(&mut self, at: KernelId, kernel: &'p Kernel, wave: Option<&'p Wave>) {
        let (count, most) = (kernel.uniforms.len(), usize::from(u16::MAX));
        self.require(count <= most, || Rule::TableLength {
            table: "uniforms",
            count,
            most,
        });
        for &uniform in &kernel.uniforms {
            match uniform {
                Uniform::Scalar(id) => {
                    self.scalar(id);
                }
                Uniform::Constant(id) => {
                    self.constant(id);
                }
                Uniform::Reduction(id) => {
                    self.reduction(id);
                }
                Uniform::Round => {
                    let outside = wave.is_some_and(|w| w.fixpoint.is_none());
                    self.require(!outside, || Rule::RoundOutside);
                }
                Uniform::OuterRound(id) => {
                    let own = self.program.fixpoint_of(at);
                    let around = own.and_then(|own| self.program.fixpoints.get(own.index()));
                    let around = around.and_then(|own| own.parent);
                    let holds = self.fixpoint(id).is_some() && self.program.is_within(around, id);
                    self.require(holds, || Rule::OuterRound(id.0));
                }
                Uniform::Len(id) => {
                    self.queue(id);
                    self.require(wave.is_none(), || Rule::FrontierLenInWave);
                }
                Uniform::Began(id) => {
                    self.queue(id.into());
                    self.require(wave.is_none(), || Rule::FrontierLenInWave);
                }
                Uniform::Nodes => {}
            }
        }
    }

    /// Checks the item rows; they are the registers assigned at the start.
    fn item_rows(&mut self, kernel: &Kernel, wave: Option<&Wave>) -> Rows {
        let edges = wave.is_some_and(|w| w.domain.topology().is_some());
        let mut assigned = Rows::NONE;
        let item = kernel.item;
        for (row, exists) in [
            (item.index, wave.is_some()),
            (item.src, edges),
            (item.dst, edges),
        ] {
            let Some(row) = row else { continue };
            let fits = row < kernel.rows && !assigned.has(row);
            self.require(fits, || Rule::ItemRow(row));
            self.require(exists, || Rule::ItemDomain(row));
            assigned.add(row);
        }
        let fields = wave.map_or(&[][..], |w| w.domain.fields(self.program));
        for (field, first) in item.fields.into_iter().enumerate() {
            let Some(first) = first else { continue };
            let Some(scalar) = fields.get(field) else {
                self.fail(Rule::ItemDomain(first));
                continue;
            };
            for row in (0..scalar.rows()).map(|i| first.saturating_add(i)) {
                let fits = row < kernel.rows && !assigned.has(row);
                self.require(fits, || Rule::ItemRow(row));
                assigned.add(row);
            }
        }
        assigned
    }

    fn sites(&mut self, id: KernelId, kernel: &'p Kernel) {
        for pair in kernel.sites.windows(2) {
            self.require(pair[0].0 < pair[1].0, || Rule::SiteOrder(pair[1].0));
        }
        let can_trap = |pc: u32| {
            let word = kernel.code.get(pc as usize);
            let op = word.and_then(|w| Op::from_code(w.op));
            op.is_some_and(|op| op.row().faults != Faults::No)
        };
        for &(pc, site) in &kernel.sites {
            self.require(can_trap(pc), || Rule::IdleSite(pc));
            self.site(site);
        }
        let mut with_site = kernel.sites.iter().map(|&(pc, _)| pc).peekable();
        for pc in (0..kernel.code.len() as u32).filter(|&pc| can_trap(pc)) {
            while with_site.peek().is_some_and(|&at| at < pc) {
                with_site.next();
            }
            self.at = Place::Word(id, pc);
            let found = with_site.peek() == Some(&pc);
            self.require(found, || Rule::NoSite);
        }
    }
}

/// Of the rows assigned on every path to a place: all of them where no path leads.
const UNREACHABLE: Rows = Rows::ALL;

/// An open `if`, `else` or `loop`.
struct Block {
    opened: u32,
    kind: BlockKind,
    /// Of an if: at its start (of the branch not taken). Of an else: at the end of the first branch. Of a loop: at its
    /// exits.
    other: Rows,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum BlockKind {
    If,
    Else,
    Loop,
}

/// One pass over a kernel's words.
struct Code<'p> {
    kernel: &'p Kernel,
    id: KernelId,
    /// `None` for a condition.
    wave: Option<&'p Wave>,
    /// What the wave lists, if that is in order.
    listed: Option<&'p [Access]>,
    /// Rows assigned on every path to here.
    assigned: Rows,
    blocks: Vec<Block>,
    /// Which of the blocks are loops.
    loops: Vec<usize>,
    frames: u32,
    max_frames: u32,
}

impl<'p> Code<'p> {
    fn word(&mut self, v: &mut Verifier<'p>, pc: u32, row: &Row, word: Word) {
        let literal = row.imm == Imm::Literal;
        for (operand, byte, slot) in [('a', word.a, row.a), ('b', word.b, row.b)] {
            self.source(v, operand, byte, slot, literal);
        }
        self.immediate(v, row, word);
        if row.imm == Imm::Rows {
            self.array(v, row, word);
        }
        self.effect(v, row, word);
        if row.effect == Effect::Reserve {
            self.filled(v, pc, word);
        }
        self.flow(v, pc, row, word);
        self.destination(v, word.d, row.d);
    }

    fn source(&self, v: &mut Verifier<'p>, operand: char, byte: u8, slot: Slot, literal: bool) {
        let width = match slot {
            Slot::N => return v.require(byte == 0, || Rule::Unused { operand, byte }),
            Slot::Flag => return v.require(byte <= 1, || Rule::Flag { operand, byte }),
            Slot::W | Slot::OptW => 1,
            Slot::D | Slot::OptD => 2,
        };
        if byte == IMM {
            v.require(literal, || Rule::OperandImmediate(operand));
        } else if byte >= UNIFORM_BASE {
            let slot = u32::from(byte - UNIFORM_BASE);
            let count = self.kernel.uniforms.len().min(MAX_DIRECT_UNIFORMS);
            v.require((slot as usize) < count, || Rule::OperandUniform {
                operand,
                slot,
                count,
            });
        } else {
            for row in self.rows(v, operand, byte, width) {
                v.require(self.assigned.has(row), || Rule::Unassigned(row));
            }
        }
    }

    /// The rows of a register operand; none when they are out of range.
    fn rows(
        &self,
        v: &mut Verifier<'p>,
        operand: char,
        byte: u8,
        width: u8,
    ) -> std::ops::Range<u8> {
        let rows = self.kernel.rows;
        let fits = usize::from(byte) + usize::from(width) <= usize::from(rows).min(MAX_ROWS);
        v.require(fits, || Rule::OperandRow {
            operand,
            byte,
            rows,
        });
        if fits { byte..byte + width } else { 0..0 }
    }

    fn destination(&mut self, v: &mut Verifier<'p>, byte: u8, slot: Slot) {
        let (width, optional) = match slot {
            Slot::N => {
                return v.require(byte == 0, || Rule::Unused { operand: 'd', byte });
            }
            Slot::W => (1, false),
            Slot::D => (2, false),
            Slot::OptW => (1, true),
            Slot::OptD => (2, true),
            Slot::Flag => unreachable!("no destination is a flag"),
        };
        if byte == IMM {
            v.require(optional, || Rule::OperandImmediate('d'));
        } else if byte >= UNIFORM_BASE {
            v.fail(Rule::OperandUniform {
                operand: 'd',
                slot: (byte - UNIFORM_BASE).into(),
                count: 0,
            });
        } else {
            for row in self.rows(v, 'd', byte, width) {
                self.assigned.add(row);
            }
        }
    }

    fn immediate(&self, v: &mut Verifier<'p>, row: &Row, word: Word) {
        let imm = word.imm;
        let unused = match row.imm {
            Imm::N => imm,
            Imm::Literal => {
                let a = row.a != Slot::N && word.a == IMM;
                let b = row.b != Slot::N && word.b == IMM;
                if a || b { 0 } else { imm }
            }
            Imm::Third => {
                self.source(v, 'c', word.third(), row.d, false);
                imm >> 8
            }
            Imm::Resource(kind) => {
                self.kind(v, kind, word.resource());
                imm & 0xffff
            }
            Imm::ResourceThird(kind) => {
                self.kind(v, kind, word.resource());
                self.source(v, 'c', word.third(), row.b, false);
                imm & 0xff00
            }
            Imm::Uniform => {
                let count = self.kernel.uniforms.len();
                v.require((imm as usize) < count, || Rule::OperandUniform {
                    operand: 'a',
                    slot: imm,
                    count,
                });
                0
            }
            Imm::Rows => imm >> 16,
            Imm::Field(kind, bytes) => {
                self.field(v, kind, bytes, word);
                0
            }
            // Checked with the nesting.
            Imm::Target | Imm::Depth => 0,
            Imm::Code => {
                let known = TrapKind::of_kernels().any(|kind| kind as u32 == imm);
                v.require(known, || Rule::TrapCode(imm));
                0
            }
        };
        v.require(unused == 0, || Rule::Immediate(imm));
    }

    /// The rows of a local array: in range, and assigned as a whole before an element is read or written.
    fn array(&mut self, v: &mut Verifier<'p>, row: &Row, word: Word) {
        let ((first, len), rows) = (word.array(), self.kernel.rows);
        let width = u16::from(row.element_rows());
        let end = u16::from(first) + u16::from(len) * width;
        let fits = len > 0 && end <= u16::from(rows) && usize::from(end) <= MAX_ROWS;
        v.require(fits, || Rule::ArrayRows { first, len, rows });
        if !fits {
            return;
        }
        let mut all = first..end as u8;
        if row.effect == Effect::RowFill {
            all.for_each(|row| self.assigned.add(row));
        } else if let Some(row) = all.find(|&row| !self.assigned.has(row)) {
            v.fail(Rule::Unassigned(row));
        }
    }

    /// A field of the items of a list or frontier.
    fn field(&self, v: &mut Verifier<'p>, kind: Kind, bytes: u64, word: Word) {
        let (resource, field) = (kind.resource(word.resource()), word.field());
        let fields = match resource {
            Resource::Queue(q) => v.queue(q).map(|q| &q.fields),
            Resource::Buffer(_) | Resource::Topology(_) | Resource::Reduction(_) => None,
        };
        let Some(fields) = fields else { return };
        let scalar = fields.get(usize::from(field));
        let fits = scalar.is_some_and(|s| s.size_bytes() == bytes);
        v.require(fits, || Rule::Field {
            resource,
            field,
            bytes,
        });
    }

    fn kind(&self, v: &mut Verifier<'p>, kind: Kind, id: u16) {
        let resource = kind.resource(id);
        let scalar = match resource {
            Resource::Topology(t) => {
                v.topology(t);
                return;
            }
            Resource::Queue(QueueId::Frontier(f)) if kind == Kind::Frontier => {
                v.node_frontier(f);
                return;
            }
            Resource::Queue(q) => {
                if let Some(queue) = v.queue(q) {
                    let others = !queue.fields.is_empty();
                    v.require(others || kind != Kind::ItemFrontier, || {
                        Rule::ItemsNodes(id)
                    });
                }
                return;
            }
            Resource::Reduction(r) => v.reduction(r).map(|r| r.scalar),
            Resource::Buffer(b) => v.buffer(b).map(|b| b.scalar),
        };
        let Some(scalar) = scalar else { return };
        let fits = match kind {
            Kind::Buffer8 => scalar.size_bytes() == 1,
            Kind::Buffer32 => scalar.size_bytes() == 4,
            Kind::Buffer64 | Kind::Reduction64 => scalar.size_bytes() == 8,
            Kind::Reduction32 => scalar.size_bytes() == 4 || scalar == Scalar::Bool,
            Kind::BufferOf(exactly) => scalar == exactly,
            Kind::Buffer | Kind::Topology | Kind::Frontier | Kind::ItemFrontier | Kind::List => {
                true
            }
        };
        v.require(fits, || Rule::ResourceKind {
            resource,
            scalar,
            kind,
        });
    }

    /// Roles, access lists and conditions, which use no resource.
    fn effect(&self, v: &mut Verifier<'p>, row: &Row, word: Word) {
        let Some(resource) = word.names() else {
            return;
        };
        let changes = row.effect.changes();
        if let Resource::Buffer(id) = resource
            && changes
            && let Some(buffer) = v.program.buffers.get(id.index())
        {
            let writable = [Role::Output, Role::Scratch, Role::InOut].contains(&buffer.role);
            v.require(writable, || Rule::ReadOnly(buffer.role));
        }
        if self.wave.is_none() {
            return v.fail(Rule::ConditionUses(resource));
        }
        let Some(listed) = self.listed else { return };
        match find(listed, resource) {
            None => v.fail(Rule::Unlisted(resource)),
            Some(access) => {
                let listed_read = changes && access.mode == Mode::Read;
                v.require(!listed_read, || Rule::ListedRead(resource));
            }
        }
    }

    /// A reserved item is given all of its fields before the code branches and while its slot is known: on a device it
    /// lies in memory that was somebody else's.
    fn filled(&self, v: &mut Verifier<'p>, pc: u32, reserves: Word) {
        let Some(resource) = reserves.names() else {
            return;
        };
        let fields = match resource {
            Resource::Queue(q) => v.program.queue(q).map(|q| &q.fields),
            Resource::Buffer(_) | Resource::Topology(_) | Resource::Reduction(_) => None,
        };
        let fields = fields.map_or(0, |f| f.len().min(MAX_FIELDS));
        let mut missing = (1u32 << fields) - 1;
        for &word in &self.kernel.code[pc as usize + 1..] {
            match Op::from_code(word.op).map(|op| op.row().effect) {
                Some(Effect::Field) => {}
                Some(effect) if !effect.branches() && !writes(&word).has(reserves.d) => continue,
                _ => break,
            }
            let field = u32::from(word.field());
            if (word.names(), word.a) == (Some(resource), reserves.d) && field < u32::BITS {
                missing &= !(1 << field);
            }
            if missing == 0 {
                return;
            }
        }
        v.require(missing == 0, || Rule::Unfilled {
            resource,
            field: missing.trailing_zeros(),
        });
    }

    fn open(&mut self, opened: u32, kind: BlockKind, other: Rows) {
        self.frames += frames(kind);
        self.max_frames = self.max_frames.max(self.frames);
        if kind == BlockKind::Loop {
            self.loops.push(self.blocks.len());
        }
        self.blocks.push(Block {
            opened,
            kind,
            other,
        });
    }

    /// Takes the innermost block if it is one of these.
    fn close(&mut self, v: &mut Verifier<'p>, kinds: &[BlockKind]) -> Option<Block> {
        let block = self.blocks.pop_if(|b| kinds.contains(&b.kind));
        match &block {
            Some(b) => {
                self.frames -= frames(b.kind);
                if b.kind == BlockKind::Loop {
                    self.loops.pop();
                }
            }
            None => v.fail(Rule::Unopened),
        }
        block
    }

    /// Checks the target that stands in another word.
    fn target(&self, v: &mut Verifier<'p>, of: u32, expected: u32) {
        let actual = self.kernel.code[of as usize].imm;
        let here = v.at;
        v.at = Place::Word(self.id, of);
        v.require(actual == expected, || Rule::Target { actual, expected });
        v.at = here;
    }

    /// A path to a loop's exit.
    fn leave(&mut self, v: &mut Verifier<'p>, depth: u32) {
        match self.loops.iter().rev().nth(depth as usize) {
            Some(&at) => self.blocks[at].other = self.blocks[at].other.and(self.assigned),
            None => v.fail(Rule::Depth {
                depth,
                loops: self.loops.len() as u32,
            }),
        }
    }

    fn flow(&mut self, v: &mut Verifier<'p>, pc: u32, row: &Row, word: Word) {
        use BlockKind::{Else, If, Loop};
        match row.effect {
            Effect::Open if row.op == Op::Loop => self.open(pc, Loop, UNREACHABLE),
            Effect::Open => self.open(pc, If, self.assigned),
            Effect::Turn => {
                if let Some(block) = self.close(v, &[If]) {
                    self.target(v, block.opened, pc);
                    self.open(pc, Else, self.assigned);
                    self.assigned = block.other;
                }
            }
            Effect::Close if row.op == Op::EndLoop => {
                if let Some(block) = self.close(v, &[Loop]) {
                    self.target(v, block.opened, pc + 1);
                    self.target(v, pc, block.opened);
                    self.assigned = block.other;
                }
            }
            Effect::Close => {
                if let Some(block) = self.close(v, &[If, Else]) {
                    self.target(v, block.opened, pc);
                    self.assigned = self.assigned.and(block.other);
                }
            }
            Effect::MayLeave => self.leave(v, word.imm),
            Effect::Leave if row.op == Op::Continue => {
                let (depth, loops) = (word.imm, self.loops.len() as u32);
                v.require(depth < loops, || Rule::Depth { depth, loops });
                self.assigned = UNREACHABLE;
            }
            Effect::Leave => {
                self.leave(v, word.imm);
                self.assigned = UNREACHABLE;
            }
            Effect::End => {
                if row.op != Op::Trap {
                    let condition = row.op == Op::RetV;
                    let name = if condition { "condition" } else { "wave" };
                    v.require(condition == self.wave.is_none(), || Rule::WrongReturn(name));
                }
                self.assigned = UNREACHABLE;
            }
            Effect::No
            | Effect::RowLoad
            | Effect::RowStore
            | Effect::RowFill
            | Effect::Ask
            | Effect::Load
            | Effect::Store
            | Effect::AtomicLoad
            | Effect::AtomicStore
            | Effect::Update
            | Effect::Exchange
            | Effect::Push
            | Effect::Reserve
            | Effect::Field
            | Effect::Reduce => {}
        }
    }
}

fn frames(kind: BlockKind) -> u32 {
    match kind {
        BlockKind::If | BlockKind::Else => FRAMES_PER_IF.into(),
        BlockKind::Loop => FRAMES_PER_LOOP.into(),
    }
}
