//! The driver of backends that the host leads: [`follow`] walks a program's schedule and calls such a backend, a
//! [`Sweeper`]. Both CPU executors are sweepers. A device that takes one dispatch for each sweep would be another, and
//! so would several devices together.
//!
//! The driver knows the order of things:
//!
//! - which wave comes next, and in which round;
//! - where a barrier group ends, and when a fixpoint goes on;
//! - how many rounds and how much work a run may take, and how long its sweeps were;
//! - which of a group's faults is the run's trap.
//!
//! The sweeper knows where memory is.

use crate::dsl::error::RunError;
pub use crate::dsl::fault::Fault;
use crate::run::backend::{Progress, runnable};
use crate::run::clock::Instant;
use crate::run::outcome::WaveTime;
use crate::run::stop::{Stop, Watch};
use crate::vir0::flow::effect;
use crate::vir0::group::{ended_at, groups_of};
use crate::vir0::isa::{Effect, Word};
use crate::vir0::module::{
    BufferId, Domain, FixpointId, FrontierId, Kernel, KernelId, Program, QueueId, Resource, Step,
    Uniform, Wave, WaveId,
};
use crate::vir0::sizes::Sizes;
use crate::vir0::subject::{Failed, Seen, item_type, subject_of, unfinished};
use crate::vir0::trap::{self, Site, Trap, TrapKind, WHOLE_WAVE};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};

/// What the host tells a backend to do, step by step. [`follow`] calls it in the order of the schedule.
///
/// An error ends the run. What is left in memory then is not used: the next run begins anew.
pub trait Sweeper {
    /// The sizes of this run, its scalars included.
    fn sizes(&self) -> &Sizes;

    /// What this run is limited and measured by.
    fn meter(&mut self) -> &mut Meter;

    /// Items that a sweep of the wave would take now, as they count for the limit of work: of edges out of a frontier,
    /// its nodes as well. Asked only where [`Meter::most_work`] says something, so that a backend without limits leaves
    /// it out.
    fn items(&self, _wave: WaveId) -> u64 {
        0
    }

    /// Sweeps a wave over its domain, in a round of its innermost fixpoint, counted from 0 (0 without a fixpoint).
    /// Sweeps of one group may overlap. Faults and overflows wait for [`settle`](Sweeper::settle).
    ///
    /// # Errors
    /// What has nothing to do with the program: a device is lost, or there is no memory.
    fn sweep(&mut self, wave: WaveId, round: u32) -> Result<(), RunError>;

    /// Whether it takes this wave, and those of its group behind it that sweep the same, in one sweep
    /// ([`sweep_together`](Sweeper::sweep_together)).
    fn fuses(&self, _wave: WaveId) -> bool {
        false
    }

    /// Sweeps waves of one group over the same items, which none of them changes.
    ///
    /// # Errors
    /// As [`sweep`](Sweeper::sweep).
    fn sweep_together(&mut self, waves: &[WaveId], round: u32) -> Result<(), RunError> {
        waves.iter().try_for_each(|&wave| self.sweep(wave, round))
    }

    /// A barrier group ends: what its sweeps wrote is visible from here on, what they pushed onto frontiers without an
    /// owner is swept from here on, and what went wrong in it is told. `None` where nothing did.
    ///
    /// # Errors
    /// As [`sweep`](Sweeper::sweep).
    fn settle(&mut self) -> Result<Option<Box<Failures>>, RunError>;

    /// A barrier group begins, counted from 0 in schedule order. Temporaries whose life ended before it may give their
    /// memory up, and those whose life begins with it need theirs.
    ///
    /// # Errors
    /// There is no memory.
    fn enter(&mut self, _group: u32) -> Result<(), RunError> {
        Ok(())
    }

    /// Two buffers of a length exchange their contents.
    fn exchange(&mut self, a: BufferId, b: BufferId);

