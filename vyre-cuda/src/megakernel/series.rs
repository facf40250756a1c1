//! Runs on all CTAs: a [`Series`] of queries, one after another on the session's own memory, of which the last one's
//! results are read. Each is a launch of its own, and the host waits once for all of them, unless it must learn first
//! how much there is to read.

use super::Megakernel;
use super::launch::{Flight, Launch, Launcher, Work};
use super::memory::{Queue, SessionMemory};
use super::pass::Pass;
use super::readback::{Direct, Pending, Taken};
use super::record::Reader;
use super::settings::{LastLists, LastRun, Left, Settings, worth_a_cluster};
use super::tables::OneRun;
use crate::image::Control;
use std::time::Instant;
use vyre_core::dsl::columns::{Column, SliceMut};
use vyre_core::dsl::error::RunError;
use vyre_core::plan::cuda::ALIGN;
use vyre_core::run::args::Args;
use vyre_core::run::outcome::Outcome;
use vyre_core::vir0::module::BufferId;
use vyre_core::vir0::sizes::Sizes;

/// Outputs together up to this size come back through page-locked memory.
const PINNED_OUTPUT_BYTES: u64 = 64 << 20;

/// Queries that have all CTAs, one after another.
struct Series<'a, 'q> {
    memory: &'a mut SessionMemory,
    settings: &'a Settings,
    last: &'a mut LastRun,
    queries: &'a [Args<'q>],
    /// Another launch is on its way, and its host memory and inputs are not this one's.
    beside: bool,
    /// Columns whose pages are locked, where results go without a stop; they stay as they are until the device was
    /// waited for.
    locked: &'a mut [(BufferId, Column)],
    pending: Pending,
}

impl Series<'_, '_> {
    /// Makes room on the host for what goes up and for control words, and has those who watch begin.
    fn prepare(&mut self, launcher: &mut Launcher) -> Result<(), RunError> {
        self.last.left = None;
        if !self.settings.lists_alone {
            self.memory.prepare_turns(&launcher.pass)?;
        }
        launcher.make_flight(self.pending.flight)?;
        let (tables, control) = staged_bytes(&launcher.pass);
        let host = &mut launcher.flights[self.pending.flight];
        host.staging.grow(self.queries.len() * (tables + control))?;
        host.controls.grow(self.queries.len() * control)?;
        if !self.beside {
            launcher.begin_progress();
        }
        Ok(())
    }

    /// The last run's results are wanted, and this is it.
    fn is_read(&self, nth: usize) -> bool {
        self.pending.read && nth + 1 == self.queries.len()
    }
}

impl Launch for Series<'_, '_> {
    fn flight(&self) -> usize {
        self.pending.flight
    }

    fn launches(&self) -> usize {
        self.queries.len()
    }

    fn upload(&mut self, launcher: &mut Launcher, nth: usize) -> Result<Option<Work>, RunError> {
        let (query, flight) = (&self.queries[nth], self.pending.flight);
        let ahead = (self.beside || nth > 0) && self.settings.second_inputs;
        let doubled = ahead && self.memory.make_ahead(&launcher.pass, query)?;
        self.pending.set = if doubled { (nth + flight) % 2 } else { 0 };
        let set = doubled.then_some(self.pending.set);
        let packing = self.settings.packing();
        self.pending.begun = self.memory.begin(launcher, query, (set, packing));
        if self.pending.begun.is_err() {
            return Ok(None);
        }
        let read = self.is_read(nth);
        let progress = launcher.progress_address();
        let Launcher { pass, flights, .. } = launcher;
        let host = &mut flights[flight];
        let memory = &*self.memory;
        let follows = self.beside || self.queries.len() > 1;
        let shapes = memory.shapes();
        let one = OneRun {
            set: self.pending.set,
            fresh_stamps: follows,
            turns: match self.settings.lists_alone {
                true => vec![None; pass.layout.pulls.len()],
                false => memory.turns(&pass.layout, self.settings.pull_from),
            },
            progress,
            read,
        };
        let places = memory.places(pass, &shapes, one);
        let encoded = memory.encode(pass, &memory.sizes, &places, &shapes);
        let (tables, control) = staged_bytes(pass);
        let staged = &mut host.staging.as_mut_slice()[nth * (tables + control)..];
        let staged = &mut staged[..tables + control];
        staged[..encoded.len()].copy_from_slice(&encoded);
        staged[tables..].copy_from_slice(&pass.layout.control(&pass.program));
        memory.image.upload(0, staged)?;
        if read {
            // Locking pages waits for what is on the device, so it comes before the launch.
            host.slab.grow(memory.needs.slab_bytes as usize)?;
            self.pending.first_bytes = memory.first_bytes(self.last);
            let direct = memory.direct(&pass.program, self.locked);
            let total: usize = direct.iter().map(Direct::staged_bytes).sum();
            self.pending.direct = direct;
            self.pending.pinned = total as u64 <= PINNED_OUTPUT_BYTES;
            if self.pending.pinned {
                host.outputs.grow(total)?;
            }
        }
        let (ctas, cluster) = self.settings.grid(pass, self.last);
        Ok(Some(Work {
            image: memory.image.address(),
            batch: 0,
            ctas,
            cluster,
            waits: pass.laid().waits(&encoded),
        }))
    }

