//! How a session's launches are made: [`Settings`] are what it was told to follow, [`LastRun`] is what its last run
//! showed.

use super::arena::Packing;
use super::memory::ListsSlab;
use super::pass::Pass;
use crate::abi;
use crate::device::{Device, DeviceError};
use crate::image::{ITEMS_PER_LANE, Layout};
use crate::module::Module;
use vyre_core::plan::thresholds::Thresholds;

/// Clusters that a launch may have: CTAs of one, and what a round gains when one holds it, in nanoseconds. The larger
/// ones leave out more multiprocessors, and not all devices have them.
pub(super) const CLUSTERS: [(u32, u64); 2] = [(16, 580), (abi::CLUSTER, 500)];

/// What a session's launches follow.
#[derive(Debug)]
pub(super) struct Settings {
    /// CTAs of a run that has all of them, or multiprocessors if several run on one.
    pub(super) ctas: u32,
    /// By size of a cluster, CTAs of the interpreter that run together; 0: none, or no wave has narrow rounds.
    pub(super) clustered: [u32; CLUSTERS.len()],
    /// Items that a lane takes at a time, at most.
    pub(super) items_per_lane: u32,
    /// Queries of a batch that may be in memory at once.
    pub(super) slots: u32,
    /// What batches may take.
    pub(super) batch_bytes: Option<u64>,
    /// There is memory for a second set of inputs.
    pub(super) second_inputs: bool,
    /// Edges of a frontier from which on it is worth pulling.
    pub(super) pull_from: u64,
    /// Rounds have lists and no bitmaps, so that none pulls.
    pub(super) lists_alone: bool,
    /// Results up to this size share a copy.
    pub(super) pack_up_to_bytes: u64,
    /// There is memory for those of lists.
    pub(super) packs_lists: bool,
}

impl Settings {
    /// Before a session was told anything.
    pub(super) fn new(device: &Device) -> Settings {
        let Thresholds {
            pack_up_to_bytes,
            pull_from,
            ..
        } = Thresholds::default();
        Settings {
            ctas: device.slots(),
            clustered: [0; CLUSTERS.len()],
            items_per_lane: ITEMS_PER_LANE,
            slots: 1,
            batch_bytes: None,
            second_inputs: false,
            pull_from,
            lists_alone: false,
            pack_up_to_bytes,
            packs_lists: false,
        }
    }

    pub(super) fn packing(&self) -> Packing {
        Packing::UpTo {
            bytes: self.pack_up_to_bytes,
            lists: self.packs_lists,
        }
    }

    /// How many CTAs the next run of a pass has, whose call has begun, and how many a cluster.
    pub(super) fn grid(&self, pass: &Pass, last: &LastRun) -> (u32, u32) {
        let clustered = self.clustered(pass);
        match last.cluster {
            Some(i) if clustered[i] > 0 && self.ctas == pass.slots() => {
                (clustered[i], CLUSTERS[i].0)
            }
            _ => (pass.ctas_on(self.ctas), 1),
        }
    }

    /// By size of a cluster, CTAs that run together in the call of a pass that has begun.
    pub(super) fn clustered(&self, pass: &Pass) -> [u32; CLUSTERS.len()] {
        pass.clustered().unwrap_or(self.clustered)
    }
}

/// The interpreter's module, and how many of its CTAs a device runs at once.
pub(super) fn interpreted(device: &Device) -> (&Module, u32) {
    (device.interpreter().module(), device.slots())
}

/// By size of a cluster, how many of a module's CTAs run together, at most so many, for a pass that has narrow rounds.
pub(super) fn clustered(
    (module, most): (&Module, u32),
    layout: &Layout,
) -> Result<[u32; CLUSTERS.len()], DeviceError> {
    let mut ctas = [0; CLUSTERS.len()];
    if layout.is_narrow() {
        for (ctas, (cluster, _)) in ctas.iter_mut().zip(CLUSTERS) {
            *ctas = module.clustered_ctas(most, layout.shared_bytes, cluster)?;
        }
    }
    Ok(ctas)
}

/// What is known from a session's last run.
#[derive(Debug)]
pub(super) struct LastRun {
    /// Where it left its results, if they are still there.
    pub(super) left: Option<Left>,
    /// Which clusters the next run has.
    pub(super) cluster: Option<usize>,
    /// What was found in its lists.
    pub(super) lists: LastLists,
    /// A run of the batch under way was made again: the launch behind it had begun when it showed that not all of its
    /// results were on their way.
    pub(super) overtaken: bool,
}

/// What a run left in its lists.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LastLists {
    /// Where it had them packed, and the bytes of that.
    pub(super) packed: Option<(ListsSlab, u64)>,
    /// The first copy brought all of them.
    pub(super) came_at_once: bool,
}

impl Default for LastRun {
    /// Nothing ran yet: the smallest clusters leave out the fewest CTAs.
    fn default() -> LastRun {
        LastRun {
            left: None,
            cluster: Some(CLUSTERS.len() - 1),
            lists: LastLists::default(),
            overtaken: false,
        }
    }
}

/// Where a run left its results.
#[derive(Debug)]
pub(super) struct Left {
    /// By buffer, which one holds what belongs to it.
    pub(super) homes: Vec<u32>,
    /// Which set of inputs it used.
    pub(super) set: usize,
}

/// What a round in a cluster takes.
const CLUSTER_ROUND_NS: u64 = 2_700;

/// The clusters that are worth the multiprocessors that they leave out, where `fitting` rounds of the last run fitted
/// into one.
pub(super) fn worth_a_cluster(
    fitting: u64,
    device_ns: u64,
    ctas: u32,
    clustered: [u32; CLUSTERS.len()],
) -> Option<usize> {
    let others = device_ns.saturating_sub(fitting * CLUSTER_ROUND_NS);
    let gain = |i: usize| {
        let left_out = u64::from(ctas.saturating_sub(clustered[i]));
        // Half of it waits for memory or for others, however many CTAs there are.
        let lost = others * left_out / u64::from(ctas.max(1)) / 2;
        (clustered[i] > 0).then(|| (fitting * CLUSTERS[i].1).saturating_sub(lost))
    };
    let gains = (0..CLUSTERS.len()).filter_map(|i| Some((gain(i)?, i)));
    gains.max().filter(|&(gain, _)| gain > 0).map(|(_, i)| i)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clusters_are_as_large_as_is_worth_the_ctas_that_they_leave_out() {
        let worth = |fitting, ns| worth_a_cluster(fitting, ns, 132, [112, 120]);
        // Nothing but narrow rounds; half of the time; a little of it; rounds that no cluster holds.
        assert_eq!(worth(1_998, 5_500_000), Some(0));
        assert_eq!(worth(1_874, 10_900_000), Some(1));
        assert_eq!(worth(1_998, 40_000_000), None);
        assert_eq!(worth(0, 2_000_000), None);
        // A device without the larger ones, and one without any.
        assert_eq!(worth_a_cluster(1_998, 5_500_000, 132, [0, 120]), Some(1));
        assert_eq!(worth_a_cluster(1_998, 5_500_000, 132, [0, 0]), None);
    }
}
