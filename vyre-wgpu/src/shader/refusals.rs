//! What a target lacks for a program: the table that is asked before shaders are written.
//!
//! | what a pass has | where it runs |
//! | --- | --- |
//! | integers of 64 bits | everywhere: they are pairs of words |
//! | f64 | everywhere: where an adapter has none, its arithmetic is that of whole numbers, and slower |
//! | atomics on f32, and signed ones | everywhere: a loop of compare-and-exchange |
//! | atomics on 8 bytes | where there are 64-bit atomics |
//!
//! ```
//! use vyre_core::vir0::module::Program;
//! use vyre_wgpu::shader::refusals;
//! use vyre_wgpu::target::Target;
//!
//! assert!(refusals(&Program::default(), &Target::webgpu()).is_empty());
//! ```

use crate::shader::forms::{Form, form};
use crate::target::Target;
use std::collections::BTreeSet;
use std::fmt;
use vyre_core::vir0::flow::op;
use vyre_core::vir0::isa::{Op, Slot};
use vyre_core::vir0::local::locals;
use vyre_core::vir0::module::{BufferId, Program, Resource};
use vyre_core::vir0::trap::Site;

/// Why shaders of a target cannot do what a wave does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The wave.
    pub wave: String,
    /// Where, if the program has its positions.
    pub site: Option<Site>,
    /// What it does, and what is lacking.
    pub reason: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "wave `{}` {}", self.wave, self.reason)?;
        match &self.site {
            Some(site) => write!(f, " ({site})"),
            None => Ok(()),
        }
    }
}

/// All that a target lacks for a program, wave by wave; of several words that need the same on one buffer, the first.
pub fn refusals(program: &Program, target: &Target) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    for local in locals(program) {
        let parts = program.buffers[local.bounds.index()].field();
        refusals.extend(local.waves(program).map(|w| Refusal {
            wave: program.waves[w.index()].name.clone(),
            site: None,
            reason: format!("is run by each of `{parts}` by itself, which shaders do not do yet"),
        }));
    }
    for wave in &program.waves {
        let kernel = &program.kernels[wave.kernel.index()];
        let mut said = BTreeSet::new();
        for (pc, word) in (0u32..).zip(&kernel.code) {
            if target.wide_atomics || !is_wide_atomic(op(word)) || !said.insert(word.resource()) {
                continue;
            }
            let buffer = program.name_of(Resource::Buffer(BufferId(word.resource())));
            let sites = &kernel.sites;
            let at = sites.binary_search_by_key(&pc, |&(pc, _)| pc).ok();
            refusals.push(Refusal {
                wave: wave.name.clone(),
                site: at.and_then(|at| program.sites.get(sites[at].1.index()).cloned()),
                reason: format!(
                    "accesses `{buffer}` with atomics of 64 bits, and the target has only those of 32"
                ),
            });
        }
    }
    refusals
}

fn is_wide_atomic(op: Op) -> bool {
    let atomic = matches!(
        form(op),
        Form::AtomicLoad
            | Form::AtomicStore
            | Form::Atomic(_)
            | Form::AtomicLoop(_)
            | Form::CompareExchange
    );
    let row = op.row();
    // A compare-and-exchange says whether it was done: its operand has the width.
    atomic
        && [row.d, row.b]
            .iter()
            .any(|slot| matches!(slot, Slot::D | Slot::OptD))
}
