//! A pass as files for other programs: its shaders as WGSL, SPIR-V and MSL, and its plan as JSON. No adapter is needed.
//!
//! The shaders are those that this backend runs. They are written for what every WebGPU adapter has; a pass that needs
//! more is written for adapters that have all of it, and [`Export::refused`] says what the others lack, wave by wave.
//!
//! docs/WGPU.md explains the fields of the plan, and what a host has to do with it.

use crate::layout::{Layout, Part};
use crate::program;
use crate::shader::{Refusal, refusals};
use crate::slots::{self, Slots, groups};
use crate::target::Target;
use naga::back::{msl, spv, wgsl};
use naga::common::wgsl::TypeContext;
use naga::valid::{Capabilities, GlobalUse, ModuleInfo, ValidationFlags, Validator};
use naga::{AddressSpace, GlobalVariable, Handle, Module, ResourceBinding, StorageAccess};
use serde_json::{Map, Value, json};
use std::fmt::Display;
use thiserror::Error;
use vyre_core::vir0::disasm;
use vyre_core::vir0::module::*;
use vyre_core::vir0::scalar::Scalar;

/// The version of the plan's fields.
const FORMAT: u32 = 1;

/// The version of Metal's language.
const METAL: (u8, u8) = (2, 4);

/// The version of SPIR-V, which Vulkan 1.1 has.
const SPIRV: (u8, u8) = (1, 3);

/// A pass for other programs.
#[derive(Clone, Debug)]
pub struct Export {
    /// The shaders in WebGPU's language; with naga's types of 64 bits where the pass needs them.
    pub wgsl: String,
    /// The shaders as a module for Vulkan.
    pub spirv: Vec<u32>,
    /// The shaders in Metal's language; `None` where it lacks what the pass needs.
    pub msl: Option<String>,
    /// The plan.
    pub plan: Value,
    /// What adapters lack that have no more than WebGPU promises. Metal lacks the same.
    pub refused: Vec<Refusal>,
}

/// Why a pass cannot be exported.
#[derive(Debug, Error)]
pub enum ExportError {
    /// No adapter could run it.
    #[error("no adapter can run this: {}", joined(.0))]
    Refused(Vec<Refusal>),
    /// naga refuses the shaders, or cannot write them.
    #[error("the shaders cannot be written: {0}")]
    Shader(String),
}

fn joined(refused: &[Refusal]) -> String {
    let lines: Vec<String> = refused.iter().map(Refusal::to_string).collect();
    lines.join("; ")
}

impl ExportError {
    fn shader(e: impl Display) -> ExportError {
        ExportError::Shader(e.to_string())
    }
}

/// Writes a pass.
///
/// # Errors
/// No adapter could run the pass.
pub fn export(program: &Program) -> Result<Export, ExportError> {
    let refused = refusals(program, &Target::webgpu());
    let target = match refused.is_empty() {
        true => Target::webgpu(),
        false => Target::full(),
    };
    let never = refusals(program, &target);
    if !never.is_empty() {
        return Err(ExportError::Refused(never));
    }
    let layout = Layout::new(program);
    let mut module = program::module(program, &layout, &target).map_err(ExportError::shader)?;
    for entry in &mut module.entry_points {
        entry.name = written(&entry.name);
    }
    let shaders = Shaders::of(&module)?;
    let msl = refused.is_empty().then(|| shaders.msl()).transpose()?;
    let mut plan = plan(program, &layout, &target);
    plan["shaders"] = shaders.described(msl.is_some());
    plan["refused"] = refused.iter().map(Refusal::to_string).collect();
    Ok(Export {
        wgsl: shaders.wgsl()?,
        spirv: shaders.spirv()?,
        msl,
        plan,
        refused,
    })
}

/// An entry point's name, the same in all languages: naga's writers put `_` behind a digit.
fn written(entry: &str) -> String {
    match entry.ends_with(|last: char| last.is_ascii_digit()) {
        true => format!("{entry}_"),
        false => entry.to_owned(),
    }
}

/// A module that naga has accepted, with its bindings in the order of their slots in Metal.
struct Shaders<'a> {
    module: &'a Module,
    info: ModuleInfo,
    bindings: Vec<(ResourceBinding, Handle<GlobalVariable>)>,
}

