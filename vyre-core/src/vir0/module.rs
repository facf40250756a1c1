//! A VIR0 program: what the macro emits, the host verifies and backends execute.
//!
//! [`Program`] is the decoded form; [`encode`](crate::vir0::container::encode) and
//! [`decode`](crate::vir0::container::decode) are its one byte format. An id, such as [`WaveId`] or [`BufferId`], is an
//! index into the program's table of that kind, in the order of declaration.

use crate::vir0::isa::Word;
use crate::vir0::length::Length;
use crate::vir0::manifest::Manifest;
use crate::vir0::scalar::{Scalar, ScalarType};
use crate::vir0::trap::{Site, TrapKind};
use std::cmp::Ordering;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u16);
        impl $name {
            /// As a table index.
            pub const fn index(self) -> usize { self.0 as usize }
        }
    )*};
}

ids! {
    /// Index into [`Program::topologies`].
    TopologyId;
    /// Index into [`Program::buffers`].
    BufferId;
    /// Index into [`Program::frontiers`].
    FrontierId;
    /// Index into [`Program::lists`].
    ListId;
    /// Index into [`Program::reductions`].
    ReductionId;
    /// Index into [`Program::scalars`].
    ScalarId;
    /// Index into [`Program::constants`].
    ConstantId;
    /// Index into [`Program::lengths`].
    LengthId;
    /// Index into [`Program::waves`] (source order; nested waves too).
    WaveId;
    /// Index into [`Program::fixpoints`] (source order; an outer one before its inner ones).
    FixpointId;
    /// Index into [`Program::kernels`]: waves first, in wave order, then `until` conditions in fixpoint order.
    KernelId;
    /// Index into [`Program::sites`].
    SiteId;
    /// Position among the buffers of [`Extent::Bounds`], in buffer order.
    PartsId;
}

/// The round limit of a fixpoint that states none. One that never settles ends in a trap, after seconds where its
/// rounds are short. A search takes a round for each step to its farthest node.
pub const MAX_ROUNDS: u64 = 1_000_000;

/// Most fields of an item of a list or a frontier: structs are flattened, field by field.
pub const MAX_FIELDS: usize = 8;

/// A size that is symbolic at compile time; resolved against the real sizes when a session is created or run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Extent {
    /// A literal number of elements.
    Fixed(u64),
    /// A named constant (u32 or u64).
    Constant(ConstantId),
    /// A u32 scalar of the run.
    Scalar(ScalarId),
    /// The number of nodes.
    Nodes,
    /// The number of edges of a topology.
    Edges(TopologyId),
    /// Nodes plus the edges of every topology: the default capacity of a frontier.
    NodesPlusEdges,
    /// This number for each node, but no more than [`Extent::NodesPlusEdges`]: what is proven of a frontier's pushes
    /// (`crate::compile::room`).
    NodesTimes(u32),
    /// A row of bits for each node, in u32 words: nodes times [`row_words`].
    NodeBits(Width),
    /// A length that is computed from others.
    Computed(LengthId),
    /// Where the parts of a topology begin, and where the last one ends: one element more than there are parts. Edges
    /// that cross parts are refused; if the flag is set, they are left out inside ([`crate::vir0::local`]).
    Bounds(PartsId, TopologyId, bool),
}

/// Bits of a row of [`Extent::NodeBits`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Width {
    /// A literal.
    Fixed(u32),
    /// A named constant (u32).
    Constant(ConstantId),
    /// A u32 scalar of the run.
    Scalar(ScalarId),
}

/// Words of a row of this many bits. Rows are next to each other; bit `b` is bit `b % 32` of word `b / 32`.
pub const fn row_words(width: u32) -> u32 {
    width.div_ceil(u32::BITS)
}

/// Who fills a buffer, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Role {
    /// Filled once per session, read-only (edge weights).
    Topology = 0,
    /// Filled by the caller for every run, read-only.
    Input = 1,
    /// Initialised at the start of every run, read back at its end.
    Output = 2,
    /// Initialised at the start of every run, never read back.
    Scratch = 3,
    /// Filled by the caller for every run and read back (a standalone kernel's `&mut T`).
    InOut = 4,
}

/// A CSR topology over the pass's node set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topology {
    /// Field name.
    pub name: String,
    /// Built by the runtime as the reverse of another topology.
    pub reverse_of: Option<TopologyId>,
}

/// A typed array in device memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// Field name.
    pub name: String,
    /// Element type.
    pub scalar: Scalar,
    /// Number of elements.
    pub extent: Extent,
    /// Who fills it.
    pub role: Role,
    /// Value of every element at the start of a run (outputs and scratch); `None` is zero.
    pub init: Option<ConstantId>,
    /// Every element is `init` again when a round of this fixpoint begins. All waves that use it are in that fixpoint;
    /// those that read an output may stand outside.
    pub reset: Option<FixpointId>,
}

impl Buffer {
    /// What the name of a buffer with the offsets of rows has behind that of its field. The buffer behind it has their
    /// values.
    pub const OFFSETS: &str = ":offsets";
    /// The same of a buffer with the values of rows.
    pub const VALUES: &str = ":values";
    /// The same of the table of a relation, behind the name of its list.
    pub const TABLE: &str = ":table";

    /// Whether it says where rows of differing lengths begin, and the last one ends.
    pub fn is_offsets(&self) -> bool {
        self.name.ends_with(Buffer::OFFSETS)
    }

    /// Whether it is the table of a relation.
    pub fn is_table(&self) -> bool {
        self.name.ends_with(Buffer::TABLE)
    }

    /// The field of structs that this holds one scalar of: `ps` of `ps.pos.0`. `None`: its elements are a field's own.
    pub fn of_structs(&self) -> Option<&str> {
        self.name.split_once('.').map(|(field, _)| field)
    }

    /// The field that it is of.
    pub fn field(&self) -> &str {
        let ends = [Buffer::OFFSETS, Buffer::VALUES, Buffer::TABLE];
        let mut fields = ends.iter().filter_map(|end| self.name.strip_suffix(end));
        let name = fields.next().unwrap_or(&self.name);
        name.split_once('.').map_or(name, |(field, _)| field)
    }
}

