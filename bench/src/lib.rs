//! The benchmark: workloads x rivals in one process, every timed result checked.
//!
//! `cargo run --release -p vyre-bench` is a thin shell around [`main`]. A cell is one rival on one workload: it
//! prepares once, warms up once, and then runs until its time is up. Inputs are made once and shared; a result that
//! differs from a sequential oracle's makes the cell wrong and the process fail.

mod cold;
mod corpus;
pub mod cuda;
mod micro;
pub mod readback;
pub mod report;
pub mod rivals;
mod stop;
pub mod workloads;

use clap::{Parser, ValueEnum};
use report::Table;
use rivals::{Place, Rival, Skip};
use std::ffi::OsString;
use std::io::{self, Write};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use thiserror::Error;
use vyre::Runtime;
use vyre::cuda::Shape;
use vyre_examples::cli::{count, number, time};
use vyre_examples::formats::write_file;
use workloads::{Inputs, Name, Scale, Workload};

/// Measures vyre against other ways to compute the same, and checks every result
///
/// Without a GPU it runs what runs on the CPU and says what it leaves out.
#[derive(Clone, Debug, Parser)]
#[command(name = "bench", args_conflicts_with_subcommands = true)]
pub struct Bench {
    #[command(subcommand)]
    command: Option<Command>,
    /// Workloads to run, separated by commas [default: all]
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub workloads: Vec<Name>,
    /// Rivals to run, separated by commas; named ones run even where they take long [default: all]
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub rivals: Vec<String>,
    /// Run vyre's compiled passes also with modules of these shapes, separated by commas: threads of a CTA and CTAs of a
    /// multiprocessor, such as 512x3
    #[arg(long, value_delimiter = ',', value_name = "SHAPES")]
    pub shapes: Vec<Shape>,
    /// Measure passes of the corpus instead (docs/CORPUS.md), separated by commas [default: all]
    #[arg(long, value_delimiter = ',', num_args = 0.., value_name = "NAMES")]
    pub corpus: Option<Vec<String>>,
    /// Size of the inputs
    #[arg(long, value_enum, default_value_t)]
    pub scale: Scale,
    /// Seconds of measured runs a cell; a run that takes longer than this is the only one
    #[arg(long, value_name = "S", default_value_t = 1.0, value_parser = seconds)]
    pub cap: f64,
    /// Measured runs a cell at most
    #[arg(long, value_name = "N", default_value = "50", value_parser = number::<NonZeroU32>(1..=u32::MAX))]
    pub runs: NonZeroU32,
    /// Control-flow graph of the workloads on programs, as `bench cfg` wrote it [default: the toolchain's librustc_driver]
    #[arg(long, value_name = "FILE")]
    pub cfg: Option<PathBuf>,
    /// Graph of the workloads closure-file and same-generation-file, such as a list of edges [default: they are left out]
    #[arg(long, value_name = "FILE")]
    pub edges: Option<PathBuf>,
    /// Write one line a cell
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Write tables
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<PathBuf>,
    /// Write one plot a workload, and one of all
    #[arg(long, value_name = "DIR")]
    pub svg: Option<PathBuf>,
    /// Print one JSON object as the last line
    #[arg(long)]
    pub json: bool,
    /// List workloads and rivals, and run nothing
    #[arg(long)]
    pub list: bool,
}

#[derive(Clone, Debug, clap::Subcommand)]
enum Command {
    /// Reads the control-flow graph of programs and writes it compressed, to take to a host without them
    Cfg {
        /// Where to
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
        /// x86-64 programs and libraries [default: the toolchain's librustc_driver]
        #[arg(long, value_name = "FILE", num_args = 1..)]
        elf: Vec<PathBuf>,
    },
    /// Measures what a process on the GPU waits for until its first result
    Start {
        /// Print one JSON object as the last line
        #[arg(long)]
        json: bool,
    },
    /// Measures how soon a call ends that is cancelled, by backend and kind of call; fails where one takes 100 ms
    Stop {
        /// Backends, separated by commas [default: all that are here]
        #[arg(long, value_enum, value_delimiter = ',', value_name = "NAMES")]
        backend: Vec<stop::On>,
        /// Calls of each kind
        #[arg(long, value_name = "N", default_value = "1000", value_parser = number::<NonZeroU32>(1..=u32::MAX))]
        times: NonZeroU32,
    },
    /// Measures what reading back eight lists takes that hold little; on a GPU fails where it is more than it is to be
    Readback {
        /// Backends, separated by commas [default: all that are here]
        #[arg(long, value_enum, value_delimiter = ',', value_name = "NAMES")]
        backend: Vec<stop::On>,
        /// Measured runs on each
        #[arg(long, value_name = "N", default_value = "1000", value_parser = number::<NonZeroU32>(1..=u32::MAX))]
        times: NonZeroU32,
    },
    /// Measures how soon passes on the GPU run compiled, and what launches wait for meanwhile; set CUDA_CACHE_DISABLE=1, as
    /// `bench micro` does for it
    Cold {
        /// Print one JSON object as the last line
        #[arg(long)]
        json: bool,
    },
    /// Measures what a round on the GPU is made of, and the way to compiled code
    Micro {
        /// Print one JSON object as the last line
        #[arg(long)]
        json: bool,
    },
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(s) if (0.0..=3600.0).contains(&s) => Ok(s),
        _ => Err("a number of seconds from 0 to 3600 is needed".into()),
    }
}

