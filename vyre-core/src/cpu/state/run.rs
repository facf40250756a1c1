//! A run over a session's state: its start, what [`follow`] asks of host memory, and its results.

use super::frontier::Frontier;
use super::{Bodies, Held, HostState, lives_in};
use crate::dsl::blocks::room_for;
use crate::dsl::columns::{Column, Slice};
use crate::dsl::error::RunError;
use crate::dsl::record::Rows;
use crate::plan::compact::{self, CompactError, Slot};
use crate::run::args::{Args, check_columns, check_type, given, index_len};
use crate::run::clock::Instant;
use crate::run::outcome::{Activity, Outcome, Readback, Report};
use crate::run::schedule::{Failures, Meter, Overflow, Pending, Sweeper, Verdict, follow, lowest};
use crate::vir0::module::{
    Buffer, BufferId, Extent, FixpointId, FrontierId, ListId, Portion, Program, QueueId,
    ReductionId, Role, Uniform, WaveId,
};
use crate::vir0::sizes::Sizes;
use std::cell::Cell;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::Duration;

impl HostState {
    /// Copies a run's input.
    fn upload(&mut self, id: BufferId, values: Slice<'_>) -> Result<(), RunError> {
        check_type(&self.program, id, &values)?;
        let buffer = &self.program.buffers[id.index()];
        if !self.buffers[id.index()].get_mut().reserve(values.len()) {
            return Err(no_memory_for(buffer, values.len()));
        }
        let done = self.buffers[id.index()].get_mut().assign(values);
        debug_assert!(done, "the type was checked");
        self.needs(id.index(), values.len());
        self.counts.refresh_bytes += values.bytes();
        Ok(())
    }

    /// A buffer has `len` elements in this run.
    fn needs(&mut self, buffer: usize, len: usize) {
        let most = &mut self.most[buffer];
        self.counts.allocations += u64::from(len > *most);
        *most = len.max(*most);
    }

    /// Takes memory of earlier results, where its own is smaller, but no more than this run can need.
    fn take_memory(&mut self, results: &mut Outcome) -> Result<(), RunError> {
        let program = Arc::clone(&self.program);
        for (i, buffer) in program.buffers.iter().enumerate() {
            if !matches!(buffer.role, Role::Output | Role::InOut) {
                continue;
            }
            let needed = self.len_of(buffer.field(), buffer.extent)?;
            let column = results.memory_of(BufferId(i as u16), buffer.scalar);
            let own = &mut **self.buffers[i].get_mut();
            if let Some(mut column) = column.filter(|c| c.capacity() > own.capacity()) {
                if column.capacity() > needed {
                    column.shrink_to(needed);
                }
                *own = column;
            }
        }
        for (i, list) in program.lists.iter().enumerate() {
            let state = &mut self.lists[i];
            state.lent = false;
            let columns = results.memory_of_list(ListId(i as u16), &list.fields);
            let own = state.items.get_mut();
            let larger = |columns: &Vec<Column>| {
                columns.iter().map(Column::capacity).min() > Some(own.capacity())
            };
            if let Some(mut columns) = columns.filter(larger) {
                for column in columns.iter_mut().filter(|c| c.capacity() > state.capacity) {
                    column.shrink_to(state.capacity);
                }
                own.columns = columns;
                own.clear();
                state.lent = true;
            }
        }
        results.outputs.clear();
        results.lists.clear();
        Ok(())
    }

