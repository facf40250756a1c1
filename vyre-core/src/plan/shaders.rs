//! Which waves can be shaders of a target, and why not the others: `vyre-naga` makes what this table allows, and `PLAN`
//! shows it.
//!
//! All three targets are asked for what each of their devices has, but for f64 and 64-bit atomics on Vulkan, which most
//! devices have ([`features`]).
//!
//! ```
//! use vyre_core::plan::shaders::{Target, line, refusals};
//! use vyre_core::vir0::module::Program;
//!
//! assert_eq!(line(&Program::default(), Target::Vulkan), "vulkan: 0 of 0 waves");
//! assert!(refusals(&Program::default(), Target::Vulkan).is_empty());
//! ```

use super::pull::{self, Claim};
use crate::vir0::find::{Cell, Combine, loops};
use crate::vir0::flow::{BlockKind, Rows, blocks, effect, live_in, op, uses};
use crate::vir0::isa::{Effect, IMM, Imm, Op, Slot, UNIFORM_BASE, Word};
use crate::vir0::local::locals;
use crate::vir0::module::{
    BufferId, Domain, FixpointId, FrontierId, KernelId, Mode, Program, ReduceOp, Reduction,
    Resource, TopologyId, Uniform, WaveId,
};
use crate::vir0::results::{is_open, rounds_floats};
use crate::vir0::scalar::Scalar;
use crate::vir0::trap::Site;
use std::collections::BTreeSet;
use std::fmt;
use thiserror::Error;

/// Who runs shaders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Target {
    /// WGSL, in a browser or by wgpu.
    WebGpu,
    /// SPIR-V 1.3, as Vulkan 1.1 takes it.
    Vulkan,
    /// MSL 2.4.
    Metal,
}

impl Target {
    /// Every one.
    pub const ALL: [Target; 3] = [Target::WebGpu, Target::Vulkan, Target::Metal];

    /// As plans and command lines write it.
    pub const fn name(self) -> &'static str {
        match self {
            Target::WebGpu => "webgpu",
            Target::Vulkan => "vulkan",
            Target::Metal => "metal",
        }
    }

    /// Storage buffers that a stage of every device can have.
    pub const fn storage_buffers(self) -> u32 {
        match self {
            Target::WebGpu => 8,
            // What the standard guarantees.
            Target::Vulkan => 4,
            Target::Metal => 30,
        }
    }

    /// Words of a uniform that every device can have.
    pub const fn uniform_words(self) -> u32 {
        match self {
            Target::WebGpu | Target::Metal => 65_536 / 4,
            Target::Vulkan => 16_384 / 4,
        }
    }

    /// Words of a workgroup's memory that every device can have.
    pub const fn workgroup_words(self) -> u32 {
        match self {
            Target::WebGpu | Target::Vulkan => 16_384 / 4,
            Target::Metal => 32_768 / 4,
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Why a target does not get a wave.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Why {
    /// Arithmetic on f64.
    #[error("needs f64, {}", .0.about_f64())]
    F64(Target),
    /// Functions of f64 that are no arithmetic.
    #[error("needs exp, ln, sin or cos of f64, which no shading language has")]
    F64Functions,
    /// An atomic on 64 bits that two atomics on its halves are not.
    #[error("needs 64-bit atomics, {}", .0.about_atomics())]
    Atomic64(Target),
    /// A sum of f64 that is rounded once: its 2,098 bits for each invocation are more than a workgroup has memory for.
    #[error("adds to `{0}`, an exact sum of f64: shaders have those of f32")]
    ExactSum(String),
    /// It is in a fixpoint that each part of a graph runs by itself.
    #[error("is in `{0}`, which each part runs by itself: shaders have no parts yet")]
    Parts(String),
    /// It is in a fixpoint with whose rounds memory begins anew.
    #[error(
        "is in `{0}`, with whose rounds `{1}` begins anew: shaders do not fill memory between rounds yet"
    )]
    Anew(String, String),
    /// More words of the uniform than there may be.
    #[error("needs {needed} words of a uniform; {target} has {limit}")]
    Uniform {
        /// How many.
        needed: u32,
        /// How many there may be.
        limit: u32,
        /// Where.
        target: Target,
    },
    /// More words of a workgroup's memory than there may be.
    #[error("needs {needed} words of a workgroup's memory; {target} has {limit}")]
    Workgroup {
        /// How many.
        needed: u32,
        /// How many there may be.
        limit: u32,
        /// Where.
        target: Target,
    },
}

