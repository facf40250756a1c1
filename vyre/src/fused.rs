//! Two passes over one topology, run as one.

use crate::costs::{Did, Subject};
use crate::decide::{Decider, Explanation, Happened};
use crate::error::Error;
use crate::memory::{Memory, legal};
use crate::plans::{PlanOf, Planned};
use crate::query::{OfSession, made, slices};
use crate::runtime::Runtime;
use crate::select::{Offer, Ran, Selector, lines, unmeasured};
use crate::sides::{Goes, Has, Of, Side, Sides, leave_as_much, lent, longest, open_ns};
use crate::stop::Stops;
use std::any::TypeId;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;
use vyre_core::dsl::columns::{Column, Slice};
use vyre_core::dsl::error::RunError;
use vyre_core::plan::cache::PlanKind;
use vyre_core::plan::fuse::{self, Fused, Link, fuse};
use vyre_core::plan::gains::BuiltIn;
use vyre_core::plan::session::Counters;
use vyre_core::plan::side::swept_items;
use vyre_core::run::args::{Args, TopologyArgs};
use vyre_core::run::backend::{Executor, OpenNative, Opening};
use vyre_core::run::outcome::{Outcome, Report};
use vyre_core::run::pass::{IntoTopology, Pass};
use vyre_core::run::stop::Canceller;
use vyre_core::vir0::isa::Op;
use vyre_core::vir0::module::{Agreement, BufferId, Program, Role};
use vyre_core::vir0::sizes::Sizes;
use vyre_core::vir0::verify::verify;

/// Two passes over one topology, in one launch where the backend runs programs: the groups of both share barriers
/// wherever they do not conflict. The native backend calls each pass's own functions, and runs them one after the
/// other; results are the same. One after the other run also a pass whose result is open and one that adds floats and
/// whose result is not.
///
/// An output of the first can be an input of the second ([`FusedSession::new`]'s links, by field name); that input is
/// then given as `&[]`. SESSIONS.md has an example, and what cannot be fused.
///
/// Like a session's, its memory is checked against limits and budgets before anything is allocated, and its runs go to
/// the side of the runtime where both passes together are fastest.
pub struct FusedSession<A, B> {
    whole: Whole,
    here: Pair,
    sides: Sides<Pair>,
    /// Whether both run in one launch.
    fusion: Selector,
    /// Why the session could not go from one way to the other.
    stuck: Option<String>,
    /// Of both as one, with the scalars of the last run.
    sizes: Sizes,
    /// Of each pass.
    given: (OfSession, OfSession),
    stops: Stops,
    passes: PhantomData<fn() -> (A, B)>,
}

/// Both passes as one, the same on every side.
struct Whole {
    /// Its program is the next field.
    fused: Fused,
    /// With the barriers that both need, and no more.
    program: Arc<Program>,
    links: Vec<Link>,
    /// Also where the backend runs programs: the names of one whose result is open, and of the other one, which adds
    /// floats.
    in_turn: Option<(String, String)>,
    /// The same, until it pays to run both in one launch.
    split: bool,
}

/// What a fused session has on a side.
pub(crate) enum Pair {
    Together(Box<One>),
    InTurn(Box<[One; 2]>),
}

/// What a fused session is to have on a side.
enum Plan {
    Together(Box<(Planned, Memory)>),
    InTurn(Box<[(Planned, Memory); 2]>),
}

impl Plan {
    fn memories(&self) -> Vec<&Memory> {
        match self {
            Plan::Together(both) => vec![&both.1],
            Plan::InTurn(both) => both.iter().map(|(_, memory)| memory).collect(),
        }
    }
}

impl Whole {
    fn plan<A: Pass, B: Pass>(
        &self,
        runtime: &Runtime,
        (first, second): (&TopologyArgs<'_>, &TopologyArgs<'_>),
    ) -> Result<Plan, Error> {
        if runtime.implementation().runs_bytecode() && self.in_turn.is_none() && !self.split {
            let both = self.fused.topology(first, second);
            let of = PlanOf {
                links: self.links.clone(),
                ..PlanOf::pass(TypeId::of::<(A, B)>(), PlanKind::Fused)
            };
            let program = || Ok(Program::clone(&self.program));
            let planned = Memory::open(&of, (&both, runtime), &program)?;
            return Ok(Plan::Together(Box::new(planned)));
        }
        Ok(Plan::InTurn(Box::new([
            in_turn::<A>(runtime, first)?,
            in_turn::<B>(runtime, second)?,
        ])))
    }

