//! Bytecode of others: what is refused, what is not believed, and the largest programs that the limits allow.

use std::sync::Arc;
use vyre_core::cpu::Vir0;
use vyre_core::cpu::vir0::Vir0Executor;
use vyre_core::dsl::columns::Slice;
use vyre_core::dsl::csr::Csr;
use vyre_core::dsl::error::RunError;
use vyre_core::plan::check;
use vyre_core::plan::cuda::Graphs;
use vyre_core::plan::fit::fit_on;
use vyre_core::plan::footprint::{Allocation, Target, footprint_on};
use vyre_core::run::args::{Args, TopologyArgs};
use vyre_core::run::backend::{Executor, Opening};
use vyre_core::vir0::container::{DecodeError, encode};
use vyre_core::vir0::isa::{Op, Word};
use vyre_core::vir0::manifest::{Measured, Proof, Stale};
use vyre_core::vir0::module::*;
use vyre_core::vir0::scalar::Scalar;
use vyre_core::vir0::trap::Site;
use vyre_core::vir0::untrusted::{Limits, UntrustedError};
use vyre_core::vir0::verify::{Rule, verify};

fn word(op: Op, a: u8, imm: u32) -> Word {
    Word {
        op: op as u8,
        a,
        imm,
        ..Word::default()
    }
}

fn kernel(last: Op) -> Kernel {
    Kernel {
        name: "k".into(),
        code: vec![word(last, 0, 0)],
        rows: 0,
        frames: 0,
        item: ItemRows::default(),
        uniforms: vec![],
        sites: vec![],
    }
}

fn condition() -> Kernel {
    // It ends with the first round.
    Kernel {
        rows: 1,
        code: vec![
            Word {
                op: Op::Mov32 as u8,
                a: vyre_core::vir0::isa::IMM,
                imm: 1,
                ..Word::default()
            },
            word(Op::RetV, 0, 0),
        ],
        ..kernel(Op::RetV)
    }
}

fn wave(id: usize, uses: impl IntoIterator<Item = usize>, fixpoint: Option<FixpointId>) -> Wave {
    Wave {
        name: format!("w{id}"),
        kernel: KernelId(id as u16),
        domain: Domain::Once,
        accesses: uses
            .into_iter()
            .map(|b| Access {
                resource: Resource::Buffer(BufferId(b as u16)),
                mode: Mode::Write,
            })
            .collect(),
        fixpoint,
        after: vec![],
    }
}

fn fixpoint(until: usize, parent: Option<FixpointId>) -> Fixpoint {
    Fixpoint {
        name: "f".into(),
        parent,
        until: KernelId(until as u16),
        condition: String::new(),
        max_rounds: 3,
        swaps: vec![],
        after: vec![],
        site: SiteId(0),
    }
}

fn buffer(elements: u64) -> Buffer {
    Buffer {
        name: "b".into(),
        scalar: Scalar::U32,
        extent: Extent::Fixed(elements),
        role: Role::Scratch,
        init: None,
        reset: None,
    }
}

/// One wave over one buffer.
fn small() -> Program {
    Program {
        name: "small".into(),
        buffers: vec![buffer(4)],
        kernels: vec![kernel(Op::Ret)],
        waves: vec![wave(0, [0], None)],
        schedule: vec![Step::Wave(WaveId(0)), Step::End],
        sites: vec![Site {
            file: "src/pass.rs".into(),
            line: 3,
            column: 5,
        }],
        ..Program::default()
    }
}

fn taken(program: &Program) -> Result<Program, UntrustedError> {
    Program::from_untrusted(&encode(program), &Limits::default())
}

