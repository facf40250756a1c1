//! Where a session keeps a field on its device, for kernels of the user's own.

use thiserror::Error;
use vyre_core::vir0::scalar::Scalar;

/// Memory of a session on its device: [`Session::device_ptr`](crate::Session::device_ptr).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DevicePtr {
    /// First byte, as the device sees it; a multiple of 16.
    pub address: u64,
    /// Elements.
    pub len: u64,
    /// Type of an element. A `bool` is one byte, 0 or 1; rows of bits are words of 32.
    pub scalar: Scalar,
}

/// Why a field has no memory on a device to be used.
#[derive(Clone, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum DevicePtrError {
    /// The pass has no buffer of that name, and no graph.
    #[error("the pass has no buffer `{0}`; of a graph `g` there are `g.offsets` and `g.targets`")]
    NoField(String),
    /// It does not stay between runs.
    #[error("`{0}` does not stay between runs: only outputs and topologies do")]
    DoesNotStay(String),
    /// The session is on a CPU.
    #[error("the session is on `{0}`, which has no addresses on a device")]
    NoDevice(&'static str),
    /// There is no result.
    #[error(
        "`{0}` holds no result: the session has not run since it was made or changed, or its last run failed or was a batch"
    )]
    NoResult(String),
}

vyre_core::debug_is_display!(DevicePtrError);
