//! Bodies of kernels as WGSL: the text of a function for each, and of what they call.
//!
//! A register row is a variable, a block of VIR0 a block of WGSL, and a value of 64 bits a pair of words. What the words
//! of a body need of memory and of the sweep around them, the rest of the module declares: where each part lies
//! (`at_b0`), how long it is (`len_b0`), uniforms (`u0_0`), and the functions `fault`, `turn`, `take_N` and `more_N`.

mod access;
mod body;
mod forms;
mod helpers;
mod refusals;
mod rows;
mod values;

use crate::layout::Layout;
use crate::target::Target;
use body::Body;
use helpers::Helpers;
pub use refusals::{Refusal, refusals};
use vyre_core::vir0::module::{Extent, KernelId, Program, ReduceOp, Reduction, Resource, Width};
use vyre_core::vir0::scalar::Scalar;

/// The functions of all kernels, of all reductions but exact sums (`combine_N`), and those that they call.
pub fn bodies(program: &Program, layout: &Layout, target: &Target) -> String {
    let mut helpers = Helpers::default();
    let mut text = String::new();
    for (n, reduction) in program.reductions.iter().enumerate() {
        if reduction.op != ReduceOp::ExactSum {
            text.push_str(&combine(n, reduction));
            text.push('\n');
        }
    }
    for id in (0..).map(KernelId).take(program.kernels.len()) {
        text.push_str(&Body::of(program, layout, id, &mut helpers));
        text.push('\n');
    }
    helpers.text(target, &text) + &text
}

/// The function that combines two values of a reduction.
fn combine(n: usize, of: &Reduction) -> String {
    let ty = of.scalar.name();
    let value = match of.op {
        ReduceOp::Sum | ReduceOp::ExactSum => match of.scalar {
            Scalar::Bool => "a | b".to_owned(),
            Scalar::U8 => "(a + b) & 255u".to_owned(),
            Scalar::U32 | Scalar::I32 => "a + b".to_owned(),
            Scalar::U64 | Scalar::I64 => "add_b64(a, b)".to_owned(),
            Scalar::F32 | Scalar::F64 => format!("add_{ty}(a, b)"),
        },
        ReduceOp::Min | ReduceOp::Max => {
            let which = if of.op == ReduceOp::Min { "min" } else { "max" };
            match of.scalar {
                Scalar::Bool | Scalar::U8 | Scalar::U32 => format!("{which}(a, b)"),
                Scalar::I32 | Scalar::U64 | Scalar::I64 | Scalar::F32 | Scalar::F64 => {
                    format!("{which}_{ty}(a, b)")
                }
            }
        }
        ReduceOp::Or => "a | b".to_owned(),
        ReduceOp::And => "a & b".to_owned(),
    };
    let ty = type_of(of.scalar);
    format!("fn combine_{n}(a: {ty}, b: {ty}) -> {ty} {{\n    return {value};\n}}\n")
}

/// What a value is in WGSL.
pub(crate) fn type_of(scalar: Scalar) -> &'static str {
    match scalar.rows() {
        1 => "u32",
        _ => "vec2<u32>",
    }
}

/// An extent in words.
fn extent(program: &Program, extent: Extent) -> String {
    let constant = |c: vyre_core::vir0::module::ConstantId| {
        let constant = program.constants[c.index()];
        constant.scalar.show(constant.bits)
    };
    match extent {
        Extent::Fixed(n) => n.to_string(),
        Extent::Constant(c) => constant(c),
        Extent::Scalar(s) => program.scalars[s.index()].name.clone(),
        Extent::Nodes => "nodes".to_owned(),
        Extent::Edges(t) => format!("edges({})", program.name_of(Resource::Topology(t))),
        Extent::NodesPlusEdges => "nodes + edges".to_owned(),
        Extent::NodeBits(width) => format!(
            "nodes x words({})",
            match width {
                Width::Fixed(bits) => bits.to_string(),
                Width::Constant(c) => constant(c),
                Width::Scalar(s) => program.scalars[s.index()].name.clone(),
            }
        ),
        Extent::Computed(id) => program.written(id, |value| self::extent(program, value)),
        Extent::Bounds(..) => program.declared(extent),
    }
}
