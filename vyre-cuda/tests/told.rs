//! What a run says of itself: its rounds, what still changed when they ran out, and the time of each wave.

use vyre_cuda::prelude::*;
use vyre_cuda::{Error, TrapKind};

/// Never ends: twelve items come back each round, and three of them change something.
#[wave_graph]
mod restless {
    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        #[frontier]
        front: Frontier,
        #[list(capacity = 100)]
        seen: List<u32>,
        #[reduce(sum)]
        changed: i64,
        #[reduce(or)]
        never: bool,
        most: u32,
    }

    #[wave(nodes)]
    fn begin(v: Node, front: &Push) {
        front.push(v);
    }

    #[fixpoint(after(begin), until(front.is_empty() && changed == 0 || seen.len() > most || never), max_rounds = 5)]
    mod forever {
        #[wave(items(front))]
        fn again(
            v: Node,
            front: &Push,
            seen: &Append<u32>,
            changed: &Reduce<Sum<i64>>,
            never: &Reduce<Or<bool>>,
        ) {
            front.push(v);
            if v < 3 {
                changed.add(-1);
            }
            if v == 0 {
                seen.append(v);
            }
            never.or(v > 100);
        }
    }
}

fn a_round_limit_says_what_still_changed(runtime: &Runtime) {
    let graph = Csr::from_edges(12, &[]).expect("there are no edges");
    let mut session = restless::Session::new(runtime, &graph).expect("it fits");
    let Err(Error::Trap(trap)) = session.run(restless::Run { most: 70 }) else {
        panic!("the fixpoint never ends");
    };
    let told = "frontier `front` holds 12 items, reduction `changed` is -3, `most` is 70, list `seen` holds 5 items, \
                reduction `never` is false";
    assert_eq!((trap.kind, trap.len), (TrapKind::RoundLimit, 5));
    assert_eq!(trap.message.as_deref(), Some(told));
    let site = format!("{}:{}:{}", trap.site.file, trap.site.line, trap.site.column);
    assert_eq!(
        trap.to_string(),
        format!("not finished after 5 rounds in `forever` ({site}): {told}")
    );
    // The session is as it was, and a run that ends in time says nothing.
    let out = session.run(restless::Run { most: 3 }).expect("four rounds");
    assert_eq!((out.changed, out.report.total_rounds()), (-3, 4));
}

/// A fixpoint in a fixpoint, each of so many rounds, and one beside them.
#[wave_graph]
mod clocks {
    pub(crate) struct Data {
        #[output(per = 3)]
        ticks: u32,
        hours: u32,
        minutes: u32,
    }

    #[fixpoint(until(round + 1 == hours), max_rounds = 100)]
    mod outer {
        #[wave(once)]
        fn hour(ticks: &Buf<Atomic<u32>>) {
            ticks[0].fetch_add(1);
        }

        #[fixpoint(after(hour), until(round + 1 == minutes), max_rounds = 100)]
        mod inner {
            #[wave(once)]
            fn minute(ticks: &Buf<Atomic<u32>>) {
                ticks[1].fetch_add(1);
            }
        }
    }

    #[fixpoint(after(outer), until(round == 1), max_rounds = 100)]
    mod beside {
        #[wave(once)]
        fn chime(ticks: &Buf<Atomic<u32>>) {
            ticks[2].fetch_add(1);
        }
    }
}

fn total_rounds_are_those_of_all_fixpoints(runtime: &Runtime) {
    use clocks::Run;
    let mut session = clocks::Session::new(runtime, ()).expect("it fits");
    let run = |hours, minutes| Run { hours, minutes };
    let total = |out: &clocks::Output| (out.ticks.clone(), out.report.total_rounds());
    let out = session.run(run(3, 4)).expect("no trap");
    assert_eq!(out.report.rounds, [3, 12, 2]);
    assert_eq!(total(&out), (vec![3, 12, 2], 17));
    // A series gives what its last run leaves: the rounds are that run's.
    let out = session.run_series([run(9, 9), run(2, 3)]).expect("no trap");
    assert_eq!(total(&out), (vec![2, 6, 2], 10));
    // Each query of a batch has its own.
    session.submit(run(1, 1), 0);
    session.submit(run(2, 5), 0);
    let batch = session.run_batch().expect("a batch");
    let totals: Vec<_> = batch
        .results
        .iter()
        .map(|(_, out)| total(out.as_ref().expect("no trap")))
        .collect();
    assert_eq!(totals, [(vec![1, 1, 2], 4), (vec![2, 10, 2], 14)]);
    // What is explained of the batch are the rounds of all its queries.
    assert!(session.explain().to_string().contains("18 rounds"));
}