    /// The state at the start of a run.
    fn begin(
        &mut self,
        args: &Args<'_>,
        bodies: &mut impl Bodies,
        results: &mut Outcome,
    ) -> Result<(), RunError> {
        let program = Arc::clone(&self.program);
        if args.scalars.len() != program.scalars.len() {
            return Err(RunError::Length {
                name: "scalars".to_owned(),
                expected: program.scalars.len() as u64,
                size: String::new(),
                actual: args.scalars.len() as u64,
            });
        }
        self.sizes.scalars.clone_from(&args.scalars);
        check_columns(&program, &self.sizes, &args.inputs)?;
        let in_outs = bodies.in_outs().iter();
        let in_outs: Vec<_> = in_outs.map(|(id, s)| (*id, s.as_slice())).collect();
        check_columns(&program, &self.sizes, &in_outs)?;
        for at in 0..self.home.len() {
            while self.home[at] != at {
                self.swap(at, self.home[at]);
            }
        }
        for (state, list) in self.lists.iter_mut().zip(&program.lists) {
            let capacity = self
                .sizes
                .resolve(&program, list.capacity)
                .expect("verified extents name scalars of the program");
            // A slot is a u32.
            state.capacity = index_len(&list.name, capacity)?;
            state.clear();
        }
        self.take_memory(results)?;
        for (i, buffer) in program.buffers.iter().enumerate() {
            let len = self.len_of(buffer.field(), buffer.extent)?;
            match buffer.role {
                Role::Topology => {}
                Role::Input => given(&program, &self.sizes, (BufferId(i as u16), &args.inputs))?,
                Role::InOut if in_outs.is_empty() => {
                    given(&program, &self.sizes, (BufferId(i as u16), &args.inputs))?;
                }
                Role::InOut => given(&program, &self.sizes, (BufferId(i as u16), &in_outs))?,
                Role::Scratch if self.lives.is_some() => {
                    *self.buffers[i].get_mut() = Held::Own(Column::filled(buffer.scalar, 0, 0));
                }
                Role::Output | Role::Scratch => {
                    let bits = buffer.init.map_or(0, |c| program.constants[c.index()].bits);
                    let column = &mut **self.buffers[i].get_mut();
                    if column.capacity() < len {
                        *column = Column::filled(buffer.scalar, 0, 0);
                        let filled = Column::allocate(buffer.scalar, len, bits);
                        *column = filled.ok_or_else(|| no_memory_for(buffer, len))?;
                    } else {
                        column.reset(len, bits);
                    }
                    self.needs(i, len);
                }
            }
        }
        let mut lent = in_outs;
        for (id, values) in &args.inputs {
            if bodies.borrows(&program.buffers[id.index()]) {
                lent.push((*id, *values));
            } else {
                self.upload(*id, *values)?;
            }
        }
        for (id, values) in &lent {
            check_type(&program, *id, values)?;
            // It counts as if it were taken: plans are those of all backends.
            self.needs(id.index(), values.len());
        }
        self.lent_bytes = lent.iter().map(|(_, values)| values.bytes()).sum();
        self.counts.refresh_bytes += self.lent_bytes;
        for wave in &program.waves {
            if let Some(len) = wave.domain.count() {
                self.len_of(&wave.name, len)?;
            }
        }
        for (state, frontier) in self.frontiers.iter_mut().zip(&program.frontiers) {
            let capacity = self
                .sizes
                .resolve(&program, frontier.capacity)
                .expect("verified extents name scalars of the program");
            state.capacity = usize::try_from(capacity).unwrap_or(usize::MAX);
            state.clear();
        }
        self.swept.iter_mut().for_each(|s| s.set(0));
        if let Some(lives) = &mut self.lives {
            lives.here.fill(false);
        }
        self.peak_bytes = 0;
        for id in 0..program.reductions.len() {
            self.reductions[id].get_mut().reset();
        }
        *self.faults.get_mut() = None;
        self.starved_bytes.set(0);
        self.counts.refresh_bytes += 8 * args.scalars.len() as u64;
        self.activity = Activity::default();
        for route in &self.routes {
            route.set(self.sweeps.start);
        }
        bodies.begin();
        Ok(())
    }