    fn open<A: Pass, B: Pass>(
        &self,
        runtime: &Runtime,
        plan: Plan,
        (first, second): (&TopologyArgs<'_>, &TopologyArgs<'_>),
    ) -> Result<Pair, Error> {
        Ok(match plan {
            Plan::Together(both) => {
                let (mut planned, memory) = *both;
                if planned.program.schedule == self.program.schedule {
                    planned.program = Arc::clone(&self.program);
                }
                let both = self.fused.topology(first, second);
                let of = (TypeId::of::<(A, B)>(), None);
                Pair::Together(Box::new(One::open(runtime, (planned, memory), &both, of)?))
            }
            Plan::InTurn(both) => {
                let [a, b] = *both;
                let (of_a, of_b) = (TypeId::of::<A>(), TypeId::of::<B>());
                Pair::InTurn(Box::new([
                    One::open(runtime, a, first, (of_a, Some(A::NATIVE)))?,
                    One::open(runtime, b, second, (of_b, Some(B::NATIVE)))?,
                ]))
            }
        })
    }

    /// Opens both with the topologies that others lend, where the budget has as much left afterwards.
    fn lent<A: Pass, B: Pass>(&self, runtime: &Runtime, from: &Pair) -> Result<Pair, Error> {
        let open = |first: &TopologyArgs<'_>, second: &TopologyArgs<'_>| {
            let plan = self.plan::<A, B>(runtime, (first, second))?;
            leave_as_much(plan.memories())?;
            self.open::<A, B>(runtime, plan, (first, second))
        };
        match from {
            Pair::Together(both) => {
                let lent = lent(both.executor.lend_topology()?)?;
                let (first, second) = self.fused.topologies(&lent.args());
                open(&first, &second)
            }
            Pair::InTurn(both) => {
                let [one, two] = &**both;
                let first = lent(one.executor.lend_topology()?)?;
                let second = lent(two.executor.lend_topology()?)?;
                open(&first.args(), &second.args())
            }
        }
    }

