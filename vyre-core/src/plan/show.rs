//! The static plan as text: what `println!("{}", bfs::PLAN)` shows. [`super::picture`] draws the same.
//!
//! Everything in it was decided at compile time; sizes are symbolic in nodes and edges.

use crate::plan::budget::{Backend, limits};
use crate::plan::footprint::{Target, Wide, wide};
use crate::plan::lives::Life;
use crate::plan::{check, pull, shaders};
use crate::vir0::disasm::class;
use crate::vir0::find::{self, Loop, loops};
use crate::vir0::fingerprint::Fingerprint;
use crate::vir0::flow::{effect, op};
use crate::vir0::isa::{Effect, Op, Word};
use crate::vir0::length::{Length, LengthOp, Term};
use crate::vir0::module::{
    Access, Agreement, BufferId, Domain, Extent, FixpointId, FrontierId, Kernel, LengthId,
    MAX_ROUNDS, Mode, Parts, Program, Proviso, Queue, QueueId, Reason, ReduceOp, Resource, Role,
    ScalarId, ScalarParam, Step, TopologyId, UpdateOp, Wave, WaveId, Why, Width, row_words,
};
use crate::vir0::results::{Standing, are_settled, results, unsettled};
use crate::vir0::scalar::Scalar;
use crate::vir0::sizes::Sizes;
use crate::vir0::trap::Site;
use std::fmt::{self, Write};

/// The plan of a pass, made at compile time.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    parts: Parts,
}

impl Plan {
    /// Called by the macros' expansion.
    pub const fn new(parts: Parts) -> Plan {
        Plan { parts }
    }

    /// The whole program: schedule, buffers, bytecode, manifest.
    pub fn program(&self) -> Program {
        self.parts
            .program()
            .expect("the macro verified the program it emitted")
    }

    /// How far runs agree, as the plan's first line says it: `same bits`, `same result` or `open result`.
    pub fn class(&self) -> &'static str {
        class(&self.program())
    }

    /// What measurements of this pass are bound to: the columns `program_hash` and `constants_hash` of an evidence
    /// file. `None` for a program that no macro made.
    pub fn fingerprint(&self) -> Option<Fingerprint> {
        Some(Fingerprint {
            program: self.program().manifest.program_hash?,
            constants: self.parts.constants_hash(),
        })
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&text(&self.program()))
    }
}

/// The plan of a program, as [`Plan`] shows it.
pub fn text(p: &Program) -> String {
    let mut out = String::new();
    show(p, &mut out).expect("a string takes everything");
    out
}

/// The widest list of accesses on one line.
const ACCESS_COLUMNS: usize = 56;

fn show(p: &Program, f: &mut String) -> fmt::Result {
    let means = match p.agreement {
        Agreement::Bits => "every run gives them, on every backend",
        Agreement::Result(ref fixpoints) if fixpoints.is_empty() => {
            "every run that ends gives it, on every backend; of several traps it is any one"
        }
        Agreement::Result(_) => {
            "every run that ends gives it, in rounds that may differ, on every backend"
        }
        Agreement::Open(_) if are_settled(p) => "not proven; what is open is claimed",
        Agreement::Open(_) => "it may differ from run to run",
    };
    writeln!(f, "pass {} ({}: {means})", p.manifest.id, class(p))?;
    if !p.manifest.title.is_empty() {
        // As a comment, so that it does not read as a reason for the class.
        writeln!(f, "  /// {}", p.manifest.title)?;
    }
    show_agreement(p, f)?;
    let sizes = Symbolic::of(p);
    writeln!(f, "\ndata")?;
    let mut table = Table::default();
    for s in &p.scalars {
        table.row(["  scalar", &s.name, s.scalar.name(), ""]);
    }
    for (item, size) in sizes.items.iter().zip(&sizes.item_sizes) {
        let (kind, what) = describe(p, *item);
        let (kind, size) = (format!("  {kind}"), size.to_string());
        table.row([&kind, p.name_of(*item), &what, &size]);
    }
    table.write(f)?;
    show_rooms(p, f)?;

    let groups = sizes.groups.len();
    let barriers = p
        .schedule
        .iter()
        .filter(|s| matches!(s, Step::Barrier | Step::Until(_)))
        .count();
    writeln!(
        f,
        "\nschedule: {}, {}",
        count(groups, "barrier group"),
        count(barriers, "barrier")
    )?;
    show_schedule(p, &sizes, f)?;
    let loops = loops_text(p);
    if !loops.is_empty() {
        write!(f, "\n{loops}")?;
    }
    show_memory(p, &sizes, f)?;
    writeln!(f, "\nshaders")?;
    for line in shaders::lines(p).lines() {
        writeln!(f, "  {line}")?;
    }
    Ok(())
}

