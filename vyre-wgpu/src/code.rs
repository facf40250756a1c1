//! The pipelines of a program. An adapter's compiler takes longer than most runs, so that the last few are kept for
//! further sessions of the same passes ([`Codes`]).

use crate::gpu::Gpu;
use crate::layout::Layout;
use crate::memory::{HERE_STRIDE, Memory, is_written};
use crate::program;
use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use vyre_core::dsl::error::RunError;
use vyre_core::vir0::module::Program;
use wgpu::{
    BindGroup, BindGroupEntry, BindGroupLayout, BindGroupLayoutEntry, BindingResource, BindingType,
    BufferBinding, BufferBindingType, BufferSize, ComputePipeline, PipelineLayout, ShaderStages,
};

/// Programs whose pipelines are kept.
const KEPT: usize = 32;

/// Pipelines for further sessions, those used last in front.
#[derive(Debug, Default)]
pub(crate) struct Codes(Mutex<VecDeque<Arc<Code>>>);

impl Codes {
    /// That of a program in this layout, compiled if it is not there.
    ///
    /// # Errors
    /// naga or the adapter's compiler refuses the shaders.
    pub(crate) fn get(
        &self,
        gpu: &Gpu,
        program: &Program,
        layout: &Layout,
    ) -> Result<Arc<Code>, RunError> {
        let source = program::source(program, layout, &gpu.target);
        // Held while the control is compiled, so that sessions of one pass that begin together compile it once.
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = kept.iter().position(|code| code.source == source);
        let code = match at.and_then(|at| kept.remove(at)) {
            Some(code) => code,
            None => Arc::new(Code::new(gpu, program, source, layout)?),
        };
        kept.push_front(Arc::clone(&code));
        kept.truncate(KEPT);
        Ok(code)
    }
}

/// Shaders for one set of bindings.
#[derive(Debug)]
pub(crate) struct Code {
    source: String,
    module: wgpu::ShaderModule,
    memory: BindGroupLayout,
    control_memory: BindGroupLayout,
    wave_layout: PipelineLayout,
    pub(crate) control: ComputePipeline,
    /// By wave; not there until a group is too wide for the control.
    waves: OnceLock<Vec<ComputePipeline>>,
}

/// A session's buffers as shaders see them.
pub(crate) struct Bound {
    pub(crate) memory: BindGroup,
    pub(crate) control: BindGroup,
}

impl Code {
    /// Compiles the control; that of the waves waits until they are needed.
    ///
    /// # Errors
    /// The adapter's compiler refuses the shaders.
    fn new(
        gpu: &Gpu,
        program: &Program,
        source: String,
        layout: &Layout,
    ) -> Result<Code, RunError> {
        let module = program::parse(&program.name, &source, &gpu.target);
        let module = module.map_err(|e| RunError::Backend(e.to_string()))?;
        let descriptor = wgpu::ShaderModuleDescriptor {
            label: Some(&program.name),
            // A browser parses WGSL itself. naga, when it writes WGSL, gives entry points other names.
            source: match cfg!(all(target_family = "wasm", target_os = "unknown")) {
                true => wgpu::ShaderSource::Wgsl(Cow::Borrowed(&source)),
                false => wgpu::ShaderSource::Naga(Cow::Owned(module)),
            },
        };
        let checks = wgpu::ShaderRuntimeChecks::unchecked();
        // SAFETY: bodies check every index against its length, and every loop counts its turns; indices of the control
        // and the operators are below the lengths of the buffers that `Memory` makes by the same `Slots` and `Layout`.
        let module = unsafe {
            gpu.device()
                .create_shader_module_trusted(descriptor, checks)
        };
        let storage = |binding, read_only| entry(binding, BufferBindingType::Storage { read_only });
        let mut entries = vec![storage(0, false), storage(1, false)];
        entries.extend(
            (2..)
                .zip(layout.arenas())
                .map(|(at, (arena, _))| storage(at, !is_written(arena.class))),
        );
        let group = |entries: &[BindGroupLayoutEntry]| {
            let descriptor = wgpu::BindGroupLayoutDescriptor {
                label: None,
                entries,
            };
            gpu.device().create_bind_group_layout(&descriptor)
        };
        let memory = group(&entries);
        let control_memory = group(&[storage(0, false), entry(1, BufferBindingType::Uniform)]);
        let pipeline_layout = |groups: &[Option<&BindGroupLayout>]| {
            let descriptor = wgpu::PipelineLayoutDescriptor {
                label: None,
                bind_group_layouts: groups,
                immediate_size: 0,
            };
            gpu.device().create_pipeline_layout(&descriptor)
        };
        let control_layout = pipeline_layout(&[Some(&memory), Some(&control_memory)]);
        let wave_layout = pipeline_layout(&[Some(&memory)]);
        let control = pipeline(gpu, &module, &control_layout, "control");
        gpu.check()?;
        Ok(Code {
            source,
            module,
            memory,
            control_memory,
            wave_layout,
            control,
            waves: OnceLock::new(),
        })
    }

