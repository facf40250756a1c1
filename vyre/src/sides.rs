//! Where a session runs: the sides of its runtime, what its runs take there, and which of them gets the next one.
//!
//! [`plan::side`](vyre_core::plan::side) decides before each run, batch or series, from the costs that the runtime
//! remembers. A side is opened when it gets its first run, from the topology that the session's current side lends.
//! Sides that were opened stay, with their part of the budget.
//!
//! An error on another side than the first does not count before the first side has had its say: the run is repeated
//! there. If it succeeds, the other side is not used again.

use crate::costs::{Costs, Did, Subject};
use crate::decide::Decider;
use crate::error::Error;
use crate::memory::Memory;
use crate::plans::{PlanOf, Planned};
use crate::query::{Begun, Query, slices};
use crate::runtime::Runtime;
use std::any::TypeId;
use std::fmt::{self, Write as _};
use std::sync::Arc;
use std::time::Duration;
use vyre_core::dsl::columns::Column;
use vyre_core::dsl::error::RunError;
use vyre_core::plan::cache::PlanKind;
use vyre_core::plan::passes::{Candidate, Ranking, Sample, Skip, select};
use vyre_core::plan::session::Counters;
use vyre_core::plan::show::{loops_text, results_text};
use vyre_core::plan::side::{self, Offer, Policy, Why, Work};
use vyre_core::plan::thresholds::Thresholds;
use vyre_core::run::args::TopologyArgs;
use vyre_core::run::backend::{Executor, OpenNative, Opening};
use vyre_core::run::outcome::{Readback, Report};
use vyre_core::run::pass::Pass;
use vyre_core::vir0::manifest::Manifest;
use vyre_core::vir0::module::{Agreement, BufferId, Program};
use vyre_core::vir0::results::{Unsettled, are_settled, rounds_floats, unsettled};
use vyre_core::vir0::sizes::Sizes;

/// A side of a session: [`Session::sides`](crate::Session::sides).
#[derive(Clone, Debug, PartialEq)]
pub struct Side {
    /// Its backend's name, such as `"native"`.
    pub backend: &'static str,
    /// What it runs on.
    pub device: String,
    /// Runs and series of this session that ended here without an error, and its batches, each as one and whatever came
    /// of its queries. A run or series that failed does not count, nor does a batch when no query is in line. One whose
    /// failed queries run once more on the first side counts on both.
    pub runs: u64,
    /// Nanoseconds a swept item, or a run where items do not compare, in work of the kind of the last run: the median
    /// of the last three, of all sessions that share the runtime's memory of them.
    pub cost_ns: Option<f64>,
    /// What the session has there.
    pub state: SideState,
}

/// What a session has on a side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SideState {
    /// It runs there.
    Current,
    /// It could go on there at once.
    Open,
    /// Nothing yet.
    Closed,
    /// It cannot run there, or ran into an error that the first side does not have.
    Refused(String),
}

/// What a session has on a side.
pub(crate) trait Has {
    /// What its executors did.
    fn counters(&self) -> Option<Counters>;
}

/// A session that goes from side to side.
pub(crate) trait Goes {
    type Has: Has;

    fn sides_mut(&mut self) -> &mut Sides<Self::Has>;

    /// Goes to a side, opened where it is not; false where it cannot be opened.
    fn go(&mut self, to: usize) -> bool;

    /// Goes to the first side after an error elsewhere; whether it is there now, and was not.
    fn go_first(&mut self) -> bool {
        let sides = self.sides_mut();
        let (away, first) = (!sides.errors_count(), sides.first);
        away && self.go(first)
    }

    /// Goes to the side that is to have the next run. `queries`: of a batch. `runs`: of a batch or a series. `longest`:
    /// elements of its longest buffer, and [what opening another side takes](open_ns).
    fn go_on(&mut self, (queries, runs): (u64, u64), (longest, open_ns): (u64, u64)) {
        let (side, why) = self.sides_mut().choose((longest, open_ns), (queries, runs));
        let gone = self.go(side);
        self.sides_mut().chose(gone.then_some(why));
    }

