//! Graphs by name: what `--graph` accepts, and the generators behind it.
//!
//! Generators are deterministic: the same specification gives the same arrays on every machine and for any number of
//! threads, so that results can be pinned in tests and compared between hosts.
//!
//! ```
//! use vyre_examples::graph::GraphSpec;
//! let spec: GraphSpec = "grid:3x2".parse().unwrap();
//! let graph = spec.load().unwrap();
//! assert_eq!((graph.csr.node_count(), graph.csr.edge_count()), (6, 14));
//! assert!(graph.csr.neighbors(4).iter().eq([1, 3, 5]));
//! ```

use crate::cfg::Cfg;
use crate::elf::{self, ElfError};
use crate::formats::{self, FormatError};
use rayon::prelude::*;
use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use thiserror::Error;
use vyre::{Csr, CsrError};

/// A graph by name: the argument of `--graph`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GraphSpec {
    /// `grid:WxH`: undirected, node `y * W + x`, edges to the four neighbours.
    Grid {
        /// Columns.
        width: u32,
        /// Rows.
        height: u32,
    },
    /// `chain:N`: directed, node `i` to node `i + 1`.
    Chain {
        /// Nodes.
        nodes: u32,
    },
    /// `rmat:SCALE:EDGEFACTOR[:SEED]`: `2^SCALE` nodes, `EDGEFACTOR * 2^SCALE` R-MAT edges with the Graph500 parameters
    /// (a = .57, b = c = .19), made symmetric, without self loops and duplicates. Nodes are not renumbered, so node 0
    /// is the largest hub.
    Rmat {
        /// Logarithm of the number of nodes.
        scale: u32,
        /// Generated edges a node.
        edge_factor: u32,
        /// Seed; 1 unless given.
        seed: u64,
    },
    /// `rmat:nodes=N,edges=M[,seed=S]`: the first edges of the R-MAT sequence (parameters as above) of the next power
    /// of two whose ends are among the first N nodes, made symmetric, without self loops and duplicates, until there
    /// are exactly M, each direction counted.
    RmatExactly {
        /// Nodes.
        nodes: u32,
        /// Edges, an even number.
        edges: u32,
        /// Seed; 1 unless given.
        seed: u64,
    },
    /// `file:PATH`: see [`formats::load`].
    File(PathBuf),
    /// `elf:PATH`: the call graph of an x86-64 program, see [`elf::call_graph`].
    Elf(PathBuf),
    /// `cfg:BLOCKS[:SEED]`: a made-up program, see [`Cfg::generated`].
    Cfg {
        /// Blocks.
        blocks: u32,
        /// Seed; 1 unless given.
        seed: u64,
    },
    /// `elf-cfg:PATH`: the control-flow graphs of all functions of an x86-64 program, see [`Cfg`].
    ElfCfg(PathBuf),
}

/// Why a specification names no graph.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum SpecError {
    /// No known kind before the first colon.
    #[error(
        "`{0}` names no graph; write grid:WxH, chain:N, rmat:SCALE:EDGEFACTOR[:SEED], rmat:nodes=N,edges=M[,seed=S], file:PATH, elf:PATH, elf-cfg:PATH or cfg:BLOCKS[:SEED]"
    )]
    Kind(String),
    /// The part after the colon has the wrong form.
    #[error("`{spec}` is not of the form {form}")]
    Form {
        /// What was given.
        spec: String,
        /// What it should look like.
        form: &'static str,
    },
    /// The graph would not fit u32 indices.
    #[error("`{spec}` has {count} {what}; at most {max} are supported", max = u32::MAX - 1)]
    TooLarge {
        /// What was given.
        spec: String,
        /// "nodes" or "edges".
        what: &'static str,
        /// How many.
        count: u128,
    },
    /// The arrays would not fit in memory.
    #[error(
        "`{spec}` needs {:.1} GiB of memory; {:.1} GiB are available",
        gib(*needed_bytes), gib(*available_bytes)
    )]
    Memory {
        /// What was given.
        spec: String,
        /// Peak of the generator.
        needed_bytes: u64,
        /// What the system has left.
        available_bytes: u64,
    },
    /// The sequence repeats itself too often.
    #[error("`{spec}`: only {found} different edges were found in {drawn} drawn; ask for fewer")]
    TooDense {
        /// What was given.
        spec: String,
        /// Different ones.
        found: usize,
        /// Edges of the sequence that were looked at.
        drawn: u64,
    },
}

