//! Steps with programmatic dependent launch: a step's CTAs are on the device, and wait, while the step before runs.
//!
//! Each step lets the next one come as soon as all of its own CTAs are there, and waits for the end of the one before
//! it reads anything that this one wrote (kernels/rivals.cuh), so that steps still follow each other one by one. The
//! host goes ahead of the device, which tells it through page-locked memory how far it is: a copy between two steps
//! would keep them from overlapping. Steps after the last one find that it is done, and end.

use super::graph::Graph;
use super::{PTX, Rival, RivalError, THREADS, Way, at};
use std::time::Instant;
use vyre::cuda::Device;
use vyre::cuda::cudarc::driver::sys;

/// Steps of a graph of some: multiples of the slots, so that each launch begins with the same turn.
pub(super) const BATCHES: [u32; 2] = [8, 32];
/// Steps that the host goes ahead at least, which are few where a search has few; as many as have begun then, and at
/// most.
const LEAST_AHEAD: u32 = 4;
const MOST_AHEAD: u32 = 48;

/// Oldest driver that takes its instructions, as `cuDriverGetVersion` counts.
const DRIVER: i32 = 12_010;

/// Whether a device and its driver have it.
pub(super) fn available(device: &Device) -> bool {
    device.capability() >= (9, 0) && device.driver_version() >= DRIVER
}

/// The kernels with its instructions, which are comments in the text for other devices.
pub(super) fn text() -> String {
    PTX.replacen(".version 7.0", ".version 8.1", 1)
        .replacen(".target sm_80", ".target sm_90", 1)
        .replace("//sm_90 ", "")
}

impl Rival<'_> {
    /// Runs all steps: `fixed` of them, or until the device says that it is done.
    pub(super) fn dependent(&mut self, fixed: Option<u32>) -> Result<(), RivalError> {
        self.told.as_mut_slice().fill(0);
        self.launch_begin()?;
        if let Some(steps) = fixed {
            let given = match &self.graph {
                Some(graph) => graph.launch(self.kernels.device.stream()),
                None => (0..steps).try_for_each(|turn| self.launch_dependent(turn)),
            };
            return given;
        }
        let mut launched = 0;
        let mut waited = None;
        loop {
            let (begun, done) = self.told();
            if done {
                return Ok(());
            }
            if launched < begun.saturating_add(begun.clamp(LEAST_AHEAD, MOST_AHEAD)) {
                match &self.graph {
                    Some(graph) => {
                        graph.launch(self.kernels.device.stream())?;
                        launched += self.batch;
                    }
                    None => {
                        self.launch_dependent(launched)?;
                        launched += 1;
                    }
                }
                waited = None;
                continue;
            }
            std::hint::spin_loop();
            // Where nothing is left to run, nothing more will be told.
            let since = *waited.get_or_insert_with(Instant::now);
            if since.elapsed().as_millis() > 100 {
                self.idle.record()?;
                self.idle.wait()?;
                if self.told() == (begun, false) {
                    return Err(RivalError::NoEnd(begun));
                }
                waited = None;
            }
        }
    }

    /// The steps of one launch of a graph: all of them where their number is known, none where there is one.
    pub(super) fn dependent_graph(&self) -> Result<Option<Graph>, RivalError> {
        debug_assert_eq!(self.way, Way::DependentGraph);
        let steps = match self.fixed_steps() {
            Some(1) => return Ok(None),
            Some(steps) => steps,
            None => self.batch,
        };
        let stream = self.kernels.device.stream();
        let graph = Graph::captured(stream, || {
            (0..steps).try_for_each(|turn| self.launch_dependent(turn))
        })?;
        Ok(Some(graph))
    }

    /// Steps begun, and whether all is done.
    fn told(&self) -> (u32, bool) {
        // SAFETY: page-locked memory of `self`, aligned to pages, which the device writes eight bytes at a time.
        let word = unsafe { self.told.as_slice().as_ptr().cast::<u64>().read_volatile() };
        (word as u32, word >> 32 != 0)
    }

    fn launch_dependent(&self, mut turn: u32) -> Result<(), RivalError> {
        let mut attribute = sys::CUlaunchAttribute {
            id: sys::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
            pad: [0; 4],
            value: sys::CUlaunchAttributeValue { pad: [0; 64] },
        };
        attribute.value.programmaticStreamSerializationAllowed = 1;
        let config = sys::CUlaunchConfig {
            gridDimX: self.ctas,
            gridDimY: 1,
            gridDimZ: 1,
            blockDimX: THREADS,
            blockDimY: 1,
            blockDimZ: 1,
            sharedMemBytes: 0,
            hStream: self.kernels.device.stream(),
            attrs: &mut attribute,
            numAttrs: 1,
        };
        let (mut params, mut control, mut no_loop) = (self.params, self.control.address(), 0u64);
        let params = &mut [
            at(&mut params),
            at(&mut control),
            at(&mut turn),
            at(&mut no_loop),
        ];
        // SAFETY: the parameters are those of the kernel, in its order, and point to live values; the memory they name
        // belongs to `self`, and every run ends with a wait for the stream.
        unsafe {
            sys::cuLaunchKernelEx(
                &config,
                self.step,
                params.as_mut_ptr(),
                std::ptr::null_mut(),
            )
        }
        .result()
        .map_err(RivalError::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A step that did not wait would let the next one read what the step before it has not written yet.
    #[test]
    fn every_step_lets_the_next_one_come_and_waits_for_the_last() {
        assert!(PTX.contains("//sm_90 griddepcontrol."));
        let text = text();
        assert!(!text.contains("//sm_90"));
        let mut steps = 0;
        for entry in text.split(".entry ").skip(1) {
            let name = entry.split('(').next().unwrap_or_default();
            let place = |what: &str| entry.find(&format!("griddepcontrol.{what};"));
            let (lets, waits) = (place("launch_dependents"), place("wait"));
            match name.rsplit_once('_') {
                Some(("saxpy" | "hash", "step")) => assert_eq!((lets, waits), (None, None)),
                Some((_, "step")) => {
                    steps += 1;
                    assert!(lets.is_some() && lets < waits, "{name}");
                    let before = entry[..waits.unwrap_or_default()].lines().map(str::trim);
                    let touches = |line: &str| {
                        ["ld.", "st.", "atom.", "red."]
                            .iter()
                            .any(|op| line.starts_with(op))
                            && !line.starts_with("ld.param.")
                    };
                    assert_eq!(before.filter(|line| touches(line)).count(), 0, "{name}");
                }
                Some((_, "begin")) => assert!(lets.is_some() && waits.is_none(), "{name}"),
                _ => assert_eq!((lets, waits), (None, None), "{name}"),
            }
        }
        assert_eq!(steps, 5);
    }
}
