//! Programs, schedules, options and claims that a module compiles to.

use super::*;

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
    let front = Resource::from(FrontierId(0));
    let push = p.waves[0].accesses.iter().find(|a| a.resource == front);
    assert_eq!(push.map(|a| a.mode), Some(Mode::Update(UpdateOp::Push)));
    assert_eq!(p.agreement, Agreement::Bits);
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
    // Two graphs of 11,001 entries, weights, `dist`, `prior`, two reductions; frontiers once more, and stamps.
    let resident = 2 * 44_004 + 40_000 + 4_000 + 4_000 + 16 + 84_000 + 4_000 + 4_000;
    let (a, b) = (Step::Wave(WaveId(0)), Step::Wave(WaveId(1)));
    assert_eq!(resident + 8_000, 236_024);
    assert_eq!(budgeted(waves, quote!(236_024)), Ok(vec![a, b, Step::End]));
    let split = Ok(vec![a, Step::Barrier, b, Step::End]);
    assert_eq!(budgeted(waves, quote!(236_023)), split);
    assert_eq!(budgeted(waves, quote!(232_024)), split);
    // On a device alone.
    assert_eq!(budgeted(waves, quote!(232_023)), Ok(vec![a, b, Step::End]));
    let refused = |budget| {
        budgeted(waves, budget)
            .expect_err("it does not fit")
            .concat()
    };
    assert_eq!(
        refused(quote!(140_120)),
        "`g` cannot meet its budget on any target: on cuda, barrier group 0 (wave `a` alone) needs 144216 bytes; \
         budget is 140120\n\n\
         help: native needs at least 232024 bytes, vir0 needs at least 232024 bytes and cuda needs at least 144216 \
         bytes; on cuda, `graph` takes 44004 bytes, `back` takes 44004 bytes and `weight` takes 40000 bytes; raise the \
         budget, lower the limits, or give a buffer a smaller type"
    );
    assert!(
        refused(quote!("1 KiB"))
            .contains("topologies, inputs and outputs need 140120 bytes; budget is 1024")
    );
}

/// What the expansion of a pass with a budget says by targets: with CUDA, and without.
fn warned_of(budget: TokenStream) -> Option<[String; 2]> {
    let attr = quote! { limits(nodes = 1_000, edges = 10_000), budget = #budget };
    let wave = "#[wave(nodes)] fn a(mark: &mut u32) { *mark = 1; }";
    let module = syn::parse_str(&format!("pub mod g {{ {DATA} {wave} }}"));
    let item: syn::ItemMod = module.expect("the test parses");
    let expanded = expand(attr, item.to_token_stream(), Imports::default()).to_string();
    let (_, said) = expanded.split_once("__where_cuda ! {")?;
    let end = said.find("pub const PLAN").unwrap_or(said.len());
    let (with, without) = said[..end].split_once("} {").expect("two blocks");
    Some([with.to_owned(), without.to_owned()])
}

#[test]
fn a_budget_that_some_targets_cannot_meet_is_a_warning_that_names_those_that_are_compiled_in() {
    let says = |of: &str| {
        format!(
            "a session of the largest graph does not fit the budget of `g` on every target: {of}"
        )
    };
    assert_eq!(warned_of(quote!(1_000_000)), None);
    let [with, without] = warned_of(quote!(200_000)).expect("it warns");
    let host = says("native needs at least 232024 bytes and vir0 needs at least 232024 bytes");
    assert!(
        with.contains("deprecated") && with.contains(&host),
        "{with}"
    );
    assert!(!with.contains("compile_error"));
    let error = format!("{host}; no other target is compiled in");
    assert!(
        without.contains("compile_error") && without.contains(&error),
        "{without}"
    );
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

/// What an editor shows of `PLAN` and `Session` says what an open result costs.
#[test]
fn an_open_result_is_told_where_the_pass_is_used() {
    let emitted = |body: &str| {
        let (graph, mut report) = parse(&format!("{DATA} {body}"), TokenStream::new());
        let built = build(&graph, Imports::default(), true, &mut report);
        assert!(built.skeleton.is_some(), "{:?}", report.messages());
        expand::module(&built.expansion(&graph), report).to_string()
    };
    let race = emitted(
        "#[wave(edges(graph))] fn race(e: Edge, dist: &Buf<Atomic<u32>>) { dist[e.dst].store(e.src); }",
    );
    let cost =
        "Open result: dist may differ, so a session of several backends stays where it began: ";
    assert_eq!(race.matches(cost).count(), 2, "{race}");
    let own = emitted("#[wave(nodes)] fn own(v: Node, dist: &mut u32) { *dist = v; }");
    assert!(!own.contains("Open result"), "{own}");
}
