//! Everything a module with passes needs.

pub use crate::Runtime;
pub use vyre_core::csr::Csr;
pub use vyre_core::dsl::{
    And, Atomic, Buf, Count, Edge, Frontier, Index, Max, Min, Node, Or, Push, Reduce, Round, Sum,
};
pub use vyre_macros::*;
