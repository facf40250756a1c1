//! The benchmark at its small scale, and what it measures with.

use serde_json::Value;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use vyre::cuda::Device;
use vyre::{Csr, Runtime};
use vyre_bench::cuda::RivalError;
use vyre_bench::report::{Host, Table};
use vyre_bench::rivals::{self, Measured, Place, Skip};
use vyre_bench::workloads::{Inputs, Name, Problem, Rule, Scale, Values, Workload};
use vyre_bench::{Cell, Outcome, Spread, Timing};
use vyre_examples::cfg::{Cfg, Definitions};
use vyre_examples::graph::{self, GraphSpec};
use vyre_examples::oracle;

/// Exit code, stdout and stderr.
fn ran(args: &[&str]) -> (u8, String, String) {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let args = ["bench"].iter().chain(args).map(OsString::from);
    let code = vyre_bench::run(args, &mut out, &mut err);
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (code, text(out), text(err))
}

fn scratch(name: &str) -> PathBuf {
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("bench");
    std::fs::create_dir_all(&dir).unwrap();
    dir.join(name)
}

const WORKLOADS: [&str; 19] = [
    "bfs-grid1000",
    "bfs-grid4000",
    "bfs-chain20k",
    "bfs-rmat20",
    "bfs-rmat22",
    "sssp-grid1000",
    "sssp-rmat22",
    "pagerank-rmat22",
    "components-grid1000",
    "components-rmat22",
    "liveness",
    "reaching",
    "saxpy",
    "hash",
    "closure-grid64",
    "closure-chain4k",
    "closure-rmat12",
    "closure-cfg100k",
    "same-generation-grid48",
];

#[test]
fn every_workload_runs_and_is_checked() {
    let (csv, markdown) = (scratch("all.csv"), scratch("all.md"));
    let plots = scratch("plots");
    let (code, out, err) = ran(&[
        "--scale",
        "small",
        "--cap",
        "0.002",
        "--runs",
        "3",
        "--json",
        "--csv",
        csv.to_str().unwrap(),
        "--markdown",
        markdown.to_str().unwrap(),
        "--svg",
        plots.to_str().unwrap(),
    ]);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");

    let json: Value = serde_json::from_str(out.lines().last().unwrap()).unwrap();
    let cells = json["cells"].as_array().unwrap();
    for name in WORKLOADS {
        let of = |rival: &str| {
            let found = cells
                .iter()
                .find(|c| c["workload"] == name && c["rival"] == rival);
            found.unwrap_or_else(|| panic!("{rival} on {name}"))
        };
        // Of that there are no whole rounds.
        let parallel = match name {
            "reaching" => "rayon-functions",
            "same-generation-grid48" => "rayon-sets",
            _ => "rayon",
        };
        for rival in ["sequential", parallel, "native", "vir0"] {
            let cell = of(rival);
            assert!(cell["wall_ns"]["median"].is_number());
            assert!(cell["wall_ratio"].as_f64().unwrap() >= 1.0);
            let runs = cell["runs"].as_u64().unwrap();
            assert!((1..=3).contains(&runs));
        }
        if let Err(why) = Runtime::cuda() {
            assert_eq!(of("cuda")["skipped"], why.to_string());
        }
        let best = cells
            .iter()
            .filter(|c| c["workload"] == name && c["wall_ratio"] == 1.0);
        assert_eq!(best.count(), 1, "{name}");
        assert!(plots.join(format!("{name}.svg")).exists());
    }
    assert!(cells.iter().all(|c| c["failed"].is_null()));
    assert!(plots.join("ratios.svg").exists());

    let mut lines = csv::Reader::from_path(&csv).unwrap();
    assert_eq!(lines.records().count(), cells.len());
    let markdown = std::fs::read_to_string(markdown).unwrap();
    for name in WORKLOADS {
        assert!(markdown.contains(&format!("\n## {name}\n")), "{markdown}");
    }
}

