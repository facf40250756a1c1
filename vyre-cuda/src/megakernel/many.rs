//! One pass on many small graphs: queries on different graphs share launches.
//!
//! As in a batch on one graph, each CTA takes one query after another and runs it alone. Here every query has an image
//! of its own, made by the host, and a state of its own; only code, control words as they are before a run, and the
//! launch are shared.

use super::arena::{ArenaPlan, Manner, Packing};
use super::graph::{average_degrees, csr_bytes, csr_of, found_in, read_back, up};
use super::launch::{Batch, Launcher};
use super::memory::{Needs, room_for};
use super::pass::Pass;
use super::per_cta::{Laid, PerCta, Query, RECORDS_BYTES, Recorded, States, worth_sharing};
use super::tables::Tables;
use super::upload::{PART_BYTES, check_args, check_topology};
use crate::abi;
use crate::buffer::{Memory, Ring, column_of, slice_bytes};
use crate::device::{Device, DeviceError};
use crate::image::{ITEMS_PER_LANE, Layout, Ranges};
use rayon::prelude::*;
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant;
use vyre_core::dsl::columns::{Column, Slice};
use vyre_core::dsl::csr::Csr;
use vyre_core::dsl::error::RunError;
use vyre_core::plan::cuda::Graphs;
use vyre_core::plan::footprint::Allocation;
use vyre_core::plan::session::Counters;
use vyre_core::run;
use vyre_core::run::args::{Args, Lent, TopologyArgs, resolve_topologies};
use vyre_core::run::backend::{CodeRoom, Followed, ManyHint, ManyLimits};
use vyre_core::run::outcome::{Outcome, for_queries};
use vyre_core::run::stop::Stop;
use vyre_core::vir0::module::Program;
use vyre_core::vir0::scalar::Scalar;
use vyre_core::vir0::sizes::Sizes;

/// Bytes that the states of one launch's queries take at most, unless a single one takes more.
const STATES_BYTES: u64 = 1 << 30;

/// One pass, bound to many topologies.
pub(crate) struct Many {
    launcher: Launcher,
    /// Offsets, targets and columns of all topologies; the host reads it to lend them.
    arrays: Memory,
    graphs: Vec<Bound>,
    /// Bytes that the budget has for the states, inputs and results of the current batch.
    room: Option<u64>,
}

/// A topology.
struct Bound {
    sizes: Sizes,
    tables: Vec<abi::Topology>,
    /// By buffer; 0 of those that are not the topology's.
    columns: Vec<u64>,
    found: Graphs,
    /// Of the last query.
    arena: Option<ArenaPlan>,
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
        let layout = Layout::new(of, device.interpreter().room(), &degrees, ITEMS_PER_LANE)
            .map_err(|e| RunError::Backend(e.to_string()))?;

        let columns = topologies.iter().flat_map(|t| &t.columns);
        let columns: u64 = columns.map(|(_, c)| up(c.bytes())).sum();
        let csrs = resolved.iter().flat_map(|(csrs, _)| csrs);
        let halves = csrs.map(|g| {
            up(4 * g.offsets().len() as u64).saturating_add(up(4 * g.targets().len() as u64))
        });
        let arrays_bytes = halves.fold(columns, u64::saturating_add);
        let needed = up(arrays_bytes).saturating_add(up(layout.code_bytes()));
        room_for(device, "the session", needed)?;

        let counts = Counters {
            graph_uploads: u64::from(!topologies.is_empty()),
            ..Counters::default()
        };
        let of = (Arc::clone(&program), allocation);
        let mut launcher = Launcher::new(device, of, layout, counts)?;
        launcher.pass.nodes = resolved.iter().map(|(_, s)| s.nodes).max().unwrap_or(0);
        let counts = &mut launcher.counts;
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
            graphs.push(Bound {
                found: found_in(&program, &csrs),
                arena: None,
                sizes,
                tables,
                columns,
            });
        }
        upload.end(None)?;
        device.synchronize()?;
        launcher.ring = Some(ring);
        Ok(Many {
            launcher,
            arrays,
            graphs,
            room: None,
        })
    }

    /// The first few queries, for which there is room: at least one.
    fn take_first<'a, 'q>(
        &mut self,
        queries: &'a [(usize, Args<'q>)],
    ) -> Result<Vec<Query<'a, 'q>>, RunError> {
        let pass = &self.launcher.pass;
        let program = &pass.program;
        // Two launches may be on their way.
        let most_bytes = STATES_BYTES.min(pass.device.memory_bytes()?.0 / 4);
        let mut taken: Vec<Query<'_, '_>> = Vec::new();
        let (mut states, mut inputs, mut records) = (0u64, 0u64, 0u64);
        for (graph, args) in queries {
            let graph = &mut self.graphs[*graph];
            let sizes = match check_args(program, &graph.sizes, args) {
                Ok(sizes) => sizes,
                // What is wrong with it is said when it comes first.
                Err(_) if !taken.is_empty() => break,
                Err(e) => return Err(e),
            };
            let manner = Manner {
                allocation: pass.allocation,
                packing: Packing::All,
                before: graph.arena.as_ref(),
            };
            let needs = Needs::new(program, (&sizes, &graph.found), manner)?;
            let laid = Laid::new(program, &needs);
            graph.arena = needs.arena;
            let average = (records + laid.record_bytes) / (taken.len() as u64 + 1);
            let enough = taken.len() as u64 >= worth_sharing(average, pass.slots().into());
            let these = laid.slab_bytes + laid.input_bytes + laid.record_bytes;
            let room = self.room;
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
        Ok(taken)
    }
}

impl<'q> Batch<(usize, Args<'q>)> for Many {
    type Launched = Recorded;

