//! Modules of passes: compiled one after another on a thread in the background, and kept as long as somebody uses them.
//!
//! A session asks for a module before a run and goes on without it. What decides a module's text is its key, so sessions
//! and clones of a runtime share it. Of those that wait, the thread takes the one that a call waits for first, then the
//! hottest: whose runs have executed the most words (contract C8 of launches decides what is worth it at all, by the same
//! count). It ends when nothing waits, and skips what no session waits for any more; a module that no session took is
//! freed as it is made.
//!
//! The driver's compiler cannot be interrupted, and the driver's own end takes away what it works on: six of 25 processes
//! that ended meanwhile crashed. So the driver has no end of its own in a process that ends while a module is compiled
//! ([`END`]).

use std::cmp::Reverse;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, Once, OnceLock, PoisonError, Weak};
use std::thread;
use std::time::Duration;
use thiserror::Error;

/// Why there is no module.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub(crate) enum NotMade {
    /// Its text would take the driver too long.
    #[error("its module has {lines} lines of PTX; at most {most} are compiled beside runs")]
    TooLarge { lines: usize, most: usize },
    /// It does not fit the budget beside what is in use.
    #[error("its module takes {bytes} bytes, and the budget has less beside what is in use")]
    NoRoom { bytes: u64 },
    #[error("{0}")]
    Failed(String),
}

impl From<String> for NotMade {
    fn from(why: String) -> NotMade {
        NotMade::Failed(why)
    }
}

/// The modules of a device, by what decides their text.
#[derive(Debug)]
pub(crate) struct Modules<K, M> {
    state: Arc<Mutex<State<K, M>>>,
}

#[derive(Debug)]
struct State<K, M> {
    slots: HashMap<Arc<K>, Weak<Slot<K, M>>>,
    /// As they were asked for.
    waiting: Vec<Weak<Slot<K, M>>>,
    /// A thread works off what waits.
    at_work: bool,
}

/// A module, or the place for it. Only who asks holds one, so that it is gone with the last of them.
#[derive(Debug)]
pub(crate) struct Slot<K, M> {
    key: Arc<K>,
    outcome: Arc<Outcome<M>>,
    /// Words that runs have executed which would be its own.
    heat: AtomicU64,
    /// A call waits for it.
    awaited: AtomicBool,
}

/// What became of a module. The compiler's thread holds it while it tells.
#[derive(Debug)]
struct Outcome<M> {
    made: OnceLock<Result<M, NotMade>>,
    /// Whoever waits does so for this.
    done: Mutex<bool>,
    told: Condvar,
}

impl<K, M> Default for Modules<K, M> {
    fn default() -> Modules<K, M> {
        Modules {
            state: Arc::new(Mutex::new(State {
                slots: HashMap::new(),
                waiting: Vec::new(),
                at_work: false,
            })),
        }
    }
}

impl<K: Hash + Eq + Send + Sync + 'static, M: Send + Sync + 'static> Modules<K, M> {
    /// The place of a module, which is there already or will be: then `compile` is called for it on another thread, as
    /// it may be for others that are asked for meanwhile.
    pub(crate) fn ask(
        &self,
        key: K,
        compile: impl Fn(&K) -> Result<M, NotMade> + Send + 'static,
    ) -> Arc<Slot<K, M>> {
        self.ask_beside(None, Arc::new(key), compile)
    }

    /// The same in the place of one that is of no use any more, unless somebody has asked so before.
    pub(crate) fn ask_anew(
        &self,
        before: &Arc<Slot<K, M>>,
        compile: impl Fn(&K) -> Result<M, NotMade> + Send + 'static,
    ) -> Arc<Slot<K, M>> {
        self.ask_beside(Some(before), Arc::clone(&before.key), compile)
    }