/// By device time and by wall time another rival may be the best, and vyre may win by one and lose by the other.
#[test]
fn both_clocks_are_compared_and_losses_are_shown() {
    let mut table = Table::new(Host {
        cpu: None,
        threads: 1,
        load: None,
        gpu: Ok("a device".into()),
    });
    let once = |us: f64| Spread::of(vec![us * 1e3]);
    let cell = |rival, ours, place, wall_us, device_us: Option<f64>| Cell {
        workload: Name::BfsGrid1000,
        rival,
        ours,
        place,
        outcome: Outcome::Measured(Timing {
            runs: 1,
            cold: false,
            wall: once(wall_us),
            device: device_us.map(once),
            rounds: Some(3),
        }),
    };
    table.sizes.push((Name::BfsGrid1000, (10, 20), false));
    table.cells = vec![
        cell("rayon", false, Place::Cpu, 200.0, None),
        cell("native", true, Place::Cpu, 100.0, None),
        cell("cuda", true, Place::Gpu, 60.0, Some(40.0)),
        cell("compiled", false, Place::Gpu, 80.0, Some(32.0)),
        cell("graph-pdl", false, Place::Gpu, 50.0, Some(48.0)),
    ];
    let markdown = table.markdown();
    for line in [
        "| bfs-grid1000 | cpu | wall | native 100 us | rayon 200 us | 0.50 | wins |",
        "| bfs-grid1000 | gpu | device | cuda 40.0 us | compiled 32.0 us | 1.25 | **loses** |",
        "| bfs-grid1000 | gpu | wall | cuda 60.0 us | graph-pdl 50.0 us | 1.20 | **loses** |",
        "Lost: 0 of 1 by wall time on the cpu, 1 of 1 by device time on the gpu, 1 of 1 by wall time on the gpu.",
        "| **cuda** | 60.0 us | 60.0 us | 60.0 us | 1.20 | 40.0 us | 1.25 | 3 | 1 |",
        "| rayon | 200 us | 200 us | 200 us | 4.00 |  |  | 3 | 1 |",
    ] {
        assert!(markdown.lines().any(|l| l == line), "{line}\n{markdown}");
    }
    let mut csv = Vec::new();
    table.csv(&mut csv).unwrap();
    let mut csv = csv::Reader::from_reader(csv.as_slice());
    let header = csv.headers().unwrap().clone();
    let ratios: Vec<[String; 2]> = csv
        .records()
        .map(|record| {
            let record = record.unwrap();
            let of = |name| header.iter().position(|h| h == name).unwrap();
            ["wall_ratio", "device_ratio"].map(|name| record[of(name)].to_owned())
        })
        .collect();
    assert_eq!(
        ratios,
        [
            ["4.0000", ""],
            ["2.0000", ""],
            ["1.2000", "1.2500"],
            ["1.6000", "1.0000"],
            ["1.0000", "1.5000"],
        ]
    );
    let json = table.json();
    assert_eq!(json["cells"][2]["wall_ratio"], 1.2);
    assert_eq!(json["cells"][2]["device_ratio"], 1.25);
    assert!(json["cells"][0]["device_ratio"].is_null());
}

#[test]
fn named_workloads_and_rivals_only() {
    let (code, out, err) = ran(&[
        "--scale",
        "small",
        "--workloads",
        "sssp-rmat22,hash",
        "--rivals",
        "dial,native",
        "--json",
        "--runs",
        "1",
    ]);
    assert_eq!((code, err.as_str()), (0, ""));
    let json: Value = serde_json::from_str(out.lines().last().unwrap()).unwrap();
    let cells = json["cells"].as_array().unwrap();
    let cells: Vec<_> = cells
        .iter()
        .map(|c| {
            (
                c["workload"].as_str().unwrap(),
                c["rival"].as_str().unwrap(),
            )
        })
        .collect();
    // Dial's algorithm has nothing to say about hashes.
    assert_eq!(
        cells,
        [
            ("sssp-rmat22", "dial"),
            ("sssp-rmat22", "native"),
            ("hash", "native")
        ]
    );
    // The call did not ask for a GPU.
    assert!(!out.contains("skipped"));
}

