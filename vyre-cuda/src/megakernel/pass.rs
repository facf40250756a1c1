//! What all launches of a pass have in common: the device, the program, its layout, its code, and what runs it.

use super::launch::Work;
use super::record::Words;
use super::settings::{CLUSTERS, clustered};
use crate::abi;
use crate::buffer::Memory;
use crate::compiled::{Compiled, Counted, Loaded, Place, Wanted, changes};
use crate::device::Device;
use crate::device::DeviceError;
use crate::driver::Grid;
use crate::image::Layout;
use crate::module::Module;
use crate::ptx::described;
use crate::shape::{self, Shape};
use crate::tiers::NotMade;
use std::borrow::Cow;
use std::sync::{Arc, Weak};
use vyre_core::dsl::error::RunError;
use vyre_core::plan::footprint::Allocation;
use vyre_core::plan::launch::Route;
use vyre_core::run::backend::CodeRoom;
use vyre_core::vir0::find::overwritten;
use vyre_core::vir0::module::{BufferId, Program};

/// A pass on a device, whatever its topologies are.
#[derive(Debug)]
pub(super) struct Pass {
    pub(super) device: Arc<Device>,
    pub(super) program: Arc<Program>,
    /// Nodes of its largest graph, by which its own module has a shape.
    pub(super) nodes: u64,
    /// Scratch and frontiers share memory, or have each its own.
    pub(super) allocation: Allocation,
    /// As the interpreter has it.
    pub(super) layout: Layout,
    /// As its own module has it, if that has another shape.
    own: Option<Own>,
    /// The words of the layout that the call under way runs with.
    pub(super) code: Memory,
    /// These are the words of `own`.
    code_is_own: bool,
    /// The word that tells launches to stop.
    pub(super) abort: u64,
    /// In-out buffers whose elements no run looks at, so that they are not sent up.
    pub(super) overwritten: Vec<BufferId>,
    /// Steps that a run may take. They are counted where this says something, and then runs are interpreted.
    pub(super) most_steps: Option<u64>,
    /// Sweeps are to be timed.
    pub(super) time_waves: bool,
    /// The budget in which its own module counts.
    room: Counted,
    /// Where that module is, or will be, once somebody wanted one for this layout.
    place: Option<Place>,
    /// The module while a call runs it.
    running: Weak<Running>,
    /// What its bodies are like.
    bodies: String,
    /// The shape that its module was to have, and why it has the interpreter's.
    misshapen: Option<(Shape, String)>,
    /// Launches are to be of that module.
    takes_compiled: bool,
}

/// What the module of a pass has that has another shape than the interpreter.
#[derive(Debug)]
struct Own {
    layout: Layout,
    /// By size of a cluster, how many CTAs run together, once the module is there.
    clustered: Option<[u32; CLUSTERS.len()]>,
}

