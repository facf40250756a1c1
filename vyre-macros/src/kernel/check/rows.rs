//! A node's row of edges or neighbours as a value, and loops over several things at once: `enumerate`, `zip`, `rev`.

use super::*;
use crate::tokens::source_text;
use crate::turns::counts;

/// What a loop takes items from by their places, from 0 on.
struct Places {
    /// Evaluated before the loop.
    setup: Vec<Stmt>,
    /// How many: of type u64.
    count: Expr,
    /// It may be more than a u32 counts.
    wide: bool,
    item: Item,
    ty: Ty,
}

/// An item by its place.
enum Item {
    /// `start + k`, or `end - 1 - k`, of numbers.
    Number(VarId, Ty, bool),
    /// The same of a node's edges, or of their targets.
    Row(VarId, Ty, bool, Span),
    /// `array[k]`, from the last on where reversed.
    Element(VarId, Ty, u32, bool, Span),
    /// The place itself, and an item.
    Numbered(Box<Item>, Ty),
    Pair(Box<Item>, Ty, Box<Item>, Ty),
}

fn expr(kind: Kind, ty: Ty, span: Span) -> Expr {
    Expr { kind, ty, span }
}

fn boxed(kind: Kind, ty: Ty, span: Span) -> Box<Expr> {
    Box::new(expr(kind, ty, span))
}

const SIZE: Ty = Ty::Scalar(Scalar::U64);

