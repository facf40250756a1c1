//! Nodes of very many edges are swept by all workgroups, in a dispatch of their own. Nothing else may tell it.

#![allow(missing_docs, reason = "passes of tests")]

use std::sync::Arc;
use vyre::prelude::*;
use vyre_tests::graphs::{distances, shortest};
use vyre_tests::passes::{bfs, sssp};
use vyre_tests::random::Random;
use vyre_wgpu::Wgpu;

const NODES: u32 = 3_000;

/// Where a chain begins that leads away from all others.
const CHAIN: u32 = NODES - 50;

/// Some nodes of so many edges, among nodes of a few, which it has in no order.
fn graph(hubs: &[(u32, u32)]) -> Csr {
    let mut random = Random(5);
    let mut edges = Vec::new();
    for v in 0..NODES {
        let hub = hubs.iter().find(|&&(hub, _)| hub == v);
        let degree = hub.map_or_else(|| random.below(4), |&(_, degree)| degree);
        edges.extend((0..degree).map(|_| (v, random.below(CHAIN))));
        if v > CHAIN {
            edges.push((v - 1, v));
        }
    }
    Csr::from_edges(NODES as usize, &edges).expect("edges name nodes")
}

/// One large hub, those about as large as the smallest, and the last node.
fn few_hubs() -> Csr {
    graph(&[
        (5, 20_000),
        (77, 2_048),
        (78, 2_047),
        (79, 2_049),
        (NODES - 1, 5_000),
    ])
}

/// More hubs than a workgroup has lanes.
fn many_hubs() -> Csr {
    let hubs: Vec<(u32, u32)> = (0..300).map(|k| (k * 7, 2_048 + k)).collect();
    graph(&hubs)
}

/// The adapter, where dispatches sweep everything, and where the control sweeps what is narrow.
fn runtimes() -> [Runtime; 2] {
    let wgpu = Wgpu::open().unwrap_or_else(|e| panic!("{e}"));
    [wgpu.clone().with_narrow_items(0), wgpu].map(|wgpu| Runtime::on(Arc::new(wgpu)))
}

/// Two sweeps of edges at once: of all, and of those of some nodes, one of them several times.
#[wave_graph]
pub mod walk {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[frontier]
        front: Frontier,
        #[list(capacity = kept, output)]
        heads: List<u32>,
        #[output(per = edge(graph))]
        times: u32,
        #[output(per = edge(graph))]
        every: u32,
        #[reduce(count)]
        seen: u64,
        #[reduce(sum)]
        sum: u64,
        #[reduce(max)]
        most: u32,
        #[reduce(exact_sum)]
        exact: f64,
        again: u32,
        often: u32,
        kept: u32,
        bad: u32,
        worse: u32,
    }

    #[wave(nodes)]
    fn init(v: Node, again: u32, often: u32, front: &Push) {
        if v % 2 == 1 {
            front.push(v);
        }
        if v == again {
            for _ in 0..often {
                front.push(v);
            }
        }
    }

    #[wave(edges(graph), after(init))]
    fn all(e: Edge, every: &Buf<Atomic<u32>>, most: &Reduce<Max<u32>>) {
        every[e.index].fetch_add(e.src + 1);
        most.max(e.src * 3 + e.index);
    }

    #[wave(edges(graph, from = front), after(init))]
    fn some(
        e: Edge,
        bad: u32,
        worse: u32,
        times: &Buf<Atomic<u32>>,
        heads: &Append<u32>,
        seen: &Reduce<Count>,
        sum: &Reduce<Sum<u64>>,
        exact: &Reduce<ExactSum<f64>>,
    ) {
        assert!(e.index != bad, "bad");
        assert!(e.index < worse, "worse");
        times[e.index].fetch_add(1);
        if e.index.is_multiple_of(5) {
            heads.append(e.dst);
        }
        seen.inc();
        sum.add(u64::from(e.index) << 20);
        exact.add(1.0 / (f64::from(e.src) + 3.0));
    }
}

fn run(again: u32) -> walk::Run {
    walk::Run {
        again,
        often: 2,
        kept: 1_000_000,
        bad: u32::MAX,
        worse: u32::MAX,
    }
}

