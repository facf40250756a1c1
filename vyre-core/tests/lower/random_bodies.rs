//! Random bodies: the lowered kernel does what the tree says, fault by fault.

use crate::oracle::{Fault, LEN, Oracle, World, canonical, uniform};
use crate::random::cases;
use crate::*;
use arbtest::arbitrary::Unstructured;
use vyre_core::cpu::interp::{Interpreter, Item};
use vyre_core::vir0::meaning::Memory;
use vyre_core::vir0::scalar::Scalar;

impl Memory for World {
    fn len(&self, _: BufferId) -> u32 {
        LEN
    }
    fn nodes(&self) -> u32 {
        LEN
    }
    fn edges(&self, _: TopologyId) -> u32 {
        LEN
    }
    fn load8(&mut self, b: BufferId, i: u32) -> Option<u8> {
        Some(*self.buffers[b.index()].get(i as usize)? as u8)
    }
    fn load32(&mut self, b: BufferId, i: u32) -> Option<u32> {
        Some(*self.buffers[b.index()].get(i as usize)? as u32)
    }
    fn load64(&mut self, b: BufferId, i: u32) -> Option<u64> {
        self.buffers[b.index()].get(i as usize).copied()
    }
    fn store8(&mut self, b: BufferId, i: u32, value: u8) -> Option<()> {
        *self.buffers[b.index()].get_mut(i as usize)? = value.into();
        Some(())
    }
    fn store32(&mut self, b: BufferId, i: u32, value: u32) -> Option<()> {
        *self.buffers[b.index()].get_mut(i as usize)? = canonical(BUFFERS[b.index()], value.into());
        Some(())
    }
    fn store64(&mut self, b: BufferId, i: u32, value: u64) -> Option<()> {
        *self.buffers[b.index()].get_mut(i as usize)? = value;
        Some(())
    }
    fn csr_begin(&self, _: TopologyId, node: u32) -> Option<u32> {
        (node < LEN).then_some(node)
    }
    fn csr_end(&self, _: TopologyId, node: u32) -> Option<u32> {
        (node < LEN).then(|| node + 1)
    }
    fn csr_target(&self, _: TopologyId, edge: u32) -> Option<u32> {
        (edge < LEN).then(|| (edge + 1) % LEN)
    }
    fn push(&mut self, _: FrontierId, node: u32, _: u32) {
        self.pushed.push(node);
    }
    fn reserve(&mut self, queue: QueueId, _: u32) -> u32 {
        let (kind, fields) = match queue {
            QueueId::List(_) => (0, 3),
            QueueId::Frontier(_) => (1, 2),
        };
        self.items[kind].push(vec![0; fields]);
        self.items[kind].len() as u32 - 1
    }
    fn set_field(&mut self, queue: QueueId, field: u16, slot: u32, bits: u64) {
        let kind = usize::from(queue != ListId(0).into());
        self.items[kind][slot as usize][field as usize] = bits;
    }
    fn reduce(&mut self, reduction: ReductionId, bits: u64) {
        self.reduced.push((reduction.0, bits));
    }
}

/// Types of locals: what the surface language has.
const TYPES: [Scalar; 7] = [
    Scalar::U32,
    Scalar::Bool,
    Scalar::I32,
    Scalar::U64,
    Scalar::F32,
    Scalar::I64,
    Scalar::F64,
];

/// Grows a body in which every local is assigned before it is read.
struct Generator<'a, 'u> {
    u: &'a mut Unstructured<'u>,
    locals: Vec<Scalar>,
    arrays: Vec<Array>,
    /// Arrays assigned on every path to here.
    known_arrays: Vec<ArrayId>,
    /// Locals assigned on every path to here, and whether they may be assigned again.
    known: Vec<(LocalId, bool)>,
    loops: u32,
    sites: u16,
    /// Statements left.
    budget: u32,
}

impl Generator<'_, '_> {
    /// A number below `n`; 0 when the entropy is used up.
    fn pick(&mut self, n: u32) -> u32 {
        self.u.int_in_range(0..=n - 1).unwrap_or(0)
    }

    fn site(&mut self) -> SiteId {
        self.sites += 1;
        SiteId(self.sites)
    }

    fn scalar(&mut self) -> Scalar {
        TYPES[self.pick(7) as usize]
    }

    fn fresh(&mut self, scalar: Scalar) -> LocalId {
        self.locals.push(scalar);
        LocalId(self.locals.len() as u32 - 1)
    }

