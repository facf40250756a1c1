//! Which functions of a program can never run? Those that no path of calls from its entry reaches.
//!
//! Without arguments it looks at its own executable: `cargo run -p vyre-examples --example reachability`.
//! For any other x86-64 program or library:
//! `cargo run --release -p vyre-examples --example reachability -- --graph elf:/usr/bin/ls`.

use std::cmp::Reverse;
use std::process::ExitCode;
use vyre::prelude::*;
use vyre_examples::cli::{self, Example, Failure, Job, Shared, count, first_difference, plural};
use vyre_examples::graph::{Functions, GraphSpec};
use vyre_examples::oracle;

const UNSEEN: u32 = u32::MAX;

/// A search from the entry, then a count.
#[wave_graph]
#[pass(id = "reachability", unproven)]
pub mod reachability {
    pub struct Data {
        /// Functions, and what each can call.
        #[topology]
        calls: Csr,
        /// Functions seen in the last round.
        #[frontier]
        front: Frontier,
        /// Calls from the entry to each function.
        #[output(per = node)]
        depth: u32,
        #[reduce(count)]
        reached: u64,
        #[reduce(max)]
        deepest: u32,
        entry: u32,
    }

    #[wave(nodes)]
    fn init(f: Node, entry: u32, depth: &mut u32, front: &Push) {
        *depth = UNSEEN;
        if f == entry {
            *depth = 0;
            front.push(f);
        }
    }

    #[fixpoint(after(init), until(front.is_empty()), max_rounds = 4_294_967_294)]
    mod search {
        #[wave(edges(calls, from = front))]
        fn visit(call: Edge, round: Round, depth: &Buf<Atomic<u32>>, front: &Push) {
            if depth[call.dst].compare_exchange(UNSEEN, round + 1) {
                front.push(call.dst);
            }
        }
    }

    #[wave(nodes, after(search))]
    fn tally(depth: &u32, reached: &Reduce<Count>, deepest: &Reduce<Max<u32>>) {
        if *depth != UNSEEN {
            reached.inc();
            deepest.max(*depth);
        }
    }
}

/// Which functions of a program no path of calls from its entry reaches
///
/// Without --graph it reads its own executable. Calls, jumps and taken addresses count, so what is left is dead code as
/// far as the machine code says.
#[derive(clap::Parser)]
#[command(name = "reachability")]
pub struct Reachability {
    /// List everything that is not reached, not just the beginning
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    shared: Shared,
}

impl Example for Reachability {
    const NAME: &'static str = "reachability";

    fn shared(&self) -> &Shared {
        &self.shared
    }

    fn default_graph(&self) -> Result<Option<GraphSpec>, Failure> {
        let made_up = GraphSpec::Rmat {
            scale: 12,
            edge_factor: 2,
            seed: 1,
        };
        Ok(Some(cli::own_executable()?.map_or(made_up, GraphSpec::Elf)))
    }

    fn run(&self, job: &mut Job<'_>) -> Result<(), Failure> {
        let graph = job.graph();
        let entry = job.source()?;
        let mut session = reachability::Session::new(job.runtime(), &graph.csr)?;
        let run = || reachability::Run { entry };
        job.watch(session.progress());
        let out = job.measure(|| session.run(run()), |out| &out.report)?;

        let from = match &graph.functions {
            Some(functions) => cli::short(&functions.names[entry as usize]),
            None => format!("node {entry}"),
        };
        let nodes = graph.csr.node_count() as u64;
        let (reached, depth) = (out.reached, out.deepest);
        job.say(
            "reached",
            format!(
                "{} of {} {} from {from}, depth {depth}",
                count(reached),
                count(nodes),
                graph.node_kind()
            ),
        );
        job.say("by depth", by_depth(&out.depth, depth));
        let dead = (0u32..).zip(&out.depth).filter(|&(_, &d)| d == UNSEEN);
        let dead: Vec<u32> = dead.map(|(f, _)| f).collect();
        let limit = if self.all { usize::MAX } else { 12 };
        match &graph.functions {
            _ if dead.is_empty() => job.say("dead", "nothing"),
            Some(functions) => say_dead(job, functions, dead, limit),
            None => say_unreached(job, &dead, limit),
        }
        job.say_time();
        job.figure("source", entry);
        job.figure("reached", reached);
        job.figure("unreached", nodes - reached);
        job.figure("depth", depth);
        job.check(
            "a search with a queue",
            || oracle::bfs(&graph.csr, entry),
            |expected| first_difference("depth", &out.depth, expected),
        );
        job.save(1, &out.depth)?;
        job.print_plan(reachability::PLAN);
        job.pictures(reachability::PLAN)
    }
}

