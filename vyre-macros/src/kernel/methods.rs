//! The closed table of methods.
