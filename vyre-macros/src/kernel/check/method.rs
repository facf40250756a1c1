//! Methods: of structs, arrays, scalars, handles, rows of bits and atomics.

use super::function::helper;
use super::*;
use crate::wave_graph::graph::WITH;

/// Adaptors that a `for` takes.
const IN_LOOPS: [&str; 4] = ["enumerate", "zip", "rev", "step_by"];

/// The first method of an iterator that a call goes on from, `filter` of `row.filter(..).count()`, and what to write.
fn first_adaptor(m: &syn::ExprMethodCall) -> Option<(&syn::Ident, &'static str)> {
    let syn::Expr::MethodCall(inner) = strip(&m.receiver) else {
        return None;
    };
    let name = inner.method.to_string();
    let goes_on = IN_LOOPS.contains(&name.as_str()) || name.contains("iter");
    let advice = methods::instead(&name).filter(|_| !goes_on)?;
    first_adaptor(inner).or(Some((&inner.method, advice)))
}

impl Checker<'_> {
    /// Refuses `xs.iter().map(..)` and the like at the first method that is an iterator's; true if it did.
    pub(super) fn iterator_chain(&mut self, m: &syn::ExprMethodCall) -> bool {
        let name = m.method.to_string();
        let Some(advice) = methods::instead(&name) else {
            return false;
        };
        // The first call that is wrong is the one to change.
        if let syn::Expr::MethodCall(inner) = strip(&m.receiver)
            && !(IN_LOOPS.contains(&inner.method.to_string().as_str()))
            && self.iterator_chain(inner)
        {
            return true;
        }
        let over_iterator = match strip(&m.receiver) {
            syn::Expr::Range(_) => true,
            syn::Expr::MethodCall(inner) => {
                // What a buffer does not have is said of the buffer.
                let of_buffer = self.handle_path(&inner.receiver).is_some();
                let inner = inner.method.to_string();
                let of_row = matches!(inner.as_str(), "neighbors" | "edges" | "row" | "part");
                of_row && !matches!(name.as_str(), "get" | "first" | "last")
                    || methods::instead(&inner).is_some() && !of_buffer
            }
            _ => false,
        };
        if over_iterator && IN_LOOPS.contains(&name.as_str()) {
            self.error(
                m.method.span(),
                format!("`{name}` is for loops in the kernel language"),
                match name.as_str() {
                    "step_by" => {
                        "it steps over ranges: write `for k in (a..b).step_by(n)`".to_owned()
                    }
                    _ => {
                        format!("write `for .. in ...{name}(..)`, over a range, a row or an array")
                    }
                },
            );
        } else if over_iterator {
            let (first, advice) = first_adaptor(m).map_or((&m.method, advice), |a| a);
            self.error(
                first.span(),
                format!("method `{first}` is not in the kernel language"),
                advice,
            );
        }
        over_iterator
    }

    pub(super) fn method(&mut self, m: &syn::ExprMethodCall, span: Span) -> Expr {
        if self.iterator_chain(m) {
            return self.wrong(span);
        }
        let receiver = self.base(&m.receiver);
        let receiver = self.read(receiver);
        if let Some(t) = &m.turbofish {
            self.error(
                first_token(t),
                "generics are not in the kernel language",
                "leave the type arguments out",
            );
            return self.wrong(span);
        }
        match self.types.resolve(&receiver.ty) {
            Ty::Handle(h) => self.handle_method(m, receiver, h, span),
            Ty::Error => {
                self.arguments(m);
                self.wrong(span)
            }
            Ty::Struct(s) => self.struct_method(m, receiver, &s, span),
            ty @ Ty::Row(..) => self.row_method(m, receiver, ty, span),
            Ty::Array(element, n) => self.array_method(m, receiver, (*element, n), span),
            Ty::Tuple(_) if m.method == "min" || m.method == "max" => {
                self.extreme(m, receiver, span)
            }
            _ => {
                let name = m.method.to_string();
                self.scalar_method(
                    &name,
                    m.method.span(),
                    receiver,
                    m.args.iter().collect(),
                    span,
                )
            }
        }
    }

    /// `a.min(b)` of tuples.
    fn extreme(&mut self, m: &syn::ExprMethodCall, receiver: Expr, span: Span) -> Expr {
        let mut args = self.arguments(m).into_iter();
        let (Some(other), None) = (args.next(), args.next()) else {
            self.leave(format!("`{}` takes one argument", m.method));
            return self.wrong(span);
        };
        let ty = receiver.ty.clone();
        self.unify(&ty, &other);
        let float = |t: &Ty| matches!(t, Ty::Scalar(s) if types::is_float(*s));
        if self.types.resolve(&ty).any_inside(&float) {
            self.error(
                m.method.span(),
                format!("tuples with floats have no `{}`", m.method),
                "a NaN is neither less nor greater: write `if b < a { b } else { a }`",
            );
            return self.wrong(span);
        }
        let op = match m.method == "min" {
            true => BinaryOp::Min,
            false => BinaryOp::Max,
        };
        Expr {
            kind: Kind::Method(Code::Binary(op), vec![receiver, other], m.method.span()),
            ty,
            span,
        }
    }

    pub(super) fn struct_method(
        &mut self,
        m: &syn::ExprMethodCall,
        receiver: Expr,
        s: &Struct,
        span: Span,
    ) -> Expr {
        let name = format!("{}::{}", s.0.name, m.method);
        let at = m.method.span();
        let args: Vec<Expr> = m.args.iter().map(|a| self.value(a)).collect();
        let f = match helper(&name, at, self.depth, self) {
            Some(Found::Function(f)) => f,
            Some(Found::Failed(ty)) => {
                return Expr {
                    ty: ty.unwrap_or(Ty::Error),
                    ..self.wrong(span)
                };
            }
            None => {
                match methods::instead(&m.method.to_string()) {
                    Some(advice) => self.error(
                        at,
                        format!("method `{}` is not in the kernel language", m.method),
                        advice,
                    ),
                    None => self.leave(format!("no method `{name}`")),
                }
                return self.wrong(span);
            }
        };
        let mut place = None;
        if f.mut_self && self.in_variable(&m.receiver) {
            let Some((p, _)) = self.place(&m.receiver) else {
                return self.wrong(span);
            };
            if let Place::Var(_, path) = &p
                && path.iter().any(|s| matches!(s, Projection::Index(..)))
            {
                self.error(
                    at,
                    "a `&mut self` method of an array's element is not in the kernel language",
                    "copy the element, call the method on the copy, and store it back",
                );
                return self.wrong(span);
            }
            place = Some(p);
        }
        let args = std::iter::once(receiver).chain(args).collect();
        self.apply(f, args, (&name, place), span)
    }

    pub(super) fn array_method(
        &mut self,
        m: &syn::ExprMethodCall,
        receiver: Expr,
        (element, n): (Ty, u32),
        span: Span,
    ) -> Expr {
        let name = m.method.to_string();
        let at = m.method.span();
        let args = self.arguments(m);
        match (name.as_str(), args.len()) {
            ("len", 0) => Expr {
                kind: Kind::Int(n.into()),
                ty: Ty::Size,
                span,
            },
            ("is_empty", 0) => Expr {
                kind: Kind::Bool(false),
                ty: Ty::BOOL,
                span,
            },
            ("fill", 1) if self.in_variable(&m.receiver) => {
                let Some((place, ty)) = self.place(&m.receiver) else {
                    return self.wrong(span);
                };
                let [value] = <[Expr; 1]>::try_from(args).expect("one argument");
                self.unify(&element, &value);
                let value = Expr {
                    kind: Kind::Repeat(Box::new(value), n),
                    ty,
                    span,
                };
                Expr {
                    kind: Kind::Assign(place, Box::new(value)),
                    ty: Ty::UNIT,
                    span,
                }
            }
            ("swap", 2) if self.in_variable(&m.receiver) => {
                let mut stmts = Vec::new();
                let mut named = |c: &mut Self, value: Expr, ty: Ty| {
                    let id = c.hidden(ty.clone());
                    stmts.push(Stmt::Let(Pat::Var(id), Some(value)));
                    (id, ty)
                };
                let var = |(id, ty): &(VarId, Ty)| Expr {
                    kind: Kind::Var(*id),
                    ty: ty.clone(),
                    span,
                };
                let [i, j] = <[Expr; 2]>::try_from(args).expect("two arguments");
                self.unify(&Ty::Size, &i);
                self.unify(&Ty::Size, &j);
                let i = named(self, i, Ty::Size);
                let j = named(self, j, Ty::Size);
                let get = |c: &mut Self, index: &(VarId, Ty)| {
                    let base = c.base(&m.receiver);
                    Expr {
                        kind: Kind::Element(Box::new(base), Box::new(var(index)), at),
                        ty: element.clone(),
                        span,
                    }
                };
                let (first, second) = (get(self, &i), get(self, &j));
                let first = named(self, first, element.clone());
                let second = named(self, second, element.clone());
                for (index, value) in [(&i, &second), (&j, &first)] {
                    let Some((Place::Var(id, mut path), _)) = self.place(&m.receiver) else {
                        return self.wrong(span);
                    };
                    path.push(Projection::Index(var(index), at));
                    stmts.push(Stmt::Expr(Expr {
                        kind: Kind::Assign(Place::Var(id, path), Box::new(var(value))),
                        ty: Ty::UNIT,
                        span,
                    }));
                }
                Expr {
                    kind: Kind::Block(Block {
                        stmts,
                        tail: None,
                        ends: false,
                    }),
                    ty: Ty::UNIT,
                    span,
                }
            }
            _ => {
                let _ = receiver;
                let near = did_you_mean(&name, ["len", "is_empty", "swap", "fill"]);
                if let Some(near) = near {
                    self.report.meant(at, &name, near);
                    self.error(
                        at,
                        format!("an array has no method `{name}`"),
                        format!("did you mean `{near}`?"),
                    );
                    return self.wrong(span);
                }
                let advice = match name.as_str() {
                    "iter" | "into_iter" => "write `for x in array` or index it",
                    "iter_mut" => "index it: `for k in 0..array.len() { array[k] = .. }`",
                    "get" | "get_mut" | "first" | "last" => {
                        "index it, `a[i]`: every index is checked"
                    }
                    _ => "it has `len`, `swap` and `fill`; write the rest with loops",
                };
                self.error(
                    at,
                    format!("method `{name}` of an array is not in the kernel language"),
                    advice,
                );
                self.wrong(span)
            }
        }
    }

    pub(super) fn arguments(&mut self, m: &syn::ExprMethodCall) -> Vec<Expr> {
        m.args.iter().map(|a| self.value(a)).collect()
    }

    pub(super) fn scalar_method(
        &mut self,
        name: &str,
        at: Span,
        receiver: Expr,
        args: Vec<&syn::Expr>,
        span: Span,
    ) -> Expr {
        if name == "into" && args.is_empty() {
            let ty = self.types.any();
            return Expr {
                kind: Kind::Cast(Box::new(receiver)),
                ty,
                span,
            };
        }
        for with_carry in ["overflowing_add", "carrying_add"] {
            if name == with_carry {
                return self.with_carry((with_carry, receiver), &args, span);
            }
        }
        let row = match methods::method(name) {
            Some(row) => row,
            None => {
                let on = self.types.scalar(&receiver.ty);
                let known = methods::METHODS
                    .iter()
                    .filter(|m| on.is_none_or(|s| m.on.holds(s)));
                let near = did_you_mean(name, known.map(|m| m.name));
                // A method of something that has failed may well be one of its type.
                let unknown = self.failed && matches!(self.types.resolve(&receiver.ty), Ty::Var(_));
                let near = near.filter(|_| methods::instead(name).is_none() && !unknown);
                let help = match (methods::instead(name), near) {
                    (Some(advice), _) => advice.to_owned(),
                    (None, Some(near)) => format!("did you mean `{near}`?"),
                    (None, None) => "write it with operators, or as a `#[device] fn`".to_owned(),
                };
                let what = format!("method `{name}` is not in the kernel language");
                if unknown {
                    self.leave(what);
                } else {
                    self.error(at, what, help);
                }
                let Some((near, row)) = near.and_then(|n| Some((n, methods::method(n)?))) else {
                    for a in args {
                        self.value(a);
                    }
                    return self.wrong(span);
                };
                self.report.meant(at, name, near);
                row
            }
        };
        if row.args.len() != args.len() {
            self.leave(format!("`{name}` takes {} arguments", row.args.len()));
            return self.wrong(span);
        }
        // A constant's value is rustc's own at compile time.
        if methods::UNLOCATED.contains(&row.name) && self.in_constants == 0 {
            self.report.unlocated(&syn::Ident::new(name, at));
        }
        let ty = receiver.ty.clone();
        self.pending.push(Pending::Receiver {
            ty: ty.clone(),
            on: row.on,
            method: row.name,
        });
        let mut all = vec![receiver];
        for (a, kind) in args.into_iter().zip(row.args) {
            let a = self.value(a);
            let expected = self.as_type(*kind, &ty);
            self.unify(&expected, &a);
            all.push(a);
        }
        let ty = self.as_type(row.result, &ty);
        Expr {
            kind: Kind::Method(row.code, all, at),
            ty,
            span,
        }
    }

    pub(super) fn as_type(&mut self, kind: As, receiver: &Ty) -> Ty {
        match kind {
            As::Same => receiver.clone(),
            As::U32 => Ty::U32,
            As::Bool => Ty::BOOL,
            As::Unsigned if self.types.resolve(receiver) == Ty::Size => Ty::Size,
            As::Signed => match self.types.resolve(receiver) {
                Ty::Scalar(s) => Ty::Scalar(signed(s)),
                _ => {
                    self.leave("the type must be known here");
                    Ty::Error
                }
            },
            As::Unsigned => match self.types.resolve(receiver) {
                Ty::Scalar(s) => Ty::Scalar(unsigned(s)),
                open => {
                    let ty = self.types.any();
                    self.pending.push(Pending::Unsigned(open, ty.clone()));
                    ty
                }
            },
        }
    }

    /// A method that the handle does not have.
    fn no_method(
        &mut self,
        m: &syn::ExprMethodCall,
        h: HandleTy,
        known: &[&str],
        span: Span,
    ) -> Expr {
        let (name, site) = (m.method.to_string(), m.method.span());
        let near = did_you_mean(&name, known.iter().copied());
        if near.is_some() && self.role != Role::Condition {
            // The type has no such method for rustc either, and rustc names the one meant.
            self.arguments(m);
            self.leave(format!("`{h}` has no method `{name}`"));
            return self.wrong(span);
        }
        let help = match (near, known) {
            (Some(near), _) => format!("did you mean `{near}`?"),
            (None, _)
                if name.starts_with(WITH)
                    && matches!(h, HandleTy::Insert(_) | HandleTy::Lookup(_)) =>
            {
                format!("its tuples are gone over by a loop: `for t in relation.{name}(..)`")
            }
            (None, []) => "use its fields".to_owned(),
            (None, ["len", ..]) if matches!(h, HandleTy::Buf(_) | HandleTy::AtomicBuf(_)) => {
                "write `for i in 0..xs.len()` and `xs[i]`".to_owned()
            }
            (None, _) => match (h, name.as_str()) {
                (HandleTy::Insert(_), "contains") => {
                    "a wave that asks what a relation has takes it as `&Lookup<T>`, and inserts nothing into it; `insert` says whether a tuple is new".to_owned()
                }
                (HandleTy::Lookup(_), "insert") => {
                    "a wave that inserts takes the relation as `&Insert<T>`, and does not ask what it has".to_owned()
                }
                (HandleTy::Insert(_) | HandleTy::Lookup(_), _) => format!(
                    "it has `{}`; a wave over `items(..)` sweeps its tuples, and `for t in relation.with_column(x)` goes over some of them where it has an index by that column",
                    known.join("`, `")
                ),
                _ => format!("it has `{}`", known.join("`, `")),
            },
        };
        self.error(
            site,
            format!("`{h}` has no method `{name}` in the kernel language"),
            help,
        );
        self.wrong(span)
    }

    pub(super) fn handle_method(
        &mut self,
        m: &syn::ExprMethodCall,
        receiver: Expr,
        h: HandleTy,
        span: Span,
    ) -> Expr {
        let name = m.method.to_string();
        let site = m.method.span();
        if h == HandleTy::Bits {
            return self.bits_method(m, receiver, span);
        }
        let args = self.arguments(m);
        let known = methods_of(h);
        if !known.contains(&name.as_str()) {
            return self.no_method(m, h, known, span);
        }
        let takes = match (h, name.as_str()) {
            (HandleTy::Atomic(_), "compare_exchange" | "compare_and_swap") => 2,
            (HandleTy::Cell, "at") => 2,
            (_, "len" | "load" | "is_empty" | "inc" | "settled") => 0,
            _ => 1,
        };
        if args.len() != takes {
            self.leave(format!("`{name}` takes {takes} arguments"));
            return self.wrong(span);
        }
        let handle = match receiver.kind {
            Kind::Handle(h) => Some(h),
            _ => None,
        };
        if let HandleTy::Atomic(s) = h {
            return self.atomic(&name, receiver, args, s, span);
        }
        let Some(handle) = handle else {
            self.error(
                span,
                format!("a `{h}` is used by its parameter's name"),
                "write the call in each branch",
            );
            return self.wrong(span);
        };
        let mut args = args.into_iter();
        let (kind, ty) = match h {
            HandleTy::Records(of) if name == "get" => {
                let Some(index) = args.next() else {
                    return self.wrong(span);
                };
                self.unify(&Ty::U32, &index);
                (
                    Kind::Get {
                        records: handle,
                        index: Box::new(index),
                        site,
                    },
                    self.record(of),
                )
            }
            HandleTy::Buf(_) | HandleTy::AtomicBuf(_) | HandleTy::Records(_) => {
                let (kind, ty) = (Kind::Len(handle), Ty::U32);
                if name == "is_empty" {
                    let zero = Expr {
                        kind: Kind::Int(0),
                        ty: Ty::U32,
                        span,
                    };
                    let len = Expr { kind, ty, span };
                    (
                        Kind::Compare(CompareOp::Eq, Box::new(len), Box::new(zero)),
                        Ty::BOOL,
                    )
                } else {
                    (kind, ty)
                }
            }
            HandleTy::Frontier | HandleTy::List | HandleTy::Relation if name == "is_empty" => {
                (Kind::FrontierLen(handle, true), Ty::BOOL)
            }
            HandleTy::Relation if name == "settled" => (Kind::Settled(handle), Ty::BOOL),
            HandleTy::Frontier | HandleTy::List | HandleTy::Relation => {
                (Kind::FrontierLen(handle, false), Ty::U32)
            }
            HandleTy::Cell => {
                let by: Vec<Expr> = args.collect();
                for step in &by {
                    self.unify(&Ty::Scalar(Scalar::I32), step);
                }
                let by = Box::new(by.try_into().expect("two arguments"));
                (Kind::CellAt(handle, by, site), Ty::U32)
            }
            HandleTy::Csr if name == "neighbors" || name == "edges" => {
                let Some(of) = args.next() else {
                    return self.wrong(span);
                };
                let what = match name.as_str() {
                    "edges" => RowOf::Edges,
                    _ => RowOf::Neighbors,
                };
                return self.row((handle, what), of, (site, span));
            }
            HandleTy::Rows(scalar) if name == "row" => {
                let Some(of) = args.next() else {
                    return self.wrong(span);
                };
                return self.row((handle, RowOf::Values(scalar)), of, (site, span));
            }
            HandleTy::Rows(_) => {
                let (kind, ty) = (Kind::RowCount(handle), Ty::U32);
                if name == "is_empty" {
                    let zero = Expr {
                        kind: Kind::Int(0),
                        ty: Ty::U32,
                        span,
                    };
                    let len = Expr { kind, ty, span };
                    let kind = Kind::Compare(CompareOp::Eq, Box::new(len), Box::new(zero));
                    (kind, Ty::BOOL)
                } else {
                    (kind, ty)
                }
            }
            HandleTy::Csr => {
                let query = if name == "target" {
                    CsrCall::Query(CsrQuery::Target)
                } else {
                    CsrCall::Degree
                };
                let Some(of) = args.next() else {
                    return self.wrong(span);
                };
                self.unify(&Ty::U32, &of);
                (
                    Kind::Csr {
                        query,
                        graph: handle,
                        of: Box::new(of),
                        site,
                    },
                    Ty::U32,
                )
            }
            HandleTy::Append(of) => {
                let Some(value) = args.next() else {
                    return self.wrong(span);
                };
                let of = self.record(of);
                self.unify(&of, &value);
                (
                    Kind::Append {
                        list: handle,
                        value: Box::new(value),
                        site,
                    },
                    Ty::U32,
                )
            }
            HandleTy::Insert(of) | HandleTy::Lookup(of) => {
                let Some(value) = args.next() else {
                    return self.wrong(span);
                };
                let of = self.record(of);
                self.unify(&of, &value);
                let value = Box::new(value);
                let kind = match h {
                    HandleTy::Insert(_) => Kind::Insert {
                        relation: handle,
                        value,
                        site,
                    },
                    _ => Kind::Contains {
                        relation: handle,
                        value,
                        site,
                    },
                };
                (kind, Ty::BOOL)
            }
            HandleTy::Filing(of) => {
                let Some(value) = args.next() else {
                    return self.wrong(span);
                };
                let of = self.record(of);
                self.unify(&of, &value);
                (
                    Kind::File {
                        index: handle,
                        value: Box::new(value),
                        site,
                    },
                    Ty::UNIT,
                )
            }
            HandleTy::Push | HandleTy::PushItems(_) => {
                let Some(value) = args.next() else {
                    return self.wrong(span);
                };
                let of = match h {
                    HandleTy::PushItems(of) => self.record(of),
                    _ => Ty::U32,
                };
                self.unify(&of, &value);
                (
                    Kind::Push {
                        frontier: handle,
                        value: Box::new(value),
                        site,
                    },
                    Ty::UNIT,
                )
            }
            HandleTy::Reduce { scalar, .. } => {
                let value = args.next();
                if let Some(v) = &value {
                    self.unify(&Ty::Scalar(scalar), v);
                }
                (Kind::Reduce(handle, value.map(Box::new)), Ty::UNIT)
            }
            HandleTy::Edge
            | HandleTy::Own { .. }
            | HandleTy::OwnValues { .. }
            | HandleTy::Atomic(_)
            | HandleTy::Bits => {
                return self.wrong(span);
            }
        };
        Expr { kind, ty, span }
    }

    pub(super) fn bits_method(
        &mut self,
        m: &syn::ExprMethodCall,
        receiver: Expr,
        span: Span,
    ) -> Expr {
        let name = m.method.to_string();
        let site = m.method.span();
        let mut args = self.arguments(m);
        let Some((method, takes, result)) = methods::BITS.iter().find(|(n, ..)| *n == name) else {
            let near = match name.as_str() {
                // Words of the sets that people know.
                "insert" => Some("set"),
                "remove" => Some("unset"),
                "contains" => Some("get"),
                name => did_you_mean(name, methods::BITS.iter().map(|(n, ..)| *n)),
            };
            if let Some(near) = near {
                self.report.meant(site, &name, near);
            }
            let help = match (name.as_str(), near) {
                ("ones", _) => "write `for bit in rows.ones(v)`".to_owned(),
                (_, Some(near)) => format!("did you mean `{near}`?"),
                (_, None) => "it has `get`, `set`, `unset`, `or`, `and`, `and_not`, their `_from` and `_word` forms, `ones` and `count`".to_owned(),
            };
            self.error(
                site,
                format!("`&Bits` has no method `{name}` here in the kernel language"),
                help,
            );
            return self.wrong(span);
        };
        let Kind::Handle(rows) = receiver.kind else {
            return self.wrong(span);
        };
        if args.len() != *takes {
            self.leave(format!("`{name}` takes {takes} arguments"));
            return self.wrong(span);
        }
        let mut other = None;
        if name.ends_with("_from") {
            let from = args.remove(1);
            let (Kind::Handle(h), Ty::Handle(HandleTy::Bits)) = (&from.kind, &from.ty) else {
                self.leave("mismatched types: `&Bits` is expected");
                return self.wrong(span);
            };
            other = Some(*h);
            if let (
                Handle::Bound(ParamKind::Bits { width: a, .. }),
                Handle::Bound(ParamKind::Bits { width: b, .. }),
            ) = (rows, *h)
                && a != b
            {
                self.error(
                    from.span,
                    "these rows have another width",
                    "declare both with the same `bits = ..`",
                );
            }
        }
        for a in &args {
            self.unify(&Ty::U32, a);
        }
        Expr {
            kind: Kind::Rows {
                rows,
                method,
                other,
                args,
                site,
            },
            ty: result.map_or(Ty::UNIT, Ty::Scalar),
            span,
        }
    }

    pub(super) fn atomic(
        &mut self,
        name: &str,
        place: Expr,
        args: Vec<Expr>,
        s: Scalar,
        span: Span,
    ) -> Expr {
        let element = Ty::Scalar(s);
        for a in &args {
            self.unify(&element, a);
        }
        let place = Box::new(place);
        let mut args = args.into_iter().map(Box::new);
        let (kind, ty) = match (name, args.next(), args.next()) {
            ("load", None, None) => (Kind::AtomicLoad(place), element),
            ("store", Some(v), None) => (Kind::AtomicStore(place, v), Ty::UNIT),
            ("compare_exchange", Some(old), Some(new)) => {
                (Kind::CompareExchange(place, old, new), Ty::BOOL)
            }
            ("compare_and_swap", Some(old), Some(new)) => {
                (Kind::CompareAndSwap(place, old, new), element)
            }
            (_, Some(v), None) => match methods::atomic(name) {
                Some(op) => (Kind::Atomic(op, place, v), element),
                None => return self.wrong(span),
            },
            _ => return self.wrong(span),
        };
        Expr { kind, ty, span }
    }
}