/// What waves add items to and sweep: a row of [`Program::frontiers`] or of [`Program::lists`].
///
/// A *frontier* has two sides: what is pushed becomes the items of the round after it. What a *list* is given stays until
/// the run ends, or a round of the fixpoint that resets it; a sweep sees the items that were there when it began. Each
/// backend keeps one array for each field.
///
/// | | [`fields`](Queue::fields) | [`unique`](Queue::unique) | [`stays`](Queue::stays) |
/// | --- | --- | --- | --- |
/// | a frontier of nodes | none | or not | no |
/// | a frontier of other items | 1 to [`MAX_FIELDS`] | no | no |
/// | a list of nodes, which is a row of the frontiers | none | yes | yes |
/// | a list | 1 to [`MAX_FIELDS`] | no | yes |
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Queue {
    /// Field name.
    pub name: String,
    /// Types of an item's fields; empty: the items are nodes.
    pub fields: Vec<Scalar>,
    /// Items it can hold.
    pub capacity: Extent,
    /// What is added twice counts once: in one round where it flips, else at all. Capacity is `Nodes`.
    pub unique: bool,
    /// It never flips, and what one group added is swept by the groups after it. A list of nodes is swept in every
    /// scope.
    pub stays: bool,
    /// The innermost fixpoint that encloses all its sweeps; it flips at the start of each of its rounds. `None` where it
    /// never flips.
    pub owner: Option<FixpointId>,
    /// Its items are part of the run's output.
    pub output: bool,
    /// It is empty again when a round of this fixpoint begins, which is around the owner, or whichever where it stays.
    /// All waves that use it are in that fixpoint, and none of them sweeps only what it has not swept.
    pub reset: Option<FixpointId>,
}

impl Queue {
    /// Bytes of an item on one side.
    pub fn item_bytes(&self) -> u64 {
        match self.fields.as_slice() {
            [] => 4,
            fields => fields.iter().map(|f| f.size_bytes()).sum(),
        }
    }

    /// Bytes of an item that is put together, at most: each scalar may be padded to the widest one.
    pub fn row_bytes(&self) -> u64 {
        match self.fields.as_slice() {
            [] => 4,
            fields => put_together_bytes(fields),
        }
    }
}

/// Bytes of a struct of these scalars, at most: each may be padded to the widest one.
pub fn put_together_bytes(fields: &[Scalar]) -> u64 {
    let sizes = fields.iter().map(|f| f.size_bytes());
    sizes.max().unwrap_or(0) * fields.len() as u64
}

/// What a reduction or an atomic update does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum ReduceOp {
    /// Sum; integers wrap.
    Sum = 0,
    /// Smallest.
    Min = 1,
    /// Largest.
    Max = 2,
    /// Bitwise (or boolean) or.
    Or = 3,
    /// Bitwise (or boolean) and.
    And = 4,
    /// Sum of floats, rounded once: [`exact`](crate::vir0::exact).
    ExactSum = 5,
}

impl ReduceOp {
    /// Raw bits of the value that changes nothing: what a reduction is reset to.
    pub const fn identity(self, scalar: Scalar) -> u64 {
        match self {
            ReduceOp::Sum | ReduceOp::ExactSum | ReduceOp::Or => 0,
            ReduceOp::Min => match scalar {
                Scalar::Bool => 1,
                Scalar::U8 => u8::MAX as u64,
                Scalar::U32 => u32::MAX as u64,
                Scalar::I32 => i32::MAX as u64,
                Scalar::F32 => f32::INFINITY.to_bits() as u64,
                Scalar::U64 => u64::MAX,
                Scalar::I64 => i64::MAX as u64,
                Scalar::F64 => f64::INFINITY.to_bits(),
            },
            ReduceOp::Max => match scalar {
                Scalar::Bool | Scalar::U8 | Scalar::U32 | Scalar::U64 => 0,
                Scalar::I32 => i32::MIN as i64 as u64,
                Scalar::F32 => f32::NEG_INFINITY.to_bits() as u64,
                Scalar::I64 => i64::MIN as u64,
                Scalar::F64 => f64::NEG_INFINITY.to_bits(),
            },
            ReduceOp::And => match scalar {
                Scalar::Bool => 1,
                Scalar::U8 => u8::MAX as u64,
                Scalar::U32 | Scalar::F32 => u32::MAX as u64,
                Scalar::I32 | Scalar::U64 | Scalar::I64 | Scalar::F64 => u64::MAX,
            },
        }
    }

    /// Takes `x` into a reduction that stands at `total`; raw bits. What an exact sum stands at is more than a value
    /// ([`Total`](crate::vir0::exact::Total)): this rounds it.
    pub fn combine(self, scalar: Scalar, total: u64, x: u64) -> u64 {
        macro_rules! by_type {
            ($f:ident: $($variant:ident $ty:ty),*) => {
                match scalar {
                    $(Scalar::$variant => {
                        let f: fn($ty, $ty) -> $ty = |a, b| $f!($variant, a, b);
                        f(<$ty>::from_bits64(total), <$ty>::from_bits64(x)).to_bits64()
                    })*
                }
            };
            ($f:ident) => {
                by_type!($f: Bool bool, U8 u8, U32 u32, I32 i32, F32 f32, U64 u64, I64 i64, F64 f64)
            };
        }
        macro_rules! sum {
            (Bool, $a:ident, $b:ident) => {
                $a | $b
            };
            (F32, $a:ident, $b:ident) => {
                $a + $b
            };
            (F64, $a:ident, $b:ident) => {
                $a + $b
            };
            ($other:ident, $a:ident, $b:ident) => {
                $a.wrapping_add($b)
            };
        }
        macro_rules! min {
            ($other:ident, $a:ident, $b:ident) => {
                $a.min($b)
            };
        }
        macro_rules! max {
            ($other:ident, $a:ident, $b:ident) => {
                $a.max($b)
            };
        }
        match self {
            ReduceOp::Sum | ReduceOp::ExactSum => by_type!(sum),
            ReduceOp::Min => by_type!(min),
            ReduceOp::Max => by_type!(max),
            ReduceOp::Or => scalar_bits(scalar, total | x),
            ReduceOp::And => scalar_bits(scalar, total & x),
        }
    }
}

