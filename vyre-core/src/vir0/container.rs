//! The VIR0 container: the one byte format of a [`Program`]. `docs/VIR0.md` describes it.
//!
//! The format is canonical: one program, one byte string. [`decode`] refuses whatever [`encode`] would not write, so
//! `encode(&decode(bytes)?) == bytes`. Decoding checks the shape only; [`crate::vir0::verify`] judges the contents.
//!
//! ```
//! use vyre_core::vir0::container::{decode, encode};
//! use vyre_core::vir0::module::{Program, Step};
//! let program = Program { name: "empty".into(), schedule: vec![Step::End], ..Program::default() };
//! let bytes = encode(&program);
//! assert_eq!(&bytes[..4], b"VIR0");
//! assert_eq!(decode(&bytes), Ok(program));
//! assert!(decode(&bytes[..bytes.len() - 1]).is_err());
//! ```

use crate::vir0::fingerprint::{Fingerprint, fnv1a};
use crate::vir0::isa::Word;
use crate::vir0::length::{Length, LengthOp, Term};
use crate::vir0::manifest::{Claim, Manifest, Measured, Proof, Stale};
use crate::vir0::module::{
    Access, Agreement, Bound, Buffer, BufferId, Constant, ConstantId, Domain, Extent, Fixpoint,
    FixpointId, FrontierId, ItemRows, Kernel, KernelId, Least, LengthId, ListId, Mode, NodeRef,
    Parts, PartsId, Portion, Program, Proviso, Queue, QueueId, Reason, ReduceOp, Reduction,
    ReductionId, Resource, Role, ScalarId, ScalarParam, SiteId, Step, Topology, TopologyId,
    Uniform, UpdateOp, Wave, WaveId, Why, Width,
};
use crate::vir0::scalar::Scalar;
use crate::vir0::trap::Site;
use crate::vir0::verify::{VerifyError, verify};
use thiserror::Error;

/// First bytes of every container.
pub const MAGIC: [u8; 4] = *b"VIR0";
/// Version of the format.
pub const VERSION: u16 = 1;
/// The header's flags: none has a meaning.
const FLAGS: u16 = 0;
/// Bytes before the section table: magic, version, flags, content hash, number of sections.
pub const HEADER_BYTES: usize = 20;
/// Bytes of one row of the section table: id, offset, length.
pub const SECTION_ROW_BYTES: usize = 12;

/// The sections, in file order. The discriminant is the id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum Section {
    /// Topologies, buffers, frontiers, lists, reductions, scalars, computed lengths, resets.
    Buffers = 1,
    /// The constant pool.
    Constants = 2,
    /// Rows, frames, item rows, uniforms and code of each kernel.
    Kernels = 3,
    /// Waves, fixpoints and the steps.
    Schedule = 4,
    /// Program name, agreement and manifest.
    Manifest = 5,
    /// Names and sites of the kernels, the source positions, and the messages.
    Debug = 6,
}

impl Section {
    /// Every section, in file order.
    pub const ALL: [Section; 6] = [
        Section::Buffers,
        Section::Constants,
        Section::Kernels,
        Section::Schedule,
        Section::Manifest,
        Section::Debug,
    ];
}

