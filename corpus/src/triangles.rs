//! Counts the triangles through each node of an undirected graph.
//!
//! Source: the "forward" algorithm of T. Schank and D. Wagner, "Finding, Counting and Listing all Triangles in Large
//! Graphs" (2005). Each edge leads from its end of lower degree to that of higher degree; the sorted lists of its two
//! ends are merged, and each common node closes a triangle.
//!
//! How it was written: from the README, docs/LANGUAGE.md and docs/SESSIONS.md alone.

use crate::rng;
use vyre::prelude::*;
use vyre::{Csr, Error, Runtime};

#[wave_graph]
pub mod forward {
    pub struct Data {
        #[topology]
        upward: Csr,
        #[output(per = node)]
        triangles: u32,
    }

    #[wave(edges(upward))]
    fn count(e: Edge, upward: &Csr, triangles: &Buf<Atomic<u32>>) {
        let (mut i, mut j) = (upward.edges(e.src).start, upward.edges(e.dst).start);
        let mut count = 0;
        while i < upward.edges(e.src).end && j < upward.edges(e.dst).end {
            let (x, y) = (upward.target(i), upward.target(j));
            if x == y {
                triangles[x].fetch_add(1);
                count += 1;
            }
            i += u32::from(x <= y);
            j += u32::from(y <= x);
        }
        if count > 0 {
            triangles[e.src].fetch_add(count);
            triangles[e.dst].fetch_add(count);
        }
    }
}

pub struct Input {
    /// Each edge once, from the end of lower degree (the smaller node of equals), with sorted targets.
    pub upward: Csr,
}

/// The number of triangles through each node.
pub type Output = Vec<u32>;

pub fn input(small: bool) -> Input {
    let graph = rng::rmat(if small { 8 } else { 16 }, 16, 1);
    let mut edges = Vec::new();
    for v in 0..graph.node_count() as u32 {
        for w in graph.neighbors(v) {
            if (graph.degree(v), v) < (graph.degree(w), w) {
                edges.push((v, w));
            }
        }
    }
    Input { upward: Csr::from_edges(graph.node_count(), &edges).expect("edges name nodes") }
}

/// The same merges, one after the other.
pub fn sequential(input: &Input) -> Output {
    let upward = &input.upward;
    let (offsets, targets) = (upward.offsets(), upward.targets());
    let row = |v: u32| &targets[offsets[v as usize] as usize..offsets[v as usize + 1] as usize];
    let mut triangles = vec![0; upward.node_count()];
    for v in 0..upward.node_count() as u32 {
        for &w in row(v) {
            let (a, b) = (row(v), row(w));
            let (mut i, mut j, mut count) = (0, 0, 0);
            while i < a.len() && j < b.len() {
                let (x, y) = (a[i], b[j]);
                if x == y {
                    triangles[x as usize] += 1;
                    count += 1;
                }
                i += usize::from(x <= y);
                j += usize::from(y <= x);
            }
            triangles[v as usize] += count;
            triangles[w as usize] += count;
        }
    }
    triangles
}

pub fn prepare<'i>(
    runtime: &Runtime,
    input: &'i Input,
) -> Result<Box<dyn FnMut() -> Result<Output, Error> + 'i>, Error> {
    let mut session = forward::Session::new(runtime, &input.upward)?;
    Ok(Box::new(move || Ok(session.run(forward::Run {})?.triangles)))
}

/// Against the sequential program; on a small graph also against all triples of nodes.
pub fn check(input: &Input, output: &Output) -> Result<(), String> {
    let expected = sequential(input);
    if let Some(v) = (0..expected.len()).find(|&v| output[v] != expected[v]) {
        return Err(format!("node {v} is in {} triangles, not {}", output[v], expected[v]));
    }
    let n = input.upward.node_count();
    if n > 1000 {
        return Ok(());
    }
    let mut near = vec![false; n * n];
    for v in 0..n {
        for w in input.upward.neighbors(v as u32) {
            near[v * n + w as usize] = true;
            near[w as usize * n + v] = true;
        }
    }
    for v in 0..n {
        let twice: u32 = (0..n)
            .filter(|&w| near[v * n + w])
            .map(|w| (0..n).filter(|&x| near[v * n + x] && near[w * n + x]).count() as u32)
            .sum();
        if twice != 2 * output[v] {
            return Err(format!("node {v} is in {} triangles, not {}", output[v], twice / 2));
        }
    }
    Ok(())
}
