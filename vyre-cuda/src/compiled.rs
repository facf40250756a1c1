//! Compiled passes: modules of the megakernel that are made for one pass.
//!
//! A session begins with the interpreter, which runs any pass at once. Where a pass is worth it, a module of its own is
//! made beside the runs ([`Modules`]): the megakernel's text with what the pass needs ([`Changes`]), which the driver
//! compiles. Between two runs the session goes over to it. All tables and buffers stay as they are.
//!
//! A module counts in the budget of the runtime that has it made. Where the budget has no room, the modules that were
//! not run for the longest time are unloaded, and their sessions go back to the interpreter; one that a call runs stays
//! until the call ends. It is made anew once there is room for it without unloading another, so two passes do not take
//! turns at the compiler.
//!
//! The driver keeps what it compiled in its own cache, by text, device and driver: 1 GiB by default, or 256 MiB on
//! embedded platforms (`CUDA_CACHE_MAXSIZE`, in bytes, at most 4 GiB), in `~/.nv/ComputeCache` (`CUDA_CACHE_PATH`),
//! from which it drops the oldest; `CUDA_CACHE_DISABLE=1` turns it off.

use crate::code::{MEGAKERNEL_PTX, with_clusters};
use crate::device::Device;
use crate::image::{ITEMS_PER_LANE, ImageError, Layout, Room};
use crate::module::{Figures, Module, room_of, share_of};
use crate::ptx::bodies;
use crate::ptx::narrow::rounds;
use crate::ptx::sites;
use crate::shape::{self, Shape};
use crate::splice::{Changes, SpliceError, splice};
use crate::tiers::{Modules, NotMade, Slot};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};
use vyre_core::dsl::error::RunError;
use vyre_core::plan::cuda::Cuda;
use vyre_core::plan::device::Device as _;
use vyre_core::plan::footprint::Allocation;
use vyre_core::run::backend::{CodeRoom, GiveUp, Taken, runnable};
use vyre_core::vir0::module::Program;

/// About what the megakernel's own variables take of a CTA's shared memory.
const OWN_SHARED_BYTES: u32 = 20 * 1024;

/// Lines of PTX that a module may have which is compiled beside runs. The driver takes 85 to 240 microseconds a line,
/// and other modules wait for it, as does the end of a process that cannot leave it.
const MOST_LINES: usize = 40_000;

/// Bytes of a module for each line of its text, at most: the megakernel's machine code has 13 to 19, with all its
/// tables. The driver does not say what it takes.
const LINE_BYTES: u64 = 20;

/// The compiled passes of a device.
#[derive(Debug, Default)]
pub(crate) struct Passes {
    modules: Modules<Wanted, Compiled>,
    /// By budget, what can go.
    idle: Mutex<Vec<Arc<Idle>>>,
    /// Calls that have begun to run a module.
    calls: AtomicU64,
}

/// The place of one of them.
pub(crate) type Place = Arc<Slot<Wanted, Compiled>>;

/// What decides about a module: its text, whether that may have any size, and in which budget it counts.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Wanted {
    pub(crate) changes: Changes,
    /// Dynamic shared memory of its CTAs, where they have a shape of their own.
    pub(crate) shared_bytes: u32,
    pub(crate) any_size: bool,
    pub(crate) room: Counted,
}

/// A budget, which is equal to itself alone; or none.
#[derive(Clone, Debug)]
pub(crate) struct Counted(pub(crate) Option<Arc<dyn CodeRoom>>);

impl Counted {
    fn address(&self) -> Option<*const ()> {
        self.0.as_ref().map(|room| Arc::as_ptr(room).cast())
    }
}

impl PartialEq for Counted {
    fn eq(&self, other: &Counted) -> bool {
        self.address() == other.address()
    }
}

impl Eq for Counted {}

impl Hash for Counted {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.address().hash(state);
    }
}

