//! Containers of the largest size: what they cost grows with their size, and nothing overflows.
//! `cargo test --release -p vyre-core --test large -- --nocapture` prints the times.

use std::time::Instant;
use vyre_core::cpu::vir0::Vir0Executor;
use vyre_core::dsl::error::RunError;
use vyre_core::plan::footprint::{Allocation, FootprintError, footprint};
use vyre_core::plan::{check, picture, show};
use vyre_core::run::args::{Args, TopologyArgs};
use vyre_core::run::backend::Executor;
use vyre_core::vir0::container::{decode, encode};
use vyre_core::vir0::isa::{IMM, Op, Word};
use vyre_core::vir0::module::*;
use vyre_core::vir0::scalar::Scalar;
use vyre_core::vir0::sizes::Sizes;
use vyre_core::vir0::trap::Site;
use vyre_core::vir0::verify::{Rule, VerifyError, verify};

/// Does something with what is made of this size, and prints what that takes beside an eighth of the size: 8 times as long
/// where it is linear, 64 times where it is quadratic, which is minutes here.
fn linear<M, T>(name: &str, size: usize, make: impl Fn(usize) -> M, work: impl Fn(&M) -> T) -> T {
    let timed = |size| {
        let made = make(size);
        let began = Instant::now();
        let done = work(&made);
        (done, began.elapsed())
    };
    let ((_, part), (done, whole)) = (timed(size / 8), timed(size));
    let ratio = whole.as_secs_f64() / part.as_secs_f64();
    println!("{name}: {part:.1?} for an eighth, {whole:.1?} for {size}, {ratio:.1} times");
    done
}

fn word(op: Op, d: u8, a: u8, imm: u32) -> Word {
    let op = op as u8;
    Word {
        op,
        d,
        a,
        b: 0,
        imm,
    }
}

fn kernel(code: Vec<Word>, rows: u8) -> Kernel {
    Kernel {
        name: "k".into(),
        code,
        rows,
        frames: 0,
        item: ItemRows::default(),
        uniforms: vec![],
        sites: vec![],
    }
}

fn wave(i: u16, fixpoint: Option<FixpointId>) -> Wave {
    Wave {
        name: "w".into(),
        kernel: KernelId(i),
        domain: Domain::Once,
        accesses: vec![],
        fixpoint,
        after: vec![],
    }
}

fn buffer(extent: Extent) -> Buffer {
    Buffer {
        name: "b".into(),
        scalar: Scalar::U32,
        extent,
        role: Role::Scratch,
        init: None,
        reset: None,
    }
}

fn read(resource: Resource) -> Access {
    Access {
        resource,
        mode: Mode::Read,
    }
}

/// One wave with this code.
fn one(code: Vec<Word>, rows: u8) -> Program {
    Program {
        kernels: vec![kernel(code, rows)],
        waves: vec![wave(0, None)],
        schedule: vec![Step::Wave(WaveId(0)), Step::End],
        ..Program::default()
    }
}

fn fixpoint(parent: Option<FixpointId>, until: usize) -> Fixpoint {
    Fixpoint {
        name: "f".into(),
        parent,
        until: KernelId(until as u16),
        condition: String::new(),
        max_rounds: 1,
        swaps: vec![],
        after: vec![],
        site: SiteId(0),
    }
}

fn condition() -> Kernel {
    kernel(vec![word(Op::Mov32, 0, IMM, 1), word(Op::RetV, 0, 0, 0)], 1)
}

/// Decodes and verifies programs. There may be as many errors as bytes.
fn judged(name: &str, size: usize, program: impl Fn(usize) -> Program) -> Vec<VerifyError> {
    let bytes = |size| encode(&program(size));
    linear(name, size, bytes, |bytes| {
        let decoded = decode(bytes).expect("it was encoded");
        verify(&decoded).err().unwrap_or_default()
    })
}

fn assert_none(errors: &[VerifyError]) {
    assert_eq!(errors.first(), None, "and {} more", errors.len());
}

fn sound(program: &Program) {
    let decoded = decode(&encode(program)).expect("it was encoded");
    assert_none(&verify(&decoded).err().unwrap_or_default());
}

#[test]
fn each_word_finds_its_resource_among_65_000() {
    let program = |count: usize| {
        let load = |b: u32| word(Op::Ld32, 1, 0, b << 16);
        let mut code: Vec<Word> = (0..count as u32).map(load).collect();
        code.push(word(Op::Ret, 0, 0, 0));
        let mut program = one(code, 2);
        program.kernels[0].item.index = Some(0);
        program.kernels[0].sites = (0..count as u32).map(|pc| (pc, SiteId(0))).collect();
        program.buffers = vec![buffer(Extent::Fixed(1)); count];
        program.waves[0].accesses = (0..count as u16)
            .map(|b| read(Resource::Buffer(BufferId(b))))
            .collect();
        program
    };
    assert_none(&judged("accesses", 65_000, program));
}

