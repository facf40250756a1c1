//! Modules as text: WGSL, SPIR-V, MSL.

use crate::Error;
use crate::layout::{Arena, Layout};
use naga::back::{msl, spv, wgsl};
use naga::proc::{BoundsCheckPolicies, BoundsCheckPolicy};
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};
use naga::{AddressSpace, Module, ResourceBinding};
use std::collections::HashSet;
use vyre_core::plan::shaders::Target;

/// A module as a target takes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Text {
    /// WGSL.
    Wgsl(String),
    /// SPIR-V, in words.
    Spirv(Vec<u32>),
    /// MSL.
    Msl(String),
}

impl Text {
    /// What a file of it is called behind the point.
    pub const fn extension(&self) -> &'static str {
        match self {
            Text::Wgsl(_) => "wgsl",
            Text::Spirv(_) => "spv",
            Text::Msl(_) => "metal",
        }
    }

    /// What a file of it holds.
    pub fn bytes(&self) -> Vec<u8> {
        match self {
            Text::Wgsl(text) | Text::Msl(text) => text.clone().into_bytes(),
            Text::Spirv(words) => words.iter().flat_map(|w| w.to_le_bytes()).collect(),
        }
    }
}

/// What naga's validator says of a module. No capability is allowed but those of the features that the plan names, so
/// that every device that has these has what it needs.
pub(crate) fn validated(module: &Module, name: &str, needs: &[&str]) -> Result<ModuleInfo, Error> {
    let of = |need: &&str| match *need {
        "shaderFloat64" => Capabilities::FLOAT64,
        "shaderInt64" => Capabilities::SHADER_INT64,
        "shaderBufferInt64Atomics" => Capabilities::SHADER_INT64_ATOMIC_ALL_OPS,
        _ => Capabilities::empty(),
    };
    let capabilities = needs.iter().map(of).collect();
    let mut validator = Validator::new(ValidationFlags::all(), capabilities);
    let info = validator.validate(module);
    info.map_err(|e| Error::Invalid {
        shader: name.to_owned(),
        why: chain(&e),
    })
}

/// An error with its causes.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    text
}

/// Indices are in bounds: shaders check what the program indexes, and the host what it places.
const UNCHECKED: BoundsCheckPolicies = BoundsCheckPolicies {
    index: BoundsCheckPolicy::Unchecked,
    buffer: BoundsCheckPolicy::Unchecked,
    image_load: BoundsCheckPolicy::Unchecked,
    binding_array: BoundsCheckPolicy::Unchecked,
};

/// Instructions of SPIR-V without the strides of arrays whose length is known. Such arrays are an invocation's or a
/// workgroup's, where Vulkan allows no layout (VUID-StandaloneSpirv-None-10684), and naga writes one for each array.
fn without_strides(words: &[u32]) -> Vec<u32> {
    const HEADER: usize = 5;
    const TYPE_ARRAY: u32 = 28;
    const DECORATE: u32 = 71;
    const ARRAY_STRIDE: u32 = 6;
    let mut instructions = Vec::new();
    let mut rest = &words[HEADER..];
    while let Some(&first) = rest.first() {
        let (instruction, behind) = rest.split_at((first >> 16) as usize);
        instructions.push((first & 0xffff, instruction));
        rest = behind;
    }
    let arrays = instructions.iter().filter(|(op, _)| *op == TYPE_ARRAY);
    let arrays: HashSet<u32> = arrays.map(|(_, words)| words[1]).collect();
    let kept = instructions.iter().filter(|(op, words)| {
        let stride = *op == DECORATE && words[2] == ARRAY_STRIDE;
        !(stride && arrays.contains(&words[1]))
    });
    let kept = kept.flat_map(|(_, words)| words.iter().copied());
    words[..HEADER].iter().copied().chain(kept).collect()
}

pub(crate) fn written(
    module: &Module,
    info: &ModuleInfo,
    target: Target,
    name: &str,
) -> Result<Text, Error> {
    let failed = |why: String| Error::Unwritten {
        shader: name.to_owned(),
        target,
        why,
    };
    match target {
        Target::WebGpu => {
            let text = wgsl::write_string(module, info, wgsl::WriterFlags::empty());
            text.map(Text::Wgsl).map_err(|e| failed(chain(&e)))
        }
        Target::Vulkan => {
            let options = spv::Options {
                lang_version: (1, 3),
                // Names, for those who read it.
                flags: spv::WriterFlags::DEBUG | spv::WriterFlags::LABEL_VARYINGS,
                bounds_check_policies: UNCHECKED,
                // Turns are bounded already, and divisors are checked.
                force_loop_bounding: false,
                emit_int_div_checks: false,
                // Each invocation writes its part before anything reads it.
                zero_initialize_workgroup_memory: spv::ZeroInitializeWorkgroupMemoryMode::None,
                ..spv::Options::default()
            };
            let words = spv::write_vec(module, info, &options, None);
            let words = words.map_err(|e| failed(chain(&e)))?;
            Ok(Text::Spirv(without_strides(&words)))
        }
        Target::Metal => {
            let always = [Layout::CONTROL, Layout::DISPATCHES, Layout::BLOCKS];
            let bindings = always.into_iter().map(|binding| (binding, true));
            let bindings = bindings.chain([(0, false)]);
            // Metal has no 64-bit atomics.
            let arenas = [Arena::Fixed, Arena::Plain, Arena::Cells].into_iter();
            let arenas = arenas.map(|arena| (arena.binding(), arena != Arena::Fixed));
            let resources = bindings.chain(arenas).map(|(binding, mutable)| {
                let target = msl::BindTarget {
                    buffer: Some(binding as u8),
                    mutable,
                    ..msl::BindTarget::default()
                };
                (ResourceBinding { group: 0, binding }, target)
            });
            let resources = msl::EntryPointResources {
                resources: resources.collect(),
                immediates_buffer: None,
                sizes_buffer: Some(5),
            };
            let entry = &module.entry_points[0].name;
            let options = msl::Options {
                lang_version: (2, 4),
                per_entry_point_map: [(entry.clone(), resources)].into_iter().collect(),
                fake_missing_bindings: false,
                bounds_check_policies: UNCHECKED,
                force_loop_bounding: false,
                emit_int_div_checks: false,
                zero_initialize_workgroup_memory: false,
                ..msl::Options::default()
            };
            let text = msl::write_string(module, info, &options, &msl::PipelineOptions::default());
            let text = text.map_err(|e| failed(chain(&e)))?.0;
            Ok(Text::Msl(text))
        }
    }
}

/// Words of memory that a workgroup of a module shares.
pub(crate) fn workgroup_words(module: &Module) -> u32 {
    let shared = module.global_variables.iter();
    let shared = shared.filter(|(_, of)| of.space == AddressSpace::WorkGroup);
    let bytes = shared.map(|(_, of)| module.types[of.ty].inner.size(module.to_ctx()));
    bytes.sum::<u32>() / 4
}
