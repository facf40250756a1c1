//! Ending a call of a session that is under way: a run, a series or a batch.
//!
//! A session has a [`Stop`], which its executors look at, and hands out [`Canceller`]s. Whether its call is to end is one
//! word, so that a look costs a load. Loops of the passes' own functions look at [`turn`], which reads one word of the
//! whole process: only while some call is to end, or has its looks or turns counted, do they ask whether it is theirs.

use crate::dsl::error::RunError;
use crate::dsl::fault;
use crate::run::clock::Instant;
use std::fmt;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

/// A call is under way.
const UNDER_WAY: u32 = 1;
/// Calls are to end, until this is taken back.
const CANCELLED: u32 = 2;
/// The call under way is to end.
const RAISED: u32 = 4;
/// It is to end because its time is over.
const LATE: u32 = 8;
/// Looks of the call under way, or of the next one, are counted.
const COUNTED: u32 = 16;
/// The call under way counts in [`LOOKING`].
const LOOKS: u32 = 32;

/// Calls under way whose loops have to look or to count, in the whole process.
static LOOKING: AtomicU32 = AtomicU32::new(0);

/// What says whether a call is to end. Signals are never freed, so that a thread can name the one of its call without
/// counting; those of sessions that are gone are used again.
#[derive(Default)]
pub(crate) struct Signal {
    word: AtomicU32,
    /// What the call under way was given.
    limit_ns: AtomicU64,
    alarm: Mutex<Option<Alarm>>,
    counting: Mutex<Option<Counting>>,
}

/// What is called when a call under way is to end, by whoever ends it.
pub type Alarm = Box<dyn Fn() + Send>;

/// Looks of one call, and what is done at one of them.
struct Counting {
    looks: Arc<AtomicU64>,
    nth: u64,
    then: Box<dyn FnOnce() + Send>,
}

static UNUSED: Mutex<Vec<&'static Signal>> = Mutex::new(Vec::new());

impl Signal {
    fn take() -> &'static Signal {
        let unused = lock(&UNUSED).pop();
        unused.unwrap_or_else(|| Box::leak(Box::default()))
    }

    /// Looks whether the call is to end.
    #[inline]
    pub(crate) fn is_raised(&self) -> bool {
        let word = self.word.load(Ordering::Relaxed);
        word & (RAISED | COUNTED) != 0 && self.looked()
    }

    #[cold]
    fn looked(&self) -> bool {
        let mut counting = lock(&self.counting);
        let due = counting.take_if(|counting| {
            let looks = counting.looks.fetch_add(1, Ordering::SeqCst) + 1;
            looks == counting.nth
        });
        drop(counting);
        if let Some(due) = due {
            (due.then)();
        }
        self.word.load(Ordering::SeqCst) & RAISED != 0
    }

    /// Changes the word; gives it as it was and as it is.
    fn change(&self, to: impl Fn(u32) -> u32) -> (u32, u32) {
        let changed = |word: u32| {
            let word = to(word);
            match word & UNDER_WAY != 0 && word & (RAISED | COUNTED) != 0 {
                true => word | LOOKS,
                false => word & !LOOKS,
            }
        };
        let before = (self.word).fetch_update(Ordering::SeqCst, Ordering::SeqCst, |word| {
            Some(changed(word))
        });
        let before = before.unwrap_or_else(|word| word);
        let after = changed(before);
        match (before & LOOKS, after & LOOKS) {
            (0, LOOKS) => LOOKING.fetch_add(1, Ordering::SeqCst),
            (LOOKS, 0) => LOOKING.fetch_sub(1, Ordering::SeqCst),
            _ => 0,
        };
        (before, after)
    }

    /// The call under way is to end, for the first such reason; and until that is taken back, later ones if it is
    /// [`CANCELLED`].
    fn raise(&self, why: u32) {
        // Held all the time: who takes the alarm back knows that none comes later for a call that is over by then.
        let alarm = lock(&self.alarm);
        let (before, after) = self.change(|word| match word & (UNDER_WAY | RAISED) {
            UNDER_WAY => word | why | RAISED,
            _ => word | why & CANCELLED,
        });
        if before & RAISED == 0
            && after & RAISED != 0
            && let Some(alarm) = &*alarm
        {
            alarm();
        }
    }

    /// Counts the looks of the call under way, or of the next one.
    fn count(&self, counting: Counting) {
        let before = lock(&self.counting).replace(counting);
        drop(before);
        self.change(|word| word | COUNTED);
    }

    /// The call is over.
    fn end(&self) {
        let (before, _) = self.change(|word| word & CANCELLED);
        if before & COUNTED != 0 {
            let counting = lock(&self.counting).take();
            drop(counting);
        }
    }
}

