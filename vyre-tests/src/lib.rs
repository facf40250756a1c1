//! What tests share: the backends that they run on ([`backend_tests!`]), graphs with what a search of them finds,
//! passes that several of them run, an allocator that counts and refuses, and random numbers and programs.
//!
//! ```
//! use vyre::prelude::*;
//! use vyre_tests::{backend_tests, graphs, passes::bfs};
//!
//! fn a_search_reaches_the_end(runtime: &Runtime) {
//!     let chain = graphs::chain(5);
//!     let mut session = bfs::Session::new(runtime, &chain).expect("it fits");
//!     let out = session.run(bfs::Run { source: 0 }).expect("no trap");
//!     assert_eq!(out.dist, graphs::distances(&chain, 0));
//! }
//!
//! backend_tests!(a_search_reaches_the_end);
//! ```

mod memory;
mod shuffled;

pub mod endless;
pub mod graphs;
pub mod heap;
pub mod held;
pub mod passes;
pub mod programs;
pub mod random;
pub mod sequential;
pub mod steps;

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};
use vyre::core::plan::gains::Gains;
use vyre::{RoutePolicy, Runtime, Thresholds};
use vyre_cuda::Cuda;
use vyre_cuda::fake::Fake;

/// Waits until something has happened, and no longer than half an hour, which turns a hang into a failure: whether it
/// has. A busy machine may need minutes for what takes seconds.
#[must_use]
pub fn happens(mut has_happened: impl FnMut() -> bool) -> bool {
    let until = Instant::now() + Duration::from_secs(30 * 60);
    while !has_happened() {
        if Instant::now() > until {
            // It may have happened while this thread did not run.
            return has_happened();
        }
        // Whoever is waited for needs the CPU, too.
        thread::sleep(Duration::from_millis(1));
    }
    true
}

/// The CUDA backend on a played device of its own, of which nothing was [measured](unmeasured).
pub fn fake() -> Runtime {
    let cuda = Fake::default().open();
    on(cuda.expect("nothing fails on it")).with_route(RoutePolicy::Interpreter)
}

/// A CUDA device as a runtime, of which nothing was [measured](unmeasured).
pub fn on(cuda: Cuda) -> Runtime {
    unmeasured(Runtime::on(Arc::new(cuda)))
}

/// The CUDA backend on a device, of which nothing was [measured](unmeasured).
///
/// # Panics
/// There is no device.
pub fn cuda() -> Runtime {
    unmeasured(Runtime::cuda().expect("a CUDA device"))
}

/// The same as if no candidate for a selection had been measured: sessions do all of it, whatever figures a backend has
/// for its device.
pub fn unmeasured(runtime: Runtime) -> Runtime {
    let thresholds = Thresholds {
        gains: Gains::default(),
        ..*runtime.thresholds()
    };
    runtime.with_thresholds(thresholds)
}

/// Makes tests of functions `fn name(runtime: &Runtime)`: `native::name`, `vir0::name`, `sequential::name` on a backend
/// that the host leads ([`sequential`]), `fake::name` on a CUDA device that is played ([`fake`]), and `cuda::name` and
/// `compiled::name`, by the interpreter on a device and by compiled code, which are ignored, and fail where there is no
/// device.
///
/// Behind `; counting:` stand those for backends that count what they do and lend out their topology, which
/// `sequential` does not; behind `; live:` those that look at a run while it goes on, which the played device does not
/// show; behind `; cpus:` those about `native` and `vir0` alone, such as how many bytes a session takes; behind `;
/// devices:` those about a device's memory, for `fake` and `cuda` alone.
#[macro_export]
macro_rules! backend_tests {
    (@run $runtime:expr; $($test:ident)*) => {
        $(#[test]
        fn $test() {
            super::$test(&$runtime);
        })*
    };
    (@device $route:ident; $($test:ident)*) => {
        $(#[test]
        #[ignore = "needs a CUDA device"]
        fn $test() {
            let runtime = $crate::cuda();
            super::$test(&runtime.with_route(vyre::RoutePolicy::$route));
        })*
    };
    (cpus: $($cpu:ident),* $(,)? $(; devices: $($device:ident),* $(,)?)?) => {
        $crate::backend_tests!(; cpus: $($cpu),* $(; devices: $($device),*)?);
    };
    (
        $($test:ident),* $(,)?
        $(; counting: $($counting:ident),* $(,)?)?
        $(; live: $($live:ident),* $(,)?)?
        $(; cpus: $($cpu:ident),* $(,)?)?
        $(; devices: $($device:ident),* $(,)?)?
    ) => {
        mod native {
            $crate::backend_tests!(
                @run vyre::Runtime::native();
                $($test)* $($($counting)*)? $($($live)*)? $($($cpu)*)?
            );
        }
        mod vir0 {
            $crate::backend_tests!(
                @run vyre::Runtime::vir0();
                $($test)* $($($counting)*)? $($($live)*)? $($($cpu)*)?
            );
        }
        mod sequential {
            $crate::backend_tests!(
                @run vyre::Runtime::on(std::sync::Arc::new($crate::sequential::Sequential));
                $($test)* $($($live)*)?
            );
        }
        mod fake {
            $crate::backend_tests!(
                @run $crate::fake(); $($test)* $($($counting)*)? $($($device)*)?
            );
        }
        mod cuda {
            $crate::backend_tests!(
                @device Interpreter; $($test)* $($($counting)*)? $($($live)*)? $($($device)*)?
            );
        }
        mod compiled {
            $crate::backend_tests!(
                @device Compiled; $($test)* $($($counting)*)? $($($live)*)?
            );
        }
    };
}
