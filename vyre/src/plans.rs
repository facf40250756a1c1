//! What a runtime remembers for its sessions: plans by layout, first launches by what was known about them, and how
//! long runs of each pass were interpreted.

use crate::error::Error;
use std::any::TypeId;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use vyre_core::plan::cache::{CacheStats, Lru, PLAN_CAPACITY, PlanKey, PlanKind};
use vyre_core::plan::footprint::Allocation;
use vyre_core::plan::fuse::Link;
use vyre_core::plan::launch::{self, LaunchError, Recommendation, Request, Topology};
use vyre_core::plan::route::{Choice, Pressure};
use vyre_core::run::args::TopologyArgs;
use vyre_core::run::backend::Holder;
use vyre_core::vir0::module::Program;
use vyre_core::vir0::sizes::Sizes;

/// How often a runtime found a plan among those that it keeps, and how often it made one
/// ([`Runtime::planning`](crate::Runtime::planning)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Planning {
    /// Plans of sessions, of each graph of `Sessions`, and of fused sessions: the assembled and verified program with the
    /// barriers that its budget takes, how memory is handed out, and the route that sweeps start with. What is opened
    /// again for the same passes, sizes and memory finds its own.
    pub sessions: CacheStats,
    /// First launches of sessions; later ones are decided from the launch before, and are not kept.
    pub launches: CacheStats,
}

impl Planning {
    /// Of two sides.
    pub(crate) fn plus(self, other: Planning) -> Planning {
        Planning {
            sessions: self.sessions.plus(other.sessions),
            launches: self.launches.plus(other.launches),
        }
    }
}

/// The plans of a runtime and its clones.
#[derive(Debug)]
pub(crate) struct Plans {
    kept: Mutex<Kept>,
}

#[derive(Debug)]
struct Kept {
    sessions: Lru<PlanKey, (Layout, Planned)>,
    /// How often each was wanted.
    uses: Lru<PlanKey, Arc<AtomicU64>>,
    launches: launch::Planner,
    interpreted: HashMap<TypeId, Interpreted>,
}

impl Default for Plans {
    fn default() -> Plans {
        Plans {
            kept: Mutex::new(Kept {
                sessions: Lru::new(PLAN_CAPACITY),
                uses: Lru::new(PLAN_CAPACITY),
                launches: launch::Planner::default(),
                interpreted: HashMap::new(),
            }),
        }
    }
}

/// Where a runtime keeps a session's plan.
#[derive(Clone, Debug)]
pub(crate) struct KeptPlan {
    key: PlanKey,
    uses: Arc<AtomicU64>,
    /// What making it took.
    pub(crate) made_ns: u64,
}

impl KeptPlan {
    /// How many sessions wanted it so far.
    pub(crate) fn uses(&self) -> u64 {
        self.uses.load(Relaxed)
    }
}

/// What is planned.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PlanOf {
    pub(crate) kind: PlanKind,
    /// The type of the pass, or of both.
    pub(crate) passes: TypeId,
    /// Of passes that are one program.
    pub(crate) links: Vec<Link>,
}

impl PlanOf {
    /// Of a pass by itself.
    pub(crate) fn pass(pass: TypeId, kind: PlanKind) -> PlanOf {
        PlanOf {
            kind,
            passes: pass,
            links: Vec::new(),
        }
    }
}

/// What a session's plan depends on, beside the pressures.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Layout {
    of: PlanOf,
    nodes: Vec<usize>,
    edges: Vec<usize>,
    available_bytes: Option<u64>,
}

impl Layout {
    /// Of this on these topologies, with so much memory for it.
    pub(crate) fn new(
        of: PlanOf,
        topology: &TopologyArgs<'_>,
        available_bytes: Option<u64>,
    ) -> Layout {
        let graphs = || topology.graphs.iter();
        Layout {
            of,
            nodes: graphs().map(|g| g.node_count()).collect(),
            edges: graphs().map(|g| g.edge_count()).collect(),
            available_bytes,
        }
    }
}

/// How long runs of one pass took on a device's interpreter, in all sessions of a runtime. A session that is opened for
/// one run then does not begin as if the pass had never run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interpreted(Arc<AtomicU64>);

impl Interpreted {
    pub(crate) fn ns(&self) -> u64 {
        self.0.load(Relaxed)
    }

    /// Runs took this much longer.
    pub(crate) fn add(&self, took: Duration) {
        let ns = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        let more = |before: u64| Some(before.saturating_add(ns));
        let _before = self.0.fetch_update(Relaxed, Relaxed, more);
    }
}

/// A session's plan.
#[derive(Clone, Debug)]
pub(crate) struct Planned {
    /// With the barriers that the budget takes.
    pub(crate) program: Arc<Program>,
    /// Of the topologies.
    pub(crate) sizes: Sizes,
    /// How memory is handed out.
    pub(crate) allocation: Allocation,
    /// Whose memory that is, where a budget asks for it.
    pub(crate) holder: Holder,
    /// What sweeps start with.
    pub(crate) start: Choice,
    /// What making it took.
    pub(crate) made_ns: u64,
}

impl Plans {
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The plan of a session, and where it is kept; made now unless it is there. A failure is not kept.
    pub(crate) fn session(
        &self,
        layout: Layout,
        (device, pressure): (u32, Pressure),
        make: &dyn Fn() -> Result<Planned, Error>,
    ) -> Result<(Planned, Option<KeptPlan>), Error> {
        let mut hasher = DefaultHasher::new();
        layout.hash(&mut hasher);
        let key = PlanKey {
            layout_hash: hasher.finish(),
            kind: layout.of.kind,
            device,
            pressure,
        };
        let mut kept = self.kept();
        let (of, planned) =
            (kept.sessions).get_or_make(key, |_| Ok::<_, Error>((layout.clone(), make()?)))?;
        // A hash is no proof: another layout may have the same.
        if *of != layout {
            return Ok((make()?, None));
        }
        let planned = planned.clone();
        let none = |_: &PlanKey| Ok::<_, Error>(Arc::default());
        let uses = Arc::clone(kept.uses.get_or_make(key, none)?);
        uses.fetch_add(1, Relaxed);
        let made_ns = planned.made_ns;
        Ok((planned, Some(KeptPlan { key, uses, made_ns })))
    }

    /// Keeps a plan no longer.
    pub(crate) fn forget(&self, plan: &KeptPlan) {
        self.kept().sessions.forget(&plan.key);
    }

    /// How to launch; remembered where there was no launch before.
    pub(crate) fn launch(
        &self,
        policy: &launch::Policy,
        request: &Request,
        previous: Option<Topology>,
    ) -> Result<Recommendation, LaunchError> {
        match previous {
            None => self.kept().launches.recommend(policy, request, None),
            Some(_) => launch::recommend(policy, request, previous),
        }
    }

    /// How long runs of a pass were interpreted. Fused passes have a pair's type.
    pub(crate) fn interpreted(&self, pass: TypeId) -> Interpreted {
        self.kept().interpreted.entry(pass).or_default().clone()
    }

    pub(crate) fn stats(&self) -> Planning {
        let kept = self.kept();
        Planning {
            sessions: kept.sessions.stats(),
            launches: kept.launches.stats(),
        }
    }
}
