//! The examples that show the kernel language, through their command line, on the CPU backends.

use serde_json::Value;
use std::ffi::OsString;
use vyre_examples::cli::{self, Example};

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
    bitonic "../examples/bitonic.rs";
    dfa "../examples/dfa.rs";
    kcore "../examples/kcore.rs";
    mis "../examples/mis.rs";
    msf "../examples/msf.rs";
}

use {
    bellman_ford::BellmanFord, betweenness::Betweenness, bitonic::Bitonic, dfa::Dfa, kcore::KCore,
    mis::Mis, msf::Msf,
};

/// The JSON of a run that succeeds and equals its oracle.
fn figures<E: Example>(args: &str) -> Value {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let line = format!("example {args} --check --json");
    let code = cli::run::<E>(
        line.split_whitespace().map(OsString::from),
        &mut out,
        &mut err,
    );
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let (out, err) = (text(out), text(err));
    assert_eq!((code, err.as_str()), (0, ""), "{args}\n{out}");
    let json: Value = serde_json::from_str(out.lines().last().unwrap()).unwrap();
    assert_eq!(json["check"], "equal");
    json
}

const BACKENDS: [&str; 2] = ["native", "vir0"];
const GRAPHS: [&str; 4] = ["rmat:8:6", "grid:17x9", "chain:40", "rmat:7:2:5"];

#[test]
fn cores_are_those_of_peeling_in_order() {
    for backend in BACKENDS {
        for graph in GRAPHS {
            figures::<KCore>(&format!("--graph {graph} --backend {backend}"));
        }
        let grid = figures::<KCore>(&format!("--graph grid:17x9 --backend {backend}"));
        assert_eq!(
            (&grid["deepest"], &grid["inside"]),
            (&2.into(), &153.into())
        );
    }
}

#[test]
fn chosen_nodes_are_independent_and_maximal() {
    for backend in BACKENDS {
        for graph in GRAPHS {
            for seed in [1, 77] {
                figures::<Mis>(&format!(
                    "--graph {graph} --backend {backend} --seed {seed}"
                ));
            }
        }
    }
}

/// A node with an edge to itself draws with the others, and is not chosen.
#[test]
fn a_node_beside_itself_draws_and_is_left_out() {
    let name = format!("vyre-beside-itself-{}.el", std::process::id());
    let path = std::env::temp_dir().join(name);
    std::fs::write(&path, "0 1\n2 1\n2 2\n2 3\n").unwrap();
    let json = figures::<Mis>(&format!("--graph file:{}", path.display()));
    std::fs::remove_file(path).unwrap();
    assert_eq!(json["chosen"], 2, "{json}");
}

#[test]
fn the_forest_is_the_lightest() {
    for backend in BACKENDS {
        for graph in GRAPHS {
            figures::<Msf>(&format!("--graph {graph} --backend {backend}"));
        }
        let chain = figures::<Msf>(&format!("--graph chain:40 --backend {backend}"));
        assert_eq!(chain["edges_chosen"], 39);
    }
}

#[test]
fn distances_may_shrink_but_not_forever() {
    for backend in BACKENDS {
        for graph in GRAPHS {
            let args = format!("--graph {graph} --backend {backend}");
            assert_eq!(figures::<BellmanFord>(&args)["negative_cycle"], false);
        }
        let args = format!("--graph grid:7x5 --backend {backend} --negative-cycle");
        assert_eq!(figures::<BellmanFord>(&args)["negative_cycle"], true);
    }
}

#[test]
fn scores_are_those_of_brandes() {
    for backend in BACKENDS {
        for graph in GRAPHS {
            figures::<Betweenness>(&format!("--graph {graph} --backend {backend} --sources 5"));
        }
        let args = format!("--graph chain:9 --backend {backend} --sources 9");
        let chain = figures::<Betweenness>(&args);
        // Four nodes before the middle, four after it.
        assert_eq!((&chain["top"], &chain["most"]), (&4.into(), &16.0.into()));
        let one = figures::<Betweenness>(&format!("--graph chain:1 --backend {backend}"));
        assert_eq!((&one["sources"], &one["most"]), (&1.into(), &0.0.into()));
    }
}

#[test]
fn any_number_of_keys_is_sorted() {
    for backend in BACKENDS {
        for (len, steps) in [(1, 0), (2, 1), (3, 3), (64, 21), (1000, 55), (1025, 66)] {
            let args = format!("--len {len} --backend {backend} --seed {len}");
            assert_eq!(figures::<Bitonic>(&args)["steps"], steps);
        }
    }
}

#[test]
fn lines_are_classified_wherever_a_part_begins() {
    let file = std::env::temp_dir().join(format!("vyre-dfa-{}.c", std::process::id()));
    let text = "int a; /* begins\n\nstill \" here\n*/ char c = '\"'; // ends\n\n  \n\"\\\" // text\n\"\n// last";
    std::fs::write(&file, text).unwrap();
    for backend in BACKENDS {
        let args = format!("--text {} --backend {backend}", file.display());
        let found = figures::<Dfa>(&args);
        let counts =
            ["nodes", "lines", "code", "comment", "blank"].map(|n| found[n].as_u64().unwrap());
        assert_eq!(counts, [text.len() as u64, 9, 4, 2, 3]);
        for len in [0, 1, 63, 64, 65, 70_000] {
            figures::<Dfa>(&format!("--len {len} --backend {backend}"));
        }
    }
    std::fs::remove_file(file).unwrap();
}
