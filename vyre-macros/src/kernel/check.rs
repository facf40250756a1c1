//! Names, types and refusals: syntax to the typed tree.

mod call;
mod expr;
mod flow;
pub(crate) mod function;

use super::hir::{
    Arm, Binding, Block, CsrCall, Expr, Function, Handle, ItemField, Kind, LoopId, Origin, Param,
    Pat, Place, Role, Source, Step, Stmt, Test, Var, VarId,
};
use super::methods::{self, As, On};
use super::record::{Part, Record, RecordStruct, Shape, derives};
use super::refuse;
use super::scope::{At, Env, Helpers, Resolved};
use super::types::{self, HandleTy, Struct, StructDef, Ty, Unifier};
use crate::names;
use crate::report::{Report, did_you_mean};
use crate::tables::Bound;
use crate::tokens::{context, first_token, same_context, start};
use proc_macro2::Span;
use quote::ToTokens;
use std::rc::Rc;
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use vyre_core::compile::ir::{BinaryOp, CompareOp, CsrQuery, UnaryOp};
use vyre_core::vir0::module::{ReduceOp, Uniform};
use vyre_core::vir0::scalar::Scalar;

/// Deepest nesting of expressions: the compiler's own stack is finite.
const MAX_NESTING: usize = 160;
/// Most elements of a local array; registers run out before.
const MAX_ARRAY: i128 = 256;

/// Checks a wave or kernel.
pub(super) fn wave(f: &syn::ItemFn, env: &Env<'_>, report: &mut Report) -> Option<Function> {
    let depth = env.helpers.modules.len();
    let mut c = Checker::new(*env, report, Role::Wave, depth);
    c.signature(&f.sig);
    if let syn::ReturnType::Type(_, ty) = &f.sig.output
        && !is_unit(ty)
    {
        c.error(
            first_token(ty),
            "a kernel returns nothing",
            "write results to a buffer parameter, `y: &mut f32`",
        );
    }
    let mut params = Vec::new();
    for (name, binding) in env.bindings {
        let written = f.sig.inputs.iter().find_map(|i| match i {
            syn::FnArg::Typed(t) => match &*t.pat {
                syn::Pat::Ident(p) if same_name(&p.ident, name) => {
                    Some((&*t.ty, p.mutability.is_some()))
                }
                _ => None,
            },
            syn::FnArg::Receiver(_) => None,
        });
        match (binding, written) {
            (Binding::Record, Some((ty, mutable))) => {
                let ty = c.ty(ty);
                let id = c.declare(name, ty, mutable);
                params.push(Param::Copy(id, Kind::Record));
            }
            (Binding::OwnRecord { first, mutable }, Some((syn::Type::Reference(r), _))) => {
                let ty = c.ty(&r.elem);
                let id = c.declare(name, ty, *mutable);
                c.refs.push(id);
                params.push(Param::Own(id, *first));
            }
            (
                Binding::PushItems(_) | Binding::Append(_) | Binding::Records { .. },
                Some((ty, _)),
            ) => {
                if let Some(of) = c.handle(ty) {
                    c.name(name, Name::Handle(Handle::Bound(*binding), of));
                }
            }
            _ => c.bind(name, *binding),
        }
    }
    for input in &f.sig.inputs {
        if let syn::FnArg::Typed(p) = input
            && let syn::Pat::Ident(p) = &*p.pat
            && p.mutability.is_some()
            && let Some(Name::Value(kind, scalar)) = c.lookup(&p.ident)
        {
            let id = c.declare(&p.ident, Ty::Scalar(scalar), true);
            params.push(Param::Copy(id, kind.kind()));
        }
    }
    let body = c.body(&f.block);
    c.finish(f.sig.ident.unraw().to_string(), params, body)
}

