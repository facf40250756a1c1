//! The static plan as text: what `println!("{}", bfs::PLAN)` shows.
//!
//! Everything in it was decided at compile time; sizes are symbolic in nodes and edges.

use crate::module::{
    Access, Domain, Extent, FixpointId, Frontier, Mode, Parts, Program, ReduceOp, Resource, Role,
    Step, TopologyId, UpdateOp, WaveId, Width, row_words,
};
use std::fmt;

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
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show(&self.program(), f)
    }
}

fn show(p: &Program, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let order = if p.order_free {
        "order-free: every backend gives the same bits"
    } else {
        "order-dependent: backends agree on the result"
    };
    writeln!(f, "pass {} ({order})", p.manifest.id)?;
    if !p.manifest.title.is_empty() {
        writeln!(f, "  {}", p.manifest.title)?;
    }
    writeln!(f, "\ndata")?;
    for t in &p.topologies {
        let what = match t.reverse_of {
            Some(of) => format!("CSR, reverse of {}", p.topologies[of.index()].name),
            None => "CSR, nodes + edges".to_owned(),
        };
        row(f, "topology", &t.name, &what, "4 B x (nodes + edges)")?;
    }
    for s in &p.scalars {
        row(f, "scalar", &s.name, s.scalar.name(), "")?;
    }
    for b in &p.buffers {
        let role = match b.role {
            Role::Topology => "topology",
            Role::Input => "input",
            Role::Output => "output",
            Role::Scratch => "scratch",
            Role::InOut => "in-out",
        };
        let n = extent(p, b.extent);
        row(
            f,
            role,
            &b.name,
            &format!("{} x {n}", b.scalar.name()),
            &bytes(b.scalar.size_bytes(), &n),
        )?;
    }
    for x in &p.frontiers {
        let n = extent(p, x.capacity);
        let unique = if x.unique { ", unique" } else { "" };
        row(
            f,
            "frontier",
            &x.name,
            &format!("up to {n}{unique}{}", owner(p, x)),
            &bytes(2 * x.item_bytes(), &n),
        )?;
    }
    for l in &p.lists {
        let n = extent(p, l.capacity);
        let names: Vec<&str> = l.fields.iter().map(|s| s.name()).collect();
        row(
            f,
            "list",
            &l.name,
            &format!("up to {n} of {}", names.join(", ")),
            &bytes(l.item_bytes(), &n),
        )?;
    }
    for r in &p.reductions {
        row(
            f,
            "reduction",
            &r.name,
            &format!("{} of {}", reduce_name(r.op), r.scalar.name()),
            "8 B",
        )?;
    }

    let groups = p
        .schedule
        .split(|s| !matches!(s, Step::Wave(_)))
        .filter(|g| !g.is_empty())
        .count();
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
    let mut depth = 1;
    for (i, step) in p.schedule.iter().enumerate() {
        let indent = "  ".repeat(depth);
        match *step {
            Step::Wave(w) => show_wave(p, w, &indent, f)?,
            Step::Barrier => writeln!(f, "{indent}--- barrier")?,
            Step::Loop(x) => {
                let fp = &p.fixpoints[x.index()];
                writeln!(
                    f,
                    "{indent}fixpoint {} (at most {} rounds)",
                    fp.name,
                    thousands(fp.max_rounds)
                )?;
                depth += 1;
            }
            Step::Until(x) => {
                depth -= 1;
                show_until(p, x, &"  ".repeat(depth), f)?;
            }
            Step::End => debug_assert_eq!(i + 1, p.schedule.len()),
        }
    }
    Ok(())
}

fn show_wave(p: &Program, id: WaveId, indent: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let w = &p.waves[id.index()];
    let k = &p.kernels[w.kernel.index()];
    write!(f, "{indent}{:<12} {:<28}", w.name, domain(p, w.domain))?;
    let verbs: Vec<String> = w.accesses.iter().filter_map(|a| access(p, a)).collect();
    writeln!(
        f,
        " {:<44} {:>3} words {:>2} rows",
        verbs.join(", "),
        k.code.len(),
        k.rows
    )
}

