//! What one would write for the CPU without vyre: sequential worklists, rayon, petgraph.
//!
//! Scratch memory is kept from run to run; the result is a vector of its own each time, as it is with vyre.

use super::{Measured, Place, Prepared, Rival, Skip, programs, relations};
use crate::workloads::{
    DAMPING, FACTOR, MAX_RANK_ROUNDS, Problem, SEED, TOLERANCE, Values, Workload, hashed,
};
use rayon::prelude::*;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use vyre::Csr;
use vyre_examples::cli::count;

type Ready<'w> = Result<Box<dyn Prepared + 'w>, Skip>;

pub(super) fn all() -> Vec<Box<dyn Rival>> {
    let rival = |name, about, prepare, most_edges| {
        Box::new(Cpu {
            name,
            about,
            prepare,
            most_edges,
        }) as Box<dyn Rival>
    };
    let any = usize::MAX;
    vec![
        rival(
            "sequential",
            "one thread: queue, Dijkstra with a heap, power iteration, union-find, worklist, plain loop, search from each node, set",
            sequential,
            any,
        ),
        rival(
            "bellman-ford",
            "one thread: Bellman-Ford with a worklist",
            bellman_ford,
            any,
        ),
        rival(
            "dial",
            "one thread: Dijkstra with a ring of buckets (Dial)",
            dial,
            any,
        ),
        rival(
            "rayon",
            "all threads: direction-optimizing search, delta stepping, Afforest, synchronous rounds, parallel loops, search from each node",
            parallel,
            any,
        ),
        rival(
            "rayon-functions",
            "all threads: a worklist for each function, or for each group of small ones",
            functions,
            any,
        ),
        rival(
            "petgraph",
            "one thread: petgraph's algorithms on its Csr",
            petgraph_rival,
            70_000_000,
        ),
        rival(
            "rayon-sets",
            "all threads: a relation as a hash set in shards, round by round",
            relations::sets,
            any,
        ),
        rival(
            "bit-rows",
            "all threads: a relation as rows of bits, round by round",
            relations::bits,
            any,
        ),
        rival(
            "ascent",
            "one thread: Datalog, compiled by ascent!",
            relations::ascent,
            any,
        ),
        rival(
            "ascent-par",
            "all threads: Datalog, compiled by ascent_par!",
            relations::ascent_par,
            any,
        ),
    ]
}

struct Cpu {
    name: &'static str,
    about: &'static str,
    prepare: for<'w> fn(&'w Problem) -> Ready<'w>,
    /// Edges that are worth copying into a graph of its own.
    most_edges: usize,
}

impl Rival for Cpu {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn place(&self) -> Place {
        Place::Cpu
    }

    fn too_long(&self, workload: &Workload) -> Option<String> {
        // For the others there is no graph to be copied.
        let copied = matches!(workload.problem, Problem::Bfs { .. } | Problem::Sssp { .. });
        let (_, edges) = workload.sizes();
        (copied && edges > self.most_edges)
            .then(|| format!("{} edges take minutes and gigabytes", count(edges)))
    }

    fn prepare<'w>(&self, workload: &'w Workload) -> Ready<'w> {
        (self.prepare)(&workload.problem)
    }
}

fn runs<'w>(mut run: impl FnMut() -> Values + 'w) -> Ready<'w> {
    Ok(Box::new(move || Ok(Measured::new(run()))))
}

fn counted<'w>(mut run: impl FnMut() -> (Values, u64) + 'w) -> Ready<'w> {
    Ok(Box::new(move || {
        let (values, rounds) = run();
        Ok(Measured {
            rounds: Some(rounds),
            ..Measured::new(values)
        })
    }))
}

const UNREACHED: u32 = u32::MAX;

pub(super) fn row(graph: &Csr, v: u32) -> &[u32] {
    let (offsets, v) = (graph.offsets(), v as usize);
    &graph.targets()[offsets[v] as usize..offsets[v + 1] as usize]
}

