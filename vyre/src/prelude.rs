//! What a module with passes needs: `use vyre::prelude::*;`.

pub use crate::{Error, Runtime};
pub use vyre_core::dsl::csr::Csr;
pub use vyre_core::dsl::{
    And, Append, Atomic, Bits, Buf, Cell, Count, Edge, ExactSum, Frontier, Index, Insert, List,
    Lookup, Max, Min, Node, Or, Parts, Push, Records, Reduce, Relation, Round, Row, Rows, Sum,
};
#[doc(hidden)]
pub use vyre_macros::wavegraph;
pub use vyre_macros::{device, fixpoint, kernel, pass, wave, wave_graph};
