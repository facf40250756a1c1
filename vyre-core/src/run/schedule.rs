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
use crate::run::backend::Progress;
use crate::run::clock::Instant;
use crate::run::outcome::WaveTime;
use crate::vir0::group::{ended_at, groups_of};
use crate::vir0::isa::{Op, Word};
use crate::vir0::module::{
    BufferId, Domain, FixpointId, FrontierId, Kernel, KernelId, Program, Resource, Step, Uniform,
    Wave, WaveId,
};
use crate::vir0::sizes::Sizes;
use crate::vir0::subject::{Failed, Seen, item_type, subject_of, unfinished};
use crate::vir0::trap::{self, Site, Trap, TrapKind, WHOLE_WAVE};
use std::sync::Arc;

/// What the host tells a backend to do, step by step. [`follow`] calls it in the order of the schedule.
///
/// An error ends the run. What is left in memory then is nobody's business: the next run begins anew.
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

    /// A round of a fixpoint begins: of each frontier that it owns, what was pushed is swept from here on, and nothing
    /// is pushed yet; the reductions that it owns stand at their identity.
    fn begin_round(&mut self, fixpoint: FixpointId);

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
    pub of: Resource,
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
            remainder: false,
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
    /// Items of sweeps, rounds, and turns of loops in bytecode that it may take; `u64::MAX`: they are not counted.
    pub most_work: u64,
    /// What of it is left.
    work_left: u64,
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
            most_work: u64::MAX,
            work_left: u64::MAX,
            time_waves: false,
            wave_times: Vec::new(),
        }
    }
}

impl Meter {
    /// With the same limits, for a run beside this one's.
    pub(crate) fn sibling(&self) -> Meter {
        Meter {
            most_work: self.most_work,
            time_waves: self.time_waves,
            ..Meter::default()
        }
    }

    fn begin(&mut self, waves: usize) {
        self.work_left = self.most_work;
        self.wave_times.clear();
        if self.time_waves {
            self.wave_times.resize(waves, WaveTime::default());
        }
        self.progress.begin();
    }

    fn is_limited(&self) -> bool {
        self.most_work < u64::MAX
    }

    fn spend(&mut self, work: u64) -> Result<(), RunError> {
        self.work_left = self.work_left.saturating_sub(work);
        self.unspent()
    }

    /// There is work left; otherwise the run ends here, and a sweep may have been cut short.
    fn unspent(&self) -> Result<(), RunError> {
        match self.work_left {
            0 => Err(RunError::Work {
                limit: self.most_work,
            }),
            _ => Ok(()),
        }
    }

