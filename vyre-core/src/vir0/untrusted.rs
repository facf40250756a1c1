//! Bytecode of others: [`Program::from_untrusted`] takes it in, and [`Limits`] say what it may cost.
//!
//! Whatever [`verify`] lets through runs or traps, and touches nothing but its buffers. That is enough for programs
//! that the macros made. Whoever takes bytecode from others also needs that it costs no more than it may, that its texts
//! do nothing to whoever prints them, and that what it says of itself is not believed:
//!
//! | what a stranger may write | what [`Program::from_untrusted`] makes of it |
//! | --- | --- |
//! | more code or larger tables than planning has time for | an error: [`Limits::code`], [`Limits::tables`] |
//! | buffers that no memory has | a smaller [`budget_bytes`](crate::vir0::manifest::Manifest::budget_bytes): [`Limits::memory`] |
//! | a loop without an end | nothing here: `Limits::open` opens it so that its runs stop ([`Limits::steps`]) |
//! | terminal escapes, false lines and reversed text in names, messages and paths | an error |
//! | a source path, of which a trap would show a line | `untrusted:` stands before the path, so that it is no file's |
//! | evidence that the pass is fast | none: the program is unproven |
//! | that runs agree | nothing: the agreement is open |
//!
//! ```
//! use vyre_core::vir0::container::encode;
//! use vyre_core::vir0::module::{Program, Step};
//! use vyre_core::vir0::untrusted::Limits;
//! let sent = Program { name: "sent".into(), schedule: vec![Step::End], ..Program::default() };
//! let bytes = encode(&sent);
//! let program = Program::from_untrusted(&bytes, &Limits::default()).unwrap();
//! assert_eq!((program.name.as_str(), program.manifest.unproven), ("sent", true));
//! let narrow = Limits { tables: 0, ..Limits::default() };
//! let error = Program::from_untrusted(&bytes, &narrow).unwrap_err();
//! assert_eq!(error.to_string(), "the tables have 1 entry; the limit is 0");
//! ```

use crate::vir0::container::{DecodeError, decode};
use crate::vir0::isa::Op;
use crate::vir0::manifest::Stale;
use crate::vir0::module::{Agreement, Program};
use crate::vir0::verify::{VerifyError, verify};
use thiserror::Error;

/// What a program of others may cost. The defaults leave room for any pass that people write: the largest example has
/// 1,400 words and 500 entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Words of all its kernels together.
    pub code: u64,
    /// Entries of all its tables together: resources, fields, lengths and their terms, constants, kernels, uniforms, waves, accesses, fixpoints,
    /// swaps, orders, steps, source positions, messages and reasons. Planning takes time in proportion to their square.
    pub tables: u64,
    /// Bytes that a run may take, as plans count them.
    pub memory: u64,
    /// Steps that a run may take. A program does not carry it; `Limits::open` gives it to what runs the program.
    pub steps: u64,
}

impl Default for Limits {
    /// 65,536 words, 16,384 entries, 1 GiB and 2^32 steps.
    fn default() -> Limits {
        Limits {
            code: 65_536,
            tables: 16_384,
            memory: 1 << 30,
            steps: 1 << 32,
        }
    }
}

/// Longest name, message or path, in bytes.
pub const MAX_TEXT_BYTES: usize = 1_024;

/// Stands before the path of each source position, so that no file has this path.
pub const UNTRUSTED_PATH: &str = "untrusted:";

/// The most bytes of an entry, its texts apart; it has two at most.
const ENTRY_BYTES: u64 = 128;
/// The most bytes of what is in every container, its texts apart; it has six.
const FIXED_BYTES: u64 = 512;

