//! Random bodies.
