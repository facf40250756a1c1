//! Speedup evidence: measured times of a resident megakernel against a host-orchestrated baseline, as a CSV file.
//!
//! One header line, then one line a sample, with the 14 columns of [`COLUMNS`] first and in that order. The four of
//! [`BINDING`] come next: they say what was measured ([`Fingerprint`]) and how. A file without them is read, but its
//! samples are bound to no pass, and prove nothing about one ([`bind`]). What follows is ignored. Macros read evidence
//! at compile time, and every user builds the macros, so they depend on nothing beyond the syntax libraries. Hence this
//! parser of its own: it reads exactly what [`write()`] writes (numbers, and names without commas, quotes or line
//! breaks; no quoting, no spaces), and refuses everything else with the line.
//!
//! ```
//! use vyre_core::plan::evidence::{Sample, check, read, write};
//! use vyre_core::plan::evidence::{Binding, bind};
//! use vyre_core::vir0::fingerprint::Fingerprint;
//! use vyre_core::vir0::manifest::{Measured, Stale};
//! let sample = Sample {
//!     backend_id: "cuda".into(),
//!     host_orchestrated_ns: 1e6,
//!     resident_megakernel_ns: 1e4,
//!     binding: Some(Binding {
//!         fingerprint: Fingerprint { program: 7, constants: 8 },
//!         measured: Measured::Single,
//!         rival: "naive".into(),
//!     }),
//!     ..Sample::EXAMPLE
//! };
//! let file = write(&[sample.clone(), sample]).unwrap();
//! let samples = read(&file).unwrap();
//! let verdict = check(&samples, 1.8).unwrap();
//! assert_eq!((verdict.samples, verdict.min_ratio), (2, 100.0));
//! assert_eq!(bind(&samples, 7).unwrap().rival, "naive");
//! assert_eq!(bind(&samples, 6), Err(Stale::Program));
//! ```

use crate::vir0::fingerprint::Fingerprint;
use crate::vir0::manifest::{Measured, Stale};
use std::fmt::{self, Write};
use std::str::FromStr;
use thiserror::Error;

/// The columns, in order.
pub const COLUMNS: [&str; 14] = [
    "backend_id",
    "device_ordinal",
    "device_memory_bytes",
    "compute_capability_major",
    "compute_capability_minor",
    "graph_nodes",
    "graph_edges",
    "repetitions",
    "host_orchestrated_ns",
    "resident_megakernel_ns",
    "setup_ns",
    "timed_graph_uploads",
    "timed_host_allocations",
    "timed_host_syncs",
];

/// The columns after [`COLUMNS`] that bind a sample to what was measured. They are all filled, or all empty.
pub const BINDING: [&str; 4] = ["program_hash", "constants_hash", "measured", "rival"];

/// What was measured, and how.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Binding {
    /// The pass.
    pub fingerprint: Fingerprint,
    /// How its runs were launched.
    pub measured: Measured,
    /// Whose time `host_orchestrated_ns` is.
    pub rival: String,
}

impl fmt::Display for Binding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{},{},{}",
            self.fingerprint,
            self.measured.name(),
            self.rival
        )
    }
}

/// One measurement: a line of the file.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// What ran it: `cuda`.
    pub backend_id: String,
    /// Which device.
    pub device_ordinal: u32,
    /// Its memory.
    pub device_memory_bytes: u64,
    /// Major compute capability.
    pub compute_capability_major: u32,
    /// Minor compute capability.
    pub compute_capability_minor: u32,
    /// Nodes of the graph.
    pub graph_nodes: u64,
    /// Edges of the graph.
    pub graph_edges: u64,
    /// Runs in the timed region.
    pub repetitions: u64,
    /// Time of a run of the baseline.
    pub host_orchestrated_ns: f64,
    /// Time of a run of the resident megakernel.
    pub resident_megakernel_ns: f64,
    /// What was done once, before the timed region.
    pub setup_ns: f64,
    /// Graph uploads in the timed region.
    pub timed_graph_uploads: u64,
    /// Allocations in the timed region.
    pub timed_host_allocations: u64,
    /// Host synchronisations in the timed region beyond the one wait that ends it, as the runtime counted them
    /// ([`Counters::fences`](crate::plan::session::Counters::fences) less 1).
    pub timed_host_syncs: u64,
    /// What was measured; `None` in a file that does not say.
    pub binding: Option<Binding>,
}

