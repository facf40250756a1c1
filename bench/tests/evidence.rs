//! The program `evidence`, through its command line, on the CPU.

use serde_json::Value;
use std::ffi::OsString;
use vyre_examples::cli;
use vyre_examples::passes::bfs;

#[path = "../examples/evidence.rs"]
#[allow(
    dead_code,
    unreachable_pub,
    missing_docs,
    reason = "an example's own crate, as a module"
)]
mod evidence;
use evidence::Evidence;

#[test]
fn cpu_measurements_are_no_evidence_and_the_verdict_says_why() {
    let file = std::env::temp_dir().join(format!("vyre-evidence-{}.csv", std::process::id()));
    let args = format!(
        "--graph rmat:7:4 --runs 4 --backend native --json --csv {}",
        file.display()
    );
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let args = ["evidence"].into_iter().chain(args.split_whitespace());
    let code = cli::run::<Evidence>(args.map(OsString::from), &mut out, &mut err);
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let (out, err) = (text(out), text(err));
    assert_eq!(
        (code, err.as_str()),
        (
            1,
            "error: no evidence: sample 0 was measured on `native`, for which there is no evidence yet; only for `cuda`\n"
        ),
        "{out}"
    );
    let json: Value = serde_json::from_str(out.lines().last().unwrap()).unwrap();
    assert_eq!(json["accepted"], false);
    let verdict = "no evidence: sample 0 was measured on `native`, for which there is no evidence yet; only for `cuda`";
    assert_eq!(json["verdict"], verdict);
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    let samples = vyre::core::plan::evidence::read(&text).unwrap();
    assert_eq!(samples.len(), 2);
    assert!(json["min_single_ratio"].as_f64().unwrap() > 0.0);
    // Beyond what is checked: the device, and every other way, but those that only a GPU has.
    let rows: Vec<Vec<&str>> = text.lines().map(|l| l.split(',').collect()).collect();
    assert_eq!(
        rows[0][14..21],
        [
            "program_hash",
            "constants_hash",
            "measured",
            "rival",
            "device_name",
            "allocation_ns",
            "per_level_ns"
        ]
    );
    for row in &rows[1..] {
        assert!(
            row[19..22]
                .iter()
                .all(|ns| ns.parse::<f64>().unwrap() > 0.0)
        );
        assert_eq!(row[22..], [""; 4]);
    }
    for sample in &samples {
        assert_eq!(
            (sample.backend_id.as_str(), sample.repetitions),
            ("native", 4)
        );
        // The region that was timed uploaded no graph, allocated nothing and waited only for its end.
        let timed = (
            sample.timed_graph_uploads,
            sample.timed_host_allocations,
            sample.timed_host_syncs,
        );
        assert_eq!(timed, (0, 0, 0));
        let binding = sample.binding.as_ref().unwrap();
        assert_eq!(Some(binding.fingerprint), bfs::PLAN.fingerprint());
        assert_eq!(
            (binding.measured.name(), binding.rival.as_str()),
            ("shared", "naive")
        );
        assert!(sample.ratio() > 0.0);
    }
}
