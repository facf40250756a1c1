//! Calls: functions, operations of scalars by name, and macros.

use super::*;
use crate::kernel::check::function::{helper, import};
use crate::names::{Meaning, Space};
use proc_macro2::{TokenStream, TokenTree};
use quote::quote;

impl Checker<'_> {
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
                return self.associated(c, &format!("{}::{name}", of.0.name), at, span);
            }
            // Of a bool or a u8; anything else is rustc's to refuse.
            if (before.as_str(), name.as_str(), c.args.len()) == ("usize", "from", 1) {
                let value = self.value(&c.args[0]);
                return Expr {
                    kind: Kind::Cast(Box::new(value)),
                    ty: Ty::Size,
                    span,
                };
            }
            if let Some(s) = param::named_scalar(before) {
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
        let found = helper(&shown, at, self.depth, self)
            .or_else(|| import(outside.as_deref()?, &p.path, self));
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
            None => return self.no_function(c, (&shown, &name, at), outside, is_local, span),
        };
        let args = c.args.iter().map(|a| self.value(a)).collect();
        self.apply(f, args, (&name, None), span)
    }

    /// `S::f(..)` of a struct.
    fn associated(&mut self, c: &syn::ExprCall, name: &str, at: Span, span: Span) -> Expr {
        match helper(name, at, self.depth, self) {
            Some(Found::Function(f)) => {
                let args = c.args.iter().map(|a| self.value(a)).collect();
                if f.mut_self {
                    self.error(
                        at,
                        "a `&mut self` method is called as a method in the kernel language",
                        "write `value.method(..)`",
                    );
                }
                self.apply(f, args, (name, None), span)
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
        }
    }

    /// A call of a function that no kernel sees.
    fn no_function(
        &mut self,
        c: &syn::ExprCall,
        (shown, name, at): (&str, &String, Span),
        outside: Option<String>,
        is_local: bool,
        span: Span,
    ) -> Expr {
        for a in &c.args {
            self.value(a);
        }
        if is_variant(shown) {
            self.error(
                at,
                format!("`{shown}` is not in the kernel language"),
                NO_ENUMS,
            );
            return self.wrong(span);
        }
        if self.refused.contains(name) {
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
        let near = did_you_mean(name, self.env.helpers.names(self.depth));
        let help = match near {
            Some(near) if is_local => {
                self.report.meant(at, name, near);
                format!("did you mean `{near}`?")
            }
            _ if refuse::of_std(name).is_some() => {
                refuse::of_std(name).unwrap_or_default().to_owned()
            }
            _ => "kernels call `#[device] fn`s: of this module, by a path, or by a name that a `use` brings".to_owned(),
        };
        self.error(
            at,
            format!("`{shown}` is not a `#[device]` function in scope"),
            help,
        );
        self.wrong(span)
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

    /// An `assert` macro; `words` are the arguments of its message.
    fn assertion(&mut self, cond: Expr, debug: bool, words: &[syn::Expr], span: Span) -> Expr {
        let kind = Kind::Assert {
            message: self.message(words),
            cond: Box::new(cond),
            debug,
            site: span,
        };
        Expr {
            kind,
            ty: Ty::UNIT,
            span,
        }
    }

    pub(super) fn mac(&mut self, m: &syn::Macro) -> Expr {
        let unwatched = std::mem::replace(&mut self.unwatched, true);
        let e = self.mac_unwatched(m);
        self.unwatched = unwatched;
        e
    }

    fn mac_unwatched(&mut self, m: &syn::Macro) -> Expr {
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
                    self.assertion(cond, debug, &args[1..], span)
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
                    let ty = Ty::BOOL;
                    self.assertion(Expr { kind, ty, span }, debug, &args[2..], span)
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
