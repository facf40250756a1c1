//! The typed tree to IR.
//!
//! A value becomes a list of scalar expressions (a tuple is flat, unit is empty). An IR expression is evaluated where the
//! statement that holds it stands, left to right, and assigns nothing. So an operand that needs statements (a block, an `if`,
//! an inlined call) puts them out first, and the operands before it are moved to locals ahead of those statements unless
//! nothing can tell the difference ([`Lowerer::operands`]).

use super::hir::{
    Arm, CsrCall, Expr, Function, Handle, Kind, LoopId, Param, Pat, Place, Role, Source, Stmt,
    Test, VarId,
};
use super::methods::Code;
use super::types::{Ty, is_float, is_int, is_signed};
use super::{Binding, ItemField, Tables};
use crate::report::Report;
use proc_macro2::{Span, TokenStream};
use quote::quote;
use vyre_core::ir::{self, AtomicOp, BinaryOp, CompareOp, CsrQuery, ItemLocals, LocalId, UnaryOp};
use vyre_core::module::{BufferId, Scalar, SiteId, TopologyId, Uniform};
use vyre_core::trap::TrapKind;

/// Most calls inlined into one kernel: helpers that call helpers multiply.
const MAX_CALLS: usize = 2_000;
/// Largest expression that is worth computing without need.
const CHEAP: usize = 6;
/// Longest chain of alternatives that stays one.
const LINEAR: usize = 4;

/// Lowers a checked function.
pub(super) fn body(f: &Function, tables: &mut Tables, report: &mut Report) -> Option<ir::Body> {
    let mut l = Lowerer {
        tables,
        locals: Vec::new(),
        item: ItemLocals::default(),
        out: Vec::new(),
        frames: Vec::new(),
        loops: 0,
        calls: 0,
        fault: None,
        depth: f.depth,
    };
    l.frames.push(Frame::new(f, Vec::new()));
    for p in &f.params {
        if let Param::Copy(var, kind) = p {
            let value = match kind {
                Kind::Uniform(u) => ir::Expr::Uniform(*u, l.scalar_of(&f.vars[var.0].ty)),
                Kind::Item(field) => l.item(*field),
                _ => continue,
            };
            l.bind(*var, vec![value]);
        }
    }
    let value = match f.role {
        Role::Condition => Some(l.scalar(&f.body)),
        Role::Wave | Role::Helper => {
            l.discard(&f.body);
            None
        }
    };
    let (block, fault) = (std::mem::take(&mut l.out), l.fault.take());
    let (locals, item) = (std::mem::take(&mut l.locals), l.item);
    match fault {
        Some(Fault::TooManyCalls) => {
            report.error_help(
                f.body.span,
                format!("`{}` inlines more than {MAX_CALLS} calls", f.name),
                "call helpers less often, for example once in a loop",
            );
            return None;
        }
        Some(Fault::Unexpected(what)) => {
            report.left_to_rustc(what);
            return None;
        }
        None => {}
    }
    Some(ir::Body {
        name: f.name.clone(),
        locals,
        arrays: Vec::new(),
        item,
        block,
        value,
    })
}

enum Fault {
    TooManyCalls,
    /// Something that a function without type errors does not contain.
    Unexpected(&'static str),
}

/// A function being lowered: the kernel itself or an inlined helper.
struct Frame<'f> {
    f: &'f Function,
    vars: Vec<Option<Slot>>,
    handles: Vec<Option<Binding>>,
    /// Per loop of the function: how many IR loops are outside it, and where a break's value goes.
    loops: Vec<Option<(u32, Vec<LocalId>)>>,
    /// Where `return` goes in a helper that returns early.
    result: Option<(u32, Vec<LocalId>)>,
}

impl<'f> Frame<'f> {
    fn new(f: &'f Function, handles: Vec<Option<Binding>>) -> Frame<'f> {
        Frame {
            f,
            vars: f.vars.iter().map(|_| None).collect(),
            handles,
            loops: Vec::new(),
            result: None,
        }
    }
}

/// Where a variable's parts are.
#[derive(Clone)]
enum Slot {
    Locals(Vec<LocalId>),
    /// Never assigned again, and these never change.
    Alias(Vec<ir::Expr>),
}

struct Lowerer<'a, 'f> {
    tables: &'a mut Tables,
    locals: Vec<Scalar>,
    item: ItemLocals,
    out: ir::Block,
    frames: Vec<Frame<'f>>,
    loops: u32,
    calls: usize,
    fault: Option<Fault>,
    depth: usize,
}

impl<'f> Lowerer<'_, 'f> {
    // Types and locals

    fn fault(&mut self, what: &'static str) {
        self.fault.get_or_insert(Fault::Unexpected(what));
    }

