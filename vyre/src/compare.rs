//! Whether the runs of a pass agree, on several backends and several times on each.

use crate::error::Error;
use crate::runtime::Runtime;
use crate::session::Session;
use crate::sides::Plural;
use std::fmt;
use vyre_core::dsl::columns::Column;
use vyre_core::dsl::error::RunError;
use vyre_core::run::outcome::Outcome;
use vyre_core::run::pass::{IntoTopology, Pass};
use vyre_core::vir0::module::{Agreement, FixpointId, Program, Resource};
use vyre_core::vir0::results::{Standing, results};
use vyre_core::vir0::scalar::Scalar;
use vyre_core::vir0::trap::Trap;

/// What [`compare`] found. It prints as a line for each result that differs, or as one that says that none does.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Comparison {
    /// The pass.
    pub pass: String,
    /// Where it ran, in order.
    pub sides: Vec<String>,
    /// How often on each.
    pub times: usize,
    /// The results that were compared, each with the reason of its claim, if it is claimed and not proven.
    pub compared: Vec<(String, Option<String>)>,
    /// The results that are neither proven nor claimed.
    pub open: Vec<String>,
    /// What differs from the first run of all: of each run and result, the first place.
    pub differences: Vec<Difference>,
}

/// A result of which two runs have another value.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Difference {
    /// The field, and of structs the part of it: `dist`, `point.x`. Of rounds the fixpoint. Empty where one of the runs
    /// was stopped.
    pub result: String,
    /// Where the other run was, and the number of the run there, from 1. The first of all is what it is compared with.
    pub side: String,
    /// See [`side`](Difference::side).
    pub run: usize,
    /// What differs.
    pub what: Differs,
}

/// What differs between the first run and another.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Differs {
    /// Elements of an output or a list, or the one value of a reduction.
    Values {
        /// The first that differs; `None` of a reduction.
        index: Option<usize>,
        /// In the first run, and in the other.
        values: [String; 2],
        /// How many differ.
        count: usize,
    },
    /// Bits of rows.
    Bits {
        /// The first row that differs.
        row: u32,
        /// Its first bit that differs.
        bit: u32,
        /// Whether it is set in the other run.
        is_set: bool,
        /// How many differ.
        count: usize,
    },
    /// Items of a list.
    Length([usize; 2]),
    /// The rounds of a fixpoint, of a pass that gives the same bits.
    Rounds([u64; 2]),
    /// What stopped the runs; `None`: that run came to its end. Where a pass is not proven to give the same bits, two
    /// runs that were both stopped count as alike.
    Stopped([Option<String>; 2]),
}