    /// Runs something where the session is, and after an error that does not count once more where it does.
    fn on_a_side<T>(
        &mut self,
        mut run: impl FnMut(&mut Self) -> Result<T, RunError>,
    ) -> Result<T, RunError> {
        let left = self.sides_mut().at;
        let mut done = run(self);
        if let Err(failed) = &done
            && !failed.is_stop()
            && self.go_first()
        {
            let again = run(self);
            if again.is_ok() {
                self.sides_mut().refuse(left, failed);
            }
            done = again;
        }
        match done {
            // What is held for later goes before a run is refused.
            Err(RunError::Memory { .. }) if self.sides_mut().close_others() => run(self),
            done => done,
        }
    }

    /// The same for a batch. `run` tells results and gives back the queries that failed where they may succeed after
    /// all, with their errors.
    fn batch_on_a_side<T>(
        &mut self,
        tells: &mut Begun<T>,
        mut run: impl FnMut(&mut Self, Vec<Query>, &mut Begun<T>) -> Result<Vec<(Query, Error)>, Error>,
    ) -> Result<(), Error> {
        let side = self.sides_mut().at;
        let batch = std::mem::take(&mut tells.batch);
        let mut failed = run(self, batch, tells)?;
        if !failed.is_empty() && self.go_first() {
            let before = tells.results.len();
            let (again, errors): (Vec<Query>, Vec<Error>) = failed.into_iter().unzip();
            tells.run_again(&again);
            failed = run(self, again, tells)?;
            let mut later = tells.results[before..].iter();
            if later.any(|(_, result)| result.is_ok()) {
                self.sides_mut().refuse(side, &errors[0]);
            }
        }
        let short = |(_, e): &(Query, Error)| matches!(e, Error::Run(RunError::Memory { .. }));
        if failed.iter().any(short) && self.sides_mut().close_others() {
            let (again, others): (Vec<_>, Vec<_>) = failed.into_iter().partition(short);
            let again: Vec<Query> = again.into_iter().map(|(query, _)| query).collect();
            tells.run_again(&again);
            failed = run(self, again, tells)?;
            failed.extend(others);
        }
        let failed = failed.into_iter().map(|(query, e)| (query.id, Err(e)));
        tells.results.extend(failed);
        Ok(())
    }
}

/// Another side has to leave as much as these take.
pub(crate) fn leave_as_much<'m>(
    memories: impl IntoIterator<Item = &'m Memory>,
) -> Result<(), RunError> {
    let (mut needed_bytes, mut left) = (0u64, None);
    for memory in memories {
        needed_bytes = needed_bytes.saturating_add(memory.lease.bytes());
        left = memory.left_bytes();
    }
    match left.filter(|&left| left < needed_bytes) {
        None => Ok(()),
        Some(left) => Err(RunError::Memory {
            what: "another side has to leave as much as it takes".to_owned(),
            needed_bytes: needed_bytes.saturating_mul(2),
            available_bytes: needed_bytes.saturating_add(left),
        }),
    }
}

/// What a side lends, where it can.
pub(crate) fn lent<T>(lent: Option<T>) -> Result<T, RunError> {
    lent.ok_or_else(|| RunError::Backend("the topology cannot be read back".to_owned()))
}

/// What a [`Session`](crate::Session) has on a side where it does not run now.
pub(crate) struct Parked {
    pub(crate) executor: Box<dyn Executor>,
    pub(crate) program: Arc<Program>,
    pub(crate) memory: Memory,
    pub(crate) decider: Decider,
}

impl Has for Parked {
    fn counters(&self) -> Option<Counters> {
        self.executor.counters()
    }
}

/// What a pass declares, as a value: what sessions do with it is compiled once, and not for each pass.
#[derive(Clone, Copy)]
pub(crate) struct Declared {
    pass: TypeId,
    program: fn() -> Result<Program, Error>,
    native: OpenNative,
}

