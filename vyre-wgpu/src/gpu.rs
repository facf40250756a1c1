//! The adapter: opening it, and the few things that a session asks of it.

use crate::code::Codes;
use crate::target::Target;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use thiserror::Error;
use vyre_core::dsl::error::RunError;
use wgpu::{Backends, BufferUsages, DeviceType, Features, InstanceFlags};

/// Why no adapter was opened.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum OpenError {
    /// The system has none.
    #[error(
        "wgpu finds no adapter: no driver for {0} is installed, or it has no device; Linux needs libvulkan.so.1 and a \
         Vulkan driver (docs/WGPU.md)"
    )]
    NoAdapter(&'static str),
    /// None of those that there are is called so.
    #[error("no adapter is called `{asked}`; there are: {there}")]
    NoSuchAdapter {
        /// A part of its name.
        asked: String,
        /// Their names.
        there: String,
    },
    /// It lacks what every pass needs.
    #[error("the adapter {name} has no {lacks}")]
    Lacks {
        /// Its name.
        name: String,
        /// What.
        lacks: &'static str,
    },
    /// It gave no device.
    #[error("the adapter {name} gives no device: {why}")]
    Device {
        /// Its name.
        name: String,
        /// wgpu's words.
        why: String,
    },
}

/// What shaders are written for where wgpu has several.
const APIS: &str = "Vulkan, Metal, Direct3D 12 or WebGPU";

/// An adapter that is open.
#[derive(Debug)]
pub(crate) struct Gpu {
    pub(crate) info: wgpu::AdapterInfo,
    pub(crate) target: Target,
    pub(crate) codes: Codes,
    device: wgpu::Device,
    queue: wgpu::Queue,
    /// What wgpu has said since somebody asked.
    failed: Arc<Mutex<Option<wgpu::Error>>>,
}