    fn known_of(&mut self, scalar: Scalar, mutable: bool) -> Option<LocalId> {
        let all: Vec<LocalId> = self
            .known
            .iter()
            .filter(|(l, m)| self.locals[l.0 as usize] == scalar && (*m || !mutable))
            .map(|(l, _)| *l)
            .collect();
        if all.is_empty() {
            return None;
        }
        Some(all[self.pick(all.len() as u32) as usize])
    }

    fn literal(&mut self, scalar: Scalar) -> Expr {
        let bits = match scalar {
            Scalar::F32 => [0.0f32, 1.0, -1.0, 2.5, f32::INFINITY, 3e9, -0.0]
                [self.pick(7) as usize]
                .to_bits()
                .into(),
            Scalar::F64 => {
                [0.0f64, 1.0, -1.0, 2.5, f64::INFINITY, 3e18, -0.0][self.pick(7) as usize].to_bits()
            }
            _ => [
                0,
                1,
                2,
                3,
                7,
                8,
                31,
                64,
                u64::MAX,
                1 << 31,
                1 << 63,
                (1 << 31) - 1,
                (1 << 63) - 1,
                0xffff_ffff_8000_0000,
            ][self.pick(14) as usize],
        };
        Expr::Literal(scalar, canonical(scalar, bits))
    }

    fn leaf(&mut self, scalar: Scalar) -> Expr {
        match self.pick(8) {
            0..5 => match self.known_of(scalar, false) {
                Some(l) => Expr::Local(l),
                None => self.literal(scalar),
            },
            5 => match scalar {
                U32 => Expr::Uniform(
                    [
                        Uniform::Round,
                        Uniform::Nodes,
                        Uniform::Constant(ConstantId(0)),
                        Uniform::Scalar(ScalarId(0)),
                    ][self.pick(4) as usize],
                    U32,
                ),
                Scalar::F32 => Expr::Uniform(Uniform::Scalar(ScalarId(1)), scalar),
                Scalar::F64 => Expr::Uniform(Uniform::Scalar(ScalarId(2)), scalar),
                _ => self.literal(scalar),
            },
            _ => self.literal(scalar),
        }
    }

    /// An array of the type that can be used here, and an index that is mostly inside.
    fn element(&mut self, scalar: Scalar, depth: u32) -> Option<(ArrayId, Expr)> {
        let arrays = self.known_arrays.iter().copied();
        let all: Vec<ArrayId> = arrays
            .filter(|a| self.arrays[a.0 as usize].scalar == scalar)
            .collect();
        if all.is_empty() {
            return None;
        }
        let array = all[self.pick(all.len() as u32) as usize];
        let len = self.arrays[array.0 as usize].len;
        let index = match self.pick(4) {
            0 => lit(self.pick(len)),
            1 if self.pick(4) == 3 => self.expr(U32, depth),
            _ => bin(BinaryOp::Rem, U32, self.expr(U32, depth), lit(len)),
        };
        Some((array, index))
    }

    /// Declares an array, or assigns one as a whole; one that is fresh in a loop's turn keeps nothing from the last.
    fn array(&mut self, block: &mut Block) {
        let (scalar, len) = (self.scalar(), 1 + self.pick(5));
        let array = ArrayId(self.arrays.len() as u32);
        if self.pick(2) == 0 {
            let value = self.expr(scalar, 2);
            block.push(Stmt::ArrayFill { array, value });
        } else {
            let values = (0..len).map(|_| self.expr(scalar, 1)).collect();
            block.push(Stmt::ArrayAssign { array, values });
        }
        self.arrays.push(Array { scalar, len });
        self.known_arrays.push(array);
        if self.pick(4) == 3 {
            // Its own elements in another order.
            let load = |g: &mut Self| Expr::ArrayLoad {
                array,
                scalar,
                index: Box::new(lit(g.pick(len))),
                site: SiteId(0),
            };
            let values = (0..len).map(|_| load(self)).collect();
            block.push(Stmt::ArrayAssign { array, values });
        }
    }

    /// Mostly in bounds.
    fn index(&mut self, depth: u32) -> Expr {
        let e = self.expr(U32, depth);
        if self.pick(16) == 15 {
            e
        } else {
            bin(BinaryOp::And, U32, e, lit(LEN - 1))
        }
    }

