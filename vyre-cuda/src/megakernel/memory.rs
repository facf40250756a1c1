//! A session's memory on a device: [`Needs`] says how much a state takes, [`SessionMemory`] has that of the session's own
//! runs.

use super::arena::{AT_ONCE, ArenaPlan, Manner, Packing};
use super::graph::{Graph, PartitionMemory, up};
use super::pass::Pass;
use super::record::is_result;
use crate::buffer::{Event, Memory};
use crate::device::{Device, DeviceError};
use crate::image::Control;
use std::num::NonZeroU64;
use std::ops::Range;
use std::sync::Arc;
use vyre_core::dsl::error::RunError;
use vyre_core::plan::arena::Filling;
use vyre_core::plan::compact::{self, Slot};
use vyre_core::plan::cuda::{ALIGN, Graphs, Shape};
use vyre_core::plan::footprint::Allocation;
use vyre_core::plan::session::Counters;
use vyre_core::vir0::module::{Program, Role};
use vyre_core::vir0::sizes::Sizes;

/// What a session has on a device for itself: its topology, and the state of the runs that have all CTAs, one after
/// another.
#[derive(Debug)]
pub(super) struct SessionMemory {
    /// Of the topology and of the last run.
    pub(super) sizes: Sizes,
    pub(super) graphs: Vec<Graph>,
    /// What of them decides about memory.
    pub(super) found: Graphs,
    /// By wave: how its neighbour loop is shared out.
    pub(super) partitions: Vec<Option<PartitionMemory>>,
    /// Of the buffers that are neither in the slab nor in the arena.
    pub(super) buffers: Vec<Option<Memory>>,
    /// What scratch and frontiers share.
    pub(super) arena: Option<Memory>,
    /// Frontiers, then lists.
    pub(super) queues: Vec<Queue>,
    pub(super) needs: Needs,
    /// Tables, then the slab: control words and small results.
    pub(super) image: Memory,
    /// The device had no memory for what lists hold in the slab.
    pub(super) no_room_for_lists: bool,
    /// For inputs that are uploaded while a launch runs.
    pub(super) ahead: Option<Ahead>,
    /// Three bitmaps of the nodes, for waves that pull; none before one can.
    pub(super) bits: Option<Memory>,
}

/// A second set of inputs.
#[derive(Debug)]
pub(super) struct Ahead {
    /// By buffer.
    pub(super) second: Vec<Option<Memory>>,
    /// By set: its inputs are there; the last launch that uses it is over.
    pub(super) ready: [Event; 2],
    pub(super) used: [Event; 2],
}

/// Stamps from which on they start over.
const STALE: u32 = 1 << 31;

/// Memory of a frontier: pairs of items, edge ranges and hubs, unless that is in the arena; stamps of a unique one. Of
/// a list, and of a frontier whose items are not nodes: an array for each field.
#[derive(Debug)]
pub(super) struct Queue {
    pub(super) memory: Option<Memory>,
    pub(super) stamps: Option<Memory>,
    pub(super) shape: Shape,
    /// Last stamp that a run used.
    pub(super) stamp: u32,
}

/// Bytes of buffers, sizes of frontiers and lists, where what comes back in one copy lies behind the control words, and
/// what shares memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Needs {
    pub(super) buffers: Vec<u64>,
    /// Buffers, then, in a batch, lists.
    pub(super) packed: Vec<Option<u64>>,
    /// Where the launch packs what lists hold.
    pub(super) lists: Option<ListsSlab>,
    /// Where the slab has buffers: from the end of the control words to the last byte of the last buffer.
    pub(super) fixed: Range<u64>,
    pub(super) slab_bytes: u64,
    /// Frontiers, then lists.
    pub(super) shapes: Vec<Shape>,
    pub(super) arena: Option<ArenaPlan>,
}

/// Where the slab has what lists hold, and up to which size of a field's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ListsSlab {
    pub(super) at: u64,
    pub(super) pack_up_to_bytes: u64,
}

fn index_len(name: &str, len: Option<u64>) -> Result<u64, RunError> {
    match len {
        Some(len) if len > u64::from(u32::MAX) => Err(RunError::TooLong {
            name: name.to_owned(),
            len,
        }),
        len => Ok(len.unwrap_or(0)),
    }
}

