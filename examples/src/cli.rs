//! The command line that every example shares, and what happens around a run: graph, runtime, timing, check, output.
//!
//! An example is a clap parser with [`Shared`] flattened in, and [`Example::run`]. Its `main` is one call of [`main`];
//! tests call [`run`] with arguments and writers of their own.

use crate::cfg::Cfg;
use crate::files;
use crate::formats::{self, FormatError, VecValue};
use crate::graph::{Graph, GraphError, GraphSpec, available_memory_bytes, gib};
use crate::json::Value;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use std::cell::Cell;
use std::ffi::OsString;
use std::fmt::{self, Display};
use std::io::{self, IsTerminal, Write};
use std::num::NonZeroU32;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::str::FromStr;
use std::sync::{Arc, Once, OnceLock, mpsc};
use std::thread;
use std::time::{Duration, Instant};
use thiserror::Error;
use vyre::{Canceller, Plan, Progress, Report, RoutePolicy, Runtime, Thresholds};

/// Options of every example.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Options of every example")]
pub struct Shared {
    /// Graph to run on.
    #[arg(
        long,
        value_name = "SPEC",
        help = "Graph to run on: grid:WxH, chain:N, rmat:SCALE:EDGEFACTOR[:SEED], file:PATH, elf:PATH, elf-cfg:PATH or cfg:BLOCKS[:SEED]",
        long_help = "Graph to run on:\n  \
            grid:WxH                      undirected grid, node y * W + x\n  \
            chain:N                       directed path 0 -> 1 -> ... -> N - 1\n  \
            rmat:SCALE:EDGEFACTOR[:SEED]  random power-law graph of 2^SCALE nodes (Graph500 parameters), symmetric\n  \
            rmat:nodes=N,edges=M[,seed=S] the same, cut down to exactly so many nodes and edges\n  \
            file:PATH                     .el or .txt (lines `src dst [weight]`), .mtx (Matrix Market), .gr (DIMACS),\n                                \
            .csr (binary)\n  \
            elf:PATH                      call graph of an x86-64 program or library\n  \
            elf-cfg:PATH                  basic blocks of all its functions; decoded once, then from the cache directory\n  \
            cfg:BLOCKS[:SEED]             made-up blocks and functions"
    )]
    pub graph: Option<GraphSpec>,
    /// Node to start from: a number, or the name of a function of a program [default: 0, or the program's entry]
    #[arg(long, value_name = "NODE", allow_negative_numbers = true)]
    pub source: Option<String>,
    /// Where to run: auto takes a GPU if one answers, otherwise native, and goes on natively where that is faster
    #[arg(long, value_parser = Backend::parser(), default_value = "auto")]
    pub backend: Backend,
    /// What runs the bytecode on a GPU [default: auto]
    #[arg(long, value_enum)]
    pub route: Option<Route>,
    /// Compare with a sequential algorithm, print both times, exit with 1 if the results differ
    #[arg(long)]
    pub check: bool,
    /// Write the main result to a binary .vec file
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Print one JSON object as the last line
    #[arg(long)]
    pub json: bool,
    /// Print the compile-time plan of the pass
    #[arg(long)]
    pub plan: bool,
    /// Write the plan as a picture: waves by barrier group, what they read and write, bytes
    #[arg(long, value_name = "FILE")]
    pub plan_svg: Option<PathBuf>,
    /// Write the plan as a Graphviz graph
    #[arg(long, value_name = "FILE")]
    pub plan_dot: Option<PathBuf>,
    /// Write the plan as a Mermaid flowchart
    #[arg(long, value_name = "FILE")]
    pub plan_mermaid: Option<PathBuf>,
    /// Write the PTX of the pass's own module, as compiled on a GPU; none is needed for it
    #[arg(long, value_name = "FILE")]
    pub dump_ptx: Option<PathBuf>,
    /// Shape of that module: threads of a CTA and CTAs of a multiprocessor, such as 512x3 [default: the pass's own]
    #[arg(long, value_name = "SHAPE", requires = "dump_ptx")]
    pub shape: Option<vyre::cuda::Shape>,
    /// Load thresholds of the launch policy that `calibrate` wrote
    #[arg(long, value_name = "FILE")]
    pub thresholds: Option<PathBuf>,
    /// Remember in FILE what runs took on the sides of --backend auto [default: $VYRE_COSTS, or vyre/costs in the cache
    /// directory; VYRE_COSTS=off: nowhere]
    #[arg(long, value_name = "FILE")]
    pub costs: Option<PathBuf>,
    /// Run N times in one session and report the median time
    #[arg(long, value_name = "N", default_value = "1", value_parser = number::<NonZeroU32>(1..=u32::MAX))]
    pub repeat: NonZeroU32,
    /// Stop a run that takes longer than S seconds [default: no run]
    #[arg(long, value_name = "S", value_parser = seconds)]
    pub deadline: Option<Duration>,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().map(Duration::try_from_secs_f64);
    match seconds {
        Some(Ok(time)) => Ok(time),
        _ => Err("a number of seconds from 0 to 1e19 is needed, such as 2.5".into()),
    }
}

