//! Loops whose turns can go in any order ([`find`]), shared out among the warp's lanes where an item has many: a hub's
//! neighbours do not keep 31 lanes waiting.
//!
//! Before such a loop, items whose turns are many, measured by the lanes that have an item, are taken one by one. All
//! lanes get what the item's lane has in the rows that the loop reads; then each lane takes every 32nd turn, with cells
//! of its own, which begin with what changes nothing. Afterwards the cells are taken together and the item's lane goes on
//! with the result. All other items, and whatever is left, go through the loop as it stands.
//!
//! Where a turn faults, or leaves the loop, what this group of 32 turns did to cells is forgotten, and the loop as it
//! stands goes on with the group's first turn: it finds the turn that faults or leaves first. Nothing was done to memory
//! by then that cannot be done twice: turns that leave do so before they change anything, and a trap ends the run.
//!
//! The code of a turn is that of the loop, for one item a lane, whose registers have names of their own (`%sw3_0` beside
//! `%w3_0`).

use super::blocks::Open;
use super::body::{Body, arrays, is_wide, operands};
use std::fmt::Write;
use vyre_core::vir0::find::{self, Cell, Combine, Turns};
use vyre_core::vir0::flow::{Block, Rows, defs, effect, rows_of, uses, writes};
use vyre_core::vir0::isa::{Effect, IMM, Op, Slot, UNIFORM_BASE, Word};
use vyre_core::vir0::module::{BufferId, Kernel, Program, Resource};

/// The warp never takes an item's turns together where there are fewer. Otherwise it does from twice as many turns on as
/// lanes would go through the loop side by side: the fewer lanes have an item, the shorter the loops that pay.
const FEWEST: u32 = 16;

/// The loop that is being shared out.
#[derive(Clone, Debug)]
pub(super) struct Shared {
    turns: Turns,
    /// Pc of its `loop`.
    pub(super) at: usize,
    /// Where a group of turns goes that is to be done again.
    pub(super) redo: String,
}

/// The loops of a kernel that can be shared out here, by the pc of their `loop`.
pub(super) fn loops(program: &Program, kernel: &Kernel, wide: Rows) -> Vec<(usize, Turns)> {
    let code = &kernel.code;
    let fits = |at: usize, end: usize, turns: &Turns| {
        // A row that a local array has anywhere in the body lies in memory, and a warp's lanes get registers.
        let rows = code[at..end].iter().map(|w| uses(w).or(writes(w)));
        let arrays = rows.fold(Rows::NONE, Rows::or).meets(arrays(code));
        let whole = turns.cells.iter().all(|(cell, _)| match cell {
            Cell::Pair(row) => wide.has(*row) || stays_pair(&code[at..end], *row),
            Cell::Row(row) => !wide.has(*row) && (*row == 0 || !wide.has(row - 1)),
            Cell::Element(_) => true,
        });
        // Sums of floats are in the order of every other route.
        !turns.rounds
            && !arrays
            && whole
            && turns.cells.iter().all(|c| is_noticed(&code[at..end], c))
    };
    let loops = find::loops(program, kernel).into_iter();
    loops
        .filter_map(|l| Some((l.at, l.end, l.turns.ok()?)))
        .filter(|(at, end, turns)| fits(*at, *end, turns))
        .map(|(at, _, turns)| (at, turns))
        .collect()
}

/// Whether each write to a cell that turns set is seen to set it: what is in it goes nowhere else, and comes back from
/// nowhere.
fn is_noticed(code: &[Word], (cell, how): &(Cell, Combine)) -> bool {
    let reads = |w: &Word| match cell {
        Cell::Row(row) | Cell::Pair(row) => uses(w).has(*row),
        Cell::Element(b) => effect(w) == Effect::Load && w.names() == Some(Resource::Buffer(*b)),
    };
    matches!(how, Combine::Take(_)) || !code.iter().any(reads)
}