impl Needs {
    pub(super) fn new(
        program: &Program,
        (sizes, graphs): (&Sizes, &Graphs),
        manner: Manner<'_>,
    ) -> Result<Needs, RunError> {
        let mut needs = Needs {
            shapes: shapes_of(program, sizes, graphs),
            ..Needs::default()
        };
        let align = |n| NonZeroU64::new(n).expect("alignments are not 0");
        let in_place = manner.packing == Packing::All;
        let mut slots = Vec::new();
        for (i, buffer) in program.buffers.iter().enumerate() {
            let len = index_len(buffer.field(), sizes.resolve(program, buffer.extent))?;
            let bytes = len * buffer.scalar.size_bytes();
            needs.buffers.push(bytes);
            if is_result(buffer.role) {
                slots.push(Slot {
                    align_bytes: compact::UNIT_BYTES,
                    ..Slot::new(i as u32, bytes, bytes)
                });
            }
        }
        for wave in &program.waves {
            if let Some(len) = wave.domain.count() {
                index_len(&wave.name, sizes.resolve(program, len))?;
            }
        }
        for (i, list) in program.lists.iter().enumerate() {
            index_len(&list.name, sizes.resolve(program, list.capacity))?;
            if list.output && in_place {
                let bytes = needs.shapes[program.frontiers.len() + i].items_bytes();
                slots.push(Slot {
                    align_bytes: align(ALIGN),
                    ..Slot::new((program.buffers.len() + i) as u32, bytes, bytes)
                });
            }
        }
        let pack_up_to_bytes = match manner.packing {
            Packing::All => u64::MAX,
            Packing::UpTo { bytes, .. } => bytes,
        };
        let plan = compact::plan(&slots, pack_up_to_bytes)
            .map_err(|e| RunError::Backend(e.to_string()))?;
        let control = Control::new(program).bytes.next_multiple_of(ALIGN);
        needs.packed = vec![None; program.buffers.len() + program.lists.len()];
        for record in &plan.packed {
            needs.packed[record.slot as usize] = Some(control + record.offset_bytes);
        }
        needs.fixed = control..control + plan.compact_bytes;
        // Buffers are filled by whole units.
        needs.slab_bytes = needs.fixed.end.next_multiple_of(compact::UNIT_BYTES.get());
        if let Packing::UpTo { bytes, lists: true } = manner.packing {
            let room = compact::lists_bytes(program, sizes, bytes);
            needs.lists = (room > 0).then_some(ListsSlab {
                at: needs.slab_bytes,
                pack_up_to_bytes: bytes,
            });
            needs.slab_bytes = needs.slab_bytes.saturating_add(room);
        }
        if manner.allocation == Allocation::Shared {
            let of = (needs.buffers.as_slice(), needs.shapes.as_slice());
            needs.arena = Some(ArenaPlan::new(program, of, manner));
        }
        Ok(needs)
    }

    /// Bytes of a buffer that has memory of its own.
    pub(super) fn own_bytes(&self, program: &Program, buffer: usize) -> Option<u64> {
        let shares = self.arena.is_some() && program.buffers[buffer].role == Role::Scratch;
        let own = self.packed[buffer].is_none() && !shares;
        own.then(|| self.buffers[buffer])
    }

    /// The same of a frontier or list, without stamps.
    pub(super) fn own_queue_bytes(&self, program: &Program, queue: usize) -> Option<u64> {
        let own = match queue.checked_sub(program.frontiers.len()) {
            Some(list) => self.packed[program.buffers.len() + list].is_none(),
            None => self.arena.is_none(),
        };
        own.then(|| self.shapes[queue].passing_bytes())
    }

    pub(super) fn arena_bytes(&self) -> u64 {
        self.arena.as_ref().map_or(0, ArenaPlan::bytes)
    }

    /// When each buffer is filled that has to be.
    pub(super) fn fillings(&self) -> Vec<Option<Filling>> {
        let at = |i: usize| match &self.arena {
            Some(plan) if self.packed[i].is_none() => plan.buffers[i].map(|(_, f)| f),
            _ => Some(AT_ONCE),
        };
        (0..self.buffers.len()).map(at).collect()
    }
}

/// Shapes of queues; empty where a size is not known before the first run.
fn shapes_of(program: &Program, sizes: &Sizes, graphs: &Graphs) -> Vec<Shape> {
    let queues = program.queues().map(|(id, _)| id);
    queues
        .map(|id| Shape::of(program, id, (sizes, graphs)))
        .collect()
}

