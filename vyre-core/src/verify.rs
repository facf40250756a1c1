//! The verifier: which decoded programs may run.
//!
//! A program that verifies never panics a backend and never touches memory outside its buffers: it runs or it traps.
//! Every error is reported, each with its place. The rules are those of `docs/VIR0.md`; in short, every id exists, every
//! word is the one encoding of its instruction, control flow nests, every register is assigned on every path before it is
//! read, each faulting word has a site, and the schedule visits each wave once, inside its own fixpoint.
//!
//! A program without sites is a macro's skeleton: its site ids are not checked against the (still empty) table.
//!
//! ```
//! use vyre_core::module::{Program, Step};
//! use vyre_core::verify::{Place, Rule, verify};
//! let mut program = Program { schedule: vec![Step::End], ..Program::default() };
//! assert_eq!(verify(&program), Ok(()));
//! program.schedule.push(Step::Barrier);
//! let errors = verify(&program).unwrap_err();
//! assert_eq!((errors[0].at, &errors[0].rule), (Place::Step(1), &Rule::EndPlace));
//! ```

use crate::isa::{
    FRAMES_PER_IF, FRAMES_PER_LOOP, Faults, IMM, Imm, Kind, MAX_CODE_WORDS, MAX_DIRECT_UNIFORMS,
    MAX_FRAMES, MAX_ROWS, Op, Row, Slot, UNIFORM_BASE, Word,
};
use crate::module::{
    Buffer, BufferId, ConstantId, Domain, Extent, Fixpoint, FixpointId, Frontier, FrontierId,
    Kernel, KernelId, Mode, NodeRef, Program, ReduceOp, Reduction, ReductionId, Resource, Role,
    Scalar, ScalarId, SiteId, Step, Topology, TopologyId, Uniform, Wave, WaveId,
};
use crate::trap::TrapKind;
use std::fmt;
use thiserror::Error;

/// One broken rule.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{at}: {rule}")]
pub struct VerifyError {
    /// Where.
    pub at: Place,
    /// Which rule, with the offending values.
    #[source]
    pub rule: Rule,
}

/// Part of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// The program itself.
    Program,
    /// A topology.
    Topology(TopologyId),
    /// A buffer.
    Buffer(BufferId),
    /// A frontier.
    Frontier(FrontierId),
    /// A reduction.
    Reduction(ReductionId),
    /// A constant.
    Constant(ConstantId),
    /// A kernel.
    Kernel(KernelId),
    /// A word of a kernel.
    Word(KernelId, u32),
    /// A wave.
    Wave(WaveId),
    /// A fixpoint.
    Fixpoint(FixpointId),
    /// A step of the schedule.
    Step(u32),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Program => write!(f, "program"),
            Place::Topology(id) => write!(f, "topology {}", id.0),
            Place::Buffer(id) => write!(f, "buffer {}", id.0),
            Place::Frontier(id) => write!(f, "frontier {}", id.0),
            Place::Reduction(id) => write!(f, "reduction {}", id.0),
            Place::Constant(id) => write!(f, "constant {}", id.0),
            Place::Kernel(id) => write!(f, "kernel {}", id.0),
            Place::Word(id, pc) => write!(f, "kernel {} word {pc}", id.0),
            Place::Wave(id) => write!(f, "wave {}", id.0),
            Place::Fixpoint(id) => write!(f, "fixpoint {}", id.0),
            Place::Step(i) => write!(f, "step {i}"),
        }
    }
}

