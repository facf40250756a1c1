//! Queries that share a launch: each CTA takes one after another and runs it alone. They are on one graph, with an image
//! that the device moves on from query to query, or on graphs of their own, with an image each.
//!
//! What a query leaves to be read, control words and results, is one record. Each launch has images, inputs and records
//! of its own; what only the device needs is used in the launches' order.

use super::arena::AT_ONCE;
use super::graph::up;
use super::launch::{Flight, Launch, Launcher, Records, Work};
use super::memory::Needs;
use super::pass::Pass;
use super::record::{Reader, Record, fields_of, is_result, read_bytes};
use super::tables::{Places, place};
use super::upload::{PART_BYTES, ring_for};
use crate::abi::{self, bytes_of};
use crate::buffer::{Event, Memory, slice_bytes};
use crate::device::DeviceError;
use crate::image::Control;
use rayon::prelude::*;
use std::sync::Arc;
use std::time::Instant;
use vyre_core::dsl::columns::Column;
use vyre_core::dsl::error::RunError;
use vyre_core::plan::arena::Filling;
use vyre_core::plan::cuda::{ALIGN, Shape};
use vyre_core::run::args::Args;
use vyre_core::run::outcome::Outcome;
use vyre_core::vir0::module::{Buffer, BufferId, Program, Role};
use vyre_core::vir0::sizes::Sizes;

/// Bytes that the records of one launch's queries take at most.
pub(super) const RECORDS_BYTES: u64 = 32 << 20;
/// Bytes of records worth a launch of their own, so that they come back while the next one runs.
const SHARE_BYTES: u64 = 8 << 20;
/// Records' bytes from which several threads take them apart, and how many do.
const UNPACK_BYTES: usize = 256 << 10;
const UNPACKERS: usize = 16;

/// Queries that share a launch; at least one.
pub(super) struct PerCta<'a, 'q, F> {
    pub(super) started: Instant,
    pub(super) queries: Vec<Query<'a, 'q>>,
    /// At most one a multiprocessor.
    pub(super) ctas: u32,
    pub(super) flight: usize,
    /// Another launch is on its way.
    pub(super) beside: bool,
    pub(super) states: States,
    /// Writes the image of each query whose slab, inputs and record begin there, or of the first one.
    pub(super) images: F,
}

/// A query, its sizes, and how its state is laid out.
pub(super) struct Query<'a, 'q> {
    pub(super) args: &'a Args<'q>,
    pub(super) sizes: Sizes,
    pub(super) laid: Arc<Laid>,
}

/// Who has a state, and with it an image.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum States {
    /// Each CTA: all queries are on one graph and laid out as the first one is. Its image on the first CTA is moved on.
    Cta,
    /// Each query.
    Query,
}

/// Queries that are on their way.
pub(super) struct Recorded {
    flight: usize,
    /// Of states, inputs and records.
    pub(super) bytes: u64,
    started: Instant,
    queries: Vec<(Sizes, Arc<Laid>)>,
    spare: Vec<Outcome>,
}

/// Where things are in the head of a launch, and bytes of all that it takes.
struct Bytes {
    control_at: u64,
    scalars_at: u64,
    images_at: u64,
    image: u64,
    head: u64,
    slab: u64,
    inputs: u64,
    records: u64,
}