#[test]
fn what_is_missing_is_named() {
    let (code, out, err) = ran(&["--rivals", "gunrock"]);
    assert_eq!((code, out.as_str()), (1, ""));
    assert_eq!(err, "error: `gunrock` is no rival; --list shows them\n");
    let (code, _, err) = ran(&["--workloads", "bfs"]);
    assert_eq!(code, 2);
    assert!(err.contains("bfs-grid1000"), "{err}");
    let (code, out, _) = ran(&["--list"]);
    assert_eq!(code, 0);
    for name in WORKLOADS.into_iter().chain([
        "sequential",
        "petgraph",
        "cuda",
        "queued-pdl",
        "while-graph",
    ]) {
        assert!(out.contains(&format!("  {name} ")), "{out}");
    }
    let (code, out, _) = ran(&[
        "--workloads",
        "liveness",
        "--rivals",
        "native",
        "--cfg",
        "/nowhere",
    ]);
    assert_eq!(code, 0);
    assert!(out.contains("liveness: skipped: /nowhere: "), "{out}");
    // How long it takes decides nothing here.
    let (_, out, _) = ran(&["stop", "--backend", "native,vir0", "--times", "2"]);
    for line in [
        "  native   loops without accesses ",
        "  vir0     a batch of 50 queries ",
    ] {
        assert!(out.contains(line), "{out}");
    }
    let sums = out.lines().filter(|line| line.ends_with(" (12 calls)"));
    assert_eq!(sums.count(), 2, "{out}");
    let (code, out, _) = ran(&["readback", "--backend", "native,vir0", "--times", "2"]);
    assert_eq!(code, 0, "{out}");
    for line in ["readback.native: ", "readback.vir0: "] {
        let found = out.lines().find(|l| l.starts_with(line));
        let counted = "; 0 bytes copied, 32,000 packed of 32,000,000";
        assert!(found.is_some_and(|l| l.ends_with(counted)), "{out}");
    }
    if let Err(why) = Runtime::cuda() {
        for measured in ["cold", "micro", "start"] {
            let (code, _, err) = ran(&[measured]);
            assert_eq!((code, err), (1, format!("error: {why}\n")));
        }
    }
}

#[test]
fn a_wrong_result_is_found() {
    let inputs = Inputs::new(Scale::Small, None, None);
    for (name, off) in [
        (Name::BfsChain20k, 3),
        (Name::SsspGrid1000, 5),
        (Name::Hash, 7),
    ] {
        let workload = inputs.workload(name).unwrap();
        let right = run_on("sequential", &workload).unwrap();
        assert_eq!(workload.difference(&right.values, None), None);
        let Values::U32(mut values) = right.values else {
            panic!("{name} gives u32");
        };
        let was = values[off];
        values[off] ^= 1;
        let found = workload.difference(&Values::U32(values.clone()), None);
        assert_eq!(
            found,
            Some(format!("value of {off} is {}, not {was}", was ^ 1))
        );
        values.pop();
        assert!(
            workload
                .difference(&Values::U32(values), None)
                .unwrap()
                .contains("values instead of")
        );
        let other = workload.difference(&Values::F32(Vec::new()), None);
        assert_eq!(other, Some("the values have another type".into()));
    }
    let workload = inputs.workload(Name::ClosureChain4k).unwrap();
    let right = run_on("ascent-par", &workload).unwrap();
    let pairs = 60 * 59 / 2;
    assert_eq!(right.values, Values::Count(pairs));
    assert_eq!(workload.difference(&right.values, None), None);
    let found = workload.difference(&Values::Count(pairs + 1), None);
    assert_eq!(found.unwrap(), "1,771 pairs, not 1,770");
    let workload = inputs.workload(Name::PageRankRmat22).unwrap();
    let right = run_on("rayon", &workload).unwrap();
    let rounds = right.rounds.unwrap();
    assert_eq!(workload.difference(&right.values, Some(rounds)), None);
    // One round more is another result.
    assert!(
        workload
            .difference(&right.values, Some(rounds - 3))
            .unwrap()
            .contains("ranks differ")
    );
    assert!(workload.difference(&right.values, None).is_some());
    let Values::F32(mut ranks) = right.values else {
        panic!("ranks are f32");
    };
    ranks[0] = f32::NAN;
    assert!(
        workload
            .difference(&Values::F32(ranks), Some(rounds))
            .is_some()
    );
}

