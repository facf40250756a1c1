//! Finds kernels that only map: every item loads elements of its own number, computes in a straight line (loops whose
//! turns can be counted ahead are unrolled), and stores elements of its own number. The device sweeps them apart from
//! the general interpreter: 8 or 4 items a lane that follow each other four by four, so that an access takes 16 bytes,
//! loads go to register rows without waiting, and no item is masked, as none can fault or leave.

use crate::abi;
use vyre_core::vir0::isa::{Effect, Faults, IMM, Imm, Op, Slot, UNIFORM_BASE, Word};
use vyre_core::vir0::meaning::value;
use vyre_core::vir0::module::Kernel;

/// A kernel's code as the device's map loop reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MapCode {
    /// Words with rows renamed; a load or store has its value in `d` or `b`. Ends with `Ret`.
    pub(crate) code: Vec<Word>,
    /// Of each word, what it leaves out: see [`abi::MAP_A_LAST`] and those after it.
    pub(crate) flags: Vec<u32>,
    /// Rows that it uses.
    pub(crate) rows: u32,
    /// Buffers that it accesses.
    pub(crate) buffers: Vec<u32>,
}

/// Items a lane of a map, most first.
pub(crate) const ITEMS: [u32; 2] = [8, 4];

fn op(word: &Word) -> Option<Op> {
    Op::from_code(word.op)
}

/// Operations on 32-bit values for which the device's map loops have no handler (`VYRE_COMPUTES` in `kernels/interp.cuh`).
const NOT_IN_MAPS: [Op; 8] = [
    Op::ExpF32,
    Op::LnF32,
    Op::SinF32,
    Op::CosF32,
    Op::DivF32,
    Op::RemF32,
    Op::SqrtF32,
    Op::RoundF32,
];

/// Operations on 32-bit values that the map loop has: what it makes depends on its operands alone and never faults.
pub(crate) fn computes(op: Op) -> bool {
    let row = op.row();
    let alone = row.effect == Effect::No && row.faults == Faults::No;
    let is_short = |slot| matches!(slot, Slot::N | Slot::W);
    let is_word = row.d == Slot::W && is_short(row.a) && is_short(row.b);
    let of_operands = matches!(row.imm, Imm::Literal | Imm::Third);
    alone && is_word && of_operands && !NOT_IN_MAPS.contains(&op)
}

/// A word whose rows are values that are made once: which it makes, and which its operands a, b and c are.
struct Draft {
    word: Word,
    makes: Option<usize>,
    takes: [Option<usize>; 3],
}

/// What a row holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Held {
    Nothing,
    Constant(u32),
    Value(usize),
}

/// Words of a map at most, with loops unrolled.
const MOST_WORDS: usize = 256;
/// Words looked at for one at most.
const MOST_STEPS: usize = 4_096;

/// Whether counters and their conditions need this operation where its operands are known.
fn counts(op: Op) -> bool {
    use Op::{Add32, Eq32, LeI32, LeU32, LtI32, LtU32, Mov32, Ne32, Sub32};
    matches!(
        op,
        Mov32 | Add32 | Sub32 | LtU32 | LeU32 | LtI32 | LeI32 | Eq32 | Ne32
    )
}

