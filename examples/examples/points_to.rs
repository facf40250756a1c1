//! Points-to analysis: which objects each variable of a program may point to, whatever its statements' order (Andersen,
//! *Program Analysis and Specialization for the C Programming Language*, 1994).
//!
//! Two relations feed each other. `points(v, o)` holds where `v` may point to `o`, and `flow(a, b)` where what `a` points
//! to may be assigned to `b`:
//!
//! | statement | says |
//! | --- | --- |
//! | `p = &o` | `points(p, o)` |
//! | `p = q` | `flow(q, p)` |
//! | `p = *q` | `flow(o, p)` for each `o` with `points(q, o)` |
//! | `*p = q` | `flow(q, o)` for each `o` with `points(p, o)` |
//! | | `points(b, o)` where `flow(a, b)` and `points(a, o)` |
//!
//! The last rule is a join of the two: a wave over the pairs of their tuples with a variable in common.
//!
//! `cargo run --release -p vyre-examples --example points_to -- --statements 20000 --check`

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use vyre::prelude::*;
use vyre_examples::cli::{self, Example, Failure, Job, Shared, count, number, plural};
use vyre_examples::graph::GraphSpec;
use vyre_examples::relation::{Room, first_difference, found};
use vyre_examples::statements::{Kind, Statements};
use vyre_examples::{files, oracle};

/// What variables may point to.
#[wave_graph]
#[pass(id = "points_to", unproven)]
pub mod points_to {
    /// A variable that may point to an object.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Points {
        /// By its number.
        pub variable: u32,
        /// A variable, too.
        pub object: u32,
    }

    /// An assignment of what a variable points to.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Flow {
        /// What is assigned.
        pub from: u32,
        /// What it is assigned to.
        pub to: u32,
    }

    pub struct Data {
        /// From `p` to `o`, for each `p = &o`. All four graphs have the variables as nodes; objects are variables, too.
        #[topology]
        addresses: Csr,
        /// From `q` to `p`, for each `p = q`.
        #[topology]
        copies: Csr,
        /// From `q` to `p`, for each `p = *q`.
        #[topology]
        loads: Csr,
        /// From `p` to `q`, for each `*p = q`.
        #[topology]
        stores: Csr,
        #[relation(capacity = room, index(variable), output)]
        points: Relation<Points>,
        #[relation(capacity = room, index(from))]
        flow: Relation<Flow>,
        /// Loads and stores by variables that point to nothing.
        #[reduce(sum)]
        nowhere: u64,
        /// Tuples that each relation has room for.
        room: u32,
    }

    #[wave(edges(addresses))]
    fn address(e: Edge, points: &Insert<Points>) {
        points.insert(Points {
            variable: e.src,
            object: e.dst,
        });
    }

    #[wave(edges(copies))]
    fn copy(e: Edge, flow: &Insert<Flow>) {
        flow.insert(Flow {
            from: e.src,
            to: e.dst,
        });
    }

    #[fixpoint(
        after(address, copy),
        until(points.settled() && flow.settled()),
        max_rounds = 4_294_967_294
    )]
    mod rounds {
        #[wave(pairs(flow.from = points.variable, last))]
        fn follow(f: Flow, p: Points, points: &Insert<Points>) {
            points.insert(Points {
                variable: f.to,
                object: p.object,
            });
        }

        #[wave(items(points, last))]
        fn through(p: Points, loads: &Csr, stores: &Csr, flow: &Insert<Flow>) {
            for to in loads.neighbors(p.variable) {
                flow.insert(Flow { from: p.object, to });
            }
            for from in stores.neighbors(p.variable) {
                flow.insert(Flow { from, to: p.object });
            }
        }
    }

    /// What no tuple is there for: it is known when the relation grows no more.
    #[wave(nodes, after(rounds))]
    fn unset(
        v: Node,
        loads: &Csr,
        stores: &Csr,
        points: &Lookup<Points>,
        nowhere: &Reduce<Sum<u64>>,
    ) {
        let uses = loads.degree(v) + stores.degree(v);
        let mut points_to_some = false;
        for _ in points.with_variable(v) {
            points_to_some = true;
        }
        if !points_to_some {
            nowhere.add(u64::from(uses));
        }
    }
}

