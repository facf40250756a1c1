//! GPU dataflow passes as annotated Rust: the runtime, its sessions, and the macros.
//!
//! This is the one crate to depend on. A pass is a module of kernels over a graph; the macros compile it to bytecode at
//! compile time, and a [`Session`] runs it on a GPU or, with the same results, on the CPU:
//!
//! ```
//! use vyre::prelude::*;
//!
//! const UNSEEN: u32 = u32::MAX;
//!
//! /// Levels of a breadth-first search.
//! #[wave_graph]
//! pub mod bfs {
//!     pub struct Data {
//!         #[topology] graph: Csr,
//!         #[frontier] front: Frontier,
//!         #[output(per = node)] dist: u32,
//!         source: u32,
//!     }
//!
//!     #[wave(nodes)]
//!     fn init(v: Node, source: u32, dist: &mut u32, front: &Push) {
//!         *dist = UNSEEN;
//!         if v == source { *dist = 0; front.push(v); }
//!     }
//!
//!     #[fixpoint(after(init), until(front.is_empty()), max_rounds = 1_000_000)]
//!     mod levels {
//!         #[wave(edges(graph, from = front))]
//!         fn relax(e: Edge, round: Round, dist: &Buf<Atomic<u32>>, front: &Push) {
//!             if dist[e.dst].compare_exchange(UNSEEN, round + 1) { front.push(e.dst); }
//!         }
//!     }
//! }
//!
//! fn main() -> Result<(), vyre::Error> {
//!     let graph = Csr::from_edges(4, &[(0, 1), (1, 2), (2, 0)]).expect("edges name nodes");
//!     let runtime = Runtime::auto()?;
//!     let mut session = bfs::Session::new(&runtime, &graph)?;
//!     let out = session.run(bfs::Run { source: 0 })?;
//!     assert_eq!(out.dist, [0, 1, 2, UNSEEN]);
//!     assert_eq!(out.report.total_rounds(), 3);
//!     println!("{} rounds on {runtime}", out.report.total_rounds());
//!     Ok(())
//! }
//! ```
//!
//! A checked fault (an index out of bounds, a division by zero, an overflowed frontier, too many rounds) stops the run
//! with a [`Trap`] that names the field, the kernel, the source position and the item; the session stays usable.
//! [`Error::with_excerpt`] shows the line of source as well.

#![warn(clippy::missing_errors_doc)]

mod budget;
mod compare;
mod costs;
mod decide;
mod device_ptr;
mod error;
mod excerpt;
mod fused;
mod kernel;
pub mod language;
mod memory;
mod named;
mod passes;
mod pinned;
pub mod pipeline;
mod plans;
pub mod prelude;
mod query;
pub mod relation_guide;
mod runtime;
mod select;
mod session;
pub mod session_guide;
mod sessions;
mod sides;
mod stop;
mod tier;

pub use compare::{Comparison, Difference, Differs, compare};
pub use decide::{Decision, Happened, Launch, Tuned};
pub use device_ptr::{DevicePtr, DevicePtrError};
pub use error::Error;
pub use excerpt::WithExcerpt;
pub use fused::FusedSession;
pub use named::{Asked, Available, OfferedBackend};
pub use passes::{RegisteredPass, passes};
pub use pinned::Pinned;
pub use plans::Planning;
pub use query::{Batch, QueryId};
pub use runtime::Runtime;
pub use select::{Considered, Verdict};
pub use session::Session;
pub use sessions::Sessions;
pub use sides::{Side, SideState};
pub use tier::RoutePolicy;
pub use vyre_core as core;
#[cfg(feature = "cuda")]
pub use vyre_cuda as cuda;

pub use vyre_core::dsl::csr::{Csr, CsrError};
pub use vyre_core::dsl::error::RunError;
pub use vyre_core::dsl::{Bits, BoundsError, Parts, Row, Rows, RowsError, Tuples};
pub use vyre_core::plan::session::Counters;
pub use vyre_core::plan::show::Plan;
pub use vyre_core::plan::thresholds::{Thresholds, ThresholdsError};
pub use vyre_core::run::backend::Progress;
pub use vyre_core::run::outcome::{Activity, Readback, Report, WaveTime};
pub use vyre_core::run::pass::{IntoTopology, Pass};
pub use vyre_core::run::stop::Canceller;
pub use vyre_core::vir0::trap::{Part, Subject, Trap, TrapKind};
#[doc(hidden)]
pub use vyre_macros::wavegraph;
pub use vyre_macros::{device, fixpoint, kernel, pass, wave, wave_graph};

