//! One kernel's body: its registers, who is active, its blocks, its checks. What each instruction becomes is `ops`'.

use super::blocks::Open;
use super::counted::{self, Counted};
use super::lifted::{self, Lifted, Turn};
use super::shared::{self, Shared};
use super::sites;
use crate::abi::{self, NONE};
use crate::image::{Layout, item_rows_of, queue_number, records_of};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::mem::offset_of;
use vyre_core::vir0::find::{Cell, Turns};
use vyre_core::vir0::flow::{Block, BlockKind, Rows, blocks, live_in, op, rows_of, uses, writes};
use vyre_core::vir0::isa::{IMM, Imm, Op, Slot, UNIFORM_BASE, Word};
use vyre_core::vir0::module::{Domain, Extent, Kernel, Program, Resource};
use vyre_core::vir0::trap::TrapKind;

/// Registers, of 32 bits, that the rows of the items that go side by side may fill where most are alive, of 64 that a
/// thread has.
pub(super) const ROWS_REGISTERS: u32 = 32;
/// Those and what is loaded at the beginning of a body.
const REGISTERS: u32 = 44;
/// Words of a body at most that several items go through side by side, all copies counted.
const WORDS: usize = 1024;
/// The share of `of` 64 registers that a thread of the module has. A loop that is shared out has its items side by side
/// as the interpreter has them, whatever that takes.
fn registers_of(layout: &Layout, id: usize, of: u32) -> u32 {
    match layout.kernels[id].neighbors {
        0 => of * layout.shape.registers().min(64) / 64,
        _ => of,
    }
}

/// Items of a lane that go through a body side by side, of the `most` that it has: as many as registers hold. The
/// others follow in turns of a loop.
pub(super) fn together((program, layout): (&Program, &Layout), id: usize, most: u32) -> u32 {
    let registers = registers_of(layout, id, ROWS_REGISTERS);
    fit(&program.kernels[id], most, registers)
}

/// The same with so many registers for their rows.
pub(super) fn fit(kernel: &Kernel, most: u32, registers: u32) -> u32 {
    let alive = most_alive(kernel);
    let fits =
        |&n: &u32| n <= most && n * alive <= registers && n as usize * kernel.code.len() <= WORDS;
    [4, 2].into_iter().find(fits).unwrap_or(1)
}

/// Rows in registers that are alive where most are.
pub(super) fn most_alive(kernel: &Kernel) -> u32 {
    let arrays = arrays(&kernel.code);
    let count = |rows: Rows| rows.without(arrays).iter().count() as u32;
    let live = live_in(&kernel.code);
    live.into_iter().map(count).max().unwrap_or(0)
}

/// What a body knows of a resource from tables in shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Fact {
    /// Address of a buffer's elements.
    Data(u16),
    /// How many they are.
    Len(u16),
    /// Address of a topology's offsets.
    Offsets(u16),
    /// Address of its targets.
    Targets(u16),
    /// How many they are.
    Edges(u16),
    /// Number of nodes, as a topology has it.
    Nodes(u16),
    /// Number of nodes, as a frontier has it.
    Pushable(u16),
}

impl Fact {
    fn is_address(self) -> bool {
        match self {
            Fact::Data(_) | Fact::Offsets(_) | Fact::Targets(_) => true,
            Fact::Len(_) | Fact::Edges(_) | Fact::Nodes(_) | Fact::Pushable(_) => false,
        }
    }

    /// Where it is in shared memory.
    fn place(self, head: &abi::Image) -> u32 {
        let buffer = |id: u16, field: usize| {
            head.buffers + u32::from(id) * size_of::<abi::Buffer>() as u32 + field as u32
        };
        let topology = |id: u16, field: usize| {
            head.topologies + u32::from(id) * size_of::<abi::Topology>() as u32 + field as u32
        };
        match self {
            Fact::Data(id) => buffer(id, offset_of!(abi::Buffer, data)),
            Fact::Len(id) => buffer(id, offset_of!(abi::Buffer, len)),
            Fact::Offsets(id) => topology(id, offset_of!(abi::Topology, offsets)),
            Fact::Targets(id) => topology(id, offset_of!(abi::Topology, targets)),
            Fact::Edges(id) => topology(id, offset_of!(abi::Topology, edges)),
            Fact::Nodes(id) => topology(id, offset_of!(abi::Topology, nodes)),
            Fact::Pushable(id) => {
                let entry = u32::from(id) * size_of::<abi::Frontier>() as u32;
                head.frontiers + entry + offset_of!(abi::Frontier, nodes) as u32
            }
        }
    }
}

/// What an index may be proved to be below.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Bound {
    Nodes,
    Edges(u16),
    /// The length of all buffers that are as long as this one.
    Buffer(u16),
    /// The length of this one, whose element was just loaded, too.
    Loaded(u16),
}

/// Where a fault's index is.
#[derive(Clone, Debug)]
pub(super) enum Index {
    /// It has none.
    No,
    /// Operand a of the word.
    A,
    /// In these registers, by item; and what it was compared with.
    Registers(Vec<String>, Vec<String>),
}