/// Why bytes are not a VIR0 container. Offsets count from its start.
#[derive(Clone, Error, PartialEq, Eq)]
pub enum DecodeError {
    /// The first four bytes.
    #[error("not a VIR0 container: it starts with {0:02x?}")]
    Magic([u8; 4]),
    /// Another version of the format.
    #[error("VIR0 version {0} is not supported; this build reads version {VERSION}")]
    Version(u16),
    /// Flag bits without a meaning.
    #[error("unknown flags {0:#06x}")]
    Flags(u16),
    /// The section table is not the one that `encode` writes.
    #[error(
        "section {section:?} stands as id {id} at {offset}, {len} bytes; expected at {expected}"
    )]
    SectionTable {
        /// The section expected in this row.
        section: Section,
        /// Its id as written.
        id: u32,
        /// Its offset as written.
        offset: u32,
        /// Its length as written.
        len: u32,
        /// Where it must start.
        expected: u32,
    },
    /// A section ends before its contents do, or the file before its sections.
    #[error("truncated at byte {at}: {needed} more bytes are needed, {left} are left")]
    Truncated {
        /// Position.
        at: usize,
        /// Bytes that the next item takes at least.
        needed: u64,
        /// Bytes left in the section.
        left: usize,
    },
    /// A section or the file holds more than its contents.
    #[error("{bytes} bytes too many at byte {at}")]
    Trailing {
        /// Position of the first one.
        at: usize,
        /// How many.
        bytes: usize,
    },
    /// A tag byte without a meaning.
    #[error("byte {at}: {value} is not a {what}")]
    Tag {
        /// Position.
        at: usize,
        /// The type it should select in.
        what: &'static str,
        /// The byte.
        value: u8,
    },
    /// A string is not UTF-8.
    #[error("the string at byte {at} is not utf-8")]
    Utf8 {
        /// Position of its first byte.
        at: usize,
    },
    /// Resets are of buffers and frontiers, in the order of these, one for each.
    #[error("{0:?} does not exist or never begins anew, or its reset is out of order")]
    Reset(Resource),
    /// The debug section describes another number of kernels.
    #[error("debug information for {debug} kernels; there are {kernels}")]
    DebugKernels {
        /// Kernels in the debug section.
        debug: usize,
        /// Kernels.
        kernels: usize,
    },
    /// The contents are not those the hash was taken of.
    #[error("content hash is {actual:#018x}; the header says {expected:#018x}")]
    Hash {
        /// In the header.
        expected: u64,
        /// Of the contents.
        actual: u64,
    },
}

crate::debug_is_display!(DecodeError);

/// Writes a program in its one byte format.
pub fn encode(program: &Program) -> Vec<u8> {
    let sections = Section::ALL.map(|section| encode_section(program, section));
    let mut out = MAGIC.to_vec();
    VERSION.put(&mut out);
    FLAGS.put(&mut out);
    hash_sections(program, sections.each_ref().map(Vec::as_slice)).put(&mut out);
    put_len(sections.len(), &mut out);
    let mut offset = HEADER_BYTES + SECTION_ROW_BYTES * sections.len();
    for (section, bytes) in Section::ALL.iter().zip(&sections) {
        (*section as u32).put(&mut out);
        put_len(offset, &mut out);
        put_len(bytes.len(), &mut out);
        offset += bytes.len();
    }
    for bytes in &sections {
        out.extend_from_slice(bytes);
    }
    out
}

/// FNV-1a (64 bits) over the sections in file order, which stands in the header. The manifest counts as it is without a
/// verdict on its evidence, so that whoever measures a pass again does not make another program of it. The hash finds
/// damage; it does not keep anybody from writing another program with the right hash.
pub fn content_hash(program: &Program) -> u64 {
    let sections = Section::ALL.map(|section| encode_section(program, section));
    hash_sections(program, sections.each_ref().map(Vec::as_slice))
}

/// [`content_hash`] of a program with these sections.
fn hash_sections(program: &Program, sections: [&[u8]; 6]) -> u64 {
    let mut manifest = program.manifest.clone();
    (manifest.unproven, manifest.proof, manifest.stale) = (false, None, None);
    let mut unjudged = Vec::new();
    put_manifest(program, &manifest, &mut unjudged);
    let hashed = Section::ALL.map(|section| match section {
        Section::Manifest => unjudged.as_slice(),
        other => sections[other as usize - 1],
    });
    fnv1a(hashed.into_iter().flatten().copied())
}

/// A hash of what a program does: of its buffers, constant pool, kernels and schedule without names and positions, and
/// of `spelling`, how its named constants are written. Samples of its speed are bound to it
/// ([`crate::plan::evidence`]).
pub fn program_hash(program: &Program, spelling: &str) -> u64 {
    // Indices stand for what names name, and the code is the condition.
    let mut p = program.clone();
    let names = (p.topologies.iter_mut().map(|t| &mut t.name))
        .chain(p.buffers.iter_mut().map(|b| &mut b.name))
        .chain(p.frontiers.iter_mut().map(|f| &mut f.name))
        .chain(p.lists.iter_mut().map(|l| &mut l.name))
        .chain(p.reductions.iter_mut().map(|r| &mut r.name))
        .chain(p.scalars.iter_mut().map(|s| &mut s.name))
        .chain(p.waves.iter_mut().map(|w| &mut w.name));
    names.for_each(String::clear);
    for fixpoint in &mut p.fixpoints {
        fixpoint.name.clear();
        fixpoint.condition.clear();
        fixpoint.site = SiteId(0);
    }
    let hashed = [
        Section::Buffers,
        Section::Constants,
        Section::Kernels,
        Section::Schedule,
    ];
    let sections = hashed.iter().flat_map(|&section| {
        let mut bytes = encode_section(&p, section);
        // Empty tables of resets and of computed lengths do nothing: they are the last of their section, and no part of
        // the hash, so that samples from before there were such tables count.
        if section == Section::Buffers && resets(&p).is_empty() {
            let empty = 1 + usize::from(p.lengths.is_empty());
            bytes.truncate(bytes.len() - empty * size_of::<u32>());
        }
        bytes
    });
    fnv1a(sections.chain(spelling.bytes()))
}