impl Why {
    /// In a few words, for the plan.
    pub fn short(&self) -> &'static str {
        match self {
            Why::F64(_) => "f64",
            Why::F64Functions => "functions of f64",
            Why::Atomic64(_) => "64-bit atomics",
            Why::ExactSum(_) => "exact sums of f64",
            Why::Parts(_) => "parts",
            Why::Anew(..) => "what begins anew with a round",
            Why::Uniform { .. } => "a larger uniform",
            Why::Workgroup { .. } => "more workgroup memory",
        }
    }
}

impl Target {
    /// Whether devices can have f64, and integers of 64 bits.
    pub const fn may_have_f64(self) -> bool {
        match self {
            Target::WebGpu | Target::Metal => false,
            Target::Vulkan => true,
        }
    }

    /// Whether devices can have 64-bit atomics on buffers, and integers of 64 bits.
    pub const fn may_have_atomics64(self) -> bool {
        match self {
            Target::WebGpu | Target::Metal => false,
            Target::Vulkan => true,
        }
    }

    fn about_f64(self) -> &'static str {
        match self {
            Target::WebGpu => "which WGSL does not have",
            Target::Vulkan => "which Vulkan has",
            Target::Metal => "which MSL does not have",
        }
    }

    fn about_atomics(self) -> &'static str {
        match self {
            Target::WebGpu => "which WGSL does not have",
            Target::Vulkan => "which Vulkan has",
            Target::Metal => "of which MSL has only min and max, without a result",
        }
    }
}

/// A wave, or a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// A wave.
    Wave(WaveId),
    /// The condition of a fixpoint.
    Until(FixpointId),
}

/// A wave or a condition that a target does not get.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Which.
    pub part: Part,
    /// Its name: the wave's, or `until` of the fixpoint's.
    pub name: String,
    /// Where the source asks for it; the nearest place that is known.
    pub site: Option<Site>,
    /// Why.
    pub why: Why,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, self.why)?;
        match &self.site {
            Some(site) => write!(f, " ({site})"),
            None => Ok(()),
        }
    }
}

/// What an operation needs of a target.
enum Need {
    Nothing,
    F64,
    /// exp, ln, sin or cos of it.
    F64Functions,
    /// An atomic on 64 bits, whose halves may be updated one after the other where nothing loads them.
    Halves,
    /// The same, of a load: where nothing updates them.
    Load,
    Atomic64,
    /// One that computes with f64.
    AtomicF64,
}

