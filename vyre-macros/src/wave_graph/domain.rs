//! What a wave sweeps, as `#[wave(..)]` says it: its syntax, and what the stages know about it before names are resolved.
//! What a domain becomes, and what is known about it then, is [`Domain`](vyre_core::vir0::module::Domain)'s.

use crate::args::{
    Arg, Form, ident_of, is_keyword, keyword_as_name, parse_args, parse_named, some_names,
};
use crate::report::Report;
use proc_macro2::Span;
use quote::ToTokens;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Expr, Ident, Member, Token};
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
    /// The pairs of a join of two relations; it is written out as waves over one of them.
    Pairs(Box<PairArgs>),
}

/// `pairs(left.x = right.y, .., last)`.
pub(crate) struct PairArgs {
    pub(crate) left: Ident,
    pub(crate) right: Ident,
    /// Columns that are equal, of the left relation and of the right one.
    pub(crate) on: Vec<(Member, Member)>,
    /// Only pairs with a tuple that the round before found.
    pub(crate) last: bool,
}

/// What the stages know about a domain before its names are resolved.
impl DomainArgs {
    /// The words of all of them.
    pub(crate) const WORDS: [&str; 6] = ["once", "range", "nodes", "items", "edges", "pairs"];

    /// What a wave sweeps, for who wrote something else.
    pub(crate) const ALL: &str = "`once`, `range(n)`, `range(w, h)`, `nodes`, `items(frontier)`, `edges(graph)`, `edges(graph, from = frontier)` or `pairs(a.x = b.y)`";

    /// The type of an item, where the program does not say it; `once` has none.
    pub(crate) fn item_type(&self) -> Option<&'static str> {
        match self {
            DomainArgs::Once => None,
            DomainArgs::Range(_) => Some("Index"),
            DomainArgs::Grid(_) => Some("Cell"),
            DomainArgs::Nodes(_) | DomainArgs::Items { .. } => Some("Node"),
            DomainArgs::Edges { .. } => Some("Edge"),
            DomainArgs::Pairs(_) => None,
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
            DomainArgs::Pairs(args) => (Some(&args.left), Some(&args.right)),
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
            DomainArgs::Pairs(args) => DomainArgs::Pairs(Box::new(PairArgs {
                left: name(&args.left),
                right: name(&args.right),
                ..*args
            })),
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
            DomainArgs::Pairs(_) => "pairs",
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
            "pairs" => {
                let (at, inner) = arg.list(PAIRS, report)?;
                let parse = |tokens| Punctuated::<Expr, Token![,]>::parse_terminated.parse2(tokens);
                let parts = parse_named(inner, parse, report).ok()?;
                match PairArgs::of(&parts.into_iter().collect::<Vec<_>>()) {
                    Ok(pairs) => Some(DomainArgs::Pairs(Box::new(pairs))),
                    Err(wrong) => {
                        let (at, message) =
                            wrong.unwrap_or_else(|| (at, "`pairs` joins two relations".to_owned()));
                        report.error_help(
                            at,
                            message,
                            format!(
                                "write `{PAIRS}`: the first relation on the left of each `=`, the second one on the \
                                 right; with `last` behind them, only the pairs with a tuple that the round before found"
                            ),
                        );
                        None
                    }
                }
            }
            word => unreachable!("`{word}` is none of `DomainArgs::WORDS`"),
        }
    }
}

/// How a join is written.
const PAIRS: &str = "pairs(first.column = second.column, last)";

impl PairArgs {
    /// What stands in `pairs(..)`; or where it is wrong and what is, if it has anything.
    fn of(parts: &[Expr]) -> Result<PairArgs, Option<(Span, String)>> {
        fn column(e: &Expr) -> Result<(Ident, Member), Option<(Span, String)>> {
            let wrong = || {
                let shown = e.to_token_stream();
                (e.span(), format!("`{shown}` is not a column of a relation"))
            };
            match e {
                Expr::Field(f) => match ident_of(&f.base) {
                    Some(relation) => Ok((relation.clone(), f.member.clone())),
                    None => Err(Some(wrong())),
                },
                _ => Err(Some(wrong())),
            }
        }
        let (last, equal) = match parts.split_last() {
            Some((end, equal)) if ident_of(end).is_some_and(|word| word == "last") => (true, equal),
            _ => (false, parts),
        };
        let mut on = Vec::new();
        let mut sides: Option<(Ident, Ident)> = None;
        for part in equal {
            let Expr::Assign(part) = part else {
                let shown = part.to_token_stream();
                let message = match part {
                    Expr::Binary(_) => format!("`{shown}` is not an `=` between two columns"),
                    _ => format!("`{shown}` is neither `last` nor an `=` between two columns"),
                };
                return Err(Some((part.span(), message)));
            };
            let ((left, x), (right, y)) = (column(&part.left)?, column(&part.right)?);
            let (first, second) = sides.get_or_insert((left.clone(), right.clone()));
            for (here, before) in [(&left, first), (&right, second)] {
                if here != before {
                    let message = format!(
                        "`{here}` stands where `{before}` did: a join is of two relations, in one order"
                    );
                    return Err(Some((here.span(), message)));
                }
            }
            on.push((x, y));
        }
        let (left, right) = sides.ok_or(None)?;
        Ok(PairArgs {
            left,
            right,
            on,
            last,
        })
    }
}
