//! Mutated programs that verify, on a device beside the interpreter.

use crate::Tally;
use crate::choices::Choices;
use crate::order::is_order_free;
use crate::program::{self, WORK};
use crate::run::{Given, Left};
use std::cell::RefCell;
use std::sync::Arc;
use vyre_core::cpu::vir0::Vir0Executor;
use vyre_core::dsl::columns::Column;
use vyre_core::dsl::error::RunError;
use vyre_core::plan::footprint::Allocation;
use vyre_core::run::args::Args;
use vyre_core::run::backend::{Backend, Executor, Opening};
use vyre_core::run::outcome::Outcome;
use vyre_core::vir0::disasm;
use vyre_core::vir0::isa::Op;
use vyre_core::vir0::module::Program;
use vyre_core::vir0::verify::verify;
use vyre_cuda::Cuda;
use vyre_cuda::fake::Fake;

/// Rounds of a fixpoint, at most: a round under a checking tool takes a hundred times as long.
const ROUNDS: u64 = 50;

/// A program that is worth a device's time, and what it is run on.
pub struct Case {
    program: Arc<Program>,
    given: Given,
    allocation: Allocation,
    expected: Left,
    /// Whether the result does not depend on the order of items.
    pub is_order_free: bool,
}

/// What came of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The result or trap of the interpreter.
    Same,
    /// A result or a trap of a program whose items show their order.
    Ran,
}

impl Case {
    /// The case of these bytes; `None` where the program does not verify, takes too much memory or too many steps, or
    /// might not end where items run in another order.
    pub fn new(bytes: &[u8]) -> Option<Case> {
        let choices = &mut Choices::new(bytes);
        let (mut program, _) = program::mutated(choices);
        for fixpoint in &mut program.fixpoints {
            fixpoint.max_rounds = fixpoint.max_rounds.min(ROUNDS);
        }
        verify(&program).ok()?;
        let is_order_free = is_order_free(&program);
        let loops = |p: &Program| {
            let words = p.kernels.iter().flat_map(|k| &k.code);
            words.into_iter().any(|w| w.op == Op::Loop as u8)
        };
        if !is_order_free && loops(&program) {
            return None;
        }
        let given = Given::new(&program, choices)?;
        let program = Arc::new(program);
        let topology = given.topology();
        let interpreter = Vir0Executor::new(Arc::clone(&program), &topology, Allocation::Separate);
        let mut interpreter = interpreter.ok()?.with_work_limit(WORK);
        let expected = left(&mut interpreter, &given.args());
        match &expected {
            Ok(_) | Err(RunError::Trap(_)) => {}
            Err(_) => return None,
        }
        let allocation = match choices.one_in(2) {
            true => Allocation::Separate,
            false => Allocation::Shared,
        };
        Some(Case {
            program,
            given,
            allocation,
            expected,
            is_order_free,
        })
    }

    /// Runs it on a backend, twice in one session.
    ///
    /// # Errors
    /// What went wrong: the backend failed, or its results differ and should not.
    pub fn run(&self, backend: &dyn Backend) -> Result<Verdict, String> {
        let opened = backend.open(Opening {
            program: Arc::clone(&self.program),
            topology: &self.given.topology(),
            allocation: self.allocation,
            native: None,
        });
        let mut executor = opened.map_err(|e| format!("it does not open: {e}"))?;
        let mut verdict = Verdict::Same;
        for _ in 0..2 {
            let found = left(&mut *executor, &self.given.args());
            match &found {
                Ok(_) | Err(RunError::Trap(_)) => {}
                Err(e) => return Err(format!("it does not run: {e}")),
            }
            if !self.is_order_free {
                verdict = Verdict::Ran;
            } else if !alike(&self.expected, &found) {
                return Err(format!("expected {:?}, found {found:?}", self.expected));
            }
        }
        Ok(verdict)
    }

    /// The program as text.
    pub fn shown(&self) -> String {
        disasm::program(&self.program)
    }
}

/// Cases on one played device. It never forgets what was on it, so it gets slower; at its end it sees that nothing is held.
const CASES: u32 = 256;

thread_local! {
    /// A device that is played on the host, and how many cases it had.
    static PLAYED: RefCell<(Cuda, u32)> = RefCell::new(played());
}

fn played() -> (Cuda, u32) {
    (Fake::default().open().expect("it plays along"), 0)
}

/// A mutated program that verifies, through the host's side of the CUDA backend.
pub(crate) fn host_program(bytes: &[u8], tally: &mut Tally) {
    let Some(case) = Case::new(bytes) else {
        return tally.add("no case");
    };
    let ran = PLAYED.with_borrow_mut(|device| {
        if device.1 == CASES {
            *device = played();
        }
        device.1 += 1;
        case.run(&device.0)
    });
    match ran {
        Ok(Verdict::Same) => tally.add("as the interpreter"),
        Ok(Verdict::Ran) => tally.add("ran"),
        Err(why) => panic!("{why}\n{}", case.shown()),
    }
}

/// The same result, or a trap for the same reason at the same place. How far an index was out of bounds is the affair of
/// one of several items with one number.
fn alike(expected: &Left, found: &Left) -> bool {
    match (expected, found) {
        (Ok(expected), Ok(found)) => expected == found,
        (Err(RunError::Trap(a)), Err(RunError::Trap(b))) => {
            (a.kind, &a.kernel, &a.site, a.item) == (b.kind, &b.kernel, &b.site, b.item)
        }
        _ => false,
    }
}

fn left(executor: &mut dyn Executor, args: &Args<'_>) -> Left {
    executor.run(args).map(|outcome| {
        let Outcome {
            outputs,
            lists,
            reductions,
            report,
            ..
        } = &outcome;
        let plain = |column: &Column| -> Vec<u64> {
            let all = 0..column.len();
            all.map(|at| column.get(at).expect("inside")).collect()
        };
        let mut columns: Vec<Vec<u64>> = outputs.iter().map(|(_, c)| plain(c)).collect();
        for (_, fields) in lists {
            // The items, in no order.
            let fields: Vec<Vec<u64>> = fields.iter().map(plain).collect();
            let len = fields.first().map_or(0, Vec::len);
            let mut items: Vec<Vec<u64>> = (0..len)
                .map(|at| fields.iter().map(|f| f[at]).collect())
                .collect();
            items.sort_unstable();
            columns.push(items.concat());
        }
        let reductions = reductions.iter().map(|&(_, bits)| bits).collect();
        (columns, reductions, report.rounds.clone())
    })
}