/// A module of one pass. It is unloaded where the budget needs its room and no call runs it.
#[derive(Debug)]
pub(crate) struct Compiled {
    loaded: Mutex<Option<Arc<Loaded>>>,
    /// When the last call that runs it began, counted in calls.
    used: AtomicU64,
    /// What it counts as.
    bytes: u64,
    figures: Figures,
    /// Of its CTAs, and how many of them run on a multiprocessor.
    shape: (Shape, u32),
    lines: usize,
    took: Duration,
}

/// A module on the device. Whoever runs it has it until the call ends.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) module: Module,
    /// Given back once the module is gone.
    _taken: Option<Taken>,
}

/// The modules of a device that count in a budget, as far as no call runs them.
#[derive(Debug)]
struct Idle {
    device: Weak<Device>,
    room: Weak<dyn CodeRoom>,
}

impl GiveUp for Idle {
    fn give_up(&self) -> bool {
        let device = self.device.upgrade();
        let counted = Counted(self.room.upgrade());
        counted.0.is_some() && device.is_some_and(|d| d.passes().unload_oldest(&counted))
    }
}

impl Passes {
    /// The place where the module of a pass is, or will be.
    pub(crate) fn ask(&self, device: &Arc<Device>, wanted: Wanted) -> Place {
        self.modules.ask(wanted, compiles(device))
    }

    /// The same in the place of one whose module has gone, or had no room.
    pub(crate) fn ask_anew(&self, device: &Arc<Device>, before: &Place) -> Place {
        self.modules.ask_anew(before, compiles(device))
    }

    /// Modules that count in this budget may go from here on.
    pub(crate) fn offer(&self, device: &Arc<Device>, room: &Arc<dyn CodeRoom>) {
        let mut idle = lock(&self.idle);
        idle.retain(|idle| idle.room.strong_count() > 0);
        let room_of = Arc::downgrade(room);
        if idle.iter().any(|idle| idle.room.ptr_eq(&room_of)) {
            return;
        }
        let of = Arc::new(Idle {
            device: Arc::downgrade(device),
            room: room_of,
        });
        let offered: Weak<Idle> = Arc::downgrade(&of);
        room.offer(offered);
        idle.push(of);
    }

    /// Unloads the module of a budget that was not run for the longest time, of those that no call runs; false if there
    /// is none.
    fn unload_oldest(&self, room: &Counted) -> bool {
        loop {
            let places = self.modules.places();
            let here = places.iter().filter(|place| place.key().room == *room);
            let made = here.filter_map(|place| place.made()?.as_ref().ok());
            let idle = made.filter(|compiled| compiled.is_idle());
            let Some(oldest) = idle.min_by_key(|compiled| compiled.used.load(Relaxed)) else {
                return false;
            };
            // If a call has begun meanwhile, another one is the oldest.
            if oldest.unload() {
                return true;
            }
        }
    }
}

