//! The tables of a run: where everything of a state lies ([`Places`]), and the image that tells the megakernel.

use super::arena::AT_ONCE;
use super::graph::Graph;
use super::memory::SessionMemory;
use super::pass::Pass;
use super::record::fields_of;
use crate::abi;
use crate::buffer::Memory;
use crate::image::{Control, FRONTIER_CONTROL_BYTES, Layout, Ranges, Run, Slab, Turn, records_of};
use vyre_core::plan::arena::Filling;
use vyre_core::plan::cuda::{ALIGN, Shape, bitmap_bytes};
use vyre_core::vir0::module::{ConstantId, Extent, FixpointId, Program, Role};
use vyre_core::vir0::scalar::Scalar;
use vyre_core::vir0::sizes::Sizes;

/// Addresses of one state of a run.
pub(super) struct Places {
    pub(super) control: u64,
    pub(super) buffers: Vec<u64>,
    /// By buffer, when it is filled if it has to be; `None`: no wave uses it.
    pub(super) fillings: Vec<Option<Filling>>,
    pub(super) queues: Vec<QueuePlace>,
    /// Stamps are what they happen to be: set them first.
    pub(super) fresh_stamps: bool,
    /// By wave that may pull.
    pub(super) turns: Vec<Option<Turn>>,
    pub(super) progress: u64,
    /// Where lists are packed.
    pub(super) slab: Option<Slab>,
}

/// A single run on a session's memory.
pub(super) struct OneRun {
    /// Whose inputs it has.
    pub(super) set: usize,
    /// As of [`Places`].
    pub(super) fresh_stamps: bool,
    /// By wave that may pull.
    pub(super) turns: Vec<Option<Turn>>,
    /// Where the host looks for how far it is, or 0.
    pub(super) progress: u64,
    /// Its results are read.
    pub(super) read: bool,
}

/// Addresses of a frontier or list.
#[derive(Clone)]
pub(super) struct QueuePlace {
    items: [u64; 2],
    ranges: [u64; 2],
    hubs: [u64; 2],
    stamps: u64,
    /// When stamps are set that are not those of the run before.
    filling: Filling,
    /// By side, then by field.
    fields: Vec<u64>,
}

impl SessionMemory {
    /// Where the buffers of a single run are, with the inputs of one set.
    pub(super) fn buffer_places(&self, pass: &Pass, set: usize) -> Vec<u64> {
        let slab = self.slab(pass);
        let arena = self.arena.as_ref().map_or(0, Memory::address);
        (0..self.buffers.len())
            .map(|i| match (self.needs.packed[i], &self.needs.arena) {
                (Some(at), _) => slab + at,
                (None, Some(plan)) if pass.program.buffers[i].role == Role::Scratch => {
                    plan.buffers[i].map_or(0, |(at, _)| arena + at)
                }
                (None, _) => self.input_of(i, set).address(),
            })
            .collect()
    }

    /// Control words and small results, behind the tables.
    fn slab(&self, pass: &Pass) -> u64 {
        self.image.address() + pass.layout.tables_bytes().next_multiple_of(ALIGN)
    }

    /// Where everything of a single run is.
    pub(super) fn places(&self, pass: &Pass, shapes: &[Shape], run: OneRun) -> Places {
        let slab = self.slab(pass);
        let plan = self.needs.arena.as_ref();
        let arena = self.arena.as_ref().map_or(0, Memory::address);
        let queues = self.queues.iter().zip(shapes).enumerate();
        let queues = queues.map(|(i, (queue, shape))| {
            let stamps = queue.stamps.as_ref().map_or(0, Memory::address);
            let at = match &queue.memory {
                Some(memory) => memory.address(),
                None => {
                    let place = plan.and_then(|plan| *plan.frontiers.get(i)?);
                    place.map_or(0, |(at, _)| arena + at)
                }
            };
            place(shape, (at, None), (stamps, AT_ONCE))
        });
        Places {
            control: slab,
            buffers: self.buffer_places(pass, run.set),
            fillings: self.needs.fillings(),
            queues: queues.collect(),
            fresh_stamps: run.fresh_stamps,
            turns: run.turns,
            progress: run.progress,
            slab: self.needs.lists.filter(|_| run.read).map(|lists| Slab {
                address: slab + lists.at,
                pack_up_to_bytes: lists.pack_up_to_bytes,
            }),
        }
    }

