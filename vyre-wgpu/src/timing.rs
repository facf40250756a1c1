//! How long submissions take, and sweeps, by timestamps of the adapter.

use crate::gpu::Gpu;
use vyre_core::dsl::error::RunError;
use vyre_core::run::outcome::WaveTime;
use vyre_core::vir0::module::WaveId;
use wgpu::{
    BufferUsages as Usage, CommandEncoder, ComputePassDescriptor, ComputePassTimestampWrites,
    QuerySet, QueryType,
};

/// Bytes of the timestamps of a [`Stopwatch`].
pub(crate) const STOPWATCH_BYTES: u64 = 16;

/// Two timestamps: where the passes of a submission begin, and where they end.
pub(crate) struct Stopwatch {
    queries: QuerySet,
    resolved: wgpu::Buffer,
}

impl Stopwatch {
    /// Where the adapter has timestamps.
    ///
    /// # Errors
    /// There is no memory.
    pub(crate) fn new(gpu: &Gpu) -> Result<Option<Stopwatch>, RunError> {
        if !gpu.has_timestamps() {
            return Ok(None);
        }
        let queries = queries(gpu, 2);
        let usage = Usage::QUERY_RESOLVE | Usage::COPY_SRC;
        let resolved = gpu.buffer("times", STOPWATCH_BYTES, usage)?;
        Ok(Some(Stopwatch { queries, resolved }))
    }

    /// What a pass notes: where it begins, where it ends, or both.
    pub(crate) fn notes(&self, begins: bool, ends: bool) -> ComputePassDescriptor<'_> {
        ComputePassDescriptor {
            label: None,
            timestamp_writes: Some(ComputePassTimestampWrites {
                query_set: &self.queries,
                beginning_of_pass_write_index: begins.then_some(0),
                end_of_pass_write_index: ends.then_some(1),
            }),
        }
    }

    /// Copies them, behind the passes.
    pub(crate) fn copy(&self, encoder: &mut CommandEncoder, to: &wgpu::Buffer, at: u64) {
        encoder.resolve_query_set(&self.queries, 0..2, &self.resolved, 0);
        encoder.copy_buffer_to_buffer(&self.resolved, 0, to, at, STOPWATCH_BYTES);
    }
}

fn queries(gpu: &Gpu, count: u32) -> QuerySet {
    gpu.device().create_query_set(&wgpu::QuerySetDescriptor {
        label: None,
        ty: QueryType::Timestamp,
        count,
    })
}

/// Dispatches of a submission that can be timed.
pub(crate) const MOST: usize = 1_024;

/// Two timestamps for each dispatch of a submission.
pub(crate) struct Timing {
    queries: QuerySet,
    resolved: wgpu::Buffer,
    read: wgpu::Buffer,
    /// The waves that were dispatched since the last look.
    dispatched: Vec<WaveId>,
}

impl Timing {
    /// Where the adapter has timestamps.
    ///
    /// # Errors
    /// There is no memory.
    pub(crate) fn new(gpu: &Gpu) -> Result<Option<Timing>, RunError> {
        if !gpu.has_timestamps() {
            return Ok(None);
        }
        let bytes = 16 * MOST as u64;
        let queries = queries(gpu, 2 * MOST as u32);
        let resolved = gpu.buffer("times", bytes, Usage::QUERY_RESOLVE | Usage::COPY_SRC)?;
        let read = gpu.buffer("times", bytes, Usage::MAP_READ | Usage::COPY_DST)?;
        let dispatched = Vec::new();
        Ok(Some(Timing {
            queries,
            resolved,
            read,
            dispatched,
        }))
    }

    /// The timestamps of a pass that has this wave's dispatch only.
    pub(crate) fn of(&mut self, wave: WaveId) -> ComputePassTimestampWrites<'_> {
        let at = 2 * self.dispatched.len() as u32;
        self.dispatched.push(wave);
        ComputePassTimestampWrites {
            query_set: &self.queries,
            beginning_of_pass_write_index: Some(at),
            end_of_pass_write_index: Some(at + 1),
        }
    }

    /// Copies them, behind the passes.
    pub(crate) fn copy(&self, encoder: &mut CommandEncoder) {
        let count = 2 * self.dispatched.len() as u32;
        if count > 0 {
            encoder.resolve_query_set(&self.queries, 0..count, &self.resolved, 0);
            encoder.copy_buffer_to_buffer(&self.resolved, 0, &self.read, 0, 8 * u64::from(count));
        }
    }

    /// Adds them up, once they are there.
    ///
    /// # Errors
    /// The device is lost.
    pub(crate) async fn add(&mut self, gpu: &Gpu, times: &mut [WaveTime]) -> Result<(), RunError> {
        if self.dispatched.is_empty() {
            return Ok(());
        }
        let bytes = 16 * self.dispatched.len() as u64;
        let take = |bytes: &[u8]| -> Vec<u64> {
            let words = bytes.as_chunks::<8>().0.iter();
            words.map(|word| u64::from_le_bytes(*word)).collect()
        };
        let stamps = gpu.read(&self.read, bytes, take).await?;
        for (wave, pair) in self.dispatched.drain(..).zip(stamps.chunks_exact(2)) {
            let ticks = pair[1].saturating_sub(pair[0]);
            times[wave.index()].ns += (ticks as f64 * gpu.tick_ns()) as u64;
        }
        Ok(())
    }
}