/// Why a program of others is not taken.
#[derive(Clone, Error, PartialEq, Eq)]
pub enum UntrustedError {
    /// More bytes than a program within the limits has.
    #[error("the container has {bytes} bytes; one within the limits has at most {limit}")]
    Bytes {
        /// Given.
        bytes: u64,
        /// Allowed.
        limit: u64,
    },
    /// The bytes are no container.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// Too much code.
    #[error("the kernels have {words} word{}; the limit is {limit}", plural(*words))]
    Code {
        /// Words of all kernels.
        words: u64,
        /// [`Limits::code`].
        limit: u64,
    },
    /// Too large tables.
    #[error("the tables have {entries} {}; the limit is {limit}", entry(*entries))]
    Tables {
        /// Entries of all tables.
        entries: u64,
        /// [`Limits::tables`].
        limit: u64,
    },
    /// A long name, message or path.
    #[error("{what} has {bytes} bytes; the limit is {MAX_TEXT_BYTES}")]
    TextLength {
        /// Whose text.
        what: &'static str,
        /// Its length.
        bytes: usize,
    },
    /// A name, message or path that does something to whoever prints it.
    #[error("{what} has the character U+{:04X}, which does more than show itself", u32::from(*character))]
    Text {
        /// Whose text.
        what: &'static str,
        /// The first such character.
        character: char,
    },
    /// Memory is filled anew in each round, and no limit of steps counts that.
    #[error("`{name}` begins anew with each round, which is not taken from others")]
    Anew {
        /// A buffer or a frontier.
        name: String,
    },
    /// The program does not verify. There is at least one error.
    #[error("the program does not verify: {}", first(.0))]
    Verify(Vec<VerifyError>),
}

crate::debug_is_display!(UntrustedError);

fn plural(n: u64) -> &'static str {
    if n == 1 { "" } else { "s" }
}

fn entry(n: u64) -> &'static str {
    if n == 1 { "entry" } else { "entries" }
}

/// A stranger chooses how many errors there are, but not how long the message is.
fn first(errors: &[VerifyError]) -> String {
    match errors {
        [] => String::new(),
        [only] => only.to_string(),
        [first, more @ ..] => format!("{first}; and {} more", more.len()),
    }
}

impl Program {
    /// Reads, checks and verifies a container that somebody else made. What it says of itself is not believed, and is
    /// gone from the program; all else is as it was sent.
    ///
    /// It takes time and memory in proportion to the length of `bytes`, at most what the limits allow.
    ///
    /// # Errors
    /// The first limit that it breaks, and everything that is wrong with a program within the limits.
    pub fn from_untrusted(bytes: &[u8], limits: &Limits) -> Result<Program, UntrustedError> {
        limits.check_bytes(bytes.len() as u64)?;
        let mut program = decode(bytes)?;
        limits.check(&program)?;
        for (what, text) in texts(&program) {
            check_text(what, text)?;
        }
        verify(&program).map_err(UntrustedError::Verify)?;
        let buffers = program.buffers.iter().map(|b| (&b.name, b.reset));
        let queues = program.queues().map(|(_, q)| (&q.name, q.reset));
        let mut anew = (buffers.chain(queues)).filter(|(_, reset)| reset.is_some());
        if let Some(name) = anew.next().map(|(name, _)| name.clone()) {
            return Err(UntrustedError::Anew { name });
        }
        drop(anew);
        program.agreement = Agreement::default();
        program.count_all_turns();
        let manifest = &mut program.manifest;
        manifest.disprove(Stale::Unbound);
        manifest.program_hash = None;
        manifest.claims.clear();
        // What it is worth, and that it goes before others, is for the host to say.
        (manifest.mandatory, manifest.speedup_bps) = (false, 0);
        manifest.budget_bytes = match manifest.budget_bytes {
            Some(own) => Some(own.min(limits.memory)),
            None => Some(limits.memory),
        };
        for site in &mut program.sites {
            if !site.file.starts_with(UNTRUSTED_PATH) {
                site.file.insert_str(0, UNTRUSTED_PATH);
            }
        }
        Ok(program)
    }
}

impl Program {
    /// Has every turn of every loop be a step, whatever the program says of them.
    pub(crate) fn count_all_turns(&mut self) {
        let code = self.kernels.iter_mut().flat_map(|k| &mut k.code);
        let loops = code.filter(|word| word.op == Op::Loop as u8);
        loops.for_each(|word| word.a = 0);
    }
}

impl Limits {
    fn check_bytes(&self, bytes: u64) -> Result<(), UntrustedError> {
        let texts = |n: u64| n.saturating_mul(MAX_TEXT_BYTES as u64);
        let entry = ENTRY_BYTES.saturating_add(texts(2));
        // A word is 8 bytes, and has a site of 6 at most.
        let limit = (self.code.saturating_mul(8 + 6))
            .saturating_add(self.tables.saturating_mul(entry))
            .saturating_add(FIXED_BYTES + texts(6));
        match bytes <= limit {
            true => Ok(()),
            false => Err(UntrustedError::Bytes { bytes, limit }),
        }
    }

