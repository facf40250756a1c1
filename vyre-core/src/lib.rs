//! VIR0, the bytecode of vyre: instruction table, container, verifier, planners and CPU executors. No GPU here.
//!
//! Users depend on `vyre`, which re-exports what they need.

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

pub mod compile;
#[cfg(feature = "exec")]
pub mod cpu;
#[cfg(feature = "exec")]
pub mod dsl;
pub mod plan;
#[cfg(feature = "exec")]
pub mod run;
pub mod vir0;