    /// One turn of a loop in bytecode; false when there is no work left, and the sweep is to be cut short.
    #[inline]
    pub fn turn(&mut self) -> bool {
        self.work_left = self.work_left.saturating_sub(1);
        self.work_left > 0
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
/// more rounds than it may; [`RunError::Work`] where the limit of work is reached; the sweeper's own.
#[inline]
pub fn follow<S: Sweeper>(program: &Program, sweeper: &mut S) -> Result<Vec<u64>, RunError> {
    sweeper.meter().begin(program.waves.len());
    let mut total = vec![0u64; program.fixpoints.len()];
    let mut round = total.clone();
    let mut first = vec![0usize; total.len()];
    let group = groups_of(&program.schedule);
    let mut at = 0;
    sweeper.enter(0)?;
    loop {
        match program.schedule[at] {
            Step::Wave(wave) => {
                let round = match program.waves[wave.index()].fixpoint {
                    Some(f) => round[f.index()] as u32,
                    None => 0,
                };
                if sweeper.meter().is_limited() {
                    let items = sweeper.items(wave);
                    sweeper.meter().spend(items)?;
                }
                let started = sweeper.meter().time_waves.then(Instant::now);
                sweeper.sweep(wave, round)?;
                if let Some(started) = started {
                    sweeper.meter().note_time(wave, started);
                }
                sweeper.meter().unspent()?;
            }
            Step::Barrier => {
                settle(program, sweeper, at)?;
                sweeper.enter(group[at + 1])?;
            }
            Step::Loop(f) => {
                round[f.index()] = 0;
                first[f.index()] = at;
                sweeper.begin_round(f);
            }
            Step::Until(f) => {
                settle(program, sweeper, at)?;
                let fixpoint = &program.fixpoints[f.index()];
                for &(a, b) in &fixpoint.swaps {
                    sweeper.exchange(a, b);
                }
                let now = &mut round[f.index()];
                total[f.index()] += 1;
                if sweeper.meter().is_limited() {
                    sweeper.meter().spend(1)?;
                }
                let waiting = match program.frontiers.is_empty() {
                    false => sweeper.uniform(Uniform::FrontierLen(FrontierId(0))),
                    true => None,
                };
                let rounds = total.iter().sum();
                let progress = &sweeper.meter().progress;
                progress.set(rounds, waiting.unwrap_or(0));
                let verdict = sweeper.until(f, *now as u32)?;
                sweeper.meter().unspent()?;
                match verdict {
                    Verdict::Done => sweeper.enter(group[at + 1])?,
                    Verdict::Again => {
                        *now += 1;
                        if *now >= fixpoint.max_rounds {
                            return Err(round_limit(program, sweeper, f));
                        }
                        at = first[f.index()];
                        sweeper.begin_round(f);
                    }
                    // A condition accesses no elements, so that its word tells nothing.
                    Verdict::Faulted(fault) => {
                        let at = (fixpoint.until, u32::MAX);
                        return Err(trap(program, sweeper.sizes(), at, (None, fault)));
                    }
                }
            }
            Step::End => {
                settle(program, sweeper, at)?;
                return Ok(total);
            }
        }
        at += 1;
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

/// The trap of a group in which something went wrong.
#[cold]
fn failed(program: &Program, sizes: &Sizes, at: usize, failures: Failures) -> RunError {
    let overflows = failures.overflows.into_iter();
    let overflows = overflows.map(|of| Some(Box::new(overflow(program, of, at))));
    let lowest = overflows.fold(failures.fault, lowest);
    let Pending { key, fault } = *lowest.expect("a group fails with a fault or an overflow");
    let (wave, item, pc) = key;
    let Wave { kernel, domain, .. } = program.waves[wave.index()];
    let item = (fault.kind.is_of_an_item() && domain != Domain::Once).then_some(item);
    trap(program, sizes, (kernel, pc), (item, fault))
}

/// An overflow, blamed on the first push of the lowest wave of the group that pushes there.
fn overflow(program: &Program, overflow: Overflow, at: usize) -> Pending {
    let kernel_of = |wave: WaveId| &program.kernels[program.waves[wave.index()].kernel.index()];
    let (wave, pc) = ended_at(&program.schedule, at)
        .filter_map(|w| Some((w, first_push(kernel_of(w), overflow.of)?)))
        .min()
        .expect("only a wave that pushes fills a frontier, or a list");
    Pending {
        key: (wave, WHOLE_WAVE, pc),
        fault: Fault {
            kind: match overflow.of {
                Resource::List(_) => TrapKind::ListOverflow,
                _ => TrapKind::FrontierOverflow,
            },
            index: overflow.needed,
            len: overflow.capacity,
            site: site_of(program, kernel_of(wave), pc),
            message: None,
            remainder: false,
            seen: Seen::Word,
        },
    }
}

fn first_push(kernel: &Kernel, onto: Resource) -> Option<u32> {
    let pushes = |w: &Word| match (onto, Op::from_code(w.op)) {
        (Resource::Frontier(f), Some(Op::Push | Op::PushItem)) => w.resource() == f.0,
        (Resource::List(l), Some(Op::Append)) => w.resource() == l.0,
        _ => false,
    };
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
        lane: None,
    }))
}

/// A fixpoint has taken as many rounds as it may; the trap names what still changed.
#[cold]
fn round_limit<S: Sweeper>(program: &Program, sweeper: &S, f: FixpointId) -> RunError {
    let fixpoint = &program.fixpoints[f.index()];
    let site = program.sites.get(fixpoint.site.index());
    let value = |uniform| match uniform {
        Uniform::Scalar(s) => Some(sweeper.sizes().scalars[s.index()]),
        Uniform::Reduction(_) | Uniform::FrontierLen(_) | Uniform::ListLen(_) => {
            sweeper.uniform(uniform)
        }
        Uniform::Constant(_) | Uniform::Round | Uniform::Nodes => None,
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
        lane: None,
    }))
}
