//! Call graphs of x86-64 ELF programs and libraries.
//!
//! A node is a function: a symbol, a range of the unwind table, or, where both were stripped, the target of a call.
//! Behind them are the functions of other files that this one calls, by name, without calls of their own. An edge says that running the one can lead to the other: a direct call or jump (tail calls too, also through the PLT),
//! or the other's address being taken. An address can be taken in code (`lea`) or sit in data that the code names, such
//! as a vtable; data is followed from pointer to pointer. Indirect calls need no edges of their own: whatever they can
//! call had its address taken somewhere. What the loader calls by itself (initialisers, ifunc resolvers) hangs on the
//! entry.
//!
//! So the graph errs on the side of reachability: what no path reaches is dead code as far as the machine code says.

use crate::files;
use crate::graph::{Functions, Graph};
use iced_x86::{Code, Decoder, DecoderOptions, Instruction, Mnemonic, OpKind, Register};
use object::Endianness;
use object::elf;
use object::read::elf::{
    Dyn as _, FileHeader as _, ProgramHeader as _, SectionHeader as _, Sym as _,
};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::path::{Path, PathBuf};
use thiserror::Error;
use vyre::{Csr, CsrError};

/// A file without a call graph that we can read.
#[derive(Debug, Error)]
#[error("{}: {kind}", path.display())]
pub struct ElfError {
    /// Which file.
    pub path: PathBuf,
    /// What is wrong with it.
    #[source]
    pub kind: ElfErrorKind,
}

/// Why there is no call graph.
#[derive(Debug, Error)]
pub enum ElfErrorKind {
    /// The file cannot be read.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// It does not start as a 64-bit ELF file does.
    #[error("not a 64-bit ELF file")]
    NotElf,
    /// Its header is sound, something behind it is not.
    #[error("damaged ELF file: {0}")]
    Damaged(#[from] object::Error),
    /// Machine code of another processor.
    #[error("machine {0} is not x86-64 (62)")]
    Machine(u16),
    /// An object file: its calls are not resolved yet.
    #[error("a relocatable object file; link it first")]
    Relocatable,
    /// No function was found.
    #[error("no functions")]
    NoFunctions,
    /// More functions or edges than u32 indices can name.
    #[error(transparent)]
    Csr(#[from] CsrError),
}

/// Reads the call graph of an executable or shared library.
pub fn call_graph(path: &Path) -> Result<Graph, ElfError> {
    let read = || call_graph_of(&files::read(path)?);
    read().map_err(|kind| ElfError {
        path: path.into(),
        kind,
    })
}

/// Reads the call graph from the bytes of an ELF file.
pub fn call_graph_of(bytes: &[u8]) -> Result<Graph, ElfErrorKind> {
    let image = Image::new(bytes)?;
    let mut starts = image.starts.clone();
    let mut functions = image.functions(&starts);
    let mut references: HashMap<Range<u64>, References> = HashMap::new();
    // Each turn may find functions that only calls know of; binaries with symbols or unwind tables need one turn.
    for _ in 0..MAX_DISCOVERY_TURNS {
        let fresh: Vec<_> = functions
            .par_iter()
            .filter(|f| !references.contains_key(&f.range))
            .map(|f| (f.range.clone(), image.references(f)))
            .collect();
        references.extend(fresh);
        let known = starts.len();
        for function in &functions {
            for &target in &references[&function.range].starts {
                if image.is_code(target) && is_new(&functions, target) {
                    starts.entry(target).or_default();
                }
            }
        }
        for &target in image.pointers.values() {
            let plausible = !image.fixed || target.is_multiple_of(16);
            if plausible && image.is_code(target) && is_new(&functions, target) {
                starts.entry(target).or_default();
            }
        }
        if starts.len() == known {
            break;
        }
        functions = image.functions(&starts);
        references.retain(|range, _| {
            locate(&functions, range.start).is_some_and(|i| functions[i].range == *range)
        });
    }
    references.extend(
        functions
            .par_iter()
            .filter(|f| !references.contains_key(&f.range))
            .map(|f| (f.range.clone(), image.references(f)))
            .collect::<Vec<_>>(),
    );
    image.graph(&functions, &references)
}

/// A loaded program with the functions that the file names (by symbol, unwind table or entry), in order of their
/// addresses: for who decodes them.
pub(crate) struct Program<'a> {
    image: Image<'a>,
    functions: Vec<Function>,
}

/// The machine code of one function.
pub(crate) struct FunctionCode<'a> {
    /// Demangled name, or one by its address.
    pub(crate) name: String,
    /// Address of the first instruction.
    pub(crate) address: u64,
    /// Its bytes; less than its size where the file holds less.
    pub(crate) code: &'a [u8],
}