/// What an option takes that is a whole number in a range; what it refuses says the range.
///
/// ```
/// use vyre_examples::cli::number;
/// let most = number::<u32>(1..=5_000);
/// assert_eq!(most("17"), Ok(17));
/// let needed = Err("a whole number from 1 to 5,000 is needed".to_owned());
/// assert_eq!([most("0"), most("many"), most("-3"), most("5001")], [(); 4].map(|()| needed.clone()));
/// ```
pub fn number<T: TryFrom<u32>>(
    range: RangeInclusive<u32>,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static {
    move |text| {
        let number = text.parse().ok().filter(|n| range.contains(n));
        let number = number.and_then(|n| T::try_from(n).ok());
        number.ok_or_else(|| {
            let (least, most) = (count(*range.start()), count(*range.end()));
            format!("a whole number from {least} to {most} is needed")
        })
    }
}

/// What an option takes that is any number.
pub fn real<T: FromStr>(text: &str) -> Result<T, String> {
    let number = text.parse();
    number.map_err(|_| "a number is needed, such as 2, -0.5 or 1e6".into())
}

/// Argument of `--backend`: a name that [`Runtime::named`] takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backend(String);

impl Backend {
    /// What `--backend` takes.
    fn parser() -> impl TypedValueParser<Value = Backend> {
        let auto = "A GPU if one answers, otherwise the CPU";
        let names = [("auto", auto)].into_iter().chain(Runtime::names());
        let values = names.map(|(name, about)| PossibleValue::new(name).help(about));
        PossibleValuesParser::new(values).map(Backend)
    }

    fn is_auto(&self) -> bool {
        self.0 == "auto"
    }

    /// The runtime, or why there is none.
    pub fn runtime(&self) -> Result<Runtime, Failure> {
        Ok(Runtime::named(&self.0)?)
    }
}

/// Argument of `--route`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Route {
    /// The interpreter
    Interpreter,
    /// Compiled code, which the first run waits for
    Compiled,
    /// The interpreter first, then compiled code where it pays
    Auto,
}

impl Route {
    fn policy(self) -> RoutePolicy {
        match self {
            Route::Interpreter => RoutePolicy::Interpreter,
            Route::Compiled => RoutePolicy::Compiled,
            Route::Auto => RoutePolicy::Auto,
        }
    }
}

/// Why an example ends with an exit code other than 0; printed as one line on stderr.
#[derive(Debug, Error)]
pub enum Failure {
    /// `--graph`.
    #[error(transparent)]
    Graph(#[from] GraphError),
    /// `--out`.
    #[error(transparent)]
    Write(#[from] FormatError),
    /// No runtime, or a run that failed.
    #[error(transparent)]
    Run(#[from] vyre::Error),
    /// `--source` names no node.
    #[error("source {source_name} is not a node; {why}")]
    Source {
        /// As given.
        source_name: String,
        /// What would be.
        why: String,
    },
    /// `--check` found a difference.
    #[error("the result differs from {oracle}: {difference}")]
    Different {
        /// The sequential algorithm.
        oracle: &'static str,
        /// The first difference.
        difference: String,
    },
    /// `--plan-svg`, `--plan-dot`, `--plan-mermaid`, `--dump-ptx`.
    #[error("cannot write {}: {error}", path.display())]
    Picture {
        /// As given.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// Stdout cannot be written.
    #[error("cannot write to stdout: {0}")]
    Stdout(io::Error),
    /// What an option asks for would not fit in memory.
    #[error(
        "`{option}` needs {:.1} GiB of memory; {:.1} GiB are available",
        gib(*needed_bytes), gib(*available_bytes)
    )]
    Memory {
        /// The option, as given.
        option: String,
        /// What it needs at once.
        needed_bytes: u64,
        /// What the system has left; 0 where it gave less than it said.
        available_bytes: u64,
    },
    /// An option was given that means nothing here; the exit code is that of a wrong command line.
    #[error("{0}")]
    Unused(String),
    /// A reason of one example only.
    #[error("{0}")]
    Other(String),
}

/// An option that says what an example does, where the example asks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    Graph,
    Source,
    Check,
    Out,
    Repeat,
    /// The plan, and pictures of it.
    Plan,
}

impl Shared {
    /// Whether the result is looked at: putting it in order may take longer than finding it.
    pub fn wants_result(&self) -> bool {
        self.check || self.out.is_some()
    }

    /// Those of these options that were given.
    fn given(&self) -> Vec<(&'static str, Asked)> {
        let all = [
            (self.graph.is_some(), "--graph", Asked::Graph),
            (self.source.is_some(), "--source", Asked::Source),
            (self.check, "--check", Asked::Check),
            (self.out.is_some(), "--out", Asked::Out),
            (self.repeat.get() > 1, "--repeat", Asked::Repeat),
            (self.plan, "--plan", Asked::Plan),
            (self.plan_svg.is_some(), "--plan-svg", Asked::Plan),
            (self.plan_dot.is_some(), "--plan-dot", Asked::Plan),
            (self.plan_mermaid.is_some(), "--plan-mermaid", Asked::Plan),
            (self.dump_ptx.is_some(), "--dump-ptx", Asked::Plan),
        ];
        let given = all.into_iter().filter(|(given, ..)| *given);
        given.map(|(_, name, asked)| (name, asked)).collect()
    }

