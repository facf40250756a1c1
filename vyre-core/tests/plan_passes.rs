//! Pass selection.

use vyre_core::plan::passes::{Candidate, PassError, Ranking, Sample, Selection, Skip, select};
use vyre_core::vir0::manifest::Manifest;

fn pass(id: &str) -> Candidate<'_> {
    Candidate {
        id,
        speedup_bps: 11_000,
        ..Candidate::default()
    }
}

const PLENTY: Sample = Sample {
    frontier_items: u64::MAX,
    reuse: u64::MAX,
    readback_bytes: u64::MAX,
    planning_budget_ns: u64::MAX,
    scratch_budget_bytes: u64::MAX,
    baseline_ns: None,
};

fn ids<'a>(selection: &Selection<'a>) -> Vec<&'a str> {
    selection.selected.iter().map(|s| s.candidate.id).collect()
}

#[test]
fn candidates_are_validated_in_input_order() {
    let of = |candidates: &[Candidate<'_>]| {
        let error = select(candidates, &PLENTY, Ranking::Thresholds).unwrap_err();
        error.to_string()
    };
    let unproven = Candidate {
        speedup_bps: 10_000,
        ..pass("a")
    };
    assert_eq!(
        of(&[unproven]),
        "`a` has no evidence: its speedup is 10000 bps; more than 10000 are needed"
    );
    assert_eq!(of(&[pass("a"), pass("")]), "candidate 1 has no id");
    assert_eq!(of(&[pass("a"), unproven]), "candidate 1 repeats the id `a`");
    assert_eq!(
        of(&[unproven, pass("")]),
        "`a` has no evidence: its speedup is 10000 bps; more than 10000 are needed"
    );
    let manifest = Manifest {
        id: "reach".into(),
        speedup_bps: 18_000,
        unproven: true,
        ..Manifest::default()
    };
    assert!(matches!(
        select(
            &[Candidate::of(&manifest, 1, 1)],
            &PLENTY,
            Ranking::default()
        ),
        Err(PassError::MissingEvidence { speedup_bps: 0, .. })
    ));
}

#[test]
fn a_candidate_below_a_threshold_is_skipped_with_the_first_reason() {
    let sample = Sample {
        frontier_items: 10,
        reuse: 1,
        readback_bytes: 128,
        planning_budget_ns: 100,
        scratch_budget_bytes: 100,
        baseline_ns: None,
    };
    let first = Candidate {
        min_frontier_items: 1000,
        min_reuse: 4,
        ..pass("first")
    };
    let second = Candidate {
        min_frontier_items: 1,
        min_reuse: 1,
        min_readback_bytes: 4096,
        ..pass("second")
    };
    let got = select(&[first, second], &sample, Ranking::default()).unwrap();
    assert_eq!(got.selected.len(), 0);
    let reasons: Vec<Skip> = got.skipped.iter().map(|s| s.reason).collect();
    assert_eq!(
        reasons,
        [
            Skip::Frontier {
                actual: 10,
                needed: 1000
            },
            Skip::Readback {
                actual: 128,
                needed: 4096
            }
        ]
    );
    let reason = |candidate| {
        let got = select(&[candidate], &sample, Ranking::default()).unwrap();
        got.skipped.first().map(|s| s.reason)
    };
    let exact = Candidate {
        min_frontier_items: 10,
        min_reuse: 1,
        min_readback_bytes: 128,
        planning_cost_ns: 100,
        scratch_bytes: 100,
        ..pass("exact")
    };
    assert_eq!(reason(exact), None);
    let both = Candidate {
        planning_cost_ns: 101,
        scratch_bytes: 101,
        ..exact
    };
    assert_eq!(
        reason(both),
        Some(Skip::PlanningBudget {
            left_ns: 100,
            needed_ns: 101
        })
    );
    assert_eq!(
        reason(Candidate {
            planning_cost_ns: 1,
            ..both
        }),
        Some(Skip::ScratchBudget {
            left_bytes: 100,
            needed_bytes: 101
        })
    );
}

