//! What a run is given: arguments are checked and inputs go up, where that pays into a second set of them while the
//! launch before is on the device.

use super::arena::Packing;
use super::graph::up;
use super::launch::Launcher;
use super::memory::{Ahead, SessionMemory};
use super::pass::Pass;
use crate::buffer::{Event, Memory, Ring, slice_bytes};
use crate::device::{Device, DeviceError};
use std::sync::Arc;
use vyre_core::dsl::columns::Slice;
use vyre_core::dsl::error::RunError;
use vyre_core::plan::cuda::ALIGN;
use vyre_core::run::args::{Args, TopologyArgs, check_columns, wrong_length};
use vyre_core::vir0::module::{BufferId, Program, Role};
use vyre_core::vir0::sizes::Sizes;

/// Bytes of each of the two parts that a large column of inputs or results goes through, which several threads fill or
/// empty: worth telling them.
pub(super) const COLUMN_PART_BYTES: usize = 4 << 20;
/// Bytes of each of the two parts that large copies go through.
pub(super) const PART_BYTES: usize = 1 << 20;
/// Inputs from this size on are uploaded while the run before is on the device.
const AHEAD_BYTES: u64 = 64 << 10;

impl SessionMemory {
    /// Checks the arguments, gives memory to what depends on them, uploads the inputs: beside the launch before, when a
    /// set of inputs is named that it does not use.
    pub(super) fn begin(
        &mut self,
        launcher: &mut Launcher,
        args: &Args<'_>,
        (set, packing): (Option<usize>, Packing),
    ) -> Result<(), RunError> {
        let Launcher {
            pass, ring, counts, ..
        } = launcher;
        let device = &pass.device;
        self.sizes = check_args(&pass.program, &self.sizes, args)?;
        let needs = self.needs_to_run(pass, packing)?;
        self.take(pass, counts, needs)?;
        self.poison()?;
        let tables = pass.layout.tables_bytes().next_multiple_of(ALIGN);
        if let (Some(set), Some(ahead)) = (set, &self.ahead) {
            ahead.used[set].hold(device.copies())?;
        }
        let inputs = args.inputs.iter();
        for (id, column) in inputs.filter(|(id, _)| !pass.overwritten.contains(id)) {
            let (i, bytes) = (id.index(), slice_bytes(column));
            match (self.needs.packed[i], set) {
                (Some(at), _) => self.image.upload(tables + at, bytes)?,
                (None, None) if bytes.len() < PART_BYTES => self.memory_of(i).upload(0, bytes)?,
                (None, set) => {
                    let part_bytes = COLUMN_PART_BYTES.min(bytes.len());
                    let ring = ring_for(ring, device, part_bytes)?;
                    let mut upload = match set {
                        None => ring.upload_by(device.launches(), self.memory_of(i), 0),
                        Some(set) => ring.upload(self.input_of(i, set), 0),
                    };
                    upload.write(bytes)?;
                    let ahead = self.ahead.as_ref().filter(|_| set.is_some());
                    upload.end(ahead.zip(set).map(|(ahead, set)| &ahead.ready[set]))?;
                    if set.is_some() {
                        counts.ahead_bytes += column.bytes();
                    }
                }
            }
            counts.refresh_bytes += column.bytes();
        }
        if let (Some(set), Some(ahead)) = (set, &self.ahead) {
            ahead.ready[set].hold(device.launches())?;
        }
        counts.refresh_bytes += 8 * args.scalars.len() as u64;
        Ok(())
    }

    /// An input's memory in one of the two sets.
    pub(super) fn input_of(&self, buffer: usize, set: usize) -> &Memory {
        let second = self.ahead.as_ref().filter(|_| set == 1);
        match second.and_then(|a| a.second[buffer].as_ref()) {
            Some(memory) => memory,
            None => self.memory_of(buffer),
        }
    }

