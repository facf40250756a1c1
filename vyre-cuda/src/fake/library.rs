//! The driver's library, played: a shared library of a few lines of C in its place, whose functions ask a [`Fake`]. So
//! the calls of this crate to the library run without a GPU, with their arguments as the library sees them.
//!
//! The invariant of every block here: pointers are those of a driver call, which says what is behind them, and live as
//! long as it takes.

use super::{Fake, violation};
use crate::device::DeviceError;
use crate::driver::{
    Context, Driver, Event, Function, Grid, Module, Param, SYMBOLS, Stream, library_names,
};
use cudarc::driver::sys::{self, CUresult};
use libloading::Library;
use std::collections::BTreeMap;
use std::ffi::{CStr, c_char};
use std::fmt::Write;
use std::ptr::{with_exposed_provenance, with_exposed_provenance_mut};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use vyre_core::vir0::module::Program;

/// Arguments of a call, as far as it has some.
type Words = [u64; 6];

/// What the library's functions call: with the place of their name among those that are called, and their arguments.
type Answer = unsafe extern "C" fn(which: u32, words: *const Words) -> u32;

/// Status codes that a played device gives, their names and texts.
const ERRORS: [(CUresult, &CStr, &CStr); 4] = [
    (
        CUresult::CUDA_ERROR_OUT_OF_MEMORY,
        c"CUDA_ERROR_OUT_OF_MEMORY",
        c"out of memory",
    ),
    (
        CUresult::CUDA_ERROR_UNKNOWN,
        c"CUDA_ERROR_UNKNOWN",
        c"unknown error",
    ),
    (
        CUresult::CUDA_ERROR_ILLEGAL_ADDRESS,
        c"CUDA_ERROR_ILLEGAL_ADDRESS",
        c"an illegal memory access was encountered",
    ),
    (
        CUresult::CUDA_ERROR_INVALID_PTX,
        c"CUDA_ERROR_INVALID_PTX",
        c"a PTX JIT compilation failed",
    ),
];

/// The library's source, in C.
pub fn source() -> String {
    let mut text =
        "typedef unsigned long long word;\nunsigned (*vyre_answer)(unsigned, const word *);\n"
            .to_owned();
    for (which, name) in SYMBOLS.iter().enumerate() {
        writeln!(
            text,
            "unsigned {name}(word a, word b, word c, word d, word e, word f) {{
    word words[] = {{a, b, c, d, e, f}};
    return vyre_answer({which}, words);
}}"
        )
        .expect("writing to a string succeeds");
    }
    text
}

/// What answers the library's calls in this process.
static PLAYED: OnceLock<Mutex<Played>> = OnceLock::new();

struct Played {
    fake: Fake,
    /// Kernels by their handles.
    names: BTreeMap<usize, String>,
}

/// Has the library of [`source`], which is in the driver's place, ask this device from now on.
pub fn play(fake: &Fake) {
    let played = Played {
        fake: fake.clone(),
        names: BTreeMap::new(),
    };
    if let Some(before) = PLAYED.get() {
        *before.lock().unwrap_or_else(PoisonError::into_inner) = played;
        return;
    }
    // SAFETY: a library of a few functions, which does nothing when it is loaded.
    let library = library_names().find_map(|name| unsafe { Library::new(name) }.ok());
    let library = library.expect("the library is in the driver's place");
    // SAFETY: a variable of this type.
    unsafe {
        let answers = library.get::<*mut Option<Answer>>("vyre_answer");
        **answers.expect("it is the played one") = Some(answer);
    }
    // It stays loaded, for its functions are called from here on.
    std::mem::forget(library);
    let _first = PLAYED.set(Mutex::new(played));
}

/// What [`Driver::note_code`] tells, if the library is played.
pub(crate) fn note_code(address: u64, program: &Arc<Program>) {
    if let Some(played) = PLAYED.get() {
        let played = played.lock().unwrap_or_else(PoisonError::into_inner);
        played.fake.note_code(address, program);
    }
}

unsafe extern "C" fn answer(which: u32, words: *const Words) -> u32 {
    let name = SYMBOLS[which as usize];
    // SAFETY: the library's own array.
    let words = unsafe { *words };
    // SAFETY: the arguments of a call of this name.
    match unsafe { call(name, words) } {
        Ok(()) => 0,
        Err(status) => status as u32,
    }
}

/// The status that stands for an error.
fn status(error: DeviceError) -> CUresult {
    let (DeviceError::Driver { reason, .. }
    | DeviceError::NoMemory { reason, .. }
    | DeviceError::Lost { reason, .. }) = &error
    else {
        violation(&format!("no call fails with {error}"));
    };
    let named =
        |(_, name, _): &&(CUresult, &CStr, &CStr)| reason.as_bytes().starts_with(name.to_bytes());
    ERRORS
        .iter()
        .find(named)
        .expect("a played device gives these")
        .0
}

/// A call's result goes where its argument points.
///
/// # Safety
/// There is room for it.
unsafe fn put<T>(to: u64, value: T) -> Result<(), DeviceError> {
    // SAFETY: by contract.
    unsafe { with_exposed_provenance_mut::<T>(to as usize).write(value) };
    Ok(())
}

