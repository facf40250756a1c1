//! Control-flow graphs of x86-64 machine code, with what each basic block reads and writes.
//!
//! A node is a basic block: a run of instructions that is entered at its first and left at its last one. Calls end a
//! block and fall through to the next. Jumps out of the function, and indirect jumps whose table was not found, leave
//! the graph. A `switch` is followed through its jump table: the offsets at the last data address that the code before
//! the jump took, as long as they lead into the function.
//!
//! A block's registers are bits of one word: 0 to 15 the general registers in the order of their numbers (rax, rcx,
//! rdx, rbx, rsp, rbp, rsi, rdi, r8 to r15), 16 to 22 the flags (OF SF ZF AF CF PF DF), 24 to 55 the vector registers
//! and 56 to 63 the mask registers. A write of part of a register does not end the life of the rest, so it counts as no
//! write. Calls read the argument registers and write what the System V ABI lets them; leaving the function reads what
//! the ABI promises to the caller, and on a jump into another function its arguments too.

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use iced_x86::{
    Code, Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Mnemonic,
    OpAccess, OpKind, Register,
};
use rayon::prelude::*;
use std::io::{self, Write};
use std::path::Path;
use thiserror::Error;
use vyre::{Csr, CsrError};
use vyre_examples::elf::{self, ElfError, ElfErrorKind, FunctionCode};
use vyre_examples::files;
use vyre_examples::graph::mix;

/// A control-flow graph and the registers of its blocks.
///
/// ```
/// use vyre_analyses::Cfg;
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
}

/// Why bytes are no cached graph.
#[derive(Debug, Error)]
pub enum CacheError {
    /// They start otherwise.
    #[error("not a cached control-flow graph (CFGBIN01)")]
    Magic,
    /// They cannot be read or do not decompress.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A number has more digits than fit.
    #[error("a number of the edge list does not end")]
    Number,
    /// Edges that are none.
    #[error(transparent)]
    Csr(#[from] CsrError),
}

/// General registers by number.
const fn gpr(numbers: &[u32]) -> u64 {
    let (mut bits, mut i) = (0, 0);
    while i < numbers.len() {
        bits |= 1 << numbers[i];
        i += 1;
    }
    bits
}

const FLAGS: u32 = 16;
const ALL_FLAGS: u64 = 0x7f << FLAGS;
const VECTORS: u32 = 24;
const MASKS: u32 = 56;
/// rdi, rsi, rdx, rcx, r8, r9, the stack pointer, xmm0 to xmm7.
const ARGUMENTS: u64 = gpr(&[7, 6, 2, 1, 8, 9, 4]) | 0xff << VECTORS;
/// rbx, rsp, rbp, r12 to r15.
const CALLEE_SAVED: u64 = gpr(&[3, 4, 5, 12, 13, 14, 15]);
/// rax, rdx, xmm0, xmm1.
const RESULTS: u64 = gpr(&[0, 2]) | 3 << VECTORS;
const CLOBBERED: u64 =
    (gpr(&[0, 1, 2, 6, 7, 8, 9, 10, 11]) | ALL_FLAGS | !0 << VECTORS) & !(1 << 23);

impl Cfg {
    /// Reads the graphs of all functions of an executable or shared library.
    pub fn of_file(path: &Path) -> Result<Cfg, ElfError> {
        let read = || Cfg::of_elf(&files::read(path)?);
        read().map_err(|kind| ElfError {
            path: path.into(),
            kind,
        })
    }

    /// Reads the graphs of all functions in the bytes of an ELF file.
    pub fn of_elf(bytes: &[u8]) -> Result<Cfg, ElfErrorKind> {
        let functions = elf::each_function(bytes, blocks)?;
        Ok(Cfg::of_blocks(functions.into_iter().flatten())?)
    }

