//! Expressions: values, operators, constants, structs and calls.

use super::*;

impl<'f> Lowerer<'_, 'f> {
    pub(super) fn value(&mut self, e: &'f Expr) -> Vec<ir::Expr> {
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
                Some(ParamKind::Edge) => self.item(*f),
                _ => {
                    self.fault("an edge is expected");
                    return Vec::new();
                }
            },
            Kind::CellField(h, field) => {
                let Some(sides) = self.sides(*h) else {
                    return Vec::new();
                };
                self.cell(sides, *field, e.span)
            }
            Kind::CellAt(h, by, site) => {
                let Some(sides) = self.sides(*h) else {
                    return Vec::new();
                };
                self.cell_at(sides, by, *site)
            }
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
            Kind::CompareExchange(place, expected, new) => self.exchange(place, expected, new),
            Kind::CompareAndSwap(place, expected, new) => {
                let exchange = self.exchange(place, expected, new);
                let site = SiteId(0);
                build::Sequence::new(&mut self.locals, &mut self.out, site)
                    .compare_and_swap(exchange)
            }
            Kind::Append { list, value, site } => {
                let fields = self.record_fields(value);
                let Some(ParamKind::Append(list)) = self.binding(*list) else {
                    self.fault("a list is expected");
                    return Vec::new();
                };
                let site = self.site(*site);
                ir::Expr::Append { list, fields, site }
            }
            Kind::Insert {
                relation,
                value,
                site,
            } => {
                let fields = self.record_fields(value);
                let Some(ParamKind::Insert(list, table, _)) = self.binding(*relation) else {
                    self.fault("a relation is expected");
                    return Vec::new();
                };
                let site = self.site(*site);
                ir::Expr::Insert {
                    list,
                    table,
                    fields,
                    site,
                }
            }
            Kind::Contains {
                relation,
                value,
                site,
            } => {
                let fields = self.record_fields(value);
                let Some(ParamKind::Lookup(_, table, _)) = self.binding(*relation) else {
                    self.fault("a relation is expected");
                    return Vec::new();
                };
                let site = self.site(*site);
                ir::Expr::Contains {
                    table,
                    fields,
                    site,
                }
            }
            Kind::Rows { .. } => return self.bits(e, true).into_iter().collect(),
            Kind::Len(h) => self.len(*h, e.span),
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
            Kind::Row { graph, of, site } => {
                let of = self.scalar(of);
                let of = self.leaf(of);
                let topology = self.graph(*graph);
                let site = self.site(*site);
                let ask = |query| ir::Expr::Csr {
                    query,
                    topology,
                    of: Box::new(of.clone()),
                    site,
                };
                return vec![ask(CsrQuery::Begin), ask(CsrQuery::End)];
            }
            Kind::RowOf { rows, of, site } => return self.row_of(*rows, of, *site),
            Kind::OwnValues(h) => return self.own_values(*h, e.span).to_vec(),
            Kind::RowCount(rows) => self.row_count(*rows),
            Kind::RowLen(row) => {
                let [begin, end] = self.row(row);
                binary(BinaryOp::Sub, Scalar::U32, end, begin)
            }
            Kind::RowAt(row, at, site) => return self.row_at(row, at, *site),
            Kind::RowPart(row, from, to, site) => return self.row_part(row, (from, to), *site),
            Kind::AddWithCarry(a, b, carry) => return self.with_carry(a, b, carry.as_deref()),
            Kind::Settled(h) => {
                let Some(ParamKind::Relation(l)) = self.binding(*h) else {
                    self.fault("a relation is expected");
                    return Vec::new();
                };
                let len = ir::Expr::Uniform(Uniform::Len(l.into()), Scalar::U32);
                let began = ir::Expr::Uniform(Uniform::Began(l), Scalar::U32);
                compare(CompareOp::Eq, Scalar::U32, len, began)
            }
            Kind::FrontierLen(h, empty) => match self.binding(*h) {
                Some(kind @ (ParamKind::Queue(_) | ParamKind::Relation(_))) => {
                    let q = match kind {
                        ParamKind::Relation(l) => l.into(),
                        ParamKind::Queue(q) => q,
                        _ => unreachable!("it is one of these"),
                    };
                    let len = ir::Expr::Uniform(Uniform::Len(q), Scalar::U32);
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
                let (x, y) = self.wholes(a, b);
                compare_wholes(*op, &self.parts(&a.ty), x, y)
            }
            Kind::Compare(op, a, b) => {
                // Whether it stored: a claim, as `compare_exchange` is one, and half the words.
                let claim = claim_of(a, b).or_else(|| claim_of(b, a));
                if let (CompareOp::Eq, Some((place, expected, new))) = (op, claim) {
                    return vec![self.exchange(place, expected, new)];
                }
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
            Kind::Method(Code::Binary(op @ (BinaryOp::Min | BinaryOp::Max)), args, _)
                if let ([a, b], Ty::Tuple(_)) = (&args[..], self.ty(&e.ty)) =>
            {
                return self.extreme(*op, a, b);
            }
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
            | Kind::File { .. }
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
    pub(super) fn is_never(&self, e: &Expr) -> bool {
        match &e.kind {
            Kind::Block(b) => b.ends || b.tail.as_ref().is_some_and(|t| self.is_never(t)),
            Kind::If(_, then, Some(otherwise)) => self.is_never(then) && self.is_never(otherwise),
            _ => self.ty(&e.ty) == Ty::Never,
        }
    }

    /// Two tuples, structs or arrays by their parts, which are free to repeat.
    fn wholes(&mut self, a: &'f Expr, b: &'f Expr) -> (Vec<ir::Expr>, Vec<ir::Expr>) {
        let mut both = self.operands(&[a, b]).into_iter();
        let mut parts = |l: &mut Self| -> Vec<ir::Expr> {
            let parts = both.next().unwrap_or_default().into_iter();
            parts.map(|part| l.leaf(part)).collect()
        };
        (parts(self), parts(self))
    }

    /// `a.min(b)` or `a.max(b)` of tuples.
    fn extreme(&mut self, op: BinaryOp, a: &'f Expr, b: &'f Expr) -> Vec<ir::Expr> {
        let scalars = self.parts(&a.ty);
        let (x, y) = self.wholes(a, b);
        let before = match op {
            BinaryOp::Min => CompareOp::Lt,
            _ => CompareOp::Gt,
        };
        let mut second = compare_wholes(before, &scalars, y.clone(), x.clone());
        self.pin(&mut second);
        let either = x.into_iter().zip(y).zip(scalars);
        let either = either.map(|((x, y), s)| ir::Expr::Select {
            scalar: register(s),
            cond: Box::new(second.clone()),
            then: Box::new(y),
            otherwise: Box::new(x),
        });
        either.collect()
    }

    pub(super) fn float_literal(&mut self, s: Scalar, digits: &str) -> ir::Expr {
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
    pub(super) fn constant(&mut self, value: TokenStream, s: Scalar) -> ir::Expr {
        let id = self.constant_id(&value, s);
        widen(s, ir::Expr::Uniform(Uniform::Constant(id), s))
    }

    pub(super) fn path_from_here(&self, path: &TokenStream) -> TokenStream {
        let elsewhere = self.frames.iter().any(|f| f.f.origin.is_some());
        if elsewhere || !self.f().inside.is_empty() {
            return path.clone();
        }
        self.path_from(path, self.f().depth)
    }

    /// A path in a module of this depth, from the module that it is inlined into.
    pub(super) fn path_from(&self, path: &TokenStream, depth: usize) -> TokenStream {
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

    pub(super) fn unary(&mut self, op: UnaryOp, inner: &'f Expr) -> ir::Expr {
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
    pub(super) fn binary(
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

    pub(super) fn logic(&mut self, or: bool, a: &'f Expr, b: &'f Expr) -> ir::Expr {
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

    pub(super) fn cast(&mut self, inner: &'f Expr, ty: &Ty) -> ir::Expr {
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
    pub(super) fn structure(
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

    pub(super) fn call(
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
    pub(super) fn inlined(&mut self, f: &'f Function) -> Vec<ir::Expr> {
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
            self.leave_short(block);
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

/// The exchange in `d[i].compare_and_swap(expected, new) == expected`, where what is expected is the same both times,
/// whatever happens between.
fn claim_of<'f>(swap: &'f Expr, expected: &Expr) -> Option<(&'f Expr, &'f Expr, &'f Expr)> {
    let Kind::CompareAndSwap(place, first, new) = &swap.kind else {
        return None;
    };
    let same = match (&first.kind, &expected.kind) {
        (Kind::Int(a), Kind::Int(b)) => a == b,
        (Kind::Bits(a), Kind::Bits(b)) => a == b,
        (Kind::Constant(a), Kind::Constant(b)) => a.to_string() == b.to_string(),
        (Kind::Uniform(a), Kind::Uniform(b)) => a == b,
        _ => false,
    };
    same.then_some((&**place, &**first, &**new))
}
