//! The core of vyre: bytecode, compiler, planners and CPU backends. There is no GPU code here. Users depend on `vyre`,
//! which re-exports what they need.
//!
//! The crate has rooms. Each sees only those in the rows above it:
//!
//! | room | holds |
//! | --- | --- |
//! | [`vir0`] | the bytecode: instructions, their meaning, programs, container, verifier |
//! | `compile` | typed trees to bytecode: what the macros call |
//! | [`plan`] | planners: pure functions over programs and sizes |
//! | `dsl` | the types of kernel parameters, graphs, columns, errors of runs |
//! | `run` | what a backend implements, and the walk over a schedule |
//! | `cpu` | the CPU backends: the passes' own functions, and the interpreter |
//!
//! The last three need the feature `exec`, which macros do without.

/// `Debug` of errors is what `Display` says: a `main` that returns a `Result` prints errors by `Debug`. What they hold
/// is in their fields.
#[doc(hidden)]
#[macro_export]
macro_rules! debug_is_display {
    ($($error:ty),*) => {$(
        impl std::fmt::Debug for $error {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(self, f)
            }
        }
    )*};
}

#[cfg(feature = "compile")]
pub mod compile;
#[cfg(feature = "exec")]
pub mod cpu;
#[cfg(feature = "exec")]
pub mod dsl;
pub mod plan;
#[cfg(feature = "exec")]
pub mod run;
pub mod vir0;