/// Raw bits as the container stores them: an i32 is sign-extended.
fn scalar_bits(scalar: Scalar, bits: u64) -> u64 {
    match scalar {
        Scalar::I32 => bits as u32 as i32 as i64 as u64,
        _ => bits,
    }
}

/// A grid-wide reduction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reduction {
    /// Field name.
    pub name: String,
    /// Operation. `count` is a u64 sum of ones.
    pub op: ReduceOp,
    /// Value type.
    pub scalar: Scalar,
    /// It resets at the start of each round of this fixpoint; `None`: at the start of the run.
    pub owner: Option<FixpointId>,
    /// Its value is part of the run's output.
    pub output: bool,
}

/// A uniform scalar that the caller sets for every run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScalarParam {
    /// Field name; `x.len()` of a length that is not declared, because it is that of the caller's slice.
    pub name: String,
    /// Type.
    pub scalar: Scalar,
}

impl ScalarParam {
    /// Whether it is how many values rows of differing lengths have, as lengths say it: `row(text)`.
    pub fn counts_values(&self) -> bool {
        self.name.starts_with("row(")
    }

    /// Whether it is the length of the caller's slice, and no field.
    pub fn is_length(&self) -> bool {
        self.name.ends_with(".len()")
    }
}

/// A value of the constant pool, as 64 raw bits (floats by `to_bits`, bools 0 or 1, i32 sign-extended).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Constant {
    /// Type.
    pub scalar: Scalar,
    /// Raw bits, zero-extended to 64 for 32-bit types except i32 (sign-extended).
    pub bits: u64,
}

/// Where a kernel's uniform slot gets its value, once per sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Uniform {
    /// A scalar of the run.
    Scalar(ScalarId),
    /// A constant of the pool.
    Constant(ConstantId),
    /// A finished reduction.
    Reduction(ReductionId),
    /// Round of the innermost fixpoint, u32 from 0.
    Round,
    /// Round of a fixpoint around the innermost one, u32 from 0.
    OuterRound(FixpointId),
    /// Items of a queue, u32: of a frontier those that wait (pushed since the last flip).
    Len(QueueId),
    /// Items of a list when the round of the innermost fixpoint began, u32. Only in a fixpoint.
    Began(ListId),
    /// Number of nodes, u32.
    Nodes,
}

impl Uniform {
    /// The queue or reduction that it is about.
    pub fn asks(self) -> Option<Resource> {
        match self {
            Uniform::Reduction(r) => Some(Resource::Reduction(r)),
            Uniform::Len(q) => Some(Resource::Queue(q)),
            Uniform::Began(l) => Some(l.into()),
            Uniform::Scalar(_)
            | Uniform::Constant(_)
            | Uniform::Round
            | Uniform::OuterRound(_)
            | Uniform::Nodes => None,
        }
    }
}

/// Where the operator puts the work item before the code starts; `None`: the kernel does not use it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ItemRows {
    /// Node, index or node of a frontier; for edges, the edge's index; for other items, their position.
    pub index: Option<u8>,
    /// Source node of an edge.
    pub src: Option<u8>,
    /// Destination node of an edge.
    pub dst: Option<u8>,
    /// Fields of an item of a list, or of a frontier whose items are not nodes.
    pub fields: [Option<u8>; MAX_FIELDS],
}

/// One compiled body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// Function name, as traps print it.
    pub name: String,
    /// Code; the last word is `ret` (of a condition: `ret.b32`).
    pub code: Vec<Word>,
    /// Register rows used.
    pub rows: u8,
    /// Mask frames used.
    pub frames: u8,
    /// Work-item rows.
    pub item: ItemRows,
    /// Uniform slots.
    pub uniforms: Vec<Uniform>,
    /// Site of each word that can trap: strictly increasing pc.
    pub sites: Vec<(u32, SiteId)>,
}

/// What a wave sweeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Domain {
    /// One item, index 0.
    Once,
    /// Indices `0..n`.
    Range(Extent),
    /// Every node.
    Nodes,
    /// The items of a frontier.
    Items(FrontierId),
    /// Items of a list, as far as it holds them when the sweep begins.
    ListItems(ListId, Portion),
    /// Every edge of a topology.
    Edges(TopologyId),
    /// Every edge out of the items of a frontier.
    EdgesFrom(TopologyId, FrontierId),
}

/// Which items of a list a wave sweeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Portion {
    /// All that it holds when the sweep begins.
    All,
    /// Of these, those that this wave has not swept in this run.
    New,
    /// Of those that it held when the round of the innermost fixpoint began, those that this wave has not swept in this
    /// run. Only in a fixpoint.
    Last,
}

impl Portion {
    /// As it stands behind the list in `items(..)`; `None`: nothing does.
    pub const fn word(self) -> Option<&'static str> {
        match self {
            Portion::All => None,
            Portion::New => Some("new"),
            Portion::Last => Some("last"),
        }
    }

    /// Whether what this wave has swept before is left out.
    pub const fn goes_on(self) -> bool {
        match self {
            Portion::All => false,
            Portion::New | Portion::Last => true,
        }
    }
}

/// What the rest of the house knows about domains. A new one answers here, and then only what sweeps it needs more.
impl Domain {
    /// How many consecutive numbers from 0 on a sweep goes through; `None` where a frontier, a list or a topology has
    /// the items. Every domain has one or the other.
    pub fn count(self) -> Option<Extent> {
        match self {
            Domain::Once => Some(Extent::Fixed(1)),
            Domain::Range(len) => Some(len),
            Domain::Nodes => Some(Extent::Nodes),
            Domain::Items(_) | Domain::ListItems(..) | Domain::Edges(_) | Domain::EdgesFrom(..) => {
                None
            }
        }
    }

