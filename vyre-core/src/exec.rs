//! What every executor takes and gives: topologies, arguments, outcomes, errors.

use crate::csr::Csr;
#[cfg(feature = "exec")]
use crate::module::Topology;
use crate::module::{
    BufferId, Extent, FixpointId, ListId, Program, ReductionId, Scalar, Width, row_words,
};
pub use crate::plan::session::Counters;
use crate::plan::{launch, route};
#[cfg(feature = "exec")]
pub use crate::record::{Record, Shape, columns_of};
#[cfg(feature = "exec")]
pub use crate::store::beside_bytes;
use crate::trap::Trap;
#[cfg(feature = "exec")]
use rayon::prelude::*;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use thiserror::Error;

macro_rules! columns {
    ($($variant:ident $ty:ty;)*) => {
        /// An owned array of one scalar type.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Column { $(#[doc = stringify!($ty)] $variant(Vec<$ty>),)* }

        /// A borrowed array of one scalar type.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub enum Slice<'a> { $(#[doc = stringify!($ty)] $variant(&'a [$ty]),)* }

        /// An exclusively borrowed array of one scalar type.
        #[derive(Debug, PartialEq)]
        pub enum SliceMut<'a> { $(#[doc = stringify!($ty)] $variant(&'a mut [$ty]),)* }

        impl SliceMut<'_> {
            /// Borrows it for reading.
            pub fn as_slice(&self) -> Slice<'_> { match self { $(SliceMut::$variant(v) => Slice::$variant(v),)* } }
            /// Borrows it for a while.
            pub fn reborrow(&mut self) -> SliceMut<'_> { match self { $(SliceMut::$variant(v) => SliceMut::$variant(v),)* } }
            /// Copies a slice of the same type and length into it; false, and no change, for another one.
            #[must_use]
            pub fn assign(&mut self, values: Slice<'_>) -> bool {
                match (self, values) {
                    $((SliceMut::$variant(v), Slice::$variant(s)) if v.len() == s.len() => { v.copy_from_slice(s); true })*
                    _ => false,
                }
            }
        }

        impl Column {
            /// `len` elements, each with these raw bits (see [`crate::module::Constant`]).
            pub fn filled(scalar: Scalar, len: usize, bits: u64) -> Column {
                match scalar { $(Scalar::$variant => Column::$variant(vec![<$ty>::from_bits64(bits); len]),)* }
            }
            /// The same; `None` where there is no memory.
            #[cfg(feature = "exec")]
            pub(crate) fn allocate(scalar: Scalar, len: usize, bits: u64) -> Option<Column> {
                match scalar { $(Scalar::$variant => {
                    let mut values = crate::views::zeros::<$ty>(len)?;
                    if bits != 0 {
                        values.fill(<$ty>::from_bits64(bits));
                    }
                    Some(Column::$variant(values))
                })* }
            }
            /// Element type.
            pub fn scalar(&self) -> Scalar { match self { $(Column::$variant(_) => Scalar::$variant,)* } }
            /// Number of elements.
            pub fn len(&self) -> usize { match self { $(Column::$variant(v) => v.len(),)* } }
            /// Has no elements.
            pub fn is_empty(&self) -> bool { self.len() == 0 }
            /// Elements that it has memory for.
            pub fn capacity(&self) -> usize { match self { $(Column::$variant(v) => v.capacity(),)* } }
            /// Takes memory for so many elements in all; false where there is none.
            #[must_use]
            pub fn reserve(&mut self, len: usize) -> bool {
                match self { $(Column::$variant(v) => v.try_reserve_exact(len.saturating_sub(v.len())).is_ok(),)* }
            }
            /// Gives memory back that its elements do not need.
            pub fn shrink_to_fit(&mut self) { match self { $(Column::$variant(v) => v.shrink_to_fit(),)* } }
            /// Borrows it.
            pub fn as_slice(&self) -> Slice<'_> { match self { $(Column::$variant(v) => Slice::$variant(v),)* } }
            /// Borrows it to write.
            pub fn as_slice_mut(&mut self) -> SliceMut<'_> { match self { $(Column::$variant(v) => SliceMut::$variant(v),)* } }
            /// Makes it `len` elements with these raw bits, in the memory it has where that suffices.
            pub fn reset(&mut self, len: usize, bits: u64) {
                match self { $(Column::$variant(v) => {
                    let value = <$ty>::from_bits64(bits);
                    v.truncate(len);
                    fill(v, value);
                    v.resize(len, value);
                })* }
            }
            /// Gives memory back beyond so many elements.
            #[cfg(feature = "exec")]
            pub(crate) fn shrink_to(&mut self, len: usize) {
                match self { $(Column::$variant(v) => { v.truncate(len); v.shrink_to(len); })* }
            }
            /// Copies a slice of the same type into it; false, and no change, for another type.
            #[must_use]
            pub fn assign(&mut self, values: Slice<'_>) -> bool {
                match (self, values) {
                    $((Column::$variant(v), Slice::$variant(s)) => { v.clear(); v.extend_from_slice(s); true })*
                    _ => false,
                }
            }
            /// Raw bits of an element.
            pub fn get(&self, i: usize) -> Option<u64> { match self { $(Column::$variant(v) => v.get(i).map(|x| x.to_bits64()),)* } }
            /// Appends an element from raw bits.
            pub fn push(&mut self, bits: u64) {
                match self { $(Column::$variant(v) => v.push(<$ty>::from_bits64(bits)),)* }
            }
            /// Moves all elements of a column of the same type to the end of this one; false, and no change, for another type.
            #[must_use]
            pub fn append(&mut self, other: &mut Column) -> bool {
                match (self, other) {
                    $((Column::$variant(v), Column::$variant(o)) => { v.append(o); true })*
                    _ => false,
                }
            }
            /// Sets an element from raw bits; false when out of bounds.
            #[must_use]
            pub fn set(&mut self, i: usize, bits: u64) -> bool {
                match self { $(Column::$variant(v) => match v.get_mut(i) {
                    Some(x) => { *x = <$ty>::from_bits64(bits); true }
                    None => false,
                },)* }
            }
        }

        impl Slice<'_> {
            /// Element type.
            pub fn scalar(&self) -> Scalar { match self { $(Slice::$variant(_) => Scalar::$variant,)* } }
            /// Number of elements.
            pub fn len(&self) -> usize { match self { $(Slice::$variant(v) => v.len(),)* } }
            /// Has no elements.
            pub fn is_empty(&self) -> bool { self.len() == 0 }
            /// Bytes of it.
            pub fn bytes(&self) -> u64 { self.len() as u64 * self.scalar().size_bytes() }
            /// Raw bits of an element.
            #[inline]
            pub fn get(&self, i: usize) -> Option<u64> { match self { $(Slice::$variant(v) => v.get(i).map(|x| x.to_bits64()),)* } }
            /// Where it begins.
            #[cfg_attr(not(feature = "exec"), allow(dead_code, reason = "only executors use it"))]
            pub(crate) fn address(&self) -> usize { match self { $(Slice::$variant(v) => v.as_ptr().addr(),)* } }
            /// Copies it.
            pub fn to_column(&self) -> Column { match self { $(Slice::$variant(v) => Column::$variant(v.to_vec()),)* } }
            /// The same; `None` where there is no memory.
            pub fn try_to_column(&self) -> Option<Column> {
                match self { $(Slice::$variant(v) => {
                    let mut values = Vec::new();
                    values.try_reserve_exact(v.len()).ok()?;
                    values.extend_from_slice(v);
                    Some(Column::$variant(values))
                })* }
            }
        }

        $(impl Element for $ty {
            const SCALAR: Scalar = Scalar::$variant;
            fn slice(values: &[$ty]) -> Slice<'_> { Slice::$variant(values) }
            fn slice_mut(values: &mut [$ty]) -> SliceMut<'_> { SliceMut::$variant(values) }
            fn in_slice(slice: Slice<'_>) -> Option<&[$ty]> { match slice { Slice::$variant(v) => Some(v), _ => None } }
            fn in_slice_mut(slice: SliceMut<'_>) -> Option<&mut [$ty]> { match slice { SliceMut::$variant(v) => Some(v), _ => None } }
            fn column(values: Vec<$ty>) -> Column { Column::$variant(values) }
            fn in_column(column: &Column) -> Option<&Vec<$ty>> { match column { Column::$variant(v) => Some(v), _ => None } }
            fn in_column_mut(column: &mut Column) -> Option<&mut Vec<$ty>> { match column { Column::$variant(v) => Some(v), _ => None } }
            fn from_column(column: Column) -> Option<Vec<$ty>> { match column { Column::$variant(v) => Some(v), _ => None } }
            fn to_bits64(self) -> u64 { bits::$variant(self) }
            fn from_bits64(bits: u64) -> $ty { from_bits::$variant(bits) }
        })*
    };
}

