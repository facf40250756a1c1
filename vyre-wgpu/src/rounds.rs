//! Many rounds of a fixpoint in one submission.
//!
//! Each dispatch of a round is indirect. Between barrier groups a shader of one invocation, the aim, writes how many
//! workgroups the next dispatches have: what their frontiers have items for, and none once a group has failed or the
//! condition has said that the fixpoint is done. So rounds that were encoded and are not needed cost their dispatches,
//! and do nothing. The aim also counts rounds in the uniforms and trades the places of buffers that are swapped.
//!
//! | of a round | where its workgroups are from |
//! | --- | --- |
//! | the start of the round; the first group; `settle` | the aim at the end of the round before, or the host |
//! | each further group; `settle` | the aim behind the barrier |
//! | the condition | as `settle`; behind an aim of its own where it can fault |
//! | the aim at the end of the round | always one |
//!
//! How many rounds are encoded at a time follows how long those before took: a submission is neither cancelled nor cut
//! short, so it should take [`SHORT`], and the host should look as rarely as that allows.

use crate::device::Opened;
use crate::memory::BLOCKS;
use crate::pass::bound;
use crate::plan::Items;
use crate::session::Session;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use vyre_core::dsl::error::RunError;
use vyre_core::plan::shaders::WORKGROUP;
use vyre_core::run::schedule::{End, Ran};
use vyre_core::vir0::isa::Op;
use vyre_core::vir0::module::{Domain, FixpointId, Program, Step, WaveId};
use wgpu::{
    BindGroup, BindGroupDescriptor, BindGroupEntry, BindGroupLayout, BindGroupLayoutDescriptor,
    BindingResource, Buffer, BufferBinding, BufferBindingType, BufferUsages, ComputePassDescriptor,
    ComputePipeline, ComputePipelineDescriptor, PipelineCompilationOptions,
    PipelineLayoutDescriptor, ShaderModuleDescriptor, ShaderSource,
};

/// What a submission should take at least, where its fixpoint goes on for so long.
const SHORT: Duration = Duration::from_millis(5);

/// Rounds of the first submission, and of the largest one.
const FIRST: u64 = 4;
const MOST: u64 = 256;

/// Words of a table before its entries, and of an entry.
const HEAD: usize = 12;
const ENTRY: usize = 5;

const NONE: u32 = u32::MAX;

// The text of the aim has these as numbers.
const _: () = assert!(WORKGROUP == 64 && HEAD == 12 && ENTRY == 5);

/// The state of a batch behind its arguments: whether it goes on, rounds that were ended, and one more than the step at
/// which it failed.
const STATE: usize = 3;

/// The aim. Its table is laid out by [`Region::words`].
const AIM: &str = "
@group(0) @binding(0) var<storage, read> table: array<u32>;
@group(0) @binding(1) var<storage, read> control: array<u32>;
@group(0) @binding(2) var<storage, read_write> args: array<u32>;
@group(0) @binding(3) var<storage, read_write> uniforms: array<u32>;

@compute @workgroup_size(1)
fn aim() {
    let state = table[1];
    var goes_on = args[state] != 0u;
    if goes_on && control[table[2]] != 0u {
        goes_on = false;
        args[state + 2u] = table[4] + 1u;
    }
    let blocks = table[5];
    let block_words = table[6];
    let turns = table[0] != 0u;
    if goes_on && turns {
        args[state + 1u] = args[state + 1u] + 1u;
        goes_on = control[table[3]] == 0u;
    }
    let entries = table[8];
    if goes_on && turns {
        let swaps = 12u + 5u * entries;
        for (var block = 0u; block < table[7]; block++) {
            let first = blocks + block * block_words;
            let counted = first + table[10];
            uniforms[counted] = uniforms[counted] + 1u;
            for (var swap = 0u; swap < table[9]; swap++) {
                let a = first + table[swaps + 2u * swap];
                let b = first + table[swaps + 2u * swap + 1u];
                let before = uniforms[a];
                uniforms[a] = uniforms[b];
                uniforms[b] = before;
            }
        }
    }
    args[state] = select(0u, 1u, goes_on);
    for (var at = 0u; at < entries; at++) {
        let entry = 12u + 5u * at;
        var items = table[entry + 2u];
        if table[entry + 1u] != 0xffffffffu {
            items = control[table[entry + 1u]];
        }
        var groups = min(items / 64u + select(0u, 1u, items % 64u != 0u), table[entry + 3u]);
        if !goes_on {
            groups = 0u;
        }
        let to = 3u * table[entry];
        args[to] = groups;
        args[to + 1u] = 1u;
        args[to + 2u] = 1u;
        if table[entry + 4u] != 0xffffffffu {
            uniforms[blocks + table[entry + 4u] * block_words + table[11]] = groups;
        }
    }
}
";