impl Sample {
    /// The smallest device and graph that count, with equal times; only the backend's name is missing.
    pub const EXAMPLE: Sample = Sample {
        backend_id: String::new(),
        device_ordinal: 0,
        device_memory_bytes: MIN_MEMORY_BYTES,
        compute_capability_major: MIN_CAPABILITY_MAJOR,
        compute_capability_minor: 0,
        graph_nodes: MIN_NODES,
        graph_edges: MIN_EDGES,
        repetitions: MIN_REPETITIONS,
        host_orchestrated_ns: 1.0,
        resident_megakernel_ns: 1.0,
        setup_ns: 1.0,
        timed_graph_uploads: 0,
        timed_host_allocations: 0,
        timed_host_syncs: 0,
        binding: None,
    };

    /// How many times faster the megakernel is.
    pub fn ratio(&self) -> f64 {
        self.host_orchestrated_ns / self.resident_megakernel_ns
    }
}

/// The backend whose measurements are evidence. Others have none yet: the least devices and graphs that count were chosen
/// for this one.
pub const BACKEND: &str = "cuda";
/// Memory that a device needs for its samples to count: 16 GiB.
pub const MIN_MEMORY_BYTES: u64 = 16 << 30;
/// Compute capability (major) that a device needs for its samples to count.
pub const MIN_CAPABILITY_MAJOR: u32 = 8;
/// Nodes from which a graph counts.
pub const MIN_NODES: u64 = 10_000;
/// Edges from which a graph counts.
pub const MIN_EDGES: u64 = 80_000;
/// Repetitions from which a time counts.
pub const MIN_REPETITIONS: u64 = 64;
/// Samples that a verdict needs.
pub const MIN_SAMPLES: usize = 2;

/// Why a file is not evidence, or proves too little. Lines count from 1, samples from 0.
#[derive(Clone, Error, PartialEq)]
#[allow(missing_docs, reason = "the message says what the fields are")]
pub enum EvidenceError {
    /// No header.
    #[error("the file is empty")]
    Empty,
    /// A column of the header is missing or out of place.
    #[error("column {column} of the header is `{actual}`; it must be `{expected}`")]
    Header {
        column: usize,
        actual: String,
        expected: &'static str,
    },
    /// A line with more or fewer fields than the header.
    #[error("line {line} has {actual} fields; the header has {expected}")]
    Fields {
        line: usize,
        actual: usize,
        expected: usize,
    },
    /// A field that is not what its column holds.
    #[error("line {line}: `{value}` is not a value of {field}")]
    Value {
        line: usize,
        field: &'static str,
        value: String,
    },
    /// A name that cannot be written without quotes.
    #[error("sample {sample}: {field} `{name}` is empty or holds a comma, a quote or a line break")]
    Name {
        sample: usize,
        field: &'static str,
        name: String,
    },
    /// Measured elsewhere.
    #[error(
        "sample {sample} was measured on `{backend_id}`, for which there is no evidence yet; only for `{BACKEND}`"
    )]
    Backend { sample: usize, backend_id: String },
    /// A device with too little memory.
    #[error("sample {sample}: the device has {actual} bytes; {MIN_MEMORY_BYTES} are needed")]
    Memory { sample: usize, actual: u64 },
    /// An old device.
    #[error(
        "sample {sample}: compute capability is {major}.{minor}; {MIN_CAPABILITY_MAJOR}.0 is needed"
    )]
    Capability {
        sample: usize,
        major: u32,
        minor: u32,
    },
    /// A count below the least that counts.
    #[error("sample {sample}: {field} is {actual}; {needed} are needed")]
    TooSmall {
        sample: usize,
        field: &'static str,
        actual: u64,
        needed: u64,
    },
    /// Work in the timed region that residency is to avoid.
    #[error("sample {sample}: {field} is {actual}; it must be 0")]
    Timed {
        sample: usize,
        field: &'static str,
        actual: u64,
    },
    /// A time that is no time.
    #[error("sample {sample}: {field} is {value}; it must be finite and positive")]
    Time {
        sample: usize,
        field: &'static str,
        value: f64,
    },
    /// Too slow.
    #[error("sample {sample} is {ratio} times faster; {threshold} are claimed")]
    Ratio {
        sample: usize,
        ratio: f64,
        threshold: f64,
    },
    /// A claim that is no number.
    #[error("the threshold is {value}; it must be finite and positive")]
    Threshold { value: f64 },
    /// One lucky measurement is none.
    #[error("there are {actual} samples; {MIN_SAMPLES} are needed")]
    TooFew { actual: usize },
    /// Samples that cannot be compared: the smallest of them is no bound for the others.
    #[error("sample {sample}: {field} is `{actual}`; of sample 0 it is `{first}`")]
    Mixed {
        sample: usize,
        field: &'static str,
        actual: String,
        first: String,
    },
}

