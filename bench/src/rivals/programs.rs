//! Data flow in programs, function by function: one function after the other, or each a task.

use super::cpu::row;
use rayon::prelude::*;
use std::ops::Range;
use vyre_examples::cfg::{Cfg, Definitions};

/// Lets sets flow backward among the blocks from `first` on, whose sets are `live`; scratch is the worklist and who is
/// on it (no block, before and after). The last block first: most edges lead on, so most sets are final when they are
/// read.
pub(super) fn live(
    predecessors: &vyre::Csr,
    defs: &[u64],
    first: usize,
    live: &mut [u64],
    (waiting, waits): (&mut Vec<u32>, &mut [bool]),
) {
    waiting.extend(first as u32..(first + live.len()) as u32);
    waits.fill(true);
    while let Some(block) = waiting.pop() {
        let at = block as usize - first;
        waits[at] = false;
        let here = live[at];
        for &p in row(predecessors, block) {
            let before = p as usize - first;
            let grown = live[before] | here & !defs[p as usize];
            if grown != live[before] {
                live[before] = grown;
                if !waits[before] {
                    waits[before] = true;
                    waiting.push(p);
                }
            }
        }
    }
}

/// What is live in all blocks, a task for each group of functions.
pub(super) fn live_by_functions(cfg: &Cfg, predecessors: &vyre::Csr) -> Vec<u64> {
    /// Blocks of a task, at least.
    const BLOCKS: usize = 8192;
    let mut all = cfg.uses.clone();
    let (mut rest, mut first, mut tasks) = (&mut all[..], 0, Vec::new());
    for &end in &cfg.functions[1..] {
        let len = end as usize - first;
        if len >= BLOCKS || end as usize == cfg.uses.len() {
            let (part, after) = std::mem::take(&mut rest).split_at_mut(len);
            tasks.push((first, part));
            (rest, first) = (after, end as usize);
        }
    }
    tasks.into_par_iter().for_each_init(
        || (Vec::new(), Vec::new()),
        |(waiting, waits), (first, part)| {
            waits.resize(part.len().max(waits.len()), false);
            let scratch = (waiting, &mut waits[..part.len()]);
            live(predecessors, &cfg.defs, first, part, scratch);
        },
    );
    all
}

/// The rows of all blocks, one function after the other.
pub(super) fn reaching(cfg: &Cfg, definitions: &Definitions) -> Vec<u32> {
    let mut rows = vec![0; definitions.len() as usize];
    let mut waits = Vec::new();
    for (part, rows) in functions(cfg, definitions, &mut rows) {
        reach(cfg, definitions, part, rows, &mut waits);
    }
    rows
}

/// The same, each function a task.
pub(super) fn reaching_by_functions(cfg: &Cfg, definitions: &Definitions) -> Vec<u32> {
    let mut rows = vec![0; definitions.len() as usize];
    functions(cfg, definitions, &mut rows)
        .into_par_iter()
        .for_each_init(Vec::new, |waits, (part, rows)| {
            reach(cfg, definitions, part, rows, waits);
        });
    rows
}

/// The blocks of each function, and their rows.
fn functions<'r>(
    cfg: &Cfg,
    definitions: &Definitions,
    mut rows: &'r mut [u32],
) -> Vec<(Range<u32>, &'r mut [u32])> {
    let of = |part: Range<u32>| {
        let row = |block: u32| definitions.row[block as usize] as usize;
        let len = row(part.end) - row(part.start);
        let (own, rest) = std::mem::take(&mut rows).split_at_mut(len);
        rows = rest;
        (part, own)
    };
    cfg.parts().map(of).collect()
}

/// The rows of one function: in the order of addresses, blocks whose row grew hand it on, until none is left.
fn reach(
    cfg: &Cfg,
    definitions: &Definitions,
    part: Range<u32>,
    rows: &mut [u32],
    waits: &mut Vec<bool>,
) {
    let words = definitions.words.edges(part.start);
    let registers = &definitions.register[words.start as usize..words.end as usize];
    let width = registers.len();
    let columns: Vec<&[u32]> = registers.chunk_by(|a, b| a == b).collect();
    waits.clear();
    waits.resize(part.len(), false);
    for block in part.clone() {
        for &next in row(&cfg.successors, block) {
            let at = (next - part.start) as usize;
            for write in definitions.writes.edges(block) {
                let bit = definitions.bit[write as usize];
                rows[at * width + bit as usize / 32] |= 1 << (bit % 32);
            }
            waits[at] = true;
        }
    }
    let mut open = true;
    while std::mem::take(&mut open) {
        for at in 0..part.len() {
            if !std::mem::take(&mut waits[at]) {
                continue;
            }
            let block = part.start + at as u32;
            let killed = definitions.defs[block as usize];
            for &next in row(&cfg.successors, block) {
                let to = (next - part.start) as usize;
                // What comes back to the block itself is there.
                let (from_row, to_row) = if at < to {
                    let (low, high) = rows.split_at_mut(to * width);
                    (&low[at * width..][..width], &mut high[..width])
                } else if to < at {
                    let (low, high) = rows.split_at_mut(at * width);
                    (&high[..width], &mut low[to * width..][..width])
                } else {
                    continue;
                };
                let (mut first, mut grown) = (0, 0);
                for column in &columns {
                    let range = first..first + column.len();
                    first = range.end;
                    if killed >> column[0] & 1 == 0 {
                        for (to, from) in to_row[range.clone()].iter_mut().zip(&from_row[range]) {
                            grown |= from & !*to;
                            *to |= from;
                        }
                    }
                }
                if grown != 0 {
                    waits[to] = true;
                    open |= to <= at;
                }
            }
        }
    }
}