#[test]
fn what_a_program_says_of_itself_is_not_believed() {
    let mut sent = small();
    sent.agreement = Agreement::Bits;
    sent.manifest.program_hash = Some(7);
    sent.manifest.speedup_bps = 20_000;
    sent.manifest.mandatory = true;
    sent.manifest.proof = Some(Proof {
        samples: 9,
        min_speedup_bps: 20_000,
        max_speedup_bps: 30_000,
        constants_hash: 7,
        measured: Measured::Single,
        rival: "rayon".into(),
    });
    let got = taken(&sent).unwrap();
    let manifest = &got.manifest;
    assert!(manifest.unproven);
    assert_eq!(
        (&manifest.proof, manifest.stale),
        (&None, Some(Stale::Unbound))
    );
    assert_eq!(manifest.program_hash, None);
    assert_eq!((manifest.speedup_bps, manifest.mandatory), (0, false));
    assert_eq!(manifest.budget_bytes, Some(1 << 30));
    assert_eq!(got.agreement, Agreement::Open(vec![]));
    assert_eq!(got.sites[0].file, "untrusted:src/pass.rs");
    // All else is as it was sent, and what was taken can be sent on.
    assert_eq!((&got.buffers, &got.waves), (&sent.buffers, &sent.waves));
    assert_eq!(taken(&got), Ok(got));
    sent.manifest.budget_bytes = Some(100);
    assert_eq!(taken(&sent).unwrap().manifest.budget_bytes, Some(100));
}

#[test]
fn a_source_path_of_others_is_no_file() {
    let mut sent = small();
    sent.sites[0].file = file!().into();
    let got = taken(&sent).unwrap();
    assert!(!std::path::Path::new(&got.sites[0].file).exists());
    sent.sites[0].file = "/dev/zero".into();
    let got = taken(&sent).unwrap();
    assert!(!std::path::Path::new(&got.sites[0].file).exists());
}

#[test]
fn each_limit_is_named_with_its_figures() {
    let bytes = encode(&small());
    let refused = |limits: Limits| {
        let error = Program::from_untrusted(&bytes, &limits).unwrap_err();
        error.to_string()
    };
    let all = Limits::default();
    assert_eq!(
        refused(Limits { code: 0, ..all }),
        "the kernels have 1 word; the limit is 0"
    );
    // A buffer, a kernel, a wave, its access, two steps and a source position.
    assert_eq!(
        refused(Limits { tables: 6, ..all }),
        "the tables have 7 entries; the limit is 6"
    );
    let exactly = Limits {
        code: 1,
        tables: 7,
        ..all
    };
    assert!(Program::from_untrusted(&bytes, &exactly).is_ok());
    let long = vec![0; 8_000];
    let none = Limits {
        code: 0,
        tables: 0,
        ..all
    };
    let error = Program::from_untrusted(&long, &none).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the container has 8000 bytes; one within the limits has at most 6656"
    );
    let mut damaged = bytes.clone();
    *damaged.last_mut().unwrap() ^= 1;
    let error = Program::from_untrusted(&damaged, &all).unwrap_err();
    assert!(matches!(
        error,
        UntrustedError::Decode(
            DecodeError::Hash { .. } | DecodeError::Tag { .. } | DecodeError::Truncated { .. }
        )
    ));
}

#[test]
fn texts_that_do_more_than_show_themselves_are_refused() {
    type Change = fn(&mut Program, String);
    let places: [(&str, Change); 6] = [
        ("the program's name", |p, t| p.name = t),
        ("the program's title", |p, t| p.manifest.title = t),
        ("the name of a buffer", |p, t| p.buffers[0].name = t),
        ("the name of a wave", |p, t| p.waves[0].name = t),
        ("the path of a source position", |p, t| p.sites[0].file = t),
        ("a message", |p, t| p.messages = vec![(SiteId(0), t)]),
    ];
    for (what, change) in places {
        let with = |text: String| {
            let mut sent = small();
            change(&mut sent, text);
            taken(&sent).map(|_| ())
        };
        for character in [
            '\u{1b}',
            '\n',
            '\0',
            '\u{7f}',
            '\u{9b}',
            '\u{202e}',
            '\u{2028}',
            '\u{ad}',
            '\u{61c}',
            '\u{200b}',
            '\u{200c}',
            '\u{200d}',
            '\u{200e}',
            '\u{200f}',
            '\u{2060}',
            '\u{2069}',
            '\u{feff}',
            '\u{e0041}',
        ] {
            let error = with(format!("a{character}b"));
            assert_eq!(error, Err(UntrustedError::Text { what, character }));
        }
        assert_eq!(with("größe → 大 e\u{301} \u{a0}".into()), Ok(()));
        assert_eq!(with("a".repeat(1_024)), Ok(()));
        let bytes = 1_025;
        let error = with("a".repeat(bytes));
        assert_eq!(error, Err(UntrustedError::TextLength { what, bytes }));
    }
    let escape = UntrustedError::Text {
        what: "a message",
        character: '\u{1b}',
    };
    assert_eq!(
        escape.to_string(),
        "a message has the character U+001B, which does more than show itself"
    );
}

