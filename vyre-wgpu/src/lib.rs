//! The wgpu backend of vyre: VIR0 becomes shaders that naga validates, and that run on any adapter.
//!
//! [`Wgpu`] is the [`Backend`]. [`program`] says what the shaders of a pass are, [`layout`] where its memory lies, and
//! [`target`] what an adapter can do.
//!
//! The device has the program counter: one workgroup, the control, goes through the schedule behind each barrier group,
//! and what the host has encoded are dispatches whose workgroups the control decides. [`driver`] is the host's side.

mod code;
mod control;
pub mod driver;
#[cfg(feature = "export")]
pub mod export;
mod gpu;
pub mod layout;
mod memory;
pub mod program;
pub mod shader;
mod slots;
mod sweep;
pub mod target;
mod timing;

pub use gpu::OpenError;

use driver::{Pace, Session};
use gpu::Gpu;
use std::sync::Arc;
use target::Target;
use vyre_core::dsl::error::RunError;
use vyre_core::plan::side::Floor;
use vyre_core::run::args::{Args, TopologyArgs};
use vyre_core::run::backend::{
    Backend, Executor, Followed, Holder, LaunchHint, Limits, Opening, Progress, Running,
};
use vyre_core::run::outcome::Outcome;
use vyre_core::run::stop::Stop;
use vyre_core::vir0::module::Program;

/// Items, or edges, of a sweep that the control takes by itself.
const NARROW_ITEMS: u32 = 1_024;

/// The same, at most: more would take one workgroup too long.
const MOST_NARROW_ITEMS: u32 = 1 << 16;

/// An adapter that runs passes.
#[derive(Clone, Debug)]
pub struct Wgpu {
    gpu: Arc<Gpu>,
    narrow_items: u32,
    pace: Pace,
}

impl Wgpu {
    /// Opens the best adapter: software renderers come last.
    ///
    /// # Errors
    /// There is none, or it lacks what every pass needs.
    pub fn open() -> Result<Wgpu, OpenError> {
        pollster::block_on(Wgpu::open_async(None))
    }

    /// Opens the adapter whose name contains this.
    ///
    /// # Errors
    /// As [`open`](Wgpu::open).
    pub fn open_named(name: &str) -> Result<Wgpu, OpenError> {
        pollster::block_on(Wgpu::open_async(Some(name)))
    }

    /// As these; a browser, which has one adapter, awaits it.
    ///
    /// # Errors
    /// As [`open`](Wgpu::open).
    pub async fn open_async(name: Option<&str>) -> Result<Wgpu, OpenError> {
        Ok(Wgpu {
            gpu: Arc::new(Gpu::open(name).await?),
            narrow_items: NARROW_ITEMS,
            pace: Pace::USUAL,
        })
    }

    /// Sweeps of at most so many items, or edges, are taken by one workgroup, without a dispatch of their own. With 0,
    /// all that have items are dispatched. Results never depend on it.
    pub fn with_narrow_items(self, narrow_items: u32) -> Wgpu {
        Wgpu {
            narrow_items: narrow_items.min(MOST_NARROW_ITEMS),
            ..self
        }
    }

    /// Submissions grow however long they take, so that the host looks at a run as rarely as it can, and a cancel may wait
    /// for long. Results never depend on it.
    pub fn with_patience(self) -> Wgpu {
        Wgpu {
            pace: Pace::PATIENT,
            ..self
        }
    }

    /// Shaders use no more than this, as if the adapter had no more.
    pub fn limited_to(self, target: &Target) -> Wgpu {
        Wgpu {
            gpu: Arc::new(self.gpu.limited_to(target)),
            ..self
        }
    }

    /// The adapter renders with the CPU.
    pub fn is_software(&self) -> bool {
        self.gpu.is_software()
    }

    /// What the adapter can do.
    pub fn target(&self) -> &Target {
        &self.gpu.target
    }

    /// A session that runs of which can be awaited.
    ///
    /// # Errors
    /// The pass needs what the adapter lacks, or what is given does not fit it.
    pub fn session(&self, opening: &Opening<'_>) -> Result<Session, RunError> {
        Session::new(&self.gpu, opening, (self.narrow_items, self.pace))
    }
}

impl Backend for Wgpu {
    fn name(&self) -> &'static str {
        "wgpu"
    }
    fn device(&self) -> String {
        self.gpu.described()
    }
    fn floor(&self) -> Floor {
        Floor {
            run_ns: 100_000.0,
            round_ns: 10_000.0,
            item_ns: 1.0,
        }
    }
    fn holder(&self, _: &Program, _: &TopologyArgs<'_>) -> Result<Holder, RunError> {
        Ok(Holder::Adapter)
    }
    fn is_host(&self) -> bool {
        false
    }
    fn open(&self, opening: Opening<'_>) -> Result<Box<dyn Executor>, RunError> {
        Ok(Box::new(self.session(&opening)?))
    }
}

impl Executor for Session {
    fn run_series(&mut self, series: &[Args<'_>], results: &mut Outcome) -> Result<(), RunError> {
        if cfg!(all(target_family = "wasm", target_os = "unknown")) {
            let why = "a browser does not let a page wait for its GPU; `run_async` can be awaited";
            return Err(RunError::Backend(why.to_owned()));
        }
        pollster::block_on(Session::run_series(self, series, results))
    }
    fn lend_topology(
        &self,
        borrow: &mut dyn FnMut(&TopologyArgs<'_>) -> Result<(), RunError>,
    ) -> Result<bool, RunError> {
        borrow(&self.topology())?;
        Ok(true)
    }
    fn run_async<'a>(&'a mut self, args: &'a Args<'a>, results: &'a mut Outcome) -> Running<'a> {
        Box::pin(Session::run(self, args, results))
    }
    fn limits(&self) -> Limits {
        Limits {
            // The adapter: how many workgroups a sweep has, the control decides.
            max_workers: 1,
            lanes_per_worker: self.lanes(),
            workers_vary: false,
            jit: false,
            items_per_lane: 1,
            overlaps: false,
            bitmaps: false,
        }
    }
    fn follow(&mut self, hint: &LaunchHint) -> Followed {
        let mut notes = Vec::new();

        if !hint.time_waves {
            self.timing = None;
        } else if self.timing.is_none() {
            self.timing = self.new_timing();
            if self.timing.is_none() {
                notes.push("sweeps are not timed: the adapter has no timestamps".into());
            }
        }
        Followed {
            workers: 1,
            code: format!("shaders on {}", self.adapter()).into(),
            sweeps: None,
            notes,
        }
    }
    fn progress(&self) -> Option<Arc<Progress>> {
        Some(Arc::clone(Session::progress(self)))
    }
    fn set_progress(&mut self, progress: Arc<Progress>) {
        self.progress = progress;
    }
    fn set_stop(&mut self, stop: &Arc<Stop>) {
        self.stop = Some(Arc::clone(stop));
    }
}
