//! Names, types and refusals: syntax to the typed tree.

mod block;
mod call;
mod expr;
mod flow;
pub(crate) mod function;
mod method;
mod place;
mod rows;
mod ty;

use super::hir::{
    Arm, Block, CellField, CsrCall, Expr, Function, Handle, ItemField, Kind, LoopId, Origin, Param,
    Pat, Place, Projection, Role, Source, Stmt, Test, Var, VarId,
};
use super::methods::{self, As, Code, On};
use super::param::{self, HandleTy, Meaning, ParamKind};
use super::record::{Part, Record, RecordStruct, Shape, derives};
use super::refuse;
use super::scope::{At, Env, Helpers, Resolved};
use super::types::{self, RowOf, Struct, StructDef, Ty, Unifier};
use crate::calls::Scan;
use crate::names;
use crate::report::{Report, did_you_mean};
use crate::tables::{Assumed, Assumption};
use crate::tokens::{context, first_token, same_context, same_name, start};
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
/// Most numbers in all parts of a value, before which registers run out as well: types double with each name, and the
/// comparison of two values nests as deeply as they have numbers.
const MAX_NUMBERS: u64 = 512;

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
    for (name, kind) in env.bindings {
        let written = f.sig.inputs.iter().find_map(|i| match i {
            syn::FnArg::Typed(t) => match &*t.pat {
                syn::Pat::Ident(p) if same_name(&p.ident, name) => {
                    Some((&*t.ty, p.mutability.is_some()))
                }
                _ => None,
            },
            syn::FnArg::Receiver(_) => None,
        });
        match (kind.meaning(), written) {
            (Meaning::Struct, Some((ty, mutable))) => {
                let ty = c.ty(ty);
                let id = c.declare(name, ty, mutable);
                params.push(Param::Copy(id, Kind::Record));
            }
            (Meaning::Referred { first, mutable }, Some((syn::Type::Reference(r), _))) => {
                let ty = c.ty(&r.elem);
                let id = c.declare(name, ty, mutable);
                c.refs.push(id);
                params.push(Param::Own(id, first));
            }
            (Meaning::HandleOfStructs, Some((ty, _))) => {
                if let Some(of) = c.handle(ty) {
                    c.name(name, Name::Handle(Handle::Bound(*kind), of));
                }
            }
            (Meaning::Struct | Meaning::Referred { .. } | Meaning::HandleOfStructs, _) => {}
            (Meaning::Index | Meaning::Uniform(..) | Meaning::Handle(_), _) => c.bind(name, *kind),
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
    c.structs(f);
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

/// See [`super::array_len`].
pub(super) fn array_len(ty: &syn::Type, helpers: &Helpers, report: &mut Report) -> Option<u32> {
    let env = Env {
        bindings: &[],
        helpers,
        fields: &[],
    };
    let mut c = Checker::new(env, report, Role::Helper, helpers.modules.len());
    match c.ty(ty) {
        Ty::Array(_, n) if !c.failed => Some(n),
        _ => None,
    }
}

/// Checks a condition of `until`, or a call that says which edges are swept, whose names this signature has.
pub(super) fn condition(
    name: &str,
    (e, signature): (&syn::Expr, Option<&syn::Signature>),
    env: &Env<'_>,
    report: &mut Report,
) -> Option<Function> {
    let depth = env.helpers.modules.len();
    let mut c = Checker::new(*env, report, Role::Condition, depth);
    c.result = Ty::BOOL;
    for (name, kind) in env.bindings {
        // Only a signature has the types of what holds structs or arrays.
        match (kind.meaning(), signature.and_then(|s| type_of(s, name))) {
            (Meaning::HandleOfStructs, Some(ty)) => {
                if let Some(of) = c.handle(ty) {
                    c.name(name, Name::Handle(Handle::Bound(*kind), of));
                }
            }
            _ => c.bind(name, *kind),
        }
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
    c.structs(e);
    c.finish(name.to_owned(), Vec::new(), body)
}

/// The type of a parameter of this name.
fn type_of<'s>(signature: &'s syn::Signature, name: &syn::Ident) -> Option<&'s syn::Type> {
    signature.inputs.iter().find_map(|input| match input {
        syn::FnArg::Typed(t) => match &*t.pat {
            syn::Pat::Ident(p) if same_name(&p.ident, name) => Some(&*t.ty),
            _ => None,
        },
        syn::FnArg::Receiver(_) => None,
    })
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
    /// Loops so far whose turns are steps of work.
    counting: Vec<LoopId>,
    /// What is checked stands where calls of `turn` cannot: in a `const fn`, a constant's value, a condition, or arguments
    /// of a macro.
    unwatched: bool,
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
    /// Variables that stand for what a reference refers to: `self` through `&self` or `&mut self`, an own element that
    /// is a struct.
    refs: Vec<VarId>,
    /// Those of them that refer to an element of an array.
    element_refs: Vec<VarId>,
    mut_self: bool,
    /// Variables that stand for the body's own constants.
    body_constants: Vec<VarId>,
    /// Has rustc look.
    assumptions: Vec<Assumption>,
    /// `#[device] mod`s between the function and its module.
    inside: Vec<syn::Ident>,
    /// The body's own constants, with the values of integers where the macro works them out.
    const_values: Vec<(String, Option<i128>)>,
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
            counting: Vec::new(),
            unwatched: role == Role::Condition,
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
            element_refs: Vec::new(),
            mut_self: false,
            body_constants: Vec::new(),
            assumptions: Vec::new(),
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
        self.unwatched = f.sig.constness.is_some();
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
                    // Outside of an `impl`, `self` is rustc's to refuse.
                    let owner = self.owner.clone();
                    let ty = owner.and_then(|owner| self.named(&owner));
                    let ty = ty.unwrap_or(Ty::Error);
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
        self.structs(f);
        self.finish(f.sig.ident.unraw().to_string(), params, body)
    }

    /// Structs of other modules that some code of this function names: rustc looks whether they are those.
    fn structs(&mut self, code: &impl ToTokens) {
        let mut scan = Scan::default();
        scan.code(code.to_token_stream());
        let helpers = self.env.helpers;
        for path in &scan.types {
            let written = names::joined(path);
            let name = helpers.struct_name(&written, (self.depth, &self.inside));
            let here = helpers.structure(&name, self.depth).is_some();
            let of = helpers.mods.iter().find(|m| m.structs.contains(&name));
            if let (false, Some(of)) = (here || helpers.alias(&name, self.depth).is_some(), of) {
                let path = quote::quote!(#(#path)::*);
                self.assumptions.push(Assumption::Struct(path, of.serial));
            }
        }
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
            let inside = self.inside.clone();
            let assumed = self.assumptions.into_iter().map(|what| Assumed {
                what,
                inside: inside.clone(),
            });
            self.env.helpers.modules[of]
                .assumed
                .borrow_mut()
                .extend(assumed);
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
            counting: self.counting,
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

    fn bind(&mut self, name: &syn::Ident, kind: ParamKind) {
        let what = match kind.meaning() {
            Meaning::Index => Name::Value(Simple::Item(ItemField::Index), Scalar::U32),
            Meaning::Uniform(u, scalar) => Name::Value(Simple::Uniform(u), scalar),
            Meaning::Handle(of) => Name::Handle(Handle::Bound(kind), of),
            // Only a signature has their types.
            Meaning::Struct | Meaning::Referred { .. } | Meaning::HandleOfStructs => return,
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

    /// A name that only another macro has bound. rustc reports it, unless the tokens come from a procedural macro,
    /// whose names it may take for the caller's.
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

    // Statements
}

const NO_ENUMS: &str =
    "lanes have no enums: use a u32 and constants, `const POINT: u32 = Shape::Point as u32;`";

/// `Shape::Point`: written like a variant of an enum.
fn is_variant(path: &str) -> bool {
    let is_type = |s: &str| s.starts_with(char::is_uppercase) && s.contains(char::is_lowercase);
    let mut words = path.rsplit("::").map(str::trim);
    words.next().is_some_and(is_type) && words.next().is_some_and(is_type)
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
