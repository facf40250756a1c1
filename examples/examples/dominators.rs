//! Dominators: which basic blocks of a function every path from its entry to a block goes through, and which of them is
//! the last one.
//!
//! A row of bits a block starts full and loses what a path can avoid. Its last bit says that no path has come yet.
//! Without arguments it looks at its own executable: `cargo run -p vyre-examples --example dominators`.
//! For any other x86-64 program or library:
//! `cargo run --release -p vyre-examples --example dominators -- --graph elf-cfg:/usr/bin/git --check`.

use std::cmp::Reverse;
use std::process::ExitCode;
use vyre::prelude::*;
use vyre_examples::cli::{self, Example, Failure, Job, Shared, count, first_difference};
use vyre_examples::{graph::GraphSpec, oracle};

/// No path leads to the block.
const UNREACHED: u32 = u32::MAX;

/// Rows that shrink, then the dominator with the most dominators of its own.
#[wave_graph]
#[pass(id = "dominators.rows", unproven)]
pub mod dominators {
    pub struct Data {
        #[topology]
        successors: Csr,
        /// Where the block's function is entered.
        #[topology(per = node)]
        entry: u32,
        /// The first word of each block's row.
        #[topology(per = node + 1)]
        row: u32,
        /// Blocks of the block's function: the number of the row's last bit.
        #[topology(per = node)]
        blocks: u32,
        #[scratch(per = length, init = u32::MAX)]
        above: u32,
        #[frontier(unique)]
        front: Frontier,
        /// Dominators of each block, itself among them; 0 without a path.
        #[output(per = node)]
        depth: u32,
        #[output(per = node, init = UNREACHED)]
        dominator: u32,
        length: u32,
    }

    /// Above an entry there is nothing but itself, and itself is its first bit.
    #[wave(nodes)]
    fn begin(v: Node, entry: &u32, row: &Buf<u32>, above: &Buf<Atomic<u32>>, front: &Push) {
        if v == *entry {
            for word in row[v]..row[v + 1] {
                above[word].store(u32::from(word == row[v]));
            }
            front.push(v);
        }
    }

    #[fixpoint(after(begin), until(front.is_empty()), max_rounds = 4_294_967_295)]
    mod shrinking {
        #[wave(edges(successors, from = front))]
        fn flow(e: Edge, entry: &Buf<u32>, row: &Buf<u32>, above: &Buf<Atomic<u32>>, front: &Push) {
            let own = e.dst - entry[e.dst];
            let mut shrank = false;
            for k in 0..row[e.src + 1] - row[e.src] {
                let mut kept = above[row[e.src] + k].load();
                if k == own / 32 {
                    kept |= 1 << (own % 32);
                }
                shrank |= above[row[e.dst] + k].fetch_and(kept) & !kept != 0;
            }
            if shrank {
                front.push(e.dst);
            }
        }
    }

    #[wave(nodes, after(shrinking))]
    fn measure(v: Node, row: &Buf<u32>, blocks: &u32, above: &Buf<u32>, depth: &mut u32) {
        let last = *blocks;
        if above[row[v] + last / 32] >> (last % 32) & 1 == 0 {
            for word in row[v]..row[v + 1] {
                *depth += above[word].count_ones();
            }
        }
    }

    #[wave(nodes, after(measure))]
    fn choose(
        v: Node,
        entry: &u32,
        row: &Buf<u32>,
        above: &Buf<u32>,
        depth: &Buf<u32>,
        dominator: &mut u32,
    ) {
        if v == *entry {
            *dominator = v;
        } else if depth[v] > 0 {
            for k in 0..row[v + 1] - row[v] {
                let mut word = above[row[v] + k];
                while word != 0 {
                    let u = *entry + 32 * k + word.trailing_zeros();
                    if depth[u] + 1 == depth[v] {
                        *dominator = u;
                    }
                    word &= word - 1;
                }
            }
        }
    }
}

/// Which basic block every path to a block goes through last
///
/// Without --graph it reads its own executable.
#[derive(clap::Parser)]
#[command(name = "dominators")]
pub struct Dominators {
    #[command(flatten)]
    shared: Shared,
}

impl Example for Dominators {
    const NAME: &'static str = "dominators";
    const IGNORES: &'static [&'static str] = &["--source"];

    fn shared(&self) -> &Shared {
        &self.shared
    }

    fn default_graph(&self) -> Result<Option<GraphSpec>, Failure> {
        cli::own_blocks()
    }

    fn run(&self, job: &mut Job<'_>) -> Result<(), Failure> {
        let cfg = job.cfg()?;
        let entry = cfg.entries();
        let blocks: Vec<u32> = cfg
            .parts()
            .flat_map(|part| part.clone().map(move |_| part.len() as u32))
            .collect();
        let row = cfg
            .rows(cfg.parts().map(|part| part.len() as u64 / 32 + 1))
            .map_err(|e| Failure::Other(e.to_string()))?;
        let topology = dominators::Topology {
            successors: &cfg.successors,
            entry: &entry,
            row: &row,
            blocks: &blocks,
        };
        let mut session = dominators::Session::new(job.runtime(), topology)?;
        job.watch(session.progress());
        let length = row.last().copied().unwrap_or(0);
        let out = job.measure(
            || session.run(dominators::Run { length }),
            |out| &out.report,
        )?;

        let reached = out.depth.iter().filter(|&&d| d > 0).count();
        let text = format!("{} of {} blocks", count(reached), count(blocks.len()));
        job.say("reached", text);
        // An edge to a block above its end is a loop's way back.
        let loops = (0..blocks.len() as u32).map(|v| {
            let heads = cfg.successors.neighbors(v).iter();
            heads
                .filter(|&head| is_above(&out.dominator, head, v))
                .count()
        });
        let loops: usize = loops.sum();
        job.say("loops", format!("{} ways back", count(loops)));
        // The first of several.
        let deepest = (0u32..)
            .zip(&out.depth)
            .max_by_key(|&(block, &d)| (d, Reverse(block)));
        if let Some((block, &depth)) = deepest {
            let text = format!("{} blocks above {}", count(depth), cfg.describe(block));
            job.say("deepest", text);
            job.figure("deepest", depth);
            job.figure("at", block);
        }
        job.say_time();
        job.plan(dominators::PLAN)?;
        job.figure("reached", reached);
        job.figure("ways_back", loops);
        job.check(
            "Cooper, Harvey and Kennedy's algorithm",
            || oracle::dominators(&cfg.successors, &cfg.functions),
            |expected| first_difference("dominator", &out.dominator, expected),
        );
        job.save(1, &out.dominator)
    }
}

/// Whether `head` dominates `v`.
fn is_above(dominator: &[u32], head: u32, mut v: u32) -> bool {
    while v != head {
        let next = dominator[v as usize];
        if next == UNREACHED || next == v {
            return false;
        }
        v = next;
    }
    dominator[head as usize] != UNREACHED
}

fn main() -> ExitCode {
    cli::main::<Dominators>()
}
