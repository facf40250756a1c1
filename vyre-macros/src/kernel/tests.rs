//! The kernel compiler against rustc: every case is one Rust function that rustc compiles into this test and that the
//! kernel compiler compiles from the same tokens; both run on the same inputs and must give the same result, the same
//! pushes, the same memory and the same fault. Then the messages, exactly, and mutated source, which must not panic.

use super::*;
use crate::report::Report;
use std::panic::{AssertUnwindSafe, catch_unwind};
use syn::parse_quote;
use vyre_core::compile::lower::{Literals, LowerError, lower};
use vyre_core::cpu::interp::{Interpreter, Item};
use vyre_core::dsl::csr::Csr;
use vyre_core::dsl::{Atomic, Buf, Push};
use vyre_core::vir0::meaning::Memory;
use vyre_core::vir0::module::{
    BufferId, FrontierId, Kernel, Mode, Resource, ScalarId, TopologyId, Uniform, UpdateOp,
};
use vyre_core::vir0::scalar::Scalar;
use vyre_core::vir0::trap::TrapKind;

const NODES: u32 = 8;
const STEP_LIMIT: u32 = 100_000;

/// Constants of "another module".
const LIMIT: u32 = 5;
const OFFSET: i32 = -3;
const SCALE: f32 = 0.75;
const YES: bool = true;

/// What a case is given.
#[derive(Clone, Copy, Debug)]
struct Input {
    a: u32,
    b: u32,
    i: i32,
    j: i32,
    p: u64,
    q: i64,
    x: f32,
    y: f32,
    z: f64,
    t: bool,
}

/// What a case leaves behind.
#[derive(Clone, Debug, PartialEq)]
struct Left {
    /// Bits of the value, or the fault with its index and length.
    value: Result<u64, (TrapKind, u64, u64)>,
    pushed: Vec<u32>,
    atomics: Vec<u32>,
}

fn inputs() -> Vec<Input> {
    let ints = [
        0u64,
        1,
        2,
        3,
        5,
        7,
        31,
        32,
        33,
        255,
        256,
        1 << 31,
        (1 << 31) - 1,
        u32::MAX as u64,
        u64::MAX,
        1 << 63,
        i64::MAX as u64,
        0x1234_5678_9abc_def0,
    ];
    let floats = [
        0.0f64,
        -0.0,
        1.0,
        -1.5,
        2.5,
        0.1,
        1e9,
        -1e9,
        3e38,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        0.5,
        -0.5,
        255.9,
        4294967296.0,
    ];
    let mut state = 12345u64;
    let mut next = move |n: usize| {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 33) as usize % n
    };
    (0..400)
        .map(|turn| {
            let mut int = || {
                if turn % 2 == 0 {
                    next(9) as u64
                } else {
                    ints[next(ints.len())]
                }
            };
            let (a, b, i, j, p, q) = (
                int() as u32,
                int() as u32,
                int() as i32,
                int() as i32,
                int(),
                int() as i64,
            );
            let mut float = || floats[next(floats.len())];
            let (x, y, z) = (float() as f32, float() as f32, float());
            Input {
                a,
                b,
                i,
                j,
                p,
                q,
                x,
                y,
                z,
                t: turn % 3 == 0,
            }
        })
        .collect()
}

/// Memory of the interpreter: buffer 0 the result, 1 `xs`, 2 `at`, 3 bytes; one graph; one frontier.
struct Bench {
    result: u64,
    xs: Vec<u32>,
    at: Vec<u32>,
    bytes: Vec<u8>,
    graph: Csr,
    pushed: Vec<u32>,
    turns: u32,
}

