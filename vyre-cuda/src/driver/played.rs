//! A device that somebody else plays: copies and memory are served here, at once, and launches are handed to a
//! [`Player`] with the text that the driver would have compiled. Tests run the PTX that is shipped so, without a GPU.
//!
//! The invariant of every block here: pointers come from the caller, whose contract says how long what they point to
//! lives.

use super::{Context, Driver, Event, Function, Grid, Module, Param, Stream};
use crate::backend::Cuda;
use crate::device::{Device, DeviceError};
use cudarc::driver::sys;
use std::collections::BTreeMap;
use std::fmt;
use std::ptr::with_exposed_provenance_mut;
use std::sync::{Arc, Mutex, PoisonError};

/// Memory of the device: allocations by their addresses.
pub type Allocations = BTreeMap<u64, Vec<u8>>;

/// What a played device is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Played {
    /// Each runs one CTA of the interpreter at a time.
    pub multiprocessors: u32,
    /// CTAs of the largest cluster; 1: it has none.
    pub cluster: u32,
    /// Shared memory of a CTA, that which kernels declare included.
    pub shared_bytes: u32,
    /// What the megakernel declares of it.
    pub static_shared_bytes: u32,
}

/// A launch, as the driver is asked for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launched {
    /// The module's text.
    pub ptx: Arc<str>,
    /// The kernel's name.
    pub entry: String,
    /// CTAs of the grid.
    pub ctas: u32,
    /// Threads of a CTA.
    pub threads: u32,
    /// CTAs of a cluster; 1: there are none.
    pub cluster: u32,
    /// Shared memory of a CTA, beyond what the kernel declares.
    pub shared_bytes: u32,
    /// Raw bits of the arguments.
    pub params: Vec<u64>,
}

/// Runs launches.
pub trait Player: Send {
    /// Runs a launch to its end, or says what went wrong.
    ///
    /// # Errors
    /// With what the driver would then have said.
    fn launch(&mut self, launched: Launched, memory: &mut Allocations) -> Result<(), String>;
}

/// A backend on a played device.
///
/// # Errors
/// If there is too little of something.
pub fn play(played: Played, player: impl Player + 'static) -> Result<Cuda, DeviceError> {
    let state = State {
        player: Box::new(player),
        memory: Allocations::new(),
        next: FIRST,
        host: BTreeMap::new(),
        modules: Vec::new(),
        functions: Vec::new(),
    };
    let driver = PlayedDriver {
        played,
        state: Mutex::new(state),
    };
    Ok(Cuda::on(Arc::new(Device::open_on(Box::new(driver), 0)?)))
}

/// Where allocations begin, and what they are multiples of.
const FIRST: u64 = 0x20_0000_0000;
const ALIGN: u64 = 256;

struct State {
    player: Box<dyn Player>,
    memory: Allocations,
    next: u64,
    /// Page-locked memory, by address, and its bytes. Launches have it beside the device's own.
    host: BTreeMap<u64, usize>,
    modules: Vec<Arc<str>>,
    /// By handle: module and name.
    functions: Vec<(usize, String)>,
}

struct PlayedDriver {
    played: Played,
    state: Mutex<State>,
}

impl fmt::Debug for PlayedDriver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.played.fmt(f)
    }
}

impl PlayedDriver {
    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// The bytes from an address on.
    fn bytes(&mut self, at: u64, bytes: u64) -> Result<&mut [u8], DeviceError> {
        let found = self.memory.range_mut(..=at).next_back();
        let held = found.and_then(|(start, held)| {
            let from = (at - start) as usize;
            held.get_mut(from..from.checked_add(bytes as usize)?)
        });
        held.ok_or_else(|| {
            failed(
                "copy",
                format!("{bytes} bytes at {at:#x} are not allocated"),
            )
        })
    }
}

fn failed(call: &'static str, reason: String) -> DeviceError {
    DeviceError::Driver { call, reason }
}

