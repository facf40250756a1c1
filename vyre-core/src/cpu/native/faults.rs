//! Where a native fault is in the bytecode, and which waves can have one.

use crate::dsl::fault::Fault;
use crate::run::schedule::Pending;
use crate::run::stop::Watch;
use crate::vir0::flow::{op, writes};
use crate::vir0::isa::{Effect, Faults, Op, Word};
use crate::vir0::module::{Domain, Kernel, KernelId, Program, SiteId, Wave, WaveId};
use crate::vir0::trap::TrapKind;

/// What a chunk needs beside its lanes: a fault to find its place in the bytecode, and what says whether the call is to
/// end.
pub(super) struct Code<'p> {
    pub(super) program: &'p Program,
    pub(super) wave: WaveId,
    pub(super) watch: Watch<'p>,
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
/// Code that a `macro_rules!` wrote has one position, that of the macro's call: the fault is then at the first word that
/// can raise it.
pub(super) fn refine(program: &Program, kernel: KernelId, fault: &mut Fault) -> u32 {
    let kernel = &program.kernels[kernel.index()];
    let here = |&&(_, site): &&(u32, SiteId)| program.sites.get(site.index()) == Some(&fault.site);
    let mut at = kernel.sites.iter().find(here);
    let shared = at.is_some_and(|first| kernel.sites.iter().filter(here).any(|s| s.1 != first.1));
    if shared {
        let raises = |s: &&(u32, SiteId)| raises(program, kernel, **s, fault);
        at = kernel.sites.iter().filter(here).find(raises).or(at);
    }
    let Some(&(pc, site)) = at else {
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
        && says_kind(word)
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
    match says_kind(word) {
        true if panicked => {
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
        true => false,
        false => !panicked,
    }
}

/// Whether a word says itself which kind of trap it raises.
fn says_kind(word: &Word) -> bool {
    op(word).row().faults == Faults::Explicit
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
        match (op.row().effect, own) {
            (Effect::RowFill, _) => false,
            (Effect::Load | Effect::Store, Some((len, row))) => {
                let buffer = &program.buffers[usize::from(word.resource())];
                word.a == row && buffer.extent == len && keeps(row)
            }
            _ => op.row().faults == Faults::No && own.is_none_or(|(_, row)| keeps(row)),
        }
    };
    !kernel.code.iter().all(faultless)
}
