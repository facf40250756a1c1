//! Resident sessions: the graph is uploaded once, many runs refresh their frontier, and one readback ends it.
//!
//! The plan says what a session will do and what it avoids against runs that start from nothing.
//! [`SessionPlan::compare`] holds it against what the runtime counted.
//!
//! ```
//! use vyre_core::plan::session::{Profile, Readback, plan};
//! let profile = Profile {
//!     layout_hash: Some(7),
//!     graph_bytes: 1_048_576,
//!     runs: 128,
//!     buffers: 3,
//!     frontier_bytes: 4_096,
//!     scratch_bytes: 65_536,
//!     output_bytes: 2_048,
//!     budget_bytes: Some(2_000_000),
//!     readback: Readback::FinalOnly,
//! };
//! let plan = plan(&profile).unwrap();
//! assert_eq!(plan.peak_bytes, 1_120_256);
//! assert_eq!(plan.avoided_upload_bytes, 133_169_152);
//! ```

use thiserror::Error;

/// When results are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Readback {
    /// Once, after the last run.
    FinalOnly,
    /// After every run: not what a resident session is for.
    PerRun,
}

/// What a session is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Profile {
    /// Identifies the graph's layout: what is resident must be what is asked for.
    pub layout_hash: Option<u64>,
    /// The resident graph.
    pub graph_bytes: u64,
    /// How often it runs.
    pub runs: u64,
    /// Buffers that a run from nothing allocates: 3 where it has one each for frontier, scratch and output.
    pub buffers: u64,
    /// Uploaded for every run.
    pub frontier_bytes: u64,
    /// Allocated once, used by every run.
    pub scratch_bytes: u64,
    /// Result of a run.
    pub output_bytes: u64,
    /// Device memory allowed.
    pub budget_bytes: Option<u64>,
    /// When results are read.
    pub readback: Readback,
}

/// What the session does, and what it avoids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SessionPlan {
    /// Live during a run.
    pub peak_bytes: u64,
    /// Frontier uploads of all runs.
    pub refresh_bytes: u64,
    /// Graph uploads that later runs do not repeat.
    pub avoided_upload_bytes: u64,
    /// Allocations that later runs do not repeat.
    pub avoided_allocations: u64,
    /// Waits for the device that only the last run needs.
    pub avoided_fences: u64,
    /// Read at the end.
    pub readback_bytes: u64,
    /// Runs that upload the graph.
    pub cold_runs: u64,
    /// Runs that find it there.
    pub warm_runs: u64,
    /// What the runtime's counters will say.
    pub expected: Counters,
}

/// What a runtime counts during a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Counters {
    /// Graph uploads.
    pub graph_uploads: u64,
    /// Bytes of them.
    pub graph_upload_bytes: u64,
    /// Bytes uploaded for runs.
    pub refresh_bytes: u64,
    /// Allocations of run buffers.
    pub allocations: u64,
    /// Waits for the device.
    pub fences: u64,
    /// Bytes read back.
    pub readback_bytes: u64,
    /// Times that work was started: one a run, one a batch where the backend takes it at once.
    pub launches: u64,
    /// Of the bytes uploaded for runs, those that could go up while another run of the session was on the device. No
    /// plan says so: it depends on the backend and on the room for a second set of inputs.
    pub ahead_bytes: u64,
}

impl Counters {
    fn fields(&self) -> [(&'static str, u64); 7] {
        [
            ("graph_uploads", self.graph_uploads),
            ("graph_upload_bytes", self.graph_upload_bytes),
            ("refresh_bytes", self.refresh_bytes),
            ("allocations", self.allocations),
            ("fences", self.fences),
            ("readback_bytes", self.readback_bytes),
            ("launches", self.launches),
        ]
    }

    /// What was counted since an earlier reading.
    pub fn since(&self, earlier: &Counters) -> Counters {
        Counters {
            graph_uploads: self.graph_uploads.saturating_sub(earlier.graph_uploads),
            graph_upload_bytes: self
                .graph_upload_bytes
                .saturating_sub(earlier.graph_upload_bytes),
            refresh_bytes: self.refresh_bytes.saturating_sub(earlier.refresh_bytes),
            allocations: self.allocations.saturating_sub(earlier.allocations),
            fences: self.fences.saturating_sub(earlier.fences),
            readback_bytes: self.readback_bytes.saturating_sub(earlier.readback_bytes),
            launches: self.launches.saturating_sub(earlier.launches),
            ahead_bytes: self.ahead_bytes.saturating_sub(earlier.ahead_bytes),
        }
    }

    /// The sums.
    #[must_use]
    pub fn plus(&self, other: &Counters) -> Counters {
        Counters {
            graph_uploads: self.graph_uploads + other.graph_uploads,
            graph_upload_bytes: self.graph_upload_bytes + other.graph_upload_bytes,
            refresh_bytes: self.refresh_bytes + other.refresh_bytes,
            allocations: self.allocations + other.allocations,
            fences: self.fences + other.fences,
            readback_bytes: self.readback_bytes + other.readback_bytes,
            launches: self.launches + other.launches,
            ahead_bytes: self.ahead_bytes + other.ahead_bytes,
        }
    }
}

/// A counter that is not what was planned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Difference {
    /// Field of [`Counters`].
    pub field: &'static str,
    /// By the plan.
    pub planned: u64,
    /// By the runtime.
    pub counted: u64,
}

