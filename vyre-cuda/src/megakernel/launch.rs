//! The one way to the device: a [`Launch`] brings images and inputs up, the [`Launcher`] launches the megakernel on
//! them, and the launch sends for what it leaves.
//!
//! | launch | CTAs a query | whose state | for |
//! | --- | --- | --- | --- |
//! | [`Series`](super::series::Series) | all, one query after another | the session's own | runs, series, large queries |
//! | [`PerCta`](super::per_cta::PerCta), one image | one | each CTA's | small queries of a batch |
//! | [`PerCta`](super::per_cta::PerCta), an image a query | one | each query's | queries on many graphs |
//!
//! Two launches are on their way at a time where there is something to gain ([`Batch`]). Each has a [`Flight`]: memory
//! and events that nothing else uses until its results were taken.

use super::pass::{Pass, Running};
use crate::buffer::{Event, HostWords, Memory, Pinned, Ring, Timer};
use crate::device::{Device, DeviceError};
use crate::driver::Param;
use crate::image::Layout;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use vyre_core::dsl::error::RunError;
use vyre_core::plan::footprint::Allocation;
use vyre_core::plan::session::Counters;
use vyre_core::run::backend::Progress;
use vyre_core::run::outcome::Outcome;
use vyre_core::run::stop::Stop;
use vyre_core::vir0::module::Program;

/// Launches a pass, and keeps what launches are made with.
#[derive(Debug)]
pub(super) struct Launcher {
    pub(super) pass: Pass,
    /// By number; the second one from the first time that two launches are on their way.
    pub(super) flights: Vec<Flight>,
    /// What only the device needs of queries with a CTA each.
    pub(super) slab: Option<Memory>,
    pub(super) ring: Option<Ring>,
    pub(super) counts: Counters,
    /// Launches that were begun; from then on what an earlier one left may change, whether they come to anything or not.
    pub(super) begun: u64,
    pub(super) progress: Arc<Progress>,
    /// Whether launches are still to begin, and go on.
    pub(super) stop: Option<Arc<Stop>>,
    words: Arc<HostWords>,
}

/// Words through which the host and launches of a pass tell each other something while these run: rounds, the frontier,
/// and whether they are to stop, in a line of its own.
const WORDS: usize = 32;
const ROUNDS: usize = 0;
const FRONTIER: usize = 1;
const STOP: usize = 16;

/// As long as it is there, a call that is stopped stops the launches that are on their way.
#[must_use = "launches go on to their end when this is dropped"]
pub(super) struct Armed {
    stop: Option<Arc<Stop>>,
    /// What its launches are of.
    _running: Option<Arc<Running>>,
}

impl Drop for Armed {
    fn drop(&mut self) {
        if let Some(stop) = &self.stop {
            stop.set_alarm(None);
        }
    }
}

/// What a launch has for itself until its results were taken.
#[derive(Debug)]
pub(super) struct Flight {
    /// Images and control words on their way up.
    pub(super) staging: Pinned,
    /// Of a series: the control words of all runs but the last, its slab, and its results with copies of their own.
    pub(super) controls: Pinned,
    pub(super) slab: Pinned,
    pub(super) outputs: Pinned,
    pub(super) timer: Timer,
    /// Passes when control words and slab of a series are here.
    pub(super) told: Event,
    /// Of results with copies of their own, in pieces: each passes when its piece is here.
    pub(super) pieces: Vec<Event>,
    /// Passes when the launch is over, and with it what it sent for.
    pub(super) done: Event,
    /// Of queries with a CTA each.
    pub(super) records: Option<Records>,
}

/// What queries that share a launch have on the device, but for the slab.
#[derive(Debug)]
pub(super) struct Records {
    /// The batch, control words as they are before a query, scalars, images; copied as a whole.
    pub(super) head: Memory,
    pub(super) inputs: Memory,
    /// Control words and results, by query.
    pub(super) records: Memory,
    /// Inputs are there.
    pub(super) ready: Event,
}

/// What a megakernel is launched on: which image, of which batch (0: none), how many CTAs, and how many a cluster.
pub(super) struct Work {
    pub(super) image: u64,
    pub(super) batch: u64,
    pub(super) ctas: u32,
    pub(super) cluster: u32,
    /// Whether CTAs wait for each other.
    pub(super) waits: bool,
}

/// Queries that go to the device together.
pub(super) trait Launch {
    /// Whose memory and events it uses.
    fn flight(&self) -> usize;

    /// Launches of the driver; at least one.
    fn launches(&self) -> usize;

