//! What tests share: the backends that they run on ([`backend_tests!`]), graphs with what a search of them finds, passes
//! that several of them run, and random numbers and programs.
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

pub mod graphs;
pub mod passes;
pub mod programs;
pub mod random;
pub mod sequential;

/// Makes tests of functions `fn name(runtime: &Runtime)`: `native::name`, `vir0::name`, `sequential::name` on a backend
/// that the host leads ([`sequential`]), and `cuda::name`, which is ignored, and fails where there is no device.
///
/// Behind `; counting:` stand those for backends that count what they do and lend out their topology, which `sequential`
/// does not; behind `; cpus:` those about `native` and `vir0` alone, such as how many bytes a session takes.
#[macro_export]
macro_rules! backend_tests {
    (@run $runtime:expr; $($test:ident)*) => {
        $(#[test]
        fn $test() {
            super::$test(&$runtime);
        })*
    };
    (cpus: $($cpu:ident),* $(,)?) => {
        $crate::backend_tests!(; cpus: $($cpu),*);
    };
    (
        $($test:ident),* $(,)?
        $(; counting: $($counting:ident),* $(,)?)?
        $(; cpus: $($cpu:ident),* $(,)?)?
    ) => {
        mod native {
            $crate::backend_tests!(
                @run vyre::Runtime::native(); $($test)* $($($counting)*)? $($($cpu)*)?
            );
        }
        mod vir0 {
            $crate::backend_tests!(
                @run vyre::Runtime::vir0(); $($test)* $($($counting)*)? $($($cpu)*)?
            );
        }
        mod sequential {
            $crate::backend_tests!(
                @run vyre::Runtime::on(std::sync::Arc::new($crate::sequential::Sequential)); $($test)*
            );
        }
        mod cuda {
            $(#[test]
            #[ignore = "needs a CUDA device"]
            fn $test() {
                super::$test(&vyre::Runtime::cuda().expect("a CUDA device"));
            })*
            $($(#[test]
            #[ignore = "needs a CUDA device"]
            fn $counting() {
                super::$counting(&vyre::Runtime::cuda().expect("a CUDA device"));
            })*)?
        }
    };
}