#[test]
fn thresholds_rank_in_128_bits() {
    let high = Candidate {
        min_frontier_items: u64::MAX,
        min_reuse: u64::MAX,
        min_readback_bytes: u64::MAX,
        ..pass("z")
    };
    let low = Candidate {
        min_readback_bytes: u64::MAX - 1,
        id: "a",
        ..high
    };
    let got = select(&[low, high], &PLENTY, Ranking::Thresholds).unwrap();
    assert_eq!(ids(&got), ["z", "a"]);
    let got = select(
        &[high, Candidate { id: "y", ..low }],
        &PLENTY,
        Ranking::Thresholds,
    )
    .unwrap();
    assert_eq!(ids(&got), ["z", "y"]);
    // Ties go by id; mandatory ones come first whatever their value.
    let must = Candidate {
        mandatory: true,
        ..pass("m")
    };
    let got = select(
        &[high, Candidate { id: "b", ..high }, must],
        &PLENTY,
        Ranking::Thresholds,
    )
    .unwrap();
    assert_eq!(ids(&got), ["m", "b", "z"]);
}

#[test]
fn packing_is_greedy_under_both_budgets() {
    let costs = |id, planning_cost_ns, scratch_bytes| Candidate {
        planning_cost_ns,
        scratch_bytes,
        ..pass(id)
    };
    let budget = |planning_budget_ns, scratch_budget_bytes| Sample {
        planning_budget_ns,
        scratch_budget_bytes,
        ..PLENTY
    };
    let three = [costs("a", 100, 64), costs("b", 20, 16), costs("c", 50, 32)];
    let got = select(&three, &budget(200, 128), Ranking::default()).unwrap();
    assert_eq!(ids(&got), ["a", "b", "c"]);
    assert_eq!((got.planning_cost_ns, got.scratch_bytes), (170, 112));

    // The scan goes on after one that does not fit.
    let got = select(&three, &budget(125, 128), Ranking::default()).unwrap();
    assert_eq!(ids(&got), ["a", "b"]);
    assert_eq!(
        got.skipped[0].reason,
        Skip::PlanningBudget {
            left_ns: 5,
            needed_ns: 50
        }
    );

    let must = |planning_cost_ns| Candidate {
        mandatory: true,
        ..costs("must", planning_cost_ns, 0)
    };
    let error = select(&[must(101)], &budget(100, 0), Ranking::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "mandatory `must` does not fit: planning takes 101 ns; 100 are left"
    );
    let better = Candidate {
        min_frontier_items: 2,
        ..costs("better", 100, 0)
    };
    let must = Candidate {
        min_frontier_items: 1,
        ..must(100)
    };
    let got = select(&[better, must], &budget(100, 0), Ranking::default()).unwrap();
    assert_eq!(ids(&got), ["must"]);
    assert_eq!(got.skipped[0].id, "better");
    // Below its threshold, a mandatory one is skipped like any other.
    let far = Sample {
        frontier_items: 0,
        ..budget(0, 0)
    };
    let got = select(&[must], &far, Ranking::default()).unwrap();
    assert_eq!(got.selected.len(), 0);
}

#[test]
fn speedups_multiply_and_round_down() {
    let of = |bps: &[u64]| {
        let names = ["a", "b", "c"];
        let list: Vec<Candidate<'_>> = bps
            .iter()
            .zip(names)
            .map(|(&speedup_bps, id)| Candidate {
                speedup_bps,
                ..pass(id)
            })
            .collect();
        select(&list, &PLENTY, Ranking::default()).map(|s| s.projected_speedup_bps)
    };
    assert_eq!(of(&[25_000, 18_000, 12_000]), Ok(54_000));
    assert_eq!(of(&[10_001, 10_001, 10_001]), Ok(10_003));
    assert_eq!(of(&[]), Ok(10_000));
    assert_eq!(of(&[u64::MAX, u64::MAX]), Ok(u64::MAX));
}

