//! Expressions: operators, literals, names and constants.

use super::*;
use crate::tokens::ident;

impl Checker<'_> {
    /// An expression used as a value.
    pub(super) fn value(&mut self, e: &syn::Expr) -> Expr {
        self.expr(e, None)
    }

    /// A value where Rust also takes a reference to one: operands of operators, receivers.
    pub(super) fn operand(&mut self, e: &syn::Expr) -> Expr {
        let e = self.expr(e, None);
        self.read(e)
    }

    pub(super) fn read(&mut self, e: Expr) -> Expr {
        match (&e.kind, &e.ty) {
            (&Kind::Handle(h), &Ty::Handle(HandleTy::Own { scalar, .. })) => Expr {
                kind: Kind::Own(h),
                ty: Ty::Scalar(scalar),
                span: e.span,
            },
            _ => e,
        }
    }

    /// `hint`: the target of a cast around a literal.
    pub(super) fn expr(&mut self, e: &syn::Expr, hint: Option<Scalar>) -> Expr {
        if self.nest >= MAX_NESTING {
            if !self.failed {
                self.error(
                    first_token(e),
                    format!("expressions nest deeper than {MAX_NESTING}"),
                    "give parts of it a name with `let`",
                );
            }
            return self.wrong(first_token(e));
        }
        self.nest += 1;
        let e = self.expr_inner(e, hint);
        self.nest -= 1;
        e
    }

    pub(super) fn wrong(&mut self, span: Span) -> Expr {
        self.failed = true;
        Expr {
            kind: Kind::Error,
            ty: Ty::Error,
            span,
        }
    }

    pub(super) fn expr_inner(&mut self, e: &syn::Expr, hint: Option<Scalar>) -> Expr {
        let span = start(e);
        match e {
            syn::Expr::Paren(p) => Expr {
                span,
                ..self.expr(&p.expr, hint)
            },
            syn::Expr::Lit(l) => self.literal(e, &l.lit, hint),
            syn::Expr::Path(p) => self.path(p),
            syn::Expr::Unary(u) => self.unary(u, span, hint),
            syn::Expr::Binary(b) => self.binary(b, span),
            syn::Expr::Cast(c) => self.cast(c, span),
            syn::Expr::Assign(a) => self.assign(a, span),
            syn::Expr::If(i) => self.branch(i, span),
            syn::Expr::Match(m) => self.matching(m, span),
            syn::Expr::Block(b) => match &b.label {
                Some(l) => self.labelled(b, l, span),
                None => self.block(&b.block, span),
            },
            syn::Expr::While(w) => self.while_loop(w, span),
            syn::Expr::Loop(l) => self.endless(l, span),
            syn::Expr::ForLoop(f) => self.for_loop(f, span),
            syn::Expr::Break(b) => self.breaking(b, span),
            syn::Expr::Continue(c) => self.continuing(c, span),
            syn::Expr::Return(r) => self.returning(r, span),
            syn::Expr::Index(i) => self.index(i, span),
            syn::Expr::Field(f) => self.field(f, span),
            syn::Expr::MethodCall(m) => self.method(m, span),
            syn::Expr::Call(c) => self.call(c, span),
            syn::Expr::Macro(m) => self.mac(&m.mac),
            syn::Expr::Tuple(t) => {
                let parts: Vec<Expr> = t.elems.iter().map(|e| self.value(e)).collect();
                let ty = Ty::Tuple(parts.iter().map(|p| p.ty.clone()).collect());
                let ty = self.bounded(ty, span);
                Expr {
                    kind: Kind::Tuple(parts),
                    ty,
                    span,
                }
            }
            syn::Expr::Array(a) => {
                let element = self.types.any();
                let mut parts = Vec::new();
                for e in &a.elems {
                    let e = self.value(e);
                    self.unify(&element, &e);
                    parts.push(e);
                }
                if parts.is_empty() || parts.len() > super::MAX_ARRAY as usize {
                    self.error(
                        span,
                        format!("a local array has 1 to {} elements", super::MAX_ARRAY),
                        "a lane keeps its arrays in registers: use a `#[scratch]` buffer for more",
                    );
                    return self.wrong(span);
                }
                let ty = Ty::Array(Box::new(element), parts.len() as u32);
                let ty = self.bounded(ty, span);
                Expr {
                    kind: Kind::Array(parts),
                    ty,
                    span,
                }
            }
            syn::Expr::Repeat(r) => {
                let value = self.value(&r.expr);
                match self.array(value.ty.clone(), &r.len) {
                    Ty::Array(t, n) => Expr {
                        kind: Kind::Repeat(Box::new(value), n),
                        ty: Ty::Array(t, n),
                        span,
                    },
                    _ => self.wrong(span),
                }
            }
            syn::Expr::Struct(s) => self.structure_literal(s, span),
            other => {
                let (at, what, advice) = refuse::expression(other);
                self.error(at, what, advice);
                self.wrong(span)
            }
        }
    }

    fn structure_literal(&mut self, e: &syn::ExprStruct, span: Span) -> Expr {
        let Some(last) = e.path.segments.last() else {
            return self.wrong(span);
        };
        let name = last.ident.to_string();
        let ty = self.named(&shown(&e.path));
        let Some(Ty::Struct(s)) = ty else {
            if ty.is_none() {
                self.error(
                    last.ident.span(),
                    format!("struct `{name}` is not in sight of the macro"),
                    "declare it in the `#[wave_graph]` module, in the body of the `#[kernel]`, or in a `#[device] mod`, and name it by its path",
                );
            }
            for f in &e.fields {
                self.value(&f.expr);
            }
            return self.wrong(span);
        };
        let mut parts = Vec::new();
        for f in &e.fields {
            let value = self.value(&f.expr);
            match s.0.field(&f.member) {
                Some(at) => {
                    let (_, ty) = &s.0.fields[at];
                    self.unify(ty, &value);
                    parts.push((at, value));
                }
                None => self.leave(format!("`{name}` has no such field")),
            }
        }
        let ty = Ty::Struct(s.clone());
        let base = e.rest.as_ref().map(|e| {
            let e = self.value(e);
            self.unify(&ty, &e);
            Box::new(e)
        });
        if base.is_none() && parts.len() < s.0.fields.len() {
            self.leave(format!("missing fields of `{name}`"));
            return self.wrong(span);
        }
        Expr {
            kind: Kind::Struct(parts, base),
            ty,
            span,
        }
    }

    pub(super) fn literal(&mut self, e: &syn::Expr, lit: &syn::Lit, hint: Option<Scalar>) -> Expr {
        let span = lit.span();
        let suffixed = |c: &mut Self, suffix: &str| match suffix {
            "" => None,
            "usize" => Some(Ty::Size),
            name => Some(match param::named_scalar(name) {
                Some(s) if types::is_int(s) || types::is_float(s) => Ty::Scalar(s),
                _ => {
                    let advice = match name {
                        "isize" => "use `i32` or `i64`",
                        _ => "use a suffix of u8, u32, i32, u64, i64, f32, f64",
                    };
                    c.error(
                        span,
                        format!("type `{name}` is not in the kernel language"),
                        advice,
                    );
                    Ty::Error
                }
            }),
        };
        match lit {
            syn::Lit::Bool(b) => Expr {
                kind: Kind::Bool(b.value),
                ty: Ty::BOOL,
                span,
            },
            syn::Lit::Byte(b) => Expr {
                kind: Kind::Int(b.value().into()),
                ty: Ty::Scalar(Scalar::U8),
                span,
            },
            syn::Lit::Int(i) => {
                let ty = suffixed(self, i.suffix());
                let ty = ty.unwrap_or_else(|| match hint {
                    Some(s) if types::is_int(s) => Ty::Scalar(s),
                    _ => self.types.int(),
                });
                let float = matches!(ty, Ty::Scalar(s) if types::is_float(s));
                let kind = if float {
                    Kind::Float(i.base10_digits().to_owned())
                } else {
                    // In patterns, and from other macros, a sign can be part of the literal.
                    match i.base10_digits().parse::<i128>() {
                        Ok(v) => Kind::Int(v as u128),
                        Err(_) => {
                            self.leave("integer literal is too large");
                            Kind::Error
                        }
                    }
                };
                Expr { kind, ty, span }
            }
            syn::Lit::Float(f) => {
                let ty = suffixed(self, f.suffix());
                let ty = ty.unwrap_or_else(|| match hint {
                    Some(s) if types::is_float(s) => Ty::Scalar(s),
                    _ => self.types.float(),
                });
                Expr {
                    kind: Kind::Float(f.base10_digits().to_owned()),
                    ty,
                    span,
                }
            }
            _ => {
                let (at, what, advice) = refuse::expression(e);
                self.error(at, what, advice);
                self.wrong(span)
            }
        }
    }

    /// A name in `until` that is none of what it sees.
    fn unknown_in_condition(&mut self, name: &str, span: Span) -> Expr {
        const SEES: &str = "`until` sees frontiers, lists, reductions, scalars and rounds";
        if let Some((_, ty)) = self.env.fields.iter().find(|(f, _)| f == name) {
            if ty.is_empty() {
                self.leave(format!("`{name}` is not known"));
                return self.wrong(span);
            }
            let what = format!("`until` does not see `{name}`");
            let help = format!("{SEES}: let a wave reduce what matters");
            self.error(span, what, help);
            return self.wrong(span);
        }
        let known: Vec<String> = self
            .env
            .bindings
            .iter()
            .map(|(n, _)| n.to_string())
            .collect();
        let help = match did_you_mean(name, known.iter().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => SEES.to_owned(),
        };
        self.error(span, format!("`{name}` is not a field of `Data`"), help);
        self.wrong(span)
    }

    /// Whether a name, not one of the macro's sight, is brought by a `use` that names it; in uppercase it is in any
    /// case a constant's.
    fn is_brought(&self, name: &syn::Ident) -> bool {
        let (helpers, at) = (self.env.helpers, (self.depth, &self.inside[..]));
        let text = name.to_string();
        text.chars().any(char::is_lowercase)
            && helpers.function(&text, at).is_none()
            && names::is_named(&helpers.names, at, name)
    }

    pub(super) fn path(&mut self, p: &syn::ExprPath) -> Expr {
        let span = first_token(p);
        if p.qself.is_some() || p.path.segments.iter().any(|s| !s.arguments.is_none()) {
            self.error(
                span,
                "generic paths are not in the kernel language",
                "name a constant or a variable",
            );
            return self.wrong(span);
        }
        match p.path.get_ident() {
            Some(ident) => self.named_value(p, ident, span),
            None => self.qualified(p, span),
        }
    }

    /// A variable, parameter, constant or unit struct by its name.
    fn named_value(&mut self, p: &syn::ExprPath, ident: &syn::Ident, span: Span) -> Expr {
        let name = ident.to_string();
        match self.lookup(ident) {
            Some(Name::Var(id)) => {
                if name != "self" && self.refs.contains(&id) {
                    let whose = match self.element_refs.contains(&id) {
                        true => "an element of an array",
                        false => "the item's own element",
                    };
                    self.error(
                        span,
                        format!("`{name}` refers to {whose}, and is not a value"),
                        format!("write `*{name}` to copy the element"),
                    );
                    return self.wrong(span);
                }
                return Expr {
                    kind: Kind::Var(id),
                    ty: self.vars[id.0].ty.clone(),
                    span,
                };
            }
            Some(Name::Value(simple, s)) => {
                return Expr {
                    kind: simple.kind(),
                    ty: Ty::Scalar(s),
                    span,
                };
            }
            Some(Name::Handle(h, HandleTy::OwnValues { scalar, .. })) => {
                return Expr {
                    kind: Kind::OwnValues(h),
                    ty: Ty::Row(h, RowOf::Values(scalar)),
                    span,
                };
            }
            Some(Name::Handle(h, ty)) => {
                return Expr {
                    kind: Kind::Handle(h),
                    ty: Ty::Handle(ty),
                    span,
                };
            }
            None => {}
        }
        if name == "None" {
            self.error(
                span,
                "`Option` is not in the kernel language",
                "use a sentinel value such as `u32::MAX`",
            );
            return self.wrong(span);
        }
        let declared = self.constant_type(&name);
        if declared.is_none() && !self.is_brought(ident) {
            // `P` of `struct P;`
            if let Some(Ty::Struct(s)) = self.named(&name)
                && s.0.fields.is_empty()
            {
                return Expr {
                    kind: Kind::Tuple(Vec::new()),
                    ty: Ty::Struct(s),
                    span,
                };
            }
            if self.role == Role::Condition && name.chars().any(char::is_lowercase) {
                return self.unknown_in_condition(&name, span);
            }
            if let Some((_, ty)) = self.env.fields.iter().find(|(f, _)| *f == name) {
                self.error(
                    span,
                    format!("`{name}` is a field of `Data`, and not among the parameters"),
                    format!("add a parameter `{name}: {ty}`"),
                );
                return self.wrong(span);
            }
            if matches!(
                name.as_str(),
                "threadIdx" | "blockIdx" | "blockDim" | "gridDim"
            ) {
                self.error(
                    span,
                    format!("`{name}` is CUDA C's"),
                    "vyre shares the items out: take the item as a parameter, `i: Index` of a `#[kernel]`, `v: Node` under `nodes`, `e: Edge` under `edges`",
                );
                return self.wrong(span);
            }
            if name.chars().any(char::is_lowercase) {
                self.leave(format!(
                    "cannot find value `{name}`; write a constant from elsewhere in uppercase, or as a path, `self::{name}`"
                ));
                return self.wrong(span);
            }
        }
        if let Some(value) = self.constant_in_body(&name, None) {
            return value;
        }
        self.constant(p, declared, span)
    }

    /// A constant by its path, or one of a type.
    fn qualified(&mut self, p: &syn::ExprPath, span: Span) -> Expr {
        let names: Vec<String> = p
            .path
            .segments
            .iter()
            .map(|s| s.ident.to_string())
            .collect();
        let (last, before) = match names.as_slice() {
            [.., before, last] => (last.as_str(), before.as_str()),
            _ => return self.wrong(span),
        };
        if let Some(s) = param::named_scalar(before)
            && let Some((s, bits)) = methods::constant(s, last)
        {
            return Expr {
                kind: Kind::Bits(bits),
                ty: Ty::Scalar(s),
                span,
            };
        }
        if before == "usize" {
            let value = match last {
                "MAX" => u64::MAX,
                "MIN" => 0,
                "BITS" => 64,
                _ => {
                    self.leave(format!("no constant `usize::{last}`"));
                    return self.wrong(span);
                }
            };
            let bits = last == "BITS";
            return Expr {
                kind: if bits {
                    Kind::Int(64)
                } else {
                    Kind::Bits(value)
                },
                ty: if bits { Ty::U32 } else { Ty::Size },
                span,
            };
        }
        let of = self.named(&names[..names.len() - 1].join("::"));
        if of == Some(Ty::Error) {
            return self.wrong(span);
        }
        if let Some(Ty::Struct(of)) = of {
            let owner = of.0.name.clone();
            let declared = self.constant_type(&format!("{owner}::{last}"));
            if declared.is_none() {
                self.leave(format!("no constant `{last}` of `{owner}`"));
                return self.wrong(span);
            }
            if let Some(value) = self.constant_in_body(&format!("{owner}::{last}"), Some(&owner)) {
                return value;
            }
            let mut path = p.clone();
            for s in &mut path.path.segments {
                if s.ident == "Self" {
                    s.ident = ident(&owner, s.ident.span());
                }
            }
            return self.constant(&path, declared, span);
        }
        if types::is_foreign(before) {
            let at = p.path.segments[names.len() - 2].ident.span();
            refuse::named_type(before, at, self.report);
            return self.wrong(span);
        }
        let declared = if before == "consts" {
            names
                .iter()
                .rev()
                .nth(2)
                .and_then(|n| param::named_scalar(n))
                .map(Ty::Scalar)
        } else {
            self.constant_type(&names.join("::"))
        };
        self.constant(p, declared, span)
    }

    /// The value of a constant of a kernel's body, or of a struct there: it sees no variable.
    fn constant_in_body(&mut self, name: &str, owner: Option<&str>) -> Option<Expr> {
        /// A constant that needs itself is rustc's to report.
        const NESTED: usize = 64;
        let (of, ..) = self
            .env
            .helpers
            .constant(name, (self.depth, &self.inside))?;
        if !of.in_body || self.in_constants >= NESTED {
            return None;
        }
        let ty = self.known(&of.ty)?;
        let scopes = std::mem::replace(&mut self.scopes, vec![Vec::new()]);
        let before = std::mem::replace(&mut self.owner, owner.map(str::to_owned));
        self.in_constants += 1;
        let value = self.value(&of.value);
        self.in_constants -= 1;
        self.owner = before;
        self.scopes = scopes;
        self.unify(&ty, &value);
        Some(value)
    }

    pub(super) fn constant(&mut self, p: &syn::ExprPath, declared: Option<Ty>, span: Span) -> Expr {
        let tokens = p.path.to_token_stream();
        let ty = match declared {
            Some(ty) => ty,
            None => {
                let shown = tokens.to_string().replace(' ', "");
                // What one use says of its type holds for all.
                let known = self.constants.iter().find(|(_, _, path)| *path == shown);
                let ty = known.map(|(ty, ..)| ty.clone());
                let ty = ty.unwrap_or_else(|| self.types.constant());
                self.constants.push((ty.clone(), span, shown));
                ty
            }
        };
        Expr {
            kind: Kind::Constant(tokens),
            ty,
            span,
        }
    }

    pub(super) fn unary(&mut self, u: &syn::ExprUnary, span: Span, hint: Option<Scalar>) -> Expr {
        let op = match u.op {
            syn::UnOp::Deref(_) => {
                if let Some(inner) = self.referred(&u.expr) {
                    return inner;
                }
                let inner = self.expr(&u.expr, None);
                return match (&inner.kind, &inner.ty) {
                    (_, Ty::Handle(HandleTy::Own { .. })) => Expr {
                        span,
                        ..self.read(inner)
                    },
                    (_, Ty::Error) => self.wrong(span),
                    _ => {
                        let shown = self.types.show(&inner.ty);
                        self.leave(format!("type `{shown}` cannot be dereferenced"));
                        self.wrong(span)
                    }
                };
            }
            syn::UnOp::Neg(_) => UnaryOp::Neg,
            syn::UnOp::Not(_) => UnaryOp::Not,
            _ => {
                self.error(
                    span,
                    "this operator is not in the kernel language",
                    "use `-`, `!` or `*`",
                );
                return self.wrong(span);
            }
        };
        let inner = self.expr(&u.expr, hint);
        let inner = self.read(inner);
        if self.unread(&inner) || self.no_operators(&inner, span) {
            return self.wrong(span);
        }
        let ty = inner.ty.clone();
        Expr {
            kind: Kind::Unary(op, Box::new(inner)),
            ty,
            span,
        }
    }

    pub(super) fn binary(&mut self, b: &syn::ExprBinary, span: Span) -> Expr {
        use syn::BinOp;
        if let Some((op, _)) = assigning(&b.op) {
            return self.assign_op(b, op, span);
        }
        if let BinOp::And(_) | BinOp::Or(_) = b.op {
            let left = self.value(&b.left);
            let right = self.value(&b.right);
            self.unify(&Ty::BOOL, &left);
            self.unify(&Ty::BOOL, &right);
            let or = matches!(b.op, BinOp::Or(_));
            return Expr {
                kind: Kind::Logic(or, Box::new(left), Box::new(right)),
                ty: Ty::BOOL,
                span,
            };
        }
        let compare = match b.op {
            BinOp::Eq(_) => Some(CompareOp::Eq),
            BinOp::Ne(_) => Some(CompareOp::Ne),
            BinOp::Lt(_) => Some(CompareOp::Lt),
            BinOp::Le(_) => Some(CompareOp::Le),
            BinOp::Gt(_) => Some(CompareOp::Gt),
            BinOp::Ge(_) => Some(CompareOp::Ge),
            _ => None,
        };
        if let Some(op) = compare {
            let mut left = self.value(&b.left);
            let mut right = self.value(&b.right);
            if self.unread(&left) || self.unread(&right) {
                return self.wrong(span);
            }
            if let (Ty::Handle(HandleTy::Own { .. }), Ty::Handle(HandleTy::Own { .. })) =
                (&left.ty, &right.ty)
            {
                left = self.read(left);
                right = self.read(right);
            }
            if !self.alike(&left, &right, &b.op) {
                return self.wrong(span);
            }
            let ty = left.ty.clone();
            let whole = self.types.resolve(&ty);
            if matches!(whole, Ty::Tuple(_) | Ty::Struct(_) | Ty::Array(..)) {
                let equal = matches!(op, CompareOp::Eq | CompareOp::Ne);
                let derives = |s: &Struct| if equal { s.0.compares } else { s.0.is_ordered };
                let lacking = whole.find_inside(&|t| match t {
                    Ty::Struct(s) if !derives(s) => Some(s.0.name.clone()),
                    _ => None,
                });
                if let Some(name) = lacking {
                    let (what, derive) = match equal {
                        true => ("cannot be compared", "PartialEq"),
                        false => ("has no order", "PartialEq, PartialOrd"),
                    };
                    self.error(
                        b.op.span(),
                        format!("`{name}` {what}"),
                        format!(
                            "declare it with `#[derive({derive})]`, or compare what matters of it"
                        ),
                    );
                    return self.wrong(span);
                }
            }
            return Expr {
                kind: Kind::Compare(op, Box::new(left), Box::new(right)),
                ty: Ty::BOOL,
                span,
            };
        }
        let Some(op) = arithmetic(&b.op) else {
            self.error(
                b.op.span(),
                "this operator is not in the kernel language",
                "use the operators of Rust's numbers",
            );
            return self.wrong(span);
        };
        if self.behind_mut(&b.left, &b.op) || self.behind_mut(&b.right, &b.op) {
            return self.wrong(span);
        }
        let left = self.operand(&b.left);
        let right = self.operand(&b.right);
        if self.unread(&left) || self.unread(&right) || self.no_operators(&left, b.op.span()) {
            return self.wrong(span);
        }
        let ty = left.ty.clone();
        let shift = matches!(op, BinaryOp::Shl | BinaryOp::Shr);
        if !shift && !self.alike(&left, &right, &b.op) {
            return self.wrong(span);
        }
        let ty = if self.never(&ty) {
            right.ty.clone()
        } else {
            ty
        };
        Expr {
            kind: Kind::Binary(op, Box::new(left), Box::new(right)),
            ty,
            span,
        }
    }

    /// Whether both sides of an operator have one type; where not, it is reported once, and not again by what the
    /// result goes into.
    fn alike(&mut self, left: &Expr, right: &Expr, op: &syn::BinOp) -> bool {
        let ty = left.ty.clone();
        if self.types.unify(&ty, &right.ty).is_ok() {
            return true;
        }
        let (l, r) = (self.types.resolve(&ty), self.types.resolve(&right.ty));
        let number = |t: &Ty| matches!(t, Ty::Size | Ty::Scalar(_)) && *t != Ty::BOOL;
        if !(number(&l) && number(&r)) {
            self.mismatch(&ty, right);
            return false;
        }
        if self.first_of(&l, &r) {
            let op = op.to_token_stream();
            let (l, r) = (self.types.show(&l), self.types.show(&r));
            self.error(
                op.clone()
                    .into_iter()
                    .next()
                    .map_or(right.span, |t| t.span()),
                format!("`{op}` is between `{l}` and `{r}`, and both sides have one type"),
                format!("convert one of them: `.. as {l}` or `.. as {r}`"),
            );
        }
        false
    }

    /// Refuses `y + 1` of a `y: &mut T`: operators read through `&`, not through `&mut`.
    fn behind_mut(&mut self, e: &syn::Expr, op: &syn::BinOp) -> bool {
        let Some((
            _,
            HandleTy::Own {
                scalar,
                mutable: true,
            },
        )) = self.handle_path(e)
        else {
            return false;
        };
        let (name, op) = (strip(e).to_token_stream(), op.to_token_stream());
        self.error(
            first_token(e),
            format!(
                "`{name}` is a `&mut {}`, and `{op}` takes values",
                scalar.name()
            ),
            format!("write `*{name}`"),
        );
        true
    }

    /// Refuses an operator that a user's `impl` would define.
    pub(super) fn no_operators(&mut self, of: &Expr, at: Span) -> bool {
        let Ty::Struct(s) = self.types.resolve(&of.ty) else {
            return false;
        };
        self.error(
            at,
            format!("operators of `{}` are not in the kernel language", s.0.name),
            "write a method, and call it by its name",
        );
        true
    }

    pub(super) fn cast(&mut self, c: &syn::ExprCast, span: Span) -> Expr {
        let ty = self.ty(&c.ty);
        let hint = self.types.scalar(&ty);
        let known = self.constants.len();
        let inner = self.expr(&c.expr, hint);
        if let Kind::Constant(_) = inner.kind
            && hint.is_some()
        {
            // rustc casts it: the pool's entry is the cast.
            self.constants.truncate(known);
        }
        Expr {
            kind: Kind::Cast(Box::new(inner)),
            ty,
            span,
        }
    }
}

