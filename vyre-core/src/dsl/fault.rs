//! How a checked operation of the surface language fails: inside a lane of the native executor it unwinds with a typed
//! payload that the executor turns into a [`crate::vir0::trap::Trap`]; anywhere else it panics as usual.
//!
//! rustc's own panics (division by zero, a failed assert, overflow checks) carry no payload of ours, so a panic hook
//! notes their position. It is installed once, is silent inside lanes and passes everything else to the hook before it.

use crate::run::stop::{Signal, Watch};
use crate::vir0::subject::{Dimension, Seen};
use crate::vir0::trap::{Site, TrapKind};
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::Location;
use std::sync::Once;

thread_local! {
    static LANES: Cell<Lanes> = const { Cell::new(Lanes::None) };
    /// That of the call that this thread has made, or whose lanes it runs.
    static SIGNAL: Cell<Option<&'static Signal>> = const { Cell::new(None) };
    /// Of lanes whose turns count: those that have come to their end, and how many may.
    static TURNS: Cell<(u64, u64)> = const { Cell::new((0, u64::MAX)) };
    static PANIC_SITE: RefCell<Option<Site>> = const { RefCell::new(None) };
    static OVERFLOW: Cell<Option<&'static Location<'static>>> = const { Cell::new(None) };
}

/// What this thread is running.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lanes {
    /// Something else.
    None,
    /// A chunk of a sweep that other threads run as well.
    Shared,
    /// All lanes of a sweep that touch the same elements, one after another.
    Alone,
}

/// No other thread runs lanes of this sweep on the same elements, and it borrows its buffers exclusively:
/// read-modify-write needs no locked instruction.
#[inline]
pub(crate) fn alone() -> bool {
    LANES.get() == Lanes::Alone
}

/// What a lane failed with.
#[derive(Debug)]
pub struct Fault {
    pub(crate) kind: TrapKind,
    pub(crate) index: u64,
    pub(crate) len: u64,
    pub(crate) site: Site,
    pub(crate) message: Option<String>,
    /// What its position stands for.
    pub(crate) seen: Seen,
}

/// The payload that our own checks unwind with.
struct OutOfBounds {
    index: u32,
    len: u64,
    of: Dimension,
    location: &'static Location<'static>,
}

/// Fails the check `index < len` at the caller's position.
#[cold]
#[inline(never)]
#[track_caller]
pub(crate) fn out_of_bounds(index: u32, len: usize) -> ! {
    outside(Dimension::Whole, index, len)
}

/// The same, for one dimension of rows of bits.
#[cold]
#[inline(never)]
#[track_caller]
pub(crate) fn outside(of: Dimension, index: u32, len: usize) -> ! {
    if LANES.get() != Lanes::None {
        std::panic::resume_unwind(Box::new(OutOfBounds {
            index,
            len: len as u64,
            of,
            location: Location::caller(),
        }))
    }
    panic!("index {index} is out of bounds; the length is {len}")
}

/// A method of std that does not know its caller is about to overflow, if overflows are checked.
#[cold]
#[inline(never)]
#[track_caller]
pub(crate) fn note_overflow() {
    if LANES.get() != Lanes::None {
        OVERFLOW.set(Some(Location::caller()));
    }
}

impl From<&Location<'_>> for Site {
    fn from(at: &Location<'_>) -> Site {
        Site {
            file: at.file().to_owned(),
            line: at.line(),
            column: at.column(),
        }
    }
}

/// This thread runs lanes until the guard is dropped.
pub(crate) struct InLane<'m> {
    outer: (Lanes, Option<&'static Signal>),
    /// Where its turns are counted, and what was counted before it.
    counting: Option<(&'m Watch<'m>, (u64, u64))>,
}

impl<'m> InLane<'m> {
    #[inline]
    pub(crate) fn enter(lanes: Lanes, watch: &'m Watch<'m>) -> InLane<'m> {
        let counting = watch
            .is_limited()
            .then(|| (watch, TURNS.replace((0, watch.most_turns()))));
        InLane {
            outer: (LANES.replace(lanes), SIGNAL.replace(watch.signal)),
            counting,
        }
    }
}

impl Drop for InLane<'_> {
    #[inline]
    fn drop(&mut self) {
        LANES.set(self.outer.0);
        SIGNAL.set(self.outer.1);
        if let Some((watch, outer)) = self.counting {
            watch.take_in(TURNS.replace(outer).0);
        }
    }
}

/// That of the call that this thread has made, or whose lanes it runs.
pub(crate) fn signal() -> Option<&'static Signal> {
    SIGNAL.get()
}

