//! Names, types and refusals: syntax to the typed tree.

use super::hir::{
    Arm, Block, CsrCall, Expr, Function, Handle, Kind, LoopId, Param, Pat, Place, Role, Source,
    Stmt, Test, Var, VarId,
};
use super::methods::{self, As, On};
use super::types::{self, HandleTy, Ty, Unifier};
use super::{Binding, Checked, Env, ItemField, first_token, refuse};
use crate::report::{Report, did_you_mean};
use proc_macro2::Span;
use quote::ToTokens;
use std::rc::Rc;
use syn::spanned::Spanned;
use vyre_core::ir::{BinaryOp, CompareOp, CsrQuery, UnaryOp};
use vyre_core::module::{ReduceOp, Scalar, Uniform};

/// Deepest nesting of expressions: the compiler's own stack is finite.
const MAX_NESTING: usize = 160;

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
    for (name, binding) in env.bindings {
        c.bind(name.to_string(), *binding);
    }
    let mut params = Vec::new();
    for input in &f.sig.inputs {
        if let syn::FnArg::Typed(p) = input
            && let syn::Pat::Ident(p) = &*p.pat
            && p.mutability.is_some()
            && let Some(Name::Value(kind, scalar)) = c.lookup(&p.ident.to_string())
        {
            let id = c.declare(&p.ident, Ty::Scalar(scalar), true);
            params.push(Param::Copy(id, kind.kind()));
        }
    }
    let body = c.body(&f.block);
    c.finish(f.sig.ident.to_string(), params, body)
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
        c.bind(name.to_string(), *binding);
    }
    let body = c.value(e);
    c.unify(&Ty::BOOL, &body);
    c.finish(name.to_owned(), Vec::new(), body)
}

