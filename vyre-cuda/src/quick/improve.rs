//! Fewer steps that do the same: copies, complements and tests go into the steps that need them, and what nobody reads is
//! not computed.

use super::step::{COPY, Does, NOT_SAME, Step, XOR};
use super::translate::File;
use crate::abi;
use vyre_core::vir0::flow::{Rows, live_through};
use vyre_core::vir0::isa::{Imm, Slot};

/// For every step, the rows that a lane may still read after it. What it computes on one side of an else, it does not
/// read on the other.
pub(super) fn live_after(steps: &[Step]) -> Vec<Rows> {
    let behind = |pc: u32| {
        let joins = steps.iter().position(|s| s.joins() && s.pc == pc);
        joins.expect("an if and its else have an end") + 1
    };
    let next = |i: usize| match steps[i].does {
        Does::If(to) => vec![i + 1, behind(to)],
        Does::Else(to) => vec![behind(to)],
        Does::Return | Does::End => vec![],
        Does::Computes(_) | Does::Op(..) | Does::Push(_) | Does::EndIf => vec![i + 1],
    };
    let live = live_through(steps.len(), next, |i| steps[i].rows());
    let after = |i: usize| (next(i).into_iter()).fold(Rows::NONE, |rows, to| rows.or(live[to]));
    (0..steps.len()).map(after).collect()
}

/// The same with operands named by where they come from, complements and tests taken into the word that needs them, and
/// without what nobody reads then.
pub(super) fn improved(mut steps: Vec<Step>, file: &File<'_>) -> Vec<Step> {
    // What a row holds, in terms of others: a copy, a complement, or whether a row is not 0.
    #[derive(Clone, Copy, PartialEq)]
    enum Is {
        Copy(u32),
        Complement(u32),
        Some(u32),
    }
    let mut known: Vec<(u32, Is)> = Vec::new();
    for step in &mut steps {
        if step.joins() {
            known.clear();
            continue;
        }
        let find = |known: &[(u32, Is)], row: u32| known.iter().find(|k| k.0 == row).map(|k| k.1);
        let copied = |known: &[(u32, Is)], row: u32| match find(known, row) {
            Some(Is::Copy(of)) => of,
            _ => row,
        };
        match step.does {
            Does::Computes(bits) => {
                step.a = copied(&known, step.a);
                step.b = copied(&known, step.b);
                if bits == abi::QUICK_BITS | abi::QUICK_BOTH && step.a != step.b {
                    if let Some(Is::Complement(_)) = find(&known, step.a) {
                        std::mem::swap(&mut step.a, &mut step.b);
                    }
                    if let Some(Is::Complement(of)) = find(&known, step.b) {
                        step.b = of;
                        step.does = Does::Computes(bits | abi::QUICK_FLIP);
                    }
                }
            }
            Does::Push(_) | Does::If(_) => {
                step.a = copied(&known, step.a);
                step.b = copied(&known, step.b);
                if let Some(Is::Some(of)) = find(&known, step.a) {
                    step.a = of;
                }
            }
            Does::Op(op, ..) => {
                let row = op.row();
                let narrow = |slot: Slot| matches!(slot, Slot::W | Slot::OptW);
                if narrow(row.a) {
                    step.a = copied(&known, step.a);
                }
                if narrow(row.b) {
                    step.b = copied(&known, step.b);
                    if matches!(row.imm, Imm::Third | Imm::ResourceThird(_)) {
                        step.c = copied(&known, step.c);
                    }
                }
            }
            _ => {}
        }
        let written = step.writes();
        known.retain(|&(row, is)| {
            let (Is::Copy(of) | Is::Complement(of) | Is::Some(of)) = is;
            !written.contains(&row) && !written.contains(&of)
        });
        if let Does::Computes(bits) = step.does
            && !step.reads().contains(&step.d)
        {
            let is = match bits {
                COPY if step.a == step.b => Some(Is::Copy(step.a)),
                XOR if file.holds(step.b, !0) => Some(Is::Complement(step.a)),
                XOR if file.holds(step.a, !0) => Some(Is::Complement(step.b)),
                NOT_SAME if file.holds(step.b, 0) => Some(Is::Some(step.a)),
                _ => None,
            };
            known.extend(is.map(|is| (step.d, is)));
        }
    }
    take_complements_in(&mut steps, file);
    loop {
        let after = live_after(&steps);
        let before = steps.len();
        let mut i = 0;
        steps.retain(|step| {
            let live = after[i].meets(step.rows().1);
            i += 1;
            live || !step.is_pure()
        });
        if steps.len() == before {
            return steps;
        }
    }
}

/// Drops the complements of a row in its own place where all that read it can take it in.
fn take_complements_in(steps: &mut Vec<Step>, file: &File<'_>) {
    let mut i = 0;
    while i < steps.len() {
        let Step { does, d, a, b, .. } = steps[i];
        i += 1;
        if does != Does::Computes(XOR) || a != d || b == d || !file.holds(b, !0) {
            continue;
        }
        let mut readers = Vec::new();
        // How far its value goes, if that is known.
        let mut ends = false;
        for (at, step) in steps.iter().enumerate().skip(i) {
            if step.reads().contains(&d) {
                let takes = step.does == Does::Computes(COPY) && step.a != step.b;
                if !takes {
                    break;
                }
                readers.push(at);
            }
            if step.writes().contains(&d) || step.does == Does::End {
                ends = true;
                break;
            }
            if step.joins() || matches!(step.does, Does::If(_) | Does::Return) {
                ends = !live_after(steps)[at].has(d as u8);
                break;
            }
        }
        if ends {
            for at in readers {
                let step = &mut steps[at];
                if step.a == d {
                    std::mem::swap(&mut step.a, &mut step.b);
                }
                step.does = Does::Computes(COPY | abi::QUICK_FLIP);
            }
            steps.remove(i - 1);
            i -= 1;
        }
    }
}