/// The first block where the feature `cuda` is on, the second where it is off. For expanded code, which cannot know.
#[cfg(feature = "cuda")]
#[doc(hidden)]
#[macro_export]
macro_rules! __where_cuda {
    ({ $($with:tt)* } { $($without:tt)* }) => { $($with)* };
}

/// As above.
#[cfg(not(feature = "cuda"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __where_cuda {
    ({ $($with:tt)* } { $($without:tt)* }) => { $($without)* };
}

/// What expanded code names. Not for anyone else.
#[doc(hidden)]
pub mod __private {

    /// Columns by buffer, where there is memory for them.
    pub type Columns = Result<Vec<(BufferId, vyre_core::dsl::columns::Column)>, RunError>;

    /// What the macros say that a lowercase name in a pattern is; where it is not, rustc quotes this type's name.
    pub struct ANewNameOrAnUppercaseConstant;

    /// Stands for a function that no glob has brought by its other name.
    pub struct Unseen;

    /// The function whose source a kernel was given is the one that rustc calls, or was not seen.
    #[diagnostic::on_unimplemented(
        message = "this calls `{F}`, and its bytecode would have `{Self}`",
        label = "one name stands for two functions",
        note = "a glob brings a `#[device]` function of this name, and a `use` or an item here takes its place",
        note = "mark the function that is meant with `#[device]`, or give one of the two another name"
    )]
    pub trait IsFunction<F, Seen> {}
    impl<F> IsFunction<F, ((),)> for F {}
    impl<F> IsFunction<F, ()> for Unseen {}

    /// Compiles if `other_name` is the same function, or was not seen.
    pub fn same_function<A: IsFunction<F, Seen>, F, Seen>(_other_name_and_called: (A, F)) {}

    /// A struct of the `#[device] mod` with this number.
    #[diagnostic::on_unimplemented(
        message = "this is `{Self}`, and its bytecode would have a struct of a `#[device] mod`",
        label = "one name stands for two structs",
        note = "a glob brings a struct of a `#[device] mod` by this name, and a `use` or an item takes its place",
        note = "write `#[device]` before the module of the struct that is meant, or give one of the two another name"
    )]
    pub trait KnownStruct<const SERIAL: u32> {}

    /// Compiles if the type is a struct of that module.
    pub const fn known_struct<const SERIAL: u32, T: KnownStruct<SERIAL>>() {}

    /// The number of elements of a slice that a kernel is given.
    ///
    /// # Errors
    /// There are more than 32 bits count.
    pub fn length(name: &str, len: usize) -> Result<u32, crate::Error> {
        u32::try_from(len).map_err(|_| {
            crate::Error::from(RunError::TooLong {
                name: name.to_owned(),
                len: len as u64,
            })
        })
    }

    pub use crate::kernel::run_in_place;
    pub use crate::passes::RegisteredPass;
    pub use inventory;
    pub use vyre_core::cpu::native::{
        FrontierView, Functions, Lane, LaneArg, Named, RelationView, Sweep, Until,
        open as open_native,
    };
    pub use vyre_core::dsl::columns::{Element, Slice, SliceMut};
    pub use vyre_core::dsl::error::RunError;
    pub use vyre_core::dsl::record::{Record, columns_bytes, columns_of};
    pub use vyre_core::dsl::*;
    pub use vyre_core::record;
    pub use vyre_core::run::args::{Args, TopologyArgs};
    pub use vyre_core::run::backend::OpenNative;
    pub use vyre_core::run::outcome::{Outcome, Report};
    pub use vyre_core::run::pass::{IntoTopology, Pass};
    pub use vyre_core::run::stop::{look, turn};
    pub use vyre_core::vir0::module::{
        Bound, BufferId, FixpointId, FrontierId, ListId, Parts, ReductionId, Room, ScalarId,
        TopologyId, WaveId, here,
    };
    pub use vyre_core::vir0::scalar::ScalarType;
    pub use vyre_macros::{import, written};
}
