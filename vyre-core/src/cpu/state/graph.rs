//! A topology in host memory, and what is known about it.

use crate::dsl::csr::Csr;
use crate::dsl::error::RunError;
use crate::run::args::no_memory_for;
use crate::vir0::module::Topology;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

/// A topology and what sweeps need to know about it.
#[derive(Debug)]
pub(crate) struct Graph {
    pub(crate) csr: Csr,
    pub(crate) max_degree: u32,
    pub(crate) mean_degree: u64,
    /// It does not fit in a cache.
    pub(crate) far: bool,
    /// Most edges lead to nodes of lower numbers.
    pub(crate) leads_down: bool,
    /// It is its own reverse.
    symmetric: OnceLock<bool>,
    /// Edges that were swept while that was not known and would have been good to know.
    missed: AtomicU64,
}

/// Offsets and targets from which a topology does not fit in a cache.
const FAR: usize = 8 << 20;

/// Whether three of four edges lead to nodes of lower numbers, as far as some thousand nodes show.
fn leads_down(csr: &Csr) -> bool {
    const SAMPLES: usize = 16_384;
    let nodes = csr.node_count();
    let (mut down, mut all) = (0, 0);
    for v in (0..nodes as u32).step_by(nodes.div_ceil(SAMPLES).max(1)) {
        // Of a hub, its first edges.
        for u in csr.neighbors(v).iter().take(16) {
            down += usize::from(u < v);
            all += 1;
        }
    }
    4 * down > 3 * all
}

pub(super) fn csr_bytes(csr: &Csr) -> u64 {
    4 * (csr.offsets().len() as u64 + csr.targets().len() as u64)
}

impl Graph {
    pub(super) fn new(csr: Cow<'_, Csr>, topology: &Topology) -> Result<Arc<Graph>, RunError> {
        let degrees = csr.offsets().windows(2).map(|w| w[1] - w[0]);
        Ok(Arc::new(Graph {
            max_degree: degrees.max().unwrap_or(0),
            mean_degree: (csr.edge_count() as u64).div_ceil(csr.node_count().max(1) as u64),
            far: csr.offsets().len() + csr.targets().len() >= FAR,
            leads_down: leads_down(&csr),
            csr: match csr {
                Cow::Owned(csr) => csr,
                Cow::Borrowed(csr) => {
                    let copy = csr.try_clone();
                    copy.ok_or_else(|| no_memory_for(topology, csr))?
                }
            },
            symmetric: OnceLock::new(),
            missed: AtomicU64::new(0),
        }))
    }

    /// Without nodes, to [`become_part`](Graph::become_part).
    pub(super) fn empty() -> Arc<Graph> {
        Arc::new(Graph {
            csr: Csr::empty(),
            max_degree: 0,
            mean_degree: 0,
            far: false,
            leads_down: false,
            symmetric: OnceLock::new(),
            missed: AtomicU64::new(0),
        })
    }

    /// As [`Csr::become_part`]; false where there is no memory.
    pub(super) fn become_part(&mut self, of: &Csr, nodes: Range<u32>, drops: bool) -> bool {
        let degree = self.csr.become_part(of, nodes, drops);
        let (nodes, edges) = (self.csr.node_count(), self.csr.edge_count());
        self.max_degree = degree.unwrap_or(0);
        self.mean_degree = (edges as u64).div_ceil(nodes.max(1) as u64);
        self.symmetric = OnceLock::new();
        self.missed = AtomicU64::new(0);
        degree.is_some()
    }

    /// Whether it is its own reverse, as far as is known. Finding out takes as long as a sweep or two over all edges:
    /// it is done once as many were swept that need not have been, of which `here` are about to be.
    pub(crate) fn is_symmetric(&self, here: u64) -> bool {
        if let Some(&known) = self.symmetric.get() {
            return known;
        }
        let missed = self.missed.fetch_add(here, Relaxed) + here;
        missed > self.csr.edge_count() as u64
            && *self.symmetric.get_or_init(|| self.csr.is_symmetric())
    }
}
