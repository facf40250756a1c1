//! Planning time. Run with `cargo test --release --test plan_speed -- --ignored --nocapture`.

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

/// Fastest of five.
fn time(dag: &Dag) -> Duration {
    (0..5)
        .map(|_| {
            let start = Instant::now();
            let levels = levels(dag.waves, &dag.edges).unwrap();
            assert_eq!(hazard::check(&dag.accesses, &levels).unwrap(), []);
            let plan = plan(&Input {
                budget_bytes: Some(1 << 20),
                ..Input::new(&levels, &dag.bytes)
            })
            .unwrap();
            assert!(plan.groups.len() >= levels.len());
            start.elapsed()
        })
        .min()
        .expect("five runs")
}

#[test]
#[ignore = "measures a release build"]
fn planning_is_fast_and_close_to_linear() {
    for (waves, edges, limit_ms) in [
        (1_250, 12_500, 100),
        (2_500, 25_000, 100),
        (5_000, 50_000, 100),
        (10_000, 20_000, 50),
        (10_000, 40_000, 50),
        (10_000, 100_000, 100),
        (20_000, 200_000, 1_000),
        (40_000, 400_000, 1_000),
    ] {
        let took = time(&random_dag(waves, edges));
        let each = took.as_nanos() / (waves + edges) as u128;
        println!("{waves:6} waves {edges:7} edges {took:10.2?} {each:4} ns for each");
        assert!(took < Duration::from_millis(limit_ms), "{took:?}");
    }
}

#[test]
#[ignore = "measures a release build"]
fn ten_thousand_waves_that_write_one_buffer_are_checked_fast() {
    let n = 10_000u32;
    let write = vec![Access {
        resource: Resource::Buffer(BufferId(0)),
        mode: Mode::Write,
    }];
    // Every second wave reads, so that no chain of direct edges answers all questions.
    let mut accesses = vec![write; n as usize];
    for reader in accesses.iter_mut().step_by(3) {
        reader[0].mode = Mode::Read;
    }
    let edges: Vec<Edge> = (1..n).map(|v| Edge::new(v - 1, v)).collect();
    let start = Instant::now();
    let levels = levels(n as usize, &edges).unwrap();
    assert_eq!(hazard::check(&accesses, &levels).unwrap(), []);
    println!("chain of {n}: {:.2?}", start.elapsed());
    assert!(start.elapsed() < Duration::from_millis(50));
}

#[test]
#[ignore = "measures a release build"]
fn layers_ordered_only_through_hubs_are_checked_fast() {
    // 100 layers of 99 waves and a hub: odd layers add to the shared buffer, even layers read it.
    let (layers, width) = (100u32, 100u32);
    let mut edges = Vec::new();
    let mut accesses = Vec::new();
    for layer in 0..layers {
        let first = layer * width;
        let hub = first + width - 1;
        for wave in first..hub {
            edges.push(Edge::new(wave, hub));
            if layer > 0 {
                edges.push(Edge::new(first - 1, wave));
            }
            let mode = match layer % 2 {
                0 => Mode::Read,
                _ => Mode::Update(UpdateOp::Add),
            };
            accesses.push(vec![Access {
                resource: Resource::Buffer(BufferId(0)),
                mode,
            }]);
        }
        accesses.push(Vec::new());
    }
    let start = Instant::now();
    let levels = levels(accesses.len(), &edges).unwrap();
    assert_eq!(hazard::check(&accesses, &levels).unwrap(), []);
    println!("{layers} layers of {width}: {:.2?}", start.elapsed());
    assert!(start.elapsed() < Duration::from_millis(50));
}
