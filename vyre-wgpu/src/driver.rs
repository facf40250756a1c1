//! The host's side of a run: it guesses the path through the schedule, encodes it, and looks now and then.
//!
//! A submission has the dispatches of several barrier groups, each followed by one of the control, which knows where
//! the run really is: dispatches beside the path have no workgroups, and the control of a group that is not next does
//! nothing. So a wrong guess costs time, and changes nothing. Behind a submission the host looks at the state. While
//! submissions are short, the next one has twice as many groups; so a long fixpoint is hardly ever looked at, and a
//! cancel is seen soon all the same.
//!
//! [`Session::run`] is `async` since a browser cannot wait; elsewhere it does all its waiting inside.

use crate::code::{Bound, Code, here};
use crate::gpu::Gpu;
use crate::layout::{Layout, LayoutError, Part, Room};
use crate::memory::{Memory, View};
use crate::shader::refusals;
use crate::slots::{self, Group, Slots, Status, groups};
use crate::timing::{self, Stopwatch, Timing};
use std::sync::Arc;
use std::time::Duration;
use vyre_core::dsl::columns::Column;
use vyre_core::dsl::csr::Csr;
use vyre_core::dsl::error::RunError;
use vyre_core::run::args::{Args, TopologyArgs, check_columns, check_run, resolve_topologies};
use vyre_core::run::backend::{Opening, Progress};
use vyre_core::run::clock::Instant;
use vyre_core::run::outcome::{Outcome, WaveTime};
use vyre_core::run::schedule::{Failures, Fault, Overflow, Pending, failed, faulted, round_limit};
use vyre_core::run::stop::Stop;
use vyre_core::vir0::module::{
    BufferId, FixpointId, FrontierId, ListId, Program, ReductionId, Resource, Role, Step, Uniform,
    WaveId,
};
use vyre_core::vir0::scalar::Scalar;
use vyre_core::vir0::sizes::Sizes;
use vyre_core::vir0::trap::{self, TrapKind};
use wgpu::{CommandEncoder, ComputePass, ComputePassDescriptor};

/// Groups of the first submission of a run.
const FIRST_GROUPS: usize = 4;
/// Groups of a submission, at most.
const MOST_GROUPS: usize = 512;
/// Groups that one dispatch of the control leads by itself.
const BUDGET: u32 = 64;
/// The same where loops are cut short, which those of all groups count for.
const SHORT_BUDGET: u32 = 8;

/// How long submissions are to take: a cancel waits for the one at hand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    /// One that takes as long has been long enough.
    long: Duration,
    /// One that takes longer than this was too long.
    too_long: Duration,
}

impl Pace {
    pub(crate) const USUAL: Pace = Pace {
        long: Duration::from_millis(25),
        too_long: Duration::from_millis(60),
    };

    /// Whatever the machine does meanwhile, no submission is long.
    pub(crate) const PATIENT: Pace = Pace {
        long: Duration::MAX,
        too_long: Duration::MAX,
    };

    /// Groups of the next submission at most, behind one of at most so many that took so long.
    fn next(self, groups: usize, took: Duration) -> usize {
        if took < self.long {
            (2 * groups).min(MOST_GROUPS)
        } else if took > self.too_long {
            (groups / 2).max(1)
        } else {
            groups
        }
    }
}

/// A pass and its topology on an adapter.
pub struct Session {
    gpu: Arc<Gpu>,
    program: Arc<Program>,
    graphs: Vec<Csr>,
    columns: Vec<(BufferId, Column)>,
    sizes: Sizes,
    slots: Slots,
    groups: Vec<Group>,
    /// By group, whether it may be dispatched once more for its hubs.
    meets_hubs: Vec<bool>,
    narrow_items: u32,
    pace: Pace,

    held: Option<Held>,
    /// Sweeps are timed.
    pub(crate) timing: Option<Timing>,
    times: Vec<WaveTime>,
    stopwatch: Option<Stopwatch>,
    /// Timestamps' ticks that submissions took since a run or series began.
    ticks: u64,
    looks: u64,
    pub(crate) progress: Arc<Progress>,
    pub(crate) stop: Option<Arc<Stop>>,
}

/// Shaders, and the buffers that are bound to them.
struct Held {
    code: Arc<Code>,
    memory: Memory,
    bound: Bound,
}

