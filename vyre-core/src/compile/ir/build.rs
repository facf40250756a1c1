//! Statement sequences for the methods of the surface language that are more than one operation.
//!
//! A front end calls a method of [`Sequence`] with operands that it has already compiled; the sequence appends
//! statements and gives the expression that holds the result. Operands are evaluated in the order of the arguments,
//! once, and before anything else the sequence does; results are locals, or pure expressions over locals that nothing
//! assigns again.
//!
//! ```
//! use vyre_core::compile::ir::Expr;
//! use vyre_core::compile::ir::build::Sequence;
//! use vyre_core::vir0::module::SiteId;
//! use vyre_core::vir0::scalar::Scalar;
//! let (mut locals, mut block) = (vec![Scalar::U32], vec![]);
//! let mut sequence = Sequence::new(&mut locals, &mut block, SiteId(0));
//! // x.pow(3), for the local x
//! let x = Expr::Local(vyre_core::compile::ir::LocalId(0));
//! let cube = sequence.pow(Scalar::U32, x, Expr::Literal(Scalar::U32, 3));
//! assert_eq!((cube.scalar(&locals), block.len()), (Scalar::U32, 3));
//! ```

use super::{AtomicOp, BinaryOp, Block, CompareOp, Expr, LocalId, Stmt, UnaryOp};
use crate::vir0::module::{BufferId, ListId, SiteId, Uniform, row_words};
use crate::vir0::scalar::Scalar;
use crate::vir0::table::{Index, Table};
use crate::vir0::trap::TrapKind;

/// Appends statements to a block, with new locals where values have to wait.
#[derive(Debug)]
pub struct Sequence<'a> {
    locals: &'a mut Vec<Scalar>,
    block: &'a mut Block,
    site: SiteId,
}