impl<'a> Shaders<'a> {
    fn of(module: &'a Module) -> Result<Shaders<'a>, ExportError> {
        // For its target, it was validated when it was made.
        let mut validator = Validator::new(ValidationFlags::all(), Capabilities::all());
        let info = validator
            .validate(module)
            .map_err(|e| ExportError::shader(e.as_inner()))?;
        let globals = module.global_variables.iter();
        let mut bindings: Vec<_> = globals
            .filter_map(|(handle, global)| Some((global.binding?, handle)))
            .collect();
        bindings.sort();
        Ok(Shaders {
            module,
            info,
            bindings,
        })
    }

    fn wgsl(&self) -> Result<String, ExportError> {
        wgsl::write_string(self.module, &self.info, wgsl::WriterFlags::empty())
            .map_err(ExportError::shader)
    }

    fn spirv(&self) -> Result<Vec<u32>, ExportError> {
        let options = spv::Options {
            lang_version: SPIRV,
            // Names, so that the module can be read.
            flags: spv::WriterFlags::DEBUG,
            zero_initialize_workgroup_memory: spv::ZeroInitializeWorkgroupMemoryMode::None,
            force_loop_bounding: false,
            ..spv::Options::default()
        };
        spv::write_vec(self.module, &self.info, &options, None).map_err(ExportError::shader)
    }

    /// The slot of the buffer that tells Metal's shaders how long the others are: behind them.
    fn sizes_slot(&self) -> u8 {
        self.bindings.len() as u8
    }

    fn msl(&self) -> Result<String, ExportError> {
        let slot = |(slot, (binding, _)): (u8, &(ResourceBinding, _))| {
            let target = msl::BindTarget {
                buffer: Some(slot),
                mutable: true,
                ..msl::BindTarget::default()
            };
            (*binding, target)
        };
        let resources = msl::EntryPointResources {
            resources: (0..).zip(&self.bindings).map(slot).collect(),
            immediates_buffer: None,
            sizes_buffer: Some(self.sizes_slot()),
        };
        let entries = self.module.entry_points.iter();
        let options = msl::Options {
            lang_version: METAL,
            per_entry_point_map: entries
                .map(|e| (e.name.clone(), resources.clone()))
                .collect(),
            fake_missing_bindings: false,
            zero_initialize_workgroup_memory: false,
            force_loop_bounding: false,
            ..msl::Options::default()
        };
        let written = msl::write_string(
            self.module,
            &self.info,
            &options,
            &msl::PipelineOptions::default(),
        );
        let (text, translated) = written.map_err(ExportError::shader)?;
        for name in translated.entry_point_names {
            name.map_err(ExportError::shader)?;
        }
        Ok(text)
    }

    /// Entry points and bindings.
    fn described(&self, metal: bool) -> Value {
        let name =
            |handle: Handle<GlobalVariable>| self.module.global_variables[handle].name.as_deref();
        let slots = (0u8..).zip(&self.bindings);
        let bindings = slots.map(|(slot, &(ResourceBinding { group, binding }, handle))| {
            let global = &self.module.global_variables[handle];
            let (space, writes) = match global.space {
                AddressSpace::Storage { access } => {
                    ("storage", access.contains(StorageAccess::STORE))
                }
                _ => ("uniform", false),
            };
            json!({
                "name": name(handle),
                "type": self.module.to_ctx().type_to_string(global.ty),
                "space": space,
                "writes": writes,
                "group": group,
                "binding": binding,
                "metal_buffer": slot,
            })
        });
        let entries = self
            .module
            .entry_points
            .iter()
            .enumerate()
            .map(|(at, entry)| {
                let uses = self.info.get_entry_point(at);
                let used = self
                    .bindings
                    .iter()
                    .filter(|(_, handle)| uses[*handle] != GlobalUse::empty());
                json!({
                    "name": entry.name,
                    "workgroup_size": entry.workgroup_size[0],
                    "bindings": used.map(|&(_, handle)| name(handle)).collect::<Value>(),
                })
            });
        let (bindings, entries) = (bindings.collect::<Value>(), entries.collect::<Value>());
        let (major, minor) = METAL;
        json!({
            "entries": entries,
            "bindings": bindings,
            "metal": metal.then(|| json!({
                "language": format!("{major}.{minor}"),
                "sizes_buffer": self.sizes_slot(),
            })),
        })
    }
}

/// The program's tables and its schedule, with the arena of each part, and the words of the state that speak of it.
fn plan(program: &Program, layout: &Layout, target: &Target) -> Value {
    let slots = &Slots::new(program, target);
    let tables = Tables {
        program,
        layout,
        slots,
    };
    let manifest = &program.manifest;
    json!({
        "format": FORMAT,
        "id": manifest.id,
        "title": manifest.title,
        "agreement": disasm::class(program),
        "scalars": tables.scalars(),
        "topologies": tables.topologies(),
        "buffers": tables.buffers(),
        "frontiers": tables.frontiers(),
        "lists": tables.lists(),
        "reductions": tables.reductions(),
        "waves": tables.waves(),
        "fixpoints": tables.fixpoints(),
        "schedule": tables.schedule(),
        "groups": tables.groups(),
        "state": json!({
            "words": slots.state_words(),
            "status": slots::STATUS,
            "mode": slots::MODE,
            "group": slots::GROUP,
            "step": slots::STEP,
            "budget": slots::BUDGET,
            "narrow_items": slots::NARROW_ITEMS,
            "nodes": slots::NODES,
            "fault": slots::FAULT,
        }),
        "counts": json!({ "words": slots.counts_words() }),
    })
}

struct Tables<'a> {
    program: &'a Program,
    layout: &'a Layout,
    slots: &'a Slots,
}

