//! What is measured: workloads by name, their inputs, and the check of every result.

use rayon::prelude::*;
use std::collections::HashMap;
use std::fmt::{self, Display};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::str::FromStr;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use vyre::Csr;
use vyre_examples::cfg::{CacheError, Cfg, Definitions, GENERAL};
use vyre_examples::cli::{count, first_difference};
use vyre_examples::elf::ElfError;
use vyre_examples::files;
use vyre_examples::graph::{self, GraphError, GraphSpec, mix};
use vyre_examples::oracle;

/// A workload by name: what `--workloads` lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, clap::ValueEnum)]
#[value(rename_all = "verbatim")]
pub enum Name {
    /// Breadth-first search from a corner of a grid of 1000 x 1000.
    #[value(name = "bfs-grid1000")]
    BfsGrid1000,
    /// The same of 4000 x 4000.
    #[value(name = "bfs-grid4000")]
    BfsGrid4000,
    /// Breadth-first search along a path of 20,000 nodes.
    #[value(name = "bfs-chain20k")]
    BfsChain20k,
    /// Breadth-first search from the hub of an R-MAT graph of 2^20 nodes, edge factor 16.
    #[value(name = "bfs-rmat20")]
    BfsRmat20,
    /// The same of 2^22 nodes.
    #[value(name = "bfs-rmat22")]
    BfsRmat22,
    /// Shortest paths from a corner of the grid, weights 1 to 64.
    #[value(name = "sssp-grid1000")]
    SsspGrid1000,
    /// Shortest paths from the hub of the larger R-MAT graph, weights 1 to 64.
    #[value(name = "sssp-rmat22")]
    SsspRmat22,
    /// PageRank; times are those of one iteration.
    #[value(name = "pagerank-rmat22")]
    PageRankRmat22,
    /// Connected components of the grid.
    #[value(name = "components-grid1000")]
    ComponentsGrid1000,
    /// Connected components of the larger R-MAT graph.
    #[value(name = "components-rmat22")]
    ComponentsRmat22,
    /// Live registers of the basic blocks of a large program.
    #[value(name = "liveness")]
    Liveness,
    /// Writes of general registers that may be the last ones before each of these blocks.
    #[value(name = "reaching")]
    Reaching,
    /// y = a * x + y over 64 M elements.
    #[value(name = "saxpy")]
    Saxpy,
    /// A hash of 32 steps of each of 16 M numbers.
    #[value(name = "hash")]
    Hash,
    /// Transitive closure of a grid of 64 x 64: all pairs, in 126 rounds.
    #[value(name = "closure-grid64")]
    ClosureGrid64,
    /// Transitive closure of a path of 4,000 nodes: half of all pairs, few in each round.
    #[value(name = "closure-chain4k")]
    ClosureChain4k,
    /// Transitive closure of an R-MAT graph of 2^12 nodes, edge factor 4: hubs, and few rounds.
    #[value(name = "closure-rmat12")]
    ClosureRmat12,
    /// Transitive closure of the control-flow graphs of made-up functions, 100,000 blocks: one pair of 730.
    #[value(name = "closure-cfg100k")]
    ClosureCfg100k,
    /// Transitive closure of the graph of `--edges`.
    #[value(name = "closure-file")]
    ClosureFile,
    /// Same generation of a grid of 48 x 48: half of all pairs.
    #[value(name = "same-generation-grid48")]
    SameGenerationGrid48,
    /// Same generation of the graph of `--edges`.
    #[value(name = "same-generation-file")]
    SameGenerationFile,
}

impl Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = clap::ValueEnum::to_possible_value(self).expect("no name is hidden");
        f.pad(value.get_name())
    }
}

/// How large the inputs are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Scale {
    /// As the names say.
    #[default]
    Full,
    /// The same shapes with some thousand nodes, for tests.
    Small,
}

/// Damping of the PageRank workload.
pub const DAMPING: f32 = 0.85;
/// Its iteration stops when the ranks move by less than this in sum.
pub const TOLERANCE: f32 = 1e-3;
/// Factor of the saxpy workload.
pub const FACTOR: f32 = 2.0;
/// Seed of the hash workload.
pub const SEED: u32 = 0x9e37_79b9;

