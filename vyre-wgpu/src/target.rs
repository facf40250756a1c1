//! What an adapter, or a shading language, can do: what shaders are written for.

use naga::valid::Capabilities;

/// What shaders may use, and how much of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// f64, by way of 64-bit integers.
    pub f64: bool,
    /// Atomics on 64-bit integers.
    pub wide_atomics: bool,
    /// Lanes of a workgroup.
    pub lanes: u32,
    /// Workgroups of a dispatch, at most.
    pub workgroups: u32,
    /// Bytes that a binding of a storage buffer can have.
    pub binding_bytes: u64,
    /// Storage buffers that a shader can have.
    pub bindings: u32,
    /// The driver ends a loop after 65,535 turns and says nothing: llvmpipe does. The shaders count turns, so that such
    /// a run ends in an error.
    pub cuts_loops: bool,
}

impl Target {
    /// Lanes of a workgroup where the adapter has as many.
    pub const LANES: u32 = 256;
    /// Workgroups of a dispatch: sweeps stride over the grid, so that more would only wait.
    pub const WORKGROUPS: u32 = 1_024;

    /// What every WebGPU adapter has.
    pub fn webgpu() -> Target {
        Target {
            f64: false,
            wide_atomics: false,
            lanes: Target::LANES,
            workgroups: Target::WORKGROUPS,
            binding_bytes: 128 << 20,
            bindings: 8,
            cuts_loops: false,
        }
    }

    /// Everything that a shader here can use.
    pub fn full() -> Target {
        Target {
            f64: true,
            wide_atomics: true,
            ..Target::webgpu()
        }
    }

    /// What both this and another target have.
    pub fn and(&self, other: &Target) -> Target {
        Target {
            f64: self.f64 && other.f64,
            wide_atomics: self.wide_atomics && other.wide_atomics,
            lanes: self.lanes.min(other.lanes),
            workgroups: self.workgroups.min(other.workgroups),
            binding_bytes: self.binding_bytes.min(other.binding_bytes),
            bindings: self.bindings.min(other.bindings),
            cuts_loops: self.cuts_loops || other.cuts_loops,
        }
    }

    /// What naga's validator lets shaders for this target use.
    pub fn capabilities(&self) -> Capabilities {
        let mut capabilities = Capabilities::default();
        if self.f64 {
            capabilities |= Capabilities::FLOAT64 | Capabilities::SHADER_INT64;
        }
        if self.wide_atomics {
            capabilities |= Capabilities::SHADER_INT64 | Capabilities::SHADER_INT64_ATOMIC_ALL_OPS;
        }
        capabilities
    }

    /// What an adapter has.
    pub fn of(adapter: &wgpu::Adapter) -> Target {
        let (features, limits) = (adapter.features(), adapter.limits());
        let wide = features.contains(wgpu::Features::SHADER_INT64);
        let all = wgpu::Features::SHADER_INT64_ATOMIC_ALL_OPS;
        let lanes = limits.max_compute_workgroup_size_x;
        Target {
            f64: wide && features.contains(wgpu::Features::SHADER_F64),
            wide_atomics: wide && features.contains(all),
            lanes: lanes
                .min(limits.max_compute_invocations_per_workgroup)
                .min(Target::LANES),
            workgroups: limits
                .max_compute_workgroups_per_dimension
                .min(Target::WORKGROUPS),
            binding_bytes: limits.max_storage_buffer_binding_size,
            bindings: limits.max_storage_buffers_per_shader_stage,
            cuts_loops: adapter.get_info().driver == "llvmpipe",
        }
    }
}
