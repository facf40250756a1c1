//! What is wrong with a module, and the words for it.

use super::*;

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
        "`dist` is a buffer, not a frontier, a list or a relation"
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
