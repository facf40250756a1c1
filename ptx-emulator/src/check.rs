//! Explores every order in which warps may run, and every old value that their loads may read.
//!
//! A step of a warp is one instruction that others may see or change, and what comes after it up to the next such one:
//! plain accesses need no steps of their own, because of two that meet one must be known to the other, which the model
//! checks. States that were seen are not gone through again, so that loops which wait are finite. What is found:
//!
//! - a fault of any order, a race and a wrong result at an end among them;
//! - states where nothing can go on but not all is done;
//! - states from which no end can be reached when every load reads the latest write (those that wait forever).

use crate::decode::{Op, Space};
use crate::machine::{Fault, Machine, Stop, Wait, Warp};
use crate::order::Model;
use std::collections::HashMap;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};

/// What was explored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Different states.
    pub states: usize,
    /// Steps between them.
    pub steps: usize,
    /// States in which all is done.
    pub ends: usize,
    /// Loads that had several writes to choose from, and writes that could land before others.
    pub old_reads: usize,
}

/// What was found, and how it came to it.
#[derive(Clone, PartialEq, Eq)]
pub struct Failure {
    /// What went wrong.
    pub what: String,
    /// The steps that led there.
    pub trace: Vec<String>,
    /// What was explored until then.
    pub report: Report,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} (after {} states)", self.what, self.report.states)?;
        let skipped = self.trace.len().saturating_sub(40);
        self.trace
            .iter()
            .skip(skipped)
            .try_for_each(|step| writeln!(f, "  {step}"))
    }
}

impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Failure {}

/// One way to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Move {
    /// A warp makes a step; of the writes that its load may read, which one, or whether its own lands before others.
    Step { warp: usize, choice: u32 },
    /// A store to another CTA arrives.
    Deliver(usize),
}

struct Node {
    machine: Machine,
    id: usize,
    moves: Vec<Move>,
    next: usize,
}

/// Explores a grid from where it is. `most`: states to explore before that is given up, which is a failure. `accept` judges
/// each end.
///
/// # Errors
/// With the first thing that is found.
pub fn explore(
    mut machine: Machine,
    most: usize,
    accept: &dyn Fn(&Machine) -> Result<(), String>,
) -> Result<Report, Failure> {
    let mut report = Report::default();
    let launch = machine.launch;
    machine.model = Some(Model::new(launch.ctas, launch.threads / 32, launch.cluster));
    machine.parked = vec![false; machine.warps.len()];
    let fail = |what: String, stack: &[Node], report| Failure {
        what,
        trace: stack.iter().map(Node::told).collect(),
        report,
    };
    machine
        .settle()
        .map_err(|fault| fail(fault.to_string(), &[], report))?;
    let mut seen = HashMap::from([(machine.hash(), 0)]);
    // By state, those that a step leads to; and the ends.
    let mut leads: Vec<Vec<usize>> = vec![Vec::new()];
    let mut ends = Vec::new();
    let moves = machine.moves();
    let mut stack = vec![Node {
        machine,
        id: 0,
        moves,
        next: 0,
    }];
    while let Some(node) = stack.last_mut() {
        let Some(&made) = node.moves.get(node.next) else {
            stack.pop();
            continue;
        };
        node.next += 1;
        report.steps += 1;
        let (from, mut next) = (node.id, node.machine.clone());
        let choices = next
            .make(made)
            .map_err(|fault| fail(fault.to_string(), &stack, report))?;
        if let Move::Step { warp, choice: 0 } = made
            && choices > 1
        {
            report.old_reads += 1;
            let node = stack.last_mut().expect("the node is there");
            node.moves
                .extend((1..choices).map(|choice| Move::Step { warp, choice }));
        }
        let id = leads.len();
        let known = *seen.entry(next.hash()).or_insert(id);
        // What is stored is seen at some time, so no warp waits for what it sees late.
        if !matches!(made, Move::Step { choice: 1.., .. }) {
            leads[from].push(known);
        }
        if known != id {
            continue;
        }
        leads.push(Vec::new());
        report.states = leads.len();
        if report.states > most {
            return Err(fail(format!("more than {most} states"), &stack, report));
        }
        let moves = next.moves();
        if moves.is_empty() {
            if let Some(waits) = next.warps.iter().position(|w| w.wait != Wait::Done) {
                return Err(fail(next.stuck(waits).to_string(), &stack, report));
            }
            accept(&next).map_err(|what| fail(what, &stack, report))?;
            report.ends += 1;
            ends.push(id);
        }
        stack.push(Node {
            machine: next,
            id,
            moves,
            next: 0,
        });
    }
    // Whether every state can still reach an end.
    let mut back: Vec<Vec<usize>> = vec![Vec::new(); leads.len()];
    for (from, tos) in leads.iter().enumerate() {
        tos.iter().for_each(|&to| back[to].push(from));
    }
    let mut ending = vec![false; leads.len()];
    ends.iter().for_each(|&end| ending[end] = true);
    while let Some(state) = ends.pop() {
        for &from in &back[state] {
            if !std::mem::replace(&mut ending[from], true) {
                ends.push(from);
            }
        }
    }
    match ending.iter().filter(|ends| !**ends).count() {
        0 => Ok(report),
        n => Err(fail(
            format!("{n} states can reach no end: warps wait forever"),
            &[],
            report,
        )),
    }
}

