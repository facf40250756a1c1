//! A sweep: cut into chunks, run on one thread or on all of them, and merged in chunk order.

use super::collected::{AppendArg, PushArg, PushItems, ReduceArg};
use super::faults::Code;
use super::lane_args::{
    Cellular, Field, Fields, FieldsMut, INSIDE, LaneArg, Own, OwnMut, OwnRow, OwnRowMut, OwnValues,
    OwnValuesMut, Read, ReadRows, Rowed, Shared, Values, ValuesMut,
};
use super::looks::{Ahead, Looks, is_lent};
use super::pull::Pull;
use super::relations::InsertArg;
use super::walks::{
    AllEdges, Batches, Cut, EdgesFrom, ItemWalk, Items, Lane, Pulled, Span, Walk, cut_edges, room,
};
use crate::cpu::state::HostState;
use crate::dsl::Bits;
use crate::dsl::Reduction;
use crate::dsl::columns::{Element, Slice, SliceMut};
use crate::dsl::csr::Csr;
use crate::dsl::fault::{self, InLane, Lanes};
use crate::dsl::record::{Record, Rows};
use crate::dsl::views::{AtomicElement, Buf};
use crate::plan::footprint::{ALONE, CHUNK, PULLERS};
use crate::run::schedule::{Pending, lowest};
use crate::run::stop::lock;
use crate::vir0::module::{
    Access, BufferId, Domain, Extent, ListId, Mode, Program, Resource, UpdateOp, WaveId,
};
use rayon::prelude::*;
use std::cell::{Cell, Ref, RefCell, RefMut};
use std::marker::PhantomData;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

/// The name under which profilers show the lanes of a wave. The macros implement it for a type called like the wave's
/// function, because a symbol of a function in an `impl` names the type.
pub trait Named: Copy + Sync {
    /// Runs a chunk of lanes. It is never inlined, and what it calls always is, so that the loop belongs to its symbol.
    fn lanes<R>(self, chunk: impl FnOnce() -> R) -> R;
}

/// No name.
impl Named for () {
    #[inline(never)]
    fn lanes<R>(self, chunk: impl FnOnce() -> R) -> R {
        chunk()
    }
}

/// What the sweeps of one state keep beside it.
#[derive(Debug)]
pub(super) struct Scratch {
    /// By wave: what its sweep needs to pull, where that is allowed.
    pub(super) pulls: Vec<Option<RefCell<Pull>>>,
    /// By wave: the buffers where its lanes look at their ends.
    pub(super) looks: Vec<Looks>,
    /// Where chunks of edges begin.
    cuts: RefCell<Vec<Cut>>,
    /// Sweeps of this run that threads shared.
    pub(super) shared: Cell<u64>,
}

impl Scratch {
    pub(super) fn new(program: &Program) -> Scratch {
        Scratch {
            pulls: Pull::all(program),
            looks: Looks::all(program),
            cuts: RefCell::default(),
            shared: Cell::new(0),
        }
    }
}

/// One wave about to be swept.
///
/// Ids are those of the pass's program. A wrong id or type is a bug of the expansion and panics.
#[derive(Debug)]
pub struct Sweep<'s> {
    pub(super) state: &'s HostState,
    pub(super) scratch: &'s Scratch,
    /// What the caller lends the run to read.
    pub(super) inputs: &'s [(BufferId, Slice<'s>)],
    /// What the caller lends it to work on; a parameter takes its own.
    pub(super) in_outs: RefCell<Vec<(BufferId, SliceMut<'s>)>>,
    /// Where lanes will look, if that is worth asking for ahead.
    pub(super) ahead: Option<&'s Ahead>,
    pub(super) wave: WaveId,
    pub(super) round: u32,
}

impl<'s> Sweep<'s> {
    /// Which wave.
    pub fn wave(&self) -> WaveId {
        self.wave
    }

    /// Round of the innermost fixpoint.
    pub fn round(&self) -> u32 {
        self.round
    }