/// What there is for each operation.
fn need(op: Op) -> Need {
    match op {
        Op::ExpF64 | Op::LnF64 | Op::SinF64 | Op::CosF64 => Need::F64Functions,
        Op::AddF64
        | Op::SubF64
        | Op::MulF64
        | Op::DivF64
        | Op::RemF64
        | Op::MinF64
        | Op::MaxF64
        | Op::FmaF64
        | Op::SqrtF64
        | Op::FloorF64
        | Op::CeilF64
        | Op::RoundF64
        | Op::TruncF64
        | Op::EqF64
        | Op::NeF64
        | Op::LtF64
        | Op::LeF64
        | Op::F32FromF64
        | Op::F64FromU32
        | Op::F64FromI32
        | Op::F64FromU64
        | Op::F64FromI64
        | Op::F64FromF32
        | Op::U32FromF64
        | Op::I32FromF64
        | Op::U64FromF64
        | Op::I64FromF64 => Need::F64,
        Op::AtomAdd64 | Op::AtomAnd64 | Op::AtomOr64 | Op::AtomXor64 => Need::Halves,
        Op::AtomLd64 => Need::Load,
        Op::AtomAddF64 | Op::AtomMinF64 | Op::AtomMaxF64 => Need::AtomicF64,
        Op::AtomSt64
        | Op::AtomSwap64
        | Op::AtomCas64
        | Op::AtomMinU64
        | Op::AtomMinI64
        | Op::AtomMaxU64
        | Op::AtomMaxI64 => Need::Atomic64,
        Op::Mov32
        | Op::Mov64
        | Op::LdU32
        | Op::LdU64
        | Op::Sel32
        | Op::Sel64
        | Op::RowLd32
        | Op::RowLd64
        | Op::RowSt32
        | Op::RowSt64
        | Op::RowFill32
        | Op::RowFill64
        | Op::Add32
        | Op::Sub32
        | Op::Mul32
        | Op::DivU32
        | Op::DivI32
        | Op::RemU32
        | Op::RemI32
        | Op::MinU32
        | Op::MinI32
        | Op::MaxU32
        | Op::MaxI32
        | Op::And32
        | Op::Or32
        | Op::Xor32
        | Op::Shl32
        | Op::ShrU32
        | Op::ShrI32
        | Op::Rotl32
        | Op::Popc32
        | Op::Clz32
        | Op::Ctz32
        | Op::Add64
        | Op::Sub64
        | Op::Mul64
        | Op::DivU64
        | Op::DivI64
        | Op::RemU64
        | Op::RemI64
        | Op::MinU64
        | Op::MinI64
        | Op::MaxU64
        | Op::MaxI64
        | Op::And64
        | Op::Or64
        | Op::Xor64
        | Op::Shl64
        | Op::ShrU64
        | Op::ShrI64
        | Op::Rotl64
        | Op::Popc64
        | Op::Clz64
        | Op::Ctz64
        | Op::MulHiU64
        | Op::ExpF32
        | Op::LnF32
        | Op::SinF32
        | Op::CosF32
        | Op::AddF32
        | Op::SubF32
        | Op::MulF32
        | Op::DivF32
        | Op::RemF32
        | Op::MinF32
        | Op::MaxF32
        | Op::FmaF32
        | Op::SqrtF32
        | Op::FloorF32
        | Op::CeilF32
        | Op::RoundF32
        | Op::TruncF32
        | Op::Eq32
        | Op::Ne32
        | Op::LtU32
        | Op::LeU32
        | Op::LtI32
        | Op::LeI32
        | Op::EqF32
        | Op::NeF32
        | Op::LtF32
        | Op::LeF32
        | Op::Eq64
        | Op::Ne64
        | Op::LtU64
        | Op::LeU64
        | Op::LtI64
        | Op::LeI64
        | Op::Zext64
        | Op::Sext64
        | Op::Wrap32
        | Op::F32FromU32
        | Op::F32FromI32
        | Op::F32FromU64
        | Op::F32FromI64
        | Op::U32FromF32
        | Op::I32FromF32
        | Op::U64FromF32
        | Op::I64FromF32
        | Op::Ld8
        | Op::Ld32
        | Op::Ld64
        | Op::St8
        | Op::St32
        | Op::St64
        | Op::Len
        | Op::CsrBegin
        | Op::CsrEnd
        | Op::CsrTarget
        | Op::AtomLd32
        | Op::AtomSt32
        | Op::AtomSwap32
        | Op::AtomCas32
        | Op::AtomAdd32
        | Op::AtomAddF32
        | Op::AtomMinU32
        | Op::AtomMinI32
        | Op::AtomMinF32
        | Op::AtomMaxU32
        | Op::AtomMaxI32
        | Op::AtomMaxF32
        | Op::AtomAnd32
        | Op::AtomOr32
        | Op::AtomXor32
        | Op::Push
        | Op::Reduce32
        | Op::Reduce64
        | Op::Append
        | Op::ListSt8
        | Op::ListSt32
        | Op::ListSt64
        | Op::PushItem
        | Op::ItemSt8
        | Op::ItemSt32
        | Op::ItemSt64
        | Op::If
        | Op::Else
        | Op::EndIf
        | Op::Loop
        | Op::EndLoop
        | Op::Break
        | Op::BreakIf
        | Op::BreakUnless
        | Op::Continue
        | Op::Ret
        | Op::RetV
        | Op::Trap
        | Op::Assert
        | Op::Check => Need::Nothing,
    }
}

/// The waves and conditions of a verified program that a target does not get: each once, in order, with the first
/// reason.
pub fn refusals(program: &Program, target: Target) -> Vec<Refusal> {
    parts(program)
        .filter_map(|part| {
            let (at, why) = refused(program, target, part)?;
            let kernel = kernel_of(program, part);
            Some(Refusal {
                part,
                name: name_of(program, part),
                site: nearest(program, kernel, at),
                why,
            })
        })
        .collect()
}

fn kernel_of(program: &Program, part: Part) -> KernelId {
    match part {
        Part::Wave(w) => program.waves[w.index()].kernel,
        Part::Until(f) => program.fixpoints[f.index()].until,
    }
}

fn name_of(program: &Program, part: Part) -> String {
    match part {
        Part::Wave(w) => program.waves[w.index()].name.clone(),
        Part::Until(f) => format!("until of {}", program.fixpoints[f.index()].name),
    }
}

/// The known place that is nearest to a word.
fn nearest(program: &Program, kernel: KernelId, pc: usize) -> Option<Site> {
    let sites = program.kernels[kernel.index()].sites.iter();
    let (_, site) = sites.min_by_key(|(at, _)| (*at as usize).abs_diff(pc))?;
    program.sites.get(site.index()).cloned()
}