crate::debug_is_display!(EvidenceError);

/// What a file proves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Verdict {
    /// Samples that count.
    pub samples: usize,
    /// The smallest speedup: what may be claimed.
    pub min_ratio: f64,
    /// The largest.
    pub max_ratio: f64,
}

impl Verdict {
    /// The smallest speedup in basis points, rounded down.
    pub fn min_speedup_bps(&self) -> u64 {
        (self.min_ratio * 10_000.0) as u64
    }
}

/// Parses a file.
pub fn read(text: &str) -> Result<Vec<Sample>, EvidenceError> {
    let mut lines = text.lines();
    let header = lines.next().filter(|h| !h.is_empty());
    let header: Vec<&str> = header.ok_or(EvidenceError::Empty)?.split(',').collect();
    let bound = header.get(COLUMNS.len()) == Some(&BINDING[0]);
    let binding = BINDING.into_iter().filter(|_| bound);
    for (i, expected) in COLUMNS.into_iter().chain(binding).enumerate() {
        let actual = header.get(i).copied().unwrap_or("");
        if actual != expected {
            return Err(EvidenceError::Header {
                column: i + 1,
                actual: actual.to_owned(),
                expected,
            });
        }
    }
    lines
        .enumerate()
        .map(|(i, text)| {
            let fields: Vec<&str> = text.split(',').collect();
            let line = i + 2;
            if fields.len() != header.len() {
                return Err(EvidenceError::Fields {
                    line,
                    actual: fields.len(),
                    expected: header.len(),
                });
            }
            Line { line, fields }.sample(bound)
        })
        .collect()
}

struct Line<'a> {
    line: usize,
    fields: Vec<&'a str>,
}