impl<'a, 'q, F> PerCta<'a, 'q, F>
where
    F: FnMut(&Pass, &mut [u8], &[Query<'a, 'q>], &[[u64; 3]]),
{
    /// What the launch takes beyond the memory that there is.
    pub(super) fn more(&self, launcher: &Launcher) -> u64 {
        let bytes = self.bytes(&launcher.pass);
        let held = launcher.flights.get(self.flight);
        let held = held.and_then(|flight| flight.records.as_ref());
        let grown = |memory: Option<&Memory>, bytes: u64| match memory {
            Some(memory) if memory.bytes() >= bytes => 0,
            _ => up(bytes),
        };
        grown(launcher.slab.as_ref(), bytes.slab)
            + grown(held.map(|r| &r.head), bytes.head)
            + grown(held.map(|r| &r.inputs), bytes.inputs)
            + grown(held.map(|r| &r.records), bytes.records)
    }

    /// Starts the launch.
    pub(super) fn start(mut self, launcher: &mut Launcher) -> Result<Recorded, RunError> {
        let started = launcher.start(&mut self);
        launcher.settled(started)?;
        let pass = &launcher.pass;
        let bytes = self.bytes(pass);
        if bytes.records >= UNPACK_BYTES as u64 {
            // What taking the records apart needs is made while the launch runs.
            rayon::current_num_threads();
        }
        let spare = self.queries.iter().map(|q| spare(&pass.program, &q.sizes));
        Ok(Recorded {
            flight: self.flight,
            bytes: bytes.slab + bytes.inputs + bytes.records,
            started: self.started,
            spare: spare.collect(),
            queries: self
                .queries
                .into_iter()
                .map(|q| (q.sizes, q.laid))
                .collect(),
        })
    }

    fn bytes(&self, pass: &Pass) -> Bytes {
        let sum = |of: fn(&Laid) -> u64| self.queries.iter().map(|q| of(&q.laid)).sum::<u64>();
        let count = self.queries.len() as u64;
        let (images, slab) = match self.states {
            States::Cta => (1, self.queries[0].laid.slab_bytes * u64::from(self.ctas)),
            States::Query => (count, sum(|laid| laid.slab_bytes)),
        };
        let control_at = up(size_of::<abi::Batch>() as u64);
        let scalars_at = up(control_at + Control::new(&pass.program).bytes);
        let images_at = up(scalars_at + 8 * pass.program.scalars.len() as u64 * count);
        let image = up(pass.layout.tables_bytes());
        Bytes {
            control_at,
            scalars_at,
            images_at,
            image,
            head: images_at + image * images,
            slab,
            inputs: sum(|laid| laid.input_bytes),
            records: sum(|laid| laid.record_bytes),
        }
    }

    /// Where each query's slab, inputs and record begin, from these on.
    fn bases(&self, mut at: [u64; 3]) -> Vec<[u64; 3]> {
        let bases = self.queries.iter().map(|query| {
            let begin = at;
            at[0] += match self.states {
                States::Cta => 0,
                States::Query => query.laid.slab_bytes,
            };
            at[1] += query.laid.input_bytes;
            at[2] += query.laid.record_bytes;
            begin
        });
        bases.collect()
    }

    /// The head, to be copied to `head` on the device.
    fn stage(
        &mut self,
        pass: &Pass,
        (bytes, head): (&Bytes, u64),
        bases: &[[u64; 3]],
        staged: &mut [u8],
    ) {
        let first = &self.queries[0].laid;
        let [slab, inputs, records] = bases[0];
        let batch = abi::Batch {
            control: head + bytes.control_at,
            control_bytes: Control::new(&pass.program).bytes as u32,
            scalars: head + bytes.scalars_at,
            scalar_count: pass.program.scalars.len() as u32,
            queries: self.queries.len() as u32,
            ..Default::default()
        };
        let batch = match self.states {
            States::Cta => abi::Batch {
                slab,
                slab_bytes: first.slab_bytes,
                inputs,
                inputs_bytes: first.input_bytes,
                results: records,
                results_bytes: first.record_bytes,
                ..batch
            },
            States::Query => abi::Batch {
                image_bytes: bytes.image as u32,
                images: head + bytes.images_at,
                ..batch
            },
        };
        let (front, behind) = staged.split_at_mut(bytes.images_at as usize);
        let mut put = |at: u64, bytes: &[u8]| {
            front[at as usize..][..bytes.len()].copy_from_slice(bytes);
        };
        put(0, bytes_of(&[batch]));
        put(bytes.control_at, &pass.layout.control(&pass.program));
        let mut scalars_at = bytes.scalars_at;
        for query in &self.queries {
            put(scalars_at, bytes_of(&query.args.scalars));
            scalars_at += 8 * query.args.scalars.len() as u64;
        }
        (self.images)(pass, behind, &self.queries, bases);
    }
}

