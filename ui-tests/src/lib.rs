//! Compile-fail and compile-pass tests of the macros: one rule a file, named after the rule. See `tests/ui.rs`.
