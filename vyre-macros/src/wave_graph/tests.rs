//! What the macro says about a module, through the same stages as in a compiler.

use super::build::*;
use super::graph::*;
use super::*;
use crate::import::{self, Asker};
use crate::source;
use crate::tokens::source_text;
use proc_macro2::TokenStream;
use proc_macro2::TokenTree;
use quote::ToTokens;
use quote::quote;
use std::str::FromStr;
use syn::{Expr, Ident};
use vyre_core::plan::evidence::{self, Binding, Sample};
use vyre_core::vir0::fingerprint::Fingerprint;
use vyre_core::vir0::manifest::{Measured, Stale};
use vyre_core::vir0::module::{
    Agreement, ConstantId, Domain, FixpointId, FrontierId, Least, Mode, Program, Proviso, ReduceOp,
    ReductionId, Resource, Step, UpdateOp, WaveId, Why,
};

const DATA: &str = "pub struct Data {
    #[topology] graph: Csr,
    #[topology(per = edge(graph))] weight: u32,
    #[topology(reverse_of = graph)] back: Csr,
    #[frontier] front: Frontier,
    #[frontier(unique)] once: Frontier,
    #[output(per = node)] dist: u32,
    #[scratch(per = node)] mark: u32,
    #[scratch(per = node)] rank: f32,
    #[scratch(per = n)] line: u32,
    #[input(per = node)] prior: f32,
    #[reduce(sum)] total: f32,
    #[reduce(count)] changed: u64,
    source: u32,
    n: u32,
}";

fn parse(body: &str, attr: TokenStream) -> (Graph, Report) {
    let mut report = Report::default();
    let module = syn::parse_str(&format!("pub mod g {{ {body} }}")).expect("the test parses");
    let graph = syntax::graph(attr, module, &mut report);
    (graph, report)
}

/// Messages of a module whose `Data` is [`DATA`].
fn errors(waves: &str) -> Vec<String> {
    all_errors(&format!("{DATA} {waves}"))
}

fn all_errors(body: &str) -> Vec<String> {
    let (graph, mut report) = parse(body, TokenStream::new());
    let parsed = report.is_empty();
    let built = build(&graph, Imports::default(), parsed, &mut report);
    let messages: Vec<String> = report.messages().into_iter().map(|(_, m)| m).collect();
    if messages.is_empty() {
        assert!(built.skeleton.is_some(), "neither a program nor a message");
        check_plan(&built.program);
    }
    // Whatever happened, what is emitted is Rust.
    let tokens = expand::module(&built.expansion(&graph), report);
    syn::parse2::<syn::File>(tokens).expect("the expansion parses");
    messages
}

/// The one message, without its help.
fn error(waves: &str) -> String {
    let messages = errors(waves);
    assert_eq!(messages.len(), 1, "{messages:#?}");
    let message = messages[0].split("\n\nhelp: ").next().unwrap_or_default();
    message.to_owned()
}

/// The one message's help.
fn help(waves: &str) -> String {
    let messages = errors(waves);
    assert_eq!(messages.len(), 1, "{messages:#?}");
    let help = messages[0].split("\n\nhelp: ").nth(1).unwrap_or_default();
    help.to_owned()
}

fn program(waves: &str) -> Program {
    let (graph, mut report) = parse(&format!("{DATA} {waves}"), TokenStream::new());
    let built = build(&graph, Imports::default(), true, &mut report);
    assert!(built.skeleton.is_some(), "{:#?}", report.messages());
    check_plan(&built.program);
    built.program
}

/// Another judge than the stage that wrote the schedule.
fn check_plan(program: &Program) {
    let wrong = vyre_core::plan::check::program(program);
    assert!(wrong.is_empty(), "{wrong:#?}\n{:#?}", program.schedule);
}

#[test]
fn breadth_first_search_is_a_program() {
    let p = program(
        "#[wave(nodes)] fn init(v: Node, source: u32, dist: &mut u32, front: &Push) {
            *dist = UNSEEN;
            if v == source { *dist = 0; front.push(v); }
        }
        #[fixpoint(after(init), until(front.is_empty()), max_rounds = 77)]
        mod levels {
            #[wave(edges(graph, from = front))]
            fn relax(e: Edge, round: Round, dist: &Buf<Atomic<u32>>, front: &Push) {
                if dist[e.dst].compare_exchange(UNSEEN, round + 1) { front.push(e.dst); }
            }
        }",
    );
    let (init, relax, levels) = (WaveId(0), WaveId(1), FixpointId(0));
    assert_eq!(
        p.schedule,
        [
            Step::Wave(init),
            Step::Barrier,
            Step::Loop(levels),
            Step::Wave(relax),
            Step::Until(levels),
            Step::End
        ]
    );
    assert_eq!(p.frontiers[0].owner, Some(levels));
    assert_eq!(p.frontiers[1].owner, None);
    assert_eq!(p.fixpoints[0].max_rounds, 77);
    assert_eq!(p.waves[0].domain, Domain::Nodes);
    let front = Resource::Frontier(FrontierId(0));
    let push = p.waves[0].accesses.iter().find(|a| a.resource == front);
    assert_eq!(push.map(|a| a.mode), Some(Mode::Update(UpdateOp::Push)));
    assert_eq!(p.agreement, Agreement::Bits);
}

#[test]
fn names_are_found_among_many_globs() {
    // Each module brings all of all others: a name is found, or not, at once.
    let modules: Vec<String> = (0..12).map(|k| format!("m{k}")).collect();
    let globs: String = modules
        .iter()
        .map(|m| format!("use self::{m}::*; use {m}::*; use elsewhere::{m}::*; use ::{m}::*;"))
        .collect();
    let declared: String = modules
        .iter()
        .map(|m| {
            format!(
                "#[device] mod {m} {{
                    pub(super) use super::*;
                    pub(super) use super::m3::*;
                    pub(super) const OF_{m}: u32 = 1;
                    const low: u32 = 2;
                    #[device] pub(super) fn f_{m}(x: u32) -> u32 {{ x + OF_m11 + UNSEEN + f_m11_or(x) }}
                    #[device] pub(super) fn {m}_or(x: u32) -> u32 {{ x }}
                }}"
            )
        })
        .collect();
    let declared = declared.replace("f_m11_or", "m11_or");
    let wave = "#[wave(nodes)] fn a(v: Node, dist: &mut u32) {
        *dist = match v { low => low + UNSEEN, } + f_m0(OF_m5) + f_m11(v);
    }";
    let p = program(&format!("{globs} {declared} {wave}"));
    // `UNSEEN` and `OF_m5` in the wave; `OF_m11` and `UNSEEN` in each of the two functions. `low` is private where it
    // stands.
    assert_eq!(p.constants.len(), 6);
    let missing = errors(&format!(
        "{globs} {declared} #[wave(nodes)] fn a(v: Node, dist: &mut u32) {{ *dist = missing(v); }}"
    ));
    assert_eq!(missing.len(), 1, "{missing:#?}");
    assert!(missing[0].starts_with("`missing` is not a `#[device]` function in scope"));
}

#[test]
fn keywords_are_no_names_in_attributes() {
    let graph = |per: &str, from: &str, after: &str, until: &str| {
        format!(
            "pub struct Data {{
                #[topology] r#type: Csr,
                #[frontier] r#loop: Frontier,
                #[output(per = {per})] out: u32,
                r#move: u32,
                n: u32,
            }}
            #[wave(nodes)] fn r#in(v: Node, r#loop: &Push) {{ r#loop.push(v); }}
            #[fixpoint({after}, until({until}))] mod f {{
                #[wave(edges({from}))]
                fn a(e: Edge, r#loop: &Push) {{ if e.src > e.dst {{ r#loop.push(e.dst); }} }}
            }}"
        )
    };
    let fine = [
        "edge(r#type)",
        "r#type, from = r#loop",
        "after(r#in)",
        "round > r#move",
    ];
    let errors = |at: usize, with: &str| {
        let mut parts = fine;
        parts[at] = with;
        all_errors(&graph(parts[0], parts[1], parts[2], parts[3]))
    };
    assert_eq!(errors(0, fine[0]), Vec::<String>::new());
    for (at, with, keyword) in [
        (0, "edge(type)", "type"),
        (0, "move", "move"),
        (1, "type, from = r#loop", "type"),
        (1, "r#type, from = loop", "loop"),
        (2, "after(in)", "in"),
        (3, "round > move", "move"),
        (3, "move < round", "move"),
        (3, "loop.is_empty()", "loop"),
        (3, "loop.is_empty() || round > n", "loop"),
        (3, "match > round", "match"),
        (3, "if > round", "if"),
        (3, "abstract > round", "abstract"),
    ] {
        let messages = errors(at, with);
        let says = format!("`{keyword}` is a keyword of Rust, and cannot name anything");
        let help = format!("write `r#{keyword}`, here and where it is declared");
        assert!(messages[0].starts_with(&says), "{with}: {messages:#?}");
        assert!(messages[0].contains(&help), "{with}: {messages:#?}");
        // What is not declared is said too.
        let known = !["match", "if", "abstract"].contains(&keyword);
        assert_eq!(
            messages.len(),
            1 + usize::from(!known),
            "{with}: {messages:#?}"
        );
    }
}

