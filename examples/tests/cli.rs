//! The shared command line, with an example that counts edges. Its pass is there for its plan only.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;
use vyre::Report;
use vyre_examples::cli::{self, Example, Failure, Job, Shared, count, first_difference};
use vyre_examples::graph::GraphSpec;
use vyre_tests::passes::bfs;

/// Some number for each element; a map would be interpreted in any module.
#[vyre::kernel]
fn degree(x: &mut u32) {
    *x = 7 % (*x + 1);
}

/// Where that sets it.
const DEGREE_LINE: u32 = line!() - 4;

/// Counts edges out of each node
#[derive(clap::Parser)]
#[command(name = "degrees")]
struct Degrees {
    #[command(flatten)]
    shared: Shared,
    /// Be wrong about this node
    #[arg(long, value_name = "NODE")]
    wrong: Option<usize>,
}

impl Example for Degrees {
    const NAME: &'static str = "degrees";

    fn shared(&self) -> &Shared {
        &self.shared
    }

    fn default_graph(&self) -> Result<Option<GraphSpec>, Failure> {
        Ok(Some(GraphSpec::Chain { nodes: 5 }))
    }

    fn run(&self, job: &mut Job<'_>) -> Result<(), Failure> {
        let graph = job.graph();
        let source = job.source()?;
        let mut wall_ns = [9_000_000, 2_000_000, 3_500_000].into_iter().cycle();
        let (mut degrees, _) = job.measure(
            || {
                let report = Report {
                    rounds: vec![7],
                    wall_ns: wall_ns.next().unwrap(),
                    device_ns: None,
                    ..Report::default()
                };
                let nodes = 0..graph.csr.node_count() as u32;
                Ok((
                    nodes.map(|v| graph.csr.degree(v)).collect::<Vec<u32>>(),
                    report,
                ))
            },
            |(_, report)| report,
        )?;
        if let Some(node) = self.wrong {
            degrees[node] += 1;
        }
        job.say("source", source);
        job.say_time();
        job.plan(degree::PLAN)?;
        job.figure("source", source);
        job.check(
            "a loop",
            || {
                let ends = graph.csr.offsets().windows(2);
                ends.map(|w| w[1] - w[0]).collect::<Vec<u32>>()
            },
            |expected| first_difference("degree", &degrees, expected),
        );
        job.save(1, &degrees)
    }
}

/// Runs a search on a device that is played, the way that was asked for
#[derive(clap::Parser)]
#[command(name = "routed")]
struct Routed {
    #[command(flatten)]
    shared: Shared,
}

impl Example for Routed {
    const NAME: &'static str = "routed";

    fn shared(&self) -> &Shared {
        &self.shared
    }

    fn default_graph(&self) -> Result<Option<GraphSpec>, Failure> {
        Ok(Some(GraphSpec::Chain { nodes: 5 }))
    }

    fn run(&self, job: &mut Job<'_>) -> Result<(), Failure> {
        let graph = job.graph();
        let asked = job.runtime().route();
        let runtime = vyre_tests::fake().with_route(asked);
        let mut session = bfs::Session::new(&runtime, &graph.csr)?;
        let run = || session.run(bfs::Run { source: 0 });
        job.measure(run, |out| &out.report)?;
        job.say_time();
        job.figure("asked", format!("{asked:?}"));
        Ok(())
    }
}

struct Ran {
    code: u8,
    out: String,
    err: String,
}

fn run(args: &[&str]) -> Ran {
    ran::<Degrees>(args)
}

fn ran<E: Example>(args: &[&str]) -> Ran {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let args = [E::NAME].iter().chain(args).map(OsString::from);
    let code = cli::run::<E>(args, &mut out, &mut err);
    Ran {
        code,
        out: String::from_utf8(out).unwrap(),
        err: String::from_utf8(err).unwrap(),
    }
}

/// The one line on stderr of a run that failed with this code and printed no JSON.
fn error(code: u8, args: &[&str]) -> String {
    let ran = run(args);
    assert_eq!(ran.code, code, "{}{}", ran.out, ran.err);
    let line = ran.err.strip_suffix('\n').unwrap();
    assert!(!line.contains('\n'), "{line}");
    line.strip_prefix("error: ").unwrap().to_string()
}

