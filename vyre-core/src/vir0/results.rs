//! Which results of a run are the same in every run: what is proven, what the author claims, and what is open.
//!
//! The class of a pass ([`Agreement`]) says it of all results together. Where it is open, the reasons name waves. What
//! such a wave changes is not proven; nor is what any wave changes that reads such a thing, or that has its rounds
//! counted by it. All else is. A pass says of the rest with `#[pass(same_result(..))]` what is the same all the same.
//!
//! ```
//! use vyre_core::vir0::results::{Standing, results};
//! use vyre_core::vir0::module::{Agreement, Buffer, Extent, Program, Role};
//! use vyre_core::vir0::scalar::Scalar;
//! let dist = Buffer {
//!     name: "dist".into(),
//!     scalar: Scalar::U32,
//!     extent: Extent::Nodes,
//!     role: Role::Output,
//!     init: None,
//!     reset: None,
//! };
//! let mut program = Program { buffers: vec![dist], agreement: Agreement::Bits, ..Program::default() };
//! assert_eq!(results(&program)[0].standing, Standing::Proven);
//! // Without a reason nobody has judged it.
//! program.agreement = Agreement::Open(vec![]);
//! assert_eq!(results(&program)[0].standing, Standing::Open);
//! ```

use super::isa::{Op, Word};
use super::module::{
    Agreement, BufferId, FixpointId, Mode, Program, ReduceOp, Reduction, ReductionId, Resource,
    Role, Wave, WaveId,
};
use super::scalar::Scalar;
use std::collections::BTreeSet;
use std::fmt;

/// A result of a run, and how far it is the same in every run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Given<'p> {
    /// The field.
    pub name: &'p str,
    /// An output, list or reduction; of elements that are structs the first of their buffers.
    pub resource: Resource,
    /// How far it is the same.
    pub standing: Standing<'p>,
}

/// Whether every run gives a result alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing<'p> {
    /// It is proven.
    Proven,
    /// It is not proven, and the author says so, for this reason.
    Claimed(&'p str),
    /// Neither.
    Open,
}

impl fmt::Display for Standing<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Standing::Proven => f.write_str("proven"),
            Standing::Claimed(why) => write!(f, "claimed ({why})"),
            Standing::Open => f.write_str("open"),
        }
    }
}

/// What a run gives back, field by field: outputs, then lists, then reductions.
pub fn results(program: &Program) -> Vec<Given<'_>> {
    let open = open(program, |_| true);
    let mut given: Vec<Given<'_>> = Vec::new();
    for resource in returned(program) {
        let name = program.field_of(resource);
        let mut claims = program.manifest.claims.iter();
        let claim = claims.find(|c| c.result == resource);
        let standing = match (open.contains(&resource), claim) {
            (false, _) => Standing::Proven,
            (true, Some(claim)) => Standing::Claimed(&claim.reason),
            (true, None) => Standing::Open,
        };
        // Elements that are structs have a buffer for each of their scalars.
        let same = |g: &&mut Given<'_>| {
            let buffers = matches!(
                (g.resource, resource),
                (Resource::Buffer(_), Resource::Buffer(_))
            );
            buffers && g.name == name
        };
        match given.iter_mut().find(same) {
            Some(first) => first.standing = weaker(first.standing, standing),
            None => given.push(Given {
                name,
                resource,
                standing,
            }),
        }
    }
    given
}

/// Whether each result is proven or claimed, so that it does not matter to results where a run is.
pub fn are_settled(program: &Program) -> bool {
    unsettled(program).is_none()
}

