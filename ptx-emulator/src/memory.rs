//! Memory of the device: ranges of bytes, and nothing between them. Copies share what is not changed.

use std::cell::Cell;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

/// Why an access is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// No range holds all of it.
    Outside,
    /// Not a multiple of its size.
    Misaligned,
}

const PAGE: usize = 1024;

#[derive(Clone, Debug)]
struct Page {
    bytes: [u8; PAGE],
    hash: Cell<Option<u64>>,
}

/// A range of bytes.
#[derive(Clone, Debug)]
pub(crate) struct Pages {
    pages: Vec<Rc<Page>>,
    len: usize,
}

impl Pages {
    pub(crate) fn new(bytes: &[u8]) -> Pages {
        let page = |chunk: &[u8]| {
            let mut bytes = [0; PAGE];
            bytes[..chunk.len()].copy_from_slice(chunk);
            Rc::new(Page {
                bytes,
                hash: Cell::new(None),
            })
        };
        Pages {
            pages: bytes.chunks(PAGE).map(page).collect(),
            len: bytes.len(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Up to eight bytes, which are in one page because they are aligned.
    pub(crate) fn load(&self, at: usize, bytes: usize) -> u64 {
        number(&self.pages[at / PAGE].bytes[at % PAGE..][..bytes])
    }

    pub(crate) fn store(&mut self, at: usize, bytes: usize, x: u64) {
        let page = Rc::make_mut(&mut self.pages[at / PAGE]);
        page.hash.set(None);
        page.bytes[at % PAGE..][..bytes].copy_from_slice(&x.to_le_bytes()[..bytes]);
    }

    fn bytes(&self, at: usize, bytes: usize) -> Vec<u8> {
        (at..at + bytes)
            .map(|at| self.pages[at / PAGE].bytes[at % PAGE])
            .collect()
    }

    pub(crate) fn hash_into(&self, state: &mut DefaultHasher) {
        for page in &self.pages {
            let hash = page.hash.get().unwrap_or_else(|| {
                let mut state = DefaultHasher::new();
                page.bytes.hash(&mut state);
                let hash = state.finish();
                page.hash.set(Some(hash));
                hash
            });
            hash.hash(state);
        }
    }
}

/// Ranges of bytes at addresses.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    ranges: Vec<(u64, Pages)>,
}

impl Memory {
    /// Puts bytes at an address, where nothing is so far.
    ///
    /// # Panics
    ///
    /// If a range is there already.
    pub fn map(&mut self, address: u64, bytes: &[u8]) {
        let end = address + bytes.len() as u64;
        let at = self.ranges.partition_point(|(start, _)| *start < address);
        let before = at.checked_sub(1).map(|i| &self.ranges[i]);
        assert!(
            before.is_none_or(|(start, held)| start + held.len() as u64 <= address)
                && self.ranges.get(at).is_none_or(|(start, _)| end <= *start),
            "ranges at {address:#x} overlap"
        );
        self.ranges.insert(at, (address, Pages::new(bytes)));
    }

    fn find(&self, address: u64, bytes: u32) -> Result<(usize, usize), Refused> {
        if !address.is_multiple_of(u64::from(bytes)) {
            return Err(Refused::Misaligned);
        }
        let after = self.ranges.partition_point(|(start, _)| *start <= address);
        let range = after.checked_sub(1).ok_or(Refused::Outside)?;
        let (start, held) = &self.ranges[range];
        let at = (address - start) as usize;
        match at + bytes as usize <= held.len() {
            true => Ok((range, at)),
            false => Err(Refused::Outside),
        }
    }

    /// Bytes from an address on.
    ///
    /// # Panics
    ///
    /// If they are not all in one range.
    pub fn bytes(&self, address: u64, bytes: usize) -> Vec<u8> {
        let (range, at) = self.find(address, 1).expect("the address is in a range");
        self.ranges[range].1.bytes(at, bytes)
    }

    pub(crate) fn load(&self, address: u64, bytes: u32) -> Result<u64, Refused> {
        let (range, at) = self.find(address, bytes)?;
        Ok(self.ranges[range].1.load(at, bytes as usize))
    }

    /// The aligned eight bytes around an address, as far as they are there.
    pub(crate) fn eight(&self, address: u64) -> u64 {
        let byte = |i: u64| self.load((address & !7) + i, 1).unwrap_or(0) << (8 * i);
        (0..8).map(byte).sum()
    }

    pub(crate) fn store(&mut self, address: u64, bytes: u32, x: u64) -> Result<(), Refused> {
        let (range, at) = self.find(address, bytes)?;
        self.ranges[range].1.store(at, bytes as usize, x);
        Ok(())
    }

    pub(crate) fn hash_into(&self, state: &mut DefaultHasher) {
        self.ranges
            .iter()
            .for_each(|(_, pages)| pages.hash_into(state));
    }
}

/// Up to eight bytes as a number.
pub(crate) fn number(bytes: &[u8]) -> u64 {
    let mut all = [0; 8];
    all[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(all)
}
