//! VIR0 to PTX: the bodies of a pass, in the place of the interpreter's.
//!
//! The megakernel runs a tile of items by a call to `interpret<K>`, K items a lane. A compiled pass has the same
//! function with another body, and everything around it stays as it is: item numbers come in the lane's register rows in
//! shared memory, reductions go to the accumulators there, pushes, appends and traps go through the functions that the
//! interpreter calls. [`bodies`] makes those texts of what the host knows of a pass, without a device, and the same text
//! each time.
//!
//! **Masked form.** All 32 lanes walk through a body together, as they do in the interpreter, and each lane holds a
//! predicate for each of its items at each depth of nesting: which of them are active. An instruction that may be
//! noticed runs under its item's predicate, a branch is taken by the whole warp (because a vote found that no item wants
//! the other way) or not at all. So an operation of the full mask may stand anywhere, a push inside a loop included, and
//! the loads of a lane's items are asked for one after the other without a branch that keeps them apart.
//!
//! **Registers.** Rows become typed virtual registers, which ptxas allocates: pairs of rows that are only used together
//! are `.b64`, all others `.b32`. Local arrays stay in the rows in shared memory that the layout gives them, because an
//! index picks the row. Uniforms, and the addresses and lengths of buffers as far as registers allow, are loaded once at
//! a body's beginning ([`body::hoisted`]); [`body::together`] says how many of a lane's items go side by side.
//!
//! **Sweeps by number** have the body inside ([`flat`]): items' numbers never go through shared memory, and what tables
//! say is loaded once a sweep. Loops that count turns known beforehand are written out ([`counted`]).
//!
//! **Faults** leave to a cold path at the body's end by one branch a check, and come back without the items that
//! faulted. A check is left out where the item's number, a target of the topology or an earlier check proves it.

mod blocks;
mod body;
mod counted;
mod flat;
pub(crate) mod lifted;
pub(crate) mod narrow;
mod ops;
mod shared;
pub(crate) mod sites;
#[cfg(test)]
mod tests;
pub(crate) mod thread;

use crate::abi;
use crate::image::Layout;
use crate::shape::Shape;
use crate::splice::SHIPPED;
use body::{Body, Items};
pub(crate) use ops::looks;
use std::fmt::Write;
use std::mem::offset_of;
use vyre_core::vir0::module::{Program, Wave};

/// Items a lane that there is a function for.
const WIDTHS: [u32; 3] = [1, 2, 4];

/// The mangled name of `interpret<K>`.
pub(crate) fn name(items: u32) -> String {
    format!("_Z9interpretILi{items}EEjjjjjjj")
}

/// Which parameters of `interpret<K>` are the items that exist, the kernel's number, and the pc to start at. The second
/// one is always the lane's place in row 0. (With several items a lane, nvcc drops the one that is not used.)
fn parameters(items: u32) -> [u32; 3] {
    if items == 1 { [3, 4, 5] } else { [2, 3, 4] }
}

/// What stands between the braces of `interpret<K>` in the module of a pass, for each `K` of 1, 2 and 4 that is the
/// number of items a lane of one of its kernels; and of the sweeps that have bodies inside. With the functions' names.
/// Kernels whose neighbour loop is shared out and has too many rows stay with the interpreter; it is called for them.
///
/// The text calls functions of the megakernel by their names there (`push`, `reserve`, `fault`, `rare`, `unknown_word`)
/// and declares none of them. It depends on the program and on what the layout fixes: where tables and staged uniforms
/// are in shared memory, items a lane, rows.
pub(crate) fn bodies(program: &Program, layout: &Layout) -> Vec<(String, String)> {
    let mut bodies = tiles(program, layout, |id| !layout.is_inside(program, id));
    bodies.extend(flat::sweep(program, layout));
    bodies
}

/// Those of `interpret<K>`, for the kernels that are called so.
fn tiles(
    program: &Program,
    layout: &Layout,
    is_called: impl Fn(usize) -> bool,
) -> Vec<(String, String)> {
    let kernels = |items: u32| -> Vec<usize> {
        let kernels = layout.kernels.iter().enumerate();
        let has = kernels.filter(|&(id, k)| (items == 1 || k.k == items) && is_called(id));
        has.map(|(id, _)| id).collect()
    };
    let made = WIDTHS.into_iter().map(|items| (items, kernels(items)));
    let made = made.filter(|(items, kernels)| {
        let mut all = kernels.iter();
        let is_other = layout.shape != Shape::INTERPRETER;
        let is_left = kernels.is_empty() && is_other;
        is_left || all.any(|&id| !is_interpreted(program, layout, id, *items))
    });
    made.map(|(items, kernels)| match kernels.is_empty() {
        true => (name(items), NOT_CALLED.to_owned()),
        false => (name(items), function(program, layout, items, &kernels)),
    })
    .collect()
}

/// Of a function that no kernel of the pass has the items for: it only raises a trap. Folding does not find that where
/// kernels have several numbers of items, as they often do where several CTAs share a multiprocessor's memory.
const NOT_CALLED: &str = "\t.param .b32 param0;\n\t.reg .b32 %none;\n\tst.param.b32 [param0], -1;\n\t\
    call.uni _Z12unknown_wordj, (param0);\n\tmov.b32 %none, 0;\n\tst.param.b32 [func_retval0], %none;\n\tret;\n";