/// This thread makes a call; gives the signal of the one that it is made in.
pub(crate) fn set_signal(signal: Option<&'static Signal>) -> Option<&'static Signal> {
    SIGNAL.replace(signal)
}

/// The payload that a lane unwinds with whose call is to end.
struct Stopped;

/// Unwinds out of the lane that this thread runs, if its call is to end.
#[cold]
#[inline(never)]
pub(crate) fn leave_if_raised() {
    if LANES.get() != Lanes::None && SIGNAL.get().is_some_and(Signal::is_raised) {
        std::panic::resume_unwind(Box::new(Stopped));
    }
}

/// A turn of the lane that this thread runs has come to its end. Unwinds out of the lane if its call is to end, or may
/// not have another turn.
#[cold]
#[inline(never)]
pub(crate) fn count_turn() {
    if LANES.get() == Lanes::None {
        return;
    }
    let (turns, most) = TURNS.get();
    TURNS.set((turns + 1, most));
    if turns >= most || SIGNAL.get().is_some_and(Signal::is_raised) {
        std::panic::resume_unwind(Box::new(Stopped));
    }
}

/// A caught payload of a lane is that of a call that is to end.
pub(crate) fn is_stop(payload: &(dyn Any + Send)) -> bool {
    payload.is::<Stopped>()
}

/// Makes panics inside lanes silent and notes where they happened.
pub(crate) fn install_hook() {
    static INSTALLED: Once = Once::new();
    if std::thread::panicking() {
        // A panicking thread may not change hooks; the next session installs it.
        return;
    }
    INSTALLED.call_once(|| {
        let previous = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if LANES.get() != Lanes::None {
                PANIC_SITE.set(info.location().map(Site::from));
            } else {
                previous(info);
            }
        }));
    });
}

/// What a caught payload of a lane means.
#[cold]
pub(crate) fn classify(payload: Box<dyn Any + Send>) -> Fault {
    let payload = match payload.downcast::<OutOfBounds>() {
        Ok(fault) => {
            return Fault {
                kind: TrapKind::IndexOutOfBounds,
                index: fault.index.into(),
                len: fault.len,
                site: Site::from(fault.location),
                message: None,
                seen: Seen::Place(fault.of),
            };
        }
        Err(other) => other,
    };
    let site = PANIC_SITE.take().unwrap_or_default();
    let message = match payload.downcast::<&'static str>() {
        Ok(s) => Some((*s).to_owned()),
        Err(other) => other.downcast::<String>().ok().map(|s| *s),
    };
    if let Some((index, len)) = message.as_deref().and_then(array_bounds) {
        return Fault {
            kind: TrapKind::IndexOutOfBounds,
            index,
            len,
            site,
            message: None,
            seen: Seen::Place(Dimension::Array),
        };
    }
    let text = message.as_deref().unwrap_or_default();
    let kind = kind_of(text);
    let noted = (kind == TrapKind::ArithmeticOverflow).then(|| OVERFLOW.take());
    let site = noted.flatten().map_or(site, Site::from);
    let message = match kind {
        TrapKind::Assert | TrapKind::Panic | TrapKind::ArithmeticOverflow => message,
        _ => None,
    };
    Fault {
        kind,
        index: 0,
        len: 0,
        site,
        message,
        seen: Seen::Place(Dimension::Whole),
    }
}

/// Index and length of a panic of rustc's own: an array was indexed beyond its end. An index that is no u32 is the
/// largest one, as in bytecode.
fn array_bounds(message: &str) -> Option<(u64, u64)> {
    let rest = message.strip_prefix("index out of bounds: the len is ")?;
    let (len, index) = rest.split_once(" but the index is ")?;
    let index: u64 = index.parse().ok()?;
    Some((index.min(u32::MAX.into()), len.parse().ok()?))
}

/// The kind of a panic of rustc's own, by its message.
fn kind_of(message: &str) -> TrapKind {
    match message {
        "attempt to divide by zero"
        | "attempt to calculate the remainder with a divisor of zero" => TrapKind::DivideByZero,
        "attempt to divide with overflow" | "attempt to calculate the remainder with overflow" => {
            TrapKind::DivideOverflow
        }
        m if m.starts_with("attempt to ") && m.ends_with(" with overflow") => {
            TrapKind::ArithmeticOverflow
        }
        m if m.starts_with("assertion ") => TrapKind::Assert,
        // A float's `clamp`, which is an assertion for integers.
        m if m.starts_with("min > max, or either was NaN") => TrapKind::Assert,
        _ => TrapKind::Panic,
    }
}