#[test]
fn leaving_deep_loops_finds_them_at_once() {
    let program = |loops: usize| {
        let mut code = vec![word(Op::Loop, 0, 0, 0); loops];
        code.extend(vec![word(Op::BreakIf, 0, IMM, loops as u32 - 1); loops]);
        one(code, 1)
    };
    let errors = judged("open loops", 32_000, program);
    assert!(errors.iter().any(|e| matches!(e.rule, Rule::TooDeep(_))));
}

#[test]
fn one_error_names_an_array_that_is_not_assigned() {
    let load = word(Op::RowLd32, 0, IMM, 191 << 8);
    let program = |loads: usize| Program {
        // More kernels than waves: they are looked at all the same.
        kernels: vec![kernel(vec![load; loads], 192); 3],
        ..one(vec![], 191)
    };
    let errors = judged("loads of arrays in three kernels", 65_000, program);
    assert!(!errors.is_empty(), "nothing is assigned");
    assert!(errors.len() < 700_000, "{}", errors.len());
}

#[test]
fn fixpoints_nest_as_deep_as_the_table_is_long() {
    assert_none(&judged("nested fixpoints", 30_000, nested));
    // The judge of plans is as quick.
    let findings = linear("their plans", 30_000, nested, check::program);
    assert_eq!(findings, []);
}

/// Fixpoints in each other, and a frontier of the innermost.
fn nested(deep: usize) -> Program {
    let deep = deep as u16;
    let mut program = Program {
        frontiers: vec![Queue {
            name: "front".into(),
            fields: vec![],
            capacity: Extent::Nodes,
            unique: true,
            stays: false,
            owner: Some(FixpointId(deep - 1)),
            output: false,
            reset: None,
        }],
        ..Program::default()
    };
    let innermost = FixpointId(deep - 1);
    for i in 0..deep {
        let mut wave = wave(i, Some(innermost));
        wave.domain = Domain::Items(FrontierId(0));
        wave.accesses = vec![read(Resource::from(FrontierId(0)))];
        program.waves.push(wave);
        program
            .kernels
            .push(kernel(vec![word(Op::Ret, 0, 0, 0)], 1));
    }
    for f in 0..deep {
        let parent = f.checked_sub(1).map(FixpointId);
        program
            .fixpoints
            .push(fixpoint(parent, usize::from(deep + f)));
        program.schedule.push(Step::Loop(FixpointId(f)));
    }
    program.kernels.extend(vec![condition(); deep.into()]);
    program
        .schedule
        .extend((0..deep).map(|w| Step::Wave(WaveId(w))));
    program
        .schedule
        .extend((0..deep).rev().map(|f| Step::Until(FixpointId(f))));
    program.schedule.push(Step::End);
    program
}

