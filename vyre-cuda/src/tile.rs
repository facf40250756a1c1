//! Tile code: what a wave runs for its tiles, made of its own code so that it has fewer words.
//!
//! - Loads by the item's own numbers are asked for together before anything else, so that their times overlap. When one
//!   of them would fault, the tile runs the wave's own code instead.
//! - Items that have nothing left to do leave: an `if` with nothing after it needs no frame and no end, and one word
//!   compares and leaves.
//! - `x & !y` is one word, a push under a condition another; atomics on elements that were just loaded do not look
//!   first.
//!
//! [`Tile::origins`] names the word of the program behind each word, for traps.

use crate::abi;
use crate::ptx::looks;
use vyre_core::vir0::flow::{
    self, Block, BlockKind, Rows, defs, live_in, op, rows_of, uses, writes,
};
use vyre_core::vir0::isa::{
    FRAMES_PER_IF, FRAMES_PER_LOOP, IMM, Imm, Kind, Op, Slot, UNIFORM_BASE, Word,
};
use vyre_core::vir0::module::{Kernel, Resource};

/// Tile code of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tile {
    /// Targets count from its own first word.
    pub(crate) code: Vec<Word>,
    /// By word, the pc in the kernel's own code.
    pub(crate) origins: Vec<u32>,
    /// Rows of the kernel with those that loads need.
    pub(crate) rows: u32,
}

/// Loads that are asked for together, at most.
const LOADS: usize = 3;

struct Maker {
    /// The code as it was.
    before: Vec<Word>,
    /// What has become of each word.
    words: Vec<Option<Word>>,
    blocks: Vec<Block>,
    live: Vec<Rows>,
    /// The rows of the item.
    item: Vec<u8>,
    loads: Vec<(usize, Word)>,
    rows: u32,
}

/// The tile code of a kernel with this device code, unless that would be the same. `rows`: those it has; more than
/// `most` it must not get.
pub(crate) fn of_kernel(kernel: &Kernel, code: &[Word], rows: u32, most: u32) -> Option<Tile> {
    let simple = (code.iter()).all(|w| op(w) != Op::RetV && op(w).row().imm != Imm::Rows);
    let (last, rest) = code.split_last()?;
    if !simple || op(last) != Op::Ret || rest.iter().any(|w| op(w) == Op::Ret) {
        return None;
    }
    let item = [kernel.item.index, kernel.item.src, kernel.item.dst];
    let mut maker = Maker {
        before: code.to_vec(),
        words: code.iter().copied().map(Some).collect(),
        blocks: flow::blocks(code),
        live: live_in(code),
        item: item.into_iter().flatten().collect(),
        loads: Vec::new(),
        rows,
    };
    maker.hoist(most);
    maker.know();
    maker.without();
    maker.pushes();
    maker.exits();
    maker.frames(&kernel.code);
    if maker.loads.is_empty() && maker.words.iter().all(Option::is_some) {
        return None;
    }
    Some(maker.finish())
}

fn raw(op: u32, a: u8, b: u8, imm: u32) -> Word {
    Word {
        op: op as u8,
        d: 0,
        a,
        b,
        imm,
    }
}

/// The slot of a value of this width.
fn slot_of(wide: bool) -> Slot {
    if wide { Slot::D } else { Slot::W }
}

/// The word with what it reads of the rows from `from` on taken from those from `to` on; nothing if it reads others
/// with them.
fn renamed(word: &Word, from: u8, wide: bool, to: u8) -> Option<Word> {
    let row = op(word).row();
    let taken = rows_of(slot_of(wide), from);
    let byte = |slot: Slot, byte: u8| -> Option<u8> {
        let rows = rows_of(slot, byte);
        if !rows.meets(taken) {
            return Some(byte);
        }
        (rows.without(taken) == Rows::NONE).then(|| to + (byte - from))
    };
    let mut out = *word;
    out.a = byte(row.a, word.a)?;
    out.b = byte(row.b, word.b)?;
    let third = match row.imm {
        Imm::Third => byte(row.d, word.third())?,
        Imm::ResourceThird(_) => byte(row.b, word.third())?,
        _ => return Some(out),
    };
    out.imm = word.imm & !255 | u32::from(third);
    Some(out)
}

