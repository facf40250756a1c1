//! Registers of the text, of which there are thousands, share the slots of a frame: what is small is quickly copied,
//! and two states of a machine that differ only in what is not read any more are the same state.

use crate::decode::Op;
use crate::text::{Function, Instr, NOWHERE, Src};

/// Where the code goes on after an instruction.
fn successors(at: usize, instr: &Instr) -> Vec<usize> {
    let next = at + 1;
    match &instr.op {
        Op::Bra(target, _) if instr.guard.is_some() => vec![next, *target as usize],
        Op::Bra(target, _) => vec![*target as usize],
        Op::Brx(targets, _) => {
            let mut all: Vec<usize> = targets.iter().map(|&t| t as usize).collect();
            if instr.guard.is_some() {
                all.push(next);
            }
            all
        }
        Op::Ret | Op::Exit if instr.guard.is_none() => vec![],
        _ => vec![next],
    }
}

fn reads(instr: &Instr) -> impl Iterator<Item = u32> {
    let from = instr.from.iter().filter_map(|src| match *src {
        Src::Reg(reg) | Src::NotReg(reg) => Some(reg),
        Src::Imm(_) | Src::Special(_) | Src::Local(_) => None,
    });
    from.chain(instr.guard.map(|(reg, _)| reg))
}

fn writes(instr: &Instr) -> impl Iterator<Item = u32> {
    instr.to.iter().copied().filter(|&reg| reg != NOWHERE)
}

/// Gives each register of a function a slot, and says when each slot holds something.
pub(crate) fn assign(function: &mut Function, regs: u32) {
    let code = &function.code;
    let words = (regs as usize).div_ceil(64);
    // Blocks: where one begins, by instruction.
    let mut leads = vec![false; code.len() + 1];
    leads[0] = true;
    for (at, instr) in code.iter().enumerate() {
        let next = successors(at, instr);
        if next != [at + 1] {
            leads[at + 1] = true;
            next.iter().for_each(|&to| leads[to] = true);
        }
    }
    let starts: Vec<usize> = (0..code.len()).filter(|&at| leads[at]).collect();
    let mut block_of = vec![usize::MAX; code.len() + 1];
    for (block, &start) in starts.iter().enumerate() {
        let end = starts.get(block + 1).copied().unwrap_or(code.len());
        block_of[start..end].fill(block);
    }
    let end_of = |block: usize| starts.get(block + 1).copied().unwrap_or(code.len());
    // What a block reads before it writes it, and what it writes.
    let mut uses = vec![0u64; words * starts.len()];
    let mut defs = uses.clone();
    for (block, &start) in starts.iter().enumerate() {
        for instr in &code[start..end_of(block)] {
            for reg in reads(instr) {
                let (word, bit) = (block * words + reg as usize / 64, 1 << (reg % 64));
                uses[word] |= bit & !defs[word];
            }
            // A write under a guard leaves what was there to some lanes.
            for reg in writes(instr) {
                let (word, bit) = (block * words + reg as usize / 64, 1 << (reg % 64));
                if instr.guard.is_none() {
                    defs[word] |= bit;
                } else {
                    uses[word] |= bit & !defs[word];
                }
            }
        }
    }
    let (mut live_in, mut live_out) = (uses.clone(), vec![0u64; uses.len()]);
    loop {
        let mut changed = false;
        for block in (0..starts.len()).rev() {
            let last = end_of(block) - 1;
            for next in successors(last, &code[last]) {
                let Some(&next) = block_of.get(next).filter(|&&b| b != usize::MAX) else {
                    continue;
                };
                for word in 0..words {
                    live_out[block * words + word] |= live_in[next * words + word];
                }
            }
            for word in block * words..(block + 1) * words {
                let live = uses[word] | live_out[word] & !defs[word];
                changed |= live != live_in[word];
                live_in[word] = live;
            }
        }
        if !changed {
            break;
        }
    }
    // From where to where a register is alive, everything between taken together.
    let mut spans = vec![(u32::MAX, 0u32); regs as usize];
    let mut extend = |reg: usize, at: usize| {
        let span = &mut spans[reg];
        *span = (span.0.min(at as u32), span.1.max(at as u32));
    };
    for (block, &start) in starts.iter().enumerate() {
        let ends = [(&live_in, start), (&live_out, end_of(block))];
        for (set, at) in ends {
            for word in 0..words {
                let mut bits = set[block * words + word];
                while bits != 0 {
                    extend(word * 64 + bits.trailing_zeros() as usize, at);
                    bits &= bits - 1;
                }
            }
        }
        for (at, instr) in code.iter().enumerate().take(end_of(block)).skip(start) {
            reads(instr).for_each(|reg| extend(reg as usize, at));
            writes(instr).for_each(|reg| extend(reg as usize, at + 1));
        }
    }
    let mut order: Vec<usize> = (0..regs as usize)
        .filter(|&reg| spans[reg].0 != u32::MAX)
        .collect();
    order.sort_by_key(|&reg| spans[reg]);
    let mut slot_of = vec![NOWHERE; regs as usize];
    let mut lives: Vec<Vec<(u32, u32)>> = Vec::new();
    for reg in order {
        let (start, end) = spans[reg];
        let free = lives
            .iter()
            .position(|spans| spans.last().is_none_or(|&(_, last)| last < start));
        let slot = free.unwrap_or_else(|| {
            lives.push(Vec::new());
            lives.len() - 1
        });
        lives[slot].push((start, end));
        slot_of[reg] = slot as u32;
    }
    for instr in &mut function.code {
        if let Some((reg, _)) = &mut instr.guard {
            *reg = slot_of[*reg as usize];
        }
        for reg in instr.to.iter_mut().filter(|reg| **reg != NOWHERE) {
            *reg = slot_of[*reg as usize];
        }
        for src in &mut instr.from {
            if let Src::Reg(reg) | Src::NotReg(reg) = src {
                *reg = slot_of[*reg as usize];
            }
        }
    }
    function.slots = lives.len() as u32;
    function.lives = lives;
}
