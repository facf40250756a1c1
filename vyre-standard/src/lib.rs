//! Standard passes, to run or to include in a graph of one's own.
//!
//! | pass | gives |
//! | --- | --- |
//! | [`exclusive_scan`] | for each value the sum of those before it |
//! | [`histogram`] | how often each number occurs |
//! | [`compact`] | the values that are kept, without gaps |
//! | [`sort_by_key`] | pairs in the order of their keys |
//! | [`csr_from_edges`] | offsets and targets of a graph whose edges are pairs in any order |
//! | [`transpose`] | the edges of a graph the other way round |
//!
//! All of them give the same bits in every run, on every backend. Sums are of u32: where one overflows, it does what `+`
//! does in the crate that has the pass, which for this one is a trap in a build with overflow checks.
//!
//! ```
//! use vyre::prelude::*;
//!
//! /// Where the edges of each node begin, if they are numbered by node.
//! #[wave_graph]
//! mod numbered {
//!     #[include(value = degree, scanned = first, n = node, after(count))]
//!     use vyre_standard::exclusive_scan as scan;
//!
//!     pub struct Data {
//!         #[topology]
//!         graph: Csr,
//!         #[scratch(per = node)]
//!         degree: u32,
//!         #[output(per = node)]
//!         first: u32,
//!     }
//!
//!     #[wave(nodes)]
//!     fn count(v: Node, graph: &Csr, degree: &mut u32) {
//!         *degree = graph.degree(v);
//!     }
//! }
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let graph = Csr::from_edges(4, &[(0, 1), (0, 2), (2, 0), (3, 1)])?;
//! let mut session = numbered::Session::new(&Runtime::native(), &graph)?;
//! assert_eq!(session.run(numbered::Run {})?.first, [0, 2, 2, 3]);
//! # Ok(())
//! # }
//! ```

mod edges;
mod select;
mod sort;
mod sums;

pub use edges::{csr_from_edges, transpose};
pub use select::compact;
pub use sort::sort_by_key;
pub use sums::{exclusive_scan, histogram};
