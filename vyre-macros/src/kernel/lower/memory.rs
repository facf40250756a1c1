//! Elements: the item's own, those of buffers, rows of bits and records, and atomic updates.

use super::scalar::divide;
use super::*;

/// Where the item's own row begins and ends: worked out where its body begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct OwnRow {
    offsets: BufferId,
    begin: LocalId,
    end: LocalId,
    /// Where it was first asked for.
    site: SiteId,
}

impl<'f> Lowerer<'_, 'f> {
    pub(super) fn load_own(&mut self, h: Handle, span: Span) -> ir::Expr {
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

    /// The work item, field by field, as a variable.
    pub(super) fn take_record(&mut self, var: VarId) {
        let ty = &self.f().vars[var.0].ty;
        let dest = self.dest(ty);
        for (field, leaf) in self.item.fields.iter_mut().zip(&dest.leaves) {
            if let place::Storage::Local(local) = leaf {
                *field = Some(*local);
            }
        }
        self.frame().vars[var.0] = Some(Slot::Kept(dest));
    }

    /// The variable is the item's own struct, or its own row of a buffer.
    pub(super) fn refer(&mut self, var: VarId, first: BufferId) {
        let ty = self.ty(&self.f().vars[var.0].ty);
        let scalars = self.parts(&ty);
        let leaves = match (&ty, &scalars[..]) {
            (Ty::Array(_, len), [scalar, ..]) => vec![place::Storage::Row(first, *scalar, *len)],
            _ => {
                let leaves = (first.0..).map(BufferId).zip(scalars);
                leaves.map(|(b, s)| place::Storage::Own(b, s)).collect()
            }
        };
        self.item(ItemField::Index);
        self.frame().vars[var.0] = Some(Slot::Kept(Dest { ty, leaves }));
    }

    /// How many elements a buffer has.
    pub(super) fn len(&mut self, h: Handle, span: Span) -> ir::Expr {
        let all = ir::Expr::Len(self.buffer(h).0);
        match self.binding(h) {
            Some(ParamKind::Arrays { len, .. }) if len > 1 => {
                let len = ir::Expr::Literal(Scalar::U32, len.into());
                let site = self.site(span);
                divide(BinaryOp::Div, Scalar::U32, (all, len), Some(site))
            }
            _ => all,
        }
    }

    /// Where in its buffer the array of `xs.get(i)` begins, once the index is checked.
    fn begin_of_array(&mut self, e: &'f Expr) -> Option<(BufferId, Scalar, ir::Expr, u32)> {
        let Kind::Get {
            records,
            index,
            site,
        } = &e.kind
        else {
            return None;
        };
        let Some(ParamKind::Arrays {
            buffer,
            scalar,
            len,
        }) = self.binding(*records)
        else {
            return None;
        };
        let index = self.scalar(index);
        let index = self.leaf(index);
        let (limit, site) = (self.len(*records, *site), self.site(*site));
        self.emit(ir::Stmt::CheckIndex {
            index: index.clone(),
            len: limit,
            site,
        });
        let begin = self.temp(Scalar::U32);
        let n = ir::Expr::Literal(Scalar::U32, len.into());
        let first = binary(BinaryOp::Mul, Scalar::U32, index, n);
        self.emit(ir::Stmt::Assign(begin, first));
        Some((buffer, scalar, ir::Expr::Local(begin), len))
    }

    /// `xs.get(i)[k]` of a buffer of arrays, without the other values.
    pub(super) fn value_of_array(
        &mut self,
        array: &'f Expr,
        (at, bracket): (&'f Expr, Span),
    ) -> Option<ir::Expr> {
        let Kind::Get { site, .. } = &array.kind else {
            return None;
        };
        let site = self.site(*site);
        let (buffer, scalar, begin, len) = self.begin_of_array(array)?;
        let at = self.array_index(at);
        let at = self.leaf(at);
        let bracket = self.site(bracket);
        self.emit(ir::Stmt::CheckIndex {
            index: at.clone(),
            len: ir::Expr::Literal(Scalar::U32, len.into()),
            site: bracket,
        });
        let load = ir::Expr::Load {
            buffer,
            scalar,
            index: Box::new(binary(BinaryOp::Add, Scalar::U32, begin, at)),
            site,
        };
        Some(widen(scalar, load))
    }

    /// Some of the scalars of `points.get(i)`. Each load checks the index: the buffers have one length.
    pub(super) fn get(&mut self, e: &'f Expr, from: usize, count: usize) -> Vec<ir::Expr> {
        let Kind::Get {
            records,
            index,
            site,
        } = &e.kind
        else {
            return Vec::new();
        };
        if let Some((buffer, scalar, begin, len)) = self.begin_of_array(e) {
            let site = self.site(*site);
            let load = |k: u32| {
                let k = ir::Expr::Literal(Scalar::U32, k.into());
                let load = ir::Expr::Load {
                    buffer,
                    scalar,
                    index: Box::new(binary(BinaryOp::Add, Scalar::U32, begin.clone(), k)),
                    site,
                };
                widen(scalar, load)
            };
            return (0..len).map(load).collect();
        }
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
    pub(super) fn record_fields(&mut self, value: &'f Expr) -> Vec<ir::Expr> {
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

    /// The rows of bits that a handle names.
    pub(super) fn rows(&mut self, h: Handle) -> build::Bits {
        let (buffer, width) = match self.binding(h) {
            Some(ParamKind::Bits { buffer, width }) => (buffer, width),
            _ => {
                self.fault("rows of bits are expected");
                (BufferId(0), Width::Fixed(0))
            }
        };
        build::Bits {
            buffer,
            width: width_of(width),
        }
    }

    /// Whether a word is made of words `k` of rows as wide as these, so that it has no bits beyond their width.
    pub(super) fn stays_within(&mut self, rows: Handle, k: &Expr, word: &Expr) -> bool {
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
                    Some(ParamKind::Bits { width, .. }) => Some(width),
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
    pub(super) fn is_same(&mut self, a: &Expr, b: &Expr) -> bool {
        match (&a.kind, &b.kind) {
            (Kind::Var(a), Kind::Var(b)) => a == b && !self.f().vars[a.0].mutable,
            (Kind::Int(a), Kind::Int(b)) => a == b,
            (Kind::Bits(a), Kind::Bits(b)) => a == b,
            _ => false,
        }
    }

    /// A method of a row of bits; where the result is not wanted, an update stays one.
    pub(super) fn bits(&mut self, e: &'f Expr, wanted: bool) -> Option<ir::Expr> {
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

    pub(super) fn atomic_place(&mut self, place: &'f Expr) -> (BufferId, Scalar, ir::Expr, SiteId) {
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
    pub(super) fn atomic_args(
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

    /// `d[i].compare_exchange(expected, new)`
    pub(super) fn exchange(
        &mut self,
        place: &'f Expr,
        expected: &'f Expr,
        new: &'f Expr,
    ) -> ir::Expr {
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

    pub(super) fn atomic(&mut self, op: AtomicOp, place: &'f Expr, value: &'f Expr) -> ir::Expr {
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

    /// The offsets of rows.
    fn offsets(&mut self, rows: Handle) -> BufferId {
        match self.binding(rows) {
            Some(ParamKind::Rows { offsets, .. }) => offsets,
            _ => {
                self.fault("rows are expected");
                BufferId(0)
            }
        }
    }

    /// Where the item's own row of values begins and ends.
    pub(super) fn own_values(&mut self, row: Handle, span: Span) -> [ir::Expr; 2] {
        let Some(ParamKind::OwnValues { offsets, .. }) = self.binding(row) else {
            self.fault("a row is expected");
            return [(); 2].map(|()| ir::Expr::Literal(Scalar::U32, 0));
        };
        let known = self.own_rows.iter().find(|own| own.offsets == offsets);
        let own = match known {
            Some(own) => *own,
            None => {
                let own = OwnRow {
                    offsets,
                    begin: self.temp(Scalar::U32),
                    end: self.temp(Scalar::U32),
                    site: self.site(span),
                };
                self.own_rows.push(own);
                own
            }
        };
        [own.begin, own.end].map(ir::Expr::Local)
    }

    /// The body, with the ends of the rows that it asks for ahead of it.
    pub(super) fn with_own_rows(&mut self, body: ir::Block) -> ir::Block {
        let mut all = Vec::new();
        for own in std::mem::take(&mut self.own_rows) {
            let item = self.item(ItemField::Index);
            let one = ir::Expr::Literal(Scalar::U32, 1);
            let next = binary(BinaryOp::Add, Scalar::U32, item.clone(), one);
            for (local, index) in [(own.begin, item), (own.end, next)] {
                let load = ir::Expr::Load {
                    buffer: own.offsets,
                    scalar: Scalar::U32,
                    index: Box::new(index),
                    site: own.site,
                };
                all.push(ir::Stmt::Assign(local, load));
            }
        }
        all.extend(body);
        all
    }

    /// The place of a value of the item's own row among all values, once it is checked.
    pub(super) fn in_own_row(&mut self, row: Handle, at: &'f Expr, site: Span) -> ir::Expr {
        let at = self.scalar(at);
        let at = self.leaf(at);
        let [begin, end] = self.own_values(row, site);
        let site = self.site(site);
        self.emit(ir::Stmt::CheckIndex {
            index: at.clone(),
            len: binary(BinaryOp::Sub, Scalar::U32, end, begin.clone()),
            site,
        });
        binary(BinaryOp::Add, Scalar::U32, begin, at)
    }

    /// Overwrites a value of the item's own row.
    pub(super) fn store_in_row(
        &mut self,
        row: Handle,
        (index, value): (ir::Expr, ir::Expr),
        site: Span,
    ) {
        let (buffer, scalar) = self.buffer(row);
        let site = self.site(site);
        let value = match scalar {
            Scalar::U8 => cast_ir(Scalar::U32, Scalar::U8, value),
            _ => value,
        };
        self.emit(ir::Stmt::Store {
            buffer,
            index,
            value,
            site,
        });
    }

    /// How many rows there are.
    pub(super) fn row_count(&mut self, rows: Handle) -> ir::Expr {
        let ends = ir::Expr::Len(self.offsets(rows));
        let one = ir::Expr::Literal(Scalar::U32, 1);
        binary(BinaryOp::Sub, Scalar::U32, ends, one)
    }

    /// Where a row of values begins and ends.
    pub(super) fn row_of(&mut self, rows: Handle, of: &'f Expr, site: Span) -> Vec<ir::Expr> {
        let of = self.scalar(of);
        let of = self.leaf(of);
        let (buffer, len, site) = (self.offsets(rows), self.row_count(rows), self.site(site));
        self.emit(ir::Stmt::CheckIndex {
            index: of.clone(),
            len,
            site,
        });
        let load = |index| ir::Expr::Load {
            buffer,
            scalar: Scalar::U32,
            index: Box::new(index),
            site,
        };
        let next = binary(
            BinaryOp::Add,
            Scalar::U32,
            of.clone(),
            ir::Expr::Literal(Scalar::U32, 1),
        );
        vec![load(of), load(next)]
    }

    /// Where a row begins and ends, free to repeat.
    pub(super) fn row(&mut self, row: &'f Expr) -> [ir::Expr; 2] {
        let values = self.value(row);
        let mut values = values.into_iter().map(|v| self.leaf(v));
        let none = ir::Expr::Literal(Scalar::U32, 0);
        [(); 2].map(|()| values.next().unwrap_or_else(|| none.clone()))
    }

    pub(super) fn row_at(&mut self, row: &'f Expr, at: &'f Expr, site: Span) -> Vec<ir::Expr> {
        let [begin, end] = self.row(row);
        let at = self.scalar(at);
        let at = self.leaf(at);
        let site = self.site(site);
        let len = binary(BinaryOp::Sub, Scalar::U32, end, begin.clone());
        self.emit(ir::Stmt::CheckIndex {
            index: at.clone(),
            len,
            site,
        });
        let at = binary(BinaryOp::Add, Scalar::U32, begin, at);
        vec![match self.ty(&row.ty) {
            Ty::Row(from, what) => self.in_rows((from, what), at, site),
            _ => at,
        }]
    }

    /// What is at a place, counted over all rows.
    pub(super) fn in_rows(
        &mut self,
        (from, what): (Handle, RowOf),
        at: ir::Expr,
        site: SiteId,
    ) -> ir::Expr {
        match what {
            RowOf::Edges => at,
            RowOf::Neighbors => ir::Expr::Csr {
                query: CsrQuery::Target,
                topology: self.graph(from),
                of: Box::new(at),
                site,
            },
            RowOf::Values(scalar) => {
                let load = ir::Expr::Load {
                    buffer: self.buffer(from).0,
                    scalar,
                    index: Box::new(at),
                    site,
                };
                widen(scalar, load)
            }
        }
    }

    /// The places from `a` to `b`: `b` is at most the length, and `a` at most `b`.
    pub(super) fn row_part(
        &mut self,
        row: &'f Expr,
        (from, to): (&'f Expr, &'f Expr),
        site: Span,
    ) -> Vec<ir::Expr> {
        let [begin, end] = self.row(row);
        let (from, to) = self.pair(from, to);
        let (from, to) = (self.leaf(from), self.leaf(to));
        let site = self.site(site);
        let number = |n| ir::Expr::Literal(Scalar::U32, n);
        let sub = |a, b| binary(BinaryOp::Sub, Scalar::U32, a, b);
        let add = |a, b| binary(BinaryOp::Add, Scalar::U32, a, b);
        let ne = |a, b| compare(CompareOp::Ne, Scalar::U32, a, b);
        // The last place is in the row, and the first one before the end of the part.
        let mut check = |cond, index, len| {
            self.emit(ir::Stmt::If {
                cond,
                then: vec![ir::Stmt::CheckIndex { index, len, site }],
                otherwise: Vec::new(),
            });
        };
        let (last, len) = (sub(to.clone(), number(1)), sub(end, begin.clone()));
        check(ne(to.clone(), number(0)), last, len);
        check(ne(from.clone(), to.clone()), from.clone(), to.clone());
        vec![add(begin.clone(), from), add(begin, to)]
    }

    /// The sum of two numbers and a carry, and whether it left the type.
    pub(super) fn with_carry(
        &mut self,
        a: &'f Expr,
        b: &'f Expr,
        carry: Option<&'f Expr>,
    ) -> Vec<ir::Expr> {
        let s = self.scalar_of(&a.ty);
        let operands: Vec<&'f Expr> = [a, b].into_iter().chain(carry).collect();
        let values = self.operands(&operands);
        let mut values = values.into_iter().zip(&operands).map(|(v, e)| {
            let v = self.single(v, &e.ty);
            self.leaf(v)
        });
        let mut next = || values.next().unwrap_or(ir::Expr::Literal(register(s), 0));
        let (x, y) = (next(), next());
        let carry = carry.map(|_| next());
        drop(values);
        let reg = register(s);
        let sum = self.binary(BinaryOp::Add, s, x.clone(), (y.clone(), s), a.span);
        let sum = self.leaf(sum);
        let less = |a: &ir::Expr, b: &ir::Expr| compare(CompareOp::Lt, reg, a.clone(), b.clone());
        let left = match is_signed(s) {
            // A negative number makes it less, and no other does.
            true => {
                let negative = less(&y, &ir::Expr::Literal(reg, 0));
                compare(CompareOp::Ne, Scalar::Bool, negative, less(&sum, &x))
            }
            false => less(&sum, &x),
        };
        let Some(carry) = carry else {
            return vec![sum, left];
        };
        let left = self.leaf(left);
        let one = cast(Scalar::Bool, s, carry);
        let all = self.binary(BinaryOp::Add, s, sum.clone(), (one, s), a.span);
        let all = self.leaf(all);
        let again = less(&all, &sum);
        let left = binary(BinaryOp::Or, Scalar::Bool, left, again);
        vec![all, left]
    }
}

/// The value of a width.
pub(super) fn width_of(width: Width) -> ir::Expr {
    let uniform = |u| ir::Expr::Uniform(u, Scalar::U32);
    match width {
        Width::Fixed(n) => ir::Expr::Literal(Scalar::U32, n.into()),
        Width::Constant(c) => uniform(Uniform::Constant(c)),
        Width::Scalar(s) => uniform(Uniform::Scalar(s)),
    }
}
