//! How long the device takes for the submissions of a run, where it can tell.

use crate::device::Opened;
use vyre_core::dsl::error::RunError;
use wgpu::{Buffer, BufferUsages, CommandEncoder, QuerySet, QuerySetDescriptor, QueryType};

/// Submissions between two looks of the host, at most. More are not measured, and neither is their run.
const SUBMISSIONS: u32 = 64;

/// Bytes of a time.
const TICK: u64 = 8;

/// The times at which submissions begin and end.
pub(crate) struct Clock {
    times: QuerySet,
    resolved: Buffer,
    /// Nanoseconds of a tick.
    period: f64,
    /// Times that were asked for since the host last looked.
    asked: u32,
    /// What the submissions of these runs took, as far as the host has looked; `None` where one was not measured.
    ns: Option<f64>,
}

impl Clock {
    /// `None` where the device has no clock for this.
    pub(crate) fn new(on: &Opened) -> Result<Option<Clock>, RunError> {
        if !on.has_clock() {
            return Ok(None);
        }
        let usage = BufferUsages::QUERY_RESOLVE | BufferUsages::COPY_SRC;
        let bytes = TICK * u64::from(2 * SUBMISSIONS);
        Ok(Some(Clock {
            times: on.device.create_query_set(&QuerySetDescriptor {
                label: None,
                ty: QueryType::Timestamp,
                count: 2 * SUBMISSIONS,
            }),
            resolved: on.buffer("times", bytes, usage)?,
            period: on.queue.get_timestamp_period().into(),
            asked: 0,
            ns: Some(0.0),
        }))
    }

    /// Runs begin, of which it tells what they take together.
    pub(crate) fn begin(&mut self) {
        (self.asked, self.ns) = (0, Some(0.0));
    }

    /// A submission begins, or ends.
    pub(crate) fn ask(&mut self, encoder: &mut CommandEncoder) {
        if self.asked < 2 * SUBMISSIONS {
            encoder.write_timestamp(&self.times, self.asked);
            self.asked += 1;
        } else {
            self.ns = None;
        }
    }

    /// Where the times are behind these commands, and how many bytes they have.
    pub(crate) fn resolve(&self, encoder: &mut CommandEncoder) -> (Buffer, u64) {
        encoder.resolve_query_set(&self.times, 0..self.asked, &self.resolved, 0);
        (self.resolved.clone(), TICK * u64::from(self.asked))
    }

    /// The host has looked at the times.
    pub(crate) fn take(&mut self, words: &[u32]) {
        let time = |words: &[u32]| u64::from(words[1]) << 32 | u64::from(words[0]);
        for pair in words.chunks_exact(4) {
            let ticks = time(&pair[2..]).saturating_sub(time(pair));
            self.ns = self.ns.map(|ns| ns + ticks as f64 * self.period);
        }
        self.asked = 0;
    }

    /// Nanoseconds of the runs, where all was measured.
    pub(crate) fn ns(&self) -> Option<u64> {
        self.ns.map(|ns| ns as u64)
    }
}