/// What a branch or call leads to.
pub(crate) enum Target<'a> {
    /// The start of a function.
    Function(usize),
    /// A function of another file.
    Import(&'a str),
    Unknown,
}

impl<'a> Program<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Result<Program<'a>, ElfErrorKind> {
        let image = Image::new(bytes)?;
        let functions = image.functions(&image.starts);
        if functions.is_empty() {
            return Err(ElfErrorKind::NoFunctions);
        }
        Ok(Program { image, functions })
    }

    pub(crate) fn function_count(&self) -> usize {
        self.functions.len()
    }

    pub(crate) fn function(&self, index: usize) -> FunctionCode<'a> {
        let function = &self.functions[index];
        let Range { start, end } = function.range;
        FunctionCode {
            name: function.shown_name(),
            address: start,
            code: self
                .image
                .bytes(start, (end - start) as usize)
                .unwrap_or_default(),
        }
    }

    /// What code at an address is, also through a PLT stub.
    pub(crate) fn at(&self, address: u64) -> Target<'_> {
        if let Some(slot) = self.image.stub_slot(address) {
            return self.in_slot(slot);
        }
        let of = locate(&self.functions, address);
        match of.filter(|&f| self.functions[f].range.start == address) {
            Some(function) => Target::Function(function),
            None => Target::Unknown,
        }
    }

    /// What the loader puts into a slot.
    pub(crate) fn in_slot(&self, slot: u64) -> Target<'_> {
        if let Some(name) = self.image.imports.get(&slot) {
            return Target::Import(name);
        }
        let target = self.image.pointers.get(&slot);
        let function = target.and_then(|&t| locate(&self.functions, t).map(|f| (f, t)));
        match function {
            Some((f, t)) if self.functions[f].range.start == t => Target::Function(f),
            _ => Target::Unknown,
        }
    }

    /// A little-endian word of the program's data; `None` in code and where nothing is loaded.
    pub(crate) fn data_u32(&self, address: u64) -> Option<u32> {
        self.image
            .u32(address)
            .filter(|_| self.image.is_data(address))
    }

    /// As [`Program::data_u32`]; a pointer where the loader puts one there.
    pub(crate) fn data_u64(&self, address: u64) -> Option<u64> {
        let pointer = self.image.pointers.get(&address).copied();
        pointer.or_else(|| {
            self.image
                .u64(address)
                .filter(|_| self.image.is_data(address))
        })
    }

    pub(crate) fn is_code(&self, address: u64) -> bool {
        self.image.is_code(address)
    }
}

const MAX_DISCOVERY_TURNS: usize = 32;

/// Whether `target` lies in no function, or inside one whose end was only guessed.
fn is_new(functions: &[Function], target: u64) -> bool {
    match locate(functions, target) {
        None => true,
        Some(i) => !functions[i].sized && functions[i].range.start != target,
    }
}

/// Where a function starts, and what is known about it.
#[derive(Clone, Debug, Default)]
struct Start {
    size: u64,
    name: Option<String>,
}

struct Function {
    range: Range<u64>,
    /// The end comes from the file, it is not a guess.
    sized: bool,
    /// The function goes on in the next one.
    falls_through: bool,
    name: Option<String>,
}

impl Function {
    fn shown_name(&self) -> String {
        match &self.name {
            Some(name) => format!("{:#}", rustc_demangle::demangle(name)),
            None => format!("fn_{:x}", self.range.start),
        }
    }
}

fn locate(functions: &[Function], address: u64) -> Option<usize> {
    let after = functions.partition_point(|f| f.range.start <= address);
    let i = after.checked_sub(1)?;
    functions[i].range.contains(&address).then_some(i)
}

