//! Which registers of a program are live where each basic block begins: what will be read before it is written again.
//!
//! Without arguments it looks at its own executable: `cargo run -p vyre-examples --example liveness`.
//! For any other x86-64 program or library:
//! `cargo run --release -p vyre-examples --example liveness -- --graph elf-cfg:/usr/bin/git --check`.

use std::cmp::Reverse;
use std::process::ExitCode;
use vyre_examples::cfg::GENERAL;
use vyre_examples::cli::{self, Example, Failure, Job, Shared, count, first_difference};
use vyre_examples::passes::liveness;
use vyre_examples::{graph::GraphSpec, oracle};

/// Which registers are live where each basic block of a program begins
///
/// Without --graph it reads its own executable. Flags, vector and mask registers count, too.
#[derive(clap::Parser)]
#[command(name = "liveness")]
pub struct Liveness {
    #[command(flatten)]
    shared: Shared,
}

impl Example for Liveness {
    const NAME: &'static str = "liveness";
    const IGNORES: &'static [&'static str] = &["--source"];

    fn shared(&self) -> &Shared {
        &self.shared
    }

    fn default_graph(&self) -> Result<Option<GraphSpec>, Failure> {
        cli::own_blocks()
    }

    fn run(&self, job: &mut Job<'_>) -> Result<(), Failure> {
        let cfg = job.cfg()?;
        let predecessors = cfg.predecessors();
        let topology = liveness::Topology {
            predecessors: &predecessors,
            uses: &cfg.uses,
            defs: &cfg.defs,
        };
        let mut session = liveness::Session::new(job.runtime(), topology)?;
        job.watch(session.progress());
        let out = job.measure(|| session.run(liveness::Run {}), |out| &out.report)?;

        let general = |live: u64| (live & GENERAL).count_ones();
        let sum: u64 = out.live.iter().map(|&l| u64::from(general(l))).sum();
        let blocks = cfg.uses.len();
        let text = format!(
            "{:.1} of 16 general registers where a block begins, in {} functions",
            sum as f64 / blocks.max(1) as f64,
            count(cfg.names.len())
        );
        job.say("live", text);
        // The first of several.
        let most = (0u32..)
            .zip(&out.live)
            .max_by_key(|&(block, &l)| (general(l), Reverse(block)));
        if let Some((block, &live)) = most {
            let text = format!("{} at {}", general(live), cfg.describe(block));
            job.say("most", text);
            job.figure("most", general(live));
            job.figure("at", block);
        }
        job.say_time();
        job.plan(liveness::PLAN)?;
        job.figure("live", sum);
        job.check(
            "a worklist",
            || oracle::liveness(&cfg.successors, &cfg.uses, &cfg.defs),
            |expected| first_difference("set", &out.live, expected),
        );
        job.save(1, &out.live)
    }
}

fn main() -> ExitCode {
    cli::main::<Liveness>()
}
