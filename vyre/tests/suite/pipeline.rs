//! A pipeline runs what was selected, and explains what was not.

use std::cell::Cell;
use std::time::Duration;
use vyre::core::plan::passes::{PassError, Ranking, Sample};
use vyre::pipeline::{Choice, Pipeline};
use vyre::prelude::*;
use vyre::{FusedSession, Session};

/// Adds `step` to the number of every node.
///
/// The figures of its evidence are invented.
#[wave_graph]
#[pass(
    id = "test.count",
    min_reuse = 2,
    speedup = 1.8,
    evidence = "evidence/made_up_count.csv"
)]
mod counting {
    struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node)]
        count: u32,
        step: u32,
    }

    #[wave(nodes)]
    fn add(v: Node, step: u32, count: &mut u32) {
        *count = v + step;
    }
}

const SAMPLE: Sample = Sample {
    frontier_items: 100,
    reuse: 4,
    readback_bytes: 0,
    planning_budget_ns: 1_000,
    scratch_budget_bytes: 1_000,
    baseline_ns: Some(1_000_000),
};

/// What ran, and the last counts.
#[derive(Default)]
struct State {
    ran: Vec<&'static str>,
    counts: Vec<u32>,
}

#[test]
fn what_is_selected_runs_and_the_rest_is_explained() {
    let graph = Csr::from_edges(3, &[]).unwrap();
    let runtime = Runtime::native();
    let session = || Session::<counting::Pass>::new(&runtime, &graph).unwrap();
    let (mut singly, mut series) = (session(), session());
    let mut pipeline = Pipeline::new();
    let large = Choice {
        speedup_bps: 30_000,
        planning_cost_ns: 900,
        min_frontier_items: 1_000,
        ..Choice::new("large")
    };
    let slower = Choice {
        speedup_bps: 12_000,
        planning_cost_ns: 50,
        ..Choice::new("slower")
    };
    pipeline
        .stage("count")
        .baseline(|state: &mut State| {
            state.ran.push("singly");
            for step in 0..4 {
                state.counts = singly.run(counting::Run { step })?.count;
            }
            Ok(())
        })
        .alternative(Choice::of(&counting::PLAN), |state| {
            state.ran.push("series");
            let runs = (0..4).map(|step| counting::Run { step });
            state.counts = series.run_series(runs)?.count;
            Ok(())
        })
        .alternative(slower, |_| unreachable!())
        .alternative(large, |_| unreachable!());
    let compact = Choice {
        speedup_bps: 15_000,
        planning_cost_ns: 100,
        ..Choice::new("compact")
    };
    pipeline.stage("read").alternative(compact, |state| {
        state.ran.push("compact");
        Ok(())
    });
    pipeline
        .stage("nothing")
        .alternative(Choice::new("guess"), |_| unreachable!());

    let mut selected = pipeline.select(&SAMPLE).unwrap();
    assert_eq!(
        selected.chosen().collect::<Vec<_>>(),
        [Some("test.count"), Some("compact"), None]
    );
    assert_eq!(
        selected.to_string(),
        "count: `test.count` runs: selected, saves 1777777 ns\n  \
           skipped `slower`: `test.count` ranks higher in this stage\n  \
           skipped `large`: frontier has 100 items; it pays from 1000\n\
         read: `compact` runs: selected, saves 1333233 ns\n\
         nothing: nothing runs\n  \
           skipped `guess`: unproven: it has no evidence that holds\n\
         planning 100 ns, scratch 0 bytes, projected speedup 2.7000x\n"
    );
    let mut state = State::default();
    selected.run(&mut state).unwrap();
    assert_eq!(state.ran, ["series", "compact"]);
    assert_eq!(state.counts, [3, 4, 5]);

    let once = Sample {
        reuse: 1,
        planning_budget_ns: 0,
        ..SAMPLE
    };
    let mut state = State::default();
    let mut selected = pipeline.select(&once).unwrap();
    selected.run(&mut state).unwrap();
    assert_eq!(state.ran, ["singly"]);
    assert_eq!(state.counts, [3, 4, 5]);
}

#[test]
fn two_alternatives_of_one_name_are_refused() {
    let mut pipeline = Pipeline::<()>::new();
    let choice = Choice {
        speedup_bps: 20_000,
        ..Choice::new("twice")
    };
    pipeline
        .stage("a")
        .alternative(choice.clone(), |()| Ok(()))
        .alternative(choice, |()| Ok(()));
    let refused = pipeline.select(&SAMPLE).unwrap_err();
    assert_eq!(
        refused,
        PassError::DuplicateId {
            index: 1,
            id: "twice".into()
        }
    );
}