/// Where a body finds its items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Items {
    /// In rows of shared memory, a tile at a time, of which a mask says who is there.
    Tile,
    /// They are numbers, or what lists hold at these, and the body has the loop over all of a wave's tiles around it.
    Numbers,
}

/// The text of a body as it grows.
pub(super) struct Body<'a> {
    pub(super) from: Items,
    pub(super) program: &'a Program,
    pub(super) layout: &'a Layout,
    pub(super) kernel: &'a Kernel,
    pub(super) id: usize,
    /// The loop that the warp's lanes share out.
    pub(super) lift: Option<Lifted>,
    /// Its turn is being written.
    pub(super) lift_turn: Option<Turn>,
    /// Loops that can be shared out, by their pcs; the one whose turn is being written; and what stands in the names of
    /// registers then.
    pub(super) shareable: Vec<(usize, Turns)>,
    pub(super) shared: Option<Shared>,
    pub(super) set: &'static str,
    /// Of a body in thread form, the sites that pushed so far.
    pub(super) sites: Option<usize>,
    /// Items of a lane, and those that go side by side.
    pub(super) items: u32,
    pub(super) together: u32,
    pub(super) live: Vec<Rows>,
    /// Low rows of the values of 64 bits that have registers of their own.
    pub(super) wide: Rows,
    pub(super) arrays: Rows,
    pub(super) facts: BTreeSet<Fact>,
    pub(super) uniforms: BTreeMap<u8, bool>,
    pub(super) blocks: Vec<Block>,
    pub(super) open: Vec<Open>,
    pub(super) proved: BTreeSet<(u8, Bound)>,
    /// Rows of which every active item has the same known value.
    pub(super) known: BTreeMap<u8, u32>,
    /// Loops that are being written out, innermost last.
    pub(super) counted: Vec<Counted>,
    pub(super) out: String,
    pub(super) cold: String,
    pub(super) is_cold: bool,
    pub(super) predicates: u32,
    pub(super) words: u32,
    pub(super) longs: u32,
    pub(super) labels: u32,
    pub(super) deepest: usize,
    pub(super) pc: usize,
}

/// Rows of local arrays.
pub(super) fn arrays(code: &[Word]) -> Rows {
    let rows = |word: &Word| {
        let row = op(word).row();
        let (first, len) = word.array();
        match row.imm {
            Imm::Rows => (first..first + len * row.element_rows()).into(),
            _ => Rows::NONE,
        }
    };
    code.iter().fold(Rows::NONE, |all, word| all.or(rows(word)))
}

/// The operands of a word, with their widths: the result last.
pub(super) fn operands(word: &Word) -> [(Slot, u8); 4] {
    let row = op(word).row();
    let third = match row.imm {
        Imm::Third => (row.d, word.third()),
        Imm::ResourceThird(_) => (row.b, word.third()),
        _ => (Slot::N, 0),
    };
    [(row.a, word.a), (row.b, word.b), third, (row.d, word.d)]
}

pub(super) fn is_wide(slot: Slot) -> bool {
    match slot {
        Slot::D | Slot::OptD => true,
        Slot::N | Slot::Flag | Slot::W | Slot::OptW => false,
    }
}

/// Low rows of the pairs that no word takes apart. `fields`: pairs that the operator fills.
fn wide(kernel: &Kernel, fields: &[(u8, bool)]) -> Rows {
    let (mut pairs, mut single) = (Rows::NONE, arrays(&kernel.code));
    let all = kernel.code.iter().flat_map(operands);
    let of_words = all.map(|(slot, byte)| (byte, is_wide(slot), rows_of(slot, byte)));
    let of_item = fields.iter().map(|&(row, wide)| {
        let slot = if wide { Slot::D } else { Slot::W };
        (row, wide, rows_of(slot, row))
    });
    for (byte, wide, rows) in of_words.chain(of_item) {
        match wide && rows != Rows::NONE {
            true => pairs.add(byte),
            false => single = single.or(rows),
        }
    }
    let overlaps = |row: u8| pairs.has(row + 1) || row > 0 && pairs.has(row - 1);
    let apart = |row: u8| single.has(row) || single.has(row + 1) || overlaps(row);
    pairs.iter().filter(|&row| !apart(row)).collect()
}

