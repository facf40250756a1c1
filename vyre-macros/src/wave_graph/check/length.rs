//! Lengths: what stands after `per =` and `capacity =`, and in `range(..)`.

use super::*;
use syn::BinOp;
use vyre_core::vir0::length::{LengthOp, MAX_TERMS, Term};

/// A length with constants compared by spelling: one constant has one id a module. Those of an included graph are
/// spelled with its name before them. Two are the same if they are the same polynomial.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Length {
    Fixed(u64),
    Scalar(ScalarId),
    Constant(String),
    Nodes,
    Edges(TopologyId),
    /// A polynomial of these.
    Sum(Vec<Product>),
    /// A quotient or a remainder, or what has too many terms.
    Computed(LengthOp, Box<[Length; 2]>),
    /// Rows of this many bits, one for each node.
    NodeBits(Box<Length>),
    /// One more than there are parts of a graph.
    Bounds(PartsId),
    /// Already reported.
    Broken,
}

/// Values that are multiplied, in order, and how often that is taken.
pub(crate) type Product = (Vec<Length>, i128);

/// Most terms of a polynomial.
const MAX_PRODUCTS: usize = 128;

/// What stands for a length that was reported.
pub(super) const BROKEN: (Length, Extent) = (Length::Broken, Extent::Fixed(0));

impl Length {
    /// The length of a buffer with a row of `row` elements for each of these.
    pub(super) fn times(&self, row: &Length) -> Length {
        Length::of(LengthOp::Mul, self.clone(), row.clone())
    }

    fn products(&self) -> Vec<Product> {
        match self {
            Length::Fixed(n) => vec![(Vec::new(), (*n).into())],
            Length::Sum(products) => products.clone(),
            value => vec![(vec![value.clone()], 1)],
        }
    }

    /// Two lengths with a sign between them, in the form that all have which are the same.
    pub(crate) fn of(op: LengthOp, a: Length, b: Length) -> Length {
        Length::polynomial(op, &a, &b).unwrap_or_else(|| Length::Computed(op, Box::new([a, b])))
    }

    fn polynomial(op: LengthOp, a: &Length, b: &Length) -> Option<Length> {
        let (a, b) = (a.products(), b.products());
        let number = |p: &[Product]| match p {
            [] => Some(0),
            [(values, n)] if values.is_empty() => Some(*n),
            _ => None,
        };
        let mut all: std::collections::BTreeMap<Vec<Length>, i128> = Default::default();
        let mut add = |values: Vec<Length>, n: i128| {
            let sum = all.entry(values).or_default();
            *sum = sum.checked_add(n)?;
            (all.len() <= MAX_PRODUCTS).then_some(())
        };
        match op {
            LengthOp::Add | LengthOp::Sub => {
                a.into_iter().try_for_each(|(values, n)| add(values, n))?;
                let sign = if op == LengthOp::Sub { -1 } else { 1 };
                b.into_iter()
                    .try_for_each(|(values, n)| add(values, n.checked_mul(sign)?))?;
            }
            LengthOp::Mul => {
                for (left, n) in &a {
                    for (right, m) in &b {
                        let mut values = [&left[..], &right[..]].concat();
                        values.sort();
                        add(values, n.checked_mul(*m)?)?;
                    }
                }
            }
            LengthOp::Div | LengthOp::Rem | LengthOp::DivCeil => {
                add(Vec::new(), op.apply(number(&a)?, number(&b)?).ok()?)?;
            }
        }
        all.retain(|_, n| *n != 0);
        let mut products: Vec<Product> = all.into_iter().collect();
        let fixed = number(&products).map(u64::try_from);
        Some(match (fixed, &mut products[..]) {
            (Some(Ok(n)), _) => Length::Fixed(n),
            (None, [(values, 1)]) if values.len() == 1 => values.remove(0),
            _ => Length::Sum(products),
        })
    }

    /// Whether it holds for one of the values in it.
    fn any(&self, f: &impl Fn(&Length) -> bool) -> bool {
        match self {
            Length::Sum(products) => products.iter().any(|(v, _)| v.iter().any(|l| l.any(f))),
            Length::Computed(_, parts) => parts.iter().any(|part| part.any(f)),
            Length::NodeBits(width) => width.any(f),
            value => f(value),
        }
    }

    /// Whether rustc knows it: a number, or what is computed from constants.
    fn is_constant(&self) -> bool {
        !self.any(&|l| !matches!(l, Length::Fixed(_) | Length::Constant(_)))
    }

    /// Whether it differs between runs of a session, of which these scalars are.
    pub(super) fn is_of_run(&self, of_session: impl Fn(ScalarId) -> bool) -> bool {
        self.any(&|l| matches!(l, Length::Scalar(s) if !of_session(*s)))
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
            Tree::Op(op, parts) => Length::of(*op, parts[0].length(), parts[1].length()),
        }
    }

    /// Appends the terms.
    fn terms(&self, tables: &mut Tables, terms: &mut Vec<Term>) {
        match self {
            Tree::Value(length, e) => terms.push(Term::Value(extent(length, e, tables))),
            Tree::Op(op, parts) => {
                parts.iter().for_each(|part| part.terms(tables, terms));
                terms.push(Term::Op(*op));
            }
        }
    }

    /// What says a value of it.
    fn said(&self, value: &Length) -> Option<&Expr> {
        match self {
            Tree::Value(length, e) => (length == value).then_some(*e),
            Tree::Op(_, parts) => parts.iter().find_map(|part| part.said(value)),
        }
    }
}