    fn ask_beside(
        &self,
        before: Option<&Arc<Slot<K, M>>>,
        key: Arc<K>,
        compile: impl Fn(&K) -> Result<M, NotMade> + Send + 'static,
    ) -> Arc<Slot<K, M>> {
        let mut state = lock(&self.state);
        let known = state.slots.get(&key).and_then(Weak::upgrade);
        let is_before = |slot: &Arc<_>| before.is_some_and(|before| Arc::ptr_eq(before, slot));
        if let Some(slot) = known.filter(|slot| !is_before(slot)) {
            return slot;
        }
        state.slots.retain(|_, slot| slot.strong_count() > 0);
        let slot = Arc::new(Slot::new(key));
        if let Some(before) = before {
            slot.warm(before.heat.load(Relaxed));
        }
        let (key, place) = (Arc::clone(&slot.key), Arc::downgrade(&slot));
        state.slots.insert(key, Weak::clone(&place));
        state.waiting.push(place);
        if !std::mem::replace(&mut state.at_work, true) {
            let modules = Arc::clone(&self.state);
            let thread = thread::Builder::new().name("vyre compiler".to_owned());
            if let Err(e) = thread.spawn(move || work(&modules, compile)) {
                state.at_work = false;
                state.waiting.clear();
                slot.outcome
                    .tell(Err(format!("there is no thread to compile it: {e}").into()));
            }
        }
        slot
    }

    /// All places that somebody has.
    pub(crate) fn places(&self) -> Vec<Arc<Slot<K, M>>> {
        let state = lock(&self.state);
        state.slots.values().filter_map(Weak::upgrade).collect()
    }
}

impl<K, M> Slot<K, M> {
    fn new(key: Arc<K>) -> Slot<K, M> {
        Slot {
            key,
            outcome: Arc::new(Outcome {
                made: OnceLock::new(),
                done: Mutex::new(false),
                told: Condvar::new(),
            }),
            heat: AtomicU64::new(0),
            awaited: AtomicBool::new(false),
        }
    }

    /// A session's runs have executed so many words without it. The hottest one counts.
    pub(crate) fn warm(&self, words: u64) {
        self.heat.fetch_max(words, Relaxed);
    }

    /// What decides the module's text.
    pub(crate) fn key(&self) -> &K {
        &self.key
    }

    /// The module, or why there is none; `None` while it is not known.
    pub(crate) fn made(&self) -> Option<&Result<M, NotMade>> {
        self.outcome.made.get()
    }

    /// Waits until it is known.
    pub(crate) fn wait(&self) -> &Result<M, NotMade> {
        self.awaited.store(true, Relaxed);
        let outcome = &*self.outcome;
        let done = outcome.told.wait_while(lock(&outcome.done), |done| !*done);
        drop(done.unwrap_or_else(PoisonError::into_inner));
        outcome.made.get().expect("it is set before anyone is told")
    }
}

impl<M> Outcome<M> {
    fn tell(&self, made: Result<M, NotMade>) {
        // A place is worked on once.
        let _only = self.made.set(made);
        *lock(&self.done) = true;
        self.told.notify_all();
    }
}

impl<K, M> State<K, M> {
    /// Takes what a call waits for, or the hottest of what waits; of several the one that was asked for first.
    fn take_hottest(&mut self) -> Option<Weak<Slot<K, M>>> {
        // What nobody waits for any more comes last.
        let urgency = |slot: &Weak<Slot<K, M>>| {
            let slot = slot.upgrade()?;
            Some((slot.awaited.load(Relaxed), slot.heat.load(Relaxed)))
        };
        let waiting = self.waiting.iter().map(urgency).enumerate();
        let (at, _) = waiting.min_by_key(|&(_, urgency)| Reverse(urgency))?;
        Some(self.waiting.remove(at))
    }
}