/// Checks a `#[device]` function, once.
fn helper(name: &str, at: Span, from: usize, c: &mut Checker<'_>) -> Option<Found> {
    let (helper, depth) = c.env.helpers.function(name, from)?;
    if !helper.device {
        c.error(
            at,
            format!("`{name}` is not a `#[device]` function"),
            format!("write `#[device]` before `fn {name}` to inline it into kernels"),
        );
        return Some(Found::Failed(None));
    }
    let result = match &helper.item.sig.output {
        syn::ReturnType::Default => Some(Ty::UNIT),
        syn::ReturnType::Type(_, ty) => known_type(ty),
    };
    let state = helper.checked.borrow().clone();
    match state {
        Checked::Done(f) => return Some(Found::Function(f)),
        Checked::Failed => {
            c.failed = true;
            return Some(Found::Failed(result));
        }
        Checked::Running => {
            let running = c.env.helpers.running.borrow();
            let start = running.iter().position(|n| n == name).unwrap_or(0);
            let path = running[start..]
                .iter()
                .map(String::as_str)
                .chain([name])
                .collect::<Vec<_>>();
            let message = format!(
                "recursion is not in the kernel language: `{}`",
                path.join(" -> ")
            );
            drop(running);
            c.error(at, message, "a lane has no call stack: use a loop");
            return Some(Found::Failed(result));
        }
        Checked::Not => {}
    }
    *helper.checked.borrow_mut() = Checked::Running;
    c.env.helpers.running.borrow_mut().push(name.to_owned());
    let env = Env {
        bindings: &[],
        helpers: c.env.helpers,
    };
    let mut inner = Checker::new(env, c.report, Role::Helper, depth);
    inner.nest = c.nest;
    let checked = inner.helper(&helper.item);
    c.env.helpers.running.borrow_mut().pop();
    let (state, found) = match checked {
        Some(f) => {
            let f = Rc::new(f);
            (Checked::Done(f.clone()), Found::Function(f))
        }
        None => {
            c.failed = true;
            (Checked::Failed, Found::Failed(result))
        }
    };
    *helper.checked.borrow_mut() = state;
    Some(found)
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
    label: Option<String>,
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
    scopes: Vec<Vec<(String, Name)>>,
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
        if let Some(u) = &sig.unsafety {
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
                    self.error(
                        r.self_token.span,
                        "methods are not in the kernel language yet",
                        "write a free `#[device] fn`",
                    );
                    continue;
                }
                syn::FnArg::Typed(t) => t,
            };
            let handle = types::handle(&typed.ty);
            self.handles.push(handle);
            if let Some(h) = handle {
                if let syn::Pat::Ident(p) = &*typed.pat {
                    let name = Name::Handle(Handle::Param(params.len()), h);
                    self.name(p.ident.to_string(), name);
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
        self.finish(f.sig.ident.to_string(), params, body)
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
            role: self.role,
        })
    }

    /// Asks for the types that nothing determined.
    fn unknown_types(&mut self) {
        let mut asked: Vec<Ty> = Vec::new();
        for (ty, span, path) in std::mem::take(&mut self.constants) {
            let open = self.types.resolve(&ty);
            if matches!(open, Ty::Var(_)) && !asked.contains(&open) {
                asked.push(open);
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

    fn name(&mut self, name: String, what: Name) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.push((name, what));
        }
    }

    fn bind(&mut self, name: String, binding: Binding) {
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
            Binding::Push(_) => Name::Handle(h, HandleTy::Push),
            Binding::Reduce {
                op, scalar, count, ..
            } => Name::Handle(h, HandleTy::Reduce { op, scalar, count }),
            Binding::Frontier(_) => Name::Handle(h, HandleTy::Frontier),
        };
        self.name(name, what);
    }

    fn lookup(&self, name: &str) -> Option<Name> {
        self.scopes
            .iter()
            .rev()
            .flat_map(|s| s.iter().rev())
            .find(|(n, _)| n == name)
            .map(|&(_, what)| what)
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
        self.name(ident.to_string(), Name::Var(id));
        id
    }

    // Types

    fn unify(&mut self, expected: &Ty, found: &Expr) {
        self.agree(expected, &found.ty);
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
            syn::Type::Group(t) => self.ty(&t.elem),
            syn::Type::Infer(_) => self.types.any(),
            syn::Type::Tuple(t) => Ty::Tuple(t.elems.iter().map(|t| self.ty(t)).collect()),
            syn::Type::Never(_) => Ty::Never,
            other => match types::scalar(other).or_else(|| self.alias(other)) {
                Some(s) => Ty::Scalar(s),
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
                let id = self.declare(&c.ident, ty, false);
                stmts.push(Stmt::Let(Pat::Var(id), Some(value)));
            }
            syn::Item::Use(u) => {
                self.error(
                    u.use_token.span,
                    "`use` inside a kernel is not in the kernel language",
                    "move it outside, beside the kernel",
                );
            }
            other => {
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
            syn::Pat::Tuple(t) => {
                let (pats, tys) = t.elems.iter().map(|p| self.pattern(p)).unzip();
                (Pat::Tuple(pats), Ty::Tuple(tys))
            }
            other => {
                refuse::pattern(other, self.report);
                self.failed = true;
                (Pat::Ignore, Ty::Error)
            }
        }
    }

    // Expressions

    /// An expression used as a value.
    fn value(&mut self, e: &syn::Expr) -> Expr {
        self.expr(e, None)
    }

    /// A value where Rust also takes a reference to one: operands of operators, receivers.
    fn operand(&mut self, e: &syn::Expr) -> Expr {
        let e = self.expr(e, None);
        self.read(e)
    }

    fn read(&mut self, e: Expr) -> Expr {
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
    fn expr(&mut self, e: &syn::Expr, hint: Option<Scalar>) -> Expr {
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

    fn wrong(&mut self, span: Span) -> Expr {
        self.failed = true;
        Expr {
            kind: Kind::Error,
            ty: Ty::Error,
            span,
        }
    }

    fn expr_inner(&mut self, e: &syn::Expr, hint: Option<Scalar>) -> Expr {
        let span = first_token(e);
        match e {
            syn::Expr::Paren(p) => Expr {
                span,
                ..self.expr(&p.expr, hint)
            },
            syn::Expr::Group(g) => Expr {
                span,
                ..self.expr(&g.expr, hint)
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
                Expr {
                    kind: Kind::Tuple(parts),
                    ty,
                    span,
                }
            }
            other => {
                let (at, what, advice) = refuse::expression(other);
                self.error(at, what, advice);
                self.wrong(span)
            }
        }
    }

    fn literal(&mut self, e: &syn::Expr, lit: &syn::Lit, hint: Option<Scalar>) -> Expr {
        let span = lit.span();
        let suffixed = |c: &mut Self, suffix: &str| match suffix {
            "" => None,
            name => Some(match types::named_scalar(name) {
                Some(s) if types::is_int(s) || types::is_float(s) => Ty::Scalar(s),
                _ => {
                    let advice = match name {
                        "usize" | "isize" => "buffers are indexed by u32: use `u32`",
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

    fn path(&mut self, p: &syn::ExprPath) -> Expr {
        let span = first_token(p);
        if p.qself.is_some() || p.path.segments.iter().any(|s| !s.arguments.is_none()) {
            self.error(
                span,
                "generic paths are not in the kernel language",
                "name a constant or a variable",
            );
            return self.wrong(span);
        }
        if let Some(ident) = p.path.get_ident() {
            let name = ident.to_string();
            match self.lookup(&name) {
                Some(Name::Var(id)) => {
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
            let declared = self.env.helpers.constant(&name, self.depth);
            if declared.is_none() && name.chars().any(char::is_lowercase) {
                self.leave(format!("cannot find value `{name}`"));
                return self.wrong(span);
            }
            return self.constant(p, declared, span);
        }
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
        if let Some(s) = types::named_scalar(before)
            && let Some((s, bits)) = methods::constant(s, last)
        {
            return Expr {
                kind: Kind::Bits(bits),
                ty: Ty::Scalar(s),
                span,
            };
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
                .and_then(|n| types::named_scalar(n))
        } else if names[..names.len() - 1]
            .iter()
            .all(|n| n == "self" || n == "super")
        {
            let up = names.iter().filter(|n| *n == "super").count();
            self.depth
                .checked_sub(up)
                .and_then(|d| self.env.helpers.constant(last, d))
        } else {
            None
        };
        self.constant(p, declared, span)
    }

    fn constant(&mut self, p: &syn::ExprPath, declared: Option<Scalar>, span: Span) -> Expr {
        let tokens = p.path.to_token_stream();
        let ty = match declared {
            Some(s) => Ty::Scalar(s),
            None => {
                let ty = self.types.constant();
                let shown = tokens.to_string().replace(' ', "");
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

    fn unary(&mut self, u: &syn::ExprUnary, span: Span, hint: Option<Scalar>) -> Expr {
        let op = match u.op {
            syn::UnOp::Deref(star) => {
                let inner = self.expr(&u.expr, None);
                return match (&inner.kind, &inner.ty) {
                    (_, Ty::Handle(HandleTy::Own { .. })) => Expr {
                        span,
                        ..self.read(inner)
                    },
                    (_, Ty::Error) => self.wrong(span),
                    _ => {
                        let _ = star;
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
        let ty = inner.ty.clone();
        Expr {
            kind: Kind::Unary(op, Box::new(inner)),
            ty,
            span,
        }
    }

    fn binary(&mut self, b: &syn::ExprBinary, span: Span) -> Expr {
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
            if let (Ty::Handle(HandleTy::Own { .. }), Ty::Handle(HandleTy::Own { .. })) =
                (&left.ty, &right.ty)
            {
                left = self.read(left);
                right = self.read(right);
            }
            let ty = left.ty.clone();
            self.unify(&ty, &right);
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
        let left = self.operand(&b.left);
        let right = self.operand(&b.right);
        let ty = left.ty.clone();
        if !matches!(op, BinaryOp::Shl | BinaryOp::Shr) {
            self.unify(&ty, &right);
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

    fn cast(&mut self, c: &syn::ExprCast, span: Span) -> Expr {
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

    fn place(&mut self, e: &syn::Expr) -> Option<(Place, Ty)> {
        match e {
            syn::Expr::Paren(p) => self.place(&p.expr),
            syn::Expr::Group(g) => self.place(&g.expr),
            syn::Expr::Path(p) => {
                let name = p
                    .path
                    .get_ident()
                    .map(ToString::to_string)
                    .unwrap_or_default();
                match self.lookup(&name) {
                    Some(Name::Var(id)) => {
                        Some((Place::Var(id, Vec::new()), self.vars[id.0].ty.clone()))
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
                    _ => {
                        self.leave("cannot assign through this reference");
                        None
                    }
                }
            }
            syn::Expr::Field(f) => {
                if let syn::Expr::Path(p) = &*f.base
                    && let Some(Name::Handle(_, HandleTy::Edge)) =
                        p.path.get_ident().and_then(|i| self.lookup(&i.to_string()))
                {
                    self.error(
                        first_token(&f.member),
                        "an edge's fields cannot be assigned",
                        "copy the field with `let mut`",
                    );
                    return None;
                }
                let (place, ty) = self.place(&f.base)?;
                let (Place::Var(id, mut path), Ty::Tuple(parts), syn::Member::Unnamed(i)) =
                    (place, self.types.resolve(&ty), &f.member)
                else {
                    self.leave("no such field");
                    return None;
                };
                let at = i.index as usize;
                let Some(part) = parts.get(at) else {
                    self.leave("no such field");
                    return None;
                };
                path.push(at);
                Some((Place::Var(id, path), part.clone()))
            }
            syn::Expr::Index(i) => {
                let target = self.expr(e, None);
                match target.ty {
                    Ty::Handle(HandleTy::Atomic(_)) => {
                        self.leave("cannot assign to an atomic; write `.store(value)`");
                    }
                    Ty::Error => {}
                    _ => {
                        let _ = i;
                        self.leave("cannot assign to an element of a read-only buffer; take `&Buf<Atomic<T>>`, or `&mut T` for the own element");
                    }
                }
                None
            }
            other => {
                let (at, what, advice) = refuse::expression(other);
                self.error(at, what, advice);
                None
            }
        }
    }

    fn assign(&mut self, a: &syn::ExprAssign, span: Span) -> Expr {
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

    fn assign_op(&mut self, b: &syn::ExprBinary, op: BinaryOp, span: Span) -> Expr {
        let value = self.operand(&b.right);
        let Some((place, ty)) = self.place(&b.left) else {
            return self.wrong(span);
        };
        if !matches!(op, BinaryOp::Shl | BinaryOp::Shr) {
            self.unify(&ty, &value);
        }
        Expr {
            kind: Kind::AssignOp(op, place, Box::new(value)),
            ty: Ty::UNIT,
            span,
        }
    }

    // Control flow

    fn branch(&mut self, i: &syn::ExprIf, span: Span) -> Expr {
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
    fn join(&mut self, a: &Expr, b: &Expr) -> Ty {
        let ty = a.ty.clone();
        self.unify(&ty, b);
        if self.never(&ty) { b.ty.clone() } else { ty }
    }

    fn matching(&mut self, m: &syn::ExprMatch, span: Span) -> Expr {
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

    fn tests(&mut self, p: &syn::Pat, of: &Ty, tests: &mut Vec<Test>, binds: &mut Option<VarId>) {
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

    fn refuse_pattern(&mut self, p: &syn::Pat) {
        refuse::pattern(p, self.report);
        self.failed = true;
    }

    fn test_value(&mut self, e: &syn::Expr, of: &Ty, tests: &mut Vec<Test>) {
        let e = self.value(e);
        self.unify(of, &e);
        tests.push(Test::Equal(e));
    }

    fn open_loop(
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

    fn close_loop(&mut self) -> bool {
        self.open.pop().is_some_and(|l| self.loops[l].broken)
    }

    fn labelled(&mut self, b: &syn::ExprBlock, label: &syn::Label, span: Span) -> Expr {
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

    fn while_loop(&mut self, w: &syn::ExprWhile, span: Span) -> Expr {
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

    fn endless(&mut self, l: &syn::ExprLoop, span: Span) -> Expr {
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

    fn for_loop(&mut self, f: &syn::ExprForLoop, span: Span) -> Expr {
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

    fn source(&mut self, e: &syn::Expr) -> Option<(Source, Ty)> {
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

    fn not_iterable(&mut self, e: &syn::Expr) {
        self.error(
            first_token(e),
            "a `for` cannot go over this in the kernel language",
            "go over `a..b`, `g.neighbors(v)` or `g.edges(v)`",
        );
    }

    fn find_loop(&self, label: Option<&syn::Lifetime>, turns: bool) -> Option<usize> {
        let name = label.map(|l| l.ident.to_string());
        self.open.iter().rev().copied().find(|&l| {
            let l = &self.loops[l];
            match &name {
                Some(n) => l.label.as_ref() == Some(n) && (l.turns || !turns),
                None => l.plain,
            }
        })
    }

    fn breaking(&mut self, b: &syn::ExprBreak, span: Span) -> Expr {
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

    fn continuing(&mut self, c: &syn::ExprContinue, span: Span) -> Expr {
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

    fn returning(&mut self, r: &syn::ExprReturn, span: Span) -> Expr {
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

    // Buffers, methods, calls

    fn handle_path(&self, e: &syn::Expr) -> Option<(Handle, HandleTy)> {
        let syn::Expr::Path(p) = strip(e) else {
            return None;
        };
        match self.lookup(&p.path.get_ident()?.to_string())? {
            Name::Handle(h, ty) => Some((h, ty)),
            Name::Var(_) | Name::Value(..) => None,
        }
    }

    fn index(&mut self, i: &syn::ExprIndex, span: Span) -> Expr {
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
                self.unify(&Ty::U32, &index);
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
                self.unify(&Ty::U32, &index);
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
            (_, Ty::Handle(HandleTy::Buf(_) | HandleTy::AtomicBuf(_))) => {
                self.error(
                    span,
                    "a buffer is indexed by its parameter's name",
                    "write `xs[i]` in each branch",
                );
                self.wrong(span)
            }
            (_, ty) => {
                let shown = self.types.show(ty);
                self.leave(format!("cannot index a `{shown}`"));
                self.wrong(span)
            }
        }
    }

    fn field(&mut self, f: &syn::ExprField, span: Span) -> Expr {
        let base = self.expr(&f.base, None);
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
    fn iterator_chain(&mut self, m: &syn::ExprMethodCall) -> bool {
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

    fn method(&mut self, m: &syn::ExprMethodCall, span: Span) -> Expr {
        if self.iterator_chain(m) {
            return self.wrong(span);
        }
        let receiver = self.expr(&m.receiver, None);
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

    fn arguments(&mut self, m: &syn::ExprMethodCall) -> Vec<Expr> {
        m.args.iter().map(|a| self.value(a)).collect()
    }

    fn scalar_method(
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
        let Some(row) = methods::method(name) else {
            let help = match (
                methods::instead(name),
                did_you_mean(name, methods::METHODS.iter().map(|m| m.name)),
            ) {
                (Some(advice), _) => advice.to_owned(),
                (None, Some(near)) => format!("did you mean `{near}`?"),
                (None, None) => "write it with operators, or as a `#[device] fn`".to_owned(),
            };
            self.error(
                at,
                format!("method `{name}` is not in the kernel language"),
                help,
            );
            for a in args {
                self.value(a);
            }
            return self.wrong(span);
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
            kind: Kind::Method(row.code, all),
            ty,
            span,
        }
    }

    fn as_type(&mut self, kind: As, receiver: &Ty) -> Ty {
        match kind {
            As::Same => receiver.clone(),
            As::U32 => Ty::U32,
            As::Bool => Ty::BOOL,
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

    fn handle_method(
        &mut self,
        m: &syn::ExprMethodCall,
        receiver: Expr,
        h: HandleTy,
        span: Span,
    ) -> Expr {
        let name = m.method.to_string();
        let site = m.method.span();
        let args = self.arguments(m);
        let known: &[&str] = match h {
            HandleTy::Atomic(_) => methods::ATOMIC,
            HandleTy::Buf(_) | HandleTy::AtomicBuf(_) => &["len", "is_empty"],
            HandleTy::Csr => &["neighbors", "edges", "target", "degree"],
            HandleTy::Push => &["push"],
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
            HandleTy::Frontier => &["len", "is_empty"],
            HandleTy::Edge | HandleTy::Own { .. } => &[],
        };
        if !known.contains(&name.as_str()) {
            let help = match (did_you_mean(&name, known.iter().copied()), known) {
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
            HandleTy::Buf(_) | HandleTy::AtomicBuf(_) => {
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
            HandleTy::Frontier if name == "is_empty" => (Kind::FrontierLen(handle, true), Ty::BOOL),
            HandleTy::Frontier => (Kind::FrontierLen(handle, false), Ty::U32),
            HandleTy::Csr if name == "neighbors" || name == "edges" => {
                self.error(
                    site,
                    format!("`{name}` is for loops in the kernel language"),
                    format!("write `for w in g.{name}(v)`"),
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
            HandleTy::Push => {
                let Some(value) = args.next() else {
                    return self.wrong(span);
                };
                self.unify(&Ty::U32, &value);
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
            HandleTy::Edge | HandleTy::Own { .. } | HandleTy::Atomic(_) => return self.wrong(span),
        };
        Expr { kind, ty, span }
    }

    fn atomic(&mut self, name: &str, place: Expr, args: Vec<Expr>, s: Scalar, span: Span) -> Expr {
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

    fn call(&mut self, c: &syn::ExprCall, span: Span) -> Expr {
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
        if let Some(before) = &before {
            if let Some(s) = types::named_scalar(before) {
                return self.scalar_function(s, &name, at, c, span);
            }
            if before == "cmp" && matches!(name.as_str(), "min" | "max") && c.args.len() == 2 {
                let receiver = self.value(&c.args[0]);
                return self.scalar_method(&name, at, receiver, vec![&c.args[1]], span);
            }
        }
        let mut from = Some(self.depth);
        let mut local = true;
        for s in p.path.segments.iter().rev().skip(1) {
            match s.ident.to_string().as_str() {
                "self" => {}
                "super" => from = from.and_then(|d| d.checked_sub(1)),
                _ => local = false,
            }
        }
        if p.path.get_ident().is_some() && self.lookup(&name).is_some() {
            self.leave(format!("`{name}` is not a function"));
            return self.wrong(span);
        }
        let found = match from {
            Some(d) if local => helper(&name, at, d, self),
            _ => None,
        };
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
                let near = did_you_mean(&name, self.env.helpers.names(self.depth));
                let help = match near {
                    Some(near) if local => format!("did you mean `{near}`?"),
                    _ => "kernels call `#[device] fn`s of their own module or the modules around it: put it there".to_owned(),
                };
                let shown = p.path.to_token_stream().to_string().replace(' ', "");
                self.error(
                    at,
                    format!("`{shown}` is not a `#[device]` function in scope"),
                    help,
                );
                return self.wrong(span);
            }
        };
        self.apply(f, c, &name, span)
    }

    fn apply(&mut self, f: Rc<Function>, c: &syn::ExprCall, name: &str, span: Span) -> Expr {
        let args: Vec<Expr> = c.args.iter().map(|a| self.value(a)).collect();
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
                    {
                        self.leave(format!(
                            "mismatched types: expected `{expected}`, found `{found}`"
                        ));
                    }
                }
                Param::Copy(..) => {}
            }
        }
        let ty = f.types.resolve(&f.result);
        Expr {
            kind: Kind::Call(f, args),
            ty,
            span,
        }
    }

    /// `u64::from(x)`, `f32::from_bits(x)`, `u32::min(a, b)`.
    fn scalar_function(
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
                    kind: Kind::Method(methods::Code::FromBits, vec![value]),
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

    fn mac(&mut self, m: &syn::Macro) -> Expr {
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
                    Expr {
                        kind: Kind::Assert {
                            cond: Box::new(cond),
                            debug,
                            message: args.len() > 1,
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
                    Expr {
                        kind: Kind::Assert {
                            cond,
                            debug,
                            message: false,
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
            "panic" | "unreachable" | "todo" | "unimplemented" if !debug => Expr {
                kind: Kind::Panic(span),
                ty: Ty::Never,
                span,
            },
            _ => {
                let (at, what, advice) = refuse::macros(m);
                self.error(at, what, advice);
                self.wrong(span)
            }
        }
    }
}

fn strip(e: &syn::Expr) -> &syn::Expr {
    match e {
        syn::Expr::Paren(p) => strip(&p.expr),
        syn::Expr::Group(g) => strip(&g.expr),
        other => other,
    }
}

fn is_unit(ty: &syn::Type) -> bool {
    matches!(ty, syn::Type::Tuple(t) if t.elems.is_empty())
}

/// A helper's result type where its body has errors.
fn known_type(ty: &syn::Type) -> Option<Ty> {
    match ty {
        syn::Type::Tuple(t) => t
            .elems
            .iter()
            .map(known_type)
            .collect::<Option<Vec<_>>>()
            .map(Ty::Tuple),
        other => types::scalar(other).map(Ty::Scalar),
    }
}

fn contains_handle(ty: &Ty) -> bool {
    match ty {
        Ty::Handle(_) => true,
        Ty::Tuple(parts) => parts.iter().any(contains_handle),
        Ty::Var(_) | Ty::Scalar(_) | Ty::Never | Ty::Error => false,
    }
}

fn has_variable(ty: &Ty) -> bool {
    match ty {
        Ty::Var(_) => true,
        Ty::Tuple(parts) => parts.iter().any(has_variable),
        Ty::Handle(_) | Ty::Scalar(_) | Ty::Never | Ty::Error => false,
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

/// An identifier pattern that names a constant, by Rust's convention.
fn is_constant(ident: &syn::Ident) -> bool {
    ident
        .to_string()
        .chars()
        .next()
        .is_some_and(char::is_uppercase)
}

fn unsigned(s: Scalar) -> Scalar {
    match s {
        Scalar::I32 | Scalar::F32 => Scalar::U32,
        Scalar::I64 | Scalar::F64 => Scalar::U64,
        Scalar::Bool | Scalar::U8 | Scalar::U32 | Scalar::U64 => s,
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
