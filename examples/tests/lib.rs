//! Tests of the examples. They are a package of their own: Cargo builds what a package's tests need before it runs an
//! example of that package, and whoever runs their first example should not wait for that.
