//! The memory of a session: what it may take, and how it hands that out.

use crate::budget::Lease;
use crate::decide::{quiet, used_bps};
use crate::error::Error;
use crate::plans::{KeptPlan, Layout, PlanOf, Planned};
use crate::query::OfSession;
use crate::runtime::Runtime;
use std::cell::Cell;
use std::sync::Arc;
use vyre_core::dsl::columns::Column;
use vyre_core::dsl::error::RunError;
use vyre_core::plan::budget::least_on;
use vyre_core::plan::cache::PlanKind;
use vyre_core::plan::check;
use vyre_core::plan::compact;
use vyre_core::plan::fit::{FitError, fit_on};
use vyre_core::plan::footprint::{Allocation, FootprintError, footprint_on};
use vyre_core::plan::memory::WaveBytes;
use vyre_core::plan::route::{self, Need, Pressure};
use vyre_core::plan::thresholds::Thresholds;
use vyre_core::run::args::{Args, TopologyArgs};
use vyre_core::run::backend::{Holder, Limits, ListSlab, runnable};
use vyre_core::run::outcome::Outcome;
use vyre_core::vir0::manifest::Stale;
use vyre_core::vir0::module::{Buffer, Program, Resource, Role, put_together_bytes};
use vyre_core::vir0::scalar::Scalar;
use vyre_core::vir0::sizes::Sizes;

/// Inputs and results of queries that launches have on a device at a time, at most.
const RESULTS_BYTES: u64 = 64 << 20;

/// What a session may take, and how it hands that out.
pub(crate) struct Memory {
    pub(crate) allocation: Allocation,
    /// The pass's own budget.
    pass_bytes: Option<u64>,
    pub(crate) lease: Lease,
    /// Of the topologies.
    pub(crate) resident_bytes: u64,
    /// States of a batch that there is room for.
    pub(crate) slots: u32,
    /// Of the plan, with the lengths of the run that was checked last.
    needed_bytes: u64,
    /// Room for a second set of inputs.
    pub(crate) second_inputs_bytes: u64,
    /// Room for a bit a node, which brings a list into the order of the nodes.
    bitmap_bytes: u64,
    /// Room for a slab of what the lists of a result hold.
    pub(crate) slab_bytes: u64,
    /// Room for inputs and results of queries that have no state.
    results_bytes: u64,
    /// Of a batch that is running, on a CPU: its results are there until it ends.
    kept: Kept,
    /// Whose memory it is.
    pub(crate) holder: Holder,
    /// Where the runtime keeps the plan.
    pub(crate) plan: Option<KeptPlan>,
    /// Of the scalars, those of the run that was checked last.
    pub(crate) sizes: Sizes,
    /// Most bytes that the buffers of a run had.
    pub(crate) most_bytes: u64,
}

/// What there is room for beside the plan.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rooms {
    /// A bit a node, which brings a list into the order of the nodes.
    pub(crate) bitmap: bool,
    /// A slab of what the lists of a result hold.
    pub(crate) lists: ListSlab,
}

/// Results of a batch: how large one can be, the room that there is for them, and what is there.
#[derive(Default)]
struct Kept {
    /// `None`: no budget says.
    one_bytes: Option<u64>,
    room_bytes: u64,
    held_bytes: u64,
}

