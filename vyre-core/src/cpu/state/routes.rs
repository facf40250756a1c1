//! How sweeps over frontiers go: each wave follows a route, which decides from how many items on threads share its
//! sweeps, and whether a bitmap brings its list into the order of the nodes.

use super::HostState;
use crate::plan::route::{self, Route};
use crate::run::backend::Sweeps;
use crate::vir0::module::{Agreement, Domain, FrontierId, Program, WaveId};
use rayon::prelude::*;
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Fewer items are not worth a thought.
const FEW: u64 = 256;

/// What each wave starts with before somebody plans.
pub(super) fn routes(program: &Program) -> Vec<Cell<Route>> {
    let start = Sweeps::default().start;
    program.waves.iter().map(|_| Cell::new(start)).collect()
}

/// A bit for each node.
#[derive(Debug, Default)]
pub(super) struct Bitmap {
    pub(super) words: Vec<AtomicU64>,
}

impl Bitmap {
    /// Words that a thread turns into items at a time.
    const BLOCK: usize = 1024;

    /// Brings a list into the order of the nodes. False, and no change, where it is in that order, or holds a node
    /// twice. The same where there is no memory.
    fn order(&mut self, items: &mut Vec<u32>, nodes: usize, shared: bool) -> bool {
        if items.is_sorted() {
            return false;
        }
        self.words.clear();
        let words = nodes.div_ceil(64);
        if self.words.try_reserve_exact(words).is_err() {
            return false;
        }
        self.words.resize_with(words, AtomicU64::default);
        if shared {
            let words = &self.words;
            items.par_iter().for_each(|&v| {
                words[v as usize / 64].fetch_or(1 << (v % 64), Relaxed);
            });
            let blocks = words.par_chunks(Self::BLOCK);
            let (mut counts, mut parts) = (Vec::new(), Vec::new());
            let starved = counts.try_reserve_exact(blocks.len()).is_err()
                || parts.try_reserve_exact(blocks.len()).is_err();
            if starved {
                return false;
            }
            blocks.clone().map(ones).collect_into_vec(&mut counts);
            if counts.iter().sum::<usize>() < items.len() {
                return false;
            }
            let mut rest = &mut items[..];
            for count in counts {
                let (part, after) = rest.split_at_mut(count);
                parts.push(part);
                rest = after;
            }
            let parts = parts.into_par_iter().zip(blocks.enumerate());
            parts.for_each(|(part, block)| {
                for (item, v) in part.iter_mut().zip(nodes_of(block)) {
                    *item = v;
                }
            });
        } else {
            for &v in &*items {
                *self.words[v as usize / 64].get_mut() |= 1 << (v % 64);
            }
            if ones(&self.words) < items.len() {
                return false;
            }
            items.clear();
            let blocks = self.words.chunks(Self::BLOCK).enumerate();
            items.extend(blocks.flat_map(nodes_of));
        }
        true
    }
}

/// How many bits are set.
fn ones(words: &[AtomicU64]) -> usize {
    let ones = words.iter().map(|w| w.load(Relaxed).count_ones() as usize);
    ones.sum()
}

/// The nodes of a block of words.
fn nodes_of((block, words): (usize, &[AtomicU64])) -> impl Iterator<Item = u32> + '_ {
    let words = (block * Bitmap::BLOCK..).zip(words);
    words.flat_map(|(at, word)| Ones {
        word: word.load(Relaxed),
        first: at as u32 * 64,
    })
}

/// The numbers of the bits that are set.
struct Ones {
    word: u64,
    first: u32,
}

impl Iterator for Ones {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        if self.word == 0 {
            return None;
        }
        let bit = self.word.trailing_zeros();
        self.word &= self.word - 1;
        Some(self.first + bit)
    }
}

impl HostState {
    /// Counts what a sweep over a frontier finds.
    pub(super) fn note_sweep(&mut self, wave: WaveId) {
        let Some(f) = self.program.waves[wave.index()].domain.frontier() else {
            return;
        };
        let frontier = &mut self.frontiers[f.index()];
        let items = match &mut frontier.records {
            Some(records) => records.items.get_mut().len(),
            None => frontier.items.get_mut().len(),
        } as u64;
        self.activity.sweeps += 1;
        self.activity.items += items;
        self.activity.widest = self.activity.widest.max(items);
        if items < FEW {
            self.routes[wave.index()].set(Route::WarpSparse);
        } else {
            self.take_route(wave, f, items);
        }
    }

    /// Decides how a sweep over a frontier of some size goes.
    #[inline(never)]
    fn take_route(&mut self, wave: WaveId, f: FrontierId, items: u64) {
        let now = &self.routes[wave.index()];
        let nodes = self.sizes.nodes.max(1) as f64;
        let edges = match self.program.waves[wave.index()].domain.topology() {
            Some(t) => self.sizes.edges.get(t.index()),
            // Its kernel may look at the neighbours.
            None => self.sizes.edges.iter().max(),
        };
        let sample = route::Sample {
            memory_bps: self.sweeps.memory_bps,
            // Rounds of one launch: nothing is launched or read back between them. Which waves of a group are swept
            // together was decided before it.
            fusion: 0.0,
            dispatch_ns: 1,
            overhead_ns: 0,
            readback_bytes: 0,
            // A list can hold a node several times.
            density: (items as f64 / nodes).min(1.0),
            mean_degree: *edges.unwrap_or(&0) as f64 / nodes,
        };
        let pressure = self.sweeps.policy.pressure(&sample, Some(now.get()));
        let choice = pressure.and_then(|pressure| route::choose(pressure, None));
        let chosen = choice.map_or(Route::Sparse, |choice| choice.route);
        now.set(chosen);
        if chosen.is_dense() && self.sweeps.bitmap && self.may_order[wave.index()] {
            let shared = items >= self.parallel_from && rayon::current_num_threads() > 1;
            let items = self.frontiers[f.index()].items.get_mut();
            let held = self.bitmap.words.len();
            let ordered = self.bitmap.order(items, self.sizes.nodes as usize, shared);
            self.activity.ordered += u64::from(ordered);
            let more = self.bitmap.words.len().saturating_sub(held);
            self.counts.allocations += u64::from(more > 0);
            self.peak_bytes += 8 * more as u64;
        }
    }

    /// Whether the wave may be swept item by item together with others of its group: the route asks for it, items are
    /// numbers, and no result shows the order.
    pub(super) fn fuses(&self, wave: WaveId) -> bool {
        if self.sweeps.start != Route::FusedWave {
            return false;
        }
        let numbers = match self.program.waves[wave.index()].domain {
            Domain::Nodes | Domain::Range(_) | Domain::Edges(_) | Domain::EdgesFrom(..) => true,
            Domain::Items(f) => self.frontiers[f.index()].records.is_none(),
            Domain::Once | Domain::ListItems(..) => false,
        };
        numbers && !matches!(self.program.agreement, Agreement::Open(_))
    }

    /// Items or edges from which threads share a sweep.
    pub(crate) fn shared_from(&self, wave: WaveId) -> u64 {
        let (from, margin) = (self.parallel_from, self.parallel_from / 4);
        match self.program.waves[wave.index()].domain.frontier() {
            Some(_) => match self.routes[wave.index()].get() {
                Route::WarpSparse => from.saturating_add(margin),
                Route::Sparse
                | Route::Hybrid
                | Route::Dense
                | Route::BlockDense
                | Route::FusedWave => from - margin,
            },
            None => from,
        }
    }
}
