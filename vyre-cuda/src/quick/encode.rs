//! The words of drafts, as the device has them: opcode, flags and pc, places of the operands and of the result, and the
//! immediate.

use super::QuickWord;
use super::draft::{COPY, Does, Draft};
use super::improve::live_after;
use crate::abi;
use vyre_core::vir0::isa::{Op, Slot};

/// The words of these drafts, which come after `before` others.
pub(super) fn words_of(mut drafts: Vec<Draft>, before: usize) -> Vec<QuickWord> {
    let mut after = live_after(&drafts);
    // Items come together once more where nothing is left to do.
    while let [.., end, last] = drafts[..]
        && (end.does, last.does) == (Does::EndIf, Does::End)
    {
        after.remove(drafts.len() - 2);
        drafts.remove(drafts.len() - 2);
    }
    // Which word a draft becomes, and where a pc is.
    let fused = |i: usize| {
        i > 0
            && matches!(drafts[i].does, Does::If(_))
            && matches!(drafts[i - 1].does, Does::Computes(_))
            && drafts[i - 1].d == drafts[i].a
    };
    let mut at = Vec::new();
    let mut words = before;
    for i in 0..drafts.len() {
        if !fused(i) {
            words += 1;
        }
        at.push(words - 1);
    }
    let place = |pc: u32| {
        let found = drafts.iter().position(|s| s.joins() && s.pc == pc);
        at[found.unwrap_or(drafts.len() - 1)] as u32
    };
    let mut out: Vec<QuickWord> = Vec::new();
    let mut handed = None;
    for (i, draft) in drafts.iter().enumerate() {
        if fused(i) {
            let Does::If(to) = draft.does else {
                unreachable!("only an if is fused")
            };
            let word = out.last_mut().expect("a word computes what is asked");
            word.words[0] |= abi::QUICK_IF;
            word.words[2] |= place(to) << 16;
            continue;
        }
        let mut flags = 0;
        let (mut a, mut b, mut d, mut buffer) = (draft.a, draft.b, draft.d, None);
        let mut third = draft.c * 128;
        let (code, imm) = match draft.does {
            Does::Computes(bits) => (0, bits),
            Does::Op(op, imm, of) => {
                buffer = of.map(|of| (3, of));
                (u32::from(op as u8), imm)
            }
            Does::If(to) => {
                flags |= abi::QUICK_IF | abi::QUICK_DROPS;
                (b, d) = (a, 0);
                third = place(to);
                (0, COPY)
            }
            Does::Else(to) => {
                third = place(to);
                (u32::from(Op::Else as u8), 0)
            }
            Does::EndIf => (u32::from(Op::EndIf as u8), 0),
            Does::Return => (abi::QUICK_RETURN, 0),
            Does::Push(imm) => {
                let last = matches!(drafts.get(i + 1), Some(s) if s.does == Does::End);
                (
                    abi::QUICK_PUSH,
                    imm | if last { abi::QUICK_LAST } else { 0 },
                )
            }
            Does::End => (u32::from(Op::Ret as u8), 0),
        };
        if matches!(draft.does, Does::Computes(_) | Does::If(_)) {
            flags |= abi::QUICK_COMPUTES;
        }
        let reads = draft.reads();
        if reads.is_empty() {
            (a, b) = (0, 0);
        }
        if let Some(row) = handed {
            let second = match draft.does {
                Does::Computes(_) | Does::If(_) | Does::Push(_) => true,
                Does::Op(op, ..) => op.row().b != Slot::N,
                _ => false,
            };
            if !reads.is_empty() && a == row {
                flags |= abi::QUICK_HANDED_A;
            }
            if second && b == row {
                flags |= abi::QUICK_HANDED_B;
            }
        }
        let written = draft.writes();
        handed = (written.len() == 1).then_some(d);
        if draft.is_wide() {
            flags |= abi::QUICK_WIDE;
        }
        // Who asks in the same word reads no row.
        let last = i + usize::from(i + 1 < drafts.len() && fused(i + 1));
        if written.is_empty() || !after[last].meets(draft.rows().1) {
            flags |= abi::QUICK_DROPS;
        }
        if written.is_empty() {
            d = 0;
        }
        if let Some(Draft {
            does: Does::Push(_),
            a,
            ..
        }) = drafts.get(i + 1)
            && handed == Some(*a)
        {
            flags |= abi::QUICK_DECIDES;
        }
        if buffer.is_some() {
            flags |= abi::QUICK_PLACED;
        }
        out.push(QuickWord {
            words: [
                code | flags | draft.pc << 16,
                (a * 128) | ((b * 128) << 16),
                (d * 128) | (third << 16),
                imm,
            ],
            buffer,
        });
    }
    out
}

/// Names buffers by where their entries are in shared memory, once that is known.
pub(crate) fn place(code: &mut [QuickWord], buffers: u32) {
    for word in code {
        if let Some((at, buffer)) = word.buffer {
            word.words[usize::from(at)] =
                buffers + u32::from(buffer) * size_of::<abi::Buffer>() as u32;
        }
    }
}
