//! Places: what an index or a field names, and what an assignment writes.

use super::*;
use crate::tokens::source_text;

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
        let base = self.base(&i.expr);
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
            (_, ty) if let Ty::Row(_, what @ RowOf::Values(_)) = self.types.resolve(ty) => {
                self.indexed(i, &Ty::U32, &index);
                Expr {
                    kind: Kind::RowAt(Box::new(base), Box::new(index), bracket),
                    ty: what.item(),
                    span,
                }
            }
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
            (_, &Ty::Handle(of @ (HandleTy::Records(_) | HandleTy::Rows(_)))) => {
                let name = strip(&i.expr).to_token_stream();
                let get = match of {
                    HandleTy::Rows(_) => "row",
                    _ => "get",
                };
                self.error(
                    first_token(&i.index),
                    format!("`{name}` has no index"),
                    format!("write `{name}.{get}(i)`"),
                );
                self.wrong(span)
            }
            (_, ty) => {
                let shown = self.types.show(ty);
                if let Ty::Row(..) = self.types.resolve(ty) {
                    self.error(
                        first_token(&i.index),
                        format!("a `{shown}` is not indexed"),
                        "write `.at(k)`: what is at a place of the row",
                    );
                    return self.wrong(span);
                }
                self.leave(format!("cannot index a `{shown}`"));
                self.wrong(span)
            }
        }
    }

    /// Checks the type of an index.
    pub(super) fn indexed(&mut self, i: &syn::ExprIndex, by: &Ty, index: &Expr) {
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
    pub(super) fn end_of_edges(&mut self, f: &syn::ExprField, span: Span) -> Option<Expr> {
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
        let queue = matches!(
            base.ty,
            Ty::Handle(HandleTy::Frontier | HandleTy::List | HandleTy::Relation)
        );
        if let (true, syn::Member::Named(member)) = (queue, &f.member) {
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
            (&Kind::Handle(h), Ty::Handle(HandleTy::Cell), syn::Member::Named(name)) => {
                let field = match name.to_string().as_str() {
                    "x" => CellField::X,
                    "y" => CellField::Y,
                    "index" => CellField::Index,
                    other => {
                        self.leave(format!("no field `{other}` on type `Cell`"));
                        return self.wrong(span);
                    }
                };
                Expr {
                    kind: Kind::CellField(h, field),
                    ty: Ty::U32,
                    span,
                }
            }
            (_, Ty::Row(_, what), syn::Member::Named(name)) => {
                let edges = what == RowOf::Edges;
                let end = match name.to_string().as_str() {
                    "start" if edges => 0,
                    "end" if edges => 1,
                    other => {
                        let what = self.types.show(&base.ty);
                        self.leave(format!("no field `{other}` on type `{what}`"));
                        return self.wrong(span);
                    }
                };
                Expr {
                    kind: Kind::Field(Box::new(base), end),
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

    /// Reports that a reduction is assigned to.
    pub(super) fn assigned_reduction(&mut self, e: &syn::Expr, (op, count): (ReduceOp, bool)) {
        let name = source_text(e);
        let method = match op {
            ReduceOp::Sum if count => "inc()",
            ReduceOp::Sum | ReduceOp::ExactSum => "add(..)",
            ReduceOp::Min => "min(..)",
            ReduceOp::Max => "max(..)",
            ReduceOp::Or => "or(..)",
            ReduceOp::And => "and(..)",
        };
        self.error(
            first_token(e),
            format!("the reduction `{name}` is updated by its method"),
            format!("write `{name}.{method}`"),
        );
    }

    pub(super) fn place(&mut self, e: &syn::Expr) -> Option<(Place, Ty)> {
        match e {
            syn::Expr::Paren(p) => self.place(&p.expr),
            syn::Expr::Path(p) => {
                let ident = p.path.get_ident();
                let name = ident.map(ToString::to_string).unwrap_or_default();
                match ident.and_then(|i| self.lookup(i)) {
                    Some(Name::Var(id)) => {
                        Some((Place::Var(id, Vec::new()), self.vars[id.0].ty.clone()))
                    }
                    None if self.bound(&name).next().is_some() => {
                        self.other_macro(&name, first_token(p));
                        None
                    }
                    Some(Name::Handle(_, HandleTy::Reduce { op, count, .. })) => {
                        self.assigned_reduction(e, (op, count));
                        None
                    }
                    _ => {
                        self.leave(format!("cannot assign to `{name}`"));
                        None
                    }
                }
            }
            syn::Expr::Unary(syn::ExprUnary {
                op: syn::UnOp::Deref(_),
                expr,
                ..
            }) => {
                if self.referred(expr).is_some() {
                    return self.place(expr);
                }
                let inner = self.expr(expr, None);
                match (&inner.kind, &inner.ty) {
                    (
                        &Kind::Handle(h),
                        &Ty::Handle(HandleTy::Own {
                            scalar,
                            mutable: true,
                        }),
                    ) => Some((Place::Own(h), Ty::Scalar(scalar))),
                    (_, Ty::Error) => None,
                    (_, &Ty::Handle(HandleTy::Reduce { op, count, .. })) => {
                        self.assigned_reduction(expr, (op, count));
                        None
                    }
                    _ => {
                        self.leave("cannot assign through this reference");
                        None
                    }
                }
            }
            syn::Expr::Field(f) => {
                if let syn::Expr::Path(p) = &*f.base
                    && let Some(Name::Handle(_, of @ (HandleTy::Edge | HandleTy::Cell))) =
                        p.path.get_ident().and_then(|i| self.lookup(i))
                {
                    let of = match of {
                        HandleTy::Cell => "a cell",
                        _ => "an edge",
                    };
                    self.error(
                        first_token(&f.member),
                        format!("{of}'s fields cannot be assigned"),
                        "copy the field with `let mut`",
                    );
                    return None;
                }
                let (place, ty) = self.place(&f.base)?;
                let ty = self.types.resolve(&ty);
                let at = match (&ty, &f.member) {
                    (Ty::Struct(s), member) => s.0.field(member),
                    (Ty::Tuple(_), syn::Member::Unnamed(i)) => Some(i.index as usize),
                    _ => None,
                };
                let part = at.and_then(|at| ty.fields()?.into_iter().nth(at));
                let (Place::Var(id, mut path), Some(at), Some(part)) = (place, at, part) else {
                    self.leave("no such field");
                    return None;
                };
                path.push(Projection::Field(at));
                Some((Place::Var(id, path), part))
            }
            syn::Expr::Index(i) if self.in_variable(&i.expr) => {
                let (place, ty) = self.place(&i.expr)?;
                let index = self.value(&i.index);
                let (Place::Var(id, mut path), Ty::Array(part, _)) =
                    (place, self.types.resolve(&ty))
                else {
                    self.leave("cannot index this");
                    return None;
                };
                self.unify(&Ty::Size, &index);
                path.push(Projection::Index(index, start(e)));
                Some((Place::Var(id, path), *part))
            }
            syn::Expr::Index(i)
                if let Some((
                    row,
                    HandleTy::OwnValues {
                        scalar,
                        mutable: true,
                    },
                )) = self.handle_path(&i.expr) =>
            {
                let index = self.value(&i.index);
                self.indexed(i, &Ty::U32, &index);
                let bracket = i.bracket_token.span.open();
                Some((
                    Place::InRow(row, Box::new(index), bracket),
                    Ty::Scalar(scalar),
                ))
            }
            syn::Expr::Index(i) => {
                let target = self.expr(e, None);
                let shown = source_text(e);
                match target.ty {
                    Ty::Handle(HandleTy::Atomic(_)) => self.error(
                        target.span,
                        format!("`{shown}` is an atomic, and is changed by its methods"),
                        format!("write `{shown}.store(..)`, or `{shown}.fetch_add(..)`, `fetch_min`, `fetch_max` and the like to update it"),
                    ),
                    Ty::Scalar(s) if matches!(target.kind, Kind::Load { .. }) => {
                        let (name, s) = (strip(&i.expr).to_token_stream(), s.name());
                        self.error(
                            target.span,
                            format!("`{name}` is a `&Buf<{s}>`, which lanes only read"),
                            format!("take `{name}: &Buf<Atomic<{s}>>` and write `{shown}.store(..)`, or `{name}: &mut {s}` where each lane changes its own element only"),
                        );
                    }
                    Ty::Scalar(s) if matches!(target.kind, Kind::RowAt(..)) => {
                        let name = strip(&i.expr).to_token_stream();
                        self.error(
                            target.span,
                            format!("the values of `{name}` are only read"),
                            format!("a lane changes the row of an output or scratch that is its own, as `row: &mut Row<{}>`", s.name()),
                        );
                    }
                    Ty::Error => {}
                    _ => self.leave("cannot assign to this"),
                }
                None
            }
            syn::Expr::Binary(_)
            | syn::Expr::Lit(_)
            | syn::Expr::Call(_)
            | syn::Expr::MethodCall(_) => {
                self.error(
                    first_token(e),
                    "this is a value, and cannot be assigned to",
                    "assign to a variable, `*y` or a field; or is a `;` missing before?",
                );
                None
            }
            other => {
                let (at, what, advice) = refuse::expression(other);
                self.error(at, what, advice);
                None
            }
        }
    }

    /// What a name refers to, where it is that of a reference.
    pub(super) fn referred(&self, e: &syn::Expr) -> Option<Expr> {
        let syn::Expr::Path(p) = strip(e) else {
            return None;
        };
        match self.lookup(p.path.get_ident()?) {
            Some(Name::Var(id)) if self.refs.contains(&id) => Some(Expr {
                kind: Kind::Var(id),
                ty: self.vars[id.0].ty.clone(),
                span: first_token(p),
            }),
            _ => None,
        }
    }

    /// An expression of which a field or a method follows, which also see through references.
    pub(super) fn base(&mut self, e: &syn::Expr) -> Expr {
        self.referred(e).unwrap_or_else(|| self.expr(e, None))
    }

    /// Whether an expression names a variable or a part of one.
    pub(super) fn in_variable(&self, e: &syn::Expr) -> bool {
        match strip(e) {
            syn::Expr::Field(f) => self.in_variable(&f.base),
            syn::Expr::Index(i) => self.in_variable(&i.expr),
            syn::Expr::Unary(u) => {
                matches!(u.op, syn::UnOp::Deref(_)) && self.referred(&u.expr).is_some()
            }
            syn::Expr::Path(p) => p
                .path
                .get_ident()
                .is_some_and(|i| matches!(self.lookup(i), Some(Name::Var(_)))),
            _ => false,
        }
    }

    pub(super) fn assign(&mut self, a: &syn::ExprAssign, span: Span) -> Expr {
        if self.role == Role::Condition {
            self.error(
                a.eq_token.span,
                "`until` asks, and changes nothing",
                "write `==` to compare",
            );
            return self.wrong(span);
        }
        let value = self.value(&a.right);
        let kind = match &*a.left {
            syn::Expr::Infer(_) => Kind::Discard(Box::new(value)),
            syn::Expr::Tuple(t) => {
                let mut stmts = Vec::new();
                let mut parts = Vec::new();
                let mut tys = Vec::new();
                let mut targets = Vec::new();
                for e in &t.elems {
                    if let syn::Expr::Infer(_) = e {
                        parts.push(Pat::Ignore);
                        tys.push(self.types.any());
                        continue;
                    }
                    let Some((place, ty)) = self.place(e) else {
                        return self.wrong(span);
                    };
                    let id = self.hidden(ty.clone());
                    parts.push(Pat::Var(id));
                    tys.push(ty.clone());
                    targets.push((place, id, ty));
                }
                self.unify(&Ty::Tuple(tys), &value);
                stmts.push(Stmt::Let(Pat::Tuple(parts), Some(value)));
                for (place, id, ty) in targets {
                    let value = Expr {
                        kind: Kind::Var(id),
                        ty,
                        span,
                    };
                    let kind = Kind::Assign(place, Box::new(value));
                    stmts.push(Stmt::Expr(Expr {
                        kind,
                        ty: Ty::UNIT,
                        span,
                    }));
                }
                Kind::Block(Block {
                    stmts,
                    tail: None,
                    ends: false,
                })
            }
            left => {
                let Some((place, ty)) = self.place(left) else {
                    return self.wrong(span);
                };
                self.unify(&ty, &value);
                Kind::Assign(place, Box::new(value))
            }
        };
        Expr {
            kind,
            ty: Ty::UNIT,
            span,
        }
    }

    pub(super) fn assign_op(&mut self, b: &syn::ExprBinary, op: BinaryOp, span: Span) -> Expr {
        let value = self.operand(&b.right);
        let Some((place, ty)) = self.place(&b.left) else {
            return self.wrong(span);
        };
        if !matches!(op, BinaryOp::Shl | BinaryOp::Shr) {
            self.unify(&ty, &value);
        }
        if self.no_operators(&value, span) {
            return self.wrong(span);
        }
        Expr {
            kind: Kind::AssignOp(op, place, Box::new(value)),
            ty: Ty::UNIT,
            span,
        }
    }
}
