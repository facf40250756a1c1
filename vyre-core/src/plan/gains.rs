//! What a session may do beside running a pass as it is written, and what that was measured to gain and to cost on a
//! device.
//!
//! Each of these is a candidate of [`passes`](super::passes). Its figures are part of the
//! [`Thresholds`](super::thresholds::Thresholds), so that one file has all that was measured on a device. What was not
//! measured there is [`Figure::Unmeasured`]: nobody selects by it, and a session does it as if there were no selection.
//!
//! ```
//! use vyre_core::plan::gains::{BuiltIn, Figure, Gain};
//! use vyre_core::plan::thresholds::Thresholds;
//!
//! let read = Thresholds::read("gain.lists = 12_500 bps, from 4_096 bytes\n").unwrap();
//! let lists = Gain { min_readback_bytes: 4_096, ..Gain::new(12_500) };
//! assert_eq!(read.gains.of(BuiltIn::Lists), Figure::Of(lists));
//! assert_eq!(read.gains.of(BuiltIn::Jit), Figure::Unmeasured);
//! assert_eq!(read.gains.lists.to_string(), "12500 bps, from 4096 bytes");
//! ```

use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// No speedup, in basis points.
pub const UNIT_BPS: u64 = 10_000;

/// What a session may do beside running the pass as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum BuiltIn {
    /// The launch packs what lists hold, so that one copy brings it.
    Lists,
    /// A session's plan is kept for the next session of the same pass and sizes.
    Plan,
    /// There are bitmaps of the nodes and the edges in, so that rounds may pull.
    Pulling,
    /// Compiled code is asked for.
    Jit,
    /// Two passes run in one launch.
    Fusion,
}

impl BuiltIn {
    /// All of them.
    pub const ALL: [BuiltIn; 5] = [
        BuiltIn::Lists,
        BuiltIn::Plan,
        BuiltIn::Pulling,
        BuiltIn::Jit,
        BuiltIn::Fusion,
    ];

    /// Its name among candidates.
    pub const fn id(self) -> &'static str {
        match self {
            BuiltIn::Lists => "vyre.lists",
            BuiltIn::Plan => "vyre.plan",
            BuiltIn::Pulling => "vyre.pulling",
            BuiltIn::Jit => "vyre.jit",
            BuiltIn::Fusion => "vyre.fusion",
        }
    }
}

impl fmt::Display for BuiltIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

/// What was measured of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Gain {
    /// How much faster a run is with it, in basis points: [`UNIT_BPS`] is no faster, and less is slower.
    pub speedup_bps: u64,
    /// Time that it takes once.
    pub cost_ns: u64,
    /// Smallest frontier with which it was faster.
    pub min_frontier_items: u64,
    /// Smallest number of uses with which it was.
    pub min_reuse: u64,
    /// Fewest bytes with which it was that did not come back for its sake.
    pub min_readback_bytes: u64,
}

impl Gain {
    /// At no cost, and from anything on.
    pub const fn new(speedup_bps: u64) -> Gain {
        Gain {
            speedup_bps,
            cost_ns: 0,
            min_frontier_items: 0,
            min_reuse: 0,
            min_readback_bytes: 0,
        }
    }
}

/// What is known of a candidate on a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Figure {
    /// Nothing.
    #[default]
    Unmeasured,
    /// This was measured.
    Of(Gain),
}

/// `unmeasured`, or the speedup with the cost and thresholds that are not 0.
impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Figure::Of(gain) = self else {
            return f.write_str("unmeasured");
        };
        write!(f, "{} bps", gain.speedup_bps)?;
        if gain.cost_ns > 0 {
            write!(f, ", once {} ns", gain.cost_ns)?;
        }
        for (from, unit) in [
            (gain.min_frontier_items, "items"),
            (gain.min_reuse, "uses"),
            (gain.min_readback_bytes, "bytes"),
        ] {
            if from > 0 {
                write!(f, ", from {from} {unit}")?;
            }
        }
        Ok(())
    }
}

/// Why a text is no figure.
#[derive(Clone, Copy, Error, PartialEq, Eq)]
#[error(
    "`unmeasured` or `N bps` is needed, and behind it `once N ns` and `from N items`, `uses` or `bytes`"
)]
pub struct FigureError;

crate::debug_is_display!(FigureError);

impl FromStr for Figure {
    type Err = FigureError;

    fn from_str(text: &str) -> Result<Figure, FigureError> {
        if text.trim() == "unmeasured" {
            return Ok(Figure::Unmeasured);
        }
        let number = |digits: &str| digits.parse::<u64>().map_err(|_| FigureError);
        let mut parts = text.split(',').map(|part| {
            let words: Vec<&str> = part.split_whitespace().collect();
            words
        });
        let mut gain = match parts.next().as_deref() {
            Some([bps, "bps"]) => Gain::new(number(bps)?),
            _ => return Err(FigureError),
        };
        for part in parts {
            let (field, value) = match part[..] {
                ["once", ns, "ns"] => (&mut gain.cost_ns, ns),
                ["from", items, "items"] => (&mut gain.min_frontier_items, items),
                ["from", uses, "uses"] => (&mut gain.min_reuse, uses),
                ["from", bytes, "bytes"] => (&mut gain.min_readback_bytes, bytes),
                _ => return Err(FigureError),
            };
            *field = number(value)?;
        }
        Ok(Figure::Of(gain))
    }
}

/// The figures of all candidates on one device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Gains {
    /// Of [`BuiltIn::Lists`].
    pub lists: Figure,
    /// Of [`BuiltIn::Plan`].
    pub plan: Figure,
    /// Of [`BuiltIn::Pulling`].
    pub pulling: Figure,
    /// Of [`BuiltIn::Jit`].
    pub jit: Figure,
    /// Of [`BuiltIn::Fusion`].
    pub fusion: Figure,
}

impl Gains {
    /// Of one candidate.
    pub fn of(&self, candidate: BuiltIn) -> Figure {
        match candidate {
            BuiltIn::Lists => self.lists,
            BuiltIn::Plan => self.plan,
            BuiltIn::Pulling => self.pulling,
            BuiltIn::Jit => self.jit,
            BuiltIn::Fusion => self.fusion,
        }
    }

    /// These with another figure of one candidate.
    #[must_use]
    pub fn with(mut self, candidate: BuiltIn, figure: Figure) -> Gains {
        let field = match candidate {
            BuiltIn::Lists => &mut self.lists,
            BuiltIn::Plan => &mut self.plan,
            BuiltIn::Pulling => &mut self.pulling,
            BuiltIn::Jit => &mut self.jit,
            BuiltIn::Fusion => &mut self.fusion,
        };
        *field = figure;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_read_as_it_is_written() {
        let all = Gain {
            speedup_bps: 9_000,
            cost_ns: 5,
            min_frontier_items: 4,
            min_reuse: 3,
            min_readback_bytes: 2,
        };
        let text = "9000 bps, once 5 ns, from 4 items, from 3 uses, from 2 bytes";
        assert_eq!(Figure::Of(all).to_string(), text);
        for figure in [
            Figure::Unmeasured,
            Figure::Of(all),
            Figure::Of(Gain::new(20_000)),
        ] {
            assert_eq!(figure.to_string().parse(), Ok(figure));
        }
        for wrong in [
            "",
            "fast",
            "12000",
            "12000 ns",
            "bps",
            "-1 bps",
            "12000 bps,",
            "12000 bps, 5 ns",
            "12000 bps, from 5",
            "12000 bps, once 5 items",
        ] {
            assert_eq!(wrong.parse::<Figure>(), Err(FigureError), "{wrong}");
        }
    }
}
