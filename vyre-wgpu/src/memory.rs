//! What a session has on the adapter: its arenas, the state of its runs, and the buffers that results come back in.

use crate::gpu::Gpu;
use crate::layout::{Class, Layout, Part, Place};
use crate::slots::{self, Slots, groups};
use crate::timing::{STOPWATCH_BYTES, Stopwatch};
use vyre_core::dsl::columns::{Column, Slice};
use vyre_core::dsl::csr::Csr;
use vyre_core::dsl::error::RunError;
use vyre_core::run::args::Args;
use vyre_core::vir0::module::{
    BufferId, Domain, Extent, FrontierId, ListId, Program, Role, ScalarId, TopologyId, WaveId,
};
use vyre_core::vir0::scalar::Scalar;
use vyre_core::vir0::sizes::Sizes;
use wgpu::{BufferUsages as Usage, CommandEncoder};

/// Bytes between the numbers that [`Memory::here`] has for the control: what every adapter allows.
pub(crate) const HERE_STRIDE: u64 = 256;

/// The buffers of a session.
pub(crate) struct Memory {
    pub(crate) layout: Layout,
    arenas: Vec<wgpu::Buffer>,
    pub(crate) state: wgpu::Buffer,
    pub(crate) counts: wgpu::Buffer,
    pub(crate) args: wgpu::Buffer,
    /// The number of each barrier group, and one that no group has.
    pub(crate) here: wgpu::Buffer,
    /// Where the host looks: the head of the state, the counts, and the timestamps of the submission.
    look: wgpu::Buffer,
    pub(crate) bytes: u64,
}

/// What the host sees of a run.
pub(crate) struct View {
    pub(crate) state: Vec<u32>,
    pub(crate) counts: Vec<u32>,
    /// What its submission took, in ticks of the timestamps.
    pub(crate) ticks: u64,
}

impl View {
    /// Two words, low first.
    pub(crate) fn pair(&self, at: u32) -> u64 {
        let at = at as usize;
        u64::from(self.state[at]) | u64::from(self.state[at + 1]) << 32
    }
}

impl Memory {
    /// Buffers of a layout, with what a session is made of.
    ///
    /// # Errors
    /// There is no memory.
    pub(crate) fn new(
        gpu: &Gpu,
        program: &Program,
        (layout, slots): (Layout, &Slots),
        (graphs, columns): (&[Csr], &[(BufferId, Column)]),
    ) -> Result<Memory, RunError> {
        let mut bytes = 0;
        let mut make = |what: &str, size: u64, usage| {
            // Nothing is bound that has no bytes.
            let size = size.next_multiple_of(4).max(16);
            bytes += size;
            gpu.buffer(what, size, usage)
        };
        let storage = Usage::STORAGE | Usage::COPY_SRC | Usage::COPY_DST;
        let arenas = layout.arenas();
        let arenas = arenas.map(|(arena, size)| make(&arena.to_string(), size, storage));
        let arenas = arenas.collect::<Result<Vec<_>, _>>()?;
        let (head, counts) = (
            u64::from(slots.head_words()),
            u64::from(slots.counts_words()),
        );
        let state = make("state", 4 * u64::from(slots.state_words()), storage)?;
        let counts_buffer = make("counts", 4 * counts, storage)?;
        let args_bytes = 12 * program.waves.len() as u64;
        let args = make("args", args_bytes, storage | Usage::INDIRECT)?;
        let numbers = groups(program).len() as u64 + 1;
        let here = make(
            "here",
            HERE_STRIDE * numbers,
            Usage::UNIFORM | Usage::COPY_DST,
        )?;
        let look = make(
            "look",
            4 * (head + counts) + STOPWATCH_BYTES,
            Usage::MAP_READ | Usage::COPY_DST,
        )?;
        let memory = Memory {
            layout,
            arenas,
            state,
            counts: counts_buffer,
            args,
            here,
            look,
            bytes,
        };
        let mut numbered = vec![0u32; (HERE_STRIDE / 4 * numbers) as usize];
        for (n, number) in numbered.chunks_mut((HERE_STRIDE / 4) as usize).enumerate() {
            number[0] = match n as u64 + 1 == numbers {
                true => u32::MAX,
                false => n as u32,
            };
        }
        gpu.write(&memory.here, 0, &numbered);
        memory.upload_all(gpu, &fixed((graphs, columns)));
        gpu.check()?;
        Ok(memory)
    }