impl Line<'_> {
    fn sample(&self, bound: bool) -> Result<Sample, EvidenceError> {
        let backend_id = self.fields[0];
        if !plain(backend_id) {
            return Err(self.bad(0));
        }
        Ok(Sample {
            backend_id: backend_id.to_owned(),
            device_ordinal: self.number(1)?,
            device_memory_bytes: self.number(2)?,
            compute_capability_major: self.number(3)?,
            compute_capability_minor: self.number(4)?,
            graph_nodes: self.number(5)?,
            graph_edges: self.number(6)?,
            repetitions: self.number(7)?,
            host_orchestrated_ns: self.number(8)?,
            resident_megakernel_ns: self.number(9)?,
            setup_ns: self.number(10)?,
            timed_graph_uploads: self.number(11)?,
            timed_host_allocations: self.number(12)?,
            timed_host_syncs: self.number(13)?,
            binding: if bound { self.binding()? } else { None },
        })
    }

    fn binding(&self) -> Result<Option<Binding>, EvidenceError> {
        let first = COLUMNS.len();
        if self.fields[first..][..BINDING.len()] == [""; 4] {
            return Ok(None);
        }
        let measured = [Measured::Single, Measured::Shared];
        let measured = measured
            .into_iter()
            .find(|m| m.name() == self.fields[first + 2]);
        let rival = self.fields[first + 3];
        if !plain(rival) {
            return Err(self.bad(first + 3));
        }
        Ok(Some(Binding {
            fingerprint: Fingerprint {
                program: self.hash(first)?,
                constants: self.hash(first + 1)?,
            },
            measured: measured.ok_or_else(|| self.bad(first + 2))?,
            rival: rival.to_owned(),
        }))
    }

    fn hash(&self, column: usize) -> Result<u64, EvidenceError> {
        let text = self.fields[column];
        let digits = text.strip_prefix("0x").filter(|d| d.len() == 16);
        let value = digits.and_then(|d| u64::from_str_radix(d, 16).ok());
        let value = value.filter(|v| format!("{v:#018x}") == text);
        value.ok_or_else(|| self.bad(column))
    }

    fn number<T: FromStr>(&self, column: usize) -> Result<T, EvidenceError> {
        let text = self.fields[column];
        let value = text.parse().ok().filter(|_| !text.starts_with('+'));
        value.ok_or_else(|| self.bad(column))
    }

    fn bad(&self, column: usize) -> EvidenceError {
        EvidenceError::Value {
            line: self.line,
            field: match column.checked_sub(COLUMNS.len()) {
                None => COLUMNS[column],
                Some(more) => BINDING[more],
            },
            value: self.fields[column].to_owned(),
        }
    }
}

/// A name that needs no quoting.
fn plain(name: &str) -> bool {
    !name.is_empty() && !name.contains([',', '"', '\n', '\r'])
}

/// The file of these samples. [`read`] gives exactly them back.
pub fn write(samples: &[Sample]) -> Result<String, EvidenceError> {
    let mut text = [&COLUMNS[..], &BINDING[..]].concat().join(",");
    text.push('\n');
    for (sample, s) in samples.iter().enumerate() {
        let rival = s.binding.as_ref().map(|b| ("rival", &b.rival));
        for (field, name) in [("backend_id", &s.backend_id)].into_iter().chain(rival) {
            if !plain(name) {
                let name = name.clone();
                return Err(EvidenceError::Name {
                    sample,
                    field,
                    name,
                });
            }
        }
        // Rust prints the shortest digits that read back as the same float.
        writeln!(
            text,
            "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}",
            s.backend_id,
            s.device_ordinal,
            s.device_memory_bytes,
            s.compute_capability_major,
            s.compute_capability_minor,
            s.graph_nodes,
            s.graph_edges,
            s.repetitions,
            s.host_orchestrated_ns,
            s.resident_megakernel_ns,
            s.setup_ns,
            s.timed_graph_uploads,
            s.timed_host_allocations,
            s.timed_host_syncs,
            s.binding
                .as_ref()
                .map_or_else(|| ",,,".into(), Binding::to_string),
        )
        .expect("writing to a string does not fail");
    }
    Ok(text)
}

