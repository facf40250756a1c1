//! The body of a kernel: its rows become variables, its blocks those of WGSL, and each word a line or a few.

use crate::layout::Layout;
use crate::shader::forms::{Form, form};
use crate::shader::helpers::Helpers;
use crate::shader::rows::{Home, Homes};
use vyre_core::vir0::flow::{Block, BlockKind, blocks, op};
use vyre_core::vir0::isa::{IMM, Imm, MAX_ROWS, Op, Slot, UNIFORM_BASE, Word};
use vyre_core::vir0::module::{Kernel, KernelId, Program, Uniform};
use vyre_core::vir0::scalar::Scalar;

/// One kernel on its way to text.
pub(super) struct Body<'a> {
    pub(super) program: &'a Program,
    pub(super) layout: &'a Layout,
    pub(super) helpers: &'a mut Helpers,
    id: KernelId,
    kernel: &'a Kernel,
    homes: Homes,
    blocks: Vec<Block>,
    text: String,
    indent: usize,
    /// Said at the end of the next line.
    pub(super) aside: Option<String>,
}

impl<'a> Body<'a> {
    /// The function of a kernel.
    pub(super) fn of(
        program: &'a Program,
        layout: &'a Layout,
        id: KernelId,
        helpers: &'a mut Helpers,
    ) -> String {
        let kernel = &program.kernels[id.index()];
        let mut body = Body {
            program,
            layout,
            helpers,
            id,
            kernel,
            homes: Homes::of(program, id),
            blocks: blocks(&kernel.code),
            text: String::new(),
            indent: 0,
            aside: None,
        };
        body.head();
        body.indent += 1;
        body.variables();
        body.code();
        body.indent -= 1;
        body.line("}");
        body.text
    }

    /// Whether the kernel is a condition: it has a value, and no item.
    fn is_condition(&self) -> bool {
        self.id.index() >= self.program.waves.len()
    }

