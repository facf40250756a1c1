//! Words of code as the device has them.

use super::{Layout, queue_number};
use crate::abi::{self, bytes_of};
use vyre_core::vir0::flow::op;
use vyre_core::vir0::isa::{
    Effect, FRAMES_PER_IF, FRAMES_PER_LOOP, IMM, Imm, Op, UNIFORM_BASE, Word,
};
use vyre_core::vir0::module::{Kernel, Program};

impl Layout {
    /// The code as the device has it: each word, where its operands are in a full tile, its immediate four times; then
    /// the quick code. `counting`: turns of loops are steps, and those of loops that are lifted come one after the other.
    pub(crate) fn device_words(&self, counting: bool) -> Vec<u8> {
        let mut words: Vec<[u32; 8]> = Vec::with_capacity(self.words());
        for (form, kernel) in self.forms.iter().zip(&self.kernels) {
            let code = self.head.code_shared + kernel.code * abi::WORD_BYTES;
            // The sum has its top bit set: shared memory is far smaller than the margin in `FIXED`.
            for (at, &word) in (0u32..).zip(&form.words) {
                let word = match Op::from_code(word.op) {
                    Some(Op::EndLoop) if !counting => Word { d: 0, ..word },
                    _ if counting && form.counted == Some(at as usize) => Word {
                        op: Op::Loop as u8,
                        ..Word::default()
                    },
                    _ => word,
                };
                let here = code + at * abi::WORD_BYTES;
                let fixed = |place: u32| place.wrapping_sub(here).wrapping_sub(abi::FIXED);
                let operand = |byte: u8| match byte {
                    IMM => fixed(here + 16),
                    row if row < UNIFORM_BASE => u32::from(row) * kernel.k * 128,
                    slot => {
                        let slot = u32::from(slot - UNIFORM_BASE);
                        fixed(kernel.uniforms_shared + slot * abi::UNIFORM_BYTES)
                    }
                };
                let bytes = word.to_bytes();
                let first = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
                let imm = word.imm;
                let (a, b) = (operand(word.a), operand(word.b));
                words.push([first, imm, a, b, imm, imm, imm, imm]);
            }
        }
        let maps = self.kernels.iter().zip(&self.forms);
        for (kernel, map) in maps.filter_map(|(k, form)| Some((k, form.map.as_ref()?))) {
            let code = map.code.iter().zip(&map.flags);
            words.extend((kernel.stream..).zip(code).map(|(at, (word, flags))| {
                let mut words = self.map_word(kernel, at, word);
                words[0] |= flags;
                words
            }));
        }
        words.push([0; 8]);
        let mut bytes = bytes_of(words.as_flattened()).to_vec();
        for word in &self.quick_code {
            bytes.extend(word.words.iter().flat_map(|w| w.to_le_bytes()));
        }
        bytes.resize(self.head.code_bytes as usize, 0);
        bytes
    }

    /// Word `at` of a map, less its flags: its opcode, where its result and its operands lie, and its immediate four
    /// times, of which the first is the place of a third operand. Places are those in rows of the map, or with the top
    /// bit set in shared memory.
    fn map_word(&self, kernel: &abi::Kernel, at: u32, word: &Word) -> [u32; 8] {
        let fixed = |place: u32| 1 << 31 | place;
        let uniform = |slot: u32| fixed(kernel.uniforms_shared + slot * abi::UNIFORM_BYTES);
        let imm_at = fixed(self.head.code_shared + at * abi::WORD_BYTES + 16);
        let place = |byte: u8| match byte {
            IMM => imm_at,
            row if row < UNIFORM_BASE => u32::from(row) * kernel.stream_k * 128,
            slot => uniform(u32::from(slot - UNIFORM_BASE)),
        };
        let buffer = || {
            let entry = u32::from(word.resource()) * size_of::<abi::Buffer>() as u32;
            fixed(self.head.buffers + entry)
        };
        let (code, d, b, imm) = (word.op.into(), place(word.d), place(word.b), word.imm);
        let (code, a, imm) = match Op::from_code(word.op) {
            Some(Op::Ld32 | Op::St32) => (code, buffer(), imm),
            Some(Op::LdU32) => (Op::Mov32 as u32, uniform(imm), imm),
            Some(Op::Sel32 | Op::FmaF32) => (code, place(word.a), place(word.third())),
            _ => (code, place(word.a), imm),
        };
        [code, d, a, b, imm, imm, imm, imm]
    }
}

/// A kernel's code with the rewritten words: the end of a loop says whether its turns are steps, break and continue name
/// their loop's round frame, reduce names its accumulator, lists have the device's numbers.
pub(super) fn device_code(program: &Program, kernel: &Kernel, reductions: &[u32]) -> Vec<Word> {
    let mut frames = 0u32;
    // Round frames of the open loops.
    let mut loops: Vec<u32> = Vec::new();
    let mut counting: Vec<bool> = Vec::new();
    let mut code = kernel.code.clone();
    for word in &mut code {
        let op = op(word);
        if op == Op::If {
            frames += u32::from(FRAMES_PER_IF);
        } else if op == Op::EndIf {
            frames -= u32::from(FRAMES_PER_IF);
        } else if op == Op::Loop {
            loops.push(frames + 1);
            counting.push(word.counts());
            word.a = 0;
            frames += u32::from(FRAMES_PER_LOOP);
        } else if op == Op::EndLoop {
            loops.pop();
            word.d = counting.pop().expect("verified loops nest").into();
            frames -= u32::from(FRAMES_PER_LOOP);
        } else if op.row().imm == Imm::Depth {
            word.imm = loops[loops.len() - 1 - word.imm as usize];
        } else if op.row().effect == Effect::Reduce {
            let id = u32::from(word.resource());
            let slot = reductions.iter().position(|&r| r == id);
            word.imm |= slot.expect("the list has every reduction of the kernel") as u32;
        } else if let Some(queue) = word.names().and_then(|r| queue_number(program, r)) {
            word.imm = queue << 16 | word.imm & 0xffff;
        }
    }
    code
}