/// See [`super::record`].
pub(super) fn record(ty: &syn::Type, helpers: &Helpers, report: &mut Report) -> Option<Record> {
    fn walk(ty: &Ty, path: &mut Vec<syn::Member>, into: &mut Record) -> Option<()> {
        match ty {
            Ty::Scalar(scalar) => into.fields.push(Part {
                path: path.clone(),
                scalar: *scalar,
            }),
            Ty::Tuple(_) => {}
            Ty::Struct(s) if !s.0.tuple => {}
            _ => return None,
        }
        for (i, t) in ty.fields().unwrap_or_default().iter().enumerate() {
            path.push(match ty {
                Ty::Struct(s) => quote::format_ident!("{}", s.0.fields[i].0).into(),
                _ => i.into(),
            });
            walk(t, path, into)?;
            path.pop();
        }
        if let Ty::Struct(s) = ty
            && !s.0.elsewhere
            && !into.structs.iter().any(|other| other.name == s.0.name)
        {
            let fields = s.0.fields.iter().map(|(n, t)| (n.clone(), shape(t)));
            into.structs.push(RecordStruct {
                name: s.0.name.clone(),
                fields: fields.collect(),
            });
        }
        Some(())
    }
    /// Why a type has no scalars.
    fn unfit(ty: &Ty) -> Option<String> {
        match ty {
            Ty::Tuple(parts) => parts.iter().find_map(unfit),
            Ty::Struct(s) if s.0.tuple => Some(format!("`{}` is a tuple struct", s.0.name)),
            Ty::Struct(s) => s.0.fields.iter().find_map(|(name, ty)| match ty {
                Ty::Size => Some(format!("`{name}` of `{}` is a `usize`", s.0.name)),
                Ty::Array(..) => Some(format!("`{name}` of `{}` is an array", s.0.name)),
                ty => unfit(ty),
            }),
            _ => None,
        }
    }
    /// Of a type that was walked.
    fn shape(ty: &Ty) -> Shape {
        match ty {
            Ty::Scalar(scalar) => Shape::Scalar(*scalar),
            _ => Shape::Tuple(ty.fields().unwrap_or_default().iter().map(shape).collect()),
        }
    }
    let env = Env {
        bindings: &[],
        helpers,
        fields: &[],
    };
    let mut c = Checker::new(env, report, Role::Helper, helpers.modules.len());
    let found = c.ty(ty);
    if found == Ty::Error || c.failed {
        return None;
    }
    let mut record = Record {
        fields: Vec::new(),
        structs: Vec::new(),
    };
    if walk(&found, &mut Vec::new(), &mut record).is_none() || record.fields.is_empty() {
        report.error_help(
            first_token(ty),
            format!(
                "items and elements of this type are not in the language{}",
                unfit(&found).map_or_else(String::new, |why| format!(": {why}"))
            ),
            "they are scalars, tuples of scalars, or structs with named fields of these",
        );
        return None;
    }
    if record.fields.len() > vyre_core::vir0::module::MAX_FIELDS {
        report.error_help(
            first_token(ty),
            format!(
                "an item or element has at most {} scalars; this one has {}",
                vyre_core::vir0::module::MAX_FIELDS,
                record.fields.len()
            ),
            "keep the rest in a buffer of its own, for items by an index",
        );
        return None;
    }
    Some(record)
}

/// Checks an `until` condition.
pub(super) fn condition(
    name: &str,
    e: &syn::Expr,
    env: &Env<'_>,
    report: &mut Report,
) -> Option<Function> {
    let depth = env.helpers.modules.len();
    let mut c = Checker::new(*env, report, Role::Condition, depth);
    c.result = Ty::BOOL;
    for (name, binding) in env.bindings {
        c.bind(name, *binding);
        c.everywhere();
    }
    let body = c.value(e);
    let found = c.types.resolve(&body.ty);
    if let Ty::Scalar(s) = found
        && s != Scalar::Bool
    {
        c.error(
            start(e),
            format!("`until` needs a condition, not a `{}`", s.name()),
            "compare it, as in `until(changed == 0)`",
        );
    } else {
        c.unify(&Ty::BOOL, &body);
    }
    c.finish(name.to_owned(), Vec::new(), body)
}

/// A path as it is written.
fn shown(path: &syn::Path) -> String {
    names::joined(path.segments.iter().map(|s| &s.ident))
}

enum Found {
    Function(Rc<Function>),
    Failed(Option<Ty>),
}

/// What a name stands for.
#[derive(Clone, Copy)]
enum Name {
    Var(VarId),
    Value(Simple, Scalar),
    Handle(Handle, HandleTy),
}

