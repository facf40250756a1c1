//! The functions that bodies call: those of the files of WGSL beside this one, as far as they are used, and those that are
//! written for an arena or a frontier.

use crate::layout::{Arena, Class};
use crate::target::Target;
use std::collections::{BTreeMap, BTreeSet};
use vyre_core::vir0::module::FrontierId;
use vyre_core::vir0::trap::TrapKind;

/// Integers, floats of 32 bits, and of 64.
const FILES: [&str; 3] = [
    include_str!("wide.wgsl"),
    include_str!("float.wgsl"),
    include_str!("double.wgsl"),
];
const NATIVE: &str = include_str!("native.wgsl");
const SOFT: &str = include_str!("soft.wgsl");

/// Functions that the bodies of one program call, by name.
#[derive(Default)]
pub(super) struct Helpers(BTreeMap<String, String>);

impl Helpers {
    /// The text of all of them, and of what they and `bodies` call.
    pub(super) fn text(self, target: &Target, bodies: &str) -> String {
        let own: String = self.0.into_values().collect();
        let checks = checks();
        let arithmetic = if target.f64 { NATIVE } else { SOFT };
        let files = FILES.into_iter().chain([arithmetic, &checks]);
        let functions: Vec<(&str, &str)> = files.flat_map(functions).collect();
        let by_name: BTreeMap<&str, &str> = functions.iter().copied().collect();
        let mut called: BTreeSet<&str> = BTreeSet::new();
        let mut todo: Vec<&str> = names(bodies).chain(names(&own)).collect();
        while let Some(name) = todo.pop() {
            if let Some((&name, text)) = by_name.get_key_value(name)
                && called.insert(name)
            {
                todo.extend(names(text));
            }
        }
        let mut out = String::new();
        for (name, text) in functions {
            if called.contains(name) {
                out.push_str(text);
                out.push_str("\n\n");
            }
        }
        out + &own
    }

    fn add(&mut self, name: &str, text: impl FnOnce() -> String) {
        self.0.entry(name.to_owned()).or_insert_with(text);
    }

    /// A value of 64 bits.
    pub(super) fn load(&mut self, class: Class, arena: &str, at: &str) -> String {
        let name = format!("load_{arena}");
        let value = match class {
            Class::Wide => format!("pair_of(atomicLoad(&{arena}[at]))"),
            Class::Fixed | Class::Plain | Class::Atomic => {
                format!("vec2({arena}[at], {arena}[at + 1u])")
            }
        };
        self.add(&name, || {
            format!("fn {name}(at: u32) -> vec2<u32> {{\n    return {value};\n}}\n\n")
        });
        format!("{name}({at})")
    }

    /// A store of 64 bits.
    pub(super) fn store(&mut self, class: Class, arena: &str, at: &str, value: &str) -> String {
        let name = format!("store_{arena}");
        let store = match class {
            Class::Wide => format!("    atomicStore(&{arena}[at], u64_of(x));"),
            Class::Fixed | Class::Plain | Class::Atomic => {
                format!("    {arena}[at] = x.x;\n    {arena}[at + 1u] = x.y;")
            }
        };
        self.add(&name, || {
            format!("fn {name}(at: u32, x: vec2<u32>) {{\n{store}\n}}\n\n")
        });
        format!("{name}({at}, {value});")
    }

