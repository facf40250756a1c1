//! What a driver is asked for, written down so that two devices can be compared: no addresses, no times.
//!
//! Left out is what only asks (figures, whether an event has passed), what opens and closes the device, and what debug
//! builds do besides: they fill new memory, and wait for that.

use super::Fake;
use crate::backend::Cuda;
use crate::device::{Device, DeviceError};
use crate::driver::{Context, Driver, Event, Function, Grid, Module, Param, Stream, System};
use cudarc::driver::sys;
use std::collections::BTreeMap;
use std::fmt::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use vyre_core::vir0::module::Program;

/// What debug builds fill new memory with.
const POISON: u8 = 0xa5;

/// What was asked for so far; clones are the same one.
#[derive(Clone, Debug, Default)]
pub struct Transcript(Arc<Mutex<Log>>);

#[derive(Debug, Default)]
struct Log {
    lines: String,
    /// Allocations and page-locked memory by address: which one, and its bytes.
    places: BTreeMap<u64, (Place, u64)>,
    allocations: usize,
    host: usize,
    streams: Vec<Stream>,
    events: Vec<Event>,
    /// The allocation that a debug build fills next, and how often it waits afterwards.
    fresh: u64,
    waits: u32,
    /// Of these allocations parts came to pages that were locked where they are, which begin anywhere.
    in_parts: Vec<usize>,
}

#[derive(Clone, Copy, Debug)]
enum Place {
    Allocation(usize),
    Host(usize),
    /// Locked where it is.
    Locked,
}

impl Transcript {
    /// Opens a played device and writes down what it is asked for.
    ///
    /// # Errors
    /// As those of [`Device::open`].
    pub fn of_fake(fake: &Fake) -> Result<(Cuda, Transcript), DeviceError> {
        Transcript::of(Box::new(fake.clone()), 0)
    }

    /// The same of a device of this machine.
    ///
    /// # Errors
    /// As those of [`Device::open`].
    pub fn of_device(ordinal: usize) -> Result<(Cuda, Transcript), DeviceError> {
        let system = System::find()?;
        system.init()?;
        Transcript::of(Box::new(system), ordinal)
    }

    fn of(driver: Box<dyn Driver>, ordinal: usize) -> Result<(Cuda, Transcript), DeviceError> {
        let transcript = Transcript::default();
        let recorder = Recorder {
            driver,
            transcript: transcript.clone(),
        };
        let device = Device::open_on(Box::new(recorder), ordinal)?;
        transcript.log().begin();
        Ok((Cuda::on(Arc::new(device)), transcript))
    }

    /// One line for each call.
    pub fn text(&self) -> String {
        self.log().lines.clone()
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Log {
    /// What was asked for so far opened the device.
    fn begin(&mut self) {
        *self = Log {
            streams: std::mem::take(&mut self.streams),
            ..Log::default()
        };
    }

    fn line(&mut self, line: fmt::Arguments<'_>, failed: bool) {
        let failed = if failed { ": fails" } else { "" };
        writeln!(self.lines, "{line}{failed}").expect("writing to a string succeeds");
    }

    fn place(&self, address: u64) -> Option<(Place, u64, u64)> {
        let (base, &(place, bytes)) = self.places.range(..=address).next_back()?;
        (address < base + bytes).then_some((place, address - base, bytes))
    }

    fn name(&self, address: u64) -> String {
        match self.place(address) {
            _ if address == 0 => "nothing".to_owned(),
            Some((Place::Allocation(n), at, _)) => format!("allocation {n} + {at}"),
            Some((Place::Host(n), at, _)) => format!("page-locked {n} + {at}"),
            Some((Place::Locked, ..)) => "locked pages".to_owned(),
            None => "pageable memory".to_owned(),
        }
    }

    fn stream(&self, stream: Stream) -> &'static str {
        match self.streams.first() {
            Some(&first) if first == stream => "launches",
            _ => "copies",
        }
    }

    fn event(&self, event: Event) -> usize {
        self.events.iter().rposition(|&e| e == event).unwrap_or(0)
    }
}

/// A driver whose calls are written down.
#[derive(Debug)]
struct Recorder {
    driver: Box<dyn Driver>,
    transcript: Transcript,
}

impl Recorder {
    fn log(&self) -> MutexGuard<'_, Log> {
        self.transcript.log()
    }

    /// Writes a call down that was made.
    fn note<T>(
        &self,
        ended: Result<T, DeviceError>,
        line: impl FnOnce(&Log) -> String,
    ) -> Result<T, DeviceError> {
        let mut log = self.log();
        let line = line(&log);
        log.line(format_args!("{line}"), ended.is_err());
        ended
    }
}

impl Driver for Recorder {
    fn version(&self) -> Result<i32, DeviceError> {
        self.driver.version()
    }

    fn device_count(&self) -> Result<usize, DeviceError> {
        self.driver.device_count()
    }

    fn device(&self, ordinal: usize) -> Result<sys::CUdevice, DeviceError> {
        self.driver.device(ordinal)
    }

