//! Every example, through its command line, on every backend.

use serde_json::Value;
use std::ffi::OsString;
use std::path::PathBuf;
use vyre::core::plan::gains::{BuiltIn, Figure};
use vyre::{Runtime, Thresholds};
use vyre_examples::cli::{self, Example};
use vyre_examples::passes;
use vyre_tests::random::cases;

macro_rules! examples {
    ($($name:ident $path:literal;)*) => {$(
        #[path = $path]
        #[allow(dead_code, unreachable_pub, missing_docs, reason = "an example's own crate, as a module")]
        mod $name;
    )*};
}

examples! {
    bellman_ford "../examples/bellman_ford.rs";
    betweenness "../examples/betweenness.rs";
    bisimulation "../examples/bisimulation.rs";
    bfs "../examples/bfs.rs";
    bitonic "../examples/bitonic.rs";
    calibrate "../examples/calibrate.rs";
    closure "../examples/closure.rs";
    components "../examples/components.rs";
    dfa "../examples/dfa.rs";
    kcore "../examples/kcore.rs";
    mis "../examples/mis.rs";
    msf "../examples/msf.rs";
    pagerank "../examples/pagerank.rs";
    points_to "../examples/points_to.rs";
    reachability "../examples/reachability.rs";
    same_generation "../examples/same_generation.rs";
    saxpy "../examples/saxpy.rs";
    select "../examples/select.rs";
    sssp "../examples/sssp.rs";
}

use {
    bfs::Bfs, bisimulation::Bisimulation, closure::Closure, components::Components,
    pagerank::PageRank, points_to::PointsTo, reachability::Reachability,
    same_generation::SameGeneration, saxpy::Saxpy, sssp::Sssp,
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
    // Milliseconds with three decimals: a fast host rounds small runs to zero.
    assert!(json["sequential_ms"].as_f64().unwrap() >= 0.0);
    assert!(json["wall_ms"].as_f64().unwrap() >= 0.0);
    json
}