    /// Round of a fixpoint around the innermost one.
    pub fn outer_round(&self, fixpoint: u16) -> u32 {
        self.state.rounds[fixpoint as usize]
    }

    /// Number of nodes.
    pub fn nodes_count(&self) -> u32 {
        self.state.sizes.nodes as u32
    }

    /// A scalar of the run.
    pub fn scalar<T: Element>(&self, id: u16) -> T {
        T::from_bits64(self.state.sizes.scalars[id as usize])
    }

    /// A named constant of type u32.
    pub fn constant(&self, id: u16) -> u32 {
        self.state.program.constants[id as usize].bits as u32
    }

    /// A finished reduction.
    pub fn reduction<T: Element>(&self, id: u16) -> T {
        T::from_bits64(self.state.reductions[id as usize].borrow().value())
    }

    /// A topology.
    pub fn csr(&self, id: u16) -> &'s Csr {
        &self.state.graphs[id as usize].csr
    }

    /// An input that the caller lends the run.
    fn lent(&self, id: u16) -> Option<Slice<'s>> {
        if !is_lent(&self.state.program.buffers[id as usize]) {
            return None;
        }
        let input = self.inputs.iter().find(|(b, _)| b.0 == id);
        input.map(|&(_, values)| values)
    }

    fn values<T: Element>(&self, id: u16) -> Values<'s, T> {
        if let Some(values) = self.lent(id) {
            return Values::Lent(T::in_slice(values).expect(TYPED));
        }
        let buffer = self.state.buffers[id as usize].borrow();
        Values::Kept(Ref::map(buffer, |c| {
            T::in_column(c).expect(TYPED).as_slice()
        }))
    }

    fn values_mut<T: Element>(&self, id: u16) -> ValuesMut<'s, T> {
        let mut in_outs = self.in_outs.borrow_mut();
        if let Some(at) = in_outs.iter().position(|(b, _)| b.0 == id) {
            let (_, values) = in_outs.swap_remove(at);
            return ValuesMut::Lent(T::in_slice_mut(values).expect(TYPED));
        }
        let buffer = self.state.buffers[id as usize].borrow_mut();
        ValuesMut::Kept(RefMut::map(buffer, |c| {
            T::in_column_mut(c).expect(TYPED).as_mut_slice()
        }))
    }

    /// A whole buffer, read-only.
    pub fn read<T: Element>(&self, id: u16) -> Read<'s, T> {
        Read {
            values: self.values(id),
        }
    }

    /// Rows of differing lengths.
    pub fn rows<T: Element>(&self, offsets: u16, values: u16) -> ReadRows<'s, T> {
        ReadRows {
            offsets: self.values(offsets),
            values: self.values(values),
        }
    }

    /// Each lane's own row of differing length, read-only.
    pub fn own_values<T: Element>(&self, offsets: u16, values: u16) -> OwnValues<'s, T> {
        OwnValues {
            offsets: self.values(offsets),
            values: self.values(values),
        }
    }

    /// Each lane's own row of differing length.
    pub fn own_values_mut<T: AtomicElement>(
        &self,
        offsets: u16,
        values: u16,
    ) -> OwnValuesMut<'s, T> {
        OwnValuesMut {
            offsets: self.values(offsets),
            values: self.values_mut(values),
        }
    }

    /// A whole buffer of atomics.
    pub fn atomic<T: AtomicElement>(&self, id: u16) -> Shared<'s, T> {
        Shared {
            values: match self.values_mut(id) {
                ValuesMut::Kept(values) => Cellular::Kept(RefMut::map(values, Buf::atomic)),
                ValuesMut::Lent(values) => Cellular::Lent(Buf::atomic(values)),
            },
        }
    }

    /// A whole buffer of bit rows.
    pub fn bits(&self, id: u16) -> Rowed<'s> {
        if let Some(rows) = &self.state.rows[id as usize] {
            return Rowed::Shared(rows);
        }
        let sizes = &self.state.sizes;
        let program = &self.state.program;
        let Extent::NodeBits(width) = program.buffers[id as usize].extent else {
            unreachable!("the glue takes rows of a buffer of rows");
        };
        let width = sizes.width(program, width).expect("a run has its scalars");
        let nodes = sizes.nodes as u32;
        let buffer = self.state.buffers[id as usize].borrow_mut();
        let mut values = RefMut::map(buffer, |c| {
            u32::in_column_mut(c).expect("rows of bits are words")
        });
        let words = std::mem::take(&mut *values);
        Rowed::Kept(values, Bits::clean(words, nodes, width))
    }

    /// Each lane's own element, read-only.
    pub fn own<T: Element>(&self, id: u16) -> Own<'s, T> {
        Own {
            values: self.values(id),
        }
    }

    /// Each lane's own element.
    pub fn own_mut<T: AtomicElement>(&self, id: u16) -> OwnMut<'s, T> {
        OwnMut {
            values: self.values_mut(id),
        }
    }

    /// Each lane's own row of `K` elements, read-only.
    pub fn own_row<T: Element, const K: usize>(&self, id: u16) -> OwnRow<'s, T, K> {
        OwnRow {
            values: self.values(id),
        }
    }

    /// Each lane's own row of `K` elements.
    pub fn own_row_mut<T: AtomicElement, const K: usize>(&self, id: u16) -> OwnRowMut<'s, T, K> {
        OwnRowMut {
            values: self.values_mut(id),
        }
    }

    /// A struct-of-arrays buffer, read-only: a column of the lanes' own elements, or with [`Fields::view`] the whole
    /// buffer. `ids` are the buffers of the fields, in order.
    pub fn fields<T: Record>(&self, ids: &[u16]) -> Fields<'s, T> {
        let column = |&id: &u16| match self.lent(id) {
            Some(values) => Field::Lent(values),
            None => {
                let buffer = self.state.buffers[id as usize].borrow();
                Field::Kept(Ref::map(buffer, |h| &**h))
            }
        };
        Fields {
            columns: ids.iter().map(column).collect(),
            item: PhantomData,
        }
    }

    /// Each lane's own element of a struct-of-arrays buffer.
    pub fn fields_mut<T: Record>(&self, ids: &[u16]) -> FieldsMut<'s, T> {
        FieldsMut {
            columns: ids
                .iter()
                .map(|&id| RefMut::map(self.state.buffers[id as usize].borrow_mut(), |h| &mut **h))
                .collect(),
            item: PhantomData,
        }
    }

    /// The push side of a frontier.
    pub fn push(&self, id: u16) -> PushArg<'s> {
        PushArg {
            frontier: &self.state.frontiers[id as usize],
            nodes: self.nodes_count(),
            room: None,
        }
    }

    /// The push side of a frontier whose items are not nodes.
    pub fn push_items<T: Record>(&self, id: u16) -> PushItems<'s, T> {
        PushItems {
            frontier: &self.state.frontiers[id as usize],
            room: Arc::default(),
        }
    }

    /// The append side of a list.
    pub fn append<T: Record>(&self, id: u16) -> AppendArg<'s, T> {
        let accesses = &self.state.program.waves[self.wave.index()].accesses;
        let list = Resource::from(ListId(id));
        let only_appends = |a: &Access| a.mode == Mode::Update(UpdateOp::Append);
        AppendArg {
            list: &self.state.lists[id as usize],
            reads_slots: !accesses
                .iter()
                .any(|a| a.resource == list && only_appends(a)),
            room: Arc::default(),
        }
    }

    /// The insert side of a relation: of its list, and its table.
    pub fn insert<T: Record>(&self, list: u16, table: u16) -> InsertArg<'s, T> {
        InsertArg {
            rows: self.append(list),
            cells: self.atomic(table),
        }
    }

    /// The update side of a reduction.
    pub fn reduce<O: Reduction>(&self, id: u16) -> ReduceArg<'s, O> {
        ReduceArg {
            total: &self.state.reductions[id as usize],
            op: PhantomData,
        }
    }

    fn domain(&self) -> Domain {
        self.state.program.waves[self.wave.index()].domain
    }

    /// Sweeps one lane.
    pub fn once<N, C, F>(&self, name: N, mut args: C, kernel: F)
    where
        N: Named,
        C: LaneArg,
        F: for<'l> Fn(Lane, C::Item<'l>) + Sync + Copy,
    {
        args.ready(1);
        self.span_alone(1, &mut args, (name, kernel));
    }

    /// Sweeps the indices of the wave's range.
    pub fn range<N, C, F>(&self, name: N, mut args: C, kernel: F)
    where
        N: Named,
        C: LaneArg,
        F: for<'l> Fn(Lane, C::Item<'l>) + Sync + Copy,
    {
        let Domain::Range(extent) = self.domain() else {
            unreachable!("the glue sweeps the wave's own domain");
        };
        let len = self
            .state
            .len_of("range", extent)
            .expect("ranges were checked when the run began");
        self.span(len, &mut args, (name, kernel));
    }

    /// Sweeps every node.
    pub fn nodes<N, C, F>(&self, name: N, mut args: C, kernel: F)
    where
        N: Named,
        C: LaneArg,
        F: for<'l> Fn(Lane, C::Item<'l>) + Sync + Copy,
    {
        let nodes = self.state.sizes.nodes as usize;
        self.span(nodes, &mut args, (name, kernel));
    }

    /// Sweeps the items of the wave's frontier.
    pub fn items<N, C, F>(&self, name: N, mut args: C, kernel: F)
    where
        N: Named,
        C: LaneArg,
        F: for<'l> Fn(Lane, C::Item<'l>) + Sync + Copy,
    {
        let Domain::Items(frontier) = self.domain() else {
            unreachable!("the glue sweeps the wave's own domain");
        };
        let items = self.state.frontiers[frontier.index()].items.borrow();
        let items: &[u32] = &items;
        self.sweep(&mut args, (name, kernel), chunks(items.len()), |chunk| {
            let (next, end) = borders(items.len(), chunk);
            Items {
                items: &items[..end],
                next,
            }
        });
    }

    /// Sweeps the items of the wave's list, or of its frontier of items that are not nodes.
    pub fn records<N, T, C, F>(&self, name: N, mut args: C, kernel: F)
    where
        N: Named,
        T: Record,
        C: LaneArg,
        F: for<'l> Fn(Lane, T, C::Item<'l>) + Sync + Copy,
    {
        let (items, range) = match self.domain() {
            Domain::Items(f) => {
                let records = self.state.frontiers[f.index()].records.as_ref();
                let items = records.expect("the glue sweeps what the frontier holds");
                let items = items.items.borrow();
                let len = items.len();
                (items, 0..len)
            }
            Domain::ListItems(..) => {
                let (list, range) = self.state.list_items(self.wave);
                (self.state.lists[list.index()].items.borrow(), range)
            }
            _ => unreachable!("the glue sweeps the wave's own domain"),
        };
        let (items, len): (&Rows, usize) = (&items, range.len());
        let arrays = items.arrays::<T>();
        let kernel = move |lane: Lane, args: C::Item<'_>| {
            let item = arrays.get(lane.index as usize).expect(INSIDE);
            kernel(lane, T::from_shape(item), args);
        };
        self.sweep(&mut args, (name, kernel), chunks(len), |chunk| {
            let (next, end) = borders(len, chunk);
            ItemWalk {
                items,
                span: Span {
                    next: (range.start + next) as u32,
                    end: (range.start + end) as u32,
                },
            }
        });
    }

    /// Sweeps every edge of the wave's topology.
    pub fn edges<N, C, F>(&self, name: N, mut args: C, kernel: F)
    where
        N: Named,
        C: LaneArg,
        F: for<'l> Fn(Lane, C::Item<'l>) + Sync + Copy,
    {
        let Domain::Edges(topology) = self.domain() else {
            unreachable!("the glue sweeps the wave's own domain");
        };
        let graph = self.csr(topology.0);
        let edges = graph.edge_count();
        self.sweep(&mut args, (name, kernel), chunks(edges), |chunk| {
            let (next, end) = borders(edges, chunk);
            let after = graph.offsets().partition_point(|&o| o as usize <= next);
            AllEdges {
                graph,
                src: after.saturating_sub(1) as u32,
                next: next as u32,
                end: end as u32,
            }
        });
    }

    /// Sweeps every edge out of the items of the wave's frontier, an equal number of edges a chunk.
    pub fn edges_from<N, C, F>(&self, name: N, mut args: C, kernel: F)
    where
        N: Named,
        C: LaneArg,
        F: for<'l> Fn(Lane, C::Item<'l>) + Sync + Copy,
    {
        let Domain::EdgesFrom(topology, frontier) = self.domain() else {
            unreachable!("the glue sweeps the wave's own domain");
        };
        let graph = &self.state.graphs[topology.index()];
        let front = &self.state.frontiers[frontier.index()].items;
        if graph.leads_down {
            // What lanes hand on goes further in one round where they follow the edges.
            let mut items = front.borrow_mut();
            if items.first() < items.last() {
                items.reverse();
            }
        }
        let items: &[u32] = &front.borrow();
        if self.state.sweeps.pulls
            && let Some(pull) = &self.scratch.pulls[self.wave.index()]
        {
            let mut pull = pull.borrow_mut();
            let graphs = &self.state.graphs;
            if let Some(into) = pull.turn(graphs, topology, items, self.round) {
                let (pull, nodes) = (&*pull, into.node_count());
                return self.sweep(
                    &mut args,
                    (name, kernel),
                    nodes.div_ceil(PULLERS),
                    |chunk| Pulled {
                        into,
                        front: &pull.front,
                        done: &pull.done,
                        next: chunk * PULLERS,
                        end: nodes.min((chunk + 1) * PULLERS),
                    },
                );
            }
        }
        let mut cuts = self.scratch.cuts.borrow_mut();
        let repeats = !self.state.program.frontiers[frontier.index()].unique;
        if !cut_edges(&mut cuts, graph, items, repeats) {
            let chunks = graph.csr.edge_count().div_ceil(CHUNK);
            return self.state.starve::<Cut>(chunks);
        }
        let cuts: &[Cut] = &cuts;
        let walk = |chunk| EdgesFrom::new(&graph.csr, items, cuts[chunk], cuts[chunk + 1]);
        match self.ahead {
            None => self.sweep(&mut args, (name, kernel), cuts.len() - 1, walk),
            Some(looks) => self.sweep(&mut args, (name, kernel), cuts.len() - 1, |chunk| Batches {
                walk: walk(chunk),
                looks,
                lanes: [Lane::default(); Batches::LANES],
                at: 0,
                len: 0,
            }),
        }
    }

    /// Sweeps lanes that are consecutive from 0 on. Each chunk has its own part of the args, so that a kernel
    /// without faults is a plain loop over slices.
    fn span<N, C, F>(&self, len: usize, args: &mut C, (name, kernel): (N, F))
    where
        N: Named,
        C: LaneArg,
        F: for<'l> Fn(Lane, C::Item<'l>) + Sync + Copy,
    {
        let chunks = chunks(len);
        args.ready(chunks);
        if !self.shares(chunks, args) {
            return self.span_alone(len, args, (name, kernel));
        }
        let code = self.code();
        let waits = args.waits();
        self.run_shared(chunks, args, |args, group, done| {
            let span_of = |chunk| borders(len, chunk);
            let Some(parts) = parts_of(args, group.clone(), span_of) else {
                return false;
            };
            in_turn(waits, done, |at| {
                let part = lock(&parts[at]).take();
                let part = part.expect("each chunk runs once");
                let _in_lane = InLane::enter(Lanes::Shared, &code.watch);
                let (first, end) = span_of(group.start + at);
                let local = C::open_part(&part, at);
                let span = (first, end - first);
                lanes_of_span::<N, C, F>(&code, (part, local), span, (name, kernel))
            });
            true
        });
    }

    /// The same on this thread, with args that are ready.
    fn span_alone<N, C, F>(&self, len: usize, args: &mut C, (name, kernel): (N, F))
    where
        N: Named,
        C: LaneArg,
        F: for<'l> Fn(Lane, C::Item<'l>) + Sync + Copy,
    {
        let code = self.code();
        for chunk in 0..chunks(len) {
            let _in_lane = InLane::enter(Lanes::Alone, &code.watch);
            let (first, end) = borders(len, chunk);
            let local = args.begin();
            let (_, part) = C::cut(args.whole(), first);
            let span = (first, end - first);
            let done = lanes_of_span::<N, C, F>(&code, (part, local), span, (name, kernel));
            self.close(args, done);
        }
    }

    /// Merges a chunk.
    #[inline]
    fn close<C: LaneArg>(&self, args: &C, (local, found): Done<C>) {
        args.close(local);
        self.state.fail(found);
    }

    /// Runs the chunks of a sweep that threads share, as many at a time as the args say, and merges them in order.
    /// `run` gives what a group leaves; false where it has no memory.
    fn run_shared<C: LaneArg>(
        &self,
        chunks: usize,
        args: &mut C,
        run: impl Fn(&mut C, Range<usize>, &[Mutex<Option<Done<C>>>]) -> bool,
    ) {
        let mut merged = 0;
        while merged < chunks {
            let group = args.chunks_at_once().min(chunks - merged);
            let Some(mut done) = room(group) else {
                return self.state.starve::<Done<C>>(group);
            };
            done.resize_with(group, Mutex::default);
            let ran = args.share(group) && run(args, merged..merged + group, &done);
            args.gather();
            if !ran {
                return self.state.starve::<Done<C>>(group);
            }
            for chunk in done {
                let chunk = chunk.into_inner().unwrap_or_else(PoisonError::into_inner);
                self.close(args, chunk.expect("each chunk ran"));
            }
            merged += group;
        }
    }

    fn code(&self) -> Code<'s> {
        Code {
            program: &self.state.program,
            wave: self.wave,
            watch: self.state.meter.watch(),
        }
    }

    /// Whether threads share the chunks of a sweep. The chunks are the same either way, so results do not depend on it.
    fn shares(&self, chunks: usize, args: &impl LaneArg) -> bool {
        let shares = chunks > 1
            && (chunks * CHUNK) as u64 >= self.state.shared_from(self.wave)
            && rayon::current_num_threads() > 1
            && !args.in_order();
        if shares {
            let count = &self.scratch.shared;
            count.set(count.get() + 1);
        }
        shares
    }

    fn sweep<N, C, F, W>(
        &self,
        args: &mut C,
        (name, kernel): (N, F),
        chunks: usize,
        walk: impl Fn(usize) -> W + Sync,
    ) where
        N: Named,
        C: LaneArg,
        F: for<'l> Fn(Lane, C::Item<'l>) + Sync + Copy,
        W: Walk,
    {
        let code = self.code();
        args.ready(chunks);
        if !self.shares(chunks, args) {
            for chunk in 0..chunks {
                let _in_lane = InLane::enter(Lanes::Alone, &code.watch);
                let local = args.begin();
                let lanes = (args.view(), local);
                let done =
                    lanes_of_chunk::<N, C, F, W>(&code, lanes, (&walk, chunk), (name, kernel));
                self.close(args, done);
            }
            return;
        }
        let lanes = match W::APART {
            true => Lanes::Alone,
            false => Lanes::Shared,
        };
        let waits = args.waits();
        self.run_shared(chunks, args, |args, group, done| {
            let view = args.view();
            in_turn(waits, done, |at| {
                let _in_lane = InLane::enter(lanes, &code.watch);
                let lanes = (view, C::open(view, at));
                let walk = (&walk, group.start + at);
                lanes_of_chunk::<N, C, F, W>(&code, lanes, walk, (name, kernel))
            });
            true
        });
    }
}

