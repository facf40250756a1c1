//! Which of several sides a session's next run goes to: the backends that it holds, or could hold, its pass on.
//!
//! Nothing is known of a side until it has run the pass, so [`choose`] has two things to do: to try sides, and to
//! follow the best one that was tried. Costs are times per swept item ([`Seen`]), by kind of work ([`Work`]).
//!
//! | what is known of another side | it gets the next run |
//! | --- | --- |
//! | nothing | if it could be faster at all ([`Floor`]), and a run takes as long as opening it, or the trial is paid for |
//! | one run, less than `cold` times the best cost | again, because first runs are slow: memory is touched for the first time |
//! | runs at up to `reach` times the best cost | when the trial is paid for |
//! | it costs less, by more than `hold` | from now on |
//!
//! A trial is paid for when it takes at most `trial_fraction` of the time that runs took since the last trial. So
//! whatever the other sides turn out to cost, trials after the first ones add no more than that fraction.
//!
//! ```
//! use vyre_core::plan::side::{Offer, Policy, Seen, Why, choose};
//! let side = |runs_ns: &[u64]| {
//!     let mut seen = Seen::default();
//!     runs_ns.iter().for_each(|&ns| seen.add(ns, 1_000));
//!     Some(Offer { seen, ..Offer::default() })
//! };
//! let next = |first: &[u64], second: &[u64], now| {
//!     choose(&Policy::default(), now, 1_000, 0, &[side(first), side(second)]).unwrap()
//! };
//! // A device takes 33 ms for a search along a chain. The CPU is tried, takes 3 ms, and is followed.
//! assert_eq!(next(&[], &[], 0), (0, Why::First));
//! assert_eq!(next(&[33_000_000], &[], 0), (1, Why::Trial));
//! assert_eq!(next(&[33_000_000], &[3_000_000], 1), (1, Why::Held));
//! ```

use crate::vir0::module::Program;
use crate::vir0::sizes::Sizes;

/// Runs that a cost is the median of.
pub const RECENT: usize = 3;

/// What the last runs of a kind of work took on a side.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Seen {
    /// Nanoseconds a swept item, the oldest first; as many as there were runs, at most [`RECENT`].
    recent: [f64; RECENT],
    runs: u64,
}

impl Seen {
    /// As it was written down; `None` where no number of runs leaves such costs.
    pub fn from_parts(runs: u64, recent: &[f64]) -> Option<Seen> {
        let kept = usize::try_from(runs).unwrap_or(RECENT).min(RECENT);
        let good = |cost: &f64| cost.is_finite() && *cost > 0.0;
        if recent.len() != kept || !recent.iter().all(good) {
            return None;
        }
        let mut seen = Seen {
            runs,
            ..Seen::default()
        };
        seen.recent[..kept].copy_from_slice(recent);
        Some(seen)
    }

    /// Runs so far.
    pub fn runs(&self) -> u64 {
        self.runs
    }

    /// Nanoseconds a swept item in the last runs, the oldest first.
    pub fn recent(&self) -> &[f64] {
        &self.recent[..usize::try_from(self.runs).unwrap_or(RECENT).min(RECENT)]
    }

    /// A run took `wall_ns` and swept `items`.
    pub fn add(&mut self, wall_ns: u64, items: u64) {
        let cost = wall_ns.max(1) as f64 / items.max(1) as f64;
        match self.recent().len() {
            RECENT => {
                self.recent.rotate_left(1);
                self.recent[RECENT - 1] = cost;
            }
            free => self.recent[free] = cost,
        }
        self.runs += 1;
    }

    /// Nanoseconds a swept item: the median of the last three runs, so that neither a slow first run nor a single
    /// disturbance counts; the lower one of two.
    pub fn cost(&self) -> Option<f64> {
        let mut sorted = self.recent;
        let sorted = &mut sorted[..self.recent().len()];
        sorted.sort_by(f64::total_cmp);
        match sorted.len() {
            0 => None,
            n => Some(sorted[(n - 1) / 2]),
        }
    }
}

/// Runs whose costs compare: alike in what is known before a run, and in how much was swept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Work {
    /// Power of two of the longest buffer.
    pub length: u8,
    /// Power of two of the queries of a batch.
    pub queries: u8,
    /// Power of eight of the swept items.
    pub items: u8,
}

/// Of a size, the power of two: 0 for none, 1 for one, 11 for 1,024.
pub fn power_of_two(size: u64) -> u8 {
    (u64::BITS - size.leading_zeros()) as u8
}

impl Work {
    /// Of runs with buffers of this length, `queries` at a time, that sweep `items`.
    pub fn new(length: u64, queries: u64, items: u64) -> Work {
        Work {
            length: power_of_two(length),
            queries: power_of_two(queries),
            items: power_of_two(items) / 3,
        }
    }
}

