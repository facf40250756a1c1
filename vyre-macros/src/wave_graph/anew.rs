//! What begins anew with each round (`reset = round`): whose round that is. It is the innermost fixpoint around
//! everything that uses the field, so that nobody outside finds it emptied behind its back.

use super::check::{Fields, fixpoint_of};
use super::graph::{Field, Graph};
use super::order::{Uses, Via, common_scope};
use crate::report::Report;
use proc_macro2::Span;
use vyre_core::vir0::module::{BufferId, Program, Resource};

/// A wave that uses a field.
struct User {
    scope: usize,
    /// In words.
    name: String,
    span: Span,
}

/// Gives what begins anew its fixpoint, and says what has none.
pub(super) fn resolve(
    graph: &Graph,
    fields: &Fields<'_>,
    (program, uses): (&mut Program, &Uses),
    report: &mut Report,
) {
    for (field, slot) in fields.iter() {
        let Some(at) = field.reset else { continue };
        let buffers: Vec<BufferId> = slot.buffers().collect();
        let resources: Vec<Resource> = buffers.iter().map(|&b| Resource::Buffer(b)).collect();
        if is_swapped(uses, field, &resources, report) {
            continue;
        }
        let users = users(graph, uses, &resources);
        let Some(first) = users.first() else {
            report.error_help(
                at,
                format!(
                    "`{}` begins anew with each round, and no wave uses it",
                    field.name
                ),
                "leave `reset = round` out, or the field",
            );
            continue;
        };
        let scopes = users.iter().map(|user| user.scope);
        let owner = scopes.fold(first.scope, |a, b| common_scope(graph, a, b));
        let Some(owner) = fixpoint_of(owner) else {
            none(graph, (field, at), &users, report);
            continue;
        };
        for buffer in buffers {
            program.buffers[buffer.index()].reset = Some(owner);
        }
    }
}

fn is_swapped(uses: &Uses, field: &Field, resources: &[Resource], report: &mut Report) -> bool {
    let mut swaps = uses.scopes.iter().flatten().filter(|u| u.via == Via::Swap);
    let Some(swap) = swaps.find(|u| resources.contains(&u.access.resource)) else {
        return false;
    };
    report.error_help(
        swap.span,
        format!(
            "`{}` begins anew with each round, so that what a swap brings into it would be lost",
            field.name
        ),
        "leave the swap out, or `reset = round` in the declaration",
    );
    true
}

fn users(graph: &Graph, uses: &Uses, resources: &[Resource]) -> Vec<User> {
    let waves = graph.waves.iter().zip(&uses.waves);
    let waves = waves.map(|(wave, uses)| (wave.scope, format!("`{}`", wave.name()), uses));
    let using = waves.filter_map(|(scope, name, uses)| {
        let found = uses
            .iter()
            .find(|u| resources.contains(&u.access.resource))?;
        let span = found.span;
        Some(User { scope, name, span })
    });
    using.collect()
}

/// No fixpoint is around all of them.
fn none(graph: &Graph, (field, at): (&Field, Span), users: &[User], report: &mut Report) {
    let outside = users.iter().find(|user| user.scope == 0);
    let apart = || {
        users
            .iter()
            .find(|u| common_scope(graph, users[0].scope, u.scope) == 0)
    };
    let Some(other) = outside.or_else(apart) else {
        return;
    };
    let place = |user: &User| match user.scope {
        0 => "outside of every fixpoint".to_owned(),
        s => format!("in fixpoint `{}`", graph.scopes[s].name),
    };
    report.error_help(
        at,
        format!(
            "`{}` begins anew with each round, and no fixpoint contains all that uses it",
            field.name
        ),
        "keep a value that outlives a round in a field without `reset`; one that belongs to the round is used in its fixpoint alone",
    );
    let first = match other.scope {
        0 => String::new(),
        _ => format!(", and {} {}", users[0].name, place(&users[0])),
    };
    report.error(
        other.span,
        format!(
            "{} uses `{}` here, {}{first}",
            other.name,
            field.name,
            place(other)
        ),
    );
}
