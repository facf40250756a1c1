//! Branches, loops and patterns.

use super::block::parts;
use super::*;
use crate::report::listed;
use crate::turns::counts;
use crate::wave_graph::graph::WITH;
use vyre_core::vir0::table::Index;

const LOOPS_GO_OVER: &str = "go over a range, an array, a row, `g.neighbors(v)` or `g.edges(v)`";

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
        let mut arms = Vec::new();
        let mut ty = Ty::Never;
        let mut alternatives = Vec::new();
        for arm in &m.arms {
            let (pat, guard) = match &arm.pat {
                syn::Pat::Guard(p) => (&*p.pat, Some(&p.guard)),
                pat => (pat, None),
            };
            // Alternatives that bind names do so from different parts: each is an arm of its own.
            let pats = match pat {
                syn::Pat::Or(o) if self.binds_names(pat) => o.cases.iter().collect(),
                _ => vec![pat],
            };
            let each = pats.into_iter().enumerate();
            alternatives.extend(each.map(|(i, p)| (p, guard, &arm.body, i == 0)));
        }
        let mut failed = false;
        for (pat, guard, body, first) in alternatives {
            if !first && failed {
                // What is wrong in the body has been said.
                continue;
            }
            let errors = self.report.len();
            self.scopes.push(Vec::new());
            let mut binds = Vec::new();
            let test = self.test(pat, &of, &mut Vec::new(), &mut binds);
            let guard = guard.map(|g| {
                let g = self.value(g);
                self.unify(&Ty::BOOL, &g);
                g
            });
            let body = self.value(body);
            self.scopes.pop();
            failed = self.report.len() > errors;
            self.unify(&ty, &body);
            if self.never(&ty) {
                ty = body.ty.clone();
            }
            arms.push(Arm {
                test,
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

    /// `path`: the part of the value that the pattern is for.
    fn test(
        &mut self,
        p: &syn::Pat,
        of: &Ty,
        path: &mut Vec<usize>,
        binds: &mut Vec<(VarId, Vec<usize>)>,
    ) -> Test {
        match p {
            syn::Pat::Paren(p) => self.test(&p.pat, of, path, binds),
            syn::Pat::Or(o) => {
                let before = binds.len();
                let tests = o
                    .cases
                    .iter()
                    .map(|p| self.test(p, of, path, binds))
                    .collect();
                if binds.len() > before && o.cases.len() > 1 {
                    self.error(
                        first_token(p),
                        "a name in alternatives inside a pattern is not in the kernel language",
                        "write the whole pattern for each alternative: `(0, n) | (1, n) => ..`",
                    );
                }
                Test::Either(tests)
            }
            syn::Pat::Wild(_) => Test::Any,
            syn::Pat::Ident(i) if i.by_ref.is_none() && !self.is_constant(i) => {
                if may_be_constant(i) {
                    self.assumptions.push(Assumption::New(i.ident.clone()));
                }
                let id = self.declare(&i.ident, of.clone(), i.mutability.is_some());
                binds.push((id, path.clone()));
                match &i.subpat {
                    Some((_, sub)) => self.test(sub, of, path, binds),
                    None => Test::Any,
                }
            }
            syn::Pat::Ident(i) if i.by_ref.is_none() => {
                let e = syn::Expr::Path(syn::ExprPath {
                    attrs: vec![],
                    qself: None,
                    path: i.ident.clone().into(),
                });
                self.test_value(&e, of)
            }
            syn::Pat::Lit(l) => self.test_value(&syn::Expr::Lit(l.clone()), of),
            syn::Pat::Path(p) => self.test_value(&syn::Expr::Path(p.clone()), of),
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
                Test::Within(start, end, inclusive)
            }
            syn::Pat::Tuple(t) => {
                let Ty::Tuple(tys) = self.types.resolve(of) else {
                    self.leave("mismatched types: a tuple pattern");
                    return Test::Any;
                };
                let Some(parts) = parts(&t.elems, tys.len()) else {
                    self.leave("mismatched types: a tuple pattern of another length");
                    return Test::Any;
                };
                let mut tests: Vec<Test> = tys.iter().map(|_| Test::Any).collect();
                for (at, p) in parts {
                    path.push(at);
                    tests[at] = self.test(p, &tys[at], path, binds);
                    path.pop();
                }
                Test::Fields(tests)
            }
            syn::Pat::Struct(_) | syn::Pat::TupleStruct(_) => {
                let Some((ty, fields)) = self.struct_pattern(p) else {
                    return Test::Any;
                };
                self.agree(of, &ty);
                let tys = ty.fields().unwrap_or_default();
                let mut tests: Vec<Test> = tys.iter().map(|_| Test::Any).collect();
                for (at, p) in fields {
                    path.push(at);
                    tests[at] = self.test(&p, &tys[at], path, binds);
                    path.pop();
                }
                Test::Fields(tests)
            }
            syn::Pat::Verbatim(t) => match syn::parse2::<syn::Expr>(t.clone()) {
                Ok(e) => self.test_value(&e, of),
                Err(_) => {
                    self.refuse_pattern(p);
                    Test::Any
                }
            },
            _ => {
                self.refuse_pattern(p);
                Test::Any
            }
        }
    }

    /// Whether a name in a pattern is that of a constant or unit struct, as rustc decides it: by what is in scope. The
    /// macro does not see all that is: out of its sight, names without small letters are constants. The others, which
    /// it takes for new ones, are [`Assumption`]s, for rustc to look at.
    fn is_constant(&mut self, p: &syn::PatIdent) -> bool {
        if !may_be_constant(p) {
            return false;
        }
        let name = p.ident.to_string();
        match self.lookup(&p.ident) {
            Some(Name::Var(id)) => self.body_constants.contains(&id),
            Some(Name::Value(..) | Name::Handle(..)) => false,
            None => {
                name == "None"
                    || is_uppercase(&name)
                    || {
                        let at = (self.depth, &self.inside[..]);
                        self.env.helpers.constant(&name, at).is_some()
                    }
                    || matches!(self.named(&name), Some(Ty::Struct(s)) if s.0.fields.is_empty())
            }
        }
    }

    /// Whether a pattern binds a name.
    fn binds_names(&mut self, p: &syn::Pat) -> bool {
        use syn::Pat;
        match p {
            Pat::Ident(i) => !self.is_constant(i),
            Pat::Paren(p) => self.binds_names(&p.pat),
            Pat::Or(o) => o.cases.iter().any(|p| self.binds_names(p)),
            Pat::Tuple(t) => t.elems.iter().any(|p| self.binds_names(p)),
            Pat::TupleStruct(t) => t.elems.iter().any(|p| self.binds_names(p)),
            Pat::Struct(s) => s.fields.iter().any(|f| self.binds_names(&f.pat)),
            _ => false,
        }
    }

    pub(super) fn refuse_pattern(&mut self, p: &syn::Pat) {
        refuse::pattern(p, self.report);
        self.failed = true;
    }

    fn test_value(&mut self, e: &syn::Expr, of: &Ty) -> Test {
        let value = self.value(e);
        self.unify(of, &value);
        match self.types.resolve(&value.ty) {
            whole @ (Ty::Struct(_) | Ty::Tuple(_)) => self.test_parts(e, &whole, &mut Vec::new()),
            Ty::Array(..) => {
                self.error(
                    first_token(e),
                    "an array is no pattern in the kernel language",
                    "compare with `==` in a guard: `v if v == ALL => ..`",
                );
                Test::Any
            }
            _ => Test::Equal(value),
        }
    }

    /// A constant struct or tuple in a pattern: its parts are compared.
    fn test_parts(&mut self, e: &syn::Expr, of: &Ty, path: &mut Vec<usize>) -> Test {
        if let (Ty::Struct(_) | Ty::Tuple(_), Some(tys)) = (of, of.fields()) {
            let mut tests = Vec::new();
            for (at, ty) in tys.iter().enumerate() {
                path.push(at);
                tests.push(self.test_parts(e, ty, path));
                path.pop();
            }
            return Test::Fields(tests);
        }
        let mut part = self.value(e);
        let span = part.span;
        for at in path.iter() {
            let fields = part.ty.fields().unwrap_or_default();
            part = Expr {
                ty: fields.get(*at).cloned().unwrap_or(Ty::Error),
                kind: Kind::Field(Box::new(part), *at),
                span,
            };
        }
        Test::Equal(part)
    }

    pub(super) fn open_loop(
        &mut self,
        label: Option<&syn::Label>,
        plain: bool,
        turns: bool,
        result: Option<Ty>,
    ) -> LoopId {
        self.loops.push(LoopInfo {
            label: label.map(|l| l.name.ident.clone()),
            plain,
            turns,
            result,
            broken: false,
        });
        self.open.push(self.loops.len() - 1);
        LoopId(self.loops.len() - 1)
    }

    /// Turns of this loop are steps of work, if the function can count them.
    pub(super) fn count_turns(&mut self, id: LoopId) {
        if !self.unwatched {
            self.counting.push(id);
        }
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
        self.count_turns(id);
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
        self.count_turns(id);
        let body = self.block(&l.body, span);
        self.unify(&Ty::UNIT, &body);
        let ty = if self.close_loop() { result } else { Ty::Never };
        Expr {
            kind: Kind::Loop(id, Box::new(body)),
            ty,
            span,
        }
    }

    /// `for x in array`: over its elements; `for x in array.iter()`: over references to them, numbered with
    /// `.enumerate()`.
    fn for_elements(&mut self, f: &syn::ExprForLoop, span: Span) -> Option<Expr> {
        let (own, number) = match strip(&f.expr) {
            syn::Expr::MethodCall(m) if m.method == "enumerate" && m.args.is_empty() => {
                let parts = match &*f.pat {
                    syn::Pat::Tuple(both) if both.elems.len() == 2 => {
                        Some((&both.elems[0], &both.elems[1]))
                    }
                    _ => None,
                };
                match parts {
                    Some(_) => (self.iterated(&m.receiver), parts),
                    None => (None, None),
                }
            }
            e => (self.iterated(e), None),
        };
        let is_deref = |u: &syn::ExprUnary| matches!(u.op, syn::UnOp::Deref(_));
        let is_copied = match strip(&f.expr) {
            syn::Expr::Unary(u) => is_deref(u) && self.referred(&u.expr).is_some(),
            // An array of a buffer.
            syn::Expr::MethodCall(m) if m.method == "get" => match self.handle_path(&m.receiver) {
                Some((_, HandleTy::Records(of))) => matches!(self.record(of), Ty::Array(..)),
                _ => false,
            },
            _ => false,
        };
        if own.is_none()
            && !is_copied
            && !matches!(
                strip(&f.expr),
                syn::Expr::Array(_)
                    | syn::Expr::Repeat(_)
                    | syn::Expr::Path(_)
                    | syn::Expr::Field(_)
                    | syn::Expr::Index(_)
            )
            || self.is_no_row(&f.expr)
        {
            return None;
        }
        let by_ref = own.is_some();
        let array = own.unwrap_or_else(|| self.value(&f.expr));
        if let Ty::Row(..) = self.types.resolve(&array.ty) {
            return Some(self.for_row(f, array, span));
        }
        let Ty::Array(element, n) = self.types.resolve(&array.ty) else {
            if !matches!(array.ty, Ty::Error) {
                self.not_iterable(&f.expr);
            }
            return Some(self.wrong(span));
        };
        let expr = |kind, ty| Expr { kind, ty, span };
        let at = self.hidden(Ty::U32);
        let index = expr(Kind::Var(at), Ty::U32);
        // What is borrowed does not change meanwhile.
        let (whole, first) = match by_ref {
            true => (array, None),
            false => {
                let all = self.hidden(array.ty.clone());
                let whole = expr(Kind::Var(all), array.ty.clone());
                (whole, Some(Stmt::Let(Pat::Var(all), Some(array))))
            }
        };
        self.scopes.push(Vec::new());
        let number = number.filter(|_| by_ref);
        let numbered = number.map(|(k, _)| {
            let (pat, ty) = self.pattern(k);
            self.agree(&Ty::Size, &ty);
            let k = Kind::Cast(Box::new(expr(Kind::Var(at), Ty::U32)));
            Stmt::Let(pat, Some(expr(k, Ty::Size)))
        });
        let (pat, ty) = match number.map_or(&*f.pat, |(_, element)| element) {
            syn::Pat::Reference(p) if by_ref => self.pattern(&p.pat),
            pat => {
                let (pat, ty) = self.pattern(pat);
                if let (Pat::Var(id), true) = (&pat, by_ref) {
                    self.refs.push(*id);
                    self.element_refs.push(*id);
                }
                (pat, ty)
            }
        };
        self.agree(&element, &ty);
        let id = self.open_loop(f.label.as_ref(), true, true, None);
        if counts(f) {
            self.count_turns(id);
        }
        let body = self.block(&f.body, span);
        self.unify(&Ty::UNIT, &body);
        self.close_loop();
        self.scopes.pop();
        let item = expr(
            Kind::Element(Box::new(whole), Box::new(index), span),
            *element,
        );
        let ends = self.never(&body.ty);
        let body = Block {
            stmts: numbered
                .into_iter()
                .chain([Stmt::Let(pat, Some(item)), Stmt::Expr(body)])
                .collect(),
            tail: None,
            ends,
        };
        let turns = Kind::For {
            id,
            var: Some(at),
            source: Source::Range {
                start: Box::new(expr(Kind::Int(0), Ty::U32)),
                end: Box::new(expr(Kind::Int(n.into()), Ty::U32)),
                inclusive: false,
                reversed: false,
                step: None,
            },
            body: Box::new(expr(Kind::Block(body), Ty::UNIT)),
        };
        let turns = Stmt::Expr(expr(turns, Ty::UNIT));
        let block = Block {
            stmts: first.into_iter().chain([turns]).collect(),
            tail: None,
            ends: false,
        };
        Some(expr(Kind::Block(block), Ty::UNIT))
    }

    /// The array of `array.iter()`, which is a variable or a part of one.
    fn iterated(&mut self, e: &syn::Expr) -> Option<Expr> {
        let syn::Expr::MethodCall(m) = strip(e) else {
            return None;
        };
        if m.method != "iter" || !m.args.is_empty() || !self.in_variable(&m.receiver) {
            return None;
        }
        let array = self.base(&m.receiver);
        matches!(self.types.resolve(&array.ty), Ty::Array(..)).then_some(array)
    }

    pub(super) fn for_loop(&mut self, f: &syn::ExprForLoop, span: Span) -> Expr {
        if let Some(e) = self.for_elements(f, span) {
            return e;
        }
        if let Some(e) = self.for_places(f, span) {
            return e;
        }
        let (source, item) = match self.source(&f.expr) {
            Some(s) => s,
            None => {
                // The body is checked all the same: its mistakes are independent.
                let source = Source::Range {
                    start: Box::new(self.wrong(span)),
                    end: Box::new(self.wrong(span)),
                    inclusive: false,
                    reversed: false,
                    step: None,
                };
                (source, Ty::Error)
            }
        };
        self.scopes.push(Vec::new());
        let (pat, ty) = self.pattern(&f.pat);
        self.agree(&item, &ty);
        let mut taken_apart = None;
        let var = match pat {
            Pat::Var(id) => Some(id),
            Pat::Ignore => None,
            pat @ Pat::Tuple(_) if matches!(source, Source::With { .. }) => {
                let whole = self.hidden(item.clone());
                let value = Expr {
                    kind: Kind::Var(whole),
                    ty: item.clone(),
                    span,
                };
                taken_apart = Some(Stmt::Let(pat, Some(value)));
                Some(whole)
            }
            Pat::Tuple(_) => {
                self.leave("the items of this loop are not tuples");
                None
            }
        };
        let id = self.open_loop(f.label.as_ref(), true, true, None);
        if counts(f) {
            self.count_turns(id);
        }
        let mut body = self.block(&f.body, span);
        self.unify(&Ty::UNIT, &body);
        if let Some(first) = taken_apart {
            let block = Block {
                stmts: vec![first],
                tail: Some(Box::new(body)),
                ends: false,
            };
            body = Expr {
                kind: Kind::Block(block),
                ty: Ty::UNIT,
                span,
            };
        }
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
                    step: None,
                };
                Some((source, ty))
            }
            syn::Expr::MethodCall(m) => {
                let name = m.method.to_string();
                let inner = strip(&m.receiver);
                let ranges = match inner {
                    syn::Expr::Range(_) => true,
                    syn::Expr::MethodCall(r) => {
                        r.method == "rev" && matches!(strip(&r.receiver), syn::Expr::Range(_))
                    }
                    _ => false,
                };
                if name == "step_by" && ranges && m.args.len() == 1 {
                    let (mut source, ty) = self.source(inner)?;
                    let by = self.value(&m.args[0]);
                    self.unify(&Ty::Size, &by);
                    self.report.unlocated(&m.method);
                    if let Source::Range { step, .. } = &mut source {
                        *step = Some((Box::new(by), m.method.span()));
                    }
                    return Some((source, ty));
                }
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
                                step: None,
                            },
                            ty,
                        )),
                        other
                        @ (Source::Row { .. } | Source::Ones { .. } | Source::With { .. }) => {
                            Some((other, ty))
                        }
                    };
                }
                if name == "ones"
                    && let Some((rows, HandleTy::Bits)) = self.handle_path(inner)
                    && m.args.len() == 1
                {
                    let of = self.value(&m.args[0]);
                    self.unify(&Ty::U32, &of);
                    let source = Source::Ones {
                        rows,
                        of: Box::new(of),
                        site: m.method.span(),
                    };
                    return Some((source, Ty::U32));
                }
                if let Some((relation, HandleTy::Insert(of) | HandleTy::Lookup(of))) =
                    self.handle_path(inner)
                    && let Some(columns) = name.strip_prefix(WITH)
                {
                    return self.with(m, (relation, of), columns);
                }
                let row = match (self.handle_path(inner), name.as_str()) {
                    (Some((graph, HandleTy::Csr)), "edges") => Some((graph, RowOf::Edges)),
                    (Some((graph, HandleTy::Csr)), "neighbors") => Some((graph, RowOf::Neighbors)),
                    (Some((rows, HandleTy::Rows(s))), "row") => Some((rows, RowOf::Values(s))),
                    _ => None,
                };
                if let Some((from, what)) = row {
                    let args: Vec<Expr> = m.args.iter().map(|a| self.value(a)).collect();
                    let Ok([of]) = <[Expr; 1]>::try_from(args) else {
                        self.leave(format!("`{name}` takes one argument"));
                        return None;
                    };
                    self.unify(&Ty::U32, &of);
                    let source = Source::Row {
                        from,
                        of: Box::new(of),
                        what,
                        site: m.method.span(),
                    };
                    return Some((source, what.item()));
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

    /// `relation.with_column(x)`, `relation.with_column_and_other(x, y)`.
    fn with(
        &mut self,
        m: &syn::ExprMethodCall,
        (relation, of): (Handle, usize),
        columns: &str,
    ) -> Option<(Source, Ty)> {
        let (of, site) = (self.record(of), m.method.span());
        let fields = of.fields().unwrap_or_default();
        let name = |at: usize| match &of {
            Ty::Struct(s) => s.0.fields[at].0.trim_start_matches("r#").to_owned(),
            _ => at.to_string(),
        };
        let indexes = match relation {
            Handle::Bound(ParamKind::Insert(.., all) | ParamKind::Lookup(.., all)) => all,
            _ => {
                self.error(
                    site,
                    "an index is walked in a function that is not a wave",
                    "let the wave go over the tuples, and the function take one",
                );
                return None;
            }
        };
        // Of each field its first scalar, and the mask of an index by it.
        let mut scalars = Vec::new();
        let firsts: Vec<usize> = fields
            .iter()
            .map(|ty| {
                let first = scalars.len();
                scalars.extend(ty.scalars());
                first
            })
            .collect();
        let names: Vec<String> = (0..fields.len()).map(name).collect();
        let positions = |found: &[usize]| found.iter().map(|at| firsts[*at]).collect::<Vec<_>>();
        let known = columns_named(columns, &names).into_iter().find(|found| {
            let mask = Index::mask(&scalars, &positions(found));
            indexes.iter().any(|index| index.mask == mask)
        });
        let parts: Vec<&str> = columns.split("_and_").collect();
        let args: Vec<Expr> = m.args.iter().map(|a| self.value(a)).collect();
        if known.is_none() && indexes.iter().any(|index| index.mask == 0) {
            self.report.follows(site);
            self.failed = true;
            return None;
        }
        let Some(found) = known else {
            let methods = indexes.iter().map(|index| {
                let by = (0..fields.len())
                    .filter(|at| index.mask & Index::mask(&scalars, &[firsts[*at]]) != 0);
                let by: Vec<String> = by.map(name).collect();
                format!("{WITH}{}", by.join("_and_"))
            });
            let methods: Vec<String> = methods.collect();
            let relation = m.receiver.to_token_stream();
            let help = match did_you_mean(&m.method.to_string(), methods.iter().map(String::as_str))
            {
                Some(near) => format!("did you mean `{near}`?"),
                None => {
                    let by = format!("declare `index({})` with the relation", parts.join(", "));
                    match methods.is_empty() {
                        true => by,
                        false => {
                            let all = listed(methods.iter().map(|m| format!("`{m}`")));
                            format!("{by}; it has {all}")
                        }
                    }
                }
            };
            self.error(
                site,
                format!("`{relation}` has no index by `{}`", parts.join("`, `")),
                help,
            );
            return None;
        };
        if args.len() != found.len() {
            self.leave(format!("`{}` takes {} arguments", m.method, found.len()));
            return None;
        }
        for (at, value) in found.iter().zip(&args) {
            self.unify(&fields[*at], value);
        }
        let source = Source::With {
            relation,
            columns: positions(&found).into_iter().zip(args).collect(),
            of: of.clone(),
            site,
        };
        Some((source, of))
    }

    /// Whether a name stands for something that is no value, and no row that is read.
    fn is_no_row(&self, e: &syn::Expr) -> bool {
        let handle = self.handle_path(e).map(|(_, of)| of);
        !matches!(
            handle,
            None | Some(HandleTy::OwnValues { mutable: false, .. })
        )
    }

    pub(super) fn not_iterable(&mut self, e: &syn::Expr) {
        if let Some((_, h)) = self.handle_path(e) {
            let name = strip(e).to_token_stream();
            let advice = match h {
                HandleTy::Buf(_) => format!("write `for i in 0..{name}.len()` and `{name}[i]`"),
                HandleTy::AtomicBuf(_) => {
                    format!("write `for i in 0..{name}.len()` and `{name}[i].load()`")
                }
                HandleTy::Records(_) => {
                    format!("write `for i in 0..{name}.len()` and `{name}.get(i)`")
                }
                HandleTy::Csr => {
                    format!("write `for w in {name}.neighbors(v)` or `for e in {name}.edges(v)`")
                }
                HandleTy::Rows(_) => format!("write `for x in {name}.row(v)`"),
                HandleTy::OwnValues { .. } => {
                    format!("write `for k in 0..{name}.len()` and `{name}[k]`")
                }
                HandleTy::Bits => format!("write `for bit in {name}.ones(v)`"),
                HandleTy::Insert(_) | HandleTy::Lookup(_) => format!(
                    "declare `index(column)` with the relation and write `for t in {name}.with_column(x)`, with the name of the column; or sweep `items({name})`"
                ),
                _ => LOOPS_GO_OVER.to_owned(),
            };
            self.error(
                first_token(e),
                format!("`{name}` is a `{h}`, which a `for` does not go over"),
                advice,
            );
            return;
        }
        self.error(
            first_token(e),
            "a `for` cannot go over this in the kernel language",
            LOOPS_GO_OVER,
        );
    }

    pub(super) fn find_loop(&self, label: Option<&syn::Lifetime>, turns: bool) -> Option<usize> {
        self.open.iter().rev().copied().find(|&l| {
            let l = &self.loops[l];
            match label {
                Some(n) => {
                    let named = l.label.as_ref();
                    named.is_some_and(|l| same_name(l, &n.ident)) && (l.turns || !turns)
                }
                None => l.plain,
            }
        })
    }

    fn no_loop(&mut self, label: Option<&syn::Lifetime>, message: &str) {
        let of = |l: &syn::Lifetime| {
            let mut open = self.open.iter().map(|&o| &self.loops[o].label);
            open.any(|o| {
                o.as_ref()
                    .is_some_and(|o| *o == l.ident && !same_name(o, &l.ident))
            })
        };
        match label {
            Some(l) if of(l) => self.other_macro(&l.to_string(), l.span()),
            _ => self.leave(message),
        }
    }

    pub(super) fn breaking(&mut self, b: &syn::ExprBreak, span: Span) -> Expr {
        let value = b.expr.as_ref().map(|e| Box::new(self.value(e)));
        let Some(target) = self.find_loop(b.label.as_ref(), false) else {
            self.no_loop(b.label.as_ref(), "`break` outside of a loop");
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
            self.no_loop(c.label.as_ref(), "`continue` outside of a loop");
            return self.wrong(span);
        };
        // The function counts turns there by calls, and a macro's arguments are not rewritten.
        if self.unwatched && self.counting.contains(&LoopId(target)) {
            self.error(
                span,
                "a `continue` in what a macro takes",
                "bind what the macro takes to a variable before it, with the `continue` there",
            );
            return self.wrong(span);
        }
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

/// A name of a constant's, by Rust's convention.
fn is_uppercase(name: &str) -> bool {
    name.contains(char::is_uppercase) && !name.contains(char::is_lowercase)
}

/// Whether rustc takes a name in a pattern for a constant or unit struct where there is one in scope.
fn may_be_constant(p: &syn::PatIdent) -> bool {
    p.by_ref.is_none() && p.mutability.is_none() && p.subpat.is_none()
}

/// The columns that `x_and_y` may name, by their positions: of columns with `_and_` in their names there are several ways.
fn columns_named(text: &str, names: &[String]) -> Vec<Vec<usize>> {
    let mut ways = Vec::new();
    for (at, name) in names.iter().enumerate() {
        match text.strip_prefix(name.as_str()) {
            Some("") => ways.push(vec![at]),
            Some(rest) => {
                let rest = rest.strip_prefix("_and_").into_iter();
                let rest = rest.flat_map(|rest| columns_named(rest, names));
                ways.extend(rest.map(|rest| [vec![at], rest].concat()));
            }
            None => {}
        }
    }
    ways
}
