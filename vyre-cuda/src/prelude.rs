//! Everything a module with passes needs.

pub use crate::Runtime;
pub use vyre_core::dsl::csr::Csr;
pub use vyre_core::dsl::{
    And, Append, Atomic, Bits, Buf, Count, Edge, Frontier, Index, List, Max, Min, Node, Or, Push,
    Records, Reduce, Round, Sum,
};
pub use vyre_macros::*;