/// Whether a loop looks for a tuple in the table of a relation, or for a key in an index: no loop of the user's, which
/// has numbered turns where it goes over tuples.
fn is_search(p: &Program, kernel: &Kernel, of: &Loop, all: &[Loop]) -> bool {
    let inside = |pc: usize| {
        all.iter()
            .any(|l| of.at < l.at && l.at <= pc && pc <= l.end && l.end < of.end)
    };
    let looks = |w: &Word| match op(w) {
        Op::AtomCas64 | Op::Ld64 => p.buffers[usize::from(w.resource())].is_table(),
        _ => false,
    };
    let mut words = kernel.code.iter().enumerate().take(of.end).skip(of.at);
    let numbered = !matches!(&of.turns, Err(kept) if kept.why == find::Why::NotNumbered);
    !numbered && words.any(|(pc, w)| looks(w) && !inside(pc))
}

/// The loops of bodies, a line each under a heading, or nothing where there are none: those whose turns can go in any
/// order may be shared out among lanes; of the others it says what keeps them in order.
pub fn loops_text(p: &Program) -> String {
    let mut table = Table::default();
    for wave in &p.waves {
        let kernel = &p.kernels[wave.kernel.index()];
        // A function with a loop is there once for each of its calls.
        let mut lines: Vec<(String, String, usize)> = Vec::new();
        let all = loops(p, kernel);
        for found in all
            .iter()
            .filter(|&found| !is_search(p, kernel, found, &all))
        {
            let site = found.site(p, kernel).map_or(String::new(), Site::to_string);
            let said = found.said(p);
            match lines.iter_mut().find(|l| l.0 == site && l.1 == said) {
                Some(same) if !site.is_empty() => same.2 += 1,
                _ => lines.push((site, said, 1)),
            }
        }
        for (site, said, copies) in lines {
            let said = match copies {
                1 => said,
                n => format!("{said} ({n} times)"),
            };
            table.row(["  loop", &wave.name, &site, &said]);
        }
    }
    let mut text = String::new();
    if !table.rows.is_empty() {
        text.push_str("loops\n");
        table
            .write(&mut text)
            .expect("writing to a string succeeds");
    }
    text
}

/// Why runs agree on the result, and as long as what; or why they need not.
fn show_agreement(p: &Program, f: &mut String) -> fmt::Result {
    let wave = |w: WaveId| &p.waves[w.index()].name;
    match &p.agreement {
        Agreement::Bits => Ok(()),
        Agreement::Result(fixpoints) => {
            for least in fixpoints {
                let name = &p.fixpoints[least.fixpoint.index()].name;
                let extreme = extreme(p, least.fixpoint);
                write!(
                    f,
                    "  {name} ends in the {extreme} fixpoint of monotone updates"
                )?;
                let mut before = " as long as";
                for proviso in &least.provisos {
                    match *proviso {
                        Proviso::NoWrap(w) => {
                            write!(
                                f,
                                "{before} no sum, difference or product in {} wraps",
                                wave(w)
                            )
                        }
                        Proviso::NoNan(w) => write!(f, "{before} nothing in {} is NaN", wave(w)),
                        Proviso::First(w, c, op) => {
                            let all = p.constants[c.index()].scalar;
                            write!(
                                f,
                                "{before} {} compares with what a {} of {} begins with",
                                wave(w),
                                reduce_name(op),
                                all.name()
                            )
                        }
                    }?;
                    before = " and";
                }
                writeln!(f)?;
            }
            Ok(())
        }
        Agreement::Open(reasons) => {
            for reason in blamed(p, reasons) {
                writeln!(f, "  {}", because(p, reason))?;
            }
            for given in results(p) {
                if let Standing::Claimed(why) = given.standing {
                    writeln!(f, "  claimed: every run gives {} alike: {why}", given.name)?;
                }
            }
            match unsettled(p) {
                Some(open) => writeln!(f, "  {}", open.cost()),
                None => Ok(()),
            }
        }
    }
}

/// The reasons, where an update that would be proven alone stands behind what ends the proof in another field.
fn blamed<'r>(p: &Program, reasons: &'r [Reason]) -> Vec<&'r Reason> {
    let fixpoint = |r: &Reason| p.waves[r.wave.index()].fixpoint;
    let mut all: Vec<&Reason> = reasons.iter().collect();
    for at in 1..all.len() {
        let (update, other) = (all[at - 1], all[at]);
        let elsewhere = other.resource.is_some() && other.resource != update.resource;
        if (update.why, other.why) == (Why::OldValue, Why::NotMonotone)
            && elsewhere
            && fixpoint(update) == fixpoint(other)
        {
            all.swap(at - 1, at);
        }
    }
    all
}

