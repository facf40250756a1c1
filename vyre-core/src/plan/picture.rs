//! The static plan as pictures: SVG for any browser, DOT for Graphviz, Mermaid for Markdown.
//!
//! The SVG has the waves in the order of the schedule on the left, by barrier group, fixpoints as frames around their
//! groups; on the right a column for each topology, buffer, frontier and reduction, with a mark where a wave uses it
//! and a bar over the groups in which it lives; then what lives in each group, in bytes.

use super::show::{
    Plan, Symbolic, accesses, describe, domain, parts_note, split_note, thousands, until,
};
use crate::plan::lives::Life;
use crate::vir0::disasm::class;
use crate::vir0::module::{
    FixpointId, Mode, NodeRef, Program, Resource, Role, Step, UpdateOp, WaveId,
};
use std::fmt::Write;

impl Plan {
    /// A picture without need of a viewer's plugins: waves by barrier group, what each reads and writes, what lives
    /// when.
    pub fn svg(&self) -> String {
        svg(&self.program())
    }

    /// The wave graph for Graphviz.
    pub fn dot(&self) -> String {
        dot(&self.program())
    }

    /// The wave graph for Mermaid.
    pub fn mermaid(&self) -> String {
        mermaid(&self.program())
    }
}

/// Width of a character of the 12-pixel monospaced font.
const CHAR: f64 = 7.25;
/// Height of a wave's line.
const LINE: f64 = 24.0;
/// Width of a resource's column.
const COLUMN: f64 = 30.0;
const MARGIN: f64 = 20.0;
/// Indentation of a fixpoint's inside.
const INDENT: f64 = 14.0;

/// What is drawn at a height.
enum Mark {
    /// A wave's line.
    Wave(WaveId),
    /// Barrier with its text, from the left edge of its depth.
    Barrier(String),
}

struct Placed {
    y: f64,
    depth: usize,
    mark: Mark,
}

/// Vertical layout of the schedule.
#[derive(Default)]
struct Layout {
    placed: Vec<Placed>,
    /// Top and bottom of each group.
    groups: Vec<(f64, f64, usize)>,
    /// Frame of each fixpoint: top, bottom, depth.
    frames: Vec<(FixpointId, f64, f64, usize)>,
    bottom: f64,
}

impl Layout {
    fn of(p: &Program, top: f64) -> Layout {
        let mut layout = Layout::default();
        let mut y = top;
        let mut open: Vec<(FixpointId, f64)> = Vec::new();
        let mut group: Option<f64> = None;
        for (at, step) in p.schedule.iter().enumerate() {
            let depth = open.len();
            let ends = !matches!(step, Step::Wave(_));
            if let (true, Some(from)) = (ends, group) {
                layout.groups.push((from, y + 6.0, depth));
                y += 6.0;
                group = None;
            }
            match *step {
                Step::Wave(w) => {
                    if group.is_none() {
                        y += 8.0;
                        group = Some(y);
                        y += 6.0;
                    }
                    let mark = Mark::Wave(w);
                    layout.placed.push(Placed { y, depth, mark });
                    y += LINE;
                }
                Step::Barrier => {
                    let mark = Mark::Barrier(format!("barrier{}", split_note(p, at)));
                    y += 10.0;
                    layout.placed.push(Placed { y, depth, mark });
                    y += 10.0;
                }
                Step::Loop(f) | Step::Each(f, _) => {
                    y += 10.0;
                    open.push((f, y));
                    y += LINE;
                }
                Step::Until(f) => {
                    let mark = Mark::Barrier(format!("barrier, {}", until(p, f)));
                    y += 14.0;
                    layout.placed.push(Placed { y, depth, mark });
                    y += 14.0;
                    if let Some((f, from)) = open.pop() {
                        layout.frames.push((f, from, y, open.len()));
                    }
                }
                Step::End => {}
            }
        }
        layout.bottom = y;
        layout
    }
}

/// Color of a resource's bar and name.
fn color(p: &Program, r: Resource) -> &'static str {
    match r {
        Resource::Topology(_) => "#57606a",
        Resource::Buffer(b) => match p.buffers[b.index()].role {
            Role::Topology => "#57606a",
            Role::Input => "#0969da",
            Role::Output | Role::InOut => "#1a7f37",
            Role::Scratch => "#9a6700",
        },
        Resource::Queue(_) => "#8250df",
        Resource::Reduction(_) => "#bf3989",
    }
}

