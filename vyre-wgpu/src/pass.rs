//! A program as pipelines of a device.

use crate::device::{Opened, lock};
use crate::plan::{self, Plan};
use std::collections::HashSet;
use std::num::NonZeroU64;
use std::sync::{Arc, OnceLock};
use vyre_core::dsl::error::RunError;
use vyre_core::vir0::container::encode;
use vyre_core::vir0::module::Program;
use vyre_naga::{Options, Shader, Target, features, refusals};
use wgpu::{
    BindGroupLayout, BindGroupLayoutDescriptor, BindGroupLayoutEntry, BindingType,
    BufferBindingType, ComputePipeline, ComputePipelineDescriptor, Features,
    PipelineCompilationOptions, PipelineLayout, PipelineLayoutDescriptor, ShaderModuleDescriptor,
    ShaderSource, ShaderStages,
};

/// How the error of a program begins that the table of docs/PORTABLE.md refuses.
pub const REFUSED: &str = "shaders do not have this pass: ";

/// The most turns where an adapter is software: Mesa's ends what loops of a shader after 65,535 turns in all, those of
/// the shaders' own included, and says nothing.
pub(crate) const SOFTWARE_TURNS: u32 = 1 << 15;

/// Passes that stay without a session.
const RECENT: usize = 32;

/// A program's shaders, which become pipelines when they are first dispatched.
pub(crate) struct Pass {
    pub(crate) plan: Plan,
    /// The program as the plan names it.
    pub(crate) named: Program,
    shaders: Vec<Shader>,
    pipelines: Vec<OnceLock<ComputePipeline>>,
    pub(crate) layout: BindGroupLayout,
    with: PipelineLayout,
    /// The layout of what ends the groups of rounds.
    pub(crate) ends: BindGroupLayout,
    with_ends: PipelineLayout,
    /// The layout of rounds in one workgroup.
    pub(crate) narrow: BindGroupLayout,
    with_narrow: PipelineLayout,
    /// Bytes of the uniform of one dispatch.
    pub(crate) uniform_bytes: u64,
}

/// The entry of a buffer.
pub(crate) fn bound(
    binding: u32,
    ty: BufferBindingType,
    moves: bool,
    bytes: Option<u64>,
) -> BindGroupLayoutEntry {
    BindGroupLayoutEntry {
        binding,
        visibility: ShaderStages::COMPUTE,
        ty: BindingType::Buffer {
            ty,
            has_dynamic_offset: moves,
            min_binding_size: bytes.and_then(NonZeroU64::new),
        },
        count: None,
    }
}

impl Opened {
    /// The target whose shaders of a program the device has all for.
    ///
    /// # Errors
    /// Waves that no such target gets.
    fn target(&self, program: &Program) -> Result<Target, RunError> {
        let has = |need: &str| match need {
            "shaderFloat64" => self.features.contains(Features::SHADER_F64),
            "shaderInt64" => self.features.contains(Features::SHADER_INT64),
            "shaderBufferInt64Atomics" => self
                .features
                .contains(Features::SHADER_INT64_ATOMIC_ALL_OPS),
            vyre_core::plan::shaders::FIVE_BUFFERS => {
                self.limits.max_storage_buffers_per_shader_stage >= 5
            }
            _ => false,
        };
        let mut first = None;
        for target in [Target::Vulkan, Target::WebGpu] {
            if !features(program, target).into_iter().all(has) {
                continue;
            }
            match refusals(program, target).into_iter().next() {
                None => return Ok(target),
                Some(refusal) => first = first.or(Some(refusal)),
            }
        }
        let why = first.map_or_else(String::new, |refusal| refusal.to_string());
        Err(RunError::Invalid(format!("{REFUSED}{why}")))
    }

    /// How large the workgroup of narrow rounds may be. A large one pays where it runs at once.
    fn narrow(&self, options: Options) -> Options {
        let limits = &self.limits;
        let lanes = limits
            .max_compute_invocations_per_workgroup
            .min(limits.max_compute_workgroup_size_x);
        // What sweeps have, with 64-bit atomics, and what rounds have beside that.
        let has_room = limits.max_storage_buffers_per_shader_stage >= 7;
        Options {
            lanes: match (has_room, self.adapter.is_software) {
                (false, _) => 0,
                (true, true) => lanes.min(64),
                (true, false) => lanes,
            },
            words: limits.max_compute_workgroup_storage_size / 4,
            ..options
        }
    }

    /// A program's pipelines. Sessions of one program share them.
    ///
    /// # Errors
    /// Shaders do not have the pass, or the device refuses one.
    pub(crate) fn pass(&self, program: &Program, options: Options) -> Result<Arc<Pass>, RunError> {
        let turns = match self.adapter.is_software {
            true => options.turns.min(SOFTWARE_TURNS),
            false => options.turns,
        };
        let options = Options {
            turns,
            checks_loops: self.adapter.is_software,
            ..self.narrow(options)
        };
        let mut key = encode(program);
        key.extend(
            [options.turns, options.lanes, options.words]
                .map(u32::to_le_bytes)
                .as_flattened(),
        );
        key.push(options.shares_edges.into());
        let mut passes = lock(&self.passes);
        if let Some(made) = passes.get(&key).and_then(|made| made.upgrade()) {
            return Ok(made);
        }
        let made = Arc::new(Pass::new(self, program, options)?);
        passes.retain(|_, pass| pass.strong_count() > 0);
        passes.insert(key, Arc::downgrade(&made));
        let mut recent = lock(&self.recent);
        if recent.len() == RECENT {
            recent.remove(0);
        }
        recent.push(Arc::clone(&made));
        Ok(made)
    }
}

