//! Loops: endless ones, labelled blocks, `for` over ranges, neighbours and lists, and their counters.

use super::*;
use vyre_core::vir0::table::Index;

impl<'f> Lowerer<'_, 'f> {
    pub(super) fn enter(&mut self, id: LoopId, to: Dest) -> u32 {
        let at = self.loops;
        self.loops += 1;
        let loops = &mut self.frame().loops;
        if loops.len() <= id.0 {
            loops.resize(id.0 + 1, None);
        }
        loops[id.0] = Some((at, to));
        at
    }

    /// A loop of the source, with its body.
    pub(super) fn leave_loop(&mut self, id: LoopId, body: ir::Block) {
        self.loops -= 1;
        let short = !self.f().counting.contains(&id);
        self.emit(ir::Stmt::Loop { body, short });
    }

    /// A loop that is not in the source.
    pub(super) fn leave_short(&mut self, body: ir::Block) {
        self.loops -= 1;
        self.emit(ir::Stmt::Loop { body, short: true });
    }

    pub(super) fn outward(&self, at: u32) -> u32 {
        self.loops - 1 - at
    }

    /// Leaves the loop at `at` unless the condition holds.
    pub(super) fn break_unless(&mut self, cond: &'f Expr, at: u32) {
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

    pub(super) fn break_if(&mut self, cond: ir::Expr, at: u32) {
        let depth = self.outward(at);
        self.emit(ir::Stmt::If {
            cond,
            then: vec![ir::Stmt::Break { depth }],
            otherwise: Vec::new(),
        });
    }

    pub(super) fn endless(&mut self, id: LoopId, body: &'f Expr, ty: &Ty) -> Vec<ir::Expr> {
        let to = self.dest(ty);
        self.enter(id, to.clone());
        let (block, ()) = self.block(|l| l.discard(body));
        self.leave_loop(id, block);
        self.kept(&to)
    }

    pub(super) fn labelled(&mut self, id: LoopId, body: &'f Expr, ty: &Ty) -> Vec<ir::Expr> {
        let to = self.dest(ty);
        self.enter(id, to.clone());
        let (block, ()) = self.block(|l| {
            let values = l.value(body);
            if !l.is_never(body) {
                l.assign(&to, values);
                l.emit(ir::Stmt::Break { depth: 0 });
            }
        });
        self.leave_loop(id, block);
        self.kept(&to)
    }

    pub(super) fn for_loop(
        &mut self,
        id: LoopId,
        var: Option<VarId>,
        source: &'f Source,
        body: &'f Expr,
    ) {
        let (s, counter, last, up) = match source {
            Source::Range {
                start,
                end,
                inclusive,
                reversed,
                step,
            } => {
                let s = self.scalar_of(&start.ty);
                if let Some((by, at)) = step {
                    let range = (&**start, &**end, *inclusive, *reversed);
                    return self.stepped(id, var, range, (by, *at), body);
                }
                let (a, b) = self.pair(start, end);
                let small = |e: &ir::Expr| matches!(e, ir::Expr::Literal(_, v) if *v < 1 << 31);
                if self.ty(&start.ty) == Ty::Size
                    && !inclusive
                    && !reversed
                    && small(&a)
                    && small(&b)
                    && let Some(var) = var
                    && !self.f().vars[var.0].mutable
                {
                    return self.small_counter(id, var, (a, b), body);
                }
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
            Source::Ones { rows, of, site } => {
                return self.ones(id, var, (*rows, &**of, *site), body);
            }
            Source::With {
                relation,
                columns,
                of,
                site,
            } => return self.with(id, var, (*relation, columns, of, *site), body),
            Source::Row {
                from,
                of,
                what: RowOf::Values(_),
                site,
            } => {
                let mut ends = self.row_of(*from, of, *site).into_iter();
                let mut next = || ends.next().unwrap_or(ir::Expr::Literal(Scalar::U32, 0));
                let (begin, end) = (next(), next());
                let first = self.counter(Scalar::U32, begin);
                let end = self.bound(end);
                (Scalar::U32, first, end, true)
            }
            Source::Row {
                from,
                of,
                what: RowOf::Edges | RowOf::Neighbors,
                site,
            } => {
                let of = self.scalar(of);
                let of = self.leaf(of);
                let topology = self.graph(*from);
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
        let target = match source {
            Source::Row {
                from, what, site, ..
            } if *what != RowOf::Edges => Some((*from, *what, *site)),
            _ => None,
        };
        self.counted(id, var, (s, counter, last, up), target, body);
    }

    /// A loop over the bits that are set in a row.
    fn ones(
        &mut self,
        id: LoopId,
        var: Option<VarId>,
        (rows, of, site): (Handle, &'f Expr, Span),
        body: &'f Expr,
    ) {
        let of = self.scalar(of);
        let rows = self.rows(rows);
        let site = self.site(site);
        let mut s = build::Sequence::new(&mut self.locals, &mut self.out, site);
        let (head, bit) = rows.ones(&mut s, of);
        self.enter(id, Dest::unit());
        let (block, ()) = self.block(|l| {
            l.out = head;
            if let Some(var) = var {
                l.bind(var, vec![ir::Expr::Local(bit)]);
            }
            l.discard(body);
        });
        self.leave_loop(id, block);
    }

    /// A loop over the tuples of a relation that have these columns.
    fn with(
        &mut self,
        id: LoopId,
        var: Option<VarId>,
        (relation, columns, of, site): (Handle, &'f [(usize, Expr)], &Ty, Span),
        body: &'f Expr,
    ) {
        let fields = self.parts(of);
        let all: Vec<&Expr> = columns.iter().map(|(_, value)| value).collect();
        let values = self.operands(&all).into_iter();
        let mut given = Vec::with_capacity(columns.len());
        for ((position, e), values) in columns.iter().zip(values) {
            let mut value = self.single(values, &e.ty);
            if fields.get(*position) == Some(&Scalar::U8) {
                value = cast_ir(Scalar::U32, Scalar::U8, value);
            }
            given.push((*position, value));
        }
        let positions: Vec<usize> = columns.iter().map(|(position, _)| *position).collect();
        let mask = Index::mask(&fields, &positions);
        let index = match self.binding(relation) {
            Some(ParamKind::Insert(.., all) | ParamKind::Lookup(.., all)) => {
                all.iter().find(|i| i.mask == mask).copied()
            }
            _ => None,
        };
        let Some(index) = index else {
            self.fault("a relation with this index is expected");
            return;
        };
        let site = self.site(site);
        let mut s = build::Sequence::new(&mut self.locals, &mut self.out, site);
        let (head, scalars) = index.with(&mut s, given, &fields);
        self.enter(id, Dest::unit());
        let (block, ()) = self.block(|l| {
            l.out = head;
            if let Some(var) = var {
                l.bind(var, scalars.into_iter().map(ir::Expr::Local).collect());
            }
            l.discard(body);
        });
        self.leave_loop(id, block);
    }

    /// A loop whose counter moves by one towards `last`. The body sees the counter, or with a `target` what is there in
    /// all rows: the node that an edge of the topology leads to, or a value.
    fn counted(
        &mut self,
        id: LoopId,
        var: Option<VarId>,
        (s, counter, last, up): (Scalar, LocalId, ir::Expr, bool),
        target: Option<(Handle, RowOf, Span)>,
        body: &'f Expr,
    ) {
        let reg = register(s);
        let one = int_literal(s, 1);
        let now = ir::Expr::Local(counter);
        let at = self.enter(id, Dest::unit());
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
            if let (Some(var), Some(at), Some((from, what, site))) = (var, item, target) {
                let site = l.site(site);
                let value = l.in_rows((from, what), at, site);
                l.bind(var, vec![value]);
            }
            l.discard(body);
        });
        self.leave_loop(id, block);
    }

    /// A `usize` that counts between small literals: half as wide, widened where it is used.
    pub(super) fn small_counter(
        &mut self,
        id: LoopId,
        var: VarId,
        (a, b): (ir::Expr, ir::Expr),
        body: &'f Expr,
    ) {
        let narrow = |e: ir::Expr| match e {
            ir::Expr::Literal(_, v) => ir::Expr::Literal(Scalar::U32, v),
            other => other,
        };
        let s = Scalar::U32;
        let (counter, item) = (self.counter(s, narrow(a)), self.temp(s));
        let at = self.enter(id, Dest::unit());
        let (block, ()) = self.block(|l| {
            let now = ir::Expr::Local(counter);
            let more = compare(CompareOp::Lt, s, now.clone(), narrow(b));
            l.break_if(negate(more), at);
            l.emit(ir::Stmt::Assign(item, now.clone()));
            l.emit(ir::Stmt::Assign(
                counter,
                binary(BinaryOp::Add, s, now, int_literal(s, 1)),
            ));
            let wide = cast_ir(s, Scalar::U64, ir::Expr::Local(item));
            l.frame().vars[var.0] = Some(Slot::Alias(vec![wide]));
            l.discard(body);
        });
        self.leave_loop(id, block);
    }

    /// `.step_by(n)`: a flag tells the last turn apart, for the counter may not reach beyond its type's end.
    pub(super) fn stepped(
        &mut self,
        id: LoopId,
        var: Option<VarId>,
        (start, end, inclusive, reversed): (&'f Expr, &'f Expr, bool, bool),
        (by, at): (&'f Expr, Span),
        body: &'f Expr,
    ) {
        let s = self.scalar_of(&start.ty);
        let reg = register(s);
        let mut values = self.operands(&[start, end, by]).into_iter();
        let mut next = |l: &mut Self, e: &Expr| {
            let value = values.next().unwrap_or_default();
            let value = l.single(value, &e.ty);
            l.bound(value)
        };
        let (a, b, by) = (next(self, start), next(self, end), next(self, by));
        if !matches!(by, ir::Expr::Literal(_, n) if n > 0) {
            let site = self.site(at);
            self.emit(ir::Stmt::Assert {
                cond: compare(
                    CompareOp::Ne,
                    Scalar::U64,
                    by.clone(),
                    ir::Expr::Literal(Scalar::U64, 0),
                ),
                kind: TrapKind::Assert,
                site,
            });
        }
        let less = if inclusive {
            CompareOp::Le
        } else {
            CompareOp::Lt
        };
        let done = self.temp(Scalar::Bool);
        let any = compare(less, reg, a.clone(), b.clone());
        self.emit(ir::Stmt::Assign(done, negate(any)));
        let one = int_literal(s, 1);
        // The first item, the last possible one, and what lies between them.
        let (first, last) = match (reversed, inclusive) {
            (false, true) => (a, b),
            (false, false) => (a, binary(BinaryOp::Sub, reg, b, one)),
            (true, true) => (b, a),
            (true, false) => (binary(BinaryOp::Sub, reg, b, one), a),
        };
        let counter = self.counter(s, first);
        let last = self.bound(last);
        let label = self.enter(id, Dest::unit());
        let (block, ()) = self.block(|l| {
            l.break_if(ir::Expr::Local(done), label);
            let now = ir::Expr::Local(counter);
            if let Some(var) = var {
                l.bind(var, vec![now.clone()]);
            }
            let (high, low) = if reversed {
                (now.clone(), last.clone())
            } else {
                (last.clone(), now.clone())
            };
            let wide = match reg.rows() {
                2 => Scalar::U64,
                _ => Scalar::U32,
            };
            let left = cast(reg, wide, binary(BinaryOp::Sub, reg, high, low));
            let left = cast_ir(wide, Scalar::U64, left);
            let over = compare(CompareOp::Lt, Scalar::U64, left, by.clone());
            l.emit(ir::Stmt::Assign(done, over));
            let by = match &by {
                ir::Expr::Literal(_, n) => int_literal(s, u128::from(*n)),
                other => cast(Scalar::U64, s, other.clone()),
            };
            let op = if reversed {
                BinaryOp::Sub
            } else {
                BinaryOp::Add
            };
            l.emit(ir::Stmt::Assign(counter, binary(op, reg, now, by)));
            l.discard(body);
        });
        self.leave_loop(id, block);
    }

    /// `a..=b`: the last turn is told apart by a flag, for `b` may be the type's largest value.
    pub(super) fn inclusive(
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
        let at = self.enter(id, Dest::unit());
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
        self.leave_loop(id, block);
    }

    pub(super) fn counter(&mut self, s: Scalar, start: ir::Expr) -> LocalId {
        let local = self.temp(s);
        self.emit(ir::Stmt::Assign(local, start));
        local
    }

    /// A loop's bound, evaluated once.
    pub(super) fn bound(&mut self, mut e: ir::Expr) -> ir::Expr {
        if !matches!(e, ir::Expr::Literal(..) | ir::Expr::Uniform(..)) {
            self.pin(&mut e);
        }
        e
    }
}
