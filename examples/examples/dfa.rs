//! A finite automaton over the bytes of a source text: how much code, comment and literal text each line has.
//!
//! A lane does not know in which state its part of the text begins, so it tries them all: what a part does is a map
//! from states to states, in the bits of one u64, and maps are joined in log steps. Then each lane scans its part once
//! more, and adds to the histogram of each line.
//!
//! `cargo run --release -p vyre-examples --example dfa -- --text examples/examples/dfa.rs --check`

use std::path::PathBuf;
use std::process::ExitCode;
use vyre::prelude::*;
use vyre_examples::cli::{self, Example, Failure, Job, Shared, count, first_difference};
use vyre_examples::{files, graph::GraphSpec, oracle};

/// What a byte can be part of.
const CLASSES: u32 = 4;
const BLANK: u32 = 0;
const CODE: u32 = 1;
const LITERAL: u32 = 2;
const COMMENT: u32 = 3;

/// Bytes of a lane's part.
const PART: u32 = 64;

/// Scans parts, joins what they do, counts.
#[wave_graph]
#[pass(id = "text.dfa", unproven)]
pub mod dfa {
    pub struct Data {
        #[input(per = bytes)]
        text: u8,
        /// For each state and byte, the byte's class (4 bits) and the next state (4 bits).
        #[input(per = 4096)]
        table: u8,
        /// The state after a part, for each state before it: 4 bits each.
        #[scratch(per = parts)]
        map: u64,
        #[scratch(per = parts)]
        next_map: u64,
        /// Ends of lines.
        #[scratch(per = parts)]
        ends: u32,
        #[scratch(per = parts)]
        next_ends: u32,
        /// Bytes of each class in each line.
        #[output(per = cells)]
        histogram: u32,
        #[reduce(count)]
        code: u64,
        #[reduce(count)]
        comment: u64,
        #[reduce(count)]
        blank: u64,
        bytes: u32,
        parts: u32,
        lines: u32,
        cells: u32,
    }

    const STATES: u32 = 16;

    #[device]
    fn part(i: u32, text: &Buf<u8>) -> (u32, u32) {
        (i * PART, (i * PART).saturating_add(PART).min(text.len()))
    }

    /// The state that a map leads to.
    #[device]
    fn after(map: u64, state: u32) -> u32 {
        (map >> (4 * state)) as u32 & 15
    }

    #[wave(range(parts))]
    fn scan(i: Index, text: &Buf<u8>, table: &Buf<u8>, map: &mut u64, ends: &mut u32) {
        let (start, end) = part(i, text);
        for first in 0..STATES {
            let mut state = first;
            for at in start..end {
                state = u32::from(table[state * 256 + u32::from(text[at])] & 15);
            }
            *map |= u64::from(state) << (4 * first);
        }
        for at in start..end {
            if text[at] == b'\n' {
                *ends += 1;
            }
        }
    }

    /// Each round twice as many parts before a part are joined to it.
    #[fixpoint(
        after(scan),
        until(2u32 << round >= parts),
        max_rounds = 32,
        swap(map, next_map),
        swap(ends, next_ends)
    )]
    mod joins {
        #[wave(range(parts))]
        fn join(
            i: Index,
            round: Round,
            map: &Buf<u64>,
            next_map: &mut u64,
            ends: &Buf<u32>,
            next_ends: &mut u32,
        ) {
            let reach = 1 << round;
            if i < reach {
                *next_map = map[i];
                *next_ends = ends[i];
            } else {
                let (first, second) = (map[i - reach], map[i]);
                *next_map = 0;
                for state in 0..STATES {
                    let state_after = after(second, after(first, state));
                    *next_map |= u64::from(state_after) << (4 * state);
                }
                *next_ends = ends[i - reach] + ends[i];
            }
        }
    }

    /// Adds what a part has of a line.
    #[device]
    fn add(line: u32, seen: [u32; 4], histogram: &Buf<Atomic<u32>>) {
        for class in 0..CLASSES {
            if seen[class as usize] > 0 {
                histogram[line * CLASSES + class].fetch_add(seen[class as usize]);
            }
        }
    }

    #[wave(range(parts), after(joins))]
    fn tally(
        i: Index,
        text: &Buf<u8>,
        table: &Buf<u8>,
        map: &Buf<u64>,
        ends: &Buf<u32>,
        histogram: &Buf<Atomic<u32>>,
    ) {
        let (mut state, mut line) = match i {
            0 => (0, 0),
            _ => (after(map[i - 1], 0), ends[i - 1]),
        };
        let (start, end) = part(i, text);
        let mut seen = [0; 4];
        for at in start..end {
            let byte = text[at];
            let entry = table[state * 256 + u32::from(byte)];
            state = u32::from(entry & 15);
            if byte == b'\n' {
                add(line, seen, histogram);
                seen = [0; 4];
                line += 1;
            } else {
                seen[(entry >> 4) as usize] += 1;
            }
        }
        add(line, seen, histogram);
    }

    #[wave(range(lines), after(tally))]
    fn sum_up(
        i: Index,
        histogram: &Buf<u32>,
        code: &Reduce<Count>,
        comment: &Reduce<Count>,
        blank: &Reduce<Count>,
    ) {
        let first = i * CLASSES;
        let code_bytes = histogram[first + CODE] + histogram[first + LITERAL];
        if code_bytes > 0 {
            code.inc();
        } else if histogram[first + COMMENT] > 0 {
            comment.inc();
        } else {
            blank.inc();
        }
    }
}