    fn expr(&mut self, scalar: Scalar, depth: u32) -> Expr {
        if depth == 0 {
            return self.leaf(scalar);
        }
        let depth = depth - 1;
        let is_float = matches!(scalar, Scalar::F32 | Scalar::F64);
        let is_int = !is_float && scalar != Scalar::Bool;
        match self.pick(13) {
            0 => self.leaf(scalar),
            1 | 12 => match self.element(scalar, depth) {
                Some((array, index)) => Expr::ArrayLoad {
                    array,
                    scalar,
                    index: Box::new(index),
                    site: self.site(),
                },
                None => self.leaf(scalar),
            },
            2..6 => {
                let ops: &[BinaryOp] = if scalar == Scalar::Bool {
                    &[BinaryOp::And, BinaryOp::Or, BinaryOp::Xor]
                } else if is_float {
                    &[
                        BinaryOp::Add,
                        BinaryOp::Sub,
                        BinaryOp::Mul,
                        BinaryOp::Div,
                        BinaryOp::Rem,
                        BinaryOp::Min,
                        BinaryOp::Max,
                    ]
                } else {
                    &[
                        BinaryOp::Add,
                        BinaryOp::Sub,
                        BinaryOp::Mul,
                        BinaryOp::Div,
                        BinaryOp::Rem,
                        BinaryOp::And,
                        BinaryOp::Or,
                        BinaryOp::Xor,
                        BinaryOp::Shl,
                        BinaryOp::Shr,
                        BinaryOp::RotateLeft,
                        BinaryOp::RotateRight,
                        BinaryOp::WrappingDiv,
                        BinaryOp::WrappingRem,
                        BinaryOp::SaturatingAdd,
                        BinaryOp::SaturatingSub,
                        BinaryOp::SaturatingMul,
                        BinaryOp::AbsDiff,
                        BinaryOp::Min,
                        BinaryOp::Max,
                    ]
                };
                let op = ops[self.pick(ops.len() as u32) as usize];
                let left = self.expr(scalar, depth);
                let shifts = matches!(
                    op,
                    BinaryOp::Shl | BinaryOp::Shr | BinaryOp::RotateLeft | BinaryOp::RotateRight
                );
                let mut right = self.expr(if shifts { U32 } else { scalar }, depth);
                if is_int && matches!(op, BinaryOp::Div | BinaryOp::Rem) && self.pick(8) != 7 {
                    right = bin(BinaryOp::Or, scalar, right, Expr::Literal(scalar, 1));
                }
                Expr::Binary {
                    op,
                    scalar,
                    left: Box::new(left),
                    right: Box::new(right),
                    site: Some(self.site()),
                }
            }
            6 if scalar == Scalar::Bool => not(self.expr(scalar, depth)),
            6 => {
                let ops: &[UnaryOp] = if is_float {
                    &[
                        UnaryOp::Neg,
                        UnaryOp::Abs,
                        UnaryOp::Sqrt,
                        UnaryOp::Floor,
                        UnaryOp::Ceil,
                        UnaryOp::Round,
                        UnaryOp::Trunc,
                        UnaryOp::RoundTiesEven,
                        [UnaryOp::Exp, UnaryOp::Ln, UnaryOp::Sin, UnaryOp::Cos]
                            [self.pick(4) as usize],
                    ]
                } else if scalar == U32 {
                    let of = [U32, Scalar::I32, Scalar::U64, Scalar::I64][self.pick(4) as usize];
                    let op = [
                        UnaryOp::CountOnes,
                        UnaryOp::LeadingZeros,
                        UnaryOp::TrailingZeros,
                    ][self.pick(3) as usize];
                    return Expr::Unary(op, of, Box::new(self.expr(of, depth)));
                } else {
                    &[UnaryOp::Neg, UnaryOp::Not, UnaryOp::Abs]
                };
                let op = ops[self.pick(ops.len() as u32) as usize];
                Expr::Unary(op, scalar, Box::new(self.expr(scalar, depth)))
            }
            7 if scalar == Scalar::Bool => self.compare(depth),
            7 => {
                let from = self.scalar();
                if is_float && from == Scalar::Bool {
                    return self.leaf(scalar);
                }
                let mut value = self.expr(from, depth);
                if self.pick(8) == 7 {
                    value = cast(from, Scalar::U8, value);
                    return cast(Scalar::U8, scalar, value);
                }
                cast(from, scalar, value)
            }
            8 => {
                let cond = self.expr(Scalar::Bool, depth);
                Expr::Select {
                    scalar,
                    cond: Box::new(cond),
                    then: Box::new(self.expr(scalar, depth)),
                    otherwise: Box::new(self.expr(scalar, depth)),
                }
            }
            9 if scalar == Scalar::Bool => self.compare(depth),
            9 if is_float => Expr::MulAdd {
                scalar,
                a: Box::new(self.expr(scalar, depth)),
                b: Box::new(self.expr(scalar, depth)),
                c: Box::new(self.expr(scalar, depth)),
            },
            9 if scalar == U32 => Expr::Csr {
                query: [CsrQuery::Begin, CsrQuery::End, CsrQuery::Target][self.pick(3) as usize],
                topology: TopologyId(0),
                of: Box::new(self.index(depth)),
                site: self.site(),
            },
            9 => match scalar {
                // Not out of floats: that would show the payload of a NaN.
                Scalar::I32 => self.bitcast(U32, scalar, depth),
                Scalar::I64 => self.bitcast(Scalar::U64, scalar, depth),
                _ => self.bitcast(Scalar::I64, scalar, depth),
            },
            10 => Expr::Load {
                buffer: BufferId(scalar as u16),
                scalar,
                index: Box::new(self.index(depth)),
                site: self.site(),
            },
            _ => self.atomic(scalar, depth),
        }
    }