/// The local fixpoint that a part is in.
fn local(program: &Program, part: Part) -> Option<FixpointId> {
    let mut at = match part {
        Part::Wave(w) => program.waves[w.index()].fixpoint,
        Part::Until(f) => Some(f),
    };
    while let Some(f) = at {
        if locals(program).any(|local| local.fixpoint == f) {
            return Some(f);
        }
        at = program.fixpoints[f.index()].parent;
    }
    None
}

/// Whether a word asks for an atomic on 64 bits that two atomics on its halves are not.
fn is_wide(program: &Program, part: Part, word: Word) -> bool {
    let buffer = BufferId(word.resource());
    let mode = match part {
        Part::Wave(w) => {
            let mut accesses = program.waves[w.index()].accesses.iter();
            let found = accesses.find(|a| a.resource == Resource::Buffer(buffer));
            found.map(|access| access.mode)
        }
        Part::Until(_) => None,
    };
    match Op::from_code(word.op).map(need) {
        Some(Need::Halves) => word.d != IMM || !matches!(mode, Some(Mode::Update(_))),
        Some(Need::Load) => mode != Some(Mode::Read),
        Some(Need::Atomic64 | Need::AtomicF64) => true,
        Some(Need::Nothing | Need::F64 | Need::F64Functions) | None => false,
    }
}

/// Every wave and every condition.
fn parts(program: &Program) -> impl Iterator<Item = Part> {
    let waves = (0..program.waves.len() as u16).map(|w| Part::Wave(WaveId(w)));
    let conditions = (0..program.fixpoints.len() as u16).map(|f| Part::Until(FixpointId(f)));
    waves.chain(conditions)
}

/// Buffers whose elements a target has to change by atomics on 64 bits, those that trade places with them included.
pub fn wide_buffers(program: &Program, target: Target) -> BTreeSet<BufferId> {
    let mut found = BTreeSet::new();
    if !target.may_have_atomics64() {
        return found;
    }
    for part in parts(program) {
        let words = program.kernels[kernel_of(program, part).index()]
            .code
            .iter();
        let wide = words.filter(|word| is_wide(program, part, **word));
        found.extend(wide.map(|word| BufferId(word.resource())));
    }
    loop {
        let swaps = program.fixpoints.iter().flat_map(|f| &f.swaps);
        let more = swaps.filter(|(a, b)| found.contains(a) != found.contains(b));
        let more: Vec<BufferId> = more.flat_map(|&(a, b)| [a, b]).collect();
        if more.is_empty() {
            return found;
        }
        found.extend(more);
    }
}

/// The word that a target does not have, and why.
fn refused(program: &Program, target: Target, part: Part) -> Option<(usize, Why)> {
    if let Some(f) = local(program, part) {
        return Some((0, Why::Parts(program.fixpoints[f.index()].name.clone())));
    }
    let scope = match part {
        Part::Wave(w) => program.waves[w.index()].fixpoint,
        Part::Until(f) => Some(f),
    };
    let anew = |f: FixpointId| program.is_within(scope, f);
    let buffers = program.buffers.iter().map(|b| (&b.name, b.reset));
    let mut resets = buffers.chain(program.queues().map(|(_, q)| (&q.name, q.reset)));
    if let Some((name, f)) =
        resets.find_map(|(name, reset)| Some((name, reset.filter(|&f| anew(f))?)))
    {
        let around = program.fixpoints[f.index()].name.clone();
        return Some((0, Why::Anew(around, name.clone())));
    }
    let kernel = &program.kernels[kernel_of(program, part).index()];
    for (pc, word) in kernel.code.iter().enumerate() {
        let op = Op::from_code(word.op).expect("verified code has known opcodes");
        let f64 = (!target.may_have_f64()).then_some(Why::F64(target));
        let why = match need(op) {
            Need::Nothing => match op.row().effect {
                Effect::Reduce => {
                    let reduction = &program.reductions[usize::from(word.resource())];
                    match (reduction.op, reduction.scalar) {
                        (ReduceOp::ExactSum, Scalar::F64) => {
                            Some(Why::ExactSum(reduction.name.clone()))
                        }
                        (_, Scalar::F64) => f64,
                        _ => None,
                    }
                }
                _ => None,
            },
            Need::F64 => f64,
            Need::AtomicF64 if !target.may_have_atomics64() => Some(Why::Atomic64(target)),
            Need::AtomicF64 => f64,
            Need::F64Functions if target.may_have_f64() => Some(Why::F64Functions),
            Need::F64Functions => f64,
            Need::Halves | Need::Load | Need::Atomic64 => {
                let none = target.may_have_atomics64() || !is_wide(program, part, *word);
                (!none).then_some(Why::Atomic64(target))
            }
        };
        if let Some(why) = why {
            return Some((pc, why));
        }
    }
    let (needed, limit) = (uniform_words(program), target.uniform_words());
    if needed > limit {
        return Some((
            0,
            Why::Uniform {
                needed,
                limit,
                target,
            },
        ));
    }
    if let Part::Wave(w) = part {
        let (needed, limit) = (sweep_words(program, w, WORKGROUP), target.workgroup_words());
        if needed > limit {
            return Some((
                0,
                Why::Workgroup {
                    needed,
                    limit,
                    target,
                },
            ));
        }
    }
    None
}