#[test]
fn a_diamond_has_three_groups() {
    let p = program(
        "#[wave(nodes)] fn a(v: Node, dist: &mut u32) { *dist = v; }
        #[wave(nodes, after(a))] fn b(dist: &u32, mark: &mut u32) { *mark = *dist; }
        #[wave(nodes, after(a))] fn c(dist: &u32, rank: &mut f32) { *rank = *dist as f32; }
        #[wave(nodes, after(b, c))] fn d(mark: &u32, rank: &f32, total: &Reduce<Sum<f32>>) {
            total.add(*rank + *mark as f32);
        }",
    );
    let waves = |ids: &[u16]| {
        ids.iter()
            .map(|&w| Step::Wave(WaveId(w)))
            .collect::<Vec<_>>()
    };
    let mut expected = waves(&[0]);
    expected.push(Step::Barrier);
    expected.extend(waves(&[1, 2]));
    expected.push(Step::Barrier);
    expected.extend(waves(&[3]));
    expected.push(Step::End);
    assert_eq!(p.schedule, expected);
    assert_eq!(p.reductions[0].owner, None);
}

#[test]
fn owners_are_the_innermost_fixpoint_around_all_uses() {
    let p = program(
        "#[fixpoint(until(front.is_empty()))] mod outer {
            #[wave(items(front))] fn seed(v: Node, once: &Push) { once.push(v); }
            #[fixpoint(after(seed), until(once.is_empty()))] mod inner {
                #[wave(items(once))] fn step(v: Node, changed: &Reduce<Count>) { changed.inc(); }
            }
        }",
    );
    assert_eq!(p.frontiers[0].owner, Some(FixpointId(0)));
    assert_eq!(p.frontiers[1].owner, Some(FixpointId(1)));
    assert_eq!(p.reductions[1].owner, Some(FixpointId(1)));
    assert_eq!(p.fixpoints[1].parent, Some(FixpointId(0)));
    let (outer, inner) = (FixpointId(0), FixpointId(1));
    assert_eq!(
        p.schedule,
        [
            Step::Loop(outer),
            Step::Wave(WaveId(0)),
            Step::Barrier,
            Step::Loop(inner),
            Step::Wave(WaveId(1)),
            Step::Until(inner),
            Step::Until(outer),
            Step::End
        ]
    );
}

#[test]
fn names_are_checked_and_near_misses_suggested() {
    assert_eq!(
        error("#[wave(nodes)] fn w(v: Node, dits: &mut u32) {}"),
        "`dits` is not a field of `Data`"
    );
    assert_eq!(
        help("#[wave(nodes)] fn w(v: Node, dits: &mut u32) {}"),
        "did you mean `dist`?"
    );
    assert_eq!(
        error("#[wave(items(fron))] fn w(v: Node) {}"),
        "`fron` is not a field of `Data`"
    );
    assert_eq!(
        error("#[wave(items(dist))] fn w(v: Node) {}"),
        "`dist` is a buffer, not a frontier or a list"
    );
    assert_eq!(
        error("#[wave(node)] fn w(v: Node) {}"),
        "`node` is not a domain of a wave"
    );
    assert_eq!(error("#[wave] fn w() {}"), "wave `w` has no domain");
}

#[test]
fn parameters_fit_fields_and_domains() {
    for (wave, message) in [
        (
            "#[wave(nodes)] fn w(e: Edge) {}",
            "the item of `nodes` is `Node`, not `Edge`",
        ),
        (
            "#[wave(once)] fn w(v: Node) {}",
            "`once` sweeps a single lane: it has no item",
        ),
        (
            "#[wave(nodes)] fn w(v: Node, u: Node) {}",
            "a wave has one item, and `v` is it",
        ),
        (
            "#[wave(nodes)] fn w(round: Round) {}",
            "wave `w` is in no fixpoint, so it has no round",
        ),
        (
            "#[wave(nodes)] fn w(dist: &mut f32) {}",
            "`dist` has elements of type `u32` in `Data`, not `f32`",
        ),
        (
            "#[wave(nodes)] fn w(dist: u32) {}",
            "`dist` is a buffer; it cannot be taken as `u32`",
        ),
        (
            "#[wave(nodes)] fn w(source: &u32) {}",
            "`source` is a scalar of the run, the same for every lane",
        ),
        (
            "#[wave(nodes)] fn w(front: &Buf<u32>) {}",
            "`front` is a frontier; it cannot be taken as `&Buf<u32>`",
        ),
        (
            "#[wave(nodes)] fn w(prior: &mut f32) {}",
            "`prior` is `#[input]`, which waves only read",
        ),
        (
            "#[wave(nodes)] fn w(weight: &Buf<Atomic<u32>>) {}",
            "`weight` is `#[topology]`, which waves only read",
        ),
        (
            "#[wave(nodes)] fn w(total: &Reduce<Min<f32>>) {}",
            "`total` is a reduction; it cannot be taken as `&Reduce<Min<f32>>`",
        ),
        (
            "#[wave(edges(graph))] fn w(e: Edge, dist: &mut u32) {}",
            "`dist` has one element per node; a lane of `edges` does not own one of them",
        ),
        (
            "#[wave(items(front))] fn w(v: Node, dist: &mut u32) {}",
            "a node can be in frontier `front` more than once, so two lanes could own one element of `dist`",
        ),
        (
            "#[wave(range(n))] fn w(i: Index, dist: &u32) {}",
            "`dist` has one element per node; a lane of `range` does not own one of them",
        ),
    ] {
        assert_eq!(error(wave), message);
    }
}

#[test]
fn elements_are_owned_where_each_belongs_to_one_lane() {
    for wave in [
        "#[wave(nodes)] fn w(dist: &mut u32) { *dist = 1; }",
        "#[wave(items(once))] fn w(v: Node, dist: &mut u32) { *dist = v; }",
        "#[wave(items(front))] fn w(v: Node, dist: &u32, mark: &Buf<Atomic<u32>>) { mark[v].store(*dist); }",
        "#[wave(edges(graph, from = once))] fn w(e: Edge, weight: &u32, mark: &Buf<Atomic<u32>>) { mark[e.dst].fetch_add(*weight); }",
        "#[wave(range(n))] fn w(i: Index, line: &mut u32) { *line = i; }",
    ] {
        assert_eq!(errors(wave), Vec::<String>::new(), "{wave}");
    }
}

#[test]
fn several_errors_are_reported_at_once() {
    let found = errors(
        "#[wave(nodes)] fn a(v: Node, dits: &mut u32) {}
        #[wave(items(front), after(aa))] fn b(v: Node, mark: &mut u32) {}",
    );
    assert_eq!(found.len(), 3, "{found:#?}");
}

#[test]
fn cycles_show_their_path_and_mark_the_next_edge() {
    let found = errors(
        "#[wave(nodes, after(c))] fn a() {}
        #[wave(nodes, after(a))] fn b() {}
        #[wave(nodes, after(b))] fn c() {}",
    );
    assert_eq!(found.len(), 2, "{found:#?}");
    let path = found
        .iter()
        .find(|m| m.contains("cycle: `"))
        .expect("one shows the path");
    assert!(path.starts_with("these wait for each other in a cycle: `a -> b -> c -> a`"));
    assert!(path.contains("#[fixpoint"));
    assert!(found.contains(&"`b` waits for `a`: part of the cycle".to_owned()));
}

#[test]
fn after_names_siblings() {
    assert_eq!(
        error("#[wave(nodes, after(a))] fn a() {}"),
        "`a` cannot come after itself"
    );
    let inner = "#[wave(nodes)] fn init(front: &Push) { front.push(0); }
        #[fixpoint(after(init), until(front.is_empty()))] mod f {
            #[wave(items(front), after(init))] fn w(v: Node) {}
        }";
    assert_eq!(error(inner), "`init` is not beside this in fixpoint `f`");
    let outer = "#[fixpoint(until(front.is_empty()))] mod f {
            #[wave(items(front))] fn w(v: Node) {}
        }
        #[wave(nodes, after(w))] fn last() {}";
    assert_eq!(help(outer), "it runs inside fixpoint `f`: write `after(f)`");
}

