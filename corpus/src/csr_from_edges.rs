//! Makes a graph in CSR form from unsorted pairs of nodes: the offsets, and the targets with each row sorted.
//!
//! The classic three steps: count the pairs of each source, scan the counts to offsets, scatter the targets. The scan
//! goes by chunks of 256 rows (sums of the chunks, a scan of the sums by one lane, then the rows of each chunk). A lane
//! sorts each row afterwards, by heapsort, because the rows of an R-MAT graph are as long as some thousand targets.
//! Pairs that are there twice stay twice.
//!
//! What it taught: there is no scan and no sort to call, so half of the pass is a scan and a heapsort by hand. Lengths
//! have no operators, so `rows + 1` and the number of chunks are scalars of their own that each caller must get right.
//! A row of targets belongs to one lane, but is not the lane's own element, so the sort works on atomics, and `PLAN`
//! calls the result open although it is unique. Sorting takes more than half of the time.

use crate::rng::directed;
use vyre::prelude::*;

/// The pairs, by column.
pub struct Input {
    /// Number of nodes.
    pub nodes: u32,
    /// Where each pair begins.
    pub source: Vec<u32>,
    /// Where it ends.
    pub target: Vec<u32>,
}

/// Offsets and targets.
pub type Output = (Vec<u32>, Vec<u32>);

#[wave_graph]
pub mod build {
    pub const CHUNK: u32 = 256;

    pub struct Data {
        #[input(per = pairs)]
        source: u32,
        #[input(per = pairs)]
        target: u32,
        #[scratch(per = rows)]
        degree: u32,
        #[scratch(per = chunks)]
        sum: u32,
        #[scratch(per = rows)]
        next: u32,
        #[output(per = ends)]
        offsets: u32,
        #[output(per = pairs)]
        targets: u32,
        pairs: u32,
        rows: u32,
        ends: u32,
        chunks: u32,
    }

    #[wave(range(pairs))]
    fn count(source: &u32, degree: &Buf<Atomic<u32>>) {
        degree[*source].fetch_add(1);
    }

    #[wave(range(chunks), after(count))]
    fn sum_chunk(c: Index, rows: u32, degree: &Buf<u32>, sum: &mut u32) {
        for v in c * CHUNK..(c * CHUNK + CHUNK).min(rows) {
            *sum += degree[v];
        }
    }

    #[wave(once, after(sum_chunk))]
    fn scan_sums(sum: &Buf<Atomic<u32>>) {
        let mut total = 0;
        for c in 0..sum.len() {
            total += sum[c].swap(total);
        }
    }

    #[wave(range(chunks), after(scan_sums))]
    fn scan_chunk(
        c: Index,
        rows: u32,
        degree: &Buf<u32>,
        sum: &u32,
        offsets: &Buf<Atomic<u32>>,
        next: &Buf<Atomic<u32>>,
    ) {
        let mut total = *sum;
        for v in c * CHUNK..(c * CHUNK + CHUNK).min(rows) {
            next[v].store(total);
            total += degree[v];
            offsets[v + 1].store(total);
        }
    }

    #[wave(range(pairs), after(scan_chunk))]
    fn scatter(source: &u32, target: &u32, next: &Buf<Atomic<u32>>, targets: &Buf<Atomic<u32>>) {
        targets[next[*source].fetch_add(1)].store(*target);
    }

    /// Lets the element at `root` of the heap of `len` elements from `start` on sink to its place.
    #[device]
    fn sink(targets: &Buf<Atomic<u32>>, start: u32, root: u32, len: u32) {
        let value = targets[start + root].load();
        let mut at = root;
        while 2 * at + 1 < len {
            let mut child = 2 * at + 1;
            let mut larger = targets[start + child].load();
            if child + 1 < len && targets[start + child + 1].load() > larger {
                child += 1;
                larger = targets[start + child].load();
            }
            if larger <= value {
                break;
            }
            targets[start + at].store(larger);
            at = child;
        }
        targets[start + at].store(value);
    }

    #[wave(range(rows), after(scatter))]
    fn sort(v: Index, offsets: &Buf<u32>, targets: &Buf<Atomic<u32>>) {
        let start = offsets[v];
        let len = offsets[v + 1] - start;
        for root in (0..len / 2).rev() {
            sink(targets, start, root, len);
        }
        for end in (1..len).rev() {
            let largest = targets[start].load();
            let last = targets[start + end].swap(largest);
            targets[start].store(last);
            sink(targets, start, 0, end);
        }
    }
}

/// The edges of an R-MAT graph, in the order in which they are drawn.
pub fn input(small: bool) -> Input {
    let (nodes, pairs) = if small { (700, 5_000) } else { (100_000, 1_000_000) };
    let (source, target) = directed(nodes, pairs, 22).into_iter().unzip();
    Input { nodes, source, target }
}

/// Counting sort by source, then each row by the standard library.
pub fn sequential(input: &Input) -> Output {
    let mut offsets = vec![0u32; input.nodes as usize + 1];
    for &v in &input.source {
        offsets[v as usize + 1] += 1;
    }
    for v in 0..input.nodes as usize {
        offsets[v + 1] += offsets[v];
    }
    let mut next = offsets.clone();
    let mut targets = vec![0; input.source.len()];
    for (&v, &w) in input.source.iter().zip(&input.target) {
        targets[next[v as usize] as usize] = w;
        next[v as usize] += 1;
    }
    for row in offsets.windows(2) {
        targets[row[0] as usize..row[1] as usize].sort_unstable();
    }
    (offsets, targets)
}

/// Opens the session; each call is one run.
pub fn prepare<'i>(
    runtime: &vyre::Runtime,
    input: &'i Input,
) -> Result<Box<dyn FnMut() -> Result<Output, vyre::Error> + 'i>, vyre::Error> {
    let mut session = build::Session::new(runtime, ())?;
    Ok(Box::new(move || {
        let out = session.run(build::Run {
            source: &input.source,
            target: &input.target,
            pairs: input.source.len() as u32,
            rows: input.nodes,
            ends: input.nodes + 1,
            chunks: input.nodes.div_ceil(build::CHUNK),
        })?;
        Ok((out.offsets, out.targets))
    }))
}

/// The result is that of `sequential`: sorted rows are unique.
pub fn check(input: &Input, output: &Output) -> Result<(), String> {
    let expected = sequential(input);
    if output.0 != expected.0 {
        return Err("the offsets differ".to_owned());
    }
    if output.1 != expected.1 {
        return Err("the targets differ".to_owned());
    }
    Ok(())
}