/// Why a graph could not be had.
#[derive(Debug, Error)]
pub enum GraphError {
    /// The specification.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// A graph file.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// An executable.
    #[error(transparent)]
    Elf(#[from] ElfError),
    /// The generated or loaded arrays are no graph.
    #[error(transparent)]
    Csr(#[from] CsrError),
    /// The example needs weights that are not negative.
    #[error("edge {edge} has weight {weight}; this example needs weights of at least 0")]
    NegativeWeight {
        /// Edge index.
        edge: usize,
        /// Its weight.
        weight: i32,
    },
}

const RMAT_EXACTLY: &str =
    "rmat:nodes=N,edges=M[,seed=S] with N from 1 to 2147483648 and M even and at least 2";

impl FromStr for GraphSpec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<GraphSpec, SpecError> {
        let (kind, rest) = text
            .split_once(':')
            .ok_or_else(|| SpecError::Kind(text.into()))?;
        let form = |form| SpecError::Form {
            spec: text.into(),
            form,
        };
        let positive = |s: &str| s.parse::<u32>().ok().filter(|&n| n > 0);
        let spec = match kind {
            "grid" => rest
                .split_once('x')
                .and_then(|(w, h)| {
                    Some(GraphSpec::Grid {
                        width: positive(w)?,
                        height: positive(h)?,
                    })
                })
                .ok_or_else(|| form("grid:WxH with W and H at least 1"))?,
            "chain" => GraphSpec::Chain {
                nodes: positive(rest).ok_or_else(|| form("chain:N with N at least 1"))?,
            },
            "rmat" if rest.contains('=') => {
                let mut numbers = [None; 3];
                for field in rest.split(',') {
                    let (key, value) = field.split_once('=').unwrap_or((field, ""));
                    let at = ["nodes", "edges", "seed"].iter().position(|k| *k == key);
                    let number = value.parse::<u64>().ok();
                    let fits = |n: &u64| at == Some(2) || (1..u64::from(u32::MAX)).contains(n);
                    match (at, number.filter(fits)) {
                        (Some(at), number @ Some(_)) if numbers[at].is_none() => {
                            numbers[at] = number
                        }
                        _ => return Err(form(RMAT_EXACTLY)),
                    }
                }
                let [Some(nodes), Some(edges), seed] = numbers else {
                    return Err(form(RMAT_EXACTLY));
                };
                if edges % 2 != 0 || nodes > 1 << 31 {
                    return Err(form(RMAT_EXACTLY));
                }
                GraphSpec::RmatExactly {
                    nodes: nodes as u32,
                    edges: edges as u32,
                    seed: seed.unwrap_or(1),
                }
            }
            "rmat" => {
                let fields: Vec<&str> = rest.split(':').collect();
                let parsed = || {
                    let seed = match fields.get(2) {
                        Some(s) => s.parse().ok()?,
                        None => 1,
                    };
                    let scale = fields.first()?.parse().ok().filter(|&s| s <= 31)?;
                    let edge_factor = positive(fields.get(1)?)?;
                    (fields.len() <= 3).then_some(GraphSpec::Rmat {
                        scale,
                        edge_factor,
                        seed,
                    })
                };
                parsed().ok_or_else(|| {
                    form("rmat:SCALE:EDGEFACTOR[:SEED] with SCALE at most 31 and EDGEFACTOR at least 1")
                })?
            }
            "file" if !rest.is_empty() => GraphSpec::File(rest.into()),
            "file" => return Err(form("file:PATH")),
            "elf" if !rest.is_empty() => GraphSpec::Elf(rest.into()),
            "elf" => return Err(form("elf:PATH")),
            "cfg" => {
                let (blocks, seed) = rest.split_once(':').unwrap_or((rest, "1"));
                match (positive(blocks), seed.parse()) {
                    (Some(blocks), Ok(seed)) => GraphSpec::Cfg { blocks, seed },
                    _ => return Err(form("cfg:BLOCKS[:SEED] with BLOCKS at least 1")),
                }
            }
            "elf-cfg" if !rest.is_empty() => GraphSpec::ElfCfg(rest.into()),
            "elf-cfg" => return Err(form("elf-cfg:PATH")),
            _ => return Err(SpecError::Kind(text.into())),
        };
        let (nodes, edges) = spec.upper_bounds();
        for (what, count) in [("nodes", nodes), ("edges", edges)] {
            if count >= u128::from(u32::MAX) {
                return Err(SpecError::TooLarge {
                    spec: text.into(),
                    what,
                    count,
                });
            }
        }
        Ok(spec)
    }
}

impl fmt::Display for GraphSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GraphSpec::Grid { width, height } => write!(f, "grid:{width}x{height}"),
            GraphSpec::Chain { nodes } => write!(f, "chain:{nodes}"),
            GraphSpec::Rmat {
                scale,
                edge_factor,
                seed: 1,
            } => write!(f, "rmat:{scale}:{edge_factor}"),
            GraphSpec::Rmat {
                scale,
                edge_factor,
                seed,
            } => write!(f, "rmat:{scale}:{edge_factor}:{seed}"),
            GraphSpec::RmatExactly {
                nodes,
                edges,
                seed: 1,
            } => write!(f, "rmat:nodes={nodes},edges={edges}"),
            GraphSpec::RmatExactly { nodes, edges, seed } => {
                write!(f, "rmat:nodes={nodes},edges={edges},seed={seed}")
            }
            GraphSpec::File(path) => write!(f, "file:{}", path.display()),
            GraphSpec::Elf(path) => write!(f, "elf:{}", path.display()),
            GraphSpec::Cfg { blocks, seed: 1 } => write!(f, "cfg:{blocks}"),
            GraphSpec::Cfg { blocks, seed } => write!(f, "cfg:{blocks}:{seed}"),
            GraphSpec::ElfCfg(path) => write!(f, "elf-cfg:{}", path.display()),
        }
    }
}

