//! What passes say about themselves: listed at run time, with what their evidence proved.
#![forbid(unsafe_code)]
#![deny(warnings)]

use vyre::core::plan::evidence::{bind, read};
use vyre::core::vir0::fingerprint::Fingerprint;
use vyre::core::vir0::manifest::{Measured, Stale};
use vyre::prelude::*;
use vyre_core::vir0::container::{decode, encode};
use vyre_core::vir0::manifest::Proof;

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

/// What a step is, the macro does not see: both passes are the same tokens, and have the same evidence, measured with
/// 4.
macro_rules! step {
    ($name:ident, $id:literal, $value:literal) => {
        mod $name {
            use vyre::prelude::*;

            const STEP: u32 = $value;

            #[wave_graph]
            #[pass(id = $id, speedup = 1.8, evidence = "evidence/made_up_of_4.csv")]
            pub(crate) mod step {
                struct Data {
                    #[topology]
                    graph: Csr,
                    #[output(per = node)]
                    mark: u32,
                }

                #[wave(nodes)]
                fn set(v: Node, mark: &mut u32) {
                    *mark = v * STEP;
                }
            }
        }
    };
}
step!(four, "test.four", 4);
step!(five, "test.five", 5);

/// Two waves that can run side by side where there is room.
#[wave_graph]
#[pass(
    id = "test.split",
    speedup = 1.8,
    evidence = "evidence/made_up_split.csv"
)]
mod split {
    struct Data {
        #[topology]
        graph: Csr,
        #[scratch(per = node)]
        a: u32,
        #[scratch(per = node)]
        b: u32,
    }

    #[wave(nodes)]
    fn first(a: &mut u32) {
        *a = 1;
    }

    #[wave(nodes)]
    fn second(b: &mut u32) {
        *b = 1;
    }
}

#[test]
fn passes_are_listed_by_id() {
    let lines: Vec<String> = vyre::passes().iter().map(|p| p.to_string()).collect();
    assert_eq!(
        lines,
        [
            "test.double (manifests::double): unproven",
            "test.five (manifests::five::step): unproven: evidence/made_up_of_4.csv: \
             named constants have other values than when it was measured",
            "test.four (manifests::four::step): 1.8800x or more against nothing in 2 samples of single launches, \
             claims 1.8000x",
            "test.mark (manifests::mark): 1.8800x or more against nothing in 2 samples of shared launches, claims 1.8000x",
            "test.split (manifests::split): 1.8800x or more against nothing in 2 samples of shared launches, claims 1.8000x",
        ]
    );
    let double = vyre::passes()[0].manifest();
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
        constants_hash: Fingerprint::constants([], &[]),
        measured: Measured::Shared,
        rival: "nothing".into(),
    };
    assert_eq!(m.proof, Some(proof));
    assert_eq!((m.max_nodes, m.max_edges), (Some(1_000), None));
    assert_eq!(m.budget_bytes, Some(1 << 20));
    assert_eq!(decode(&encode(&program)).unwrap().manifest, *m);
}

/// The columns `program_hash` and `constants_hash` of the invented files are those of the passes here. If the compiler
/// makes other code of them, take the new values from this test.
#[test]
fn fingerprints_are_those_of_the_files() {
    for (plan, file) in [
        (mark::PLAN, include_str!("evidence/made_up.csv")),
        (four::step::PLAN, include_str!("evidence/made_up_of_4.csv")),
        (split::PLAN, include_str!("evidence/made_up_split.csv")),
    ] {
        let fingerprint = plan.fingerprint().expect("a macro made it");
        let samples = read(file).expect("a file of samples");
        let bound = samples[0].binding.as_ref().expect("bound").fingerprint;
        assert_eq!(fingerprint.to_string(), bound.to_string());
        assert!(bind(&samples, fingerprint.program).is_ok());
    }
    assert_eq!(
        five::step::PLAN.fingerprint(),
        Some(Fingerprint {
            constants: Fingerprint::constants(&[5], &[]),
            ..four::step::PLAN.fingerprint().expect("a macro made it")
        })
    );
}

#[test]
fn a_session_knows_with_which_constants_its_pass_was_measured() {
    let graph = Csr::from_edges(3, &[]).unwrap();
    for runtime in [Runtime::native(), Runtime::vir0()] {
        let mut session = four::step::Session::new(&runtime, &graph).unwrap();
        let m = &session.program().manifest;
        assert_eq!(
            (m.unproven, m.proof.is_some(), m.stale),
            (false, true, None)
        );
        assert_eq!(session.run(four::step::Run {}).unwrap().mark, [0, 4, 8]);

        let mut session = five::step::Session::new(&runtime, &graph).unwrap();
        let m = &session.program().manifest;
        assert_eq!(
            (m.unproven, m.proof.is_some(), m.stale),
            (true, false, Some(Stale::Constants))
        );
        assert_eq!(session.run(five::step::Run {}).unwrap().mark, [0, 5, 10]);
    }
}

#[test]
fn a_session_that_splits_a_level_runs_another_schedule_than_was_measured() {
    let graph = Csr::from_edges(1_000, &[]).unwrap();
    for runtime in [Runtime::native(), Runtime::vir0()] {
        let stale = |runtime: &Runtime| {
            let session = split::Session::new(runtime, &graph).unwrap();
            (
                session.program().schedule.len(),
                session.program().manifest.stale,
            )
        };
        assert_eq!(stale(&runtime), (3, None));
        let tight = runtime.with_memory(8 << 10);
        assert_eq!(stale(&tight), (4, Some(Stale::Program)));
    }
}
