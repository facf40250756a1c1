//! What the examples share: the command line, graphs by name, file formats, call graphs and control-flow graphs of
//! programs, statements of programs, passes that several programs run, room of relations, and the sequential algorithms
//! that results are checked against.
//!
//! ```
//! use vyre_examples::{graph::GraphSpec, oracle};
//! let graph = "grid:1000x1000".parse::<GraphSpec>().unwrap().load().unwrap();
//! let levels = oracle::bfs(&graph.csr, 0);
//! assert_eq!(levels.iter().max(), Some(&1998));
//! ```

pub mod cfg;
pub mod cli;
pub mod elf;
pub mod files;
pub mod formats;
pub mod graph;
pub mod json;
pub mod oracle;
pub mod passes;
pub mod relation;
pub mod statements;