    /// The topology whose edges are the items.
    pub fn topology(self) -> Option<TopologyId> {
        match self {
            Domain::Edges(t) | Domain::EdgesFrom(t, _) => Some(t),
            Domain::Once
            | Domain::Range(_)
            | Domain::Nodes
            | Domain::Items(_)
            | Domain::ListItems(..) => None,
        }
    }

    /// The frontier that is swept: its items, or the edges out of them.
    pub fn frontier(self) -> Option<FrontierId> {
        match self {
            Domain::Items(f) | Domain::EdgesFrom(_, f) => Some(f),
            Domain::Once
            | Domain::Range(_)
            | Domain::Nodes
            | Domain::ListItems(..)
            | Domain::Edges(_) => None,
        }
    }

    /// The list that is swept, and which of its items.
    pub fn list(self) -> Option<(ListId, Portion)> {
        match self {
            Domain::ListItems(l, portion) => Some((l, portion)),
            Domain::Once
            | Domain::Range(_)
            | Domain::Nodes
            | Domain::Items(_)
            | Domain::Edges(_)
            | Domain::EdgesFrom(..) => None,
        }
    }

    /// The queue that is swept: its items, or the edges out of them.
    pub fn queue(self) -> Option<QueueId> {
        let frontier = self.frontier().map(QueueId::Frontier);
        frontier.or(self.list().map(|(l, _)| QueueId::List(l)))
    }

    /// What a sweep reads to find its items: the topology, then the queue.
    pub fn reads(self) -> impl Iterator<Item = Resource> {
        let topology = self.topology().map(Resource::Topology);
        topology
            .into_iter()
            .chain(self.queue().map(Resource::Queue))
    }

    /// Types of the fields of an item; none where the items are numbers or edges.
    pub fn fields(self, program: &Program) -> &[Scalar] {
        let queue = self.queue().filter(|_| self.topology().is_none());
        let queue = queue.and_then(|q| program.queue(q));
        queue.map_or(&[], |queue| &queue.fields)
    }

    /// Whether an index belongs to one item of a sweep. The one lane of `once` has the index of no element.
    pub fn owns_indices(self, program: &Program) -> bool {
        match self {
            Domain::Range(_) | Domain::Nodes | Domain::Edges(_) => true,
            Domain::Items(f) | Domain::EdgesFrom(_, f) => {
                program.frontiers.get(f.index()).is_some_and(|f| f.unique)
            }
            Domain::Once | Domain::ListItems(..) => false,
        }
    }

    /// What has an element for each index that an item can have; `None` where that is no node, edge or number of a
    /// range.
    pub fn indices(self, program: &Program) -> Option<Extent> {
        match self {
            Domain::Nodes => Some(Extent::Nodes),
            Domain::Range(len) => Some(len),
            Domain::Edges(t) | Domain::EdgesFrom(t, _) => Some(Extent::Edges(t)),
            Domain::Items(_) if self.fields(program).is_empty() => Some(Extent::Nodes),
            Domain::Items(_) | Domain::Once | Domain::ListItems(..) => None,
        }
    }

    /// Most items of a sweep: `len` gives the value of each of these extents, and their sum is the answer.
    pub fn most_items(self, program: &Program, len: impl Fn(Extent) -> u64) -> u64 {
        let edges = self.topology().map(Extent::Edges);
        let queue = self.queue().and_then(|q| program.queue(q));
        let capacity = queue.map(|queue| queue.capacity);
        let parts = [self.count(), edges, capacity].into_iter().flatten();
        parts.map(len).fold(0, u64::saturating_add)
    }

    /// The same domain where frontiers, lists and scalars have other numbers.
    pub fn renumbered(
        self,
        extent: impl Fn(Extent) -> Extent,
        frontier: impl Fn(FrontierId) -> FrontierId,
        list: impl Fn(ListId) -> ListId,
    ) -> Domain {
        match self {
            Domain::Once | Domain::Nodes | Domain::Edges(_) => self,
            Domain::Range(len) => Domain::Range(extent(len)),
            Domain::Items(f) => Domain::Items(frontier(f)),
            Domain::ListItems(l, portion) => Domain::ListItems(list(l), portion),
            Domain::EdgesFrom(t, f) => Domain::EdgesFrom(t, frontier(f)),
        }
    }

    /// As `#[wave(..)]` has it, with these words for what it names.
    pub fn written(
        self,
        name: impl Fn(Resource) -> String,
        extent: impl Fn(Extent) -> String,
    ) -> String {
        let (topology, frontier, list) = (
            |t| name(Resource::Topology(t)),
            |f: FrontierId| name(f.into()),
            |l: ListId| name(l.into()),
        );
        match self {
            Domain::Once => "once".to_owned(),
            Domain::Range(len) => format!("range({})", extent(len)),
            Domain::Nodes => "nodes".to_owned(),
            Domain::Items(f) => format!("items({})", frontier(f)),
            Domain::ListItems(l, portion) => match portion.word() {
                None => format!("items({})", list(l)),
                Some(word) => format!("items({}, {word})", list(l)),
            },
            Domain::Edges(t) => format!("edges({})", topology(t)),
            Domain::EdgesFrom(t, f) => format!("edges({}, from = {})", topology(t), frontier(f)),
        }
    }
}

/// A queue, by its table and its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum QueueId {
    /// A frontier, or a list of nodes.
    Frontier(FrontierId),
    /// A list.
    List(ListId),
}

/// What the rest of the house knows about the kinds of queues. A new one answers here, and then only what adds to it,
/// sweeps it and keeps it needs more.
impl QueueId {
    /// What a user calls it, where nothing says that its items stay ([`Queue::stays`]).
    pub const fn word(self) -> &'static str {
        match self {
            QueueId::Frontier(_) => "frontier",
            QueueId::List(_) => "list",
        }
    }

    /// Its number in its table.
    pub const fn number(self) -> u16 {
        match self {
            QueueId::Frontier(FrontierId(number)) | QueueId::List(ListId(number)) => number,
        }
    }

    /// The update by which a wave adds items to it.
    pub const fn adds(self) -> UpdateOp {
        match self {
            QueueId::Frontier(_) => UpdateOp::Push,
            QueueId::List(_) => UpdateOp::Append,
        }
    }

    /// How many arrays of items each field has: what is added to a frontier is apart from what is swept.
    pub const fn sides(self) -> u64 {
        match self {
            QueueId::Frontier(_) => 2,
            QueueId::List(_) => 1,
        }
    }

    /// Whether a wave, or who reads it back, sees the order in which items were added.
    pub const fn is_ordered(self) -> bool {
        match self {
            QueueId::Frontier(_) => false,
            QueueId::List(_) => true,
        }
    }
}