    fn bitcast(&mut self, from: Scalar, to: Scalar, depth: u32) -> Expr {
        Expr::Bitcast {
            from,
            to,
            value: Box::new(self.expr(from, depth)),
        }
    }

    fn compare(&mut self, depth: u32) -> Expr {
        let scalar = self.scalar();
        let ops = [
            CompareOp::Eq,
            CompareOp::Ne,
            CompareOp::Lt,
            CompareOp::Le,
            CompareOp::Gt,
            CompareOp::Ge,
        ];
        let op = ops[self.pick(6) as usize];
        let left = self.expr(scalar, depth);
        let right = self.expr(scalar, depth);
        cmp(op, scalar, left, right)
    }

    fn atomic(&mut self, scalar: Scalar, depth: u32) -> Expr {
        if scalar == Scalar::Bool {
            let of = [U32, Scalar::U64][self.pick(2) as usize];
            return Expr::CompareExchange {
                buffer: BufferId(of as u16),
                scalar: of,
                index: Box::new(self.index(depth)),
                expected: Box::new(self.expr(of, depth)),
                new: Box::new(self.expr(of, depth)),
                site: self.site(),
            };
        }
        let ops: &[AtomicOp] = if matches!(scalar, Scalar::F32 | Scalar::F64) {
            &[AtomicOp::Add, AtomicOp::Sub, AtomicOp::Swap]
        } else {
            &[
                AtomicOp::Add,
                AtomicOp::Sub,
                AtomicOp::Min,
                AtomicOp::Max,
                AtomicOp::And,
                AtomicOp::Or,
                AtomicOp::Xor,
                AtomicOp::Swap,
            ]
        };
        let op = ops[self.pick(ops.len() as u32) as usize];
        let index = Box::new(self.index(depth));
        let value = Box::new(self.expr(scalar, depth));
        Expr::Atomic {
            op,
            buffer: BufferId(scalar as u16),
            scalar,
            index,
            value,
            site: self.site(),
        }
    }

    /// Statements; locals that they declare are known only inside.
    fn block(&mut self) -> Block {
        let (known, known_arrays) = (self.known.len(), self.known_arrays.len());
        let mut block = vec![];
        for _ in 0..=self.pick(4) {
            if self.budget == 0 {
                break;
            }
            self.budget -= 1;
            self.stmt(&mut block);
        }
        if self.pick(8) == 7 {
            self.jump(&mut block);
        }
        self.known.truncate(known);
        self.known_arrays.truncate(known_arrays);
        block
    }

    /// A jump that ends a block. Loops count their turns at the head, so `continue` makes progress.
    fn jump(&mut self, block: &mut Block) {
        let depth = |g: &mut Self| g.pick(g.loops);
        match self.pick(3) {
            0 if self.loops > 0 => block.push(Stmt::Break { depth: depth(self) }),
            1 if self.loops > 0 => block.push(Stmt::Continue { depth: depth(self) }),
            _ => block.push(Stmt::Return),
        }
    }