/// What a function's code names.
#[derive(Default)]
struct References {
    /// Targets of branches out of the function.
    branches: Vec<u64>,
    /// Call targets and taken addresses in code: function starts.
    starts: Vec<u64>,
    /// Addresses taken of data.
    data: Vec<u64>,
    /// 8-byte slots of data that are read.
    slots: Vec<u64>,
}

/// A loaded program.
struct Image<'a> {
    /// Loaded file contents, by address, without overlaps.
    loads: Vec<(u64, &'a [u8])>,
    /// Machine code, without PLT stubs; sorted, disjoint.
    code: Vec<Range<u64>>,
    /// PLT stubs.
    stubs: Vec<Range<u64>>,
    /// Position-dependent: addresses appear as immediates and in data without relocations.
    fixed: bool,
    /// Functions that the file names.
    starts: BTreeMap<u64, Start>,
    /// Objects in data that the file names.
    objects: BTreeSet<u64>,
    /// Pointers in data: slot to target.
    pointers: BTreeMap<u64, u64>,
    /// Slots for addresses of other files' functions, and their names.
    imports: BTreeMap<u64, String>,
    /// Where execution starts; `None` in a library.
    entry: Option<u64>,
    /// What the loader calls (of a library: its exports too).
    roots: BTreeSet<u64>,
}

type Header = elf::FileHeader64<Endianness>;