/// A wave's kernel as a map, if it is one that stores something. Loops whose turns can be counted ahead are unrolled.
pub(crate) fn find(kernel: &Kernel) -> Option<MapCode> {
    let index = kernel.item.index?;
    let only_index = kernel.item.src.is_none()
        && kernel.item.dst.is_none()
        && kernel.item.fields.iter().all(Option::is_none);
    if !only_index {
        return None;
    }
    // Value 0 is the item's number.
    let mut held = [Held::Nothing; 256];
    held[usize::from(index)] = Held::Value(0);
    let mut values = 1;
    let (mut loads, mut others) = (Vec::new(), Vec::new());
    let (mut buffers, mut stored) = (Vec::new(), Vec::new());
    let mut loops = Vec::new();
    let mut pc = 0;
    for _ in 0..MOST_STEPS {
        let mut word = *kernel.code.get(pc)?;
        let op = op(&word)?;
        let row = op.row();
        pc += 1;
        let constant = |byte: u8| match held[usize::from(byte)] {
            _ if byte == IMM => Some(word.imm),
            Held::Constant(c) if byte < UNIFORM_BASE => Some(c),
            _ => None,
        };
        match op {
            Op::Ret if loops.is_empty() && !stored.is_empty() => {
                return Some(place(loads, others, buffers, values));
            }
            Op::Loop => {
                loops.push(pc - 1);
                continue;
            }
            Op::EndLoop => {
                pc = *loops.last()? + 1;
                continue;
            }
            Op::BreakIf | Op::BreakUnless if word.a < UNIFORM_BASE => {
                if (constant(word.a)? != 0) == (op == Op::BreakIf) {
                    let out = loops.len().checked_sub(word.imm as usize + 1)?;
                    pc = kernel.code[loops[out]].imm as usize;
                    loops.truncate(out);
                }
                continue;
            }
            _ => {}
        }
        let own = matches!(op, Op::Ld32 | Op::St32) && word.a == index;
        let third = row.imm == Imm::Third;
        if own {
            // Loads go first, so that none may look for what was stored.
            let buffer = u32::from(word.resource());
            if op == Op::Ld32 && stored.contains(&buffer) {
                return None;
            }
            if op == Op::St32 {
                stored.push(buffer);
            }
            if !buffers.contains(&buffer) {
                buffers.push(buffer);
            }
        } else if !computes(op) && op != Op::LdU32 {
            return None;
        }
        if third && (word.a == IMM || word.b == IMM) {
            return None;
        }
        let makes_row = row.d != Slot::N;
        if makes_row && (word.d == index || word.d >= UNIFORM_BASE) {
            return None;
        }
        let operand = |slot: Slot, byte: u8| match slot {
            Slot::N => Some(0),
            _ => constant(byte),
        };
        if counts(op)
            && let Some((a, b)) = operand(row.a, word.a).zip(operand(row.b, word.b))
            && let Some(bits) = value(op, [a.into(), b.into(), 0])
        {
            held[usize::from(word.d)] = Held::Constant(bits as u32);
            continue;
        }
        let mut takes = [None; 3];
        let operands = [
            (row.a != Slot::N && !own, word.a),
            (row.b != Slot::N, word.b),
            (third, word.third()),
        ];
        let literal = row.imm == Imm::Literal;
        let mut free = literal && !operands.iter().any(|&(some, byte)| some && byte == IMM);
        for (i, (some, byte)) in operands.into_iter().enumerate() {
            if !some || byte >= UNIFORM_BASE {
                continue;
            }
            takes[i] = match held[usize::from(byte)] {
                Held::Nothing => return None,
                Held::Value(v) => Some(v),
                // Into the word, if it has no other literal.
                Held::Constant(c) if free && i < 2 => {
                    free = false;
                    word.imm = c;
                    *[&mut word.a, &mut word.b][i] = IMM;
                    None
                }
                Held::Constant(c) => {
                    let word = Word {
                        op: Op::Mov32 as u8,
                        a: IMM,
                        imm: c,
                        ..Word::default()
                    };
                    let made = Some(values);
                    values += 1;
                    others.push(Draft {
                        word,
                        makes: made,
                        takes: [None; 3],
                    });
                    made
                }
            };
        }
        let makes = makes_row.then_some(values);
        if makes_row {
            held[usize::from(word.d)] = Held::Value(values);
            values += 1;
        }
        let list = if op == Op::Ld32 {
            &mut loads
        } else {
            &mut others
        };
        list.push(Draft { word, makes, takes });
        if loads.len() + others.len() > MOST_WORDS {
            return None;
        }
    }
    None
}

