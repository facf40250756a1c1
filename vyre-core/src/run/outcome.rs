//! What a run gives back: its results in an [`Outcome`], and what it did in a [`Report`].
//!
//! Results are exchanged, not copied: the vectors of an `Output` and the columns of an `Outcome` swap places. So the
//! same functions give results, and lend the memory of an earlier result to the next run.

use crate::dsl::Bits;
use crate::dsl::columns::{Column, Element};
use crate::dsl::error::RunError;
use crate::dsl::record::{Record, Shape};
use crate::vir0::module::{BufferId, FixpointId, ListId, ReductionId, row_words};
use crate::vir0::scalar::Scalar;

/// What one run gives back.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Output and in-out buffers, in buffer order.
    pub outputs: Vec<(BufferId, Column)>,
    /// Nodes and bits of a row of the buffers of bit rows ([`Sizes::rows`](crate::vir0::sizes::Sizes::rows)).
    pub rows: Vec<(BufferId, u32, u32)>,
    /// Fields of the items of the output lists, in list order: only what the list holds.
    pub lists: Vec<(ListId, Vec<Column>)>,
    /// Raw bits of the output reductions.
    pub reductions: Vec<(ReductionId, u64)>,
    /// Rounds, times and counts of the run.
    pub report: Report,
    /// The pages of the outputs' memory are locked ([`Executor::lock`](super::backend::Executor::lock)): it is neither
    /// grown nor freed.
    pub locked: bool,
    /// Bytes for which there was no memory when values were put together.
    #[doc(hidden)]
    pub starved_bytes: u64,
}

impl Outcome {
    /// Swaps the values of an output buffer with these, memory included. An outcome that does not have the buffer
    /// counts as one with an empty buffer, so an empty outcome takes the memory over.
    pub fn exchange<T: Element>(&mut self, id: BufferId, values: &mut Vec<T>) {
        let column = entry(&mut self.outputs, id, || T::column(Vec::new()));
        let column = T::in_column_mut(column).expect("the output has its declared type");
        std::mem::swap(column, values);
    }

    /// [`exchange`](Outcome::exchange) for an output buffer of bit rows.
    pub fn exchange_bits(&mut self, id: BufferId, bits: &mut Bits) {
        let mut words = std::mem::take(bits).into_words();
        self.exchange(id, &mut words);
        // What is no result has no rows.
        let fits = |nodes: u32, width| nodes as usize * row_words(width) as usize == words.len();
        let mut shapes = self.rows.iter();
        let shape = shapes.find(|&&(b, nodes, width)| b == id && fits(nodes, width));
        let (nodes, width) = shape.map_or((0, 0), |&(_, nodes, width)| (nodes, width));
        *bits = Bits::clean(words, nodes, width);
    }

    /// [`exchange`](Outcome::exchange) for an output list. Items of several scalars are put together in the memory of
    /// `items`, and the outcome keeps the columns that they came from.
    pub fn exchange_list<T: Record>(&mut self, id: ListId, items: &mut Vec<T>) {
        let columns = entry(&mut self.lists, id, Vec::new);
        self.starved_bytes = self.starved_bytes.max(exchange_columns(columns, items));
    }