/// Items that a run swept: of frontiers what they held, times the degree where edges are swept, and everything else as
/// often as its fixpoint had rounds. The same on every side where a run's rounds are ([`Agreement::Bits`]).
///
/// [`Agreement::Bits`]: crate::vir0::module::Agreement::Bits
pub fn swept_items(program: &Program, sizes: &Sizes, rounds: &[u64], frontier_items: u64) -> u64 {
    let mut degree = 1;
    let mut items = 0u64;
    for wave in &program.waves {
        let each = match (wave.domain.topology(), wave.domain.frontier()) {
            (Some(t), None) => sizes.edges[t.index()],
            (Some(t), Some(_)) => {
                degree = degree.max(sizes.edges[t.index()] / sizes.nodes.max(1));
                0
            }
            // Frontiers tell; what lists held is not counted.
            (None, _) => {
                let len = wave.domain.count();
                len.map_or(0, |len| sizes.resolve(program, len).unwrap_or(0))
            }
        };
        let times = wave.fixpoint.and_then(|f| rounds.get(f.index()));
        items = items.saturating_add(each.saturating_mul(times.copied().unwrap_or(1)));
    }
    items.saturating_add(frontier_items.saturating_mul(degree))
}

/// What a backend needs at the very least, so that a side which cannot be faster is not tried.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Floor {
    /// For a run.
    pub run_ns: f64,
    /// For a round, with its barrier.
    pub round_ns: f64,
    /// For a swept item, all threads together.
    pub item_ns: f64,
}

impl Floor {
    /// For a run of `rounds` that sweeps `items`.
    pub fn of(&self, rounds: u64, items: u64) -> u64 {
        (self.run_ns + self.round_ns * rounds as f64 + self.item_ns * items as f64) as u64
    }
}

/// A side that can be had.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Offer {
    /// Of this kind of work.
    pub seen: Seen,
    /// Time to open it; 0 where it is open.
    pub open_ns: u64,
    /// The least that a run can take there.
    pub floor_ns: u64,
}

/// Why a side gets the next run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Why {
    /// No run of this kind was seen where the session is.
    First,
    /// To see what it takes there.
    Trial,
    /// It costs less by more than the band that holds a side.
    Better,
    /// Nothing is better by more than that.
    Held,
    /// The side where the session was is not to be had.
    Only,
}

/// How trials and changes are weighed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Policy {
    /// A side is left for one that costs less by more than this fraction.
    pub hold: f64,
    /// How many times longer a first run may take than those after it.
    pub cold: f64,
    /// A side that costs more than this many times the best is not tried again.
    pub reach: f64,
    /// Fraction of the time since the last trial that the next trial may take.
    pub trial_fraction: f64,
    /// How many times longer than the best a run on a side that was never tried may take, where a fraction is to pay
    /// for it.
    pub guess: f64,
}

impl Default for Policy {
    fn default() -> Policy {
        Policy {
            hold: 1.0 / 16.0,
            cold: 4.0,
            reach: 4.0,
            trial_fraction: 1.0 / 32.0,
            guess: 8.0,
        }
    }
}

