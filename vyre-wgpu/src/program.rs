//! A program as one module of shaders: an entry point for each wave, and one for the control.
//!
//! The module is written as WGSL, which naga parses and validates: one can read it, and a browser takes it as it is.
//!
//! | entry point | dispatched | does |
//! | --- | --- | --- |
//! | `wave_N` | indirectly, with the workgroups that the control has written | sweeps wave N |
//! | `control` | one workgroup, behind each barrier group | ends the group, goes on through the schedule, and sweeps narrow groups by itself |
//!
//! | binding | what |
//! | --- | --- |
//! | group 0, 0 | `state`: where the run is, sizes, places and values |
//! | group 0, 1 | `counts`: what many lanes count at once |
//! | group 0, 2.. | the arenas of the [`Layout`], in its order |
//! | group 1, 0 | `args`, of the control alone: the workgroups of each wave's next dispatch |
//! | group 1, 1 | `here`, of the control alone: the barrier group that was dispatched before it |
//!
//! So the arguments of a dispatch are never bound in it.

use crate::control;
use crate::layout::{Class, Layout, Part, sides};
use crate::shader;
use crate::slots::{self, Slots, groups, reduced};
use crate::sweep;
use crate::target::Target;
use std::fmt::Write;
use thiserror::Error;
use vyre_core::vir0::exact;
use vyre_core::vir0::module::{
    Domain, FixpointId, FrontierId, KernelId, ListId, Program, ReduceOp, ReductionId, Resource,
    Uniform, WaveId,
};
use vyre_core::vir0::scalar::Scalar;

/// Turns of loops that an item may take. A shader cannot be stopped, and a loop without an end would hold the adapter
/// for ever.
pub const TURNS: u32 = 1 << 24;

/// llvmpipe ends each loop of a shader once the lanes that it runs together have taken 65,535 turns of it in a dispatch,
/// and says nothing. A shader cannot see that: a compiler knows that a loop ends only where it says so. So turns of all
/// loops are counted by lanes that run together, of which there are 4 to 16, and the run ends in time.
pub(crate) const CUT_TURNS: u32 = 30_000;
pub(crate) const CUT_LANES: u32 = 8;
/// Stands behind the beginning of each loop of helpers and of the control: where turns are counted, so are its own. No
/// name of a program can have this sign, because comments have names as `plain` leaves them.
const TURN: &str = " // ↻";

/// Writes a line.
macro_rules! line {
    ($out:expr, $($text:tt)*) => {
        writeln!($out, $($text)*).expect("a string takes everything")
    };
}
pub(crate) use line;

/// Why there is no module. Programs that [`refusals`](crate::shader::refusals) lets pass have one.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ModuleError {
    /// The text does not parse.
    #[error("naga does not parse the shaders of `{program}`: {why}")]
    Parse {
        /// Its name.
        program: String,
        /// With the place.
        why: String,
    },
    /// The module is not valid.
    #[error("naga refuses the shaders of `{program}`: {why}")]
    Invalid {
        /// Its name.
        program: String,
        /// With the place.
        why: String,
    },
}

/// The shaders of a program, parsed and validated.
///
/// # Errors
/// naga's.
pub fn module(
    program: &Program,
    layout: &Layout,
    target: &Target,
) -> Result<naga::Module, ModuleError> {
    parse(&program.name, &source(program, layout, target), target)
}

/// A module of what [`source`] has written for the program of this name.
pub(crate) fn parse(name: &str, text: &str, target: &Target) -> Result<naga::Module, ModuleError> {
    use naga::valid::{ValidationFlags, Validator};
    let module = naga::front::wgsl::parse_str(text).map_err(|e| ModuleError::Parse {
        program: name.to_owned(),
        why: e.emit_to_string(text),
    })?;
    let mut validator = Validator::new(ValidationFlags::all(), target.capabilities());
    validator
        .validate(&module)
        .map_err(|e| ModuleError::Invalid {
            program: name.to_owned(),
            why: e.emit_to_string(text),
        })?;
    Ok(module)
}

