//! The contract between the macros' expansion and the runtime: what a generated pass provides.

use crate::dsl::columns::Column;
use crate::dsl::error::RunError;
use crate::plan::show::Plan;
use crate::run::args::{Args, TopologyArgs};
use crate::run::backend::OpenNative;
use crate::run::outcome::Outcome;
use crate::vir0::module::{BufferId, Parts};

/// What a session is created from: a pass's `Topology { .. }`, or less where that says it all.
#[diagnostic::on_unimplemented(
    message = "this session needs `{T}`, and is given `{Self}`",
    label = "not what the pass declares as `#[topology]`",
    note = "write `Topology {{ .. }}` of the pass's module, with each `#[topology]` field by its name",
    note = "where there is only one, a `Csr`, `&graph` will do, and where there is none, `()`"
)]
pub trait IntoTopology<T> {
    /// The whole topology.
    fn into_topology(self) -> T;
}

impl<T> IntoTopology<T> for T {
    fn into_topology(self) -> T {
        self
    }
}

/// A compiled pass: the type `Pass` in the module of a wave graph. Implemented by the macros' expansion only.
///
/// Functions that are generic over it work with sessions of any pass,
/// `fn time<P: Pass>(session: &mut Session<P>, run: P::Run<'_>) -> Result<P::Output, Error>`. What such a function may use
/// are the three types and [`Pass::PLAN`]. The rest of the trait is for the runtime.
///
/// The `Topology` and the `Run` of a wave graph are `Clone`, and `Copy` where all their fields are, and its `Output` is
/// `Clone` and `PartialEq`. Not so for a kernel, whose results are the caller's slices. A function that needs it asks:
/// `where for<'a> P::Run<'a>: Clone`. An output's `report` holds times, so two outputs are rarely equal: compare the
/// fields, or let `vyre::compare` do it.
pub trait Pass: 'static {
    /// What a session is created from.
    type Topology<'a>;
    /// What a run is given.
    type Run<'a>;
    /// What a run gives back.
    type Output: Default + Send + 'static;
    /// Bytecode, plan and debug information, as data.
    const PARTS: Parts;
    /// The plan, which `PLAN` in the pass's module is too; [`Plan::class`] says how far runs agree.
    const PLAN: Plan = Plan::new(Self::PARTS);
    /// Opens an executor of the user's own functions, for the backend that runs those.
    const NATIVE: OpenNative;

    /// Untyped form of the topologies.
    fn topology<'a>(topology: &Self::Topology<'a>) -> TopologyArgs<'a>;
    /// Untyped form of the arguments.
    fn args<'a>(run: &Self::Run<'a>) -> Args<'a>;
    /// Topology columns that the caller gives as rows of structs, taken apart: [`Pass::topology`] leaves them out.
    fn topology_rows(_: &Self::Topology<'_>) -> Result<Vec<(BufferId, Column)>, RunError> {
        Ok(Vec::new())
    }
    /// Inputs that the caller gives as rows of structs, taken apart: [`Pass::args`] leaves them out.
    fn rows(_: &Self::Run<'_>) -> Result<Vec<(BufferId, Column)>, RunError> {
        Ok(Vec::new())
    }
    /// Bytes of [`Pass::rows`].
    fn rows_bytes(_: &Self::Run<'_>) -> u64 {
        0
    }
    /// Swaps an outcome with its typed form, memory included ([`Outcome::exchange`]): gives results, or takes over the
    /// memory of earlier ones. Left out where runs give nothing.
    fn exchange(_results: &mut Outcome, _out: &mut Self::Output) {}
}
