//! What a session has on the device: a storage buffer for each arena, `control`, the uniforms of the dispatches of one
//! submission, and buffers through which the host reads.

use crate::device::Opened;
use crate::pass::Pass;
use crate::plan::{self, Plan};
use std::any::Any;
use std::collections::HashMap;
use std::sync::{Arc, mpsc};
use std::time::Duration;
use vyre_core::dsl::columns::{Column, Slice};
use vyre_core::dsl::error::RunError;
use vyre_core::plan::device::{DeviceMemory, FrontierBytes};
use vyre_core::plan::shaders::{is_stamped, record_words};
use vyre_core::vir0::module::{FrontierId, Program, Role, WaveId};
use vyre_core::vir0::scalar::Scalar;
use vyre_core::vir0::sizes::Sizes;
use wgpu::{
    BindGroup, BindGroupDescriptor, BindGroupEntry, BindingResource, Buffer, BufferBinding,
    BufferUsages, CommandEncoder, CommandEncoderDescriptor, MapMode,
};

/// What turns a hang into an error.
const A_MINUTE: Duration = Duration::from_secs(60);

/// Dispatches of one submission that have a uniform of their own, at most.
pub(crate) const BLOCKS: u64 = 128;

/// Bytes that are read back at a time, at most.
const READ_BYTES: u64 = 64 << 20;

const STORAGE: BufferUsages = BufferUsages::STORAGE
    .union(BufferUsages::COPY_SRC)
    .union(BufferUsages::COPY_DST);

/// A storage buffer.
struct Arena {
    buffer: Buffer,
    bytes: u64,
}

/// Where a place is in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct At {
    /// The first word.
    pub(crate) word: u64,
    pub(crate) words: u64,
}

/// The buffers of a session.
pub(crate) struct Memory {
    on: Arc<Opened>,
    /// By binding.
    arenas: HashMap<u32, Arena>,
    pub(crate) control: Buffer,
    /// A block for each dispatch of a submission.
    pub(crate) uniforms: Buffer,
    /// Bytes from block to block.
    pub(crate) block_bytes: u64,
    /// Read by the host.
    staging: Option<Arena>,
    /// Bytes of that which the host sees.
    seen_bytes: u64,
    /// All of them, as shaders have them.
    group: Option<BindGroup>,
    /// How often an arena was made.
    pub(crate) made: u64,
    /// Words of topologies at the beginning of `fixed`, which stay for the session.
    resident_words: u64,
}

impl Memory {
    pub(crate) fn new(on: &Arc<Opened>, pass: &Pass) -> Result<Memory, RunError> {
        let records = pass.plan.waves.iter().map(|wave| wave.record_words).max();
        let records = records.unwrap_or(0) * u64::from(on.most_groups());
        let control_bytes = 4 * (pass.plan.control_words as u64 + records.max(1));
        let align = u64::from(on.limits.min_uniform_buffer_offset_alignment.max(16));
        let block_bytes = pass.uniform_bytes.next_multiple_of(align);
        let usage = BufferUsages::COPY_DST | BufferUsages::UNIFORM;
        Ok(Memory {
            arenas: HashMap::new(),
            control: on.buffer("`control`", control_bytes, STORAGE)?,
            uniforms: on.buffer("the uniforms", BLOCKS * block_bytes, usage)?,
            block_bytes,
            staging: None,
            seen_bytes: 0,
            group: None,
            made: 0,
            resident_words: 0,
            on: Arc::clone(on),
        })
    }

    pub(crate) fn arena(&self, binding: u32) -> &Buffer {
        &self.arenas[&binding].buffer
    }

    /// Makes an arena at least as large. What it held is lost, but for topologies.
    fn reserve(&mut self, binding: u32, words: u64, largest: &str) -> Result<(), RunError> {
        let bytes = words.max(1).saturating_mul(4).next_multiple_of(16);
        if self
            .arenas
            .get(&binding)
            .is_some_and(|arena| arena.bytes >= bytes)
        {
            return Ok(());
        }
        let what = format!("what lies beside `{largest}`");
        let buffer = self.on.buffer(&what, bytes, STORAGE)?;
        let kept = 4 * self.resident_words;
        if let Some(before) = self.arenas.get(&binding)
            && binding == plan::FIXED
            && kept > 0
        {
            let mut encoder = self.encoder();
            encoder.copy_buffer_to_buffer(&before.buffer, 0, &buffer, 0, kept);
            self.on.queue.submit([encoder.finish()]);
        }
        self.arenas.insert(binding, Arena { buffer, bytes });
        self.group = None;
        self.made += 1;
        Ok(())
    }

