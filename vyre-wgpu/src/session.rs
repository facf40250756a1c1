//! A session: a sweeper that the driver of vyre-core leads, or that runs many rounds of a fixpoint in one submission.

use crate::clock::Clock;
use crate::device::Opened;
use crate::direction::Direction;
use crate::memory::{At, BLOCKS, Memory, Wanted, append};
use crate::pass::Pass;
use crate::plan::{self, Items, Param};
use crate::rounds::Batch;
use std::sync::Arc;
use vyre_core::dsl::columns::{Column, Slice};
use vyre_core::dsl::csr::Csr;
use vyre_core::dsl::error::RunError;
use vyre_core::plan::shaders::WORKGROUP;
use vyre_core::run::args::{Args, check_columns, check_run, resolve_topologies};
use vyre_core::run::backend::{Executor, Followed, LaunchHint, Opening, Progress};
use vyre_core::run::outcome::Outcome;
use vyre_core::run::schedule::{
    Failures, Fault, Groups, Meter, Overflow, Pending, Ran, Sweeper, Verdict, follow,
};
use vyre_core::run::stop::Stop;
use vyre_core::vir0::module::{
    BufferId, FixpointId, ListId, Program, ReductionId, Role, Step, Uniform, WaveId,
};
use vyre_core::vir0::scalar::Scalar;
use vyre_core::vir0::sizes::Sizes;
use vyre_core::vir0::trap::{Fault as Told, TrapKind};
use wgpu::{Buffer, CommandEncoder, ComputePassDescriptor};

/// The kinds of a fault that is the limit of turns, and of a loop that the driver ended.
const TURNS: u32 = 255;
const CUT_LOOP: u32 = 254;

/// Results that may come with the last look.
const FEW_BYTES: u64 = 4 << 20;

/// What the device does next.
pub(crate) enum Act {
    /// Dispatches a shader, with this uniform.
    Dispatch {
        shader: usize,
        groups: u32,
        block: u32,
    },
    /// Zeros words of an arena.
    Clear { arena: u32, at: At },
}

/// A pass on a topology.
pub(crate) struct Session {
    pub(crate) on: Arc<Opened>,
    pub(crate) program: Arc<Program>,
    pub(crate) pass: Arc<Pass>,
    pub(crate) memory: Memory,
    pub(crate) sizes: Sizes,
    pub(crate) meter: Meter,
    /// Whether a place keeps what it has from run to run.
    stays: Vec<bool>,
    /// Where everything is in this run.
    pub(crate) places: Vec<At>,
    /// The uniform without what changes from dispatch to dispatch.
    pub(crate) uniform: Vec<u32>,
    /// The round that each fixpoint is in.
    pub(crate) rounds: Vec<u32>,
    /// The words of `control` before the records, as the device has them when it has done all that it was told.
    pub(crate) control: Vec<u32>,
    /// What the device has not been told yet.
    pub(crate) acts: Vec<Act>,
    /// Whether something was swept since the host last looked at the end of a barrier group.
    pub(crate) swept: bool,
    /// The uniforms of that.
    blocks: Vec<u8>,
    /// What is made for fixpoints whose rounds run many at a time, and for stretches.
    pub(crate) batches: Vec<Option<Batch>>,
    pub(crate) straight: Vec<Option<Batch>>,
    clock: Option<Clock>,
    /// Where results begin in what the host sees, where they came with the last look.
    results_from: Option<usize>,
    /// The stretch that goes with the next submission, and its round.
    pub(crate) waiting: Option<(usize, u32)>,
    /// Rounds of a submission, where that is fixed.
    pub(crate) at_once: Option<u64>,
    pub(crate) direction: Direction,
    /// The most edges of a node of each topology.
    degrees: Vec<u32>,
}

