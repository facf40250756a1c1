//! Exact sums of floats: what [`ReduceOp::ExactSum`] keeps.
//!
//! Such a sum is a number in fixed point that has a place for every bit of every finite float (Kulisch: Computer
//! Arithmetic and Validity). Floats are added to it without rounding, so that their order does not matter, and it is
//! rounded once, when it is read. So the value has the same bits on every backend, with any number of threads.
//!
//! It is an array of words, low ones first. A word stands for a digit of 24 bits, and holds a signed number of 64 bits:
//! digits are added without carries, up to 2^39 times (as in the small superaccumulator of Neal: Fast Exact Summation
//! Using Small and Large Superaccumulators). A float has up to four digits. The last word has a bit each for NaN and the
//! two infinities.
//!
//! ```
//! use vyre_core::vir0::{exact::Exact, scalar::Scalar};
//!
//! let sum = |terms: [f32; 4]| {
//!     let mut sum = Exact::new(Scalar::F32);
//!     terms.map(|x| sum.add(x.to_bits().into()));
//!     f32::from_bits(sum.value() as u32)
//! };
//! assert_eq!(sum([1e30, 1.0, -1e30, 0.5]), 1.5);
//! assert_eq!(sum([0.5, -1e30, 1e30, 1.0]), 1.5);
//! ```

use crate::vir0::module::{ReduceOp, Reduction};
use crate::vir0::scalar::Scalar;

/// Bits of a digit.
const DIGIT: u32 = 24;
const MASK: u64 = (1 << DIGIT) - 1;

/// Words of a sum of f32: 277 bits are 12 digits.
pub const F32_WORDS: usize = 13;
/// Words of a sum of f64: 2,098 bits are 88 digits, and one more that is always 0 lets all floats have four.
pub const F64_WORDS: usize = 90;

/// Of the last word.
const NAN: i64 = 1;
const PLUS_INFINITY: i64 = 2;
const MINUS_INFINITY: i64 = 4;

/// How the bits of a float type lie.
#[derive(Clone, Copy)]
struct Format {
    /// Bits of a number's whole part in the fraction, the hidden one included.
    precision: u32,
    exponent_bits: u32,
}

const F32: Format = Format {
    precision: 24,
    exponent_bits: 8,
};
const F64: Format = Format {
    precision: 53,
    exponent_bits: 11,
};

impl Format {
    const fn infinity(self) -> u64 {
        ((1 << self.exponent_bits) - 1) << (self.precision - 1)
    }
}

/// Words of an exact sum of such floats; `None` of what is no float.
pub const fn words(scalar: Scalar) -> Option<usize> {
    match scalar {
        Scalar::F32 => Some(F32_WORDS),
        Scalar::F64 => Some(F64_WORDS),
        Scalar::Bool | Scalar::U8 | Scalar::U32 | Scalar::I32 | Scalar::U64 | Scalar::I64 => None,
    }
}

/// What a float adds: the index of its lowest digit, its digits, and what it adds to the last word.
struct Term {
    first: usize,
    digits: [i64; 4],
    special: i64,
}

#[inline(always)]
fn term(format: Format, bits: u64) -> Term {
    let fraction_bits = format.precision - 1;
    let negative = bits >> (fraction_bits + format.exponent_bits) & 1 == 1;
    let exponent = bits >> fraction_bits & ((1 << format.exponent_bits) - 1);
    let fraction = bits & ((1 << fraction_bits) - 1);
    if exponent == (1 << format.exponent_bits) - 1 {
        let special = match (fraction, negative) {
            (0, false) => PLUS_INFINITY,
            (0, true) => MINUS_INFINITY,
            _ => NAN,
        };
        return Term {
            first: 0,
            digits: [0; 4],
            special,
        };
    }
    let hidden = u64::from(exponent > 0) << fraction_bits;
    let number = fraction | hidden;
    let at = exponent.saturating_sub(1) as u32;
    let shift = at % DIGIT;
    let digit = |k: u32| match k {
        0 => number << shift & MASK,
        _ => number >> (k * DIGIT - shift).min(63) & MASK,
    };
    let signed = |k: u32| match negative {
        true => -(digit(k) as i64),
        false => digit(k) as i64,
    };
    Term {
        first: (at / DIGIT) as usize,
        digits: [signed(0), signed(1), signed(2), signed(3)],
        special: 0,
    }
}