/// Whether no word takes a pair of rows apart.
fn stays_pair(code: &[Word], row: u8) -> bool {
    let all = code.iter().flat_map(operands);
    let mut touching = all.filter(|&(slot, byte)| {
        let rows = rows_of(slot, byte);
        rows.has(row) || rows.has(row + 1)
    });
    touching.all(|(slot, byte)| is_wide(slot) && byte == row)
}

/// A cell's registers.
struct Own {
    cell: Cell,
    how: Combine,
    is_wide: bool,
    /// What the lane has; what it had when the group began; what was there before the loop.
    name: String,
    /// Where turns have it in two registers, because elsewhere in the body words take the pair apart: these.
    halves: Option<[String; 2]>,
    kept: String,
    before: String,
    /// The turn that set it last, counted from 1; and the same when the group began.
    set: Option<[String; 2]>,
}

impl Body<'_> {
    /// The name of a cell that is an element, while its loop is shared out.
    fn element_name(buffer: u16) -> String {
        format!("%sc{buffer}")
    }

    /// Declares what is named by cells.
    pub(super) fn declare_shared(&self, out: &mut String) {
        let mut names = std::collections::BTreeMap::new();
        for (_, turns) in &self.shareable {
            for &(cell, how) in &turns.cells {
                if let Cell::Element(b) = cell {
                    let wide = self.program.buffers[b.index()].scalar.size_bytes() == 8;
                    names.insert(Self::element_name(b.0), if wide { "b64" } else { "b32" });
                }
                if !matches!(how, Combine::Take(_)) {
                    names.insert(set_name(cell), "b32");
                }
            }
        }
        if !self.shareable.is_empty() {
            names.insert("%sturn".to_owned(), "b32");
        }
        for (name, ty) in names {
            writeln!(out, "\t.reg .{ty} {name};").expect("writing to a string succeeds");
        }
    }

    /// The register in which the loop that is shared out has the element that a word accesses.
    pub(super) fn shared_element(&self, w: &Word) -> Option<String> {
        let shared = self.shared.as_ref()?;
        let cell = Cell::Element(BufferId(w.resource()));
        let is_cell = shared.turns.cells.iter().any(|(c, _)| *c == cell);
        is_cell.then(|| Self::element_name(w.resource()))
    }

    /// Notes that a turn sets a cell.
    pub(super) fn note_set(&mut self, cell: Cell, guard: &str) {
        let Some(shared) = &self.shared else { return };
        let by_turn = |(c, how): &(Cell, Combine)| *c == cell && !matches!(how, Combine::Take(_));
        if shared.turns.cells.iter().any(by_turn) {
            let name = set_name(cell);
            self.put(format!("{guard}mov.b32 {name}, %sturn"));
        }
    }

    /// Shares the loop that begins here out, where it can be.
    pub(super) fn share_turns(&mut self, block: Block) {
        let here = |(at, _): &&(usize, Turns)| *at == block.at;
        let Some((_, turns)) = self.shareable.iter().find(here).cloned() else {
            return;
        };
        if self.shared.is_some() || self.sites.is_some() || self.lift_turn.is_some() {
            return;
        }
        let n = self.together;
        let code = &self.kernel.code;
        let word = code[block.at + 1];
        let (done, next, redo, took) = (
            self.new_label(),
            self.new_label(),
            self.new_label(),
            self.new_label(),
        );

        // Who has many turns.
        let (from, mut counts) = (self.word(), Vec::new());
        self.put(format!("mov.b32 {from}, 0"));
        for j in 0..n {
            let (number, below) = (
                self.row_name(turns.number, j),
                self.operand(&word, turns.below, j),
            );
            let (count, some, active) = (self.word(), self.predicate(), self.active(j));
            self.put(format!(
                "setp.lt.and.u32 {some}, {number}, {below}, {active}"
            ));
            self.put(format!("sub.s32 {count}, {below}, {number}"));
            let (lanes, more) = (self.word(), self.word());
            self.put(format!("vote.sync.ballot.b32 {lanes}, {some}, 0xffffffff"));
            self.put(format!("popc.b32 {more}, {lanes}"));
            self.put(format!("max.u32 {from}, {from}, {more}"));
            counts.push((count, some));
        }
        self.put(format!("add.s32 {from}, {from}, {from}"));
        self.put(format!("max.u32 {from}, {from}, {FEWEST}"));
        let mut long = Vec::new();
        for (count, some) in counts {
            let many = self.predicate();
            self.put(format!("setp.ge.and.u32 {many}, {count}, {from}, {some}"));
            long.push(many);
        }
        let any = self.any(&long);
        self.put(format!("@!{any} bra.uni {done}"));
        let lane = self.word();
        self.put(format!("mov.u32 {lane}, %tid.x"));
        self.put(format!("and.b32 {lane}, {lane}, 31"));
        let waiting: Vec<String> = long
            .iter()
            .map(|many| {
                let waiting = self.word();
                self.put(format!(
                    "vote.sync.ballot.b32 {waiting}, {many}, 0xffffffff"
                ));
                waiting
            })
            .collect();

        // The next one: its lane, and which of that lane's items it is.
        self.label(&next);
        let (mask, which, owner, none) = (self.word(), self.word(), self.word(), self.predicate());
        self.put(format!("mov.b32 {mask}, {}", waiting[0]));
        self.put(format!("mov.b32 {which}, 0"));
        for (j, waiting) in waiting.iter().enumerate().skip(1) {
            let empty = self.predicate();
            self.put(format!("setp.eq.s32 {empty}, {mask}, 0"));
            self.put(format!("@{empty} mov.b32 {mask}, {waiting}"));
            self.put(format!("@{empty} mov.b32 {which}, {j}"));
        }
        self.put(format!("setp.eq.s32 {none}, {mask}, 0"));
        self.put(format!("@{none} bra.uni {done}"));
        let lowest = self.word();
        self.put(format!("neg.s32 {lowest}, {mask}"));
        self.put(format!("and.b32 {lowest}, {lowest}, {mask}"));
        self.put(format!("bfind.u32 {owner}, {lowest}"));
        let mut mine = Vec::new();
        for (j, waiting) in waiting.iter().enumerate() {
            let (is, own) = (self.predicate(), self.predicate());
            self.put(format!("setp.eq.s32 {is}, {which}, {j}"));
            self.put(format!("@{is} xor.b32 {waiting}, {waiting}, {lowest}"));
            self.put(format!("setp.eq.and.s32 {own}, {lane}, {owner}, {is}"));
            mine.push((is, own));
        }

        // What it has, for all lanes.
        let body = &code[block.at + 1..block.end];
        let read = body.iter().fold(Rows::NONE, |rows, w| rows.or(uses(w)));
        let mut read = read.and(self.live[block.at + 1]);
        for (cell, _) in &turns.cells {
            match cell {
                Cell::Row(row) => read.add(*row),
                Cell::Pair(row) => read = read.or(rows_of(Slot::D, *row)),
                Cell::Element(_) => {}
            }
        }
        let mut given: Vec<(u8, String)> = Vec::new();
        for row in read.iter().filter(|&row| row < UNIFORM_BASE) {
            if row > 0 && self.wide.has(row - 1) {
                continue;
            }
            let to = match self.wide.has(row) {
                true => self.broadcast_wide(row, &mine, &owner),
                false => self.broadcast(row, &mine, &owner),
            };
            given.push((row, to));
        }
        let found = |row: u8| {
            given
                .iter()
                .find(|(r, _)| *r == row)
                .map(|(_, name)| name.clone())
        };
        let below = match turns.below {
            IMM => format!("{:#x}", turns.literal),
            row if row < UNIFORM_BASE => found(row).expect("the loop's head reads it"),
            uniform => format!("%u{}", uniform - UNIFORM_BASE),
        };
        let first = found(turns.number).expect("the loop's head reads it");

        // From here on names are those of turns.
        let outside = (
            self.together,
            self.proved.clone(),
            self.known.clone(),
            self.pc,
        );
        self.set = "s";
        self.together = 1;
        for (row, from) in &given {
            let (ty, to) = match self.wide.has(*row) {
                true => ("b64", self.wide_name(*row, 0)),
                false => ("b32", self.row_name(*row, 0)),
            };
            self.put(format!("mov.{ty} {to}, {from}"));
        }
        let cells = self.begin_cells(&turns, &given, (&mine, &next));
        let (group, number) = (self.word(), self.row_name(turns.number, 0));
        self.put(format!("mov.b32 {group}, {first}"));
        let depth = self.depth() + 1;
        self.forget_in(block.at, block.end);
        self.push_open(block);
        self.shared = Some(Shared {
            turns: turns.clone(),
            at: block.at,
            redo: redo.clone(),
        });
        let (head, active) = (self.new_label(), format!("%sa{depth}_0"));
        self.label(&head);
        let over = self.predicate();
        self.put(format!("setp.ge.u32 {over}, {group}, {below}"));
        self.put(format!("@{over} bra.uni {took}"));
        self.put(format!("add.s32 {number}, {group}, {lane}"));
        // The end may be so high that the last lanes' numbers wrap.
        let left = self.word();
        self.put(format!("sub.s32 {left}, {below}, {group}"));
        self.put(format!("setp.lt.u32 {active}, {lane}, {left}"));
        if let Some(other) = self.counted_elsewhere(&turns) {
            self.put(format!("mov.b32 {other}, {below}"));
        }
        let turn = self.word();
        self.put(format!("sub.s32 {turn}, {number}, {first}"));
        self.put(format!("add.s32 %sturn, {turn}, 1"));
        for own in &cells {
            self.join_halves(own);
            self.put(format!("mov.{} {}, {}", own.ty(), own.kept, own.name));
            if let Some([set, kept]) = &own.set {
                self.put(format!("mov.b32 {kept}, {set}"));
            }
        }
        self.code_of(block.at + 3..block.end - 1);
        let Open { inner, outer, .. } = self.open.pop().expect("it was pushed");
        self.label(&inner);
        self.label(&outer);
        self.look_at_abort(block.end - block.at);
        let (past, last) = (self.word(), self.predicate());
        self.put(format!("sub.s32 {past}, {below}, {group}"));
        self.put(format!("setp.le.u32 {last}, {past}, 32"));
        self.put(format!("@{last} mov.b32 {group}, {below}"));
        self.put(format!("@!{last} add.s32 {group}, {group}, 32"));
        self.put(format!("bra.uni {head}"));

        self.label(&redo);
        for own in &cells {
            self.put(format!("mov.{} {}, {}", own.ty(), own.name, own.kept));
            self.part_halves(own);
            if let Some([set, kept]) = &own.set {
                self.put(format!("mov.b32 {set}, {kept}"));
            }
        }
        self.label(&took);
        cells.iter().for_each(|own| self.join_halves(own));
        self.shared = None;
        let after = self.take_cells_together(&cells, (&lane, &given));
        self.set = "";
        let (together, proved, known, pc) = outside;
        (self.together, self.pc) = (together, pc);
        (self.proved, self.known) = (proved, known);
        for (j, (_, own)) in (0..n).zip(&mine) {
            let number = self.row_name(turns.number, j);
            self.put(format!("@{own} mov.b32 {number}, {group}"));
            for (of, value) in cells.iter().zip(&after) {
                match of.cell {
                    Cell::Row(row) => {
                        let to = self.row_name(row, j);
                        self.put(format!("@{own} mov.b32 {to}, {value}"));
                    }
                    Cell::Pair(row) => {
                        let to = match self.wide.has(row) {
                            true => self.wide_name(row, j),
                            false => both(&self.halves_of(row, j)),
                        };
                        self.put(format!("@{own} mov.b64 {to}, {value}"));
                    }
                    Cell::Element(b) => self.store_element(block, (b, j), own, value),
                }
            }
        }
        self.put(format!("bra.uni {next}"));
        self.label(&done);
    }

    /// A row with the end of the turns' numbers, which a turn that leaves may take for something else.
    fn counted_elsewhere(&self, turns: &Turns) -> Option<String> {
        (turns.below < UNIFORM_BASE).then(|| self.row_name(turns.below, 0))
    }

    /// An operand of a word for item `j`.
    fn operand(&mut self, word: &Word, byte: u8, j: u32) -> String {
        match byte {
            IMM => format!("{:#x}", word.imm),
            row if row < UNIFORM_BASE => match self.known.get(&row) {
                Some(known) => format!("{known:#x}"),
                None => self.row_name(row, j),
            },
            uniform => format!("%u{}", uniform - UNIFORM_BASE),
        }
    }

    /// What the owner has in a row, for all lanes.
    fn broadcast(&mut self, row: u8, mine: &[(String, String)], owner: &str) -> String {
        let to = self.word();
        if let Some(known) = self.known.get(&row) {
            let known = format!("mov.b32 {to}, {known:#x}");
            self.put(known);
            return to;
        }
        for (j, (is, _)) in (0u32..).zip(mine) {
            let from = self.row_name(row, j);
            self.put(format!("@{is} mov.b32 {to}, {from}"));
        }
        self.put(format!(
            "shfl.sync.idx.b32 {to}, {to}, {owner}, 31, 0xffffffff"
        ));
        to
    }

    fn broadcast_wide(&mut self, row: u8, mine: &[(String, String)], owner: &str) -> String {
        let to = self.long();
        for (j, (is, _)) in (0u32..).zip(mine) {
            let from = self.wide_name(row, j);
            self.put(format!("@{is} mov.b64 {to}, {from}"));
        }
        self.shuffle_wide(&to, "idx", &format!("{owner}, 31"))
    }

    fn shuffle_wide(&mut self, from: &str, kind: &str, by: &str) -> String {
        let (halves, to) = ([self.word(), self.word()], self.long());
        self.put(format!("mov.b64 {{{}, {}}}, {from}", halves[0], halves[1]));
        for half in &halves {
            self.put(format!(
                "shfl.sync.{kind}.b32 {half}, {half}, {by}, 0xffffffff"
            ));
        }
        self.put(format!("mov.b64 {to}, {{{}, {}}}", halves[0], halves[1]));
        to
    }

    /// The element of a buffer that is a cell of the loop: its address, for item `j`, and whether there is none.
    fn element_of(&mut self, block: Block, buffer: BufferId, j: u32) -> (String, String) {
        let own = |w: &&Word| {
            let plain = matches!(effect(w), Effect::Load | Effect::Store);
            plain && w.names() == Some(Resource::Buffer(buffer))
        };
        let code = &self.kernel.code[block.at..block.end];
        let word = *code.iter().find(own).expect("the loop accesses it");
        let size = self.program.buffers[buffer.index()].scalar.size_bytes();
        let index = self.operand(&word, word.a, j);
        let len = self.fact(super::body::Fact::Len(buffer.0));
        let base = self.fact(super::body::Fact::Data(buffer.0));
        let (at, none) = (self.long(), self.predicate());
        self.put(format!("mad.wide.u32 {at}, {index}, {size}, {base}"));
        self.put(format!("setp.ge.u32 {none}, {index}, {len}"));
        (at, none)
    }

    fn store_element(
        &mut self,
        block: Block,
        (buffer, j): (BufferId, u32),
        own: &str,
        value: &str,
    ) {
        let (at, _) = self.element_of(block, buffer, j);
        let ty = element_ty(self.program, buffer);
        self.put(format!("@{own} st.global.{ty} [{at}], {value}"));
    }

    /// Each lane's cells as they begin. An item without the element that is a cell goes on by itself.
    fn begin_cells(
        &mut self,
        turns: &Turns,
        given: &[(u8, String)],
        (_, next): (&[(String, String)], &str),
    ) -> Vec<Own> {
        let block = self.block_at(self.pc);
        let mut cells = Vec::new();
        for &(cell, how) in &turns.cells {
            let found = |row: u8| {
                let found = given.iter().find(|(r, _)| *r == row);
                found.map(|(_, name)| name.clone())
            };
            let (is_wide, name, halves) = match cell {
                Cell::Row(row) => (false, self.row_name(row, 0), None),
                Cell::Pair(row) if self.wide.has(row) => (true, self.wide_name(row, 0), None),
                Cell::Pair(row) => (true, self.long(), Some(self.halves_of(row, 0))),
                Cell::Element(b) => {
                    let wide = self.program.buffers[b.index()].scalar.size_bytes() == 8;
                    (wide, Self::element_name(b.0), None)
                }
            };
            let register = |body: &mut Self| if is_wide { body.long() } else { body.word() };
            let kept = register(self);
            let before = match cell {
                Cell::Pair(row) if halves.is_some() => {
                    let before = self.long();
                    let given = [row, row + 1].map(|r| found(r).expect("both halves are given"));
                    self.put(format!("mov.b64 {before}, {}", both(&given)));
                    Some(before)
                }
                Cell::Row(row) | Cell::Pair(row) => found(row),
                Cell::Element(b) => {
                    let (at, none) = self.element_of(block, b, 0);
                    self.put(format!("@{none} bra.uni {next}"));
                    let before = register(self);
                    let ty = element_ty(self.program, b);
                    self.put(format!("ld.global.{ty} {before}, [{at}]"));
                    Some(before)
                }
            };
            let before = before.expect("all cells are given");
            let ty = if is_wide { "b64" } else { "b32" };
            let begin = match how {
                Combine::Take(op) => nothing(op).to_owned(),
                Combine::Set | Combine::Last | Combine::Along(..) => before.clone(),
            };
            self.put(format!("mov.{ty} {name}, {begin}"));
            let set = (!matches!(how, Combine::Take(_))).then(|| {
                let (set, kept) = (set_name(cell), self.word());
                self.put(format!("mov.b32 {set}, 0"));
                [set, kept]
            });
            cells.push(Own {
                cell,
                how,
                is_wide,
                name,
                kept,
                before,
                set,
                halves,
            });
            self.part_halves(&cells[cells.len() - 1]);
        }
        cells
    }

    /// The registers of a pair that words take apart.
    fn halves_of(&self, row: u8, j: u32) -> [String; 2] {
        [self.row_name(row, j), self.row_name(row + 1, j)]
    }

    /// Takes what turns left in two registers into the cell's.
    fn join_halves(&mut self, own: &Own) {
        if let Some(halves) = &own.halves {
            self.put(format!("mov.b64 {}, {}", own.name, both(halves)));
        }
    }

    /// Puts what the cell has where turns look for it.
    fn part_halves(&mut self, own: &Own) {
        if let Some(halves) = &own.halves {
            self.put(format!("mov.b64 {}, {}", both(halves), own.name));
        }
    }

    /// What the loop leaves in each cell, known to all lanes.
    fn take_cells_together(&mut self, cells: &[Own], _: (&str, &[(u8, String)])) -> Vec<String> {
        // What values were taken into first: others go along with it.
        let mut totals: Vec<Option<[String; 2]>> = Vec::new();
        for own in cells {
            totals.push(match own.how {
                Combine::Take(op) => {
                    let all = self.reduce_warp(op, &own.name, own.is_wide);
                    let after = if own.is_wide {
                        self.long()
                    } else {
                        self.word()
                    };
                    self.put(format!(
                        "{} {after}, {}, {all}",
                        instruction(op),
                        own.before
                    ));
                    Some([all, after])
                }
                Combine::Set | Combine::Last | Combine::Along(..) => None,
            });
        }
        let mut after = Vec::new();
        for (own, total) in cells.iter().zip(&totals) {
            let value = match (own.how, total) {
                (Combine::Take(_), Some([_, after])) => after.clone(),
                (Combine::Along(with, is_late), _) => {
                    let at = cells
                        .iter()
                        .position(|c| c.cell == with)
                        .expect("it is a cell");
                    let [all, new] = totals[at].as_ref().expect("values are taken into it");
                    self.value_along(own, (&cells[at], all, new), is_late)
                }
                _ => {
                    let [set, _] = own.set.as_ref().expect("it is set by turns");
                    let turn = self.word();
                    self.put(format!("redux.sync.max.u32 {turn}, {set}, 0xffffffff"));
                    let some = self.predicate();
                    self.put(format!("setp.ne.s32 {some}, {turn}, 0"));
                    self.value_of_turn(own, &turn, &some)
                }
            };
            after.push(value);
        }
        after
    }

    /// The value of the lane that set a cell in a turn, if there is such a turn.
    fn value_of_turn(&mut self, own: &Own, turn: &str, some: &str) -> String {
        let [set, _] = own.set.as_ref().expect("it is set by turns");
        let (is, lanes, lane) = (self.predicate(), self.word(), self.word());
        self.put(format!("setp.eq.s32 {is}, {set}, {turn}"));
        self.put(format!("vote.sync.ballot.b32 {lanes}, {is}, 0xffffffff"));
        let low = self.word();
        self.put(format!("neg.s32 {low}, {lanes}"));
        self.put(format!("and.b32 {low}, {low}, {lanes}"));
        self.put(format!("bfind.u32 {lane}, {low}"));
        let by = format!("{lane}, 31");
        let (ty, value) = match own.is_wide {
            true => ("b64", self.shuffle_wide(&own.name.clone(), "idx", &by)),
            false => {
                let to = self.word();
                self.put(format!(
                    "shfl.sync.idx.b32 {to}, {}, {by}, 0xffffffff",
                    own.name
                ));
                ("b32", to)
            }
        };
        let to = if own.is_wide {
            self.long()
        } else {
            self.word()
        };
        self.put(format!("selp.{ty} {to}, {value}, {}, {some}", own.before));
        to
    }

    /// The value that goes along with the smallest or largest one, if that is not what was there before.
    fn value_along(
        &mut self,
        own: &Own,
        (with, all, new): (&Own, &str, &str),
        is_late: bool,
    ) -> String {
        let [set, _] = own.set.as_ref().expect("it is set by turns");
        let ty = if with.is_wide { "b64" } else { "b32" };
        let (is, turn, nobody) = (
            self.predicate(),
            self.word(),
            if is_late { "0" } else { "-1" },
        );
        self.put(format!("setp.eq.{ty} {is}, {}, {all}", with.name));
        self.put(format!("setp.ne.and.s32 {is}, {set}, 0, {is}"));
        self.put(format!("selp.b32 {turn}, {set}, {nobody}, {is}"));
        let best = self.word();
        let which = if is_late { "max" } else { "min" };
        self.put(format!("redux.sync.{which}.u32 {best}, {turn}, 0xffffffff"));
        let (some, chosen) = (self.predicate(), self.predicate());
        self.put(format!("setp.ne.s32 {some}, {best}, {nobody}"));
        match is_late {
            true => self.put(format!("setp.eq.{ty} {chosen}, {new}, {all}")),
            false => self.put(format!("setp.ne.{ty} {chosen}, {new}, {}", with.before)),
        }
        self.put(format!("and.pred {some}, {some}, {chosen}"));
        self.value_of_turn(own, &best, &some)
    }

    /// All lanes' values taken together by an operation.
    fn reduce_warp(&mut self, op: Op, from: &str, is_wide: bool) -> String {
        let by = match op {
            Op::Add32 => Some("add.s32"),
            Op::MinU32 => Some("min.u32"),
            Op::MinI32 => Some("min.s32"),
            Op::MaxU32 => Some("max.u32"),
            Op::MaxI32 => Some("max.s32"),
            Op::And32 => Some("and.b32"),
            Op::Or32 => Some("or.b32"),
            Op::Xor32 => Some("xor.b32"),
            _ => None,
        };
        if let Some(by) = by {
            let to = self.word();
            self.put(format!("redux.sync.{by} {to}, {from}, 0xffffffff"));
            return to;
        }
        let to = if is_wide { self.long() } else { self.word() };
        let ty = if is_wide { "b64" } else { "b32" };
        self.put(format!("mov.{ty} {to}, {from}"));
        for step in [16, 8, 4, 2, 1] {
            let other = match is_wide {
                true => self.shuffle_wide(&to.clone(), "bfly", &format!("{step}, 31")),
                false => {
                    let other = self.word();
                    self.put(format!(
                        "shfl.sync.bfly.b32 {other}, {to}, {step}, 31, 0xffffffff"
                    ));
                    other
                }
            };
            self.put(format!("{} {to}, {to}, {other}", instruction(op)));
        }
        to
    }

    /// What was proved and known of rows that words change.
    fn forget_in(&mut self, from: usize, to: usize) {
        let code = &self.kernel.code[from..to];
        let written = code
            .iter()
            .fold(Rows::NONE, |all, w| all.or(writes(w)).or(defs(w)));
        self.proved.retain(|&(row, _)| !written.has(row));
        self.known.retain(|&row, _| !written.has(row));
    }
}