impl Comparison {
    /// Whether something was compared, and nothing of it differs. Of a pass without a result that is proven or claimed,
    /// nothing is.
    pub fn agrees(&self) -> bool {
        self.differences.is_empty() && !self.compared.is_empty()
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Comparison {
            pass, sides, times, ..
        } = self;
        let runs = Plural(*times as u64, "run");
        write!(f, "{pass}: {runs} each on {}", sides.join(", "))?;
        let compared = self.compared.iter();
        let compared: Vec<String> = compared
            .map(|(name, claim)| match claim {
                None => name.clone(),
                Some(_) => format!("{name} (claimed)"),
            })
            .collect();
        match (self.agrees(), &compared[..]) {
            (_, []) => write!(f, "; no result is proven or claimed")?,
            (true, all) => write!(f, " agree on {}", all.join(", "))?,
            (false, all) => write!(f, " do not agree on all of {}", all.join(", "))?,
        }
        if !self.open.is_empty() {
            write!(f, "; not compared, because open: {}", self.open.join(", "))?;
        }
        let mut shown: Vec<&str> = Vec::new();
        for difference in &self.differences {
            // One line a result: the other runs are in the value.
            if shown.contains(&difference.result.as_str()) {
                continue;
            }
            shown.push(&difference.result);
            let same = self.differences.iter();
            let runs = same.filter(|d| d.result == difference.result).count();
            write!(f, "\n  {difference}")?;
            if runs > 1 {
                let s = if runs == 2 { "" } else { "s" };
                write!(f, "; {} more run{s}", runs - 1)?;
            }
            let field = difference.result.split('.').next();
            let claim = self
                .compared
                .iter()
                .find(|(name, _)| Some(name.as_str()) == field);
            if let Some((_, Some(claim))) = claim {
                write!(f, "; it is claimed: {claim}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Difference {
            result, side, run, ..
        } = self;
        let there = format!("in run {run} on {side}");
        let and = |count: &usize, f: &mut fmt::Formatter<'_>| match count {
            1 => Ok(()),
            more => write!(f, ", and {} more", more - 1),
        };
        match &self.what {
            Differs::Values {
                index,
                values: [first, other],
                count,
            } => {
                let at = index.map_or(String::new(), |i| format!("[{i}]"));
                write!(
                    f,
                    "{result}{at} is {first} in the first run, and {other} {there}"
                )?;
                and(count, f)
            }
            Differs::Bits {
                row,
                bit,
                is_set,
                count,
            } => {
                let not = |is: bool| if is { "set" } else { "not set" };
                let (first, other) = (not(!is_set), not(*is_set));
                write!(
                    f,
                    "bit {bit} of row {row} of {result} is {first} in the first run, and {other} {there}"
                )?;
                and(count, f)
            }
            Differs::Length(lengths) => {
                let [first, other] = lengths.map(|n| Plural(n as u64, "item"));
                write!(
                    f,
                    "{result} has {first} in the first run, and {other} {there}"
                )
            }
            Differs::Rounds(rounds) => {
                let [first, other] = rounds.map(|n| Plural(n, "round"));
                write!(
                    f,
                    "{result} took {first} in the first run, and {other} {there}"
                )
            }
            Differs::Stopped([first, other]) => {
                let said = |run: &Option<String>| match run {
                    Some(trap) => format!("was stopped ({trap})"),
                    None => "came to its end".to_owned(),
                };
                write!(
                    f,
                    "the first run {}, and one {} {there}",
                    said(first),
                    said(other)
                )
            }
        }
    }
}

/// Runs a pass so often on each of several backends, and compares with the first run of all what is proven to be the
/// same in every run, and what its author claims to be (`#[pass(same_result(..))]`): a claim that does not hold shows
/// here, if anywhere. Of a runtime with several sides each runs.
///
/// Results that are open are not compared. Every NaN counts as the same, and so do both zeros. Rounds and traps are
/// compared where a pass gives the same bits; elsewhere that one run is stopped and another is not.
///
/// ```
/// use vyre::prelude::*;
///
/// /// The first edge into each node, and whether there is one.
/// #[wave_graph]
/// #[pass(unproven, same_result(from = "no node has two edges into it"))]
/// pub mod into {
///     const NONE: u32 = u32::MAX;
///     pub struct Data {
///         #[topology] graph: Csr,
///         #[output(per = node, init = NONE)] from: u32,
///         #[output(per = node)] marked: bool,
///     }
///     #[wave(edges(graph))]
///     fn choose(e: Edge, from: &Buf<Atomic<u32>>) {
///         from[e.dst].compare_exchange(NONE, e.src);
///     }
///     #[wave(nodes)]
///     fn mark(v: Node, graph: &Csr, marked: &mut bool) {
///         *marked = graph.degree(v) > 0;
///     }
/// }
///
/// # fn main() -> Result<(), vyre::Error> {
/// let graph = Csr::from_edges(4, &[(0, 1), (1, 2), (0, 3)]).expect("edges name nodes");
/// let runtimes = [Runtime::vir0(), Runtime::native_threads(2)?];
/// let found = vyre::compare::<into::Pass>(&runtimes, &graph, into::Run {}, 3)?;
/// assert!(found.agrees(), "{found}");
/// assert_eq!(
///     found.to_string(),
///     "into: 3 runs each on vir0 (1 thread), native (2 threads) agree on from (claimed), marked"
/// );
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// No runtime is given; a session cannot be opened; a run fails in another way than by a trap.
pub fn compare<'a, P: Pass>(
    runtimes: &[Runtime],
    topology: impl IntoTopology<P::Topology<'a>>,
    run: P::Run<'_>,
    times: usize,
) -> Result<Comparison, Error> {
    let topology = topology.into_topology();
    let sides: Vec<Runtime> = runtimes.iter().flat_map(Runtime::sides).collect();
    let program = P::PARTS.program()?;
    let mut found = Comparison {
        pass: program.manifest.id.clone(),
        sides: sides.iter().map(Runtime::to_string).collect(),
        times: times.max(1),
        compared: Vec::new(),
        open: Vec::new(),
        differences: Vec::new(),
    };
    for given in results(&program) {
        let name = given.name.to_owned();
        match given.standing {
            Standing::Open => found.open.push(name),
            Standing::Proven => found.compared.push((name, None)),
            Standing::Claimed(why) => found.compared.push((name, Some(why.to_owned()))),
        }
    }
    let mut first = None;
    for (side, name) in sides.iter().zip(&found.sides) {
        let mut session = Session::<P>::of(side, &topology)?;
        for run_there in 1..=found.times {
            let mut outcome = Outcome::default();
            let ended = match session.outcome(&run, &mut outcome) {
                Ok(()) => Ok(outcome),
                Err(RunError::Trap(trap)) => Err(trap),
                Err(e) => return Err(e.into()),
            };
            match &first {
                None => first = Some(ended),
                Some(first) => {
                    let open = &found.open;
                    let differ = differences(&program, open, (first, &ended));
                    let differ = differ.into_iter().map(|(result, what)| Difference {
                        result,
                        side: name.clone(),
                        run: run_there,
                        what,
                    });
                    found.differences.extend(differ);
                }
            }
        }
    }
    match first {
        Some(_) => Ok(found),
        None => Err(RunError::Invalid("there is no runtime to compare on".to_owned()).into()),
    }
}