    fn download(&mut self, launcher: &mut Launcher, nth: usize) -> Result<(), RunError> {
        self.pending.launched += 1;
        let read = self.is_read(nth);
        let Launcher { pass, flights, .. } = launcher;
        let (tables, control) = staged_bytes(pass);
        let Flight { slab, controls, .. } = &mut flights[self.pending.flight];
        let target = if read {
            &mut slab.as_mut_slice()[..self.pending.first_bytes as usize]
        } else {
            &mut controls.as_mut_slice()[nth * control..][..control]
        };
        self.pending.copied_bytes += target.len() as u64;
        // SAFETY: the page-locked target belongs to the flight, which is waited for before it is read or freed.
        unsafe { self.memory.image.download(tables as u64, target) }?;
        if let Some(ahead) = &self.memory.ahead {
            ahead.used[self.pending.set].record(pass.device.launches())?;
        }
        Ok(())
    }

    fn fetch(&mut self, launcher: &mut Launcher) -> Result<(), RunError> {
        let pending = &mut self.pending;
        // What is known to lie where it is declared is on its way before the wait.
        let swaps = launcher.pass.program.fixpoints.iter();
        let swaps = swaps.into_iter().any(|f| !f.swaps.is_empty());
        pending.fetched = pending.read && pending.begun.is_ok() && pending.pinned && !swaps;
        let (flight, set) = (pending.flight, pending.set);
        launcher.flights[flight]
            .told
            .record(launcher.pass.device.launches())?;
        if pending.fetched {
            let to = (None, &mut *self.locked);
            self.memory
                .fetch(launcher, &pending.direct, (flight, set), to)?;
            if let Some(ahead) = &self.memory.ahead {
                ahead.used[set].record(launcher.pass.device.launches())?;
            }
        }
        pending.sizes = self.memory.sizes.clone();
        let needs = &self.memory.needs;
        (pending.packed, pending.lists) = (needs.packed.clone(), needs.lists);
        pending.fixed = needs.fixed.clone();
        pending.number = launcher.begun;
        Ok(())
    }
}

/// Bytes of tables and of control words, one behind the other on their way up.
fn staged_bytes(pass: &Pass) -> (usize, usize) {
    let tables = pass.layout.tables_bytes().next_multiple_of(ALIGN);
    (tables as usize, Control::new(&pass.program).bytes as usize)
}

