//! What passes say about themselves: listed at run time, with what their evidence proved.
#![forbid(unsafe_code)]
#![deny(warnings)]

use vyre_core::container::{decode, encode};
use vyre_core::module::Proof;
use vyre_cuda::prelude::*;

/// Counts to one.
///
/// The figures of its evidence are invented: they prove that files are read.
#[wave_graph(limits(nodes = 1_000), budget = "1 MiB")]
#[pass(
    id = "test.mark",
    min_frontier_items = 10,
    min_reuse = 2,
    min_avoided_readback = 64,
    speedup = 1.8,
    evidence = "evidence/made_up.csv",
    mandatory
)]
mod mark {
    struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node)]
        mark: u32,
    }

    #[wave(nodes)]
    fn set(mark: &mut u32) {
        *mark = 1;
    }
}

/// Doubles.
#[kernel]
#[pass(id = "test.double", unproven)]
fn double(x: &mut f32) {
    *x *= 2.0;
}

#[test]
fn passes_are_listed_by_id() {
    let lines: Vec<String> = vyre_cuda::passes().iter().map(|p| p.to_string()).collect();
    assert_eq!(
        lines,
        [
            "test.double (manifests::double): unproven",
            "test.mark (manifests::mark): 1.8800x or more in 2 samples, claims 1.8000x",
        ]
    );
    let double = vyre_cuda::passes()[0].manifest();
    assert_eq!(double.title, "Doubles.");
    assert!(double.unproven);
}

#[test]
fn a_manifest_says_what_was_claimed_and_proved() {
    let program = mark::PLAN.program();
    let m = &program.manifest;
    assert_eq!(
        (m.id.as_str(), m.title.as_str()),
        ("test.mark", "Counts to one.")
    );
    assert_eq!(
        (m.min_frontier_items, m.min_reuse, m.min_readback_bytes),
        (10, 2, 64)
    );
    assert_eq!(
        (m.speedup_bps, m.mandatory, m.unproven),
        (18_000, true, false)
    );
    assert_eq!(m.evidence, "evidence/made_up.csv");
    let proof = Proof {
        samples: 2,
        min_speedup_bps: 18_800,
        max_speedup_bps: 20_000,
    };
    assert_eq!(m.proof, Some(proof));
    assert_eq!((m.max_nodes, m.max_edges), (Some(1_000), None));
    assert_eq!(m.budget_bytes, Some(1 << 20));
    assert_eq!(decode(&encode(&program)).unwrap().manifest, *m);
}