impl Node {
    /// The step that was made last here.
    fn told(&self) -> String {
        match self.moves[self.next.saturating_sub(1)] {
            Move::Deliver(_) => "a store to another CTA arrives".to_owned(),
            Move::Step { warp, choice } => {
                let place = self.machine.place(warp);
                let old = if choice > 0 {
                    format!(", {choice} writes old")
                } else {
                    String::new()
                };
                format!("{place}{old}")
            }
        }
    }
}

impl Machine {
    /// Lets every warp go on to what others may see or change.
    fn settle(&mut self) -> Result<(), Fault> {
        const LONGEST: u64 = 5_000_000;
        while let Some(warp) =
            (0..self.warps.len()).find(|&w| self.warps[w].wait == Wait::Not && !self.parked[w])
        {
            match self.run_warp(warp, LONGEST, Some(0))? {
                Stop::Visible => self.parked[warp] = true,
                Stop::Waits => {}
                Stop::Spent => return Err(self.stuck(warp)),
            }
        }
        let waits = &self.warps;
        if let Some(model) = &mut self.model {
            // One that waits for its CTA will know what the others know.
            model.forget(|unit| {
                matches!(waits[unit as usize].wait, Wait::Not | Wait::Cluster { .. })
            });
        }
        Ok(())
    }

    fn moves(&self) -> Vec<Move> {
        let ready = |w: &usize| self.warps[*w].wait == Wait::Not;
        let step = |warp| Move::Step { warp, choice: 0 };
        // A warp that is alone in its CTA accesses that one's shared memory. What other CTAs of a cluster load and send there
        // would be a race.
        let alone = |w: &usize| {
            let cta = self.warps[*w].cta;
            let others = |o: &usize| *o != *w && self.warps[*o].cta == cta && self.has_its_turn(*o);
            self.next_is_shared(*w) && !(0..self.warps.len()).filter(ready).any(|o| others(&o))
        };
        if let Some(warp) = (0..self.warps.len())
            .filter(|&w| ready(&w) && self.has_its_turn(w))
            .find(alone)
        {
            return vec![step(warp)];
        }
        let steps = (0..self.warps.len())
            .filter(ready)
            .filter(|&w| !self.is_held(w) && self.has_its_turn(w))
            .map(step);
        let flights = (0..self.flights.len()).map(Move::Deliver);
        steps.chain(flights).collect()
    }

    /// Whether a warp may go on, where those of a CTA go on one after another.
    fn has_its_turn(&self, warp: usize) -> bool {
        let Warp { cta, number, .. } = *self.warps[warp];
        number < self.in_turn_from
            || (0..warp).all(|o| {
                let other = &self.warps[o];
                other.cta != cta || other.wait != Wait::Not || self.is_held(o)
            })
    }

    fn next_is_shared(&self, warp: usize) -> bool {
        match self.next_of(warp) {
            Some((_, instr)) => match &instr.op {
                Op::Ld(a) | Op::St(a) | Op::Atom(_, a) | Op::Red(_, a) => a.space == Space::Shared,
                Op::MbarArrive { .. } => true,
                _ => false,
            },
            None => false,
        }
    }

    /// Makes a move; how many writes its load had to choose from.
    fn make(&mut self, made: Move) -> Result<u32, Fault> {
        let choice = if let Move::Step { choice, .. } = made {
            choice
        } else {
            0
        };
        if let Some(model) = &mut self.model {
            (model.choice, model.choices) = (choice, 1);
        }
        match made {
            Move::Deliver(index) => self.deliver(index)?,
            Move::Step { warp, .. } => {
                self.parked[warp] = false;
                // The step itself; what comes after it chooses nothing.
                self.run_warp(warp, 1, Some(1))?;
            }
        }
        let choices = self.model.as_ref().map_or(1, |model| model.choices);
        if let Some(model) = &mut self.model {
            model.choice = 0;
        }
        self.settle()?;
        Ok(choices)
    }

    fn hash(&self) -> u64 {
        let mut state = DefaultHasher::new();
        self.memory.hash_into(&mut state);
        self.shared
            .iter()
            .for_each(|shared| shared.hash_into(&mut state));
        for warp in &self.warps {
            warp.hash_in(&self.module).hash(&mut state);
        }
        self.flights.hash(&mut state);
        self.clusters.hash(&mut state);
        self.model.hash(&mut state);
        state.finish()
    }
}
