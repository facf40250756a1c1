//! What cases are made of: bytes that a fuzzer chose, read as numbers.

use arbtest::arbitrary::Unstructured;
use vyre_tests::random::Random;

/// Bytes of a case that is made from a seed.
const SEEDED_BYTES: usize = 1_024;

/// The bytes of the case with this seed.
pub fn seeded(seed: u64) -> Vec<u8> {
    // Neighbouring seeds share no stretch of the sequence.
    let mut random = Random(Random(seed).bits());
    let words = (0..SEEDED_BYTES / 8).flat_map(|_| random.bits().to_le_bytes());
    words.collect()
}

/// A reader of a case's bytes. Where they are used up, every number is the lowest.
pub(crate) struct Choices<'b>(pub(crate) Unstructured<'b>);

impl<'b> Choices<'b> {
    pub(crate) fn new(bytes: &'b [u8]) -> Choices<'b> {
        Choices(Unstructured::new(bytes))
    }

    /// A number below `n`; 0 where there is none.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0.int_in_range(0..=n.max(1) - 1).unwrap_or(0)
    }

    pub(crate) fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == n - 1
    }

    pub(crate) fn bits(&mut self) -> u64 {
        self.0.arbitrary().unwrap_or(0)
    }

    /// Small as a rule, since ids and lengths are; sometimes at an edge.
    pub(crate) fn value(&mut self) -> u64 {
        match self.below(8) {
            7 => self.bits(),
            6 => 1 << self.below(64),
            5 => u64::MAX - self.below(3) as u64,
            _ => self.below(9) as u64,
        }
    }

    /// The id of an entry; rarely one that is not there.
    pub(crate) fn id(&mut self, count: usize) -> u16 {
        match self.one_in(16) {
            true => self.value() as u16,
            false => self.below(count) as u16,
        }
    }

    pub(crate) fn pick<'t, T>(&mut self, list: &'t [T]) -> Option<&'t T> {
        let at = self.below(list.len());
        list.get(at)
    }

    pub(crate) fn pick_mut<'t, T>(&mut self, list: &'t mut [T]) -> Option<&'t mut T> {
        let at = self.below(list.len());
        list.get_mut(at)
    }
}
