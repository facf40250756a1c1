//! Bounded lists and frontiers of items: a pass whose native functions and bodies are written by hand.

use crate::Take as _;
use std::sync::Arc;
use vyre_core::compile::ir::{
    AtomicOp, BinaryOp, Block, Body, CompareOp, Expr, ItemLocals, LocalId, Stmt,
};
use vyre_core::compile::lower::{Literals, lower};
use vyre_core::cpu::native::{Functions, NativeExecutor, Sweep, Until};
use vyre_core::cpu::vir0::Vir0Executor;
use vyre_core::dsl::csr::Csr;
use vyre_core::dsl::error::RunError;
use vyre_core::dsl::{Append, Atomic, Buf, Push};
use vyre_core::plan::footprint::Allocation;
use vyre_core::run::args::{Args, TopologyArgs};
use vyre_core::run::backend::Executor;
use vyre_core::run::outcome::Outcome;
use vyre_core::vir0::module::{self, Queue, *};
use vyre_core::vir0::scalar::Scalar;
use vyre_core::vir0::trap::{Site, Trap, TrapKind};

#[derive(Clone, Copy, Debug, PartialEq)]
struct Step {
    node: u32,
    value: f64,
}
vyre_core::record!(Step {
    node: u32,
    value: f64
});

/// Every node notes where it stands in `ids`; every third one starts with its number plus one.
fn seed(v: u32, slot: &mut u32, ids: &Append<u32>, work: &Push<(u64, u32)>) {
    *slot = ids.append(2 * v);
    if v.is_multiple_of(3) {
        work.push((u64::from(v) + 1, v));
    }
}

/// Halves the number until it is 1, and logs each step.
fn halve((value, node): (u64, u32), work: &Push<(u64, u32)>, log: &Append<Step>) {
    log.append(Step {
        node,
        value: value as f64,
    });
    if value > 1 {
        work.push((value / 2, node));
    }
}

/// Counts the steps that are new in this round.
fn count_new(step: Step, new: &Buf<Atomic<u32>>) {
    new[step.node].fetch_add(1);
}

/// Counts all steps; gives up at one node.
fn count_all(step: Step, bad: u32, all: &Buf<Atomic<u32>>) {
    assert!(step.node != bad);
    all[step.node].fetch_add(step.value as u32);
}

const ASSERT_LINE: u32 = line!() - 4;

bare_pass!(Pass);

impl Functions for Pass {
    fn wave(cx: &Sweep<'_>) {
        match cx.wave().0 {
            0 => cx.nodes(
                (),
                (cx.own_mut::<u32>(0), cx.append::<u32>(0), cx.push_items(0)),
                |lane, (slot, ids, work)| seed(lane.index, slot, ids, work),
            ),
            1 => cx.records(
                (),
                (cx.push_items(0), cx.append(1)),
                |_, item, (work, log)| {
                    halve(item, work, log);
                },
            ),
            2 => {
                let new = cx.atomic::<u32>(1);
                let new = new.view();
                cx.records((), (), |_, item, ()| count_new(item, new));
            }
            3 => {
                let bad = cx.scalar::<u32>(0);
                let all = cx.atomic::<u32>(2);
                let all = all.view();
                cx.records((), (), |_, item, ()| count_all(item, bad, all));
            }
            _ => unreachable!(),
        }
    }
    fn until(cx: &Until<'_>) -> bool {
        cx.frontier(0).is_empty()
    }
}

fn local(id: u32) -> Box<Expr> {
    Box::new(Expr::Local(LocalId(id)))
}

fn binary(op: BinaryOp, scalar: Scalar, left: Expr, right: u64) -> Expr {
    Expr::Binary {
        op,
        scalar,
        left: Box::new(left),
        right: Box::new(Expr::Literal(scalar, right)),
        site: Some(SiteId(0)),
    }
}

fn compare(op: CompareOp, scalar: Scalar, left: Expr, right: Expr) -> Expr {
    let (left, right) = (Box::new(left), Box::new(right));
    Expr::Compare {
        op,
        scalar,
        left,
        right,
    }
}