/// The aim as a pipeline.
pub(crate) struct Aim {
    layout: BindGroupLayout,
    pipeline: ComputePipeline,
}

impl Aim {
    fn new(on: &Opened) -> Aim {
        let storage = |binding, read_only| {
            bound(
                binding,
                BufferBindingType::Storage { read_only },
                false,
                None,
            )
        };
        let layout = on
            .device
            .create_bind_group_layout(&BindGroupLayoutDescriptor {
                label: Some("aim"),
                entries: &[
                    storage(0, true),
                    storage(1, true),
                    storage(2, false),
                    storage(3, false),
                ],
            });
        let with = on.device.create_pipeline_layout(&PipelineLayoutDescriptor {
            label: Some("aim"),
            bind_group_layouts: &[Some(&layout)],
            immediate_size: 0,
        });
        let module = on.device.create_shader_module(ShaderModuleDescriptor {
            label: Some("aim"),
            source: ShaderSource::Wgsl(AIM.into()),
        });
        let pipeline = on
            .device
            .create_compute_pipeline(&ComputePipelineDescriptor {
                label: Some("aim"),
                layout: Some(&with),
                module: &module,
                entry_point: Some("aim"),
                compilation_options: PipelineCompilationOptions::default(),
                cache: None,
            });
        Aim { layout, pipeline }
    }
}

/// The aim of a device.
pub(crate) type Aims = OnceLock<Aim>;

/// Where the number of items is from.
#[derive(Clone, Copy, Debug)]
enum Source {
    /// There is one.
    One,
    /// A wave's, which is the same for the whole run.
    Fixed(WaveId),
    /// A word of `control`: for the aim, and for the host when the round has begun.
    Word { aim: usize, host: usize },
}

/// A dispatch whose workgroups an aim writes.
#[derive(Clone, Copy, Debug)]
struct Entry {
    slot: u32,
    source: Source,
    /// Workgroups, at most.
    most: u32,
    /// The block that tells the shader how many there are.
    block: Option<u32>,
}

/// What an aim is asked to do.
#[derive(Debug)]
struct Region {
    /// It ends the round.
    turns: bool,
    /// The step that it comes behind.
    step: usize,
    entries: Vec<Entry>,
}

/// A dispatch of a round.
#[derive(Clone, Copy, Debug)]
enum Part {
    Shader {
        shader: usize,
        slot: u32,
        block: u32,
    },
    Aim(usize),
}

/// What is made for a fixpoint once.
pub(crate) struct Batch {
    parts: Vec<Part>,
    /// The last one ends the round.
    regions: Vec<Region>,
    slots: u32,
    /// Waves in the order of their blocks; behind them, that of everything else.
    waves: Vec<WaveId>,
    args: Buffer,
    table: Buffer,
    table_words: u64,
    groups: Vec<BindGroup>,
    /// Rounds of the next submission.
    pace: u64,
}

/// Whether a condition may end in a fault.
fn can_fault(program: &Program, fixpoint: FixpointId) -> bool {
    let kernel = &program.kernels[program.fixpoints[fixpoint.index()].until.index()];
    let loops = kernel
        .code
        .iter()
        .any(|word| Op::from_code(word.op) == Some(Op::Loop));
    loops || !kernel.sites.is_empty()
}

/// A round as it is put together.
#[derive(Default)]
struct Round {
    parts: Vec<Part>,
    /// What is dispatched between two aims.
    segments: Vec<Vec<Entry>>,
    /// The step that each aim comes behind.
    steps: Vec<usize>,
    slots: u32,
}

