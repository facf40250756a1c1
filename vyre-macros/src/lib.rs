//! Attribute macros that compile annotated Rust to VIR0.

#[allow(dead_code, reason = "its client comes next")]
mod kernel;
#[allow(dead_code, reason = "its client comes next")]
mod report;
