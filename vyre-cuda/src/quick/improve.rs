//! Fewer drafts that do the same: copies, complements and tests go into the drafts that need them, and what is never
//! read is not computed.

use super::draft::{COPY, Does, Draft, NOT_SAME, XOR};
use super::translate::File;
use crate::abi;
use vyre_core::vir0::flow::{Rows, live_through};
use vyre_core::vir0::isa::{Imm, Slot};

/// For every draft, the rows that a lane may still read after it. What it computes on one side of an else, it does not
/// read on the other.
pub(super) fn live_after(drafts: &[Draft]) -> Vec<Rows> {
    let behind = |pc: u32| {
        let joins = drafts.iter().position(|s| s.joins() && s.pc == pc);
        joins.expect("an if and its else have an end") + 1
    };
    let next = |i: usize| match drafts[i].does {
        Does::If(to) => vec![i + 1, behind(to)],
        Does::Else(to) => vec![behind(to)],
        Does::Return | Does::End => vec![],
        Does::Computes(_) | Does::Op(..) | Does::Push(_) | Does::EndIf => vec![i + 1],
    };
    let live = live_through(drafts.len(), next, |i| drafts[i].rows());
    let after = |i: usize| (next(i).into_iter()).fold(Rows::NONE, |rows, to| rows.or(live[to]));
    (0..drafts.len()).map(after).collect()
}

/// The same with operands named by where they come from, complements and tests taken into the word that needs them, and
/// without what is not read then.
pub(super) fn improved(mut drafts: Vec<Draft>, file: &File<'_>) -> Vec<Draft> {
    // What a row holds, in terms of others: a copy, a complement, or whether a row is not 0.
    #[derive(Clone, Copy, PartialEq)]
    enum Is {
        Copy(u32),
        Complement(u32),
        Some(u32),
    }
    let mut known: Vec<(u32, Is)> = Vec::new();
    for draft in &mut drafts {
        if draft.joins() {
            known.clear();
            continue;
        }
        let find = |known: &[(u32, Is)], row: u32| known.iter().find(|k| k.0 == row).map(|k| k.1);
        let copied = |known: &[(u32, Is)], row: u32| match find(known, row) {
            Some(Is::Copy(of)) => of,
            _ => row,
        };
        match draft.does {
            Does::Computes(bits) => {
                draft.a = copied(&known, draft.a);
                draft.b = copied(&known, draft.b);
                if bits == abi::QUICK_BITS | abi::QUICK_BOTH && draft.a != draft.b {
                    if let Some(Is::Complement(_)) = find(&known, draft.a) {
                        std::mem::swap(&mut draft.a, &mut draft.b);
                    }
                    if let Some(Is::Complement(of)) = find(&known, draft.b) {
                        draft.b = of;
                        draft.does = Does::Computes(bits | abi::QUICK_FLIP);
                    }
                }
            }
            Does::Push(_) | Does::If(_) => {
                draft.a = copied(&known, draft.a);
                draft.b = copied(&known, draft.b);
                if let Some(Is::Some(of)) = find(&known, draft.a) {
                    draft.a = of;
                }
            }
            Does::Op(op, ..) => {
                let row = op.row();
                let narrow = |slot: Slot| matches!(slot, Slot::W | Slot::OptW);
                if narrow(row.a) {
                    draft.a = copied(&known, draft.a);
                }
                if narrow(row.b) {
                    draft.b = copied(&known, draft.b);
                    if matches!(row.imm, Imm::Third | Imm::ResourceThird(_)) {
                        draft.c = copied(&known, draft.c);
                    }
                }
            }
            _ => {}
        }
        let written = draft.writes();
        known.retain(|&(row, is)| {
            let (Is::Copy(of) | Is::Complement(of) | Is::Some(of)) = is;
            !written.contains(&row) && !written.contains(&of)
        });
        if let Does::Computes(bits) = draft.does
            && !draft.reads().contains(&draft.d)
        {
            let is = match bits {
                COPY if draft.a == draft.b => Some(Is::Copy(draft.a)),
                XOR if file.holds(draft.b, !0) => Some(Is::Complement(draft.a)),
                XOR if file.holds(draft.a, !0) => Some(Is::Complement(draft.b)),
                NOT_SAME if file.holds(draft.b, 0) => Some(Is::Some(draft.a)),
                _ => None,
            };
            known.extend(is.map(|is| (draft.d, is)));
        }
    }
    take_complements_in(&mut drafts, file);
    loop {
        let after = live_after(&drafts);
        let before = drafts.len();
        let mut i = 0;
        drafts.retain(|draft| {
            let live = after[i].meets(draft.rows().1);
            i += 1;
            live || !draft.is_pure()
        });
        if drafts.len() == before {
            return drafts;
        }
    }
}

/// Drops the complements of a row in its own place where all that read it can take it in.
fn take_complements_in(drafts: &mut Vec<Draft>, file: &File<'_>) {
    let mut i = 0;
    while i < drafts.len() {
        let Draft { does, d, a, b, .. } = drafts[i];
        i += 1;
        if does != Does::Computes(XOR) || a != d || b == d || !file.holds(b, !0) {
            continue;
        }
        let mut readers = Vec::new();
        // How far its value goes, if that is known.
        let mut ends = false;
        for (at, draft) in drafts.iter().enumerate().skip(i) {
            if draft.reads().contains(&d) {
                let takes = draft.does == Does::Computes(COPY) && draft.a != draft.b;
                if !takes {
                    break;
                }
                readers.push(at);
            }
            if draft.writes().contains(&d) || draft.does == Does::End {
                ends = true;
                break;
            }
            if draft.joins() || matches!(draft.does, Does::If(_) | Does::Return) {
                ends = !live_after(drafts)[at].has(d as u8);
                break;
            }
        }
        if ends {
            for at in readers {
                let draft = &mut drafts[at];
                if draft.a == d {
                    std::mem::swap(&mut draft.a, &mut draft.b);
                }
                draft.does = Does::Computes(COPY | abi::QUICK_FLIP);
            }
            drafts.remove(i - 1);
            i -= 1;
        }
    }
}
