//! What a program takes.

use vyre_core::plan::cuda::Graphs;
use vyre_core::plan::footprint::{Allocation, FootprintError, Target, footprint, footprint_on};
use vyre_core::plan::lives::Life;
use vyre_core::vir0::module::{
    Access, Buffer, BufferId, Domain, Extent, Fixpoint, FixpointId, FrontierId, KernelId, Mode,
    Program, Queue, Resource, Role, ScalarId, SiteId, Step, Topology, TopologyId, Wave, WaveId,
};
use vyre_core::vir0::scalar::Scalar;
use vyre_core::vir0::sizes::Sizes;

fn buffer(name: &str, scalar: Scalar, role: Role) -> Buffer {
    Buffer {
        name: name.into(),
        scalar,
        extent: Extent::Nodes,
        role,
        init: None,
        reset: None,
    }
}

/// A wave that writes these buffers.
fn wave(buffers: &[u16], fixpoint: Option<FixpointId>, domain: Domain) -> Wave {
    Wave {
        name: String::new(),
        kernel: KernelId(0),
        domain,
        accesses: buffers
            .iter()
            .map(|&b| Access {
                resource: Resource::Buffer(BufferId(b)),
                mode: Mode::Write,
            })
            .collect(),
        fixpoint,
        after: Vec::new(),
    }
}

/// prepare; a fixpoint of two groups that sweeps a frontier; finish.
fn program() -> Program {
    let f = FixpointId(0);
    Program {
        topologies: vec![Topology {
            name: "graph".into(),
            reverse_of: None,
        }],
        buffers: vec![
            buffer("out", Scalar::U32, Role::Output),
            buffer("before", Scalar::U64, Role::Scratch),
            buffer("during", Scalar::U32, Role::Scratch),
            buffer("next", Scalar::U32, Role::Scratch),
            buffer("after", Scalar::F64, Role::Scratch),
            buffer("idle", Scalar::U8, Role::Scratch),
        ],
        frontiers: vec![Queue {
            fields: vec![],
            name: "front".into(),
            capacity: Extent::NodesPlusEdges,
            unique: false,
            stays: false,
            owner: Some(f),
            output: false,
            reset: None,
        }],
        waves: vec![
            wave(&[1], None, Domain::Nodes),
            wave(&[0], Some(f), Domain::Items(FrontierId(0))),
            wave(&[2], Some(f), Domain::Nodes),
            wave(&[0, 4], None, Domain::Nodes),
        ],
        fixpoints: vec![Fixpoint {
            name: "levels".into(),
            parent: None,
            until: KernelId(1),
            condition: "front.is_empty()".into(),
            max_rounds: 10,
            swaps: vec![(BufferId(2), BufferId(3))],
            after: Vec::new(),
            site: SiteId(0),
        }],
        schedule: vec![
            Step::Wave(WaveId(0)),
            Step::Barrier,
            Step::Loop(f),
            Step::Wave(WaveId(1)),
            Step::Barrier,
            Step::Wave(WaveId(2)),
            Step::Until(f),
            Step::Wave(WaveId(3)),
            Step::End,
        ],
        ..Program::default()
    }
}

fn sizes() -> Sizes {
    Sizes {
        nodes: 100,
        edges: vec![400],
        ..Sizes::default()
    }
}

#[test]
fn scratch_and_frontiers_live_from_first_to_last_use_and_through_rounds() {
    let got = footprint(&program(), &sizes()).unwrap();
    let lives: Vec<(u64, Life)> = got.items.iter().map(|i| (i.bytes, i.life)).collect();
    let groups = |first, last| Life::Groups { first, last };
    assert_eq!(
        lives,
        [
            (4 * 501, Life::Run),
            (400, Life::Run),
            (800, groups(0, 0)),
            (400, groups(1, 2)),
            (400, groups(1, 2)), // trades places with the one above
            (800, groups(3, 3)),
            (100, Life::Never),
            (8 * 500, groups(1, 2)),
        ]
    );
    // The frontier's items once more.
    assert_eq!(got.beside_bytes, 2_000);
    assert_eq!(got.resident_bytes, 2_404 + got.beside_bytes);
    let live: Vec<u64> = got.groups.iter().map(|g| g.live_bytes).collect();
    assert_eq!(live, [5_204, 9_204, 9_204, 5_204]);
    assert_eq!((got.peak_bytes, got.peak_group()), (9_204, Some(1)));
    assert_eq!(
        got.separate_bytes,
        got.resident_bytes + 800 + 400 + 400 + 800 + 100 + 4_000
    );
}