/// What a device must have for the waves of a program that a target gets, by the names of its features and limits.
pub fn features(program: &Program, target: Target) -> Vec<&'static str> {
    let refusals = refusals(program, target);
    let mut on_f64 = false;
    for part in parts(program).filter(|&p| refusals.iter().all(|r| r.part != p)) {
        for word in &program.kernels[kernel_of(program, part).index()].code {
            let op = Op::from_code(word.op).expect("verified code has known opcodes");
            on_f64 |= match (op.row().effect, need(op)) {
                (Effect::Reduce, _) => {
                    program.reductions[usize::from(word.resource())].scalar == Scalar::F64
                }
                (_, need) => matches!(need, Need::F64 | Need::AtomicF64),
            };
        }
    }
    let wide = !wide_buffers(program, target).is_empty();
    let of = |needed: bool, names: &'static [&'static str]| names.iter().filter(move |_| needed);
    match target {
        Target::WebGpu | Target::Metal => Vec::new(),
        Target::Vulkan => of(on_f64, &["shaderFloat64"])
            .chain(of(on_f64 || wide, &["shaderInt64"]))
            .chain(of(wide, &["shaderBufferInt64Atomics", FIVE_BUFFERS]))
            .copied()
            .collect(),
    }
}

/// A limit that is more than the standard guarantees: a storage buffer for 64-bit atomics comes beside the others.
pub const FIVE_BUFFERS: &str = "maxPerStageDescriptorStorageBuffers of 5";

/// Invocations of a workgroup.
pub const WORKGROUP: u32 = 64;

/// Words of a fault.
pub const FAULT_WORDS: u32 = 5;

/// Words of the uniform that do not depend on the program: the round, workgroups, turns, and what a fill fills.
pub const COMMON_WORDS: u32 = 8;

/// Words of the uniform: places, lengths, scalars, bits of floats.
pub fn uniform_words(program: &Program) -> u32 {
    let each = |n: usize| n as u32;
    let queues = program.queues();
    let queues = queues.map(|(_, q)| 1 + each(q.fields.len().max(1)));
    let frontiers = (0..program.frontiers.len() as u16).map(FrontierId);
    let stamped = frontiers.filter(|&f| is_stamped(program, f)).count();
    let ranges = program.waves.iter();
    let ranges = ranges.filter(|w| matches!(w.domain, Domain::Range(_)));
    let scalars = program.scalars.iter().map(|s| u32::from(s.scalar.rows()));
    COMMON_WORDS
        + 1
        + 4 * each(program.topologies.len())
        + 2 * each(program.buffers.len())
        + queues.chain(scalars).sum::<u32>()
        + each(stamped)
        + each(ranges.count())
        + u32::from(waves(program).any(|wave| pulling(program, wave).is_some()))
        + each(outer_rounds(program).len())
        + each(float_bits(program).len())
}

fn waves(program: &Program) -> impl Iterator<Item = WaveId> {
    (0..program.waves.len() as u16).map(WaveId)
}

/// A sweep that may pull, as [`pull`] proves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pulling {
    /// How the wave claims nodes.
    pub claim: Claim,
    /// Its frontier, which nobody else pushes onto while its fixpoint runs.
    pub frontier: FrontierId,
    /// The topology along whose edges it pushes.
    pub topology: TopologyId,
    /// The one with the edges in; the same where the pass has no reverse, for graphs that are their own.
    pub into: TopologyId,
}