    /// What is given for other backends than this one would be ignored.
    fn fits(&self, runtime: &Runtime) -> Result<(), Failure> {
        let Backend(name) = &self.backend;
        let why = match (self.backend.is_auto(), runtime.cuda_device()) {
            (false, None) if self.route.is_some() => format!(
                "`--route` says what runs the bytecode on a GPU, and `--backend {name}` has none: leave it out, or take \
                 `--backend cuda`"
            ),
            (false, _) if self.costs.is_some() => format!(
                "`--costs` remembers what runs took on the sides of `--backend auto`, and `--backend {name}` has one \
                 side: leave one of them out"
            ),
            _ => return Ok(()),
        };
        Err(Failure::Unused(why))
    }
}

fn unused(option: &str, example: &str) -> Failure {
    let why = format!("`{option}` means nothing to `{example}` as it is called here: leave it out");
    Failure::Unused(why)
}

/// Fails where the system has fewer bytes left than an option asks for: to take them would end the process.
pub fn room(option: impl Display, needed_bytes: u64) -> Result<(), Failure> {
    match available_memory_bytes().filter(|&available| available < needed_bytes) {
        Some(available_bytes) => Err(Failure::Memory {
            option: option.to_string(),
            needed_bytes,
            available_bytes,
        }),
        None => Ok(()),
    }
}

/// A vector of the elements that an option asks for, by their positions; fails where there is no memory for it.
pub fn elements<T>(
    option: impl Display,
    len: usize,
    element: impl FnMut(usize) -> T,
) -> Result<Vec<T>, Failure> {
    let needed_bytes = (len as u64).saturating_mul(size_of::<T>() as u64);
    room(&option, needed_bytes)?;
    let mut all = Vec::new();
    all.try_reserve_exact(len).map_err(|_| Failure::Memory {
        option: option.to_string(),
        needed_bytes,
        available_bytes: 0,
    })?;
    all.extend((0..len).map(element));
    Ok(all)
}

impl Failure {
    /// On one line; below it the line of source where a kernel trapped.
    fn shown(&self) -> String {
        match self {
            Failure::Run(error) if error.trap().is_some() => error.with_excerpt().to_string(),
            other => one_line(&other.to_string()),
        }
    }
}

/// One example: its options, by clap, and what it does.
pub trait Example: clap::Parser {
    /// Its name, as in `cargo run -p vyre-examples --example NAME`.
    const NAME: &'static str;

    /// Shared options that mean nothing to it, as they are written: `"--source"`. Given ones are refused before it
    /// runs. What else was given, and is not asked for, is refused when it has run.
    const IGNORES: &'static [&'static str] = &[];

    /// How long Ctrl-C waits for what is run to stop. Then the process ends without it.
    const PATIENCE: Duration = Duration::from_millis(500);

    /// The flattened shared options.
    fn shared(&self) -> &Shared;

    /// The graph without `--graph`; `None` if the example needs no graph.
    fn default_graph(&self) -> Result<Option<GraphSpec>, Failure>;

    /// Runs the pass and tells `job` about it.
    fn run(&self, job: &mut Job<'_>) -> Result<(), Failure>;
}

/// The `main` function of an example.
pub fn main<E: Example>() -> ExitCode {
    let terminal = io::stderr().is_terminal();
    // Line-buffered: what a long run has to say appears when it is said.
    let (mut out, mut err) = (io::stdout(), io::stderr());
    let around = Around {
        terminal,
        cache: cache(),
        interrupt: Some(on_ctrl_c(E::PATIENCE)),
    };
    run_on::<E>(std::env::args_os(), &mut out, &mut err, around).into()
}

/// What an example finds where it is started.
#[derive(Default)]
struct Around {
    /// Long runs show how far they are.
    terminal: bool,
    /// The folder where costs and decoded programs are kept.
    cache: Option<PathBuf>,
    /// What Ctrl-C stops, once there is a runtime.
    interrupt: Option<&'static OnceLock<Canceller>>,
}

/// What is said of Ctrl-C, and of signals that end a program, as one line, by who comes first: the run that was
/// stopped, or the handler that waited for it. The other one waits until it is said.
const STOPPED: &str = "stopped by Ctrl-C or a signal";
static SAID: Once = Once::new();

/// This executable, for examples that look at programs; `None` where it is none that can be read.
pub fn own_executable() -> Result<Option<PathBuf>, Failure> {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        return Ok(None);
    }
    let own = std::env::current_exe()
        .map_err(|e| Failure::Other(format!("cannot find this executable: {e}")))?;
    let here = std::env::current_dir().unwrap_or_default();
    Ok(Some(own.strip_prefix(&here).map(Into::into).unwrap_or(own)))
}

