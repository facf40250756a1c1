use super::*;
use crate::neighbor_loop::words::word;
use vyre_core::plan::arena::Filling;
use vyre_core::vir0::isa::{IMM, Op, UNIFORM_BASE, Word};
use vyre_core::vir0::module::{
    Buffer, Constant, ConstantId, Extent, Fixpoint, FixpointId, FrontierId, ItemRows, KernelId,
    Queue, Role, SiteId, Step, Topology, Uniform, Wave, WaveId,
};

/// One wave over the nodes of a topology.
pub(crate) fn program(code: Vec<Word>, rows: u8) -> Program {
    let buffer = |name: &str, role| Buffer {
        name: name.into(),
        scalar: Scalar::U32,
        extent: Extent::Nodes,
        role,
        init: None,
        reset: None,
    };
    Program {
        topologies: vec![Topology {
            name: "graph".into(),
            reverse_of: None,
        }],
        buffers: vec![buffer("x", Role::Input), buffer("out", Role::Output)],
        kernels: vec![Kernel {
            name: "k".into(),
            code,
            rows,
            frames: 2,
            item: ItemRows {
                index: Some(0),
                ..ItemRows::default()
            },
            uniforms: vec![],
            sites: vec![],
        }],
        waves: vec![Wave {
            name: "k".into(),
            kernel: KernelId(0),
            domain: Domain::Nodes,
            accesses: vec![],
            fixpoint: None,
            after: vec![],
        }],
        schedule: vec![Step::Wave(WaveId(0)), Step::End],
        ..Program::default()
    }
}

pub(crate) fn room(kib: u32) -> Room {
    Room {
        shared_bytes: kib * 1024,
        clusters: false,
        shape: crate::shape::Shape::INTERPRETER,
    }
}

#[test]
fn immediates_of_lifted_bodies_count_from_the_kernels_start() {
    // `for u in graph.neighbors(v) { r1 += x[u] ^ 5 }`
    let code = vec![
        word(Op::Mov32, 1, IMM, 0, 0),
        word(Op::CsrBegin, 2, 0, 0, 0),
        word(Op::CsrEnd, 3, 0, 0, 0),
        word(Op::Loop, 0, 0, 0, 12),
        word(Op::LeU32, 4, 3, 2, 0),
        word(Op::BreakIf, 0, 4, 0, 0),
        word(Op::CsrTarget, 4, 2, 0, 0),
        word(Op::Ld32, 4, 4, 0, 0),
        word(Op::Xor32, 4, 4, IMM, 5),
        word(Op::Add32, 1, 1, 4, 0),
        word(Op::Add32, 2, 2, IMM, 1),
        word(Op::EndLoop, 0, 0, 0, 3),
        word(Op::St32, 0, 0, 1, 1 << 16),
        word(Op::Ret, 0, 0, 0, 0),
    ];
    let layout = Layout::new(
        (&program(code, 5), Allocation::Separate),
        room(200),
        &[4.0],
        4,
    )
    .unwrap();
    let words = layout.device_words(false);
    let at = |word: u32, part: u32| {
        let at = (word * abi::WORD_BYTES + part * 4) as usize;
        u32::from_le_bytes(words[at..at + 4].try_into().unwrap())
    };
    let kernel = layout.kernels[0];
    // The loop for parts of long ranges, two words before its body.
    assert_eq!(kernel.neighbors, 15);
    assert_eq!(at(15, 1) & 0xffff, 17);
    // Loads the target, its element, then the exclusive or.
    assert_eq!(at(19, 0) & 255, Op::Xor32 as u32);
    let start = layout.head.code_shared + kernel.code * abi::WORD_BYTES;
    let here = start + 19 * abi::WORD_BYTES;
    let place = at(19, 3).wrapping_add(here).wrapping_add(abi::FIXED);
    assert_eq!(place, layout.head.code_shared + 19 * abi::WORD_BYTES + 16);
    assert_eq!([4, 5, 6, 7].map(|part| at(19, part)), [5; 4]);
}

