//! Tests of the examples. They are a package of their own: Cargo builds what a package's tests need before it runs an
//! example of that package, and nobody should wait for that who runs their first one.