/// What the words of a body ask of tables, innermost loops first, as far as registers allow: it is loaded at the
/// body's beginning, the rest where it is used.
pub(super) fn hoisted(
    (program, layout): (&Program, &Layout),
    id: usize,
    together: u32,
) -> BTreeSet<Fact> {
    let (kernel, most) = (&program.kernels[id], registers_of(layout, id, REGISTERS));
    let blocks = blocks(&kernel.code);
    let loops = |pc: usize| {
        let around = blocks.iter().filter(|b| b.kind == BlockKind::Loop);
        around.filter(|b| b.holds(pc)).count()
    };
    let mut wanted: Vec<(usize, usize, Fact)> = Vec::new();
    for (pc, word) in kernel.code.iter().enumerate() {
        for fact in facts_of(word) {
            if !wanted.iter().any(|&(.., other)| other == fact) {
                wanted.push((usize::MAX - loops(pc), pc, fact));
            }
        }
    }
    wanted.sort();
    let mut registers = together * most_alive(kernel);
    let fits = |fact: &Fact| {
        registers += 1 + u32::from(fact.is_address());
        registers <= most
    };
    let facts = wanted.into_iter().map(|(.., fact)| fact);
    facts.take_while(fits).collect()
}

/// What a word asks of the tables.
fn facts_of(word: &Word) -> Vec<Fact> {
    let id = word.resource();
    match (op(word), word.names()) {
        (Op::CsrBegin | Op::CsrEnd, _) => vec![Fact::Nodes(id), Fact::Offsets(id)],
        (Op::CsrTarget, _) => vec![Fact::Edges(id), Fact::Targets(id)],
        (Op::Len, _) => vec![Fact::Len(id)],
        (Op::Push, _) => vec![Fact::Pushable(id)],
        (_, Some(Resource::Buffer(_))) => vec![Fact::Len(id), Fact::Data(id)],
        _ => vec![],
    }
}

