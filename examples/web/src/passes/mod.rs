//! The passes, each in a file that the page shows.

#![allow(missing_docs, reason = "fields of a pass are explained by its kernels")]

pub mod bfs;
pub mod components;
pub mod life;
pub mod pagerank;