impl<'a> Sequence<'a> {
    /// A sequence at the end of `block`, in a body with these locals; what it does traps at `site`.
    pub fn new(locals: &'a mut Vec<Scalar>, block: &'a mut Block, site: SiteId) -> Sequence<'a> {
        Sequence {
            locals,
            block,
            site,
        }
    }

    fn fresh(&mut self, scalar: Scalar) -> LocalId {
        self.locals.push(scalar);
        LocalId(self.locals.len() as u32 - 1)
    }

    fn set(&mut self, local: LocalId, value: Expr) {
        self.block.push(Stmt::Assign(local, value));
    }

    /// Appends a statement of the caller's own.
    pub fn push(&mut self, stmt: Stmt) {
        self.block.push(stmt);
    }

    /// A new local with this value.
    pub fn local(&mut self, value: Expr) -> LocalId {
        let scalar = value.scalar(self.locals);
        let local = self.fresh(scalar);
        self.set(local, value);
        local
    }

    /// The value under a name, unless it is a literal or a uniform: evaluated here, to be read any number of times.
    fn named(&mut self, value: Expr) -> Expr {
        match value {
            Expr::Literal(..) | Expr::Uniform(..) => value,
            value => Expr::Local(self.local(value)),
        }
    }

    /// Statements in a block of their own.
    fn inner(&mut self, f: impl FnOnce(&mut Sequence<'_>)) -> Block {
        let mut block = Block::new();
        f(&mut Sequence {
            locals: self.locals,
            block: &mut block,
            site: self.site,
        });
        block
    }

    /// Traps unless `index < len`.
    fn check(&mut self, index: Expr, len: Expr) {
        self.block.push(Stmt::CheckIndex {
            index,
            len,
            site: self.site,
        });
    }

    /// `for k in 0..words { f }`.
    fn each_word(&mut self, words: Expr, f: impl FnOnce(&mut Sequence<'_>, Expr)) {
        let (words, k) = (self.named(words), self.local(u32_literal(0)));
        let body = self.inner(|s| {
            let end = compare(CompareOp::Ge, Scalar::U32, Expr::Local(k), words);
            s.block.push(when(end, vec![Stmt::Break { depth: 0 }]));
            f(s, Expr::Local(k));
            let next = binary(BinaryOp::Add, Scalar::U32, Expr::Local(k), u32_literal(1));
            s.set(k, next);
        });
        self.block.push(Stmt::Loop { body, short: true });
    }

    /// `base.pow(exponent)`, wrapping, of an integer type; the exponent is a u32.
    pub fn pow(&mut self, scalar: Scalar, base: Expr, exponent: Expr) -> Expr {
        let one = Expr::Literal(scalar, 1);
        let times = |x: Expr, y: Expr| binary(BinaryOp::Mul, scalar, x, y);
        let (base, exponent) = (self.named(base), self.named(exponent));
        if let Expr::Literal(_, bits) = exponent {
            // Square and multiply, the highest bit first.
            let exponent = bits as u32;
            let Some(high) = exponent.checked_ilog2() else {
                return one;
            };
            let mut power = base.clone();
            for bit in (0..high).rev() {
                power = Expr::Local(self.local(times(power.clone(), power)));
                if exponent >> bit & 1 != 0 {
                    power = Expr::Local(self.local(times(power, base.clone())));
                }
            }
            return power;
        }
        let (power, square, rest) = (self.local(one), self.local(base), self.local(exponent));
        let get = Expr::Local;
        let is = |op, x| compare(op, Scalar::U32, x, u32_literal(0));
        let body = self.inner(|s| {
            s.block.push(when(
                is(CompareOp::Eq, get(rest)),
                vec![Stmt::Break { depth: 0 }],
            ));
            let odd = binary(BinaryOp::And, Scalar::U32, get(rest), u32_literal(1));
            let multiply = vec![Stmt::Assign(power, times(get(power), get(square)))];
            s.block.push(when(is(CompareOp::Ne, odd), multiply));
            s.set(square, times(get(square), get(square)));
            let half = binary(BinaryOp::Shr, Scalar::U32, get(rest), u32_literal(1));
            s.set(rest, half);
        });
        self.block.push(Stmt::Loop { body, short: true });
        get(power)
    }

    /// The old value of an element that a [`CompareExchange`](Expr::CompareExchange) is about, stored or not.
    ///
    /// Bytecode only says whether it stored. If not, the element was another one than expected, and a load tells which;
    /// if it is the expected one by then, the exchange is tried again.
    pub fn compare_and_swap(&mut self, exchange: Expr) -> Expr {
        let Expr::CompareExchange {
            buffer,
            scalar,
            index,
            expected,
            new,
            site,
        } = exchange
        else {
            return exchange;
        };
        let (index, expected) = (self.named(*index), self.named(*expected));
        let new = self.named(*new);
        let old = self.local(expected.clone());
        let body = self.inner(|s| {
            let stored = Expr::CompareExchange {
                buffer,
                scalar,
                index: Box::new(index.clone()),
                expected: Box::new(expected.clone()),
                new: Box::new(new),
                site,
            };
            s.block.push(when(stored, vec![Stmt::Break { depth: 0 }]));
            let now = Expr::AtomicLoad {
                buffer,
                scalar,
                index: Box::new(index),
                site,
            };
            s.set(old, now);
            let other = compare(CompareOp::Ne, scalar, Expr::Local(old), expected);
            s.block.push(when(other, vec![Stmt::Break { depth: 0 }]));
        });
        self.block.push(Stmt::Loop { body, short: true });
        Expr::Local(old)
    }

    /// `x.clamp(least, most)`: traps as an assert unless `least <= most`; a NaN stays.
    pub fn clamp(&mut self, scalar: Scalar, x: Expr, least: Expr, most: Expr) -> Expr {
        let (x, least, most) = (self.named(x), self.named(least), self.named(most));
        self.block.push(Stmt::Assert {
            cond: compare(CompareOp::Le, scalar, least.clone(), most.clone()),
            kind: TrapKind::Assert,
            site: self.site,
        });
        if !matches!(scalar, Scalar::F32 | Scalar::F64) {
            let raised = binary(BinaryOp::Max, scalar, x, least);
            return binary(BinaryOp::Min, scalar, raised, most);
        }
        let bounded = |op, x: Expr, bound: Expr| Expr::Select {
            scalar,
            cond: Box::new(compare(op, scalar, x.clone(), bound.clone())),
            then: Box::new(bound),
            otherwise: Box::new(x),
        };
        let raised = self.named(bounded(CompareOp::Lt, x, least));
        bounded(CompareOp::Gt, raised, most)
    }
}

/// What the methods of a relation are in a body.
impl Table {
    fn key(s: &Sequence<'_>, fields: Vec<Expr>) -> Expr {
        let mut at = 0u32;
        let parts = fields.into_iter().map(|field| {
            let bits = 8 * field.scalar(s.locals).size_bytes() as u32;
            let part = Table::part(s, field, at);
            at += bits;
            part
        });
        Table::whole(parts)
    }

    /// The bits of a scalar, from so many bits on.
    fn part(s: &Sequence<'_>, field: Expr, at: u32) -> Expr {
        let scalar = field.scalar(s.locals);
        let cast = |from, to, value| Expr::Cast {
            from,
            to,
            value: Box::new(value),
        };
        let bits = |to, value| Expr::Bitcast {
            from: scalar,
            to,
            value: Box::new(value),
        };
        let word = match scalar {
            Scalar::U64 => field,
            Scalar::I64 | Scalar::F64 => bits(Scalar::U64, field),
            Scalar::I32 | Scalar::F32 => wide(bits(Scalar::U32, field)),
            Scalar::Bool => wide(cast(Scalar::Bool, Scalar::U32, field)),
            Scalar::U8 | Scalar::U32 => wide(field),
        };
        match at {
            0 => word,
            at => binary(BinaryOp::Shl, Scalar::U64, word, u32_literal(at)),
        }
    }

    fn whole(parts: impl Iterator<Item = Expr>) -> Expr {
        let both = |key, part| binary(BinaryOp::Or, Scalar::U64, key, part);
        parts.reduce(both).unwrap_or(Expr::Literal(Scalar::U64, 0))
    }

    /// Where a tuple is looked for: what its cell holds, the first cell that may be it, and how many cells there are.
    fn begin(self, s: &mut Sequence<'_>, fields: Vec<Expr>) -> (Expr, LocalId, Expr) {
        let wide = Table::key_bits(
            &fields
                .iter()
                .map(|f| f.scalar(s.locals))
                .collect::<Vec<_>>(),
        );
        let key = Table::key(s, fields);
        let key = s.named(key);
        let u64_literal = |x| Expr::Literal(Scalar::U64, x);
        let cells = binary(
            BinaryOp::Sub,
            Scalar::U32,
            Expr::Len(self.cells),
            u32_literal(Table::BESIDE),
        );
        let cells = s.named(cells);
        let first = first_cell(s, key.clone(), cells.clone());
        if wide < Table::KEY_BITS {
            // No key is `EMPTY`.
            let at = s.local(first);
            return (key, at, cells);
        }
        let is_empty = compare(
            CompareOp::Eq,
            Scalar::U64,
            key.clone(),
            u64_literal(Table::EMPTY),
        );
        let is_empty = s.named(is_empty);
        let choose = |scalar, then, otherwise| Expr::Select {
            scalar,
            cond: Box::new(is_empty.clone()),
            then: Box::new(then),
            otherwise: Box::new(otherwise),
        };
        let at = s.local(choose(Scalar::U32, cells.clone(), first));
        let held = choose(Scalar::U64, u64_literal(0), key);
        (s.named(held), at, cells)
    }

    /// Goes on to the next cell, or gives up: where all were looked at, or where the relation was found full, which ends
    /// the run.
    fn go_on(self, s: &mut Sequence<'_>, (at, cells): (LocalId, &Expr), gone: LocalId) {
        let u32s = |op, x, y| binary(op, Scalar::U32, x, y);
        let next = u32s(BinaryOp::Add, Expr::Local(at), u32_literal(1));
        let next = s.named(next);
        let begins = compare(CompareOp::Ge, Scalar::U32, next.clone(), cells.clone());
        s.set(
            at,
            Expr::Select {
                scalar: Scalar::U32,
                cond: Box::new(begins),
                then: Box::new(u32_literal(0)),
                otherwise: Box::new(next),
            },
        );
        s.set(gone, u32s(BinaryOp::Add, Expr::Local(gone), u32_literal(1)));
        let part = u32s(
            BinaryOp::And,
            Expr::Local(gone),
            u32_literal(Table::PATIENCE - 1),
        );
        let asks = s.inner(|s| {
            let all = compare(CompareOp::Ge, Scalar::U32, Expr::Local(gone), cells.clone());
            s.block.push(when(all, vec![Stmt::Break { depth: 0 }]));
            let full = self.load(s, self.full(cells));
            let full = compare(
                CompareOp::Ne,
                Scalar::U64,
                full,
                Expr::Literal(Scalar::U64, Table::EMPTY),
            );
            s.block.push(when(full, vec![Stmt::Break { depth: 0 }]));
        });
        let due = compare(CompareOp::Eq, Scalar::U32, part, u32_literal(0));
        s.block.push(when(due, asks));
    }

    fn full(self, cells: &Expr) -> Expr {
        binary(BinaryOp::Add, Scalar::U32, cells.clone(), u32_literal(1))
    }

    fn load(self, s: &Sequence<'_>, index: Expr) -> Expr {
        Expr::AtomicLoad {
            buffer: self.cells,
            scalar: Scalar::U64,
            index: Box::new(index),
            site: s.site,
        }
    }

    /// `relation.insert(tuple)`: whether it is new. The list is the relation's.
    pub fn insert(self, s: &mut Sequence<'_>, list: ListId, fields: Vec<Expr>) -> Expr {
        let fields: Vec<Expr> = fields.into_iter().map(|field| s.named(field)).collect();
        let (held, at, cells) = self.begin(s, fields.clone());
        let new = s.local(Expr::Literal(Scalar::Bool, 0));
        let gone = s.local(u32_literal(0));
        let empty = Expr::Literal(Scalar::U64, Table::EMPTY);
        let body = s.inner(|s| {
            let now = self.load(s, Expr::Local(at));
            let now = s.named(now);
            let there = compare(CompareOp::Eq, Scalar::U64, now.clone(), held.clone());
            s.block.push(when(there, vec![Stmt::Break { depth: 0 }]));
            let free = compare(CompareOp::Eq, Scalar::U64, now, empty.clone());
            let take = s.inner(|s| {
                let taken = Expr::CompareExchange {
                    buffer: self.cells,
                    scalar: Scalar::U64,
                    index: Box::new(Expr::Local(at)),
                    expected: Box::new(empty.clone()),
                    new: Box::new(held.clone()),
                    site: s.site,
                };
                let is_new = Stmt::Assign(new, Expr::Literal(Scalar::Bool, 1));
                s.block
                    .push(when(taken, vec![is_new, Stmt::Break { depth: 0 }]));
                // Another lane took it: this very cell may have the tuple now.
                s.block.push(Stmt::Continue { depth: 0 });
            });
            s.block.push(when(free, take));
            self.go_on(s, (at, &cells), gone);
        });
        s.block.push(Stmt::Loop { body, short: true });
        let appends = s.inner(|s| {
            let slot = Expr::Append {
                list,
                fields,
                site: s.site,
            };
            let slot = s.named(slot);
            let none = compare(CompareOp::Eq, Scalar::U32, slot, u32_literal(u32::MAX));
            let tell = Stmt::AtomicStore {
                buffer: self.cells,
                index: self.full(&cells),
                value: Expr::Literal(Scalar::U64, 0),
                site: s.site,
            };
            s.block.push(when(none, vec![tell]));
        });
        s.block.push(when(Expr::Local(new), appends));
        Expr::Local(new)
    }

    /// `relation.contains(tuple)`.
    pub fn contains(self, s: &mut Sequence<'_>, fields: Vec<Expr>) -> Expr {
        let (held, at, cells) = self.begin(s, fields);
        let found = s.local(Expr::Literal(Scalar::Bool, 0));
        let gone = s.local(u32_literal(0));
        let body = s.inner(|s| {
            let now = Expr::Load {
                buffer: self.cells,
                scalar: Scalar::U64,
                index: Box::new(Expr::Local(at)),
                site: s.site,
            };
            let now = s.named(now);
            let there = compare(CompareOp::Eq, Scalar::U64, now.clone(), held);
            let is_found = Stmt::Assign(found, Expr::Literal(Scalar::Bool, 1));
            s.block
                .push(when(there, vec![is_found, Stmt::Break { depth: 0 }]));
            let empty = Expr::Literal(Scalar::U64, Table::EMPTY);
            let free = compare(CompareOp::Eq, Scalar::U64, now, empty);
            s.block.push(when(free, vec![Stmt::Break { depth: 0 }]));
            self.go_on(s, (at, &cells), gone);
        });
        s.block.push(Stmt::Loop { body, short: true });
        Expr::Local(found)
    }
}

/// [`Table::first_cell`].
fn first_cell(s: &mut Sequence<'_>, key: Expr, cells: Expr) -> Expr {
    let u64s = |op, x, y| binary(op, Scalar::U64, x, y);
    let high = |x| u64s(BinaryOp::Shr, x, u32_literal(32));
    let mix = || Expr::Literal(Scalar::U64, Table::MIX);
    let mixed = u64s(BinaryOp::Mul, key, mix());
    let mixed = s.named(mixed);
    let mixed = u64s(BinaryOp::Xor, mixed.clone(), high(mixed));
    let mixed = high(u64s(BinaryOp::Mul, mixed, mix()));
    let place = u64s(BinaryOp::Mul, mixed, wide(cells));
    narrow(high(place))
}

fn wide(x: Expr) -> Expr {
    Expr::Cast {
        from: Scalar::U32,
        to: Scalar::U64,
        value: Box::new(x),
    }
}

fn narrow(x: Expr) -> Expr {
    Expr::Cast {
        from: Scalar::U64,
        to: Scalar::U32,
        value: Box::new(x),
    }
}

/// What the methods of an index are in a body.
impl Index {
    /// So many units of its cells.
    fn units(self, s: &mut Sequence<'_>, n: u32) -> Expr {
        let all = Expr::Len(self.cells);
        let unit = Expr::Binary {
            op: BinaryOp::Div,
            scalar: Scalar::U32,
            left: Box::new(all),
            right: Box::new(u32_literal(Index::UNITS)),
            site: Some(s.site),
        };
        let unit = s.named(unit);
        match n {
            1 => unit,
            n => {
                let units = binary(BinaryOp::Mul, Scalar::U32, unit, u32_literal(n));
                s.named(units)
            }
        }
    }

    /// Looks for a key in a hash set of `cells` cells, from the cell `base` on: the local with the cell where it is,
    /// counted from there. Where it is not, `absent` says what happens at a free cell; it leaves the loop, or begins its
    /// next turn.
    fn search(
        self,
        s: &mut Sequence<'_>,
        (key, base, cells): (&Expr, &Expr, &Expr),
        load: impl Fn(&Sequence<'_>, Expr) -> Expr,
        absent: impl FnOnce(&mut Sequence<'_>, Expr),
    ) -> LocalId {
        let first = first_cell(s, key.clone(), cells.clone());
        let at = s.local(first);
        let body = s.inner(|s| {
            let cell = binary(BinaryOp::Add, Scalar::U32, base.clone(), Expr::Local(at));
            let cell = s.named(cell);
            let now = load(s, cell.clone());
            let now = s.named(now);
            let there = compare(CompareOp::Eq, Scalar::U64, now.clone(), key.clone());
            s.block.push(when(there, vec![Stmt::Break { depth: 0 }]));
            let empty = Expr::Literal(Scalar::U64, Table::EMPTY);
            let free = compare(CompareOp::Eq, Scalar::U64, now, empty);
            let absent = s.inner(|s| absent(s, cell));
            s.block.push(when(free, absent));
            let next = binary(BinaryOp::Add, Scalar::U32, Expr::Local(at), u32_literal(1));
            let next = s.named(next);
            let begins = compare(CompareOp::Ge, Scalar::U32, next.clone(), cells.clone());
            let next = Expr::Select {
                scalar: Scalar::U32,
                cond: Box::new(begins),
                then: Box::new(u32_literal(0)),
                otherwise: Box::new(next),
            };
            s.set(at, next);
        });
        s.block.push(Stmt::Loop { body, short: true });
        at
    }

    /// The same, and takes the free cell.
    fn claim(self, s: &mut Sequence<'_>, (key, base, cells): (&Expr, &Expr, &Expr)) -> LocalId {
        let load = |s: &Sequence<'_>, index| Expr::AtomicLoad {
            buffer: self.cells,
            scalar: Scalar::U64,
            index: Box::new(index),
            site: s.site,
        };
        self.search(s, (key, base, cells), load, |s, cell| {
            let taken = Expr::CompareExchange {
                buffer: self.cells,
                scalar: Scalar::U64,
                index: Box::new(cell),
                expected: Box::new(Expr::Literal(Scalar::U64, Table::EMPTY)),
                new: Box::new(key.clone()),
                site: s.site,
            };
            s.block.push(when(taken, vec![Stmt::Break { depth: 0 }]));
            // Another lane took it: this very cell may have the key now.
            s.block.push(Stmt::Continue { depth: 0 });
        })
    }

    /// The key of a block: the cell of its tuples' key, and which of that key's blocks it is.
    fn block(slot: LocalId, number: Expr) -> Expr {
        let high = binary(
            BinaryOp::Shl,
            Scalar::U64,
            wide(Expr::Local(slot)),
            u32_literal(32),
        );
        binary(BinaryOp::Or, Scalar::U64, high, wide(number))
    }

    /// The cell of a key's tuple with this number. `find` gives the block with a key, among so many from a cell on.
    fn place(
        self,
        s: &mut Sequence<'_>,
        (slot, number): (LocalId, Expr),
        find: impl FnOnce(&mut Sequence<'_>, (&Expr, &Expr, &Expr)) -> LocalId,
    ) -> Expr {
        let u32s = |op, x, y| binary(op, Scalar::U32, x, y);
        let first = self.units(s, 2 * Index::KEYS);
        let beside = u32s(BinaryOp::Mul, Expr::Local(slot), u32_literal(Index::FIRST));
        let beside = u32s(BinaryOp::Add, beside, first);
        let cell = s.local(u32s(BinaryOp::Add, beside, number.clone()));
        let further = s.inner(|s| {
            let behind = u32s(BinaryOp::Sub, number.clone(), u32_literal(Index::FIRST));
            let behind = s.named(behind);
            let bits = Index::BLOCK.ilog2();
            let block = u32s(BinaryOp::Shr, behind.clone(), u32_literal(bits));
            let key = Index::block(slot, block);
            let key = s.named(key);
            let (base, cells) = (self.units(s, Index::BLOCKS), self.units(s, 1));
            let at = find(s, (&key, &base, &cells));
            let begin = u32s(BinaryOp::Mul, Expr::Local(at), u32_literal(Index::BLOCK));
            let tuples = self.units(s, Index::BLOCKS + 1);
            let begin = u32s(BinaryOp::Add, begin, tuples);
            let within = u32s(BinaryOp::And, behind, u32_literal(Index::BLOCK - 1));
            s.set(cell, u32s(BinaryOp::Add, begin, within));
        });
        let is_further = compare(
            CompareOp::Ge,
            Scalar::U32,
            number,
            u32_literal(Index::FIRST),
        );
        s.block.push(when(is_further, further));
        Expr::Local(cell)
    }

    /// Adds a tuple.
    pub fn file(self, s: &mut Sequence<'_>, fields: Vec<Expr>) {
        let tuple = Table::key(s, fields);
        let tuple = s.named(tuple);
        let mask = Expr::Literal(Scalar::U64, self.mask);
        let key = binary(BinaryOp::And, Scalar::U64, tuple.clone(), mask);
        let key = s.named(key);
        let keys = self.units(s, Index::KEYS);
        let slot = self.claim(s, (&key, &u32_literal(0), &keys));
        let count = binary(BinaryOp::Add, Scalar::U32, keys, Expr::Local(slot));
        let before = Expr::Atomic {
            op: AtomicOp::Add,
            buffer: self.cells,
            scalar: Scalar::U64,
            index: Box::new(count),
            value: Box::new(Expr::Literal(Scalar::U64, 1)),
            site: s.site,
        };
        let before = s.named(before);
        let number = binary(BinaryOp::Add, Scalar::U32, narrow(before), u32_literal(1));
        let number = s.named(number);
        let index = self.place(s, (slot, number), |s, block| self.claim(s, block));
        s.block.push(Stmt::AtomicStore {
            buffer: self.cells,
            index,
            value: tuple,
            site: s.site,
        });
    }

    /// `for t in relation.with_column(x) { .. }`: the start of a loop's body, and the scalars of the tuple behind it.
    /// `columns` are the scalars that are looked for, each with its position in the tuple. The caller puts the loop's own
    /// statements there; `break` and `continue` in them mean this loop, at depth 0.
    pub fn with(
        self,
        s: &mut Sequence<'_>,
        columns: Vec<(usize, Expr)>,
        fields: &[Scalar],
    ) -> (Block, Vec<LocalId>) {
        let bits = |fields: &[Scalar]| Table::key_bits(fields) as u32;
        let parts = columns
            .into_iter()
            .map(|(position, value)| Table::part(s, value, bits(&fields[..position])));
        let key = Table::whole(parts);
        let key = s.named(key);
        let load = |s: &Sequence<'_>, index| Expr::Load {
            buffer: self.cells,
            scalar: Scalar::U64,
            index: Box::new(index),
            site: s.site,
        };
        let keys = self.units(s, Index::KEYS);
        let none = s.local(Expr::Literal(Scalar::Bool, 0));
        let slot = self.search(s, (&key, &u32_literal(0), &keys), load, |s, _| {
            s.set(none, Expr::Literal(Scalar::Bool, 1));
            s.block.push(Stmt::Break { depth: 0 });
        });
        let count = s.local(u32_literal(0));
        let counts = s.inner(|s| {
            let cell = binary(BinaryOp::Add, Scalar::U32, keys, Expr::Local(slot));
            let less_one = narrow(load(s, cell));
            s.set(
                count,
                binary(BinaryOp::Add, Scalar::U32, less_one, u32_literal(1)),
            );
        });
        s.block.push(when(not_bool(Expr::Local(none)), counts));
        let next = s.local(u32_literal(0));
        let mut scalars = Vec::with_capacity(fields.len());
        let head = s.inner(|s| {
            let (now, end) = (Expr::Local(next), Expr::Local(count));
            let done = compare(CompareOp::Ge, Scalar::U32, now.clone(), end);
            s.block.push(when(done, vec![Stmt::Break { depth: 0 }]));
            let number = Expr::Local(s.local(now.clone()));
            s.set(
                next,
                binary(BinaryOp::Add, Scalar::U32, now, u32_literal(1)),
            );
            let cell = self.place(s, (slot, number), |s, block| {
                self.search(s, block, load, |s, _| {
                    // There is a block for each tuple that was counted.
                    s.block.push(Stmt::Break { depth: 0 });
                })
            });
            let entry = Expr::Entry {
                index: self.cells,
                at: Box::new(cell),
                site: s.site,
            };
            let tuple = s.local(entry);
            scalars.extend(Index::scalars(s, tuple, fields));
        });
        (head, scalars)
    }

    /// The scalars of a tuple's key; of a u8, a u32.
    fn scalars(s: &mut Sequence<'_>, key: LocalId, fields: &[Scalar]) -> Vec<LocalId> {
        let mut at = 0u32;
        let part = |field: &Scalar| {
            let key = Expr::Local(key);
            let part = match at {
                0 => key,
                at => binary(BinaryOp::Shr, Scalar::U64, key, u32_literal(at)),
            };
            at += 8 * field.size_bytes() as u32;
            let bits = |from, value| Expr::Bitcast {
                from,
                to: *field,
                value: Box::new(value),
            };
            let value = match field {
                Scalar::U64 => part,
                Scalar::I64 | Scalar::F64 => bits(Scalar::U64, part),
                Scalar::U32 => narrow(part),
                Scalar::I32 | Scalar::F32 => bits(Scalar::U32, narrow(part)),
                Scalar::U8 => binary(BinaryOp::And, Scalar::U32, narrow(part), u32_literal(0xff)),
                Scalar::Bool => {
                    let byte = binary(BinaryOp::And, Scalar::U32, narrow(part), u32_literal(0xff));
                    nonzero(byte)
                }
            };
            s.local(value)
        };
        fields.iter().map(part).collect()
    }
}

fn u32_literal(x: u32) -> Expr {
    Expr::Literal(Scalar::U32, x.into())
}

fn binary(op: BinaryOp, scalar: Scalar, left: Expr, right: Expr) -> Expr {
    Expr::Binary {
        op,
        scalar,
        left: Box::new(left),
        right: Box::new(right),
        site: None,
    }
}

fn compare(op: CompareOp, scalar: Scalar, left: Expr, right: Expr) -> Expr {
    Expr::Compare {
        op,
        scalar,
        left: Box::new(left),
        right: Box::new(right),
    }
}

fn when(cond: Expr, then: Block) -> Stmt {
    Stmt::If {
        cond,
        then,
        otherwise: Block::new(),
    }
}

/// A buffer of bit rows ([`Extent::NodeBits`](crate::vir0::module::Extent::NodeBits)): what the methods of `dsl::Bits`
/// are in a body.
///
/// Each method does what the native one does: it checks the node, then the other row's node, the bit or the word, and
/// every access to a word is atomic. Where `wanted` is false, the result is `None` and the accesses are updates.
#[derive(Clone, Debug)]
pub struct Bits {
    /// Its words.
    pub buffer: BufferId,
    /// Bits of a row: a u32 literal or uniform.
    pub width: Expr,
}

/// What is brought to a word of a row.
#[derive(Clone, Debug)]
pub struct RowWord {
    /// Its bits.
    pub bits: Expr,
    /// The way it is made says that none of them is beyond the row's width: nothing needs to be dropped.
    pub within: bool,
}

/// What happens to a row with the words `x` of another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowOp {
    /// `row |= x`.
    Or,
    /// `row &= x`.
    And,
    /// `row &= !x`.
    AndNot,
}

impl Bits {
    /// `rows.words()`.
    pub fn words(&self) -> Expr {
        match self.width {
            Expr::Literal(_, bits) => u32_literal(row_words(bits as u32)),
            // Rounded up without an overflow.
            ref width => {
                let part = binary(BinaryOp::And, Scalar::U32, width.clone(), u32_literal(31));
                let part = compare(CompareOp::Ne, Scalar::U32, part, u32_literal(0));
                binary(
                    BinaryOp::Add,
                    Scalar::U32,
                    binary(BinaryOp::Shr, Scalar::U32, width.clone(), u32_literal(5)),
                    Expr::Cast {
                        from: Scalar::Bool,
                        to: Scalar::U32,
                        value: Box::new(part),
                    },
                )
            }
        }
    }

    /// Checks the node; the index of its row's first word.
    fn row(&self, s: &mut Sequence<'_>, v: Expr) -> Expr {
        s.check(v.clone(), Expr::Uniform(Uniform::Nodes, Scalar::U32));
        let base = binary(BinaryOp::Mul, Scalar::U32, v, self.words());
        Expr::Local(s.local(base))
    }

    /// Checks the node and the word; the index of the word.
    fn cell(&self, s: &mut Sequence<'_>, v: Expr, k: Expr) -> Expr {
        let base = self.row(s, v);
        s.check(k.clone(), self.words());
        binary(BinaryOp::Add, Scalar::U32, base, k)
    }

    /// Checks the node and the bit; the index of its word, and the mask.
    fn bit(&self, s: &mut Sequence<'_>, v: Expr, bit: Expr) -> (Expr, Expr) {
        let base = self.row(s, v);
        s.check(bit.clone(), self.width.clone());
        let word = binary(BinaryOp::Shr, Scalar::U32, bit.clone(), u32_literal(5));
        let mask = binary(BinaryOp::Shl, Scalar::U32, u32_literal(1), bit);
        (binary(BinaryOp::Add, Scalar::U32, base, word), mask)
    }

    fn load(&self, s: &Sequence<'_>, index: Expr) -> Expr {
        Expr::AtomicLoad {
            buffer: self.buffer,
            scalar: Scalar::U32,
            index: Box::new(index),
            site: s.site,
        }
    }

    fn fetch(&self, s: &Sequence<'_>, op: AtomicOp, index: Expr, value: Expr) -> Expr {
        Expr::Atomic {
            op,
            buffer: self.buffer,
            scalar: Scalar::U32,
            index: Box::new(index),
            value: Box::new(value),
            site: s.site,
        }
    }

    /// The old value of an atomic, under a name; nothing, and no result, unless it is wanted.
    fn update(s: &mut Sequence<'_>, fetch: Expr, wanted: bool) -> Option<Expr> {
        if wanted {
            Some(Expr::Local(s.local(fetch)))
        } else {
            s.block.push(Stmt::Eval(fetch));
            None
        }
    }

    /// `rows.get(v, bit)`.
    pub fn get(&self, s: &mut Sequence<'_>, v: Expr, bit: Expr) -> Expr {
        let (v, bit) = (s.named(v), s.named(bit));
        let (index, mask) = self.bit(s, v, bit);
        let word = self.load(s, index);
        let found = nonzero(binary(BinaryOp::And, Scalar::U32, word, mask));
        Expr::Local(s.local(found))
    }

    /// `rows.set(v, bit)`: whether the bit was clear.
    pub fn set(&self, s: &mut Sequence<'_>, v: Expr, bit: Expr, wanted: bool) -> Option<Expr> {
        let (v, bit) = (s.named(v), s.named(bit));
        let (index, mask) = self.bit(s, v, bit);
        let mask = Expr::Local(s.local(mask));
        let fetch = self.fetch(s, AtomicOp::Or, index, mask.clone());
        let old = Bits::update(s, fetch, wanted)?;
        let before = binary(BinaryOp::And, Scalar::U32, old, mask);
        Some(compare(CompareOp::Eq, Scalar::U32, before, u32_literal(0)))
    }

    /// `rows.unset(v, bit)`: whether the bit was set.
    pub fn unset(&self, s: &mut Sequence<'_>, v: Expr, bit: Expr, wanted: bool) -> Option<Expr> {
        let (v, bit) = (s.named(v), s.named(bit));
        let (index, mask) = self.bit(s, v, bit);
        let mask = Expr::Local(s.local(mask));
        let fetch = self.fetch(s, AtomicOp::And, index, not(mask.clone()));
        let old = Bits::update(s, fetch, wanted)?;
        Some(nonzero(binary(BinaryOp::And, Scalar::U32, old, mask)))
    }

    /// `rows.word(v, k)`.
    pub fn word(&self, s: &mut Sequence<'_>, v: Expr, k: Expr) -> Expr {
        let (v, k) = (s.named(v), s.named(k));
        let index = self.cell(s, v, k);
        let word = self.load(s, index);
        Expr::Local(s.local(word))
    }

    /// What a word brings to word `k`: its bits within the width.
    fn inside(&self, s: &mut Sequence<'_>, k: Expr, word: RowWord) -> Expr {
        let scalar = Scalar::U32;
        let bits = s.named(word.bits);
        let (last, mask) = match self.width {
            _ if word.within => return bits,
            Expr::Literal(_, width) if width % 32 == 0 => return bits,
            Expr::Literal(_, width) => (
                u32_literal(width as u32 / 32),
                u32_literal((1 << (width % 32)) - 1),
            ),
            // A shift takes its amount modulo 32.
            ref width => {
                let part = binary(BinaryOp::Shl, scalar, u32_literal(1), width.clone());
                (
                    binary(BinaryOp::Shr, scalar, width.clone(), u32_literal(5)),
                    binary(BinaryOp::Sub, scalar, part, u32_literal(1)),
                )
            }
        };
        let mask = Expr::Select {
            scalar,
            cond: Box::new(compare(CompareOp::Eq, scalar, k, last)),
            then: Box::new(mask),
            otherwise: Box::new(u32_literal(u32::MAX)),
        };
        Expr::Local(s.local(binary(BinaryOp::And, scalar, bits, mask)))
    }

    /// `rows.store_word(v, k, word)`.
    pub fn store_word(&self, s: &mut Sequence<'_>, v: Expr, k: Expr, word: RowWord) {
        let (v, k) = (s.named(v), s.named(k));
        let value = self.inside(s, k.clone(), word);
        let index = self.cell(s, v, k);
        s.block.push(Stmt::AtomicStore {
            buffer: self.buffer,
            index,
            value,
            site: s.site,
        });
    }

    /// `rows.or_word(v, k, word)`: the old word.
    pub fn or_word(
        &self,
        s: &mut Sequence<'_>,
        (v, k, word): (Expr, Expr, RowWord),
        wanted: bool,
    ) -> Option<Expr> {
        let (v, k) = (s.named(v), s.named(k));
        let word = self.inside(s, k.clone(), word);
        self.fetch_word(s, AtomicOp::Or, (v, k, word), wanted)
    }

    /// `rows.and_word(v, k, word)`: the old word.
    pub fn and_word(
        &self,
        s: &mut Sequence<'_>,
        (v, k, word): (Expr, Expr, Expr),
        wanted: bool,
    ) -> Option<Expr> {
        let (v, k, word) = (s.named(v), s.named(k), s.named(word));
        self.fetch_word(s, AtomicOp::And, (v, k, word), wanted)
    }

    fn fetch_word(
        &self,
        s: &mut Sequence<'_>,
        op: AtomicOp,
        (v, k, word): (Expr, Expr, Expr),
        wanted: bool,
    ) -> Option<Expr> {
        let index = self.cell(s, v, k);
        let fetch = self.fetch(s, op, index, word);
        Bits::update(s, fetch, wanted)
    }

    /// `rows.clear(v)`.
    pub fn clear(&self, s: &mut Sequence<'_>, v: Expr) {
        let v = s.named(v);
        let base = self.row(s, v);
        let buffer = self.buffer;
        s.each_word(self.words(), |s, k| {
            s.block.push(Stmt::AtomicStore {
                buffer,
                index: binary(BinaryOp::Add, Scalar::U32, base, k),
                value: u32_literal(0),
                site: s.site,
            });
        });
    }

    /// `rows.or(v, w)`, `rows.or_from(v, other, w)` and their likes, with `from = (other, w)`: whether the row changed.
    /// The caller sees to it that both have one width.
    pub fn combine(
        &self,
        s: &mut Sequence<'_>,
        op: RowOp,
        v: Expr,
        (from, w): (&Bits, Expr),
        wanted: bool,
    ) -> Option<Expr> {
        let (v, w) = (s.named(v), s.named(w));
        let to = self.row(s, v);
        let other = from.row(s, w);
        let changed = wanted.then(|| s.local(Expr::Literal(Scalar::Bool, 0)));
        let both = |x: Expr, y: Expr| binary(BinaryOp::And, Scalar::U32, x, y);
        s.each_word(self.words(), |s, k| {
            let at = |base: Expr| binary(BinaryOp::Add, Scalar::U32, base, k.clone());
            let x = Expr::Local(s.local(from.load(s, at(other))));
            let (atomic, value) = match op {
                RowOp::Or => (AtomicOp::Or, x.clone()),
                RowOp::And => (AtomicOp::And, x.clone()),
                RowOp::AndNot => (AtomicOp::And, not(x.clone())),
            };
            // The bits of a word that change.
            let change = |word: Expr| match op {
                RowOp::Or => both(x.clone(), not(word)),
                RowOp::And => both(word, not(x.clone())),
                RowOp::AndNot => both(word, x.clone()),
            };
            let index = Expr::Local(s.local(at(to)));
            let fetch = self.fetch(s, atomic, index.clone(), value);
            let Some(changed) = changed else {
                // Words that change nothing whatever they meet cost no atomic.
                let idle = match op {
                    RowOp::Or | RowOp::AndNot => nonzero(x),
                    RowOp::And => compare(CompareOp::Ne, Scalar::U32, x, u32_literal(u32::MAX)),
                };
                s.block.push(when(idle, vec![Stmt::Eval(fetch)]));
                return;
            };
            // Most attempts change nothing: a load costs less than an atomic.
            let now = self.load(s, index);
            let then = s.inner(|s| {
                let old = Expr::Local(s.local(fetch));
                let old = nonzero(change(old));
                s.set(
                    changed,
                    binary(BinaryOp::Or, Scalar::Bool, Expr::Local(changed), old),
                );
            });
            s.block.push(when(nonzero(change(now)), then));
        });
        changed.map(Expr::Local)
    }

    /// `rows.count(v)`.
    pub fn count(&self, s: &mut Sequence<'_>, v: Expr) -> Expr {
        let v = s.named(v);
        let base = self.row(s, v);
        let sum = s.local(u32_literal(0));
        s.each_word(self.words(), |s, k| {
            let word = self.load(s, binary(BinaryOp::Add, Scalar::U32, base, k));
            let ones = Expr::Unary(UnaryOp::CountOnes, Scalar::U32, Box::new(word));
            s.set(
                sum,
                binary(BinaryOp::Add, Scalar::U32, Expr::Local(sum), ones),
            );
        });
        Expr::Local(sum)
    }

    /// `for bit in rows.ones(v) { .. }`: the start of a loop's body, and the local that holds the bit behind it. The
    /// caller puts the loop's own statements there; `break` and `continue` in them mean this loop, at depth 0.
    pub fn ones(&self, s: &mut Sequence<'_>, v: Expr) -> (Block, LocalId) {
        let v = s.named(v);
        let base = self.row(s, v);
        let words = s.local(self.words());
        let (next, word) = (s.local(u32_literal(0)), s.local(u32_literal(0)));
        let bit = s.fresh(Scalar::U32);
        let get = Expr::Local;
        let stop = || vec![Stmt::Break { depth: 0 }];
        let head = s.inner(|s| {
            let find = s.inner(|s| {
                s.block.push(when(nonzero(get(word)), stop()));
                let end = compare(CompareOp::Ge, Scalar::U32, get(next), get(words));
                s.block.push(when(end, stop()));
                let load = self.load(s, binary(BinaryOp::Add, Scalar::U32, base, get(next)));
                s.set(word, load);
                let after = binary(BinaryOp::Add, Scalar::U32, get(next), u32_literal(1));
                s.set(next, after);
            });
            s.block.push(Stmt::Loop {
                body: find,
                short: true,
            });
            let none = compare(CompareOp::Eq, Scalar::U32, get(word), u32_literal(0));
            s.block.push(when(none, stop()));
            let low = Expr::Unary(UnaryOp::TrailingZeros, Scalar::U32, Box::new(get(word)));
            let current = binary(BinaryOp::Sub, Scalar::U32, get(next), u32_literal(1));
            let first = binary(BinaryOp::Shl, Scalar::U32, current, u32_literal(5));
            s.set(bit, binary(BinaryOp::Add, Scalar::U32, first, low));
            let below = binary(BinaryOp::Sub, Scalar::U32, get(word), u32_literal(1));
            s.set(word, binary(BinaryOp::And, Scalar::U32, get(word), below));
        });
        (head, bit)
    }
}

fn nonzero(x: Expr) -> Expr {
    compare(CompareOp::Ne, Scalar::U32, x, u32_literal(0))
}

fn not_bool(x: Expr) -> Expr {
    Expr::Unary(UnaryOp::Not, Scalar::Bool, Box::new(x))
}

fn not(x: Expr) -> Expr {
    Expr::Unary(UnaryOp::Not, Scalar::U32, Box::new(x))
}