impl<'a, 'q, F> Launch for PerCta<'a, 'q, F>
where
    F: FnMut(&Pass, &mut [u8], &[Query<'a, 'q>], &[[u64; 3]]),
{
    fn flight(&self) -> usize {
        self.flight
    }

    fn launches(&self) -> usize {
        1
    }

    fn upload(&mut self, launcher: &mut Launcher, _nth: usize) -> Result<Option<Work>, RunError> {
        let bytes = self.bytes(&launcher.pass);
        launcher.grow(self.flight, &bytes)?;
        let Launcher {
            pass,
            flights,
            slab,
            ring,
            counts,
            ..
        } = launcher;
        let device = &pass.device;
        let largest = self.queries.iter().map(|q| q.laid.record_bytes).max();
        // Locking pages waits for what is on the device, so it comes before the launch.
        let wanted = (PART_BYTES as u64).min(bytes.records);
        let wanted = wanted.max(largest.unwrap_or(0)) as usize;
        let ring = ring_for(ring, device, wanted)?;

        let Flight {
            staging, records, ..
        } = &mut flights[self.flight];
        let memory = records.as_ref().expect("it was just made");
        let slab = slab.as_ref().expect("it was just made").address();
        let head = memory.head.address();
        let (inputs, records) = (memory.inputs.address(), memory.records.address());
        let bases = self.bases([slab, inputs, records]);
        let staged = &mut staging.as_mut_slice()[..bytes.head as usize];
        self.stage(pass, (&bytes, head), &bases, staged);
        memory.head.upload(0, staged)?;

        let mut upload = ring.upload(&memory.inputs, 0);
        for (query, [_, input, record]) in self.queries.iter().zip(&bases) {
            counts.refresh_bytes += 8 * query.args.scalars.len() as u64;
            // Inputs lie in buffer order.
            let mut columns: Vec<_> = query.args.inputs.iter().collect();
            columns.sort_by_key(|(id, _)| *id);
            for (id, column) in columns {
                counts.refresh_bytes += column.bytes();
                match query.laid.buffers[id.index()] {
                    At::Input(at) => {
                        upload.skip_to(input - inputs + at)?;
                        upload.write(slice_bytes(column))?;
                        counts.ahead_bytes += if self.beside { column.bytes() } else { 0 };
                    }
                    At::Record(at) => {
                        let at = record - records + at;
                        memory.records.upload(at, slice_bytes(column))?;
                    }
                    At::Topology | At::Slab(_) => {}
                }
            }
        }
        if bytes.inputs > 0 {
            upload.end(Some(&memory.ready))?;
            memory.ready.hold(device.launches())?;
        }
        Ok(Some(Work {
            image: head + bytes.images_at,
            batch: head,
            ctas: self.ctas,
            cluster: 1,
            waits: false,
        }))
    }

    /// Records come back once the launch is over.
    fn download(&mut self, _launcher: &mut Launcher, _nth: usize) -> Result<(), RunError> {
        Ok(())
    }

    fn fetch(&mut self, _launcher: &mut Launcher) -> Result<(), RunError> {
        Ok(())
    }
}

impl Launcher {
    /// Makes the memory of queries that share a launch large enough.
    fn grow(&mut self, flight: usize, bytes: &Bytes) -> Result<(), DeviceError> {
        self.make_flight(flight)?;
        let device = &self.pass.device;
        let counts = &mut self.counts;
        let Flight {
            staging, records, ..
        } = &mut self.flights[flight];
        if self.slab.is_none() {
            counts.allocations += 1;
            self.slab = Some(Memory::new(device, bytes.slab)?);
        }
        if records.is_none() {
            counts.allocations += 3;
            *records = Some(Records {
                head: Memory::new(device, bytes.head)?,
                inputs: Memory::new(device, bytes.inputs)?,
                records: Memory::new(device, bytes.records)?,
                ready: Event::new(device)?,
            });
        }
        let records = records.as_mut().expect("it was just made");
        let slab = self.slab.as_mut().expect("it was just made");
        for (memory, bytes) in [
            (slab, bytes.slab),
            (&mut records.head, bytes.head),
            (&mut records.inputs, bytes.inputs),
            (&mut records.records, bytes.records),
        ] {
            if memory.bytes() < bytes {
                counts.allocations += 1;
                *memory = Memory::new(device, bytes)?;
            }
        }
        staging.grow(bytes.head as usize)
    }

    /// Waits for queries that share a launch, and takes their records apart.
    pub(super) fn finish(
        &mut self,
        launched: Recorded,
    ) -> Result<Vec<Result<Outcome, RunError>>, RunError> {
        let taken = self.take_records(launched);
        self.settled(taken)
    }

