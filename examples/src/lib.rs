//! What the examples share: the command line, graphs by name, file formats, call and control-flow graphs of programs, the
//! sequential algorithms that results are checked against, and the benchmark.
//!
//! ```
//! use vyre_examples::{graph::GraphSpec, oracle};
//! let graph = "grid:1000x1000".parse::<GraphSpec>().unwrap().load().unwrap();
//! let levels = oracle::bfs(&graph.csr, 0);
//! assert_eq!(levels.iter().max(), Some(&1998));
//! ```

// The benchmark takes the examples' passes from their files, where this crate has the name that it has for them.
extern crate self as vyre_examples;

pub mod bench;
pub mod cfg;
pub mod cli;
pub mod elf;
pub mod files;
pub mod formats;
pub mod graph;
pub mod oracle;
