//! What a turn does to memory that is no cell, and whether that is the same in any order of turns.

use super::turn::Turn;
use super::values::Number;
use super::{Kept, Why};
use crate::vir0::flow::{self, BlockKind, effect, op};
use crate::vir0::isa::{Effect, Faults, IMM, Op, Word};
use crate::vir0::module::BufferId;
use std::collections::BTreeSet;

/// What a word does to memory that is no cell.
#[derive(Clone, Copy)]
pub(super) enum Change {
    Store(Number),
    Update(Op),
    /// With a result that somebody may look at.
    Exchange,
    /// Appends to a list, or makes an item of several fields.
    Item,
    /// Pushes and reductions.
    Free,
}

/// How a word accesses the buffer that it names; `None` for other words.
pub(super) enum Access {
    Load,
    Store,
    Update(Op),
    Exchange,
}

pub(super) fn access(word: &Word) -> Option<Access> {
    Some(match effect(word) {
        Effect::Load | Effect::AtomicLoad => Access::Load,
        Effect::Store | Effect::AtomicStore => Access::Store,
        Effect::Update if word.d == IMM => Access::Update(op(word)),
        Effect::Update | Effect::Exchange => Access::Exchange,
        Effect::No
        | Effect::RowLoad
        | Effect::RowStore
        | Effect::RowFill
        | Effect::Ask
        | Effect::Push
        | Effect::Reserve
        | Effect::Field
        | Effect::Reduce
        | Effect::Open
        | Effect::Turn
        | Effect::Close
        | Effect::MayLeave
        | Effect::Leave
        | Effect::End => return None,
    })
}

impl Turn<'_> {
    /// Whether what turns do to memory is the same in any order.
    pub(super) fn memory(&mut self) -> Result<(), Kept> {
        let last_exit = self.exits.keys().map(|&pc| self.inner_end(pc)).max();
        let first = self.effects.keys().next();
        if let (Some(exit), Some(&effect)) = (last_exit, first)
            && effect < exit
        {
            return self.kept(effect, Why::LeavesLate);
        }
        let changed = self
            .loads
            .iter()
            .find(|(_, (b, _))| self.changed.contains(b));
        if let (Some(_), Some((&pc, &(buffer, _)))) = (last_exit, changed) {
            return self.kept(pc, Why::Reads(BufferId(buffer)));
        }
        for (&pc, &(buffer, index, effect)) in &self.effects {
            let Some(buffer) = buffer else {
                match effect {
                    Change::Item if self.is_open => return self.kept(pc, Why::Order),
                    _ => continue,
                }
            };
            let id = BufferId(buffer);
            let index = index.expect("an element has an index");
            let others = || self.effects.values().filter(|(b, ..)| *b == Some(buffer));
            let alone = self.values.is_injective(index)
                && others().all(|&(_, other, _)| other == Some(index));
            let read = self
                .loads
                .iter()
                .find(|(_, (b, at))| *b == buffer && !(alone && *at == index));
            match effect {
                _ if alone && read.is_none() => {}
                // The program's agreement says so of its atomics.
                Change::Update(_) | Change::Exchange if !self.is_open => {}
                Change::Store(_) if !self.is_open && self.is_atomic(pc) => {}
                _ if read.is_some() => {
                    return self.kept(*read.expect("it is some").0, Why::Reads(id));
                }
                Change::Store(value) => {
                    let same = !self.values.varies(value)
                        && others().all(|(.., e)| matches!(e, Change::Store(v) if *v == value));
                    if !same {
                        return self.kept(pc, Why::Stores(id));
                    }
                }
                Change::Update(update) => {
                    let same =
                        others().all(|(.., e)| matches!(e, Change::Update(o) if *o == update));
                    if !same {
                        return self.kept(pc, Why::Mixed(id));
                    }
                    self.rounds |= matches!(update, Op::AtomAddF32 | Op::AtomAddF64);
                }
                Change::Exchange => return self.kept(pc, Why::OldValue(id)),
                Change::Item | Change::Free => {}
            }
        }
        // What shows an order says more.
        match self.faults_late() {
            Some(effect) => self.kept(effect, Why::FaultsLate),
            None => Ok(()),
        }
    }

    /// The end of the outermost loop within this one that has this word, or the word: what stands before it may be done
    /// before the word is.
    fn inner_end(&self, pc: usize) -> usize {
        let blocks = flow::blocks(&self.code[..=self.end]);
        let inner = blocks
            .iter()
            .filter(|b| b.kind == BlockKind::Loop && b.at > self.at);
        let around = inner.filter(|b| b.at < pc && pc < b.end);
        around.map(|b| b.end).max().unwrap_or(pc)
    }

    /// A word that does something twice where its turn is done again, if a word behind it may fault in one and not in
    /// the other: that looks at what other items change meanwhile, in a program that need not give the same result.
    fn faults_late(&self) -> Option<usize> {
        let change = |w: &&Word| access(w).is_some() && effect(w).changes();
        let changed: BTreeSet<u16> = self
            .code
            .iter()
            .filter(change)
            .map(|w| w.resource())
            .collect();
        let exchanges = self
            .effects
            .values()
            .any(|(.., e)| matches!(e, Change::Exchange));
        let sees = exchanges
            || self
                .loads
                .values()
                .any(|(buffer, _)| changed.contains(buffer));
        let mut effects = self
            .effects
            .iter()
            .filter(|(_, (.., e))| !matches!(e, Change::Store(_)));
        let (&first, _) = effects.next()?;
        let faults =
            |pc: usize| op(&self.code[pc]).row().faults != Faults::No && self.inner_end(pc) > first;
        let late = (self.at..self.end).any(|pc| pc != first && faults(pc));
        (self.is_open && sees && late).then_some(first)
    }

    fn is_atomic(&self, pc: usize) -> bool {
        effect(&self.code[pc]) == Effect::AtomicStore
    }
}