impl Memory for Bench {
    fn len(&self, b: BufferId) -> u32 {
        match b.0 {
            0 => 1,
            1 => self.xs.len() as u32,
            2 => self.at.len() as u32,
            _ => self.bytes.len() as u32,
        }
    }
    fn nodes(&self) -> u32 {
        NODES
    }
    fn edges(&self, _: TopologyId) -> u32 {
        self.graph.edge_count() as u32
    }
    fn load8(&mut self, _: BufferId, i: u32) -> Option<u8> {
        self.bytes.get(i as usize).copied()
    }
    fn load32(&mut self, b: BufferId, i: u32) -> Option<u32> {
        let of = if b.0 == 1 { &self.xs } else { &self.at };
        of.get(i as usize).copied()
    }
    fn store32(&mut self, _: BufferId, i: u32, value: u32) -> Option<()> {
        *self.at.get_mut(i as usize)? = value;
        Some(())
    }
    fn load64(&mut self, _: BufferId, _: u32) -> Option<u64> {
        Some(self.result)
    }
    fn store64(&mut self, _: BufferId, _: u32, value: u64) -> Option<()> {
        self.result = value;
        Some(())
    }
    fn csr_begin(&self, _: TopologyId, node: u32) -> Option<u32> {
        (node < NODES).then(|| self.graph.edges(node).start)
    }
    fn csr_end(&self, _: TopologyId, node: u32) -> Option<u32> {
        (node < NODES).then(|| self.graph.edges(node).end)
    }
    fn csr_target(&self, _: TopologyId, edge: u32) -> Option<u32> {
        ((edge as usize) < self.graph.edge_count()).then(|| self.graph.target(edge))
    }
    fn push(&mut self, _: FrontierId, node: u32, _: u32) {
        self.pushed.push(node);
    }
    fn keep_going(&mut self, _: bool) -> bool {
        self.turns += 1;
        self.turns < STEP_LIMIT
    }
}

fn xs() -> Vec<u32> {
    vec![3, 1, 4, 1, 5, 9, 2, 6]
}

fn graph() -> Csr {
    let edges = [
        (0, 1),
        (0, 2),
        (0, 5),
        (1, 3),
        (2, 3),
        (2, 7),
        (3, 4),
        (5, 6),
        (5, 0),
        (5, 5),
        (7, 1),
    ];
    Csr::from_edges(NODES as usize, &edges).unwrap()
}

fn bindings() -> Vec<(syn::Ident, ParamKind)> {
    let scalars = [
        ("a", Scalar::U32),
        ("b", Scalar::U32),
        ("i", Scalar::I32),
        ("j", Scalar::I32),
        ("p", Scalar::U64),
        ("q", Scalar::I64),
        ("x", Scalar::F32),
        ("y", Scalar::F32),
        ("z", Scalar::F64),
        ("t", Scalar::Bool),
    ];
    let mut all: Vec<(syn::Ident, ParamKind)> = scalars
        .iter()
        .enumerate()
        .map(|(n, &(name, scalar))| {
            let id = ScalarId(n as u16);
            (
                quote::format_ident!("{name}"),
                ParamKind::Scalar(id, scalar),
            )
        })
        .collect();
    all.push((
        parse_quote!(result),
        ParamKind::Own {
            buffer: BufferId(0),
            scalar: Scalar::U64,
            mutable: true,
        },
    ));
    all.push((
        parse_quote!(xs),
        ParamKind::Buf {
            buffer: BufferId(1),
            scalar: Scalar::U32,
        },
    ));
    all.push((
        parse_quote!(at),
        ParamKind::AtomicBuf {
            buffer: BufferId(2),
            scalar: Scalar::U32,
        },
    ));
    all.push((
        parse_quote!(bytes),
        ParamKind::Buf {
            buffer: BufferId(3),
            scalar: Scalar::U8,
        },
    ));
    all.push((parse_quote!(g), ParamKind::Csr(TopologyId(0))));
    all.push((parse_quote!(out), ParamKind::Push(FrontierId(0))));
    all
}

