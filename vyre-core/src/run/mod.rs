//! What drives backends: what a session and a run are given and give, and what a backend implements. No GPU here, and
//! no threads: all work is a [`backend::Backend`]'s.

pub mod args;
pub mod backend;
mod fused;
pub mod outcome;
pub mod pass;
pub mod schedule;