/// The blocks of this executable; made-up ones where it cannot be read.
pub fn own_blocks() -> Result<Option<GraphSpec>, Failure> {
    let made_up = GraphSpec::Cfg {
        blocks: 100_000,
        seed: 1,
    };
    Ok(Some(own_executable()?.map_or(made_up, GraphSpec::ElfCfg)))
}

/// The exit code of a program that SIGINT ends.
const INTERRUPTED: u8 = 130;

/// Ends the example at Ctrl-C: what it runs is cancelled. Where it runs nothing, the process ends without it, and so it
/// does at a second Ctrl-C.
fn on_ctrl_c(patience: Duration) -> &'static OnceLock<Canceller> {
    static STOPS: OnceLock<Canceller> = OnceLock::new();
    fn leave() -> ! {
        SAID.call_once(|| eprintln!("{STOPPED}"));
        std::process::exit(INTERRUPTED.into());
    }
    let stop = move || match STOPS.get() {
        Some(canceller) if !canceller.is_cancelled() => {
            canceller.cancel();
            thread::spawn(move || {
                thread::sleep(patience);
                leave()
            });
        }
        _ => leave(),
    };
    // Where there is no handler to be had, Ctrl-C ends the process as it always does.
    let _ = ctrlc::set_handler(stop);
    &STOPS
}

/// vyre's folder in the user's cache directory.
fn cache() -> Option<PathBuf> {
    let folder = |name| std::env::var_os(name).map(PathBuf::from);
    let cache = folder("XDG_CACHE_HOME").filter(|path| path.is_absolute());
    let cache = cache.or_else(|| folder("HOME").map(|home| home.join(".cache")));
    cache.map(|cache| cache.join("vyre"))
}

/// Runs an example with these arguments (the first is the program's name) and returns its exit code: 0, 1 after a
/// failure or a difference, 2 for a wrong command line, 130 after Ctrl-C. A closed pipe behind `out` ends the output,
/// not the run.
pub fn run<E: Example>(
    args: impl IntoIterator<Item = OsString>,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> u8 {
    run_on::<E>(args, out, err, Around::default())
}

/// As [`run`], in these surroundings.
fn run_on<E: Example>(
    args: impl IntoIterator<Item = OsString>,
    out: &mut dyn Write,
    err: &mut dyn Write,
    around: Around,
) -> u8 {
    let mut stdout = Output {
        to: out,
        error: None,
    };
    let (failure, code) = match E::try_parse_from(args) {
        Ok(example) => match run_parsed(&example, stdout, around) {
            Ok(()) => return 0,
            Err(Failure::Run(vyre::Error::Cancelled)) => {
                // As below.
                SAID.call_once(|| drop(writeln!(err, "{STOPPED}")));
                return INTERRUPTED;
            }
            Err(failure @ Failure::Unused(_)) => (failure.shown(), 2),
            Err(failure) => (failure.shown(), 1),
        },
        Err(asked) if !asked.use_stderr() => {
            stdout.text(asked.render());
            match stdout.finish() {
                Ok(()) => return 0,
                Err(failure) => (failure.shown(), 1),
            }
        }
        Err(wrong) => (one_line(&wrong.render().to_string()), 2),
    };
    // Nothing is left to do about a closed stderr.
    let _ = writeln!(err, "error: {failure}");
    code
}

/// A message of several paragraphs on one line; without clap's usage and its advice to ask for help.
fn one_line(message: &str) -> String {
    let message = message.strip_prefix("error: ").unwrap_or(message);
    let lines = message.lines().map(str::trim).filter(|line| {
        let chatter = line.starts_with("Usage:") || line.starts_with("For more information");
        !line.is_empty() && !chatter
    });
    lines.collect::<Vec<_>>().join("; ").replace(":; ", ": ")
}

fn load_thresholds(path: &Path, device: &Thresholds) -> Result<Thresholds, Failure> {
    let text = files::read_text(path).map_err(|e| e.to_string());
    let thresholds = text.and_then(|t| device.with(&t).map_err(|e| e.to_string()));
    thresholds.map_err(|e| Failure::Other(format!("cannot load {}: {e}", path.display())))
}

fn run_parsed<'a, E: Example>(
    example: &'a E,
    out: Output<'a>,
    around: Around,
) -> Result<(), Failure> {
    let shared = example.shared();
    let mut given = shared.given().into_iter();
    if let Some((option, _)) = given.find(|(option, _)| E::IGNORES.contains(option)) {
        return Err(unused(option, E::NAME));
    }
    Runtime::threads()?;
    let waiting = |elapsed: Duration| {
        let seconds = elapsed.as_secs();
        format!("  opening the device, {seconds} s: the driver may be compiling the megakernel")
    };
    let runtime = watched(around.terminal.then_some(waiting), || {
        shared.backend.runtime()
    })?;
    shared.fits(&runtime)?;
    let runtime = runtime.with_time_limit(shared.deadline);
    let route = shared.route.unwrap_or(Route::Auto);
    let mut runtime = runtime.with_route(route.policy());
    if let Some(path) = &shared.thresholds {
        let thresholds = load_thresholds(path, runtime.thresholds())?;
        runtime = runtime.with_thresholds(thresholds);
    }
    // `VYRE_COSTS` says where else, or that there is no such file.
    let told = std::env::var_os("VYRE_COSTS").is_some_and(|told| !told.is_empty());
    let costs = around.cache.as_ref().filter(|_| !told);
    let costs = shared
        .costs
        .clone()
        .or(costs.map(|cache| cache.join("costs")));
    if let (true, Some(file)) = (shared.backend.is_auto(), costs) {
        runtime = runtime.with_costs(file);
    }
    if let Some(stops) = around.interrupt {
        // There is one command a process.
        let _ = stops.set(runtime.canceller());
    }
    let spec = match &shared.graph {
        Some(spec) => Some(spec.clone()),
        None => example.default_graph()?,
    };
    let mut job = Job {
        shared,
        graph: Arc::default(),
        spec,
        runtime,
        out,
        figures: Vec::new(),
        sizes: (0, 0),
        timing: None,
        failure: None,
        terminal: around.terminal,
        progress: None,
        asked: Cell::default(),
    };
    let command = E::command();
    let about = command.get_about().map(ToString::to_string);
    job.print(format_args!("{}: {}", E::NAME, about.unwrap_or_default()));
    if shared.route.is_some() && job.runtime.cuda_device().is_none() {
        job.say("route", "there is no GPU that could take it");
    }
    job.load(around.cache.as_deref())?;
    example.run(&mut job)?;
    job.finish(E::NAME)
}