/// The buffer that a word loads an element of 4 or 8 bytes from, and whether it has 8.
fn loaded(word: &Word) -> Option<(Resource, bool)> {
    let row = op(word).row();
    let loads = row.effect.loads() && row.kind() != Some(Kind::Buffer8);
    Some((word.names().filter(|_| loads)?, row.d == Slot::D))
}

impl Maker {
    /// The branches around a word.
    fn around(&self, pc: usize) -> impl Iterator<Item = &Block> {
        (self.blocks.iter()).filter(move |b| b.kind == BlockKind::If && b.holds(pc))
    }

    fn ifs(&self) -> Vec<Block> {
        let ifs = self.blocks.iter().filter(|b| b.kind == BlockKind::If);
        ifs.copied().collect()
    }

    /// How many branches and loops are around a word.
    fn depth(&self, pc: usize) -> usize {
        self.blocks.iter().filter(|b| b.holds(pc)).count()
    }

    /// Where the innermost branch around a word ends.
    fn close(&self, pc: usize) -> usize {
        let ends = self.around(pc).map(|i| match i.otherwise {
            Some(otherwise) if pc < otherwise => otherwise,
            _ => i.end,
        });
        ends.min().unwrap_or(self.before.len())
    }

    /// Whether nothing happens from here on.
    fn is_tail(&self, pc: usize) -> bool {
        (self.before[pc..].iter()).all(|w| matches!(op(w), Op::EndIf | Op::Ret))
    }

    fn is_live(&self, pc: usize, first: u8, wide: bool) -> bool {
        let live = self.live[pc];
        live.has(first) || wide && live.has(first + 1)
    }

    /// Whether a word's row holds what the item has there, or is no row.
    fn is_own(&self, pc: usize, byte: u8) -> bool {
        let stays = !self.before[..pc].iter().any(|w| writes(w).has(byte));
        byte >= UNIFORM_BASE && byte != IMM || self.item.contains(&byte) && stays
    }

    /// Takes loads of the more frequent width to the beginning.
    fn hoist(&mut self, most: u32) {
        let of = |wide: bool| {
            (0..self.before.len())
                .filter(|&pc| {
                    let Some((buffer, is_wide)) = loaded(&self.before[pc]) else {
                        return false;
                    };
                    is_wide == wide
                        && self.around(pc).count() <= 1
                        && self.depth(pc) == self.around(pc).count()
                        && self.is_own(pc, self.before[pc].a)
                        && !self.before[..pc].iter().any(|w| w.changes(buffer))
                })
                .collect::<Vec<usize>>()
        };
        let (narrow, wide) = (of(false), of(true));
        let is_wide = wide.len() > narrow.len();
        let before = (self.words.clone(), self.rows);
        for pc in if is_wide { wide } else { narrow } {
            if self.loads.len() < LOADS {
                self.hoist_one(pc, is_wide, most);
            }
        }
        // One alone has no other to overlap with.
        if self.loads.len() < 2 {
            self.loads.clear();
            (self.words, self.rows) = before;
        }
    }