/// Which fixpoint it is in the order of the values: the greatest one where rows of bits only lose bits. A minimum goes
/// down too, but is commonly said to end in the least solution.
fn extreme(p: &Program, fixpoint: FixpointId) -> &'static str {
    let inside = p.waves.iter().filter(|w| w.fixpoint == Some(fixpoint));
    let all = inside.flat_map(|w| &p.kernels[w.kernel.index()].code);
    let (mut shrinks, mut moves) = (false, false);
    all.filter(|word| effect(word) == Effect::Update)
        .for_each(|word| match op(word) {
            Op::AtomAnd32 | Op::AtomAnd64 => shrinks = true,
            // The proof takes no other updates than these and those that go up or down.
            _ => moves = true,
        });
    match (shrinks, moves) {
        (true, false) => "greatest",
        _ => "least",
    }
}

/// Of a pass whose result is open, a line that says of each result that is not proven whether it is claimed; nothing of
/// other passes. Where a session is `alone` with one side, also what that would cost with several.
pub fn results_text(p: &Program, alone: bool) -> String {
    let Agreement::Open(_) = p.agreement else {
        return String::new();
    };
    let given = results(p).into_iter();
    let not_proven = given.filter(|given| given.standing != Standing::Proven);
    let each: Vec<String> = not_proven
        .map(|given| format!("{} {}", given.name, given.standing))
        .collect();
    let mut text = format!("result    {}", class(p));
    if !each.is_empty() {
        text += &format!(": {}", each.join(", "));
    }
    text.push('\n');
    if let (Some(open), true) = (unsettled(p), alone) {
        text += &format!("          {}\n", open.cost());
    }
    text
}

/// Why frontiers have room for fewer items than there are nodes and edges.
fn show_rooms(p: &Program, f: &mut String) -> fmt::Result {
    for (id, frontier) in (0..).map(FrontierId).zip(&p.frontiers) {
        let Extent::NodesTimes(_) = frontier.capacity else {
            continue;
        };
        let pushes = |w: &&Wave| {
            let mut own = w.accesses.iter();
            own.any(|a| a.resource == Resource::from(id) && a.mode != Mode::Read)
        };
        let waves: Vec<&str> = (p.waves.iter().filter(pushes))
            .map(|w| w.name.as_str())
            .collect();
        let (name, room) = (&frontier.name, extent(p, frontier.capacity));
        writeln!(
            f,
            "  {name} has room for {room}: each push of {} is for a node at most once between two flips, as the item \
             of a sweep, by a claim, or where a count is reached",
            waves.join(" and ")
        )?;
    }
    Ok(())
}

/// A reason, with the access and its place.
fn because(p: &Program, reason: &Reason) -> String {
    let said = reason.said(p);
    let place = reason.site.and_then(|s| p.sites.get(s.index()));
    match place {
        None => said,
        Some(site) => format!("{said} ({site})"),
    }
}

fn show_schedule(p: &Program, sizes: &Symbolic, f: &mut String) -> fmt::Result {
    let mut table = Table::default();
    let mut depth = 1;
    for (at, step) in p.schedule.iter().enumerate() {
        let indent = "  ".repeat(depth);
        match *step {
            Step::Wave(w) => show_wave(p, w, (sizes, &indent), &mut table),
            Step::Barrier => table.line(format!("{indent}--- barrier{}", split_note(p, at))),
            Step::Loop(x) | Step::Each(x, _) => {
                let fp = &p.fixpoints[x.index()];
                // The limit that holds where none was given says nothing where there is another.
                let most = match fp.max_rounds == MAX_ROUNDS && bounds_rounds(&fp.condition) {
                    true => String::new(),
                    false => format!(" (at most {} rounds)", thousands(fp.max_rounds)),
                };
                let parts = parts_note(p, *step);
                table.line(format!("{indent}fixpoint {}{parts}{most}", fp.name));
                depth += 1;
            }
            Step::Until(x) => {
                depth -= 1;
                table.line(format!(
                    "{}--- barrier, {}",
                    "  ".repeat(depth),
                    until(p, x)
                ));
            }
            Step::End => debug_assert_eq!(at + 1, p.schedule.len()),
        }
    }
    table.write(f)
}

/// Whether a condition holds after some round whatever the rounds do: one of its alternatives asks for the round alone.
fn bounds_rounds(condition: &str) -> bool {
    let words = |text: &str| -> Vec<String> {
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let words = text.split(|c| !is_part(c)).filter(|w| !w.is_empty());
        words.map(str::to_owned).collect()
    };
    let mut alternatives = condition.split("||");
    alternatives.any(|a| !a.contains("&&") && words(a).iter().any(|w| w == "round"))
}

/// Of a fixpoint that each part enters by itself, which parts.
pub(super) fn parts_note(p: &Program, step: Step) -> String {
    match step {
        Step::Each(_, bounds) => format!(" for each of `{}`", p.buffers[bounds.index()].name),
        _ => String::new(),
    }
}

/// A barrier that nothing but the budget asks for says so.
pub(super) fn split_note(p: &Program, at: usize) -> String {
    let Some(budget) = p.manifest.budget_bytes else {
        return String::new();
    };
    let mut without = p.clone();
    without.schedule.remove(at);
    if check::program(&without).is_empty() {
        format!(": the level is split to fit {}", bytes(budget))
    } else {
        String::new()
    }
}

