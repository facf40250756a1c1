//! Fixpoints that each part of a graph runs by itself ([`crate::vir0::local`]).
//!
//! A part runs on a state of its own, which has the part's ranges of what lanes see as the part's. They are copied in
//! before, and what waves write is copied back after. So all sweeps know what they see, and what a small part works on
//! lies in the cache. Parts that follow each other are a group, which is what a thread takes at a time.

use super::frontier::Frontier;
use super::graph::Graph;
use super::run::Sweeping;
use super::{Bodies, Held, HostState, List};
use crate::dsl::Bits;
use crate::dsl::columns::{Column, Element, Slice, SliceMut};
use crate::dsl::error::RunError;
use crate::dsl::record::Rows;
use crate::plan::footprint::MOST_PARTS_AT_ONCE;
use crate::plan::route::Route;
use crate::run::args::Args;
use crate::run::outcome::Activity;
use crate::run::schedule::Course;
use crate::run::stop::lock;
use crate::vir0::local::{Local, locals};
use crate::vir0::module::{
    BufferId, Extent, FixpointId, FrontierId, ListId, Mode, Program, QueueId, Resource, TopologyId,
    row_words,
};
use crate::vir0::sizes::Sizes;
use crate::vir0::trap::{Part, Trap, TrapKind};
use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

/// Nodes and edges from which a group of parts is large enough for a thread.
const GROUP_WORK: u64 = 8192;

/// What the waves of a local fixpoint use.
struct Uses {
    /// What has the part's length, by id, and whether it is written.
    cut: Vec<(BufferId, bool)>,
    /// What is read as it is.
    whole: Vec<BufferId>,
    /// Graphs that fall into the parts.
    graphs: Vec<TopologyId>,
    frontiers: Vec<FrontierId>,
    lists: Vec<ListId>,
}

impl Uses {
    fn of(program: &Program, local: &Local) -> Uses {
        let mut uses = Uses {
            cut: Vec::new(),
            whole: Vec::new(),
            graphs: (0..program.topologies.len())
                .map(|t| TopologyId(t as u16))
                .filter(|&t| local.splits(program, t))
                .collect(),
            frontiers: local.frontiers(program).collect(),
            lists: Vec::new(),
        };
        let waves = local.waves(program);
        let accesses = waves.flat_map(|w| &program.waves[w.index()].accesses);
        let mut used: Vec<(Resource, bool)> = accesses
            .map(|a| (a.resource, a.mode != Mode::Read))
            .collect();
        for (id, fixpoint) in (0u16..).zip(&program.fixpoints) {
            if local.contains(program, Some(FixpointId(id))) {
                let swapped = fixpoint.swaps.iter().flat_map(|&(a, b)| [a, b]);
                used.extend(swapped.map(|b| (Resource::Buffer(b), true)));
            }
        }
        used.sort_unstable();
        for same in used.chunk_by(|a, b| a.0 == b.0) {
            let written = same.iter().any(|&(_, written)| written);
            match same[0].0 {
                Resource::Buffer(b) => {
                    match local.cuts(program, program.buffers[b.index()].extent) {
                        true => uses.cut.push((b, written)),
                        false => uses.whole.push(b),
                    }
                }
                Resource::Queue(QueueId::List(l)) => uses.lists.push(l),
                Resource::Queue(QueueId::Frontier(_)) => {}
                Resource::Topology(_) | Resource::Reduction(_) => {}
            }
        }
        uses
    }
}

/// Where a part's elements of a buffer come from.
enum Source<'j> {
    Slice(Slice<'j>),
    /// Rows that all sessions share.
    Rows(&'j Bits),
}

/// Parts that follow each other, and their elements of what is written, in the order of the uses.
pub(crate) struct Group<'j> {
    parts: Range<usize>,
    written: Vec<SliceMut<'j>>,
}

