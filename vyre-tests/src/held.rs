//! What sessions hold, counted, and how much that may be beside what they were granted.

use crate::heap;
use std::collections::HashMap;
use vyre_cuda::fake::Transcript;

/// What a session on a CPU may hold beside what it was granted: itself, and its last decisions with what was considered.
/// Its program and its plan are the runtime's, which keeps them.
pub const BESIDE: usize = 5_120;
/// The same on a device, with what a launch has for itself, rounded up: queues, control words and the image of a pass.
pub const BESIDE_ON_DEVICE: u64 = 1 << 20;

/// The most bytes that were live at once, where the runtime has the programs and plans of `f`, and rayon its queues.
pub fn held_by<T>(mut f: impl FnMut() -> T) -> (T, usize) {
    drop(f());
    heap::peak_of(f)
}

/// The most bytes that a device was asked for at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MostAtOnce {
    /// On the device.
    pub allocated: u64,
    /// On the host, in pages that were locked.
    pub page_locked: u64,
}

impl MostAtOnce {
    /// Since the transcript began.
    pub fn of(transcript: &Transcript) -> MostAtOnce {
        let (mut there, mut now, mut most) = (HashMap::new(), [0, 0], [0, 0]);
        let text = transcript.text();
        for line in text.lines() {
            if let Some(what) = line.strip_prefix("free ") {
                let what = what.split(" + ").next().expect("it has a name");
                let (kind, bytes) = there.remove(what).expect("it was allocated");
                now[kind] -= bytes;
            } else if let Some((what, bytes)) = line.split_once(": ") {
                let kind = match what.split(' ').next() {
                    Some("allocation") => 0,
                    Some("page-locked") => 1,
                    _ => continue,
                };
                let Some(bytes) = bytes.strip_suffix(" bytes") else {
                    assert!(bytes.ends_with(" bytes: fails"), "{line}");
                    continue;
                };
                let bytes: u64 = bytes.parse().expect("it is a number");
                there.insert(what, (kind, bytes));
                now[kind] += bytes;
                most[kind] = most[kind].max(now[kind]);
            }
        }
        let [allocated, page_locked] = most;
        MostAtOnce {
            allocated,
            page_locked,
        }
    }
}