    /// The tables of a run of these sizes, or of a batch's query 0 on CTA 0.
    pub(super) fn encode(
        &self,
        pass: &Pass,
        sizes: &Sizes,
        places: &Places,
        shapes: &[Shape],
    ) -> Vec<u8> {
        let stamps: Vec<u32> = self.queues.iter().map(|q| q.stamp).collect();
        let ranges = self.partitions.iter().enumerate();
        let ranges = ranges.map(|(wave, partition)| match partition {
            Some(partition) => partition.place(pass.laid().tile(wave)),
            None => Ranges::default(),
        });
        Tables {
            program: &pass.program,
            layout: pass.laid(),
            code: pass.code.address(),
            abort: pass.abort,
            most_steps: pass.most_steps,
            sizes,
            topologies: self.graphs.iter().map(Graph::table).collect(),
            shapes,
            stamps: &stamps,
            ranges: ranges.collect(),
            time_waves: pass.time_waves,
            compiled: pass.is_compiled(),
        }
        .encode(places)
    }
}

/// What the tables of a run are made from, but for where its state is.
pub(super) struct Tables<'a> {
    pub(super) program: &'a Program,
    pub(super) layout: &'a Layout,
    pub(super) code: u64,
    /// The word that tells the run to stop.
    pub(super) abort: u64,
    pub(super) most_steps: Option<u64>,
    pub(super) sizes: &'a Sizes,
    pub(super) topologies: Vec<abi::Topology>,
    /// Of frontiers, then lists.
    pub(super) shapes: &'a [Shape],
    /// The last that was used, likewise, where stamps are not fresh.
    pub(super) stamps: &'a [u32],
    pub(super) ranges: Vec<Ranges>,
    pub(super) time_waves: bool,
    pub(super) compiled: bool,
}

/// What is filled when.
type Fills = Vec<(Filling, abi::Fill)>;