/// Puts loads before all else, waits for them once, and gives values rows that are free; those that are only wanted
/// while they are the last that was computed need none.
fn place(mut loads: Vec<Draft>, others: Vec<Draft>, buffers: Vec<u32>, values: usize) -> MapCode {
    let bare = |op: u32, makes| Draft {
        word: Word {
            op: op as u8,
            ..Word::default()
        },
        makes,
        takes: [None; 3],
    };
    let loaded: Vec<Option<usize>> = loads.iter().map(|d| d.makes).collect();
    let wait_at = (others.iter())
        .position(|d| {
            d.makes.is_none() || d.takes.iter().any(|v| v.is_some() && loaded.contains(v))
        })
        .unwrap_or(others.len());
    let mut drafts = Vec::new();
    if others.iter().any(|d| d.takes.contains(&Some(0))) {
        drafts.push(bare(abi::OP_NUMBER, Some(0)));
    }
    let waits = !loads.is_empty();
    drafts.append(&mut loads);
    for (i, draft) in others.into_iter().enumerate() {
        if waits && i == wait_at {
            drafts.push(bare(abi::OP_WAIT, None));
        }
        drafts.push(draft);
    }
    drafts.push(bare(Op::Ret as u32, None));

    let (mut until, mut kept) = (vec![0; values], vec![false; values]);
    let mut flags = vec![0; drafts.len()];
    let mut last = None;
    for (at, draft) in drafts.iter().enumerate() {
        for (i, &taken) in draft.takes.iter().enumerate() {
            let Some(value) = taken else { continue };
            until[value] = at;
            if i < 2 && taken == last {
                flags[at] |= [abi::MAP_A_LAST, abi::MAP_B_LAST][i];
            } else {
                kept[value] = true;
            }
        }
        let computing = op(&draft.word).filter(|&op| computes(op) || op == Op::LdU32);
        match computing {
            None => flags[at] |= abi::MAP_MOVES,
            // An operand that there is not need not be fetched.
            Some(op) if op.row().b == Slot::N => flags[at] |= abi::MAP_B_LAST,
            Some(_) => {}
        }
        let Some(value) = draft.makes else { continue };
        until[value] = at;
        if op(&draft.word) == Some(Op::Ld32) {
            kept[value] = true;
        } else {
            last = draft.makes;
        }
    }
    let mut rows: Vec<Option<usize>> = Vec::new();
    let code = (drafts.iter().enumerate()).map(|(at, draft)| {
        let mut word = draft.word;
        let row_of = |v: Option<usize>| rows.iter().position(|r| v.is_some() && *r == v);
        let [a, b, c] = draft.takes.map(row_of);
        // One that is at hand has no row, and needs none.
        if draft.takes[0].is_some() {
            word.a = a.unwrap_or(0) as u8;
        }
        if draft.takes[1].is_some() {
            word.b = b.unwrap_or(0) as u8;
        }
        if let Some(c) = c {
            word.imm = word.imm & !255 | c as u32;
        }
        let free = |r: &Option<usize>| r.is_none_or(|v| until[v] <= at);
        match draft.makes {
            Some(value) if kept[value] => {
                let row = rows.iter().position(free).unwrap_or(rows.len());
                rows.resize(rows.len().max(row + 1), None);
                rows[row] = Some(value);
                word.d = row as u8;
            }
            Some(_) => {
                flags[at] |= abi::MAP_NOT_KEPT;
                word.d = 0;
            }
            None => {}
        }
        word
    });
    let code = code.collect();
    MapCode {
        code,
        flags,
        rows: rows.len().max(1) as u32,
        buffers,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::neighbor_loop::words::word_of as word;
    use vyre_core::vir0::module::ItemRows;

    fn kernel(code: Vec<Word>) -> Kernel {
        Kernel {
            name: "map".into(),
            code,
            rows: 8,
            frames: 0,
            item: ItemRows {
                index: Some(0),
                ..ItemRows::default()
            },
            uniforms: vec![],
            sites: vec![],
        }
    }

    /// y = a * x + y, with a gap between the rows.
    fn saxpy() -> Vec<Word> {
        vec![
            word(Op::Ld32 as u32, 5, 0, 0, 3 << 16),
            word(Op::MulF32 as u32, 5, UNIFORM_BASE, 5, 0),
            word(Op::Ld32 as u32, 7, 0, 0, 4 << 16),
            word(Op::AddF32 as u32, 5, 5, 7, 0),
            word(Op::St32 as u32, 0, 0, 5, 4 << 16),
            word(Op::Ret as u32, 0, 0, 0, 0),
        ]
    }

    #[test]
    fn a_map_loads_first_waits_once_and_takes_few_rows() {
        let expected = MapCode {
            code: vec![
                word(Op::Ld32 as u32, 0, 0, 0, 3 << 16),
                word(Op::Ld32 as u32, 1, 0, 0, 4 << 16),
                word(abi::OP_WAIT, 0, 0, 0, 0),
                word(Op::MulF32 as u32, 0, UNIFORM_BASE, 0, 0),
                word(Op::AddF32 as u32, 0, 0, 1, 0),
                word(Op::St32 as u32, 0, 0, 0, 4 << 16),
                word(Op::Ret as u32, 0, 0, 0, 0),
            ],
            flags: vec![
                abi::MAP_MOVES,
                abi::MAP_MOVES,
                abi::MAP_MOVES,
                abi::MAP_NOT_KEPT,
                abi::MAP_A_LAST | abi::MAP_NOT_KEPT,
                abi::MAP_B_LAST | abi::MAP_MOVES,
                abi::MAP_MOVES,
            ],
            rows: 2,
            buffers: vec![3, 4],
        };
        assert_eq!(find(&kernel(saxpy())), Some(expected));
    }

    #[test]
    fn numbers_of_items_are_made_when_they_are_values() {
        let code = vec![
            word(Op::Add32 as u32, 2, 0, IMM, 7),
            word(Op::St32 as u32, 0, 0, 2, 0),
            word(Op::Ret as u32, 0, 0, 0, 0),
        ];
        let found = find(&kernel(code)).unwrap();
        assert_eq!(found.code[0], word(abi::OP_NUMBER, 0, 0, 0, 0));
        assert_eq!(found.code[1], word(Op::Add32 as u32, 0, 0, IMM, 7));
        assert_eq!(found.flags[1], abi::MAP_A_LAST | abi::MAP_NOT_KEPT);
        assert_eq!((found.rows, found.buffers), (1, vec![0]));
    }

    #[test]
    fn loops_with_turns_that_can_be_counted_are_unrolled() {
        let code = vec![
            word(Op::Xor32 as u32, 2, 0, UNIFORM_BASE, 0),
            word(Op::Mov32 as u32, 1, IMM, 0, 0),
            word(Op::Loop as u32, 0, 0, 0, 9),
            word(Op::LeU32 as u32, 3, IMM, 1, 2),
            word(Op::BreakIf as u32, 0, 3, 0, 0),
            word(Op::Mul32 as u32, 2, 2, IMM, 9),
            word(Op::Add32 as u32, 2, 2, 1, 0),
            word(Op::Add32 as u32, 1, 1, IMM, 1),
            word(Op::EndLoop as u32, 0, 0, 0, 2),
            word(Op::St32 as u32, 0, 0, 2, 0),
            word(Op::Ret as u32, 0, 0, 0, 0),
        ];
        let found = find(&kernel(code.clone())).unwrap();
        let ops: Vec<(u8, u8, u32)> = found.code.iter().map(|w| (w.op, w.b, w.imm)).collect();
        let (mul, add) = (Op::Mul32 as u8, Op::Add32 as u8);
        let turns = [(mul, IMM, 9), (add, IMM, 0), (mul, IMM, 9), (add, IMM, 1)];
        assert_eq!(ops[2..6], turns);
        assert_eq!((ops.len(), found.rows), (8, 1));
        // The item's own number of turns.
        let mut uneven = code;
        uneven[3].b = 0;
        assert_eq!(find(&kernel(uneven)), None);
    }

    #[test]
    fn what_may_fault_branch_or_see_a_store_is_no_map() {
        let none = |change: fn(&mut Vec<Word>)| {
            let mut code = saxpy();
            change(&mut code);
            assert_eq!(find(&kernel(code)), None);
        };
        // Another element than the item's own.
        none(|code| code[2].a = 5);
        // The item's number is no longer that.
        none(|code| code[1].d = 0);
        none(|code| code[1].op = Op::DivU32 as u8);
        none(|code| code[1].op = Op::If as u8);
        // A row that nothing was put in.
        none(|code| code[1].b = 6);
        // Nothing is stored.
        none(|code| code.retain(|w| w.op != Op::St32 as u8));
        // Loaded again after it was stored.
        none(|code| code.insert(5, word(Op::Ld32 as u32, 6, 0, 0, 4 << 16)));
    }
}