    /// Puts graphs side by side.
    pub fn join(parts: Vec<Cfg>) -> Result<Cfg, CsrError> {
        let (mut offsets, mut targets) = (vec![0u32], Vec::new());
        let (mut uses, mut defs) = (Vec::new(), Vec::new());
        for part in parts {
            let (node, edge) = (uses.len() as u32, targets.len() as u32);
            offsets.extend(part.successors.offsets()[1..].iter().map(|&o| edge + o));
            targets.extend(part.successors.targets().iter().map(|&t| node + t));
            uses.extend(part.uses);
            defs.extend(part.defs);
        }
        Ok(Cfg {
            successors: Csr::new(offsets, targets)?,
            uses,
            defs,
        })
    }

    fn of_blocks(functions: impl Iterator<Item = Block>) -> Result<Cfg, CsrError> {
        let (mut offsets, mut targets) = (vec![0u32], Vec::<u32>::new());
        let (mut uses, mut defs) = (Vec::new(), Vec::new());
        let mut first = 0;
        for block in functions {
            if block.index == 0 {
                first = uses.len() as u32;
            }
            targets.extend(block.successors.iter().map(|s| first + s));
            offsets.push(targets.len() as u32);
            uses.push(block.uses);
            defs.push(block.defs);
        }
        Ok(Cfg {
            successors: Csr::new(offsets, targets)?,
            uses,
            defs,
        })
    }

    /// A made-up program of that many blocks: functions of different lengths with branches, loops and calls.
    pub fn generated(blocks: u32, seed: u64) -> Cfg {
        let draw = |i: u32, what: u64| mix(mix(seed ^ what << 40) ^ u64::from(i));
        let ends_function = |i: u32| i + 1 == blocks || draw(i, 1).is_multiple_of(97);
        let mut first = 0;
        let built = (0..blocks).map(|i| {
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
                index,
                uses: bits(4),
                defs: bits(7),
                successors,
            };
            if ends_function(i) {
                first = i + 1;
            }
            block
        });
        Cfg::of_blocks(built.collect::<Vec<_>>().into_iter())
            .expect("branches stay inside functions")
    }

    /// Writes the cache: `"CFGBIN01"`, then deflated u64 blocks, u64 edges, each block's number of successors and their
    /// distances (varints), and the bytes of `uses` and `defs`, all lowest bytes first, then all second bytes, and so
    /// on.
    pub fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        to.write_all(MAGIC)?;
        let mut to = DeflateEncoder::new(to, Compression::new(7));
        let graph = &self.successors;
        for number in [graph.node_count(), graph.edge_count()] {
            to.write_all(&(number as u64).to_le_bytes())?;
        }
        let degrees = (0..graph.node_count() as u32).map(|v| u64::from(graph.degree(v)));
        to.write_all(&varints(degrees))?;
        let distances = (0..graph.node_count() as u32).flat_map(|v| {
            let targets = graph.neighbors(v).map(i64::from);
            targets.map(move |t| {
                let distance = t - i64::from(v) - 1;
                (distance << 1 ^ distance >> 63) as u64
            })
        });
        to.write_all(&varints(distances))?;
        for words in [&self.uses, &self.defs] {
            for byte in 0..8 {
                let plane: Vec<u8> = words.iter().map(|w| w.to_le_bytes()[byte]).collect();
                to.write_all(&plane)?;
            }
        }
        to.finish()?;
        Ok(())
    }

    /// Reads what [`Cfg::write`] wrote.
    pub fn read(bytes: &[u8]) -> Result<Cfg, CacheError> {
        let body = bytes.strip_prefix(MAGIC).ok_or(CacheError::Magic)?;
        // Deflate makes a byte of at most 1,032.
        let limit_bytes = body.len() as u64 * 1_100 + 1_000;
        let plain = files::read_up_to(DeflateDecoder::new(body), limit_bytes)?;
        let mut at = 0;
        let end = || io::Error::from(io::ErrorKind::UnexpectedEof);
        let mut take = |len: usize| {
            let part = plain.get(at..).and_then(|rest| rest.get(..len));
            at += part.map_or(0, <[u8]>::len);
            part.ok_or_else(end)
        };
        let mut number = || {
            Ok::<_, io::Error>(u64::from_le_bytes(
                take(8)?.try_into().expect("eight bytes"),
            ))
        };
        let (nodes, edges) = (number()?, number()?);
        // Every block and every edge takes a byte at least.
        if nodes.saturating_add(edges) > plain.len() as u64 {
            return Err(end().into());
        }
        let mut rest = &plain[16..];
        let (mut offsets, mut targets) = (vec![0u32], Vec::with_capacity(edges as usize));
        let mut sum = 0u64;
        for _ in 0..nodes {
            sum = sum.saturating_add(varint(&mut rest)?);
            offsets.push(u32::try_from(sum).unwrap_or(u32::MAX));
        }
        for v in 0..nodes as usize {
            for _ in offsets[v]..offsets[v + 1] {
                let code = varint(&mut rest)?;
                let distance = (code >> 1) as i64 ^ -((code & 1) as i64);
                let target = (v as i64 + 1).wrapping_add(distance);
                targets.push(u32::try_from(target).unwrap_or(u32::MAX));
            }
        }
        let nodes = nodes as usize;
        let mut words = || {
            let mut words = vec![0u64; nodes];
            for byte in 0..8 {
                let (plane, after) = rest.split_at_checked(nodes).ok_or_else(end)?;
                rest = after;
                words
                    .iter_mut()
                    .zip(plane)
                    .for_each(|(w, &b)| *w |= u64::from(b) << (8 * byte));
            }
            Ok::<_, io::Error>(words)
        };
        let (uses, defs) = (words()?, words()?);
        Ok(Cfg {
            successors: Csr::new(offsets, targets)?,
            uses,
            defs,
        })
    }

    /// The blocks that can come before each block.
    pub fn predecessors(&self) -> Csr {
        self.successors.reverse()
    }
}

