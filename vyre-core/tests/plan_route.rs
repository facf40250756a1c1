//! Routes and the plan cache.

use vyre_core::plan::barrier::levels;
use vyre_core::plan::cache::{Lru, PLAN_CAPACITY, PlanKey, PlanKind};
use vyre_core::plan::memory::{self, Input, WaveBytes};
use vyre_core::plan::route::{Downgrade, Need, Policy, Route, RouteError, Sample, choose};

#[path = "../../vyre-tests/src/random.rs"]
#[allow(
    dead_code,
    unreachable_pub,
    reason = "shared with tests of crates above, on which this one cannot depend"
)]
mod random;
use random::cases;

const CALM: Sample = Sample {
    memory_bps: 1_000,
    fusion: 0.0,
    dispatch_ns: 1_000,
    overhead_ns: 250,
    readback_bytes: 1 << 20,
    density: 0.5,
    mean_degree: 4.0,
};

fn route(sample: Sample, previous: Option<Route>) -> Route {
    let pressure = Policy::default().pressure(&sample, previous).unwrap();
    choose(pressure, None).unwrap().route
}

fn at(density: f64, mean_degree: f64) -> Route {
    let sample = Sample {
        density,
        mean_degree,
        ..CALM
    };
    route(sample, None)
}

#[test]
fn density_and_degree_choose_the_band() {
    assert_eq!(at(0.0, 8.0), Route::WarpSparse);
    assert_eq!(at(0.03125, 8.0), Route::WarpSparse);
    assert_eq!(at(0.03125, 8.5), Route::Sparse);
    assert_eq!(at(0.04, 8.0), Route::Sparse);
    assert_eq!(at(0.125, 1.0), Route::Sparse);
    assert_eq!(at(0.126, 4.0), Route::Hybrid);
    assert_eq!(at(0.70, 2.0), Route::Dense);
    assert_eq!(at(0.85, 2.0), Route::BlockDense);
    assert_eq!(at(0.85, 1.9), Route::Hybrid);
    assert_eq!(at(1.0, 16.0), Route::BlockDense);
}

#[test]
fn memory_comes_first_and_fusion_second() {
    let fused = Sample {
        fusion: 0.95,
        ..CALM
    };
    for density in [0.5, 0.9] {
        assert_eq!(route(Sample { density, ..fused }, None), Route::FusedWave);
    }
    for (sample, expected) in [
        (
            Sample {
                memory_bps: 9_000,
                ..fused
            },
            Route::Sparse,
        ),
        (
            Sample {
                memory_bps: 8_501,
                ..fused
            },
            Route::Hybrid,
        ),
        (
            Sample {
                memory_bps: 8_500,
                ..fused
            },
            Route::FusedWave,
        ),
        (
            Sample {
                fusion: 0.69,
                ..fused
            },
            Route::Hybrid,
        ),
        (
            Sample {
                overhead_ns: 149,
                ..fused
            },
            Route::Hybrid,
        ),
        (
            Sample {
                overhead_ns: 150,
                ..fused
            },
            Route::FusedWave,
        ),
        (
            Sample {
                readback_bytes: 4_095,
                ..fused
            },
            Route::Hybrid,
        ),
        (
            Sample {
                readback_bytes: 4_096,
                ..fused
            },
            Route::FusedWave,
        ),
    ] {
        assert_eq!(route(sample, None), expected, "{sample:?}");
    }
}

