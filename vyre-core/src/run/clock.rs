//! How long runs take. What measures them names this module's [`Instant`] and not the standard library's: on
//! wasm32-unknown-unknown there is no clock, and the standard library's `Instant::now` panics there.

#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
pub use std::time::Instant;

#[cfg(all(target_family = "wasm", target_os = "unknown"))]
pub use frozen::Instant;

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
