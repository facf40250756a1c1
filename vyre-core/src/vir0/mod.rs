//! VIR0, the bytecode. This room sees no other room of the crate.
//!
//! | question | answer |
//! | --- | --- |
//! | Which instructions are there, and what is in a word? | [`isa`] |
//! | What does an instruction do? | [`meaning`] |
//! | What does code read, assign and keep alive? | [`flow`] |
//! | What is a program? | [`module`], with [`scalar`] types, [`length`]s that are computed, [`sizes`] and the pass's [`manifest`] |
//! | Which waves run between two barriers? Which scope owns a frontier? | [`group`], [`owner`] |
//! | Which results are proven, claimed or open? | [`results`] |
//! | What may stand in a fixpoint that each part of a graph runs by itself? | [`local`] |
//! | May a program run? | [`verify`] |
//! | May one that somebody else sent? | [`untrusted`] |
//! | How is it written down, in bytes and as text? | [`container`], [`disasm`] |
//! | How does a run stop early, and about which field? | [`trap`], [`subject`] |
//! | Is this the program that was measured? | [`fingerprint`] |

pub mod container;
pub mod disasm;
pub mod exact;
pub mod find;
pub mod fingerprint;
pub mod flow;
pub mod group;
pub mod isa;
pub mod length;
pub mod local;
pub mod manifest;
pub mod meaning;
pub mod module;
pub mod owner;
pub mod results;
pub mod scalar;
pub mod sizes;
pub mod subject;
pub mod table;
pub mod trap;
pub mod untrusted;
pub mod verify;
