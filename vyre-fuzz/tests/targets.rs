//! Each target for a second, and a check of the rules by which results of a device are compared.

use std::time::{Duration, Instant};
use vyre_core::run::backend::Backend;
use vyre_fuzz::device::{Case, Verdict};
use vyre_fuzz::{Tally, seeded, target};
use vyre_tests::sequential::{Backwards, Sequential};

/// Runs a target on seeds from 0 on, for a second and at least so many.
fn for_a_second(name: &str) -> Tally {
    let target = target(name);
    let mut tally = Tally::default();
    let until = Instant::now() + Duration::from_secs(1);
    for seed in 0.. {
        if seed >= 300 && Instant::now() > until {
            break;
        }
        (target.run)(&seeded(seed), &mut tally);
    }
    tally
}

#[test]
fn decode() {
    let tally = for_a_second("decode");
    for what in ["decoded and verified", "refused by the decoder"] {
        assert!(tally.of(what) > 0, "{tally:?}");
    }
}

#[test]
fn verify() {
    let tally = for_a_second("verify");
    assert!(tally.of("verified") > 0, "{tally:?}");
    assert!(tally.of("not verified") > 0, "{tally:?}");
}

#[test]
fn run() {
    let tally = for_a_second("run");
    for what in ["finished", "trapped", "run natively too"] {
        assert!(tally.of(what) > 0, "{tally:?}");
    }
}

#[test]
fn plan() {
    let tally = for_a_second("plan");
    for what in ["planned", "planned with splits", "larger than 64 bits"] {
        assert!(tally.of(what) > 0, "{tally:?}");
    }
}

#[test]
fn host() {
    let tally = for_a_second("host");
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