/// Compiles what waits, until nothing does.
fn work<K, M>(modules: &Mutex<State<K, M>>, compile: impl Fn(&K) -> Result<M, NotMade>) {
    loop {
        let next = {
            let mut state = lock(modules);
            let next = state.take_hottest();
            state.at_work = next.is_some();
            next
        };
        let Some(next) = next else { return };
        // The key stays; the place is only held to see whether somebody still waits.
        let Some(key) = next.upgrade().map(|slot| Arc::clone(&slot.key)) else {
            continue;
        };
        // The place is let go before anyone is told: who was told and forgets a failure may ask anew at once.
        let outcome = || next.upgrade().map(|slot| Arc::clone(&slot.outcome));
        let Some(_busy) = Busy::begin() else {
            // The process ends; no session is to wait for a module any more.
            if let Some(outcome) = outcome() {
                outcome.tell(Err("the process ends".to_owned().into()));
            }
            continue;
        };
        let unwound = std::panic::AssertUnwindSafe(|| compile(&key));
        let made = std::panic::catch_unwind(unwound)
            .unwrap_or_else(|_| Err("the compiler panicked".to_owned().into()));
        if let Some(outcome) = outcome() {
            outcome.tell(made);
        }
    }
}

/// Modules that are being compiled in this process, and whether it ends.
struct Process {
    state: Mutex<(u32, bool)>,
    told: Condvar,
}

static PROCESS: Process = Process {
    state: Mutex::new((0, false)),
    told: Condvar::new(),
};

/// Registers what happens where the process ends.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const END: fn() = leave::register;
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
const END: fn() = wait::register;

/// How often ours is registered again while a module is compiled: what is registered last comes first when the process
/// ends, and the driver's compiler registers an end of its own somewhere within a compile. An end that waits waits once.
/// In tests, which have no driver, time does not decide what comes first.
const AGAIN: Option<Duration> = match cfg!(all(target_os = "linux", target_env = "gnu", not(test)))
{
    true => Some(Duration::from_millis(10)),
    false => None,
};

/// A module is being compiled, as long as this lives.
struct Busy;

impl Busy {
    /// `None` once the process ends.
    fn begin() -> Option<Busy> {
        static AT_EXIT: Once = Once::new();
        AT_EXIT.call_once(END);
        let mut state = lock(&PROCESS.state);
        if state.1 {
            return None;
        }
        state.0 += 1;
        if state.0 == 1
            && let Some(again) = AGAIN
        {
            // Without a thread for it, ours stays where it is.
            let thread = thread::Builder::new().name("vyre end".to_owned());
            let _stays = thread.spawn(move || stay_last(again, END));
        }
        Some(Busy)
    }
}

/// Registers our end again and again, until nothing is compiled any more or the process ends.
fn stay_last(again: Duration, register: impl Fn()) {
    let mut state = lock(&PROCESS.state);
    while state.0 > 0 && !state.1 {
        register();
        let told = PROCESS.told.wait_timeout(state, again);
        state = told.unwrap_or_else(PoisonError::into_inner).0;
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        lock(&PROCESS.state).0 -= 1;
        PROCESS.told.notify_all();
    }
}

/// The end of a process: nothing is begun any more, and what is being compiled is left where it is.
///
/// The GNU C library tells a handler the status that the process ends with. So ours can end it, as C's `exit` would behind
/// it, but without the handlers that were registered before: the driver's, which is the aim, and all from before the
/// first module, which nothing can call. The kernel frees what the process had on the device. Handlers that were
/// registered later have been called by then, and Rust has flushed its standard output before it called `exit`.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod leave {
    use super::{PROCESS, lock};
    use std::ffi::{c_int, c_void};

    unsafe extern "C" {
        fn on_exit(end: extern "C" fn(c_int, *mut c_void), argument: *mut c_void) -> c_int;
        fn fcloseall() -> c_int;
        fn _exit(status: c_int) -> !;
    }

    pub(super) fn register() {
        // SAFETY: the C library's, which takes a function of this type, and an argument that nothing reads; ours does not
        // unwind, and is never unloaded before the process ends.
        let _registered = unsafe { on_exit(end, std::ptr::null_mut()) };
    }

    extern "C" fn end(status: c_int, _: *mut c_void) {
        let mut state = lock(&PROCESS.state);
        state.1 = true;
        if state.0 > 0 {
            // SAFETY: both take numbers alone. The first does to C's streams what `exit` does last. Unlike `fflush`, it
            // waits for no thread that reads from one of them.
            unsafe {
                let _flushed = fcloseall();
                _exit(status)
            }
        }
    }
}