/// What an f32 adds to which words: two digits, or something to the last word.
#[inline]
pub(crate) fn add_f32(x: f32, mut to: impl FnMut(usize, i64), special: impl FnOnce(i64)) {
    let term = term(F32, x.to_bits().into());
    if term.special != 0 {
        return special(term.special);
    }
    to(term.first, term.digits[0]);
    to(term.first + 1, term.digits[1]);
}

/// What an f64 adds to which words: four digits, or something to the last word.
#[inline]
pub(crate) fn add_f64(x: f64, mut to: impl FnMut(usize, i64), special: impl FnOnce(i64)) {
    let term = term(F64, x.to_bits());
    if term.special != 0 {
        return special(term.special);
    }
    for (k, digit) in term.digits.into_iter().enumerate() {
        to(term.first + k, digit);
    }
}

/// The sum, rounded to nearest, halves to even: raw bits. A sum of nothing, and one that is 0, is +0.
pub fn value(scalar: Scalar, words: &[i64]) -> u64 {
    let format = match scalar {
        Scalar::F64 => F64,
        _ => F32,
    };
    let Some((&special, digits)) = words.split_last() else {
        return 0;
    };
    let sign_bit = 1 << (format.precision - 1 + format.exponent_bits);
    let nan = format.infinity() | 1 << (format.precision - 2);
    match special {
        0 => {}
        PLUS_INFINITY => return format.infinity(),
        MINUS_INFINITY => return sign_bit | format.infinity(),
        _ => return nan,
    }
    let carried = digits
        .iter()
        .fold(0i64, |carry, word| (carry + word) >> DIGIT);
    let (sign, sign_bit) = match carried < 0 {
        true => (-1, sign_bit),
        false => (1, 0),
    };
    let Some(top) = Top::of(digits, sign) else {
        return 0;
    };
    let rounded = top.round(format.precision);
    sign_bit | rounded.min(format.infinity())
}

/// The highest digits of a sum's size.
struct Top {
    /// The index of the highest that is not 0.
    index: u32,
    /// It, and the next ones below it.
    digits: [u64; 4],
    /// Whether there is something below these.
    rest: bool,
}

impl Top {
    /// `None` where all are 0.
    fn of(digits: &[i64], sign: i64) -> Option<Top> {
        let (mut carry, mut window, mut rest) = (0i64, [0; 4], false);
        let mut top = None;
        // A digit more than 64 bits can carry to.
        let words = digits.iter().chain(&[0; 2]);
        for (index, word) in (0..).zip(words) {
            carry += sign * word;
            let digit = carry as u64 & MASK;
            carry >>= DIGIT;
            rest |= window[3] != 0;
            window = [digit, window[0], window[1], window[2]];
            if digit != 0 {
                top = Some(Top {
                    index,
                    digits: window,
                    rest,
                });
            }
        }
        top
    }

    /// As a float of this precision, without its sign. Too large a number is above infinity's bits.
    fn round(&self, precision: u32) -> u64 {
        let [a, b, c, d] = self.digits;
        let highest = a << 40 | b << 16 | c >> 8;
        let lower = (c & 0xff) << 24 | d;
        // The highest bit becomes bit 63.
        let zeros = highest.leading_zeros();
        let number = highest << zeros | lower >> (32 - zeros);
        let rest = self.rest || lower << zeros & 0xffff_ffff != 0;
        let place = DIGIT * self.index + 23 - zeros;
        if place < precision {
            return number >> (63 - place);
        }
        let cut = 64 - precision;
        let (kept, half) = (number >> cut, 1 << (cut - 1));
        let lost = number & ((1 << cut) - 1);
        let up = lost > half || lost == half && (rest || kept & 1 == 1);
        let exponent = u64::from(place - (precision - 1));
        (exponent << (precision - 1)) + kept + u64::from(up)
    }
}

/// An exact sum.
#[derive(Clone, Debug)]
pub struct Exact {
    scalar: Scalar,
    words: Vec<i64>,
}

impl Exact {
    /// Of no floats.
    ///
    /// # Panics
    ///
    /// Where the type is no float; [`verify`](crate::vir0::verify) refuses such reductions.
    pub fn new(scalar: Scalar) -> Exact {
        let words = words(scalar).expect("verified exact sums are of floats");
        Exact {
            scalar,
            words: vec![0; words],
        }
    }

    /// Its words.
    pub fn words(&self) -> &[i64] {
        &self.words
    }

    /// Back to no floats.
    pub fn clear(&mut self) {
        self.words.fill(0);
    }

