//! How data from outside can get from a source to a sink of a program: up from the source to functions that call it,
//! then down to what they call. Sources and sinks are functions by name, and the shortest way is shown.
//!
//! The call graph knows who calls whom, not which values are passed: a way is a place to look at, not a proof.
//!
//! Without arguments it looks at its own executable: `cargo run -p vyre-examples --example taint`.
//! For any other x86-64 program or library:
//! `cargo run --release -p vyre-examples --example taint -- --graph elf:/usr/bin/git --sources read --sinks 'exec*'`.

use std::process::ExitCode;
use vyre::prelude::*;
use vyre_examples::cli::{self, Example, Failure, Job, Shared, count, first_difference, plural};
use vyre_examples::graph::{Graph, GraphSpec};
use vyre_examples::oracle;

const UNSEEN: u32 = u32::MAX;

/// A search in two directions, and the least node before each.
#[wave_graph]
#[pass(id = "taint.calls", unproven)]
pub mod taint {
    pub struct Data {
        #[topology]
        calls: Csr,
        #[topology(reverse_of = calls)]
        callers: Csr,
        /// 1 for each source.
        #[input(per = node)]
        source: u32,
        #[frontier]
        rising: Frontier,
        #[frontier]
        falling: Frontier,
        /// Calls from a source up to each function.
        #[output(per = node, init = UNSEEN)]
        up: u32,
        /// Calls from a source up, and then down to each function.
        #[output(per = node, init = UNSEEN)]
        steps: u32,
        /// The least function before each on such a way up.
        #[output(per = node, init = UNSEEN)]
        below: u32,
        /// The least function before each on its last way down.
        #[output(per = node, init = UNSEEN)]
        above: u32,
        /// Functions that call a source, or one that does, and so on.
        #[reduce(count)]
        callers_of_sources: u64,
        #[reduce(count)]
        tainted: u64,
    }

    #[wave(nodes)]
    fn begin(f: Node, source: &u32, up: &mut u32, steps: &mut u32, rising: &Push, falling: &Push) {
        if *source != 0 {
            (*up, *steps) = (0, 0);
            rising.push(f);
            falling.push(f);
        }
    }

    #[fixpoint(
        after(begin),
        until(rising.is_empty() && falling.is_empty()),
        max_rounds = 4_294_967_294
    )]
    mod search {
        #[wave(edges(callers, from = rising))]
        fn rise(
            e: Edge,
            round: Round,
            up: &Buf<Atomic<u32>>,
            steps: &Buf<Atomic<u32>>,
            rising: &Push,
            falling: &Push,
        ) {
            if up[e.dst].compare_exchange(UNSEEN, round + 1) {
                rising.push(e.dst);
            }
            if steps[e.dst].compare_exchange(UNSEEN, round + 1) {
                falling.push(e.dst);
            }
        }

        #[wave(edges(calls, from = falling), after(rise))]
        fn fall(e: Edge, round: Round, steps: &Buf<Atomic<u32>>, falling: &Push) {
            if steps[e.dst].compare_exchange(UNSEEN, round + 1) {
                falling.push(e.dst);
            }
        }
    }

    #[wave(edges(calls), after(search))]
    fn choose(
        e: Edge,
        up: &Buf<u32>,
        steps: &Buf<u32>,
        below: &Buf<Atomic<u32>>,
        above: &Buf<Atomic<u32>>,
    ) {
        if up[e.dst] != UNSEEN && up[e.dst] + 1 == up[e.src] {
            below[e.src].fetch_min(e.dst);
        }
        if steps[e.src] != UNSEEN && steps[e.src] + 1 == steps[e.dst] {
            above[e.dst].fetch_min(e.src);
        }
    }

    #[wave(nodes, after(search))]
    fn tally(up: &u32, steps: &u32, callers_of_sources: &Reduce<Count>, tainted: &Reduce<Count>) {
        if *up != UNSEEN && *up > 0 {
            callers_of_sources.inc();
        }
        if *steps != UNSEEN {
            tainted.inc();
        }
    }
}

/// How data from outside can get from a source to a sink of a program
///
/// Without --graph it reads its own executable. A name may begin or end with `*`; a number is a node.
#[derive(clap::Parser)]
#[command(name = "taint")]
pub struct Taint {
    /// Functions that data comes from [default: those of the C library that read; of other graphs node 0]
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    sources: Vec<String>,
    /// Functions that data should not get to [default: those of the C library that run programs, load
    /// or remove files, or copy without a bound; of other graphs the last node]
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    sinks: Vec<String>,
    #[command(flatten)]
    shared: Shared,
}

const SOURCES: [&str; 13] = [
    "fgets", "fread", "getc", "getdelim", "getenv", "getline", "pread*", "read", "readlink",
    "readv", "recv", "recvfrom", "recvmsg",
];
const SINKS: [&str; 11] = [
    "dlopen",
    "exec*",
    "gets",
    "popen",
    "posix_spawn*",
    "sprintf",
    "strcat",
    "strcpy",
    "system",
    "unlink",
    "vsprintf",
];

