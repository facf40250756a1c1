//! Generators, loaders and result files.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use vyre::Csr;
use vyre_examples::formats::{self, Format, write_vec};
use vyre_examples::graph::{Graph, GraphSpec, Weights, hashed_weights};
use vyre_examples::oracle;
use vyre_tests::random::cases;

fn graph(spec: &str) -> Graph {
    spec.parse::<GraphSpec>().unwrap().load().unwrap()
}

/// FNV-1a over offsets and targets.
fn hash(csr: &Csr) -> u64 {
    let words = csr.offsets().iter().chain(csr.targets());
    words.fold(0xcbf2_9ce4_8422_2325, |h, &w| {
        (h ^ u64::from(w)).wrapping_mul(0x100_0000_01b3)
    })
}

fn spec_error(spec: &str) -> String {
    spec.parse::<GraphSpec>().unwrap_err().to_string()
}

fn parse(format: Format, text: &str) -> Graph {
    formats::parse(format, text.as_bytes()).unwrap()
}

fn parse_error(format: Format, bytes: impl AsRef<[u8]>) -> String {
    formats::parse(format, bytes.as_ref())
        .unwrap_err()
        .to_string()
}

fn edges(csr: &Csr) -> Vec<(u32, u32)> {
    let nodes = 0..csr.node_count() as u32;
    nodes
        .flat_map(|v| csr.neighbors(v).iter().map(move |t| (v, t)))
        .collect()
}

#[test]
fn grid_has_four_neighbours_in_ascending_order() {
    let g = graph("grid:3x2").csr;
    assert_eq!(g.offsets(), [0, 2, 5, 7, 9, 12, 14]);
    assert_eq!(g.targets(), [1, 3, 0, 2, 4, 1, 5, 0, 4, 1, 3, 5, 2, 4]);
    assert_eq!(graph("grid:1x1").csr.edge_count(), 0);
    assert_eq!(
        edges(&graph("grid:1x3").csr),
        [(0, 1), (1, 0), (1, 2), (2, 1)]
    );
    let big = graph("grid:1000x1000").csr;
    assert_eq!((big.node_count(), big.edge_count()), (1_000_000, 3_996_000));
    let levels = oracle::bfs(&big, 0);
    assert_eq!(levels.iter().max(), Some(&1998));
}

#[test]
fn only_graphs_that_are_known_to_be_symmetric_say_so() {
    for spec in ["grid:3x2", "rmat:4:2", "rmat:nodes=10,edges=20"] {
        assert!(graph(spec).symmetric);
    }
    assert!(!graph("chain:4").symmetric);
    let matrix = |kind: &str| {
        let text = format!("%%MatrixMarket matrix coordinate pattern {kind}\n2 2 1\n2 1\n");
        parse(Format::MatrixMarket, &text).symmetric
    };
    assert!(matrix("symmetric") && !matrix("general"));
}

#[test]
fn chain_is_directed() {
    assert_eq!(edges(&graph("chain:4").csr), [(0, 1), (1, 2), (2, 3)]);
    assert_eq!(graph("chain:1").csr.node_count(), 1);
    let levels = oracle::bfs(&graph("chain:20000").csr, 0);
    assert_eq!(levels[19999], 19999);
}

#[test]
fn rmat_is_pinned_symmetric_and_without_repeats() {
    let g = graph("rmat:10:8").csr;
    assert_eq!((g.node_count(), g.edge_count(), hash(&g)), RMAT_10_8);
    let seven = graph("rmat:10:8:7").csr;
    assert_eq!(
        (seven.node_count(), seven.edge_count(), hash(&seven)),
        RMAT_10_8_7
    );
    let set: BTreeSet<_> = edges(&g).into_iter().collect();
    assert_eq!(set.len(), g.edge_count());
    assert!(set.iter().all(|&(a, b)| a != b && set.contains(&(b, a))));
    assert!(edges(&g).is_sorted());
    // The Graph500 parameters favour low numbers.
    assert_eq!((0..1024).max_by_key(|&v| g.degree(v)), Some(0));
    assert_eq!(graph("rmat:0:3").csr, Csr::from_edges(1, &[]).unwrap());
}

const RMAT_10_8: (usize, usize, u64) = (1024, 12032, 2529790985905800463);
const RMAT_10_8_7: (usize, usize, u64) = (1024, 12124, 6369695787010087799);