/// A rule and how it is broken.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Rule {
    /// Tables are indexed by u16.
    #[error("{count} {table}; at most 65536")]
    TableLength {
        /// Table.
        table: &'static str,
        /// Its length.
        count: usize,
    },
    /// An id outside its table.
    #[error("{table} {id} does not exist; there are {count}")]
    Id {
        /// Table.
        table: &'static str,
        /// The id.
        id: u16,
        /// Length of the table.
        count: usize,
    },
    /// A reverse is built of a given topology.
    #[error("reverse of a topology that is itself a reverse")]
    ReverseOfReverse,
    /// Lengths are u32 or u64 values.
    #[error("a length is a {0:?}")]
    ExtentType(Scalar),
    /// Topology buffers live as long as the session.
    #[error("the length of a topology buffer depends on a scalar of the run")]
    SessionExtent,
    /// Only outputs and scratch buffers are initialised.
    #[error("a buffer of role {0:?} has an initial value")]
    InitRole(Role),
    /// The initial value is an element.
    #[error("the initial value is a {constant:?}; elements are {element:?}")]
    InitType {
        /// The constant's type.
        constant: Scalar,
        /// The buffer's.
        element: Scalar,
    },
    /// Raw bits that no value of the type has.
    #[error("{bits:#x} are not the raw bits of a {scalar:?}")]
    ConstantBits {
        /// Type.
        scalar: Scalar,
        /// Bits.
        bits: u64,
    },
    /// A unique frontier holds each node at most once.
    #[error("a unique frontier's capacity is {0:?}, not Nodes")]
    UniqueCapacity(Extent),
    /// A frontier flips with the innermost fixpoint around all its sweeps.
    #[error("owner is {actual:?}; the innermost fixpoint around its sweeps is {expected:?}")]
    FrontierOwner {
        /// As written.
        actual: Option<FixpointId>,
        /// By the domains.
        expected: Option<FixpointId>,
    },
    /// An operation that the type does not have.
    #[error("{op:?} of {scalar:?}")]
    ReductionType {
        /// Operation.
        op: ReduceOp,
        /// Type.
        scalar: Scalar,
    },
    /// Kernels are numbered waves first, then conditions.
    #[error("kernel {actual} is used where kernel {expected} belongs")]
    KernelOrder {
        /// As written.
        actual: u16,
        /// By position.
        expected: usize,
    },
    /// Each wave and each condition has one kernel.
    #[error("{kernels} kernels; the waves and conditions need {expected}")]
    KernelCount {
        /// Kernels.
        kernels: usize,
        /// Waves + fixpoints.
        expected: usize,
    },
    /// A pc fits a trap key.
    #[error("{0} words; at most {max}", max = MAX_CODE_WORDS)]
    CodeLength(usize),
    /// An operand byte names the row.
    #[error("{0} register rows; at most {max}", max = MAX_ROWS)]
    Rows(u8),
    /// The declared frames are those of the deepest nesting.
    #[error("declares {declared} mask frames; the code needs {needed}")]
    Frames {
        /// As written.
        declared: u8,
        /// By nesting.
        needed: u32,
    },
    /// Deepest mask stack.
    #[error("needs {0} mask frames; at most {max}", max = MAX_FRAMES)]
    TooDeep(u32),
    /// Item rows are rows of the kernel, and differ.
    #[error("work-item row {0} is out of range or used twice")]
    ItemRow(u8),
    /// Conditions have no item, and only edges have a source and a destination.
    #[error("its domain has no item for row {0}")]
    ItemDomain(u8),
    /// Round of which fixpoint?
    #[error("reads the round outside any fixpoint")]
    RoundOutside,
    /// The length of a frontier is settled at a round's end only.
    #[error("reads a frontier's length in a wave")]
    FrontierLenInWave,
    /// The last word of a wave is `ret`, of a condition `ret.b32`.
    #[error("does not end in {0}")]
    LastWord(&'static str),
    /// Sites are in code order.
    #[error("the site of word {0} is out of order")]
    SiteOrder(u32),
    /// Every faulting word has a site.
    #[error("can trap but has no site")]
    NoSite,
    /// Only faulting words have sites.
    #[error("word {0} has a site but cannot trap")]
    IdleSite(u32),
    /// A byte without an instruction.
    #[error("{0:#04x} is no opcode")]
    Opcode(u8),
    /// An operand byte that the instruction does not have is 0.
    #[error("unused operand {operand} is {byte}")]
    Unused {
        /// `d`, `a` or `b`.
        operand: char,
        /// Byte.
        byte: u8,
    },
    /// A row outside the kernel's, or a 64-bit pair that ends outside.
    #[error("operand {operand} names row {byte} of {rows}")]
    OperandRow {
        /// `d`, `a`, `b` or `c`.
        operand: char,
        /// First row.
        byte: u8,
        /// Rows of the kernel.
        rows: u8,
    },
    /// A uniform slot that the kernel does not have, or a destination that is a uniform.
    #[error("operand {operand} names uniform slot {slot} of {count}")]
    OperandUniform {
        /// `d`, `a`, `b` or `c`.
        operand: char,
        /// Slot.
        slot: u32,
        /// Slots of the kernel.
        count: usize,
    },
    /// An immediate operand where the instruction takes none.
    #[error("operand {0} cannot be an immediate")]
    OperandImmediate(char),
    /// A register that some path leaves unassigned.
    #[error("reads row {0}, which is not assigned on every path")]
    Unassigned(u8),
    /// Immediate bits that the layout leaves unused are 0.
    #[error("immediate {0:#010x} has bits outside its layout")]
    Immediate(u32),
    /// The resource has another element width, type or kind.
    #[error("{resource:?} is a {scalar:?}; the instruction needs {kind:?}")]
    ResourceKind {
        /// Resource.
        resource: Resource,
        /// Its scalar.
        scalar: Scalar,
        /// What the instruction takes.
        kind: Kind,
    },
    /// Inputs and topology buffers are read-only.
    #[error("writes a buffer of role {0:?}")]
    ReadOnly(Role),
    /// Conditions only look.
    #[error("a condition has a side effect")]
    ConditionEffect,
    /// `ret.b32` in a wave, `ret` in a condition.
    #[error("returns as a {0} does")]
    WrongReturn(&'static str),
    /// An `else`, `endif` or `endloop` without its opening word.
    #[error("closes nothing that is open")]
    Unopened,
    /// An `if` or `loop` without its closing word.
    #[error("is never closed")]
    Unclosed,
    /// A target that the nesting contradicts.
    #[error("target is {actual}; by the nesting it is {expected}")]
    Target {
        /// As written.
        actual: u32,
        /// By nesting.
        expected: u32,
    },
    /// A break or continue out of more loops than there are.
    #[error("leaves {depth} loops outward; {loops} are open")]
    Depth {
        /// As written.
        depth: u32,
        /// Open loops.
        loops: u32,
    },
    /// A number that is no [`TrapKind`].
    #[error("{0} is no trap code")]
    TrapCode(u32),
    /// Accesses are sorted, one a resource.
    #[error("accesses are not sorted by resource, one each")]
    AccessOrder,
    /// A resource that the code uses and the wave does not list.
    #[error("uses {0:?} without listing it")]
    Unlisted(Resource),
    /// A resource listed as read that the code changes.
    #[error("changes {0:?}, which is listed as read")]
    ListedRead(Resource),
    /// An outer fixpoint comes before its inner ones.
    #[error("its parent is fixpoint {0}, which does not come before it")]
    ParentOrder(u16),
    /// Rounds are u32 and there is a limit.
    #[error("round limit is {0}; it is at least 1 and at most {max}", max = u32::MAX)]
    MaxRounds(u64),
    /// Swapped buffers are alike.
    #[error("swaps buffers {0} and {1}, which differ in type, length or role or are the same")]
    Swap(u16, u16),
    /// `End` is the last step and no other.
    #[error("the schedule does not end with its only End")]
    EndPlace,
    /// A wave or fixpoint stands outside its own fixpoint.
    #[error("inside fixpoint {actual:?}; it belongs inside {expected:?}")]
    StepNesting {
        /// Open fixpoint.
        actual: Option<FixpointId>,
        /// Its own.
        expected: Option<FixpointId>,
    },
    /// Each wave and fixpoint is scheduled once.
    #[error("is scheduled {0} times")]
    Scheduled(u32),
}

/// Checks every rule.
pub fn verify(program: &Program) -> Result<(), Vec<VerifyError>> {
    let mut verifier = Verifier {
        program,
        at: Place::Program,
        errors: Vec::new(),
    };
    verifier.tables();
    verifier.waves_and_fixpoints();
    verifier.owners();
    verifier.schedule();
    for (id, kernel) in (0..=u16::MAX).map(KernelId).zip(&program.kernels) {
        verifier.kernel(id, kernel);
    }
    if verifier.errors.is_empty() {
        Ok(())
    } else {
        Err(verifier.errors)
    }
}

struct Verifier<'p> {
    program: &'p Program,
    /// Place of the next errors.
    at: Place,
    errors: Vec<VerifyError>,
}