/// A scalar type of buffers.
pub trait Element: Copy + Send + Sync + PartialEq + std::fmt::Debug + 'static {
    /// Which one.
    const SCALAR: Scalar;
    /// Wraps a slice.
    fn slice(values: &[Self]) -> Slice<'_>;
    /// Wraps a slice.
    fn slice_mut(values: &mut [Self]) -> SliceMut<'_>;
    /// The values, if the slice has this type.
    fn in_slice(slice: Slice<'_>) -> Option<&[Self]>;
    /// The values, if the slice has this type.
    fn in_slice_mut(slice: SliceMut<'_>) -> Option<&mut [Self]>;
    /// Wraps a vector.
    fn column(values: Vec<Self>) -> Column;
    /// The values, if the column has this type.
    fn in_column(column: &Column) -> Option<&Vec<Self>>;
    /// The values, if the column has this type.
    fn in_column_mut(column: &mut Column) -> Option<&mut Vec<Self>>;
    /// The values, if the column has this type.
    fn from_column(column: Column) -> Option<Vec<Self>>;
    /// Raw bits, as [`crate::module::Constant`] stores them.
    fn to_bits64(self) -> u64;
    /// Inverse of [`Element::to_bits64`]; higher bits are dropped.
    fn from_bits64(bits: u64) -> Self;
}

/// Bytes that are worth a thread of their own when they are filled.
#[cfg(feature = "exec")]
const FILL_BYTES: usize = 1 << 20;

/// Fills a slice; a large one with all threads.
fn fill<T: Element>(values: &mut [T], value: T) {
    #[cfg(feature = "exec")]
    if size_of_val(values) >= 2 * FILL_BYTES {
        let chunks = values.par_chunks_mut(FILL_BYTES / size_of::<T>());
        return chunks.for_each(|chunk| chunk.fill(value));
    }
    values.fill(value);
}

columns! { Bool bool; U8 u8; U32 u32; I32 i32; F32 f32; U64 u64; I64 i64; F64 f64; }

#[allow(non_snake_case, reason = "named after the variants")]
mod bits {
    pub(super) fn Bool(x: bool) -> u64 {
        x.into()
    }
    pub(super) fn U8(x: u8) -> u64 {
        x.into()
    }
    pub(super) fn U32(x: u32) -> u64 {
        x.into()
    }
    pub(super) fn I32(x: i32) -> u64 {
        x as i64 as u64
    }
    pub(super) fn F32(x: f32) -> u64 {
        x.to_bits().into()
    }
    pub(super) fn U64(x: u64) -> u64 {
        x
    }
    pub(super) fn I64(x: i64) -> u64 {
        x as u64
    }
    pub(super) fn F64(x: f64) -> u64 {
        x.to_bits()
    }
}

#[allow(non_snake_case, reason = "named after the variants")]
mod from_bits {
    pub(super) fn Bool(b: u64) -> bool {
        b & 1 != 0
    }
    pub(super) fn U8(b: u64) -> u8 {
        b as u8
    }
    pub(super) fn U32(b: u64) -> u32 {
        b as u32
    }
    pub(super) fn I32(b: u64) -> i32 {
        b as i32
    }
    pub(super) fn F32(b: u64) -> f32 {
        f32::from_bits(b as u32)
    }
    pub(super) fn U64(b: u64) -> u64 {
        b
    }
    pub(super) fn I64(b: u64) -> i64 {
        b as i64
    }
    pub(super) fn F64(b: u64) -> f64 {
        f64::from_bits(b)
    }
}

/// What a session is created from.
#[derive(Clone, Debug, Default)]
pub struct TopologyArgs<'a> {
    /// The graphs, in topology order, without those the runtime builds (`reverse_of`).
    pub graphs: Vec<&'a Csr>,
    /// Topology buffers (edge weights).
    pub columns: Vec<(BufferId, Slice<'a>)>,
}

/// What one run is given.
#[derive(Clone, Debug, Default)]
pub struct Args<'a> {
    /// Raw bits of the scalars, in scalar order.
    pub scalars: Vec<u64>,
    /// Input and in-out buffers.
    pub inputs: Vec<(BufferId, Slice<'a>)>,
}

/// What one run gives back.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Output and in-out buffers, in buffer order.
    pub outputs: Vec<(BufferId, Column)>,
    /// Nodes and bits of a row of the buffers of bit rows ([`Sizes::rows`]).
    pub rows: Vec<(BufferId, u32, u32)>,
    /// Fields of the items of the output lists, in list order: only what the list holds.
    pub lists: Vec<(ListId, Vec<Column>)>,
    /// Raw bits of the output reductions.
    pub reductions: Vec<(ReductionId, u64)>,
    /// What happened.
    pub report: Report,
    /// The pages of the outputs' memory are locked ([`Executor::lock`]): it is neither grown nor freed.
    pub locked: bool,
    /// Bytes for which there was no memory when values were put together.
    #[doc(hidden)]
    pub starved_bytes: u64,
}

