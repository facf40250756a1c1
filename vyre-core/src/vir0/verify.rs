//! The verifier: which decoded programs may run.
//!
//! A program that verifies never panics a backend and never touches memory outside its buffers: it runs or it traps.
//! Every error is reported, each with its place. The rules are those of `docs/VIR0.md`; in short, every id exists,
//! every word is the one encoding of its instruction, control flow nests, every register is assigned on every path
//! before it is read, each faulting word has a site, and the schedule visits each wave once, inside its own fixpoint.
//!
//! A program without sites is a macro's skeleton: its site ids are not checked against the (still empty) table.
//!
//! ```
//! use vyre_core::vir0::module::{Program, Step};
//! use vyre_core::vir0::verify::{Place, Rule, verify};
//! let mut program = Program { schedule: vec![Step::End], ..Program::default() };
//! assert_eq!(verify(&program), Ok(()));
//! program.schedule.push(Step::Barrier);
//! let errors = verify(&program).unwrap_err();
//! assert_eq!((errors[0].at, &errors[0].rule), (Place::Step(1), &Rule::EndPlace));
//! ```

mod code;

use crate::vir0::group::{Misplaced, misplaced};
use crate::vir0::isa::{Kind, MAX_CODE_WORDS, MAX_FRAMES, MAX_ROWS};
use crate::vir0::length::MAX_TERMS;
use crate::vir0::local::{self, misuses};
use crate::vir0::module::{
    Access, Agreement, Buffer, BufferId, ConstantId, Extent, Fixpoint, FixpointId, FrontierId,
    KernelId, LengthId, MAX_FIELDS, Mode, NodeRef, Portion, Program, Proviso, Queue, QueueId,
    ReduceOp, Reduction, ReductionId, Resource, Role, ScalarId, SiteId, Step, Topology, TopologyId,
    Uniform, Wave, WaveId, Width,
};
use crate::vir0::owner::{Owner, Owners, may_ask, owners};
use crate::vir0::scalar::Scalar;
use std::fmt;
use thiserror::Error;

/// One broken rule.
#[derive(Clone, Error, PartialEq, Eq)]
#[error("{at}: {rule}")]
pub struct VerifyError {
    /// Where.
    pub at: Place,
    /// Which rule, with the offending values.
    #[source]
    pub rule: Rule,
}

crate::debug_is_display!(VerifyError);

