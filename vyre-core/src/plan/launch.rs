//! Launch policy: how to launch a run, decided from telemetry before anything is launched.
//!
//! [`recommend`] is pure: request and policy in, recommendation out. [`Planner`] remembers recommendations for the
//! first launches of sessions, where no launch before says more; a runtime owns one. The thresholds are fields of
//! [`Policy`]; the defaults are starting points, and measurements on the device at hand replace them. [`autotune`],
//! [`precondition`] and [`diffuse`] adjust knobs and priorities between runs.
//!
//! Some of what it answers waits for something to drive:
//!
//! | answer | waits for |
//! | --- | --- |
//! | [`Recommendation::queue`]: how full the queue is | queues that outlive a launch |
//! | [`Recommendation::hit_capacity`]: sessions ask for 0, since results have room by their declared sizes | relations |
//!
//! ```
//! use vyre_core::plan::launch::{Policy, Request, Route, Topology, recommend};
//! let request = Request {
//!     queue_len: 90_000,
//!     graph_nodes: 100_000,
//!     graph_edges: 750_000,
//!     hot_opcodes: 8,
//!     ..Request::on(132, 256, 1 << 30)
//! };
//! let launch = recommend(&Policy::default(), &request, None).unwrap();
//! assert_eq!((launch.topology, launch.route), (Topology::FusedDense, Route::Jit));
//! ```

use super::cache::{CacheStats, Lru};
use thiserror::Error;

/// What is to be launched, and what is known about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Request {
    /// Items waiting.
    pub queue_len: u64,
    /// Workers asked for; otherwise as many as the backend runs at once.
    pub requested_workers: Option<u32>,
    /// Workers that the backend runs at once: CTAs of a GPU, threads of a CPU.
    pub max_workers: u32,
    /// Lanes of a worker.
    pub lanes_per_worker: u32,
    /// Hits to make room for, if that is known. Waits for relations: sessions give 0.
    pub hit_capacity: Option<u64>,
    /// Hits that an item is expected to give.
    pub hits_per_item: u64,
    /// Opcodes that were executed often ([`Policy::hot_words`]).
    pub hot_opcodes: u32,
    /// Stretches of bytecode that were, which are kernels to sessions.
    pub hot_windows: u32,
    /// Items put back into the queue.
    pub requeues: u64,
    /// Launches that the oldest item has waited for.
    pub max_age: u64,
    /// Nodes of the graph.
    pub graph_nodes: u64,
    /// Edges of the graph.
    pub graph_edges: u64,
    /// Items of the longest sweep, if they are known.
    pub longest_sweep: Option<u64>,
    /// Active share of the nodes, if it was measured; otherwise taken from the queue.
    pub density_bps: Option<u32>,
    /// Memory in use, if it was measured; otherwise resident over budget.
    pub pressure_bps: Option<u32>,
    /// Bytes that stay on the device.
    pub resident_bytes: u64,
    /// Bytes allowed.
    pub budget_bytes: u64,
}

impl Request {
    /// An empty request to a backend: workers that it runs at once, lanes of each, bytes allowed.
    pub const fn on(max_workers: u32, lanes_per_worker: u32, budget_bytes: u64) -> Request {
        Request {
            queue_len: 0,
            requested_workers: None,
            max_workers,
            lanes_per_worker,
            hit_capacity: None,
            hits_per_item: 1,
            hot_opcodes: 0,
            hot_windows: 0,
            requeues: 0,
            max_age: 0,
            graph_nodes: 0,
            graph_edges: 0,
            longest_sweep: None,
            density_bps: None,
            pressure_bps: None,
            resident_bytes: 0,
            budget_bytes,
        }
    }
}