fn show_until(
    p: &Program,
    id: FixpointId,
    indent: &str,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    let x = &p.fixpoints[id.index()];
    write!(f, "{indent}--- barrier, next round of {}", x.name)?;
    for (a, b) in &x.swaps {
        write!(
            f,
            "; swap {} and {}",
            p.buffers[a.index()].name,
            p.buffers[b.index()].name
        )?;
    }
    writeln!(f)
}

fn access(p: &Program, a: &Access) -> Option<String> {
    let name = match a.resource {
        Resource::Topology(_) => return None,
        Resource::Buffer(b) => &p.buffers[b.index()].name,
        Resource::Frontier(x) => &p.frontiers[x.index()].name,
        Resource::Reduction(r) => &p.reductions[r.index()].name,
        Resource::List(l) => &p.lists[l.index()].name,
    };
    let verb = match a.mode {
        Mode::Read if matches!(a.resource, Resource::Frontier(_)) => return None,
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
        },
    };
    Some(format!("{verb} {name}"))
}

fn domain(p: &Program, d: Domain) -> String {
    let graph = |t: TopologyId| &p.topologies[t.index()].name;
    match d {
        Domain::Once => "once".to_owned(),
        Domain::Range(n) => format!("range({})", extent(p, n)),
        Domain::Nodes => "nodes".to_owned(),
        Domain::ListItems(l, false) => format!("items({})", p.lists[l.index()].name),
        Domain::ListItems(l, true) => format!("items({}, new)", p.lists[l.index()].name),
        Domain::Items(x) => format!("items({})", p.frontiers[x.index()].name),
        Domain::Edges(t) => format!("edges({})", graph(t)),
        Domain::EdgesFrom(t, x) => format!(
            "edges({}, from = {})",
            graph(t),
            p.frontiers[x.index()].name
        ),
    }
}

fn extent(p: &Program, e: Extent) -> String {
    match e {
        Extent::Fixed(n) => thousands(n),
        Extent::Constant(c) => thousands(p.constants[c.index()].bits),
        Extent::Scalar(s) => p.scalars[s.index()].name.clone(),
        Extent::Nodes => "nodes".to_owned(),
        Extent::Edges(t) if p.topologies.len() == 1 => {
            debug_assert_eq!(t.index(), 0);
            "edges".to_owned()
        }
        Extent::Edges(t) => format!("edges({})", p.topologies[t.index()].name),
        Extent::NodesPlusEdges => "nodes + edges".to_owned(),
        Extent::NodeBits(width) => match width {
            Width::Fixed(bits) => format!("nodes x {}", row_words(bits)),
            Width::Constant(c) => {
                format!("nodes x {}", row_words(p.constants[c.index()].bits as u32))
            }
            Width::Scalar(s) => format!("nodes x words({})", p.scalars[s.index()].name),
        },
    }
}

fn owner(p: &Program, x: &Frontier) -> String {
    x.owner.map_or(String::new(), |o| {
        format!(", flips with {}", p.fixpoints[o.index()].name)
    })
}

fn bytes(each: u64, n: &str) -> String {
    if n.contains(' ') {
        format!("{each} B x ({n})")
    } else {
        format!("{each} B x {n}")
    }
}

fn reduce_name(op: ReduceOp) -> &'static str {
    match op {
        ReduceOp::Sum => "sum",
        ReduceOp::Min => "min",
        ReduceOp::Max => "max",
        ReduceOp::Or => "or",
        ReduceOp::And => "and",
    }
}

fn row(f: &mut fmt::Formatter<'_>, kind: &str, name: &str, what: &str, size: &str) -> fmt::Result {
    writeln!(
        f,
        "{}",
        format!("  {kind:<10} {name:<12} {what:<40} {size:>24}").trim_end()
    )
}

fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push('_');
        }
        out.push(c);
    }
    out
}
