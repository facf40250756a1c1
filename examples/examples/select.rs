//! Many searches of one graph: which way to run them is measured here, and selected by how many there are to be.
//!
//! Ways that take time to prepare pay where enough searches follow: a session for batches, and the same on a graph
//! whose nodes are renumbered, those with many edges first, so that what is looked at often lies together.
//!
//! `cargo run --release -p vyre-examples --example select -- --graph rmat:16:16 --searches 1000`

use std::num::{NonZeroU32, NonZeroUsize};
use std::process::ExitCode;
use std::time::Instant;
use vyre::core::plan::passes::{Ranking, Sample};
use vyre::pipeline::{Choice, Pipeline};
use vyre::prelude::*;
use vyre::{Csr, Error};
use vyre_examples::cli::{self, Example, Failure, Job, Shared, count, first_difference};
use vyre_examples::passes::bfs;
use vyre_examples::{graph::GraphSpec, oracle};

/// Searches of one run of the pipeline.
const AT_A_TIME: usize = 8;

/// Run searches in the way that pays here, by what was measured
#[derive(clap::Parser)]
#[command(name = "select")]
pub struct Select {
    /// Searches to run, eight at a time, from nodes spread evenly over the graph
    #[arg(long, value_name = "N", default_value = "64", value_parser = cli::number::<NonZeroU32>(1..=u32::MAX))]
    searches: NonZeroU32,
    /// Timed runs of each way before it is decided
    #[arg(long, value_name = "N", default_value = "3", value_parser = cli::number::<NonZeroU32>(1..=u32::MAX))]
    tries: NonZeroU32,
    /// How ways are ranked
    #[arg(long, value_enum, default_value_t = Rank::Time)]
    ranking: Rank,
    #[command(flatten)]
    shared: Shared,
}

/// Argument of `--ranking`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Rank {
    /// By the time that a way is expected to save, less what preparing it takes
    Time,
    /// By the speedup and thresholds that it has, whatever the sample
    Thresholds,
}

/// What the ways work on: the searches of a run, and how far each reached.
#[derive(Default)]
struct Searches {
    sources: Vec<u32>,
    dists: Vec<Vec<u32>>,
}

/// All searches in one batch.
fn batch(
    session: &mut bfs::Session,
    sources: impl Iterator<Item = u32>,
) -> Result<Vec<Vec<u32>>, Error> {
    for source in sources {
        session.submit(bfs::Run { source }, 0);
    }
    let results = session.run_batch()?.results;
    results.into_iter().map(|(_, out)| Ok(out?.dist)).collect()
}

/// The same graph with other numbers for its nodes, those with many edges first; the new number of each node.
fn renumbered(graph: &Csr) -> Result<(Csr, Vec<u32>), Error> {
    let nodes = graph.node_count() as u32;
    let mut by_degree: Vec<u32> = (0..nodes).collect();
    by_degree.sort_by_key(|&v| std::cmp::Reverse(graph.degree(v)));
    let mut number = vec![0; nodes as usize];
    for (new, &old) in (0..).zip(&by_degree) {
        number[old as usize] = new;
    }
    let mut offsets = vec![0];
    let mut targets = Vec::with_capacity(graph.edge_count());
    for &old in &by_degree {
        let mut row: Vec<u32> = graph
            .neighbors(old)
            .iter()
            .map(|v| number[v as usize])
            .collect();
        row.sort_unstable();
        targets.append(&mut row);
        offsets.push(targets.len() as u32);
    }
    let graph = Csr::new(offsets, targets).expect("the same nodes and edges");
    Ok((graph, number))
}

/// The ways, of which one runs.
fn ways<'p>(runtime: &'p Runtime, graph: &'p Csr) -> Result<Pipeline<'p, Searches>, Error> {
    let mut one = bfs::Session::new(runtime, graph)?;
    let mut pipeline = Pipeline::new();
    pipeline
        .stage("searches")
        .baseline(move |searches: &mut Searches| {
            let each = searches.sources.iter();
            let each = each.map(|&source| Ok(one.run(bfs::Run { source })?.dist));
            searches.dists = each.collect::<Result<_, Error>>()?;
            Ok(())
        })
        .prepared(
            Choice::new("batch"),
            move || bfs::Session::new(runtime, graph),
            |session, searches| {
                searches.dists = batch(session, searches.sources.iter().copied())?;
                Ok(())
            },
        )
        .prepared(
            Choice {
                scratch_bytes: 4 * (graph.offsets().len() + graph.targets().len()) as u64,
                ..Choice::new("batch.renumbered")
            },
            move || {
                let (graph, number) = renumbered(graph)?;
                Ok((bfs::Session::new(runtime, &graph)?, number))
            },
            |(session, number), searches| {
                let sources = searches.sources.iter().map(|&v| number[v as usize]);
                let dists = batch(session, sources)?;
                let old = |dist: &Vec<u32>| number.iter().map(|&v| dist[v as usize]).collect();
                searches.dists = dists.iter().map(old).collect();
                Ok(())
            },
        )
        .unavailable(Choice::jit(), "it waits for compiled passes");
    Ok(pipeline)
}