#[test]
fn totals_equal_the_sums_and_stay_inside_the_budgets() {
    let names: Vec<String> = (0..64).map(|i| format!("p{i}")).collect();
    for count in 1..=64usize {
        let list: Vec<Candidate<'_>> = names[..count]
            .iter()
            .enumerate()
            .map(|(i, id)| Candidate {
                planning_cost_ns: (i as u64 * 37 + 11) % 101,
                scratch_bytes: (i as u64 * 53 + 7) % 89,
                min_frontier_items: i as u64 % 5,
                ..pass(id)
            })
            .collect();
        for budget in 0..16u64 {
            let sample = Sample {
                frontier_items: 3,
                planning_budget_ns: budget * 97,
                scratch_budget_bytes: (16 - budget) * 61,
                baseline_ns: (budget % 2 == 0).then_some(1_000),
                reuse: 3,
                ..PLENTY
            };
            let got = select(&list, &sample, Ranking::default()).unwrap();
            let cost: u64 = got
                .selected
                .iter()
                .map(|s| s.candidate.planning_cost_ns)
                .sum();
            let scratch: u64 = got.selected.iter().map(|s| s.candidate.scratch_bytes).sum();
            assert_eq!((got.planning_cost_ns, got.scratch_bytes), (cost, scratch));
            assert!(cost <= sample.planning_budget_ns && scratch <= sample.scratch_budget_bytes);
            assert_eq!(got.selected.len() + got.skipped.len(), count);
        }
    }
}

#[test]
fn the_default_ranking_follows_the_time_saved_on_the_sample() {
    // `claims` has thresholds a million times higher, but costs more than it saves here.
    let claims = Candidate {
        min_frontier_items: 1_000_000,
        planning_cost_ns: 600,
        ..pass("claims")
    };
    let saves = Candidate {
        speedup_bps: 20_000,
        planning_cost_ns: 400,
        ..pass("saves")
    };
    let sample = Sample {
        reuse: 2,
        baseline_ns: Some(1_000),
        ..PLENTY
    };
    let got = select(&[claims, saves], &sample, Ranking::default()).unwrap();
    assert_eq!(got.ranking, Ranking::TimeSaved);
    assert_eq!(
        got.to_string(),
        "selected `saves`: saves 600 ns\n\
         skipped `claims`: planning takes 600 ns and saves 181\n\
         1 selected, 1 skipped; planning 400 ns, scratch 0 bytes, projected speedup 2.0000x\n"
    );
    let got = select(&[claims, saves], &sample, Ranking::Thresholds).unwrap();
    assert_eq!(ids(&got), ["claims", "saves"]);
    // With an unknown baseline it says that it ranked by thresholds.
    let got = select(&[claims, saves], &PLENTY, Ranking::default()).unwrap();
    assert_eq!(got.ranking, Ranking::Thresholds);
}

/// Where the time of what a candidate speeds up was measured for it alone, that counts, and not the sample's.
#[test]
fn a_candidates_own_baseline_goes_before_the_samples() {
    let of = |id, speedup_bps, baseline_ns| Candidate {
        id,
        speedup_bps,
        baseline_ns,
        planning_cost_ns: 10,
        ..Candidate::default()
    };
    let sample = Sample {
        reuse: 2,
        planning_budget_ns: 10,
        baseline_ns: Some(100),
        ..Sample::default()
    };
    // One halves 100 ns, the other takes a tenth off 10,000.
    let both = [of("half", 20_000, None), of("tenth", 11_000, Some(11_000))];
    let got = select(&both, &sample, Ranking::default()).unwrap();
    assert_eq!(ids(&got), ["tenth"]);
    assert_eq!(got.selected[0].value, 2 * 1_000 - 10);
    // Without the sample's, one of them has none, and both are ranked by thresholds.
    let unknown = Sample {
        baseline_ns: None,
        ..sample
    };
    let got = select(&both, &unknown, Ranking::default()).unwrap();
    assert_eq!(
        (ids(&got), got.ranking),
        (vec!["half"], Ranking::Thresholds)
    );
    let got = select(&both[1..], &unknown, Ranking::default()).unwrap();
    assert_eq!(got.ranking, Ranking::TimeSaved);
}
