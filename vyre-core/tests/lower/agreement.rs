//! Passes in the first two classes give the same whatever the order of items; some of the third do not.

use crate::oracle::{LEN, Oracle, World};
use crate::*;
use arbtest::arbitrary::{Result, Unstructured};
use std::cell::Cell;
use vyre_core::compile::effects::agreement;
use vyre_core::cpu::interp::Item;
use vyre_core::vir0::module::Agreement;
use vyre_core::vir0::trap::TrapKind;

/// Locals: the edge, its source, its destination, then temporaries.
const SRC: u32 = 1;
const DST: u32 = 2;
const LOCALS: usize = 12;

struct Grow<'u, 'd> {
    u: &'u mut Unstructured<'d>,
    next: u32,
}

impl Grow<'_, '_> {
    fn node(&mut self) -> Result<Expr> {
        Ok(local(*self.u.choose(&[SRC, DST])?))
    }

    /// Numbers stay far from both ends, so that nothing wraps.
    fn value(&mut self, depth: u32) -> Result<Expr> {
        if depth == 0 || self.u.ratio(1, 3)? {
            return Ok(match self.u.int_in_range(0..=5)? {
                0 => local(0),
                1 => lit(self.u.int_in_range(0..=9)?),
                2 => atomic_load(D, U32, local(DST)),
                3 => local(SRC),
                _ => atomic_load(D, U32, local(SRC)),
            });
        }
        let op = *self.u.choose(&[
            BinaryOp::Add,
            BinaryOp::SaturatingAdd,
            BinaryOp::Min,
            BinaryOp::Max,
            BinaryOp::And,
            BinaryOp::Or,
            BinaryOp::Xor,
            BinaryOp::SaturatingSub,
            BinaryOp::Shr,
            BinaryOp::Div,
            BinaryOp::Rem,
        ])?;
        let left = self.value(depth - 1)?;
        let right = match op {
            BinaryOp::SaturatingSub | BinaryOp::Shr | BinaryOp::Div | BinaryOp::Rem => {
                lit(self.u.int_in_range(1..=3)?)
            }
            BinaryOp::Add => lit(self.u.int_in_range(0..=9)?),
            _ => self.value(depth - 1)?,
        };
        Ok(bin(op, U32, left, right))
    }

    fn compare(&mut self) -> Result<CompareOp> {
        use CompareOp::*;
        self.u.choose(&[Lt, Le, Gt, Ge, Eq, Ne]).copied()
    }

    /// An update whose change, mostly, pushes its index.
    fn update(&mut self, op: AtomicOp) -> Result<Block> {
        let (to, value) = (local(DST), self.value(2)?);
        let to = if self.u.ratio(1, 8)? {
            self.node()?
        } else {
            to
        };
        let (kept, old) = (self.next, self.next + 1);
        self.next += 2;
        let pushed = if self.u.ratio(1, 8)? {
            self.node()?
        } else {
            to.clone()
        };
        let mut block = vec![
            set(kept, value),
            set(old, atomic(op, D, U32, to.clone(), local(kept))),
        ];
        let (new, old) = (local(kept), local(old));
        let test = match op {
            AtomicOp::Min => cmp(CompareOp::Lt, U32, new, old),
            AtomicOp::Max => cmp(CompareOp::Gt, U32, new, old),
            AtomicOp::Or => cmp(
                CompareOp::Ne,
                U32,
                bin(BinaryOp::Or, U32, old.clone(), new),
                old,
            ),
            _ => cmp(
                CompareOp::Ne,
                U32,
                bin(BinaryOp::And, U32, old.clone(), new),
                old,
            ),
        };
        let test = match test {
            Expr::Compare {
                scalar,
                left,
                right,
                ..
            } if self.u.ratio(1, 10)? => Expr::Compare {
                op: self.compare()?,
                scalar,
                left,
                right,
            },
            test => test,
        };
        let mut told = vec![push(pushed)];
        if self.u.ratio(1, 10)? {
            told = vec![when(self.guard()?, told)];
        }
        block.push(when(test, told));
        // Look first.
        if self.u.ratio(1, 4)? {
            let op = match op {
                AtomicOp::Min => CompareOp::Lt,
                _ => CompareOp::Gt,
            };
            let looks = cmp(op, U32, local(kept), atomic_load(D, U32, to));
            let rest = block.split_off(1);
            block.push(when(looks, rest));
        }
        Ok(block)
    }