fn encode_section(program: &Program, section: Section) -> Vec<u8> {
    let mut out = Vec::new();
    let to = &mut out;
    match section {
        Section::Buffers => {
            program.topologies.put(to);
            program.buffers.put(to);
            put_queues(&program.frontiers, put_frontier, to);
            put_queues(&program.lists, put_list, to);
            program.reductions.put(to);
            program.scalars.put(to);
            program.lengths.put(to);
            resets(program).put(to);
        }
        Section::Constants => program.constants.put(to),
        Section::Kernels => {
            put_len(program.kernels.len(), to);
            for kernel in &program.kernels {
                kernel.rows.put(to);
                kernel.frames.put(to);
                kernel.item.put(to);
                kernel.uniforms.put(to);
                kernel.code.put(to);
            }
        }
        Section::Schedule => {
            program.waves.put(to);
            program.fixpoints.put(to);
            program.schedule.put(to);
        }
        Section::Manifest => {
            put_manifest(program, &program.manifest, to);
        }
        Section::Debug => {
            put_len(program.kernels.len(), to);
            for kernel in &program.kernels {
                kernel.name.put(to);
                kernel.sites.put(to);
            }
            program.sites.put(to);
            program.messages.put(to);
        }
    }
    out
}

/// The manifest's section, with this manifest.
fn put_manifest(program: &Program, manifest: &Manifest, to: &mut Vec<u8>) {
    program.name.put(to);
    program.agreement.put(to);
    manifest.put(to);
}

/// Reads a container. Stops at the first error; allocates no more than a small multiple of the input.
pub fn decode(bytes: &[u8]) -> Result<Program, DecodeError> {
    let mut header = Reader { bytes, at: 0 };
    let magic = [(); 4].map(|()| header.byte());
    if let [Ok(a), Ok(b), Ok(c), Ok(d)] = magic {
        if [a, b, c, d] != MAGIC {
            return Err(DecodeError::Magic([a, b, c, d]));
        }
    } else {
        return Err(header.truncated(4));
    }
    let version = u16::take(&mut header)?;
    if version != VERSION {
        return Err(DecodeError::Version(version));
    }
    let flags = u16::take(&mut header)?;
    if flags != FLAGS {
        return Err(DecodeError::Flags(flags));
    }
    let expected_hash = u64::take(&mut header)?;
    let count = u32::take(&mut header)?;
    let mut readers = Vec::with_capacity(Section::ALL.len());
    let mut sections: [&[u8]; 6] = [&[]; 6];
    let mut next = HEADER_BYTES + SECTION_ROW_BYTES * Section::ALL.len();
    for section in Section::ALL {
        let (id, offset, len) =
            <(u32, (u32, u32))>::take(&mut header).map(|(i, (o, l))| (i, o, l))?;
        if id != section as u32 || offset as usize != next || count as usize != Section::ALL.len() {
            return Err(DecodeError::SectionTable {
                section,
                id,
                offset,
                len,
                expected: next as u32,
            });
        }
        let end = next.checked_add(len as usize).filter(|&e| e <= bytes.len());
        let Some(end) = end else {
            return Err(DecodeError::Truncated {
                at: next,
                needed: len.into(),
                left: bytes.len().saturating_sub(next),
            });
        };
        sections[section as usize - 1] = &bytes[next..end];
        readers.push(Reader {
            bytes: &bytes[..end],
            at: next,
        });
        next = end;
    }
    Reader { bytes, at: next }.end()?;

    let mut program = Program::default();
    for (section, mut from) in Section::ALL.into_iter().zip(readers) {
        decode_section(&mut program, section, &mut from)?;
        from.end()?;
    }
    // The format is canonical: these are the sections that `encode` writes.
    let actual = hash_sections(&program, sections);
    if actual != expected_hash {
        return Err(DecodeError::Hash {
            expected: expected_hash,
            actual,
        });
    }
    Ok(program)
}