/// Raw bits, low first.
fn words(bits: u64) -> Value {
    json!([bits as u32, (bits >> 32) as u32])
}

/// Types by their names in Rust.
fn names(fields: &[Scalar]) -> Value {
    fields.iter().map(|field| field.name()).collect()
}

impl Tables<'_> {
    fn arena(&self, part: Part) -> String {
        self.layout.arena(part).to_string()
    }

    /// A number, or what it is the number of.
    fn len(&self, extent: Extent) -> Value {
        match extent {
            Extent::Fixed(len) => json!(len),
            Extent::Constant(id) => json!(self.program.constants[id.index()].bits),
            Extent::Scalar(id) => json!({ "scalar": self.program.scalars[id.index()].name }),
            Extent::Nodes => json!("nodes"),
            Extent::Edges(id) => json!({ "edges": self.program.topologies[id.index()].name }),
            Extent::NodesPlusEdges => json!("nodes + edges"),
            Extent::Computed(_) | Extent::Bounds(..) => {
                json!({ "computed": self.program.declared(extent) })
            }
            Extent::NodeBits(width) => json!({ "rows_of_bits": self.len(match width {
                Width::Fixed(bits) => Extent::Fixed(bits.into()),
                Width::Constant(id) => Extent::Constant(id),
                Width::Scalar(id) => Extent::Scalar(id),
            }) }),
        }
    }

    /// Items of a sweep, where neither a frontier nor a list has them; edges are counted by their nodes.
    fn items(&self, domain: Domain) -> Option<Value> {
        let count = match (domain.topology(), domain.frontier()) {
            (Some(_), None) => Some(Extent::Nodes),
            _ => domain.count(),
        };
        count.map(|count| self.len(count))
    }

    fn scalars(&self) -> Value {
        let scalars = (0..).map(ScalarId).zip(&self.program.scalars);
        scalars
            .map(|(id, s)| {
                let (ty, state) = (s.scalar.name(), self.slots.scalar(id));
                json!({ "name": s.name, "type": ty, "state": state })
            })
            .collect()
    }

    fn topologies(&self) -> Value {
        let named = (0..).map(TopologyId).zip(&self.program.topologies);
        let reversed = |t: TopologyId| self.program.topologies[t.index()].name.as_str();
        named
            .map(|(id, t)| {
                json!({
                    "name": t.name,
                    "reverse_of": t.reverse_of.map(reversed),
                    "offsets": self.arena(Part::Offsets(id)),
                    "targets": self.arena(Part::Targets(id)),
                    "state": self.slots.topology(id),
                })
            })
            .collect()
    }

    fn buffers(&self) -> Value {
        let buffers = (0..).map(BufferId).zip(&self.program.buffers);
        buffers
            .map(|(id, b)| {
                let begins = b.init.map(|c| self.program.constants[c.index()]);
                json!({
                    "name": b.name,
                    "type": b.scalar.name(),
                    "elements": self.len(b.extent),
                    "role": role(b.role),
                    "init": words(begins.map_or(0, |c| c.bits)),
                    "arena": self.arena(Part::Buffer(id)),
                    "state": self.slots.buffer(id),
                })
            })
            .collect()
    }

    fn frontiers(&self) -> Value {
        let frontiers = (0..).map(FrontierId).zip(&self.program.frontiers);
        frontiers
            .map(|(id, f)| {
                let fields = 0..f.fields.len().max(1) as u16;
                let arenas = fields.map(|k| self.arena(Part::Items(id, k)));
                json!({
                    "name": f.name,
                    "fields": names(&f.fields),
                    "capacity": self.len(f.capacity),
                    "unique": f.unique,
                    "fixpoint": f.owner.map(|id| id.0),
                    "arenas": arenas.collect::<Value>(),
                    "stamps": f.unique.then(|| self.arena(Part::Stamps(id))),
                    "state": self.slots.frontier(id),
                    "count": self.slots.pushed(id),
                })
            })
            .collect()
    }

    fn lists(&self) -> Value {
        let lists = (0..).map(ListId).zip(&self.program.lists);
        lists
            .map(|(id, l)| {
                let arenas = (0..l.fields.len() as u16).map(|k| self.arena(Part::List(id, k)));
                json!({
                    "name": l.name,
                    "fields": names(&l.fields),
                    "capacity": self.len(l.capacity),
                    "output": l.output,
                    "arenas": arenas.collect::<Value>(),
                    "state": self.slots.list(id),
                    "count": self.slots.appended(id),
                })
            })
            .collect()
    }

    fn reductions(&self) -> Value {
        let reductions = (0..).map(ReductionId).zip(&self.program.reductions);
        reductions
            .map(|(id, r)| {
                json!({
                    "name": r.name,
                    "op": reduces(r.op),
                    "type": r.scalar.name(),
                    "fixpoint": r.owner.map(|id| id.0),
                    "output": r.output,
                    "identity": words(r.op.identity(r.scalar)),
                    "state": self.slots.reduction(id),
                })
            })
            .collect()
    }

    fn waves(&self) -> Value {
        let waves = (0..).map(WaveId).zip(&self.program.waves);
        waves
            .map(|(id, w)| {
                let accesses = w.accesses.iter().map(|a| {
                    let field = self.program.name_of(a.resource).to_owned();
                    (field, Value::from(mode(a.mode)))
                });
                json!({
                    "name": w.name,
                    "entry": written(&format!("wave_{}", id.0)),
                    "domain": disasm::domain(self.program, w.domain),
                    "items": self.items(w.domain),
                    "fixpoint": w.fixpoint.map(|id| id.0),
                    "accesses": accesses.collect::<Map<_, _>>(),
                    "state": self.slots.wave(id),
                })
            })
            .collect()
    }

    fn fixpoints(&self) -> Value {
        let fixpoints = (0..).map(FixpointId).zip(&self.program.fixpoints);
        fixpoints
            .map(|(id, x)| {
                let name = |b: BufferId| &self.program.buffers[b.index()].name;
                let swaps = x.swaps.iter().map(|&(a, b)| json!([name(a), name(b)]));
                json!({
                    "name": x.name,
                    "parent": x.parent.map(|id| id.0),
                    "until": x.condition,
                    "max_rounds": x.max_rounds,
                    "swaps": swaps.collect::<Value>(),
                    "state": self.slots.fixpoint(id),
                })
            })
            .collect()
    }

    fn groups(&self) -> Value {
        let waves = |group: &slots::Group| group.waves.iter().map(|w| w.0).collect::<Value>();
        groups(self.program).iter().map(waves).collect()
    }

    fn schedule(&self) -> Value {
        let steps = self.program.schedule.iter();
        steps
            .map(|step| match *step {
                Step::Wave(w) => json!({ "wave": w.0 }),
                Step::Barrier => json!("barrier"),
                Step::Loop(x) | Step::Each(x, _) => json!({ "loop": x.0 }),
                Step::Until(x) => json!({ "until": x.0 }),
                Step::End => json!("end"),
            })
            .collect()
    }
}

fn role(role: Role) -> &'static str {
    match role {
        Role::Topology => "topology",
        Role::Input => "input",
        Role::Output => "output",
        Role::Scratch => "scratch",
        Role::InOut => "in_out",
    }
}

fn reduces(op: ReduceOp) -> &'static str {
    match op {
        ReduceOp::Sum => "sum",
        ReduceOp::Min => "min",
        ReduceOp::Max => "max",
        ReduceOp::Or => "or",
        ReduceOp::And => "and",
        ReduceOp::ExactSum => "exact_sum",
    }
}

fn mode(mode: Mode) -> &'static str {
    match mode {
        Mode::Read => "read",
        Mode::Write => "write",
        Mode::Update(op) => match op {
            UpdateOp::Add => "add",
            UpdateOp::Min => "min",
            UpdateOp::Max => "max",
            UpdateOp::And => "and",
            UpdateOp::Or => "or",
            UpdateOp::Xor => "xor",
            UpdateOp::Push => "push",
            UpdateOp::Append => "append",
            UpdateOp::Reduce => "reduce",
        },
    }
}