#[test]
fn a_budget_names_the_group_and_its_waves() {
    let got = footprint(&program(), &sizes()).unwrap();
    assert_eq!(got.fit(9_204, Allocation::Shared), Ok(()));
    let error = got.fit(9_203, Allocation::Shared).unwrap_err();
    assert_eq!(
        error.to_string(),
        "barrier group 1 needs 9204 bytes; budget is 9203"
    );
    assert!(matches!(
        error,
        FootprintError::Group { waves, .. } if waves == [WaveId(1)]
    ));
    assert_eq!(got.fit(10_904, Allocation::Separate), Ok(()));
    assert_eq!(
        got.fit(10_903, Allocation::Separate),
        Err(FootprintError::Run {
            needed_bytes: 10_904,
            budget_bytes: 10_903
        })
    );
}

#[test]
fn sizes_that_are_unknown_count_as_nothing_and_those_that_overflow_are_named() {
    let mut program = program();
    let bytes_of_next = |program: &Program| footprint(program, &sizes()).unwrap().items[4].bytes;
    program.buffers[3].extent = Extent::Nodes;
    assert_eq!(bytes_of_next(&program), 400);
    program.buffers[3].extent = Extent::Scalar(ScalarId(0));
    assert_eq!(bytes_of_next(&program), 0);
    program.buffers[3].extent = Extent::Fixed(u64::MAX / 2);
    let error = footprint(&program, &sizes()).unwrap_err();
    assert_eq!(error.to_string(), "bytes of `next` overflow 64 bits");
}

#[test]
fn a_device_has_places_of_whole_parts_and_more_for_a_frontier_whose_edges_are_swept() {
    let mut program = program();
    let graphs = Graphs {
        hubs: vec![true],
        partition_bytes: vec![300],
    };
    let ask = |program: &Program| footprint_on(program, &sizes(), Target::Device(&graphs)).unwrap();
    let takes = ask(&program);
    // In phases, a barrier group or a fixpoint: 1,024; twice 512 and two sides of 2,048; 1,024. A buffer that no
    // wave uses: 256.
    assert_eq!(takes.resident_bytes, 2_404 + 300);
    assert_eq!(takes.shared_bytes, takes.resident_bytes + 1_024 + 4_096);
    assert_eq!(takes.separate_bytes, takes.shared_bytes + 2 * 1_024 + 256);
    assert!(
        takes
            .fit(takes.shared_bytes - 1, Allocation::Shared)
            .is_err()
    );
    // Two ranges of 8 bytes an item, and two lists of 1,024 hubs; stamps are never shared.
    program.waves[1].domain = Domain::EdgesFrom(TopologyId(0), FrontierId(0));
    program.frontiers[0].unique = true;
    let more = ask(&program);
    assert_eq!(more.resident_bytes, takes.resident_bytes + 512);
    let besides = 2 * 4_096 + 2 * 16 * 1_024;
    assert_eq!(more.shared_bytes, takes.shared_bytes + 512 + besides);
    // What trades places lives as long as what it trades with.
    program.waves[3].accesses.push(Access {
        resource: Resource::Buffer(BufferId(2)),
        mode: Mode::Write,
    });
    let longer = ask(&program);
    let [during, next] = [2, 3].map(|b| {
        let item =
            |i: &&vyre_core::plan::footprint::Item| i.resource == Resource::Buffer(BufferId(b));
        longer.items.iter().find(item).unwrap().life
    });
    assert_eq!((during, next), (Life::Groups { first: 1, last: 3 }, during));
}