impl<'p> Verifier<'p> {
    fn fail(&mut self, rule: Rule) {
        self.errors.push(VerifyError { at: self.at, rule });
    }

    fn require(&mut self, holds: bool, rule: impl FnOnce() -> Rule) {
        if !holds {
            self.fail(rule());
        }
    }

    fn get<T>(&mut self, table: &'static str, list: &'p [T], id: u16) -> Option<&'p T> {
        let found = list.get(usize::from(id));
        self.require(found.is_some(), || Rule::Id {
            table,
            id,
            count: list.len(),
        });
        found
    }

    fn topology(&mut self, id: TopologyId) -> Option<&'p Topology> {
        self.get("topology", &self.program.topologies, id.0)
    }
    fn buffer(&mut self, id: BufferId) -> Option<&'p Buffer> {
        self.get("buffer", &self.program.buffers, id.0)
    }
    fn frontier(&mut self, id: FrontierId) -> Option<&'p Frontier> {
        self.get("frontier", &self.program.frontiers, id.0)
    }
    fn reduction(&mut self, id: ReductionId) -> Option<&'p Reduction> {
        self.get("reduction", &self.program.reductions, id.0)
    }
    fn scalar(&mut self, id: ScalarId) -> Option<Scalar> {
        self.get("scalar", &self.program.scalars, id.0)
            .map(|s| s.scalar)
    }
    fn constant(&mut self, id: ConstantId) -> Option<Scalar> {
        self.get("constant", &self.program.constants, id.0)
            .map(|c| c.scalar)
    }
    fn wave(&mut self, id: WaveId) -> Option<&'p Wave> {
        self.get("wave", &self.program.waves, id.0)
    }
    fn fixpoint(&mut self, id: FixpointId) -> Option<&'p Fixpoint> {
        self.get("fixpoint", &self.program.fixpoints, id.0)
    }
    fn site(&mut self, id: SiteId) {
        if !self.program.sites.is_empty() {
            self.get("site", &self.program.sites, id.0);
        }
    }

    fn extent(&mut self, extent: Extent) {
        match extent {
            Extent::Fixed(_) | Extent::Nodes | Extent::NodesPlusEdges => {}
            Extent::Constant(id) => {
                if let Some(scalar) = self.constant(id) {
                    let is_length = [Scalar::U32, Scalar::U64].contains(&scalar);
                    self.require(is_length, || Rule::ExtentType(scalar));
                }
            }
            Extent::Scalar(id) => {
                if let Some(scalar) = self.scalar(id) {
                    self.require(scalar == Scalar::U32, || Rule::ExtentType(scalar));
                }
            }
            Extent::Edges(id) => {
                self.topology(id);
            }
        }
    }

    fn resource(&mut self, resource: Resource) {
        match resource {
            Resource::Topology(id) => {
                self.topology(id);
            }
            Resource::Buffer(id) => {
                self.buffer(id);
            }
            Resource::Frontier(id) => {
                self.frontier(id);
            }
            Resource::Reduction(id) => {
                self.reduction(id);
            }
        }
    }

    fn after(&mut self, after: &[NodeRef]) {
        for &node in after {
            match node {
                NodeRef::Wave(id) => {
                    self.wave(id);
                }
                NodeRef::Fixpoint(id) => {
                    self.fixpoint(id);
                }
            }
        }
    }

    fn tables(&mut self) {
        let p = self.program;
        for (table, count) in [
            ("topologies", p.topologies.len()),
            ("buffers", p.buffers.len()),
            ("frontiers", p.frontiers.len()),
            ("reductions", p.reductions.len()),
            ("scalars", p.scalars.len()),
            ("constants", p.constants.len()),
            ("kernels", p.kernels.len()),
            ("waves", p.waves.len()),
            ("fixpoints", p.fixpoints.len()),
            ("sites", p.sites.len()),
        ] {
            let fits = count <= usize::from(u16::MAX) + 1;
            self.require(fits, || Rule::TableLength { table, count });
        }
        for (i, topology) in (0..).zip(&p.topologies) {
            self.at = Place::Topology(TopologyId(i));
            if let Some(of) = topology.reverse_of
                && let Some(of) = self.topology(of)
            {
                self.require(of.reverse_of.is_none(), || Rule::ReverseOfReverse);
            }
        }
        for (i, buffer) in (0..).zip(&p.buffers) {
            self.at = Place::Buffer(BufferId(i));
            self.buffer_row(buffer);
        }
        for (i, frontier) in (0..).zip(&p.frontiers) {
            self.at = Place::Frontier(FrontierId(i));
            self.extent(frontier.capacity);
            if frontier.unique {
                let nodes = frontier.capacity == Extent::Nodes;
                self.require(nodes, || Rule::UniqueCapacity(frontier.capacity));
            }
            frontier.owner.map(|id| self.fixpoint(id));
        }
        for (i, reduction) in (0..).zip(&p.reductions) {
            self.at = Place::Reduction(ReductionId(i));
            let (op, scalar) = (reduction.op, reduction.scalar);
            let bitwise = [ReduceOp::Or, ReduceOp::And].contains(&op);
            let has_op = match scalar {
                Scalar::Bool => bitwise,
                Scalar::U8 => false,
                Scalar::U32 | Scalar::I32 | Scalar::U64 | Scalar::I64 => true,
                Scalar::F32 | Scalar::F64 => !bitwise,
            };
            self.require(has_op, || Rule::ReductionType { op, scalar });
            reduction.owner.map(|id| self.fixpoint(id));
        }
        for (i, constant) in (0..).zip(&p.constants) {
            self.at = Place::Constant(ConstantId(i));
            let (scalar, bits) = (constant.scalar, constant.bits);
            let canonical = match scalar {
                Scalar::Bool => bits <= 1,
                Scalar::U8 => bits <= u8::MAX.into(),
                Scalar::U32 | Scalar::F32 => bits <= u32::MAX.into(),
                Scalar::I32 => bits as i32 as i64 as u64 == bits,
                Scalar::U64 | Scalar::I64 | Scalar::F64 => true,
            };
            self.require(canonical, || Rule::ConstantBits { scalar, bits });
        }
    }

    fn buffer_row(&mut self, buffer: &'p Buffer) {
        self.extent(buffer.extent);
        if buffer.role == Role::Topology {
            let of_session = !matches!(buffer.extent, Extent::Scalar(_));
            self.require(of_session, || Rule::SessionExtent);
        }
        if let Some(init) = buffer.init {
            let filled = [Role::Output, Role::Scratch].contains(&buffer.role);
            self.require(filled, || Rule::InitRole(buffer.role));
            if let Some(constant) = self.constant(init) {
                self.require(constant == buffer.scalar, || Rule::InitType {
                    constant,
                    element: buffer.scalar,
                });
            }
        }
    }

    fn waves_and_fixpoints(&mut self) {
        let p = self.program;
        let expected = p.waves.len() + p.fixpoints.len();
        self.at = Place::Program;
        self.require(p.kernels.len() == expected, || Rule::KernelCount {
            kernels: p.kernels.len(),
            expected,
        });
        for (i, wave) in (0..).zip(&p.waves) {
            self.at = Place::Wave(WaveId(i));
            self.kernel_order(wave.kernel, usize::from(i));
            match wave.domain {
                Domain::Once | Domain::Nodes => {}
                Domain::Range(extent) => self.extent(extent),
                Domain::Items(f) => {
                    self.frontier(f);
                }
                Domain::Edges(t) => {
                    self.topology(t);
                }
                Domain::EdgesFrom(t, f) => {
                    self.topology(t);
                    self.frontier(f);
                }
            }
            for access in &wave.accesses {
                self.resource(access.resource);
            }
            let sorted = wave
                .accesses
                .windows(2)
                .all(|w| w[0].resource < w[1].resource);
            self.require(sorted, || Rule::AccessOrder);
            wave.fixpoint.map(|id| self.fixpoint(id));
            self.after(&wave.after);
        }
        for (i, fixpoint) in (0..).zip(&p.fixpoints) {
            self.at = Place::Fixpoint(FixpointId(i));
            self.kernel_order(fixpoint.until, p.waves.len() + usize::from(i));
            if let Some(parent) = fixpoint.parent {
                self.require(parent.0 < i, || Rule::ParentOrder(parent.0));
            }
            let limited = (1..=u32::MAX.into()).contains(&fixpoint.max_rounds);
            self.require(limited, || Rule::MaxRounds(fixpoint.max_rounds));
            for &(a, b) in &fixpoint.swaps {
                if let (Some(x), Some(y)) = (self.buffer(a), self.buffer(b)) {
                    let alike = (x.scalar, x.extent, x.role) == (y.scalar, y.extent, y.role);
                    self.require(alike && a != b, || Rule::Swap(a.0, b.0));
                }
            }
            self.after(&fixpoint.after);
            self.site(fixpoint.site);
        }
    }

    fn kernel_order(&mut self, actual: KernelId, expected: usize) {
        self.require(actual.index() == expected, || Rule::KernelOrder {
            actual: actual.0,
            expected,
        });
    }

    /// The innermost fixpoint around both places.
    fn common(&self, a: Option<FixpointId>, b: Option<FixpointId>) -> Option<FixpointId> {
        let (mut a, mut b) = (a?, b?);
        while a != b {
            let inner = if a > b { &mut a } else { &mut b };
            *inner = self.program.fixpoints.get(inner.index())?.parent?;
        }
        Some(a)
    }

    fn owners(&mut self) {
        let p = self.program;
        let ordered = (0..)
            .zip(&p.fixpoints)
            .all(|(i, f)| f.parent.is_none_or(|parent| parent.0 < i));
        if !ordered {
            return;
        }
        let mut around: Vec<Option<Option<FixpointId>>> = vec![None; p.frontiers.len()];
        for wave in &p.waves {
            let (Domain::Items(f) | Domain::EdgesFrom(_, f)) = wave.domain else {
                continue;
            };
            if let Some(slot) = around.get(f.index()).copied() {
                let common =
                    slot.map_or(wave.fixpoint, |so_far| self.common(so_far, wave.fixpoint));
                around[f.index()] = Some(common);
            }
        }
        for ((i, frontier), expected) in (0..).zip(&p.frontiers).zip(around) {
            self.at = Place::Frontier(FrontierId(i));
            let actual = frontier.owner;
            if let Some(expected) = expected {
                self.require(actual == expected, || Rule::FrontierOwner {
                    actual,
                    expected,
                });
            }
        }
    }

    fn schedule(&mut self) {
        let p = self.program;
        let mut open: Vec<FixpointId> = Vec::new();
        let mut waves = vec![0u32; p.waves.len()];
        let mut fixpoints = vec![0u32; p.fixpoints.len()];
        for (i, &step) in (0..).zip(&p.schedule) {
            self.at = Place::Step(i);
            match step {
                Step::Wave(id) => {
                    if let Some(wave) = self.wave(id) {
                        waves[id.index()] += 1;
                        self.inside(&open, wave.fixpoint);
                    }
                }
                Step::Barrier => {}
                Step::Loop(id) => {
                    if let Some(fixpoint) = self.fixpoint(id) {
                        fixpoints[id.index()] += 1;
                        self.inside(&open, fixpoint.parent);
                    }
                    open.push(id);
                }
                Step::Until(id) => {
                    self.inside(&open, Some(id));
                    open.pop();
                }
                Step::End => self.inside(&open, None),
            }
        }
        let ends = p.schedule.iter().filter(|&&s| s == Step::End).count();
        self.at = Place::Step(p.schedule.len().saturating_sub(1) as u32);
        let last = p.schedule.last() == Some(&Step::End) && ends == 1;
        self.require(last, || Rule::EndPlace);
        for (i, count) in (0..).zip(waves) {
            self.at = Place::Wave(WaveId(i));
            self.require(count == 1, || Rule::Scheduled(count));
        }
        for (i, count) in (0..).zip(fixpoints) {
            self.at = Place::Fixpoint(FixpointId(i));
            self.require(count == 1, || Rule::Scheduled(count));
        }
    }

    fn inside(&mut self, open: &[FixpointId], expected: Option<FixpointId>) {
        let actual = open.last().copied();
        self.require(actual == expected, || Rule::StepNesting {
            actual,
            expected,
        });
    }

    fn kernel(&mut self, id: KernelId, kernel: &'p Kernel) {
        let p = self.program;
        let wave = p.waves.get(id.index());
        self.at = Place::Kernel(id);
        let rows = kernel.rows;
        self.require(usize::from(rows) <= MAX_ROWS, || Rule::Rows(rows));
        let length = kernel.code.len();
        self.require(length <= MAX_CODE_WORDS, || Rule::CodeLength(length));
        self.uniforms(kernel, wave);
        let assigned = self.item_rows(kernel, wave);
        let mut body = Code {
            kernel,
            id,
            wave,
            assigned,
            blocks: Vec::new(),
            frames: 0,
            max_frames: 0,
            loops: 0,
        };
        for (pc, &word) in (0..).zip(&kernel.code) {
            self.at = Place::Word(id, pc);
            match Op::from_code(word.op) {
                Some(op) => body.word(self, pc, op.row(), word),
                None => self.fail(Rule::Opcode(word.op)),
            }
        }
        for block in std::mem::take(&mut body.blocks) {
            self.at = Place::Word(id, block.opened);
            self.fail(Rule::Unclosed);
        }
        self.at = Place::Kernel(id);
        let ret = if wave.is_some() { Op::Ret } else { Op::RetV };
        let ends = kernel.code.last().is_some_and(|w| w.op == ret as u8);
        self.require(ends, || Rule::LastWord(ret.row().mnemonic));
        let needed = body.max_frames;
        self.require(needed <= MAX_FRAMES.into(), || Rule::TooDeep(needed));
        self.require(needed == kernel.frames.into(), || Rule::Frames {
            declared: kernel.frames,
            needed,
        });
        self.sites(id, kernel);
    }

    fn uniforms(&mut self, kernel: &'p Kernel, wave: Option<&'p Wave>) {
        let count = kernel.uniforms.len();
        self.require(count <= usize::from(u16::MAX), || Rule::TableLength {
            table: "uniforms",
            count,
        });
        for &uniform in &kernel.uniforms {
            match uniform {
                Uniform::Scalar(id) => {
                    self.scalar(id);
                }
                Uniform::Constant(id) => {
                    self.constant(id);
                }
                Uniform::Reduction(id) => {
                    self.reduction(id);
                }
                Uniform::Round => {
                    let outside = wave.is_some_and(|w| w.fixpoint.is_none());
                    self.require(!outside, || Rule::RoundOutside);
                }
                Uniform::FrontierLen(id) => {
                    self.frontier(id);
                    self.require(wave.is_none(), || Rule::FrontierLenInWave);
                }
                Uniform::Nodes => {}
            }
        }
    }

    /// Checks the item rows; they are the registers assigned at the start.
    fn item_rows(&mut self, kernel: &Kernel, wave: Option<&Wave>) -> Assigned {
        let edges =
            wave.is_some_and(|w| matches!(w.domain, Domain::Edges(_) | Domain::EdgesFrom(_, _)));
        let mut assigned = Assigned::NONE;
        let item = kernel.item;
        for (row, exists) in [
            (item.index, wave.is_some()),
            (item.src, edges),
            (item.dst, edges),
        ] {
            let Some(row) = row else { continue };
            let fits = row < kernel.rows && !assigned.has(row);
            self.require(fits, || Rule::ItemRow(row));
            self.require(exists, || Rule::ItemDomain(row));
            assigned.add(row);
        }
        assigned
    }

    fn sites(&mut self, id: KernelId, kernel: &'p Kernel) {
        for pair in kernel.sites.windows(2) {
            self.require(pair[0].0 < pair[1].0, || Rule::SiteOrder(pair[1].0));
        }
        let can_trap = |pc: u32| {
            let word = kernel.code.get(pc as usize);
            let op = word.and_then(|w| Op::from_code(w.op));
            op.is_some_and(|op| op.row().faults != Faults::No)
        };
        for &(pc, site) in &kernel.sites {
            self.require(can_trap(pc), || Rule::IdleSite(pc));
            self.site(site);
        }
        let mut with_site = kernel.sites.iter().map(|&(pc, _)| pc).peekable();
        for pc in (0..kernel.code.len() as u32).filter(|&pc| can_trap(pc)) {
            while with_site.peek().is_some_and(|&at| at < pc) {
                with_site.next();
            }
            self.at = Place::Word(id, pc);
            let found = with_site.peek() == Some(&pc);
            self.require(found, || Rule::NoSite);
        }
    }
}

