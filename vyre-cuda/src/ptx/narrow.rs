//! Narrow rounds of a compiled pass: the operator's functions with the pass's bodies, in [thread form](super::thread), in
//! their holes.
//!
//! `kernels/narrow.ptx` has the functions of the megakernel that differ there from the interpreter's. A hole is a comment
//! that names the operator's registers: `// VYRE_HOLE what given .. to back ..`. The text that takes its place stands in
//! the midst of the function, so nothing is called, and registers need not lie where a call expects them.

use super::thread::{self, Thread};
use crate::abi::NONE;
use crate::code::without_cluster_marks;
use crate::image::Layout;
use std::fmt::Write;
use vyre_core::vir0::module::{Domain, Program};

const NARROW_PTX: &str = include_str!("../../kernels/narrow.ptx");
const HOLE: &str = "// VYRE_HOLE ";
/// What fills the registers of quick code, which no compiled body has.
const NO_FILLS: &str = ".func _Z14fill_all_quickv()\n{\n\tret;\n}\n";
/// Functions of rounds of one wave; of several; and the entry, which knows of the latter.
const ONE: [&str; 2] = ["_Z12begin_narrow", "_Z12quick_rounds"];
const SEVERAL: [&str; 4] = [
    "_Z12begin_rounds",
    "_Z10run_rounds",
    "_Z10end_rounds",
    "vyre_megakernel",
];

/// A wave with narrow rounds.
struct Wave {
    kernel: usize,
    /// By site of its body, the number of the frontier that it pushes to, none for the swept one; and its number and
    /// its place among those of the fixpoint.
    frontiers: Vec<u32>,
    places: Vec<[u32; 2]>,
    body: Thread,
}

/// The text of functions that a pass's module has instead of the interpreter's, or besides. A wave whose body has no
/// thread form goes on by the interpreter's code.
pub(crate) fn rounds(program: &Program, layout: &Layout, clusters: bool) -> String {
    let of = |id: usize| Wave::new(program, layout, id);
    let quick = (0..program.waves.len()).filter(|&id| layout.kernels[id].quick != 0);
    let one: Vec<Wave> = quick.map(of).collect::<Option<_>>().unwrap_or_default();
    let several: Vec<Wave> = layout
        .waves_of_rounds()
        .map(|id| of(id as usize).expect("such rounds have bodies in thread form"))
        .collect();
    let text = without_cluster_marks(NARROW_PTX, clusters);
    let mut out = String::new();
    if !one.is_empty() {
        out += &filled(&text, &ONE, &one);
        out += NO_FILLS;
    }
    if !several.is_empty() {
        out += &filled(&text, &SEVERAL, &several);
    }
    out
}

impl Wave {
    fn new(program: &Program, layout: &Layout, id: usize) -> Option<Wave> {
        let wave = &program.waves[id];
        let kernel = wave.kernel.index();
        let body = thread::body(program, layout, kernel).ok()?;
        let swept = wave.domain.frontier();
        let number = |&site: &u16| match wave.domain {
            Domain::EdgesFrom(_, swept) if swept.0 == site => NONE,
            _ => site.into(),
        };
        let place = |&site: &u16| {
            let place = layout.place_of(program, id, site);
            [site.into(), place.unwrap_or(NONE)]
        };
        swept.map(|_| Wave {
            kernel,
            frontiers: body.sites.iter().map(number).collect(),
            places: body.sites.iter().map(place).collect(),
            body,
        })
    }
}

/// The functions of the text whose names begin so, with their holes filled.
fn filled(text: &str, names: &[&str], waves: &[Wave]) -> String {
    let mut out = String::new();
    let mut is_kept = false;
    for line in text.lines() {
        if line.starts_with(".func") || line.starts_with(".visible") {
            is_kept = names.iter().any(|name| line.contains(name));
        }
        if !is_kept {
            continue;
        }
        match line.trim_start().strip_prefix(HOLE) {
            None => writeln!(out, "{line}").expect("writing to a string succeeds"),
            Some(hole) => fill(&mut out, hole, waves),
        }
    }
    out
}

/// What takes the place of a hole.
fn fill(out: &mut String, hole: &str, waves: &[Wave]) {
    let words: Vec<&str> = hole.split_ascii_whitespace().collect();
    let to = words.iter().position(|&word| word == "to");
    let (given, back) = words.split_at(to.expect("a hole says what comes back"));
    match (given[0], &given[1..], &back[1..]) {
        ("body", [kernel, given @ ..], back) => bodies(out, waves, kernel, (given, back)),
        ("frontier", &[kernel, site], &[to]) => {
            let values = |wave: &Wave| wave.frontiers.iter().map(|&x| vec![x]).collect();
            select(out, waves, [kernel, site], &[to], values);
        }
        ("queue", &[kernel, site], &[number, place]) => {
            let values = |wave: &Wave| wave.places.iter().map(|x| x.to_vec()).collect();
            select(out, waves, [kernel, site], &[number, place], values);
        }
        _ => unreachable!("the operator's holes are these"),
    }
}

/// The body of the kernel that the wave has.
fn bodies(out: &mut String, waves: &[Wave], kernel: &str, (given, back): (&[&str], &[&str])) {
    let mut put = |line: String| writeln!(out, "{line}").expect("writing to a string succeeds");
    let Some((last, others)) = waves.split_last() else {
        unreachable!("a pass with narrow rounds has a wave")
    };
    put("\t{\n\t.reg .pred %other;".to_owned());
    for wave in others {
        put(format!("\tsetp.ne.s32 %other, {kernel}, {};", wave.kernel));
        put(format!("\t@%other bra $W{};", wave.kernel));
        put(wave.body.filled(given, back));
        put(format!("\tbra $FILLED;\n$W{}:", wave.kernel));
    }
    put(last.body.filled(given, back));
    put("$FILLED:\n\t}".to_owned());
}

/// Constants by kernel and site. The first ones need no comparison: one of them it is.
fn select(
    out: &mut String,
    waves: &[Wave],
    [kernel, site]: [&str; 2],
    to: &[&str],
    values: impl Fn(&Wave) -> Vec<Vec<u32>>,
) {
    let mut put = |line: String| writeln!(out, "\t{line}").expect("writing to a string succeeds");
    put("{\n\t.reg .pred %here;".to_owned());
    let all = waves.iter().flat_map(|wave| {
        let values = values(wave).into_iter().enumerate();
        values.map(move |(i, values)| (wave.kernel, i, values))
    });
    for (n, (of, i, values)) in all.enumerate() {
        if n > 0 {
            put(format!("setp.eq.s32 %here, {site}, {i};"));
            put(format!("setp.eq.and.s32 %here, {kernel}, {of}, %here;"));
        }
        let guard = if n > 0 { "@%here " } else { "" };
        for (to, value) in to.iter().zip(values) {
            put(format!("{guard}mov.b32 {to}, {value};"));
        }
    }
    put("}".to_owned());
}