#[test]
fn the_examples_of_the_memory_planner_run_fused() {
    let levels = levels(2, &[]).unwrap();
    let wave = WaveBytes {
        frontier_bytes: 1024,
        scratch_bytes: 512,
        output_bytes: 3072,
    };
    let plan = memory::plan(&Input::new(&levels, &[wave; 2])).unwrap();
    let sample = Sample {
        fusion: 0.95,
        readback_bytes: plan.amortised_readback_bytes,
        ..CALM
    };
    assert_eq!(route(sample, None), Route::FusedWave);

    // Each wave takes 60 of 100 bytes when fused.
    let wave = WaveBytes {
        frontier_bytes: 10,
        scratch_bytes: 10,
        output_bytes: 10,
    };
    let need = Need {
        bytes: wave,
        graph_bytes: 0,
        budget_bytes: 100,
    };
    let sample = Sample {
        fusion: 0.95,
        density: 0.9,
        memory_bps: 6_000,
        ..CALM
    };
    let pressure = Policy::default().pressure(&sample, None).unwrap();
    let choice = choose(pressure, Some(&need)).unwrap();
    assert_eq!(choice.route, Route::FusedWave);
    assert_eq!((choice.needed_bytes, choice.downgrade), (Some(60), None));
}

#[test]
fn each_route_has_its_scratch() {
    let scratch = |route: Route, bytes| route.scratch().bytes(bytes).unwrap();
    assert_eq!(scratch(Route::WarpSparse, 8), 32);
    assert_eq!(scratch(Route::WarpSparse, 100), 100);
    assert_eq!(scratch(Route::Sparse, 100), 100);
    assert_eq!(scratch(Route::Dense, 100), 200);
    assert_eq!(scratch(Route::BlockDense, 100), 2048);
    assert_eq!(scratch(Route::BlockDense, 2000), 4000);
    assert_eq!(scratch(Route::Hybrid, 100), 300);
    assert_eq!(scratch(Route::FusedWave, 100), 400);
}

#[test]
fn over_the_budget_the_sparse_route_runs_and_says_so() {
    let need = Need {
        bytes: WaveBytes {
            frontier_bytes: 100,
            scratch_bytes: 100,
            output_bytes: 100,
        },
        graph_bytes: 50,
        budget_bytes: 500,
    };
    let pressure = Policy::default().pressure(&CALM, None).unwrap();
    let choice = choose(pressure, Some(&need)).unwrap();
    assert_eq!(choice.route, Route::Sparse);
    assert_eq!(choice.needed_bytes, Some(350));
    assert_eq!(
        choice.downgrade,
        Some(Downgrade {
            from: Route::Hybrid,
            needed_bytes: 550,
            budget_bytes: 500
        })
    );
    let need = Need {
        budget_bytes: 349,
        ..need
    };
    let error = choose(pressure, Some(&need)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the sparse route needs 350 bytes; budget is 349"
    );
    let need = Need {
        graph_bytes: u64::MAX,
        ..need
    };
    let error = choose(pressure, Some(&need)).unwrap_err();
    assert_eq!(error.to_string(), "bytes of the group overflow 64 bits");
}

#[test]
fn the_previous_route_is_held_near_a_threshold() {
    let held = |previous, density| route(Sample { density, ..CALM }, Some(previous));
    assert_eq!(held(Route::WarpSparse, 0.05), Route::WarpSparse);
    assert_eq!(held(Route::WarpSparse, 0.06), Route::Sparse);
    assert_eq!(held(Route::Sparse, 0.02), Route::Sparse);
    assert_eq!(held(Route::Sparse, 0.005), Route::WarpSparse);
    assert_eq!(held(Route::Sparse, 0.149), Route::Sparse);
    assert_eq!(held(Route::Hybrid, 0.11), Route::Hybrid);
    assert_eq!(held(Route::Hybrid, 0.09), Route::Sparse);
    assert_eq!(held(Route::Hybrid, 0.72), Route::Hybrid);
    assert_eq!(held(Route::Hybrid, 0.73), Route::Dense);
    assert_eq!(held(Route::Dense, 0.68), Route::Dense);
    assert_eq!(held(Route::Dense, 0.87), Route::Dense);
    assert_eq!(held(Route::Dense, 0.88), Route::BlockDense);
    assert_eq!(held(Route::BlockDense, 0.83), Route::BlockDense);
    assert_eq!(held(Route::BlockDense, 0.82), Route::Dense);
    assert_eq!(held(Route::FusedWave, 0.85), Route::BlockDense);
}

