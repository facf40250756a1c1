//! From typed bodies to VIR0: what the macros call.

pub mod edge_numbers;
pub mod effects;
pub mod ir;
pub mod lower;
mod monotone;
mod relation;
pub mod room;
mod unordered;