impl Outcome {
    /// Swaps the values of an output buffer with these, memory included. An outcome without the buffer has none of it, so that
    /// one which is empty takes memory over.
    pub fn exchange<T: Element>(&mut self, id: BufferId, values: &mut Vec<T>) {
        let column = entry(&mut self.outputs, id, || T::column(Vec::new()));
        let column = T::in_column_mut(column).expect("the output has its declared type");
        std::mem::swap(column, values);
    }

    /// The same for an output buffer of bit rows.
    #[cfg(feature = "exec")]
    pub fn exchange_bits(&mut self, id: BufferId, bits: &mut crate::dsl::Bits) {
        let mut words = std::mem::take(bits).into_words();
        self.exchange(id, &mut words);
        // What is no result has no rows.
        let fits = |nodes: u32, width| nodes as usize * row_words(width) as usize == words.len();
        let mut shapes = self.rows.iter();
        let shape = shapes.find(|&&(b, nodes, width)| b == id && fits(nodes, width));
        let (nodes, width) = shape.map_or((0, 0), |&(_, nodes, width)| (nodes, width));
        *bits = crate::dsl::Bits::clean(words, nodes, width);
    }

    /// The same for an output list. Items of several scalars are put together in the memory of `items`, and the outcome keeps
    /// the columns that they came from.
    #[cfg(feature = "exec")]
    pub fn exchange_list<T: Record>(&mut self, id: ListId, items: &mut Vec<T>) {
        let columns = entry(&mut self.lists, id, Vec::new);
        self.starved_bytes = self.starved_bytes.max(exchange_columns(columns, items));
    }