/// Registers assigned on every path to a place; all of them where no path leads.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Assigned([u64; 4]);

impl Assigned {
    const NONE: Assigned = Assigned([0; 4]);
    const UNREACHABLE: Assigned = Assigned([u64::MAX; 4]);

    fn has(self, row: u8) -> bool {
        self.0[usize::from(row >> 6)] >> (row & 63) & 1 != 0
    }

    fn add(&mut self, row: u8) {
        self.0[usize::from(row >> 6)] |= 1 << (row & 63);
    }

    fn meet(&mut self, other: Assigned) {
        for (a, b) in self.0.iter_mut().zip(other.0) {
            *a &= b;
        }
    }
}

/// An open `if`, `else` or `loop`.
struct Block {
    opened: u32,
    kind: BlockKind,
    /// Of an if: at its start (of the branch not taken). Of an else: at the end of the first branch. Of a loop: at its exits.
    other: Assigned,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum BlockKind {
    If,
    Else,
    Loop,
}

/// One pass over a kernel's words.
struct Code<'p> {
    kernel: &'p Kernel,
    id: KernelId,
    /// `None` for a condition.
    wave: Option<&'p Wave>,
    assigned: Assigned,
    blocks: Vec<Block>,
    frames: u32,
    max_frames: u32,
    loops: u32,
}

