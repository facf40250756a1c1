//! The plan of a pass as JSON: what a host without vyre needs to run its shaders. docs/PORTABLE.md explains each field.

use crate::Options;
use crate::layout::{Arena, Held, Layout, ParamOf, Term, length};
use crate::rounds::{Dispatch, Stretch, Word};
use serde_json::{Map, Value, json};
use vyre_core::plan::shaders::{Part, Refusal, Target, features, is_stamped, record_words};
use vyre_core::vir0::flow::effect;
use vyre_core::vir0::isa::Effect;
use vyre_core::vir0::module::{
    Domain, Extent, FixpointId, FrontierId, Program, ReductionId, Role, Step, TopologyId, Uniform,
    WaveId,
};
use vyre_core::vir0::scalar::Scalar;

/// The number of the form; a reader refuses others.
pub const VERSION: u32 = 3;

fn terms(program: &Program, length: &[Term]) -> Value {
    let term = |term: &Term| match term {
        Term::Number(n) => json!(n),
        Term::Nodes => json!("nodes"),
        Term::Edges(t) => json!({ "edges": program.topologies[usize::from(*t)].name }),
        Term::Scalar(s) => json!({ "scalar": program.scalars[usize::from(*s)].name }),
        Term::Op(op) => json!(op),
        Term::Words => json!("words"),
    };
    length.iter().map(term).collect()
}

/// 64 bits, as the two words of a shader.
fn bits(bits: u64) -> Value {
    json!([bits as u32, (bits >> 32) as u32])
}

fn names(scalars: &[Scalar]) -> Value {
    scalars.iter().map(|s| json!(s.name())).collect()
}

fn role(role: Role) -> &'static str {
    match role {
        Role::Topology => "topology",
        Role::Input => "input",
        Role::Output => "output",
        Role::Scratch => "scratch",
        Role::InOut => "inout",
    }
}