impl Session {
    pub(crate) fn open(
        on: &Arc<Opened>,
        pass: Arc<Pass>,
        opening: &Opening<'_>,
    ) -> Result<Session, RunError> {
        let program = Arc::clone(&opening.program);
        let (graphs, sizes) = resolve_topologies(&program, opening.topology)?;
        check_columns(&program, &sizes, &opening.topology.columns)?;
        let place = |name: &str| {
            let found = pass.plan.place(name);
            found.ok_or_else(|| RunError::Invalid(format!("`{name}` has no place")))
        };
        let mut given = Vec::new();
        for (graph, topology) in graphs.iter().zip(&pass.named.topologies) {
            given.push((
                place(&format!("{}.offsets", topology.name))?,
                Slice::U32(graph.offsets()),
            ));
            given.push((
                place(&format!("{}.targets", topology.name))?,
                Slice::U32(graph.targets()),
            ));
        }
        for (id, values) in &opening.topology.columns {
            given.push((place(&pass.named.buffers[id.index()].name)?, *values));
        }
        // Those that lie elsewhere are written by each run; they are none of topologies.
        given.sort_by_key(|(place, _)| *place);
        let mut stays = vec![false; pass.plan.places.len()];
        given.iter().for_each(|(place, _)| stays[*place] = true);
        let mut memory = Memory::new(on, &pass)?;
        memory.keep(&pass.plan, &given, &sizes)?;
        Ok(Session {
            on: Arc::clone(on),
            memory,
            sizes,
            meter: Meter::default(),
            stays,
            places: Vec::new(),
            uniform: Vec::new(),
            rounds: vec![0; program.fixpoints.len()],
            control: vec![0; pass.plan.control_words],
            acts: Vec::new(),
            swept: false,
            blocks: Vec::new(),
            batches: program.fixpoints.iter().map(|_| None).collect(),
            clock: Clock::new(on)?,
            results_from: None,
            straight: pass.plan.stretches.iter().map(|_| None).collect(),
            waiting: None,
            at_once: None,
            direction: Direction::new(),
            degrees: graphs.iter().map(|graph| most_degree(graph)).collect(),
            program,
            pass,
        })
    }

    // Uniforms.

    /// The uniform of a run.
    fn lay_uniform(&mut self) -> Result<(), RunError> {
        let params = self.pass.plan.params.iter().map(|param| {
            Ok(match param {
                Param::Place(place) => self.places[*place].word as u32,
                Param::Length(length) => length.value(&self.sizes)?.min(u32::MAX.into()) as u32,
                Param::Degree(topology) => self.degrees[*topology],
                Param::Scalar(scalar, half) => (self.sizes.scalars[*scalar] >> (32 * half)) as u32,
                Param::Bits(bits) => *bits,
                Param::Turns => self.pass.plan.turns,
                Param::Pulls => self.direction.pulls,
                Param::RoundOf(_) | Param::Round | Param::Groups | Param::Fill(_) => 0,
            })
        });
        self.uniform = params.collect::<Result<_, RunError>>()?;
        Ok(())
    }

    /// The uniform of a dispatch.
    pub(crate) fn block(&self, round: u32, groups: u32, fill: [u32; 5]) -> Vec<u32> {
        let mut words = self.uniform.clone();
        for (word, param) in words.iter_mut().zip(&self.pass.plan.params) {
            match param {
                Param::Round => *word = round,
                Param::Groups => *word = groups,
                Param::Fill(at) => *word = fill[*at],
                Param::RoundOf(fixpoint) => *word = self.rounds[*fixpoint],
                Param::Place(_)
                | Param::Length(_)
                | Param::Degree(_)
                | Param::Scalar(..)
                | Param::Bits(_)
                | Param::Pulls
                | Param::Turns => {}
            }
        }
        words
    }

    /// The number of the next of so many uniforms of one submission.
    pub(crate) fn room_for(&mut self, blocks: u32) -> Result<u32, RunError> {
        if self.blocks.len() as u64 / self.memory.block_bytes + u64::from(blocks) > BLOCKS {
            self.flush()?;
        }
        Ok((self.blocks.len() as u64 / self.memory.block_bytes) as u32)
    }

