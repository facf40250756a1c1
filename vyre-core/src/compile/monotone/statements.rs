//! Statements of a wave's body, in order: which guards they stand under, and what each leaves of what is known about
//! values.

use super::*;

impl<'s, 'p, 'b> Walk<'s, 'p, 'b> {
    pub(super) fn new(
        shared: &'s mut Shared<'p>,
        wave: WaveId,
        body: &'b Body,
    ) -> Result<Walk<'s, 'p, 'b>, Reason> {
        let program = shared.program;
        let against = |resource, why| {
            Err(Reason {
                wave,
                resource: Some(resource),
                site: None,
                why,
            })
        };
        let domain = program.waves[wave.index()].domain;
        if let Some((list, _)) = domain.list().filter(|(_, portion)| portion.goes_on()) {
            return against(list.into(), Why::Notice);
        }
        let own = match domain.frontier() {
            None => None,
            Some(f) => {
                let declared = &program.frontiers[f.index()];
                let owned = declared.owner == Some(shared.fixpoint) && declared.fields.is_empty();
                if !owned || !shared.quiet.contains(&Notice::Frontier(f)) {
                    return against(f.into(), Why::Until);
                }
                let node = match domain.topology() {
                    None => body.item.index,
                    Some(_) => body.item.src,
                };
                Some((node, f))
            }
        };
        let item = [body.item.index, body.item.src, body.item.dst];
        let item = item.into_iter().chain(body.item.fields).flatten();
        Ok(Walk {
            shared,
            wave,
            own,
            item: item.collect(),
            limits: faults::of_items(program, &program.waves[wave.index()], body),
            arrays: &body.arrays,
            updates: Vec::new(),
            seen: Vec::new(),
            skips: Vec::new(),
            rows: Vec::new(),
            loops: Vec::new(),
            places: vec![None; body.locals.len()],
            patience: PATIENCE,
        })
    }

    pub(super) fn body(&mut self, body: &'b Body) -> Result<(), Reason> {
        let state = State {
            values: vec![Value::Moves(Tone::Fixed); body.locals.len()],
            alias: vec![None; body.locals.len()],
            arrays: vec![Tone::Fixed; body.arrays.len()],
            pending: BTreeMap::new(),
            made: BTreeSet::new(),
            below: Vec::new(),
        };
        let context = Context {
            gate: Gate::Monotone,
            asked: None,
            loose: 0,
            place: None,
            top: true,
        };
        if let Some(end) = self.block(&body.block, context, state)? {
            self.leave(&end);
        }
        Ok(())
    }

    /// An item's end.
    pub(super) fn leave(&mut self, state: &State<'b>) {
        for (&(update, _), pending) in &state.pending {
            let told = &mut self.updates[update].told;
            *told = Some(match told.take() {
                None => pending.told.clone(),
                Some(before) => before.intersection(&pending.told).copied().collect(),
            });
        }
    }

    pub(super) fn refuse<T>(
        &self,
        why: Why,
        resource: impl Into<Option<Resource>>,
        site: impl Into<Option<SiteId>>,
    ) -> Result<T, Reason> {
        Err(Reason {
            wave: self.wave,
            resource: resource.into(),
            site: site.into(),
            why,
        })
    }

    /// The state behind a block; `None` where no path gets there.
    pub(super) fn block(
        &mut self,
        block: &'b [Stmt],
        context: Context,
        mut state: State<'b>,
    ) -> Result<Option<State<'b>>, Reason> {
        let mut rest = block;
        while let [stmt, after @ ..] = rest {
            rest = after;
            // An early return leaves the rest to those who do not take it.
            if context.top
                && let Stmt::If {
                    cond,
                    then,
                    otherwise,
                } = stmt
                && let [head @ .., Stmt::Return] = then.as_slice()
                && otherwise.is_empty()
            {
                return self.branch(cond, (head, after), context, state);
            }
            match self.stmt(
                stmt,
                Context {
                    top: false,
                    ..context
                },
                state,
            )? {
                Some(next) => state = next,
                None => return Ok(None),
            }
        }
        Ok(Some(state))
    }

    pub(super) fn stmt(
        &mut self,
        stmt: &'b Stmt,
        context: Context,
        mut state: State<'b>,
    ) -> Result<Option<State<'b>>, Reason> {
        self.patience = self.patience.saturating_sub(1);
        if self.patience == 0 {
            return self.refuse(Why::NotMonotone, None, context.place);
        }
        let to = &mut state;
        match stmt {
            Stmt::Assign(local, e) => {
                let value = self.eval(e, context, to)?;
                self.assign(*local, e, value, context, to)?;
            }
            Stmt::Eval(e) => {
                self.eval(e, context, to)?;
            }
            Stmt::ArrayFill { array, value } => {
                let tone = self.tone_of(value, context, to)?;
                let tone = if context.loose > 0 { Tone::Open } else { tone };
                to.arrays[array.0 as usize] = tone;
            }
            Stmt::ArrayAssign { array, values } => {
                let mut all = Tone::Fixed;
                for value in values {
                    all = all.join(self.tone_of(value, context, to)?);
                }
                let tone = if context.loose > 0 { Tone::Open } else { all };
                to.arrays[array.0 as usize] = tone;
            }
            Stmt::ArrayStore {
                array,
                index,
                value,
                site,
            } => {
                self.check((index, self.array(*array)), *site, context, to)?;
                let tone = self.tone_of(value, context, to)?;
                let tone = if context.loose > 0 { Tone::Open } else { tone };
                let all = &mut to.arrays[array.0 as usize];
                *all = all.join(tone);
            }
            // `declare` has refused them.
            Stmt::Store { site, .. }
            | Stmt::AtomicStore { site, .. }
            | Stmt::PushItem { site, .. }
            | Stmt::File { site, .. } => return self.refuse(Why::NotMonotone, None, *site),
            Stmt::Push {
                frontier,
                value,
                site,
            } => self.push((*frontier, value, *site), context, to)?,
            Stmt::Reduce { reduction, value } => {
                self.reduce((*reduction, value), context, to)?;
            }
            Stmt::If {
                cond,
                then,
                otherwise,
            } => return self.branch(cond, (then, otherwise), context, state),
            Stmt::Loop { body, .. } => return self.repeat(body, context, state),
            Stmt::Break { depth } | Stmt::Continue { depth } => {
                let at = self.loops.len().checked_sub(1 + *depth as usize);
                let Some(at) = at.filter(|&at| self.loops[at].loose == context.loose) else {
                    return self.refuse(Why::NotMonotone, None, context.place);
                };
                for at in 0..state.values.len() {
                    state.values[at] = self.plain(state.values[at]);
                }
                let turns = &mut self.loops[at];
                let leaves = matches!(stmt, Stmt::Break { .. });
                let slot = if leaves {
                    &mut turns.breaks
                } else {
                    &mut turns.continues
                };
                let state = match slot.take() {
                    None => state,
                    Some(before) => self.join(&before, &state),
                };
                let turns = &mut self.loops[at];
                let slot = if leaves {
                    &mut turns.breaks
                } else {
                    &mut turns.continues
                };
                *slot = Some(state);
                return Ok(None);
            }
            Stmt::Return => {
                if context.loose > 0 {
                    return self.refuse(Why::NotMonotone, None, context.place);
                }
                self.leave(&state);
                return Ok(None);
            }
            Stmt::Assert { cond, site, .. } => {
                self.fixed(cond, *site, context, to)?;
                self.fault(*site, context)?;
                self.learn_from(cond, true, to);
            }
            Stmt::CheckIndex { index, len, site } => {
                self.fixed(len, *site, context, to)?;
                let limit = self.limit_of(len, to);
                self.check((index, limit), *site, context, to)?;
            }
        }
        Ok(Some(state))
    }

    pub(super) fn assign(
        &mut self,
        local: LocalId,
        e: &'b Expr,
        value: Value,
        context: Context,
        state: &mut State<'b>,
    ) -> Result<(), Reason> {
        let place = self.place(e).or(context.place);
        self.places[local.0 as usize] = place.or(self.places[local.0 as usize]);
        if self.item.contains(&local) {
            return self.refuse(Why::NotMonotone, None, place);
        }
        // A guard is about the element that it named.
        let asked = context.asked.is_some_and(|s| self.skips[s].mentions(local));
        let changed = match context.gate {
            Gate::Changed(update, row) => {
                update.is_some_and(|u| self.updates[u].mentions(local))
                    || row.is_some_and(|r| mentions(self.rows[r].node, local))
            }
            Gate::Monotone | Gate::Would(_) | Gate::Closed => false,
        };
        if asked || changed {
            return self.refuse(Why::NotMonotone, None, place);
        }
        let elsewhere: Vec<usize> = state
            .pending
            .keys()
            .filter(|&&(u, age)| age == Age::Now && mentions(self.updates[u].index, local))
            .map(|&(u, _)| u)
            .collect();
        for update in elsewhere {
            self.age(update, state);
        }
        // What was said of an expression with this local in it is said of it no more.
        for at in 0..state.values.len() {
            let stale = match state.values[at] {
                Value::Seen(s) => mentions(self.seen[s].index, local),
                Value::Old(u)
                | Value::Changed {
                    update: Some(u), ..
                } => self.updates[u].mentions(local),
                Value::Would { skip, .. } => self.skips[skip].mentions(local),
                Value::False
                | Value::True
                | Value::Moves(_)
                | Value::Changed { update: None, .. } => false,
            };
            if stale {
                state.values[at] = self.plain(state.values[at]);
            }
            state.values[at] = self.without(state.values[at], local);
            if state.alias[at].is_some_and(|e| mentions(e, local)) {
                state.alias[at] = None;
            }
        }
        state.below.retain(|b| !b.mentions(local));
        if matches!(e, Expr::Local(_)) && !mentions(e, local) {
            self.learn_copy(local, e, state);
        }
        let held: Vec<(usize, Age)> = state
            .pending
            .keys()
            .copied()
            .filter(|&key| self.covers(e, key, state))
            .collect();
        for (key, pending) in &mut state.pending {
            if held.contains(key) {
                pending.held.insert(local);
            } else {
                pending.held.remove(&local);
            }
        }
        for pending in state.pending.values_mut() {
            pending.node = pending.node.filter(|node| !mentions(node, local));
        }
        forget_nodes(&mut state.pending);
        let at = local.0 as usize;
        state.values[at] = match value {
            // Said where a change is known, it says so.
            Value::True if matches!(e, Expr::Literal(..)) => {
                let row = match context.gate {
                    Gate::Changed(_, row) => Some(row),
                    Gate::Would(s) if state.made.contains(&s) => {
                        let skip = self.skips[s];
                        Some(self.row(skip.buffer, skip.index, state))
                    }
                    Gate::Monotone | Gate::Would(_) | Gate::Closed => None,
                };
                match row {
                    None => value,
                    Some(row) => Value::Changed {
                        update: None,
                        row,
                        when: true,
                    },
                }
            }
            Value::Old(u) if self.updates[u].mentions(local) => self.plain(value),
            Value::Seen(s) if mentions(self.seen[s].index, local) => self.plain(value),
            Value::Changed {
                update: Some(u), ..
            } if self.updates[u].mentions(local) => self.plain(value),
            Value::Would { .. } => self.plain(value),
            value => value,
        };
        state.values[at] = self.without(state.values[at], local);
        state.alias[at] = (self.is_still(e) && !mentions(e, local)).then_some(e);
        Ok(())
    }

    /// A value without what it has to do with one access.
    pub(super) fn plain(&self, value: Value) -> Value {
        match value {
            Value::Seen(s) => Value::Moves(self.seen[s].tone),
            Value::Would { tone, .. } => Value::Moves(tone),
            Value::Old(_) => Value::Moves(Tone::Open),
            Value::Changed { row, when, .. } => Value::Changed {
                update: None,
                row,
                when,
            },
            Value::False | Value::True | Value::Moves(_) => value,
        }
    }

    /// A value without a row that is another one when this local is assigned.
    fn without(&self, value: Value, local: LocalId) -> Value {
        match value {
            Value::Changed { update, row, when } => Value::Changed {
                update,
                row: row.filter(|&r| !mentions(self.rows[r].node, local)),
                when,
            },
            value => value,
        }
    }

    pub(super) fn join_values(&mut self, a: Value, b: Value) -> Value {
        if a == b {
            return a;
        }
        match (self.plain(a), self.plain(b)) {
            (a, b) if a == b => a,
            (
                Value::Changed { row, when, .. },
                Value::Changed {
                    row: other,
                    when: also,
                    ..
                },
            ) if when == also => Value::Changed {
                update: None,
                row: self.either(row, other),
                when,
            },
            (Value::False, c @ Value::Changed { when: true, .. })
            | (c @ Value::Changed { when: true, .. }, Value::False) => c,
            (a, b) => Value::Moves(self.tone(a).join(self.tone(b))),
        }
    }

    pub(super) fn join(&mut self, a: &State<'b>, b: &State<'b>) -> State<'b> {
        let values = a.values.iter().zip(&b.values);
        let alias = a.alias.iter().zip(&b.alias);
        let arrays = a.arrays.iter().zip(&b.arrays);
        let mut pending = a.pending.clone();
        for (key, p) in &b.pending {
            let both = match a.pending.get(key) {
                None => p.clone(),
                Some(q) => p.join(q),
            };
            pending.insert(*key, both);
        }
        forget_nodes(&mut pending);
        State {
            values: values.map(|(&a, &b)| self.join_values(a, b)).collect(),
            alias: alias.map(|(&a, &b)| a.filter(|_| a == b)).collect(),
            arrays: arrays.map(|(a, &b)| a.join(b)).collect(),
            pending,
            made: a.made.intersection(&b.made).copied().collect(),
            below: (a.below.iter().filter(|f| b.below.contains(f)))
                .cloned()
                .collect(),
        }
    }

    pub(super) fn branch(
        &mut self,
        cond: &'b Expr,
        (then, otherwise): (&'b [Stmt], &'b [Stmt]),
        context: Context,
        mut state: State<'b>,
    ) -> Result<Option<State<'b>>, Reason> {
        let value = self.eval(cond, context, &mut state)?;
        let place = self.place(cond).or(context.place);
        let loosely = |gate| Context {
            gate,
            loose: context.loose + 1,
            place,
            top: false,
            ..context
        };
        let inside = Context {
            top: false,
            ..context
        };
        // Under a guard that closed, nothing opens again.
        let monotone = match context.gate {
            Gate::Monotone => Gate::Monotone,
            Gate::Changed(..) | Gate::Would(_) | Gate::Closed => Gate::Closed,
        };
        let closed = loosely(Gate::Closed);
        let change = |update, row| match context.gate {
            Gate::Monotone | Gate::Would(_) => loosely(Gate::Changed(update, row)),
            Gate::Changed(..) | Gate::Closed => closed,
        };
        let (yes, no) = match value {
            Value::False | Value::True | Value::Moves(Tone::Fixed) => (inside, inside),
            Value::Moves(Tone::Gains) => (loosely(monotone), closed),
            Value::Moves(Tone::Loses) => (closed, loosely(monotone)),
            Value::Changed {
                update,
                row,
                when: true,
            } => (change(update, row), closed),
            Value::Changed {
                update,
                row,
                when: false,
            } => (closed, change(update, row)),
            Value::Would {
                tone: Tone::Gains, ..
            } => (loosely(monotone), closed),
            Value::Would { skip, when, tone } if context.gate == Gate::Monotone => {
                state.made.remove(&skip);
                let asked = Context {
                    asked: Some(skip),
                    ..loosely(Gate::Would(skip))
                };
                let otherwise = match tone {
                    Tone::Loses => loosely(monotone),
                    _ => closed,
                };
                match when {
                    true => (asked, otherwise),
                    // What is false for good is no question.
                    false if tone == Tone::Loses => (closed, otherwise),
                    false => (closed, asked),
                }
            }
            Value::Moves(Tone::Rises | Tone::Falls | Tone::Open)
            | Value::Seen(_)
            | Value::Old(_)
            | Value::Would { .. } => (closed, closed),
        };
        // What would have made the condition true, or false, has not happened.
        let mut unmet = state.clone();
        let mut met = state;
        self.learn_from(cond, true, &mut met);
        self.learn_from(cond, false, &mut unmet);
        let happened = |key, state: &State<'b>, walk: &Self| match cond {
            Expr::Unary(UnaryOp::Not, Scalar::Bool, x) => (false, walk.covers(x, key, state)),
            _ => match walk.changed(cond, state) {
                Some((update, false)) if key == (update, Age::Now) => (false, true),
                _ => (walk.covers(cond, key, state), false),
            },
        };
        let keys: Vec<(usize, Age)> = met.pending.keys().copied().collect();
        for key in keys {
            let (if_true, if_false) = happened(key, &met, self);
            if if_true {
                unmet.pending.remove(&key);
            }
            if if_false {
                met.pending.remove(&key);
            }
        }
        let fixed = yes.loose == context.loose;
        let before = fixed.then(|| met.values.clone());
        let yes = self.block(then, yes, met)?;
        if context.top {
            // `then` ended in a return, and `otherwise` is the rest of the body.
            if let Some(end) = &yes {
                self.leave(end);
            }
            return self.block(otherwise, Context { top: true, ..no }, unmet);
        }
        let no = self.block(otherwise, no, unmet)?;
        let (Some(yes), Some(no)) = (&yes, &no) else {
            return Ok(yes.or(no));
        };
        let mut state = self.join(yes, no);
        if before.is_none() {
            // Which branch it was shows in what they assigned.
            let (assigned, mut arrays) = all_assigned(then);
            let (also, others) = all_assigned(otherwise);
            arrays.extend(others);
            let cond_tone = self.tone(value);
            for &local in assigned.union(&also) {
                let at = local.0 as usize;
                if let Value::False | Value::Changed { when: true, .. } = state.values[at] {
                    state.alias[at] = None;
                    continue;
                }
                // What was asked for and not assigned is what the answer was.
                let asked = *cond == Expr::Local(local);
                let yes = match asked && !assigned.contains(&local) {
                    true => Value::True,
                    false => yes.values[at],
                };
                let no = match asked && !also.contains(&local) {
                    true => Value::False,
                    false => no.values[at],
                };
                // Where one branch alone assigns it, and nothing but a constant, what it was implies it, or it that.
                let set = |block, bit| sets_to(block, local, bit);
                let known = match (assigned.contains(&local), also.contains(&local)) {
                    (true, false) if set(then, 1) => Some(Implies::Yes),
                    (true, false) if set(then, 0) => Some(Implies::No),
                    (false, true) if set(otherwise, 1) => Some(Implies::No),
                    (false, true) if set(otherwise, 0) => Some(Implies::Yes),
                    _ => None,
                };
                state.values[at] = Value::Moves(self.chosen(cond_tone, (yes, no), known));
                state.alias[at] = None;
            }
            for array in arrays {
                state.arrays[array as usize] = Tone::Open;
            }
        }
        Ok(Some(state))
    }

    pub(super) fn repeat(
        &mut self,
        body: &'b [Stmt],
        context: Context,
        state: State<'b>,
    ) -> Result<Option<State<'b>>, Reason> {
        let (assigned, _) = all_assigned(body);
        let forget = |walk: &Self, mut head: State<'b>| {
            for value in &mut head.values {
                *value = walk.plain(*value);
            }
            for (at, alias) in head.alias.iter_mut().enumerate() {
                let is_stale = alias.is_some_and(|e| assigned.iter().any(|l| mentions(e, *l)));
                if is_stale || assigned.contains(&LocalId(at as u32)) {
                    *alias = None;
                }
            }
            // A change of an earlier turn is no longer what a test in this one is about.
            let now = head.pending.keys().filter(|k| k.1 == Age::Now);
            let now: Vec<usize> = now.map(|k| k.0).collect();
            for update in now {
                walk.age(update, &mut head);
            }
            head
        };
        let mut head = forget(self, state);
        loop {
            self.loops.push(Turns {
                loose: context.loose,
                breaks: None,
                continues: None,
            });
            let end = self.block(body, context, head.clone());
            let turns = self.loops.pop().expect("it was pushed above");
            let mut next = head.clone();
            for again in end?.iter().chain(&turns.continues) {
                next = self.join(&next, &forget(self, again.clone()));
            }
            if next == head {
                return Ok(turns.breaks);
            }
            head = next;
        }
    }

    /// A change of this turn is one of an earlier one.
    pub(super) fn age(&self, update: usize, state: &mut State<'b>) {
        let Some(now) = state.pending.remove(&(update, Age::Now)) else {
            return;
        };
        if now.node.is_none() {
            return recall((update, Age::Past), now, &mut state.pending);
        }
        match state.pending.remove(&(update, Age::Known)) {
            Some(known) if known.node != now.node => {
                recall((update, Age::Past), known, &mut state.pending);
            }
            Some(known) => recall((update, Age::Known), known, &mut state.pending),
            None => {}
        }
        recall((update, Age::Known), now, &mut state.pending);
    }

    /// Whether a bool is true if this change happened.
    pub(super) fn covers(&self, e: &Expr, key: (usize, Age), state: &State<'b>) -> bool {
        match e {
            Expr::Literal(Scalar::Bool, 1) => true,
            Expr::Local(l) => state.pending[&key].held.contains(l),
            Expr::Binary {
                op: BinaryOp::Or,
                scalar: Scalar::Bool,
                left,
                right,
                ..
            } => self.covers(left, key, state) || self.covers(right, key, state),
            Expr::Compare { .. } => {
                key.1 == Age::Now && self.changed(e, state) == Some((key.0, true))
            }
            _ => false,
        }
    }

    pub(super) fn push(
        &mut self,
        (frontier, node, site): (FrontierId, &'b Expr, SiteId),
        context: Context,
        state: &mut State<'b>,
    ) -> Result<(), Reason> {
        let resource = Resource::from(frontier);
        self.fixed(node, site, context, state)?;
        let notice = Notice::Frontier(frontier);
        let row = match context.gate {
            Gate::Changed(_, row) => row,
            Gate::Would(s) if state.made.contains(&s) => {
                let skip = self.skips[s];
                self.row(skip.buffer, skip.index, state)
            }
            Gate::Monotone | Gate::Would(_) | Gate::Closed => None,
        };
        let row = row.map(|r| &self.rows[r]);
        let Some(row) = row.filter(|row| self.same(node, row.node, state)) else {
            return self.refuse(Why::Notice, resource, site);
        };
        if !self.shared.quiet.contains(&notice) {
            return self.refuse(Why::Notice, resource, site);
        }
        // The node is active as soon as one of these has changed, so each change has to say so.
        let needed: Vec<BufferId> = row.buffers.iter().copied().collect();
        let needed = needed.into_iter().map(|buffer| (buffer, frontier));
        self.shared.needs.extend(needed);
        if !self.is_below(node, &Limit::Extent(Extent::Nodes), state) {
            self.fault(site, context)?;
        }
        let is_told = |p: &Pending<'b>| p.node.is_some_and(|n| self.same(n, node, state));
        let same: Vec<(usize, Age)> = (state.pending.iter())
            .filter(|(_, p)| is_told(p))
            .map(|(key, _)| *key)
            .collect();
        for key in same {
            if let Some(pending) = state.pending.get_mut(&key) {
                pending.told.insert(notice);
            }
        }
        Ok(())
    }

    pub(super) fn reduce(
        &mut self,
        (reduction, value): (ReductionId, &'b Expr),
        context: Context,
        state: &mut State<'b>,
    ) -> Result<(), Reason> {
        let resource = Resource::Reduction(reduction);
        let told = match context.gate {
            Gate::Changed(..) => true,
            Gate::Would(s) => state.made.contains(&s),
            Gate::Monotone | Gate::Closed => false,
        };
        let declared = &self.shared.program.reductions[reduction.index()];
        let op = declared.op;
        let owned = declared.owner == Some(self.shared.fixpoint);
        let said = self.eval(value, context, state)?;
        // `flag.or(changed)` is `if changed { flag.or(true) }`.
        if let (ReduceOp::Or, Value::Changed { when: true, .. }) = (op, said)
            && let Gate::Monotone | Gate::Would(_) = context.gate
            && owned
        {
            let keys: Vec<(usize, Age)> = state.pending.keys().copied().collect();
            for key in keys {
                if self.covers(value, key, state)
                    && let Some(pending) = state.pending.get_mut(&key)
                {
                    pending.told.insert(Notice::Reduction(reduction));
                }
            }
            return Ok(());
        }
        if !told || !owned || self.tone(said) != Tone::Fixed {
            let place = self.place(value).or(context.place);
            return self.refuse(Why::Notice, resource, place);
        }
        let raises = match (op, value) {
            (ReduceOp::Sum, Expr::Literal(_, bits)) => *bits == 1,
            (ReduceOp::Or, Expr::Literal(_, bits)) => *bits != 0,
            _ => false,
        };
        if raises {
            for pending in state.pending.values_mut() {
                pending.told.insert(Notice::Reduction(reduction));
            }
        }
        Ok(())
    }
}

/// One more change of this kind.
fn recall<'b>(
    key: (usize, Age),
    pending: Pending<'b>,
    all: &mut BTreeMap<(usize, Age), Pending<'b>>,
) {
    let both = match all.remove(&key) {
        None => pending,
        Some(before) => before.join(&pending),
    };
    all.insert(key, both);
}

/// Changes of earlier turns whose node is no longer known are among all the others.
fn forget_nodes(all: &mut BTreeMap<(usize, Age), Pending<'_>>) {
    let lost = all
        .extract_if(.., |key, p| key.1 == Age::Known && p.node.is_none())
        .collect::<Vec<_>>();
    for ((update, _), pending) in lost {
        recall((update, Age::Past), pending, all);
    }
}
