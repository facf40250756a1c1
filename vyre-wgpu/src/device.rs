//! Adapters, and the device that is opened on one of them. A device that was lost is opened anew for the sessions that
//! come after that.

use crate::pass::Pass;
use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use thiserror::Error;
use vyre_core::dsl::error::RunError;
use vyre_core::plan::shaders::WORKGROUP;
use wgpu::{
    AdapterInfo, Backends, Buffer, BufferDescriptor, BufferUsages, Device, DeviceDescriptor,
    DeviceType, ErrorFilter, Features, Instance, InstanceDescriptor, InstanceFlags, Limits,
    PollType, Queue, SubmissionIndex,
};

/// Which adapters a backend may be opened on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Adapters {
    /// Those that are no software on the CPU.
    #[default]
    Hardware,
    /// Those that are, too: for tests, where there is no other.
    Any,
}

/// An adapter of this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Adapter {
    /// As its driver calls it.
    pub name: String,
    /// The driver, and what it says of itself.
    pub driver: String,
    /// What wgpu reaches it by: `vulkan`, `metal` or `dx12`.
    pub api: &'static str,
    /// It is software on the CPU.
    pub is_software: bool,
}

impl Adapter {
    fn of(info: &AdapterInfo) -> Adapter {
        let driver = [info.driver.as_str(), info.driver_info.as_str()];
        let driver: Vec<&str> = driver.into_iter().filter(|text| !text.is_empty()).collect();
        Adapter {
            name: info.name.clone(),
            driver: driver.join(" "),
            api: info.backend.to_str(),
            is_software: info.device_type == DeviceType::Cpu,
        }
    }
}

impl fmt::Display for Adapter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let software = if self.is_software { ", software" } else { "" };
        write!(f, "{}, {}{software}", self.name, self.api)
    }
}

/// Why no device can be used.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum DeviceError {
    /// No driver offers an adapter.
    #[error("no adapter for Vulkan, Metal or Direct3D 12 was found")]
    NoAdapter,
    /// All adapters are software.
    #[error("the only adapter is `{0}`, which is software on the CPU")]
    Software(Adapter),
    /// The adapter's driver opens no device.
    #[error("`{adapter}` opens no device: {why}")]
    Refused {
        /// Which.
        adapter: Adapter,
        /// The driver's reason.
        why: String,
    },
}

/// Everything that wgpu's drivers offer.
fn instance() -> Instance {
    // Arguments of indirect dispatches are made by this crate and within the limits. Direct3D 12 needs wgpu's own
    // dispatch before each, which tells the shader how many workgroups there are.
    let flags = match cfg!(windows) {
        true => InstanceFlags::VALIDATION_INDIRECT_CALL,
        false => InstanceFlags::empty(),
    };
    Instance::new(InstanceDescriptor {
        backends: Backends::VULKAN | Backends::METAL | Backends::DX12,
        flags: flags.with_env(),
        ..InstanceDescriptor::new_without_display_handle()
    })
}

fn found(instance: &Instance) -> Vec<wgpu::Adapter> {
    let mut found = pollster::block_on(instance.enumerate_adapters(Backends::all()));
    let order = |kind| match kind {
        DeviceType::DiscreteGpu => 0,
        DeviceType::IntegratedGpu => 1,
        DeviceType::VirtualGpu => 2,
        DeviceType::Other => 3,
        DeviceType::Cpu => 4,
    };
    found.sort_by_key(|adapter| order(adapter.get_info().device_type));
    found
}

/// The adapters of this machine, the one that is taken first.
pub fn adapters() -> Vec<Adapter> {
    let found = found(&instance());
    found.iter().map(|a| Adapter::of(&a.get_info())).collect()
}

/// A device that is open.
pub(crate) struct Opened {
    pub(crate) adapter: Adapter,
    pub(crate) device: Device,
    pub(crate) queue: Queue,
    pub(crate) features: Features,
    pub(crate) limits: Limits,
    /// Why it was lost.
    lost: Arc<Mutex<Option<String>>>,
    /// What wgpu has found wrong since it was last asked.
    wrong: Arc<Mutex<Option<String>>>,
    /// What programs were made to, by their bytes, as long as a session has it.
    pub(crate) passes: Mutex<HashMap<Vec<u8>, Weak<Pass>>>,
    /// Those that were made last stay for the next session.
    pub(crate) recent: Mutex<Vec<Arc<Pass>>>,
    /// How often the host has waited for it.
    pub(crate) looks: AtomicU64,
    /// Sweeps that pulled.
    pub(crate) pulled: AtomicU64,
}

pub(crate) fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What shaders may ask for, where a device has it.
const OPTIONAL: Features = Features::SHADER_F64
    .union(Features::SHADER_INT64)
    .union(Features::SHADER_INT64_ATOMIC_ALL_OPS)
    .union(CLOCK);

/// Items of an invocation on an adapter that is software, where they are many.
const SOFTWARE_ITEMS: u64 = 4;

/// What the times of submissions are told by.
const CLOCK: Features = Features::TIMESTAMP_QUERY.union(Features::TIMESTAMP_QUERY_INSIDE_ENCODERS);

impl Opened {
    /// The first adapter.
    pub(crate) fn first(which: Adapters) -> Result<Opened, DeviceError> {
        let all = found(&instance());
        let Some(adapter) = all.first() else {
            return Err(DeviceError::NoAdapter);
        };
        let named = Adapter::of(&adapter.get_info());
        if named.is_software && which == Adapters::Hardware {
            return Err(DeviceError::Software(named));
        }
        Opened::on(adapter)
    }