    /// Takes a uniform down for the next submission; its number.
    pub(crate) fn push_block(&mut self, words: &[u32]) -> Result<u32, RunError> {
        let number = self.room_for(1)?;
        self.blocks.extend_from_slice(bytemuck::cast_slice(words));
        let end = (u64::from(number) + 1) * self.memory.block_bytes;
        self.blocks.resize(end as usize, 0);
        Ok(number)
    }

    // Submissions.

    /// One workgroup of a shader.
    fn once(&mut self, shader: usize, round: u32) -> Result<(), RunError> {
        self.dispatch(shader, round, 1)
    }

    /// So many of them.
    fn dispatch(&mut self, shader: usize, round: u32, groups: u32) -> Result<(), RunError> {
        let words = self.block(round, groups, [0; 5]);
        let block = self.push_block(&words)?;
        self.acts.push(Act::Dispatch {
            shader,
            groups,
            block,
        });
        Ok(())
    }

    /// Commands for all that was taken down.
    pub(crate) fn encode(&mut self) -> CommandEncoder {
        let mut encoder = self.memory.encoder();
        if let Some(clock) = &mut self.clock {
            clock.ask(&mut encoder);
        }
        if !self.blocks.is_empty() {
            self.on
                .queue
                .write_buffer(&self.memory.uniforms, 0, &self.blocks);
            self.blocks.clear();
        }
        let group = self.memory.group(&self.pass);
        let stride = self.memory.block_bytes as u32;
        let mut acts = std::mem::take(&mut self.acts).into_iter().peekable();
        while let Some(act) = acts.peek() {
            if let Act::Clear { arena, at } = *act {
                if at.words > 0 {
                    encoder.clear_buffer(self.memory.arena(arena), 4 * at.word, Some(4 * at.words));
                }
                acts.next();
                continue;
            }
            let mut pass = encoder.begin_compute_pass(&ComputePassDescriptor::default());
            while let Some(Act::Dispatch {
                shader,
                groups,
                block,
            }) = acts.next_if(|act| matches!(act, Act::Dispatch { .. }))
            {
                pass.set_pipeline(self.pass.pipeline(&self.on, shader));
                pass.set_bind_group(0, &group, &[block * stride]);
                pass.dispatch_workgroups(groups, 1, 1);
            }
        }
        encoder
    }

    /// Submits what was taken down.
    fn flush(&mut self) -> Result<(), RunError> {
        let mut encoder = self.encode();
        if let Some(clock) = &mut self.clock {
            clock.ask(&mut encoder);
        }
        self.on.queue.submit([encoder.finish()]);
        self.on.check()
    }

    /// Submits it, and waits until the host has the words of `control` that it leaves.
    pub(crate) fn look(&mut self) -> Result<(), RunError> {
        let encoder = self.encode();
        self.look_after(encoder, &[], false).map(|_| ())
    }

