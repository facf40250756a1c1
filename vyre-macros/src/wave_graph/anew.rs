//! What begins anew with each round, and whose round that is. Of `reset = round` it is the innermost fixpoint around
//! everything that uses the field, so that nobody outside finds it emptied behind its back. What a graph brings that is
//! included in a fixpoint begins anew with the rounds of that; what it left in its outputs may be read outside.

use super::check::{Fields, Slot, fixpoint_of};
use super::graph::{Field, FieldKind, Graph};
use super::order::{Use, Uses, Via, common_scope};
use crate::args::ident_of;
use crate::report::Report;
use proc_macro2::{Ident, Span};
use quote::ToTokens;
use syn::{BinOp, Expr, UnOp};
use vyre_core::vir0::module::{FixpointId, Mode, Program, Resource, Role};

/// A wave or a condition that uses a field.
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
        if let Some(scope) = field.entered {
            let anew = Entered {
                graph,
                uses,
                field,
                scope,
            };
            anew.resolve(slot, program, report);
        }
        let Some(at) = field.reset else { continue };
        let resources = resources(slot);
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
        reset(program, &resources, Some(owner));
    }
}

/// What a field is that may begin anew.
fn resources(slot: Slot) -> Vec<Resource> {
    match slot {
        Slot::Queue(q) => vec![q.into()],
        Slot::Relation(list, table) => vec![list.into(), Resource::Buffer(table)],
        slot => slot.buffers().map(Resource::Buffer).collect(),
    }
}

fn reset(program: &mut Program, resources: &[Resource], owner: Option<FixpointId>) {
    for resource in resources {
        match resource {
            Resource::Buffer(b) => program.buffers[b.index()].reset = owner,
            Resource::Queue(q) => program.queue_mut(*q).expect("it exists").reset = owner,
            Resource::Topology(_) | Resource::Reduction(_) => {}
        }
    }
}

/// A field that begins anew with each round of the fixpoint in which its graph is included.
struct Entered<'a> {
    graph: &'a Graph,
    uses: &'a Uses,
    field: &'a Field,
    scope: usize,
}