/// What a length becomes that is not computed.
fn extent(length: &Length, e: &Expr, tables: &mut Tables) -> Extent {
    match length {
        Length::Fixed(n) => Extent::Fixed(*n),
        Length::Scalar(s) => Extent::Scalar(*s),
        Length::Nodes => Extent::Nodes,
        Length::Edges(t) => Extent::Edges(*t),
        length if length.is_constant() => {
            let id = tables.constant(e.to_token_stream(), Scalar::U32);
            Extent::Constant(tables.alike(format!("{length:?}"), id))
        }
        Length::Sum(_)
        | Length::Computed(..)
        | Length::Constant(_)
        | Length::NodeBits(_)
        | Length::Bounds(_)
        | Length::Broken => BROKEN.1,
    }
}

/// One more than a length.
pub(super) fn and_one(of: (&Length, Extent), tables: &mut Tables) -> Extent {
    with(LengthOp::Add, of, 1, tables).1
}

/// Cells of the table of a relation that has room for so many tuples.
pub(super) fn cells(capacity: (&Length, Extent), tables: &mut Tables) -> (Length, Extent) {
    // Two thirds of them are taken, at most.
    let (length, extent) = with(LengthOp::Mul, capacity, 3, tables);
    let (length, extent) = with(LengthOp::Div, (&length, extent), 2, tables);
    let beside = Table::SPARE + Table::BESIDE;
    with(LengthOp::Add, (&length, extent), beside, tables)
}

/// Cells of an index of a relation that has room for so many tuples.
pub(super) fn index_cells(capacity: (&Length, Extent), tables: &mut Tables) -> (Length, Extent) {
    let (length, extent) = with(LengthOp::Div, capacity, 2, tables);
    let (length, extent) = with(LengthOp::Add, (&length, extent), Index::SPARE, tables);
    with(LengthOp::Mul, (&length, extent), Index::UNITS, tables)
}

/// So many times a length.
pub(super) fn times(of: (&Length, Extent), n: u32, tables: &mut Tables) -> (Length, Extent) {
    match n {
        1 => (of.0.clone(), of.1),
        n => with(LengthOp::Mul, of, n, tables),
    }
}

