//! What the three programs share: options, a generator of random numbers, and times.
use std::time::{Duration, Instant};
use vyre::{RoutePolicy, Runtime};

pub struct Options {
    pub backend: String,
    pub size: usize,
    pub runs: usize,
    pub seed: u64,
    pub plan: bool,
    pub explain: bool,
}

impl Options {
    pub fn read(size: usize) -> Options {
        let mut o = Options { backend: "native".into(), size, runs: 5, seed: 1, plan: false, explain: false };
        let mut args = std::env::args().skip(1);
        while let Some(arg) = args.next() {
            let mut value = || args.next().expect("a value after the option");
            match arg.as_str() {
                "--backend" => o.backend = value(),
                "--size" => o.size = value().parse().expect("a number"),
                "--runs" => o.runs = value().parse().expect("a number"),
                "--seed" => o.seed = value().parse().expect("a number"),
                "--plan" => o.plan = true,
                "--explain" => o.explain = true,
                _ => panic!("unknown option {arg}"),
            }
        }
        o
    }

    pub fn runtime(&self) -> Result<Runtime, vyre::Error> {
        Ok(match self.backend.as_str() {
            "auto" => Runtime::auto()?,
            "native" => Runtime::native(),
            "vir0" => Runtime::vir0(),
            "cuda" => Runtime::cuda()?,
            "interpreted" => Runtime::cuda()?.with_route(RoutePolicy::Interpreter),
            "compiled" => Runtime::cuda()?.with_route(RoutePolicy::Compiled),
            other => panic!("unknown backend {other}"),
        })
    }
}

/// splitmix64
pub struct Rng(pub u64);

impl Rng {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
}

/// The median and the least of some runs, the first one (which warms up) left out.
pub fn median(runs: usize, mut run: impl FnMut()) -> (Duration, Duration) {
    run();
    let mut all: Vec<Duration> = (0..runs.max(1))
        .map(|_| {
            let begun = Instant::now();
            run();
            begun.elapsed()
        })
        .collect();
    all.sort();
    (all[all.len() / 2], all[0])
}