impl GraphSpec {
    /// Nodes and edges of a generated graph, before duplicates are dropped; (0, 0) for files.
    fn upper_bounds(&self) -> (u128, u128) {
        match *self {
            GraphSpec::Grid { width, height } => {
                let (w, h) = (u128::from(width), u128::from(height));
                (w * h, 2 * ((w - 1) * h + w * (h - 1)))
            }
            GraphSpec::Chain { nodes } => (u128::from(nodes), u128::from(nodes) - 1),
            GraphSpec::Rmat {
                scale, edge_factor, ..
            } => (1 << scale, u128::from(edge_factor) << (scale + 1)),
            // As many again while they are sorted.
            GraphSpec::RmatExactly { nodes, edges, .. } => (nodes.into(), 4 * u128::from(edges)),
            // At most two edges a block; a block has about as many bytes as ten edges.
            GraphSpec::Cfg { blocks, .. } => (blocks.into(), 10 * u128::from(blocks)),
            GraphSpec::File(_) | GraphSpec::Elf(_) | GraphSpec::ElfCfg(_) => (0, 0),
        }
    }

    /// Generates or reads the graph.
    pub fn load(&self) -> Result<Graph, GraphError> {
        self.load_through(None)
    }

    /// As [`GraphSpec::load`], with a folder where decoded programs are kept, as [`Cfg::of_file`] does.
    pub fn load_through(&self, cache: Option<&Path>) -> Result<Graph, GraphError> {
        let (nodes, edges) = self.upper_bounds();
        let arrays = match self {
            GraphSpec::Rmat { .. } => 2, // slots, then the compacted targets
            _ => 1,
        };
        let needed_bytes = (nodes * 8 + edges * 4 * arrays) as u64;
        if let Some(available_bytes) = available_memory_bytes().filter(|&a| a < needed_bytes) {
            return Err(SpecError::Memory {
                spec: self.to_string(),
                needed_bytes,
                available_bytes,
            }
            .into());
        }
        Ok(match *self {
            GraphSpec::Grid { width, height } => Graph::undirected(grid(width, height)?),
            GraphSpec::Chain { nodes } => Graph::unweighted(chain(nodes)?),
            GraphSpec::Rmat {
                scale,
                edge_factor,
                seed,
            } => Graph::undirected(rmat(scale, edge_factor, seed)?),
            GraphSpec::RmatExactly { nodes, edges, seed } => {
                let found = rmat_exactly(nodes, edges, seed);
                let edges = found.map_err(|(found, drawn)| SpecError::TooDense {
                    spec: self.to_string(),
                    found,
                    drawn,
                })?;
                Graph::undirected(Csr::from_edges(nodes as usize, &edges)?)
            }
            GraphSpec::File(ref path) => formats::load(path)?,
            GraphSpec::Elf(ref path) => elf::call_graph(path)?,
            GraphSpec::ElfCfg(ref path) => Graph::of_blocks(Cfg::of_file(path, cache)?),
            GraphSpec::Cfg { blocks, seed } => Graph::of_blocks(Cfg::generated(blocks, seed)),
        })
    }
}