impl Held {
    /// The control, behind this group.
    fn control(&self, pass: &mut ComputePass<'_>, group: usize) {
        pass.set_pipeline(&self.code.control);
        pass.set_bind_group(0, &self.bound.memory, &[]);
        pass.set_bind_group(1, &self.bound.control, &[here(group)]);
        pass.dispatch_workgroups(1, 1, 1);
    }

    /// A sweep, if the control has said so.
    fn sweep(&self, pass: &mut ComputePass<'_>, wave: WaveId) {
        let waves = self
            .code
            .waves()
            .expect("a path has groups only where waves are compiled");
        pass.set_pipeline(&waves[wave.index()]);
        pass.set_bind_group(0, &self.bound.memory, &[]);
        pass.dispatch_workgroups_indirect(&self.memory.args, 12 * u64::from(wave.0));
    }
}

/// Dispatches of a path, as far as they can be timed: timestamps are those of passes.
fn encode_timed(
    held: &Held,
    groups: &[Group],
    path: &[usize],
    (timing, stopwatch): (&mut Timing, Option<&Stopwatch>),
    encoder: &mut CommandEncoder,
) {
    if let Some(watch) = stopwatch {
        encoder.begin_compute_pass(&watch.notes(true, false));
    }
    let plain = ComputePassDescriptor::default();
    held.control(&mut encoder.begin_compute_pass(&plain), groups.len());
    let mut left = timing::MOST;
    for &group in path {
        let waves = &groups[group].waves;
        if waves.len() > left {
            break;
        }
        left -= waves.len();
        for &wave in waves {
            let timed = ComputePassDescriptor {
                label: None,
                timestamp_writes: Some(timing.of(wave)),
            };
            held.sweep(&mut encoder.begin_compute_pass(&timed), wave);
        }
        held.control(&mut encoder.begin_compute_pass(&plain), group);
    }
    if let Some(watch) = stopwatch {
        encoder.begin_compute_pass(&watch.notes(false, true));
    }
    timing.copy(encoder);
}

/// The groups that sweep edges of a graph with hubs.
fn meets_hubs(program: &Program, groups: &[Group], graphs: &[Csr]) -> Vec<bool> {
    let has_hubs = |graph: &Csr| {
        let mut degrees = graph.offsets().windows(2).map(|pair| pair[1] - pair[0]);
        degrees.any(|degree| degree >= slots::HUB_EDGES)
    };
    let has_hubs: Vec<bool> = graphs.iter().map(has_hubs).collect();
    let meets = |wave: &WaveId| {
        let graph = program.waves[wave.index()].domain.topology();
        graph.is_some_and(|t| has_hubs[t.index()])
    };
    let groups = groups.iter();
    groups.map(|group| group.waves.iter().any(meets)).collect()
}

impl Session {
    /// Uploads the topology, and compiles.
    ///
    /// # Errors
    /// The adapter lacks what the pass needs, what is given does not fit the program, or memory or the adapter's
    /// compiler fail.
    pub(crate) fn new(
        gpu: &Arc<Gpu>,
        opening: &Opening<'_>,
        (narrow_items, pace): (u32, Pace),
    ) -> Result<Session, RunError> {
        let (program, given) = (Arc::clone(&opening.program), opening.topology);
        let refused = refusals(&program, &gpu.target);
        if !refused.is_empty() {
            let refused: Vec<String> = refused.iter().map(ToString::to_string).collect();
            let (name, why) = (&gpu.info.name, refused.join("; "));
            return Err(RunError::Backend(format!(
                "{name} cannot run `{}`: {why}",
                program.name
            )));
        }
        let (graphs, sizes) = resolve_topologies(&program, given)?;
        let graphs: Vec<Csr> = graphs.into_iter().map(|graph| graph.into_owned()).collect();
        check_columns(&program, &sizes, &given.columns)?;
        let groups = groups(&program);
        let meets = meets_hubs(&program, &groups, &graphs);
        let columns = given.columns.iter();
        let mut session = Session {
            gpu: Arc::clone(gpu),
            graphs,
            columns: columns
                .map(|(id, values)| (*id, values.to_column()))
                .collect(),
            sizes,
            slots: Slots::new(&program, &gpu.target),
            meets_hubs: meets,
            groups,
            narrow_items,
            pace,

            held: None,
            timing: None,
            times: Vec::new(),
            stopwatch: Stopwatch::new(gpu)?,
            ticks: 0,
            looks: 0,
            progress: Arc::default(),
            stop: None,
            program,
        };
        session.hold()?;
        Ok(session)
    }

