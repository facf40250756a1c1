//! Opens programs of others within what they may cost ([`Limits`]).

use crate::dsl::columns::Slice;
use crate::dsl::error::RunError;
use crate::plan::footprint::{Allocation, FootprintError, footprint_on};
use crate::plan::session::Counters;
use crate::run::args::{Args, TopologyArgs};
use crate::run::backend::{
    Backend, CodeRoom, Executor, Followed, Holder, LaunchHint, Limits as Follows, Opening, Progress,
};
use crate::run::outcome::Outcome;
use crate::run::stop::Stop;
use crate::vir0::module::{BufferId, Program, Role};
use crate::vir0::sizes::Sizes;
use crate::vir0::untrusted::Limits;
use std::sync::Arc;

impl Limits {
    /// Opens a program that [`Program::from_untrusted`] has taken in. Each run is refused whose buffers would take more
    /// than [`memory`](Limits::memory), and ends where it takes more than [`steps`](Limits::steps). Where the program
    /// fits only with memory that is shared, it gets that.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use vyre_core::cpu::Vir0;
    /// use vyre_core::plan::footprint::Allocation;
    /// use vyre_core::run::args::{Args, TopologyArgs};
    /// use vyre_core::run::backend::Opening;
    /// use vyre_core::vir0::container::encode;
    /// use vyre_core::vir0::module::{Program, Step};
    /// use vyre_core::vir0::untrusted::Limits;
    /// let sent = Program { name: "sent".into(), schedule: vec![Step::End], ..Program::default() };
    /// let limits = Limits::default();
    /// let program = Program::from_untrusted(&encode(&sent), &limits).unwrap();
    /// let mut executor = limits
    ///     .open(&Vir0, Opening {
    ///         program: Arc::new(program),
    ///         topology: &TopologyArgs::default(),
    ///         allocation: Allocation::Separate,
    ///         native: None,
    ///     })
    ///     .unwrap();
    /// assert!(executor.run(&Args::default()).is_ok());
    /// ```
    ///
    /// What is given must be what the program declares, however that was made: each graph, each column and each input
    /// once, under the number of a buffer that has that role, and all scalars.
    ///
    /// # Errors
    /// What the backend says; [`RunError::Invalid`] where something else is given than the program declares, here and
    /// by each run; [`RunError::Memory`]; and [`RunError::Backend`] where it does not count steps.
    pub fn open(
        &self,
        backend: &dyn Backend,
        mut opening: Opening<'_>,
    ) -> Result<Box<dyn Executor>, RunError> {
        Arc::make_mut(&mut opening.program).count_all_turns();
        let program = Arc::clone(&opening.program);
        check_topology(&program, opening.topology)?;
        let mut takes = Sizing {
            holder: backend.holder(&program, opening.topology)?,
            sizes: opening.topology.sizes(&program),
            allocation: opening.allocation,
            memory: self.memory,
            program,
        };
        // Where sizes depend on scalars, each run is looked at.
        if let Some(needed_bytes) = takes.needed_bytes()?
            && needed_bytes > self.memory
        {
            takes.allocation = Allocation::Shared;
            opening.allocation = Allocation::Shared;
            takes.check()?;
        }
        let mut executor = backend.open(opening)?;
        if !executor.set_step_limit(Some(self.steps)) {
            let name = backend.name();
            let why = format!("the backend {name} does not count the steps of a run");
            return Err(RunError::Backend(why));
        }
        Ok(Box::new(Limited {
            executor,
            takes,
            steps: self.steps,
        }))
    }
}

fn invalid<T>(program: &Program, why: String) -> Result<T, RunError> {
    Err(RunError::Invalid(format!("`{}`: {why}", program.name)))
}

fn check_topology(program: &Program, given: &TopologyArgs<'_>) -> Result<(), RunError> {
    let declared = program.topologies.iter();
    let declared = declared.filter(|t| t.reverse_of.is_none()).count();
    if given.graphs.len() != declared {
        let graphs = given.graphs.len();
        let why = format!("{graphs} graphs were given, and it declares {declared}");
        return invalid(program, why);
    }
    let of_session = given.scalars.iter();
    let unknown = of_session.map(|(id, _)| id.index());
    if let Some(id) = unknown.filter(|id| *id >= program.scalars.len()).min() {
        return invalid(
            program,
            format!("scalar {id} was given, which it does not declare"),
        );
    }
    check_buffers(program, &given.columns, "column", |role| {
        role == Role::Topology
    })
}