/// Compiles `*result = { body };` with the helpers in scope; the kernel and the named constants' values.
fn compile(name: &str, helpers: &str, body: &str) -> (Kernel, Vec<u64>) {
    let mut report = Report::default();
    let compiled = attempt(name, helpers, body, &mut report);
    let messages: Vec<String> = report.messages().into_iter().map(|(_, m)| m).collect();
    assert!(
        compiled.is_some(),
        "{name}: {messages:?} {}",
        report.guards()
    );
    let (body, tables) = compiled.unwrap();
    let mut literals = Literals::new(tables.constant_count());
    let kernel = lower(&body, &mut literals).unwrap_or_else(|e| panic!("{name}: {e}"));
    let mut values: Vec<u64> = tables.modules()[0]
        .constants
        .iter()
        .map(|c| match c.value.to_string().replace(' ', "").as_str() {
            "LIMIT" | "LIMITasu32" | "LIMITasu64" => LIMIT.into(),
            "OFFSET" => OFFSET as i64 as u64,
            "SCALE" => SCALE.to_bits().into(),
            "YES" => 1,
            "ORIGIN.x" | "ORIGIN.y" | "Point::UNIT" => match c.value.to_string().as_str() {
                "ORIGIN . x" => 1,
                "ORIGIN . y" => u64::MAX,
                _ => 3,
            },
            "std::f32::consts::PI" => std::f32::consts::PI.to_bits().into(),
            "::core::cfg!(debug_assertions)" => u64::from(cfg!(debug_assertions)),
            other => panic!("{name}: unexpected constant {other}"),
        })
        .collect();
    values.extend(literals.into_constants().iter().map(|c| c.bits));
    (kernel, values)
}

