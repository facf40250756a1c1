//! VIR0, the bytecode of vyre: instruction table, container, verifier, planners and CPU executors. No GPU here.
//!
//! Users depend on `vyre-cuda`, which re-exports what they need.

pub mod container;
pub mod csr;
pub mod disasm;
pub mod exec;
#[cfg(feature = "exec")]
pub mod interp;
pub mod ir;
pub mod isa;
pub mod module;
pub mod plan;
pub mod trap;
pub mod verify;