    /// Submits commands, and waits until the host has the words of `control`, these bytes, and, where it is so,
    /// results.
    pub(crate) fn look_after(
        &mut self,
        mut encoder: CommandEncoder,
        more: &[(&Buffer, u64, u64)],
        with_results: bool,
    ) -> Result<Vec<u32>, RunError> {
        let times = self.clock.as_mut().map(|clock| {
            clock.ask(&mut encoder);
            clock.resolve(&mut encoder)
        });
        let control = self.memory.control.clone();
        let words = self.pass.plan.control_words;
        let mut ranges = vec![(&control, 0, 4 * words as u64)];
        ranges.extend_from_slice(more);
        ranges.extend(times.iter().map(|(times, bytes)| (times, 0, *bytes)));
        let told: u64 = ranges.iter().map(|(_, _, bytes)| bytes).sum();
        let results = match with_results {
            true => self.results_at(),
            false => Vec::new(),
        };
        let buffers = results.iter().map(|(arena, at)| {
            let buffer = self.memory.arena(*arena).clone();
            (buffer, 4 * at.word, 4 * at.words)
        });
        let buffers: Vec<(Buffer, u64, u64)> = buffers.collect();
        ranges.extend(
            buffers
                .iter()
                .map(|(buffer, from, bytes)| (buffer, *from, *bytes)),
        );
        self.memory.fetch(encoder, &ranges)?;
        let (mirror, mut rest) = (&mut self.control, Vec::new());
        self.memory.see(|bytes| {
            let (first, behind) = bytes[..told as usize].split_at(4 * words);
            mirror.copy_from_slice(bytemuck::cast_slice(first));
            rest.extend_from_slice(bytemuck::cast_slice(behind));
        })?;
        self.direction.look(&self.pass.plan, &self.control);
        self.results_from = with_results.then_some(told as usize);
        if !with_results {
            self.memory.let_go();
        }
        if let (Some(clock), Some((_, bytes))) = (&mut self.clock, times) {
            clock.take(&rest.split_off(rest.len() - bytes as usize / 4));
        }
        Ok(rest)
    }

    /// Where the results are that are buffers.
    fn results_at(&self) -> Vec<(u32, At)> {
        let (program, pass) = (&self.program, &self.pass);
        let results = (program.buffers.iter().zip(&pass.named.buffers))
            .filter(|(buffer, _)| matches!(buffer.role, Role::Output | Role::InOut));
        let results = results.map(|(_, named)| {
            let place = pass.plan.place(&named.name);
            let place = place.expect("every buffer has a place");
            (pass.plan.places[place].arena, self.places[place])
        });
        results.collect()
    }

    /// Whether the results may come with the look behind this step: nothing is swept behind it, it changes no places,
    /// and there are few. How long lists are is not known before.
    pub(crate) fn gives_results(&self, behind: usize, swaps: &[(usize, usize)]) -> bool {
        let program = &self.program;
        let steps = &program.schedule[behind..];
        let is_last = matches!(steps, [Step::End, ..] | [_, Step::End, ..]);
        let words: u64 = self.results_at().iter().map(|(_, at)| at.words).sum();
        let is_fixed = program.lists.iter().all(|list| !list.output);
        is_last && swaps.is_empty() && is_fixed && 4 * words <= FEW_BYTES
    }

    // Runs.

    /// The state at the start of a run.
    fn begin(&mut self, args: &Args<'_>) -> Result<(), RunError> {
        let (program, pass) = (Arc::clone(&self.program), Arc::clone(&self.pass));
        self.sizes.scalars.clone_from(&args.scalars);
        check_run(&program, &self.sizes, args)?;
        self.on.check()?;
        self.acts.clear();
        // What it begins with is told to the host by the first look.
        self.swept = true;
        self.blocks.clear();
        self.control.fill(0);
        self.results_from = None;
        self.waiting = None;
        let asks = self.direction.begin(&pass.plan, &self.sizes);
        self.places = match self.place() {
            Err(_) if self.direction.pulls > 0 => {
                self.direction.push();
                self.place()?
            }
            places => places?,
        };
        self.lay_uniform()?;
        self.rounds.fill(0);
        self.once(pass.plan.begin, 0)?;
        for asked in pass.plan.asked.iter().filter(|_| asks) {
            let edges = self.sizes.edges[asked.topology];
            let groups = self.groups_for(edges, WORKGROUP.into()).max(1);
            self.dispatch(asked.shader, 0, groups)?;
        }
        for buffer in &pass.named.buffers {
            let place = pass.plan.place(&buffer.name);
            let place = place
                .ok_or_else(|| RunError::Invalid(format!("`{}` has no place", buffer.name)))?;
            if matches!(buffer.role, Role::Output | Role::Scratch) {
                let init = buffer.init.map_or(0, |c| program.constants[c.index()].bits);
                self.fill(place, buffer.scalar, init)?;
            }
        }
        for &(stamps, always) in &pass.plan.stamps {
            if always || self.direction.pulls > 0 {
                self.fill(stamps, Scalar::U32, 0)?;
            }
        }
        for (id, values) in &args.inputs {
            let place = pass.plan.place(&pass.named.buffers[id.index()].name);
            let place = place.expect("every buffer has a place");
            self.memory.write(
                pass.plan.places[place].arena,
                self.places[place].word,
                *values,
            );
        }
        self.on.check()
    }

