//! Expressions: which way a value moves, what an update does to its buffer, and whether a question is the one that leaves
//! out only what changes nothing.

use super::*;

impl<'s, 'p, 'b> Walk<'s, 'p, 'b> {
    pub(super) fn tone(&self, value: Value) -> Tone {
        match value {
            Value::False | Value::True => Tone::Fixed,
            Value::Moves(tone) => tone,
            Value::Seen(s) => self.seen[s].tone,
            Value::Would { tone, .. } => tone,
            Value::Old(_) | Value::Changed { .. } => Tone::Open,
        }
    }

    /// For messages: where a value comes from that the fixpoint writes.
    pub(super) fn place(&self, e: &Expr) -> Option<SiteId> {
        let own = match e {
            Expr::Local(l) => self.places[l.0 as usize],
            Expr::Load { buffer, site, .. }
            | Expr::AtomicLoad { buffer, site, .. }
            | Expr::Atomic { buffer, site, .. } => {
                let written = self.shared.directions.contains_key(buffer);
                written.then_some(*site)
            }
            _ => None,
        };
        own.or_else(|| e.operands().find_map(|x| self.place(x)))
    }

    /// How `cond ? yes : no` of bools moves where the condition does: one of the two has to imply the other, as a
    /// constant does or is implied, or what is `known` to.
    pub(super) fn chosen(
        &self,
        cond: Tone,
        (yes, no): (Value, Value),
        known: Option<Implies>,
    ) -> Tone {
        let both = self.tone(yes).bits().join(self.tone(no).bits());
        let implies = match (yes, no) {
            // `cond & yes`, `cond | no`.
            (_, Value::False) | (Value::True, _) => Some(Implies::Yes),
            // `!cond | yes`, `!cond & no`.
            (_, Value::True) | (Value::False, _) => Some(Implies::No),
            _ => known,
        };
        match (cond, implies) {
            (Tone::Gains | Tone::Loses, Some(Implies::Yes)) => cond.join(both),
            (Tone::Gains | Tone::Loses, Some(Implies::No)) => cond.turned().join(both),
            _ => Tone::Open,
        }
    }

    pub(super) fn tone_of(
        &mut self,
        e: &'b Expr,
        context: Context,
        state: &mut State<'b>,
    ) -> Result<Tone, Reason> {
        let value = self.eval(e, context, state)?;
        Ok(self.tone(value))
    }

    pub(super) fn array(&self, array: ArrayId) -> Limit {
        let len = self.arrays.get(array.0 as usize).map_or(0, |a| a.len);
        Limit::Extent(Extent::Fixed(len.into()))
    }

    pub(super) fn buffer(&self, buffer: BufferId) -> Limit {
        Limit::Extent(self.shared.program.buffers[buffer.index()].extent)
    }

    /// What a fault depends on.
    pub(super) fn fixed(
        &mut self,
        e: &'b Expr,
        site: SiteId,
        context: Context,
        state: &mut State<'b>,
    ) -> Result<(), Reason> {
        match self.tone_of(e, context, state)? {
            Tone::Fixed => Ok(()),
            Tone::Rises | Tone::Falls | Tone::Gains | Tone::Loses | Tone::Open => {
                self.refuse(Why::NotMonotone, None, site)
            }
        }
    }