    /// The pipelines of the waves, if they are there.
    pub(crate) fn waves(&self) -> Option<&[ComputePipeline]> {
        self.waves.get().map(Vec::as_slice)
    }

    /// Compiles the waves.
    ///
    /// # Errors
    /// The adapter's compiler refuses the shaders.
    pub(crate) fn compile_waves(&self, gpu: &Gpu, program: &Program) -> Result<(), RunError> {
        let wave = |n| pipeline(gpu, &self.module, &self.wave_layout, &format!("wave_{n}"));
        let waves = 0..program.waves.len();
        self.waves.get_or_init(|| waves.map(wave).collect());
        gpu.check()
    }

    /// A session's buffers for these shaders.
    pub(crate) fn bind(&self, gpu: &Gpu, memory: &Memory) -> Bound {
        let first = [&memory.state, &memory.counts].into_iter();
        let buffers = first.chain(memory.arenas());
        let entries: Vec<_> = (0..)
            .zip(buffers)
            .map(|(binding, buffer)| BindGroupEntry {
                binding,
                resource: buffer.as_entire_binding(),
            })
            .collect();
        let here = BindingResource::Buffer(BufferBinding {
            buffer: &memory.here,
            offset: 0,
            size: BufferSize::new(16),
        });
        let control = [
            BindGroupEntry {
                binding: 0,
                resource: memory.args.as_entire_binding(),
            },
            BindGroupEntry {
                binding: 1,
                resource: here,
            },
        ];
        let group = |layout, entries: &[_]| {
            let descriptor = wgpu::BindGroupDescriptor {
                label: None,
                layout,
                entries,
            };
            gpu.device().create_bind_group(&descriptor)
        };
        Bound {
            memory: group(&self.memory, &entries),
            control: group(&self.control_memory, &control),
        }
    }
}

/// Where the number of a group lies in [`Memory::here`].
pub(crate) fn here(group: usize) -> u32 {
    group as u32 * HERE_STRIDE as u32
}

fn entry(binding: u32, ty: BufferBindingType) -> BindGroupLayoutEntry {
    BindGroupLayoutEntry {
        binding,
        visibility: ShaderStages::COMPUTE,
        ty: BindingType::Buffer {
            ty,
            has_dynamic_offset: ty == BufferBindingType::Uniform,
            min_binding_size: None,
        },
        count: None,
    }
}

fn pipeline(
    gpu: &Gpu,
    module: &wgpu::ShaderModule,
    layout: &PipelineLayout,
    entry_point: &str,
) -> ComputePipeline {
    gpu.device()
        .create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(entry_point),
            layout: Some(layout),
            module,
            entry_point: Some(entry_point),
            compilation_options: wgpu::PipelineCompilationOptions {
                // Everything that is read there was written before.
                zero_initialize_workgroup_memory: false,
                ..Default::default()
            },
            cache: None,
        })
}
