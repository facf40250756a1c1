//! The sequential algorithms against petgraph's.

use petgraph::algo::{connected_components, dijkstra};
use petgraph::graph::{DiGraph, NodeIndex};
use vyre::Csr;
use vyre_examples::oracle::{self, PageRank, UNREACHED};
use vyre_tests::random::cases;

fn random(
    u: &mut arbtest::arbitrary::Unstructured<'_>,
) -> arbtest::arbitrary::Result<(Csr, Vec<u32>)> {
    let nodes = u.int_in_range(1..=40u32)?;
    let mut edges = Vec::new();
    while !u.is_empty() && edges.len() < 120 {
        edges.push((
            u.int_in_range(0..=nodes - 1)?,
            u.int_in_range(0..=nodes - 1)?,
        ));
    }
    let weights = (0..edges.len()).map(|_| u.int_in_range(0..=90u32));
    let weights = weights.collect::<Result<_, _>>()?;
    Ok((Csr::from_edges(nodes as usize, &edges).unwrap(), weights))
}

fn to_petgraph(csr: &Csr, weights: &[u32]) -> DiGraph<(), u32> {
    let nodes = 0..csr.node_count() as u32;
    let edges = nodes.flat_map(|v| csr.edges(v).iter().map(move |e| (v, e)));
    let mut graph =
        DiGraph::from_edges(edges.map(|(v, e)| (v, csr.target(e), weights[e as usize])));
    while graph.node_count() < csr.node_count() {
        graph.add_node(());
    }
    graph
}

#[test]
fn shortest_paths_agree() {
    cases(100, |u| {
        let (csr, weights) = random(u)?;
        let theirs = to_petgraph(&csr, &weights);
        let distances = |cost: fn(u32) -> u32| -> Vec<u32> {
            let found = dijkstra(&theirs, NodeIndex::new(0), None, |e| cost(*e.weight()));
            let nodes = 0..csr.node_count();
            nodes
                .map(|v| found.get(&NodeIndex::new(v)).copied().unwrap_or(UNREACHED))
                .collect()
        };
        assert_eq!(oracle::dijkstra(&csr, &weights, 0), distances(|w| w));
        assert_eq!(oracle::bfs(&csr, 0), distances(|_| 1));
        Ok(())
    });
}

#[test]
fn components_agree() {
    cases(100, |u| {
        let (csr, weights) = random(u)?;
        let labels = oracle::components(&csr);
        let roots = (0u32..)
            .zip(&labels)
            .filter(|&(v, &label)| v == label)
            .count();
        assert_eq!(roots, connected_components(&to_petgraph(&csr, &weights)));
        for v in 0..csr.node_count() as u32 {
            assert!(labels[v as usize] <= v);
            assert!(
                csr.neighbors(v)
                    .iter()
                    .all(|t| labels[t as usize] == labels[v as usize])
            );
        }
        Ok(())
    });
}

/// petgraph's `page_rank` leaves the restart term out along edges, so the defining equation is the judge.
#[test]
fn ranks_solve_their_equation() {
    cases(100, |u| {
        let (csr, _) = random(u)?;
        let rank = oracle::pagerank(
            &csr,
            PageRank {
                damping: 0.85,
                tolerance: 1e-6,
                max_rounds: 200,
            },
        );
        let nodes = csr.node_count();
        let mut expected = vec![0.15 / nodes as f64; nodes];
        for (v, &rank) in (0u32..).zip(&rank) {
            let passed_on = 0.85 * f64::from(rank);
            match csr.degree(v) {
                0 => expected
                    .iter_mut()
                    .for_each(|r| *r += passed_on / nodes as f64),
                degree => csr
                    .neighbors(v)
                    .iter()
                    .for_each(|t| expected[t as usize] += passed_on / f64::from(degree)),
            }
        }
        for (a, b) in rank.iter().zip(&expected) {
            assert!((f64::from(*a) - b).abs() < 3e-6, "{rank:?} {expected:?}");
        }
        Ok(())
    });
}

#[test]
fn distances_beyond_u32_count_as_unreached() {
    let csr = Csr::from_edges(4, &[(0, 1), (1, 2), (2, 3)]).unwrap();
    let max = u32::MAX;
    assert_eq!(
        oracle::dijkstra(&csr, &[max - 1, 0, 1], 0),
        [0, max - 1, max - 1, UNREACHED]
    );
    assert_eq!(
        oracle::dijkstra(&csr, &[max - 1, max, 0], 0),
        [0, max - 1, UNREACHED, UNREACHED]
    );
}