impl From<FrontierId> for QueueId {
    fn from(id: FrontierId) -> QueueId {
        QueueId::Frontier(id)
    }
}

impl From<ListId> for QueueId {
    fn from(id: ListId) -> QueueId {
        QueueId::List(id)
    }
}

/// A named resource of the pass. They are in the order of their tags in the container.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Resource {
    /// A topology.
    Topology(TopologyId),
    /// A buffer.
    Buffer(BufferId),
    /// A reduction.
    Reduction(ReductionId),
    /// A queue: sweeps read it, pushes and appends update it.
    Queue(QueueId),
}

impl Resource {
    /// Its number in its table.
    pub const fn number(self) -> u16 {
        match self {
            Resource::Topology(TopologyId(number))
            | Resource::Buffer(BufferId(number))
            | Resource::Reduction(ReductionId(number)) => number,
            Resource::Queue(id) => id.number(),
        }
    }
}

impl<Id: Into<QueueId>> From<Id> for Resource {
    fn from(id: Id) -> Resource {
        Resource::Queue(id.into())
    }
}

impl Ord for Resource {
    fn cmp(&self, other: &Resource) -> Ordering {
        (self.tag(), self.number()).cmp(&(other.tag(), other.number()))
    }
}

impl PartialOrd for Resource {
    fn partial_cmp(&self, other: &Resource) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Operation of an `update` access; two unordered updates are compatible when it is the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum UpdateOp {
    /// Atomic add.
    Add = 0,
    /// Atomic min.
    Min = 1,
    /// Atomic max.
    Max = 2,
    /// Atomic and.
    And = 3,
    /// Atomic or.
    Or = 4,
    /// Atomic xor.
    Xor = 5,
    /// Push onto a frontier.
    Push = 6,
    /// Append to a list.
    Append = 7,
    /// Reduce.
    Reduce = 8,
    /// Insert into the table of a relation.
    Insert = 9,
}

/// How a wave uses a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Mode {
    /// Only reads.
    Read,
    /// Only commutative updates of one operation, results unused.
    Update(UpdateOp),
    /// Everything else.
    Write,
}

/// One resource and its mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Access {
    /// What.
    pub resource: Resource,
    /// How.
    pub mode: Mode,
}

impl Access {
    /// The mode as it is shown: whoever sweeps what has no order and adds to it, no more than adds.
    pub fn shown(self) -> Mode {
        match (self.resource, self.mode) {
            (Resource::Queue(q), Mode::Write) if !q.is_ordered() => Mode::Update(q.adds()),
            (_, mode) => mode,
        }
    }
}

/// One sweep of a kernel over a domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wave {
    /// Function name.
    pub name: String,
    /// The compiled body.
    pub kernel: KernelId,
    /// What it sweeps.
    pub domain: Domain,
    /// Resources used, sorted by resource, one entry each.
    pub accesses: Vec<Access>,
    /// The innermost fixpoint around it.
    pub fixpoint: Option<FixpointId>,
    /// Waves and fixpoints that must come before it, as written in `after(...)`.
    pub after: Vec<NodeRef>,
}

/// A node of the wave graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum NodeRef {
    /// A wave.
    Wave(WaveId),
    /// A whole fixpoint.
    Fixpoint(FixpointId),
}

/// A group of waves repeated on the device until a condition holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fixpoint {
    /// Module name.
    pub name: String,
    /// The fixpoint around it.
    pub parent: Option<FixpointId>,
    /// Evaluated at each round's end; nonzero stops.
    pub until: KernelId,
    /// The condition as written.
    pub condition: String,
    /// Rounds after which the run traps.
    pub max_rounds: u64,
    /// Buffers that trade places at each round's end, before `until`.
    pub swaps: Vec<(BufferId, BufferId)>,
    /// Waves and fixpoints that must come before it.
    pub after: Vec<NodeRef>,
    /// Where a round-limit trap points.
    pub site: SiteId,
}

/// One step of the schedule, which is a small program: no step nests except through `Loop`/`Until` pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// Sweep a wave. A run of waves is a barrier group: [`crate::vir0::group`].
    Wave(WaveId),
    /// Ends a group before another one or a fixpoint: everyone waits; what was written before is visible after.
    Barrier,
    /// Enter a fixpoint: its round is 0. Each round starts by flipping its frontiers and resetting its reductions, and
    /// what begins anew with it.
    Loop(FixpointId),
    /// End of a round: a barrier, then swaps, then the condition; back to the step after `Loop` with the next round.
    Until(FixpointId),
    /// The last step.
    End,
    /// In the place of `Loop`: each of the parts that this buffer bounds enters the fixpoint and leaves it by itself.
    Each(FixpointId, BufferId),
}

impl Step {
    /// The fixpoint that begins here.
    pub fn enters(self) -> Option<FixpointId> {
        match self {
            Step::Loop(f) | Step::Each(f, _) => Some(f),
            Step::Wave(_) | Step::Barrier | Step::Until(_) | Step::End => None,
        }
    }
}

/// How far runs with the same arguments agree, whatever the backend, the order of items and the number of threads.
///
/// `crate::compile::effects` has the arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Agreement {
    /// Same bits, same rounds, same trap.
    Bits,
    /// Same result, since these fixpoints end in their least one, or a trap in every run. Rounds may differ, and with
    /// them whether a run is stopped for want of rounds or of room in a frontier; and which of several traps it is.
    /// Without fixpoints, only what a trap tells may differ.
    Result(Vec<Least>),
    /// The result may differ from run to run. Why; nothing where the program was not judged.
    Open(Vec<Reason>),
}

