//! Sweeps whose items have a loop that can be shared out ([`SharedLoop`]): a workgroup takes as many items as it has
//! invocations, and these take the turns of all their loops one behind the other, in parts of one length.
//!
//! | step | who | what |
//! | --- | --- | --- |
//! | before | the item's invocation | the code up to the loop; how many turns there are |
//! | turns | all | a part of all turns; what they leave, by item |
//! | after | the item's invocation | takes that together, in the order of turns; the code behind the loop |
//!
//! An item's turns lie in one part, or in several that follow each other. What the part that has its first turn leaves
//! has a place at the item; each further part begins with the item's turns, and has a place for that. So nothing is
//! added up in an order that depends on time.
//!
//! Where a turn faults, its item goes through the loop as it stands: the first turn that faults is the trap.

use crate::body::{Part, combine, function};
use crate::ir::{Fun, Maker, Own, Value};
use crate::shared::{Blocks, Shared, barrier};
use crate::sweep::Place;
use naga::{BinaryOperator as Bin, Function, Handle, MathFunction as Math, Statement};
use vyre_core::plan::shaders::SharedLoop;
use vyre_core::vir0::module::{Program, WaveId};

/// Items with more turns go through their loops by themselves, so that sums of turns are words.
const MOST_TURNS: u32 = 1 << 25;

/// The functions of a kernel with a loop that is shared out.
pub(crate) struct Parts {
    before: Handle<Function>,
    turn: Handle<Function>,
    after: Handle<Function>,
}

impl Parts {
    pub(crate) fn of(
        m: &mut Maker<'_>,
        program: &Program,
        id: WaveId,
        (keyed, of): (bool, &SharedLoop),
    ) -> Parts {
        let kernel = program.waves[id.index()].kernel;
        let name = m.layout.wave(id).to_owned();
        let mut made = |behind: &str, part| {
            let name = format!("{name}_{behind}");
            function(m, program, kernel, (&name, keyed), part)
        };
        Parts {
            before: made("before", Part::Before(of)),
            turn: made("turn", Part::Turn(of)),
            after: made("after", Part::After(of)),
        }
    }
}

/// Where a workgroup has what is shared out, in columns of a word for each invocation.
struct Columns {
    /// The rows that turns read of their item.
    given: u32,
    failed: u32,
    begun: u32,
    further: u32,
}

const SHIFTS: u32 = 2;

impl Columns {
    fn of(of: &SharedLoop) -> Columns {
        let given = SHIFTS + 1;
        let failed = given + of.given.len() as u32;
        let begun = failed + 1;
        Columns {
            given,
            failed,
            begun,
            further: begun + of.cell_words(),
        }
    }
}

/// A row that turns have of their own.
fn of_turn(f: &mut Fun<'_, '_>, row: u8) -> Value {
    f.own(Own::Row(true, row))
}

/// A row of the invocation's item.
fn of_item(f: &mut Fun<'_, '_>, row: u8) -> Value {
    f.own(Own::Row(false, row))
}

fn value_of(f: &mut Fun<'_, '_>, own: Own) -> Value {
    let pointer = f.own(own);
    f.load(pointer)
}

/// The words of all cells before a turn.
fn identities(of: &SharedLoop) -> impl Iterator<Item = (u8, u32)> {
    of.cells.iter().flat_map(|cell| {
        let bits = cell.op.identity(cell.scalar);
        cell.rows()
            .map(move |row| (row, (bits >> (32 * u32::from(row - cell.row))) as u32))
    })
}

/// Takes what stands at pointers into the cells of the invocation's item.
fn take(f: &mut Fun<'_, '_>, of: &SharedLoop, from: impl Fn(&mut Fun<'_, '_>, u32) -> Value) {
    let mut at = 0;
    for cell in &of.cells {
        let pointers: Vec<Value> = cell.rows().map(|row| of_item(f, row)).collect();
        let totals: Vec<Value> = pointers.iter().map(|&p| f.load(p)).collect();
        let values: Vec<Value> = (at..)
            .take(pointers.len())
            .map(|at| {
                let from = from(f, at);
                f.load(from)
            })
            .collect();
        let taken = combine(f, (cell.op, cell.scalar), &totals, &values);
        for (&pointer, value) in pointers.iter().zip(taken) {
            f.store(pointer, value);
        }
        at += pointers.len() as u32;
    }
}