    fn stmt(&mut self, block: &mut Block) {
        match self.pick(21) {
            19 => {
                let byte = cast(U32, Scalar::U8, self.expr(U32, 1));
                let fields = vec![self.expr(U32, 1), byte, self.expr(Scalar::F64, 1)];
                let (list, site) = (ListId(0), self.site());
                let append = Expr::Append { list, fields, site };
                if self.pick(2) == 0 {
                    block.push(Stmt::Eval(append));
                } else {
                    let slot = self.fresh(U32);
                    block.push(Stmt::Assign(slot, append));
                    self.known.push((slot, false));
                }
            }
            20 => {
                let fields = vec![self.expr(Scalar::I64, 1), self.expr(Scalar::Bool, 1)];
                let (frontier, site) = (FrontierId(1), self.site());
                block.push(Stmt::PushItem {
                    frontier,
                    fields,
                    site,
                });
            }
            15 => self.array(block),
            16 | 17 => {
                let scalar = self.scalar();
                match self.element(scalar, 2) {
                    Some((array, index)) => block.push(Stmt::ArrayStore {
                        array,
                        index,
                        value: self.expr(scalar, 2),
                        site: self.site(),
                    }),
                    None => self.array(block),
                }
            }
            18 => {
                let (index, len) = (
                    self.index(2),
                    bin(BinaryOp::Or, U32, self.expr(U32, 1), lit(8)),
                );
                let site = self.site();
                block.push(Stmt::CheckIndex { index, len, site });
            }
            0..3 => {
                let scalar = self.scalar();
                let e = self.expr(scalar, 3);
                let local = self.fresh(scalar);
                block.push(Stmt::Assign(local, e));
                let mutable = self.pick(2) == 0;
                if mutable && self.pick(2) == 0 {
                    // A second assignment, so that it has a register.
                    let e = self.expr(scalar, 1);
                    block.push(Stmt::Assign(local, e));
                }
                self.known.push((local, mutable));
            }
            3 if self.pick(2) == 0 => {
                // A second name, mostly for what changes later.
                let scalar = self.scalar();
                if let Some(of) = self.known_of(scalar, true) {
                    let local = self.fresh(scalar);
                    block.push(Stmt::Assign(local, Expr::Local(of)));
                    self.known.push((local, false));
                }
            }
            3 | 4 => {
                let scalar = self.scalar();
                if let Some(local) = self.known_of(scalar, true) {
                    let e = self.expr(scalar, 3);
                    block.push(Stmt::Assign(local, e));
                }
            }
            5 | 6 => {
                let scalar = self.scalar();
                let index = self.index(1);
                let value = self.expr(scalar, 2);
                let (buffer, site) = (BufferId(scalar as u16), self.site());
                block.push(if scalar != Scalar::Bool && self.pick(3) == 2 {
                    Stmt::AtomicStore {
                        buffer,
                        index,
                        value,
                        site,
                    }
                } else {
                    Stmt::Store {
                        buffer,
                        index,
                        value,
                        site,
                    }
                });
            }
            7 => {
                let scalar = self.scalar();
                let e = self.expr(scalar, 2);
                block.push(Stmt::Eval(e));
            }
            8 => {
                let site = self.site();
                let value = self.index(1);
                block.push(Stmt::Push {
                    frontier: FrontierId(0),
                    value,
                    site,
                });
                let value = self.expr(U32, 1);
                block.push(Stmt::Reduce {
                    reduction: ReductionId(0),
                    value,
                });
            }
            9 => {
                let cond = self.expr(Scalar::Bool, 2);
                let kind = vyre_core::vir0::trap::TrapKind::Assert;
                // Most asserts would end the run.
                let cond = bin(
                    BinaryOp::Or,
                    Scalar::Bool,
                    cond,
                    Expr::Literal(Scalar::Bool, u64::from(self.pick(4) != 3)),
                );
                let site = self.site();
                block.push(Stmt::Assert { cond, kind, site });
            }
            10 => self.conditional_assignment(block),
            11 => {
                let cond = self.expr(Scalar::Bool, 2);
                let then = self.block();
                let otherwise = if self.pick(2) == 0 {
                    vec![]
                } else {
                    self.block()
                };
                block.push(Stmt::If {
                    cond,
                    then,
                    otherwise,
                });
            }
            12 => self.short_circuit(block),
            13 if self.loops < 3 => self.counted_loop(block),
            _ if self.loops < 3 => self.helper(block),
            _ => {}
        }
    }

    /// `if c { x = a } else { x = b }`, with `x` new or old.
    fn conditional_assignment(&mut self, block: &mut Block) {
        let scalar = self.scalar();
        let old = self.known_of(scalar, true);
        let local = old.unwrap_or_else(|| self.fresh(scalar));
        let cond = if self.pick(3) == 0 {
            self.compare(1)
        } else {
            self.expr(Scalar::Bool, 1)
        };
        let side = |g: &mut Self| vec![Stmt::Assign(local, g.expr(scalar, 1))];
        let (mut then, mut otherwise) = (side(self), side(self));
        if let Expr::Compare {
            scalar: s,
            left,
            right,
            ..
        } = &cond
            && *s == scalar
            && self.pick(2) == 0
        {
            then = vec![Stmt::Assign(local, (**left).clone())];
            otherwise = vec![Stmt::Assign(local, (**right).clone())];
        }
        if old.is_some() && self.pick(2) == 0 {
            if self.pick(2) == 0 {
                then.clear()
            } else {
                otherwise.clear()
            }
        }
        block.push(Stmt::If {
            cond,
            then,
            otherwise,
        });
        if old.is_none() {
            self.known.push((local, true));
        }
    }

