//! Code of narrow rounds: a wave's code translated so that one warp gets through it in few instructions.
//!
//! Every operand becomes a row of one file, which holds registers, uniforms and literals alike; a conditional push is
//! one word; what a uniform load gives is an operand; 64-bit arithmetic without carries becomes words of halves. What
//! the words load from places that are known when a tile begins is loaded there, all at once. Results are handed to the
//! next word, complements and tests go into the word that needs them, and what is never read is not computed. Words
//! keep the pc of the program, so that a trap names it.

mod draft;
mod encode;
mod improve;
#[cfg(test)]
mod tests;
mod translate;

#[cfg(test)]
pub(crate) use draft::words;
pub(crate) use encode::place;

use crate::abi::{self, NONE, fill};
use encode::words_of;
use improve::improved;
use translate::{Ask, File, adds_to_round, asked_before, drafts_of};
use vyre_core::vir0::isa::{IMM, UNIFORM_BASE, Word};
use vyre_core::vir0::module::{Kernel, Uniform};

/// Quick code of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Quick {
    /// What a tile loads before its first word, then the words.
    pub(crate) code: Vec<QuickWord>,
    /// The first word to run, and the first one where what is loaded before was not there.
    pub(crate) begins: u32,
    pub(crate) plain: u32,
    /// Words of what is loaded before, or 0.
    pub(crate) slots: u32,
    /// Rows of the file.
    pub(crate) rows: u32,
    /// Rows to fill before a run, as pairs: row and kind, then a literal or a slot.
    pub(crate) fills: Vec<u32>,
    /// How many of them, at the end, are of uniforms that change while a run goes on.
    pub(crate) dynamic: u32,
    /// Rows of the round, of the round plus a literal, with that, and of the item's index, source,
    /// destination and number for traps.
    pub(crate) round: u32,
    pub(crate) next: (u32, u32),
    pub(crate) item: [u32; 4],
}

/// A word as the device has it: opcode, flags and pc; places of the operands; of the result and of a third operand;
/// the immediate. `buffer`: the number of the buffer whose place goes into the word named.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct QuickWord {
    pub(crate) words: [u32; 4],
    pub(crate) buffer: Option<(u8, u16)>,
}

/// Deepest nesting: a lane keeps two bits a level.
const DEPTH: usize = 16;
/// Of what a tile loads before its first word: two places known from the edge or its source, two from its destination.
const SLOTS: usize = 4;
/// Rows of a file at most.
const ROWS: u32 = 64;

/// The quick code of a wave over the edges out of `frontier`, if all of its words have one. `rows`: the kernel's rows
/// with the one that keeps the item, `item_row`. `pushes`: whether it may push to this other frontier.
pub(crate) fn of_kernel(
    kernel: &Kernel,
    rows: u32,
    item_row: u32,
    frontier: u16,
    pushes: impl Fn(u16) -> bool,
) -> Option<Quick> {
    let push = |to: u16| (to == frontier || pushes(to)).then_some(to == frontier);
    // Where the file has no room for what is loaded before, nothing is.
    [true, false]
        .into_iter()
        .find_map(|asks| translated(kernel, (rows, item_row), &push, asks))
}

fn translated(
    kernel: &Kernel,
    (rows, item_row): (u32, u32),
    push: &dyn Fn(u16) -> Option<bool>,
    asks: bool,
) -> Option<Quick> {
    let mut file = File {
        kernel,
        next: rows,
        fills: Vec::new(),
        dynamic: Vec::new(),
        known: Vec::new(),
        round: 0,
    };
    // The round, with a high half of zero, and what is never read.
    file.round = file.take(2);
    file.fills
        .extend([(file.round + 1) | (fill::LITERAL << 8), 0]);
    let unused = file.take(2);
    // A round plus a literal is made when the round begins, and copied.
    let mut next = (unused, 0);
    let is_round = |byte: u8| {
        (UNIFORM_BASE..IMM).contains(&byte)
            && kernel.uniforms[usize::from(byte - UNIFORM_BASE)] == Uniform::Round
    };
    if let Some(word) = kernel.code.iter().find(|w| adds_to_round(w, is_round)) {
        next = (file.take(1), word.imm);
    }
    let asks = if asks {
        asked_before(kernel, &mut file)
    } else {
        Vec::new()
    };
    let lay_out = |asks: &[Ask], file: &mut File<'_>, before: usize| {
        let made = |w: &Word| (adds_to_round(w, is_round) && w.imm == next.1).then_some(next.0);
        let drafts = drafts_of(kernel, (file, unused), asks, &made, push)?;
        (file.next <= ROWS).then(|| words_of(improved(drafts, file), before))
    };
    let quick = lay_out(&asks, &mut file, SLOTS)?;
    let plain = if asks.is_empty() {
        Vec::new()
    } else {
        lay_out(&[], &mut file, SLOTS + quick.len())?
    };
    let mut code = vec![QuickWord::default(); SLOTS];
    let mut free = [0, 2];
    for slot in &mut code {
        slot.words[1] = unused * 128;
        slot.buffer = asks.first().map(|a| (0, a.buffer));
    }
    for ask in &asks {
        let at = &mut free[usize::from(ask.place == 2)];
        let edge = if ask.place == 0 { abi::SLOT_EDGE } else { 0 };
        code[*at].words[1] = (ask.row * 128) | abi::SLOT_USED | edge;
        code[*at].buffer = Some((0, ask.buffer));
        *at += 1;
    }
    let begins = SLOTS as u32;
    let plain_at = if plain.is_empty() {
        begins
    } else {
        begins + quick.len() as u32
    };
    code.extend(quick);
    code.extend(plain);
    // One is fetched after the last.
    code.push(QuickWord::default());
    let place = |row: Option<u8>| row.map_or(unused, u32::from);
    let item = kernel.item;
    let rows = file.next;
    let mut fills = file.fills;
    fills.extend(&file.dynamic);
    Some(Quick {
        begins,
        plain: plain_at,
        slots: asks.first().map_or(0, |a| 1 + u32::from(a.wide)),
        code,
        rows,
        fills,
        dynamic: file.dynamic.len() as u32 / 2,
        round: file.round,
        next,
        item: [
            place(item.index),
            place(item.src),
            place(item.dst),
            if item_row == NONE { unused } else { item_row },
        ],
    })
}
