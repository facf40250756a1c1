//! The executors of the CPU.

pub mod interp;
pub mod native;
pub mod pass;
pub mod store;
pub mod vir0;
