//! The backends that tests run on.

/// Makes tests of functions `fn name(runtime: &Runtime)`: `native::name`, `vir0::name`, and `cuda::name`, which is ignored, and
/// fails where there is no device.
macro_rules! backend_tests {
    ($($test:ident),* $(,)?) => {
        mod native {
            $(#[test]
            fn $test() {
                super::$test(&vyre::Runtime::native());
            })*
        }
        mod vir0 {
            $(#[test]
            fn $test() {
                super::$test(&vyre::Runtime::vir0());
            })*
        }
        mod cuda {
            $(#[test]
            #[ignore = "needs a CUDA device"]
            fn $test() {
                super::$test(&vyre::Runtime::cuda().expect("a CUDA device"));
            })*
        }
    };
}