const MAGIC: &[u8; 8] = b"CFGBIN01";

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

fn varint(from: &mut &[u8]) -> Result<u64, CacheError> {
    let mut n = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = from
            .split_first()
            .ok_or(io::Error::from(io::ErrorKind::UnexpectedEof))?;
        *from = rest;
        n |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Ok(n);
        }
    }
    Err(CacheError::Number)
}

/// A block, numbered within its function.
struct Block {
    index: u32,
    uses: u64,
    defs: u64,
    successors: Vec<u32>,
}

/// Where an instruction leads.
enum Flow {
    Next,
    /// On, but in a block of its own.
    Call,
    Branch(u64),
    Jump(u64),
    /// Through the table at this address.
    Table(u64),
    /// Out of the function, to code with arguments.
    TailCall,
    Return,
    /// Nowhere.
    Stop,
}

struct Decoded {
    /// Offset in the function.
    at: u32,
    uses: u64,
    defs: u64,
    flow: Flow,
}

/// The blocks of one function.
fn blocks(function: FunctionCode<'_>) -> Vec<Block> {
    let end = function.address + function.code.len() as u64;
    let inside = |target: u64| (function.address..end).contains(&target);
    let (steps, tables) = decode(&function);

    let mut leads = vec![false; function.code.len() + 1];
    leads[0] = true;
    for (i, step) in steps.iter().enumerate() {
        let next = steps
            .get(i + 1)
            .map_or(function.code.len(), |s| s.at as usize);
        match step.flow {
            Flow::Next => continue,
            Flow::Branch(target) | Flow::Jump(target) if inside(target) => {
                leads[(target - function.address) as usize] = true;
            }
            _ => {}
        }
        leads[next] = true;
    }
    for (_, targets) in &tables {
        for &target in targets {
            leads[(target - function.address) as usize] = true;
        }
    }

    // Of a target in the middle of an instruction, the block is the next one: it happens in data only.
    let mut block_at = vec![0u32; leads.len()];
    let mut built: Vec<Block> = Vec::new();
    let mut last: Vec<usize> = Vec::new();
    let mut covered = 0;
    for (i, step) in steps.iter().enumerate() {
        let at = step.at as usize;
        if leads[covered..=at].contains(&true) || built.is_empty() {
            built.push(Block {
                index: built.len() as u32,
                uses: 0,
                defs: 0,
                successors: Vec::new(),
            });
            last.push(i);
        }
        let index = built.len() - 1;
        block_at[covered..=at].fill(index as u32);
        covered = at + 1;
        let block = &mut built[index];
        block.uses |= step.uses & !block.defs;
        block.defs |= step.defs;
        last[index] = i;
    }
    let count = built.len() as u32;
    for (block, last) in built.iter_mut().zip(last) {
        let next = (block.index + 1 < count).then_some(block.index + 1);
        let block_of = |target: u64| block_at[(target - function.address) as usize];
        match steps[last].flow {
            Flow::Next | Flow::Call => block.successors.extend(next),
            Flow::Branch(target) => {
                block.successors.extend(next);
                block
                    .successors
                    .extend(inside(target).then(|| block_of(target)));
            }
            Flow::Jump(target) => block.successors.push(block_of(target)),
            Flow::Table(table) => {
                let known = tables.iter().find(|(t, _)| *t == table);
                block.successors.extend(
                    known
                        .iter()
                        .flat_map(|(_, targets)| targets.iter().map(|&t| block_of(t))),
                );
            }
            Flow::TailCall | Flow::Return | Flow::Stop => {}
        }
        block.successors.sort_unstable();
        block.successors.dedup();
    }
    built
}