/// The plan of a pass for a target.
pub(crate) fn plan(
    program: &Program,
    layout: &Layout,
    (target, options): (Target, Options),
    refusals: &[Refusal],
    entries: Value,
) -> Value {
    let extent = |of: Extent| terms(program, &length(program, of));
    let fixpoint = |id: FixpointId| program.fixpoints[id.index()].name.clone();
    let owner = |id: Option<FixpointId>| id.map(fixpoint);
    let mut plan = Map::new();
    let mut set = |key: &str, value: Value| plan.insert(key.to_owned(), value);
    set("version", json!(VERSION));
    set("pass", json!(program.name));
    set("target", json!(target.name()));
    set("entries", entries);
    set("turns", json!(options.turns));
    set("needs", json!(features(program, target)));
    set("refused", refusals.iter().map(refusal).collect());
    let asked = layout.asked();
    let topologies = (0..).map(TopologyId).zip(&program.topologies);
    let topologies = topologies.map(|(id, t)| {
        let of = t.reverse_of;
        let of = of.map(|of| program.topologies[of.index()].name.clone());
        let is_asked = asked.contains(&id) && refusals.is_empty();
        let symmetric = is_asked.then(|| {
            let lopsided = &layout.control[layout.control(Held::Lopsided(id.0)) as usize].name;
            let entry = format!("{}_symmetric", layout.topology(id.0));
            json!({ "entry": entry, "unless": lopsided })
        });
        json!({ "name": t.name, "reverse_of": of, "symmetric": symmetric })
    });
    set("topologies", topologies.collect());
    let scalars = program.scalars.iter();
    let scalars = scalars.map(|s| json!({ "name": s.name, "type": s.scalar.name() }));
    set("scalars", scalars.collect());
    let buffers = program.buffers.iter().map(|b| {
        let init = b.init.map_or(0, |c| program.constants[c.index()].bits);
        let init = matches!(b.role, Role::Output | Role::Scratch).then(|| bits(init));
        json!({
            "name": b.name, "type": b.scalar.name(), "role": role(b.role), "len": extent(b.extent),
            "init": init,
        })
    });
    set("buffers", buffers.collect());
    let frontiers = (0..).map(FrontierId).zip(&program.frontiers);
    let frontiers = frontiers.map(|(id, f)| {
        json!({
            "name": f.name, "fields": names(&f.fields), "capacity": extent(f.capacity),
            "unique": f.unique, "owner": owner(f.owner),
            "stamped": is_stamped(program, id),
        })
    });
    set("frontiers", frontiers.collect());
    let lists = program.lists.iter().map(|l| {
        json!({
            "name": l.name, "fields": names(&l.fields), "capacity": extent(l.capacity),
            "output": l.output,
        })
    });
    set("lists", lists.collect());
    let reductions = program.reductions.iter().map(|r| {
        json!({ "name": r.name, "type": r.scalar.name(), "output": r.output, "owner": owner(r.owner) })
    });
    set("reductions", reductions.collect());
    set("bindings", bindings(layout));
    let places = layout.places.iter().map(|place| {
        json!({
            "name": place.name, "arena": place.arena.name(), "words": terms(program, &place.words),
        })
    });
    set("places", places.collect());
    let params = layout.params.iter().map(|param| {
        let of = match &param.of {
            ParamOf::Place(at) => json!({ "place": layout.places[*at].name }),
            ParamOf::Length(length) => json!({ "length": terms(program, length) }),
            ParamOf::Scalar(s, half) => {
                json!({ "scalar": program.scalars[usize::from(*s)].name, "half": half })
            }
            ParamOf::Degree(t) => json!({ "degree": program.topologies[usize::from(*t)].name }),
            ParamOf::Bits(bits) => json!({ "bits": bits }),
            ParamOf::Round => json!("round"),
            ParamOf::RoundOf(f) => json!({ "round": program.fixpoints[f.index()].name }),
            ParamOf::Turns => json!("turns"),
            ParamOf::Groups => json!("groups"),
            ParamOf::Pulls => json!("pulls"),
            ParamOf::Fill(at) => {
                json!(["fill at", "fill len", "fill words", "fill low", "fill high"][*at as usize])
            }
        };
        json!({ "name": param.name, "is": of })
    });
    set("params", params.collect());
    let control = layout.control.iter().map(|word| {
        let mut entry = json!({ "name": word.name });
        let of = match word.of {
            Held::Tail(f) => Some(("tail of", program.frontiers[usize::from(f)].name.clone())),
            Held::Len(f) => Some(("items of", program.frontiers[usize::from(f)].name.clone())),
            Held::ListTail(l) => Some(("tail of", program.lists[usize::from(l)].name.clone())),
            Held::ListLen(l) => Some(("items of", program.lists[usize::from(l)].name.clone())),
            Held::Total(r, half) => {
                entry["half"] = json!(half);
                Some(("reduction", program.reductions[usize::from(r)].name.clone()))
            }
            Held::Exact(..)
            | Held::Swept(_)
            | Held::Began(..)
            | Held::Faulted
            | Held::Edges(_)
            | Held::Explored(_)
            | Held::Lopsided(_)
            | Held::Status
            | Held::Verdict
            | Held::TrapWave
            | Held::Trap(_)
            | Held::Side(_)
            | Held::Epoch(_) => None,
        };
        if let Some((key, name)) = of {
            entry[key] = json!(name);
        }
        entry
    });
    set("control", control.collect());
    let waves = (0..program.waves.len() as u16).map(WaveId).map(|id| {
        let mut wave = wave(program, layout, id);
        let pulls = layout.pulling(id).filter(|_| refusals.is_empty());
        wave["pull"] = json!(pulls.map(|_| format!("{}_pull", layout.wave(id))));
        wave
    });
    set("waves", waves.collect());
    let stretches = Stretch::of(program).into_iter();
    let stretches: Vec<Stretch> = stretches.filter(|_| refusals.is_empty()).collect();
    let fixpoints = (0..program.fixpoints.len() as u16).map(|id| {
        let id = FixpointId(id);
        let f = &program.fixpoints[id.index()];
        let name = |b: vyre_core::vir0::module::BufferId| program.buffers[b.index()].name.clone();
        let swaps = f.swaps.iter().map(|&(a, b)| json!([name(a), name(b)]));
        let watched = program.kernels[f.until.index()].uniforms.iter();
        let of_rounds = stretches.iter().find(|round| round.fixpoint == Some(id));
        let narrow = of_rounds.filter(|round| round.narrow(program, options).is_some());
        let narrow = narrow.map(|round| format!("{}_narrow", layout.wave(round.groups[0].last())));
        let watched = watched.filter_map(|u| match u {
            Uniform::Reduction(ReductionId(r)) => {
                Some(json!(program.reductions[usize::from(*r)].name))
            }
            _ => None,
        });
        json!({
            "name": f.name, "begin": format!("{}_begin", layout.fixpoint(id)),
            "until": format!("{}_until", layout.fixpoint(id)),
            "condition": f.condition, "max_rounds": f.max_rounds, "parent": owner(f.parent),
            "swaps": swaps.collect::<Value>(), "watches": watched.collect::<Value>(),
            "faults": faults(program, f.until),
            "round": of_rounds.map(|r| parts(program, layout, r)),
            "narrow": narrow, "start": of_rounds.map(|_| format!("{}_start", layout.fixpoint(id))),
        })
    });
    set("fixpoints", fixpoints.collect());
    let straight = stretches.iter().filter(|of| of.fixpoint.is_none());
    let straight = straight
        .map(|of| json!({ "from": of.from, "to": of.to(), "parts": parts(program, layout, of) }));
    set("stretches", straight.collect());
    set(
        "dispatches",
        Word::ALL.iter().map(|(_, name)| json!(name)).collect(),
    );
    let step = |step: &Step| match *step {
        Step::Wave(w) => json!({ "wave": program.waves[w.index()].name }),
        Step::Barrier => json!("settle"),
        Step::Loop(f) => json!({ "loop": fixpoint(f) }),
        Step::Until(f) => json!({ "until": fixpoint(f) }),
        Step::End => json!("end"),
        Step::Each(f, _) => json!({ "each": fixpoint(f) }),
    };
    set("steps", program.schedule.iter().map(step).collect());
    Value::Object(plan)
}