impl Entered<'_> {
    fn resolve(&self, slot: Slot, program: &mut Program, report: &mut Report) {
        let resources = resources(slot);
        let is = |u: &&Use| resources.contains(&u.access.resource);
        let waves = self.uses.waves.iter();
        let all = waves.chain(&self.uses.scopes).flatten().filter(is);
        // What nobody changes stays as it began.
        if all
            .clone()
            .all(|u| u.access.mode == Mode::Read && slot.buffers().next().is_some())
        {
            return;
        }
        let errors = report.len();
        self.used_outside(&resources, report);
        self.swapped(report);
        if report.len() > errors {
            return;
        }
        reset(program, &resources, fixpoint_of(self.scope));
    }

    /// Whether a scope is in the fixpoint, or is it.
    fn contains(&self, scope: usize) -> bool {
        common_scope(self.graph, scope, self.scope) == self.scope
    }

    fn used_outside(&self, resources: &[Resource], report: &mut Report) {
        let around = &self.graph.scopes[self.scope].name;
        let output = match &self.field.kind {
            FieldKind::Column { role, .. } => *role == Role::Output,
            _ => false,
        };
        // Of frontiers that flip and of reductions, their owners decide who may ask.
        let list = matches!(
            self.field.kind,
            FieldKind::List { .. } | FieldKind::Frontier { list: true, .. }
        );
        for (s, uses) in self.uses.scopes.iter().enumerate().filter(|_| list) {
            let asked = |u: &&Use| u.via == Via::Until && resources.contains(&u.access.resource);
            if let Some(asked) = uses.iter().find(asked).filter(|_| !self.contains(s)) {
                report.error_help(
                    asked.span,
                    format!(
                        "`until` of `{}` asks for `{}`, which begins anew with each round of `{around}`",
                        self.graph.scopes[s].name, self.field.name
                    ),
                    format!("ask for it in `{around}` or in a fixpoint inside"),
                );
            }
        }
        for (wave, uses) in self.graph.waves.iter().zip(&self.uses.waves) {
            let found = uses.iter().find(|u| {
                resources.contains(&u.access.resource) && !(output && u.access.mode == Mode::Read)
            });
            let Some(found) = found.filter(|_| !self.contains(wave.scope)) else {
                continue;
            };
            let name = &self.field.name;
            let (does, help) = match output {
                true => (
                    "changes",
                    format!(
                        "what `{}` changes is lost when a round begins: let it only read `{name}`, after `{around}`",
                        wave.name()
                    ),
                ),
                false => (
                    "uses",
                    format!(
                        "only outputs of the last round are read outside: keep what is to outlive a round in a field of this graph, in a wave of `{around}`"
                    ),
                ),
            };
            report.error_help(
                found.span,
                format!(
                    "`{}` {does} `{name}` outside of fixpoint `{around}`, with whose rounds it begins anew",
                    wave.name(),
                ),
                help,
            );
        }
    }

    /// Two buffers that trade places begin anew together and alike, because their memory is filled, wherever each is.
    fn swapped(&self, report: &mut Report) {
        let name = &self.field.name;
        let around = &self.graph.scopes[self.scope].name;
        let alias = self.field.origin.map(|o| &self.graph.included[o].name);
        let at = alias.map_or_else(|| name.span(), |alias| alias.span());
        let init = |field: &Field| match &field.kind {
            FieldKind::Column { init, .. } => {
                init.as_ref().map(|e| e.to_token_stream().to_string())
            }
            _ => None,
        };
        for (s, scope) in self.graph.scopes.iter().enumerate() {
            let swaps = scope.fixpoint.iter().flat_map(|f| &f.swaps);
            for (a, b) in swaps.filter(|(a, b)| a == name || b == name) {
                let other = if a == name { b } else { a };
                if s == self.scope || !self.contains(s) {
                    report.error_help(
                        if a == name { a.span() } else { b.span() },
                        format!("`{name}` begins anew with each round of `{around}`, so that what a swap brings into it would be lost"),
                        "let a wave copy what is to be kept",
                    );
                    continue;
                }
                let partner = self.graph.fields.iter().find(|f| f.name == *other);
                let Some(partner) = partner else { continue };
                if partner.entered != Some(self.scope) {
                    report.error_help(
                        at,
                        format!("`{}` swaps `{name}`, which begins anew with each round of `{around}`, and `{other}`, which does not", scope.shown()),
                        "share both buffers, or neither",
                    );
                } else if name < other && init(self.field) != init(partner) {
                    report.error_help(
                        at,
                        format!("`{}` swaps `{name}` and `{other}`, which begin with different values: such buffers cannot begin anew with each round of `{around}` yet", scope.shown()),
                        "give both one `init` there, and let a wave store the other value",
                    );
                }
            }
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
    let scopes = graph.scopes.iter().zip(&uses.scopes).enumerate();
    let conditions =
        scopes.map(|(s, (scope, uses))| (s, format!("`until` of `{}`", scope.name), uses));
    let using = waves.chain(conditions).filter_map(|(scope, name, uses)| {
        let found = uses
            .iter()
            .find(|u| resources.contains(&u.access.resource) && u.via != Via::Swap)?;
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

/// Whether conditions wait for a list to be empty that never is again, which is said. A list keeps what it holds until a
/// round begins it anew: with something in it, a fixpoint does not end that asks for `is_empty()` and is not its owner.
pub(super) fn never_empty(
    graph: &Graph,
    fields: &Fields<'_>,
    (program, uses): (&Program, &Uses),
    report: &mut Report,
) -> bool {
    let errors = report.len();
    for (s, scope) in graph.scopes.iter().enumerate().skip(1) {
        let until = scope.fixpoint.as_ref().and_then(|f| f.until.as_ref());
        // What is included has been looked at where it is written.
        let Some(until) = until.filter(|_| scope.origin.is_none()) else {
            continue;
        };
        let kept = |list: &Ident| kept(fields, program, s, list);
        let pushes = |resource: Resource, inside: bool| {
            let mut waves = graph.waves.iter().zip(&uses.waves);
            let pushes = |u: &Use| u.access.resource == resource && u.access.mode != Mode::Read;
            waves.find(|(wave, uses)| {
                (!inside || common_scope(graph, wave.scope, s) == s) && uses.iter().any(pushes)
            })
        };
        let filled = |list: &Ident| kept(list).is_some_and(|(of, _)| pushes(of, false).is_some());
        let Some(list) = empty_where(until, true, &filled) else {
            continue;
        };
        let Some((resource, owner)) = kept(list) else {
            continue;
        };
        let this = &scope.name;
        let is_set = matches!(fields.slot(list), Some(Slot::Relation(..)));
        let (kind, pushes_it, pushed) = match is_set {
            true => ("relation", "inserts", "inserted"),
            false => ("list", "pushes", "pushed"),
        };
        let (message, help) = match pushes(resource, true) {
            Some((wave, _)) => {
                let wave = wave.shown();
                let (long, help) = match owner {
                    Some(owner) => {
                        let around = &graph.scopes[owner.index() + 1].name;
                        (
                            format!(" until the next round of `{around}`"),
                            format!(
                                "ask for a `#[frontier]`, or for a list with `reset = round` that only `{this}` uses; or compare the length, such as `{list}.len() >= 100`"
                            ),
                        )
                    }
                    None if is_set => (
                        String::new(),
                        format!("ask whether a round has found nothing new: `{list}.settled()`"),
                    ),
                    None => (
                        String::new(),
                        format!(
                            "if it is what the next round visits, make it a `#[frontier]`; if it is what this round has pushed, and only `{this}` uses it, add `reset = round`; or compare the length, such as `{list}.len() >= 100`"
                        ),
                    ),
                };
                (
                    format!(
                        "{kind} `{list}` keeps what `{wave}` {pushes_it}{long}: `{this}` never ends once something was {pushed}"
                    ),
                    help,
                )
            }
            None => (
                format!(
                    "no wave of `{this}` changes {kind} `{list}`: `{this}` never ends if something is in it"
                ),
                format!(
                    "ask for what the rounds change, such as a `#[frontier]` that a wave of `{this}` sweeps"
                ),
            ),
        };
        report.error_help(list.span(), message, help);
    }
    report.len() > errors
}

/// The list of this name, unless each round of this fixpoint empties it; and whose rounds do.
fn kept(
    fields: &Fields<'_>,
    program: &Program,
    scope: usize,
    list: &Ident,
) -> Option<(Resource, Option<FixpointId>)> {
    let q = fields.slot(list)?.queue()?;
    let owner = program.queue(q).filter(|queue| queue.stays)?.reset;
    (owner != fixpoint_of(scope)).then_some((q.into(), owner))
}

/// A list of which the expression asks `is_empty()`, and which is empty wherever the expression is `value`. Of several
/// of which one is, the first.
fn empty_where<'e>(
    e: &'e Expr,
    value: bool,
    is_list: &impl Fn(&Ident) -> bool,
) -> Option<&'e Ident> {
    match e {
        Expr::Paren(p) => empty_where(&p.expr, value, is_list),
        Expr::Group(g) => empty_where(&g.expr, value, is_list),
        Expr::Unary(u) if matches!(u.op, UnOp::Not(_)) => empty_where(&u.expr, !value, is_list),
        Expr::Binary(b) => {
            let both = match b.op {
                BinOp::And(_) | BinOp::BitAnd(_) => value,
                BinOp::Or(_) | BinOp::BitOr(_) => !value,
                _ => return None,
            };
            let left = empty_where(&b.left, value, is_list);
            let right = empty_where(&b.right, value, is_list);
            match both {
                true => left.or(right),
                false => right.and(left),
            }
        }
        Expr::MethodCall(m) if value && m.method == "is_empty" && m.args.is_empty() => {
            ident_of(&m.receiver).filter(|list| is_list(list))
        }
        _ => None,
    }
}
