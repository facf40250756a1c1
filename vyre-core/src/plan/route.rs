//! Routes of a barrier group: sparse, dense, hybrid or fused, decided from pressure.
//!
//! The CPU executors follow them sweep by sweep, over frontiers: each wave starts with the route that was planned for
//! the launch, and the previous route's band (hysteresis) decides when it goes over to another. On CUDA a launch has one
//! route, and within it the device chooses scope and direction of each round.
//!
//! | route | what a CPU executor does | what the megakernel does |
//! | --- | --- | --- |
//! | warp sparse | a list; threads share it only from a fourth over the size from which all threads are worth it | lists alone: rounds of few items are narrow, and no round pulls |
//! | sparse | a list; threads share it from a fourth below that size on | the same |
//! | hybrid | the same | lists and bitmaps: a round pulls where its frontier has many of the edges that are left ([`super::pull`]) |
//! | dense, block dense | the same, and a bitmap of the nodes first brings the list into their order, where no result shows that ([`may_order`]) | the same |
//! | fused wave | VIR0 takes waves of a group over the same items in one sweep | not asked for: no wave of a group waits for another |
//!
//! Natively whether a sweep pulls follows from its edges, not from its route.
//!
//! Measurements are first reduced to a [`Pressure`]: on which side of each threshold they lie. The route follows from
//! the pressure alone. So two samples with one pressure are equivalent, a cache keyed by it ([`super::cache`]) gives
//! the same answer whatever was asked first, and a previous route (hysteresis) is only a shift of the thresholds.
//!
//! ```
//! use vyre_core::plan::route::{Policy, Route, Sample, choose};
//! let sample = Sample {
//!     memory_bps: 5_000,
//!     fusion: 0.95,
//!     dispatch_ns: 1_000,
//!     overhead_ns: 250,
//!     readback_bytes: 1 << 20,
//!     density: 0.5,
//!     mean_degree: 4.0,
//! };
//! let pressure = Policy::default().pressure(&sample, None).unwrap();
//! assert_eq!(choose(pressure, None).unwrap().route, Route::FusedWave);
//! ```

use super::memory::{Scratch, WaveBytes};
use crate::vir0::group::groups_of;
use crate::vir0::module::{Agreement, Program, Step, Wave};
use std::fmt;
use thiserror::Error;

/// How a group runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Route {
    /// A warp for each active item.
    WarpSparse,
    /// A list of active items.
    Sparse,
    /// Lists and bitmaps side by side.
    Hybrid,
    /// A bitmap.
    Dense,
    /// A bitmap, a block for each range of nodes.
    BlockDense,
    /// All waves of the group in one sweep.
    FusedWave,
}

impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Route::WarpSparse => "warp sparse",
            Route::Sparse => "sparse",
            Route::Hybrid => "hybrid",
            Route::Dense => "dense",
            Route::BlockDense => "block dense",
            Route::FusedWave => "fused wave",
        })
    }
}

/// The share of waves with another wave in their barrier group, which fusing them would merge.
pub fn fusion(program: &Program) -> f64 {
    let groups = groups_of(&program.schedule);
    let waves = program.schedule.iter().zip(groups);
    let waves = waves.filter(|(step, _)| matches!(step, Step::Wave(_)));
    let groups: Vec<u32> = waves.map(|(_, group)| group).collect();
    let merged = groups
        .chunk_by(|a, b| a == b)
        .filter(|group| group.len() > 1);
    let merged: usize = merged.map(<[u32]>::len).sum();
    merged as f64 / groups.len().max(1) as f64
}

/// Whether the order in which a wave takes the items of its frontier can be seen in no result, so that a dense route
/// may sweep them in the order of the nodes.
pub fn may_order(program: &Program, wave: &Wave) -> bool {
    let Some(f) = wave.domain.frontier() else {
        return false;
    };
    let of_nodes = |f: &crate::vir0::module::Queue| f.fields.is_empty();
    let open = matches!(program.agreement, Agreement::Open(_));
    !open && program.frontiers.get(f.index()).is_some_and(of_nodes)
}

impl Route {
    /// Scratch that the route keeps for a wave.
    pub const fn scratch(self) -> Scratch {
        let (factor, at_least_bytes) = match self {
            Route::WarpSparse => (1, 32),
            Route::Sparse => (1, 0),
            Route::Dense => (2, 0),
            Route::BlockDense => (2, 1024),
            Route::Hybrid => (3, 0),
            Route::FusedWave => (4, 0),
        };
        Scratch {
            factor,
            at_least_bytes,
        }
    }