    /// `a && b` and `a || b` as a front end writes them.
    fn short_circuit(&mut self, block: &mut Block) {
        let t = self.fresh(Scalar::Bool);
        let a = self.expr(Scalar::Bool, 2);
        block.push(Stmt::Assign(t, a));
        let known = self.known.len();
        let mut inner = vec![];
        if self.pick(2) == 1 {
            let scalar = self.scalar();
            let (x, e) = (self.fresh(scalar), self.expr(scalar, 2));
            inner.push(Stmt::Assign(x, e));
            self.known.push((x, false));
        }
        let b = self.expr(Scalar::Bool, 2);
        inner.push(Stmt::Assign(t, b));
        self.known.truncate(known);
        let test = |g: &mut Self| {
            if g.pick(2) == 0 {
                Expr::Local(t)
            } else {
                not(Expr::Local(t))
            }
        };
        let (first, second) = (test(self), test(self));
        block.push(Stmt::If {
            cond: first,
            then: inner,
            otherwise: vec![],
        });
        let then = if self.loops > 0 && self.pick(2) == 0 {
            vec![Stmt::Break {
                depth: self.pick(self.loops),
            }]
        } else {
            self.block()
        };
        let otherwise = if self.pick(3) == 2 {
            self.block()
        } else {
            vec![]
        };
        block.push(Stmt::If {
            cond: second,
            then,
            otherwise,
        });
    }

    /// The shapes of `for` and `while` loops with a counter, mostly stepped at the head.
    fn counted_loop(&mut self, block: &mut Block) {
        let (old, x) = (self.known_of(U32, true), self.fresh(U32));
        // A counter of an outer scope may go on where it was.
        let goes_on = old.filter(|_| self.pick(6) == 5);
        let i = goes_on.unwrap_or_else(|| self.fresh(U32));
        let (now, one) = (Expr::Local(i), lit(1));
        let down = self.pick(5) == 4;
        if goes_on.is_none() {
            block.push(Stmt::Assign(i, lit(if down { 3 } else { 0 })));
        }
        let end = bin(BinaryOp::And, U32, self.expr(U32, 1), lit(3));
        let known = self.known.len();
        let copy = Stmt::Assign(x, now.clone());
        let up = Stmt::Assign(i, add(now.clone(), one.clone()));
        let mut body = if down {
            let head = when(cmp(CompareOp::Ge, U32, lit(0), now.clone()), vec![BREAK]);
            let step = Stmt::Assign(i, bin(BinaryOp::Sub, U32, now.clone(), one));
            vec![head, step, copy]
        } else {
            match self.pick(5) {
                0 | 1 => vec![
                    when(not(cmp(CompareOp::Lt, U32, now, end)), vec![BREAK]),
                    copy,
                    up,
                ],
                2 => vec![
                    when(cmp(CompareOp::Ge, U32, now, lit(3)), vec![BREAK]),
                    copy,
                    up,
                ],
                3 => vec![
                    either(cmp(CompareOp::Lt, U32, now, lit(4)), vec![], vec![BREAK]),
                    copy,
                    up,
                ],
                _ => {
                    // An inclusive range tells its last turn apart by a flag.
                    let done = self.fresh(Scalar::Bool);
                    block.push(Stmt::Assign(
                        done,
                        cmp(CompareOp::Gt, U32, now.clone(), lit(2)),
                    ));
                    let last = cmp(CompareOp::Ge, U32, now, lit(2));
                    vec![
                        when(Expr::Local(done), vec![BREAK]),
                        copy,
                        Stmt::Assign(done, last),
                        up,
                    ]
                }
            }
        };
        self.known.push((x, false));
        if goes_on.is_none() && self.pick(4) == 3 {
            self.known.push((i, false));
        }
        self.loops += 1;
        body.extend(self.block());
        if self.pick(4) == 3 {
            let cond = self.expr(Scalar::Bool, 1);
            body.push(when(
                cond,
                vec![[BREAK, CONTINUE, Stmt::Return][self.pick(3) as usize].clone()],
            ));
            body.extend(self.block());
        }
        self.loops -= 1;
        self.known.truncate(known);
        block.push(repeat(body));
    }