    /// A barrier group begins. Where memory is shared, temporaries whose life is over give theirs up, and those whose
    /// life begins get theirs, initialised.
    fn enter(&mut self, group: u32) -> Result<(), RunError> {
        if self.lives.is_none() && group > 0 {
            return Ok(());
        }
        let program = Arc::clone(&self.program);
        if let Some(mut lives) = self.lives.take() {
            for (i, buffer) in program.buffers.iter().enumerate() {
                if buffer.role == Role::Scratch
                    && lives.here[i]
                    && !lives_in(lives.buffers[i], group)
                {
                    *self.buffers[i].get_mut() = Held::Own(Column::filled(buffer.scalar, 0, 0));
                    lives.here[i] = false;
                }
            }
            for (state, &life) in self.frontiers.iter_mut().zip(&lives.frontiers) {
                if !lives_in(life, group) {
                    state.release();
                }
            }
            for (i, buffer) in program.buffers.iter().enumerate() {
                if buffer.role == Role::Scratch
                    && !lives.here[i]
                    && lives_in(lives.buffers[i], group)
                {
                    let bits = buffer.init.map_or(0, |c| program.constants[c.index()].bits);
                    let len = self.len_of(buffer.field(), buffer.extent);
                    let len = len.expect("lengths were checked when the run began");
                    let column = Column::allocate(buffer.scalar, len, bits);
                    let Some(column) = column else {
                        self.lives = Some(lives);
                        return Err(no_memory_for(buffer, len));
                    };
                    *self.buffers[i].get_mut() = Held::Own(column);
                    self.counts.allocations += u64::from(len > 0);
                    lives.here[i] = true;
                }
            }
            self.lives = Some(lives);
        }
        let graphs = self
            .graphs
            .iter()
            .map(|g| 4 * (g.csr.offsets().len() + g.csr.targets().len()));
        let buffers = self
            .buffers
            .iter_mut()
            .map(|b| &**b.get_mut())
            .map(|b| b.len() * b.scalar().size_bytes() as usize);
        let rows = self.rows.iter().flatten().map(|rows| rows.bytes());
        let mut held = graphs.chain(buffers).chain(rows).sum::<usize>() as u64;
        held += self.lent_bytes + 8 * self.bitmap.words.len() as u64;
        // A frontier may fill both its sides.
        for (id, frontier) in self.frontiers.iter().enumerate() {
            if self
                .lives
                .as_ref()
                .is_none_or(|l| lives_in(l.frontiers[id], group))
            {
                let both_sides = 2 * program.frontiers[id].item_bytes();
                held = held.saturating_add(both_sides.saturating_mul(frontier.capacity as u64));
            }
        }
        for (list, declared) in self.lists.iter().zip(&program.lists) {
            let item_bytes = declared.item_bytes() + declared.row_bytes();
            held = held.saturating_add(item_bytes.saturating_mul(list.capacity as u64));
        }
        held = held.saturating_add(8 * self.reductions.len() as u64);
        self.peak_bytes = self.peak_bytes.max(held);
        Ok(())
    }

    /// Most bytes that were held at once in the last run, with room for every frontier's capacity.
    pub(crate) fn peak_bytes(&self) -> u64 {
        self.peak_bytes
    }

    /// A length of a run, which must fit u32 indices.
    pub(crate) fn len_of(&self, name: &str, extent: Extent) -> Result<usize, RunError> {
        let len = self
            .sizes
            .resolve(&self.program, extent)
            .expect("verified extents name scalars of the program");
        index_len(name, len)
    }

    fn swap(&mut self, a: usize, b: usize) {
        self.buffers.swap(a, b);
        self.home.swap(a, b);
    }

    /// Keeps a fault if it is the lowest of its group.
    pub(crate) fn fail(&self, pending: Option<Box<Pending>>) {
        if pending.is_some() {
            let mut faults = self.faults.borrow_mut();
            let before = faults.take();
            *faults = lowest(before, pending);
        }
    }

    /// A sweep has no memory for one `T` for each of its `chunks`: the run ends with its group.
    #[cold]
    pub(crate) fn starve<T>(&self, chunks: usize) {
        let bytes = (chunks as u64).saturating_mul(size_of::<T>() as u64);
        self.starved_bytes.set(bytes.max(1));
    }

    /// Positions of the list items that a wave sweeps now; it has swept them then.
    pub(crate) fn list_items(&self, wave: WaveId) -> (ListId, std::ops::Range<usize>) {
        let range = self.portion(wave);
        self.swept[wave.index()].set(range.1.end);
        range
    }