#[test]
fn a_run_prints_a_summary_and_json_last() {
    let ran = run(&["--backend", "native", "--json"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let lines: Vec<&str> = ran.out.lines().collect();
    assert_eq!(lines[0], "degrees: Counts edges out of each node");
    assert!(lines[1].starts_with("  graph     chain:5: 5 nodes, 4 edges ("));
    assert_eq!(lines[2], "  source    0");
    assert!(lines[3].starts_with("  backend   native ("));
    assert_eq!(lines[4], "  time      9.00 ms, 7 rounds");
    let json: serde_json::Value = serde_json::from_str(lines[5]).unwrap();
    let device = json["device"].as_str().unwrap().to_string();
    assert!(device.contains("thread"));
    let expected = serde_json::json!({
        "example": "degrees", "backend": "native", "device": device, "nodes": 5, "edges": 4,
        "rounds": 7, "wall_ms": 9.0, "source": 0,
    });
    assert_eq!(json, expected);
    assert_eq!(lines.len(), 6);
}

#[test]
fn repeat_reports_the_median() {
    let ran = run(&["--repeat", "3", "--json"]);
    assert!(
        ran.out
            .contains("  time      3.50 ms, 7 rounds (median of 3 runs)\n")
    );
    assert!(ran.out.lines().last().unwrap().contains("\"wall_ms\":3.5"));
}

#[test]
fn plan_is_printed_when_asked_for() {
    assert!(!run(&[]).out.contains("group"));
    let plan = run(&["--plan"]).out;
    assert!(
        plan.contains("  plan      fixed at compile time\n    pass degree "),
        "{plan}"
    );
    assert!(
        plan.contains("schedule: 1 barrier group, 0 barriers"),
        "{plan}"
    );
}

#[test]
fn pictures_of_the_plan_are_written_where_asked_for() {
    for (option, begin) in [
        ("--plan-svg", "<svg "),
        ("--plan-dot", "digraph \"degree\" {"),
        ("--plan-mermaid", "flowchart TD"),
        ("--dump-ptx", ".version 8.1\n.target sm_90\n"),
    ] {
        let path = std::env::temp_dir().join(format!("vyre{option}-{}", std::process::id()));
        let ran = run(&[option, path.to_str().unwrap()]);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""));
        let picture = std::fs::read_to_string(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert!(picture.starts_with(begin), "{picture}");
        if option == "--dump-ptx" {
            let shown = format!("// {}:{DEGREE_LINE}  *x = 7 % (*x + 1);\n", file!());
            let mut code = picture
                .split(&shown)
                .skip(1)
                .filter_map(|c| c.split("//").next());
            assert!(code.any(|code| code.contains("rem.u32")), "{picture}");
        }
        let ran = run(&[option, "/no/such/directory/plan"]);
        assert_eq!(ran.code, 1);
        assert!(
            ran.err
                .starts_with("error: cannot write /no/such/directory/plan: ")
        );
    }
}

#[test]
fn the_route_that_is_asked_for_is_that_of_runs() {
    for (args, asked, runs) in [
        (vec![], "Auto", "interpreted"),
        (vec!["--route", "auto"], "Auto", "interpreted"),
        (vec!["--route", "interpreter"], "Interpreter", "interpreted"),
        (vec!["--route", "compiled"], "Compiled", "compiled"),
    ] {
        let ran = ran::<Routed>(&[&["--json"][..], &args].concat());
        assert_eq!((ran.code, ran.err.as_str()), (0, ""));
        let time = ran.out.lines().find(|line| line.starts_with("  time "));
        let time = time.expect("it is said");
        assert!(time.ends_with(&format!(", {runs}")), "{args:?}: {time}");
        let json = ran.out.lines().last().expect("it is the last line");
        let json: serde_json::Value = serde_json::from_str(json).unwrap();
        assert_eq!(json["asked"], asked);
    }
    let ran = ran::<Routed>(&["--route", "fastest"]);
    assert_eq!(ran.code, 2);
    assert!(
        ran.err
            .contains("[possible values: interpreter, compiled, auto]"),
        "{}",
        ran.err
    );
}

#[test]
fn what_is_for_another_backend_is_refused() {
    for backend in ["native", "vir0"] {
        for route in ["interpreter", "compiled", "auto"] {
            assert_eq!(
                error(2, &["--backend", backend, "--route", route]),
                format!(
                    "`--route` says what runs the bytecode on a GPU, and `--backend {backend}` has none: leave it out, \
                     or take `--backend cuda`"
                )
            );
        }
        assert_eq!(
            error(2, &["--backend", backend, "--costs", "costs.txt"]),
            format!(
                "`--costs` remembers what runs took on the sides of `--backend auto`, and `--backend {backend}` has \
                 one side: leave one of them out"
            )
        );
    }
}

/// An example that asks for no option, and says so of one of them.
#[derive(clap::Parser)]
#[command(name = "deaf")]
struct Deaf {
    #[command(flatten)]
    shared: Shared,
}

impl Example for Deaf {
    const NAME: &'static str = "deaf";
    const IGNORES: &'static [&'static str] = &["--source"];

    fn shared(&self) -> &Shared {
        &self.shared
    }

    fn default_graph(&self) -> Result<Option<GraphSpec>, Failure> {
        Ok(None)
    }

    fn run(&self, job: &mut Job<'_>) -> Result<(), Failure> {
        job.say("ran", "it did");
        Ok(())
    }
}