    /// Nothing is given for what the first pass gives.
    fn takes<B: Pass>(&self, inputs: &[(BufferId, Slice<'_>)]) -> Result<(), RunError> {
        let mut given = inputs.iter().filter(|(_, values)| !values.is_empty());
        let link = given.find_map(|(id, _)| self.links.iter().find(|link| link.to == *id));
        let Some(link) = link else {
            return Ok(());
        };
        let second = B::PARTS.program();
        let second = second.map_err(|e| RunError::Invalid(e.to_string()))?;
        let from = self.program.buffers[link.from.index()].field();
        let to = second.buffers[link.to.index()].field();
        Err(RunError::Invalid(format!(
            "`{}::{to}` is linked to `{from}`, which it gets from this run; give it nothing, as in `{to}: &[]`",
            second.name
        )))
    }

    /// What a run did whose reports these are.
    fn did(&self, sizes: &Sizes, reports: &[&Report]) -> Did {
        let rounds: Vec<u64> = reports.iter().flat_map(|r| r.rounds.clone()).collect();
        let items = reports.iter().map(|r| r.activity.map_or(0, |a| a.items));
        let items = items.fold(0, u64::saturating_add);
        Did {
            rounds: rounds.iter().copied().fold(0, u64::saturating_add),
            items: swept_items(&self.program, sizes, &rounds, items),
        }
    }
}

impl Pair {
    fn ones(&self) -> &[One] {
        match self {
            Pair::Together(both) => std::slice::from_ref(&**both),
            Pair::InTurn(both) => &**both,
        }
    }

    /// What the budget has beside it.
    fn left_bytes(&self) -> Option<u64> {
        self.ones()[0].memory.left_bytes()
    }

    fn each(&mut self, mut of: impl FnMut(&mut dyn Executor)) {
        match self {
            Pair::Together(both) => of(&mut *both.executor),
            Pair::InTurn(both) => both.iter_mut().for_each(|one| of(&mut *one.executor)),
        }
    }

    /// What stops the session's calls is what the executors look at.
    fn watch(&mut self, stops: &Stops) {
        self.each(|executor| {
            executor.set_stop(&stops.stop);
            // One that was parked may have a limit that is no longer there.
            executor.set_step_limit(stops.steps);
        });
    }

    /// Lengths that depend on the run's scalars have room.
    fn check(&mut self, whole: &Whole, (a, b): (&Args<'_>, &Args<'_>)) -> Result<(), RunError> {
        match self {
            Pair::Together(both) => both.check(&whole.fused.args(a, b)),
            Pair::InTurn(both) => {
                let [one, two] = &mut **both;
                one.check(a)?;
                two.check(b)
            }
        }
    }

    /// Runs both, and says how long that took and what it did.
    fn run(
        &mut self,
        (whole, sizes): (&Whole, &Sizes),
        (a, b): (&Args<'_>, &Args<'_>),
    ) -> Result<((Outcome, Outcome), Duration, Did), RunError> {
        match self {
            Pair::Together(both) => {
                let (outcome, took) = both.run(&whole.fused.args(a, b))?;
                let did = whole.did(sizes, &[&outcome.report]);
                Ok((whole.fused.outcomes(outcome), took, did))
            }
            Pair::InTurn(both) => {
                let [one, two] = &mut **both;
                let (first, took) = one.run(a)?;
                let mut args = b.clone();
                let linked = |id: BufferId| whole.links.iter().any(|l| l.to == id);
                args.inputs.retain(|(id, _)| !linked(*id));
                for link in &whole.links {
                    args.inputs
                        .push((link.to, output(&first, link.from).as_slice()));
                }
                let (second, longer) = two.run(&args)?;
                let did = whole.did(sizes, &[&first.report, &second.report]);
                Ok(((first, second), took + longer, did))
            }
        }
    }
}

impl Has for Pair {
    fn counters(&self) -> Option<Counters> {
        match self {
            Pair::Together(both) => both.executor.counters(),
            Pair::InTurn(both) => {
                let [one, two] = both.each_ref().map(|one| one.executor.counters());
                one.zip(two).map(|(one, two)| one.plus(&two))
            }
        }
    }
}

/// The plan of one of two passes, and the memory that it takes.
fn in_turn<P: Pass>(
    runtime: &Runtime,
    topology: &TopologyArgs<'_>,
) -> Result<(Planned, Memory), Error> {
    let of = PlanOf::pass(TypeId::of::<P>(), PlanKind::Fused);
    Memory::open(&of, (topology, runtime), &|| {
        Ok(fuse::named(&P::PARTS.program()?))
    })
}

/// A program and what runs it.
pub(crate) struct One {
    program: Arc<Program>,
    executor: Box<dyn Executor>,
    memory: Memory,
    runtime: Runtime,
    decider: Decider,
}

impl One {
    fn open(
        runtime: &Runtime,
        (planned, memory): (Planned, Memory),
        topology: &TopologyArgs<'_>,
        (pass, native): (TypeId, Option<OpenNative>),
    ) -> Result<One, RunError> {
        let program = planned.program;
        let opening = Opening {
            program: Arc::clone(&program),
            topology,
            allocation: memory.allocation,
            native,
        };
        Ok(One {
            executor: runtime.open(opening)?,
            program,
            memory,
            runtime: runtime.clone(),
            decider: Decider::new(runtime, pass, planned.start),
        })
    }

    fn check(&mut self, args: &Args<'_>) -> Result<(), RunError> {
        self.memory.check(&self.program, args)
    }

    fn run(&mut self, args: &Args<'_>) -> Result<(Outcome, Duration), RunError> {
        let (decider, executor) = (&mut self.decider, &mut *self.executor);
        let memory = (&mut self.memory, executor.limits());
        let situation = decider.situation(&self.program, memory, &self.runtime, 1)?;
        decider.decide(&situation, &self.program, executor)?;
        let started = self.runtime.now();
        let outcome = executor.run(args)?;
        let took = self.runtime.since(started);
        let (sizes, report) = (&self.memory.sizes, &outcome.report);
        decider.ran(&self.program, sizes, report, 1);
        let items = report.activity.map_or(0, |a| a.items);
        let items = swept_items(&self.program, sizes, &report.rounds, items);
        decider.took(report, took, items, 1);
        let happened = Happened::of(&self.program, &outcome.report);
        self.decider.happened(happened, took);
        Ok((outcome, took))
    }
}

/// A link of two fields, as links of their buffers: structs have a buffer for each of their scalars.
fn linked((a, b): (&Program, &Program), (from, to): (&str, &str)) -> Result<Vec<Link>, RunError> {
    let buffers = |p: &Program, field: &str, roles: &[Role]| -> Vec<BufferId> {
        let all = (0..).map(BufferId).zip(&p.buffers);
        let of_field = all.filter(|(_, b)| b.field() == field && roles.contains(&b.role));
        of_field.map(|(id, _)| id).collect()
    };
    let ends = |p: &Program, field: &str, roles: &[Role], what: &str| {
        let found = buffers(p, field, roles);
        if !found.is_empty() {
            return Ok(found);
        }
        let mut fields: Vec<String> = Vec::new();
        for buffer in p.buffers.iter().filter(|b| roles.contains(&b.role)) {
            let field = format!("`{}`", buffer.field());
            if !fields.contains(&field) {
                fields.push(field);
            }
        }
        let has = match fields.is_empty() {
            true => "none".to_owned(),
            false => fields.join(", "),
        };
        Err(RunError::Invalid(format!(
            "a link names `{field}`, which is no {what} of `{}` in a buffer; it has {has}",
            p.name
        )))
    };
    let froms = ends(a, from, &[Role::Output, Role::InOut], "output")?;
    let tos = ends(b, to, &[Role::Input], "input")?;
    let part = |p: &Program, id: BufferId, field: &str| {
        let name = &p.buffers[id.index()].name;
        name.strip_prefix(field).unwrap_or(name).to_owned()
    };
    let parts = |p: &Program, ids: &[BufferId], field: &str| -> Vec<String> {
        ids.iter().map(|&id| part(p, id, field)).collect()
    };
    if parts(a, &froms, from) != parts(b, &tos, to) {
        return Err(RunError::Invalid(format!(
            "`{}::{from}` cannot be linked to `{}::{to}`: their elements have different types",
            a.name, b.name
        )));
    }
    let both = froms.into_iter().zip(tos);
    Ok(both.map(|(from, to)| Link { from, to }).collect())
}

/// Whether results show the order in which one of them adds floats, and the other leaves that to the backend, which
/// decides it for a whole program: the names of the other one, and of that one.
fn add_differently(a: &Program, b: &Program) -> Option<(String, String)> {
    let open = |p: &Program| matches!(p.agreement, Agreement::Open(_));
    let adds = |p: &Program| {
        let mut words = p.kernels.iter().flat_map(|kernel| &kernel.code);
        words.any(|w| matches!(Op::from_code(w.op), Some(Op::AddF32 | Op::AddF64)))
    };
    let mut ways = [(a, b), (b, a)].into_iter();
    let found = ways.find(|(x, y)| open(x) && !open(y) && adds(y));
    found.map(|(x, y)| (x.name.clone(), y.name.clone()))
}

impl<A: Pass, B: Pass> FusedSession<A, B> {
    /// Uploads the topology. `links` are pairs of field names: an output of the first, an input of the second. One
    /// output may be several inputs.
    ///
    /// # Errors
    /// A link names no such field, or two that do not fit together; two links lead to one input; the passes are given
    /// different graphs; their memory does not fit in the budget or on the backend.
    pub fn new<'a>(
        runtime: &Runtime,
        (first, second): (
            impl IntoTopology<A::Topology<'a>>,
            impl IntoTopology<B::Topology<'a>>,
        ),
        links: &[(&str, &str)],
    ) -> Result<FusedSession<A, B>, Error> {
        let (a, b) = (A::PARTS.program()?, B::PARTS.program()?);
        let links = links.iter().map(|&names| linked((&a, &b), names));
        let links = links.collect::<Result<Vec<_>, RunError>>()?.concat();
        let mut fused = fuse(&a, &b, &links).map_err(|e| RunError::Invalid(e.to_string()))?;
        verify(&fused.program)
            .map_err(|e| RunError::Invalid(format!("invalid VIR0 program: {}", e[0])))?;
        legal(&fused.program)?;
        let given = (first.into_topology(), second.into_topology());
        let topologies = || (A::topology(&given.0), B::topology(&given.1));
        let (first, second) = topologies();
        let alike = first.graphs.len() == second.graphs.len()
            && (first.graphs.iter().zip(&second.graphs))
                .all(|(a, b)| std::ptr::eq(*a, *b) || a == b);
        if !alike {
            let why = format!(
                "`{}` and `{}` are given different graphs; fused passes work on the same ones",
                a.name, b.name
            );
            return Err(RunError::Invalid(why).into());
        }
        let program = Arc::new(std::mem::take(&mut fused.program));
        let whole = Whole {
            fused,
            links,
            in_turn: add_differently(&a, &b),
            split: false,
            program,
        };
        let sizes = whole.fused.topology(&first, &second).sizes(&whole.program);
        let plan = |runtime: &Runtime| whole.plan::<A, B>(runtime, (&first, &second));
        let of = |_: &Plan| {
            let subject = || Subject::new(&whole.program, &sizes);
            Of::new(runtime, (&*whole.program, sizes.nodes), subject)
        };
        let open = |runtime: &Runtime, plan: Plan| {
            // The plan has room for them.
            let rows = (A::topology_rows(&given.0)?, B::topology_rows(&given.1)?);
            let (mut first, mut second) = topologies();
            first.columns.extend(slices(&rows.0));
            second.columns.extend(slices(&rows.1));
            whole.open::<A, B>(runtime, plan, (&first, &second))
        };
        let (sides, mut here) = Sides::open(runtime, &plan, &of, &open)?;
        let stops = Stops::new(runtime.all(), runtime.time_limit());
        here.watch(&stops);
        Ok(FusedSession {
            given: (OfSession(first.scalars), OfSession(second.scalars)),
            whole,
            here,
            sides,
            fusion: Selector::default(),
            stuck: None,
            sizes,
            stops,
            passes: PhantomData,
        })
    }

    /// Both programs as one, with the barriers that its budget takes where they run so.
    pub fn program(&self) -> &Program {
        match &self.here {
            Pair::Together(both) => &both.program,
            Pair::InTurn(_) => &self.whole.program,
        }
    }

    /// Barriers of the one schedule, and of one schedule after the other.
    pub fn barriers(&self) -> (usize, usize) {
        let fused = &self.whole.fused;
        (fused.barriers, fused.barriers_before)
    }

    /// Whether both run in one launch, where the session is.
    pub fn is_one_launch(&self) -> bool {
        matches!(self.here, Pair::Together(_))
    }

    /// Where the session is: the backend's name, as of [`Session::backend`](crate::Session::backend).
    pub fn backend(&self) -> &'static str {
        self.sides.runtime().backend()
    }

