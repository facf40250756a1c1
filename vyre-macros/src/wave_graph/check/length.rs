//! Lengths: what stands after `per =` and `capacity =`, and in `range(..)`.

use super::*;
use syn::BinOp;
use vyre_core::vir0::length::{LengthOp, MAX_TERMS, Term};

/// A length with constants compared by spelling: one constant has one id a module. Those of an included graph are
/// spelled with its name before them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Length {
    Fixed(u64),
    Scalar(ScalarId),
    Constant(String),
    Nodes,
    Edges(TopologyId),
    /// Two operands, in one order where it does not matter.
    Computed(LengthOp, Box<[Length; 2]>),
    /// Rows of this many bits, one for each node.
    NodeBits(Box<Length>),
    /// One more than there are parts of a graph.
    Bounds(PartsId),
    /// Already reported.
    Broken,
}

/// What stands for a length that was reported.
pub(super) const BROKEN: (Length, Extent) = (Length::Broken, Extent::Fixed(0));

impl Length {
    /// The length of a buffer with a row of `row` elements for each of these.
    pub(super) fn times(&self, row: &Length) -> Length {
        if let (Length::Fixed(a), Length::Fixed(b)) = (self, row)
            && let Ok(n) = LengthOp::Mul.apply(*a, *b)
        {
            return Length::Fixed(n);
        }
        let mut parts = [self.clone(), row.clone()];
        parts.sort();
        Length::Computed(LengthOp::Mul, Box::new(parts))
    }

    /// Whether it differs between runs of a session.
    pub(super) fn is_of_run(&self) -> bool {
        match self {
            Length::Scalar(_) => true,
            Length::Computed(_, parts) => parts.iter().any(Length::is_of_run),
            Length::NodeBits(width) => width.is_of_run(),
            Length::Fixed(_)
            | Length::Constant(_)
            | Length::Nodes
            | Length::Edges(_)
            | Length::Bounds(_)
            | Length::Broken => false,
        }
    }
}