    fn place(&mut self) -> Result<Vec<At>, RunError> {
        let of = (&self.sizes, self.direction.pulls > 0);
        self.memory.place(&self.pass.plan, &self.stays, of)
    }

    /// Every element of a place gets a value.
    fn fill(&mut self, place: usize, scalar: Scalar, bits: u64) -> Result<(), RunError> {
        let (arena, at) = (self.pass.plan.places[place].arena, self.places[place]);
        if bits == 0 {
            self.acts.push(Act::Clear { arena, at });
            return Ok(());
        }
        let Some(&shader) = self.pass.plan.fills.get(&arena) else {
            return Err(RunError::Invalid("an arena cannot be filled".to_owned()));
        };
        let rows = u32::from(scalar.rows());
        let elements = at.words as u32 / rows;
        let groups = self.groups_for(elements.into(), WORKGROUP.into()).max(1);
        let fill = [
            at.word as u32,
            elements,
            rows,
            bits as u32,
            (bits >> 32) as u32,
        ];
        let words = self.block(0, groups, fill);
        let block = self.push_block(&words)?;
        self.acts.push(Act::Dispatch {
            shader,
            groups,
            block,
        });
        Ok(())
    }

    /// Workgroups of so many invocations for so many items: none for none.
    fn groups_for(&self, items: u64, invocations: u64) -> u32 {
        let groups = items.div_ceil(invocations);
        groups.min(self.most_groups(items, invocations)) as u32
    }

    /// The most workgroups of so many invocations for so many items.
    fn most_groups(&self, items: u64, invocations: u64) -> u64 {
        let by = (invocations / u64::from(WORKGROUP)).max(1);
        (u64::from(self.on.groups_of(items)) / by).max(1)
    }

    /// The same of sweeps in rounds whose items nobody knows before.
    pub(crate) fn most_in_rounds(&self) -> u32 {
        let edges = self.sizes.edges.iter().copied().max().unwrap_or(0);
        self.on.groups_of(self.sizes.nodes.max(edges))
    }

    /// The same of a wave, some of which share out what an item has.
    pub(crate) fn groups_of(&self, wave: WaveId, items: u64) -> u32 {
        let wave = &self.pass.plan.waves[wave.index()];
        let spread = match wave.spreads {
            true => items.saturating_mul(self.on.spread().into()),
            false => 0,
        };
        let spread = spread.min(self.most_groups(items, wave.invocations)) as u32;
        self.groups_for(items, wave.invocations).max(spread)
    }

