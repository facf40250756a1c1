//! Blocks: their items, statements and patterns.

use super::*;

impl Checker<'_> {
    pub(super) fn block(&mut self, block: &syn::Block, span: Span) -> Expr {
        self.scopes.push(Vec::new());
        let mut stmts = Vec::new();
        for stmt in &block.stmts {
            if let syn::Stmt::Item(item) = stmt {
                self.item(item, &mut stmts);
            }
        }
        let mut tail = None;
        let mut ends = false;
        for (i, stmt) in block.stmts.iter().enumerate() {
            let last = i + 1 == block.stmts.len();
            match stmt {
                syn::Stmt::Item(_) => {}
                // A `;` alone.
                syn::Stmt::Expr(syn::Expr::Verbatim(nothing), _) if nothing.is_empty() => {}
                syn::Stmt::Local(l) => {
                    let stmt = self.local(l);
                    if let Stmt::Let(_, Some(e)) = &stmt {
                        ends |= self.never(&e.ty);
                    }
                    stmts.push(stmt);
                }
                syn::Stmt::Expr(e, semi) => {
                    let e = self.expr(e, None);
                    ends |= self.never(&e.ty);
                    if last && semi.is_none() {
                        tail = Some(Box::new(e));
                    } else {
                        if semi.is_none() {
                            self.unify(&Ty::UNIT, &e);
                        }
                        stmts.push(Stmt::Expr(e));
                    }
                }
                syn::Stmt::Macro(m) => {
                    let e = self.mac(&m.mac);
                    ends |= self.never(&e.ty);
                    if last && m.semi_token.is_none() {
                        tail = Some(Box::new(e));
                    } else {
                        stmts.push(Stmt::Expr(e));
                    }
                }
            }
        }
        self.scopes.pop();
        let ty = match &tail {
            Some(t) => t.ty.clone(),
            None if ends => Ty::Never,
            None => Ty::UNIT,
        };
        Expr {
            kind: Kind::Block(Block { stmts, tail, ends }),
            ty,
            span,
        }
    }

    pub(super) fn item(&mut self, item: &syn::Item, stmts: &mut Vec<Stmt>) {
        match item {
            syn::Item::Const(c) => {
                let ty = self.ty(&c.ty);
                // rustc evaluates it.
                let unwatched = std::mem::replace(&mut self.unwatched, true);
                let value = self.value(&c.expr);
                self.unwatched = unwatched;
                self.unify(&ty, &value);
                let known = self.const_value(&c.expr, (self.depth, &self.inside), 0);
                self.const_values.push((c.ident.to_string(), known));
                let id = self.declare(&c.ident, ty, false);
                self.everywhere();
                self.body_constants.push(id);
                stmts.push(Stmt::Let(Pat::Var(id), Some(value)));
            }
            syn::Item::Use(u) => {
                leaves(&u.tree, &mut self.refused);
                self.error(
                    u.use_token.span,
                    "`use` inside a kernel is not in the kernel language",
                    "move it outside, beside the kernel",
                );
            }
            other => {
                if let syn::Item::Fn(f) = other {
                    self.refused.push(f.sig.ident.to_string());
                }
                refuse::item(other, self.report);
                self.failed = true;
            }
        }
    }

    pub(super) fn local(&mut self, l: &syn::Local) -> Stmt {
        if let Some(init) = &l.init
            && let Some((or_else, _)) = &init.diverge
        {
            self.error(
                or_else.span,
                "`let .. else` is not in the kernel language",
                "use `if` and an early `return`",
            );
            return Stmt::Let(Pat::Ignore, None);
        }
        let value = l.init.as_ref().map(|init| self.value(&init.expr));
        self.quiet = value.as_ref().is_some_and(|v| v.ty == Ty::Error);
        let (pat, ty) = self.pattern(&l.pat);
        self.quiet = false;
        if let Some(v) = &value {
            self.unify(&ty, v);
            if self.never(&v.ty) {
                self.diverging.push(ty);
            }
        }
        Stmt::Let(pat, value)
    }

    pub(super) fn pattern(&mut self, p: &syn::Pat) -> (Pat, Ty) {
        match p {
            syn::Pat::Paren(p) => self.pattern(&p.pat),
            syn::Pat::Wild(_) => (Pat::Ignore, self.types.any()),
            syn::Pat::Ident(i) if i.by_ref.is_none() && i.subpat.is_none() => {
                let ty = self.types.any();
                (
                    Pat::Var(self.declare(&i.ident, ty.clone(), i.mutability.is_some())),
                    ty,
                )
            }
            syn::Pat::Type(t) => {
                let ty = self.ty(&t.ty);
                let (pat, found) = self.pattern(&t.pat);
                self.agree(&ty, &found);
                (pat, ty)
            }
            syn::Pat::Tuple(t) if t.elems.iter().any(|p| matches!(p, syn::Pat::Rest(_))) => {
                self.error(
                    first_token(p),
                    "a tuple pattern of `let` names every part in the kernel language",
                    "write `_` for each part that does not matter",
                );
                (Pat::Ignore, Ty::Error)
            }
            syn::Pat::Tuple(t) => {
                let (pats, tys) = t.elems.iter().map(|p| self.pattern(p)).unzip();
                (Pat::Tuple(pats), Ty::Tuple(tys))
            }
            syn::Pat::Struct(_) | syn::Pat::TupleStruct(_) => {
                let Some((ty, fields)) = self.struct_pattern(p) else {
                    return (Pat::Ignore, Ty::Error);
                };
                let tys = ty.fields().unwrap_or_default();
                let mut pats: Vec<Pat> = tys.iter().map(|_| Pat::Ignore).collect();
                for (at, p) in fields {
                    let (pat, found) = self.pattern(&p);
                    self.agree(&tys[at], &found);
                    pats[at] = pat;
                }
                (Pat::Tuple(pats), ty)
            }
            other => {
                refuse::pattern(other, self.report);
                self.failed = true;
                (Pat::Ignore, Ty::Error)
            }
        }
    }

    /// The struct that a pattern names, and its patterns by position.
    pub(super) fn struct_pattern(&mut self, p: &syn::Pat) -> Option<(Ty, Vec<(usize, syn::Pat)>)> {
        let path = match p {
            syn::Pat::Struct(p) => &p.path,
            syn::Pat::TupleStruct(p) => &p.path,
            _ => return None,
        };
        let name = path.segments.last()?.ident.to_string();
        let Some(ty) = self.named(&shown(path)) else {
            refuse::pattern(p, self.report);
            self.failed = true;
            return None;
        };
        let Ty::Struct(s) = &ty else {
            self.failed = true;
            return None;
        };
        let mut fields = Vec::new();
        match p {
            syn::Pat::Struct(p) => {
                for f in &p.fields {
                    match s.0.field(&f.member) {
                        Some(at) => fields.push((at, (*f.pat).clone())),
                        None => self.leave(format!("`{name}` has no such field")),
                    }
                }
            }
            syn::Pat::TupleStruct(p) => {
                let Some(parts) = parts(&p.elems, s.0.fields.len()) else {
                    self.leave(format!("`{name}` has another number of fields"));
                    return None;
                };
                fields.extend(parts.into_iter().map(|(at, p)| (at, p.clone())));
            }
            _ => {}
        }
        Some((ty, fields))
    }
}