    fn hoist_one(&mut self, pc: usize, wide: bool, most: u32) {
        let load = self.before[pc];
        let width = 1 + u8::from(wide);
        let mine = rows_of(slot_of(wide), load.d);
        // Its own rows do if nothing uses them before. Where it is under a condition, nothing may need them
        // either where that does not hold.
        let earlier = self.words[..pc].iter().flatten();
        let free = earlier.clone().all(|w| !mine.meets(uses(w).or(defs(w))))
            && (self.loads.iter()).all(|(_, l)| !mine.meets(rows_of(slot_of(wide), l.d)))
            && self.around(pc).all(|i| {
                let ends = [i.otherwise, Some(i.end)];
                ends.into_iter()
                    .flatten()
                    .filter(|&e| e > pc)
                    .all(|e| !self.is_live(e, load.d, wide))
            });
        if free {
            self.loads.push((pc, load));
            self.words[pc] = None;
            return;
        }
        if self.rows + u32::from(width) > most {
            return;
        }
        // Rows of its own, and all readers look there.
        let fresh = self.rows as u8;
        let close = self.close(pc);
        let level = self.depth(pc);
        let mut words = self.words.clone();
        let mut ended = false;
        let within = words.iter_mut().enumerate().take(close);
        for (at, slot) in within.skip(pc + 1) {
            let Some(word) = *slot else { continue };
            let Some(now) = renamed(&word, load.d, wide, fresh) else {
                return;
            };
            *slot = Some(now);
            if mine.meets(defs(&word)) {
                let other_half = mine.without(defs(&word)).meets(self.live[at + 1]);
                if self.depth(at) != level || other_half {
                    return;
                }
                ended = true;
                break;
            }
        }
        if !ended && close < self.before.len() && self.is_live(close, load.d, wide) {
            return;
        }
        self.words = words;
        self.words[pc] = None;
        self.loads.push((pc, Word { d: fresh, ..load }));
        self.rows += u32::from(width);
    }

    /// Marks atomics on elements that were loaded first.
    fn know(&mut self) {
        for pc in 0..self.words.len() {
            let Some(word) = self.words[pc] else { continue };
            let looks = looks(op(&word));
            let known =
                (self.loads.iter()).any(|(_, l)| (l.resource(), l.a) == (word.resource(), word.a));
            if looks && known && self.is_own(pc, word.a) {
                let imm = word.imm | abi::TILE_KNOWN;
                self.words[pc] = Some(Word { imm, ..word });
            }
        }
    }

    /// `x & !y`.
    fn without(&mut self) {
        for pc in 0..self.words.len().saturating_sub(1) {
            let (Some(not), Some(and)) = (self.words[pc], self.words[pc + 1]) else {
                continue;
            };
            if (not.op, and.op) != (Op::Xor64 as u8, Op::And64 as u8) || not.imm != u32::MAX {
                continue;
            }
            let taken = match (not.a, not.b) {
                (IMM, IMM) => continue,
                (x, IMM) | (IMM, x) => x,
                _ => continue,
            };
            let kept = match (and.a == not.d, and.b == not.d) {
                (true, false) => and.b,
                (false, true) => and.a,
                _ => continue,
            };
            // An immediate of the other word has no place; rows that overlap by half are left alone.
            let halves = rows_of(Slot::D, kept).meets(rows_of(Slot::D, not.d));
            if kept == IMM || halves || and.d != not.d && self.is_live(pc + 2, not.d, true) {
                continue;
            }
            let word = raw(abi::TILE_WITHOUT, kept, taken, 0);
            self.words[pc + 1] = Some(Word { d: and.d, ..word });
            self.words[pc] = None;
        }
    }

    /// Pushes under a condition that has nothing else.
    fn pushes(&mut self) {
        let is_push = |word: Option<Word>| word.filter(|w| w.op == Op::Push as u8);
        for i in self.ifs() {
            let Some(test) = self.words[i.at].filter(|w| w.a != IMM) else {
                continue;
            };
            let conditional =
                |push: Word, when: u32| Some(raw(abi::TILE_PUSH, push.a, test.a, push.imm | when));
            match i.otherwise {
                Some(otherwise) if (otherwise, i.end) == (i.at + 2, i.at + 4) => {
                    let both = (
                        is_push(self.words[i.at + 1]),
                        is_push(self.words[otherwise + 1]),
                    );
                    let (Some(first), Some(second)) = both else {
                        continue;
                    };
                    self.words[i.at] = None;
                    self.words[i.at + 1] = conditional(first, 1);
                    self.words[otherwise] = None;
                    self.words[otherwise + 1] = conditional(second, 0);
                    self.words[i.end] = None;
                }
                None if i.end == i.at + 2 && !self.is_tail(i.end) => {
                    let Some(push) = is_push(self.words[i.at + 1]) else {
                        continue;
                    };
                    self.words[i.at] = None;
                    self.words[i.at + 1] = conditional(push, 1);
                    self.words[i.end] = None;
                }
                _ => {}
            }
        }
    }