fn check_args(program: &Program, given: &Args<'_>) -> Result<(), RunError> {
    let (scalars, declared) = (given.scalars.len(), program.scalars.len());
    if scalars != declared {
        let why = format!("{scalars} scalars were given, and it declares {declared}");
        return invalid(program, why);
    }
    let is_input = |role| matches!(role, Role::Input | Role::InOut);
    check_buffers(program, &given.inputs, "input", is_input)
}

/// Each buffer of such a role is given once, and no other.
fn check_buffers(
    program: &Program,
    given: &[(BufferId, Slice<'_>)],
    what: &str,
    is_given: impl Fn(Role) -> bool,
) -> Result<(), RunError> {
    let mut times = vec![0; program.buffers.len()];
    for (id, _) in given {
        match times.get_mut(id.index()) {
            Some(times) => *times += 1,
            None => return invalid(program, format!("it has no buffer {}", id.index())),
        }
    }
    for (buffer, times) in program.buffers.iter().zip(times) {
        let name = &buffer.name;
        match (is_given(buffer.role), times) {
            (true, 1) | (false, 0) => {}
            (true, 0) => return invalid(program, format!("no {what} was given for `{name}`")),
            (true, _) => return invalid(program, format!("`{name}` was given {times} times")),
            (false, _) => return invalid(program, format!("`{name}` takes no {what}")),
        }
    }
    Ok(())
}

/// What a run takes.
struct Sizing {
    program: Arc<Program>,
    holder: Holder,
    sizes: Sizes,
    allocation: Allocation,
    memory: u64,
}

impl Sizing {
    /// Bytes of a run with these scalars; `None` where they are not known.
    fn needed_bytes(&self) -> Result<Option<u64>, RunError> {
        if !self.sizes.know(&self.program) {
            return Ok(None);
        }
        let takes = match footprint_on(&self.program, &self.sizes, self.holder.target()) {
            Ok(takes) => takes,
            Err(FootprintError::Overflow { name }) => return Err(RunError::TooLarge { name }),
            Err(e @ (FootprintError::Group { .. } | FootprintError::Run { .. })) => {
                unreachable!("no budget was asked about: {e}")
            }
        };
        Ok(Some(takes.bytes(self.allocation)))
    }

    fn check(&self) -> Result<(), RunError> {
        match self.needed_bytes()? {
            Some(needed_bytes) if needed_bytes > self.memory => Err(RunError::Memory {
                what: format!("`{}` is limited", self.program.name),
                needed_bytes,
                available_bytes: self.memory,
            }),
            _ => Ok(()),
        }
    }
}

/// An executor whose runs are looked at before they begin.
struct Limited {
    executor: Box<dyn Executor>,
    takes: Sizing,
    steps: u64,
}

impl Executor for Limited {
    fn run_series(&mut self, series: &[Args<'_>], results: &mut Outcome) -> Result<(), RunError> {
        for args in series {
            check_args(&self.takes.program, args)?;
            self.takes.sizes.scalars.clone_from(&args.scalars);
            self.takes.check()?;
        }
        self.executor.run_series(series, results)
    }

    fn counters(&self) -> Option<Counters> {
        self.executor.counters()
    }

    fn limits(&self) -> Follows {
        self.executor.limits()
    }

    fn follow(&mut self, hint: &LaunchHint) -> Followed {
        self.executor.follow(hint)
    }

    fn progress(&self) -> Option<Arc<Progress>> {
        self.executor.progress()
    }

    fn set_progress(&mut self, progress: Arc<Progress>) {
        self.executor.set_progress(progress);
    }

    fn count_code(&mut self, room: &Arc<dyn CodeRoom>) {
        self.executor.count_code(room);
    }

    fn set_stop(&mut self, stop: &Arc<Stop>) {
        self.executor.set_stop(stop);
    }

    /// No more than the limits allow.
    fn set_step_limit(&mut self, steps: Option<u64>) -> bool {
        let steps = steps.map_or(self.steps, |steps| steps.min(self.steps));
        self.executor.set_step_limit(Some(steps))
    }
}
