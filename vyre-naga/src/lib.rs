//! VIR0 as shaders: the program of a pass becomes [naga](https://docs.rs/naga) modules, one for each wave and for each
//! pass between waves, and a plan that says how a host runs them.
//!
//! | question | answer |
//! | --- | --- |
//! | What does a target get, and why not the rest? | [`refusals`], [`Target`], of vyre-core |
//! | Where does everything lie? | `layout` |
//! | How does a kernel's code become a function? | `body`, with `helpers` for what naga does not have |
//! | How does a wave become an entry point? | `sweep`, with `shared` for what a workgroup does together |
//! | How does a search pull? | `pull` |
//! | What comes between waves? | `between`, and `rounds` where no host does |
//! | What is written? | [`Shader::text`], and [`Shaders::plan`], as docs/PORTABLE.md explains it |
//!
//! The modules are made as IR, not as text. naga validates each of them, and what a target does not have is refused
//! before anything is made.
//!
//! ```
//! use vyre_core::vir0::module::Program;
//! use vyre_naga::{Options, Target, shaders};
//!
//! let shaders = shaders(&Program::default(), Target::WebGpu, Options::default()).expect("it is valid");
//! assert!(shaders.refusals.is_empty());
//! assert_eq!(shaders.shaders[0].entry(), "begin");
//! ```

mod between;
mod body;
mod export;
mod helpers;
mod ir;
mod layout;
mod loops;
mod plan;
mod pull;
mod rounds;
mod shared;
mod sweep;
mod text;

pub use export::{Export, File, export};
pub use plan::VERSION;
pub use text::Text;
pub use vyre_core::plan::shaders::{
    Part, Refusal, Target, WORKGROUP, Why, features, lines, refusals,
};

use layout::{Arena, Layout};
use naga::Module;
use naga::valid::ModuleInfo;
use rounds::Stretch;
use thiserror::Error;
use vyre_core::vir0::module::{FixpointId, Program, WaveId};

/// What shaders are made with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Turns of loops that an invocation may take in a dispatch: a shader cannot be cancelled.
    pub turns: u32,
    /// Invocations of a workgroup of narrow rounds, and of sweeps that share out what items have, at most; 0: there are
    /// no narrow rounds, and sweeps have 64. WebGPU guarantees 256.
    pub lanes: u32,
    /// Words that a workgroup may share. WebGPU guarantees 4,096.
    pub words: u32,
    /// The invocations of a workgroup share out the edges of their items. Otherwise each takes those of its own item,
    /// but in narrow rounds.
    pub shares_edges: bool,
    /// A driver may end loops by itself, and say nothing, as Mesa's software does: such a loop is a fault of the kind 254.
    pub checks_loops: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            turns: 1 << 24,
            lanes: 256,
            words: 4_096,
            shares_edges: true,
            checks_loops: false,
        }
    }
}

/// Why there are no shaders. Each of these is a fault of this crate.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Error {
    /// naga's validator refuses a module.
    #[error("naga refuses the shader {shader}: {why}")]
    Invalid {
        /// Its entry point.
        shader: String,
        /// naga's reason.
        why: String,
    },
    /// naga cannot write a module.
    #[error("naga cannot write the shader {shader} for {target}: {why}")]
    Unwritten {
        /// Its entry point.
        shader: String,
        /// Where for.
        target: Target,
        /// naga's reason.
        why: String,
    },
}

/// A validated module of one entry point.
pub struct Shader {
    module: Module,
    info: ModuleInfo,
}

impl Shader {
    /// The name of its entry point, and of its file.
    pub fn entry(&self) -> &str {
        &self.module.entry_points[0].name
    }

    /// The module.
    pub fn module(&self) -> &Module {
        &self.module
    }

    /// The module as a target takes it.
    ///
    /// # Errors
    /// naga cannot write it.
    pub fn text(&self, target: Target) -> Result<Text, Error> {
        text::written(&self.module, &self.info, target, self.entry())
    }
}

/// The shaders of a pass.
pub struct Shaders {
    /// Who they are for.
    pub target: Target,
    /// In the order of the plan: `begin`, fills, `settle`, of each wave the sweep, what closes it and, where
    /// it may, its sweep that pulls, of each fixpoint
    /// the start of a round and the condition, and the ends of groups that follow each other. Without those that are
    /// refused.
    pub shaders: Vec<Shader>,
    /// Waves and conditions that the target does not get. Where there is one, the pass cannot run there.
    pub refusals: Vec<Refusal>,
    /// How a host runs them, as JSON.
    pub plan: serde_json::Value,
}

impl Shaders {
    /// The plan as the text of a file.
    pub fn plan_text(&self) -> String {
        let mut text = serde_json::to_string_pretty(&self.plan).expect("a plan is JSON");
        text.push('\n');
        text
    }
}

/// Makes the shaders of a verified program.
///
/// # Errors
/// naga refuses a module, which is a fault of this crate: what a target does not have is among the refusals.
pub fn shaders(program: &Program, target: Target, options: Options) -> Result<Shaders, Error> {
    let layout = Layout::of(program, (target, options));
    let refusals = refusals(program, target);
    let refused = |part| refusals.iter().any(|r| r.part == part);
    let stretches = Stretch::of(program);
    let mut modules = vec![between::begin(program, &layout)];
    let filled = layout.arenas().filter(|&arena| arena != Arena::Fixed);
    modules.extend(filled.map(|arena| between::fill(&layout, arena)));
    modules.push(between::settle(program, &layout));
    for wave in (0..program.waves.len() as u16).map(WaveId) {
        if !refused(Part::Wave(wave)) {
            modules.push(sweep::sweep(program, &layout, wave));
            modules.push(between::close(program, &layout, wave));
        }
        if refusals.is_empty() {
            modules.extend(pull::pull(program, &layout, wave));
        }
    }
    let asked = layout.asked().into_iter().filter(|_| refusals.is_empty());
    modules.extend(asked.map(|topology| pull::symmetric(&layout, topology)));
    for fixpoint in (0..program.fixpoints.len() as u16).map(FixpointId) {
        if !refused(Part::Until(fixpoint)) {
            modules.push(between::begin_round(program, &layout, fixpoint));
            modules.push(between::until(program, &layout, fixpoint));
        }
    }
    for stretch in stretches.iter().filter(|_| refusals.is_empty()) {
        let ends = 0..stretch.groups.len();
        modules.extend(ends.map(|group| between::end(program, &layout, stretch, group)));
        modules.extend(between::start(program, &layout, stretch));
        let lanes = stretch.narrow(program, options);
        modules.extend(lanes.map(|lanes| between::narrow(program, &layout, stretch, lanes)));
    }
    let entries = modules.iter().map(|module| {
        let entry = &module.entry_points[0];
        let words = text::workgroup_words(module);
        let of =
            serde_json::json!({ "invocations": entry.workgroup_size[0], "workgroup_words": words });
        (entry.name.clone(), of)
    });
    let entries = serde_json::Value::Object(entries.collect());
    let needs = features(program, target);
    let validated = modules.into_iter().map(|module| {
        let info = text::validated(&module, &module.entry_points[0].name, &needs)?;
        Ok(Shader { module, info })
    });
    let plan = plan::plan(program, &layout, (target, options), &refusals, entries);
    Ok(Shaders {
        target,
        shaders: validated.collect::<Result<_, Error>>()?,
        refusals,
        plan,
    })
}
