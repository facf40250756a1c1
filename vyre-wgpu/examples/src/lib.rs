//! What `vyre-examples` has, in programs that link the backend by wgpu: `--backend wgpu` is there, and
//! `Runtime::auto()` takes it as a side.

pub use real::*;
use vyre_wgpu as _;
