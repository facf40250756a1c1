//! What a wave sweeps, as `#[wave(..)]` says it: its syntax, and what the stages know about it before names are resolved.
//! What a domain becomes, and what is known about it then, is [`Domain`](vyre_core::vir0::module::Domain)'s.

use crate::args::{
    Arg, Form, ident_of, is_keyword, keyword_as_name, parse_args, parse_named, some_names,
};
use crate::report::Report;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Expr, Ident, Token};
use vyre_core::vir0::module::Portion;

/// The domain of `#[wave(...)]`.
pub(crate) enum DomainArgs {
    Once,
    Range(Expr),
    /// A grid of cells: its width and its height.
    Grid(Box<[Expr; 2]>),
    Nodes(Option<Ident>),
    /// The items of a frontier, a list or a relation.
    Items {
        of: Ident,
        portion: Portion,
    },
    Edges {
        graph: Ident,
        from: Option<Ident>,
    },
}

/// What the stages know about a domain before its names are resolved.
impl DomainArgs {
    /// The words of all of them.
    pub(crate) const WORDS: [&str; 5] = ["once", "range", "nodes", "items", "edges"];

    /// What a wave sweeps, for who wrote something else.
    pub(crate) const ALL: &str = "`once`, `range(n)`, `range(w, h)`, `nodes`, `items(frontier)`, `edges(graph)` or `edges(graph, from = frontier)`";

    /// The type of an item, where the program does not say it; `once` has none.
    pub(crate) fn item_type(&self) -> Option<&'static str> {
        match self {
            DomainArgs::Once => None,
            DomainArgs::Range(_) => Some("Index"),
            DomainArgs::Grid(_) => Some("Cell"),
            DomainArgs::Nodes(_) | DomainArgs::Items { .. } => Some("Node"),
            DomainArgs::Edges { .. } => Some("Edge"),
        }
    }

    /// The fields that a sweep reads, in the order of [`Domain::reads`](vyre_core::vir0::module::Domain::reads).
    pub(crate) fn reads(&self) -> impl Iterator<Item = &Ident> {
        let (first, second) = match self {
            DomainArgs::Once
            | DomainArgs::Range(_)
            | DomainArgs::Grid(_)
            | DomainArgs::Nodes(_) => (None, None),
            DomainArgs::Items { of, portion: _ } => (Some(of), None),
            DomainArgs::Edges { graph, from } => (Some(graph), from.as_ref()),
        };
        first.into_iter().chain(second)
    }

    /// The domain of a wave of an included graph, whose fields have other names here.
    pub(crate) fn renamed(self, name: impl Fn(&Ident) -> Ident) -> DomainArgs {
        match self {
            DomainArgs::Once => DomainArgs::Once,
            // A length stays as it is written: only there is it known which names are fields.
            DomainArgs::Range(e) => DomainArgs::Range(e),
            DomainArgs::Grid(sides) => DomainArgs::Grid(sides),
            DomainArgs::Nodes(g) => DomainArgs::Nodes(g.map(|g| name(&g))),
            DomainArgs::Items { of, portion } => DomainArgs::Items {
                of: name(&of),
                portion,
            },
            DomainArgs::Edges { graph, from } => DomainArgs::Edges {
                graph: name(&graph),
                from: from.map(|f| name(&f)),
            },
        }
    }

    /// As the user writes it, for messages.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            DomainArgs::Once => "once",
            DomainArgs::Range(_) => "range",
            DomainArgs::Grid(_) => "range(w, h)",
            DomainArgs::Nodes(_) => "nodes",
            DomainArgs::Items { .. } => "items",
            DomainArgs::Edges { .. } => "edges",
        }
    }

    /// Takes an argument of `#[wave(..)]` that is one of [`DomainArgs::WORDS`] apart.
    pub(crate) fn parse(arg: Arg, report: &mut Report) -> Option<DomainArgs> {
        let word = arg.name.to_string();
        let span = arg.name.span();
        match word.as_str() {
            "once" => {
                arg.flag(report);
                Some(DomainArgs::Once)
            }
            "range" => {
                let (span, inner) = arg.list("range(n)", report)?;
                let parse = |tokens| Punctuated::<Expr, Token![,]>::parse_terminated.parse2(tokens);
                let lengths = parse_named(inner, parse, report);
                let lengths: Vec<Expr> = lengths.into_iter().flatten().collect();
                match lengths.len() {
                    1 => lengths.into_iter().next().map(DomainArgs::Range),
                    2 => Some(DomainArgs::Grid(lengths.try_into().ok()?)),
                    _ => {
                        report.error_help(
                            span,
                            "`range` takes the number of indices, or the width and the height of a grid",
                            "write `range(n)` or `range(w, h)` with u32 scalars of `Data`, constants or literals",
                        );
                        None
                    }
                }
            }
            "nodes" => match arg.form {
                Form::Flag => Some(DomainArgs::Nodes(None)),
                Form::List(at, inner) => {
                    let [graph] = some_names(at, inner, "nodes(graph)", report)?;
                    Some(DomainArgs::Nodes(Some(graph)))
                }
                Form::Value(_) => {
                    report.error(span, "write `nodes` or `nodes(graph)`");
                    None
                }
            },
            "items" => {
                let (at, inner) = arg.list("items(frontier)", report)?;
                let parse =
                    |tokens| Punctuated::<Ident, Token![,]>::parse_terminated.parse2(tokens);
                let names = parse_named(inner, parse, report)
                    .ok()
                    .map(|p| p.into_iter().collect::<Vec<_>>());
                let portion = match names.as_deref() {
                    Some([_]) => Some(Portion::All),
                    Some([_, new]) if new == "new" => Some(Portion::New),
                    Some([_, last]) if last == "last" => Some(Portion::Last),
                    _ => None,
                };
                match (portion, names.as_deref()) {
                    (Some(portion), Some([of, ..])) => Some(DomainArgs::Items {
                        of: of.clone(),
                        portion,
                    }),
                    _ => {
                        report.error(
                            at,
                            "write `items(frontier)`, `items(list)`, `items(list, new)`, `items(relation)` or `items(relation, last)`",
                        );
                        None
                    }
                }
            }
            "edges" => {
                let (at, inner) = arg.list("edges(graph)", report)?;
                let errors = report.len();
                let args = parse_args(inner, report);
                if report.len() > errors {
                    return None;
                }
                let mut graph = None;
                let mut from = None;
                for arg in args {
                    match arg.form {
                        Form::Flag if graph.is_none() => {
                            if is_keyword(&arg.name) {
                                keyword_as_name(&arg.name, report);
                                return None;
                            }
                            graph = Some(arg.name);
                        }
                        Form::Value(ref value) if arg.name == "from" => match ident_of(value) {
                            Some(f) => from = Some(f.clone()),
                            None => {
                                report.error(
                                    value.span(),
                                    "`from` is the name of a frontier or of a `unique` list",
                                );
                                return None;
                            }
                        },
                        _ => {
                            report.error_help(
                                arg.name.span(),
                                format!("`edges` has no argument `{}`", arg.name),
                                "write `edges(graph)` or `edges(graph, from = frontier)`",
                            );
                            return None;
                        }
                    }
                }
                match graph {
                    Some(graph) => Some(DomainArgs::Edges { graph, from }),
                    None => {
                        report.error_help(
                            at,
                            "`edges` takes a topology",
                            "write `edges(graph)` or `edges(graph, from = frontier)`",
                        );
                        None
                    }
                }
            }
            word => unreachable!("`{word}` is none of `DomainArgs::WORDS`"),
        }
    }
}