/// Targets of a node with the weights of its edges.
fn arcs<'g>(graph: &'g Csr, weights: &'g [u32], v: u32) -> impl Iterator<Item = (u32, u32)> + 'g {
    let (offsets, v) = (graph.offsets(), v as usize);
    let range = offsets[v] as usize..offsets[v + 1] as usize;
    let targets = graph.targets()[range.clone()].iter();
    targets.copied().zip(weights[range].iter().copied())
}

fn sequential(problem: &Problem) -> Ready<'_> {
    match problem {
        Problem::Bfs { graph, .. } => {
            let mut queue = Vec::with_capacity(graph.node_count());
            runs(move || {
                let mut dist = vec![UNREACHED; graph.node_count()];
                queue.clear();
                queue.push(0);
                dist[0] = 0;
                let mut head = 0;
                while let Some(&v) = queue.get(head) {
                    head += 1;
                    let next = dist[v as usize] + 1;
                    for &t in row(graph, v) {
                        let d = &mut dist[t as usize];
                        if *d == UNREACHED {
                            *d = next;
                            queue.push(t);
                        }
                    }
                }
                Values::U32(dist)
            })
        }
        Problem::Sssp { graph, weights } => {
            let mut heap = BinaryHeap::new();
            runs(move || {
                let mut dist = vec![UNREACHED; graph.node_count()];
                dist[0] = 0;
                // Distance and node in one word: one comparison orders them.
                heap.push(Reverse(0u64));
                while let Some(Reverse(entry)) = heap.pop() {
                    let (near, v) = ((entry >> 32) as u32, entry as u32);
                    if near > dist[v as usize] {
                        continue;
                    }
                    for (t, weight) in arcs(graph, weights, v) {
                        let far = near.saturating_add(weight);
                        if far < dist[t as usize] {
                            dist[t as usize] = far;
                            heap.push(Reverse(u64::from(far) << 32 | u64::from(t)));
                        }
                    }
                }
                Values::U32(dist)
            })
        }
        Problem::PageRank { graph } => {
            let nodes = graph.node_count();
            let mut share = vec![0f32; nodes];
            counted(move || {
                let start = 1.0 / nodes as f32;
                let mut rank = vec![start; nodes];
                let mut rounds = 0;
                loop {
                    let mut dangling = 0f64;
                    for (v, (rank, share)) in rank.iter().zip(&mut share).enumerate() {
                        match graph.degree(v as u32) {
                            0 => dangling += f64::from(*rank),
                            degree => *share = DAMPING * rank / degree as f32,
                        }
                    }
                    let base = restart(start, dangling);
                    let mut moved = 0f64;
                    for (v, rank) in (0u32..).zip(&mut rank) {
                        let next = row(graph, v)
                            .iter()
                            .fold(base, |sum, &u| sum + share[u as usize]);
                        moved += f64::from((next - *rank).abs());
                        *rank = next;
                    }
                    rounds += 1;
                    if moved < f64::from(TOLERANCE) || rounds == u64::from(MAX_RANK_ROUNDS) {
                        return (Values::F32(rank), rounds);
                    }
                }
            })
        }
        Problem::Components { graph } => runs(move || {
            let nodes = graph.node_count() as u32;
            let mut parent: Vec<u32> = (0..nodes).collect();
            for v in 0..nodes {
                let mut a = root(&mut parent, v);
                for &t in row(graph, v) {
                    // The other direction of the edge does the same.
                    if t > v {
                        break;
                    }
                    let b = root(&mut parent, t);
                    if a != b {
                        parent[a.max(b) as usize] = a.min(b);
                        a = a.min(b);
                    }
                }
            }
            for v in 0..nodes as usize {
                // Parents are smaller, so theirs are final.
                parent[v] = parent[parent[v] as usize];
            }
            Values::U32(parent)
        }),
        Problem::Liveness { cfg, predecessors } => {
            let blocks = cfg.uses.len();
            let (mut waiting, mut waits) = (Vec::with_capacity(blocks), vec![false; blocks]);
            runs(move || {
                let mut live = cfg.uses.clone();
                programs::live(
                    predecessors,
                    &cfg.defs,
                    0,
                    &mut live,
                    (&mut waiting, &mut waits),
                );
                Values::U64(live)
            })
        }
        Problem::Reaching { cfg, definitions } => {
            runs(|| Values::U32(programs::reaching(cfg, definitions)))
        }
        Problem::Saxpy { x, y } => Ok(Box::new(Saxpy {
            x,
            before: y,
            y: Vec::new(),
            add: |x, y| {
                for (y, x) in y.iter_mut().zip(x) {
                    *y += FACTOR * x;
                }
            },
        })),
        Problem::Hash { len } => runs(|| Values::U32((0..*len).map(|i| hashed(i, SEED)).collect())),
        Problem::Relation { .. } => relations::sequential(problem),
    }
}