/// The patterns of a tuple's parts by their places, `..` left out. `None` if it has another number of parts.
pub(super) fn parts(
    elems: &syn::punctuated::Punctuated<syn::Pat, syn::Token![,]>,
    n: usize,
) -> Option<Vec<(usize, &syn::Pat)>> {
    let rest = elems.iter().position(|p| matches!(p, syn::Pat::Rest(_)));
    let named = elems.len() - usize::from(rest.is_some());
    if named > n || rest.is_none() && named < n {
        return None;
    }
    let place = |at: usize| match rest {
        Some(rest) if at > rest => at + n - elems.len(),
        _ => at,
    };
    let all = elems.iter().enumerate().map(|(at, p)| (place(at), p));
    Some(
        all.filter(|(_, p)| !matches!(p, syn::Pat::Rest(_)))
            .collect(),
    )
}

/// The names that a `use` brings.
fn leaves(tree: &syn::UseTree, into: &mut Vec<String>) {
    match tree {
        syn::UseTree::Path(p) => leaves(&p.tree, into),
        syn::UseTree::Name(n) => into.push(n.ident.to_string()),
        syn::UseTree::Rename(r) => into.push(r.rename.to_string()),
        syn::UseTree::Group(g) => g.items.iter().for_each(|t| leaves(t, into)),
        syn::UseTree::Glob(_) => {}
    }
}