/// Edge weights as a file gives them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Weights {
    /// None is negative.
    Unsigned(Vec<u32>),
    /// Some are.
    Signed(Vec<i32>),
}

/// What an executable says about the nodes of its call graph, by node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Functions {
    /// Demangled name; unnamed functions are named by their address.
    pub names: Vec<String>,
    /// Address of the first instruction; 0 for a function of another file.
    pub addresses: Vec<u64>,
    /// Bytes of code.
    pub sizes_bytes: Vec<u64>,
    /// Where execution starts; `None` for a library without exports.
    pub entry: Option<u32>,
}

/// A graph with what its source knows about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    /// The edges.
    pub csr: Csr,
    /// One weight per edge, where the source has them.
    pub weights: Option<Weights>,
    /// Nodes that are functions of a program.
    pub functions: Option<Functions>,
    /// Nodes that are basic blocks of a program.
    pub cfg: Option<Arc<Cfg>>,
    /// Every edge is known to lead back, too.
    pub symmetric: bool,
}

impl Default for Graph {
    /// No nodes.
    fn default() -> Graph {
        let csr = Csr::from_edges(0, &[]).expect("no edges, so none is out of range");
        Graph::unweighted(csr)
    }
}

impl Graph {
    /// A graph without weights.
    pub fn unweighted(csr: Csr) -> Graph {
        Graph {
            csr,
            weights: None,
            functions: None,
            cfg: None,
            symmetric: false,
        }
    }

    fn of_blocks(cfg: Cfg) -> Graph {
        Graph {
            csr: cfg.successors.clone(),
            cfg: Some(Arc::new(cfg)),
            ..Graph::default()
        }
    }

    fn undirected(csr: Csr) -> Graph {
        Graph {
            symmetric: true,
            ..Graph::unweighted(csr)
        }
    }

    /// What a node is: "nodes", "functions" or "blocks".
    pub fn node_kind(&self) -> &'static str {
        match (&self.functions, &self.cfg) {
            (Some(_), _) => "functions",
            (_, Some(_)) => "blocks",
            _ => "nodes",
        }
    }

    /// The file's weights, otherwise [`hashed_weights`]. Fails on a negative one.
    pub fn unsigned_weights(&self) -> Result<Cow<'_, [u32]>, GraphError> {
        match &self.weights {
            None => Ok(Cow::Owned(hashed_weights(&self.csr))),
            Some(Weights::Unsigned(w)) => Ok(Cow::Borrowed(w)),
            Some(Weights::Signed(w)) => {
                let unsigned: Result<Vec<u32>, _> = w
                    .iter()
                    .enumerate()
                    .map(|(edge, &weight)| {
                        u32::try_from(weight)
                            .map_err(|_| GraphError::NegativeWeight { edge, weight })
                    })
                    .collect();
                Ok(Cow::Owned(unsigned?))
            }
        }
    }
}

/// Weights 1..=64 from a hash of the edge's two ends, the same in both directions.
pub fn hashed_weights(csr: &Csr) -> Vec<u32> {
    let mut weights = vec![0u32; csr.edge_count()];
    let blocks: Vec<usize> = (0..csr.node_count()).step_by(BLOCK_NODES).collect();
    let ends = blocks
        .iter()
        .map(|&first| block_edges(csr.offsets(), first).len());
    let parts = cut(&mut weights, ends);
    blocks.par_iter().zip(parts).for_each(|(&first, part)| {
        let nodes = first..(first + BLOCK_NODES).min(csr.node_count());
        let ends = nodes.flat_map(|v| csr.neighbors(v as u32).iter().map(move |t| (v as u32, t)));
        for (weight, (src, dst)) in part.iter_mut().zip(ends) {
            let pair = u64::from(src.min(dst)) << 32 | u64::from(src.max(dst));
            *weight = 1 + (mix(pair) >> 58) as u32;
        }
    });
    weights
}