/// Runs a chunk for each place of `done` on all threads; the place gets what it leaves.
///
/// Where a chunk may have to wait for those before it, a thread takes the next one, whichever part of the range it came
/// for: how a pool shares out work must not decide whether a sweep ends. Otherwise a thread has neighbours, and finds
/// them in its cache in the next sweep.
fn in_turn<D: Send>(waits: bool, done: &[Mutex<Option<D>>], run: impl Fn(usize) -> D + Sync) {
    let next = AtomicUsize::new(0);
    on_all(done.len(), &|at| {
        let at = if waits {
            next.fetch_add(1, Relaxed)
        } else {
            at
        };
        *lock(&done[at]) = Some(run(at));
    });
}

/// Calls with each number on all threads. What shares them out is compiled once, and not for each wave.
fn on_all(numbers: usize, run: &(dyn Fn(usize) + Sync)) {
    (0..numbers).into_par_iter().for_each(run);
}

/// What a chunk leaves.
pub(super) type Done<C> = (<C as LaneArg>::Local, Option<Box<Pending>>);

/// The parts of chunks of a sweep that follow each other; `borders` are theirs. `None` where there is no memory for a
/// list of them.
pub(super) fn parts_of<C: LaneArg>(
    args: &mut C,
    chunks: Range<usize>,
    borders: impl Fn(usize) -> (usize, usize),
) -> Option<Vec<Mutex<Option<C::Part<'_>>>>> {
    let mut parts = room(chunks.len())?;
    let (_, mut rest) = C::cut(args.whole(), borders(chunks.start).0);
    for (first, end) in chunks.map(borders) {
        let (part, after) = C::cut(rest, end - first);
        parts.push(Mutex::new(Some(part)));
        rest = after;
    }
    Some(parts)
}

