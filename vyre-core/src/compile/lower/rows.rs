//! Register rows: liveness over the structured code, then first fit over live ranges with holes.
//!
//! Each instruction has two points: its sources are read at `2 i`, its destination exists from `2 i + 1`. A range is a
//! list of half-open point intervals, so a value may take the row of an operand that dies with it (executors read all
//! sources of a word before they write its destination). Lanes that are masked off write nothing, so what counts is one
//! lane's path: a register of the `then` branch may share a row with one of the `else` branch, and a value that only
//! the code after a loop reads occupies no row between the `break` and the loop's end.

use super::{Arg, Code, Inst, LowerError, Reg};
use crate::vir0::isa::{Effect, MAX_ROWS, Op};
use std::collections::BTreeMap;

/// The row of each virtual register.
pub(super) struct Rows {
    pub(super) of: Vec<u8>,
    pub(super) count: u8,
}

/// A set of registers.
#[derive(Clone, PartialEq)]
struct Set(Vec<u64>);

impl Set {
    fn new(len: usize) -> Set {
        Set(vec![0; len.div_ceil(64)])
    }
    fn insert(&mut self, r: Reg) {
        self.0[r.index() / 64] |= 1 << (r.0 % 64);
    }
    fn remove(&mut self, r: Reg) {
        self.0[r.index() / 64] &= !(1 << (r.0 % 64));
    }
    fn contains(&self, r: Reg) -> bool {
        self.0[r.index() / 64] >> (r.0 % 64) & 1 != 0
    }
    /// Adds all of `other`; true when something was new.
    fn union(&mut self, other: &Set) -> bool {
        let mut grew = false;
        for (a, b) in self.0.iter_mut().zip(&other.0) {
            grew |= b & !*a != 0;
            *a |= b;
        }
        grew
    }
    fn clear(&mut self) {
        self.0.fill(0);
    }
}

enum Frame {
    If { after: Set, otherwise: Option<Set> },
    Loop { ordinal: usize, after: Set },
}

/// Registers live at the head of each loop, in the order of the loops' ends counted from the back.
struct Liveness {
    heads: Vec<Set>,
    regs: usize,
}

impl Liveness {
    fn of(code: &Code) -> Liveness {
        let regs = code.width.len();
        let loops = code.insts.iter().filter(|i| i.op == Op::Loop).count();
        let mut liveness = Liveness {
            heads: vec![Set::new(regs); loops],
            regs,
        };
        // One more pass for each level of nesting; without loops a single pass finds nothing to change.
        while loops > 0 && liveness.pass(&code.insts, |_, _, _| {}) {}
        liveness
    }

    /// One backward pass. Shows each instruction with what is live after it and before it (on a lane that executes it);
    /// true when the head of a loop grew.
    fn pass(&mut self, insts: &[Inst], mut visit: impl FnMut(usize, &Set, &Set)) -> bool {
        let mut live = Set::new(self.regs);
        let mut after = live.clone();
        let mut frames: Vec<Frame> = Vec::new();
        let mut ordinal = 0;
        let mut grew = false;
        for (i, inst) in insts.iter().enumerate().rev() {
            match inst.op {
                Op::EndIf => frames.push(Frame::If {
                    after: live.clone(),
                    otherwise: None,
                }),
                Op::Else => {
                    let Some(Frame::If {
                        after,
                        otherwise: otherwise @ None,
                    }) = frames.last_mut()
                    else {
                        unreachable!("build nests its branches")
                    };
                    *otherwise = Some(std::mem::replace(&mut live, after.clone()));
                }
                Op::If => {
                    let Some(Frame::If { after, otherwise }) = frames.pop() else {
                        unreachable!("build nests its branches")
                    };
                    live.union(&otherwise.unwrap_or(after));
                }
                Op::EndLoop => {
                    frames.push(Frame::Loop {
                        ordinal,
                        after: live.clone(),
                    });
                    live.clone_from(&self.heads[ordinal]);
                    ordinal += 1;
                }
                Op::Loop => {
                    let Some(Frame::Loop { ordinal, .. }) = frames.pop() else {
                        unreachable!("build nests its branches")
                    };
                    grew |= self.heads[ordinal].union(&live);
                }
                Op::Break => live.clone_from(target(&frames, inst.imm).1),
                Op::BreakIf | Op::BreakUnless => {
                    live.union(target(&frames, inst.imm).1);
                }
                Op::Continue => live.clone_from(&self.heads[target(&frames, inst.imm).0]),
                op if op.row().effect == Effect::End => live.clear(),
                op => debug_assert!(
                    !op.row().effect.branches(),
                    "every word that branches has its own arm"
                ),
            }
            after.clone_from(&live);
            if let Some(d) = inst.target() {
                live.remove(d);
            }
            for r in inst.sources() {
                live.insert(r);
            }
            visit(i, &after, &live);
        }
        grew
    }
}

