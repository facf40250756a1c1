//! Breadth-first search as the macros expand it, written by hand: the reference for the expansion's shape.
//!
//! `topology` and `args` must be written with `Self::Topology<'_>` and `Self::Run<'_>`: their lifetimes are
//! early-bound.

#![allow(
    unreachable_pub,
    reason = "the expansion keeps the visibility the user wrote"
)]

use vyre_core::cpu::native::{self, Functions};
use vyre_core::cpu::native::{Sweep, Until};
use vyre_core::dsl::{Atomic, Buf, Csr, Edge, Frontier, Node, Push, Round};
use vyre_core::run::args::{Args, TopologyArgs};
use vyre_core::run::backend::OpenNative;
use vyre_core::run::outcome::{Outcome, Report};
use vyre_core::vir0::isa::{IMM, Op, UNIFORM_BASE, Word};
use vyre_core::vir0::manifest::Manifest;
use vyre_core::vir0::module::{
    Access, Buffer, BufferId, Constant, ConstantId, Domain, Extent, Fixpoint, FixpointId,
    FrontierId, ItemRows, Kernel, KernelId, Mode, NodeRef, Parts, Program, Resource, Role,
    ScalarId, ScalarParam, SiteId, Step, TopologyId, Uniform, UpdateOp, Wave, WaveId, here,
};
use vyre_core::vir0::scalar::{Scalar, ScalarType};
use vyre_core::vir0::trap::Site;

const UNSEEN: u32 = u32::MAX;

#[allow(dead_code)]
pub struct Data {
    graph: Csr,
    front: Frontier,
    dist: u32,
    source: u32,
}

pub fn init(v: Node, source: u32, dist: &mut u32, front: &Push) {
    *dist = UNSEEN;
    if v == source {
        *dist = 0;
        front.push(v);
    }
}

pub mod levels {
    use super::*;
    pub(super) fn relax(e: Edge, round: Round, dist: &Buf<Atomic<u32>>, front: &Push) {
        if dist[e.dst].compare_exchange(UNSEEN, round + 1) {
            front.push(e.dst);
        }
    }
    pub(super) const __VYRE_CONSTANTS: &[u64] = &[{
        const C: u32 = UNSEEN;
        C as u64
    }];
    pub(super) const __VYRE_SITES: &[&::core::panic::Location<'static>] = &[here()];
}

pub struct Topology<'a> {
    pub graph: &'a Csr,
}

impl<'a> From<&'a Csr> for Topology<'a> {
    fn from(graph: &'a Csr) -> Self {
        Topology { graph }
    }
}

pub struct Run {
    pub source: u32,
}

#[derive(Debug, Default, PartialEq)]
pub struct Output {
    pub dist: Vec<u32>,
    pub report: Report,
}

pub struct Pass;

impl vyre_core::run::pass::Pass for Pass {
    type Topology<'a> = Topology<'a>;
    type Run<'a> = Run;
    type Output = Output;

    const PARTS: Parts = Parts {
        skeleton: b"",
        constants: &[levels::__VYRE_CONSTANTS],
        sites: &[levels::__VYRE_SITES],
        max_rounds: &[],
        rooms: &[],
    };
    const NATIVE: OpenNative = native::open::<Self>;

    fn topology<'a>(topology: &Self::Topology<'a>) -> TopologyArgs<'a> {
        TopologyArgs {
            graphs: vec![topology.graph],
            columns: vec![],
            scalars: vec![],
        }
    }

    fn args<'a>(run: &Self::Run<'a>) -> Args<'a> {
        Args {
            scalars: vec![ScalarType::to_bits64(run.source)],
            inputs: vec![],
        }
    }

    fn exchange(results: &mut Outcome, out: &mut Output) {
        results.exchange(BufferId(0), &mut out.dist);
        std::mem::swap(&mut results.report, &mut out.report);
    }
}

impl Functions for Pass {
    fn wave(cx: &Sweep<'_>) {
        match cx.wave().0 {
            0 => {
                let source = cx.scalar::<u32>(0);
                cx.nodes(
                    (),
                    (cx.own_mut::<u32>(0), cx.push(0)),
                    |lane, (dist, front)| init(lane.index, source, dist, front),
                );
            }
            1 => {
                let round = cx.round();
                let dist = cx.atomic::<u32>(0);
                let dist = dist.view();
                cx.edges_from((), (cx.push(0),), |lane, (front,)| {
                    levels::relax(lane.edge(), round, dist, front)
                });
            }
            _ => ::core::unreachable!(),
        }
    }

    fn until(cx: &Until<'_>) -> bool {
        match cx.fixpoint().0 {
            0 => {
                let front = cx.frontier(0);
                front.is_empty()
            }
            _ => ::core::unreachable!(),
        }
    }
}