/// What an argument points to.
///
/// # Safety
/// It is of this type.
unsafe fn get<T: Copy>(from: u64) -> T {
    // SAFETY: by contract.
    unsafe { with_exposed_provenance::<T>(from as usize).read() }
}

/// Handles are not null.
fn handle(number: usize) -> u64 {
    number as u64
}

fn stream(word: u64) -> Stream {
    Stream(word as usize)
}

fn event(word: u64) -> Event {
    Event(word as usize)
}

fn function(word: u64) -> Function {
    Function(word as usize)
}

/// The grid and the stream of a function's launch.
///
/// # Safety
/// The argument is a `CUlaunchConfig`, whose attributes are there.
unsafe fn grid_of(function: Function, config: u64) -> (Grid, Stream) {
    // SAFETY: by contract.
    let config: sys::CUlaunchConfig = unsafe { get(config) };
    let flat = [
        config.gridDimY,
        config.gridDimZ,
        config.blockDimY,
        config.blockDimZ,
    ];
    if flat != [1; 4] {
        violation("a grid has more than one dimension");
    }
    let mut grid = Grid {
        function,
        ctas: config.gridDimX,
        threads: config.blockDimX,
        shared_bytes: config.sharedMemBytes,
        cooperative: false,
        cluster: 1,
    };
    for i in 0..config.numAttrs as usize {
        use sys::CUlaunchAttributeID_enum as of;
        // SAFETY: there are `numAttrs` of them; their numbers say which of their values is there.
        unsafe {
            let attribute = *config.attrs.add(i);
            match attribute.id {
                of::CU_LAUNCH_ATTRIBUTE_COOPERATIVE => {
                    grid.cooperative = attribute.value.cooperative != 0;
                }
                of::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION => {
                    let of = attribute.value.clusterDim;
                    grid.cluster = of.x * of.y * of.z;
                }
                other => violation(&format!("nobody asked for {other:?} before")),
            }
        }
    }
    (grid, Stream(config.hStream.addr()))
}

