//! Exact sums against big integers: floats of all exponents, each sum in a hundred orders, in one and by parts.

use arbtest::arbitrary::{Result, Unstructured};
use num_bigint::BigInt;
use vyre_core::vir0::exact::Exact;
use vyre_core::vir0::scalar::Scalar;

#[path = "../../vyre-tests/src/random.rs"]
#[allow(
    dead_code,
    unreachable_pub,
    reason = "shared with tests of crates above, on which this one cannot depend"
)]
mod random;
use random::cases;

/// How the bits of a float type lie.
struct Format {
    scalar: Scalar,
    fraction_bits: u32,
    exponents: u64,
}

const FORMATS: [Format; 2] = [
    Format {
        scalar: Scalar::F32,
        fraction_bits: 23,
        exponents: 0xff,
    },
    Format {
        scalar: Scalar::F64,
        fraction_bits: 52,
        exponents: 0x7ff,
    },
];

impl Format {
    fn sign(&self) -> u64 {
        (self.exponents + 1) << self.fraction_bits
    }

    fn infinity(&self) -> u64 {
        self.exponents << self.fraction_bits
    }

    /// A float's size in units of the least one. Infinity's is what would come after the greatest.
    fn size(&self, bits: u64) -> BigInt {
        let bits = bits & !self.sign();
        let (exponent, hidden) = (bits >> self.fraction_bits, 1 << self.fraction_bits);
        match exponent {
            0 => BigInt::from(bits),
            _ => BigInt::from(bits % hidden + hidden) << (exponent - 1),
        }
    }

    fn number(&self, bits: u64) -> BigInt {
        match bits & self.sign() {
            0 => self.size(bits),
            _ => -self.size(bits),
        }
    }

    /// That no float is nearer to the sum, and that of two that are as near, this is the even one.
    fn is_nearest(&self, bits: u64, sum: &BigInt) -> bool {
        let (size, wanted) = (bits & !self.sign(), BigInt::from(sum.magnitude().clone()));
        if size == 0 {
            return bits == 0 && wanted == BigInt::ZERO;
        }
        let off = wanted - self.size(size);
        let near = if off <= BigInt::ZERO {
            is_half(-2 * off, self.size(size) - self.size(size - 1), size)
        } else {
            size == self.infinity() || is_half(2 * off, self.size(size + 1) - self.size(size), size)
        };
        near && (bits > size) == (*sum < BigInt::ZERO)
    }

    /// Finite floats: of any exponent, near one exponent, or such that most of them cancel each other.
    fn terms(&self, u: &mut Unstructured<'_>) -> Result<Vec<u64>> {
        let sign = self.sign();
        let finite = |bits: u64| match bits & self.infinity() == self.infinity() {
            true => (bits % (1 << self.fraction_bits)) | (bits & sign),
            false => bits & (sign | (sign - 1)),
        };
        let (kind, near) = (u.int_in_range(0..=2)?, finite(u.arbitrary()?));
        let count = u.int_in_range(1..=24)?;
        let mut terms = Vec::new();
        for _ in 0..count {
            let bits: u64 = u.arbitrary()?;
            let low = (1 << self.fraction_bits) * 8 - 1;
            terms.push(finite(match kind {
                0 => bits,
                1 => bits & (low | sign) | near & !(low | sign),
                _ => bits,
            }));
            if kind == 2 {
                let flips: u8 = u.arbitrary()?;
                terms.push(finite(bits ^ sign ^ u64::from(flips / 128)));
            }
        }
        Ok(terms)
    }
}

/// Whether twice the distance to a float is less than the gap to the next one, or as much where the float is even.
fn is_half(twice: BigInt, gap: BigInt, float: u64) -> bool {
    twice < gap || twice == gap && float.is_multiple_of(2)
}

fn shuffle(state: &mut u64, terms: &mut [u64]) {
    for i in (1..terms.len()).rev() {
        *state = (*state ^ *state >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15) + 1;
        terms.swap(i, (*state >> 33) as usize % (i + 1));
    }
}

#[test]
fn every_order_gives_the_float_nearest_to_the_sum() {
    cases(300, |u| {
        let format = u.choose(&FORMATS)?;
        let mut terms = format.terms(u)?;
        let sum: BigInt = terms.iter().map(|&bits| format.number(bits)).sum();
        let (mut first, mut state) = (None, u.arbitrary()?);
        for _ in 0..100 {
            let mut whole = Exact::new(format.scalar);
            terms.iter().for_each(|&bits| whole.add(bits));
            let mut parts = Exact::new(format.scalar);
            let parted = state as usize % terms.len() + 1;
            for part in terms.chunks(parted) {
                let mut own = Exact::new(format.scalar);
                part.iter().for_each(|&bits| own.add(bits));
                parts.merge(own.words().iter().copied());
            }
            let bits = whole.value();
            assert_eq!(parts.value(), bits, "by parts: {terms:x?}");
            assert_eq!(*first.get_or_insert(bits), bits, "in order: {terms:x?}");
            shuffle(&mut state, &mut terms);
        }
        let bits = first.expect("there were orders");
        assert!(format.is_nearest(bits, &sum), "{bits:x} of {terms:x?}");
        Ok(())
    });
}