#[test]
fn a_message_about_many_errors_is_short() {
    let mut sent = small();
    sent.kernels[0].code = vec![word(Op::Add32, 9, 1); 60_000];
    let error = taken(&sent).unwrap_err();
    let UntrustedError::Verify(errors) = &error else {
        panic!("{error}");
    };
    assert!(errors.len() > 60_000);
    assert!(error.to_string().len() < 200, "{error}");
}

fn opened(program: &Program, limits: Limits) -> Result<Box<dyn Executor>, RunError> {
    let opening = Opening {
        program: Arc::new(program.clone()),
        topology: &TopologyArgs::default(),
        allocation: Allocation::Separate,
        native: None,
    };
    limits.open(&Vir0, opening)
}

#[test]
fn a_run_takes_no_more_memory_than_it_may() {
    let all = Limits::default();
    let bytes = |memory| Limits { memory, ..all };
    let error = |limits| match opened(&small(), limits) {
        Ok(_) => panic!("it opened"),
        Err(e) => e.to_string(),
    };
    assert!(
        opened(&small(), bytes(16))
            .unwrap()
            .run(&Args::default())
            .is_ok()
    );
    assert_eq!(
        error(bytes(15)),
        "`small` is limited; 16 bytes are needed, 15 are available"
    );
    // Of two buffers that never live at once, one is enough.
    let mut apart = wide(2, 1);
    apart.buffers = vec![buffer(4), buffer(4)];
    for (w, wave) in apart.waves.iter_mut().enumerate() {
        wave.accesses = write_of(w as u16);
    }
    assert!(
        opened(&apart, bytes(16))
            .unwrap()
            .run(&Args::default())
            .is_ok()
    );
    // A length that the run says.
    let mut of_run = small();
    of_run.scalars = vec![ScalarParam {
        name: "n".into(),
        scalar: Scalar::U32,
    }];
    of_run.buffers[0].extent = Extent::Scalar(ScalarId(0));
    let mut executor = opened(&of_run, bytes(40)).unwrap();
    let mut run = |n| {
        executor.run(&Args {
            scalars: vec![n],
            inputs: vec![],
        })
    };
    assert!(run(10).is_ok());
    assert_eq!(
        run(11).unwrap_err().to_string(),
        "`small` is limited; 44 bytes are needed, 40 are available"
    );
    assert!(run(10).is_ok());
}

fn write_of(buffer: u16) -> Vec<Access> {
    vec![Access {
        resource: Resource::Buffer(BufferId(buffer)),
        mode: Mode::Write,
    }]
}

#[test]
fn a_run_takes_no_more_steps_than_it_may() {
    // What the program says of its turns is not believed.
    for short in [0, 1] {
        let mut endless = small();
        endless.kernels[0].code = vec![
            Word {
                a: short,
                ..word(Op::Loop, 0, 2)
            },
            word(Op::EndLoop, 0, 0),
            word(Op::Ret, 0, 0),
        ];
        endless.kernels[0].frames = 2;
        assert_eq!(verify(&endless), Ok(()));
        let limits = Limits {
            steps: 1_000,
            ..Limits::default()
        };
        let mut executor = opened(&endless, limits).unwrap();
        let stopped = |e: RunError| matches!(e, RunError::Work { limit: 1_000, .. });
        assert!(stopped(executor.run(&Args::default()).unwrap_err()));
        // The caller cannot lift the limit.
        assert!(executor.set_step_limit(None));
        assert!(stopped(executor.run(&Args::default()).unwrap_err()));
    }
}