/// The undirected `width` x `height` grid; node `y * width + x`, neighbours in ascending order.
pub fn grid(width: u32, height: u32) -> Result<Csr, CsrError> {
    let (w, h) = (width as usize, height as usize);
    let row_edges = |y: usize| 2 * (w - 1) + w * (usize::from(y > 0) + usize::from(y + 1 < h));
    let mut offsets = vec![0u32; w * h + 1];
    let mut targets = vec![0u32; (0..h).map(row_edges).sum()];
    let mut firsts = Vec::with_capacity(h);
    let mut sum = 0;
    for y in 0..h {
        firsts.push(sum);
        sum += row_edges(y);
    }
    let rows = cut(&mut targets, (0..h).map(row_edges));
    offsets[1..]
        .par_chunks_mut(w)
        .zip(rows)
        .zip(firsts)
        .enumerate()
        .for_each(|(y, ((ends, row), first))| {
            let mut at = 0;
            for (x, end) in ends.iter_mut().enumerate() {
                let v = y * w + x;
                let neighbours = [
                    (y > 0).then(|| v - w),
                    (x > 0).then(|| v - 1),
                    (x + 1 < w).then(|| v + 1),
                    (y + 1 < h).then(|| v + w),
                ];
                for target in neighbours.into_iter().flatten() {
                    row[at] = target as u32;
                    at += 1;
                }
                *end = (first + at) as u32;
            }
        });
    Csr::new(offsets, targets)
}

/// The directed path 0 -> 1 -> ... -> `nodes - 1`.
pub fn chain(nodes: u32) -> Result<Csr, CsrError> {
    let last = nodes.saturating_sub(1);
    Csr::new(
        (0..=nodes).map(|i| i.min(last)).collect(),
        (1..nodes).collect(),
    )
}

/// The R-MAT graph of [`GraphSpec::Rmat`].
pub fn rmat(scale: u32, edge_factor: u32, seed: u64) -> Result<Csr, CsrError> {
    let nodes = 1usize << scale;
    let edges = u64::from(edge_factor) << scale;
    let key = mix(seed);

    // Edges are cheap to draw, so they are drawn twice rather than kept: once to count, once to place. Each part of the
    // sequence has counters of its own: the hubs' would be fought over.
    let parts = rayon::current_num_threads().min(edge_factor as usize) as u64;
    let ends = |part: u64| {
        let part_edges = (edges * part / parts..edges * (part + 1) / parts)
            .map(move |i| rmat_edge(scale, key, i));
        part_edges.filter(|(src, dst)| src != dst)
    };
    let mut counts: Vec<Vec<u32>> = (0..parts)
        .into_par_iter()
        .map(|part| {
            let mut counts = vec![0u32; nodes];
            for (src, dst) in ends(part) {
                counts[src as usize] += 1;
                counts[dst as usize] += 1;
            }
            counts
        })
        .collect();
    let mut offsets = Vec::with_capacity(nodes + 1);
    offsets.push(0u32);
    let mut sum = 0;
    for v in 0..nodes {
        for counts in &mut counts {
            // From here on it is the slot of the part's next target.
            let count = std::mem::replace(&mut counts[v], sum);
            sum += count;
        }
        offsets.push(sum);
    }
    let slots: Vec<AtomicU32> = (0..sum).into_par_iter().map(AtomicU32::new).collect();
    let next = counts.into_par_iter().enumerate();
    next.for_each(|(part, mut next)| {
        let mut place = |src: u32, dst: u32| {
            let slot = &mut next[src as usize];
            slots[*slot as usize].store(dst, Relaxed);
            *slot += 1;
        };
        for (src, dst) in ends(part as u64) {
            place(src, dst);
            place(dst, src);
        }
    });
    let slots: Vec<u32> = slots.into_iter().map(AtomicU32::into_inner).collect();
    // Sorting makes the result independent of the number of parts.
    compact(offsets, slots)
}

/// Edges of [`GraphSpec::RmatExactly`], sorted; how many were found among how many, when those are too few.
fn rmat_exactly(nodes: u32, edges: u32, seed: u64) -> Result<Vec<(u32, u32)>, (usize, u64)> {
    let scale = nodes.next_power_of_two().trailing_zeros();
    let key = mix(seed);
    let wanted = edges as usize;
    let most = 64 * u64::from(edges);
    let mut found = std::collections::HashSet::with_capacity(wanted);
    for i in 0..most {
        let (src, dst) = rmat_edge(scale, key, i);
        if src != dst && src.max(dst) < nodes && found.insert((src, dst)) {
            found.insert((dst, src));
            if found.len() == wanted {
                let mut edges: Vec<_> = found.into_iter().collect();
                edges.sort_unstable();
                return Ok(edges);
            }
        }
    }
    Err((found.len(), most))
}

