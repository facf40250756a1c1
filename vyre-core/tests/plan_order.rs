//! Barrier groups and hazards.

use arbtest::arbitrary::{Result as Arbitrary, Unstructured};
use vyre_core::plan::barrier::{BarrierError, Levels, levels};
use vyre_core::plan::hazard::{self, Conflict, HazardError};
use vyre_core::plan::{Edge, NodeId};
use vyre_core::vir0::module::{Access, BufferId, Mode, Resource, UpdateOp};

#[path = "../../vyre-tests/src/random.rs"]
#[allow(
    dead_code,
    unreachable_pub,
    reason = "shared with tests of crates above, on which this one cannot depend"
)]
mod random;
use random::cases;

fn edges(pairs: &[(u32, u32)]) -> Vec<Edge> {
    pairs.iter().map(|&(a, b)| Edge::new(a, b)).collect()
}

fn groups(levels: &Levels) -> Vec<Vec<u32>> {
    levels
        .groups()
        .map(|g| g.iter().map(|v| v.0).collect())
        .collect()
}

#[test]
fn barriers_are_the_fewest() {
    let free = levels(4, &[]).unwrap();
    assert_eq!((free.len(), free.barriers()), (1, 0));

    let chain = levels(4, &edges(&[(0, 1), (1, 2), (2, 3)])).unwrap();
    assert_eq!(chain.barriers(), 3);

    let diamond = levels(4, &edges(&[(0, 1), (0, 2), (1, 3), (2, 3)])).unwrap();
    assert_eq!(groups(&diamond), [vec![0], vec![1, 2], vec![3]]);
    assert_eq!(diamond.barriers(), 2);

    let fan: Vec<Edge> = (1..=1024).map(|v| Edge::new(0, v)).collect();
    assert_eq!(levels(1025, &fan).unwrap().barriers(), 1);

    let none = levels(0, &[]).unwrap();
    assert_eq!((none.len(), none.barriers()), (0, 0));
}

#[test]
fn a_long_edge_does_not_pull_a_wave_forward() {
    let got = levels(4, &edges(&[(3, 0), (0, 1), (3, 1), (3, 2), (3, 1)])).unwrap();
    assert_eq!(groups(&got), [vec![3], vec![0, 2], vec![1]]);
    assert_eq!(got.level_of(NodeId(1)), 2);
    assert_eq!(got.successors(NodeId(3)), [NodeId(0), NodeId(1), NodeId(2)]);
}

#[test]
fn unknown_waves_and_self_dependencies_are_all_reported() {
    let errors = levels(2, &edges(&[(0, 2), (1, 1), (7, 7)])).unwrap_err();
    assert_eq!(
        errors,
        [
            BarrierError::UnknownNode {
                edge: 0,
                node: NodeId(2),
                nodes: 2
            },
            BarrierError::SelfDependency {
                edge: 1,
                node: NodeId(1)
            },
            BarrierError::UnknownNode {
                edge: 2,
                node: NodeId(7),
                nodes: 2
            },
        ]
    );
    assert_eq!(
        errors[0].to_string(),
        "edge 0 names node 2; there are 2 nodes"
    );
    assert_eq!(
        errors[1].to_string(),
        "edge 1 makes node 1 depend on itself"
    );
}

#[test]
fn a_cycle_has_a_count_and_a_path() {
    assert_eq!(
        levels(2, &edges(&[(0, 1), (1, 0)])),
        Err(vec![BarrierError::Cycle {
            unscheduled: 2,
            path: vec![NodeId(0), NodeId(1)],
            edges: vec![0, 1],
        }])
    );
    // 5 comes after the cycle and 0 before it; the long way 1 -> 4 -> 2 -> 3 -> 1 is not the one shown.
    let errors = levels(
        6,
        &edges(&[(0, 1), (3, 1), (1, 2), (2, 3), (1, 4), (4, 2), (3, 5)]),
    )
    .unwrap_err();
    assert_eq!(
        errors[0].to_string(),
        "5 nodes cannot be scheduled: 1 -> 2 -> 3 -> 1 is a cycle"
    );
    let BarrierError::Cycle { edges: marked, .. } = &errors[0] else {
        panic!("{errors:?}")
    };
    assert_eq!(marked, &[2, 3, 1]);
}

fn access(buffer: u16, mode: Mode) -> Access {
    Access {
        resource: Resource::Buffer(BufferId(buffer)),
        mode,
    }
}

const MODES: [Mode; 4] = [
    Mode::Read,
    Mode::Update(UpdateOp::Add),
    Mode::Update(UpdateOp::Min),
    Mode::Write,
];

