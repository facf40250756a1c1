//! The tree-walking oracle.