fn show_wave(p: &Program, id: WaveId, (sizes, indent): (&Symbolic, &str), table: &mut Table) {
    let w = &p.waves[id.index()];
    let k = &p.kernels[w.kernel.index()];
    let group = sizes.groups.iter().position(|g| g.contains(&id));
    let name = format!("{indent}{} {}", group.unwrap_or(0), w.name);
    let mut lines = vec![String::new()];
    for verb in accesses(p, w) {
        let line = lines.last_mut().expect("there is one from the start");
        if line.is_empty() {
            *line = verb;
        } else if line.len() + verb.len() + 2 > ACCESS_COLUMNS {
            line.push(',');
            lines.push(verb);
        } else {
            *line += ", ";
            *line += &verb;
        }
    }
    if pull::claim(p, w).is_some() {
        lines.push("may pull: a claim of the destination".to_owned());
    }
    let size = format!("{:>3} words {:>2} registers", k.code.len(), k.rows);
    for (i, line) in lines.iter().enumerate() {
        if i == 0 {
            table.row([&name, &domain(p, w.domain), line, &size]);
        } else {
            table.row(["", "", line, ""]);
        }
    }
}

/// What happens at the end of a round.
pub(super) fn until(p: &Program, id: FixpointId) -> String {
    let x = &p.fixpoints[id.index()];
    let mut text = String::new();
    for (a, b) in &x.swaps {
        let (a, b) = (&p.buffers[a.index()].name, &p.buffers[b.index()].name);
        let _ = write!(text, "swap {a} and {b}, ");
    }
    let _ = write!(text, "next round of {}", x.name);
    if !x.condition.is_empty() {
        let _ = write!(text, " until {}", x.condition);
    }
    text
}

fn show_memory(p: &Program, sizes: &Symbolic, f: &mut String) -> fmt::Result {
    writeln!(f, "\nmemory")?;
    let mut table = Table::default();
    let at_limits = are_limited(p).then(|| wide(p, &limits(p), Target::Native).ok());
    let at_limits = at_limits.flatten();
    let concrete =
        |bytes: Option<u128>| bytes.map_or(String::new(), |b| format!("{} B", thousands(b)));
    let resident = at_limits.as_ref().map(|l| l.resident_bytes);
    table.row([
        "  whole run",
        &sizes.resident.to_string(),
        &concrete(resident),
    ]);
    for (i, (group, size)) in sizes.groups.iter().zip(&sizes.group_sizes).enumerate() {
        if *size == sizes.resident && sizes.group_sizes.iter().all(|s| s == size) {
            continue;
        }
        let waves: Vec<&str> = group
            .iter()
            .map(|w| p.waves[w.index()].name.as_str())
            .collect();
        let label = format!("  group {i}: {}", shortened(&waves));
        let live = at_limits.as_ref().map(|l| l.live_bytes[i]);
        table.row([&label, &size.to_string(), &concrete(live)]);
    }
    let ids = (0..p.fixpoints.len()).map(|f| FixpointId(f as u16));
    for (fixpoint, id) in p.fixpoints.iter().zip(ids) {
        let anew = |r: &Resource| matches!(r, Resource::Buffer(b) if p.buffers[b.index()].reset == Some(id));
        let filled = sizes.items.iter().zip(&sizes.item_sizes);
        let filled = filled.filter(|(r, _)| anew(r)).map(|(_, size)| size);
        if let Some(filled) = filled.cloned().reduce(Size::plus) {
            let label = format!("  filled each round of {}", fixpoint.name);
            let at_limits = at_limits.as_ref().map(|l| {
                let filled = l.items.iter().filter(|(r, ..)| anew(r));
                filled.map(|(_, bytes, _)| bytes).sum()
            });
            table.row([&label, &filled.to_string(), &concrete(at_limits)]);
        }
    }
    for (backend, size) in sizes.backends.iter().filter(|(b, _)| b.runs(p)) {
        let on = format!("  on {}", backend.name());
        table.row([&on, &size.to_string(), &most_of_session(p, *backend)]);
    }
    table.write(f)?;
    if let Some(budget) = p.manifest.budget_bytes {
        writeln!(f, "  budget {}", bytes(budget))?;
    }
    if let (None, None) = (p.manifest.max_nodes, p.manifest.max_edges) {
        return Ok(());
    }
    let limit = |n: Option<u64>, what| n.map(|n| format!("{} {what}", thousands(n)));
    let limits = [
        limit(p.manifest.max_nodes, "nodes"),
        limit(p.manifest.max_edges, "edges"),
    ];
    let limits: Vec<String> = limits.into_iter().flatten().collect();
    writeln!(f, "  limits {}", limits.join(", "))
}