fn compiles(device: &Arc<Device>) -> impl Fn(&Wanted) -> Result<Compiled, NotMade> + use<> {
    let device = Arc::clone(device);
    move |wanted| Compiled::new(&device, wanted)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What the module of a pass has instead of the megakernel's own text.
pub(crate) fn changes(program: &Program, layout: &Layout, clusters: bool) -> Changes {
    Changes {
        entry: "vyre_megakernel",
        shape: (layout.shape != Shape::INTERPRETER).then_some(layout.shape),
        left_out: layout.unreached(),
        bodies: bodies(program, layout),
        functions: rounds(program, layout, clusters),
        known: Some(layout.known(program)),
    }
}

/// The module of a pass for a large GPU of compute capability 9.0, as PTX; no GPU is needed for it. `degree`: edges of
/// a node on average; `shape`: of its CTAs, if it is not to be what a session takes.
///
/// It is what the driver gets, with comments besides: the user's lines, each before what it became. They have the text
/// of the line where the file can be read, from the current folder or one around it.
///
/// # Errors
/// The pass takes more shared memory than there is. [`RunError::NoParts`], as of a session: each part of a graph runs a
/// fixpoint of it by itself (`#[fixpoint(per = ..)]`).
pub fn pass_ptx(program: &Program, degree: f64, shape: Option<Shape>) -> Result<String, RunError> {
    let (changes, clusters) = for_large_gpu(program, degree, shape)?;
    let marked = marked(&changes, clusters).map_err(|e| RunError::Backend(e.to_string()))?;
    Ok(sites::shown(&marked, program, sites::read))
}

/// What decides the text of that module.
pub(crate) fn for_large_gpu(
    program: &Program,
    degree: f64,
    shape: Option<Shape>,
) -> Result<(Changes, bool), RunError> {
    runnable(program, (Cuda.name(), false))?;
    let room = Room {
        shared_bytes: 227 * 1024 - OWN_SHARED_BYTES,
        clusters: true,
        shape: Shape::INTERPRETER,
    };
    let degrees = vec![degree; program.topologies.len()];
    let of = (program, Allocation::Separate);
    let refused = |e: ImageError| RunError::Backend(e.to_string());
    let mut layout = Layout::new(of, room, &degrees, ITEMS_PER_LANE).map_err(refused)?;
    let wanted = shape.unwrap_or_else(|| shape::chosen(program, (0, false)));
    if wanted != Shape::INTERPRETER {
        let is_narrow = layout.is_narrow();
        let shaped = room_of(room, OWN_SHARED_BYTES, (wanted, is_narrow));
        match layout.shaped(of, shaped) {
            Ok(shaped) => layout = shaped,
            Err(ImageError::Shared { needed, available }) if shape.is_some() => {
                let (each, [system, own]) = share_of(room, OWN_SHARED_BYTES, (wanted, is_narrow));
                let left = match each.checked_sub(system + own) {
                    // Units of 128 bytes.
                    Some(_) => format!(
                        "{} bytes, of which the system takes {system}, the module's own variables take {own}, and \
                         {available} are left for it",
                        available + system + own
                    ),
                    None => format!(
                        "{each} bytes, which is less than the {} that the system and the module's own variables take",
                        system + own
                    ),
                };
                return Err(RunError::Backend(format!(
                    "the pass needs {needed} bytes of shared memory for a CTA; where {wanted} is its shape, {} CTAs \
                     share a multiprocessor, and each has {left}: take a shape of fewer CTAs",
                    wanted.ctas()
                )));
            }
            // As in a session.
            Err(_) => {}
        }
    }
    Ok((changes(program, &layout, room.clusters), room.clusters))
}

/// The text of a pass's module, as the driver gets it.
pub(crate) fn text(changes: &Changes, clusters: bool) -> Result<String, SpliceError> {
    marked(changes, clusters).map(|text| sites::without(&text))
}

/// The same with marks where words begin.
fn marked(changes: &Changes, clusters: bool) -> Result<String, SpliceError> {
    match clusters {
        true => splice(&with_clusters(MEGAKERNEL_PTX), changes),
        false => splice(MEGAKERNEL_PTX, changes),
    }
}

/// Refuses a module that has too many lines.
fn allowed(lines: usize, any_size: bool) -> Result<(), NotMade> {
    match any_size || lines <= MOST_LINES {
        true => Ok(()),
        false => Err(NotMade::TooLarge {
            lines,
            most: MOST_LINES,
        }),
    }
}

impl Compiled {
    /// Makes the text and has the driver compile it, if the budget has room for it.
    fn new(device: &Arc<Device>, wanted: &Wanted) -> Result<Compiled, NotMade> {
        let started = Instant::now();
        let clusters = device.interpreter().room().clusters;
        let text = text(&wanted.changes, clusters).map_err(|e| e.to_string())?;
        let lines = text.lines().count();
        allowed(lines, wanted.any_size)?;
        let bytes = lines as u64 * LINE_BYTES;
        let taken = match &wanted.room.0 {
            Some(room) => Some(
                Arc::clone(room)
                    .take(bytes)
                    .ok_or(NotMade::NoRoom { bytes })?,
            ),
            None => None,
        };
        let shape = wanted.changes.shape.unwrap_or(Shape::INTERPRETER);
        let module = device.compile(&text, shape, wanted.shared_bytes);
        let module = module.map_err(|e| e.to_string())?;
        let (figures, shape) = (module.figures(), module.shape());
        Ok(Compiled {
            loaded: Mutex::new(Some(Arc::new(Loaded {
                module,
                _taken: taken,
            }))),
            used: AtomicU64::new(device.passes().calls.load(Relaxed)),
            bytes,
            figures,
            shape,
            lines,
            took: started.elapsed(),
        })
    }

    /// The module for a call that begins; `None` if it was unloaded.
    pub(crate) fn run(&self, device: &Device) -> Option<Arc<Loaded>> {
        let calls = &device.passes().calls;
        self.used.store(calls.fetch_add(1, Relaxed) + 1, Relaxed);
        lock(&self.loaded).clone()
    }

    /// Whether it is on the device.
    pub(crate) fn is_loaded(&self) -> bool {
        lock(&self.loaded).is_some()
    }

    /// What it takes of a budget.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether it is on the device, and no call runs it.
    fn is_idle(&self) -> bool {
        let loaded = lock(&self.loaded);
        loaded.as_ref().is_some_and(|l| Arc::strong_count(l) == 1)
    }

    /// Unloads it, unless a call runs it or it is not there.
    fn unload(&self) -> bool {
        // Whoever begins a call asks for the lock first.
        let gone = lock(&self.loaded).take_if(|l| Arc::strong_count(l) == 1);
        gone.is_some()
    }
}

impl fmt::Display for Compiled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Figures {
            registers,
            local_bytes,
            shared_bytes,
        } = self.figures;
        let (shape, ctas) = self.shape;
        write!(
            f,
            "compiled ({} lines of PTX in {:.2} s, {registers} registers, {local_bytes} bytes of local memory, \
             {shared_bytes} of shared memory, {ctas} CTA{} of {} threads a multiprocessor)",
            self.lines,
            self.took.as_secs_f64(),
            if ctas == 1 { "" } else { "s" },
            shape.threads()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::{allowed, for_large_gpu};
    use crate::image::tests::search;

    /// The numbers in what is said of a shape, in order.
    fn refused(shape: &str) -> (String, Vec<u32>) {
        let shape = shape.parse().expect("a shape");
        let error = for_large_gpu(&search(), 4.0, Some(shape)).expect_err("it does not fit");
        let text = error.to_string();
        let numbers = text.split(|c: char| !c.is_ascii_alphanumeric());
        let numbers = numbers.filter_map(|word| word.parse().ok()).collect();
        (text, numbers)
    }

    #[test]
    fn what_is_said_of_a_shape_without_room_adds_up() {
        // 228 KiB of a multiprocessor for 10 CTAs, in units of 128 bytes.
        let (text, numbers) = refused("128x10");
        let [needed, ctas, each, system, own, left] = numbers[..] else {
            panic!("{text}");
        };
        assert_eq!((ctas, each), (10, 23_296), "{text}");
        assert_eq!(each, system + own + left, "{text}");
        assert!(left < needed && own > 0, "{text}");
        // Less than what is taken before.
        let (text, numbers) = refused("128x16");
        let [_, ctas, each, taken] = numbers[..] else {
            panic!("{text}");
        };
        assert_eq!((ctas, each, taken), (16, 14_592, system + own), "{text}");
    }

    #[test]
    fn a_module_that_takes_the_driver_too_long_is_refused_by_its_lines() {
        assert_eq!(allowed(40_000, false), Ok(()));
        assert_eq!(allowed(62_351, true), Ok(()));
        let refused = allowed(40_001, false).expect_err("it is too large");
        let says = "its module has 40001 lines of PTX; at most 40000 are compiled beside runs";
        assert_eq!(refused.to_string(), says);
    }
}
