//! The typed tree to IR.

use super::Tables;
use super::hir::Function;
use crate::report::Report;
use vyre_core::ir;

/// Lowers a checked function.
pub(super) fn body(_f: &Function, _tables: &mut Tables, _report: &mut Report) -> Option<ir::Body> {
    None
}
