//! What damaged, made-up and mutated bytecode must not do, as functions from bytes to assertions: the [`TARGETS`].
//!
//! | target | what it holds |
//! | --- | --- |
//! | `decode` | any bytes: an answer without a panic; what is decoded is encoded to the same bytes |
//! | `verify` | mutated programs: an answer; what verifies can be shown, and comes back from its bytes |
//! | `run` | mutated programs that verify: the same result, trap or refusal on every CPU executor, with memory of its own for each resource and with memory that is shared, a second time in the same session, and with the further barriers of a small budget |
//! | `host` | mutated programs that verify, on a CUDA device that is played on the host: its tables and copies are sound, and results are those of the interpreter |
//! | `plan` | mutated programs that verify, with sizes that no machine has: planners answer; what they hand out does not overlap, stays in the budget, and is what [`check`](vyre_core::plan::check) derives again |
//!
//! One function serves everybody: `cargo test -p vyre-fuzz` runs each on its first seeds, `scripts/fuzz` runs them all for as
//! many cases as asked for, on all cores, and `cargo fuzz run <target>` in this crate's folder lets libFuzzer choose the
//! bytes. A case is named by its seed ([`seeded`]):
//!
//! ```
//! use vyre_fuzz::{TARGETS, Tally, seeded};
//! let mut tally = Tally::default();
//! for target in &TARGETS {
//!     (target.run)(&seeded(7), &mut tally);
//! }
//! assert!(tally.total() >= 5);
//! ```
//!
//! `bin/hostile` runs mutated programs on a CUDA device beside the interpreter ([`device`]).

mod choices;
pub mod device;
mod mutate;
mod order;
mod plan;
mod program;
mod run;

use choices::Choices;
pub use choices::seeded;
use std::collections::BTreeMap;
use vyre_core::plan::show;
use vyre_core::vir0::container::{DecodeError, decode, encode};
use vyre_core::vir0::disasm;
use vyre_core::vir0::module::Program;
use vyre_core::vir0::untrusted::{Limits, UntrustedError};
use vyre_core::vir0::verify::verify;

/// One function from bytes to assertions.
pub struct Target {
    /// As the command line names it.
    pub name: &'static str,
    /// Runs one case, and panics where something does not hold.
    pub run: fn(&[u8], &mut Tally),
}

/// All of them.
pub static TARGETS: [Target; 5] = [
    Target {
        name: "decode",
        run: decode_bytes,
    },
    Target {
        name: "verify",
        run: verify_program,
    },
    Target {
        name: "run",
        run: run::run_program,
    },
    Target {
        name: "plan",
        run: plan::plan_program,
    },
    Target {
        name: "host",
        run: device::host_program,
    },
];

/// The target of this name.
///
/// # Panics
/// There is none.
pub fn target(name: &str) -> &'static Target {
    let found = TARGETS.iter().find(|t| t.name == name);
    found.expect("a target has this name")
}

impl Target {
    /// Runs one case of bytes that a fuzzer chose.
    pub fn hold(&self, bytes: &[u8]) {
        (self.run)(bytes, &mut Tally::default());
    }
}

/// What became of the cases.
#[derive(Clone, Debug, Default)]
pub struct Tally(BTreeMap<&'static str, u64>);

impl Tally {
    fn add(&mut self, what: &'static str) {
        *self.0.entry(what).or_default() += 1;
    }

    /// How many cases came to this.
    pub fn of(&self, what: &str) -> u64 {
        self.0.get(what).copied().unwrap_or(0)
    }

    /// Everything that was counted.
    pub fn total(&self) -> u64 {
        self.0.values().sum()
    }

    /// Takes another one in.
    pub fn merge(&mut self, other: &Tally) {
        for (what, count) in &other.0 {
            *self.0.entry(what).or_default() += count;
        }
    }

    /// Each outcome with its count.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> {
        self.0.iter().map(|(&what, &count)| (what, count))
    }
}

/// Bytes as they come, or a container with some of its bytes changed and its hash repaired.
fn decode_bytes(bytes: &[u8], tally: &mut Tally) {
    let choices = &mut Choices::new(bytes);
    let container = match choices.below(8) {
        0 => bytes.to_vec(),
        kind => {
            let mut container = encode(&program::some(choices).0);
            for _ in 0..choices.below(4) {
                program::change_byte(&mut container, choices);
            }
            if kind == 1 {
                container.truncate(choices.below(container.len() + 1));
            }
            if kind != 2 {
                repair_hash(&mut container);
            }
            container
        }
    };
    match decode(&container) {
        Ok(program) => {
            assert!(
                encode(&program) == container,
                "one byte string for a program"
            );
            let verified = verify(&program);
            let taken = Program::from_untrusted(&container, &Limits::default());
            match (&verified, &taken) {
                (Ok(()), Ok(taken)) => {
                    assert_eq!(verify(taken), Ok(()), "what is taken verifies");
                    let again = Program::from_untrusted(&encode(taken), &Limits::default());
                    assert!(again.as_ref() == Ok(taken), "what is taken can be sent on");
                }
                (Ok(()), Err(e)) => assert!(
                    matches!(e, UntrustedError::Text { .. } | UntrustedError::Anew { .. }),
                    "a small program within the limits is refused: {e}"
                ),
                (Err(_), taken) => assert!(taken.is_err()),
            }
            tally.add(match verified {
                Ok(()) => "decoded and verified",
                Err(_) => "decoded, not verified",
            });
        }
        Err(e) => {
            let refused = Program::from_untrusted(&container, &Limits::default());
            assert!(refused == Err(UntrustedError::Decode(e)));
            tally.add("refused by the decoder");
        }
    }
}

/// Puts the right content hash into the header, where the rest can be read.
fn repair_hash(container: &mut [u8]) {
    if let Err(DecodeError::Hash { actual, .. }) = decode(container) {
        container[8..16].copy_from_slice(&actual.to_le_bytes());
    }
}

/// A mutated program, whether it verifies or not.
fn verify_program(bytes: &[u8], tally: &mut Tally) {
    let choices = &mut Choices::new(bytes);
    let (program, _) = program::mutated(choices);
    match verify(&program) {
        Ok(()) => {
            tally.add("verified");
            assert!(decode(&encode(&program)).as_ref() == Ok(&program));
            if choices.one_in(8) {
                assert!(!disasm::program(&program).is_empty());
                assert!(!show::text(&program).is_empty());
            }
        }
        Err(errors) => {
            tally.add("not verified");
            let first = errors.first().expect("a refusal says why");
            assert!(!first.to_string().is_empty());
        }
    }
}
