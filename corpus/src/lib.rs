//! Ordinary passes: what somebody writes who has read the public documentation and looked at no operator, with loops in
//! bodies, early exits and walks up trees. They say how fast vyre is for shapes that it was not tuned on
//! (docs/CORPUS.md).
//!
//! Each pass is a module of one shape: an `Input` and `input(small)`, which makes it; `sequential`, a fair program for
//! the same; `prepare`, which opens a session and gives what runs it; and `check`, which compares what came of a run
//! with an oracle. A new one is a file and a name in the list below.
//!
//! ```
//! use vyre::Runtime;
//! let colouring = vyre_corpus::PASSES.iter().find(|pass| pass.name == "colouring").unwrap();
//! let case = colouring.case(true);
//! let mut run = case.prepare(&Runtime::vir0())?;
//! assert_eq!(run(true)?.verdict, Ok(()));
//! # Ok::<(), vyre::Error>(())
//! ```

#![allow(
    missing_docs,
    reason = "passes explain themselves, and all modules have the shape that is explained here"
)]

mod rng;

use std::time::{Duration, Instant};
use vyre::{Error, Runtime};

macro_rules! passes {
    ($($name:ident),* $(,)?) => {
        $(pub mod $name;)*

        /// All of them, by name.
        pub const PASSES: &[Pass] = &[$(Pass {
            name: stringify!($name),
            input: |small| Box::new($name::input(small)),
        }),*];

        $(impl Case for $name::Input {
            fn sequential(&self) -> Duration {
                let start = Instant::now();
                std::hint::black_box($name::sequential(self));
                start.elapsed()
            }

            fn prepare<'i>(&'i self, runtime: &Runtime) -> Result<Prepared<'i>, Error> {
                let mut run = $name::prepare(runtime, self)?;
                Ok(Box::new(move |checks| {
                    let start = Instant::now();
                    let output = run()?;
                    let took = start.elapsed();
                    let verdict = if checks { $name::check(self, &output) } else { Ok(()) };
                    Ok(Ran { took, verdict })
                }))
            }
        })*
    };
}

passes! {
    andersen,
    colouring,
    csr_from_edges,
    dominators,
    k_truss,
    label_propagation,
    life,
    matching,
    multi_pattern_scan,
    reaching_definitions,
    scc,
    triangles,
}

/// A pass of the corpus.
#[derive(Clone, Copy, Debug)]
pub struct Pass {
    /// The name of its module.
    pub name: &'static str,
    input: fn(bool) -> Box<dyn Case>,
}

impl Pass {
    /// The pass with its input, a small one or the one that is measured.
    pub fn case(&self, small: bool) -> Box<dyn Case> {
        (self.input)(small)
    }
}

/// A pass with an input.
pub trait Case: Sync {
    /// What the sequential program takes.
    fn sequential(&self) -> Duration;

    /// Opens a session; what is given runs it.
    ///
    /// # Errors
    /// As the session.
    fn prepare<'i>(&'i self, runtime: &Runtime) -> Result<Prepared<'i>, Error>;
}

/// Runs a pass; its argument says whether to check what comes of it.
pub type Prepared<'i> = Box<dyn FnMut(bool) -> Result<Ran, Error> + 'i>;

/// A run.
#[derive(Clone, Debug)]
pub struct Ran {
    /// From the call until the result is there.
    pub took: Duration,
    /// Whether it is right, where that was asked, or what is wrong.
    pub verdict: Result<(), String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_passes_give_what_their_oracles_say() {
        for pass in PASSES {
            let case = pass.case(true);
            for runtime in [Runtime::native(), Runtime::vir0()] {
                let mut run = case.prepare(&runtime).expect("it opens");
                for _ in 0..2 {
                    let verdict = run(true).expect("no trap").verdict;
                    assert_eq!(verdict, Ok(()), "{} on {runtime}", pass.name);
                }
            }
        }
    }
}