/// A host that gives always the same meets a program that declares something else.
#[test]
fn what_is_given_must_be_what_is_declared() {
    let graph = Csr::from_edges(3, &[(0, 1)]).unwrap();
    let values = [1u32, 2, 3];
    let column = |id| (BufferId(id), Slice::U32(&values));
    let mut program = small();
    let mut given = Args::default();
    for (id, buffer) in (0..).zip(&program.buffers) {
        if matches!(buffer.role, Role::Input | Role::InOut) {
            given.inputs.push(column(id));
        }
    }
    given.scalars = vec![0; program.scalars.len()];
    let refused = |program: &Program, topology: &TopologyArgs<'_>, args: &Args<'_>| {
        let limits = Limits::default();
        let program = Program::from_untrusted(&encode(program), &limits).unwrap();
        let opening = Opening {
            program: Arc::new(program),
            topology,
            allocation: Allocation::Separate,
            native: None,
        };
        let mut executor = match limits.open(&Vir0, opening) {
            Ok(executor) => executor,
            Err(RunError::Invalid(why)) => return why,
            Err(e) => panic!("{e}"),
        };
        match executor.run(args) {
            Err(RunError::Invalid(why)) => why,
            other => panic!("{other:?}"),
        }
    };
    let none = TopologyArgs::default();
    let name = program.name.clone();
    let graphs = TopologyArgs {
        graphs: vec![&graph],
        columns: vec![],
        scalars: vec![],
    };
    let why = refused(&program, &graphs, &given);
    assert_eq!(
        why,
        format!("`{name}`: 1 graphs were given, and it declares 0")
    );
    let columns = TopologyArgs {
        graphs: vec![],
        columns: vec![column(0)],
        scalars: vec![],
    };
    let first = program.buffers[0].name.clone();
    let why = refused(&program, &columns, &given);
    assert_eq!(why, format!("`{name}`: `{first}` takes no column"));
    let more = Args {
        scalars: vec![0; program.scalars.len() + 1],
        ..given.clone()
    };
    assert!(refused(&program, &none, &more).ends_with("scalars were given, and it declares 0"));
    let strange = Args {
        inputs: vec![column(999)],
        ..given.clone()
    };
    let why = refused(&program, &none, &strange);
    assert_eq!(why, format!("`{name}`: it has no buffer 999"));
    // What was an output may be somebody's topology, and then it is to be given as such.
    program.buffers[0].role = Role::Input;
    let why = refused(&program, &none, &Args::default());
    assert_eq!(why, format!("`{name}`: no input was given for `{first}`"));
    let twice = Args {
        inputs: vec![column(0), column(0)],
        ..given
    };
    let why = refused(&program, &none, &twice);
    assert_eq!(why, format!("`{name}`: `{first}` was given 2 times"));
}

/// Through every planner, and a run in both allocations.
fn goes_through(program: &Program) {
    assert_eq!(verify(program), Ok(()));
    let limits = Limits::default();
    let program = Program::from_untrusted(&encode(program), &limits).unwrap();
    let sizes = TopologyArgs::default().sizes(&program);
    let graphs = Graphs::at_most(&program, &sizes);
    for target in [Target::Native, Target::Vir0, Target::Device(&graphs)] {
        let takes = footprint_on(&program, &sizes, target).unwrap();
        for budget in [
            takes.separate_bytes,
            takes.shared_bytes,
            takes.peak_bytes - 1,
            takes.resident_bytes + (takes.peak_bytes - takes.resident_bytes) / 2,
            takes.resident_bytes,
        ] {
            let fitted = fit_on(&program, &sizes, (budget, target));
            assert!(fitted.is_ok() || budget < takes.separate_bytes);
        }
    }
    let _violations = check::program(&program);
    let program = Arc::new(program);
    for allocation in [Allocation::Separate, Allocation::Shared] {
        let topology = TopologyArgs::default();
        let executor = Vir0Executor::new(Arc::clone(&program), &topology, allocation);
        let mut executor = executor.unwrap().with_work_limit(100_000);
        let _ran_or_trapped = executor.run(&Args::default());
    }
}

