//! What barriers cost, by scope: kernels of nothing else.

use super::memory::{Memory, Timer};
use super::{Kernels, RivalError, THREADS, at, control, load};
use std::ffi::CString;
use std::sync::Arc;
use vyre::cuda::cudarc::driver::{result, sys};

/// The kernel of cluster barriers, for compute capability 9.0 and later.
const CLUSTER_PTX: &str = include_str!("../../kernels/cluster.ptx");

/// Who meets. CTAs have 256 threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Barrier {
    /// The threads of a CTA.
    Cta,
    /// The CTAs of a cluster of at most 16.
    Cluster {
        /// How many.
        ctas: u32,
    },
    /// That many CTAs on each multiprocessor.
    Grid {
        /// How many.
        each: u32,
    },
}

/// Nanoseconds of one barrier: the difference of two launches with different numbers of them. None where the device has
/// no clusters, or not of that size.
pub fn barrier_ns(kernels: &Arc<Kernels>, barrier: Barrier) -> Result<Option<f64>, RivalError> {
    const FEW: u32 = 1000;
    const MANY: u32 = 11_000;
    let device = &kernels.device;
    device.enter()?;
    let timer = Timer::new(device)?;
    let memory = Memory::new(device, control::BYTES)?;
    let mut cluster = sys::CUlaunchAttribute {
        id: sys::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
        pad: [0; 4],
        value: sys::CUlaunchAttributeValue { pad: [0; 64] },
    };
    let mut module = None;
    let (function, ctas, clustered) = match barrier {
        Barrier::Cta => (kernels.function("cta_barriers")?, 1, 0),
        Barrier::Grid { each } => {
            let ctas = each * device.multiprocessors();
            (kernels.function("grid_barriers")?, ctas, 0)
        }
        Barrier::Cluster { .. } if device.capability() < (9, 0) => return Ok(None),
        Barrier::Cluster { ctas } => {
            let loaded = Unload(load(CLUSTER_PTX)?);
            let name = CString::new("cluster_barriers").expect("the name has no zero byte");
            // SAFETY: the module was just loaded.
            let function = unsafe { result::module::get_function(loaded.0, name) }?;
            module = Some(loaded);
            let sizes =
                sys::CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED;
            // SAFETY: the function belongs to the loaded module.
            unsafe { result::function::set_function_attribute(function, sizes, 1) }?;
            cluster.value.clusterDim = sys::CUlaunchAttributeValue_union__bindgen_ty_1 {
                x: ctas,
                y: 1,
                z: 1,
            };
            (function, ctas, 1)
        }
    };
    let config = sys::CUlaunchConfig {
        gridDimX: ctas,
        gridDimY: 1,
        gridDimZ: 1,
        blockDimX: THREADS,
        blockDimY: 1,
        blockDimZ: 1,
        sharedMemBytes: 0,
        hStream: device.stream(),
        attrs: &mut cluster,
        numAttrs: clustered,
    };
    let launch = |mut rounds: u32| {
        let mut address = memory.address();
        let mut params = [at(&mut address), at(&mut rounds)];
        memory.clear()?;
        timer.start()?;
        let launched = if clustered == 1 {
            // SAFETY: the kernel's parameters in its order, alive during the call; the stream is waited for below.
            unsafe {
                sys::cuLaunchKernelEx(&config, function, params.as_mut_ptr(), std::ptr::null_mut())
            }
            .result()
        } else {
            // SAFETY: as above; the driver refuses more CTAs than can be resident.
            unsafe {
                result::launch_cooperative_kernel(
                    function,
                    (ctas, 1, 1),
                    (THREADS, 1, 1),
                    0,
                    device.stream(),
                    &mut params,
                )
            }
        };
        launched?;
        timer.end()?;
        device.synchronize()?;
        timer.elapsed_ns()
    };
    if clustered == 1 && launch(FEW).is_err() {
        return Ok(None);
    }
    let least = |rounds| -> Result<u64, RivalError> {
        let mut times = [0; 7];
        for time in &mut times {
            *time = launch(rounds)?;
        }
        Ok(times.into_iter().min().unwrap_or(0))
    };
    let (few, many) = (least(FEW)?, least(MANY)?);
    drop(module);
    Ok(Some(
        many.saturating_sub(few) as f64 / f64::from(MANY - FEW),
    ))
}

/// A module that is unloaded when dropped.
struct Unload(sys::CUmodule);

impl Drop for Unload {
    fn drop(&mut self) {
        // SAFETY: loaded once, its kernels were waited for. An error has no taker here.
        let _ = unsafe { result::module::unload(self.0) };
    }
}
