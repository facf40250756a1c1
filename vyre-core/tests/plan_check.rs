//! Plans of random graphs are legal, and the checker sees what is not.

use vyre_core::plan::barrier::levels;
use vyre_core::plan::check::{self, Bytes, Plan, ScheduleProblem, Violation};
use vyre_core::plan::memory::{self, GraphBytes, Input, Readback, Scratch, WaveBytes};
use vyre_core::plan::{Edge, NodeId, hazard};
use vyre_core::vir0::module::{
    Access, BufferId, Domain, Fixpoint, FixpointId, FrontierId, KernelId, Mode, NodeRef, Program,
    Queue, Resource, SiteId, Step, UpdateOp, Wave, WaveId,
};

#[path = "../../vyre-tests/src/random.rs"]
#[allow(
    dead_code,
    unreachable_pub,
    reason = "shared with tests of crates above, on which this one cannot depend"
)]
mod random;
use random::cases;

fn access(buffer: u16, mode: Mode) -> Access {
    Access {
        resource: Resource::Buffer(BufferId(buffer)),
        mode,
    }
}

#[test]
fn plans_of_random_graphs_are_legal() {
    let mut planned = 0;
    cases(300, |u| {
        let n = u.int_in_range(1..=40usize)?;
        let mut edges = Vec::new();
        let density = u.int_in_range(1..=60u32)?;
        for a in 0..n as u32 {
            for b in a + 1..n as u32 {
                if u.ratio(density, 100u32)? {
                    edges.push(Edge::new(a, b));
                }
            }
        }
        let mut accesses = vec![Vec::new(); n];
        let mut waves = Vec::new();
        for list in &mut accesses {
            if u.ratio(1, 4)? {
                let modes = [Mode::Read, Mode::Update(UpdateOp::Add), Mode::Write];
                list.push(access(u.int_in_range(0..=5)?, *u.choose(&modes)?));
            }
            waves.push(WaveBytes {
                frontier_bytes: u.int_in_range(0..=100)?,
                scratch_bytes: u.int_in_range(0..=30)?,
                output_bytes: u.int_in_range(0..=20)?,
            });
        }
        let levels = levels(n, &edges).unwrap();
        // What a user would do: add the `after` that each conflict offers.
        let conflicts = hazard::check(&accesses, &levels).unwrap();
        edges.extend(conflicts.iter().map(|c| Edge {
            before: c.first,
            after: c.second,
        }));
        let levels = vyre_core::plan::barrier::levels(n, &edges).unwrap();
        assert_eq!(hazard::check(&accesses, &levels).unwrap(), []);
        let readback = *u.choose(&[Readback::AfterGroup, Readback::AtEnd])?;
        let budget = u.int_in_range(100..=2000)?;
        let graph = GraphBytes {
            nodes: 10,
            node_bytes: u.int_in_range(0..=9)?,
            ..GraphBytes::default()
        };
        let Ok(plan) = memory::plan(&Input {
            readback,
            graph,
            budget_bytes: Some(budget),
            ..Input::new(&levels, &waves)
        }) else {
            return Ok(());
        };
        planned += 1;
        let groups: Vec<Vec<NodeId>> = plan.groups.iter().map(|g| g.nodes.clone()).collect();
        let bytes = Bytes {
            waves: &waves,
            graph_bytes: plan.graph_bytes,
            scratch: Scratch::FUSED,
            readback,
            budget_bytes: budget,
            peak_bytes: plan.peak_bytes,
        };
        let violations = check::groups(&Plan {
            edges: &edges,
            accesses: &accesses,
            groups: &groups,
            bytes: Some(bytes),
        });
        assert_eq!(violations, []);
        assert!(groups.len() >= levels.len());
        Ok(())
    });
    assert!(planned > 0);
}

#[test]
fn illegal_groups_are_seen() {
    let write = vec![vec![access(0, Mode::Write)]; 3];
    let edges = [Edge::new(0, 1)];
    let check = |groups: &[Vec<u32>]| {
        let groups: Vec<Vec<NodeId>> = groups
            .iter()
            .map(|g| g.iter().map(|&v| NodeId(v)).collect())
            .collect();
        check::groups(&Plan {
            edges: &edges,
            accesses: &write,
            groups: &groups,
            bytes: None,
        })
        .iter()
        .map(Violation::to_string)
        .collect::<Vec<_>>()
    };
    assert!(check(&[vec![0], vec![1], vec![2]]).is_empty());
    assert_eq!(
        check(&[vec![1], vec![0], vec![2]]),
        ["edge 0: no barrier between node 0 and node 1"]
    );
    assert_eq!(
        check(&[vec![0], vec![1, 2]]),
        ["nodes 1 and 2 of group 1 conflict over Buffer(BufferId(0))"]
    );
    assert_eq!(
        check(&[vec![0], vec![1, 0, 3]]),
        [
            "group 1 names node 3; there are 3 nodes",
            "node 0 runs 2 times",
            "node 2 runs 0 times"
        ]
    );
}

