//! Calls of a `#[kernel]`. Its session stays for the next call, so that a call in a loop does not open one each time.

use crate::error::Error;
use crate::runtime::Runtime;
use crate::session::Session;
use vyre_core::dsl::columns::SliceMut;
use vyre_core::dsl::error::RunError;
use vyre_core::run::args::Args;
use vyre_core::run::backend::GiveUp;
use vyre_core::run::clock::Instant;
use vyre_core::run::outcome::Report;
use vyre_core::run::pass::Pass;
use vyre_core::vir0::module::BufferId;

/// What a `#[kernel]`'s `run` does: on the CPU it reads and writes the caller's slices where they are; on a GPU its
/// session stays for the next call.
///
/// # Errors
/// As [`Session::run`](crate::Session::run).
pub fn run_in_place<P>(
    runtime: &Runtime,
    args: &Args<'_>,
    in_outs: &mut [(BufferId, SliceMut<'_>)],
    may_trap: bool,
) -> Result<Report, Error>
where
    P: for<'a> Pass<Topology<'a> = ()>,
{
    let may_end = runtime.all().is_watched() || runtime.time_limit().is_some();
    let may_trap = may_trap || may_end;
    ran::<P>(runtime, args, in_outs, may_trap).map_err(|e| match e {
        // The caller declares no lengths: all slices have that of the first.
        Error::Run(RunError::Length {
            name,
            expected,
            actual,
            ..
        }) => Error::Run(RunError::Length {
            name,
            expected,
            size: String::new(),
            actual,
        }),
        e => e,
    })
}

fn ran<P>(
    runtime: &Runtime,
    args: &Args<'_>,
    in_outs: &mut [(BufferId, SliceMut<'_>)],
    may_trap: bool,
) -> Result<Report, Error>
where
    P: for<'a> Pass<Topology<'a> = ()>,
{
    // Opening counts for the time that the call is given.
    let started = Instant::now();
    let (backend, spare) = (runtime.implementation(), runtime.spare());
    let Some(memory_bytes) = backend.waiting_room_bytes()? else {
        let mut session = Session::<P>::new(runtime, ())?;
        return session.run_in_place(args, in_outs, may_trap, started);
    };
    let mut run = || {
        let mut session = match spare.take::<Session<P>>() {
            Some(session) => session,
            // What is kept does not keep the runtime that keeps it.
            None => Session::<P>::new(&runtime.keeping_nothing(), ())?,
        };
        session.set_thresholds(*runtime.thresholds());
        session.set_route(runtime.route());
        session.set_time_limit(runtime.time_limit());
        let report = session.run_in_place(args, in_outs, may_trap, started);
        // A device that failed may have left it in any state.
        if !matches!(report, Err(Error::Run(RunError::Backend(_)))) {
            let bytes = session.held_bytes();
            spare.keep((session, bytes), backend, memory_bytes);
        }
        report
    };
    match run() {
        // Memory of other kernels, and of larger calls before.
        Err(Error::Run(RunError::Memory { .. })) if spare.give_up() => run(),
        report => report,
    }
}