impl Driver for PlayedDriver {
    /// Has clusters, and no cubin is for it: PTX is compiled.
    fn version(&self) -> Result<i32, DeviceError> {
        Ok(12_010)
    }
    fn device_count(&self) -> Result<usize, DeviceError> {
        Ok(1)
    }
    fn device(&self, _ordinal: usize) -> Result<sys::CUdevice, DeviceError> {
        Ok(0)
    }
    fn name(&self, _device: sys::CUdevice) -> Result<String, DeviceError> {
        Ok("a played device".to_owned())
    }
    fn attribute(
        &self,
        _device: sys::CUdevice,
        attribute: sys::CUdevice_attribute,
    ) -> Result<i32, DeviceError> {
        use sys::CUdevice_attribute_enum as a;
        Ok(match attribute {
            a::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR => 9,
            a::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR => 0,
            a::CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH => 1,
            a::CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH => (self.played.cluster > 1).into(),
            a::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT => self.played.multiprocessors as i32,
            a::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN => {
                self.played.shared_bytes as i32
            }
            _ => 0,
        })
    }
    fn retain(&self, _device: sys::CUdevice) -> Result<Context, DeviceError> {
        Ok(Context(1))
    }
    unsafe fn release(&self, _device: sys::CUdevice) -> Result<(), DeviceError> {
        Ok(())
    }
    fn enter(&self, _context: Context) -> Result<(), DeviceError> {
        Ok(())
    }

    fn load(&self, _elf: &[u8]) -> Result<Module, DeviceError> {
        Err(failed(
            "load",
            "a played device has no machine code".to_owned(),
        ))
    }
    fn compile(&self, ptx: &str) -> Result<Module, DeviceError> {
        let mut state = self.state();
        state.modules.push(ptx.into());
        Ok(Module(state.modules.len() - 1))
    }
    unsafe fn unload(&self, _module: Module) -> Result<(), DeviceError> {
        Ok(())
    }
    fn function(&self, module: Module, name: &str) -> Result<Function, DeviceError> {
        let mut state = self.state();
        state.functions.push((module.0, name.to_owned()));
        Ok(Function(state.functions.len() - 1))
    }
    fn function_attribute(
        &self,
        _function: Function,
        attribute: sys::CUfunction_attribute,
    ) -> Result<i32, DeviceError> {
        use sys::CUfunction_attribute_enum as a;
        Ok(match attribute {
            a::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES => self.played.static_shared_bytes as i32,
            _ => 0,
        })
    }
    fn set_function_attribute(
        &self,
        _function: Function,
        _attribute: sys::CUfunction_attribute,
        _value: i32,
    ) -> Result<(), DeviceError> {
        Ok(())
    }
    fn active_ctas(&self, grid: Grid) -> Result<u32, DeviceError> {
        // The system takes some of each.
        let each = grid.shared_bytes + self.played.static_shared_bytes + 1024;
        Ok((2048 / grid.threads).min((self.played.shared_bytes + 1024) / each))
    }
    fn active_clusters(&self, grid: Grid) -> Result<u32, DeviceError> {
        Ok(match grid.cluster <= self.played.cluster {
            true => self.played.multiprocessors * self.active_ctas(grid)? / grid.cluster,
            false => 0,
        })
    }

    fn memory_bytes(&self) -> Result<(u64, u64), DeviceError> {
        Ok((1 << 30, 1 << 30))
    }
    fn alloc(&self, bytes: u64) -> Result<u64, DeviceError> {
        let mut state = self.state();
        let at = state.next;
        // Not beside each other: what runs over does not find the neighbour.
        state.next += (bytes + ALIGN).next_multiple_of(ALIGN);
        state.memory.insert(at, vec![0xa5; bytes as usize]);
        Ok(at)
    }
    unsafe fn free(&self, address: u64) -> Result<(), DeviceError> {
        self.state().memory.remove(&address);
        Ok(())
    }
    fn alloc_host(&self, bytes: usize) -> Result<*mut u8, DeviceError> {
        let words = vec![0u64; bytes.div_ceil(8)].into_boxed_slice();
        let data = Box::into_raw(words).cast::<u64>();
        let address = data.expose_provenance() as u64;
        self.state().host.insert(address, bytes.div_ceil(8) * 8);
        Ok(data.cast())
    }
    unsafe fn free_host(&self, data: *mut u8) -> Result<(), DeviceError> {
        let bytes = self.state().host.remove(&(data.addr() as u64));
        let words = bytes.expect("it was allocated") / 8;
        // SAFETY: made by `alloc_host`, of `words` words.
        drop(unsafe {
            Box::from_raw(std::ptr::slice_from_raw_parts_mut(
                data.cast::<u64>(),
                words,
            ))
        });
        Ok(())
    }
    unsafe fn register(&self, _data: *mut u8, _bytes: usize) -> Result<(), DeviceError> {
        Ok(())
    }
    unsafe fn unregister(&self, _data: *mut u8) -> Result<(), DeviceError> {
        Ok(())
    }

