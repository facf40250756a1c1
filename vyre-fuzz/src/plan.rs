//! Mutated programs through the planners, with sizes of every magnitude.

use crate::choices::Choices;
use crate::{Tally, program};
use vyre_core::plan::arena::{self, Temporary, pack, temporaries};
use vyre_core::plan::check;
use vyre_core::plan::cuda::Graphs;
use vyre_core::plan::fit::fit_on;
use vyre_core::plan::footprint::{Allocation, Target, footprint_on};
use vyre_core::plan::fuse::fuse;
use vyre_core::plan::route::may_order;
use vyre_core::plan::{pull, side};
use vyre_core::vir0::module::{Program, Resource};
use vyre_core::vir0::sizes::Sizes;
use vyre_core::vir0::verify::verify;

/// Nodes, edges and scalars from none to more than there can be.
fn sizes(program: &Program, choices: &mut Choices<'_>) -> Sizes {
    let huge = choices.one_in(4);
    let mut size = || match huge {
        true => choices.value(),
        false => choices.below(200) as u64,
    };
    Sizes {
        nodes: size(),
        edges: program.topologies.iter().map(|_| size()).collect(),
        scalars: program.scalars.iter().map(|_| size()).collect(),
        ..Sizes::default()
    }
}

/// A mutated program that verifies, planned for a CPU and for a device, under several budgets.
pub(crate) fn plan_program(bytes: &[u8], tally: &mut Tally) {
    let choices = &mut Choices::new(bytes);
    let (program, _) = program::mutated(choices);
    if verify(&program).is_err() {
        return tally.add("not verified");
    }
    let sizes = sizes(&program, choices);
    let graphs = Graphs::at_most(&program, &sizes);
    for wave in &program.waves {
        let _claim = pull::claim(&program, wave);
        let _order = may_order(&program, wave);
    }
    let _items = side::swept_items(&program, &sizes, &vec![3; program.fixpoints.len()], 9);
    let before = check::program(&program).len();
    let mut outcome = "planned";
    for target in [Target::Native, Target::Vir0, Target::Device(&graphs)] {
        let takes = match footprint_on(&program, &sizes, target) {
            Ok(takes) => takes,
            Err(e) => {
                assert!(!e.to_string().is_empty());
                outcome = "larger than 64 bits";
                continue;
            }
        };
        assert!(takes.resident_bytes <= takes.peak_bytes);
        assert!(takes.peak_bytes <= takes.separate_bytes);
        assert!(takes.peak_bytes <= takes.shared_bytes);
        for budget in [
            takes.separate_bytes,
            takes.shared_bytes.min(takes.separate_bytes),
            takes.peak_bytes.saturating_sub(1),
            takes.resident_bytes,
            choices.value(),
        ] {
            let Ok(fitted) = fit_on(&program, &sizes, (budget, target)) else {
                assert!(budget < takes.separate_bytes, "what takes so much fits");
                continue;
            };
            if !fitted.splits.is_empty() {
                outcome = "planned with splits";
            }
            let takes = &fitted.footprint;
            assert!(match fitted.allocation {
                Allocation::Separate => takes.separate_bytes <= budget,
                Allocation::Shared => takes.shared_bytes <= budget,
            });
            let fitted = Program {
                schedule: fitted.schedule,
                ..program.clone()
            };
            assert_eq!(verify(&fitted), Ok(()), "a split keeps the rules");
            assert!(
                check::program(&fitted).len() <= before,
                "barriers do not clash"
            );
            places(&fitted, &sizes, &graphs);
        }
    }
    tally.add(outcome);
    if choices.one_in(4) {
        let (other, _) = program::mutated(choices);
        if verify(&other).is_ok()
            && let Ok(fused) = fuse(&program, &other, &[])
        {
            tally.add("fused");
            assert_eq!(verify(&fused.program), Ok(()), "two programs in one");
            assert!(fused.barriers <= fused.barriers_before);
        }
    }
}

/// Whether what lives at once lies apart, derived from the groups in which things live.
fn places(program: &Program, sizes: &Sizes, graphs: &Graphs) {
    let Ok(takes) = footprint_on(program, sizes, Target::Device(graphs)) else {
        return;
    };
    let bytes_of = |of: Resource| {
        let items = takes.items.iter().filter(|i| i.resource == of);
        items.map(|i| i.bytes).max().unwrap_or(0)
    };
    let found = temporaries(program);
    let packed: Vec<Temporary> = found
        .iter()
        .map(|&(resource, first, last)| Temporary {
            bytes: bytes_of(resource),
            first,
            last,
        })
        .collect();
    let places = pack(&packed, 256);
    assert!(
        arena::phases(&program.schedule).len()
            > packed.iter().map(|t| t.last as usize).max().unwrap_or(0)
            || packed.is_empty()
    );
    for (i, a) in packed.iter().enumerate() {
        let end = u128::from(places.places[i]) + u128::from(a.bytes);
        assert!(end <= u128::from(places.bytes), "inside");
        for (j, b) in packed.iter().enumerate().skip(i + 1) {
            let together = a.first <= b.last && b.first <= a.last;
            let other = u128::from(places.places[j]);
            let other_end = other + u128::from(b.bytes);
            let apart = end <= other || other_end <= u128::from(places.places[i]);
            assert!(!together || apart, "{:?} and {:?}", found[i], found[j]);
        }
    }
}