    fn guard(&mut self) -> Result<Expr> {
        Ok(cmp(self.compare()?, U32, self.value(1)?, self.value(1)?))
    }

    /// An assertion about what does not move, under a guard that may.
    fn assertion(&mut self) -> Result<Stmt> {
        let (of, bound) = (self.node()?, lit(self.u.int_in_range(0..=4)?));
        let assert = Stmt::Assert {
            cond: cmp(self.compare()?, U32, of, bound),
            kind: TrapKind::Assert,
            site: SiteId(0),
        };
        Ok(when(self.guard()?, vec![assert]))
    }

    /// A claim, or one that shows more than its index.
    fn claim(&mut self) -> Result<Block> {
        let free = lit(1_000_000 + self.u.int_in_range(0..=3)?);
        let node = self.node()?;
        let (index, taken) = (local(DST), self.u.int_in_range(1..=9)?);
        let pushed = if self.u.ratio(1, 2)? {
            node
        } else {
            index.clone()
        };
        let taken = if self.u.ratio(1, 4)? {
            local(0)
        } else {
            lit(taken)
        };
        Ok(vec![when(
            exchange(D, index, free, taken),
            vec![push(pushed)],
        )])
    }

    fn block(&mut self) -> Result<Block> {
        if self.u.ratio(1, 5)? {
            return self.claim();
        }
        let ops = [AtomicOp::Min, AtomicOp::Max, AtomicOp::Or, AtomicOp::And];
        let op = *self.u.choose(&ops)?;
        let mut block = Vec::new();
        if self.u.ratio(1, 6)? {
            block.push(self.assertion()?);
        }
        for _ in 0..self.u.int_in_range(1..=2)? {
            let op = if self.u.ratio(1, 10)? {
                *self.u.choose(&ops)?
            } else {
                op
            };
            let update = self.update(op)?;
            match self.u.int_in_range(0..=5)? {
                0 => {
                    let guard = self.guard()?;
                    block.push(when(guard, update));
                }
                1 => {
                    let guard = self.guard()?;
                    block.push(when(guard, vec![Stmt::Return]));
                    block.extend(update);
                }
                _ => block.extend(update),
            }
        }
        Ok(block)
    }
}

type Ended = std::result::Result<(Vec<u64>, u32), ()>;

/// What is left, and after how many rounds, or that an item trapped; `None` if it does not end soon, or numbers grow so
/// large that sums may wrap.
fn run(
    b: &Body,
    (edges, start): (&[(u32, u32)], &[u64]),
    order: &mut dyn FnMut(usize) -> usize,
) -> Option<Ended> {
    let mut world = World::new();
    world.buffers[usize::from(D)] = start.to_vec();
    world.pushed = vec![0, 3];
    for round in 1..=60 {
        let front = std::mem::take(&mut world.pushed);
        if front.is_empty() {
            return Some(Ok((world.buffers[usize::from(D)].clone(), round)));
        }
        let mut items = Vec::new();
        for v in front {
            for (i, &(src, dst)) in (0..).zip(edges) {
                if src == v {
                    items.push(Item { index: i, src, dst });
                }
            }
        }
        while !items.is_empty() {
            let item = items.swap_remove(order(items.len()));
            let mut oracle = Oracle::new(b, item, world);
            if oracle.run()?.is_err() {
                return Some(Err(()));
            }
            world = oracle.world;
            // Four of them and a small number are the most that an item sums: the next sums may wrap, which no class
            // promises for.
            if world.buffers[usize::from(D)].iter().any(|&d| d > 1 << 28) {
                return None;
            }
        }
        if world.pushed.len() > 400 {
            return None;
        }
    }
    None
}

/// Random bytes of a test, the same for a number on every machine.
fn bytes(nth: u64) -> Vec<u8> {
    let mut state = nth;
    let mut word = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ mixed >> 31).to_le_bytes()
    };
    (0..512).flat_map(|_| word()).collect()
}