/// Refuses what does not fit before anything is allocated.
pub(super) fn room_for(device: &Device, what: &str, bytes: u64) -> Result<(), RunError> {
    let (mut free, total) = device.memory_bytes()?;
    if bytes > free && device.give_up() {
        (free, _) = device.memory_bytes()?;
    }
    if bytes > free {
        return Err(RunError::Memory {
            what: format!(
                "{what} does not fit on {}{}",
                device.name(),
                next_step(bytes > total)
            ),
            needed_bytes: bytes,
            available_bytes: free,
        });
    }
    Ok(())
}

/// What helps where a device has too little memory, or too little is free.
fn next_step(is_too_small: bool) -> &'static str {
    match is_too_small {
        true => {
            ": with a budget (`Runtime::with_memory`) buffers share memory that are not used at once, and `Runtime::native()` \
            takes the host's"
        }
        false => {
            " beside what is there: drop sessions, or end other programs (`nvidia-smi` lists them)"
        }
    }
}

impl SessionMemory {
    /// A buffer's own memory.
    pub(super) fn memory_of(&self, buffer: usize) -> &Memory {
        self.buffers[buffer]
            .as_ref()
            .expect("buffers outside the slab have memory")
    }

    /// Bytes that are allocated for a run that needs this.
    fn more_bytes(&self, pass: &Pass, needs: &Needs) -> u64 {
        let program = &*pass.program;
        let held = |m: &Option<Memory>| m.as_ref().map_or(0, Memory::bytes);
        let mut more = 0u64;
        for (i, memory) in self.buffers.iter().enumerate() {
            if let Some(bytes) = needs.own_bytes(program, i)
                && (memory.is_none() || bytes > held(memory))
            {
                more = more.saturating_add(up(bytes));
            }
        }
        if self.image_changes(pass, needs) {
            more = more.saturating_add(up(self.image_bytes(pass, needs)));
        }
        for (i, shape) in needs.shapes.iter().enumerate() {
            if self.grows(program, needs, i) {
                let own = needs.own_queue_bytes(program, i).map_or(0, up);
                more = more.saturating_add(own + shape.stamps_bytes());
            }
        }
        if needs.arena_bytes() > held(&self.arena) {
            more = more.saturating_add(needs.arena_bytes());
        }
        more
    }

    /// Whether the image is made anew. What lists have in it goes when there is no room for it any more.
    fn image_changes(&self, pass: &Pass, needs: &Needs) -> bool {
        let no_lists = needs.lists.is_none() && self.needs.lists.is_some();
        no_lists || self.image_bytes(pass, needs) > self.image.bytes()
    }

    /// Whether a frontier or list is made anew.
    fn grows(&self, program: &Program, needs: &Needs, queue: usize) -> bool {
        let own = needs.own_queue_bytes(program, queue);
        self.queues.get(queue).is_none_or(|q| {
            needs.shapes[queue].capacity > q.shape.capacity || own.is_some() && q.memory.is_none()
        })
    }

    /// Gives memory to what a run needs; refused before anything is allocated.
    pub(super) fn take(
        &mut self,
        pass: &Pass,
        counts: &mut Counters,
        needs: Needs,
    ) -> Result<(), RunError> {
        let Pass {
            device, program, ..
        } = pass;
        let held = |m: &Option<Memory>| m.as_ref().map_or(0, Memory::bytes);
        let image_bytes = self.image_bytes(pass, &needs);
        let image_changes = self.image_changes(pass, &needs);
        let more = self.more_bytes(pass, &needs);
        if more > 0 {
            room_for(device, "the run", more)?;
            // What is on its way may use what is given up.
            device.synchronize()?;
        }
        for i in 0..self.buffers.len() {
            let Some(bytes) = needs.own_bytes(program, i) else {
                continue;
            };
            if self.buffers[i].is_none() || bytes > held(&self.buffers[i]) {
                self.buffers[i] = Some(Memory::new(device, bytes)?);
            }
        }
        for (i, buffer) in program.buffers.iter().enumerate() {
            let shares = needs.arena.is_some() && buffer.role == Role::Scratch;
            let is_run = buffer.role != Role::Topology && !shares;
            let grown = needs.buffers[i] > self.needs.buffers[i];
            counts.allocations += u64::from(is_run && grown);
        }
        if image_changes {
            self.image = Memory::new(device, image_bytes)?;
        }
        for (i, shape) in needs.shapes.iter().enumerate() {
            if !self.grows(program, &needs, i) {
                continue;
            }
            let own = needs.own_queue_bytes(program, i);
            let queue = Queue::new(device, shape.clone(), own)?;
            match self.queues.get_mut(i) {
                Some(held) => *held = queue,
                None => self.queues.push(queue),
            }
            counts.allocations += u64::from(own.is_some() || i >= program.frontiers.len());
        }
        for queue in &mut self.queues {
            queue.fresh_stamps()?;
        }
        if needs.arena_bytes() > held(&self.arena) {
            self.arena = Some(Memory::new(device, needs.arena_bytes())?);
            counts.allocations += 1;
        }
        // Memory does not shrink.
        let most = |(new, old): (&u64, &u64)| *new.max(old);
        let buffers = needs.buffers.iter().zip(&self.needs.buffers);
        self.needs = Needs {
            buffers: buffers.map(most).collect(),
            ..needs
        };
        Ok(())
    }

