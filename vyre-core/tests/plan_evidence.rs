//! Speedup evidence.

use vyre_core::plan::evidence::{
    BINDING, Binding, COLUMNS, EvidenceError, Sample, bind, check, read, write,
};
use vyre_core::vir0::fingerprint::Fingerprint;
use vyre_core::vir0::manifest::{Measured, Stale};

#[path = "../../vyre-tests/src/random.rs"]
#[allow(
    dead_code,
    unreachable_pub,
    reason = "shared with tests of crates above, on which this one cannot depend"
)]
mod random;
use random::cases;

fn sample(host_orchestrated_ns: f64, resident_megakernel_ns: f64) -> Sample {
    Sample {
        backend_id: "cuda".into(),
        host_orchestrated_ns,
        resident_megakernel_ns,
        ..Sample::EXAMPLE
    }
}

fn bound(program: u64, constants: u64) -> Sample {
    Sample {
        binding: Some(Binding {
            fingerprint: Fingerprint { program, constants },
            measured: Measured::Shared,
            rival: "a host loop".into(),
        }),
        ..sample(2.0, 1.0)
    }
}

fn two() -> Vec<Sample> {
    vec![sample(1_000_000.0, 10_000.0), sample(2_500_000.0, 20_000.0)]
}

#[test]
fn two_good_samples_prove_a_hundredfold_speedup() {
    let verdict = check(&two(), 100.0).unwrap();
    assert_eq!(verdict.samples, 2);
    assert_eq!((verdict.min_ratio, verdict.max_ratio), (100.0, 125.0));
    assert_eq!(verdict.min_speedup_bps(), 1_000_000);
    assert_eq!(
        check(&two(), 100.5).unwrap_err().to_string(),
        "sample 0 is 100 times faster; 100.5 are claimed"
    );
    assert_eq!(
        check(&two()[..1], 100.0),
        Err(EvidenceError::TooFew { actual: 1 })
    );
    assert_eq!(check(&[], 100.0), Err(EvidenceError::TooFew { actual: 0 }));
}

#[test]
fn each_sample_is_checked_in_order() {
    // Each edit breaks one more rule, from the last to the first; the reported error is the first rule's.
    let mut all = two();
    let mut report = |edit: fn(&mut Sample)| {
        edit(&mut all[1]);
        check(&all, 100.0).unwrap_err().to_string()
    };
    assert_eq!(
        report(|s| s.host_orchestrated_ns = 1.0),
        "sample 1 is 0.00005 times faster; 100 are claimed"
    );
    assert_eq!(
        report(|s| s.setup_ns = 0.0),
        "sample 1: setup_ns is 0; it must be finite and positive"
    );
    assert_eq!(
        report(|s| s.resident_megakernel_ns = f64::NAN),
        "sample 1: resident_megakernel_ns is NaN; it must be finite and positive"
    );
    assert_eq!(
        report(|s| s.timed_host_syncs = 1),
        "sample 1: timed_host_syncs is 1; it must be 0"
    );
    assert_eq!(
        report(|s| s.timed_host_allocations = 2),
        "sample 1: timed_host_allocations is 2; it must be 0"
    );
    assert_eq!(
        report(|s| s.timed_graph_uploads = 3),
        "sample 1: timed_graph_uploads is 3; it must be 0"
    );
    assert_eq!(
        report(|s| s.repetitions = 63),
        "sample 1: repetitions is 63; 64 are needed"
    );
    assert_eq!(
        report(|s| s.graph_edges = 79_999),
        "sample 1: graph_edges is 79999; 80000 are needed"
    );
    assert_eq!(
        report(|s| s.graph_nodes = 9_999),
        "sample 1: graph_nodes is 9999; 10000 are needed"
    );
    assert_eq!(
        report(|s| s.repetitions = 1),
        "sample 1: repetitions is 1; 2 are needed"
    );
    assert_eq!(
        report(|s| s.graph_nodes = 0),
        "sample 1: graph_nodes is 0; 1 are needed"
    );
    assert_eq!(
        report(|s| s.compute_capability_major = 7),
        "sample 1: compute capability is 7.0; 8.0 is needed"
    );
    assert_eq!(
        report(|s| s.device_memory_bytes = (16 << 30) - 1),
        "sample 1: the device has 17179869183 bytes; 17179869184 are needed"
    );
    assert_eq!(
        report(|s| s.backend_id = "vulkan".into()),
        "sample 1 was measured on `vulkan`, for which there is no evidence yet; only for `cuda`"
    );
}