impl fmt::Debug for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Signal").field(&self.word).finish()
    }
}

/// A turn of a loop in a pass's own function has come to its end. Where the call that it belongs to is to end, or has
/// had all of its turns, this unwinds out of the lane. Outside of lanes, and where panics abort, it does nothing.
#[inline(always)]
pub fn turn() {
    if cfg!(panic = "unwind") && LOOKING.load(Ordering::Relaxed) != 0 {
        fault::count_turn();
    }
}

/// The same between turns.
#[inline(always)]
pub fn look() {
    if cfg!(panic = "unwind") && LOOKING.load(Ordering::Relaxed) != 0 {
        fault::leave_if_raised();
    }
}

/// As long as it is there, loops look, because a run's turns are counted.
pub(crate) struct Looking(());

impl Looking {
    pub(crate) fn begin() -> Looking {
        LOOKING.fetch_add(1, Ordering::SeqCst);
        Looking(())
    }
}

impl Drop for Looking {
    fn drop(&mut self) {
        LOOKING.fetch_sub(1, Ordering::SeqCst);
    }
}

/// What the lanes of a sweep look at, and where they count their turns.
#[derive(Clone, Copy)]
pub(crate) struct Watch<'m> {
    pub(crate) signal: Option<&'static Signal>,
    /// What is told of lanes that were left out.
    pub(crate) cut: &'m AtomicBool,
    /// Turns of the sweep so far.
    pub(crate) turned: &'m AtomicU64,
    /// Steps that the run had left when the sweep began; `u64::MAX`: they are not counted.
    pub(crate) work_left: u64,
}

impl Watch<'_> {
    /// Whether the sweep is to end here: no lane begins any more.
    #[inline]
    pub(crate) fn has_ended(&self) -> bool {
        let spent = self.is_limited() && self.turned.load(Ordering::Relaxed) > self.work_left;
        let ended = spent || self.signal.is_some_and(Signal::is_raised);
        if ended {
            self.cut.store(true, Ordering::Relaxed);
        }
        ended
    }

    #[inline]
    pub(crate) fn is_limited(&self) -> bool {
        self.work_left < u64::MAX
    }

    /// Turns that one thread's lanes may have from here on: with one more, there are more than the run has left.
    pub(crate) fn most_turns(&self) -> u64 {
        let turned = self.turned.load(Ordering::Relaxed);
        self.work_left.saturating_sub(turned)
    }

    /// One thread's lanes have had this number of turns.
    pub(crate) fn take_in(&self, turns: u64) {
        self.turned.fetch_add(turns, Ordering::Relaxed);
    }
}

/// A device that is played on the thread of the call looks. It asks its own word; here looks are counted
/// ([`Canceller::at_look`]).
pub fn played_look() {
    let _told_by_its_word = fault::signal().is_some_and(Signal::is_raised);
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a session's executors look at, and what is told when their call is to end.
pub struct Stop {
    signal: &'static Signal,
    all: Arc<All>,
}

impl fmt::Debug for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Stop").field(self.signal).finish()
    }
}