/// One run, after one that leaves scratch memory used.
fn run_on(rival: &str, workload: &Workload) -> Option<Measured> {
    let rival = rivals::all()
        .into_iter()
        .find(|r| r.name() == rival)
        .unwrap();
    let mut prepared = match rival.prepare(workload) {
        Ok(prepared) => prepared,
        Err(Skip::NoAlgorithm) => return None,
        Err(Skip::Unavailable(why)) if why == RivalError::NoDependentLaunch.to_string() => {
            return None;
        }
        Err(Skip::Unavailable(why)) => panic!("{}: {why}", rival.name()),
    };
    for _ in 0..2 {
        prepared.reset();
        prepared.run().unwrap();
    }
    prepared.reset();
    Some(prepared.run().unwrap())
}

/// Every rival there gives the right result, again and again; the interpreter only where it need not do much.
fn all_agree(place: Place, workload: &Workload) {
    let small = workload.work() < 1000;
    let takes_part = |name: &str| small || name != "vir0";
    let rivals = rivals::all();
    for rival in rivals
        .iter()
        .filter(|r| r.place() == place && takes_part(r.name()))
    {
        if let Some(measured) = run_on(rival.name(), workload) {
            let difference = workload.difference(&measured.values, measured.rounds);
            assert_eq!(difference, None, "{} on {}", rival.name(), workload.name);
        }
    }
}

/// Larger than the small scale, so that every parallel path is taken.
#[test]
fn rivals_agree_on_wide_graphs() {
    agree_on_wide_graphs(Place::Cpu);
}

#[test]
#[ignore = "needs a CUDA device"]
fn gpu_rivals_agree_on_wide_graphs() {
    agree_on_wide_graphs(Place::Gpu);
}

fn agree_on_wide_graphs(place: Place) {
    let load = |text: &str| Arc::new(text.parse::<GraphSpec>().unwrap().load().unwrap().csr);
    for text in ["rmat:13:8", "rmat:13:1:7", "grid:3000x2", "grid:120x120"] {
        let graph = load(text);
        let weights = Arc::new(graph::hashed_weights(&graph));
        let problems = [
            Problem::Bfs {
                graph: graph.clone(),
                symmetric: true,
            },
            Problem::Bfs {
                graph: graph.clone(),
                symmetric: false,
            },
            Problem::Sssp {
                graph: graph.clone(),
                weights,
            },
            Problem::Components {
                graph: graph.clone(),
            },
            Problem::PageRank { graph },
        ];
        for problem in problems {
            all_agree(place, &Workload::new(Name::BfsRmat20, problem));
        }
    }
    for seed in 0..2 {
        let cfg = Arc::new(Cfg::generated(20_000, seed));
        let predecessors = Arc::new(cfg.predecessors());
        let definitions = Arc::new(Definitions::of(&cfg, u64::MAX).unwrap());
        let reaching = Problem::Reaching {
            cfg: Arc::clone(&cfg),
            definitions,
        };
        all_agree(place, &Workload::new(Name::Reaching, reaching));
        all_agree(
            place,
            &Workload::new(Name::Liveness, Problem::Liveness { cfg, predecessors }),
        );
    }
    all_agree(
        place,
        &Workload::new(Name::Hash, Problem::Hash { len: 100_000 }),
    );
    let numbers = |period: u32| (0..200_000).map(|i: u32| (i % period) as f32).collect();
    all_agree(
        place,
        &Workload::new(
            Name::Saxpy,
            Problem::Saxpy {
                x: numbers(9),
                y: numbers(5),
            },
        ),
    );
}

#[test]
fn rivals_agree_on_tiny_and_unusual_graphs() {
    agree_on_tiny_and_unusual_graphs(Place::Cpu);
}