/// A workload with its inputs. Graphs of one specification are shared.
#[derive(Debug)]
pub struct Workload {
    /// Which.
    pub name: Name,
    /// What is to be computed.
    pub problem: Problem,
    expected: Expected,
}

/// What is to be computed, and from what.
#[derive(Debug)]
pub enum Problem {
    /// Levels from node 0: [`Values::U32`], `u32::MAX` where nothing leads.
    Bfs {
        /// The graph.
        graph: Arc<Csr>,
        /// Every edge has its reverse.
        symmetric: bool,
    },
    /// Distances from node 0: [`Values::U32`], `u32::MAX` where nothing leads.
    Sssp {
        /// The graph.
        graph: Arc<Csr>,
        /// One weight of 1 to 64 an edge.
        weights: Arc<Vec<u32>>,
    },
    /// Ranks by power iteration from 1 / nodes until they move by less than [`TOLERANCE`]: [`Values::F32`].
    PageRank {
        /// The graph; every edge has its reverse, so it is its own transpose.
        graph: Arc<Csr>,
    },
    /// The smallest node of each node's component: [`Values::U32`].
    Components {
        /// The graph; every edge has its reverse.
        graph: Arc<Csr>,
    },
    /// Registers that are live where each block begins: [`Values::U64`].
    Liveness {
        /// Blocks.
        cfg: Arc<Cfg>,
        /// Edges of the control-flow graph, reversed.
        predecessors: Arc<Csr>,
    },
    /// Writes that may be the last ones before each block, as the words of its row: [`Values::U32`].
    Reaching {
        /// Blocks.
        cfg: Arc<Cfg>,
        /// Where the rows are, and the bits of writes.
        definitions: Arc<Definitions>,
    },
    /// `FACTOR * x + y`: [`Values::F32`].
    Saxpy {
        /// Small whole numbers, so that sums are exact.
        x: Vec<f32>,
        /// The same.
        y: Vec<f32>,
    },
    /// [`hashed`] of each index: [`Values::U32`].
    Hash {
        /// How many.
        len: u32,
    },
    /// Pairs of nodes, as many as there are: [`Values::Count`].
    Relation {
        /// Which pairs.
        rule: Rule,
        /// The graph.
        graph: Arc<Csr>,
        /// How many there are, by a sequential search.
        pairs: u64,
    },
}

/// What makes pairs of nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// A path leads from the one to the other.
    Closure,
    /// Edges lead to both from one node, or from two nodes of the same generation.
    SameGeneration,
}

impl Rule {
    /// All its pairs in a graph.
    pub fn of(self, graph: Arc<Csr>) -> Problem {
        let pairs = match self {
            Rule::Closure => oracle::closure(&graph).len(),
            Rule::SameGeneration => oracle::same_generation(&graph).len(),
        };
        Problem::Relation {
            rule: self,
            graph,
            pairs: pairs as u64,
        }
    }
}

/// A result.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Levels, distances, labels, hashes.
    U32(Vec<u32>),
    /// Sets.
    U64(Vec<u64>),
    /// Ranks, sums.
    F32(Vec<f32>),
    /// Pairs.
    Count(u64),
}

/// 32 steps of integer arithmetic that depend on each other.
#[inline]
pub fn hashed(index: u32, seed: u32) -> u32 {
    let mut h = index ^ seed;
    for step in 0..32 {
        h = (h ^ h >> 15)
            .wrapping_mul(0x2c1b_3c6d)
            .rotate_left(13)
            .wrapping_add(step);
    }
    h
}

/// What results are compared with, computed when first asked for.
#[derive(Debug, Default)]
struct Expected {
    exact: OnceLock<Values>,
    /// Ranks after that many rounds.
    ranks: Mutex<HashMap<u64, Arc<Vec<f32>>>>,
}