#[test]
fn rmat_of_exact_sizes_is_symmetric_without_repeats_and_no_larger_than_asked() {
    let g = graph("rmat:nodes=10000,edges=80000").csr;
    assert_eq!((g.node_count(), g.edge_count()), (10_000, 80_000));
    assert_eq!(g, g.reverse());
    for v in 0..10_000 {
        let targets: Vec<u32> = g.neighbors(v).iter().collect();
        assert!(targets.windows(2).all(|w| w[0] < w[1]) && !targets.contains(&v));
    }
    // Skewed as R-MAT graphs are: the average degree is 8.
    assert!(g.degree(0) > 200, "{}", g.degree(0));
    assert_ne!(graph("rmat:nodes=10000,edges=80000,seed=2").csr, g);
    let dense: GraphSpec = "rmat:nodes=3,edges=8".parse().unwrap();
    assert_eq!(
        dense.load().unwrap_err().to_string(),
        "`rmat:nodes=3,edges=8`: only 6 different edges were found in 512 drawn; ask for fewer"
    );
    for bad in [
        "rmat:nodes=10",
        "rmat:nodes=10,edges=7",
        "rmat:edges=8,nodes=0",
        "rmat:nodes=9,edges=8,edges=8",
        "rmat:nodes=9,edges=8,scale=2",
    ] {
        assert!(
            spec_error(bad).contains("is not of the form rmat:nodes=N,edges=M[,seed=S] with"),
            "{bad}"
        );
    }
}

#[test]
fn rmat_does_not_depend_on_the_number_of_threads() {
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build().unwrap().install(|| graph("rmat:13:4:3"))
    };
    let one = with(1);
    assert_eq!(one, with(2));
    assert_eq!(one, with(7));
}

#[test]
fn hashed_weights_are_pinned_and_equal_in_both_directions() {
    let g = graph("rmat:13:4").csr;
    let weights = hashed_weights(&g);
    assert_eq!(
        (weights.iter().min(), weights.iter().max()),
        (Some(&1), Some(&64))
    );
    let all: std::collections::BTreeMap<_, _> = edges(&g).into_iter().zip(weights).collect();
    assert!(all.iter().all(|(&(a, b), w)| all[&(b, a)] == *w));
    assert_eq!(hashed_weights(&graph("chain:5").csr), CHAIN_WEIGHTS);
}

const CHAIN_WEIGHTS: [u32; 4] = [22, 61, 10, 34];

#[test]
fn specifications_round_trip_and_explain_themselves() {
    for spec in [
        "grid:3x2",
        "chain:7",
        "rmat:4:2",
        "rmat:4:2:9",
        "rmat:nodes=10,edges=12",
        "rmat:nodes=10,edges=12,seed=0",
        "file:a/b.el",
        "elf:/bin/x",
    ] {
        assert_eq!(spec.parse::<GraphSpec>().unwrap().to_string(), spec);
    }
    let kinds = "names no graph; write grid:WxH, chain:N, rmat:SCALE:EDGEFACTOR[:SEED], rmat:nodes=N,edges=M[,seed=S], file:PATH, elf:PATH, elf-cfg:PATH or cfg:BLOCKS[:SEED]";
    assert_eq!(spec_error("ring:4"), format!("`ring:4` {kinds}"));
    assert_eq!(spec_error(""), format!("`` {kinds}"));
    for bad in [
        "grid:3",
        "grid:0x4",
        "grid:3x",
        "grid:3x-1",
        "grid:3x4x5",
        "grid:99999999999x1",
    ] {
        let expected = format!("`{bad}` is not of the form grid:WxH with W and H at least 1");
        assert_eq!(spec_error(bad), expected);
    }
    assert_eq!(
        spec_error("chain:0"),
        "`chain:0` is not of the form chain:N with N at least 1"
    );
    for bad in [
        "rmat:4",
        "rmat:32:1",
        "rmat:4:0",
        "rmat:4:1:x",
        "rmat:4:1:2:3",
        "rmat:",
    ] {
        assert!(
            spec_error(bad).contains("is not of the form rmat:SCALE:EDGEFACTOR[:SEED]"),
            "{bad}"
        );
    }
    assert_eq!(spec_error("file:"), "`file:` is not of the form file:PATH");
    assert_eq!(
        spec_error("grid:65536x65536"),
        "`grid:65536x65536` has 4294967296 nodes; at most 4294967294 are supported"
    );
    assert_eq!(
        spec_error("rmat:30:2"),
        "`rmat:30:2` has 4294967296 edges; at most 4294967294 are supported"
    );
    assert_eq!(
        spec_error("grid:40000x40000"),
        "`grid:40000x40000` has 6399840000 edges; at most 4294967294 are supported"
    );
}