/// [`run_span`] under a wave's name: the one copy for sweeps on one thread and on all.
fn lanes_of_span<N, C, F>(
    code: &Code<'_>,
    lanes: (C::Part<'_>, C::Local),
    span: (usize, usize),
    (name, kernel): (N, F),
) -> Done<C>
where
    N: Named,
    C: LaneArg,
    F: for<'l> Fn(Lane, C::Item<'l>) + Copy,
{
    name.lanes(|| run_span::<C, F>(code, lanes, span, kernel))
}

/// [`run_chunk`] under a wave's name.
fn lanes_of_chunk<N, C, F, W>(
    code: &Code<'_>,
    lanes: (C::View<'_>, C::Local),
    (walk, chunk): (&impl Fn(usize) -> W, usize),
    (name, kernel): (N, F),
) -> Done<C>
where
    N: Named,
    C: LaneArg,
    F: for<'l> Fn(Lane, C::Item<'l>) + Copy,
    W: Walk,
{
    name.lanes(|| run_chunk::<C, F, W>(code, lanes, || walk(chunk), kernel))
}

/// Runs the lanes of a chunk of consecutive ones as [`run_chunk`] does: `len` from `first` on.
#[inline(always)]
pub(super) fn run_span<C, F>(
    code: &Code<'_>,
    (mut part, mut local): (C::Part<'_>, C::Local),
    (first, len): (usize, usize),
    kernel: F,
) -> (C::Local, Option<Box<Pending>>)
where
    C: LaneArg,
    F: for<'l> Fn(Lane, C::Item<'l>) + Copy,
{
    let mut next = 0;
    let mut found = None;
    loop {
        if code.watch.has_ended() {
            C::end(&mut local);
            return (local, found);
        }
        let lanes = AssertUnwindSafe(|| {
            let mut at = Count {
                now: next,
                to: &mut next,
            };
            let mut part = C::first(&mut part, len);
            while at.now < len {
                let offset = at.now;
                at.now += 1;
                let lane = Lane {
                    index: (first + offset) as u32,
                    src: 0,
                    dst: 0,
                };
                let mut slot = C::slot();
                let own = (&mut local, &mut slot);
                kernel(lane, C::get_at(&mut part, own, (lane, offset)));
                C::put_at(&mut part, slot, (lane, offset));
            }
        });
        match catch_unwind(lanes) {
            Ok(()) => {
                C::end(&mut local);
                return (local, found);
            }
            Err(payload) if fault::is_stop(&*payload) => {
                code.watch.cut.store(true, Relaxed);
                C::end(&mut local);
                return (local, found);
            }
            Err(payload) => {
                let item = (first + next - 1) as u32;
                let pending = code.locate(item, fault::classify(payload));
                found = lowest(found, Some(Box::new(pending)));
            }
        }
    }
}

