//! `match`: arms, guards and what patterns test.

use super::flow::any_of;
use super::*;

impl<'f> Lowerer<'_, 'f> {
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
    pub(super) fn arms(&mut self, v: &Matched, arms: &'f [Arm], to: &Dest) {
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
    pub(super) fn guarded_arm(
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
    pub(super) fn matched_part(&mut self, v: &Matched, path: &[usize]) -> Matched {
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
        if conds.len() > LINEAR {
            let (last, before) = (bodies.len() - 1, &conds[..conds.len() - 1]);
            let (then, ()) =
                self.block(|l| l.chain(before, &bodies[..last], Some(bodies[last]), to));
            return self.emit_if(any_of(conds.to_vec()), then, rest);
        }
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
    pub(super) fn test(&mut self, v: &Matched, t: &'f Test) -> Option<ir::Expr> {
        let (v, s) = match t {
            Test::Any => return None,
            Test::Either(tests) => {
                let tests: Vec<_> = tests.iter().map(|t| self.test(v, t)).collect();
                let tests: Option<Vec<_>> = tests.into_iter().collect();
                return tests.filter(|t| !t.is_empty()).map(any_of);
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
}

/// A value that is matched: its parts, free to repeat.
#[derive(Clone)]
pub(super) struct Matched {
    parts: Vec<ir::Expr>,
    ty: Ty,
}