/// A function's instructions, and its jump tables with their targets.
fn decode(function: &FunctionCode<'_>) -> (Vec<Decoded>, Vec<(u64, Vec<u64>)>) {
    let end = function.address + function.code.len() as u64;
    let inside = |target: u64| (function.address..end).contains(&target);
    let mut decoder = Decoder::with_ip(64, function.code, function.address, DecoderOptions::NONE);
    let mut factory = InstructionInfoFactory::new();
    let mut i = Instruction::default();
    let mut steps = Vec::new();
    // Data addresses that the code takes, in its order.
    let mut taken: Vec<u64> = Vec::new();
    let mut tables: Vec<(u64, Vec<u64>)> = Vec::new();
    while decoder.can_decode() {
        decoder.decode_out(&mut i);
        if i.code() == Code::INVALID {
            continue;
        }
        if i.mnemonic() == Mnemonic::Lea && i.is_ip_rel_memory_operand() {
            taken.push(i.ip_rel_memory_address());
        }
        let (mut uses, mut defs) = registers(&mut factory, &i);
        let direct = i.op_count() > 0 && matches!(i.op0_kind(), OpKind::NearBranch64);
        let flow = match i.flow_control() {
            FlowControl::Next | FlowControl::XbeginXabortXend => Flow::Next,
            FlowControl::Call | FlowControl::IndirectCall => {
                uses |= ARGUMENTS;
                defs |= CLOBBERED;
                Flow::Call
            }
            // System calls.
            FlowControl::Interrupt if i.mnemonic() != Mnemonic::Int3 => Flow::Call,
            FlowControl::Interrupt | FlowControl::Exception => Flow::Stop,
            FlowControl::ConditionalBranch => Flow::Branch(i.near_branch_target()),
            FlowControl::UnconditionalBranch if direct && inside(i.near_branch_target()) => {
                Flow::Jump(i.near_branch_target())
            }
            FlowControl::IndirectBranch
                if i.op0_kind() == OpKind::Register && !taken.is_empty() =>
            {
                Flow::Table(*taken.last().expect("it is not empty"))
            }
            FlowControl::UnconditionalBranch | FlowControl::IndirectBranch => Flow::TailCall,
            FlowControl::Return => Flow::Return,
        };
        match flow {
            Flow::TailCall => uses |= ARGUMENTS | CALLEE_SAVED,
            Flow::Return => uses |= RESULTS | CALLEE_SAVED,
            Flow::Table(table) if tables.iter().all(|(t, _)| *t != table) => {
                tables.push((table, Vec::new()))
            }
            _ => {}
        }
        steps.push(Decoded {
            at: (i.ip() - function.address) as u32,
            uses,
            defs,
            flow,
        });
    }
    taken.sort_unstable();
    for (table, targets) in &mut tables {
        let after = taken.partition_point(|t| t <= table);
        let end = taken.get(after).copied().unwrap_or(u64::MAX);
        for at in (*table..end).step_by(4) {
            let offset = function.data_u32(at).map(|o| i64::from(o as i32));
            let target = offset.map(|o| table.wrapping_add_signed(o));
            match target.filter(|&t| inside(t)) {
                Some(target) => targets.push(target),
                None => break,
            }
        }
        targets.sort_unstable();
        targets.dedup();
    }
    for step in &mut steps {
        if let Flow::Table(table) = step.flow
            && tables
                .iter()
                .any(|(t, targets)| *t == table && targets.is_empty())
        {
            step.uses |= ARGUMENTS | CALLEE_SAVED;
            step.flow = Flow::TailCall;
        }
    }
    (steps, tables)
}