fn cast(from: Scalar, to: Scalar, value: Expr) -> Expr {
    let value = Box::new(value);
    Expr::Cast { from, to, value }
}

fn when(cond: Expr, then: Block) -> Stmt {
    let otherwise = vec![];
    Stmt::If {
        cond,
        then,
        otherwise,
    }
}

fn count(buffer: u16, value: Expr) -> Stmt {
    Stmt::Eval(Expr::Atomic {
        op: AtomicOp::Add,
        buffer: BufferId(buffer),
        scalar: Scalar::U32,
        index: local(0),
        value: Box::new(value),
        site: SiteId(0),
    })
}

/// The bodies of the waves, as a front end lowers the functions above: first the fields, then the other locals.
fn bodies() -> [Body; 4] {
    use Scalar::{F64, U32, U64};
    let item = |index: bool, fields: u32| ItemLocals {
        index: index.then_some(LocalId(0)),
        fields: std::array::from_fn(|i| (i < fields as usize).then_some(LocalId(i as u32))),
        ..ItemLocals::default()
    };
    let body = |name: &str, item, locals: &[Scalar], block| Body {
        name: name.into(),
        locals: locals.to_vec(),
        arrays: vec![],
        item,
        block,
        value: None,
    };
    let push = |value: Expr, node: u32| Stmt::PushItem {
        frontier: FrontierId(0),
        fields: vec![value, *local(node)],
        site: SiteId(3),
    };
    let append = |list: u16, fields: Vec<Expr>, site: u16| Expr::Append {
        list: ListId(list),
        fields,
        site: SiteId(site),
    };
    let third = binary(BinaryOp::Rem, U32, *local(0), 3);
    let start = cast(U32, U64, binary(BinaryOp::Add, U32, *local(0), 1));
    let seed = vec![
        Stmt::Assign(
            LocalId(1),
            append(0, vec![binary(BinaryOp::Mul, U32, *local(0), 2)], 1),
        ),
        Stmt::Store {
            buffer: BufferId(0),
            index: *local(0),
            value: *local(1),
            site: SiteId(0),
        },
        when(
            compare(CompareOp::Eq, U32, third, Expr::Literal(U32, 0)),
            vec![push(start, 0)],
        ),
    ];
    let halve = vec![
        Stmt::Eval(append(1, vec![*local(1), cast(U64, F64, *local(0))], 2)),
        when(
            compare(CompareOp::Gt, U64, *local(0), Expr::Literal(U64, 1)),
            vec![push(binary(BinaryOp::Div, U64, *local(0), 2), 1)],
        ),
    ];
    let bad = Expr::Uniform(Uniform::Scalar(ScalarId(0)), U32);
    let all = vec![
        Stmt::Assert {
            cond: compare(CompareOp::Ne, U32, *local(0), bad),
            kind: TrapKind::Assert,
            site: SiteId(4),
        },
        count(2, cast(F64, U32, *local(1))),
    ];
    [
        body("seed", item(true, 0), &[U32, U32], seed),
        body("halve", item(false, 2), &[U64, U32], halve),
        body(
            "count_new",
            item(false, 2),
            &[U32, F64],
            vec![count(1, Expr::Literal(U32, 1))],
        ),
        body("count_all", item(false, 2), &[U32, F64], all),
    ]
}