/// The automaton of comments and literals as C and Rust mostly write them: `table[state * 256 + byte]`, from state 0.
fn automaton() -> Vec<u8> {
    const PLAIN: u8 = 0;
    const SLASH: u8 = 1;
    const LINE: u8 = 2;
    const BLOCK: u8 = 3;
    const STAR: u8 = 4;
    const STRING: u8 = 5;
    const STRING_ESCAPE: u8 = 6;
    const QUOTE: u8 = 7;
    const QUOTED: u8 = 8;
    const QUOTE_ESCAPE: u8 = 9;
    let plain = |byte: u8| match byte {
        // It may begin a comment: it makes a line neither code nor comment.
        b'/' => (BLANK, SLASH),
        b'"' => (LITERAL, STRING),
        b'\'' => (CODE, QUOTE),
        b' ' | b'\t' | b'\r' | b'\n' => (BLANK, PLAIN),
        _ => (CODE, PLAIN),
    };
    let mut table = vec![0; 4096];
    for state in PLAIN..=QUOTE_ESCAPE {
        for byte in 0..=u8::MAX {
            let (class, next): (u32, u8) = match (state, byte) {
                (SLASH, b'/') => (COMMENT, LINE),
                (SLASH, b'*') => (COMMENT, BLOCK),
                (LINE, b'\n') => (BLANK, PLAIN),
                (LINE, _) => (COMMENT, LINE),
                (BLOCK | STAR, b'*') => (COMMENT, STAR),
                (STAR, b'/') => (COMMENT, PLAIN),
                (BLOCK | STAR, _) => (COMMENT, BLOCK),
                (STRING, b'"') => (LITERAL, PLAIN),
                (STRING, b'\\') => (LITERAL, STRING_ESCAPE),
                (STRING | STRING_ESCAPE, _) => (LITERAL, STRING),
                // `'a'` and `'\n'` are literals, `'a` is a lifetime.
                (QUOTE, b'\\') => (LITERAL, QUOTE_ESCAPE),
                (QUOTE, _) => (LITERAL, QUOTED),
                (QUOTE_ESCAPE, _) => (LITERAL, QUOTED),
                (QUOTED, b'\'') => (LITERAL, PLAIN),
                _ => plain(byte),
            };
            table[usize::from(state) * 256 + usize::from(byte)] = (class as u8) << 4 | next;
        }
    }
    table
}

/// Counts code, comments and literals of each line of a source text with a finite automaton
///
/// Without --text, this example's own source is repeated.
#[derive(clap::Parser)]
#[command(name = "dfa")]
pub struct Dfa {
    /// Read this file
    #[arg(long, value_name = "FILE", conflicts_with = "len")]
    text: Option<PathBuf>,
    /// Bytes of the text without --text
    #[arg(long, value_name = "N", default_value_t = 1 << 22, value_parser = cli::number::<u32>(0..=u32::MAX / CLASSES))]
    len: u32,
    #[command(flatten)]
    shared: Shared,
}

impl Dfa {
    fn read(&self) -> Result<Vec<u8>, Failure> {
        let Some(path) = &self.text else {
            let own = include_bytes!("dfa.rs");
            let option = format!("--len {}", self.len);
            return cli::elements(&option, self.len as usize, |i| own[i % own.len()]);
        };
        let refused = |why: String| Failure::Other(format!("{}: {why}", path.display()));
        let text = files::read(path).map_err(|e| refused(e.to_string()))?;
        match u32::try_from(text.len()) {
            Ok(bytes) if bytes <= u32::MAX / CLASSES => Ok(text),
            _ => Err(refused("the file is too long: at most 1 GiB".into())),
        }
    }
}

impl Example for Dfa {
    const NAME: &'static str = "dfa";
    const IGNORES: &'static [&'static str] = &["--graph", "--source"];

    fn shared(&self) -> &Shared {
        &self.shared
    }

    fn default_graph(&self) -> Result<Option<GraphSpec>, Failure> {
        Ok(None)
    }

    fn run(&self, job: &mut Job<'_>) -> Result<(), Failure> {
        let text = self.read()?;
        let table = automaton();
        let bytes = text.len() as u32;
        let lines = 1 + text.iter().filter(|&&byte| byte == b'\n').count() as u32;
        job.set_sizes(text.len(), 0);
        let run = dfa::Run {
            text: &text,
            table: &table,
            bytes,
            parts: bytes.div_ceil(PART),
            lines,
            cells: lines * CLASSES,
        };
        let mut session = dfa::Session::new(job.runtime(), ())?;
        job.watch(session.progress());
        let out = job.measure(|| session.run(run), |out| &out.report)?;

        job.say(
            "text",
            format!("{} bytes, {} lines", count(bytes), count(lines)),
        );
        job.say(
            "lines",
            format!(
                "{} with code, {} with comments only, {} blank",
                count(out.code),
                count(out.comment),
                count(out.blank)
            ),
        );
        job.say_time();
        job.plan(dfa::PLAN)?;
        job.figure("lines", lines);
        job.figure("code", out.code);
        job.figure("comment", out.comment);
        job.figure("blank", out.blank);
        job.check(
            "one scan of the text",
            || oracle::classes(&text, &table),
            |expected| first_difference("count", &out.histogram, expected.as_flattened()),
        );
        job.save(CLASSES, &out.histogram)
    }
}

fn main() -> ExitCode {
    cli::main::<Dfa>()
}
