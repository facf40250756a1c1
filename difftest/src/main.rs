//! Differential test of the backends: random kernels (see [`generate`]), compiled by the real macros into this program,
//! run on several inputs natively, by the VIR0 interpreter and, where asked, by the CUDA megakernel; outputs and traps
//! must be equal bit for bit.
//!
//! ```text
//! cargo test -p difftest                                       40 kernels, seed 1
//! scripts/difftest 500 7                                       500 kernels, seed 7, compiled in pieces
//! cargo run -p difftest -- --backend shaders                   WGSL and SPIR-V, evaluated
//! cargo run -p difftest -- --backend cuda                      also the megakernel
//! cargo run -p difftest -- --backend compiled                  also modules of the kernels' own
//! cargo run -p difftest -- --backend cuda --inputs 6           also on a graph with more nodes than a GPU has lanes
//! cargo run -p difftest -- --progress on                       names each kernel before it runs
//! cargo run -p difftest -- --show k3                           a kernel's source
//! cargo run -p difftest -- --shrink k3                         the smallest kernel that still differs (compiles candidates)
//! ```

#[expect(dead_code, reason = "the build script writes the kernels")]
mod generate;
mod shrink;

use generate::{Choices, mix};
use shader_evaluator::backend::{REFUSED, Shaders};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::ExitCode;
use std::sync::Arc;
use vyre::prelude::*;
use vyre::{Error, RoutePolicy, Trap};
use vyre_naga::Target;
use vyre_tests::sequential::Shuffled;

/// Runs a kernel.
type Runner = fn(&Runtime, &Input) -> Result<Vec<Column>, Error>;

/// The random kernels.
#[allow(
    warnings,
    clippy::all,
    unconditional_panic,
    arithmetic_overflow,
    overflowing_literals,
    reason = "generated; faults are part of the test"
)]
mod kernels {
    use super::{Column, Input, Raw as _, Runner, column, near, records, rows};
    use vyre::Error;
    use vyre::prelude::*;

    include!(concat!(env!("OUT_DIR"), "/kernels.rs"));
}

/// Raw bits of an output. Any NaN is one NaN.
#[derive(Clone, Debug, PartialEq)]
struct Column {
    name: &'static str,
    bits: Vec<u64>,
    /// Width of the floats that approximate functions gave: equal within their bound.
    near: Option<u32>,
}

impl Column {
    fn equals(&self, other: &Column) -> bool {
        let Some(width) = self.near else {
            return self == other;
        };
        // Neighbouring floats get neighbouring numbers, and both zeros one. NaN is far from all.
        let ordered = |bits: u64| {
            let size = (bits & !(1 << (width - 1))) as i64;
            if size as u64 == bits { size } else { -size }
        };
        // Each may be 2 units in the last place off.
        let close = |(a, b): (&u64, &u64)| ordered(*a).abs_diff(ordered(*b)) <= 4;
        self.bits.len() == other.bits.len() && self.bits.iter().zip(&other.bits).all(close)
    }
}

trait Raw: Copy {
    fn raw(self) -> u64;
}

macro_rules! bits {
    ($($ty:ty: $x:ident => $bits:expr;)*) => { $(impl Raw for $ty { fn raw(self) -> u64 { let $x = self; $bits } })* };
}

bits! {
    bool: x => x.into();
    u8: x => x.into();
    u32: x => x.into();
    i32: x => x as u64;
    u64: x => x;
    i64: x => x as u64;
    f32: x => if x.is_nan() { f32::NAN.to_bits().into() } else { x.to_bits().into() };
    f64: x => if x.is_nan() { f64::NAN.to_bits() } else { x.to_bits() };
}

fn column<T: Raw>(name: &'static str, values: &[T]) -> Column {
    let bits = values.iter().map(|v| v.raw()).collect();
    let near = None;
    Column { name, bits, near }
}

/// As [`column()`], of approximate results.
fn near<T: Raw>(name: &'static str, values: &[T]) -> Column {
    let near = Some(8 * size_of::<T>() as u32);
    Column {
        near,
        ..column(name, values)
    }
}

/// Structs, each as the bits of its scalars.
fn records(name: &'static str, items: impl Iterator<Item = Vec<u64>>) -> Column {
    let bits = items.flatten().collect();
    let near = None;
    Column { name, bits, near }
}

/// Items in no order: sorted.
fn rows(name: &'static str, items: impl Iterator<Item = Vec<u64>>) -> Column {
    let mut items: Vec<_> = items.collect();
    items.sort_unstable();
    let (bits, near) = (items.concat(), None);
    Column { name, bits, near }
}

