//! What a machine is, before anything is taken from it: a [`Probe`] asks the driver for a device's name and figures, and
//! refuses a device that passes cannot run on.

use crate::code::Target;
use crate::device::DeviceError;
use crate::driver::Driver;
use cudarc::driver::sys;

/// Oldest driver that is accepted, as `cuDriverGetVersion` counts.
const OLDEST_DRIVER: i32 = 12_000;

/// Oldest driver that takes the megakernel's instructions of clusters.
const CLUSTERS_DRIVER: i32 = 12_010;

/// Oldest compute capability.
const OLDEST_CAPABILITY: (i32, i32) = (8, 0);

/// Oldest compute capability with clusters.
const CLUSTERS_CAPABILITY: (i32, i32) = (9, 0);

/// A device that passes can run on, and its driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Probe {
    /// Which one of the driver's list.
    pub(crate) ordinal: usize,
    /// The driver's handle.
    pub(crate) device: sys::CUdevice,
    /// Its name, as the driver gives it.
    pub(crate) name: String,
    /// Compute capability: major, minor.
    pub(crate) capability: (i32, i32),
    /// CUDA version of the driver, as `cuDriverGetVersion` counts.
    pub(crate) driver_version: i32,
    pub(crate) multiprocessors: u32,
    /// Shared memory of a CTA, what its kernel declares included.
    pub(crate) shared_bytes: u32,
    /// Kernels may have the instructions of clusters.
    pub(crate) clusters: bool,
}

impl Probe {
    /// Asks a driver that has been started for the device of this number.
    ///
    /// # Errors
    /// Of a driver or a device that is too old, of a number that no device has.
    pub(crate) fn new(driver: &dyn Driver, ordinal: usize) -> Result<Probe, DeviceError> {
        let driver_version = driver.version()?;
        if driver_version < OLDEST_DRIVER {
            let version = driver_version;
            return Err(DeviceError::OldDriver { version });
        }
        let count = driver.device_count()?;
        if ordinal >= count {
            return Err(DeviceError::NoDevice { ordinal, count });
        }
        let device = driver.device(ordinal)?;
        let name = driver.name(device)?;
        use sys::CUdevice_attribute_enum as attribute;
        let get = |a| driver.attribute(device, a);
        let capability = (
            get(attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
            get(attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
        );
        if capability < OLDEST_CAPABILITY {
            let (major, minor) = capability;
            return Err(DeviceError::TooOld { name, major, minor });
        }
        if get(attribute::CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH)? == 0 {
            return Err(DeviceError::NotCooperative { name });
        }
        let multiprocessors = get(attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)? as u32;
        // Tools that look for races do not follow clusters.
        let clusters = capability >= CLUSTERS_CAPABILITY
            && driver_version >= CLUSTERS_DRIVER
            && std::env::var("VYRE_CLUSTERS").as_deref() != Ok("0")
            && get(attribute::CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH)? != 0;
        let shared_bytes =
            get(attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)? as u32;
        Ok(Probe {
            ordinal,
            device,
            name,
            capability,
            driver_version,
            multiprocessors,
            shared_bytes,
            clusters,
        })
    }

    /// What the megakernel is to be code for.
    pub(crate) fn target(&self) -> Target {
        Target {
            capability: self.capability,
            driver: self.driver_version,
            clusters: self.clusters,
            ptx: std::env::var("VYRE_PTX").as_deref() == Ok("1"),
        }
    }
}
