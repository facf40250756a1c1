//! `#[pass(same_result(dist = "distances are unique"))]`: which results the author says are the same in every run.
//!
//! A claim is about one result, for the orders that its own pass leaves open. Claims of an included graph come with its
//! fields, as long as nothing else here has its say in them.

use super::check::{Fields, Slot};
use super::graph::Graph;
use crate::pass::SameResult;
use crate::report::{Report, did_you_mean, listed};
use syn::ext::IdentExt;
use vyre_core::vir0::manifest::Claim;
use vyre_core::vir0::module::{Program, QueueId, Resource, Role, WaveId};
use vyre_core::vir0::results::{is_shared, open};

/// Reports claims about what is no result.
pub(super) fn check(graph: &Graph, fields: &Fields<'_>, program: &Program, report: &mut Report) {
    for claim in graph.claim.same.iter().filter(|c| c.of.is_none()) {
        let name = claim.field.unraw().to_string();
        let slot = slot_of(claim, fields);
        if let Some(Slot::Broken) = slot {
            continue;
        }
        let what = slot.map(|slot| kind(slot, program));
        if what == Some(None) {
            continue;
        }
        let given: Vec<String> = fields
            .iter()
            .filter(|&(_, slot)| slot != Slot::Broken && kind(slot, program).is_none())
            .map(|(field, _)| field.name.unraw().to_string())
            .collect();
        let what = what.flatten();
        let near = match what {
            None => did_you_mean(&name, given.iter().map(String::as_str)),
            Some(_) => None,
        };
        let help = match (near, &given[..]) {
            (Some(near), _) => format!("did you mean `{near}`?"),
            (None, []) => "this pass gives nothing back: leave the claim out".to_owned(),
            (None, given) => format!(
                "a claim is about what a run gives back: {}",
                listed(given.iter().map(|g| format!("`{g}`")))
            ),
        };
        let message = match what {
            None => format!(
                "`{name}` is no output, list or reduction of `{}`",
                graph.name
            ),
            Some(what) => format!("`{name}` is {what}, and no result of `{}`", graph.name),
        };
        report.error_help(claim.field.span(), message, help);
    }
}

/// The claims that hold for this program, whose agreement is known. Reports those about what is proven.
pub(super) fn kept(
    graph: &Graph,
    fields: &Fields<'_>,
    program: &Program,
    report: &mut Report,
) -> Vec<Claim> {
    let mut kept: Vec<Claim> = Vec::new();
    if graph.claim.same.is_empty() {
        return kept;
    }
    let all = open(program, |_| true);
    for claim in &graph.claim.same {
        let Some(slot) = slot_of(claim, fields) else {
            continue;
        };
        let about: Vec<Resource> = resources(slot);
        let is_result = kind(slot, program).is_none();
        let is_open = about.iter().any(|r| all.contains(r));
        match claim.of {
            None if !is_result => {
                let field = &claim.field;
                report.error_help(
                    field.span(),
                    format!(
                        "`{field}` is a value of each part, and no result of `{}`",
                        graph.name
                    ),
                    "a claim is about what a run gives back",
                );
            }
            None if !is_open => {
                let field = &claim.field;
                report.error_help(
                    field.span(),
                    format!("`{field}` is proven to be the same in every run"),
                    "leave the claim out: it would hide that a later change ends the proof",
                );
            }
            None => {}
            Some((first, end)) => {
                // Nothing is claimed of what the including graph has its say in.
                let own = |w: WaveId| {
                    let wave = graph.waves.get(w.index());
                    let origin = wave.and_then(|w| w.origin);
                    origin.is_some_and(|o| (first..end).contains(&o.graph))
                };
                if !is_result || !is_open || is_shared(program, &about, own) {
                    continue;
                }
            }
        }
        for result in about {
            if kept.iter().all(|k| k.result != result) {
                kept.push(Claim {
                    result,
                    reason: claim.reason.clone(),
                });
            }
        }
    }
    kept
}

fn slot_of(claim: &SameResult, fields: &Fields<'_>) -> Option<Slot> {
    let mut all = fields.iter();
    let found = all.find(|(field, _)| field.name.unraw() == claim.field.unraw());
    found.map(|(_, slot)| slot)
}

fn resources(slot: Slot) -> Vec<Resource> {
    match slot {
        Slot::Buffer(_) | Slot::Rows(..) | Slot::Arrays(..) => {
            slot.buffers().map(Resource::Buffer).collect()
        }
        Slot::Queue(QueueId::List(l)) | Slot::Relation(l, _) => vec![l.into()],
        Slot::Reduction(r) => vec![Resource::Reduction(r)],
        Slot::Queue(QueueId::Frontier(_)) => Vec::new(),
        Slot::Csr(_) | Slot::RowsOf { .. } | Slot::Scalar(_) | Slot::Broken => Vec::new(),
    }
}

/// What a field is that no run gives back; `None` of a result.
fn kind(slot: Slot, program: &Program) -> Option<&'static str> {
    let role = |role| match role {
        Role::Output | Role::InOut => None,
        Role::Input => Some("an input"),
        Role::Scratch => Some("scratch"),
        Role::Topology => Some("a topology"),
    };
    match slot {
        Slot::Buffer(b) | Slot::Rows(b, _) | Slot::Arrays(b, _) => {
            program.buffers.get(b.index()).and_then(|b| role(b.role))
        }
        Slot::Csr(_) | Slot::RowsOf { .. } => Some("a topology"),
        Slot::Queue(QueueId::Frontier(f)) => {
            let list = program.frontiers.get(f.index()).is_some_and(|f| f.stays);
            Some(if list {
                "a list of nodes"
            } else {
                "a frontier"
            })
        }
        Slot::Scalar(_) => Some("a scalar"),
        Slot::Relation(l, _) => {
            let list = program.lists.get(l.index());
            list.filter(|l| !l.output)
                .map(|_| "a relation without `output`")
        }
        Slot::Queue(QueueId::List(l)) => {
            let list = program.lists.get(l.index());
            list.filter(|l| !l.output)
                .map(|_| "a list without `output`")
        }
        Slot::Reduction(r) => {
            let reduction = program.reductions.get(r.index());
            reduction
                .filter(|r| !r.output)
                .map(|_| "a value of each part")
        }
        Slot::Broken => None,
    }
}