/// All that is planned on a backend, nothing shared. On a device, lists of hubs and of lifted loops come to it, which
/// depend on a graph's shape.
fn all_planned(
    (given, p): (&Program, &Program),
    backend: Backend,
    sizes: &Sizes,
    wide: &Wide,
) -> u128 {
    let planned: u128 = wide.items.iter().map(|&(_, bytes, _)| bytes).sum();
    match backend {
        Backend::Native | Backend::Vir0 => planned,
        Backend::Device(device) => {
            let frontiers = (0u16..).zip(&p.frontiers);
            let capacity = |f: u16| match given.frontiers[usize::from(f)].capacity {
                times @ Extent::NodesTimes(_) => times,
                _ => p.frontiers[usize::from(f)].capacity,
            };
            let besides = |f| {
                let of = (FrontierId(f), capacity(f));
                device.besides(p, of, sizes).unwrap_or(u64::MAX)
            };
            planned + frontiers.map(|(f, _)| u128::from(besides(f))).sum::<u128>()
        }
    }
}

/// The most that a session takes on a backend within the limits, where memory is shared if that is less, and whether it
/// meets the budget.
fn most_of_session(p: &Program, backend: Backend) -> String {
    if !are_limited(p) {
        return String::new();
    }
    let Ok(takes) = backend.takes(p) else {
        return "more than 64 bits count".to_owned();
    };
    let mut text = format!("at most {} B", thousands(takes.separate_bytes));
    if takes.shared_bytes < takes.separate_bytes {
        let _ = write!(text, ", shared {} B", thousands(takes.shared_bytes));
    }
    let budget = p.manifest.budget_bytes;
    text += match budget.map(|budget| backend.fit(p, budget)) {
        None => "",
        Some(Ok(_)) => ": within the budget",
        Some(Err(_)) => ": over the budget",
    };
    text
}

/// Whether the limits say how large everything may be.
fn are_limited(p: &Program) -> bool {
    let manifest = &p.manifest;
    let edges = manifest.max_edges.is_some() || p.topologies.is_empty();
    manifest.max_nodes.is_some() && edges && limits(p).know(p)
}

/// A few names, and how many more.
fn shortened(names: &[&str]) -> String {
    match names {
        [a, b, c, d, more @ ..] if !more.is_empty() => {
            format!("{a}, {b}, {c}, {d} and {} more", more.len())
        }
        _ => names.join(", "),
    }
}

/// What a resource is: its kind, and its shape.
pub(super) fn describe(p: &Program, resource: Resource) -> (&'static str, String) {
    match resource {
        Resource::Topology(t) => (
            "topology",
            match p.topologies[t.index()].reverse_of {
                Some(of) => format!("CSR, reverse of {}", p.topologies[of.index()].name),
                None => "CSR".to_owned(),
            },
        ),
        Resource::Buffer(b) => {
            let b = &p.buffers[b.index()];
            let role = match b.role {
                Role::Topology => "topology",
                Role::Input => "input",
                Role::Output => "output",
                Role::Scratch => "scratch",
                Role::InOut => "in-out",
            };
            if let Extent::Bounds(_, of, drops) = b.extent {
                let dropped = if drops {
                    ", crossing edges left out"
                } else {
                    ""
                };
                let of = &p.topologies[of.index()].name;
                return (role, format!("parts of {of}{dropped}"));
            }
            let len = match (b.extent, extent(p, b.extent)) {
                (Extent::Computed(_), len) => format!("({len})"),
                (_, len) => len,
            };
            let anew = b.reset.map_or(String::new(), |f| {
                format!(", anew with {}", p.fixpoints[f.index()].name)
            });
            (role, format!("{} x {len}{anew}", b.scalar.name()))
        }
        Resource::Queue(q) => {
            let x = p.queue(q).expect("it exists");
            let n = extent(p, x.capacity);
            let names: Vec<&str> = x.fields.iter().map(|s| s.name()).collect();
            let of = match q {
                QueueId::List(_) => format!(" of {}", names.join(", ")),
                QueueId::Frontier(_) => String::new(),
            };
            let unique = if x.unique { ", unique" } else { "" };
            let word = match q {
                QueueId::Frontier(_) if x.stays => "list",
                q => p.word_of(q),
            };
            let begins = match x.stays {
                true => empty(p, x.reset),
                false => owner(p, x),
            };
            (word, format!("up to {n}{of}{unique}{begins}"))
        }
        Resource::Reduction(r) => {
            let r = &p.reductions[r.index()];
            let what = format!("{} of {}", reduce_name(r.op), r.scalar.name());
            ("reduction", what)
        }
    }
}