/// What barrier groups dispatch that follow each other without the host.
fn parts(program: &Program, layout: &Layout, of: &Stretch) -> Value {
    let parts = of.dispatches(layout).into_iter().map(|part| {
        let wave = |id: WaveId| program.waves[id.index()].name.clone();
        match part.what {
            Dispatch::Pull(id) => {
                json!({ "pull": wave(id), "word": part.word, "block": part.block })
            }
            Dispatch::Sweep(id) => {
                json!({ "sweep": wave(id), "word": part.word, "block": part.block })
            }
            Dispatch::Close(id) => {
                json!({ "close": wave(id), "word": part.word, "block": part.block })
            }
            Dispatch::End(id) => json!({ "end": format!("{}_end", layout.wave(id)) }),
        }
    });
    parts.collect()
}

fn refusal(refusal: &Refusal) -> Value {
    let site = refusal.site.as_ref().map(ToString::to_string);
    let part = match refusal.part {
        Part::Wave(_) => "wave",
        Part::Until(_) => "until",
    };
    json!({ "part": part, "name": refusal.name, "at": site, "why": refusal.why.to_string() })
}

fn bindings(layout: &Layout) -> Value {
    let arenas = layout.arenas().map(|arena| {
        let access = if arena == Arena::Fixed {
            "read"
        } else {
            "read_write"
        };
        json!({ "name": arena.name(), "binding": arena.binding(), "access": access })
    });
    let uniform = json!({ "name": "params", "binding": 0, "access": "uniform" });
    let control = json!({
        "name": "control", "binding": Layout::CONTROL, "access": "read_write",
    });
    [uniform]
        .into_iter()
        .chain(arenas)
        .chain([control])
        .collect()
}

/// Words that can fault, and where they stand in the source.
fn faults(program: &Program, kernel: vyre_core::vir0::module::KernelId) -> Value {
    let sites = program.kernels[kernel.index()].sites.iter();
    let fault = sites.map(|&(pc, site)| {
        let at = program.sites.get(site.index()).map(ToString::to_string);
        json!({ "pc": pc, "at": at, "message": program.message(site) })
    });
    fault.collect()
}

fn wave(program: &Program, layout: &Layout, id: WaveId) -> Value {
    let wave = &program.waves[id.index()];
    let frontier = |f: u16| json!({ "items of": program.frontiers[usize::from(f)].name });
    let items = match wave.domain {
        Domain::Once => json!({ "length": [1] }),
        Domain::Range(extent) => json!({ "length": terms(program, &length(program, extent)) }),
        Domain::Nodes => json!({ "length": ["nodes"] }),
        Domain::Edges(t) => json!({ "length": terms(program, &[Term::Edges(t.0)]) }),
        Domain::Items(f) | Domain::EdgesFrom(_, f) => frontier(f.0),
        Domain::ListItems(l, _) => json!({ "items of": program.lists[l.index()].name }),
    };
    let record = record_words(program, id);
    let pushes = program.kernels[wave.kernel.index()].code.iter().enumerate();
    let mut first: Vec<(String, usize)> = Vec::new();
    for (pc, word) in pushes {
        let adds = matches!(effect(word), Effect::Push | Effect::Reserve);
        let Some(resource) = word.names().filter(|_| adds) else {
            continue;
        };
        let name = program.field_of(resource);
        if first.iter().all(|(known, _)| known != name) {
            first.push((name.to_owned(), pc));
        }
    }
    let pushes: Map<String, Value> = first.into_iter().map(|(n, pc)| (n, json!(pc))).collect();
    json!({
        "name": wave.name, "sweep": format!("{}_sweep", layout.wave(id)),
        "close": format!("{}_close", layout.wave(id)), "items": items, "record_words": record,
        "spreads": layout.spreads(wave.domain),
        "fixpoint": wave.fixpoint.map(|f| program.fixpoints[f.index()].name.clone()),
        "pushes": pushes, "faults": faults(program, wave.kernel),
    })
}