/// # Safety
/// The words are arguments of the driver's call of this name.
unsafe fn call(name: &str, [a, b, c, d, e, _]: Words) -> Result<(), CUresult> {
    let played = PLAYED.get().expect("who loads the library plays it");
    let fake = {
        let played = played.lock().unwrap_or_else(PoisonError::into_inner);
        played.fake.clone()
    };
    let data = |word: u64| with_exposed_provenance_mut::<u8>(word as usize);
    // SAFETY: by contract, and so in all arms: what is written is of the type that the argument points to.
    let done = unsafe {
        match name {
            "cuInit" => Ok(()),
            "cuGetErrorName" | "cuGetErrorString" => {
                let of = ERRORS.iter().find(|(status, ..)| *status as u64 == a);
                let Some((_, error, text)) = of else {
                    return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
                };
                put::<*const c_char>(
                    b,
                    if name == "cuGetErrorName" {
                        error
                    } else {
                        text
                    }
                    .as_ptr(),
                )
            }
            "cuDriverGetVersion" => fake.version().and_then(|version| put(a, version)),
            "cuDeviceGetCount" => fake.device_count().and_then(|count| put(a, count as i32)),
            "cuDeviceGet" => fake.device(b as usize).and_then(|device| put(a, device)),
            "cuDeviceGetName" => fake.name(c as i32).map(|name| {
                let text = &name.as_bytes()[..name.len().min(b as usize - 1)];
                data(a).copy_from_nonoverlapping(text.as_ptr(), text.len());
                data(a).add(text.len()).write(0);
            }),
            "cuDeviceGetAttribute" => {
                let attribute: sys::CUdevice_attribute = std::mem::transmute(b as u32);
                fake.attribute(c as i32, attribute)
                    .and_then(|value| put(a, value))
            }
            "cuDevicePrimaryCtxRetain" => {
                let retained = fake.retain(b as i32);
                retained.and_then(|Context(context)| put(a, handle(context)))
            }
            "cuDevicePrimaryCtxRelease_v2" => fake.release(a as i32),
            "cuCtxSetCurrent" => fake.enter(Context(a as usize)),
            "cuLibraryLoadData" => {
                let loaded = match get::<[u8; 4]>(b) == *b"\x7fELF" {
                    true => fake.load(b"\x7fELF"),
                    false => {
                        let text = CStr::from_ptr(data(b).cast());
                        fake.compile(text.to_str().expect("PTX is ASCII"))
                    }
                };
                if let Err(DeviceError::Compile { log }) = &loaded {
                    let options: [sys::CUjit_option; 2] = get(c);
                    use sys::CUjit_option_enum as option;
                    let asked = [
                        option::CU_JIT_ERROR_LOG_BUFFER,
                        option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                    ];
                    assert_eq!((e as u32, options), (2, asked));
                    let [to, bytes]: [u64; 2] = get(d);
                    let text = &log.as_bytes()[..log.len().min(bytes as usize - 1)];
                    data(to).copy_from_nonoverlapping(text.as_ptr(), text.len());
                    data(to).add(text.len()).write(0);
                    return Err(CUresult::CUDA_ERROR_INVALID_PTX);
                }
                loaded.and_then(|Module(module)| put(a, handle(module)))
            }
            // A library is its module.
            "cuLibraryGetModule" => put(a, b),
            "cuLibraryUnload" => fake.unload(Module(a as usize)),
            "cuModuleGetFunction" => {
                let kernel = CStr::from_ptr(data(c).cast())
                    .to_str()
                    .expect("names are ASCII");
                let found = fake.function(Module(b as usize), kernel);
                if let Ok(Function(number)) = found {
                    let mut played = played.lock().unwrap_or_else(PoisonError::into_inner);
                    played.names.insert(number, kernel.to_owned());
                }
                found.and_then(|Function(number)| put(a, handle(number)))
            }
            "cuFuncGetAttribute" => {
                let attribute: sys::CUfunction_attribute = std::mem::transmute(b as u32);
                fake.function_attribute(function(c), attribute)
                    .and_then(|value| put(a, value))
            }
            "cuFuncSetAttribute" => {
                let attribute: sys::CUfunction_attribute = std::mem::transmute(b as u32);
                fake.set_function_attribute(function(a), attribute, c as i32)
            }
            "cuOccupancyMaxActiveBlocksPerMultiprocessor" => {
                let grid = Grid {
                    function: function(b),
                    ctas: 1,
                    threads: c as u32,
                    shared_bytes: d as u32,
                    cooperative: true,
                    cluster: 1,
                };
                let ctas = fake.active_ctas(grid);
                ctas.and_then(|ctas| put(a, ctas as i32))
            }
            "cuOccupancyMaxActiveClusters" => {
                let clusters = fake.active_clusters(grid_of(function(b), c).0);
                clusters.and_then(|clusters| put(a, clusters as i32))
            }
            "cuMemGetInfo_v2" => fake.memory_bytes().and_then(|(free, total)| {
                put(a, free)?;
                put(b, total)
            }),
            "cuMemAlloc_v2" => fake.alloc(b).and_then(|address| put(a, address)),
            "cuMemFree_v2" => fake.free(a),
            "cuMemHostAlloc" => fake.alloc_host(b as usize).and_then(|data| put(a, data)),
            "cuMemFreeHost" => fake.free_host(data(a)),
            "cuMemHostRegister_v2" => fake.register(data(a), b as usize),
            "cuMemHostUnregister" => fake.unregister(data(a)),
            "cuStreamCreate" => {
                let kind = sys::CUstream_flags_enum::CU_STREAM_NON_BLOCKING;
                assert_eq!(
                    b as u32, kind as u32,
                    "streams do not wait for the default one"
                );
                fake.create_stream()
                    .and_then(|Stream(stream)| put(a, handle(stream)))
            }
            "cuStreamDestroy_v2" => fake.destroy_stream(stream(a)),
            "cuStreamSynchronize" => fake.synchronize(stream(a)),
            "cuStreamWaitEvent" => fake.hold(stream(a), event(b)),
            "cuMemsetD8Async" => fake.set_bytes((a, c), b as u8, stream(d)),
            "cuMemcpyHtoDAsync_v2" => {
                let from = std::slice::from_raw_parts(data(b), c as usize);
                fake.upload(a, from, stream(d))
            }
            "cuMemcpyDtoHAsync_v2" => fake.download(data(a), (b, c), stream(d)),
            "cuLaunchKernelEx" => {
                let (grid, on) = grid_of(function(b), a);
                let kernel = {
                    let played = played.lock().unwrap_or_else(PoisonError::into_inner);
                    played.names.get(&(b as usize)).cloned()
                };
                let address = |i: u64| Param::Address(get(get(c + 8 * i)));
                let word = |i: u64| Param::Word(get(get(c + 8 * i)));
                let params = match kernel.as_deref() {
                    Some("vyre_megakernel") => vec![address(0), address(1)],
                    Some(_) => vec![address(0), address(1), word(2), word(3), address(4)],
                    None => violation("a kernel is launched that is not there"),
                };
                fake.launch(grid, &params, on)
            }
            "cuEventCreate" => {
                let timed = b as u32 == sys::CUevent_flags_enum::CU_EVENT_DEFAULT as u32;
                fake.create_event(timed)
                    .and_then(|Event(event)| put(a, handle(event)))
            }
            "cuEventDestroy_v2" => fake.destroy_event(event(a)),
            "cuEventRecord" => fake.record(event(a), stream(b)),
            "cuEventQuery" => match fake.has_passed(event(a)) {
                Ok(false) => return Err(CUresult::CUDA_ERROR_NOT_READY),
                ended => ended.map(drop),
            },
            "cuEventSynchronize" => fake.wait(event(a)),
            "cuEventElapsedTime" => {
                let elapsed = fake.elapsed_ms(event(b), event(c));
                elapsed.and_then(|ms| put(a, ms))
            }
            other => violation(&format!("the library is asked for {other}")),
        }
    };
    done.map_err(status)
}
