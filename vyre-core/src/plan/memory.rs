//! Memory of the groups: what each barrier group needs, the true peak, and a split where a level does not fit its
//! budget.
//!
//! A wave takes frontier, scratch and output bytes. Frontier and scratch live while its group runs; output bytes live
//! until they are read back ([`Readback`]). So the peak is the largest *total* of a group, not the sum of the largest
//! frontier, scratch and output: two groups that need 90 and 88 bytes fit a budget of 100 even if their separate peaks
//! add up to 112.
//!
//! A level (the waves of one Kahn level can run together) that does not fit is split into several groups. Fewest groups
//! is bin packing: best fit decreasing first; where that misses the lower bound (Martello and Toth's L2, "Knapsack
//! Problems", 1990, chapter 8) and the level has at most [`EXACT_WAVES`] waves, every partition is tried. [`Split`]
//! says what the lower bound was and whether the result is proved the best. With outputs read at the end, groups of a
//! split run in order of falling frontier and scratch bytes (Jackson's rule), which gives the lowest peak.
//!
//! ```
//! use vyre_core::plan::barrier::levels;
//! use vyre_core::plan::memory::{Input, WaveBytes, plan};
//! let levels = levels(4, &[]).unwrap();
//! let waves = [60, 50, 40, 50].map(|b| WaveBytes { frontier_bytes: b, ..WaveBytes::default() });
//! let plan = plan(&Input { budget_bytes: Some(100), ..Input::new(&levels, &waves) }).unwrap();
//! assert_eq!((plan.groups.len(), plan.peak_bytes), (2, 100));
//! ```

use super::NodeId;
use super::barrier::Levels;
use std::collections::BTreeSet;
use std::ops::Range;
use thiserror::Error;

/// Bytes of a wave, or sums of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct WaveBytes {
    /// Frontiers it sweeps and pushes to.
    pub frontier_bytes: u64,
    /// Scratch, before the route's factor ([`Scratch`]).
    pub scratch_bytes: u64,
    /// Results.
    pub output_bytes: u64,
}

/// The resident graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct GraphBytes {
    /// Nodes.
    pub nodes: u64,
    /// Bytes of each.
    pub node_bytes: u64,
    /// Edges.
    pub edges: u64,
    /// Bytes of each.
    pub edge_bytes: u64,
}

/// How much scratch a route needs for a wave: `factor x max(scratch, at_least_bytes)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Scratch {
    /// Copies of the scratch.
    pub factor: u64,
    /// Smallest useful scratch.
    pub at_least_bytes: u64,
}

impl Scratch {
    /// A fused group keeps four copies.
    pub const FUSED: Scratch = Scratch {
        factor: 4,
        at_least_bytes: 0,
    };

    /// Scratch bytes of a wave; `None` when they overflow.
    pub fn bytes(self, scratch_bytes: u64) -> Option<u64> {
        self.factor
            .checked_mul(scratch_bytes.max(self.at_least_bytes))
    }
}

/// When outputs leave the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Readback {
    /// After each group: outputs live as long as the group.
    AfterGroup,
    /// After the run: outputs stay until then.
    AtEnd,
}

/// What to plan.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// The order.
    pub levels: &'a Levels,
    /// Bytes of each node.
    pub waves: &'a [WaveBytes],
    /// What is resident during the whole run.
    pub graph: GraphBytes,
    /// Scratch of the route.
    pub scratch: Scratch,
    /// When outputs leave.
    pub readback: Readback,
    /// Bytes that a typical readback asks for anyway.
    pub sample_readback_bytes: u64,
    /// Bytes allowed, the graph included; `None`: no limit, nothing is split.
    pub budget_bytes: Option<u64>,
}

impl<'a> Input<'a> {
    /// No graph, fused scratch, readback after each group, no budget.
    pub fn new(levels: &'a Levels, waves: &'a [WaveBytes]) -> Input<'a> {
        Input {
            levels,
            waves,
            graph: GraphBytes::default(),
            scratch: Scratch::FUSED,
            readback: Readback::AfterGroup,
            sample_readback_bytes: 0,
            budget_bytes: None,
        }
    }
}

