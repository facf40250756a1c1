//! What all launches of a pass have in common: the device, the program, its layout, its code, and what runs it.

use super::record::Words;
use crate::buffer::Memory;
use crate::compiled::{Compiled, Place, changes};
use crate::device::Device;
use crate::image::Layout;
use crate::module::Module;
use crate::ptx::described;
use crate::tiers::NotMade;
use std::borrow::Cow;
use std::sync::Arc;
use vyre_core::dsl::error::RunError;
use vyre_core::plan::footprint::Allocation;
use vyre_core::plan::launch::Route;
use vyre_core::vir0::find::overwritten;
use vyre_core::vir0::module::{BufferId, Program};

/// A pass on a device, whatever its topologies are.
#[derive(Debug)]
pub(super) struct Pass {
    pub(super) device: Arc<Device>,
    pub(super) program: Arc<Program>,
    /// Scratch and frontiers share memory, or have each its own.
    pub(super) allocation: Allocation,
    pub(super) layout: Layout,
    /// The layout's words.
    pub(super) code: Memory,
    /// The word that tells launches to stop.
    pub(super) abort: u64,
    /// In-out buffers whose elements no run looks at, so that they are not sent up.
    pub(super) overwritten: Vec<BufferId>,
    /// Steps that a run may take. They are counted where this says something, and then runs are interpreted.
    pub(super) most_steps: Option<u64>,
    /// Sweeps are to be timed.
    pub(super) time_waves: bool,
    /// Where its own module is, or will be, once somebody wanted one for this layout.
    place: Option<Place>,
    /// What its bodies are like.
    bodies: String,
    /// Launches are to be of that module.
    takes_compiled: bool,
}

impl Pass {
    /// A pass that the device interprets. `code` has the layout's words; `abort`: where the word is that
    /// tells launches to stop.
    pub(super) fn new(
        device: &Arc<Device>,
        (program, allocation): (Arc<Program>, Allocation),
        layout: Layout,
        (code, abort): (Memory, u64),
    ) -> Pass {
        let overwritten = overwritten(&program);
        Pass {
            overwritten,
            device: Arc::clone(device),
            program,
            allocation,
            layout,
            code,
            abort,
            most_steps: None,
            time_waves: false,
            place: None,
            bodies: String::new(),
            takes_compiled: false,
        }
    }

    /// CTAs that the device runs at once.
    pub(super) fn slots(&self) -> u32 {
        self.device.slots()
    }

    /// What launches are of.
    pub(super) fn module(&self) -> &Module {
        let interpreter = || self.device.interpreter().module();
        let compiled = self.compiled();
        compiled.map_or_else(interpreter, |compiled| &compiled.module)
    }

    /// Whether that is the pass's own module.
    pub(super) fn is_compiled(&self) -> bool {
        self.compiled().is_some()
    }

    /// How reports name it.
    pub(super) fn route(&self) -> &'static str {
        match self.is_compiled() {
            true => "compiled",
            false => "interpreted",
        }
    }

    /// The same with its figures, and why it is not what is wanted.
    pub(super) fn explain(&self, wanted: Route) -> (Cow<'static, str>, Option<String>) {
        if let Some(compiled) = self.compiled() {
            return (format!("{compiled}; {}", self.bodies).into(), None);
        }
        let why = match (wanted, self.place.as_ref().map(|place| place.made())) {
            (Route::Interpreter, _) => None,
            (Route::Jit, _) if self.most_steps.is_some() => {
                Some("runs whose steps are counted are interpreted".to_owned())
            }
            (Route::Jit, Some(Some(Err(why)))) => Some(format!("not compiled: {why}")),
            (Route::Jit, _) => Some("being compiled".to_owned()),
        };
        ("interpreted".into(), why)
    }

    /// Which narrow rounds the pass's own module leaves to the general way, and why.
    pub(super) fn general(&self) -> impl Iterator<Item = String> + '_ {
        let all = self.layout.general.iter();
        all.filter(|_| self.is_compiled()).map(|(f, why)| {
            let name = &self.program.fixpoints[f.index()].name;
            let why = why.text(&self.program);
            format!("narrow rounds of `{name}` go the general way: {why}")
        })
    }

    /// The next launches are to go this way. No launch is on its way. A module that is not there yet is asked for, and
    /// taken when somebody says so again.
    pub(super) fn take_route(&mut self, route: Route) {
        self.takes_compiled = match route {
            Route::Interpreter => false,
            Route::Jit => matches!(self.place().made(), Some(Ok(_))),
        };
    }

    /// Waits for the module, and takes it; false if it was taken already. No launch is on its way.
    pub(super) fn compile(&mut self) -> Result<bool, RunError> {
        let mut place = Arc::clone(self.place());
        // Who waits for it anyway may have one of any size.
        if let Err(NotMade::TooLarge { .. }) = place.wait() {
            place = self.ask(true);
            self.place = Some(Arc::clone(&place));
        }
        if let Err(why) = place.wait() {
            let pass = &self.program.name;
            let what = format!("`{pass}` could not be compiled: {why}");
            return Err(RunError::Backend(what));
        }
        Ok(!std::mem::replace(&mut self.takes_compiled, true))
    }

    /// The next runs may take `most` steps. No launch is on its way. False where the device does not take the code that
    /// counts; then nothing changes.
    pub(super) fn count_steps(&mut self, most: Option<u64>) -> bool {
        let counting = most.is_some();
        if counting != self.most_steps.is_some() {
            let words = self.layout.device_words(counting);
            if self.code.upload(0, &words).is_err() {
                return false;
            }
        }
        self.most_steps = most;
        true
    }

    /// Goes on if a run had the steps that it took. Otherwise nothing else counts that it says: wherever it was cut short,
    /// and whatever it met behind that, it had taken too many before.
    pub(super) fn has_steps(&self, words: &Words) -> Result<(), RunError> {
        match self.most_steps {
            Some(limit) if words.steps > limit => Err(RunError::Work { limit }),
            _ => Ok(()),
        }
    }

    /// The layout is another one, whose module is another one. No launch is on its way.
    pub(super) fn take_layout(&mut self, layout: Layout) {
        self.layout = layout;
        self.takes_compiled = false;
        self.place = None;
    }

    fn compiled(&self) -> Option<&Compiled> {
        let takes = self.takes_compiled && self.most_steps.is_none();
        let place = self.place.as_ref().filter(|_| takes)?;
        place.made()?.as_ref().ok()
    }

    fn place(&mut self) -> &Place {
        if self.place.is_none() {
            self.place = Some(self.ask(false));
            self.bodies = described(&self.program, &self.layout);
        }
        self.place.as_ref().expect("it was just asked for")
    }

    fn ask(&self, any_size: bool) -> Place {
        let clusters = self.device.interpreter().room().clusters;
        let changes = changes(&self.program, &self.layout, clusters);
        Compiled::ask(&self.device, changes, any_size)
    }
}