fn attempt(
    name: &str,
    helpers: &str,
    body: &str,
    report: &mut Report,
) -> Option<(ir::Body, Tables)> {
    let mut items: syn::File = syn::parse_str(helpers).unwrap();
    for item in &mut items.items {
        if let syn::Item::Fn(f) = item {
            f.attrs.push(parse_quote!(#[device]));
        }
    }
    let mut scope = Helpers::default();
    scope.enter(&items.items);
    let name = quote::format_ident!("{name}");
    let block: syn::Block = syn::parse_str(&format!("{{ *result = {{ {body} }}; }}")).unwrap();
    let f: syn::ItemFn = parse_quote!(fn #name() #block);
    let bindings = bindings();
    let env = Env {
        bindings: &bindings,
        helpers: &scope,
        fields: &[("weight".to_owned(), "&Buf<u32>".to_owned())],
    };
    let mut tables = Tables::default();
    tables.begin_module();
    let body = compile_wave(&f, &env, &mut tables, report)?;
    Some((body, tables))
}

fn interpret(kernel: &Kernel, constants: &[u64], input: Input) -> Left {
    let scalars = [
        u64::from(input.a),
        input.b.into(),
        input.i as i64 as u64,
        input.j as i64 as u64,
        input.p,
        input.q as u64,
        input.x.to_bits().into(),
        input.y.to_bits().into(),
        input.z.to_bits(),
        input.t.into(),
    ];
    let uniforms: Vec<u64> = kernel
        .uniforms
        .iter()
        .map(|u| match u {
            Uniform::Scalar(s) => scalars[s.index()],
            Uniform::Constant(c) => constants[c.index()],
            other => panic!("unexpected uniform {other:?}"),
        })
        .collect();
    let mut memory = Bench {
        result: 0,
        xs: xs(),
        at: xs(),
        bytes: vec![0, 1, 127, 128, 254, 255, 42, 7],
        graph: graph(),
        pushed: Vec::new(),
        turns: 0,
    };
    let run = Interpreter::new(kernel, &uniforms).run(Item::index(0), &mut memory);
    assert!(memory.turns < STEP_LIMIT, "does not end");
    let value = match run {
        Ok(_) => Ok(memory.result),
        Err(f) => {
            assert!(
                kernel.sites.iter().any(|(pc, _)| *pc == f.pc),
                "a fault without a site"
            );
            Err((f.kind, f.index, f.len))
        }
    };
    Left {
        value,
        pushed: memory.pushed,
        atomics: memory.at,
    }
}

type Native = fn(Input, &Buf<u32>, &Buf<Atomic<u32>>, &Buf<u8>, &Csr, &Push) -> u64;

/// Runs rustc's version; `None` where the build's overflow checks, which a release build has not, stop it.
fn native(f: Native, input: Input) -> Option<Left> {
    let (xs, mut at, bytes, graph, push) = (
        xs(),
        xs(),
        [0u8, 1, 127, 128, 254, 255, 42, 7],
        graph(),
        Push::new(NODES),
    );
    let value = {
        let view: &Buf<Atomic<u32>> = Buf::atomic(&mut at);
        catch_unwind(AssertUnwindSafe(|| {
            f(input, Buf::new(&xs), view, Buf::new(&bytes), &graph, &push)
        }))
    };
    let value = match value {
        Ok(v) => Ok(v),
        Err(payload) => {
            let message = payload
                .downcast_ref::<String>()
                .cloned()
                .or_else(|| payload.downcast_ref::<&str>().map(|s| (*s).to_owned()))
                .unwrap_or_default();
            let numbers: Vec<u64> = message
                .split(|c: char| !c.is_ascii_digit())
                .filter_map(|n| n.parse().ok())
                .collect();
            Err(match message.as_str() {
                m if m.starts_with("index out of bounds: the len is ") => {
                    // An array's; what does not fit 32 bits is reported as the largest index that does.
                    (
                        TrapKind::IndexOutOfBounds,
                        numbers[1].min(u32::MAX.into()),
                        numbers[0],
                    )
                }
                m if m.contains("out of bounds") => {
                    (TrapKind::IndexOutOfBounds, numbers[0], numbers[1])
                }
                "attempt to divide by zero"
                | "attempt to calculate the remainder with a divisor of zero" => {
                    (TrapKind::DivideByZero, 0, 0)
                }
                "attempt to divide with overflow"
                | "attempt to calculate the remainder with overflow" => {
                    (TrapKind::DivideOverflow, 0, 0)
                }
                m if m.starts_with("attempt to ") => return None,
                m if m.starts_with("assertion ") || m.starts_with("min > max") => {
                    (TrapKind::Assert, 0, 0)
                }
                _ => (TrapKind::Panic, 0, 0),
            })
        }
    };
    Some(Left {
        value,
        pushed: push.into_items(),
        atomics: at,
    })
}

fn compare(name: &str, helpers: &str, body: &str, f: Native) {
    let (kernel, constants) = compile(name, helpers, body);
    let mut compared = 0;
    for input in inputs() {
        let Some(expected) = native(f, input) else {
            continue;
        };
        compared += 1;
        let found = interpret(&kernel, &constants, input);
        assert!(
            found == expected,
            "{name} on {input:?}\n found    {found:?}\n expected {expected:?}"
        );
    }
    assert!(
        compared > 20,
        "{name}: only {compared} inputs ran without overflow"
    );
}

/// Quiet panics of the native side.
fn quietly(f: impl FnOnce()) {
    static HOOK: std::sync::Once = std::sync::Once::new();
    HOOK.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let file = info.location().map_or("", |l| l.file());
            let message = info.payload_as_str().unwrap_or_default();
            if !file.ends_with("cases.rs")
                && (file.contains("macros") || !message.contains("out of bounds"))
            {
                before(info);
            }
        }));
    });
    f();
}

/// What compiling a body says: each message with the token it points to, then what is left to rustc.
fn said(helpers: &str, body: &str) -> Vec<String> {
    let mut report = Report::default();
    let done = attempt("f", helpers, body, &mut report);
    assert!(
        done.is_some() == report.is_empty(),
        "code and errors, or neither: {body}"
    );
    let messages = report.messages().into_iter().map(|(span, m)| {
        let token = span.source_text().unwrap_or_default();
        format!("  {token} -> {}", m.replace("\n\n", " | "))
    });
    let left = report.left().iter().map(|m| format!("  rustc: {m}"));
    messages.chain(left).collect()
}