#[test]
fn thresholds_and_times_must_be_finite() {
    for threshold in [f64::NAN, f64::INFINITY, 0.0, -1.0] {
        assert!(matches!(
            check(&two(), threshold),
            Err(EvidenceError::Threshold { .. })
        ));
    }
    for value in [f64::NAN, f64::INFINITY, 0.0, -1.0] {
        let samples = [sample(value, 1.0), sample(1.0, 1.0)];
        assert!(matches!(
            check(&samples, 1.0),
            Err(EvidenceError::Time { sample: 0, .. })
        ));
    }
    // A ratio of two finite times can still overflow.
    assert!(matches!(
        check(&[sample(1e308, 1e-308)], 1.0),
        Err(EvidenceError::Ratio { .. })
    ));
}

#[test]
fn what_is_written_reads_back_exactly() {
    cases(300, |u| {
        let mut samples = Vec::new();
        for _ in 0..u.int_in_range(0..=4)? {
            let times: [f64; 3] = u.arbitrary()?;
            let [host, resident, setup_ns] = times.map(|t| if t.is_nan() { 0.5 } else { t });
            samples.push(Sample {
                device_ordinal: u.arbitrary()?,
                device_memory_bytes: u.arbitrary()?,
                compute_capability_major: u.arbitrary()?,
                compute_capability_minor: u.arbitrary()?,
                graph_nodes: u.arbitrary()?,
                graph_edges: u.arbitrary()?,
                repetitions: u.arbitrary()?,
                setup_ns,
                timed_graph_uploads: u.arbitrary()?,
                timed_host_allocations: u.arbitrary()?,
                timed_host_syncs: u.arbitrary()?,
                binding: match u.arbitrary()? {
                    true => bound(u.arbitrary()?, u.arbitrary()?).binding,
                    false => None,
                },
                ..sample(host, resident)
            });
        }
        assert_eq!(read(&write(&samples).unwrap()).unwrap(), samples);
        Ok(())
    });
}

#[test]
fn files_may_have_more_columns_and_windows_line_ends() {
    let text = write(&two()).unwrap();
    let wider: String = text
        .lines()
        .enumerate()
        .map(|(i, l)| format!("{l},{}\r\n", if i == 0 { "device_ns" } else { "7" }))
        .collect();
    assert_eq!(read(&wider).unwrap(), two());
}

#[test]
fn files_that_are_not_evidence_are_refused_with_the_line() {
    let header = COLUMNS.join(",");
    let row = "cuda,0,17179869184,9,0,10000,80000,64,1e6,10000,5,0,0,0";
    let error = |text: &str| read(text).unwrap_err().to_string();
    assert_eq!(read(&format!("{header}\n{row}")).unwrap().len(), 1);
    assert_eq!(error(""), "the file is empty");
    assert_eq!(error("\n"), "the file is empty");
    assert_eq!(
        error(&header.replace("graph_edges,", "")),
        "column 7 of the header is `repetitions`; it must be `graph_edges`"
    );
    assert_eq!(
        error("backend_id"),
        "column 2 of the header is ``; it must be `device_ordinal`"
    );
    assert_eq!(
        error(&format!("{header}\n{row}\n{row},7\n")),
        "line 3 has 15 fields; the header has 14"
    );
    assert_eq!(
        error(&format!("{header}\n\n{row}\n")),
        "line 2 has 1 fields; the header has 14"
    );
    for (from, to) in [
        ("64", "-64"),
        ("64", "+64"),
        ("64", " 64"),
        ("64", "6.4"),
        ("64", ""),
    ] {
        let text = format!("{header}\n{}\n", row.replace(",64,", &format!(",{to},")));
        assert_eq!(
            error(&text),
            format!("line 2: `{to}` is not a value of repetitions"),
            "{from}"
        );
    }
    assert_eq!(
        error(&format!("{header}\n{}", row.replace("cuda", "\"cuda\""))),
        "line 2: `\"cuda\"` is not a value of backend_id"
    );
    let named = Sample {
        backend_id: "a,b".into(),
        ..sample(1.0, 1.0)
    };
    assert!(matches!(
        write(&[named]),
        Err(EvidenceError::Name { sample: 0, .. })
    ));
}

