//! Batches of queries on a session's graph: small ones share launches, with a CTA each, large ones have all CTAs.

use super::Megakernel;
use super::arena::Packing;
use super::graph::up;
use super::launch::Batch;
use super::pass::Pass;
use super::per_cta::{Laid, PerCta, Query, RECORDS_BYTES, Recorded, States, worth_sharing};
use super::readback::{Pending, Taken};
use super::upload::check_args;
use crate::image::Control;
use std::sync::Arc;
use std::time::Instant;
use vyre_core::dsl::error::RunError;
use vyre_core::run::args::Args;
use vyre_core::run::outcome::Outcome;
use vyre_core::vir0::module::Program;
use vyre_core::vir0::sizes::Sizes;

/// Nodes and edges up to which two queries are worth sharing a launch; above, an eighth of the multiprocessors must get
/// one.
const SMALL_GRAPH: u64 = 1 << 18;

/// A launch of a batch that is on its way.
#[allow(
    clippy::large_enum_variant,
    reason = "there is one of them a launch, and it is not kept"
)]
pub(super) enum Launched {
    /// One query on all CTAs.
    One(Pending),
    PerCta(Recorded),
}

impl<'q> Batch<Args<'q>> for Megakernel {
    type Launched = Launched;

    fn check(&self) -> Result<(), RunError> {
        self.launcher.check()
    }

    fn is_alone(&self, launched: &Launched) -> bool {
        match launched {
            Launched::One(pending) => {
                let gives_lists = self.launcher.pass.layout.packs_lists();
                !pending.can_be_followed(gives_lists.then_some(&self.last))
            }
            Launched::PerCta(_) => false,
        }
    }