    /// Brings up what the driver's launch `nth` runs on. `None`: neither that one nor any after it is to be launched.
    fn upload(&mut self, launcher: &mut Launcher, nth: usize) -> Result<Option<Work>, RunError>;

    /// Sends for what the driver's launch `nth` leaves, which was given to the stream.
    fn download(&mut self, launcher: &mut Launcher, nth: usize) -> Result<(), RunError>;

    /// Sends for what all of them leave, after the last one.
    fn fetch(&mut self, launcher: &mut Launcher) -> Result<(), RunError>;
}

impl Launcher {
    /// Uploads the code of a pass, for which there is room. `counts`: what was done so far.
    pub(super) fn new(
        device: &Arc<Device>,
        of: (Arc<Program>, Allocation),
        layout: Layout,
        counts: Counters,
    ) -> Result<Launcher, DeviceError> {
        let words = layout.device_words(false);
        let code = Memory::new(device, words.len() as u64)?;
        code.upload(0, &words)?;
        device.driver()?.note_code(code.address(), &of.0);
        let told = Arc::new(HostWords::new(device, WORDS)?);
        Ok(Launcher {
            pass: Pass::new(device, of, layout, (code, told.address(STOP))),
            flights: Vec::new(),
            slab: None,
            ring: None,
            counts,
            begun: 0,
            progress: Arc::default(),
            stop: None,
            words: told,
        })
    }

    /// A call of the session begins, which may be stopped. Nothing is on its way.
    ///
    /// # Errors
    /// The device does not take what the call's launches need.
    pub(super) fn arm(&mut self) -> Result<Armed, DeviceError> {
        let _running = self.pass.begin()?;
        let Some(stop) = &self.stop else {
            return Ok(Armed {
                stop: None,
                _running,
            });
        };
        self.words.word(STOP).store(0, Ordering::SeqCst);
        let words = Arc::clone(&self.words);
        stop.set_alarm(Some(Box::new(move || {
            words.word(STOP).store(1, Ordering::SeqCst);
        })));
        Ok(Armed {
            stop: Some(Arc::clone(stop)),
            _running,
        })
    }

    /// Goes on unless the call under way is to stop.
    pub(super) fn check(&self) -> Result<(), RunError> {
        self.stop.as_ref().map_or(Ok(()), |stop| stop.check())
    }

    /// What is to be said of a run that a launch has cut short.
    pub(super) fn cut_short(&self) -> RunError {
        let unasked = || RunError::Backend("a launch stopped that nobody stopped".to_owned());
        let stop = self.stop.as_ref();
        stop.and_then(|stop| stop.why()).unwrap_or_else(unasked)
    }

    /// Makes a flight, if it is the first time that it is needed.
    pub(super) fn make_flight(&mut self, flight: usize) -> Result<(), DeviceError> {
        while self.flights.len() <= flight {
            self.flights.push(Flight::new(&self.pass.device)?);
        }
        Ok(())
    }

    /// Gives back the memory of queries with a CTA each. None of them is on its way.
    pub(super) fn drop_records(&mut self) {
        self.slab = None;
        for flight in &mut self.flights {
            flight.records = None;
        }
    }

    /// Starts a launch: for each launch of the driver, what it runs on goes up, and what it leaves is sent for.
    pub(super) fn start(&mut self, launch: &mut impl Launch) -> Result<(), RunError> {
        self.check()?;
        self.begun += 1;
        let (flight, launches) = (launch.flight(), launch.launches());
        for nth in 0..launches {
            let Some(work) = launch.upload(self, nth)? else {
                break;
            };
            let pass = &self.pass;
            let timer = &self.flights[flight].timer;
            if nth == 0 {
                timer.start()?;
            }
            let grid = pass.grid(&work);
            let params = [Param::Address(work.image), Param::Address(work.batch)];
            // SAFETY: the arguments are a megakernel's. What image and batch name belongs to the session, which waits for
            // the launch before it takes another module; `work.ctas` CTAs are resident together, as many a multiprocessor as its
            // module says.
            unsafe { pass.device.launch(grid, &params) }?;
            self.counts.launches += 1;
            if nth + 1 == launches {
                timer.end()?;
            }
            launch.download(self, nth)?;
        }
        launch.fetch(self)?;
        let done = &self.flights[flight].done;
        Ok(done.record(self.pass.device.launches())?)
    }

