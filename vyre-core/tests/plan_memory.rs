//! Memory of barrier groups, budgets and splits.

use vyre_core::plan::barrier::{Levels, levels};
use vyre_core::plan::memory::{Field, GraphBytes, Input, MemoryError, Readback, WaveBytes, plan};
use vyre_core::plan::{Edge, NodeId};

#[path = "../../vyre-tests/src/random.rs"]
#[allow(
    dead_code,
    unreachable_pub,
    reason = "shared with tests of crates above, on which this one cannot depend"
)]
mod random;
use random::cases;

fn wave(frontier_bytes: u64, scratch_bytes: u64, output_bytes: u64) -> WaveBytes {
    WaveBytes {
        frontier_bytes,
        scratch_bytes,
        output_bytes,
    }
}

fn diamond() -> Levels {
    let edges = [(0, 1), (0, 2), (1, 3), (2, 3)].map(|(a, b)| Edge::new(a, b));
    levels(4, &edges).unwrap()
}

fn free(waves: usize) -> Levels {
    levels(waves, &[]).unwrap()
}

#[test]
fn sums_and_peaks() {
    let waves = [1, 2, 4, 8].map(|k| wave(1024 * k, 512 * k, 256 * k));
    let levels = diamond();
    let got = plan(&Input {
        sample_readback_bytes: 1 << 20,
        ..Input::new(&levels, &waves)
    })
    .unwrap();
    assert_eq!(got.peaks, wave(8192, 4096, 2048));
    assert_eq!(got.amortised_readback_bytes, 1_048_576);
    assert_eq!(got.width, 2);
    assert_eq!(got.groups[1].bytes, wave(6144, 3072, 1536));
    assert_eq!(got.barriers(), 2);

    let waves = [wave(1024, 512, 3072); 2];
    let levels = free(2);
    let got = plan(&Input::new(&levels, &waves)).unwrap();
    assert_eq!(got.peaks.output_bytes, 6144);
    assert_eq!(got.amortised_readback_bytes, 6144);
}

#[test]
fn a_level_over_the_budget_is_split() {
    let levels = free(3);
    let waves = [wave(10, 10, 10); 3];
    let input = Input {
        budget_bytes: Some(100),
        ..Input::new(&levels, &waves)
    };
    let got = plan(&input).unwrap();
    assert_eq!(
        (got.groups.len(), got.barriers(), got.width, got.peak_bytes),
        (3, 2, 1, 60)
    );
    assert_eq!(got.splits.len(), 1);
    assert!(got.splits[0].fewest);
    // Outputs that stay until the end of the run count in the later groups.
    let got = plan(&Input {
        readback: Readback::AtEnd,
        ..input
    })
    .unwrap();
    assert_eq!((got.groups.len(), got.peak_bytes), (3, 80));

    let levels = free(1);
    let errors = plan(&Input {
        budget_bytes: Some(500),
        ..Input::new(&levels, &[wave(100, 100, 100)])
    })
    .unwrap_err();
    assert_eq!(
        errors,
        [MemoryError::Wave {
            node: NodeId(0),
            level: 0,
            needed_bytes: 600,
            budget_bytes: 500,
        }]
    );
    assert_eq!(
        errors[0].to_string(),
        "wave 0 of level 0 needs 600 bytes; budget is 500"
    );
}

#[test]
fn the_graph_is_checked_before_any_split() {
    let levels = free(1);
    let graph = GraphBytes {
        nodes: 100,
        node_bytes: 8,
        edges: 100,
        edge_bytes: 8,
    };
    let waves = [wave(5000, 0, 0)];
    let input = Input {
        graph,
        budget_bytes: Some(1000),
        ..Input::new(&levels, &waves)
    };
    assert_eq!(
        plan(&input),
        Err(vec![MemoryError::Graph {
            needed_bytes: 1600,
            budget_bytes: 1000
        }])
    );
    let unlimited = plan(&Input {
        budget_bytes: None,
        ..input
    })
    .unwrap();
    assert_eq!((unlimited.graph_bytes, unlimited.peak_bytes), (1600, 6600));
    // The graph takes part of the budget.
    assert_eq!(
        plan(&Input {
            budget_bytes: Some(6599),
            ..input
        }),
        Err(vec![MemoryError::Wave {
            node: NodeId(0),
            level: 0,
            needed_bytes: 6600,
            budget_bytes: 6599
        }])
    );
}

#[test]
fn overflow_names_the_field() {
    let one = free(1);
    let overflow = |levels: &Levels, waves: &[WaveBytes], graph| {
        let errors = plan(&Input {
            graph,
            ..Input::new(levels, waves)
        })
        .unwrap_err();
        errors[0].to_string()
    };
    let none = GraphBytes::default();
    assert_eq!(
        overflow(&one, &[wave(u64::MAX, 1, 0)], none),
        "bytes of wave 0 overflow 64 bits"
    );
    assert_eq!(
        overflow(&one, &[wave(0, u64::MAX / 2, 0)], none),
        "scratch bytes of wave 0 overflow 64 bits"
    );
    assert_eq!(
        overflow(&free(2), &[wave(u64::MAX, 0, 0); 2], none),
        "bytes of level 0 overflow 64 bits"
    );
    let graph = GraphBytes {
        nodes: u64::MAX,
        node_bytes: 2,
        ..none
    };
    assert_eq!(
        overflow(&one, &[wave(0, 0, 0)], graph),
        "graph bytes overflow 64 bits"
    );
    let chain = levels(2, &[Edge::new(0, 1)]).unwrap();
    let waves = [wave(0, 0, u64::MAX); 2];
    assert_eq!(
        plan(&Input {
            readback: Readback::AtEnd,
            ..Input::new(&chain, &waves)
        }),
        Err(vec![MemoryError::Overflow(Field::Live)])
    );
}