/// The sign in a cell, its fill, and the color of the sign.
fn sign(mode: Mode) -> (&'static str, &'static str, &'static str) {
    match mode {
        Mode::Read => ("r", "#ffffff", "#24292f"),
        Mode::Write => ("w", "#cf222e", "#ffffff"),
        Mode::Update(op) => {
            let sign = match op {
                UpdateOp::Add => "+",
                UpdateOp::Min => "min",
                UpdateOp::Max => "max",
                UpdateOp::And => "and",
                UpdateOp::Or => "or",
                UpdateOp::Xor => "xor",
                UpdateOp::Push => "psh",
                UpdateOp::Append => "app",
                UpdateOp::Reduce => "red",
                UpdateOp::Insert => "ins",
            };
            (sign, "#ddf4ff", "#0550ae")
        }
    }
}

/// Text as XML.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            other => out.push(other),
        }
    }
    out
}

fn wide(text: &str) -> f64 {
    text.chars().count() as f64 * CHAR
}

/// An SVG in the making.
struct Canvas {
    body: String,
    width: f64,
}

impl Canvas {
    fn text(&mut self, (x, y): (f64, f64), style: &str, text: &str) {
        let _ = writeln!(
            self.body,
            r#"<text x="{x:.1}" y="{y:.1}" {style}>{}</text>"#,
            escaped(text)
        );
        self.width = self.width.max(x + wide(text));
    }

    fn rect(&mut self, (x, y): (f64, f64), (w, h): (f64, f64), style: &str) {
        let _ = writeln!(
            self.body,
            r#"<rect x="{x:.1}" y="{y:.1}" width="{w:.1}" height="{h:.1}" {style}/>"#
        );
        self.width = self.width.max(x + w);
    }

    fn line(&mut self, (x1, y1): (f64, f64), (x2, y2): (f64, f64), style: &str) {
        let _ = writeln!(
            self.body,
            r#"<line x1="{x1:.1}" y1="{y1:.1}" x2="{x2:.1}" y2="{y2:.1}" {style}/>"#
        );
    }
}

const GREY: &str = r##"fill="#57606a""##;