    /// What a run of these sizes needs.
    pub(super) fn needs(
        &self,
        pass: &Pass,
        sizes: &Sizes,
        packing: Packing,
    ) -> Result<Needs, RunError> {
        let own = packing != Packing::All;
        let manner = Manner {
            allocation: pass.allocation,
            packing,
            before: self.needs.arena.as_ref().filter(|_| own),
        };
        Needs::new(&pass.program, (sizes, &self.found), manner)
    }

    /// The same of the run that begins, which has no room for what lists hold where the device has none to spare.
    pub(super) fn needs_to_run(
        &mut self,
        pass: &Pass,
        packing: Packing,
    ) -> Result<Needs, RunError> {
        let needs = self.needs(pass, &self.sizes, packing)?;
        let Packing::UpTo { bytes, lists: true } = packing else {
            return Ok(needs);
        };
        let grows = needs.lists.is_some() && self.image_changes(pass, &needs);
        let more = self.more_bytes(pass, &needs);
        self.no_room_for_lists = grows && pass.device.memory_bytes()?.0 < more;
        if self.no_room_for_lists {
            let lists = false;
            return self.needs(pass, &self.sizes, Packing::UpTo { bytes, lists });
        }
        Ok(needs)
    }

    /// Tables and slab.
    fn image_bytes(&self, pass: &Pass, needs: &Needs) -> u64 {
        let tables = pass.layout.tables_bytes().next_multiple_of(ALIGN);
        tables.saturating_add(needs.slab_bytes)
    }

    /// Debug builds do not let a run find in shared memory what the one before left there.
    pub(super) fn poison(&self) -> Result<(), DeviceError> {
        match &self.arena {
            Some(arena) if cfg!(debug_assertions) => arena.set_bytes(0xa5),
            _ => Ok(()),
        }
    }

    /// Frontiers and lists as a run has them; those with memory of their own never get smaller.
    pub(super) fn shapes(&self) -> Vec<Shape> {
        let queues = self.queues.iter().zip(&self.needs.shapes);
        queues
            .map(|(queue, needed)| match queue.memory.is_none() {
                true => needed.clone(),
                false => queue.shape.clone(),
            })
            .collect()
    }
}

impl Queue {
    /// `own`: bytes of its own memory, stamps left out; `None`: that is in the arena.
    pub(super) fn new(
        device: &Arc<Device>,
        shape: Shape,
        own: Option<u64>,
    ) -> Result<Queue, DeviceError> {
        let memory = own.map(|bytes| Memory::new(device, bytes)).transpose()?;
        let stamps = match shape.stamps {
            Some(_) => Some(Memory::new(device, shape.stamps_bytes())?),
            None => None,
        };
        if let Some(stamps) = &stamps {
            stamps.set_bytes(0)?;
        }
        Ok(Queue {
            memory,
            stamps,
            shape,
            stamp: 0,
        })
    }

    /// Starts the stamps over, long before they wrap, or where they are not known.
    pub(super) fn fresh_stamps(&mut self) -> Result<(), DeviceError> {
        if self.stamp < STALE {
            return Ok(());
        }
        if let Some(stamps) = &self.stamps {
            stamps.set_bytes(0)?;
        }
        self.stamp = 0;
        Ok(())
    }

    /// Runs whose end was not seen used some.
    pub(super) fn forget_stamps(&mut self) {
        self.stamp = STALE;
    }
}
