//! Two passes over one topology, run as one.

use crate::decide::{Decider, Happened, Situation};
use crate::error::Error;
use crate::memory::{Memory, legal};
use crate::plans::Planned;
use crate::query::{OfSession, made, slices};
use crate::runtime::Runtime;
use crate::stop::Stops;
use std::any::TypeId;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;
use vyre_core::dsl::error::RunError;
use vyre_core::plan::fuse::{self, Fused, Link, fuse};
use vyre_core::plan::side::swept_items;
use vyre_core::run::args::{Args, TopologyArgs};
use vyre_core::run::backend::{Executor, OpenNative, Opening};
use vyre_core::run::outcome::Outcome;
use vyre_core::run::pass::{IntoTopology, Pass};
use vyre_core::run::stop::Canceller;
use vyre_core::vir0::isa::Op;
use vyre_core::vir0::module::{Agreement, BufferId, Program};
use vyre_core::vir0::verify::verify;

/// Two passes over one topology, in one launch where the backend runs programs: the groups of both share barriers
/// wherever they do not conflict. The native backend calls each pass's own functions, and runs them one after the
/// other; results are the same. One after the other run also a pass whose result is open and one that adds floats and
/// whose result is not.
///
/// An output of the first can be an input of the second ([`FusedSession::new`]'s links, by field name); that input is
/// then given as `&[]`.
///
/// Like a session's, its memory is checked against limits and budgets before anything is allocated.
pub struct FusedSession<A, B> {
    fused: Fused,
    program: Arc<Program>,
    links: Vec<Link>,
    how: How,
    /// Of each pass.
    given: (OfSession, OfSession),
    backend: &'static str,
    stops: Stops,
    passes: PhantomData<fn() -> (A, B)>,
}

enum How {
    Together(Box<One>),
    InTurn(Box<[One; 2]>),
}

impl How {
    fn each(&mut self, mut of: impl FnMut(&mut dyn Executor)) {
        match self {
            How::Together(both) => of(&mut *both.executor),
            How::InTurn(both) => both.iter_mut().for_each(|one| of(&mut *one.executor)),
        }
    }
}

/// A program and what runs it.
struct One {
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

    fn run(&mut self, args: &Args<'_>) -> Result<Outcome, RunError> {
        let up_to = self.decider.thresholds.pack_up_to_bytes;
        let packs = self.executor.limits().packs_lists;
        let packs_lists = packs && self.memory.slab(&self.program, up_to);
        let situation = Situation {
            packs_lists,
            ..Situation::of(&self.program, &self.memory, &self.runtime, 1)
        };
        let (decider, executor) = (&mut self.decider, &mut *self.executor);
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
        Ok(outcome)
    }
}

/// Whether results show the order in which one of them adds floats, and the other leaves that to the backend, which
/// decides it for a whole program.
fn add_differently(a: &Program, b: &Program) -> bool {
    let open = |p: &Program| matches!(p.agreement, Agreement::Open(_));
    let adds = |p: &Program| {
        let mut words = p.kernels.iter().flat_map(|kernel| &kernel.code);
        words.any(|w| matches!(Op::from_code(w.op), Some(Op::AddF32 | Op::AddF64)))
    };
    open(a) && !open(b) && adds(b) || open(b) && !open(a) && adds(a)
}