#[test]
fn samples_that_mean_nothing_are_refused() {
    let error = |sample| Policy::default().pressure(&sample, None).unwrap_err();
    let no_dispatch = Sample {
        dispatch_ns: 0,
        ..CALM
    };
    assert_eq!(error(no_dispatch), RouteError::NoDispatch);
    let field = |sample| match error(sample) {
        RouteError::OutOfRange { field, .. } => field,
        other => panic!("{other}"),
    };
    let nan = f64::NAN;
    assert_eq!(
        field(Sample {
            density: nan,
            ..CALM
        }),
        "density"
    );
    assert_eq!(
        field(Sample {
            density: 1.01,
            ..CALM
        }),
        "density"
    );
    assert_eq!(
        field(Sample {
            fusion: -0.1,
            ..CALM
        }),
        "fusion"
    );
    let endless = Sample {
        mean_degree: f64::INFINITY,
        ..CALM
    };
    assert_eq!(field(endless), "mean_degree");
}

fn key(density: f64) -> PlanKey {
    let sample = Sample { density, ..CALM };
    PlanKey {
        layout_hash: 7,
        kind: PlanKind::Session,
        device: 0,
        pressure: Policy::default().pressure(&sample, None).unwrap(),
    }
}

#[test]
fn equivalent_pressure_hits_the_cache() {
    let mut cache = Lru::new(PLAN_CAPACITY);
    let mut ask = |key: PlanKey| {
        let got = cache
            .get_or_make(key, |k| choose(k.pressure, None))
            .copied();
        (got.unwrap().route, cache.stats().hits)
    };
    assert_eq!(ask(key(0.90)), (Route::BlockDense, 0));
    assert_eq!(ask(key(0.91)), (Route::BlockDense, 1));
    assert_eq!(ask(key(0.5)), (Route::Hybrid, 1));
    assert_eq!(
        ask(PlanKey {
            device: 1,
            ..key(0.9)
        }),
        (Route::BlockDense, 1)
    );
    assert_eq!(
        ask(PlanKey {
            kind: PlanKind::Batch,
            ..key(0.9)
        }),
        (Route::BlockDense, 1)
    );
    assert_eq!(
        ask(PlanKey {
            kind: PlanKind::Fused,
            ..key(0.9)
        }),
        (Route::BlockDense, 1)
    );
    assert_eq!(
        ask(PlanKey {
            layout_hash: 8,
            ..key(0.9)
        }),
        (Route::BlockDense, 1)
    );
    assert_eq!(ask(key(1.0)), (Route::BlockDense, 2));
}

#[test]
fn the_cache_is_bounded_and_does_not_change_answers() {
    cases(300, |u| {
        let mut cache = Lru::new(4);
        for _ in 0..u.int_in_range(0..=60usize)? {
            let density = f64::from(u.int_in_range(0..=100u32)?) / 100.0;
            let mut key = key(density);
            key.layout_hash = u.int_in_range(0..=3)?;
            let cached = *cache
                .get_or_make(key, |k| choose(k.pressure, None))
                .unwrap();
            assert_eq!(cached.route, at(density, CALM.mean_degree));
            assert!(cache.stats().entries <= 4);
        }
        Ok(())
    });
}

#[test]
fn the_entry_unused_for_longest_goes_and_errors_are_not_kept() {
    let mut cache = Lru::new(2);
    let mut made = Vec::new();
    for n in [1, 2, 1, 3, 2] {
        let _ = cache.get_or_make(n, |&n| {
            made.push(n);
            Ok::<_, ()>(n)
        });
    }
    assert_eq!(made, [1, 2, 3, 2]);
    assert_eq!(cache.get_or_make(9, |_| Err("no")), Err("no"));
    assert_eq!(cache.get_or_make(9, |_| Ok::<_, &str>(81)), Ok(&81));
}