/// What a group leaves.
pub(crate) struct Done {
    parts: Range<usize>,
    /// By fixpoint: the most that one part took.
    rounds: Vec<u64>,
    /// What was appended, in the order of the uses, with what there was no room for.
    appended: Vec<(Rows, u64)>,
    /// What was pushed and waits, in the order of the uses.
    waiting: Vec<Vec<u32>>,
    /// The first part that ended early, and how.
    ended: Option<(usize, RunError)>,
}

/// A local fixpoint that is about to be run, and everything that its parts share.
pub(crate) struct Job<'j> {
    program: &'j Program,
    local: Local,
    uses: &'j Uses,
    bounds: &'j [u32],
    graphs: &'j [Arc<Graph>],
    sizes: &'j Sizes,
    /// In the order of the uses; `None`: it is written.
    read: Vec<Option<Source<'j>>>,
    /// By frontier of the uses: nodes of the whole graph that wait, by part.
    waiting: Vec<Vec<u32>>,
    capacities: Vec<usize>,
    args: Args<'j>,
    /// No part from here on counts any more.
    ended: AtomicUsize,
    /// The largest comes last.
    groups: Mutex<Vec<Group<'j>>>,
}

impl HostState {
    /// Each part runs the fixpoint that begins at this step. Gives by fixpoint the most rounds that one took.
    pub(super) fn each(
        &mut self,
        bodies: &mut impl Bodies,
        args: &Args<'_>,
        step: usize,
    ) -> Result<Vec<u64>, RunError> {
        let program = Arc::clone(&self.program);
        let local = locals(&program).find(|l| l.step == step);
        let local = local.expect("a verified step has its bounds");
        let uses = Uses::of(&program, &local);
        let bounds = match self.buffers[local.bounds.index()].get_mut() {
            Held::Shared(bounds) => Arc::clone(bounds),
            Held::Own(_) => unreachable!("bounds are a topology's"),
        };
        let bounds = u32::in_column(&bounds).expect("verified bounds are u32");
        let waiting = self.waiting_by_part(&uses, bounds);
        let lent = self.lend(&uses);
        let work_left = self.meter.work_left();
        let states = self.states_of_parts(bodies, &local, &uses, bounds);
        let (sizes, graphs) = (self.sizes.clone(), self.graphs.clone());
        let capacities: Vec<usize> = uses
            .lists
            .iter()
            .map(|l| self.lists[l.index()].capacity)
            .collect();
        let run = states.map(|mut states| {
            let (read, written) = self.sources(&uses, args);
            let whole = |id: &BufferId| uses.whole.contains(id);
            let inputs = args.inputs.iter().filter(|(id, _)| whole(id));
            let job = Job {
                program: &program,
                groups: Mutex::new(groups(
                    &program,
                    &local,
                    &uses,
                    (bounds, &graphs, &sizes),
                    written,
                )),
                local,
                uses: &uses,
                bounds,
                graphs: &graphs,
                sizes: &sizes,
                read,
                waiting,
                capacities,
                args: Args {
                    scalars: args.scalars.clone(),
                    inputs: inputs.copied().collect(),
                },
                ended: AtomicUsize::new(usize::MAX),
            };
            let done = bodies.parts(&job, &mut states);
            (done, states)
        });
        let run = run.map(|(done, states)| {
            for state in &states {
                self.meter.take_in(&state.meter, work_left);
                self.activity.take_in(&state.activity);
            }
            done
        });
        self.take_back(lent);
        let mut done = run?;
        done.sort_unstable_by_key(|done| done.parts.start);
        let ended = done.iter_mut().filter_map(|done| done.ended.take());
        if let Some((_, error)) = ended.min_by_key(|&(part, _)| part) {
            return Err(error);
        }
        let mut rounds = vec![0; program.fixpoints.len()];
        let mut waiting = vec![Vec::new(); uses.frontiers.len()];
        for done in done {
            for (most, rounds) in rounds.iter_mut().zip(done.rounds) {
                *most = rounds.max(*most);
            }
            for (all, more) in waiting.iter_mut().zip(done.waiting) {
                all.extend(more);
            }
            for (&list, (rows, refused)) in uses.lists.iter().zip(done.appended) {
                self.lists[list.index()].take_rows(rows, refused);
            }
        }
        for (f, nodes) in uses.frontiers.iter().zip(waiting) {
            self.frontiers[f.index()].put_waiting(nodes);
        }
        Ok(rounds)
    }