impl<A: Pass, B: Pass> FusedSession<A, B> {
    /// Uploads the topology. `links` are pairs of field names: an output of the first, an input of the second.
    ///
    /// # Errors
    /// A link names no buffer, or two that do not fit together; the passes are given different topologies; their memory
    /// does not fit in the budget or on the backend.
    pub fn new<'a>(
        runtime: &Runtime,
        (first, second): (
            impl IntoTopology<A::Topology<'a>>,
            impl IntoTopology<B::Topology<'a>>,
        ),
        links: &[(&str, &str)],
    ) -> Result<FusedSession<A, B>, Error> {
        let (a, b) = (A::PARTS.program()?, B::PARTS.program()?);
        let named = |p: &Program, name: &str| {
            let at = p.buffers.iter().position(|b| b.name == name);
            at.map(|i| BufferId(i as u16))
                .ok_or_else(|| RunError::Invalid(format!("`{}` has no buffer `{name}`", p.name)))
        };
        let links = links
            .iter()
            .map(|(from, to)| {
                Ok(Link {
                    from: named(&a, from)?,
                    to: named(&b, to)?,
                })
            })
            .collect::<Result<Vec<Link>, RunError>>()?;
        let invalid = |e: &dyn fmt::Display| RunError::Invalid(e.to_string());
        let mut fused = fuse(&a, &b, &links).map_err(|e| invalid(&e))?;
        verify(&fused.program).map_err(|e| invalid(&e[0]))?;
        legal(&fused.program)?;
        let given = (first.into_topology(), second.into_topology());
        // Taken apart once there is a plan, which has room for them.
        let rows = || Ok::<_, RunError>((A::topology_rows(&given.0)?, B::topology_rows(&given.1)?));
        let taken;
        let (mut first, mut second) = (A::topology(&given.0), B::topology(&given.1));
        let alike = first.graphs.len() == second.graphs.len()
            && (first.graphs.iter().zip(&second.graphs))
                .all(|(a, b)| std::ptr::eq(*a, *b) || a == b);
        if !alike {
            return Err(invalid(&"fused passes work on one topology").into());
        }
        let of_session = (
            OfSession(first.scalars.clone()),
            OfSession(second.scalars.clone()),
        );
        let runtime = &runtime.able(&fused.program);
        let fused_program = std::mem::take(&mut fused.program);
        let together = runtime.implementation().runs_bytecode() && !add_differently(&a, &b);
        let (program, how) = if together {
            let moved = |(id, column)| (fused.second_buffer(id), column);
            let mut both = first;
            let scalars = second.scalars.iter();
            both.scalars
                .extend(scalars.map(|&(id, bits)| (fused.second_scalar(id), bits)));
            both.columns.extend(second.columns.into_iter().map(moved));
            let (planned, memory) = Memory::settle(&fused_program, &both, runtime)?;
            taken = rows()?;
            both.columns.extend(slices(&taken.0));
            both.columns.extend(slices(&taken.1).map(moved));
            let both = One::open(
                runtime,
                (planned, memory),
                &both,
                (TypeId::of::<(A, B)>(), None),
            )?;
            (Arc::clone(&both.program), How::Together(Box::new(both)))
        } else {
            let a = Memory::settle(&fuse::named(&a), &first, runtime)?;
            let b = Memory::settle(&fuse::named(&b), &second, runtime)?;
            taken = rows()?;
            first.columns.extend(slices(&taken.0));
            second.columns.extend(slices(&taken.1));
            let both = [
                One::open(runtime, a, &first, (TypeId::of::<A>(), Some(A::NATIVE)))?,
                One::open(runtime, b, &second, (TypeId::of::<B>(), Some(B::NATIVE)))?,
            ];
            (Arc::new(fused_program), How::InTurn(Box::new(both)))
        };
        let stops = Stops::new(runtime.all(), runtime.time_limit());
        let mut how = how;
        how.each(|executor| executor.set_stop(&stops.stop));
        Ok(FusedSession {
            stops,
            fused,
            program,
            links,
            how,
            given: of_session,
            backend: runtime.backend(),
            passes: PhantomData,
        })
    }

    /// Both programs as one.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Barriers of the one schedule, and of one schedule after the other.
    pub fn barriers(&self) -> (usize, usize) {
        (self.fused.barriers, self.fused.barriers_before)
    }

    /// Whether both run in one launch.
    pub fn is_one_launch(&self) -> bool {
        matches!(self.how, How::Together(_))
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
    /// other.
    pub fn set_step_limit(&mut self, steps: Option<u64>) -> bool {
        let mut all = true;
        self.how
            .each(|executor| all &= executor.set_step_limit(steps));
        all
    }

    /// Runs both.
    ///
    /// # Errors
    /// The first trap of either pass, an argument that does not fit, or no memory. Both can run again.
    pub fn run(
        &mut self,
        first: A::Run<'_>,
        second: B::Run<'_>,
    ) -> Result<(A::Output, B::Output), Error> {
        let _under_way = self.stops.begin()?;
        // What a run needs has room before its rows of structs are taken apart.
        let (mut a, mut b) = (A::args(&first), B::args(&second));
        self.given.0.fill(&mut a);
        self.given.1.fill(&mut b);
        match &mut self.how {
            How::Together(both) => {
                let args = self.fused.args(&a, &b);
                both.memory.check(&both.program, &args)?;
            }
            How::InTurn(both) => {
                let [one, two] = &mut **both;
                one.memory.check(&one.program, &a)?;
                two.memory.check(&two.program, &b)?;
            }
        }
        let rows = (A::rows(&first)?, B::rows(&second)?);
        a.inputs.extend(slices(&rows.0));
        b.inputs.extend(slices(&rows.1));
        let (mut first, mut second) = match &mut self.how {
            How::Together(both) => {
                let args = self.fused.args(&a, &b);
                self.fused.outcomes(both.run(&args)?)
            }
            How::InTurn(both) => {
                let [one, two] = &mut **both;
                let first = one.run(&a)?;
                let mut args = b.clone();
                let linked = |id: BufferId| self.links.iter().any(|l| l.to == id);
                args.inputs.retain(|(id, _)| !linked(*id));
                for link in &self.links {
                    let (_, column) = output(&first, link.from);
                    args.inputs.push((link.to, column.as_slice()));
                }
                let second = two.run(&args)?;
                (first, second)
            }
        };
        first.report.backend = self.backend;
        second.report.backend = self.backend;
        Ok((made::<A>(first)?, made::<B>(second)?))
    }
}

fn output(outcome: &Outcome, id: BufferId) -> &(BufferId, vyre_core::dsl::columns::Column) {
    let found = outcome.outputs.iter().find(|(b, _)| *b == id);
    found.expect("a link starts at an output")
}

impl<A, B> fmt::Debug for FusedSession<A, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FusedSession")
            .field("program", &self.program.name)
            .finish_non_exhaustive()
    }
}
