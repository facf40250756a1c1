//! A bounded cache of plans, as a value that the caller owns: a runtime, for the sessions that are opened with it and
//! for their first launches.
//!
//! The value for a key is made from the key alone, so the answer is the same whatever was asked before; only the time
//! it takes differs. Failures are not kept. When it is full, the entry that was asked for longest ago goes.
//!
//! ```
//! use vyre_core::plan::cache::Lru;
//! let mut squares = Lru::new(2);
//! for n in [3u64, 3, 4, 5, 3] {
//!     let square = squares.get_or_make(n, |n| n.checked_mul(*n).ok_or("overflow"));
//!     assert_eq!(square, Ok(&(n * n)));
//! }
//! let stats = squares.stats();
//! assert_eq!((stats.entries, stats.hits, stats.misses, stats.evictions), (2, 1, 4, 2));
//! ```

use super::route::Pressure;
use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

/// What a plan depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PlanKey {
    /// Hash of the pass and its sizes.
    pub layout_hash: u64,
    /// What it is a plan of.
    pub kind: PlanKind,
    /// Device ordinal.
    pub device: u32,
    /// Where the measurements lie among the thresholds.
    pub pressure: Pressure,
}

/// What a plan is of. Plans of two kinds differ on the same pass and sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PlanKind {
    /// A pass that has its backend to itself: sweeps may have a bitmap.
    Session,
    /// A graph among others of a pass, whose queries share launches. No sweep has a bitmap, because each query would
    /// need one.
    Batch,
    /// Two passes, as one program or one after the other under names of both.
    Fused,
}

/// Plans that a runtime keeps for its sessions.
pub const PLAN_CAPACITY: usize = 256;

/// What a cache did so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct CacheStats {
    /// Values it holds.
    pub entries: usize,
    /// Requests that it could answer.
    pub hits: u64,
    /// Requests that it had to make a value for.
    pub misses: u64,
    /// Values it dropped.
    pub evictions: u64,
}

impl CacheStats {
    /// Of two caches.
    pub fn plus(self, other: CacheStats) -> CacheStats {
        CacheStats {
            entries: self.entries + other.entries,
            hits: self.hits + other.hits,
            misses: self.misses + other.misses,
            evictions: self.evictions + other.evictions,
        }
    }
}

/// The values of the last `capacity` keys.
#[derive(Clone, Debug)]
pub struct Lru<K, V> {
    capacity: usize,
    entries: HashMap<K, (u64, V)>,
    by_age: BTreeMap<u64, K>,
    clock: u64,
    stats: CacheStats,
}

impl<K: Clone + Eq + Hash, V> Lru<K, V> {
    /// An empty cache for `capacity` values, at least one.
    pub fn new(capacity: usize) -> Lru<K, V> {
        Lru {
            capacity: capacity.max(1),
            entries: HashMap::new(),
            by_age: BTreeMap::new(),
            clock: 0,
            stats: CacheStats::default(),
        }
    }

    /// The value of a key; made now unless it is there. A failure is passed on and not kept.
    pub fn get_or_make<E>(
        &mut self,
        key: K,
        make: impl FnOnce(&K) -> Result<V, E>,
    ) -> Result<&V, E> {
        self.clock += 1;
        let now = self.clock;
        if let Some((used, _)) = self.entries.get_mut(&key) {
            self.by_age.remove(used);
            *used = now;
            self.stats.hits += 1;
        } else {
            self.stats.misses += 1;
            let value = make(&key)?;
            if self.entries.len() == self.capacity
                && let Some((_, oldest)) = self.by_age.pop_first()
            {
                self.entries.remove(&oldest);
                self.stats.evictions += 1;
            }
            self.entries.insert(key.clone(), (now, value));
        }
        self.by_age.insert(now, key.clone());
        Ok(&self.entries[&key].1)
    }

    /// Drops the value of a key, which nobody had to make room for.
    pub fn forget(&mut self, key: &K) {
        if let Some((used, _)) = self.entries.remove(key) {
            self.by_age.remove(&used);
        }
    }

    /// Counts so far.
    pub fn stats(&self) -> CacheStats {
        CacheStats {
            entries: self.entries.len(),
            ..self.stats
        }
    }
}