impl Memory {
    /// The plan of a pass, or of two, on a topology, which is the runtime's where the same was opened before, and the
    /// memory that it takes. `program`: without further barriers.
    pub(crate) fn open(
        of: &PlanOf,
        (topology, runtime): (&TopologyArgs<'_>, &Runtime),
        program: &dyn Fn() -> Result<Program, Error>,
    ) -> Result<(Planned, Memory), Error> {
        loop {
            let opened = Memory::open_beside(of, (topology, runtime), program);
            let again = match &opened {
                Ok((_, memory)) => Memory::unloads(runtime, Ok(memory)),
                Err(Error::Run(e)) => Memory::unloads(runtime, Err(e)),
                Err(_) => false,
            };
            if !again {
                return opened;
            }
        }
    }

    /// Unloads compiled code that no run uses, where for its sake a pass shares memory or is refused; whether there was
    /// some.
    fn unloads(runtime: &Runtime, opened: Result<&Memory, &RunError>) -> bool {
        let lease = runtime.lease();
        let Some(left) = lease.available_bytes() else {
            return false;
        };
        let is_short = match opened {
            // What it has itself is not what it lacks.
            Ok(memory) => {
                let available = left.saturating_add(memory.lease.bytes());
                let own = memory.pass_bytes.is_some_and(|own| own <= available);
                memory.allocation == Allocation::Shared && !own
            }
            Err(RunError::Memory {
                available_bytes, ..
            }) => *available_bytes >= left,
            Err(_) => false,
        };
        is_short && lease.unload()
    }

    fn open_beside(
        of: &PlanOf,
        (topology, runtime): (&TopologyArgs<'_>, &Runtime),
        program: &dyn Fn() -> Result<Program, Error>,
    ) -> Result<(Planned, Memory), Error> {
        let lease = runtime.lease();
        // What is kept for later is given up first, so that it changes no plan.
        lease.give_up();
        let pressure = Memory::pressure(topology, runtime)?;
        let available = lease.available_bytes();
        let layout = Layout::new(of.clone(), topology, available);
        let made = Cell::new(false);
        let make = || {
            made.set(true);
            let known = (available, pressure);
            let started = runtime.now();
            let planned = Memory::plan(of.kind, program()?, (topology, runtime), known)?;
            let took = runtime.since(started).as_nanos();
            Ok(Planned {
                made_ns: u64::try_from(took).unwrap_or(u64::MAX),
                ..planned
            })
        };
        let at = (runtime.implementation().ordinal(), pressure);
        let (mut planned, mut kept) = runtime.plans().session(layout, at, &make)?;
        // Plans are kept by sizes of graphs. Parts have sizes, too; on a device a graph's shape decides, where a budget
        // asks.
        let is_other = || {
            let backend = runtime.implementation();
            Ok::<_, RunError>(
                planned.sizes.parts != topology.sizes(&planned.program).parts
                    || planned.sizes.of_session != topology.scalars
                    || !planned.holder.is_host()
                        && backend.holder(&planned.program, topology)? != planned.holder,
            )
        };
        if !made.get() && is_other()? {
            (planned, kept) = (make()?, None);
        }
        let mut memory = Memory::hold(&planned, lease)?;
        memory.plan = kept;
        Ok((planned, memory))
    }

    /// What is known before the first run: as long as no frontier was seen, all nodes may be in one.
    fn pressure(topology: &TopologyArgs<'_>, runtime: &Runtime) -> Result<Pressure, RunError> {
        let memory = runtime.memory();
        let memory_bps = memory.map_or(0, |(total, used)| used_bps(used, total));
        let graph = topology.graphs.first();
        let degree = graph.map_or(0.0, |g| {
            g.edge_count() as f64 / g.node_count().max(1) as f64
        });
        let sample = quiet(memory_bps, 1.0, degree);
        let pressure = runtime.thresholds().route.pressure(&sample, None);
        pressure.map_err(|e| RunError::Backend(e.to_string()))
    }

    /// Checks the real sizes against limits and budgets before anything is allocated. A pass that does not fit side by
    /// side shares memory between what never lives at once, with more barriers where that takes them.
    fn plan(
        kind: PlanKind,
        mut program: Program,
        (topology, runtime): (&TopologyArgs<'_>, &Runtime),
        (available_bytes, pressure): (Option<u64>, Pressure),
    ) -> Result<Planned, RunError> {
        let backend = runtime.implementation();
        runnable(&program, (backend.name(), backend.runs_parts()))?;
        // What a run's scalars say about lengths is checked when they are known.
        let sizes = topology.sizes(&program);
        let edges = sizes.edges.iter().copied().max().unwrap_or(0);
        for (what, actual, limit) in [
            ("nodes", sizes.nodes, program.manifest.max_nodes),
            ("edges", edges, program.manifest.max_edges),
        ] {
            if let Some(limit) = limit.filter(|&limit| actual > limit) {
                return Err(RunError::Limit {
                    what,
                    actual,
                    limit,
                });
            }
        }
        let mut allocation = Allocation::Separate;
        // Without a budget, the shape of a graph decides nothing.
        let mut holder = Holder::Native;
        let budgets = [program.manifest.budget_bytes, available_bytes];
        let mut need = None;
        if let Some(available) = budgets.into_iter().flatten().min() {
            holder = runtime.implementation().holder(&program, topology)?;
            let fitted = fit_on(&program, &sizes, (available, holder.target()));
            let least = || least_on(&program, &sizes, holder.target());
            let fitted = fitted.map_err(|e| refused(e, least()))?;
            if program.schedule != fitted.schedule && program.manifest.proof.is_some() {
                program.manifest.disprove(Stale::Program);
            }
            program.schedule = fitted.schedule;
            if !fitted.splits.is_empty() {
                legal(&program)?;
            }
            allocation = fitted.allocation;
            let needed = fitted.footprint.bytes(allocation);
            // A device's bitmaps are in its plan.
            let takes_bitmaps = kind != PlanKind::Batch && holder.is_host();
            need = takes_bitmaps.then(|| routes_need(&program, sizes.nodes, needed, available));
        }
        let start = route::choose(pressure, need.as_ref());
        Ok(Planned {
            start: start.map_err(|e| RunError::Backend(e.to_string()))?,
            program: Arc::new(program),
            sizes,
            allocation,
            holder,
            made_ns: 0,
        })
    }

    /// Takes what a plan needs.
    fn hold(planned: &Planned, lease: Lease) -> Result<Memory, RunError> {
        let mut memory = Memory {
            allocation: planned.allocation,
            pass_bytes: planned.program.manifest.budget_bytes,
            lease,
            resident_bytes: 0,
            needed_bytes: 0,
            slots: 1,
            second_inputs_bytes: 0,
            slab_bytes: 0,
            results_bytes: 0,
            kept: Kept::default(),
            holder: planned.holder.clone(),
            plan: None,
            bitmap_bytes: 0,
            sizes: planned.sizes.clone(),
            most_bytes: 0,
        };
        memory.take(&planned.program)?;
        Ok(memory)
    }

    /// Its sizes in a run with these scalars; those of the last one where there are not as many.
    pub(crate) fn sizes_with(&self, program: &Program, scalars: &[u64]) -> Sizes {
        let mut sizes = self.sizes.clone();
        if scalars.len() == program.scalars.len() {
            sizes.scalars = scalars.to_vec();
        }
        sizes
    }

    /// What the budget has beside it.
    pub(crate) fn left_bytes(&self) -> Option<u64> {
        let available = self.lease.available_bytes()?;
        Some(available.saturating_sub(self.lease.bytes()))
    }

    /// What routes take on a CPU, where a budget says how much there is.
    pub(crate) fn need(&self, program: &Program) -> Option<Need> {
        let available = self.available_bytes().filter(|_| self.holder.is_host())?;
        let nodes = self.sizes.nodes;
        Some(routes_need(program, nodes, self.needed_bytes, available))
    }

    /// Takes room for what the next launch can use beside the plan; what of it there is. `packs`: lists are to be
    /// packed.
    pub(crate) fn rooms(
        &mut self,
        program: &Program,
        (limits, packs): (Limits, bool),
        thresholds: &Thresholds,
    ) -> Rooms {
        let up_to = thresholds.pack_up_to_bytes;
        Rooms {
            bitmap: limits.bitmaps && self.bitmap(program),
            lists: match limits.packs_lists && packs {
                false => {
                    self.give_slab();
                    ListSlab::NotWanted
                }
                true if self.slab(program, up_to) => ListSlab::Room,
                true => ListSlab::NoRoom,
            },
        }
    }

    /// Gives back the room for a slab.
    fn give_slab(&mut self) {
        if self.slab_bytes == 0 {
            return;
        }
        let others = self.lease.bytes() - self.slab_bytes.min(self.lease.bytes());
        let smaller = self.lease.resize(others);
        debug_assert!(smaller, "smaller is always possible");
        self.slab_bytes = 0;
    }

    /// Takes room for a bit a node, where a sweep can use it; whether there is.
    fn bitmap(&mut self, program: &Program) -> bool {
        let Some(available) = self.available_bytes() else {
            return true;
        };
        let bytes = bitmap_bytes(program, self.sizes.nodes);
        let more = bytes.saturating_sub(self.bitmap_bytes);
        let then = self.lease.bytes().saturating_add(more);
        let taken = more == 0 || then <= available && self.lease.resize(then);
        if taken {
            self.bitmap_bytes += more;
        }
        taken
    }

    /// Takes room for a slab of what the lists of a result hold, in columns of up to so many bytes; whether there is.
    fn slab(&mut self, program: &Program, pack_up_to_bytes: u64) -> bool {
        let Some(available) = self.available_bytes() else {
            return true;
        };
        let bytes = compact::lists_bytes(program, &self.sizes, pack_up_to_bytes);
        let others = self.lease.bytes() - self.slab_bytes.min(self.lease.bytes());
        let then = others.saturating_add(bytes);
        let taken = then <= available && self.lease.resize(then);
        match taken {
            true => self.slab_bytes = bytes,
            false => self.give_slab(),
        }
        taken
    }

    pub(crate) fn available_bytes(&self) -> Option<u64> {
        let budgets = [self.pass_bytes, self.lease.available_bytes()];
        budgets.into_iter().flatten().min()
    }

    /// Takes what the sizes need. Before it is refused, what is kept for later goes.
    fn take(&mut self, program: &Program) -> Result<(), RunError> {
        let mut taken = match self.take_available(program) {
            Err(RunError::Memory { .. }) if self.lease.give_up() => self.take_available(program),
            taken => taken,
        };
        // Then compiled code, where the pass's own budget is not what it does not fit.
        while let Err(RunError::Memory { .. }) = taken {
            let others = self.lease.available_bytes();
            let own = self.pass_bytes.is_some_and(|pass| others >= Some(pass));
            if own || !self.lease.unload() {
                break;
            }
            taken = self.take_available(program);
        }
        if taken.is_ok() {
            self.most_bytes = self.most_bytes.max(self.bytes_of(program, |_| true));
        }
        taken
    }

    fn take_available(&mut self, program: &Program) -> Result<(), RunError> {
        let Some(available) = self.available_bytes() else {
            return Ok(());
        };
        let takes = footprint_on(program, &self.sizes, self.holder.target());
        let takes = takes.map_err(|e| refused(e.into(), None))?;
        if let Err(e) = takes.fit(available, self.allocation) {
            let mut refused = refused(e.into(), None);
            let shared = takes.bytes(Allocation::Shared);
            if let (RunError::Memory { what, .. }, true) = (&mut refused, shared <= available) {
                what.push_str(&format!(
                    " as the session is laid out, which had room for buffers beside each other; with a budget of \
                     {shared} bytes a session's buffers share memory, and it fits"
                ));
            }
            return Err(refused);
        }
        let needed = takes.bytes(self.allocation);
        self.needed_bytes = needed;
        self.resident_bytes = takes
            .items
            .iter()
            .filter(|i| match i.resource {
                Resource::Topology(_) => true,
                Resource::Buffer(b) => program.buffers[b.index()].role == Role::Topology,
                Resource::Queue(_) | Resource::Reduction(_) => false,
            })
            .map(|i| i.bytes)
            .sum();
        // A run that needs less than one before it leaves the memory as it is: buffers do not shrink.
        let extra = self.beside_bytes();
        let held = self.lease.bytes() - extra.min(self.lease.bytes());
        if needed > held && !self.lease.resize(needed + extra) {
            // Before a run is refused, the second set of inputs goes, what batches have for results, bitmap and slab.
            (self.second_inputs_bytes, self.results_bytes) = (0, 0);
            (self.bitmap_bytes, self.slab_bytes) = (0, 0);
        }
        if needed > self.lease.bytes() && !self.lease.resize(needed) {
            return Err(RunError::Memory {
                what: "the session does not fit beside the runtime's other sessions".to_owned(),
                needed_bytes: needed,
                available_bytes: self.lease.available_bytes().unwrap_or(0),
            });
        }
        Ok(())
    }

    /// The scalars of runs, with those of the session.
    pub(crate) fn scalars(&self) -> OfSession {
        OfSession(self.sizes.of_session.clone())
    }

    /// Lengths that depend on the run's scalars.
    pub(crate) fn check(&mut self, program: &Program, args: &Args<'_>) -> Result<(), RunError> {
        // A wrong number of scalars is the executor's to refuse.
        if self.sizes.scalars == args.scalars || args.scalars.len() != program.scalars.len() {
            return Ok(());
        }
        let before = std::mem::replace(&mut self.sizes.scalars, args.scalars.clone());
        let taken = self.take(program);
        if taken.is_err() {
            self.sizes.scalars = before;
        }
        taken
    }

    /// Takes room for a second set of inputs.
    pub(crate) fn second_inputs(&mut self, program: &Program) -> bool {
        let bytes = self.bytes_of(program, |role| matches!(role, Role::Input | Role::InOut));
        let more = bytes.saturating_sub(self.second_inputs_bytes);
        let taken = more == 0 || self.lease.resize(self.lease.bytes() + more);
        if taken {
            self.second_inputs_bytes += more;
        }
        taken
    }

    /// Bytes of a run's buffers of some roles.
    fn bytes_of(&self, program: &Program, is: fn(Role) -> bool) -> u64 {
        let buffers = program.buffers.iter().filter(|b| is(b.role));
        let bytes = |b: &Buffer| {
            let len = self.sizes.resolve(program, b.extent).unwrap_or(0);
            len.saturating_mul(b.scalar.size_bytes())
        };
        buffers.map(bytes).fold(0, u64::saturating_add)
    }

    /// Takes room for inputs and results of `queries` beside the states, or for half of them, and so on.
    pub(crate) fn results(&mut self, program: &Program, queries: u64) {
        let io = |role| matches!(role, Role::Input | Role::InOut | Role::Output);
        let mut wanted = self
            .bytes_of(program, io)
            .saturating_mul(queries)
            .min(RESULTS_BYTES);
        while wanted > self.results_bytes {
            let more = wanted - self.results_bytes;
            if self.lease.resize(self.lease.bytes().saturating_add(more)) {
                self.results_bytes = wanted;
            }
            wanted /= 2;
        }
    }

    /// Elements of the buffers that a run gives.
    pub(crate) fn result_lens(&self, program: &Program) -> Vec<u64> {
        let of = |b: &Buffer| self.sizes.resolve(program, b.extent).unwrap_or(0);
        let results = program.buffers.iter();
        let results = results.filter(|b| matches!(b.role, Role::Output | Role::InOut));
        let lists = program.lists.iter().filter(|l| l.output);
        let lists = lists.map(|l| self.sizes.resolve(program, l.capacity).unwrap_or(0));
        results.map(of).chain(lists).collect()
    }

    /// Bytes of the outputs that are no lists.
    pub(crate) fn output_bytes(&self, program: &Program) -> u64 {
        self.bytes_of(program, |role| matches!(role, Role::Output | Role::InOut))
    }

    /// Bytes of a result, with lists that are full.
    fn result_bytes(&self, program: &Program) -> u64 {
        let lists = program.lists.iter().filter(|l| l.output);
        let lists = lists.map(|l| {
            let len = self.sizes.resolve(program, l.capacity).unwrap_or(0);
            len.saturating_mul(l.row_bytes())
        });
        let buffers = self.output_bytes(program);
        let buffers = buffers.saturating_add(self.padding_bytes(program));
        lists.fold(buffers, u64::saturating_add)
    }

    /// What rows of structs of a result take beyond their columns.
    fn padding_bytes(&self, program: &Program) -> u64 {
        let same = |a: &Buffer, b: &Buffer| {
            let of = a.of_structs();
            of.is_some() && of == b.of_structs()
        };
        let structs = program.buffers.chunk_by(same);
        let structs = structs.filter(|fields| {
            let gives = matches!(fields[0].role, Role::Output | Role::InOut);
            gives && fields[0].of_structs().is_some()
        });
        let padding = structs.map(|fields| {
            let scalars: Vec<Scalar> = fields.iter().map(|b| b.scalar).collect();
            let columns: u64 = scalars.iter().map(|s| s.size_bytes()).sum();
            let len = self.sizes.resolve(program, fields[0].extent);
            len.unwrap_or(0)
                .saturating_mul(put_together_bytes(&scalars) - columns)
        });
        padding.fold(0, u64::saturating_add)
    }

    /// Room for a result that counts until it is freed.
    pub(crate) fn lease_result(
        &self,
        program: &Program,
        runtime: &Runtime,
    ) -> Result<Lease, RunError> {
        let needed_bytes = self.result_bytes(program);
        let mut lease = runtime.lease();
        if lease.take(needed_bytes) {
            return Ok(lease);
        }
        Err(RunError::Memory {
            what: "the result does not fit beside the runtime's sessions".to_owned(),
            needed_bytes,
            available_bytes: lease.available_bytes().unwrap_or(0),
        })
    }

    /// Takes room for the results of a batch on a CPU, or for as many of them as there is room for.
    pub(crate) fn keep_results(&mut self, program: &Program, queries: u64) {
        let Some(available) = self.available_bytes().filter(|_| self.holder.is_host()) else {
            return;
        };
        let one = self.result_bytes(program);
        self.kept.one_bytes = Some(one);
        // The state has room for the last one.
        let wanted = one.saturating_mul(queries.saturating_sub(1));
        let more = wanted.min(available.saturating_sub(self.lease.bytes()));
        if self.lease.resize(self.lease.bytes() + more) {
            self.kept.room_bytes = more;
        }
    }

    /// A result of the batch is there.
    pub(crate) fn keep_result(&mut self, program: &Program, result: &Outcome) {
        let outputs = result.outputs.iter().map(|(_, c)| c.as_slice().bytes());
        let lists = result.lists.iter().map(|(id, columns)| {
            let len = columns.first().map_or(0, Column::len) as u64;
            len * program.lists[id.index()].row_bytes()
        });
        let columns: u64 = outputs.chain(lists).sum();
        self.kept.held_bytes += columns + self.padding_bytes(program);
    }

    /// How many queries there is room for beside the results that are there, at least one. Results that are larger than
    /// they could have been leave none.
    pub(crate) fn room_for_results(&self) -> Result<usize, RunError> {
        let Kept {
            one_bytes: Some(one),
            room_bytes,
            held_bytes,
        } = self.kept
        else {
            return Ok(usize::MAX);
        };
        let Some(left) = room_bytes.checked_sub(held_bytes) else {
            return Err(RunError::Memory {
                what: "the results of the batch do not fit: `set_batch_limit` takes fewer queries at a time"
                    .to_owned(),
                needed_bytes: self.lease.bytes() + (held_bytes - room_bytes),
                available_bytes: self.lease.bytes(),
            });
        };
        let more = left.checked_div(one).unwrap_or(u64::MAX);
        Ok(usize::try_from(more)
            .unwrap_or(usize::MAX)
            .saturating_add(1))
    }

    /// The batch has ended: its results are the caller's.
    pub(crate) fn give_results(&mut self) {
        let kept = std::mem::take(&mut self.kept);
        let smaller = self.lease.resize(self.lease.bytes() - kept.room_bytes);
        debug_assert!(smaller, "smaller is always possible");
    }

    /// What the session has beside its plan, and gives up before a run is refused.
    fn beside_bytes(&self) -> u64 {
        self.second_inputs_bytes + self.results_bytes + self.bitmap_bytes + self.slab_bytes
    }

    /// What the queries of a batch may take together.
    pub(crate) fn batch_bytes(&self) -> Option<u64> {
        self.available_bytes()?;
        // Results are the queries'.
        let extra = self.beside_bytes() - self.results_bytes;
        let resident = self.resident_bytes.saturating_add(extra);
        Some(self.lease.bytes().saturating_sub(resident))
    }

    /// Takes room for `wanted` states of a batch, or as many as there is room for.
    pub(crate) fn slots(&mut self, wanted: u32) -> u32 {
        let extra = self.resident_bytes + self.beside_bytes() + self.kept.room_bytes;
        let one = self.lease.bytes() - extra.min(self.lease.bytes());
        let one = one / u64::from(self.slots.max(1));
        while self.slots < wanted && self.lease.resize(self.lease.bytes() + one) {
            self.slots += 1;
        }
        self.slots
    }
}

/// What the planners made of a program, by their judge.
pub(crate) fn legal(program: &Program) -> Result<(), RunError> {
    match check::program(program).first() {
        None => Ok(()),
        Some(wrong) => Err(RunError::Invalid(format!("invalid VIR0 program: {wrong}"))),
    }
}

/// What routes take on a CPU: a list is in the plan, and a bitmap comes to it.
fn routes_need(program: &Program, nodes: u64, needed_bytes: u64, budget_bytes: u64) -> Need {
    let scratch_bytes = bitmap_bytes(program, nodes);
    Need {
        bytes: WaveBytes {
            frontier_bytes: 0,
            scratch_bytes,
            output_bytes: 0,
        },
        graph_bytes: needed_bytes.saturating_sub(scratch_bytes),
        budget_bytes,
    }
}

/// A bit a node, where a sweep of the program can use it.
fn bitmap_bytes(program: &Program, nodes: u64) -> u64 {
    let orders = |wave| route::may_order(program, wave);
    let used = program.waves.iter().any(orders);
    if used { 8 * nodes.div_ceil(64) } else { 0 }
}

/// The first thing that does not fit, and the least budget with which all does, so that whoever gives so much is not
/// refused again.
fn refused(e: FitError, least: Option<u64>) -> RunError {
    let what = e.to_string();
    let what = what.split(" needs ").next().unwrap_or_default();
    let what = what.split(" need ").next().unwrap_or_default();
    let (needed_bytes, available_bytes) = match &e {
        FitError::Footprint(FootprintError::Group {
            needed_bytes,
            budget_bytes,
            ..
        })
        | FitError::Footprint(FootprintError::Run {
            needed_bytes,
            budget_bytes,
        })
        | FitError::Resident {
            needed_bytes,
            budget_bytes,
        }
        | FitError::Group {
            needed_bytes,
            budget_bytes,
            ..
        } => (*needed_bytes, *budget_bytes),
        FitError::Footprint(FootprintError::Overflow { name }) => {
            return RunError::TooLarge { name: name.clone() };
        }
    };
    RunError::Memory {
        what: match e {
            FitError::Resident { .. } => format!("{what} do not fit"),
            FitError::Footprint(_) | FitError::Group { .. } => format!("{what} does not fit"),
        },
        needed_bytes: least.unwrap_or(needed_bytes),
        available_bytes,
    }
}