/// What `PLAN` promises of each: its class, and the first thing that it says.
#[test]
fn each_example_says_how_far_its_runs_agree() {
    let says = |plan: vyre::Plan| {
        let text = plan.to_string();
        let class = text.split(['(', ':']).nth(1).unwrap_or_default().to_owned();
        let indented = text.lines().skip(2).take_while(|l| l.starts_with("  "));
        let cost = " may differ, so a session of several backends stays where it began: ";
        let indented = indented.filter(|l| !l.contains(cost));
        let reasons: Vec<String> = indented
            .map(|l| l.trim().split(" (").next().unwrap_or_default().to_owned())
            .collect();
        (class, reasons)
    };
    let bits = |plan| assert_eq!(says(plan), ("same bits".to_owned(), vec![]));
    let least = |plan, fixpoint: &str| {
        let argument = format!("{fixpoint} ends in the least fixpoint of monotone updates");
        assert_eq!(says(plan), ("same result".to_owned(), vec![argument]));
    };
    let mut wrong = Vec::new();
    let mut open = |plan, expected: &[&str]| {
        let found = says(plan);
        if found.0 != "open result" || found.1 != expected {
            wrong.push(found);
        }
    };
    bits(passes::bfs::PLAN);
    bits(reachability::reachability::PLAN);
    bits(passes::saxpy::PLAN);
    bits(dfa::dfa::PLAN);
    bits(bitonic::bitonic::PLAN);
    least(sssp::sssp::PLAN, "relaxation");
    // A pair that traps may be another one.
    let all_but_traps = ("same result".to_owned(), vec![]);
    assert_eq!(says(closure::closure::PLAN), all_but_traps);
    assert_eq!(says(same_generation::same_generation::PLAN), all_but_traps);
    assert_eq!(says(points_to::points_to::PLAN), all_but_traps);
    open(
        bellman_ford::bellman_ford::PLAN,
        &[
            "relax uses the old value of dist",
            "rounds ends by `front.is_empty() || round >= nodes`, whether values still change or not",
        ],
    );
    open(
        passes::components::PLAN,
        &[
            "flatten reads label, which other items change meanwhile",
            "link uses the old value of label",
            "finish reads label, which other items change meanwhile",
        ],
    );
    bits(kcore::kcore::PLAN);
    open(
        mis::mis::PLAN,
        &[
            "exclude reads state, which other items change meanwhile",
            "clear changes best in a way that is not known to be monotone",
        ],
    );
    open(
        msf::msf::PLAN,
        &[
            "hook stores to parent; the last of several items wins",
            "clear changes best in a way that is not known to be monotone",
        ],
    );
    open(
        passes::pagerank::PLAN,
        &[
            "scatter adds floats to dangling; rounding shows their order",
            "iteration ends by `moved < tolerance`, whether values still change or not",
        ],
    );
    open(
        betweenness::betweenness::PLAN,
        &[
            "add reads paths, which other items change meanwhile",
            "discover changes dist in a way that is not known to be monotone",
            "hand reads share, which other items change meanwhile",
            "hand changes share in a way that is not known to be monotone",
        ],
    );
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A relation is a list and a table, and `PLAN` shows what the author wrote: no append, and no loop of a search.
#[test]
fn a_plan_shows_relations_as_they_are_written() {
    let plan = closure::closure::PLAN.to_string();
    let lines = |of: &str| {
        let lines = plan.lines().map(str::trim).filter(|l| l.starts_with(of));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    let [path] = &lines("relation ")[..] else {
        panic!("{plan}");
    };
    assert!(
        path.contains(" path ") && path.contains("up to room of u32, u32"),
        "{path}"
    );
    assert_eq!(lines("list ").len(), 0, "{plan}");
    assert!(
        lines("0 begin")[0].contains("  inserts into path  "),
        "{plan}"
    );
    assert!(
        lines("1 extend")[0].contains("  reads graph, inserts into path  "),
        "{plan}"
    );
    let [neighbors] = &lines("loop ")[..] else {
        panic!("{plan}");
    };
    assert!(
        neighbors.contains("extend") && neighbors.contains("turns in any order"),
        "{neighbors}"
    );
}

/// Edges count in both directions, whether they lead back or not, and whoever has the most: labels are exact.
#[test]
fn components_are_those_of_union_find_on_random_graphs() {
    use passes::components::{Run, Session};
    cases(60, |u| {
        // Sampled nodes lie two apart in the largest graphs.
        let nodes = [1, 3, 40, 900, 1024, 2500][u.choose_index(6)?];
        let first = u.int_in_range(0..=nodes - 1)?;
        let mut state = u.arbitrary::<u32>()?;
        let mut draw = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            first + (state >> 8) % (nodes - first)
        };
        let edges: Vec<_> = (0..nodes * [0, 1, 3][u.choose_index(3)?])
            .map(|_| (draw(), draw()))
            .collect();
        let mirrored: Vec<_> = edges.iter().flat_map(|&(a, b)| [(a, b), (b, a)]).collect();
        for (edges, ways) in [(edges, &[false][..]), (mirrored, &[false, true])] {
            let graph = vyre::Csr::from_edges(nodes as usize, &edges).unwrap();
            let expected = vyre_examples::oracle::components(&graph);
            for runtime in [Runtime::native(), Runtime::vir0()] {
                let mut session = Session::new(&runtime, &graph).unwrap();
                for &symmetric in ways {
                    assert_eq!(
                        session.run(Run { symmetric, nodes }).unwrap().label,
                        expected
                    );
                }
            }
        }
        Ok(())
    });
}

fn error<E: Example>(args: &str) -> String {
    let (code, _, err) = ran::<E>(args);
    assert_eq!(code, 1, "{err}");
    assert_eq!(err.lines().count(), 1, "{err}");
    err.trim_end().strip_prefix("error: ").unwrap().to_string()
}

/// Asserts some fields of an object.
#[track_caller]
fn assert_has(json: &Value, fields: Value) {
    for (name, value) in fields.as_object().unwrap() {
        assert_eq!(json[name], *value, "{name} in {json}");
    }
}

/// What is fast is this machine's to say; that every way gives the same, and what was measured of each, is not.
#[test]
fn searches_run_in_the_way_that_is_selected() {
    for (backend, args) in [
        ("native", "--searches 20"),
        ("native", "--searches 2000 --ranking thresholds"),
        ("vir0", "--searches 3"),
    ] {
        let args = format!("--graph rmat:7:4 --tries 1 --backend {backend} {args}");
        let json = figures::<select::Select>(&args);
        let selected = json["selected"].as_str().unwrap();
        let ways = ["baseline", "batch", "batch.renumbered"];
        assert!(ways.contains(&selected), "{selected}");
        let (code, out, _) = ran::<select::Select>(&args);
        assert_eq!(code, 0);
        for line in [
            "measured  `batch` is ",
            "`batch.renumbered` is ",
            "skipped `vyre.jit`: it waits for compiled passes",
        ] {
            assert!(out.contains(line), "{out}");
        }
        // The session that is measured, and the one that then runs, are planned once each, or found.
        assert!(out.contains("made, "), "{out}");
    }
}

#[test]
fn a_batch_of_searches_says_how_many_launches_it_took() {
    for backend in ["native", "vir0"] {
        let args = format!("--graph grid:12x10 --source 5 --batch 20 --backend {backend}");
        assert_has(
            &figures::<bfs::Bfs>(&args),
            serde_json::json!({
                "queries": 20, "launches": 1, "reached": 20 * 120, "source": 5, "depth": 20,
            }),
        );
        // The same, a launch each.
        assert_has(
            &figures::<bfs::Bfs>(&format!("{args} --one-by-one")),
            serde_json::json!({"queries": 20, "launches": 20, "reached": 20 * 120, "check": "equal"}),
        );
    }
    // More queries than nodes, repeated; decisions on request.
    let args = "--graph chain:3 --batch 9 --repeat 2 --explain --backend native";
    let (code, out, _) = ran::<bfs::Bfs>(args);
    assert_eq!(code, 0, "{out}");
    assert!(out.contains("launch 2 of 9 queries: "), "{out}");
}

#[test]
fn measured_thresholds_are_loaded() {
    let file = std::env::temp_dir().join(format!("vyre-thresholds-{}", std::process::id()));
    let path = file.display();
    let (code, out, err) = ran::<calibrate::Calibrate>(&format!("--backend vir0 --file {path}"));
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    let args = format!("--graph chain:9 --backend native --thresholds {path}");
    assert_has(&figures::<bfs::Bfs>(&args), serde_json::json!({"depth": 8}));
    std::fs::write(&file, "parallel_form = 3\n").unwrap();
    assert_eq!(
        error::<bfs::Bfs>(&args),
        format!("cannot load {path}: line 1: there is no threshold `parallel_form`")
    );
    std::fs::remove_file(&file).unwrap();
    // What a GPU is measured with.
    let graph = vyre::Csr::from_edges(4, &[(0, 1), (1, 2), (0, 2)]).unwrap();
    for runtime in [Runtime::native(), Runtime::vir0()] {
        let mut session = calibrate::search::Session::new(&runtime, &graph).unwrap();
        let out = session.run(calibrate::search::Run {}).unwrap();
        assert_eq!(out.dist, [0, 1, 1, u32::MAX]);
        let mut session = passes::lists::Session::new(&runtime, ()).unwrap();
        let run = passes::lists::Run { room: 9, found: 3 };
        let out = session.run(run).unwrap();
        let all = [out.a, out.b, out.c, out.d, out.e, out.f, out.g, out.h];
        for (first, found) in (0..).zip(all) {
            assert_eq!(found, [first, first + 1, first + 2]);
        }
    }
}

/// All five candidates of a device are measured, each against runs without it, and the file has what was found.
#[test]
fn what_candidates_gain_is_measured_and_written() {
    let mut graphs = calibrate::Graphs::new(calibrate::Effort {
        nodes: 2_048,
        fan: 2,
        items: 4_096,
        turns: 2,
        runs: 1,
    });
    let runtime = vyre_tests::fake();
    let mut said = Vec::new();
    let mut say = |candidate: BuiltIn, text: String| said.push(format!("{candidate}: {text}"));
    let gains = calibrate::Calibrate::gains(&runtime, &mut graphs, &mut say).unwrap();
    for candidate in BuiltIn::ALL {
        assert!(
            matches!(gains.of(candidate), Figure::Of(_)),
            "{candidate}\n{said:#?}"
        );
    }
    // Four graphs for each of two, two rooms, two sizes and the compiler's time, and a session.
    assert_eq!(said.len(), 4 + 4 + 2 + 2 + 1 + 1, "{said:#?}");
    let mut thresholds = *runtime.thresholds();
    thresholds.gains = gains;
    assert_eq!(Thresholds::read(&thresholds.write()), Ok(thresholds));
}

#[test]
fn a_shape_that_leaves_too_little_shared_memory_is_refused() {
    let path = std::env::temp_dir().join(format!("vyre-shape-{}", std::process::id()));
    let args = format!(
        "--graph chain:5 --dump-ptx {} --shape 128x16",
        path.display()
    );
    let said = error::<bfs::Bfs>(&args);
    assert!(
        said.starts_with("the pass needs ")
            && said.contains(
                " where 128x16 is its shape, 16 CTAs share a multiprocessor, and each has "
            ),
        "{said}"
    );
}

/// What an example does not say that it ignores, it asks for.
#[test]
fn every_shared_option_is_followed_or_refused() {
    fn of<E: Example>(args: &str) {
        let file = |kind: &str| {
            let name = format!("vyre-{}-{kind}-{}", E::NAME, std::process::id());
            std::env::temp_dir().join(name)
        };
        let with_file = |option: &str| {
            (
                option.to_owned(),
                Some(file(&option[2..]).display().to_string()),
            )
        };
        let options = [
            ("--graph".to_owned(), Some("rmat:4:4".to_owned())),
            ("--source".to_owned(), Some("0".to_owned())),
            ("--check".to_owned(), None),
            ("--repeat".to_owned(), Some("2".to_owned())),
            ("--plan".to_owned(), None),
            with_file("--out"),
            with_file("--plan-svg"),
            with_file("--plan-dot"),
            with_file("--plan-mermaid"),
            with_file("--dump-ptx"),
        ];
        let mut all = format!("{args} --backend vir0");
        for (option, value) in options {
            let given = match value {
                Some(value) => format!("{option} {value}"),
                None => option.clone(),
            };
            if E::IGNORES.contains(&option.as_str()) {
                let said = format!(
                    "error: `{option}` means nothing to `{}` as it is called here: leave it out\n",
                    E::NAME
                );
                let (code, _, err) = ran::<E>(&format!("{args} {given}"));
                assert_eq!((code, err), (2, said));
            } else {
                all += " ";
                all += &given;
            }
        }
        // That takes a minute.
        if E::NAME != calibrate::Calibrate::NAME {
            let (code, out, err) = ran::<E>(&all);
            assert_eq!((code, err.as_str()), (0, ""), "{} {all}\n{out}", E::NAME);
        }
        for kind in ["out", "plan-svg", "plan-dot", "plan-mermaid", "dump-ptx"] {
            // Of what was refused there is none.
            let _ = std::fs::remove_file(file(kind));
        }
    }
    of::<bellman_ford::BellmanFord>("");
    of::<betweenness::Betweenness>("--sources 2");
    of::<bfs::Bfs>("");
    of::<bitonic::Bitonic>("--len 50");
    of::<calibrate::Calibrate>("");
    of::<closure::Closure>("");
    of::<components::Components>("");
    of::<dfa::Dfa>("--len 50");
    of::<kcore::KCore>("");
    of::<mis::Mis>("");
    of::<bisimulation::Bisimulation>("");
    of::<msf::Msf>("");
    of::<pagerank::PageRank>("");
    of::<points_to::PointsTo>("");
    of::<reachability::Reachability>("");
    of::<same_generation::SameGeneration>("");
    of::<saxpy::Saxpy>("");
    of::<select::Select>("--searches 8 --tries 1");
    of::<sssp::Sssp>("");
}

fn all_examples_on(backend: &str) {
    let on = |args: &str| format!("{args} --backend {backend}");

    let grid = figures::<Bfs>(&on("--graph grid:60x40 --source 0"));
    assert_has(
        &grid,
        serde_json::json!({
            "example": "bfs", "backend": backend, "nodes": 2400, "edges": 9400, "rounds": 99, "source": 0,
            "reached": 2400, "depth": 98,
        }),
    );
    assert!(!grid["device"].as_str().unwrap().is_empty());
    let chain = figures::<Bfs>(&on("--graph chain:500"));
    assert_has(
        &chain,
        serde_json::json!({"reached": 500, "depth": 499, "rounds": 500}),
    );
    let tail = figures::<Bfs>(&on("--graph chain:500 --source 400"));
    assert_has(&tail, serde_json::json!({"reached": 100, "depth": 99}));
    let lonely = figures::<Bfs>(&on("--graph chain:1"));
    assert_has(
        &lonely,
        serde_json::json!({"reached": 1, "depth": 0, "rounds": 1}),
    );

    let two = figures::<Sssp>(&on("--graph chain:3"));
    assert_has(
        &two,
        serde_json::json!({"example": "sssp", "reached": 3, "farthest": 22 + 61}),
    );
    figures::<Sssp>(&on("--graph grid:30x20 --source 17"));

    let grid = figures::<Components>(&on("--graph grid:30x30"));
    assert_has(
        &grid,
        serde_json::json!({"example": "components", "components": 1, "largest": 900}),
    );
    assert_has(
        &figures::<Components>(&on("--graph chain:100")),
        serde_json::json!({"components": 1, "largest": 100}),
    );

    let chain = figures::<Closure>(&on("--graph chain:60"));
    assert_has(
        &chain,
        serde_json::json!({"example": "closure", "pairs": 60 * 59 / 2, "rounds": 59, "room": 2 * 16 * 59}),
    );
    let grid = figures::<Closure>(&on("--graph grid:7x5 --room 1225"));
    assert_has(&grid, serde_json::json!({"pairs": 35 * 35, "room": 1225}));
    let none = figures::<Closure>(&on("--graph chain:1"));
    assert_has(&none, serde_json::json!({"pairs": 0, "room": 0}));
    let (code, _, full) = ran::<Closure>(&on("--graph grid:7x5 --room 1224"));
    assert_eq!(code, 1, "{full}");
    assert!(
        full.starts_with("error: relation `path` needs at least 1225 tuples; its capacity is 1224 (room) in `extend`"),
        "{full}"
    );

    // Of one generation are the nodes of one colour of a chessboard, 18 and 17 of them; a path has no siblings.
    let grid = figures::<SameGeneration>(&on("--graph grid:7x5"));
    assert_has(
        &grid,
        serde_json::json!({"example": "same_generation", "pairs": 18 * 18 + 17 * 17, "room": 1225}),
    );
    let chain = figures::<SameGeneration>(&on("--graph chain:60"));
    assert_has(
        &chain,
        serde_json::json!({"pairs": 0, "rounds": 1, "room": 16 * 59}),
    );
    let halves = figures::<SameGeneration>(&on("--graph grid:7x5 --halves"));
    assert_has(&halves, serde_json::json!({"pairs": 18 * 18 + 17 * 17}));
    figures::<SameGeneration>(&on("--graph rmat:6:3 --halves"));
    let (code, _, full) = ran::<SameGeneration>(&on("--graph grid:7x5 --room 612"));
    assert_eq!(code, 1, "{full}");
    assert!(
        full.starts_with("error: relation `sg` needs at least 613 tuples; its capacity is 612 (room) in `children`"),
        "{full}"
    );

    let small = figures::<PointsTo>(&on(""));
    assert_has(
        &small,
        serde_json::json!({"example": "points_to", "statements": 8, "nowhere": 1}),
    );
    for (args, classes) in [
        ("--graph grid:9x7 --labels 1", 1),
        ("--graph grid:9x7 --labels 8", 63),
        ("--graph chain:40 --labels 1", 40),
        ("--graph rmat:8:2", 144),
    ] {
        let parted = figures::<Bisimulation>(&on(args));
        assert_has(&parted, serde_json::json!({"classes": classes}));
    }

    for seed in 1..4 {
        figures::<PointsTo>(&on(&format!("--statements 300 --seed {seed}")));
    }

    let rank = figures::<PageRank>(&on("--graph rmat:8:8"));
    assert_has(&rank, serde_json::json!({"example": "pagerank", "top": 0}));
    assert!((rank["sum"].as_f64().unwrap() - 1.0).abs() < 1e-4);
    assert!(rank["residual"].as_f64().unwrap() < 1e-5);
    figures::<PageRank>(&on("--graph chain:40 --damping 0.5 --tolerance 1e-6"));

    let sums = figures::<Saxpy>(&on("--len 1000 --a 3"));
    let expected: u32 = (0..1000).map(|i| 3 * i + i % 77).sum();
    assert_has(
        &sums,
        serde_json::json!({
            "example": "saxpy", "nodes": 1000, "edges": 0, "rounds": 0, "sum": f64::from(expected),
        }),
    );
    assert_has(
        &figures::<Saxpy>(&on("--graph chain:9")),
        serde_json::json!({"nodes": 9}),
    );

    let tree = figures::<Reachability>(&on("--graph chain:9 --source 3"));
    assert_has(
        &tree,
        serde_json::json!({
            "example": "reachability", "reached": 6, "unreached": 3, "depth": 5, "source": 3,
        }),
    );

    for seed in 0..6 {
        let graph = |scale: u32| format!("--graph rmat:{scale}:{}:{seed}", 1 + seed % 3);
        let from = |scale: u32| format!("{} --source {seed}", graph(scale));
        figures::<Bfs>(&on(&from(8)));
        figures::<Sssp>(&on(&from(7)));
        figures::<Components>(&on(&graph(8)));
        figures::<Closure>(&on(&graph(6)));
        figures::<SameGeneration>(&on(&graph(6)));
        figures::<PageRank>(&on(&graph(6)));
        figures::<Reachability>(&on(&from(7)));
    }

    // With the line of source, where that can be read.
    let (code, _, limit) = ran::<PageRank>(&on("--graph rmat:6:4 --tolerance 1e-30"));
    assert_eq!(code, 1, "{limit}");
    assert!(
        limit.starts_with("error: not finished after 1000 rounds in `iteration`"),
        "{limit}"
    );
    assert!(limit.contains("examples/src/passes.rs:"), "{limit}");
}

#[test]
fn native() {
    all_examples_on("native");
}

#[test]
fn vir0() {
    all_examples_on("vir0");
}

#[test]
#[ignore = "needs a CUDA device"]
fn cuda() {
    all_examples_on("cuda");
}

#[test]
fn a_missing_device_is_an_error_of_one_line() {
    if Runtime::cuda().is_err() {
        let missing = error::<Bfs>("--backend cuda");
        assert!(missing.starts_with("no CUDA device: "), "{missing}");
    }
}

#[test]
fn reachability_finds_the_dead_code_of_its_own_executable() {
    let (code, out, err) = ran::<Reachability>("--backend native --check --all");
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    for part in [
        "\n  graph     elf:",
        " functions from _start, depth ",
        "\n  by depth  ",
        "\n  dead      ",
        " examples::reachability::attic::checksum_of_1998\n",
        " examples::reachability::attic::is_even_the_hard_way\n",
        " examples::reachability::attic::is_odd_the_hard_way\n",
        "\n  backend   native (",
        "\n  time      ",
        "\n  check     equal to a search with a queue; sequential ",
        "\n  plan      fixed at compile time\n    pass reachability",
    ] {
        assert!(out.contains(part), "{part:?} is missing in\n{out}");
    }
    let from_there = "--source examples::reachability::attic::is_odd_the_hard_way --json";
    let (_, out, _) = ran::<Reachability>(from_there);
    let json: Value = serde_json::from_str(out.lines().last().unwrap()).unwrap();
    assert!(json["reached"].as_u64().unwrap() >= 3);
}

#[test]
fn long_lists_are_cut_unless_all_is_asked_for() {
    let (_, cut, _) = ran::<Reachability>("--graph chain:30 --source 20");
    let numbers = "    0 1 2 3 4 5 6 7 8 9 10 11\n    and 8 more; --all lists them\n";
    assert!(
        cut.contains(&format!("  unreached 20 nodes:\n{numbers}")),
        "{cut}"
    );
    let (_, all, _) = ran::<Reachability>("--graph chain:30 --source 20 --all");
    assert!(all.contains(" 12 13 14 15 16 17 18 19\n"), "{all}");
}

#[test]
fn results_are_written_as_vec_files() {
    let folder = std::env::temp_dir().join(format!("vyre-examples-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let saved = |run: fn(&str) -> (u8, String, String), args: &str, name: &str| {
        let path: PathBuf = folder.join(name);
        let (code, out, err) = run(&format!("{args} --out {}", path.display()));
        assert_eq!((code, err.as_str()), (0, ""), "{out}");
        std::fs::read(path).unwrap()
    };
    let vec_of = |name: &[u8; 4], words: &[u32]| {
        let mut bytes = [b"VECBIN01".as_slice(), name, &[1, 0, 0, 0]].concat();
        bytes.extend((words.len() as u64).to_le_bytes());
        words.iter().for_each(|w| bytes.extend(w.to_le_bytes()));
        bytes
    };
    let none = u32::MAX;
    assert_eq!(
        saved(ran::<Bfs>, "--graph chain:4 --source 1", "bfs"),
        vec_of(b"u32 ", &[none, 0, 1, 2])
    );
    assert_eq!(
        saved(ran::<Sssp>, "--graph chain:3", "sssp"),
        vec_of(b"u32 ", &[0, 22, 83])
    );
    assert_eq!(
        saved(ran::<Components>, "--graph chain:3", "cc"),
        vec_of(b"u32 ", &[0, 0, 0])
    );
    let ys = [0f32, 3.0, 6.0].map(f32::to_bits);
    assert_eq!(
        saved(ran::<Saxpy>, "--len 3", "saxpy"),
        vec_of(b"f32 ", &ys)
    );
    let ranks = saved(ran::<PageRank>, "--graph grid:2x2", "ranks");
    assert_eq!(ranks, vec_of(b"f32 ", &[0.25f32.to_bits(); 4]));
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn what_is_no_number_equals_its_oracle() {
    for a in ["nan", "inf"] {
        let (code, out, err) = ran::<Saxpy>(&format!("--len 10 --a {a} --check"));
        assert_eq!((code, err.as_str()), (0, ""), "{out}");
    }
}

#[test]
fn weights_come_from_the_file() {
    let path = std::env::temp_dir().join(format!("vyre-weights-{}.el", std::process::id()));
    let file = format!("--graph file:{} --source 0", path.display());
    std::fs::write(&path, "0 1 10\n1 2 10\n0 2 25\n2 3 4294967295\n").unwrap();
    let json = figures::<Sssp>(&file);
    assert_has(
        &json,
        serde_json::json!({"nodes": 4, "reached": 3, "farthest": 20}),
    );
    std::fs::write(&path, "0 1 -10\n").unwrap();
    assert_eq!(
        error::<Sssp>(&file),
        "edge 0 has weight -10; this example needs weights of at least 0"
    );
    std::fs::write(&path, "").unwrap();
    assert_eq!(
        error::<Sssp>(&file.replace(" --source 0", "")),
        "the graph has no nodes"
    );
    assert_eq!(
        error::<Bfs>(&file),
        "source 0 is not a node; the graph has no nodes"
    );
    assert_has(
        &figures::<Components>(&file.replace(" --source 0", "")),
        serde_json::json!({"components": 0, "nodes": 0}),
    );
    std::fs::remove_file(path).unwrap();
}

#[test]
fn examples_explain_themselves() {
    for (help, about) in [
        (
            ran::<Bfs>("--help").1,
            "How many edges away from a source each node is",
        ),
        (ran::<Sssp>("--help").1, "Weights come from the file"),
        (ran::<Components>("--help").1, "by linking edges to trees"),
        (ran::<Closure>("--help").1, "--room <N>"),
        (
            ran::<SameGeneration>("--help").1,
            "All pairs of nodes of the same generation",
        ),
        (ran::<PageRank>("--help").1, "--damping <P>"),
        (ran::<Saxpy>("--help").1, "--len <N>"),
        (ran::<Reachability>("--help").1, "reads its own executable"),
    ] {
        assert!(help.contains(about), "{about} is missing in\n{help}");
        assert!(help.contains("Options of every example"), "{help}");
    }
    assert_eq!(ran::<PageRank>("--damping 1.5").0, 2);
    assert_eq!(ran::<PageRank>("--tolerance 0").0, 2);
}