/// Part of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// The program itself.
    Program,
    /// A topology.
    Topology(TopologyId),
    /// A buffer.
    Buffer(BufferId),
    /// A queue.
    Queue(QueueId),
    /// A reduction.
    Reduction(ReductionId),
    /// A computed length.
    Length(LengthId),
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
            Place::Queue(id) => write!(f, "{} {}", id.word(), id.number()),
            Place::Reduction(id) => write!(f, "reduction {}", id.0),
            Place::Length(id) => write!(f, "length {}", id.0),
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
#[derive(Clone, Error, PartialEq, Eq)]
pub enum Rule {
    /// Tables are indexed by u16, and a device numbers what is in several of them.
    #[error("{count} {table}; at most {most}")]
    TableLength {
        /// Table, or several.
        table: &'static str,
        /// Its length.
        count: usize,
        /// Allowed.
        most: usize,
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
    /// A computed length has operands for its operations, and few terms.
    #[error("a length of {0} terms that is not one value; lengths have 3 to {max}", max = MAX_TERMS)]
    LengthTerms(usize),
    /// A computed length is made of lengths that are not, and of no rows of bits.
    #[error("a length is computed from {0:?}")]
    LengthValue(Extent),
    /// Rows of bits are words.
    #[error("rows of bits in elements of {0:?}")]
    RowType(Scalar),
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
    /// Only scratch and outputs begin anew: the rest is what the caller gave.
    #[error("a buffer of role {0:?} begins anew")]
    ResetRole(Role),
    /// What begins anew with a round is used in that round alone. An output is read outside, too.
    #[error("begins anew in rounds of fixpoint {}, and kernel {} uses it outside", .0.0, .1.0)]
    ResetOutside(FixpointId, KernelId),
    /// What a swap brings into a buffer is not to be lost, and both begin alike, wherever their memory is.
    #[error("begins anew in rounds, and is swapped in them, or with what does not begin alike")]
    ResetSwap,
    /// A frontier that begins empty as often as it flips holds nothing.
    #[error("begins empty in rounds of {reset:?}, which is not around its owner, {owner:?}")]
    ResetOwner {
        /// What empties it.
        reset: FixpointId,
        /// What flips it.
        owner: Option<FixpointId>,
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
    /// Several pushes of a node to a list of nodes are one.
    #[error("a list of nodes that is not unique")]
    NodeList,
    /// A list never flips and takes items twice, a frontier is no output.
    #[error("a {0} with what only others have")]
    QueueKind(&'static str),
    /// What a wave has swept of a list is known of a list that only grows.
    #[error("sweeps what is new in a list that begins anew in rounds of fixpoint {}", .0.0)]
    ResetNew(FixpointId),
    /// The caller gets what lists hold when the run ends.
    #[error("is part of the result, and begins anew in rounds of fixpoint {}", .0.0)]
    ResetOutput(FixpointId),
    /// A frontier flips in the scope of its sweeps, a reduction resets in that of its updates.
    #[error("owner is {actual:?}; its sweeps or updates lie in {expected:?}")]
    Owner {
        /// As written.
        actual: Option<FixpointId>,
        /// By [`owners`].
        expected: Option<FixpointId>,
    },
    /// One scope owns a frontier or a reduction.
    #[error("waves {} and {} sweep or update it in two scopes", .0.0, .1.0)]
    SplitOwner(WaveId, WaveId),
    /// A condition asks for what its fixpoint or the graph owns.
    #[error("the condition asks for {resource:?} of fixpoint {}", owner.0)]
    AsksElsewhere {
        /// A frontier or a reduction.
        resource: Resource,
        /// The fixpoint that owns it.
        owner: FixpointId,
    },
    /// Items are small, and those of a list have at least one field.
    #[error("items with {0} fields; at most {max}", max = MAX_FIELDS)]
    Fields(usize),
    /// Edges out of nodes, unique nodes, pushes of nodes: other items are none.
    #[error("needs a frontier of nodes; the items of frontier {0} are others")]
    ItemsNotNodes(u16),
    /// Nodes are pushed by `push`.
    #[error("the items of frontier {0} are nodes")]
    ItemsNodes(u16),
    /// A field that the items do not have, or that has another width.
    #[error("field {field} of {resource:?} does not exist or is not {bytes} bytes wide")]
    Field {
        /// List or frontier.
        resource: Resource,
        /// Number of the field.
        field: u16,
        /// Bytes that the instruction stores.
        bytes: u64,
    },
    /// A reserved item has no contents until it is given all of its fields.
    #[error(
        "the item that it reserves of {resource:?} is not given field {field} before the code branches"
    )]
    Unfilled {
        /// List or frontier.
        resource: Resource,
        /// The first such field.
        field: u32,
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
    /// The innermost fixpoint's has a word of its own.
    #[error("reads the round of fixpoint {0}, which is not around its own")]
    OuterRound(u16),
    /// Last in which round?
    #[error("sweeps the last items of a list outside any fixpoint")]
    LastOutside,
    /// The length of a frontier or list is settled at a round's end only.
    #[error("reads a frontier's or a list's length in a wave")]
    FrontierLenInWave,
    /// The last word of a wave is `ret`, of a condition `ret.b32`.
    #[error("does not end in {0}")]
    LastWord(&'static str),
    /// Sites are in code order.
    #[error("the site of word {0} is out of order")]
    SiteOrder(u32),
    /// Messages are in site order, one a site.
    #[error("the message of site {0} is out of order")]
    MessageOrder(u16),
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
    /// A flag is 0 or 1.
    #[error("flag {operand} is {byte}, which is neither 0 nor 1")]
    Flag {
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
    /// A local array outside the kernel's rows, or an empty one.
    #[error("array of {len} elements at row {first} of {rows}")]
    ArrayRows {
        /// First row.
        first: u8,
        /// Elements.
        len: u8,
        /// Rows of the kernel.
        rows: u8,
    },
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
    /// Conditions look at their uniforms only.
    #[error("a condition uses {0:?}; it looks at uniforms only")]
    ConditionUses(Resource),
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
    /// A number that is no [`TrapKind`](crate::vir0::trap::TrapKind) of a kernel.
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
    /// What a local fixpoint is and uses.
    #[error("{why}{}", about(*.of))]
    Local {
        /// The rule.
        why: local::Why,
        /// What it is about.
        of: Option<Resource>,
    },
    /// Bounds of parts are u32 topology buffers, numbered in buffer order, of a graph that is given.
    #[error("these are no bounds of parts")]
    Bounds,
    /// Steps form barrier groups.
    #[error("{0}")]
    Misplaced(Misplaced),
    /// Each wave and fixpoint is scheduled once.
    #[error("is scheduled {0} times")]
    Scheduled(u32),
}

crate::debug_is_display!(Rule);

fn about(of: Option<Resource>) -> String {
    of.map_or(String::new(), |of| format!(": {of:?}"))
}

/// Most entries of a table that a u16 indexes.
const MAX_ENTRIES: usize = u16::MAX as usize + 1;

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
    verifier.locals();
    for (id, kernel) in (0..=u16::MAX).map(KernelId).zip(&program.kernels) {
        verifier.kernel(id, kernel);
    }
    if verifier.errors.is_empty() {
        Ok(())
    } else {
        Err(verifier.errors)
    }
}

/// What a wave lists, if that is in order.
fn listed(wave: &Wave) -> Option<&[Access]> {
    let mut pairs = wave.accesses.windows(2);
    let sorted = pairs.all(|w| w[0].resource < w[1].resource);
    sorted.then_some(&wave.accesses)
}

fn find(listed: &[Access], resource: Resource) -> Option<&Access> {
    let at = listed.binary_search_by_key(&resource, |a| a.resource);
    at.ok().map(|at| &listed[at])
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
    fn queue(&mut self, id: QueueId) -> Option<&'p Queue> {
        let table = match id {
            QueueId::Frontier(_) => &self.program.frontiers,
            QueueId::List(_) => &self.program.lists,
        };
        self.get(id.word(), table, id.number())
    }
    /// A frontier whose items are nodes.
    fn node_frontier(&mut self, id: FrontierId) {
        if let Some(frontier) = self.queue(id.into()) {
            let nodes = frontier.fields.is_empty();
            self.require(nodes, || Rule::ItemsNotNodes(id.0));
        }
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
            Extent::Fixed(_) | Extent::Nodes | Extent::NodesPlusEdges | Extent::NodesTimes(_) => {}
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
            Extent::NodeBits(width) => {
                let scalar = match width {
                    Width::Fixed(_) => None,
                    Width::Constant(id) => self.constant(id),
                    Width::Scalar(id) => self.scalar(id),
                };
                if let Some(scalar) = scalar {
                    self.require(scalar == Scalar::U32, || Rule::ExtentType(scalar));
                }
            }
            Extent::Edges(id) | Extent::Bounds(_, id, _) => {
                self.topology(id);
            }
            Extent::Computed(id) => {
                self.get("length", &self.program.lengths, id.0);
            }
        }
    }

    /// Parts, and fixpoints that each of them runs by itself.
    fn locals(&mut self) {
        let p = self.program;
        let mut parts = 0..=u16::MAX;
        for (id, buffer) in (0..=u16::MAX).map(BufferId).zip(&p.buffers) {
            if let Extent::Bounds(number, of, _) = buffer.extent {
                self.at = Place::Buffer(id);
                let given = p.topologies.get(of.index());
                let given = given.is_some_and(|t| t.reverse_of.is_none());
                let fits = (buffer.role, buffer.scalar) == (Role::Topology, Scalar::U32);
                let next = parts.next() == Some(number.0);
                self.require(given && fits && next, || Rule::Bounds);
            }
        }
        for (i, step) in (0..).zip(&p.schedule) {
            if let Step::Each(_, bounds) = *step {
                self.at = Place::Step(i);
                self.buffer(bounds);
            }
        }
        for misuse in misuses(p) {
            self.at = match misuse.at {
                NodeRef::Wave(w) => Place::Wave(w),
                NodeRef::Fixpoint(f) => Place::Fixpoint(f),
            };
            let (why, of) = (misuse.why, misuse.of);
            self.fail(Rule::Local { why, of });
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
            Resource::Reduction(id) => {
                self.reduction(id);
            }
            Resource::Queue(id) => {
                self.queue(id);
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

    /// What `PLAN` says names what is there.
    fn agreement(&mut self, agreement: &'p Agreement) {
        match agreement {
            Agreement::Bits => {}
            Agreement::Result(fixpoints) => {
                for least in fixpoints {
                    self.fixpoint(least.fixpoint);
                    for proviso in &least.provisos {
                        match *proviso {
                            Proviso::NoWrap(wave) | Proviso::NoNan(wave) => {
                                self.wave(wave);
                            }
                            Proviso::First(wave, constant, _) => {
                                self.wave(wave);
                                self.constant(constant);
                            }
                        }
                    }
                }
            }
            Agreement::Open(reasons) => {
                for reason in reasons {
                    self.wave(reason.wave);
                    if let Some(resource) = reason.resource {
                        self.resource(resource);
                    }
                    if let Some(site) = reason.site {
                        self.site(site);
                    }
                }
            }
        }
    }

    fn tables(&mut self) {
        let p = self.program;
        let queues = p.queues().count();
        let uniforms = p.kernels.iter().map(|k| k.uniforms.len()).sum();
        let swaps = p.fixpoints.iter().map(|f| f.swaps.len()).sum();
        for (table, count, most) in [
            ("topologies", p.topologies.len(), MAX_ENTRIES),
            ("buffers", p.buffers.len(), MAX_ENTRIES),
            ("frontiers and lists", queues, MAX_ENTRIES),
            ("reductions", p.reductions.len(), MAX_ENTRIES),
            ("scalars", p.scalars.len(), MAX_ENTRIES),
            ("lengths", p.lengths.len(), MAX_ENTRIES),
            ("constants", p.constants.len(), MAX_ENTRIES),
            // The last number is that of no kernel: a device reports the end of rounds with it.
            ("kernels", p.kernels.len(), MAX_ENTRIES - 1),
            ("waves", p.waves.len(), MAX_ENTRIES),
            ("fixpoints", p.fixpoints.len(), MAX_ENTRIES),
            ("swaps", swaps, MAX_ENTRIES),
            ("uniforms of all kernels", uniforms, 16 * MAX_ENTRIES),
            ("sites", p.sites.len(), MAX_ENTRIES),
        ] {
            self.require(count <= most, || Rule::TableLength { table, count, most });
        }
        self.agreement(&p.agreement);
        for claim in &p.manifest.claims {
            self.resource(claim.result);
        }
        for pair in p.messages.windows(2) {
            self.require(pair[0].0 < pair[1].0, || Rule::MessageOrder(pair[1].0.0));
        }
        for &(site, _) in &p.messages {
            self.site(site);
        }
        for (i, topology) in (0..=u16::MAX).zip(&p.topologies) {
            self.at = Place::Topology(TopologyId(i));
            if let Some(of) = topology.reverse_of
                && let Some(of) = self.topology(of)
            {
                self.require(of.reverse_of.is_none(), || Rule::ReverseOfReverse);
            }
        }
        for (i, buffer) in (0..=u16::MAX).zip(&p.buffers) {
            self.at = Place::Buffer(BufferId(i));
            self.buffer_row(buffer);
            if let Some(reset) = buffer.reset {
                let filled = matches!(buffer.role, Role::Output | Role::Scratch);
                self.require(filled, || Rule::ResetRole(buffer.role));
                self.reset(Resource::Buffer(BufferId(i)), reset);
                self.swaps_alike(BufferId(i), reset);
            }
        }
        for (id, queue) in p.queues() {
            self.at = Place::Queue(id);
            self.queue_row(id, queue);
        }
        for (i, reduction) in (0..=u16::MAX).zip(&p.reductions) {
            self.at = Place::Reduction(ReductionId(i));
            let (op, scalar) = (reduction.op, reduction.scalar);
            let bitwise = [ReduceOp::Or, ReduceOp::And].contains(&op);
            let has_op = match scalar {
                Scalar::Bool => bitwise,
                Scalar::U8 => false,
                Scalar::U32 | Scalar::I32 | Scalar::U64 | Scalar::I64 => op != ReduceOp::ExactSum,
                Scalar::F32 | Scalar::F64 => !bitwise,
            };
            self.require(has_op, || Rule::ReductionType { op, scalar });
            reduction.owner.map(|id| self.fixpoint(id));
        }
        for (i, length) in (0..=u16::MAX).zip(&p.lengths) {
            self.at = Place::Length(LengthId(i));
            let count = length.terms.len();
            let fits = (3..=MAX_TERMS).contains(&count) && length.is_whole();
            self.require(fits, || Rule::LengthTerms(count));
            for value in length.values() {
                match value {
                    Extent::Computed(_) | Extent::NodeBits(_) => {
                        self.fail(Rule::LengthValue(value));
                    }
                    value => self.extent(value),
                }
            }
        }
        for (i, constant) in (0..=u16::MAX).zip(&p.constants) {
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

    fn queue_row(&mut self, id: QueueId, queue: &'p Queue) {
        let p = self.program;
        self.extent(queue.capacity);
        let fields = queue.fields.len();
        let least = match id {
            QueueId::Frontier(_) => 0,
            QueueId::List(_) => 1,
        };
        let fits = (least..=MAX_FIELDS).contains(&fields);
        self.require(fits, || Rule::Fields(fields));
        if queue.unique {
            self.require(fields == 0, || Rule::ItemsNotNodes(id.number()));
            let nodes = queue.capacity == Extent::Nodes;
            self.require(nodes, || Rule::UniqueCapacity(queue.capacity));
        }
        let own = match id {
            QueueId::Frontier(_) => {
                self.require(queue.unique || !queue.stays, || Rule::NodeList);
                !queue.output
            }
            QueueId::List(_) => queue.stays && !queue.unique && queue.owner.is_none(),
        };
        self.require(own, || Rule::QueueKind(id.word()));
        queue.owner.map(|id| self.fixpoint(id));
        let Some(reset) = queue.reset else { return };
        let owner = queue.owner;
        let around = owner.is_some_and(|o| o != reset && p.is_within(owner, reset));
        self.require(around || queue.stays, || Rule::ResetOwner { reset, owner });
        self.require(!queue.output, || Rule::ResetOutput(reset));
        let new = |w: &Wave| {
            let list = w.domain.list();
            list.is_some_and(|(l, portion)| portion.goes_on() && id == l.into())
        };
        self.require(!p.waves.iter().any(new), || Rule::ResetNew(reset));
        self.reset(id.into(), reset);
    }

    fn buffer_row(&mut self, buffer: &'p Buffer) {
        self.extent(buffer.extent);
        if let Extent::NodeBits(_) = buffer.extent {
            let scalar = buffer.scalar;
            self.require(scalar == Scalar::U32, || Rule::RowType(scalar));
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

    /// What begins anew in rounds of a fixpoint is used in no wave outside, but for reads of outputs, and no condition
    /// outside asks for it.
    fn reset(&mut self, resource: Resource, fixpoint: FixpointId) {
        let p = self.program;
        if self.fixpoint(fixpoint).is_none() {
            return;
        }
        let output = match resource {
            Resource::Buffer(b) => p.buffers[b.index()].role == Role::Output,
            _ => false,
        };
        let uses = |w: &Wave| {
            let mut accesses = w.accesses.iter();
            accesses.any(|a| a.resource == resource && !(output && a.mode == Mode::Read))
        };
        let outside = |w: &&Wave| uses(w) && !p.is_within(w.fixpoint, fixpoint);
        if let Some(wave) = p.waves.iter().find(outside) {
            self.fail(Rule::ResetOutside(fixpoint, wave.kernel));
        }
        let asks = |until: KernelId| {
            let uniforms = p.kernels.get(until.index()).map(|k| k.uniforms.iter());
            uniforms.is_some_and(|mut u| u.any(|u| u.asks() == Some(resource)))
        };
        let conditions = (0..=u16::MAX).map(FixpointId).zip(&p.fixpoints);
        let mut outside = conditions.filter(|(f, _)| !p.is_within(Some(*f), fixpoint));
        if let Some((_, around)) = outside.find(|(_, f)| asks(f.until)) {
            self.fail(Rule::ResetOutside(fixpoint, around.until));
        }
    }

    /// A buffer that begins anew trades places only inside the fixpoint whose rounds reset it, and with one that begins
    /// alike: which memory belongs to which of the two is known only when a round has begun.
    fn swaps_alike(&mut self, id: BufferId, reset: FixpointId) {
        let p = self.program;
        let init = |b: &Buffer| {
            let constant = b.init.and_then(|c| p.constants.get(c.index()));
            (b.reset, constant.map_or(0, |c| c.bits))
        };
        let own = p.buffers.get(id.index()).map(init);
        for (f, fixpoint) in (0..=u16::MAX).map(FixpointId).zip(&p.fixpoints) {
            for &(a, b) in &fixpoint.swaps {
                let other = match id {
                    id if id == a => b,
                    id if id == b => a,
                    _ => continue,
                };
                let inside = f != reset && p.is_within(Some(f), reset);
                let alike = p.buffers.get(other.index()).map(init) == own;
                self.require(inside && alike, || Rule::ResetSwap);
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
        for (i, wave) in (0..=u16::MAX).zip(&p.waves) {
            self.at = Place::Wave(WaveId(i));
            self.kernel_order(wave.kernel, usize::from(i));
            if let Some(len) = wave.domain.count() {
                self.extent(len);
            }
            match (wave.domain.topology(), wave.domain.frontier()) {
                (None, _) => {
                    wave.domain.queue().map(|q| self.queue(q));
                }
                (Some(t), frontier) => {
                    self.topology(t);
                    if let Some(f) = frontier {
                        self.node_frontier(f);
                    }
                }
            }
            for access in &wave.accesses {
                self.resource(access.resource);
            }
            match listed(wave) {
                None => self.fail(Rule::AccessOrder),
                Some(listed) => {
                    for resource in wave.domain.reads() {
                        let found = find(listed, resource).is_some();
                        self.require(found, || Rule::Unlisted(resource));
                    }
                }
            }
            if let Some((_, Portion::Last)) = wave.domain.list() {
                self.require(wave.fixpoint.is_some(), || Rule::LastOutside);
            }
            wave.fixpoint.map(|id| self.fixpoint(id));
            self.after(&wave.after);
        }
        for (i, fixpoint) in (0..=u16::MAX).zip(&p.fixpoints) {
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

    fn owners(&mut self) {
        let p = self.program;
        let Owners {
            frontiers,
            reductions,
        } = owners(p);
        for ((i, frontier), owner) in (0..=u16::MAX).zip(&p.frontiers).zip(frontiers) {
            self.at = Place::Queue(FrontierId(i).into());
            self.owner(frontier.owner, owner);
        }
        for ((i, reduction), owner) in (0..=u16::MAX).zip(&p.reductions).zip(reductions) {
            self.at = Place::Reduction(ReductionId(i));
            self.owner(reduction.owner, owner);
        }
        for (id, fixpoint) in (0..=u16::MAX).map(FixpointId).zip(&p.fixpoints) {
            self.at = Place::Fixpoint(id);
            let until = p.kernels.get(fixpoint.until.index());
            for uniform in until.into_iter().flat_map(|k| &k.uniforms) {
                let (resource, owner) = match *uniform {
                    Uniform::Len(q) => (Resource::Queue(q), p.queue(q).and_then(|x| x.owner)),
                    Uniform::Reduction(r) => (
                        Resource::Reduction(r),
                        p.reductions.get(r.index()).and_then(|x| x.owner),
                    ),
                    Uniform::Scalar(_)
                    | Uniform::Constant(_)
                    | Uniform::Round
                    | Uniform::OuterRound(_)
                    | Uniform::Began(_)
                    | Uniform::Nodes => continue,
                };
                if let Some(owner) = owner {
                    let may = may_ask(id, (resource, Some(owner)), |f| p.is_within(Some(id), f));
                    self.require(may, || Rule::AsksElsewhere { resource, owner });
                }
            }
        }
    }

    fn owner(&mut self, actual: Option<FixpointId>, by_waves: Owner) {
        match by_waves {
            Owner::Scope(expected) => {
                self.require(actual == expected, || Rule::Owner { actual, expected });
            }
            Owner::Split(first, other) => {
                self.require(false, || Rule::SplitOwner(first, other));
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
                Step::Loop(id) | Step::Each(id, _) => {
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
        for (at, wrong) in misplaced(&p.schedule) {
            self.at = Place::Step(at as u32);
            self.fail(Rule::Misplaced(wrong));
        }
        for (i, count) in (0..=u16::MAX).zip(waves) {
            self.at = Place::Wave(WaveId(i));
            self.require(count == 1, || Rule::Scheduled(count));
        }
        for (i, count) in (0..=u16::MAX).zip(fixpoints) {
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
}