impl Workload {
    /// A workload of any size.
    pub fn new(name: Name, problem: Problem) -> Workload {
        Workload {
            name,
            problem,
            expected: Expected::default(),
        }
    }

    /// A figure is per round rather than per run.
    pub fn per_round(&self) -> bool {
        matches!(self.problem, Problem::PageRank { .. })
    }

    /// Nodes, blocks or elements, and edges.
    pub fn sizes(&self) -> (usize, usize) {
        match &self.problem {
            Problem::Bfs { graph, .. }
            | Problem::Sssp { graph, .. }
            | Problem::PageRank { graph }
            | Problem::Components { graph }
            | Problem::Relation { graph, .. } => (graph.node_count(), graph.edge_count()),
            Problem::Liveness { cfg, predecessors } => (cfg.uses.len(), predecessors.edge_count()),
            Problem::Reaching { cfg, .. } => (cfg.uses.len(), cfg.successors.edge_count()),
            Problem::Saxpy { x, .. } => (x.len(), 0),
            Problem::Hash { len } => (*len as usize, 0),
        }
    }

    /// About how many steps of a loop one run takes.
    pub fn work(&self) -> u64 {
        let (nodes, edges) = self.sizes();
        let steps = match &self.problem {
            Problem::Reaching { definitions, .. } => return 4 * u64::from(definitions.len()),
            Problem::Bfs { .. } | Problem::Liveness { .. } | Problem::Saxpy { .. } => 1,
            Problem::Sssp { .. } | Problem::Components { .. } => 3,
            Problem::PageRank { .. } => 8,
            Problem::Hash { .. } => 32,
            // A set looks at each pair, and at what follows from it.
            Problem::Relation { rule, pairs, .. } => {
                let degree = (edges / nodes.max(1)) as u64;
                return match rule {
                    Rule::Closure => pairs * (2 + degree),
                    Rule::SameGeneration => pairs * (2 + degree * degree),
                };
            }
        };
        steps * (nodes + edges) as u64
    }

    /// Describes how a result is wrong. `rounds` is what the rival counted.
    pub fn difference(&self, values: &Values, rounds: Option<u64>) -> Option<String> {
        if let Problem::PageRank { graph } = &self.problem {
            let Values::F32(ranks) = values else {
                return Some("ranks are f32".into());
            };
            let Some(rounds) = rounds else {
                return Some("a result of PageRank needs its number of rounds".into());
            };
            return self.ranks_differ(graph, ranks, rounds);
        }
        let expected = self.expected.exact.get_or_init(|| self.expect());
        match (values, expected) {
            (Values::U32(ours), Values::U32(expected)) => differ("value", ours, expected),
            (Values::U64(ours), Values::U64(expected)) => differ("set", ours, expected),
            (Values::F32(ours), Values::F32(expected)) => differ("value", ours, expected),
            (Values::Count(ours), Values::Count(expected)) => (ours != expected)
                .then(|| format!("{} pairs, not {}", count(*ours), count(*expected))),
            _ => Some("the values have another type".into()),
        }
    }

    fn expect(&self) -> Values {
        match &self.problem {
            Problem::Bfs { graph, .. } => Values::U32(oracle::bfs(graph, 0)),
            Problem::Sssp { graph, weights } => Values::U32(oracle::dijkstra(graph, weights, 0)),
            Problem::PageRank { .. } => unreachable!("ranks are compared after a number of rounds"),
            Problem::Components { graph } => Values::U32(oracle::components(graph)),
            Problem::Liveness { cfg, .. } => {
                Values::U64(oracle::liveness(&cfg.successors, &cfg.uses, &cfg.defs))
            }
            Problem::Reaching { cfg, definitions } => {
                Values::U32(oracle::reaching_definitions(cfg, definitions))
            }
            Problem::Saxpy { x, y } => {
                let pairs = x.par_iter().zip(y);
                Values::F32(pairs.map(|(x, y)| FACTOR * x + y).collect())
            }
            Problem::Hash { len } => {
                Values::U32((0..*len).into_par_iter().map(|i| hashed(i, SEED)).collect())
            }
            Problem::Relation { pairs, .. } => Values::Count(*pairs),
        }
    }