/// A search: `if dist[e.dst].compare_exchange(99, round + 1) { front.push(e.dst) }`, until its frontier is empty.
pub(crate) fn search() -> Program {
    let round = UNIFORM_BASE;
    let code = vec![
        word(Op::Add32, 1, round, IMM, 1),
        word(Op::AtomCas32, 2, 0, round + 1, 1 << 16 | 1),
        word(Op::If, 0, 2, 0, 4),
        word(Op::Push, 0, 0, 0, 0),
        word(Op::EndIf, 0, 0, 0, 0),
        word(Op::Ret, 0, 0, 0, 0),
    ];
    let mut program = program(code, 3);
    let (fixpoint, frontier) = (FixpointId(0), FrontierId(0));
    program.kernels[0].item = ItemRows {
        dst: Some(0),
        ..ItemRows::default()
    };
    program.kernels[0].uniforms = vec![Uniform::Round, Uniform::Constant(ConstantId(0))];
    program.kernels.push(Kernel {
        name: "until".into(),
        code: vec![
            word(Op::Eq32, 0, UNIFORM_BASE, IMM, 0),
            word(Op::RetV, 0, 0, 0, 0),
        ],
        rows: 1,
        frames: 0,
        item: ItemRows::default(),
        uniforms: vec![Uniform::Len(frontier.into())],
        sites: vec![],
    });
    program.constants = vec![Constant {
        scalar: Scalar::U32,
        bits: 99,
    }];
    program.frontiers = vec![Queue {
        name: "front".into(),
        fields: vec![],
        capacity: Extent::Nodes,
        unique: false,
        stays: false,
        owner: Some(fixpoint),
        output: false,
        reset: None,
    }];
    program.fixpoints = vec![Fixpoint {
        name: "levels".into(),
        parent: None,
        until: KernelId(1),
        condition: String::new(),
        max_rounds: 9,
        swaps: vec![],
        after: vec![],
        site: SiteId(0),
    }];
    program.waves[0].domain = Domain::EdgesFrom(TopologyId(0), frontier);
    program.waves[0].fixpoint = Some(fixpoint);
    program.schedule = vec![
        Step::Loop(fixpoint),
        Step::Wave(WaveId(0)),
        Step::Until(fixpoint),
        Step::End,
    ];
    program
}

fn run_of<'a>(program: &'a Program, turns: Vec<Option<Turn>>) -> Run<'a> {
    Run {
        program,
        code: 0,
        abort: 0,
        most_steps: None,
        control: 0,
        buffers: vec![abi::Buffer::default(); program.buffers.len()],
        topologies: vec![abi::Topology::default(); program.topologies.len()],
        frontiers: vec![abi::Frontier::default(); program.frontiers.len()],
        records: vec![],
        fills: vec![],
        refills: vec![],
        lens: vec![0; program.waves.len()],
        ranges: vec![Ranges::default(); program.waves.len()],
        turns,
        scalars: &[],
        nodes: 1_000,
        progress: 0,
        slab: None,
        time_waves: false,
        compiled: false,
    }
}

#[test]
fn ctas_wait_for_each_other_where_a_run_has_a_barrier() {
    let waits = |program: &Program, fills| {
        let of = (program, Allocation::Separate);
        let layout = Layout::new(of, room(200), &[4.0], 4).unwrap();
        let run = run_of(program, vec![]);
        layout.waits(&layout.encode(&Run { fills, ..run }))
    };
    let fill = |waits| vec![(Filling { phase: 0, waits }, abi::Fill::default())];
    let mut flat = program(vec![word(Op::Ret, 0, 0, 0, 0)], 1);
    assert!(!waits(&flat, vec![]));
    assert!(!waits(&flat, fill(false)));
    assert!(waits(&flat, fill(true)));
    assert!(waits(&search(), vec![]));
    flat.schedule = vec![
        Step::Wave(WaveId(0)),
        Step::Barrier,
        Step::Wave(WaveId(0)),
        Step::End,
    ];
    assert!(waits(&flat, vec![]));
}

/// A wave's entry in an image, and its place among those that may pull.
fn pull_in(layout: &Layout, image: &[u8]) -> (u32, [u32; 16]) {
    let word = |at: usize| u32::from_le_bytes(image[at..at + 4].try_into().unwrap());
    let wave = layout.head.waves as usize + std::mem::offset_of!(abi::Wave, pull);
    let entry = std::array::from_fn(|i| word(layout.head.pulls as usize + 4 * i));
    (word(wave), entry)
}