    /// Places everything of a run: what stays for the session at the beginning of its arena, and the rest behind it.
    /// Stamps that only sweeps which pull ask for have no room where none does.
    pub(crate) fn place(
        &mut self,
        plan: &Plan,
        stays: &[bool],
        (sizes, pulls): (&Sizes, bool),
    ) -> Result<Vec<At>, RunError> {
        let unused = |at: usize| !pulls && plan.stamps.contains(&(at, false));
        let mut places = vec![At::default(); plan.places.len()];
        let mut ends: HashMap<u32, (u64, u64, &str)> =
            plan.arenas.iter().map(|&a| (a, (0, 0, ""))).collect();
        for resident in [true, false] {
            for (at, place) in plan.places.iter().enumerate() {
                if stays[at] != resident {
                    continue;
                }
                let words = match unused(at) {
                    true => 0,
                    false => place.words.value(sizes)?,
                };
                let (end, most, largest) = ends.get_mut(&place.arena).expect("arenas are bound");
                places[at] = At { word: *end, words };
                *end = end.saturating_add(words);
                if words > *most || largest.is_empty() {
                    (*most, *largest) = (words, &place.name);
                }
            }
        }
        for (binding, (words, _, largest)) in ends {
            self.reserve(binding, words, largest)?;
        }
        Ok(places)
    }