    /// Makes memory and code for the sizes as they are, where those that are held are for others.
    fn hold(&mut self) -> Result<(), RunError> {
        let (gpu, program) = (&self.gpu, &self.program);
        let bindings = u64::from(gpu.target.bindings);
        let room = Room {
            binding_bytes: gpu.target.binding_bytes,
            // State, counts and arguments are bound, too.
            arenas: bindings.saturating_sub(3),
        };
        let layout = Layout::of_sizes(program, &self.sizes, room);
        let layout = layout.map_err(|e| match e {
            LayoutError::Part { name, bytes, limit } => RunError::Memory {
                what: format!("`{name}` is larger than a binding of this adapter can be"),
                needed_bytes: bytes,
                available_bytes: limit,
            },
            LayoutError::Bindings { .. } => RunError::Backend(e.to_string()),
        })?;
        let code = match self.held.take() {
            Some(mut held) if held.memory.takes(&layout) => {
                let with = (self.graphs.as_slice(), self.columns.as_slice());
                held.memory.lay_out(gpu, layout, with);
                self.held = Some(held);
                return Ok(());
            }
            Some(held) if held.memory.layout.is_like(&layout) => held.code,
            _ => gpu.codes.get(gpu, program, &layout)?,
        };
        let with = (self.graphs.as_slice(), self.columns.as_slice());
        let memory = Memory::new(gpu, program, (layout, &self.slots), with)?;
        let bound = code.bind(gpu, &memory);
        gpu.check()?;
        self.held = Some(Held {
            code,
            memory,
            bound,
        });
        Ok(())
    }