    fn upload_all(&self, gpu: &Gpu, parts: &[(Part, Slice<'_>)]) {
        for &(part, values) in parts {
            self.upload(gpu, part, values);
        }
    }

    /// Whether another layout has the same bindings, and no arena is larger than there is memory for.
    pub(crate) fn takes(&self, layout: &Layout) -> bool {
        let mut sizes = layout.arenas().zip(&self.arenas);
        self.layout.is_like(layout) && sizes.all(|((_, bytes), buffer)| bytes <= buffer.size())
    }

    /// Goes over to a layout that it [`takes`](Memory::takes). What a session is made of goes up again where it has
    /// another place.
    pub(crate) fn lay_out(
        &mut self,
        gpu: &Gpu,
        layout: Layout,
        with: (&[Csr], &[(BufferId, Column)]),
    ) {
        let before = std::mem::replace(&mut self.layout, layout);
        let mut parts = fixed(with);
        parts.retain(|&(part, _)| before.place(part) != self.layout.place(part));
        self.upload_all(gpu, &parts);
    }

    /// The arenas, in the order of their bindings.
    pub(crate) fn arenas(&self) -> &[wgpu::Buffer] {
        &self.arenas
    }

    /// A place's buffer, and the byte in it where the place begins.
    fn at(&self, place: Place) -> (&wgpu::Buffer, u64) {
        let nth = self
            .layout
            .arenas()
            .position(|(arena, _)| arena == place.arena);
        let nth = nth.expect("a place is in an arena of its layout");
        (&self.arenas[nth], place.at * place.arena.class.unit_bytes())
    }

    fn upload(&self, gpu: &Gpu, part: Part, values: Slice<'_>) {
        let (buffer, at) = self.at(self.layout.place(part));
        match values {
            Slice::Bool(v) => gpu.write_words(buffer, at, v.iter().map(|&x| u32::from(x))),
            Slice::U8(v) => gpu.write_words(buffer, at, v.iter().map(|&x| u32::from(x))),
            Slice::U32(v) => gpu.write(buffer, at, v),
            Slice::I32(v) => gpu.write(buffer, at, v),
            Slice::F32(v) => gpu.write(buffer, at, v),
            Slice::U64(v) => gpu.write(buffer, at, v),
            Slice::I64(v) => gpu.write(buffer, at, v),
            Slice::F64(v) => gpu.write(buffer, at, v),
        }
    }

    /// Brings everything to the start of a run. What is cleared is cleared by `encoder`, behind what is written.
    pub(crate) fn begin(
        &self,
        gpu: &Gpu,
        program: &Program,
        args: &Args<'_>,
        encoder: &mut CommandEncoder,
    ) {
        encoder.clear_buffer(&self.counts, 0, None);
        for f in (0..).map(FrontierId).take(program.frontiers.len()) {
            if program.frontiers[f.index()].unique {
                self.clear(Part::Stamps(f), encoder);
            }
        }
        for (id, buffer) in (0..).map(BufferId).zip(&program.buffers) {
            let part = Part::Buffer(id);
            match buffer.role {
                Role::Topology => {}
                Role::Input | Role::InOut => {
                    let given = args.inputs.iter().find(|(b, _)| *b == id);
                    if let Some((_, values)) = given {
                        self.upload(gpu, part, *values);
                    }
                }
                Role::Output | Role::Scratch => {
                    let init = buffer.init.map_or(0, |c| program.constants[c.index()].bits);
                    self.fill(gpu, part, buffer.scalar, init, encoder);
                }
            }
        }
        let words: Vec<u32> = program.waves.iter().flat_map(|_| [0, 1, 1]).collect();
        gpu.write(&self.args, 0, &words);
    }

    fn clear(&self, part: Part, encoder: &mut CommandEncoder) {
        let place = self.layout.place(part);
        let (buffer, at) = self.at(place);
        if place.bytes > 0 {
            encoder.clear_buffer(buffer, at, Some(place.bytes));
        }
    }

    fn fill(&self, gpu: &Gpu, part: Part, scalar: Scalar, bits: u64, encoder: &mut CommandEncoder) {
        if bits == 0 {
            return self.clear(part, encoder);
        }
        let place = self.layout.place(part);
        let (buffer, at) = self.at(place);
        match scalar.rows() {
            1 => gpu.write_words(buffer, at, (0..place.bytes / 4).map(|_| bits as u32)),
            _ => gpu.write(buffer, at, &vec![bits; (place.bytes / 8) as usize]),
        }
    }

    /// The head of the state at the start of a run.
    pub(crate) fn first_state(
        &self,
        program: &Program,
        (slots, sizes): (&Slots, &Sizes),
        graphs: &[Csr],
    ) -> Vec<u32> {
        let mut state = vec![0u32; slots.head_words() as usize];
        let mut set = |at: u32, value: u64| state[at as usize] = value as u32;
        let at = |part| self.layout.place(part).at;
        let len = |extent: Extent| sizes.resolve(program, extent).unwrap_or(0);
        set(slots::MODE, slots::ADVANCE.into());
        set(slots::NODES, sizes.nodes);
        for (b, buffer) in (0..).map(BufferId).zip(&program.buffers) {
            set(slots.buffer(b), at(Part::Buffer(b)));
            set(slots.buffer(b) + 1, len(buffer.extent));
        }
        for (t, graph) in (0..).map(TopologyId).zip(graphs) {
            let first = slots.topology(t);
            set(first, at(Part::Offsets(t)));
            set(first + 1, at(Part::Targets(t)));
            set(first + 2, graph.edge_count() as u64);
            let degrees = graph.offsets().windows(2).map(|pair| pair[1] - pair[0]);
            let most = degrees.max().unwrap_or(0).max(1);
            // The edges of as many nodes can be counted with 32 bits.
            set(first + 3, u64::from(u32::MAX / most));
        }
        for (f, frontier) in (0..).map(FrontierId).zip(&program.frontiers) {
            let first = slots.frontier(f);
            let capacity = len(frontier.capacity).min(u64::from(u32::MAX));
            set(first, capacity);
            if frontier.unique {
                set(first + 1, at(Part::Stamps(f)));
            }
            set(first + 2, 1);
            for k in 0..frontier.fields.len().max(1) as u16 {
                let part = Part::Items(f, k);
                let words = part.element_bytes(program) / 4;
                let other = match frontier.owner {
                    Some(_) => at(part) + capacity * words,
                    None => at(part),
                };
                set(first + 4 + 2 * u32::from(k), other);
                set(first + 5 + 2 * u32::from(k), at(part));
            }
        }
        for (l, list) in (0..).map(ListId).zip(&program.lists) {
            let first = slots.list(l);
            set(first, len(list.capacity).min(u64::from(u32::MAX)));
            for k in 0..list.fields.len() as u16 {
                set(first + 2 + u32::from(k), at(Part::List(l, k)));
            }
        }
        for (w, wave) in (0..).map(WaveId).zip(&program.waves) {
            let items = match wave.domain {
                Domain::Edges(_) => sizes.nodes,
                domain => domain.count().map_or(0, len),
            };
            set(slots.wave(w) + 1, items);
        }
        for (s, &bits) in (0..).map(ScalarId).zip(&sizes.scalars) {
            set(slots.scalar(s), bits);
            set(slots.scalar(s) + 1, bits >> 32);
        }
        for (r, reduction) in program.reductions.iter().enumerate() {
            let at = slots.reduction(vyre_core::vir0::module::ReductionId(r as u16));
            let identity = reduction.op.identity(reduction.scalar);
            set(at, identity);
            set(at + 1, identity >> 32);
        }
        state
    }

    /// Copies what the host looks at.
    pub(crate) fn copy_view(
        &self,
        (slots, stopwatch): (&Slots, Option<&Stopwatch>),
        encoder: &mut CommandEncoder,
    ) {
        let (head, counts) = (
            4 * u64::from(slots.head_words()),
            4 * u64::from(slots.counts_words()),
        );
        encoder.copy_buffer_to_buffer(&self.state, 0, &self.look, 0, head);
        encoder.copy_buffer_to_buffer(&self.counts, 0, &self.look, head, counts);
        if let Some(watch) = stopwatch {
            watch.copy(encoder, &self.look, head + counts);
        }
    }

    /// What was copied, once it is there.
    ///
    /// # Errors
    /// The device is lost.
    pub(crate) async fn view(&self, gpu: &Gpu, slots: &Slots) -> Result<View, RunError> {
        let mut state = gpu.read(&self.look, self.look.size(), words_of).await?;
        let mut counts = state.split_off(slots.head_words() as usize);
        let stamps = counts.split_off(slots.counts_words() as usize);
        let stamp = |n: usize| u64::from(stamps[2 * n + 1]) << 32 | u64::from(stamps[2 * n]);
        let ticks = stamp(1).saturating_sub(stamp(0));
        Ok(View {
            state,
            counts,
            ticks,
        })
    }

    /// Elements of a part, `at` units into its arena, into a column of its type.
    ///
    /// # Errors
    /// The device is lost, or there is no memory.
    pub(crate) async fn download(
        &self,
        gpu: &Gpu,
        (part, at, len): (Part, u32, usize),
        to: &mut Column,
    ) -> Result<(), RunError> {
        to.reset(0, 0);
        if len == 0 {
            return Ok(());
        }
        if !to.reserve(len) {
            let bytes = len as u64 * to.scalar().size_bytes();
            return Err(RunError::no_memory("the result", bytes));
        }
        let place = self.layout.place(part);
        let at = u64::from(at);
        let (buffer, from) = self.at(Place { at, ..place });
        let bytes = len as u64 * to.scalar().size_bytes().max(4);
        let usage = Usage::MAP_READ | Usage::COPY_DST;
        let staging = gpu.buffer("a result", bytes, usage)?;
        let mut encoder = gpu.encoder();
        encoder.copy_buffer_to_buffer(buffer, from, &staging, 0, bytes);
        gpu.submit(encoder);
        gpu.read(&staging, bytes, |bytes| take(to, bytes)).await
    }
}

fn words_of(bytes: &[u8]) -> Vec<u32> {
    let words = bytes.chunks_exact(4);
    words
        .map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]]))
        .collect()
}

