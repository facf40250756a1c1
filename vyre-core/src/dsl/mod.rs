//! The parameter types of kernels: how a function's signature says what a lane may touch.
//!
//! A kernel is an ordinary function over these types, so it can be called and tested without a session:
//!
//! ```
//! use vyre_core::dsl::{Atomic, Buf, Count, Edge, Push, Reduce};
//!
//! fn visit(e: Edge, dist: &Buf<Atomic<u32>>, front: &Push, found: &Reduce<Count>) {
//!     if dist[e.dst].compare_exchange(u32::MAX, dist[e.src].load() + 1) {
//!         front.push(e.dst);
//!         found.inc();
//!     }
//! }
//!
//! let mut dist = [0, u32::MAX];
//! let (front, found) = (Push::new(2), Reduce::new());
//! visit(Edge { src: 0, dst: 1, index: 0 }, Buf::atomic(&mut dist), &front, &found);
//! visit(Edge { src: 0, dst: 1, index: 1 }, Buf::atomic(&mut dist), &front, &found);
//! assert_eq!((front.into_items(), found.value(), dist), (vec![1], 1, [0, 1]));
//! ```

pub(crate) mod blocks;
pub mod columns;
pub mod csr;
pub mod error;
pub(crate) mod fault;
mod grid;
pub mod located;
mod params;
mod parts;
pub mod record;
mod relation;
mod rows;
pub(crate) mod views;

pub use csr::Csr;
pub use grid::Cell;
pub use parts::{BoundsError, Parts};
pub use record::Record;
pub use relation::{Filing, Indexes, Insert, Lookup, Relation, Tuples, With, column_bits};
pub use rows::{Rows, RowsError};
pub use views::{Atomic, AtomicElement, Buf, Row};

pub use params::*;