fn decode_section(
    program: &mut Program,
    section: Section,
    from: &mut Reader<'_>,
) -> Result<(), DecodeError> {
    match section {
        Section::Buffers => {
            program.topologies = Vec::take(from)?;
            program.buffers = Vec::take(from)?;
            program.frontiers = take_queues(from, take_frontier)?;
            program.lists = take_queues(from, take_list)?;
            program.reductions = Vec::take(from)?;
            program.scalars = Vec::take(from)?;
            program.lengths = Vec::take(from)?;
            take_resets(program, from)?;
        }
        Section::Constants => program.constants = Vec::take(from)?,
        Section::Kernels => {
            for _ in 0..u32::take(from)? {
                program.kernels.push(Kernel {
                    name: String::new(),
                    rows: u8::take(from)?,
                    frames: u8::take(from)?,
                    item: ItemRows::take(from)?,
                    uniforms: Vec::take(from)?,
                    code: Vec::take(from)?,
                    sites: Vec::new(),
                });
            }
        }
        Section::Schedule => {
            program.waves = Vec::take(from)?;
            program.fixpoints = Vec::take(from)?;
            program.schedule = Vec::take(from)?;
        }
        Section::Manifest => {
            program.name = String::take(from)?;
            program.agreement = Agreement::take(from)?;
            program.manifest = Manifest::take(from)?;
        }
        Section::Debug => {
            let debug = u32::take(from)? as usize;
            if debug != program.kernels.len() {
                return Err(DecodeError::DebugKernels {
                    debug,
                    kernels: program.kernels.len(),
                });
            }
            for kernel in &mut program.kernels {
                kernel.name = String::take(from)?;
                kernel.sites = Vec::take(from)?;
            }
            program.sites = Vec::take(from)?;
            program.messages = Vec::take(from)?;
        }
    }
    Ok(())
}

/// Why the parts that a macro emitted do not make a program.
#[derive(Clone, Error, PartialEq, Eq)]
pub enum PartsError {
    /// The skeleton is not a container.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// More named constants than the pool has entries.
    #[error("{named} named constants; the pool has {pool} entries")]
    Constants {
        /// Values given.
        named: usize,
        /// Pool entries.
        pool: usize,
    },
    /// The program does not verify.
    #[error("the program does not verify: {}", list(.0))]
    Verify(Vec<VerifyError>),
}

crate::debug_is_display!(PartsError);

fn list(errors: &[VerifyError]) -> String {
    let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
    texts.join("; ")
}

impl Parts {
    /// Assembles the program: decodes the skeleton, fills in the named constants, round limits among them, and the
    /// source positions, verifies. Frontiers get the room that they need with these values. Evidence that was measured with other values of constants is stale, and the program
    /// unproven.
    pub fn program(&self) -> Result<Program, PartsError> {
        let mut program = decode(self.skeleton)?;
        let named = self.constants.iter().map(|c| c.len()).sum();
        let pool = program.constants.len();
        if named > pool {
            return Err(PartsError::Constants { named, pool });
        }
        let values = self.constants.iter().copied().flatten();
        for (constant, &bits) in program.constants.iter_mut().zip(values) {
            constant.bits = bits;
        }
        for &(fixpoint, rounds) in self.max_rounds {
            if let Some(fixpoint) = program.fixpoints.get_mut(usize::from(fixpoint)) {
                fixpoint.max_rounds = rounds;
            }
        }
        settle(&mut program);
        self.make_room(&mut program);
        let proof = program.manifest.proof.as_ref();
        if proof.is_some_and(|proof| proof.constants_hash != self.constants_hash()) {
            program.manifest.disprove(Stale::Constants);
        }
        program.sites = self
            .sites
            .iter()
            .copied()
            .flatten()
            .map(|location| Site {
                file: location.file().to_owned(),
                line: location.line(),
                column: location.column(),
            })
            .collect();
        verify(&program).map_err(PartsError::Verify)?;
        Ok(program)
    }