/// A module that a call runs. It stays on the device until the call lets go of it, which it does when nothing is on its
/// way any more.
#[derive(Debug)]
pub(super) struct Running(Arc<Loaded>);

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
            nodes: 0,
            allocation,
            layout,
            own: None,
            code,
            code_is_own: false,
            abort,
            most_steps: None,
            time_waves: false,
            room: Counted(None),
            place: None,
            running: Weak::new(),
            bodies: String::new(),
            misshapen: None,
            takes_compiled: false,
        }
    }

    /// CTAs of the interpreter that the device runs at once: one a multiprocessor.
    pub(super) fn slots(&self) -> u32 {
        self.device.slots()
    }

    /// CTAs that run at once, in the call that has begun, on as many multiprocessors. Where one of several is wanted, one
    /// CTA is to work alone.
    pub(super) fn ctas_on(&self, multiprocessors: u32) -> u32 {
        if multiprocessors == 1 && self.slots() > 1 {
            return 1;
        }
        let running = self.running.upgrade();
        let each = running.map_or(1, |running| running.0.module.shape().1);
        multiprocessors * each
    }

    /// By size of a cluster, how many CTAs of the module of the call that has begun run together; `None`: as many as of
    /// the interpreter.
    pub(super) fn clustered(&self) -> Option<[u32; CLUSTERS.len()]> {
        self.running_own()?.clustered
    }

    /// The layout of the call that has begun.
    pub(super) fn laid(&self) -> &Layout {
        self.running_own().map_or(&self.layout, |own| &own.layout)
    }

    fn running_own(&self) -> Option<&Own> {
        self.own.as_ref().filter(|_| self.is_compiled())
    }

    /// Its own module counts in this budget from here on. No launch is on its way.
    pub(super) fn count_code(&mut self, room: &Arc<dyn CodeRoom>) {
        self.device.passes().offer(&self.device, room);
        self.room = Counted(Some(Arc::clone(room)));
        (self.place, self.own, self.takes_compiled) = (None, None, false);
    }

    /// A call begins. What it gives is kept until nothing of the call is on its way; launches are of the pass's own
    /// module meanwhile. `None`: they are interpreted.
    ///
    /// # Errors
    /// The device does not take the words of the layout.
    pub(super) fn begin(&mut self) -> Result<Option<Arc<Running>>, DeviceError> {
        let loaded = self.compiled().and_then(|c| c.run(&self.device));
        let running = loaded.map(|loaded| Arc::new(Running(loaded)));
        self.running = running.as_ref().map_or_else(Weak::new, Arc::downgrade);
        let is_own = self.running_own().is_some();
        if is_own != self.code_is_own {
            let words = self.laid().device_words(self.most_steps.is_some());
            self.code.upload(0, &words)?;
            self.code_is_own = is_own;
        }
        if let (Some(running), Some(own)) = (&running, &mut self.own)
            && own.clustered.is_none()
        {
            let module = &running.0.module;
            let most = self.device.slots() * module.shape().1;
            own.clustered = Some(clustered((module, most), &own.layout)?);
        }
        Ok(running)
    }

    /// A launch of the call that has begun.
    pub(super) fn grid(&self, work: &Work) -> Grid {
        let shared_bytes = self.laid().shared_bytes;
        let grid = |module: &Module| Grid {
            cooperative: work.waits,
            ..module.grid(work.ctas, shared_bytes, work.cluster)
        };
        match self.running.upgrade() {
            Some(running) => grid(&running.0.module),
            None => grid(self.device.interpreter().module()),
        }
    }

    /// Whether the call that has begun runs the pass's own module.
    pub(super) fn is_compiled(&self) -> bool {
        self.running.strong_count() > 0
    }

    /// How reports name it.
    pub(super) fn route(&self) -> &'static str {
        match self.is_compiled() {
            true => "compiled",
            false => "interpreted",
        }
    }

    /// The same with its figures, and what of it is not as wanted.
    pub(super) fn explain(&self, wanted: Route) -> (Cow<'static, str>, Vec<Cow<'static, str>>) {
        let (code, why) = self.code_and_why(wanted);
        let why = why.map(|why| format!("compiled code wanted: {why}").into());
        let notes = why.into_iter().chain(self.general().map(Cow::from));
        (code, notes.collect())
    }

    fn code_and_why(&self, wanted: Route) -> (Cow<'static, str>, Option<String>) {
        if let Some(compiled) = self.compiled() {
            let why = self.misshapen.as_ref();
            let why = why.map(|(shape, why)| format!("CTAs of the shape {shape}: {why}"));
            return (format!("{compiled}; {}", self.bodies).into(), why);
        }
        let why = match (wanted, self.place.as_ref().map(|place| place.made())) {
            (Route::Interpreter, _) => None,
            (Route::Jit, _) if self.most_steps.is_some() => {
                Some("runs whose steps are counted are interpreted".to_owned())
            }
            (Route::Jit, Some(Some(Err(why)))) => Some(format!("not compiled: {why}")),
            (Route::Jit, Some(Some(Ok(compiled)))) => Some(format!(
                "its module was unloaded, because the budget needed its {} bytes",
                compiled.bytes()
            )),
            (Route::Jit, _) => Some("being compiled".to_owned()),
        };
        ("interpreted".into(), why)
    }

    /// Which narrow rounds the pass's own module leaves to the general way, and why.
    fn general(&self) -> impl Iterator<Item = String> + '_ {
        let all = self.own_layout().general.iter();
        all.filter(|_| self.compiled().is_some()).map(|(f, why)| {
            let name = &self.program.fixpoints[f.index()].name;
            let why = why.text(&self.program);
            format!("narrow rounds of `{name}` go the general way: {why}")
        })
    }

    /// The next launches are to go this way. No launch is on its way. A module that is not there yet is asked for, and
    /// taken when somebody says so again; those of hotter passes are made first.
    pub(super) fn take_route(&mut self, route: Route, heat_words: u64) {
        self.takes_compiled = match route {
            Route::Interpreter => false,
            Route::Jit => {
                let place = Arc::clone(self.place());
                place.warm(heat_words);
                if self.lacks(&place).is_some_and(|bytes| self.has_room(bytes)) {
                    self.place = Some(self.device.passes().ask_anew(&self.device, &place));
                }
                matches!(self.place().made(), Some(Ok(compiled)) if compiled.is_loaded())
            }
        };
    }

    /// Bytes of a module that the budget had no room for, or not any more.
    fn lacks(&self, place: &Place) -> Option<u64> {
        match place.made()? {
            Ok(compiled) => (!compiled.is_loaded()).then_some(compiled.bytes()),
            Err(NotMade::NoRoom { bytes }) => Some(*bytes),
            Err(NotMade::TooLarge { .. } | NotMade::Failed(_)) => None,
        }
    }

    /// Whether a module fits without another one going.
    fn has_room(&self, bytes: u64) -> bool {
        self.room.0.as_ref().is_none_or(|room| room.has(bytes))
    }

    /// Waits for the module, and takes it; false if it was taken already. No launch is on its way.
    pub(super) fn compile(&mut self) -> Result<bool, RunError> {
        let before = self.compiled().is_some();
        let mut place = Arc::clone(self.place());
        // Who measures a shape is not to measure another one.
        let asked = self.device.wanted_shape().is_some();
        if let Some((shape, why)) = self.misshapen.as_ref().filter(|_| asked) {
            let pass = &self.program.name;
            let what = format!("`{pass}` has no module of the shape {shape}: {why}");
            return Err(RunError::Backend(what));
        }
        // Who waits for it anyway may have one of any size.
        if let Err(NotMade::TooLarge { .. }) = place.wait() {
            place = self.ask(true);
        }
        place.wait();
        // There may be room for it now, or again.
        if self.lacks(&place).is_some() {
            place = self.device.passes().ask_anew(&self.device, &place);
        }
        self.place = Some(Arc::clone(&place));
        if let Err(why) = place.wait() {
            let pass = &self.program.name;
            let what = format!(
                "`{pass}` could not be compiled, and the route `Interpreter` runs it: {why}"
            );
            return Err(RunError::Backend(what));
        }
        self.takes_compiled = true;
        Ok(!before)
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
            self.code_is_own = false;
        }
        self.most_steps = most;
        true
    }

    /// Goes on if a run had the steps that it took. Otherwise nothing else counts that it says: wherever it was cut short,
    /// and whatever it met behind that, it had taken too many before.
    pub(super) fn has_steps(&self, words: &Words) -> Result<(), RunError> {
        match self.most_steps {
            Some(limit) if words.steps > limit => Err(RunError::Work { limit, of: None }),
            _ => Ok(()),
        }
    }

    /// The layout is another one, whose module is another one. No launch is on its way.
    pub(super) fn take_layout(&mut self, layout: Layout) {
        self.layout = layout;
        self.takes_compiled = false;
        (self.place, self.own) = (None, None);
    }

    /// Brings the words of another layout of the interpreter up, which is taken then, where anything in them differs.
    pub(super) fn upload_words(&mut self, layout: &Layout) -> Result<(), DeviceError> {
        let counting = self.most_steps.is_some();
        let words = layout.device_words(counting);
        if self.code_is_own || words != self.layout.device_words(counting) {
            self.code.upload(0, &words)?;
            self.code_is_own = false;
        }
        Ok(())
    }

    /// The module that calls run which begin now.
    fn compiled(&self) -> Option<&Compiled> {
        let takes = self.takes_compiled && self.most_steps.is_none();
        let place = self.place.as_ref().filter(|_| takes)?;
        let made = place.made()?.as_ref().ok();
        made.filter(|compiled| compiled.is_loaded())
    }

    fn place(&mut self) -> &Place {
        if self.place.is_none() {
            self.shape();
            self.place = Some(self.ask(false));
            self.bodies = described(&self.program, self.own_layout());
        }
        self.place.as_ref().expect("it was just asked for")
    }

    /// Gives the pass's own module its shape, as far as its layout fits.
    fn shape(&mut self) {
        let lifts = || self.layout.kernels.iter().any(|k| k.neighbors != 0);
        let chosen = || shape::chosen(&self.program, (self.nodes, lifts()));
        let shape = self.device.wanted_shape().unwrap_or_else(chosen);
        (self.own, self.misshapen) = (None, None);
        if shape == Shape::INTERPRETER {
            return;
        }
        if self.slots() * shape.ctas() > abi::MAX_CTAS {
            let why = format!("a launch has {} CTAs at most", abi::MAX_CTAS);
            self.misshapen = Some((shape, why));
            return;
        }
        let room = (self.device.interpreter()).room_of(shape, self.layout.is_narrow());
        match self.layout.shaped((&self.program, self.allocation), room) {
            Ok(layout) => {
                self.own = Some(Own {
                    layout,
                    clustered: None,
                });
            }
            Err(why) => self.misshapen = Some((shape, why.to_string())),
        }
    }

    /// What the pass's own module is made for.
    fn own_layout(&self) -> &Layout {
        self.own.as_ref().map_or(&self.layout, |own| &own.layout)
    }

    fn ask(&self, any_size: bool) -> Place {
        let clusters = self.device.interpreter().room().clusters;
        let layout = self.own_layout();
        let wanted = Wanted {
            changes: changes(&self.program, layout, clusters),
            shared_bytes: self.own.as_ref().map_or(0, |own| own.layout.shared_bytes),
            any_size,
            room: self.room.clone(),
        };
        self.device.passes().ask(&self.device, wanted)
    }
}
