//! Many rounds of a fixpoint in one submission, or barrier groups outside of such that follow each other.
//!
//! Each sweep is an indirect dispatch. Behind the last one of a barrier group comes the group's end, one
//! workgroup, which writes how many workgroups the sweeps of the next group have: what their frontiers have items for,
//! and none once a group has failed or the condition has said that the fixpoint is done. So rounds that were encoded and
//! are not needed cost their dispatches, and do nothing. The end of a round also counts it in the uniforms of the sweeps,
//! and trades the places of buffers that are swapped.
//!
//! Before some of them, one workgroup takes rounds as long as they have little to do.
//!
//! How many rounds are encoded at a time follows how long those before took: a submission is neither cancelled nor cut
//! short, so it should take [`SHORT`], and the host should look as rarely as that allows. A fixpoint that took few
//! begins with as many the next time, and some more: a round too many costs less than another submission.

use crate::device::Opened;
use crate::memory::Memory;
use crate::pass::Pass;
use crate::plan::{self, Items, Part};
use crate::session::Session;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};
use vyre_core::dsl::error::RunError;
use vyre_core::run::schedule::{End, Failures, Groups, Ran, Verdict};
use vyre_core::vir0::module::{FixpointId, Step, WaveId};
use wgpu::{
    BindGroup, BindGroupDescriptor, BindGroupEntry, BindingResource, Buffer, BufferBinding,
    BufferUsages, ComputePass, ComputePassDescriptor,
};

/// What a submission should take at least, where its fixpoint goes on for so long.
const SHORT: Duration = Duration::from_millis(5);

/// Rounds that are encoded in the first submission, and in the largest one.
const FIRST: u64 = 4;
const MOST: u64 = 256;

/// One workgroup takes what rounds it can before the first of so many that are encoded, and those in it are so many at
/// most.
const NARROW_EVERY: u64 = 16;
const NARROW_MOST: u64 = 1024;

/// Words of the state that is read back, and in them how many rounds have ended, which step failed, how many rounds one
/// workgroup took, how many sweeps pulled, and how many items wide frontiers had where none did.
const STATE: usize = 13;
const ENDED: usize = 1;
const FAILED: usize = 2;
const NARROW: usize = 8;
const PULLED: usize = 11;
const MISSED: usize = 12;

/// What is made for a fixpoint once.
pub(crate) struct Batch {
    /// Arguments of its dispatches.
    dispatches: Buffer,
    /// The uniforms of its waves.
    blocks: Buffer,
    /// What its sweeps have, and which of the session's buffers these are.
    sweeps: Option<(u64, BindGroup)>,
    /// The same of rounds in one workgroup.
    narrow: Option<BindGroup>,
    /// What its ends have.
    ends: BindGroup,
    /// Rounds that the next submission encodes.
    pace: u64,
    /// Encoded rounds that have ended since the fixpoint was entered, and how long the host waited for them.
    ended: u64,
    waited: Duration,
    /// It was over before that was long: it should be over in one submission the next time.
    is_short: bool,
}

fn whole(binding: u32, buffer: &Buffer) -> BindGroupEntry<'_> {
    BindGroupEntry {
        binding,
        resource: buffer.as_entire_binding(),
    }
}

/// One uniform of a buffer of these.
fn moving<'b>(buffer: &'b Buffer, pass: &Pass) -> BindGroupEntry<'b> {
    BindGroupEntry {
        binding: plan::PARAMS,
        resource: BindingResource::Buffer(BufferBinding {
            buffer,
            offset: 0,
            size: std::num::NonZeroU64::new(pass.uniform_bytes),
        }),
    }
}

impl Batch {
    fn new(
        on: &Opened,
        memory: &Memory,
        pass: &Pass,
        round: &plan::Round,
    ) -> Result<Batch, RunError> {
        let bytes = 4 * u64::from(round.words);
        let usage = BufferUsages::STORAGE | BufferUsages::COPY_DST;
        let args = usage | BufferUsages::INDIRECT | BufferUsages::COPY_SRC;
        let dispatches = on.buffer("arguments of dispatches", bytes, args)?;
        let bytes = memory.block_bytes * u64::from(round.blocks.max(1));
        let blocks = on.buffer("uniforms of rounds", bytes, usage | BufferUsages::UNIFORM)?;
        let ends = on.device.create_bind_group(&BindGroupDescriptor {
            label: Some("ends"),
            layout: &pass.ends,
            entries: &[
                moving(&memory.uniforms, pass),
                whole(plan::CONTROL, &memory.control),
                whole(plan::DISPATCHES, &dispatches),
                whole(plan::BLOCKS, &blocks),
            ],
        });
        Ok(Batch {
            dispatches,
            blocks,
            sweeps: None,
            narrow: None,
            ends,
            pace: FIRST,
            ended: 0,
            waited: Duration::ZERO,
            is_short: false,
        })
    }