/// Time and rounds of the measured runs.
struct Timing {
    wall: Duration,
    device: Option<Duration>,
    rounds: u64,
    /// Where each of them was.
    backends: Vec<&'static str>,
    /// Of the median.
    route: &'static str,
}

/// One run of an example: what it works on, and what it has to say.
pub struct Job<'a> {
    shared: &'a Shared,
    graph: Arc<Graph>,
    spec: Option<GraphSpec>,
    runtime: Runtime,
    out: Output<'a>,
    figures: Vec<(&'static str, Value)>,
    sizes: (usize, usize),
    timing: Option<Timing>,
    failure: Option<Failure>,
    terminal: bool,
    progress: Option<Arc<Progress>>,
    /// What the example has asked for, a bit each.
    asked: Cell<u8>,
}

impl Job<'_> {
    /// The example follows this option.
    fn asks(&self, option: Asked) {
        self.asked.set(self.asked.get() | 1 << option as u8);
    }

    fn load(&mut self, cache: Option<&Path>) -> Result<(), Failure> {
        let Some(spec) = &self.spec else {
            return Ok(());
        };
        let started = Instant::now();
        let programs = cache.map(|cache| cache.join("programs"));
        let graph = spec.load_through(programs.as_deref())?;
        let text = format!(
            "{spec}: {} {}, {} edges ({})",
            count(graph.csr.node_count()),
            graph.node_kind(),
            count(graph.csr.edge_count()),
            time(started.elapsed()),
        );
        self.say("graph", text);
        self.sizes = (graph.csr.node_count(), graph.csr.edge_count());
        self.graph = Arc::new(graph);
        Ok(())
    }

    /// The graph; empty for an example without one.
    pub fn graph(&self) -> Arc<Graph> {
        self.asks(Asked::Graph);
        self.graph.clone()
    }

    /// The control-flow graph that the graph is.
    pub fn cfg(&self) -> Result<Arc<Cfg>, Failure> {
        self.asks(Asked::Graph);
        self.graph.cfg.clone().ok_or_else(|| {
            let why =
                "this example needs blocks of a program: --graph elf-cfg:PATH or cfg:BLOCKS[:SEED]";
            Failure::Other(why.into())
        })
    }

    /// What the graph was made from.
    pub fn spec(&self) -> Option<&GraphSpec> {
        self.spec.as_ref()
    }

    /// Where to run.
    pub fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// Sets what the JSON calls nodes and edges, where that is not the graph's.
    pub fn set_sizes(&mut self, nodes: usize, edges: usize) {
        self.sizes = (nodes, edges);
    }

    /// The node that `--source` names, otherwise the program's entry, otherwise 0.
    pub fn source(&self) -> Result<u32, Failure> {
        self.asks(Asked::Source);
        let nodes = self.graph.csr.node_count();
        let functions = self.graph.functions.as_ref();
        let Some(given) = &self.shared.source else {
            let entry = functions.and_then(|f| f.entry).unwrap_or(0);
            return if nodes == 0 {
                Err(Failure::Other("the graph has no nodes".into()))
            } else {
                Ok(entry)
            };
        };
        let refused = |why| {
            Err(Failure::Source {
                source_name: given.clone(),
                why,
            })
        };
        if let Ok(number) = given.parse::<u32>()
            && (number as usize) < nodes
        {
            return Ok(number);
        }
        // The node of a function of a control-flow graph is the block where it is entered.
        let names = match (functions, &self.graph.cfg) {
            (Some(functions), _) => Some((&functions.names, None)),
            (None, Some(cfg)) => Some((&cfg.names, Some(&cfg.functions))),
            (None, None) => None,
        };
        if let Some((names, entries)) = names {
            let node = |f: u32| entries.map_or(f, |entries| entries[f as usize]);
            let named = || (0u32..).zip(names).filter(|(_, n)| *n == given);
            return match (named().next(), named().count()) {
                (Some((f, _)), 1) => Ok(node(f)),
                (None, _) => refused(format!(
                    "the program has {} functions, and none has that name",
                    count(names.len())
                )),
                (Some((first, _)), many) => refused(format!(
                    "{many} functions have that name, the first is number {}",
                    node(first)
                )),
            };
        }
        refused(match nodes {
            0 => "the graph has no nodes".into(),
            1 => "the only node is 0".into(),
            n => format!("nodes are numbered 0 to {}", n - 1),
        })
    }

    /// Shows the progress of the runs to come, where stderr is a terminal.
    pub fn watch(&mut self, progress: Option<Arc<Progress>>) {
        self.progress = progress.filter(|_| self.terminal);
    }

    /// Runs the pass `--repeat` times, keeps the median time, and returns the last result.
    pub fn measure<T>(
        &mut self,
        mut run: impl FnMut() -> Result<T, vyre::Error>,
        report: impl Fn(&T) -> &Report,
    ) -> Result<T, Failure> {
        self.asks(Asked::Repeat);
        let mut reports = Vec::new();
        let mut last = None;
        for _ in 0..self.shared.repeat.get() {
            let progress = self.progress.as_deref();
            let line = progress.map(|p| move |elapsed| progress_line(p, elapsed));
            let result = watched(line, &mut run)?;
            reports.push(report(&result).clone());
            last = Some(result);
        }
        let backends = reports.iter().map(|r: &Report| r.backend).collect();
        reports.sort_by_key(|r| r.wall_ns);
        let median = &reports[reports.len() / 2];
        self.timing = Some(Timing {
            wall: Duration::from_nanos(median.wall_ns),
            device: median.device_ns.map(Duration::from_nanos),
            rounds: median.total_rounds(),
            backends,
            route: median.route,
        });
        Ok(last.expect("repeat is at least 1"))
    }

    /// Prints a labelled line of the summary.
    pub fn say(&mut self, label: &str, text: impl Display) {
        self.out.line(format_args!("  {label:<9} {text}"));
    }

    /// Prints a line as it is.
    pub fn print(&mut self, text: impl Display) {
        self.out.line(format_args!("{text}"));
    }

    /// Adds a figure to the JSON object.
    pub fn figure(&mut self, name: &'static str, value: impl Into<Value>) {
        self.figures.push((name, value.into()));
    }

    /// Prints the plan, indented, where `--plan` asks for it, and writes the pictures that are asked for.
    pub fn plan(&mut self, plan: Plan) -> Result<(), Failure> {
        if self.shared.plan {
            self.print_plan(plan);
        }
        self.pictures(plan)
    }

    /// Writes the pictures of a plan that are asked for, and its module.
    pub fn pictures(&mut self, plan: Plan) -> Result<(), Failure> {
        self.asks(Asked::Plan);
        let shared = self.shared;
        if let Some(path) = &shared.dump_ptx {
            let (nodes, edges) = self.sizes;
            let degree = edges as f64 / nodes.max(1) as f64;
            let ptx = vyre::cuda::pass_ptx(&plan.program(), degree, shared.shape);
            self.write(path, &ptx.map_err(vyre::Error::from)?)?;
        }
        for (path, picture) in [
            (&shared.plan_svg, Plan::svg as fn(&Plan) -> String),
            (&shared.plan_dot, Plan::dot),
            (&shared.plan_mermaid, Plan::mermaid),
        ] {
            if let Some(path) = path {
                self.write(path, &picture(&plan))?;
            }
        }
        Ok(())
    }

    fn write(&mut self, path: &Path, text: &str) -> Result<(), Failure> {
        std::fs::write(path, text).map_err(|error| Failure::Picture {
            path: path.to_owned(),
            error,
        })?;
        self.say("written", path.display().to_string());
        Ok(())
    }

    /// Prints the plan, indented.
    pub fn print_plan(&mut self, plan: Plan) {
        self.say("plan", "fixed at compile time");
        for line in plan.to_string().trim_end().lines() {
            self.print(format!("    {line}").trim_end());
        }
    }

    /// Prints backend, time and rounds.
    pub fn say_time(&mut self) {
        let runtime = self.runtime.to_string();
        self.say("backend", runtime);
        let Some(t) = &self.timing else { return };
        let mut text = time(t.wall);
        if let Some(device) = t.device {
            text += &format!(", {} of it on the device", time(device));
        }
        if t.rounds > 0 {
            text += &format!(", {} {}", count(t.rounds), plural(t.rounds, "round"));
        }
        if !t.route.is_empty() {
            text += &format!(", {}", t.route);
        }
        let repeat = self.shared.repeat.get();
        if repeat > 1 {
            text += &format!(" (median of {repeat} runs)");
        }
        let ran_on = (self.runtime.backends().len() > 1).then(|| ran_on(&t.backends));
        self.say("time", text);
        if let Some(ran_on) = ran_on.flatten() {
            self.say("ran on", ran_on);
        }
    }

    /// Writes the main result where `--out` asks for it: `width` values a row.
    pub fn save<T: VecValue>(&mut self, width: u32, values: &[T]) -> Result<(), Failure> {
        self.asks(Asked::Out);
        if let Some(path) = &self.shared.out {
            formats::write_file(path, |to| formats::write_vec(width, values, to))?;
            let text = path.display().to_string();
            self.say("written", text);
        }
        Ok(())
    }

    /// Where `--check` asks for it, times the oracle and compares. `differs` describes the first difference.
    pub fn check<T>(
        &mut self,
        oracle_name: &'static str,
        oracle: impl FnOnce() -> T,
        differs: impl FnOnce(&T) -> Option<String>,
    ) {
        self.asks(Asked::Check);
        if !self.shared.check {
            return;
        }
        let started = Instant::now();
        let expected = oracle();
        let sequential = started.elapsed();
        let difference = differs(&expected);
        let ours = self.timing.as_ref().map_or(Duration::ZERO, |t| t.wall);
        let ratio = ours.as_secs_f64() / sequential.as_secs_f64().max(1e-9);
        let verdict = if difference.is_none() {
            "equal to"
        } else {
            "DIFFERENT from"
        };
        let text = format!(
            "{verdict} {oracle_name}; sequential {}, ours {} ({})",
            time(sequential),
            time(ours),
            times(ratio),
        );
        self.say("check", text);
        self.figure(
            "check",
            if difference.is_none() {
                "equal"
            } else {
                "different"
            },
        );
        self.figure("sequential_ms", millis(sequential));
        self.figure("ratio", (ratio * 1000.0).round() / 1000.0);
        if let Some(difference) = difference {
            self.fail(Failure::Different {
                oracle: oracle_name,
                difference,
            });
        }
    }

    /// Where the last run was.
    fn last_backend(&self) -> &'static str {
        let timed = self.timing.as_ref().and_then(|t| t.backends.last());
        match timed {
            Some(&told) if !told.is_empty() => told,
            _ => self.runtime.backend(),
        }
    }

    /// The example ends with this failure, once everything has been printed.
    pub fn fail(&mut self, failure: Failure) {
        self.failure = Some(failure);
    }

    fn finish(mut self, name: &'static str) -> Result<(), Failure> {
        if self.shared.json {
            let (nodes, edges) = self.sizes;
            let mut object: Vec<(&str, Value)> = vec![
                ("example", name.into()),
                ("backend", self.last_backend().into()),
                ("device", self.runtime.device().into()),
                ("nodes", nodes.into()),
                ("edges", edges.into()),
            ];
            if let Some(t) = &self.timing {
                object.push(("rounds", t.rounds.into()));
                object.push(("wall_ms", millis(t.wall).into()));
                object.extend(t.device.map(|d| ("device_ms", millis(d).into())));
            }
            object.append(&mut self.figures);
            let fields: Vec<String> = object
                .into_iter()
                .map(|(name, value)| format!("{}:{value}", Value::from(name)))
                .collect();
            self.out.line(format_args!("{{{}}}", fields.join(",")));
        }
        self.out.finish()?;
        let asked = self.asked.get();
        let mut given = self.shared.given().into_iter();
        let ignored = given.find(|&(_, option)| asked & 1 << option as u8 == 0);
        match (self.failure, ignored) {
            (Some(failure), _) => Err(failure),
            (None, Some((option, _))) => Err(unused(option, name)),
            (None, None) => Ok(()),
        }
    }
}

