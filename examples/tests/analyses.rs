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
    kcore "../examples/kcore.rs";
    mis "../examples/mis.rs";
    msf "../examples/msf.rs";
}

use {bellman_ford::BellmanFord, kcore::KCore, mis::Mis, msf::Msf};

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