    fn name(&self, device: sys::CUdevice) -> Result<String, DeviceError> {
        self.driver.name(device)
    }

    fn attribute(
        &self,
        device: sys::CUdevice,
        attribute: sys::CUdevice_attribute,
    ) -> Result<i32, DeviceError> {
        self.driver.attribute(device, attribute)
    }

    fn retain(&self, device: sys::CUdevice) -> Result<Context, DeviceError> {
        self.driver.retain(device)
    }

    unsafe fn release(&self, device: sys::CUdevice) -> Result<(), DeviceError> {
        // SAFETY: by contract.
        unsafe { self.driver.release(device) }
    }

    fn enter(&self, context: Context) -> Result<(), DeviceError> {
        self.driver.enter(context)
    }

    fn load(&self, elf: &[u8]) -> Result<Module, DeviceError> {
        self.driver.load(elf)
    }

    fn compile(&self, ptx: &str) -> Result<Module, DeviceError> {
        self.driver.compile(ptx)
    }

    unsafe fn unload(&self, module: Module) -> Result<(), DeviceError> {
        // SAFETY: by contract.
        unsafe { self.driver.unload(module) }
    }

    fn function(&self, module: Module, name: &str) -> Result<Function, DeviceError> {
        self.driver.function(module, name)
    }

    fn function_attribute(
        &self,
        function: Function,
        attribute: sys::CUfunction_attribute,
    ) -> Result<i32, DeviceError> {
        self.driver.function_attribute(function, attribute)
    }

    fn set_function_attribute(
        &self,
        function: Function,
        attribute: sys::CUfunction_attribute,
        value: i32,
    ) -> Result<(), DeviceError> {
        self.driver
            .set_function_attribute(function, attribute, value)
    }

    fn active_ctas(&self, grid: Grid) -> Result<u32, DeviceError> {
        self.driver.active_ctas(grid)
    }

    fn active_clusters(&self, grid: Grid) -> Result<u32, DeviceError> {
        self.driver.active_clusters(grid)
    }

    fn note_code(&self, address: u64, program: &Arc<Program>) {
        self.driver.note_code(address, program);
    }

    fn memory_bytes(&self) -> Result<(u64, u64), DeviceError> {
        self.driver.memory_bytes()
    }

    fn alloc(&self, bytes: u64) -> Result<u64, DeviceError> {
        let ended = self.driver.alloc(bytes);
        let mut log = self.log();
        log.allocations += 1;
        let n = log.allocations;
        if let Ok(address) = ended {
            log.places.insert(address, (Place::Allocation(n), bytes));
            log.fresh = address;
        }
        log.line(
            format_args!("allocation {n}: {bytes} bytes"),
            ended.is_err(),
        );
        ended
    }

    unsafe fn free(&self, address: u64) -> Result<(), DeviceError> {
        // SAFETY: by contract.
        let ended = unsafe { self.driver.free(address) };
        let ended = self.note(ended, |log| format!("free {}", log.name(address)));
        self.log().places.remove(&address);
        ended
    }

    fn alloc_host(&self, bytes: usize) -> Result<*mut u8, DeviceError> {
        let ended = self.driver.alloc_host(bytes);
        let mut log = self.log();
        log.host += 1;
        let n = log.host;
        if let Ok(data) = ended {
            let at = data.addr() as u64;
            log.places.insert(at, (Place::Host(n), bytes as u64));
        }
        log.line(
            format_args!("page-locked {n}: {bytes} bytes"),
            ended.is_err(),
        );
        ended
    }

    unsafe fn free_host(&self, data: *mut u8) -> Result<(), DeviceError> {
        // SAFETY: by contract.
        let ended = unsafe { self.driver.free_host(data) };
        let at = data.addr() as u64;
        if !self.log().places.contains_key(&at) {
            // It closes the device.
            return ended;
        }
        let ended = self.note(ended, |log| format!("free {}", log.name(at)));
        self.log().places.remove(&at);
        ended
    }

    unsafe fn register(&self, data: *mut u8, bytes: usize) -> Result<(), DeviceError> {
        // SAFETY: by contract.
        let ended = unsafe { self.driver.register(data, bytes) };
        let at = data.addr() as u64;
        self.log().places.insert(at, (Place::Locked, bytes as u64));
        self.note(ended, |_| "lock pages where they are".to_owned())
    }

    unsafe fn unregister(&self, data: *mut u8) -> Result<(), DeviceError> {
        // SAFETY: by contract.
        let ended = unsafe { self.driver.unregister(data) };
        self.log().places.remove(&(data.addr() as u64));
        self.note(ended, |_| "unlock pages".to_owned())
    }

    fn create_stream(&self) -> Result<Stream, DeviceError> {
        let stream = self.driver.create_stream()?;
        self.log().streams.push(stream);
        Ok(stream)
    }

    unsafe fn destroy_stream(&self, stream: Stream) -> Result<(), DeviceError> {
        // SAFETY: by contract.
        unsafe { self.driver.destroy_stream(stream) }
    }