    /// Adds a float, given by its raw bits.
    pub fn add(&mut self, bits: u64) {
        let (special, words) = self.words.split_last_mut().expect("there is a last word");
        let to = |at: usize, digit| words[at] += digit;
        match self.scalar {
            Scalar::F64 => add_f64(f64::from_bits(bits), to, |s| *special |= s),
            _ => add_f32(f32::from_bits(bits as u32), to, |s| *special |= s),
        }
    }

    /// Adds what another sum of such floats holds. Its words are brought to digits first, so that any number of sums
    /// can follow each other.
    pub fn merge(&mut self, words: impl Iterator<Item = i64>) {
        let last = self.words.len() - 1;
        let mut carry = 0;
        for (at, (to, word)) in self.words.iter_mut().zip(words).enumerate() {
            if at == last {
                *to |= word;
                continue;
            }
            let digit = carry + word;
            // The highest digit keeps what is above it.
            let kept = if at + 1 == last {
                digit
            } else {
                digit & MASK as i64
            };
            carry = digit >> DIGIT;
            *to += kept;
        }
    }

    /// The sum, rounded: raw bits.
    pub fn value(&self) -> u64 {
        value(self.scalar, &self.words)
    }
}

/// A reduction as it stands.
#[derive(Clone, Debug)]
pub enum Total {
    /// Raw bits.
    Value(ReduceOp, Scalar, u64),
    /// An exact sum.
    Exact(Exact),
}

impl Total {
    /// At its identity.
    pub fn new(reduction: &Reduction) -> Total {
        let (op, scalar) = (reduction.op, reduction.scalar);
        match op {
            ReduceOp::ExactSum => Total::Exact(Exact::new(scalar)),
            ReduceOp::Sum | ReduceOp::Min | ReduceOp::Max | ReduceOp::Or | ReduceOp::And => {
                Total::Value(op, scalar, op.identity(scalar))
            }
        }
    }

    /// Back to its identity.
    pub fn reset(&mut self) {
        match self {
            Total::Value(op, scalar, bits) => *bits = op.identity(*scalar),
            Total::Exact(sum) => sum.clear(),
        }
    }

    /// Takes a value in: raw bits.
    pub fn take_in(&mut self, value: u64) {
        match self {
            Total::Value(op, scalar, bits) => *bits = op.combine(*scalar, *bits, value),
            Total::Exact(sum) => sum.add(value),
        }
    }

    /// Its value: raw bits.
    pub fn value(&self) -> u64 {
        match self {
            Total::Value(_, _, bits) => *bits,
            Total::Exact(sum) => sum.value(),
        }
    }
}

#[cfg(test)]
#[path = "../../../vyre-tests/src/random.rs"]
#[allow(
    dead_code,
    unreachable_pub,
    reason = "shared with tests of crates above, on which this one cannot depend"
)]
mod random;

#[cfg(test)]
mod tests {
    use super::random::cases;
    use super::*;

    fn sum32(terms: &[f32]) -> f32 {
        let mut sum = Exact::new(Scalar::F32);
        terms.iter().for_each(|x| sum.add(x.to_bits().into()));
        f32::from_bits(sum.value() as u32)
    }

    fn sum64(terms: &[f64]) -> f64 {
        let mut sum = Exact::new(Scalar::F64);
        terms.iter().for_each(|x| sum.add(x.to_bits()));
        f64::from_bits(sum.value())
    }

    #[test]
    fn one_float_is_itself() {
        cases(300, |u| {
            let (x, y) = (
                f32::from_bits(u.arbitrary()?),
                f64::from_bits(u.arbitrary()?),
            );
            if !x.is_nan() && x != 0.0 {
                assert_eq!(sum32(&[x]).to_bits(), x.to_bits(), "{x}");
                assert_eq!(sum32(&[x, x, -x]).to_bits(), x.to_bits(), "{x}");
                assert_eq!(
                    sum32(&[x, -x]).to_bits() & 0x7fff_ffff,
                    if x.is_finite() { 0 } else { 0x7fc0_0000 }
                );
            }
            if !y.is_nan() && y != 0.0 {
                assert_eq!(sum64(&[y]).to_bits(), y.to_bits(), "{y}");
                assert_eq!(sum64(&[y, y, -y]).to_bits(), y.to_bits(), "{y}");
            }
            Ok(())
        });
    }

