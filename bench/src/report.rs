//! What is left of a benchmark: CSV, JSON, Markdown tables, plots.

use super::workloads::Name;
use super::{Cell, Outcome, Place, Spread, Timing};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use serde_json::{Value, json};
use std::fmt::{self, Write as _};
use std::io::{self, Write};
use std::path::Path;
use vyre_examples::cli::{count, plural};

/// Where it ran.
#[derive(Clone, Debug, PartialEq)]
pub struct Host {
    /// Model of the CPU, where the system says so.
    pub cpu: Option<String>,
    /// Threads of the parallel rivals.
    pub threads: usize,
    /// Processes that wanted to run in the minute before, on average, where the system says so.
    pub load: Option<f64>,
    /// The GPU, or why there is none.
    pub gpu: Result<String, String>,
}

impl Host {
    /// This machine now.
    pub fn here() -> Host {
        let load = std::fs::read_to_string("/proc/loadavg").ok();
        let gpu = vyre::Runtime::cuda();
        Host {
            cpu: cpu_name(),
            threads: rayon::current_num_threads(),
            load: load.and_then(|text| text.split(' ').next()?.parse().ok()),
            gpu: gpu.map(|r| r.device()).map_err(|e| e.to_string()),
        }
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cpu = self.cpu.as_deref().unwrap_or("an unknown CPU");
        write!(f, "{cpu}, {} threads", self.threads)?;
        // Then wall times say more about the others.
        if let Some(load) = self.load.filter(|&load| load > 0.5) {
            write!(f, " that others use too (load {load:.1})")?;
        }
        match &self.gpu {
            Ok(gpu) => write!(f, "; {gpu}"),
            Err(_) => write!(f, "; no GPU"),
        }
    }
}

/// Model of the CPU, where the system says so.
fn cpu_name() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|l| l.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// All cells, in the order of workloads and rivals.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Where it ran.
    pub host: Host,
    /// Items and edges of each workload that ran, and whether its times are those of a round.
    pub sizes: Vec<(Name, (usize, usize), bool)>,
    /// The cells.
    pub cells: Vec<Cell>,
}

impl Cell {
    /// The times, where every result was right.
    pub fn timing(&self) -> Option<&Timing> {
        match &self.outcome {
            Outcome::Measured(timing) => Some(timing),
            Outcome::Skipped(_) | Outcome::Failed(_) => None,
        }
    }

    /// Its time by a clock, median: none by the device's where it has none.
    fn ns(&self, clock: Clock) -> Option<f64> {
        let timing = self.timing()?;
        match clock {
            Clock::Wall => Some(timing.wall.median_ns),
            Clock::Device => Some(timing.device?.median_ns),
        }
    }
}

/// What a time is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Clock {
    /// The call: from what a run takes on the host to the result there.
    Wall,
    /// What the device did, between two of its events.
    Device,
}

impl Clock {
    fn name(self) -> &'static str {
        match self {
            Clock::Wall => "wall",
            Clock::Device => "device",
        }
    }
}

/// A cell with its time, in nanoseconds.
type Timed<'t> = (&'t Cell, f64);

/// By what vyre is compared with rivals: a GPU by both clocks.
const COMPARED: [(Place, Clock); 3] = [
    (Place::Cpu, Clock::Wall),
    (Place::Gpu, Clock::Device),
    (Place::Gpu, Clock::Wall),
];

/// A time in three digits and a unit.
pub(crate) fn show(ns: f64) -> String {
    vyre_examples::cli::time(std::time::Duration::from_nanos(ns as u64))
}

/// What came of a cell, in a line.
pub fn line(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Skipped(why) => format!("skipped: {why}"),
        Outcome::Failed(why) => format!("FAILED: {why}"),
        Outcome::Measured(t) => {
            let mut text = show(t.wall.median_ns);
            if t.cold {
                text += " (one cold run)";
            } else {
                let (least, most) = (show(t.wall.least_ns), show(t.wall.most_ns));
                let _ = write!(
                    text,
                    " ({least} to {most}, {} {})",
                    t.runs,
                    plural(t.runs as u64, "run")
                );
            }
            if let Some(device) = t.device {
                let _ = write!(text, "; device {}", show(device.median_ns));
            }
            if let Some(rounds) = t.rounds {
                let _ = write!(text, "; {} rounds", count(rounds));
            }
            text
        }
    }
}