#[test]
fn edge_lists() {
    let g = parse(Format::EdgeList, "# comment\n0 2\n\n% other\n2 1\r\n0\t1\n");
    assert_eq!(edges(&g.csr), [(0, 2), (0, 1), (2, 1)]);
    assert_eq!(g.weights, None);
    let g = parse(Format::EdgeList, "1 0 7\n0 1 5\n0 0 4000000000");
    assert_eq!(edges(&g.csr), [(0, 1), (0, 0), (1, 0)]);
    assert_eq!(
        g.weights,
        Some(Weights::Unsigned(vec![5, 4_000_000_000, 7]))
    );
    let g = parse(Format::EdgeList, "0 1 -3\n1 0 2\n");
    assert_eq!(g.weights, Some(Weights::Signed(vec![-3, 2])));
    assert_eq!(
        g.unsigned_weights().unwrap_err().to_string(),
        "edge 0 has weight -3; this example needs weights of at least 0"
    );
    assert_eq!(parse(Format::EdgeList, "").csr.node_count(), 0);

    let form = "expected `src dst [weight]` with whole numbers";
    let error = |text: &str| parse_error(Format::EdgeList, text);
    assert_eq!(
        error("0 1\n0 x\n"),
        format!("line 2: {form}, found \"0 x\"")
    );
    assert_eq!(error("7"), format!("line 1: {form}, found \"7\""));
    assert_eq!(
        error("0 1 2 3"),
        format!("line 1: {form}, found \"0 1 2 3\"")
    );
    assert_eq!(error("0 -1"), format!("line 1: {form}, found \"0 -1\""));
    assert_eq!(
        error("0 1\n1 2 3\n"),
        "line 2: expected no weight, as on the lines before, found \"1 2 3\""
    );
    assert_eq!(
        error("0 1 1\n1 2\n"),
        "line 2: expected a weight, as on the lines before, found \"1 2\""
    );
    assert_eq!(
        error("0 1 -1\n1 2 3000000000\n"),
        "weight 3000000000 does not fit 32 bits"
    );
    assert_eq!(
        error("0 1 5000000000\n"),
        "weight 5000000000 does not fit 32 bits"
    );
    assert_eq!(
        error("0 4000000000\n"),
        "4000000001 nodes for 1 edges; at most 67108864 are accepted for so few"
    );
    let long = "y".repeat(100);
    assert_eq!(
        error(&long),
        format!("line 1: {form}, found \"{}...\"", &long[..40])
    );
    let binary = parse_error(Format::EdgeList, b"\x7fELF\xff\x00");
    assert_eq!(
        binary,
        format!("line 1: {form}, found \"\\u{{7f}}ELF\u{fffd}\\0\"")
    );
}