type Ended = Result<Outcome, Box<Trap>>;

/// What differs between two runs, each with its name.
fn differences(
    program: &Program,
    open: &[String],
    (first, other): (&Ended, &Ended),
) -> Vec<(String, Differs)> {
    let is_exact = program.agreement == Agreement::Bits;
    let (first, other) = match (first, other) {
        (Ok(first), Ok(other)) => (first, other),
        (Err(first), Err(other)) if !is_exact || are_one(first, other) => {
            return Vec::new();
        }
        (first, other) => {
            let said = |run: &Ended| run.as_ref().err().map(ToString::to_string);
            let stopped = Differs::Stopped([said(first), said(other)]);
            return vec![(String::new(), stopped)];
        }
    };
    let mut found = Vec::new();
    let mut add = |resource: Resource, differs: Option<Differs>| {
        let is_open = open.iter().any(|o| o == program.field_of(resource));
        if let (Some(differs), false) = (differs, is_open) {
            found.push((program.name_of(resource).to_owned(), differs));
        }
    };
    for (id, column) in &first.outputs {
        let same = other.outputs.iter().find(|(o, _)| o == id);
        let width = first.rows.iter().find(|(b, ..)| b == id).map(|r| r.2);
        let differs = same.and_then(|(_, same)| match width {
            Some(width) => rows_differ((column, same), width),
            None => columns_differ(column, same),
        });
        add(Resource::Buffer(*id), differs);
    }
    for (id, columns) in &first.lists {
        let same = other.lists.iter().find(|(o, _)| o == id);
        let pairs = same.map(|(_, same)| columns.iter().zip(same));
        let mut differ = pairs
            .into_iter()
            .flatten()
            .map(|(a, b)| columns_differ(a, b));
        add((*id).into(), differ.find_map(|d| d));
    }
    for (id, bits) in &first.reductions {
        let same = other.reductions.iter().find(|(o, _)| o == id);
        let scalar = program.reductions[id.index()].scalar;
        let differs = same.filter(|(_, same)| !are_alike(scalar, *bits, *same));
        let differs = differs.map(|(_, same)| Differs::Values {
            index: None,
            values: [scalar.show(*bits), scalar.show(*same)],
            count: 1,
        });
        add(Resource::Reduction(*id), differs);
    }
    if is_exact {
        for (id, fixpoint) in (0..).map(FixpointId).zip(&program.fixpoints) {
            let rounds = [first, other].map(|run| run.report.rounds_of(id));
            if rounds[0] != rounds[1] {
                found.push((fixpoint.name.clone(), Differs::Rounds(rounds)));
            }
        }
    }
    found
}