/// What every kernel is given; each takes what it uses.
#[allow(dead_code, reason = "few kernels take less than all of it")]
struct Input {
    graph: Csr,
    /// Other edges of the same nodes.
    other: Csr,
    n: u32,
    s_u32: u32,
    s_i32: i32,
    s_u64: u64,
    s_i64: i64,
    s_f32: f32,
    s_f64: f64,
    s_bool: bool,
    s_u8: u8,
    /// Width and words of the rows of bits of the run, and words of those of the session.
    width: u32,
    given: Vec<u32>,
    fixed: Vec<u32>,
    p_u32: Vec<u32>,
    p_i32: Vec<i32>,
    p_u64: Vec<u64>,
    p_i64: Vec<i64>,
    p_f32: Vec<f32>,
    p_f64: Vec<f64>,
    p_bool: Vec<bool>,
    p_u8: Vec<u8>,
    /// What a query on another graph is given.
    second: Option<Box<Input>>,
}

/// Nodes, edges, items and the degree of a hub of each input: one item, part of a warp, several tiles, several chunks
/// on threads; the last, more than a GPU's lanes, for where [`USUAL`] is not enough.
const SIZES: [(u32, u32, u32, u32); 6] = [
    (37, 90, 50, 0),
    (1, 0, 1, 0),
    (150, 400, 333, 70),
    (8, 20, 7, 0),
    (8_500, 13_000, 9_000, 700),
    (90_000, 200_000, 150_000, 3_000),
];
const USUAL: usize = 5;
/// How many of them the tests take, which interpret in a dev build.
#[cfg(test)]
const SMALL: usize = 4;

impl Input {
    fn new(which: usize) -> Input {
        Input {
            // Small: it runs beside the other.
            second: Some(Box::new(Input::alone([3, 2, 0, 1][which % 4]))),
            ..Input::alone(which)
        }
    }

    /// What the second of two graphs is given.
    fn second(&self) -> &Input {
        self.second.as_deref().unwrap_or(self)
    }

    fn alone(which: usize) -> Input {
        let (nodes, edges, n, hub) = SIZES[which];
        let mut state = which as u64;
        let mut next = move || {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            mix(state)
        };
        let mut end = || (next() % u64::from(nodes)) as u32;
        let ends = |k: u32| match k < hub {
            true => (nodes / 2, end()),
            false => (end(), end()),
        };
        let edges: Vec<_> = (0..edges).map(ends).collect();
        let graph = Csr::from_edges(nodes as usize, &edges).expect("the edges name nodes");
        let far = |&(a, b): &(u32, u32)| ((a + 1) % nodes, (b ^ a) % nodes);
        let others: Vec<_> = edges.iter().step_by(2).map(far).collect();
        let other = Csr::from_edges(nodes as usize, &others).expect("the edges name nodes");
        let special = [
            0,
            1,
            u64::MAX,
            1 << 31,
            u64::from(u32::MAX),
            1 << 63,
            i64::MAX as u64,
            i32::MAX as u64,
        ];
        let mut int = || match next() % 4 {
            0 => special[(next() % 8) as usize],
            1 | 2 => next() % 40,
            _ => next(),
        };
        let len = edges.len().max(n as usize).max(nodes as usize).max(16);
        let mut ints: Vec<u64> = (0..6 * len + 6 + 5 * nodes as usize)
            .map(|_| int())
            .collect();
        let floats = [
            0.0f64,
            -0.0,
            1.0,
            -1.5,
            0.1,
            1e9,
            -3e38,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
            1e-40,
            255.5,
            4_294_967_296.0,
            2.5,
        ];
        let mut float = || match next() % 3 {
            0 => floats[(next() % 14) as usize],
            1 => (next() % 2000) as f64 / 16.0 - 60.0,
            _ => f64::from_bits(next() >> 2 | 1 << 61) * if next() % 2 == 0 { 1.0 } else { -1.0 },
        };
        let f_64: Vec<f64> = (0..len + 1).map(|_| float()).collect();
        let f_32: Vec<f32> = (0..len + 1).map(|_| float() as f32).collect();
        let width = 37;
        let row = |width: u32| nodes * width.div_ceil(32);
        let mut words = |n: u32| ints.drain(..n as usize).map(|x| x as u32).collect();
        let mut words = |width: u32| {
            let mut all: Vec<u32> = words(row(width));
            // What lies beyond the width is refused.
            let last = all.iter_mut().skip(width.div_ceil(32) as usize - 1);
            let past = u32::MAX >> (32 - width % 32);
            last.step_by(width.div_ceil(32) as usize)
                .for_each(|w| *w &= past);
            all
        };
        let (given, fixed) = (words(width), words(70));
        let mut take = |n: usize| ints.split_off(ints.len() - n);
        let s = take(6);
        Input {
            graph,
            other,
            second: None,
            n,
            s_u32: s[0] as u32,
            s_i32: s[1] as i32,
            s_u64: s[2],
            s_i64: s[3] as i64,
            s_f32: f_32[len],
            s_f64: f_64[len],
            s_bool: s[4] % 2 == 1,
            s_u8: s[5] as u8,
            width,
            given,
            fixed,
            p_u32: take(len).iter().map(|&x| x as u32).collect(),
            p_i32: take(len).iter().map(|&x| x as i32).collect(),
            p_u64: take(len),
            p_i64: take(len).iter().map(|&x| x as i64).collect(),
            p_f32: f_32,
            p_f64: f_64,
            p_bool: take(len).iter().map(|&x| x % 2 == 1).collect(),
            p_u8: take(len).iter().map(|&x| x as u8).collect(),
        }
    }
}

