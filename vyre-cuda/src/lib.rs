//! The CUDA backend of vyre: a persistent megakernel that interprets VIR0, and the host code that drives it.
//!
//! Users depend on `vyre`, which makes its `Runtime` of this. Here are the device and what is told about it.

mod abi;
mod backend;
mod buffer;
mod code;
mod compiled;
pub mod device;
mod driver;
#[cfg(any(test, feature = "fake"))]
pub mod fake;
mod image;
mod map;
mod megakernel;
mod module;
mod neighbor_loop;
mod probe;
mod ptx;
mod quick;
mod shape;
mod splice;
mod tiers;
mod tile;

pub use backend::Cuda;
pub use compiled::pass_ptx;
pub use cudarc;
pub use device::{Device, DeviceError};
#[cfg(any(test, feature = "fake"))]
#[doc(hidden)]
pub use driver::played;
pub use megakernel::Megakernel;
pub use shape::Shape;