impl Declared {
    pub(crate) fn of<P: Pass>() -> Declared {
        Declared {
            pass: TypeId::of::<P>(),
            program: || Ok(P::PARTS.program()?),
            native: P::NATIVE,
        }
    }

    /// Opens a pass: on the first side, unless another one is known to be better.
    pub(crate) fn begin<P: Pass>(
        runtime: &Runtime,
        given: &P::Topology<'_>,
    ) -> Result<(Sides<Parked>, Parked), Error> {
        let topology = || P::topology(given);
        Declared::of::<P>().first(runtime, &topology, &|| P::topology_rows(given))
    }

    fn first<'t>(
        self,
        runtime: &Runtime,
        topology: &dyn Fn() -> TopologyArgs<'t>,
        rows: &dyn Fn() -> Result<Vec<(BufferId, Column)>, RunError>,
    ) -> Result<(Sides<Parked>, Parked), Error> {
        let plan = |runtime: &Runtime| self.plan(runtime, &topology());
        let of = |(planned, _): &(Planned, Memory)| {
            let program = &planned.program;
            let nodes = planned.sizes.nodes;
            Of::new(runtime, (&**program, nodes), || {
                Subject::new(program, &planned.sizes)
            })
        };
        let open = |runtime: &Runtime, planned| {
            // The plan has room for them.
            let rows = rows()?;
            let mut topology = topology();
            topology.columns.extend(slices(&rows));
            self.open(runtime, &topology, planned)
        };
        Sides::open(runtime, &plan, &of, &open)
    }

    /// Opens a pass with the topology that an executor of it lends, where the budget has as much left afterwards.
    pub(crate) fn lent(self, runtime: &Runtime, from: &dyn Executor) -> Result<Parked, Error> {
        let lent = lent(from.lend_topology()?)?;
        let topology = lent.args();
        let planned = self.plan(runtime, &topology)?;
        leave_as_much([&planned.1])?;
        self.open(runtime, &topology, planned)
    }

    /// The plan of a session, and the memory that it takes.
    pub(crate) fn plan(
        self,
        runtime: &Runtime,
        topology: &TopologyArgs<'_>,
    ) -> Result<(Planned, Memory), Error> {
        let of = PlanOf::pass(self.pass, PlanKind::Session);
        Memory::open(&of, (topology, runtime), &self.program)
    }

    fn open(
        self,
        runtime: &Runtime,
        topology: &TopologyArgs<'_>,
        (planned, memory): (Planned, Memory),
    ) -> Result<Parked, Error> {
        let program = planned.program;
        Ok(Parked {
            executor: runtime.open(Opening {
                program: Arc::clone(&program),
                topology,
                allocation: memory.allocation,
                native: Some(self.native),
            })?,
            program,
            memory,
            decider: Decider::new(runtime, self.pass, planned.start),
        })
    }
}

struct One<K> {
    runtime: Runtime,
    parked: Option<Box<K>>,
    refused: Option<String>,
    runs: u64,
}

/// The sides of a session, which has a `K` on each where it is open.
pub(crate) struct Sides<K> {
    all: Vec<One<K>>,
    /// Where sessions begin: the first that can run the pass.
    first: usize,
    /// Whose `K` the session has.
    at: usize,
    /// Counted by executors that are gone.
    counted: Counters,
    costs: Arc<Costs>,
    of: Of,
    /// As the user asked.
    changes: Option<bool>,
    /// As the user asked, for all sides.
    thresholds: Option<Thresholds>,
    /// Of the run that is about to begin, where its time counts: whether it is a trial.
    next: Option<bool>,
    /// Why the last run was where it was.
    why: Option<Why>,
    /// Of the last run: how long its buffers were, and its queries.
    work: Work,
    /// What runs have shown so far, and what the pass's manifest made of that before the last one.
    shown: Shown,
    says: Option<Result<(), Skip>>,
}