impl<'a> Image<'a> {
    fn new(bytes: &'a [u8]) -> Result<Image<'a>, ElfErrorKind> {
        let header = Header::parse(bytes).map_err(|_| ElfErrorKind::NotElf)?;
        let endian = header.endian()?;
        let machine = header.e_machine(endian);
        if machine != elf::EM_X86_64 {
            return Err(ElfErrorKind::Machine(machine.0));
        }
        if header.e_type(endian) == elf::ET_REL {
            return Err(ElfErrorKind::Relocatable);
        }
        let segments = header.program_headers(endian, bytes)?;
        let sections = header.sections(endian, bytes)?;

        let mut image = Image {
            loads: Vec::new(),
            code: Vec::new(),
            stubs: Vec::new(),
            fixed: header.e_type(endian) == elf::ET_EXEC,
            starts: BTreeMap::new(),
            objects: BTreeSet::new(),
            pointers: BTreeMap::new(),
            imports: BTreeMap::new(),
            entry: None,
            roots: BTreeSet::new(),
        };
        let mut executable = Vec::new();
        for segment in segments {
            if segment.p_type(endian) == elf::PT_LOAD {
                let data = segment.data(endian, bytes).unwrap_or_default();
                let address = segment.p_vaddr(endian);
                image.loads.push((address, data));
                if segment.p_flags(endian).contains(elf::PF_X) {
                    executable.push(address..address.saturating_add(data.len() as u64));
                }
            }
        }
        image
            .loads
            .sort_by_key(|&(address, data)| (address, data.len()));
        let mut end = 0;
        image.loads.retain(|&(address, data)| {
            let disjoint = address >= end && address.checked_add(data.len() as u64).is_some();
            if disjoint {
                end = address + data.len() as u64;
            }
            disjoint
        });

        let mut relocations = BTreeSet::new();
        for section in sections.iter() {
            let start = section.sh_addr(endian);
            let range = start..start.saturating_add(section.sh_size(endian));
            let flags = section.sh_flags(endian);
            let name = sections.section_name(endian, section).unwrap_or_default();
            if !flags.contains(elf::SHF_ALLOC) {
                continue;
            }
            if flags.contains(elf::SHF_EXECINSTR) {
                let of = if name.starts_with(b".plt") {
                    &mut image.stubs
                } else {
                    &mut image.code
                };
                of.push(range);
            } else if section.sh_type(endian) == elf::SHT_RELA {
                relocations.insert((range.start, section.sh_size(endian)));
            } else if matches!(name, b".init_array" | b".fini_array" | b".preinit_array") {
                let slots = image.words(range.start, section.sh_size(endian));
                image.roots.extend(slots.map(|(slot, _)| slot));
            }
        }
        if image.code.is_empty() {
            image.code = executable;
        }
        image.code = image.loaded(&image.code);
        image.stubs = image.loaded(&image.stubs);

        let mut exports = BTreeSet::new();
        for kind in [elf::SHT_SYMTAB, elf::SHT_DYNSYM] {
            let symbols = sections.symbols(endian, bytes, kind)?;
            for symbol in symbols.iter() {
                let address = symbol.st_value(endian);
                if symbol.is_undefined(endian) || symbol.st_shndx(endian) == elf::SHN_ABS {
                    continue;
                }
                match symbol.st_type() {
                    elf::STT_FUNC | elf::STT_GNU_IFUNC | elf::STT_NOTYPE
                        if image.is_code(address) =>
                    {
                        // Untyped symbols in code are labels; only global ones start functions (hand-written code).
                        let local = symbol.st_bind() == elf::STB_LOCAL;
                        if symbol.st_type() == elf::STT_NOTYPE && local {
                            continue;
                        }
                        let name = symbols.symbol_name(endian, symbol).unwrap_or_default();
                        image.add_symbol(address, symbol.st_size(endian), name);
                        if kind == elf::SHT_DYNSYM && !local {
                            exports.insert(address);
                        }
                    }
                    elf::STT_OBJECT => {
                        image.objects.insert(address);
                    }
                    _ => {}
                }
            }
        }

        let mut library = false;
        let (mut symbol_table, mut strings) = (None, None);
        for segment in segments {
            match segment.p_type(endian) {
                elf::PT_GNU_EH_FRAME => image.add_unwind_ranges(segment.p_vaddr(endian)),
                elf::PT_DYNAMIC => {
                    let entries = segment.dynamic(endian, bytes)?.unwrap_or_default();
                    let value = |tag: elf::DynamicTag| {
                        let entry = entries.iter().find(|d| d.d_tag(endian) == tag);
                        entry.map(|d| d.d_val(endian))
                    };
                    library |= value(elf::DT_SONAME).is_some();
                    symbol_table = symbol_table.or(value(elf::DT_SYMTAB));
                    strings = strings.or(value(elf::DT_STRTAB));
                    for (table, size) in [
                        (elf::DT_RELA, elf::DT_RELASZ),
                        (elf::DT_JMPREL, elf::DT_PLTRELSZ),
                    ] {
                        relocations.extend(value(table).zip(value(size)));
                    }
                    if let Some((table, size)) = value(elf::DT_RELR).zip(value(elf::DT_RELRSZ)) {
                        image.add_packed_relocations(table, size);
                    }
                    image
                        .roots
                        .extend([elf::DT_INIT, elf::DT_FINI].into_iter().filter_map(value));
                    for (array, size) in [
                        (elf::DT_PREINIT_ARRAY, elf::DT_PREINIT_ARRAYSZ),
                        (elf::DT_INIT_ARRAY, elf::DT_INIT_ARRAYSZ),
                        (elf::DT_FINI_ARRAY, elf::DT_FINI_ARRAYSZ),
                    ] {
                        if let Some((array, size)) = value(array).zip(value(size)) {
                            let slots = image.words(array, size);
                            image.roots.extend(slots.map(|(slot, _)| slot));
                        }
                    }
                }
                _ => {}
            }
        }
        for (table, size) in relocations {
            image.add_relocations(table, size, symbol_table, strings);
        }
        if image.fixed {
            image.add_plain_pointers();
        }

        // So far initialisers are the slots that hold them.
        let roots = std::mem::take(&mut image.roots);
        let target = |root| image.pointers.get(&root).copied().unwrap_or(root);
        let roots: BTreeSet<u64> = roots.into_iter().map(target).collect();
        image.roots = roots;
        let entry = header.e_entry(endian);
        if !library && image.is_code(entry) {
            image.entry = Some(entry);
            let start = image.starts.entry(entry).or_default();
            start.name.get_or_insert_with(|| "_start".into());
        } else {
            image.roots.extend(exports);
        }
        for root in image.roots.clone() {
            if image.is_code(root) {
                image.starts.entry(root).or_default();
            }
        }
        Ok(image)
    }

    /// The loaded parts of some ranges, sorted and disjoint.
    fn loaded(&self, ranges: &[Range<u64>]) -> Vec<Range<u64>> {
        let mut parts: Vec<Range<u64>> = Vec::new();
        for range in ranges {
            for &(address, data) in &self.loads {
                let start = range.start.max(address);
                let end = range.end.min(address + data.len() as u64);
                if start < end {
                    parts.push(start..end);
                }
            }
        }
        parts.sort_by_key(|r| (r.start, r.end));
        let mut end = 0;
        parts.retain_mut(|part| {
            part.start = part.start.max(end);
            end = end.max(part.end);
            part.start < part.end
        });
        parts
    }

    fn bytes(&self, address: u64, len: usize) -> Option<&'a [u8]> {
        self.rest(address)?.get(..len)
    }