impl Checker<'_> {
    /// `g.edges(v)`, `g.neighbors(v)` or `text.row(v)` as a value.
    pub(super) fn row(
        &mut self,
        (from, what): (Handle, RowOf),
        of: Expr,
        (site, span): (Span, Span),
    ) -> Expr {
        self.unify(&Ty::U32, &of);
        let of = Box::new(of);
        let kind = match what {
            RowOf::Values(_) => Kind::RowOf {
                rows: from,
                of,
                site,
            },
            RowOf::Edges | RowOf::Neighbors => Kind::Row {
                graph: from,
                of,
                site,
            },
        };
        expr(kind, Ty::Row(from, what), span)
    }

    pub(super) fn row_method(
        &mut self,
        m: &syn::ExprMethodCall,
        row: Expr,
        ty: Ty,
        span: Span,
    ) -> Expr {
        let (name, site) = (m.method.to_string(), m.method.span());
        if let Some(changed) = self.change_row(m, &row, span) {
            return changed;
        }
        let row = Box::new(row);
        match (name.as_str(), m.args.len()) {
            ("len", 0) => return expr(Kind::RowLen(row), Ty::U32, span),
            ("is_empty", 0) => {
                let len = boxed(Kind::RowLen(row), Ty::U32, span);
                let zero = boxed(Kind::Int(0), Ty::U32, span);
                return expr(Kind::Compare(CompareOp::Eq, len, zero), Ty::BOOL, span);
            }
            ("at", 1) => {
                let at = self.value(&m.args[0]);
                self.unify(&Ty::U32, &at);
                let item = match ty {
                    Ty::Row(_, what) => what.item(),
                    _ => Ty::Error,
                };
                return expr(Kind::RowAt(row, Box::new(at), site), item, span);
            }
            ("part", 1) => {
                let syn::Expr::Range(r) = strip(&m.args[0]) else {
                    self.value(&m.args[0]);
                    self.error(
                        first_token(&m.args[0]),
                        "`part` takes a range of places",
                        "write both ends, from 0 on: `row.part(a..b)`",
                    );
                    return self.wrong(span);
                };
                let (Some(start), Some(end), syn::RangeLimits::HalfOpen(_)) =
                    (&r.start, &r.end, &r.limits)
                else {
                    self.error(
                        first_token(&m.args[0]),
                        "`part` takes both ends of a range, without the last place",
                        "write `row.part(a..b)`; `row.len()` is the end",
                    );
                    return self.wrong(span);
                };
                let (from, to) = (self.value(start), self.value(end));
                self.unify(&Ty::U32, &from);
                self.unify(&Ty::U32, &to);
                let kind = Kind::RowPart(row, Box::new(from), Box::new(to), site);
                return expr(kind, ty, span);
            }
            _ => {}
        }
        self.arguments(m);
        const METHODS: [&str; 4] = ["len", "is_empty", "at", "part"];
        let what = self.types.show(&ty);
        if METHODS.contains(&name.as_str()) {
            self.leave(format!("`{name}` takes another number of arguments"));
        } else if ["enumerate", "zip", "rev"].contains(&name.as_str()) {
            self.error(
                site,
                format!("`{name}` is for loops in the kernel language"),
                format!("write `for .. in row.{name}(..)`"),
            );
        } else {
            let help = match did_you_mean(&name, METHODS) {
                Some(near) => format!("did you mean `{near}`?"),
                None => {
                    "it has `len`, `is_empty`, `at(k)` and `part(a..b)`, and a `for` goes over it"
                        .to_owned()
                }
            };
            self.error(
                site,
                format!("`{what}` has no method `{name}` in the kernel language"),
                help,
            );
        }
        self.wrong(span)
    }

    /// `row.swap(a, b)` and `row.fill(x)` of the item's own row.
    fn change_row(&mut self, m: &syn::ExprMethodCall, row: &Expr, span: Span) -> Option<Expr> {
        let Kind::OwnValues(own) = row.kind else {
            return None;
        };
        let Some((
            _,
            HandleTy::OwnValues {
                scalar,
                mutable: true,
            },
        )) = self.handle_path(&m.receiver)
        else {
            return None;
        };
        let (name, site) = (m.method.to_string(), m.method.span());
        let item = Ty::Scalar(scalar);
        let what = RowOf::Values(scalar);
        let whole = || boxed(Kind::OwnValues(own), Ty::Row(own, what), span);
        let var = |id: VarId, ty: &Ty| boxed(Kind::Var(id), ty.clone(), span);
        let at = |k: VarId| Kind::RowAt(whole(), var(k, &Ty::U32), site);
        let put = |k: VarId, value: VarId| {
            let place = Place::InRow(own, var(k, &Ty::U32), site);
            let kind = Kind::Assign(place, var(value, &item));
            Stmt::Expr(expr(kind, Ty::UNIT, span))
        };
        let bind = |id: VarId, value: Expr| Stmt::Let(Pat::Var(id), Some(value));
        let stmts = match (name.as_str(), m.args.len()) {
            ("swap", 2) => {
                let (a, b) = (self.value(&m.args[0]), self.value(&m.args[1]));
                self.unify(&Ty::U32, &a);
                self.unify(&Ty::U32, &b);
                let (i, j) = (self.hidden(Ty::U32), self.hidden(Ty::U32));
                let (x, y) = (self.hidden(item.clone()), self.hidden(item.clone()));
                vec![
                    bind(i, a),
                    bind(j, b),
                    bind(x, expr(at(i), item.clone(), span)),
                    bind(y, expr(at(j), item.clone(), span)),
                    put(i, y),
                    put(j, x),
                ]
            }
            ("fill", 1) => {
                let value = self.value(&m.args[0]);
                self.unify(&item, &value);
                let (x, k) = (self.hidden(item.clone()), self.hidden(Ty::U32));
                let id = self.open_loop(None, true, true, None);
                self.close_loop();
                let body = Block {
                    stmts: vec![put(k, x)],
                    tail: None,
                    ends: false,
                };
                let turns = Kind::For {
                    id,
                    var: Some(k),
                    source: Source::Range {
                        start: boxed(Kind::Int(0), Ty::U32, span),
                        end: boxed(Kind::RowLen(whole()), Ty::U32, span),
                        inclusive: false,
                        reversed: false,
                        step: None,
                    },
                    body: boxed(Kind::Block(body), Ty::UNIT, span),
                };
                vec![bind(x, value), Stmt::Expr(expr(turns, Ty::UNIT, span))]
            }
            _ => return None,
        };
        let block = Block {
            stmts,
            tail: None,
            ends: false,
        };
        Some(expr(Kind::Block(block), Ty::UNIT, span))
    }

    /// A loop over a row that is not asked for in the loop itself, or over several things by their places; `None` where
    /// it is another kind.
    pub(super) fn for_places(&mut self, f: &syn::ExprForLoop, span: Span) -> Option<Expr> {
        let e = strip(&f.expr);
        let over = match e {
            // What is no iterator is said elsewhere.
            syn::Expr::MethodCall(m) => match m.method.to_string().as_str() {
                "enumerate" | "zip" => true,
                "rev" => !matches!(strip(&m.receiver), syn::Expr::Range(_)),
                "part" => true,
                _ => false,
            },
            _ => false,
        };
        if !over {
            return None;
        }
        let before = self.report.len();
        let places = self.places(&f.expr);
        if places.is_none() && self.report.len() == before && !self.failed {
            self.not_iterable(&f.expr);
        }
        Some(self.go_over(f, places, span))
    }

    /// `for x in row`, where the row is a variable or the like.
    pub(super) fn for_row(&mut self, f: &syn::ExprForLoop, row: Expr, span: Span) -> Expr {
        let places = self.places_of_row(row, false, span);
        self.go_over(f, Some(places), span)
    }

    /// The loop, with its body; a body without items is checked all the same.
    fn go_over(&mut self, f: &syn::ExprForLoop, places: Option<Places>, span: Span) -> Expr {
        let Places {
            setup,
            count,
            wide,
            item,
            ty,
        } = places.unwrap_or_else(|| Places {
            setup: Vec::new(),
            count: self.wrong(span),
            wide: false,
            item: Item::Number(VarId(0), Ty::Error, false),
            ty: Ty::Error,
        });
        let place = if wide { SIZE } else { Ty::U32 };
        let at = self.hidden(place.clone());
        self.scopes.push(Vec::new());
        let (pat, bound) = self.pattern(&f.pat);
        self.agree(&ty, &bound);
        let id = self.open_loop(f.label.as_ref(), true, true, None);
        if counts(f) {
            self.count_turns(id);
        }
        let body = self.block(&f.body, span);
        self.unify(&Ty::UNIT, &body);
        self.close_loop();
        self.scopes.pop();
        if ty == Ty::Error {
            return self.wrong(span);
        }
        let first = Stmt::Let(pat, Some(item.at((at, &place), span)));
        let ends = self.never(&body.ty);
        let body = Block {
            stmts: vec![first, Stmt::Expr(body)],
            tail: None,
            ends,
        };
        let count = match wide {
            true => count,
            false => expr(Kind::Cast(Box::new(count)), Ty::U32, span),
        };
        let turns = Kind::For {
            id,
            var: Some(at),
            source: Source::Range {
                start: boxed(Kind::Int(0), place.clone(), span),
                end: Box::new(count),
                inclusive: false,
                reversed: false,
                step: None,
            },
            body: boxed(Kind::Block(body), Ty::UNIT, span),
        };
        let mut stmts = setup;
        stmts.push(Stmt::Expr(expr(turns, Ty::UNIT, span)));
        let block = Block {
            stmts,
            tail: None,
            ends: false,
        };
        expr(Kind::Block(block), Ty::UNIT, span)
    }

    /// What stands behind `in`, or is a part of it.
    fn places(&mut self, e: &syn::Expr) -> Option<Places> {
        let e = strip(e);
        let span = first_token(e);
        let syn::Expr::MethodCall(m) = e else {
            return self.plain_places(e, false);
        };
        let name = m.method.to_string();
        match (name.as_str(), m.args.len()) {
            ("enumerate", 0) => {
                let of = self.places(&m.receiver)?;
                let ty = Ty::Tuple(vec![Ty::Size, of.ty.clone()]);
                let item = Item::Numbered(Box::new(of.item), of.ty);
                Some(Places { item, ty, ..of })
            }
            ("zip", 1) => {
                let (a, b) = (self.places(&m.receiver), self.places(&m.args[0]));
                let (a, b) = (a?, b?);
                let ty = Ty::Tuple(vec![a.ty.clone(), b.ty.clone()]);
                let mut setup = a.setup;
                setup.extend(b.setup);
                let counts = [a.count, b.count].map(|count| {
                    let var = self.hidden(SIZE);
                    setup.push(Stmt::Let(Pat::Var(var), Some(count)));
                    move || boxed(Kind::Var(var), SIZE, span)
                });
                let [x, y] = &counts;
                let less = boxed(Kind::Compare(CompareOp::Lt, x(), y()), Ty::BOOL, span);
                let count = expr(Kind::If(less, x(), Some(y())), SIZE, span);
                Some(Places {
                    setup,
                    count,
                    wide: a.wide && b.wide,
                    item: Item::Pair(Box::new(a.item), a.ty, Box::new(b.item), b.ty),
                    ty,
                })
            }
            ("rev", 0) => match strip(&m.receiver) {
                syn::Expr::MethodCall(inner)
                    if ["enumerate", "zip", "step_by", "rev"]
                        .contains(&inner.method.to_string().as_str()) =>
                {
                    self.error(
                        m.method.span(),
                        format!(
                            "`rev` behind `{}` is not in the kernel language",
                            inner.method
                        ),
                        format!(
                            "reverse what is gone over first: write `.rev()` before `.{}(..)`",
                            inner.method
                        ),
                    );
                    None
                }
                of => self.plain_places(of, true),
            },
            _ => self.plain_places(e, false),
        }
    }

    /// A range, a row or an array.
    fn plain_places(&mut self, e: &syn::Expr, reversed: bool) -> Option<Places> {
        let span = first_token(e);
        if let syn::Expr::Range(r) = e {
            let (Some(start), Some(end), syn::RangeLimits::HalfOpen(_)) =
                (&r.start, &r.end, &r.limits)
            else {
                self.error(
                    first_token(e),
                    "`enumerate` and `zip` take ranges with both ends, without the last number",
                    "write `a..b`",
                );
                return None;
            };
            let (start, end) = (self.value(start), self.value(end));
            let ty = start.ty.clone();
            self.unify(&ty, &end);
            let (a, b) = (self.hidden(ty.clone()), self.hidden(ty.clone()));
            let var = |v| boxed(Kind::Var(v), ty.clone(), span);
            let wide = |v| boxed(Kind::Cast(var(v)), SIZE, span);
            let less = boxed(Kind::Compare(CompareOp::Lt, var(a), var(b)), Ty::BOOL, span);
            let between = boxed(Kind::Binary(BinaryOp::Sub, wide(b), wide(a)), SIZE, span);
            let none = boxed(Kind::Int(0), SIZE, span);
            let from = if reversed { b } else { a };
            return Some(Places {
                setup: vec![
                    Stmt::Let(Pat::Var(a), Some(start)),
                    Stmt::Let(Pat::Var(b), Some(end)),
                ],
                count: expr(Kind::If(less, between, Some(none)), SIZE, span),
                wide: true,
                item: Item::Number(from, ty.clone(), reversed),
                ty,
            });
        }
        if let syn::Expr::MethodCall(m) = e {
            let name = m.method.to_string();
            if name == "into_iter" && m.args.is_empty() {
                return self.plain_places(strip(&m.receiver), reversed);
            }
            if name == "iter" && m.args.is_empty() && self.in_variable(&m.receiver) {
                let by_ref = self.referred(&m.receiver).is_some();
                let array = self.base(&m.receiver);
                if let Ty::Array(..) = self.types.resolve(&array.ty) {
                    let of = source_text(strip(&m.receiver));
                    let copy = if by_ref { format!("(*{of})") } else { of };
                    self.error(
                        m.method.span(),
                        "`iter` of an array is neither reversed nor zipped in the kernel language",
                        format!("write `{copy}.into_iter()`: its items are values, not references"),
                    );
                    return None;
                }
            }
            if methods::instead(&name).is_some() {
                self.iterator_chain(m);
                return None;
            }
        }
        let handle = self.handle_path(e).map(|(_, of)| of);
        if !matches!(handle, None | Some(HandleTy::OwnValues { .. })) {
            self.not_iterable(e);
            return None;
        }
        let value = self.value(e);
        let of = self.types.resolve(&value.ty);
        match &of {
            Ty::Row(..) => Some(self.places_of_row(value, reversed, span)),
            Ty::Array(element, n) => {
                let (ty, n) = ((**element).clone(), *n);
                let all = self.hidden(of.clone());
                Some(Places {
                    item: Item::Element(all, of, n, reversed, span),
                    setup: vec![Stmt::Let(Pat::Var(all), Some(value))],
                    count: expr(Kind::Int(n.into()), SIZE, span),
                    wide: false,
                    ty,
                })
            }
            Ty::Error => None,
            _ => {
                self.not_iterable(e);
                None
            }
        }
    }

    fn places_of_row(&mut self, row: Expr, reversed: bool, span: Span) -> Places {
        let ty = self.types.resolve(&row.ty);
        let item = match ty {
            Ty::Row(_, what) => what.item(),
            _ => Ty::Error,
        };
        let all = self.hidden(ty.clone());
        let len = Kind::RowLen(boxed(Kind::Var(all), ty.clone(), span));
        Places {
            setup: vec![Stmt::Let(Pat::Var(all), Some(row))],
            count: expr(Kind::Cast(boxed(len, Ty::U32, span)), SIZE, span),
            wide: false,
            item: Item::Row(all, ty, reversed, span),
            ty: item,
        }
    }

    /// `a.overflowing_add(b)`, `a.carrying_add(b, carry)`.
    pub(super) fn with_carry(
        &mut self,
        (name, receiver): (&'static str, Expr),
        args: &[&syn::Expr],
        span: Span,
    ) -> Expr {
        let ty = receiver.ty.clone();
        let on = if name == "carrying_add" {
            On::Unsigned
        } else {
            On::Int
        };
        self.pending.push(Pending::Receiver {
            ty: ty.clone(),
            on,
            method: name,
        });
        let mut values = args
            .iter()
            .map(|a| self.value(a))
            .collect::<Vec<_>>()
            .into_iter();
        let wanted = if name == "carrying_add" { 2 } else { 1 };
        let (Some(other), carry, true) = (values.next(), values.next(), args.len() == wanted)
        else {
            self.leave(format!("`{name}` takes {wanted} arguments"));
            return self.wrong(span);
        };
        self.unify(&ty, &other);
        if let Some(carry) = &carry {
            self.unify(&Ty::BOOL, carry);
        }
        let kind = Kind::AddWithCarry(Box::new(receiver), Box::new(other), carry.map(Box::new));
        expr(kind, Ty::Tuple(vec![ty, Ty::BOOL]), span)
    }
}