/// What the runs of a session have shown.
#[derive(Clone, Copy, Debug, Default)]
struct Shown {
    runs: u64,
    /// The widest frontier of the last run, where it was counted.
    widest: Option<u64>,
    readback: Option<Readback>,
}

/// What is run.
pub(crate) struct Of {
    subject: Subject,
    alike: Alike,
    /// Of a pass whose evidence proves something.
    manifest: Option<Box<Manifest>>,
    /// Nodes that a frontier can have.
    nodes: Option<u64>,
}

impl Of {
    /// Of a program on graphs of so many nodes.
    pub(crate) fn new(
        runtime: &Runtime,
        (program, nodes): (&Program, u64),
        subject: impl FnOnce() -> Subject,
    ) -> Of {
        Of {
            // Nothing is remembered of one side.
            subject: match runtime.is_alone() {
                true => Subject::default(),
                false => subject(),
            },
            alike: match program.agreement {
                _ if runtime.may_round() && rounds_floats(program) => Alike::Nothing,
                Agreement::Bits => Alike::All,
                Agreement::Result(_) => Alike::Result,
                // What is claimed counts as the result, and not for rounds.
                Agreement::Open(_) if are_settled(program) => Alike::Result,
                Agreement::Open(_) => Alike::Nothing,
            },
            manifest: Some(&program.manifest)
                .filter(|m| !runtime.is_alone() && m.proof.is_some() && !m.unproven)
                .map(|m| Box::new(m.clone())),
            nodes: (nodes > 0).then_some(nodes),
        }
    }
}

/// What of a run is the same on every side ([`Agreement`]).
#[derive(Clone, Copy, PartialEq, Eq)]
enum Alike {
    All,
    /// Not rounds, nor what they sweep.
    Result,
    Nothing,
}

impl<K> Drop for Sides<K> {
    fn drop(&mut self) {
        self.costs.save();
    }
}

impl<K: Has> Sides<K> {
    /// Opens a session: on the first side that can run it, unless another one is known to be better. `of`: what a plan
    /// is of.
    pub(crate) fn open<T>(
        runtime: &Runtime,
        plan: &dyn Fn(&Runtime) -> Result<T, Error>,
        of: &dyn Fn(&T) -> Of,
        open: &dyn Fn(&Runtime, T) -> Result<K, Error>,
    ) -> Result<(Sides<K>, K), Error> {
        let all = runtime.sides().into_iter().map(|runtime| One {
            runtime,
            parked: None,
            refused: None,
            runs: 0,
        });
        let mut all: Vec<One<K>> = all.collect();
        let mut first = 0;
        let planned = loop {
            match plan(&all[first].runtime) {
                // Another side may run it.
                Err(Error::Run(e @ RunError::NoParts { .. })) if first + 1 < all.len() => {
                    all[first].refused = Some(e.to_string());
                    first += 1;
                }
                planned => break planned?,
            }
        };
        let mut sides = Sides {
            of: of(&planned),
            all,
            first,
            at: first,
            counted: Counters::default(),
            costs: Arc::clone(runtime.costs()),
            changes: None,
            thresholds: None,
            next: None,
            why: None,
            work: Work::new(0, 1, 0),
            shown: Shown::default(),
            says: None,
        };
        sides.begin();
        if sides.at == first {
            let opened = open(sides.runtime(), planned)?;
            return Ok((sides, opened));
        }
        // Its memory is not needed yet.
        drop(planned);
        let on = |runtime: &Runtime| open(runtime, plan(runtime)?);
        let opened = match on(sides.runtime()) {
            Ok(opened) => opened,
            Err(e) => {
                sides.all[sides.at].refused = Some(e.to_string());
                (sides.at, sides.why) = (first, None);
                on(sides.runtime())?
            }
        };
        Ok((sides, opened))
    }

    /// Of the side where the session is.
    pub(crate) fn runtime(&self) -> &Runtime {
        &self.all[self.at].runtime
    }