/// Buffers of many sizes, each used by waves of its own, in groups of this many waves.
fn wide(waves: usize, in_a_group: usize) -> Program {
    let mut schedule = Vec::new();
    for w in 0..waves {
        if w > 0 && w % in_a_group == 0 {
            schedule.push(Step::Barrier);
        }
        schedule.push(Step::Wave(WaveId(w as u16)));
    }
    schedule.push(Step::End);
    Program {
        buffers: (0..waves)
            .map(|b| buffer((b * 7_919 % 1_000) as u64))
            .collect(),
        kernels: vec![kernel(Op::Ret); waves],
        // Each uses two, one of which lives for long.
        waves: (0..waves)
            .map(|w| {
                let other = w * 7_919 % waves;
                let uses = [w.min(other), w.max(other)];
                let uses = uses.into_iter().take(if w == other { 1 } else { 2 });
                wave(w, uses, None)
            })
            .collect(),
        schedule,
        sites: vec![Site::default()],
        ..Program::default()
    }
}

#[test]
fn the_widest_programs_go_through() {
    for in_a_group in [1, 6, 64] {
        goes_through(&wide(2_300, in_a_group));
    }
}

#[test]
fn the_deepest_program_goes_through() {
    let depth = 2_700;
    let fixpoints = (0..depth).map(|f| {
        let parent = (f > 0).then(|| FixpointId(f as u16 - 1));
        fixpoint(1 + f, parent)
    });
    let innermost = FixpointId(depth as u16 - 1);
    let mut schedule: Vec<Step> = (0..depth)
        .map(|f| Step::Loop(FixpointId(f as u16)))
        .collect();
    schedule.push(Step::Wave(WaveId(0)));
    schedule.extend((0..depth).rev().map(|f| Step::Until(FixpointId(f as u16))));
    schedule.push(Step::End);
    let mut kernels = vec![kernel(Op::Ret)];
    kernels.extend(vec![condition(); depth]);
    goes_through(&Program {
        buffers: vec![buffer(4)],
        kernels,
        waves: vec![wave(0, [0], Some(innermost))],
        fixpoints: fixpoints.collect(),
        schedule,
        sites: vec![Site::default()],
        ..Program::default()
    });
}

#[test]
fn as_many_swaps_as_there_can_be_go_through() {
    let swaps = 15_000;
    let mut round = fixpoint(1, None);
    round.swaps = (0..swaps)
        .map(|i| (BufferId(i % 500), BufferId((i % 500 + 1 + i % 7) % 500)))
        .collect();
    goes_through(&Program {
        buffers: vec![buffer(4); 500],
        kernels: vec![kernel(Op::Ret), condition()],
        waves: vec![wave(0, [0], Some(FixpointId(0)))],
        fixpoints: vec![round],
        schedule: vec![
            Step::Loop(FixpointId(0)),
            Step::Wave(WaveId(0)),
            Step::Until(FixpointId(0)),
            Step::End,
        ],
        sites: vec![Site::default()],
        ..Program::default()
    });
}

