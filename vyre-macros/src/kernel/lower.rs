//! The typed tree to IR.
//!
//! A value becomes a list of scalar expressions (a tuple is flat, unit is empty). An IR expression is evaluated where
//! the statement that holds it stands, left to right, and assigns nothing. So an operand that needs statements (a
//! block, an `if`, an inlined call) puts them out first, and the operands before it are moved to locals ahead of those
//! statements unless nothing can tell the difference ([`Lowerer::operands`]).

mod flow;
mod place;
mod scalar;
mod tree;

use super::hir::{
    Arm, Binding, CsrCall, Expr, Function, Handle, ItemField, Kind, LoopId, Origin, Param, Pat,
    Place, Projection, Role, Source, Stmt, Test, VarId,
};
use super::methods::Code;
use super::types::{HandleTy, Ty, is_float, is_int, is_signed};
use crate::report::Report;
use crate::tables::{Home, Tables, entry};
use proc_macro2::{Span, TokenStream};
use quote::quote;
use std::rc::Rc;
use vyre_core::compile::ir::build::{self, RowOp};
use vyre_core::compile::ir::{
    self, ArrayId, AtomicOp, BinaryOp, CompareOp, CsrQuery, ItemLocals, LocalId, UnaryOp,
};
use vyre_core::vir0::module::{
    BufferId, ConstantId, FrontierId, ListId, ReductionId, SiteId, TopologyId, Uniform, Width,
};
use vyre_core::vir0::scalar::Scalar;
use vyre_core::vir0::trap::TrapKind;

use place::{Dest, ProjectionRef};
use scalar::{
    binary, cast, cast_ir, compare, int_literal, narrow, negate, register, to_u32, widen,
};
use tree::{acts, assigns_read, cost, is_pure};

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
        arrays: Vec::new(),
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
        if let Param::Own(var, first) = p {
            l.refer(*var, *first);
            continue;
        }
        if let Param::Copy(var, Kind::Record) = p {
            l.take_record(*var);
            continue;
        }
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
    let (locals, arrays) = (std::mem::take(&mut l.locals), std::mem::take(&mut l.arrays));
    let item = l.item;
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
        arrays,
        item,
        block,
        value,
    })
}

/// Sites and constants of a helper, in the order in which lowering it asks for them: inlining it asks for no others.
pub(super) fn alone(f: &Function, tables: &mut Tables) {
    let mut l = Lowerer {
        tables,
        locals: Vec::new(),
        arrays: Vec::new(),
        item: ItemLocals::default(),
        out: Vec::new(),
        frames: Vec::new(),
        loops: 0,
        calls: 0,
        fault: None,
        depth: f.depth,
    };
    let any = f.handles.iter().map(|h| h.map(any_binding));
    l.frames.push(Frame::new(f, any.collect()));
    l.inlined(f);
}

/// Something that such a handle can stand for.
fn any_binding(h: HandleTy) -> Binding {
    let buffer = BufferId(0);
    match h {
        HandleTy::Edge => Binding::EdgeItem,
        HandleTy::Own { scalar, mutable } => Binding::Own {
            buffer,
            scalar,
            mutable,
        },
        HandleTy::Buf(scalar) => Binding::Buf { buffer, scalar },
        HandleTy::AtomicBuf(scalar) | HandleTy::Atomic(scalar) => {
            Binding::AtomicBuf { buffer, scalar }
        }
        HandleTy::Csr => Binding::Csr(TopologyId(0)),
        HandleTy::Push => Binding::Push(FrontierId(0)),
        HandleTy::PushItems(_) => Binding::PushItems(FrontierId(0)),
        HandleTy::Append(_) => Binding::Append(ListId(0)),
        HandleTy::Records(_) => Binding::Records { first: buffer },
        HandleTy::Bits => Binding::Bits {
            buffer,
            width: Width::Fixed(32),
        },
        HandleTy::Reduce { op, scalar, count } => Binding::Reduce {
            id: ReductionId(0),
            op,
            scalar,
            count,
        },
        HandleTy::Frontier => Binding::Frontier(FrontierId(0)),
        HandleTy::List => Binding::List(ListId(0)),
    }
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
    /// What a variable that is never assigned again was bound to.
    lets: Vec<Option<&'f Expr>>,
    handles: Vec<Option<Binding>>,
    /// Per loop of the function: how many IR loops are outside it, and where a break's value goes.
    loops: Vec<Option<(u32, Dest)>>,
    /// Where `return` goes in a helper that returns early.
    result: Option<(u32, Dest)>,
}