/// Why the benchmark ends with exit code 1.
#[derive(Debug, Error)]
enum Failure {
    #[error("`{0}` is no rival; --list shows them")]
    NoRival(String),
    #[error("`{0}` is no pass of the corpus; --list shows them")]
    NoPass(String),
    #[error("{0}")]
    Inputs(String),
    #[error(transparent)]
    Elf(#[from] vyre_examples::elf::ElfError),
    #[error(transparent)]
    Write(#[from] vyre_examples::formats::FormatError),
    #[error("{0}")]
    Plot(String),
    #[error("{0}")]
    Micro(String),
    #[error(transparent)]
    Run(#[from] vyre::Error),
    #[error("a call took {} from `cancel` to its error; at most {} are allowed", time(*.0), time(stop::BAR))]
    Late(Duration),
    #[error("{0}")]
    Readback(String),
    #[error("cannot write to stdout: {0}")]
    Stdout(#[from] io::Error),
    #[error("{0} of the cells failed or gave a wrong result")]
    Cells(usize),
}

/// The `main` function of the benchmark.
pub fn main() -> ExitCode {
    run(std::env::args_os(), &mut io::stdout(), &mut io::stderr()).into()
}

/// Runs the benchmark with these arguments (the first is the program's name) and returns its exit code: 0, 1 after a
/// failure or a wrong result, 2 for a wrong command line.
pub fn run(
    args: impl IntoIterator<Item = OsString>,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> u8 {
    let started = Instant::now();
    let bench = match Bench::try_parse_from(args) {
        Ok(bench) => bench,
        // Nothing is left to do about closed streams.
        Err(asked) if !asked.use_stderr() => {
            let _ = write!(out, "{}", asked.render());
            return 0;
        }
        Err(wrong) => {
            let _ = write!(err, "{}", wrong.render());
            return 2;
        }
    };
    let done = match &bench.command {
        Some(Command::Cfg { out: to, elf }) => write_cfg(to, elf, out),
        Some(Command::Start { json }) => write_start(started, *json, out),
        Some(Command::Stop { backend, times }) => write_stop(backend, times.get(), out),
        Some(Command::Readback { backend, times }) => write_readback(backend, times.get(), out),
        Some(Command::Cold { json }) => write_cold(*json, out),
        Some(Command::Micro { json }) => write_micro(*json, out),
        None if bench.list => list(out),
        None => match &bench.corpus {
            Some(names) => corpus::measure(&bench, names, out),
            None => bench.measure(out),
        },
    };
    match done {
        Ok(()) => 0,
        Err(failure) => {
            let _ = writeln!(err, "error: {failure}");
            1
        }
    }
}

fn list(out: &mut dyn Write) -> Result<(), Failure> {
    writeln!(out, "workloads")?;
    for name in Name::value_variants() {
        let value = name.to_possible_value().expect("no name is hidden");
        let about = value
            .get_help()
            .map(ToString::to_string)
            .unwrap_or_default();
        writeln!(out, "  {name:<20} {about}")?;
    }
    writeln!(out, "rivals")?;
    for rival in rivals::all() {
        writeln!(out, "  {:<20} {}", rival.name(), rival.about())?;
    }
    writeln!(out, "corpus")?;
    for pass in vyre_corpus::PASSES {
        writeln!(out, "  {}", pass.name)?;
    }
    Ok(())
}

fn write_cfg(to: &Path, elf: &[PathBuf], out: &mut dyn Write) -> Result<(), Failure> {
    let elf = match elf {
        [] => workloads::toolchain_libraries().map_err(Failure::Inputs)?,
        named => named.to_vec(),
    };
    let started = Instant::now();
    let cfg = workloads::cfg_of(&elf)?;
    writeln!(
        out,
        "{} blocks, {} edges ({})",
        count(cfg.uses.len()),
        count(cfg.successors.edge_count()),
        time(started.elapsed())
    )?;
    write_file(to, |to| cfg.write(to))?;
    let bytes = to.metadata().map_or(0, |m| m.len());
    writeln!(
        out,
        "{}: {} bytes ({})",
        to.display(),
        count(bytes),
        time(started.elapsed())
    )?;
    Ok(())
}

fn write_start(started: Instant, json: bool, out: &mut dyn Write) -> Result<(), Failure> {
    let (runtime, lines) = micro::start(started).map_err(Failure::Micro)?;
    writeln!(out, "bench start on {runtime}")?;
    if let Some(device) = runtime.cuda_device() {
        writeln!(out, "  {}", device.code())?;
    }
    write_lines(lines, json, out)
}

fn write_cold(json: bool, out: &mut dyn Write) -> Result<(), Failure> {
    let host = report::Host::here();
    let (is_cold, lines) = cold::measure().map_err(Failure::Micro)?;
    let cache = if is_cold { "without" } else { "with" };
    writeln!(out, "bench cold on {host}, {cache} the driver's cache")?;
    write_lines(lines, json, out)
}

fn write_micro(json: bool, out: &mut dyn Write) -> Result<(), Failure> {
    let host = report::Host::here();
    writeln!(out, "bench micro on {host}")?;
    write_lines(micro::measure().map_err(Failure::Micro)?, json, out)
}

/// The runtimes of these backends by name, or of all that are here; says which are not.
fn runtimes(on: &[stop::On], out: &mut dyn Write) -> Result<Vec<(String, Runtime)>, Failure> {
    let all = match on {
        [] => stop::On::value_variants(),
        named => named,
    };
    let mut runtimes = Vec::new();
    for side in all {
        let name = side.to_possible_value().expect("no name is hidden");
        let name = name.get_name();
        match side.runtime() {
            Ok(runtime) => runtimes.push((name.to_owned(), runtime)),
            Err(why) if on.is_empty() => writeln!(out, "  {name}: left out: {why}")?,
            Err(why) => return Err(why.into()),
        }
    }
    Ok(runtimes)
}

fn write_readback(on: &[stop::On], times: u32, out: &mut dyn Write) -> Result<(), Failure> {
    writeln!(out, "bench readback on {}", report::Host::here())?;
    let mut faults = Vec::new();
    for (name, runtime) in runtimes(on, out)? {
        let measured = readback::measure(&runtime, times)?;
        let over = match measured.over_device {
            Some(over) => format!(", {} over the device's time", time(over)),
            None => String::new(),
        };
        let (least, median) = (time(measured.least), time(measured.median));
        let read = measured.readback;
        let of = [read.copied_bytes, read.packed_bytes, read.full_bytes].map(|n| count(n as usize));
        let [copied, packed, full] = of;
        writeln!(
            out,
            "readback.{name}: {median}, {least} at least{over}; {copied} bytes copied, {packed} packed of {full}"
        )?;
        faults.extend(measured.fault().map(|fault| format!("{name}: {fault}")));
    }
    match faults.is_empty() {
        true => Ok(()),
        false => Err(Failure::Readback(faults.join("; "))),
    }
}

fn write_stop(on: &[stop::On], times: u32, out: &mut dyn Write) -> Result<(), Failure> {
    writeln!(out, "bench stop on {}", report::Host::here())?;
    let mut worst = Duration::ZERO;
    for (name, runtime) in runtimes(on, out)? {
        let kinds = stop::measure(&runtime, times)?;
        for kind in &kinds {
            let (median, worst) = (time(kind.median()), time(kind.worst()));
            writeln!(
                out,
                "  {name:<8} {:<24} {median:>12} {worst:>12}",
                kind.kind
            )?;
        }
        let all = stop::Waits::all(&kinds);
        let calls = count(kinds.len() * times as usize);
        let (median, this_worst) = (time(all.median()), time(all.worst()));
        writeln!(out, "stop.{name}: {median}, {this_worst} ({calls} calls)")?;
        worst = worst.max(all.worst());
    }
    match worst > stop::BAR {
        true => Err(Failure::Late(worst)),
        false => Ok(()),
    }
}

fn write_lines(lines: Vec<micro::Line>, json: bool, out: &mut dyn Write) -> Result<(), Failure> {
    for (name, ns) in &lines {
        match ns {
            Ok(ns) => writeln!(out, "  {name:<44} {:>12.3} us", ns / 1e3)?,
            Err(why) => writeln!(out, "  {name:<44} {why}")?,
        }
    }
    if json {
        let object: serde_json::Map<_, _> = lines
            .into_iter()
            .map(|(name, ns)| (name, ns.map_or_else(Into::into, Into::into)))
            .collect();
        writeln!(out, "{}", serde_json::Value::Object(object))?;
    }
    Ok(())
}

/// One rival on one workload.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// The workload.
    pub workload: Name,
    /// The rival.
    pub rival: &'static str,
    /// One of vyre's own backends.
    pub ours: bool,
    /// Where it runs.
    pub place: Place,
    /// What came of it.
    pub outcome: Outcome,
}

/// What came of a cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// Every result was right.
    Measured(Timing),
    /// It did not run, for this reason.
    Skipped(String),
    /// A result was wrong, or a run failed.
    Failed(String),
}

/// Times of a cell, of one round where the workload's figure is per round.
#[derive(Clone, Debug, PartialEq)]
pub struct Timing {
    /// Measured runs.
    pub runs: usize,
    /// The one run is also the first: it was too long to repeat.
    pub cold: bool,
    /// Wall time.
    pub wall: Spread,
    /// Time on the device, where there is one.
    pub device: Option<Spread>,
    /// Rounds of a run, where the algorithm has them.
    pub rounds: Option<u64>,
}

/// Nanoseconds over the runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The fastest.
    pub least_ns: f64,
    /// A quarter is faster.
    pub lower_ns: f64,
    /// Half is faster.
    pub median_ns: f64,
    /// A quarter is slower.
    pub upper_ns: f64,
    /// The slowest.
    pub most_ns: f64,
}

impl Spread {
    /// Of at least one sample; quartiles are samples, the lower one of two in the middle.
    pub fn of(mut samples_ns: Vec<f64>) -> Spread {
        samples_ns.sort_by(f64::total_cmp);
        let at = |quarters: usize| samples_ns[(samples_ns.len() - 1) * quarters / 4];
        Spread {
            least_ns: at(0),
            lower_ns: at(1),
            median_ns: at(2),
            upper_ns: at(3),
            most_ns: at(4),
        }
    }
}

impl Bench {
    fn rivals(&self) -> Result<Vec<Box<dyn Rival>>, Failure> {
        let mut all = rivals::all();
        if let Some(unknown) = self
            .rivals
            .iter()
            .find(|n| all.iter().all(|r| r.name() != **n))
        {
            return Err(Failure::NoRival(unknown.clone()));
        }
        all.retain(|r| self.rivals.is_empty() || self.rivals.iter().any(|n| n == r.name()));
        all.extend(rivals::of_shapes(&self.shapes));
        Ok(all)
    }

    fn measure(&self, out: &mut dyn Write) -> Result<(), Failure> {
        let started = Instant::now();
        let rivals = self.rivals()?;
        let names: Vec<Name> = match self.workloads.as_slice() {
            [] => Name::value_variants().to_vec(),
            named => named.to_vec(),
        };
        let host = report::Host::here();
        writeln!(out, "bench on {host}")?;
        if let Err(e) = &host.gpu {
            let waiting: Vec<&str> = rivals
                .iter()
                .filter(|r| r.place() == Place::Gpu)
                .map(|r| r.name())
                .collect();
            if !waiting.is_empty() {
                writeln!(out, "skipped without a GPU ({e}): {}", waiting.join(", "))?;
            }
        }
        let inputs = Inputs::new(self.scale, self.cfg.clone(), self.edges.clone());
        let mut table = Table::new(host);
        for (i, &name) in names.iter().enumerate() {
            inputs.keep_for(&names[i..]);
            let made = Instant::now();
            match inputs.workload(name) {
                Err(why) => {
                    writeln!(out, "{name}: skipped: {why}")?;
                    table.cells.extend(
                        rivals
                            .iter()
                            .map(|r| cell(name, &**r, Outcome::Skipped(why.clone()))),
                    );
                }
                Ok(workload) => {
                    let (nodes, edges) = workload.sizes();
                    let (nodes, edges) = (count(nodes), count(edges));
                    writeln!(
                        out,
                        "{name}: {nodes} items, {edges} edges ({})",
                        time(made.elapsed())
                    )?;
                    self.measure_workload(&workload, &rivals, &mut table, out)?;
                }
            }
        }
        writeln!(out, "{} in all", time(started.elapsed()))?;
        self.deliver(&table, out)?;
        match table.failed() {
            0 => Ok(()),
            failed => Err(Failure::Cells(failed)),
        }
    }

    fn measure_workload(
        &self,
        workload: &Workload,
        rivals: &[Box<dyn Rival>],
        table: &mut Table,
        out: &mut dyn Write,
    ) -> Result<(), Failure> {
        table
            .sizes
            .push((workload.name, workload.sizes(), workload.per_round()));
        for rival in rivals {
            let outcome = match rival.too_long(workload) {
                Some(why) if self.rivals.is_empty() => Outcome::Skipped(why),
                _ => match self.measure_cell(workload, &**rival) {
                    Ok(timing) => Outcome::Measured(timing),
                    Err(CellError::Skip(Skip::NoAlgorithm)) => continue,
                    Err(CellError::Skip(Skip::Unavailable(why))) => Outcome::Skipped(why),
                    Err(CellError::Failed(why)) => Outcome::Failed(why),
                },
            };
            let cell = cell(workload.name, &**rival, outcome);
            // Of rivals that need a GPU there was a line at the start.
            if cell.place == Place::Cpu || !matches!(cell.outcome, Outcome::Skipped(_)) {
                writeln!(out, "  {:<16} {}", cell.rival, report::line(&cell.outcome))?;
            }
            table.cells.push(cell);
        }
        Ok(())
    }

    fn measure_cell(&self, workload: &Workload, rival: &dyn Rival) -> Result<Timing, CellError> {
        let mut prepared = rival.prepare(workload).map_err(CellError::Skip)?;
        let mut rounds = None;
        let mut once = || {
            prepared.reset();
            let started = Instant::now();
            let measured = prepared.run();
            let wall = started.elapsed();
            let measured = measured.map_err(CellError::Failed)?;
            if let Some(difference) = workload.difference(&measured.values, measured.rounds) {
                return Err(CellError::Failed(difference));
            }
            prepared.give_back(measured.values);
            rounds = measured.rounds;
            let parts = match measured.rounds {
                Some(rounds) if workload.per_round() => rounds.max(1) as f64,
                _ => 1.0,
            };
            let device_ns = measured.device_ns.map(|ns| ns as f64 / parts);
            Ok((wall, wall.as_nanos() as f64 / parts, device_ns))
        };
        let cap = Duration::from_secs_f64(self.cap);
        let warm_up = once()?;
        let cold = warm_up.0 > cap;
        let mut samples = Vec::new();
        if cold {
            samples.push(warm_up);
        } else {
            let mut spent = Duration::ZERO;
            while samples.is_empty() || spent < cap && samples.len() < self.runs.get() as usize {
                let sample = once()?;
                spent += sample.0;
                samples.push(sample);
            }
        }
        let device: Option<Vec<f64>> = samples.iter().map(|s| s.2).collect();
        Ok(Timing {
            runs: samples.len(),
            cold,
            wall: Spread::of(samples.iter().map(|s| s.1).collect()),
            device: device.map(Spread::of),
            rounds,
        })
    }

    fn deliver(&self, table: &Table, out: &mut dyn Write) -> Result<(), Failure> {
        if let Some(path) = &self.csv {
            write_file(path, |to| table.csv(to))?;
        }
        if let Some(path) = &self.markdown {
            write_file(path, |to| to.write_all(table.markdown().as_bytes()))?;
        }
        if let Some(dir) = &self.svg {
            table.plots(dir).map_err(Failure::Plot)?;
        }
        if self.json {
            writeln!(out, "{}", table.json())?;
        }
        Ok(())
    }
}

enum CellError {
    Skip(Skip),
    Failed(String),
}

fn cell(workload: Name, rival: &dyn Rival, outcome: Outcome) -> Cell {
    Cell {
        workload,
        rival: rival.name(),
        ours: rival.ours(),
        place: rival.place(),
        outcome,
    }
}