/// A number that did not fit in 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Field {
    /// `nodes x node_bytes + edges x edge_bytes`.
    Graph,
    /// Scratch of a wave, times the route's factor.
    Scratch(NodeId),
    /// Frontier, scratch and output bytes of a wave.
    Wave(NodeId),
    /// A sum over the waves of a level.
    Level(usize),
    /// Outputs that wait for the readback, and the graph.
    Live,
}

impl std::fmt::Display for Field {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Field::Graph => write!(f, "graph bytes"),
            Field::Scratch(node) => write!(f, "scratch bytes of wave {node}"),
            Field::Wave(node) => write!(f, "bytes of wave {node}"),
            Field::Level(level) => write!(f, "bytes of level {level}"),
            Field::Live => write!(f, "bytes of live outputs"),
        }
    }
}

/// Why there is no plan.
#[derive(Clone, Error, PartialEq, Eq)]
pub enum MemoryError {
    /// Bytes were given for another graph.
    #[error("bytes of {waves} waves were given for a graph of {nodes} nodes")]
    NodeCount {
        /// Entries given.
        waves: usize,
        /// Nodes of the graph.
        nodes: usize,
    },
    /// A number does not fit in 64 bits.
    #[error("{0} overflow 64 bits")]
    Overflow(Field),
    /// The graph alone is over the budget.
    #[error("the graph needs {needed_bytes} bytes; budget is {budget_bytes}")]
    Graph {
        /// Bytes of the graph.
        needed_bytes: u64,
        /// Allowed.
        budget_bytes: u64,
    },
    /// A wave is over the budget even in a group of its own.
    #[error("wave {node} of level {level} needs {needed_bytes} bytes; budget is {budget_bytes}")]
    Wave {
        /// Which.
        node: NodeId,
        /// Its level.
        level: usize,
        /// Its bytes with the graph and the outputs that wait for the readback.
        needed_bytes: u64,
        /// Allowed.
        budget_bytes: u64,
    },
}

crate::debug_is_display!(MemoryError);

/// Waves between two barriers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The waves, by id.
    pub nodes: Vec<NodeId>,
    /// The level they are from.
    pub level: usize,
    /// Sums over the waves (scratch before the factor).
    pub bytes: WaveBytes,
    /// Everything that is live while it runs: graph, frontiers, scratch times the factor, outputs not read yet.
    pub total_bytes: u64,
}

/// A level that did not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Split {
    /// Which.
    pub level: usize,
    /// Groups it became.
    pub groups: usize,
    /// No split has fewer groups than this.
    pub lower_bound_groups: usize,
    /// The number of groups is proved the fewest, by the bound or by trying all.
    pub fewest: bool,
}

/// Groups that fit, and what they take.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryPlan {
    /// In order; a barrier between each two.
    pub groups: Vec<Group>,
    /// The largest sum of each component over the groups. They need not meet in one group.
    pub peaks: WaveBytes,
    /// The resident graph.
    pub graph_bytes: u64,
    /// The largest total of a group: what has to be there. The graph's bytes when there are no groups.
    pub peak_bytes: u64,
    /// What one readback is worth planning for: the sample, or the largest output sum if that is more.
    pub amortised_readback_bytes: u64,
    /// Waves of the widest group.
    pub width: usize,
    /// Levels that were split.
    pub splits: Vec<Split>,
}

impl MemoryPlan {
    /// Barriers between the groups.
    pub fn barriers(&self) -> usize {
        self.groups.len().saturating_sub(1)
    }
}

/// Levels of at most this many waves are split by trying every partition where best fit misses the lower bound.
pub const EXACT_WAVES: usize = 9;