impl Spread {
    /// All five.
    pub(crate) fn json(self) -> Value {
        json!({
            "min": self.least_ns, "q1": self.lower_ns, "median": self.median_ns, "q3": self.upper_ns,
            "max": self.most_ns,
        })
    }
}

impl Table {
    /// Nothing was measured yet.
    pub fn new(host: Host) -> Table {
        Table {
            host,
            sizes: Vec::new(),
            cells: Vec::new(),
        }
    }

    /// Cells that failed or gave wrong results.
    pub fn failed(&self) -> usize {
        self.cells
            .iter()
            .filter(|c| matches!(c.outcome, Outcome::Failed(_)))
            .count()
    }

    fn of(&self, name: Name) -> impl Iterator<Item = &Cell> {
        self.cells.iter().filter(move |c| c.workload == name)
    }

    /// The fastest of some cells by a clock.
    fn best<'t>(clock: Clock, cells: impl Iterator<Item = &'t Cell>) -> Option<Timed<'t>> {
        let timed = cells.filter_map(|c| Some((c, c.ns(clock)?)));
        timed.min_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// A cell's time by the best of the workload's by the same clock, its own included.
    fn ratio(&self, cell: &Cell, clock: Clock) -> Option<f64> {
        let (_, best) = Table::best(clock, self.of(cell.workload))?;
        Some(cell.ns(clock)? / best)
    }

    /// Of a workload that ran: the fastest of vyre's backends at a place by a clock, and the fastest rival there.
    fn compared(&self, name: Name, (at, clock): (Place, Clock)) -> Option<(Timed<'_>, Timed<'_>)> {
        let here = |ours| {
            self.of(name)
                .filter(move |c| c.place == at && c.ours == ours)
        };
        Table::best(clock, here(true)).zip(Table::best(clock, here(false)))
    }

    /// One line a cell, skipped ones too; times in nanoseconds.
    pub fn csv(&self, to: &mut dyn Write) -> io::Result<()> {
        let mut csv = csv::Writer::from_writer(to);
        csv.write_record([
            "workload",
            "items",
            "edges",
            "per",
            "rival",
            "ours",
            "place",
            "outcome",
            "runs",
            "cold",
            "rounds",
            "wall_min_ns",
            "wall_q1_ns",
            "wall_median_ns",
            "wall_q3_ns",
            "wall_max_ns",
            "device_min_ns",
            "device_q1_ns",
            "device_median_ns",
            "device_q3_ns",
            "device_max_ns",
            "wall_ratio",
            "device_ratio",
            "note",
        ])?;
        for cell in &self.cells {
            let sizes = self.sizes.iter().find(|s| s.0 == cell.workload);
            let (outcome, note) = match &cell.outcome {
                Outcome::Measured(_) => ("measured", ""),
                Outcome::Skipped(why) => ("skipped", why.as_str()),
                Outcome::Failed(why) => ("failed", why.as_str()),
            };
            let mut record = vec![
                cell.workload.to_string(),
                sizes.map_or_else(String::new, |s| s.1.0.to_string()),
                sizes.map_or_else(String::new, |s| s.1.1.to_string()),
                sizes
                    .map_or("", |s| if s.2 { "round" } else { "run" })
                    .into(),
                cell.rival.into(),
                cell.ours.to_string(),
                place(cell.place).into(),
                outcome.into(),
            ];
            let timing = cell.timing();
            let spread = |s: Option<Spread>| -> [String; 5] {
                let ns = |x: f64| format!("{x:.0}");
                s.map(|s| [s.least_ns, s.lower_ns, s.median_ns, s.upper_ns, s.most_ns].map(ns))
                    .unwrap_or_default()
            };
            record.push(timing.map_or_else(String::new, |t| t.runs.to_string()));
            record.push(timing.map_or_else(String::new, |t| t.cold.to_string()));
            record.push(
                timing
                    .and_then(|t| t.rounds)
                    .map_or_else(String::new, |r| r.to_string()),
            );
            record.extend(spread(timing.map(|t| t.wall)));
            record.extend(spread(timing.and_then(|t| t.device)));
            for clock in [Clock::Wall, Clock::Device] {
                let ratio = self.ratio(cell, clock);
                record.push(ratio.map_or_else(String::new, |r| format!("{r:.4}")));
            }
            record.push(note.into());
            csv.write_record(record)?;
        }
        csv.flush()
    }

    /// The host and all cells.
    pub fn json(&self) -> Value {
        let cells = self.cells.iter().map(|cell| {
            let mut object = json!({
                "workload": cell.workload.to_string(), "rival": cell.rival, "ours": cell.ours,
                "place": place(cell.place),
            });
            match &cell.outcome {
                Outcome::Measured(t) => {
                    object["runs"] = t.runs.into();
                    object["cold"] = t.cold.into();
                    object["rounds"] = t.rounds.into();
                    object["wall_ns"] = t.wall.json();
                    object["device_ns"] = t.device.map_or(Value::Null, Spread::json);
                    object["wall_ratio"] = self.ratio(cell, Clock::Wall).into();
                    object["device_ratio"] = self.ratio(cell, Clock::Device).into();
                }
                Outcome::Skipped(why) => object["skipped"] = why.as_str().into(),
                Outcome::Failed(why) => object["failed"] = why.as_str().into(),
            }
            object
        });
        json!({
            "cpu": self.host.cpu, "threads": self.host.threads, "load": self.host.load,
            "gpu": self.host.gpu.as_ref().ok(), "no_gpu": self.host.gpu.as_ref().err(),
            "cells": cells.collect::<Vec<_>>(),
        })
    }

    /// Wins and losses first, then a table a workload.
    pub fn markdown(&self) -> String {
        let mut text = String::new();
        self.write_markdown(&mut text)
            .expect("a string takes everything");
        text
    }

    fn write_markdown(&self, to: &mut String) -> fmt::Result {
        writeln!(to, "# Benchmark\n")?;
        writeln!(to, "On {}.", self.host)?;
        if let Err(why) = &self.host.gpu {
            writeln!(
                to,
                "GPU rivals and the `cuda` backend were left out: {why}."
            )?;
        }
        writeln!(
            to,
            "Medians of warm runs in one process; every result was checked. Ratios above 1 are slower than the best.\n"
        )?;
        writeln!(to, "## vyre by the best rival\n")?;
        writeln!(
            to,
            "Below 1 vyre is faster. Wall: the call, from what a run takes on the host to the result in ordinary memory there. \
             Device: between two events on the device, without copies. Each row names the rival that is best by its clock.\n"
        )?;
        writeln!(
            to,
            "| workload | where | clock | vyre | best rival | ratio | |\n| --- | --- | --- | ---: | ---: | ---: | --- |"
        )?;
        let mut lost = [(0, 0); COMPARED.len()];
        for &(name, ..) in &self.sizes {
            for (i, &by) in COMPARED.iter().enumerate() {
                let Some(((our, our_ns), (rival, rival_ns))) = self.compared(name, by) else {
                    continue;
                };
                let ratio = our_ns / rival_ns;
                lost[i].0 += u32::from(ratio > 1.0);
                lost[i].1 += 1;
                writeln!(
                    to,
                    "| {name} | {} | {} | {} {} | {} {} | {ratio:.2} | {} |",
                    place(by.0),
                    by.1.name(),
                    our.rival,
                    show(our_ns),
                    rival.rival,
                    show(rival_ns),
                    if ratio <= 1.0 { "wins" } else { "**loses**" },
                )?;
            }
        }
        let lost = COMPARED.iter().zip(lost).filter(|(_, (_, of))| *of > 0);
        let lost = lost.map(|(&(at, clock), (lost, of))| {
            format!(
                "{lost} of {of} by {} time on the {}",
                clock.name(),
                place(at)
            )
        });
        let lost: Vec<String> = lost.collect();
        if !lost.is_empty() {
            writeln!(to, "\nLost: {}.", lost.join(", "))?;
        }
        for &(name, (items, edges), per_round) in &self.sizes {
            writeln!(to, "\n## {name}\n")?;
            let edges = if edges > 0 {
                format!(", {} edges", count(edges))
            } else {
                String::new()
            };
            let per = if per_round {
                "; times are those of one round"
            } else {
                ""
            };
            writeln!(to, "{} items{edges}{per}.\n", count(items))?;
            writeln!(
                to,
                "| rival | wall | min | max | wall ratio | device | device ratio | rounds | runs |"
            )?;
            writeln!(
                to,
                "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
            )?;
            let ratio = |cell: &Cell, clock| {
                let ratio = self.ratio(cell, clock);
                ratio.map_or_else(String::new, |r| format!("{r:.2}"))
            };
            for cell in self.of(name) {
                let rival = if cell.ours {
                    format!("**{}**", cell.rival)
                } else {
                    cell.rival.into()
                };
                match &cell.outcome {
                    Outcome::Measured(t) => writeln!(
                        to,
                        "| {rival} | {} | {} | {} | {} | {} | {} | {} | {} |",
                        show(t.wall.median_ns),
                        show(t.wall.least_ns),
                        show(t.wall.most_ns),
                        ratio(cell, Clock::Wall),
                        t.device.map_or_else(String::new, |d| show(d.median_ns)),
                        ratio(cell, Clock::Device),
                        t.rounds.map_or_else(String::new, count),
                        if t.cold {
                            "1, cold".into()
                        } else {
                            t.runs.to_string()
                        },
                    )?,
                    Outcome::Failed(why) => {
                        writeln!(to, "| {rival} | **failed**: {why} | | | | | | | |")?
                    }
                    Outcome::Skipped(why) if cell.place == Place::Cpu => {
                        writeln!(to, "| {rival} | skipped: {why} | | | | | | | |")?;
                    }
                    Outcome::Skipped(why) => {
                        if self.host.gpu.is_ok() {
                            writeln!(to, "| {rival} | skipped: {why} | | | | | | | |")?;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Writes `WORKLOAD.svg` for each workload, and `ratios.svg` of vyre by the best rival; creates the directory.
    pub fn plots(&self, dir: &Path) -> Result<(), String> {
        std::fs::create_dir_all(dir).map_err(|e| format!("{}: {e}", dir.display()))?;
        for &(name, _, per_round) in &self.sizes {
            let bars: Vec<Bar> = self
                .of(name)
                .flat_map(|cell| {
                    let timing = cell.timing();
                    let wall = timing.map(|t| Bar::new(cell, "", t.wall));
                    let device = timing
                        .and_then(|t| t.device)
                        .map(|d| Bar::new(cell, ", device", d));
                    [wall, device]
                })
                .flatten()
                .collect();
            if !bars.is_empty() {
                let per = if per_round { "one round" } else { "one run" };
                plot(
                    &dir.join(format!("{name}.svg")),
                    &format!("{name}: {per}, median and range"),
                    &bars,
                    &show,
                )?;
            }
        }
        let mut bars = Vec::new();
        for &(name, ..) in &self.sizes {
            for (at, clock) in COMPARED {
                let here = |ours| {
                    self.of(name)
                        .filter(move |c| c.place == at && c.ours == ours)
                };
                let best = Table::best(clock, here(false));
                for cell in here(true) {
                    if let Some((ns, (rival, best_ns))) = cell.ns(clock).zip(best) {
                        let ratio = ns / best_ns;
                        let what = match (at, clock) {
                            (Place::Gpu, Clock::Device) => ", device",
                            _ => "",
                        };
                        bars.push(Bar {
                            label: format!("{name}: {} / {}{what}", cell.rival, rival.rival),
                            value: ratio,
                            range: None,
                            ours: ratio <= 1.0,
                        });
                    }
                }
            }
        }
        if bars.is_empty() {
            return Ok(());
        }
        let title = "vyre's time by the best rival's at the same place; below 1 vyre is faster";
        plot(
            &dir.join("ratios.svg"),
            title,
            &bars,
            &|ratio| match ratio {
                _ if ratio < 10.0 => format!("{ratio:.2}"),
                _ => format!("{ratio:.0}"),
            },
        )
    }
}

fn place(place: Place) -> &'static str {
    match place {
        Place::Cpu => "cpu",
        Place::Gpu => "gpu",
    }
}

struct Bar {
    label: String,
    value: f64,
    range: Option<(f64, f64)>,
    /// Drawn in the accent colour.
    ours: bool,
}

impl Bar {
    fn new(cell: &Cell, what: &str, spread: Spread) -> Bar {
        Bar {
            label: format!("{}{what}", cell.rival),
            value: spread.median_ns,
            range: Some((spread.least_ns, spread.most_ns)),
            ours: cell.ours,
        }
    }
}

/// Horizontal bars on a logarithmic axis.
fn plot(
    path: &Path,
    title: &str,
    bars: &[Bar],
    unit: &dyn Fn(f64) -> String,
) -> Result<(), String> {
    draw(path, title, bars, unit).map_err(|e| format!("{}: {e}", path.display()))
}

fn draw(
    path: &Path,
    title: &str,
    bars: &[Bar],
    unit: &dyn Fn(f64) -> String,
) -> Result<(), Box<dyn std::error::Error>> {
    const ROW: i32 = 26;
    /// About the width of a character of a label.
    const CHARACTER: i32 = 7;
    const PLOT_WIDTH: i32 = 560;
    const TOP: i32 = 44;
    const OURS: RGBColor = RGBColor(0x1f, 0x77, 0xb4);
    const OTHERS: RGBColor = RGBColor(0x9a, 0xa0, 0xa6);
    let longest = bars.iter().map(|b| b.label.len()).max().unwrap_or(0) as i32;
    let left = 16 + CHARACTER * longest;
    let rows = bars.len() as i32;
    let size = (left + PLOT_WIDTH + 100, TOP + ROW * rows + 40);
    let root = SVGBackend::new(path, (size.0 as u32, size.1 as u32)).into_drawing_area();
    root.fill(&WHITE)?;

    // A decade more on each side, so that no bar is empty and every number fits.
    let values = || {
        bars.iter()
            .flat_map(|b| b.range.map_or([b.value; 2], |r| [r.0, r.1]))
    };
    let least = values().fold(f64::INFINITY, f64::min).max(1e-6);
    let most = values().fold(least, f64::max);
    let (low, high) = (
        least.log10().floor() as i32,
        (most.log10() + 1e-9).ceil() as i32,
    );
    let (low, high) = if bars.iter().all(|b| b.range.is_some()) {
        (
            low - i32::from(least.log10() - f64::from(low) < 0.2),
            high.max(low + 1),
        )
    } else {
        (low.min(-1), high.max(1))
    };
    let scale = |value: f64| {
        let part = (value.max(1e-6).log10() - f64::from(low)) / f64::from(high - low);
        left + (part.clamp(0.0, 1.0) * f64::from(PLOT_WIDTH)).round() as i32
    };
    let font = |size: i32, side| {
        let font = ("sans-serif", size).into_font().color(&BLACK);
        font.pos(Pos::new(side, VPos::Center))
    };
    let bottom = TOP + ROW * rows;
    root.draw(&Text::new(title.to_owned(), (12, 22), font(17, HPos::Left)))?;
    for decade in low..=high {
        let x = scale(10f64.powi(decade));
        root.draw(&PathElement::new(
            [(x, TOP), (x, bottom)],
            RGBColor(0xe0, 0xe0, 0xe0),
        ))?;
        let grey = font(12, HPos::Center).color(&RGBColor(0x60, 0x60, 0x60));
        let label = unit(10f64.powi(decade));
        root.draw(&Text::new(label, (x, bottom + 14), grey))?;
    }
    // Ratios grow from 1 to both sides.
    let base = if low < 0 && bars.iter().all(|b| b.range.is_none()) {
        scale(1.0)
    } else {
        left
    };
    for (bar, row) in bars.iter().zip(0..) {
        let y = TOP + ROW * row;
        let color = if bar.ours { OURS } else { OTHERS };
        let end = scale(bar.value);
        let corners = [(base.min(end), y + 5), (base.max(end), y + ROW - 5)];
        root.draw(&Rectangle::new(corners, color.filled()))?;
        let mut right = base.max(end);
        if let Some((from, to)) = bar.range {
            let (from, to) = (scale(from), scale(to));
            let middle = y + ROW / 2;
            root.draw(&PathElement::new([(from, middle), (to, middle)], BLACK))?;
            for x in [from, to] {
                root.draw(&PathElement::new([(x, middle - 4), (x, middle + 4)], BLACK))?;
            }
            right = right.max(to);
        }
        let middle = y + ROW / 2;
        let label = Text::new(bar.label.clone(), (left - 8, middle), font(13, HPos::Right));
        root.draw(&label)?;
        let value = Text::new(unit(bar.value), (right + 6, middle), font(13, HPos::Left));
        root.draw(&value)?;
    }
    if base != left {
        root.draw(&PathElement::new([(base, TOP), (base, bottom)], BLACK))?;
    }
    root.present()?;
    Ok(())
}