    /// Positions of the list items that a wave would sweep now.
    fn portion(&self, wave: WaveId) -> (ListId, std::ops::Range<usize>) {
        let declared = &self.program.waves[wave.index()];
        let Some((list, portion)) = declared.domain.list() else {
            unreachable!("the wave sweeps a list");
        };
        let end = match (portion, declared.fixpoint) {
            (Portion::Last, Some(f)) => self.began(f, list).get(),
            _ => self.lists[list.index()].items.borrow().len(),
        };
        let from = match portion.goes_on() {
            true => self.swept[wave.index()].get(),
            false => 0,
        };
        (list, from..end)
    }

    /// Items of a list when the round began that a fixpoint is in.
    pub(crate) fn began(&self, fixpoint: FixpointId, list: ListId) -> &Cell<usize> {
        &self.began[fixpoint.index() * self.lists.len() + list.index()]
    }

    /// Items of a queue: of a frontier those that wait.
    pub(crate) fn queue_len(&self, id: QueueId) -> u64 {
        match id {
            QueueId::Frontier(f) => self.frontiers[f.index()].len(),
            QueueId::List(l) => self.lists[l.index()].len(),
        }
    }

    /// What a native sweep appended is there for the next one.
    pub(crate) fn settle_lists(&mut self) {
        for list in &mut self.lists {
            if !list.pending.get_mut().is_empty() {
                list.settle_pending();
            }
        }
    }

    /// What was written before is visible after; what went wrong in the group.
    fn settle(&mut self) -> Result<Option<Box<Failures>>, RunError> {
        // Without memory, what is counted as refused is no overflow.
        self.fed()?;
        let fault = self.faults.get_mut().take();
        let mut overflows = Vec::new();
        for (id, frontier) in self.frontiers.iter_mut().enumerate() {
            let needed = frontier.len();
            let capacity = frontier.capacity as u64;
            if needed > capacity {
                overflows.push(Overflow {
                    of: FrontierId(id as u16).into(),
                    needed,
                    capacity,
                });
            } else if !frontier.owned {
                let (items, next) = (frontier.items.get_mut(), frontier.next.get_mut());
                let mut fits = room_for(items, next.len(), frontier.capacity);
                if fits {
                    items.append(next);
                }
                if let Some(records) = &mut frontier.records {
                    let (items, next) = (records.items.get_mut(), records.next.get_mut());
                    fits = items.make_room(next.len(), frontier.capacity);
                    if fits {
                        items.append(next);
                    }
                }
                frontier.starved.set(!fits);
            }
        }
        for (id, list) in self.lists.iter().enumerate() {
            let (needed, capacity) = (list.len(), list.capacity as u64);
            if needed > capacity {
                overflows.push(Overflow {
                    of: ListId(id as u16).into(),
                    needed,
                    capacity,
                });
            }
        }
        if fault.is_some() || !overflows.is_empty() {
            return Ok(Some(Box::new(Failures { fault, overflows })));
        }
        self.fed().map(|()| None)
    }

    /// There was memory for sweeps, and for what was pushed and appended.
    fn fed(&self) -> Result<(), RunError> {
        let starved = self.starved_bytes.get() > 0
            || self.frontiers.iter().any(|f| f.starved.get())
            || self.lists.iter().any(|l| l.starved.get());
        if starved { Err(self.starved()) } else { Ok(()) }
    }

    #[cold]
    fn starved(&self) -> RunError {
        let bytes = self.starved_bytes.get();
        if bytes > 0 {
            return RunError::no_memory("the chunks of a sweep", bytes);
        }
        let frontiers = self.frontiers.iter().zip(&self.program.frontiers);
        let frontiers = frontiers
            .filter(|(f, _)| f.starved.get())
            .map(|(f, of)| (format!("frontier `{}`", of.name), f.len(), of.item_bytes()));
        let lists = self.lists.iter().zip(&self.program.lists);
        let lists = lists
            .filter(|(l, _)| l.starved.get())
            .map(|(l, of)| (format!("list `{}`", of.name), l.len(), of.item_bytes()));
        let first = frontiers.chain(lists).next();
        let (name, items, item_bytes) = first.expect("one of them is starved");
        RunError::no_memory(name, items.saturating_mul(item_bytes))
    }

