//! Which patterns are subsequences of a text.

use vyre::prelude::*;

#[wave_graph(deterministic)]
#[pass(id = "a.subsequences", unproven)]
pub mod subsequences {
    #[include(key = letter, value = place, values = places, n = n, after(spell))]
    use vyre_standard::sort_by_key as sort;
    #[include(key = letter, count = many, n = n, bins = 256, after(spell))]
    use vyre_standard::histogram as counts;
    #[include(value = many, scanned = first, n = 256, after(counts))]
    use vyre_standard::exclusive_scan as scan;

    pub struct Data {
        #[input(per = n)] text: u8,
        #[topology] patterns: u32,
        #[topology(per = patterns)] pattern: Rows<u8>,
        #[scratch(per = n)] letter: u32,
        #[scratch(per = n)] place: u32,
        /// Where each letter stands in the text, letter by letter.
        #[scratch(per = n)] places: u32,
        #[scratch(per = 256)] many: u32,
        #[scratch(per = 256)] first: u32,
        #[output(per = patterns)] found: bool,
        #[output(per = patterns)] prefix: u32,
        /// The place of each letter of a pattern in its first embedding.
        #[output(per = row(pattern), init = u32::MAX)] at: u32,
        n: u32,
    }

    #[wave(range(n))]
    fn spell(i: Index, text: &u8, letter: &mut u32, place: &mut u32) {
        *letter = u32::from(*text);
        *place = i;
    }

    #[wave(range(patterns), after(sort, scan))]
    fn look(
        pattern: &Row<u8>, places: &Buf<u32>, many: &Buf<u32>, first: &Buf<u32>,
        found: &mut bool, prefix: &mut u32, at: &mut Row<u32>,
    ) {
        let mut from = 0;
        let mut len = 0;
        for c in pattern {
            let c = u32::from(c);
            let end = first[c] + many[c];
            let (mut low, mut high) = (first[c], end);
            while low < high {
                let mid = low + (high - low) / 2;
                if places[mid] < from {
                    low = mid + 1;
                } else {
                    high = mid;
                }
            }
            if low == end {
                break;
            }
            at[len] = places[low];
            from = places[low] + 1;
            len += 1;
        }
        *prefix = len;
        *found = len == pattern.len();
    }
}