/// Why there is no plan.
#[derive(Clone, Error, PartialEq, Eq)]
pub enum SessionError {
    /// Nothing says which graph is resident.
    #[error("the layout hash is missing")]
    NoLayoutHash,
    /// No graph.
    #[error("graph bytes are 0")]
    NoGraph,
    /// No runs.
    #[error("runs are 0")]
    NoRuns,
    /// No budget.
    #[error("the budget is missing")]
    NoBudget,
    /// Results are to be read after each run.
    #[error("a session that reads back at its end cannot read back after each of {runs} runs")]
    PerRunReadback {
        /// Runs.
        runs: u64,
    },
    /// A number does not fit in 64 bits.
    #[error("{field} overflow 64 bits")]
    Overflow {
        /// What was computed.
        field: &'static str,
    },
    /// Too much for the device.
    #[error("the session needs {needed_bytes} bytes; budget is {budget_bytes}")]
    OverBudget {
        /// Peak.
        needed_bytes: u64,
        /// Allowed.
        budget_bytes: u64,
    },
}

crate::debug_is_display!(SessionError);

/// Plans a session.
pub fn plan(profile: &Profile) -> Result<SessionPlan, SessionError> {
    if profile.layout_hash.is_none() {
        return Err(SessionError::NoLayoutHash);
    }
    if profile.graph_bytes == 0 {
        return Err(SessionError::NoGraph);
    }
    let runs = profile.runs;
    if runs == 0 {
        return Err(SessionError::NoRuns);
    }
    let budget_bytes = match profile.budget_bytes {
        None | Some(0) => return Err(SessionError::NoBudget),
        Some(bytes) => bytes,
    };
    if profile.readback == Readback::PerRun {
        return Err(SessionError::PerRunReadback { runs });
    }
    let overflow = |field| move || SessionError::Overflow { field };
    let warm_runs = runs - 1;
    let parts = [
        profile.frontier_bytes,
        profile.scratch_bytes,
        profile.output_bytes,
    ];
    let peak_bytes = parts
        .iter()
        .try_fold(profile.graph_bytes, |sum, b| sum.checked_add(*b))
        .ok_or_else(overflow("peak bytes"))?;
    let refresh_bytes = runs
        .checked_mul(profile.frontier_bytes)
        .ok_or_else(overflow("refresh bytes"))?;
    let avoided_upload_bytes = warm_runs
        .checked_mul(profile.graph_bytes)
        .ok_or_else(overflow("avoided upload bytes"))?;
    let avoided_allocations = warm_runs
        .checked_mul(profile.buffers)
        .ok_or_else(overflow("avoided allocations"))?;
    if peak_bytes > budget_bytes {
        return Err(SessionError::OverBudget {
            needed_bytes: peak_bytes,
            budget_bytes,
        });
    }
    Ok(SessionPlan {
        peak_bytes,
        refresh_bytes,
        avoided_upload_bytes,
        avoided_allocations,
        avoided_fences: warm_runs,
        readback_bytes: profile.output_bytes,
        cold_runs: 1,
        warm_runs,
        expected: Counters {
            graph_uploads: 1,
            graph_upload_bytes: profile.graph_bytes,
            refresh_bytes,
            allocations: profile.buffers,
            fences: 1,
            readback_bytes: profile.output_bytes,
            launches: runs,
            ahead_bytes: 0,
        },
    })
}

impl SessionPlan {
    /// Where the session did something else than planned.
    pub fn compare(&self, counted: &Counters) -> Vec<Difference> {
        self.expected
            .fields()
            .into_iter()
            .zip(counted.fields())
            .filter(|(planned, counted)| planned != counted)
            .map(|((field, planned), (_, counted))| Difference {
                field,
                planned,
                counted,
            })
            .collect()
    }
}
