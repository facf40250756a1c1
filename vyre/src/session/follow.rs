//! A session goes to the side of its runtime that is to have the next run.

use super::Session;
use crate::costs::Did;
use crate::sides::{Parked, Side};
use std::fmt;
use std::sync::Arc;
use vyre_core::dsl::error::RunError;
use vyre_core::plan::side::swept_items;
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
        if !on {
            self.close_others();
        }
    }

    /// Runs something on the side that is to have the next run. `scalars`: of the run, or of the first of them.
    pub(super) fn on_a_side<T>(
        &mut self,
        (scalars, queries): (&[u64], u64),
        mut run: impl FnMut(&mut Session<P>) -> Result<T, RunError>,
    ) -> Result<T, RunError> {
        self.take_side(scalars, queries);
        let left = self.sides.at();
        let mut done = run(self);
        if let Err(failed) = &done
            && !failed.is_stop()
            && self.go_first()
        {
            let again = run(self);
            if again.is_ok() {
                self.refuse(left, failed);
            }
            done = again;
        }
        match done {
            // What is held for later goes before a run is refused.
            Err(RunError::Memory { .. }) if self.close_others() => run(self),
            done => done,
        }
    }

    /// Goes to the side that is to have the next run.
    pub(super) fn take_side(&mut self, scalars: &[u64], queries: u64) {
        self.sides.forget_run();
        if self.decider.is_measuring() || !self.sides.may_change() {
            return;
        }
        let mut sizes = self.memory.sizes.clone();
        if scalars.len() == self.program.scalars.len() {
            sizes.scalars = scalars.to_vec();
        }
        let (side, why) = self.sides.choose(&self.program, &sizes, queries);
        let gone = self.go(side);
        self.sides.chose(gone.then_some(why));
    }

    /// How much the run of this report did.
    pub(super) fn did(&self, report: &Report) -> Did {
        let frontier_items = report.activity.map_or(0, |a| a.items);
        let sizes = &self.memory.sizes;
        Did {
            rounds: report.total_rounds(),
            items: swept_items(&self.program, sizes, &report.rounds, frontier_items),
        }
    }

    /// Goes to the first side after an error elsewhere; whether it is there now, and was not.
    pub(super) fn go_first(&mut self) -> bool {
        let away = !self.sides.errors_count();
        away && self.go(self.sides.first())
    }

    /// Gives up what the session has on sides where it is not; whether there was something.
    pub(super) fn close_others(&mut self) -> bool {
        self.counted = self.counted.plus(&self.sides.counters());
        self.sides.close_others()
    }

    /// Runs fail on a side that the first side has done.
    pub(super) fn refuse(&mut self, side: usize, why: &dyn fmt::Display) {
        let counted = self.sides.refuse(side, why);
        self.counted = self.counted.plus(&counted);
    }

    /// Goes to a side, opened where it is not; false where it cannot be opened.
    fn go(&mut self, to: usize) -> bool {
        if to == self.sides.at() {
            return true;
        }
        let Some(mut parked) = self.sides.take::<P>(to, &*self.executor) else {
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
