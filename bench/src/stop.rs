//! How soon a call ends that is cancelled: from `cancel`, at a random instant, to the error.
//!
//! Calls are of passes that would not end, each in another way. After each, the same session gives a right result.

use std::thread;
use std::time::{Duration, Instant};
use vyre::prelude::Csr;
use vyre::{Canceller, Error, RoutePolicy, Runtime};
use vyre_tests::endless::{pairs, rounds, spin, tokens};
use vyre_tests::random::Random;

/// So late at most is a call cancelled after it began.
const LATEST_US: u32 = 2_000;

/// Nodes of a ring, on which tokens walk.
const RING: u32 = 1 << 14;

/// No call may take longer from `cancel` to its error.
pub(super) const BAR: Duration = Duration::from_millis(100);

/// What runs the calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum On {
    /// The passes' own functions
    Native,
    /// Their bytecode, interpreted on the CPU
    Vir0,
    /// Their bytecode, interpreted on the GPU
    Cuda,
    /// Code for the GPU that their bytecode was compiled to
    Compiled,
}

impl On {
    pub(super) fn runtime(self) -> Result<Runtime, Error> {
        Ok(match self {
            On::Native => Runtime::native(),
            On::Vir0 => Runtime::vir0(),
            On::Cuda => Runtime::cuda()?.with_route(RoutePolicy::Interpreter),
            On::Compiled => Runtime::cuda()?.with_route(RoutePolicy::Compiled),
        })
    }
}

/// How long calls of a kind took to end, shortest first.
pub(super) struct Waits {
    pub(super) kind: &'static str,
    waits: Vec<Duration>,
}

impl Waits {
    pub(super) fn median(&self) -> Duration {
        self.waits[self.waits.len() / 2]
    }

    pub(super) fn worst(&self) -> Duration {
        self.waits[self.waits.len() - 1]
    }

    /// Those of all kinds.
    pub(super) fn all(of: &[Waits]) -> Waits {
        let mut waits: Vec<Duration> = of.iter().flat_map(|w| &w.waits).copied().collect();
        waits.sort_unstable();
        Waits { kind: "all", waits }
    }
}

/// Cancels `times` calls of each kind, at least one.
pub(super) fn measure(runtime: &Runtime, times: u32) -> Result<Vec<Waits>, Error> {
    let cancels = &mut Cancels {
        times,
        random: Random(1),
    };
    let spin = |items, turns| spin::Run { items, turns };
    let (short, endless) = (|| spin(3, 0), || spin(100, 1));
    let mut session = spin::Session::new(runtime, ())?;
    let loops = cancels.of("loops without accesses", session.canceller(), |nth| {
        let run = nth.map_or_else(short, |_| endless());
        session.run(run).map(|out| assert_eq!(out.out, [1, 2, 3]))
    })?;
    let series = cancels.of("a series", session.canceller(), |nth| {
        let runs = [short(), nth.map_or_else(short, |_| endless()), short()];
        let last = session.run_series(runs);
        last.map(|out| assert_eq!(out.out, [1, 2, 3]))
    })?;
    let batch = cancels.of("a batch of 50 queries", session.canceller(), |nth| {
        if session.waiting() > 0 {
            // They were refused, because the cancel came before the batch.
            session.set_time_limit(Some(Duration::from_millis(1)));
            while session.waiting() > 0 {
                let _ended_late = session.run_batch();
            }
            session.set_time_limit(None);
        }
        session.submit(short(), 1);
        for _ in 0..nth.map_or(0, |_| 49) {
            session.submit(endless(), 0);
        }
        let results = session.run_batch()?.results.into_iter();
        let mut ended = Ok(());
        for (_, result) in results {
            ended = ended.and(result.map(|out| assert_eq!(out.out, [1, 2, 3])));
        }
        ended
    })?;
    let mut session = rounds::Session::new(runtime, ())?;
    let turning = cancels.of("rounds of one lane", session.canceller(), |nth| {
        let wanted = nth.map_or(5, |_| u32::MAX);
        let ended = session.run(rounds::Run { wanted });
        ended.map(|out| assert_eq!(out.report.total_rounds(), 5))
    })?;
    let mut session = pairs::Session::new(runtime, ())?;
    let pairing = cancels.of("long loops of many lanes", session.canceller(), |nth| {
        let (items, others) = nth.map_or((2, 1), |_| (1 << 20, u32::MAX));
        let ended = session.run(pairs::Run { items, others });
        ended.map(|out| assert_eq!(out.out, [0, 5]))
    })?;
    let ring: Vec<_> = (0..RING).map(|v| (v, (v + 1) % RING)).collect();
    let ring = Csr::from_edges(RING as usize, &ring).expect("all nodes are there");
    let mut session = tokens::Session::new(runtime, &ring)?;
    let walking = cancels.of("frontiers of any size", session.canceller(), |nth| {
        let (tokens, wanted) = nth.map_or((2, 3), |nth| (1 << (nth % 15), u32::MAX));
        let ended = session.run(tokens::Run { tokens, wanted });
        ended.map(|out| assert_eq!(out.visits[..6], [0, 1, 2, 2, 1, 0]))
    })?;
    Ok(vec![loops, pairing, turning, walking, series, batch])
}

struct Cancels {
    times: u32,
    random: Random,
}

impl Cancels {
    /// Those of a kind: `call` does one that does not end, with its number, or one that does.
    fn of(
        &mut self,
        kind: &'static str,
        canceller: Canceller,
        mut call: impl FnMut(Option<u32>) -> Result<(), Error>,
    ) -> Result<Waits, Error> {
        let mut waits = Vec::new();
        for nth in 0..self.times.max(1) {
            let after = Duration::from_micros(self.random.below(LATEST_US).into());
            let wait = thread::scope(|scope| {
                let cancelling = scope.spawn(|| {
                    thread::sleep(after);
                    let at = Instant::now();
                    canceller.cancel();
                    at
                });
                let ended = call(Some(nth));
                let now = Instant::now();
                let at = cancelling.join().expect("cancelling does not panic");
                match ended {
                    Err(Error::Cancelled) => Ok(now.saturating_duration_since(at)),
                    Err(e) => Err(e),
                    Ok(()) => unreachable!("such a call does not end by itself"),
                }
            })?;
            waits.push(wait);
            canceller.rearm();
            call(None)?;
        }
        waits.sort_unstable();
        Ok(Waits { kind, waits })
    }
}