struct Scoped {
    text: String,
    /// See [`context`]. `None` too for what is the same in every context: an item, a field of `Data`.
    context: Option<u32>,
    what: Name,
}

/// A value that costs nothing to name.
#[derive(Clone, Copy)]
enum Simple {
    Uniform(Uniform),
    Item(ItemField),
}

impl Simple {
    fn kind(self) -> Kind {
        match self {
            Simple::Uniform(u) => Kind::Uniform(u),
            Simple::Item(f) => Kind::Item(f),
        }
    }
}

struct LoopInfo {
    label: Option<syn::Ident>,
    /// A plain `break` reaches it (not a labelled block).
    plain: bool,
    /// `continue` may name it.
    turns: bool,
    /// Type of a break's value, where it may have one.
    result: Option<Ty>,
    broken: bool,
}

/// A fact about types to settle when more is known.
enum Pending {
    /// A method's receiver.
    Receiver {
        ty: Ty,
        on: On,
        method: &'static str,
    },
    /// The second type is the unsigned one of the first's width.
    Unsigned(Ty, Ty),
}

struct Checker<'a> {
    env: Env<'a>,
    report: &'a mut Report,
    role: Role,
    depth: usize,
    types: Unifier,
    vars: Vec<Var>,
    declared: Vec<(String, Span)>,
    scopes: Vec<Vec<Scoped>>,
    loops: Vec<LoopInfo>,
    open: Vec<usize>,
    result: Ty,
    returns_early: bool,
    pending: Vec<Pending>,
    /// Constants whose type has to come from their use.
    constants: Vec<(Ty, Span, String)>,
    handles: Vec<Option<HandleTy>>,
    /// Types of variables whose value does not come back; unit if nothing else says which.
    diverging: Vec<Ty>,
    nest: usize,
    failed: bool,
    /// The cause is reported: a type that is refused says nothing.
    quiet: bool,
    /// The type that `Self` names.
    owner: Option<String>,
    /// Constants whose values are being checked where they are used.
    in_constants: usize,
    /// Variables that stand for what a reference refers to: `self` through `&self` or `&mut self`, an own element that is a struct.
    refs: Vec<VarId>,
    mut_self: bool,
    /// Variables that stand for the body's own constants.
    body_constants: Vec<VarId>,
    /// See [`Bound`].
    bound: Vec<syn::Ident>,
    /// `#[device] mod`s between the function and its module.
    inside: Vec<syn::Ident>,
    /// Values of the body's own integer constants.
    const_values: Vec<(String, i128)>,
    /// Names of functions that were refused where they are declared, or brought.
    refused: Vec<String>,
    /// Types that were reported as mistaken for each other.
    mistaken: Vec<(Ty, Ty)>,
}

