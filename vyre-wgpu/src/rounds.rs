//! Many rounds of a fixpoint in one submission.
//!
//! Each sweep of a round is an indirect dispatch. Behind the last one of a barrier group comes the group's end, one
//! workgroup, which writes how many workgroups the sweeps of the next group have: what their frontiers have items for,
//! and none once a group has failed or the condition has said that the fixpoint is done. So rounds that were encoded and
//! are not needed cost their dispatches, and do nothing. The end of a round also counts it in the uniforms of the sweeps,
//! and trades the places of buffers that are swapped.
//!
//! How many rounds are encoded at a time follows how long those before took: a submission is neither cancelled nor cut
//! short, so it should take [`SHORT`], and the host should look as rarely as that allows.

use crate::device::Opened;
use crate::memory::Memory;
use crate::pass::Pass;
use crate::plan::{self, Items, Part};
use crate::session::Session;
use std::sync::Arc;
use std::time::{Duration, Instant};
use vyre_core::dsl::error::RunError;
use vyre_core::run::schedule::{End, Ran};
use vyre_core::vir0::module::{FixpointId, WaveId};
use wgpu::{
    BindGroup, BindGroupDescriptor, BindGroupEntry, BindingResource, Buffer, BufferBinding,
    BufferUsages, ComputePassDescriptor,
};

/// What a submission should take at least, where its fixpoint goes on for so long.
const SHORT: Duration = Duration::from_millis(5);

/// Rounds of the first submission, and of the largest one.
const FIRST: u64 = 4;
const MOST: u64 = 256;

/// Words of the state that is read back: whether rounds go on, how many have ended, which step failed.
const STATE: usize = 3;

/// What is made for a fixpoint once.
pub(crate) struct Batch {
    /// Arguments of its dispatches.
    dispatches: Buffer,
    /// The uniforms of its waves.
    blocks: Buffer,
    /// What its sweeps have, and which of the session's buffers these are.
    sweeps: Option<(u64, BindGroup)>,
    /// What its ends have.
    ends: BindGroup,
    /// Rounds of the next submission.
    pace: u64,
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
    fn new(on: &Opened, memory: &Memory, pass: &Pass, round: &plan::Round) -> Result<Batch, RunError> {
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
            ends,
            pace: FIRST,
        })
    }

    /// What sweeps have.
    fn sweeps(&mut self, memory: &Memory, pass: &Pass, on: &Opened) -> BindGroup {
        if let Some((made, group)) = &self.sweeps
            && *made == memory.made
        {
            return group.clone();
        }
        let mut entries = vec![
            moving(&self.blocks, pass),
            whole(plan::CONTROL, &memory.control),
        ];
        let arenas = pass.plan.arenas.iter();
        entries.extend(arenas.map(|&binding| whole(binding, memory.arena(binding))));
        let group = on.device.create_bind_group(&BindGroupDescriptor {
            label: Some("sweeps"),
            layout: &pass.layout,
            entries: &entries,
        });
        self.sweeps = Some((memory.made, group.clone()));
        group
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
        let pace = self.at_once.unwrap_or(batch.pace).clamp(1, most);
        let ran = self.submit(&mut batch, fixpoint, of, (round, pace));
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
        batch: &mut Batch,
        fixpoint: FixpointId,
        of: &plan::Round,
        (round, rounds): (u32, u64),
    ) -> Result<Ran, RunError> {
        let (pass, on) = (Arc::clone(&self.pass), Arc::clone(&self.on));
        let swaps = &pass.plan.fixpoints[fixpoint.index()].swaps;
        let stride = self.memory.block_bytes;
        // Ends have a uniform like that of any other dispatch; the round that they are in is among the arguments.
        let words = self.block(round, 1, [0; 5]);
        let common = self.push_block(&words)?;

        let mut args = vec![0u32; of.words as usize];
        let head = [
            1,
            0,
            0,
            round,
            rounds as u32,
            (stride / 4) as u32,
            on.most_groups(),
            on.spread(),
        ];
        args[..head.len()].copy_from_slice(&head);
        let mut uniforms = vec![0u32; (stride / 4) as usize * of.blocks as usize];
        for part in &of.parts {
            let (wave, word, block, closes) = match *part {
                Part::Sweep { wave, word, block } => (wave, word, block, false),
                Part::Close { wave, word, block } => (wave, word, block, true),
                Part::End { .. } => continue,
            };
            // Ends say how many workgroups the sweeps of other groups have.
            let groups = match of.begins_with(wave) {
                true => self.groups_of(WaveId(wave as u16), self.items_now(wave)?),
                false => 0,
            };
            let now = if closes { groups.min(1) } else { groups };
            args[word..word + 3].copy_from_slice(&[now, 1, 1]);
            let words = self.block(round, groups, [0; 5]);
            let at = block as usize * (stride / 4) as usize;
            uniforms[at..at + words.len()].copy_from_slice(&words);
        }
        on.queue
            .write_buffer(&batch.dispatches, 0, bytemuck::cast_slice(&args));
        on.queue
            .write_buffer(&batch.blocks, 0, bytemuck::cast_slice(&uniforms));

        let mut encoder = self.encode();
        let sweeps = batch.sweeps(&self.memory, &pass, &on);
        let mut commands = encoder.begin_compute_pass(&ComputePassDescriptor::default());
        for _ in 0..rounds {
            for part in &of.parts {
                let (shader, word, block) = match *part {
                    Part::Sweep { wave, word, block } => {
                        (pass.plan.waves[wave].sweep, word, block)
                    }
                    Part::Close { wave, word, block } => {
                        (pass.plan.waves[wave].close, word, block)
                    }
                    Part::End { shader } => {
                        commands.set_pipeline(pass.pipeline(&on, shader));
                        commands.set_bind_group(0, &batch.ends, &[common * stride as u32]);
                        commands.dispatch_workgroups(1, 1, 1);
                        continue;
                    }
                };
                commands.set_pipeline(pass.pipeline(&on, shader));
                commands.set_bind_group(0, &sweeps, &[block * stride as u32]);
                commands.dispatch_workgroups_indirect(&batch.dispatches, 4 * word as u64);
            }
        }
        drop(commands);
        let more = [(&batch.dispatches, 0, 4 * STATE as u64)];
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
}
