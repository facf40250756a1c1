//! Which scope flips a frontier, and which resets a reduction?
//!
//! Sweeps decide for a frontier, updates for a reduction. All of them lie directly in one scope, a fixpoint or the
//! graph itself, and that scope is the owner: a fixpoint flips and resets what it owns at the start of each of its
//! rounds, the graph only when a run begins. Where they lie in two scopes there is no owner, and the program is
//! refused: whichever scope one chose, a reader of the other would expect it to be there.
//!
//! ```text
//! graph            owns what is swept or updated here: it never flips, and resets once a run
//! ├─ wave
//! └─ fixpoint A    owns what is swept or updated here: a new side, a new value in each round of A
//!    ├─ wave
//!    └─ fixpoint B owns what is swept or updated here: in each round of B, the first of each entry included
//!       └─ wave
//! ```
//!
//! A condition asks for what its own fixpoint owns, or the graph, and for reductions of fixpoints around ([`may_ask`]),
//! which do not change while it runs. Anything else has just been flipped or reset.
//!
//! A frontier that is a list of nodes flips nowhere: the graph owns it, whoever sweeps it.
//!
//! This is the one definition: the macros call it with source places at hand, the verifier for bytecode.

use crate::vir0::module::{FixpointId, FrontierId, Mode, Program, Resource, WaveId};

/// Who owns a frontier or a reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// A fixpoint, or the graph itself, which is `None`: also where nothing decides.
    Scope(Option<FixpointId>),
    /// Two scopes decide: those of these waves, the first that decides and the first that does so elsewhere.
    Split(WaveId, WaveId),
}

/// The owners of a program, by id.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Owners {
    /// Of the frontiers.
    pub frontiers: Vec<Owner>,
    /// Of the reductions.
    pub reductions: Vec<Owner>,
}

/// The owners, from domains, accesses and places of the waves; the owners that the program states are not looked at.
/// Ids that do not exist decide nothing.
///
/// ```
/// use vyre_core::vir0::module::{Domain, Extent, FixpointId, FrontierId, KernelId, Program, Queue, Wave, WaveId};
/// use vyre_core::vir0::owner::{Owner, owners};
/// let sweep = |fixpoint| Wave {
///     name: "sweep".into(),
///     kernel: KernelId(0),
///     domain: Domain::Items(FrontierId(0)),
///     accesses: vec![],
///     fixpoint,
///     after: vec![],
/// };
/// let front = Queue {
///     name: "front".into(),
///     fields: vec![],
///     capacity: Extent::Nodes,
///     unique: true,
///     stays: false,
///     owner: None,
///     output: false,
///     reset: None,
/// };
/// let inside = Some(FixpointId(0));
/// let mut program = Program { frontiers: vec![front], waves: vec![sweep(inside)], ..Program::default() };
/// assert_eq!(owners(&program).frontiers, [Owner::Scope(inside)]);
/// program.waves.push(sweep(None));
/// assert_eq!(owners(&program).frontiers, [Owner::Split(WaveId(0), WaveId(1))]);
/// ```
pub fn owners(program: &Program) -> Owners {
    let mut frontiers: Vec<Option<WaveId>> = vec![None; program.frontiers.len()];
    let mut reductions = vec![None; program.reductions.len()];
    let mut owners = Owners {
        frontiers: vec![Owner::Scope(None); frontiers.len()],
        reductions: vec![Owner::Scope(None); reductions.len()],
    };
    for (w, wave) in (0..=u16::MAX).map(WaveId).zip(&program.waves) {
        let decides = |first: Option<&mut Option<WaveId>>, owner: Option<&mut Owner>| {
            let (Some(first), Some(owner)) = (first, owner) else {
                return;
            };
            match (*first, *owner) {
                (None, _) => (*first, *owner) = (Some(w), Owner::Scope(wave.fixpoint)),
                (Some(before), Owner::Scope(scope)) if scope != wave.fixpoint => {
                    *owner = Owner::Split(before, w);
                }
                (Some(_), Owner::Scope(_) | Owner::Split(..)) => {}
            }
        };
        let is_list = |f: &FrontierId| program.frontiers.get(f.index()).is_some_and(|f| f.stays);
        if let Some(f) = wave.domain.frontier().filter(|f| !is_list(f)) {
            let at = f.index();
            decides(frontiers.get_mut(at), owners.frontiers.get_mut(at));
        }
        for access in &wave.accesses {
            if let (Resource::Reduction(r), Mode::Update(_) | Mode::Write) =
                (access.resource, access.mode)
            {
                let at = r.index();
                decides(reductions.get_mut(at), owners.reductions.get_mut(at));
            }
        }
    }
    owners
}

/// Whether the condition of a fixpoint may ask for a frontier or a reduction of this owner. `is_around`: whether a
/// fixpoint is around this one.
pub fn may_ask(
    fixpoint: FixpointId,
    (resource, owner): (Resource, Option<FixpointId>),
    is_around: impl Fn(FixpointId) -> bool,
) -> bool {
    let Some(owner) = owner.filter(|&owner| owner != fixpoint) else {
        return true;
    };
    matches!(resource, Resource::Reduction(_)) && is_around(owner)
}