/// As many cases on any machine, about a second's work.
fn on_cases(test: impl Fn(&mut Unstructured<'_>) -> Result<()>) {
    for nth in 0..2_000 {
        let bytes = bytes(nth << 32);
        test(&mut Unstructured::new(&bytes)).expect("numbers are zero behind the end");
    }
}

#[test]
fn no_order_of_items_shows_in_the_first_two_classes() {
    let (bits, result, differs) = (Cell::new(0), Cell::new(0), Cell::new(0));
    let trapped = Cell::new(0);
    let test = |u: &mut Unstructured<'_>| {
        let edges: Vec<(u32, u32)> = (0..14)
            .map(|_| Ok((u.int_in_range(0..=LEN - 1)?, u.int_in_range(0..=LEN - 1)?)))
            .collect::<Result<_>>()?;
        let start: Vec<u64> = (0..LEN)
            .map(|_| Ok(1_000_000 + u64::from(u.int_in_range(0u32..=7)?)))
            .collect::<Result<_>>()?;
        let mut grow = Grow { u, next: 3 };
        let block = grow.block()?;
        let b = body(&[U32; LOCALS], block);
        let until = Body {
            item: ItemLocals::default(),
            value: Some(cmp(
                CompareOp::Eq,
                U32,
                Expr::Uniform(Uniform::FrontierLen(FrontierId(0)), U32),
                lit(0),
            )),
            ..body(&[], vec![])
        };
        let class = agreement(&program(&b), &[&b], &[&until]);
        let mut runs = Vec::new();
        for _ in 0..6 {
            let mut seed = u.arbitrary::<u64>()? | 1;
            let mut order = |n: usize| {
                seed ^= seed << 13;
                seed ^= seed >> 7;
                seed ^= seed << 17;
                (seed % n as u64) as usize
            };
            runs.extend(run(&b, (&edges, &start), &mut order));
        }
        let ended = runs.first().cloned();
        let Some(ended) = ended else {
            return Ok(());
        };
        let left = |run: &Ended| run.clone().map(|(left, _)| left);
        trapped.set(trapped.get() + u32::from(ended.is_err()));
        match class {
            Agreement::Bits => {
                bits.set(bits.get() + 1);
                assert!(runs.iter().all(|r| *r == ended), "{runs:?}\n{b:?}");
            }
            Agreement::Result(_) => {
                result.set(result.get() + 1);
                assert!(
                    runs.iter().all(|r| left(r) == left(&ended)),
                    "{runs:?}\n{edges:?}\n{b:?}"
                );
            }
            Agreement::Open(_) => {
                let all = runs.iter().all(|r| left(r) == left(&ended));
                differs.set(differs.get() + u32::from(!all));
            }
        }
        Ok(())
    };
    on_cases(test);
    assert!(bits.get() > 5, "{bits:?} of the first class");
    assert!(result.get() > 10, "{result:?} of the second class");
    assert!(differs.get() > 0, "nothing of the third class differed");
    assert!(trapped.get() > 5, "{trapped:?} trapped");
}

/// The edge into node 3 looks at a bound that holds at first, and no longer when node 3 has learned of node 0.
#[test]
fn an_assertion_under_a_guard_that_closes_shows_an_order() {
    let guarded = |guard: CompareOp| {
        let here = atomic_load(D, U32, local(SRC));
        let assert = Stmt::Assert {
            cond: cmp(CompareOp::Lt, U32, local(SRC), lit(3)),
            kind: TrapKind::Assert,
            site: SiteId(0),
        };
        body(
            &[U32; LOCALS],
            vec![
                set(3, here),
                when(cmp(guard, U32, local(3), lit(2)), vec![assert]),
                set(4, atomic(AtomicOp::Min, D, U32, local(DST), local(3))),
                when(
                    cmp(CompareOp::Lt, U32, local(3), local(4)),
                    vec![push(local(DST))],
                ),
            ],
        )
    };
    let until = Body {
        item: ItemLocals::default(),
        value: Some(cmp(
            CompareOp::Eq,
            U32,
            Expr::Uniform(Uniform::FrontierLen(FrontierId(0)), U32),
            lit(0),
        )),
        ..body(&[], vec![])
    };
    let (edges, start) = ([(0, 3), (3, 1)], [1, 9, 9, 9, 9, 9, 9, 9]);
    let ended = |b: &Body, last: bool| {
        let mut order = |n: usize| if last { n - 1 } else { 0 };
        run(b, (&edges, &start), &mut order).expect("it ends")
    };
    let closes = guarded(CompareOp::Gt);
    assert!(ended(&closes, false).is_ok());
    assert!(ended(&closes, true).is_err());
    let class = agreement(&program(&closes), &[&closes], &[&until]);
    let Agreement::Open(reasons) = class else {
        panic!("{class:?}");
    };
    assert_eq!(reasons[1].why, Why::NotMonotone);
    assert_eq!(reasons[1].resource, None);
    // One that opens, every order comes to.
    let opens = guarded(CompareOp::Lt);
    assert!(ended(&opens, false).is_err());
    assert!(ended(&opens, true).is_err());
    let class = agreement(&program(&opens), &[&opens], &[&until]);
    assert!(matches!(class, Agreement::Result(_)), "{class:?}");
}