impl Item {
    /// The item at the place that a variable holds.
    fn at(self, (place, of): (VarId, &Ty), span: Span) -> Expr {
        let k = |ty: &Ty| {
            let var = expr(Kind::Var(place), of.clone(), span);
            match ty == of {
                true => Box::new(var),
                false => boxed(Kind::Cast(Box::new(var)), ty.clone(), span),
            }
        };
        // `end - 1 - k` counted from the end.
        let back = |end: Box<Expr>, ty: &Ty| {
            let one = boxed(Kind::Int(1), ty.clone(), span);
            let last = boxed(Kind::Binary(BinaryOp::Sub, end, one), ty.clone(), span);
            boxed(Kind::Binary(BinaryOp::Sub, last, k(ty)), ty.clone(), span)
        };
        match self {
            Item::Number(from, ty, reversed) => {
                let from = boxed(Kind::Var(from), ty.clone(), span);
                match reversed {
                    true => *back(from, &ty),
                    false => expr(Kind::Binary(BinaryOp::Add, from, k(&ty)), ty, span),
                }
            }
            Item::Row(all, ty, reversed, at) => {
                let Ty::Row(from, what) = ty else {
                    unreachable!("it is a row");
                };
                let end = usize::from(reversed);
                let row = boxed(Kind::Var(all), ty.clone(), span);
                let end = boxed(Kind::Field(row, end), Ty::U32, span);
                let edge = match (reversed, what) {
                    // Counted from where the row begins, so that the item's own stays known as that.
                    (true, RowOf::Values(_)) => {
                        let field = |at| {
                            let row = boxed(Kind::Var(all), ty.clone(), span);
                            boxed(Kind::Field(row, at), Ty::U32, span)
                        };
                        let len = Kind::Binary(BinaryOp::Sub, field(1), field(0));
                        let place = back(boxed(len, Ty::U32, span), &Ty::U32);
                        boxed(Kind::Binary(BinaryOp::Add, field(0), place), Ty::U32, span)
                    }
                    (true, _) => back(end, &Ty::U32),
                    (false, _) => {
                        boxed(Kind::Binary(BinaryOp::Add, end, k(&Ty::U32)), Ty::U32, span)
                    }
                };
                let kind = match what {
                    RowOf::Edges => return *edge,
                    RowOf::Neighbors => Kind::Csr {
                        query: CsrCall::Query(CsrQuery::Target),
                        graph: from,
                        of: edge,
                        site: at,
                    },
                    RowOf::Values(_) => Kind::Load {
                        buffer: from,
                        index: edge,
                        site: at,
                    },
                };
                expr(kind, what.item(), span)
            }
            Item::Element(all, ty, n, reversed, at) => {
                let Ty::Array(element, _) = &ty else {
                    unreachable!("it is an array");
                };
                let element = (**element).clone();
                let index = match reversed {
                    true => {
                        let last = boxed(Kind::Int((n - 1).into()), Ty::U32, span);
                        boxed(
                            Kind::Binary(BinaryOp::Sub, last, k(&Ty::U32)),
                            Ty::U32,
                            span,
                        )
                    }
                    false => k(&Ty::U32),
                };
                let all = boxed(Kind::Var(all), ty, span);
                expr(Kind::Element(all, index, at), element, span)
            }
            Item::Numbered(item, ty) => {
                let number = *k(&Ty::Size);
                let both = Ty::Tuple(vec![Ty::Size, ty]);
                let item = item.at((place, of), span);
                expr(Kind::Tuple(vec![number, item]), both, span)
            }
            Item::Pair(a, x, b, y) => {
                let both = Ty::Tuple(vec![x, y]);
                let (a, b) = (a.at((place, of), span), b.at((place, of), span));
                expr(Kind::Tuple(vec![a, b]), both, span)
            }
        }
    }
}