    /// What waits on the parts' frontiers: by part, and for each part in the order in which it was pushed.
    fn waiting_by_part(&mut self, uses: &Uses, bounds: &[u32]) -> Vec<Vec<u32>> {
        let frontiers = uses.frontiers.iter();
        let taken = frontiers.map(|f| {
            let mut nodes = self.frontiers[f.index()].take_waiting();
            if !nodes.is_sorted() {
                nodes.sort_by_cached_key(|&v| bounds.partition_point(|&bound| bound <= v));
            }
            nodes
        });
        taken.collect()
    }

    /// What is read as it is can be read by all threads; gives what is to be taken back.
    fn lend(&mut self, uses: &Uses) -> Vec<BufferId> {
        let mut lent = Vec::new();
        for &id in &uses.whole {
            let held = self.buffers[id.index()].get_mut();
            if let Held::Own(column) = held {
                let none = Column::filled(column.scalar(), 0, 0);
                let column = std::mem::replace(column, none);
                *held = Held::Shared(Arc::new(column));
                lent.push(id);
            }
        }
        lent
    }

    fn take_back(&mut self, lent: Vec<BufferId>) {
        for id in lent {
            let held = self.buffers[id.index()].get_mut();
            let none = Held::Own(Column::filled(held.scalar(), 0, 0));
            let Held::Shared(column) = std::mem::replace(held, none) else {
                unreachable!("it was lent");
            };
            let column = Arc::into_inner(column);
            *held = Held::Own(column.expect("no part has it any more"));
        }
    }

    /// A state for each thread that runs parts.
    fn states_of_parts(
        &self,
        bodies: &impl Bodies,
        local: &Local,
        uses: &Uses,
        bounds: &[u32],
    ) -> Result<Vec<HostState>, RunError> {
        let parts = bounds.len() - 1;
        let alone = self.parallel_from == u64::MAX;
        let threads = if alone { 1 } else { bodies.threads() };
        let states = threads.min(parts).clamp(1, MOST_PARTS_AT_ONCE);
        let most = bounds.windows(2).map(|w| w[1] - w[0]).max().unwrap_or(0);
        (0..states)
            .map(|_| self.state_of_parts(local, uses, most))
            .collect()
    }

    /// A state for one part at a time, of at most `most` nodes.
    fn state_of_parts(&self, local: &Local, uses: &Uses, most: u32) -> Result<HostState, RunError> {
        let program = &self.program;
        let frontiers = (0u16..).zip(&program.frontiers).map(|(f, declared)| {
            let nodes = match uses.frontiers.contains(&FrontierId(f)) {
                true => u64::from(most),
                false => 0,
            };
            Frontier::new(declared, nodes)
        });
        let buffers = (0u16..).zip(&program.buffers).map(|(id, buffer)| {
            let held = match &*self.buffers[usize::from(id)].borrow() {
                Held::Shared(column) if uses.whole.contains(&BufferId(id)) => {
                    Held::Shared(Arc::clone(column))
                }
                _ => Held::Own(Column::filled(buffer.scalar, 0, 0)),
            };
            RefCell::new(held)
        });
        let _ = local;
        Ok(HostState {
            program: Arc::clone(program),
            graphs: self.graphs.iter().map(|_| Graph::empty()).collect(),
            sizes: Sizes {
                nodes: 0,
                edges: vec![0; self.sizes.edges.len()],
                scalars: self.sizes.scalars.clone(),
                parts: Vec::new(),
                of_session: self.sizes.of_session.clone(),
            },
            buffers: buffers.collect(),
            rows: vec![None; self.rows.len()],
            frontiers: frontiers.collect::<Result<_, _>>()?,
            lists: program.lists.iter().map(List::new).collect(),
            swept: self.swept.iter().map(|_| Cell::new(0)).collect(),
            began: vec![Cell::new(0); self.began.len()],
            reductions: self.reductions.clone(),
            // Those of the fixpoints around the parts'.
            rounds: self.rounds.clone(),
            routes: self
                .routes
                .iter()
                .map(|_| Cell::new(Route::Sparse))
                .collect(),
            may_order: self.may_order.clone(),
            bitmap: Default::default(),
            home: (0..self.home.len()).collect(),
            most: vec![0; self.most.len()],
            lives: None,
            peak_bytes: 0,
            lent_bytes: 0,
            faults: RefCell::default(),
            starved_bytes: Cell::new(0),
            counts: Default::default(),
            activity: Activity::default(),
            meter: self.meter.for_parts(),
            parallel_from: self.parallel_from,
            sweeps: self.sweeps,
            pack_up_to_bytes: self.pack_up_to_bytes,
        })
    }