#[test]
fn unordered_conflicts_name_both_places_and_the_after() {
    let found = errors(
        "#[wave(nodes)] fn write(v: Node, dist: &mut u32) { *dist = v; }
        #[wave(nodes)] fn read(dist: &u32, mark: &mut u32) { *mark = *dist; }",
    );
    assert_eq!(
        found,
        [
            "`read` reads `dist`, which `write` writes, and nothing orders the two\n\nhelp: add `after(write)` to `read`, or `after(read)` to `write`",
            "`write` writes `dist` here, unordered with `read`",
        ]
    );
    let found = errors(
        "#[wave(nodes)] fn low(v: Node, dist: &Buf<Atomic<u32>>) { dist[0].fetch_min(v); }
        #[wave(nodes)] fn high(v: Node, dist: &Buf<Atomic<u32>>) { dist[0].fetch_max(v); }",
    );
    assert_eq!(
        found[1],
        "`low` takes the minimum into `dist` here, unordered with `high`"
    );
    let same = "#[wave(nodes)] fn one(v: Node, dist: &Buf<Atomic<u32>>) { dist[0].fetch_min(v); }
        #[wave(nodes)] fn two(v: Node, dist: &Buf<Atomic<u32>>) { dist[1].fetch_min(v); }";
    assert_eq!(errors(same), Vec::<String>::new());
}

#[test]
fn a_fixpoint_conflicts_as_one_node_and_its_own_frontier_does_not() {
    let found = errors(
        "#[wave(nodes)] fn init(v: Node, front: &Push) { front.push(v); }
        #[fixpoint(until(front.is_empty()))] mod f {
            #[wave(items(front))] fn w(v: Node) {}
        }",
    );
    assert_eq!(found.len(), 2, "{found:#?}");
    assert!(found[0].contains("nothing orders the two"));
    let own = "#[fixpoint(until(front.is_empty()))] mod f {
            #[wave(items(front))] fn sweep(v: Node, mark: &Buf<Atomic<u32>>) { mark[v].fetch_add(1); }
            #[wave(nodes)] fn refill(v: Node, front: &Push) { front.push(v); }
        }";
    assert_eq!(errors(own), Vec::<String>::new());
}

#[test]
fn reductions_are_read_after_their_updaters() {
    assert_eq!(
        error(
            "#[wave(nodes)] fn early(total: f32, rank: &mut f32) { *rank = total; }
            #[wave(nodes, after(early))] fn late(total: &Reduce<Sum<f32>>) { total.add(1.0); }",
        ),
        "`early` reads reduction `total` before `late` updates it"
    );
    let p = program(
        "#[fixpoint(until(total < 1.0))] mod f {
            #[wave(nodes)] fn add(total: &Reduce<Sum<f32>>) { total.add(1.0); }
            #[wave(nodes, after(add))] fn read(total: f32, rank: &mut f32) { *rank = total; }
        }",
    );
    assert_eq!(
        p.reductions[ReductionId(0).index()].owner,
        Some(FixpointId(0))
    );
}

#[test]
fn a_frontier_that_never_flips_is_not_swept_as_if_it_did() {
    assert_eq!(
        error("#[wave(items(front))] fn w(v: Node, front: &Push) { front.push(v); }"),
        "wave `w` sweeps and pushes `front`, which no fixpoint owns"
    );
    let list = "#[wave(nodes)] fn make(v: Node, front: &Push) { front.push(v); }
        #[wave(items(front), after(make))] fn sweep(v: Node, mark: &Buf<Atomic<u32>>) { mark[v].fetch_add(1); }";
    assert_eq!(errors(list), Vec::<String>::new());
}

#[test]
fn swaps_are_of_equal_buffers() {
    let f = |swap: &str| {
        format!(
            "#[fixpoint(until(front.is_empty()), {swap})] mod f {{
                #[wave(items(front))] fn w(v: Node) {{}}
            }}"
        )
    };
    assert_eq!(
        error(&f("swap(mark, rank)")),
        "`mark` and `rank` cannot be swapped: `mark` has u32 elements and `rank` has f32"
    );
    assert_eq!(
        error(&f("swap(mark, dist)")),
        "`mark` and `dist` cannot be swapped: one is `#[output]`, the other `#[scratch]`"
    );
    assert_eq!(
        error(&f("swap(prior, rank)")),
        "`prior` is read-only: it cannot be swapped"
    );
}

#[test]
fn data_is_checked() {
    for (body, message) in [
        (
            "#[wave(once)] fn w() {}",
            "wave graph `g` has no `struct Data`",
        ),
        ("pub struct Data { n: u32 }", "wave graph `g` has no waves"),
        (
            "pub struct Data { n: usize } #[wave(once)] fn w() {}",
            "`usize` is not a type of a field of `Data`",
        ),
        (
            "pub struct Data { g: Csr } #[wave(once)] fn w() {}",
            "`g` is a graph without a role",
        ),
        (
            "pub struct Data { #[outputs(per = 4)] d: u32 } #[wave(once)] fn w() {}",
            "`#[outputs]` is not an attribute of a field of `Data`",
        ),
        (
            "pub struct Data { #[output] d: u32 } #[wave(once)] fn w() {}",
            "buffer `d` has no size",
        ),
        (
            "pub struct Data { #[list(capacity = 4)] d: u32 } #[wave(once)] fn w() {}",
            "`#[list]` needs the type `List<T>`, not `u32`",
        ),
        (
            "pub struct Data { #[topology] g: Csr, #[output(per = node)] d: Bits } #[wave(once)] fn w() {}",
            "`d` is no buffer of rows of bits",
        ),
        (
            "pub struct Data { #[topology] g: Csr, #[output(per = node, bits = 64)] d: u64 } #[wave(once)] fn w() {}",
            "`d` is no buffer of rows of bits",
        ),
        (
            "pub struct Data { #[topology] g: Csr, #[output(per = node, bits = 64)] d: Bits } #[wave(once)] fn w(d: &Buf<u32>) {}",
            "`d` is a buffer; it cannot be taken as `&Buf<u32>`",
        ),
        (
            "pub struct Data { #[list] d: List<u32> } #[wave(once)] fn w() {}",
            "list `d` has no capacity",
        ),
        (
            "pub struct Data { d: List<u32> } #[wave(once)] fn w() {}",
            "`d` is a list without its attribute",
        ),
        (
            "pub struct Data { #[frontier] d: Frontier<u64> } #[wave(once)] fn w() {}",
            "a frontier of items has no natural capacity",
        ),
        (
            "pub struct Data { #[frontier(unique)] d: Frontier<u64> } #[wave(once)] fn w() {}",
            "a `unique` frontier holds nodes",
        ),
        (
            "pub struct Data { #[list(capacity = 4)] d: List<[u32; 2]> } #[wave(once)] fn w() {}",
            "items and elements of this type are not in the language",
        ),
        (
            "pub struct P(u32); pub struct Data { #[list(capacity = 4)] d: List<P> } #[wave(once)] fn w() {}",
            "items and elements of this type are not in the language",
        ),
        (
            "type F = f64; pub struct Data { #[list(capacity = 4)] d: List<(F, F, F, F, F, F, F, F, F)> } #[wave(once)] fn w() {}",
            "an item or element has at most 8 scalars; this one has 9",
        ),
        (
            "pub struct Data { #[list(capacity = 4)] d: List<u64> } #[wave(once)] fn w(d: &Append<u32>) {}",
            "`d` is a list; it cannot be taken as `&Append<u32>`",
        ),
        (
            "pub struct Data { #[list(capacity = 4)] d: List<u64> } #[wave(items(d))] fn w(x: u32) {}",
            "the item is `u64`, not `u32`",
        ),
        (
            "pub struct Data { #[list(capacity = 4)] d: List<u64> } #[wave(items(d))] fn w() {}",
            "wave `w` does not take its item",
        ),
        (
            "pub struct Data { #[topology] g: Csr, #[frontier] d: Frontier } #[wave(items(d, new))] fn w(v: Node) {}",
            "`new` is for lists, and `d` is a frontier",
        ),
        (
            "pub struct Data { #[topology] g: Csr, #[frontier(capacity = 9)] d: Frontier<u64> } #[wave(edges(g, from = d))] fn w(e: Edge) {}",
            "the items of `d` are not nodes: they have no edges",
        ),
        (
            "pub struct Data { #[reduce(mean)] d: f32 } #[wave(once)] fn w() {}",
            "`reduce` has no argument `mean`",
        ),
        (
            "pub struct Data { n: u32 } struct Run; #[wave(once)] fn w() {}",
            "`#[wave_graph]` defines `Run` in this module",
        ),
        (
            "pub struct Data { n: u32 } #[fixpoint(until(n == 0))] mod f {} #[wave(once)] fn w() {}",
            "fixpoint `f` has no waves",
        ),
        (
            "pub struct Data { n: u32 } #[fixpoint] mod f { #[wave(once)] fn w() {} }",
            "fixpoint `f` does not say when it stops",
        ),
        (
            "pub struct Data { n: u32 } #[wave(nodes)] fn w() {}",
            "`nodes` needs a node set, and `Data` has no topology",
        ),
    ] {
        let found = all_errors(body);
        assert_eq!(found.len(), 1, "{body}: {found:#?}");
        assert!(found[0].starts_with(message), "{body}: {found:#?}");
    }
}