/// Dead functions, the largest first.
fn say_dead(job: &mut Job<'_>, functions: &Functions, mut dead: Vec<u32>, limit: usize) {
    let size = |f: u32| functions.sizes_bytes[f as usize];
    let bytes: u64 = dead.iter().map(|&f| size(f)).sum();
    let n = dead.len() as u64;
    let total = format!(
        "{} {}, {} bytes of code that no path from there reaches:",
        count(n),
        plural(n, "function"),
        count(bytes)
    );
    job.say("dead", total);
    dead.sort_by_key(|&f| (Reverse(size(f)), f));
    for &f in dead.iter().take(limit) {
        let name = cli::short(&functions.names[f as usize]);
        job.print(format_args!("    {:>9}  {name}", count(size(f))));
    }
    say_more(job, dead.len(), limit);
}

/// Unreached nodes of a graph that is no program.
fn say_unreached(job: &mut Job<'_>, dead: &[u32], limit: usize) {
    job.say("unreached", format!("{} nodes:", count(dead.len())));
    let shown: Vec<String> = dead.iter().take(limit).map(u32::to_string).collect();
    job.print(format_args!("    {}", shown.join(" ")));
    say_more(job, dead.len(), limit);
}

fn say_more(job: &mut Job<'_>, all: usize, limit: usize) {
    if all > limit {
        let more = count(all - limit);
        job.print(format_args!("    and {more} more; --all lists them"));
    }
}

/// How many functions are at each depth, as a row of bars.
fn by_depth(depths: &[u32], deepest: u32) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    const COLUMNS: usize = 64;
    let levels = deepest as usize + 1;
    let columns = levels.min(COLUMNS);
    let mut counts = vec![0usize; columns];
    for &depth in depths.iter().filter(|&&d| d != UNSEEN) {
        counts[depth as usize * columns / levels] += 1;
    }
    let most = counts.iter().copied().max().unwrap_or(0).max(1);
    let bars: String = counts
        .iter()
        .map(|&n| BARS[n * (BARS.len() - 1) / most])
        .collect();
    format!("{bars}  0 to {deepest}, at most {}", count(most))
}

/// Code that nothing calls, so that this program has something to find in itself. The linker would drop it, but for the
/// one pointer that `#[used]` makes it keep, and which nothing reads.
mod attic {
    #[used]
    static KEPT: fn(u64) -> bool = is_even_the_hard_way;

    /// Mutual recursion does not save it: a cycle is alive only if something outside leads into it.
    #[inline(never)]
    fn is_even_the_hard_way(n: u64) -> bool {
        n == 0 || is_odd_the_hard_way(n - 1) ^ (checksum_of_1998(n) == n)
    }

    #[inline(never)]
    fn is_odd_the_hard_way(n: u64) -> bool {
        n != 0 && is_even_the_hard_way(n - 1) ^ (checksum_of_1998(!n) == n)
    }

    #[inline(never)]
    fn checksum_of_1998(n: u64) -> u64 {
        n.to_le_bytes()
            .iter()
            .fold(1998, |sum, &byte| sum.rotate_left(5) ^ u64::from(byte))
    }
}

fn main() -> ExitCode {
    cli::main::<Reachability>()
}