/// A length, computed with a number.
fn with(
    op: LengthOp,
    (length, extent): (&Length, Extent),
    n: u32,
    tables: &mut Tables,
) -> (Length, Extent) {
    if *length == Length::Broken {
        return BROKEN;
    }
    let whole = Length::of(op, length.clone(), Length::Fixed(n.into()));
    let mut terms = match extent {
        Extent::Computed(id) => tables.lengths()[id.index()].terms.clone(),
        value => vec![Term::Value(value)],
    };
    terms.extend([Term::Value(Extent::Fixed(n.into())), Term::Op(op)]);
    let extent = match &whole {
        Length::Fixed(n) => Extent::Fixed(*n),
        whole => Extent::Computed(tables.length(format!("{whole:?}"), terms)),
    };
    (whole, extent)
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

/// The operation of an expression, with what it computes with: `a + b`, `a.div_ceil(b)`.
pub(crate) fn operands(e: &Expr) -> Option<(LengthOp, &Expr, &Expr)> {
    match e {
        Expr::Binary(binary) => Some((length_op(&binary.op)?, &binary.left, &binary.right)),
        Expr::MethodCall(call) if call.method == "div_ceil" && call.args.len() == 1 => {
            Some((LengthOp::DivCeil, &call.receiver, &call.args[0]))
        }
        _ => None,
    }
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
pub(crate) fn row_factor(e: &Expr) -> &Expr {
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
                    ref width_of if width_of.is_constant() => {
                        Width::Constant(tables.constant(width.to_token_stream(), Scalar::U32))
                    }
                    _ => Width::Fixed(0),
                };
                Some((Length::NodeBits(Box::new(bits)), Extent::NodeBits(extent)))
            }
            Per::Rows(_) => None,
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
        if let Length::Sum(products) = &length
            && let [(values, n)] = &products[..]
            && values.is_empty()
        {
            self.no_number(*n, e, report);
            return None;
        }
        if let Length::Fixed(n) = length
            && n > u32::MAX.into()
        {
            self.no_number(n.into(), e, report);
            return None;
        }
        let extent = match (&tree, &length) {
            (Tree::Value(length, e), _) => extent(length, e, tables),
            // `node * 1` is `node`.
            (
                tree,
                Length::Fixed(_)
                | Length::Nodes
                | Length::Edges(_)
                | Length::Scalar(_)
                | Length::Constant(_),
            ) => extent(&length, tree.said(&length).unwrap_or(e), tables),
            (tree @ Tree::Op(..), length) => {
                let mut terms = Vec::new();
                tree.terms(tables, &mut terms);
                if terms.len() > MAX_TERMS {
                    report.error_all(
                        e,
                        format!("a length has at most {} values", MAX_TERMS / 2),
                        "let the host compute a part of it, and give it as a u32 scalar of `Data`",
                    );
                    return None;
                }
                Extent::Computed(tables.length(format!("{length:?}"), terms))
            }
        };
        Some((length, extent))
    }

    /// A length of numbers alone that is none.
    fn no_number(&self, n: i128, e: &Expr, report: &mut Report) {
        report.error_all(
            e,
            format!(
                "`{}` is {n}, and a length is between 0 and {}",
                source_text(e),
                u32::MAX
            ),
            "steps may be outside of that, but not the end",
        );
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
            Length::Broken => None,
            length if length.is_constant() => Some(length),
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

    /// A side of a grid, whose value each of its cells has.
    pub(super) fn side(
        &self,
        e: &Expr,
        at: (Option<usize>, usize),
        tables: &mut Tables,
        report: &mut Report,
    ) -> Option<Width> {
        match self.tree(e, at, report)?.length() {
            Length::Fixed(n) => u32::try_from(n).map(Width::Fixed).ok(),
            Length::Scalar(s) => Some(Width::Scalar(s)),
            Length::Broken => None,
            length if length.is_constant() => {
                let value = without_brackets(e).to_token_stream();
                Some(Width::Constant(tables.constant(value, Scalar::U32)))
            }
            _ => {
                report.error_all(
                    e,
                    format!("`{}` is computed, and a side of a grid is not", source_text(e)),
                    "write a literal, a u32 scalar of `Data` or a u32 constant; or sweep `range(n)`, and work out the places of index `i` as `i % w` and `i / w`",
                );
                None
            }
        }
    }

    fn tree<'e>(
        &self,
        e: &'e Expr,
        at: (Option<usize>, usize),
        report: &mut Report,
    ) -> Option<Tree<'e>> {
        let e = without_brackets(e);
        if let Some((op, left, right)) = operands(e) {
            let left = self.tree(left, at, report);
            let right = self.tree(right, at, report);
            return self.operation(op, [left?, right?], e, report);
        }
        self.value(e, at, report)
            .map(|length| Tree::Value(length, e))
    }

    /// Two lengths with a sign between them: what rustc computes, or what each run does.
    fn operation<'e>(
        &self,
        op: LengthOp,
        parts: [Tree<'e>; 2],
        e: &'e Expr,
        report: &mut Report,
    ) -> Option<Tree<'e>> {
        // What is not known yet is not divided by 0.
        let divides = matches!(op, LengthOp::Div | LengthOp::Rem | LengthOp::DivCeil);
        if divides && parts[1].length() == Length::Fixed(0) {
            let whole = source_text(e);
            report.error_all(
                e,
                format!("`{whole}` divides by zero"),
                "a length is a number",
            );
            return None;
        }
        let constant =
            |part: &Tree<'_>| matches!(part, Tree::Value(length, _) if length.is_constant());
        let length = Length::of(op, parts[0].length(), parts[1].length());
        let named = |part: &Tree<'_>| part.length().any(&|l| matches!(l, Length::Constant(_)));
        Some(match &length {
            Length::Fixed(_) if parts.iter().all(constant) => Tree::Value(length, e),
            // rustc computes what has constants in it, and checks each step.
            _ if parts.iter().all(constant) && parts.iter().any(named) => Tree::Value(length, e),
            _ => Tree::Op(op, Box::new(parts)),
        })
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
        if let Expr::Call(call) = e
            && ident_of(&call.func).is_some_and(|f| f == "row")
            && let (1, Some(rows)) = (call.args.len(), call.args.first().and_then(ident_of))
        {
            let rows = here(rows).unwrap_or_else(|| rows.clone());
            return match self.find(&rows, report)? {
                (_, Slot::RowsOf { count, .. }) => Some(Length::Scalar(count)),
                (_, Slot::Broken) => None,
                (field, _) => {
                    report.error_help(
                        rows.span(),
                        format!("`{rows}` is {}, and has no rows", describe(&field.kind)),
                        format!("rows are given with the session: `#[topology(per = node)] {rows}: Rows<u32>`"),
                    );
                    None
                }
            };
        }
        if let Some(word) = ident_of(e) {
            let name = here(word);
            let field = name.as_ref().and_then(|name| self.get(name));
            match field {
                Some((field, Slot::Scalar(id))) => {
                    if let FieldKind::Scalar(scalar, _) = field.kind
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
                    "write `node`, `edge(graph)`, a literal, a u32 scalar of `Data` or a u32 constant, with `+`, `-`, `*`, `/`, `%`, `.div_ceil(..)` and brackets",
                );
                None
            }
        }
    }
}