#[test]
fn options_and_claims_are_kept() {
    let (graph, report) = parse(
        DATA,
        quote! { limits(nodes = 16_000_000, edges = 256_000_000), budget = "4 GiB", crate = other::vyre },
    );
    // Only the missing waves.
    assert_eq!(report.messages().len(), 1);
    assert_eq!(graph.options.limits.nodes, Some(16_000_000));
    assert_eq!(graph.options.limits.edges, Some(256_000_000));
    assert_eq!(graph.options.budget_bytes, Some(4 << 30));
    assert_eq!(graph.options.krate.to_string(), "other :: vyre");
    assert!(graph.claim.manifest.unproven);

    let claim = |tokens: &str| {
        let mut report = Report::default();
        let module: syn::ItemMod =
            syn::parse_str(&format!("#[pass({tokens})] mod m {{}}")).expect("parses");
        let claim = crate::pass::parse(&module.attrs, String::new(), "m", &mut report);
        let messages: Vec<String> = report
            .messages()
            .into_iter()
            .map(|(_, m)| m.split("\n\nhelp: ").next().unwrap_or_default().to_owned())
            .collect();
        (claim.manifest, messages)
    };
    let (m, messages) = claim(
        r#"id = "reach.bfs", min_frontier_items = 1_000, min_reuse = 4, speedup = 1.8, evidence = "evidence/bfs.csv""#,
    );
    assert_eq!(messages, Vec::<String>::new());
    assert_eq!(
        (m.id.as_str(), m.speedup_bps, m.unproven),
        ("reach.bfs", 18_000, true) // outside a compiler no file is read
    );
    assert_eq!((m.min_frontier_items, m.min_reuse), (1_000, 4));
    assert_eq!(claim(r#"id = "x""#).1, ["pass `x` has no evidence"]);
    assert_eq!(
        claim(r#"id = "", unproven"#).1,
        ["a pass needs an id that is not empty"]
    );
    assert_eq!(
        claim(r#"speedup = 1.0, evidence = "a.csv""#).1,
        ["a claimed speedup is above 1.0"]
    );
    assert_eq!(
        claim("evidense = \"a.csv\"").1,
        ["`pass` has no argument `evidense`"]
    );
}

/// Deletes, repeats and swaps tokens, at every depth.
fn mutate(tokens: TokenStream, random: &mut impl FnMut(u32) -> u32) -> TokenStream {
    let mut list: Vec<TokenTree> = tokens.into_iter().collect();
    if list.is_empty() {
        return TokenStream::new();
    }
    let at = random(list.len() as u32) as usize;
    let other = random(list.len() as u32) as usize;
    const NAMES: [&str; 24] = [
        "v", "dist", "front", "rank", "f32", "u32", "Node", "Edge", "levels", "graph", "mut",
        "items", "self", "super", "crate", "Self", "Point", "device", "include", "Bits", "List",
        "u8", "until", "swap",
    ];
    match random(8) {
        0 => drop(list.remove(at)),
        1 => list.insert(at, list[other].clone()),
        2 => list.swap(at, other),
        3 | 4 => {
            let words: Vec<usize> = (0..list.len())
                .filter(|&i| matches!(list[i], TokenTree::Ident(_)))
                .collect();
            if !words.is_empty() {
                let at = words[random(words.len() as u32) as usize];
                let name = NAMES[random(NAMES.len() as u32) as usize];
                list[at] = Ident::new(name, Span::call_site()).into();
            }
        }
        _ => {
            // Deeper, where there is a group.
            let groups: Vec<usize> = (0..list.len())
                .filter(|&i| matches!(list[i], TokenTree::Group(_)))
                .collect();
            if !groups.is_empty() {
                let at = groups[random(groups.len() as u32) as usize];
                if let TokenTree::Group(g) = &list[at] {
                    let inner = mutate(g.stream(), random);
                    list[at] = proc_macro2::Group::new(g.delimiter(), inner).into();
                }
            }
        }
    }
    list.into_iter().collect()
}

#[test]
fn mutated_modules_give_messages_and_rust() {
    let source = format!(
        "pub mod g {{ {DATA}
        const K: u32 = 3;
        #[device] fn mix(x: u32, y: u32) -> u32 {{ (x ^ y).wrapping_mul(K) }}
        #[wave(nodes)] fn init(v: Node, source: u32, dist: &mut u32, front: &Push, prior: &f32, rank: &mut f32) {{
            *dist = u32::MAX; *rank = *prior * 0.5;
            if v == source {{ *dist = 0; front.push(v); }}
        }}
        #[fixpoint(after(init), until(front.is_empty() || total < 0.5), max_rounds = 7)] mod levels {{
            #[wave(edges(graph, from = front))]
            fn relax(e: Edge, round: Round, weight: &u32, dist: &Buf<Atomic<u32>>, front: &Push) {{
                let next = mix(*weight, round) + 1;
                if dist[e.dst].fetch_min(next) > next {{ front.push(e.dst); }}
            }}
            #[wave(nodes)] fn count(v: Node, graph: &Csr, total: &Reduce<Sum<f32>>) {{
                for u in graph.neighbors(v) {{ if u > v {{ continue; }} total.add(1.0); }}
            }}
        }} }}"
    );
    let source = TokenStream::from_str(&source).expect("the test lexes");
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = |n: u32| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        ((state >> 33) % u64::from(n)) as u32
    };
    let (mut rust, mut others) = (0, 0);
    while rust < 200 {
        let mut item = source.clone();
        for _ in 0..=random(2) {
            item = mutate(item, &mut random);
        }
        let was_rust = syn::parse2::<Item>(item.clone()).is_ok();
        if !was_rust && others == 50 {
            continue;
        }
        let shown = item.to_string();
        if let Ok(Item::Mod(module)) = syn::parse2(item.clone()) {
            let mut report = Report::default();
            let graph = syntax::graph(TokenStream::new(), module, &mut report);
            let parsed = report.is_empty();
            let built = build(&graph, Imports::default(), parsed, &mut report);
            let internal = |(_, m): &(Span, String)| m.contains("internal error");
            assert!(!report.messages().iter().any(internal), "{shown}");
            assert_eq!(built.skeleton.is_some(), report.is_empty(), "{shown}");
            if built.skeleton.is_some() {
                check_plan(&built.program);
            }
        }
        let out = import::expand(Asker::WaveGraph, TokenStream::new(), item);
        if was_rust {
            rust += 1;
            syn::parse2::<syn::File>(out).expect("the expansion parses");
        } else {
            others += 1;
        }
    }
}

#[test]
fn no_token_stream_panics() {
    for attr in [
        "",
        "x",
        "limits",
        "limits(",
        "crate = 1",
        "budget = \"x GiB\"",
        "a b c",
        "limits(nodes)",
    ] {
        let Ok(attr) = TokenStream::from_str(attr) else {
            continue;
        };
        for item in [
            "",
            "fn f() {}",
            "struct S;",
            "mod m;",
            "mod m {}",
            "x y z",
            "mod m { pub struct Data(u32); #[wave(,)] fn f(self, (a, b): (u32, u32)) {} }",
        ] {
            let item = TokenStream::from_str(item).expect("the test lexes");
            for asker in [Asker::WaveGraph, Asker::Kernel, Asker::Device] {
                let _ = import::expand(asker, attr.clone(), item.clone());
            }
            let _ = import::resume(item.clone());
            let _ = crate::pass::expand(attr.clone(), item);
        }
    }
}

/// Sources that the macros stand on: everything of that kind in the repository.
#[derive(Default)]
struct Corpus {
    seeds: Vec<(Asker, TokenStream)>,
    /// What a `#[device]` item or a graph hands out, to whoever asks for anything.
    packages: Vec<TokenStream>,
}

