//! Breadth-first search: how many edges away each node is from a source.
//!
//! `cargo run --release -p vyre-examples --example bfs -- --graph grid:1000x1000 --source 0 --check`

use std::num::NonZeroU32;
use std::process::ExitCode;
use std::time::Instant;
use vyre::Report;
use vyre_examples::cli::{self, Example, Failure, Job, Shared, count, first_difference};
use vyre_examples::passes::{UNSEEN, bfs};
use vyre_examples::{graph::GraphSpec, oracle};

/// How many edges away from a source each node is
#[derive(clap::Parser)]
#[command(name = "bfs")]
pub struct Bfs {
    /// Search from N nodes in one batch: the source, and others spread evenly over the graph
    #[arg(long, value_name = "N", value_parser = cli::number::<NonZeroU32>(1..=u32::MAX))]
    batch: Option<NonZeroU32>,
    /// Run the searches of --batch one after the other instead, a launch each
    #[arg(long, requires = "batch")]
    one_by_one: bool,
    /// Say what was decided for the last launches, and what came of it
    #[arg(long)]
    explain: bool,
    #[command(flatten)]
    shared: Shared,
}

impl Example for Bfs {
    const NAME: &'static str = "bfs";

    fn shared(&self) -> &Shared {
        &self.shared
    }

    fn default_graph(&self) -> Result<Option<GraphSpec>, Failure> {
        Ok(Some(GraphSpec::Grid {
            width: 1000,
            height: 1000,
        }))
    }

    fn run(&self, job: &mut Job<'_>) -> Result<(), Failure> {
        let graph = job.graph();
        let source = job.source()?;
        let mut session = bfs::Session::new(job.runtime(), &graph.csr)?;
        if let Some(queries) = self.batch {
            return self.run_batch(job, &mut session, (source, queries.get()));
        }
        job.watch(session.progress());
        let out = job.measure(|| session.run(bfs::Run { source }), |out| &out.report)?;

        let reached = out.dist.iter().filter(|&&d| d != UNSEEN).count();
        let depth = out.dist.iter().copied().filter(|&d| d != UNSEEN).max();
        let depth = depth.unwrap_or(0);
        let nodes = count(graph.csr.node_count());
        job.say(
            "reached",
            format!(
                "{} of {nodes} nodes from node {source}, depth {}",
                count(reached),
                count(depth)
            ),
        );
        job.say_time();
        self.explain(job, &session);
        job.plan(bfs::PLAN)?;
        job.figure("source", source);
        job.figure("reached", reached);
        job.figure("depth", depth);
        job.check(
            "breadth-first search with a queue",
            || oracle::bfs(&graph.csr, source),
            |expected| first_difference("distance", &out.dist, expected),
        );
        job.save(1, &out.dist)
    }
}

type Searched = (Vec<Vec<u32>>, Option<u64>, Report);

/// What a batch is measured against: a launch a search, all results kept.
fn one_by_one(session: &mut bfs::Session, sources: &[u32]) -> Result<Searched, vyre::Error> {
    let started = Instant::now();
    let before = session.counters().map(|c| c.launches);
    let mut report = Report {
        rounds: vec![0],
        ..Report::default()
    };
    let mut dists = Vec::with_capacity(sources.len());
    for &source in sources {
        let out = session.run(bfs::Run { source })?;
        report.rounds[0] += out.report.total_rounds();
        report.backend = out.report.backend;
        dists.push(out.dist);
    }
    report.wall_ns = u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX);
    let after = session.counters().map(|c| c.launches);
    let launches = before.zip(after).map(|(before, after)| after - before);
    Ok((dists, launches, report))
}

impl Bfs {
    fn explain(&self, job: &mut Job<'_>, session: &bfs::Session) {
        if self.explain {
            job.say("decided", "for the last launches:");
            for line in session.explain().to_string().lines() {
                job.print(format_args!("    {line}"));
            }
        }
    }

    fn run_batch(
        &self,
        job: &mut Job<'_>,
        session: &mut bfs::Session,
        (source, queries): (u32, u32),
    ) -> Result<(), Failure> {
        let graph = job.graph();
        let nodes = graph.csr.node_count() as u64;
        let option = format!("--batch {queries}");
        // Each has a source, a query and a result; a check has results of its own.
        let results = 1 + u64::from(self.shared.check);
        let query_bytes = 4 + size_of::<bfs::Output>() as u64 + results * 4 * nodes;
        cli::room(&option, query_bytes.saturating_mul(queries.into()))?;
        let at = |i: usize| (u64::from(source) + i as u64 * nodes / u64::from(queries)) % nodes;
        let sources = cli::elements(&option, queries as usize, |i| at(i) as u32)?;
        let (dists, launches, _) = job.measure(
            || {
                if self.one_by_one {
                    return one_by_one(session, &sources);
                }
                for &source in &sources {
                    session.submit(bfs::Run { source }, 0);
                }
                let batch = session.run_batch()?;
                let mut report = Report {
                    wall_ns: batch.wall_ns,
                    rounds: vec![0],
                    ..Report::default()
                };
                let mut dists = Vec::with_capacity(sources.len());
                for (_, result) in batch.results {
                    let out = result?;
                    report.rounds[0] += out.report.total_rounds();
                    report.backend = out.report.backend;
                    dists.push(out.dist);
                }
                Ok((dists, batch.launches, report))
            },
            |(_, _, report)| report,
        )?;
        let seen = || dists.iter().flatten().copied().filter(|&d| d != UNSEEN);
        let (reached, depth) = (seen().count(), seen().max().unwrap_or(0));
        let launched = match launches {
            Some(n) => format!(
                " in {} {}",
                count(n),
                if n == 1 { "launch" } else { "launches" }
            ),
            None => String::new(),
        };
        job.say("queries", format!("{}{launched}", count(queries)));
        job.say(
            "reached",
            format!(
                "{} nodes in all, {} a query on average, depth {}",
                count(reached),
                count(reached as u64 / u64::from(queries)),
                count(depth)
            ),
        );
        job.say_time();
        self.explain(job, session);
        job.plan(bfs::PLAN)?;
        job.figure("source", source);
        job.figure("queries", queries);
        job.figure("launches", launches);
        job.figure("reached", reached);
        job.figure("depth", depth);
        job.check(
            "breadth-first search with a queue, from each source",
            || {
                let from = |&source: &u32| oracle::bfs(&graph.csr, source);
                sources.iter().map(from).collect::<Vec<_>>()
            },
            |expected| {
                let pairs = sources.iter().zip(dists.iter().zip(expected));
                pairs
                    .filter_map(|(source, (ours, expected))| {
                        let what = format!("distance from {source}");
                        first_difference(&what, ours, expected)
                    })
                    .next()
            },
        );
        job.save(nodes as u32, &dists.concat())
    }
}

fn main() -> ExitCode {
    cli::main::<Bfs>()
}
