//! The programs that cases begin with: passes of the test suites, whose functions can run natively too, and random
//! programs with random schedules.

use crate::choices::Choices;
use crate::mutate::mutate;
use std::sync::{Arc, OnceLock};
use vyre_core::cpu::native::{Functions, NativeExecutor};
use vyre_core::dsl::error::RunError;
use vyre_core::plan::footprint::Allocation;
use vyre_core::run::args::TopologyArgs;
use vyre_core::run::backend::Executor;
use vyre_core::run::pass::Pass;
use vyre_core::vir0::module::Program;
use vyre_tests::passes::{bfs, mixed, phases, sssp, tight, work};
use vyre_tests::programs;

/// The most work that a run may take.
pub(crate) const WORK: u64 = 20_000;

/// Opens an executor of a program.
pub(crate) type Open =
    fn(Arc<Program>, &TopologyArgs<'_>, Allocation) -> Result<Box<dyn Executor>, RunError>;

/// A compiled pass.
pub(crate) struct Seed {
    pub(crate) program: Program,
    pub(crate) native: Open,
}

fn seed<P: Pass + Functions>() -> Seed {
    let program = P::PARTS.program().expect("the macro made it");
    Seed {
        program,
        native: |program, topology, allocation| {
            let executor = NativeExecutor::new::<P>(program, topology, allocation)?;
            Ok(Box::new(executor.with_work_limit(WORK)))
        },
    }
}

fn seeds() -> &'static [Seed] {
    static SEEDS: OnceLock<Vec<Seed>> = OnceLock::new();
    SEEDS.get_or_init(|| {
        vec![
            seed::<phases::Pass>(),
            seed::<work::Pass>(),
            seed::<mixed::Pass>(),
            seed::<bfs::Pass>(),
            seed::<sssp::Pass>(),
            seed::<tight::Pass>(),
        ]
    })
}

/// A sound program, and the pass that it is, if it is one.
pub(crate) fn some(choices: &mut Choices<'_>) -> (Program, Option<&'static Seed>) {
    let random = match choices.one_in(3) {
        true => programs::program(&mut choices.0).ok(),
        false => None,
    };
    match random {
        Some(program) => (program, None),
        None => {
            let seed = choices.pick(seeds()).expect("there are some");
            (seed.program.clone(), Some(seed))
        }
    }
}

/// A program with something changed. In three of four cases the changes are such that it verifies.
pub(crate) fn mutated(choices: &mut Choices<'_>) -> (Program, Option<&'static Seed>) {
    let (program, seed) = some(choices);
    let sound = choices.below(4) > 0;
    (mutate(&program, sound, choices), seed)
}

/// Changes a byte, mostly in the sections that say what runs.
pub(crate) fn change_byte(container: &mut [u8], choices: &mut Choices<'_>) {
    let field = |at: usize| {
        let bytes = container.get(at..at + 4);
        bytes.map_or(0, |b| {
            u32::from_le_bytes(b.try_into().expect("four bytes")) as usize
        })
    };
    let section = |i: usize| (field(24 + 12 * i), field(28 + 12 * i));
    let (from, len) = match choices.below(6) {
        0 => (0, container.len()),
        1 => section(0),
        2 => section(2),
        3 => section(4),
        4 => section(5),
        _ => section(3),
    };
    let at = from + choices.below(len);
    let Some(byte) = container.get_mut(at) else {
        return;
    };
    *byte = match choices.below(4) {
        0 => byte.wrapping_add(1),
        1 => byte.wrapping_sub(1),
        2 => *byte ^ 1 << choices.below(8),
        _ => choices.value() as u8,
    };
}