/// Which objects each variable of a program may point to
///
/// Without --program and --statements it takes a small program of its own.
#[derive(clap::Parser)]
#[command(name = "points_to")]
pub struct PointsTo {
    /// Read the statements of this file: `p = &o`, `p = q`, `p = *q` and `*p = q`, each on a line of its own
    #[arg(long, value_name = "FILE", conflicts_with_all = ["statements", "seed"])]
    program: Option<PathBuf>,
    /// Take so many random statements, of as many variables
    #[arg(long, value_name = "N", value_parser = number::<u32>(1..=100_000_000))]
    statements: Option<u32>,
    /// Seed of the random statements
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = number::<u32>(0..=u32::MAX), requires = "statements")]
    seed: u32,
    #[command(flatten)]
    room: Room,
    #[command(flatten)]
    shared: Shared,
}

impl PointsTo {
    fn read(&self) -> Result<Statements, Failure> {
        if let Some(n) = self.statements {
            return Ok(Statements::random(n, self.seed));
        }
        let Some(path) = &self.program else {
            return Statements::parse(SMALL).map_err(Failure::Other);
        };
        let refused = |why: String| Failure::Other(format!("{}: {why}", path.display()));
        let text = files::read_text(path).map_err(|e| refused(e.to_string()))?;
        Statements::parse(&text).map_err(|why| Failure::Other(format!("{}:{why}", path.display())))
    }
}

/// A list of two cells is turned round.
const SMALL: &str = "
    // first -> second -> nothing
    list = &first
    next = &second
    *list = next
    // while list: rest = list.next; list.next = done; done = list; list = rest
    rest = *list
    *list = done
    done = list
    list = rest
    // Nothing is ever assigned to it.
    value = *unset
";

impl Example for PointsTo {
    const NAME: &'static str = "points_to";
    const IGNORES: &'static [&'static str] = &["--graph", "--source"];

    fn shared(&self) -> &Shared {
        &self.shared
    }

    fn default_graph(&self) -> Result<Option<GraphSpec>, Failure> {
        Ok(None)
    }

    fn run(&self, job: &mut Job<'_>) -> Result<(), Failure> {
        let program = self.read()?;
        let variables = program.variables() as u64;
        let statements = program.len() as u64;
        job.set_sizes(program.variables(), program.len());
        let of = |kind| program.graph(kind);
        let [addresses, copies, loads, stores] =
            [Kind::Address, Kind::Copy, Kind::Load, Kind::Store].map(of);
        let topology = points_to::Topology {
            addresses: &addresses,
            copies: &copies,
            loads: &loads,
            stores: &stores,
        };
        let mut session = points_to::Session::new(job.runtime(), topology)?;
        job.watch(session.progress());
        let run = |room| job.measure(|| session.run(points_to::Run { room }), |out| &out.report);
        let most = variables * variables;
        let (out, room) = self.room.enough(4 * statements, most, run)?;

        let tuples = out.points.len() as u64;
        job.say("found", found(tuples, (variables, "variable"), room));
        if out.nowhere > 0 {
            let uses = format!(
                "{} {} of a pointer that points to nothing",
                count(out.nowhere),
                plural(out.nowhere, "use"),
            );
            job.say("nowhere", uses);
        }
        job.say_time();
        job.plan(points_to::PLAN)?;
        job.figure("statements", statements);
        job.figure("pairs", tuples);
        job.figure("nowhere", out.nowhere);
        job.figure("room", room);
        let is_small = tuples <= 20;
        let sorted = match is_small || self.shared.wants_result() {
            true => out.points.sorted(),
            false => Vec::new(),
        };
        let sorted: Vec<[u32; 2]> = sorted.iter().map(|p| [p.variable, p.object]).collect();
        if is_small {
            for of in sorted.chunk_by(|a, b| a[0] == b[0]) {
                let mut objects = String::new();
                for [_, object] in of {
                    let _ = write!(objects, " {}", program.name(*object));
                }
                job.say(&program.name(of[0][0]), format!("->{objects}"));
            }
        }
        job.check(
            "one statement after the other, until nothing changes",
            || oracle::points_to(&program),
            |expected| first_difference(&sorted, expected),
        );
        job.save(2, sorted.as_flattened())
    }
}

fn main() -> ExitCode {
    cli::main::<PointsTo>()
}
