//! Splitting a level under a budget, against every way to split it.

use vyre_core::plan::cuda::Graphs;
use vyre_core::plan::fit::{fit, fit_on};
use vyre_core::plan::footprint::{Target, footprint};
use vyre_core::vir0::module::*;
use vyre_core::vir0::scalar::Scalar;
use vyre_core::vir0::sizes::Sizes;

fn random(state: &mut u64, n: u64) -> u64 {
    *state = state
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) % n
}

/// Waves of one level between one wave before and one behind it, with scratch that some of them share.
fn program(state: &mut u64) -> Program {
    let middle = 2 + random(state, 4) as usize;
    let buffers: Vec<Buffer> = (0..1 + random(state, 5))
        .map(|b| Buffer {
            name: format!("b{b}"),
            scalar: Scalar::U8,
            extent: Extent::Fixed(1 + random(state, 60)),
            role: if random(state, 6) == 0 {
                Role::Output
            } else {
                Role::Scratch
            },
            init: None,
            reset: None,
        })
        .collect();
    let waves: Vec<Wave> = (0..middle + 2)
        .map(|w| {
            let used = (0..buffers.len()).filter(|_| random(state, 3) == 0);
            Wave {
                name: format!("w{w}"),
                kernel: KernelId(0),
                domain: Domain::Once,
                fixpoint: None,
                after: vec![],
                accesses: used
                    .collect::<Vec<_>>()
                    .into_iter()
                    .map(|b| Access {
                        resource: Resource::Buffer(BufferId(b as u16)),
                        mode: Mode::Write,
                    })
                    .collect(),
            }
        })
        .collect();
    Program {
        schedule: schedule(&[(1..=middle).collect()], middle + 1),
        buffers,
        waves,
        ..Program::default()
    }
}

/// The first wave, then these groups, then the last.
fn schedule(groups: &[Vec<usize>], last: usize) -> Vec<Step> {
    let mut steps = vec![Step::Wave(WaveId(0)), Step::Barrier];
    for group in groups {
        steps.extend(group.iter().map(|&w| Step::Wave(WaveId(w as u16))));
        steps.push(Step::Barrier);
    }
    steps.extend([Step::Wave(WaveId(last as u16)), Step::End]);
    steps
}

fn peak(program: &Program) -> u64 {
    footprint(program, &Sizes::default()).unwrap().peak_bytes
}

/// The fewest groups that the middle level fits in, and the smallest peak of all ways.
fn by_trying(program: &Program, budget: u64) -> (Option<usize>, u64) {
    let middle = program.waves.len() - 2;
    let (mut fewest, mut least) = (None, u64::MAX);
    for code in 0..(middle as u64).pow(middle as u32) {
        let mut groups = vec![Vec::new(); middle];
        let mut left = code;
        for w in 1..=middle {
            groups[(left % middle as u64) as usize].push(w);
            left /= middle as u64;
        }
        groups.retain(|g| !g.is_empty());
        let tried = Program {
            schedule: schedule(&groups, middle + 1),
            ..program.clone()
        };
        let peak = peak(&tried);
        least = least.min(peak);
        if peak <= budget {
            fewest = Some(fewest.map_or(groups.len(), |f: usize| f.min(groups.len())));
        }
    }
    (fewest, least)
}

#[test]
fn small_levels_are_split_as_little_as_the_budget_allows() {
    let state = &mut 7;
    let (mut split, mut refused) = (0, 0);
    for _ in 0..150 {
        let program = program(state);
        let whole = peak(&program);
        let budget = whole - random(state, 1 + whole / 2);
        let (fewest, least) = by_trying(&program, budget);
        match fit(&program, &Sizes::default(), budget) {
            Ok(fitted) => {
                assert!(fitted.footprint.peak_bytes <= budget);
                let barriers = |s: &[Step]| s.iter().filter(|s| **s == Step::Barrier).count();
                let groups = barriers(&fitted.schedule) - 1;
                assert_eq!(Some(groups), fewest, "{program:?} under {budget}");
                split += usize::from(groups > 1);
            }
            Err(e) => {
                assert_eq!(fewest, None, "{e}: {program:?} under {budget}");
                assert!(least > budget);
                refused += 1;
            }
        }
    }
    assert!(
        split > 15 && refused > 15,
        "{split} split, {refused} refused"
    );
}

/// `x` uses `a`, `y` uses `b`, and a fixpoint behind them swaps the two: on a device both are there from the first wave
/// on, whichever that is.
#[test]
fn what_trades_places_is_there_with_its_partner() {
    let scratch = |name: &str, elements| Buffer {
        name: name.into(),
        scalar: Scalar::U32,
        extent: Extent::Fixed(elements),
        role: Role::Scratch,
        init: None,
        reset: None,
    };
    let wave = |w: u16, buffers: &[u16], fixpoint| Wave {
        name: format!("wave{w}"),
        kernel: KernelId(w),
        domain: Domain::Once,
        accesses: (buffers.iter())
            .map(|&b| Access {
                resource: Resource::Buffer(BufferId(b)),
                mode: Mode::Write,
            })
            .collect(),
        fixpoint,
        after: vec![],
    };
    let f = FixpointId(0);
    let program = Program {
        buffers: vec![
            scratch("a", 64),
            scratch("b", 64),
            scratch("of_x", 128),
            scratch("of_y", 64),
        ],
        waves: vec![
            wave(0, &[0, 2], None),
            wave(1, &[1, 3], None),
            wave(2, &[0, 1], Some(f)),
        ],
        fixpoints: vec![Fixpoint {
            name: "f".into(),
            parent: None,
            until: KernelId(3),
            condition: String::new(),
            max_rounds: 1,
            swaps: vec![(BufferId(0), BufferId(1))],
            after: vec![],
            site: SiteId(0),
        }],
        schedule: vec![
            Step::Wave(WaveId(0)),
            Step::Wave(WaveId(1)),
            Step::Barrier,
            Step::Loop(f),
            Step::Wave(WaveId(2)),
            Step::Until(f),
            Step::End,
        ],
        ..Program::default()
    };
    let graphs = Graphs::at_most(&program, &Sizes::default());
    let fit = |budget| {
        let target = Target::Device(&graphs);
        fit_on(&program, &Sizes::default(), (budget, target))
    };
    assert_eq!(fit(1_280).unwrap().splits, []);
    let split = fit(1_024).unwrap();
    assert_eq!(split.footprint.peak_bytes, 1_024);
    assert_eq!(split.splits.len(), 1);
    let alone = fit(1_023).unwrap_err().to_string();
    assert_eq!(
        alone,
        "barrier group 0 (wave `wave0` alone) needs 1024 bytes; budget is 1023"
    );
}