/// Checks each sample, in order, then their number, then that all were measured in the same way and against the same
/// rival. Every ratio must reach the threshold, the claimed speedup.
pub fn check(samples: &[Sample], threshold: f64) -> Result<Verdict, EvidenceError> {
    if !(threshold.is_finite() && threshold > 0.0) {
        return Err(EvidenceError::Threshold { value: threshold });
    }
    let mut verdict = Verdict {
        samples: samples.len(),
        min_ratio: f64::INFINITY,
        max_ratio: 0.0,
    };
    for (sample, s) in samples.iter().enumerate() {
        check_sample(sample, s)?;
        let ratio = s.ratio();
        if !ratio.is_finite() || ratio < threshold {
            return Err(EvidenceError::Ratio {
                sample,
                ratio,
                threshold,
            });
        }
        verdict.min_ratio = verdict.min_ratio.min(ratio);
        verdict.max_ratio = verdict.max_ratio.max(ratio);
    }
    if samples.len() < MIN_SAMPLES {
        return Err(EvidenceError::TooFew {
            actual: samples.len(),
        });
    }
    let way = |s: &Sample| match &s.binding {
        None => [String::new(), String::new()],
        Some(b) => [b.measured.name().to_owned(), b.rival.clone()],
    };
    let first = way(&samples[0]);
    for (sample, s) in samples.iter().enumerate() {
        for ((field, actual), first) in ["measured", "rival"].into_iter().zip(way(s)).zip(&first) {
            if actual != *first {
                return Err(EvidenceError::Mixed {
                    sample,
                    field,
                    actual,
                    first: first.clone(),
                });
            }
        }
    }
    Ok(verdict)
}

/// What all samples were measured of, if it is the program with this hash. The values of constants are compared where
/// they are known: when the program is assembled ([`Parts::program`](crate::vir0::module::Parts::program)).
pub fn bind(samples: &[Sample], program_hash: u64) -> Result<&Binding, Stale> {
    let mut bound: Option<&Binding> = None;
    for sample in samples {
        let binding = sample.binding.as_ref().ok_or(Stale::Unbound)?;
        let Fingerprint { program, constants } = binding.fingerprint;
        if program != program_hash {
            return Err(Stale::Program);
        }
        // At most one of two values is today's.
        if bound.is_some_and(|b| b.fingerprint.constants != constants) {
            return Err(Stale::Constants);
        }
        bound = Some(binding);
    }
    bound.ok_or(Stale::Unbound)
}

fn check_sample(sample: usize, s: &Sample) -> Result<(), EvidenceError> {
    if s.backend_id != BACKEND {
        return Err(EvidenceError::Backend {
            sample,
            backend_id: s.backend_id.clone(),
        });
    }
    if s.device_memory_bytes < MIN_MEMORY_BYTES {
        return Err(EvidenceError::Memory {
            sample,
            actual: s.device_memory_bytes,
        });
    }
    if s.compute_capability_major < MIN_CAPABILITY_MAJOR {
        return Err(EvidenceError::Capability {
            sample,
            major: s.compute_capability_major,
            minor: s.compute_capability_minor,
        });
    }
    // What makes no sense at all comes before what is merely small.
    for (field, actual, needed) in [
        ("graph_nodes", s.graph_nodes, 1),
        ("graph_edges", s.graph_edges, 1),
        ("repetitions", s.repetitions, 2),
        ("graph_nodes", s.graph_nodes, MIN_NODES),
        ("graph_edges", s.graph_edges, MIN_EDGES),
        ("repetitions", s.repetitions, MIN_REPETITIONS),
    ] {
        if actual < needed {
            return Err(EvidenceError::TooSmall {
                sample,
                field,
                actual,
                needed,
            });
        }
    }
    for (field, actual) in [
        ("timed_graph_uploads", s.timed_graph_uploads),
        ("timed_host_allocations", s.timed_host_allocations),
        ("timed_host_syncs", s.timed_host_syncs),
    ] {
        if actual != 0 {
            return Err(EvidenceError::Timed {
                sample,
                field,
                actual,
            });
        }
    }
    for (field, value) in [
        ("host_orchestrated_ns", s.host_orchestrated_ns),
        ("resident_megakernel_ns", s.resident_megakernel_ns),
        ("setup_ns", s.setup_ns),
    ] {
        if !(value.is_finite() && value > 0.0) {
            return Err(EvidenceError::Time {
                sample,
                field,
                value,
            });
        }
    }
    Ok(())
}
