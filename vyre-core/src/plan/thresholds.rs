//! What decisions at run time depend on, as a value and as a small text file.
//!
//! The defaults are the contract's; measurements on the device at hand replace them. A file is lines of `key = value`,
//! `#` begins a comment. Keys that are missing keep what they are: the defaults, or what a runtime has for its device.
//! A key is there once. Numbers are finite and not negative. A byte order mark in front is no part of the text.
//!
//! ```
//! use vyre_core::plan::thresholds::Thresholds;
//! let t = Thresholds::read("# one laptop\nparallel_from = 20_000\nlaunch.jit_queue = 1000\n").unwrap();
//! assert_eq!((t.parallel_from, t.launch.jit_queue, t.launch.dense_bps), (20_000, 1_000, 4_000));
//! assert_eq!(Thresholds::read(&t.write()).unwrap(), t);
//! assert_eq!(t.with("parallel_from = 7\n").unwrap(), Thresholds { parallel_from: 7, ..t });
//! ```

use super::gains::{Figure, Gains};
use super::{launch, route};
use std::fmt::Write as _;
use std::str::FromStr;
use thiserror::Error;

/// Thresholds of a session.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thresholds {
    /// Of the launch policy.
    pub launch: launch::Policy,
    /// Of the routes that sweeps over frontiers take.
    pub route: route::Policy,
    /// Items or edges from which a sweep is worth all threads of a CPU.
    pub parallel_from: u64,
    /// Results up to this size come back in one copy.
    pub pack_up_to_bytes: u64,
    /// Edges of a frontier from which it is worth it on a GPU to pull ([`crate::plan::pull`]).
    pub pull_from: u64,
    /// Nanoseconds that runs of a pass have to take on a device's interpreter before compiled code is made which the
    /// launch policy finds to pay.
    pub compile_after_ns: u64,
    /// The same where it does not find so, because the runs execute little: rounds of a few items take their time, too.
    pub compile_anyway_after_ns: u64,
    /// What candidates for a selection were measured to gain and cost.
    pub gains: Gains,
}

impl Default for Thresholds {
    fn default() -> Thresholds {
        Thresholds {
            launch: launch::Policy::default(),
            route: route::Policy::default(),
            parallel_from: 8_193,
            pack_up_to_bytes: 16_384,
            pull_from: 100_000,
            compile_after_ns: 50_000_000,
            compile_anyway_after_ns: 200_000_000,
            gains: Gains::default(),
        }
    }
}

/// Why a file is not thresholds. Lines count from 1.
#[derive(Clone, Error, PartialEq, Eq)]
#[allow(missing_docs, reason = "the message says what the fields are")]
pub enum ThresholdsError {
    /// Not `key = value`.
    #[error("line {line} is `{text}`; `key = value` is needed")]
    Line { line: usize, text: String },
    /// No such threshold.
    #[error("line {line}: there is no threshold `{key}`")]
    Key { line: usize, key: String },
    /// A threshold is given a second time.
    #[error("line {line}: `{key}` is in line {first} already")]
    Twice {
        line: usize,
        first: usize,
        key: String,
    },
    /// Not a number of the threshold's type, not finite, or negative.
    #[error("line {line}: `{value}` is not a value of `{key}`")]
    Value {
        line: usize,
        key: String,
        value: String,
    },
}

crate::debug_is_display!(ThresholdsError);

/// What a key can have.
trait Value: FromStr {
    /// Whether it is one that decisions can depend on.
    fn is_sensible(&self) -> bool {
        true
    }
}

impl Value for u32 {}
impl Value for u64 {}
impl Value for Figure {}

impl Value for f64 {
    fn is_sensible(&self) -> bool {
        self.is_finite() && *self >= 0.0
    }
}

fn sensible<V: Value>(text: &str) -> Option<V> {
    text.parse().ok().filter(V::is_sensible)
}

macro_rules! keys {
    ($($name:literal $($field:ident).+ $([$at:literal])?;)*) => {
        impl Thresholds {
            /// The defaults, and what a file says.
            pub fn read(text: &str) -> Result<Thresholds, ThresholdsError> {
                Thresholds::default().with(text)
            }

            /// These, and what a file says.
            pub fn with(self, text: &str) -> Result<Thresholds, ThresholdsError> {
                let mut thresholds = self;
                let mut seen: Vec<(&str, usize)> = Vec::new();
                let text = text.strip_prefix('\u{feff}').unwrap_or(text);
                for (i, whole) in text.lines().enumerate() {
                    let line = i + 1;
                    let code = whole.split('#').next().unwrap_or("").trim();
                    if code.is_empty() {
                        continue;
                    }
                    let (key, value) = code.split_once('=').ok_or_else(|| ThresholdsError::Line {
                        line,
                        text: code.to_owned(),
                    })?;
                    let (key, value) = (key.trim(), value.trim());
                    match key {
                        $($name => thresholds.$($field).+ $([$at])? =
                            sensible(&value.replace('_', "")).ok_or_else(|| ThresholdsError::Value {
                                line,
                                key: key.to_owned(),
                                value: value.to_owned(),
                            })?,)*
                        _ => return Err(ThresholdsError::Key { line, key: key.to_owned() }),
                    }
                    if let Some(&(_, first)) = seen.iter().find(|(known, _)| *known == key) {
                        return Err(ThresholdsError::Twice { line, first, key: key.to_owned() });
                    }
                    seen.push((key, line));
                }
                Ok(thresholds)
            }

            /// The file of these thresholds, all keys named. [`Thresholds::read`] gives exactly them back, if no field
            /// has a number that it refuses.
            pub fn write(&self) -> String {
                let mut text = String::new();
                $(writeln!(text, "{} = {}", $name, self.$($field).+ $([$at])?).expect("writing to a string does not fail");)*
                text
            }
        }
    };
}