/// Thresholds of the decisions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Policy {
    /// Up to this density a frontier is sparse.
    pub sparse_bps: u32,
    /// From this density on it is dense.
    pub dense_bps: u32,
    /// From this memory pressure on memory is short.
    pub pressure_bps: u32,
    /// Half the band around each of the three that holds the previous topology.
    pub hysteresis_bps: u32,
    /// From this many edges on, hot dense sweeps are fused.
    pub fused_edges: u64,
    /// Workers shed when memory gets short.
    pub shed_bps: u32,
    /// Workers shed in addition as pressure rises to 10,000.
    pub shed_rise_bps: u32,
    /// Workers that a sparse frontier keeps.
    pub sparse_workers: u32,
    /// Where no sweep has more items, one worker does everything, and no barrier leaves it. 0: never.
    pub lone_worker_items: u64,
    /// Queued items for each lane from which the queue is saturated.
    pub saturated_per_lane: u64,
    /// Least room for hits.
    pub min_hits: u64,
    /// Room for each expected hit, unless memory is short.
    pub hit_slack: u64,
    /// Bytes of a hit.
    pub hit_bytes: u64,
    /// Queue length from which compiled code pays.
    pub jit_queue: u64,
    /// Hot opcodes from which compiled code pays.
    pub jit_opcodes: u32,
    /// Hot windows from which compiled code pays.
    pub jit_windows: u32,
    /// Times from which on what was executed is hot: an opcode, or a kernel's words together
    /// ([`heat`](super::heat)). An H100 interprets the default in about ten milliseconds.
    pub hot_words: u64,
    /// Age from which work goes before newer work.
    pub promote_age: u64,
}

impl Default for Policy {
    fn default() -> Policy {
        Policy {
            sparse_bps: 500,
            dense_bps: 4_000,
            pressure_bps: 8_500,
            hysteresis_bps: 250,
            fused_edges: 65_536,
            shed_bps: 2_500,
            shed_rise_bps: 2_500,
            sparse_workers: 32,
            lone_worker_items: 0,
            saturated_per_lane: 4,
            min_hits: 1_024,
            hit_slack: 2,
            hit_bytes: 16,
            jit_queue: 4_096,
            jit_opcodes: 8,
            jit_windows: 4,
            hot_words: 1 << 28,
            promote_age: 32,
        }
    }
}

/// Shape of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Topology {
    /// Nothing to do.
    Empty,
    /// Few nodes are active.
    Sparse,
    /// Neither few nor many are.
    Hybrid,
    /// Many are.
    Dense,
    /// Many are, and the code is hot enough for compiled code.
    FusedDense,
    /// Memory is short: fewer workers and no slack.
    MemoryConstrained,
}

/// How full the queue is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QueuePressure {
    /// No items.
    Empty,
    /// Fewer items than lanes.
    Light,
    /// Enough for all lanes.
    Balanced,
    /// Items were put back, or each lane has several to do.
    Saturated,
}

/// Whom a barrier waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// The threads of the only worker.
    One,
    /// All workers of the launch.
    All,
}

/// What executes the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Route {
    /// The bytecode interpreter.
    Interpreter,
    /// Compiled code.
    Jit,
}

/// How to launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Recommendation {
    /// Shape.
    pub topology: Topology,
    /// Workers to launch.
    pub workers: u32,
    /// Whom barriers wait for.
    pub scope: Scope,
    /// How full the queue is, for the lanes of these workers. Waits for queues that outlive a launch.
    pub queue: QueuePressure,
    /// Hits to make room for. Waits for relations.
    pub hit_capacity: u64,
    /// Resident bytes and hits.
    pub peak_bytes: u64,
    /// Interpreter or compiled code.
    pub route: Route,
    /// Work that has waited goes before new work.
    pub promote: bool,
    /// Density it was decided from; `None` for a graph without nodes.
    pub density_bps: Option<u32>,
    /// Memory pressure it was decided from.
    pub pressure_bps: u32,
}