impl Corpus {
    fn file(&mut self, text: &str) {
        // syn's recursion would end the stack where a source shows what nests too deeply.
        let tokens: TokenStream = text.parse().expect("tokens");
        if source::check_depth(tokens, 0).is_err() {
            return;
        }
        // Some show what is said of broken syntax.
        if let Ok(source) = syn::parse_str::<syn::File>(text) {
            self.items(&source.items);
        }
    }

    fn items(&mut self, items: &[Item]) {
        for item in items {
            let attrs = match item {
                Item::Mod(m) => &m.attrs,
                Item::Fn(f) => &f.attrs,
                _ => continue,
            };
            let word = |a: &syn::Attribute| match a.path().get_ident()?.to_string().as_str() {
                "wave_graph" => Some(Asker::WaveGraph),
                "kernel" => Some(Asker::Kernel),
                "device" => Some(Asker::Device),
                _ => None,
            };
            if let Some(asker) = attrs.iter().find_map(word) {
                self.seeds.push((asker, item.to_token_stream()));
                if asker != Asker::Kernel {
                    self.packages.push(quote! { {#item} {} });
                }
            } else if let Item::Mod(m) = item
                && let Some((_, items)) = &m.content
            {
                self.items(items);
            }
        }
    }

    fn folder(&mut self, path: &str) {
        let path = format!("{}/../{path}", env!("CARGO_MANIFEST_DIR"));
        let files = std::fs::read_dir(path).expect("the sources are there");
        let mut files: Vec<_> = files.map(|f| f.expect("a file").path()).collect();
        files.sort();
        for file in files {
            if file.extension().is_some_and(|e| e == "rs") {
                self.file(&std::fs::read_to_string(file).expect("a source"));
            }
        }
    }

    fn of_the_repository() -> Corpus {
        let mut all = Corpus::default();
        for folder in [
            "ui-tests/fail",
            "ui-tests/pass",
            "vyre/tests",
            "examples/examples",
            "examples/src",
        ] {
            all.folder(folder);
        }
        let page = include_str!("../../../docs/LANGUAGE.md");
        let fenced = page.split("```").skip(1).step_by(2);
        for example in fenced.filter(|example| !example.starts_with("text")) {
            let source = example.split("# fn main").next().unwrap_or(example);
            all.file(&source.replace("\n# use", "\nuse"));
        }
        all
    }
}

/// What an expansion asks of another module, without the name: the input of `import!` but for the package.
fn asks(out: &TokenStream) -> Option<TokenStream> {
    let mut tokens = out.clone().into_iter();
    tokens.find(|t| matches!(t, TokenTree::Punct(p) if p.as_char() == '!'))?;
    match (tokens.next(), tokens.next()) {
        (Some(TokenTree::Group(g)), None) => {
            // Not a `compile_error!`.
            let first = g.stream().into_iter().next();
            matches!(first, Some(TokenTree::Group(_))).then(|| g.stream())
        }
        _ => None,
    }
}

fn is_rust(item: &TokenStream) -> bool {
    syn::parse2::<Item>(item.clone()).is_ok()
}

/// A mutation that leaves an item of Rust's, most times.
fn mostly_rust(item: TokenStream, random: &mut impl FnMut(u32) -> u32) -> TokenStream {
    let mut mutated = mutate(item.clone(), random);
    for _ in 0..8 {
        if is_rust(&mutated) {
            break;
        }
        mutated = mutate(item.clone(), random);
    }
    mutated
}

/// Sources with more wrong in each after some tokens moved, whatever other modules hand to them. `VYRE_FUZZ` is the
/// number of times that each is taken.
#[test]
fn mutated_sources_panic_nowhere() {
    let corpus = Corpus::of_the_repository();
    let (seeds, packages) = (&corpus.seeds, &corpus.packages);
    assert!(seeds.len() > 250, "{}", seeds.len());
    let turns = std::env::var("VYRE_FUZZ").map_or(1, |n| n.parse().expect("a number"));
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = |n: u32| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        ((state >> 33) % u64::from(n)) as u32
    };
    let (mut rust, mut answered) = (0, 0);
    for _ in 0..turns {
        for (asker, seed) in seeds {
            let mut item = seed.clone();
            for _ in 0..random(4) {
                item = mostly_rust(item, &mut random);
            }
            let was_rust = is_rust(&item);
            let mut out = import::expand(*asker, TokenStream::new(), item);
            while let Some(question) = asks(&out) {
                let mut package = packages[random(packages.len() as u32) as usize].clone();
                if random(4) == 0 {
                    package = mutate(package, &mut random);
                }
                out = import::resume(quote! { {#package} #question });
                answered += 1;
            }
            if was_rust {
                rust += 1;
                syn::parse2::<syn::File>(out).expect("the expansion parses");
            }
        }
    }
    println!(
        "{} sources, {rust} of them Rust, {answered} answers of other modules",
        seeds.len() * turns
    );
}

#[test]
fn conditions_are_kept_as_written() {
    for text in [
        "front.is_empty()",
        "changed == 0 && !front.is_empty()",
        "total <= 1e-6 || round + 1 >= u32::MAX",
        "(changed == 0) | (front.len() > limits::LOW[2])",
        "-x < (y as i32)",
    ] {
        let e: Expr = syn::parse_str(text).expect("the test parses");
        assert_eq!(source_text(&e), text);
    }
}

/// Messages under `limits(nodes = 1_000, edges = 10_000)` and a budget; the schedule when there are none.
fn budgeted(waves: &str, budget: TokenStream) -> Result<Vec<Step>, Vec<String>> {
    let (graph, mut report) = parse(
        &format!("{DATA} {waves}"),
        quote! { limits(nodes = 1_000, edges = 10_000), budget = #budget },
    );
    let built = build(&graph, Imports::default(), true, &mut report);
    let messages: Vec<String> = report.messages().into_iter().map(|(_, m)| m).collect();
    if messages.is_empty() {
        check_plan(&built.program);
        Ok(built.program.schedule)
    } else {
        assert!(built.skeleton.is_none());
        Err(messages)
    }
}

#[test]
fn budgets_split_levels_and_refuse_what_cannot_be_split() {
    let waves = "#[wave(nodes)] fn a(mark: &mut u32) { *mark = 1; }
        #[wave(nodes)] fn b(rank: &mut f32) { *rank = 1.0; }";
    // Two graphs of 11,001 entries, weights, `dist`, `prior`, two reductions.
    let resident = 2 * 44_004 + 40_000 + 4_000 + 4_000 + 16;
    let (a, b) = (Step::Wave(WaveId(0)), Step::Wave(WaveId(1)));
    assert_eq!(budgeted(waves, quote!(144_024)), Ok(vec![a, b, Step::End]));
    assert_eq!(resident + 8_000, 144_024);
    assert_eq!(
        budgeted(waves, quote!(144_023)),
        Ok(vec![a, Step::Barrier, b, Step::End])
    );
    let refused = |budget| {
        budgeted(waves, budget)
            .expect_err("it does not fit")
            .concat()
    };
    assert_eq!(
        refused(quote!(140_023)),
        "`g` cannot meet its budget: barrier group 0 (wave `a` alone) needs 140024 bytes; budget is 140023\n\n\
         help: `graph` takes 44004 bytes, `back` takes 44004 bytes and `weight` takes 40000 bytes; raise the budget, \
         lower the limits, or give a buffer a smaller type"
    );
    assert!(
        refused(quote!("1 KiB"))
            .contains("topologies, inputs and outputs need 136024 bytes; budget is 1024")
    );
}

fn warnings(waves: &str) -> Vec<String> {
    let (graph, mut report) = parse(&format!("{DATA} {waves}"), TokenStream::new());
    let built = build(&graph, Imports::default(), true, &mut report);
    assert!(built.skeleton.is_some(), "{:#?}", report.messages());
    report.warnings()
}

#[test]
fn an_after_that_orders_nothing_warns_of_the_barrier_it_costs() {
    let (a, b) = (
        "#[wave(nodes)] fn a(mark: &mut u32) { *mark = 1; }",
        "#[wave(nodes, after(a))] fn b(rank: &mut f32) { *rank = 1.0; }",
    );
    assert_eq!(
        warnings(&format!("{a} {b}")),
        [
            "`b` uses nothing that `a` changes, nor the other way round: this order costs 1 barrier, and nothing is lost without it"
        ]
    );
    // It follows what `a` wrote; or something else takes the barrier anyway.
    let reads =
        "#[wave(nodes, after(a))] fn b(mark: &u32, rank: &mut f32) { *rank = *mark as f32; }";
    assert_eq!(warnings(&format!("{a} {reads}")), [""; 0]);
    let c = "#[wave(nodes, after(a))] fn c(mark: &mut u32) { *mark += 1; }";
    assert_eq!(warnings(&format!("{a} {b} {c}")), [""; 0]);
    // A fixpoint begins with a barrier whatever its order.
    let fixpoint = "#[fixpoint(after(a), until(round == 3))] mod f {
        #[wave(nodes)] fn b(rank: &mut f32) { *rank = 1.0; } }";
    assert_eq!(warnings(&format!("{a} {fixpoint}")), [""; 0]);
    let inside = format!("#[fixpoint(until(round == 3))] mod f {{ {a} {b} }}");
    assert_eq!(warnings(&inside).len(), 1);
}

/// What the tests below sweep.
const LATTICES: &str = "const NONE: u32 = 7; pub struct Data {
    #[topology] graph: Csr,
    #[topology(per = edge(graph))] weight: u32,
    #[topology(per = node)] seeds: u32,
    #[frontier(unique)] front: Frontier,
    #[frontier(unique)] other: Frontier,
    #[output(per = node)] dist: u32,
    #[output(per = node)] far: i64,
    #[output(per = node)] cost: f32,
    #[output(per = node)] live: u64,
    #[scratch(per = node)] mark: u32,
    #[output(per = node, bits = width)] reached: Bits,
    #[list(capacity = 9)] log: List<u32>,
    #[reduce(or)] changed: bool,
    #[reduce(count)] changes: u64,
    #[reduce(max)] most: u32,
    width: u32,
    limit: u32,
}";

fn lattice(until: &str, waves: &str) -> Program {
    let source =
        format!("{LATTICES} #[fixpoint(until({until}), max_rounds = 10)] mod f {{ {waves} }}");
    let (graph, mut report) = parse(&source, TokenStream::new());
    let built = build(&graph, Imports::default(), true, &mut report);
    assert!(
        built.skeleton.is_some(),
        "{waves}: {:#?}",
        report.messages()
    );
    built.program
}

/// The provisos of a fixpoint that is the least one.
fn provisos(until: &str, waves: &str) -> Vec<Proviso> {
    match lattice(until, waves).agreement {
        Agreement::Result(fixpoints) => {
            assert_eq!(fixpoints.len(), 1, "{waves}");
            fixpoints[0].provisos.clone()
        }
        other => panic!("{other:?}: {waves}"),
    }
}

/// What stands against a fixpoint's being the least one.
fn obstacle(until: &str, waves: &str) -> Why {
    match lattice(until, waves).agreement {
        Agreement::Open(reasons) => {
            assert!(reasons.len() >= 2, "{reasons:?}: {waves}");
            reasons[1].why
        }
        other => panic!("{other:?}: {waves}"),
    }
}

#[test]
fn least_fixpoints_are_told_from_others() {
    let pushed = "front.is_empty()";
    let relax = |body: &str| {
        format!(
            "#[wave(edges(graph, from = front))] fn relax(e: Edge, round: Round, graph: &Csr, weight: &Buf<u32>, seeds: &Buf<u32>, limit: u32,
                 dist: &Buf<Atomic<u32>>, mark: &Buf<Atomic<u32>>, front: &Push, other: &Push, changes: &Reduce<Count>) {{ {body} }}"
        )
    };
    let w0 = WaveId(0);
    // Shortest paths, saturating or not; what is learned in two steps; a neighbour loop.
    let minimum = "let far = dist[e.src].load().saturating_add(weight[e.index]);
        if far < dist[e.dst].fetch_min(far) { front.push(e.dst); }";
    assert_eq!(provisos(pushed, &relax(minimum)), []);
    assert_eq!(
        provisos(
            pushed,
            &relax(&minimum.replace(".saturating_add(weight[e.index])", " + weight[e.index]"))
        ),
        [Proviso::NoWrap(w0)]
    );
    for least in [
        "let far = dist[e.src].load().max(weight[e.index]);
         if far < dist[e.dst].load() && far < dist[e.dst].fetch_min(far) { front.push(e.dst); changes.inc(); }",
        "let far = dist[e.src].load().max(weight[e.index]);
         let now = dist[e.dst].load();
         if far >= now { return; }
         dist[e.dst].fetch_min(far);
         front.push(e.dst);",
        "let far = dist[e.src].load() / 2;
         let old = dist[e.dst].fetch_min(far);
         if old <= far { return; }
         front.push(e.dst);",
        "let d = dist[e.src].load();
         if d == u32::MAX { return; }
         if d.max(3) < dist[e.dst].fetch_min(d.max(3)) { front.push(e.dst); }",
        "if seeds[e.src] == 3 && dist[e.src].load() < limit {
             if weight[e.index] < dist[e.dst].fetch_min(weight[e.index]) { front.push(e.dst); }
         }",
        "let (to, far) = (e.dst, dist[e.src].load());
         if dist[to].fetch_min(far) > far { front.push(e.dst); }",
        "for w in graph.neighbors(e.dst) {
             let far = dist[e.src].load();
             if dist[w].fetch_min(far) > far { front.push(w); }
         }",
    ] {
        assert_eq!(provisos(pushed, &relax(least)), [], "{least}");
    }
    // A named constant is decided when it is known.
    let named = "let d = dist[e.src].load(); if d != NONE && d < dist[e.dst].fetch_min(d) { front.push(e.dst); }";
    let p = lattice(pushed, &relax(named));
    let first = Proviso::First(w0, ConstantId(0), ReduceOp::Min);
    let of = |provisos| {
        Agreement::Result(vec![Least {
            fixpoint: FixpointId(0),
            provisos,
        }])
    };
    assert_eq!(p.agreement, of(vec![first]));

    for (open, why) in [
        // The round is stored, or guards.
        (
            "let far = dist[e.src].load().max(round);
          if far < dist[e.dst].fetch_min(far) { front.push(e.dst); }",
            Why::NotMonotone,
        ),
        (
            "if round < 3 { let far = dist[e.src].load();
          if far < dist[e.dst].fetch_min(far) { front.push(e.dst); } }",
            Why::NotMonotone,
        ),
        // A value that goes the other way, or any way.
        (
            "let far = 1000 - dist[e.src].load();
          if far < dist[e.dst].fetch_min(far) { front.push(e.dst); }",
            Why::NotMonotone,
        ),
        (
            "let far = dist[e.src].load() ^ 1;
          if far < dist[e.dst].fetch_min(far) { front.push(e.dst); }",
            Why::NotMonotone,
        ),
        (
            "let far = dist[e.src].load() % 7;
          if far < dist[e.dst].fetch_min(far) { front.push(e.dst); }",
            Why::NotMonotone,
        ),
        // A guard that turns off, or that is true for a while.
        (
            "let far = dist[e.src].load();
          if far > limit { if far < dist[e.dst].fetch_min(far) { front.push(e.dst); } }",
            Why::NotMonotone,
        ),
        (
            "let far = dist[e.src].load();
          if far == 5 { if far < dist[e.dst].fetch_min(far) { front.push(e.dst); } }",
            Why::NotMonotone,
        ),
        (
            "let far = dist[e.src].load();
          if far == 5 { return; }
          if far < dist[e.dst].fetch_min(far) { front.push(e.dst); }",
            Why::NotMonotone,
        ),
        // Which branch it was shows in a value.
        (
            "let mut far = 9; if dist[e.src].load() < limit { far = 3; }
          if far < dist[e.dst].fetch_min(far) { front.push(e.dst); }",
            Why::NotMonotone,
        ),
        (
            "let far = if dist[e.src].load() < limit { 3 } else { 9 };
          if far < dist[e.dst].fetch_min(far) { front.push(e.dst); }",
            Why::NotMonotone,
        ),
        // How often a loop turns shows in a value.
        (
            "let mut far = 0; while far < dist[e.src].load() { far += 1; }
          if far < dist[e.dst].fetch_min(far) { front.push(e.dst); }",
            Why::NotMonotone,
        ),
        // The old value is used, or an element that it names.
        (
            "let far = dist[e.src].load(); let old = dist[e.dst].fetch_min(far);
          mark[old].fetch_max(1); if far < old { front.push(e.dst); }",
            Why::NotMonotone,
        ),
        (
            "let far = dist[e.src].load();
          if far < dist[far].fetch_min(far) { front.push(far); }",
            Why::NotMonotone,
        ),
        // Another element's value, whose change does not wake this node.
        (
            "let far = dist[e.dst].load().max(1);
          if far < dist[e.src].fetch_min(far) { front.push(e.src); }",
            Why::NotMonotone,
        ),
        // Pushes another node, or none, or not always, or for nothing.
        (
            "let far = dist[e.src].load();
          if far < dist[e.dst].fetch_min(far) { front.push(e.src); }",
            Why::Notice,
        ),
        (
            "let far = dist[e.src].load(); dist[e.dst].fetch_min(far);",
            Why::Unnoticed,
        ),
        (
            "let far = dist[e.src].load();
          if far < dist[e.dst].fetch_min(far) { if far < limit { front.push(e.dst); } }",
            Why::Notice,
        ),
        (
            "let far = dist[e.src].load();
          if far < dist[e.dst].fetch_min(far) { if seeds[e.dst] == 1 { front.push(e.dst); } }",
            Why::Unnoticed,
        ),
        (
            "let far = dist[e.src].load(); front.push(e.dst);
          if far < dist[e.dst].fetch_min(far) { front.push(e.dst); }",
            Why::Notice,
        ),
        (
            "let far = dist[e.src].load();
          if far <= dist[e.dst].fetch_min(far) { front.push(e.dst); }",
            Why::Notice,
        ),
        (
            "let far = dist[e.src].load();
          if far + 1 < dist[e.dst].fetch_min(far) { front.push(e.dst); }",
            Why::Notice,
        ),
        (
            "let far = dist[e.src].load();
          if far < dist[e.dst].load() { front.push(e.dst); dist[e.dst].fetch_min(far); }",
            Why::Notice,
        ),
        (
            "let far = dist[e.src].load();
          if far < dist[e.dst].load() { dist[e.dst].fetch_min(far.max(2)); front.push(e.dst); }",
            Why::NotMonotone,
        ),
        (
            "let far = dist[e.src].load(); let mut to = e.dst;
          if far < dist[to].fetch_min(far) { to = e.src; front.push(to); }",
            Why::NotMonotone,
        ),
        // The wrong frontier.
        (
            "let far = dist[e.src].load();
          if far < dist[e.dst].fetch_min(far) { other.push(e.dst); front.push(e.dst); }",
            Why::Notice,
        ),
        // Two updates, of which one does not push; two operations; a store; an exchange.
        (
            "let far = dist[e.src].load();
          if far < dist[e.dst].fetch_min(far) { front.push(e.dst); }
          dist[e.src].fetch_min(weight[e.index]);",
            Why::Unnoticed,
        ),
        (
            "let far = dist[e.src].load(); dist[e.dst].fetch_max(far);
          if far < dist[e.dst].fetch_min(far) { front.push(e.dst); }",
            Why::Mixed,
        ),
        (
            "let far = dist[e.src].load(); dist[e.src].store(far);
          if far < dist[e.dst].fetch_min(far) { front.push(e.dst); }",
            Why::NotMonotone,
        ),
        (
            "let far = dist[e.src].load(); dist[e.src].compare_exchange(3, 2);
          if far < dist[e.dst].fetch_min(far) { front.push(e.dst); }",
            Why::NotMonotone,
        ),
        (
            "let far = dist[e.src].load(); mark[e.src].fetch_add(1);
          if far < dist[e.dst].fetch_min(far) { front.push(e.dst); }",
            Why::NotMonotone,
        ),
        // A reduction that counts what is tried.
        (
            "let far = dist[e.src].load(); changes.inc();
          if far < dist[e.dst].fetch_min(far) { front.push(e.dst); }",
            Why::Notice,
        ),
    ] {
        assert_eq!(obstacle(pushed, &relax(open)), why, "{open}");
    }
    // The rounds may end, or go on, for another reason than that nothing changes.
    for until in [
        "front.is_empty() || round > 5",
        "round > 5",
        "front.len() < 2",
        "!front.is_empty()",
        "changed",
    ] {
        assert_eq!(obstacle(until, &relax(minimum)), Why::Until, "{until}");
    }
    assert_eq!(
        provisos("front.is_empty() && round > 5", &relax(minimum)),
        []
    );
}

#[test]
fn least_fixpoints_of_whole_sweeps_raise_a_flag() {
    let all = |body: &str| {
        format!(
            "#[wave(edges(graph))] fn relax(e: Edge, graph: &Csr, seeds: &Buf<u32>, far: &Buf<Atomic<i64>>, cost: &Buf<Atomic<f32>>, live: &Buf<Atomic<u64>>,
                 dist: &Buf<Atomic<u32>>, reached: &Bits, changed: &Reduce<Or<bool>>, changes: &Reduce<Count>, log: &Append<u32>) {{ {body} }}"
        )
    };
    let flag = "!changed";
    let w0 = WaveId(0);
    let down =
        "let d = far[e.src].load() + 1; if d < far[e.dst].fetch_min(d) { changed.or(true); }";
    assert_eq!(provisos(flag, &all(down)), [Proviso::NoWrap(w0)]);
    let floats =
        "let d = cost[e.src].load() + 0.5; if d < cost[e.dst].fetch_min(d) { changed.or(true); }";
    assert_eq!(provisos(flag, &all(floats)), [Proviso::NoNan(w0)]);
    for least in [
        "if reached.or(e.src, e.dst) { changed.or(true); }",
        "if reached.and(e.src, e.dst) { changed.or(true); }",
        // The flag takes the answer itself, or one that was kept.
        "changed.or(reached.or(e.src, e.dst));",
        "let new = live[e.dst].load() | 7; changed.or(live[e.src].fetch_and(new) & !new != 0);",
        "let new = live[e.dst].load() | 7; let any = live[e.src].fetch_and(new) & !new != 0; changed.or(any);",
        "let d = dist[e.src].load(); if seeds[e.src] == 1 { changed.or(d < dist[e.dst].fetch_min(d)); }",
        "let d = dist[e.src].load(); if d < dist[e.dst].load() { changed.or(d < dist[e.dst].fetch_min(d)); }",
        "let through = live[e.dst].load() & !7; let before = live[e.src].fetch_or(through);
         if before | through != before { changed.or(true); }",
        "let through = live[e.dst].load() & 7;
         if through & !live[e.src].fetch_or(through) != 0 { changed.or(true); }",
        "for k in 0..reached.words() {
             let through = reached.word(e.dst, k) & !seeds[e.src];
             if through & !reached.or_word(e.src, k, through) != 0 { changed.or(true); }
         }",
        "let mut any = false;
         for w in graph.neighbors(e.src) { let d = dist[w].load(); if d < dist[e.dst].fetch_min(d) { any = true; } }
         if any { changed.or(true); }",
        "let mut least = dist[e.dst].load();
         for w in graph.neighbors(e.src) { least = least.min(dist[w].load()); }
         if least < dist[e.dst].fetch_min(least) { changed.or(true); changes.inc(); }",
    ] {
        assert_eq!(provisos(flag, &all(least)), [], "{least}");
    }
    assert_eq!(
        provisos(
            "changes == 0",
            &all("let d = dist[e.src].load(); if d < dist[e.dst].fetch_min(d) { changes.inc(); }")
        ),
        []
    );
    for (open, why) in [
        // The flag forgets, or is about another turn, or depends on what is fixed.
        ("let mut any = false;
          for w in graph.neighbors(e.src) { let d = dist[w].load(); any = d < dist[e.dst].fetch_min(d); }
          if any { changed.or(true); }", Why::Unnoticed),
        ("let mut any = false;
          for w in graph.neighbors(e.src) { any = false; let d = dist[w].load(); if d < dist[e.dst].fetch_min(d) { any = true; } }
          if any { changed.or(true); }", Why::Unnoticed),
        ("let d = dist[e.src].load();
          if d < dist[e.dst].fetch_min(d) && seeds[e.src] == 1 { changed.or(true); }", Why::Unnoticed),
        ("let d = dist[e.src].load(); let any = d < dist[e.dst].fetch_min(d);
          if seeds[e.src] == 1 { return; }
          if any { changed.or(true); }", Why::Unnoticed),
        // Takes the answer to another question, or of another turn, or not always, or what is true for a while.
        ("let new = live[e.dst].load() | 7; changed.or(live[e.src].fetch_and(new) != 0);", Why::Notice),
        ("let new = live[e.dst].load() | 7; changed.or(live[e.src].fetch_and(new) & new != 0);", Why::Notice),
        ("let new = live[e.dst].load() | 7; changed.or(live[e.src].fetch_and(new) & !new == 0);", Why::Notice),
        ("let d = dist[e.src].load(); changed.or(d + 1 < dist[e.dst].fetch_min(d));", Why::Notice),
        ("let mut any = false;
          for w in graph.neighbors(e.src) { let d = dist[w].load(); any = d < dist[e.dst].fetch_min(d); }
          changed.or(any);", Why::Unnoticed),
        ("let d = dist[e.src].load(); let any = d < dist[e.dst].fetch_min(d);
          if seeds[e.src] == 1 { changed.or(any); }", Why::Unnoticed),
        ("let d = dist[e.src].load(); let any = d < dist[e.dst].fetch_min(d);
          dist[e.src].fetch_min(d / 2); changed.or(any);", Why::Unnoticed),
        ("let d = dist[e.src].load(); dist[e.dst].fetch_min(d); changed.or(d < 9);", Why::Notice),
        // Says false.
        ("let d = dist[e.src].load();
          if d < dist[e.dst].fetch_min(d) { changed.or(false); }", Why::Unnoticed),
        // Visits bits while they are set.
        ("for bit in reached.ones(e.src) { if reached.set(e.dst, bit) { changed.or(true); } }", Why::NotMonotone),
        // Takes back.
        ("reached.unset(e.src, 3); if reached.or(e.src, e.dst) { changed.or(true); }", Why::Mixed),
        ("if reached.or(e.src, e.dst) { changed.or(true); } log.append(e.src);", Why::NotMonotone),
        ("let d = -far[e.src].load(); if d < far[e.dst].fetch_min(d) { changed.or(true); }", Why::NotMonotone),
        ("let d = cost[e.src].load() * 0.5; if d < cost[e.dst].fetch_min(d) { changed.or(true); }", Why::NotMonotone),
    ] {
        assert_eq!(obstacle(flag, &all(open)), why, "{open}");
    }
    // Somebody else writes, or reads between.
    let two = |more: &str| {
        format!(
            "{} {more}",
            all("if reached.or(e.src, e.dst) { changed.or(true); }")
        )
    };
    assert_eq!(
        obstacle(
            flag,
            &two("#[wave(nodes, after(relax))] fn b(v: Node, mark: &mut u32) { *mark = v; }")
        ),
        Why::NotMonotone
    );
    assert_eq!(
        obstacle(
            flag,
            &two(
                "#[wave(nodes, after(relax))] fn b(v: Node, most: &Reduce<Max<u32>>) { most.max(v); }"
            )
        ),
        Why::Notice
    );
    assert_eq!(
        obstacle(
            flag,
            &two(
                "#[fixpoint(after(relax), until(round > 1), max_rounds = 3)] mod g { #[wave(nodes)] fn b(v: Node, seeds: &Buf<u32>) {} }"
            )
        ),
        Why::Nested
    );
}

#[test]
fn what_is_an_items_own_shows_no_order() {
    let class = |wave: &str| {
        let source = format!("{LATTICES} {wave}");
        let (graph, mut report) = parse(&source, TokenStream::new());
        let built = build(&graph, Imports::default(), true, &mut report);
        let messages = report.messages();
        assert!(built.skeleton.is_some(), "{wave}: {messages:#?}");
        built.program.agreement
    };
    let over = |domain: &str, body: &str| {
        class(&format!(
            "#[wave({domain})] fn f(v: Node, mark: &Buf<Atomic<u32>>, cost: &Buf<Atomic<f32>>, reached: &Bits) {{ {body} }}"
        ))
    };
    for own in [
        "mark[v].store(v);",
        "let old = mark[v].fetch_add(3); if old == 2 { mark[v].swap(9); }",
        "cost[v].store(0.5); cost[v].fetch_add(1.0);",
        "if mark[v].compare_exchange(3, v) { mark[v].fetch_max(7); }",
        "reached.clear(v); reached.set(v, 3);",
        "reached.set(v, 3); reached.unset(v, 4);",
        "for k in 0..reached.words() { reached.store_word(v, k, v); }",
        "let w = v; reached.store_word(w, 0, reached.word(v, 0) ^ 5);",
    ] {
        for domain in ["nodes", "items(front)"] {
            assert_eq!(over(domain, own), Agreement::Bits, "{domain}: {own}");
        }
        // More than one item may have the node then.
        let domain = "#[wave(edges(graph))] fn f(e: Edge,";
        let body = own.replace("[v]", "[e.src]").replace("(v,", "(e.src,");
        let body = body.replace("(v)", "(e.src)").replace("= v;", "= e.src;");
        let body = body.replace(", v)", ", e.src)");
        let shared = class(&format!(
            "{domain} mark: &Buf<Atomic<u32>>, cost: &Buf<Atomic<f32>>, reached: &Bits) {{ {body} }}"
        ));
        assert!(matches!(shared, Agreement::Open(_)), "{body}: {shared:?}");
    }
    for (open, why) in [
        ("mark[v / 2].store(v);", Why::Stores),
        (
            "mark[v].store(mark[(v + 1) % 3].load());",
            Why::ReadsChanged,
        ),
        ("reached.set(v, 3); reached.unset(v / 2, 4);", Why::Mixed),
        ("reached.store_word(v / 2, 0, v);", Why::Stores),
        (
            "reached.store_word(v, 0, 1); if reached.get(0, 3) { reached.unset(v, 3); }",
            Why::ReadsChanged,
        ),
    ] {
        match over("nodes", open) {
            Agreement::Open(reasons) => assert_eq!(reasons[0].why, why, "{open}"),
            other => panic!("{other:?}: {open}"),
        }
    }
}

/// What evidence that was measured of some waves says about others: what is proved, and the warnings.
fn evidence_of(measured: &str, waves: &str) -> (bool, Vec<String>) {
    let sample = Sample {
        backend_id: "cuda".into(),
        host_orchestrated_ns: 2.0,
        binding: Some(Binding {
            fingerprint: Fingerprint {
                program: program(measured).manifest.program_hash.expect("a hash"),
                constants: 0,
            },
            measured: Measured::Single,
            rival: "naive".into(),
        }),
        ..Sample::EXAMPLE
    };
    let file = evidence::write(&[sample.clone(), sample]).expect("plain names");
    let (mut graph, mut report) = parse(&format!("{DATA} {waves}"), TokenStream::new());
    graph.claim = graph.claim.with_evidence(&file);
    let built = build(&graph, Imports::default(), true, &mut report);
    let manifest = built.program.manifest;
    assert!(built.skeleton.is_some(), "{:#?}", report.messages());
    assert_eq!(manifest.unproven, manifest.proof.is_none());
    assert_eq!(
        manifest.stale,
        manifest.unproven.then_some(Stale::Program),
        "{waves}"
    );
    (manifest.proof.is_some(), report.warnings())
}

#[test]
fn evidence_is_stale_after_an_edit_that_changes_the_program() {
    const WAVES: &str = "const LIMIT: u32 = BASE * 2;
        const BASE: u32 = 2 + 3;
        #[wave(nodes)]
        fn mark(v: Node, mark: &mut u32) {
            if v < LIMIT { *mark = 7; }
        }
        #[wave(nodes, after(mark))]
        fn rank(v: Node, mark: &Buf<u32>, rank: &mut f32) { *rank = mark[v] as f32; }";
    let edited = |from: &str, to: &str| {
        assert!(WAVES.contains(from), "{from}");
        evidence_of(WAVES, &WAVES.replace(from, to))
    };
    assert_eq!(evidence_of(WAVES, WAVES), (true, Vec::new()));
    for (from, to) in [
        ("*mark = 7", "/* seven */ *mark   =\n\n 7"),
        ("2 + 3", "2+3 /* five */"),
        ("#[wave(nodes)]", "/// Marks.\n#[wave(nodes)]"),
        ("fn rank", "fn ranked"),
        ("const BASE", "const UNUSED: u32 = 5; const BASE"),
    ] {
        assert_eq!(edited(from, to), (true, Vec::new()), "{to}");
    }
    for (from, to) in [
        ("*mark = 7", "*mark = 8"),
        ("v < LIMIT", "v <= LIMIT"),
        ("BASE * 2", "BASE * 3"),
        ("2 + 3", "2 + 4"),
        (
            "#[wave(nodes)]",
            "#[wave(nodes)] fn more(dist: &mut u32) { *dist = 1; } #[wave(nodes)]",
        ),
    ] {
        let (proved, warnings) = edited(from, to);
        assert!(!proved, "{to}");
        assert_eq!(warnings.len(), 1, "{to}");
        assert!(
            warnings[0].starts_with("the pass has changed since evidence"),
            "{warnings:?}"
        );
    }
    // The same waves in another order of steps.
    let apart = "#[wave(nodes)] fn a(mark: &mut u32) { *mark = 1; }
        #[wave(nodes, after(a))] fn b(rank: &mut f32) { *rank = 1.0; }";
    let (proved, warnings) = evidence_of(apart, &apart.replace(", after(a)", ""));
    assert_eq!((proved, warnings.len()), (false, 1), "{warnings:?}");
}
