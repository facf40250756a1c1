//! The backends that tests run on.

#[path = "../sweeper/memory.rs"]
mod memory;
#[path = "../sweeper/sequential.rs"]
pub(crate) mod sequential;

/// Makes tests of functions `fn name(runtime: &Runtime)`: `native::name`, `vir0::name`, `sequential::name` on a backend
/// that the host leads ([`sequential`]) and that neither counts nor lends its topology, so that it has no tests behind a
/// `;`, and `cuda::name`, which is ignored, and fails where there is no device.
macro_rules! backend_tests {
    ($($test:ident),* $(,)? $(; $($counted:ident),* $(,)?)?) => {
        mod native {
            $(#[test]
            fn $test() {
                super::$test(&vyre::Runtime::native());
            })*
            $($(#[test]
            fn $counted() {
                super::$counted(&vyre::Runtime::native());
            })*)?
        }
        mod vir0 {
            $(#[test]
            fn $test() {
                super::$test(&vyre::Runtime::vir0());
            })*
            $($(#[test]
            fn $counted() {
                super::$counted(&vyre::Runtime::vir0());
            })*)?
        }
        mod sequential {
            $(#[test]
            fn $test() {
                let it = crate::backend_tests::sequential::Sequential;
                super::$test(&vyre::Runtime::on(std::sync::Arc::new(it)));
            })*
        }
        mod cuda {
            $(#[test]
            #[ignore = "needs a CUDA device"]
            fn $test() {
                super::$test(&vyre::Runtime::cuda().expect("a CUDA device"));
            })*
            $($(#[test]
            #[ignore = "needs a CUDA device"]
            fn $counted() {
                super::$counted(&vyre::Runtime::cuda().expect("a CUDA device"));
            })*)?
        }
    };
}