    fn take_records(
        &mut self,
        launched: Recorded,
    ) -> Result<Vec<Result<Outcome, RunError>>, RunError> {
        self.wait(launched.flight, |flight| &flight.done)?;
        let cut_short = self.cut_short();
        let Launcher {
            pass,
            flights,
            ring,
            counts,
            ..
        } = self;
        let flight = &flights[launched.flight];
        let memory = flight.records.as_ref();
        let memory = memory.expect("a launch of the flight was started");
        let device_ns = Some(flight.timer.elapsed_ns()?);
        let lens = launched.queries.iter();
        let lens = lens.map(|(_, laid)| laid.record_bytes as usize);
        // Another run may have failed while it had the ring.
        let largest = lens.clone().max().unwrap_or(0);
        let ring = ring_for(ring, &pass.device, largest)?;
        let cuts = cuts(lens, ring.part_bytes());
        let mut spare = launched.spare.into_iter();
        let mut rest = launched.queries.iter();
        let mut unpacked = Vec::with_capacity(launched.queries.len());
        ring.download((&memory.records, 0, &flight.done), &cuts, |mut records| {
            let mut answers = Vec::new();
            while !records.is_empty() {
                let (sizes, laid) = rest.next().expect("each record is a query's");
                let (bytes, later) = records.split_at(laid.record_bytes as usize);
                records = later;
                answers.push(Answer {
                    spare: spare.next().unwrap_or_default(),
                    sizes,
                    packed: &laid.packed,
                    lists: &laid.lists,
                    bytes,
                });
            }
            unpacked.append(&mut unpack(pass, &cut_short, answers));
        })?;
        let wall_ns = u64::try_from(launched.started.elapsed().as_nanos()).unwrap_or(u64::MAX);
        for outcome in unpacked.iter_mut().flatten() {
            counts.readback_bytes += read_bytes(outcome);
            outcome.report.wall_ns = wall_ns;
            outcome.report.device_ns = device_ns;
            outcome.report.route = pass.route();
        }
        Ok(unpacked)
    }
}

/// Queries whose records are worth a launch of their own: each CTA takes two, or the records come back as one large
/// copy.
pub(super) fn worth_sharing(record_bytes: u64, ctas: u64) -> u64 {
    let most = RECORDS_BYTES / record_bytes.max(1);
    (2 * ctas)
        .max(SHARE_BYTES / record_bytes.max(1))
        .min(most)
        .max(1)
}

/// Where a query has a buffer.
#[derive(Clone, Copy)]
enum At {
    /// With the topology.
    Topology,
    /// At this byte of what only the device needs, of the inputs, or of the record.
    Slab(u64),
    Input(u64),
    Record(u64),
}

/// A query's state.
pub(super) struct Laid {
    buffers: Vec<At>,
    fillings: Vec<Option<Filling>>,
    pub(super) packed: Vec<Option<u64>>,
    /// By list of the result, where the record has each field of its items.
    pub(super) lists: Vec<Vec<Option<u64>>>,
    /// Frontiers and lists, where they begin in the slab, and when their stamps are set; `None`: no wave uses it.
    pub(super) shapes: Vec<Shape>,
    queues: Vec<(u64, Option<Filling>)>,
    pub(super) slab_bytes: u64,
    pub(super) input_bytes: u64,
    pub(super) record_bytes: u64,
}

impl Laid {
    pub(super) fn new(program: &Program, needs: &Needs) -> Laid {
        let (mut slab_bytes, mut input_bytes) = (0, 0);
        let take = |from: &mut u64, bytes: u64| {
            *from += bytes;
            *from - bytes
        };
        let arena = take(&mut slab_bytes, needs.arena_bytes());
        let mut buffers = Vec::new();
        for (i, buffer) in program.buffers.iter().enumerate() {
            let bytes = up(needs.buffers[i]);
            buffers.push(match (buffer.role, needs.packed[i], &needs.arena) {
                (Role::Topology, ..) => At::Topology,
                (Role::Input, ..) => At::Input(take(&mut input_bytes, bytes)),
                (_, Some(at), _) => At::Record(at),
                (Role::Scratch, None, Some(plan)) => {
                    At::Slab(arena + plan.buffers[i].map_or(0, |(at, _)| at))
                }
                // Of a result without elements, too.
                (_, None, _) => At::Slab(take(&mut slab_bytes, bytes)),
            });
        }
        let queues = needs.shapes.iter().enumerate().map(|(i, shape)| {
            match needs.arena.as_ref().and_then(|plan| plan.frontiers.get(i)) {
                Some(place) => place.map_or((arena, None), |(at, f)| (arena + at, Some(f))),
                None => {
                    let own = needs.own_queue_bytes(program, i).unwrap_or(0);
                    let bytes = own + shape.stamps_bytes();
                    (take(&mut slab_bytes, bytes), Some(AT_ONCE))
                }
            }
        });
        let queues = queues.collect();
        let lists = needs.shapes.iter().skip(program.frontiers.len());
        let lists = lists.zip(needs.packed.iter().skip(program.buffers.len()));
        let lists = lists.map(|(shape, at)| {
            // One without room holds nothing.
            let at = fields_of(shape, at.unwrap_or(0));
            at.into_iter().map(Some).collect()
        });
        Laid {
            buffers,
            lists: lists.collect(),
            fillings: needs.fillings(),
            packed: needs.packed.clone(),
            shapes: needs.shapes.clone(),
            queues,
            slab_bytes,
            input_bytes,
            record_bytes: needs.slab_bytes.next_multiple_of(ALIGN),
        }
    }

