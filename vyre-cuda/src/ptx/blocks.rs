//! Who of a body's items is active, and the blocks that decide it.

use super::body::{Body, Bound, Index};
use crate::abi;
use std::collections::BTreeSet;
use std::mem::offset_of;
use std::ops::Range;
use vyre_core::vir0::flow::{Block, BlockKind, Rows, effect, op, writes};
use vyre_core::vir0::isa::{Effect, Faults, Imm, Op, Word};
use vyre_core::vir0::trap::TrapKind;

/// All lanes of a warp.
const FULL: &str = "0xffffffff";
/// Words that a branch must skip to be worth a vote.
const WORTH_A_VOTE: usize = 5;

/// A block that is open.
pub(super) struct Open {
    pub(super) block: Block,
    /// Labels of what follows the first branch or the turn, and of what follows the block.
    pub(super) inner: String,
    pub(super) outer: String,
    /// What indices were proved to be where it opened, for what is behind it.
    proved: BTreeSet<(u8, Bound)>,
    /// Items leave it, or the kernel, otherwise than by a fault.
    leaves: bool,
    /// Of a loop: items start its next turn from inside.
    continues: bool,
    /// Of a loop: a turn passes a vote whether items are left.
    votes: bool,
    /// Of a loop: a turn whose items have all left ends before that vote.
    ends_early: bool,
    /// Of an `if`: its second branch is open, or it has none.
    pub(super) is_last: bool,
}