#[test]
fn matrix_market() {
    let header = "%%MatrixMarket matrix coordinate";
    let of = |text: String| parse(Format::MatrixMarket, &text);
    let error = |text: String| parse_error(Format::MatrixMarket, text);

    let g = of(format!(
        "{header} pattern general\n% made by hand\n3 3 2\n1 2\n3 1\n"
    ));
    assert_eq!(edges(&g.csr), [(0, 1), (2, 0)]);
    assert_eq!(g.weights, None);
    let g = of(format!(
        "{header} integer symmetric\n3 3 3\n2 1 5\n3 3 6\n3 1 -7\n"
    ));
    assert_eq!(edges(&g.csr), [(0, 1), (0, 2), (1, 0), (2, 2), (2, 0)]);
    assert_eq!(g.weights, Some(Weights::Signed(vec![5, -7, 5, 6, -7])));
    let g = of(format!("{header} integer skew-symmetric\n2 2 1\n2 1 5\n"));
    assert_eq!(g.weights, Some(Weights::Signed(vec![-5, 5])));
    let whole = of(format!("{header} real general\n2 2 1\n1 2 3.0e0\n"));
    assert_eq!(whole.weights, Some(Weights::Unsigned(vec![3])));
    let g = of(format!("{header} real general\n2 2 2\n1 2 3.0\n2 1 0.5\n"));
    assert_eq!((g.csr.edge_count(), g.weights), (2, None));
    let mixed_case = of("%%MatrixMarket MATRIX Coordinate Pattern General\n4 4 0\n".into());
    assert_eq!(mixed_case.csr.node_count(), 4);

    assert_eq!(
        error(String::new()),
        "the file ends before the %%MatrixMarket header"
    );
    assert_eq!(
        error(format!("{header} pattern general\n")),
        "the file ends before the size line"
    );
    assert_eq!(
        error("1 2\n".into()),
        "line 1: expected `%%MatrixMarket matrix coordinate FIELD SYMMETRY`, found \"1 2\""
    );
    assert_eq!(
        error("%%MatrixMarket matrix array real general\n2 2\n".into()),
        "the matrix is in \"array\" layout; a graph needs `coordinate`"
    );
    assert_eq!(
        error(format!("{header} pattern general\n2 3 0\n")),
        "the matrix is 2 x 3; a graph needs a square one"
    );
    assert_eq!(
        error(format!("{header} pattern general\n2 2 2\n1 1\n")),
        "2 edges are declared, 1 are there"
    );
    let entry =
        "expected `row column [value]`, rows and columns from 1 and within the declared size";
    assert_eq!(
        error(format!("{header} pattern general\n2 2 1\n0 1\n")),
        format!("line 3: {entry}, found \"0 1\"")
    );
    assert_eq!(
        error(format!("{header} real general\n2 2 1\n1 3 1.0\n")),
        format!("line 3: {entry}, found \"1 3 1.0\"")
    );
    assert_eq!(
        error(format!("{header} complex general\n2 2 1\n2 1 1.0 2.0\n")),
        "the matrix is complex; a graph has no such weights: use `pattern`, `integer` or `real`"
    );
    assert_eq!(
        error(format!("{header} real hermitian\n2 2 1\n2 1 1.0\n")),
        "the matrix is hermitian, which is for complex values; a graph is `symmetric` or `general`"
    );
    assert_eq!(
        error(format!("{header} quaternion general\n")),
        "line 1: expected a field of pattern, integer or real, found \"%%MatrixMarket matrix coordinate quatern...\""
    );
    assert_eq!(
        error(format!(
            "{header} pattern general\n18446744073709551615 18446744073709551615 0\n"
        )),
        "18446744073709551615 nodes for 0 edges; at most 67108864 are accepted for so few"
    );
}

#[test]
fn dimacs() {
    let g = parse(Format::Dimacs, "c roads\np sp 3 2\na 1 3 10\na 3 2 4\n");
    assert_eq!(edges(&g.csr), [(0, 2), (2, 1)]);
    assert_eq!(g.weights, Some(Weights::Unsigned(vec![10, 4])));

    let error = |text: &str| parse_error(Format::Dimacs, text);
    assert_eq!(error(""), "the file ends before the `p sp` line");
    let problem = "expected `p sp NODES EDGES`, once, before the first edge";
    assert_eq!(
        error("a 1 2 3\n"),
        format!("line 1: {problem}, found \"a 1 2 3\"")
    );
    assert_eq!(
        error("p sp 1 0\np sp 1 0\n"),
        format!("line 2: {problem}, found \"p sp 1 0\"")
    );
    assert_eq!(
        error("p sp x 0\n"),
        format!("line 1: {problem}, found \"p sp x 0\"")
    );
    let arc = "expected `a SRC DST WEIGHT`, nodes from 1 and within the declared number";
    assert_eq!(
        error("p sp 2 1\na 1 3 1\n"),
        format!("line 2: {arc}, found \"a 1 3 1\"")
    );
    assert_eq!(
        error("p sp 2 1\na 1 2\n"),
        format!("line 2: {arc}, found \"a 1 2\"")
    );
    assert_eq!(
        error("p sp 2 1\ne 1 2\n"),
        "line 2: expected a line that starts with c, p or a, found \"e 1 2\""
    );
    assert_eq!(
        error("p sp 2 2\na 1 2 1\n"),
        "2 edges are declared, 1 are there"
    );
}