#[test]
#[ignore = "needs a CUDA device"]
fn gpu_rivals_agree_on_tiny_and_unusual_graphs() {
    agree_on_tiny_and_unusual_graphs(Place::Gpu);
}

fn agree_on_tiny_and_unusual_graphs(place: Place) {
    let graph = |nodes, edges: &[(u32, u32)]| Arc::new(Csr::from_edges(nodes, edges).unwrap());
    // A hub whose edges one warp should not sweep alone.
    let star = (1..9000).flat_map(|v| [(0, v), (v, 0), (v, v / 2), (v / 2, v)]);
    let star: Vec<(u32, u32)> = star.collect::<BTreeSet<_>>().into_iter().collect();
    // A lone node; isolated nodes at the end; a source without edges; a triangle with a tail.
    let graphs = [
        graph(9010, &star),
        graph(1, &[]),
        graph(4, &[(0, 1), (1, 0)]),
        graph(4, &[(1, 2), (2, 1)]),
        graph(
            5,
            &[
                (0, 1),
                (0, 2),
                (1, 0),
                (1, 2),
                (2, 0),
                (2, 1),
                (2, 3),
                (3, 2),
            ],
        ),
    ];
    for graph in graphs {
        let weights = Arc::new(graph::hashed_weights(&graph));
        all_agree(
            place,
            &Workload::new(
                Name::BfsRmat20,
                Problem::Bfs {
                    graph: graph.clone(),
                    symmetric: true,
                },
            ),
        );
        all_agree(
            place,
            &Workload::new(
                Name::SsspRmat22,
                Problem::Sssp {
                    graph: graph.clone(),
                    weights,
                },
            ),
        );
        all_agree(
            place,
            &Workload::new(
                Name::PageRankRmat22,
                Problem::PageRank {
                    graph: graph.clone(),
                },
            ),
        );
        all_agree(
            place,
            &Workload::new(Name::ComponentsRmat22, Problem::Components { graph }),
        );
    }
    // Loops, unreachable blocks, a block that follows itself.
    let successors = graph(6, &[(0, 1), (1, 0), (1, 2), (3, 3), (3, 4), (5, 0)]);
    let cfg = Arc::new(Cfg {
        successors: Csr::clone(&successors),
        uses: vec![0, 0, 1 << 63, 2, 4, 8],
        defs: vec![0, 8, 1, 2, 4, 1 << 63],
        addresses: (0..6).collect(),
        functions: vec![0, 6],
        names: vec!["all".into()],
    });
    let predecessors = Arc::new(cfg.predecessors());
    let definitions = Arc::new(Definitions::of(&cfg, u64::MAX).unwrap());
    let reaching = Problem::Reaching {
        cfg: cfg.clone(),
        definitions,
    };
    all_agree(place, &Workload::new(Name::Reaching, reaching));
    let workload = Workload::new(
        Name::Liveness,
        Problem::Liveness {
            cfg: cfg.clone(),
            predecessors,
        },
    );
    all_agree(place, &workload);
    let top = 1 << 63;
    let live = oracle::liveness(&cfg.successors, &cfg.uses, &cfg.defs);
    assert_eq!(live, [top, top, top, 6, 4, 8]);
}

#[test]
fn rivals_agree_on_relations() {
    agree_on_relations(Place::Cpu);
}

#[test]
#[ignore = "needs a CUDA device"]
fn gpu_rivals_agree_on_relations() {
    agree_on_relations(Place::Gpu);
}