    /// Whether a program's code and tables are within the limits. The program need not verify.
    ///
    /// # Errors
    /// [`UntrustedError::Code`] or [`UntrustedError::Tables`].
    pub fn check(&self, program: &Program) -> Result<(), UntrustedError> {
        let code = program.kernels.iter().map(|k| k.code.len() as u64);
        let words = code.sum();
        if words > self.code {
            let limit = self.code;
            return Err(UntrustedError::Code { words, limit });
        }
        let entries = entries(program);
        if entries > self.tables {
            let limit = self.tables;
            return Err(UntrustedError::Tables { entries, limit });
        }
        Ok(())
    }
}

/// Entries of all tables; the sites of kernels count with the words that they are of.
fn entries(p: &Program) -> u64 {
    let in_queues = p.queues().map(|(_, q)| q.fields.len());
    let in_kernels = p.kernels.iter().map(|k| {
        let sites = k.sites.len().saturating_sub(k.code.len());
        k.uniforms.len() + sites
    });
    let in_waves = (p.waves.iter()).map(|w| w.accesses.len() + w.after.len());
    let in_fixpoints = (p.fixpoints.iter()).map(|f| f.swaps.len() + f.after.len());
    let in_lengths = p.lengths.iter().map(|l| l.terms.len());
    let in_agreement = match &p.agreement {
        Agreement::Bits => 0,
        Agreement::Result(least) => least.iter().map(|l| 1 + l.provisos.len()).sum(),
        Agreement::Open(reasons) => reasons.len(),
    };
    let tables = [
        p.topologies.len(),
        p.buffers.len(),
        p.queues().count(),
        p.reductions.len(),
        p.scalars.len(),
        p.lengths.len(),
        p.constants.len(),
        p.kernels.len(),
        p.waves.len(),
        p.fixpoints.len(),
        p.schedule.len(),
        p.sites.len(),
        p.messages.len(),
        in_agreement,
        p.manifest.claims.len(),
    ];
    let counts = (in_queues.chain(in_kernels))
        .chain(in_waves.chain(in_fixpoints).chain(in_lengths))
        .chain(tables);
    counts.map(|n| n as u64).sum()
}

/// Every text of a program, and whose it is.
fn texts(p: &Program) -> impl Iterator<Item = (&'static str, &str)> {
    fn of<'p>(what: &'static str, text: &'p str) -> (&'static str, &'p str) {
        (what, text)
    }
    let manifest = &p.manifest;
    let rival = manifest.proof.as_ref().map(|proof| &proof.rival);
    let own = [
        of("the program's name", &p.name),
        of("the program's id", &manifest.id),
        of("the program's title", &manifest.title),
        of("the name of the evidence", &manifest.evidence),
    ];
    own.into_iter()
        .chain(rival.map(|x| of("the name of a rival", x)))
        .chain((manifest.claims.iter()).map(|x| of("the reason of a claim", &x.reason)))
        .chain((p.topologies.iter()).map(|x| of("the name of a topology", &x.name)))
        .chain((p.buffers.iter()).map(|x| of("the name of a buffer", &x.name)))
        .chain((p.frontiers.iter()).map(|x| of("the name of a frontier", &x.name)))
        .chain((p.lists.iter()).map(|x| of("the name of a list", &x.name)))
        .chain((p.reductions.iter()).map(|x| of("the name of a reduction", &x.name)))
        .chain((p.scalars.iter()).map(|x| of("the name of a scalar", &x.name)))
        .chain((p.kernels.iter()).map(|x| of("the name of a kernel", &x.name)))
        .chain((p.waves.iter()).map(|x| of("the name of a wave", &x.name)))
        .chain((p.fixpoints.iter()).map(|x| of("the name of a fixpoint", &x.name)))
        .chain((p.fixpoints.iter()).map(|x| of("a condition", &x.condition)))
        .chain((p.sites.iter()).map(|x| of("the path of a source position", &x.file)))
        .chain((p.messages.iter()).map(|x| of("a message", &x.1)))
}

/// Whether a character does more than show itself: control characters, line ends among them, what turns the direction of
/// text, and what takes no room, so that two names that differ look the same. Accents do not count.
pub fn does_more_than_show(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}'
                | '\u{61c}'
                | '\u{180e}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

fn check_text(what: &'static str, text: &str) -> Result<(), UntrustedError> {
    let bytes = text.len();
    if bytes > MAX_TEXT_BYTES {
        return Err(UntrustedError::TextLength { what, bytes });
    }
    match text.chars().find(|&c| does_more_than_show(c)) {
        Some(character) => Err(UntrustedError::Text { what, character }),
        None => Ok(()),
    }
}