    /// An inlined helper with early returns: a loop that runs once and leaves its result in a local.
    fn helper(&mut self, block: &mut Block) {
        let scalar = self.scalar();
        let result = self.fresh(scalar);
        let (known, known_arrays) = (self.known.len(), self.known_arrays.len());
        let mut body = vec![];
        self.loops += 1;
        for _ in 0..self.pick(3) {
            self.stmt(&mut body);
            let cond = self.expr(Scalar::Bool, 1);
            let mut then = vec![];
            self.stmt(&mut then);
            self.known.truncate(known);
            self.known_arrays.truncate(known_arrays);
            let e = self.expr(scalar, 1);
            then.push(Stmt::Assign(result, e));
            then.push(BREAK);
            body.push(when(cond, then));
        }
        let e = self.expr(scalar, 2);
        body.push(Stmt::Assign(result, e));
        body.push(BREAK);
        self.loops -= 1;
        self.known.truncate(known);
        self.known_arrays.truncate(known_arrays);
        // What stood inside may continue or break this loop before the result exists; so it has a value from before.
        block.push(Stmt::Assign(result, Expr::Literal(scalar, 0)));
        block.push(repeat(body));
        self.known.push((result, true));
    }
}

fn generate(u: &mut Unstructured<'_>) -> Body {
    let mut g = Generator {
        u,
        locals: vec![U32; 3],
        arrays: vec![],
        known_arrays: vec![],
        known: (0..3).map(|i| (LocalId(i), true)).collect(),
        loops: 0,
        sites: 0,
        budget: 0,
    };
    g.budget = 2 + g.pick(23);
    let mut block = vec![];
    while g.budget > 0 && (block.is_empty() || !g.u.is_empty()) {
        block.extend(g.block());
    }
    let arrays = std::mem::take(&mut g.arrays);
    Body {
        arrays,
        ..body(&g.locals.clone(), block)
    }
}

/// One line a statement.
fn listing(block: &Block, depth: usize) -> String {
    let line = |text: &str| format!("{}{text}\n", "  ".repeat(depth));
    let inner = |b: &Block| listing(b, depth + 1);
    let mut out = String::new();
    for stmt in block {
        out += &match stmt {
            Stmt::If {
                cond,
                then,
                otherwise,
            } => line(&format!("if {cond:?}")) + &inner(then) + &line("else") + &inner(otherwise),
            Stmt::Loop { body, .. } => line("loop") + &inner(body),
            other => line(&format!("{other:?}")),
        };
    }
    out
}

/// Runs a body's kernel and the oracle on two items and compares what they leave behind.
pub(crate) fn check(body: &Body) {
    let program = program(body);
    let kernel = &program.kernels[0];
    let shown = || {
        format!(
            "{}\n{}",
            disasm::kernel(&program, KernelId(0)),
            listing(&body.block, 0)
        )
    };
    if let Err(errors) = verify::verify(&program) {
        panic!("{errors:#?}\n{}", shown());
    }
    let uniforms: Vec<u64> = kernel
        .uniforms
        .iter()
        .map(|u| match u {
            Uniform::Constant(c) if c.0 > 0 => program.constants[c.index()].bits,
            u => uniform(*u),
        })
        .collect();
    let mut interpreter = Interpreter::new(kernel, &uniforms);
    for item in [
        Item {
            index: 0,
            src: 1,
            dst: 2,
        },
        Item {
            index: 5,
            src: 9,
            dst: 7,
        },
    ] {
        let mut oracle = Oracle::new(body, item, World::new());
        // A `continue` inside a helper's loop, which has no counter, may go on for ever.
        let Some(expected) = oracle.run() else {
            continue;
        };
        let expected = expected.map(|_| ());
        let mut world = World::new();
        let actual = interpreter.run(item, &mut world).map(|_| ()).map_err(|f| {
            let at = kernel.sites.binary_search_by_key(&f.pc, |s| s.0);
            let site = kernel.sites[at.expect("a fault has a site")].1;
            Fault {
                kind: f.kind,
                index: f.index,
                len: f.len,
                site,
            }
        });
        assert_eq!(actual, expected, "{item:?}\n{}", shown());
        let (actual, expected) = (world.without_payloads(), oracle.world.without_payloads());
        assert_eq!(actual, expected, "{item:?}\n{}", shown());
    }
}

#[test]
fn random_bodies_mean_what_the_tree_says() {
    cases(900, |u| {
        check(&generate(u));
        Ok(())
    });
}