keys! {
    "parallel_from" parallel_from;
    "pack_up_to_bytes" pack_up_to_bytes;
    "pull_from" pull_from;
    "compile_after_ns" compile_after_ns;
    "compile_anyway_after_ns" compile_anyway_after_ns;
    "launch.sparse_bps" launch.sparse_bps;
    "launch.dense_bps" launch.dense_bps;
    "launch.pressure_bps" launch.pressure_bps;
    "launch.hysteresis_bps" launch.hysteresis_bps;
    "launch.fused_edges" launch.fused_edges;
    "launch.shed_bps" launch.shed_bps;
    "launch.shed_rise_bps" launch.shed_rise_bps;
    "launch.sparse_workers" launch.sparse_workers;
    "launch.lone_worker_items" launch.lone_worker_items;
    "launch.saturated_per_lane" launch.saturated_per_lane;
    "launch.min_hits" launch.min_hits;
    "launch.hit_slack" launch.hit_slack;
    "launch.hit_bytes" launch.hit_bytes;
    "launch.jit_queue" launch.jit_queue;
    "launch.jit_opcodes" launch.jit_opcodes;
    "launch.jit_windows" launch.jit_windows;
    "launch.hot_words" launch.hot_words;
    "launch.promote_age" launch.promote_age;
    "route.sparse_memory_bps" route.sparse_memory_bps;
    "route.fused_memory_bps" route.fused_memory_bps;
    "route.fused_fusion" route.fused_fusion;
    "route.fused_launch_bps" route.fused_launch_bps;
    "route.fused_readback_bytes" route.fused_readback_bytes;
    "route.warp_sparse_density" route.density[0];
    "route.sparse_density" route.density[1];
    "route.dense_density" route.density[2];
    "route.block_dense_density" route.density[3];
    "route.warp_degree" route.warp_degree;
    "route.dense_degree" route.dense_degree;
    "route.hysteresis" route.hysteresis;
    "gain.lists" gains.lists;
    "gain.plan" gains.plan;
    "gain.pulling" gains.pulling;
    "gain.jit" gains.jit;
    "gain.fusion" gains.fusion;
}

#[cfg(test)]
mod tests {
    use super::Thresholds;

    fn refused(text: &str) -> String {
        let read = Thresholds::read(text);
        read.expect_err(text).to_string()
    }

    #[test]
    fn numbers_are_finite_and_not_negative() {
        for value in ["NaN", "inf", "-inf", "infinity", "1e999", "-1", "-0.5"] {
            for key in [
                "route.hysteresis",
                "route.sparse_density",
                "route.warp_degree",
            ] {
                let says = format!("line 2: `{value}` is not a value of `{key}`");
                assert_eq!(refused(&format!("\n{key} = {value}")), says);
            }
        }
        // Shares above one are never reached.
        let read =
            Thresholds::read("route.fused_fusion = 1.5\nroute.hysteresis = 0").expect("they are");
        assert_eq!((read.route.fused_fusion, read.route.hysteresis), (1.5, 0.0));
    }

    #[test]
    fn a_key_is_there_once() {
        let says = "line 3: `pull_from` is in line 1 already";
        assert_eq!(
            refused("pull_from = 1\nparallel_from = 2\npull_from = 1"),
            says
        );
        // What a runtime has is not the file's.
        let twice = Thresholds::read("pull_from = 1").and_then(|t| t.with("pull_from = 2"));
        assert_eq!(twice.expect("it is one").pull_from, 2);
    }

    #[test]
    fn a_byte_order_mark_is_ignored_in_front_alone() {
        let read = Thresholds::read("\u{feff}pull_from = 7\r\n").expect("it is one");
        assert_eq!(read.pull_from, 7);
        let says = "line 2: there is no threshold `\u{feff}pull_from`";
        assert_eq!(refused("\n\u{feff}pull_from = 7"), says);
    }
}