impl<'p> Code<'p> {
    fn word(&mut self, v: &mut Verifier<'p>, pc: u32, row: &Row, word: Word) {
        let literal = row.imm == Imm::Literal;
        for (operand, byte, slot) in [('a', word.a, row.a), ('b', word.b, row.b)] {
            self.source(v, operand, byte, slot, literal);
        }
        self.immediate(v, row, word);
        self.effect(v, row.op, word);
        self.flow(v, pc, row.op, word);
        self.destination(v, word.d, row.d);
    }

    fn source(&self, v: &mut Verifier<'p>, operand: char, byte: u8, slot: Slot, literal: bool) {
        let width = match slot {
            Slot::N => return v.require(byte == 0, || Rule::Unused { operand, byte }),
            Slot::W | Slot::OptW => 1,
            Slot::D | Slot::OptD => 2,
        };
        if byte == IMM {
            v.require(literal, || Rule::OperandImmediate(operand));
        } else if byte >= UNIFORM_BASE {
            let slot = u32::from(byte - UNIFORM_BASE);
            let count = self.kernel.uniforms.len().min(MAX_DIRECT_UNIFORMS);
            v.require((slot as usize) < count, || Rule::OperandUniform {
                operand,
                slot,
                count,
            });
        } else {
            for row in self.rows(v, operand, byte, width) {
                v.require(self.assigned.has(row), || Rule::Unassigned(row));
            }
        }
    }