    /// A round of a fixpoint begins, counted from 0 each time that it is entered: of each frontier that it owns, what was pushed is swept from here on, and nothing
    /// is pushed yet; the reductions that it owns stand at their identity.
    fn begin_round(&mut self, fixpoint: FixpointId, round: u32);

    /// Each part runs the fixpoint by itself that begins at this step, an [`Step::Each`]: [`crate::vir0::local`] has the
    /// rules. Gives by fixpoint the most rounds that a part took. A backend whose sweeper has this says so by
    /// [`runs_parts`](crate::run::backend::Backend::runs_parts).
    ///
    /// # Errors
    /// As [`sweep`](Sweeper::sweep); the trap of the lowest part that has one.
    fn each(&mut self, program: &Program, step: usize) -> Result<Vec<u64>, RunError> {
        let _at = step;
        runnable(program, ("of this sweeper", false))?;
        Ok(vec![0; program.fixpoints.len()])
    }

    /// Runs barrier groups that follow each other without the driver between them, where the sweeper can: from the wave
    /// at the step `from` on, in a round of its innermost fixpoint, up to a barrier or the end of the schedule. `None`:
    /// the driver goes step by step.
    ///
    /// It is asked only where steps are not counted and sweeps are not timed. [`enter`](Sweeper::enter) is not called
    /// between these groups.
    ///
    /// # Errors
    /// As [`sweep`](Sweeper::sweep).
    fn groups(&mut self, _from: usize, _round: u32) -> Result<Option<Groups>, RunError> {
        Ok(None)
    }

    /// Runs rounds of a fixpoint without the driver between them, where the sweeper can: sweeps, ends of barrier groups,
    /// buffers that trade places, conditions and starts of further rounds. The fixpoint begins at the step `from` and has
    /// no other in it, and the round `round` has begun. At most `most` rounds, at least one; when the condition asks for
    /// another one behind them, that has not begun. `None`: the driver goes step by step.
    ///
    /// It is asked only where steps are not counted and sweeps are not timed. [`enter`](Sweeper::enter) is not called in
    /// these rounds.
    ///
    /// # Errors
    /// As [`sweep`](Sweeper::sweep).
    fn rounds(
        &mut self,
        _fixpoint: FixpointId,
        _from: usize,
        (_round, _most): (u32, u64),
    ) -> Result<Option<Ran>, RunError> {
        Ok(None)
    }

    /// Evaluates a fixpoint's condition at the end of a round.
    ///
    /// # Errors
    /// As [`sweep`](Sweeper::sweep).
    fn until(&mut self, fixpoint: FixpointId, round: u32) -> Result<Verdict, RunError>;

    /// What a reduction, a frontier's or a list's length is as a condition sees it, raw bits; `None` where the host
    /// does not know it. Traps of fixpoints that go on for too long, and who watches a run, are told.
    fn uniform(&self, uniform: Uniform) -> Option<u64>;
}

/// What a condition says.
#[derive(Debug)]
pub enum Verdict {
    /// The fixpoint is done.
    Done,
    /// It needs another round.
    Again,
    /// The condition has faulted.
    Faulted(Fault),
}

/// What came of barrier groups that a sweeper ran [together](Sweeper::groups).
#[derive(Debug)]
pub enum Groups {
    /// All have ended, the last one with this step.
    Ended(usize),
    /// One failed.
    Failed {
        /// The step that ends the group.
        at: usize,
        /// What went wrong in it.
        failures: Box<Failures>,
    },
}

/// Rounds that a sweeper ran [together](Sweeper::rounds).
#[derive(Debug)]
pub struct Ran {
    /// Rounds whose condition was evaluated.
    pub rounds: u64,
    /// What ended them.
    pub end: End,
}

/// What ended rounds that ran together.
#[derive(Debug)]
pub enum End {
    /// What the condition of the last one said.
    Said(Verdict),
    /// A barrier group failed.
    Failed {
        /// The step that ends the group.
        at: usize,
        /// What went wrong in it.
        failures: Box<Failures>,
    },
}

