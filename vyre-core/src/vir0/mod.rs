//! VIR0, the ground floor: instruction table, what instructions mean and how values flow through code, module format,
//! container, verifier and disassembler. It sees nothing else of this crate.

pub mod container;
pub mod disasm;
pub mod fingerprint;
pub mod flow;
pub mod group;
pub mod isa;
pub mod manifest;
pub mod meaning;
pub mod module;
pub mod owner;
pub mod scalar;
pub mod sizes;
pub mod subject;
pub mod trap;
pub mod verify;