/// Which backends had how many runs; the last run's first. `None` where a run did not tell.
fn ran_on(backends: &[&'static str]) -> Option<String> {
    let last = *backends.last()?;
    if backends.contains(&"") {
        return None;
    }
    let mut counts: Vec<(&str, usize)> = vec![(last, 0)];
    for &backend in backends {
        match counts.iter_mut().find(|(name, _)| *name == backend) {
            Some((_, runs)) => *runs += 1,
            None => counts.push((backend, 1)),
        }
    }
    let all = backends.len();
    let mut parts = counts.into_iter();
    let (_, runs) = parts.next()?;
    let mut text = match runs == all {
        true => last.to_owned(),
        false => format!("{last} at the end, in {runs} of {all} runs"),
    };
    for (name, runs) in parts {
        text += &format!("; {name} in {runs}");
    }
    Some(text)
}

/// Runs something and shows a line about it on stderr, if it takes long.
fn watched<T>(line: Option<impl Fn(Duration) -> String + Send>, run: impl FnOnce() -> T) -> T {
    const PATIENCE: Duration = Duration::from_millis(500);
    const PERIOD: Duration = Duration::from_millis(100);
    let Some(line) = line else {
        return run();
    };
    let (done, waits) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let started = Instant::now();
            let mut shown = false;
            let mut wait = PATIENCE;
            while waits.recv_timeout(wait) == Err(mpsc::RecvTimeoutError::Timeout) {
                eprint!("\r{}\x1b[K", line(started.elapsed()));
                (shown, wait) = (true, PERIOD);
            }
            if shown {
                eprint!("\r\x1b[K");
            }
        });
        let result = run();
        drop(done);
        result
    })
}