    /// A sum of two is rounded once by the hardware, too; of three f32 that lie near each other, an f64 has all bits.
    #[test]
    fn sums_are_rounded_once() {
        cases(300, |u| {
            let (a, b) = (
                f64::from_bits(u.arbitrary()?),
                f64::from_bits(u.arbitrary()?),
            );
            let near = f64::from_bits(a.to_bits() ^ u.arbitrary::<u32>()? as u64 ^ 1 << 63);
            for b in [b, near] {
                let sum = a + b;
                if !sum.is_nan() && sum != 0.0 {
                    assert_eq!(sum64(&[a, b]).to_bits(), sum.to_bits(), "{a:e} {b:e}");
                }
                let (a, b) = (a as f32, b as f32);
                let sum = a + b;
                if !sum.is_nan() && sum != 0.0 {
                    assert_eq!(sum32(&[a, b]).to_bits(), sum.to_bits(), "{a:e} {b:e}");
                }
            }
            let mut near = || -> arbtest::arbitrary::Result<f32> {
                Ok(f32::from_bits(
                    u.arbitrary::<u32>()? & 0x87ff_ffff | 0x3800_0000,
                ))
            };
            let terms = [near()?, near()?, near()?];
            let whole = terms.iter().map(|x| f64::from(*x)).sum::<f64>();
            assert_eq!(sum32(&terms), whole as f32, "{terms:?}");
            Ok(())
        });
    }

    #[test]
    fn halves_go_to_even_and_what_is_far_below_decides() {
        let ulp = f64::EPSILON;
        for (terms, sum) in [
            (&[1.0, ulp / 2.0][..], 1.0),
            (&[1.0 + ulp, ulp / 2.0], 1.0 + 2.0 * ulp),
            (&[1.0, ulp / 2.0, f64::from_bits(1)], 1.0 + ulp),
            (&[1.0, ulp / 2.0, -f64::from_bits(1)], 1.0),
            (&[-1.0, -ulp / 2.0, -f64::from_bits(1)], -1.0 - ulp),
            (&[1e308, 1e308, -1e308], 1e308),
            (&[f64::MAX, f64::MAX], f64::INFINITY),
            (&[-f64::MAX, -f64::MAX], f64::NEG_INFINITY),
            (&[f64::MAX, f64::MAX, -f64::INFINITY], f64::NEG_INFINITY),
            (
                &[f64::MIN_POSITIVE, -f64::from_bits(1)],
                f64::from_bits((1 << 52) - 1),
            ),
        ] {
            assert_eq!(sum64(terms).to_bits(), sum.to_bits(), "{terms:?}");
        }
        for terms in [&[f64::NAN, 1.0][..], &[f64::INFINITY, f64::NEG_INFINITY]] {
            assert!(sum64(terms).is_nan());
        }
        for terms in [&[][..], &[-0.0], &[1.0, -1.0]] {
            assert_eq!(sum64(terms).to_bits(), 0);
        }
    }

    #[test]
    fn neither_order_nor_parts_matter() {
        cases(300, |u| {
            let scalar = *u.choose(&[Scalar::F32, Scalar::F64])?;
            let terms: Vec<u64> = (0..u.int_in_range(0..=40)?)
                .map(|_| u.arbitrary())
                .collect::<Result<_, _>>()?;
            let finite = |bits: u64| match scalar {
                Scalar::F64 => bits & !(1 << 62),
                _ => bits & 0xbfff_ffff,
            };
            let mut all = Exact::new(scalar);
            terms.iter().for_each(|&x| all.add(finite(x)));
            let cut = u.int_in_range(0..=terms.len())?;
            let mut parts = Exact::new(scalar);
            for part in [&terms[cut..], &terms[..cut], &[]] {
                let mut local = Exact::new(scalar);
                part.iter().rev().for_each(|&x| local.add(finite(x)));
                parts.merge(local.words.iter().copied());
            }
            assert_eq!(all.value(), parts.value());
            Ok(())
        });
    }

    #[test]
    fn a_billion_large_ones_are_held() {
        let mut all = Exact::new(Scalar::F32);
        let mut many = Exact::new(Scalar::F32);
        many.add(f32::MAX.to_bits().into());
        for _ in 0..30 {
            let twice: Vec<i64> = many.words.iter().map(|w| w * 2).collect();
            many.words = twice;
        }
        all.merge(many.words.iter().copied());
        assert_eq!(f32::from_bits(all.value() as u32), f32::INFINITY);
        all.merge(many.words.iter().map(|w| -w));
        assert_eq!(all.value(), 0);
    }
}