/// What a wave does to each field. Of a buffer of structs the field alone is named, where the wave does the same to
/// every scalar.
pub(super) fn accesses(p: &Program, wave: &Wave) -> Vec<String> {
    let mut said = Vec::new();
    for a in &wave.accesses {
        let field = p.field_of(a.resource);
        let of_field = |r: Resource| p.field_of(r) == field;
        let buffers = (0..p.buffers.len()).map(|b| Resource::Buffer(BufferId(b as u16)));
        let parts = buffers.filter(|&b| of_field(b)).count();
        let same = |other: &&Access| of_field(other.resource) && other.mode == a.mode;
        let whole = wave.accesses.iter().filter(same).count() == parts;
        let name = if whole {
            field
        } else {
            p.written_name_of(a.resource)
        };
        // The graph that it sweeps stands with its domain.
        if wave.domain.topology().map(Resource::Topology) == Some(a.resource) {
            continue;
        }
        // What is inserted into a relation stands with its table.
        if let Resource::Queue(QueueId::List(list)) = a.resource
            && let Some(table) = p.table_of(list)
            && (wave.accesses.iter())
                .any(|b| b.resource == Resource::Buffer(table) && b.mode != Mode::Read)
        {
            continue;
        }
        if let (Resource::Buffer(b), Mode::Write) = (a.resource, a.mode)
            && p.buffers[b.index()].is_table()
        {
            said.push(format!("inserts into {name}"));
            continue;
        }
        let text = access(name, a);
        said.extend(text.filter(|t| !said.contains(t)));
    }
    said
}

fn access(name: &str, a: &Access) -> Option<String> {
    let verb = match a.shown() {
        // The domain says that it is swept.
        Mode::Read if matches!(a.resource, Resource::Queue(QueueId::Frontier(_))) => return None,
        Mode::Read => "reads",
        Mode::Write => "writes",
        Mode::Update(op) => match op {
            UpdateOp::Add => "adds to",
            UpdateOp::Min => "lowers",
            UpdateOp::Max => "raises",
            UpdateOp::And => "ands",
            UpdateOp::Or => "ors",
            UpdateOp::Xor => "xors",
            UpdateOp::Push => "pushes",
            UpdateOp::Append => "appends to",
            UpdateOp::Reduce => "reduces",
            UpdateOp::Insert => "inserts into",
        },
    };
    Some(format!("{verb} {name}"))
}

pub(super) fn domain(p: &Program, d: Domain) -> String {
    d.written(|r| p.name_of(r).to_owned(), |e| extent(p, e))
}

fn extent(p: &Program, e: Extent) -> String {
    match e {
        Extent::Fixed(n) => thousands(n),
        Extent::Constant(c) => thousands(p.constants[c.index()].bits),
        Extent::Scalar(s) => p.scalars[s.index()].name.clone(),
        Extent::Nodes => "nodes".to_owned(),
        Extent::Edges(t) => edges_of(p, t),
        Extent::NodesPlusEdges => "(nodes + edges)".to_owned(),
        Extent::NodesTimes(1) => "nodes".to_owned(),
        Extent::NodesTimes(times) => format!("nodes x {times}"),
        Extent::Bounds(..) => "parts + 1".to_owned(),
        Extent::NodeBits(width) => match width {
            Width::Fixed(bits) => format!("nodes x {}", row_words(bits)),
            Width::Constant(c) => {
                format!("nodes x {}", row_words(p.constants[c.index()].bits as u32))
            }
            Width::Scalar(s) => format!("nodes x words({})", p.scalars[s.index()].name),
        },
        Extent::Computed(id) => p.written(id, |value| extent(p, value)),
    }
}

fn edges_of(p: &Program, t: TopologyId) -> String {
    if p.topologies.len() == 1 {
        "edges".to_owned()
    } else {
        format!("edges({})", p.topologies[t.index()].name)
    }
}

fn owner(p: &Program, x: &Queue) -> String {
    let flips = x.owner.map_or(String::new(), |f| {
        format!(", flips with {}", p.fixpoints[f.index()].name)
    });
    flips + &empty(p, x.reset)
}

fn empty(p: &Program, reset: Option<FixpointId>) -> String {
    reset.map_or(String::new(), |f| {
        format!(", empty with {}", p.fixpoints[f.index()].name)
    })
}

fn reduce_name(op: ReduceOp) -> &'static str {
    match op {
        ReduceOp::Sum => "sum",
        ReduceOp::Min => "min",
        ReduceOp::Max => "max",
        ReduceOp::Or => "or",
        ReduceOp::And => "and",
        ReduceOp::ExactSum => "exact_sum",
    }
}

/// Bytes as a sum of multiples: `16 B + 8 B x nodes`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Size {
    fixed: u128,
    /// Bytes for each of a named quantity.
    terms: Vec<(String, u128)>,
}