/// The shaders of a program, as text.
pub fn source(program: &Program, layout: &Layout, target: &Target) -> String {
    let emitter = Emitter {
        program,
        layout,
        target,
        slots: &Slots::new(program, target),
    };
    let mut out = String::new();
    emitter.bindings(&mut out);
    emitter.globals(&mut out);
    emitter.effects(&mut out);
    out.push_str(&shader::bodies(program, layout, target));
    for wave in (0..).map(WaveId).take(program.waves.len()) {
        sweep::write(&emitter, wave, &mut out);
    }
    control::write(&emitter, &mut out);
    let counted = match emitter.counted() {
        "" => String::new(),
        counted => format!(" {counted}"),
    };
    out.replace(TURN, &counted)
}

/// What the parts of a module are written from.
pub(crate) struct Emitter<'a> {
    pub(crate) program: &'a Program,
    pub(crate) layout: &'a Layout,
    pub(crate) target: &'a Target,
    pub(crate) slots: &'a Slots,
}

/// The type of a value in WGSL.
pub(crate) fn value_type(scalar: Scalar) -> &'static str {
    match scalar.rows() {
        1 => "u32",
        _ => "vec2<u32>",
    }
}

/// A literal of it.
pub(crate) fn value(scalar: Scalar, bits: u64) -> String {
    match scalar.rows() {
        1 => format!("{}u", bits as u32),
        _ => pair(bits),
    }
}

fn pair(bits: u64) -> String {
    format!("vec2<u32>({}u, {}u)", bits as u32, bits >> 32)
}