    /// The same for an output of rows of structs, which lie in consecutive buffers.
    #[cfg(feature = "exec")]
    pub fn exchange_rows<T: Record>(&mut self, first: BufferId, scalars: u16, rows: &mut Vec<T>) {
        let ids = first.0..first.0 + scalars;
        let of = |(id, _): &(BufferId, Column)| ids.contains(&id.0);
        let mut taken: Vec<(BufferId, Column)> = self.outputs.extract_if(.., |o| of(o)).collect();
        taken.sort_by_key(|(id, _)| *id);
        let mut columns: Vec<Column> = taken.into_iter().map(|(_, column)| column).collect();
        self.starved_bytes = self.starved_bytes.max(exchange_columns(&mut columns, rows));
        self.outputs.extend(ids.map(BufferId).zip(columns));
    }

    /// An output reduction; 0 where the outcome has none.
    pub fn reduction<T: Element>(&self, id: ReductionId) -> T {
        let found = self.reductions.iter().find(|(r, _)| *r == id);
        T::from_bits64(found.map_or(0, |&(_, bits)| bits))
    }

    /// Forgets the results, and keeps their memory.
    pub fn clear(&mut self) {
        let lists = self.lists.iter_mut().flat_map(|(_, columns)| columns);
        let outputs = self.outputs.iter_mut().map(|(_, column)| column);
        outputs.chain(lists).for_each(|column| column.reset(0, 0));
        self.rows.clear();
        self.reductions.clear();
        self.report = Report::default();
        self.starved_bytes = 0;
    }

    /// The memory of an output buffer, if it has some of that type.
    #[cfg(feature = "exec")]
    pub fn memory_of(&mut self, id: BufferId, scalar: Scalar) -> Option<Column> {
        let at = self.outputs.iter().position(|(b, _)| *b == id)?;
        let (_, column) = self.outputs.swap_remove(at);
        (column.scalar() == scalar && column.capacity() > 0).then_some(column)
    }

    /// An output buffer's column of that type, with whatever it holds; an empty one where there is none.
    #[cfg(feature = "exec")]
    pub fn output_mut(&mut self, id: BufferId, scalar: Scalar) -> &mut Column {
        let none = || Column::filled(scalar, 0, 0);
        let column = entry(&mut self.outputs, id, none);
        if column.scalar() != scalar {
            *column = none();
        }
        column
    }

    /// The columns of an output list's fields, likewise.
    #[cfg(feature = "exec")]
    pub fn list_mut(&mut self, id: ListId, fields: &[Scalar]) -> &mut [Column] {
        let columns = entry(&mut self.lists, id, Vec::new);
        let has = columns.iter().map(Column::scalar);
        if !has.eq(fields.iter().copied()) {
            *columns = fields.iter().map(|&f| Column::filled(f, 0, 0)).collect();
        }
        columns
    }

    /// The memory of an output list, if it has some of those types.
    #[cfg(feature = "exec")]
    pub fn memory_of_list(&mut self, id: ListId, fields: &[Scalar]) -> Option<Vec<Column>> {
        let at = self.lists.iter().position(|(l, _)| *l == id)?;
        let (_, columns) = self.lists.swap_remove(at);
        let has = columns.iter().map(Column::scalar);
        let typed = has.eq(fields.iter().copied());
        (typed && columns.iter().all(|c| c.capacity() > 0)).then_some(columns)
    }
}

/// What is there under this id; nothing, as `none` makes it, where there was no entry.
fn entry<I: PartialEq + Copy, V>(all: &mut Vec<(I, V)>, id: I, none: impl FnOnce() -> V) -> &mut V {
    let at = all.iter().position(|(i, _)| *i == id).unwrap_or_else(|| {
        all.push((id, none()));
        all.len() - 1
    });
    &mut all[at].1
}

/// Bytes that were missing for the values.
#[cfg(feature = "exec")]
fn exchange_columns<T: Record>(columns: &mut Vec<Column>, values: &mut Vec<T>) -> u64 {
    let len = columns.first().map_or(0, Column::len);
    match T::exchange(columns, values) {
        true => 0,
        false => (len * size_of::<T>()) as u64,
    }
}

/// Gives results to a typed output, in its memory where that suffices, and takes the memory that it had before. Where there is
/// none for rows of structs, it is an error.
///
/// After an error, of `run` or of this, the output is empty. What its memory was is `results`', or the output's.
#[cfg(feature = "exec")]
pub fn give<T>(
    run: Result<(), RunError>,
    results: &mut Outcome,
    out: &mut T,
    exchange: fn(&mut Outcome, &mut T),
) -> Result<(), RunError> {
    let mut given = run;
    if given.is_ok() {
        exchange(results, out);
        if results.starved_bytes > 0 {
            given = Err(RunError::no_memory("the result", results.starved_bytes));
            // What was given comes back.
            exchange(results, out);
        }
    }
    if given.is_err() {
        results.clear();
        exchange(results, out);
    }
    results.clear();
    given
}

/// Figures of one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Which backend ran it: `"cuda"`, `"native"` or `"vir0"`; empty until a session has said so.
    pub backend: &'static str,
    /// Rounds run, by fixpoint, summed over re-entries.
    pub rounds: Vec<u64>,
    /// Host wall time of the run, uploads and readback included, in nanoseconds.
    pub wall_ns: u64,
    /// Device time of the launch where there is a device.
    pub device_ns: Option<u64>,
    /// What the frontiers held, where the backend counts it.
    pub activity: Option<Activity>,
    /// What was read back.
    pub readback: Readback,
    /// Sweeps of each wave, where the backend was asked to time them ([`LaunchHint::time_waves`]). Of a query of a batch, its
    /// own.
    pub waves: Option<Vec<WaveTime>>,
}