    /// An `if` with nothing after it: items leave that do not take it, with the comparison before it in one word.
    fn exits(&mut self) {
        for i in self.ifs() {
            let Some(test) = self.words[i.at].filter(|_| self.is_tail(i.end)) else {
                continue;
            };
            self.words[i.end] = None;
            if i.otherwise.is_some() {
                continue;
            }
            self.words[i.at] = Some(raw(abi::TILE_EXIT, test.a, 0, 0));
            let Some(compared) = i.at.checked_sub(1).and_then(|pc| self.words[pc]) else {
                continue;
            };
            let fused = match Op::from_code(compared.op) {
                Some(Op::LtU32) => abi::TILE_EXIT_LT,
                Some(Op::LeU32) => abi::TILE_EXIT_LE,
                Some(Op::Eq32) => abi::TILE_EXIT_EQ,
                Some(Op::Ne32) => abi::TILE_EXIT_NE,
                Some(Op::Ne64) => abi::TILE_EXIT_NE64,
                _ => continue,
            };
            if compared.d == test.a && !self.is_live(i.at + 1, test.a, false) {
                let word = raw(fused, compared.a, compared.b, compared.imm);
                self.words[i.at] = Some(word);
                self.words[i.at - 1] = None;
            }
        }
    }

    /// Counts anew the mask frames below the loops that words leave.
    fn frames(&mut self, program: &[Word]) {
        let mut frames = 0;
        let mut loops: Vec<u32> = Vec::new();
        for (word, before) in self.words.iter_mut().zip(program) {
            let Some(word) = word else { continue };
            match Op::from_code(word.op) {
                Some(Op::If) => frames += u32::from(FRAMES_PER_IF),
                Some(Op::EndIf) => frames -= u32::from(FRAMES_PER_IF),
                Some(Op::Loop) => {
                    loops.push(frames + 1);
                    frames += u32::from(FRAMES_PER_LOOP);
                }
                Some(Op::EndLoop) => {
                    loops.pop();
                    frames -= u32::from(FRAMES_PER_LOOP);
                }
                Some(other) if other.row().imm == Imm::Depth => {
                    word.imm = loops[loops.len() - 1 - before.imm as usize];
                }
                _ => {}
            }
        }
    }