#[test]
fn csr_files_round_trip() {
    let csr = graph("rmat:6:4").csr;
    let m = csr.edge_count();
    let unsigned = Weights::Unsigned(
        (0..m as u32)
            .map(|e| e.wrapping_mul(2_654_435_769))
            .collect(),
    );
    let signed = Weights::Signed((0..m as i32).map(|e| 5 - e).collect());
    for (weights, flags) in [(None, 0), (Some(unsigned), 1), (Some(signed), 3)] {
        let g = Graph {
            weights,
            ..Graph::unweighted(csr.clone())
        };
        let mut bytes = Vec::new();
        formats::write_csr(&g, &mut bytes).unwrap();
        assert_eq!(&bytes[..8], b"CSRBIN01");
        assert_eq!(bytes[24], flags);
        assert_eq!(formats::parse(Format::CsrBinary, &bytes).unwrap(), g);
    }
}

#[test]
fn damaged_csr_files() {
    let mut bytes = Vec::new();
    formats::write_csr(&graph("chain:3"), &mut bytes).unwrap();
    assert_eq!(bytes.len(), 32 + 4 * 4 + 2 * 4);
    let error = |bytes: &[u8]| parse_error(Format::CsrBinary, bytes);
    assert_eq!(
        error(b"CSRBIN02"),
        "not a CSR file: it does not start with CSRBIN01"
    );
    assert_eq!(
        error(b""),
        "not a CSR file: it does not start with CSRBIN01"
    );
    assert_eq!(
        error(&bytes[..20]),
        "the header asks for 32 bytes; the file has 20"
    );
    assert_eq!(
        error(&bytes[..55]),
        "the header asks for 56 bytes; the file has 55"
    );
    let with = |at: usize, value: u8| {
        let mut changed = bytes.clone();
        changed[at] = value;
        error(&changed)
    };
    assert_eq!(
        with(15, 255),
        "the header asks for 73498745918686494776 bytes; the file has 56"
    );
    assert_eq!(with(24, 4), "unknown flags 0x4");
    assert_eq!(with(32, 1), "offsets start at 1, not 0");
    assert_eq!(with(44, 3), "the last offset is 3, but there are 2 targets");
    assert_eq!(with(40, 0), "offset 0 of node 1 is below its predecessor 1");
    assert_eq!(with(52, 3), "edge 1 points to node 3; there are 3 nodes");
}

#[test]
fn files_are_read_by_extension_and_errors_name_them() {
    let folder = Folder::new("extensions");
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.0.join(name);
        fs::write(&path, bytes).unwrap();
        path
    };
    let load = |path: &Path| GraphSpec::File(path.into()).load();
    for name in ["a.el", "a.txt", "a.EL"] {
        assert_eq!(load(&write(name, b"0 1\n")).unwrap(), graph("chain:2"));
    }
    let mut csr = Vec::new();
    formats::write_csr(&graph("chain:2"), &mut csr).unwrap();
    assert_eq!(load(&write("a.csr", &csr)).unwrap(), graph("chain:2"));

    let shown = |path: &Path| load(path).unwrap_err().to_string();
    let bad = write("b.el", b"zero one\n");
    assert_eq!(
        shown(&bad),
        format!(
            "{}: line 1: expected `src dst [weight]` with whole numbers, found \"zero one\"",
            bad.display()
        )
    );
    let missing = folder.0.join("missing.mtx");
    assert!(shown(&missing).starts_with(&format!("{}: No such file", missing.display())));
    let unknown = write("a.out", b"");
    let expected = "unknown extension; graph files end in .el, .txt, .mtx, .gr or .csr";
    assert_eq!(
        shown(&unknown),
        format!("{}: {expected}", unknown.display())
    );
    fs::create_dir(folder.0.join("dir.el")).unwrap();
    assert!(shown(&folder.0.join("dir.el")).contains("directory"));
    // A pipe without a writer would be waited for, and the device never ends.
    let pipe = folder.0.join("pipe.el");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.expect("mkfifo").success());
    let zero = folder.0.join("zero.csr");
    std::os::unix::fs::symlink("/dev/zero", &zero).expect("a link");
    for special in [pipe, zero] {
        let why = "not a regular file; copy what the device or pipe gives to one";
        assert_eq!(shown(&special), format!("{}: {why}", special.display()));
        let read = vyre_examples::elf::call_graph(&special).expect_err("it is special");
        assert!(read.to_string().ends_with(why), "{read}");
    }
    let long =
        vyre_examples::files::read_up_to(std::io::repeat(7), 1_000).expect_err("it never ends");
    assert_eq!(
        long.to_string(),
        "longer than the 1000 bytes of memory that are free"
    );
}