    /// The rows of a register operand; none when they are out of range.
    fn rows(
        &self,
        v: &mut Verifier<'p>,
        operand: char,
        byte: u8,
        width: u8,
    ) -> std::ops::Range<u8> {
        let rows = self.kernel.rows;
        let fits = usize::from(byte) + usize::from(width) <= usize::from(rows).min(MAX_ROWS);
        v.require(fits, || Rule::OperandRow {
            operand,
            byte,
            rows,
        });
        if fits { byte..byte + width } else { 0..0 }
    }

    fn destination(&mut self, v: &mut Verifier<'p>, byte: u8, slot: Slot) {
        let (width, optional) = match slot {
            Slot::N => {
                return v.require(byte == 0, || Rule::Unused { operand: 'd', byte });
            }
            Slot::W => (1, false),
            Slot::D => (2, false),
            Slot::OptW => (1, true),
            Slot::OptD => (2, true),
        };
        if byte == IMM {
            v.require(optional, || Rule::OperandImmediate('d'));
        } else if byte >= UNIFORM_BASE {
            v.fail(Rule::OperandUniform {
                operand: 'd',
                slot: (byte - UNIFORM_BASE).into(),
                count: 0,
            });
        } else {
            for row in self.rows(v, 'd', byte, width) {
                self.assigned.add(row);
            }
        }
    }

