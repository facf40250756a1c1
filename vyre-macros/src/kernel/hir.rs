//! The typed tree between inference and lowering.

/// A checked function.
pub(super) struct Function {}