    /// The results of a run that has come to its end.
    fn give(&mut self, results: &mut Outcome) -> Result<(), RunError> {
        let (program, pass) = (Arc::clone(&self.program), Arc::clone(&self.pass));
        results.rows = self.sizes.rows(&program);
        let mut wanted = Vec::new();
        let at = |name: &str| {
            let place = pass.plan.place(name).expect("every buffer has a place");
            (pass.plan.places[place].arena, self.places[place])
        };
        for (id, buffer) in (0..).map(BufferId).zip(&program.buffers) {
            if matches!(buffer.role, Role::Output | Role::InOut) {
                let (arena, at) = at(&pass.named.buffers[id.index()].name);
                let len = at.words / u64::from(buffer.scalar.rows());
                let column = results.output_mut(id, buffer.scalar);
                let column = roomy(column, len, buffer.field())?;
                wanted.push(Wanted { arena, at, column });
            }
        }
        for (id, (list, held)) in (0..)
            .map(ListId)
            .zip(program.lists.iter().zip(&pass.plan.lists))
        {
            if list.output {
                let len = u64::from(self.control[held.items]);
                let columns = results.list_mut(id, &list.fields).iter_mut();
                for (field, (column, &scalar)) in columns.zip(&list.fields).enumerate() {
                    let name = &pass.named.lists[id.index()].name;
                    let (arena, at) = at(&format!("{name}.items.{field}"));
                    let words = len * u64::from(scalar.rows());
                    let (at, column) = (At { words, ..at }, roomy(column, len, &list.name)?);
                    wanted.push(Wanted { arena, at, column });
                }
            }
        }
        let read = &mut results.report.readback;
        for of in wanted.iter().filter(|of| of.at.words > 0) {
            read.direct += 1;
            read.direct_bytes += of.column.scalar().size_bytes() * of.at.words
                / u64::from(of.column.scalar().rows());
            read.copied_bytes += 4 * of.at.words;
        }
        let done = match self.results_from.take() {
            Some(from) => self.memory.see(|bytes| {
                let mut words: &[u32] = bytemuck::cast_slice(&bytes[from..]);
                for of in &mut wanted {
                    let (these, others) = words.split_at(of.at.words as usize);
                    append(&mut of.column, these);
                    words = others;
                }
            }),
            None => self.memory.columns(&mut wanted),
        };
        self.memory.let_go();
        let mut columns = wanted.into_iter().map(|of| of.column);
        for (id, buffer) in (0..).map(BufferId).zip(&program.buffers) {
            if matches!(buffer.role, Role::Output | Role::InOut) {
                *results.output_mut(id, buffer.scalar) =
                    columns.next().expect("as many as were asked for");
            }
        }
        for (id, list) in (0..).map(ListId).zip(&program.lists) {
            if list.output {
                for column in results.list_mut(id, &list.fields) {
                    *column = columns.next().expect("as many as were asked for");
                }
            }
        }
        done?;
        for (id, reduction) in (0..).map(ReductionId).zip(&program.reductions) {
            if reduction.output {
                results.reductions.push((id, self.total(id)));
            }
        }
        Ok(())
    }

    /// A reduction's value, raw bits.
    fn total(&self, id: ReductionId) -> u64 {
        let (low, high) = self.pass.plan.reductions[id.index()];
        let low = self.control[low];
        match self.program.reductions[id.index()].scalar {
            Scalar::I32 => low as i32 as i64 as u64,
            _ => u64::from(high.map_or(0, |high| self.control[high])) << 32 | u64::from(low),
        }
    }

    // What went wrong.

    /// The fault that `control` has.
    fn told(&self) -> Result<Told, RunError> {
        let trap = &self.pass.plan.trap;
        let word = |at: usize| self.control[at];
        let kind = TrapKind::from_code(word(trap.kind));
        let kind = kind
            .ok_or_else(|| RunError::Backend(format!("a trap of the kind {}", word(trap.kind))))?;
        Ok(Told {
            pc: word(trap.pc),
            kind,
            index: word(trap.index).into(),
            len: word(trap.len).into(),
        })
    }

    /// The error of a fault that is no trap.
    fn no_trap(&self, of: &str) -> Option<RunError> {
        match self.control[self.pass.plan.trap.kind] {
            TURNS => Some(RunError::Work {
                limit: self.pass.plan.turns.into(),
                of: Some(of.to_owned()),
            }),
            CUT_LOOP => Some(RunError::Backend(format!(
                "`{of}`: {} has ended a loop before its end. It ends the loops of invocations that have taken 65,535 \
                 turns of them, eight invocations together, and those in which they look for their work count, too; \
                 `Runtime::native()` has no such limit",
                self.on.adapter,
            ))),
            _ => None,
        }
    }

