//! Numbers that are the same in each run.

use arbtest::arbitrary::{Result, Unstructured};
use arbtest::arbtest;

/// Steele, Lea and Flood's SplitMix64, from any seed.
#[derive(Clone)]
pub struct Random(pub u64);

impl Random {
    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `n`; 0 where there is none.
    pub fn below(&mut self, n: u32) -> u32 {
        ((self.bits() >> 32) % u64::from(n.max(1))) as u32
    }
}

/// Runs `test` on `count` strings of random bytes, or as many as `VYRE_FUZZ` says; whatever the machine does, they are
/// the same. They are 64 to 16,384 bytes long, so that small cases are among them. A string of which `test` cannot make
/// what it wants to is passed over. A failure tells a seed, which `arbtest(test).seed(..)` runs alone.
///
/// # Panics
///
/// Where `VYRE_FUZZ` is no number.
pub fn cases(count: u64, mut test: impl FnMut(&mut Unstructured<'_>) -> Result<()>) {
    let asked = std::env::var("VYRE_FUZZ").ok();
    let count = asked.map_or(count, |n| n.parse().expect("VYRE_FUZZ is a number"));
    let mut random = Random(0);
    for k in 0..count {
        let bytes = 64 << (k % 9);
        arbtest(&mut test).seed(random.bits() << 32 | bytes).run();
    }
}