/// Every table as long as ids allow, and one entry less: a counter of ids that goes one further overflows. Frontiers and
/// lists have one numbering.
#[test]
fn tables_may_be_full() {
    for count in [65_535usize, 65_536] {
        let site = (0..=u16::MAX).map(SiteId).take(count);
        let half = count / 2;
        let mut program = Program {
            topologies: vec![
                Topology {
                    name: "t".into(),
                    reverse_of: None
                };
                count
            ],
            buffers: vec![buffer(Extent::Fixed(0)); count],
            frontiers: vec![
                Queue {
                    name: "x".into(),
                    fields: vec![],
                    capacity: Extent::Fixed(0),
                    unique: false,
                    stays: false,
                    owner: None,
                    output: false,
                    reset: None,
                };
                half
            ],
            lists: vec![
                Queue {
                    name: "l".into(),
                    fields: vec![Scalar::U32],
                    capacity: Extent::Fixed(0),
                    unique: false,
                    stays: true,
                    owner: None,
                    output: true,
                    reset: None,
                };
                count - half
            ],
            reductions: vec![
                Reduction {
                    name: "r".into(),
                    op: ReduceOp::Sum,
                    scalar: Scalar::U32,
                    owner: None,
                    output: true,
                };
                count
            ],
            scalars: vec![
                ScalarParam {
                    name: "s".into(),
                    scalar: Scalar::U32
                };
                count
            ],
            constants: vec![
                Constant {
                    scalar: Scalar::U32,
                    bits: 1
                };
                count
            ],
            sites: vec![Site::default(); count],
            messages: site.map(|s| (s, String::new())).collect(),
            ..Program::default()
        };
        for i in 0..half as u16 {
            program.waves.push(wave(i, None));
            program.schedule.push(Step::Wave(WaveId(i)));
            program
                .kernels
                .push(kernel(vec![word(Op::Ret, 0, 0, 0)], 1));
        }
        program.schedule.push(Step::End);
        sound(&program);
        // As many waves as there are ids, and no fixpoint.
        program.schedule.pop();
        // The highest id of a kernel is the device's own mark.
        for i in half..count.min(65_535) {
            program.waves.push(wave(i as u16, None));
            program.schedule.push(Step::Wave(WaveId(i as u16)));
            program
                .kernels
                .push(kernel(vec![word(Op::Ret, 0, 0, 0)], 1));
        }
        program.schedule.push(Step::End);
        sound(&program);
        if count < 65_536 {
            // What looks at a whole program looks at a full one.
            assert_eq!(check::program(&program), []);
            let takes = footprint(
                &program,
                &Sizes {
                    edges: vec![0; count],
                    scalars: vec![0; count],
                    ..Sizes::default()
                },
            );
            assert_eq!(takes.expect("nothing is large").groups.len(), 1);
            assert!(vyre_core::vir0::disasm::program(&program).len() > 1_000_000);
            let graph = vyre_core::dsl::csr::Csr::from_edges(0, &[]).expect("no edges");
            let graphs = TopologyArgs {
                graphs: vec![&graph; count],
                columns: vec![],
                scalars: vec![],
            };
            let args = Args {
                scalars: vec![0; count],
                inputs: vec![],
            };
            let executor = Vir0Executor::new(program.into(), &graphs, Allocation::Shared);
            let outcome = executor.expect("nothing is large").run(&args);
            assert_eq!(outcome.expect("nothing happens").reductions.len(), count);
        }
    }
}

/// Sums of sizes are refused by name, wherever they are made.
#[test]
fn capacities_of_2_to_the_61_are_too_large_and_no_more() {
    let front = |name: &str, extent| Queue {
        name: name.into(),
        fields: vec![Scalar::U64; 8],
        capacity: extent,
        unique: false,
        stays: false,
        owner: None,
        output: false,
        reset: None,
    };
    let huge = ConstantId(0);
    let mut program = one(vec![word(Op::Ret, 0, 0, 0)], 1);
    program.name = "huge".into();
    program.topologies = vec![Topology {
        name: "g".into(),
        reverse_of: None,
    }];
    program.constants = vec![Constant {
        scalar: Scalar::U64,
        bits: 1 << 61,
    }];
    program.frontiers = vec![
        front("far", Extent::Fixed(1 << 61)),
        front("wide", Extent::Constant(huge)),
    ];
    program.waves[0].accesses = vec![
        read(Resource::from(FrontierId(0))),
        read(Resource::from(FrontierId(1))),
    ];
    assert_eq!(verify(&program), Ok(()));
    let sizes = Sizes {
        nodes: 1,
        edges: vec![1],
        scalars: vec![],
        ..Sizes::default()
    };
    let far = FootprintError::Overflow { name: "far".into() };
    assert_eq!(footprint(&program, &sizes), Err(far));
    // Pictures and text of it say how much it is.
    let text = show::text(&program);
    assert!(text.contains("295_147_905_179_352_825_856"), "{text}");
    assert!(picture::svg(&program).contains("</svg>"));
    assert!(picture::dot(&program).contains("digraph"));
    // An executor without a budget holds what is pushed, and no more.
    let graph = vyre_core::dsl::csr::Csr::from_edges(1, &[]).expect("no edges");
    let graphs = TopologyArgs {
        graphs: vec![&graph],
        columns: vec![],
        scalars: vec![],
    };
    let run = |program: &Program, allocation| {
        let executor = Vir0Executor::new(program.clone().into(), &graphs, allocation);
        executor
            .and_then(|mut e| e.run(&Args::default()))
            .map(|o| o.outputs)
    };
    for allocation in [Allocation::Separate, Allocation::Shared] {
        assert_eq!(run(&program, allocation), Ok(vec![]));
    }
    program.lists = vec![Queue {
        name: "long".into(),
        fields: vec![Scalar::U64],
        capacity: Extent::Constant(huge),
        unique: false,
        stays: true,
        owner: None,
        output: true,
        reset: None,
    }];
    for allocation in [Allocation::Separate, Allocation::Shared] {
        let too_long = RunError::TooLong {
            name: "long".into(),
            len: 1 << 61,
        };
        assert_eq!(run(&program, allocation), Err(too_long));
    }
}
