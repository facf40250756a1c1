//! Where a native fault is in the bytecode, and which waves can have one.

use crate::dsl::fault::Fault;
use crate::run::schedule::Pending;
use crate::vir0::flow::writes;
use crate::vir0::isa::{Faults, IMM, Op, Word};
use crate::vir0::module::{Domain, Kernel, KernelId, Program, SiteId, Wave, WaveId};
use crate::vir0::trap::TrapKind;

/// What a fault needs to find its place in the bytecode.
pub(super) struct Code<'p> {
    pub(super) program: &'p Program,
    pub(super) wave: WaveId,
}

impl Code<'_> {
    #[cold]
    pub(super) fn locate(&self, item: u32, mut fault: Fault) -> Pending {
        let kernel = self.program.waves[self.wave.index()].kernel;
        let pc = refine(self.program, kernel, &mut fault);
        Pending {
            key: (self.wave, item, pc),
            fault,
        }
    }
}

/// The pc of the word at the fault's position. What kind of trap a panic is, that word says, and its site what the user
/// says.
///
/// A few methods of std panic without their caller's position (`wrapping_div` and `wrapping_rem` of signed integers,
/// `clamp` of floats): the fault is then at the one word that can raise it, if there is only one. Code that a
/// `macro_rules!` wrote has one position, that of the macro's call: the fault is then at the first word that can raise
/// it.
pub(super) fn refine(program: &Program, kernel: KernelId, fault: &mut Fault) -> u32 {
    let kernel = &program.kernels[kernel.index()];
    let here = |&&(_, site): &&(u32, SiteId)| program.sites.get(site.index()) == Some(&fault.site);
    let mut at = kernel.sites.iter().find(here);
    let shared = at.is_some_and(|first| kernel.sites.iter().filter(here).any(|s| s.1 != first.1));
    if shared {
        let raises = |s: &&(u32, SiteId)| raises(program, kernel, **s, fault);
        at = kernel.sites.iter().filter(here).find(raises).or(at);
    }
    let Some(&(pc, site)) = at.or_else(|| within_std(program, kernel, fault)) else {
        return u32::MAX;
    };
    if let Some(site) = program.sites.get(site.index()) {
        fault.site.clone_from(site);
    }
    // What a panic says is free text: it can look like any other of rustc's. What others say is formatted, on one
    // backend.
    let message = program.message(site);
    let panicked = matches!(fault.kind, TrapKind::Panic | TrapKind::Assert);
    if let Some(word) = kernel.code.get(pc as usize)
        && (panicked || message.is_some() && !shared)
        && let Some(Op::Assert | Op::Trap) = Op::from_code(word.op)
        && let Some(kind) = TrapKind::from_code(word.imm)
    {
        (fault.kind, fault.index, fault.len) = (kind, 0, 0);
        fault.message = message.map(str::to_owned);
    }
    pc
}

/// Whether this word can raise the fault, by what the fault is and says.
pub(super) fn raises(
    program: &Program,
    kernel: &Kernel,
    (pc, site): (u32, SiteId),
    fault: &Fault,
) -> bool {
    let panicked = matches!(fault.kind, TrapKind::Panic | TrapKind::Assert);
    let Some(word) = kernel.code.get(pc as usize) else {
        return false;
    };
    match Op::from_code(word.op) {
        Some(Op::Assert | Op::Trap) if panicked => {
            let said = fault.message.as_deref().unwrap_or_default();
            // `assert_eq!` shows its operands below what the user says, and that after a colon.
            let first = said.lines().next().unwrap_or_default();
            match program.message(site) {
                Some(m) => said == m || first.ends_with(&format!("` failed: {m}")),
                None => {
                    let assert = first.starts_with("assertion ") && !first.contains("` failed: ");
                    assert || TrapKind::from_code(word.imm) == Some(TrapKind::Panic)
                }
            }
        }
        Some(Op::Assert | Op::Trap) => false,
        Some(_) => !panicked,
        None => false,
    }
}

/// The word of a fault whose position is std's own, if only one site of the kernel can raise such a fault.
pub(super) fn within_std<'a>(
    program: &Program,
    kernel: &'a Kernel,
    fault: &Fault,
) -> Option<&'a (u32, SiteId)> {
    if program.sites.iter().any(|s| s.file == fault.site.file) {
        return None;
    }
    let raises = |pc: u32| {
        let word = kernel.code.get(pc as usize)?;
        let divides = || fault.kind == TrapKind::DivideByZero && (word.b != IMM || word.imm == 0);
        Some(match Op::from_code(word.op)? {
            Op::DivI32 | Op::DivI64 => divides() && !fault.remainder,
            Op::RemI32 | Op::RemI64 => divides() && fault.remainder,
            Op::Assert | Op::Trap => {
                fault.kind == TrapKind::Assert
                    && TrapKind::from_code(word.imm) == Some(TrapKind::Assert)
            }
            _ => false,
        })
    };
    let mut able = kernel
        .sites
        .iter()
        .filter(|(pc, _)| raises(*pc) == Some(true));
    let first = able.next()?;
    able.all(|(_, site)| *site == first.1).then_some(first)
}

/// Whether a lane of this wave can raise a fault that the bytecode knows of. Its own element is always there.
pub(super) fn can_trap(program: &Program, wave: &Wave) -> bool {
    let kernel = &program.kernels[wave.kernel.index()];
    let own = match (wave.domain, kernel.item.index) {
        (Domain::Range(extent), Some(row)) => Some((extent, row)),
        _ => None,
    };
    let faultless = |word: &Word| {
        let Some(op) = Op::from_code(word.op) else {
            return false;
        };
        // Where the index's row becomes something else, it is no index any more.
        let keeps = |row: u8| !writes(word).has(row);
        match (op, own) {
            (Op::RowFill32 | Op::RowFill64, _) => false,
            (Op::Ld8 | Op::Ld32 | Op::Ld64 | Op::St8 | Op::St32 | Op::St64, Some((len, row))) => {
                let buffer = &program.buffers[usize::from(word.resource())];
                word.a == row && buffer.extent == len && keeps(row)
            }
            _ => op.row().faults == Faults::No && own.is_none_or(|(_, row)| keeps(row)),
        }
    };
    !kernel.code.iter().all(faultless)
}