/// What each node gets from walkers that start anew and from nodes without edges out.
fn restart(start: f32, dangling: f64) -> f32 {
    let damping = f64::from(DAMPING);
    ((1.0 - damping + damping * dangling) * f64::from(start)) as f32
}

fn root(parent: &mut [u32], mut v: u32) -> u32 {
    while parent[v as usize] != v {
        let above = parent[parent[v as usize] as usize];
        parent[v as usize] = above;
        v = above;
    }
    v
}

struct Saxpy<'w> {
    x: &'w [f32],
    before: &'w [f32],
    y: Vec<f32>,
    add: fn(&[f32], &mut [f32]),
}

impl Prepared for Saxpy<'_> {
    fn reset(&mut self) {
        self.y.resize(self.before.len(), 0.0);
        self.y.copy_from_slice(self.before);
    }

    fn run(&mut self) -> Result<Measured, String> {
        (self.add)(self.x, &mut self.y);
        Ok(Measured::new(Values::F32(std::mem::take(&mut self.y))))
    }
}

fn bellman_ford(problem: &Problem) -> Ready<'_> {
    let Problem::Sssp { graph, weights } = problem else {
        return Err(Skip::NoAlgorithm);
    };
    let mut waits = vec![false; graph.node_count()];
    let mut queue = VecDeque::new();
    runs(move || {
        let mut dist = vec![UNREACHED; graph.node_count()];
        dist[0] = 0;
        queue.push_back(0);
        while let Some(v) = queue.pop_front() {
            waits[v as usize] = false;
            let near = dist[v as usize];
            for (t, weight) in arcs(graph, weights, v) {
                let far = near.saturating_add(weight);
                if far < dist[t as usize] {
                    dist[t as usize] = far;
                    if !std::mem::replace(&mut waits[t as usize], true) {
                        queue.push_back(t);
                    }
                }
            }
        }
        Values::U32(dist)
    })
}

fn dial(problem: &Problem) -> Ready<'_> {
    let Problem::Sssp { graph, weights } = problem else {
        return Err(Skip::NoAlgorithm);
    };
    let heaviest = weights.iter().copied().max().unwrap_or(0) as usize;
    let mut ring: Vec<Vec<u32>> = vec![Vec::new(); heaviest + 1];
    runs(move || {
        let mut dist = vec![UNREACHED; graph.node_count()];
        dist[0] = 0;
        ring[0].push(0);
        let (mut near, mut waiting) = (0u32, 1usize);
        while waiting > 0 {
            let place = near as usize % ring.len();
            while let Some(v) = ring[place].pop() {
                waiting -= 1;
                if dist[v as usize] != near {
                    continue;
                }
                for (t, weight) in arcs(graph, weights, v) {
                    let far = near.saturating_add(weight);
                    if far < dist[t as usize] {
                        dist[t as usize] = far;
                        let place = far as usize % ring.len();
                        ring[place].push(t);
                        waiting += 1;
                    }
                }
            }
            near += 1;
        }
        Values::U32(dist)
    })
}