    /// Runs the pass once in the memory of earlier results, and gives its own where they are read.
    /// [`was_launched`] says whether a failed run had begun.
    pub(crate) fn run(
        &mut self,
        args: &Args<'_>,
        bodies: &mut impl Bodies,
        (outcome, read): (&mut Outcome, bool),
    ) -> Result<(), RunError> {
        let started = Instant::now();
        self.begin(args, bodies, outcome)?;
        let program = Arc::clone(&self.program);
        let mut sweeping = Sweeping {
            state: self,
            args,
            bodies,
        };
        // Two looks at the clock more, for those who can make use of it.
        let begun = sweeping.bodies.fuses().then(Instant::now);
        let rounds = follow(&program, &mut sweeping);
        let swept = begun.map(|begun| begun.elapsed());
        for frontier in &mut self.frontiers {
            self.counts.allocations += u64::from(frontier.settle());
        }
        for list in &mut self.lists {
            self.counts.allocations += u64::from(list.settle());
        }
        if matches!(rounds, Err(RunError::Memory { .. })) {
            self.give_back();
        }
        let rounds = rounds?;
        if !read {
            return Ok(());
        }
        self.give_results(outcome, bodies.in_outs().is_empty())?;
        outcome.report.rounds = rounds;
        let took = started.elapsed();
        let ns = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        outcome.report.wall_ns = ns(took);
        outcome.report.overhead_ns = swept.map(|swept| ns(took.saturating_sub(swept)));
        bodies.note(&mut self.activity);
        outcome.report.activity = Some(self.activity);
        outcome.report.waves = self.meter.wave_times();
        Ok(())
    }

    /// Gives back what frontiers and lists took: the next run may need less.
    fn give_back(&mut self) {
        self.frontiers.iter_mut().for_each(Frontier::release);
        for list in &mut self.lists {
            list.clear();
            list.items.get_mut().release();
            list.allocated = 0;
        }
    }

