//! What the programs share: settings, random numbers, times.

use std::time::Duration;
use vyre::{Pass, Report, Session};

pub type Res<T> = Result<T, Box<dyn std::error::Error>>;

pub struct Settings {
    /// Nodes, or bytes of text, where not the program's own size.
    pub size: Option<usize>,
    pub runs: usize,
    /// Runs before those that are timed.
    pub warm: usize,
    pub explain: bool,
}

impl Settings {
    pub fn once() -> Settings {
        Settings { size: None, runs: 1, warm: 1, explain: false }
    }
}

/// splitmix64
pub struct Rng(pub u64);

impl Rng {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: u32) -> u32 {
        (((self.next() >> 32) * u64::from(n)) >> 32) as u32
    }

    pub fn index(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
}

/// What a warm run took, as its report says: wall time, and time on the device where there is one.
pub struct Times {
    pub wall: Duration,
    pub least: Duration,
    pub device: Option<Duration>,
    pub runs: usize,
}

/// The last output, and the median of the runs' times; the first runs are not counted.
pub fn measure<P: Pass>(
    session: &mut Session<P>,
    settings: &Settings,
    mut run: impl FnMut(&mut Session<P>, &mut P::Output) -> Result<Report, vyre::Error>,
) -> Res<(P::Output, Times)> {
    let mut out = P::Output::default();
    let mut all = Vec::new();
    for k in 0..settings.warm + settings.runs {
        let report = run(session, &mut out)?;
        if k >= settings.warm {
            all.push((Duration::from_nanos(report.wall_ns), report.device_ns.map(Duration::from_nanos)));
        }
    }
    all.sort();
    let (wall, device) = all[all.len() / 2];
    if settings.explain {
        println!("{}", session.explain());
    }
    Ok((out, Times { wall, least: all[0].0, device, runs: all.len() }))
}

pub fn say(name: &str, what: &str, times: &Times, report: &Report, ok: bool) {
    let device = times.device.map_or(String::new(), |d| format!(", device {:.3} ms", d.as_secs_f64() * 1e3));
    println!(
        "{name:10} {what}; rounds {:?}; wall {:.3} ms (median of {}; least {:.3} ms){device}; {} {}; {}",
        report.rounds,
        times.wall.as_secs_f64() * 1e3,
        times.runs,
        times.least.as_secs_f64() * 1e3,
        report.backend,
        report.route,
        if ok { "check passed" } else { "CHECK FAILED" },
    );
}
