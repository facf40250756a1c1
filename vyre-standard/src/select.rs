//! Some of many.

use vyre::prelude::*;

/// The values that are kept, without gaps, in the order in which they are given.
///
/// - in: `value` and `keep`, of `n` elements each
/// - out: `kept`, of `n` elements, of which the first `many` are there and the others zero; `many`
#[wave_graph(export)]
#[pass(id = "standard.compact", unproven)]
pub mod compact {
    #[include(value = kept_here, scanned = place, n = n, after(look))]
    pub use crate::exclusive_scan as scan;

    pub struct Data {
        #[input(per = n)]
        value: u32,
        #[input(per = n)]
        keep: bool,
        #[output(per = n)]
        kept: u32,
        #[reduce(count)]
        many: u64,
        n: u32,
        #[scratch(per = n)]
        kept_here: u32,
        #[scratch(per = n)]
        place: u32,
    }

    #[wave(range(n))]
    fn look(keep: &bool, kept_here: &mut u32, many: &Reduce<Count>) {
        if *keep {
            *kept_here = 1;
            many.inc();
        }
    }

    // A sum with zero and not a store: the plan sees that its order does not matter.
    #[wave(range(n), after(scan))]
    fn place_kept(keep: &bool, value: &u32, place: &u32, kept: &Buf<Atomic<u32>>) {
        if *keep {
            kept[*place].fetch_add(*value);
        }
    }
}
