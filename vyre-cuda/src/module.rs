//! Code that is loaded on a device: the megakernel that interprets every pass ([`Interpreter`]), and the megakernels of
//! compiled passes (`compiled`). Both are a [`Module`], which is what launches are of.

use crate::code::{Code, Cubin, NoCubin};
use crate::device::{Context, DeviceError};
use crate::driver::{self, Driver, Function, Grid};
use crate::image::Room;
use crate::probe::Probe;
use crate::shape::Shape;
use cudarc::driver::sys;
use std::sync::Arc;

/// The entry of every module that runs passes.
const MEGAKERNEL: &str = "vyre_megakernel";

/// The other kernel of the interpreter's module.
const SYMMETRIC: &str = "vyre_symmetric";

/// Shared memory that the system takes of each CTA.
const RESERVED_BYTES: u32 = 1024;

/// Shared memory that modules of passes without narrow rounds declare, at most.
const DECLARED_BYTES: u32 = 1024;

/// What each CTA has where a multiprocessor runs those of a shape in the place of one with this room, which declares
/// `own_bytes` beside it. So does each of the others where they have narrow rounds.
pub(crate) fn room_of(one: Room, own_bytes: u32, of: (Shape, bool)) -> Room {
    let (each, taken) = share_of(one, own_bytes, of);
    Room {
        shared_bytes: each.saturating_sub(taken.iter().sum()) / 128 * 128,
        shape: of.0,
        ..one
    }
}

/// Such a CTA's part of the multiprocessor, and what the system and the module's own variables take of it.
pub(crate) fn share_of(
    one: Room,
    own_bytes: u32,
    (shape, is_narrow): (Shape, bool),
) -> (u32, [u32; 2]) {
    let all = one.shared_bytes + own_bytes + RESERVED_BYTES;
    let declared = if is_narrow {
        own_bytes
    } else {
        own_bytes.min(DECLARED_BYTES)
    };
    (all / shape.ctas(), [RESERVED_BYTES, declared])
}

/// What the compiler made of a megakernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Figures {
    /// Registers of a lane.
    pub(crate) registers: u32,
    /// Local memory of a lane: what does not fit in registers, and the stack.
    pub(crate) local_bytes: u32,
    /// Shared memory of a CTA, beside what a launch asks for.
    pub(crate) shared_bytes: u32,
}

/// A module with a megakernel, which is looked for once. It is unloaded when nothing names it any more: whoever launches
/// it keeps it until the launch was waited for.
#[derive(Debug)]
pub(crate) struct Module {
    loaded: Loaded,
    megakernel: Function,
    figures: Figures,
    room: Room,
    /// CTAs that run on a multiprocessor: as many as it was made for, or fewer where no more fit.
    ctas: u32,
}

/// Code that a device has; it is unloaded when this is dropped.
#[derive(Debug)]
struct Loaded {
    context: Arc<Context>,
    handle: driver::Module,
}

impl Loaded {
    /// Has the driver load or compile something.
    fn new(
        context: &Arc<Context>,
        load: impl FnOnce(&dyn Driver) -> Result<driver::Module, DeviceError>,
    ) -> Result<Loaded, DeviceError> {
        Ok(Loaded {
            handle: load(context.enter()?)?,
            context: Arc::clone(context),
        })
    }

    fn function(&self, name: &str) -> Result<Function, DeviceError> {
        self.context.enter()?.function(self.handle, name)
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        if let Ok(driver) = self.context.enter() {
            // SAFETY: whoever launched something of it has waited for that, and has let go of it. An error at this point
            // has no taker.
            let _ = unsafe { driver.unload(self.handle) };
        }
    }
}

impl Module {
    /// Has the driver compile the megakernel of a pass, or find it in its cache. Runs of others go on meanwhile. Its CTAs
    /// can have as much as `room` says; those of another shape than the interpreter's do have that much.
    ///
    /// # Errors
    /// [`DeviceError::Compile`] with what the compiler says; if its CTAs cannot have that much.
    pub(crate) fn compile(
        context: &Arc<Context>,
        ptx: &str,
        room: Room,
    ) -> Result<Module, DeviceError> {
        let loaded = Loaded::new(context, |driver| driver.compile(ptx))?;
        let mut module = Module::new(loaded, |_| room)?;
        if room.shape != Shape::INTERPRETER {
            let one = module.grid(1, room.shared_bytes, 1);
            let fit = module.loaded.context.enter()?.active_ctas(one)?;
            module.ctas = room.shape.ctas().min(fit).max(1);
        }
        Ok(module)
    }

    /// `room`: what CTAs are to have, of a megakernel with these figures.
    fn new(loaded: Loaded, room: impl FnOnce(Figures) -> Room) -> Result<Module, DeviceError> {
        let megakernel = loaded.function(MEGAKERNEL)?;
        let driver = loaded.context.enter()?;
        let figures = figures(driver, megakernel)?;
        let room = room(figures);
        use sys::CUfunction_attribute_enum as attribute;
        let shared = attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        driver.set_function_attribute(megakernel, shared, room.shared_bytes as i32)?;
        if room.clusters {
            let clusters = attribute::CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED;
            driver.set_function_attribute(megakernel, clusters, 1)?;
        }
        Ok(Module {
            loaded,
            megakernel,
            figures,
            room,
            ctas: room.shape.ctas(),
        })
    }