impl Stop {
    /// That of a session among others that one canceller ends together.
    pub fn new(all: &Arc<All>) -> Arc<Stop> {
        let stop = Arc::new(Stop {
            signal: Signal::take(),
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

    /// Looks whether the call under way is to end.
    #[inline]
    pub fn is_raised(&self) -> bool {
        self.signal.is_raised()
    }

    /// Goes on unless the call under way is to end.
    ///
    /// # Errors
    /// [`RunError::Cancelled`], [`RunError::Deadline`].
    #[inline]
    pub fn check(&self) -> Result<(), RunError> {
        match self.is_raised() {
            true => self.why().map_or(Ok(()), Err),
            false => Ok(()),
        }
    }

    /// Why the call under way is to end, if it is: for executors that have ended it.
    #[cold]
    pub fn why(&self) -> Option<RunError> {
        let word = self.signal.word.load(Ordering::SeqCst);
        match (word & RAISED, word & LATE) {
            (0, _) => None,
            (_, 0) => Some(RunError::Cancelled),
            _ => Some(RunError::Deadline {
                limit: Duration::from_nanos(self.signal.limit_ns.load(Ordering::SeqCst)),
            }),
        }
    }

    pub(crate) fn signal(&self) -> &'static Signal {
        self.signal
    }

    /// Has this called when the call under way is to end, at once if it is already; `None`: nothing any more, and what
    /// was called before has returned. What is called may take the executor's own locks, but must not wait for the run.
    pub fn set_alarm(&self, alarm: Option<Alarm>) {
        let mut held = lock(&self.signal.alarm);
        *held = alarm;
        if let Some(alarm) = &*held
            && self.signal.word.load(Ordering::SeqCst) & RAISED != 0
        {
            alarm();
        }
    }

    /// A call begins on this thread. `limit`: so long it may take from this moment on. It is over when what this returns
    /// is dropped.
    ///
    /// # Errors
    /// It is cancelled, or its time is over.
    pub fn begin(
        self: &Arc<Stop>,
        limit: Option<(Instant, Duration)>,
    ) -> Result<UnderWay, RunError> {
        let signal = self.signal;
        if let Some(counting) = lock(&self.all.counting).take() {
            signal.count(counting);
        }
        let (before, _) = signal.change(|word| word | UNDER_WAY);
        let call = UnderWay {
            stop: Arc::clone(self),
            watched: limit.is_some(),
            outer: fault::set_signal(Some(signal)),
            here: PhantomData,
        };
        // Whoever cancels all of them first says so, and then looks at who is under way.
        if before & CANCELLED != 0 || self.all.cancelled.load(Ordering::SeqCst) {
            return Err(RunError::Cancelled);
        }
        if let Some((from, limit)) = limit {
            let ns = u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX);
            signal.limit_ns.store(ns, Ordering::SeqCst);
            watch(self, from, limit)?;
            self.check()?;
        }
        Ok(call)
    }
}

impl Drop for Stop {
    fn drop(&mut self) {
        self.signal.end();
        self.signal.change(|_| 0);
        lock(&UNUSED).push(self.signal);
    }
}

/// A call of a session, until it is dropped.
#[derive(Debug)]
#[must_use = "the call is over when this is dropped"]
pub struct UnderWay {
    stop: Arc<Stop>,
    watched: bool,
    /// The signal of the call that this one is made in.
    outer: Option<&'static Signal>,
    /// It stays on its thread.
    here: PhantomData<*const ()>,
}

impl UnderWay {
    /// Goes on unless the call is to end.
    ///
    /// # Errors
    /// As [`Stop::check`].
    pub fn check(&self) -> Result<(), RunError> {
        self.stop.check()
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        if self.watched {
            unwatch(&self.stop);
        }
        self.stop.signal.end();
        fault::set_signal(self.outer);
    }
}

/// The sessions that one canceller ends together.
#[derive(Default)]
pub struct All {
    cancelled: AtomicBool,
    /// There is a canceller.
    watched: AtomicBool,
    sessions: Mutex<Vec<Weak<Stop>>>,
    /// For the next call of one of them.
    counting: Mutex<Option<Counting>>,
}

impl fmt::Debug for All {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("All").field(&self.cancelled).finish()
    }
}