/// The plan as an SVG document.
pub fn svg(p: &Program) -> String {
    let sizes = Symbolic::of(p);
    // A title, then room for the names of the columns, which rise to the right.
    let names = sizes.items.iter().map(|&r| wide(p.name_of(r)));
    let header = names.fold(0.0, f64::max) * 0.72 + 24.0;
    let top = MARGIN + 48.0 + header;
    let layout = Layout::of(p, top);

    // Widths of the wave lines.
    let names = p.waves.iter().map(|w| wide(&w.name)).fold(0.0, f64::max);
    let domains: Vec<String> = p.waves.iter().map(|w| domain(p, w.domain)).collect();
    let domain_width = domains.iter().map(|d| wide(d)).fold(0.0, f64::max);
    let depth = layout.placed.iter().map(|m| m.depth).max().unwrap_or(0);
    let indent = depth as f64 * INDENT;
    let name_x = MARGIN + 34.0 + indent;
    let domain_x = name_x + names + 18.0;
    let code_x = domain_x + domain_width + 18.0;
    let mut left = code_x + wide("9999 words 99 registers") + 10.0 + indent;
    for m in &layout.placed {
        if let Mark::Barrier(text) = &m.mark {
            left = left.max(MARGIN + (m.depth as f64 + 1.0) * INDENT + wide(text) * 0.95 + 60.0);
        }
    }
    for (f, ..) in &layout.frames {
        left = left.max(MARGIN + indent + wide(&frame_title(p, *f)) + 40.0);
    }
    let matrix = left + 24.0;
    let bytes_x = matrix + COLUMN * sizes.items.len() as f64 + 16.0;

    let mut c = Canvas {
        body: String::new(),
        width: 0.0,
    };
    let heading = format!("{} ({})", p.manifest.id, class(p));
    c.text(
        (MARGIN, MARGIN + 12.0),
        r#"font-size="16" font-weight="bold""#,
        &heading,
    );
    c.text((MARGIN, MARGIN + 32.0), GREY, &p.manifest.title);

    // Frames first: everything else is drawn over them. Outer ones come last in the list.
    for (f, from, to, depth) in layout.frames.iter().rev() {
        let inset = *depth as f64 * INDENT;
        let size = (left - MARGIN - 2.0 * inset, to - from);
        let style =
            r##"rx="8" fill="#8250df" fill-opacity="0.06" stroke="#8250df" stroke-opacity="0.5""##;
        c.rect((MARGIN + inset, *from), size, style);
        let at = (MARGIN + inset + 12.0, from + 17.0);
        c.text(
            at,
            r##"font-weight="bold" fill="#6639ba""##,
            &frame_title(p, *f),
        );
    }
    for (g, (from, to, depth)) in layout.groups.iter().enumerate() {
        let inset = *depth as f64 * INDENT;
        let size = (left - MARGIN - 2.0 * inset - 12.0, to - from);
        let at = (MARGIN + inset + 6.0, *from);
        c.rect(at, size, r##"rx="5" fill="#ffffff" stroke="#d0d7de""##);
        let stripe = (bytes_x - matrix, to - from);
        c.rect((matrix - 8.0, *from), stripe, r##"rx="3" fill="#f6f8fa""##);
        let label = (MARGIN + inset + 11.0, from + 22.0);
        c.text(label, GREY, &g.to_string());
        let size = &sizes.group_sizes[g];
        c.text((bytes_x, (from + to) / 2.0 + 4.0), "", &size.to_string());
    }
    // Columns: name, life, then the marks over both.
    let whole = match (layout.groups.first(), layout.groups.last()) {
        (Some(first), Some(last)) => (first.0, last.1),
        _ => (top, top),
    };
    for (i, (&r, life)) in sizes.items.iter().zip(&sizes.lives).enumerate() {
        let x = matrix + COLUMN * i as f64 + COLUMN / 2.0;
        let color = color(p, r);
        let (y, name) = (top - 6.0, escaped(p.name_of(r)));
        let _ = writeln!(
            c.body,
            r#"<text transform="translate({x:.1} {y:.1}) rotate(-45)" fill="{color}">{name}</text>"#
        );
        c.width = c.width.max(x + wide(&name) * 0.75);
        let bar = match *life {
            Life::Run => Some((whole, "0.12")),
            Life::Groups { first, last } => {
                let first = layout.groups.get(first as usize).map_or(whole.0, |g| g.0);
                let last = layout.groups.get(last as usize).map_or(whole.1, |g| g.1);
                Some(((first, last), "0.30"))
            }
            Life::Never => None,
        };
        if let Some(((from, to), opacity)) = bar {
            let style = format!(r#"rx="3" fill="{color}" fill-opacity="{opacity}""#);
            c.rect((x - 5.0, from), (10.0, to - from), &style);
        }
    }
    for Placed { y, depth, mark } in &layout.placed {
        match mark {
            Mark::Barrier(text) => {
                let x = MARGIN + *depth as f64 * INDENT + 10.0;
                let style = r##"stroke="#cf222e" stroke-width="1" stroke-dasharray="5 4""##;
                let from = x + wide(text) * 0.95 + 10.0;
                c.line(
                    (from, *y),
                    (left - *depth as f64 * INDENT - 10.0, *y),
                    style,
                );
                let style = r##"font-size="11" fill="#cf222e""##;
                c.text((x, y + 4.0), style, text);
            }
            Mark::Wave(w) => {
                let wave = &p.waves[w.index()];
                let kernel = &p.kernels[wave.kernel.index()];
                let base = y + 16.0;
                c.text((name_x, base), r#"font-weight="bold""#, &wave.name);
                c.text((domain_x, base), "", &domains[w.index()]);
                let code = format!(
                    "{:>4} words {:>2} registers",
                    kernel.code.len(),
                    kernel.rows
                );
                c.text((code_x, base), GREY, &code);
                for a in &wave.accesses {
                    let Some(i) = sizes.items.iter().position(|&r| r == a.resource) else {
                        continue;
                    };
                    let x = matrix + COLUMN * i as f64 + COLUMN / 2.0;
                    let (text, fill, ink) = sign(a.shown());
                    let style = format!(r##"rx="4" fill="{fill}" stroke="#57606a""##);
                    c.rect((x - 13.0, y + 3.0), (26.0, 18.0), &style);
                    let style = format!(r#"font-size="10.5" text-anchor="middle" fill="{ink}""#);
                    c.text((x, base - 0.5), &style, text);
                }
            }
        }
    }
    let mut y = layout.bottom + 16.0;
    c.text((bytes_x, top - 6.0), GREY, "lives at once");
    let key = "r reads   w writes   psh pushes   red reduces   + min max and or xor: atomic updates   bars: when it lives";
    c.text((MARGIN, y), GREY, key);
    y += 28.0;
    let rows = sizes.items.iter().zip(&sizes.item_sizes);
    let rows: Vec<_> = rows
        .map(|(&r, size)| {
            let (kind, what) = describe(p, r);
            (
                r,
                [
                    kind.to_owned(),
                    p.name_of(r).to_owned(),
                    what,
                    size.to_string(),
                ],
            )
        })
        .collect();
    let width = |column: usize| {
        rows.iter()
            .map(|(_, row)| wide(&row[column]))
            .fold(0.0, f64::max)
    };
    let starts = [
        0.0,
        width(0) + 18.0,
        width(0) + width(1) + 36.0,
        width(0) + width(1) + width(2) + 54.0,
    ];
    for (r, row) in &rows {
        let fill = format!(r#"fill="{}""#, color(p, *r));
        for (column, (text, start)) in row.iter().zip(starts).enumerate() {
            let style = if column == 1 { fill.as_str() } else { "" };
            c.text((MARGIN + start, y), style, text);
        }
        y += 18.0;
    }
    let (width, height) = (c.width + MARGIN, y + MARGIN - 12.0);
    format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0}" height="{height:.0}" viewBox="0 0 {width:.0} {height:.0}">
<title>{}</title>
<rect width="100%" height="100%" fill="#ffffff"/>
<g font-family="ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="12" fill="#24292f" xml:space="preserve">
{}</g>
</svg>
"##,
        escaped(&heading),
        c.body
    )
}

fn frame_title(p: &Program, f: FixpointId) -> String {
    let x = &p.fixpoints[f.index()];
    format!(
        "fixpoint {}, at most {} rounds",
        x.name,
        thousands(x.max_rounds)
    )
}

/// Waves and groups with what holds them apart, for DOT and Mermaid.
struct Outline<'a> {
    p: &'a Program,
    out: String,
    depth: usize,
}

impl Outline<'_> {
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.out, "{}{text}", "    ".repeat(self.depth));
    }

    /// The last wave in a fixpoint, for an edge out of it, and the first, for one into it.
    fn wave_in(&self, f: FixpointId, last: bool) -> Option<WaveId> {
        let inside = |step: &Step| match *step {
            Step::Wave(w) => {
                let mut at = self.p.waves[w.index()].fixpoint;
                while at.is_some_and(|x| x != f) {
                    at = at.and_then(|x| self.p.fixpoints[x.index()].parent);
                }
                at.map(|_| w)
            }
            Step::Barrier | Step::Loop(_) | Step::Each(..) | Step::Until(_) | Step::End => None,
        };
        let mut waves = self.p.schedule.iter().filter_map(inside);
        if last {
            waves.next_back()
        } else {
            waves.next()
        }
    }

    /// Every `after`: what comes before, what comes after.
    fn edges(&self) -> Vec<(NodeRef, NodeRef)> {
        let waves = self.p.waves.iter().enumerate().flat_map(|(i, w)| {
            let this = NodeRef::Wave(WaveId(i as u16));
            w.after.iter().map(move |&before| (before, this))
        });
        let fixpoints = self.p.fixpoints.iter().enumerate().flat_map(|(i, f)| {
            let this = NodeRef::Fixpoint(FixpointId(i as u16));
            f.after.iter().map(move |&before| (before, this))
        });
        waves.chain(fixpoints).collect()
    }

    fn label(&self, w: WaveId, newline: &str) -> String {
        let wave = &self.p.waves[w.index()];
        let lines: Vec<String> = [wave.name.clone(), domain(self.p, wave.domain)]
            .into_iter()
            .chain(accesses(self.p, wave))
            .collect();
        lines.join(newline)
    }
}

/// The wave graph in Graphviz's language. A dashed box is a barrier group, a rounded one a fixpoint; arrows are
/// `after`.
pub fn dot(p: &Program) -> String {
    let mut o = Outline {
        p,
        out: String::new(),
        depth: 0,
    };
    let quoted = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
    o.line(&format!("digraph \"{}\" {{", quoted(&p.manifest.id)));
    o.depth = 1;
    o.line("graph [compound=true, fontname=\"monospace\"];");
    o.line("node [shape=box, fontname=\"monospace\", fontsize=10];");
    let mut group = 0;
    let mut open = false;
    for step in &p.schedule {
        if open && !matches!(step, Step::Wave(_)) {
            o.depth -= 1;
            o.line("}");
            open = false;
        }
        match *step {
            Step::Wave(w) => {
                if !open {
                    o.line(&format!("subgraph cluster_group{group} {{"));
                    o.depth += 1;
                    o.line(&format!(
                        "label=\"group {group}\"; style=dashed; color=gray;"
                    ));
                    (group, open) = (group + 1, true);
                }
                let label = quoted(&o.label(w, "\n")).replace('\n', "\\n");
                o.line(&format!("w{} [label=\"{label}\"];", w.0));
            }
            Step::Loop(f) | Step::Each(f, _) => {
                o.line(&format!("subgraph cluster_fixpoint{} {{", f.0));
                o.depth += 1;
                let x = &p.fixpoints[f.index()];
                let label = quoted(&format!(
                    "{}{}, until {}",
                    x.name,
                    parts_note(p, *step),
                    x.condition
                ));
                o.line(&format!("label=\"{label}\"; style=rounded; color=purple;"));
            }
            Step::Until(_) => {
                o.depth -= 1;
                o.line("}");
            }
            Step::Barrier | Step::End => {}
        }
    }
    for (before, after) in o.edges() {
        let mut ends = Vec::new();
        let mut side = |node: NodeRef, last: bool, key: &str| match node {
            NodeRef::Wave(w) => Some(w),
            NodeRef::Fixpoint(f) => {
                ends.push(format!("{key}=cluster_fixpoint{}", f.0));
                o.wave_in(f, last)
            }
        };
        let (from, to) = (side(before, true, "ltail"), side(after, false, "lhead"));
        if let (Some(from), Some(to)) = (from, to) {
            let ends = if ends.is_empty() {
                String::new()
            } else {
                format!(" [{}]", ends.join(", "))
            };
            o.line(&format!("w{} -> w{}{ends};", from.0, to.0));
        }
    }
    o.depth = 0;
    o.line("}");
    o.out
}

/// The wave graph as a Mermaid flowchart; boxes and arrows as in [`dot`].
pub fn mermaid(p: &Program) -> String {
    let mut o = Outline {
        p,
        out: String::new(),
        depth: 0,
    };
    let quoted = |text: &str| {
        text.replace('"', "#quot;")
            .replace('<', "#lt;")
            .replace('>', "#gt;")
    };
    o.line("flowchart TD");
    o.depth = 1;
    let mut group = 0;
    let mut open = false;
    for step in &p.schedule {
        if open && !matches!(step, Step::Wave(_)) {
            o.depth -= 1;
            o.line("end");
            open = false;
        }
        match *step {
            Step::Wave(w) => {
                if !open {
                    o.line(&format!("subgraph g{group} [\"group {group}\"]"));
                    o.depth += 1;
                    (group, open) = (group + 1, true);
                }
                let label = quoted(&o.label(w, "\n")).replace('\n', "<br/>");
                o.line(&format!("w{}[\"{label}\"]", w.0));
            }
            Step::Loop(f) | Step::Each(f, _) => {
                let x = &p.fixpoints[f.index()];
                let label = quoted(&format!(
                    "{}{}, until {}",
                    x.name,
                    parts_note(p, *step),
                    x.condition
                ));
                o.line(&format!("subgraph f{} [\"{label}\"]", f.0));
                o.depth += 1;
            }
            Step::Until(_) => {
                o.depth -= 1;
                o.line("end");
            }
            Step::Barrier | Step::End => {}
        }
    }
    let id = |node: NodeRef| match node {
        NodeRef::Wave(w) => format!("w{}", w.0),
        NodeRef::Fixpoint(f) => format!("f{}", f.0),
    };
    for (before, after) in o.edges() {
        o.line(&format!("{} --> {}", id(before), id(after)));
    }
    o.out
}
