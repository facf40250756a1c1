//! Thousands of runs on a real device, for `scripts/delay-ptx`: small graphs, where warps wait for each other most.

use vyre::Runtime;
use vyre_tests::{graphs, passes::bfs, passes::sssp};

/// Runs of each pass; `VYRE_STRESS_RUNS` says otherwise.
fn runs() -> u32 {
    let asked = std::env::var("VYRE_STRESS_RUNS").ok();
    asked.and_then(|n| n.parse().ok()).unwrap_or(3_000)
}

fn cuda() -> Runtime {
    Runtime::cuda().expect("a CUDA device")
}

#[test]
#[ignore = "needs a CUDA device"]
fn searches_end_alike_whoever_is_late() {
    let runtime = cuda();
    let shapes = [
        graphs::chain(40),
        graphs::grid(30, 30),
        graphs::random_graph(2_000, 20_000),
    ];
    for graph in shapes {
        let mut session = bfs::Session::new(&runtime, &graph).expect("it fits");
        for run in 0..runs() {
            let source = run % graph.node_count() as u32;
            let out = session.run(bfs::Run { source }).expect("no trap");
            assert!(
                out.dist == graphs::distances(&graph, source),
                "run {run} from {source}"
            );
        }
    }
    println!("stress searches: {} runs", 3 * runs());
}

#[test]
#[ignore = "needs a CUDA device"]
fn shortest_paths_end_alike_whoever_is_late() {
    let runtime = cuda();
    for graph in [graphs::grid(24, 24), graphs::random_graph(1_000, 8_000)] {
        let weight: Vec<u32> = (0..graph.edge_count() as u32)
            .map(|e| e.wrapping_mul(2_654_435_761) >> 27)
            .collect();
        let mut session = sssp::Session::new(
            &runtime,
            sssp::Topology {
                graph: &graph,
                weight: &weight,
            },
        )
        .expect("it fits");
        for run in 0..runs() {
            let source = run % graph.node_count() as u32;
            let out = session.run(sssp::Run { source }).expect("no trap");
            assert!(
                out.dist == graphs::shortest(&graph, &weight, source),
                "run {run} from {source}"
            );
        }
    }
    println!("stress shortest paths: {} runs", 2 * runs());
}