impl Default for Agreement {
    fn default() -> Agreement {
        Agreement::Open(Vec::new())
    }
}

/// A fixpoint that ends in the least fixpoint of monotone updates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Least {
    /// Which.
    pub fixpoint: FixpointId,
    /// As long as all of this holds.
    pub provisos: Vec<Proviso>,
}

/// What the argument for a result presumes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Proviso {
    /// No sum, difference or product in this wave wraps.
    NoWrap(WaveId),
    /// Nothing that this wave stores in or loads from what the fixpoint writes is NaN.
    NoNan(WaveId),
    /// The constant is the value that the operation begins with ([`ReduceOp::identity`]), as the wave compares with it.
    /// [`Parts::program`] decides it, since only then the constant is known.
    First(WaveId, ConstantId, ReduceOp),
}

/// What lets runs differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reason {
    /// In this wave.
    pub wave: WaveId,
    /// What it is about.
    pub resource: Option<Resource>,
    /// The access.
    pub site: Option<SiteId>,
    /// Which rule of `crate::compile::effects` it breaks.
    pub why: Why,
}

impl Reason {
    /// In words, without the place.
    pub fn said(&self, p: &Program) -> String {
        let w = &p.waves[self.wave.index()];
        let wave = &w.name;
        let fixpoint = w.fixpoint.map_or("", |x| &p.fixpoints[x.index()].name);
        let what = match self.resource {
            Some(resource) => p.written_name_of(resource),
            None => "it",
        };
        match self.why {
            Why::Approximates => {
                format!("{wave} uses exp, ln, sin or cos, which backends round differently")
            }
            Why::Positions => format!("{wave} sweeps items of several words, whose order differs"),
            Why::FloatSum => format!("{wave} adds floats to {what}; rounding shows their order"),
            Why::ListOrder => format!("{wave} appends to {what}; its order is read back"),
            Why::Slot => format!("{wave} uses the slots that it gets in {what}"),
            Why::Inserts => format!("{wave} shows which item inserts a tuple into {what} first"),
            Why::TupleOrder => {
                format!("{wave} shows the order in which it goes over the tuples of a key")
            }
            Why::OldValue => format!("{wave} uses the old value of {what}"),
            Why::ReadsChanged => format!("{wave} reads {what}, which other items change meanwhile"),
            Why::Stores => format!("{wave} stores to {what}; the last of several items wins"),
            Why::Claim => format!("{wave} uses which item wins a compare_exchange on {what}"),
            Why::Mixed => format!("{wave} updates {what} in more than one way"),
            Why::Until => {
                let until = w.fixpoint.map_or("", |x| &p.fixpoints[x.index()].condition);
                format!("{fixpoint} ends by `{until}`, whether values still change or not")
            }
            Why::Nested => {
                let inner = p.fixpoints.iter().find(|f| f.parent == w.fixpoint);
                let swaps = w.fixpoint.map(|x| &p.fixpoints[x.index()].swaps[..]);
                let does = match (inner, swaps) {
                    (None, Some(&[(a, b), ..])) => {
                        let name = |b: BufferId| p.name_of(Resource::Buffer(b));
                        format!("swaps {} and {}", name(a), name(b))
                    }
                    (inner, _) => format!("has {} in it", inner.map_or("", |f| f.name.as_str())),
                };
                format!("{fixpoint} {does}: that its rounds lead to one end is not known")
            }
            Why::NotMonotone if self.resource.is_none() => {
                format!("{wave} does or checks what is not known to be monotone")
            }
            Why::NotMonotone => {
                format!("{wave} changes {what} in a way that is not known to be monotone")
            }
            Why::Unnoticed => {
                format!(
                    "{wave} changes {what}, and not every change reaches what {fixpoint} waits for"
                )
            }
            Why::Amount => format!("{wave} counts {what} by amounts that differ from item to item"),
            Why::SecondSite => {
                format!("{wave} uses {what} in a second place, beside the one that counts")
            }
            Why::Shown => {
                format!("{wave} shows which item takes a step of {what}, not only that one does")
            }
            Why::Anew => {
                format!("{wave} changes {what}, which begins anew in each round of {fixpoint}")
            }
            Why::Notice => {
                format!("{wave} tells {what} more than that the element it names has changed")
            }
        }
    }
}

/// The rule that an access, a wave or a fixpoint breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Why {
    /// exp, ln, sin or cos.
    Approximates = 0,
    /// Items in an order that differs.
    Positions = 1,
    /// A sum of floats.
    FloatSum = 2,
    /// What is appended is read back.
    ListOrder = 3,
    /// The slot of an append is used.
    Slot = 4,
    /// The old value of an atomic is used.
    OldValue = 5,
    /// A load of what other items change.
    ReadsChanged = 6,
    /// Several items store.
    Stores = 7,
    /// One compare-and-exchange succeeds, and more than its own index shows which.
    Claim = 8,
    /// Updates of several operations.
    Mixed = 9,
    /// A fixpoint may end while values change.
    Until = 10,
    /// A fixpoint with fixpoints in it, or swaps.
    Nested = 11,
    /// In a fixpoint: what is written, or whether something traps, is no monotone function of what is loaded.
    NotMonotone = 12,
    /// In a fixpoint: an update that changes something does not reach the condition.
    Unnoticed = 13,
    /// In a fixpoint: a push or a reduction that does not say which update changed something.
    Notice = 14,
    /// A count by amounts that differ from item to item.
    Amount = 15,
    /// Another access to the buffer, beside the one that counts.
    SecondSite = 16,
    /// What a count's outcome is compared with, or guards, is no function of its index.
    Shown = 17,
    /// In a fixpoint: what begins anew in each of its rounds.
    Anew = 18,
    /// Several items insert one tuple, and more than the tuple shows which was the first.
    Inserts = 19,
    /// What a loop over the tuples of a key leaves behind shows their order.
    TupleOrder = 20,
}