/// The end of a process: nothing is begun any more, and what is being compiled has a while to end. It comes before the
/// driver's own end, because the driver was there first.
///
/// That modules are small, and begun only once runs of the pass have taken a while, keeps the wait short and rare. Where it
/// runs out, the process may crash.
#[cfg(any(test, not(all(target_os = "linux", target_env = "gnu"))))]
mod wait {
    use super::{PROCESS, lock};
    use std::ffi::c_int;
    use std::time::Duration;

    /// Tests do whatever else the machine does.
    const PATIENCE: Duration = Duration::from_secs(if cfg!(test) { 600 } else { 10 });

    unsafe extern "C" {
        fn atexit(end: extern "C" fn()) -> c_int;
    }

    pub(super) fn register() {
        // SAFETY: the C library's, which takes a function of this type; ours does not unwind, and is never unloaded before
        // the process ends.
        let _registered = unsafe { atexit(end) };
    }

    extern "C" fn end() {
        let mut state = lock(&PROCESS.state);
        state.1 = true;
        let busy = |state: &mut (u32, bool)| state.0 > 0;
        let _over = PROCESS.told.wait_timeout_while(state, PATIENCE, busy);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::{CStr, c_char, c_int, c_void};
    use std::io::Write;
    use std::process::{Command, Stdio};
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
    use std::sync::mpsc;
    use std::time::Duration;

    type Texts = Modules<u32, String>;

    #[test]
    fn a_module_is_compiled_once_for_all_who_ask() {
        let modules = Texts::default();
        let compiled = Arc::new(AtomicU32::new(0));
        let ask = |key| {
            let compiled = Arc::clone(&compiled);
            modules.ask(key, move |key| {
                compiled.fetch_add(1, Relaxed);
                Ok(format!("module {key}"))
            })
        };
        let (first, second) = (ask(1), ask(1));
        assert!(Arc::ptr_eq(&first, &second));
        assert_eq!(*first.wait(), Ok("module 1".to_owned()));
        assert_eq!(second.made(), Some(&Ok("module 1".to_owned())));
        assert_eq!(compiled.load(Relaxed), 1);
        // Once nothing holds it, it is made anew.
        let gone = Arc::downgrade(&first);
        drop((first, second));
        while gone.strong_count() > 0 {
            thread::yield_now();
        }
        assert!(ask(1).wait().is_ok());
        assert_eq!(compiled.load(Relaxed), 2);
    }

    #[test]
    fn nobody_waits_for_a_module_who_does_not_ask_for_it() {
        let modules = Texts::default();
        let (go_on, may_go_on) = mpsc::channel();
        let may_go_on = Mutex::new(may_go_on);
        let (begins, began) = mpsc::channel();
        let slot = modules.ask(1, move |key| {
            begins.send(*key).expect("the test listens");
            lock(&may_go_on).recv().expect("the test says so");
            Err(format!("no module {key}").into())
        });
        assert_eq!(began.recv(), Ok(1));
        assert_eq!(slot.made(), None);
        // One that is dropped before its turn is never begun, and one that is dropped in its turn is freed.
        let other = |key| modules.ask(key, |_| unreachable!("the first asked has the thread"));
        drop(other(2));
        let third = other(3);
        drop(slot);
        go_on.send(()).expect("the compiler waits");
        assert_eq!(began.recv(), Ok(3));
        go_on.send(()).expect("the compiler waits");
        assert_eq!(*third.wait(), Err("no module 3".to_owned().into()));
        assert!(
            began.recv().is_err(),
            "the thread has ended, with what it had"
        );
    }

    #[test]
    fn the_hottest_module_that_waits_is_compiled_first() {
        let modules = Texts::default();
        let (go_on, may_go_on) = mpsc::channel();
        let may_go_on = Mutex::new(may_go_on);
        let (begins, began) = mpsc::channel();
        let _first = modules.ask(1, move |key| {
            begins.send(*key).expect("the test listens");
            lock(&may_go_on).recv().expect("the test says so");
            Ok(format!("module {key}"))
        });
        assert_eq!(began.recv(), Ok(1));
        let ask = |key, words| {
            let slot = modules.ask(key, |_| unreachable!("the first asked has the thread"));
            slot.warm(words);
            slot
        };
        let slots = [(2, 5), (3, 50), (4, 50), (5, 1), (6, 0), (7, 7)];
        let slots = slots.map(|(key, words)| ask(key, words));
        // It went on running meanwhile; a session that ran less says nothing new.
        slots[3].warm(70);
        ask(5, 2);
        // Somebody waits for this one.
        slots[4].awaited.store(true, Relaxed);
        // One that nobody wants any more is left out, however hot it was.
        drop(ask(8, 1_000));
        let mut order = Vec::new();
        for _ in &slots {
            go_on.send(()).expect("the compiler waits");
            order.push(began.recv().expect("it goes on"));
        }
        assert_eq!(order, [6, 5, 3, 4, 7, 2]);
        go_on.send(()).expect("the compiler waits");
        assert_eq!(*slots[0].wait(), Ok("module 2".to_owned()));
        // What is made anew is as hot as what it takes the place of.
        assert!(began.recv().is_err(), "the thread has ended");
        let anew = modules.ask_anew(&slots[3], |_| Ok(String::new()));
        assert_eq!(anew.heat.load(Relaxed), 70);
    }

    unsafe extern "C" {
        fn atexit(end: extern "C" fn()) -> c_int;
        fn puts(line: *const c_char) -> c_int;
    }

    /// Says it by C's buffered output, to a test whose process this is a child of.
    fn say(line: &CStr) {
        // SAFETY: it is text that ends.
        let _said = unsafe { puts(line.as_ptr()) };
    }

    extern "C" fn earlier() {
        say(c"a handler from before the first module");
    }

    extern "C" fn later() {
        say(c"a handler from after it");
    }

    /// Another thread reads C's standard input from here on, and nothing comes.
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    fn hold_input() {
        unsafe extern "C" {
            static stdin: *mut c_void;
            fn flockfile(stream: *mut c_void);
        }
        let holder = thread::spawn(|| {
            // SAFETY: a stream that is always there.
            unsafe { flockfile(stdin) }
        });
        // Its lock stays behind, as a thread's does that waits in a read.
        holder.join().expect("it takes the lock");
    }

    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    fn hold_input() {}

    /// Ends while a module is compiled, with the status that it is told. Without one it ends once it has waited or, where
    /// it registers its end again, behind whatever was registered.
    #[test]
    #[ignore = "a part of other tests"]
    fn ends_while_it_compiles() {
        let Ok(how) = std::env::var(HOW) else { return };
        // SAFETY: functions of this type, which do not unwind.
        unsafe { atexit(earlier) };
        let (begins, began) = mpsc::channel();
        let slow = move |_: &u32| {
            begins.send(()).expect("the test listens");
            // It is seen by whoever is waited for.
            while !lock(&PROCESS.state).1 {
                thread::yield_now();
            }
            say(c"the module is there");
            Ok(String::new())
        };
        let modules = Texts::default();
        // The second one is never begun, although somebody still has its place.
        std::mem::forget((modules.ask(1, slow), modules.ask(2, |_| unreachable!())));
        began.recv().expect("the first one begins");
        let (registers, registered) = mpsc::channel();
        match &*how {
            "waits" => wait::register(),
            "again" => {
                let register = move || {
                    END();
                    registers.send(()).expect("the test listens");
                };
                thread::spawn(move || stay_last(Duration::from_millis(1), register));
                registered.recv().expect("it registers at once");
            }
            _ => {}
        }
        // SAFETY: as above.
        unsafe { atexit(later) };
        if how == "again" {
            // Of the two that come after all that are known by now, the second one was begun later than that.
            let _known = registered.try_iter().count();
            for _ in 0..2 {
                registered.recv().expect("it goes on");
            }
        }
        hold_input();
        write!(std::io::stdout(), "child: Rust; ").expect("the test reads it");
        std::process::exit(how.parse().unwrap_or(3));
    }

    /// Says how the process is to end.
    const HOW: &str = "VYRE_TEST_ENDS";

    /// Status and output of a process that ended so.
    fn ended(how: &str) -> (Option<i32>, String) {
        let mut child = Command::new(std::env::current_exe().expect("this test"))
            .args([
                "--exact",
                "--ignored",
                "tiers::tests::ends_while_it_compiles",
            ])
            .env(HOW, how)
            .stdout(Stdio::piped())
            .spawn()
            .expect("it is run again");
        let out = child.stdout.take().expect("it is piped");
        let (ends, end) = mpsc::channel();
        let reader = thread::spawn(move || {
            let out = std::io::read_to_string(out).expect("it is text");
            ends.send(out).expect("the test listens");
        });
        let Ok(out) = end.recv_timeout(Duration::from_secs(600)) else {
            child.kill().expect("it is there");
            panic!("the process does not end");
        };
        reader.join().expect("it has sent all");
        let own = out.split_once("child: ").expect("it came that far").1;
        (child.wait().expect("it has ended").code(), own.to_owned())
    }

    /// Who waits for the compiler, as processes do without the GNU C library.
    #[test]
    fn a_process_that_cannot_leave_at_once_waits_for_the_compiler() {
        let out = "Rust; a handler from after it\nthe module is there\n\
                   a handler from before the first module\n";
        assert_eq!(ended("waits"), (Some(3), out.to_owned()));
    }

    #[test]
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    fn a_process_that_ends_does_not_wait_for_the_compiler() {
        let out = "Rust; a handler from after it\n";
        for status in [0, 7] {
            assert_eq!(ended(&status.to_string()), (Some(status), out.to_owned()));
        }
        // What was registered within a compile, as the driver's end is, does not come before ours.
        assert_eq!(ended("again"), (Some(3), "Rust; ".to_owned()));
    }

    #[test]
    fn a_module_that_is_of_no_use_any_more_is_made_anew_once() {
        let modules = Texts::default();
        let compiled = Arc::new(AtomicU32::new(0));
        let compile = || {
            let compiled = Arc::clone(&compiled);
            move |key: &u32| {
                let nth = compiled.fetch_add(1, Relaxed);
                Ok(format!("module {key}.{nth}"))
            }
        };
        let before = modules.ask(1, compile());
        assert_eq!(*before.wait(), Ok("module 1.0".to_owned()));
        assert!(Arc::ptr_eq(&before, &modules.ask(1, compile())));
        let anew = modules.ask_anew(&before, compile());
        assert_eq!(*anew.wait(), Ok("module 1.1".to_owned()));
        // Others that had it get the new one, too, and so does who asks for the first time.
        for other in [
            modules.ask_anew(&before, compile()),
            modules.ask(1, compile()),
        ] {
            assert!(Arc::ptr_eq(&anew, &other));
        }
        assert_eq!(compiled.load(Relaxed), 2);
        assert_eq!(modules.places().len(), 1);
    }

    #[test]
    fn a_failure_is_forgotten_with_the_last_who_asked() {
        let modules = Texts::default();
        let compiled = Arc::new(AtomicU32::new(0));
        for turn in 0..10_000 {
            let compiled = Arc::clone(&compiled);
            let slot = modules.ask(1, move |_| {
                Err(compiled.fetch_add(1, Relaxed).to_string().into())
            });
            assert_eq!(*slot.wait(), Err(turn.to_string().into()));
        }
    }

    #[test]
    fn a_compiler_that_panics_is_a_reason() {
        let slot = Texts::default().ask(1, |_| panic!("on purpose"));
        assert_eq!(*slot.wait(), Err("the compiler panicked".to_owned().into()));
    }
}