fn both([low, high]: &[String; 2]) -> String {
    format!("{{{low}, {high}}}")
}

fn set_name(cell: Cell) -> String {
    match cell {
        Cell::Row(row) => format!("%st{row}"),
        Cell::Pair(row) => format!("%sp{row}"),
        Cell::Element(b) => format!("%se{}", b.0),
    }
}

impl Own {
    fn ty(&self) -> &'static str {
        if self.is_wide { "b64" } else { "b32" }
    }
}

fn element_ty(program: &Program, buffer: BufferId) -> &'static str {
    match program.buffers[buffer.index()].scalar.size_bytes() {
        1 => "u8",
        4 => "u32",
        _ => "u64",
    }
}

/// What an operation takes two values together by.
fn instruction(op: Op) -> &'static str {
    match op {
        Op::Add32 => "add.s32",
        Op::Mul32 => "mul.lo.s32",
        Op::MinU32 => "min.u32",
        Op::MinI32 => "min.s32",
        Op::MaxU32 => "max.u32",
        Op::MaxI32 => "max.s32",
        Op::And32 => "and.b32",
        Op::Or32 => "or.b32",
        Op::Xor32 => "xor.b32",
        Op::Add64 => "add.s64",
        Op::Mul64 => "mul.lo.s64",
        Op::MinU64 => "min.u64",
        Op::MinI64 => "min.s64",
        Op::MaxU64 => "max.u64",
        Op::MaxI64 => "max.s64",
        Op::And64 => "and.b64",
        Op::Or64 => "or.b64",
        Op::Xor64 => "xor.b64",
        _ => unreachable!("what rounds is not shared out"),
    }
}

/// What changes nothing.
fn nothing(op: Op) -> &'static str {
    match op {
        Op::Add32 | Op::Or32 | Op::Xor32 | Op::MaxU32 => "0",
        Op::Add64 | Op::Or64 | Op::Xor64 | Op::MaxU64 => "0",
        Op::Mul32 | Op::Mul64 => "1",
        Op::And32 | Op::MinU32 => "0xffffffff",
        Op::And64 | Op::MinU64 => "0xffffffffffffffff",
        Op::MinI32 => "0x7fffffff",
        Op::MaxI32 => "0x80000000",
        Op::MinI64 => "0x7fffffffffffffff",
        Op::MaxI64 => "0x8000000000000000",
        _ => unreachable!("what rounds is not shared out"),
    }
}
