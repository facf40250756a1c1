//! The examples that look at programs, through their command line, on every backend.

use serde_json::{Value, json};
use std::ffi::OsString;
use vyre_examples::cli::{self, Example};
use vyre_examples::passes;

macro_rules! examples {
    ($($name:ident $path:literal;)*) => {$(
        #[path = $path]
        #[allow(dead_code, unreachable_pub, missing_docs, reason = "an example's own crate, as a module")]
        mod $name;
    )*};
}

examples! {
    dominators "../examples/dominators.rs";
    liveness "../examples/liveness.rs";
    reaching_definitions "../examples/reaching_definitions.rs";
    scc "../examples/scc.rs";
    taint "../examples/taint.rs";
}

use {
    dominators::Dominators, liveness::Liveness, reaching_definitions::ReachingDefinitions,
    scc::Scc, taint::Taint,
};

/// Exit code, stdout and stderr.
fn ran<E: Example>(args: &str) -> (u8, String, String) {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let args = ["example"].into_iter().chain(args.split_whitespace());
    let code = cli::run::<E>(args.map(OsString::from), &mut out, &mut err);
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (code, text(out), text(err))
}

/// The JSON of a run that succeeds and equals its oracle.
fn figures<E: Example>(args: &str) -> Value {
    let (code, out, err) = ran::<E>(&format!("{args} --check --json"));
    assert_eq!((code, err.as_str()), (0, ""), "{args}\n{out}");
    let json: Value = serde_json::from_str(out.lines().last().unwrap()).unwrap();
    assert_eq!(json["check"], "equal");
    json
}

/// Asserts some fields of an object.
#[track_caller]
fn assert_has(json: &Value, fields: Value) {
    for (name, value) in fields.as_object().unwrap() {
        assert_eq!(json[name], *value, "{name} in {json}");
    }
}

fn error<E: Example>(args: &str) -> String {
    let (code, _, err) = ran::<E>(args);
    assert_eq!((code, err.lines().count()), (1, 1), "{err}");
    err.trim_end().strip_prefix("error: ").unwrap().to_string()
}

/// The same figures on every backend: they are written down for one program and taken from the oracle for others.
fn all_programs_on(backend: &str) {
    let on = |args: &str| format!("{args} --backend {backend}");
    assert_has(
        &figures::<Liveness>(&on("--graph cfg:100")),
        json!({"example": "liveness", "backend": backend, "nodes": 100}),
    );
    for graph in ["cfg:1", "cfg:97:2", "cfg:700:3"] {
        let graph = on(&format!("--graph {graph}"));
        figures::<Liveness>(&graph);
        figures::<ReachingDefinitions>(&graph);
        figures::<ReachingDefinitions>(&format!("{graph} --all-registers"));
        figures::<Dominators>(&graph);
        figures::<Scc>(&graph);
    }
    for graph in ["rmat:7:1:3", "grid:9x7"] {
        figures::<Scc>(&on(&format!("--graph {graph}")));
        figures::<Taint>(&on(&format!("--graph {graph}")));
    }
    assert_has(
        &figures::<Scc>(&on("--graph chain:50")),
        json!({"components": 50, "cycles": 0, "largest": 1}),
    );
    assert_has(
        &figures::<Scc>(&on("--graph grid:9x7")),
        json!({"components": 1, "cycles": 1, "largest": 63}),
    );

    // Each calls the next: what 3 reads goes up to 0, and so down to all.
    let args = on("--graph chain:9 --sources 3 --sinks 7,5");
    assert_has(
        &figures::<Taint>(&args),
        json!({"callers": 3, "tainted": 9, "sinks": 2, "steps": 2, "way": "3 4 5"}),
    );
    let args = on("--graph chain:9 --sources 3 --sinks 1");
    assert_has(
        &figures::<Taint>(&args),
        json!({"steps": 2, "way": "3 2 1"}),
    );
    // Of all shortest ways on a grid, in both directions: up in reverse first, the least before each.
    let args = on("--graph grid:4x3 --sources 5 --sinks 11,0");
    assert_has(
        &figures::<Taint>(&args),
        json!({"steps": 2, "way": "5 1 0"}),
    );
    let file = std::env::temp_dir().join(format!("vyre-taint-{}-{backend}.el", std::process::id()));
    // 0 and 1 call the source 2 and, by 3 or 4, the sink 6.
    std::fs::write(&file, "1 2\n0 2\n0 4\n0 3\n1 3\n3 6\n4 6\n5 6\n").unwrap();
    let args = on(&format!(
        "--graph file:{} --sources 2 --sinks 6",
        file.display()
    ));
    assert_has(
        &figures::<Taint>(&args),
        json!({"callers": 2, "tainted": 6, "steps": 3, "way": "2 0 3 6"}),
    );
    let args = args.replace("--sinks 6", "--sinks 5");
    assert_has(
        &figures::<Taint>(&args),
        json!({"sinks": 0, "steps": 0, "way": ""}),
    );
    std::fs::remove_file(file).unwrap();
}