/// The sweeps of a wave in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WaveTime {
    /// How many.
    pub sweeps: u64,
    /// What they took together, in nanoseconds. On a CPU, wall time of the sweeps alone. On a GPU, device time from where a sweep
    /// is handed out to where the next one is, or the pass ends: with the barrier after it, and what is decided there. Of waves
    /// without a barrier between them it is as one CTA saw it, so that waiting for the others counts for the last one. What is
    /// done before the first sweep is no wave's.
    pub ns: u64,
}

/// What the frontiers of a run held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Activity {
    /// Sweeps over a frontier.
    pub sweeps: u64,
    /// Items of all of them.
    pub items: u64,
    /// Items of the widest.
    pub widest: u64,
    /// Sweeps that were turned round, as [`crate::plan::pull`] allows: natively and on CUDA, where that looks at fewer edges.
    pub pulled: u64,
    /// Rounds that one cluster of CTAs ran among itself, on a GPU that has clusters.
    pub gathered: u64,
    /// Sweeps over a list that a bitmap brought into the order of the nodes, as dense routes ask for ([`crate::plan::route`]);
    /// on a CPU.
    pub ordered: u64,
    /// Sweeps that the threads of a CPU shared, those over all nodes, indices and edges included.
    pub shared: u64,
}

/// What a readback copied, as [`crate::plan::compact`] plans it: small results in one slab, large ones directly, empty
/// ones not at all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Readback {
    /// Results that share the slab, and its one copy where there is a device.
    pub packed: u32,
    /// Bytes of the slab.
    pub packed_bytes: u64,
    /// Results with a copy of their own.
    pub direct: u32,
    /// Bytes of those.
    pub direct_bytes: u64,
    /// Bytes of all results' capacities.
    pub full_bytes: u64,
}

impl Report {
    /// Rounds of a fixpoint.
    pub fn rounds_of(&self, f: FixpointId) -> u64 {
        self.rounds.get(f.index()).copied().unwrap_or(0)
    }

    /// Rounds of all fixpoints together: of a fixpoint in a fixpoint, those of both. 0 for a pass without one.
    pub fn total_rounds(&self) -> u64 {
        self.rounds.iter().fold(0, |sum, &r| sum.saturating_add(r))
    }
}

/// Why a session could not be made or a run gave no outcome.
#[derive(Clone, Error, PartialEq, Eq)]
pub enum RunError {
    /// A checked fault stopped the run.
    #[error(transparent)]
    Trap(#[from] Box<Trap>),
    /// The graphs of a session have different node counts.
    #[error("topology `{name}` has {actual} nodes; `{first}` has {expected}")]
    NodeCount {
        /// Second topology.
        name: String,
        /// First topology.
        first: String,
        /// Its nodes.
        expected: u64,
        /// Nodes of the second.
        actual: u64,
    },
    /// An argument has the wrong number of elements.
    #[error("`{name}` has {actual} elements; the pass needs {expected}")]
    Length {
        /// Field name.
        name: String,
        /// Needed.
        expected: u64,
        /// Given.
        actual: u64,
    },
    /// A row of bits is given with a bit beyond its width.
    #[error("bit {bit} of row {row} of `{name}` is set; its rows have {width} bits")]
    RowBit {
        /// Field name.
        name: String,
        /// The first node whose row has one.
        row: u64,
        /// The first such bit of it.
        bit: u32,
        /// Bits of a row.
        width: u32,
    },
    /// A symbolic size does not fit u32 indices.
    #[error("`{name}` would have {len} elements; at most {max} are supported", max = u32::MAX)]
    TooLong {
        /// Field name.
        name: String,
        /// Resolved length.
        len: u64,
    },
    /// Declared sizes add up to more than 64 bits count.
    #[error("the pass takes 2^64 bytes or more with `{name}`; no memory has so many")]
    TooLarge {
        /// Field at which the sum becomes too large.
        name: String,
    },
    /// The program does not verify. Programs from the macros do.
    #[error("invalid VIR0 program: {0}")]
    Invalid(String),
    /// The graph is larger than the pass was planned for.
    #[error("the graph has {actual} {what}; the pass's limits allow {limit}")]
    Limit {
        /// `nodes` or `edges`.
        what: &'static str,
        /// Of the graph.
        actual: u64,
        /// Largest allowed.
        limit: u64,
    },
    /// There is not enough memory: what was planned does not fit, and nothing was allocated; or the system had none left, which
    /// ended the run. The session works on.
    #[error("{what}; {needed_bytes} bytes are needed, {available_bytes} are available")]
    Memory {
        /// What takes so much.
        what: String,
        /// What the session or run takes.
        needed_bytes: u64,
        /// Allowed.
        available_bytes: u64,
    },
    /// More threads are asked for than can be meant.
    #[error("RAYON_NUM_THREADS asks for {asked} threads; at most {most} are made here")]
    Threads {
        /// By the environment.
        asked: usize,
        /// Allowed.
        most: usize,
    },
    /// A result holds more than it was declared to.
    #[error("`{name}` holds {actual_bytes} bytes; its declared capacity is {capacity_bytes}")]
    Capacity {
        /// Field name.
        name: String,
        /// What the run left in it.
        actual_bytes: u64,
        /// What it was declared to hold.
        capacity_bytes: u64,
    },
    /// The run took more work than its executor was allowed, and stopped.
    #[error("the run takes more than {limit} items, rounds and turns of loops")]
    Work {
        /// The most that it may take.
        limit: u64,
    },
    /// The backend failed (driver error, cancelled).
    #[error("{0}")]
    Backend(String),
}

crate::debug_is_display!(RunError);

impl RunError {
    /// The system has no memory left for something of so many bytes.
    #[cold]
    pub fn no_memory(what: impl fmt::Display, needed_bytes: u64) -> RunError {
        RunError::Memory {
            what: format!("no memory is left for {what}"),
            needed_bytes,
            available_bytes: 0,
        }
    }
}

/// Real sizes of a session and a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    /// Nodes of the node set.
    pub nodes: u64,
    /// Edges by topology.
    pub edges: Vec<u64>,
    /// Raw bits of the run's scalars; empty before a run.
    pub scalars: Vec<u64>,
}

