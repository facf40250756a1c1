//! Rows of words, one a block, of a width for each function.

use super::Cfg;
use thiserror::Error;
use vyre::{Csr, CsrError};

/// Why there are no such rows.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum RowsError {
    /// More words than u32 indices can name.
    #[error("the rows of all blocks have {0} words; at most 4294967295 are supported")]
    TooLong(u64),
    /// More registers written than u32 indices can name.
    #[error(transparent)]
    Csr(#[from] CsrError),
}

impl Cfg {
    /// The block where each block's function is entered.
    pub fn entries(&self) -> Vec<u32> {
        self.parts()
            .flat_map(|part| part.clone().map(move |_| part.start))
            .collect()
    }

    /// The first word of each block's row, and the number of all words.
    pub fn rows(&self, words_a_block: impl Iterator<Item = u64>) -> Result<Vec<u32>, RowsError> {
        let mut rows = Vec::with_capacity(self.uses.len() + 1);
        let mut sum = 0u64;
        for (part, words) in self.parts().zip(words_a_block) {
            for _ in part {
                rows.push(sum as u32);
                sum += words;
            }
        }
        rows.push(u32::try_from(sum).map_err(|_| RowsError::TooLong(sum))?);
        Ok(rows)
    }
}

/// Rows with a bit for each write of a register in a block's function, by register: what
/// [`passes::reaching`](crate::passes::reaching) works on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definitions {
    /// Registers that a block writes, as far as they are looked at.
    pub defs: Vec<u64>,
    /// Where the block's function is entered.
    pub entry: Vec<u32>,
    /// The first word of each block's row, and the number of all words.
    pub row: Vec<u32>,
    /// An edge for each word of a function's rows, from its entry.
    pub words: Csr,
    /// Which register they are about.
    pub register: Vec<u32>,
    /// An edge for each register that a block writes, in ascending order.
    pub writes: Csr,
    /// Its bit in the rows.
    pub bit: Vec<u32>,
}

impl Definitions {
    /// Of the writes of these registers.
    pub fn of(cfg: &Cfg, registers: u64) -> Result<Definitions, RowsError> {
        let defs: Vec<u64> = cfg.defs.iter().map(|d| d & registers).collect();
        let entry = cfg.entries();
        let (mut word_offsets, mut register) = (vec![0u32], Vec::new());
        let (mut write_offsets, mut bit) = (vec![0u32], Vec::new());
        let mut widths = Vec::with_capacity(cfg.names.len());
        for part in cfg.parts() {
            let of_part = &defs[part.start as usize..part.end as usize];
            let mut counts = [0u32; 64];
            of_part
                .iter()
                .for_each(|&d| ones(d).for_each(|r| counts[r as usize] += 1));
            let first = register.len() as u32;
            let mut next = [0u32; 64];
            for (r, count) in (0..).zip(counts) {
                next[r as usize] = 32 * (register.len() as u32 - first);
                register.extend((0..count.div_ceil(32)).map(|_| r));
            }
            widths.push(u64::from(register.len() as u32 - first));
            word_offsets.extend(part.map(|_| register.len() as u32));
            for &d in of_part {
                for r in ones(d) {
                    bit.push(next[r as usize]);
                    next[r as usize] += 1;
                }
                write_offsets.push(bit.len() as u32);
            }
        }
        let entries = |offsets: &[u32]| -> Vec<u32> {
            let degrees = offsets.windows(2).map(|w| w[1] - w[0]);
            let repeated = entry.iter().zip(degrees);
            repeated
                .flat_map(|(&e, degree)| (0..degree).map(move |_| e))
                .collect()
        };
        Ok(Definitions {
            row: cfg.rows(widths.into_iter())?,
            words: Csr::new(word_offsets.clone(), entries(&word_offsets))?,
            writes: Csr::new(write_offsets.clone(), entries(&write_offsets))?,
            defs,
            entry,
            register,
            bit,
        })
    }

    /// Words of all rows.
    pub fn len(&self) -> u32 {
        self.row.last().copied().unwrap_or(0)
    }

    /// There are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The registers and words of a block's row.
    pub fn of_block<'a>(
        &'a self,
        rows: &'a [u32],
        block: u32,
    ) -> impl Iterator<Item = (u32, u32)> + 'a {
        let b = block as usize;
        let row = &rows[self.row[b] as usize..self.row[b + 1] as usize];
        let words = self.words.edges(self.entry[b]).iter();
        words
            .map(|w| self.register[w as usize])
            .zip(row.iter().copied())
    }
}

/// The bits that are set.
pub fn ones(mut word: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        (word != 0).then(|| {
            let bit = word.trailing_zeros();
            word &= word - 1;
            bit
        })
    })
}