/// What the skeleton would decode to. The macros' sites are the tokens'; here they are made up, apart from the order.
pub fn program(max_rounds: u64, capacity: Extent) -> Program {
    let (r0, r1, r2) = (0, 1, 2);
    let uniform = |slot: u8| UNIFORM_BASE + slot;
    let w = |op: Op, [d, a, b]: [u8; 3], imm: u32| Word {
        op: op as u8,
        d,
        a,
        b,
        imm,
    };
    let kernel =
        |name: &str, code: Vec<Word>, rows, frames, item, uniforms, sites: Vec<u32>| Kernel {
            name: name.to_owned(),
            code,
            rows,
            frames,
            item,
            uniforms,
            sites: sites
                .into_iter()
                .map(|pc| (pc, SiteId(pc as u16)))
                .collect(),
        };
    let access = |resource, mode| Access { resource, mode };
    let (dist, front) = (BufferId(0), FrontierId(0));
    Program {
        name: "bfs".to_owned(),
        topologies: vec![vyre_core::vir0::module::Topology {
            name: "graph".to_owned(),
            reverse_of: None,
        }],
        buffers: vec![Buffer {
            name: "dist".to_owned(),
            scalar: Scalar::U32,
            extent: Extent::Nodes,
            role: Role::Output,
            init: None,
            reset: None,
        }],
        frontiers: vec![vyre_core::vir0::module::Queue {
            fields: vec![],
            name: "front".to_owned(),
            capacity,
            unique: false,
            stays: false,
            owner: Some(FixpointId(0)),
            output: false,
            reset: None,
        }],
        lists: vec![],
        reductions: vec![],
        lengths: vec![],
        scalars: vec![ScalarParam {
            name: "source".to_owned(),
            scalar: Scalar::U32,
        }],
        constants: vec![Constant {
            scalar: Scalar::U32,
            bits: UNSEEN.into(),
        }],
        kernels: vec![
            kernel(
                "init",
                vec![
                    w(Op::St32, [0, r0, uniform(1)], 0),
                    w(Op::Eq32, [r1, r0, uniform(0)], 0),
                    w(Op::If, [0, r1, 0], 6),
                    w(Op::Mov32, [r2, IMM, 0], 0),
                    w(Op::St32, [0, r0, r2], 0),
                    w(Op::Push, [0, r0, 0], 0),
                    w(Op::EndIf, [0; 3], 0),
                    w(Op::Ret, [0; 3], 0),
                ],
                3,
                2,
                ItemRows {
                    index: Some(r0),
                    ..ItemRows::default()
                },
                vec![
                    Uniform::Scalar(ScalarId(0)),
                    Uniform::Constant(ConstantId(0)),
                ],
                vec![0, 4, 5],
            ),
            kernel(
                "relax",
                vec![
                    w(Op::Add32, [r1, uniform(0), IMM], 1),
                    w(Op::AtomCas32, [r2, r0, uniform(1)], r1.into()),
                    w(Op::If, [0, r2, 0], 4),
                    w(Op::Push, [0, r0, 0], 0),
                    w(Op::EndIf, [0; 3], 0),
                    w(Op::Ret, [0; 3], 0),
                ],
                3,
                2,
                ItemRows {
                    dst: Some(r0),
                    ..ItemRows::default()
                },
                vec![Uniform::Round, Uniform::Constant(ConstantId(0))],
                vec![1, 3],
            ),
            kernel(
                "levels",
                vec![
                    w(Op::Eq32, [r0, uniform(0), IMM], 0),
                    w(Op::RetV, [0, r0, 0], 0),
                ],
                1,
                0,
                ItemRows::default(),
                vec![Uniform::Len(front.into())],
                vec![],
            ),
        ],
        waves: vec![
            Wave {
                name: "init".to_owned(),
                kernel: KernelId(0),
                domain: Domain::Nodes,
                accesses: vec![
                    access(Resource::Buffer(dist), Mode::Write),
                    access(Resource::from(front), Mode::Update(UpdateOp::Push)),
                ],
                fixpoint: None,
                after: vec![],
            },
            Wave {
                name: "relax".to_owned(),
                kernel: KernelId(1),
                domain: Domain::EdgesFrom(TopologyId(0), front),
                accesses: vec![
                    access(Resource::Topology(TopologyId(0)), Mode::Read),
                    access(Resource::Buffer(dist), Mode::Write),
                    access(Resource::from(front), Mode::Write),
                ],
                fixpoint: Some(FixpointId(0)),
                after: vec![],
            },
        ],
        fixpoints: vec![Fixpoint {
            name: "levels".to_owned(),
            parent: None,
            until: KernelId(2),
            condition: "front.is_empty()".into(),
            max_rounds,
            swaps: vec![],
            after: vec![NodeRef::Wave(WaveId(0))],
            site: SiteId(5),
        }],
        schedule: vec![
            Step::Wave(WaveId(0)),
            Step::Barrier,
            Step::Loop(FixpointId(0)),
            Step::Wave(WaveId(1)),
            Step::Until(FixpointId(0)),
            Step::End,
        ],
        agreement: vyre_core::vir0::module::Agreement::Bits,
        manifest: Manifest {
            id: "bfs".to_owned(),
            unproven: true,
            ..Manifest::default()
        },
        sites: (0..6)
            .map(|line| Site {
                file: "bfs".to_owned(),
                line,
                column: 1,
            })
            .collect(),
        messages: vec![],
    }
}
