//! VIR0, the ground floor: instruction table and what instructions mean, module format, container, verifier and
//! disassembler. It sees nothing else of this crate.

pub mod container;
pub mod disasm;
pub mod fingerprint;
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