    /// With slab, inputs and record there.
    pub(super) fn places(
        &self,
        [slab, inputs, record]: [u64; 3],
        topology: impl Fn(usize) -> u64,
    ) -> Places {
        let buffers = self.buffers.iter().enumerate();
        // What is packed are buffers, then lists.
        let lists_from = self.queues.len() + self.buffers.len() - self.packed.len();
        let queues = self.shapes.iter().zip(&self.queues).enumerate();
        Places {
            control: record,
            buffers: buffers
                .map(|(i, at)| match *at {
                    At::Topology => topology(i),
                    At::Slab(at) => slab + at,
                    At::Input(at) => inputs + at,
                    At::Record(at) => record + at,
                })
                .collect(),
            fillings: self.fillings.clone(),
            queues: queues
                .map(|(i, (shape, &(at, filling)))| {
                    let list = usize::checked_sub(i, lists_from);
                    let packed = list.and_then(|l| self.packed[self.buffers.len() + l]);
                    let stamps = slab + at + shape.passing_bytes();
                    let stamps = filling.map_or((0, AT_ONCE), |filling| (stamps, filling));
                    place(shape, (slab + at, packed.map(|at| record + at)), stamps)
                })
                .collect(),
            fresh_stamps: true,
            turns: Vec::new(),
            progress: 0,
            slab: None,
        }
    }
}

/// A query's record, as it came back.
struct Answer<'a> {
    /// Memory of its results; made anew where there is none.
    spare: Outcome,
    sizes: &'a Sizes,
    packed: &'a [Option<u64>],
    lists: &'a [Vec<Option<u64>>],
    bytes: &'a [u8],
}

/// Memory for a query's results. Taken on one thread while the device works: the allocator's locks would be fought over
/// by threads that take records apart.
fn spare(program: &Program, sizes: &Sizes) -> Outcome {
    let buffers = (0..=u16::MAX).map(BufferId).zip(&program.buffers);
    let results = buffers.filter(|(_, b)| is_result(b.role));
    let column = |(id, b): (BufferId, &Buffer)| {
        let mut column = Column::filled(b.scalar, 0, 0);
        // Who fills it asks again, and says where there is none.
        let _reserved = column.reserve(sizes.resolve(program, b.extent).unwrap_or(0) as usize);
        (id, column)
    };
    Outcome {
        outputs: results.map(column).collect(),
        ..Outcome::default()
    }
}

/// Takes records apart, many on several threads. `cut_short`: what to say of those that were.
fn unpack(
    pass: &Pass,
    cut_short: &RunError,
    answers: Vec<Answer<'_>>,
) -> Vec<Result<Outcome, RunError>> {
    let (program, time_waves) = (&*pass.program, pass.time_waves);
    let one = |mut answer: Answer<'_>| {
        let reader = Reader::new(program, answer.sizes, time_waves);
        let words = reader.words(answer.bytes)?;
        pass.has_steps(&words)?;
        if words.aborted {
            return Err(cut_short.clone());
        }
        if let Some(trap) = reader.trap(&words, true) {
            return Err(RunError::Trap(Box::new(trap)));
        }
        let record = Record {
            bytes: answer.bytes,
            packed: answer.packed,
            lists: answer.lists,
        };
        reader.outcome(&words, &record, &mut answer.spare)?;
        answer.spare.report.readback.copied_bytes = answer.bytes.len() as u64;
        Ok(answer.spare)
    };
    let bytes: usize = answers.iter().map(|a| a.bytes.len()).sum();
    if bytes < UNPACK_BYTES {
        return answers.into_iter().map(one).collect();
    }
    let together = answers.len().div_ceil(UNPACKERS);
    answers
        .into_par_iter()
        .with_min_len(together)
        .map(one)
        .collect()
}

/// Where to cut consecutive records so that pieces of whole ones are as large as possible, but not larger than that.
fn cuts(records: impl Iterator<Item = usize>, most: usize) -> Vec<usize> {
    let (mut cuts, mut from, mut end) = (Vec::new(), 0, 0);
    for bytes in records {
        if end + bytes - from > most && end > from {
            cuts.push(end);
            from = end;
        }
        end += bytes;
    }
    if end > from {
        cuts.push(end);
    }
    cuts
}