    fn finish(self) -> Tile {
        let mut tile = Tile {
            rows: self.rows,
            ..Tile::default()
        };
        if let Some((first, load)) = self.loads.first() {
            let wide = op(load).row().d == Slot::D;
            let count = self.loads.len() as u32 | u32::from(wide) << 8;
            tile.code.push(raw(abi::TILE_LOADS, 0, 0, count));
            tile.origins.push(*first as u32);
            for (pc, load) in &self.loads {
                tile.code.push(*load);
                tile.origins.push(*pc as u32);
            }
        }
        let last = self.words.len() - 1;
        let mut places = Vec::with_capacity(self.words.len());
        for (pc, word) in self.words.iter().enumerate() {
            places.push(tile.code.len() as u32);
            let word = if pc == last {
                Some(raw(abi::TILE_END, 0, 0, 0))
            } else {
                *word
            };
            if let Some(word) = word {
                tile.code.push(word);
                tile.origins.push(pc as u32);
            }
        }
        for word in &mut tile.code {
            if Op::from_code(word.op).is_some_and(|op| op.row().imm == Imm::Target) {
                word.imm = places[word.imm as usize];
            }
        }
        tile
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::neighbor_loop::words::word;
    use vyre_core::vir0::isa::Effect;
    use vyre_core::vir0::module::ItemRows;

    /// The device has words for these alone: those of 32 and 64 bits which few items change.
    #[test]
    fn the_updates_that_look_first_are_those_of_tiles() {
        let all = Op::ALL.iter().copied().filter(|&op| looks(op));
        let of_tiles = [Op::AtomMinU32, Op::AtomMaxU32, Op::AtomOr32, Op::AtomOr64];
        assert!(all.eq(of_tiles));
        assert!(of_tiles.iter().all(|op| op.row().effect == Effect::Update));
    }

    fn tile(code: &[Word], rows: u8, item: ItemRows) -> Option<Tile> {
        let kernel = Kernel {
            name: "k".into(),
            code: code.to_vec(),
            rows,
            frames: 8,
            item,
            uniforms: vec![],
            sites: vec![],
        };
        of_kernel(&kernel, code, u32::from(rows), 10)
    }

    fn edge(index: Option<u8>, src: u8, dst: u8) -> ItemRows {
        ItemRows {
            index,
            src: Some(src),
            dst: Some(dst),
            ..ItemRows::default()
        }
    }

    const UNREACHED: u8 = UNIFORM_BASE;
    const NEAREST: u8 = UNIFORM_BASE + 1;
    const WIDTH: u8 = UNIFORM_BASE + 2;

    #[test]
    fn an_edge_is_relaxed_in_few_words() {
        // let d = dist[src]; let step = weight[index]; if step < UNREACHED - d { let next = d + step;
        // if next < dist[dst] && next < dist[dst].fetch_min(next) { near or far } }
        let code = [
            word(Op::AtomLd32, 1, 1, 0, 0),
            word(Op::Ld32, 0, 0, 0, 1 << 16),
            word(Op::Sub32, 3, UNREACHED, 1, 0),
            word(Op::LtU32, 3, 0, 3, 0),
            word(Op::If, 0, 3, 0, 21),
            word(Op::Add32, 0, 1, 0, 0),
            word(Op::AtomLd32, 1, 2, 0, 0),
            word(Op::LtU32, 1, 0, 1, 0),
            word(Op::If, 0, 1, 0, 20),
            word(Op::AtomMinU32, 1, 2, 0, 0),
            word(Op::LtU32, 1, 0, 1, 0),
            word(Op::If, 0, 1, 0, 19),
            word(Op::Sub32, 0, 0, NEAREST, 0),
            word(Op::LtU32, 0, 0, WIDTH, 0),
            word(Op::If, 0, 0, 0, 16),
            word(Op::Push, 0, 2, 0, 0),
            word(Op::Else, 0, 0, 0, 18),
            word(Op::Push, 0, 2, 0, 1 << 16),
            word(Op::EndIf, 0, 0, 0, 0),
            word(Op::EndIf, 0, 0, 0, 0),
            word(Op::EndIf, 0, 0, 0, 0),
            word(Op::EndIf, 0, 0, 0, 0),
            word(Op::Ret, 0, 0, 0, 0),
        ];
        let tile = tile(&code, 4, edge(Some(0), 1, 2)).unwrap();
        assert_eq!(
            tile.code,
            [
                raw(abi::TILE_LOADS, 0, 0, 3),
                word(Op::AtomLd32, 1, 1, 0, 0),
                word(Op::Ld32, 0, 0, 0, 1 << 16),
                word(Op::AtomLd32, 4, 2, 0, 0),
                word(Op::Sub32, 3, UNREACHED, 1, 0),
                raw(abi::TILE_EXIT_LT, 0, 3, 0),
                word(Op::Add32, 0, 1, 0, 0),
                raw(abi::TILE_EXIT_LT, 0, 4, 0),
                word(Op::AtomMinU32, 1, 2, 0, abi::TILE_KNOWN),
                raw(abi::TILE_EXIT_LT, 0, 1, 0),
                word(Op::Sub32, 0, 0, NEAREST, 0),
                word(Op::LtU32, 0, 0, WIDTH, 0),
                raw(abi::TILE_PUSH, 2, 0, 1),
                raw(abi::TILE_PUSH, 2, 0, 1 << 16),
                raw(abi::TILE_END, 0, 0, 0),
            ]
        );
        assert_eq!(
            tile.origins,
            [0, 0, 1, 6, 2, 4, 5, 8, 9, 11, 12, 13, 15, 17, 22]
        );
        assert_eq!(tile.rows, 5);
    }

    #[test]
    fn sets_flow_in_few_words() {
        // let through = live[src] & !defs[dst]; if through & !live[dst] != 0 {
        // if through & !live[dst].fetch_or(through) != 0 { push } }
        let code = [
            word(Op::AtomLd64, 0, 0, 0, 0),
            word(Op::Ld64, 2, 4, 0, 1 << 16),
            word(Op::Xor64, 2, 2, IMM, u32::MAX),
            word(Op::And64, 0, 0, 2, 0),
            word(Op::AtomLd64, 2, 4, 0, 0),
            word(Op::Xor64, 2, 2, IMM, u32::MAX),
            word(Op::And64, 2, 0, 2, 0),
            word(Op::Ne64, 2, 2, IMM, 0),
            word(Op::If, 0, 2, 0, 16),
            word(Op::AtomOr64, 2, 4, 0, 0),
            word(Op::Xor64, 2, 2, IMM, u32::MAX),
            word(Op::And64, 0, 0, 2, 0),
            word(Op::Ne64, 0, 0, IMM, 0),
            word(Op::If, 0, 0, 0, 15),
            word(Op::Push, 0, 4, 0, 0),
            word(Op::EndIf, 0, 0, 0, 0),
            word(Op::EndIf, 0, 0, 0, 0),
            word(Op::Ret, 0, 0, 0, 0),
        ];
        let tile = tile(&code, 5, edge(None, 0, 4)).unwrap();
        let without = |d: u8, a: u8, b: u8| Word {
            d,
            ..raw(abi::TILE_WITHOUT, a, b, 0)
        };
        assert_eq!(
            tile.code,
            [
                raw(abi::TILE_LOADS, 0, 0, 3 | 1 << 8),
                word(Op::AtomLd64, 0, 0, 0, 0),
                word(Op::Ld64, 2, 4, 0, 1 << 16),
                word(Op::AtomLd64, 5, 4, 0, 0),
                without(0, 0, 2),
                without(2, 0, 5),
                raw(abi::TILE_EXIT_NE64, 2, IMM, 0),
                word(Op::AtomOr64, 2, 4, 0, abi::TILE_KNOWN),
                without(0, 0, 2),
                raw(abi::TILE_EXIT_NE64, 0, IMM, 0),
                word(Op::Push, 0, 4, 0, 0),
                raw(abi::TILE_END, 0, 0, 0),
            ]
        );
        assert_eq!(tile.rows, 7);
    }

    #[test]
    fn ifs_with_something_after_them_stay() {
        // let a = label[src]; let b = label[dst]; if a < b { label[dst].fetch_min(a); } if b < a {
        // label[src].fetch_min(b); }
        let code = [
            word(Op::AtomLd32, 2, 0, 0, 0),
            word(Op::AtomLd32, 3, 1, 0, 0),
            word(Op::LtU32, 4, 2, 3, 0),
            word(Op::If, 0, 4, 0, 5),
            word(Op::AtomMinU32, IMM, 1, 2, 0),
            word(Op::EndIf, 0, 0, 0, 0),
            word(Op::LtU32, 1, 3, 2, 0),
            word(Op::If, 0, 1, 0, 9),
            word(Op::AtomMinU32, IMM, 0, 3, 0),
            word(Op::EndIf, 0, 0, 0, 0),
            word(Op::Ret, 0, 0, 0, 0),
        ];
        let tile = tile(&code, 5, edge(None, 0, 1)).unwrap();
        assert_eq!(
            tile.code,
            [
                raw(abi::TILE_LOADS, 0, 0, 2),
                code[0],
                code[1],
                code[2],
                word(Op::If, 0, 4, 0, 6),
                word(Op::AtomMinU32, IMM, 1, 2, abi::TILE_KNOWN),
                code[5],
                raw(abi::TILE_EXIT_LT, 3, 2, 0),
                word(Op::AtomMinU32, IMM, 0, 3, abi::TILE_KNOWN),
                raw(abi::TILE_END, 0, 0, 0),
            ]
        );
        assert_eq!(tile.origins, [0, 0, 1, 2, 3, 4, 5, 7, 8, 10]);
    }

    #[test]
    fn loops_keep_their_frames() {
        // if x[src] < y[dst] { loop { if src { break }; src += 1 } }, with a break out of the inner if
        let code = [
            word(Op::Ld32, 2, 0, 0, 0),
            word(Op::Ld32, 3, 1, 0, 1 << 16),
            word(Op::LtU32, 2, 2, 3, 0),
            word(Op::If, 0, 2, 0, 10),
            word(Op::Loop, 0, 0, 0, 10),
            word(Op::If, 0, 0, 0, 7),
            word(Op::Break, 0, 0, 0, 0),
            word(Op::EndIf, 0, 0, 0, 0),
            word(Op::Add32, 0, 0, IMM, 1),
            word(Op::EndLoop, 0, 0, 0, 4),
            word(Op::EndIf, 0, 0, 0, 0),
            word(Op::Ret, 0, 0, 0, 0),
        ];
        let tile = tile(&code, 4, edge(None, 0, 1)).unwrap();
        assert_eq!(
            tile.code,
            [
                raw(abi::TILE_LOADS, 0, 0, 2),
                code[0],
                code[1],
                raw(abi::TILE_EXIT_LT, 2, 3, 0),
                word(Op::Loop, 0, 0, 0, 10),
                word(Op::If, 0, 0, 0, 7),
                // The round frame of a loop that nothing is around.
                word(Op::Break, 0, 0, 0, 1),
                code[7],
                code[8],
                word(Op::EndLoop, 0, 0, 0, 4),
                raw(abi::TILE_END, 0, 0, 0),
            ]
        );
    }

    #[test]
    fn loads_stay_behind_what_may_change_them() {
        // x[src] = 1; y[dst] + x[dst]: the second load may be of the element that was stored.
        let mut code = vec![
            word(Op::St32, 0, 0, UNREACHED, 0),
            word(Op::Ld32, 2, 1, 0, 1 << 16),
            word(Op::Ld32, 3, 1, 0, 0),
            word(Op::Add32, 2, 2, 3, 0),
            word(Op::St32, 0, 0, 2, 2 << 16),
            word(Op::Ret, 0, 0, 0, 0),
        ];
        assert_eq!(tile(&code, 4, edge(None, 0, 1)), None);
        code[0].imm = 3 << 16;
        let moved = tile(&code, 4, edge(None, 0, 1)).unwrap();
        assert_eq!(
            moved.code[..4],
            [raw(abi::TILE_LOADS, 0, 0, 2), code[1], code[2], code[0]]
        );
        // A row that was assigned is no number of the item.
        code[1] = word(Op::Add32, 1, 1, IMM, 1);
        assert_eq!(tile(&code, 4, edge(None, 0, 1)), None);
    }

    #[test]
    fn loads_under_conditions_must_not_show_without_them() {
        // if a { r2 = x[dst]; z[src] = r2 }; y[src] = x[src], and r2 is not needed afterwards
        let mut code = [
            word(Op::If, 0, UNREACHED, 0, 3),
            word(Op::Ld32, 2, 1, 0, 0),
            word(Op::St32, 0, 0, 2, 2 << 16),
            word(Op::EndIf, 0, 0, 0, 0),
            word(Op::Ld32, 3, 0, 0, 0),
            word(Op::St32, 0, 0, 3, 1 << 16),
            word(Op::Ret, 0, 0, 0, 0),
        ];
        let moved = tile(&code, 4, edge(None, 0, 1)).unwrap();
        assert_eq!(
            moved.code[..4],
            [
                raw(abi::TILE_LOADS, 0, 0, 2),
                code[1],
                code[4],
                word(Op::If, 0, UNREACHED, 0, 5)
            ]
        );
        // Where somebody does, the row keeps its value without the condition, and the other load is alone.
        code[5].b = 2;
        assert_eq!(tile(&code, 4, edge(None, 0, 1)), None);
    }
}