    /// What ended in an error has left nothing on its way: the next run uses the same memory, and so may the caller. A
    /// trap comes after all that was waited for.
    pub(super) fn settled<T>(&self, ended: Result<T, RunError>) -> Result<T, RunError> {
        if !matches!(ended, Ok(_) | Err(RunError::Trap(_))) {
            // This error comes after the one that is told.
            let _ = self.pass.device.synchronize();
        }
        ended
    }

    /// A run begins, of which nothing is known yet.
    pub(super) fn begin_progress(&self) {
        self.progress.begin();
        for told in [ROUNDS, FRONTIER] {
            self.words.word(told).store(0, Ordering::Relaxed);
        }
    }

    /// Where the device tells how far it is; 0: no one is watching.
    pub(super) fn progress_address(&self) -> u64 {
        match Arc::strong_count(&self.progress) > 1 {
            true => self.words.address(ROUNDS),
            false => 0,
        }
    }

    /// Waits for an event of a flight, and keeps those who watch informed.
    pub(super) fn wait(
        &mut self,
        flight: usize,
        event: fn(&Flight) -> &Event,
    ) -> Result<(), RunError> {
        self.counts.fences += 1;
        let event = event(&self.flights[flight]);
        if Arc::strong_count(&self.progress) == 1 {
            return Ok(event.wait()?);
        }
        // Who watches reads the words: the driver answers no other thread while one waits for the device.
        let words = Arc::clone(&self.words);
        let told = move || [ROUNDS, FRONTIER].map(|at| words.word(at).load(Ordering::Relaxed));
        Ok(self.progress.while_told_by(told, || event.wait())?)
    }
}

impl Flight {
    fn new(device: &Arc<Device>) -> Result<Flight, DeviceError> {
        Ok(Flight {
            staging: Pinned::none(device),
            controls: Pinned::none(device),
            slab: Pinned::none(device),
            outputs: Pinned::none(device),
            timer: Timer::new(device)?,
            told: Event::new(device)?,
            pieces: Vec::new(),
            done: Event::new(device)?,
            records: None,
        })
    }
}

/// What runs batches of queries, launch by launch.
pub(super) trait Batch<Q> {
    /// A launch that is on its way.
    type Launched;

    /// Goes on unless the batch is to stop.
    fn check(&self) -> Result<(), RunError>;

    /// Whether its results must be taken before the next launch is started.
    fn is_alone(&self, launched: &Self::Launched) -> bool;

    /// Starts a launch of the first few queries, at least one, and says how many. `beside`: another one is on its way.
    fn start(
        &mut self,
        queries: &[Q],
        flight: usize,
        beside: bool,
    ) -> Result<(usize, Self::Launched), RunError>;

    /// Waits for a launch of these queries, and takes its results.
    fn finish(
        &mut self,
        queries: &[Q],
        launched: Self::Launched,
    ) -> Result<Vec<Result<Outcome, RunError>>, RunError>;

    /// Runs all queries, in order. While one launch is on the device, the next is started.
    fn run_all(&mut self, queries: &[Q]) -> Vec<Result<Outcome, RunError>> {
        let mut results = Vec::with_capacity(queries.len());
        // The launch that is on its way, and its queries.
        let mut before: Option<(&[Q], Self::Launched)> = None;
        let (mut started, mut flight) = (0, 0);
        while started < queries.len() {
            if let Err(stopped) = self.check() {
                self.take(before.take(), &mut results);
                results.extend(std::iter::repeat_n(Err(stopped), queries.len() - started));
                break;
            }
            if let Some(alone) = before.take_if(|(_, launched)| self.is_alone(launched)) {
                self.take(Some(alone), &mut results);
                // The flight that it leaves.
                flight ^= 1;
            }
            let next = self.start(&queries[started..], flight, before.is_some());
            self.take(before.take(), &mut results);
            match next {
                Ok((count, launched)) => {
                    before = Some((&queries[started..started + count], launched));
                    started += count;
                    flight ^= 1;
                }
                Err(e) => {
                    started += 1;
                    results.push(Err(e));
                }
            }
        }
        self.take(before, &mut results);
        results
    }

    /// The results of the launch that is on its way, if one is.
    fn take(
        &mut self,
        launched: Option<(&[Q], Self::Launched)>,
        results: &mut Vec<Result<Outcome, RunError>>,
    ) {
        let Some((queries, launched)) = launched else {
            return;
        };
        match self.finish(queries, launched) {
            Ok(mut all) => results.append(&mut all),
            Err(e) => results.extend(std::iter::repeat_n(Err(e), queries.len())),
        }
    }
}