impl Sizes {
    /// Sizes of a session's topologies, reverses included; no scalars.
    pub fn of(program: &Program, args: &TopologyArgs<'_>) -> Sizes {
        let mut given = args.graphs.iter();
        let mut sizes = Sizes {
            nodes: args.graphs.first().map_or(0, |g| g.node_count() as u64),
            ..Sizes::default()
        };
        for t in &program.topologies {
            let graph = t.reverse_of.is_none().then(|| given.next()).flatten();
            sizes.edges.push(graph.map_or(0, |g| g.edge_count() as u64));
        }
        for (i, t) in program.topologies.iter().enumerate() {
            if let Some(of) = t.reverse_of {
                sizes.edges[i] = sizes.edges[of.index()];
            }
        }
        sizes
    }

    /// The bits of a row; `None` when they depend on a scalar and none are set.
    pub fn width(&self, program: &Program, width: Width) -> Option<u32> {
        match width {
            Width::Fixed(bits) => Some(bits),
            Width::Constant(c) => Some(program.constants[c.index()].bits as u32),
            Width::Scalar(s) => self.scalars.get(s.index()).map(|&bits| bits as u32),
        }
    }

    /// Nodes and bits of a row of each buffer of bit rows: [`Outcome::rows`].
    pub fn rows(&self, program: &Program) -> Vec<(BufferId, u32, u32)> {
        let buffers = (0..=u16::MAX).map(BufferId).zip(&program.buffers);
        buffers
            .filter_map(|(id, b)| match b.extent {
                Extent::NodeBits(width) => {
                    Some((id, self.nodes as u32, self.width(program, width)?))
                }
                _ => None,
            })
            .collect()
    }

    /// The number of elements an extent stands for; `None` when it depends on a scalar and none are set.
    pub fn resolve(&self, program: &Program, extent: Extent) -> Option<u64> {
        match extent {
            Extent::Fixed(n) => Some(n),
            Extent::Constant(c) => Some(program.constants[c.index()].bits),
            Extent::Scalar(s) => self.scalars.get(s.index()).map(|&b| u64::from(b as u32)),
            Extent::NodeBits(width) => self
                .width(program, width)
                .and_then(|w| self.nodes.checked_mul(row_words(w).into())),
            Extent::Nodes => Some(self.nodes),
            Extent::Edges(t) => self.edges.get(t.index()).copied(),
            Extent::NodesPlusEdges => Some(
                self.edges
                    .iter()
                    .fold(self.nodes, |a, &e| a.saturating_add(e)),
            ),
        }
    }
}

/// Completes and checks a session's topologies: node counts agree, reverses are built, columns fit.
#[cfg(feature = "exec")]
pub fn resolve_topologies<'a>(
    program: &Program,
    args: &TopologyArgs<'a>,
) -> Result<(Vec<std::borrow::Cow<'a, Csr>>, Sizes), RunError> {
    use std::borrow::Cow;
    let mut given = args.graphs.iter().copied();
    let mut graphs: Vec<Option<Cow<'a, Csr>>> = program
        .topologies
        .iter()
        .map(|t: &Topology| {
            if t.reverse_of.is_some() {
                None
            } else {
                given.next().map(Cow::Borrowed)
            }
        })
        .collect();
    for (i, t) in program.topologies.iter().enumerate() {
        if let Some(of) = t.reverse_of {
            let Some(of) = &graphs[of.index()] else {
                continue;
            };
            let reverse = of.try_reverse().ok_or_else(|| no_memory_for(t, of))?;
            graphs[i] = Some(Cow::Owned(reverse));
        }
    }
    let graphs: Vec<_> = graphs
        .into_iter()
        .map(|g| g.expect("the generated glue passes every declared topology"))
        .collect();
    let nodes = graphs.first().map_or(0, |g| g.node_count() as u64);
    for (g, t) in graphs.iter().zip(&program.topologies) {
        if g.node_count() as u64 != nodes {
            return Err(RunError::NodeCount {
                name: t.name.clone(),
                first: program.topologies[0].name.clone(),
                expected: nodes,
                actual: g.node_count() as u64,
            });
        }
    }
    let sizes = Sizes {
        nodes,
        edges: graphs.iter().map(|g| g.edge_count() as u64).collect(),
        scalars: Vec::new(),
    };
    Ok((graphs, sizes))
}