impl Size {
    fn plus(mut self, other: Size) -> Size {
        self.fixed += other.fixed;
        for (name, bytes) in other.terms {
            match self.terms.iter_mut().find(|(term, _)| *term == name) {
                Some((_, own)) => *own += bytes,
                None => self.terms.push((name, bytes)),
            }
        }
        self
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut plus = "";
        for (name, each) in &self.terms {
            write!(f, "{plus}{each} B x {name}")?;
            plus = " + ";
        }
        if self.fixed > 0 || self.terms.is_empty() {
            write!(f, "{plus}{} B", thousands(self.fixed))?;
        }
        Ok(())
    }
}

/// What the program takes, for any size: every figure of a footprint is a sum of multiples of nodes, edges, scalars and
/// computed lengths that are no such sums themselves, so it is found by asking for the footprint of nothing and of one of
/// each.
pub(super) struct Symbolic {
    pub(super) items: Vec<Resource>,
    pub(super) item_sizes: Vec<Size>,
    pub(super) lives: Vec<Life>,
    /// Waves of each group.
    pub(super) groups: Vec<Vec<WaveId>>,
    pub(super) group_sizes: Vec<Size>,
    pub(super) resident: Size,
    /// All that each backend takes for them.
    pub(super) backends: Vec<(Backend, Size)>,
}

impl Symbolic {
    pub(super) fn of(p: &Program) -> Symbolic {
        let (given, p) = (p, &with_quantities(p));
        let nothing = Sizes {
            nodes: 0,
            edges: vec![0; p.topologies.len()],
            scalars: vec![0; p.scalars.len()],
            ..Sizes::default()
        };
        let ask = |sizes: &Sizes| {
            let wide = wide(p, sizes, Target::Native).unwrap_or_default();
            let all = Backend::ALL.map(|b| all_planned((given, p), b, sizes, &wide));
            let all = all.to_vec();
            Probe { wide, all }
        };
        let none = ask(&nothing);
        let mut probes = vec![(
            "nodes".to_owned(),
            Sizes {
                nodes: 1,
                ..nothing.clone()
            },
        )];
        for t in (0..p.topologies.len()).filter(|&t| p.topologies[t].reverse_of.is_none()) {
            // A reverse has the edges of its original.
            let mut sizes = nothing.clone();
            for (i, other) in p.topologies.iter().enumerate() {
                let same = i == t || other.reverse_of == Some(TopologyId(t as u16));
                sizes.edges[i] = u64::from(same);
            }
            let given = p.topologies.iter().filter(|t| t.reverse_of.is_none());
            let name = match given.count() {
                1 => "edges".to_owned(),
                _ => edges_of(p, TopologyId(t as u16)),
            };
            probes.push((name, sizes));
        }
        // Rows of bits take nodes times words of a scalar; the rest is linear.
        for (s, scalar) in p.scalars.iter().enumerate() {
            let mut sizes = nothing.clone();
            sizes.scalars[s] = 1;
            probes.push((scalar.name.clone(), sizes.clone()));
            sizes.nodes = 1;
            probes.push((format!("nodes x words({})", scalar.name), sizes));
        }
        let probes: Vec<(String, Probe)> = probes
            .into_iter()
            .map(|(name, sizes)| (name, ask(&sizes)))
            .collect();
        let size = |of: &dyn Fn(&Probe) -> u128| Size {
            fixed: of(&none),
            terms: probes
                .iter()
                .map(|(name, probe)| {
                    let each = of(probe).saturating_sub(of(&none));
                    if !name.starts_with("nodes x ") {
                        return (name.clone(), each);
                    }
                    // What nodes and the scalar take each for itself is counted already.
                    let scalar = &name["nodes x words(".len()..name.len() - 1];
                    let alone = probes.iter().filter(|(n, _)| n == "nodes" || n == scalar);
                    let alone: u128 = alone.map(|(_, probe)| of(probe) - of(&none)).sum();
                    (name.clone(), each.saturating_sub(alone))
                })
                .filter(|(_, each)| *each > 0)
                .collect(),
        };
        let Wide { items, groups, .. } = &none.wide;
        Symbolic {
            items: items.iter().map(|i| i.0).collect(),
            item_sizes: (0..items.len())
                .map(|i| size(&|x| x.wide.items[i].1))
                .collect(),
            group_sizes: (0..groups.len())
                .map(|g| size(&|x| x.wide.live_bytes[g]))
                .collect(),
            resident: size(&|x| x.wide.resident_bytes),
            backends: (Backend::ALL.into_iter().enumerate())
                .map(|(b, backend)| (backend, size(&|x| x.all[b])))
                .collect(),
            lives: items.iter().map(|i| i.2).collect(),
            groups: groups.clone(),
        }
    }
}

