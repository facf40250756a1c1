//! Who competes: one trait, and a list of everyone who implements it.
//!
//! A rival prepares a workload once (allocates, uploads: not timed) and then runs it as often as asked. Whoever adds
//! one implements [`Rival`] and adds it to [`all`].

mod cpu;
pub(super) mod gpu;
mod ours;
mod programs;
mod relations;

pub(crate) use ours::hash;

use crate::workloads::{Values, Workload};
use thiserror::Error;
use vyre::Csr;

/// One way to compute workloads.
pub trait Rival: Sync {
    /// Its name in tables and after `--rivals`.
    fn name(&self) -> &'static str;

    /// What it is, in half a sentence.
    fn about(&self) -> &'static str;

    /// Where it runs.
    fn place(&self) -> Place;

    /// It is one of vyre's own backends.
    fn ours(&self) -> bool {
        false
    }

    /// Why a run would take too long to be worth waiting for; such cells run only where the rival is asked for by name.
    fn too_long(&self, workload: &Workload) -> Option<String> {
        let _ = workload;
        None
    }

    /// Makes everything ready that is not part of a run.
    fn prepare<'w>(&self, workload: &'w Workload) -> Result<Box<dyn Prepared + 'w>, Skip>;
}

/// Where a rival computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// On the CPU.
    Cpu,
    /// On a GPU.
    Gpu,
}

/// Where a run's result goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Results {
    /// Memory that is new to the process, whose pages the run makes.
    New,
    /// The memory of an earlier result.
    Earlier,
}

/// Why a rival does not run a workload.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Skip {
    /// It has no algorithm for this, and no cell in the table.
    #[error("it has no algorithm for this")]
    NoAlgorithm,
    /// It cannot run here: no device, no memory.
    #[error("{0}")]
    Unavailable(String),
}

/// A workload ready to run.
pub trait Prepared {
    /// Restores what a run destroys; called before each run, not timed.
    fn reset(&mut self) {}

    /// What the last run gave, once it was checked: memory for the next result of who reuses it. Not timed.
    fn give_back(&mut self, values: Values) {
        drop(values);
    }

    /// One run, from what a run takes on the host to the result in ordinary memory of the host. What stays between runs
    /// (a graph, its weights) was brought by [`Rival::prepare`].
    fn run(&mut self) -> Result<Measured, String>;
}

/// What a run gave. Its wall time is taken around it.
#[derive(Clone, Debug)]
pub struct Measured {
    /// The result.
    pub values: Values,
    /// Rounds, levels or iterations, where the algorithm has them.
    pub rounds: Option<u64>,
    /// Time on the device between the first and the last operation, without uploads and readback.
    pub device_ns: Option<u64>,
}

impl Measured {
    /// A result of the CPU.
    pub fn new(values: Values) -> Measured {
        Measured {
            values,
            rounds: None,
            device_ns: None,
        }
    }
}

impl<F: FnMut() -> Result<Measured, String>> Prepared for F {
    fn run(&mut self) -> Result<Measured, String> {
        self()
    }
}

/// Width of a bucket of distances. On the CPU by the rule of Davidson and others (Work-efficient parallel GPU methods
/// for single-source shortest paths): a warp's lanes times mean weight by mean degree. On a GPU everyone is faster with
/// wider ones where nodes have few edges, because a round takes its time however few items it has, and with narrower
/// ones where they have many.
fn bucket_width(graph: &Csr, weights: &[u32], place: Place) -> u32 {
    let sum: u64 = weights.iter().map(|&w| u64::from(w)).sum();
    let (nodes, edges) = (graph.node_count() as f64, graph.edge_count().max(1) as f64);
    let (mean, rarity) = (sum as f64 / edges, nodes / edges);
    let width = match place {
        Place::Cpu => 32.0 * mean * rarity,
        Place::Gpu => 320.0 * mean * rarity * rarity,
    };
    width.max(1.0) as u32
}

/// vyre's own compiled passes once more for each of these shapes of their modules.
pub fn of_shapes(shapes: &[vyre::cuda::Shape]) -> Vec<Box<dyn Rival>> {
    ours::of_shapes(shapes)
}

/// Everyone, in the order of the tables.
pub fn all() -> Vec<Box<dyn Rival>> {
    let mut all = cpu::all();
    all.extend(ours::all());
    all.extend(gpu::all());
    all
}