impl All {
    /// What ends their calls.
    pub fn canceller(self: &Arc<All>) -> Canceller {
        self.watched.store(true, Ordering::SeqCst);
        Canceller(Of::All(Arc::clone(self)))
    }

    /// Somebody may end them.
    pub fn is_watched(&self) -> bool {
        self.watched.load(Ordering::SeqCst)
    }
}

/// Ends calls of a session, or of all sessions of a runtime, from any thread. Clones end the same.
///
/// [`cancel`](Canceller::cancel) ends the call that is under way and refuses every later one, until
/// [`rearm`](Canceller::rearm). So a cancel is never lost, whenever it comes.
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

    /// Ends what is under way and refuses what comes, until [`rearm`](Canceller::rearm). It returns at once; a second
    /// one changes nothing.
    pub fn cancel(&self) {
        match &self.0 {
            Of::Session(stop) => stop.signal.raise(CANCELLED),
            Of::All(all) => {
                all.cancelled.store(true, Ordering::SeqCst);
                for session in lock(&all.sessions).iter().filter_map(Weak::upgrade) {
                    session.signal.raise(0);
                }
            }
        }
    }

    /// Whether calls are refused.
    pub fn is_cancelled(&self) -> bool {
        match &self.0 {
            Of::Session(stop) => stop.signal.word.load(Ordering::SeqCst) & CANCELLED != 0,
            Of::All(all) => all.cancelled.load(Ordering::SeqCst),
        }
    }

    /// Takes a cancel back: calls are refused no more. One that is under way and was told to end, ends.
    pub fn rearm(&self) {
        match &self.0 {
            Of::Session(stop) => {
                stop.signal.change(|word| word & !CANCELLED);
            }
            Of::All(all) => all.cancelled.store(false, Ordering::SeqCst),
        }
    }

    /// Does something at the `nth` look, counted from 1, of the call that is under way, or of the next one; not at all
    /// where that ends before. For tests that are decided by counts and not by time: `then` cancels, and every run of
    /// the test ends the call at the same place, where one thread runs it.
    ///
    /// Executors look before each sweep and round and within sweeps; of native lanes, each turn that may look does. What
    /// this returns counts the looks so far: with an `nth` of `u64::MAX`, all of a call.
    pub fn at_look(&self, nth: u64, then: impl FnOnce() + Send + 'static) -> Arc<AtomicU64> {
        let looks = Arc::default();
        let counting = Counting {
            looks: Arc::clone(&looks),
            nth,
            then: Box::new(then),
        };
        match &self.0 {
            Of::Session(stop) => stop.signal.count(counting),
            Of::All(all) => *lock(&all.counting) = Some(counting),
        }
        looks
    }
}

#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
use watcher::{unwatch, watch};

/// One thread of the process ends the calls whose time is over.
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

    /// The call is to end so long after `from`, unless it is over before.
    pub(super) fn watch(stop: &Arc<Stop>, from: Instant, limit: Duration) -> Result<(), RunError> {
        let Some(end) = from.checked_add(limit) else {
            return Ok(());
        };
        if end <= Instant::now() {
            stop.signal.raise(LATE);
            return Ok(());
        }
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
                    call.signal.raise(LATE);
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
fn watch(stop: &Arc<Stop>, _: Instant, limit: Duration) -> Result<(), RunError> {
    if limit.is_zero() {
        stop.signal.raise(LATE);
    }
    Ok(())
}

#[cfg(all(target_family = "wasm", target_os = "unknown"))]
fn unwatch(_: &Arc<Stop>) {}