impl Emitter<'_> {
    fn bindings(&self, out: &mut String) {
        line!(
            out,
            "@group(0) @binding(0) var<storage, read_write> state: array<u32>;"
        );
        line!(
            out,
            "@group(0) @binding(1) var<storage, read_write> counts: array<atomic<u32>>;"
        );
        for (at, (arena, _)) in self.layout.arenas().enumerate() {
            let access = match arena.class {
                Class::Fixed => "read",
                Class::Plain | Class::Atomic | Class::Wide => "read_write",
            };
            let (at, ty) = (at + 2, arena.class.wgsl());
            line!(
                out,
                "@group(0) @binding({at}) var<storage, {access}> {arena}: {ty};"
            );
        }
        line!(
            out,
            "@group(1) @binding(0) var<storage, read_write> args: array<u32>;"
        );
        line!(out, "@group(1) @binding(1) var<uniform> here: vec4<u32>;");
    }

    /// What bodies find at module scope.
    fn globals(&self, out: &mut String) {
        let p = self.program;
        let mut word = |name: &str| line!(out, "var<private> {name}: u32;");
        word("nodes");
        for t in 0..p.topologies.len() {
            for name in ["at_o", "at_t", "edges_"] {
                word(&format!("{name}{t}"));
            }
        }
        for b in 0..p.buffers.len() {
            for name in ["at_b", "len_b"] {
                word(&format!("{name}{b}"));
            }
        }
        for (f, frontier) in p.frontiers.iter().enumerate() {
            for k in 0..frontier.fields.len().max(1) {
                word(&format!("at_f{f}_{k}"));
            }
            for name in ["cap_f", "at_s", "epoch_"] {
                word(&format!("{name}{f}"));
            }
        }
        for (l, list) in p.lists.iter().enumerate() {
            for k in 0..list.fields.len() {
                word(&format!("at_l{l}_{k}"));
            }
            word(&format!("cap_l{l}"));
        }
        let mine = [
            "my_item",
            "my_lane",
            "my_turns",
            "my_spent",
            "my_faulted",
            "my_fault_item",
            "my_fault_pc",
            "my_fault_kind",
            "my_fault_len",
        ];
        mine.into_iter().for_each(word);
        line!(out, "var<private> my_fault_index: vec2<u32>;");
        for (k, kernel) in p.kernels.iter().enumerate() {
            for s in 0..kernel.uniforms.len() {
                line!(out, "var<private> u{k}_{s}: vec2<u32>;");
            }
        }
        for (r, reduction) in p.reductions.iter().enumerate() {
            match reduction.op {
                ReduceOp::ExactSum => {
                    let words = 2 * exact::words(reduction.scalar).unwrap_or(0);
                    line!(
                        out,
                        "var<workgroup> exact_r{r}: array<atomic<u32>, {words}>;"
                    );
                }
                _ => line!(
                    out,
                    "var<private> my_r{r}: {};",
                    value_type(reduction.scalar)
                ),
            }
        }
        let lanes = self.target.lanes;
        for name in ["wg_sums", "wg_first", "wg_source"] {
            line!(out, "var<workgroup> {name}: array<u32, {lanes}>;");
        }
        line!(out, "var<workgroup> wg_pairs: array<vec2<u32>, {lanes}>;");
        if self.target.cuts_loops {
            let counters = lanes.div_ceil(CUT_LANES);
            line!(out, "var<workgroup> wg_turns: array<u32, {counters}>;");
        }
        line!(out, "var<workgroup> wg_fault: array<atomic<u32>, 3>;");
        line!(out, "var<workgroup> wg_range: vec4<u32>;");
        line!(out, "var<workgroup> wg_hub: u32;");
        line!(out, "var<workgroup> wg_weight: atomic<u32>;");
        line!(out, "var<workgroup> wg_go: vec2<u32>;");
    }

    /// The functions that bodies call.
    fn effects(&self, out: &mut String) {
        let p = self.program;
        let (spent, endless) = (slots::SPENT, slots::ENDLESS);
        let turns = TURNS;
        if self.target.cuts_loops {
            let cut = slots::CUT;
            line!(
                out,
                "fn my_cut() -> bool {{
    wg_turns[my_lane / {CUT_LANES}u] += 1u;
    if wg_turns[my_lane / {CUT_LANES}u] >= {CUT_TURNS}u {{
        atomicMax(&counts[{spent}], {cut}u);
        my_spent = {cut}u;
    }}
    return my_spent != 0u;
}}"
            );
        }
        let counted = match self.target.cuts_loops {
            true => "    if my_cut() { return false; }\n",
            false => "",
        };
        line!(
            out,
            "fn fault(pc: u32, kind: u32, index: vec2<u32>, len: u32) {{
    let lower = my_item < my_fault_item || (my_item == my_fault_item && pc < my_fault_pc);
    if my_faulted == 0u || lower {{
        my_faulted = 1u;
        my_fault_item = my_item;
        my_fault_pc = pc;
        my_fault_kind = kind;
        my_fault_index = index;
        my_fault_len = len;
    }}
}}
fn turn() -> bool {{
{counted}    my_turns += 1u;
    if (my_turns & 4095u) == 0u {{
        if my_turns >= {turns}u {{ atomicStore(&counts[{spent}], {endless}u); }}
        my_spent = atomicLoad(&counts[{spent}]);
    }}
    return my_spent == 0u;
}}"
        );
        for f in (0..).map(FrontierId).take(p.frontiers.len()) {
            let at = self.slots.pushed(f);
            line!(
                out,
                "fn more_f{}() -> u32 {{ return atomicAdd(&counts[{at}], 1u); }}",
                f.0
            );
        }
        for l in (0..).map(ListId).take(p.lists.len()) {
            let at = self.slots.appended(l);
            line!(
                out,
                "fn more_l{}() -> u32 {{ return atomicAdd(&counts[{at}], 1u); }}",
                l.0
            );
        }
        let is_exact = |r: &vyre_core::vir0::module::Reduction| r.op == ReduceOp::ExactSum;
        if p.reductions.iter().any(is_exact) {
            out.push_str(include_str!("exact.wgsl"));
        }
        for (r, reduction) in p.reductions.iter().enumerate() {
            let ty = value_type(reduction.scalar);
            line!(out, "fn take_{r}(x: {ty}) {{");
            match (reduction.op, reduction.scalar) {
                (ReduceOp::ExactSum, scalar) => exact_take(r, scalar, out),
                _ => line!(out, "    my_r{r} = combine_{r}(my_r{r}, x);"),
            }
            line!(out, "}}");
        }
    }

    /// Statements that set what a kernel uses of the globals: of a wave, or of a fixpoint's condition.
    pub(crate) fn load(&self, kernel: KernelId, of: Of, out: &mut String) {
        let (p, slots) = (self.program, self.slots);
        line!(out, "    nodes = state[{}];", slots::NODES);
        let resources: Vec<Resource> = match of {
            Of::Wave(wave) => {
                let accesses = p.waves[wave.index()].accesses.iter();
                accesses.map(|access| access.resource).collect()
            }
            Of::Condition(_) => Vec::new(),
        };
        for resource in resources {
            match resource {
                Resource::Topology(t) => {
                    let (at, t) = (slots.topology(t), t.0);
                    line!(out, "    at_o{t} = state[{at}];");
                    line!(out, "    at_t{t} = state[{}];", at + 1);
                    line!(out, "    edges_{t} = state[{}];", at + 2);
                }
                Resource::Buffer(b) => {
                    let (at, b) = (slots.buffer(b), b.0);
                    line!(out, "    at_b{b} = state[{at}];");
                    line!(out, "    len_b{b} = state[{}];", at + 1);
                }
                Resource::Frontier(f) => {
                    let at = slots.frontier(f);
                    let fields = p.frontiers[f.index()].fields.len().max(1) as u32;
                    let f = f.0;
                    line!(out, "    cap_f{f} = state[{at}];");
                    line!(out, "    at_s{f} = state[{}];", at + 1);
                    line!(out, "    epoch_{f} = state[{}];", at + 2);
                    for k in 0..fields {
                        line!(out, "    at_f{f}_{k} = state[{}];", at + 5 + 2 * k);
                    }
                }
                Resource::List(l) => {
                    let at = slots.list(l);
                    let fields = p.lists[l.index()].fields.len() as u32;
                    let l = l.0;
                    line!(out, "    cap_l{l} = state[{at}];");
                    for k in 0..fields {
                        line!(out, "    at_l{l}_{k} = state[{}];", at + 2 + k);
                    }
                }
                Resource::Reduction(_) => {}
            }
        }
        let fixpoint = match of {
            Of::Wave(wave) => p.waves[wave.index()].fixpoint,
            Of::Condition(f) => Some(f),
        };
        for (s, &uniform) in p.kernels[kernel.index()].uniforms.iter().enumerate() {
            let words = |at: u32| format!("vec2<u32>(state[{at}], state[{}])", at + 1);
            let word = |text: String| format!("vec2<u32>({text}, 0u)");
            let value = match uniform {
                Uniform::Scalar(s) => words(slots.scalar(s)),
                Uniform::Constant(c) => pair(p.constants[c.index()].bits),
                Uniform::Reduction(r) => words(slots.reduction(r)),
                Uniform::Round => match fixpoint {
                    Some(f) => word(format!("state[{}]", slots.fixpoint(f))),
                    None => pair(0),
                },
                Uniform::FrontierLen(f) => {
                    word(format!("atomicLoad(&counts[{}])", slots.pushed(f)))
                }
                Uniform::Nodes => word("nodes".to_owned()),
                Uniform::ListLen(l) => word(format!("state[{}]", slots.list(l) + 1)),
            };
            line!(out, "    u{}_{s} = {value};", kernel.0);
        }
        line!(out, "    my_turns = 0u;");
        line!(out, "    my_spent = 0u;");
        line!(out, "    my_faulted = 0u;");
    }

    /// An element of a part, with its place and its index as texts.
    pub(crate) fn element(&self, part: Part, at: &str, index: &str) -> String {
        let arena = self.layout.arena(part);
        match part.element_bytes(self.program) {
            8 => format!(
                "vec2<u32>({arena}[{at} + 2u * {index}], {arena}[{at} + 2u * {index} + 1u])"
            ),
            _ => format!("{arena}[{at} + {index}]"),
        }
    }

    /// Statements at the beginning of an entry point.
    pub(crate) fn start(&self) -> String {
        match self.target.cuts_loops {
            true => format!("    my_lane = lane;\n    wg_turns[lane / {CUT_LANES}u] = 0u;"),
            false => "    my_lane = lane;".to_owned(),
        }
    }

    /// A statement in each turn of an operator's loop.
    pub(crate) fn counted(&self) -> &'static str {
        match self.target.cuts_loops {
            true => "if my_cut() { break; }",
            false => "",
        }
    }

    /// What a wave takes values into: those that are rounded only, and the exact ones.
    pub(crate) fn reduced(&self, wave: WaveId) -> (Vec<ReductionId>, Vec<ReductionId>) {
        let all = reduced(self.program, wave).into_iter();
        all.partition(|r| self.program.reductions[r.index()].op != ReduceOp::ExactSum)
    }

    /// Whether a wave's items can fault.
    pub(crate) fn can_fault(&self, wave: WaveId) -> bool {
        let kernel = self.program.waves[wave.index()].kernel;
        !self.program.kernels[kernel.index()].sites.is_empty()
    }

    /// A frontier's fields: one, of nodes.
    pub(crate) fn fields(&self, f: FrontierId) -> u16 {
        self.program.frontiers[f.index()].fields.len().max(1) as u16
    }

    /// Whether it has two sides.
    pub(crate) fn flips(&self, f: FrontierId) -> bool {
        sides(self.program, f) == 2
    }

    /// Barrier groups.
    pub(crate) fn groups(&self) -> Vec<slots::Group> {
        groups(self.program)
    }

    /// What a wave sweeps.
    pub(crate) fn domain(&self, wave: WaveId) -> Domain {
        self.program.waves[wave.index()].domain
    }
}