/// What an instruction reads, and what it writes as a whole.
fn registers(factory: &mut InstructionInfoFactory, i: &Instruction) -> (u64, u64) {
    let (mut uses, mut defs) = (0, 0);
    for used in factory.info(i).used_registers() {
        let Some((bit, whole)) = register_bit(used.register()) else {
            continue;
        };
        match used.access() {
            OpAccess::Read | OpAccess::CondRead => uses |= bit,
            OpAccess::ReadWrite => {
                uses |= bit;
                defs |= if whole { bit } else { 0 };
            }
            OpAccess::ReadCondWrite => uses |= bit,
            OpAccess::Write => defs |= if whole { bit } else { 0 },
            OpAccess::CondWrite | OpAccess::None | OpAccess::NoMemAccess => {}
        }
    }
    uses |= u64::from(i.rflags_read()) << FLAGS & ALL_FLAGS;
    defs |= u64::from(i.rflags_modified()) << FLAGS & ALL_FLAGS;
    (uses, defs)
}

/// A register's bit, and whether writing it leaves nothing of the old value.
fn register_bit(register: Register) -> Option<(u64, bool)> {
    let number = register.number() as u32;
    if register.is_gpr() {
        // The high halves (ah and so on) are numbered on from the low ones.
        let full = register.full_register().number() as u32;
        Some((1 << full, register.is_gpr64() || register.is_gpr32()))
    } else if register.is_vector_register() {
        Some((1 << (VECTORS + number), true))
    } else if register.is_k() {
        Some((1 << (MASKS + number), true))
    } else {
        None
    }
}

/// What is live where each block begins, by a worklist: a block is looked at again when a successor's set grew.
///
/// ```
/// use vyre::Csr;
/// use vyre_analyses::{Cfg, liveness};
/// // Block 0 writes register 0, block 1 reads registers 0 and 1.
/// let successors = Csr::from_edges(2, &[(0, 1), (1, 1)]).unwrap();
/// let cfg = Cfg { successors, uses: vec![0, 3], defs: vec![1, 0] };
/// assert_eq!(liveness(&cfg), [2, 3]);
/// ```
pub fn liveness(cfg: &Cfg) -> Vec<u64> {
    let predecessors = cfg.predecessors();
    let nodes = cfg.uses.len();
    let mut live = cfg.uses.clone();
    // Later blocks first: sets flow backward.
    let mut waiting: Vec<u32> = (0..nodes as u32).collect();
    let mut waits = vec![true; nodes];
    while let Some(block) = waiting.pop() {
        waits[block as usize] = false;
        let after = cfg
            .successors
            .neighbors(block)
            .fold(0, |live_out, s| live_out | live[s as usize]);
        let before = cfg.uses[block as usize] | after & !cfg.defs[block as usize];
        if before != live[block as usize] {
            live[block as usize] = before;
            for p in predecessors.neighbors(block) {
                if !std::mem::replace(&mut waits[p as usize], true) {
                    waiting.push(p);
                }
            }
        }
    }
    live
}

/// Joins the graphs of several files, which are read in parallel.
pub fn of_files(paths: &[&Path]) -> Result<Cfg, ElfError> {
    let parts: Result<Vec<Cfg>, ElfError> =
        paths.par_iter().map(|path| Cfg::of_file(path)).collect();
    Cfg::join(parts?).map_err(|e| ElfError {
        path: paths
            .first()
            .map_or_else(Default::default, |p| p.to_path_buf()),
        kind: e.into(),
    })
}