/// There is no memory for a copy of a graph, or its reverse.
#[cfg(feature = "exec")]
#[cold]
pub(crate) fn no_memory_for(topology: &Topology, graph: &Csr) -> RunError {
    let bytes = 4 * (graph.offsets().len() as u64 + graph.targets().len() as u64);
    RunError::no_memory(format_args!("`{}`", topology.name), bytes)
}

/// Checks a run's or session's columns against the sizes, and that rows of bits have none beyond their width.
pub fn check_columns(
    program: &Program,
    sizes: &Sizes,
    columns: &[(BufferId, Slice<'_>)],
) -> Result<(), RunError> {
    for (id, column) in columns {
        let buffer = &program.buffers[id.index()];
        let expected = sizes.resolve(program, buffer.extent).unwrap_or(0);
        if column.len() as u64 != expected {
            return Err(RunError::Length {
                name: buffer.name.clone(),
                expected,
                actual: column.len() as u64,
            });
        }
        if let Extent::NodeBits(width) = buffer.extent
            && let Some(width) = sizes.width(program, width)
            && let Slice::U32(words) = column
            && let Some((row, bit)) = bit_outside(words, width)
        {
            return Err(RunError::RowBit {
                name: buffer.name.clone(),
                row,
                bit,
                width,
            });
        }
    }
    Ok(())
}

/// The first bit from the width on that is set in rows of bits, with its row.
fn bit_outside(words: &[u32], width: u32) -> Option<(u64, u32)> {
    let inside = width % u32::BITS;
    if inside == 0 {
        return None;
    }
    let mut rows = words.chunks_exact(row_words(width) as usize);
    let row = rows.position(|row| row.last().is_some_and(|last| last >> inside != 0))?;
    let last = words[(row + 1) * row_words(width) as usize - 1];
    Some((row as u64, width + (last >> inside).trailing_zeros()))
}

/// How far the current run is; read by anyone while it runs.
#[derive(Debug, Default)]
pub struct Progress {
    rounds: AtomicU64,
    frontier: AtomicU64,
}

impl Progress {
    /// Rounds of all fixpoints since the run began.
    pub fn rounds(&self) -> u64 {
        self.rounds.load(Relaxed)
    }

    /// Items waiting for the next round when the last one ended.
    pub fn frontier(&self) -> u64 {
        self.frontier.load(Relaxed)
    }

    /// A run begins.
    pub fn begin(&self) {
        self.set(0, 0);
    }

    /// A round ended.
    pub fn set(&self, rounds: u64, frontier: u64) {
        self.rounds.store(rounds, Relaxed);
        self.frontier.store(frontier, Relaxed);
    }
}

/// What a backend can vary from launch to launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// CTAs that it runs at once; threads on a CPU.
    pub max_ctas: u32,
    /// Items that a CTA takes at a time.
    pub lanes_per_cta: u32,
    /// A launch can have fewer CTAs.
    pub ctas_vary: bool,
    /// It can compile the bytecode.
    pub jit: bool,
    /// Items that a lane takes at a time, at most.
    pub items_per_lane: u32,
    /// It can upload the inputs of a run while another is on the device.
    pub overlaps: bool,
    /// It can bring a frontier's list into the order of the nodes ([`Sweeps::bitmap`]).
    pub bitmaps: bool,
}

/// How the next launches should be. Results never depend on it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LaunchHint {
    /// CTAs; threads on a CPU.
    pub ctas: u32,
    /// The caller asked for so many, and did not leave it to the policy.
    pub asked: bool,
    /// Independent queries: each CTA that works on one has memory of its own.
    pub shared: bool,
    /// Items that a lane takes at a time, at most.
    pub items_per_lane: u32,
    /// Shape of the frontier.
    pub topology: launch::Topology,
    /// Interpreter or compiled code.
    pub route: launch::Route,
    /// Items from which a sweep is worth all threads (on a CPU).
    pub parallel_from: u64,
    /// How sweeps over frontiers go (on a CPU).
    pub sweeps: Sweeps,
    /// Results up to this size share a copy.
    pub pack_up_to_bytes: u64,
    /// Edges of a frontier from which a sweep may be turned round, where that costs barriers.
    pub pull_from: u64,
    /// Queries of a batch that may be in memory at once.
    pub slots: u32,
    /// What the queries of a batch may take together: states, inputs and results on the device. `None`: no budget says.
    pub batch_bytes: Option<u64>,
    /// There may be a second set of inputs, so that those of the next run go up while one is on the device.
    pub second_inputs: bool,
    /// Say how long the sweeps of each wave take ([`Report::waves`]). It costs a look at the clock before and after each
    /// sweep, on a CPU as long as a sweep over a few items takes.
    pub time_waves: bool,
}

/// How sweeps over frontiers go: each wave starts with the planned route, and goes over to another one where a frontier leaves
/// the band that holds it ([`route::Policy::pressure`]).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sweeps {
    /// What each wave starts with.
    pub start: route::Route,
    /// What changes it.
    pub policy: route::Policy,
    /// Memory in use when the launch was decided, of the budget.
    pub memory_bps: u32,
    /// There is memory for a bit a node, which brings a list into the order of the nodes.
    pub bitmap: bool,
}