/// Why there is no recommendation, or no step.
#[derive(Clone, Error, PartialEq)]
#[allow(missing_docs, reason = "the message says what the fields are")]
pub enum LaunchError {
    /// A number that must not be 0.
    #[error("{field} is 0")]
    Zero { field: &'static str },
    /// A share over 10,000.
    #[error("{field} is {actual}; at most 10000 are possible")]
    OutOfRange { field: &'static str, actual: u32 },
    /// A number does not fit.
    #[error("{field} overflows 64 bits")]
    Overflow { field: &'static str },
    /// The launch would run out of memory.
    #[error("the launch needs {needed_bytes} bytes; budget is {budget_bytes}")]
    OutOfMemory {
        needed_bytes: u64,
        budget_bytes: u64,
    },
    /// Arrays that do not belong together.
    #[error("{field} has {actual} entries; {expected} are needed")]
    Shape {
        field: &'static str,
        actual: usize,
        expected: usize,
    },
    /// A link to an item that is not there.
    #[error("link {link} names item {item}; there are {items} items")]
    UnknownItem {
        link: usize,
        item: usize,
        items: usize,
    },
    /// A parameter that is not a number in its range.
    #[error("{field} is {value}; it must be a finite number in its range")]
    Parameter { field: &'static str, value: f64 },
}

crate::debug_is_display!(LaunchError);

const FULL_BPS: u32 = 10_000;

/// How to launch what is requested. The topology of the previous launch is held near a threshold.
pub fn recommend(
    policy: &Policy,
    request: &Request,
    previous: Option<Topology>,
) -> Result<Recommendation, LaunchError> {
    for (field, value) in [
        ("max_workers", u64::from(request.max_workers)),
        ("lanes_per_worker", u64::from(request.lanes_per_worker)),
        (
            "requested_workers",
            request.requested_workers.map_or(1, u64::from),
        ),
        ("budget_bytes", request.budget_bytes),
    ] {
        if value == 0 {
            return Err(LaunchError::Zero { field });
        }
    }
    for (field, value) in [
        ("density_bps", request.density_bps),
        ("pressure_bps", request.pressure_bps),
    ] {
        if let Some(actual) = value.filter(|&v| v > FULL_BPS) {
            return Err(LaunchError::OutOfRange { field, actual });
        }
    }
    let density_bps = request.density_bps.or_else(|| {
        let active = request.queue_len.min(request.graph_nodes);
        share_bps(active, request.graph_nodes).map(|bps| bps.max(1))
    });
    let pressure_bps = request
        .pressure_bps
        .or_else(|| share_bps(request.resident_bytes, request.budget_bytes))
        .expect("the budget is not 0");
    let topology = policy.topology(request, density_bps, pressure_bps, previous);
    let short = topology == Topology::MemoryConstrained;
    let lone = policy.lone_worker_items;
    let tiny = lone > 0 && request.longest_sweep.is_some_and(|items| items <= lone);
    let workers = match request.requested_workers {
        None if tiny => 1,
        _ => policy.workers(request, topology, density_bps, pressure_bps),
    };
    let lanes = u64::from(workers) * u64::from(request.lanes_per_worker);
    let overflow = |field| LaunchError::Overflow { field };

    let hit_capacity = match request.hit_capacity {
        Some(explicit) => explicit,
        None => request
            .queue_len
            .checked_mul(request.hits_per_item)
            .and_then(|hits| hits.checked_mul(if short { 1 } else { policy.hit_slack }))
            .ok_or_else(|| overflow("hit capacity"))?
            .max(policy.min_hits),
    };
    let peak_bytes = hit_capacity
        .checked_mul(policy.hit_bytes)
        .and_then(|hits| hits.checked_add(request.resident_bytes))
        .ok_or_else(|| overflow("peak bytes"))?;
    if peak_bytes > request.budget_bytes {
        return Err(LaunchError::OutOfMemory {
            needed_bytes: peak_bytes,
            budget_bytes: request.budget_bytes,
        });
    }
    let queue = if request.queue_len == 0 {
        QueuePressure::Empty
    } else if request.requeues > 0
        || request.queue_len >= lanes.saturating_mul(policy.saturated_per_lane)
    {
        QueuePressure::Saturated
    } else if request.queue_len >= lanes {
        QueuePressure::Balanced
    } else {
        QueuePressure::Light
    };
    let hot = request.queue_len >= policy.jit_queue
        || request.hot_opcodes >= policy.jit_opcodes
        || request.hot_windows >= policy.jit_windows
        || topology == Topology::FusedDense;
    Ok(Recommendation {
        topology,
        workers,
        scope: if workers == 1 { Scope::One } else { Scope::All },
        queue,
        hit_capacity,
        peak_bytes,
        route: if hot { Route::Jit } else { Route::Interpreter },
        promote: policy.promotes(Age {
            requeues: request.requeues,
            waited: request.max_age,
        }),
        density_bps,
        pressure_bps,
    })
}

/// A share in basis points, at most 10,000; `None` of nothing.
fn share_bps(part: u64, whole: u64) -> Option<u32> {
    let bps = (u128::from(part) * u128::from(FULL_BPS)).checked_div(u128::from(whole))?;
    Some(bps.min(u128::from(FULL_BPS)) as u32)
}

impl Policy {
    fn topology(
        &self,
        request: &Request,
        density_bps: Option<u32>,
        pressure_bps: u32,
        previous: Option<Topology>,
    ) -> Topology {
        use Topology as T;
        let band = self.hysteresis_bps;
        let held = |is: &[Topology]| previous.is_some_and(|p| is.contains(&p));
        if request.queue_len == 0 {
            return T::Empty;
        }
        let short_from = if held(&[T::MemoryConstrained]) {
            self.pressure_bps.saturating_sub(band)
        } else {
            self.pressure_bps
        };
        if pressure_bps >= short_from {
            return T::MemoryConstrained;
        }
        let Some(density_bps) = density_bps else {
            return T::Hybrid;
        };
        let sparse_to = if held(&[T::Sparse]) {
            self.sparse_bps.saturating_add(band)
        } else if held(&[T::Hybrid, T::Dense, T::FusedDense]) {
            self.sparse_bps.saturating_sub(band)
        } else {
            self.sparse_bps
        };
        if density_bps <= sparse_to {
            return T::Sparse;
        }
        // Just below the threshold, either dense form stays as it is.
        if let Some(dense @ (T::Dense | T::FusedDense)) = previous
            && density_bps < self.dense_bps
            && density_bps >= self.dense_bps.saturating_sub(band)
        {
            return dense;
        }
        let dense_from = if held(&[T::Sparse, T::Hybrid]) {
            self.dense_bps.saturating_add(band)
        } else {
            self.dense_bps
        };
        if density_bps < dense_from {
            T::Hybrid
        } else if request.graph_edges >= self.fused_edges
            && (request.hot_opcodes > 0 || request.hot_windows > 0)
        {
            T::FusedDense
        } else {
            T::Dense
        }
    }

    fn workers(
        &self,
        request: &Request,
        topology: Topology,
        density_bps: Option<u32>,
        pressure_bps: u32,
    ) -> u32 {
        let all = request
            .requested_workers
            .map_or(request.max_workers, |n| n.min(request.max_workers));
        let scaled = |by: u64, of: u64| (u64::from(all) * by / of.max(1)) as u32;
        match topology {
            Topology::MemoryConstrained => {
                let over = u64::from(pressure_bps.saturating_sub(self.pressure_bps));
                let span = u64::from(FULL_BPS.saturating_sub(self.pressure_bps)).max(1);
                let rise = u64::from(self.shed_rise_bps) * over / span;
                let shed = (u64::from(self.shed_bps) + rise).min(FULL_BPS.into());
                all.saturating_sub(scaled(shed, FULL_BPS.into())).max(1)
            }
            Topology::Sparse => {
                let density = u64::from(density_bps.unwrap_or(self.sparse_bps));
                let limit = u64::from(self.sparse_bps).max(1);
                scaled(density.min(limit), limit).max(all.min(self.sparse_workers))
            }
            Topology::Empty | Topology::Hybrid | Topology::Dense | Topology::FusedDense => all,
        }
    }

    /// Whether work has waited long enough to go before new work.
    pub fn promotes(&self, age: Age) -> bool {
        age.requeues > 0 || age.waited >= self.promote_age
    }
}

/// How long a piece of work has waited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Age {
    /// Times it was put back.
    pub requeues: u64,
    /// Launches it waited for.
    pub waited: u64,
}

impl Age {
    /// After one more launch without it.
    pub fn waited_once(self) -> Result<Age, LaunchError> {
        let waited = self.waited.checked_add(1);
        let waited = waited.ok_or(LaunchError::Overflow { field: "waited" })?;
        Ok(Age { waited, ..self })
    }

    /// After it was put back once more.
    pub fn requeued(self) -> Result<Age, LaunchError> {
        let requeues = self.requeues.checked_add(1);
        let requeues = requeues.ok_or(LaunchError::Overflow { field: "requeues" })?;
        Ok(Age { requeues, ..self })
    }
}

/// Recommendations that a planner remembers.
pub const MEMORY: usize = 128;

/// [`recommend`] with a memory of the last [`MEMORY`] requests. Errors, and requests with a previous topology, are not
/// remembered.
#[derive(Clone, Debug)]
pub struct Planner {
    memory: Lru<(Policy, Request), Recommendation>,
}

impl Default for Planner {
    fn default() -> Planner {
        Planner {
            memory: Lru::new(MEMORY),
        }
    }
}

impl Planner {
    /// As [`recommend`].
    pub fn recommend(
        &mut self,
        policy: &Policy,
        request: &Request,
        previous: Option<Topology>,
    ) -> Result<Recommendation, LaunchError> {
        if previous.is_some() {
            return recommend(policy, request, previous);
        }
        self.memory
            .get_or_make((*policy, *request), |(p, r)| recommend(p, r, None))
            .copied()
    }

    /// What the memory did so far.
    pub fn stats(&self) -> CacheStats {
        self.memory.stats()
    }
}

/// The candidate with the lowest measured cost; the first of equals. A cost that is NaN never wins; without any, the
/// current value stays.
pub fn autotune(current: u32, candidates: &[u32], costs: &[f64]) -> Result<u32, LaunchError> {
    if candidates.len() != costs.len() {
        return Err(LaunchError::Shape {
            field: "costs",
            actual: costs.len(),
            expected: candidates.len(),
        });
    }
    let mut best: Option<(f64, u32)> = None;
    for (&candidate, &cost) in candidates.iter().zip(costs) {
        if !cost.is_nan() && best.is_none_or(|(lowest, _)| cost < lowest) {
            best = Some((cost, candidate));
        }
    }
    Ok(best.map_or(current, |(_, candidate)| candidate))
}

/// A preconditioned step for continuous knobs: `-rate x M x gradient`. The matrix is given by rows, one after the
/// other.
pub fn precondition(rate: f64, matrix: &[f64], gradient: &[f64]) -> Result<Vec<f64>, LaunchError> {
    let n = gradient.len();
    let expected = n.checked_mul(n);
    let expected = expected.ok_or(LaunchError::Overflow { field: "matrix" })?;
    if matrix.len() != expected {
        return Err(LaunchError::Shape {
            field: "matrix",
            actual: matrix.len(),
            expected,
        });
    }
    let rows = matrix.chunks_exact(n.max(1));
    Ok(rows
        .map(|row| -rate * row.iter().zip(gradient).map(|(m, g)| m * g).sum::<f64>())
        .collect())
}

/// How priorities spread among siblings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Diffusion {
    /// Share of a difference that moves in a round, 0 to 1.
    pub damping: f64,
    /// Share of what an item gives that arrives, 0 to 1. At 1 the sum stays the same.
    pub restriction: f64,
    /// Rounds.
    pub rounds: u32,
}

/// Lets priorities diffuse over a graph of siblings: pairs of item numbers, each a link in both directions.
///
/// A round is one step of the heat equation with the graph's Laplacian. A link carries `damping / max(degrees of its
/// ends)`
/// of the difference (Metropolis weights: Xiao and Boyd, "Fast linear iterations for distributed averaging", 2004), so
/// that it cannot oscillate however many siblings an item has. Items without links keep their value.
pub fn diffuse(
    priorities: &[f64],
    links: &[(usize, usize)],
    diffusion: &Diffusion,
) -> Result<Vec<f64>, LaunchError> {
    let items = priorities.len();
    for (field, value) in [
        ("damping", diffusion.damping),
        ("restriction", diffusion.restriction),
    ] {
        if !(0.0..=1.0).contains(&value) {
            return Err(LaunchError::Parameter { field, value });
        }
    }
    if let Some(&value) = priorities.iter().find(|p| !p.is_finite()) {
        return Err(LaunchError::Parameter {
            field: "priority",
            value,
        });
    }
    let mut degree = vec![0u32; items];
    for (link, &(a, b)) in links.iter().enumerate() {
        for item in [a, b] {
            match degree.get_mut(item) {
                Some(d) => *d += u32::from(a != b),
                None => return Err(LaunchError::UnknownItem { link, item, items }),
            }
        }
    }
    let mut now = priorities.to_vec();
    for _ in 0..diffusion.rounds {
        let mut change = vec![0.0; items];
        for &(a, b) in links.iter().filter(|(a, b)| a != b) {
            let weight = diffusion.damping / f64::from(degree[a].max(degree[b]));
            change[a] += weight * (diffusion.restriction * now[b] - now[a]);
            change[b] += weight * (diffusion.restriction * now[a] - now[b]);
        }
        for (value, change) in now.iter_mut().zip(change) {
            *value += change;
        }
    }
    Ok(now)
}