fn parallel(problem: &Problem) -> Ready<'_> {
    match problem {
        Problem::Bfs { graph, symmetric } => {
            let mut search = Search::new(graph, *symmetric);
            counted(move || search.run())
        }
        Problem::Sssp { graph, weights } => {
            let mut stepping = DeltaStepping::new(graph, weights);
            runs(move || stepping.run())
        }
        Problem::PageRank { graph } => {
            let nodes = graph.node_count();
            let mut share = vec![0f32; nodes];
            counted(move || {
                let start = 1.0 / nodes as f32;
                let mut rank = vec![start; nodes];
                let mut rounds = 0;
                loop {
                    let columns = rank.par_iter().zip(&mut share).enumerate();
                    let dangling = columns
                        .with_min_len(4096)
                        .map(|(v, (rank, share))| match graph.degree(v as u32) {
                            0 => f64::from(*rank),
                            degree => {
                                *share = DAMPING * rank / degree as f32;
                                0.0
                            }
                        });
                    let base = restart(start, dangling.sum());
                    let share = &share;
                    let columns = rank.par_iter_mut().enumerate().with_min_len(256);
                    let moved: f64 = columns
                        .map(|(v, rank)| {
                            let next = row(graph, v as u32)
                                .iter()
                                .fold(base, |sum, &u| sum + share[u as usize]);
                            let step = f64::from((next - *rank).abs());
                            *rank = next;
                            step
                        })
                        .sum();
                    rounds += 1;
                    if moved < f64::from(TOLERANCE) || rounds == u64::from(MAX_RANK_ROUNDS) {
                        return (Values::F32(rank), rounds);
                    }
                }
            })
        }
        Problem::Components { graph } => runs(|| Values::U32(afforest(graph))),
        Problem::Liveness { cfg, predecessors } => {
            let blocks = cfg.uses.len();
            let waits: Vec<AtomicU32> = (0..blocks).map(|_| AtomicU32::new(0)).collect();
            let mut stamp = 0;
            let mut chunked = ChunkedSweep::default();
            counted(move || {
                let live: Vec<AtomicU64> =
                    cfg.uses.par_iter().map(|&u| AtomicU64::new(u)).collect();
                let mut front: Vec<u32> = (0..blocks as u32).collect();
                let mut rounds = 0;
                while !front.is_empty() {
                    stamp += 1;
                    rounds += 1;
                    front = chunked.sweep(front, |&block, next| {
                        let here = live[block as usize].load(Relaxed);
                        for &p in row(predecessors, block) {
                            let through = here & !cfg.defs[p as usize];
                            let before = &live[p as usize];
                            if through & !before.load(Relaxed) != 0
                                && through & !before.fetch_or(through, Relaxed) != 0
                                && waits[p as usize].swap(stamp, Relaxed) != stamp
                            {
                                next.push(p);
                            }
                        }
                    });
                }
                (
                    Values::U64(live.into_iter().map(AtomicU64::into_inner).collect()),
                    rounds,
                )
            })
        }
        // No one would choose whole rounds over rows of kilobytes: see `functions`.
        Problem::Reaching { .. } => Err(Skip::NoAlgorithm),
        Problem::Saxpy { x, y } => Ok(Box::new(Saxpy {
            x,
            before: y,
            y: Vec::new(),
            add: |x, y| {
                let chunks = y.par_chunks_mut(1 << 16).zip(x.par_chunks(1 << 16));
                chunks.for_each(|(y, x)| {
                    for (y, x) in y.iter_mut().zip(x) {
                        *y += FACTOR * x;
                    }
                });
            },
        })),
        Problem::Hash { len } => {
            runs(|| Values::U32((0..*len).into_par_iter().map(|i| hashed(i, SEED)).collect()))
        }
        Problem::Relation { .. } => relations::parallel(problem),
    }
}

/// Frontiers of this length are swept by one thread.
const ALONE: usize = 1024;

/// Parallel sweeps over a frontier with a buffer of new items for each task; buffers are kept.
#[derive(Default)]
struct ChunkedSweep {
    spare: Mutex<Vec<Vec<u32>>>,
}

impl ChunkedSweep {
    fn spare(&self) -> Vec<u32> {
        let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        spare.pop().unwrap_or_default()
    }

    fn give_back(&self, mut buffer: Vec<u32>) {
        buffer.clear();
        self.spare
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(buffer);
    }

    /// The next frontier: what `visit` pushes for the items of this one.
    fn sweep(&mut self, front: Vec<u32>, visit: impl Fn(&u32, &mut Vec<u32>) + Sync) -> Vec<u32> {
        let mut next = self.spare();
        if front.len() <= ALONE {
            for v in &front {
                visit(v, &mut next);
            }
        } else {
            let parts = front.par_chunks(ALONE / 2).fold(
                || self.spare(),
                |mut part, chunk| {
                    for v in chunk {
                        visit(v, &mut part);
                    }
                    part
                },
            );
            for part in parts.collect::<Vec<_>>() {
                next.extend_from_slice(&part);
                self.give_back(part);
            }
        }
        self.give_back(front);
        next
    }
}