impl Round {
    fn dispatch(&mut self, shader: usize, (source, most): (Source, u32), block: u32, tells: bool) {
        let slot = self.slots;
        self.slots += 1;
        if self.segments.is_empty() {
            self.segments.push(Vec::new());
        }
        let segment = self.segments.last_mut().expect("there is one");
        segment.push(Entry {
            slot,
            source,
            most,
            block: tells.then_some(block),
        });
        self.parts.push(Part::Shader {
            shader,
            slot,
            block,
        });
    }

    /// An aim, behind this step. What comes then is the next segment.
    fn aim(&mut self, step: usize) {
        self.parts.push(Part::Aim(self.steps.len()));
        self.steps.push(step);
        self.segments.push(Vec::new());
    }

    /// What each aim writes: the segment behind it, and behind the last one the first.
    fn regions(&mut self) -> Vec<Region> {
        // Nothing comes behind the last one.
        self.segments.pop();
        self.segments.rotate_left(1);
        let last = self.steps.len() - 1;
        let regions = self
            .steps
            .iter()
            .zip(std::mem::take(&mut self.segments))
            .enumerate();
        let regions = regions.map(|(at, (&step, entries))| Region {
            turns: at == last,
            step,
            entries,
        });
        regions.collect()
    }
}

impl Region {
    /// Its table.
    fn words(
        &self,
        session: &Session,
        batch: (u32, u32, u32),
        swaps: &[(u32, u32)],
    ) -> Result<Vec<u32>, RunError> {
        let (state, first_block, blocks) = batch;
        let plan = &session.pass.plan;
        let block_words = (session.memory.block_bytes / 4) as u32;
        let swaps = if self.turns { swaps } else { &[] };
        let mut words = vec![
            self.turns.into(),
            state,
            plan.status as u32,
            plan.verdict as u32,
            self.step as u32,
            first_block * block_words,
            block_words,
            blocks,
            self.entries.len() as u32,
            swaps.len() as u32,
            plan.round as u32,
            plan.groups as u32,
        ];
        debug_assert_eq!(words.len(), HEAD);
        for entry in &self.entries {
            let (word, constant) = match entry.source {
                Source::One => (NONE, 1),
                Source::Fixed(wave) => (NONE, session.fixed_items(wave)?),
                Source::Word { aim, .. } => (aim as u32, 0),
            };
            let block = entry.block.unwrap_or(NONE);
            words.extend([entry.slot, word, constant, entry.most, block]);
        }
        words.extend(swaps.iter().flat_map(|&(a, b)| [a, b]));
        Ok(words)
    }
}

impl Session {
    /// Items of a wave whose number is the same for the whole run.
    fn fixed_items(&self, wave: WaveId) -> Result<u32, RunError> {
        match &self.pass.plan.waves[wave.index()].items {
            Items::Length(length) => Ok(length.value(&self.sizes)?.min(u32::MAX.into()) as u32),
            Items::Word(_) => Ok(0),
        }
    }

