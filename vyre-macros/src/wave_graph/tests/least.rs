//! Which fixpoints have one least solution, and why others do not.

use super::*;

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
    #[output(per = node, bits = width)] meets: Bits,
    #[input(per = node, bits = width)] kills: Bits,
    #[input(per = 20)] table: u32,
    #[input(per = 9)] nine: u32,
    #[scratch(per = 20)] slots: u32,
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

/// The rows of a swept node are its own, and a push under "this row has changed" tells of all its words.
#[test]
fn rows_of_bits_reach_their_least_fixpoint_by_a_frontier() {
    let until = "front.is_empty()";
    let flow = |body: &str| {
        format!(
            "#[wave(edges(graph, from = front))] fn flow(e: Edge, round: Round, graph: &Csr, seeds: &Buf<u32>, limit: u32,
                 reached: &Bits, meets: &Bits, kills: &Bits, front: &Push, other: &Push, changes: &Reduce<Count>) {{ {body} }}"
        )
    };
    for least in [
        "if reached.or(e.dst, e.src) { front.push(e.dst); }",
        "if reached.and(e.dst, e.src) { front.push(e.dst); }",
        "let more = reached.or(e.dst, e.src); if more { front.push(e.dst); changes.inc(); }",
        "let to = e.dst; if !reached.or(to, e.src) { return; } front.push(to);",
        "let mut to = e.dst; if reached.or(to, e.src) { to = e.src; front.push(e.dst); }",
        "if meets.and_not_from(e.dst, kills, e.src) { front.push(e.dst); }",
        "if reached.or_from(e.dst, kills, e.src) { front.push(e.dst); }",
        // Of one bit: the flag that is set, or taken.
        "if reached.get(e.src, limit) { if reached.set(e.dst, limit) { front.push(e.dst); } }",
        "if seeds[e.dst] == 1 { if reached.set(e.dst, 3) { front.push(e.dst); } }",
        "if !meets.get(e.src, 3) { if meets.unset(e.dst, 3) { front.push(e.dst); } }",
        // Word by word, each with its push, or with one behind the loop.
        "for k in 0..reached.words() {
             let through = reached.word(e.src, k) & !kills.word(e.dst, k);
             if through & !reached.or_word(e.dst, k, through) != 0 { front.push(e.dst); }
         }",
        "let mut any = false;
         for k in 0..reached.words() {
             let through = reached.word(e.src, k) & !kills.word(e.dst, k);
             any |= through & !reached.or_word(e.dst, k, through) != 0;
         }
         if any { front.push(e.dst); }",
        "let mut any = false;
         for k in 0..reached.words() {
             let through = reached.word(e.src, k) & !kills.word(e.dst, k);
             if through & !reached.word(e.dst, k) != 0 {
                 if through & !reached.or_word(e.dst, k, through) != 0 { any = true; }
             }
         }
         if any { front.push(e.dst); }",
        // What would change is made, and said to be.
        "let mut any = false;
         for k in 0..reached.words() {
             let through = reached.word(e.src, k);
             if through & !reached.word(e.dst, k) != 0 { reached.or_word(e.dst, k, through); any = true; }
         }
         if any { front.push(e.dst); }",
        "let mut any = false;
         for k in 0..meets.words() {
             let kept = (meets.word(e.src, k) & !kills.word(e.dst, k)) | kills.word(e.src, k);
             if meets.and_word(e.dst, k, kept) & !kept != 0 { any = true; }
         }
         if any { front.push(e.dst); }",
        // One buffer that grows and one that shrinks, both own.
        "let more = reached.or(e.dst, e.src); let less = meets.and_not_from(e.dst, reached, e.src);
         if more | less { front.push(e.dst); }",
        "if reached.or(e.dst, e.src) { front.push(e.dst); }
         if meets.and_not_from(e.dst, reached, e.src) { front.push(e.dst); }",
        // Only read where it was given: it has no change to tell.
        "if reached.or_from(e.dst, kills, e.dst) { front.push(e.dst); }",
        "for w in graph.neighbors(e.dst) { if reached.or(w, e.src) { front.push(w); } }",
    ] {
        assert_eq!(provisos(until, &flow(least)), [], "{least}");
    }
    for (open, why) in [
        // Another node than the one whose row changed; or one of two rows; or one of another turn.
        ("if reached.or(e.dst, e.src) { front.push(e.src); }", Why::Notice),
        ("let more = reached.or(e.dst, e.src) | reached.set(e.src, 3); if more { front.push(e.dst); }", Why::Notice),
        ("let mut any = false;
          for w in graph.neighbors(e.dst) { any |= reached.or(w, e.src); }
          if any { front.push(e.dst); }", Why::Notice),
        ("let mut to = e.dst; let any = reached.or(to, e.src); to = e.src; if any { front.push(to); }", Why::Notice),
        ("let mut to = e.dst; let any = reached.or(to, e.src); to = e.src; if any { front.push(e.dst); }
          if reached.or(to, e.src) { front.push(e.dst); }", Why::Notice),
        ("let mut to = e.dst; if reached.or(to, e.src) { to = e.src; front.push(to); }", Why::Notice),
        // Not always, or for nothing, or only by the last word.
        ("reached.or(e.dst, e.src);", Why::Unnoticed),
        ("if reached.or(e.dst, e.src) { if seeds[e.dst] == 1 { front.push(e.dst); } }", Why::Unnoticed),
        ("if reached.or(e.dst, e.src) { front.push(e.dst); } if reached.set(e.src, 3) { changes.inc(); }", Why::Unnoticed),
        ("front.push(e.dst); if reached.or(e.dst, e.src) { front.push(e.dst); }", Why::Notice),
        ("let mut any = false;
          for k in 0..reached.words() {
              let through = reached.word(e.src, k);
              any = through & !reached.or_word(e.dst, k, through) != 0;
          }
          if any { front.push(e.dst); }", Why::Unnoticed),
        ("let mut any = true;
          for k in 0..reached.words() {
              let through = reached.word(e.src, k);
              any |= through & !reached.or_word(e.dst, k, through) != 0;
          }
          if any { front.push(e.dst); }", Why::Notice),
        ("for k in 0..reached.words() {
              let through = reached.word(e.src, k);
              if reached.or_word(e.dst, k, through) != through { front.push(e.dst); }
          }", Why::Notice),
        ("if seeds[e.src] == 1 { for k in 0..reached.words() {
              let mask = seeds[e.src];
              if reached.or_word(e.dst, k, mask) & mask == 0 { front.push(e.dst); }
          } }", Why::Notice),
        // The wrong frontier.
        ("if reached.or(e.dst, e.src) { other.push(e.dst); }", Why::Notice),
        // A row that wakes no node: of another node, or of a buffer whose changes go elsewhere.
        ("if reached.or(e.src, e.dst) { front.push(e.src); }", Why::NotMonotone),
        ("for w in graph.neighbors(e.src) { if reached.or(e.dst, w) { front.push(e.dst); } }", Why::NotMonotone),
        ("if reached.get(e.dst, 3) { if reached.or(e.dst, e.src) { front.push(e.dst); } }", Why::NotMonotone),
        ("if reached.or_from(e.dst, meets, e.src) { front.push(e.dst); }
          if meets.set(e.dst, limit) { changes.inc(); }", Why::Unnoticed),
        // Joins what moves the other way, or any way.
        ("if meets.and_not(e.dst, e.src) { front.push(e.dst); }", Why::NotMonotone),
        ("if reached.or(e.dst, e.src) { front.push(e.dst); }
          if meets.and_from(e.dst, reached, e.src) { front.push(e.dst); }", Why::NotMonotone),
        ("for k in 0..reached.words() {
              let through = reached.word(e.src, k) ^ kills.word(e.dst, k);
              if through & !reached.or_word(e.dst, k, through) != 0 { front.push(e.dst); }
          }", Why::NotMonotone),
        ("for k in 0..reached.words() {
              let through = !reached.word(e.src, k);
              if through & !reached.or_word(e.dst, k, through) != 0 { front.push(e.dst); }
          }", Why::NotMonotone),
        ("if !reached.get(e.src, 3) { if reached.or(e.dst, e.src) { front.push(e.dst); } }", Why::NotMonotone),
        ("for bit in reached.ones(e.src) { if reached.set(e.dst, bit) { front.push(e.dst); } }", Why::NotMonotone),
        ("if reached.count(e.src) > limit { if reached.or(e.dst, e.src) { front.push(e.dst); } }", Why::NotMonotone),
        // Two operations, stores, and the round.
        ("if reached.or(e.dst, e.src) { front.push(e.dst); } reached.unset(e.dst, 3);", Why::Mixed),
        ("if reached.or(e.dst, e.src) { front.push(e.dst); } reached.clear(e.src);", Why::NotMonotone),
        ("if reached.or(e.dst, e.src) { front.push(e.dst); }
          reached.store_word(e.dst, 0, 3);", Why::NotMonotone),
        ("if round < 5 { if reached.or(e.dst, e.src) { front.push(e.dst); } }", Why::NotMonotone),
        ("for k in 0..reached.words() {
              let through = reached.word(e.src, k) & round;
              if through & !reached.or_word(e.dst, k, through) != 0 { front.push(e.dst); }
          }", Why::NotMonotone),
    ] {
        assert_eq!(obstacle(until, &flow(open)), why, "{open}");
    }
    let joins = flow("if reached.or(e.dst, e.src) { front.push(e.dst); }");
    for until in [
        "front.is_empty() || round > 5",
        "front.len() < 2",
        "other.is_empty()",
    ] {
        assert_eq!(obstacle(until, &joins), Why::Until, "{until}");
    }
    // A sweep without a frontier may join any row; its changes wake the nodes of the other one.
    let two = |all: &str| {
        format!(
            "{joins} #[wave(edges(graph), after(flow))] fn all(e: Edge, reached: &Bits, front: &Push) {{ {all} }}"
        )
    };
    let all = "if reached.or(e.src, e.dst) { front.push(e.src); }";
    assert_eq!(provisos(until, &two(all)), []);
    assert_eq!(
        obstacle(until, &two("reached.or(e.src, e.dst);")),
        Why::Unnoticed
    );
    // A wave that pushes without a change wakes nodes that another order would not.
    let woken = format!(
        "{joins} #[wave(nodes, after(flow))] fn wake(v: Node, front: &Push) {{ front.push(v); }}"
    );
    assert_eq!(obstacle(until, &woken), Why::Notice);
}

/// A check that is made in one order of items and not in another must not be able to fail.
#[test]
fn whether_a_run_traps_is_part_of_the_same_result() {
    let relax = |body: &str| {
        format!(
            "#[wave(edges(graph, from = front))] fn relax(e: Edge, graph: &Csr, weight: &Buf<u32>, seeds: &Buf<u32>, table: &Buf<u32>,
                 dist: &Buf<Atomic<u32>>, far: &Buf<Atomic<i64>>, mark: &Buf<Atomic<u32>>, slots: &Buf<Atomic<u32>>, reached: &Bits,
                 nine: &Buf<u32>, limit: u32, front: &Push) {{
                 let here = dist[e.src].load();
                 {body}
                 if here < dist[e.dst].fetch_min(here) {{ front.push(e.dst); }}
             }}"
        )
    };
    let until = "front.is_empty()";
    for same in [
        // Asked by every run: under no guard, under one that is fixed, and under one that opens for good.
        "assert!(weight[e.index] < limit);",
        "if seeds[e.src] == 1 { assert!(limit > 3); }",
        "if here < limit { assert!(seeds[e.src] > 0); }",
        "if seeds[e.src] == 7 { let _ = table[limit]; }",
        // What cannot fail may be asked whenever.
        "if here > limit { let _ = seeds[e.src] + seeds[e.dst] + weight[e.index] / 3 + 9 % limit.max(1); }",
        "if here > limit { for w in graph.neighbors(e.dst) { let _ = seeds[w]; } }",
        "if here > limit { for i in graph.edges(e.dst) { let _ = weight[i] + seeds[graph.target(i)]; } }",
        "if here > limit { for i in 0..nine.len() { let _ = nine[i]; } }",
        "if here > limit && limit < table.len() { let _ = table[limit]; }",
        "if here > limit && limit < nine.len() { let _ = table[limit]; }",
        "if here > limit { if limit >= table.len() {} else { let _ = table[limit]; } }",
        "if here > limit { let at = limit; if at < 9 { let _ = nine[at]; } }",
        "let _ = table[limit]; if here > limit { let _ = table[limit]; }",
        "assert!(limit < table.len()); if here > limit { let _ = table[limit]; }",
        "let few = [here, 2, 3]; if here > limit { let _ = few[2]; }",
        "if here > limit { for k in 0..reached.words() { let _ = reached.word(e.dst, k); } }",
    ] {
        assert_eq!(provisos(until, &relax(same)), [], "{same}");
    }
    for open in [
        "if here > limit { assert!(seeds[e.src] > 0); }",
        "if limit < here { panic!(); }",
        "if here == 5 { assert!(limit > 3); }",
        "if here < dist[e.dst].load() { assert!(limit > 3); }",
        "if here > limit { let _ = table[limit]; }",
        "if here > limit { let _ = table[seeds[e.src]]; }",
        "if here > limit && limit < table.len() { let _ = nine[limit]; }",
        "if here > limit && limit <= table.len() { let _ = table[limit]; }",
        "if here > limit { let mut at = limit; if at < 9 { at += 1; let _ = nine[at]; } }",
        "if seeds[e.src] == 1 { let _ = table[limit]; } if here > limit { let _ = table[limit]; }",
        "if here > limit { let _ = 100 / limit; }",
        "if here > limit { let _ = 100 % seeds[e.src]; }",
        "if here > limit { let _ = -5 / (limit as i32); }",
        "let few = [here, 2, 3]; if here > limit { let _ = few[limit as usize]; }",
        "if here > limit { for w in graph.neighbors(limit) { let _ = w; } }",
        "if here > limit { let _ = graph.target(limit); }",
        "if here > limit { let _ = reached.get(limit, 0); }",
        "if here > limit { let _ = reached.get(e.dst, limit); }",
        // Of the nodes that this one shortens, not of all.
        "if here < mark[e.dst].fetch_min(here) { front.push(e.dst); assert!(limit > 3); }",
    ] {
        assert_eq!(obstacle(until, &relax(open)), Why::NotMonotone, "{open}");
    }
    // A slot that an update was made on need not be a node.
    let pushes = relax("").replace(
        "dist[e.dst].fetch_min(here)",
        "slots[limit].fetch_min(here)",
    );
    let pushes = pushes.replace("front.push(e.dst)", "front.push(limit)");
    assert_eq!(obstacle(until, &pushes), Why::NotMonotone);
    // A condition is evaluated once for each round, and on what that round did.
    let divides = "front.is_empty() & (9 / front.len() < 3)";
    assert_eq!(obstacle(divides, &relax("")), Why::NotMonotone);
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