/// Whether something in it gives a float that is rounded, or approximate.
pub fn rounds_floats(program: &Program) -> bool {
    const ROUND: [&str; 10] = [
        "add", "sub", "mul", "div", "fma", "sqrt", "exp", "ln", "sin", "cos",
    ];
    let mut code = program.kernels.iter().flat_map(|kernel| &kernel.code);
    let rounds = |word: &Word| {
        let Some(op) = Op::from_code(word.op) else {
            return false;
        };
        let name = op.row().mnemonic;
        let name = name.strip_prefix("atom.").unwrap_or(name);
        let (what, of) = name.split_once('.').unwrap_or((name, ""));
        ROUND.contains(&what) && matches!(of, "f32" | "f64")
    };
    let mut reductions = program.reductions.iter();
    let sums =
        |r: &Reduction| r.op == ReduceOp::Sum && matches!(r.scalar, Scalar::F32 | Scalar::F64);
    code.any(rounds) || reductions.any(sums)
}

/// Results that are neither proven nor claimed, and what lets sessions change sides with them, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsettled {
    /// `dist and parent`.
    pub names: String,
    /// The switch, and the claim.
    pub switch: String,
}

impl Unsettled {
    /// What it costs that they are open.
    pub fn cost(&self) -> String {
        let Unsettled { names, switch } = self;
        format!(
            "{names} may differ, so a session of several backends stays where it began: {switch}"
        )
    }
}

/// The results that keep sessions on the side where they began; `None` where there are none.
pub fn unsettled(program: &Program) -> Option<Unsettled> {
    let Agreement::Open(_) = program.agreement else {
        return None;
    };
    let given = results(program);
    let open = given.iter().filter(|g| g.standing == Standing::Open);
    let open: Vec<&str> = open.map(|given| given.name).collect();
    let names = match open[..] {
        [] => return None,
        [one] => one.to_owned(),
        [.., last] => {
            let before = open[..open.len() - 1].join(", ");
            format!("{before} and {last}")
        }
    };
    // Of fused passes, each claims what is its own.
    let mut passes: Vec<(Option<&str>, Vec<String>)> = Vec::new();
    for name in &open {
        let (pass, field) = match name.split_once("::") {
            Some((pass, field)) => (Some(pass), field),
            None => (None, *name),
        };
        let claim = format!("{field} = \"why\"");
        match passes.iter_mut().find(|(of, _)| *of == pass) {
            Some((_, claims)) => claims.push(claim),
            None => passes.push((pass, vec![claim])),
        }
    }
    let claims = passes.iter().map(|(pass, claims)| {
        let claim = format!("`#[pass(same_result({}))]`", claims.join(", "));
        match pass {
            Some(pass) => format!("{claim} of `{pass}`"),
            None => claim,
        }
    });
    let claim = claims.collect::<Vec<_>>().join(" and ");
    let switch = match open.len() {
        1 => {
            format!("`set_side_changes(true)` or, if it is true, a claim, {claim}, lets it change")
        }
        _ => {
            format!("`set_side_changes(true)` or, if they are true, claims, {claim}, let it change")
        }
    };
    Some(Unsettled { names, switch })
}

fn weaker<'p>(a: Standing<'p>, b: Standing<'p>) -> Standing<'p> {
    match (a, b) {
        (Standing::Open, _) | (_, Standing::Open) => Standing::Open,
        (Standing::Claimed(_), _) => a,
        (Standing::Proven, _) => b,
    }
}

/// The outputs, returned lists and reductions.
fn returned(program: &Program) -> impl Iterator<Item = Resource> + '_ {
    let buffers = (0..).map(BufferId).zip(&program.buffers);
    let buffers = buffers.filter(|(_, b)| matches!(b.role, Role::Output | Role::InOut));
    let queues = program.queues().filter(|(_, q)| q.output);
    let reductions = (0..).map(ReductionId).zip(&program.reductions);
    let reductions = reductions.filter(|(_, r)| r.output);
    (buffers.map(|(id, _)| Resource::Buffer(id)))
        .chain(queues.map(|(id, _)| Resource::Queue(id)))
        .chain(reductions.map(|(id, _)| Resource::Reduction(id)))
}