/// Also without edges, and with repeated ones, loops, a hub, nodes that nothing reaches, and rows of one to three words.
fn agree_on_relations(place: Place) {
    let load = |text: &str| text.parse::<GraphSpec>().unwrap().load().unwrap().csr;
    let specs = [
        "rmat:7:4",
        "rmat:6:1:3",
        "chain:130",
        "grid:12x9",
        "cfg:400",
        "grid:8x8",
    ];
    let mut graphs: Vec<Csr> = specs.into_iter().map(load).collect();
    let hub = (1..90).flat_map(|v| [(0, v), (v, 95), (v, v), (0, v)]);
    let hub: Vec<(u32, u32)> = hub.collect();
    let few: [&[(u32, u32)]; 4] = [&[], &[(0, 0)], &[(0, 1), (1, 0), (2, 0)], &hub];
    graphs.extend(few.map(|edges| Csr::from_edges(100, edges).unwrap()));
    graphs.push(Csr::from_edges(1, &[]).unwrap());
    for graph in graphs {
        let graph = Arc::new(graph);
        let problem = Rule::Closure.of(graph.clone());
        all_agree(place, &Workload::new(Name::ClosureFile, problem));
        let problem = Rule::SameGeneration.of(graph);
        all_agree(place, &Workload::new(Name::SameGenerationFile, problem));
    }
}