/// A whole pass.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// Module or function name.
    pub name: String,
    /// CSR topologies; all share one node set.
    pub topologies: Vec<Topology>,
    /// Buffers.
    pub buffers: Vec<Buffer>,
    /// Frontiers.
    pub frontiers: Vec<Queue>,
    /// Lists.
    pub lists: Vec<Queue>,
    /// Reductions.
    pub reductions: Vec<Reduction>,
    /// Per-run scalars.
    pub scalars: Vec<ScalarParam>,
    /// Lengths that are computed.
    pub lengths: Vec<Length>,
    /// Constant pool: first the named constants, whose bits the macro leaves 0 and [`Parts::program`] fills in, in the
    /// order of [`Parts::constants`]; then the literals.
    pub constants: Vec<Constant>,
    /// Bodies.
    pub kernels: Vec<Kernel>,
    /// Sweeps.
    pub waves: Vec<Wave>,
    /// Fixpoints.
    pub fixpoints: Vec<Fixpoint>,
    /// The static schedule.
    pub schedule: Vec<Step>,
    /// How far runs agree.
    pub agreement: Agreement,
    /// Manifest.
    pub manifest: Manifest,
    /// Source positions; filled in at run time.
    pub sites: Vec<Site>,
    /// What the user says at the sites of asserts and panics, by site.
    pub messages: Vec<(SiteId, String)>,
}

impl Program {
    /// A queue; `None`: it does not exist.
    pub fn queue(&self, id: QueueId) -> Option<&Queue> {
        match id {
            QueueId::Frontier(f) => self.frontiers.get(f.index()),
            QueueId::List(l) => self.lists.get(l.index()),
        }
    }

    /// A queue to change; `None`: it does not exist.
    pub fn queue_mut(&mut self, id: QueueId) -> Option<&mut Queue> {
        match id {
            QueueId::Frontier(f) => self.frontiers.get_mut(f.index()),
            QueueId::List(l) => self.lists.get_mut(l.index()),
        }
    }

    /// The table of a list that is a relation: its tuples are in it once each, and find their place in the list by it.
    /// `None`: the list is none.
    pub fn table_of(&self, list: ListId) -> Option<BufferId> {
        let name = &self.lists.get(list.index())?.name;
        let is_table = |b: &Buffer| b.name.strip_suffix(Buffer::TABLE) == Some(name);
        let at = self.buffers.iter().position(is_table)?;
        u16::try_from(at).ok().map(BufferId)
    }

    /// The lists of which a fixpoint has to know what they held when its round began, and that fixpoint; in order.
    pub fn marks(&self) -> Vec<(FixpointId, ListId)> {
        let swept = self.waves.iter().filter_map(|w| match w.domain {
            Domain::ListItems(list, Portion::Last) => Some((w.fixpoint?, list)),
            _ => None,
        });
        let asked = (0..=u16::MAX).map(FixpointId).zip(&self.fixpoints);
        let asked = asked.flat_map(|(id, fixpoint)| {
            let until = self.kernels.get(fixpoint.until.index());
            let uniforms = until.into_iter().flat_map(|kernel| &kernel.uniforms);
            uniforms.filter_map(move |uniform| match uniform {
                Uniform::Began(list) => Some((id, *list)),
                _ => None,
            })
        });
        let mut marks: Vec<_> = swept.chain(asked).collect();
        marks.sort_unstable();
        marks.dedup();
        marks
    }

    /// The trap where a queue has no room for what is added.
    pub fn overflow_of(&self, id: QueueId) -> TrapKind {
        match id {
            QueueId::Frontier(_) => TrapKind::FrontierOverflow,
            QueueId::List(l) if self.table_of(l).is_some() => TrapKind::RelationOverflow,
            QueueId::List(_) => TrapKind::ListOverflow,
        }
    }