#[test]
fn vec_files_hold_type_width_rows_and_values() {
    let mut bytes = Vec::new();
    write_vec(2, &[1.5f32, -2.0, 0.0, 4.0], &mut bytes).unwrap();
    let mut expected = b"VECBIN01f32 \x02\0\0\0\x02\0\0\0\0\0\0\0".to_vec();
    for value in [1.5f32, -2.0, 0.0, 4.0] {
        expected.extend(value.to_le_bytes());
    }
    assert_eq!(bytes, expected);
    let mut large = Vec::new();
    let values: Vec<u32> = (0..20_000).collect();
    write_vec(1, &values, &mut large).unwrap();
    assert_eq!(large.len(), 24 + 80_000);
    assert_eq!(large[24 + 4 * 19_999..], 19_999u32.to_le_bytes());
}

#[test]
fn random_bytes_never_panic() {
    let formats = [
        Format::EdgeList,
        Format::MatrixMarket,
        Format::Dimacs,
        Format::CsrBinary,
    ];
    let pieces: [&[u8]; 12] = [
        b"%%MatrixMarket matrix coordinate real symmetric\n",
        b"p sp 3 1\n",
        b"a 1 2 3\n",
        b"3 3 1\n",
        b"CSRBIN01",
        b"\x02\0\0\0\0\0\0\0",
        b"\x01\0\0\0",
        b"0 1 -1\n",
        b"\n",
        b" ",
        b"99999999999999999999",
        b"1e300",
    ];
    cases(300, |u| {
        let format = *u.choose(&formats)?;
        let mut bytes = Vec::new();
        while !u.is_empty() && bytes.len() < 400 {
            if u.ratio(3, 4)? {
                bytes.extend_from_slice(u.choose(&pieces)?);
            } else {
                bytes.push(u.arbitrary()?);
            }
        }
        match formats::parse(format, &bytes) {
            Ok(g) => {
                // Whatever is accepted is a graph that survives being written.
                if g.csr.node_count() < 1_000_000 {
                    let mut written = Vec::new();
                    formats::write_csr(&g, &mut written).unwrap();
                    assert_eq!(formats::parse(Format::CsrBinary, &written).unwrap(), g);
                }
            }
            Err(e) => assert_eq!(e.to_string().lines().count(), 1, "{e}"),
        }
        Ok(())
    });
}

#[test]
fn random_edge_lists_round_trip() {
    cases(300, |u| {
        let weighted: bool = u.arbitrary()?;
        let edges: Vec<(u8, u8, i16)> = u.arbitrary()?;
        let mut text = String::new();
        for &(src, dst, weight) in &edges {
            text += &match weighted {
                true => format!("{src} {dst} {weight}\n"),
                false => format!("{src}\t{dst}\n"),
            };
        }
        let g = parse(Format::EdgeList, &text);
        let mut expected: Vec<_> = edges
            .iter()
            .map(|&(s, d, w)| (u32::from(s), u32::from(d), w))
            .collect();
        expected.sort_by_key(|&(s, ..)| s); // stable: the order within a source stays
        let ends: Vec<_> = expected.iter().map(|&(s, d, _)| (s, d)).collect();
        assert_eq!(self::edges(&g.csr), ends);
        let weights: Vec<i64> = match g.weights {
            None => Vec::new(),
            Some(Weights::Unsigned(w)) => w.into_iter().map(i64::from).collect(),
            Some(Weights::Signed(w)) => w.into_iter().map(i64::from).collect(),
        };
        let given = expected.iter().map(|&(.., w)| i64::from(w));
        assert!(!weighted && weights.is_empty() || given.eq(weights));
        Ok(())
    });
}

/// A folder for one test, removed at its end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("vyre-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