    /// Writes what stays for the session.
    pub(crate) fn keep(
        &mut self,
        plan: &Plan,
        given: &[(usize, Slice<'_>)],
        sizes: &Sizes,
    ) -> Result<(), RunError> {
        let mut words = 0;
        let mut largest = ("topologies", 0);
        for (place, _) in given {
            let place = &plan.places[*place];
            let len = place.words.value(sizes)?;
            words += len;
            if len > largest.1 {
                largest = (&place.name, len);
            }
        }
        self.reserve(plan::FIXED, words, largest.0)?;
        let mut at = 0;
        for (place, values) in given {
            self.write(plan::FIXED, at, *values);
            at += plan.places[*place].words.value(sizes)?;
        }
        self.resident_words = words;
        self.on.check()
    }

    /// Writes elements from a word of an arena on.
    pub(crate) fn write(&self, binding: u32, word: u64, values: Slice<'_>) {
        let bytes: &[u8] = match values {
            Slice::Bool(v) => return self.write_words(binding, word, v.iter().map(|&x| x.into())),
            Slice::U8(v) => return self.write_words(binding, word, v.iter().map(|&x| x.into())),
            Slice::U32(v) => bytemuck::cast_slice(v),
            Slice::I32(v) => bytemuck::cast_slice(v),
            Slice::F32(v) => bytemuck::cast_slice(v),
            Slice::U64(v) => bytemuck::cast_slice(v),
            Slice::I64(v) => bytemuck::cast_slice(v),
            Slice::F64(v) => bytemuck::cast_slice(v),
        };
        if !bytes.is_empty() {
            self.on
                .queue
                .write_buffer(self.arena(binding), 4 * word, bytes);
        }
    }

    fn write_words(&self, binding: u32, word: u64, words: impl Iterator<Item = u32>) {
        let words: Vec<u32> = words.collect();
        self.write(binding, word, Slice::U32(&words));
    }

    /// All buffers, as shaders have them.
    pub(crate) fn group(&mut self, pass: &Pass) -> BindGroup {
        if let Some(group) = &self.group {
            return group.clone();
        }
        let whole = |buffer| {
            BindingResource::Buffer(BufferBinding {
                buffer,
                offset: 0,
                size: None,
            })
        };
        let uniform = BindGroupEntry {
            binding: plan::PARAMS,
            resource: BindingResource::Buffer(BufferBinding {
                buffer: &self.uniforms,
                offset: 0,
                size: std::num::NonZeroU64::new(pass.uniform_bytes),
            }),
        };
        let control = BindGroupEntry {
            binding: plan::CONTROL,
            resource: whole(&self.control),
        };
        let mut entries = vec![uniform, control];
        entries.extend(pass.plan.arenas.iter().map(|&binding| BindGroupEntry {
            binding,
            resource: whole(self.arena(binding)),
        }));
        let group = self.on.device.create_bind_group(&BindGroupDescriptor {
            label: None,
            layout: &pass.layout,
            entries: &entries,
        });
        self.group = Some(group.clone());
        group
    }

    pub(crate) fn encoder(&self) -> CommandEncoder {
        self.on
            .device
            .create_command_encoder(&CommandEncoderDescriptor::default())
    }

    /// Submits commands, then copies of these ranges of bytes, and waits for what they hold: one behind the other, for
    /// the host to see until it lets go of them. How many bytes.
    pub(crate) fn fetch(
        &mut self,
        mut encoder: CommandEncoder,
        ranges: &[(&Buffer, u64, u64)],
    ) -> Result<u64, RunError> {
        self.let_go();
        let bytes: u64 = ranges.iter().map(|(_, _, bytes)| bytes).sum();
        let staging = self.staging(bytes)?;
        let mut at = 0;
        for &(buffer, from, bytes) in ranges {
            if bytes > 0 {
                encoder.copy_buffer_to_buffer(buffer, from, &staging, at, bytes);
            }
            at += bytes;
        }
        let submitted = self.on.queue.submit([encoder.finish()]);
        let (tell, told) = mpsc::sync_channel(1);
        if bytes > 0 {
            // Nobody listens any more where the wait has failed.
            staging.map_async(MapMode::Read, 0..bytes, move |result| {
                drop(tell.try_send(result))
            });
            self.seen_bytes = bytes;
        }
        self.on.wait(submitted)?;
        if bytes == 0 {
            return Ok(0);
        }
        // Another thread that waits for the device may be the one that tells.
        match told.recv_timeout(A_MINUTE) {
            Ok(Ok(())) => Ok(bytes),
            Ok(Err(why)) => Err(RunError::Backend(why.to_string())),
            Err(_) => Err(RunError::Backend(
                "the device did not map what was read back".to_owned(),
            )),
        }
    }

    /// Shows what was fetched.
    pub(crate) fn see<T>(&self, take: impl FnOnce(&[u8]) -> T) -> Result<T, RunError> {
        let Some(staging) = self.staging.as_ref().filter(|_| self.seen_bytes > 0) else {
            return Ok(take(&[]));
        };
        let view = staging.buffer.get_mapped_range(0..self.seen_bytes);
        let view = view.map_err(|e| RunError::Backend(e.to_string()))?;
        Ok(take(&view))
    }

    /// The host lets go of what was fetched.
    pub(crate) fn let_go(&mut self) {
        if self.seen_bytes > 0
            && let Some(staging) = &self.staging
        {
            staging.buffer.unmap();
        }
        self.seen_bytes = 0;
    }

    fn staging(&mut self, bytes: u64) -> Result<Buffer, RunError> {
        let bytes = bytes.max(256).next_multiple_of(16);
        if let Some(staging) = self.staging.as_ref().filter(|s| s.bytes >= bytes) {
            return Ok(staging.buffer.clone());
        }
        let usage = BufferUsages::MAP_READ | BufferUsages::COPY_DST;
        let buffer = self.on.buffer("what is read back", bytes, usage)?;
        self.staging = Some(Arena {
            buffer: buffer.clone(),
            bytes,
        });
        Ok(buffer)
    }

    /// Reads words of arenas into columns, in as few submissions as fit.
    pub(crate) fn columns(&mut self, wanted: &mut [Wanted]) -> Result<(), RunError> {
        let mut pieces = Vec::new();
        for (nth, of) in wanted.iter().enumerate() {
            let mut done = 0;
            while done < of.at.words {
                let words = (of.at.words - done).min(READ_BYTES / 4);
                pieces.push((nth, done, words));
                done += words;
            }
        }
        let mut pieces = &pieces[..];
        while !pieces.is_empty() {
            let mut bytes = 0;
            let fit = pieces.iter().take_while(|(_, _, words)| {
                bytes += 4 * words;
                bytes <= READ_BYTES
            });
            let (now, rest) = pieces.split_at(fit.count());
            let buffers = now.iter().map(|&(nth, done, words)| {
                let of = &wanted[nth];
                let from = 4 * (of.at.word + done);
                (self.arena(of.arena).clone(), from, 4 * words)
            });
            let buffers: Vec<(Buffer, u64, u64)> = buffers.collect();
            let ranges = buffers
                .iter()
                .map(|(buffer, from, len)| (buffer, *from, *len));
            let ranges: Vec<(&Buffer, u64, u64)> = ranges.collect();
            let encoder = self.encoder();
            self.fetch(encoder, &ranges)?;
            self.see(|bytes| {
                let mut words: &[u32] = bytemuck::cast_slice(bytes);
                for &(nth, _, len) in now {
                    let (these, others) = words.split_at(len as usize);
                    append(&mut wanted[nth].column, these);
                    words = others;
                }
            })?;
            self.let_go();
            pieces = rest;
        }
        Ok(())
    }
}

/// A result that is read.
pub(crate) struct Wanted {
    pub(crate) arena: u32,
    pub(crate) at: At,
    /// Where its elements go, which has none yet.
    pub(crate) column: Column,
}

/// Words become elements, behind those that a column has.
pub(crate) fn append(column: &mut Column, words: &[u32]) {
    let wide = || {
        words
            .chunks_exact(2)
            .map(|w| u64::from(w[1]) << 32 | u64::from(w[0]))
    };
    match column {
        Column::Bool(v) => v.extend(words.iter().map(|&w| w != 0)),
        Column::U8(v) => v.extend(words.iter().map(|&w| w as u8)),
        Column::U32(v) => v.extend_from_slice(words),
        Column::I32(v) => v.extend_from_slice(bytemuck::cast_slice(words)),
        Column::F32(v) => v.extend_from_slice(bytemuck::cast_slice(words)),
        Column::U64(v) => v.extend(wide()),
        Column::I64(v) => v.extend(wide().map(|w| w as i64)),
        Column::F64(v) => v.extend(wide().map(f64::from_bits)),
    }
}

/// What shaders take of a device's memory, for budgets.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    /// Workgroups whose records there is room for.
    pub(crate) groups: u32,
    /// Bytes of the uniform of one dispatch.
    pub(crate) block_bytes: u64,
}

impl DeviceMemory for Layout {
    fn align_bytes(&self) -> u64 {
        4
    }