#[test]
fn samples_are_bound_to_what_was_measured() {
    let binding = bound(7, 8).binding.unwrap();
    assert_eq!(bind(&[bound(7, 8), bound(7, 8)], 7), Ok(&binding));
    assert_eq!(bind(&[bound(7, 8), bound(7, 8)], 6), Err(Stale::Program));
    assert_eq!(bind(&[bound(7, 8), bound(6, 8)], 7), Err(Stale::Program));
    assert_eq!(bind(&[bound(7, 8), bound(7, 9)], 7), Err(Stale::Constants));
    assert_eq!(bind(&two(), 7), Err(Stale::Unbound));
    assert_eq!(
        bind(&[bound(7, 8), sample(2.0, 1.0)], 7),
        Err(Stale::Unbound)
    );
    assert_eq!(bind(&[], 7), Err(Stale::Unbound));
}

#[test]
fn samples_of_one_file_are_measured_in_one_way() {
    let other = |edit: fn(&mut Binding)| {
        let mut second = bound(7, 8);
        edit(second.binding.as_mut().unwrap());
        check(&[bound(7, 8), second], 1.0).map_err(|e| e.to_string())
    };
    assert!(other(|_| ()).is_ok());
    assert_eq!(
        other(|b| b.measured = Measured::Single),
        Err("sample 1: measured is `single`; of sample 0 it is `shared`".into())
    );
    assert_eq!(
        other(|b| b.rival = "nobody".into()),
        Err("sample 1: rival is `nobody`; of sample 0 it is `a host loop`".into())
    );
}

#[test]
fn bindings_that_say_half_are_refused() {
    let header = [&COLUMNS[..], &BINDING[..]].concat().join(",");
    let row = "cuda,0,17179869184,9,0,10000,80000,64,1e6,10000,5,0,0,0";
    let read = |binding: &str| {
        let samples = read(&format!("{header}\n{row},{binding}\n"));
        samples
            .map(|s| s[0].binding.clone())
            .map_err(|e| e.to_string())
    };
    let fingerprint = Fingerprint {
        program: 7,
        constants: 0xfe,
    };
    assert_eq!(
        fingerprint.to_string(),
        "0x0000000000000007,0x00000000000000fe"
    );
    assert_eq!(
        read("0x0000000000000007,0x00000000000000fe,single,cpu"),
        Ok(Some(Binding {
            fingerprint,
            measured: Measured::Single,
            rival: "cpu".into(),
        }))
    );
    assert_eq!(read(",,,"), Ok(None));
    for (binding, why) in [
        (
            ",0x00000000000000fe,single,cpu",
            "`` is not a value of program_hash",
        ),
        (
            "7,0x00000000000000fe,single,cpu",
            "`7` is not a value of program_hash",
        ),
        (
            "0x0000000000000007,0x00000000000000FE,single,cpu",
            "`0x00000000000000FE` is not a value of constants_hash",
        ),
        (
            "0x0000000000000007,0x00000000000000fe,both,cpu",
            "`both` is not a value of measured",
        ),
        (
            "0x0000000000000007,0x00000000000000fe,single,",
            "`` is not a value of rival",
        ),
    ] {
        assert_eq!(read(binding), Err(format!("line 2: {why}")));
    }
    assert_eq!(
        self::read(&header.replace(",measured", ""))
            .unwrap_err()
            .to_string(),
        "column 17 of the header is `rival`; it must be `measured`"
    );
}