/// How a wave's sweep may pull in shaders, in rounds in which its claims [hold](Claim::holds_in).
pub fn pulling(program: &Program, id: WaveId) -> Option<Pulling> {
    let wave = &program.waves[id.index()];
    let Domain::EdgesFrom(topology, frontier) = wave.domain else {
        return None;
    };
    let claim = pull::claim(program, wave).filter(|claim| claim.pushes)?;
    claim.holds_in(0).then_some(Pulling {
        claim,
        frontier,
        topology,
        into: pull::reverse(program, topology).unwrap_or(topology),
    })
}

/// Whether shaders keep when each node was pushed onto a frontier last: one that has each node once in a round, or one
/// that a sweep may pull from.
pub fn is_stamped(program: &Program, id: FrontierId) -> bool {
    let pulls = |wave| pulling(program, wave).is_some_and(|of| of.frontier == id);
    program.frontiers[id.index()].unique || waves(program).any(pulls)
}

/// The fixpoints whose rounds are asked for in fixpoints inside them, in order.
pub fn outer_rounds(program: &Program) -> Vec<FixpointId> {
    let asked = program.kernels.iter().flat_map(|k| &k.uniforms);
    let mut outer: Vec<FixpointId> = asked
        .filter_map(|uniform| match uniform {
            Uniform::OuterRound(f) => Some(*f),
            _ => None,
        })
        .collect();
    outer.sort_unstable();
    outer.dedup();
    outer
}

/// The reductions that a wave updates.
pub fn reduced(program: &Program, wave: WaveId) -> BTreeSet<u16> {
    let kernel = program.waves[wave.index()].kernel;
    let words = program.kernels[kernel.index()].code.iter();
    let updates = words.filter(|w| effect(w) == Effect::Reduce);
    updates.map(|w| w.resource()).collect()
}

/// Words of an exact sum of f32 that is not rounded yet.
pub const EXACT_WORDS: u32 = 11;

/// Words of an invocation's part of a reduction.
pub fn part_words(reduction: &Reduction) -> u32 {
    match reduction.op {
        ReduceOp::ExactSum => EXACT_WORDS,
        ReduceOp::Sum | ReduceOp::Min | ReduceOp::Max | ReduceOp::Or | ReduceOp::And => {
            reduction.scalar.rows().into()
        }
    }
}

/// Words that an invocation has to tell its workgroup: a fault, and its part of each reduction.
pub fn record_words(program: &Program, wave: WaveId) -> u32 {
    let reductions = reduced(program, wave).into_iter();
    let words = reductions.map(|r| part_words(&program.reductions[usize::from(r)]));
    FAULT_WORDS + words.sum::<u32>()
}

/// A loop of a wave's items that the invocations of a workgroup share out: how many turns it has is the item's own, they
/// go in any order, and what they leave in rows is taken together by an operation of a reduction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedLoop {
    /// Pc of its `loop`.
    pub at: usize,
    /// Pc of its `endloop`.
    pub end: usize,
    /// The row with the turn's number.
    pub number: u8,
    /// The row that numbers stay below.
    pub below: u8,
    /// Rows that are live where it begins.
    pub kept: Rows,
    /// Rows that turns read and none of them writes.
    pub given: Vec<u8>,
    /// Rows that turns take values into.
    pub cells: Vec<SharedCell>,
}

/// A row, or two, that turns take values into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedCell {
    /// The row, or the low one.
    pub row: u8,
    /// How values are taken together.
    pub op: ReduceOp,
    /// What they are.
    pub scalar: Scalar,
}

impl SharedCell {
    /// Its rows, the low one first.
    pub fn rows(self) -> std::ops::Range<u8> {
        self.row..self.row + self.scalar.rows()
    }
}

impl SharedLoop {
    /// Words of what turns leave in rows.
    pub fn cell_words(&self) -> u32 {
        self.cells
            .iter()
            .map(|cell| u32::from(cell.scalar.rows()))
            .sum()
    }

    /// Words for each invocation by which turns are shared out: two for sums, the number of a turn, what turns are
    /// given, whether one failed, and what they leave, at the item and at the invocation.
    fn columns(&self) -> u32 {
        4 + self.given.len() as u32 + 2 * self.cell_words()
    }
}

