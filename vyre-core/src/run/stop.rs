//! Stopping a call of a session that is under way: a run, a series or a batch.
//!
//! A session has a [`Stop`], which its executors look at, and hands out [`Canceller`]s. A call that is to stop says so
//! in one word, so that looking costs a load. Loops of the passes' own functions look at [`turn`], which reads one word
//! of the whole process: only while some call is stopped do they ask whether it is theirs.

use crate::dsl::error::RunError;
use crate::dsl::fault;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use thiserror::Error;

/// Why a call was stopped.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum Cancelled {
    /// A [`Canceller`] stopped it.
    #[error("the run was cancelled")]
    Asked,
    /// It took longer than it was given.
    #[error("the run was stopped after {0:?}, the time that it was given")]
    Late(Duration),
}

/// A call is under way.
const UNDER_WAY: u32 = 1;
/// It is to stop, or the next one is.
const ASKED: u32 = 2;
/// Its time is over.
const LATE: u32 = 4;
/// It counts in [`RAISED`].
const COUNTED: u32 = 8;

/// Calls under way that are to stop, in the whole process.
static RAISED: AtomicU32 = AtomicU32::new(0);

/// What says whether a call is to stop. Signals are never freed, so that a thread can name the one of its call without
/// counting; those of sessions that are gone are used again.
#[derive(Debug, Default)]
pub(crate) struct Signal {
    word: AtomicU32,
}

static UNUSED: Mutex<Vec<&'static Signal>> = Mutex::new(Vec::new());

impl Signal {
    fn take() -> &'static Signal {
        let unused = lock(&UNUSED).pop();
        unused.unwrap_or_else(|| Box::leak(Box::default()))
    }

    /// The call is to stop.
    #[inline]
    pub(crate) fn is_raised(&self) -> bool {
        self.word.load(Ordering::Relaxed) & COUNTED != 0
    }

    /// Asks the call under way to stop. `next`: otherwise the next one. Whether this has changed what it is to do.
    fn raise(&self, why: u32, next: bool) -> bool {
        let asked = |word: u32| match (word & UNDER_WAY != 0, next) {
            (true, _) => Some(word | why | COUNTED),
            (false, true) => Some(word | why),
            (false, false) => None,
        };
        let before = (self.word).fetch_update(Ordering::SeqCst, Ordering::SeqCst, asked);
        let first = before.is_ok_and(|word| word & UNDER_WAY != 0 && word & COUNTED == 0);
        if first {
            RAISED.fetch_add(1, Ordering::SeqCst);
        }
        first
    }

    /// The call is over, and with it what it was asked.
    fn clear(&self) {
        let before = self.word.swap(0, Ordering::SeqCst);
        if before & COUNTED != 0 {
            RAISED.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

/// A turn of a loop in a pass's own function. Where the call that it belongs to is to stop, this unwinds out of the
/// lane. Outside of calls, and where panics abort, it does nothing.
#[inline(always)]
pub fn turn() {
    if cfg!(panic = "unwind") && RAISED.load(Ordering::Relaxed) != 0 {
        fault::leave_if_raised();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a session's executors look at, and what is told when their call is to stop.
pub struct Stop {
    signal: &'static Signal,
    /// What the call under way was given.
    limit_ns: AtomicU64,
    alarm: Mutex<Option<Alarm>>,
    all: Arc<All>,
}

/// What is called when a call under way is to stop, by whoever stops it.
pub type Alarm = Box<dyn Fn() + Send>;

impl fmt::Debug for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Stop").field(self.signal).finish()
    }
}

impl Stop {
    /// That of a session among others that one canceller stops together.
    pub fn new(all: &Arc<All>) -> Arc<Stop> {
        let stop = Arc::new(Stop {
            signal: Signal::take(),
            limit_ns: AtomicU64::new(0),
            alarm: Mutex::default(),
            all: Arc::clone(all),
        });
        let mut sessions = lock(&all.sessions);
        if sessions.len() == sessions.capacity() {
            sessions.retain(|session| session.strong_count() > 0);
        }
        sessions.push(Arc::downgrade(&stop));
        drop(sessions);
        stop
    }

    /// The call under way is to stop.
    #[inline]
    pub fn is_raised(&self) -> bool {
        self.signal.is_raised()
    }

    /// Goes on unless the call under way is to stop.
    ///
    /// # Errors
    /// [`RunError::Cancelled`].
    #[inline]
    pub fn check(&self) -> Result<(), RunError> {
        match self.is_raised() {
            true => Err(RunError::Cancelled(self.why())),
            false => Ok(()),
        }
    }

    /// Why it is.
    #[cold]
    pub fn why(&self) -> Cancelled {
        let word = self.signal.word.load(Ordering::SeqCst);
        match word & LATE != 0 && word & ASKED == 0 {
            true => Cancelled::Late(Duration::from_nanos(self.limit_ns.load(Ordering::SeqCst))),
            false => Cancelled::Asked,
        }
    }

    pub(crate) fn signal(&self) -> &'static Signal {
        self.signal
    }

    /// Has this called when the call under way is to stop, at once if it is already; `None`: nothing any more, and what
    /// was called before has returned. What is called may take the executor's own locks, but must not wait for the run.
    pub fn set_alarm(&self, alarm: Option<Alarm>) {
        let mut held = lock(&self.alarm);
        *held = alarm;
        if let Some(alarm) = &*held
            && self.is_raised()
        {
            alarm();
        }
    }

    fn raise(&self, why: u32, next: bool) {
        // Held all the time: who takes the alarm back knows that none comes later for a call that is over by then.
        let alarm = lock(&self.alarm);
        if self.signal.raise(why, next)
            && let Some(alarm) = &*alarm
        {
            alarm();
        }
    }

    /// A call begins, which takes at most so long. It is over when what this returns is dropped.
    ///
    /// # Errors
    /// It was cancelled before it began, or was given no time.
    pub fn begin(self: &Arc<Stop>, limit: Option<Duration>) -> Result<UnderWay, RunError> {
        let before = self.signal.word.fetch_or(UNDER_WAY, Ordering::SeqCst);
        // Whoever cancels all of them first says so, and then looks at who is under way.
        if before & ASKED != 0 || self.all.cancelled.load(Ordering::SeqCst) {
            self.signal.clear();
            return Err(RunError::Cancelled(Cancelled::Asked));
        }
        let call = UnderWay {
            stop: Arc::clone(self),
            watched: limit.is_some(),
        };
        if let Some(limit) = limit {
            let ns = u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX);
            self.limit_ns.store(ns, Ordering::SeqCst);
            watch(self, limit)?;
            self.check()?;
        }
        Ok(call)
    }
}