#[test]
fn searches_are_turned_round_where_the_run_says_how() {
    let mut program = search();
    let layout = Layout::new((&program, Allocation::Separate), room(200), &[4.0], 4).unwrap();
    assert_eq!(layout.pulls.len(), 1);
    assert_eq!(layout.pulls[0].topology, TopologyId(0));
    assert_eq!(layout.pulls[0].reverse, None);
    let image = layout.encode(&run_of(&program, vec![]));
    assert_eq!(pull_in(&layout, &image).0, NONE);
    let image = layout.encode(&run_of(&program, vec![None]));
    assert_eq!(pull_in(&layout, &image).0, NONE);
    let turn = Turn {
        bits: [512, 1_024],
        into: 0,
        most_degree: 77,
        least: 5,
    };
    let image = layout.encode(&run_of(&program, vec![Some(turn)]));
    let (at, entry) = pull_in(&layout, &image);
    assert_eq!(at, 0);
    // Bitmaps, the least edges; then the buffer, what is free and taken, by round; the topology and its degree.
    assert_eq!(entry[..6], [512, 0, 1_024, 0, 5, 0]);
    assert_eq!(entry[10..], [1, 99, 1, 1, 0, 77]);

    // The pass's own reverse is what is looked along.
    program.topologies.push(Topology {
        name: "back".into(),
        reverse_of: Some(TopologyId(0)),
    });
    let layout = Layout::new((&program, Allocation::Separate), room(200), &[4.0; 2], 4).unwrap();
    assert_eq!(layout.pulls[0].reverse, Some(TopologyId(1)));
}

#[test]
fn rounds_with_more_than_a_search_in_them_are_not_turned_round() {
    // Another wave in the same rounds.
    let mut program = search();
    let mut other = program.waves[0].clone();
    other.domain = Domain::Nodes;
    other.kernel = KernelId(2);
    program.kernels.push(Kernel {
        code: vec![word(Op::Ret, 0, 0, 0, 0)],
        ..program.kernels[1].clone()
    });
    program.kernels.swap(1, 2);
    program.fixpoints[0].until = KernelId(2);
    other.kernel = KernelId(1);
    program.waves.push(other);
    program.schedule.insert(1, Step::Wave(WaveId(1)));
    program.schedule.insert(2, Step::Barrier);
    let layout = Layout::new((&program, Allocation::Separate), room(200), &[4.0], 4).unwrap();
    assert_eq!(layout.pulls.len(), 0);
    // A condition that wants to know how many items there are.
    let mut program = search();
    program.kernels[1].code[0].imm = 3;
    let layout = Layout::new((&program, Allocation::Separate), room(200), &[4.0], 4).unwrap();
    assert_eq!(layout.pulls.len(), 0);
    // A push that depends on more than the claim.
    let mut program = search();
    let push = program.kernels[0].code[3];
    program.kernels[0].code.insert(3, push);
    program.kernels[0].code[2].imm = 5;
    let layout = Layout::new((&program, Allocation::Separate), room(200), &[4.0], 4).unwrap();
    assert_eq!(layout.pulls.len(), 0);
}

/// An update of a session's topology has to upload the words again: sparse graphs have waves take more items at
/// once, which are stashed before the code in shared memory, and words find uniforms relative to themselves.
#[test]
fn words_of_the_same_length_depend_on_the_degree_of_a_topology() {
    let program = search();
    let laid = |degree: f64| {
        let of = (&program, Allocation::Separate);
        Layout::new(of, room(200), &[degree], 4).unwrap()
    };
    let (sparse, denser) = (laid(1.0), laid(3.0));
    let between = |layout: &Layout| {
        let uniforms = layout.kernels[0].uniforms_shared;
        layout.head.code_shared - uniforms
    };
    assert_eq!(
        between(&sparse) - between(&denser),
        2 * abi::STASH_BYTES * abi::WARPS
    );
    let (before, after) = (sparse.device_words(false), denser.device_words(false));
    assert_eq!(before.len(), after.len());
    // The first operand of the first word is a uniform; its immediate lies within the word.
    let operand = |words: &[u8], part: usize| {
        u32::from_le_bytes(words[4 * part..4 * part + 4].try_into().unwrap())
    };
    assert_eq!(
        operand(&after, 2).wrapping_sub(operand(&before, 2)),
        2 * abi::STASH_BYTES * abi::WARPS
    );
    assert_eq!(operand(&after, 3), operand(&before, 3));
    assert_eq!(before, laid(1.5).device_words(false));
}

#[test]
fn code_that_does_not_fit_shared_memory_is_refused() {
    let mut code = vec![word(Op::Add32, 1, 0, IMM, 1); 8_000];
    code.push(word(Op::Ret, 0, 0, 0, 0));
    let refused = Layout::new(
        (&program(code, 2), Allocation::Separate),
        room(200),
        &[4.0],
        4,
    )
    .err();
    assert!(
        matches!(refused, Some(ImageError::Shared { needed, .. }) if needed > 8_000 * 32),
        "{refused:?}"
    );
}

