//! What several test executables use.

/// Each test on the CPU's backends, and with the GPU in the place of the interpreter.
macro_rules! on_every_backend {
    ($($test:ident)*) => {
        mod cpu {
            use vyre::Runtime;
            $(#[test]
            fn $test() {
                super::$test([Runtime::native(), Runtime::vir0()]);
            })*
        }
        mod cuda {
            use vyre::Runtime;
            $(#[test]
            #[ignore = "needs a CUDA device"]
            fn $test() {
                super::$test([Runtime::native(), Runtime::cuda().expect("a CUDA device")]);
            })*
        }
    };
}
