//! Types: what a type expression means, and where two have to agree.

use super::*;

impl Checker<'_> {
    /// The handle type that a parameter's type names.
    pub(super) fn handle(&mut self, ty: &syn::Type) -> Option<HandleTy> {
        let written = param::written_of_helper(ty);
        // A struct of the user's hides the word.
        if written == param::Written::Cell && self.known(ty).is_some() {
            return None;
        }
        let Some(handle) = written.of_items() else {
            return written.handle();
        };
        let of = self.ty(param::written_item(ty)?);
        let mut records = self.env.helpers.records.borrow_mut();
        let id = match records.iter().position(|t| *t == of) {
            Some(id) => id,
            None => {
                records.push(of);
                records.len() - 1
            }
        };
        Some(handle(id))
    }

    pub(super) fn record(&self, id: usize) -> Ty {
        self.env.helpers.records.borrow()[id].clone()
    }

    pub(super) fn unify(&mut self, expected: &Ty, found: &Expr) {
        if self.types.unify(expected, &found.ty).is_err() {
            self.mismatch(expected, found);
        }
    }

    /// Reports a mismatched type where rustc would advise what lanes do not have (`try_into().unwrap()`), or not see
    /// what is meant.
    pub(super) fn mismatch(&mut self, expected: &Ty, found: &Expr) {
        if self.unread(found) {
            return;
        }
        let (e, f) = (self.types.resolve(expected), self.types.resolve(&found.ty));
        let (shown, other) = (self.types.show(&e), self.types.show(&f));
        if !(types::is_integer(&e) && types::is_integer(&f)) {
            self.leave(format!(
                "mismatched types: expected `{shown}`, found `{other}`"
            ));
        } else if self.first_of(&e, &f) {
            let does = match types::bits(&e).cmp(&types::bits(&f)) {
                std::cmp::Ordering::Less => "cuts off high bits",
                std::cmp::Ordering::Equal => "keeps the bits",
                std::cmp::Ordering::Greater => "extends it",
            };
            self.error(
                found.span,
                format!("mismatched types: expected `{shown}`, found `{other}`"),
                format!("convert it: `.. as {shown}`, which {does}"),
            );
        }
    }

    /// Whether these types have not been mistaken for each other in this function yet: a variable of the wrong type is
    /// one mistake.
    pub(super) fn first_of(&mut self, expected: &Ty, found: &Ty) -> bool {
        self.failed = true;
        let pair = (expected.clone(), found.clone());
        let first = !self.mistaken.contains(&pair);
        if first {
            self.mistaken.push(pair);
        }
        first
    }

    /// Refuses what has to be asked for its value first; true if it did.
    pub(super) fn unread(&mut self, e: &Expr) -> bool {
        match e.ty {
            Ty::Handle(HandleTy::Atomic(_)) => self.error(
                e.span,
                "an atomic is not a value",
                "read it with `.load()`, as in `xs[i].load()`",
            ),
            Ty::Handle(h @ (HandleTy::Frontier | HandleTy::List | HandleTy::Relation)) => {
                let name = self.name_of(e);
                self.error(
                    e.span,
                    format!(
                        "`{name}` is a {}, not a value",
                        match h {
                            HandleTy::List => "list",
                            HandleTy::Relation => "relation",
                            _ => "frontier",
                        }
                    ),
                    format!("ask for `{name}.is_empty()` or `{name}.len()`"),
                );
            }
            _ => return false,
        }
        true
    }

    /// The name of the parameter or field that an expression is.
    pub(super) fn name_of(&self, e: &Expr) -> String {
        let Kind::Handle(handle) = e.kind else {
            return "it".to_owned();
        };
        let is = |n: &Name| matches!(n, Name::Handle(h, _) if *h == handle);
        let mut names = self.scopes.iter().flatten();
        let found = names.find(|s| is(&s.what));
        found.map_or_else(|| "it".to_owned(), |s| s.text.clone())
    }

    pub(super) fn agree(&mut self, expected: &Ty, found: &Ty) {
        if self.types.unify(expected, found).is_err() {
            let (e, f) = (self.types.show(expected), self.types.show(found));
            self.leave(format!("mismatched types: expected `{e}`, found `{f}`"));
        }
    }

    pub(super) fn ty(&mut self, ty: &syn::Type) -> Ty {
        match ty {
            syn::Type::Paren(t) => self.ty(&t.elem),
            syn::Type::Infer(_) => self.types.any(),
            syn::Type::Tuple(t) => {
                let parts = Ty::Tuple(t.elems.iter().map(|t| self.ty(t)).collect());
                self.bounded(parts, first_token(ty))
            }
            syn::Type::Never(_) => Ty::Never,
            syn::Type::Array(a) => {
                let element = self.ty(&a.elem);
                self.array(element, &a.len)
            }
            other => match self.known(other) {
                Some(ty) => ty,
                None => {
                    if !self.quiet {
                        refuse::ty(other, self.report);
                    }
                    self.failed = true;
                    Ty::Error
                }
            },
        }
    }

    /// A type that is in the language; nothing is reported about one that is not.
    pub(super) fn known(&mut self, ty: &syn::Type) -> Option<Ty> {
        match ty {
            syn::Type::Paren(t) => self.known(&t.elem),
            syn::Type::Tuple(t) => {
                let parts: Option<Vec<Ty>> = t.elems.iter().map(|t| self.known(t)).collect();
                (parts.map(Ty::Tuple)).filter(|ty| ty.numbers() <= MAX_NUMBERS)
            }
            syn::Type::Array(a) => {
                let element = self.known(&a.elem)?;
                let n = self.const_value(&a.len, (self.depth, &self.inside), 0)?;
                let array = (1..=MAX_ARRAY)
                    .contains(&n)
                    .then(|| Ty::Array(Box::new(element), n as u32));
                array.filter(|ty| ty.numbers() <= MAX_NUMBERS)
            }
            other => {
                if let Some(s) = param::scalar_of(other).or_else(|| self.alias(other)) {
                    return Some(Ty::Scalar(s));
                }
                let syn::Type::Path(p) = other else {
                    return None;
                };
                let last = p.path.segments.last()?;
                if p.qself.is_some() || !last.arguments.is_none() {
                    return None;
                }
                self.named(&shown(&p.path))
            }
        }
    }

    /// `usize`, `Self` or a struct in scope, by its path.
    pub(super) fn named(&mut self, path: &str) -> Option<Ty> {
        match path {
            "usize" => Some(Ty::Size),
            "Self" => {
                // `impl Self` names no type; rustc says so.
                let owner = self.owner.clone().filter(|owner| owner != "Self")?;
                self.named(&owner)
            }
            path => {
                let name = (self.env.helpers).struct_name(path, (self.depth, &self.inside));
                self.structure(&name)
            }
        }
    }

    /// The struct of this name, its fields checked once.
    pub(super) fn structure(&mut self, name: &str) -> Option<Ty> {
        let Some((of, depth)) = self.env.helpers.structure(name, self.depth) else {
            return self.structure_elsewhere(name);
        };
        if self.env.helpers.modules[depth - 1]
            .twice
            .iter()
            .any(|n| n == name)
        {
            let ident = &of.item.ident;
            let help = "structs are found by their names alone: give each one of its own";
            if matches!(*of.resolved.borrow(), Resolved::Not) {
                self.error(
                    ident.span(),
                    format!("kernels see two structs `{name}`"),
                    help,
                );
            }
            *of.resolved.borrow_mut() = Resolved::Failed;
        }
        let state = of.resolved.borrow().clone();
        match state {
            Resolved::Done(s) => return Some(Ty::Struct(s)),
            Resolved::Failed => {
                self.failed = true;
                return Some(Ty::Error);
            }
            Resolved::Running => {
                self.leave(format!("`{name}` contains itself"));
                return Some(Ty::Error);
            }
            Resolved::Not => {}
        }
        *of.resolved.borrow_mut() = Resolved::Running;
        let item = &of.item;
        let before = self.report.len();
        if let Some(p) = item.generics.params.first() {
            self.error(
                first_token(p),
                "generic structs are not in the kernel language",
                "name concrete types, one struct for each",
            );
            *of.resolved.borrow_mut() = Resolved::Failed;
            return Some(Ty::Error);
        }
        let outer = std::mem::replace(&mut self.depth, depth);
        let mut fields = Vec::new();
        for (i, f) in item.fields.iter().enumerate() {
            let name = f
                .ident
                .as_ref()
                .map_or_else(|| i.to_string(), ToString::to_string);
            fields.push((name, self.ty(&f.ty)));
        }
        self.depth = outer;
        let all = Ty::Tuple(fields.iter().map(|(_, ty)| ty.clone()).collect());
        let numbers = all.numbers();
        self.bounded(all, item.ident.span());
        if self.report.len() > before || fields.iter().any(|(_, t)| *t == Ty::Error) {
            *of.resolved.borrow_mut() = Resolved::Failed;
            self.failed = true;
            return Some(Ty::Error);
        }
        let compares = derives(item, "PartialEq");
        let is_ordered = derives(item, "PartialOrd");
        let s = Struct(Rc::new(StructDef {
            name: name.to_owned(),
            fields,
            tuple: matches!(item.fields, syn::Fields::Unnamed(_)),
            compares,
            is_ordered,
            elsewhere: self.env.helpers.origin.is_some(),
            numbers,
        }));
        *of.resolved.borrow_mut() = Resolved::Done(s.clone());
        Some(Ty::Struct(s))
    }

    /// The struct of this name in a `#[device] mod` of another module.
    pub(super) fn structure_elsewhere(&mut self, name: &str) -> Option<Ty> {
        let helpers = self.env.helpers;
        if (helpers.expected.iter()).any(|p| p.rsplit("::").next() == Some(name)) {
            self.leave(format!("`{name}` has not arrived"));
            return Some(Ty::Error);
        }
        let mut of = helpers.mods.iter().map(|m| &m.helpers);
        let found = of.find(|h| h.structure(name, 1).is_some())?;
        if of.any(|h| h.structure(name, 1).is_some()) {
            self.leave(format!("two `#[device] mod`s have a struct `{name}`"));
            return Some(Ty::Error);
        }
        let env = Env {
            bindings: &[],
            helpers: found,
            fields: &[],
        };
        let mut unseen = Report::default();
        let ty = Checker::new(env, &mut unseen, Role::Helper, 1).structure(name);
        if ty == Some(Ty::Error) {
            self.leave(format!("`{name}` did not compile"));
        }
        ty
    }

    /// `[element; len]`.
    pub(super) fn array(&mut self, element: Ty, len: &syn::Expr) -> Ty {
        match self.const_value(len, (self.depth, &self.inside), 0) {
            Some(n) if (1..=MAX_ARRAY).contains(&n) => {
                self.bounded(Ty::Array(Box::new(element), n as u32), first_token(len))
            }
            Some(n) => {
                self.error(
                    first_token(len),
                    format!("a local array has 1 to {MAX_ARRAY} elements, not {n}"),
                    "a lane keeps its arrays in registers: use a `#[scratch]` buffer for more",
                );
                Ty::Error
            }
            None => {
                let (message, help) = match self.sees_constant(len) {
                    Some(name) => (
                        format!("the macro does not work out the value of `{name}`"),
                        "write it with numbers, other `const`s and `+ - * / % << >>`",
                    ),
                    None => (
                        "the macro does not see this length".to_owned(),
                        "write a number, or a `const` of this module or body",
                    ),
                };
                self.error(first_token(len), message, help);
                Ty::Error
            }
        }
    }

    /// The type, unless its values hold too many numbers.
    pub(super) fn bounded(&mut self, ty: Ty, span: Span) -> Ty {
        let numbers = self.types.resolve(&ty).numbers();
        if numbers <= MAX_NUMBERS {
            return ty;
        }
        self.error(
            span,
            format!("a value holds at most {MAX_NUMBERS} numbers in all its parts, not {numbers}"),
            "a lane keeps its values in registers: use a `#[scratch]` buffer for more",
        );
        Ty::Error
    }

    /// The name, if this is one of a constant that the macro sees, be its value what it may.
    fn sees_constant(&self, e: &syn::Expr) -> Option<String> {
        let syn::Expr::Path(p) = e else { return None };
        let name = shown(&p.path);
        let in_body = self.const_values.iter().any(|(n, _)| *n == name);
        let at = (self.depth, &*self.inside);
        (in_body || self.env.helpers.constant(&name, at).is_some()).then_some(name)
    }

    /// The value of a constant integer expression whose parts the macro sees.
    pub(super) fn const_value(&self, e: &syn::Expr, at: At<'_>, turns: u32) -> Option<i128> {
        if turns > 32 {
            return None;
        }
        let value = |e: &syn::Expr| self.const_value(e, at, turns + 1);
        match e {
            syn::Expr::Paren(p) => value(&p.expr),
            syn::Expr::Cast(c) => value(&c.expr),
            syn::Expr::Block(b) if b.label.is_none() => match b.block.stmts.as_slice() {
                [syn::Stmt::Expr(e, None)] => value(e),
                _ => None,
            },
            syn::Expr::Lit(l) => match &l.lit {
                syn::Lit::Int(i) => i.base10_parse().ok(),
                _ => None,
            },
            syn::Expr::Path(p) => {
                let mut names: Vec<String> = p
                    .path
                    .segments
                    .iter()
                    .map(|s| s.ident.to_string())
                    .collect();
                if let [name] = names.as_slice()
                    && let Some((_, v)) = self.const_values.iter().rev().find(|(n, _)| n == name)
                {
                    return *v;
                }
                if let Some(first) = names.first_mut()
                    && first == "Self"
                {
                    first.clone_from(self.owner.as_ref()?);
                }
                let (of, depth) = self.env.helpers.constant(&names.join("::"), at)?;
                self.const_value(&of.value, (depth, &of.inside), turns + 1)
            }
            syn::Expr::Binary(b) => {
                let (x, y) = (value(&b.left)?, value(&b.right)?);
                match b.op {
                    syn::BinOp::Add(_) => x.checked_add(y),
                    syn::BinOp::Sub(_) => x.checked_sub(y),
                    syn::BinOp::Mul(_) => x.checked_mul(y),
                    syn::BinOp::Div(_) => x.checked_div(y),
                    syn::BinOp::Rem(_) => x.checked_rem(y),
                    syn::BinOp::Shl(_) => x.checked_shl(u32::try_from(y).ok()?),
                    syn::BinOp::Shr(_) => x.checked_shr(u32::try_from(y).ok()?),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// The declared type of a constant, if the macro sees it and has the type.
    pub(super) fn constant_type(&mut self, name: &str) -> Option<Ty> {
        let helpers = self.env.helpers;
        let mods = helpers.mods.iter().map(|m| &m.helpers);
        let associated = name.split_once("::").map(|(owner, _)| owner);
        let found = helpers
            .constant(name, (self.depth, &self.inside))
            .or_else(|| {
                // Of one elsewhere only what belongs to a struct has the same name here.
                associated?;
                let mut mods = mods.filter_map(|h| h.constant(name, (1, &[])));
                mods.next()
            });
        let (of, _) = found?;
        match (&of.ty, associated) {
            (syn::Type::Path(p), Some(owner)) if p.path.is_ident("Self") => self.named(owner),
            _ => self.known(&of.ty),
        }
    }

    pub(super) fn alias(&self, ty: &syn::Type) -> Option<Scalar> {
        let syn::Type::Path(p) = ty else { return None };
        let name = p.path.get_ident()?.to_string();
        self.env.helpers.alias(&name, self.depth)
    }

    pub(super) fn never(&self, ty: &Ty) -> bool {
        self.types.resolve(ty) == Ty::Never
    }
}