impl Default for Sweeps {
    /// Lists, until somebody plans.
    fn default() -> Sweeps {
        Sweeps {
            start: route::Route::Sparse,
            policy: route::Policy::default(),
            memory_bps: 0,
            bitmap: false,
        }
    }
}

/// What an executor made of a [`LaunchHint`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Followed {
    /// CTAs, or threads.
    pub ctas: u32,
    /// What executes the code.
    pub code: &'static str,
    /// What sweeps over frontiers start with, where routes choose that.
    pub sweeps: Option<route::Route>,
    /// What it did otherwise, and why.
    pub notes: Vec<&'static str>,
}

/// Keeps pages locked.
pub type Lock = Box<dyn Send + Sync>;

/// One session's executor: topology resident, buffers allocated once.
pub trait Executor: Send {
    /// The most memory that topologies, buffers and frontiers held at once in the last run, in bytes, where the backend
    /// counts it.
    fn peak_bytes(&self) -> Option<u64> {
        None
    }

    /// Runs the pass once.
    fn run(&mut self, args: &Args<'_>) -> Result<Outcome, RunError> {
        let mut results = Outcome::default();
        self.run_series(std::slice::from_ref(args), &mut results)?;
        Ok(results)
    }

    /// Runs the pass several times and reads back after the last run only; the first error ends it. `results` has memory of
    /// earlier results, which those of the last run are made in where it suffices, and has these results afterwards: after an
    /// error, anything.
    fn run_series(&mut self, series: &[Args<'_>], results: &mut Outcome) -> Result<(), RunError>;

    /// Gives output buffers that a backend would copy from a device memory whose pages are locked as long as what is returned
    /// lives, in `results`; it must not be dropped after that memory. `None` where there is nothing to lock, or where pages
    /// cannot be locked.
    fn lock(&mut self, _sizes: &Sizes, _results: &mut Outcome) -> Result<Option<Lock>, RunError> {
        Ok(None)
    }

    /// Runs the pass once on in-out buffers that are the caller's: `args` has the inputs only. What the run leaves in the
    /// in-out buffers is there afterwards, and not in the outcome. After an error they are as before, but for what
    /// `may_trap` says.
    ///
    /// `may_trap`: the pass's functions were built with checks that the bytecode does not have (overflow).
    fn run_in_place(
        &mut self,
        args: &Args<'_>,
        in_outs: &mut [(BufferId, SliceMut<'_>)],
        _may_trap: bool,
    ) -> Result<Outcome, RunError> {
        let mut all = args.clone();
        let given = in_outs.iter().map(|(id, s)| (*id, s.as_slice()));
        all.inputs.extend(given);
        let mut outcome = self.run(&all)?;
        for (id, to) in in_outs {
            let at = outcome.outputs.iter().position(|(b, _)| b == id);
            let at = at.ok_or_else(|| RunError::Invalid("an in-out buffer is no result".into()))?;
            let (_, from) = outcome.outputs.swap_remove(at);
            debug_assert_eq!(from.len(), to.as_slice().len());
            if !to.assign(from.as_slice()) {
                return Err(RunError::Invalid(
                    "an in-out buffer has another type".into(),
                ));
            }
        }
        Ok(outcome)
    }

    /// Runs independent queries, first things first. May take only the first few: the caller comes back with the rest.
    /// Takes at least one.
    fn run_batch(&mut self, queries: &[Args<'_>]) -> Vec<Result<Outcome, RunError>> {
        queries.iter().map(|args| self.run(args)).collect()
    }

    /// Queries of a batch that are in memory at once, at most: the session's own state and copies of it.
    fn slots(&self) -> u32 {
        1
    }

    /// Takes another topology, uploading only what differs, and keeps everything else. False where the backend cannot:
    /// the caller makes a new executor. After an error nothing has changed.
    fn update(&mut self, _topology: &TopologyArgs<'_>) -> Result<bool, RunError> {
        Ok(false)
    }

    /// Lends the topology that it holds, in the form in which it was given, so that another executor can be made of it. False
    /// where the backend cannot.
    fn lend_topology(
        &self,
        _borrow: &mut dyn FnMut(&TopologyArgs<'_>) -> Result<(), RunError>,
    ) -> Result<bool, RunError> {
        Ok(false)
    }

    /// What it did since it was made. A backend that does not count says nothing.
    fn counters(&self) -> Option<Counters> {
        None
    }

    /// What it can vary.
    fn limits(&self) -> Limits {
        Limits {
            max_ctas: 1,
            lanes_per_cta: 1,
            ctas_vary: false,
            jit: false,
            items_per_lane: 1,
            overlaps: false,
            bitmaps: false,
        }
    }

    /// Sets how the next launches should be, and says what it will do.
    fn follow(&mut self, _hint: &LaunchHint) -> Followed {
        Followed {
            ctas: self.limits().max_ctas,
            code: "unknown",
            sweeps: None,
            notes: vec!["the backend decides for itself"],
        }
    }

    /// Where the current run's progress can be read, if the backend tells.
    fn progress(&self) -> Option<Arc<Progress>> {
        None
    }

    /// Tells the progress of runs to come there, if the backend tells.
    fn set_progress(&mut self, _progress: Arc<Progress>) {}
}