    /// The sides of the session's runtime: what runs of both take there, and what the session has there.
    pub fn sides(&self) -> Vec<Side> {
        self.sides.list()
    }

    /// Lets runs go to the side of the runtime where both together are fastest, or keeps them where they are, as of
    /// [`Session::set_side_changes`](crate::Session::set_side_changes). As it begins, they go if each result of both is
    /// the same on every side.
    pub fn set_side_changes(&mut self, on: bool) {
        self.sides.set_changes(on);
    }

    /// The last decisions where the session is, as of [`Session::explain`](crate::Session::explain): those of both
    /// passes as one, or of each pass behind its name where they run one after the other; then which of these ways the
    /// last launch went, and why.
    pub fn explain(&self) -> impl fmt::Display + '_ {
        let (mut each, code) = match &self.here {
            Pair::Together(both) => (vec![Told(None, both)], both.decider.code()),
            Pair::InTurn(both) => {
                let told = both.iter().map(|one| Told(Some(&*one.program.name), one));
                (told.collect(), both[1].decider.code())
            }
        };
        each.retain(|told| !told.1.decider.decisions.is_empty());
        let (mut way, mut unmeasured_here) = (String::new(), String::new());
        if !each.is_empty() {
            way += &match self.is_one_launch() {
                true => "both      in one launch".to_owned(),
                false => format!("both      one after the other{}", self.why_in_turn()),
            };
            way += &lines(self.fusion.considered());
            if let Some(why) = &self.stuck {
                way += &format!("\n  stays     {why}");
            }
            way.push('\n');
            let ones = self.here.ones();
            let offered = ones.iter().fold(self.fusion.offered(), |all, one| {
                all.or(one.decider.offered())
            });
            unmeasured_here = unmeasured(offered, &self.sides.runtime().thresholds().gains);
        }
        let program = &self.whole.program;
        let bottom = (self.sides).bottom(program, code, false, &unmeasured_here);
        Explanation(each, way + &bottom)
    }

    /// Why the passes are not in one launch where the session is, unless it is for what was measured, which is said
    /// below that.
    fn why_in_turn(&self) -> String {
        let runtime = self.sides.runtime();
        if !runtime.implementation().runs_bytecode() {
            return format!(": {} calls each pass's own functions", runtime.backend());
        }
        match &self.whole.in_turn {
            Some((open, adds)) => format!(
                ": the result of `{open}` is open, so that in one launch `{adds}` would add floats in another order"
            ),
            None => String::new(),
        }
    }

    /// What was uploaded, allocated, waited for, read back and launched since the session was made, for both passes;
    /// `None` where the backend does not count.
    pub fn counters(&self) -> Option<Counters> {
        let counted = self.here.counters();
        counted.map(|c| c.plus(&self.sides.counters()))
    }

    /// What stops a run that is under way, as [`Session::canceller`](crate::Session::canceller) does.
    pub fn canceller(&self) -> Canceller {
        self.stops.canceller()
    }

    /// The most time that a run may take from here on, as of
    /// [`Session::set_time_limit`](crate::Session::set_time_limit).
    pub fn set_time_limit(&mut self, limit: Option<Duration>) {
        self.stops.time = limit;
    }

    /// The most steps that a run may take from here on, as of
    /// [`Session::set_step_limit`](crate::Session::set_step_limit); each pass by itself where they run one after the
    /// other. With a limit runs are on the first side of the runtime, so that one limit always means the same.
    pub fn set_step_limit(&mut self, steps: Option<u64>) -> bool {
        self.stops.steps = steps;
        let mut all = true;
        self.here
            .each(|executor| all &= executor.set_step_limit(steps));
        all
    }

    /// Runs both.
    ///
    /// # Errors
    /// The first trap of either pass, an argument that does not fit or that is given for a linked input, or no memory.
    /// Both can run again.
    pub fn run(
        &mut self,
        first: A::Run<'_>,
        second: B::Run<'_>,
    ) -> Result<(A::Output, B::Output), Error> {
        let _under_way = self.stops.begin()?;
        let (mut a, mut b) = (A::args(&first), B::args(&second));
        self.given.0.fill(&mut a);
        self.given.1.fill(&mut b);
        self.whole.takes::<B>(&b.inputs)?;
        self.sizes.scalars = [a.scalars.clone(), b.scalars.clone()].concat();
        self.take_side();
        self.take_way()?;
        let (first, second) = self.on_a_side(|session| {
            // What a run needs has room before its rows of structs are taken apart.
            session.here.check(&session.whole, (&a, &b))?;
            let rows = (A::rows(&first)?, B::rows(&second)?);
            let (mut a, mut b) = (a.clone(), b.clone());
            a.inputs.extend(slices(&rows.0));
            b.inputs.extend(slices(&rows.1));
            session.whole.takes::<B>(&b.inputs)?;
            session.launch((&a, &b))
        })?;
        Ok((made::<A>(first)?, made::<B>(second)?))
    }

    /// Runs both where the session is.
    fn launch(&mut self, args: (&Args<'_>, &Args<'_>)) -> Result<(Outcome, Outcome), RunError> {
        let of = (&self.whole, &self.sizes);
        let ((mut first, mut second), took, did) = self.here.run(of, args)?;
        self.sides.ran(took, did, 1);
        let reports = match self.here {
            // It is both passes'.
            Pair::Together(_) => vec![&first.report],
            Pair::InTurn(_) => vec![&first.report, &second.report],
        };
        self.fusion.ran(Ran {
            runs: 1,
            ..Ran::of(reports.into_iter(), took)
        });
        let backend = self.backend();
        (first.report.backend, second.report.backend) = (backend, backend);
        Ok((first, second))
    }

    /// Decides whether both run in one launch, and goes over where that is another way than the last. Results that may
    /// differ from run to run stay as they began; so does the meaning of a limit of steps.
    fn take_way(&mut self) -> Result<(), RunError> {
        let runtime = self.sides.runtime().clone();
        let program = &*self.whole.program;
        let may_fuse = runtime.implementation().runs_bytecode() && self.whole.in_turn.is_none();
        let may_change = may_fuse && !matches!(program.agreement, Agreement::Open(_));
        let offers = may_change.then(|| Offer::new(BuiltIn::Fusion));
        let items = longest(program, &self.sizes).max(self.sizes.nodes);
        let left_bytes = self.here.left_bytes().unwrap_or(u64::MAX);
        let gains = runtime.thresholds().gains;
        (self.fusion).weigh(&gains, offers.as_slice(), (items, left_bytes))?;
        if !may_change {
            return Ok(());
        }
        let wanted = self.stops.steps.is_some() || self.fusion.does(BuiltIn::Fusion);
        if wanted != self.is_one_launch() && self.stuck.is_none() {
            self.whole.split = !wanted;
            match self.whole.lent::<A, B>(&runtime, &self.here) {
                Ok(mut there) => {
                    there.watch(&self.stops);
                    let before = std::mem::replace(&mut self.here, there);
                    self.sides.count(before.counters());
                }
                Err(e) => {
                    self.whole.split = wanted;
                    self.stuck = Some(e.to_string());
                }
            }
        }
        let is_done = self.is_one_launch();
        self.fusion.found(BuiltIn::Fusion, is_done);
        Ok(())
    }

    /// Goes to the side that is to have the next run.
    fn take_side(&mut self) {
        self.sides.forget_run();
        if !self.sides.may_change() {
            return;
        }
        // Steps are those of both where they run as one, and of each where not.
        if self.stops.steps.is_some() {
            self.go_first();
            return;
        }
        let (program, sizes) = (&*self.whole.program, &self.sizes);
        let takes = (longest(program, sizes), open_ns(program, sizes));
        self.go_on((1, 1), takes);
    }
}