    fn start(
        &mut self,
        queries: &[Args<'q>],
        flight: usize,
        beside: bool,
    ) -> Result<(usize, Launched), RunError> {
        if let Some((count, recorded)) = self.start_per_cta(queries, (flight, beside))? {
            return Ok((count, Launched::PerCta(recorded)));
        }
        let one = self.start_series(&queries[..1], (flight, beside), true, &mut [])?;
        Ok((1, Launched::One(one)))
    }

    fn finish(
        &mut self,
        queries: &[Args<'q>],
        launched: Launched,
    ) -> Result<Vec<Result<Outcome, RunError>>, RunError> {
        match launched {
            Launched::One(pending) => {
                let (flight, mut outcome) = (pending.flight, Outcome::default());
                let mut taken = self.finish_series(pending, &mut outcome, &mut []);
                if let Ok(Taken::Overtaken) = taken {
                    // It is made again behind the launch that is on its way, and no other one follows either of them.
                    self.last.overtaken = true;
                    let again = self.start_series(queries, (flight, true), true, &mut []);
                    taken = again.and_then(|p| self.finish_series(p, &mut outcome, &mut []));
                }
                Ok(vec![taken.map(|_| outcome)])
            }
            Launched::PerCta(recorded) => self.launcher.finish(recorded),
        }
    }
}

impl Megakernel {
    /// Starts the first few queries in one launch, and says how many; none when they are better run one by one.
    fn start_per_cta(
        &mut self,
        queries: &[Args<'_>],
        (flight, beside): (usize, bool),
    ) -> Result<Option<(usize, Recorded)>, RunError> {
        let started = Instant::now();
        let most_ctas = u64::from(self.settings.ctas.min(self.settings.slots).max(1));
        let Some((mut sizes, laid)) = self.alike(queries, most_ctas)? else {
            return Ok(None);
        };
        let least = self.least_shared();
        let queued = sizes.len() as u64;
        let Some(count) = self.shared(&laid, queued, (least, most_ctas), beside) else {
            return Ok(None);
        };
        sizes.truncate(count as usize);
        let laid = Arc::new(laid);
        let taken = sizes.into_iter().zip(queries).map(|(sizes, args)| Query {
            args,
            sizes,
            laid: Arc::clone(&laid),
        });
        let taken: Vec<Query<'_, '_>> = taken.collect();
        self.memory.sizes = taken[0].sizes.clone();
        let memory = &self.memory;
        let mut launch = PerCta {
            started,
            queries: taken,
            ctas: most_ctas.min(count) as u32,
            flight,
            beside,
            states: States::Cta,
            images: |pass: &Pass, images: &mut [u8], queries: &[Query<'_, '_>], bases: &[_]| {
                // Of query 0 on CTA 0, moved on for the others.
                let Query { sizes, laid, .. } = &queries[0];
                let places = laid.places(bases[0], |i| memory.memory_of(i).address());
                let encoded = memory.encode(pass, sizes, &places, &laid.shapes);
                images[..encoded.len()].copy_from_slice(&encoded);
            },
        };

        // As many states as there is room for.
        let mut more = launch.more(&self.launcher);
        if more > 0 {
            let (free, _) = self.launcher.pass.device.memory_bytes()?;
            while launch.ctas > 1 && more > free {
                launch.ctas /= 2;
                more = launch.more(&self.launcher);
            }
            if more > free {
                return Ok(None);
            }
        }
        if u64::from(launch.ctas) < least {
            return Ok(None);
        }
        let launched = launch.start(&mut self.launcher)?;
        Ok(Some((count as usize, launched)))
    }

    /// Sizes of the first few queries, and how the first one is laid out: those of other sizes, or that are refused, end
    /// the launch.
    fn alike(
        &self,
        queries: &[Args<'_>],
        ctas: u64,
    ) -> Result<Option<(Vec<Sizes>, Laid)>, RunError> {
        let pass = &self.launcher.pass;
        let mut sizes: Vec<Sizes> = Vec::new();
        let mut first: Option<(Vec<Option<u64>>, Laid)> = None;
        let mut most = usize::MAX;
        for query in queries {
            let Ok(checked) = check_args(&pass.program, &self.memory.sizes, query) else {
                break;
            };
            let these = lens(&pass.program, &checked);
            match &first {
                None => {
                    let needs = self.memory.needs(pass, &checked, Packing::All)?;
                    let laid = Laid::new(&pass.program, &needs);
                    // More than the next launches take are not looked at.
                    most = (4 * worth_sharing(laid.record_bytes, ctas)) as usize;
                    first = Some((these, laid));
                }
                Some((lens, _)) if these != *lens || sizes.len() == most => break,
                Some(_) => {}
            }
            sizes.push(checked);
        }
        Ok(first.map(|(_, laid)| (sizes, laid)))
    }

    /// Queries that are worth a launch of their own, at least.
    fn least_shared(&self) -> u64 {
        let edges: u64 = self.memory.graphs.iter().map(|g| u64::from(g.edges)).sum();
        match self.memory.sizes.nodes + edges <= SMALL_GRAPH {
            true => 2,
            false => u64::from(self.launcher.pass.slots() / 8).max(2),
        }
    }

    /// How many of the queued queries share the next launch, of `ctas` CTAs at most; none if fewer than `least`.
    /// `beside`: another launch is on its way.
    fn shared(
        &self,
        laid: &Laid,
        queued: u64,
        (least, ctas): (u64, u64),
        beside: bool,
    ) -> Option<u64> {
        let record_bytes = laid.record_bytes;
        let most = RECORDS_BYTES / record_bytes.max(1);
        if most.min(queued) < least {
            return None;
        }
        // Launches of about one size, the last of which is not left with a few.
        let worth = worth_sharing(record_bytes, ctas);
        let launches = (queued + worth / 2) / worth;
        let mut count = queued.div_ceil(launches.max(1)).min(most).max(1);
        if let Some(batch_bytes) = self.settings.batch_bytes {
            // Two launches may be on their way, unless the first takes all. Control words do not count.
            let control = up(Control::new(&self.launcher.pass.program).bytes);
            let each = laid.input_bytes + record_bytes;
            let each = each.saturating_sub(control).max(1);
            let room = batch_bytes.saturating_sub(laid.slab_bytes * ctas.min(count)) / each;
            if beside || count < queued || count > room {
                count = count.min(room / 2);
            }
            if count < least {
                return None;
            }
        }
        Some(count)
    }
}

/// All lengths that depend on a query.
fn lens(program: &Program, sizes: &Sizes) -> Vec<Option<u64>> {
    let buffers = program.buffers.iter().map(|b| b.extent);
    let queues = program.queues().map(|(_, q)| q.capacity);
    let waves = program.waves.iter().filter_map(|w| w.domain.count());
    let extents = buffers.chain(queues).chain(waves);
    extents.map(|e| sizes.resolve(program, e)).collect()
}
