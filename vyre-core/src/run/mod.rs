//! What drives a backend: arguments, outcomes, and what a backend implements.

pub mod args;
pub mod backend;
mod fused;
pub mod outcome;