    /// A list alone says what is swept.
    pub const fn is_sparse(self) -> bool {
        match self {
            Route::WarpSparse | Route::Sparse => true,
            Route::Hybrid | Route::Dense | Route::BlockDense | Route::FusedWave => false,
        }
    }

    /// A bitmap of the nodes says what is swept.
    pub const fn is_dense(self) -> bool {
        match self {
            Route::Dense | Route::BlockDense => true,
            Route::WarpSparse | Route::Sparse | Route::Hybrid | Route::FusedWave => false,
        }
    }

    /// Place along the density axis; `None` for a route that density does not choose.
    const fn band(self) -> Option<u8> {
        match self {
            Route::WarpSparse => Some(0),
            Route::Sparse => Some(1),
            Route::Hybrid => Some(2),
            Route::Dense => Some(3),
            Route::BlockDense => Some(4),
            Route::FusedWave => None,
        }
    }
}

/// What was measured or is expected.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Memory in use, of the budget.
    pub memory_bps: u32,
    /// Share of the work that fusion would merge, 0 to 1.
    pub fusion: f64,
    /// Time of a dispatch.
    pub dispatch_ns: u64,
    /// Part of it that is launch overhead.
    pub overhead_ns: u64,
    /// Bytes read back.
    pub readback_bytes: u64,
    /// Active share of the nodes, 0 to 1.
    pub density: f64,
    /// Mean out-degree.
    pub mean_degree: f64,
}

/// The thresholds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Policy {
    /// From this memory pressure on: sparse.
    pub sparse_memory_bps: u32,
    /// Up to this memory pressure: fusion is possible.
    pub fused_memory_bps: u32,
    /// From this share on: fusion pays.
    pub fused_fusion: f64,
    /// From this launch share on: fusion pays.
    pub fused_launch_bps: u32,
    /// From this readback on: fusion pays.
    pub fused_readback_bytes: u64,
    /// Upper ends of the warp-sparse and sparse bands, lower ends of the dense and block-dense bands.
    pub density: [f64; 4],
    /// Up to this degree: warp sparse.
    pub warp_degree: f64,
    /// From this degree on: dense and block dense.
    pub dense_degree: f64,
    /// Half the band around each density threshold that holds the previous route.
    pub hysteresis: f64,
}

impl Default for Policy {
    fn default() -> Policy {
        Policy {
            sparse_memory_bps: 9_000,
            fused_memory_bps: 8_500,
            fused_fusion: 0.70,
            fused_launch_bps: 1_500,
            fused_readback_bytes: 4_096,
            density: [0.03125, 0.125, 0.70, 0.85],
            warp_degree: 8.0,
            dense_degree: 2.0,
            hysteresis: 0.025,
        }
    }
}

/// Where a sample lies among the thresholds: all that the route depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Pressure {
    /// Memory calls for the sparse route.
    pub memory_high: bool,
    /// Memory, fusion, launch share and readback all allow the fused route.
    pub fusible: bool,
    /// 0 to 4: warp sparse, sparse, hybrid, dense, block dense.
    pub density_band: u8,
    /// Degree allows warp sparse.
    pub low_degree: bool,
    /// Degree allows dense routes.
    pub high_degree: bool,
}

/// What a group takes, to be checked against a budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Need {
    /// What cannot be split further: the largest wave.
    pub bytes: WaveBytes,
    /// The resident graph.
    pub graph_bytes: u64,
    /// Allowed.
    pub budget_bytes: u64,
}

/// The route that a budget ruled out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Downgrade {
    /// What pressure chose.
    pub from: Route,
    /// What it needs.
    pub needed_bytes: u64,
    /// Allowed.
    pub budget_bytes: u64,
}

/// A decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Choice {
    /// What runs.
    pub route: Route,
    /// Bytes it needs, when a need was given.
    pub needed_bytes: Option<u64>,
    /// Set when another route was over the budget.
    pub downgrade: Option<Downgrade>,
}

/// Why there is no route.
#[derive(Clone, Error, PartialEq)]
pub enum RouteError {
    /// A share is not a number from 0 to 1, or a degree is negative or not finite.
    #[error("{field} is {value}; it must be a finite number in its range")]
    OutOfRange {
        /// Field of the sample.
        field: &'static str,
        /// What it holds.
        value: f64,
    },
    /// A launch share needs a dispatch time.
    #[error("dispatch_ns is 0; the launch share is unknown")]
    NoDispatch,
    /// A number does not fit in 64 bits.
    #[error("{field} overflow 64 bits")]
    Overflow {
        /// What was computed.
        field: &'static str,
    },
    /// Even the sparse route is over the budget.
    #[error("the sparse route needs {needed_bytes} bytes; budget is {budget_bytes}")]
    OverBudget {
        /// What it needs.
        needed_bytes: u64,
        /// Allowed.
        budget_bytes: u64,
    },
}