/// The `depth`-th loop outward: its ordinal and what is live after it.
fn target(frames: &[Frame], depth: u32) -> (usize, &Set) {
    frames
        .iter()
        .rev()
        .filter_map(|f| match f {
            Frame::Loop { ordinal, after } => Some((*ordinal, after)),
            Frame::If { .. } => None,
        })
        .nth(depth as usize)
        .expect("build checks the depth of jumps")
}

/// Removes pure instructions whose result no path reads, and unread results of atomics.
pub(super) fn drop_dead(code: &mut Code) {
    let mut liveness = Liveness::of(code);
    let mut dead = vec![false; code.insts.len()];
    let insts = &code.insts;
    liveness.pass(insts, |i, after, _| {
        dead[i] = insts[i].target().is_some_and(|d| !after.contains(d));
    });
    let mut dead = dead.into_iter();
    code.insts.retain_mut(|inst| {
        let dead = dead.next().expect("one flag for each instruction");
        if dead && inst.has_optional_result() {
            inst.d = None;
        }
        !(dead && inst.is_pure())
    });
}

/// Half-open point intervals, ascending and disjoint.
type Range = Vec<(u32, u32)>;

/// The live range of every register, and the most rows live at one point.
fn ranges(code: &Code) -> (Vec<Range>, usize) {
    let mut liveness = Liveness::of(code);
    let regs = code.width.len();
    let mut ranges: Vec<Range> = vec![Vec::new(); regs];
    let mut ends = vec![0u32; regs];
    let mut open = Set::new(regs);
    let mut pressure = 0usize;
    let mut most = 0usize;
    let rows = |r: usize| usize::from(code.width[r]);
    // Walks the points downwards; a register enters the open set at its last point and leaves it below its first.
    let mut at_point = |point: u32, set: &Set, extra: Option<Reg>| {
        for word in 0..set.0.len() {
            let mut now = set.0[word];
            if let Some(r) = extra.filter(|r| r.index() / 64 == word) {
                now |= 1 << (r.0 % 64);
            }
            let mut changed = now ^ open.0[word];
            open.0[word] = now;
            while changed != 0 {
                let bit = changed.trailing_zeros();
                changed &= changed - 1;
                let r = word * 64 + bit as usize;
                if now >> bit & 1 != 0 {
                    ends[r] = point + 1;
                    pressure += rows(r);
                } else {
                    ranges[r].push((point + 1, ends[r]));
                    pressure -= rows(r);
                }
            }
        }
        most = most.max(pressure);
    };
    liveness.pass(&code.insts, |i, after, before| {
        let point = 2 * i as u32 + 2;
        at_point(point, after, code.insts[i].target());
        at_point(point - 1, before, None);
    });
    // The item is there before the first instruction.
    let mut entry = Set::new(regs);
    for r in code.item.into_iter().flatten() {
        entry.insert(r);
    }
    at_point(0, &entry, None);
    // Below the first point nothing is open: close what the entry opened.
    for r in code.item.into_iter().flatten() {
        ranges[r.index()].push((0, ends[r.index()]));
    }
    for range in &mut ranges {
        range.reverse();
        range.dedup_by(|next, first| {
            let touches = first.1 == next.0;
            if touches {
                first.1 = next.1;
            }
            touches
        });
    }
    (ranges, most)
}

fn overlap(a: &Range, b: &Range) -> bool {
    let (mut a, mut b) = (a.as_slice(), b.as_slice());
    while let ([x, a_rest @ ..], [y, b_rest @ ..]) = (a, b) {
        if x.1 <= y.0 {
            a = a_rest;
        } else if y.1 <= x.0 {
            b = b_rest;
        } else {
            return true;
        }
    }
    false
}