impl Body<'_> {
    // Who is active.

    /// A predicate of who is active at a depth, waits for a second branch there, or for the next turn.
    pub(super) fn predicate_name(&self, kind: &str, depth: usize, j: u32) -> String {
        format!("%{}{kind}{depth}_{j}", self.set)
    }

    pub(super) fn depth(&self) -> usize {
        self.open.len()
    }

    /// The predicate of item `j` being active.
    pub(super) fn active(&self, j: u32) -> String {
        if let Some(turn) = &self.lift_turn {
            return turn.now[j as usize].clone();
        }
        self.predicate_name("a", self.depth(), j)
    }

    /// Whether any lane has one of these predicates; in thread form, whether this lane has.
    pub(super) fn any(&mut self, predicates: &[String]) -> String {
        let [first, rest @ ..] = predicates else {
            unreachable!("a lane has an item")
        };
        let mut some = first.clone();
        for other in rest {
            let both = self.predicate();
            self.put(format!("or.pred {both}, {some}, {other}"));
            some = both;
        }
        if self.sites.is_some() {
            return some;
        }
        let any = self.predicate();
        self.put(format!("vote.sync.any.pred {any}, {some}, {FULL}"));
        any
    }

    /// Whether any lane has an item that is active at a depth; branches where not.
    pub(super) fn skip_unless_any(&mut self, depth: usize, to: &str) {
        let active: Vec<String> = (0..self.together)
            .map(|j| self.predicate_name("a", depth, j))
            .collect();
        let any = self.any(&active);
        self.put(format!("@!{any} bra.uni {to}"));
    }

    /// Whether any lane has an active item; branches where one has.
    fn turn_if_any(&mut self, to: &str) {
        let active: Vec<String> = (0..self.together).map(|j| self.active(j)).collect();
        let any = self.any(&active);
        self.put(format!("@{any} bra.uni {to}"));
    }

    /// Takes items out of the active ones of the depths from `from` on, and out of those that wait there for a second
    /// branch or, but for `turn`, for a next turn. `leaving`: a predicate for each item.
    pub(super) fn remove(&mut self, leaving: &[String], from: usize, turn: Option<usize>) {
        let stays: Vec<String> = leaving
            .iter()
            .map(|p| {
                let stays = self.predicate();
                self.put(format!("not.pred {stays}, {p}"));
                stays
            })
            .collect();
        for depth in from..=self.depth() {
            let opened = depth.checked_sub(1).map(|i| &self.open[i]);
            let waits = opened.is_some_and(|o| o.block.kind == BlockKind::If && !o.is_last);
            let turns = opened.is_some_and(|o| o.continues) && turn != Some(depth);
            for (j, stays) in stays.iter().enumerate() {
                for (kind, there) in [("a", true), ("e", waits), ("n", turns)] {
                    if there {
                        let name = self.predicate_name(kind, depth, j as u32);
                        self.put(format!("and.pred {name}, {name}, {stays}"));
                    }
                }
            }
        }
    }

    // Code.

    pub(super) fn code(&mut self) {
        self.code_of(0..self.kernel.code.len());
    }

    /// The words of a range that holds whole blocks.
    pub(super) fn code_of(&mut self, range: Range<usize>) {
        let code = &self.kernel.code;
        let around = self.open.len();
        let mut pc = range.start;
        while pc < range.end {
            self.pc = pc;
            let (word, written) = (code[pc], writes(&code[pc]));
            if let Some(next) = self.write_out(&word) {
                pc = next;
                continue;
            }
            self.mark();
            if !self.block(&word) {
                self.instruction(&word);
            }
            self.learn(&word);
            // A row that an index was in has another value, unless this very word proved something of that.
            if op(&word) != Op::CsrTarget {
                self.proved.retain(|&(row, _)| !written.has(row));
            }
            pc += 1;
            if self.leaves_for_good(&word) {
                match self.open[around..].last().map(|o| (o.block, o.is_last)) {
                    None => return,
                    Some((block, false)) if block.kind == BlockKind::If => {
                        pc = block.otherwise.unwrap_or(block.end);
                    }
                    Some((block, _)) => pc = block.end,
                }
            }
        }
    }

    /// Whether no item goes on behind a word.
    fn leaves_for_good(&self, word: &Word) -> bool {
        matches!(effect(word), Effect::Leave | Effect::End)
    }

    /// Whether a word between two pcs is worth skipping.
    fn is_long(&self, from: usize, to: usize) -> bool {
        let heavy = |word: &Word| {
            let row = op(word).row();
            let names = word.names().is_some() || row.imm == Imm::Rows;
            names || row.op == Op::Loop || row.faults != Faults::No
        };
        let words = self.kernel.code.get(from..to).unwrap_or_default();
        words.len() > WORTH_A_VOTE || words.iter().any(heavy)
    }

    /// Does what a word of control flow does; false for others.
    fn block(&mut self, word: &Word) -> bool {
        match op(word) {
            Op::If => self.open_if(word),
            Op::Else => self.open_else(),
            Op::EndIf => self.end_if(),
            Op::Loop => self.open_loop(),
            Op::EndLoop => self.end_loop(),
            Op::Break => {
                let leaving = self.all_active();
                self.leave_loop(&leaving, word.imm as usize);
                self.go_on_elsewhere();
            }
            Op::BreakIf => self.break_where(word, "ne"),
            Op::BreakUnless => self.break_where(word, "eq"),
            Op::Continue => {
                let at = self.loop_depth(word.imm as usize);
                let leaving = self.all_active();
                self.remove(&leaving, at, Some(at));
                self.go_on_elsewhere();
            }
            Op::Ret | Op::RetV => {
                if op(word) == Op::RetV {
                    let (value, guard) = (self.get32(word.a, 0), self.guard(true, 0));
                    self.put(format!("{guard}mov.b32 %value, {value}"));
                }
                if self.depth() > 0 {
                    let leaving = self.all_active();
                    self.remove(&leaving, 0, None);
                    self.go_on_elsewhere();
                }
            }
            Op::Trap => {
                let kind = TrapKind::from_code(word.imm).expect("verified code has known traps");
                let leaving = self.all_active();
                self.fault(&leaving, kind, Index::No, "0");
                self.go_on_elsewhere();
            }
            _ => return false,
        }
        true
    }

    /// Copies of the predicates of who is active, which removing changes.
    fn all_active(&mut self) -> Vec<String> {
        (0..self.together)
            .map(|j| {
                let (copy, active) = (self.predicate(), self.active(j));
                self.put(format!("mov.pred {copy}, {active}"));
                copy
            })
            .collect()
    }

    /// No lane is active any more: on to where one may be.
    fn go_on_elsewhere(&mut self) {
        let to = self.next_label();
        self.put(format!("bra.uni {to}"));
    }

    /// Where items may be active next that are not here.
    fn next_label(&mut self) -> String {
        match self.open.last_mut() {
            None => self.body_end(),
            Some(open) => {
                open.ends_early |= !open.votes;
                open.inner.clone()
            }
        }
    }

    pub(super) fn block_at(&self, pc: usize) -> Block {
        let found = self.blocks.iter().find(|b| b.at == pc);
        *found.expect("the word opens a block")
    }

    pub(super) fn push_open(&mut self, block: Block) {
        let inside = &self.kernel.code[block.at + 1..block.end];
        let depth_of = |pc: usize| {
            let around = self.blocks.iter().filter(|b| b.kind == BlockKind::Loop);
            around.filter(|b| b.holds(pc) && b.at > block.at).count()
        };
        let continues =
            |(pc, w): (usize, &Word)| op(w) == Op::Continue && w.imm as usize == depth_of(pc);
        let is_loop = block.kind == BlockKind::Loop;
        let continues = is_loop && (block.at + 1..).zip(inside).any(continues);
        let open = Open {
            block,
            inner: self.new_label(),
            outer: self.new_label(),
            proved: self.proved.clone(),
            leaves: inside.iter().any(leaves),
            continues,
            votes: false,
            ends_early: false,
            is_last: block.otherwise.is_none(),
        };
        self.open.push(open);
        self.deepest = self.deepest.max(self.open.len());
    }

    /// What was proved before a block, as far as the block does not change it.
    fn forget(&mut self, proved: BTreeSet<(u8, Bound)>, from: usize, to: usize) {
        let written = written_in(&self.kernel.code[from..to]);
        self.proved = proved;
        self.proved.retain(|&(row, _)| !written.has(row));
        self.unlearn(from, to);
    }

    fn open_if(&mut self, word: &Word) {
        let block = self.block_at(self.pc);
        let (depth, outside) = (self.depth() + 1, self.depth());
        for j in 0..self.together {
            let condition = self.get32_in_register(word.a, j);
            let names = [("a", depth), ("e", depth), ("a", outside)];
            let [then, other, around] =
                names.map(|(kind, depth)| self.predicate_name(kind, depth, j));
            if block.otherwise.is_some() {
                self.put(format!("setp.eq.and.s32 {other}, {condition}, 0, {around}"));
            }
            self.put(format!("setp.ne.and.s32 {then}, {condition}, 0, {around}"));
        }
        self.push_open(block);
        if self.is_long(block.at + 1, block.otherwise.unwrap_or(block.end)) {
            let to = self.next_label();
            self.skip_unless_any(depth, &to);
        }
    }

    fn open_else(&mut self) {
        let depth = self.depth();
        let open = self.open.last_mut().expect("an else stands in an if");
        open.is_last = true;
        let (label, end, proved) = (
            std::mem::replace(&mut open.inner, open.outer.clone()),
            open.block,
            open.proved.clone(),
        );
        self.label(&label);
        for j in 0..self.together {
            let [to, from] = [("a", depth), ("e", depth)]
                .map(|(kind, depth)| self.predicate_name(kind, depth, j));
            self.put(format!("mov.pred {to}, {from}"));
        }
        self.forget(proved, 0, 0);
        self.unlearn(end.at, self.pc);
        if self.is_long(self.pc + 1, end.end) {
            let to = self.next_label();
            self.skip_unless_any(depth, &to);
        }
    }

    fn end_if(&mut self) {
        let open = self.open.pop().expect("an end closes a block");
        self.label(&open.inner);
        self.forget(open.proved, open.block.at, open.block.end);
        // Who left inside need not be waited for.
        let next = match self.open.last() {
            None => self.kernel.code.len(),
            Some(around) => match around.block.otherwise {
                Some(at) if !around.is_last => at,
                _ => around.block.end,
            },
        };
        if open.leaves && self.is_long(self.pc + 1, next) {
            let to = self.next_label();
            self.skip_unless_any(self.depth(), &to);
        }
    }

    fn open_loop(&mut self) {
        let block = self.block_at(self.pc);
        if let Some(lift) = self.lift.filter(|lift| lift.at == self.pc) {
            self.share_out(lift);
        } else {
            self.share_turns(block);
        }
        let outside = self.depth();
        let depth = outside + 1;
        let proved = self.proved.clone();
        self.forget(proved, block.at, block.end);
        self.push_open(block);
        for j in 0..self.together {
            let [to, from] = [("a", depth), ("a", outside)]
                .map(|(kind, depth)| self.predicate_name(kind, depth, j));
            self.put(format!("mov.pred {to}, {from}"));
        }
        let head = self.head();
        self.label(&head);
        if self.open[outside].continues {
            for j in 0..self.together {
                let [to, from] = [("n", depth), ("a", depth)]
                    .map(|(kind, depth)| self.predicate_name(kind, depth, j));
                self.put(format!("mov.pred {to}, {from}"));
            }
        }
    }

    /// The label where the turns of the innermost block begin.
    fn head(&self) -> String {
        let open = self.open.last().expect("a turn is in a loop");
        let (id, at) = (self.id, open.block.at);
        match &self.shared {
            // It is written in the turn of each loop around it that is shared out.
            Some(shared) => format!("$Ts{id}_{}_{at}", shared.at),
            None => format!("$T{id}_{at}"),
        }
    }

    fn end_loop(&mut self) {
        let (head, depth) = (self.head(), self.depth());
        let open = self.open.last().expect("an end closes a block");
        let (inner, outer) = (open.inner.clone(), open.outer.clone());
        let votes = open.votes && !open.ends_early;
        let (continues, block, proved) = (open.continues, open.block, open.proved.clone());
        self.label(&inner);
        if continues {
            for j in 0..self.together {
                let [to, from] = [("a", depth), ("n", depth)]
                    .map(|(kind, depth)| self.predicate_name(kind, depth, j));
                self.put(format!("mov.pred {to}, {from}"));
            }
        }
        self.look_at_abort(block.end - block.at);
        match votes {
            true => self.put(format!("bra.uni {head}")),
            false => self.turn_if_any(&head),
        }
        self.open.pop();
        self.label(&outer);
        if self.lift.is_some_and(|lift| lift.at == block.at) {
            let behind = self.behind_lifted();
            self.label(&behind);
        }
        self.forget(proved, block.at, block.end);
        let leaves = open_leaves(&self.kernel.code[block.at + 1..block.end]);
        if leaves && self.is_long(self.pc + 1, self.kernel.code.len()) {
            let to = self.next_label();
            self.skip_unless_any(self.depth(), &to);
        }
    }

    /// After a loop's turn of `words` words, whenever turns add up to [`LOOK_WORDS`](abi::LOOK_WORDS): whether the run
    /// is to stop, as the megakernel's `is_aborted`. If so, all items are done.
    pub(super) fn look_at_abort(&mut self, words: usize) {
        let (cold, back) = (self.new_label(), self.new_label());
        let (low, many) = (self.word(), self.predicate());
        self.put(format!("add.s32 %words, %words, {words}"));
        self.put(format!("and.b32 {low}, %words, {}", abi::LOOK_WORDS - 1));
        self.put(format!("setp.lt.u32 {many}, {low}, {words}"));
        self.put(format!("@{many} bra.uni {cold}"));
        self.label(&back);
        self.is_cold = true;
        self.label(&cold);
        let (passed, looked, every) = (self.word(), self.word(), self.word());
        let (from, abort, going) = (self.long(), self.word(), self.predicate());
        let [aborted, word, ticks] = [
            offset_of!(abi::Image, aborted),
            offset_of!(abi::Image, abort),
            offset_of!(abi::Image, look_ticks),
        ];
        self.put(format!(
            "ld.volatile.shared.u32 {abort}, [vyre_shared+{aborted}]"
        ));
        self.put(format!("mov.u32 {passed}, %clock"));
        self.put(format!("ld.volatile.shared.u32 {looked}, [vyre_looked]"));
        self.put(format!("sub.s32 {passed}, {passed}, {looked}"));
        self.put(format!("ld.shared.b32 {every}, [vyre_shared+{ticks}]"));
        self.put(format!("setp.lt.u32 {going}, {passed}, {every}"));
        let early = self.new_label();
        self.put(format!("@{going} bra {early}"));
        self.put(format!("ld.shared.b64 {from}, [vyre_shared+{word}]"));
        self.put(format!("ld.relaxed.sys.global.u32 {abort}, [{from}]"));
        self.put(format!("setp.ne.s32 {going}, {abort}, 0"));
        self.put(format!("@{going} bra {early}"));
        self.put(format!("neg.s32 {every}, {every}"));
        self.put(format!("and.b32 {passed}, {passed}, {every}"));
        self.put(format!("add.s32 {looked}, {looked}, {passed}"));
        self.put(format!("st.volatile.shared.u32 [vyre_looked], {looked}"));
        self.label(&early);
        self.put("bar.warp.sync 0xffffffff");
        self.put(format!("shfl.sync.idx.b32 {abort}, {abort}, 0, 31, {FULL}"));
        self.put(format!("setp.eq.s32 {going}, {abort}, 0"));
        self.put(format!("@{going} bra.uni {back}"));
        self.put("bra.uni $ABORTED");
        self.is_cold = false;
    }

    /// The depth inside the loop that is `out` loops out.
    fn loop_depth(&self, out: usize) -> usize {
        let loops = self.open.iter().enumerate().rev();
        let mut loops = loops.filter(|(_, o)| o.block.kind == BlockKind::Loop);
        loops.nth(out).expect("verified code stays inside").0 + 1
    }

    fn leave_loop(&mut self, leaving: &[String], out: usize) {
        let at = self.loop_depth(out);
        if let Some(redo) = self.leaves_shared(at) {
            let any = self.any(leaving);
            return self.put(format!("@{any} bra.uni {redo}"));
        }
        self.remove(leaving, at, None);
    }

    /// Where turns go that leave the loop at this depth, if that is shared out.
    fn leaves_shared(&self, at: usize) -> Option<String> {
        let shared = self.shared.as_ref()?;
        (self.open[at - 1].block.at == shared.at).then(|| shared.redo.clone())
    }

    /// A break of the items whose operand a is zero, or is not.
    fn break_where(&mut self, word: &Word, relation: &str) {
        let at = self.loop_depth(word.imm as usize);
        let innermost = at == self.depth();
        let is_alone =
            innermost && !self.open[at - 1].continues && self.leaves_shared(at).is_none();
        if is_alone {
            let stays = if relation == "ne" { "eq" } else { "ne" };
            for j in 0..self.together {
                let condition = self.get32_in_register(word.a, j);
                let active = self.active(j);
                self.put(format!(
                    "setp.{stays}.and.s32 {active}, {condition}, 0, {active}"
                ));
            }
            let to = self.open[at - 1].outer.clone();
            self.skip_unless_any(at, &to);
            self.open[at - 1].votes = true;
            return;
        }
        let leaving: Vec<String> = (0..self.together)
            .map(|j| {
                let (condition, leaves) = (self.get32_in_register(word.a, j), self.predicate());
                let active = self.active(j);
                self.put(format!(
                    "setp.{relation}.and.s32 {leaves}, {condition}, 0, {active}"
                ));
                leaves
            })
            .collect();
        self.leave_loop(&leaving, word.imm as usize);
        let to = self.next_label();
        self.skip_unless_any(self.depth(), &to);
    }
}

/// Whether an item may go on elsewhere than behind a word, or in its block.
pub(super) fn leaves(word: &Word) -> bool {
    matches!(effect(word), Effect::MayLeave | Effect::Leave | Effect::End)
}

/// Rows that words write.
pub(super) fn written_in(code: &[Word]) -> Rows {
    code.iter().fold(Rows::NONE, |all, w| all.or(writes(w)))
}

/// Whether an item may leave these words, or the kernel, from inside a loop: other items are then still at work behind
/// it.
fn open_leaves(code: &[Word]) -> bool {
    code.iter().any(|w| matches!(op(w), Op::Ret | Op::RetV))
}
