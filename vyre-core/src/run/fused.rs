//! Topologies, arguments and results of two programs that run as one ([`crate::plan::fuse`]).

use crate::plan::fuse::Fused;
use crate::run::args::{Args, TopologyArgs};
use crate::run::outcome::{Outcome, Report};
use crate::vir0::module::{BufferId, ListId, ReductionId, ScalarId};

impl Fused {
    /// The topology of both, whose graphs are the same.
    pub fn topology<'a>(
        &self,
        first: &TopologyArgs<'a>,
        second: &TopologyArgs<'a>,
    ) -> TopologyArgs<'a> {
        let mut both = first.clone();
        let scalars = second.scalars.iter();
        let scalars = scalars.map(|&(id, bits)| (self.second_scalar(id), bits));
        both.scalars.extend(scalars);
        let columns = second.columns.iter();
        let columns = columns.map(|&(id, column)| (self.second_buffer(id), column));
        both.columns.extend(columns);
        both
    }

    /// What each was given that is this [topology](Fused::topology) together.
    pub fn topologies<'a>(&self, both: &TopologyArgs<'a>) -> (TopologyArgs<'a>, TopologyArgs<'a>) {
        let graphs = || TopologyArgs {
            graphs: both.graphs.clone(),
            ..TopologyArgs::default()
        };
        let (mut first, mut second) = (graphs(), graphs());
        for &(id, bits) in &both.scalars {
            match id.index().checked_sub(self.scalars) {
                None => first.scalars.push((id, bits)),
                Some(own) => second.scalars.push((ScalarId(own as u16), bits)),
            }
        }
        for &(id, column) in &both.columns {
            match self.own(id) {
                None => first.columns.push((id, column)),
                Some(own) => second.columns.push((own, column)),
            }
        }
        (first, second)
    }

    /// Of a buffer that the second program alone has, its id there.
    fn own(&self, id: BufferId) -> Option<BufferId> {
        let second = id.index() >= self.first_buffers;
        let at = || self.buffers.iter().position(|&b| b == id);
        second.then(at)?.map(|own| BufferId(own as u16))
    }

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
            match self.own(id) {
                None => first.outputs.push((id, column)),
                Some(own) => second.outputs.push((own, column)),
            }
        }
        for (id, nodes, bits) in outcome.rows {
            match self.own(id) {
                None => first.rows.push((id, nodes, bits)),
                Some(own) => second.rows.push((own, nodes, bits)),
            }
        }
        for (id, columns) in outcome.lists {
            match id.index().checked_sub(self.first_lists) {
                None => first.lists.push((id, columns)),
                Some(own) => second.lists.push((ListId(own as u16), columns)),
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