    /// What is made for a fixpoint whose body begins behind this step.
    fn batch(&self, fixpoint: FixpointId, from: usize) -> Result<Batch, RunError> {
        let (program, plan, on) = (&*self.program, &self.pass.plan, &self.on);
        let ends = |step: &Step| *step == Step::Until(fixpoint);
        let until = program
            .schedule
            .iter()
            .position(ends)
            .expect("verified fixpoints end");
        let steps = &program.schedule[from + 1..until];
        let mut waves: Vec<WaveId> = Vec::new();
        for step in steps {
            if let Step::Wave(wave) = step
                && !waves.contains(wave)
            {
                waves.push(*wave);
            }
        }
        let common = waves.len() as u32;
        let one = (Source::One, 1);
        let shaders = &plan.fixpoints[fixpoint.index()];
        let mut round = Round::default();
        round.dispatch(shaders.begin, one, common, false);
        for (at, step) in (from + 1..).zip(steps) {
            match *step {
                Step::Wave(id) => {
                    let wave = &plan.waves[id.index()];
                    let block = waves.iter().position(|&w| w == id).unwrap_or(0) as u32;
                    let owned = match program.waves[id.index()].domain {
                        Domain::Items(f) | Domain::EdgesFrom(_, f) => {
                            let owner = program.frontiers[f.index()].owner;
                            (owner == Some(fixpoint)).then(|| plan.frontiers[f.index()].tail)
                        }
                        _ => None,
                    };
                    // The start of the round makes items of what was pushed. The aim before it looks at that.
                    let is_first = round.steps.is_empty();
                    let source = match wave.items {
                        Items::Length(_) => Source::Fixed(id),
                        Items::Word(host) => Source::Word {
                            aim: owned.filter(|_| is_first).unwrap_or(host),
                            host,
                        },
                    };
                    round.dispatch(wave.sweep, (source, on.most_groups()), block, true);
                    round.dispatch(wave.close, (source, 1), block, false);
                }
                Step::Barrier => {
                    round.dispatch(plan.settle, one, common, false);
                    round.aim(at);
                }
                Step::Loop(_) | Step::Until(_) | Step::Each(..) | Step::End => {
                    unreachable!("the driver asks for fixpoints of waves alone")
                }
            }
        }
        round.dispatch(plan.settle, one, common, false);
        if can_fault(program, fixpoint) {
            round.aim(until);
        }
        round.dispatch(shaders.until, one, common, false);
        round.aim(until);
        let regions = round.regions();

        let align = u64::from(on.limits.min_storage_buffer_offset_alignment.max(16));
        let swaps = shaders.swaps.len();
        let words = regions
            .iter()
            .map(|r| HEAD + ENTRY * r.entries.len() + 2 * swaps);
        let bytes = (4 * words.max().unwrap_or(0) as u64).next_multiple_of(align);
        let usage = BufferUsages::STORAGE | BufferUsages::COPY_DST;
        let table = on.buffer("what aims are told", bytes * regions.len() as u64, usage)?;
        let args_bytes = 4 * (3 * u64::from(round.slots) + STATE as u64);
        let usage = usage | BufferUsages::INDIRECT | BufferUsages::COPY_SRC;
        let args = on.buffer("arguments of dispatches", args_bytes, usage)?;
        let aim = on.aim();
        let whole = |binding, buffer| BindGroupEntry {
            binding,
            resource: BindingResource::Buffer(BufferBinding {
                buffer,
                offset: 0,
                size: None,
            }),
        };
        let groups = (0..regions.len() as u64).map(|at| {
            let region = BindGroupEntry {
                binding: 0,
                resource: BindingResource::Buffer(BufferBinding {
                    buffer: &table,
                    offset: at * bytes,
                    size: std::num::NonZeroU64::new(bytes),
                }),
            };
            on.device.create_bind_group(&BindGroupDescriptor {
                label: Some("aim"),
                layout: &aim.layout,
                entries: &[
                    region,
                    whole(1, &self.memory.control),
                    whole(2, &args),
                    whole(3, &self.memory.uniforms),
                ],
            })
        });
        Ok(Batch {
            groups: groups.collect(),
            parts: round.parts,
            regions,
            slots: round.slots,
            waves,
            args,
            table,
            table_words: bytes / 4,
            pace: FIRST,
        })
    }

    /// Runs rounds of a fixpoint, the first of which has begun, in one submission.
    pub(crate) fn many(
        &mut self,
        fixpoint: FixpointId,
        from: usize,
        (round, most): (u32, u64),
    ) -> Result<Ran, RunError> {
        let batch = match self.batches[fixpoint.index()].take() {
            Some(batch) => batch,
            None => self.batch(fixpoint, from)?,
        };
        let (mut batch, started) = (batch, Instant::now());
        let pace = self.at_once.unwrap_or(batch.pace).clamp(1, most);
        let ran = self.submit(&batch, fixpoint, (round, pace));
        let took = started.elapsed();
        batch.pace = match &ran {
            Ok(ran) if ran.rounds < pace => ran.rounds.next_power_of_two().clamp(FIRST, MOST),
            _ if took < SHORT => (2 * pace).min(MOST),
            _ if took > 4 * SHORT => (pace / 2).max(1),
            _ => pace,
        };
        self.batches[fixpoint.index()] = Some(batch);
        ran
    }