impl Megakernel {
    /// Starts some runs, whose last one's results are read if asked to. `beside` and `locked` are as of [`Series`].
    pub(super) fn start_series(
        &mut self,
        queries: &[Args<'_>],
        (flight, beside): (usize, bool),
        read: bool,
        locked: &mut [(BufferId, Column)],
    ) -> Result<Pending, RunError> {
        let pending = Pending {
            flight,
            set: 0,
            started: Instant::now(),
            runs: queries.len(),
            launched: 0,
            read,
            begun: Ok(()),
            sizes: Sizes::default(),
            packed: Vec::new(),
            fixed: 0..0,
            lists: None,
            first_bytes: 0,
            copied_bytes: 0,
            number: 0,
            direct: Vec::new(),
            fetched: false,
            pinned: true,
        };
        let mut series = Series {
            memory: &mut self.memory,
            settings: &self.settings,
            last: &mut self.last,
            queries,
            beside,
            locked,
            pending,
        };
        series.prepare(&mut self.launcher)?;
        let started = self.launcher.start(&mut series);
        self.launcher.settled(started)?;
        Ok(series.pending)
    }

    /// Waits for what was started, and gives the last run's results if they were asked for: those of `in_outs` that
    /// have copies of their own there, the others in the memory of earlier results.
    pub(super) fn finish_series(
        &mut self,
        pending: Pending,
        results: &mut Outcome,
        in_outs: &mut [(BufferId, SliceMut<'_>)],
    ) -> Result<Taken, RunError> {
        let taken = self.take_results(pending, results, in_outs);
        self.launcher.settled(taken)
    }

    fn take_results(
        &mut self,
        mut pending: Pending,
        results: &mut Outcome,
        in_outs: &mut [(BufferId, SliceMut<'_>)],
    ) -> Result<Taken, RunError> {
        let (launcher, memory, flight) = (&mut self.launcher, &mut self.memory, pending.flight);
        if pending.launched > 0 {
            memory.queues.iter_mut().for_each(Queue::forget_stamps);
            launcher.wait(flight, |flight| &flight.told)?;
        }
        let pass = &launcher.pass;
        let (_, control_bytes) = staged_bytes(pass);
        let reader = Reader::new(&pass.program, &pending.sizes, pass.time_waves);
        let host = &launcher.flights[flight];
        let mut last_words = None;
        let (mut missed, mut aborted) = (0, false);
        for i in 0..pending.launched {
            let words = if pending.read && i + 1 == pending.runs {
                reader.words(host.slab.as_slice())
            } else {
                reader.words(&host.controls.as_slice()[i * control_bytes..])
            }?;
            if let (false, Err(spent)) = (aborted, pass.has_steps(&words)) {
                // The results are still on their way, and are not taken.
                host.done.wait()?;
                return Err(spent);
            }
            // The sizes are those of the last run of a series. What a run says that was cut short is nothing.
            let trap = (!words.aborted).then(|| reader.trap(&words, pending.runs == 1));
            let trap = trap.flatten();
            aborted |= words.aborted;
            missed += words.missed;
            if i + 1 == pending.launched && !aborted {
                for (queue, &stamp) in memory.queues.iter_mut().zip(&words.stamps) {
                    queue.stamp = stamp;
                }
            }
            last_words = Some(words);
            if let Some(trap) = trap {
                // The results are still on their way, and are not taken.
                host.done.wait()?;
                return Err(RunError::Trap(Box::new(trap)).of_run(i, pending.runs));
            }
        }
        pending.begun.clone()?;
        if aborted {
            // The results are still on their way, and are not taken.
            host.done.wait()?;
            return Err(launcher.cut_short());
        }
        let (Some(words), true) = (last_words, pending.read) else {
            return Ok(Taken::All);
        };
        let found = SessionMemory::found(&launcher.pass.program, &words, &pending)?;
        let is_missing = found.slab_bytes > pending.first_bytes;
        let came_at_once = !is_missing && !found.direct;
        let packed = pending.lists;
        self.last.lists = LastLists {
            packed: packed.map(|slab| (slab, found.slab_bytes.saturating_sub(slab.at))),
            came_at_once,
        };
        if !came_at_once && launcher.begun > pending.number {
            // Results with copies of their own are still on their way, and are not taken.
            launcher.flights[flight].done.wait()?;
            return Ok(Taken::Overtaken);
        }
        launcher
            .progress
            .set(words.rounds.iter().sum(), words.waiting);
        let device_ns = host.timer.elapsed_ns()?;
        let each_ns = device_ns / pending.launched as u64;
        self.last.cluster = worth_a_cluster(
            words.fitting,
            each_ns,
            pass.ctas_on(pass.slots()),
            self.settings.clustered(pass),
        );
        if is_missing {
            memory.bring_rest(launcher, &mut pending, found.slab_bytes)?;
        }
        memory.read(launcher, (&words, &found), &pending, (results, in_outs))?;
        self.last.left = Some(Left {
            homes: words.homes,
            set: pending.set,
        });
        let wall_ns = u64::try_from(pending.started.elapsed().as_nanos());
        results.report.wall_ns = wall_ns.unwrap_or(u64::MAX);
        results.report.device_ns = Some(device_ns);
        results.report.route = launcher.pass.route();
        memory.missed(&launcher.pass, missed)?;
        Ok(Taken::All)
    }
}