    /// What is loaded from an address on.
    fn rest(&self, address: u64) -> Option<&'a [u8]> {
        let after = self.loads.partition_point(|&(start, _)| start <= address);
        let (start, data) = self.loads[after.checked_sub(1)?];
        data.get(usize::try_from(address - start).ok()?..)
    }

    fn u64(&self, address: u64) -> Option<u64> {
        let bytes = self.bytes(address, 8)?;
        Some(u64::from_le_bytes(
            bytes.try_into().expect("eight bytes were asked for"),
        ))
    }

    fn u32(&self, address: u64) -> Option<u32> {
        let bytes = self.bytes(address, 4)?;
        Some(u32::from_le_bytes(
            bytes.try_into().expect("four bytes were asked for"),
        ))
    }

    /// The 8-byte words of a table, with their addresses, as far as they are loaded.
    fn words(&self, table: u64, size_bytes: u64) -> impl Iterator<Item = (u64, u64)> + use<'a> {
        let len = usize::try_from(size_bytes).unwrap_or(usize::MAX);
        let bytes = self.bytes(table, len).unwrap_or_default();
        let words = bytes.as_chunks::<8>().0.iter().enumerate();
        words.map(move |(i, &word)| (table + 8 * i as u64, u64::from_le_bytes(word)))
    }

    fn is_code(&self, address: u64) -> bool {
        region(&self.code, address).is_some()
    }

    fn is_data(&self, address: u64) -> bool {
        self.bytes(address, 1).is_some() && !self.is_code(address)
    }

    fn add_symbol(&mut self, address: u64, size: u64, name: &[u8]) {
        let name = String::from_utf8_lossy(name);
        let start = self.starts.entry(address).or_default();
        start.size = start.size.max(size);
        // Of several names the first in length and alphabet, so that the choice does not depend on the table's order.
        let order = |n: &str| (n.len(), n.to_string());
        if !name.is_empty()
            && start
                .name
                .as_ref()
                .is_none_or(|old| order(&name) < order(old))
        {
            start.name = Some(name.into_owned());
        }
    }

    /// Functions from the sorted table of `.eh_frame_hdr` (Linux Standard Base, 10.6.2).
    fn add_unwind_ranges(&mut self, header: u64) {
        const USUAL_ENCODINGS: [u8; 4] = [1, 0x1b, 0x03, 0x3b];
        if self.bytes(header, 4) != Some(&USUAL_ENCODINGS) {
            return;
        }
        let relative = |base: u64, offset: u32| base.wrapping_add_signed(i64::from(offset as i32));
        let count = self.u32(header + 8).unwrap_or(0);
        for i in 0..u64::from(count) {
            let entry = header + 12 + 8 * i;
            let Some((start, record)) = self.u32(entry).zip(self.u32(entry + 4)) else {
                break;
            };
            let (start, record) = (relative(header, start), relative(header, record));
            if !self.is_code(start) {
                continue;
            }
            // Length, CIE, first pc, number of bytes; the pc tells whether its encoding is the usual one.
            let pc = record.wrapping_add(8);
            let size = match self.u32(pc).zip(self.u32(pc.wrapping_add(4))) {
                Some((offset, size)) if relative(pc, offset) == start => u64::from(size),
                _ => 0,
            };
            let before = self.starts.range(..start).next_back();
            let inside = before.is_some_and(|(&b, s)| s.name.is_some() && start - b < s.size);
            if !inside {
                let known = self.starts.entry(start).or_default();
                known.size = known.size.max(size);
            }
        }
    }

    fn add_relocations(
        &mut self,
        table: u64,
        size_bytes: u64,
        symbol_table: Option<u64>,
        strings: Option<u64>,
    ) {
        const SYMBOL_BYTES: u64 = 24;
        let words: Vec<u64> = self
            .words(table, size_bytes)
            .map(|(_, word)| word)
            .collect();
        for &[slot, info, addend] in words.as_chunks::<3>().0 {
            match elf::RelocationType(info as u32) {
                elf::R_X86_64_RELATIVE => {
                    self.pointers.insert(slot, addend);
                }
                elf::R_X86_64_IRELATIVE => {
                    self.pointers.insert(slot, addend);
                    self.roots.insert(addend);
                }
                elf::R_X86_64_64 | elf::R_X86_64_GLOB_DAT | elf::R_X86_64_JUMP_SLOT => {
                    let Some(symbol) =
                        symbol_table.and_then(|t| t.checked_add(SYMBOL_BYTES * (info >> 32)))
                    else {
                        continue;
                    };
                    let value = symbol.checked_add(8).and_then(|at| self.u64(at));
                    if let Some(value) = value.filter(|&value| value != 0) {
                        self.pointers.insert(slot, value.wrapping_add(addend));
                    } else if let Some(name) = self.import_name(symbol, strings) {
                        self.imports.insert(slot, name);
                    }
                }
                _ => {}
            }
        }
    }

    /// The name of an undefined symbol that can be a function.
    fn import_name(&self, symbol: u64, strings: Option<u64>) -> Option<String> {
        const LONGEST_NAME: usize = 1 << 16;
        let kind = elf::SymbolType(*self.bytes(symbol.checked_add(4)?, 1)?.first()? & 15);
        if ![elf::STT_NOTYPE, elf::STT_FUNC, elf::STT_GNU_IFUNC].contains(&kind) {
            return None;
        }
        let at = strings?.checked_add(self.u32(symbol)?.into())?;
        let name = self.rest(at)?;
        let len = name.iter().take(LONGEST_NAME).position(|&b| b == 0)?;
        let name = String::from_utf8_lossy(&name[..len]);
        (!name.is_empty()).then(|| name.into_owned())
    }

    /// Relocations packed as bitmaps (`DT_RELR`): the slots hold their targets.
    fn add_packed_relocations(&mut self, table: u64, size_bytes: u64) {
        let mut slots = Vec::new();
        let mut next = 0u64;
        for (_, word) in self.words(table, size_bytes) {
            if word & 1 == 0 {
                slots.push(word);
                next = word.wrapping_add(8);
            } else {
                let bits = (0..63).filter(|bit| word >> (bit + 1) & 1 != 0);
                slots.extend(bits.map(|bit| next.wrapping_add(8 * bit)));
                next = next.wrapping_add(8 * 63);
            }
        }
        for slot in slots {
            if let Some(target) = self.u64(slot) {
                self.pointers.insert(slot, target);
            }
        }
    }

    /// In a position-dependent program, every aligned word of data that looks like an address.
    fn add_plain_pointers(&mut self) {
        let mut found = Vec::new();
        for &(address, data) in &self.loads {
            let first = address.next_multiple_of(8);
            let skipped = first - address;
            let size = (data.len() as u64).saturating_sub(skipped);
            let words = self.words(first, size);
            found.extend(words.filter(|&(slot, word)| {
                !self.is_code(slot) && (self.is_code(word) || self.is_data(word))
            }));
        }
        for (slot, target) in found {
            self.pointers.entry(slot).or_insert(target);
        }
    }

    fn functions(&self, starts: &BTreeMap<u64, Start>) -> Vec<Function> {
        let mut functions = Vec::with_capacity(starts.len());
        let mut starts = starts.iter().peekable();
        while let Some((&start, known)) = starts.next() {
            let Some(region) = region(&self.code, start) else {
                continue;
            };
            let end = match known.size {
                0 => region.end,
                size => start.saturating_add(size).min(region.end),
            };
            let next = starts.peek().map_or(u64::MAX, |(next, _)| **next);
            functions.push(Function {
                range: start..end.min(next),
                sized: known.size > 0,
                falls_through: known.size > 0 && next < end,
                name: known.name.clone(),
            });
        }
        functions
    }

    /// Decodes a function.
    fn references(&self, function: &Function) -> References {
        let mut found = References::default();
        let range = &function.range;
        let len = (range.end - range.start) as usize;
        let bytes = self.bytes(range.start, len).unwrap_or_default();
        let mut decoder = Decoder::with_ip(64, bytes, range.start, DecoderOptions::NONE);
        let mut instruction = Instruction::default();
        while decoder.can_decode() {
            decoder.decode_out(&mut instruction);
            if instruction.code() == Code::INVALID {
                continue;
            }
            for operand in 0..instruction.op_count() {
                self.operand(&instruction, operand, range, &mut found);
            }
        }
        for list in [
            &mut found.branches,
            &mut found.starts,
            &mut found.data,
            &mut found.slots,
        ] {
            list.sort_unstable();
            list.dedup();
        }
        found
    }

    fn operand(&self, i: &Instruction, operand: u32, own: &Range<u64>, found: &mut References) {
        let mut address_taken = |address: u64| {
            if self.is_code(address) {
                if !own.contains(&address) || address == own.start {
                    found.starts.push(address);
                }
            } else if self.is_data(address) {
                found.data.push(address);
            }
        };
        match i.op_kind(operand) {
            OpKind::NearBranch64 => {
                let target = i.near_branch_target();
                if i.mnemonic() == Mnemonic::Call {
                    found.starts.push(target);
                } else if !own.contains(&target) {
                    found.branches.push(target);
                }
            }
            OpKind::Memory if i.is_ip_rel_memory_operand() => {
                let address = i.ip_rel_memory_address();
                match i.mnemonic() {
                    Mnemonic::Lea => address_taken(address),
                    Mnemonic::Call | Mnemonic::Jmp => found.slots.push(address),
                    // Vector loads read two pointers at once.
                    _ => found.slots.extend([address, address.wrapping_add(8)]),
                }
            }
            OpKind::Memory if self.fixed && i.memory_base() == Register::None => {
                address_taken(i.memory_displacement64());
            }
            OpKind::Immediate32 | OpKind::Immediate64 | OpKind::Immediate32to64 if self.fixed => {
                address_taken(i.immediate(operand));
            }
            _ => {}
        }
    }

    /// The slot that a PLT stub jumps through.
    fn stub_slot(&self, stub: u64) -> Option<u64> {
        const LONGEST_STUB: u64 = 16;
        let region = region(&self.stubs, stub)?;
        let len = LONGEST_STUB.min(region.end - stub) as usize;
        let decoder = Decoder::with_ip(64, self.bytes(stub, len)?, stub, DecoderOptions::NONE);
        let jump = decoder
            .into_iter()
            .find(|i| i.mnemonic() == Mnemonic::Jmp)?;
        jump.is_ip_rel_memory_operand()
            .then(|| jump.ip_rel_memory_address())
    }

    fn graph(
        &self,
        functions: &[Function],
        references: &HashMap<Range<u64>, References>,
    ) -> Result<Graph, ElfErrorKind> {
        if functions.is_empty() {
            return Err(ElfErrorKind::NoFunctions);
        }
        let data = Data::new(self, functions, references);
        let imports: BTreeSet<&str> = self.imports.values().map(String::as_str).collect();
        let imports: Vec<&str> = imports.into_iter().collect();
        let imported = |slot: u64| {
            let name = self.imports.get(&slot)?;
            let at = imports.binary_search(&name.as_str()).ok()?;
            Some(functions.len() + at)
        };
        let mut callees: Vec<Vec<u32>> = functions
            .par_iter()
            .enumerate()
            .map(|(index, function)| {
                let refs = &references[&function.range];
                let mut callees = Vec::new();
                for &target in refs.branches.iter().chain(&refs.starts) {
                    callees.extend(match self.stub_slot(target) {
                        None => locate(functions, target),
                        Some(slot) => match self.pointers.get(&slot) {
                            Some(&t) => locate(functions, t),
                            None => imported(slot),
                        },
                    });
                }
                if function.falls_through {
                    callees.push(index + 1);
                }
                callees.extend(refs.slots.iter().filter_map(|&slot| imported(slot)));
                let pointed = refs.slots.iter().filter_map(|slot| self.pointers.get(slot));
                let named = refs.data.iter().chain(pointed).copied();
                data.reach(named, &mut callees);
                let mut callees: Vec<u32> = callees.into_iter().map(|f| f as u32).collect();
                callees.sort_unstable();
                callees.dedup();
                callees
            })
            .collect();

        let mut known = Functions {
            names: functions.iter().map(Function::shown_name).collect(),
            addresses: functions.iter().map(|f| f.range.start).collect(),
            sizes_bytes: functions
                .iter()
                .map(|f| f.range.end - f.range.start)
                .collect(),
            entry: None,
        };
        for import in &imports {
            known
                .names
                .push(format!("{:#}", rustc_demangle::demangle(import)));
            known.addresses.push(0);
            known.sizes_bytes.push(0);
            callees.push(Vec::new());
        }
        let roots = self.roots.iter().filter_map(|&r| locate(functions, r));
        let roots: Vec<u32> = roots.map(|f| f as u32).collect();
        let entry = match self.entry.and_then(|e| locate(functions, e)) {
            Some(entry) => {
                callees[entry].extend(roots);
                callees[entry].sort_unstable();
                callees[entry].dedup();
                Some(entry as u32)
            }
            None if roots.is_empty() => None,
            None => {
                known.names.push("(exported functions)".into());
                known.addresses.push(0);
                known.sizes_bytes.push(0);
                callees.push(roots);
                Some(known.names.len() as u32 - 1)
            }
        };
        known.entry = entry;

        let ends: Vec<(u32, u32)> = (0u32..)
            .zip(&callees)
            .flat_map(|(f, callees)| callees.iter().map(move |&c| (f, c)))
            .collect();
        Ok(Graph {
            csr: Csr::from_edges(known.names.len(), &ends)?,
            weights: None,
            functions: Some(known),
            cfg: None,
            symmetric: false,
        })
    }
}