/// Groups of every level under the budget. Reports every wave that cannot fit.
pub fn plan(input: &Input<'_>) -> Result<MemoryPlan, Vec<MemoryError>> {
    let levels = input.levels;
    if input.waves.len() != levels.node_count() {
        return Err(vec![MemoryError::NodeCount {
            waves: input.waves.len(),
            nodes: levels.node_count(),
        }]);
    }
    let overflow = |field| vec![MemoryError::Overflow(field)];
    let graph_bytes = graph_bytes(&input.graph).ok_or_else(|| overflow(Field::Graph))?;
    if let Some(budget_bytes) = input.budget_bytes
        && graph_bytes > budget_bytes
    {
        return Err(vec![MemoryError::Graph {
            needed_bytes: graph_bytes,
            budget_bytes,
        }]);
    }
    let mut items = Vec::with_capacity(input.waves.len());
    for (v, wave) in input.waves.iter().enumerate() {
        let node = NodeId(v as u32);
        let scratch = input.scratch.bytes(wave.scratch_bytes);
        let scratch = scratch.ok_or_else(|| overflow(Field::Scratch(node)))?;
        let item = wave.frontier_bytes.checked_add(scratch).and_then(|t| {
            t.checked_add(wave.output_bytes)
                .map(|_| match input.readback {
                    Readback::AfterGroup => Item {
                        node,
                        temporary: t + wave.output_bytes,
                        kept: 0,
                    },
                    Readback::AtEnd => Item {
                        node,
                        temporary: t,
                        kept: wave.output_bytes,
                    },
                })
        });
        items.push(item.ok_or_else(|| overflow(Field::Wave(node)))?);
    }

    let mut plan = MemoryPlan {
        graph_bytes,
        peak_bytes: graph_bytes,
        ..MemoryPlan::default()
    };
    let mut errors = Vec::new();
    // The graph and the outputs that wait for the readback.
    let mut held = graph_bytes;
    for (level, nodes) in levels.groups().enumerate() {
        let mut members: Vec<Item> = nodes.iter().map(|v| items[v.index()]).collect();
        let total = sum(&members, |i| i.temporary).zip(sum(&members, |i| i.kept));
        let (temporary, kept) = total.ok_or_else(|| overflow(Field::Level(level)))?;
        let after = held.checked_add(kept);
        let after = after.ok_or_else(|| overflow(Field::Live))?;
        let whole = after.checked_add(temporary);
        let fits = match (whole, input.budget_bytes) {
            (Some(whole), Some(budget)) => whole <= budget,
            (Some(_), None) => true,
            (None, Some(_)) => false,
            (None, None) => return Err(overflow(Field::Level(level))),
        };
        let mut bins: Vec<Range<usize>> = std::iter::once(0..members.len()).collect();
        if !fits && let Some(budget) = input.budget_bytes {
            // Never negative: an error was pushed when `held` passed the budget.
            let room = budget.saturating_sub(held);
            let alone = too_large_alone(&members, room);
            if alone.is_empty() {
                let (sizes, split) = split(&mut members, room, level);
                bins = sizes;
                plan.splits.push(split);
            }
            errors.extend(alone.into_iter().map(|(node, bytes)| MemoryError::Wave {
                node,
                level,
                needed_bytes: held.saturating_add(bytes),
                budget_bytes: budget,
            }));
        }
        if errors.is_empty() {
            for bin in bins {
                let group = &members[bin];
                let temporary = sum(group, |i| i.temporary).expect("part of a sum that fits");
                held += sum(group, |i| i.kept).expect("part of a sum that fits");
                plan.push(group, level, input.waves, held + temporary);
            }
        }
        held = after;
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    plan.amortised_readback_bytes = input.sample_readback_bytes.max(plan.peaks.output_bytes);
    Ok(plan)
}

impl MemoryPlan {
    fn push(&mut self, group: &[Item], level: usize, waves: &[WaveBytes], total_bytes: u64) {
        let mut nodes: Vec<NodeId> = group.iter().map(|i| i.node).collect();
        nodes.sort_unstable();
        let mut bytes = WaveBytes::default();
        for node in &nodes {
            // No overflow: each is at most the group's total, which fits.
            let wave = &waves[node.index()];
            bytes.frontier_bytes += wave.frontier_bytes;
            bytes.scratch_bytes += wave.scratch_bytes;
            bytes.output_bytes += wave.output_bytes;
        }
        let peaks = &mut self.peaks;
        peaks.frontier_bytes = peaks.frontier_bytes.max(bytes.frontier_bytes);
        peaks.scratch_bytes = peaks.scratch_bytes.max(bytes.scratch_bytes);
        peaks.output_bytes = peaks.output_bytes.max(bytes.output_bytes);
        self.peak_bytes = self.peak_bytes.max(total_bytes);
        self.width = self.width.max(nodes.len());
        self.groups.push(Group {
            nodes,
            level,
            bytes,
            total_bytes,
        });
    }
}

fn graph_bytes(graph: &GraphBytes) -> Option<u64> {
    let nodes = graph.nodes.checked_mul(graph.node_bytes)?;
    nodes.checked_add(graph.edges.checked_mul(graph.edge_bytes)?)
}

/// A wave to pack.
#[derive(Clone, Copy)]
struct Item {
    node: NodeId,
    /// Live while its group runs.
    temporary: u64,
    /// Live from its group to the end.
    kept: u64,
}

impl Item {
    fn size(&self) -> u64 {
        self.temporary + self.kept
    }
}

fn sum(items: &[Item], of: impl Fn(&Item) -> u64) -> Option<u64> {
    items.iter().try_fold(0u64, |a, i| a.checked_add(of(i)))
}

/// The waves that do not fit even if every wave is its own group, with what they need: falling temporary bytes is the
/// order with the lowest peak, and no grouping has a lower one.
fn too_large_alone(items: &[Item], room: u64) -> Vec<(NodeId, u64)> {
    let mut order = items.to_vec();
    order.sort_unstable_by_key(|i| (std::cmp::Reverse(i.temporary), i.node));
    let mut kept = 0u64;
    let mut found = Vec::new();
    for i in order {
        kept += i.kept;
        let needed = kept.saturating_add(i.temporary);
        if needed > room {
            found.push((i.node, needed));
        }
    }
    found.sort_unstable();
    found
}

/// Reorders the items into groups that fit, and returns the groups.
fn split(items: &mut [Item], room: u64, level: usize) -> (Vec<Range<usize>>, Split) {
    items.sort_unstable_by_key(|i| (std::cmp::Reverse(i.size()), i.node));
    let bound = lower_bound(items, room);
    let mut bins = best_fit(items, room);
    if !in_order(items, &mut bins, room) {
        bins = fill_in_order(items, room);
        let fits = in_order(items, &mut bins, room);
        debug_assert!(fits, "each wave alone fits, and filling keeps that true");
    }
    let mut fewest = bins.len() == bound;
    if !fewest && items.len() <= EXACT_WAVES {
        let mut search = Search {
            items,
            room,
            best: bins,
        };
        search.place(0, &mut Vec::new());
        bins = search.best;
        in_order(items, &mut bins, room);
        fewest = true;
    }
    let groups = bins.len();
    let mut ordered = Vec::with_capacity(items.len());
    let mut ranges = Vec::with_capacity(groups);
    for bin in bins {
        let begin = ordered.len();
        ordered.extend(bin.iter().map(|&i| items[i]));
        ranges.push(begin..ordered.len());
    }
    items.copy_from_slice(&ordered);
    let split = Split {
        level,
        groups,
        lower_bound_groups: bound,
        fewest,
    };
    (ranges, split)
}

/// Bins of positions in the item list.
type Bins = Vec<Vec<usize>>;

/// Best fit decreasing by size: each into the fullest bin that still takes it.
fn best_fit(items: &[Item], room: u64) -> Bins {
    let mut bins: Bins = Vec::new();
    let mut free: BTreeSet<(u64, usize)> = BTreeSet::new();
    for (i, item) in items.iter().enumerate() {
        let (left, bin) = match free.range((item.size(), 0)..).next().copied() {
            Some(found) => {
                free.remove(&found);
                found
            }
            None => {
                bins.push(Vec::new());
                (room, bins.len() - 1)
            }
        };
        bins[bin].push(i);
        free.insert((left - item.size(), bin));
    }
    bins
}

/// Sorts the bins into the order with the lowest peak (falling temporary bytes, then lowest node); whether they fit.
fn in_order(items: &[Item], bins: &mut Bins, room: u64) -> bool {
    let temporary = |bin: &[usize]| bin.iter().map(|&i| items[i].temporary).sum::<u64>();
    let lowest = |bin: &[usize]| bin.iter().map(|&i| items[i].node).min();
    let any_kept = items.iter().any(|i| i.kept > 0);
    // Without outputs that stay, any order has the same peak: keep the ids in order.
    bins.sort_by_cached_key(|bin| {
        let falling = if any_kept { temporary(bin) } else { 0 };
        (std::cmp::Reverse(falling), lowest(bin))
    });
    let mut kept = 0u64;
    bins.iter().all(|bin| {
        kept += bin.iter().map(|&i| items[i].kept).sum::<u64>();
        kept.checked_add(temporary(bin)).is_some_and(|b| b <= room)
    })
}

/// Fills one group after the other with what leaves the rest feasible. For outputs that stay until the end.
fn fill_in_order(items: &[Item], room: u64) -> Bins {
    let mut left: Vec<usize> = (0..items.len()).collect();
    left.sort_unstable_by_key(|&i| (std::cmp::Reverse(items[i].temporary), items[i].node));
    let mut bins = Vec::new();
    let mut kept = 0u64;
    while !left.is_empty() {
        // One wave a group in this order fits. Taking a wave early delays those that were before it by its output:
        // `slack` is what they can bear.
        let (mut bin, mut rest) = (Vec::new(), Vec::new());
        let (mut temporary, mut slack) = (0u64, u64::MAX);
        let mut ahead = kept;
        for &i in &left {
            let item = items[i];
            ahead += item.kept;
            let total = (kept + temporary).saturating_add(item.size());
            if total <= room && item.kept <= slack {
                if slack != u64::MAX {
                    slack -= item.kept;
                }
                temporary += item.temporary;
                kept += item.kept;
                bin.push(i);
            } else {
                slack = slack.min(room.saturating_sub(ahead.saturating_add(item.temporary)));
                rest.push(i);
            }
        }
        bins.push(bin);
        left = rest;
    }
    bins
}

/// Martello and Toth's L2: items too large to share, and those that must fill the room beside them. Items by falling
/// size.
fn lower_bound(items: &[Item], room: u64) -> usize {
    if room == 0 {
        return 1;
    }
    let room = u128::from(room);
    let sizes: Vec<u128> = items.iter().map(|i| u128::from(i.size())).collect();
    let mut before = vec![0u128];
    for &s in &sizes {
        before.push(before[before.len() - 1] + s);
    }
    // Sizes over half the room: no two of them share a group.
    let large = sizes.partition_point(|&s| 2 * s > room);
    let mut best = 1;
    let mut end = large;
    loop {
        // Small items down to the size `k`; those over `room - k` take a group alone.
        let k = if end > large { sizes[end - 1] } else { 0 };
        let alone = sizes.partition_point(|&s| s > room - k).min(large);
        let (middle, small) = (large - alone, before[end] - before[large]);
        let gaps = room * middle as u128 - (before[large] - before[alone]);
        let more = small.saturating_sub(gaps).div_ceil(room);
        best = best.max(large + more as usize);
        if end == sizes.len() {
            return best;
        }
        let size = sizes[end];
        end += sizes[end..].partition_point(|&s| s == size);
    }
}

/// Tries every partition with fewer bins than the best so far.
struct Search<'a> {
    items: &'a [Item],
    room: u64,
    best: Bins,
}

impl Search<'_> {
    fn place(&mut self, item: usize, bins: &mut Bins) {
        if bins.len() >= self.best.len() {
            return;
        }
        if item == self.items.len() {
            let mut candidate = bins.clone();
            if in_order(self.items, &mut candidate, self.room) {
                self.best = candidate;
            }
            return;
        }
        for bin in 0..bins.len() {
            let size: u64 = bins[bin].iter().map(|&i| self.items[i].size()).sum();
            if size + self.items[item].size() <= self.room {
                bins[bin].push(item);
                self.place(item + 1, bins);
                bins[bin].pop();
            }
        }
        bins.push(vec![item]);
        self.place(item + 1, bins);
        bins.pop();
    }
}
