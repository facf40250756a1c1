//! Each target on its first seeds, about a second's work, and a check of the rules by which results of a device are compared.

use vyre_core::run::backend::Backend;
use vyre_fuzz::device::{Case, Verdict};
use vyre_fuzz::{Tally, seeded, target};
use vyre_tests::sequential::{Backwards, Sequential};

/// Runs a target on the seeds from 0 on, as many on any machine.
fn on_first_seeds(name: &str, seeds: u64) -> Tally {
    let target = target(name);
    let mut tally = Tally::default();
    for seed in 0..seeds {
        (target.run)(&seeded(seed), &mut tally);
    }
    tally
}

#[test]
fn decode() {
    let tally = on_first_seeds("decode", 3_000);
    for what in ["decoded and verified", "refused by the decoder"] {
        assert!(tally.of(what) > 0, "{tally:?}");
    }
}

#[test]
fn verify() {
    let tally = on_first_seeds("verify", 1_500);
    assert!(tally.of("verified") > 0, "{tally:?}");
    assert!(tally.of("not verified") > 0, "{tally:?}");
}

#[test]
fn run() {
    let tally = on_first_seeds("run", 600);
    for what in ["finished", "trapped", "run natively too"] {
        assert!(tally.of(what) > 0, "{tally:?}");
    }
}

#[test]
fn plan() {
    let tally = on_first_seeds("plan", 600);
    for what in ["planned", "planned with splits", "larger than 64 bits"] {
        assert!(tally.of(what) > 0, "{tally:?}");
    }
}

#[test]
fn host() {
    let tally = on_first_seeds("host", 600);
    for what in ["as the interpreter", "ran"] {
        assert!(tally.of(what) > 0, "{tally:?}");
    }
}

/// Whether the rules by which device results are compared are right: what they let through gives the same in two orders.
#[test]
fn what_is_free_of_order_runs_alike_backwards() {
    let mut same = 0;
    let cases = (0..20_000).filter_map(|seed| Case::new(&seeded(seed)));
    for case in cases.filter(|c| c.is_order_free).take(40) {
        for backend in [&Sequential as &dyn Backend, &Backwards] {
            let ran = case.run(backend);
            assert_eq!(ran, Ok(Verdict::Same), "{}", case.shown());
        }
        same += 1;
    }
    assert_eq!(same, 40);
}