impl Drop for Stop {
    fn drop(&mut self) {
        self.signal.clear();
        lock(&UNUSED).push(self.signal);
    }
}

/// A call of a session, until it is dropped.
#[derive(Debug)]
#[must_use = "the call is over when this is dropped"]
pub struct UnderWay {
    stop: Arc<Stop>,
    watched: bool,
}

impl UnderWay {
    /// Goes on unless the call is to stop.
    ///
    /// # Errors
    /// [`RunError::Cancelled`].
    pub fn check(&self) -> Result<(), RunError> {
        self.stop.check()
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        if self.watched {
            unwatch(&self.stop);
        }
        self.stop.signal.clear();
    }
}

/// The sessions that one canceller stops together.
#[derive(Debug, Default)]
pub struct All {
    cancelled: AtomicBool,
    /// There is a canceller.
    watched: AtomicBool,
    sessions: Mutex<Vec<Weak<Stop>>>,
}

impl All {
    /// What stops them.
    pub fn canceller(self: &Arc<All>) -> Canceller {
        self.watched.store(true, Ordering::SeqCst);
        Canceller(Of::All(Arc::clone(self)))
    }

    /// Somebody may stop them.
    pub fn is_watched(&self) -> bool {
        self.watched.load(Ordering::SeqCst)
    }
}

/// Stops calls of a session, or of all sessions of a runtime, from any thread. Clones stop the same.
///
/// - **Of a session**: [`cancel`](Canceller::cancel) stops the call that is under way, or the next one where none is,
///   and no other. So a cancel is never lost, and the session works afterwards. Where one may come too late for the call
///   that it was meant for, [`reset`](Canceller::reset) before the next one takes it back.
/// - **Of a runtime**: it stops what is under way in all sessions of the runtime, and refuses every call until
///   [`reset`](Canceller::reset): for a program that ends.
#[derive(Clone, Debug)]
pub struct Canceller(Of);