/// Breadth-first search, level by level, from the frontier's side or, while it holds much of the graph, from the other
/// (Beamer, Asanovic, Patterson: Direction-optimizing breadth-first search).
struct Search<'w> {
    graph: &'w Csr,
    symmetric: bool,
    chunked: ChunkedSweep,
    nodes: Vec<u32>,
}

impl<'w> Search<'w> {
    const ALPHA: usize = 14;
    const BETA: usize = 24;

    fn new(graph: &'w Csr, symmetric: bool) -> Search<'w> {
        Search {
            graph,
            symmetric,
            chunked: ChunkedSweep::default(),
            nodes: Vec::new(),
        }
    }

    fn run(&mut self) -> (Values, u64) {
        let graph = self.graph;
        let nodes = graph.node_count();
        let dist: Vec<AtomicU32> = (0..nodes)
            .into_par_iter()
            .map(|_| AtomicU32::new(UNREACHED))
            .collect();
        dist[0].store(0, Relaxed);
        let mut front = self.chunked.spare();
        front.push(0);
        let mut unexplored = graph.edge_count();
        let mut pulling = false;
        let mut level = 0;
        while !front.is_empty() {
            level += 1;
            let edges = |front: &[u32]| -> usize {
                front
                    .par_iter()
                    .with_min_len(8192)
                    .map(|&v| row(graph, v).len())
                    .sum()
            };
            if self.symmetric && front.len() > ALONE {
                let here = edges(&front);
                pulling =
                    here > unexplored / Self::ALPHA || pulling && front.len() > nodes / Self::BETA;
                unexplored = unexplored.saturating_sub(here);
            } else {
                pulling = false;
            }
            front = if pulling {
                self.nodes.clear();
                self.nodes.extend((0..nodes as u32).step_by(BLOCK));
                self.chunked.give_back(front);
                let blocks = std::mem::take(&mut self.nodes);
                let parts = blocks.par_iter().fold(
                    || self.chunked.spare(),
                    |mut part, &first| {
                        for v in first..(first + BLOCK as u32).min(nodes as u32) {
                            if dist[v as usize].load(Relaxed) == UNREACHED
                                && row(graph, v)
                                    .iter()
                                    .any(|&u| dist[u as usize].load(Relaxed) == level - 1)
                            {
                                dist[v as usize].store(level, Relaxed);
                                part.push(v);
                            }
                        }
                        part
                    },
                );
                let mut next = self.chunked.spare();
                for part in parts.collect::<Vec<_>>() {
                    next.extend_from_slice(&part);
                    self.chunked.give_back(part);
                }
                self.nodes = blocks;
                next
            } else if front.len() <= ALONE {
                // No other thread is at work here, so a load and a store do.
                self.chunked.sweep(front, |&v, next| {
                    for &t in row(graph, v) {
                        let d = &dist[t as usize];
                        if d.load(Relaxed) == UNREACHED {
                            d.store(level, Relaxed);
                            next.push(t);
                        }
                    }
                })
            } else {
                self.chunked.sweep(front, |&v, next| {
                    for &t in row(graph, v) {
                        let d = &dist[t as usize];
                        if d.load(Relaxed) == UNREACHED
                            && d.compare_exchange(UNREACHED, level, Relaxed, Relaxed)
                                .is_ok()
                        {
                            next.push(t);
                        }
                    }
                })
            };
        }
        self.chunked.give_back(front);
        (
            Values::U32(dist.into_iter().map(AtomicU32::into_inner).collect()),
            u64::from(level),
        )
    }
}

/// Nodes that a task of a sweep over all of them takes.
const BLOCK: usize = 2048;

/// Shortest paths, nearest bucket first (Meyer, Sanders: Delta-stepping).
struct DeltaStepping<'w> {
    graph: &'w Csr,
    weights: &'w [u32],
    /// Nodes by distance / `WIDTH`, as a ring.
    ring: Vec<Vec<u32>>,
}