    /// Chooses where to begin, among sides of which costs are known. A pass whose result is open begins there too, and
    /// then stays.
    fn begin(&mut self) {
        if self.all.len() == 1 {
            return;
        }
        let before = self.costs.before(self.of.subject, None);
        self.says = self.manifest_says(&before.tried, (1, 1));
        if let (Some(Err(_)), Some(host)) = (self.says, self.side_where(true)) {
            self.at = host;
            return;
        }
        let known = before.seen.iter().map(|&seen| {
            (seen.runs() > 0).then_some(Offer {
                seen,
                ..Offer::default()
            })
        });
        let known: Vec<Option<Offer>> = known.collect();
        let first = self.first;
        if known[first].is_some() {
            let (items, spent_ns) = (before.did.items, before.spent_ns);
            let chosen = side::choose(&Policy::default(), first, items, spent_ns, &known);
            (self.at, self.why) = chosen.map_or((first, None), |(side, why)| (side, Some(why)));
        }
    }

    /// Whether runs may go to another side.
    pub(crate) fn may_change(&self) -> bool {
        let wanted = self.changes.unwrap_or(self.of.alike != Alike::Nothing);
        self.all.len() > 1 && wanted
    }

    /// The first side in the host's memory, or the first on a device, that can be had.
    fn side_where(&self, is_host: bool) -> Option<usize> {
        let mut sides = self.all.iter().skip(self.first);
        let is = |one: &One<K>| {
            one.refused.is_none() && one.runtime.implementation().is_host() == is_host
        };
        Some(self.first + sides.position(is)?)
    }

    /// Whether a device is worth being tried, as the pass's manifest says, for a batch or series of so many runs. `tried`:
    /// the sides where it is known what runs take. `None` where a device is one of them, or there is no manifest.
    fn manifest_says(
        &self,
        tried: &[bool],
        (queries, runs): (u64, u64),
    ) -> Option<Result<(), Skip>> {
        let manifest = self.of.manifest.as_deref().filter(|_| self.may_change())?;
        let sides = self.all.iter().zip(tried);
        let mut devices = sides.filter(|(one, _)| !one.runtime.implementation().is_host());
        if devices.any(|(_, &tried)| tried) {
            return None;
        }
        let mut candidate = Candidate::of(manifest, 0, 0);
        let widest = self.shown.widest.or(self.of.nodes);
        // Of a series, only the last result comes back.
        let avoided = self.shown.readback.map(|read| {
            let all = read.full_bytes.saturating_mul(runs / queries.max(1));
            all.saturating_sub(read.packed_bytes + read.direct_bytes)
        });
        // What nobody knows is no reason.
        for (known, least) in [
            (widest, &mut candidate.min_frontier_items),
            (avoided, &mut candidate.min_readback_bytes),
        ] {
            *least = known.map_or(0, |_| *least);
        }
        let sample = Sample {
            frontier_items: widest.unwrap_or(0),
            reuse: self.shown.runs.saturating_add(runs),
            readback_bytes: avoided.unwrap_or(0),
            ..Sample::default()
        };
        let selection = select(&[candidate], &sample, Ranking::default()).ok()?;
        Some(match selection.skipped.first() {
            Some(skipped) => Err(skipped.reason),
            None => Ok(()),
        })
    }

    /// Takes note of what `runs` like that of this report have shown.
    pub(crate) fn saw(&mut self, report: &Report, runs: u64) {
        let seen = report.activity.filter(|a| a.sweeps > 0);
        self.shown = Shown {
            runs: self.shown.runs.saturating_add(runs),
            widest: seen.map(|a| a.widest),
            readback: Some(report.readback),
        };
    }

