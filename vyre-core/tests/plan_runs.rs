//! Result compaction and resident sessions.

use std::num::NonZeroU64;
use vyre_core::plan::compact::{self, CompactError, CompactPlan, Slot};
use vyre_core::plan::session::{self, Counters, Difference, Profile, Readback, SessionError};

fn figures(p: &CompactPlan) -> [u64; 6] {
    [
        p.full_bytes,
        p.compact_bytes,
        p.direct_bytes,
        p.selected_bytes,
        p.avoided_bytes,
        p.avoided_bps.into(),
    ]
}

fn packed(p: &CompactPlan) -> Vec<(u32, u64, u64)> {
    p.packed
        .iter()
        .map(|r| (r.slot, r.offset_bytes, r.len_bytes))
        .collect()
}

#[test]
fn small_results_are_packed_and_empty_ones_dropped() {
    let slots = [
        Slot::new(2, 0, 128),
        Slot::new(1, 12, 128),
        Slot::new(3, 24, 256),
    ];
    let plan = compact::plan(&slots, 32).unwrap();
    assert_eq!(packed(&plan), [(1, 0, 12), (3, 12, 24)]);
    assert_eq!(plan.direct, []);
    assert_eq!(figures(&plan), [512, 36, 0, 36, 476, 9_296]);

    let slots = [Slot::new(1, 64, 128), Slot::new(2, 512, 1024)];
    let plan = compact::plan(&slots, 128).unwrap();
    assert_eq!(packed(&plan), [(1, 0, 64)]);
    assert_eq!((plan.direct[0].slot, plan.direct[0].len_bytes), (2, 512));
    assert_eq!(figures(&plan), [1_152, 64, 512, 576, 576, 5_000]);

    let nothing = compact::plan(&[Slot::new(1, 0, 0), Slot::new(2, 0, 0)], 8).unwrap();
    assert_eq!(nothing, CompactPlan::default());
}

#[test]
fn slots_that_make_no_sense_are_refused() {
    let error = |slots: &[Slot]| compact::plan(slots, 16).unwrap_err();
    assert_eq!(
        error(&[Slot::new(1, 9, 8), Slot::new(1, 0, 8)]),
        CompactError::Duplicate { slot: 1 }
    );
    assert_eq!(
        error(&[Slot::new(1, 1, 8), Slot::new(2, 9, 8)]).to_string(),
        "slot 2 holds 9 bytes; its capacity is 8"
    );
    assert_eq!(
        error(&[Slot::new(1, 0, u64::MAX), Slot::new(2, 0, 1)]).to_string(),
        "full bytes overflow 64 bits at slot 2"
    );
}

#[test]
fn offsets_follow_the_alignment_asked_for() {
    let aligned = |id, len| Slot {
        align_bytes: NonZeroU64::new(8).unwrap(),
        ..Slot::new(id, len, len)
    };
    let slots = [
        Slot::new(0, 3, 3),
        aligned(1, 8),
        Slot::new(2, 1, 1),
        aligned(3, 16),
    ];
    let plan = compact::plan(&slots, 100).unwrap();
    assert_eq!(
        packed(&plan),
        [(0, 0, 3), (1, 8, 8), (2, 16, 1), (3, 24, 16)]
    );
    // The slab is larger than the slots were.
    assert_eq!(figures(&plan), [28, 40, 0, 40, 0, 0]);
}

#[test]
fn figures_of_many_shapes_are_exact() {
    for shape in 0..4096u64 {
        let slots: Vec<Slot> = (0..=shape % 13)
            .map(|i| {
                let capacity = (shape * 31 + i * 17) % 97;
                let len = (shape * 7 + i * 29) % (capacity + 1);
                Slot::new((i as u32 * 5) % 17, len, capacity)
            })
            .collect();
        let threshold = shape % 61;
        let plan = compact::plan(&slots, threshold).unwrap();
        let sum = |keep: &dyn Fn(&Slot) -> bool, of: fn(&Slot) -> u64| -> u64 {
            slots.iter().filter(|s| keep(s)).map(of).sum()
        };
        let full = sum(&|_| true, |s| s.capacity_bytes);
        let small = sum(&|s| s.meaningful_bytes <= threshold, |s| s.meaningful_bytes);
        let large = sum(&|s| s.meaningful_bytes > threshold, |s| s.meaningful_bytes);
        let avoided = full - small - large;
        let bps = (avoided * 10_000).checked_div(full).unwrap_or(0);
        assert_eq!(
            figures(&plan),
            [full, small, large, small + large, avoided, bps]
        );
        assert!(plan.packed.windows(2).all(|w| {
            w[0].slot < w[1].slot && w[0].offset_bytes + w[0].len_bytes == w[1].offset_bytes
        }));
        assert!(plan.direct.windows(2).all(|w| w[0].slot < w[1].slot));
    }
}