    fn frame(&mut self) -> &mut Frame<'f> {
        self.frames
            .last_mut()
            .expect("the kernel's own frame stays")
    }

    fn f(&self) -> &'f Function {
        self.frames.last().expect("the kernel's own frame stays").f
    }

    fn ty(&self, ty: &Ty) -> Ty {
        self.f().types.resolve(ty)
    }

    fn scalar_of(&mut self, ty: &Ty) -> Scalar {
        match self.ty(ty) {
            Ty::Scalar(s) => s,
            Ty::Never => Scalar::U32,
            _ => {
                self.fault("mismatched types: a scalar is expected");
                Scalar::U32
            }
        }
    }

    /// The scalar types of a type's parts, in order.
    fn parts(&mut self, ty: &Ty) -> Vec<Scalar> {
        match self.ty(ty) {
            Ty::Tuple(ts) => ts.iter().flat_map(|t| self.parts(t)).collect(),
            Ty::Scalar(s) => vec![s],
            Ty::Never => Vec::new(),
            Ty::Var(_) | Ty::Error | Ty::Handle(_) => {
                self.fault("the type of a value is not known");
                Vec::new()
            }
        }
    }

    fn temp(&mut self, s: Scalar) -> LocalId {
        self.locals.push(register(s));
        LocalId((self.locals.len() - 1) as u32)
    }

    fn temps(&mut self, ty: &Ty) -> Vec<LocalId> {
        self.parts(ty).into_iter().map(|s| self.temp(s)).collect()
    }

    fn emit(&mut self, s: ir::Stmt) {
        self.out.push(s);
    }

    fn assign(&mut self, to: &[LocalId], values: Vec<ir::Expr>) {
        // Parts of one value may read what an earlier part overwrites (a swap): those go through locals first.
        let mut values = values;
        for i in 1..values.len() {
            if to[..i.min(to.len())].iter().any(|l| reads(&values[i], *l)) {
                for value in &mut values {
                    self.pin(value);
                }
                break;
            }
        }
        for (to, value) in to.iter().zip(values) {
            if value != ir::Expr::Local(*to) {
                self.emit(ir::Stmt::Assign(*to, value));
            }
        }
    }

    /// Moves an expression into a local of its own.
    fn pin(&mut self, e: &mut ir::Expr) {
        let s = self.type_of(e);
        let t = self.temp(s);
        let value = std::mem::replace(e, ir::Expr::Local(t));
        self.emit(ir::Stmt::Assign(t, value));
    }

    /// Makes an expression free to repeat.
    fn leaf(&mut self, mut e: ir::Expr) -> ir::Expr {
        if !matches!(
            e,
            ir::Expr::Literal(..) | ir::Expr::Uniform(..) | ir::Expr::Local(_)
        ) {
            self.pin(&mut e);
        }
        e
    }

    fn type_of(&self, e: &ir::Expr) -> Scalar {
        e.scalar(&self.locals)
    }

    /// Runs `f` and gives the statements it put out.
    fn block<T>(&mut self, f: impl FnOnce(&mut Self) -> T) -> (ir::Block, T) {
        let outer = std::mem::take(&mut self.out);
        let value = f(self);
        (std::mem::replace(&mut self.out, outer), value)
    }

    fn site(&mut self, span: Span) -> SiteId {
        self.tables.site(span)
    }

    fn binding(&mut self, h: Handle) -> Option<Binding> {
        match h {
            Handle::Bound(b) => Some(b),
            Handle::Param(i) => self.frame().handles.get(i).copied().flatten(),
        }
    }

    fn buffer(&mut self, h: Handle) -> (BufferId, Scalar) {
        match self.binding(h) {
            Some(
                Binding::Buf { buffer, scalar }
                | Binding::AtomicBuf { buffer, scalar }
                | Binding::Own { buffer, scalar, .. },
            ) => (buffer, scalar),
            _ => {
                self.fault("a buffer is expected");
                (BufferId(0), Scalar::U32)
            }
        }
    }

    fn graph(&mut self, h: Handle) -> TopologyId {
        match self.binding(h) {
            Some(Binding::Csr(t)) => t,
            _ => {
                self.fault("a graph is expected");
                TopologyId(0)
            }
        }
    }

    fn item(&mut self, field: ItemField) -> ir::Expr {
        let known = match field {
            ItemField::Index => self.item.index,
            ItemField::Src => self.item.src,
            ItemField::Dst => self.item.dst,
        };
        let local = known.unwrap_or_else(|| self.temp(Scalar::U32));
        match field {
            ItemField::Index => self.item.index = Some(local),
            ItemField::Src => self.item.src = Some(local),
            ItemField::Dst => self.item.dst = Some(local),
        }
        ir::Expr::Local(local)
    }

    fn slot(&mut self, var: VarId) -> Slot {
        if let Some(s) = &self.frame().vars[var.0] {
            return s.clone();
        }
        let ty = &self.f().vars[var.0].ty;
        let locals = self.temps(ty);
        self.frame().vars[var.0] = Some(Slot::Locals(locals.clone()));
        Slot::Locals(locals)
    }

    fn bind(&mut self, var: VarId, values: Vec<ir::Expr>) {
        let v = &self.f().vars[var.0];
        let fixed = |e: &ir::Expr| matches!(e, ir::Expr::Literal(..) | ir::Expr::Uniform(..));
        if !v.mutable && values.iter().all(fixed) && !values.is_empty() {
            self.frame().vars[var.0] = Some(Slot::Alias(values));
            return;
        }
        if let Slot::Locals(to) = self.slot(var) {
            self.assign(&to, values);
        }
    }

    fn bind_pattern(&mut self, pat: &Pat, ty: &Ty, values: Vec<ir::Expr>) {
        match pat {
            Pat::Ignore => {
                for value in values {
                    self.drop_value(value);
                }
            }
            Pat::Var(id) => self.bind(*id, values),
            Pat::Tuple(pats) => {
                let Ty::Tuple(tys) = self.ty(ty) else { return };
                let mut values = values;
                if pats.len() > 1 {
                    for v in &mut values {
                        if !matches!(v, ir::Expr::Literal(..) | ir::Expr::Uniform(..)) {
                            self.pin(v);
                        }
                    }
                }
                let mut values = values.into_iter();
                for (p, t) in pats.iter().zip(&tys) {
                    let n = self.parts(t).len();
                    let part = values.by_ref().take(n).collect();
                    self.bind_pattern(p, t, part);
                }
            }
        }
    }

    /// Evaluates for traps and effects only.
    fn drop_value(&mut self, e: ir::Expr) {
        if !is_pure(&e) {
            self.emit(ir::Stmt::Eval(e));
        }
    }

    // Values

    /// Several operands, evaluated in order.
    fn operands(&mut self, es: &[&'f Expr]) -> Vec<Vec<ir::Expr>> {
        let mut done: Vec<Vec<ir::Expr>> = Vec::new();
        for e in es {
            let before = self.out.len();
            let value = self.value(e);
            self.keep_order(before, &mut done);
            done.push(value);
        }
        done
    }

    /// Statements were put out since `before`: values computed ahead of them move to locals there, where it matters.
    fn keep_order(&mut self, before: usize, values: &mut [Vec<ir::Expr>]) {
        if self.out.len() == before {
            return;
        }
        let mut at = before;
        for e in values.iter_mut().flatten() {
            let fixed = is_pure(e) && !self.out[at..].iter().any(|s| assigns_read(s, e));
            if !fixed {
                let s = self.type_of(e);
                let t = self.temp(s);
                let value = std::mem::replace(e, ir::Expr::Local(t));
                self.out.insert(at, ir::Stmt::Assign(t, value));
                at += 1;
            }
        }
    }

    fn pair(&mut self, a: &'f Expr, b: &'f Expr) -> (ir::Expr, ir::Expr) {
        let mut values = self.operands(&[a, b]).into_iter();
        let (x, y) = (
            values.next().unwrap_or_default(),
            values.next().unwrap_or_default(),
        );
        (self.single(x, &a.ty), self.single(y, &b.ty))
    }

    fn scalar(&mut self, e: &'f Expr) -> ir::Expr {
        let value = self.value(e);
        self.single(value, &e.ty)
    }

    /// The one part of a scalar; an expression that does not come back stands for anything.
    fn single(&mut self, mut parts: Vec<ir::Expr>, ty: &Ty) -> ir::Expr {
        match (parts.pop(), parts.is_empty()) {
            (Some(e), true) => e,
            _ => {
                let s = self.scalar_of(ty);
                ir::Expr::Literal(register(s), 0)
            }
        }
    }

    /// A literal of a scalar type where an expression that does not come back left none.
    fn fill(&mut self, mut parts: Vec<ir::Expr>, ty: &Ty) -> Vec<ir::Expr> {
        if parts.is_empty() {
            parts = self
                .parts(ty)
                .into_iter()
                .map(|s| ir::Expr::Literal(register(s), 0))
                .collect();
        }
        parts
    }

    fn value(&mut self, e: &'f Expr) -> Vec<ir::Expr> {
        if self.fault.is_some() {
            return Vec::new();
        }
        vec![match &e.kind {
            Kind::Error | Kind::Handle(_) | Kind::AtomicPlace { .. } => {
                self.fault("mismatched types: a value is expected");
                return Vec::new();
            }
            Kind::Bool(b) => ir::Expr::Literal(Scalar::Bool, u64::from(*b)),
            Kind::Int(v) => {
                let s = self.scalar_of(&e.ty);
                int_literal(s, *v)
            }
            Kind::Float(digits) => {
                let s = self.scalar_of(&e.ty);
                self.float_literal(s, digits)
            }
            Kind::Bits(bits) => {
                let s = self.scalar_of(&e.ty);
                ir::Expr::Literal(register(s), *bits)
            }
            Kind::Constant(path) => {
                let s = self.scalar_of(&e.ty);
                self.constant(path, s)
            }
            Kind::Var(id) => {
                return match self.slot(*id) {
                    Slot::Locals(ls) => ls.into_iter().map(ir::Expr::Local).collect(),
                    Slot::Alias(es) => es,
                };
            }
            Kind::Uniform(u) => {
                let s = self.scalar_of(&e.ty);
                widen(s, ir::Expr::Uniform(*u, s))
            }
            Kind::Item(f) => self.item(*f),
            Kind::EdgeField(h, f) => match self.binding(*h) {
                Some(Binding::EdgeItem) => self.item(*f),
                _ => {
                    self.fault("an edge is expected");
                    return Vec::new();
                }
            },
            Kind::Own(h) => self.load_own(*h, e.span),
            Kind::Load {
                buffer,
                index,
                site,
            } => {
                let index = self.scalar(index);
                let (buffer, scalar) = self.buffer(*buffer);
                let site = self.site(*site);
                widen(
                    scalar,
                    ir::Expr::Load {
                        buffer,
                        scalar,
                        index: Box::new(index),
                        site,
                    },
                )
            }
            Kind::AtomicLoad(place) => {
                let (buffer, scalar, index, site) = self.atomic_place(place);
                ir::Expr::AtomicLoad {
                    buffer,
                    scalar,
                    index: Box::new(index),
                    site,
                }
            }
            Kind::Atomic(op, place, value) => self.atomic(*op, place, value),
            Kind::CompareExchange(place, expected, new) => {
                let (place, mut args) = self.atomic_args(place, &[expected, new]);
                let (buffer, scalar, index, site) = place;
                let new = args.pop().unwrap_or(ir::Expr::Literal(register(scalar), 0));
                let expected = args.pop().unwrap_or(ir::Expr::Literal(register(scalar), 0));
                ir::Expr::CompareExchange {
                    buffer,
                    scalar,
                    index: Box::new(index),
                    expected: Box::new(expected),
                    new: Box::new(new),
                    site,
                }
            }
            Kind::Len(h) => ir::Expr::Len(self.buffer(*h).0),
            Kind::Csr {
                query,
                graph,
                of,
                site,
            } => {
                let of = self.scalar(of);
                let topology = self.graph(*graph);
                let site = self.site(*site);
                let ask = |query, of: ir::Expr| ir::Expr::Csr {
                    query,
                    topology,
                    of: Box::new(of),
                    site,
                };
                match query {
                    CsrCall::Query(q) => ask(*q, of),
                    CsrCall::Degree => {
                        let of = self.leaf(of);
                        binary(
                            BinaryOp::Sub,
                            Scalar::U32,
                            ask(CsrQuery::End, of.clone()),
                            ask(CsrQuery::Begin, of),
                        )
                    }
                }
            }
            Kind::FrontierLen(h, empty) => match self.binding(*h) {
                Some(Binding::Frontier(f)) => {
                    let len = ir::Expr::Uniform(Uniform::FrontierLen(f), Scalar::U32);
                    if *empty {
                        compare(
                            CompareOp::Eq,
                            Scalar::U32,
                            len,
                            ir::Expr::Literal(Scalar::U32, 0),
                        )
                    } else {
                        len
                    }
                }
                _ => {
                    self.fault("a frontier is expected");
                    return Vec::new();
                }
            },
            Kind::Unary(op, inner) => self.unary(*op, inner),
            Kind::Binary(op, a, b) => {
                let (x, y) = self.pair(a, b);
                if self.is_never(a) || self.is_never(b) {
                    return Vec::new();
                }
                let s = self.scalar_of(&a.ty);
                let amount = self.scalar_of(&b.ty);
                self.binary(*op, s, x, (y, amount), e.span)
            }
            Kind::Compare(op, a, b) => {
                let (x, y) = self.pair(a, b);
                let s = if self.is_never(a) {
                    self.scalar_of(&b.ty)
                } else {
                    self.scalar_of(&a.ty)
                };
                compare(*op, register(s), x, y)
            }
            Kind::Logic(or, a, b) => self.logic(*or, a, b),
            Kind::Cast(inner) => self.cast(inner, &e.ty),
            Kind::Method(code, args) => self.method(*code, args),
            Kind::Tuple(es) => {
                let es: Vec<&Expr> = es.iter().collect();
                return self.operands(&es).into_iter().flatten().collect();
            }
            Kind::Field(base, at) => {
                let values = self.value(base);
                let Ty::Tuple(tys) = self.ty(&base.ty) else {
                    return Vec::new();
                };
                let start: usize = tys.iter().take(*at).map(|t| self.parts(t).len()).sum();
                let n = tys.get(*at).map_or(0, |t| self.parts(t).len());
                let mut kept = Vec::new();
                for (i, v) in values.into_iter().enumerate() {
                    if (start..start + n).contains(&i) {
                        kept.push(v);
                    } else if !is_pure(&v) {
                        let mut v = v;
                        self.pin(&mut v);
                    }
                }
                return kept;
            }
            Kind::If(cond, then, otherwise) => {
                return self.if_value(cond, then, otherwise.as_deref(), &e.ty);
            }
            Kind::Match(value, arms) => return self.matching(value, arms, &e.ty),
            Kind::Block(b) => {
                return match (self.stmts(&b.stmts), &b.tail) {
                    (true, Some(t)) => self.value(t),
                    (true, None) | (false, _) => Vec::new(),
                };
            }
            Kind::Labelled(id, body) => return self.labelled(*id, body, &e.ty),
            Kind::Loop(id, body) => return self.endless(*id, body, &e.ty),
            Kind::Call(f, args) => return self.call(f, args),
            Kind::AtomicStore(..)
            | Kind::Push { .. }
            | Kind::Reduce(..)
            | Kind::Assert { .. }
            | Kind::Panic(_)
            | Kind::Assign(..)
            | Kind::AssignOp(..)
            | Kind::Discard(_)
            | Kind::While(..)
            | Kind::For { .. }
            | Kind::Break(..)
            | Kind::Continue(_)
            | Kind::Return(_) => {
                self.discard(e);
                return Vec::new();
            }
        }]
    }

    /// Whether control does not come back from an expression. rustc knows more such expressions than those of type `!`: a
    /// block with a value behind a `return`.
    fn is_never(&self, e: &Expr) -> bool {
        match &e.kind {
            Kind::Block(b) => b.ends || b.tail.as_ref().is_some_and(|t| self.is_never(t)),
            Kind::If(_, then, Some(otherwise)) => self.is_never(then) && self.is_never(otherwise),
            _ => self.ty(&e.ty) == Ty::Never,
        }
    }

    fn float_literal(&mut self, s: Scalar, digits: &str) -> ir::Expr {
        let bits = match s {
            Scalar::F32 => digits.parse::<f32>().map(|x| x.to_bits().into()),
            _ => digits.parse::<f64>().map(f64::to_bits),
        };
        match bits {
            Ok(bits) => ir::Expr::Literal(s, bits),
            Err(_) => {
                self.fault("invalid float literal");
                ir::Expr::Literal(s, 0)
            }
        }
    }

    /// A constant of the pool. A helper's constant is named from the module that the helper is inlined into.
    fn constant(&mut self, path: &TokenStream, s: Scalar) -> ir::Expr {
        let value = self.from_here(path);
        let id = self.tables.constant(value, s);
        widen(s, ir::Expr::Uniform(Uniform::Constant(id), s))
    }

    fn from_here(&self, path: &TokenStream) -> TokenStream {
        let up = self.depth.saturating_sub(self.f().depth);
        let segments: Vec<String> = path.clone().into_iter().map(|t| t.to_string()).collect();
        let relative = segments.len() == 1
            || matches!(segments.first().map(String::as_str), Some("self" | "super"));
        if up == 0 || !relative {
            return path.clone();
        }
        let path: TokenStream = if segments[0] == "self" {
            path.clone().into_iter().skip(3).collect()
        } else {
            path.clone()
        };
        let supers = std::iter::repeat_n(quote!(super::), up);
        quote!(#(#supers)* #path)
    }

    fn load_own(&mut self, h: Handle, span: Span) -> ir::Expr {
        let (buffer, scalar) = self.buffer(h);
        let index = Box::new(self.item(ItemField::Index));
        let site = self.site(span);
        widen(
            scalar,
            ir::Expr::Load {
                buffer,
                scalar,
                index,
                site,
            },
        )
    }

    fn atomic_place(&mut self, place: &'f Expr) -> (BufferId, Scalar, ir::Expr, SiteId) {
        let Kind::AtomicPlace {
            buffer,
            index,
            site,
        } = &place.kind
        else {
            self.fault("an atomic element is expected");
            return (
                BufferId(0),
                Scalar::U32,
                ir::Expr::Literal(Scalar::U32, 0),
                SiteId(0),
            );
        };
        let index = self.scalar(index);
        let (buffer, scalar) = self.buffer(*buffer);
        (buffer, scalar, index, self.site(*site))
    }

    /// The place and the arguments. Rust checks the index before it evaluates the arguments, IR after; where an argument can
    /// trap or act, an index out of bounds traps first by itself (an atomic load whose value is dropped is no access).
    fn atomic_args(
        &mut self,
        place: &'f Expr,
        args: &[&'f Expr],
    ) -> ((BufferId, Scalar, ir::Expr, SiteId), Vec<ir::Expr>) {
        let (buffer, scalar, mut index, site) = self.atomic_place(place);
        let before = self.out.len();
        let values = self.operands(args);
        let late =
            values.iter().flatten().any(|v| !is_pure(v)) || self.out[before..].iter().any(acts);
        if late {
            let mut first = [vec![index]];
            self.keep_order(before, &mut first);
            index = first
                .into_iter()
                .flatten()
                .next()
                .unwrap_or(ir::Expr::Literal(Scalar::U32, 0));
            let mut at = before
                + usize::from(
                    matches!(self.out.get(before), Some(ir::Stmt::Assign(l, _)) if ir::Expr::Local(*l) == index),
                );
            if !matches!(
                index,
                ir::Expr::Literal(..) | ir::Expr::Uniform(..) | ir::Expr::Local(_)
            ) {
                let t = self.temp(Scalar::U32);
                let value = std::mem::replace(&mut index, ir::Expr::Local(t));
                self.out.insert(at, ir::Stmt::Assign(t, value));
                at += 1;
            }
            let load = ir::Expr::AtomicLoad {
                buffer,
                scalar,
                index: Box::new(index.clone()),
                site,
            };
            let outside = compare(
                CompareOp::Ge,
                Scalar::U32,
                index.clone(),
                ir::Expr::Len(buffer),
            );
            let touch = ir::Stmt::If {
                cond: outside,
                then: vec![ir::Stmt::Eval(load)],
                otherwise: Vec::new(),
            };
            self.out.insert(at, touch);
        }
        let values = args
            .iter()
            .zip(values)
            .map(|(a, v)| self.single(v, &a.ty))
            .collect();
        ((buffer, scalar, index, site), values)
    }

    fn atomic(&mut self, op: AtomicOp, place: &'f Expr, value: &'f Expr) -> ir::Expr {
        let ((buffer, scalar, index, site), mut args) = self.atomic_args(place, &[value]);
        let value = args.pop().unwrap_or(ir::Expr::Literal(register(scalar), 0));
        ir::Expr::Atomic {
            op,
            buffer,
            scalar,
            index: Box::new(index),
            value: Box::new(value),
            site,
        }
    }

    fn unary(&mut self, op: UnaryOp, inner: &'f Expr) -> ir::Expr {
        let s = self.scalar_of(&inner.ty);
        let x = self.scalar(inner);
        if let (UnaryOp::Neg, ir::Expr::Literal(s, bits)) = (op, &x)
            && is_int(*s)
        {
            return int_literal(*s, u128::from(bits.wrapping_neg()));
        }
        narrow(s, ir::Expr::Unary(op, register(s), Box::new(x)))
    }

    /// `amount`: the right operand with its type, which differs from the left's for shifts.
    fn binary(
        &mut self,
        op: BinaryOp,
        s: Scalar,
        x: ir::Expr,
        amount: (ir::Expr, Scalar),
        span: Span,
    ) -> ir::Expr {
        let (mut y, ty) = amount;
        if matches!(op, BinaryOp::Shl | BinaryOp::Shr | BinaryOp::RotateLeft) {
            y = to_u32(ty, y);
            if s == Scalar::U8 {
                y = binary(
                    BinaryOp::And,
                    Scalar::U32,
                    y,
                    ir::Expr::Literal(Scalar::U32, 7),
                );
            }
        }
        let faults = matches!(op, BinaryOp::Div | BinaryOp::Rem) && is_int(s);
        let site = faults.then(|| self.site(span));
        let e = ir::Expr::Binary {
            op,
            scalar: register(s),
            left: Box::new(x),
            right: Box::new(y),
            site,
        };
        match op {
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Shl => narrow(s, e),
            _ => e,
        }
    }

    fn logic(&mut self, or: bool, a: &'f Expr, b: &'f Expr) -> ir::Expr {
        let left = self.scalar(a);
        let (stmts, right) = self.block(|l| l.scalar(b));
        if stmts.is_empty() && is_pure(&right) && cost(&right) <= CHEAP {
            let op = if or { BinaryOp::Or } else { BinaryOp::And };
            return binary(op, Scalar::Bool, left, right);
        }
        let t = self.temp(Scalar::Bool);
        self.emit(ir::Stmt::Assign(t, left));
        let mut stmts = stmts;
        if !self.is_never(b) {
            stmts.push(ir::Stmt::Assign(t, right));
        }
        let (then, otherwise) = if or {
            (Vec::new(), stmts)
        } else {
            (stmts, Vec::new())
        };
        self.emit(ir::Stmt::If {
            cond: ir::Expr::Local(t),
            then,
            otherwise,
        });
        ir::Expr::Local(t)
    }

    fn cast(&mut self, inner: &'f Expr, ty: &Ty) -> ir::Expr {
        let to = self.scalar_of(ty);
        if let Kind::Constant(path) = &inner.kind
            && self.f().types.scalar(&inner.ty).is_none()
        {
            let ty = quote::format_ident!("{}", to.name());
            let path = self.from_here(path);
            let id = self.tables.constant(quote!((#path) as #ty), to);
            return widen(to, ir::Expr::Uniform(Uniform::Constant(id), to));
        }
        let from = self.scalar_of(&inner.ty);
        let x = self.scalar(inner);
        cast(from, to, x)
    }

    // Statements and control flow

    /// Statements up to the first that does not come back; whether all do.
    fn stmts(&mut self, stmts: &'f [Stmt]) -> bool {
        stmts.iter().all(|s| {
            self.stmt(s);
            match s {
                Stmt::Let(_, Some(e)) | Stmt::Expr(e) => !self.is_never(e),
                Stmt::Let(_, None) => true,
            }
        })
    }

    fn stmt(&mut self, s: &'f Stmt) {
        match s {
            Stmt::Let(_, None) => {}
            Stmt::Let(pat, Some(e)) => {
                let value = self.value(e);
                if self.is_never(e) {
                    return;
                }
                self.bind_pattern(pat, &e.ty, value);
            }
            Stmt::Expr(e) => self.discard(e),
        }
    }

    /// An expression whose value is not used.
    fn discard(&mut self, e: &'f Expr) {
        if self.fault.is_some() {
            return;
        }
        match &e.kind {
            Kind::Block(b) => {
                if self.stmts(&b.stmts)
                    && let Some(t) = &b.tail
                {
                    self.discard(t);
                }
            }
            Kind::If(cond, then, otherwise) => self.if_stmt(cond, then, otherwise.as_deref()),
            Kind::AtomicStore(place, value) => {
                let ((buffer, scalar, index, site), mut args) = self.atomic_args(place, &[value]);
                let value = args.pop().unwrap_or(ir::Expr::Literal(register(scalar), 0));
                self.emit(ir::Stmt::AtomicStore {
                    buffer,
                    index,
                    value,
                    site,
                });
            }
            Kind::Push {
                frontier,
                value,
                site,
            } => {
                let value = self.scalar(value);
                let Some(Binding::Push(frontier)) = self.binding(*frontier) else {
                    return self.fault("a frontier is expected");
                };
                let site = self.site(*site);
                self.emit(ir::Stmt::Push {
                    frontier,
                    value,
                    site,
                });
            }
            Kind::Reduce(handle, value) => {
                let value = value.as_ref().map(|v| self.scalar(v));
                let Some(Binding::Reduce { id, scalar, .. }) = self.binding(*handle) else {
                    return self.fault("a reduction is expected");
                };
                let value = value.unwrap_or(ir::Expr::Literal(scalar, 1));
                self.emit(ir::Stmt::Reduce {
                    reduction: id,
                    value,
                });
            }
            Kind::Assert {
                cond,
                debug,
                message,
                site,
            } => {
                let kind = if *message {
                    TrapKind::Panic
                } else {
                    TrapKind::Assert
                };
                self.assert(cond, kind, *debug, *site);
            }
            Kind::Panic(span) => {
                let site = self.site(*span);
                let cond = ir::Expr::Literal(Scalar::Bool, 0);
                self.emit(ir::Stmt::Assert {
                    cond,
                    kind: TrapKind::Panic,
                    site,
                });
                // Nothing after it runs; saying so keeps locals that are assigned on the other paths only in order.
                self.leave();
            }
            Kind::Assign(place, value) => {
                let values = self.value(value);
                if !self.is_never(value) {
                    self.store(place, values, e.span);
                }
            }
            Kind::AssignOp(op, place, value) => self.assign_op(*op, place, value, e.span),
            Kind::Discard(inner) => self.discard(inner),
            Kind::While(id, cond, body) => {
                let at = self.enter(*id, Vec::new());
                let (block, ()) = self.block(|l| {
                    l.break_unless(cond, at);
                    l.discard(body);
                });
                self.leave_loop(block);
            }
            Kind::For {
                id,
                var,
                source,
                body,
            } => self.for_loop(*id, *var, source, body),
            Kind::Break(id, value) => {
                let values = value.as_ref().map(|v| (self.value(v), self.is_never(v)));
                let Some((at, to)) = self.frame().loops.get(id.0).cloned().flatten() else {
                    return self.fault("`break` outside of a loop");
                };
                match values {
                    Some((_, true)) => return,
                    Some((values, false)) => self.assign(&to, values),
                    None => {}
                }
                let depth = self.outward(at);
                self.emit(ir::Stmt::Break { depth });
            }
            Kind::Continue(id) => {
                let Some((at, _)) = self.frame().loops.get(id.0).cloned().flatten() else {
                    return self.fault("`continue` outside of a loop");
                };
                let depth = self.outward(at);
                self.emit(ir::Stmt::Continue { depth });
            }
            Kind::Return(value) => {
                let values = value.as_ref().map(|v| (self.value(v), self.is_never(v)));
                match (self.frame().result.clone(), values) {
                    (_, Some((_, true))) => {}
                    (Some((at, to)), values) => {
                        if let Some((values, _)) = values {
                            self.assign(&to, values);
                        }
                        let depth = self.outward(at);
                        self.emit(ir::Stmt::Break { depth });
                    }
                    (None, values) => {
                        for v in values.into_iter().flat_map(|(v, _)| v) {
                            self.drop_value(v);
                        }
                        self.emit(ir::Stmt::Return);
                    }
                }
            }
            Kind::Match(value, arms) => {
                self.match_arms(value, arms, &[]);
            }
            _ => {
                for value in self.value(e) {
                    self.drop_value(value);
                }
            }
        }
    }

    /// Ends the item, or the condition's evaluation, after a trap.
    fn leave(&mut self) {
        if self.frames[0].f.role != Role::Condition {
            self.emit(ir::Stmt::Return);
        }
    }

    fn assert(&mut self, cond: &'f Expr, kind: TrapKind, debug: bool, span: Span) {
        let site = self.site(span);
        if !debug {
            let cond = self.scalar(cond);
            return self.emit(ir::Stmt::Assert { cond, kind, site });
        }
        let on = self
            .tables
            .constant(quote!(::core::cfg!(debug_assertions)), Scalar::Bool);
        let (then, ()) = self.block(|l| {
            let cond = l.scalar(cond);
            l.emit(ir::Stmt::Assert { cond, kind, site });
        });
        let cond = ir::Expr::Uniform(Uniform::Constant(on), Scalar::Bool);
        self.emit(ir::Stmt::If {
            cond,
            then,
            otherwise: Vec::new(),
        });
    }

    /// The locals of a place's value, for a variable.
    fn place_locals(&mut self, var: VarId, path: &[usize]) -> Vec<LocalId> {
        let Slot::Locals(mut locals) = self.slot(var) else {
            self.fault("a variable is assigned twice");
            return Vec::new();
        };
        let mut ty = self.ty(&self.f().vars[var.0].ty);
        for &at in path {
            let Ty::Tuple(tys) = ty else {
                self.fault("no such field");
                return Vec::new();
            };
            let start: usize = tys.iter().take(at).map(|t| self.parts(t).len()).sum();
            let Some(part) = tys.into_iter().nth(at) else {
                self.fault("no such field");
                return Vec::new();
            };
            let n = self.parts(&part).len();
            locals = locals.into_iter().skip(start).take(n).collect();
            ty = part;
        }
        locals
    }

    fn store(&mut self, place: &Place, values: Vec<ir::Expr>, span: Span) {
        match place {
            Place::Var(var, path) => {
                let to = self.place_locals(*var, path);
                self.assign(&to, values);
            }
            Place::Own(h) => {
                let (buffer, scalar) = self.buffer(*h);
                let index = self.item(ItemField::Index);
                let site = self.site(span);
                let Some(value) = values.into_iter().next() else {
                    return;
                };
                let value = if scalar == Scalar::U8 {
                    cast_ir(Scalar::U32, Scalar::U8, value)
                } else {
                    value
                };
                self.emit(ir::Stmt::Store {
                    buffer,
                    index,
                    value,
                    site,
                });
            }
        }
    }

    /// Rust evaluates the right side of a compound assignment of scalars first, then the place.
    fn assign_op(&mut self, op: BinaryOp, place: &Place, value: &'f Expr, span: Span) {
        let y = self.scalar(value);
        if self.is_never(value) {
            return;
        }
        let ty = self.scalar_of(&value.ty);
        let (x, s) = match place {
            Place::Var(var, path) => {
                let locals = self.place_locals(*var, path);
                let Some(&local) = locals.first() else { return };
                let mut t = self.ty(&self.f().vars[var.0].ty);
                for &at in path {
                    t = match t {
                        Ty::Tuple(ts) => ts.into_iter().nth(at).unwrap_or(Ty::Error),
                        other => other,
                    };
                }
                (ir::Expr::Local(local), self.scalar_of(&t))
            }
            Place::Own(h) => {
                let s = self.buffer(*h).1;
                (self.load_own(*h, span), s)
            }
        };
        // The tree would read the place before the right side; that shows only where the right side acts or faults.
        let y = if is_pure(&y) || matches!(x, ir::Expr::Local(_)) {
            y
        } else {
            self.leaf(y)
        };
        let result = self.binary(op, s, x, (y, ty), span);
        self.store(place, vec![result], span);
    }

    fn if_stmt(&mut self, cond: &'f Expr, then: &'f Expr, otherwise: Option<&'f Expr>) {
        if otherwise.is_none_or(is_empty_block) {
            let mut tests = Vec::new();
            conjuncts(cond, &mut tests);
            let first = self.scalar(tests[0]);
            return self.guarded(first, &tests[1..], then);
        }
        self.if_chain(cond, then, otherwise, &[]);
    }

    /// `if c {} else if d {} else {}`, as far as the conditions cost nothing to compute early.
    fn if_chain(
        &mut self,
        cond: &'f Expr,
        then: &'f Expr,
        otherwise: Option<&'f Expr>,
        to: &[LocalId],
    ) {
        let mut conds = vec![self.scalar(cond)];
        let mut bodies = vec![then];
        let mut rest = otherwise;
        while let Some(Kind::If(cond, then, otherwise)) = rest.map(|e| &e.kind) {
            let (stmts, value) = self.block(|l| l.scalar(cond));
            if !stmts.is_empty() || !is_pure(&value) || cost(&value) > CHEAP {
                break;
            }
            conds.push(value);
            bodies.push(then);
            rest = otherwise.as_deref();
        }
        if conds.len() > LINEAR && !is_pure(&conds[0]) {
            let first = conds[0].clone();
            conds[0] = self.leaf(first);
        }
        self.chain(&conds, &bodies, rest, to);
    }

    /// Runs the body of the first condition that holds, or `rest`. The conditions are pure when there are more than
    /// [`LINEAR`]: a long chain becomes a tree, for every level of nesting takes mask frames on a GPU.
    fn chain(
        &mut self,
        conds: &[ir::Expr],
        bodies: &[&'f Expr],
        rest: Option<&'f Expr>,
        to: &[LocalId],
    ) {
        let Some((first, others)) = conds.split_first() else {
            if let Some(e) = rest {
                self.arm_body(e, to);
            }
            return;
        };
        if conds.len() > LINEAR {
            let half = conds.len() / 2;
            let any = others[..half - 1].iter().fold(first.clone(), |any, c| {
                binary(BinaryOp::Or, Scalar::Bool, any, c.clone())
            });
            let (then, ()) = self.block(|l| {
                l.chain(
                    &conds[..half - 1],
                    &bodies[..half - 1],
                    Some(bodies[half - 1]),
                    to,
                )
            });
            let (otherwise, ()) =
                self.block(|l| l.chain(&conds[half..], &bodies[half..], rest, to));
            return self.emit_if(any, then, otherwise);
        }
        let (then, ()) = self.block(|l| l.arm_body(bodies[0], to));
        let (otherwise, ()) = self.block(|l| l.chain(others, &bodies[1..], rest, to));
        self.emit_if(first.clone(), then, otherwise);
    }

    fn emit_if(&mut self, cond: ir::Expr, then: ir::Block, otherwise: ir::Block) {
        if then.is_empty() && otherwise.is_empty() {
            return self.drop_value(cond);
        }
        self.emit(ir::Stmt::If {
            cond,
            then,
            otherwise,
        });
    }

    /// `if a && b && c { then }`: one test where the rest costs nothing, nested ones otherwise.
    fn guarded(&mut self, mut cond: ir::Expr, rest: &[&'f Expr], then: &'f Expr) {
        for (i, test) in rest.iter().enumerate() {
            let (stmts, value) = self.block(|l| l.scalar(test));
            if stmts.is_empty() && is_pure(&value) && cost(&value) <= CHEAP {
                cond = binary(BinaryOp::And, Scalar::Bool, cond, value);
                continue;
            }
            let (inner, ()) = self.block(|l| {
                l.out = stmts;
                l.guarded(value, &rest[i + 1..], then);
            });
            return self.emit_if(cond, inner, Vec::new());
        }
        let (then, ()) = self.block(|l| l.discard(then));
        self.emit_if(cond, then, Vec::new());
    }

    fn if_value(
        &mut self,
        cond: &'f Expr,
        then: &'f Expr,
        otherwise: Option<&'f Expr>,
        ty: &Ty,
    ) -> Vec<ir::Expr> {
        let Some(otherwise) = otherwise else {
            self.if_stmt(cond, then, None);
            return Vec::new();
        };
        let parts = self.parts(ty);
        if parts.is_empty() {
            self.if_stmt(cond, then, Some(otherwise));
            return Vec::new();
        }
        if let Kind::If(..) = otherwise.kind {
            let to: Vec<LocalId> = parts.into_iter().map(|s| self.temp(s)).collect();
            self.if_chain(cond, then, Some(otherwise), &to);
            return to.into_iter().map(ir::Expr::Local).collect();
        }
        let cond = self.scalar(cond);
        let (mut a, x) = self.block(|l| l.value(then));
        let (mut b, y) = self.block(|l| l.value(otherwise));
        let light = |v: &[ir::Expr]| v.iter().all(|e| is_pure(e) && cost(e) <= CHEAP);
        if let ([scalar], [p], [q]) = (parts.as_slice(), x.as_slice(), y.as_slice())
            && a.is_empty()
            && b.is_empty()
            && light(&x)
            && light(&y)
        {
            let (then, otherwise) = (Box::new(p.clone()), Box::new(q.clone()));
            return vec![ir::Expr::Select {
                scalar: register(*scalar),
                cond: Box::new(cond),
                then,
                otherwise,
            }];
        }
        let to: Vec<LocalId> = parts.into_iter().map(|s| self.temp(s)).collect();
        for (block, values, from) in [(&mut a, x, then), (&mut b, y, otherwise)] {
            if !self.is_never(from) {
                std::mem::swap(&mut self.out, block);
                self.assign(&to, values);
                std::mem::swap(&mut self.out, block);
            }
        }
        self.emit(ir::Stmt::If {
            cond,
            then: a,
            otherwise: b,
        });
        to.into_iter().map(ir::Expr::Local).collect()
    }

    fn matching(&mut self, value: &'f Expr, arms: &'f [Arm], ty: &Ty) -> Vec<ir::Expr> {
        let to = self.temps(ty);
        self.match_arms(value, arms, &to);
        to.into_iter().map(ir::Expr::Local).collect()
    }

    fn match_arms(&mut self, value: &'f Expr, arms: &'f [Arm], to: &[LocalId]) {
        let mut v = self.scalar(value);
        if self.is_never(value) {
            return;
        }
        // A copy of its own: an arm may assign the variable that is matched.
        if !matches!(v, ir::Expr::Literal(..) | ir::Expr::Uniform(..)) {
            self.pin(&mut v);
        }
        let s = self.scalar_of(&value.ty);
        self.arms(&v, s, arms, to);
    }

    /// Arms whose guards cost nothing form a chain; a guard that needs statements starts a nested one.
    fn arms(&mut self, v: &ir::Expr, s: Scalar, arms: &'f [Arm], to: &[LocalId]) {
        let mut conds = Vec::new();
        let mut bodies = Vec::new();
        for (i, arm) in arms.iter().enumerate() {
            if let Some(id) = arm.binds {
                self.bind(id, vec![v.clone()]);
            }
            let test = self.arm_test(v, s, arm);
            let Some(guard) = &arm.guard else {
                // The last arm holds: rustc has seen to it.
                let Some(test) = test.filter(|_| i + 1 < arms.len()) else {
                    return self.chain(&conds, &bodies, Some(&arm.body), to);
                };
                conds.push(test);
                bodies.push(&arm.body);
                continue;
            };
            let (stmts, g) = self.block(|l| l.scalar(guard));
            if !stmts.is_empty() || !is_pure(&g) {
                let (rest, ()) =
                    self.block(|l| l.guarded_arm(v, s, (test, stmts, g), &arms[i..], to));
                return self.chain_then(&conds, &bodies, rest, to);
            }
            conds.push(match test {
                Some(t) => binary(BinaryOp::And, Scalar::Bool, t, g),
                None => g,
            });
            bodies.push(&arm.body);
        }
        self.chain(&conds, &bodies, None, to);
    }

    /// The first of these arms, whose guard is lowered already, and then the others.
    fn guarded_arm(
        &mut self,
        v: &ir::Expr,
        s: Scalar,
        (test, stmts, guard): (Option<ir::Expr>, ir::Block, ir::Expr),
        arms: &'f [Arm],
        to: &[LocalId],
    ) {
        let cond = match test {
            None => {
                self.out.extend(stmts);
                guard
            }
            Some(test) => {
                let t = self.temp(Scalar::Bool);
                self.emit(ir::Stmt::Assign(t, test));
                let mut then = stmts;
                then.push(ir::Stmt::Assign(t, guard));
                self.emit(ir::Stmt::If {
                    cond: ir::Expr::Local(t),
                    then,
                    otherwise: Vec::new(),
                });
                ir::Expr::Local(t)
            }
        };
        let (then, ()) = self.block(|l| l.arm_body(&arms[0].body, to));
        let (otherwise, ()) = self.block(|l| l.arms(v, s, &arms[1..], to));
        self.emit_if(cond, then, otherwise);
    }

    /// A chain that ends in statements.
    fn chain_then(
        &mut self,
        conds: &[ir::Expr],
        bodies: &[&'f Expr],
        rest: ir::Block,
        to: &[LocalId],
    ) {
        let mut rest = rest;
        for (cond, body) in conds.iter().zip(bodies).rev() {
            let (then, ()) = self.block(|l| l.arm_body(body, to));
            rest = vec![ir::Stmt::If {
                cond: cond.clone(),
                then,
                otherwise: rest,
            }];
        }
        self.out.extend(rest);
    }

    /// Whether one of an arm's patterns matches; `None` when one always does.
    fn arm_test(&mut self, v: &ir::Expr, s: Scalar, arm: &'f Arm) -> Option<ir::Expr> {
        let tests: Vec<_> = arm.tests.iter().map(|t| self.test(v, s, t)).collect();
        let tests: Option<Vec<_>> = tests.into_iter().collect();
        tests?
            .into_iter()
            .reduce(|a, b| binary(BinaryOp::Or, Scalar::Bool, a, b))
    }

    fn arm_body(&mut self, body: &'f Expr, to: &[LocalId]) {
        if to.is_empty() {
            return self.discard(body);
        }
        let values = self.value(body);
        if !self.is_never(body) {
            self.assign(to, values);
        }
    }

    fn test(&mut self, v: &ir::Expr, s: Scalar, t: &'f Test) -> Option<ir::Expr> {
        let s = register(s);
        match t {
            Test::Any => None,
            Test::Equal(e) => {
                let e = self.scalar(e);
                Some(compare(CompareOp::Eq, s, v.clone(), e))
            }
            Test::Within(start, end, inclusive) => {
                let low = start.as_ref().map(|e| {
                    let e = self.scalar(e);
                    compare(CompareOp::Ge, s, v.clone(), e)
                });
                let high = end.as_ref().map(|e| {
                    let e = self.scalar(e);
                    let op = if *inclusive {
                        CompareOp::Le
                    } else {
                        CompareOp::Lt
                    };
                    compare(op, s, v.clone(), e)
                });
                match (low, high) {
                    (Some(a), Some(b)) => Some(binary(BinaryOp::And, Scalar::Bool, a, b)),
                    (a, b) => Some(a.or(b).unwrap_or(ir::Expr::Literal(Scalar::Bool, 1))),
                }
            }
        }
    }

    fn enter(&mut self, id: LoopId, to: Vec<LocalId>) -> u32 {
        let at = self.loops;
        self.loops += 1;
        let loops = &mut self.frame().loops;
        if loops.len() <= id.0 {
            loops.resize(id.0 + 1, None);
        }
        loops[id.0] = Some((at, to));
        at
    }

    fn leave_loop(&mut self, body: ir::Block) {
        self.loops -= 1;
        self.emit(ir::Stmt::Loop { body });
    }

    fn outward(&self, at: u32) -> u32 {
        self.loops - 1 - at
    }

    /// Leaves the loop at `at` unless the condition holds.
    fn break_unless(&mut self, cond: &'f Expr, at: u32) {
        if let Kind::Logic(false, a, b) = &cond.kind {
            self.break_unless(a, at);
            return self.break_unless(b, at);
        }
        let value = self.scalar(cond);
        if value == ir::Expr::Literal(Scalar::Bool, 1) {
            return;
        }
        self.break_if(negate(value), at);
    }

    fn break_if(&mut self, cond: ir::Expr, at: u32) {
        let depth = self.outward(at);
        self.emit(ir::Stmt::If {
            cond,
            then: vec![ir::Stmt::Break { depth }],
            otherwise: Vec::new(),
        });
    }

    fn endless(&mut self, id: LoopId, body: &'f Expr, ty: &Ty) -> Vec<ir::Expr> {
        let to = self.temps(ty);
        self.enter(id, to.clone());
        let (block, ()) = self.block(|l| l.discard(body));
        self.leave_loop(block);
        to.into_iter().map(ir::Expr::Local).collect()
    }

    fn labelled(&mut self, id: LoopId, body: &'f Expr, ty: &Ty) -> Vec<ir::Expr> {
        let to = self.temps(ty);
        self.enter(id, to.clone());
        let (block, ()) = self.block(|l| {
            let values = l.value(body);
            if !l.is_never(body) {
                l.assign(&to, values);
                l.emit(ir::Stmt::Break { depth: 0 });
            }
        });
        self.leave_loop(block);
        to.into_iter().map(ir::Expr::Local).collect()
    }

    fn for_loop(&mut self, id: LoopId, var: Option<VarId>, source: &'f Source, body: &'f Expr) {
        // `step` moves on to the next turn; `item` is what the body sees of the counter.
        let (s, counter, last, up) = match source {
            Source::Range {
                start,
                end,
                inclusive,
                reversed,
            } => {
                let s = self.scalar_of(&start.ty);
                let (a, b) = self.pair(start, end);
                match (inclusive, reversed) {
                    (true, reversed) => return self.inclusive(id, var, (a, b, s, *reversed), body),
                    (false, false) => {
                        let b = self.bound(b);
                        (s, self.counter(s, a), b, true)
                    }
                    (false, true) => {
                        let mut a = a;
                        if !matches!(a, ir::Expr::Literal(..) | ir::Expr::Uniform(..)) {
                            self.pin(&mut a);
                        }
                        (s, self.counter(s, b), a, false)
                    }
                }
            }
            Source::Adjacent {
                graph, of, site, ..
            } => {
                let of = self.scalar(of);
                let of = self.leaf(of);
                let topology = self.graph(*graph);
                let site = self.site(*site);
                let ask = |query, of| ir::Expr::Csr {
                    query,
                    topology,
                    of: Box::new(of),
                    site,
                };
                let first = self.counter(Scalar::U32, ask(CsrQuery::Begin, of.clone()));
                let end = self.bound(ask(CsrQuery::End, of));
                (Scalar::U32, first, end, true)
            }
        };
        let reg = register(s);
        let one = int_literal(s, 1);
        let now = ir::Expr::Local(counter);
        let target = match source {
            Source::Adjacent {
                graph,
                edges: false,
                site,
                ..
            } => Some((self.graph(*graph), self.site(*site))),
            _ => None,
        };
        let at = self.enter(id, Vec::new());
        let (block, ()) = self.block(|l| {
            let more = if up {
                compare(CompareOp::Lt, reg, now.clone(), last.clone())
            } else {
                compare(CompareOp::Lt, reg, last.clone(), now.clone())
            };
            l.break_if(negate(more), at);
            // The counter moves on before the body, so that `continue` needs nothing; `lower` knows this shape.
            if !up {
                l.emit(ir::Stmt::Assign(
                    counter,
                    binary(BinaryOp::Sub, reg, now.clone(), one.clone()),
                ));
            }
            let item = match (var, target) {
                (Some(var), None) => {
                    l.bind(var, vec![now.clone()]);
                    None
                }
                (Some(_), Some(_)) => {
                    let copy = l.temp(s);
                    l.emit(ir::Stmt::Assign(copy, now.clone()));
                    Some(ir::Expr::Local(copy))
                }
                (None, _) => None,
            };
            if up {
                l.emit(ir::Stmt::Assign(
                    counter,
                    binary(BinaryOp::Add, reg, now.clone(), one.clone()),
                ));
            }
            if let (Some(var), Some(edge), Some((topology, site))) = (var, item, target) {
                let query = CsrQuery::Target;
                l.bind(
                    var,
                    vec![ir::Expr::Csr {
                        query,
                        topology,
                        of: Box::new(edge),
                        site,
                    }],
                );
            }
            l.discard(body);
        });
        self.leave_loop(block);
    }

    /// `a..=b`: the last turn is told apart by a flag, for `b` may be the type's largest value.
    fn inclusive(
        &mut self,
        id: LoopId,
        var: Option<VarId>,
        (a, b, s, reversed): (ir::Expr, ir::Expr, Scalar, bool),
        body: &'f Expr,
    ) {
        let reg = register(s);
        let (from, to) = if reversed { (b, a) } else { (a, b) };
        // Evaluated in source order: a reversed range's start is its `to`.
        let (from, to) = if reversed {
            let to = self.bound(to);
            (from, to)
        } else {
            (from, to)
        };
        let counter = self.counter(s, from);
        let last = self.bound(to);
        let now = ir::Expr::Local(counter);
        let (low, high) = if reversed {
            (last.clone(), now.clone())
        } else {
            (now.clone(), last.clone())
        };
        let done = self.temp(Scalar::Bool);
        self.emit(ir::Stmt::Assign(
            done,
            compare(CompareOp::Gt, reg, low, high),
        ));
        let at = self.enter(id, Vec::new());
        let (block, ()) = self.block(|l| {
            l.break_if(ir::Expr::Local(done), at);
            if let Some(var) = var {
                l.bind(var, vec![now.clone()]);
            }
            l.emit(ir::Stmt::Assign(
                done,
                compare(CompareOp::Eq, reg, now.clone(), last.clone()),
            ));
            let op = if reversed {
                BinaryOp::Sub
            } else {
                BinaryOp::Add
            };
            l.emit(ir::Stmt::Assign(
                counter,
                binary(op, reg, now.clone(), int_literal(s, 1)),
            ));
            l.discard(body);
        });
        self.leave_loop(block);
    }

    fn counter(&mut self, s: Scalar, start: ir::Expr) -> LocalId {
        let local = self.temp(s);
        self.emit(ir::Stmt::Assign(local, start));
        local
    }

    /// A loop's bound, evaluated once.
    fn bound(&mut self, mut e: ir::Expr) -> ir::Expr {
        if !matches!(e, ir::Expr::Literal(..) | ir::Expr::Uniform(..)) {
            self.pin(&mut e);
        }
        e
    }

    // Calls and methods

    fn call(&mut self, f: &'f Function, args: &'f [Expr]) -> Vec<ir::Expr> {
        self.calls += 1;
        if self.calls > MAX_CALLS {
            self.fault.get_or_insert(Fault::TooManyCalls);
            return Vec::new();
        }
        let mut handles = Vec::new();
        let mut given = Vec::new();
        for (a, p) in args.iter().zip(&f.params) {
            match (p, &a.kind) {
                (Param::Handle, Kind::Handle(h)) => handles.push(self.binding(*h)),
                (Param::Handle, _) => handles.push(None),
                (Param::Value(_) | Param::Copy(..), _) => {
                    handles.push(None);
                    given.push(a);
                }
            }
        }
        let values = self.operands(&given);
        if given.iter().any(|a| self.is_never(a)) {
            return Vec::new();
        }
        self.frames.push(Frame::new(f, handles));
        let vars = f.params.iter().filter_map(|p| match p {
            Param::Value(id) => Some(*id),
            Param::Handle | Param::Copy(..) => None,
        });
        for (var, value) in vars.zip(values) {
            // Pure values of locals that the helper cannot assign are named, not copied.
            if !f.vars[var.0].mutable
                && value.iter().all(|e| {
                    matches!(
                        e,
                        ir::Expr::Local(_) | ir::Expr::Literal(..) | ir::Expr::Uniform(..)
                    )
                })
            {
                self.frame().vars[var.0] = Some(Slot::Alias(value));
            } else {
                self.bind(var, value);
            }
        }
        let values = if f.returns_early {
            let to = self.temps(&f.result);
            let at = self.loops;
            self.loops += 1;
            self.frame().result = Some((at, to.clone()));
            let (block, ()) = self.block(|l| {
                let values = l.value(&f.body);
                if !l.is_never(&f.body) {
                    l.assign(&to, values);
                    l.emit(ir::Stmt::Break { depth: 0 });
                }
            });
            self.leave_loop(block);
            to.into_iter().map(ir::Expr::Local).collect()
        } else {
            let values = self.value(&f.body);
            if self.is_never(&f.body) {
                self.fill(values, &f.result)
            } else {
                values
            }
        };
        self.frames.pop();
        values
    }

    fn method(&mut self, code: Code, args: &'f [Expr]) -> ir::Expr {
        let Some(first) = args.first() else {
            self.fault("a receiver is expected");
            return ir::Expr::Literal(Scalar::U32, 0);
        };
        let s = self.scalar_of(&first.ty);
        let refs: Vec<&Expr> = args.iter().collect();
        let values = self.operands(&refs);
        let mut values: Vec<ir::Expr> = args
            .iter()
            .zip(values)
            .map(|(a, v)| self.single(v, &a.ty))
            .collect();
        values.resize(3, ir::Expr::Literal(Scalar::U32, 0));
        let Ok([x, y, z]) = <[ir::Expr; 3]>::try_from(values) else {
            self.fault("too many arguments");
            return ir::Expr::Literal(Scalar::U32, 0);
        };
        self.apply(code, s, [x, y, z], args)
    }

    fn apply(&mut self, code: Code, s: Scalar, args: [ir::Expr; 3], refs: &'f [Expr]) -> ir::Expr {
        let [x, y, z] = args;
        let reg = register(s);
        let bits = unsigned(s);
        let zero = ir::Expr::Literal(reg, 0);
        let un = |op, e: ir::Expr| ir::Expr::Unary(op, reg, Box::new(e));
        let raw = |e: ir::Expr| ir::Expr::Bitcast {
            from: s,
            to: bits,
            value: Box::new(e),
        };
        let back = |e: ir::Expr| ir::Expr::Bitcast {
            from: bits,
            to: s,
            value: Box::new(e),
        };
        let select = |scalar, cond, then, otherwise| ir::Expr::Select {
            scalar,
            cond: Box::new(cond),
            then: Box::new(then),
            otherwise: Box::new(otherwise),
        };
        let sign_mask = if s.rows() == 2 {
            1u64 << 63
        } else {
            1u64 << 31
        };
        match code {
            Code::Unary(op @ (UnaryOp::CountOnes | UnaryOp::TrailingZeros)) if s == Scalar::U8 => {
                // A ninth bit bounds the count.
                let e = match op {
                    UnaryOp::TrailingZeros => {
                        binary(BinaryOp::Or, reg, x, ir::Expr::Literal(reg, 256))
                    }
                    _ => x,
                };
                un(op, e)
            }
            Code::Unary(UnaryOp::LeadingZeros) if s == Scalar::U8 => binary(
                BinaryOp::Sub,
                reg,
                un(UnaryOp::LeadingZeros, x),
                ir::Expr::Literal(reg, 24),
            ),
            Code::Unary(op) => narrow(s, un(op, x)),
            Code::Binary(BinaryOp::RotateLeft) if s == Scalar::U8 => self.rotate_u8(x, y),
            Code::Binary(op) => {
                let amount = refs.get(1).map_or(s, |a| self.scalar_of(&a.ty));
                self.binary(op, s, x, (y, amount), Span::call_site())
            }
            Code::MulAdd => ir::Expr::MulAdd {
                scalar: s,
                a: Box::new(x),
                b: Box::new(y),
                c: Box::new(z),
            },
            Code::RotateRight => {
                let n = ir::Expr::Unary(UnaryOp::Neg, Scalar::U32, Box::new(y));
                if s == Scalar::U8 {
                    self.rotate_u8(x, n)
                } else {
                    binary(BinaryOp::RotateLeft, reg, x, n)
                }
            }
            Code::CountZeros => un(UnaryOp::CountOnes, narrow(s, un(UnaryOp::Not, x))),
            Code::LeadingOnes => {
                let e = narrow(s, un(UnaryOp::Not, x));
                let n = un(UnaryOp::LeadingZeros, e);
                if s == Scalar::U8 {
                    binary(BinaryOp::Sub, reg, n, ir::Expr::Literal(reg, 24))
                } else {
                    n
                }
            }
            Code::TrailingOnes => un(UnaryOp::TrailingZeros, un(UnaryOp::Not, x)),
            Code::IsPowerOfTwo => compare(
                CompareOp::Eq,
                Scalar::U32,
                un(UnaryOp::CountOnes, x),
                ir::Expr::Literal(Scalar::U32, 1),
            ),
            Code::AbsDiff => {
                let (x, y) = self.leaves(x, y);
                let less = compare(CompareOp::Lt, reg, x.clone(), y.clone());
                let d = select(
                    reg,
                    less,
                    binary(BinaryOp::Sub, reg, y.clone(), x.clone()),
                    binary(BinaryOp::Sub, reg, x, y),
                );
                cast(s, bits, d)
            }
            Code::UnsignedAbs => cast(s, bits, un(UnaryOp::Abs, x)),
            Code::Pow => self.pow(s, x, y),
            Code::Signum => {
                let x = self.leaf(x);
                let up = cast(
                    Scalar::Bool,
                    s,
                    compare(CompareOp::Gt, reg, x.clone(), zero.clone()),
                );
                let down = cast(Scalar::Bool, s, compare(CompareOp::Lt, reg, x, zero));
                binary(BinaryOp::Sub, reg, up, down)
            }
            Code::IsPositive => compare(CompareOp::Gt, reg, x, zero),
            Code::IsNegative => compare(CompareOp::Lt, reg, x, zero),
            Code::IsNan => {
                let x = self.leaf(x);
                compare(CompareOp::Ne, reg, x.clone(), x)
            }
            Code::IsInfinite => compare(CompareOp::Eq, reg, un(UnaryOp::Abs, x), infinity(s)),
            Code::IsFinite => compare(CompareOp::Lt, reg, un(UnaryOp::Abs, x), infinity(s)),
            Code::SignBit | Code::NoSignBit => {
                let sign = binary(
                    BinaryOp::And,
                    bits,
                    raw(x),
                    ir::Expr::Literal(bits, sign_mask),
                );
                let op = if code == Code::SignBit {
                    CompareOp::Ne
                } else {
                    CompareOp::Eq
                };
                compare(op, bits, sign, ir::Expr::Literal(bits, 0))
            }
            Code::Fract => {
                let x = self.leaf(x);
                let whole = un(UnaryOp::Trunc, x.clone());
                binary(BinaryOp::Sub, reg, x, whole)
            }
            Code::Recip => {
                let one = if s == Scalar::F32 {
                    1f32.to_bits().into()
                } else {
                    1f64.to_bits()
                };
                binary(BinaryOp::Div, reg, ir::Expr::Literal(s, one), x)
            }
            Code::Copysign => {
                let rest = if s.rows() == 2 {
                    !sign_mask
                } else {
                    0x7fff_ffff
                };
                let size = binary(BinaryOp::And, bits, raw(x), ir::Expr::Literal(bits, rest));
                let sign = binary(
                    BinaryOp::And,
                    bits,
                    raw(y),
                    ir::Expr::Literal(bits, sign_mask),
                );
                back(binary(BinaryOp::Or, bits, size, sign))
            }
            Code::ToBits => raw(x),
            Code::FromBits => {
                let to = if s == Scalar::U64 {
                    Scalar::F64
                } else {
                    Scalar::F32
                };
                ir::Expr::Bitcast {
                    from: s,
                    to,
                    value: Box::new(x),
                }
            }
            Code::SaturatingAdd | Code::SaturatingSub => {
                self.saturating(code == Code::SaturatingAdd, s, x, y)
            }
        }
    }

    fn leaves(&mut self, x: ir::Expr, y: ir::Expr) -> (ir::Expr, ir::Expr) {
        let x = self.leaf(x);
        (x, self.leaf(y))
    }

    fn rotate_u8(&mut self, x: ir::Expr, n: ir::Expr) -> ir::Expr {
        let reg = Scalar::U32;
        let (x, n) = self.leaves(x, n);
        let mask = |e| binary(BinaryOp::And, reg, e, ir::Expr::Literal(reg, 7));
        let left = binary(BinaryOp::Shl, reg, x.clone(), mask(n.clone()));
        let back = ir::Expr::Unary(UnaryOp::Neg, reg, Box::new(n));
        let right = binary(BinaryOp::Shr, reg, x, mask(back));
        narrow(Scalar::U8, binary(BinaryOp::Or, reg, left, right))
    }

    fn saturating(&mut self, add: bool, s: Scalar, x: ir::Expr, y: ir::Expr) -> ir::Expr {
        let reg = register(s);
        let (x, y) = self.leaves(x, y);
        let op = if add { BinaryOp::Add } else { BinaryOp::Sub };
        if !is_signed(s) {
            return match (s, add) {
                (Scalar::U8, true) => {
                    let sum = binary(op, reg, x, y);
                    binary(BinaryOp::Min, reg, sum, ir::Expr::Literal(reg, 255))
                }
                // x + min(y, MAX - x), x - min(x, y)
                (_, true) => {
                    let room = ir::Expr::Unary(UnaryOp::Not, reg, Box::new(x.clone()));
                    binary(op, reg, x, binary(BinaryOp::Min, reg, y, room))
                }
                (_, false) => {
                    let taken = binary(BinaryOp::Min, reg, x.clone(), y);
                    binary(op, reg, x, taken)
                }
            };
        }
        // Overflow shows in the signs: the result's differs from what x's (and y's) allow. Then it is MAX or MIN by x's sign.
        let sum = binary(op, reg, x.clone(), y.clone());
        let sum = self.leaf(sum);
        let xor = |a: ir::Expr, b: ir::Expr| binary(BinaryOp::Xor, reg, a, b);
        let (p, q) = if add {
            (xor(x.clone(), sum.clone()), xor(y, sum.clone()))
        } else {
            (xor(x.clone(), y), xor(x.clone(), sum.clone()))
        };
        let over = compare(
            CompareOp::Lt,
            reg,
            binary(BinaryOp::And, reg, p, q),
            int_literal(s, 0),
        );
        let width = ir::Expr::Literal(Scalar::U32, if s.rows() == 2 { 63 } else { 31 });
        let max = int_literal(
            s,
            if s.rows() == 2 {
                i64::MAX as u128
            } else {
                i32::MAX as u128
            },
        );
        let bound = xor(binary(BinaryOp::Shr, reg, x, width), max);
        ir::Expr::Select {
            scalar: reg,
            cond: Box::new(over),
            then: Box::new(bound),
            otherwise: Box::new(sum),
        }
    }

    /// Square and multiply, wrapping.
    fn pow(&mut self, s: Scalar, x: ir::Expr, n: ir::Expr) -> ir::Expr {
        let reg = register(s);
        let mul = |a: ir::Expr, b: ir::Expr| narrow(s, binary(BinaryOp::Mul, reg, a, b));
        if let ir::Expr::Literal(_, n @ 0..=16) = n {
            let x = self.leaf(x);
            let mut result: Option<ir::Expr> = None;
            let mut square = x;
            let mut left = n;
            while left > 0 {
                if left & 1 == 1 {
                    result = Some(match result {
                        Some(r) => mul(r, square.clone()),
                        None => square.clone(),
                    });
                }
                left >>= 1;
                if left > 0 {
                    square = self.leaf(mul(square.clone(), square));
                }
            }
            return result.unwrap_or(int_literal(s, 1));
        }
        let (base, left, result) = (self.temp(s), self.temp(Scalar::U32), self.temp(s));
        self.emit(ir::Stmt::Assign(base, x));
        self.emit(ir::Stmt::Assign(left, n));
        self.emit(ir::Stmt::Assign(result, int_literal(s, 1)));
        let at = self.loops;
        self.loops += 1;
        let (block, ()) = self.block(|l| {
            let n = ir::Expr::Local(left);
            l.break_if(
                compare(
                    CompareOp::Eq,
                    Scalar::U32,
                    n.clone(),
                    ir::Expr::Literal(Scalar::U32, 0),
                ),
                at,
            );
            let odd = binary(
                BinaryOp::And,
                Scalar::U32,
                n.clone(),
                ir::Expr::Literal(Scalar::U32, 1),
            );
            let odd = compare(
                CompareOp::Ne,
                Scalar::U32,
                odd,
                ir::Expr::Literal(Scalar::U32, 0),
            );
            let (r, b) = (ir::Expr::Local(result), ir::Expr::Local(base));
            let then = vec![ir::Stmt::Assign(result, mul(r, b.clone()))];
            l.emit(ir::Stmt::If {
                cond: odd,
                then,
                otherwise: Vec::new(),
            });
            l.emit(ir::Stmt::Assign(base, mul(b.clone(), b)));
            let half = binary(
                BinaryOp::Shr,
                Scalar::U32,
                n,
                ir::Expr::Literal(Scalar::U32, 1),
            );
            l.emit(ir::Stmt::Assign(left, half));
        });
        self.leave_loop(block);
        ir::Expr::Local(result)
    }
}

/// The type that a register holds for a value: u8 is widened.
fn register(s: Scalar) -> Scalar {
    if s == Scalar::U8 { Scalar::U32 } else { s }
}

/// A value read as a u8, in its register's type.
fn widen(s: Scalar, e: ir::Expr) -> ir::Expr {
    if s == Scalar::U8 {
        cast_ir(Scalar::U8, Scalar::U32, e)
    } else {
        e
    }
}

/// Cuts the register of a u8 back to its width.
fn narrow(s: Scalar, e: ir::Expr) -> ir::Expr {
    if s == Scalar::U8 {
        binary(
            BinaryOp::And,
            Scalar::U32,
            e,
            ir::Expr::Literal(Scalar::U32, 0xff),
        )
    } else {
        e
    }
}

fn unsigned(s: Scalar) -> Scalar {
    match s {
        Scalar::I32 | Scalar::F32 => Scalar::U32,
        Scalar::I64 | Scalar::F64 => Scalar::U64,
        Scalar::Bool | Scalar::U8 | Scalar::U32 | Scalar::U64 => s,
    }
}

fn infinity(s: Scalar) -> ir::Expr {
    ir::Expr::Literal(
        s,
        if s == Scalar::F32 {
            f32::INFINITY.to_bits().into()
        } else {
            f64::INFINITY.to_bits()
        },
    )
}

/// An integer literal, modulo the type's width, in the pool's form (i32 sign-extended).
fn int_literal(s: Scalar, v: u128) -> ir::Expr {
    let bits = match s {
        Scalar::Bool => u64::from(v != 0),
        Scalar::U8 => u64::from(v as u8),
        Scalar::U32 => u64::from(v as u32),
        Scalar::I32 => v as i32 as i64 as u64,
        Scalar::F32 => (v as f32).to_bits().into(),
        Scalar::F64 => (v as f64).to_bits(),
        Scalar::U64 | Scalar::I64 => v as u64,
    };
    ir::Expr::Literal(register(s), bits)
}

fn binary(op: BinaryOp, scalar: Scalar, left: ir::Expr, right: ir::Expr) -> ir::Expr {
    ir::Expr::Binary {
        op,
        scalar,
        left: Box::new(left),
        right: Box::new(right),
        site: None,
    }
}

fn compare(op: CompareOp, scalar: Scalar, left: ir::Expr, right: ir::Expr) -> ir::Expr {
    ir::Expr::Compare {
        op,
        scalar,
        left: Box::new(left),
        right: Box::new(right),
    }
}

fn cast_ir(from: Scalar, to: Scalar, value: ir::Expr) -> ir::Expr {
    if from == to {
        value
    } else {
        ir::Expr::Cast {
            from,
            to,
            value: Box::new(value),
        }
    }
}

/// Rust's `as`, on registers.
fn cast(from: Scalar, to: Scalar, value: ir::Expr) -> ir::Expr {
    if from == to {
        return value;
    }
    if to == Scalar::U8 {
        // Saturating from a float, the low bits of anything else.
        let value = cast_ir(register(from), Scalar::U32, value);
        return if is_float(from) {
            binary(
                BinaryOp::Min,
                Scalar::U32,
                value,
                ir::Expr::Literal(Scalar::U32, 255),
            )
        } else {
            narrow(Scalar::U8, value)
        };
    }
    if let (ir::Expr::Literal(_, bits), true, true) = (&value, is_int(from), is_int(to)) {
        return int_literal(to, u128::from(*bits));
    }
    cast_ir(register(from), to, value)
}

/// A shift's or rotation's amount: only its low bits count.
fn to_u32(from: Scalar, value: ir::Expr) -> ir::Expr {
    cast(from, Scalar::U32, value)
}

/// The opposite of a bool.
fn negate(e: ir::Expr) -> ir::Expr {
    match e {
        ir::Expr::Literal(Scalar::Bool, b) => ir::Expr::Literal(Scalar::Bool, 1 - (b & 1)),
        ir::Expr::Unary(UnaryOp::Not, Scalar::Bool, inner) => *inner,
        other => ir::Expr::Unary(UnaryOp::Not, Scalar::Bool, Box::new(other)),
    }
}

fn conjuncts<'f>(e: &'f Expr, to: &mut Vec<&'f Expr>) {
    if let Kind::Logic(false, a, b) = &e.kind {
        conjuncts(a, to);
        conjuncts(b, to);
    } else {
        to.push(e);
    }
}

fn is_empty_block(e: &Expr) -> bool {
    matches!(&e.kind, Kind::Block(b) if b.stmts.is_empty() && b.tail.is_none())
}

/// Neither faults, nor acts, nor reads memory: it can be evaluated later, twice or never.
fn is_pure(e: &ir::Expr) -> bool {
    use ir::Expr as E;
    let own = match e {
        E::ArrayLoad { .. }
        | E::Load { .. }
        | E::AtomicLoad { .. }
        | E::Atomic { .. }
        | E::CompareExchange { .. }
        | E::Csr { .. } => false,
        E::Binary {
            site: Some(_),
            scalar,
            right,
            ..
        } => match **right {
            E::Literal(_, 0) => false,
            E::Literal(_, u64::MAX) => !is_signed(*scalar),
            E::Literal(..) => true,
            _ => false,
        },
        _ => true,
    };
    let mut pure = own;
    e.each_operand(&mut |x| pure = pure && is_pure(x));
    pure
}

/// Number of operations.
fn cost(e: &ir::Expr) -> usize {
    let mut n = 1;
    e.each_operand(&mut |x| n += cost(x));
    n
}

fn reads(e: &ir::Expr, local: LocalId) -> bool {
    let mut found = *e == ir::Expr::Local(local);
    e.each_operand(&mut |x| found = found || reads(x, local));
    found
}

/// Whether a statement assigns a local that the expression reads.
fn assigns_read(s: &ir::Stmt, e: &ir::Expr) -> bool {
    match s {
        ir::Stmt::Assign(l, _) => reads(e, *l),
        ir::Stmt::If {
            then, otherwise, ..
        } => then.iter().chain(otherwise).any(|s| assigns_read(s, e)),
        ir::Stmt::Loop { body } => body.iter().any(|s| assigns_read(s, e)),
        ir::Stmt::ArrayFill { .. }
        | ir::Stmt::ArrayAssign { .. }
        | ir::Stmt::ArrayStore { .. }
        | ir::Stmt::CheckIndex { .. }
        | ir::Stmt::Store { .. }
        | ir::Stmt::AtomicStore { .. }
        | ir::Stmt::Eval(_)
        | ir::Stmt::Push { .. }
        | ir::Stmt::Reduce { .. }
        | ir::Stmt::Break { .. }
        | ir::Stmt::Continue { .. }
        | ir::Stmt::Return
        | ir::Stmt::Assert { .. } => false,
    }
}

/// Whether a statement does more than compute: faults, memory, jumps.
fn acts(s: &ir::Stmt) -> bool {
    match s {
        ir::Stmt::Assign(_, e) => !is_pure(e),
        ir::Stmt::If {
            cond,
            then,
            otherwise,
        } => !is_pure(cond) || then.iter().chain(otherwise).any(acts),
        _ => true,
    }
}