/// `refused.txt` holds bodies, each followed by what is said about it; `BLESS=1` rewrites it.
#[test]
fn refusals_name_the_token_the_construct_and_the_way_out() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/kernel/refused.txt");
    let expected = std::fs::read_to_string(path).unwrap();
    let mut found = String::new();
    for line in expected.lines().filter(|l| !l.starts_with("  ")) {
        found += line;
        found.push('\n');
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (helpers, body) = line.split_once(" ||| ").unwrap_or(("", line));
        let said = said(helpers, body);
        assert!(!said.is_empty(), "accepted: {line}");
        for message in said {
            found += &message;
            found.push('\n');
        }
    }
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(path, &found).unwrap();
    }
    assert_eq!(found, expected, "run with BLESS=1 to accept");
}

/// Bodies that use everything, as the raw material of mutations.
const SEEDS: &[&str] = &[
    "let mut s = 0u64; 'l: for k in 0..a & 15 { if k == 3 { continue 'l; } s += xs[k] as u64 * 3; } s",
    "let (m, n) = (a / 3, b); let k = match m { 0 => 1, 1 | 2..=9 => n, _ => { out.push(m); 7 } }; k as u64",
    "for w in g.neighbors(a) { if at[w].compare_exchange(LIMIT, b + 1) { out.push(w); } } at[0].fetch_min(3) as u64",
    "let f = if x < y { x.max(y) } else { -y }; let mut h = f * 2.0; h -= 1.5; h.to_bits() as u64",
    "let k = loop { if t && a > 3 || !t { break i64::MAX; } return; }; assert!(k != 0, \"zero\"); k as u64 >> 3",
    "match (a, b) { (0, n) | (n, 0) if matches!(n, 1..=7) => n as u64, (.., 3) => 1, _ => g.edges(a).end as u64 }",
    "let mut v = [a; 4]; v[(b & 3) as usize] += 1; v.swap(0, 1); let (m, mut n) = ((a, t), 0); for k in v { n += k * m.0; } n as u64",
    "let v = helper(a, { 1 + 2 }); while v > 3 { break; } (v as f32).sqrt() as u64 ^ *result",
];