#[test]
fn what_nobody_asks_for_is_refused() {
    for (args, ran_first) in [
        // It is known before anything runs.
        (vec!["--source", "3"], false),
        (vec!["--graph", "chain:2"], true),
        (vec!["--check"], true),
        (vec!["--out", "/no/such/directory/out.vec"], true),
        (vec!["--repeat", "2"], true),
        (vec!["--plan"], true),
        (vec!["--plan-svg", "/no/such/directory/plan"], true),
        (vec!["--plan-dot", "/no/such/directory/plan"], true),
        (vec!["--plan-mermaid", "/no/such/directory/plan"], true),
        (vec!["--dump-ptx", "/no/such/directory/ptx"], true),
    ] {
        let ran = ran::<Deaf>(&args);
        let option = args[0];
        let said = format!(
            "error: `{option}` means nothing to `deaf` as it is called here: leave it out\n"
        );
        assert_eq!((ran.code, ran.err), (2, said));
        assert_eq!(
            ran.out.contains("  ran       it did\n"),
            ran_first,
            "{option}"
        );
    }
    let ran = ran::<Deaf>(&["--repeat", "1", "--json"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
}

#[test]
fn check_compares_and_decides_the_exit_code() {
    let equal = run(&["--check", "--json"]);
    assert_eq!((equal.code, equal.err.as_str()), (0, ""));
    assert!(
        equal
            .out
            .contains("  check     equal to a loop; sequential ")
    );
    assert!(equal.out.contains("\"check\":\"equal\",\"sequential_ms\":"));

    let different = run(&["--check", "--json", "--wrong", "3"]);
    assert_eq!(different.code, 1);
    assert_eq!(
        different.err,
        "error: the result differs from a loop: degree of 3 is 2, not 1\n"
    );
    assert!(different.out.contains("DIFFERENT from a loop"));
    assert!(
        different
            .out
            .lines()
            .last()
            .unwrap()
            .contains("\"check\":\"different\"")
    );
    assert_eq!(run(&["--wrong", "3"]).code, 0);
}

#[test]
fn sources_are_numbers_or_function_names() {
    assert!(run(&["--source", "4"]).out.contains("  source    4\n"));
    let refused = "is not a node; nodes are numbered 0 to 4";
    assert_eq!(error(1, &["--source", "5"]), format!("source 5 {refused}"));
    assert_eq!(
        error(1, &["--source", "-1"]),
        format!("source -1 {refused}")
    );
    assert_eq!(
        error(1, &["--source", "main"]),
        format!("source main {refused}")
    );
    assert_eq!(
        error(1, &["--source", "1", "--graph", "chain:1"]),
        "source 1 is not a node; the only node is 0"
    );

    let exe = std::env::current_exe().unwrap();
    let elf = format!("elf:{}", exe.display());
    let entry = run(&["--graph", &elf, "--json"]);
    let by_name = run(&["--graph", &elf, "--json", "--source", "_start"]);
    let json = |ran: &Ran| ran.out.lines().last().unwrap().to_string();
    assert_eq!(json(&entry), json(&by_name));
    assert!(entry.out.contains(" functions, "));
    assert!(
        error(1, &["--graph", &elf, "--source", "nobody"])
            .ends_with(" functions, and none has that name")
    );
}

#[test]
fn wrong_arguments_are_one_line() {
    assert_eq!(
        error(2, &["--graph", "grid:0x4"]),
        "invalid value 'grid:0x4' for '--graph <SPEC>': `grid:0x4` is not of the form grid:WxH with W and H at least 1"
    );
    assert_eq!(
        error(2, &["--backend", "gpu"]),
        "invalid value 'gpu' for '--backend <BACKEND>'; [possible values: auto, native, vir0, cuda]"
    );
    assert_eq!(
        error(2, &["--grap", "x"]),
        "unexpected argument '--grap' found; tip: a similar argument exists: '--graph'"
    );
    assert_eq!(
        error(2, &["--source"]),
        "a value is required for '--source <NODE>' but none was supplied"
    );
    assert_eq!(
        error(2, &["--repeat", "0"]),
        "invalid value '0' for '--repeat <N>': a whole number from 1 to 4,294,967,295 is needed"
    );
    assert_eq!(
        error(2, &["--deadline", "soon"]),
        "invalid value 'soon' for '--deadline <S>': a number of seconds from 0 to 1e19 is needed, such as 2.5"
    );
}

#[test]
fn bad_files_are_one_line() {
    let missing = error(1, &["--graph", "file:/no/such.el"]);
    assert!(
        missing.starts_with("/no/such.el: No such file"),
        "{missing}"
    );
    assert_eq!(
        error(1, &["--graph", "elf:/dev/null"]),
        "/dev/null: not a regular file; copy what the device or pipe gives to one"
    );
    assert_eq!(
        error(1, &["--graph", "elf:Cargo.toml"]),
        "Cargo.toml: not a 64-bit ELF file"
    );
    let unwritable = error(1, &["--out", "/no/such/folder/x.vec"]);
    assert!(
        unwritable.starts_with("/no/such/folder/x.vec: No such file"),
        "{unwritable}"
    );
}

#[test]
fn out_writes_the_result() {
    let name = format!("vyre-cli-{}.vec", std::process::id());
    let path: PathBuf = std::env::temp_dir().join(name);
    let ran = run(&["--out", path.to_str().unwrap()]);
    assert!(
        ran.out
            .ends_with(&format!("  written   {}\n", path.display()))
    );
    let bytes = std::fs::read(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let mut expected = b"VECBIN01u32 \x01\0\0\0\x05\0\0\0\0\0\0\0".to_vec();
    expected.extend([1u32, 1, 1, 1, 0].map(u32::to_le_bytes).concat());
    assert_eq!(bytes, expected);
}

#[test]
fn help_names_every_option_and_graph() {
    let ran = run(&["--help"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    for part in [
        "Counts edges out of each node",
        "--graph <SPEC>",
        "grid:WxH",
        "chain:N",
        "rmat:SCALE:EDGEFACTOR[:SEED]",
        "rmat:nodes=N,edges=M[,seed=S]",
        "file:PATH",
        "elf:PATH",
        ".csr",
        "--source <NODE>",
        "--backend <BACKEND>",
        "vir0",
        "--check",
        "--out <FILE>",
        "--json",
        "--plan",
        "--repeat <N>",
        "--deadline <S>",
    ] {
        assert!(ran.out.contains(part), "{part} is missing in\n{}", ran.out);
    }
    let short = run(&["-h"]).out;
    assert!(short.lines().count() < 30, "{short}");
}

/// A pipe that the reader closed after some bytes.
struct Closed {
    left: usize,
    kind: io::ErrorKind,
}

impl Write for Closed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.left == 0 {
            return Err(self.kind.into());
        }
        let n = bytes.len().min(self.left);
        self.left -= n;
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_closed_pipe_ends_the_output_quietly_and_keeps_the_verdict() {
    let run = |args: &[&str], kind| {
        let mut err = Vec::new();
        let args = ["degrees"].iter().chain(args).map(OsString::from);
        let code = cli::run::<Degrees>(args, &mut Closed { left: 10, kind }, &mut err);
        (code, String::from_utf8(err).unwrap())
    };
    let pipe = io::ErrorKind::BrokenPipe;
    assert_eq!(run(&["--json"], pipe), (0, String::new()));
    assert_eq!(run(&["--help"], pipe), (0, String::new()));
    assert_eq!(run(&["--check", "--wrong", "0"], pipe).0, 1);
    let full = "error: cannot write to stdout: no storage space\n";
    assert_eq!(run(&[], io::ErrorKind::StorageFull), (1, full.into()));
}

#[test]
fn counts_have_commas() {
    let texts = [0u64, 999, 1000, 12_345, 1_000_000].map(count);
    assert_eq!(texts, ["0", "999", "1,000", "12,345", "1,000,000"]);
}
