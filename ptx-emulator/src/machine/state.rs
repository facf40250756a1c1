//! What tells two states of a machine apart.

use super::{Frame, Machine, Wait, Warp, lanes_of};
use crate::access::Mbarrier;
use crate::decode::Op;
use crate::text::{Function, Instr, Module};
use std::hash::{DefaultHasher, Hash, Hasher};

impl Warp {
    /// A hash of what decides how the warp goes on, without the registers that are not read any more.
    pub(crate) fn hash_in(&self, module: &Module) -> u64 {
        if let Some(hash) = self.hash.get() {
            return hash;
        }
        let mut state = DefaultHasher::new();
        self.fragments.hash(&mut state);
        (self.alive, self.arrived, &self.local, &self.copies).hash(&mut state);
        for (i, frame) in (0u32..).zip(&self.frames) {
            let Some(frame) = frame else {
                continue;
            };
            // Where its lanes are, or come back to.
            let here = self.fragments.iter().filter(|f| f.frame == i).map(|f| f.pc);
            let above = self.frames.iter().flatten().filter(|f| f.caller == Some(i));
            let places: Vec<u32> = here.chain(above.map(|f| f.returns_to)).collect();
            (i, &places).hash(&mut state);
            frame.hash_at(module, &places, &mut state);
        }
        let hash = state.finish();
        self.hash.set(Some(hash));
        hash
    }
}

impl Frame {
    fn hash_at(&self, module: &Module, places: &[u32], state: &mut DefaultHasher) {
        let function = &module.functions[self.function as usize];
        (
            self.function,
            self.caller,
            self.returns_to,
            self.lanes,
            &self.params,
        )
            .hash(state);
        for (spans, values) in function.lives.iter().zip(&self.regs) {
            let lives =
                |&(start, end): &(u32, u32)| places.iter().any(|pc| (start..=end).contains(pc));
            if spans.iter().any(lives) {
                lanes_of(self.lanes).for_each(|lane| values[lane].hash(state));
            } else {
                state.write_u8(0);
            }
        }
    }
}

impl Machine {
    /// What a warp runs next.
    pub(crate) fn next_of(&self, warp: usize) -> Option<(&Function, &Instr)> {
        let warp = &self.warps[warp];
        let fragment = warp.fragments[warp.choose()?];
        let frame = warp.frames[fragment.frame as usize].as_ref()?;
        let function = &self.module.functions[frame.function as usize];
        Some((function, function.code.get(fragment.pc as usize)?))
    }

    /// Whether a warp comes next to the wait for an mbarrier whose turn is not complete. On a device it may be held there,
    /// or go on after a while and come back: that it comes back is nothing new.
    pub(crate) fn is_held(&self, warp: usize) -> bool {
        let Some((_, instr)) = self.next_of(warp) else {
            return false;
        };
        let Op::MbarTryWait { at, .. } = instr.op else {
            return false;
        };
        let warp = &self.warps[warp];
        let Some(fragment) = warp.choose().map(|i| warp.fragments[i]) else {
            return false;
        };
        let first = |k: usize| {
            self.read(warp, fragment.frame, instr.from[k])[fragment.mask.trailing_zeros() as usize]
        };
        let bar = first(0).wrapping_add_signed(at) as u32;
        let shared = &self.shared[warp.cta as usize];
        let there = (bar as usize)
            .checked_add(8)
            .is_some_and(|end| end <= shared.len());
        there && !Mbarrier::read(shared, bar).is_over(first(1))
    }

    /// Where a warp is, for people.
    pub(crate) fn place(&self, warp: usize) -> String {
        let Warp {
            cta, number, wait, ..
        } = &*self.warps[warp];
        let next = match (wait, self.next_of(warp)) {
            (Wait::Not, Some((function, instr))) => {
                format!("line {} in {}", instr.line, function.name)
            }
            (wait, _) => format!("{wait:?}"),
        };
        format!("CTA {cta}, warp {number}: {next}")
    }
}
