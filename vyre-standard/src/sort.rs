//! Sorting.

use vyre::prelude::*;

/// Pairs in the order of their keys. Those of one key stay in the order in which they were given.
///
/// - in: `key` and `value`, of `n` elements each
/// - out: `sorted` and `values`, of as many
///
/// A radix sort from the lowest digit on, four bits a round, with as many rounds as the largest key has digits. For
/// each digit and each block of 16 pairs it counts the pairs of the block that have the digit. The sums of all counts
/// before one say where its pairs begin. (Zagha and Blelloch, Radix sort for vector multiprocessors.)
#[wave_graph(export)]
#[pass(id = "standard.sort_by_key", unproven)]
pub mod sort_by_key {
    pub struct Data {
        #[input(per = n)]
        key: u32,
        #[input(per = n)]
        value: u32,
        #[output(per = n)]
        sorted: u32,
        #[output(per = n)]
        values: u32,
        n: u32,
        #[reduce(max)]
        largest: u32,
        #[scratch(per = n)]
        key_here: u32,
        #[scratch(per = n)]
        key_next: u32,
        #[scratch(per = n)]
        value_here: u32,
        #[scratch(per = n)]
        value_next: u32,
        /// How many pairs of a block have a digit: all blocks of digit 0, then those of digit 1, and so on.
        #[scratch(per = (n + 15) / 16 * 16)]
        count: u32,
        #[scratch(per = (n + 15) / 16)]
        sum: u32,
        #[scratch(per = (n + 15) / 16)]
        before: u32,
        #[scratch(per = ((n + 15) / 16 + 255) / 256)]
        upper_sum: u32,
        #[scratch(per = ((n + 15) / 16 + 255) / 256)]
        upper_before: u32,
        #[scratch(per = (((n + 15) / 16 + 255) / 256 + 1_023) / 1_024)]
        top_sum: u32,
    }

    #[wave(range(n))]
    fn take(
        key: &u32,
        value: &u32,
        key_here: &mut u32,
        value_here: &mut u32,
        largest: &Reduce<Max<u32>>,
    ) {
        *key_here = *key;
        *value_here = *value;
        largest.max(*key);
    }

    #[device]
    fn digit(key: u32, round: u32) -> u32 {
        key >> (4 * round) & 15
    }

    #[device]
    fn total(value: &Buf<u32>, from: u32, below: u32) -> u32 {
        let mut total = 0;
        for i in from..below {
            total += value[i];
        }
        total
    }

    #[fixpoint(
        after(take),
        until(round == 7 || largest >> (4 * (round + 1)) == 0),
        swap(key_here, key_next),
        swap(value_here, value_next),
        max_rounds = 8
    )]
    mod digits {
        #[wave(range((n + 15) / 16 * 16))]
        fn clear_counts(count: &mut u32) {
            *count = 0;
        }

        #[wave(range(n))]
        fn clear_pairs(key_next: &mut u32, value_next: &mut u32) {
            *key_next = 0;
            *value_next = 0;
        }

        #[wave(range(n), after(clear_counts))]
        fn count_digits(i: Index, round: Round, key_here: &u32, count: &Buf<Atomic<u32>>) {
            count[digit(*key_here, round) * (count.len() / 16) + i / 16].fetch_add(1);
        }

        // The sums of `exclusive_scan`, whose lowest blocks have as many counts as there are digits.
        #[wave(range((n + 15) / 16), after(count_digits))]
        fn add_up(i: Index, count: &Buf<u32>, sum: &mut u32) {
            *sum = total(count, i * 16, i * 16 + 16);
        }

        #[wave(range(((n + 15) / 16 + 255) / 256), after(add_up))]
        fn add_up_sums(i: Index, sum: &Buf<u32>, upper_sum: &mut u32) {
            *upper_sum = total(sum, i * 256, (i * 256 + 256).min(sum.len()));
        }

        #[wave(range((((n + 15) / 16 + 255) / 256 + 1_023) / 1_024), after(add_up_sums))]
        fn add_up_all(i: Index, upper_sum: &Buf<u32>, top_sum: &mut u32) {
            *top_sum = total(
                upper_sum,
                i * 1_024,
                (i * 1_024 + 1_024).min(upper_sum.len()),
            );
        }

        #[wave(range(((n + 15) / 16 + 255) / 256), after(add_up_all))]
        fn hand_down(i: Index, top_sum: &Buf<u32>, upper_sum: &Buf<u32>, upper_before: &mut u32) {
            *upper_before = total(top_sum, 0, i / 1_024) + total(upper_sum, i / 1_024 * 1_024, i);
        }

        #[wave(range((n + 15) / 16), after(hand_down))]
        fn hand_down_sums(i: Index, upper_before: &Buf<u32>, sum: &Buf<u32>, before: &mut u32) {
            *before = upper_before[i / 256] + total(sum, i / 256 * 256, i);
        }

        // A sum with zero and not a store: the plan sees that its order does not matter.
        #[wave(range(n), after(hand_down_sums, clear_pairs))]
        fn place(
            i: Index,
            round: Round,
            key_here: &Buf<u32>,
            value_here: &Buf<u32>,
            before: &Buf<u32>,
            count: &Buf<u32>,
            key_next: &Buf<Atomic<u32>>,
            value_next: &Buf<Atomic<u32>>,
        ) {
            let key = key_here[i];
            let mine = digit(key, round);
            let slot = mine * (count.len() / 16) + i / 16;
            let mut at = before[slot / 16] + total(count, slot / 16 * 16, slot);
            for other in i / 16 * 16..i {
                at += u32::from(digit(key_here[other], round) == mine);
            }
            key_next[at].fetch_add(key);
            value_next[at].fetch_add(value_here[i]);
        }
    }

    #[wave(range(n), after(digits))]
    fn give(key_here: &u32, value_here: &u32, sorted: &mut u32, values: &mut u32) {
        *sorted = *key_here;
        *values = *value_here;
    }
}
