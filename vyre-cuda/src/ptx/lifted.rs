//! Neighbour loops that are shared out among the warp's lanes, as the interpreter does it: the same tiles, taken together
//! by the same functions, so that sums of floats are the same bits. The words of a turn run for an edge in the place of
//! each item; loops that only load an element for each neighbour and take it in have a function of their own where a
//! lane has several items.
//!
//! The lanes' rows `total`, `edge` and three fresh ones are in shared memory meanwhile. Where a turn faults, the plain
//! loop behind this goes on with the edges that are left, and finds the first one.
//!
//! Parts of long ranges are summed up before the wave: then the function is called with the pc of that loop, for one item
//! whose rows are there, and gives back whether nothing faulted.

use super::blocks::written_in;
use super::body::Body;
use crate::abi;
use crate::image::{Form, Layout};
use std::mem::offset_of;
use vyre_core::vir0::flow::op;
use vyre_core::vir0::isa::Op;
use vyre_core::vir0::module::Kernel;

/// Bits of the word: its own flag of a gather, above the row and the pc.
const GATHER: u32 = 1 << 25;
/// Edges of an item from which on the sum of a tile's could be too large.
const VAST: u32 = 1 << 24;

/// A neighbour loop, as the layout has it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lifted {
    /// Pc of its `loop`.
    pub(super) at: usize,
    pub(super) total: u8,
    pub(super) edge: u8,
    pub(super) end: u8,
    /// The first of the fresh rows.
    fresh: u8,
    /// Pc of its body on the device, and what takes values in.
    body: u32,
    pub(super) merge: u32,
    /// It loads an element and takes it in, and does nothing else.
    pub(super) is_gather: bool,
}

/// A turn that runs for edges in the place of items.
pub(super) struct Turn {
    /// Predicates: which of them there are.
    pub(super) now: Vec<String>,
    /// Where to go if one faults.
    pub(super) end: String,
}

/// The loop of a kernel that is shared out.
pub(super) fn find(layout: &Layout, kernel: usize) -> Option<Lifted> {
    of_form(&layout.forms[kernel])
}

/// The rows in shared memory of the loop of a kernel that is shared out, with so many items a lane. What is kept in a row
/// of 512 bytes takes two of the smaller ones.
pub(crate) fn kept_rows(form: &Form, items: u32) -> Option<Vec<u8>> {
    let Lifted {
        total,
        edge,
        end,
        fresh,
        is_gather,
        ..
    } = of_form(form)?;
    Some(match (is_gather, items) {
        (true, 4) => vec![total, edge, fresh + 1],
        (true, 2) => vec![total, edge, fresh + 1, fresh + 2],
        _ => vec![total, edge, end, fresh, fresh + 1, fresh + 2],
    })
}

/// Whether all items of a lane go through a kernel side by side whose loop is shared out.
pub(crate) fn is_side_by_side(kernel: &Kernel, items: u32) -> bool {
    super::body::fit(kernel, items, super::body::ROWS_REGISTERS) == items
}

fn of_form(form: &Form) -> Option<Lifted> {
    if form.neighbors == 0 {
        return None;
    }
    let code = &form.words;
    let at = code
        .iter()
        .position(|w| u32::from(w.op) == abi::OP_NEIGHBORS)?;
    let word = code[at];
    let body = word.imm & 0xffff;
    let merge = code[body as usize - 1].imm;
    let fresh = (word.imm >> 16) as u8;
    Some(Lifted {
        at,
        total: word.d,
        edge: word.a,
        end: word.b,
        fresh,
        body,
        merge,
        is_gather: word.imm & GATHER != 0,
    })
}