    fn check(&self) -> Result<(), RunError> {
        self.launcher.check()
    }

    /// What takes more than half of the room is alone in it.
    fn is_alone(&self, launched: &Recorded) -> bool {
        self.room.is_some_and(|room| launched.bytes > room / 2)
    }

    fn start(
        &mut self,
        queries: &[(usize, Args<'q>)],
        flight: usize,
        beside: bool,
    ) -> Result<(usize, Recorded), RunError> {
        let started = Instant::now();
        let taken = self.take_first(queries)?;
        let count = taken.len();
        let graphs = &self.graphs;
        let launch = PerCta {
            started,
            ctas: self.launcher.pass.slots().min(count as u32),
            queries: taken,
            flight,
            beside,
            states: States::Query,
            images: |pass: &Pass, images: &mut [u8], taken: &[Query<'_, '_>], bases: &[_]| {
                let image_bytes = up(pass.layout.tables_bytes()) as usize;
                images
                    .par_chunks_mut(image_bytes)
                    .zip(queries.par_iter().zip(taken).zip(bases))
                    .with_min_len(64)
                    .for_each(|(image, (((graph, _), query), bases))| {
                        let encoded = graphs[*graph].encode(pass, query, *bases);
                        image[..encoded.len()].copy_from_slice(&encoded);
                    });
            },
        };
        let more = launch.more(&self.launcher);
        if more > 0 {
            room_for(&self.launcher.pass.device, "the run", more)?;
        }
        Ok((count, launch.start(&mut self.launcher)?))
    }

    fn finish(
        &mut self,
        _queries: &[(usize, Args<'q>)],
        launched: Recorded,
    ) -> Result<Vec<Result<Outcome, RunError>>, RunError> {
        self.launcher.finish(launched)
    }
}

impl Bound {
    /// The topology, in the bytes of all of them, which begin at this address.
    fn read(
        &self,
        program: &Program,
        (bytes, base): (&[u8], u64),
    ) -> Result<Lent<'static>, RunError> {
        let column = |address: u64, (scalar, len): (Scalar, u64)| {
            let at = (address - base) as usize;
            let these = &bytes[at..at + (len * scalar.size_bytes()) as usize];
            column_of(scalar, these)
        };
        let graph = |i: usize| {
            let table = &self.tables[i];
            let words = |address, len| column(address, (Scalar::U32, len));
            let offsets = words(table.offsets, u64::from(table.nodes) + 1)?;
            csr_of(offsets, words(table.targets, table.edges.into())?)
        };
        read_back((program, &self.sizes), graph, |i, of| {
            column(self.columns[i], of)
        })
    }

    /// The image of a query on it, whose slab, inputs and record begin there.
    fn encode(&self, pass: &Pass, query: &Query<'_, '_>, bases: [u64; 3]) -> Vec<u8> {
        let tables = Tables {
            program: &pass.program,
            layout: pass.laid(),
            code: pass.code.address(),
            abort: pass.abort,
            most_steps: pass.most_steps,
            sizes: &query.sizes,
            topologies: self.tables.clone(),
            shapes: &query.laid.shapes,
            stamps: &[],
            // A CTA of its own walks long ranges as it does all others.
            ranges: vec![Ranges::default(); pass.layout.wave_count()],
            time_waves: pass.time_waves,
            compiled: pass.is_compiled(),
        };
        tables.encode(&query.laid.places(bases, |i| self.columns[i]))
    }
}

impl run::backend::Many for Many {
    fn run_batch(
        &mut self,
        queries: &[(usize, Args<'_>)],
        room: Option<u64>,
    ) -> Vec<Result<Outcome, RunError>> {
        self.room = room;
        let _armed = match self.launcher.arm() {
            Ok(armed) => armed,
            Err(e) => return vec![Err(e.into()); queries.len()],
        };
        self.run_all(queries)
    }

    fn counters(&self) -> Option<Counters> {
        Some(self.launcher.counts)
    }

    fn lend_topologies(&self) -> Result<Option<Vec<Lent<'_>>>, RunError> {
        let Column::U8(bytes) = self.arrays.read(Scalar::U8, self.arrays.bytes())? else {
            unreachable!("bytes are read as bytes");
        };
        let program = &*self.launcher.pass.program;
        let all = (&*bytes, self.arrays.address());
        let mut lent = for_queries(self.graphs.len())?;
        for graph in &self.graphs {
            lent.push(graph.read(program, all)?);
        }
        Ok(Some(lent))
    }

    fn count_code(&mut self, room: &Arc<dyn CodeRoom>) {
        self.launcher.pass.count_code(room);
    }

    fn set_stop(&mut self, stop: &Arc<Stop>) {
        self.launcher.stop = Some(Arc::clone(stop));
    }

    fn set_step_limit(&mut self, steps: Option<u64>) -> bool {
        self.launcher.pass.count_steps(steps)
    }

    fn limits(&self) -> ManyLimits {
        // A query has a CTA, and no bitmaps.
        ManyLimits {
            jit: true,
            pulls: false,
        }
    }

    fn follow(&mut self, hint: &ManyHint) -> Followed {
        let pass = &mut self.launcher.pass;
        pass.take_route(hint.route, hint.heat_words);
        let (code, notes) = pass.explain(hint.route);
        Followed {
            workers: pass.slots(),
            code,
            sweeps: None,
            notes,
        }
    }

    fn compile(&mut self) -> Result<bool, RunError> {
        self.launcher.pass.compile()
    }
}

impl Drop for Many {
    fn drop(&mut self) {
        // What is on its way uses what is about to be freed.
        let _ = self.launcher.pass.device.synchronize();
    }
}