    /// What a user calls a queue.
    pub fn word_of(&self, id: QueueId) -> &'static str {
        match id {
            QueueId::List(l) if self.table_of(l).is_some() => "relation",
            id => id.word(),
        }
    }

    /// The place of a queue among [`Program::queues`], by which a device numbers it.
    pub fn place_of(&self, id: QueueId) -> usize {
        match id {
            QueueId::Frontier(f) => f.index(),
            QueueId::List(l) => self.frontiers.len() + l.index(),
        }
    }

    /// Every queue: frontiers, then lists.
    pub fn queues(&self) -> impl Iterator<Item = (QueueId, &Queue)> {
        let frontiers = (0..=u16::MAX).map(|f| QueueId::Frontier(FrontierId(f)));
        let lists = (0..=u16::MAX).map(|l| QueueId::List(ListId(l)));
        let frontiers = frontiers.zip(&self.frontiers);
        frontiers.chain(lists.zip(&self.lists))
    }

    /// [`Program::queues`] to change.
    pub fn queues_mut(&mut self) -> impl Iterator<Item = &mut Queue> {
        self.frontiers.iter_mut().chain(&mut self.lists)
    }

    /// The lengths of buffers, queues and sweeps, with the name of the field or wave.
    pub fn extents(&self) -> impl Iterator<Item = (&str, Extent)> {
        let buffers = self.buffers.iter().map(|b| (b.field(), b.extent));
        let queues = self.queues().map(|(_, q)| (q.name.as_str(), q.capacity));
        let sweeps = self.waves.iter();
        let sweeps = sweeps.filter_map(|w| Some((w.name.as_str(), w.domain.count()?)));
        buffers.chain(queues).chain(sweeps)
    }

    /// Whether a scope is this fixpoint, or in it. Ids need not exist.
    pub fn is_within(&self, scope: Option<FixpointId>, fixpoint: FixpointId) -> bool {
        let mut at = scope;
        for _ in 0..=self.fixpoints.len() {
            if at == Some(fixpoint) {
                return true;
            }
            let Some(around) = at.and_then(|f| self.fixpoints.get(f.index())) else {
                return false;
            };
            at = around.parent;
        }
        false
    }

    /// The innermost fixpoint around a kernel, whose round it sees: kernels are those of waves, then those of
    /// conditions.
    pub fn fixpoint_of(&self, kernel: KernelId) -> Option<FixpointId> {
        match self.waves.get(kernel.index()) {
            Some(wave) => wave.fixpoint,
            None => {
                let condition = kernel.index() - self.waves.len();
                u16::try_from(condition).ok().map(FixpointId)
            }
        }
    }

    /// The scalars that a length depends on.
    pub fn scalars_in(&self, extent: Extent) -> Vec<ScalarId> {
        let of = |extent| match extent {
            Extent::Scalar(s) | Extent::NodeBits(Width::Scalar(s)) => Some(s),
            Extent::Computed(_)
            | Extent::Fixed(_)
            | Extent::Constant(_)
            | Extent::Nodes
            | Extent::Edges(_)
            | Extent::NodesPlusEdges
            | Extent::NodesTimes(_)
            | Extent::Bounds(..)
            | Extent::NodeBits(Width::Fixed(_) | Width::Constant(_)) => None,
        };
        match extent {
            Extent::Computed(id) => {
                let length = self.lengths.get(id.index());
                let values = length.into_iter().flat_map(|length| length.values());
                values.filter_map(of).collect()
            }
            extent => of(extent).into_iter().collect(),
        }
    }

    /// A computed length as the pass states it, with these words for the values in it.
    pub fn written(&self, id: LengthId, word: impl Fn(Extent) -> String) -> String {
        let length = self.lengths.get(id.index());
        let written = length.and_then(|length| length.written(word));
        written.unwrap_or_else(|| format!("length#{}", id.0))
    }

    /// The value of a scalar of the pool, as it is shown.
    pub fn constant_shown(&self, id: ConstantId) -> String {
        let constant = self.constants[id.index()];
        constant.scalar.show(constant.bits)
    }

    /// A length as it is declared after `per =`.
    pub fn declared(&self, extent: Extent) -> String {
        match extent {
            Extent::Fixed(len) => len.to_string(),
            Extent::Constant(id) => self.constant_shown(id),
            Extent::Scalar(id) => self.scalars[id.index()].name.clone(),
            Extent::Nodes | Extent::NodeBits(_) => "node".to_owned(),
            Extent::Edges(t) => format!("edge({})", self.topologies[t.index()].name),
            Extent::NodesPlusEdges => "nodes + edges".to_owned(),
            Extent::NodesTimes(times) => format!("nodes x {times}"),
            Extent::Computed(id) => self.written(id, |value| self.declared(value)),
            Extent::Bounds(..) => "parts + 1".to_owned(),
        }
    }

    /// What the user says where a run stops at a site.
    pub fn message(&self, site: SiteId) -> Option<&str> {
        let at = self
            .messages
            .binary_search_by_key(&site, |&(s, _)| s)
            .ok()?;
        Some(&self.messages[at].1)
    }

    /// The field that a resource is of: elements that are structs have a buffer for each of their scalars.
    pub fn field_of(&self, resource: Resource) -> &str {
        match resource {
            Resource::Buffer(b) => self.buffers[b.index()].field(),
            other => self.name_of(other),
        }
    }

    /// Name of a resource as it is written: the table of a relation is the relation.
    pub fn written_name_of(&self, resource: Resource) -> &str {
        match resource {
            Resource::Buffer(b) if self.buffers[b.index()].is_table() => self.field_of(resource),
            other => self.name_of(other),
        }
    }

    /// Name of a resource: its field's, and which scalar of a struct it is.
    pub fn name_of(&self, resource: Resource) -> &str {
        match resource {
            Resource::Topology(t) => &self.topologies[t.index()].name,
            Resource::Buffer(b) => &self.buffers[b.index()].name,
            Resource::Reduction(r) => &self.reductions[r.index()].name,
            Resource::Queue(q) => &self.queue(q).expect("it exists").name,
        }
    }
}

/// The static pieces of a pass that a macro emits as data.
///
/// The container is assembled from them at run time: hashing in const evaluation is slow, and only rustc knows the
/// values of named constants and the positions of tokens.
#[derive(Clone, Copy, Debug)]
pub struct Parts {
    /// An encoded [`Program`] with named constants 0 and no sites.
    pub skeleton: &'static [u8],
    /// Values of the named constants, one slice for each module that uses some.
    pub constants: &'static [&'static [u64]],
    /// Source positions, one slice for each module.
    pub sites: &'static [&'static [&'static std::panic::Location<'static>]],
    /// Round limits that are named constants: the fixpoint and the value. In the skeleton they are [`MAX_ROUNDS`].
    pub max_rounds: &'static [(u16, u64)],
    /// Frontiers that need less room than the skeleton gives them if named constants differ.
    pub rooms: &'static [Room],
}

/// Room for a frontier of nodes that it needs if values differ which are known only now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Which.
    pub frontier: u16,
    /// Items for each node.
    pub times: u32,
    /// Each of these are never the same.
    pub apart: &'static [[Bound; 2]],
}

/// What bounds a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bound {
    /// It is a literal.
    Literal(u64),
    /// It is this constant of the pool, an unsigned integer.
    Constant(u16),
    /// It is the round of this fixpoint, and so much more.
    Round(u16, u64),
}

impl Bound {
    /// The least and the most that the value can be; `None` where it may wrap.
    fn range(self, p: &Program) -> Option<(u64, u64)> {
        match self {
            Bound::Literal(bits) => Some((bits, bits)),
            Bound::Constant(id) => {
                let bits = p.constants.get(usize::from(id))?.bits;
                Some((bits, bits))
            }
            Bound::Round(id, add) => {
                let fixpoint = p.fixpoints.get(usize::from(id))?;
                let last = fixpoint.max_rounds.checked_sub(1)?;
                let most = last.checked_add(add)?;
                (most <= u32::MAX.into()).then_some((add, most))
            }
        }
    }

    /// Whether two values are never the same, in a program whose constants and limits are known.
    pub fn are_apart([a, b]: [Bound; 2], p: &Program) -> bool {
        match (a.range(p), b.range(p)) {
            (Some((a, most)), Some((b, other))) => most < b || other < a,
            _ => false,
        }
    }
}

/// The caller's position; expanded at a user's token, it gives that token's file, line and column.
#[track_caller]
pub const fn here() -> &'static std::panic::Location<'static> {
    std::panic::Location::caller()
}