    /// How the kernel is left where its item is done for.
    pub(super) fn leave(&self) -> &'static str {
        match self.is_condition() {
            true => "return 0u;",
            false => "return;",
        }
    }

    /// The fields of an item that the operator passes.
    fn fields(&self) -> &'a [Scalar] {
        match self.program.waves.get(self.id.index()) {
            Some(wave) => wave.domain.fields(self.program),
            None => &[],
        }
    }

    fn head(&mut self) {
        let (program, id) = (self.program, self.id);
        match program.waves.get(id.index()) {
            Some(wave) => {
                let of = wave.domain.written(
                    |resource| program.name_of(resource).to_owned(),
                    |extent| super::extent(program, extent),
                );
                self.line(&format!("// wave {}: {}", wave.name, of));
            }
            None => {
                let fixpoint = &program.fixpoints[id.index() - program.waves.len()];
                self.line(&format!(
                    "// until {}: {}",
                    fixpoint.name, fixpoint.condition
                ));
            }
        }
        for (slot, &uniform) in self.kernel.uniforms.iter().enumerate() {
            let name = uniform_name(program, uniform);
            self.line(&format!("// u{}_{slot}: {name}", id.0));
        }
        let open = match self.is_condition() {
            true => format!("fn kernel_{}() -> u32 {{", id.0),
            false => {
                let mut parameters = String::from("index: u32, src: u32, dst: u32");
                for (k, &field) in self.fields().iter().enumerate() {
                    parameters.push_str(&format!(", f{k}: {}", super::type_of(field)));
                }
                format!("fn kernel_{}({parameters}) {{", id.0)
            }
        };
        self.line(&open);
    }

    /// Declares the rows, and puts the item into its own.
    fn variables(&mut self) {
        for line in self.homes.declarations() {
            self.line(&line);
        }
        for block in self.blocks.clone() {
            for flag in self.flags(block) {
                self.line(&format!("var {flag}: bool;"));
            }
        }
        let item = self.kernel.item;
        let numbers = [(item.index, "index"), (item.src, "src"), (item.dst, "dst")];
        for (row, name) in numbers {
            if let Some(row) = row {
                self.set32(row, name);
            }
        }
        for (k, &field) in self.fields().iter().enumerate() {
            match (item.fields[k], field.rows()) {
                (Some(row), 1) => self.set32(row, &format!("f{k}")),
                (Some(row), _) => self.set64(row, &format!("f{k}")),
                (None, _) => {}
            }
        }
    }

    /// Each word, but for those that nothing reaches.
    fn code(&mut self) {
        let code = &self.kernel.code;
        let last = code.len() - 1;
        let mut pc = 0;
        while pc < code.len() {
            let word = code[pc];
            // The end of the function says as much.
            let at_end = pc == last && op(&word) == Op::Ret;
            let leaves = !at_end && self.word(pc, word);
            pc = match leaves {
                true => self.next_reached(pc),
                false => pc + 1,
            };
        }
    }

    /// The next end of a block, or its `else`: what is between nobody reaches.
    fn next_reached(&self, pc: usize) -> usize {
        let ends = |b: &Block| [b.otherwise, Some(b.end)];
        let around = self.blocks.iter().filter(|b| b.holds(pc)).flat_map(ends);
        let next = around.flatten().filter(|&at| at > pc).min();
        next.unwrap_or(self.kernel.code.len())
    }

    /// The block that a word opens, divides or closes.
    fn block(&self, pc: usize) -> Block {
        let of = |b: &&Block| b.at == pc || b.end == pc || b.otherwise == Some(pc);
        *self.blocks.iter().find(of).expect("verified blocks nest")
    }

    /// The loop that is so many loops out of a word.
    fn loop_around(&self, pc: usize, out: u32) -> Block {
        let loops = |b: &&Block| b.kind == BlockKind::Loop && b.holds(pc);
        let mut around = self.blocks.iter().rev().filter(loops);
        *around
            .nth(out as usize)
            .expect("verified jumps stay inside")
    }

    /// Breaks and continues from inner loops to a loop: what they set before they leave the loop that they stand in.
    fn jumps(&self, to: Block, from: Block) -> [Option<String>; 2] {
        let jumps = |wanted: &[Op]| {
            (from.at..from.end).any(|pc| {
                let word = self.kernel.code[pc];
                wanted.contains(&op(&word))
                    && word.imm > 0
                    && self.loop_around(pc, word.imm).at == to.at
            })
        };
        let breaks = jumps(&[Op::Break, Op::BreakIf, Op::BreakUnless]);
        [
            breaks.then(|| format!("break_{}", to.at)),
            jumps(&[Op::Continue]).then(|| format!("continue_{}", to.at)),
        ]
    }

    /// The flags of a loop that inner ones jump to.
    fn flags(&self, of: Block) -> Vec<String> {
        match of.kind {
            BlockKind::If => Vec::new(),
            BlockKind::Loop => self.jumps(of, of).into_iter().flatten().collect(),
        }
    }

    /// One word. Whether the item never comes to what is behind it.
    fn word(&mut self, pc: usize, word: Word) -> bool {
        let op = op(&word);
        let form = form(op);
        let at = pc as u32;
        match form {
            Form::Same
            | Form::Uniform
            | Form::Select
            | Form::Infix(_)
            | Form::Compare(_)
            | Form::CompareSigned(_)
            | Form::Builtin(_)
            | Form::Shift(_)
            | Form::ShiftSigned
            | Form::Extend
            | Form::Low
            | Form::Call => self.value(op, word, form),
            Form::Divide => return self.divide(at, op, word),
            Form::RowLoad | Form::RowStore | Form::RowFill => self.array(at, op, word, form),
            Form::Load
            | Form::Store
            | Form::Length
            | Form::AtomicLoad
            | Form::AtomicStore
            | Form::Atomic(_)
            | Form::AtomicLoop(_)
            | Form::CompareExchange => self.buffer(at, op, word, form),
            Form::CsrBegin | Form::CsrEnd | Form::CsrTarget => self.topology(at, word, form),
            Form::Push => self.push(at, word),
            Form::Reduce => self.reduce(op, word),
            Form::Append | Form::PushItem => self.reserve(word, form),
            Form::ListStore | Form::ItemStore => self.set_field(op, word, form),
            Form::Assert | Form::Check => self.check(at, word, form),
            Form::Trap => {
                self.fault(at, word.imm);
                return true;
            }
            Form::If => {
                let a = self.get32(word, word.a);
                self.open(&format!("if {a} != 0u {{"));
            }
            Form::Else => {
                self.indent -= 1;
                self.open("} else {");
            }
            Form::EndIf => self.close(),
            Form::Loop => self.begin_loop(self.block(pc)),
            Form::EndLoop => {
                self.close();
                self.behind_loop(self.block(pc));
            }
            Form::Break | Form::Continue => {
                self.jump(pc, word.imm, form);
                return true;
            }
            Form::BreakIf | Form::BreakUnless => {
                let a = self.get32(word, word.a);
                let is = if form == Form::BreakIf { "!=" } else { "==" };
                self.open(&format!("if {a} {is} 0u {{"));
                self.jump(pc, word.imm, Form::Break);
                self.close();
            }
            Form::Ret => {
                self.line("return;");
                return true;
            }
            Form::RetV => {
                let a = self.get32(word, word.a);
                self.line(&format!("return {a};"));
                return true;
            }
        }
        false
    }

    /// The head of a loop. A body that runs for too long is left.
    fn begin_loop(&mut self, begins: Block) {
        let [breaks, continues] = self.jumps(begins, begins);
        if let Some(flag) = breaks {
            self.line(&format!("{flag} = false;"));
        }
        self.open("loop {");
        let leave = self.leave();
        self.line(&format!("if !turn() {{ {leave} }}"));
        if let Some(flag) = continues {
            self.line(&format!("{flag} = false;"));
        }
    }

    /// A break or continue, so many loops out.
    fn jump(&mut self, pc: usize, out: u32, how: Form) {
        let how = if how == Form::Continue {
            "continue"
        } else {
            "break"
        };
        if out == 0 {
            return self.line(&format!("{how};"));
        }
        let to = self.loop_around(pc, out);
        self.line(&format!("{how}_{} = true;", to.at));
        self.line("break;");
    }

    /// What inner loops are left for.
    fn behind_loop(&mut self, ended: Block) {
        let around = self.blocks.iter().rev();
        let around: Vec<Block> = around
            .filter(|b| b.kind == BlockKind::Loop && b.holds(ended.at))
            .copied()
            .collect();
        for (nth, &to) in around.iter().enumerate() {
            let [breaks, continues] = self.jumps(to, ended);
            for (flag, own) in [(breaks, "break;"), (continues, "continue;")] {
                let Some(flag) = flag else { continue };
                // A loop between is left as well, for the same reason.
                let how = if nth == 0 { own } else { "break;" };
                self.line(&format!("if {flag} {{ {how} }}"));
            }
        }
    }

    pub(super) fn open(&mut self, line: &str) {
        self.line(line);
        self.indent += 1;
    }

    pub(super) fn close(&mut self) {
        self.indent -= 1;
        self.line("}");
    }

    /// A line of text, with what is to be said beside it.
    pub(super) fn line(&mut self, line: &str) {
        self.text.push_str(&"    ".repeat(self.indent));
        self.text.extend(line.chars().map(plain));
        if let Some(aside) = self.aside.take() {
            self.text.push_str(" // ");
            self.text.extend(aside.chars().map(plain));
        }
        self.text.push('\n');
    }

    /// A 32-bit operand.
    pub(super) fn get32(&self, word: Word, operand: u8) -> String {
        match operand {
            IMM => format!("{}u", word.imm),
            UNIFORM_BASE.. => format!("u{}_{}.x", self.id.0, usize::from(operand) - MAX_ROWS),
            row => self.homes.word(row),
        }
    }

    /// A 64-bit operand.
    pub(super) fn get64(&self, word: Word, operand: u8) -> String {
        match operand {
            IMM => pair(word.imm as i32 as i64 as u64),
            UNIFORM_BASE.. => format!("u{}_{}", self.id.0, usize::from(operand) - MAX_ROWS),
            row => match self.homes.home(row) {
                Home::Pair => self.homes.name(row),
                _ => format!(
                    "vec2({}, {})",
                    self.homes.word(row),
                    self.homes.word(row + 1)
                ),
            },
        }
    }

    /// An operand of a width.
    pub(super) fn get(&self, word: Word, slot: Slot, operand: u8) -> String {
        match slot {
            Slot::D | Slot::OptD => self.get64(word, operand),
            Slot::N | Slot::W | Slot::OptW => self.get32(word, operand),
        }
    }

    /// Sets a row.
    pub(super) fn set32(&mut self, operand: u8, value: &str) {
        match operand {
            IMM => self.line(&format!("_ = {value};")),
            row => {
                let row = self.homes.word(row);
                self.line(&format!("{row} = {value};"));
            }
        }
    }

    /// Sets two rows.
    pub(super) fn set64(&mut self, operand: u8, value: &str) {
        match operand {
            IMM => self.line(&format!("_ = {value};")),
            row if self.homes.home(row) == Home::Pair => {
                let row = self.homes.name(row);
                self.line(&format!("{row} = {value};"));
            }
            row => {
                let (low, high) = (self.homes.word(row), self.homes.word(row + 1));
                self.line(&format!(
                    "{{ let d = {value}; {low} = d.x; {high} = d.y; }}"
                ));
            }
        }
    }

    /// Sets what a word's destination is.
    pub(super) fn set(&mut self, word: Word, slot: Slot, value: &str) {
        match slot {
            Slot::D | Slot::OptD => self.set64(word.d, value),
            Slot::N | Slot::W | Slot::OptW => self.set32(word.d, value),
        }
    }

    /// The third operand.
    pub(super) fn third(&self, op: Op, word: Word) -> Option<String> {
        let row = op.row();
        match row.imm {
            Imm::Third => Some(self.get(word, row.d, word.third())),
            Imm::ResourceThird(_) => Some(self.get(word, row.b, word.third())),
            _ => None,
        }
    }

    /// The slot of the uniform table that a word names.
    pub(super) fn uniform(&self, slot: u32) -> String {
        format!("u{}_{slot}", self.id.0)
    }

    /// An element of a local array of single rows, or the low row of a pair of rows.
    pub(super) fn element(&self, first: u8, index: &str) -> String {
        self.homes.element(first, index)
    }
}

/// A pair of literals.
pub(super) fn pair(bits: u64) -> String {
    format!("vec2({}u, {}u)", bits as u32, bits >> 32)
}

/// Names of a program can be anything: in a comment, nothing may end the line.
fn plain(c: char) -> char {
    match c {
        ' '..='~' => c,
        c if c.is_alphanumeric() => c,
        _ => '?',
    }
}

fn uniform_name(program: &Program, uniform: Uniform) -> String {
    match uniform {
        Uniform::Scalar(s) => program.scalars[s.index()].name.clone(),
        Uniform::Constant(c) => {
            let constant = program.constants[c.index()];
            format!(
                "{}{}",
                constant.scalar.show(constant.bits),
                constant.scalar.name()
            )
        }
        Uniform::Reduction(r) => program.reductions[r.index()].name.clone(),
        Uniform::Round => "round".to_owned(),
        Uniform::FrontierLen(f) => format!("len({})", program.frontiers[f.index()].name),
        Uniform::Nodes => "nodes".to_owned(),
        Uniform::ListLen(l) => format!("len({})", program.lists[l.index()].name),
    }
}