#[test]
fn native() {
    all_programs_on("native");
}

#[test]
fn vir0() {
    all_programs_on("vir0");
}

#[test]
#[ignore = "needs a CUDA device"]
fn cuda() {
    all_programs_on("cuda");
}

/// What `PLAN` promises. That the others' results are the same in every run is beyond what the compiler proves.
#[test]
fn it_is_known_how_far_runs_agree() {
    let class = |plan: vyre::Plan| {
        let text = plan.to_string();
        text.split(['(', ':']).nth(1).unwrap_or_default().to_owned()
    };
    assert_eq!(class(passes::liveness::PLAN), "same result");
    assert_eq!(class(taint::taint::PLAN), "same bits");
}

#[test]
fn this_executable_is_looked_at() {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        return;
    }
    let live = figures::<Liveness>("--backend native");
    assert!(live["nodes"].as_u64().unwrap() > 10_000, "{live}");
    // Their own main leads to every example of this file.
    let args = "--backend native --check --sources programs::native --sinks *taint::way_to";
    let (code, out, err) = ran::<Taint>(args);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    for part in [
        "taint: How data from outside can get from a source to a sink of a program\n",
        "\n    programs::native\n    calls programs::all_programs_on\n",
        "\n    calls programs::taint::way_to\n",
        "\n  check     equal to a search with a queue; ",
    ] {
        assert!(out.contains(part), "{part:?} is missing in\n{out}");
    }
    // A function of another file.
    let (_, out, _) = ran::<Taint>("--backend native --sources getenv --sinks programs::native");
    assert!(out.contains("\n    getenv\n    called by std::"), "{out}");
    let args = "--backend native --graph";
    let graph = format!("elf-cfg:{}", std::env::current_exe().unwrap().display());
    assert_eq!(ran::<Scc>(&format!("{args} {graph}")).0, 0);
}

#[test]
fn what_is_no_program_is_refused_by_name() {
    let needed =
        "this example needs blocks of a program: --graph elf-cfg:PATH or cfg:BLOCKS[:SEED]";
    assert_eq!(error::<Liveness>("--graph chain:3"), needed);
    assert_eq!(error::<ReachingDefinitions>("--graph chain:3"), needed);
    assert_eq!(error::<Dominators>("--graph chain:3"), needed);
    assert_eq!(
        error::<Taint>("--graph chain:3 --sources 1,7"),
        "source 7 is no function of the graph, and no number below 3"
    );
    assert_eq!(
        error::<Taint>("--graph chain:3 --sinks system"),
        "sink system is no function of the graph, and no number below 3"
    );
    let missing = error::<Liveness>("--graph elf-cfg:/no/such/program");
    assert!(
        missing.starts_with("/no/such/program: No such file"),
        "{missing}"
    );
    for (spec, form) in [
        (
            "cfg:0",
            "`cfg:0` is not of the form cfg:BLOCKS[:SEED] with BLOCKS at least 1",
        ),
        ("elf-cfg:", "`elf-cfg:` is not of the form elf-cfg:PATH"),
    ] {
        let (code, _, err) = ran::<Scc>(&format!("--graph {spec}"));
        assert_eq!(code, 2);
        assert!(err.contains(form), "{err}");
    }
}

#[test]
fn programs_explain_themselves() {
    for (help, about) in [
        (
            ran::<Liveness>("--help").1,
            "basic block of a program begins",
        ),
        (ran::<ReachingDefinitions>("--help").1, "--all-registers"),
        (
            ran::<Dominators>("--help").1,
            "every path to a block goes through last",
        ),
        (ran::<Scc>("--help").1, "the loops of a program"),
        (ran::<Taint>("--help").1, "--sources <NAMES>"),
    ] {
        assert!(help.contains(about), "{about} is missing in\n{help}");
        assert!(help.contains("Options of every example"), "{help}");
        assert!(help.contains("cfg:BLOCKS[:SEED]"), "{help}");
    }
}