fn program() -> Program {
    use Scalar::{F64, U32, U64};
    let mut literals = Literals::new(0);
    let bodies = bodies();
    let mut kernels: Vec<Kernel> = bodies
        .iter()
        .map(|b| lower(b, &mut literals).expect("lowers"))
        .collect();
    let until = Body {
        name: "rounds".into(),
        locals: vec![],
        arrays: vec![],
        item: ItemLocals::default(),
        block: vec![],
        value: Some(compare(
            CompareOp::Eq,
            U32,
            Expr::Uniform(Uniform::Len(FrontierId(0).into()), U32),
            Expr::Literal(U32, 0),
        )),
    };
    kernels.push(lower(&until, &mut literals).expect("lowers"));
    let domains = [
        Domain::Nodes,
        Domain::Items(FrontierId(0)),
        Domain::ListItems(ListId(1), Portion::New),
        Domain::ListItems(ListId(1), Portion::All),
    ];
    let waves = (0..).zip(&bodies).zip(domains);
    let site = |line| Site {
        file: file!().into(),
        line,
        column: 5,
    };
    let list = |name: &str, fields: &[Scalar], capacity, output| Queue {
        name: name.into(),
        fields: fields.to_vec(),
        capacity,
        unique: false,
        stays: true,
        owner: None,
        output,
        reset: None,
    };
    Program {
        name: "halving".into(),
        topologies: vec![Topology {
            name: "g".into(),
            reverse_of: None,
        }],
        buffers: ["slot", "new", "all"]
            .map(|name| Buffer {
                name: name.into(),
                scalar: U32,
                extent: Extent::Nodes,
                role: Role::Output,
                init: None,
                reset: None,
            })
            .to_vec(),
        frontiers: vec![Queue {
            name: "work".into(),
            fields: vec![U64, U32],
            capacity: Extent::Scalar(ScalarId(2)),
            unique: false,
            stays: false,
            owner: Some(FixpointId(0)),
            output: false,
            reset: None,
        }],
        lists: vec![
            list("ids", &[U32], Extent::Nodes, true),
            list("log", &[U32, F64], Extent::Scalar(ScalarId(1)), true),
        ],
        scalars: ["bad", "log_capacity", "work_capacity"]
            .map(|name| ScalarParam {
                name: name.into(),
                scalar: U32,
            })
            .to_vec(),
        constants: literals.into_constants(),
        waves: waves
            .map(|((i, body), domain)| Wave {
                name: body.name.clone(),
                kernel: KernelId(i),
                domain,
                accesses: crate::accesses(body, domain),
                fixpoint: (i == 1 || i == 2).then_some(FixpointId(0)),
                after: vec![],
            })
            .collect(),
        fixpoints: vec![Fixpoint {
            name: "rounds".into(),
            parent: None,
            until: KernelId(4),
            condition: "work.is_empty()".into(),
            max_rounds: 100,
            swaps: vec![],
            after: vec![],
            site: SiteId(0),
        }],
        schedule: vec![
            module::Step::Wave(WaveId(0)),
            module::Step::Barrier,
            module::Step::Loop(FixpointId(0)),
            module::Step::Wave(WaveId(1)),
            module::Step::Barrier,
            module::Step::Wave(WaveId(2)),
            module::Step::Until(FixpointId(0)),
            module::Step::Wave(WaveId(3)),
            module::Step::End,
        ],
        sites: (0..4)
            .map(site)
            .chain([Site {
                line: ASSERT_LINE,
                ..site(0)
            }])
            .collect(),
        kernels,
        ..Program::default()
    }
}

const NODES: u32 = 30_000;
/// Room for everything.
const ROOM: u64 = 200_000;

/// What each executor makes of a run: natively on one thread and on three, then the bytecode.
fn run_all(scalars: [u64; 3]) -> Vec<Result<Outcome, Box<Trap>>> {
    let program = Arc::new(program());
    assert_eq!(vyre_core::vir0::verify::verify(&program), Ok(()));
    let graph = Csr::from_edges(NODES as usize, &[]).expect("no edges");
    let topology: TopologyArgs<'_> = crate::on_graph(&graph);
    let native = || {
        let executor =
            NativeExecutor::new::<Pass>(Arc::clone(&program), &topology, Allocation::Shared);
        Box::new(executor.expect("fits"))
    };
    let vir0 =
        Vir0Executor::new(Arc::clone(&program), &topology, Allocation::Shared).expect("fits");
    let executors: [(usize, Box<dyn Executor>); 3] =
        [(1, native()), (3, native()), (1, Box::new(vir0))];
    let args = Args {
        scalars: scalars.to_vec(),
        inputs: vec![],
    };
    let all = executors.into_iter().map(|(threads, mut executor)| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let pool = pool.build().expect("a pool starts");
        // What a run leaves behind does not show in the next one.
        let mut run = || match pool.install(|| executor.run(&args)) {
            Err(RunError::Trap(trap)) => Err(trap),
            other => Ok(other.expect("the arguments fit")),
        };
        let _ = run();
        run()
    });
    all.collect()
}

