//! The file format of control-flow graphs, and a folder of such files.
//!
//! A file is a gzip file, whose checksum covers all of this, numbers lowest byte first:
//!
//! | bytes | what |
//! | --- | --- |
//! | `CFGBIN02` | the version |
//! | 3 × 8 | numbers of functions, blocks and edges |
//! | varints | blocks of each function |
//! | varints | bytes of each function's name |
//! | varints | each block's address less that of the block before, as below |
//! | varints | successors of each block |
//! | varints | each successor's number less that of the next block, as below |
//! | 8 × blocks | the words of `uses`: all lowest bytes, then all second bytes, and so on |
//! | 8 × blocks | those of `defs` |
//! | the rest | the names |
//!
//! A varint has seven bits a byte, the lowest first; the top bit is set in all bytes but the last. A difference `d` is
//! written as `2 * d`, or as `-2 * d - 1` where it is negative.

use super::Cfg;
use crate::files;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use thiserror::Error;
use twox_hash::XxHash3_128;
use vyre::{Csr, CsrError};

/// Another one wherever other bytes or other graphs are written: files of other versions are decoded anew.
const VERSION: &[u8; 8] = b"CFGBIN02";

/// Why bytes are no cached graph.
#[derive(Debug, Error)]
pub enum CacheError {
    /// They start otherwise.
    #[error("not a control-flow graph of this version (CFGBIN02)")]
    Version,
    /// They cannot be read, do not decompress, or have another checksum.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A number has more digits than fit.
    #[error("a number does not end")]
    Number,
    /// The sizes do not fit together.
    #[error("sizes that do not fit together")]
    Sizes,
    /// An edge leads out of its function.
    #[error("block {0} has a successor in another function")]
    Crossing(usize),
    /// Edges that are none.
    #[error(transparent)]
    Csr(#[from] CsrError),
}

/// Decodes the program at a path, or reads what was kept of it in a folder. A file there is named by a hash of the path,
/// and begins with 16 bytes: the hash of the program, before that which [`Cfg::write`] wrote.
pub(super) fn through<E>(
    folder: &Path,
    path: &Path,
    program: &[u8],
    decode: impl FnOnce() -> Result<Cfg, E>,
) -> Result<Cfg, E> {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let name = XxHash3_128::oneshot(path.as_os_str().as_encoded_bytes());
    let file = folder.join(format!("{name:032x}.cfg"));
    let hash = XxHash3_128::oneshot(program).to_le_bytes();
    let kept = files::read(&file).unwrap_or_default();
    let graph = kept.strip_prefix(&hash).map(Cfg::read);
    if let Some(Ok(cfg)) = graph {
        return Ok(cfg);
    }
    let cfg = decode()?;
    // Written under another name first, so that no process reads half of it. A full disk costs the cache and no more.
    let unfinished = folder.join(format!("{}.unfinished", std::process::id()));
    let written = fs::create_dir_all(folder)
        .and_then(|()| fs::File::create(&unfinished))
        .and_then(|file| {
            let mut to = io::BufWriter::new(file);
            to.write_all(&hash)?;
            cfg.write(&mut to)?;
            to.flush()
        })
        .and_then(|()| fs::rename(&unfinished, &file));
    if written.is_err() {
        let _ = fs::remove_file(&unfinished);
    }
    Ok(cfg)
}

impl Cfg {
    /// Writes the graph to a file that [`Cfg::read`] reads.
    pub fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        let mut to = GzEncoder::new(to, Compression::new(4));
        let graph = &self.successors;
        let blocks = graph.node_count() as u32;
        to.write_all(VERSION)?;
        for number in [self.names.len(), graph.node_count(), graph.edge_count()] {
            to.write_all(&(number as u64).to_le_bytes())?;
        }
        to.write_all(&varints(self.parts().map(|p| p.len() as u64)))?;
        to.write_all(&varints(self.names.iter().map(|n| n.len() as u64)))?;
        let before = [0].into_iter().chain(self.addresses.iter().copied());
        let steps = before
            .zip(&self.addresses)
            .map(|(before, at)| at.wrapping_sub(before) as i64);
        to.write_all(&varints(steps.map(zigzag)))?;
        to.write_all(&varints((0..blocks).map(|v| graph.degree(v).into())))?;
        let distances = (0..blocks).flat_map(|v| {
            let targets = graph.neighbors(v).iter().map(i64::from);
            targets.map(move |t| t - i64::from(v) - 1)
        });
        to.write_all(&varints(distances.map(zigzag)))?;
        for words in [&self.uses, &self.defs] {
            for byte in 0..8 {
                let plane: Vec<u8> = words.iter().map(|w| w.to_le_bytes()[byte]).collect();
                to.write_all(&plane)?;
            }
        }
        for name in &self.names {
            to.write_all(name.as_bytes())?;
        }
        to.finish()?;
        Ok(())
    }