/// The side of the next run, which will sweep about `items`. `now`: where the session is. `spent_ns`: what runs
/// took since the last trial. `offers`: the sides, `None` where one cannot be had. `None` where no side can.
pub fn choose(
    policy: &Policy,
    now: usize,
    items: u64,
    spent_ns: u64,
    offers: &[Option<Offer>],
) -> Option<(usize, Why)> {
    let had = || {
        offers
            .iter()
            .enumerate()
            .filter_map(|(i, o)| Some((i, o.as_ref()?)))
    };
    let Some(here) = offers.get(now).and_then(Option::as_ref) else {
        let (first, _) = had().next()?;
        return Some((first, Why::Only));
    };
    let Some(cost_here) = here.seen.cost() else {
        return Some((now, Why::First));
    };
    let tried = had().filter_map(|(i, o)| Some((i, o.seen.cost()?)));
    let (best, best_cost) = tried
        .min_by(|a, b| a.1.total_cmp(&b.1))
        .expect("the side where the session is was tried");
    let run_ns = |cost: f64| cost * items.max(1) as f64;
    let best_ns = run_ns(best_cost);
    let paid = |ns: f64| ns <= policy.trial_fraction * spent_ns as f64;
    let is_tried = |offer: &Offer| {
        let open_ns = offer.open_ns as f64;
        // A run takes as long as opening the side: that is soon won back, or lost only once.
        let soon = open_ns <= best_ns;
        match (offer.seen.cost(), offer.seen.runs()) {
            (None, _) => {
                (offer.floor_ns as f64) < best_ns
                    && (soon || paid(policy.guess * best_ns + open_ns))
            }
            (Some(cost), 1) if soon && cost < policy.cold * best_cost => true,
            (Some(cost), _) => cost <= policy.reach * best_cost && paid(run_ns(cost) + open_ns),
        }
    };
    if let Some((trial, _)) = had().find(|&(i, o)| i != best && is_tried(o)) {
        return Some((trial, Why::Trial));
    }
    let open_ns = offers[best].as_ref().map_or(0, |o| o.open_ns) as f64;
    let pays = open_ns <= run_ns(cost_here) || paid(open_ns);
    Some(
        match best != now && best_cost * (1.0 + policy.hold) < cost_here && pays {
            true => (best, Why::Better),
            false => (now, Why::Held),
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// Sides that take so long for an item's work, and a session that goes where it is sent.
    struct World {
        policy: Policy,
        offers: Vec<Option<Offer>>,
        now: usize,
        spent_ns: u64,
    }

    impl World {
        fn new(open_ns: &[u64]) -> World {
            let offer = |&open_ns: &u64| {
                Some(Offer {
                    open_ns,
                    ..Offer::default()
                })
            };
            World {
                policy: Policy::default(),
                offers: open_ns.iter().map(offer).collect(),
                now: 0,
                spent_ns: 0,
            }
        }

        /// Runs once, where a run takes so long on each side; the side, and why.
        fn run(&mut self, items: u64, takes_ns: &[u64]) -> (usize, Why) {
            let offers = &mut self.offers;
            let (side, why) = choose(&self.policy, self.now, items, self.spent_ns, offers).unwrap();
            if why == Why::Trial {
                self.spent_ns = 0;
            }
            let offer = offers[side].as_mut().unwrap();
            offer.seen.add(takes_ns[side], items);
            offer.open_ns = 0;
            self.spent_ns += takes_ns[side];
            self.now = side;
            (side, why)
        }

        fn sides(&mut self, runs: usize, takes_ns: &[u64]) -> Vec<usize> {
            (0..runs).map(|_| self.run(1_000, takes_ns).0).collect()
        }
    }

    #[test]
    fn a_side_that_is_clearly_better_is_followed_from_the_third_run_on() {
        // A chain: 33 ms on the device, 3 ms natively.
        let mut world = World::new(&[0, MS]);
        assert_eq!(world.sides(6, &[33 * MS, 3 * MS]), [0, 1, 1, 1, 1, 1]);
        // The other way round, the trial is the only run there.
        let mut world = World::new(&[0, MS]);
        assert_eq!(world.sides(6, &[3 * MS, 33 * MS]), [0, 1, 0, 0, 0, 0]);
        let mut spent = vec![0; 2];
        for side in world.sides(1_000, &[3 * MS, 33 * MS]) {
            spent[side] += 1;
        }
        assert_eq!(spent, [1_000, 0]);
    }

    #[test]
    fn sides_that_are_near_each_other_run_twice_before_one_is_followed() {
        // The first run of each is slow.
        let mut world = World::new(&[0, 0]);
        let cold = world.run(1_000, &[9 * MS, 0]);
        assert_eq!(cold, (0, Why::First));
        assert_eq!(world.run(1_000, &[0, 11 * MS]), (1, Why::Trial));
        // 11 ms may be 6 ms next time; here they are.
        assert_eq!(world.run(1_000, &[8 * MS, 6 * MS]), (1, Why::Trial));
        // And 9 ms may be 5 ms.
        assert_eq!(world.run(1_000, &[8 * MS, 6 * MS]), (0, Why::Trial));
        assert_eq!(world.run(1_000, &[8 * MS, 6 * MS]), (1, Why::Better));
        assert_eq!(world.sides(20, &[8 * MS, 6 * MS]), [1; 20]);
    }

    #[test]
    fn a_small_difference_and_a_single_disturbance_change_nothing() {
        let mut world = World::new(&[0, 0]);
        world.policy.trial_fraction = 0.0;
        world.sides(8, &[97 * MS, 100 * MS]);
        let held = world.now;
        // Within a sixteenth, whichever is better.
        for (a, b) in [(97, 100), (100, 97), (98, 99)] {
            assert_eq!(world.sides(5, &[a * MS, b * MS]), [held; 5]);
        }
        // One run is disturbed: the median stays. Two are not noise.
        let mut slow = [97 * MS; 2];
        slow[held] = 900 * MS;
        assert_eq!(world.sides(1, &slow), [held]);
        assert_eq!(world.sides(2, &[97 * MS; 2]), [held; 2]);
        assert_eq!(world.sides(2, &slow), [held; 2]);
        assert_eq!(world.run(1_000, &slow), (1 - held, Why::Better));
    }

    #[test]
    fn trials_take_a_share_of_the_time_at_most() {
        // Nothing is copied for runs that are much shorter than the copy, until many of them paid for it.
        let mut world = World::new(&[0, 20 * MS]);
        let sides = world.sides(2_000, &[MS, 50 * MS]);
        let trials: Vec<usize> = (0..2_000).filter(|&i| sides[i] == 1).collect();
        // (8 runs + 20 ms) times 32.
        assert_eq!(trials, [896]);
        // Sides that are in reach are tried again, with at most a thirty-second of the time.
        let mut world = World::new(&[0, 0]);
        let sides = world.sides(2_000, &[MS, 3 * MS]);
        let trials = sides[8..].iter().filter(|&&side| side == 1).count() as u64;
        let all = 2_000 + 2 * trials;
        assert!(trials > 0 && 32 * 3 * trials <= all, "{trials} of {all}");
        // What became better meanwhile is found out.
        assert_eq!(world.sides(400, &[MS, MS / 2])[399], 1);
    }

    #[test]
    fn a_side_that_cannot_be_faster_is_never_tried() {
        let mut world = World::new(&[0, 0]);
        let gpu = Floor {
            run_ns: 20_000.0,
            round_ns: 1_000.0,
            item_ns: 0.05,
        };
        world.offers[1].as_mut().unwrap().floor_ns = gpu.of(20_000, 20_000);
        assert_eq!(gpu.of(20_000, 20_000), 20_021_000);
        assert_eq!(world.sides(1_000, &[3 * MS, 33 * MS]), [0; 1_000]);
    }

    #[test]
    fn costs_are_by_item_and_other_sizes_are_other_work() {
        // Twice the items take twice the time: nothing changes.
        let mut world = World::new(&[0, 0]);
        world.sides(4, &[5 * MS, MS]);
        for items in [1_000, 2_000, 500, 3_000] {
            let takes = [5_000 * items, 1_000 * items];
            assert_eq!(world.run(items, &takes), (1, Why::Held));
        }
        let kind = |items| Work::new(1 << 20, 1, items);
        assert_eq!(kind(600), kind(2_000));
        assert_ne!(kind(600), kind(8_000));
        assert_ne!(Work::new(1 << 20, 1, 9), Work::new(1 << 21, 1, 9));
        assert_ne!(Work::new(1 << 20, 1, 9), Work::new(1 << 20, 2, 9));
        // Of other work nothing is known: the side where the session is runs it first.
        for offer in world.offers.iter_mut().flatten() {
            offer.seen = Seen::default();
        }
        assert_eq!(world.run(1_000_000, &[MS, 50 * MS]), (1, Why::First));
        assert_eq!(world.run(1_000_000, &[MS, 50 * MS]), (0, Why::Trial));
        assert_eq!(world.run(1_000_000, &[MS, 50 * MS]), (0, Why::Held));
    }

    #[test]
    fn sides_that_cannot_be_had_get_no_run() {
        let policy = Policy::default();
        assert_eq!(choose(&policy, 0, 1, 0, &[None, None]), None);
        let offers = [None, Some(Offer::default())];
        assert_eq!(choose(&policy, 0, 1, 0, &offers), Some((1, Why::Only)));
        let mut world = World::new(&[0, 0]);
        world.offers[1] = None;
        assert_eq!(world.sides(100, &[9 * MS, MS]), [0; 100]);
        // Three sides: each that may be better gets its trial, in order.
        let mut world = World::new(&[0, 0, 0]);
        assert_eq!(world.sides(5, &[9 * MS, 2 * MS, 30 * MS]), [0, 1, 2, 1, 1]);
    }

    #[test]
    fn a_cost_is_the_median_of_the_last_three_runs() {
        let mut seen = Seen::default();
        let mut costs = Vec::new();
        for ns in [900, 100, 200, 100, 500, 500] {
            seen.add(ns, 10);
            costs.push(seen.cost().unwrap());
        }
        assert_eq!(costs, [90.0, 10.0, 20.0, 10.0, 20.0, 50.0]);
        assert_eq!((seen.runs(), seen.recent()), (6, &[10.0, 50.0, 50.0][..]));
        assert_eq!(Seen::from_parts(6, seen.recent()), Some(seen));
        assert_eq!(Seen::from_parts(1, &[1.0, 2.0]), None);
        assert_eq!(Seen::from_parts(1, &[f64::NAN]), None);
        assert_eq!(Seen::from_parts(1, &[0.0]), None);
        // No work and no time are still a cost.
        let mut seen = Seen::default();
        seen.add(0, 0);
        assert_eq!(seen.cost(), Some(1.0));
    }
}