/// What is not proven to be the same in every run, for the reasons that are about these waves. Without any reason at
/// all, everything.
pub fn open(program: &Program, of: impl Fn(WaveId) -> bool) -> BTreeSet<Resource> {
    let Agreement::Open(reasons) = &program.agreement else {
        return BTreeSet::new();
    };
    if reasons.is_empty() {
        return returned(program).collect();
    }
    spread(program, of).open
}

/// Whether all that a wave changes is open in any case, so that it may also be rounded in another order from run to
/// run.
pub fn is_open(program: &Program, wave: WaveId) -> bool {
    match &program.agreement {
        Agreement::Bits | Agreement::Result(_) => false,
        // Nobody has judged it.
        Agreement::Open(reasons) if reasons.is_empty() => true,
        Agreement::Open(_) => {
            let waves = spread(program, |_| true).waves;
            waves.get(wave.index()) == Some(&true)
        }
    }
}

/// Whether waves other than these have their say in results: one changes a result itself; or what flows into it and
/// these change as well; or what flows into it, by what is open.
pub fn is_shared(program: &Program, about: &[Resource], of: impl Fn(WaveId) -> bool) -> bool {
    let open = spread(program, |_| true).waves;
    let changed = |wave: &Wave| {
        let changed = wave.accesses.iter().filter(|a| a.mode != Mode::Read);
        changed.map(|a| a.resource).collect::<BTreeSet<_>>()
    };
    let waves = || (0..).map(WaveId).zip(&program.waves);
    let own: BTreeSet<Resource> = (waves().filter(|(id, _)| of(*id)))
        .flat_map(|(_, wave)| changed(wave))
        .collect();
    let flows = flows_into(program, about);
    let by_waves = waves().filter(|(id, _)| !of(*id)).any(|(id, wave)| {
        let changed = changed(wave);
        changed.iter().any(|r| {
            about.contains(r) || flows.contains(r) && (own.contains(r) || open[id.index()])
        })
    });
    let by_swaps = (0..)
        .map(FixpointId)
        .zip(&program.fixpoints)
        .any(|(id, f)| {
            let mut swapped = f.swaps.iter().flat_map(|&(a, b)| [a, b]);
            let is_other = waves().any(|(w, wave)| wave.fixpoint == Some(id) && !of(w));
            is_other && swapped.any(|b| flows.contains(&Resource::Buffer(b)))
        });
    by_waves || by_swaps
}

/// These, and everything that what they hold may depend on.
fn flows_into(program: &Program, about: &[Resource]) -> BTreeSet<Resource> {
    let mut flows: BTreeSet<Resource> = about.iter().copied().collect();
    loop {
        let before = flows.len();
        for wave in &program.waves {
            let mut accesses = wave.accesses.iter();
            if !accesses.any(|a| a.mode != Mode::Read && flows.contains(&a.resource)) {
                continue;
            }
            let read = wave.accesses.iter();
            let read = read.filter(|a| !matches!(a.mode, Mode::Update(_)));
            flows.extend(read.map(|a| a.resource));
            let mut scope = wave.fixpoint;
            while let Some(id) = scope {
                flows.extend(asked(program, id));
                scope = program.fixpoints[id.index()].parent;
            }
        }
        for (id, fixpoint) in (0..).map(FixpointId).zip(&program.fixpoints) {
            for &(a, b) in &fixpoint.swaps {
                let (a, b) = (Resource::Buffer(a), Resource::Buffer(b));
                if flows.contains(&a) || flows.contains(&b) {
                    flows.extend([a, b]);
                    flows.extend(asked(program, id));
                }
            }
        }
        if flows.len() == before {
            return flows;
        }
    }
}

/// What the condition of a fixpoint asks for.
fn asked(program: &Program, id: FixpointId) -> impl Iterator<Item = Resource> + '_ {
    let until = program.fixpoints[id.index()].until;
    let kernel = program.kernels.get(until.index());
    let uniforms = kernel.into_iter().flat_map(|k| &k.uniforms);
    uniforms.filter_map(|u| u.asks())
}

