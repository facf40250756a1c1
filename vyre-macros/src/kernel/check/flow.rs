//! Branches, loops and patterns.

use super::*;

impl Checker<'_> {
    pub(super) fn branch(&mut self, i: &syn::ExprIf, span: Span) -> Expr {
        let cond = self.value(&i.cond);
        self.unify(&Ty::BOOL, &cond);
        let then = self.block(&i.then_branch, i.then_branch.brace_token.span.open());
        let (ty, otherwise) = match &i.else_branch {
            None => {
                self.unify(&Ty::UNIT, &then);
                (Ty::UNIT, None)
            }
            Some((_, e)) => {
                let otherwise = self.expr(e, None);
                (self.join(&then, &otherwise), Some(Box::new(otherwise)))
            }
        };
        Expr {
            kind: Kind::If(Box::new(cond), Box::new(then), otherwise),
            ty,
            span,
        }
    }

    /// The type of two alternatives.
    pub(super) fn join(&mut self, a: &Expr, b: &Expr) -> Ty {
        let ty = a.ty.clone();
        self.unify(&ty, b);
        if self.never(&ty) { b.ty.clone() } else { ty }
    }

    pub(super) fn matching(&mut self, m: &syn::ExprMatch, span: Span) -> Expr {
        let value = self.value(&m.expr);
        let of = value.ty.clone();
        if let Ty::Tuple(_) = self.types.resolve(&of) {
            self.error(
                first_token(&m.expr),
                "`match` on a tuple is not in the kernel language yet",
                "match one value, or use `if`",
            );
            return self.wrong(span);
        }
        let mut arms = Vec::new();
        let mut ty = Ty::Never;
        for arm in &m.arms {
            self.scopes.push(Vec::new());
            let mut binds = None;
            let mut tests = Vec::new();
            self.tests(&arm.pat, &of, &mut tests, &mut binds);
            let guard = arm.guard.as_ref().map(|(_, g)| {
                let g = self.value(g);
                self.unify(&Ty::BOOL, &g);
                g
            });
            let body = self.value(&arm.body);
            self.scopes.pop();
            self.unify(&ty, &body);
            if self.never(&ty) {
                ty = body.ty.clone();
            }
            arms.push(Arm {
                tests,
                binds,
                guard,
                body,
            });
        }
        Expr {
            kind: Kind::Match(Box::new(value), arms),
            ty,
            span,
        }
    }

    pub(super) fn tests(
        &mut self,
        p: &syn::Pat,
        of: &Ty,
        tests: &mut Vec<Test>,
        binds: &mut Option<VarId>,
    ) {
        match p {
            syn::Pat::Paren(p) => self.tests(&p.pat, of, tests, binds),
            syn::Pat::Or(o) => {
                for p in &o.cases {
                    self.tests(p, of, tests, binds);
                }
            }
            syn::Pat::Wild(_) => tests.push(Test::Any),
            syn::Pat::Ident(i) if i.by_ref.is_none() && !is_constant(&i.ident) => {
                let id = self.declare(&i.ident, of.clone(), i.mutability.is_some());
                *binds = Some(id);
                match &i.subpat {
                    Some((_, sub)) => self.tests(sub, of, tests, &mut None),
                    None => tests.push(Test::Any),
                }
            }
            syn::Pat::Ident(i) if i.by_ref.is_none() => {
                let e = syn::Expr::Path(syn::ExprPath {
                    attrs: vec![],
                    qself: None,
                    path: i.ident.clone().into(),
                });
                self.test_value(&e, of, tests);
            }
            syn::Pat::Lit(l) => self.test_value(&syn::Expr::Lit(l.clone()), of, tests),
            syn::Pat::Path(p) => self.test_value(&syn::Expr::Path(p.clone()), of, tests),
            syn::Pat::Range(r) => {
                let mut bound = |e: &Option<Box<syn::Expr>>| {
                    e.as_ref().map(|e| {
                        let e = self.value(e);
                        self.unify(of, &e);
                        e
                    })
                };
                let (start, end) = (bound(&r.start), bound(&r.end));
                let inclusive = matches!(r.limits, syn::RangeLimits::Closed(_));
                tests.push(Test::Within(start, end, inclusive));
            }
            syn::Pat::Verbatim(t) => match syn::parse2::<syn::Expr>(t.clone()) {
                Ok(e) => self.test_value(&e, of, tests),
                Err(_) => self.refuse_pattern(p),
            },
            _ => self.refuse_pattern(p),
        }
    }

    pub(super) fn refuse_pattern(&mut self, p: &syn::Pat) {
        refuse::pattern(p, self.report);
        self.failed = true;
    }

    pub(super) fn test_value(&mut self, e: &syn::Expr, of: &Ty, tests: &mut Vec<Test>) {
        let e = self.value(e);
        self.unify(of, &e);
        tests.push(Test::Equal(e));
    }

    pub(super) fn open_loop(
        &mut self,
        label: Option<&syn::Label>,
        plain: bool,
        turns: bool,
        result: Option<Ty>,
    ) -> LoopId {
        self.loops.push(LoopInfo {
            label: label.map(|l| l.name.ident.to_string()),
            plain,
            turns,
            result,
            broken: false,
        });
        self.open.push(self.loops.len() - 1);
        LoopId(self.loops.len() - 1)
    }

    pub(super) fn close_loop(&mut self) -> bool {
        self.open.pop().is_some_and(|l| self.loops[l].broken)
    }

    pub(super) fn labelled(&mut self, b: &syn::ExprBlock, label: &syn::Label, span: Span) -> Expr {
        let ty = self.types.any();
        let id = self.open_loop(Some(label), false, false, Some(ty.clone()));
        let body = self.block(&b.block, span);
        self.unify(&ty, &body);
        let ty = if self.close_loop() {
            ty
        } else {
            body.ty.clone()
        };
        Expr {
            kind: Kind::Labelled(id, Box::new(body)),
            ty,
            span,
        }
    }

    pub(super) fn while_loop(&mut self, w: &syn::ExprWhile, span: Span) -> Expr {
        let id = self.open_loop(w.label.as_ref(), true, true, None);
        let cond = self.value(&w.cond);
        self.unify(&Ty::BOOL, &cond);
        let body = self.block(&w.body, span);
        self.unify(&Ty::UNIT, &body);
        self.close_loop();
        Expr {
            kind: Kind::While(id, Box::new(cond), Box::new(body)),
            ty: Ty::UNIT,
            span,
        }
    }

    pub(super) fn endless(&mut self, l: &syn::ExprLoop, span: Span) -> Expr {
        let result = self.types.any();
        let id = self.open_loop(l.label.as_ref(), true, true, Some(result.clone()));
        let body = self.block(&l.body, span);
        self.unify(&Ty::UNIT, &body);
        let ty = if self.close_loop() { result } else { Ty::Never };
        Expr {
            kind: Kind::Loop(id, Box::new(body)),
            ty,
            span,
        }
    }

    pub(super) fn for_loop(&mut self, f: &syn::ExprForLoop, span: Span) -> Expr {
        let (source, item) = match self.source(&f.expr) {
            Some(s) => s,
            None => {
                // The body is checked all the same: its mistakes are independent.
                let source = Source::Range {
                    start: Box::new(self.wrong(span)),
                    end: Box::new(self.wrong(span)),
                    inclusive: false,
                    reversed: false,
                };
                (source, Ty::Error)
            }
        };
        self.scopes.push(Vec::new());
        let (pat, ty) = self.pattern(&f.pat);
        self.agree(&item, &ty);
        let var = match pat {
            Pat::Var(id) => Some(id),
            Pat::Ignore => None,
            Pat::Tuple(_) => {
                self.leave("the items of this loop are not tuples");
                None
            }
        };
        let id = self.open_loop(f.label.as_ref(), true, true, None);
        let body = self.block(&f.body, span);
        self.unify(&Ty::UNIT, &body);
        self.close_loop();
        self.scopes.pop();
        Expr {
            kind: Kind::For {
                id,
                var,
                source,
                body: Box::new(body),
            },
            ty: Ty::UNIT,
            span,
        }
    }

    pub(super) fn source(&mut self, e: &syn::Expr) -> Option<(Source, Ty)> {
        match e {
            syn::Expr::Paren(p) => self.source(&p.expr),
            syn::Expr::Group(g) => self.source(&g.expr),
            syn::Expr::Range(r) => {
                let (Some(start), Some(end)) = (&r.start, &r.end) else {
                    self.error(
                        first_token(e),
                        "a `for` needs both ends of its range",
                        "write `a..b`, or use `loop` with `break`",
                    );
                    return None;
                };
                let (start, end) = (self.value(start), self.value(end));
                let ty = start.ty.clone();
                self.unify(&ty, &end);
                let inclusive = matches!(r.limits, syn::RangeLimits::Closed(_));
                let source = Source::Range {
                    start: Box::new(start),
                    end: Box::new(end),
                    inclusive,
                    reversed: false,
                };
                Some((source, ty))
            }
            syn::Expr::MethodCall(m) => {
                let name = m.method.to_string();
                let inner = strip(&m.receiver);
                if name == "rev" && matches!(inner, syn::Expr::Range(_)) && m.args.is_empty() {
                    let (source, ty) = self.source(inner)?;
                    return match source {
                        Source::Range {
                            start,
                            end,
                            inclusive,
                            ..
                        } => Some((
                            Source::Range {
                                start,
                                end,
                                inclusive,
                                reversed: true,
                            },
                            ty,
                        )),
                        other @ Source::Adjacent { .. } => Some((other, ty)),
                    };
                }
                let edges = name == "edges";
                if (edges || name == "neighbors")
                    && let Some((graph, HandleTy::Csr)) = self.handle_path(inner)
                {
                    let args: Vec<Expr> = m.args.iter().map(|a| self.value(a)).collect();
                    let Ok([of]) = <[Expr; 1]>::try_from(args) else {
                        self.leave(format!("`{name}` takes one node"));
                        return None;
                    };
                    self.unify(&Ty::U32, &of);
                    let source = Source::Adjacent {
                        graph,
                        of: Box::new(of),
                        edges,
                        site: m.method.span(),
                    };
                    return Some((source, Ty::U32));
                }
                let before = self.report.len();
                if !self.iterator_chain(m) {
                    let _ = self.expr(e, None);
                }
                if self.report.len() == before {
                    self.not_iterable(e);
                }
                None
            }
            other => {
                let found = self.expr(other, None);
                if !matches!(found.ty, Ty::Error) {
                    self.not_iterable(e);
                }
                None
            }
        }
    }

    pub(super) fn not_iterable(&mut self, e: &syn::Expr) {
        self.error(
            first_token(e),
            "a `for` cannot go over this in the kernel language",
            "go over `a..b`, `g.neighbors(v)` or `g.edges(v)`",
        );
    }

    pub(super) fn find_loop(&self, label: Option<&syn::Lifetime>, turns: bool) -> Option<usize> {
        let name = label.map(|l| l.ident.to_string());
        self.open.iter().rev().copied().find(|&l| {
            let l = &self.loops[l];
            match &name {
                Some(n) => l.label.as_ref() == Some(n) && (l.turns || !turns),
                None => l.plain,
            }
        })
    }

    pub(super) fn breaking(&mut self, b: &syn::ExprBreak, span: Span) -> Expr {
        let value = b.expr.as_ref().map(|e| Box::new(self.value(e)));
        let Some(target) = self.find_loop(b.label.as_ref(), false) else {
            self.leave("`break` outside of a loop");
            return self.wrong(span);
        };
        self.loops[target].broken = true;
        match (self.loops[target].result.clone(), &value) {
            (Some(ty), Some(v)) => self.unify(&ty, v),
            (Some(ty), None) => self.agree(&ty, &Ty::UNIT),
            (None, Some(_)) => self.leave("`break` with a value in a `while` or `for`"),
            (None, None) => {}
        }
        Expr {
            kind: Kind::Break(LoopId(target), value),
            ty: Ty::Never,
            span,
        }
    }

    pub(super) fn continuing(&mut self, c: &syn::ExprContinue, span: Span) -> Expr {
        let Some(target) = self.find_loop(c.label.as_ref(), true) else {
            self.leave("`continue` outside of a loop");
            return self.wrong(span);
        };
        Expr {
            kind: Kind::Continue(LoopId(target)),
            ty: Ty::Never,
            span,
        }
    }

    pub(super) fn returning(&mut self, r: &syn::ExprReturn, span: Span) -> Expr {
        if self.role == Role::Condition {
            self.error(span, "a condition has no `return`", "write the bool itself");
            return self.wrong(span);
        }
        let value = r.expr.as_ref().map(|e| Box::new(self.value(e)));
        let result = self.result.clone();
        match &value {
            Some(v) => self.unify(&result, v),
            None => self.agree(&result, &Ty::UNIT),
        }
        self.returns_early = true;
        Expr {
            kind: Kind::Return(value),
            ty: Ty::Never,
            span,
        }
    }
}

/// An identifier pattern that names a constant, by Rust's convention.
fn is_constant(ident: &syn::Ident) -> bool {
    ident
        .to_string()
        .chars()
        .next()
        .is_some_and(char::is_uppercase)
}