    fn create_stream(&self) -> Result<Stream, DeviceError> {
        Ok(Stream(1))
    }
    unsafe fn destroy_stream(&self, _stream: Stream) -> Result<(), DeviceError> {
        Ok(())
    }
    fn synchronize(&self, _stream: Stream) -> Result<(), DeviceError> {
        Ok(())
    }

    unsafe fn set_bytes(
        &self,
        (at, bytes): (u64, u64),
        value: u8,
        _stream: Stream,
    ) -> Result<(), DeviceError> {
        self.state().bytes(at, bytes)?.fill(value);
        Ok(())
    }
    unsafe fn upload(&self, to: u64, from: &[u8], _stream: Stream) -> Result<(), DeviceError> {
        self.state()
            .bytes(to, from.len() as u64)?
            .copy_from_slice(from);
        Ok(())
    }
    unsafe fn download(
        &self,
        to: *mut u8,
        (from, bytes): (u64, u64),
        _stream: Stream,
    ) -> Result<(), DeviceError> {
        let mut state = self.state();
        let from = state.bytes(from, bytes)?;
        // SAFETY: the target has `bytes` bytes, by contract.
        unsafe { to.copy_from_nonoverlapping(from.as_ptr(), bytes as usize) };
        Ok(())
    }
    unsafe fn launch(
        &self,
        grid: Grid,
        params: &[Param],
        _stream: Stream,
    ) -> Result<(), DeviceError> {
        let mut state = self.state();
        let (module, entry) = state.functions[grid.function.0].clone();
        let launched = Launched {
            ptx: Arc::clone(&state.modules[module]),
            entry,
            ctas: grid.ctas,
            threads: grid.threads,
            cluster: grid.cluster,
            shared_bytes: grid.shared_bytes,
            params: (params.iter())
                .map(|param| match *param {
                    Param::Address(address) => address,
                    Param::Word(word) => word.into(),
                })
                .collect(),
        };
        let State {
            player,
            memory,
            host,
            ..
        } = &mut *state;
        let data = |at: u64| with_exposed_provenance_mut::<u8>(at as usize);
        for (&at, &bytes) in &*host {
            // SAFETY: `bytes` bytes, which are not written while a launch is on its way.
            let held = unsafe { std::slice::from_raw_parts(data(at), bytes) };
            memory.insert(at, held.to_vec());
        }
        let ended = player.launch(launched, memory);
        for (&at, &bytes) in &*host {
            let held = memory.remove(&at).expect("it was there");
            // SAFETY: as above.
            unsafe { data(at).copy_from_nonoverlapping(held.as_ptr(), bytes) };
        }
        ended.map_err(|reason| failed("launch", reason))
    }

    fn create_event(&self, _timed: bool) -> Result<Event, DeviceError> {
        Ok(Event(1))
    }
    unsafe fn destroy_event(&self, _event: Event) -> Result<(), DeviceError> {
        Ok(())
    }
    fn record(&self, _event: Event, _stream: Stream) -> Result<(), DeviceError> {
        Ok(())
    }
    fn hold(&self, _stream: Stream, _event: Event) -> Result<(), DeviceError> {
        Ok(())
    }
    fn has_passed(&self, _event: Event) -> Result<bool, DeviceError> {
        Ok(true)
    }
    fn wait(&self, _event: Event) -> Result<(), DeviceError> {
        Ok(())
    }
    fn elapsed_ms(&self, _start: Event, _end: Event) -> Result<f32, DeviceError> {
        Ok(1.0)
    }
}