    /// Chooses the side that is to have the next run, where the session [may change](Sides::may_change). `longest`:
    /// elements of the run's longest buffer. [`open_ns`]: what there is to be copied.
    fn choose(
        &mut self,
        (longest, open_ns): (u64, u64),
        (queries, runs): (u64, u64),
    ) -> (usize, Why) {
        self.work = Work::new(longest, queries, 0);
        let before = self.costs.before(self.of.subject, Some(self.work));
        let offers = self.all.iter().zip(&before.seen).enumerate();
        let offers = offers.map(|(i, (one, &seen))| {
            let is_open = i == self.at || one.parked.is_some();
            one.refused.is_none().then(|| Offer {
                seen,
                open_ns: match is_open {
                    true => 0,
                    false => open_ns.saturating_add(OPEN_NS),
                },
                floor_ns: one
                    .runtime
                    .implementation()
                    .floor()
                    .of(before.did.rounds, before.did.items),
            })
        });
        let mut offers: Vec<Option<Offer>> = offers.collect();
        self.says = self.manifest_says(&before.tried, (queries, runs));
        let (host, device) = (self.side_where(true), self.side_where(false));
        match (self.says, host, device) {
            (Some(Ok(())), _, Some(device)) if self.on_host() => return (device, Why::Trial),
            (Some(Err(_)), Some(_), _) => {
                for (offer, one) in offers.iter_mut().zip(&self.all) {
                    *offer = offer.filter(|_| one.runtime.implementation().is_host());
                }
            }
            _ => {}
        }
        let (items, spent_ns) = (before.did.items, before.spent_ns);
        let chosen = side::choose(&Policy::default(), self.at, items, spent_ns, &offers);
        chosen.unwrap_or((self.at, Why::Only))
    }

    /// The session is on the side that was chosen, and why; `None`: it could not go there.
    fn chose(&mut self, why: Option<Why>) {
        self.why = Some(why.unwrap_or(Why::Held));
        self.next = Some(why == Some(Why::Trial));
    }

    /// What one run, a series of equal ones, or a batch took and did on the side where the session is.
    /// `runs`: of the series.
    pub(crate) fn ran(&mut self, wall: Duration, did: Did, runs: u64) {
        self.all[self.at].runs += 1;
        let Some(trial) = self.next.take() else {
            return;
        };
        let did = match self.of.alike {
            Alike::All => did,
            // What is swept may differ from side to side.
            Alike::Result | Alike::Nothing => Did {
                rounds: 0,
                items: runs.max(1),
            },
        };
        let wall_ns = u64::try_from(wall.as_nanos()).unwrap_or(u64::MAX);
        let side = (self.at, trial);
        self.costs
            .add(self.of.subject, side, self.work, did, wall_ns);
    }

    /// The run that was to begin, or has ended without doing all that it was to do: its time says nothing.
    pub(crate) fn forget_run(&mut self) {
        self.next = None;
    }

    fn on_host(&self) -> bool {
        self.runtime().implementation().is_host()
    }

    /// Where the session is.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// Whether errors count where the session is: on the first side, or where it stays.
    fn errors_count(&self) -> bool {
        self.at == self.first || !self.may_change()
    }

    /// Whether an error here is the last word: it counts, and there is nothing on other sides to be given up.
    pub(crate) fn is_last_resort(&self) -> bool {
        self.errors_count() && self.all.iter().all(|one| one.parked.is_none())
    }

    /// An executor that is gone has counted this.
    pub(crate) fn count(&mut self, counters: Option<Counters>) {
        self.counted = self.counted.plus(&counters.unwrap_or_default());
    }

    /// Gives up what the session has on sides where it is not; whether there was something.
    pub(crate) fn close_others(&mut self) -> bool {
        self.counted = self.counters();
        let parked = self.all.iter_mut().filter_map(|one| one.parked.take());
        parked.count() > 0
    }

    /// Runs fail on a side that the first side has done.
    fn refuse(&mut self, side: usize, why: &dyn fmt::Display) {
        let one = &mut self.all[side];
        one.refused = Some(why.to_string());
        let parked = one.parked.take();
        self.count(parked.and_then(|parked| parked.counters()));
    }

    /// What the session has on a side, opened where it is not; `None`, and why is kept, where it cannot be opened.
    pub(crate) fn take(
        &mut self,
        to: usize,
        open: &dyn Fn(&Runtime) -> Result<K, Error>,
    ) -> Option<K> {
        let one = &mut self.all[to];
        let parked = one.parked.take().map(|parked| *parked);
        match parked.map_or_else(|| open(&one.runtime), Ok) {
            Ok(parked) => Some(parked),
            Err(e) => {
                one.refused = Some(e.to_string());
                None
            }
        }
    }

