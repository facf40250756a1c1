//! Sums and counts.

use vyre::prelude::*;

/// For each value the sum of those before it.
///
/// - in: `value`, of `n` elements
/// - out: `scanned`, of as many
///
/// Sums of 16 values, of 256 of these sums, and of 1,024 of those are taken upwards; downwards, each element adds what
/// is before it in its block to what is before the block. So each element is read twice and written once, all waves own
/// what they write, and no wave waits for another lane. (Blelloch's scan, Prefix sums and their applications, with wide
/// blocks in the place of a binary tree.)
#[wave_graph(export)]
#[pass(id = "standard.exclusive_scan", unproven)]
pub mod exclusive_scan {
    pub struct Data {
        #[input(per = n)]
        value: u32,
        #[output(per = n)]
        scanned: u32,
        n: u32,
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

    #[device]
    fn total(value: &Buf<u32>, from: u32, below: u32) -> u32 {
        let mut total = 0;
        for i in from..below {
            total += value[i];
        }
        total
    }

    #[wave(range((n + 15) / 16))]
    fn add_up(i: Index, value: &Buf<u32>, sum: &mut u32) {
        *sum = total(value, i * 16, i * 16 + (value.len() - i * 16).min(16));
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

    #[wave(range(n), after(hand_down_sums))]
    fn scan(i: Index, before: &Buf<u32>, value: &Buf<u32>, scanned: &mut u32) {
        *scanned = before[i / 16] + total(value, i / 16 * 16, i);
    }
}

/// How often each number occurs.
///
/// - in: `key`, of `n` elements, each below `bins`; one that is not traps
/// - out: `count`, of `bins` elements
#[wave_graph(export)]
#[pass(id = "standard.histogram", unproven)]
pub mod histogram {
    pub struct Data {
        #[input(per = n)]
        key: u32,
        #[output(per = bins)]
        count: u32,
        n: u32,
        bins: u32,
    }

    #[wave(range(n))]
    fn add(key: &u32, count: &Buf<Atomic<u32>>) {
        count[*key].fetch_add(1);
    }
}