    /// Where its state is, for the host to look at.
    fn state(&self) -> (&Buffer, u64, u64) {
        (&self.dispatches, 0, 4 * STATE as u64)
    }

    /// What sweeps have, and what rounds in one workgroup have, where there are such.
    fn groups(
        &mut self,
        memory: &Memory,
        (pass, is_narrow): (&Pass, bool),
        on: &Opened,
    ) -> (BindGroup, Option<BindGroup>) {
        if let Some((made, group)) = &self.sweeps
            && *made == memory.made
        {
            return (group.clone(), self.narrow.clone());
        }
        let control = whole(plan::CONTROL, &memory.control);
        let arenas = pass.plan.arenas.iter();
        let arenas = arenas.map(|&binding| whole(binding, memory.arena(binding)));
        let mut entries: Vec<BindGroupEntry<'_>> = arenas.chain([control]).collect();
        let bound = |label, layout, entries: &[BindGroupEntry<'_>]| {
            on.device.create_bind_group(&BindGroupDescriptor {
                label: Some(label),
                layout,
                entries,
            })
        };
        entries.push(moving(&self.blocks, pass));
        let group = bound("sweeps", &pass.layout, &entries);
        entries.pop();
        self.narrow = is_narrow.then(|| {
            entries.extend([
                moving(&memory.uniforms, pass),
                whole(plan::DISPATCHES, &self.dispatches),
                whole(plan::BLOCKS, &self.blocks),
            ]);
            bound("narrow rounds", &pass.narrow, &entries)
        });
        self.sweeps = Some((memory.made, group.clone()));
        (group, self.narrow.clone())
    }
}

impl Session {
    /// Items of a wave when a round has begun.
    fn items_now(&self, wave: usize) -> Result<u64, RunError> {
        match &self.pass.plan.waves[wave].items {
            Items::Length(length) => length.value(&self.sizes),
            Items::Word(word) => Ok(self.control[*word].into()),
        }
    }

    /// Runs the stretch that begins with this step, where there is one, in one submission. Where a fixpoint follows
    /// whose rounds are submitted, that submission has the stretch, too: until then nobody asks what came of it.
    pub(crate) fn stretch(&mut self, from: usize, round: u32) -> Result<Option<Groups>, RunError> {
        let pass = Arc::clone(&self.pass);
        let mut stretches = pass.plan.stretches.iter().enumerate();
        let Some((nth, of)) = stretches.find(|(_, of)| of.from == from) else {
            return Ok(None);
        };
        if let Some(Step::Loop(fixpoint)) = pass.named.schedule.get(of.to + 1)
            && pass.plan.fixpoints[fixpoint.index()].round.is_some()
        {
            self.waiting = Some((nth, round));
            return Ok(Some(Groups::Ended(of.to)));
        }
        let mut batch = self.straight_batch(nth)?;
        let with_results = self.gives_results(of.to, &[]);
        let told = self.submit((&mut batch, &of.round), (round, 1, 1), with_results);
        self.straight[nth] = Some(batch);
        self.swept = false;
        let told = told?;
        Ok(Some(match self.failed(&told)? {
            Some((at, failures)) => Groups::Failed { at, failures },
            None => Groups::Ended(of.to),
        }))
    }

    fn straight_batch(&mut self, nth: usize) -> Result<Batch, RunError> {
        match self.straight[nth].take() {
            Some(batch) => Ok(batch),
            None => {
                let of = &self.pass.plan.stretches[nth].round;
                Batch::new(&self.on, &self.memory, &self.pass, of)
            }
        }
    }

    /// The step that ended a group which failed, by the words that tell it, and what went wrong.
    fn failed(&self, told: &[u32]) -> Result<Option<(usize, Box<Failures>)>, RunError> {
        match told[FAILED].checked_sub(1) {
            Some(at) => {
                let failures = self.failures()?.unwrap_or_default();
                Ok(Some((at as usize, failures)))
            }
            None => Ok(None),
        }
    }