impl Body<'_> {
    /// Where the lifted loop ends.
    pub(super) fn behind_lifted(&self) -> String {
        format!("$X{}", self.id)
    }

    fn row_at(&mut self, from: &str, row: u8) -> String {
        let (at, skip) = (self.word(), self.lift_place(row, 0));
        self.put(format!("add.s32 {at}, {from}, {skip}"));
        at
    }

    /// The place of one of the loop's rows in shared memory, less `%at`.
    fn lift_place(&self, row: u8, j: u32) -> u32 {
        self.row_place(self.layout.lift_row(self.id, row), j)
    }

    /// Puts what the items have in a row of shared memory.
    fn store_row(&mut self, row: u8, values: &[String]) {
        for (j, value) in (0u32..).zip(values) {
            let at = self.lift_place(row, j);
            self.put(format!("st.shared.b32 [%at+{at}], {value}"));
        }
    }

    /// Goes to the loop at once where a part of a long range is to be summed up.
    pub(super) fn begin_part(&mut self) {
        let Some(lift) = self.lift.filter(|lift| !lift.is_gather) else {
            return;
        };
        let whole = self.new_label();
        self.put("setp.ne.s32 %part, %pc, 0");
        self.put(format!("@!%part bra.uni {whole}"));
        for row in [lift.total, lift.edge, lift.end] {
            let to: Vec<String> = (0..self.together).map(|j| format!("%w{row}_{j}")).collect();
            self.load_row(self.layout.lift_row(self.id, row), &to);
        }
        self.put(format!("bra.uni $P{}", self.id));
        self.label(&whole);
    }

    /// Shares the loop out, and goes on behind it; or falls through to the plain loop.
    pub(super) fn share_out(&mut self, lift: Lifted) {
        let n = self.together;
        if !lift.is_gather {
            self.label(&format!("$P{}", self.id));
        }
        let named = |row: u8| -> Vec<String> { (0..n).map(|j| format!("%w{row}_{j}")).collect() };
        let (totals, edges, ends) = (named(lift.total), named(lift.edge), named(lift.end));
        let (lane, rows) = (self.word(), self.word());
        self.put(format!("mov.u32 {lane}, %tid.x"));
        self.put(format!("and.b32 {lane}, {lane}, 31"));
        let step = -4 * self.items as i32;
        self.put(format!("mad.lo.s32 {rows}, {lane}, {step}, %regs"));
        self.store_row(lift.total, &totals);
        let degrees: Vec<String> = (0..n)
            .map(|j| {
                let (some, degree) = (self.predicate(), self.word());
                let (edge, end, active) = (&edges[j as usize], &ends[j as usize], self.active(j));
                self.put(format!("setp.gt.and.u32 {some}, {end}, {edge}, {active}"));
                self.put(format!("sub.s32 {degree}, {end}, {edge}"));
                self.put(format!("selp.b32 {degree}, {degree}, 0, {some}"));
                degree
            })
            .collect();
        let plain = self.new_label();
        self.take_hubs(lift, &degrees, [&edges, &ends], &plain);

        let total = self.word();
        self.put(format!("mov.b32 {total}, 0"));
        let mut places = Vec::new();
        for (j, degree) in degrees.iter().enumerate() {
            let (sum, last, place) = (self.word(), self.word(), self.word());
            self.put(format!("mov.b32 {sum}, {degree}"));
            for step in [1, 2, 4, 8, 16] {
                let (below, has) = (self.word(), self.predicate());
                self.put(format!(
                    "shfl.sync.up.b32 {below}, {sum}, {step}, 0, 0xffffffff"
                ));
                self.put(format!("setp.ge.u32 {has}, {lane}, {step}"));
                self.put(format!("@{has} add.s32 {sum}, {sum}, {below}"));
            }
            self.put(format!(
                "shfl.sync.idx.b32 {last}, {sum}, 31, 31, 0xffffffff"
            ));
            self.put(format!("sub.s32 {place}, {sum}, {degree}"));
            self.put(format!("add.s32 {place}, {place}, {total}"));
            self.put(format!("add.s32 {total}, {total}, {last}"));
            // From its place in the tile to an item's edge.
            let edge = &edges[j];
            self.put(format!("sub.s32 {edge}, {}, {degree}", ends[j]));
            self.put(format!("sub.s32 {edge}, {edge}, {place}"));
            places.push(place);
        }
        self.store_row(lift.edge, &edges);
        let done = match n {
            2.. if lift.is_gather => self.gathered(lift, (&degrees, &places), [&rows, &total]),
            _ => self.tiles(lift, &places, [&lane, &rows, &total]),
        };
        if !lift.is_gather {
            let good = self.predicate();
            self.put(format!("setp.ge.and.u32 {good}, {done}, {total}, %part"));
            self.put(format!("@{good} mov.b32 %value, {done}"));
            self.put("@%part bra.uni $DONE");
        }

        // What is not done is left to the plain loop.
        let (less, behind) = (self.predicate(), self.behind_lifted());
        for (j, total) in (0u32..).zip(&totals) {
            let at = self.lift_place(lift.total, j);
            self.put(format!("ld.shared.b32 {total}, [%at+{at}]"));
        }
        self.put(format!("setp.ge.u32 {less}, {done}, {total}"));
        self.put(format!("@{less} bra.uni {behind}"));
        for ((edge, end), place) in edges.iter().zip(&ends).zip(&places) {
            let (begun, gone, left) = (self.predicate(), self.word(), self.word());
            self.put(format!("add.s32 {edge}, {edge}, {place}"));
            self.put(format!("setp.gt.u32 {begun}, {done}, {place}"));
            self.put(format!("sub.s32 {gone}, {done}, {place}"));
            self.put(format!("sub.s32 {left}, {end}, {edge}"));
            self.put(format!("min.u32 {gone}, {gone}, {left}"));
            self.put(format!("@{begun} add.s32 {edge}, {edge}, {gone}"));
        }
        self.label(&plain);
    }

    /// Takes in the sums of long ranges that were made before the wave, whose items have no edges left then. Where a
    /// range is too long for a tile, all go on at `plain`.
    fn take_hubs(
        &mut self,
        lift: Lifted,
        degrees: &[String],
        [edges, ends]: [&[String]; 2],
        plain: &str,
    ) {
        let over: Vec<String> = degrees
            .iter()
            .map(|degree| {
                let over = self.predicate();
                self.put(format!("setp.gt.u32 {over}, {degree}, {}", abi::RANGE_HUB));
                over
            })
            .collect();
        let (some, none) = (self.any(&over), self.new_label());
        self.put(format!("@!{some} bra.uni {none}"));
        let (wave, at, count) = (self.word(), self.word(), self.word());
        let (no_sums, vast) = (self.predicate(), self.new_label());
        let place = self.layout.head.waves + offset_of!(abi::Wave, range_count) as u32;
        self.put(format!("ld.shared.b32 {wave}, [vyre_state]"));
        self.put(format!("mov.u32 {at}, vyre_shared"));
        let bytes = size_of::<abi::Wave>();
        self.put(format!("mad.lo.s32 {at}, {wave}, {bytes}, {at}"));
        self.put(format!("ld.shared.b32 {count}, [{at}+{place}]"));
        self.put(format!("setp.eq.s32 {no_sums}, {count}, 0"));
        if !lift.is_gather {
            self.put(format!("or.pred {no_sums}, {no_sums}, %part"));
        }
        self.put(format!("@{no_sums} bra.uni {vast}"));
        let bits = self.bits(&over);
        let totals = self.row_at("%regs", lift.total);
        let (taken, n) = (self.word(), self.together);
        let (to, merge) = (taken.clone(), lift.merge);
        self.put_block(|b| {
            b.vector_argument(0, edges);
            b.vector_argument(1, ends);
            let rest = [bits.as_str(), totals.as_str(), &merge.to_string()];
            b.word_arguments(2, &rest);
            b.put(".param .b32 result");
            let name = format!("_Z9take_sumsILi{n}EEj3VecIXT_EES1_jjj");
            b.put(format!(
                "call.uni (result), {name}, (arg0, arg1, arg2, arg3, arg4)"
            ));
            b.put(format!("ld.param.b32 {to}, [result]"));
        });
        for (j, degree) in degrees.iter().enumerate() {
            let (bit, done) = (self.word(), self.predicate());
            self.put(format!("and.b32 {bit}, {taken}, {}", 1 << j));
            self.put(format!("setp.ne.s32 {done}, {bit}, 0"));
            self.put(format!("@{done} mov.b32 {degree}, 0"));
        }
        self.label(&vast);
        let far: Vec<String> = degrees
            .iter()
            .map(|degree| {
                let far = self.predicate();
                self.put(format!("setp.ge.u32 {far}, {degree}, {VAST}"));
                far
            })
            .collect();
        let far = self.any(&far);
        self.put(format!("@!{far} bra.uni {none}"));
        for (j, edge) in edges.iter().enumerate() {
            self.put(format!("sub.s32 {edge}, {}, {}", ends[j], degrees[j]));
            let (total, at) = (
                format!("%w{}_{j}", lift.total),
                self.lift_place(lift.total, j as u32),
            );
            self.put(format!("ld.shared.b32 {total}, [%at+{at}]"));
        }
        self.put(format!("bra.uni {plain}"));
        self.label(&none);
    }

    /// With several items a lane, by the megakernel's own loop: the edges that are done.
    fn gathered(
        &mut self,
        lift: Lifted,
        (degrees, places): (&[String], &[String]),
        [rows, total]: [&str; 2],
    ) -> String {
        let some: Vec<String> = degrees
            .iter()
            .map(|degree| {
                let some = self.predicate();
                self.put(format!("setp.ne.s32 {some}, {degree}, 0"));
                some
            })
            .collect();
        let some = self.bits(&some);
        let [bases, scratch, totals] =
            [lift.edge, lift.fresh + 1, lift.total].map(|row| self.row_at(rows, row));
        let (body, done, n) = (self.word(), self.word(), self.together);
        self.put(format!(
            "add.s32 {body}, %code, {}",
            lift.body * abi::WORD_BYTES
        ));
        self.put("bar.warp.sync 0xffffffff");
        let to = done.clone();
        self.put_block(|b| {
            b.word_arguments(0, &[&lift.merge.to_string(), &body]);
            b.vector_argument(2, places);
            b.word_arguments(3, &[&some, &bases, &scratch, &totals, total]);
            b.put(".param .b32 result");
            let name = format!("_Z6gatherILi{n}EEjjj3VecIXT_EEjjjjj");
            let from = "(arg0, arg1, arg2, arg3, arg4, arg5, arg6, arg7)";
            b.put(format!("call.uni (result), {name}, {from}"));
            b.put(format!("ld.param.b32 {to}, [result]"));
        });
        // The run is to stop.
        let aborted = self.predicate();
        self.put(format!("setp.eq.s32 {aborted}, {done}, -1"));
        self.put(format!("@{aborted} bra.uni $DONE"));
        self.put("bar.warp.sync 0xffffffff");
        done
    }

    /// An edge in the place of each item: the edges that are done, or more.
    fn tiles(&mut self, lift: Lifted, places: &[String], [lane, rows, total]: [&str; 3]) -> String {
        let n = self.together;
        let named: Vec<String> = (0..n).map(|j| format!("%w{}_{j}", lift.edge)).collect();
        let kept: Vec<String> = (named.iter())
            .map(|edge| {
                let kept = self.word();
                self.put(format!("mov.b32 {kept}, {edge}"));
                kept
            })
            .collect();
        self.store_row(lift.fresh, places);
        let [places, bases, totals] =
            [lift.fresh, lift.edge, lift.total].map(|row| self.row_at(rows, row));
        let owners = self.row_at("%regs", lift.fresh + 2);
        let (done, head, end) = (self.word(), self.new_label(), self.new_label());
        self.put(format!("mov.b32 {done}, 0"));
        self.label(&head);
        self.put("bar.warp.sync 0xffffffff");
        let over = self.predicate();
        self.put(format!("setp.ge.u32 {over}, {done}, {total}"));
        self.put(format!("@{over} bra.uni {end}"));
        let mut now = Vec::new();
        for (j, edge) in (0..n).zip(&named) {
            let (at, here) = (self.word(), self.predicate());
            self.put(format!("add.s32 {at}, {done}, {lane}"));
            self.put(format!("add.s32 {at}, {at}, {}", 32 * j));
            self.put(format!("setp.lt.u32 {here}, {at}, {total}"));
            let owner = self.owner(&at, &places);
            let own = self.word();
            self.put(format!("add.s32 {own}, {owner}, {bases}"));
            self.put(format!("ld.shared.b32 {edge}, [{own}]"));
            self.put(format!("add.s32 {edge}, {edge}, {at}"));
            // From the place of an item's word in its row to its number.
            let (number, first) = (self.word(), self.word());
            self.put(format!("shr.u32 {number}, {owner}, {}", 2 + n.ilog2()));
            self.put(format!("and.b32 {first}, {owner}, {}", 4 * (n - 1)));
            self.put(format!("mad.lo.s32 {number}, {first}, 8, {number}"));
            self.put(format!("selp.b32 {number}, {number}, -1, {here}"));
            self.put(format!("st.shared.b32 [{owners}+{}], {number}", 4 * j));
            now.push(here);
        }
        let values = self.turn(
            lift,
            Turn {
                now,
                end: end.clone(),
            },
        );
        self.put_block(|b| {
            b.word_arguments(0, &[&lift.merge.to_string()]);
            b.vector_argument(1, &values);
            b.word_arguments(2, &[&owners, &totals]);
            let name = format!("_Z10merge_tileILi{n}EEvj3VecIXT_EEjj");
            b.put(format!("call.uni {name}, (arg0, arg1, arg2, arg3)"));
        });
        self.look_at_abort(self.kernel.code[lift.at].imm as usize - lift.at);
        self.put(format!("add.s32 {done}, {done}, {}", 32 * n));
        self.put(format!("bra.uni {head}"));
        self.label(&end);
        self.put("bar.warp.sync 0xffffffff");
        for (edge, kept) in named.iter().zip(&kept) {
            self.put(format!("mov.b32 {edge}, {kept}"));
        }
        done
    }

    /// Where in the row of first edges' places the word of the last item is that begins at this place or before.
    fn owner(&mut self, at: &str, places: &str) -> String {
        let owner = self.word();
        self.put(format!("mov.b32 {owner}, {places}"));
        let steps = (0..5 + self.together.ilog2()).rev().map(|bit| 1 << bit);
        for step in steps {
            // Item p has word p / 32 of lane p % 32.
            let bytes = match step {
                32.. => step / 8,
                _ => step * 4 * self.together,
            };
            let (begin, below) = (self.word(), self.predicate());
            self.put(format!("ld.shared.b32 {begin}, [{owner}+{bytes}]"));
            self.put(format!("setp.le.u32 {below}, {begin}, {at}"));
            self.put(format!("@{below} add.s32 {owner}, {owner}, {bytes}"));
        }
        self.put(format!("sub.s32 {owner}, {owner}, {places}"));
        owner
    }

    /// The words of a turn, but for that which takes its value in: the values.
    fn turn(&mut self, lift: Lifted, turn: Turn) -> Vec<String> {
        let (code, pc) = (&self.kernel.code, self.pc);
        let exit = code[lift.at].imm as usize;
        let body = lift.at + 3..exit - 2;
        let takes_in = |&pc: &usize| {
            let word = &code[pc];
            u32::from(word.op) == lift.merge && word.d == lift.total
        };
        let merging = body.clone().find(takes_in).expect("it was lifted for this");
        // What is known of a lane's items says nothing of edges.
        let mut proved = std::mem::take(&mut self.proved);
        self.lift_turn = Some(turn);
        for pc in body.clone().filter(|&pc| pc != merging) {
            self.pc = pc;
            let (word, written) = (code[pc], written_in(&code[pc..=pc]));
            self.mark();
            self.instruction(&word);
            if op(&word) != Op::CsrTarget {
                self.proved.retain(|&(row, _)| !written.has(row));
            }
        }
        self.pc = merging;
        let word = code[merging];
        let value = if word.a == word.d { word.b } else { word.a };
        let values = (0..self.together).map(|j| self.get32_in_register(value, j));
        let values = values.collect();
        self.lift_turn = None;
        self.pc = pc;
        let written = written_in(&code[body]);
        proved.retain(|&(row, _)| !written.has(row));
        self.proved = proved;
        values
    }

    /// Arguments of a call, from number `first` on.
    fn word_arguments(&mut self, first: usize, from: &[&str]) {
        for (i, from) in (first..).zip(from) {
            self.put(format!(".param .b32 arg{i}"));
            self.put(format!("st.param.b32 [arg{i}], {from}"));
        }
    }

    /// An argument of a value an item.
    fn vector_argument(&mut self, number: usize, values: &[String]) {
        let bytes = 4 * values.len();
        self.put(format!(".param .align 4 .b8 arg{number}[{bytes}]"));
        for (j, value) in values.iter().enumerate() {
            self.put(format!("st.param.b32 [arg{number}+{}], {value}", 4 * j));
        }
    }
}
