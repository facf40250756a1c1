//! Methods of numbers that fail inside std without their caller's position, with it.
//!
//! rustc's own panics are located by `#[track_caller]`, which some methods of std lack: their panics lie in
//! `library/core`. The macros call these in their place, by other names, because an inherent method comes before a
//! trait's. Each does what std's does, and fails with std's text at its caller's position.

use super::fault::note_overflow;
use std::iter::StepBy;

/// Methods of numbers, with their caller's position where they fail.
pub trait Located: Sized {
    /// `clamp`.
    #[track_caller]
    fn __vyre_clamp(self, min: Self, max: Self) -> Self;
}

/// The same of integers.
pub trait LocatedInt: Sized {
    /// `pow`.
    #[track_caller]
    fn __vyre_pow(self, exponent: u32) -> Self;
    /// `wrapping_div`.
    #[track_caller]
    fn __vyre_wrapping_div(self, by: Self) -> Self;
    /// `wrapping_rem`.
    #[track_caller]
    fn __vyre_wrapping_rem(self, by: Self) -> Self;
}

/// The same of numbers with a sign.
pub trait LocatedSigned: Sized {
    /// `abs`.
    #[track_caller]
    fn __vyre_abs(self) -> Self;
}

/// The same of unsigned integers.
pub trait LocatedUnsigned: Sized {
    /// `next_power_of_two`.
    #[track_caller]
    fn __vyre_next_power_of_two(self) -> Self;
}

/// The same of ranges.
pub trait LocatedSteps: Iterator + Sized {
    /// `step_by`.
    #[inline]
    #[track_caller]
    fn __vyre_step_by(self, step: usize) -> StepBy<Self> {
        assert!(step != 0);
        self.step_by(step)
    }
}

impl<I: Iterator> LocatedSteps for I {}

// Whether an overflow is checked is up to the crate that is being compiled, which only std's inlined methods see. So
// std's panic is the one, and this only notes where. A build without debug assertions makes vector code of `abs`, and
// notes nothing.
macro_rules! overflows {
    ($of:expr) => {
        if cfg!(debug_assertions) && $of {
            note_overflow();
        }
    };
}

macro_rules! located {
    (ints: $($int:ident)*; signed: $($signed:ident)*; unsigned: $($unsigned:ident)*; floats: $($float:ident)*) => {
        $(
            impl Located for $int {
                #[inline]
                fn __vyre_clamp(self, min: Self, max: Self) -> Self {
                    self.clamp(min, max)
                }
            }

            impl LocatedInt for $int {
                #[inline]
                fn __vyre_pow(self, exponent: u32) -> Self {
                    overflows!(self.checked_pow(exponent).is_none());
                    self.pow(exponent)
                }

                #[inline]
                fn __vyre_wrapping_div(self, by: Self) -> Self {
                    if by == 0 {
                        panic!("attempt to divide by zero");
                    }
                    self.wrapping_div(by)
                }

                #[inline]
                fn __vyre_wrapping_rem(self, by: Self) -> Self {
                    if by == 0 {
                        panic!("attempt to calculate the remainder with a divisor of zero");
                    }
                    self.wrapping_rem(by)
                }
            }
        )*
        $(
            impl LocatedSigned for $signed {
                #[inline]
                fn __vyre_abs(self) -> Self {
                    overflows!(self.checked_abs().is_none());
                    self.abs()
                }
            }
        )*
        $(
            impl LocatedUnsigned for $unsigned {
                #[inline]
                fn __vyre_next_power_of_two(self) -> Self {
                    overflows!(self.checked_next_power_of_two().is_none());
                    self.next_power_of_two()
                }
            }
        )*
        $(
            impl Located for $float {
                #[inline]
                fn __vyre_clamp(self, min: Self, max: Self) -> Self {
                    // Not `min > max`: a NaN is neither.
                    let ordered = min <= max;
                    if !ordered {
                        panic!("min > max, or either was NaN. min = {min:?}, max = {max:?}");
                    }
                    self.clamp(min, max)
                }
            }

            impl LocatedSigned for $float {
                #[inline]
                fn __vyre_abs(self) -> Self {
                    self.abs()
                }
            }
        )*
    };
}

located! {
    ints: u8 u32 i32 u64 i64 usize;
    signed: i32 i64;
    unsigned: u8 u32 u64 usize;
    floats: f32 f64
}