/// Whose kernel it is.
#[derive(Clone, Copy)]
pub(crate) enum Of {
    Wave(WaveId),
    Condition(FixpointId),
}

/// The body of what takes a float into an exact sum: its digits are added to words of the workgroup.
fn exact_take(r: usize, scalar: Scalar, out: &mut String) {
    let wide = scalar.rows() == 2;
    let last = 2 * (exact::words(scalar).unwrap_or(1) - 1);
    let (high, exponent_bits, fraction_bits, digits) = match wide {
        true => ("x.y", 11, 20, 4),
        false => ("x", 8, 23, 2),
    };
    let most = (1u32 << exponent_bits) - 1;
    line!(
        out,
        "    let exponent = ({high} >> {fraction_bits}u) & {most}u;"
    );
    line!(out, "    let negative = ({high} >> 31u) == 1u;");
    line!(
        out,
        "    var fraction = {high} & {}u;",
        (1u32 << fraction_bits) - 1
    );
    let none = match wide {
        true => "fraction == 0u && x.x == 0u",
        false => "fraction == 0u",
    };
    line!(
        out,
        "    if exponent == {most}u {{
        var special = 1u;
        if {none} {{ special = select(2u, 4u, negative); }}
        atomicOr(&exact_r{r}[{last}], special);
        return;
    }}
    fraction |= select(0u, {}u, exponent > 0u);
    let place = max(exponent, 1u) - 1u;
    let shift = place % 24u;
    let first = place / 24u;",
        1u32 << fraction_bits
    );
    match wide {
        true => line!(out, "    let number = vec2<u32>(x.x, fraction);"),
        false => line!(out, "    let number = vec2<u32>(fraction, 0u);"),
    }
    for k in 0..digits {
        line!(
            out,
            "    let digit_{k} = exact_digit(number, {}u - shift);
    if digit_{k} != 0u {{
        let low = select(digit_{k}, 0u - digit_{k}, negative);
        let at = 2u * (first + {k}u);
        let before = atomicAdd(&exact_r{r}[at], low);
        let high = select(0u, 0xffffffffu, negative) + exact_carry(before, low);
        if high != 0u {{ atomicAdd(&exact_r{r}[at + 1u], high); }}
    }}",
            32 + 24 * k
        );
    }
}