/// The loop of a wave's items that is shared out: the first that can be.
pub fn shared_loop(program: &Program, wave: WaveId) -> Option<SharedLoop> {
    let of = &program.waves[wave.index()];
    if let Domain::EdgesFrom(..) | Domain::Once = of.domain {
        return None;
    }
    let kernel = &program.kernels[of.kernel.index()];
    let code = &kernel.code;
    let blocks = blocks(code);
    let outer = blocks
        .iter()
        .filter(|b| b.kind == BlockKind::Loop && b.depth == 0);
    let outer: Vec<usize> = outer.map(|b| b.at).collect();
    if outer.is_empty() {
        return None;
    }
    let live = live_in(code);
    // Every target has as much of a workgroup's memory.
    let most = Target::ALL
        .map(Target::workgroup_words)
        .into_iter()
        .min()
        .unwrap_or(0);
    loops(program, kernel).into_iter().find_map(|l| {
        let turns = l.turns.ok().filter(|_| outer.contains(&l.at))?;
        let rounds = turns.rounds && !is_open(program, wave);
        if rounds || !turns.exits.is_empty() || turns.below >= UNIFORM_BASE {
            return None;
        }
        let body = &code[l.at + 3..l.end - 1];
        let cells = turns
            .cells
            .iter()
            .map(|&(cell, how)| shared_cell(cell, how));
        let cells: Vec<SharedCell> = cells.collect::<Option<_>>()?;
        let mut own: Rows = cells.iter().flat_map(|cell| cell.rows()).collect();
        own.add(turns.number);
        let read = body
            .iter()
            .fold(Rows::NONE, |rows, word| rows.or(uses(word)));
        let shared = SharedLoop {
            at: l.at,
            end: l.end,
            number: turns.number,
            below: turns.below,
            kept: live[l.at],
            given: read.and(live[l.at + 3]).without(own).iter().collect(),
            cells,
        };
        let columns = shared.columns().max(record_words(program, wave));
        let words = workgroup_words(WORKGROUP, columns);
        (words <= most && stays(body) && keeps_apart(code, (l.at, l.end))).then_some(shared)
    })
}

/// How a cell's values are taken together, where a reduction does it so.
fn shared_cell(cell: Cell, how: Combine) -> Option<SharedCell> {
    let Combine::Take(op) = how else {
        return None;
    };
    let (op, scalar) = match op {
        Op::Add32 => (ReduceOp::Sum, Scalar::U32),
        Op::AddF32 => (ReduceOp::Sum, Scalar::F32),
        Op::MinU32 => (ReduceOp::Min, Scalar::U32),
        Op::MinI32 => (ReduceOp::Min, Scalar::I32),
        Op::MinF32 => (ReduceOp::Min, Scalar::F32),
        Op::MaxU32 => (ReduceOp::Max, Scalar::U32),
        Op::MaxI32 => (ReduceOp::Max, Scalar::I32),
        Op::MaxF32 => (ReduceOp::Max, Scalar::F32),
        Op::And32 => (ReduceOp::And, Scalar::U32),
        Op::Or32 => (ReduceOp::Or, Scalar::U32),
        Op::Add64 => (ReduceOp::Sum, Scalar::U64),
        Op::MinU64 => (ReduceOp::Min, Scalar::U64),
        Op::MinI64 => (ReduceOp::Min, Scalar::I64),
        Op::MaxU64 => (ReduceOp::Max, Scalar::U64),
        Op::MaxI64 => (ReduceOp::Max, Scalar::I64),
        Op::And64 => (ReduceOp::And, Scalar::U64),
        Op::Or64 => (ReduceOp::Or, Scalar::U64),
        _ => return None,
    };
    match (cell, scalar.rows()) {
        (Cell::Row(row), 1) | (Cell::Pair(row), 2) => Some(SharedCell { row, op, scalar }),
        _ => None,
    }
}

/// Whether a turn leaves no loop but those in it, and no row is part of a local array.
fn stays(body: &[Word]) -> bool {
    let mut depth = 0;
    body.iter().all(|word| {
        let row = op(word).row();
        match op(word) {
            Op::Loop => depth += 1,
            Op::EndLoop => depth -= 1,
            _ => {}
        }
        let leaves = row.imm == Imm::Depth && word.imm >= depth;
        !leaves && row.imm != Imm::Rows && !matches!(row.effect, Effect::End)
    })
}

/// Whether no buffer that the code of a loop changes is accessed outside of it, nor one that code outside changes in it:
/// other invocations see what one stores plainly behind the sweep alone.
fn keeps_apart(code: &[Word], (at, end): (usize, usize)) -> bool {
    let named = |words: &[Word], changes: bool| -> BTreeSet<u16> {
        let words = words
            .iter()
            .filter(|word| matches!(word.names(), Some(Resource::Buffer(_))));
        let words = words.filter(|word| !changes || effect(word).changes());
        words.map(|word| word.resource()).collect()
    };
    let outside = [&code[..at], &code[end..]].concat();
    let inside = &code[at..end];
    named(&outside, true).is_disjoint(&named(inside, false))
        && named(inside, true).is_disjoint(&named(&outside, false))
}