impl<'w> DeltaStepping<'w> {
    const WIDTH: u32 = 16;

    fn new(graph: &'w Csr, weights: &'w [u32]) -> DeltaStepping<'w> {
        let heaviest = weights.iter().copied().max().unwrap_or(0);
        DeltaStepping {
            graph,
            weights,
            ring: vec![Vec::new(); (heaviest / Self::WIDTH) as usize + 2],
        }
    }

    fn run(&mut self) -> Values {
        let (graph, weights) = (self.graph, self.weights);
        let nodes = graph.node_count();
        let dist: Vec<AtomicU32> = (0..nodes)
            .into_par_iter()
            .map(|_| AtomicU32::new(UNREACHED))
            .collect();
        dist[0].store(0, Relaxed);
        self.ring[0].push(0);
        let len = self.ring.len();
        let (mut bucket, mut empty) = (0u32, 0);
        let mut front = Vec::new();
        while empty < len {
            let place = bucket as usize % len;
            if self.ring[place].is_empty() {
                bucket += 1;
                empty += 1;
                continue;
            }
            empty = 0;
            std::mem::swap(&mut front, &mut self.ring[place]);
            let relax = |v: u32, ring: &mut [Vec<u32>]| {
                let near = dist[v as usize].load(Relaxed);
                // It was settled in an earlier bucket.
                if near < bucket * Self::WIDTH {
                    return;
                }
                for (t, weight) in arcs(graph, weights, v) {
                    let far = near.saturating_add(weight);
                    let d = &dist[t as usize];
                    if far < d.load(Relaxed) && far < d.fetch_min(far, Relaxed) {
                        ring[(far / Self::WIDTH) as usize % len].push(t);
                    }
                }
            };
            if front.len() <= ALONE {
                for &v in &front {
                    relax(v, &mut self.ring);
                }
            } else {
                let parts = front.par_chunks(ALONE / 2).fold(
                    || vec![Vec::new(); len],
                    |mut ring, chunk| {
                        for &v in chunk {
                            relax(v, &mut ring);
                        }
                        ring
                    },
                );
                for part in parts.collect::<Vec<_>>() {
                    for (bucket, items) in self.ring.iter_mut().zip(part) {
                        bucket.extend_from_slice(&items);
                    }
                }
            }
            front.clear();
        }
        Values::U32(dist.into_iter().map(AtomicU32::into_inner).collect())
    }
}

/// Components: two edges of every node first; then only nodes outside the component that has become the largest look at
/// the rest of theirs (Sutton, Ben-Nun, Barak: Optimizing parallel graph connectivity computation via subgraph
/// sampling).
fn afforest(graph: &Csr) -> Vec<u32> {
    const SAMPLED_EDGES: usize = 2;
    const SAMPLES: usize = 1024;
    let nodes = graph.node_count();
    let parent: Vec<AtomicU32> = (0..nodes as u32)
        .into_par_iter()
        .map(AtomicU32::new)
        .collect();
    let load = |v: u32| parent[v as usize].load(Relaxed);
    let link = |u: u32, v: u32| {
        let (mut a, mut b) = (load(u), load(v));
        while a != b {
            let (high, low) = (a.max(b), a.min(b));
            let above = load(high);
            if above == low
                || above == high
                    && parent[high as usize]
                        .compare_exchange(high, low, Relaxed, Relaxed)
                        .is_ok()
            {
                break;
            }
            a = load(load(high));
            b = load(low);
        }
    };
    let each = |visit: &(dyn Fn(u32) + Sync)| {
        (0..nodes as u32)
            .into_par_iter()
            .with_min_len(BLOCK)
            .for_each(visit);
    };
    let compress = || {
        each(&|v| {
            let mut above = load(v);
            while load(above) != above {
                above = load(above);
            }
            parent[v as usize].store(above, Relaxed);
        });
    };
    each(&|v| {
        row(graph, v)
            .iter()
            .take(SAMPLED_EDGES)
            .for_each(|&t| link(v, t))
    });
    compress();
    let mut votes: HashMap<u32, usize> = HashMap::new();
    for v in (0..nodes).step_by((nodes / SAMPLES).max(1)) {
        *votes.entry(load(v as u32)).or_default() += 1;
    }
    let largest = votes
        .into_iter()
        .max_by_key(|&(root, votes)| (votes, Reverse(root)));
    let largest = largest.map(|(root, _)| root);
    each(&|v| {
        // The edges of the largest component's nodes have their reverses.
        if Some(load(v)) != largest {
            row(graph, v)
                .iter()
                .skip(SAMPLED_EDGES)
                .for_each(|&t| link(v, t));
        }
    });
    compress();
    parent.into_iter().map(AtomicU32::into_inner).collect()
}