    /// Runs rounds of a fixpoint, the first of which has begun, in one submission.
    pub(crate) fn many(
        &mut self,
        fixpoint: FixpointId,
        (round, most): (u32, u64),
    ) -> Result<Ran, RunError> {
        let pass = Arc::clone(&self.pass);
        let Some(of) = &pass.plan.fixpoints[fixpoint.index()].round else {
            unreachable!("the driver asks for fixpoints of waves alone")
        };
        let batch = match self.batches[fixpoint.index()].take() {
            Some(batch) => batch,
            None => Batch::new(&self.on, &self.memory, &pass, of)?,
        };
        let (mut batch, started) = (batch, Instant::now());
        if round == 0 {
            (batch.ended, batch.waited) = (0, Duration::ZERO);
        }
        let steps = self.at_once.unwrap_or(batch.pace).clamp(1, most);
        let more = match (of.narrow, self.at_once) {
            (Some(_), None) => steps.div_ceil(NARROW_EVERY) * NARROW_MOST,
            _ => 0,
        };
        let rounds = (steps + more).min(most).min(u32::MAX.into()) as u32;
        let swaps = &pass.plan.fixpoints[fixpoint.index()].swaps;
        let mut until = pass.named.schedule.iter();
        let until = until.position(|step| *step == Step::Until(fixpoint));
        let until = until.expect("a fixpoint ends");
        let with_results = batch.is_short && round == 0 && self.gives_results(until, swaps);
        let told = self.submit((&mut batch, of), (round, steps, rounds), with_results);
        let ran = told.and_then(|told| self.ran(fixpoint, &told));
        self.swept = false;
        let took = started.elapsed();
        if let Ok((ran, narrow)) = &ran {
            batch.ended += ran.rounds - narrow;
        }
        batch.waited += took;
        let goes_on = matches!(&ran, Ok((ran, _)) if matches!(ran.end, End::Said(Verdict::Again)));
        batch.is_short = batch.waited < 4 * SHORT;
        batch.pace = match goes_on {
            false if batch.is_short => (batch.ended + (batch.ended / 8).max(2)).clamp(FIRST, MOST),
            _ if took < SHORT => (2 * steps).min(MOST),
            _ if took > 4 * SHORT => (steps / 2).max(1),
            _ => steps,
        };
        self.batches[fixpoint.index()] = Some(batch);
        ran.map(|(ran, _)| ran)
    }

    /// Submits rounds of a fixpoint, or a stretch, and before it the stretch that waits, and looks at what came of
    /// them. The state of the one that waited stands behind the other's.
    fn submit(
        &mut self,
        (batch, of): (&mut Batch, &plan::Round),
        (round, steps, rounds): (u32, u64, u32),
        with_results: bool,
    ) -> Result<Vec<u32>, RunError> {
        let pass = Arc::clone(&self.pass);
        // Ends have a uniform like that of any other dispatch; the round that they are in is among the arguments.
        let words = self.block(round, 1, [0; 5]);
        let common = self.push_block(&words)?;
        let mut before = None;
        if let Some((nth, round)) = self.waiting.take() {
            let stretch = self.straight_batch(nth)?;
            self.write(
                &stretch,
                &pass.plan.stretches[nth].round,
                (round, 1, 1),
                false,
            )?;
            before = Some((nth, stretch));
        }
        self.write(batch, of, (round, steps, rounds), before.is_some())?;

        let mut encoder = self.encode();
        let mut commands = encoder.begin_compute_pass(&ComputePassDescriptor::default());
        if let Some((nth, stretch)) = &mut before {
            let of = &pass.plan.stretches[*nth].round;
            self.record(&mut commands, (stretch, of, false), (common, 1));
        }
        self.record(
            &mut commands,
            (batch, of, before.is_some()),
            (common, steps),
        );
        drop(commands);
        let mut states = vec![batch.state()];
        states.extend(before.iter().map(|(_, stretch)| stretch.state()));
        let told = self.look_after(encoder, &states, with_results);
        if let Some((nth, stretch)) = before {
            self.straight[nth] = Some(stretch);
        }
        told
    }