/// Pairs of a graph that the caller names, in a file.
#[test]
fn relations_of_a_file_are_measured() {
    let file = scratch("edges.txt");
    std::fs::write(&file, "0 1\n0 2\n1 3\n2 4\n2 4\n").unwrap();
    let workloads = ["--workloads", "closure-file,same-generation-file"];
    let rivals = ["--rivals", "sequential,bit-rows,ascent", "--runs", "1"];
    let named = ["--edges", file.to_str().unwrap()];
    let (code, out, err) = ran(&[&workloads[..], &rivals].concat());
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    let skipped = "closure-file: skipped: its graph comes from `--edges FILE`\n";
    assert!(out.contains(skipped), "{out}");
    let args = [&workloads[..], &rivals, &named, &["--json"]].concat();
    let (code, out, err) = ran(&args);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    assert!(out.contains("closure-file: 5 items, 5 edges ("), "{out}");
    let json: Value = serde_json::from_str(out.lines().last().unwrap()).unwrap();
    let cells = json["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 6);
    assert!(cells.iter().all(|c| c["wall_ns"]["median"].is_number()));
}

#[test]
fn inputs_are_made_once() {
    let inputs = Inputs::new(Scale::Small, None, None);
    let graph = |name| match inputs.workload(name).unwrap().problem {
        Problem::Bfs { graph, .. }
        | Problem::PageRank { graph }
        | Problem::Components { graph } => graph,
        Problem::Sssp { graph, .. } => graph,
        Problem::Liveness { .. }
        | Problem::Reaching { .. }
        | Problem::Saxpy { .. }
        | Problem::Hash { .. }
        | Problem::Relation { .. } => unreachable!(),
    };
    let first = graph(Name::BfsRmat22);
    for name in [
        Name::SsspRmat22,
        Name::PageRankRmat22,
        Name::ComponentsRmat22,
    ] {
        assert!(Arc::ptr_eq(&first, &graph(name)));
    }
    inputs.keep_for(&[Name::ComponentsRmat22]);
    assert!(Arc::ptr_eq(&first, &graph(Name::SsspRmat22)));
    inputs.keep_for(&[Name::BfsRmat20]);
    assert!(!Arc::ptr_eq(&first, &graph(Name::SsspRmat22)));
}

#[test]
fn quartiles() {
    let spread = Spread::of(vec![5.0, 1.0, 4.0, 2.0, 3.0]);
    let figures = [
        spread.least_ns,
        spread.lower_ns,
        spread.median_ns,
        spread.upper_ns,
        spread.most_ns,
    ];
    assert_eq!(figures, [1.0, 2.0, 3.0, 4.0, 5.0]);
    let one = Spread::of(vec![7.0]);
    assert_eq!((one.least_ns, one.median_ns, one.most_ns), (7.0, 7.0, 7.0));
}

/// Median, smallest and largest, in microseconds.
fn spread(mut ns: Vec<u64>) -> String {
    ns.sort_unstable();
    let us = |i: usize| ns[i] as f64 / 1e3;
    format!(
        "median {:9.1} us  ({:.1} .. {:.1})",
        us(ns.len() / 2),
        us(0),
        us(ns.len() - 1)
    )
}

#[test]
#[ignore = "needs a CUDA device"]
fn the_host_loop_is_beaten() {
    use vyre_bench::cuda::{self, Kernels, Rival, Way};
    use vyre_examples::passes::bfs;
    let kernels = Kernels::load(&Device::open(0).unwrap()).unwrap();
    let runtime = Runtime::cuda().unwrap();
    let repeats = 15;
    println!("{}", runtime.device());
    for (name, graph) in [
        ("grid:1000x1000", graph::grid(1000, 1000).unwrap()),
        ("grid:1x20000", graph::grid(1, 20_000).unwrap()),
    ] {
        let mut session = bfs::Session::new(&runtime, &graph).unwrap();
        let problem = cuda::Problem::Bfs {
            graph: &graph,
            symmetric: true,
        };
        let mut rival = Rival::new(&kernels, problem, Way::HostLoop).unwrap();
        let expected = bfs::Session::new(&Runtime::native(), &graph)
            .unwrap()
            .run(bfs::Run { source: 0 })
            .unwrap()
            .dist;
        let (mut ours, mut ours_wall, mut theirs, mut theirs_wall) =
            (vec![], vec![], vec![], vec![]);
        for i in 0..repeats + 2 {
            let out = session.run(bfs::Run { source: 0 }).unwrap();
            let timed = rival.run().unwrap();
            assert_eq!(out.dist, expected);
            assert_eq!(rival.results().unwrap(), Values::U32(expected.clone()));
            if i >= 2 {
                ours.push(out.report.device_ns.unwrap());
                ours_wall.push(out.report.wall_ns);
                theirs.push(timed.device_ns);
                theirs_wall.push(timed.wall_ns);
            }
        }
        let median = |v: &[u64]| {
            let mut v = v.to_vec();
            v.sort_unstable();
            v[v.len() / 2]
        };
        let ratio = median(&theirs_wall) as f64 / median(&ours_wall) as f64;
        println!("{name}: megakernel device {}", spread(ours));
        println!("{name}: megakernel wall   {}", spread(ours_wall));
        println!("{name}: host loop device  {}", spread(theirs));
        println!("{name}: host loop wall    {}", spread(theirs_wall));
        println!("{name}: {ratio:.2} times");
    }
}

#[test]
fn the_corpus_is_measured_and_checked() {
    let markdown = scratch("corpus.md");
    let to = markdown.to_str().unwrap();
    let (code, out, err) = ran(&[
        "--corpus",
        "colouring,triangles",
        "--scale",
        "small",
        "--cap",
        "0.001",
        "--runs",
        "2",
        "--json",
        "--markdown",
        to,
    ]);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    let json: Value = serde_json::from_str(out.lines().last().unwrap()).unwrap();
    let rows = json["rows"].as_array().unwrap();
    let passes: Vec<&str> = rows
        .iter()
        .map(|row| row["pass"].as_str().unwrap())
        .collect();
    assert_eq!(passes, ["colouring", "triangles"]);
    for row in rows {
        for way in ["sequential", "native, 2 threads", "native", "auto"] {
            assert!(
                row["ways"][way]["wall_ns"]["median"].as_f64().unwrap() > 0.0,
                "{row}"
            );
        }
    }
    let table = std::fs::read_to_string(&markdown).unwrap();
    assert!(table.contains("\n| colouring | "), "{table}");

    let (code, _, err) = ran(&["--corpus", "gunrock"]);
    assert_eq!(
        (code, err.as_str()),
        (
            1,
            "error: `gunrock` is no pass of the corpus; --list shows them\n"
        )
    );
}

/// Times are those of a device that is none; what is copied is not.
#[test]
fn eight_lists_come_back_from_a_played_device_in_one_copy() {
    let measured = vyre_bench::readback::measure(&vyre_tests::fake(), 2).expect("it runs");
    let read = measured.readback;
    assert!(
        read.copied_bytes <= vyre_bench::readback::MOST_BYTES,
        "{read:?}"
    );
    assert!(read.copied_bytes > read.packed_bytes, "{read:?}");
}
