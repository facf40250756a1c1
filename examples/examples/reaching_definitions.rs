//! Which writes of a register may be the last one before each basic block of a program begins: what the values that the
//! block reads can be.
//!
//! A row of bits a block is as wide as its function needs. Without arguments it looks at its own executable:
//! `cargo run -p vyre-examples --example reaching_definitions`. For any other x86-64 program or library:
//! `cargo run --release -p vyre-examples --example reaching_definitions -- --graph elf-cfg:/usr/bin/git --check`.

use std::process::ExitCode;
use vyre_examples::cfg::{Cfg, Definitions, GENERAL};
use vyre_examples::cli::{self, Example, Failure, Job, Shared, count, first_difference};
use vyre_examples::passes::reaching;
use vyre_examples::{graph::GraphSpec, oracle};

/// Which writes of general registers may be the last ones before each basic block of a program begins
///
/// Without --graph it reads its own executable.
#[derive(clap::Parser)]
#[command(name = "reaching_definitions")]
pub struct ReachingDefinitions {
    /// Look at flags, vector and mask registers, too
    #[arg(long)]
    all_registers: bool,
    #[command(flatten)]
    shared: Shared,
}

impl Example for ReachingDefinitions {
    const NAME: &'static str = "reaching_definitions";
    const IGNORES: &'static [&'static str] = &["--source"];

    fn shared(&self) -> &Shared {
        &self.shared
    }

    fn default_graph(&self) -> Result<Option<GraphSpec>, Failure> {
        cli::own_blocks()
    }

    fn run(&self, job: &mut Job<'_>) -> Result<(), Failure> {
        let cfg = job.cfg()?;
        let registers = if self.all_registers {
            u64::MAX
        } else {
            GENERAL
        };
        let definitions =
            Definitions::of(&cfg, registers).map_err(|e| Failure::Other(e.to_string()))?;
        let topology = reaching::Topology {
            successors: &cfg.successors,
            defs: &definitions.defs,
            entry: &definitions.entry,
            row: &definitions.row,
            words: &definitions.words,
            register: &definitions.register,
            writes: &definitions.writes,
            bit: &definitions.bit,
        };
        let mut session = reaching::Session::new(job.runtime(), topology)?;
        job.watch(session.progress());
        let length = definitions.len();
        let out = job.measure(|| session.run(reaching::Run { length }), |out| &out.report)?;

        let pairs: u64 = out.reaching.iter().map(|w| u64::from(w.count_ones())).sum();
        let text = format!(
            "{} writes, in rows of {} words in all; {:.1} of them reach a block",
            count(definitions.bit.len()),
            count(length),
            pairs as f64 / cfg.uses.len().max(1) as f64
        );
        job.say("writes", text);
        let reads = Reads::of(&cfg, &definitions, &out.reaching);
        let text = format!(
            "{} of registers; {} can be of one write, {} of several, {} of none in the function",
            count(reads.one + reads.several + reads.none),
            count(reads.one),
            count(reads.several),
            count(reads.none)
        );
        job.say("reads", text);
        job.say_time();
        job.plan(reaching::PLAN)?;
        job.figure("writes", definitions.bit.len());
        job.figure("reaching", pairs);
        job.figure("one", reads.one);
        job.check(
            "a search from each write",
            || oracle::reaching_definitions(&cfg, &definitions),
            |expected| first_difference("word", &out.reaching, expected),
        );
        job.save(1, &out.reaching)
    }
}

/// Registers that blocks read before they write them, by the number of writes that the value can be of.
#[derive(Default)]
struct Reads {
    none: u64,
    one: u64,
    several: u64,
}

impl Reads {
    fn of(cfg: &Cfg, definitions: &Definitions, rows: &[u32]) -> Reads {
        let mut reads = Reads::default();
        for (block, uses) in (0u32..).zip(&cfg.uses) {
            let mut writes = [0u32; 64];
            for (register, word) in definitions.of_block(rows, block) {
                writes[register as usize] += word.count_ones();
            }
            for register in vyre_examples::cfg::ones(uses & GENERAL) {
                match writes[register as usize] {
                    0 => reads.none += 1,
                    1 => reads.one += 1,
                    _ => reads.several += 1,
                }
            }
        }
        reads
    }
}

fn main() -> ExitCode {
    cli::main::<ReachingDefinitions>()
}