    /// Reads what [`Cfg::write`] wrote.
    pub fn read(bytes: &[u8]) -> Result<Cfg, CacheError> {
        // A byte becomes at most 1,032.
        let limit_bytes = bytes.len() as u64 * 1_100 + 1_000;
        let plain = files::read_up_to(GzDecoder::new(bytes), limit_bytes)?;
        let rest = plain.strip_prefix(VERSION).ok_or(CacheError::Version)?;
        let mut from = Reader { rest };
        let [functions, blocks, edges] = [from.number()?, from.number()?, from.number()?];
        // Each takes a byte at least.
        let least = functions.saturating_add(blocks).saturating_add(edges);
        if least > plain.len() as u64 {
            return Err(CacheError::Sizes);
        }
        let starts = from.sums(functions)?;
        let name_ends = from.sums(functions)?;
        let mut address = 0u64;
        let mut addresses = Vec::with_capacity(blocks as usize);
        for _ in 0..blocks {
            address = address.wrapping_add(from.difference()? as u64);
            addresses.push(address);
        }
        let offsets = from.sums(blocks)?;
        let sums = [(&starts, blocks), (&offsets, edges)];
        if sums
            .iter()
            .any(|(sums, all)| sums.last().copied().map(u64::from) != Some(*all))
        {
            return Err(CacheError::Sizes);
        }
        let mut targets = Vec::with_capacity(edges as usize);
        for part in starts.windows(2) {
            if part[0] == part[1] {
                return Err(CacheError::Sizes);
            }
            for v in part[0]..part[1] {
                for _ in offsets[v as usize]..offsets[v as usize + 1] {
                    let target = from.difference()?.wrapping_add(i64::from(v) + 1);
                    match u32::try_from(target) {
                        Ok(target) if (part[0]..part[1]).contains(&target) => targets.push(target),
                        _ => return Err(CacheError::Crossing(v as usize)),
                    }
                }
            }
        }
        let uses = from.words(blocks as usize)?;
        let defs = from.words(blocks as usize)?;
        let name = |w: &[u32]| {
            let name = from.rest.get(w[0] as usize..w[1] as usize);
            name.map(|name| String::from_utf8_lossy(name).into_owned())
        };
        let names: Option<Vec<String>> = name_ends.windows(2).map(name).collect();
        Ok(Cfg {
            successors: Csr::new(offsets, targets)?,
            uses,
            defs,
            addresses,
            functions: starts,
            names: names.ok_or(CacheError::Sizes)?,
        })
    }
}

fn zigzag(difference: i64) -> u64 {
    (difference << 1 ^ difference >> 63) as u64
}

fn varints(numbers: impl Iterator<Item = u64>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for mut n in numbers {
        while n >= 0x80 {
            bytes.push(n as u8 | 0x80);
            n >>= 7;
        }
        bytes.push(n as u8);
    }
    bytes
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl Reader<'_> {
    fn take(&mut self, len: usize) -> Result<&[u8], CacheError> {
        let (part, rest) = self.rest.split_at_checked(len).ok_or(CacheError::Sizes)?;
        self.rest = rest;
        Ok(part)
    }

    fn number(&mut self) -> Result<u64, CacheError> {
        let bytes = self.take(8)?.try_into().expect("eight bytes were taken");
        Ok(u64::from_le_bytes(bytes))
    }

    fn varint(&mut self) -> Result<u64, CacheError> {
        let mut n = 0;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = self.rest.split_first().ok_or(CacheError::Sizes)?;
            self.rest = rest;
            n |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(n);
            }
        }
        Err(CacheError::Number)
    }

    fn difference(&mut self) -> Result<i64, CacheError> {
        let code = self.varint()?;
        Ok((code >> 1) as i64 ^ -((code & 1) as i64))
    }

    /// The sums of that many numbers, from 0 on.
    fn sums(&mut self, len: u64) -> Result<Vec<u32>, CacheError> {
        let (mut sums, mut sum) = (vec![0], 0u64);
        for _ in 0..len {
            sum = sum.saturating_add(self.varint()?);
            sums.push(u32::try_from(sum).map_err(|_| CacheError::Sizes)?);
        }
        Ok(sums)
    }

    fn words(&mut self, len: usize) -> Result<Vec<u64>, CacheError> {
        let mut words = vec![0u64; len];
        for byte in 0..8 {
            let plane = self.take(len)?;
            words
                .iter_mut()
                .zip(plane)
                .for_each(|(w, &b)| *w |= u64::from(b) << (8 * byte));
        }
        Ok(words)
    }
}
