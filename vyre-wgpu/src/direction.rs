//! Direction: whether searches of a run may pull, so that nodes look for an edge from the frontier instead of the frontier
//! pushing along all of its edges.
//!
//! It takes a dispatch more a round, stamps of nodes, and a graph that is its own reverse, or a pass that names the reverse.
//! So it is done once frontiers of earlier runs have been so wide that it would have paid, and the device has said that
//! the graphs are symmetric. It is asked at the start of a run; the next ones know.

use crate::plan::Plan;
use vyre_core::vir0::sizes::Sizes;

/// A frontier has to have an edge for so many nodes, because each node has to be asked whether it waits.
const NODES: u64 = 4;

/// Fewer edges are pushed along faster than anything else is found out.
const FEW: u64 = 1 << 18;

/// Whether graphs are their own reverse, where sweeps that may pull need them to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Symmetric {
    Unknown,
    /// The device looks in this run.
    Asked,
    Known(bool),
}

/// What a session knows of it.
#[derive(Debug)]
pub(crate) struct Direction {
    /// The fewest edges of a frontier that sweeps of this run pull from; 0: none does.
    pub(crate) pulls: u32,
    /// Items of wide frontiers that were pushed from.
    pub(crate) missed: u64,
    /// From how many edges on, where that is fixed.
    pub(crate) from: Option<u32>,
    symmetric: Symmetric,
}

impl Direction {
    pub(crate) fn new() -> Direction {
        Direction {
            pulls: 0,
            missed: 0,
            from: None,
            symmetric: Symmetric::Unknown,
        }
    }

    /// At the start of a run: whether sweeps of it pull, and whether the device is asked about its graphs.
    pub(crate) fn begin(&mut self, plan: &Plan, sizes: &Sizes) -> bool {
        self.pulls = 0;
        if !plan.may_pull() || self.from == Some(0) {
            return false;
        }
        let edges = sizes.edges.iter().copied().max().unwrap_or(0);
        let pays = match self.from {
            Some(_) => true,
            None => self.missed >= sizes.nodes && edges >= FEW,
        };
        match self.symmetric {
            // What was asked in a run that did not come to a look is asked again.
            Symmetric::Unknown | Symmetric::Asked if pays && !plan.asked.is_empty() => {
                self.symmetric = Symmetric::Asked;
                return true;
            }
            Symmetric::Unknown if pays => self.symmetric = Symmetric::Known(true),
            _ => {}
        }
        if self.symmetric == Symmetric::Known(true) {
            let from = self.from.map(u64::from);
            let from = from.unwrap_or((sizes.nodes / NODES).max(FEW));
            self.pulls = from.min(u32::MAX.into()) as u32;
        }
        false
    }

    /// There is no room for stamps.
    pub(crate) fn push(&mut self) {
        self.pulls = 0;
        self.symmetric = Symmetric::Known(false);
    }

    /// The host has looked at `control`.
    pub(crate) fn look(&mut self, plan: &Plan, control: &[u32]) {
        if self.symmetric == Symmetric::Asked {
            let all = plan.asked.iter().all(|asked| control[asked.unless] == 0);
            self.symmetric = Symmetric::Known(all);
        }
    }
}