/// What went wrong in a barrier group.
#[derive(Debug, Default)]
pub struct Failures {
    /// The lowest fault of its items.
    pub fault: Option<Box<Pending>>,
    /// Frontiers and lists that are too short.
    pub overflows: Vec<Overflow>,
}

/// More was pushed onto a frontier, or appended to a list, than it has room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overflow {
    /// Which.
    pub of: QueueId,
    /// Items that it would hold.
    pub needed: u64,
    /// Items that it can hold.
    pub capacity: u64,
}

/// A fault of an item, which waits for the end of its barrier group.
#[derive(Debug)]
pub struct Pending {
    /// Wave, item and word: the lowest of a group is the run's trap.
    pub(crate) key: (WaveId, u32, u32),
    pub(crate) fault: Fault,
}

impl Pending {
    /// An item of a wave faulted in bytecode.
    pub fn new(program: &Program, (wave, item): (WaveId, u32), fault: trap::Fault) -> Pending {
        let kernel = program.waves[wave.index()].kernel;
        Pending {
            key: (wave, item, fault.pc),
            fault: Fault::at(program, kernel, fault),
        }
    }
}

impl Fault {
    /// A word of a kernel faulted.
    #[cold]
    pub fn at(program: &Program, kernel: KernelId, fault: trap::Fault) -> Fault {
        let kernel = &program.kernels[kernel.index()];
        let at = kernel.sites.binary_search_by_key(&fault.pc, |&(at, _)| at);
        let message = at.ok().and_then(|at| program.message(kernel.sites[at].1));
        Fault {
            kind: fault.kind,
            index: fault.index,
            len: fault.len,
            site: site_of(program, kernel, fault.pc),
            message: message.map(str::to_owned),
            seen: Seen::Word,
        }
    }
}

/// Source position of a word that can trap.
fn site_of(program: &Program, kernel: &Kernel, pc: u32) -> Site {
    let at = kernel.sites.binary_search_by_key(&pc, |&(at, _)| at).ok();
    let site = at.and_then(|at| program.sites.get(kernel.sites[at].1.index()));
    site.cloned().unwrap_or_default()
}

/// The lower of two faults.
pub fn lowest(a: Option<Box<Pending>>, b: Option<Box<Pending>>) -> Option<Box<Pending>> {
    match (a, b) {
        (Some(a), Some(b)) => Some(if b.key < a.key { b } else { a }),
        (a, b) => a.or(b),
    }
}

/// What a run is limited and measured by.
#[derive(Debug)]
pub struct Meter {
    /// Where others see how far it is.
    pub progress: Arc<Progress>,
    /// Whether the run is to end, where somebody can say so.
    pub stop: Option<Arc<Stop>>,
    /// Steps that it may take, which are items of sweeps, rounds, and turns of loops that count; `u64::MAX`: any number.
    pub most_work: u64,
    /// What of it is left.
    work_left: u64,
    /// The run asked for more.
    is_spent: bool,
    /// Turns and items since the run began, modulo 2^32.
    looked: u32,
    /// A sweep or a condition was left before its end, because the run is to end.
    is_cut: AtomicBool,
    /// Turns that lanes have counted in this sweep, or condition.
    turned: AtomicU64,
    /// Sweeps are timed.
    pub time_waves: bool,
    /// Those of the last run, by wave, where they were.
    wave_times: Vec<WaveTime>,
}

impl Default for Meter {
    /// No limit, and no times.
    fn default() -> Meter {
        Meter {
            progress: Arc::default(),
            stop: None,
            most_work: u64::MAX,
            work_left: u64::MAX,
            is_spent: false,
            looked: 0,
            is_cut: AtomicBool::new(false),
            turned: AtomicU64::new(0),
            time_waves: false,
            wave_times: Vec::new(),
        }
    }
}

/// Items and turns of which one looks whether the run is to end.
const LOOK: u32 = 64;

impl Meter {
    /// With the same limits, for a run beside this one's.
    pub(crate) fn sibling(&self) -> Meter {
        Meter {
            stop: self.stop.clone(),
            most_work: self.most_work,
            time_waves: self.time_waves,
            ..Meter::default()
        }
    }