#[test]
fn unordered_nodes_conflict_unless_both_read_or_update_with_one_op() {
    let free = levels(2, &[]).unwrap();
    let ordered = levels(2, &edges(&[(1, 0)])).unwrap();
    for a in MODES {
        for b in MODES {
            let nodes = [
                vec![access(0, a)],
                vec![access(1, Mode::Write), access(0, b)],
            ];
            let expected = if a == b && a != Mode::Write {
                vec![]
            } else {
                vec![Conflict {
                    first: NodeId(0),
                    second: NodeId(1),
                    resource: access(0, a).resource,
                    modes: (a, b),
                }]
            };
            assert_eq!(hazard::check(&nodes, &free).unwrap(), expected);
            assert_eq!(hazard::check(&nodes, &ordered).unwrap(), []);
        }
    }
}

#[test]
fn several_accesses_of_a_node_are_joined() {
    let nodes = [
        vec![
            access(0, Mode::Update(UpdateOp::Add)),
            access(0, Mode::Read),
        ],
        vec![access(0, Mode::Read)],
    ];
    let conflicts = hazard::check(&nodes, &levels(2, &[]).unwrap()).unwrap();
    assert_eq!(conflicts[0].modes, (Mode::Write, Mode::Read));
}

#[test]
fn accesses_of_another_graph_are_refused() {
    let nodes: [Vec<Access>; 1] = [vec![]];
    assert_eq!(
        hazard::check(&nodes, &levels(2, &[]).unwrap()),
        Err(HazardError::NodeCount {
            accesses: 1,
            nodes: 2
        })
    );
}

/// All pairs, with a transitive closure.
fn conflicts_by_definition(nodes: &[Vec<Access>], pairs: &[Edge]) -> Vec<Conflict> {
    let n = nodes.len();
    let mut reach = vec![vec![false; n]; n];
    for e in pairs {
        reach[e.before.index()][e.after.index()] = true;
    }
    for k in 0..n {
        for i in 0..n {
            for j in 0..n {
                reach[i][j] |= reach[i][k] && reach[k][j];
            }
        }
    }
    let mut found = Vec::new();
    for i in 0..n {
        for j in i + 1..n {
            for a in &nodes[i] {
                for b in &nodes[j] {
                    let clash = a.mode != b.mode || a.mode == Mode::Write;
                    let ordered = reach[i][j] || reach[j][i];
                    if a.resource == b.resource && clash && !ordered {
                        found.push(Conflict {
                            first: NodeId(i as u32),
                            second: NodeId(j as u32),
                            resource: a.resource,
                            modes: (a.mode, b.mode),
                        });
                    }
                }
            }
        }
    }
    found.sort();
    found
}

#[test]
fn random_graphs_have_the_conflicts_of_the_definition() {
    cases(300, |u| {
        let n = u.int_in_range(1..=24usize)?;
        let density = u.int_in_range(1..=100u32)?;
        // A random order of the nodes, so that ids do not follow the edges.
        let mut rank: Vec<u32> = (0..n as u32).collect();
        for i in (1..n).rev() {
            rank.swap(i, u.int_in_range(0..=i)?);
        }
        let mut pairs = Vec::new();
        for i in 0..n {
            for j in i + 1..n {
                if u.ratio(density, 100u32)? {
                    pairs.push(Edge::new(rank[i], rank[j]));
                }
            }
        }
        let modes = u.int_in_range(1..=4usize)?;
        let mut nodes = vec![Vec::new(); n];
        for accesses in &mut nodes {
            for buffer in 0..3 {
                if u.ratio(1, 3)? {
                    accesses.push(access(buffer, *u.choose(&MODES[..modes])?));
                }
            }
        }
        let levels = levels(n, &pairs).unwrap();
        assert_eq!(
            hazard::check(&nodes, &levels).unwrap(),
            conflicts_by_definition(&nodes, &pairs)
        );
        for e in &pairs {
            assert!(levels.level_of(e.before) < levels.level_of(e.after));
        }
        // Fewest: every node of a later group follows one of the group before.
        for (at, group) in levels.groups().enumerate().skip(1) {
            for &v in group {
                assert!(
                    pairs
                        .iter()
                        .any(|e| e.after == v && levels.level_of(e.before) == at - 1)
                );
            }
        }
        Ok(())
    });
}

#[test]
fn a_chain_of_writers_and_a_fan_of_readers_have_no_conflicts() {
    let n = 6000u32;
    let chain: Vec<Edge> = (1..n).map(|v| Edge::new(v - 1, v)).collect();
    let chain = levels(n as usize, &chain).unwrap();
    let writers = vec![vec![access(0, Mode::Write)]; n as usize];
    assert_eq!(hazard::check(&writers, &chain).unwrap(), []);

    // Half of them update, one waits for all, the others read after it.
    let half = n / 2;
    let mut pairs: Vec<Edge> = (0..half).map(|v| Edge::new(v, half)).collect();
    pairs.extend((half + 1..n).map(|v| Edge::new(half, v)));
    let fan = levels(n as usize, &pairs).unwrap();
    let mut nodes = vec![vec![]; n as usize];
    for v in 0..half {
        nodes[v as usize].push(access(0, Mode::Update(UpdateOp::Or)));
    }
    for v in half + 1..n {
        nodes[v as usize].push(access(0, Mode::Read));
    }
    assert_eq!(hazard::check(&nodes, &fan).unwrap(), []);
    pairs.pop();
    let broken = levels(n as usize, &pairs).unwrap();
    let conflicts = hazard::check(&nodes, &broken).unwrap();
    assert_eq!(conflicts.len(), half as usize);
    assert_eq!(conflicts[7].first, NodeId(7));
    assert_eq!(conflicts[7].second, NodeId(n - 1));
}