/// Sorts each node's targets and drops repeats.
fn compact(mut offsets: Vec<u32>, mut slots: Vec<u32>) -> Result<Csr, CsrError> {
    let nodes = offsets.len() - 1;
    let blocks: Vec<usize> = (0..nodes).step_by(BLOCK_NODES).collect();
    let mut kept = vec![0u32; nodes];
    let parts = cut(
        &mut slots,
        blocks
            .iter()
            .map(|&first| block_edges(&offsets, first).len()),
    );
    let kept_edges: Vec<usize> = parts
        .into_par_iter()
        .zip(kept.par_chunks_mut(BLOCK_NODES))
        .zip(&blocks)
        .map(|((part, kept), &first)| {
            let base = offsets[first];
            let mut out = 0;
            for (i, kept) in kept.iter_mut().enumerate() {
                let range = offsets[first + i] - base..offsets[first + i + 1] - base;
                let (start, end) = (range.start as usize, range.end as usize);
                part[start..end].sort_unstable();
                let from = out;
                for at in start..end {
                    // `out <= at`, so what a write replaces has been compared before.
                    if at == start || part[at] != part[at - 1] {
                        part[out] = part[at];
                        out += 1;
                    }
                }
                *kept = (out - from) as u32;
            }
            out
        })
        .collect();
    let mut targets = vec![0u32; kept_edges.iter().sum()];
    let starts: Vec<usize> = blocks
        .iter()
        .map(|&first| offsets[first] as usize)
        .collect();
    cut(&mut targets, kept_edges.iter().copied())
        .into_par_iter()
        .zip(starts)
        .for_each(|(part, start)| part.copy_from_slice(&slots[start..start + part.len()]));
    let mut sum = 0;
    for (end, kept) in offsets[1..].iter_mut().zip(&kept) {
        sum += kept;
        *end = sum;
    }
    Csr::new(offsets, targets)
}

/// Nodes that one task of a parallel pass over a CSR graph takes.
const BLOCK_NODES: usize = 4096;

fn block_edges(offsets: &[u32], first: usize) -> std::ops::Range<usize> {
    let end = (first + BLOCK_NODES).min(offsets.len() - 1);
    offsets[first] as usize..offsets[end] as usize
}

/// Cuts a slice into consecutive parts of the given lengths.
fn cut<T>(mut slice: &mut [T], lens: impl Iterator<Item = usize>) -> Vec<&mut [T]> {
    lens.map(|len| {
        let (part, rest) = std::mem::take(&mut slice).split_at_mut(len);
        slice = rest;
        part
    })
    .collect()
}

/// Edge `i` of the R-MAT sequence: one 32-bit draw a level chooses the quadrant.
fn rmat_edge(scale: u32, key: u64, i: u64) -> (u32, u32) {
    const UNIT: f64 = 4_294_967_296.0;
    const A: u32 = (0.57 * UNIT) as u32;
    const AB: u32 = (0.76 * UNIT) as u32;
    const ABC: u32 = (0.95 * UNIT) as u32;
    let mut state = mix(key ^ i);
    let (mut src, mut dst) = (0, 0);
    let mut descend = |draw: u32| {
        // Comparisons as numbers: a branch on a random draw is mispredicted half the time.
        let [a, ab, abc] = [A, AB, ABC].map(|bound| u32::from(draw >= bound));
        src = src << 1 | ab;
        dst = dst << 1 | (a ^ ab ^ abc);
    };
    for _ in 0..scale / 2 {
        state = state.wrapping_add(GOLDEN);
        let bits = mix(state);
        descend(bits as u32);
        descend((bits >> 32) as u32);
    }
    if scale % 2 == 1 {
        descend(mix(state.wrapping_add(GOLDEN)) as u32);
    }
    (src, dst)
}

/// Increment of the splitmix64 generator (Steele, Lea, Flood: Fast splittable pseudorandom number generators).
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// Finaliser of splitmix64: a bijection that scatters every bit.
pub fn mix(x: u64) -> u64 {
    let x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

pub(crate) fn gib(bytes: u64) -> f64 {
    bytes as f64 / (1u64 << 30) as f64
}

/// Memory that is free for us, where the system says so.
pub(crate) fn available_memory_bytes() -> Option<u64> {
    let meminfo = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = meminfo.lines().find(|l| l.starts_with("MemAvailable:"))?;
    let kib: u64 = line.split_ascii_whitespace().nth(1)?.parse().ok()?;
    let number = |path| -> Option<u64> { std::fs::read_to_string(path).ok()?.trim().parse().ok() };
    let group = number("/sys/fs/cgroup/memory.max")
        .zip(number("/sys/fs/cgroup/memory.current"))
        .map(|(max, used)| max.saturating_sub(used));
    Some(kib.saturating_mul(1024).min(group.unwrap_or(u64::MAX)))
}
