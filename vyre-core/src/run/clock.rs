//! How long runs take. What measures them names this module's [`Instant`] and not the standard library's: on
//! wasm32-unknown-unknown there is no clock, and the standard library's `Instant::now` panics there.
//!
//! What *decides* by measured times asks a [`Clock`], so that a test decides instead of the machine's load.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
pub use std::time::Instant;

#[cfg(all(target_family = "wasm", target_os = "unknown"))]
pub use frozen::Instant;

/// Where measured times come from that decide something: where a session goes on, what a tuner or a pipeline chooses.
///
/// ```
/// use std::time::Duration;
/// use vyre_core::run::clock::Clock;
///
/// let three = Clock::new(|backend| Duration::from_millis(if backend == "cuda" { 3 } else { 0 }));
/// assert_eq!(three.now("cuda"), Duration::from_millis(3));
/// let wall = Clock::default();
/// assert!(wall.now("cuda") <= wall.now("cuda"));
/// ```
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn(&str) -> Duration + Send + Sync>);

impl Clock {
    /// A clock that shows what `now` says. It is asked before and after what is timed, with the name of the backend that
    /// does it, and the difference is how long it took; one that runs backwards shows no time.
    pub fn new(now: impl Fn(&str) -> Duration + Send + Sync + 'static) -> Clock {
        Clock(Arc::new(now))
    }

    /// The time since some moment, before or after a run of the backend of this name.
    pub fn now(&self, backend: &str) -> Duration {
        (self.0)(backend)
    }

    /// The time since [`now`](Clock::now) showed `started`, for the same backend.
    pub fn since(&self, started: Duration, backend: &str) -> Duration {
        self.now(backend).saturating_sub(started)
    }
}

/// The wall clock, which is the same for all backends.
impl Default for Clock {
    fn default() -> Clock {
        let began = Instant::now();
        Clock::new(move |_| began.elapsed())
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Clock")
    }
}

/// What stands in where there is no clock.
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
mod frozen {
    use std::time::Duration;

    /// A moment in a process whose time stands still.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub struct Instant(());

    impl Instant {
        /// The only moment that there is.
        pub fn now() -> Instant {
            Instant(())
        }

        /// Nothing: reports of runs say 0 nanoseconds.
        pub fn elapsed(&self) -> Duration {
            Duration::ZERO
        }
    }
}