    fn immediate(&self, v: &mut Verifier<'p>, row: &Row, word: Word) {
        let imm = word.imm;
        let unused = match row.imm {
            Imm::N => imm,
            Imm::Literal => {
                let a = row.a != Slot::N && word.a == IMM;
                let b = row.b != Slot::N && word.b == IMM;
                if a || b { 0 } else { imm }
            }
            Imm::Third => {
                self.source(v, 'c', word.third(), row.d, false);
                imm >> 8
            }
            Imm::Resource(kind) => {
                self.kind(v, kind, word.resource());
                imm & 0xffff
            }
            Imm::ResourceThird(kind) => {
                self.kind(v, kind, word.resource());
                self.source(v, 'c', word.third(), row.b, false);
                imm & 0xff00
            }
            Imm::Uniform => {
                let count = self.kernel.uniforms.len();
                v.require((imm as usize) < count, || Rule::OperandUniform {
                    operand: 'a',
                    slot: imm,
                    count,
                });
                0
            }
            // Checked with the nesting.
            Imm::Target | Imm::Depth => 0,
            Imm::Code => {
                let known = TrapKind::from_code(imm).is_some();
                v.require(known, || Rule::TrapCode(imm));
                0
            }
        };
        v.require(unused == 0, || Rule::Immediate(imm));
    }

    fn kind(&self, v: &mut Verifier<'p>, kind: Kind, id: u16) {
        let (resource, scalar) = match kind {
            Kind::Topology => {
                v.topology(TopologyId(id));
                return;
            }
            Kind::Frontier => {
                v.frontier(FrontierId(id));
                return;
            }
            Kind::Reduction32 | Kind::Reduction64 => {
                let found = v.reduction(ReductionId(id)).map(|r| r.scalar);
                (Resource::Reduction(ReductionId(id)), found)
            }
            Kind::Buffer8 | Kind::Buffer32 | Kind::Buffer64 | Kind::BufferOf(_) | Kind::Buffer => {
                let found = v.buffer(BufferId(id)).map(|b| b.scalar);
                (Resource::Buffer(BufferId(id)), found)
            }
        };
        let Some(scalar) = scalar else { return };
        let fits = match kind {
            Kind::Buffer8 => scalar.size_bytes() == 1,
            Kind::Buffer32 => scalar.size_bytes() == 4,
            Kind::Buffer64 | Kind::Reduction64 => scalar.size_bytes() == 8,
            Kind::Reduction32 => scalar.size_bytes() == 4 || scalar == Scalar::Bool,
            Kind::BufferOf(exactly) => scalar == exactly,
            Kind::Buffer | Kind::Topology | Kind::Frontier => true,
        };
        v.require(fits, || Rule::ResourceKind {
            resource,
            scalar,
            kind,
        });
    }