    /// What parts are copied from, in the order of the uses, and what they are copied back to.
    fn sources<'j>(
        &'j mut self,
        uses: &Uses,
        args: &'j Args<'_>,
    ) -> (Vec<Option<Source<'j>>>, Vec<SliceMut<'j>>) {
        let (mut read, mut written) = (Vec::new(), Vec::new());
        let rows = &self.rows;
        let mut uses = uses.cut.iter().peekable();
        for (id, held) in self.buffers.iter_mut().enumerate() {
            let Some(&(_, writes)) = uses.next_if(|(b, _)| b.index() == id) else {
                continue;
            };
            let held = held.get_mut();
            if writes {
                read.push(None);
                written.push(held.as_slice_mut());
                continue;
            }
            let lent = args.inputs.iter().find(|(b, _)| b.index() == id);
            read.push(Some(match (&rows[id], lent) {
                (Some(rows), _) => Source::Rows(rows),
                (None, Some((_, lent))) if held.is_empty() => Source::Slice(*lent),
                (None, _) => Source::Slice(held.as_slice()),
            }));
        }
        (read, written)
    }
}

/// The elements of a buffer that some nodes have.
fn elements(
    program: &Program,
    (graphs, sizes): (&[Arc<Graph>], &Sizes),
    id: BufferId,
    nodes: Range<u32>,
) -> Range<usize> {
    let (first, end) = (nodes.start as usize, nodes.end as usize);
    match program.buffers[id.index()].extent {
        Extent::Edges(t) => {
            let offsets = graphs[t.index()].csr.offsets();
            offsets[first] as usize..offsets[end] as usize
        }
        Extent::NodeBits(width) => {
            let width = sizes.width(program, width).expect("a run has its scalars");
            let words = row_words(width) as usize;
            first * words..end * words
        }
        _ => first..end,
    }
}

/// Cuts the parts into groups, each with its share of what is written. The largest comes last.
fn groups<'j>(
    program: &Program,
    local: &Local,
    uses: &Uses,
    (bounds, graphs, sizes): (&[u32], &[Arc<Graph>], &Sizes),
    written: Vec<SliceMut<'j>>,
) -> Vec<Group<'j>> {
    let offsets = graphs[local.of.index()].csr.offsets();
    let work = |part: usize| {
        let (first, end) = (bounds[part], bounds[part + 1]);
        let edges = offsets[end as usize] - offsets[first as usize];
        // A part costs something however small it is.
        16 + u64::from(end - first) + u64::from(edges)
    };
    let ids = uses.cut.iter().filter(|(_, written)| *written);
    let ids: Vec<BufferId> = ids.map(|&(id, _)| id).collect();
    let mut rest = written;
    let mut groups = Vec::new();
    let (mut first, mut sum) = (0, 0);
    let parts = bounds.len() - 1;
    for part in 0..parts {
        sum += work(part);
        if sum < GROUP_WORK && part + 1 < parts {
            continue;
        }
        let nodes = bounds[first]..bounds[part + 1];
        let mut written = Vec::with_capacity(rest.len());
        rest = rest
            .into_iter()
            .zip(&ids)
            .map(|(slice, &id)| {
                let len = elements(program, (graphs, sizes), id, nodes.clone()).len();
                let (mine, rest) = slice.split_at(len);
                written.push(mine);
                rest
            })
            .collect();
        let parts = first..part + 1;
        groups.push((sum, Group { parts, written }));
        (first, sum) = (part + 1, 0);
    }
    groups.sort_by_key(|&(sum, _)| sum);
    groups.into_iter().map(|(_, group)| group).collect()
}