#[test]
fn every_edge_is_swept_as_often_as_its_node() {
    for graph in [few_hubs(), many_hubs()] {
        let often = |v: u32| v % 2 + if v == 5 { 2 } else { 0 };
        let sources = || (0..NODES).flat_map(|v| graph.edges(v).map(move |_| v));
        let times: Vec<u32> = sources().map(often).collect();
        let every: Vec<u32> = sources().map(|v| v + 1).collect();
        let sums = times
            .iter()
            .zip(0u64..)
            .map(|(&n, e)| u64::from(n) * (e << 20));
        let most = sources().zip(0..).map(|(v, e)| v * 3 + e).max();
        let topology = walk::Topology { graph: &graph };
        let mut native = walk::Session::new(&Runtime::native(), topology).expect("it fits");
        let expected = native.run(run(5)).expect("no trap");
        let sorted = |mut heads: Vec<u32>| {
            heads.sort_unstable();
            heads
        };
        let heads = sorted(expected.heads);
        for runtime in runtimes() {
            let topology = walk::Topology { graph: &graph };
            let mut session = walk::Session::new(&runtime, topology).expect("it fits");
            // Nothing of a run is left for the next, and a sweep of two dispatches is one.
            for timed in [false, true, false] {
                session.set_wave_times(timed);
                let out = session.run(run(5)).expect("no trap");
                let sweeps = out.report.waves.as_ref();
                let sweeps = sweeps.map(|waves| waves.iter().map(|w| w.sweeps).collect());
                assert_eq!(sweeps, timed.then(|| vec![1, 1, 1]));
                assert!(out.times == times && out.every == every);
                assert_eq!(out.seen, times.iter().map(|&n| u64::from(n)).sum::<u64>());
                assert_eq!(out.sum, sums.clone().sum::<u64>());
                assert_eq!(Some(out.most), most);
                assert_eq!(out.exact.to_bits(), expected.exact.to_bits());
                assert!(sorted(out.heads) == heads);
            }
        }
    }
}

/// A frontier that has a hub more often than hubs are left for all workgroups.
#[test]
fn hubs_beyond_those_that_are_kept_are_swept_too() {
    let often = 9_000;
    let graph = graph(&[(6, 2_048), (8, 2_049)]);
    let topology = walk::Topology { graph: &graph };
    let mut session = walk::Session::new(&runtimes()[1], topology).expect("it fits");
    let kept = 5_000_000;
    let out = session.run(walk::Run {
        often,
        kept,
        ..run(6)
    });
    let times = out.expect("no trap").times;
    let expected = (0..NODES).flat_map(|v| {
        let times = v % 2 + if v == 6 { often } else { 0 };
        graph.edges(v).map(move |_| times)
    });
    assert!(times.into_iter().eq(expected));
}

#[test]
fn the_lowest_edge_that_traps_decides_wherever_it_is() {
    let graph = few_hubs();
    let topology = walk::Topology { graph: &graph };
    let mut native = walk::Session::new(&Runtime::native(), topology).expect("it fits");
    let mut sessions = runtimes().map(|runtime| {
        let topology = walk::Topology { graph: &graph };
        walk::Session::new(&runtime, topology).expect("it fits")
    });
    let (hub, last) = (graph.edges(5), graph.edges(NODES - 1));
    // A node of a few edges before the hub, and one behind it.
    let (before, behind) = (
        graph.edges(3).chain(graph.edges(1)).next(),
        graph.edges(81).chain(graph.edges(83)).next(),
    );
    let before = before.expect("node 1 or 3 has an edge");
    let behind = behind.expect("node 81 or 83 has an edge");
    let never = u32::MAX;
    let cases = [
        (hub.start, never),
        (hub.end - 1, never),
        (hub.start + 9_999, never),
        (never, hub.start + 12_345),
        (last.end - 1, never),
        (last.start, last.start + 1),
        (before, hub.start + 1),
        (behind, hub.start + 1),
        (behind, last.start),
        (before, behind),
    ];
    for (bad, worse) in cases {
        let run = || walk::Run {
            bad,
            worse,
            ..run(5)
        };
        let expected = native.run(run()).map(|_| ()).unwrap_err().to_string();
        for session in &mut sessions {
            let error = session.run(run()).map(|_| ()).unwrap_err();
            assert_eq!(error.to_string(), expected, "{bad} {worse}");
        }
    }
    // A list that is too short for what hubs give.
    let run = || walk::Run {
        kept: 4_000,
        ..run(5)
    };
    let expected = native.run(run()).map(|_| ()).unwrap_err().to_string();
    for session in &mut sessions {
        let error = session.run(run()).map(|_| ()).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn rounds_go_through_hubs() {
    for graph in [few_hubs(), many_hubs()] {
        let weight: Vec<u32> = (0..graph.edge_count() as u32).map(|e| e % 13 + 1).collect();
        for source in [5, CHAIN] {
            let (near, far) = (distances(&graph, source), shortest(&graph, &weight, source));
            for runtime in runtimes() {
                let topology = bfs::Topology { graph: &graph };
                let mut session = bfs::Session::new(&runtime, topology).expect("it fits");
                let out = session.run(bfs::Run { source }).expect("no trap");
                assert!(out.dist == near, "{source}");
                let topology = sssp::Topology {
                    graph: &graph,
                    weight: &weight,
                };
                let mut session = sssp::Session::new(&runtime, topology).expect("it fits");
                let out = session.run(sssp::Run { source }).expect("no trap");
                assert!(out.dist == far, "{source}");
            }
        }
    }
}