    /// Roles, access lists and conditions without side effects.
    fn effect(&self, v: &mut Verifier<'p>, op: Op, word: Word) {
        let id = word.resource();
        let (resource, changes) = match op.row().imm {
            Imm::Resource(kind) | Imm::ResourceThird(kind) => match kind {
                Kind::Topology => return,
                Kind::Frontier => (Resource::Frontier(FrontierId(id)), true),
                Kind::Reduction32 | Kind::Reduction64 => {
                    (Resource::Reduction(ReductionId(id)), true)
                }
                Kind::Buffer => return,
                Kind::Buffer8 | Kind::Buffer32 | Kind::Buffer64 | Kind::BufferOf(_) => {
                    let loads = [Op::Ld8, Op::Ld32, Op::Ld64, Op::AtomLd32, Op::AtomLd64];
                    (Resource::Buffer(BufferId(id)), !loads.contains(&op))
                }
            },
            Imm::N
            | Imm::Literal
            | Imm::Third
            | Imm::Uniform
            | Imm::Target
            | Imm::Depth
            | Imm::Code => return,
        };
        if let Resource::Buffer(id) = resource
            && changes
            && let Some(buffer) = v.program.buffers.get(id.index())
        {
            let writable = [Role::Output, Role::Scratch, Role::InOut].contains(&buffer.role);
            v.require(writable, || Rule::ReadOnly(buffer.role));
        }
        let Some(wave) = self.wave else {
            return v.require(!changes, || Rule::ConditionEffect);
        };
        match wave.accesses.iter().find(|a| a.resource == resource) {
            None => v.fail(Rule::Unlisted(resource)),
            Some(access) => {
                let listed_read = changes && access.mode == Mode::Read;
                v.require(!listed_read, || Rule::ListedRead(resource));
            }
        }
    }

    fn open(&mut self, opened: u32, kind: BlockKind, other: Assigned) {
        self.frames += frames(kind);
        self.max_frames = self.max_frames.max(self.frames);
        self.loops += u32::from(kind == BlockKind::Loop);
        self.blocks.push(Block {
            opened,
            kind,
            other,
        });
    }

    /// Takes the innermost block if it is one of these.
    fn close(&mut self, v: &mut Verifier<'p>, kinds: &[BlockKind]) -> Option<Block> {
        let block = self.blocks.pop_if(|b| kinds.contains(&b.kind));
        match &block {
            Some(b) => {
                self.frames -= frames(b.kind);
                self.loops -= u32::from(b.kind == BlockKind::Loop);
            }
            None => v.fail(Rule::Unopened),
        }
        block
    }

    /// Checks the target that stands in another word.
    fn target(&self, v: &mut Verifier<'p>, of: u32, expected: u32) {
        let actual = self.kernel.code[of as usize].imm;
        let here = v.at;
        v.at = Place::Word(self.id, of);
        v.require(actual == expected, || Rule::Target { actual, expected });
        v.at = here;
    }

    /// A path to a loop's exit.
    fn leave(&mut self, v: &mut Verifier<'p>, depth: u32) {
        let assigned = self.assigned;
        let loops = self.blocks.iter_mut().filter(|b| b.kind == BlockKind::Loop);
        match loops.rev().nth(depth as usize) {
            Some(block) => block.other.meet(assigned),
            None => v.fail(Rule::Depth {
                depth,
                loops: self.loops,
            }),
        }
    }

    fn flow(&mut self, v: &mut Verifier<'p>, pc: u32, op: Op, word: Word) {
        use BlockKind::{Else, If, Loop};
        // Ops not named here fall through to the next word; a new one that does not is caught by the interpreters'
        // exhaustive matches.
        if op == Op::If {
            self.open(pc, If, self.assigned);
        } else if op == Op::Else {
            if let Some(block) = self.close(v, &[If]) {
                self.target(v, block.opened, pc);
                self.open(pc, Else, self.assigned);
                self.assigned = block.other;
            }
        } else if op == Op::EndIf {
            if let Some(block) = self.close(v, &[If, Else]) {
                self.target(v, block.opened, pc);
                self.assigned.meet(block.other);
            }
        } else if op == Op::Loop {
            self.open(pc, Loop, Assigned::UNREACHABLE);
        } else if op == Op::EndLoop {
            if let Some(block) = self.close(v, &[Loop]) {
                self.target(v, block.opened, pc + 1);
                self.target(v, pc, block.opened);
                self.assigned = block.other;
            }
        } else if op == Op::Break {
            self.leave(v, word.imm);
            self.assigned = Assigned::UNREACHABLE;
        } else if op == Op::BreakIf || op == Op::BreakUnless {
            self.leave(v, word.imm);
        } else if op == Op::Continue {
            let (depth, loops) = (word.imm, self.loops);
            v.require(depth < loops, || Rule::Depth { depth, loops });
            self.assigned = Assigned::UNREACHABLE;
        } else if op == Op::Ret || op == Op::RetV {
            let condition = op == Op::RetV;
            let name = if condition { "condition" } else { "wave" };
            v.require(condition == self.wave.is_none(), || Rule::WrongReturn(name));
            self.assigned = Assigned::UNREACHABLE;
        } else if op == Op::Trap {
            self.assigned = Assigned::UNREACHABLE;
        }
    }
}

fn frames(kind: BlockKind) -> u32 {
    match kind {
        BlockKind::If | BlockKind::Else => FRAMES_PER_IF.into(),
        BlockKind::Loop => FRAMES_PER_LOOP.into(),
    }
}