fn region(regions: &[Range<u64>], address: u64) -> Option<&Range<u64>> {
    let after = regions.partition_point(|r| r.start <= address);
    let region = regions.get(after.checked_sub(1)?)?;
    region.contains(&address).then_some(region)
}

/// Data as objects: a named address up to the next one.
struct Data<'a> {
    image: &'a Image<'a>,
    functions: &'a [Function],
    /// First addresses of objects, ascending.
    objects: Vec<u64>,
}

impl<'a> Data<'a> {
    fn new(
        image: &'a Image<'a>,
        functions: &'a [Function],
        references: &HashMap<Range<u64>, References>,
    ) -> Data<'a> {
        let mut objects: Vec<u64> = image.objects.iter().copied().collect();
        objects.extend(image.pointers.values().filter(|&&t| !image.is_code(t)));
        for refs in references.values() {
            objects.extend(&refs.data);
            objects.extend(&refs.slots);
        }
        objects.sort_unstable();
        objects.dedup();
        Data {
            image,
            functions,
            objects,
        }
    }

    /// Adds the functions whose addresses can be read from here on: the functions among `named`, and those that the
    /// objects among them hold, from pointer to pointer.
    fn reach(&self, named: impl Iterator<Item = u64>, functions: &mut Vec<usize>) {
        let mut seen = BTreeSet::new();
        let mut waiting: Vec<u64> = named.collect();
        while let Some(address) = waiting.pop() {
            if self.image.is_code(address) {
                // A pointer into the middle of a function is a jump table's.
                functions.extend(
                    locate(self.functions, address)
                        .filter(|&f| self.functions[f].range.start == address),
                );
                continue;
            }
            // An address inside an object stands for the whole object.
            let after = self.objects.partition_point(|&o| o <= address);
            let start = self.objects[after.saturating_sub(1)].min(address);
            if seen.insert(start) {
                let end = self.objects.get(after).copied().unwrap_or(u64::MAX);
                waiting.extend(self.image.pointers.range(start..end).map(|(_, &t)| t));
            }
        }
    }
}