impl Gpu {
    /// Opens the adapter whose name contains this, or the best one. Software renderers come last.
    pub(crate) async fn open(name: Option<&str>) -> Result<Gpu, OpenError> {
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor {
            // The arguments of indirect dispatches are the control's, which keeps to the limits.
            flags: InstanceFlags::empty(),
            ..wgpu::InstanceDescriptor::new_without_display_handle()
        });
        let adapter = match cfg!(all(target_family = "wasm", target_os = "unknown")) {
            true => {
                let options = wgpu::RequestAdapterOptions {
                    power_preference: wgpu::PowerPreference::HighPerformance,
                    ..wgpu::RequestAdapterOptions::default()
                };
                let adapter = instance.request_adapter(&options).await;
                adapter.map_err(|_| OpenError::NoAdapter(APIS))?
            }
            false => best(instance.enumerate_adapters(Backends::all()).await, name)?,
        };
        Gpu::of(adapter).await
    }

    async fn of(adapter: wgpu::Adapter) -> Result<Gpu, OpenError> {
        let (info, target) = (adapter.get_info(), Target::of(&adapter));
        let lacks = |lacks| OpenError::Lacks {
            name: info.name.clone(),
            lacks,
        };
        let downlevel = adapter.get_downlevel_capabilities().flags;
        if !downlevel.contains(wgpu::DownlevelFlags::COMPUTE_SHADERS) {
            return Err(lacks("compute shaders"));
        }
        if !downlevel.contains(wgpu::DownlevelFlags::INDIRECT_EXECUTION) {
            return Err(lacks("indirect dispatch"));
        }
        let wanted = Features::TIMESTAMP_QUERY
            | Features::SHADER_F64
            | Features::SHADER_INT64
            | Features::SHADER_INT64_ATOMIC_ALL_OPS;
        let asked = adapter.request_device(&wgpu::DeviceDescriptor {
            label: Some("vyre"),
            required_features: wanted & adapter.features(),
            required_limits: adapter.limits(),
            ..wgpu::DeviceDescriptor::default()
        });
        let (device, queue) = asked.await.map_err(|e| OpenError::Device {
            name: info.name.clone(),
            why: e.to_string(),
        })?;
        let failed = Arc::<Mutex<Option<wgpu::Error>>>::default();
        let told = Arc::clone(&failed);
        device.on_uncaptured_error(Arc::new(move |error| {
            lock(&told).get_or_insert(error);
        }));
        Ok(Gpu {
            info,
            target,
            codes: Codes::default(),
            device,
            queue,
            failed,
        })
    }

    /// The same adapter, for which shaders use no more than this.
    pub(crate) fn limited_to(&self, target: &Target) -> Gpu {
        Gpu {
            info: self.info.clone(),
            target: self.target.and(target),
            codes: Codes::default(),
            device: self.device.clone(),
            queue: self.queue.clone(),
            failed: Arc::clone(&self.failed),
        }
    }

    /// Its name, and what it is reached through.
    pub(crate) fn described(&self) -> String {
        format!("{} ({})", self.info.name, self.info.backend)
    }

    /// It renders with the CPU.
    pub(crate) fn is_software(&self) -> bool {
        self.info.device_type == DeviceType::Cpu
    }

    /// It can say when a pass begins and ends.
    pub(crate) fn has_timestamps(&self) -> bool {
        self.device.features().contains(Features::TIMESTAMP_QUERY)
    }

    /// What a timestamp counts.
    pub(crate) fn tick_ns(&self) -> f64 {
        self.queue.get_timestamp_period().into()
    }

    pub(crate) fn device(&self) -> &wgpu::Device {
        &self.device
    }

    /// Nothing has failed.
    ///
    /// # Errors
    /// What has, since the last time: there is no memory, or the device is lost.
    pub(crate) fn check(&self) -> Result<(), RunError> {
        match lock(&self.failed).take() {
            None => Ok(()),
            Some(error) => Err(RunError::Backend(format!("wgpu: {error}"))),
        }
    }

    /// A new buffer.
    ///
    /// # Errors
    /// It is larger than buffers can be, or there is no memory.
    pub(crate) fn buffer(
        &self,
        what: &str,
        size: u64,
        usage: BufferUsages,
    ) -> Result<wgpu::Buffer, RunError> {
        let most = self.device.limits().max_buffer_size;
        if size > most {
            return Err(RunError::Memory {
                what: format!("`{what}` is larger than a buffer of this adapter can be"),
                needed_bytes: size,
                available_bytes: most,
            });
        }
        let buffer = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some(what),
            size,
            usage,
            mapped_at_creation: false,
        });
        match lock(&self.failed).take() {
            None => Ok(buffer),
            Some(wgpu::Error::OutOfMemory { .. }) => Err(RunError::no_memory(what, size)),
            Some(error) => Err(RunError::Backend(format!("wgpu: {error}"))),
        }
    }

    /// Writes values before what is submitted next.
    pub(crate) fn write<T: bytemuck::NoUninit>(&self, to: &wgpu::Buffer, at: u64, values: &[T]) {
        if !values.is_empty() {
            self.queue
                .write_buffer(to, at, bytemuck::cast_slice(values));
        }
    }

    /// Writes words, some at a time.
    pub(crate) fn write_words(
        &self,
        to: &wgpu::Buffer,
        mut at: u64,
        mut words: impl Iterator<Item = u32>,
    ) {
        loop {
            let some: Vec<u32> = words.by_ref().take(1 << 20).collect();
            if some.is_empty() {
                return;
            }
            self.write(to, at, &some);
            at += 4 * some.len() as u64;
        }
    }

    pub(crate) fn encoder(&self) -> wgpu::CommandEncoder {
        self.device.create_command_encoder(&Default::default())
    }

    pub(crate) fn submit(&self, encoder: wgpu::CommandEncoder) {
        self.queue.submit([encoder.finish()]);
    }

    /// What the first bytes of a buffer are, once everything that was submitted is done.
    ///
    /// # Errors
    /// The device is lost.
    pub(crate) async fn read<T>(
        &self,
        buffer: &wgpu::Buffer,
        bytes: u64,
        take: impl FnOnce(&[u8]) -> T,
    ) -> Result<T, RunError> {
        let lost = |why: String| RunError::Backend(format!("wgpu: {why}"));
        let slice = buffer.slice(..bytes);
        let mapped = Arc::new(Mutex::new((None, None::<Waker>)));
        let tell = Arc::clone(&mapped);
        slice.map_async(wgpu::MapMode::Read, move |result| {
            let mut told = lock(&tell);
            told.0 = Some(result);
            if let Some(waker) = told.1.take() {
                waker.wake();
            }
        });
        // In a browser this does nothing, and the future waits.
        let polled = self.device.poll(wgpu::PollType::wait_indefinitely());
        polled.map_err(|e| lost(e.to_string()))?;
        let result = poll_fn(|context| {
            let mut told = lock(&mapped);
            match told.0.take() {
                Some(result) => Poll::Ready(result),
                None => {
                    told.1 = Some(context.waker().clone());
                    Poll::Pending
                }
            }
        });
        if let Err(e) = result.await {
            self.check()?;
            return Err(lost(e.to_string()));
        }
        let view = slice.get_mapped_range().map_err(|e| lost(e.to_string()))?;
        let taken = take(&view);
        drop(view);
        buffer.unmap();
        self.check()?;
        Ok(taken)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The adapter whose name contains this, or the fastest kind that there is.
fn best(adapters: Vec<wgpu::Adapter>, name: Option<&str>) -> Result<wgpu::Adapter, OpenError> {
    if adapters.is_empty() {
        return Err(OpenError::NoAdapter(APIS));
    }
    let names: Vec<String> = adapters.iter().map(|a| a.get_info().name).collect();
    let rank = |adapter: &wgpu::Adapter| match adapter.get_info().device_type {
        DeviceType::DiscreteGpu => 0,
        DeviceType::IntegratedGpu => 1,
        DeviceType::VirtualGpu => 2,
        DeviceType::Other => 3,
        DeviceType::Cpu => 4,
    };
    let asked =
        |adapter: &wgpu::Adapter| name.is_none_or(|name| adapter.get_info().name.contains(name));
    let found = adapters.into_iter().filter(asked).min_by_key(rank);
    found.ok_or_else(|| OpenError::NoSuchAdapter {
        asked: name.unwrap_or_default().to_owned(),
        there: names.join(", "),
    })
}
