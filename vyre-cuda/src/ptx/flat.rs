//! Sweeps of items by their numbers, with the body inside: what `sweep_flat` of `kernels/operators.cuh` does for a kernel
//! whose item is a number, an element of a list of nodes, or an edge without its source.
//!
//! Which item comes to which lane, and in which order a lane has its items, is the same as there, so that sums of floats
//! are the same bits. Nothing goes through shared memory but what the words keep there; what tables say is loaded once a
//! sweep.

use super::body::{Body, Fact, Items};
use crate::abi;
use crate::image::Layout;
use crate::splice::SHIPPED;
use std::fmt::Write;
use std::mem::offset_of;
use vyre_core::vir0::module::{Domain, Program};

/// The mangled name of `sweep_flat`.
pub(crate) const NAME: &str = "_Z10sweep_flatyyy";
/// Where the number of the wave's kernel, and how many CTAs there are and this one's number, are in `vyre_state`.
pub(super) const STATE_KERNEL: u32 = 12;
const STATE_CTAS: u32 = 32;

impl Layout {
    /// Whether a kernel's wave goes to `sweep_flat`.
    pub(crate) fn is_flat(&self, program: &Program, kernel: usize) -> bool {
        program
            .waves
            .get(kernel)
            .is_some_and(|wave| match wave.domain {
                Domain::Once | Domain::Range(_) | Domain::Nodes => true,
                Domain::Items(_) => wave.domain.fields(program).is_empty(),
                Domain::Edges(_) => self.kernels[kernel].src_row == abi::NONE,
                Domain::EdgesFrom(..) | Domain::ListItems(..) => false,
            })
    }

    /// Whether a kernel's body stands in the sweep itself. Maps and loops that are shared out have ways of their own.
    pub(crate) fn is_inside(&self, program: &Program, kernel: usize) -> bool {
        self.is_flat(program, kernel)
            && self.kernels[kernel].neighbors == 0
            && !self.stays_map(kernel)
    }
}

/// What stands between the braces of `sweep_flat`, if the body of one of the pass's kernels does.
pub(super) fn sweep(program: &Program, layout: &Layout) -> Option<(String, String)> {
    let flat = (0..program.waves.len()).filter(|&id| layout.is_flat(program, id));
    let flat: Vec<usize> = flat.collect();
    if !flat.iter().any(|&id| layout.is_inside(program, id)) {
        return None;
    }
    let mut out = String::from(
        "\t.reg .pred %select;\n\t.reg .b32 %kernel;\n\t.reg .b64 %length, %list, %targets;\n",
    );
    for (i, register) in ["%length", "%list", "%targets"].iter().enumerate() {
        writeln!(out, "\tld.param.b64 {register}, [{NAME}_param_{i}];")
            .expect("writing to a string succeeds");
    }
    writeln!(out, "\tld.shared.b32 %kernel, [vyre_state+{STATE_KERNEL}];")
        .expect("writing to a string succeeds");
    super::select(&mut out, &flat);
    for id in flat {
        writeln!(out, "$K{id}:\n{{").expect("writing to a string succeeds");
        out += &match layout.is_inside(program, id) {
            true => {
                let items = layout.kernels[id].k;
                Body::new((program, layout), id, items, Items::Numbers).text()
            }
            false => shipped(),
        };
        out += "}\n";
    }
    super::end_aborted(&mut out);
    out += "$DONE:\n\tret;\n";
    Some((NAME.to_owned(), out))
}

/// A call of the sweep that others have.
fn shipped() -> String {
    let mut out = String::new();
    for (i, register) in ["%length", "%list", "%targets"].iter().enumerate() {
        writeln!(
            out,
            "\t.param .b64 arg{i};\n\tst.param.b64 [arg{i}], {register};"
        )
        .expect("writing to a string succeeds");
    }
    writeln!(
        out,
        "\tcall.uni {SHIPPED}{NAME}, (arg0, arg1, arg2);\n\tbra.uni $DONE;"
    )
    .expect("writing to a string succeeds");
    out
}

