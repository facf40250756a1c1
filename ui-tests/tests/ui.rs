//! Every file in `fail/` must be refused with exactly the message beside it; every file in `pass/` must compile and
//! run.
//!
//! The expected output depends on the toolchain, which `rust-toolchain.toml` pins. After a deliberate change of a
//! message: `TRYBUILD=overwrite cargo test -p ui-tests`, and review the difference.

/// trybuild checks these beside each other, as long as none of them has to be built.
#[test]
fn messages() {
    trybuild::TestCases::new().compile_fail("fail/*.rs");
}

/// Those that are built, one after the other. In `fail/when_built` is what `cargo check` does not find.
#[test]
fn programs() {
    let cases = trybuild::TestCases::new();
    cases.pass("pass/*.rs");
    cases.compile_fail("fail/when_built/*.rs");
}
