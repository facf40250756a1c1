//! One pass on many small graphs: queries on different graphs share launches.
//!
//! As in a batch on one graph, each CTA takes one query after another and runs it alone. Here every query has an image of its
//! own, made by the host, and a state of its own; only code, control words as they are before a run, and the launch are shared.

use super::{
    Answer, Laid, Manner, Needs, PART_BYTES, RECORDS_BYTES, Shared, Tables, average_degrees,
    check_args, check_topology, csr_bytes, cuts, found_in, read_bytes, room_for, spare, unpack, up,
    worth_sharing,
};
use crate::abi;
use crate::buffer::{Event, Memory, Pinned, Ring, Timer, bytes_of, slice_bytes};
use crate::device::{Device, DeviceError};
use crate::image::{Control, ITEMS_PER_LANE, Layout, Ranges};
use rayon::prelude::*;
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant;
use vyre_core::csr::Csr;
use vyre_core::exec::{
    Args, Counters, Outcome, RunError, Sizes, Slice, TopologyArgs, resolve_topologies,
};
use vyre_core::module::Program;
use vyre_core::plan::device::Graphs;
use vyre_core::plan::footprint::Allocation;

/// Bytes that the states of one launch's queries take at most, unless a single one takes more.
const STATES_BYTES: u64 = 1 << 30;

/// One pass, bound to many topologies.
pub(crate) struct Many {
    device: Arc<Device>,
    program: Arc<Program>,
    allocation: Allocation,
    layout: Layout,
    code: Memory,
    /// Offsets, targets and columns of all topologies; nobody reads it on the host.
    _arrays: Memory,
    graphs: Vec<Place>,
    parts: [Option<Part>; 2],
    ring: Option<Ring>,
    counts: Counters,
}

/// A topology.
struct Place {
    sizes: Sizes,
    tables: Vec<abi::Topology>,
    /// By buffer; 0 of those that are not the topology's.
    columns: Vec<u64>,
    found: Graphs,
    /// What the last query shared.
    shared: Option<Shared>,
}

/// What one launch has for itself.
struct Part {
    /// The batch, control words as they are before a run, images; copied as a whole.
    head: Memory,
    staging: Pinned,
    /// Scratch, frontiers and lists; then inputs.
    states: Memory,
    records: Memory,
    timer: Timer,
    ready: Event,
    done: Event,
}

/// A launch that is on its way.
struct Launched {
    flight: usize,
    bytes: u64,
    started: Instant,
    queries: Vec<(Sizes, Laid)>,
    spare: Vec<Outcome>,
}