    /// The session has left its side, where it had `before`, for another one.
    pub(crate) fn leave(&mut self, before: K, to: usize) {
        self.all[self.at].parked = Some(Box::new(before));
        self.at = to;
    }

    /// What executors that are not the session's now have counted.
    pub(crate) fn counters(&self) -> Counters {
        let parked = self.all.iter().filter_map(|one| one.parked.as_ref());
        let counted = parked.filter_map(|parked| parked.counters());
        counted.fold(self.counted, |sum, c| sum.plus(&c))
    }

    /// The topology is another one.
    pub(crate) fn renew(&mut self, sizes: &Sizes) {
        self.of.subject = self.of.subject.on(sizes);
        self.of.nodes = (sizes.nodes > 0).then_some(sizes.nodes);
        (self.shown.widest, self.shown.readback) = (None, None);
        for one in &mut self.all[self.first..] {
            one.refused = None;
        }
    }

    pub(crate) fn set_thresholds(&mut self, thresholds: Thresholds) {
        self.thresholds = Some(thresholds);
    }

    /// As the user asked, for all sides.
    pub(crate) fn thresholds(&self) -> Option<Thresholds> {
        self.thresholds
    }

    /// The user has asked whether the session may go to another side. If not, what it has elsewhere goes.
    pub(crate) fn set_changes(&mut self, on: bool) {
        self.changes = Some(on);
        if !on {
            self.close_others();
        }
    }

    pub(crate) fn list(&self) -> Vec<Side> {
        let before = match self.all.len() {
            1 => None,
            _ => Some(self.costs.before(self.of.subject, Some(self.work))),
        };
        let side = |(i, one): (usize, &One<K>)| Side {
            backend: one.runtime.backend(),
            device: one.runtime.device(),
            runs: one.runs,
            cost_ns: before.as_ref().and_then(|b| b.seen[i].cost()),
            state: match (&one.refused, &one.parked) {
                _ if i == self.at => SideState::Current,
                (Some(why), _) => SideState::Refused(why.clone()),
                (None, Some(_)) => SideState::Open,
                (None, None) => SideState::Closed,
            },
        };
        self.all.iter().enumerate().map(side).collect()
    }

    /// Whether there is nowhere to go.
    pub(crate) fn are_one(&self) -> bool {
        self.all.len() == 1
    }

    /// What explanations end with: the loops in bodies, and who takes their turns in the last launch, the results that may
    /// differ from run to run, why runs are here, and the sides. `code`: what ran the last launch, if there was one.
    /// `unmeasured`: which candidates have no figures.
    pub(crate) fn bottom(
        &self,
        program: &Program,
        code: Option<&str>,
        measuring: bool,
        unmeasured: &str,
    ) -> String {
        let mut text = loops_text(program);
        if let (Some(code), false) = (code, text.is_empty()) {
            text += if code.starts_with("compiled") {
                "  long ones whose turns can go in any order may be shared out among the lanes of a warp\n"
            } else if code == "shaders" {
                "  one whose turns can go in any order may be shared out among the invocations of a workgroup\n"
            } else {
                "  each runs in its own lane: only compiled code and shaders share loops out\n"
            };
        }
        if code.is_some() {
            text += &results_text(program, self.are_one());
            let runtime = self.runtime();
            if let Some(why) = runtime.why() {
                let _infallible = writeln!(text, "backend   {}: {why}", runtime.backend());
            }
        }
        text + unmeasured + &self.explain(program, measuring)
    }