    /// What the compiler made of its megakernel.
    pub(crate) fn figures(&self) -> Figures {
        self.figures
    }

    /// The shape of its CTAs, and how many of them run on a multiprocessor.
    pub(crate) fn shape(&self) -> (Shape, u32) {
        (self.room.shape, self.ctas)
    }

    /// A launch of the megakernel: all CTAs together, with this much shared memory each, in clusters of `cluster`.
    pub(crate) fn grid(&self, ctas: u32, shared_bytes: u32, cluster: u32) -> Grid {
        Grid {
            function: self.megakernel,
            ctas,
            threads: self.room.shape.threads(),
            shared_bytes,
            cooperative: true,
            cluster,
        }
    }

    /// How many of `most` CTAs are resident in whole clusters of `cluster`, with this much shared memory each; 0 without
    /// clusters.
    pub(crate) fn clustered_ctas(
        &self,
        most: u32,
        shared_bytes: u32,
        cluster: u32,
    ) -> Result<u32, DeviceError> {
        if !self.room.clusters {
            return Ok(0);
        }
        let most = most / cluster * cluster;
        let grid = self.grid(most, shared_bytes, cluster);
        // Not every device has clusters of more than eight: that is no error.
        match self.loaded.context.enter()?.active_clusters(grid) {
            Err(DeviceError::Driver { .. }) if cluster > 8 => Ok(0),
            asked => Ok(most.min(asked? * cluster)),
        }
    }
}

fn figures(driver: &dyn Driver, megakernel: Function) -> Result<Figures, DeviceError> {
    let get = |what| {
        let got = driver.function_attribute(megakernel, what);
        got.map(|value| value as u32)
    };
    use sys::CUfunction_attribute_enum as attribute;
    Ok(Figures {
        registers: get(attribute::CU_FUNC_ATTRIBUTE_NUM_REGS)?,
        local_bytes: get(attribute::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)?,
        shared_bytes: get(attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?,
    })
}

/// The module of every device: its megakernel runs any pass.
#[derive(Debug)]
pub(crate) struct Interpreter {
    module: Module,
    symmetric: Function,
    code: Code,
}

impl Interpreter {
    /// Loads a cubin that was unpacked, or has the driver compile the text where there is none, or it is not taken.
    ///
    /// # Errors
    /// [`DeviceError::Compile`] with what the compiler says.
    pub(crate) fn load(
        context: &Arc<Context>,
        probe: &Probe,
        cubin: Result<(&'static Cubin, Vec<u8>), NoCubin>,
    ) -> Result<Interpreter, DeviceError> {
        let machine_code = cubin.and_then(|(cubin, elf)| {
            let loaded = Loaded::new(context, |driver| driver.load(&elf));
            let loaded = loaded.map_err(|e| cubin.refused(e.to_string()))?;
            Ok((loaded, cubin.code()))
        });
        let (loaded, code) = match machine_code {
            Ok(machine_code) => machine_code,
            Err(why) => {
                let text = probe.target().text();
                let loaded = Loaded::new(context, |driver| driver.compile(&text))?;
                (loaded, Code::Ptx(why))
            }
        };
        let module = Module::new(loaded, |figures| Room {
            shared_bytes: probe.shared_bytes - figures.shared_bytes,
            clusters: probe.clusters,
            shape: Shape::INTERPRETER,
        })?;
        Ok(Interpreter {
            symmetric: module.loaded.function(SYMMETRIC)?,
            module,
            code,
        })
    }

    /// What launches are of.
    pub(crate) fn module(&self) -> &Module {
        &self.module
    }

    /// What a CTA can have: layouts are made for it.
    pub(crate) fn room(&self) -> Room {
        self.module.room
    }

    /// What a CTA of a pass's own module can have. `is_narrow`: it has narrow rounds.
    pub(crate) fn room_of(&self, shape: Shape, is_narrow: bool) -> Room {
        let own_bytes = self.module.figures.shared_bytes;
        room_of(self.module.room, own_bytes, (shape, is_narrow))
    }

    /// Where it comes from.
    pub(crate) fn code(&self) -> &Code {
        &self.code
    }

    /// A launch of the kernel that finds out whether a graph is its own reverse. Its arguments are the addresses of
    /// offsets and targets, the numbers of nodes and edges, and the address of a word that is cleared if it is not, or
    /// if the targets of a node do not ascend.
    pub(crate) fn symmetric(&self, edges: u32, multiprocessors: u32) -> Grid {
        Grid {
            function: self.symmetric,
            ctas: edges.div_ceil(8 * 1024).clamp(1, multiprocessors * 8),
            threads: 256,
            shared_bytes: 0,
            cooperative: false,
            cluster: 1,
        }
    }
}