    /// Gives frontiers the room that they need, now that constants and limits are known.
    fn make_room(&self, program: &mut Program) {
        for room in self.rooms {
            let apart = |pair: &[Bound; 2]| Bound::are_apart(*pair, program);
            let holds = room.apart.iter().all(apart);
            let frontier = program.frontiers.get_mut(usize::from(room.frontier));
            if let (Some(frontier), true) = (frontier, holds)
                && frontier.capacity == Extent::NodesPlusEdges
            {
                frontier.capacity = Extent::NodesTimes(room.times);
            }
        }
    }

    /// The hash of the values of the named constants.
    pub fn constants_hash(&self) -> u64 {
        let values = self.constants.iter().copied().flatten();
        Fingerprint::constants(values, self.max_rounds)
    }
}

/// Decides what an agreement presumes of constants, now that they are known.
fn settle(program: &mut Program) {
    let Agreement::Result(fixpoints) = &mut program.agreement else {
        return;
    };
    let constants = &program.constants;
    let mut failed = Vec::new();
    for least in fixpoints {
        least.provisos.retain(|proviso| {
            let Proviso::First(wave, constant, op) = *proviso else {
                return true;
            };
            let known = constants.get(constant.index());
            if known.is_none_or(|c| c.bits != op.identity(c.scalar)) {
                failed.push(Reason {
                    wave,
                    resource: None,
                    site: None,
                    why: Why::NotMonotone,
                });
            }
            false
        });
    }
    if !failed.is_empty() {
        program.agreement = Agreement::Open(failed);
    }
}

struct Reader<'a> {
    /// Up to the section's end.
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn left(&self) -> usize {
        self.bytes.len().saturating_sub(self.at)
    }

    fn truncated(&self, needed: u64) -> DecodeError {
        DecodeError::Truncated {
            at: self.at,
            needed,
            left: self.left(),
        }
    }

    fn slice(&mut self, len: usize) -> Result<&'a [u8], DecodeError> {
        if len > self.left() {
            return Err(self.truncated(len as u64));
        }
        let slice = &self.bytes[self.at..self.at + len];
        self.at += len;
        Ok(slice)
    }

    fn byte(&mut self) -> Result<u8, DecodeError> {
        Ok(self.slice(1)?[0])
    }

    /// A tag byte, and the error for one without a meaning.
    fn tag(&mut self, what: &'static str) -> Result<(u8, DecodeError), DecodeError> {
        let at = self.at;
        let value = self.byte()?;
        Ok((value, DecodeError::Tag { at, what, value }))
    }

    fn end(&self) -> Result<(), DecodeError> {
        match self.left() {
            0 => Ok(()),
            bytes => Err(DecodeError::Trailing { at: self.at, bytes }),
        }
    }
}

fn put_len(len: usize, out: &mut Vec<u8>) {
    u32::try_from(len)
        .expect("tables and sections are below 4 GiB")
        .put(out);
}