    /// Runs the pass several times and gives the last run's results.
    pub(crate) fn run_series(
        &mut self,
        series: &[Args<'_>],
        bodies: &mut impl Bodies,
        results: &mut Outcome,
    ) -> Result<(), RunError> {
        for (i, args) in series.iter().enumerate() {
            let read = i + 1 == series.len();
            let result = self.run(args, bodies, (results, read));
            self.counts.launches += u64::from(was_launched(&result));
            self.counts.fences += u64::from(was_launched(&result) && (read || result.is_err()));
            result.map_err(|e| e.of_run(i, series.len()))?;
        }
        Ok(())
    }

    /// Items of a sweep that is about to begin.
    fn items_of(&self, wave: WaveId) -> u64 {
        let from = |f: FrontierId| {
            let frontier = &self.frontiers[f.index()];
            match &frontier.records {
                Some(records) => records.items.borrow().len(),
                None => frontier.items.borrow().len(),
            }
        };
        let domain = self.program.waves[wave.index()].domain;
        if domain.list().is_some() {
            return self.portion(wave).1.len() as u64;
        }
        match (domain.topology(), domain.frontier()) {
            (None, Some(f)) => from(f) as u64,
            (Some(t), None) => self.graphs[t.index()].csr.edge_count() as u64,
            (Some(t), Some(f)) => {
                let csr = &self.graphs[t.index()].csr;
                let items = self.frontiers[f.index()].items.borrow();
                items.iter().map(|&v| u64::from(csr.degree(v)) + 1).sum()
            }
            (None, None) => {
                let len = domain.count();
                let len = len.and_then(|len| self.sizes.resolve(&self.program, len));
                len.unwrap_or(0)
            }
        }
    }

    fn begin_round(&mut self, f: FixpointId, round: u32) {
        self.rounds[f.index()] = round;
        for (state, frontier) in self.frontiers.iter_mut().zip(&self.program.frontiers) {
            if frontier.reset == Some(f) {
                state.clear();
            } else if frontier.owner == Some(f) {
                state.flip();
            }
        }
        for (state, list) in self.lists.iter_mut().zip(&self.program.lists) {
            if list.reset == Some(f) {
                state.clear();
            }
        }
        for list in (0..self.lists.len()).map(|l| ListId(l as u16)) {
            let len = self.lists[list.index()].items.borrow().len();
            self.began(f, list).set(len);
        }
        for (held, buffer) in self.buffers.iter_mut().zip(&self.program.buffers) {
            if buffer.reset != Some(f) {
                continue;
            }
            // What parts share is only read.
            if let Held::Own(column) = held.get_mut() {
                let bits = buffer
                    .init
                    .map_or(0, |c| self.program.constants[c.index()].bits);
                column.reset(column.len(), bits);
            }
        }
        for (total, reduction) in self.reductions.iter_mut().zip(&self.program.reductions) {
            if reduction.owner == Some(f) {
                total.get_mut().reset();
            }
        }
    }

    /// Gives the results away, those of buffers in the memory where they are. `in_outs`: in-out buffers are among them.
    fn give_results(&mut self, outcome: &mut Outcome, in_outs: bool) -> Result<(), RunError> {
        outcome.clear();
        outcome.rows = self.sizes.rows(&self.program);
        let mut slots = Vec::new();
        let buffers = self.program.buffers.len();
        for (i, buffer) in self.program.buffers.iter().enumerate() {
            if buffer.role == Role::Output || buffer.role == Role::InOut && in_outs {
                let size = buffer.scalar.size_bytes();
                let len = self.len_of(buffer.field(), buffer.extent)? as u64;
                slots.push(Slot {
                    align_bytes: NonZeroU64::new(size).unwrap_or(NonZeroU64::MIN),
                    ..Slot::new(
                        i as u32,
                        self.buffers[i].borrow().as_slice().bytes(),
                        len * size,
                    )
                });
            }
        }
        // The list that a slot behind those of the buffers is of.
        let mut lists = Vec::new();
        for (i, list) in self.program.lists.iter().enumerate() {
            let len = self.lists[i].items.borrow().len() as u64;
            let capacity = self.lists[i].capacity as u64;
            for field in list.fields.iter().filter(|_| list.output) {
                let size = field.size_bytes();
                slots.push(Slot::new(
                    (buffers + lists.len()) as u32,
                    len * size,
                    capacity.saturating_mul(size),
                ));
                lists.push(i);
            }
        }
        let plan = compact::plan(&slots, self.pack_up_to_bytes).map_err(|e| match e {
            CompactError::OverCapacity {
                slot,
                meaningful_bytes,
                capacity_bytes,
            } => RunError::Capacity {
                name: match self.program.buffers.get(slot as usize) {
                    Some(buffer) => buffer.field().to_owned(),
                    None => self.program.lists[lists[slot as usize - buffers]]
                        .name
                        .clone(),
                },
                actual_bytes: meaningful_bytes,
                capacity_bytes,
            },
            CompactError::Duplicate { .. } | CompactError::Overflow { .. } => {
                RunError::Backend(e.to_string())
            }
        })?;
        for slot in slots.iter().filter(|slot| (slot.id as usize) < buffers) {
            let column = &mut **self.buffers[slot.id as usize].get_mut();
            let none = Column::filled(column.scalar(), 0, 0);
            let result = std::mem::replace(column, none);
            outcome.outputs.push((BufferId(slot.id as u16), result));
        }
        lists.dedup();
        for list in lists {
            let items = self.lists[list].items.get_mut();
            let empty = Rows::new(&self.program.lists[list].fields);
            let mut result = std::mem::replace(items, empty);
            if !self.lists[list].lent {
                result.columns.iter_mut().for_each(Column::shrink_to_fit);
            }
            outcome.lists.push((ListId(list as u16), result.columns));
        }
        for (i, reduction) in self.program.reductions.iter().enumerate() {
            if reduction.output {
                let bits = self.reductions[i].borrow().value();
                outcome.reductions.push((ReductionId(i as u16), bits));
            }
        }
        let packed: u64 = plan.packed.iter().map(|r| r.len_bytes).sum();
        let reductions = 8 * outcome.reductions.len() as u64;
        self.counts.readback_bytes += packed + plan.direct_bytes + reductions;
        outcome.report = Report {
            readback: Readback {
                packed: plan.packed.len() as u32,
                packed_bytes: plan.compact_bytes,
                direct: plan.direct.len() as u32,
                direct_bytes: plan.direct_bytes,
                full_bytes: plan.full_bytes,
                copied_bytes: 0,
            },
            ..Report::default()
        };
        Ok(())
    }
}

/// A run over a state, as the driver leads it.
pub(super) struct Sweeping<'r, 'a, B> {
    pub(super) state: &'r mut HostState,
    pub(super) args: &'r Args<'a>,
    pub(super) bodies: &'r mut B,
}

impl<B: Bodies> Sweeper for Sweeping<'_, '_, B> {
    #[inline]
    fn sizes(&self) -> &Sizes {
        &self.state.sizes
    }