    /// The node whose element this is, or whose row of bits it is a word of, by what does not change before its locals
    /// do.
    pub(super) fn node(
        &self,
        buffer: BufferId,
        index: &'b Expr,
        state: &State<'b>,
    ) -> Option<&'b Expr> {
        let node = match self.shared.program.buffers[buffer.index()].extent {
            Extent::NodeBits(_) => node_of_word(index, state),
            _ => Some(resolve(index, state)),
        };
        node.filter(|e| self.is_still(e))
    }

    /// The same as a row that a value tells of.
    pub(super) fn row(
        &mut self,
        buffer: BufferId,
        index: &'b Expr,
        state: &State<'b>,
    ) -> Option<usize> {
        let node = self.node(buffer, index, state)?;
        let buffers = BTreeSet::from([buffer]);
        Some(self.interned(Row { node, buffers }))
    }

    fn interned(&mut self, row: Row<'b>) -> usize {
        let known = self.rows.iter().position(|r| *r == row);
        known.unwrap_or_else(|| {
            self.rows.push(row);
            self.rows.len() - 1
        })
    }

    /// What is known of a change in one of two rows.
    pub(super) fn either(&mut self, a: Option<usize>, b: Option<usize>) -> Option<usize> {
        let (a, b) = (&self.rows[a?], &self.rows[b?]);
        if a.node != b.node {
            return None;
        }
        let (node, buffers) = (a.node, a.buffers.union(&b.buffers).copied().collect());
        Some(self.interned(Row { node, buffers }))
    }

    pub(super) fn numbered(&self, e: &Expr) -> Option<usize> {
        self.updates.iter().position(|u| std::ptr::eq(u.of, e))
    }

    /// The update whose old value this is.
    pub(super) fn old(&self, e: &Expr, state: &State<'b>) -> Option<usize> {
        match e {
            Expr::Atomic { .. } => self.numbered(e),
            Expr::Local(l) => match state.values[l.0 as usize] {
                Value::Old(u) => Some(u),
                _ => None,
            },
            _ => None,
        }
    }

    /// The load whose value this is.
    pub(super) fn look(&self, e: &Expr, state: &State<'b>) -> Option<usize> {
        match e {
            Expr::AtomicLoad { .. } | Expr::Load { .. } => {
                self.seen.iter().position(|s| std::ptr::eq(s.of, e))
            }
            Expr::Local(l) => match state.values[l.0 as usize] {
                Value::Seen(s) => Some(s),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether two expressions have one value now. Locals have not changed since either was evaluated, or what is known
    /// of them would have been forgotten; no wave changes what they load.
    pub(super) fn same(&self, a: &Expr, b: &Expr, state: &State<'b>) -> bool {
        if let (Expr::Local(a), Expr::Local(b)) = (a, b)
            && a == b
        {
            return true;
        }
        let same = |x: &Expr, y: &Expr| self.same(x, y, state);
        match (resolve(a, state), resolve(b, state)) {
            (a @ (Expr::Literal(..) | Expr::Local(_) | Expr::Uniform(..) | Expr::Len(_)), b) => {
                a == b
            }
            (Expr::Unary(op, s, x), Expr::Unary(of, t, y)) => op == of && s == t && same(x, y),
            (
                Expr::Binary {
                    op,
                    scalar,
                    left,
                    right,
                    ..
                },
                Expr::Binary {
                    op: of,
                    scalar: other,
                    left: x,
                    right: y,
                    ..
                },
            ) => op == of && scalar == other && same(left, x) && same(right, y),
            (
                Expr::Compare {
                    op,
                    scalar,
                    left,
                    right,
                },
                Expr::Compare {
                    op: of,
                    scalar: other,
                    left: x,
                    right: y,
                },
            ) => op == of && scalar == other && same(left, x) && same(right, y),
            (
                Expr::Cast { from, to, value },
                Expr::Cast {
                    from: a,
                    to: b,
                    value: x,
                },
            ) => from == a && to == b && same(value, x),
            (
                Expr::Load { buffer, index, .. },
                Expr::Load {
                    buffer: other,
                    index: x,
                    ..
                },
            ) => {
                let written = self.shared.directions.contains_key(buffer);
                buffer == other && !written && same(index, x)
            }
            (
                Expr::Csr {
                    query,
                    topology,
                    of,
                    ..
                },
                Expr::Csr {
                    query: asks,
                    topology: other,
                    of: x,
                    ..
                },
            ) => query == asks && topology == other && same(of, x),
            _ => false,
        }
    }

    /// What it names does not change while an item runs, but by assigning its locals.
    pub(super) fn is_still(&self, e: &Expr) -> bool {
        let still = match (e, e.effect()) {
            (Expr::ArrayLoad { .. }, _) => false,
            (Expr::Load { buffer, .. }, _) => !self.shared.directions.contains_key(buffer),
            (_, effect) => matches!(effect, Effect::No | Effect::Ask(_)),
        };
        still && e.operands().all(|x| self.is_still(x))
    }

    pub(super) fn is(&self, value: Operand<'_>, of: &Expr, state: &State<'b>) -> bool {
        match value {
            Operand::Is(x) => self.same(x, of, state),
            Operand::Not(x) => match of {
                Expr::Unary(UnaryOp::Not, _, y) => self.same(x, y, state),
                _ => false,
            },
        }
    }

    /// Which update a comparison asks of whether it changed something, and the answer if it did.
    pub(super) fn changed(&self, e: &Expr, state: &State<'b>) -> Option<(usize, bool)> {
        for (x, v, when, op) in questions(e, state) {
            if let Some(u) = self.old(x, state)
                && self.updates[u].op == op
                && self.is(v, self.updates[u].value, state)
            {
                return Some((u, when));
            }
        }
        None
    }

    /// The same of an update that was not made yet.
    pub(super) fn would(&mut self, e: &'b Expr, state: &State<'b>) -> Option<(usize, bool)> {
        for (x, value, when, op) in questions(e, state) {
            if let Some(s) = self.look(x, state)
                && self.shared.directions.get(&self.seen[s].buffer) == Some(&op)
            {
                let known = self.skips.iter().position(|k| std::ptr::eq(k.of, e));
                let skip = known.unwrap_or_else(|| {
                    self.skips.push(Skip {
                        of: e,
                        buffer: self.seen[s].buffer,
                        index: self.seen[s].index,
                        value,
                    });
                    self.skips.len() - 1
                });
                return Some((skip, when));
            }
        }
        None
    }

    pub(super) fn eval(
        &mut self,
        e: &'b Expr,
        context: Context,
        state: &mut State<'b>,
    ) -> Result<Value, Reason> {
        let moves = |tone| Ok(Value::Moves(tone));
        match e {
            Expr::Literal(Scalar::Bool, 0) => Ok(Value::False),
            Expr::Literal(Scalar::Bool, 1) => Ok(Value::True),
            Expr::Literal(..) | Expr::Len(_) => moves(Tone::Fixed),
            Expr::Uniform(u, _) => moves(match u {
                Uniform::Scalar(_) | Uniform::Constant(_) | Uniform::Nodes => Tone::Fixed,
                Uniform::Reduction(r) if !self.shared.reduced.contains(r) => Tone::Fixed,
                Uniform::Reduction(_) | Uniform::Round => Tone::Open,
                Uniform::Len(_) | Uniform::Began(_) => Tone::Open,
                // That of a fixpoint around the one in question stays while it runs.
                Uniform::OuterRound(f)
                    if !self
                        .shared
                        .program
                        .is_within(Some(*f), self.shared.fixpoint) =>
                {
                    Tone::Fixed
                }
                Uniform::OuterRound(_) => Tone::Open,
            }),
            Expr::Local(l) => Ok(state.values[l.0 as usize]),
            Expr::ArrayLoad {
                array, index, site, ..
            } => {
                self.check((index, self.array(*array)), *site, context, state)?;
                moves(state.arrays[array.0 as usize])
            }
            Expr::Csr {
                of,
                site,
                query,
                topology,
            } => {
                let all = match query {
                    CsrQuery::Begin | CsrQuery::End => Extent::Nodes,
                    CsrQuery::Target => Extent::Edges(*topology),
                };
                self.check((of, Limit::Extent(all)), *site, context, state)?;
                moves(Tone::Fixed)
            }
            Expr::Load {
                buffer,
                index,
                site,
                scalar,
            }
            | Expr::AtomicLoad {
                buffer,
                index,
                site,
                scalar,
            } => {
                self.check((index, self.buffer(*buffer)), *site, context, state)?;
                self.seen((e, *buffer, index), *scalar, state)
            }
            Expr::Atomic { .. } => self.update(e, context, state),
            // `declare` has refused them.
            Expr::CompareExchange { site, .. }
            | Expr::Append { site, .. }
            | Expr::Insert { site, .. }
            | Expr::Contains { site, .. }
            | Expr::Entry { site, .. } => self.refuse(Why::NotMonotone, None, *site),
            Expr::Unary(op, scalar, x) => {
                let value = self.eval(x, context, state)?;
                if let (UnaryOp::Not, Value::Changed { update, row, when }) = (op, value) {
                    return Ok(Value::Changed {
                        update,
                        row,
                        when: !when,
                    });
                }
                if let (UnaryOp::Not, Value::Would { skip, when, tone }) = (op, value) {
                    return Ok(Value::Would {
                        skip,
                        when: !when,
                        tone: tone.turned(),
                    });
                }
                let tone = self.tone(value);
                moves(match op {
                    UnaryOp::Not => tone.bits().turned(),
                    // The smallest negates to itself.
                    UnaryOp::Neg if is_float(*scalar) => tone.numeric().turned(),
                    UnaryOp::Sqrt
                    | UnaryOp::Floor
                    | UnaryOp::Ceil
                    | UnaryOp::Round
                    | UnaryOp::Trunc
                    | UnaryOp::RoundTiesEven => tone.numeric(),
                    UnaryOp::Neg
                    | UnaryOp::Abs
                    | UnaryOp::CountOnes
                    | UnaryOp::LeadingZeros
                    | UnaryOp::TrailingZeros
                    | UnaryOp::Exp
                    | UnaryOp::Ln
                    | UnaryOp::Sin
                    | UnaryOp::Cos => only_fixed(tone),
                })
            }
            Expr::Binary {
                op,
                scalar,
                left,
                right,
                site,
            } => {
                let a = self.eval(left, context, state)?;
                let b = self.eval(right, context, state)?;
                if faults::may_fault(*op, *scalar, right) {
                    self.fault(*site, context)?;
                }
                if let (BinaryOp::Or, Scalar::Bool) = (op, *scalar) {
                    let says = |v| matches!(v, Value::False | Value::Changed { when: true, .. });
                    if says(a) && says(b) {
                        return Ok(self.join_values(a, b));
                    }
                }
                self.binary((*op, *scalar, *site), (self.tone(a), self.tone(b)))
                    .map(Value::Moves)
            }
            Expr::Compare {
                op,
                scalar,
                left,
                right,
            } => {
                let a = self.tone_of(left, context, state)?;
                let b = self.tone_of(right, context, state)?;
                if let Some((update, when)) = self.changed(e, state) {
                    let (buffer, index) = (self.updates[update].buffer, self.updates[update].index);
                    return Ok(Value::Changed {
                        update: Some(update),
                        row: self.row(buffer, index, state),
                        when,
                    });
                }
                let tone = self.compare((*op, *scalar), (left, a), (right, b));
                if !matches!(tone, Tone::Fixed | Tone::Gains)
                    && let Some((skip, when)) = self.would(e, state)
                {
                    return Ok(Value::Would { skip, when, tone });
                }
                moves(tone)
            }
            Expr::MulAdd { a, b, c, .. } => {
                let mut all = Tone::Fixed;
                for x in [a, b, c] {
                    all = all.join(only_fixed(self.tone_of(x, context, state)?));
                }
                moves(all)
            }
            Expr::Select {
                cond,
                then,
                otherwise,
                ..
            } => {
                let cond = self.tone_of(cond, context, state)?;
                let a = self.eval(then, context, state)?;
                let b = self.eval(otherwise, context, state)?;
                moves(match cond {
                    Tone::Fixed => self.tone(a).join(self.tone(b)),
                    cond => self.chosen(cond, (a, b), None),
                })
            }
            Expr::Cast { from, to, value } => {
                let tone = self.tone_of(value, context, state)?;
                moves(cast(*from, *to, tone))
            }
            Expr::Bitcast { value, .. } => moves(only_fixed(self.tone_of(value, context, state)?)),
        }
    }

    pub(super) fn seen(
        &mut self,
        (e, buffer, index): (&'b Expr, BufferId, &'b Expr),
        scalar: Scalar,
        state: &State<'b>,
    ) -> Result<Value, Reason> {
        let Some(op) = self.shared.directions.get(&buffer) else {
            return Ok(Value::Moves(Tone::Fixed));
        };
        let mut tone = match op {
            AtomicOp::Min => Tone::Falls,
            AtomicOp::Max => Tone::Rises,
            AtomicOp::And => Tone::Loses,
            AtomicOp::Or => Tone::Gains,
            AtomicOp::Add | AtomicOp::Sub | AtomicOp::Xor | AtomicOp::Swap => Tone::Open,
        };
        if is_float(scalar) {
            self.shared.provisos.push(Proviso::NoNan(self.wave));
        }
        if let Some((own, frontier)) = self.own {
            let is_own = match self.node(buffer, index, state) {
                Some(Expr::Local(l)) => own == Some(*l),
                _ => false,
            };
            if is_own {
                self.shared.needs.insert((buffer, frontier));
            } else {
                tone = Tone::Open;
            }
        }
        let known = self.seen.iter().position(|s| std::ptr::eq(s.of, e));
        Ok(Value::Seen(known.unwrap_or_else(|| {
            self.seen.push(Seen {
                of: e,
                buffer,
                index,
                tone,
            });
            self.seen.len() - 1
        })))
    }

    pub(super) fn update(
        &mut self,
        e: &'b Expr,
        context: Context,
        state: &mut State<'b>,
    ) -> Result<Value, Reason> {
        let Expr::Atomic {
            op,
            buffer,
            scalar,
            index,
            value,
            site,
        } = e
        else {
            unreachable!("`eval` calls it for atomics");
        };
        let resource = Resource::Buffer(*buffer);
        self.check((index, self.buffer(*buffer)), *site, context, state)?;
        let tone = self.tone_of(value, context, state)?;
        let way = match op {
            AtomicOp::Min => Tone::Falls,
            AtomicOp::Max => Tone::Rises,
            AtomicOp::And => Tone::Loses,
            AtomicOp::Or => Tone::Gains,
            AtomicOp::Add | AtomicOp::Sub | AtomicOp::Xor | AtomicOp::Swap => Tone::Open,
        };
        if tone != Tone::Fixed && tone != way {
            return self.refuse(Why::NotMonotone, resource, *site);
        }
        match context.gate {
            Gate::Monotone => {}
            Gate::Would(s) => {
                let skip = self.skips[s];
                let asked = skip.buffer == *buffer
                    && self.same(skip.index, index, state)
                    && self.is(skip.value, value, state);
                if !asked {
                    return self.refuse(Why::NotMonotone, resource, *site);
                }
                state.made.insert(s);
            }
            Gate::Changed(..) | Gate::Closed => {
                return self.refuse(Why::NotMonotone, resource, *site);
            }
        }
        if is_float(*scalar) {
            self.shared.provisos.push(Proviso::NoNan(self.wave));
        }
        let update = self.numbered(e).unwrap_or_else(|| {
            self.updates.push(Update {
                of: e,
                op: *op,
                buffer: *buffer,
                index,
                value,
                site: *site,
                told: None,
            });
            self.updates.len() - 1
        });
        self.age(update, state);
        let pending = Pending {
            node: self.node(*buffer, index, state),
            told: BTreeSet::new(),
            held: BTreeSet::new(),
        };
        state.pending.insert((update, Age::Now), pending);
        Ok(Value::Old(update))
    }

    pub(super) fn binary(
        &mut self,
        (op, scalar, site): (BinaryOp, Scalar, Option<SiteId>),
        (a, b): (Tone, Tone),
    ) -> Result<Tone, Reason> {
        let both = a.join(b);
        if both == Tone::Fixed {
            return Ok(Tone::Fixed);
        }
        let signed = matches!(scalar, Scalar::I32 | Scalar::I64);
        let may_fault = match op {
            BinaryOp::Div | BinaryOp::Rem | BinaryOp::WrappingDiv | BinaryOp::WrappingRem => {
                !is_float(scalar) && (b != Tone::Fixed || signed)
            }
            _ => false,
        };
        if may_fault {
            return self.refuse(Why::NotMonotone, None, site);
        }
        let tone = match op {
            BinaryOp::Add => a.numeric().join(b.numeric()),
            BinaryOp::Sub => a.numeric().join(b.numeric().turned()),
            // Of signed numbers and floats, it depends on the other's sign.
            BinaryOp::Mul | BinaryOp::SaturatingMul if !signed && !is_float(scalar) => {
                a.numeric().join(b.numeric())
            }
            BinaryOp::SaturatingAdd | BinaryOp::Min | BinaryOp::Max => {
                a.numeric().join(b.numeric())
            }
            BinaryOp::SaturatingSub => a.numeric().join(b.numeric().turned()),
            BinaryOp::Div | BinaryOp::WrappingDiv if !is_float(scalar) => a.numeric(),
            BinaryOp::And | BinaryOp::Or => a.bits().join(b.bits()),
            BinaryOp::Shr if b == Tone::Fixed => a,
            BinaryOp::Shl | BinaryOp::RotateLeft | BinaryOp::RotateRight if b == Tone::Fixed => {
                a.bits()
            }
            BinaryOp::Mul
            | BinaryOp::SaturatingMul
            | BinaryOp::Div
            | BinaryOp::Rem
            | BinaryOp::WrappingDiv
            | BinaryOp::WrappingRem
            | BinaryOp::AbsDiff
            | BinaryOp::Xor
            | BinaryOp::Shl
            | BinaryOp::Shr
            | BinaryOp::RotateLeft
            | BinaryOp::RotateRight => Tone::Open,
        };
        let wraps = matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul);
        if wraps && tone != Tone::Open {
            let proviso = match is_float(scalar) {
                true => Proviso::NoNan(self.wave),
                false => Proviso::NoWrap(self.wave),
            };
            self.shared.provisos.push(proviso);
        }
        Ok(tone)
    }

    pub(super) fn compare(
        &mut self,
        (op, scalar): (CompareOp, Scalar),
        (left, a): (&Expr, Tone),
        (right, b): (&Expr, Tone),
    ) -> Tone {
        let below = |a: Tone, b: Tone| match a.numeric().turned().join(b.numeric()) {
            Tone::Fixed => Tone::Fixed,
            Tone::Rises => Tone::Gains,
            Tone::Falls => Tone::Loses,
            Tone::Gains | Tone::Loses | Tone::Open => Tone::Open,
        };
        match op {
            _ if a.join(b) == Tone::Fixed => Tone::Fixed,
            CompareOp::Lt | CompareOp::Le => below(a, b),
            CompareOp::Gt | CompareOp::Ge => below(b, a),
            CompareOp::Eq | CompareOp::Ne => {
                // Different from where it begins, a value stays so.
                let (tone, from) = match (a, b) {
                    (a, Tone::Fixed) => (a, right),
                    (Tone::Fixed, b) => (b, left),
                    _ => return Tone::Open,
                };
                // Equal to where it ends, a value stays so.
                if is_last(from, scalar, tone) {
                    return match op {
                        CompareOp::Ne => Tone::Loses,
                        _ => Tone::Gains,
                    };
                }
                if !self.is_first(from, scalar, tone) {
                    return Tone::Open;
                }
                match op {
                    CompareOp::Ne => Tone::Gains,
                    _ => Tone::Loses,
                }
            }
        }
    }

    /// Whether this is the value that nothing which moves so comes back to.
    pub(super) fn is_first(&mut self, e: &Expr, scalar: Scalar, tone: Tone) -> bool {
        let first = match tone {
            Tone::Falls => ReduceOp::Min,
            Tone::Rises => ReduceOp::Max,
            Tone::Gains => ReduceOp::Or,
            Tone::Loses => ReduceOp::And,
            Tone::Fixed | Tone::Open => return false,
        };
        match e {
            Expr::Literal(_, bits) => *bits == first.identity(scalar),
            Expr::Uniform(Uniform::Constant(c), _) => {
                let proviso = Proviso::First(self.wave, *c, first);
                self.shared.provisos.push(proviso);
                true
            }
            _ => false,
        }
    }
}

/// Whether this is the value that nothing which moves so leaves again.
fn is_last(e: &Expr, scalar: Scalar, tone: Tone) -> bool {
    let last = match tone {
        Tone::Falls => ReduceOp::Max,
        Tone::Rises => ReduceOp::Min,
        Tone::Gains => ReduceOp::And,
        Tone::Loses => ReduceOp::Or,
        Tone::Fixed | Tone::Open => return false,
    };
    match e {
        Expr::Literal(_, bits) => !is_float(scalar) && *bits == last.identity(scalar),
        _ => false,
    }
}