    fn frontier(&self, program: &Program, id: FrontierId, sizes: &Sizes) -> FrontierBytes {
        let frontier = &program.frontiers[id.index()];
        let capacity = sizes.resolve(program, frontier.capacity).unwrap_or(0);
        let sides = if frontier.owner.is_some() { 2 } else { 1 };
        let rows = frontier
            .fields
            .iter()
            .map(|f| u64::from(f.rows()))
            .sum::<u64>()
            .max(1);
        let seen = if is_stamped(program, id) {
            sizes.nodes
        } else {
            0
        };
        let items = capacity.saturating_mul(sides * rows);
        FrontierBytes {
            passing: items.saturating_add(seen).saturating_mul(4),
            lasting: 0,
        }
    }

    /// Records, uniforms, what a bool or a byte has more than a byte, and what results are read through.
    fn beside_bytes(&self, program: &Program, sizes: &Sizes) -> u64 {
        let waves = (0..program.waves.len() as u16).map(|w| record_words(program, WaveId(w)));
        let records = u64::from(waves.max().unwrap_or(0)) * u64::from(self.groups);
        let fixed = 4 * records + BLOCKS * self.block_bytes;
        let len = |extent| sizes.resolve(program, extent).unwrap_or(0);
        let more = |scalar: Scalar, len: u64| {
            len.saturating_mul((4 * u64::from(scalar.rows())) - scalar.size_bytes())
        };
        let buffers = program.buffers.iter().map(|b| {
            let words = len(b.extent).saturating_mul(4 * u64::from(b.scalar.rows()));
            let read = match b.role {
                Role::Output | Role::InOut => words.min(READ_BYTES),
                Role::Topology | Role::Input | Role::Scratch => 0,
            };
            more(b.scalar, len(b.extent)).saturating_add(read)
        });
        let lists = program.lists.iter().flat_map(|l| {
            let capacity = len(l.capacity);
            l.fields.iter().map(move |&f| more(f, capacity))
        });
        buffers.chain(lists).fold(fixed, u64::saturating_add)
    }

    fn is(&self, other: &dyn Any) -> bool {
        other.downcast_ref() == Some(self)
    }
}
