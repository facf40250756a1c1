//! What all launches of a pass have in common: the device, the program, its layout and its code.

use crate::abi;
use crate::buffer::Memory;
use crate::device::Device;
use crate::image::Layout;
use std::sync::Arc;
use vyre_core::plan::footprint::Allocation;
use vyre_core::vir0::module::Program;

/// A pass on a device, whatever its topologies are.
#[derive(Debug)]
pub(super) struct Pass {
    pub(super) device: Arc<Device>,
    pub(super) program: Arc<Program>,
    /// Scratch and frontiers share memory, or have each its own.
    pub(super) allocation: Allocation,
    pub(super) layout: Layout,
    /// The layout's words.
    pub(super) code: Memory,
    /// Sweeps are to be timed.
    pub(super) time_waves: bool,
}

impl Pass {
    /// CTAs that the device runs at once.
    pub(super) fn slots(&self) -> u32 {
        self.device.multiprocessors().min(abi::MAX_CTAS)
    }
}