impl<'a> Body<'a> {
    pub(super) fn new(
        (program, layout): (&'a Program, &'a Layout),
        id: usize,
        items: u32,
        from: Items,
    ) -> Body<'a> {
        let kernel = &program.kernels[id];
        let together = together((program, layout), id, items);
        let items = match from {
            Items::Tile => items,
            Items::Numbers => together,
        };
        let mut uniforms = BTreeMap::new();
        for word in &kernel.code {
            for (slot, byte) in operands(word) {
                if slot != Slot::N && byte != IMM && byte >= UNIFORM_BASE {
                    *uniforms.entry(byte - UNIFORM_BASE).or_default() |= is_wide(slot);
                }
            }
        }
        let code = &kernel.code;
        let wide = wide(kernel, &item_rows_of(program, id).collect::<Vec<_>>());
        Body {
            from,
            program,
            layout,
            kernel,
            id,
            lift: lifted::find(layout, id),
            lift_turn: None,
            shareable: match program.waves.get(id) {
                Some(_) => shared::loops(program, kernel, wide),
                None => Vec::new(),
            },
            shared: None,
            set: "",
            sites: None,
            items,
            together,
            live: live_in(code),
            wide,
            arrays: arrays(code),
            facts: hoisted((program, layout), id, together),
            uniforms,
            blocks: blocks(code),
            open: Vec::new(),
            proved: BTreeSet::new(),
            known: BTreeMap::new(),
            counted: Vec::new(),
            out: String::new(),
            cold: String::new(),
            is_cold: false,
            predicates: 0,
            words: 0,
            longs: 0,
            labels: 0,
            deepest: 0,
            pc: 0,
        }
    }

    /// What stands between the body's braces.
    pub(super) fn text(mut self) -> String {
        match self.from {
            Items::Tile => self.begin(),
            Items::Numbers => self.begin_sweep(),
        }
        self.code();
        match self.from {
            Items::Tile => self.end(),
            Items::Numbers => self.end_sweep(),
        }
        let mut out = self.declarations();
        out += &self.out;
        out += &self.cold;
        out
    }

    /// The text of whole lines.
    pub(super) fn put(&mut self, line: impl AsRef<str>) {
        let out = if self.is_cold {
            &mut self.cold
        } else {
            &mut self.out
        };
        writeln!(out, "\t{};", line.as_ref()).expect("writing to a string succeeds");
    }

    pub(super) fn label(&mut self, label: &str) {
        let out = if self.is_cold {
            &mut self.cold
        } else {
            &mut self.out
        };
        writeln!(out, "{label}:").expect("writing to a string succeeds");
    }

    /// Where the word stands in the source.
    pub(super) fn mark(&mut self) {
        if let Some(mark) = sites::mark(self.program, self.id, self.pc) {
            self.put(mark);
        }
    }

    pub(super) fn new_label(&mut self) -> String {
        self.labels += 1;
        format!("$L{}_{}", self.id, self.labels)
    }

    /// A predicate that nothing else has.
    pub(super) fn predicate(&mut self) -> String {
        self.predicates += 1;
        format!("%p{}", self.predicates - 1)
    }

    /// A register of 32 bits that nothing else has.
    pub(super) fn word(&mut self) -> String {
        self.words += 1;
        format!("%r{}", self.words - 1)
    }

    /// A register of 64 bits that nothing else has.
    pub(super) fn long(&mut self) -> String {
        self.longs += 1;
        format!("%d{}", self.longs - 1)
    }

    pub(super) fn declarations(&self) -> String {
        let mut out = String::new();
        let mut declare = |kind: &str, name: &str, count: u32| {
            if count != 0 {
                writeln!(out, "\t.reg .{kind} {name}<{count}>;")
                    .expect("writing to a string succeeds");
            }
        };
        declare("pred", "%p", self.predicates);
        let shares = if self.shareable.is_empty() { 0 } else { 1 };
        let sets = [("", self.together), ("s", shares)];
        for (set, n) in sets {
            for depth in 0..=self.deepest {
                declare("pred", &format!("%{set}a{depth}_"), n);
                if depth > 0 {
                    declare("pred", &format!("%{set}e{depth}_"), n);
                    declare("pred", &format!("%{set}n{depth}_"), n);
                }
            }
        }
        let mut used = Rows::NONE;
        for word in &self.kernel.code {
            used = used.or(uses(word)).or(writes(word));
        }
        for (row, pair) in self.item_rows() {
            let slot = if pair { Slot::D } else { Slot::W };
            used = used.or(rows_of(slot, row));
        }
        for row in used.without(self.arrays).iter() {
            for (set, n) in sets {
                if self.wide.has(row) {
                    declare("b64", &format!("%{set}x{row}_"), n);
                } else if row == 0 || !self.wide.has(row - 1) {
                    declare("b32", &format!("%{set}w{row}_"), n);
                }
            }
        }
        let mut scalar = |kind: &str, name: &str| {
            writeln!(out, "\t.reg .{kind} {name};").expect("writing to a string succeeds");
        };
        for (slot, wide) in &self.uniforms {
            scalar("b32", &format!("%u{slot}"));
            if *wide {
                scalar("b64", &format!("%v{slot}"));
            }
        }
        for fact in &self.facts {
            scalar(
                if fact.is_address() { "b64" } else { "b32" },
                &hoisted_name(*fact),
            );
        }
        for name in ["%words", "%first", "%at", "%here", "%sums"] {
            scalar("b32", name);
        }
        self.declare_sweep(&mut scalar);
        let mut declare = |kind: &str, name: &str, count: u32| {
            if count != 0 {
                writeln!(out, "\t.reg .{kind} {name}<{count}>;")
                    .expect("writing to a string succeeds");
            }
        };
        declare("b32", "%r", self.words);
        declare("b64", "%d", self.longs);
        self.declare_shared(&mut out);
        out
    }

    // Beginning and end.

    /// Bytes from a row to the next.
    pub(super) fn row_bytes(&self) -> u32 {
        self.items * 128
    }

    pub(super) fn described(&self) -> &'a abi::Kernel {
        &self.layout.kernels[self.id]
    }

    pub(super) fn body_end(&self) -> String {
        format!("$E{}", self.id)
    }

    /// Uniforms, and what is loaded at the body's beginning.
    pub(super) fn load_uniforms(&mut self) {
        for (slot, wide) in self.uniforms.clone() {
            let at = self.uniform_place(slot.into());
            let is_given = self.is_given(slot.into());
            match is_given {
                true => self.put(format!("mov.b32 %u{slot}, %in_round")),
                false => self.put(format!("ld.shared.b32 %u{slot}, [vyre_shared+{at}]")),
            }
            if wide {
                let high = self.word();
                match is_given {
                    true => self.put(format!("mov.b32 {high}, 0")),
                    false => self.put(format!("ld.shared.b32 {high}, [vyre_shared+{}]", at + 16)),
                }
                self.put(format!("mov.b64 %v{slot}, {{%u{slot}, {high}}}"));
            }
        }
        for fact in self.facts.clone() {
            self.load_fact(fact, &hoisted_name(fact));
        }
    }

    /// What stays the same for all items of a body in masked form.
    pub(super) fn begin_tables(&mut self) {
        self.load_uniforms();
        if self.described().reduction_count != 0 {
            // From this lane's place in row 0 to its accumulators.
            let lane = self.word();
            let places = self.described().accumulators;
            self.put(format!("mov.u32 {lane}, %tid.x"));
            self.put(format!("and.b32 {lane}, {lane}, 31"));
            let step = 8 - 4 * self.items as i32;
            self.put(format!("mad.lo.s32 %sums, {lane}, {step}, %regs"));
            self.put(format!("add.s32 %sums, %sums, {places}"));
        }
        if self.loops() {
            self.put("mov.b32 %words, 0");
        }
    }

    fn begin(&mut self) {
        self.begin_tables();
        if self.together < self.items {
            self.put("mov.b32 %first, 0");
            self.label(&format!("$G{}", self.id));
            self.put("shl.b32 %at, %first, 2");
            self.put("add.s32 %at, %at, %regs");
            self.put("shr.u32 %here, %mask, %first");
        } else {
            self.put("mov.b32 %at, %regs");
            self.put("mov.b32 %here, %mask");
        }
        for j in 0..self.together {
            let bit = self.word();
            self.put(format!("and.b32 {bit}, %here, {}", 1 << j));
            self.put(format!("setp.ne.s32 %a0_{j}, {bit}, 0"));
        }
        if self.together < self.items {
            let end = self.body_end();
            self.skip_unless_any(0, &end);
        }
        self.begin_part();
        for (row, pair) in self.item_rows() {
            self.load_item(row, pair);
        }
        self.prove_items();
    }

    fn item_rows(&self) -> Vec<(u8, bool)> {
        item_rows_of(self.program, self.id).collect()
    }

    /// What of an item the operator put in a row, or in two.
    fn load_item(&mut self, row: u8, pair: bool) {
        let slot = if pair { Slot::D } else { Slot::W };
        if self.arrays.has(row) || !rows_of(slot, row).meets(self.live[0]) {
            return;
        }
        let n = self.together;
        let named = |row: u8| (0..n).map(move |j| format!("%w{row}_{j}"));
        if !pair {
            self.load_row(row, &named(row).collect::<Vec<_>>());
        } else if !self.wide.has(row) {
            for row in [row, row + 1] {
                self.load_row(row, &named(row).collect::<Vec<_>>());
            }
        } else {
            let half = |body: &mut Self| (0..body.together).map(|_| body.word()).collect();
            let halves: [Vec<String>; 2] = [half(self), half(self)];
            self.load_row(row, &halves[0]);
            self.load_row(row + 1, &halves[1]);
            for (j, (low, high)) in halves[0].iter().zip(&halves[1]).enumerate() {
                self.put(format!("mov.b64 %x{row}_{j}, {{{low}, {high}}}"));
            }
        }
    }

    /// Loads what the items have in a row of shared memory.
    pub(super) fn load_row(&mut self, row: u8, to: &[String]) {
        let at = u32::from(row) * self.row_bytes();
        self.put(match to {
            [one] => format!("ld.shared.b32 {one}, [%at+{at}]"),
            all => {
                let (n, all) = (all.len(), all.join(", "));
                format!("ld.shared.v{n}.b32 {{{all}}}, [%at+{at}]")
            }
        });
    }

    /// What the domain says of its items' numbers.
    pub(super) fn prove_items(&mut self) {
        let Some(wave) = self.program.waves.get(self.id) else {
            return;
        };
        let item = self.kernel.item;
        let mut prove = |row: Option<u8>, bound| {
            self.proved.extend(row.map(|row| (row, bound)));
        };
        match wave.domain {
            Domain::Nodes => prove(item.index, Bound::Nodes),
            Domain::Edges(t) | Domain::EdgesFrom(t, _) => {
                prove(item.index, Bound::Edges(t.0));
                prove(item.src, Bound::Nodes);
                prove(item.dst, Bound::Nodes);
            }
            Domain::Range(extent) => {
                let bound = bound_of(self.program, extent);
                prove(bound.and(item.index), bound.unwrap_or(Bound::Nodes));
            }
            Domain::Items(_) if wave.domain.fields(self.program).is_empty() => {
                prove(item.index, Bound::Nodes);
            }
            Domain::Once | Domain::Items(_) | Domain::ListItems(..) => {}
        }
    }

    fn end(&mut self) {
        let end = self.body_end();
        self.label(&end);
        if self.together < self.items {
            let more = self.predicate();
            self.put(format!("add.s32 %first, %first, {}", self.together));
            self.put(format!("setp.lt.u32 {more}, %first, {}", self.items));
            self.put(format!("@{more} bra.uni $G{}", self.id));
        }
        self.put("bra.uni $DONE");
    }

    pub(super) fn loops(&self) -> bool {
        self.blocks.iter().any(|b| b.kind == BlockKind::Loop)
    }

    // Tables.

    /// Where a staged uniform is in shared memory.
    fn uniform_place(&self, slot: u32) -> u32 {
        self.described().uniforms_shared + slot * abi::UNIFORM_BYTES
    }

    fn load_fact(&mut self, fact: Fact, to: &str) {
        let ty = if fact.is_address() { "b64" } else { "b32" };
        let at = fact.place(&self.layout.head);
        self.put(format!("ld.shared.{ty} {to}, [vyre_shared+{at}]"));
    }

    /// A register that has it.
    pub(super) fn fact(&mut self, fact: Fact) -> String {
        if self.facts.contains(&fact) {
            return hoisted_name(fact);
        }
        let to = if fact.is_address() {
            self.long()
        } else {
            self.word()
        };
        self.load_fact(fact, &to);
        to
    }

    /// A staged uniform, by a word of its own.
    pub(super) fn staged(&mut self, slot: u32, half: u32) -> String {
        let (to, at) = (self.word(), self.uniform_place(slot) + half * 16);
        match (self.is_given(slot), half) {
            (false, _) => self.put(format!("ld.shared.b32 {to}, [vyre_shared+{at}]")),
            (true, 0) => self.put(format!("mov.b32 {to}, %in_round")),
            (true, _) => self.put(format!("mov.b32 {to}, 0")),
        }
        to
    }

    /// A reduction's accumulator: its place from `%sums`, and what it takes values in by.
    pub(super) fn accumulator(&self, id: u16) -> (u32, &'a vyre_core::vir0::module::Reduction) {
        let all = self.layout.reductions_of(self.described());
        let at = all.iter().position(|&r| r == u32::from(id));
        let at = at.expect("the reductions are those of the words") as u32;
        (at * 256, &self.program.reductions[usize::from(id)])
    }

    /// The device's number of the list or frontier that a word names, its entry in shared memory, and that of its
    /// record.
    pub(super) fn queue(&self, word: &Word) -> (u32, u32, u32) {
        let named = word.names().and_then(|r| queue_number(self.program, r));
        let id = named.expect("the word names a frontier or a list");
        let head = &self.layout.head;
        let record = records_of(self.program).position(|(queue, _)| queue == id);
        let record = record.map_or(0, |r| r as u32 * size_of::<abi::Record>() as u32);
        let entry = head.frontiers + id * size_of::<abi::Frontier>() as u32;
        (id, entry, head.records + record)
    }

    // Values.

    /// The register of a row.
    pub(super) fn row_name(&self, row: u8, j: u32) -> String {
        format!("%{}w{row}_{j}", self.set)
    }

    /// The register of two rows that no word takes apart, by the low one.
    pub(super) fn wide_name(&self, row: u8, j: u32) -> String {
        format!("%{}x{row}_{j}", self.set)
    }

    /// The place of a row of the item in shared memory, less `%at`.
    pub(super) fn row_place(&self, row: u8, j: u32) -> u32 {
        u32::from(row) * self.row_bytes() + j * 4
    }

    /// A 32-bit operand of item `j`.
    pub(super) fn get32(&mut self, byte: u8, j: u32) -> String {
        let imm = self.kernel.code[self.pc].imm;
        if byte == IMM {
            return format!("{imm:#x}");
        }
        if byte >= UNIFORM_BASE {
            return format!("%u{}", byte - UNIFORM_BASE);
        }
        if self.arrays.has(byte) {
            let (to, at) = (self.word(), self.row_place(byte, j));
            self.put(format!("ld.shared.b32 {to}, [%at+{at}]"));
            return to;
        }
        match self.known_here(byte) {
            None => self.row_name(byte, j),
            Some(value) if counted::folds(op(&self.kernel.code[self.pc])) => format!("{value:#x}"),
            Some(value) => {
                let to = self.word();
                self.put(format!("mov.b32 {to}, {value:#x}"));
                to
            }
        }
    }

    /// The same in a register, and not an immediate.
    pub(super) fn get32_in_register(&mut self, byte: u8, j: u32) -> String {
        let value = self.get32(byte, j);
        if value.starts_with('%') {
            return value;
        }
        let to = self.word();
        self.put(format!("mov.b32 {to}, {value}"));
        to
    }

    /// A 64-bit operand of item `j`.
    pub(super) fn get64(&mut self, byte: u8, j: u32) -> String {
        if byte == IMM {
            let imm = self.kernel.code[self.pc].imm as i32;
            return format!("{:#x}", i64::from(imm));
        }
        if byte >= UNIFORM_BASE {
            return format!("%v{}", byte - UNIFORM_BASE);
        }
        if self.wide.has(byte) {
            return self.wide_name(byte, j);
        }
        let halves = [byte, byte + 1].map(|half| self.get32_in_register(half, j));
        let to = self.long();
        self.put(format!("mov.b64 {to}, {{{}, {}}}", halves[0], halves[1]));
        to
    }

    /// The same in a register, and not an immediate.
    pub(super) fn get64_in_register(&mut self, byte: u8, j: u32) -> String {
        let value = self.get64(byte, j);
        if byte != IMM {
            return value;
        }
        let to = self.long();
        self.put(format!("mov.b64 {to}, {value}"));
        to
    }

    /// Puts what an instruction makes of its operands in a row of item `j`. `always`: only where the item is active,
    /// because the instruction must not happen otherwise.
    pub(super) fn set32(&mut self, byte: u8, j: u32, always: bool, instruction: &str, from: &str) {
        let kept = byte != IMM && self.keeps(rows_of(Slot::W, byte));
        let guard = self.guard(always || kept && !self.arrays.has(byte), j);
        if byte == IMM || self.arrays.has(byte) {
            let to = self.word();
            self.put(format!("{guard}{instruction} {to}, {from}"));
            if byte != IMM {
                let (guard, at) = (self.guard(true, j), self.row_place(byte, j));
                self.put(format!("{guard}st.shared.b32 [%at+{at}], {to}"));
            }
            return;
        }
        let to = self.row_name(byte, j);
        self.put(format!("{guard}{instruction} {to}, {from}"));
        if self.shared.is_some() {
            let guard = self.guard(true, j);
            self.note_set(Cell::Row(byte), &guard);
        }
    }

    /// As [`Body::set32`], two rows.
    pub(super) fn set64(&mut self, byte: u8, j: u32, always: bool, instruction: &str, from: &str) {
        if byte != IMM && self.wide.has(byte) {
            let guard = self.guard(always || self.keeps(rows_of(Slot::D, byte)), j);
            let to = self.wide_name(byte, j);
            self.put(format!("{guard}{instruction} {to}, {from}"));
            if self.shared.is_some() {
                let guard = self.guard(true, j);
                self.note_set(Cell::Pair(byte), &guard);
            }
            return;
        }
        let (to, guard) = (self.long(), self.guard(always, j));
        self.put(format!("{guard}{instruction} {to}, {from}"));
        if byte == IMM {
            return;
        }
        let halves = [self.word(), self.word()];
        self.put(format!("mov.b64 {{{}, {}}}, {to}", halves[0], halves[1]));
        for (row, half) in (byte..).zip(halves) {
            self.set32(row, j, false, "mov.b32", &half);
        }
        if self.shared.is_some() {
            let guard = self.guard(true, j);
            self.note_set(Cell::Pair(byte), &guard);
        }
    }

    /// `@p ` for an item that must be active.
    pub(super) fn guard(&self, needed: bool, j: u32) -> String {
        match needed {
            true => format!("@{} ", self.active(j)),
            false => String::new(),
        }
    }

    /// Whether items that are not active here may still ask for what they have in these rows.
    fn keeps(&self, rows: Rows) -> bool {
        let asked = |pc: usize| self.live[pc].meets(rows);
        self.open.iter().any(|open| {
            let block = open.block;
            match block.kind {
                BlockKind::Loop => asked(block.at + 1) || asked(block.end + 1),
                BlockKind::If => {
                    let other = block.otherwise.filter(|_| !open.is_last);
                    asked(block.end) || other.is_some_and(|pc| asked(pc + 1))
                }
            }
        })
    }

    // Faults.

    /// Where any lane has a bad item, the fault is offered in the cold path, and the item is gone when the code goes
    /// on. `bad`: a predicate for each item.
    pub(super) fn fault(&mut self, bad: &[String], kind: TrapKind, index: Index, len: &str) {
        if self.sites.is_some() {
            return self.give_fault(&bad[0], kind, index, len);
        }
        if let Some(shared) = &self.shared {
            let redo = shared.redo.clone();
            let any = self.any(bad);
            return self.put(format!("@{any} bra.uni {redo}"));
        }
        if let Some(turn) = &self.lift_turn {
            // The plain loop will find the first one.
            let end = turn.end.clone();
            let any = self.any(bad);
            return self.put(format!("@{any} bra.uni {end}"));
        }
        let (cold, back) = (self.new_label(), self.new_label());
        let any = self.any(bad);
        self.put(format!("@{any} bra.uni {cold}"));
        self.label(&back);
        self.is_cold = true;
        self.label(&cold);
        self.mark();
        self.offer(bad, kind, index, len);
        self.remove(bad, 0, None);
        self.put(format!("bra.uni {back}"));
        self.is_cold = false;
    }

    /// The number in the bits of these items that a call takes them by.
    pub(super) fn bits(&mut self, items: &[String]) -> String {
        let mut all = String::new();
        for (j, item) in items.iter().enumerate() {
            let bit = self.word();
            self.put(format!("selp.b32 {bit}, {}, 0, {item}", 1 << j));
            all = match j {
                0 => bit,
                _ => {
                    let both = self.word();
                    self.put(format!("or.b32 {both}, {all}, {bit}"));
                    both
                }
            };
        }
        all
    }

    /// Calls the function that offers the trap of the lowest bad item.
    fn offer(&mut self, bad: &[String], kind: TrapKind, index: Index, len: &str) {
        let kind = (self.pc as u32) << 8 | kind as u32;
        let name = format!("_Z5faultILi{}EEvjjjjjjj", self.items);
        let call = |body: &mut Self, bad: &str, at: &str, value: &str, len: &str| {
            let id = body.id.to_string();
            let from = [&id, "%regs", &kind.to_string(), bad, at, value, len];
            body.call(&name, &from);
        };
        let shifted = |body: &mut Self, bits: String| {
            if body.together == body.items {
                return bits;
            }
            let to = body.word();
            body.put(format!("shl.b32 {to}, {bits}, %first"));
            to
        };
        let none = NONE.to_string();
        self.name_items();
        match index {
            Index::No => {
                let bits = self.bits(bad);
                let bits = shifted(self, bits);
                call(self, &bits, &none, "0", "0");
            }
            Index::A => {
                let byte = self.kernel.code[self.pc].a;
                let bits = self.bits(bad);
                let bits = shifted(self, bits);
                if byte >= UNIFORM_BASE {
                    let value = self.get32(byte, 0);
                    return call(self, &bits, &none, &value, len);
                }
                // The row's place in shared memory is the item's own.
                let mut row = u32::from(byte);
                if !self.arrays.has(byte) {
                    row = self.layout.fault_row(self.id, byte);
                    for j in 0..self.together {
                        let (value, at) = (self.get32(byte, j), row * self.row_bytes() + j * 4);
                        self.put(format!("st.shared.b32 [%at+{at}], {value}"));
                    }
                }
                let at = self.word();
                let row = row * self.row_bytes();
                self.put(format!("add.s32 {at}, %regs, {row}"));
                call(self, &bits, &at, "0", len);
            }
            Index::Registers(values, lens) => {
                for (j, bad) in bad.iter().enumerate() {
                    let bit = self.word();
                    self.put(format!("selp.b32 {bit}, {}, 0, {bad}", 1 << j));
                    let bit = shifted(self, bit);
                    call(self, &bit, &none, &values[j], &lens[j]);
                }
            }
        }
    }

    /// A call by all lanes of a function of 32-bit arguments that returns nothing.
    fn call(&mut self, name: &str, from: &[&str]) {
        self.put_block(|body| {
            for (i, from) in from.iter().enumerate() {
                body.put(format!(".param .b32 arg{i}"));
                body.put(format!("st.param.b32 [arg{i}], {from}"));
            }
            let names: Vec<String> = (0..from.len()).map(|i| format!("arg{i}")).collect();
            body.put(format!("call.uni {name}, ({})", names.join(", ")));
        });
    }

    /// Lines within braces, whose names are their own.
    pub(super) fn put_block(&mut self, lines: impl FnOnce(&mut Self)) {
        let brace = |body: &mut Self, brace: &str| {
            let out = if body.is_cold {
                &mut body.cold
            } else {
                &mut body.out
            };
            *out += brace;
        };
        brace(self, "\t{\n");
        lines(self);
        brace(self, "\t}\n");
    }

    /// Checks operand a against a resource's length, unless it is proved to be below.
    pub(super) fn check(&mut self, len: Fact) {
        let row = self.kernel.code[self.pc].a;
        let bound = match len {
            Fact::Len(id) => bound_of(self.program, self.program.buffers[usize::from(id)].extent)
                .unwrap_or(Bound::Buffer(id)),
            Fact::Edges(id) => Bound::Edges(id),
            Fact::Nodes(_) | Fact::Pushable(_) => Bound::Nodes,
            Fact::Data(_) | Fact::Offsets(_) | Fact::Targets(_) => {
                unreachable!("an address is no length")
            }
        };
        if self.proved.contains(&(row, bound)) {
            return;
        }
        let len = self.fact(len);
        self.check_below(&len);
        if row < UNIFORM_BASE {
            self.proved.insert((row, bound));
        }
    }

    /// Checks operand a against a number.
    pub(super) fn check_below(&mut self, len: &str) {
        let byte = self.kernel.code[self.pc].a;
        let bad: Vec<String> = (0..self.together)
            .map(|j| {
                let (bad, index) = (self.predicate(), self.get32(byte, j));
                let active = self.active(j);
                self.put(format!("setp.ge.and.u32 {bad}, {index}, {len}, {active}"));
                bad
            })
            .collect();
        self.fault(&bad, TrapKind::IndexOutOfBounds, Index::A, len);
    }

    /// The element that operand a names was loaded.
    pub(super) fn note_loaded(&mut self, w: &Word) {
        if w.a < UNIFORM_BASE {
            self.proved.insert((w.a, Bound::Loaded(w.resource())));
        }
    }

    /// Whether the element that operand a names was loaded not long ago.
    pub(super) fn was_loaded(&self, w: &Word) -> bool {
        self.proved.contains(&(w.a, Bound::Loaded(w.resource())))
    }

    /// The result of this word is a node.
    pub(super) fn prove_node(&mut self, row: u8) {
        self.proved.retain(|&(other, _)| other != row);
        self.proved.insert((row, Bound::Nodes));
    }
}

/// The length that indices of an extent are below.
fn bound_of(program: &Program, extent: Extent) -> Option<Bound> {
    match extent {
        Extent::Nodes => Some(Bound::Nodes),
        Extent::Edges(t) => Some(Bound::Edges(t.0)),
        Extent::Fixed(_)
        | Extent::Constant(_)
        | Extent::Scalar(_)
        | Extent::NodesPlusEdges
        | Extent::NodesTimes(_)
        | Extent::Computed(_)
        | Extent::Bounds(..)
        | Extent::NodeBits(_) => {
            let same = program.buffers.iter().position(|b| b.extent == extent);
            same.map(|id| Bound::Buffer(id as u16))
        }
    }
}

/// The register of what is loaded at the body's beginning.
fn hoisted_name(fact: Fact) -> String {
    match fact {
        Fact::Data(id) => format!("%data{id}"),
        Fact::Len(id) => format!("%len{id}"),
        Fact::Offsets(id) => format!("%offsets{id}"),
        Fact::Targets(id) => format!("%targets{id}"),
        Fact::Edges(id) => format!("%edges{id}"),
        Fact::Nodes(id) => format!("%nodes{id}"),
        Fact::Pushable(id) => format!("%pushable{id}"),
    }
}
