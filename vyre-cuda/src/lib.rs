//! The CUDA backend of vyre: a persistent megakernel that interprets VIR0, and the host code that drives it.
//!
//! Users depend on `vyre`, which makes its `Runtime` of this. Here are the device and what is told about it.

mod abi;
mod backend;
mod buffer;
mod code;
pub mod device;
mod image;
mod map;
mod megakernel;
mod neighbor_loop;
mod quick;
mod tile;

pub use backend::Cuda;
pub use cudarc;
pub use device::{Device, DeviceError};
pub use megakernel::Megakernel;