    /// What a barrier group left, where it failed.
    pub(crate) fn failures(&self) -> Result<Option<Box<Failures>>, RunError> {
        if self.control[self.pass.plan.status] == 0 {
            return Ok(None);
        }
        let (program, plan) = (&*self.program, &self.pass.plan);
        let mut overflows = Vec::new();
        let mut check = |of, held: &plan::Held, capacity| {
            let needed = u64::from(self.control[held.tail]);
            let capacity = self.sizes.resolve(program, capacity).unwrap_or(u64::MAX);
            overflows.extend((needed > capacity).then_some(Overflow {
                of,
                needed,
                capacity,
            }));
        };
        for (id, queue) in program.queues() {
            check(id, plan.held(id), queue.capacity);
        }
        let fault = match self.control[plan.trap.kind] {
            0 => None,
            _ => {
                let wave = WaveId(self.control[plan.trap.wave] as u16);
                if let Some(error) = self.no_trap(&program.waves[wave.index()].name) {
                    return Err(error);
                }
                let item = self.control[plan.trap.item];
                Some(Box::new(Pending::new(program, (wave, item), self.told()?)))
            }
        };
        Ok(Some(Box::new(Failures { fault, overflows })))
    }

    /// What a condition said.
    pub(crate) fn verdict(&self, fixpoint: FixpointId) -> Result<Verdict, RunError> {
        match self.control[self.pass.plan.verdict] {
            0 => Ok(Verdict::Again),
            1 => Ok(Verdict::Done),
            _ => {
                let of = &self.program.fixpoints[fixpoint.index()];
                if let Some(error) = self.no_trap(&format!("until of {}", of.name)) {
                    return Err(error);
                }
                let kernel = of.until;
                Ok(Verdict::Faulted(Fault::at(
                    &self.program,
                    kernel,
                    self.told()?,
                )))
            }
        }
    }

    /// Places of a fixpoint's buffers trade.
    pub(crate) fn trade(&mut self, a: usize, b: usize) {
        self.places.swap(a, b);
        for place in [a, b] {
            if let Some(param) = self.pass.plan.param_of(place) {
                self.uniform[param] = self.places[place].word as u32;
            }
        }
    }
}

fn most_degree(graph: &Csr) -> u32 {
    let ends = graph.offsets().windows(2);
    ends.map(|ends| ends[1] - ends[0]).max().unwrap_or(0)
}

/// Takes a column, without elements and with memory for so many.
fn roomy(column: &mut Column, len: u64, name: &str) -> Result<Column, RunError> {
    let scalar = column.scalar();
    column.reset(0, 0);
    if !column.reserve(len as usize) {
        let bytes = len.saturating_mul(scalar.size_bytes());
        return Err(RunError::no_memory(format_args!("`{name}`"), bytes));
    }
    Ok(std::mem::replace(column, Column::filled(scalar, 0, 0)))
}

impl Sweeper for Session {
    fn sizes(&self) -> &Sizes {
        &self.sizes
    }

    fn meter(&mut self) -> &mut Meter {
        &mut self.meter
    }

    fn sweep(&mut self, wave: WaveId, round: u32) -> Result<(), RunError> {
        let (pass, id) = (Arc::clone(&self.pass), wave);
        let wave = &pass.plan.waves[wave.index()];
        let items = match &wave.items {
            Items::Length(length) => length.value(&self.sizes)?,
            Items::Word(word) => self.control[*word].into(),
        };
        let groups = self.groups_of(id, items);
        // Without items there are no records, and nothing to close.
        if groups > 0 {
            self.swept = true;
            let words = self.block(round, groups, [0; 5]);
            let block = self.push_block(&words)?;
            self.acts.push(Act::Dispatch {
                shader: wave.sweep,
                groups,
                block,
            });
            self.acts.push(Act::Dispatch {
                shader: wave.close,
                groups: 1,
                block,
            });
        }
        if self.meter.time_waves {
            self.look()?;
        }
        Ok(())
    }