    #[inline]
    fn meter(&mut self) -> &mut Meter {
        &mut self.state.meter
    }

    fn items(&self, wave: WaveId) -> u64 {
        self.state.items_of(wave)
    }

    #[inline]
    fn sweep(&mut self, wave: WaveId, round: u32) -> Result<(), RunError> {
        self.state.note_sweep(wave);
        self.bodies.sweep(self.state, self.args, (wave, round));
        Ok(())
    }

    #[inline]
    fn fuses(&self, wave: WaveId) -> bool {
        self.bodies.fuses() && self.state.fuses(wave)
    }

    fn sweep_together(&mut self, waves: &[WaveId], round: u32) -> Result<(), RunError> {
        waves.iter().for_each(|&wave| self.state.note_sweep(wave));
        self.state.activity.fused += 1;
        self.bodies.sweep_together(self.state, (waves, round));
        Ok(())
    }

    #[inline]
    fn settle(&mut self) -> Result<Option<Box<Failures>>, RunError> {
        self.state.settle()
    }

    #[inline]
    fn enter(&mut self, group: u32) -> Result<(), RunError> {
        self.state.enter(group)
    }

    #[inline]
    fn exchange(&mut self, a: BufferId, b: BufferId) {
        self.state.swap(a.index(), b.index());
    }

    #[inline]
    fn begin_round(&mut self, fixpoint: FixpointId, round: u32) {
        self.state.begin_round(fixpoint, round);
    }

    fn each(&mut self, _: &Program, step: usize) -> Result<Vec<u64>, RunError> {
        self.state.each(self.bodies, self.args, step)
    }

    #[inline]
    fn until(&mut self, fixpoint: FixpointId, round: u32) -> Result<Verdict, RunError> {
        let done = self.bodies.until(self.state, fixpoint, round);
        Ok(match done {
            Ok(true) => Verdict::Done,
            Ok(false) => Verdict::Again,
            Err(fault) => Verdict::Faulted(fault),
        })
    }

    #[inline]
    fn uniform(&self, uniform: Uniform) -> Option<u64> {
        match uniform {
            Uniform::Reduction(r) => Some(self.state.reductions[r.index()].borrow().value()),
            Uniform::Len(q) => Some(self.state.queue_len(q)),
            Uniform::Scalar(_)
            | Uniform::Constant(_)
            | Uniform::Round
            | Uniform::OuterRound(_)
            | Uniform::Began(_)
            | Uniform::Nodes => None,
        }
    }
}

/// A run that ended with this was begun; otherwise its arguments were refused.
fn was_launched<T>(result: &Result<T, RunError>) -> bool {
    match result {
        Ok(_) | Err(RunError::Trap(_)) => true,
        Err(other) => other.is_stop(),
    }
}

#[cold]
pub(crate) fn no_memory_for(buffer: &Buffer, len: usize) -> RunError {
    let bytes = len as u64 * buffer.scalar.size_bytes();
    RunError::no_memory(format_args!("`{}`", buffer.field()), bytes)
}