/// What a run leaves behind.
#[derive(Clone, Debug, PartialEq)]
enum Outcome {
    Columns(Vec<Column>),
    /// The trap without its lane, which is only informative.
    Trap(Box<Trap>),
    /// Never right.
    Error(String),
}

fn outcome(runner: Runner, runtime: &Runtime, input: &Input) -> Outcome {
    match runner(runtime, input) {
        Ok(columns) => Outcome::Columns(columns),
        Err(Error::Trap(trap)) => Outcome::Trap(Box::new(Trap {
            part: None,
            lane: None,
            ..*trap
        })),
        Err(e) => Outcome::Error(e.to_string()),
    }
}

/// What two backends differ in, if anything. `loose`: which fault of a kernel is reported is open.
fn difference(expected: &Outcome, found: &Outcome, loose: bool) -> Option<String> {
    match (expected, found) {
        (Outcome::Error(e), _) => Some(e.clone()),
        (_, Outcome::Error(e)) => Some(e.clone()),
        (a, b) if a == b => None,
        (Outcome::Trap(a), Outcome::Trap(b)) if loose && a.kernel == b.kernel => None,
        (Outcome::Columns(a), Outcome::Columns(b)) => {
            let mut text = String::new();
            for (x, y) in a.iter().zip(b).filter(|(x, y)| !x.equals(y)) {
                let at = x.bits.iter().zip(&y.bits).position(|(x, y)| x != y);
                let at = at.unwrap_or(x.bits.len().min(y.bits.len()));
                let _ = write!(
                    text,
                    "{}[{at}]: {:x?} and {:x?}; ",
                    x.name,
                    x.bits.get(at),
                    y.bits.get(at)
                );
            }
            (!text.is_empty()).then_some(text)
        }
        (Outcome::Columns(_), Outcome::Trap(t)) => Some(format!("a value and a trap: {t}")),
        (Outcome::Trap(t), Outcome::Columns(_)) => Some(format!("a trap and a value: {t}")),
        (Outcome::Trap(a), Outcome::Trap(b)) => Some(format!("two traps: {a} and {b}")),
    }
}

/// Runs and their ends.
#[derive(Default)]
struct Tally {
    runs: usize,
    /// Runs of kernels that a target of shaders does not get.
    refused: usize,
    traps: BTreeMap<String, usize>,
    /// Kernel, input and what differs.
    failures: Vec<(usize, usize, String)>,
}

/// Runs every kernel on these many inputs and compares with the native backend.
fn compare(others: &[Runtime], inputs: usize, keep: impl Fn(&str) -> bool) -> Tally {
    let native = Runtime::native();
    let inputs: Vec<Input> = (0..inputs).map(Input::new).collect();
    let mut tally = Tally::default();
    for (k, &(name, runner, loose)) in kernels::KERNELS.iter().enumerate() {
        if !keep(name) {
            continue;
        }
        for (i, input) in inputs.iter().enumerate() {
            let expected = outcome(runner, &native, input);
            if let Outcome::Trap(t) = &expected {
                *tally.traps.entry(format!("{:?}", t.kind)).or_default() += 1;
            }
            for other in others {
                tally.runs += 1;
                let found = outcome(runner, other, input);
                if let Outcome::Error(e) = &found
                    && e.contains(REFUSED)
                {
                    tally.refused += 1;
                    continue;
                }
                if let Some(what) = difference(&expected, &found, loose) {
                    let what = format!("native and {}: {what}", other.backend());
                    tally.failures.push((k, i, what));
                }
            }
        }
    }
    tally
}

/// Shaders for a target, evaluated.
fn shaders(target: Target) -> Runtime {
    Runtime::on(Arc::new(Shaders::new(target)))
}

/// The seed that this program's kernels are from.
fn seed() -> u64 {
    env!("VYRE_DIFFTEST_FROM").parse().expect("a number")
}