/// Invocations of a workgroup of so many that look for faults: each at as many of all as there are of them.
pub fn lookers(lanes: u32) -> u32 {
    lanes.isqrt()
}

/// Words that a workgroup of so many invocations shares: what those that look for faults found, one that all find
/// alike, and columns of a word for each.
fn workgroup_words(lanes: u32, columns: u32) -> u32 {
    lookers(lanes) + 1 + lanes * columns
}

/// The same of a wave's sweep. In the columns are what edges or turns are shared out by, then the records of
/// invocations.
pub fn sweep_words(program: &Program, wave: WaveId, lanes: u32) -> u32 {
    let columns = match program.waves[wave.index()].domain {
        Domain::EdgesFrom(..) => 4,
        _ => shared_loop(program, wave).map_or(0, |of| of.columns()),
    };
    workgroup_words(lanes, columns.max(record_words(program, wave)))
}

/// Whether a float's text says the same everywhere: naga refuses others as literals, or drivers may drop them.
pub fn is_plain(x: f32) -> bool {
    x.is_normal() || x.to_bits() == 0
}

/// Bits of floats that a shader needs and cannot have as a literal: those of constants that operations on floats take.
pub fn float_bits(program: &Program) -> BTreeSet<u32> {
    let mut found = BTreeSet::new();
    for kernel in &program.kernels {
        for word in &kernel.code {
            let op = Op::from_code(word.op).filter(|&op| takes_floats(op));
            let bytes = op.map(|op| sources(op, *word)).unwrap_or_default();
            for byte in bytes {
                let slot = byte.checked_sub(UNIFORM_BASE).map(usize::from);
                let uniform = slot.and_then(|slot| kernel.uniforms.get(slot));
                found.extend(match (byte, uniform) {
                    (IMM, _) => Some(word.imm),
                    (_, Some(Uniform::Constant(c))) => {
                        Some(program.constants[c.index()].bits as u32)
                    }
                    _ => None,
                });
            }
        }
    }
    found.retain(|&bits| !is_plain(f32::from_bits(bits)));
    found
}

/// Whether an operation takes its words as floats of 32 bits.
fn takes_floats(op: Op) -> bool {
    let name = op.row().mnemonic;
    name.ends_with(".f32") && !name.starts_with("atom.") && !name.starts_with("cvt.")
}

/// Operands of 32 bits that are read.
fn sources(op: Op, word: Word) -> Vec<u8> {
    let row = op.row();
    let mut bytes = Vec::new();
    bytes.extend((row.a == Slot::W).then_some(word.a));
    bytes.extend((row.b == Slot::W).then_some(word.b));
    if row.imm == Imm::Third && row.d == Slot::W {
        bytes.push(word.third());
    }
    bytes
}

/// The line of a plan about a target: how many of the waves and conditions it gets, and what the others need.
pub fn line(program: &Program, target: Target) -> String {
    let refusals = refusals(program, target);
    let refused: Vec<&Refusal> = (refusals.iter())
        .filter(|r| matches!(r.part, Part::Wave(_)))
        .collect();
    let all = program.waves.len();
    let got = all - refused.len();
    let mut needs: Vec<(&str, Vec<&str>)> = Vec::new();
    for refusal in &refusals {
        let need = refusal.why.short();
        match needs.iter_mut().find(|(known, _)| *known == need) {
            Some((_, names)) => names.push(&refusal.name),
            None => needs.push((need, vec![&refusal.name])),
        }
    }
    let mut line = format!("{target}: {got} of {all} waves");
    for (at, (need, names)) in needs.iter().enumerate() {
        let sign = if at == 0 { ';' } else { ',' };
        line += &match &names[..] {
            [rest @ .., last] if !rest.is_empty() => {
                format!("{sign} {} and {last} need {need}", rest.join(", "))
            }
            names => format!("{sign} {} needs {need}", names.concat()),
        };
    }
    line
}

/// The lines about all targets, and where the pass rounds floats, that targets do it in their own ways.
pub fn lines(program: &Program) -> String {
    let lines = Target::ALL.map(|target| line(program, target));
    let mut lines = lines.map(|line| format!("{line}\n")).concat();
    if rounds_floats(program) {
        lines += "floats are rounded as the target does it, so bits may differ there\n";
    }
    lines
}
