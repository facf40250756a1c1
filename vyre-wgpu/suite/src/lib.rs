//! What `vyre-tests` has, with another [`backend_tests!`]: it runs tests on the backend by wgpu, on whatever adapter there
//! is, and on no other. So the files of `vyre/tests/suite`, which ask for `vyre_tests`, test that backend here.

pub use real::*;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use vyre::Runtime;
use vyre_core::dsl::error::RunError;
use vyre_core::plan::side::Floor;
use vyre_core::run::args::TopologyArgs;
use vyre_core::run::backend::{Backend, Executor, Holder, Opening};
use vyre_core::vir0::module::Program;
use vyre_wgpu::{Adapters, REFUSED, Wgpu};

mod left_out;

/// Makes tests of functions `fn name(runtime: &Runtime)`: `wgpu::name`. What is behind `counting`, `cpus` and `devices`
/// is about other backends.
#[macro_export]
macro_rules! backend_tests {
    (@run $($test:ident)*) => {
        $(#[test]
        fn $test() {
            $crate::run(module_path!(), stringify!($test), super::$test);
        })*
    };
    (cpus: $($cpu:ident),* $(,)? $(; devices: $($device:ident),* $(,)?)?) => {};
    (
        $($test:ident),* $(,)?
        $(; counting: $($counting:ident),* $(,)?)?
        $(; live: $($live:ident),* $(,)?)?
        $(; cpus: $($cpu:ident),* $(,)?)?
        $(; devices: $($device:ident),* $(,)?)?
    ) => {
        mod wgpu {
            $crate::backend_tests!(@run $($test)* $($($live)*)?);
        }
    };
}

/// The backend, which notes what it refuses.
struct Noted {
    wgpu: Arc<Wgpu>,
    refusals: Arc<Mutex<Vec<String>>>,
}

impl Backend for Noted {
    fn name(&self) -> &'static str {
        self.wgpu.name()
    }
    fn device(&self) -> String {
        self.wgpu.device()
    }
    fn floor(&self) -> Floor {
        self.wgpu.floor()
    }
    fn holder(&self, program: &Program, topology: &TopologyArgs<'_>) -> Result<Holder, RunError> {
        self.wgpu.holder(program, topology)
    }
    fn is_host(&self) -> bool {
        self.wgpu.is_host()
    }
    fn open(&self, opening: Opening<'_>) -> Result<Box<dyn Executor>, RunError> {
        let opened = Backend::open(&*self.wgpu, opening);
        let refused = opened.as_ref().err().map(ToString::to_string);
        if let Some(why) = refused.filter(|why| why.contains(REFUSED)) {
            let mut all = self.refusals.lock().unwrap_or_else(PoisonError::into_inner);
            all.push(why);
        }
        opened
    }
}

/// The adapter that all tests share: opening it takes longer than most of them.
fn shared() -> Arc<Wgpu> {
    static OPENED: OnceLock<Arc<Wgpu>> = OnceLock::new();
    let open =
        || Arc::new(Wgpu::open(Adapters::Any).expect("an adapter; scripts/suite-wgpu brings one"));
    Arc::clone(OPENED.get_or_init(open))
}

/// Runs a test, or says why it is left out. One that the table of docs/PORTABLE.md refuses a pass of has to say so.
pub fn run(module: &str, name: &str, test: fn(&Runtime)) {
    let module = module.trim_end_matches("::wgpu");
    let module = module.rsplit("::").next().unwrap_or(module);
    let name = format!("{module}::{name}");
    if let Some(why) = left_out::about(&name) {
        println!("left out: {why}");
        return;
    }
    let refusals = Arc::<Mutex<Vec<String>>>::default();
    let runtime = Runtime::on(Arc::new(Noted {
        wgpu: shared(),
        refusals: Arc::clone(&refusals),
    }));
    let ran = catch_unwind(AssertUnwindSafe(|| test(&runtime)));
    let refused = refusals
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .pop();
    match (ran, left_out::refused(&name), refused) {
        (Ok(()), None, _) => {}
        (Ok(()), Some(_), _) => panic!("`{name}` passes: it is refused nothing any more"),
        (Err(_), Some(expected), Some(why)) if why.contains(expected) => {
            println!("left out: {why}")
        }
        (Err(panicked), _, why) => {
            if let Some(why) = why {
                println!("a pass was refused: {why}");
            }
            resume_unwind(panicked)
        }
    }
}
