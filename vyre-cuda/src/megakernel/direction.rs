//! Direction: whether searches of the next run may pull, so that nodes look for an edge from the frontier instead of
//! the frontier pushing along all of its edges.
//!
//! A search can pull where the edges in are there: the pass names a reverse, or the graph is its own reverse. To find
//! out whether it is, all edges are looked at, so the device is asked only once runs have missed as much.

use super::graph::{Graph, Question, Symmetric};
use super::memory::SessionMemory;
use super::pass::Pass;
use crate::buffer::{Event, Memory, Pinned};
use crate::driver::Param;
use crate::image::{Layout, Turn};
use vyre_core::dsl::error::RunError;
use vyre_core::plan::cuda::{aligned, bitmap_bytes, pull_bytes};

impl SessionMemory {
    /// How each wave that may pull does so in the next run, where a frontier has `least` edges.
    pub(super) fn turns(&self, layout: &Layout, least: u64) -> Vec<Option<Turn>> {
        let pulls = layout.pulls.iter();
        pulls
            .map(|pull| {
                let graph = &self.graphs[pull.topology.index()];
                let into = match (pull.reverse, &graph.symmetric) {
                    (Some(reverse), _) => Some(reverse),
                    (None, Symmetric::Known(true)) => Some(pull.topology),
                    // What is missed is counted.
                    (None, Symmetric::Unknown(_)) => None,
                    (None, Symmetric::Asked(_) | Symmetric::Known(false)) => return None,
                };
                let bits = match (into, &self.bits) {
                    (None, _) => [0; 2],
                    (Some(_), None) => return None,
                    (Some(_), Some(bits)) => [
                        bits.address(),
                        bits.address() + aligned(bitmap_bytes(self.sizes.nodes)),
                    ],
                };
                let into = into.unwrap_or(pull.topology);
                let fits = |g: &Graph| g.can_be_pulled() && u64::from(g.nodes) == self.sizes.nodes;
                (fits(graph) && fits(&self.graphs[into.index()])).then_some(Turn {
                    bits,
                    into: into.0.into(),
                    most_degree: graph.most_degree,
                    least,
                })
            })
            .collect()
    }

    /// Takes answers that have come, and memory for the bitmaps once they are of use. Where there is none, waves push.
    pub(super) fn prepare_turns(&mut self, pass: &Pass) -> Result<(), RunError> {
        for graph in &mut self.graphs {
            if let Symmetric::Asked(question) = &graph.symmetric
                && question.done.has_passed()?
            {
                graph.symmetric = Symmetric::Known(question.answer.as_slice()[0] != 0);
            }
        }
        let graphs = &self.graphs;
        let useful = pass.layout.pulls.iter().any(|p| {
            let graph = &graphs[p.topology.index()];
            p.reverse.is_some() || matches!(graph.symmetric, Symmetric::Known(true))
        });
        let bytes = pull_bytes(self.sizes.nodes);
        if useful && self.bits.as_ref().is_none_or(|m| m.bytes() < bytes) {
            self.bits = match pass.device.memory_bytes()?.0 < bytes {
                true => None,
                false => Some(Memory::new(&pass.device, bytes)?),
            };
        }
        Ok(())
    }

    /// Asks whether graphs are symmetric, where that was missed often enough. The host does not wait for the
    /// answer; what is given to the device next does.
    pub(super) fn missed(&mut self, pass: &Pass, edges: u64) -> Result<(), RunError> {
        if edges == 0 {
            return Ok(());
        }
        for pull in pass.layout.pulls.iter().filter(|p| p.reverse.is_none()) {
            let graph = &mut self.graphs[pull.topology.index()];
            let Symmetric::Unknown(missed) = &mut graph.symmetric else {
                continue;
            };
            *missed = missed.saturating_add(edges);
            if *missed < u64::from(graph.edges) {
                continue;
            }
            let verdict = Memory::new(&pass.device, 4)?;
            verdict.upload(0, &[1, 0, 0, 0])?;
            let mut question = Question {
                answer: Pinned::new(&pass.device, 4)?,
                done: Event::new(&pass.device)?,
                verdict,
            };
            let interpreter = pass.device.interpreter();
            let grid = interpreter.symmetric(graph.edges, pass.device.multiprocessors());
            let params = [
                Param::Address(graph.offsets.address()),
                Param::Address(graph.targets.address()),
                Param::Word(graph.nodes),
                Param::Word(graph.edges),
                Param::Address(question.verdict.address()),
            ];
            // SAFETY: the arguments are the kernel's. The graph and the question are this session's, which waits before it
            // frees or replaces them.
            unsafe {
                pass.device.launch(grid, &params)?;
                let answer = &mut question.answer.as_mut_slice()[..4];
                question.verdict.download(0, answer)?;
            }
            question.done.record(pass.device.launches())?;
            graph.symmetric = Symmetric::Asked(question);
        }
        Ok(())
    }
}