impl<'a> Checker<'a> {
    fn new(env: Env<'a>, report: &'a mut Report, role: Role, depth: usize) -> Checker<'a> {
        Checker {
            env,
            report,
            role,
            depth,
            types: Unifier::default(),
            vars: Vec::new(),
            declared: Vec::new(),
            scopes: vec![Vec::new()],
            loops: Vec::new(),
            open: Vec::new(),
            result: Ty::UNIT,
            returns_early: false,
            pending: Vec::new(),
            constants: Vec::new(),
            handles: Vec::new(),
            diverging: Vec::new(),
            nest: 0,
            failed: false,
            quiet: false,
            owner: None,
            in_constants: 0,
            refs: Vec::new(),
            mut_self: false,
            body_constants: Vec::new(),
            bound: Vec::new(),
            inside: Vec::new(),
            const_values: Vec::new(),
            refused: Vec::new(),
            mistaken: Vec::new(),
        }
    }

    fn error(&mut self, span: Span, message: impl std::fmt::Display, help: impl std::fmt::Display) {
        self.failed = true;
        self.report.error_help(span, message, help);
    }

    /// rustc refuses it too, with a better message.
    fn leave(&mut self, message: impl std::fmt::Display) {
        self.failed = true;
        self.report.left_to_rustc(message);
    }

    fn signature(&mut self, sig: &syn::Signature) {
        if let Some(a) = &sig.asyncness {
            self.error(
                a.span,
                "`async` is not in the kernel language",
                "a lane runs to its end; remove `async`",
            );
        }
        if let syn::Safety::Unsafe(u) = &sig.safety {
            self.error(
                u.span,
                "`unsafe` is not in the kernel language",
                "buffers are indexed with checks on every backend; remove `unsafe`",
            );
        }
        if let Some(p) = sig.generics.params.first() {
            let what = match p {
                syn::GenericParam::Lifetime(_) => "lifetimes",
                syn::GenericParam::Type(_) => "generics",
                syn::GenericParam::Const(_) => "const generics",
            };
            self.error(
                first_token(p),
                format!("{what} are not in the kernel language"),
                "name concrete types, one function for each",
            );
        }
        if let Some(v) = &sig.variadic {
            self.error(
                first_token(v),
                "variadic parameters are not in the kernel language",
                "name each parameter",
            );
        }
    }

    fn helper(mut self, f: &syn::ItemFn) -> Option<Function> {
        self.signature(&f.sig);
        self.quiet = !f.sig.generics.params.is_empty();
        if let syn::ReturnType::Type(_, ty) = &f.sig.output {
            self.result = self.ty(ty);
        }
        let mut params = Vec::new();
        for input in &f.sig.inputs {
            let typed = match input {
                syn::FnArg::Receiver(r) => {
                    if let syn::ReceiverKind::Typed(..) = r.kind {
                        self.error(
                            r.self_token.span,
                            "a typed `self` is not in the kernel language",
                            "write `self`, `&self` or `&mut self`",
                        );
                    }
                    let owner = self.owner.clone().unwrap_or_default();
                    let ty = self.named(&owner).unwrap_or(Ty::Error);
                    let (by_ref, mutable) = match &r.kind {
                        syn::ReceiverKind::Reference(_, _, m) => (true, m.is_some()),
                        _ => (false, r.mutability.is_some()),
                    };
                    self.mut_self = by_ref && mutable;
                    let ident = syn::Ident::new("self", r.self_token.span);
                    let id = self.declare(&ident, ty, mutable);
                    if by_ref {
                        self.refs.push(id);
                    }
                    self.handles.push(None);
                    params.push(Param::Value(id));
                    continue;
                }
                syn::FnArg::Typed(t) => t,
            };
            let handle = self.handle(&typed.ty);
            self.handles.push(handle);
            if let Some(h) = handle {
                if let syn::Pat::Ident(p) = &*typed.pat {
                    let name = Name::Handle(Handle::Param(params.len()), h);
                    self.name(&p.ident, name);
                } else if !matches!(&*typed.pat, syn::Pat::Wild(_)) {
                    refuse::pattern(&typed.pat, self.report);
                    self.failed = true;
                }
                params.push(Param::Handle);
                continue;
            }
            let ty = self.ty(&typed.ty);
            let id = match &*typed.pat {
                syn::Pat::Ident(p) if p.by_ref.is_none() && p.subpat.is_none() => {
                    self.declare(&p.ident, ty, p.mutability.is_some())
                }
                syn::Pat::Wild(_) => self.hidden(ty),
                other => {
                    self.error(
                        first_token(other),
                        "patterns in parameters are not in the kernel language",
                        "name the parameter and take it apart with `let`",
                    );
                    self.hidden(ty)
                }
            };
            params.push(Param::Value(id));
        }
        self.quiet = false;
        let body = self.body(&f.block);
        self.finish(f.sig.ident.unraw().to_string(), params, body)
    }

    /// A function's body; a `return` at its very end is just its value.
    fn body(&mut self, block: &syn::Block) -> Expr {
        let mut block = block.clone();
        if let Some(syn::Stmt::Expr(syn::Expr::Return(_), _)) = block.stmts.last()
            && let Some(syn::Stmt::Expr(syn::Expr::Return(r), _)) = block.stmts.pop()
            && let Some(value) = r.expr
        {
            block.stmts.push(syn::Stmt::Expr(*value, None));
        }
        let span = block.brace_token.span.open();
        let body = self.block(&block, span);
        let result = self.result.clone();
        self.unify(&result, &body);
        body
    }

    fn finish(mut self, name: String, params: Vec<Param>, body: Expr) -> Option<Function> {
        self.settle();
        self.types.fall_back();
        self.settle();
        for ty in std::mem::take(&mut self.diverging) {
            if let Ty::Var(_) = self.types.resolve(&ty) {
                self.agree(&ty, &Ty::UNIT);
            }
        }
        if !self.failed {
            self.unknown_types();
        }
        for p in std::mem::take(&mut self.pending) {
            if let Pending::Receiver { ty, on, method } = p
                && let Ty::Scalar(s) = self.types.resolve(&ty)
                && !on.holds(s)
            {
                self.leave(format!("`{}` has no method `{method}`", s.name()));
            }
        }
        for i in 0..self.vars.len() {
            let ty = self.types.resolve(&self.vars[i].ty);
            if contains_handle(&ty) {
                let (name, span) = self.declared[i].clone();
                let shown = self.types.show(&ty);
                let help = match ty {
                    Ty::Handle(HandleTy::Atomic(_)) => "read it with `.load()`".to_owned(),
                    Ty::Handle(HandleTy::Own { .. }) => {
                        "copy the element: write `*` before the parameter's name".to_owned()
                    }
                    _ => "use the parameter by its own name".to_owned(),
                };
                self.error(
                    span,
                    format!("variable `{name}` cannot hold a `{shown}`"),
                    help,
                );
            }
        }
        if self.failed {
            return None;
        }
        if let Some(of) = self.depth.checked_sub(1) {
            let (inside, names) = (self.inside.clone(), self.bound);
            let bound = names.into_iter().map(|name| Bound {
                name,
                inside: inside.clone(),
            });
            self.env.helpers.modules[of]
                .bound
                .borrow_mut()
                .extend(bound);
        }
        Some(Function {
            name,
            types: self.types,
            vars: self.vars,
            params,
            handles: self.handles,
            body,
            result: self.result,
            returns_early: self.returns_early,
            depth: self.depth,
            inside: self.inside,
            role: self.role,
            mut_self: self.mut_self,
            origin: None,
        })
    }

    /// Asks for the types that nothing determined.
    fn unknown_types(&mut self) {
        let mut asked: Vec<Ty> = Vec::new();
        for (ty, span, path) in std::mem::take(&mut self.constants) {
            let open = self.types.resolve(&ty);
            if matches!(open, Ty::Var(_)) && !asked.contains(&open) {
                asked.push(open);
                if is_variant(&path) {
                    self.error(
                        span,
                        format!("`{path}` is not in the kernel language"),
                        NO_ENUMS,
                    );
                    continue;
                }
                self.error(
                    span,
                    format!("cannot tell the type of `{path}` from its use here"),
                    format!("say it: `let x: u32 = {path};`"),
                );
            }
        }
        for i in 0..self.vars.len() {
            let open = self.types.resolve(&self.vars[i].ty);
            if has_variable(&open) && !asked.contains(&open) {
                let (name, _) = self.declared[i].clone();
                asked.push(open);
                self.leave(format!(
                    "the type of `{name}` is not known; write `let {name}: T`"
                ));
            }
        }
    }

    /// Settles pending facts until nothing changes.
    fn settle(&mut self) {
        loop {
            let mut changed = false;
            for p in std::mem::take(&mut self.pending) {
                match p {
                    Pending::Unsigned(from, to) => match self.types.resolve(&from) {
                        Ty::Scalar(s) => {
                            changed = true;
                            if self.types.unify(&to, &Ty::Scalar(unsigned(s))).is_err() {
                                self.leave("mismatched types");
                            }
                        }
                        Ty::Size => {
                            changed = true;
                            if self.types.unify(&to, &Ty::Size).is_err() {
                                self.leave("mismatched types");
                            }
                        }
                        _ => self.pending.push(Pending::Unsigned(from, to)),
                    },
                    other @ Pending::Receiver { .. } => self.pending.push(other),
                }
            }
            if !changed {
                return;
            }
        }
    }

    // Names

    fn name(&mut self, ident: &syn::Ident, what: Name) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.push(Scoped {
                text: ident.to_string(),
                context: context(ident.span()),
                what,
            });
        }
    }

    /// The name that was added last is found from every syntax context.
    fn everywhere(&mut self) {
        if let Some(last) = self.scopes.last_mut().and_then(|s| s.last_mut()) {
            last.context = None;
        }
    }

    fn bind(&mut self, name: &syn::Ident, binding: Binding) {
        let h = Handle::Bound(binding);
        let what = match binding {
            Binding::Item(f) => Name::Value(Simple::Item(f), Scalar::U32),
            Binding::EdgeItem => Name::Handle(h, HandleTy::Edge),
            Binding::Scalar(u, s) => Name::Value(Simple::Uniform(u), s),
            Binding::Round => Name::Value(Simple::Uniform(Uniform::Round), Scalar::U32),
            Binding::Own {
                scalar, mutable, ..
            } => Name::Handle(h, HandleTy::Own { scalar, mutable }),
            Binding::Buf { scalar, .. } => Name::Handle(h, HandleTy::Buf(scalar)),
            Binding::AtomicBuf { scalar, .. } => Name::Handle(h, HandleTy::AtomicBuf(scalar)),
            Binding::Csr(_) => Name::Handle(h, HandleTy::Csr),
            Binding::Bits { .. } => Name::Handle(h, HandleTy::Bits),
            Binding::Push(_) => Name::Handle(h, HandleTy::Push),
            // Their types are in the signature.
            Binding::PushItems(_)
            | Binding::Append(_)
            | Binding::Records { .. }
            | Binding::OwnRecord { .. }
            | Binding::Record => return,
            Binding::Reduce {
                op, scalar, count, ..
            } => Name::Handle(h, HandleTy::Reduce { op, scalar, count }),
            Binding::Frontier(_) => Name::Handle(h, HandleTy::Frontier),
            Binding::List(_) => Name::Handle(h, HandleTy::List),
        };
        self.name(name, what);
    }

    /// What a name stands for: as rustc has it, the innermost binding of the same text and syntax context.
    fn lookup(&self, ident: &syn::Ident) -> Option<Name> {
        let text = ident.to_string();
        let mut bound = self.bound(&text).peekable();
        bound.peek()?;
        let context = context(ident.span());
        bound
            .find(|s| same_context(s.context, context))
            .map(|s| s.what)
    }

    /// What has this text in any syntax context, innermost first.
    fn bound<'b>(&'b self, text: &'b str) -> impl Iterator<Item = &'b Scoped> {
        let inside_out = self.scopes.iter().rev().flat_map(|s| s.iter().rev());
        inside_out.filter(move |s| s.text == text)
    }

    /// A name that only another macro has bound. rustc reports it, unless the tokens come from a procedural macro, whose names it
    /// may take for the caller's.
    fn other_macro(&mut self, name: &str, at: Span) {
        self.error(
            at,
            format!("the `{name}` in scope is that of another macro"),
            format!("pass `{name}` to the macro that binds it"),
        );
    }

    fn hidden(&mut self, ty: Ty) -> VarId {
        self.vars.push(Var { ty, mutable: false });
        self.declared.push(("_".to_owned(), Span::call_site()));
        VarId(self.vars.len() - 1)
    }

    fn declare(&mut self, ident: &syn::Ident, ty: Ty, mutable: bool) -> VarId {
        self.vars.push(Var { ty, mutable });
        self.declared.push((ident.to_string(), ident.span()));
        let id = VarId(self.vars.len() - 1);
        self.name(ident, Name::Var(id));
        id
    }

    // Types

    /// The handle type that a parameter's type names.
    fn handle(&mut self, ty: &syn::Type) -> Option<HandleTy> {
        let Some((of, handle)) = types::items(ty) else {
            return types::handle(ty);
        };
        if let HandleTy::PushItems(_) = handle(0)
            && matches!(of, syn::Type::Path(p) if p.path.is_ident("Node"))
        {
            return Some(HandleTy::Push);
        }
        let of = self.ty(of);
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

    fn record(&self, id: usize) -> Ty {
        self.env.helpers.records.borrow()[id].clone()
    }

    fn unify(&mut self, expected: &Ty, found: &Expr) {
        if self.types.unify(expected, &found.ty).is_err() {
            self.mismatch(expected, found);
        }
    }

    /// Reports a mismatched type where rustc would advise what lanes do not have (`try_into().unwrap()`), or not see what is meant.
    fn mismatch(&mut self, expected: &Ty, found: &Expr) {
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

    /// Whether these types have not been mistaken for each other in this function yet: a variable of the wrong type is one mistake.
    fn first_of(&mut self, expected: &Ty, found: &Ty) -> bool {
        self.failed = true;
        let pair = (expected.clone(), found.clone());
        let first = !self.mistaken.contains(&pair);
        if first {
            self.mistaken.push(pair);
        }
        first
    }

    /// Refuses what has to be asked for its value first; true if it did.
    fn unread(&mut self, e: &Expr) -> bool {
        match e.ty {
            Ty::Handle(HandleTy::Atomic(_)) => self.error(
                e.span,
                "an atomic is not a value",
                "read it with `.load()`, as in `xs[i].load()`",
            ),
            Ty::Handle(h @ (HandleTy::Frontier | HandleTy::List)) => {
                let name = self.name_of(e);
                self.error(
                    e.span,
                    format!(
                        "`{name}` is a {}, not a value",
                        if h == HandleTy::List {
                            "list"
                        } else {
                            "frontier"
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
    fn name_of(&self, e: &Expr) -> String {
        let Kind::Handle(handle) = e.kind else {
            return "it".to_owned();
        };
        let is = |n: &Name| matches!(n, Name::Handle(h, _) if *h == handle);
        let mut names = self.scopes.iter().flatten();
        let found = names.find(|s| is(&s.what));
        found.map_or_else(|| "it".to_owned(), |s| s.text.clone())
    }

    fn agree(&mut self, expected: &Ty, found: &Ty) {
        if self.types.unify(expected, found).is_err() {
            let (e, f) = (self.types.show(expected), self.types.show(found));
            self.leave(format!("mismatched types: expected `{e}`, found `{f}`"));
        }
    }

    fn ty(&mut self, ty: &syn::Type) -> Ty {
        match ty {
            syn::Type::Paren(t) => self.ty(&t.elem),
            syn::Type::Infer(_) => self.types.any(),
            syn::Type::Tuple(t) => Ty::Tuple(t.elems.iter().map(|t| self.ty(t)).collect()),
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
    fn known(&mut self, ty: &syn::Type) -> Option<Ty> {
        match ty {
            syn::Type::Paren(t) => self.known(&t.elem),
            syn::Type::Tuple(t) => {
                let parts: Option<Vec<Ty>> = t.elems.iter().map(|t| self.known(t)).collect();
                parts.map(Ty::Tuple)
            }
            syn::Type::Array(a) => {
                let element = self.known(&a.elem)?;
                let n = self.const_value(&a.len, (self.depth, &self.inside), 0)?;
                (1..=MAX_ARRAY)
                    .contains(&n)
                    .then(|| Ty::Array(Box::new(element), n as u32))
            }
            other => {
                if let Some(s) = types::scalar_of(other).or_else(|| self.alias(other)) {
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
    fn named(&mut self, path: &str) -> Option<Ty> {
        match path {
            "usize" => Some(Ty::Size),
            "Self" => {
                // `impl Self` names nobody; rustc says so.
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
    fn structure(&mut self, name: &str) -> Option<Ty> {
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
        if self.report.len() > before || fields.iter().any(|(_, t)| *t == Ty::Error) {
            *of.resolved.borrow_mut() = Resolved::Failed;
            self.failed = true;
            return Some(Ty::Error);
        }
        let compares = derives(item, "PartialEq");
        let s = Struct(Rc::new(StructDef {
            name: name.to_owned(),
            fields,
            tuple: matches!(item.fields, syn::Fields::Unnamed(_)),
            compares,
            elsewhere: self.env.helpers.origin.is_some(),
        }));
        *of.resolved.borrow_mut() = Resolved::Done(s.clone());
        Some(Ty::Struct(s))
    }

    /// The struct of this name in a `#[device] mod` of another module.
    fn structure_elsewhere(&mut self, name: &str) -> Option<Ty> {
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
    fn array(&mut self, element: Ty, len: &syn::Expr) -> Ty {
        match self.const_value(len, (self.depth, &self.inside), 0) {
            Some(n) if (1..=MAX_ARRAY).contains(&n) => Ty::Array(Box::new(element), n as u32),
            Some(n) => {
                self.error(
                    first_token(len),
                    format!("a local array has 1 to {MAX_ARRAY} elements, not {n}"),
                    "a lane keeps its arrays in registers: use a `#[scratch]` buffer for more",
                );
                Ty::Error
            }
            None => {
                self.error(
                    first_token(len),
                    "the macro does not see this length",
                    "write a number, or a `const` of this module or body",
                );
                Ty::Error
            }
        }
    }

    /// The value of a constant integer expression whose parts the macro sees.
    fn const_value(&self, e: &syn::Expr, at: At<'_>, turns: u32) -> Option<i128> {
        if turns > 32 {
            return None;
        }
        let value = |e: &syn::Expr| self.const_value(e, at, turns + 1);
        match e {
            syn::Expr::Paren(p) => value(&p.expr),
            syn::Expr::Cast(c) => value(&c.expr),
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
                    return Some(*v);
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
    fn constant_type(&mut self, name: &str) -> Option<Ty> {
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

    fn alias(&self, ty: &syn::Type) -> Option<Scalar> {
        let syn::Type::Path(p) = ty else { return None };
        let name = p.path.get_ident()?.to_string();
        self.env.helpers.alias(&name, self.depth)
    }

    fn never(&self, ty: &Ty) -> bool {
        self.types.resolve(ty) == Ty::Never
    }

    // Statements

    fn block(&mut self, block: &syn::Block, span: Span) -> Expr {
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

    fn item(&mut self, item: &syn::Item, stmts: &mut Vec<Stmt>) {
        match item {
            syn::Item::Const(c) => {
                let ty = self.ty(&c.ty);
                let value = self.value(&c.expr);
                self.unify(&ty, &value);
                if let Some(v) = self.const_value(&c.expr, (self.depth, &self.inside), 0) {
                    self.const_values.push((c.ident.to_string(), v));
                }
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

    fn local(&mut self, l: &syn::Local) -> Stmt {
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

    fn pattern(&mut self, p: &syn::Pat) -> (Pat, Ty) {
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
    fn struct_pattern(&mut self, p: &syn::Pat) -> Option<(Ty, Vec<(usize, syn::Pat)>)> {
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

const NO_ENUMS: &str =
    "lanes have no enums: use a u32 and constants, `const POINT: u32 = Shape::Point as u32;`";

/// `Shape::Point`: written like a variant of an enum.
fn is_variant(path: &str) -> bool {
    let is_type = |s: &str| s.starts_with(char::is_uppercase) && s.contains(char::is_lowercase);
    let mut words = path.rsplit("::").map(str::trim);
    words.next().is_some_and(is_type) && words.next().is_some_and(is_type)
}

/// The patterns of a tuple's parts by their places, `..` left out. `None` if it has another number of parts.
fn parts(
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

fn strip(e: &syn::Expr) -> &syn::Expr {
    match e {
        syn::Expr::Paren(p) => strip(&p.expr),
        other => other,
    }
}

fn is_unit(ty: &syn::Type) -> bool {
    matches!(ty, syn::Type::Tuple(t) if t.elems.is_empty())
}

fn contains_handle(ty: &Ty) -> bool {
    ty.any_inside(&|t| matches!(t, Ty::Handle(_)))
}

fn has_variable(ty: &Ty) -> bool {
    ty.any_inside(&|t| matches!(t, Ty::Var(_)))
}

/// Whether two identifiers are one name to rustc.
fn same_name(a: &syn::Ident, b: &syn::Ident) -> bool {
    a == b && same_context(context(a.span()), context(b.span()))
}

fn unsigned(s: Scalar) -> Scalar {
    match s {
        Scalar::I32 | Scalar::F32 => Scalar::U32,
        Scalar::I64 | Scalar::F64 => Scalar::U64,
        Scalar::Bool | Scalar::U8 | Scalar::U32 | Scalar::U64 => s,
    }
}

fn signed(s: Scalar) -> Scalar {
    match s {
        Scalar::U32 => Scalar::I32,
        Scalar::U64 => Scalar::I64,
        Scalar::Bool | Scalar::U8 | Scalar::I32 | Scalar::I64 | Scalar::F32 | Scalar::F64 => s,
    }
}
