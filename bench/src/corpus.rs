//! `bench --corpus`: what ordinary passes take on every route (docs/CORPUS.md).

use crate::report::{Host, line, show};
use crate::{Bench, Failure, Outcome, Scale, Spread, Timing};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::Write;
use std::time::Duration;
use vyre::{RoutePolicy, Runtime};
use vyre_corpus::{Case, PASSES, Pass, Prepared};

/// Ways to compute the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// The sequential program.
    Sequential,
    /// The native executor on two threads.
    Two,
    /// The native executor on all threads.
    Native,
    /// The GPU's interpreter.
    Interpreter,
    /// Compiled code on the GPU.
    Compiled,
    /// What a session chooses, after three runs.
    Auto,
}

const WAYS: [(Way, &str); 6] = [
    (Way::Sequential, "sequential"),
    (Way::Two, "native, 2 threads"),
    (Way::Native, "native"),
    (Way::Interpreter, "interpreter"),
    (Way::Compiled, "compiled"),
    (Way::Auto, "auto"),
];

/// Runs of `auto` by which it has to have found what is best.
const RUNS_OF_AUTO: usize = 3;

/// A pass, with what came of each way.
struct Row {
    pass: &'static str,
    cells: Vec<Outcome>,
}

pub(crate) fn measure(bench: &Bench, names: &[String], out: &mut dyn Write) -> Result<(), Failure> {
    let passes = named(names)?;
    let host = Host::here();
    writeln!(out, "bench --corpus on {host}")?;
    let mut rows = Vec::new();
    for pass in passes {
        let case = pass.case(bench.scale == Scale::Small);
        writeln!(out, "{}", pass.name)?;
        let mut cells = Vec::new();
        for (way, name) in WAYS {
            let outcome = bench.cell(&*case, way, host.gpu.is_ok());
            writeln!(out, "  {name:<18} {}", line(&outcome))?;
            cells.push(outcome);
        }
        rows.push(Row {
            pass: pass.name,
            cells,
        });
    }
    if let Some((mean, passes)) = compiled_against_native(&rows) {
        writeln!(
            out,
            "compiled against native: {mean:.2} times as fast, geometric mean of {passes}"
        )?;
    }
    if let Some(path) = &bench.markdown {
        vyre_examples::formats::write_file(path, |to| {
            to.write_all(markdown(&host, &rows).as_bytes())
        })?;
    }
    if bench.json {
        writeln!(out, "{}", json_of(&host, &rows))?;
    }
    let all = rows.iter().flat_map(|row| &row.cells);
    match all
        .filter(|cell| matches!(cell, Outcome::Failed(_)))
        .count()
    {
        0 => Ok(()),
        failed => Err(Failure::Cells(failed)),
    }
}

/// The passes of these names, all where there are none.
fn named(names: &[String]) -> Result<Vec<&'static Pass>, Failure> {
    let one = |name: &String| {
        let found = PASSES.iter().find(|pass| pass.name == name.as_str());
        found.ok_or_else(|| Failure::NoPass(name.clone()))
    };
    match names {
        [] => Ok(PASSES.iter().collect()),
        names => names.iter().map(one).collect(),
    }
}

impl Bench {
    fn cell(&self, case: &dyn Case, way: Way, has_gpu: bool) -> Outcome {
        if matches!(way, Way::Interpreter | Way::Compiled) && !has_gpu {
            return Outcome::Skipped("there is no GPU".to_owned());
        }
        let gpu = |route| Ok(Runtime::cuda()?.with_route(route));
        let runtime = match way {
            Way::Sequential => {
                return Outcome::Measured(
                    self.timing(|| Ok(case.sequential()))
                        .expect("it has no error"),
                );
            }
            Way::Two | Way::Native => Ok(Runtime::native()),
            Way::Interpreter => gpu(RoutePolicy::Interpreter),
            Way::Compiled => gpu(RoutePolicy::Compiled),
            Way::Auto => Runtime::auto(),
        };
        let measured = || {
            let runtime = runtime.map_err(|e: vyre::Error| e.to_string())?;
            let mut run = case.prepare(&runtime).map_err(|e| e.to_string())?;
            let before = if way == Way::Auto { RUNS_OF_AUTO } else { 1 };
            self.runs(&mut run, before)
        };
        let measured = match way {
            Way::Two => match rayon::ThreadPoolBuilder::new().num_threads(2).build() {
                Ok(two) => two.install(measured),
                Err(e) => Err(e.to_string()),
            },
            _ => measured(),
        };
        measured.map_or_else(Outcome::Failed, Outcome::Measured)
    }

