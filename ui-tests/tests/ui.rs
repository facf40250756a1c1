//! Every file in `fail/` must be refused with exactly the message beside it; every file in `pass/` must compile and
//! run.
//!
//! The expected output depends on the toolchain, which `rust-toolchain.toml` pins. After a deliberate change of a
//! message: `TRYBUILD=overwrite cargo test -p ui-tests`, and review the difference.

#[test]
fn messages() {
    let cases = trybuild::TestCases::new();
    cases.pass("pass/*.rs");
    cases.compile_fail("fail/*.rs");
}
