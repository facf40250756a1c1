//! Buffers, methods, functions and macros.

use super::*;
use crate::kernel::check::function::{helper, import};
use crate::names::{Meaning, Space};
use crate::tokens::source_text;
use proc_macro2::{TokenStream, TokenTree};
use quote::quote;

impl Checker<'_> {
    pub(super) fn handle_path(&self, e: &syn::Expr) -> Option<(Handle, HandleTy)> {
        let syn::Expr::Path(p) = strip(e) else {
            return None;
        };
        match self.lookup(p.path.get_ident()?)? {
            Name::Handle(h, ty) => Some((h, ty)),
            Name::Var(_) | Name::Value(..) => None,
        }
    }

    pub(super) fn index(&mut self, i: &syn::ExprIndex, span: Span) -> Expr {
        let base = self.expr(&i.expr, None);
        if let syn::Expr::Range(_) = strip(&i.index) {
            self.error(
                first_token(&i.index),
                "slices are not in the kernel language",
                "go over the range with `for i in a..b` and index one element",
            );
            return self.wrong(span);
        }
        let index = self.value(&i.index);
        // rustc locates an overloaded index at its bracket.
        let bracket = i.bracket_token.span.open();
        match (&base.kind, &base.ty) {
            (&Kind::Handle(buffer), &Ty::Handle(HandleTy::Buf(s))) => {
                self.indexed(i, &Ty::U32, &index);
                Expr {
                    kind: Kind::Load {
                        buffer,
                        index: Box::new(index),
                        site: bracket,
                    },
                    ty: Ty::Scalar(s),
                    span,
                }
            }
            (&Kind::Handle(buffer), &Ty::Handle(HandleTy::AtomicBuf(s))) => {
                self.indexed(i, &Ty::U32, &index);
                let kind = Kind::AtomicPlace {
                    buffer,
                    index: Box::new(index),
                    site: bracket,
                };
                Expr {
                    kind,
                    ty: Ty::Handle(HandleTy::Atomic(s)),
                    span,
                }
            }
            (_, Ty::Error) => self.wrong(span),
            (_, ty) if matches!(self.types.resolve(ty), Ty::Array(..)) => {
                let Ty::Array(element, _) = self.types.resolve(&base.ty) else {
                    return self.wrong(span);
                };
                self.indexed(i, &Ty::Size, &index);
                // rustc locates the index of an array at the whole expression.
                Expr {
                    kind: Kind::Element(Box::new(base), Box::new(index), span),
                    ty: *element,
                    span,
                }
            }
            (_, Ty::Handle(HandleTy::Buf(_) | HandleTy::AtomicBuf(_))) => {
                self.error(
                    span,
                    "a buffer is indexed by its parameter's name",
                    "write `xs[i]` in each branch",
                );
                self.wrong(span)
            }
            (_, &Ty::Handle(HandleTy::Own { scalar, mutable })) => {
                let (name, s) = (strip(&i.expr).to_token_stream(), scalar.name());
                let whole = if mutable {
                    format!("&Buf<Atomic<{s}>>")
                } else {
                    format!("&Buf<{s}>")
                };
                if self.first_of(&base.ty, &Ty::U32) {
                    self.error(
                        span,
                        format!("`{name}` is the item's own element, one `{s}`, and has no index"),
                        format!("write `*{name}`, or take the whole buffer: `{name}: {whole}`"),
                    );
                }
                self.wrong(span)
            }
            (_, ty) => {
                let shown = self.types.show(ty);
                self.leave(format!("cannot index a `{shown}`"));
                self.wrong(span)
            }
        }
    }

    /// Checks the type of an index.
    fn indexed(&mut self, i: &syn::ExprIndex, by: &Ty, index: &Expr) {
        if self.types.unify(by, &index.ty).is_ok() || self.unread(index) {
            return;
        }
        let found = self.types.resolve(&index.ty);
        if !types::is_integer(&found) {
            self.mismatch(by, index);
        } else if self.first_of(by, &found) {
            let (by, found) = (self.types.show(by), self.types.show(&found));
            let shown = source_text(strip(&i.expr));
            let better = match by.as_str() {
                "u32" => "indices, lengths and nodes are all u32",
                _ => "a local array is a Rust array",
            };
            self.error(
                index.span,
                format!("`{shown}` is indexed by `{by}`, not by `{found}`"),
                format!("convert it, `{shown}[.. as {by}]`: {better}"),
            );
        }
    }

    /// `g.edges(v).start` or `g.edges(v).end`.
    fn end_of_edges(&mut self, f: &syn::ExprField, span: Span) -> Option<Expr> {
        let (syn::Expr::MethodCall(m), syn::Member::Named(end)) = (strip(&f.base), &f.member)
        else {
            return None;
        };
        let query = match end.to_string().as_str() {
            "start" => CsrQuery::Begin,
            "end" => CsrQuery::End,
            _ => return None,
        };
        let (true, 1, None) = (m.method == "edges", m.args.len(), &m.turbofish) else {
            return None;
        };
        let of = self.base(&m.receiver);
        let (Kind::Handle(graph), Ty::Handle(HandleTy::Csr)) =
            (&of.kind, self.types.resolve(&of.ty))
        else {
            return None;
        };
        let graph = *graph;
        let of = self.value(&m.args[0]);
        self.unify(&Ty::U32, &of);
        Some(Expr {
            kind: Kind::Csr {
                query: CsrCall::Query(query),
                graph,
                of: Box::new(of),
                site: m.method.span(),
            },
            ty: Ty::U32,
            span,
        })
    }

    pub(super) fn field(&mut self, f: &syn::ExprField, span: Span) -> Expr {
        if let Some(end) = self.end_of_edges(f, span) {
            return end;
        }
        let base = self.base(&f.base);
        if let (Ty::Handle(HandleTy::Frontier | HandleTy::List), syn::Member::Named(member)) =
            (&base.ty, &f.member)
        {
            let name = self.name_of(&base);
            self.error(
                member.span(),
                format!("`{name}` has no field `{member}`"),
                format!("ask for `{name}.is_empty()` or `{name}.len()`"),
            );
            return self.wrong(span);
        }
        match (&base.kind, self.types.resolve(&base.ty), &f.member) {
            (&Kind::Handle(h), Ty::Handle(HandleTy::Edge), syn::Member::Named(name)) => {
                let field = match name.to_string().as_str() {
                    "src" => ItemField::Src,
                    "dst" => ItemField::Dst,
                    "index" => ItemField::Index,
                    other => {
                        self.leave(format!("no field `{other}` on type `Edge`"));
                        return self.wrong(span);
                    }
                };
                Expr {
                    kind: Kind::EdgeField(h, field),
                    ty: Ty::U32,
                    span,
                }
            }
            (_, Ty::Tuple(parts), syn::Member::Unnamed(i)) => match parts.get(i.index as usize) {
                Some(ty) => {
                    let ty = ty.clone();
                    Expr {
                        kind: Kind::Field(Box::new(base), i.index as usize),
                        ty,
                        span,
                    }
                }
                None => {
                    self.leave("no such field");
                    self.wrong(span)
                }
            },
            (_, Ty::Struct(s), member) => match s.0.field(member) {
                Some(at) => {
                    let ty = s.0.fields[at].1.clone();
                    Expr {
                        kind: Kind::Field(Box::new(base), at),
                        ty,
                        span,
                    }
                }
                None => {
                    self.leave(format!("no such field of `{}`", s.0.name));
                    self.wrong(span)
                }
            },
            (_, Ty::Error, _) => self.wrong(span),
            (_, Ty::Var(_), _) => {
                self.leave("the type must be known here");
                self.wrong(span)
            }
            (_, ty, _) => {
                let shown = self.types.show(&ty);
                self.leave(format!("a `{shown}` has no such field"));
                self.wrong(span)
            }
        }
    }

    /// Refuses `xs.iter().map(..)` and the like at the last method that is an iterator's; true if it did.
    pub(super) fn iterator_chain(&mut self, m: &syn::ExprMethodCall) -> bool {
        let name = m.method.to_string();
        let Some(advice) = methods::instead(&name) else {
            return false;
        };
        let over_iterator = match strip(&m.receiver) {
            syn::Expr::Range(_) => true,
            syn::Expr::MethodCall(inner) => {
                let inner = inner.method.to_string();
                matches!(inner.as_str(), "neighbors" | "edges")
                    || methods::instead(&inner).is_some()
            }
            _ => false,
        };
        if over_iterator {
            self.error(
                m.method.span(),
                format!("method `{name}` is not in the kernel language"),
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
            Ty::Array(element, n) => self.array_method(m, receiver, (*element, n), span),
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

    fn struct_method(
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

    fn array_method(
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
                    let base = c.value(&m.receiver);
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
                    "iter" | "into_iter" | "iter_mut" => "write `for x in array` or index it",
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
        let known: &[&str] = match h {
            HandleTy::Atomic(_) => methods::ATOMIC,
            HandleTy::Buf(_) | HandleTy::AtomicBuf(_) => &["len", "is_empty"],
            HandleTy::Csr => &["neighbors", "edges", "target", "degree"],
            HandleTy::Push | HandleTy::PushItems(_) => &["push"],
            HandleTy::Append(_) => &["append"],
            HandleTy::Records(_) => &["get", "len", "is_empty"],
            HandleTy::Reduce { count: true, .. } => &["inc"],
            HandleTy::Reduce {
                op: ReduceOp::Sum, ..
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
            HandleTy::Edge | HandleTy::Own { .. } | HandleTy::Bits => &[],
        };
        if !known.contains(&name.as_str()) {
            let near = did_you_mean(&name, known.iter().copied());
            if near.is_some() && self.role != Role::Condition {
                // The type has no such method for rustc either, and rustc names the one meant.
                self.arguments(m);
                self.leave(format!("`{h}` has no method `{name}`"));
                return self.wrong(span);
            }
            let help = match (near, known) {
                (Some(near), _) => format!("did you mean `{near}`?"),
                (None, []) => "use its fields".to_owned(),
                (None, ["len", ..]) if matches!(h, HandleTy::Buf(_) | HandleTy::AtomicBuf(_)) => {
                    "write `for i in 0..xs.len()` and `xs[i]`".to_owned()
                }
                (None, _) => format!("it has `{}`", known.join("`, `")),
            };
            self.error(
                site,
                format!("`{h}` has no method `{name}` in the kernel language"),
                help,
            );
            return self.wrong(span);
        }
        let takes = match (h, name.as_str()) {
            (HandleTy::Atomic(_), "compare_exchange") => 2,
            (_, "len" | "load" | "is_empty" | "inc") => 0,
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
            HandleTy::Frontier | HandleTy::List if name == "is_empty" => {
                (Kind::FrontierLen(handle, true), Ty::BOOL)
            }
            HandleTy::Frontier | HandleTy::List => (Kind::FrontierLen(handle, false), Ty::U32),
            HandleTy::Csr if name == "neighbors" || name == "edges" => {
                self.error(
                    site,
                    format!("`{name}` is for loops in the kernel language"),
                    if name == "edges" {
                        "write `for e in g.edges(v)`, or take its ends: `g.edges(v).start`, `g.edges(v).end`"
                    } else {
                        "write `for w in g.neighbors(v)`; `g.degree(v)` is their number"
                    },
                );
                return self.wrong(span);
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
            HandleTy::Edge | HandleTy::Own { .. } | HandleTy::Atomic(_) | HandleTy::Bits => {
                return self.wrong(span);
            }
        };
        Expr { kind, ty, span }
    }

    fn bits_method(&mut self, m: &syn::ExprMethodCall, receiver: Expr, span: Span) -> Expr {
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
                Handle::Bound(Binding::Bits { width: a, .. }),
                Handle::Bound(Binding::Bits { width: b, .. }),
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
            (_, Some(v), None) => match methods::atomic(name) {
                Some(op) => (Kind::Atomic(op, place, v), element),
                None => return self.wrong(span),
            },
            _ => return self.wrong(span),
        };
        Expr { kind, ty, span }
    }

    /// Whether a function of another module has, or will have, arrived by this name.
    fn is_outside(&self, name: &str) -> bool {
        let helpers = self.env.helpers;
        let path = helpers.outside(name, (self.depth, &self.inside));
        path.is_some_and(|path| {
            helpers.expected.contains(&path) || helpers.imports.contains_key(&path)
        })
    }

    /// Whether a path leads to a module that the macro sees.
    fn is_module(&self, path: &str) -> bool {
        let (words, at) = (names::words(path), (self.depth, &self.inside[..]));
        let module = names::resolve(&self.env.helpers.names, at, &words, Space::Modules);
        matches!(module, Meaning::Here(..))
    }

    pub(super) fn call(&mut self, c: &syn::ExprCall, span: Span) -> Expr {
        let syn::Expr::Path(p) = strip(&c.func) else {
            self.error(
                first_token(&c.func),
                "only functions can be called by name in the kernel language",
                "call a `#[device] fn`",
            );
            return self.wrong(span);
        };
        let Some(last) = p.path.segments.last() else {
            return self.wrong(span);
        };
        let at = last.ident.span();
        let name = last.ident.to_string();
        let before = p
            .path
            .segments
            .iter()
            .rev()
            .nth(1)
            .map(|s| s.ident.to_string());
        if before.is_none()
            && let Some(advice) = refuse::cuda(&name)
            && self
                .env
                .helpers
                .function(&name, (self.depth, &self.inside))
                .is_none()
            && !self.is_outside(&name)
        {
            self.error(at, format!("`{name}` is CUDA C's"), advice);
            return self.wrong(span);
        }
        if let Some(advice) = constructor(&name, before.as_deref()) {
            let shown = before
                .as_ref()
                .map_or_else(|| name.clone(), |b| format!("{b}::{name}"));
            self.error(
                first_token(p),
                format!("`{shown}` is not in the kernel language"),
                advice,
            );
            return self.wrong(span);
        }
        if p.qself.is_some() || p.path.segments.iter().any(|s| !s.arguments.is_none()) {
            self.error(
                at,
                "generics are not in the kernel language",
                "call a function of concrete types",
            );
            return self.wrong(span);
        }
        let shown = shown(&p.path);
        if let Some(before) = &before {
            let of = self.named(shown.rsplit_once("::").map_or("", |(of, _)| of));
            if of == Some(Ty::Error) {
                for a in &c.args {
                    self.value(a);
                }
                return self.wrong(span);
            }
            if let Some(Ty::Struct(of)) = of {
                let name = format!("{}::{name}", of.0.name);
                return match helper(&name, at, self.depth, self) {
                    Some(Found::Function(f)) => {
                        let args = c.args.iter().map(|a| self.value(a)).collect();
                        if f.mut_self {
                            self.error(
                                at,
                                "a `&mut self` method is called as a method in the kernel language",
                                "write `value.method(..)`",
                            );
                        }
                        self.apply(f, args, (&name, None), span)
                    }
                    Some(Found::Failed(ty)) => Expr {
                        ty: ty.unwrap_or(Ty::Error),
                        ..self.wrong(span)
                    },
                    None => {
                        self.leave(format!(
                            "kernels do not see a function `{name}`: write the value out, or a function in an `impl` beside the struct"
                        ));
                        self.wrong(span)
                    }
                };
            }
            if let Some(s) = types::named_scalar(before) {
                return self.scalar_function(s, &name, at, c, span);
            }
            if before == "cmp" && matches!(name.as_str(), "min" | "max") && c.args.len() == 2 {
                let receiver = self.value(&c.args[0]);
                return self.scalar_method(&name, at, receiver, vec![&c.args[1]], span);
            }
        }
        if p.path.get_ident().is_some_and(|i| self.lookup(i).is_some()) {
            self.leave(format!("`{name}` is not a function"));
            return self.wrong(span);
        }
        if before.is_none()
            && let Some(Ty::Struct(s)) = self.named(&name)
            && s.0.tuple
        {
            let parts: Vec<Expr> = c.args.iter().map(|a| self.value(a)).collect();
            if parts.len() != s.0.fields.len() {
                self.leave(format!("`{name}` has {} fields", s.0.fields.len()));
                return self.wrong(span);
            }
            for (p, (_, ty)) in parts.iter().zip(&s.0.fields) {
                self.unify(ty, p);
            }
            return Expr {
                kind: Kind::Tuple(parts),
                ty: Ty::Struct(s),
                span,
            };
        }
        let modules = shown.rsplit_once("::").map(|(modules, _)| modules);
        let is_local = modules.is_none_or(|path| self.is_module(path));
        let outside = (self.env.helpers).outside(&shown, (self.depth, &self.inside));
        let found =
            helper(&shown, at, self.depth, self).or_else(|| import(outside.as_deref()?, self));
        let f = match found {
            Some(Found::Function(f)) => f,
            Some(Found::Failed(ty)) => {
                for a in &c.args {
                    self.value(a);
                }
                return Expr {
                    ty: ty.unwrap_or(Ty::Error),
                    ..self.wrong(span)
                };
            }
            None => {
                for a in &c.args {
                    self.value(a);
                }
                if is_variant(&shown) {
                    self.error(
                        at,
                        format!("`{shown}` is not in the kernel language"),
                        NO_ENUMS,
                    );
                    return self.wrong(span);
                }
                if self.refused.contains(&name) {
                    return self.wrong(span);
                }
                if outside.is_some_and(|path| self.env.helpers.unmarked.contains(&path)) {
                    self.error(
                        at,
                        format!("`{shown}` is not a `#[device]` function"),
                        format!("write `#[device]` before `fn {name}` to inline it into kernels"),
                    );
                    return self.wrong(span);
                }
                let near = did_you_mean(&name, self.env.helpers.names(self.depth));
                let help = match near {
                    Some(near) if is_local => {
                        self.report.meant(at, &name, near);
                        format!("did you mean `{near}`?")
                    }
                    _ if refuse::of_std(&name).is_some() => {
                        refuse::of_std(&name).unwrap_or_default().to_owned()
                    }
                    _ => "kernels call `#[device] fn`s: of this module, by a path, or by a name that a `use` brings".to_owned(),
                };
                self.error(
                    at,
                    format!("`{shown}` is not a `#[device]` function in scope"),
                    help,
                );
                return self.wrong(span);
            }
        };
        let args = c.args.iter().map(|a| self.value(a)).collect();
        self.apply(f, args, (&name, None), span)
    }

    pub(super) fn apply(
        &mut self,
        f: Rc<Function>,
        args: Vec<Expr>,
        (name, place): (&str, Option<Place>),
        span: Span,
    ) -> Expr {
        if args.len() != f.params.len() {
            self.leave(format!("`{name}` takes {} arguments", f.params.len()));
            return self.wrong(span);
        }
        for (i, (a, p)) in args.iter().zip(&f.params).enumerate() {
            match p {
                Param::Value(id) => {
                    let expected = f.types.resolve(&f.vars[id.0].ty);
                    if let Kind::Handle(_) = a.kind {
                        self.leave("mismatched types: a value is expected");
                    } else {
                        self.unify(&expected, a);
                    }
                }
                Param::Handle => {
                    let shown = self.types.show(&a.ty);
                    if !matches!(a.kind, Kind::Handle(_)) && !matches!(a.ty, Ty::Error) {
                        self.error(
                            a.span,
                            format!("`{name}` takes a handle here, not a `{shown}`"),
                            "pass a parameter of the kernel by its name",
                        );
                    } else if let (Ty::Handle(found), Some(expected)) =
                        (&a.ty, f.handles.get(i).copied().flatten())
                        && !fits(*found, expected)
                        // `Push` is `Push<u32>`: the declaration says what the items are.
                        && !matches!(
                            (found, expected),
                            (HandleTy::Push, HandleTy::PushItems(of)) | (&HandleTy::PushItems(of), HandleTy::Push)
                                if self.record(of) == Ty::U32
                        )
                    {
                        self.leave(format!(
                            "mismatched types: expected `{expected}`, found `{found}`"
                        ));
                    }
                }
                Param::Copy(..) | Param::Own(..) => {}
            }
        }
        let ty = f.types.resolve(&f.result);
        Expr {
            kind: Kind::Call(f, args, place),
            ty,
            span,
        }
    }

    /// `u64::from(x)`, `f32::from_bits(x)`, `u32::min(a, b)`.
    pub(super) fn scalar_function(
        &mut self,
        s: Scalar,
        name: &str,
        at: Span,
        c: &syn::ExprCall,
        span: Span,
    ) -> Expr {
        let ty = Ty::Scalar(s);
        match (name, c.args.len()) {
            ("from", 1) => {
                let value = self.value(&c.args[0]);
                Expr {
                    kind: Kind::Cast(Box::new(value)),
                    ty,
                    span,
                }
            }
            ("from_bits", 1) if types::is_float(s) => {
                let value = self.value(&c.args[0]);
                self.unify(&Ty::Scalar(unsigned(s)), &value);
                Expr {
                    kind: Kind::Method(methods::Code::FromBits, vec![value], at),
                    ty,
                    span,
                }
            }
            ("default" | "new", 0) => {
                self.error(
                    at,
                    format!("`{}::{name}` is not in the kernel language", s.name()),
                    "write the literal",
                );
                self.wrong(span)
            }
            (_, 0) => {
                self.leave(format!("no function `{name}`"));
                self.wrong(span)
            }
            _ => {
                let receiver = self.value(&c.args[0]);
                self.unify(&ty, &receiver);
                self.scalar_method(name, at, receiver, c.args.iter().skip(1).collect(), span)
            }
        }
    }

    /// The text of a message, which a lane cannot format.
    fn message(&mut self, args: &[syn::Expr]) -> Option<String> {
        const ADVICE: &str =
            "a lane cannot format: write the text only; the trap names kernel, place and item";
        let (first, rest) = args.split_first()?;
        let syn::Expr::Lit(syn::ExprLit {
            lit: syn::Lit::Str(text),
            ..
        }) = first
        else {
            let what = "a message is a string literal";
            if let syn::Expr::Macro(_) = first {
                self.error(first_token(first), what, ADVICE);
            } else {
                self.leave(what);
            }
            return None;
        };
        let what = "a message with arguments is not in the kernel language";
        let mut said = String::new();
        let value = text.value();
        let mut left = value.chars().peekable();
        while let Some(c) = left.next() {
            if matches!(c, '{' | '}') && left.next_if_eq(&c).is_none() {
                self.error(text.span(), what, ADVICE);
                return None;
            }
            said.push(c);
        }
        if let Some(argument) = rest.first() {
            self.error(first_token(argument), what, ADVICE);
            return None;
        }
        Some(said)
    }

    pub(super) fn mac(&mut self, m: &syn::Macro) -> Expr {
        use syn::parse::Parser;
        let span = first_token(&m.path);
        let name = m
            .path
            .segments
            .last()
            .map(|s| s.ident.to_string())
            .unwrap_or_default();
        let arguments = || {
            syn::punctuated::Punctuated::<syn::Expr, syn::Token![,]>::parse_terminated
                .parse2(m.tokens.clone())
                .map(|a| a.into_iter().collect::<Vec<_>>())
        };
        let debug = name.starts_with("debug_");
        match name.trim_start_matches("debug_") {
            "assert" => match arguments() {
                Ok(args) if !args.is_empty() => {
                    let cond = self.value(&args[0]);
                    self.unify(&Ty::BOOL, &cond);
                    let message = self.message(&args[1..]);
                    Expr {
                        kind: Kind::Assert {
                            cond: Box::new(cond),
                            debug,
                            message,
                            site: span,
                        },
                        ty: Ty::UNIT,
                        span,
                    }
                }
                _ => {
                    self.leave("`assert!` takes a condition");
                    self.wrong(span)
                }
            },
            op @ ("assert_eq" | "assert_ne") => match arguments() {
                Ok(args) if args.len() >= 2 => {
                    let (left, right) = (self.value(&args[0]), self.value(&args[1]));
                    let ty = left.ty.clone();
                    self.unify(&ty, &right);
                    let op = if op == "assert_eq" {
                        CompareOp::Eq
                    } else {
                        CompareOp::Ne
                    };
                    let kind = Kind::Compare(op, Box::new(left), Box::new(right));
                    let cond = Box::new(Expr {
                        kind,
                        ty: Ty::BOOL,
                        span,
                    });
                    let message = self.message(&args[2..]);
                    Expr {
                        kind: Kind::Assert {
                            cond,
                            debug,
                            message,
                            site: span,
                        },
                        ty: Ty::UNIT,
                        span,
                    }
                }
                _ => {
                    self.leave("`assert_eq!` takes two values");
                    self.wrong(span)
                }
            },
            "panic" | "unreachable" | "todo" | "unimplemented" if !debug => match arguments() {
                Ok(args) => {
                    let text = self.message(&args);
                    let std = match name.as_str() {
                        "unreachable" => Some("internal error: entered unreachable code"),
                        "todo" => Some("not yet implemented"),
                        "unimplemented" => Some("not implemented"),
                        _ => None,
                    };
                    let message = match (std, text) {
                        (Some(std), Some(text)) => Some(format!("{std}: {text}")),
                        (std, text) => text.or(std.map(str::to_owned)),
                    };
                    Expr {
                        kind: Kind::Panic(span, message),
                        ty: Ty::Never,
                        span,
                    }
                }
                Err(_) => {
                    self.leave(format!("`{name}!` takes a message"));
                    self.wrong(span)
                }
            },
            "matches" if !debug => {
                let arms = |input: syn::parse::ParseStream<'_>| {
                    let of: syn::Expr = input.parse()?;
                    input.parse::<syn::Token![,]>()?;
                    let mut pattern: Vec<_> = input.parse::<TokenStream>()?.into_iter().collect();
                    if matches!(pattern.last(), Some(TokenTree::Punct(p)) if p.as_char() == ',') {
                        pattern.pop();
                    }
                    let pattern: TokenStream = pattern.into_iter().collect();
                    syn::parse2(quote! { match (#of) { #pattern => true, _ => false } })
                };
                match arms.parse2(m.tokens.clone()) {
                    Ok(m) => self.matching(&m, span),
                    Err(_) => {
                        self.leave("`matches!` takes a value and a pattern");
                        self.wrong(span)
                    }
                }
            }
            _ => {
                let (at, what, advice) = refuse::macros(m);
                self.error(at, what, advice);
                self.wrong(span)
            }
        }
    }
}

/// A handle may be passed where the helper wants one: `&mut T` also as `&T`.
fn fits(found: HandleTy, expected: HandleTy) -> bool {
    match (found, expected) {
        (
            HandleTy::Own { scalar: a, .. },
            HandleTy::Own {
                scalar: b,
                mutable: false,
            },
        ) => a == b,
        _ => found == expected,
    }
}

/// Advice for a call that builds something a lane does not have.
fn constructor(name: &str, before: Option<&str>) -> Option<&'static str> {
    match (before, name) {
        (None, "Some" | "Ok" | "Err") => {
            Some("lanes have no `Option` and no `Result`: use a sentinel value such as `u32::MAX`")
        }
        (
            Some(
                "Vec" | "Box" | "Rc" | "Arc" | "HashMap" | "HashSet" | "VecDeque" | "BTreeMap"
                | "BTreeSet",
            ),
            _,
        ) => Some("lanes have no heap: declare a buffer in `Data` and take it as a parameter"),
        (Some("String" | "str"), _) => Some("lanes have no strings"),
        (Some("Cell" | "RefCell" | "Mutex" | "AtomicU32" | "AtomicU64" | "AtomicUsize"), _) => {
            Some("take `&Buf<Atomic<T>>` as a parameter")
        }
        (Some("mem"), "swap") => Some("write `(a, b) = (b, a)`"),
        (Some("mem"), "replace" | "take") => Some("write the two assignments"),
        _ => None,
    }
}