/// Whether two traps are the same one. Where an operation on several fields of one size fails, backends differ in how many
/// of them they can name.
fn are_one(a: &Trap, b: &Trap) -> bool {
    (a.kind, &a.kernel, &a.site, a.item, a.index, a.len)
        == (b.kind, &b.kernel, &b.site, b.item, b.index, b.len)
        && (&a.message, a.run, &a.part) == (&b.message, b.run, &b.part)
}

/// Whether two values are the same in every class: the payload of a NaN and the sign of a zero are open.
fn are_alike(scalar: Scalar, a: u64, b: u64) -> bool {
    let alike = |x: f64, y: f64| x == y || x.is_nan() && y.is_nan();
    match scalar {
        Scalar::F32 => {
            let of = |bits: u64| f64::from(f32::from_bits(bits as u32));
            alike(of(a), of(b))
        }
        Scalar::F64 => alike(f64::from_bits(a), f64::from_bits(b)),
        _ => a == b,
    }
}

fn columns_differ(first: &Column, other: &Column) -> Option<Differs> {
    if first.len() != other.len() {
        return Some(Differs::Length([first.len(), other.len()]));
    }
    let scalar = first.scalar();
    let pair = |i| Some((first.get(i)?, other.get(i)?));
    let all = (0..first.len()).filter_map(|i| Some((i, pair(i)?)));
    let mut differ = all.filter(|&(_, (a, b))| !are_alike(scalar, a, b));
    let (index, (a, b)) = differ.next()?;
    Some(Differs::Values {
        index: Some(index),
        values: [scalar.show(a), scalar.show(b)],
        count: 1 + differ.count(),
    })
}

fn rows_differ((first, other): (&Column, &Column), width: u32) -> Option<Differs> {
    if first.len() != other.len() {
        return Some(Differs::Length([first.len(), other.len()]));
    }
    let pair = |i| Some((first.get(i)?, other.get(i)?));
    let words = (0..first.len()).filter_map(|i| Some((i, pair(i)?)));
    let mut differ = words.filter(|(_, (a, b))| a != b).peekable();
    let &(at, (a, b)) = differ.peek()?;
    let (words, bit) = (width.div_ceil(32).max(1) as usize, (a ^ b).trailing_zeros());
    Some(Differs::Bits {
        row: (at / words) as u32,
        bit: (at % words) as u32 * 32 + bit,
        is_set: b >> bit & 1 == 1,
        count: differ
            .map(|(_, (a, b))| (a ^ b).count_ones() as usize)
            .sum(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traps_are_one_whichever_fields_they_name() {
        use crate::core::vir0::trap::{Site, Subject, TrapKind};
        let named = |fields: &[&str]| Trap {
            kind: TrapKind::IndexOutOfBounds,
            kernel: "look".into(),
            site: Site {
                file: "a.rs".into(),
                line: 3,
                column: 9,
            },
            item: Some(2),
            item_type: None,
            index: 9,
            len: 4,
            subject: Some(Subject {
                fields: fields.iter().map(|f| (*f).to_owned()).collect(),
                size: "4 elements".to_owned(),
            }),
            message: None,
            run: None,
            part: None,
            lane: None,
        };
        let (all, one) = (named(&["xx", "zz"]), named(&["zz"]));
        assert!(are_one(&all, &one));
        assert!(!are_one(
            &all,
            &Trap {
                index: 8,
                ..one.clone()
            }
        ));
        assert!(!are_one(
            &all,
            &Trap {
                item: Some(1),
                ..one
            }
        ));
    }

    #[test]
    fn floats_are_alike_up_to_what_every_class_leaves_open() {
        let (nan, other) = (f32::NAN.to_bits(), 0xffc0_0001u32);
        assert!(are_alike(Scalar::F32, nan.into(), other.into()));
        assert!(are_alike(Scalar::F64, 0f64.to_bits(), (-0f64).to_bits()));
        assert!(!are_alike(Scalar::F64, 0f64.to_bits(), 1f64.to_bits()));
        assert!(!are_alike(Scalar::U32, nan.into(), other.into()));
    }
}