/// The program with a scalar for each computed length that is no sum of multiples, and for the bounds of parts; and with
/// frontiers that take as much for each node as they can on any graph.
fn with_quantities(p: &Program) -> Program {
    let mut changed = p.clone();
    let mut named: Vec<(Extent, Extent)> = Vec::new();
    for (id, length) in (0..=u16::MAX).map(LengthId).zip(&p.lengths) {
        if !length.is_linear() {
            let (of, scalar) = (Extent::Computed(id), Scalar::U32);
            let name = format!("({})", extent(p, of));
            let stand_in = ScalarId(changed.scalars.len() as u16);
            named.push((of, Extent::Scalar(stand_in)));
            changed.scalars.push(ScalarParam { name, scalar });
        }
    }
    for buffer in &p.buffers {
        if let Extent::Bounds(..) = buffer.extent {
            let stand_in = ScalarId(changed.scalars.len() as u16);
            named.push((buffer.extent, Extent::Scalar(stand_in)));
            let (name, scalar) = (format!("({} + 1)", buffer.name), Scalar::U32);
            changed.scalars.push(ScalarParam { name, scalar });
        }
    }
    let buffers = changed.buffers.iter_mut().map(|b| &mut b.extent);
    let frontiers = changed.frontiers.iter_mut().map(|f| &mut f.capacity);
    let lists = changed.lists.iter_mut().map(|l| &mut l.capacity);
    for extent in buffers.chain(frontiers).chain(lists) {
        if let Some((_, to)) = named.iter().find(|(of, _)| of == extent) {
            *extent = *to;
        }
    }
    for frontier in &mut changed.frontiers {
        if let Extent::NodesTimes(times) = frontier.capacity {
            frontier.capacity = Extent::Computed(LengthId(changed.lengths.len() as u16));
            let times = Extent::Fixed(times.into());
            changed.lengths.push(Length {
                terms: vec![
                    Term::Value(Extent::Nodes),
                    Term::Value(times),
                    Term::Op(LengthOp::Mul),
                ],
            });
        }
    }
    changed
}

/// What a program takes at some sizes.
struct Probe {
    wide: Wide,
    /// By backend.
    all: Vec<u128>,
}

/// Lines of cells; each column is as wide as its widest cell, and the last is not padded.
#[derive(Default)]
struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    fn row<const N: usize>(&mut self, cells: [&str; N]) {
        self.rows
            .push(cells.iter().map(|c| (*c).to_owned()).collect());
    }

    /// A line between rows that has no columns.
    fn line(&mut self, text: String) {
        self.rows.push(vec![text]);
    }

    fn write(&self, f: &mut String) -> fmt::Result {
        let mut widths = Vec::new();
        for row in self.rows.iter().filter(|r| r.len() > 1) {
            widths.resize(widths.len().max(row.len()), 0);
            for (cell, width) in row.iter().zip(&mut widths) {
                *width = cell.chars().count().max(*width);
            }
        }
        for row in &self.rows {
            let mut line = String::new();
            for (cell, width) in row.iter().zip(&widths) {
                let _ = write!(line, "{cell:<width$}  ");
            }
            if row.len() == 1 {
                line.clone_from(&row[0]);
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// `4 GiB` where that is exact.
pub(super) fn bytes(n: u64) -> String {
    for (unit, shift) in [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)] {
        if n >= 1 << shift && n.trailing_zeros() >= shift {
            return format!("{} {unit}", thousands(n >> shift));
        }
    }
    format!("{} B", thousands(n))
}

pub(super) fn thousands(n: impl Into<u128>) -> String {
    let digits = n.into().to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push('_');
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vir0::isa::Word;
    use crate::vir0::module::{Domain, ItemRows, Kernel, KernelId, Wave};

    #[test]
    fn rows_of_bits_that_only_lose_bits_end_in_the_greatest_fixpoint() {
        let fixpoint = FixpointId(0);
        let of = |ops: &[Op]| {
            let word = |&op: &Op| Word {
                op: op as u8,
                ..Word::default()
            };
            let program = Program {
                kernels: vec![Kernel {
                    code: ops.iter().map(word).collect(),
                    name: String::new(),
                    rows: 1,
                    frames: 0,
                    item: ItemRows::default(),
                    uniforms: Vec::new(),
                    sites: Vec::new(),
                }],
                waves: vec![Wave {
                    name: String::new(),
                    kernel: KernelId(0),
                    domain: Domain::Nodes,
                    accesses: Vec::new(),
                    fixpoint: Some(fixpoint),
                    after: Vec::new(),
                }],
                ..Program::default()
            };
            extreme(&program, fixpoint)
        };
        let ands = [Op::AtomAnd32, Op::AtomAnd64];
        for &update in Op::ALL
            .iter()
            .filter(|op| op.row().effect == Effect::Update)
        {
            let alone = if ands.contains(&update) {
                "greatest"
            } else {
                "least"
            };
            assert_eq!(
                of(&[Op::AtomLd32, update, Op::Push, Op::Ret]),
                alone,
                "{update:?}"
            );
            let beside = of(&[Op::AtomAnd64, update]);
            assert_eq!(beside, alone, "{update:?}");
        }
        assert_eq!(of(&[Op::St32, Op::Ret]), "least");
    }
}