    /// [`exchange`](Outcome::exchange) for an output of rows of structs, which lie in consecutive buffers.
    pub fn exchange_rows<T: Record>(&mut self, first: BufferId, rows: &mut Vec<T>) {
        let mut ids = first.0..first.0;
        T::Shape::each_scalar(&mut |_| ids.end += 1);
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
    pub fn memory_of(&mut self, id: BufferId, scalar: Scalar) -> Option<Column> {
        let at = self.outputs.iter().position(|(b, _)| *b == id)?;
        let (_, column) = self.outputs.swap_remove(at);
        (column.scalar() == scalar && column.capacity() > 0).then_some(column)
    }

    /// An output buffer's column of that type, with whatever it holds; an empty one where there is none.
    pub fn output_mut(&mut self, id: BufferId, scalar: Scalar) -> &mut Column {
        let none = || Column::filled(scalar, 0, 0);
        let column = entry(&mut self.outputs, id, none);
        if column.scalar() != scalar {
            *column = none();
        }
        column
    }

    /// The columns of an output list's fields, likewise.
    pub fn list_mut(&mut self, id: ListId, fields: &[Scalar]) -> &mut [Column] {
        let columns = entry(&mut self.lists, id, Vec::new);
        let has = columns.iter().map(Column::scalar);
        if !has.eq(fields.iter().copied()) {
            *columns = fields.iter().map(|&f| Column::filled(f, 0, 0)).collect();
        }
        columns
    }

    /// The memory of an output list, if it has some of those types.
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
fn exchange_columns<T: Record>(columns: &mut Vec<Column>, values: &mut Vec<T>) -> u64 {
    let len = columns.first().map_or(0, Column::len);
    match T::exchange(columns, values) {
        true => 0,
        false => (len * size_of::<T>()) as u64,
    }
}

/// Room for what is held of this number of queries, or of topologies.
///
/// # Errors
/// The system has no memory left for it.
pub fn for_queries<T>(queries: usize) -> Result<Vec<T>, RunError> {
    let mut all = Vec::new();
    match all.try_reserve_exact(queries) {
        Ok(()) => Ok(all),
        Err(_) => Err(RunError::no_memory(
            format_args!("a list of {queries} entries"),
            (queries as u64).saturating_mul(size_of::<T>() as u64),
        )),
    }
}

/// Gives results to a typed output, in its memory where that suffices, and takes the memory that it had before. Where
/// there is none for rows of structs, it is an error.
///
/// After an error, of `run` or of this, the output is empty. What its memory was is `results`', or the output's.
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
    /// Which backend ran it ([`Backend::name`](crate::run::backend::Backend::name)); empty until a session has said so.
    pub backend: &'static str,
    /// What ran it, where a backend has two routes: `"interpreted"` or `"compiled"`; empty elsewhere.
    pub route: &'static str,
    /// Rounds run, by fixpoint, summed over re-entries; where each part of a graph runs it by itself, the most that one
    /// took.
    pub rounds: Vec<u64>,
    /// Host wall time of the run, uploads and readback included, in nanoseconds. A backend may leave it 0: its session
    /// then says how long the call took.
    pub wall_ns: u64,
    /// Device time of the launch where there is a device.
    pub device_ns: Option<u64>,
    /// What of the wall time went to all but rounds and sweeps (uploads, the launch, readback), where the backend
    /// measures it.
    pub overhead_ns: Option<u64>,
    /// What the frontiers held, where the backend counts it.
    pub activity: Option<Activity>,
    /// What was read back.
    pub readback: Readback,
    /// Sweeps of each wave, where the backend was asked to time them
    /// ([`LaunchHint::time_waves`](super::backend::LaunchHint::time_waves)). Of a query of a batch, its own.
    pub waves: Option<Vec<WaveTime>>,
}

/// The sweeps of a wave in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WaveTime {
    /// How many.
    pub sweeps: u64,
    /// What they took together, in nanoseconds. On a CPU, wall time of the sweeps alone. On a GPU, device time from
    /// where a sweep is handed out to where the next one is, or the pass ends: with the barrier after it, and what is
    /// decided there. Of waves without a barrier between them it is as one worker saw it, so that waiting for the
    /// others counts for the last one. What is done before the first sweep is no wave's.
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
    /// Sweeps that pulled, as [`crate::plan::pull`] allows, where that looks at fewer edges: natively and on CUDA.
    pub pulled: u64,
    /// Rounds that one cluster of CTAs ran among itself, on a GPU that has clusters.
    pub cluster_rounds: u64,
    /// Sweeps over a list that a bitmap brought into the order of the nodes, as dense routes ask for
    /// ([`crate::plan::route`]); on a CPU.
    pub ordered: u64,
    /// Sweeps that the threads of a CPU shared, those over all nodes, indices and edges included.
    pub shared: u64,
    /// Sweeps that took several waves of a barrier group at once, as the route of fused waves asks for: in the VIR0
    /// interpreter.
    pub fused: u64,
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
    /// Bytes that the copies from a device had together: of slab and large results, of the control words in front of the
    /// slab, and what was copied of the slab for nothing, because the run before had found more. Of a series, those of
    /// all its runs. 0 on a CPU, where results are the memory in which they were made.
    pub copied_bytes: u64,
}

impl Activity {
    /// Takes in what parts of a graph did.
    pub(crate) fn take_in(&mut self, parts: &Activity) {
        self.sweeps += parts.sweeps;
        self.items += parts.items;
        self.widest = self.widest.max(parts.widest);
        self.pulled += parts.pulled;
        self.cluster_rounds += parts.cluster_rounds;
        self.ordered += parts.ordered;
        self.shared += parts.shared;
        self.fused += parts.fused;
    }
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
