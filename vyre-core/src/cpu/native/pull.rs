//! Sweeps over a frontier's edges that pull: each node that may be claimed asks for one edge into it.

use crate::cpu::state::Graph;
use crate::dsl::csr::Csr;
use crate::plan::pull::{self, Claim};
use crate::vir0::module::{Domain, Program, TopologyId};
use std::cell::RefCell;
use std::sync::Arc;

/// A sweep over a frontier's edges that pulls where that looks at fewer edges; see [`crate::plan::pull`].
#[derive(Debug)]
pub(super) struct Pull {
    claim: Claim,
    /// The topology with the edges in, if the pass has one.
    into: Option<TopologyId>,
    /// The frontier, a bit a node.
    pub(super) front: Vec<u64>,
    /// Nodes that are known to be claimed.
    pub(super) done: Vec<u64>,
    /// Edges out of the frontiers of this fixpoint so far.
    explored: u64,
    /// Those of them that lead out of nodes which `done` does not know.
    unknown: u64,
    /// Sweeps of this run that pulled.
    pub(super) turned: u64,
}

impl Pull {
    /// A search goes on by pushing until its frontier has one in `SHARE` of the edges that are left.
    const SHARE: u64 = 14;
    /// And one edge for `NODES` nodes: each of them has to be asked whether it waits.
    const NODES: u64 = 4;
    /// Fewer items are not worth a thought.
    const FEW: usize = 256;

    pub(super) fn all(program: &Program) -> Vec<Option<RefCell<Pull>>> {
        let of = |wave| {
            let claim = pull::claim(program, wave)?;
            let Domain::EdgesFrom(topology, _) = wave.domain else {
                return None;
            };
            Some(RefCell::new(Pull {
                claim,
                into: pull::reverse(program, topology),
                front: Vec::new(),
                done: Vec::new(),
                explored: 0,
                unknown: 0,
                turned: 0,
            }))
        };
        program.waves.iter().map(of).collect()
    }

    /// Gives up the memory of the bitmaps.
    pub(super) fn forget_bitmaps(&mut self) {
        (self.front, self.done) = (Vec::new(), Vec::new());
    }

    /// The edges in, if this round should look at them. Then `front` and `done` are up to date.
    pub(super) fn turn<'g>(
        &mut self,
        graphs: &'g [Arc<Graph>],
        topology: TopologyId,
        items: &[u32],
        round: u32,
    ) -> Option<&'g Csr> {
        let graph = &graphs[topology.index()];
        if round == 0 {
            (self.explored, self.unknown) = (0, 0);
            self.done.clear();
        }
        let most = items.len() as u64 * u64::from(graph.max_degree);
        let few = |pull: &mut Pull| {
            let here = most.min(items.len() as u64 * graph.mean_degree);
            pull.explored += here;
            pull.unknown += here;
            None
        };
        if items.len() < Self::FEW {
            return few(self);
        }
        let (all, nodes) = (graph.csr.edge_count() as u64, graph.csr.node_count() as u64);
        let wanted = (all.saturating_sub(self.explored) / Self::SHARE).max(nodes / Self::NODES);
        if most < wanted {
            return few(self);
        }
        let degree = |&v: &u32| u64::from(graph.csr.degree(v));
        let here: u64 = items.iter().map(degree).sum();
        let dense = here > wanted && here > self.unknown && self.claim.holds_in(round);
        self.explored += here;
        let into = match self.into {
            _ if !dense => None,
            Some(into) => Some(&graphs[into.index()]),
            None => graph.is_symmetric(here).then_some(graph),
        };
        let Some(into) = into else {
            self.unknown += here;
            return None;
        };
        let words = nodes.div_ceil(64) as usize;
        let room = |bits: &mut Vec<u64>| {
            bits.try_reserve_exact(words.saturating_sub(bits.len()))
                .is_ok()
        };
        self.front.clear();
        if !(room(&mut self.done) && room(&mut self.front)) {
            self.unknown += here;
            return None;
        }
        self.done.resize(words, 0);
        self.front.resize(words, 0);
        for &v in items {
            self.front[v as usize / 64] |= 1 << (v % 64);
        }
        // In round 0 the items are somebody else's.
        if round > 0 {
            for (done, front) in self.done.iter_mut().zip(&self.front) {
                *done |= front;
            }
        } else {
            self.unknown += here;
        }
        self.turned += 1;
        Some(&into.csr)
    }
}
