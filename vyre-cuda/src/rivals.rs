//! What the megakernel is measured against, run by the benchmark only.

use crate::buffer::{Memory, Pinned, Timer, slice_bytes};
use crate::device::{Attempt, Device, DeviceError};
use cudarc::driver::{result, sys};
use std::ffi::{CString, c_void};
use std::sync::Arc;
use std::time::Instant;
use vyre_core::csr::Csr;
use vyre_core::exec::Slice;

/// The rivals' kernels.
pub(crate) const PTX: &str = include_str!("../kernels/rivals.ptx");

/// Breadth-first search from a host loop: one compiled kernel per level, the next frontier's length read back after each.
#[derive(Debug)]
pub struct HostLoopBfs {
    device: Arc<Device>,
    module: sys::CUmodule,
    start: sys::CUfunction,
    level: sys::CUfunction,
    offsets: Memory,
    targets: Memory,
    dist: Memory,
    fronts: [Memory; 2],
    counters: Memory,
    length: Pinned,
    timer: Timer,
    nodes: u32,
}

/// One run of a rival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timed {
    /// Levels run.
    pub levels: u32,
    /// Host time from the first launch to the last length, in nanoseconds.
    pub wall_ns: u64,
    /// Device time of the same span, in nanoseconds.
    pub device_ns: u64,
}

/// One run of a rival that starts from nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cold {
    /// What it found; `u32::MAX` where it did not get.
    pub distances: Vec<u32>,
    /// Host time from the first allocation to the last distance, in nanoseconds.
    pub wall_ns: u64,
    /// The part of it that went into device memory: freeing what the run before had, and allocating.
    pub allocation_ns: u64,
}

impl HostLoopBfs {
    /// Uploads the graph.
    pub fn new(device: &Arc<Device>, graph: &Csr) -> Result<HostLoopBfs, DeviceError> {
        device.enter()?;
        let module = device.load(PTX)?;
        let function = |name: &str| {
            let name = CString::new(name).expect("the name has no zero byte");
            // SAFETY: the module was just loaded, and is unloaded with `self`.
            unsafe { result::module::get_function(module, name) }.attempt("cuModuleGetFunction")
        };
        let n = graph.node_count() as u64;
        let this = HostLoopBfs {
            device: Arc::clone(device),
            module,
            start: function("rival_bfs_start")?,
            level: function("rival_bfs_level")?,
            offsets: Memory::new(device, 4 * (n + 1))?,
            targets: Memory::new(device, 4 * graph.edge_count() as u64)?,
            dist: Memory::new(device, 4 * n)?,
            fronts: [Memory::new(device, 4 * n)?, Memory::new(device, 4 * n)?],
            counters: Memory::new(device, 12)?,
            length: Pinned::new(device, 4)?,
            timer: Timer::new(device)?,
            nodes: n as u32,
        };
        this.offsets
            .upload(0, slice_bytes(&Slice::U32(graph.offsets())))?;
        this.targets
            .upload(0, slice_bytes(&Slice::U32(graph.targets())))?;
        device.synchronize()?;
        Ok(this)
    }

    fn launch(
        &self,
        function: sys::CUfunction,
        blocks: u32,
        mut params: Vec<*mut c_void>,
    ) -> Result<(), DeviceError> {
        let stream = self.device.stream();
        // SAFETY: the parameters are those of the kernel, in its order, and point to live values; the memory they name
        // belongs to `self`, and every run ends with a wait for the stream.
        unsafe {
            result::launch_kernel(
                function,
                (blocks, 1, 1),
                (256, 1, 1),
                0,
                stream,
                &mut params,
            )
        }
        .attempt("cuLaunchKernel")
    }

    /// One search.
    pub fn run(&mut self, mut source: u32) -> Result<Timed, DeviceError> {
        self.device.enter()?;
        let most = self.device.multiprocessors() * 8;
        let [mut offsets, mut targets, mut dist, mut counters] =
            [&self.offsets, &self.targets, &self.dist, &self.counters].map(Memory::address);
        let mut fronts = [self.fronts[0].address(), self.fronts[1].address()];
        let mut nodes = self.nodes;
        fn at<T>(value: &mut T) -> *mut c_void {
            std::ptr::from_mut(value).cast()
        }
        let started = Instant::now();
        self.timer.start()?;
        let params = vec![
            at(&mut dist),
            at(&mut nodes),
            at(&mut fronts[0]),
            at(&mut counters),
            at(&mut source),
        ];
        self.launch(self.start, most, params)?;
        let (mut level, mut items) = (0u32, 1u32);
        while items != 0 {
            let mut each = if items <= most * 64 { 8u32 } else { 32 };
            let blocks = items.div_ceil(8 * each).min(most);
            let [mut front, mut next] = fronts;
            let params = vec![
                at(&mut offsets),
                at(&mut targets),
                at(&mut dist),
                at(&mut front),
                at(&mut next),
                at(&mut counters),
                at(&mut level),
                at(&mut each),
            ];
            self.launch(self.level, blocks, params)?;
            level += 1;
            fronts.swap(0, 1);
            let place = u64::from(level % 3) * 4;
            // SAFETY: the page-locked target belongs to `self`, and the stream is waited for before it is read.
            unsafe {
                self.counters
                    .download(place, &mut self.length.as_mut_slice()[..4])
            }?;
            self.device.synchronize()?;
            let bytes = self.length.as_slice()[..4].try_into();
            items = u32::from_le_bytes(bytes.expect("the slice has 4 bytes"));
        }
        let wall_ns = u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.timer.end()?;
        self.device.synchronize()?;
        Ok(Timed {
            levels: level,
            wall_ns,
            device_ns: self.timer.elapsed_ns()?,
        })
    }

    /// One search that keeps nothing: allocates, uploads the graph, searches, reads the distances back.
    pub fn cold(&mut self, graph: &Csr, source: u32) -> Result<Cold, DeviceError> {
        self.device.enter()?;
        let started = Instant::now();
        let since = || u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let device = &self.device;
        let n = graph.node_count() as u64;
        self.offsets = Memory::new(device, 4 * (n + 1))?;
        self.targets = Memory::new(device, 4 * graph.edge_count() as u64)?;
        self.dist = Memory::new(device, 4 * n)?;
        self.fronts = [Memory::new(device, 4 * n)?, Memory::new(device, 4 * n)?];
        self.counters = Memory::new(device, 12)?;
        self.nodes = n as u32;
        let allocation_ns = since();
        self.offsets
            .upload(0, slice_bytes(&Slice::U32(graph.offsets())))?;
        self.targets
            .upload(0, slice_bytes(&Slice::U32(graph.targets())))?;
        self.run(source)?;
        let distances = self.distances()?;
        Ok(Cold {
            distances,
            wall_ns: since(),
            allocation_ns,
        })
    }

    /// Distances of the last search; `u32::MAX` where it did not get.
    pub fn distances(&mut self) -> Result<Vec<u32>, DeviceError> {
        let mut bytes = vec![0u8; 4 * self.nodes as usize];
        // SAFETY: the target outlives the wait.
        unsafe { self.dist.download(0, &mut bytes) }?;
        self.device.synchronize()?;
        Ok(bytes
            .chunks_exact(4)
            .map(|b| u32::from_le_bytes(b.try_into().expect("the chunk has 4 bytes")))
            .collect())
    }
}

impl Drop for HostLoopBfs {
    fn drop(&mut self) {
        if self.device.enter().is_ok() {
            let _ = self.device.synchronize();
            // SAFETY: loaded by `new`, not used again. An error has no taker here.
            let _ = unsafe { result::module::unload(self.module) };
        }
    }
}