impl<'j> Job<'j> {
    /// The next group that somebody is to run.
    pub(crate) fn next(&self) -> Option<Group<'j>> {
        let mut groups = lock(&self.groups);
        groups.pop()
    }

    /// Runs the parts of a group one after another.
    pub(crate) fn run(
        &self,
        mut group: Group<'_>,
        state: &mut HostState,
        bodies: &mut impl Bodies,
    ) -> Done {
        let uses = self.uses;
        let mut done = Done {
            parts: group.parts.clone(),
            rounds: vec![0; self.program.fixpoints.len()],
            appended: (uses.lists.iter())
                .map(|l| (Rows::new(&self.program.lists[l.index()].fields), 0))
                .collect(),
            waiting: vec![Vec::new(); uses.frontiers.len()],
            ended: None,
        };
        let mut course = Course::new(self.program);
        let begin = self.bounds[group.parts.start];
        for part in group.parts.clone() {
            if part >= self.ended.load(Relaxed) {
                break;
            }
            let nodes = self.bounds[part]..self.bounds[part + 1];
            let run = self
                .copy_in(&group, begin, nodes.clone(), state)
                .and_then(|()| {
                    let mut sweeping = Sweeping {
                        state: &mut *state,
                        args: &self.args,
                        bodies: &mut *bodies,
                    };
                    course.part(&mut sweeping, self.local.fixpoint, self.local.step)
                });
            if let Err(error) = run {
                self.ended.fetch_min(part, Relaxed);
                let error = error.of_part(|trap| self.name(trap, part, state));
                done.ended = Some((part, error));
                break;
            }
            for (most, &rounds) in done.rounds.iter_mut().zip(&course.total) {
                *most = rounds.max(*most);
            }
            self.copy_out(&mut group, begin, nodes, (state, &mut done));
        }
        done
    }

    /// A part's elements of a buffer, of which there are those from the node `begin` on.
    fn elements(&self, id: BufferId, begin: u32, nodes: Range<u32>) -> Range<usize> {
        let at = (self.graphs, self.sizes);
        let before = elements(self.program, at, id, begin..begin).start;
        let Range { start, end } = elements(self.program, at, id, nodes);
        start - before..end - before
    }

    /// The state is that of a part at the start of its fixpoint.
    fn copy_in(
        &self,
        group: &Group<'_>,
        begin: u32,
        nodes: Range<u32>,
        state: &mut HostState,
    ) -> Result<(), RunError> {
        let program = self.program;
        state.sizes.nodes = nodes.len() as u64;
        for &t in &self.uses.graphs {
            let graph =
                Arc::get_mut(&mut state.graphs[t.index()]).expect("a part's graph is its own");
            let whole = &self.graphs[t.index()].csr;
            if !graph.become_part(whole, nodes.clone(), self.local.drops) {
                return Err(no_memory(&nodes));
            }
            state.sizes.edges[t.index()] = graph.csr.edge_count() as u64;
        }
        let mut written = group.written.iter();
        for (&(id, _), read) in self.uses.cut.iter().zip(&self.read) {
            let column = &mut **state.buffers[id.index()].get_mut();
            let copied = match read {
                Some(Source::Rows(rows)) => {
                    let to = u32::in_column_mut(column).expect("rows of bits are words");
                    rows.copy_words(self.elements(id, 0, nodes.clone()), to);
                    true
                }
                Some(Source::Slice(slice)) => {
                    let at = self.elements(id, 0, nodes.clone());
                    column.reserve(at.len()) && column.assign(slice.range(at))
                }
                None => {
                    let slice = written.next().expect("a group has its share of each");
                    let at = self.elements(id, begin, nodes.clone());
                    column.reserve(at.len()) && column.assign(slice.as_slice().range(at))
                }
            };
            if !copied {
                return Err(no_memory(&nodes));
            }
        }
        for (f, waiting) in self.uses.frontiers.iter().zip(&self.waiting) {
            let capacity = program.frontiers[f.index()].capacity;
            let capacity = state.sizes.resolve(program, capacity);
            let frontier = &mut state.frontiers[f.index()];
            frontier.capacity = capacity.map_or(usize::MAX, |c| c as usize);
            frontier.clear();
            let from = waiting.partition_point(|&v| v < nodes.start);
            let mine = waiting[from..].iter().take_while(|&&v| v < nodes.end);
            frontier
                .next
                .get_mut()
                .extend(mine.map(|v| v - nodes.start));
        }
        for (l, &capacity) in self.uses.lists.iter().zip(&self.capacities) {
            let list = &mut state.lists[l.index()];
            list.capacity = capacity;
            list.clear();
        }
        Ok(())
    }

    /// The part is done: what it has written and left goes where it belongs.
    fn copy_out(
        &self,
        group: &mut Group<'_>,
        begin: u32,
        nodes: Range<u32>,
        (state, done): (&mut HostState, &mut Done),
    ) {
        let written = self.uses.cut.iter().filter(|(_, written)| *written);
        for (&(id, _), slice) in written.zip(&mut group.written) {
            let at = self.elements(id, begin, nodes.clone());
            let column = state.buffers[id.index()].get_mut().as_slice();
            let copied = slice.range(at).assign(column);
            debug_assert!(copied, "a part has as many elements as its range");
        }
        for (f, waiting) in self.uses.frontiers.iter().zip(&mut done.waiting) {
            let left = state.frontiers[f.index()].take_waiting();
            waiting.extend(left.iter().map(|v| v + nodes.start));
            *state.frontiers[f.index()].next.get_mut() = left;
        }
        let lists = self.uses.lists.iter().zip(&self.capacities);
        for ((l, &capacity), (rows, refused)) in lists.zip(&mut done.appended) {
            let items = state.lists[l.index()].items.get_mut();
            if rows.len() + items.len() <= capacity {
                rows.append(items);
            } else {
                *refused += items.len() as u64;
                items.clear();
            }
        }
    }

    /// A trap says in which part it happened, and what is outside of it.
    fn name(&self, trap: &mut Trap, part: usize, state: &HostState) {
        let program = self.program;
        trap.part = Some(Part {
            field: program.buffers[self.local.bounds.index()]
                .field()
                .to_owned(),
            number: part as u32,
            nodes: self.bounds[part]..self.bounds[part + 1],
        });
        let Some(subject) = &trap.subject else { return };
        let lengths = |t: TopologyId| [state.sizes.nodes, state.sizes.edges[t.index()]];
        let is_cut = |field: &String| {
            let buffers = program.buffers.iter().filter(|b| b.field() == field);
            let mut extents = buffers.map(|b| b.extent);
            extents.any(|extent| match extent {
                Extent::NodeBits(_) => trap.len == state.sizes.nodes,
                _ => self.local.cuts(program, extent),
            }) || program.frontiers.iter().any(|f| f.name == *field)
                || (self.uses.graphs.iter()).any(|&t| {
                    program.topologies[t.index()].name == *field && lengths(t).contains(&trap.len)
                })
        };
        if trap.kind == TrapKind::IndexOutOfBounds && subject.fields.iter().all(is_cut) {
            trap.kind = TrapKind::OutsidePart;
        }
    }
}

#[cold]
fn no_memory(nodes: &Range<u32>) -> RunError {
    let bytes = 4 * nodes.len() as u64;
    RunError::no_memory(format_args!("a part of {} nodes", nodes.len()), bytes)
}