    /// For the parts of this run that one thread runs: with what is left of the limits.
    pub(crate) fn for_parts(&self) -> Meter {
        let mut meter = self.sibling();
        meter.begin(self.wave_times.len());
        meter.most_work = self.most_work;
        meter.work_left = self.work_left;
        meter
    }

    /// Takes in what parts took that began with `work_left` left.
    pub(crate) fn take_in(&mut self, parts: &Meter, work_left: u64) {
        if self.is_limited() {
            let spent = work_left - parts.work_left;
            self.is_spent |= spent > self.work_left;
            self.work_left = self.work_left.saturating_sub(spent);
        }
        for (mine, more) in self.wave_times.iter_mut().zip(&parts.wave_times) {
            mine.sweeps += more.sweeps;
            mine.ns = mine.ns.saturating_add(more.ns);
        }
    }

    pub(crate) fn work_left(&self) -> u64 {
        self.work_left
    }

    fn begin(&mut self, waves: usize) {
        self.work_left = self.most_work;
        self.is_spent = false;
        self.looked = 0;
        *self.is_cut.get_mut() = false;
        *self.turned.get_mut() = 0;
        self.wave_times.clear();
        if self.time_waves {
            self.wave_times.resize(waves, WaveTime::default());
        }
        self.progress.begin();
    }

    pub(crate) fn is_limited(&self) -> bool {
        self.most_work < u64::MAX
    }

    fn spend(&mut self, work: u64) -> Result<(), RunError> {
        self.is_spent |= work > self.work_left;
        self.work_left = self.work_left.saturating_sub(work);
        self.unspent()
    }

    /// What lanes look at, and where they count.
    pub(crate) fn watch(&self) -> Watch<'_> {
        Watch {
            signal: self.stop.as_ref().map(|stop| stop.signal()),
            cut: &self.is_cut,
            turned: &self.turned,
            work_left: match self.is_limited() {
                true => self.work_left,
                false => u64::MAX,
            },
        }
    }

    /// The run goes on; otherwise it ends here, between sweeps.
    fn look(&self) -> Result<(), RunError> {
        match &self.stop {
            Some(stop) => stop.check(),
            None => Ok(()),
        }
    }

    fn unspent(&self) -> Result<(), RunError> {
        match self.is_spent {
            true => Err(RunError::Work {
                limit: self.most_work,
                of: None,
            }),
            false => Ok(()),
        }
    }

    /// The sweep, or the condition, came to its end; otherwise the run ends here.
    #[inline]
    fn whole(&mut self) -> Result<(), RunError> {
        if self.is_limited() {
            let turned = std::mem::take(self.turned.get_mut());
            self.spend(turned)?;
        }
        match &self.stop {
            Some(stop) if *self.is_cut.get_mut() => stop.why().map_or(Ok(()), Err),
            _ => Ok(()),
        }
    }

    /// One turn of a loop in bytecode, which is a step or not; false when there are no steps left, or the run is to end:
    /// then the sweep is to be cut short.
    #[inline]
    pub fn turn(&mut self, counts: bool) -> bool {
        self.is_spent |= counts && self.work_left == 0;
        self.work_left = self.work_left.saturating_sub(counts.into());
        !self.is_spent && self.item()
    }

    /// One item of a sweep; false when the run is to end, and the sweep is to be cut short.
    #[inline]
    pub fn item(&mut self) -> bool {
        self.looked = self.looked.wrapping_add(1);
        if self.looked.is_multiple_of(LOOK) && self.stop.as_ref().is_some_and(|s| s.is_raised()) {
            *self.is_cut.get_mut() = true;
        }
        !*self.is_cut.get_mut()
    }

    fn note_time(&mut self, wave: WaveId, started: Instant) {
        let ns = u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let time = &mut self.wave_times[wave.index()];
        time.sweeps += 1;
        time.ns = time.ns.saturating_add(ns);
    }

    /// The sweeps of the last run by wave, where they were timed.
    pub fn wave_times(&self) -> Option<Vec<WaveTime>> {
        self.time_waves.then(|| self.wave_times.clone())
    }
}