/// One type's bytes, both ways.
trait Codec: Sized {
    fn put(&self, out: &mut Vec<u8>);
    fn take(from: &mut Reader<'_>) -> Result<Self, DecodeError>;
}

macro_rules! integers {
    ($($ty:ty)*) => {$(
        impl Codec for $ty {
            fn put(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }
            fn take(from: &mut Reader<'_>) -> Result<Self, DecodeError> {
                let bytes = from.slice(size_of::<$ty>())?;
                Ok(<$ty>::from_le_bytes(bytes.try_into().expect("the slice has this length")))
            }
        }
    )*};
}
integers!(u8 u16 u32 u64);

macro_rules! ids {
    ($($ty:ident)*) => {$(
        impl Codec for $ty {
            fn put(&self, out: &mut Vec<u8>) {
                self.0.put(out);
            }
            fn take(from: &mut Reader<'_>) -> Result<Self, DecodeError> {
                Codec::take(from).map($ty)
            }
        }
    )*};
}
ids!(TopologyId BufferId FrontierId ListId ReductionId ScalarId ConstantId LengthId WaveId FixpointId KernelId SiteId PartsId);

/// A struct is its fields in declaration order.
macro_rules! structs {
    ($($ty:ident { $($field:ident),* })*) => {$(
        impl Codec for $ty {
            fn put(&self, out: &mut Vec<u8>) {
                let $ty { $($field),* } = self;
                $($field.put(out);)*
            }
            fn take(from: &mut Reader<'_>) -> Result<Self, DecodeError> {
                Ok($ty { $($field: Codec::take(from)?),* })
            }
        }
    )*};
}
structs! {
    Topology { name, reverse_of }
    Reduction { name, op, scalar, owner, output }
    ScalarParam { name, scalar }
    Length { terms }
    Constant { scalar, bits }
    ItemRows { index, src, dst, fields }
    Access { resource, mode }
    Wave { name, kernel, domain, accesses, fixpoint, after }
    Fixpoint { name, parent, until, condition, max_rounds, swaps, after, site }
    Manifest { id, title, unproven, min_frontier_items, min_reuse, min_readback_bytes, speedup_bps, mandatory, evidence, program_hash, proof, stale, max_nodes, max_edges, budget_bytes, claims }
    Claim { result, reason }
    Proof { samples, min_speedup_bps, max_speedup_bps, constants_hash, measured, rival }
    Site { file, line, column }
    Least { fixpoint, provisos }
    Reason { wave, resource, site, why }
}

/// What a fixpoint resets stands in a table of its own ([`resets`]), here and for queues.
impl Codec for Buffer {
    fn put(&self, out: &mut Vec<u8>) {
        self.name.put(out);
        self.scalar.put(out);
        self.extent.put(out);
        self.role.put(out);
        self.init.put(out);
    }
    fn take(from: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Buffer {
            name: Codec::take(from)?,
            scalar: Codec::take(from)?,
            extent: Codec::take(from)?,
            role: Codec::take(from)?,
            init: Codec::take(from)?,
            reset: None,
        })
    }
}

/// A table of queues: what all of them have, and behind it what this kind has.
fn put_queues(table: &[Queue], own: impl Fn(&Queue, &mut Vec<u8>), out: &mut Vec<u8>) {
    put_len(table.len(), out);
    for queue in table {
        queue.name.put(out);
        queue.fields.put(out);
        queue.capacity.put(out);
        own(queue, out);
    }
}