fn spread(program: &Program, of: impl Fn(WaveId) -> bool) -> Spread<'_> {
    let mut spread = Spread {
        program,
        open: BTreeSet::new(),
        waves: vec![false; program.waves.len()],
    };
    let reasons: &[_] = match &program.agreement {
        Agreement::Open(reasons) => reasons,
        Agreement::Bits | Agreement::Result(_) => &[],
    };
    for reason in reasons.iter().filter(|r| of(r.wave)) {
        spread.wave(reason.wave);
        // Of a fixpoint the reasons name one wave that sees an order; others may as well.
        let Some(fixpoint) = program
            .waves
            .get(reason.wave.index())
            .and_then(|w| w.fixpoint)
        else {
            continue;
        };
        for (id, wave) in (0..).map(WaveId).zip(&program.waves) {
            if wave.fixpoint == Some(fixpoint) {
                spread.wave(id);
            }
        }
        spread.swaps(fixpoint);
    }
    spread.finish();
    spread
}

struct Spread<'p> {
    program: &'p Program,
    open: BTreeSet<Resource>,
    /// Those whose changes are open.
    waves: Vec<bool>,
}

impl Spread<'_> {
    fn wave(&mut self, id: WaveId) {
        let Some(wave) = self.program.waves.get(id.index()) else {
            return;
        };
        self.waves[id.index()] = true;
        let changed = wave.accesses.iter().filter(|a| a.mode != Mode::Read);
        self.open.extend(changed.map(|a| a.resource));
    }

    /// Rounds of this fixpoint, or what it exchanges, are open.
    fn swaps(&mut self, id: FixpointId) {
        let swaps = &self.program.fixpoints[id.index()].swaps;
        let swapped = swaps.iter().flat_map(|&(a, b)| [a, b]);
        self.open.extend(swapped.map(Resource::Buffer));
    }

    /// Whether an open value decides how many rounds a fixpoint has.
    fn counts_rounds(&self, id: FixpointId) -> bool {
        asked(self.program, id).any(|r| self.open.contains(&r))
    }

    /// The fixpoint, or one around it.
    fn is_in(&self, mut at: Option<FixpointId>, fixpoint: FixpointId) -> bool {
        while let Some(id) = at {
            if id == fixpoint {
                return true;
            }
            at = self.program.fixpoints[id.index()].parent;
        }
        false
    }

    /// Until nothing more is open: what only updates something learns nothing of it.
    fn finish(&mut self) {
        let program = self.program;
        loop {
            let before = self.open.len();
            for (id, wave) in (0..).map(WaveId).zip(&program.waves) {
                let mut accesses = wave.accesses.iter();
                let reads = accesses
                    .any(|a| !matches!(a.mode, Mode::Update(_)) && self.open.contains(&a.resource));
                if reads && !self.waves[id.index()] {
                    self.wave(id);
                }
            }
            for (id, fixpoint) in (0..).map(FixpointId).zip(&program.fixpoints) {
                let is_open = |b: BufferId| self.open.contains(&Resource::Buffer(b));
                let exchanges = fixpoint
                    .swaps
                    .iter()
                    .any(|&(a, b)| is_open(a) != is_open(b));
                let counts = self.counts_rounds(id);
                if counts {
                    for (wave, declared) in (0..).map(WaveId).zip(&program.waves) {
                        if self.is_in(declared.fixpoint, id) {
                            self.wave(wave);
                        }
                    }
                    for (inner, declared) in (0..).map(FixpointId).zip(&program.fixpoints) {
                        if self.is_in(declared.parent, id) {
                            self.swaps(inner);
                        }
                    }
                }
                if counts || exchanges {
                    self.swaps(id);
                }
            }
            if self.open.len() == before {
                return;
            }
        }
    }
}
