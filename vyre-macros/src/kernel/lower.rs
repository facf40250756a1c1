//! The typed tree to IR.
//!
//! A value becomes a list of scalar expressions (a tuple is flat, unit is empty). An IR expression is evaluated where
//! the statement that holds it stands, left to right, and assigns nothing. So an operand that needs statements (a
//! block, an `if`, an inlined call) puts them out first, and the operands before it are moved to locals ahead of those
//! statements unless nothing can tell the difference ([`Lowerer::operands`]).

mod cell;
mod flow;
mod loops;
mod matching;
mod memory;
mod place;
mod scalar;
mod tree;
mod value;

use super::hir::{
    Arm, CellField, CsrCall, Expr, Function, Handle, ItemField, Kind, LoopId, Origin, Param, Pat,
    Place, Projection, Role, Source, Stmt, Test, VarId,
};
use super::methods::Code;
use super::param::ParamKind;
use super::types::{RowOf, Ty, is_float, is_int, is_signed};
use crate::report::Report;
use crate::tables::{Home, Tables, entry};
use proc_macro2::{Span, TokenStream};
use quote::quote;
use std::rc::Rc;
use vyre_core::compile::ir::build::{self, RowOp};
use vyre_core::compile::ir::{
    self, ArrayId, AtomicOp, BinaryOp, CompareOp, CsrQuery, ItemLocals, LocalId, UnaryOp,
};
use vyre_core::vir0::module::{BufferId, ConstantId, SiteId, TopologyId, Uniform, Width};
use vyre_core::vir0::scalar::Scalar;
use vyre_core::vir0::trap::TrapKind;

use place::{Dest, ProjectionRef};
use scalar::{
    binary, cast, cast_ir, compare, compare_wholes, int_literal, narrow, negate, register, to_u32,
    widen,
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
        cell: cell::CellLocals::default(),
        own_rows: Vec::new(),
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
    let block = l.with_cell(block);
    let block = l.with_own_rows(block);
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
        cell: cell::CellLocals::default(),
        own_rows: Vec::new(),
        out: Vec::new(),
        frames: Vec::new(),
        loops: 0,
        calls: 0,
        fault: None,
        depth: f.depth,
    };
    let any = f.handles.iter().map(|h| h.map(ParamKind::any));
    l.frames.push(Frame::new(f, any.collect()));
    l.inlined(f);
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
    handles: Vec<Option<ParamKind>>,
    /// Per loop of the function: how many IR loops are outside it, and where a break's value goes.
    loops: Vec<Option<(u32, Dest)>>,
    /// Where `return` goes in a helper that returns early.
    result: Option<(u32, Dest)>,
}

impl<'f> Frame<'f> {
    fn new(f: &'f Function, handles: Vec<Option<ParamKind>>) -> Frame<'f> {
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
    cell: cell::CellLocals,
    own_rows: Vec<memory::OwnRow>,
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

    fn binding(&mut self, h: Handle) -> Option<ParamKind> {
        match h {
            Handle::Bound(b) => Some(b),
            Handle::Param(i) => self.frame().handles.get(i).copied().flatten(),
        }
    }

    fn buffer(&mut self, h: Handle) -> (BufferId, Scalar) {
        match self.binding(h) {
            Some(
                ParamKind::Buf { buffer, scalar }
                | ParamKind::AtomicBuf { buffer, scalar }
                | ParamKind::Own { buffer, scalar, .. },
            ) => (buffer, scalar),
            Some(
                ParamKind::Rows { values, scalar, .. }
                | ParamKind::OwnValues { values, scalar, .. },
            ) => (values, scalar),
            Some(ParamKind::Arrays { buffer, scalar, .. }) => (buffer, scalar),
            // All of its buffers have one length.
            Some(ParamKind::Records { first, .. }) => (first, Scalar::U32),
            _ => {
                self.fault("a buffer is expected");
                (BufferId(0), Scalar::U32)
            }
        }
    }

    fn graph(&mut self, h: Handle) -> TopologyId {
        match self.binding(h) {
            Some(ParamKind::Csr(t)) => t,
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
}

fn projections(path: &[Projection]) -> Vec<ProjectionRef<'_>> {
    path.iter()
        .map(|s| match s {
            Projection::Field(at) => ProjectionRef::Field(*at),
            Projection::Index(e, span) => ProjectionRef::Index(e, *span),
        })
        .collect()
}