    /// Makes a second set of the inputs, if these are worth it and there is room.
    pub(super) fn make_ahead(&mut self, pass: &Pass, args: &Args<'_>) -> Result<bool, RunError> {
        let inputs = args.inputs.iter().map(|(_, column)| column.bytes());
        if inputs.sum::<u64>() < AHEAD_BYTES {
            return Ok(false);
        }
        let Ok(sizes) = check_args(&pass.program, &self.sizes, args) else {
            return Ok(false);
        };
        let held = self.ahead.take();
        let mut ahead = match held {
            Some(ahead) => ahead,
            None => {
                let event = || Event::new(&pass.device);
                Ahead {
                    second: self.buffers.iter().map(|_| None).collect(),
                    ready: [event()?, event()?],
                    used: [event()?, event()?],
                }
            }
        };
        let mut more = Vec::new();
        for (i, buffer) in pass.program.buffers.iter().enumerate() {
            if matches!(buffer.role, Role::Input | Role::InOut) {
                let len = sizes.resolve(&pass.program, buffer.extent).unwrap_or(0);
                let bytes = up(len * buffer.scalar.size_bytes());
                let bytes = bytes.max(self.buffers[i].as_ref().map_or(0, Memory::bytes));
                if ahead.second[i].as_ref().is_none_or(|m| m.bytes() < bytes) {
                    more.push((i, bytes));
                }
            }
        }
        let more_bytes = more.iter().map(|(_, bytes)| bytes).sum::<u64>();
        let fits = more.is_empty() || more_bytes <= pass.device.memory_bytes()?.0;
        if fits {
            for (i, bytes) in more {
                ahead.second[i] = Some(Memory::new(&pass.device, bytes)?);
            }
        }
        self.ahead = Some(ahead);
        Ok(fits)
    }
}

/// The ring, made anew if its parts are smaller than that.
pub(super) fn ring_for<'r>(
    ring: &'r mut Option<Ring>,
    device: &Arc<Device>,
    part_bytes: usize,
) -> Result<&'r mut Ring, DeviceError> {
    let held = match ring.take() {
        Some(held) if held.part_bytes() >= part_bytes => held,
        _ => Ring::new(device, part_bytes)?,
    };
    Ok(ring.insert(held))
}

/// A column that the caller must give, of the buffer's type.
fn given(
    program: &Program,
    sizes: &Sizes,
    id: BufferId,
    columns: &[(BufferId, Slice<'_>)],
) -> Result<(), RunError> {
    let buffer = &program.buffers[id.index()];
    let expected = sizes.resolve(program, buffer.extent).unwrap_or(0);
    match columns.iter().find(|(b, _)| *b == id) {
        Some((_, column)) if column.scalar() != buffer.scalar => Err(RunError::Invalid(format!(
            "`{}` holds {}, not {}",
            buffer.field(),
            buffer.scalar.name(),
            column.scalar().name()
        ))),
        None if expected != 0 => Err(wrong_length(program, sizes, id, 0)),
        Some(_) | None => Ok(()),
    }
}

/// Checks a run's arguments, and gives the sizes with its scalars.
pub(super) fn check_args(
    program: &Program,
    sizes: &Sizes,
    args: &Args<'_>,
) -> Result<Sizes, RunError> {
    if args.scalars.len() != program.scalars.len() {
        return Err(RunError::Length {
            name: "scalars".to_owned(),
            expected: program.scalars.len() as u64,
            size: String::new(),
            actual: args.scalars.len() as u64,
        });
    }
    let sizes = Sizes {
        scalars: args.scalars.clone(),
        ..sizes.clone()
    };
    check_columns(program, &sizes, &args.inputs)?;
    for (i, buffer) in program.buffers.iter().enumerate() {
        if matches!(buffer.role, Role::Input | Role::InOut) {
            given(program, &sizes, BufferId(i as u16), &args.inputs)?;
        }
    }
    Ok(sizes)
}

pub(super) fn check_topology(
    program: &Program,
    sizes: &Sizes,
    topology: &TopologyArgs<'_>,
) -> Result<(), RunError> {
    check_columns(program, sizes, &topology.columns)?;
    for (i, buffer) in program.buffers.iter().enumerate() {
        if buffer.role == Role::Topology {
            given(program, sizes, BufferId(i as u16), &topology.columns)?;
        }
    }
    Ok(())
}
