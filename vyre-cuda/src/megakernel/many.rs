//! One pass on many small graphs: queries on different graphs share launches.
//!
//! As in a batch on one graph, each CTA takes one query after another and runs it alone. Here every query has an image
//! of its own, made by the host, and a state of its own; only code, control words as they are before a run, and the
//! launch are shared.

use super::launch::{
    Laid, Launch, Launched, Launches, PART_BYTES, Query, RECORDS_BYTES, States, worth_sharing,
};
use super::{
    Manner, Needs, Shared, Tables, average_degrees, check_args, check_topology, csr_bytes,
    found_in, room_for, up,
};
use crate::abi;
use crate::buffer::{Memory, Ring, slice_bytes};
use crate::device::{Device, DeviceError};
use crate::image::{ITEMS_PER_LANE, Layout, Ranges};
use rayon::prelude::*;
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant;
use vyre_core::dsl::columns::Slice;
use vyre_core::dsl::csr::Csr;
use vyre_core::dsl::error::RunError;
use vyre_core::plan::device::Graphs;
use vyre_core::plan::footprint::Allocation;
use vyre_core::plan::session::Counters;
use vyre_core::run;
use vyre_core::run::args::{Args, TopologyArgs, resolve_topologies};
use vyre_core::run::outcome::Outcome;
use vyre_core::vir0::module::Program;
use vyre_core::vir0::sizes::Sizes;

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
    launches: Launches,
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
            launches: Launches::default(),
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
        let mut taken: Vec<Query<'_, '_>> = Vec::new();
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
            taken.push(Query {
                args,
                sizes,
                laid: Arc::new(laid),
            });
        }
        let launch = Launch {
            started,
            ctas: most_ctas.min(taken.len() as u32),
            queries: taken,
            flight,
            beside: false,
            states: States::Query,
        };
        let (layout, code, graphs) = (&self.layout, self.code.address(), &self.graphs);
        let more = self.launches.more((&program, layout), &launch);
        if more > 0 {
            room_for(&self.device, "the run", more)?;
        }
        let image_bytes = up(layout.tables_bytes()) as usize;
        self.launches.start(
            (&self.device, (&program, layout)),
            launch,
            (&mut self.ring, &mut self.counts),
            |images, taken, bases| {
                images
                    .par_chunks_mut(image_bytes)
                    .zip(queries.par_iter().zip(taken).zip(bases))
                    .with_min_len(64)
                    .for_each(|(image, (((graph, _), query), bases))| {
                        let laid = &query.laid;
                        let place = &graphs[*graph];
                        let tables = Tables {
                            program: &program,
                            layout,
                            code,
                            sizes: &query.sizes,
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
            },
        )
    }

    fn finish(&mut self, launched: Launched) -> Result<Vec<Result<Outcome, RunError>>, RunError> {
        self.counts.fences += 1;
        self.launches.done(launched.flight).wait()?;
        let of = (&self.device, &*self.program, false);
        let to = (&mut self.ring, &mut self.counts);
        self.launches.finish(launched, of, to)
    }

    fn land(&mut self, launched: Option<Launched>, results: &mut Vec<Result<Outcome, RunError>>) {
        let Some(launched) = launched else { return };
        let count = launched.count();
        match self.finish(launched) {
            Ok(mut all) => results.append(&mut all),
            Err(e) => results.extend(std::iter::repeat_n(Err(e), count)),
        }
    }
}

impl run::backend::Many for Many {
    fn run_batch(
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
                    started += launched.count();
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

    fn counters(&self) -> Option<Counters> {
        Some(self.counts)
    }
}

impl Drop for Many {
    fn drop(&mut self) {
        // What is on its way uses what is about to be freed.
        let _ = self.device.synchronize();
    }
}