crate::debug_is_display!(RouteError);

impl Policy {
    /// Where a sample lies among the thresholds, which the previous route shifts in its own favour.
    pub fn pressure(
        &self,
        sample: &Sample,
        previous: Option<Route>,
    ) -> Result<Pressure, RouteError> {
        let share = |field, value: f64| match value {
            v if (0.0..=1.0).contains(&v) => Ok(v),
            value => Err(RouteError::OutOfRange { field, value }),
        };
        let density = share("density", sample.density)?;
        let fusion = share("fusion", sample.fusion)?;
        let degree = sample.mean_degree;
        if !(degree.is_finite() && degree >= 0.0) {
            return Err(RouteError::OutOfRange {
                field: "mean_degree",
                value: degree,
            });
        }
        if sample.dispatch_ns == 0 {
            return Err(RouteError::NoDispatch);
        }
        let launch_bps = u128::from(sample.overhead_ns) * 10_000 / u128::from(sample.dispatch_ns);
        let held = previous.and_then(Route::band);
        let threshold = |at: u8| {
            let shift = match held {
                None => 0.0,
                Some(band) if band <= at => self.hysteresis,
                Some(_) => -self.hysteresis,
            };
            self.density[usize::from(at)] + shift
        };
        let density_band = if density <= threshold(0) {
            0
        } else if density <= threshold(1) {
            1
        } else if density >= threshold(3) {
            4
        } else if density >= threshold(2) {
            3
        } else {
            2
        };
        Ok(Pressure {
            memory_high: sample.memory_bps >= self.sparse_memory_bps,
            fusible: fusion >= self.fused_fusion
                && launch_bps >= u128::from(self.fused_launch_bps)
                && sample.readback_bytes >= self.fused_readback_bytes
                && sample.memory_bps <= self.fused_memory_bps,
            density_band,
            low_degree: degree <= self.warp_degree,
            high_degree: degree >= self.dense_degree,
        })
    }
}

/// The route for a pressure; over the budget, the sparse route instead.
pub fn choose(pressure: Pressure, need: Option<&Need>) -> Result<Choice, RouteError> {
    let route = by_pressure(pressure);
    let Some(need) = need else {
        return Ok(Choice {
            route,
            needed_bytes: None,
            downgrade: None,
        });
    };
    let needed_bytes = needed(route, need)?;
    if needed_bytes <= need.budget_bytes {
        return Ok(Choice {
            route,
            needed_bytes: Some(needed_bytes),
            downgrade: None,
        });
    }
    let sparse_bytes = needed(Route::Sparse, need)?;
    if sparse_bytes > need.budget_bytes {
        return Err(RouteError::OverBudget {
            needed_bytes: sparse_bytes,
            budget_bytes: need.budget_bytes,
        });
    }
    Ok(Choice {
        route: Route::Sparse,
        needed_bytes: Some(sparse_bytes),
        downgrade: Some(Downgrade {
            from: route,
            needed_bytes,
            budget_bytes: need.budget_bytes,
        }),
    })
}

fn by_pressure(p: Pressure) -> Route {
    if p.memory_high {
        Route::Sparse
    } else if p.fusible {
        Route::FusedWave
    } else if p.density_band == 0 && p.low_degree {
        Route::WarpSparse
    } else if p.density_band <= 1 {
        Route::Sparse
    } else if p.density_band >= 4 && p.high_degree {
        Route::BlockDense
    } else if p.density_band >= 3 && p.high_degree {
        Route::Dense
    } else {
        Route::Hybrid
    }
}

fn needed(route: Route, need: &Need) -> Result<u64, RouteError> {
    let scratch = route
        .scratch()
        .bytes(need.bytes.scratch_bytes)
        .ok_or(RouteError::Overflow {
            field: "scratch bytes",
        })?;
    [need.bytes.frontier_bytes, need.bytes.output_bytes, scratch]
        .iter()
        .try_fold(need.graph_bytes, |sum, b| sum.checked_add(*b))
        .ok_or(RouteError::Overflow {
            field: "bytes of the group",
        })
}