/// Sweeps the items from one number up to another, whose arguments `fetch` gives.
pub(crate) fn sweep(
    f: &mut Fun<'_, '_>,
    (shared, place): (Shared, Place),
    (from, len): (Value, Value),
    (of, parts): (&SharedLoop, &Parts),
    fetch: impl FnOnce(&mut Fun<'_, '_>, Value) -> Vec<Value>,
) {
    let columns = Columns::of(of);
    let blocks = Blocks::whole(f, place, (from, len), 1);
    let item = f.local("item", None);
    blocks.each(f, (shared, place), |f, now, count| {
        let zero = f.u(0);
        for own in [Own::Wanted, Own::Reached, Own::Failed] {
            let own = f.own(own);
            f.store(own, zero);
        }
        let (at, here) = blocks.item(f, place, now);
        f.store(item, zero);
        f.when(here, |f| {
            let arguments = fetch(f, at);
            f.store(item, arguments[0]);
            f.call_of(parts.before, &arguments);
        });
        let wanted = value_of(f, Own::Wanted);
        let fits = f.with(Bin::LessEqual, wanted, MOST_TURNS);
        let own = f.select(fits, wanted, zero);
        let sum = shared.sums(f, (place, count), own);
        let before = f.bin(Bin::Subtract, sum, own);
        give(f, (shared, place), (of, &columns), before);
        barrier(f);

        let all = shared.total(f, count);
        let all = f.load(all);
        let length = f.plus(all, place.lanes - 1);
        let length = f.with(Bin::Divide, length, place.lanes);
        let low = f.bin(Bin::Multiply, place.lane, length);
        let end = f.sum(low, length);
        let end = f.math(Math::Min, &[end, all]);
        let some = f.bin(Bin::Less, low, end);
        f.when(some, |f| {
            turns(f, (shared, place, count), (of, &columns, parts), (low, end))
        });
        barrier(f);

        let some = f.with(Bin::NotEqual, own, 0);
        f.when(some, |f| {
            let first = f.bin(Bin::Divide, before, length);
            let last = f.with(Bin::Subtract, sum, 1);
            let last = f.bin(Bin::Divide, last, length);
            let (next, behind) = (f.plus(first, 1), f.plus(last, 1));
            let failed = f.local("failed", None);
            let so_far = shared.of_lane(f, columns.failed, first);
            let so_far = f.load(so_far);
            f.store(failed, so_far);
            f.count("part", (next, behind), |f, part| {
                let its = shared.of_lane(f, columns.failed, part);
                let (its, so_far) = (f.load(its), f.load(failed));
                let both = f.bin(Bin::InclusiveOr, its, so_far);
                f.store(failed, both);
            });
            let failed = f.load(failed);
            let holds = f.with(Bin::Equal, failed, 0);
            f.when(holds, |f| {
                take(f, of, |f, at| {
                    shared.of_lane(f, columns.begun + at, place.lane)
                });
                f.count("part", (next, behind), |f, part| {
                    take(f, of, |f, at| shared.of_lane(f, columns.further + at, part));
                });
                let number = of_item(f, of.number);
                let first = f.load(number);
                let done = f.sum(first, own);
                f.store(number, done);
            });
        });
        let reached = value_of(f, Own::Reached);
        let reached = f.with(Bin::NotEqual, reached, 0);
        f.when(reached, |f| {
            let item = f.load(item);
            f.call_of(parts.after, &[item]);
        });
    });
}