/// Where one row is taken: start to end.
#[derive(Clone, Default)]
struct Row(BTreeMap<u32, u32>);

impl Row {
    fn is_free(&self, range: &Range) -> bool {
        range.iter().all(|&(start, end)| {
            self.0
                .range(..end)
                .next_back()
                .is_none_or(|(_, &taken_until)| taken_until <= start)
        })
    }
    fn take(&mut self, range: &Range) {
        self.0.extend(range.iter().copied());
    }
}

/// Destination and source of a copy between registers.
fn copy(inst: &Inst) -> Option<(Reg, Reg)> {
    match (inst.op, inst.d, inst.args[0]) {
        (Op::Mov32 | Op::Mov64, Some(d), Arg::Reg(a)) => Some((d, a)),
        _ => None,
    }
}

/// Copies share a row where their ranges allow it: the representative of each register.
fn coalesce(code: &Code, ranges: &mut [Range]) -> Vec<u32> {
    let mut leader: Vec<u32> = (0..code.width.len() as u32).collect();
    let find = |leader: &[u32], mut r: u32| {
        while leader[r as usize] != r {
            r = leader[r as usize];
        }
        r
    };
    for inst in &code.insts {
        let Some((d, a)) = copy(inst) else {
            continue;
        };
        let (d, a) = (find(&leader, d.0), find(&leader, a.0));
        if d != a && !overlap(&ranges[d as usize], &ranges[a as usize]) {
            let from = std::mem::take(&mut ranges[d as usize]);
            let into = &mut ranges[a as usize];
            into.extend(from);
            into.sort_unstable();
            leader[d as usize] = a;
        }
    }
    (0..leader.len() as u32).map(|r| find(&leader, r)).collect()
}

/// First fit in the given order; the number of rows used and the row of each register.
fn first_fit(order: &[u32], width: &[u8], ranges: &[Range]) -> (usize, Vec<u8>) {
    let mut rows: Vec<Row> = Vec::new();
    let mut of = vec![0u8; width.len()];
    for &r in order {
        let (range, width) = (&ranges[r as usize], usize::from(width[r as usize]));
        let at = (0..)
            .find(|&at| (at..at + width).all(|row| rows.get(row).is_none_or(|x| x.is_free(range))))
            .expect("a new row is always free");
        if rows.len() < at + width {
            rows.resize(at + width, Row::default());
        }
        for row in &mut rows[at..at + width] {
            row.take(range);
        }
        of[r as usize] = at.min(MAX_ROWS) as u8;
    }
    (rows.len(), of)
}

/// Gives every register its rows and removes the copies that became empty.
pub(super) fn assign(code: &mut Code) -> Result<Rows, LowerError> {
    let (mut ranges, pressure) = ranges(code);
    let leader = coalesce(code, &mut ranges);
    let mut order: Vec<u32> = (0..code.width.len() as u32)
        .filter(|&r| !ranges[r as usize].is_empty())
        .collect();
    let start = |r: u32| ranges[r as usize][0].0;
    let length = |r: u32| ranges[r as usize].iter().map(|(s, e)| e - s).sum::<u32>();
    order.sort_by_key(|&r| (start(r), r));
    let narrow = |r: u32| std::cmp::Reverse(code.width[r as usize]);
    let (mut count, mut of) = first_fit(&order, &code.width, &ranges);
    // By start is optimal for plain intervals of one width; pairs, arrays and holes may do better in another order.
    for attempt in 0..3 {
        if count <= pressure {
            break;
        }
        match attempt {
            0 => order.sort_by_key(|&r| (narrow(r), start(r), r)),
            1 => order.sort_by_key(|&r| (std::cmp::Reverse(length(r)), r)),
            _ => order.sort_by_key(|&r| (narrow(r), std::cmp::Reverse(length(r)), r)),
        }
        let other = first_fit(&order, &code.width, &ranges);
        if other.0 < count {
            (count, of) = other;
        }
    }
    if count > MAX_ROWS {
        return Err(LowerError::TooManyRows { rows: count });
    }
    let of: Vec<u8> = leader.iter().map(|&r| of[r as usize]).collect();
    code.insts
        .retain(|inst| copy(inst).is_none_or(|(d, a)| of[d.index()] != of[a.index()]));
    Ok(Rows {
        of,
        count: count as u8,
    })
}