fn functions(problem: &Problem) -> Ready<'_> {
    match problem {
        Problem::Liveness { cfg, predecessors } => {
            runs(|| Values::U64(programs::live_by_functions(cfg, predecessors)))
        }
        Problem::Reaching { cfg, definitions } => {
            runs(|| Values::U32(programs::reaching_by_functions(cfg, definitions)))
        }
        _ => Err(Skip::NoAlgorithm),
    }
}

fn petgraph_rival(problem: &Problem) -> Ready<'_> {
    match problem {
        Problem::Bfs { graph, .. } => {
            let nodes = graph.node_count();
            let graph = petgraph_csr(graph, |_| ());
            runs(move || {
                let mut dist = vec![UNREACHED; nodes];
                let mut bfs = petgraph::visit::Bfs::new(&graph, 0u32);
                let mut level = 0;
                while !bfs.stack.is_empty() {
                    // The walker's queue holds exactly one level here.
                    for _ in 0..bfs.stack.len() {
                        let v = bfs.next(&graph).expect("the queue is not empty");
                        dist[v as usize] = level;
                    }
                    level += 1;
                }
                Values::U32(dist)
            })
        }
        Problem::Sssp { graph, weights } => {
            let nodes = graph.node_count();
            let graph = petgraph_csr(graph, |edge| weights[edge]);
            runs(move || {
                use petgraph::visit::EdgeRef;
                let _ = |e: petgraph::csr::EdgeReference<'_, u32, petgraph::Directed>| e.source();
                let found = petgraph::algo::dijkstra(&graph, 0u32, None, |e| *e.weight());
                let mut dist = vec![UNREACHED; nodes];
                for (v, d) in found {
                    dist[v as usize] = d;
                }
                Values::U32(dist)
            })
        }
        Problem::Components { graph } => runs(move || {
            let nodes = graph.node_count();
            let mut sets = petgraph::unionfind::UnionFind::<u32>::new(nodes);
            for v in 0..nodes as u32 {
                for &t in row(graph, v).iter().take_while(|&&t| t < v) {
                    sets.union(v, t);
                }
            }
            let labels = sets.into_labeling();
            // A representative is any node of its set; the first that we meet is the smallest.
            let mut smallest = vec![UNREACHED; nodes];
            let label = |(v, set): (u32, &u32)| {
                let least = &mut smallest[*set as usize];
                *least = v.min(*least);
                *least
            };
            Values::U32((0..).zip(&labels).map(label).collect())
        }),
        // Its PageRank looks at every pair of nodes.
        Problem::PageRank { .. }
        | Problem::Liveness { .. }
        | Problem::Reaching { .. }
        | Problem::Saxpy { .. }
        | Problem::Hash { .. }
        | Problem::Relation { .. } => Err(Skip::NoAlgorithm),
    }
}

/// The graph as petgraph keeps it.
fn petgraph_csr<E: Clone>(graph: &Csr, weight: impl Fn(usize) -> E) -> petgraph::csr::Csr<(), E> {
    let ends =
        (0..graph.node_count() as u32).flat_map(|v| graph.edges(v).iter().map(move |e| (v, e)));
    let edges: Vec<(u32, u32, E)> = ends
        .map(|(v, e)| (v, graph.target(e), weight(e as usize)))
        .collect();
    let mut csr = petgraph::csr::Csr::from_sorted_edges(&edges).expect("targets ascend");
    // It ends at the last node with an edge.
    while csr.node_count() < graph.node_count() {
        csr.add_node(());
    }
    csr
}