/// How far a run is, on one line.
///
/// ```
/// use std::time::Duration;
/// let progress = vyre::Progress::default();
/// progress.set(12_000, 345);
/// let line = vyre_examples::cli::progress_line(&progress, Duration::from_secs(2));
/// assert_eq!(line, "  round 12,000, frontier 345, 6,000 rounds/s");
/// ```
pub fn progress_line(progress: &Progress, elapsed: Duration) -> String {
    let rounds = progress.rounds();
    let rate = rounds as f64 / elapsed.as_secs_f64().max(1e-3);
    format!(
        "  round {}, frontier {}, {} rounds/s",
        count(rounds),
        count(progress.frontier()),
        count(rate as u64)
    )
}

/// Describes the first place where two results differ.
pub fn first_difference<T: PartialEq + Display>(
    what: &str,
    ours: &[T],
    expected: &[T],
) -> Option<String> {
    if ours.len() != expected.len() {
        return Some(format!(
            "{} values instead of {}",
            ours.len(),
            expected.len()
        ));
    }
    // What does not equal itself is NaN.
    #[expect(clippy::eq_op, reason = "that is how NaN is told for any type")]
    let differs = |(a, b): &(&T, &T)| a != b && (*a == *a || *b == *b);
    let at = ours.iter().zip(expected).position(|pair| differs(&pair))?;
    let differing = ours.iter().zip(expected).filter(differs).count();
    let more = match differing - 1 {
        0 => String::new(),
        n => format!(", and {} more", count(n)),
    };
    Some(format!(
        "{what} of {at} is {}, not {}{more}",
        ours[at], expected[at]
    ))
}