impl Body<'_> {
    /// Registers of the sweep around the body.
    pub(super) fn declare_sweep(&self, declare: &mut impl FnMut(&str, &str)) {
        if self.from == Items::Tile {
            return;
        }
        for name in ["%regs", "%lane", "%warp", "%warps", "%ctas", "%cta"] {
            declare("b32", name);
        }
        for j in 0..self.together {
            declare("b32", &format!("%number{j}"));
        }
        for name in ["%tile", "%upto", "%width", "%stride", "%here64", "%lane64"] {
            declare("b64", name);
        }
    }

    fn domain(&self) -> Domain {
        self.program.waves[self.id].domain
    }

    /// Up to where the items are known that go side by side.
    pub(super) fn begin_sweep(&mut self) {
        let described = *self.described();
        self.put("mov.u32 %warp, %tid.x");
        self.put("and.b32 %lane, %warp, 31");
        self.put("shr.u32 %warp, %warp, 5");
        self.put("mov.u32 %regs, vyre_shared");
        let rows = self.layout.head.registers_shared;
        self.put(format!("add.s32 %regs, %regs, {rows}"));
        self.put(format!(
            "mad.lo.s32 %regs, %warp, {}, %regs",
            described.warp_bytes
        ));
        self.put(format!(
            "mad.lo.s32 %regs, %lane, {}, %regs",
            4 * self.items
        ));
        self.put("mov.b32 %at, %regs");
        self.begin_tables();
        self.put(format!(
            "ld.shared.v2.b32 {{%ctas, %cta}}, [vyre_state+{STATE_CTAS}]"
        ));
        let entry = self.layout.head.kernels + (self.id * size_of::<abi::Kernel>()) as u32;
        let at = entry + offset_of!(abi::Kernel, warps) as u32;
        self.put(format!("ld.shared.b32 %warps, [vyre_shared+{at}]"));
        self.put("mul.lo.s32 %warps, %warps, %ctas");
        self.put("mad.lo.s32 %warp, %warp, %ctas, %cta");
        // With few items, a lane has one of a tile.
        let (few, tile) = (self.predicate(), self.word());
        self.put("mul.wide.u32 %stride, %warps, 32");
        self.put(format!("setp.le.u64 {few}, %length, %stride"));
        self.put(format!("selp.b32 {tile}, 32, {}, {few}", 32 * described.k));
        self.put(format!("cvt.u64.u32 %width, {tile}"));
        self.put(format!("mul.wide.u32 %stride, %warps, {tile}"));
        self.put(format!("mul.wide.u32 %tile, %warp, {tile}"));
        self.put("cvt.u64.u32 %lane64, %lane");
        self.put(format!("bra.uni $N{}", self.id));
        self.label(&format!("$G{}", self.id));
        if described.k > 1
            && matches!(
                self.domain(),
                Domain::Once | Domain::Range(_) | Domain::Nodes
            )
        {
            self.fetch_ahead(described.k);
        }
        self.put("add.s64 %upto, %tile, %width");
        self.put("min.u64 %upto, %upto, %length");
        self.put("mov.b64 %here64, %tile");
        self.label(&format!("$H{}", self.id));
        self.take_numbers();
        self.prove_items();
        self.look_ahead();
    }

    /// Asks for what the items of the tile after this one load of their own elements.
    fn fetch_ahead(&mut self, k: u32) {
        for (buffer, size) in self.layout.ahead(self.id) {
            let [len, data] = [Fact::Len(buffer), Fact::Data(buffer)].map(|fact| self.fact(fact));
            let (at, end, there) = (self.long(), self.long(), self.predicate());
            self.put(format!("add.s64 {at}, %tile, %stride"));
            self.put(format!("mad.lo.s64 {at}, %lane64, {}, {at}", 128 / size));
            self.put(format!("cvt.u64.u32 {end}, {len}"));
            self.put(format!("setp.lt.u64 {there}, {at}, {end}"));
            self.put(format!(
                "setp.lt.and.u32 {there}, %lane, {}, {there}",
                k * size / 4
            ));
            self.put(format!("mad.lo.s64 {at}, {at}, {size}, {data}"));
            self.put(format!("@{there} prefetch.global.L1 [{at}]"));
        }
    }

    /// The items' numbers, who of them is there, and what stands at these numbers.
    fn take_numbers(&mut self) {
        let (item, domain) = (self.kernel.item, self.domain());
        for j in 0..self.together {
            let number = self.long();
            self.put(format!("add.s64 {number}, %here64, %lane64"));
            self.put(format!("add.s64 {number}, {number}, {}", 32 * j));
            self.put(format!("setp.lt.u64 %a0_{j}, {number}, %upto"));
            self.put(format!("cvt.u32.u64 %number{j}, {number}"));
            let load = |body: &mut Self, how: &str, base: &str| {
                let (at, to) = (body.long(), body.word());
                body.put(format!("mad.lo.s64 {at}, {number}, 4, {base}"));
                body.put(format!("mov.b32 {to}, 0"));
                body.put(format!("@%a0_{j} {how} {to}, [{at}]"));
                to
            };
            if let Some(row) = item.dst {
                let target = load(self, "ld.global.nc.u32", "%targets");
                self.set32(row, j, false, "mov.b32", &target);
            }
            if let Domain::Items(_) = domain {
                let node = load(self, "ld.global.u32", "%list");
                self.put(format!("mov.b32 %number{j}, {node}"));
            }
            // A local array may have the row.
            if let Some(row) = item.index {
                self.set32(row, j, false, "mov.b32", &format!("%number{j}"));
            }
        }
    }

    /// Puts the items' numbers where a fault looks for them.
    pub(super) fn name_items(&mut self) {
        let row = self.described().item_row;
        if self.from == Items::Tile || row == abi::NONE {
            return;
        }
        for j in 0..self.together {
            let at = row * self.row_bytes() + j * 4;
            self.put(format!("st.shared.b32 [%at+{at}], %number{j}"));
        }
    }

    pub(super) fn end_sweep(&mut self) {
        let (end, more) = (self.body_end(), self.predicate());
        self.label(&end);
        if self.together < self.described().k {
            self.put(format!("add.s64 %here64, %here64, {}", 32 * self.together));
            self.put(format!("setp.lt.u64 {more}, %here64, %upto"));
            self.put(format!("@{more} bra.uni $H{}", self.id));
        }
        self.put("add.s64 %tile, %tile, %stride");
        self.label(&format!("$N{}", self.id));
        self.put(format!("setp.lt.u64 {more}, %tile, %length"));
        self.put(format!("@{more} bra.uni $G{}", self.id));
        self.put("bra.uni $DONE");
    }
}