/// A length as it is written, with its names resolved.
enum Tree<'e> {
    /// One value, and what says it.
    Value(Length, &'e Expr),
    /// Two of them.
    Op(LengthOp, Box<[Tree<'e>; 2]>),
}

impl Tree<'_> {
    fn length(&self) -> Length {
        match self {
            Tree::Value(length, _) => length.clone(),
            Tree::Op(op, parts) => {
                let mut parts = [parts[0].length(), parts[1].length()];
                if op.is_commutative() {
                    parts.sort();
                }
                Length::Computed(*op, Box::new(parts))
            }
        }
    }

    /// Appends the terms, and gives a key that is the same for operands in either order where it does not matter.
    fn terms(&self, tables: &mut Tables, terms: &mut Vec<Term>) -> String {
        match self {
            Tree::Value(length, e) => {
                let extent = extent(length, e, tables);
                terms.push(Term::Value(extent));
                format!("{extent:?}")
            }
            Tree::Op(op, parts) => {
                let mut keys = [parts[0].terms(tables, terms), parts[1].terms(tables, terms)];
                terms.push(Term::Op(*op));
                if op.is_commutative() {
                    keys.sort();
                }
                format!("({op:?} {} {})", keys[0], keys[1])
            }
        }
    }
}

/// What a length becomes that is not computed.
fn extent(length: &Length, e: &Expr, tables: &mut Tables) -> Extent {
    match length {
        Length::Fixed(n) => Extent::Fixed(*n),
        Length::Scalar(s) => Extent::Scalar(*s),
        Length::Constant(_) => Extent::Constant(tables.constant(e.to_token_stream(), Scalar::U32)),
        Length::Nodes => Extent::Nodes,
        Length::Edges(t) => Extent::Edges(*t),
        Length::Computed(..) | Length::NodeBits(_) | Length::Bounds(_) | Length::Broken => BROKEN.1,
    }
}

/// The operation that a length may be computed with.
pub(crate) fn length_op(op: &BinOp) -> Option<LengthOp> {
    Some(match op {
        BinOp::Add(_) => LengthOp::Add,
        BinOp::Sub(_) => LengthOp::Sub,
        BinOp::Mul(_) => LengthOp::Mul,
        BinOp::Div(_) => LengthOp::Div,
        BinOp::Rem(_) => LengthOp::Rem,
        _ => return None,
    })
}

/// An expression without brackets around it.
pub(crate) fn without_brackets(e: &Expr) -> &Expr {
    match e {
        Expr::Paren(e) => without_brackets(&e.expr),
        Expr::Group(e) => without_brackets(&e.expr),
        e => e,
    }
}

/// What is before `as usize` in the length of a row: the lengths of buffers are u32.
pub(super) fn row_factor(e: &Expr) -> &Expr {
    match without_brackets(e) {
        Expr::Cast(cast) => row_factor(&cast.expr),
        e => e,
    }
}

impl Fields<'_> {
    /// A size after `key =`, in the graph or in one that it includes.
    pub(super) fn size(
        &self,
        key: &str,
        per: &Per,
        origin: Option<usize>,
        tables: &mut Tables,
        report: &mut Report,
    ) -> Option<(Length, Extent)> {
        match per {
            Per::Node => {
                self.node_set(Span::call_site(), report);
                Some((Length::Nodes, Extent::Nodes))
            }
            Per::Edge(graph) => {
                let graph = self.topology(graph, report)?;
                Some((Length::Edges(graph), Extent::Edges(graph)))
            }
            Per::Len(e) => {
                let edge = |graph: &str| format!("{key} = edge({graph})");
                let near = match origin {
                    None => self.near_size(e, &format!("{key} = node"), edge),
                    Some(_) => None,
                };
                if let Some(advice) = near {
                    report.error_help(e.span(), format!("`{}` is not a size", show(e)), advice);
                    return None;
                }
                self.len(e, (origin, 0), tables, report)
            }
            Per::NodeBits(width) => {
                self.node_set(Span::call_site(), report);
                // Rows of a width that is wrong are rows.
                let bits = self.width(width, origin, report).unwrap_or(Length::Broken);
                let extent = match bits {
                    Length::Fixed(n) => Width::Fixed(u32::try_from(n).expect("a length is a u32")),
                    Length::Scalar(s) => Width::Scalar(s),
                    Length::Constant(_) => {
                        Width::Constant(tables.constant(width.to_token_stream(), Scalar::U32))
                    }
                    _ => Width::Fixed(0),
                };
                Some((Length::NodeBits(Box::new(bits)), Extent::NodeBits(extent)))
            }
            Per::Bounds(graph, drops) => {
                let of = self.topology(graph, report)?;
                if let Some((
                    Field {
                        kind:
                            FieldKind::Csr {
                                reverse_of: Some(given),
                            },
                        ..
                    },
                    _,
                )) = self.get(graph)
                {
                    report.error_help(
                        graph.span(),
                        format!("`{graph}` is itself a reverse"),
                        format!("write `parts_of = {given}`: its reverse has the same parts"),
                    );
                    return None;
                }
                let before = self.lengths.iter();
                let before = before.filter(|length| matches!(length, Length::Bounds(_)));
                let id = PartsId(before.count() as u16);
                Some((Length::Bounds(id), Extent::Bounds(id, of, *drops)))
            }
        }
    }

    /// `node` stands for something.
    fn node_set(&self, at: Span, report: &mut Report) {
        let has = |s: &Slot| matches!(s, Slot::Csr(_) | Slot::Broken);
        if !self.slots.iter().any(has) {
            report.error_help(
                at,
                "`per = node` needs a node set, and `Data` has no topology",
                "declare one: `#[topology] graph: Csr`",
            );
        }
    }

    /// A word that is close to one of sizes, where no field is meant: what to write instead.
    pub(super) fn near_size(
        &self,
        e: &Expr,
        node: &str,
        edge: impl Fn(&str) -> String,
    ) -> Option<String> {
        let word = ident_of(e).filter(|word| self.get(word).is_none())?;
        match word.to_string().as_str() {
            "node" | "nodes" => Some(format!("write `{node}`")),
            "edge" | "edges" => Some(format!("write `{}`", edge(&self.some_graph()))),
            _ => None,
        }
    }

    pub(super) fn some_graph(&self) -> String {
        let graph = self.iter().find(|(_, slot)| matches!(slot, Slot::Csr(_)));
        graph.map_or_else(|| "graph".to_owned(), |(field, _)| field.name.to_string())
    }

    /// Whether a name in the module of a scope can be that of a constant.
    fn is_named(&self, name: &Ident, scope: usize) -> bool {
        let around = std::iter::successors(Some(scope), |&s| self.scopes[s].parent);
        let mut chain: Vec<usize> = around.collect();
        chain.reverse();
        let names = chain.iter().map(|&s| match s {
            0 => Names::of_module(&self.scopes[s].items),
            _ => Names::of_fixpoint(&self.scopes[s].items),
        });
        let names: Vec<Names> = names.collect();
        names::is_named(&names, (names.len(), &[]), name)
    }

    /// A length in sight of a scope: a literal, a u32 scalar of `Data`, a constant, `node`, `edge(graph)`, or what is
    /// computed from these. What stands in an included graph means a field or a constant of that graph, whatever is
    /// declared here under its name.
    pub(super) fn len(
        &self,
        e: &Expr,
        at: (Option<usize>, usize),
        tables: &mut Tables,
        report: &mut Report,
    ) -> Option<(Length, Extent)> {
        let tree = self.tree(e, at, report)?;
        let length = tree.length();
        let extent = match &tree {
            Tree::Value(length, e) => extent(length, e, tables),
            Tree::Op(..) => {
                let mut terms = Vec::new();
                let key = tree.terms(tables, &mut terms);
                if terms.len() > MAX_TERMS {
                    report.error_all(
                        e,
                        format!("a length has at most {} values", MAX_TERMS / 2),
                        "let the host compute a part of it, and give it as a u32 scalar of `Data`",
                    );
                    return None;
                }
                Extent::Computed(tables.length(key, terms))
            }
        };
        Some((length, extent))
    }

    /// The elements of an item's own row, which are as many for each item in every run.
    pub(super) fn row_len(
        &self,
        e: &Expr,
        at: (Option<usize>, usize),
        report: &mut Report,
    ) -> Option<Length> {
        let e = row_factor(e);
        match self.tree(e, at, report)?.length() {
            length @ (Length::Fixed(_) | Length::Constant(_)) => Some(length),
            Length::Broken => None,
            _ => {
                report.error_all(
                    e,
                    format!(
                        "`{}` is no constant, and the length of a row is one",
                        source_text(e)
                    ),
                    "write a literal, or a u32 constant as `[T; K as usize]`",
                );
                None
            }
        }
    }

    /// The bits of a row: a length that is not computed in each run.
    fn width(&self, e: &Expr, origin: Option<usize>, report: &mut Report) -> Option<Length> {
        let length = match self.tree(e, (origin, 0), report)? {
            Tree::Value(length, _) => length,
            Tree::Op(..) => Length::Nodes,
        };
        if length == Length::Nodes || matches!(length, Length::Edges(_)) {
            report.error_all(
                e,
                "the bits of a row are one number",
                "write a literal, a u32 scalar of `Data`, or a u32 constant, which may be computed from others",
            );
            return None;
        }
        Some(length)
    }

    fn tree<'e>(
        &self,
        e: &'e Expr,
        at: (Option<usize>, usize),
        report: &mut Report,
    ) -> Option<Tree<'e>> {
        let e = without_brackets(e);
        if let Expr::Binary(binary) = e
            && let Some(op) = length_op(&binary.op)
        {
            let left = self.tree(&binary.left, at, report);
            let right = self.tree(&binary.right, at, report);
            return self.operation(op, [left?, right?], e, (at.0, report));
        }
        self.value(e, at, report)
            .map(|length| Tree::Value(length, e))
    }

    /// Two lengths with a sign between them: a number, what rustc computes, or what each run does.
    fn operation<'e>(
        &self,
        op: LengthOp,
        parts: [Tree<'e>; 2],
        e: &'e Expr,
        (origin, report): (Option<usize>, &mut Report),
    ) -> Option<Tree<'e>> {
        let number = |part: &Tree<'_>| match part {
            Tree::Value(Length::Fixed(n), _) => Some(*n),
            _ => None,
        };
        let constant = |part: &Tree<'_>| match part {
            Tree::Value(length, _) => matches!(length, Length::Fixed(_) | Length::Constant(_)),
            Tree::Op(..) => false,
        };
        let [a, b] = [number(&parts[0]), number(&parts[1])];
        // What is not known yet is not divided by 0.
        let divides = matches!(op, LengthOp::Div | LengthOp::Rem);
        let known = match (a, b) {
            (Some(a), Some(b)) => op.apply(a, b).map(Some),
            (None, Some(0)) if divides => {
                let whole = source_text(e);
                report.error_all(
                    e,
                    format!("`{whole}` divides by zero"),
                    "a length is a number",
                );
                return None;
            }
            _ => Ok(None),
        };
        match known {
            Ok(Some(n)) => Some(Tree::Value(Length::Fixed(n), e)),
            Ok(None) if parts.iter().all(constant) => {
                Some(Tree::Value(self.constant(e, origin), e))
            }
            Ok(None) => Some(Tree::Op(op, Box::new(parts))),
            Err(why) => {
                report.error_all(
                    e,
                    why,
                    "lengths are computed in u32, and every step is checked",
                );
                None
            }
        }
    }

    /// A word that is no field, and by its letters no constant.
    fn unknown_length(&self, word: &Ident, report: &mut Report) {
        let scalars = self
            .iter()
            .filter(|(_, slot)| matches!(slot, Slot::Scalar(_)));
        let scalars: Vec<String> = scalars.map(|(field, _)| field.name.to_string()).collect();
        let near = did_you_mean(&word.to_string(), scalars.iter().map(String::as_str));
        report.error_help(
            word.span(),
            format!("`{word}` is not a field of `Data`"),
            match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("declare it, `{word}: u32`, and each run gives it; or name a u32 constant, in uppercase"),
            },
        );
    }

    fn constant(&self, e: &Expr, origin: Option<usize>) -> Length {
        Length::Constant(match origin {
            None => show(e),
            Some(graph) => format!("{}::{}", self.included[graph].name.unraw(), show(e)),
        })
    }

    /// One value of a length.
    fn value(
        &self,
        e: &Expr,
        (origin, scope): (Option<usize>, usize),
        report: &mut Report,
    ) -> Option<Length> {
        if let Some(digits) = int_digits(e) {
            let n: Option<u32> = digits.base10_parse().ok();
            if n.is_none() {
                report.error_help(
                    e.span(),
                    format!("{} is more than {}", digits.base10_digits(), u32::MAX),
                    "a length is a u32",
                );
            }
            return n.map(|n| Length::Fixed(n.into()));
        }
        // A field by its name here.
        let here = |name: &'_ Ident| match origin {
            None => Some(name.clone()),
            Some(graph) => self.included[graph].names.get(&name.to_string()).cloned(),
        };
        if let Expr::Call(call) = e
            && ident_of(&call.func).is_some_and(|f| f == "edge")
            && let (1, Some(graph)) = (call.args.len(), call.args.first().and_then(ident_of))
        {
            let graph = here(graph).unwrap_or_else(|| graph.clone());
            return self.topology(&graph, report).map(Length::Edges);
        }
        if let Some(word) = ident_of(e) {
            let name = here(word);
            let field = name.as_ref().and_then(|name| self.get(name));
            match field {
                Some((field, Slot::Scalar(id))) => {
                    if let FieldKind::Scalar(scalar) = field.kind
                        && scalar != Scalar::U32
                    {
                        report.error(
                            word.span(),
                            format!("a length is a u32; `{word}` is {}", scalar.name()),
                        );
                        return None;
                    }
                    return Some(Length::Scalar(id));
                }
                Some((_, Slot::Broken)) => return None,
                Some((field, _)) => {
                    self.wrong_kind(word, field, "a length", report);
                    return None;
                }
                None if word == "node" => {
                    self.node_set(word.span(), report);
                    return Some(Length::Nodes);
                }
                // By convention a constant has no lower-case letter; rustc says better what is wrong with one.
                None if origin.is_none()
                    && word.to_string().chars().any(char::is_lowercase)
                    && !self.is_named(word, scope) =>
                {
                    let edge = |graph: &str| format!("edge({graph})");
                    match self.near_size(e, "node", edge) {
                        Some(advice) => {
                            let message = format!("`{word}` is not a length");
                            report.error_help(word.span(), message, advice);
                        }
                        None => self.unknown_length(word, report),
                    }
                    return None;
                }
                None => {}
            }
        }
        match e {
            Expr::Path(p) if p.qself.is_none() => Some(self.constant(e, origin)),
            Expr::Call(call)
                if ident_of(&call.func).is_some_and(|f| f == "edges" || f == "edge") =>
            {
                let graph = call.args.first().and_then(ident_of).map(Ident::to_string);
                let graph = graph.unwrap_or_else(|| self.some_graph());
                let message = format!("`{}` is not a length", source_text(e));
                report.error_all(e, message, format!("write `edge({graph})`"));
                None
            }
            _ => {
                report.error_all(
                    e,
                    "this is not a length",
                    "write `node`, `edge(graph)`, a literal, a u32 scalar of `Data` or a u32 constant, with `+`, `-`, `*`, `/`, `%` and brackets",
                );
                None
            }
        }
    }
}