/// What the bodies of a pass's waves are like, for people: where they stand, how many of a lane's items go side by side
/// of those that it takes at a time, and how much is kept in registers.
pub(crate) fn described(program: &Program, layout: &Layout) -> String {
    let wave = |(id, wave): (usize, &Wave)| {
        let (kernel, items) = (&program.kernels[id], layout.kernels[id].k);
        let together = body::together((program, layout), id, items);
        let place = if layout.is_inside(program, id) {
            "in its sweep"
        } else if layout.stays_map(id) {
            return format!("{}: a map, interpreted", wave.name);
        } else if is_interpreted(program, layout, id, items) {
            return format!("{}: interpreted, for its rows", wave.name);
        } else {
            "called a tile"
        };
        let narrow = if layout.kernels[id].quick != 0 {
            ", in narrow rounds one"
        } else {
            ""
        };
        let loops = match counted::written_out(program, layout, id) {
            0 => String::new(),
            1 => ", a loop written out".to_owned(),
            n => format!(", {n} loops written out"),
        };
        let held = body::hoisted((program, layout), id, together).len();
        format!(
            "{}: {place}, {together} of {items} items a lane side by side{narrow}, {} rows, {held} addresses and lengths held{loops}",
            wave.name,
            body::most_alive(kernel)
        )
    };
    let waves: Vec<String> = program.waves.iter().enumerate().map(wave).collect();
    waves.join("; ")
}

/// Whether a kernel has a neighbour loop that is shared out, and too many rows for all of a lane's items to go side by
/// side.
fn is_interpreted(program: &Program, layout: &Layout, kernel: usize, items: u32) -> bool {
    layout.kernels[kernel].neighbors != 0
        && body::together((program, layout), kernel, items) < items
}

/// The text of one of the functions.
fn function(program: &Program, layout: &Layout, items: u32, kernels: &[usize]) -> String {
    let mut out = String::new();
    let name = name(items);
    let [mask, kernel, pc] = parameters(items);
    out += "\t.reg .pred %select, %part;\n\t.reg .b32 %code, %regs, %mask, %kernel, %pc, %value;\n";
    for (register, parameter) in [
        ("%code", 0),
        ("%regs", 1),
        ("%mask", mask),
        ("%kernel", kernel),
        ("%pc", pc),
    ] {
        writeln!(
            out,
            "\tld.param.b32 {register}, [{name}_param_{parameter}];"
        )
        .expect("writing to a string succeeds");
    }
    out += "\tmov.b32 %value, 0;\n";
    select(&mut out, kernels);
    for &id in kernels {
        writeln!(out, "$K{id}:\n{{").expect("writing to a string succeeds");
        out += &match is_interpreted(program, layout, id, items) {
            true => interpreted(items),
            false => Body::new((program, layout), id, items, Items::Tile).text(),
        };
        out += "}\n";
    }
    end_aborted(&mut out);
    out += "$DONE:\n\tst.param.b32 [func_retval0], %value;\n\tret;\n";
    out
}

/// Where bodies go that found that the run is to stop, before their end: as the megakernel's `note_abort`.
fn end_aborted(out: &mut String) {
    if !out.contains("$ABORTED") {
        return;
    }
    let [control, here] = [
        offset_of!(abi::Image, control),
        offset_of!(abi::Image, aborted),
    ];
    let there = offset_of!(abi::Control, aborted);
    let text = format!(
        "$ABORTED:\n{{\n\t.reg .b64 %control;\n\tst.volatile.shared.u32 [vyre_shared+{here}], 1;\n\t\
         ld.shared.b64 %control, [vyre_shared+{control}];\n\t\
         st.relaxed.gpu.global.u32 [%control+{there}], 1;\n}}\n"
    );
    out.push_str(&text);
}

/// A body that calls the interpreter.
fn interpreted(items: u32) -> String {
    let (mut out, name) = (String::new(), name(items));
    let [.., last] = parameters(items);
    for i in 0..=last {
        writeln!(
            out,
            "\t.param .b32 arg{i};\n\t.reg .b32 %arg{i};\n\tld.param.b32 %arg{i}, [{name}_param_{i}];\n\tst.param.b32 [arg{i}], %arg{i};"
        )
        .expect("writing to a string succeeds");
    }
    let given: Vec<String> = (0..=last).map(|i| format!("arg{i}")).collect();
    let given = given.join(", ");
    out += "\t.param .b32 result;\n";
    writeln!(out, "\tcall.uni (result), {SHIPPED}{name}, ({given});")
        .expect("writing to a string succeeds");
    out += "\tld.param.b32 %value, [result];\n\tbra.uni $DONE;\n";
    out
}

/// Branches to the body of the kernel, one of these.
fn select(out: &mut String, kernels: &[usize]) {
    let (low, high) = kernels.split_at(kernels.len() / 2);
    match (low, high) {
        ([], [only, ..]) => writeln!(out, "\tbra.uni $K{only};"),
        (_, [first, ..]) => {
            writeln!(
                out,
                "\tsetp.ge.u32 %select, %kernel, {first};\n\t@%select bra.uni $S{first};"
            )
            .expect("writing to a string succeeds");
            select(out, low);
            let label = writeln!(out, "$S{first}:");
            select(out, high);
            label
        }
        (_, []) => unreachable!("a function has a kernel"),
    }
    .expect("writing to a string succeeds");
}