#[test]
fn lists_and_items_are_the_same_on_every_executor() {
    let value = |v: u32| u64::from(v) + 1;
    let steps = |v: u32| {
        if v.is_multiple_of(3) {
            value(v).ilog2() + 1
        } else {
            0
        }
    };
    // Round by round: who still halves, and what it has reached.
    let mut log = vec![];
    for round in 0..16 {
        for node in (0..NODES).filter(|&v| round < steps(v)) {
            let value = (value(node) >> round) as f64;
            log.push(Step { node, value });
        }
    }
    for outcome in run_all([u64::from(u32::MAX), ROOM, ROOM]) {
        let mut out = outcome.expect("runs");
        assert_eq!(out.take::<u32>(BufferId(0)), (0..NODES).collect::<Vec<_>>());
        let ids: Vec<u32> = out.take_list(ListId(0));
        assert_eq!(ids, (0..NODES).map(|v| 2 * v).collect::<Vec<_>>());
        assert_eq!(out.take_list::<Step>(ListId(1)), log);
        assert_eq!(
            out.take::<u32>(BufferId(1)),
            (0..NODES).map(steps).collect::<Vec<_>>()
        );
        let sums = (0..NODES).map(|v| (0..steps(v)).map(|r| (value(v) >> r) as u32).sum());
        assert_eq!(out.take::<u32>(BufferId(2)), sums.collect::<Vec<u32>>());
        assert_eq!(out.report.rounds, [15]);
    }
}

#[test]
fn overflows_of_lists_and_items_say_what_was_needed() {
    // 10,000 nodes start; in the second round all but node 0 are left.
    let cases = [
        (
            [ROOM, 5, ROOM],
            TrapKind::ListOverflow,
            "halve",
            10_000,
            5,
            2,
        ),
        (
            [ROOM, 15_000, ROOM],
            TrapKind::ListOverflow,
            "halve",
            19_999,
            15_000,
            2,
        ),
        (
            [ROOM, ROOM, 9_999],
            TrapKind::FrontierOverflow,
            "seed",
            10_000,
            9_999,
            3,
        ),
    ];
    for (scalars, kind, kernel, needed, capacity, line) in cases {
        for outcome in run_all(scalars) {
            let trap = outcome.expect_err("overflows");
            assert_eq!((trap.kind, trap.index, trap.len), (kind, needed, capacity));
            assert_eq!(
                (trap.kernel.as_str(), trap.item, trap.site.line),
                (kernel, None, line)
            );
        }
    }
}

#[test]
fn a_trap_names_an_item_by_its_first_field() {
    for outcome in run_all([29_997, ROOM, ROOM]) {
        let trap = outcome.expect_err("node 29997 is bad");
        assert_eq!((trap.kind, trap.item), (TrapKind::Assert, Some(29_997)));
        assert_eq!(
            (trap.kernel.as_str(), trap.site.line),
            ("count_all", ASSERT_LINE)
        );
    }
}

#[test]
fn only_the_wave_that_reads_slots_writes_its_list() {
    let program = program();
    let mode = |wave: usize, list| {
        let mut accesses = program.waves[wave].accesses.iter();
        let list = Resource::from(ListId(list));
        accesses.find(|a| a.resource == list).map(|a| a.mode)
    };
    assert_eq!(mode(0, 0), Some(Mode::Write));
    assert_eq!(mode(1, 1), Some(Mode::Update(UpdateOp::Append)));
}

#[test]
fn outside_a_session_items_collect() {
    let (ids, work, log) = (Append::new(), Push::of_items(), Append::default());
    let mut slots = [9; 2];
    for v in [3, 4] {
        seed(v, &mut slots[v as usize - 3], &ids, &work);
    }
    halve((5, 3), &work, &log);
    assert_eq!(slots, [0, 1]);
    assert_eq!(ids.into_items(), [6, 8]);
    assert_eq!(work.into_items(), [(4, 3), (2, 3)]);
    assert_eq!(
        log.into_items(),
        [Step {
            node: 3,
            value: 5.0
        }]
    );
}