/// What the runtime does by itself is selected as passes are: two passes run fused where that was measured to be faster
/// and is run often enough, and one after the other where not.
#[test]
fn the_runtimes_own_optimisations_are_selected_and_run() {
    let graph = Csr::from_edges(3, &[(0, 1)]).unwrap();
    let runtime = Runtime::vir0();
    let ran = |reuse, speedup_bps| {
        let session = || Session::<counting::Pass>::new(&runtime, &graph).unwrap();
        let (mut one, mut two) = (session(), session());
        let topology = (&graph, &graph);
        let mut fused =
            FusedSession::<counting::Pass, counting::Pass>::new(&runtime, topology, &[]).unwrap();
        let (first, second) = (counting::Run { step: 1 }, counting::Run { step: 2 });
        let mut pipeline = Pipeline::new();
        pipeline
            .stage("both")
            .baseline(|state: &mut State| {
                state.ran.push("in turn");
                state.counts = one.run(first)?.count;
                state.counts.extend(two.run(second)?.count);
                Ok(())
            })
            .alternative(
                Choice {
                    speedup_bps,
                    ..Choice::fusion()
                },
                |state| {
                    state.ran.push("fused");
                    let (a, b) = fused.run(first, second)?;
                    state.counts = [a.count, b.count].concat();
                    Ok(())
                },
            )
            .unavailable(Choice::jit(), "the backend has one route");
        let sample = Sample {
            reuse,
            planning_budget_ns: 1_000_000,
            ..SAMPLE
        };
        let mut selected = pipeline.select(&sample).unwrap();
        let mut state = State::default();
        let explained = selected.to_string();
        selected.run(&mut state).unwrap();
        assert_eq!(state.counts, [1, 2, 3, 2, 3, 4]);
        (state.ran, explained)
    };
    let (way, explained) = ran(4, 15_000);
    assert_eq!(way, ["fused"]);
    assert!(
        explained.contains("`vyre.fusion` runs: selected"),
        "{explained}"
    );
    assert!(
        explained.contains("skipped `vyre.jit`: the backend has one route"),
        "{explained}"
    );
    let (way, explained) = ran(1, 15_000);
    assert_eq!(way, ["in turn"]);
    assert!(
        explained.contains("skipped `vyre.fusion`: reuse"),
        "{explained}"
    );
    let (way, explained) = ran(4, 0);
    assert_eq!(way, ["in turn"]);
    assert!(
        explained.contains("skipped `vyre.fusion`: unproven"),
        "{explained}"
    );
}

/// What an alternative gains and costs is measured; whether it runs follows from that and from how often it would.
#[test]
fn what_was_measured_decides_and_what_is_prepared_costs_nothing_more() {
    let now = Cell::new(Duration::ZERO);
    let work = |ms| now.set(now.get() + Duration::from_millis(ms));
    let made = Cell::new(0);
    let mut pipeline = Pipeline::new();
    pipeline.set_clock(|| now.get());
    pipeline
        .stage("work")
        .baseline(|ran: &mut Vec<&str>| {
            work(10);
            ran.push("baseline");
            Ok(())
        })
        .prepared(
            Choice::new("prepared"),
            || {
                work(200);
                made.set(made.get() + 1);
                Ok("prepared")
            },
            |name, ran| {
                work(1);
                ran.push(name);
                Ok(())
            },
        )
        .alternative(Choice::new("slower"), |_| {
            work(40);
            Ok(())
        });
    let runs = 5.try_into().unwrap();
    pipeline.measure(runs, &mut Vec::new()).unwrap();
    assert_eq!(made.get(), 1);
    let choices: Vec<Choice> = pipeline.choices().map(|(_, c)| c.clone()).collect();
    let [prepared, slower] = &choices[..] else {
        panic!("{choices:?}");
    };
    assert_eq!(prepared.speedup_bps, 100_000);
    assert_eq!(prepared.planning_cost_ns, 200_000_000);
    assert_eq!(prepared.baseline_ns, Some(10_000_000));
    assert_eq!(slower.speedup_bps, 2_500);

    let mut ran = |reuse, planning_budget_ns| {
        let sample = Sample {
            reuse,
            planning_budget_ns,
            ..Sample::default()
        };
        let mut state = Vec::new();
        let mut selected = pipeline.select(&sample).unwrap();
        let explained = selected.to_string();
        selected.run(&mut state).unwrap();
        (state, explained, made.get())
    };
    // 22 runs save 9 ms each, 198 of the 200 that preparing it takes.
    let (state, explained, _) = ran(22, u64::MAX);
    assert_eq!(state, ["baseline"]);
    assert!(
        explained.contains("skipped `prepared`: planning takes "),
        "{explained}"
    );
    assert!(
        explained.contains("skipped `slower`: it is no faster: 0.2500x"),
        "{explained}"
    );
    let (state, explained, times) = ran(23, u64::MAX);
    assert_eq!((state, times), (vec!["prepared"], 2));
    assert!(
        explained.contains("`prepared` runs: selected, saves "),
        "{explained}"
    );
    // It is prepared now.
    let (state, _, times) = ran(1, 0);
    assert_eq!((state, times), (vec!["prepared"], 2));
}

/// The ranking by thresholds stays, for who asks for it.
#[test]
fn alternatives_are_ranked_by_time_saved_unless_thresholds_are_asked_for() {
    let fast = Choice {
        speedup_bps: 20_000,
        ..Choice::new("fast")
    };
    let high = Choice {
        speedup_bps: 11_000,
        min_frontier_items: 100,
        ..Choice::new("high")
    };
    let mut pipeline = Pipeline::<()>::new();
    pipeline
        .stage("a")
        .alternative(fast, |()| Ok(()))
        .alternative(high, |()| Ok(()));
    let chosen = |pipeline: &mut Pipeline<'_, ()>| {
        let selected = pipeline.select(&SAMPLE).unwrap();
        selected.chosen().next().flatten().map(str::to_owned)
    };
    assert_eq!(chosen(&mut pipeline).as_deref(), Some("fast"));
    pipeline.set_ranking(Ranking::Thresholds);
    assert_eq!(chosen(&mut pipeline).as_deref(), Some("high"));
}