/// A wave that pushes to frontier 0 at the start, and one that sweeps it in fixpoint 0.
fn bfs() -> Program {
    let front = Resource::from(FrontierId(0));
    let wave = |name: &str, accesses, fixpoint, domain| Wave {
        name: name.into(),
        kernel: KernelId(0),
        domain,
        accesses,
        fixpoint,
        after: Vec::new(),
    };
    let push = Access {
        resource: front,
        mode: Mode::Update(UpdateOp::Push),
    };
    let both = Access {
        resource: front,
        mode: Mode::Write,
    };
    let f = FixpointId(0);
    Program {
        frontiers: vec![Queue {
            fields: vec![],
            name: "front".into(),
            capacity: vyre_core::vir0::module::Extent::Nodes,
            unique: true,
            stays: false,
            owner: Some(f),
            output: false,
            reset: None,
        }],
        waves: vec![
            wave(
                "init",
                vec![access(0, Mode::Write), push],
                None,
                Domain::Nodes,
            ),
            wave(
                "relax",
                vec![access(0, Mode::Write), both],
                Some(f),
                Domain::Items(FrontierId(0)),
            ),
            wave("push_more", vec![push], Some(f), Domain::Nodes),
        ],
        fixpoints: vec![Fixpoint {
            name: "levels".into(),
            parent: None,
            until: KernelId(1),
            condition: "front.is_empty()".into(),
            max_rounds: 10,
            swaps: Vec::new(),
            after: vec![NodeRef::Wave(WaveId(0))],
            site: SiteId(0),
        }],
        schedule: vec![
            Step::Wave(WaveId(0)),
            Step::Barrier,
            Step::Loop(f),
            Step::Wave(WaveId(1)),
            Step::Wave(WaveId(2)),
            Step::Until(f),
            Step::End,
        ],
        ..Program::default()
    }
}

#[test]
fn a_fixpoint_may_sweep_and_push_its_own_frontier() {
    assert_eq!(check::program(&bfs()), []);
}

#[test]
fn a_missing_barrier_before_a_fixpoint_is_seen() {
    let mut program = bfs();
    program.schedule.remove(1);
    let found = check::program(&program);
    assert!(found.contains(&Violation::Order {
        before: NodeRef::Wave(WaveId(0)),
        after: NodeRef::Fixpoint(FixpointId(0)),
    }));
    assert!(found.contains(&Violation::Waves {
        first: WaveId(0),
        second: WaveId(1),
        resource: Resource::Buffer(BufferId(0)),
    }));
    assert!(found.contains(&Violation::Entry {
        wave: WaveId(0),
        fixpoint: FixpointId(0),
        resource: Resource::from(FrontierId(0)),
    }));
}

#[test]
fn schedules_that_lose_or_misplace_steps_are_seen() {
    let problem = |edit: fn(&mut Vec<Step>)| {
        let mut program = bfs();
        edit(&mut program.schedule);
        match check::program(&program)[0] {
            Violation::Schedule { step, problem } => (step, problem),
            ref other => panic!("{other}"),
        }
    };
    use ScheduleProblem as P;
    assert_eq!(
        problem(|s| {
            s.pop();
        }),
        (5, P::Incomplete)
    );
    assert_eq!(
        problem(|s| {
            s.remove(3);
        }),
        (5, P::Incomplete)
    );
    assert_eq!(problem(|s| s.swap(2, 3)), (2, P::WrongPlace));
    assert_eq!(problem(|s| s[4] = s[3]), (4, P::Repeats));
    assert_eq!(problem(|s| s[4] = Step::Wave(WaveId(9))), (4, P::Unknown));
    assert_eq!(
        problem(|s| {
            s.remove(2);
        }),
        (2, P::WrongPlace)
    );
    assert_eq!(
        problem(|s| s.insert(1, Step::Until(FixpointId(0)))),
        (1, P::Unmatched)
    );
}