impl<'f> Frame<'f> {
    fn new(f: &'f Function, handles: Vec<Option<Binding>>) -> Frame<'f> {
        Frame {
            f,
            vars: f.vars.iter().map(|_| None).collect(),
            lets: vec![None; f.vars.len()],
            handles,
            loops: Vec::new(),
            result: None,
        }
    }
}

/// Where a variable's parts are.
#[derive(Clone)]
enum Slot {
    Kept(Dest),
    /// Never assigned again, and these never change.
    Alias(Vec<ir::Expr>),
}

struct Lowerer<'a, 'f> {
    tables: &'a mut Tables,
    locals: Vec<Scalar>,
    arrays: Vec<ir::Array>,
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
            Ty::Size => Scalar::U64,
            Ty::Never => Scalar::U32,
            _ => {
                self.fault("mismatched types: a scalar is expected");
                Scalar::U32
            }
        }
    }

    fn temp(&mut self, s: Scalar) -> LocalId {
        self.locals.push(register(s));
        LocalId((self.locals.len() - 1) as u32)
    }

    fn emit(&mut self, s: ir::Stmt) {
        self.out.push(s);
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
        let mut origins = self.origins();
        let Some((mut path, o)) = origins.next() else {
            return self.tables.site(span);
        };
        let mut index = o.tables.site_index(span);
        let mut array = o.arrays[1];
        for (outer, o) in origins {
            index = index.and_then(|i| o.tables.imported_index(&entry(&path, array, i)));
            (path, array) = (outer, o.arrays[1]);
        }
        match index {
            Some(i) => self.tables.imported_site(entry(&path, array, i)),
            None => {
                self.fault("a position in a function of another module is not known");
                SiteId(0)
            }
        }
    }

    /// Functions of other modules that are being inlined, innermost first, each as its caller names it.
    fn origins(&self) -> impl Iterator<Item = (TokenStream, &'f Origin)> + use<'f> {
        let mut all = Vec::new();
        for (i, frame) in self.frames.iter().enumerate().skip(1) {
            if let Some(o) = &frame.f.origin {
                // A module's functions call each other as its own.
                let caller = &self.frames[i - 1].f.origin;
                if (caller.as_ref()).is_some_and(|c| Rc::ptr_eq(&c.tables, &o.tables)) {
                    continue;
                }
                let path = if all.is_empty() {
                    // It is that from the outermost module.
                    self.path_from(&o.path, 1)
                } else {
                    o.path.clone()
                };
                all.push((path, o));
            }
        }
        all.into_iter().rev()
    }

    /// A constant's id in the pool.
    fn constant_id(&mut self, value: &TokenStream, s: Scalar) -> ConstantId {
        let mut home = Home {
            up: self.depth.saturating_sub(self.f().depth),
            inside: self.f().inside.clone(),
        };
        if home.inside.is_empty() {
            home.up = 0;
        }
        let mut origins = self.origins();
        let Some((mut path, o)) = origins.next() else {
            return self.tables.constant_of(home, value.clone(), s);
        };
        home.up = 0;
        let mut index = o.tables.constant_index(&home, value, s);
        let mut array = o.arrays[0];
        for (outer, o) in origins {
            let outermost = Home::default();
            let of = |i| {
                o.tables
                    .constant_index(&outermost, &entry(&path, array, i), s)
            };
            index = index.and_then(of);
            (path, array) = (outer, o.arrays[0]);
        }
        match index {
            Some(i) => self.tables.imported_constant(entry(&path, array, i), s),
            None => {
                self.fault("a constant in a function of another module is not known");
                ConstantId(0)
            }
        }
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
            // All of its buffers have one length.
            Some(Binding::Records { first }) => (first, Scalar::U32),
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
        let dest = self.dest(ty);
        self.frame().vars[var.0] = Some(Slot::Kept(dest.clone()));
        Slot::Kept(dest)
    }

    fn bind(&mut self, var: VarId, values: Vec<ir::Expr>) {
        let v = &self.f().vars[var.0];
        let fixed = |e: &ir::Expr| matches!(e, ir::Expr::Literal(..) | ir::Expr::Uniform(..));
        if !v.mutable && values.iter().all(fixed) && !values.is_empty() && !self.has_array(&v.ty) {
            self.frame().vars[var.0] = Some(Slot::Alias(values));
            return;
        }
        if let Slot::Kept(to) = self.slot(var) {
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
                let Some(tys) = self.ty(ty).fields() else {
                    return;
                };
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
            Kind::Error | Kind::Handle(_) | Kind::AtomicPlace { .. } | Kind::Record => {
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
                let path = self.path_from_here(path);
                let ty = self.ty(&e.ty);
                return self.constant_parts(&path, &ty);
            }
            Kind::Var(id) => {
                return match self.slot(*id) {
                    Slot::Kept(dest) => self.kept(&dest),
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
            Kind::Get { .. } => return self.get(e, 0, usize::MAX),
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
            Kind::Append { list, value, site } => {
                let fields = self.record_fields(value);
                let Some(Binding::Append(list)) = self.binding(*list) else {
                    self.fault("a list is expected");
                    return Vec::new();
                };
                let site = self.site(*site);
                ir::Expr::Append { list, fields, site }
            }
            Kind::Rows { .. } => return self.bits(e, true).into_iter().collect(),
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
                Some(of @ (Binding::Frontier(_) | Binding::List(_))) => {
                    let len = match of {
                        Binding::List(l) => Uniform::ListLen(l),
                        Binding::Frontier(f) => Uniform::FrontierLen(f),
                        _ => unreachable!("the pattern has no others"),
                    };
                    let len = ir::Expr::Uniform(len, Scalar::U32);
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
            Kind::Compare(op, a, b)
                if matches!(self.ty(&a.ty), Ty::Tuple(_) | Ty::Struct(_) | Ty::Array(..)) =>
            {
                let scalars = self.parts(&a.ty);
                let mut both = self.operands(&[a, b]).into_iter();
                let (x, y) = (
                    both.next().unwrap_or_default(),
                    both.next().unwrap_or_default(),
                );
                let same = x
                    .into_iter()
                    .zip(y)
                    .zip(scalars)
                    .map(|((x, y), s)| compare(CompareOp::Eq, register(s), x, y))
                    .reduce(|a, b| binary(BinaryOp::And, Scalar::Bool, a, b))
                    .unwrap_or(ir::Expr::Literal(Scalar::Bool, 1));
                if *op == CompareOp::Eq {
                    same
                } else {
                    negate(same)
                }
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
            Kind::Method(code, args, at) => self.method(*code, args, *at),
            Kind::Tuple(es) => {
                let es: Vec<&Expr> = es.iter().collect();
                return self.operands(&es).into_iter().flatten().collect();
            }
            Kind::Field(..) | Kind::Element(..) => return self.part(e),
            Kind::Array(es) => {
                let es: Vec<&Expr> = es.iter().collect();
                return self.operands(&es).into_iter().flatten().collect();
            }
            Kind::Repeat(value, n) => {
                let values = self.value(value);
                let values: Vec<_> = values.into_iter().map(|v| self.leaf(v)).collect();
                return (0..*n).flat_map(|_| values.clone()).collect();
            }
            Kind::Struct(fields, base) => return self.structure(fields, base.as_deref(), &e.ty),
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
            Kind::Call(f, args, place) => return self.call(f, args, place.as_ref()),
            Kind::AtomicStore(..)
            | Kind::Push { .. }
            | Kind::Reduce(..)
            | Kind::Assert { .. }
            | Kind::Panic(..)
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

    /// Whether control does not come back from an expression. rustc knows more such expressions than those of type `!`:
    /// a block with a value behind a `return`.
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

    /// A constant of the pool. A helper's constant is named from the module that the helper is inlined into; in a
    /// `#[device] mod`, as it is there.
    fn constant(&mut self, value: TokenStream, s: Scalar) -> ir::Expr {
        let id = self.constant_id(&value, s);
        widen(s, ir::Expr::Uniform(Uniform::Constant(id), s))
    }

    fn path_from_here(&self, path: &TokenStream) -> TokenStream {
        let elsewhere = self.frames.iter().any(|f| f.f.origin.is_some());
        if elsewhere || !self.f().inside.is_empty() {
            return path.clone();
        }
        self.path_from(path, self.f().depth)
    }

    /// A path in a module of this depth, from the module that it is inlined into.
    fn path_from(&self, path: &TokenStream, depth: usize) -> TokenStream {
        let up = self.depth.saturating_sub(depth);
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

    /// The rows of bits that a handle names.
    fn rows(&mut self, h: Handle) -> build::Bits {
        let (buffer, width) = match self.binding(h) {
            Some(Binding::Bits { buffer, width }) => (buffer, width),
            _ => {
                self.fault("rows of bits are expected");
                (BufferId(0), Width::Fixed(0))
            }
        };
        let uniform = |u| ir::Expr::Uniform(u, Scalar::U32);
        let width = match width {
            Width::Fixed(n) => ir::Expr::Literal(Scalar::U32, n.into()),
            Width::Constant(c) => uniform(Uniform::Constant(c)),
            Width::Scalar(s) => uniform(Uniform::Scalar(s)),
        };
        build::Bits { buffer, width }
    }

    /// Whether a word is made of words `k` of rows as wide as these, so that it has no bits beyond their width.
    fn stays_within(&mut self, rows: Handle, k: &Expr, word: &Expr) -> bool {
        match &word.kind {
            Kind::Int(0) | Kind::Bits(0) => true,
            Kind::Var(v) => match self.frame().lets[v.0] {
                Some(e) => self.stays_within(rows, k, e),
                None => false,
            },
            Kind::Rows {
                rows: of,
                method: "word" | "or_word" | "and_word",
                args,
                ..
            } => {
                let width = |b| match b {
                    Some(Binding::Bits { width, .. }) => Some(width),
                    _ => None,
                };
                let (of, own) = (width(self.binding(*of)), width(self.binding(rows)));
                of.is_some() && of == own && self.is_same(k, &args[1])
            }
            Kind::Binary(BinaryOp::And, a, b) => {
                self.stays_within(rows, k, a) || self.stays_within(rows, k, b)
            }
            Kind::Binary(BinaryOp::Or | BinaryOp::Xor, a, b) => {
                self.stays_within(rows, k, a) && self.stays_within(rows, k, b)
            }
            _ => false,
        }
    }

    /// Whether two expressions that are both in scope have one value, as what they name never changes.
    fn is_same(&mut self, a: &Expr, b: &Expr) -> bool {
        match (&a.kind, &b.kind) {
            (Kind::Var(a), Kind::Var(b)) => a == b && !self.f().vars[a.0].mutable,
            (Kind::Int(a), Kind::Int(b)) => a == b,
            (Kind::Bits(a), Kind::Bits(b)) => a == b,
            _ => false,
        }
    }

    /// A method of a row of bits; where the result is not wanted, an update stays one.
    fn bits(&mut self, e: &'f Expr, wanted: bool) -> Option<ir::Expr> {
        let Kind::Rows {
            rows,
            method,
            other,
            args,
            site,
        } = &e.kind
        else {
            return None;
        };
        let refs: Vec<&Expr> = args.iter().collect();
        let values = self.operands(&refs);
        let values: Vec<ir::Expr> = args
            .iter()
            .zip(values)
            .map(|(a, v)| self.single(v, &a.ty))
            .collect();
        let within = args.len() == 3 && self.stays_within(*rows, &args[1], &args[2]);
        let word = |bits| build::RowWord { bits, within };
        let rows = self.rows(*rows);
        let other = other.map(|h| self.rows(h));
        let site = self.site(*site);
        let mut s = build::Sequence::new(&mut self.locals, &mut self.out, site);
        let s = &mut s;
        let mut values = values.into_iter();
        let mut next = || values.next().unwrap_or(ir::Expr::Literal(Scalar::U32, 0));
        let (a, b, c) = (next(), next(), next());
        let from = other.as_ref().unwrap_or(&rows);
        match *method {
            "get" => Some(rows.get(s, a, b)),
            "set" => rows.set(s, a, b, wanted),
            "unset" => rows.unset(s, a, b, wanted),
            "word" => Some(rows.word(s, a, b)),
            "or_word" => rows.or_word(s, (a, b, word(c)), wanted),
            "and_word" => rows.and_word(s, (a, b, c), wanted),
            "count" => Some(rows.count(s, a)),
            "width" => Some(rows.width.clone()),
            "words" => Some(rows.words()),
            "or" | "or_from" => rows.combine(s, RowOp::Or, a, (from, b), wanted),
            "and" | "and_from" => rows.combine(s, RowOp::And, a, (from, b), wanted),
            "and_not" | "and_not_from" => rows.combine(s, RowOp::AndNot, a, (from, b), wanted),
            "clear" => {
                rows.clear(s, a);
                None
            }
            "store_word" => {
                rows.store_word(s, a, b, word(c));
                None
            }
            _ => {
                self.fault("a method of rows of bits is expected");
                None
            }
        }
    }

    /// The work item, field by field, as a variable.
    fn take_record(&mut self, var: VarId) {
        let ty = &self.f().vars[var.0].ty;
        let dest = self.dest(ty);
        for (field, leaf) in self.item.fields.iter_mut().zip(&dest.leaves) {
            if let place::Storage::Local(local) = leaf {
                *field = Some(*local);
            }
        }
        self.frame().vars[var.0] = Some(Slot::Kept(dest));
    }

    /// The variable is the item's own element.
    fn refer(&mut self, var: VarId, first: BufferId) {
        let ty = self.ty(&self.f().vars[var.0].ty);
        let scalars = self.parts(&ty);
        let leaves = (first.0..).map(BufferId).zip(scalars);
        let leaves = leaves.map(|(b, s)| place::Storage::Own(b, s)).collect();
        self.item(ItemField::Index);
        self.frame().vars[var.0] = Some(Slot::Kept(Dest { ty, leaves }));
    }

    /// Some of the scalars of `points.get(i)`. Each load checks the index: the buffers have one length.
    fn get(&mut self, e: &'f Expr, from: usize, count: usize) -> Vec<ir::Expr> {
        let Kind::Get {
            records,
            index,
            site,
        } = &e.kind
        else {
            return Vec::new();
        };
        let scalars = self.parts(&e.ty);
        let (index, first) = (self.scalar(index), self.buffer(*records).0);
        let count = count.min(scalars.len());
        let index = if count > 1 { self.leaf(index) } else { index };
        let site = self.site(*site);
        let wanted = (first.0..).zip(scalars).skip(from).take(count);
        let load = |(b, scalar)| {
            let load = ir::Expr::Load {
                buffer: BufferId(b),
                scalar,
                index: Box::new(index.clone()),
                site,
            };
            widen(scalar, load)
        };
        wanted.map(load).collect()
    }

    /// The scalars of an item that is pushed or appended, each of its own type.
    fn record_fields(&mut self, value: &'f Expr) -> Vec<ir::Expr> {
        let scalars = self.parts(&value.ty);
        let values = self.value(value);
        values
            .into_iter()
            .zip(scalars)
            .map(|(v, s)| {
                if s == Scalar::U8 {
                    cast_ir(Scalar::U32, Scalar::U8, v)
                } else {
                    v
                }
            })
            .collect()
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

    /// The place and the arguments. Rust checks the index before it evaluates the arguments, IR after; where an
    /// argument can trap or act, the index is checked by a statement of its own.
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
            let check = ir::Stmt::CheckIndex {
                index: index.clone(),
                len: ir::Expr::Len(buffer),
                site,
            };
            self.out.insert(at, check);
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
        let faults = matches!(
            op,
            BinaryOp::Div | BinaryOp::Rem | BinaryOp::WrappingDiv | BinaryOp::WrappingRem
        ) && is_int(s);
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
            let path = self.path_from_here(path);
            let id = self.constant_id(&quote!(#path as #ty), to);
            return widen(to, ir::Expr::Uniform(Uniform::Constant(id), to));
        }
        let from = self.scalar_of(&inner.ty);
        let x = self.scalar(inner);
        cast(from, to, x)
    }

    /// A struct's parts in the order of its fields, from operands in the order they are written.
    fn structure(
        &mut self,
        fields: &'f [(usize, Expr)],
        base: Option<&'f Expr>,
        ty: &Ty,
    ) -> Vec<ir::Expr> {
        let Some(tys) = self.ty(ty).fields() else {
            self.fault("a struct is expected");
            return Vec::new();
        };
        let written: Vec<&Expr> = fields.iter().map(|(_, e)| e).chain(base).collect();
        let mut values = self.operands(&written);
        let from_base = base.and_then(|_| values.pop()).unwrap_or_default();
        let mut from_base = from_base.into_iter();
        let mut parts = Vec::new();
        for (at, ty) in tys.iter().enumerate() {
            let n = self.parts(ty).len();
            let old: Vec<ir::Expr> = from_base.by_ref().take(n).collect();
            match fields.iter().position(|(f, _)| *f == at) {
                Some(i) => parts.push((i, std::mem::take(&mut values[i]))),
                None => parts.push((fields.len(), old)),
            }
        }
        // Moved out of the order they are evaluated in: only what does not show may stay unnamed.
        if !parts.is_sorted_by_key(|(i, _)| *i) {
            let mut order: Vec<usize> = (0..parts.len()).collect();
            order.sort_by_key(|&p| parts[p].0);
            for p in order {
                for v in &mut parts[p].1 {
                    if !is_pure(v) {
                        self.pin(v);
                    }
                }
            }
        }
        parts.into_iter().flat_map(|(_, v)| v).collect()
    }

    fn call(
        &mut self,
        f: &'f Function,
        args: &'f [Expr],
        place: Option<&'f Place>,
    ) -> Vec<ir::Expr> {
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
                (Param::Value(_) | Param::Copy(..) | Param::Own(..), _) => {
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
            Param::Handle | Param::Copy(..) | Param::Own(..) => None,
        });
        for (var, value) in vars.zip(values) {
            // Pure values of locals that the helper cannot assign are named, not copied.
            if !f.vars[var.0].mutable
                && !self.has_array(&f.vars[var.0].ty)
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
        let values = self.inlined(f);
        let Some(Place::Var(var, path)) = place else {
            self.frames.pop();
            return values;
        };
        // `&mut self`: what the method left goes back to the place it was called on.
        let mut values = values;
        for v in &mut values {
            self.pin(v);
        }
        let left = match f.params.first() {
            Some(Param::Value(id)) => match self.slot(*id) {
                Slot::Kept(dest) => self.kept(&dest),
                Slot::Alias(es) => es,
            },
            _ => Vec::new(),
        };
        self.frames.pop();
        let path = projections(path);
        if let Some(spot) = self.spot(*var, &path) {
            self.write(spot, left);
        }
        values
    }

    /// A helper's body, in the frame made for it.
    fn inlined(&mut self, f: &'f Function) -> Vec<ir::Expr> {
        if f.returns_early {
            let to = self.dest(&f.result);
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
            return self.kept(&to);
        }
        let values = self.value(&f.body);
        if self.is_never(&f.body) {
            self.fill(values, &f.result)
        } else {
            values
        }
    }
}

fn projections(path: &[Projection]) -> Vec<ProjectionRef<'_>> {
    path.iter()
        .map(|s| match s {
            Projection::Field(at) => ProjectionRef::Field(*at),
            Projection::Index(e, span) => ProjectionRef::Index(e, *span),
        })
        .collect()
}