fn arithmetic(op: &syn::BinOp) -> Option<BinaryOp> {
    use syn::BinOp;
    Some(match op {
        BinOp::Add(_) => BinaryOp::Add,
        BinOp::Sub(_) => BinaryOp::Sub,
        BinOp::Mul(_) => BinaryOp::Mul,
        BinOp::Div(_) => BinaryOp::Div,
        BinOp::Rem(_) => BinaryOp::Rem,
        BinOp::BitAnd(_) => BinaryOp::And,
        BinOp::BitOr(_) => BinaryOp::Or,
        BinOp::BitXor(_) => BinaryOp::Xor,
        BinOp::Shl(_) => BinaryOp::Shl,
        BinOp::Shr(_) => BinaryOp::Shr,
        _ => return None,
    })
}

fn assigning(op: &syn::BinOp) -> Option<(BinaryOp, Span)> {
    use syn::BinOp;
    let op2 = match op {
        BinOp::AddAssign(_) => BinaryOp::Add,
        BinOp::SubAssign(_) => BinaryOp::Sub,
        BinOp::MulAssign(_) => BinaryOp::Mul,
        BinOp::DivAssign(_) => BinaryOp::Div,
        BinOp::RemAssign(_) => BinaryOp::Rem,
        BinOp::BitAndAssign(_) => BinaryOp::And,
        BinOp::BitOrAssign(_) => BinaryOp::Or,
        BinOp::BitXorAssign(_) => BinaryOp::Xor,
        BinOp::ShlAssign(_) => BinaryOp::Shl,
        BinOp::ShrAssign(_) => BinaryOp::Shr,
        _ => return None,
    };
    Some((op2, op.span()))
}