    fn submit(
        &mut self,
        batch: &Batch,
        fixpoint: FixpointId,
        (round, rounds): (u32, u64),
    ) -> Result<Ran, RunError> {
        let pass = Arc::clone(&self.pass);
        let swaps = &pass.plan.fixpoints[fixpoint.index()].swaps;
        let blocks = batch.waves.len() as u32 + 1;
        let first_block = self.room_for(blocks)?;
        // Every dispatch of a round has its arguments, and the state is behind them.
        let state = 3 * batch.slots;
        let mut args = vec![0u32; state as usize];
        args.extend([1, 0, 0]);
        let mut groups_of = vec![1; blocks as usize];
        let turn = batch.regions.last().expect("a round ends with an aim");
        for entry in &turn.entries {
            let items = match entry.source {
                Source::One => 1,
                Source::Fixed(wave) => self.fixed_items(wave)?,
                Source::Word { host, .. } => self.control[host],
            };
            let groups = items.div_ceil(WORKGROUP).min(entry.most);
            let at = 3 * entry.slot as usize;
            args[at..at + 3].copy_from_slice(&[groups, 1, 1]);
            if let Some(block) = entry.block {
                groups_of[block as usize] = groups;
            }
        }
        let mut words = Vec::new();
        for &groups in &groups_of[..batch.waves.len()] {
            words.push(self.block(round, groups, [0; 5]));
        }
        // The condition sees buffers that have traded places.
        swaps.iter().for_each(|&(a, b)| self.trade(a, b));
        words.push(self.block(round, 1, [0; 5]));
        swaps.iter().rev().for_each(|&(a, b)| self.trade(a, b));
        for block in words {
            self.push_block(&block)?;
        }
        let params = swaps.iter().filter_map(|&(a, b)| {
            let param = |place| pass.plan.param_of(place).map(|at| at as u32);
            Some((param(a)?, param(b)?))
        });
        let params: Vec<(u32, u32)> = params.collect();
        let mut table = Vec::new();
        for (at, region) in batch.regions.iter().enumerate() {
            table.extend(region.words(self, (state, first_block, blocks), &params)?);
            table.resize((at + 1) * batch.table_words as usize, 0);
        }
        let queue = &self.on.queue;
        queue.write_buffer(&batch.table, 0, bytemuck::cast_slice(&table));
        queue.write_buffer(&batch.args, 0, bytemuck::cast_slice(&args));

        let mut encoder = self.encode();
        let group = self.memory.group(&pass);
        let stride = self.memory.block_bytes as u32;
        let on = Arc::clone(&self.on);
        let aim = on.aim();
        let mut commands = encoder.begin_compute_pass(&ComputePassDescriptor::default());
        for nth in 0..rounds {
            // The first round has begun.
            let parts = if nth == 0 {
                &batch.parts[1..]
            } else {
                &batch.parts[..]
            };
            for part in parts {
                match *part {
                    Part::Shader {
                        shader,
                        slot,
                        block,
                    } => {
                        commands.set_pipeline(pass.pipeline(&on, shader));
                        commands.set_bind_group(0, &group, &[(first_block + block) * stride]);
                        commands.dispatch_workgroups_indirect(&batch.args, 12 * u64::from(slot));
                    }
                    Part::Aim(at) => {
                        commands.set_pipeline(&aim.pipeline);
                        commands.set_bind_group(0, &batch.groups[at], &[]);
                        commands.dispatch_workgroups(1, 1, 1);
                    }
                }
            }
        }
        drop(commands);
        let more = [(&batch.args, 4 * u64::from(state), 4 * STATE as u64)];
        let told = self.look_after(encoder, &more)?;
        let (rounds, failed) = (told[1], told[2]);
        // Swaps of one round may share a buffer, so that two rounds of them need not undo each other.
        for _ in 0..rounds {
            swaps.iter().for_each(|&(a, b)| self.trade(a, b));
        }
        let end = match failed.checked_sub(1) {
            Some(at) => End::Failed {
                at: at as usize,
                failures: self.failures()?.unwrap_or_default(),
            },
            None => End::Said(self.verdict(fixpoint)?),
        };
        Ok(Ran {
            rounds: rounds.into(),
            end,
        })
    }

    /// Whether rounds of a fixpoint with a body of so many waves fit into a submission.
    pub(crate) fn has_room(&self, waves: usize) -> bool {
        (waves as u64) < BLOCKS / 2
    }
}

impl Opened {
    fn aim(&self) -> &Aim {
        self.aims.get_or_init(|| Aim::new(self))
    }
}