    fn settle(&mut self) -> Result<Option<Box<Failures>>, RunError> {
        // Behind a fixpoint there may be no sweep before the end.
        if !self.swept {
            return Ok(None);
        }
        self.swept = false;
        self.once(self.pass.plan.settle, 0)?;
        self.look()?;
        self.failures()
    }

    fn exchange(&mut self, a: BufferId, b: BufferId) {
        let pass = Arc::clone(&self.pass);
        let place = |id: BufferId| pass.plan.place(&pass.named.buffers[id.index()].name);
        if let (Some(a), Some(b)) = (place(a), place(b)) {
            self.trade(a, b);
        }
    }

    fn begin_round(&mut self, fixpoint: FixpointId, round: u32) {
        self.rounds[fixpoint.index()] = round;
        if self.waiting.is_some() {
            // The submission with the stretch starts the fixpoint, too.
            return;
        }
        let pass = Arc::clone(&self.pass);
        if let Err(e) = self.once(pass.plan.fixpoints[fixpoint.index()].begin, round) {
            // What goes wrong with a device is told when the host looks at it next.
            debug_assert!(self.on.is_lost(), "{e}");
        }
        for (frontier, held) in self.program.frontiers.iter().zip(&pass.plan.frontiers) {
            if frontier.owner == Some(fixpoint) {
                self.control[held.items] = self.control[held.tail];
                self.control[held.tail] = 0;
            }
        }
    }

    fn groups(&mut self, from: usize, round: u32) -> Result<Option<Groups>, RunError> {
        self.stretch(from, round)
    }

    fn rounds(
        &mut self,
        fixpoint: FixpointId,
        _from: usize,
        (round, most): (u32, u64),
    ) -> Result<Option<Ran>, RunError> {
        self.many(fixpoint, (round, most)).map(Some)
    }

    fn until(&mut self, fixpoint: FixpointId, round: u32) -> Result<Verdict, RunError> {
        let shader = self.pass.plan.fixpoints[fixpoint.index()].until;
        self.once(shader, round)?;
        self.look()?;
        self.verdict(fixpoint)
    }

    fn uniform(&self, uniform: Uniform) -> Option<u64> {
        let plan = &self.pass.plan;
        Some(match uniform {
            Uniform::Reduction(r) => self.total(r),
            Uniform::Len(q) => self.control[plan.held(q).tail].into(),
            Uniform::Scalar(s) => self.sizes.scalars[s.index()],
            Uniform::Constant(c) => self.program.constants[c.index()].bits,
            Uniform::Nodes => self.sizes.nodes,
            Uniform::OuterRound(f) => self.rounds[f.index()].into(),
            Uniform::Round | Uniform::Began(_) => return None,
        })
    }
}

impl Executor for Session {
    fn run_series(&mut self, series: &[Args<'_>], results: &mut Outcome) -> Result<(), RunError> {
        let program = Arc::clone(&self.program);
        let mut rounds = Vec::new();
        if let Some(clock) = &mut self.clock {
            clock.begin();
        }
        for (i, args) in series.iter().enumerate() {
            self.begin(args)?;
            rounds = follow(&program, self).map_err(|e| e.of_run(i, series.len()))?;
        }
        results.clear();
        self.give(results)?;
        results.report.rounds = rounds;
        results.report.device_ns = self.clock.as_ref().and_then(Clock::ns);
        results.report.waves = self.meter.wave_times();
        Ok(())
    }

    fn follow(&mut self, hint: &LaunchHint) -> Followed {
        self.meter.time_waves = hint.time_waves;
        Followed {
            workers: 1,
            code: "shaders".into(),
            sweeps: None,
            notes: Vec::new(),
        }
    }

    fn progress(&self) -> Option<Arc<Progress>> {
        Some(Arc::clone(&self.meter.progress))
    }

    fn set_progress(&mut self, progress: Arc<Progress>) {
        self.meter.progress = progress;
    }

    fn set_stop(&mut self, stop: &Arc<Stop>) {
        self.meter.stop = Some(Arc::clone(stop));
    }
}