/// What an item does to elements: its own, as a rule.
fn own_block(u: &mut Unstructured<'_>) -> Result<Block> {
    let index = |u: &mut Unstructured<'_>| {
        let own = !u.ratio(1, 12)?;
        Ok(local(if own { 0 } else { SRC }))
    };
    let mut block = Vec::new();
    for kept in 3..3 + u.int_in_range(1..=4)? {
        let at = index(u)?;
        let value = match u.int_in_range(0..=3)? {
            0 => atomic_load(D, U32, index(u)?),
            1 => lit(u.int_in_range(0..=9)?),
            2 => local(SRC),
            _ => local(kept - 1),
        };
        block.push(set(kept, value));
        let value = local(kept);
        block.push(match u.int_in_range(0..=3)? {
            0 => Stmt::AtomicStore {
                buffer: BufferId(D),
                index: at,
                value,
                site: SiteId(0),
            },
            1 => Stmt::Eval(exchange(D, at, local(kept - 1), value)),
            _ => {
                let op = *u.choose(&[
                    AtomicOp::Add,
                    AtomicOp::Sub,
                    AtomicOp::Min,
                    AtomicOp::Max,
                    AtomicOp::And,
                    AtomicOp::Or,
                    AtomicOp::Xor,
                    AtomicOp::Swap,
                ])?;
                set(kept, atomic(op, D, U32, at, value))
            }
        });
    }
    Ok(block)
}

#[test]
fn no_order_of_items_shows_in_elements_of_their_own() {
    let (bits, differs) = (Cell::new(0), Cell::new(0));
    let test = |u: &mut Unstructured<'_>| {
        let start: Vec<u64> = (0..LEN)
            .map(|_| u.int_in_range(0..=9u64))
            .collect::<Result<_>>()?;
        let others: Vec<u32> = (0..LEN)
            .map(|_| u.int_in_range(0..=LEN - 1))
            .collect::<Result<_>>()?;
        let b = body(&[U32; LOCALS], own_block(u)?);
        let mut p = program(&b);
        p.waves[0].domain = Domain::Nodes;
        let class = agreement(&p, &[&b], &[]);
        let mut left = Vec::new();
        for _ in 0..6 {
            let mut seed = u.arbitrary::<u64>()? | 1;
            let mut items: Vec<u32> = (0..LEN).collect();
            let mut world = World::new();
            world.buffers[usize::from(D)] = start.clone();
            while !items.is_empty() {
                seed ^= seed << 13;
                seed ^= seed >> 7;
                seed ^= seed << 17;
                let index = items.swap_remove((seed % items.len() as u64) as usize);
                let src = others[index as usize];
                let mut oracle = Oracle::new(&b, Item { index, src, dst: 0 }, world);
                let ended = oracle.run().expect("there is no loop");
                ended.expect("no index is out of bounds");
                world = oracle.world;
            }
            left.push(world.buffers[usize::from(D)].clone());
        }
        let alike = left.iter().all(|l| *l == left[0]);
        match class {
            Agreement::Bits => {
                bits.set(bits.get() + 1);
                assert!(alike, "{left:?}\n{b:?}");
            }
            Agreement::Result(_) => panic!("a fixpoint's condition was not given"),
            Agreement::Open(_) => differs.set(differs.get() + u32::from(!alike)),
        }
        Ok(())
    };
    on_cases(test);
    assert!(bits.get() > 10, "{bits:?} of the first class");
    assert!(differs.get() > 0, "nothing of the third class differed");
}