#[test]
fn a_module_has_the_sweeps_that_its_tables_say() {
    let code = vec![
        word(Op::Ld32, 1, 0, 0, 0),
        word(Op::DivU32, 1, 1, IMM, 3),
        word(Op::St32, 0, 0, 1, 1 << 16),
        word(Op::Ret, 0, 0, 0, 0),
    ];
    let module = |domain: Domain, degree: f64| {
        let mut program = program(code.clone(), 2);
        program.waves[0].domain = domain;
        program.frontiers = vec![Queue {
            name: "front".into(),
            capacity: Extent::Nodes,
            unique: false,
            stays: false,
            owner: None,
            output: false,
            reset: None,
            fields: vec![],
        }];
        crate::compiled::pass_ptx(&program, degree, None).unwrap()
    };
    let all = [
        "sweep_flat",
        "sweep_edges",
        "sweep_edges_from",
        "sweep_items",
        "sweep_records",
        "sweep_map",
        "contribute_all",
        "exact_add",
        "exact_value",
        "swap_buffers",
        "condition",
        "may_pull",
        "run_narrow",
        "quick_rounds",
        "gathered_entry",
    ];
    let has = |text: &str| -> Vec<&str> {
        let has = |name: &&str| text.contains(&format!("_Z{}{name}", name.len()));
        all.into_iter().filter(has).collect()
    };
    let topology = TopologyId(0);
    let from = Domain::EdgesFrom(topology, FrontierId(0));
    assert_eq!(has(&module(Domain::Nodes, 4.0)), ["sweep_flat"]);
    assert_eq!(
        has(&module(Domain::Items(FrontierId(0)), 4.0)),
        ["sweep_flat"]
    );
    assert_eq!(has(&module(from, 4.0)), ["sweep_edges_from", "sweep_items"]);
    let edges = has(&module(Domain::Edges(topology), 4.0));
    assert_eq!(edges, ["sweep_flat", "sweep_edges"]);
    // Items with few edges are swept many at a time; otherwise it does not matter how many they have.
    let lines = |degree| module(from, degree).lines().count();
    assert!(lines(1.0) > lines(4.0) + 400);
    assert_eq!(module(from, 4.0), module(from, 20.0));
}

/// Tables and code of a module of another shape take the place of the interpreter's, so they are as long; items have
/// the rows that bodies use and no others, so that several CTAs fit.
#[test]
fn a_layout_of_another_shape_has_as_many_words_and_fewer_rows() {
    let mut code = vec![word(Op::Ld32, 1, 0, 0, 0)];
    code.extend((2..12).map(|row| word(Op::Add32, row, row - 1, IMM, 1)));
    code.extend([
        word(Op::DivU32, 1, 11, 2, 0),
        word(Op::St32, 0, 0, 1, 1 << 16),
        word(Op::Ret, 0, 0, 0, 0),
    ]);
    let program = program(code, 12);
    let of = (&program, Allocation::Separate);
    let one = Layout::new(of, room(200), &[4.0], 4).unwrap();
    let shaped = |text: &str, kib: u32| {
        let room = Room {
            shape: text.parse().unwrap(),
            ..room(kib)
        };
        one.shaped(of, room)
    };
    let several = shaped("512x3", 60).unwrap();
    assert_eq!(several.tables_bytes(), one.tables_bytes());
    assert_eq!(several.code_bytes(), one.code_bytes());
    assert_eq!(
        (several.head.per_multiprocessor, one.head.per_multiprocessor),
        (3, 1)
    );
    let (kernel, before) = (&several.kernels[0], &one.kernels[0]);
    assert_eq!((kernel.warps, before.warps), (16, 32));
    // The item's number, which traps find there, and the index of a fault.
    assert_eq!((kernel.item_row, several.fault_row(0, 7)), (0, 1));
    assert_eq!(kernel.warp_bytes, 2 * kernel.k * 128);
    assert!(kernel.warp_bytes < before.warp_bytes);
    assert_eq!(one.fault_row(0, 7), 7);
    assert!(several.shared_bytes < one.shared_bytes);
    // Less room than one item a lane takes.
    let refused = shaped("256x8", 4).err();
    assert!(
        matches!(refused, Some(ImageError::Shared { available, .. }) if available == 4 << 10),
        "{refused:?}"
    );
}