    /// The same number of rounds gives the same ranks, but for f32's rounding.
    fn ranks_differ(&self, graph: &Csr, ranks: &[f32], rounds: u64) -> Option<String> {
        const BOUND: f64 = 1e-4;
        let most = u64::from(MAX_RANK_ROUNDS);
        if !(1..=most).contains(&rounds) {
            return Some(format!("{rounds} rounds; 1 to {most} were allowed"));
        }
        let mut known = self
            .expected
            .ranks
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let expected = known
            .entry(rounds)
            .or_insert_with(|| Arc::new(ranks_after(graph, rounds)));
        if ranks.len() != expected.len() {
            return Some(format!(
                "{} ranks instead of {}",
                ranks.len(),
                expected.len()
            ));
        }
        let pairs = ranks.par_iter().zip(expected.as_slice());
        let distance: f64 = pairs.map(|(a, b)| f64::from((a - b).abs())).sum();
        (distance.is_nan() || distance > BOUND).then(|| {
            format!("ranks differ by {distance:.1e} in sum after {rounds} rounds; {BOUND:.0e} is allowed")
        })
    }
}

/// Rounds after which PageRank gives up.
pub const MAX_RANK_ROUNDS: u32 = 1000;

/// The sequential oracle's iteration without its stop, in parallel: it is only waited for.
fn ranks_after(graph: &Csr, rounds: u64) -> Vec<f32> {
    let nodes = graph.node_count();
    let start = 1.0 / nodes as f64;
    let damping = f64::from(DAMPING);
    let mut rank = vec![start as f32; nodes];
    for _ in 0..rounds {
        let share: Vec<f32> = rank
            .par_iter()
            .enumerate()
            .map(|(v, rank)| rank / graph.degree(v as u32).max(1) as f32)
            .collect();
        let dangling =
            |(v, rank): (usize, &f32)| (graph.degree(v as u32) == 0).then_some(f64::from(*rank));
        let dangling: f64 = rank.iter().enumerate().filter_map(dangling).sum();
        let base = (1.0 - damping) * start + damping * dangling * start;
        rank.par_iter_mut().enumerate().for_each(|(v, rank)| {
            let shares = graph
                .neighbors(v as u32)
                .iter()
                .map(|u| f64::from(share[u as usize]));
            *rank = (base + damping * shares.sum::<f64>()) as f32;
        });
    }
    rank
}

fn differ<T: PartialEq + Display + Sync>(what: &str, ours: &[T], expected: &[T]) -> Option<String> {
    let same = ours.len() == expected.len() && ours.par_iter().eq(expected);
    if same {
        None
    } else {
        first_difference(what, ours, expected)
    }
}

/// Inputs of this process: each graph is made once.
#[derive(Debug)]
pub struct Inputs {
    scale: Scale,
    /// Where the control-flow graph comes from; the toolchain's library without it.
    cfg: Option<PathBuf>,
    /// The graph of the workloads that have none of their own.
    edges: Option<PathBuf>,
    graphs: Mutex<HashMap<String, Arc<Csr>>>,
    weights: Mutex<HashMap<String, Arc<Vec<u32>>>>,
}

impl Inputs {
    /// Nothing is made yet. `cfg` is a cache of [`Cfg::write`], `edges` a file that `--graph file:PATH` of the examples
    /// takes.
    pub fn new(scale: Scale, cfg: Option<PathBuf>, edges: Option<PathBuf>) -> Inputs {
        Inputs {
            scale,
            cfg,
            edges,
            graphs: Mutex::default(),
            weights: Mutex::default(),
        }
    }

