//! How planning time grows: `cargo bench -p vyre-core` prints what a wave and an edge take in plans of several sizes, and
//! the ratio of the largest plan to the smallest of its kind. Where planning is close to linear, that is near 1; a step
//! that compares all waves with each other makes it a hundred.

use std::time::{Duration, Instant};
use vyre_core::plan::barrier::levels;
use vyre_core::plan::memory::{Input, WaveBytes, plan};
use vyre_core::plan::{Edge, hazard};
use vyre_core::vir0::module::{Access, BufferId, Mode, Resource, UpdateOp};

/// A small generator, so that every run plans the same graphs.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }
}

struct Dag {
    waves: usize,
    edges: Vec<Edge>,
    accesses: Vec<Vec<Access>>,
    bytes: Vec<WaveBytes>,
}

/// Every wave writes a buffer of its own, reads those of the waves it follows, and adds to one of eight shared buffers.
fn random_dag(waves: usize, edges: usize) -> Dag {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let resource = |b: u64| Resource::Buffer(BufferId(b as u16));
    let mut dag = Dag {
        waves,
        edges: Vec::new(),
        accesses: Vec::new(),
        bytes: Vec::new(),
    };
    for v in 0..waves as u64 {
        dag.accesses.push(vec![
            Access {
                resource: resource(v + 8),
                mode: Mode::Write,
            },
            Access {
                resource: resource(random.below(8)),
                mode: Mode::Update(UpdateOp::Add),
            },
        ]);
        dag.bytes.push(WaveBytes {
            frontier_bytes: random.below(1 << 16),
            scratch_bytes: random.below(1 << 12),
            output_bytes: random.below(1 << 14),
        });
    }
    while dag.edges.len() < edges {
        let (a, b) = (random.below(waves as u64), random.below(waves as u64));
        if a != b {
            let (before, after) = (a.min(b), a.max(b));
            dag.edges.push(Edge::new(before as u32, after as u32));
            dag.accesses[after as usize].push(Access {
                resource: resource(before + 8),
                mode: Mode::Read,
            });
        }
    }
    dag
}

/// Barrier groups, the check of hazards and the memory plan; their correctness is what tests are about.
fn plan_all(dag: &Dag) {
    let levels = levels(dag.waves, &dag.edges).expect("edges lead forward");
    assert_eq!(hazard::check(&dag.accesses, &levels).expect("few"), []);
    let plan = plan(&Input {
        budget_bytes: Some(1 << 20),
        ..Input::new(&levels, &dag.bytes)
    });
    assert!(plan.expect("each wave fits").groups.len() >= levels.len());
}

/// The fastest of five.
fn time(dag: &Dag) -> Duration {
    let times = (0..5).map(|_| {
        let start = Instant::now();
        plan_all(dag);
        start.elapsed()
    });
    times.min().expect("five runs")
}

/// A chain of waves that write one buffer; every third reads it, so that no chain of direct edges answers all questions.
fn chain(waves: u32) -> Dag {
    let access = |v: u32| Access {
        resource: Resource::Buffer(BufferId(0)),
        mode: match v % 3 {
            0 => Mode::Read,
            _ => Mode::Write,
        },
    };
    Dag {
        waves: waves as usize,
        edges: (1..waves).map(|v| Edge::new(v - 1, v)).collect(),
        accesses: (0..waves).map(|v| vec![access(v)]).collect(),
        bytes: vec![WaveBytes::default(); waves as usize],
    }
}

/// Layers of waves that only a hub orders: odd layers add to a shared buffer, even layers read it.
fn layers(layers: u32, width: u32) -> Dag {
    let mut dag = Dag {
        waves: 0,
        edges: Vec::new(),
        accesses: Vec::new(),
        bytes: Vec::new(),
    };
    for layer in 0..layers {
        let first = layer * width;
        let hub = first + width - 1;
        for wave in first..hub {
            dag.edges.push(Edge::new(wave, hub));
            if layer > 0 {
                dag.edges.push(Edge::new(first - 1, wave));
            }
            let mode = match layer % 2 {
                0 => Mode::Read,
                _ => Mode::Update(UpdateOp::Add),
            };
            dag.accesses.push(vec![Access {
                resource: Resource::Buffer(BufferId(0)),
                mode,
            }]);
        }
        dag.accesses.push(Vec::new());
    }
    dag.waves = dag.accesses.len();
    dag.bytes = vec![WaveBytes::default(); dag.waves];
    dag
}

/// Prints what plans of one kind take, from the smallest to the largest.
fn show(kind: &str, dags: impl IntoIterator<Item = Dag>) {
    let mut first = None;
    for dag in dags {
        let (waves, edges) = (dag.waves, dag.edges.len());
        let took = time(&dag);
        let each = took.as_nanos() as f64 / (waves + edges) as f64;
        let ratio = each / *first.get_or_insert(each);
        println!(
            "{kind}: {waves:6} waves {edges:7} edges {took:10.2?} {each:6.1} ns for each, {ratio:.2} of the first"
        );
    }
}

fn main() {
    let random = [
        (1_250, 12_500),
        (2_500, 25_000),
        (5_000, 50_000),
        (10_000, 100_000),
        (20_000, 200_000),
        (40_000, 400_000),
    ];
    show(
        "random",
        random.map(|(waves, edges)| random_dag(waves, edges)),
    );
    let sparse = [20_000, 40_000, 100_000];
    show("sparse", sparse.map(|edges| random_dag(10_000, edges)));
    show("chain ", [2_500, 5_000, 10_000, 20_000].map(chain));
    show("layers", [25, 50, 100, 200].map(|n| layers(n, 100)));
}