/// The kernel of this name from this program's seed, compiled into it or not.
fn source(name: &str) -> Option<generate::Source> {
    let number = name.strip_prefix('k')?.parse().ok()?;
    Some(generate::kernel(name, Choices::seeded(seed(), number)))
}

fn report(tally: &Tally) -> String {
    let mut text = String::new();
    let mut shown = 0;
    let mut last = None;
    for (k, i, what) in &tally.failures {
        let name = kernels::KERNELS[*k].0;
        let _ = writeln!(text, "seed {}, {name}, input {i}: {what}", seed());
        if last != Some(*k) && shown < 3 && option_env!("VYRE_DIFFTEST_CHOICES").is_none() {
            shown += 1;
            if let Some(source) = source(name) {
                let _ = writeln!(text, "{}", source.text);
            }
            let _ = writeln!(
                text,
                "VYRE_DIFFTEST_SEED={} cargo run -p difftest -- --shrink {name}",
                seed(),
            );
        }
        last = Some(*k);
    }
    let _ = writeln!(
        text,
        "seed {}: {} kernels, {} comparisons, {} refused, {} failures; traps {:?}",
        seed(),
        kernels::KERNELS.len(),
        tally.runs,
        tally.refused,
        tally.failures.len(),
        tally.traps
    );
    text
}

fn main() -> ExitCode {
    let mut others = Vec::new();
    let mut only = None;
    let mut progress = false;
    let mut inputs = USUAL;
    let mut arguments = std::env::args().skip(1);
    let fail = |message: String| {
        eprintln!("difftest: {message}");
        ExitCode::from(2)
    };
    while let Some(word) = arguments.next() {
        let value = arguments.next().unwrap_or_default();
        match (word.as_str(), value.as_str()) {
            ("--backend", "vir0") => others.push(Runtime::vir0()),
            ("--backend", "shuffled") => others.push(Runtime::on(Arc::new(Shuffled))),
            ("--backend", "shaders") => {
                others.extend([Target::WebGpu, Target::Vulkan].map(shaders));
            }
            ("--backend", "cuda") => match Runtime::cuda() {
                Ok(runtime) => others.push(runtime.with_route(RoutePolicy::Interpreter)),
                Err(e) => return fail(e.to_string()),
            },
            ("--backend", "compiled") => match Runtime::cuda() {
                Ok(runtime) => others.push(runtime.with_route(RoutePolicy::Compiled)),
                Err(e) => return fail(e.to_string()),
            },
            ("--progress", "on") => progress = true,
            ("--inputs", count) => match count.parse() {
                Ok(count) if (1..=SIZES.len()).contains(&count) => inputs = count,
                _ => return fail(format!("there are 1 to {} inputs", SIZES.len())),
            },
            ("--only", name) => only = Some(name.to_owned()),
            ("--show" | "--shrink", name) => {
                let Some(source) = source(name) else {
                    return fail(format!("kernels are k0, k1 ..., not `{name}`"));
                };
                if word == "--shrink" {
                    return shrink::shrink(source.choices);
                }
                println!("{}", source.text);
                return ExitCode::SUCCESS;
            }
            _ => return fail(format!("unknown argument `{word} {value}`")),
        }
    }
    if others.is_empty() {
        others.push(Runtime::vir0());
    }
    let tally = compare(&others, inputs, |name| {
        let taken = only.as_ref().is_none_or(|o| o == name);
        if progress && taken {
            eprintln!("{name}");
        }
        taken
    });
    print!("{}", report(&tally));
    ExitCode::from(u8::from(!tally.failures.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backends_agree_on_random_kernels() {
        let shuffled = Runtime::on(Arc::new(Shuffled));
        let tally = compare(&[Runtime::vir0(), shuffled], SMALL, |_| true);
        assert!(tally.failures.is_empty(), "{}", report(&tally));
        println!("{}", report(&tally));
    }

    #[test]
    fn shaders_agree_on_random_kernels() {
        for target in [Target::WebGpu, Target::Vulkan] {
            let tally = compare(&[shaders(target)], SMALL, |_| true);
            assert!(tally.failures.is_empty(), "{}", report(&tally));
            let ran = tally.runs - tally.refused;
            assert!(ran >= 40 * SMALL, "{}", report(&tally));
            println!("{target}: {}", report(&tally));
        }
    }

    #[test]
    #[ignore = "needs a CUDA device"]
    fn the_megakernel_agrees_on_random_kernels() {
        let cuda = Runtime::cuda().expect("a CUDA device");
        let compiled = cuda.clone().with_route(RoutePolicy::Compiled);
        let cuda = cuda.with_route(RoutePolicy::Interpreter);
        let tally = compare(&[cuda, compiled], SIZES.len(), |_| true);
        assert!(tally.failures.is_empty(), "{}", report(&tally));
    }
}