const PROFILE: Profile = Profile {
    layout_hash: Some(1),
    graph_bytes: 1_048_576,
    runs: 128,
    buffers: 3,
    frontier_bytes: 4_096,
    scratch_bytes: 65_536,
    output_bytes: 2_048,
    budget_bytes: Some(2_000_000),
    readback: Readback::FinalOnly,
};

#[test]
fn a_session_uploads_once_and_reads_once() {
    let plan = session::plan(&PROFILE).unwrap();
    assert_eq!(plan.refresh_bytes, 524_288);
    assert_eq!(plan.avoided_upload_bytes, 133_169_152);
    assert_eq!(plan.avoided_allocations, 381);
    assert_eq!(plan.avoided_fences, 127);
    assert_eq!(plan.readback_bytes, 2_048);
    assert_eq!(plan.peak_bytes, 1_120_256);
    assert_eq!((plan.cold_runs, plan.warm_runs), (1, 127));

    let once = session::plan(&Profile { runs: 1, ..PROFILE }).unwrap();
    assert_eq!(once.peak_bytes, 1_120_256);
    assert_eq!(once.avoided_upload_bytes, 0);
    assert_eq!((once.avoided_allocations, once.avoided_fences), (0, 0));
    assert_eq!((once.cold_runs, once.warm_runs), (1, 0));
}

#[test]
fn session_errors_come_in_order() {
    let error = |p: Profile| session::plan(&p).unwrap_err();
    let budget = Profile {
        graph_bytes: 128,
        runs: 1,
        frontier_bytes: 16,
        scratch_bytes: 16,
        output_bytes: 16,
        budget_bytes: Some(127),
        ..PROFILE
    };
    assert_eq!(
        error(budget).to_string(),
        "the session needs 176 bytes; budget is 127"
    );
    let overflow = Profile {
        frontier_bytes: u64::MAX,
        ..budget
    };
    assert_eq!(error(overflow).to_string(), "peak bytes overflow 64 bits");
    let per_run = Profile {
        readback: Readback::PerRun,
        ..overflow
    };
    assert_eq!(error(per_run), SessionError::PerRunReadback { runs: 1 });
    let no_budget = Profile {
        budget_bytes: None,
        ..per_run
    };
    assert_eq!(error(no_budget), SessionError::NoBudget);
    let no_runs = Profile {
        runs: 0,
        ..no_budget
    };
    assert_eq!(error(no_runs), SessionError::NoRuns);
    let no_graph = Profile {
        graph_bytes: 0,
        ..no_runs
    };
    assert_eq!(error(no_graph), SessionError::NoGraph);
    let no_hash = Profile {
        layout_hash: None,
        ..no_graph
    };
    assert_eq!(error(no_hash), SessionError::NoLayoutHash);
    let refresh = Profile {
        runs: u64::MAX,
        ..PROFILE
    };
    assert_eq!(error(refresh).to_string(), "refresh bytes overflow 64 bits");
}

#[test]
fn counters_are_held_against_the_plan() {
    let plan = session::plan(&PROFILE).unwrap();
    let counted = Counters {
        graph_uploads: 1,
        graph_upload_bytes: 1_048_576,
        refresh_bytes: 524_288,
        allocations: 3,
        fences: 1,
        readback_bytes: 2_048,
        launches: 128,
        ahead_bytes: 384,
    };
    assert_eq!(plan.compare(&counted), []);
    let wrong = Counters {
        fences: 128,
        ..counted
    };
    assert_eq!(
        plan.compare(&wrong),
        [Difference {
            field: "fences",
            planned: 1,
            counted: 128
        }]
    );
}