    /// The graph a workload runs on.
    fn spec(&self, name: Name) -> Option<GraphSpec> {
        let [grid, large_grid, chain, rmat, large_rmat] = match self.scale {
            Scale::Full => [
                "grid:1000x1000",
                "grid:4000x4000",
                "chain:20000",
                "rmat:20:16",
                "rmat:22:16",
            ],
            Scale::Small => [
                "grid:40x40",
                "grid:80x80",
                "chain:400",
                "rmat:9:16",
                "rmat:10:16",
            ],
        };
        // Of these there are all pairs.
        let [
            pairs_grid,
            pairs_chain,
            pairs_rmat,
            pairs_cfg,
            generations_grid,
        ] = match self.scale {
            Scale::Full => [
                "grid:64x64",
                "chain:4000",
                "rmat:12:4",
                "cfg:100000",
                "grid:48x48",
            ],
            Scale::Small => ["grid:9x8", "chain:60", "rmat:6:4", "cfg:300", "grid:9x8"],
        };
        let text = match name {
            Name::BfsGrid1000 | Name::SsspGrid1000 | Name::ComponentsGrid1000 => grid,
            Name::BfsGrid4000 => large_grid,
            Name::BfsChain20k => chain,
            Name::BfsRmat20 => rmat,
            Name::BfsRmat22 | Name::SsspRmat22 | Name::PageRankRmat22 | Name::ComponentsRmat22 => {
                large_rmat
            }
            Name::ClosureGrid64 => pairs_grid,
            Name::ClosureChain4k => pairs_chain,
            Name::ClosureRmat12 => pairs_rmat,
            Name::ClosureCfg100k => pairs_cfg,
            Name::SameGenerationGrid48 => generations_grid,
            Name::ClosureFile | Name::SameGenerationFile => {
                return self.edges.clone().map(GraphSpec::File);
            }
            Name::Liveness | Name::Reaching | Name::Saxpy | Name::Hash => return None,
        };
        Some(GraphSpec::from_str(text).expect("the names are well-formed"))
    }

    fn graph(&self, spec: &GraphSpec) -> Result<Arc<Csr>, GraphError> {
        let mut graphs = self.graphs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(graph) = graphs.get(&spec.to_string()) {
            return Ok(Arc::clone(graph));
        }
        let graph = Arc::new(spec.load()?.csr);
        graphs.insert(spec.to_string(), Arc::clone(&graph));
        Ok(graph)
    }

    fn weights(&self, spec: &GraphSpec, graph: &Csr) -> Arc<Vec<u32>> {
        let mut weights = self.weights.lock().unwrap_or_else(PoisonError::into_inner);
        let made = weights.entry(spec.to_string());
        Arc::clone(made.or_insert_with(|| Arc::new(graph::hashed_weights(graph))))
    }

    /// Drops graphs and weights that none of these workloads needs.
    pub fn keep_for(&self, names: &[Name]) {
        let specs = |names: &[Name]| -> Vec<String> {
            names
                .iter()
                .filter_map(|&n| self.spec(n))
                .map(|s| s.to_string())
                .collect()
        };
        let graphs = specs(names);
        let weighted: Vec<Name> = names
            .iter()
            .copied()
            .filter(|n| matches!(n, Name::SsspGrid1000 | Name::SsspRmat22))
            .collect();
        let weighted = specs(&weighted);
        let lock = PoisonError::into_inner;
        self.graphs
            .lock()
            .unwrap_or_else(lock)
            .retain(|spec, _| graphs.contains(spec));
        let mut weights = self.weights.lock().unwrap_or_else(PoisonError::into_inner);
        weights.retain(|spec, _| weighted.contains(spec));
    }