    fn on(adapter: &wgpu::Adapter) -> Result<Opened, DeviceError> {
        let named = Adapter::of(&adapter.get_info());
        let (features, limits) = (adapter.features() & OPTIONAL, adapter.limits());
        let opening = adapter.request_device(&DeviceDescriptor {
            label: Some("vyre"),
            required_features: features,
            required_limits: limits.clone(),
            ..DeviceDescriptor::default()
        });
        let (device, queue) = pollster::block_on(opening).map_err(|why| DeviceError::Refused {
            adapter: named.clone(),
            why: why.to_string(),
        })?;
        let (lost, wrong) = (
            Arc::<Mutex<Option<String>>>::default(),
            Arc::<Mutex<Option<String>>>::default(),
        );
        let (of_lost, of_wrong) = (Arc::clone(&lost), Arc::clone(&wrong));
        device.set_device_lost_callback(move |reason, why| {
            let why = match why.is_empty() {
                true => format!("{reason:?}"),
                false => why,
            };
            lock(&of_lost).get_or_insert(why);
        });
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            lock(&of_wrong).get_or_insert(error.to_string());
        }));
        Ok(Opened {
            adapter: named,
            device,
            queue,
            features,
            limits,
            lost,
            wrong,
            passes: Mutex::default(),
            recent: Mutex::default(),
            looks: AtomicU64::new(0),
            pulled: AtomicU64::new(0),
        })
    }

    /// Lets wgpu tell what has happened.
    pub(crate) fn notice(&self) {
        // Whatever it says comes by the callbacks.
        let _told = self.device.poll(PollType::Poll);
    }

    pub(crate) fn is_lost(&self) -> bool {
        lock(&self.lost).is_some()
    }

    /// Whether the device has done all that it was asked for so far.
    pub(crate) fn check(&self) -> Result<(), RunError> {
        let wrong = lock(&self.wrong).take();
        if wrong.is_some() {
            // That it was lost may be why.
            self.notice();
        }
        if let Some(why) = &*lock(&self.lost) {
            let name = &self.adapter.name;
            return Err(RunError::Backend(format!(
                "the device `{name}` was lost: {why}; its sessions end, and new ones open it again"
            )));
        }
        match wrong {
            Some(why) => Err(RunError::Backend(why)),
            None => Ok(()),
        }
    }

    /// Waits until a submission has ended, and what was to be mapped is.
    pub(crate) fn wait(&self, submitted: SubmissionIndex) -> Result<(), RunError> {
        self.looks.fetch_add(1, Relaxed);
        let waited = self.device.poll(PollType::Wait {
            submission_index: Some(submitted),
            timeout: None,
        });
        if waited.is_err() {
            self.notice();
        }
        self.check()?;
        match waited {
            Ok(_) => Ok(()),
            Err(why) => Err(RunError::Backend(why.to_string())),
        }
    }

    /// Whether it tells how long a submission took. Software takes its time on the CPU, which the host's clock tells.
    pub(crate) fn has_clock(&self) -> bool {
        self.features.contains(CLOCK) && !self.adapter.is_software
    }

    /// Bytes of the largest buffer that a shader can be given.
    pub(crate) fn most_bytes(&self) -> u64 {
        // Offsets are words that 32 bits count.
        let words = u64::from(u32::MAX) * 4;
        let limits = &self.limits;
        let bound = limits
            .max_storage_buffer_binding_size
            .min(limits.max_buffer_size);
        bound.min(words) / 16 * 16
    }

    /// A buffer of so many bytes.
    ///
    /// # Errors
    /// It is larger than the device allows, or there is no memory for it.
    pub(crate) fn buffer(
        &self,
        what: &str,
        bytes: u64,
        usage: BufferUsages,
    ) -> Result<Buffer, RunError> {
        let most = match usage.contains(BufferUsages::STORAGE) {
            true => self.most_bytes(),
            false => self.limits.max_buffer_size,
        };
        if bytes > most {
            let device = &self.adapter.name;
            return Err(RunError::Memory {
                what: format!("{what} is one buffer of the device `{device}`"),
                needed_bytes: bytes,
                available_bytes: most,
            });
        }
        let scope = self.device.push_error_scope(ErrorFilter::OutOfMemory);
        let buffer = self.device.create_buffer(&BufferDescriptor {
            label: Some(what),
            size: bytes,
            usage,
            mapped_at_creation: false,
        });
        let failed = pollster::block_on(scope.pop());
        self.check()?;
        match failed {
            None => Ok(buffer),
            Some(_) => {
                let device = &self.adapter.name;
                Err(RunError::no_memory(
                    format_args!("{what} on `{device}`"),
                    bytes,
                ))
            }
        }
    }

    /// Most workgroups that sweep at once: enough for every invocation that a large GPU runs, since what closes a sweep
    /// looks at the record of each.
    pub(crate) fn most_groups(&self) -> u32 {
        self.limits.max_compute_workgroups_per_dimension.min(4_096)
    }

    /// The same of a sweep of so many items. Software has few threads, so that more workgroups than these need are for
    /// nothing; but it ends the loops of an invocation that has too many of the items.
    pub(crate) fn groups_of(&self, items: u64) -> u32 {
        let most = self.most_groups();
        match self.adapter.is_software {
            true => {
                let groups = items.div_ceil(SOFTWARE_ITEMS * u64::from(WORKGROUP));
                (groups.max(64).min(most.into())) as u32
            }
            false => most,
        }
    }

    /// Workgroups for each item of a sweep that shares out edges, where items are few: a GPU has more room than those
    /// fill.
    pub(crate) fn spread(&self) -> u32 {
        match self.adapter.is_software {
            true => 1,
            false => 16,
        }
    }
}
