//! Statements and branches.

use super::*;

impl<'f> Lowerer<'_, 'f> {
    /// Statements up to the first that does not come back; whether all do.
    pub(super) fn stmts(&mut self, stmts: &'f [Stmt]) -> bool {
        stmts.iter().all(|s| {
            self.stmt(s);
            match s {
                Stmt::Let(_, Some(e)) | Stmt::Expr(e) => !self.is_never(e),
                Stmt::Let(_, None) => true,
            }
        })
    }

    pub(super) fn stmt(&mut self, s: &'f Stmt) {
        match s {
            Stmt::Let(_, None) => {}
            Stmt::Let(pat, Some(e)) => {
                let value = self.value(e);
                if self.is_never(e) {
                    return;
                }
                self.bind_pattern(pat, &e.ty, value);
                if let Pat::Var(id) = pat
                    && !self.f().vars[id.0].mutable
                {
                    self.frame().lets[id.0] = Some(e);
                }
            }
            Stmt::Expr(e) => self.discard(e),
        }
    }

    /// An expression whose value is not used.
    pub(super) fn discard(&mut self, e: &'f Expr) {
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
            // What was there is not asked for.
            Kind::CompareAndSwap(place, expected, new) => {
                let exchange = self.exchange(place, expected, new);
                self.emit(ir::Stmt::Eval(exchange));
            }
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
                let frontier = match self.binding(*frontier) {
                    Some(ParamKind::PushItems(frontier)) => {
                        let fields = self.record_fields(value);
                        let site = self.site(*site);
                        return self.emit(ir::Stmt::PushItem {
                            frontier,
                            fields,
                            site,
                        });
                    }
                    Some(ParamKind::Push(frontier)) => frontier,
                    _ => return self.fault("a frontier is expected"),
                };
                let value = self.scalar(value);
                let site = self.site(*site);
                self.emit(ir::Stmt::Push {
                    frontier,
                    value,
                    site,
                });
            }
            Kind::File { index, value, site } => {
                let fields = self.record_fields(value);
                let Some(ParamKind::Filing(index)) = self.binding(*index) else {
                    return self.fault("an index is expected");
                };
                let site = self.site(*site);
                self.emit(ir::Stmt::File {
                    index,
                    fields,
                    site,
                });
            }
            Kind::Reduce(handle, value) => {
                let value = value.as_ref().map(|v| self.scalar(v));
                let Some(ParamKind::Reduce { id, scalar, .. }) = self.binding(*handle) else {
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
                let at = self.site(*site);
                self.tables.say(at, message);
                self.assert(cond, *debug, at);
            }
            Kind::Panic(span, message) => {
                let site = self.site(*span);
                self.tables.say(site, message);
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
                let at = self.enter(*id, Dest::unit());
                let (block, ()) = self.block(|l| {
                    l.break_unless(cond, at);
                    l.discard(body);
                });
                self.leave_loop(*id, block);
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
            Kind::Rows { .. } => {
                if let Some(value) = self.bits(e, false) {
                    self.drop_value(value);
                }
            }
            Kind::Match(value, arms) => {
                self.match_arms(value, arms, &Dest::unit());
            }
            _ => {
                for value in self.value(e) {
                    self.drop_value(value);
                }
            }
        }
    }

    /// Ends the item, or the condition's evaluation, after a trap.
    pub(super) fn leave(&mut self) {
        if self.frames[0].f.role != Role::Condition {
            self.emit(ir::Stmt::Return);
        }
    }

    fn assert(&mut self, cond: &'f Expr, debug: bool, site: SiteId) {
        let kind = TrapKind::Assert;
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

    /// A place that is worked out after a value, whose faults come first.
    fn beside_value(
        &mut self,
        value: ir::Expr,
        place: impl FnOnce(&mut Self) -> ir::Expr,
    ) -> (ir::Expr, ir::Expr) {
        let value = match is_pure(&value) {
            true => value,
            false => self.leaf(value),
        };
        let before = self.out.len();
        let mut values = [vec![value]];
        let place = place(self);
        self.keep_order(before, &mut values);
        let [value] = values.map(|v| v.into_iter().next());
        let none = ir::Expr::Literal(Scalar::U32, 0);
        (place, value.unwrap_or(none))
    }

    /// The value was computed before the place.
    pub(super) fn store(&mut self, place: &'f Place, values: Vec<ir::Expr>, span: Span) {
        match place {
            Place::Var(var, path) => {
                let before = self.out.len();
                let mut values = [values];
                let Some(spot) = self.spot(*var, &projections(path)) else {
                    return self.fault("a variable is assigned twice");
                };
                self.keep_order(before, &mut values);
                let [values] = values;
                self.write(spot, values);
            }
            Place::InRow(row, at, site) => {
                let Some(value) = values.into_iter().next() else {
                    return;
                };
                let (index, value) = self.beside_value(value, |l| l.in_own_row(*row, at, *site));
                self.store_in_row(*row, (index, value), *site);
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
    pub(super) fn assign_op(
        &mut self,
        op: BinaryOp,
        place: &'f Place,
        value: &'f Expr,
        span: Span,
    ) {
        let y = self.scalar(value);
        if self.is_never(value) {
            return;
        }
        let ty = self.scalar_of(&value.ty);
        let (x, s) = match place {
            Place::Var(var, path) => {
                let before = self.out.len();
                let mut values = [vec![y]];
                let Some(mut spot) = self.spot(*var, &projections(path)) else {
                    return self.fault("a variable is assigned twice");
                };
                let s = match spot.ty() {
                    Ty::Scalar(s) => *s,
                    Ty::Size => Scalar::U64,
                    _ => return self.fault("a scalar is expected"),
                };
                self.keep_order(before, &mut values);
                let [mut y] = values.map(|v| v.into_iter().next());
                if spot.in_array() {
                    if let Some(y) = &mut y {
                        self.pin(y);
                    }
                    self.name_index(&mut spot);
                }
                let (Some(x), Some(y)) = (self.read(&spot).into_iter().next(), y) else {
                    return self.fault("a scalar is expected");
                };
                let result = self.binary(op, s, x, (y, ty), span);
                return self.write(spot, vec![result]);
            }
            Place::InRow(row, at, site) => {
                let (index, y) = self.beside_value(y, |l| l.in_own_row(*row, at, *site));
                let y = self.leaf(y);
                let (buffer, s) = self.buffer(*row);
                let load = ir::Expr::Load {
                    buffer,
                    scalar: s,
                    index: Box::new(index.clone()),
                    site: self.site(*site),
                };
                let result = self.binary(op, s, widen(s, load), (y, ty), span);
                return self.store_in_row(*row, (index, result), *site);
            }
            Place::Own(h) => {
                let s = self.buffer(*h).1;
                (self.load_own(*h, span), s)
            }
        };
        // The tree would read the place before the right side; that shows only where the right side acts or faults.
        let y = if is_pure(&y) { y } else { self.leaf(y) };
        let result = self.binary(op, s, x, (y, ty), span);
        self.store(place, vec![result], span);
    }

    pub(super) fn if_stmt(&mut self, cond: &'f Expr, then: &'f Expr, otherwise: Option<&'f Expr>) {
        if otherwise.is_none_or(is_empty_block) {
            let mut tests = Vec::new();
            conjuncts(cond, &mut tests);
            let first = self.scalar(tests[0]);
            return self.guarded(first, &tests[1..], then);
        }
        self.if_chain(cond, then, otherwise, &Dest::unit());
    }

    /// `if c {} else if d {} else {}`, as far as the conditions cost nothing to compute early.
    pub(super) fn if_chain(
        &mut self,
        cond: &'f Expr,
        then: &'f Expr,
        otherwise: Option<&'f Expr>,
        to: &Dest,
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
    pub(super) fn chain(
        &mut self,
        conds: &[ir::Expr],
        bodies: &[&'f Expr],
        rest: Option<&'f Expr>,
        to: &Dest,
    ) {
        let Some((first, others)) = conds.split_first() else {
            if let Some(e) = rest {
                self.arm_body(e, to);
            }
            return;
        };
        if conds.len() > LINEAR {
            let half = conds.len() / 2;
            let any = any_of(conds[..half].to_vec());
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

    pub(super) fn emit_if(&mut self, cond: ir::Expr, then: ir::Block, otherwise: ir::Block) {
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
    pub(super) fn guarded(&mut self, mut cond: ir::Expr, rest: &[&'f Expr], then: &'f Expr) {
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

    pub(super) fn if_value(
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
            let to = self.dest(ty);
            self.if_chain(cond, then, Some(otherwise), &to);
            return self.kept(&to);
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
        let to = self.dest(ty);
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
        self.kept(&to)
    }
}

/// Whether one of these conditions holds, of which there is one at least and which cost nothing to compute early. It
/// does not nest as deeply as there are conditions: a `match` can have thousands.
pub(super) fn any_of(mut conds: Vec<ir::Expr>) -> ir::Expr {
    const SIDE_BY_SIDE: usize = 16;
    let or = |a, b| binary(BinaryOp::Or, Scalar::Bool, a, b);
    while conds.len() > SIDE_BY_SIDE {
        let mut some = Vec::new();
        let mut all = conds.into_iter();
        while let Some(first) = all.next() {
            let beside = all.by_ref().take(SIDE_BY_SIDE - 1);
            some.push(beside.fold(first, or));
        }
        conds = some;
    }
    let any = conds.into_iter().reduce(or);
    any.unwrap_or(ir::Expr::Literal(Scalar::Bool, 0))
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