    /// The topology as it was given.
    pub(crate) fn topology(&self) -> TopologyArgs<'_> {
        let graphs = self.graphs.iter().zip(&self.program.topologies);
        let given = graphs.filter(|(_, declared)| declared.reverse_of.is_none());
        TopologyArgs {
            graphs: given.map(|(graph, _)| graph).collect(),
            columns: (self.columns.iter())
                .map(|(id, column)| (*id, column.as_slice()))
                .collect(),
        }
    }

    /// Bytes that are held on the adapter.
    pub fn bytes(&self) -> u64 {
        self.held.as_ref().map_or(0, |held| held.memory.bytes)
    }

    /// What times sweeps, where the adapter can and has memory for it.
    pub(crate) fn new_timing(&self) -> Option<Timing> {
        Timing::new(&self.gpu).ok().flatten()
    }

    /// What it runs on.
    pub(crate) fn adapter(&self) -> String {
        self.gpu.described()
    }

    /// Lanes of a workgroup.
    pub(crate) fn lanes(&self) -> u32 {
        self.gpu.target.lanes
    }

    /// Where the current run's progress can be read.
    pub fn progress(&self) -> &Arc<Progress> {
        &self.progress
    }

    /// How often the host has looked at the state of runs.
    pub fn looks(&self) -> u64 {
        self.looks
    }

    /// Runs the pass once.
    ///
    /// # Errors
    /// The run's trap, [`RunError::Cancelled`], or what the adapter says.
    pub async fn run(&mut self, args: &Args<'_>, results: &mut Outcome) -> Result<(), RunError> {
        self.ticks = 0;
        let view = self.finish(args).await?;
        results.clear();
        self.give(&view, results).await
    }

    /// Runs the pass several times, and reads back what the last one leaves.
    ///
    /// # Errors
    /// As [`run`](Session::run); a trap says which run it is of.
    pub async fn run_series(
        &mut self,
        series: &[Args<'_>],
        results: &mut Outcome,
    ) -> Result<(), RunError> {
        self.ticks = 0;
        let mut last = None;
        for (i, args) in series.iter().enumerate() {
            let view = self.finish(args).await;
            last = Some(view.map_err(|e| e.of_run(i, series.len()))?);
        }
        results.clear();
        if let Some(view) = last {
            self.give(&view, results).await?;
        }
        Ok(())
    }

    /// What submissions took on the device, where that is known.
    fn device_ns(&self) -> Option<u64> {
        let ns = || (self.ticks as f64 * self.gpu.tick_ns()) as u64;
        self.stopwatch.is_some().then(ns)
    }

    fn check_stop(&self) -> Result<(), RunError> {
        self.stop.as_ref().map_or(Ok(()), |stop| stop.check())
    }

    /// Runs until the schedule's end.
    async fn finish(&mut self, args: &Args<'_>) -> Result<View, RunError> {
        self.sizes.scalars.clone_from(&args.scalars);
        check_run(&self.program, &self.sizes, args)?;
        self.progress.begin();
        self.check_stop()?;
        self.hold()?;
        let mut held = self.held.take().expect("`hold` has made it");
        let view = self.lead(&mut held, args).await;
        self.held = Some(held);
        view
    }

    async fn lead(&mut self, held: &mut Held, args: &Args<'_>) -> Result<View, RunError> {
        let (gpu, program) = (Arc::clone(&self.gpu), Arc::clone(&self.program));
        let memory = &held.memory;
        let of = (&self.slots, &self.sizes);
        let mut state = memory.first_state(&program, of, &self.graphs);
        state[slots::BUDGET as usize] = match gpu.target.cuts_loops {
            true => SHORT_BUDGET,
            false => BUDGET,
        };
        state[slots::NARROW_ITEMS as usize] = match &self.timing {
            // Only dispatches can be timed.
            Some(_) => 0,
            None => self.narrow_items,
        };
        gpu.write(&memory.state, 0, &state);
        let mut encoder = gpu.encoder();
        memory.begin(&gpu, &program, args, &mut encoder);
        let mut view = View {
            state,
            counts: vec![0; self.slots.counts_words() as usize],
            ticks: 0,
        };
        self.times = vec![WaveTime::default(); program.waves.len()];
        let mut most_groups = FIRST_GROUPS;
        loop {
            let started = Instant::now();
            let path = match held.code.waves() {
                None => Vec::new(),
                Some(_) => self.path(&view, most_groups),
            };
            match &mut self.timing {
                None => self.encode(held, &path, &mut encoder),
                Some(timing) => {
                    let (groups, stopwatch) = (&self.groups, self.stopwatch.as_ref());
                    encode_timed(held, groups, &path, (timing, stopwatch), &mut encoder);
                }
            }
            let copied = (&self.slots, self.stopwatch.as_ref());
            held.memory.copy_view(copied, &mut encoder);
            gpu.submit(encoder);
            view = held.memory.view(&gpu, &self.slots).await?;
            self.ticks += view.ticks;
            self.looks += 1;
            if let Some(timing) = &mut self.timing {
                timing.add(&gpu, &mut self.times).await?;
            }
            most_groups = self.pace.next(most_groups, started.elapsed());
            let waiting = match program.frontiers.is_empty() {
                true => 0,
                false => view.counts[self.slots.pushed(FrontierId(0)) as usize],
            };
            let rounds = self.rounds(&view);
            let rounds = rounds.iter().fold(0u64, |sum, &r| sum.saturating_add(r));
            self.progress.set(rounds, waiting.into());
            match self.status(&view)? {
                Status::Running => {}
                Status::Done => {
                    for (w, time) in (0..).map(WaveId).zip(&mut self.times) {
                        time.sweeps = view.state[self.slots.wave(w) as usize + 4].into();
                    }
                    return Ok(view);
                }
                ended => {
                    // Who has cancelled a loop without an end is told so, however it was found.
                    if ended == Status::Spent {
                        self.check_stop()?;
                    }
                    return Err(self.error(ended, &view));
                }
            }
            self.check_stop()?;
            if view.state[slots::MODE as usize] == slots::WIDE {
                held.code.compile_waves(&gpu, &program)?;
            }
            encoder = gpu.encoder();
        }
    }

    fn status(&self, view: &View) -> Result<Status, RunError> {
        let word = view.state[slots::STATUS as usize];
        let unknown = || RunError::Backend(format!("wgpu: a run has the unknown status {word}"));
        match Status::of(word).ok_or_else(unknown)? {
            // The control's own loops count, too.
            Status::Done if view.counts[slots::SPENT as usize] != 0 => Ok(Status::Spent),
            status => Ok(status),
        }
    }

    /// The groups that are next if every fixpoint goes on as long as it did the last time, or for ever.
    fn path(&self, view: &View, most: usize) -> Vec<usize> {
        let (schedule, state) = (&self.program.schedule, &view.state);
        let mut path = Vec::new();
        let mut left: Vec<u32> = (0..self.program.fixpoints.len() as u16)
            .map(
                |f| match state[self.slots.fixpoint(FixpointId(f)) as usize + 2] {
                    0 => u32::MAX,
                    last => last,
                },
            )
            .collect();
        let again = left.clone();
        let mut at = match state[slots::MODE as usize] {
            slots::ADVANCE => state[slots::STEP as usize] as usize,
            _ => self.groups[state[slots::GROUP as usize] as usize].first,
        };
        while path.len() < most {
            match schedule[at] {
                Step::Wave(_) => {
                    let group = self.groups.iter().position(|group| group.first == at);
                    let group = group.expect("a path enters groups by their first wave");
                    path.push(group);
                    // Which rounds meet hubs, it cannot know.
                    if self.meets_hubs[group] {
                        path.push(group);
                    }
                    at = self.groups[group].end();
                }
                Step::Barrier => at += 1,
                // Sessions of programs with local fixpoints are refused.
                Step::Loop(f) | Step::Each(f, _) => {
                    left[f.index()] = again[f.index()];
                    at += 1;
                }
                Step::Until(f) => {
                    left[f.index()] = left[f.index()].saturating_sub(1);
                    let first = schedule.iter().position(|step| *step == Step::Loop(f));
                    at = match (left[f.index()], first) {
                        (1.., Some(first)) => first + 1,
                        _ => at + 1,
                    };
                }
                Step::End => break,
            }
        }
        path
    }

    /// Dispatches of a path.
    fn encode(&self, held: &Held, path: &[usize], encoder: &mut CommandEncoder) {
        let notes = self.stopwatch.as_ref().map(|watch| watch.notes(true, true));
        let mut pass = encoder.begin_compute_pass(&notes.unwrap_or_default());
        // What is narrow, or at the beginning, it goes on with before any group.
        held.control(&mut pass, self.groups.len());
        for &group in path {
            for &wave in &self.groups[group].waves {
                held.sweep(&mut pass, wave);
            }
            held.control(&mut pass, group);
        }
    }

    /// Rounds of a run, by fixpoint.
    fn rounds(&self, view: &View) -> Vec<u64> {
        let fixpoints = (0..).map(FixpointId).take(self.program.fixpoints.len());
        let total = |f| view.state[self.slots.fixpoint(f) as usize + 1];
        fixpoints.map(|f| u64::from(total(f))).collect()
    }

    /// What a uniform is now, raw bits.
    fn value(&self, view: &View, uniform: Uniform) -> Option<u64> {
        Some(match uniform {
            Uniform::Reduction(r) => self.reduction(view, r),
            Uniform::FrontierLen(f) => view.counts[self.slots.pushed(f) as usize].into(),
            Uniform::ListLen(l) => view.counts[self.slots.appended(l) as usize].into(),
            Uniform::Scalar(_) | Uniform::Constant(_) | Uniform::Round | Uniform::Nodes => {
                return None;
            }
        })
    }

    fn reduction(&self, view: &View, r: ReductionId) -> u64 {
        let bits = view.pair(self.slots.reduction(r));
        match self.program.reductions[r.index()].scalar {
            Scalar::I32 => bits as u32 as i32 as i64 as u64,
            Scalar::U64 | Scalar::I64 | Scalar::F64 => bits,
            Scalar::Bool | Scalar::U8 | Scalar::U32 | Scalar::F32 => u64::from(bits as u32),
        }
    }

    /// Why a run has ended before its schedule.
    fn error(&self, ended: Status, view: &View) -> RunError {
        let (program, sizes) = (&self.program, &self.sizes);
        let at = view.state[slots::STEP as usize] as usize;
        let fixpoint = || match program.schedule[at] {
            Step::Until(f) => f,
            _ => unreachable!("rounds end with their fixpoint's step"),
        };
        match ended {
            Status::Failed => failed(program, sizes, at, self.failures(view)),
            Status::RoundLimit => round_limit(program, sizes, fixpoint(), |uniform| {
                self.value(view, uniform)
            }),
            Status::Condition => {
                let f = fixpoint();
                let fault = self.fault(view);
                let fault = Fault::at(program, program.fixpoints[f.index()].until, fault);
                faulted(program, sizes, f, fault)
            }
            Status::Spent => RunError::Backend(match view.counts[slots::SPENT as usize] {
                slots::CUT => format!(
                    "the driver of {} ends loops after 65535 turns, and those of `{}` may take more",
                    self.gpu.info.name, program.name
                ),
                _ => format!(
                    "an item of `{}` takes more than {} turns of a loop; a shader cannot be stopped, so that the \
                     wgpu backend runs no longer ones",
                    program.name,
                    crate::program::TURNS
                ),
            }),
            Status::Running | Status::Done => {
                RunError::Backend("wgpu: a run has ended without a reason".to_owned())
            }
        }
    }

    fn fault(&self, view: &View) -> trap::Fault {
        let word = |n: u32| view.state[(slots::FAULT + n) as usize];
        trap::Fault {
            pc: word(2),
            kind: TrapKind::from_code(word(3)).unwrap_or(TrapKind::UnknownWord),
            index: view.pair(slots::FAULT + 4),
            len: word(6).into(),
        }
    }

    fn failures(&self, view: &View) -> Failures {
        let program = &self.program;
        let word = |at: u32| view.state[at as usize];
        let fault = (view.counts[slots::FAULTS as usize] > 0).then(|| {
            let of = (WaveId(word(slots::FAULT) as u16), word(slots::FAULT + 1));
            Box::new(Pending::new(program, of, self.fault(view)))
        });
        let frontiers = (0..).map(FrontierId).take(program.frontiers.len());
        let frontiers = frontiers.map(|f| {
            let (count, slot) = (self.slots.pushed(f), self.slots.frontier(f));
            (Resource::Frontier(f), count, slot)
        });
        let lists = (0..).map(ListId).take(program.lists.len());
        let lists = lists.map(|l| {
            let (count, slot) = (self.slots.appended(l), self.slots.list(l));
            (Resource::List(l), count, slot)
        });
        let all = frontiers.chain(lists).map(|(of, count, slot)| Overflow {
            of,
            needed: view.counts[count as usize].into(),
            capacity: word(slot).into(),
        });
        Failures {
            fault,
            overflows: all.filter(|o| o.needed > o.capacity).collect(),
        }
    }

    /// The results.
    async fn give(&self, view: &View, results: &mut Outcome) -> Result<(), RunError> {
        let (program, gpu) = (&self.program, &self.gpu);
        let memory = &self.held.as_ref().expect("a run has held it").memory;
        let word = |at: u32| view.state[at as usize];
        results.report.rounds = self.rounds(view);
        results.report.device_ns = self.device_ns();
        results.report.waves = self.timing.as_ref().map(|_| self.times.clone());
        results.rows = self.sizes.rows(program);
        for (id, buffer) in (0..).map(BufferId).zip(&program.buffers) {
            if matches!(buffer.role, Role::Output | Role::InOut) {
                let slot = self.slots.buffer(id);
                let of = (Part::Buffer(id), word(slot), word(slot + 1) as usize);
                let to = results.output_mut(id, buffer.scalar);
                memory.download(gpu, of, to).await?;
                let bytes = to.len() as u64 * to.scalar().size_bytes();
                results.report.readback.direct += 1;
                results.report.readback.direct_bytes += bytes;
            }
        }
        for (id, list) in (0..).map(ListId).zip(&program.lists) {
            if !list.output {
                continue;
            }
            let len = view.counts[self.slots.appended(id) as usize] as usize;
            let mut readback = results.report.readback;
            let columns = results.list_mut(id, &list.fields).iter_mut();
            for (k, to) in (0..).zip(columns) {
                let at = word(self.slots.list(id) + 2 + u32::from(k));
                memory
                    .download(gpu, (Part::List(id, k), at, len), to)
                    .await?;
                readback.direct += 1;
                readback.direct_bytes += to.len() as u64 * to.scalar().size_bytes();
            }
            results.report.readback = readback;
        }
        let reductions = (0..).map(ReductionId).zip(&program.reductions);
        let reductions = reductions.filter(|(_, reduction)| reduction.output);
        let values = reductions.map(|(id, _)| (id, self.reduction(view, id)));
        results.reductions.extend(values);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What submissions that took so many milliseconds each make of the first one's groups.
    fn groups_after(took_ms: &[u64]) -> usize {
        let took = took_ms.iter().map(|&ms| Duration::from_millis(ms));
        took.fold(FIRST_GROUPS, |groups, took| Pace::USUAL.next(groups, took))
    }

    #[test]
    fn submissions_grow_while_they_are_short_and_shrink_when_they_are_too_long() {
        assert_eq!(groups_after(&[]), 4);
        assert_eq!(groups_after(&[0, 24]), 16);
        assert_eq!(groups_after(&[0; 9]), 512);
        assert_eq!(groups_after(&[0, 25, 40, 60]), 8);
        assert_eq!(groups_after(&[0, 61]), 4);
        assert_eq!(groups_after(&[61, 61, 61, 61]), 1);
        assert_eq!(groups_after(&[61, 61, 61, 61, 10]), 2);
        let hour = Duration::from_secs(3_600);
        assert_eq!(Pace::PATIENT.next(4, hour), 8);
    }
}