#[test]
fn a_hopeless_graph_is_reported_up_to_a_limit() {
    let writers = vec![vec![access(0, Mode::Write)]; 10_000];
    let conflicts = hazard::check(&writers, &levels(10_000, &[]).unwrap()).unwrap();
    assert_eq!(conflicts.len(), hazard::MAX_CONFLICTS);
}

#[test]
fn an_after_that_orders_nothing_and_costs_a_barrier_is_needless() {
    let write = |b| vec![access(b, Mode::Write)];
    // 0 and 1 share a buffer; 2 has one of its own and waits for 1.
    let chain = levels(3, &edges(&[(0, 1), (1, 2)])).unwrap();
    let got = hazard::needless(&[write(0), write(0), write(1)], &chain).unwrap();
    let got = got.unwrap();
    assert_eq!(got.edges, [Edge::new(1, 2)]);
    assert_eq!(got.barriers_saved, 1);

    // Nothing is needless when 2 touches what 0 wrote: the chain orders them.
    let got = hazard::needless(&[write(0), write(0), write(0)], &chain).unwrap();
    assert_eq!(got.unwrap(), hazard::Needless::default());
    // Even though 1 and 2 do not conflict, their order carries that of 0 and 2.
    let got = hazard::needless(&[write(0), vec![], write(0)], &chain).unwrap();
    assert_eq!(got.unwrap().barriers_saved, 0);

    // Two edges that only together cost a barrier.
    let fan = levels(3, &edges(&[(0, 2), (1, 2)])).unwrap();
    let got = hazard::needless(&[write(0), write(1), write(2)], &fan).unwrap();
    let got = got.unwrap();
    assert_eq!(got.edges, [Edge::new(0, 2), Edge::new(1, 2)]);
    assert_eq!(got.barriers_saved, 1);

    // An implied edge costs nothing.
    let implied = levels(3, &edges(&[(0, 1), (1, 2), (0, 2)])).unwrap();
    let got = hazard::needless(&[write(0), write(0), write(0)], &implied).unwrap();
    assert_eq!(got.unwrap().edges, []);

    // Conflicts come first.
    let free = levels(2, &[]).unwrap();
    assert_eq!(hazard::needless(&[write(0), write(0)], &free), Ok(None));
}

#[test]
fn leaving_out_needless_edges_is_safe_and_saves_what_it_says() {
    // Two edges are each safe to leave out, not both, and only the later one costs a barrier.
    arbtest::arbtest(check_needless).seed(0xbe1cb30300010000);
    cases(300, check_needless);
}

fn check_needless(u: &mut Unstructured<'_>) -> Arbitrary<()> {
    let n = u.int_in_range(2..=9usize)?;
    let mut pairs = Vec::new();
    for a in 0..n as u32 {
        for b in a + 1..n as u32 {
            if u.ratio(2, 5)? {
                pairs.push(Edge::new(a, b));
            }
        }
    }
    let mut nodes = vec![Vec::new(); n];
    for accesses in &mut nodes {
        if u.ratio(1, 2)? {
            accesses.push(access(u.int_in_range(0..=2)?, *u.choose(&MODES)?));
        }
    }
    let all = levels(n, &pairs).unwrap();
    let conflicts = hazard::check(&nodes, &all).unwrap();
    let Some(found) = hazard::needless(&nodes, &all).unwrap() else {
        assert!(!conflicts.is_empty());
        return Ok(());
    };
    let without = |skip: &[Edge]| {
        let rest: Vec<Edge> = pairs
            .iter()
            .copied()
            .filter(|e| !skip.contains(e))
            .collect();
        levels(n, &rest).unwrap()
    };
    let fewer = without(&found.edges);
    assert_eq!(hazard::check(&nodes, &fewer).unwrap(), []);
    assert_eq!(all.len() - fewer.len(), found.barriers_saved);
    // Each of them costs a barrier even when the others are left out.
    for i in 0..found.edges.len() {
        let mut others = found.edges.clone();
        others.remove(i);
        assert!(without(&others).len() > fewer.len());
    }
    // No single edge that could go was missed.
    if found.edges.is_empty() {
        for e in &pairs {
            let one = without(&[*e]);
            let safe = hazard::check(&nodes, &one).unwrap().is_empty();
            assert!(!safe || one.len() == all.len(), "{e:?}");
        }
    }
    Ok(())
}