    /// Generates or reads a workload's inputs; the error says why there are none.
    pub fn workload(&self, name: Name) -> Result<Workload, String> {
        let spec = self.spec(name);
        let graph = match &spec {
            Some(spec) => self.graph(spec).map_err(|e| e.to_string())?,
            None => Arc::new(Csr::from_edges(0, &[]).expect("no edges, so none is out of range")),
        };
        let full = self.scale == Scale::Full;
        let problem = match name {
            Name::BfsGrid1000 | Name::BfsGrid4000 | Name::BfsRmat20 | Name::BfsRmat22 => {
                Problem::Bfs {
                    graph,
                    symmetric: true,
                }
            }
            Name::BfsChain20k => Problem::Bfs {
                graph,
                symmetric: false,
            },
            Name::SsspGrid1000 | Name::SsspRmat22 => {
                let spec = spec.expect("these run on graphs");
                let weights = self.weights(&spec, &graph);
                Problem::Sssp { graph, weights }
            }
            Name::PageRankRmat22 => Problem::PageRank { graph },
            Name::ComponentsGrid1000 | Name::ComponentsRmat22 => Problem::Components { graph },
            Name::Liveness => {
                let cfg = Arc::new(self.cfg()?);
                let predecessors = Arc::new(cfg.predecessors());
                Problem::Liveness { cfg, predecessors }
            }
            Name::Reaching => {
                let cfg = Arc::new(self.cfg()?);
                let definitions = Definitions::of(&cfg, GENERAL).map_err(|e| e.to_string())?;
                Problem::Reaching {
                    cfg,
                    definitions: Arc::new(definitions),
                }
            }
            Name::Saxpy => {
                let len = if full { 1 << 26 } else { 10_000 };
                let numbers = |period: u32| {
                    (0..len)
                        .into_par_iter()
                        .map(move |i: u32| (i % period) as f32)
                };
                Problem::Saxpy {
                    x: numbers(1000).collect(),
                    y: numbers(77).collect(),
                }
            }
            Name::Hash => Problem::Hash {
                len: if full { 1 << 24 } else { 3000 },
            },
            Name::ClosureFile | Name::SameGenerationFile if spec.is_none() => {
                return Err("its graph comes from `--edges FILE`".into());
            }
            Name::ClosureGrid64
            | Name::ClosureChain4k
            | Name::ClosureRmat12
            | Name::ClosureCfg100k
            | Name::ClosureFile => Rule::Closure.of(graph),
            Name::SameGenerationGrid48 | Name::SameGenerationFile => Rule::SameGeneration.of(graph),
        };
        Ok(Workload::new(name, problem))
    }

    fn cfg(&self) -> Result<Cfg, String> {
        if let Some(path) = &self.cfg {
            let read = files::read(path).map_err(CacheError::from);
            let cfg = read.and_then(|bytes| Cfg::read(&bytes));
            return cfg.map_err(|e| format!("{}: {e}", path.display()));
        }
        if self.scale == Scale::Small {
            return Ok(Cfg::generated(5000, mix(1)));
        }
        let paths = toolchain_libraries()?;
        cfg_of(&paths).map_err(|e| e.to_string())
    }
}

/// The control-flow graphs of several programs, side by side.
pub fn cfg_of(paths: &[PathBuf]) -> Result<Cfg, ElfError> {
    let parts: Result<Vec<Cfg>, ElfError> =
        paths.iter().map(|path| Cfg::of_file(path, None)).collect();
    Cfg::join(parts?).map_err(|e| ElfError {
        path: paths.first().cloned().unwrap_or_default(),
        kind: e.into(),
    })
}

/// The Rust toolchain's library of the compiler, the largest program that every host with a toolchain has (in a list,
/// as a toolchain may have more than one); the error says why there is none.
pub fn toolchain_libraries() -> Result<Vec<PathBuf>, String> {
    let why = "the control-flow graph comes from a Rust toolchain's librustc_driver, or from `--cfg FILE`";
    let output = Command::new("rustc").args(["--print", "sysroot"]).output();
    let output = output.map_err(|e| format!("{why}; cannot run rustc: {e}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let lib = Path::new(text.trim()).join("lib");
    let entries = std::fs::read_dir(&lib).map_err(|e| format!("{why}; {}: {e}", lib.display()))?;
    let driver = |name: &str| name.starts_with("librustc_driver") && name.ends_with(".so");
    let mut paths: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            path.file_name()
                .and_then(|n| n.to_str())
                .is_some_and(driver)
        })
        .collect();
    if paths.is_empty() {
        return Err(format!("{why}; {} has none", lib.display()));
    }
    paths.sort();
    Ok(paths)
}