    /// Writes the arguments of dispatches, and the uniforms. Where something else starts it, nothing goes on until
    /// then.
    fn write(
        &self,
        batch: &Batch,
        of: &plan::Round,
        (round, steps, rounds): (u32, u64, u32),
        waits: bool,
    ) -> Result<(), RunError> {
        let on = &self.on;
        let stride = (self.memory.block_bytes / 4) as usize;
        let mut args = vec![0u32; of.words as usize];
        let head = [
            u32::from(!waits),
            0,
            0,
            round,
            rounds,
            stride as u32,
            self.most_in_rounds(),
            on.spread(),
            0,
            steps as u32,
            self.direction.pulls,
        ];
        args[..head.len()].copy_from_slice(&head);
        let mut uniforms = vec![0u32; stride * of.blocks as usize];
        for part in &of.parts {
            let (wave, word, block, closes) = match *part {
                Part::Sweep { wave, word, block } => (wave, word, block, false),
                Part::Close { wave, word, block } => (wave, word, block, true),
                // The first round pushes.
                Part::Pull { word, .. } => {
                    args[word..word + 3].copy_from_slice(&[0, 1, 1]);
                    continue;
                }
                Part::End { .. } => continue,
            };
            // Ends say how many workgroups the sweeps of other groups have.
            let groups = match of.begins_with(wave) && !waits {
                true => self.groups_of(WaveId(wave as u16), self.items_now(wave)?),
                false => 0,
            };
            let now = if closes { groups.min(1) } else { groups };
            args[word..word + 3].copy_from_slice(&[now, 1, 1]);
            let words = self.block(round, groups, [0; 5]);
            let at = block as usize * stride;
            uniforms[at..at + words.len()].copy_from_slice(&words);
        }
        let (args, uniforms) = (bytemuck::cast_slice(&args), bytemuck::cast_slice(&uniforms));
        on.queue.write_buffer(&batch.dispatches, 0, args);
        on.queue.write_buffer(&batch.blocks, 0, uniforms);
        Ok(())
    }

    /// Records so many rounds, and what starts them, where something does.
    fn record(
        &self,
        commands: &mut ComputePass<'_>,
        (batch, of, starts): (&mut Batch, &plan::Round, bool),
        (common, steps): (u32, u64),
    ) {
        let (pass, on) = (&self.pass, &self.on);
        let stride = self.memory.block_bytes as u32;
        let (sweeps, narrow) = batch.groups(&self.memory, (pass, of.narrow.is_some()), on);
        let narrow = of.narrow.zip(narrow);
        let once = |commands: &mut ComputePass<'_>, shader: usize, group: &BindGroup| {
            commands.set_pipeline(pass.pipeline(on, shader));
            commands.set_bind_group(0, group, &[common * stride]);
            commands.dispatch_workgroups(1, 1, 1);
        };
        if let Some(start) = of.start.filter(|_| starts) {
            once(commands, start, &batch.ends);
        }
        for nth in 0..steps {
            if let Some((shader, group)) = &narrow
                && nth % NARROW_EVERY == 0
            {
                once(commands, *shader, group);
            }
            for part in &of.parts {
                let (shader, word, block) = match *part {
                    Part::Pull { .. } if self.direction.pulls == 0 => continue,
                    Part::Pull {
                        shader,
                        word,
                        block,
                    } => (shader, word, block),
                    Part::Sweep { wave, word, block } => (pass.plan.waves[wave].sweep, word, block),
                    Part::Close { wave, word, block } => (pass.plan.waves[wave].close, word, block),
                    Part::End { shader } => {
                        once(commands, shader, &batch.ends);
                        continue;
                    }
                };
                commands.set_pipeline(pass.pipeline(on, shader));
                commands.set_bind_group(0, &sweeps, &[block * stride]);
                commands.dispatch_workgroups_indirect(&batch.dispatches, 4 * word as u64);
            }
        }
    }

    /// What rounds of a fixpoint came to, by the words that tell it, and how many of them one workgroup took.
    fn ran(&mut self, fixpoint: FixpointId, told: &[u32]) -> Result<(Ran, u64), RunError> {
        let pass = Arc::clone(&self.pass);
        let swaps = &pass.plan.fixpoints[fixpoint.index()].swaps;
        let (told, before) = told.split_at(STATE);
        if !before.is_empty()
            && let Some((at, failures)) = self.failed(before)?
        {
            let end = End::Failed { at, failures };
            return Ok((Ran { rounds: 0, end }, 0));
        }
        let rounds = told[ENDED];
        self.direction.missed += u64::from(told[MISSED]);
        self.on.pulled.fetch_add(told[PULLED].into(), Relaxed);
        // Swaps of one round may share a buffer, so that two rounds of them need not undo each other.
        for _ in 0..rounds {
            swaps.iter().for_each(|&(a, b)| self.trade(a, b));
        }
        let end = match self.failed(told)? {
            Some((at, failures)) => End::Failed { at, failures },
            None => End::Said(self.verdict(fixpoint)?),
        };
        let ran = Ran {
            rounds: rounds.into(),
            end,
        };
        Ok((ran, told[NARROW].into()))
    }
}