/// The program with names of which no two are the same, as the plan needs them: passes that were fused may have fields
/// and waves of one name.
fn with_own_names(program: &Program) -> Program {
    let mut named = program.clone();
    let mut taken = HashSet::new();
    let mut own = |name: &mut String| {
        let mut number = 2;
        let mut free = name.clone();
        while !taken.insert(free.clone()) {
            free = format!("{name}#{number}");
            number += 1;
        }
        *name = free;
    };
    named.topologies.iter_mut().for_each(|t| own(&mut t.name));
    named.buffers.iter_mut().for_each(|b| own(&mut b.name));
    named.frontiers.iter_mut().for_each(|f| own(&mut f.name));
    named.lists.iter_mut().for_each(|l| own(&mut l.name));
    named.reductions.iter_mut().for_each(|r| own(&mut r.name));
    named.scalars.iter_mut().for_each(|s| own(&mut s.name));
    named.waves.iter_mut().for_each(|w| own(&mut w.name));
    named.fixpoints.iter_mut().for_each(|f| own(&mut f.name));
    named
}

impl Pass {
    fn new(on: &Opened, program: &Program, options: Options) -> Result<Pass, RunError> {
        let target = on.target(program)?;
        let named = with_own_names(program);
        let shaders = vyre_naga::shaders(&named, target, options)
            .map_err(|e| RunError::Backend(e.to_string()))?;
        let plan = Plan::read(&shaders.plan, shaders.shaders.iter().map(Shader::entry))?;
        let uniform_bytes = (4 * plan.params.len() as u64).next_multiple_of(16);
        let storage = |binding| {
            let read_only = binding == plan::FIXED;
            bound(
                binding,
                BufferBindingType::Storage { read_only },
                false,
                None,
            )
        };
        let uniform = bound(
            plan::PARAMS,
            BufferBindingType::Uniform,
            true,
            Some(uniform_bytes),
        );
        let arenas = plan.arenas.iter().copied().chain([plan::CONTROL]);
        let of_sweeps: Vec<_> = [uniform].into_iter().chain(arenas.map(storage)).collect();
        let of_ends = [plan::CONTROL, plan::DISPATCHES, plan::BLOCKS].map(storage);
        let of_ends: Vec<_> = [uniform].into_iter().chain(of_ends).collect();
        let rest = of_ends.iter().filter(|e| !of_sweeps.contains(e)).copied();
        let of_narrow: Vec<_> = of_sweeps.iter().copied().chain(rest).collect();
        let made = |entries: &[BindGroupLayoutEntry]| {
            let layout = on
                .device
                .create_bind_group_layout(&BindGroupLayoutDescriptor {
                    label: None,
                    entries,
                });
            let with = on.device.create_pipeline_layout(&PipelineLayoutDescriptor {
                label: None,
                bind_group_layouts: &[Some(&layout)],
                immediate_size: 0,
            });
            (layout, with)
        };
        let (layout, with) = made(&of_sweeps);
        let (ends, with_ends) = made(&of_ends);
        let (narrow, with_narrow) = match options.lanes {
            0 => made(&[]),
            _ => made(&of_narrow),
        };
        on.check()?;
        Ok(Pass {
            plan,
            named,
            pipelines: shaders.shaders.iter().map(|_| OnceLock::new()).collect(),
            shaders: shaders.shaders,
            layout,
            with,
            ends,
            with_ends,
            narrow,
            with_narrow,
            uniform_bytes,
        })
    }

    /// The pipeline of a shader.
    pub(crate) fn pipeline(&self, on: &Opened, shader: usize) -> &ComputePipeline {
        self.pipelines[shader].get_or_init(|| {
            let with = match shader {
                end if self.plan.is_end(end) => &self.with_ends,
                narrow if self.plan.is_narrow(narrow) => &self.with_narrow,
                _ => &self.with,
            };
            let shader = &self.shaders[shader];
            let module = on.device.create_shader_module(ShaderModuleDescriptor {
                label: Some(shader.entry()),
                source: ShaderSource::Naga(std::borrow::Cow::Owned(shader.module().clone())),
            });
            on.device
                .create_compute_pipeline(&ComputePipelineDescriptor {
                    label: Some(shader.entry()),
                    layout: Some(with),
                    module: &module,
                    entry_point: Some(shader.entry()),
                    compilation_options: PipelineCompilationOptions {
                        // Each invocation writes its part before anything reads it.
                        zero_initialize_workgroup_memory: false,
                        ..PipelineCompilationOptions::default()
                    },
                    cache: None,
                })
        })
    }
}