/// Takes [`put_queues`] back in. `own` sets what this kind has.
fn take_queues(
    from: &mut Reader<'_>,
    own: impl Fn(&mut Queue, &mut Reader<'_>) -> Result<(), DecodeError>,
) -> Result<Vec<Queue>, DecodeError> {
    let mut table = Vec::new();
    for _ in 0..u32::take(from)? {
        let mut queue = Queue {
            name: Codec::take(from)?,
            fields: Codec::take(from)?,
            capacity: Codec::take(from)?,
            unique: false,
            stays: false,
            owner: None,
            output: false,
            reset: None,
        };
        own(&mut queue, from)?;
        table.push(queue);
    }
    Ok(table)
}

fn put_frontier(queue: &Queue, out: &mut Vec<u8>) {
    (u8::from(queue.unique) | u8::from(queue.stays) << 1).put(out);
    queue.owner.put(out);
}

fn take_frontier(queue: &mut Queue, from: &mut Reader<'_>) -> Result<(), DecodeError> {
    let (kind, unknown) = from.tag("kind of frontier")?;
    if kind > 3 {
        return Err(unknown);
    }
    (queue.unique, queue.stays) = (kind & 1 != 0, kind & 2 != 0);
    queue.owner = Codec::take(from)?;
    Ok(())
}

fn put_list(queue: &Queue, out: &mut Vec<u8>) {
    queue.output.put(out);
}

fn take_list(queue: &mut Queue, from: &mut Reader<'_>) -> Result<(), DecodeError> {
    queue.stays = true;
    queue.output = Codec::take(from)?;
    Ok(())
}

/// The buffers and queues that begin anew, and with whose rounds.
fn resets(program: &Program) -> Vec<(Resource, FixpointId)> {
    let buffers = (0..=u16::MAX).map(BufferId).zip(&program.buffers);
    let buffers = buffers.filter_map(|(id, b)| Some((Resource::Buffer(id), b.reset?)));
    let queues = program.queues();
    let queues = queues.filter_map(|(id, q)| Some((Resource::Queue(id), q.reset?)));
    let mut resets: Vec<_> = buffers.chain(queues).collect();
    resets.sort_unstable();
    resets
}

/// Takes [`resets`] back in.
fn take_resets(program: &mut Program, from: &mut Reader<'_>) -> Result<(), DecodeError> {
    let resets: Vec<(Resource, FixpointId)> = Vec::take(from)?;
    let ascending = resets.is_sorted_by(|a, b| a.0 < b.0);
    for (resource, fixpoint) in resets {
        let reset = match resource {
            Resource::Buffer(id) => (program.buffers.get_mut(id.index())).map(|b| &mut b.reset),
            Resource::Queue(id) => program.queue_mut(id).map(|q| &mut q.reset),
            Resource::Topology(_) | Resource::Reduction(_) => None,
        };
        *reset
            .filter(|_| ascending)
            .ok_or(DecodeError::Reset(resource))? = Some(fixpoint);
    }
    Ok(())
}

/// A variant of an enum: the one that is listed, or, where each kind of what is in it has a tag, what that one is.
macro_rules! variant {
    ($ty:ident $variant:ident) => { $ty::$variant };
    ($ty:ident $variant:ident ($($field:ident),*)) => { $ty::$variant($($field),*) };
    ($ty:ident $variant:ident ($($field:ident),*) $outer:ident $of:ident $kind:ident) => {
        $ty::$outer($of::$kind($($field),*))
    };
}

/// An enum is a tag byte and the variant's fields. What `FrontierLen(id) is Len(QueueId::Frontier)` lists is
/// `Len(QueueId::Frontier(id))`.
macro_rules! enums {
    ($($ty:ident $what:literal {
        $($tag:literal => $variant:ident $(($($field:ident),*))? $(is $outer:ident($of:ident::$kind:ident))?),* $(,)?
    })*) => {
        $(
            impl $ty {
                /// The byte that stands for this variant, in the container and for devices.
                pub const fn tag(&self) -> u8 {
                    #[allow(unused_variables, reason = "a tag has no fields")]
                    match self {
                        $(variant!($ty $variant $(($($field),*))? $($outer $of $kind)?) => $tag,)*
                    }
                }
            }

            impl Codec for $ty {
                fn put(&self, out: &mut Vec<u8>) {
                    out.push(self.tag());
                    match self {
                        $(variant!($ty $variant $(($($field),*))? $($outer $of $kind)?) => {
                            $($($field.put(out);)*)?
                        })*
                    }
                }
                fn take(from: &mut Reader<'_>) -> Result<Self, DecodeError> {
                    let (tag, unknown) = from.tag($what)?;
                    match tag {
                        $($tag => {
                            $($(let $field = Codec::take(from)?;)*)?
                            Ok(variant!($ty $variant $(($($field),*))? $($outer $of $kind)?))
                        })*
                        _ => Err(unknown),
                    }
                }
            }
        )*

        /// The tag bytes of the format: type, variant, byte.
        pub const TAGS: &[(&str, &str, u8)] = &[
            $($((stringify!($ty), stringify!($variant), $tag),)*)*
        ];
    };
}
enums! {
    Scalar "scalar type" {
        0 => Bool, 1 => U8, 2 => U32, 3 => I32, 4 => F32, 5 => U64, 6 => I64, 7 => F64,
    }
    Role "buffer role" { 0 => Topology, 1 => Input, 2 => Output, 3 => Scratch, 4 => InOut }
    ReduceOp "reduction" { 0 => Sum, 1 => Min, 2 => Max, 3 => Or, 4 => And, 5 => ExactSum }
    Measured "way to measure" { 0 => Single, 1 => Shared }
    Stale "reason for stale evidence" { 0 => Unbound, 1 => Program, 2 => Constants }
    UpdateOp "update" {
        0 => Add, 1 => Min, 2 => Max, 3 => And, 4 => Or, 5 => Xor, 6 => Push, 7 => Append, 8 => Reduce,
        9 => Insert,
    }
    Extent "extent" {
        0 => Fixed(len), 1 => Constant(id), 2 => Scalar(id), 3 => Nodes, 4 => Edges(id), 5 => NodesPlusEdges,
        6 => NodeBits(width), 7 => Computed(id), 8 => Bounds(parts, of, drops),
        9 => NodesTimes(times),
    }
    Term "term of a length" { 0 => Value(extent), 1 => Op(op) }
    LengthOp "operation of a length" { 0 => Add, 1 => Sub, 2 => Mul, 3 => Div, 4 => Rem, 5 => DivCeil }
    Width "width" { 0 => Fixed(bits), 1 => Constant(id), 2 => Scalar(id) }
    Uniform "uniform" {
        0 => Scalar(id), 1 => Constant(id), 2 => Reduction(id), 3 => Round, 4 => FrontierLen(id) is Len(QueueId::Frontier),
        5 => Nodes, 6 => ListLen(id) is Len(QueueId::List), 7 => OuterRound(id), 8 => Began(id),
    }
    Domain "domain" {
        0 => Once, 1 => Range(extent), 2 => Nodes, 3 => Items(frontier), 4 => Edges(topology),
        5 => EdgesFrom(topology, frontier), 6 => ListItems(list, portion),
    }
    Portion "portion of a list" { 0 => All, 1 => New, 2 => Last }
    Resource "resource" {
        0 => Topology(id), 1 => Buffer(id), 2 => Frontier(id) is Queue(QueueId::Frontier),
        3 => Reduction(id), 4 => List(id) is Queue(QueueId::List),
    }
    Mode "access mode" { 0 => Read, 1 => Update(op), 2 => Write }
    NodeRef "graph node" { 0 => Wave(id), 1 => Fixpoint(id) }
    Agreement "agreement" { 0 => Bits, 1 => Result(fixpoints), 2 => Open(reasons) }
    Proviso "proviso" { 0 => NoWrap(wave), 1 => NoNan(wave), 2 => First(wave, constant, op) }
    Why "reason" {
        0 => Approximates, 1 => Positions, 2 => FloatSum, 3 => ListOrder, 4 => Slot, 5 => OldValue, 6 => ReadsChanged,
        7 => Stores, 8 => Claim, 9 => Mixed, 10 => Until, 11 => Nested, 12 => NotMonotone, 13 => Unnoticed, 14 => Notice,
        15 => Amount, 16 => SecondSite, 17 => Shown, 18 => Anew, 19 => Inserts,
        20 => TupleOrder,
    }
    Step "step" { 0 => Wave(id), 1 => Barrier, 2 => Loop(id), 3 => Until(id), 4 => End, 5 => Each(id, bounds) }
}

impl Codec for bool {
    fn put(&self, out: &mut Vec<u8>) {
        out.push((*self).into());
    }
    fn take(from: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let (tag, unknown) = from.tag("bool")?;
        match tag {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(unknown),
        }
    }
}

impl Codec for Word {
    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_bytes());
    }
    fn take(from: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let bytes = from.slice(8)?;
        Ok(Word::from_bytes(
            bytes.try_into().expect("the slice has this length"),
        ))
    }
}