/// What others need for the turns of this item, whose first one has this number among all.
fn give(
    f: &mut Fun<'_, '_>,
    (shared, place): (Shared, Place),
    (of, columns): (&SharedLoop, &Columns),
    before: Value,
) {
    // The number of a turn among all, and this, are its own.
    let first = value_of(f, Own::Row(false, of.number));
    let shift = f.bin(Bin::Subtract, first, before);
    let to = shared.of_lane(f, SHIFTS, place.lane);
    f.store(to, shift);
    for (at, &row) in (0..).zip(&of.given) {
        let value = value_of(f, Own::Row(false, row));
        let to = shared.of_lane(f, columns.given + at, place.lane);
        f.store(to, value);
    }
    let zero = f.u(0);
    let to = shared.of_lane(f, columns.failed, place.lane);
    f.store(to, zero);
    for (at, (_, bits)) in (0..).zip(identities(of)) {
        let bits = f.u(bits);
        for column in [columns.begun, columns.further] {
            let to = shared.of_lane(f, column + at, place.lane);
            f.store(to, bits);
        }
    }
}

/// A part of all turns.
fn turns(
    f: &mut Fun<'_, '_>,
    (shared, place, count): (Shared, Place, Value),
    (of, columns, parts): (&SharedLoop, &Columns, &Parts),
    (low, end): (Value, Value),
) {
    let (next, owner, limit) = (
        f.local("next", None),
        f.local("whose", None),
        f.local("limit", None),
    );
    let (shift, begun) = (f.local("shift", None), f.local("begun", None));
    f.store(next, low);
    let first = shared.owner(f, count, low);
    f.store(owner, first);
    // Whether the item's first turn is in this part.
    let is_first = f.with(Bin::Equal, first, 0);
    let (yes, no) = (f.u(1), f.u(0));
    f.store(begun, no);
    f.branch(
        is_first,
        |f| {
            let own = f.with(Bin::Equal, low, 0);
            let own = f.word_of(own);
            f.store(begun, own);
        },
        |f| {
            let before = f.with(Bin::Subtract, first, 1);
            let before = shared.of_lane(f, 0, before);
            let before = f.load(before);
            let own = f.bin(Bin::Equal, low, before);
            let own = f.word_of(own);
            f.store(begun, own);
        },
    );
    let take_up = |f: &mut Fun<'_, '_>| {
        let whose = f.load(owner);
        let upto = shared.of_lane(f, 0, whose);
        let upto = f.load(upto);
        f.store(limit, upto);
        let its = shared.of_lane(f, SHIFTS, whose);
        let its = f.load(its);
        f.store(shift, its);
        for (at, &row) in (0..).zip(&of.given) {
            let from = shared.of_lane(f, columns.given + at, whose);
            let value = f.load(from);
            let to = of_turn(f, row);
            f.store(to, value);
        }
        for (row, bits) in identities(of) {
            let bits = f.u(bits);
            let to = of_turn(f, row);
            f.store(to, bits);
        }
    };
    let put_down = |f: &mut Fun<'_, '_>| {
        let (whose, own) = (f.load(owner), f.load(begun));
        let own = f.with(Bin::NotEqual, own, 0);
        let behind = (columns.further - columns.begun) * place.lanes;
        let behind = f.plus(place.lane, behind);
        let at = f.select(own, whose, behind);
        for (column, (row, _)) in (columns.begun..).zip(identities(of)) {
            let value = of_turn(f, row);
            let value = f.load(value);
            let to = shared.of_lane(f, column, at);
            f.store(to, value);
        }
    };
    take_up(f);
    f.forever(|f| {
        let this = f.load(next);
        let done = f.bin(Bin::GreaterEqual, this, end);
        f.when(done, |f| f.push(Statement::Break));
        let upto = f.load(limit);
        let past = f.bin(Bin::GreaterEqual, this, upto);
        f.when(past, |f| {
            put_down(f);
            f.store(begun, yes);
            // The next one that has turns.
            f.forever(|f| {
                let whose = f.load(owner);
                let other = f.plus(whose, 1);
                f.store(owner, other);
                let upto = shared.of_lane(f, 0, other);
                let upto = f.load(upto);
                let has = f.bin(Bin::Greater, upto, this);
                f.when(has, |f| f.push(Statement::Break));
            });
            take_up(f);
        });
        let by = f.load(shift);
        let number = f.sum(this, by);
        f.call_of(parts.turn, &[number]);
        let after = f.plus(this, 1);
        f.store(next, after);
    });
    put_down(f);
    let failed = value_of(f, Own::Failed);
    let to = shared.of_lane(f, columns.failed, place.lane);
    f.store(to, failed);
}