impl Many {
    /// Uploads the topologies. Fails without allocating when the device's free memory is too small.
    pub(crate) fn new(
        device: &Arc<Device>,
        (program, allocation): (Arc<Program>, Allocation),
        topologies: &[TopologyArgs<'_>],
    ) -> Result<Many, RunError> {
        let mut resolved: Vec<(Vec<Cow<'_, Csr>>, Sizes)> = Vec::new();
        for topology in topologies {
            let (csrs, sizes) = resolve_topologies(&program, topology)?;
            check_topology(&program, &sizes, topology)?;
            resolved.push((csrs, sizes));
        }
        // One layout serves all, so it goes by what they are together.
        let mut degrees = vec![0.0; program.topologies.len()];
        let nodes: u64 = resolved.iter().map(|(_, s)| s.nodes).sum();
        for (csrs, sizes) in &resolved {
            let share = sizes.nodes as f64 / (nodes as f64).max(1.0);
            let of = average_degrees(csrs.iter().map(|g| &**g));
            for (sum, degree) in degrees.iter_mut().zip(of) {
                *sum += share * degree;
            }
        }
        let of = (&*program, allocation);
        let layout = Layout::new(of, device.room(), &degrees, ITEMS_PER_LANE)
            .map_err(|e| RunError::Backend(e.to_string()))?;

        let columns = topologies.iter().flat_map(|t| &t.columns);
        let columns: u64 = columns.map(|(_, c)| up(c.bytes())).sum();
        let csrs = resolved.iter().flat_map(|(csrs, _)| csrs);
        let halves = csrs.map(|g| {
            up(4 * g.offsets().len() as u64).saturating_add(up(4 * g.targets().len() as u64))
        });
        let arrays_bytes = halves.fold(columns, u64::saturating_add);
        let words = layout.device_words();
        let code_bytes = words.len() as u64;
        let needed = up(arrays_bytes).saturating_add(up(code_bytes));
        room_for(device, "the topologies", needed)?;

        let mut counts = Counters {
            graph_uploads: u64::from(!topologies.is_empty()),
            ..Counters::default()
        };
        let code = Memory::new(device, code_bytes)?;
        code.upload(0, &words)?;
        let arrays = Memory::new(device, arrays_bytes)?;
        let mut ring = Ring::new(device, PART_BYTES.min(up(arrays_bytes) as usize))?;
        let mut upload = ring.upload(&arrays, 0);
        let mut at = 0;
        let mut put = |bytes: &[u8]| -> Result<u64, DeviceError> {
            upload.skip_to(at)?;
            upload.write(bytes)?;
            at += up(bytes.len() as u64);
            Ok(arrays.address() + at - up(bytes.len() as u64))
        };
        let mut graphs = Vec::new();
        for ((csrs, sizes), topology) in resolved.into_iter().zip(topologies) {
            let csrs: Vec<&Csr> = csrs.iter().map(|g| &**g).collect();
            let mut tables = Vec::new();
            for csr in &csrs {
                counts.graph_upload_bytes += csr_bytes(csr);
                tables.push(abi::Topology {
                    offsets: put(slice_bytes(&Slice::U32(csr.offsets())))?,
                    targets: put(slice_bytes(&Slice::U32(csr.targets())))?,
                    nodes: csr.node_count() as u32,
                    edges: csr.edge_count() as u32,
                    ..Default::default()
                });
            }
            let mut columns = vec![0; program.buffers.len()];
            for (id, column) in &topology.columns {
                counts.graph_upload_bytes += column.bytes();
                columns[id.index()] = put(slice_bytes(column))?;
            }
            graphs.push(Place {
                found: found_in(&program, &csrs),
                shared: None,
                sizes,
                tables,
                columns,
            });
        }
        upload.end(None)?;
        device.synchronize()?;
        Ok(Many {
            device: Arc::clone(device),
            program,
            allocation,
            layout,
            code,
            _arrays: arrays,
            graphs,
            parts: [None, None],
            ring: Some(ring),
            counts,
        })
    }

    /// Starts the first few queries in one launch.
    fn start(
        &mut self,
        queries: &[(usize, Args<'_>)],
        flight: usize,
        room: Option<u64>,
    ) -> Result<Launched, RunError> {
        let started = Instant::now();
        let program = Arc::clone(&self.program);
        let most_ctas = self.device.multiprocessors().min(abi::MAX_CTAS);
        // Two launches may be on their way.
        let most_bytes = STATES_BYTES.min(self.device.memory_bytes()?.0 / 4);
        let mut taken: Vec<(Sizes, Laid)> = Vec::new();
        let (mut states, mut inputs, mut records) = (0u64, 0u64, 0u64);
        for (graph, args) in queries {
            let place = &mut self.graphs[*graph];
            let sizes = match check_args(&program, &place.sizes, args) {
                Ok(sizes) => sizes,
                // What is wrong with it is said when it comes first.
                Err(_) if !taken.is_empty() => break,
                Err(e) => return Err(e),
            };
            let manner = Manner {
                allocation: self.allocation,
                batch: true,
                pack_up_to_bytes: u64::MAX,
                before: place.shared.as_ref(),
            };
            let needs = Needs::new(&program, (&sizes, &place.found), manner)?;
            let laid = Laid::new(&program, &needs);
            place.shared = needs.shared;
            let average = (records + laid.record_bytes) / (taken.len() as u64 + 1);
            let enough = taken.len() as u64 >= worth_sharing(average, most_ctas.into());
            let these = laid.slab_bytes + laid.input_bytes + laid.record_bytes;
            let too_much = records + laid.record_bytes > RECORDS_BYTES
                || room.is_some_and(|room| states + inputs + records + these > room / 2)
                || states + inputs + laid.slab_bytes + laid.input_bytes > most_bytes;
            if !taken.is_empty() && (enough || too_much) {
                break;
            }
            states += laid.slab_bytes;
            inputs += laid.input_bytes;
            records += laid.record_bytes;
            taken.push((sizes, laid));
        }
        let queries = &queries[..taken.len()];

        let control_bytes = Control::new(&program).bytes;
        let control_at = up(size_of::<abi::Batch>() as u64);
        let images_at = up(control_at + control_bytes);
        let image_bytes = up(self.layout.tables_bytes());
        let head_bytes = images_at + image_bytes * taken.len() as u64;
        self.make_part(flight, [head_bytes, states + inputs, records])?;
        let largest = taken.iter().map(|(_, laid)| laid.record_bytes).max();
        // Locking pages waits for what is on the device, so it comes before the launch.
        let wanted = (PART_BYTES as u64).min(records).max(largest.unwrap_or(0));
        if self
            .ring
            .as_ref()
            .is_none_or(|r| (r.part_bytes() as u64) < wanted)
        {
            self.ring = Some(Ring::new(&self.device, wanted as usize)?);
        }
        let part = self.parts[flight].as_mut().expect("it was just made");
        let (head, slab, record) = (
            part.head.address(),
            part.states.address(),
            part.records.address(),
        );
        let described = abi::Batch {
            control: head + control_at,
            control_bytes: control_bytes as u32,
            queries: taken.len() as u32,
            image_bytes: image_bytes as u32,
            images: head + images_at,
            ..Default::default()
        };
        let staged = &mut part.staging.as_mut_slice()[..head_bytes as usize];
        let (front, images) = staged.split_at_mut(images_at as usize);
        let described = bytes_of(std::slice::from_ref(&described));
        front[..described.len()].copy_from_slice(described);
        let words = self.layout.control(&program);
        front[control_at as usize..][..words.len()].copy_from_slice(&words);

        // Where each state begins.
        let mut at = [slab, slab + states, record];
        let bases: Vec<[u64; 3]> = taken
            .iter()
            .map(|(_, laid)| {
                let begin = at;
                at[0] += laid.slab_bytes;
                at[1] += laid.input_bytes;
                at[2] += laid.record_bytes;
                begin
            })
            .collect();
        let (layout, code, graphs) = (&self.layout, self.code.address(), &self.graphs);
        images
            .par_chunks_mut(image_bytes as usize)
            .zip(queries.par_iter().zip(&taken).zip(&bases))
            .with_min_len(64)
            .for_each(|(image, (((graph, _), (sizes, laid)), bases))| {
                let place = &graphs[*graph];
                let tables = Tables {
                    program: &program,
                    layout,
                    code,
                    sizes,
                    topologies: place.tables.clone(),
                    shapes: &laid.shapes,
                    stamps: &[],
                    // A CTA of its own walks long ranges as it does all others.
                    ranges: vec![Ranges::default(); layout.ranges_of.len()],
                    time_waves: false,
                };
                let encoded = tables.encode(&laid.places(*bases, |i| place.columns[i]));
                image[..encoded.len()].copy_from_slice(&encoded);
            });
        part.head.upload(0, staged)?;

        if inputs > 0 {
            let held = self.ring.take();
            let mut ring = held.map_or_else(|| Ring::new(&self.device, PART_BYTES), Ok)?;
            let mut upload = ring.upload(&part.states, states);
            for (((_, args), (_, laid)), bases) in queries.iter().zip(&taken).zip(&bases) {
                // Inputs lie in buffer order.
                let mut columns: Vec<_> = args.inputs.iter().collect();
                columns.sort_by_key(|(id, _)| *id);
                for (id, column) in columns {
                    if let super::At::Input(at) = laid.buffers[id.index()] {
                        upload.skip_to(bases[1] + at - slab)?;
                        upload.write(slice_bytes(column))?;
                    }
                }
            }
            upload.end(Some(&part.ready))?;
            self.ring = Some(ring);
            part.ready.hold(self.device.stream())?;
        }
        for (((_, args), (_, laid)), bases) in queries.iter().zip(&taken).zip(&bases) {
            self.counts.refresh_bytes += 8 * args.scalars.len() as u64;
            for (id, column) in &args.inputs {
                self.counts.refresh_bytes += column.bytes();
                if let super::At::Record(at) = laid.buffers[id.index()] {
                    let at = bases[2] - record + at;
                    part.records.upload(at, slice_bytes(column))?;
                }
            }
        }

        let ctas = most_ctas.min(taken.len() as u32);
        part.timer.start()?;
        let of = [head + images_at, head];
        // SAFETY: what the batch names belongs to this launch's part, which is waited for; at most one CTA a multiprocessor.
        unsafe { (self.device).launch(self.layout.shared_bytes, of, ctas, 1) }?;
        part.timer.end()?;
        part.done.record(self.device.stream())?;
        self.counts.launches += 1;
        let spare = taken
            .iter()
            .map(|(sizes, _)| spare(&program, sizes))
            .collect();
        Ok(Launched {
            flight,
            bytes: states + inputs + records,
            started,
            queries: taken,
            spare,
        })
    }

    fn make_part(&mut self, flight: usize, bytes: [u64; 3]) -> Result<(), RunError> {
        let [head, states, records] = bytes;
        let device = &self.device;
        let part = self.parts[flight].as_ref();
        let grows = |held: Option<&Memory>, bytes: u64| held.is_none_or(|m| m.bytes() < bytes);
        let new = [
            grows(part.map(|p| &p.head), head),
            grows(part.map(|p| &p.states), states),
            grows(part.map(|p| &p.records), records),
        ];
        let more = new.iter().zip(bytes).filter(|(new, _)| **new);
        let more: u64 = more.map(|(_, bytes)| up(bytes)).sum();
        if more > 0 {
            room_for(device, "the run", more)?;
        }
        match &mut self.parts[flight] {
            Some(part) => {
                for ((memory, new), bytes) in [&mut part.head, &mut part.states, &mut part.records]
                    .into_iter()
                    .zip(new)
                    .zip(bytes)
                {
                    if new {
                        *memory = Memory::new(device, bytes)?;
                    }
                }
                part.staging.grow(head as usize)?;
            }
            none => {
                *none = Some(Part {
                    head: Memory::new(device, head)?,
                    staging: Pinned::new(device, head as usize)?,
                    states: Memory::new(device, states)?,
                    records: Memory::new(device, records)?,
                    timer: Timer::new(device)?,
                    ready: Event::new(device)?,
                    done: Event::new(device)?,
                });
            }
        }
        self.counts.allocations += new.iter().filter(|new| **new).count() as u64;
        Ok(())
    }

    fn finish(&mut self, launched: Launched) -> Result<Vec<Result<Outcome, RunError>>, RunError> {
        let part = self.parts[launched.flight].as_ref();
        let part = part.expect("its launch is not over");
        self.counts.fences += 1;
        part.done.wait()?;
        let device_ns = Some(part.timer.elapsed_ns()?);
        let mut ring = self.ring.take().expect("it was made for this");
        let lens = launched.queries.iter();
        let cuts = cuts(
            lens.map(|(_, laid)| laid.record_bytes as usize),
            ring.part_bytes(),
        );
        let mut spare = launched.spare.into_iter();
        let mut rest = launched.queries.iter();
        let mut unpacked = Vec::with_capacity(launched.queries.len());
        ring.download((&part.records, 0, &part.done), &cuts, |mut records| {
            let mut answers = Vec::new();
            while !records.is_empty() {
                let (sizes, laid) = rest.next().expect("each record is a query's");
                let (bytes, later) = records.split_at(laid.record_bytes as usize);
                records = later;
                answers.push(Answer {
                    spare: spare.next().unwrap_or_default(),
                    sizes,
                    packed: &laid.packed,
                    shapes: &laid.shapes,
                    bytes,
                });
            }
            unpacked.append(&mut unpack(&self.program, false, answers));
        })?;
        self.ring = Some(ring);
        let wall_ns = u64::try_from(launched.started.elapsed().as_nanos()).unwrap_or(u64::MAX);
        for outcome in unpacked.iter_mut().flatten() {
            self.counts.readback_bytes += read_bytes(outcome);
            outcome.report.wall_ns = wall_ns;
            outcome.report.device_ns = device_ns;
        }
        Ok(unpacked)
    }

    fn land(&mut self, launched: Option<Launched>, results: &mut Vec<Result<Outcome, RunError>>) {
        let Some(launched) = launched else { return };
        let count = launched.queries.len();
        match self.finish(launched) {
            Ok(mut all) => results.append(&mut all),
            Err(e) => results.extend(std::iter::repeat_n(Err(e), count)),
        }
    }

    /// Runs queries on the graphs that they name, in order. `room`: bytes for their states, inputs and results, if a budget
    /// says.
    pub(crate) fn run_batch(
        &mut self,
        queries: &[(usize, Args<'_>)],
        room: Option<u64>,
    ) -> Vec<Result<Outcome, RunError>> {
        let mut results = Vec::with_capacity(queries.len());
        let mut on_its_way: Option<Launched> = None;
        let (mut started, mut flight) = (0, 0);
        while started < queries.len() {
            // What takes more than half of the room is alone in it.
            if let Some(large) = on_its_way.take_if(|l| room.is_some_and(|r| l.bytes > r / 2)) {
                flight = large.flight;
                self.land(Some(large), &mut results);
            }
            let next = self.start(&queries[started..], flight, room);
            self.land(on_its_way.take(), &mut results);
            match next {
                Ok(launched) => {
                    started += launched.queries.len();
                    on_its_way = Some(launched);
                    flight ^= 1;
                }
                Err(e) => {
                    started += 1;
                    results.push(Err(e));
                }
            }
        }
        self.land(on_its_way, &mut results);
        results
    }

    pub(crate) fn counters(&self) -> Counters {
        self.counts
    }
}

impl Drop for Many {
    fn drop(&mut self) {
        // What is on its way uses what is about to be freed.
        let _ = self.device.synchronize();
    }
}