/// A name cut to the width of a line; generic Rust names can be very long.
pub fn short(name: &str) -> String {
    const WIDTH: usize = 88;
    if name.chars().count() <= WIDTH {
        return name.to_owned();
    }
    let cut: String = name.chars().take(WIDTH - 3).collect();
    cut + "..."
}

/// A number with commas between thousands.
///
/// ```
/// assert_eq!(vyre_examples::cli::count(1234567u32), "1,234,567");
/// ```
pub fn count(n: impl TryInto<u64>) -> String {
    let digits = n.try_into().unwrap_or(u64::MAX).to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `round` or `rounds`.
pub fn plural(n: u64, noun: &str) -> String {
    if n == 1 {
        noun.into()
    } else {
        format!("{noun}s")
    }
}

/// A duration with three digits and a unit.
///
/// ```
/// use std::time::Duration;
/// assert_eq!(vyre_examples::cli::time(Duration::from_micros(12_345)), "12.3 ms");
/// ```
pub fn time(duration: Duration) -> String {
    let us = duration.as_secs_f64() * 1e6;
    let (value, unit) = match us {
        _ if us < 1e3 => (us, "us"),
        _ if us < 1e6 => (us / 1e3, "ms"),
        _ => (us / 1e6, "s"),
    };
    let decimals = match value {
        _ if value < 10.0 => 2,
        _ if value < 100.0 => 1,
        _ => 0,
    };
    format!("{value:.decimals$} {unit}")
}

/// Our time by the sequential one, the readable way round.
fn times(ratio: f64) -> String {
    if ratio > 0.0 && ratio < 1.0 {
        format!("{:.2}x faster", 1.0 / ratio)
    } else {
        format!("{ratio:.2}x the time")
    }
}

fn millis(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 1e6).round() / 1e3
}

/// Stdout. After a closed pipe it swallows what is written; another error is kept for the end.
struct Output<'a> {
    to: &'a mut dyn Write,
    error: Option<io::Error>,
}

impl Output<'_> {
    fn line(&mut self, text: fmt::Arguments<'_>) {
        self.text(format_args!("{text}\n"));
    }

    fn text(&mut self, text: impl Display) {
        if self.error.is_none() {
            self.error = write!(self.to, "{text}").err();
        }
    }

    fn finish(&mut self) -> Result<(), Failure> {
        let error = self.error.take().or_else(|| self.to.flush().err());
        match error {
            Some(e) if e.kind() != io::ErrorKind::BrokenPipe => Err(Failure::Stdout(e)),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ran_on;

    #[test]
    fn it_is_said_where_the_runs_were() {
        let said = |backends: &[&'static str]| ran_on(backends);
        assert_eq!(said(&["cuda"; 3]).as_deref(), Some("cuda"));
        let text = "native at the end, in 4 of 6 runs; cuda in 2";
        let runs = ["cuda", "native", "cuda", "native", "native", "native"];
        assert_eq!(said(&runs).as_deref(), Some(text));
        assert_eq!((said(&[]), said(&["cuda", ""])), (None, None));
    }
}