    /// Runs of a pass after some others. The first one is checked, and one after all that count.
    fn runs(&self, run: &mut Prepared<'_>, before: usize) -> Result<Timing, String> {
        let mut once = |checks| {
            let ran = run(checks).map_err(|e| e.to_string())?;
            ran.verdict.map(|()| ran.took)
        };
        once(true)?;
        for _ in 1..before {
            once(false)?;
        }
        let timing = self.timing(|| once(false))?;
        once(true)?;
        Ok(timing)
    }

    /// Runs until the time for a cell is up.
    fn timing(&self, mut once: impl FnMut() -> Result<Duration, String>) -> Result<Timing, String> {
        let (mut samples, mut spent) = (Vec::new(), Duration::ZERO);
        while samples.is_empty()
            || spent.as_secs_f64() < self.cap && samples.len() < self.runs.get() as usize
        {
            let took = once()?;
            spent += took;
            samples.push(took.as_nanos() as f64);
        }
        Ok(Timing {
            runs: samples.len(),
            cold: false,
            wall: Spread::of(samples),
            device: None,
            rounds: None,
        })
    }
}

impl Row {
    fn ns(&self, way: Way) -> Option<f64> {
        let at = WAYS.iter().position(|(w, _)| *w == way)?;
        match &self.cells[at] {
            Outcome::Measured(t) => Some(t.wall.median_ns),
            Outcome::Skipped(_) | Outcome::Failed(_) => None,
        }
    }

    /// How many times as fast compiled code is as the native executor.
    fn compiled_against_native(&self) -> Option<f64> {
        Some(self.ns(Way::Native)? / self.ns(Way::Compiled)?)
    }
}

/// The geometric mean over the passes that have both, and how many these are.
fn compiled_against_native(rows: &[Row]) -> Option<(f64, usize)> {
    let ratios: Vec<f64> = rows
        .iter()
        .filter_map(Row::compiled_against_native)
        .collect();
    let logarithms: f64 = ratios.iter().map(|ratio| ratio.ln()).sum();
    (!ratios.is_empty()).then(|| ((logarithms / ratios.len() as f64).exp(), ratios.len()))
}

/// A table with a row a pass.
fn markdown(host: &Host, rows: &[Row]) -> String {
    let mut text = format!(
        "# Corpus\n\nOn {host}. Medians of wall times of warm runs, every result checked.\n\n| |"
    );
    for (_, name) in WAYS {
        let _ = write!(text, " {name} |");
    }
    text += " compiled against native |\n| --- |";
    text += &" ---: |".repeat(WAYS.len() + 1);
    for row in rows {
        let _ = write!(text, "\n| {} |", row.pass);
        for (way, _) in WAYS {
            let _ = write!(text, " {} |", row.ns(way).map_or("-".to_owned(), show));
        }
        let ratio = row.compiled_against_native();
        let _ = write!(
            text,
            " {} |",
            ratio.map_or("-".to_owned(), |ratio| format!("{ratio:.2}"))
        );
    }
    text + "\n"
}

fn json_of(host: &Host, rows: &[Row]) -> Value {
    let rows = rows.iter().map(|row| {
        let cells = WAYS.iter().zip(&row.cells).map(|((_, name), cell)| {
            let cell = match cell {
                Outcome::Measured(t) => json!({"runs": t.runs, "wall_ns": t.wall.json()}),
                Outcome::Skipped(why) => json!({"skipped": why}),
                Outcome::Failed(why) => json!({"failed": why}),
            };
            ((*name).to_owned(), cell)
        });
        json!({"pass": row.pass, "ways": cells.collect::<serde_json::Map<_, _>>()})
    });
    json!({
        "cpu": host.cpu, "threads": host.threads, "gpu": host.gpu.as_ref().ok(), "rows": rows.collect::<Vec<_>>(),
    })
}