fn waves_are_timed_when_asked_for(runtime: &Runtime) {
    let mut session = clocks::Session::new(runtime, ()).expect("it fits");
    let run = || clocks::Run {
        hours: 2,
        minutes: 3,
    };
    assert_eq!(session.run(run()).expect("no trap").report.waves, None);
    assert!(!session.explain().to_string().contains("hour"));
    session.set_wave_times(true);
    let timed = session.run(run()).expect("no trap").report.waves;
    let explained = session.explain().to_string();
    if runtime.backend() == "cuda" {
        assert_eq!(timed, None);
        assert!(explained.contains("times of waves wanted, not available"));
        return;
    }
    let timed = timed.expect("it was asked for");
    let sweeps: Vec<u64> = timed.iter().map(|w| w.sweeps).collect();
    assert_eq!(sweeps, [2, 6, 2]);
    assert!(timed.iter().all(|w| w.ns > 0), "{timed:?}");
    let line = explained
        .lines()
        .find_map(|l| l.strip_prefix("  waves     "));
    let line = line.unwrap_or_else(|| panic!("{explained}"));
    for (name, sweeps) in [
        ("hour", "2 sweeps"),
        ("minute", "6 sweeps"),
        ("chime", "2 sweeps"),
    ] {
        let mut told = line.split(", ");
        let told = told.find(|told| told.starts_with(&format!("{name} ")));
        assert!(told.is_some_and(|told| told.ends_with(sweeps)), "{line}");
    }
    // A batch adds its queries up.
    session.submit(run(), 0);
    session.submit(run(), 0);
    session.run_batch().expect("a batch");
    assert!(session.explain().to_string().contains(" in 12 sweeps"));
    session.set_wave_times(false);
    assert_eq!(session.run(run()).expect("no trap").report.waves, None);
}

/// A profiler shows the symbols of this executable.
#[test]
fn the_native_loops_of_waves_are_symbols_with_their_names() {
    Runtime::native();
    let file = std::env::current_exe()
        .and_then(std::fs::read)
        .expect("it is there to be read");
    let has = |text: &[u8]| file.windows(text.len()).any(|w| w == text);
    for wave in ["begin", "again", "hour", "minute", "chime"] {
        // The two ways in which rustc writes the path of a type in a function.
        let legacy = format!("..wave..{wave}$u20$as$u20$vyre_core..native..Named");
        let v0 = format!("4wave{}{wave}", wave.len());
        assert!(
            has(legacy.as_bytes()) || has(v0.as_bytes()),
            "{wave} is no symbol"
        );
    }
}

macro_rules! on {
    ($backend:ident, $runtime:expr $(, $ignore:meta)?) => {
        mod $backend {
            use vyre_cuda::Runtime;

            #[test]
            $(#[$ignore])?
            fn a_round_limit_says_what_still_changed() {
                super::a_round_limit_says_what_still_changed(&$runtime);
            }

            #[test]
            $(#[$ignore])?
            fn total_rounds_are_those_of_all_fixpoints() {
                super::total_rounds_are_those_of_all_fixpoints(&$runtime);
            }

            #[test]
            $(#[$ignore])?
            fn waves_are_timed_when_asked_for() {
                super::waves_are_timed_when_asked_for(&$runtime);
            }
        }
    };
}

on!(native, Runtime::native());
on!(vir0, Runtime::vir0());
on!(
    cuda,
    Runtime::cuda().expect("a device"),
    ignore = "needs a CUDA device"
);