    /// An update by a function of ours: tried again where somebody came between.
    pub(super) fn update(&mut self, name: &str, arena: &str, function: &str, wide: bool) {
        let ty = if wide { "vec2<u32>" } else { "u32" };
        let (new, old) = match wide {
            true => (
                format!("u64_of({function}(pair_of(old), x))"),
                "pair_of(old)",
            ),
            false => (format!("{function}(old, x)"), "old"),
        };
        self.add(name, || {
            format!(
                "fn {name}(at: u32, x: {ty}) -> {ty} {{
    var old = atomicLoad(&{arena}[at]);
    loop {{ // ↻
        let tried = atomicCompareExchangeWeak(&{arena}[at], old, {new});
        if tried.exchanged {{
            break;
        }}
        old = tried.old_value;
    }}
    return {old};
}}

"
            )
        });
    }

    /// A compare-and-exchange that fails only where the value is another.
    pub(super) fn compare_exchange(&mut self, name: &str, arena: &str, wide: bool) {
        let (ty, before, after) = match wide {
            true => ("vec2<u32>", "u64_of(before)", "u64_of(after)"),
            false => ("u32", "before", "after"),
        };
        self.add(name, || {
            format!(
                "fn {name}(at: u32, before: {ty}, after: {ty}) -> u32 {{
    var done = 0u;
    loop {{ // ↻
        let tried = atomicCompareExchangeWeak(&{arena}[at], {before}, {after});
        done = u32(tried.exchanged);
        if tried.exchanged || tried.old_value != {before} {{
            break;
        }}
    }}
    return done;
}}

"
            )
        });
    }

    /// A push of a node; onto a unique frontier, whoever raises the node's stamp to this epoch pushes it.
    pub(super) fn push(&mut self, frontier: FrontierId, items: Arena, stamps: Option<Arena>) {
        let n = frontier.0;
        let name = format!("push_f{n}");
        let first = stamps.map_or(String::new(), |stamps| {
            format!(
                "    if atomicMax(&{stamps}[at_s{n} + node], epoch_{n}) >= epoch_{n} {{\n        return;\n    }}\n"
            )
        });
        self.add(&name, || {
            format!(
                "fn {name}(node: u32) {{
{first}    let slot = more_f{n}();
    if slot < cap_f{n} {{
        {items}[at_f{n}_0 + slot] = node;
    }}
}}

"
            )
        });
    }
}

/// Functions that note a fault and say so.
fn checks() -> String {
    let (bounds, zero, overflow) = (
        TrapKind::IndexOutOfBounds as u32,
        TrapKind::DivideByZero as u32,
        TrapKind::DivideOverflow as u32,
    );
    let mut out = format!(
        "fn outside(pc: u32, index: u32, len: u32) -> bool {{
    if index < len {{
        return false;
    }}
    fault(pc, {bounds}u, vec2(index, 0u), len);
    return true;
}}

"
    );
    let divisions = [
        ("u32", "b: u32", "b == 0u", None),
        (
            "i32",
            "a: u32, b: u32",
            "b == 0u",
            Some("a == 0x80000000u && b == 0xffffffffu"),
        ),
        ("u64", "b: vec2<u32>", "(b.x | b.y) == 0u", None),
        (
            "i64",
            "a: vec2<u32>, b: vec2<u32>",
            "(b.x | b.y) == 0u",
            Some("a.x == 0u && a.y == 0x80000000u && (b.x & b.y) == 0xffffffffu"),
        ),
    ];
    for (ty, parameters, is_zero, overflows) in divisions {
        let overflows = overflows.map_or(String::new(), |overflows| {
            format!(
                "    if {overflows} {{
        fault(pc, {overflow}u, vec2(0u, 0u), 0u);
        return true;
    }}
"
            )
        });
        out.push_str(&format!(
            "fn cannot_divide_{ty}(pc: u32, {parameters}) -> bool {{
    if {is_zero} {{
        fault(pc, {zero}u, vec2(0u, 0u), 0u);
        return true;
    }}
{overflows}    return false;
}}

"
        ));
    }
    out
}

/// The functions and constants of a file, by name. An empty line is between them, and none inside.
fn functions(file: &str) -> impl Iterator<Item = (&str, &str)> {
    file.split("\n\n").filter_map(|text| {
        let text = text.trim_matches('\n');
        let declared = text.lines().find(|line| !line.starts_with("//"))?;
        let mut words = names(declared);
        let _keyword = words.next()?;
        Some((words.next()?, text))
    })
}

/// The words of a text that can be names.
fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty())
}