#[derive(Clone, Debug)]
enum Of {
    Session(Arc<Stop>),
    All(Arc<All>),
}

impl Canceller {
    /// That of one session.
    pub fn of(stop: &Arc<Stop>) -> Canceller {
        Canceller(Of::Session(Arc::clone(stop)))
    }

    /// Stops what is under way, and returns at once. A second one changes nothing.
    pub fn cancel(&self) {
        match &self.0 {
            Of::Session(stop) => stop.raise(ASKED, true),
            Of::All(all) => {
                all.cancelled.store(true, Ordering::SeqCst);
                for session in lock(&all.sessions).iter().filter_map(Weak::upgrade) {
                    session.raise(ASKED, false);
                }
            }
        }
    }

    /// Whether a call is being stopped, or the next one will be.
    pub fn is_cancelled(&self) -> bool {
        match &self.0 {
            Of::Session(stop) => stop.signal.word.load(Ordering::SeqCst) & ASKED != 0,
            Of::All(all) => all.cancelled.load(Ordering::SeqCst),
        }
    }

    /// Takes back a cancel that has met no call. What is under way and was told to stop, stops.
    pub fn reset(&self) {
        match &self.0 {
            Of::Session(stop) => {
                let idle = |word: u32| (word & UNDER_WAY == 0).then_some(0);
                let word = &stop.signal.word;
                let _under_way = word.fetch_update(Ordering::SeqCst, Ordering::SeqCst, idle);
            }
            Of::All(all) => all.cancelled.store(false, Ordering::SeqCst),
        }
    }
}

#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
use watcher::{unwatch, watch};

/// One thread of the process stops the calls whose time is over.
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
mod watcher {
    use super::{LATE, Stop, lock};
    use crate::dsl::error::RunError;
    use std::sync::{Arc, Condvar, Mutex, PoisonError};
    use std::time::{Duration, Instant};

    struct Watched {
        /// When their time is over; `None`: never.
        calls: Vec<(Instant, Arc<Stop>)>,
        is_running: bool,
    }

    static WATCHED: Mutex<Watched> = Mutex::new(Watched {
        calls: Vec::new(),
        is_running: false,
    });
    static CHANGED: Condvar = Condvar::new();

    /// The call stops after this time, unless it is over before.
    pub(super) fn watch(stop: &Arc<Stop>, limit: Duration) -> Result<(), RunError> {
        if limit.is_zero() {
            stop.raise(LATE, false);
            return Ok(());
        }
        let Some(end) = Instant::now().checked_add(limit) else {
            return Ok(());
        };
        let mut watched = lock(&WATCHED);
        if !watched.is_running {
            let thread = std::thread::Builder::new().name("vyre-deadlines".to_owned());
            let started = thread.spawn(run);
            started.map_err(|e| RunError::Backend(format!("no thread to watch a time: {e}")))?;
            watched.is_running = true;
        }
        watched.calls.push((end, Arc::clone(stop)));
        CHANGED.notify_one();
        Ok(())
    }

    /// The call is over.
    pub(super) fn unwatch(stop: &Arc<Stop>) {
        lock(&WATCHED)
            .calls
            .retain(|(_, call)| !Arc::ptr_eq(call, stop));
    }

    fn run() {
        let mut watched = lock(&WATCHED);
        loop {
            let now = Instant::now();
            watched.calls.retain(|(end, call)| {
                let over = *end <= now;
                if over {
                    call.raise(LATE, false);
                }
                !over
            });
            let next = watched.calls.iter().map(|(end, _)| *end).min();
            watched = match next {
                None => CHANGED
                    .wait(watched)
                    .unwrap_or_else(PoisonError::into_inner),
                Some(end) => {
                    let left = end.saturating_duration_since(now);
                    let waited = CHANGED.wait_timeout(watched, left);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }
}

/// There is no clock, and no thread to watch it: only no time at all is over.
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
fn watch(stop: &Arc<Stop>, limit: Duration) -> Result<(), RunError> {
    if limit.is_zero() {
        stop.raise(LATE, false);
    }
    Ok(())
}

#[cfg(all(target_family = "wasm", target_os = "unknown"))]
fn unwatch(_: &Arc<Stop>) {}