/// What a session is made of.
fn fixed<'a>((graphs, columns): (&'a [Csr], &'a [(BufferId, Column)])) -> Vec<(Part, Slice<'a>)> {
    let graphs = (0..).map(TopologyId).zip(graphs);
    let graphs = graphs.flat_map(|(t, graph)| {
        let offsets = (Part::Offsets(t), Slice::U32(graph.offsets()));
        [offsets, (Part::Targets(t), Slice::U32(graph.targets()))]
    });
    let columns = columns.iter();
    let columns = columns.map(|(id, column)| (Part::Buffer(*id), column.as_slice()));
    graphs.chain(columns).collect()
}

/// Elements as they lie in an arena.
fn take(to: &mut Column, bytes: &[u8]) {
    let words = bytes.as_chunks::<4>().0.iter();
    let pairs = bytes.as_chunks::<8>().0.iter();
    match to {
        Column::Bool(v) => v.extend(words.map(|w| w[0] != 0)),
        Column::U8(v) => v.extend(words.map(|w| w[0])),
        Column::U32(v) => v.extend(words.map(|w| u32::from_le_bytes(*w))),
        Column::I32(v) => v.extend(words.map(|w| i32::from_le_bytes(*w))),
        Column::F32(v) => v.extend(words.map(|w| f32::from_le_bytes(*w))),
        Column::U64(v) => v.extend(pairs.map(|w| u64::from_le_bytes(*w))),
        Column::I64(v) => v.extend(pairs.map(|w| i64::from_le_bytes(*w))),
        Column::F64(v) => v.extend(pairs.map(|w| f64::from_le_bytes(*w))),
    }
}

/// Whether waves write an arena of this class.
pub(crate) fn is_written(class: Class) -> bool {
    match class {
        Class::Fixed => false,
        Class::Plain | Class::Atomic | Class::Wide => true,
    }
}