impl<A: Pass, B: Pass> Goes for FusedSession<A, B> {
    type Has = Pair;

    fn sides_mut(&mut self) -> &mut Sides<Pair> {
        &mut self.sides
    }

    fn go(&mut self, to: usize) -> bool {
        if to == self.sides.at() {
            return true;
        }
        let (whole, here) = (&self.whole, &self.here);
        let taken = (self.sides).take(to, &|there| whole.lent::<A, B>(there, here));
        let Some(mut there) = taken else {
            return false;
        };
        there.watch(&self.stops);
        let before = std::mem::replace(&mut self.here, there);
        self.sides.leave(before, to);
        self.stuck = None;
        true
    }
}

/// The decisions for one program, behind its name if there is another one beside it.
struct Told<'s>(Option<&'s str>, &'s One);

impl fmt::Display for Told<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut before = "";
        if let Some(name) = self.0 {
            write!(f, "pass {name}")?;
            before = "\n";
        }
        for decision in &self.1.decider.decisions {
            write!(f, "{before}{decision}")?;
            before = "\n";
        }
        Ok(())
    }
}

fn output(outcome: &Outcome, id: BufferId) -> &Column {
    let found = outcome.outputs.iter().find(|(b, _)| *b == id);
    let (_, column) = found.expect("a link starts at an output");
    column
}

impl<A, B> fmt::Debug for FusedSession<A, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FusedSession")
            .field("program", &self.whole.program.name)
            .finish_non_exhaustive()
    }
}
