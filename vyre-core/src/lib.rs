//! VIR0, the bytecode of vyre: instruction table, container, verifier, planners and CPU executors. No GPU here.
//!
//! Users depend on `vyre-cuda`, which re-exports what they need.

/// `Debug` of errors is what `Display` says: a `main` that returns a `Result` prints errors by `Debug`. What they hold is in
/// their fields.
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

pub mod container;
pub mod csr;
pub mod disasm;
#[cfg(feature = "exec")]
pub mod dsl;
pub mod effects;
pub mod exec;
#[cfg_attr(
    not(feature = "exec"),
    allow(dead_code, reason = "only `Csr` uses it then")
)]
mod fault;
#[cfg(feature = "exec")]
pub mod interp;
pub mod ir;
pub mod isa;
pub mod lower;
pub mod module;
mod monotone;
#[cfg(feature = "exec")]
pub mod native;
#[cfg(feature = "exec")]
pub mod pass;
pub mod plan;
#[cfg(feature = "exec")]
mod record;
#[cfg(feature = "exec")]
mod store;
pub mod subject;
pub mod trap;
pub mod verify;
#[cfg(feature = "exec")]
mod views;
#[cfg(feature = "exec")]
pub mod vir0;
