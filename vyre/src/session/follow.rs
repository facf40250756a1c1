//! A session goes to the side of its runtime that is to have the next run.

use super::Session;
use crate::costs::Did;
use crate::sides::{Declared, Goes, Parked, Side, Sides, longest, open_ns};
use std::sync::Arc;
use vyre_core::run::outcome::{Outcome, Report};
use vyre_core::run::pass::Pass;

impl<P: Pass> Session<P> {
    /// Where the session runs: the backend's name, such as `"native"`. With a runtime of several sides
    /// ([`Runtime::among`](crate::Runtime::among), [`Runtime::auto`](crate::Runtime::auto) beside a device), where the
    /// last run was; [`Report::backend`] says it of each run.
    pub fn backend(&self) -> &'static str {
        self.sides.runtime().backend()
    }

    /// The sides of the session's runtime: what runs take there, and what the session has there.
    pub fn sides(&self) -> Vec<Side> {
        self.sides.list()
    }

    /// Lets runs go to the side of the runtime where they are fastest, or keeps them where they are, and gives up what
    /// the session has elsewhere. As it begins, passes go of which each result is the same on every side, by proof or by
    /// a claim (`#[pass(same_result(..))]`). Others stay
    /// ([`Agreement::Open`](vyre_core::vir0::module::Agreement::Open): where the order of items shows, or floats are
    /// summed).
    pub fn set_side_changes(&mut self, on: bool) {
        self.sides.set_changes(on);
    }

    /// Goes to the side that is to have the next run. `scalars`: of the run, or of the first of them. `queries`: of a
    /// batch. `runs`: of a batch or a series.
    pub(super) fn take_side(&mut self, scalars: &[u64], queries: u64, runs: u64) {
        self.sides.forget_run();
        if self.decider.is_measuring() || !self.sides.may_change() {
            return;
        }
        let sizes = self.memory.sizes_with(&self.program, scalars);
        let takes = (
            longest(&self.program, &sizes),
            open_ns(&self.program, &sizes),
        );
        self.go_on((queries, runs), takes);
    }

    /// How much the run of this report did.
    pub(super) fn did(&self, report: &Report) -> Did {
        Did::of(&self.program, &self.memory.sizes, report)
    }
}

impl<P: Pass> Goes for Session<P> {
    type Has = Parked;

    fn sides_mut(&mut self) -> &mut Sides<Parked> {
        &mut self.sides
    }

    fn go(&mut self, to: usize) -> bool {
        if to == self.sides.at() {
            return true;
        }
        let here = &*self.executor;
        let declared = Declared::of::<P>();
        let Some(mut parked) = self.sides.take(to, &|there| declared.lent(there, here)) else {
            return false;
        };
        parked.decider.succeed(&mut self.decider);
        if let Some(progress) = self.executor.progress() {
            self.executor.set_progress(Arc::default());
            parked.executor.set_progress(progress);
        }
        let before = Parked {
            executor: std::mem::replace(&mut self.executor, parked.executor),
            program: std::mem::replace(&mut self.program, parked.program),
            memory: std::mem::replace(&mut self.memory, parked.memory),
            decider: std::mem::replace(&mut self.decider, parked.decider),
        };
        if let Some(thresholds) = self.sides.thresholds() {
            self.decider.thresholds = thresholds;
        }
        self.watch();
        // Memory of results may be one side's alone: its pages are locked, for instance.
        self.kept = Outcome::default();
        self.pool = Arc::default();
        self.sides.leave(before, to);
        true
    }
}