impl Codec for String {
    fn put(&self, out: &mut Vec<u8>) {
        put_len(self.len(), out);
        out.extend_from_slice(self.as_bytes());
    }
    fn take(from: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let len = u32::take(from)? as usize;
        let at = from.at;
        let bytes = from.slice(len)?;
        let text = std::str::from_utf8(bytes).map_err(|_| DecodeError::Utf8 { at })?;
        Ok(text.to_owned())
    }
}

impl<T: Codec> Codec for Option<T> {
    fn put(&self, out: &mut Vec<u8>) {
        self.is_some().put(out);
        if let Some(x) = self {
            x.put(out);
        }
    }
    fn take(from: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(if bool::take(from)? {
            Some(T::take(from)?)
        } else {
            None
        })
    }
}

impl<T: Codec + Copy + Default, const N: usize> Codec for [T; N] {
    fn put(&self, out: &mut Vec<u8>) {
        for x in self {
            x.put(out);
        }
    }
    fn take(from: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let mut array = [T::default(); N];
        for x in &mut array {
            *x = T::take(from)?;
        }
        Ok(array)
    }
}

impl<T: Codec> Codec for Vec<T> {
    fn put(&self, out: &mut Vec<u8>) {
        put_len(self.len(), out);
        for x in self {
            x.put(out);
        }
    }
    fn take(from: &mut Reader<'_>) -> Result<Self, DecodeError> {
        // No reservation by the count: every element takes at least one byte, so a lying count runs out of input.
        let count = u32::take(from)?;
        let mut list = Vec::new();
        for _ in 0..count {
            list.push(T::take(from)?);
        }
        Ok(list)
    }
}

impl<A: Codec, B: Codec> Codec for (A, B) {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
        self.1.put(out);
    }
    fn take(from: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok((A::take(from)?, B::take(from)?))
    }
}
