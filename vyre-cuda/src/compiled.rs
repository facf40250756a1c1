//! Compiled passes: modules of the megakernel that are made for one pass.
//!
//! A session begins with the interpreter, which runs any pass at once. Where a pass is worth it, a module of its own is
//! made beside the runs ([`Modules`]): the megakernel's text with what the pass needs ([`Changes`]), which the driver
//! compiles. Between two runs the session goes over to it. All tables and buffers stay as they are.
//!
//! The driver keeps what it compiled in its own cache, by text, device and driver: 1 GiB by default, or 256 MiB on
//! embedded platforms (`CUDA_CACHE_MAXSIZE`, in bytes, at most 4 GiB), in `~/.nv/ComputeCache` (`CUDA_CACHE_PATH`), from
//! which it drops the oldest; `CUDA_CACHE_DISABLE=1` turns it off.

use crate::code::{MEGAKERNEL_PTX, with_clusters};
use crate::device::Device;
use crate::image::{ITEMS_PER_LANE, Layout, Room};
use crate::module::{Figures, Module};
use crate::ptx::bodies;
use crate::ptx::narrow::rounds;
use crate::splice::{Changes, SpliceError, splice};
use crate::tiers::{Modules, NotMade, Slot};
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};
use vyre_core::dsl::error::RunError;
use vyre_core::plan::footprint::Allocation;
use vyre_core::vir0::module::Program;

/// About what the megakernel's own variables take of a CTA's shared memory.
const OWN_SHARED_BYTES: u32 = 20 * 1024;

/// Lines of PTX that a module may have which is compiled beside runs. The driver takes 85 to 240 microseconds a line, and
/// the end of a process waits for it.
const MOST_LINES: usize = 20_000;

/// The compiled passes of a device, by what decides their text and whether it may have any size.
pub(crate) type Passes = Modules<(Changes, bool), Compiled>;
/// The place of one of them.
pub(crate) type Place = Arc<Slot<(Changes, bool), Compiled>>;

/// A module of one pass, loaded.
#[derive(Debug)]
pub(crate) struct Compiled {
    pub(crate) module: Module,
    lines: usize,
    took: Duration,
}

/// What the module of a pass has instead of the megakernel's own text.
pub(crate) fn changes(program: &Program, layout: &Layout, clusters: bool) -> Changes {
    Changes {
        entry: "vyre_megakernel",
        left_out: layout.unreached(),
        bodies: bodies(program, layout),
        functions: rounds(program, layout, clusters),
        known: Some(layout.known(program)),
    }
}

/// The module of a pass for a large GPU of compute capability 9.0, as PTX; no GPU is needed for it. `degree`: edges of
/// a node on average.
///
/// # Errors
/// The pass takes more shared memory than there is.
pub fn pass_ptx(program: &Program, degree: f64) -> Result<String, RunError> {
    let room = Room {
        shared_bytes: 227 * 1024 - OWN_SHARED_BYTES,
        clusters: true,
    };
    let degrees = vec![degree; program.topologies.len()];
    let of = (program, Allocation::Separate);
    let layout = Layout::new(of, room, &degrees, ITEMS_PER_LANE);
    let layout = layout.map_err(|e| RunError::Backend(e.to_string()))?;
    let changes = changes(program, &layout, room.clusters);
    text(&changes, room.clusters).map_err(|e| RunError::Backend(e.to_string()))
}

/// The text of a pass's module.
pub(crate) fn text(changes: &Changes, clusters: bool) -> Result<String, SpliceError> {
    match clusters {
        true => splice(&with_clusters(MEGAKERNEL_PTX), changes),
        false => splice(MEGAKERNEL_PTX, changes),
    }
}

/// Refuses a module that has too many lines.
fn allowed(lines: usize, any_size: bool) -> Result<(), NotMade> {
    match any_size || lines <= MOST_LINES {
        true => Ok(()),
        false => Err(NotMade::TooLarge {
            lines,
            most: MOST_LINES,
        }),
    }
}

impl Compiled {
    /// The place where the module of a pass is, or will be. `any_size`: however long the driver takes.
    pub(crate) fn ask(device: &Arc<Device>, changes: Changes, any_size: bool) -> Place {
        let compiling = Arc::clone(device);
        let compile = move |key: &(Changes, bool)| Compiled::new(&compiling, key);
        device.passes().ask((changes, any_size), compile)
    }

    /// Makes the text and has the driver compile it.
    fn new(device: &Arc<Device>, key: &(Changes, bool)) -> Result<Compiled, NotMade> {
        let (changes, any_size) = key;
        let started = Instant::now();
        let clusters = device.interpreter().room().clusters;
        let text = text(changes, clusters).map_err(|e| e.to_string())?;
        let lines = text.lines().count();
        allowed(lines, *any_size)?;
        Ok(Compiled {
            module: device.compile(&text).map_err(|e| e.to_string())?,
            lines,
            took: started.elapsed(),
        })
    }
}

impl fmt::Display for Compiled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Figures {
            registers,
            local_bytes,
            shared_bytes,
        } = self.module.figures();
        write!(
            f,
            "compiled ({} lines of PTX in {:.2} s, {registers} registers, {local_bytes} bytes of local memory, \
             {shared_bytes} of shared memory)",
            self.lines,
            self.took.as_secs_f64()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::allowed;

    #[test]
    fn a_module_that_takes_the_driver_too_long_is_refused_by_its_lines() {
        assert_eq!(allowed(20_000, false), Ok(()));
        assert_eq!(allowed(62_351, true), Ok(()));
        let refused = allowed(20_001, false).expect_err("it is too large");
        let says = "its module has 20001 lines of PTX; at most 20000 are compiled beside runs";
        assert_eq!(refused.to_string(), says);
    }
}