#[test]
fn as_many_frontiers_as_there_can_be_go_through() {
    let count = 2_000;
    let access = |f: u16| Access {
        resource: Resource::from(FrontierId(f)),
        mode: Mode::Read,
    };
    let program = Program {
        topologies: vec![Topology {
            name: "g".into(),
            reverse_of: None,
        }],
        frontiers: (0..count)
            .map(|_| Queue {
                name: "x".into(),
                fields: vec![],
                capacity: Extent::Nodes,
                unique: true,
                stays: false,
                owner: None,
                output: false,
                reset: None,
            })
            .collect(),
        kernels: vec![kernel(Op::Ret); usize::from(count)],
        waves: (0..count)
            .map(|f| Wave {
                domain: Domain::EdgesFrom(TopologyId(0), FrontierId(f)),
                accesses: vec![
                    Access {
                        resource: Resource::Topology(TopologyId(0)),
                        mode: Mode::Read,
                    },
                    access(f),
                ],
                ..wave(usize::from(f), [], None)
            })
            .collect(),
        schedule: (0..count)
            .flat_map(|w| [Step::Wave(WaveId(w)), Step::Barrier])
            .take(2 * usize::from(count) - 1)
            .chain([Step::End])
            .collect(),
        sites: vec![Site::default()],
        ..Program::default()
    };
    assert_eq!(verify(&program), Ok(()));
    let program = Program::from_untrusted(&encode(&program), &Limits::default()).unwrap();
    let graph = Csr::from_edges(3, &[(0, 1), (1, 2)]).unwrap();
    let topology = TopologyArgs {
        graphs: vec![&graph],
        columns: vec![],
        scalars: vec![],
    };
    let sizes = topology.sizes(&program);
    let graphs = Graphs::at_most(&program, &sizes);
    let takes = footprint_on(&program, &sizes, Target::Device(&graphs)).unwrap();
    let shared = fit_on(
        &program,
        &sizes,
        (takes.shared_bytes, Target::Device(&graphs)),
    );
    assert_eq!(shared.unwrap().allocation, Allocation::Shared);
    for allocation in [Allocation::Separate, Allocation::Shared] {
        let executor = Vir0Executor::new(Arc::new(program.clone()), &topology, allocation);
        assert!(executor.unwrap().run(&Args::default()).is_ok());
    }
}

/// Deeper than any kernel may nest: an answer, and not one whose length grows with the square.
#[test]
fn the_deepest_code_is_refused() {
    let mut sent = small();
    let half = 32_000;
    let mut code = vec![word(Op::If, 192, 0); half];
    code.extend(vec![word(Op::EndIf, 0, 0); half]);
    code.push(word(Op::Ret, 0, 0));
    for (at, word) in code[..half].iter_mut().enumerate() {
        word.imm = (2 * half - 1 - at) as u32;
    }
    sent.kernels[0].code = code;
    sent.kernels[0].uniforms = vec![Uniform::Nodes];
    let UntrustedError::Verify(errors) = taken(&sent).unwrap_err() else {
        panic!("it is a container within the limits");
    };
    let rules: Vec<&Rule> = errors.iter().map(|e| &e.rule).collect();
    assert_eq!(
        rules,
        [
            &Rule::TooDeep(64_000),
            &Rule::Frames {
                declared: 0,
                needed: 64_000
            }
        ]
    );
}

/// A device numbers frontiers and lists together, and has a number that is no kernel's.
#[test]
fn what_a_device_numbers_together_has_one_limit() {
    let lengths = |program: &Program| {
        let errors = verify(program).unwrap_err();
        let lengths = errors
            .iter()
            .filter(|e| matches!(e.rule, Rule::TableLength { .. }));
        lengths.map(ToString::to_string).collect::<Vec<_>>()
    };
    let mut program = small();
    program.kernels = vec![kernel(Op::Ret); 65_535];
    assert_eq!(lengths(&program), [] as [String; 0]);
    program.kernels.push(kernel(Op::Ret));
    assert_eq!(lengths(&program), ["program: 65536 kernels; at most 65535"]);
    let list = Queue {
        name: "l".into(),
        fields: vec![Scalar::U32],
        capacity: Extent::Fixed(1),
        unique: false,
        stays: true,
        owner: None,
        output: false,
        reset: None,
    };
    let frontier = Queue {
        name: "f".into(),
        fields: vec![],
        capacity: Extent::Fixed(1),
        unique: false,
        stays: false,
        owner: None,
        output: false,
        reset: None,
    };
    let mut program = small();
    program.schedule.clear();
    program.lists = vec![list; 40_000];
    program.frontiers = vec![frontier; 25_537];
    assert_eq!(
        lengths(&program),
        ["program: 65537 frontiers and lists; at most 65536"]
    );
    let mut program = small();
    program.kernels = vec![kernel(Op::Ret); 17];
    for kernel in &mut program.kernels {
        kernel.uniforms = vec![Uniform::Nodes; 65_535];
    }
    program.kernels[0].uniforms.push(Uniform::Nodes);
    assert_eq!(
        lengths(&program),
        [
            "program: 1114096 uniforms of all kernels; at most 1048576",
            "kernel 0: 65536 uniforms; at most 65535"
        ]
    );
}
