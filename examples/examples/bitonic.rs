//! A bitonic sort: keys in order, and where each one came from.
//!
//! A stage merges sorted blocks into blocks twice as long. Its first step compares mirror images in a block, the others
//! neighbours at half the distance of the step before, so every comparison puts the smaller record first and any length
//! can be sorted: who has no partner keeps its record.
//!
//! `cargo run --release -p vyre-examples --example bitonic -- --len 1000000 --check`

use std::process::ExitCode;
use vyre::prelude::*;
use vyre_examples::cli::{self, Example, Failure, Job, Shared, count, first_difference};
use vyre_examples::graph::GraphSpec;

/// Sorts records of a key and its place; no two are equal, so the sort is stable.
#[wave_graph]
#[pass(id = "sort.bitonic", unproven)]
pub mod bitonic {
    pub struct Data {
        #[input(per = n)]
        key: u32,
        #[scratch(per = n)]
        record: u64,
        #[scratch(per = n)]
        next: u64,
        #[output(per = n)]
        sorted: u32,
        #[output(per = n)]
        place: u32,
        n: u32,
        /// Steps of all stages.
        steps: u32,
    }

    /// Stage and step within it of a round: stage 0 has one step, each further one has one more.
    #[device]
    fn stage_of(round: u32) -> (u32, u32) {
        let (mut stage, mut step) = (0, round);
        while step > stage {
            stage += 1;
            step -= stage;
        }
        (stage, step)
    }

    #[wave(range(n))]
    fn pack(i: Index, key: &u32, record: &mut u64) {
        *record = u64::from(*key) << 32 | u64::from(i);
    }

    #[fixpoint(after(pack), until(round + 1 >= steps), max_rounds = 1_024, swap(record, next))]
    mod steps_of_stages {
        #[wave(range(n))]
        fn exchange(i: Index, round: Round, n: u32, record: &Buf<u64>, next: &mut u64) {
            let (stage, step) = stage_of(round);
            let distance = 1u32 << (stage - step);
            let partner = if step == 0 {
                i ^ (2 * distance - 1)
            } else {
                i ^ distance
            };
            let mine = record[i];
            *next = if partner >= n {
                mine
            } else if i < partner {
                mine.min(record[partner])
            } else {
                mine.max(record[partner])
            };
        }
    }

    #[wave(range(n), after(steps_of_stages))]
    fn unpack(record: &u64, sorted: &mut u32, place: &mut u32) {
        *sorted = (*record >> 32) as u32;
        *place = *record as u32;
    }
}

/// Sorts random keys by a bitonic network, and says where each one came from
#[derive(clap::Parser)]
#[command(name = "bitonic")]
pub struct Bitonic {
    /// Number of keys
    #[arg(long, value_name = "N", default_value_t = 1 << 20, value_parser = cli::number::<u32>(1..=1 << 28))]
    len: u32,
    /// Seed of the keys
    #[arg(long, default_value_t = 1, value_parser = cli::number::<u32>(0..=u32::MAX))]
    seed: u32,
    #[command(flatten)]
    shared: Shared,
}

impl Example for Bitonic {
    const NAME: &'static str = "bitonic";
    const IGNORES: &'static [&'static str] = &["--graph", "--source"];

    fn shared(&self) -> &Shared {
        &self.shared
    }

    fn default_graph(&self) -> Result<Option<GraphSpec>, Failure> {
        Ok(None)
    }

    fn run(&self, job: &mut Job<'_>) -> Result<(), Failure> {
        let n = self.len;
        job.set_sizes(n as usize, 0);
        let option = format!("--len {n}");
        let key = cli::elements(&option, n as usize, |i| random(i as u32, self.seed))?;
        let stages = n.next_power_of_two().trailing_zeros();
        let run = bitonic::Run {
            key: &key,
            n,
            steps: stages * (stages + 1) / 2,
        };
        let mut session = bitonic::Session::new(job.runtime(), ())?;
        job.watch(session.progress());
        let out = job.measure(|| session.run(run), |out| &out.report)?;

        let (least, most) = (out.sorted[0], out.sorted[n as usize - 1]);
        job.say(
            "sorted",
            format!("{} keys, from {least} to {most}", count(n)),
        );
        job.say_time();
        job.plan(bitonic::PLAN)?;
        job.figure("steps", run.steps);
        job.figure("least", least);
        job.figure("most", most);
        job.check(
            "the standard library's stable sort",
            || {
                let mut place: Vec<u32> = (0..n).collect();
                place.sort_by_key(|&i| key[i as usize]);
                place
            },
            |expected| {
                let keys: Vec<u32> = expected.iter().map(|&i| key[i as usize]).collect();
                first_difference("key", &out.sorted, &keys)
                    .or_else(|| first_difference("place", &out.place, expected))
            },
        );
        job.save(1, &out.sorted)
    }
}

/// A key; some repeat.
fn random(i: u32, seed: u32) -> u32 {
    let mut h = u64::from(i) ^ u64::from(seed).rotate_left(32);
    h = (h ^ h >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    h = (h ^ h >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    (h >> 40) as u32
}

fn main() -> ExitCode {
    cli::main::<Bitonic>()
}