    /// Those themselves; nothing where there is one. `measuring`: runs are timed for something else.
    fn explain(&self, program: &Program, measuring: bool) -> String {
        let mut text = String::new();
        if self.all.len() == 1 {
            return text;
        }
        let per = match self.of.alike {
            Alike::All => "an item",
            Alike::Result | Alike::Nothing => "a run",
        };
        for (i, side) in self.list().into_iter().enumerate() {
            let label = if i == 0 { "sides" } else { "" };
            let Side {
                backend, device, ..
            } = &side;
            let _infallible = write!(text, "{label:<10}{backend} ({device}): ");
            let runs = Plural(side.runs, "run");
            let _infallible = match side.cost_ns {
                Some(ns) => write!(text, "{} {per}, {runs} of this session", Nanoseconds(ns)),
                None => write!(text, "{runs} of this session"),
            };
            let state = match side.state {
                SideState::Current if !self.may_change() => match self.changes {
                    Some(_) => "; stays, as was asked for".to_owned(),
                    None => match unsettled(program) {
                        Some(Unsettled { names, switch }) => {
                            format!("; stays, because {names} may differ from run to run: {switch}")
                        }
                        None => {
                            "; stays, because backends here may round floats each in its own way: \
                                 `set_side_changes(true)` lets it change"
                                .to_owned()
                        }
                    },
                },
                SideState::Current if measuring => {
                    "; stays while waves are timed or launches are tried".to_owned()
                }
                SideState::Current => match self.why {
                    Some(Why::Trial) => "; tried in the last run".to_owned(),
                    Some(Why::Better | Why::Held) => "; followed".to_owned(),
                    Some(Why::First | Why::Only) | None => "; not compared yet".to_owned(),
                },
                SideState::Open => String::new(),
                SideState::Closed => "; not opened".to_owned(),
                SideState::Refused(why) => format!("; not used: {why}"),
            };
            text += &state;
            text.push('\n');
        }
        if let (Some(says), Some(manifest)) = (self.says, &self.of.manifest) {
            let id = &manifest.id;
            let _infallible = match says {
                Ok(()) => writeln!(text, "manifest  {id}: a device is tried"),
                Err(why) => writeln!(text, "manifest  {id}: no device is tried: {why}"),
            };
        }
        text
    }
}

/// Elements of the longest buffer, with these scalars.
pub(crate) fn longest(program: &Program, sizes: &Sizes) -> u64 {
    let lengths = program.buffers.iter();
    let lengths = lengths.filter_map(|b| sizes.resolve(program, b.extent));
    lengths.max().unwrap_or(0)
}

/// What opening another side takes, however little goes there.
const OPEN_NS: u64 = 100_000;

/// What opening another side takes beside that: a copy of topologies and buffers, at 4 GB/s, and of each reverse that it has to
/// build.
pub(crate) fn open_ns(program: &Program, sizes: &Sizes) -> u64 {
    let bytes_ns = |bytes: u64| bytes / 4;
    let buffers = program.buffers.iter().map(|b| {
        let len = sizes.resolve(program, b.extent).unwrap_or(0);
        bytes_ns(len.saturating_mul(b.scalar.size_bytes()))
    });
    let graphs = sizes.edges.iter().zip(&program.topologies);
    let graphs = graphs.map(|(&edges, declared)| {
        let built = declared.reverse_of.map_or(0, |_| edges.saturating_mul(8));
        bytes_ns(4 * sizes.nodes.saturating_add(edges)).saturating_add(built)
    });
    buffers.chain(graphs).fold(0, u64::saturating_add)
}

/// A time, in the unit that suits it.
struct Nanoseconds(f64);

impl fmt::Display for Nanoseconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            ns if ns < 1e3 => write!(f, "{ns:.2} ns"),
            ns if ns < 1e6 => write!(f, "{:.2} us", ns / 1e3),
            ns => write!(f, "{:.2} ms", ns / 1e6),
        }
    }
}

/// A number of things.
pub(crate) struct Plural(pub(crate) u64, pub(crate) &'static str);

impl fmt::Display for Plural {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Plural(count, noun) = self;
        let s = if *count == 1 { "" } else { "s" };
        write!(f, "{count} {noun}{s}")
    }
}