/// How far a loop is: in a register while it goes on, and written back when it ends or a lane unwinds.
pub(super) struct Count<'c> {
    pub(super) now: usize,
    pub(super) to: &'c mut usize,
}

impl Drop for Count<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        *self.to = self.now;
    }
}

/// Runs the lanes of one chunk on this thread, which has entered them; the chunk's state, and the lowest of the faults.
///
/// What the loop needs is made or copied here, where the compiler sees all of its uses and keeps it in registers.
#[inline(always)]
pub(super) fn run_chunk<C, F, W>(
    code: &Code<'_>,
    (view, mut local): (C::View<'_>, C::Local),
    walk: impl FnOnce() -> W,
    kernel: F,
) -> (C::Local, Option<Box<Pending>>)
where
    C: LaneArg,
    F: for<'l> Fn(Lane, C::Item<'l>) + Copy,
    W: Walk,
{
    let mut walk = walk();
    let mut found = None;
    loop {
        if code.watch.has_ended() {
            C::end(&mut local);
            return (local, found);
        }
        let lanes = AssertUnwindSafe(|| {
            walk.walk(|lane| {
                let mut slot = C::slot();
                kernel(lane, C::get(&view, (&mut local, &mut slot), lane));
                C::put(&view, slot, lane);
            });
        });
        match catch_unwind(lanes) {
            Ok(()) => {
                C::end(&mut local);
                return (local, found);
            }
            Err(payload) if fault::is_stop(&*payload) => {
                code.watch.cut.store(true, Relaxed);
                C::end(&mut local);
                return (local, found);
            }
            Err(payload) => {
                let pending = code.locate(walk.current(), fault::classify(payload));
                found = lowest(found, Some(Box::new(pending)));
            }
        }
    }
}

