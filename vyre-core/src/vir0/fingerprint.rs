//! Which program a pass is, as two hashes: of its code and of the values of its constants. Measurements are bound to
//! both ([`crate::plan::evidence`]).

use std::fmt;

/// Which pass a program is: what a sample is bound to. Names, comments and positions do not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fingerprint {
    /// Of its code, buffers and schedule, and of how its named constants are written:
    /// [`Manifest::program_hash`](crate::vir0::manifest::Manifest::program_hash).
    pub program: u64,
    /// Of the values of its named constants, which only rustc knows.
    pub constants: u64,
}

impl Fingerprint {
    /// The hash of named constants and of round limits that are named constants, with their fixpoints.
    pub fn constants<'a>(
        values: impl IntoIterator<Item = &'a u64>,
        max_rounds: &[(u16, u64)],
    ) -> u64 {
        let values = values.into_iter().map(|value| (0, value));
        let limits = max_rounds.iter().map(|(fixpoint, n)| (fixpoint + 1, n));
        fnv1a(values.chain(limits).flat_map(|(kind, value)| {
            let kind: [u8; 2] = kind.to_le_bytes();
            kind.into_iter().chain(value.to_le_bytes())
        }))
    }
}

/// As the columns hold it: `program_hash,constants_hash`.
impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#018x},{:#018x}", self.program, self.constants)
    }
}

/// FNV-1a, 64 bits.
pub(crate) fn fnv1a(bytes: impl IntoIterator<Item = u8>) -> u64 {
    let bytes = bytes.into_iter();
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