#[test]
fn the_peak_is_the_largest_total_and_not_the_sum_of_peaks() {
    // Groups of 60 + 30 and 38 + 50 bytes: peaks of 60 and 50 and a little more add up to 112.
    let chain = levels(2, &[Edge::new(0, 1)]).unwrap();
    let waves = [wave(60, 0, 30), wave(36, 0, 52)];
    let got = plan(&Input {
        budget_bytes: Some(100),
        ..Input::new(&chain, &waves)
    })
    .unwrap();
    assert_eq!(
        got.groups.iter().map(|g| g.total_bytes).collect::<Vec<_>>(),
        [90, 88]
    );
    assert_eq!(got.peaks.frontier_bytes + got.peaks.output_bytes, 112);
    assert_eq!(got.peak_bytes, 90);
}

#[test]
fn waves_that_cannot_fit_are_all_named() {
    let edges = [Edge::new(0, 1), Edge::new(0, 2)];
    let levels = levels(3, &edges).unwrap();
    let waves = [wave(101, 0, 0), wave(1, 0, 0), wave(200, 0, 0)];
    let errors = plan(&Input {
        budget_bytes: Some(100),
        ..Input::new(&levels, &waves)
    })
    .unwrap_err();
    let named: Vec<u32> = errors
        .iter()
        .map(|e| match e {
            MemoryError::Wave { node, .. } => node.0,
            other => panic!("{other}"),
        })
        .collect();
    assert_eq!(named, [0, 2]);
}

#[test]
fn bytes_of_another_graph_are_refused() {
    assert_eq!(
        plan(&Input::new(&free(2), &[wave(0, 0, 0)])),
        Err(vec![MemoryError::NodeCount { waves: 1, nodes: 2 }])
    );
}

/// Fewest groups in any order, by trying every assignment of waves to groups. `None` when nothing fits.
fn fewest_by_trying(waves: &[WaveBytes], readback: Readback, room: u64) -> Option<usize> {
    fn go(left: &[WaveBytes], readback: Readback, room: u64, kept: u64) -> Option<usize> {
        if left.is_empty() {
            return Some(0);
        }
        // Every nonempty subset as the first group.
        (1u32..1 << left.len())
            .filter_map(|set| {
                let (mut temporary, mut outputs, mut rest) = (0, 0, Vec::new());
                for (i, w) in left.iter().enumerate() {
                    if set & 1 << i != 0 {
                        temporary += w.frontier_bytes + 4 * w.scratch_bytes;
                        outputs += w.output_bytes;
                    } else {
                        rest.push(*w);
                    }
                }
                if kept + temporary + outputs > room {
                    return None;
                }
                let kept = match readback {
                    Readback::AfterGroup => 0,
                    Readback::AtEnd => kept + outputs,
                };
                Some(1 + go(&rest, readback, room, kept)?)
            })
            .min()
    }
    go(waves, readback, room, 0)
}

#[test]
fn small_levels_get_the_fewest_groups() {
    cases(300, |u| {
        let n = u.int_in_range(1..=5usize)?;
        let readback = *u.choose(&[Readback::AfterGroup, Readback::AtEnd])?;
        let outputs = if u.arbitrary()? { 6 } else { 0 };
        let mut waves = Vec::new();
        for _ in 0..n {
            waves.push(wave(
                u.int_in_range(0..=30)?,
                u.int_in_range(0..=2)?,
                u.int_in_range(0..=outputs)?,
            ));
        }
        let budget = u.int_in_range(20..=80)?;
        let levels = free(n);
        let got = plan(&Input {
            readback,
            budget_bytes: Some(budget),
            ..Input::new(&levels, &waves)
        });
        match fewest_by_trying(&waves, readback, budget) {
            None => assert!(got.is_err(), "{waves:?}"),
            Some(fewest) => {
                let got = got.unwrap();
                assert_eq!(got.groups.len(), fewest, "{waves:?} {readback:?} {budget}");
                assert!(got.peak_bytes <= budget);
                for split in &got.splits {
                    assert!(split.fewest && split.lower_bound_groups <= fewest);
                }
            }
        }
        Ok(())
    });
}

#[test]
fn large_levels_are_close_to_the_lower_bound() {
    cases(300, |u| {
        let n = u.int_in_range(10..=200usize)?;
        let mut waves = Vec::new();
        for _ in 0..n {
            waves.push(wave(u.int_in_range(1..=1000)?, 0, 0));
        }
        let levels = free(n);
        let got = plan(&Input {
            budget_bytes: Some(1000),
            ..Input::new(&levels, &waves)
        })
        .unwrap();
        for split in &got.splits {
            assert!(split.groups >= split.lower_bound_groups);
            // Best fit decreasing is within 11/9 of the optimum, plus one.
            assert!(split.groups * 9 <= split.lower_bound_groups * 11 * 2);
            assert_eq!(split.fewest, split.groups == split.lower_bound_groups);
        }
        Ok(())
    });
}