    fn synchronize(&self, stream: Stream) -> Result<(), DeviceError> {
        let ended = self.driver.synchronize(stream);
        let mut log = self.log();
        if log.waits > 0 {
            log.waits -= 1;
            return ended;
        }
        drop(log);
        self.note(ended, |log| format!("{}: wait for all", log.stream(stream)))
    }

    unsafe fn set_bytes(
        &self,
        at: (u64, u64),
        value: u8,
        stream: Stream,
    ) -> Result<(), DeviceError> {
        // SAFETY: by contract.
        let ended = unsafe { self.driver.set_bytes(at, value, stream) };
        if value == POISON {
            let mut log = self.log();
            if std::mem::take(&mut log.fresh) == at.0 {
                log.waits = 2;
            }
            return ended;
        }
        self.note(ended, |log| {
            let (stream, to) = (log.stream(stream), log.name(at.0));
            format!("{stream}: set {} bytes of {to} to {value}", at.1)
        })
    }

    unsafe fn upload(&self, to: u64, from: &[u8], stream: Stream) -> Result<(), DeviceError> {
        // SAFETY: by contract.
        let ended = unsafe { self.driver.upload(to, from, stream) };
        self.note(ended, |log| {
            let (stream, bytes) = (log.stream(stream), from.len());
            let (to, from) = (log.name(to), log.name(from.as_ptr().addr() as u64));
            format!("{stream}: upload {bytes} bytes to {to} from {from}")
        })
    }

    unsafe fn download(
        &self,
        to: *mut u8,
        from: (u64, u64),
        stream: Stream,
    ) -> Result<(), DeviceError> {
        // SAFETY: by contract.
        let ended = unsafe { self.driver.download(to, from, stream) };
        let to = to.addr() as u64;
        let mut log = self.log();
        let allocation = match log.place(from.0) {
            Some((Place::Allocation(n), ..)) => n,
            _ => 0,
        };
        if let Some((Place::Locked, ..)) = log.place(to) {
            log.in_parts.push(allocation);
        }
        let in_parts = log.in_parts.contains(&allocation);
        drop(log);
        self.note(ended, |log| {
            let stream = log.stream(stream);
            match (in_parts, log.place(to)) {
                (true, Some((Place::Locked, ..))) => {
                    format!("{stream}: download a part of allocation {allocation} to locked pages")
                }
                (true, _) => format!("{stream}: download another part of it"),
                (false, _) => {
                    let (from, bytes, to) = (log.name(from.0), from.1, log.name(to));
                    format!("{stream}: download {bytes} bytes of {from} to {to}")
                }
            }
        })
    }

    unsafe fn launch(
        &self,
        grid: Grid,
        params: &[Param],
        stream: Stream,
    ) -> Result<(), DeviceError> {
        // SAFETY: by contract.
        let ended = unsafe { self.driver.launch(grid, params, stream) };
        self.log().in_parts.clear();
        self.note(ended, |log| {
            let params = params.iter().map(|param| match *param {
                Param::Address(address) => log.name(address),
                Param::Word(word) => word.to_string(),
            });
            let params: Vec<String> = params.collect();
            let (stream, params) = (log.stream(stream), params.join(", "));
            let Grid { ctas, cluster, .. } = grid;
            format!("{stream}: launch ({params}) by {ctas} CTAs in clusters of {cluster}")
        })
    }

    fn create_event(&self, timed: bool) -> Result<Event, DeviceError> {
        let ended = self.driver.create_event(timed);
        let mut log = self.log();
        let n = log.events.len();
        log.events.push(*ended.as_ref().unwrap_or(&Event(0)));
        let timed = if timed { ", timed" } else { "" };
        log.line(format_args!("event {n}{timed}"), ended.is_err());
        ended
    }

    unsafe fn destroy_event(&self, event: Event) -> Result<(), DeviceError> {
        // SAFETY: by contract.
        let ended = unsafe { self.driver.destroy_event(event) };
        self.note(ended, |log| format!("destroy event {}", log.event(event)))
    }

    fn record(&self, event: Event, stream: Stream) -> Result<(), DeviceError> {
        let ended = self.driver.record(event, stream);
        self.note(ended, |log| {
            format!("{}: record event {}", log.stream(stream), log.event(event))
        })
    }

    fn hold(&self, stream: Stream, event: Event) -> Result<(), DeviceError> {
        let ended = self.driver.hold(stream, event);
        self.note(ended, |log| {
            format!(
                "{}: hold for event {}",
                log.stream(stream),
                log.event(event)
            )
        })
    }

    fn has_passed(&self, event: Event) -> Result<bool, DeviceError> {
        self.driver.has_passed(event)
    }

    fn wait(&self, event: Event) -> Result<(), DeviceError> {
        let ended = self.driver.wait(event);
        self.note(ended, |log| format!("wait for event {}", log.event(event)))
    }

    fn elapsed_ms(&self, start: Event, end: Event) -> Result<f32, DeviceError> {
        self.driver.elapsed_ms(start, end)
    }
}
