//! Arguments and results of two programs that run as one ([`crate::plan::fuse`]).

use crate::plan::fuse::Fused;
use crate::run::args::Args;
use crate::run::outcome::{Outcome, Report};
use crate::vir0::module::{BufferId, ReductionId};

impl Fused {
    /// The arguments of both; linked inputs are left out.
    pub fn args<'a>(&self, first: &Args<'a>, second: &Args<'a>) -> Args<'a> {
        let mut args = first.clone();
        args.scalars.extend(&second.scalars);
        args.inputs
            .extend(second.inputs.iter().filter_map(|&(id, slice)| {
                let id = self.buffers[id.index()];
                (id.index() >= self.first_buffers).then_some((id, slice))
            }));
        args
    }

    /// What each program gave. Times are those of the one launch, in both reports.
    pub fn outcomes(&self, outcome: Outcome) -> (Outcome, Outcome) {
        let report = |rounds: &[u64]| Report {
            rounds: rounds.to_vec(),
            ..outcome.report.clone()
        };
        let split = self.first_fixpoints.min(outcome.report.rounds.len());
        let (a, b) = outcome.report.rounds.split_at(split);
        let mut first = Outcome {
            report: report(a),
            ..Outcome::default()
        };
        let mut second = Outcome {
            report: report(b),
            ..Outcome::default()
        };
        for (id, column) in outcome.outputs {
            if id.index() < self.first_buffers {
                first.outputs.push((id, column));
            } else if let Some(own) = self.buffers.iter().position(|&b| b == id) {
                second.outputs.push((BufferId(own as u16), column));
            }
        }
        for (id, bits) in outcome.reductions {
            if id.index() < self.reductions {
                first.reductions.push((id, bits));
            } else {
                let own = ReductionId(id.0 - self.reductions as u16);
                second.reductions.push((own, bits));
            }
        }
        (first, second)
    }
}
