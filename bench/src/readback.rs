//! What it takes to read back what was found: eight lists of u32 with room for a million each, of which a run fills
//! little.

use std::time::{Duration, Instant};
use vyre::{Error, Readback, Runtime};
use vyre_examples::passes::lists;

/// At most so much longer than on the device may a run take whose results were laid out before.
pub const BAR: Duration = Duration::from_micros(30);

/// No more bytes may be copied.
pub const MOST_BYTES: u64 = 64 << 10;

const ROOM: u32 = 1_000_000;

/// Items in each list.
const FOUND: u32 = 1_000;

/// What runs took that find the same.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    /// A run, the shortest, and half of them.
    pub least: Duration,
    /// Of half of the runs, at most.
    pub median: Duration,
    /// By how much half of the runs took longer than their launches on the device; `None` where there is none.
    pub over_device: Option<Duration>,
    /// Of each run.
    pub readback: Readback,
}

impl Measured {
    /// Why the figures are not what they are to be, on a device.
    pub fn fault(&self) -> Option<String> {
        let over = self.over_device?;
        let copied = self.readback.copied_bytes;
        if copied > MOST_BYTES {
            return Some(format!(
                "{copied} bytes were copied; at most {MOST_BYTES} are allowed"
            ));
        }
        let (over, bar) = (over.as_nanos(), BAR.as_nanos());
        (over > bar).then(|| {
            format!("runs took {over} ns longer than on the device; at most {bar} are allowed")
        })
    }
}

/// Measures `times` runs, at least one, by `run_into`, and checks what each gives.
///
/// # Errors
/// As those of sessions.
///
/// # Panics
/// A result is wrong, or runs that find the same copy more than that.
pub fn measure(runtime: &Runtime, times: u32) -> Result<Measured, Error> {
    let mut session = lists::Session::new(runtime, ())?;
    let run = lists::Run {
        room: ROOM,
        found: FOUND,
    };
    let mut out = lists::Output::default();
    // The first run does not know what it finds, and the second one may be taken by code that was not loaded before.
    for _ in 0..2 {
        session.run_into(run, &mut out)?;
    }
    let (mut walls, mut overs) = (Vec::new(), Vec::new());
    for _ in 0..times.max(1) {
        let started = Instant::now();
        session.run_into(run, &mut out)?;
        let wall = started.elapsed();
        walls.push(wall);
        let device = out.report.device_ns.map(Duration::from_nanos);
        overs.extend(device.map(|device| wall.saturating_sub(device)));
        check(&mut out);
    }
    walls.sort_unstable();
    overs.sort_unstable();
    Ok(Measured {
        least: walls[0],
        median: walls[walls.len() / 2],
        over_device: overs.get(overs.len() / 2).copied(),
        readback: out.report.readback,
    })
}

fn check(out: &mut lists::Output) {
    let lists = [
        &mut out.a, &mut out.b, &mut out.c, &mut out.d, &mut out.e, &mut out.f, &mut out.g,
        &mut out.h,
    ];
    for (first, list) in (0..).zip(lists) {
        list.sort_unstable();
        assert!(
            list.iter().copied().eq(first..first + FOUND),
            "list {first}"
        );
    }
    let read = &out.report.readback;
    let found = 8 * 4 * u64::from(FOUND);
    assert_eq!(read.full_bytes, 8 * 4 * u64::from(ROOM));
    assert_eq!((read.packed, read.packed_bytes, read.direct), (8, found, 0));
}