/// Operands at and next to the ends of the types, which the lowering does not know.
#[test]
fn integer_methods_hold_at_the_ends_of_their_types() {
    use BinaryOp::*;
    let values = [0, 1, 2, 0xffff, u64::MAX, u64::MAX - 1, 1 << 31, 1 << 63];
    let more = [
        (1 << 31) - 1,
        (1 << 63) - 1,
        1 << 32,
        0xb504_f334,
        3_037_000_500,
    ];
    let values: Vec<u64> = values.into_iter().chain(more).collect();
    for scalar in [U32, Scalar::I32, Scalar::U64, Scalar::I64] {
        let hidden = |x: u64| {
            let zero = load(scalar as u16, scalar, lit(0));
            let x = Expr::Literal(scalar, canonical(scalar, x));
            bin(Xor, scalar, zero, x)
        };
        let known = |x: u64| Expr::Literal(scalar, canonical(scalar, x));
        for op in [
            SaturatingAdd,
            SaturatingSub,
            SaturatingMul,
            AbsDiff,
            WrappingDiv,
            WrappingRem,
        ] {
            for (&x, &y) in values
                .iter()
                .flat_map(|x| values.iter().map(move |y| (x, y)))
            {
                let pairs = [
                    (hidden(x), hidden(y)),
                    (known(x), hidden(y)),
                    (hidden(x), known(y)),
                ];
                for (a, b) in pairs {
                    check(&body(
                        &[U32; 3],
                        vec![store(scalar as u16, lit(1), bin(op, scalar, a, b))],
                    ));
                }
            }
        }
    }
}

#[test]
fn powers_and_clamps_are_those_of_std() {
    use vyre_core::compile::ir::build::Sequence;
    let run = |f: &dyn Fn(&mut Sequence<'_>) -> Expr, scalar: Scalar| {
        let (mut locals, mut block) = (vec![U32; 3], vec![]);
        let value = f(&mut Sequence::new(&mut locals, &mut block, SiteId(1)));
        block.push(store(scalar as u16, lit(1), value));
        let b = body(&locals, block);
        check(&b);
        let mut oracle = Oracle::new(&b, Item::index(0), World::new());
        let outcome = oracle.run().expect("ends");
        outcome.map(|_| oracle.world.buffers[scalar as usize][1])
    };
    let hidden = |scalar: Scalar, bits: u64| {
        let zero = load(scalar as u16, scalar, lit(0));
        bin(BinaryOp::Or, scalar, zero, Expr::Literal(scalar, bits))
    };
    for (x, n) in [
        (0, 0),
        (3, 0),
        (3, 1),
        (7, 2),
        (3, 40),
        (2, 31),
        (u64::MAX, 3),
        (5, u32::MAX),
    ] {
        let expected = (x as i64).wrapping_pow(n) as u64;
        let (i64, n) = (Scalar::I64, u64::from(n));
        for exponent in [Expr::Literal(U32, n), hidden(U32, n)] {
            let pow = |s: &mut Sequence<'_>| s.pow(i64, hidden(i64, x), exponent.clone());
            assert_eq!(run(&pow, i64), Ok(expected), "{x}^{n}");
        }
    }
    let clamp = |x: u64, least: u64, most: u64| {
        let i32 = Scalar::I32;
        run(
            &|s| {
                s.clamp(
                    i32,
                    hidden(i32, x),
                    Expr::Literal(i32, least),
                    hidden(i32, most),
                )
            },
            i32,
        )
    };
    assert_eq!(
        (clamp(9, 2, 5), clamp(u64::MAX, 2, 5), clamp(3, 2, 5)),
        (Ok(5), Ok(2), Ok(3))
    );
    let fault = clamp(3, 5, 2).unwrap_err();
    assert_eq!(
        (fault.kind, fault.site),
        (vyre_core::vir0::trap::TrapKind::Assert, SiteId(1))
    );
    let f = |x: f32| Expr::Literal(Scalar::F32, x.to_bits().into());
    for x in [f32::NAN, -3.0, 0.5, f32::INFINITY] {
        let clamped = run(
            &|s| s.clamp(Scalar::F32, f(x), f(-1.0), f(1.0)),
            Scalar::F32,
        );
        let bits = clamped.expect("in order") as u32;
        let expected = x.clamp(-1.0, 1.0);
        assert!(
            f32::from_bits(bits).to_bits() == expected.to_bits()
                || x.is_nan() && f32::from_bits(bits).is_nan()
        );
    }
}