pub(super) const TYPED: &str = "the buffer has its declared type";

/// Chunks of a sweep over `len` items.
pub(super) fn chunks(len: usize) -> usize {
    if len <= ALONE { 1 } else { len.div_ceil(CHUNK) }
}

pub(super) fn borders(len: usize, chunk: usize) -> (usize, usize) {
    if len <= ALONE {
        (0, len)
    } else {
        (chunk * CHUNK, len.min((chunk + 1) * CHUNK))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    #[test]
    fn chunks_that_may_wait_begin_in_order_however_a_pool_shares_out_work() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2);
        #[expect(
            deprecated,
            reason = "no other pool begins with what was put off first"
        )]
        let pool = pool.breadth_first().build().expect("there are threads");
        // One thread is busy, so that the other one has all chunks.
        let ((is_busy, busy), (free, freed)) = (channel(), channel::<()>());
        pool.spawn(move || {
            is_busy.send(()).expect("the test waits");
            freed.recv().expect_err("nothing is sent");
        });
        busy.recv().expect("a thread comes");
        let begun = Mutex::new(Vec::new());
        let done: Vec<Mutex<Option<usize>>> = (0..64).map(|_| Mutex::default()).collect();
        pool.install(|| {
            in_turn(true, &done, |at| {
                lock(&begun).push(at);
                at
            });
        });
        drop(free);
        assert!(
            begun
                .into_inner()
                .expect("no chunk panicked")
                .into_iter()
                .eq(0..64)
        );
        assert!(done.iter().map(|done| *lock(done)).eq((0..64).map(Some)));
    }
}
