//! Runs what `vyre-naga` exports, without a GPU and without vyre's programs: shaders are read back from their text, and
//! a host follows the plan. For tests only.
//!
//! `wesl` evaluates WGSL, too. It was looked at first: it runs one invocation of an entry point, so that barriers and
//! workgroup memory have no meaning there, it does not read SPIR-V, and it has 108 crates.
//!
//! | question | answer |
//! | --- | --- |
//! | What does a shader do? | [`machine`] |
//! | What does a host do? | [`host`] |
//! | Do shaders agree with other backends? | [`backend`] |

pub mod backend;
pub mod host;
pub mod machine;