/// Runs a verified program: walks its schedule to the end. The memory is as at the start of a run. Gives the rounds by
/// fixpoint, summed over re-entries.
///
/// # Errors
/// The trap of the lowest fault of the first group that has one, by wave, item and word; that of a fixpoint which takes
/// more rounds than it may; [`RunError::Cancelled`], [`RunError::Deadline`] and [`RunError::Work`] where the run was
/// ended, after the trap of a group that was finished; the sweeper's own.
#[inline]
pub fn follow<S: Sweeper>(program: &Program, sweeper: &mut S) -> Result<Vec<u64>, RunError> {
    sweeper.meter().begin(program.waves.len());
    sweeper.meter().look()?;
    let mut course = Course::new(program);
    sweeper.enter(0)?;
    course.walk(sweeper, 0, None)?;
    Ok(course.total)
}

/// Where a run is in its schedule.
pub(crate) struct Course<'p> {
    program: &'p Program,
    /// By step: its barrier group.
    group: Vec<u32>,
    /// By fixpoint: rounds, summed over re-entries; the round that it is in; the step that it began with.
    pub(crate) total: Vec<u64>,
    round: Vec<u64>,
    first: Vec<usize>,
}

impl<'p> Course<'p> {
    pub(crate) fn new(program: &'p Program) -> Course<'p> {
        let fixpoints = program.fixpoints.len();
        Course {
            program,
            group: groups_of(&program.schedule),
            total: vec![0; fixpoints],
            round: vec![0; fixpoints],
            first: vec![0; fixpoints],
        }
    }

    /// Runs a fixpoint, which begins with this step, to its end: for the part that the sweeper has. [`total`] has its
    /// rounds, and those of the fixpoints in it.
    ///
    /// [`total`]: Course::total
    pub(crate) fn part<S: Sweeper>(
        &mut self,
        sweeper: &mut S,
        fixpoint: FixpointId,
        step: usize,
    ) -> Result<(), RunError> {
        self.total.fill(0);
        self.begin(sweeper, fixpoint, step);
        self.walk(sweeper, step + 1, Some(fixpoint))
    }

    fn begin<S: Sweeper>(&mut self, sweeper: &mut S, f: FixpointId, at: usize) {
        self.round[f.index()] = 0;
        self.first[f.index()] = at;
        sweeper.begin_round(f, 0);
    }

    /// Follows the steps from `at` to the end of this fixpoint, or of the schedule.
    #[inline]
    fn walk<S: Sweeper>(
        &mut self,
        sweeper: &mut S,
        mut at: usize,
        within: Option<FixpointId>,
    ) -> Result<(), RunError> {
        let program = self.program;
        loop {
            match program.schedule[at] {
                Step::Wave(wave) => {
                    let round = match program.waves[wave.index()].fixpoint {
                        Some(f) => self.round[f.index()] as u32,
                        None => 0,
                    };
                    sweeper.meter().look()?;
                    let meter = sweeper.meter();
                    let looks = meter.is_limited() || meter.time_waves;
                    let ran = match looks {
                        true => None,
                        false => sweeper.groups(at, round)?,
                    };
                    match ran {
                        None => {}
                        Some(Groups::Failed { at, failures }) => {
                            return Err(failed(program, sweeper.sizes(), at, *failures));
                        }
                        Some(Groups::Ended(last)) => {
                            sweeper.meter().whole()?;
                            if program.schedule[last] == Step::End {
                                return Ok(());
                            }
                            at = last + 1;
                            sweeper.enter(self.group[at])?;
                            continue;
                        }
                    }
                    let together = match sweeper.fuses(wave) {
                        true => self.together(sweeper.meter(), at),
                        false => Vec::new(),
                    };
                    if together.len() > 1 {
                        sweeper.sweep_together(&together, round)?;
                        sweeper.meter().whole()?;
                        at += together.len();
                        continue;
                    }
                    if sweeper.meter().is_limited() {
                        let items = sweeper.items(wave);
                        sweeper.meter().spend(items)?;
                    }
                    let started = sweeper.meter().time_waves.then(Instant::now);
                    sweeper.sweep(wave, round)?;
                    if let Some(started) = started {
                        sweeper.meter().note_time(wave, started);
                    }
                    sweeper.meter().whole()?;
                }
                Step::Barrier => {
                    settle(program, sweeper, at)?;
                    sweeper.enter(self.group[at + 1])?;
                }
                Step::Loop(f) => {
                    self.begin(sweeper, f, at);
                    if let Some(until) = self.many(sweeper, f, at)? {
                        at = until;
                        sweeper.enter(self.group[at + 1])?;
                    }
                }
                Step::Each(f, _) => {
                    at = self.each(sweeper, f, at)?;
                    sweeper.enter(self.group[at + 1])?;
                }
                Step::Until(f) => match self.end_round(sweeper, f, at)? {
                    true if within == Some(f) => return Ok(()),
                    true => sweeper.enter(self.group[at + 1])?,
                    false => at = self.first[f.index()],
                },
                Step::End => return settle(program, sweeper, at),
            }
            at += 1;
        }
    }

    /// The waves that can be taken in one sweep from this step on. Where sweeps are timed by wave, or steps are counted
    /// sweep by sweep, each is by itself.
    fn together(&self, meter: &Meter, at: usize) -> Vec<WaveId> {
        let waves = self.program.schedule[at..]
            .iter()
            .map_while(|step| match step {
                Step::Wave(wave) => Some(*wave),
                _ => None,
            });
        let mut domains = waves.map(|w| (w, self.program.waves[w.index()].domain));
        let Some((wave, domain)) = domains
            .next()
            .filter(|_| !meter.time_waves && !meter.is_limited())
        else {
            return Vec::new();
        };
        let same = domains.take_while(|&(_, other)| other == domain);
        std::iter::once(wave).chain(same.map(|(w, _)| w)).collect()
    }

    /// Runs a fixpoint, which has begun with this step, many rounds at a time; the step that ends it. `None` where the
    /// sweeper does not, or where something is to be looked at between sweeps.
    fn many<S: Sweeper>(
        &mut self,
        sweeper: &mut S,
        f: FixpointId,
        from: usize,
    ) -> Result<Option<usize>, RunError> {
        let program = self.program;
        let meter = sweeper.meter();
        let looks = meter.is_limited() || meter.time_waves;
        let body = program.schedule[from + 1..].iter();
        let body = body.take_while(|step| matches!(step, Step::Wave(_) | Step::Barrier));
        let until = from + 1 + body.count();
        if looks || program.schedule.get(until) != Some(&Step::Until(f)) {
            return Ok(None);
        }
        let most = program.fixpoints[f.index()].max_rounds;
        loop {
            sweeper.meter().look()?;
            let round = self.round[f.index()];
            let left = most.saturating_sub(round).max(1);
            let Some(ran) = sweeper.rounds(f, from, (round as u32, left))? else {
                return Ok(None);
            };
            self.total[f.index()] += ran.rounds;
            self.tell(sweeper);
            sweeper.meter().whole()?;
            match ran.end {
                End::Failed { at, failures } => {
                    return Err(failed(program, sweeper.sizes(), at, *failures));
                }
                End::Said(Verdict::Faulted(fault)) => {
                    return Err(faulted(program, sweeper.sizes(), f, fault));
                }
                End::Said(Verdict::Done) => return Ok(Some(until)),
                End::Said(Verdict::Again) => self.again(sweeper, f, ran.rounds)?,
            }
        }
    }

    /// Tells those who watch the run how far it is.
    fn tell<S: Sweeper>(&self, sweeper: &mut S) {
        let waiting = match self.program.frontiers.is_empty() {
            false => sweeper.uniform(Uniform::Len(FrontierId(0).into())),
            true => None,
        };
        let rounds = self.total.iter().sum();
        let progress = &sweeper.meter().progress;
        progress.set(rounds, waiting.unwrap_or(0));
    }

    /// So many rounds of a fixpoint were not its last: the next one begins.
    fn again<S: Sweeper>(
        &mut self,
        sweeper: &mut S,
        f: FixpointId,
        rounds: u64,
    ) -> Result<(), RunError> {
        let now = &mut self.round[f.index()];
        *now += rounds;
        if *now >= self.program.fixpoints[f.index()].max_rounds {
            let value = |uniform| sweeper.uniform(uniform);
            return Err(round_limit(self.program, sweeper.sizes(), f, value));
        }
        let round = *now as u32;
        sweeper.meter().look()?;
        sweeper.begin_round(f, round);
        Ok(())
    }

    /// Each part runs a fixpoint by itself; the step that ends it.
    fn each<S: Sweeper>(
        &mut self,
        sweeper: &mut S,
        f: FixpointId,
        at: usize,
    ) -> Result<usize, RunError> {
        let program = self.program;
        let rounds = sweeper.each(program, at)?;
        for (total, rounds) in self.total.iter_mut().zip(rounds) {
            *total += rounds;
        }
        sweeper.meter().whole()?;
        let steps = &program.schedule[at..];
        let until = steps.iter().position(|&step| step == Step::Until(f));
        let until = at + until.expect("verified fixpoints end");
        if let Some(failures) = sweeper.settle()? {
            let waves = program.schedule[at..until].iter();
            let waves = waves.filter_map(|step| match step {
                Step::Wave(w) => Some(*w),
                _ => None,
            });
            let waves: Vec<WaveId> = waves.collect();
            return Err(failed_among(program, sweeper.sizes(), &waves, *failures));
        }
        Ok(until)
    }

    /// Ends a round; whether it was the fixpoint's last. The next one has begun otherwise.
    fn end_round<S: Sweeper>(
        &mut self,
        sweeper: &mut S,
        f: FixpointId,
        at: usize,
    ) -> Result<bool, RunError> {
        let program = self.program;
        settle(program, sweeper, at)?;
        let fixpoint = &program.fixpoints[f.index()];
        for &(a, b) in &fixpoint.swaps {
            sweeper.exchange(a, b);
        }
        self.total[f.index()] += 1;
        if sweeper.meter().is_limited() {
            sweeper.meter().spend(1)?;
        }
        self.tell(sweeper);
        let verdict = sweeper.until(f, self.round[f.index()] as u32)?;
        sweeper.meter().whole()?;
        match verdict {
            Verdict::Done => Ok(true),
            Verdict::Again => {
                self.again(sweeper, f, 1)?;
                Ok(false)
            }
            Verdict::Faulted(fault) => Err(faulted(program, sweeper.sizes(), f, fault)),
        }
    }
}

/// Ends the group that the step at `at` ends.
#[inline]
fn settle<S: Sweeper>(program: &Program, sweeper: &mut S, at: usize) -> Result<(), RunError> {
    match sweeper.settle()? {
        None => Ok(()),
        Some(failures) => Err(failed(program, sweeper.sizes(), at, *failures)),
    }
}

/// The trap of a group in which something went wrong. `at`: the step that ended it.
///
/// # Panics
/// Where there is neither a fault nor an overflow.
#[cold]
pub fn failed(program: &Program, sizes: &Sizes, at: usize, failures: Failures) -> RunError {
    let waves: Vec<WaveId> = ended_at(&program.schedule, at).collect();
    failed_among(program, sizes, &waves, failures)
}

/// The same, of these waves.
#[cold]
fn failed_among(
    program: &Program,
    sizes: &Sizes,
    waves: &[WaveId],
    failures: Failures,
) -> RunError {
    let overflows = failures.overflows.into_iter();
    let overflows = overflows.map(|of| Some(Box::new(overflow(program, of, waves))));
    let lowest = overflows.fold(failures.fault, lowest);
    let Pending { key, fault } = *lowest.expect("a group fails with a fault or an overflow");
    let (wave, item, pc) = key;
    let Wave { kernel, domain, .. } = program.waves[wave.index()];
    let item = (fault.kind.is_of_an_item() && domain != Domain::Once).then_some(item);
    trap(program, sizes, (kernel, pc), (item, fault))
}

/// The trap of a condition that has faulted. It accesses no elements, so that its word tells nothing.
#[cold]
pub fn faulted(program: &Program, sizes: &Sizes, f: FixpointId, fault: Fault) -> RunError {
    let at = (program.fixpoints[f.index()].until, u32::MAX);
    trap(program, sizes, at, (None, fault))
}

/// An overflow, blamed on the first push of the lowest wave of the group that pushes there.
fn overflow(program: &Program, overflow: Overflow, waves: &[WaveId]) -> Pending {
    let kernel_of = |wave: WaveId| &program.kernels[program.waves[wave.index()].kernel.index()];
    let waves = waves.iter().copied();
    let (wave, pc) = waves
        .filter_map(|w| Some((w, first_push(kernel_of(w), overflow.of.into())?)))
        .min()
        .expect("only a wave that pushes fills a frontier, or a list");
    Pending {
        key: (wave, WHOLE_WAVE, pc),
        fault: Fault {
            kind: program.overflow_of(overflow.of),
            index: overflow.needed,
            len: overflow.capacity,
            site: site_of(program, kernel_of(wave), pc),
            message: None,
            seen: Seen::Word,
        },
    }
}

fn first_push(kernel: &Kernel, onto: Resource) -> Option<u32> {
    let pushes =
        |w: &Word| matches!(effect(w), Effect::Push | Effect::Reserve) && w.names() == Some(onto);
    kernel.code.iter().position(pushes).map(|pc| pc as u32)
}

fn trap(
    program: &Program,
    sizes: &Sizes,
    (kernel, pc): (KernelId, u32),
    (item, fault): (Option<u32>, Fault),
) -> RunError {
    let failed = Failed {
        kind: fault.kind,
        len: fault.len,
        seen: fault.seen,
    };
    RunError::Trap(Box::new(Trap {
        subject: subject_of(program, sizes, (kernel, pc), failed),
        kind: fault.kind,
        kernel: program.kernels[kernel.index()].name.clone(),
        site: fault.site,
        item,
        item_type: item_type(program, kernel),
        index: fault.index,
        len: fault.len,
        message: fault.message,
        run: None,
        part: None,
        lane: None,
    }))
}

/// A fixpoint has taken as many rounds as it may; the trap names what still changed. `value`: of a reduction, or of a
/// frontier's or a list's length, as [`Sweeper::uniform`] has it.
#[cold]
pub fn round_limit(
    program: &Program,
    sizes: &Sizes,
    f: FixpointId,
    value: impl Fn(Uniform) -> Option<u64>,
) -> RunError {
    let fixpoint = &program.fixpoints[f.index()];
    let site = program.sites.get(fixpoint.site.index());
    let value = |uniform| match uniform {
        Uniform::Scalar(s) => Some(sizes.scalars[s.index()]),
        Uniform::Reduction(_) | Uniform::Len(_) => value(uniform),
        Uniform::Constant(_) | Uniform::Round | Uniform::OuterRound(_) => None,
        Uniform::Began(_) | Uniform::Nodes => None,
    };
    RunError::Trap(Box::new(Trap {
        kind: TrapKind::RoundLimit,
        kernel: fixpoint.name.clone(),
        site: site.cloned().unwrap_or_default(),
        item: None,
        item_type: None,
        index: fixpoint.max_rounds,
        len: fixpoint.max_rounds,
        subject: None,
        message: unfinished(program, f, value),
        run: None,
        part: None,
        lane: None,
    }))
}