impl Example for Select {
    const NAME: &'static str = "select";
    const IGNORES: &'static [&'static str] = &["--repeat"];

    fn shared(&self) -> &Shared {
        &self.shared
    }

    fn default_graph(&self) -> Result<Option<GraphSpec>, Failure> {
        Ok(Some(GraphSpec::Rmat {
            scale: 14,
            edge_factor: 16,
            seed: 1,
        }))
    }

    fn run(&self, job: &mut Job<'_>) -> Result<(), Failure> {
        let (graph, runtime) = (job.graph(), job.runtime().clone().alone());
        let nodes = graph.csr.node_count() as u64;
        let (first, searches) = (job.source()?, u64::from(self.searches.get()));
        let option = format!("--searches {searches}");
        // Each has a source and a result; a check has results of its own.
        let results = 1 + u64::from(self.shared.check);
        let search_bytes = 4 + results * (size_of::<Vec<u32>>() as u64 + 4 * nodes);
        cli::room(&option, search_bytes.saturating_mul(searches))?;
        let at = |i: usize| (u64::from(first) + i as u64 * nodes / searches) % nodes;
        let sources = cli::elements(&option, searches as usize, |i| at(i) as u32)?;
        let runs: Vec<&[u32]> = sources.chunks(AT_A_TIME).collect();

        let mut pipeline = ways(&runtime, &graph.csr)?;
        if self.ranking == Rank::Thresholds {
            pipeline.set_ranking(Ranking::Thresholds);
        }
        let mut state = Searches {
            sources: runs[0].to_vec(),
            ..Searches::default()
        };
        let tries = NonZeroUsize::try_from(self.tries).unwrap_or(NonZeroUsize::MAX);
        pipeline.measure(tries, &mut state)?;
        let measured: Vec<String> = pipeline
            .choices()
            .map(|(_, c)| {
                let (whole, rest) = (c.speedup_bps / 10_000, c.speedup_bps % 10_000 / 100);
                let ms = c.planning_cost_ns as f64 / 1e6;
                format!(
                    "`{}` is {whole}.{rest:02}x as fast, and takes {ms:.3} ms to prepare",
                    c.id
                )
            })
            .collect();
        job.say("measured", measured.join("; "));
        let sample = Sample {
            frontier_items: nodes,
            reuse: runs.len() as u64,
            planning_budget_ns: u64::MAX,
            scratch_budget_bytes: runtime.memory().map_or(u64::MAX, |(all, used)| all - used),
            ..Sample::default()
        };
        let mut selected = pipeline.select(&sample).map_err(Error::from)?;
        job.say("selected", format!("for {} runs:", count(sample.reuse)));
        for line in selected.to_string().lines() {
            job.print(format_args!("    {line}"));
        }
        let chosen = selected.chosen().next().flatten();
        let chosen = chosen.unwrap_or("baseline").to_owned();

        let started = Instant::now();
        let mut dists = Vec::with_capacity(sources.len());
        for run in runs {
            state.sources = run.to_vec();
            selected.run(&mut state)?;
            dists.append(&mut state.dists);
        }
        let wall = started.elapsed();
        job.say(
            "ran",
            format!(
                "{} searches in {:.3} ms",
                count(searches),
                wall.as_secs_f64() * 1e3
            ),
        );
        let plans = runtime.planning().sessions;
        job.say(
            "plans",
            format!(
                "{} made, {} found in the runtime",
                count(plans.misses),
                count(plans.hits)
            ),
        );
        job.say_time();
        job.plan(bfs::PLAN)?;
        job.figure("selected", chosen);
        job.figure("searches", searches);
        job.figure("wall_ms", wall.as_secs_f64() * 1e3);
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
    cli::main::<Select>()
}