impl Tables<'_> {
    /// The tables of a run on these places.
    pub(super) fn encode(&self, places: &Places) -> Vec<u8> {
        let program = self.program;
        let mut fills = Fills::new();
        let mut refills = Vec::new();
        let buffers = self.buffers(places, (&mut fills, &mut refills));
        let frontiers = self.frontiers(places, &mut fills);
        // Bitmaps are full of the last run that was cut short, or of what memory held.
        let mut bits = places.turns.iter().flatten().map(|t| t.bits[0]);
        if let Some(address) = bits.find(|&address| address != 0) {
            let fill = abi::Fill {
                address,
                units: bitmap_bytes(self.sizes.nodes) / 16,
                ..Default::default()
            };
            fills.push((AT_ONCE, fill));
        }
        let waves = program.waves.iter();
        let lens = waves.map(|w| w.domain.count().map_or(0, |extent| self.len(extent)));
        self.layout.encode(&Run {
            program,
            code: self.code,
            abort: self.abort,
            most_steps: self.most_steps,
            control: places.control,
            buffers,
            topologies: self.topologies.clone(),
            frontiers,
            records: self.records(places),
            fills,
            refills,
            slab: places.slab,
            lens: lens.collect(),
            ranges: self.ranges.clone(),
            turns: places.turns.clone(),
            scalars: &self.sizes.scalars,
            nodes: self.sizes.nodes,
            progress: places.progress,
            time_waves: self.time_waves,
            compiled: self.compiled,
        })
    }

    fn len(&self, extent: Extent) -> u64 {
        self.sizes.resolve(self.program, extent).unwrap_or(0)
    }

    /// Buffers, and what fills them: once, or in each round of a fixpoint.
    fn buffers(
        &self,
        places: &Places,
        (fills, refills): (&mut Fills, &mut Vec<(FixpointId, abi::Fill)>),
    ) -> Vec<abi::Buffer> {
        let mut buffers = Vec::new();
        for (i, buffer) in self.program.buffers.iter().enumerate() {
            let len = self.len(buffer.extent);
            let data = places.buffers[i];
            buffers.push(abi::Buffer {
                data,
                len: len as u32,
                home: i as u32,
            });
            if let Some(at) = places.fillings[i]
                && len != 0
                && matches!(buffer.role, Role::Output | Role::Scratch)
            {
                let constant = |c: ConstantId| self.program.constants[c.index()].bits;
                let size = buffer.scalar.size_bytes();
                let fill = abi::Fill {
                    address: data,
                    units: (len * size).div_ceil(16),
                    pattern: repeat(size, buffer.init.map_or(0, constant)),
                    unused: 0,
                };
                match buffer.reset {
                    Some(fixpoint) => refills.push((fixpoint, fill)),
                    None => fills.push((at, fill)),
                }
            }
        }
        buffers
    }

    /// Frontiers, then lists, and what sets their stamps.
    fn frontiers(&self, places: &Places, fills: &mut Fills) -> Vec<abi::Frontier> {
        let program = self.program;
        let control = Control::new(program);
        let of = self.shapes.iter().zip(&places.queues).zip(program.queues());
        let mut frontiers = Vec::new();
        for (i, ((shape, place), (id, queue))) in of.enumerate() {
            let topology = self.layout.swept_with.get(i).copied().flatten();
            let counters = places.control + control.frontiers + FRONTIER_CONTROL_BYTES * i as u64;
            if places.fresh_stamps && place.stamps != 0 {
                let fill = abi::Fill {
                    address: place.stamps,
                    units: (4 * shape.stamps.unwrap_or(0)).div_ceil(16),
                    ..Default::default()
                };
                fills.push((place.filling, fill));
            }
            frontiers.push(abi::Frontier {
                items: place.items,
                ranges: place.ranges,
                hubs: place.hubs,
                counters,
                hub_counters: counters + 6 * 128,
                stamps: place.stamps,
                offsets: topology.map_or(0, |t| self.topologies[t as usize].offsets),
                nodes: self.sizes.nodes as u32,
                capacity: self.len(queue.capacity).min(u64::from(u32::MAX)) as u32,
                ranges_len: shape.ranges as u32,
                hubs_len: shape.hubs as u32,
                stamp: match places.fresh_stamps {
                    true => 1,
                    false => self.stamps[i] + 1,
                },
                ..self.layout.queue(program, id)
            });
        }
        frontiers
    }

    /// Fields of the items that are not nodes.
    fn records(&self, places: &Places) -> Vec<abi::Record> {
        let record = |(id, fields): (u32, &[Scalar])| {
            let sides = self.shapes[id as usize].sides as usize;
            let mut record = abi::Record {
                count: fields.len() as u32,
                ..Default::default()
            };
            for (i, field) in fields.iter().enumerate() {
                let size = match field.size_bytes() {
                    1 => 0,
                    4 => 1,
                    _ => 2,
                };
                record.sizes |= size << (2 * i);
                for side in 0..2 {
                    let at = (side % sides) * fields.len() + i;
                    record.fields[side * 8 + i] = places.queues[id as usize].fields[at];
                }
            }
            record
        };
        records_of(self.program).map(record).collect()
    }
}

/// Where everything of a frontier or list is from `base` on; `items`: the items are elsewhere. `stamps`: where they are
/// if it has any, and when they are set.
pub(super) fn place(
    shape: &Shape,
    (base, items): (u64, Option<u64>),
    (stamps, filling): (u64, Filling),
) -> QueuePlace {
    let items_at = items.unwrap_or(base);
    let ranges = base + shape.items_bytes();
    let hubs = ranges + 2 * shape.ranges_bytes();
    QueuePlace {
        items: [items_at, items_at + shape.items_bytes() / 2],
        ranges: [ranges, ranges + shape.ranges_bytes()],
        hubs: [hubs, hubs + shape.hubs_bytes()],
        stamps: shape.stamps.map_or(0, |_| stamps),
        filling,
        fields: fields_of(shape, items_at),
    }
}

/// An element's raw bits, as often as they fit eight bytes.
fn repeat(size_bytes: u64, bits: u64) -> u64 {
    match size_bytes {
        1 => (bits & 0xff) * 0x0101_0101_0101_0101,
        4 => bits & 0xffff_ffff | bits << 32,
        _ => bits,
    }
}
