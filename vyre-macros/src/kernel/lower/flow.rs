//! Statements, branches and loops.

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
                    Some(Binding::PushItems(frontier)) => {
                        let fields = self.record_fields(value);
                        let site = self.site(*site);
                        return self.emit(ir::Stmt::PushItem {
                            frontier,
                            fields,
                            site,
                        });
                    }
                    Some(Binding::Push(frontier)) => frontier,
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

    pub(super) fn matching(&mut self, value: &'f Expr, arms: &'f [Arm], ty: &Ty) -> Vec<ir::Expr> {
        let to = self.dest(ty);
        self.match_arms(value, arms, &to);
        self.kept(&to)
    }

    pub(super) fn match_arms(&mut self, value: &'f Expr, arms: &'f [Arm], to: &Dest) {
        let mut parts = self.value(value);
        if self.is_never(value) {
            return;
        }
        // Copies of their own: an arm may assign the variable that is matched.
        for v in &mut parts {
            if !matches!(v, ir::Expr::Literal(..) | ir::Expr::Uniform(..)) {
                self.pin(v);
            }
        }
        let ty = self.ty(&value.ty);
        let value = Matched { parts, ty };
        self.arms(&value, arms, to);
    }

    /// Arms whose guards cost nothing form a chain; a guard that needs statements starts a nested one.
    fn arms(&mut self, v: &Matched, arms: &'f [Arm], to: &Dest) {
        let mut conds = Vec::new();
        let mut bodies = Vec::new();
        for (i, arm) in arms.iter().enumerate() {
            for (id, path) in &arm.binds {
                let part = self.matched_part(v, path);
                self.bind(*id, part.parts);
            }
            let test = self.test(v, &arm.test);
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
                let (rest, ()) = self.block(|l| l.guarded_arm(v, (test, stmts, g), &arms[i..], to));
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
        v: &Matched,
        (test, stmts, guard): (Option<ir::Expr>, ir::Block, ir::Expr),
        arms: &'f [Arm],
        to: &Dest,
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
        let (otherwise, ()) = self.block(|l| l.arms(v, &arms[1..], to));
        self.emit_if(cond, then, otherwise);
    }

    /// A part of a matched value, by positions of fields.
    fn matched_part(&mut self, v: &Matched, path: &[usize]) -> Matched {
        let mut v = v.clone();
        for &at in path {
            let tys = v.ty.fields().unwrap_or_default();
            let start: usize = tys.iter().take(at).map(|t| self.parts(t).len()).sum();
            let Some(ty) = tys.into_iter().nth(at) else {
                self.fault("no such field");
                return v;
            };
            let n = self.parts(&ty).len();
            let parts = v.parts.into_iter().skip(start).take(n).collect();
            v = Matched { parts, ty };
        }
        v
    }

    /// A chain that ends in statements.
    pub(super) fn chain_then(
        &mut self,
        conds: &[ir::Expr],
        bodies: &[&'f Expr],
        rest: ir::Block,
        to: &Dest,
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

    pub(super) fn arm_body(&mut self, body: &'f Expr, to: &Dest) {
        if to.leaves.is_empty() {
            return self.discard(body);
        }
        let values = self.value(body);
        if !self.is_never(body) {
            self.assign(to, values);
        }
    }

    /// Whether a pattern matches; `None` when it always does.
    fn test(&mut self, v: &Matched, t: &'f Test) -> Option<ir::Expr> {
        let (v, s) = match t {
            Test::Any => return None,
            Test::Either(tests) => {
                let tests: Vec<_> = tests.iter().map(|t| self.test(v, t)).collect();
                let tests: Option<Vec<_>> = tests.into_iter().collect();
                return tests?
                    .into_iter()
                    .reduce(|a, b| binary(BinaryOp::Or, Scalar::Bool, a, b));
            }
            Test::Fields(tests) => {
                return tests
                    .iter()
                    .enumerate()
                    .filter_map(|(at, t)| {
                        let part = self.matched_part(v, &[at]);
                        self.test(&part, t)
                    })
                    .reduce(|a, b| binary(BinaryOp::And, Scalar::Bool, a, b));
            }
            Test::Equal(_) | Test::Within(..) => {
                let s = self.scalar_of(&v.ty);
                let part = v.parts.first()?;
                (part.clone(), register(s))
            }
        };
        match t {
            Test::Any | Test::Either(_) | Test::Fields(_) => None,
            Test::Equal(e) => {
                let e = self.scalar(e);
                Some(compare(CompareOp::Eq, s, v, e))
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

    pub(super) fn leave_loop(&mut self, body: ir::Block) {
        self.loops -= 1;
        self.emit(ir::Stmt::Loop { body });
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
        self.leave_loop(block);
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
        self.leave_loop(block);
        self.kept(&to)
    }

    pub(super) fn for_loop(
        &mut self,
        id: LoopId,
        var: Option<VarId>,
        source: &'f Source,
        body: &'f Expr,
    ) {
        // `step` moves on to the next turn; `item` is what the body sees of the counter.
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
                let of = self.scalar(of);
                let rows = self.rows(*rows);
                let site = self.site(*site);
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
                return self.leave_loop(block);
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

    /// A `usize` that counts between small literals: half as wide, widened where it is used.
    fn small_counter(
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
        self.leave_loop(block);
    }

    /// `.step_by(n)`: a flag tells the last turn apart, for the counter may not reach beyond its type's end.
    fn stepped(
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
        self.leave_loop(block);
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
        self.leave_loop(block);
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

/// A value that is matched: its parts, free to repeat.
#[derive(Clone)]
pub(super) struct Matched {
    parts: Vec<ir::Expr>,
    ty: Ty,
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