impl Example for Taint {
    const NAME: &'static str = "taint";
    const IGNORES: &'static [&'static str] = &["--source"];

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
        let nodes = graph.csr.node_count() as u32;
        let last = nodes.saturating_sub(1).to_string();
        let sources = named(&graph, "source", &self.sources, &SOURCES, "0")?;
        let sinks = named(&graph, "sink", &self.sinks, &SINKS, &last)?;
        let source: Vec<u32> = sources.iter().map(|&s| u32::from(s)).collect();

        let mut session = taint::Session::new(job.runtime(), &graph.csr)?;
        job.watch(session.progress());
        let run = || taint::Run { source: &source };
        let out = job.measure(|| session.run(run()), |out| &out.report)?;

        let chosen = |set: &[bool]| set.iter().filter(|&&s| s).count();
        let text = format!(
            "{} of {} {}: {} {}, {} that can call them, what these can call",
            count(out.tainted),
            count(nodes),
            graph.node_kind(),
            count(chosen(&sources)),
            plural(chosen(&sources) as u64, "source"),
            count(out.callers_of_sources),
        );
        job.say("tainted", text);
        let ends = (0..nodes).filter(|&v| sinks[v as usize] && out.steps[v as usize] != UNSEEN);
        let text = format!(
            "{} of {} sinks",
            count(ends.clone().count()),
            count(chosen(&sinks))
        );
        job.say("reached", text);
        let nearest = ends.clone().min_by_key(|&v| (out.steps[v as usize], v));
        let way = nearest.map(|end| way_to(end, &out));
        match &way {
            Some(way) => say_way(job, &graph, way, &out.up),
            None => job.say("way", "none"),
        }
        job.say_time();
        job.plan(taint::PLAN)?;
        job.figure("callers", out.callers_of_sources);
        job.figure("tainted", out.tainted);
        job.figure("sinks", ends.count());
        let way = way.unwrap_or_default();
        job.figure("steps", way.len().saturating_sub(1));
        let shown: Vec<String> = way.iter().map(u32::to_string).collect();
        job.figure("way", shown.join(" "));
        job.check(
            "a search with a queue",
            || oracle::taint(&graph.csr, &sources),
            |(up, all)| {
                let steps = first_difference("way up", &out.up, up)
                    .or_else(|| first_difference("way", &out.steps, all));
                let expected = || nearest.map(|end| oracle::taint_way(&graph.csr, up, all, end));
                steps.or_else(|| first_difference("step", &way, &expected().unwrap_or_default()))
            },
        );
        job.save(1, &out.steps)
    }
}

/// The functions of these names; of the usual ones, if none are given.
fn named(
    graph: &Graph,
    what: &str,
    given: &[String],
    usual: &[&str],
    other: &str,
) -> Result<Vec<bool>, Failure> {
    let nodes = graph.csr.node_count();
    let names = graph.functions.as_ref().map(|f| f.names.as_slice());
    let patterns: Vec<&str> = match names {
        _ if !given.is_empty() => given.iter().map(String::as_str).collect(),
        Some(_) => usual.to_vec(),
        None => vec![other],
    };
    let mut set = vec![false; nodes];
    for pattern in patterns {
        let mut found = false;
        if let Some(chosen) = pattern.parse().ok().and_then(|v: usize| set.get_mut(v)) {
            (*chosen, found) = (true, true);
        }
        for (name, chosen) in names.unwrap_or_default().iter().zip(&mut set) {
            if fits(pattern, name) {
                (*chosen, found) = (true, true);
            }
        }
        if !found && !given.is_empty() {
            return Err(Failure::Other(format!(
                "{what} {pattern} is no function of the graph, and no number below {}",
                count(nodes)
            )));
        }
    }
    Ok(set)
}

/// Whether a name is that of a pattern, which may begin or end with `*`.
fn fits(pattern: &str, name: &str) -> bool {
    match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(rest), Some(_)) => name.contains(rest.trim_end_matches('*')),
        (Some(end), None) => name.ends_with(end),
        (None, Some(start)) => name.starts_with(start),
        (None, None) => name == pattern,
    }
}

/// The nodes from a source to the end: of several shortest ways the one whose node before each is the least, as long
/// as the way went down, and then the least below.
fn way_to(end: u32, out: &taint::Output) -> Vec<u32> {
    let mut way = vec![end];
    let mut at = end as usize;
    while out.up[at] != out.steps[at] {
        at = out.above[at] as usize;
        way.push(at as u32);
    }
    while out.up[at] != 0 {
        at = out.below[at] as usize;
        way.push(at as u32);
    }
    way.reverse();
    way
}

fn say_way(job: &mut Job<'_>, graph: &Graph, way: &[u32], up: &[u32]) {
    let steps = way.len() as u64 - 1;
    job.say("way", format!("{} {}", count(steps), plural(steps, "call")));
    for (steps, &node) in (0u32..).zip(way) {
        let name = match &graph.functions {
            Some(functions) => cli::short(&functions.names[node as usize]),
            None => format!("node {node}"),
        };
        let kind = match steps {
            0 => "",
            _ if up[node as usize] == steps => "called by ",
            _ => "calls ",
        };
        job.print(format_args!("    {kind}{name}"));
    }
}

fn main() -> ExitCode {
    cli::main::<Taint>()
}