/// Names of a handle's methods.
fn methods_of(h: HandleTy) -> &'static [&'static str] {
    match h {
        HandleTy::Atomic(_) => methods::ATOMIC,
        HandleTy::Buf(_) | HandleTy::AtomicBuf(_) => &["len", "is_empty"],
        HandleTy::Cell => &["at"],
        HandleTy::Csr => &["neighbors", "edges", "target", "degree"],
        HandleTy::Push | HandleTy::PushItems(_) => &["push"],
        HandleTy::Append(_) => &["append"],
        HandleTy::Insert(_) => &["insert"],
        HandleTy::Lookup(_) => &["contains"],
        HandleTy::Filing(_) => &["file"],
        HandleTy::Records(_) => &["get", "len", "is_empty"],
        HandleTy::Rows(_) => &["row", "len", "is_empty"],
        HandleTy::Reduce { count: true, .. } => &["inc"],
        HandleTy::Reduce {
            op: ReduceOp::Sum | ReduceOp::ExactSum,
            ..
        } => &["add"],
        HandleTy::Reduce {
            op: ReduceOp::Min, ..
        } => &["min"],
        HandleTy::Reduce {
            op: ReduceOp::Max, ..
        } => &["max"],
        HandleTy::Reduce {
            op: ReduceOp::Or, ..
        } => &["or"],
        HandleTy::Reduce {
            op: ReduceOp::And, ..
        } => &["and"],
        HandleTy::Frontier | HandleTy::List => &["len", "is_empty"],
        HandleTy::Relation => &["len", "is_empty", "settled"],
        HandleTy::Edge | HandleTy::Own { .. } | HandleTy::OwnValues { .. } | HandleTy::Bits => &[],
    }
}