/// Replaces, drops, doubles and swaps tokens; whatever comes out, the compiler answers and does not panic. `VYRE_FUZZ`
/// is the number of mutants.
#[test]
fn mutated_source_never_panics() {
    use proc_macro2::{Group, TokenStream, TokenTree};
    fn flatten(ts: TokenStream, into: &mut Vec<TokenTree>) {
        for t in ts {
            if let TokenTree::Group(g) = &t {
                flatten(g.stream(), into);
            }
            into.push(t);
        }
    }
    fn mutate(ts: TokenStream, at: &mut usize, with: &TokenTree, how: usize) -> TokenStream {
        let mut out = Vec::new();
        for t in ts {
            let here = *at == 0;
            *at = at.wrapping_sub(1);
            match (here, how) {
                (true, 0) => out.push(with.clone()),
                (true, 1) => {}
                (true, 2) => out.extend([t.clone(), t]),
                (true, _) => out.extend([with.clone(), t]),
                (false, _) => match t {
                    TokenTree::Group(g) => {
                        let inner = mutate(g.stream(), at, with, how);
                        out.push(Group::new(g.delimiter(), inner).into());
                    }
                    other => out.push(other),
                },
            }
        }
        out.into_iter().collect()
    }
    let helpers = "fn helper(k: u32, l: u32) -> u32 { if k > l { return l; } k % l }";
    let seeds: Vec<TokenStream> = SEEDS.iter().map(|s| s.parse().unwrap()).collect();
    let mut pool = Vec::new();
    for s in &seeds {
        flatten(s.clone(), &mut pool);
    }
    let mut state = 7u64;
    let mut next = move |n: usize| {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 33) as usize % n.max(1)
    };
    let mutants = std::env::var("VYRE_FUZZ").map_or(4_000, |n| n.parse().expect("a number"));
    let (mut parsed, mut compiled) = (0, 0);
    for _ in 0..mutants {
        let mut tokens = seeds[next(seeds.len())].clone();
        for _ in 0..=next(3) {
            let mut all = Vec::new();
            flatten(tokens.clone(), &mut all);
            let (with, how) = (pool[next(pool.len())].clone(), next(4));
            tokens = mutate(tokens, &mut next(all.len()), &with, how);
        }
        let body = tokens.to_string();
        if syn::parse_str::<syn::Block>(&format!("{{ *result = {{ {body} }}; }}")).is_err() {
            continue;
        }
        parsed += 1;
        let mut report = Report::default();
        if let Some((body, tables)) = attempt("f", helpers, &body, &mut report) {
            compiled += 1;
            assert!(report.is_empty());
            // rustc refuses a variable that is read before it is assigned, and an operator that a type lacks.
            let lowered = lower(&body, &mut Literals::new(tables.constant_count()));
            let unassigned = LowerError::Invalid("a local that is read before it is assigned");
            assert!(
                matches!(lowered, Ok(_) | Err(LowerError::Unsupported { .. }))
                    || lowered.as_ref() == Err(&unassigned),
                "{tokens}: {lowered:?}"
            );
        }
    }
    println!("{parsed} bodies, {compiled} of them kernels");
    assert!(
        parsed > 50 && compiled > 5,
        "{parsed} parsed, {compiled} compiled"
    );
}
#[test]
fn an_update_with_operands_that_trap_stays_an_update() {
    let mut report = Report::default();
    let body = "at[a].fetch_add(10 / b); at[b].fetch_add(xs[a]); 1";
    let (body, _) = attempt("f", "", body, &mut report).unwrap();
    let modes: Vec<_> = vyre_core::compile::effects::uses(&body)
        .into_iter()
        .map(|u| (u.resource, u.mode))
        .collect();
    assert_eq!(
        modes,
        [
            (Resource::Buffer(BufferId(0)), Mode::Write),
            (Resource::Buffer(BufferId(1)), Mode::Read),
            (Resource::Buffer(BufferId(2)), Mode::Update(UpdateOp::Add)),
        ]
    );
}

/// The language reference uses every method and every constant of the tables in an example, which tests run.
#[test]
fn the_reference_shows_every_method() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/LANGUAGE.md");
    let page = std::fs::read_to_string(path).unwrap();
    let examples: String = page.split("```").skip(1).step_by(2).collect();
    let scalars = methods::METHODS.iter().map(|m| m.name);
    let rows = methods::BITS.iter().map(|m| m.0).chain(["ones"]);
    let others = [
        "from_bits",
        "neighbors",
        "edges",
        "target",
        "degree",
        "push",
        "append",
        "add",
        "min",
        "max",
        "or",
        "and",
        "inc",
        "len",
        "is_empty",
        "get",
        "swap",
        "fill",
        "rev",
        "step_by",
        "into",
    ];
    let methods = scalars.chain(rows).chain(methods::ATOMIC.iter().copied());
    let missing: Vec<&str> = methods
        .chain(others)
        .filter(|m| {
            ![".", "::"]
                .iter()
                .any(|dot| examples.contains(&format!("{dot}{m}(")))
        })
        .collect();
    assert_eq!(missing, [""; 0]);
    let constants = [
        "MIN",
        "MAX",
        "BITS",
        "MIN_POSITIVE",
        "EPSILON",
        "INFINITY",
        "NEG_INFINITY",
        "NAN",
    ];
    for name in constants {
        assert!(examples.contains(&format!("::{name}")), "{name}");
    }
}

#[path = "cases.rs"]
mod cases;
