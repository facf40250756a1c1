//! Buffers that share memory.

use std::num::NonZeroU64;
use vyre_core::plan::arena::{Arena, ArenaError, Buffer, place};

#[test]
fn buffers_share_memory_when_their_lives_do_not_meet() {
    let arena = place(&[
        Buffer::new(100, 0, 0),
        Buffer::new(80, 1, 1),
        Buffer::new(90, 2, 3),
    ])
    .unwrap();
    assert_eq!(arena.offsets_bytes, [0, 0, 0]);
    assert_eq!((arena.bytes, arena.lower_bound_bytes), (100, 100));
    assert!(arena.smallest);

    // They meet in step 1.
    let arena = place(&[Buffer::new(100, 0, 1), Buffer::new(80, 1, 1)]).unwrap();
    assert_eq!(arena.offsets_bytes, [0, 100]);
    assert_eq!(place(&[]).unwrap().bytes, 0);
}

#[test]
fn alignment_is_kept() {
    let aligned = Buffer {
        align_bytes: NonZeroU64::new(256).unwrap(),
        ..Buffer::new(10, 0, 1)
    };
    let arena = place(&[Buffer::new(300, 0, 0), aligned, Buffer::new(20, 1, 1)]).unwrap();
    assert_eq!(arena.offsets_bytes[1] % 256, 0);
    assert_eq!(arena.offsets_bytes, [10, 0, 10]);
    assert_eq!(arena.bytes, 310);
}

#[test]
fn lifetimes_and_sizes_that_make_no_sense_are_refused() {
    assert_eq!(
        place(&[Buffer::new(1, 0, 0), Buffer::new(1, 3, 2)]),
        Err(ArenaError::Lifetime {
            buffer: 1,
            first_step: 3,
            last_step: 2
        })
    );
    let huge = Buffer::new(u64::MAX, 0, 0);
    assert_eq!(
        place(&[huge, Buffer::new(1, 0, 0)])
            .unwrap_err()
            .to_string(),
        "the end of buffer 1 overflows 64 bits"
    );
    // One after the other they fit.
    assert_eq!(
        place(&[huge, Buffer::new(1, 1, 1)]).unwrap().bytes,
        u64::MAX
    );
}

fn random(u: &mut arbtest::arbitrary::Unstructured<'_>, most: usize) -> Vec<Buffer> {
    let mut buffers = Vec::new();
    let Ok(count) = u.int_in_range(0..=most) else {
        return buffers;
    };
    for _ in 0..count {
        let bytes = u.int_in_range(0..=12).unwrap_or(1);
        let first = u.int_in_range(0..=6).unwrap_or(0);
        let life = u.int_in_range(0..=3).unwrap_or(0);
        buffers.push(Buffer::new(bytes, first, first + life));
    }
    buffers
}

fn check(buffers: &[Buffer], arena: &Arena) {
    for (i, a) in buffers.iter().enumerate() {
        let at = |i: usize| arena.offsets_bytes[i];
        assert!(at(i) + a.bytes <= arena.bytes);
        for (j, b) in buffers.iter().enumerate().skip(i + 1) {
            let meet = a.first_step <= b.last_step && b.first_step <= a.last_step;
            let apart = at(i) + a.bytes <= at(j) || at(j) + b.bytes <= at(i);
            assert!(
                !meet || apart || a.bytes == 0 || b.bytes == 0,
                "{buffers:?}"
            );
        }
    }
    // The bound, step by step.
    let live = |step| -> u64 {
        let alive = |b: &&Buffer| (b.first_step..=b.last_step).contains(&step);
        buffers.iter().filter(alive).map(|b| b.bytes).sum()
    };
    assert_eq!(
        arena.lower_bound_bytes,
        (0..12).map(live).max().unwrap_or(0)
    );
    assert!(arena.bytes >= arena.lower_bound_bytes);
}

#[test]
fn buffers_that_live_together_are_disjoint() {
    arbtest::arbtest(|u| {
        let buffers = random(u, 40);
        let arena = place(&buffers).unwrap();
        check(&buffers, &arena);
        Ok(())
    });
}

/// Whether the buffers fit a size, by trying every offset of each.
fn fits(buffers: &[Buffer], placed: &mut Vec<u64>, size: u64) -> bool {
    let Some(next) = buffers.get(placed.len()) else {
        return true;
    };
    for offset in 0..=size.saturating_sub(next.bytes) {
        let free = placed.iter().zip(buffers).all(|(&at, b)| {
            let meet = b.first_step <= next.last_step && next.first_step <= b.last_step;
            !meet || at + b.bytes <= offset || offset + next.bytes <= at
        });
        if free && offset + next.bytes <= size {
            placed.push(offset);
            let ok = fits(buffers, placed, size);
            placed.pop();
            if ok {
                return true;
            }
        }
    }
    false
}

#[test]
fn few_buffers_take_the_least_memory() {
    arbtest::arbtest(|u| {
        let buffers = random(u, 5);
        let arena = place(&buffers).unwrap();
        check(&buffers, &arena);
        assert!(arena.smallest);
        assert!(fits(&buffers, &mut Vec::new(), arena.bytes));
        assert!(arena.bytes == 0 || !fits(&buffers, &mut Vec::new(), arena.bytes - 1));
        Ok(())
    });
}
