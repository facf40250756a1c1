//! Control-flow graphs of x86-64 machine code, with what each basic block reads and writes.
//!
//! A node is a basic block: a run of instructions that is entered at its first and left at its last one. The blocks of
//! a function lie side by side, the one where it is entered first, and no edge leads out of a function. Calls end a
//! block and fall through to the next, unless what is called never returns. Jumps out of the function, and indirect
//! jumps whose table was not found, leave the graph. A `switch` is followed through its jump table. Unwinding is not
//! followed: nothing leads to a landing pad.
//!
//! A block's registers are bits of one word: 0 to 15 the general registers in the order of their numbers (rax, rcx,
//! rdx, rbx, rsp, rbp, rsi, rdi, r8 to r15), 16 to 22 the flags (OF SF ZF AF CF PF DF), 24 to 55 the vector registers
//! and 56 to 63 the mask registers. A write of part of a register does not end the life of the rest, so it counts as no
//! write. Calls read the argument registers and write what the System V ABI lets them; leaving the function reads what
//! the ABI promises to the caller, and on a jump into another function its arguments too.

mod cache;
mod decode;
mod rows;
mod tables;

pub use cache::CacheError;
pub use rows::{Definitions, RowsError, ones};

use crate::elf::{ElfError, ElfErrorKind};
use crate::files;
use crate::graph::mix;
use decode::Block;
use std::ops::Range;
use std::path::Path;
use vyre::{Csr, CsrError};

/// The general registers among the bits of a block's registers.
pub const GENERAL: u64 = 0xffff;

/// A control-flow graph and the registers of its blocks.
///
/// ```
/// use vyre_examples::cfg::Cfg;
/// let cfg = Cfg::generated(1000, 1);
/// let mut bytes = Vec::new();
/// cfg.write(&mut bytes).unwrap();
/// assert_eq!(Cfg::read(&bytes).unwrap(), cfg);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cfg {
    /// Which blocks can follow a block, in ascending order, without repeats.
    pub successors: Csr,
    /// Registers that a block reads before it writes them.
    pub uses: Vec<u64>,
    /// Registers that a block writes.
    pub defs: Vec<u64>,
    /// Where the blocks are in memory.
    pub addresses: Vec<u64>,
    /// The first block of each function, and the number of blocks: one entry more than there are functions.
    pub functions: Vec<u32>,
    /// Names of the functions.
    pub names: Vec<String>,
}

impl Default for Cfg {
    /// No blocks.
    fn default() -> Cfg {
        Cfg {
            successors: Csr::from_edges(0, &[]).expect("no edges, so none is out of range"),
            uses: Vec::new(),
            defs: Vec::new(),
            addresses: Vec::new(),
            functions: vec![0],
            names: Vec::new(),
        }
    }
}

impl Cfg {
    /// Reads the graphs of all functions of an executable or shared library. With `cache`, a folder, they are decoded
    /// once: then they come from a file there. What is damaged, or is of another program or version, is decoded anew.
    pub fn of_file(path: &Path, cache: Option<&Path>) -> Result<Cfg, ElfError> {
        let read = || {
            let bytes = files::read(path)?;
            match cache {
                Some(folder) => cache::through(folder, path, &bytes, || Cfg::of_elf(&bytes)),
                None => Cfg::of_elf(&bytes),
            }
        };
        read().map_err(|kind| ElfError {
            path: path.into(),
            kind,
        })
    }

    /// Reads the graphs of all functions in the bytes of an ELF file.
    pub fn of_elf(bytes: &[u8]) -> Result<Cfg, ElfErrorKind> {
        Ok(Cfg::of_functions(decode::functions(bytes)?)?)
    }

    /// Puts graphs side by side.
    pub fn join(parts: Vec<Cfg>) -> Result<Cfg, CsrError> {
        let mut all = Cfg::default();
        let (mut offsets, mut targets) = (vec![0u32], Vec::new());
        for part in parts {
            let (node, edge) = (all.uses.len() as u32, targets.len() as u32);
            offsets.extend(part.successors.offsets()[1..].iter().map(|&o| edge + o));
            targets.extend(part.successors.targets().iter().map(|&t| node + t));
            all.functions
                .extend(part.functions[1..].iter().map(|&f| node + f));
            all.uses.extend(part.uses);
            all.defs.extend(part.defs);
            all.addresses.extend(part.addresses);
            all.names.extend(part.names);
        }
        all.successors = Csr::new(offsets, targets)?;
        Ok(all)
    }

    fn of_functions(
        functions: impl IntoIterator<Item = (String, Vec<Block>)>,
    ) -> Result<Cfg, CsrError> {
        let mut all = Cfg::default();
        let (mut offsets, mut targets) = (vec![0u32], Vec::<u32>::new());
        for (name, blocks) in functions {
            if blocks.is_empty() {
                continue;
            }
            let first = all.uses.len() as u32;
            for block in blocks {
                targets.extend(block.successors.iter().map(|s| first + s));
                offsets.push(targets.len() as u32);
                all.uses.push(block.uses);
                all.defs.push(block.defs);
                all.addresses.push(block.address);
            }
            all.functions.push(all.uses.len() as u32);
            all.names.push(name);
        }
        all.successors = Csr::new(offsets, targets)?;
        Ok(all)
    }

    /// A made-up program of that many blocks: functions of different lengths with branches, loops and calls.
    pub fn generated(blocks: u32, seed: u64) -> Cfg {
        let draw = |i: u32, what: u64| mix(mix(seed ^ what << 40) ^ u64::from(i));
        let ends_function = |i: u32| i + 1 == blocks || draw(i, 1).is_multiple_of(97);
        let (mut functions, mut first) = (vec![Vec::new()], 0);
        for i in 0..blocks {
            let index = i - first;
            let mut successors = Vec::new();
            if !ends_function(i) {
                successors.push(index + 1);
            }
            let far = (draw(i, 2) % 40) as u32;
            match draw(i, 3) % 8 {
                0 if index > 0 => successors.push(index.saturating_sub(far)),
                1 | 2 => {
                    let target =
                        (i + 1..=i + far).take_while(|&t| t == i + 1 || !ends_function(t - 1));
                    let within = target.last().filter(|&t| t < blocks && !ends_function(i));
                    successors.extend(within.map(|t| t - first));
                }
                _ => {}
            }
            successors.sort_unstable();
            successors.dedup();
            let bits = |what| draw(i, what) & draw(i, what + 1) & draw(i, what + 2);
            let block = Block {
                address: u64::from(i),
                uses: bits(4),
                defs: bits(7),
                successors,
            };
            functions.last_mut().expect("it is never empty").push(block);
            if ends_function(i) {
                functions.push(Vec::new());
                first = i + 1;
            }
        }
        let named = (0..)
            .zip(functions)
            .map(|(f, blocks): (u32, _)| (format!("f{f}"), blocks));
        Cfg::of_functions(named).expect("branches stay inside functions")
    }

    /// The blocks that can come before each block.
    pub fn predecessors(&self) -> Csr {
        self.successors.reverse()
    }

    /// The blocks of each function.
    pub fn parts(&self) -> impl ExactSizeIterator<Item = Range<u32>> {
        self.functions.windows(2).map(|w| w[0]..w[1])
    }

    /// A block for people: its function, and how far into it.
    pub fn describe(&self, block: u32) -> String {
        let function = self.functions.partition_point(|&first| first <= block) - 1;
        let entry = self.addresses[self.functions[function] as usize];
        let address = self.addresses[block as usize];
        let name = &self.names[function];
        format!("{name}+{:#x}", address.wrapping_sub(entry))
    }
}
